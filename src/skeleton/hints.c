// Strokes to limbs: a stroke is on the limb whose line it is nearest to, in sections of it.
// Invariant: no limb is told two things.
#include "skeleton/hints.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/error.h"

enum { SAMPLES = 7 };              // of a bar
static const double ON_LIMB = 2.5; // sections from its line: skin is at one
static const double LEAST = 0.01;  // of the diagonal: no section is thinner
static const double BEYOND = 1.05; // lengths of a limb: strokes farther in are on what carries it

// The role that a name begins with: "leg_l", "leg 2" and "leg" are legs.
static bool role_of(const char *name, cutis_role *out)
{
    static const struct {
        const char *word;
        cutis_role role;
    } WORDS[] = { { "body", CUTIS_ROLE_NONE },        { "head", CUTIS_ROLE_HEAD },
                  { "arm", CUTIS_ROLE_ARM },          { "leg", CUTIS_ROLE_LEG },
                  { "tail", CUTIS_ROLE_TAIL },        { "ear", CUTIS_ROLE_EAR },
                  { "antenna", CUTIS_ROLE_EAR },      { "wing", CUTIS_ROLE_WING },
                  { "abdomen", CUTIS_ROLE_ABDOMEN },  { "finger", CUTIS_ROLE_FINGER },
                  { "wrist", CUTIS_ROLE_STUMP },      { "caudal", CUTIS_ROLE_CAUDAL },
                  { "dorsal", CUTIS_ROLE_DORSAL },    { "anal", CUTIS_ROLE_ANAL },
                  { "pectoral", CUTIS_ROLE_PECTORAL } };
    for (size_t i = 0; name && i < sizeof WORDS / sizeof *WORDS; i++) {
        const size_t size = strlen(WORDS[i].word);
        if (strncmp(name, WORDS[i].word, size) != 0 || isalpha((unsigned char)name[size])) continue;
        *out = WORDS[i].role;
        return true;
    }
    return false;
}

// How far a stroke is from a limb's line, in its sections there, in the mean.
static double distance(const cutis_centrelines *lines, const cutis_limb *limb,
                       const cutis_handle *stroke, double least)
{
    const vec3 a = v3(stroke->from.x, stroke->from.y, stroke->from.z);
    const vec3 b = v3(stroke->to.x, stroke->to.y, stroke->to.z);
    const int samples = stroke->kind == CUTIS_HANDLE_BAR ? SAMPLES : 1;
    double sum = 0;
    for (int k = 0; k < samples; k++) {
        const vec3 at = v3_mix(a, b, samples > 1 ? (double)k / (samples - 1) : 0);
        double nearest = INFINITY;
        for (uint32_t i = 0; i < limb->count && limb->along[i] <= BEYOND * limb->length; i++) {
            const double far = v3_distance(at, lines->nodes[limb->path[i]].point);
            nearest = fmin(nearest, far / fmax(limb->section[i], least));
        }
        sum += nearest / samples;
    }
    return sum;
}

cutis_result cutis_hints_find(cutis_context *context, const cutis_hints *hints,
                              const cutis_centrelines *lines, const cutis_limbs *limbs,
                              double diagonal, cutis_role *told)
{
    for (uint32_t i = 0; i < CUTIS_LIMB_MOST; i++) told[i] = CUTIS_ROLE_UNTOLD;
    for (uint32_t s = 0; hints && s < hints->stroke_count; s++) {
        const cutis_handle *stroke = &hints->strokes[s];
        const char *name = stroke->name ? stroke->name : "";
        cutis_role role;
        uint32_t best = 0;
        double least = INFINITY;
        if (!role_of(name, &role))
            return cutis_fail(context, CUTIS_NOT_FOUND,
                              "stroke %u (%.60s): its name begins with none of body, head, arm, "
                              "leg, tail, ear, antenna, wing, abdomen, finger, wrist, caudal, "
                              "dorsal, anal, pectoral",
                              s, name);
        for (uint32_t i = 0; i < limbs->count; i++) {
            double far = distance(lines, &limbs->list[i], stroke, LEAST * diagonal);
            if (far < least) least = far, best = i;
        }
        if (!(least < ON_LIMB))
            return cutis_fail(context, CUTIS_NOT_FOUND,
                              "stroke %u (%.60s) lies on no limb that was found", s, name);
        if (told[best] != CUTIS_ROLE_UNTOLD && told[best] != role)
            return INVALID(context, "stroke %u (%.60s) lies on a limb that another one names", s,
                           name);
        told[best] = role;
    }
    return CUTIS_OK;
}
