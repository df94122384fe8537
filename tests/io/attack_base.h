/// A small character that uses everything glTF reading has (skin, morph target, sparse accessor,
/// clip), as JSON text and a binary chunk, and edits of both: the seed of attacks and of generated
/// malformed files. JSON is written with single quotes.
#ifndef CUTIS_TESTS_IO_ATTACK_BASE_H
#define CUTIS_TESTS_IO_ATTACK_BASE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BASE_DATA = 336 };

static const char BASE_JSON[] =
    "{'asset':{'version':'2.0'},'scene':0,'scenes':[{'nodes':[0,1]}],"
    "'nodes':[{'mesh':0,'skin':0,'weights':[0.5]},{'name':'root','children':[2]},"
    "{'name':'tip','translation':[0,1,0],'rotation':[0,0,0,1]}],"
    "'meshes':[{'primitives':[{'attributes':{'POSITION':0,'JOINTS_0':2,'WEIGHTS_0':3},"
    "'indices':1,'targets':[{'POSITION':7}]}],'weights':[0]}],"
    "'skins':[{'joints':[1,2],'inverseBindMatrices':4,'skeleton':1}],"
    "'animations':[{'name':'turn','channels':[{'sampler':0,'target':{'node':2,'path':'rotation'}}],"
    "'samplers':[{'input':5,'output':6}]}],"
    "'accessors':[{'bufferView':0,'componentType':5126,'count':3,'type':'VEC3','min':[0,0,0],"
    "'max':[1,1,0]},{'bufferView':1,'componentType':5123,'count':3,'type':'SCALAR'},"
    "{'bufferView':2,'componentType':5121,'count':3,'type':'VEC4'},"
    "{'bufferView':3,'componentType':5126,'count':3,'type':'VEC4'},"
    "{'bufferView':4,'componentType':5126,'count':2,'type':'MAT4'},"
    "{'bufferView':5,'componentType':5126,'count':2,'type':'SCALAR','min':[0],'max':[1]},"
    "{'bufferView':6,'componentType':5126,'count':2,'type':'VEC4'},"
    "{'componentType':5126,'count':3,'type':'VEC3','min':[0,0,0],'max':[0.5,0.25,0],"
    "'sparse':{'count':2,'indices':{'bufferView':7,'componentType':5123},"
    "'values':{'bufferView':8}}}],"
    "'bufferViews':[{'buffer':0,'byteOffset':0,'byteLength':36,'target':34962},"
    "{'buffer':0,'byteOffset':36,'byteLength':6,'target':34963},"
    "{'buffer':0,'byteOffset':44,'byteLength':12,'target':34962},"
    "{'buffer':0,'byteOffset':56,'byteLength':48,'target':34962},"
    "{'buffer':0,'byteOffset':104,'byteLength':128},{'buffer':0,'byteOffset':232,'byteLength':8},"
    "{'buffer':0,'byteOffset':240,'byteLength':32},{'buffer':0,'byteOffset':272,'byteLength':4},"
    "{'buffer':0,'byteOffset':276,'byteLength':24}],'buffers':[{'byteLength':336}]}";

static inline void base_data(uint8_t *out)
{
    static const float POSITIONS[9] = { 0, 0, 0, 1, 0, 0, 0, 1, 0 };
    static const uint16_t INDICES[3] = { 0, 1, 2 };
    static const uint8_t JOINTS[12] = { 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0 };
    static const float WEIGHTS[12] = { .5f, .5f, 0, 0, .5f, .5f, 0, 0, .5f, .5f, 0, 0 };
    static const float IDENTITY[16] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1 };
    static const float TIMES[2] = { 0, 1 };
    static const float TURNS[8] = { 0, 0, 0, 1, 0, 0, 0.70710678f, 0.70710678f };
    static const uint16_t REPLACED[2] = { 0, 2 };
    static const float MOVES[6] = { 0.5f, 0, 0, 0, 0.25f, 0 };
    memset(out, 0, BASE_DATA);
    memcpy(out, POSITIONS, sizeof POSITIONS);
    memcpy(out + 36, INDICES, sizeof INDICES);
    memcpy(out + 44, JOINTS, sizeof JOINTS);
    memcpy(out + 56, WEIGHTS, sizeof WEIGHTS);
    memcpy(out + 104, IDENTITY, sizeof IDENTITY);
    memcpy(out + 168, IDENTITY, sizeof IDENTITY);
    memcpy(out + 232, TIMES, sizeof TIMES);
    memcpy(out + 240, TURNS, sizeof TURNS);
    memcpy(out + 272, REPLACED, sizeof REPLACED);
    memcpy(out + 276, MOVES, sizeof MOVES);
}

static inline void base_word(uint8_t *at, size_t value)
{
    for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (8 * i));
}

/// JSON (its single quotes become double ones) and data as a GLB; free() it.
static inline uint8_t *base_glb(const char *json, const uint8_t *data, size_t data_size,
                                size_t *size)
{
    size_t length = strlen(json), padded = (length + 3) / 4 * 4;
    uint8_t *glb = calloc(1, 28 + padded + data_size);
    if (!glb) abort();
    *size = 28 + padded + data_size;
    memcpy(glb, "glTF", 4);
    base_word(glb + 4, 2);
    base_word(glb + 8, *size);
    base_word(glb + 12, padded);
    memcpy(glb + 16, "JSON", 4);
    memset(glb + 20, ' ', padded);
    for (size_t i = 0; i < length; i++) glb[20 + i] = json[i] == '\'' ? '"' : (uint8_t)json[i];
    base_word(glb + 20 + padded, data_size);
    memcpy(glb + 24 + padded, "BIN", 4);
    memcpy(glb + 28 + padded, data, data_size);
    return glb;
}

/// A copy of `text` with the first `from` replaced by `to`; free() it.
static inline char *base_replace(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    if (!at) {
        fprintf(stderr, "\"%s\" is not in the seed\n", from);
        abort();
    }
    size_t before = (size_t)(at - text), size = strlen(text) - strlen(from) + strlen(to) + 1;
    char *out = malloc(size);
    if (!out) abort();
    snprintf(out, size, "%.*s%s%s", (int)before, text, to, at + strlen(from));
    return out;
}

#endif
