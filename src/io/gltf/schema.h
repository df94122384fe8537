/// How the schema is written down: types, each a table of properties. schema.c has core glTF's and
/// the walker, schema_extensions.c those of extensions.
#ifndef CUTIS_IO_GLTF_SCHEMA_H
#define CUTIS_IO_GLTF_SCHEMA_H

#include "io/gltf/document.h"

#include <math.h>

enum kind {
    BOOLEAN,
    STRING,      ///< one of the words in `of`, if it is given
    POINTER,     ///< a string with the syntax of a JSON pointer
    STRINGS,     ///< array of distinct strings
    INTEGER,     ///< from low to high; one of those in `of`, if it is given
    NUMBER,      ///< from low to high
    NUMBER_OR_0, ///< the same, or 0
    NUMBERS,     ///< `count` of them (0: any number but none)
    EXTREMES,    ///< the same, beyond the range of floats if they like
    INDEX,       ///< into the collection `of`; NULL: into another list
    INDICES,     ///< array of distinct indices into `of`
    OBJECT,      ///< of type `of`
    CHOSEN,      ///< the same where the owner's "type" is this property's name, and then required
    OBJECTS,     ///< non-empty array of type `of`
    INDEX_MAP,   ///< object whose values are indices into `of`
    INDEX_MAPS   ///< non-empty array of such objects
};

/// Collections are the root's arrays; "@NAME/list" is an array of the root's extension NAME.
typedef struct property {
    const char *name;
    enum kind kind;
    bool required;
    const char *of;
    int count;
    double low, high;
} property;

typedef struct type {
    const char *name;
    const property *properties;
} type;

#define BIG                        9007199254740991.0
#define ANY                        -INFINITY, INFINITY
#define POSITIVE                   5e-324, INFINITY
#define COUNT(low)                 NULL, 0, low, BIG
#define TEXT(name)                 name, STRING, false, NULL, 0, 0, 0
#define WORD(name, list)           name, STRING, false, list, 0, 0, 0
#define REF(name, to)              name, INDEX, false, to, 0, 0, 0
#define REF_REQUIRED(name, to)     name, INDEX, true, to, 0, 0, 0
#define PART(name, of)             name, OBJECT, false, of, 0, 0, 0
#define PART_REQUIRED(name, of)    name, OBJECT, true, of, 0, 0, 0
#define LIST(name, of)             name, OBJECTS, false, of, 0, 0, 0
#define LIST_REQUIRED(name, of)    name, OBJECTS, true, of, 0, 0, 0
#define NUMBER_IN(name, low, high) name, NUMBER, false, NULL, 0, low, high
#define TYPE(name, ...)                                                                            \
    {                                                                                              \
        name, (const property[])                                                                   \
        {                                                                                          \
            __VA_ARGS__,                                                                           \
            {                                                                                      \
                NULL, BOOLEAN, false, NULL, 0, 0, 0                                                \
            }                                                                                      \
        }                                                                                          \
    }

/// The type that an extension's object is of where it stands on an object of type `place`; NULL:
/// its inside is nobody's business here (schema_extensions.c).
const type *cutis_gltf_extension_type(const char *name, const char *place);

/// A type that only types of extensions have as a part, or NULL.
const type *cutis_gltf_extension_part(const char *name);
/// One of `count` types, or NULL.
const type *cutis_gltf_find_type(const type *types, size_t count, const char *name);

#endif
