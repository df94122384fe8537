// Roles by names: words of a name (split at capitals, digits and signs), sides, synonyms.
// Invariant: limbs have a side, the trunk has none; an ambiguous word ("leg", "hip", "shoulder") is
// decided by which other words the same side of the rig has.
#include "skeleton/retarget.h"

#include <ctype.h>
#include <string.h>

#define WORD_COUNT 10
#define WORD_SIZE  24

// Ambiguous words, until the rig is known.
enum { WORD_LEG = ROLE_COUNT, WORD_HIP, WORD_SHOULDER, WORD_ROOT };

typedef struct words {
    char word[WORD_COUNT][WORD_SIZE];
    uint32_t count;
} words;

static bool is_word(const char *word, const char *list) // list: words between spaces
{
    size_t size = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[size] == ' ' || !at[size])) return true;
    return false;
}

// Letters only: numbers say which of several, not what.
static void split(const char *name, words *out)
{
    const char *start = name;
    for (const char *at = name; *at; at++)
        if (*at == ':' || *at == '|') start = at + 1; // name spaces, paths
    out->count = 0;
    uint32_t size = 0;
    for (const char *at = start; *at; at++) {
        unsigned char c = (unsigned char)*at, next = (unsigned char)at[1];
        unsigned char before = at > start ? (unsigned char)at[-1] : 0;
        bool begins = (isupper(c) && islower(before)) ||
                      (isupper(c) && isupper(before) && islower(next)) || !isalpha(before);
        if (!isalpha(c)) continue;
        if (begins || out->count == 0) {
            if (out->count == WORD_COUNT) return;
            out->count++;
            size = 0;
        }
        if (size + 1 < WORD_SIZE) out->word[out->count - 1][size++] = (char)tolower(c);
        out->word[out->count - 1][size] = 0;
    }
}

static void drop(words *w, uint32_t i)
{
    memmove(w->word[i], w->word[i + 1], (w->count - i - 1) * sizeof w->word[0]);
    w->count--;
}

static bool strip(char *word, const char *prefix)
{
    size_t size = strlen(prefix);
    if (strncmp(word, prefix, size) != 0 || !word[size]) return false;
    memmove(word, word + size, strlen(word + size) + 1);
    return true;
}

static uint8_t take_side(words *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        if (strip(w->word[i], "left")) return SIDE_LEFT;
        if (strip(w->word[i], "right")) return SIDE_RIGHT;
        bool left = is_word(w->word[i], "l left");
        if (!left && !is_word(w->word[i], "r right")) continue;
        drop(w, i);
        return left ? SIDE_LEFT : SIDE_RIGHT;
    }
    return SIDE_NONE;
}

static bool has(const char *text, const char *list) // any of the list's words is inside the text
{
    char word[WORD_SIZE];
    while (*list) {
        size_t size = strcspn(list, " ");
        memcpy(word, list, size);
        word[size] = 0;
        if (strstr(text, word)) return true;
        list += size + (list[size] == ' ');
    }
    return false;
}

static int role_of_text(const char *text, const words *w)
{
    static const struct {
        int role;
        const char *parts;
    } RULES[] = { { ROLE_THUMB, "thumb" },
                  { ROLE_INDEX, "index" },
                  { ROLE_PINKY, "pinky little" },
                  { ROLE_NONE, "finger metacarpal" },
                  { ROLE_TOES, "toe ball" },
                  { ROLE_FOOT, "foot ankle" },
                  { ROLE_THIGH, "thigh upleg upperleg femur" },
                  { ROLE_SHIN, "shin calf knee lowerleg loleg tibia" },
                  { WORD_LEG, "leg" },
                  { ROLE_FOREARM, "forearm lowerarm loarm elbow" },
                  { ROLE_UPPERARM, "upperarm uparm humerus" },
                  { ROLE_HAND, "hand wrist palm" },
                  { ROLE_CLAVICLE, "clavicle collar scapula" },
                  { WORD_SHOULDER, "shoulder" },
                  { ROLE_NECK, "neck" },
                  { ROLE_HIPS, "hips pelvis" },
                  { WORD_HIP, "hip" },
                  { ROLE_SPINE, "spine chest torso back abdomen waist thorax lumbar" } };
    for (uint32_t i = 0; i < w->count; i++) {
        if (is_word(w->word[i], "end nub tip twist roll ik fk pole target ctrl breast eye jaw "
                                "tongue ear hair weapon tail brow lip cheek lid"))
            return ROLE_NONE;
        if (is_word(w->word[i], "middle")) return ROLE_MIDDLE;
        if (is_word(w->word[i], "ring")) return ROLE_RING;
    }
    for (size_t i = 0; i < sizeof RULES / sizeof *RULES; i++)
        if (has(text, RULES[i].parts)) return RULES[i].role;
    for (uint32_t i = 0; i < w->count; i++) {
        if (is_word(w->word[i], "arm")) return ROLE_UPPERARM;
        if (is_word(w->word[i], "head")) return ROLE_HEAD;
        if (is_word(w->word[i], "root cog")) return WORD_ROOT;
    }
    return ROLE_NONE;
}

// "lthigh", "rhand": a side without a sign between.
static bool begins_limb(const char *text)
{
    static const char *const LIMBS[] = { "thigh",    "upleg",    "upperleg", "shin",   "calf",
                                         "knee",     "foot",     "ankle",    "toe",    "thumb",
                                         "forearm",  "elbow",    "arm",      "hand",   "wrist",
                                         "hip",      "upperarm", "clavicle", "collar", "shoulder",
                                         "lowerleg", "lowerarm" };
    for (size_t i = 0; i < sizeof LIMBS / sizeof *LIMBS; i++)
        if (strncmp(text, LIMBS[i], strlen(LIMBS[i])) == 0) return true;
    return false;
}

static int name_role(const char *name, uint8_t *side)
{
    words w = { 0 };
    char text[WORD_COUNT * WORD_SIZE] = "";
    size_t length = 0;
    split(name, &w);
    *side = take_side(&w);
    for (uint32_t i = 0; i < w.count; i++) {
        const size_t size = strlen(w.word[i]);
        memcpy(text + length, w.word[i], size + 1);
        length += size;
    }
    if (*side == SIDE_NONE && (text[0] == 'l' || text[0] == 'r') && begins_limb(text + 1))
        *side = text[0] == 'l' ? SIDE_LEFT : SIDE_RIGHT;
    return role_of_text(text, &w);
}

static bool any_role(const retarget_rig *rig, int role, uint8_t side)
{
    for (uint32_t n = 0; n < rig->count; n++)
        if (rig->role[n] == role && rig->side[n] == side) return true;
    return false;
}

static void settle_words(retarget_rig *rig)
{
    for (uint32_t n = 0; n < rig->count; n++) {
        uint8_t *role = &rig->role[n], side = rig->side[n];
        if (*role == WORD_LEG)
            *role = any_role(rig, ROLE_THIGH, side) ? ROLE_SHIN : ROLE_NONE;
        else if (*role == WORD_HIP && side == SIDE_NONE)
            *role = ROLE_HIPS;
        else if (*role == WORD_HIP)
            *role = any_role(rig, ROLE_THIGH, side) ? ROLE_HIPJOINT : ROLE_THIGH;
        else if (*role == WORD_SHOULDER)
            *role = any_role(rig, ROLE_UPPERARM, side) ? ROLE_CLAVICLE : ROLE_UPPERARM;
        else if (*role == WORD_ROOT)
            *role = ROLE_NONE; // the hips are found from the legs
        else if (*role == ROLE_HIPS && side != SIDE_NONE)
            *role = ROLE_HIPJOINT;
    }
    for (uint32_t n = 0; n < rig->count; n++) {
        bool limb = rig->role[n] >= ROLE_CLAVICLE;
        if (limb != (rig->side[n] != SIDE_NONE)) rig->role[n] = ROLE_NONE;
        if (rig->role[n] == ROLE_NONE) rig->side[n] = SIDE_NONE;
    }
}

// A foot with another parent that stands where the shin ends: a goal of inverse kinematics.
static bool stands_at_shin(const retarget_rig *rig, int32_t foot)
{
    int32_t shin = cutis_retarget_joint(rig, ROLE_SHIN, rig->side[foot]);
    int32_t thigh = cutis_retarget_joint(rig, ROLE_THIGH, rig->side[foot]);
    if (rig->role[foot] != ROLE_FOOT || shin == CUTIS_NONE || thigh == CUTIS_NONE) return false;
    double bone = v3_length(cutis_retarget_between(rig->place, thigh, shin));
    double way = v3_length(cutis_retarget_between(rig->place, shin, foot));
    return way > 0.4 * bone && way < 1.6 * bone;
}

// A limb is a chain, but for feet that stand where they should.
static void settle_limbs(retarget_rig *rig)
{
    static const uint8_t ABOVE[ROLE_COUNT] = { [ROLE_SHIN] = ROLE_THIGH,
                                               [ROLE_FOOT] = ROLE_SHIN,
                                               [ROLE_TOES] = ROLE_FOOT,
                                               [ROLE_FOREARM] = ROLE_UPPERARM,
                                               [ROLE_HAND] = ROLE_FOREARM };
    for (uint32_t n = 0; n < rig->count; n++) {
        uint8_t wanted = ABOVE[rig->role[n]], side = rig->side[n];
        int32_t top = wanted ? cutis_retarget_joint(rig, wanted, side) : CUTIS_NONE;
        if (top == CUTIS_NONE || cutis_retarget_is_under(rig, (int32_t)n, top)) continue;
        if (!stands_at_shin(rig, (int32_t)n)) rig->role[n] = ROLE_NONE;
    }
}

// The hips are where the legs meet, and where legs and trunk meet; named ones above them too. Spine
// joints carry neck, head or an arm.
static void settle_trunk(retarget_rig *rig)
{
    int32_t legs = cutis_retarget_ancestor(rig, cutis_retarget_joint(rig, ROLE_THIGH, SIDE_LEFT),
                                           cutis_retarget_joint(rig, ROLE_THIGH, SIDE_RIGHT));
    int32_t tops[4] = { cutis_retarget_joint(rig, ROLE_HEAD, SIDE_NONE),
                        cutis_retarget_joint(rig, ROLE_NECK, SIDE_NONE),
                        cutis_retarget_joint(rig, ROLE_UPPERARM, SIDE_LEFT),
                        cutis_retarget_joint(rig, ROLE_UPPERARM, SIDE_RIGHT) };
    int32_t meet = legs;
    for (int i = 0; i < 4; i++)
        if (tops[i] != CUTIS_NONE) meet = cutis_retarget_ancestor(rig, meet, tops[i]);
    for (uint32_t n = 0; n < rig->count; n++) {
        int32_t at = (int32_t)n;
        bool carries = false;
        for (int i = 0; i < 4; i++) carries = carries || cutis_retarget_is_under(rig, tops[i], at);
        if (rig->role[n] == ROLE_SPINE && !carries) rig->role[n] = ROLE_NONE;
        if (legs == CUTIS_NONE) continue;
        bool above = cutis_retarget_is_under(rig, legs, at), named = rig->role[n] == ROLE_HIPS;
        bool between = meet != CUTIS_NONE && cutis_retarget_is_under(rig, at, meet);
        if (named) rig->role[n] = ROLE_NONE;
        if (rig->role[n] == ROLE_SPINE && at != legs) continue; // a tree that hangs from the chest
        if (rig->joint[n] && above && (between || named)) {
            rig->role[n] = ROLE_HIPS;
            rig->side[n] = SIDE_NONE;
        }
    }
}

bool cutis_retarget_roles_by_name(retarget_rig *rig)
{
    for (uint32_t n = 0; n < rig->count; n++) {
        const char *name = rig->data->nodes[n].name;
        rig->role[n] = ROLE_NONE;
        rig->side[n] = SIDE_NONE;
        // Joints called __NAME only turn the axes for NAME (MakeHuman's motions).
        if (rig->joint[n] && name && strncmp(name, "__", 2) != 0)
            rig->role[n] = (uint8_t)name_role(name, &rig->side[n]);
    }
    settle_words(rig);
    cutis_retarget_number(rig);
    settle_limbs(rig);
    settle_trunk(rig);
    cutis_retarget_number(rig);
    return cutis_retarget_whole(rig);
}
