/// Crowds on a device: states that changed, and rotation centres of bone sets. Concatenated after
/// algebra.h, bone.h, eigen.h and crowd_bone.h, with KERNEL_DOUBLE; crowd_pose.h has the poses.
/// Invariant: the bits of the host's way.
#ifndef CUTIS_KERNEL_CROWD_H
#define CUTIS_KERNEL_CROWD_H

#include "item.h"
#include "crowd_arguments.h"
#include "crowd_bone.h"
#include "eigen.h"

ITEM_KERNEL(crowd_update, CROWD_UPDATE_BUFFERS)
{
    ITEM_BEGIN
    int change = item / given.words, word = item % given.words;
    INDEX at = (INDEX)changes[given.first + change] * CROWD_STATE_WORDS;
    int value = changes[given.first + given.count + item];
    if (word < CROWD_STATE_WORDS)
        states[at + word] = value;
    else
        previous[at + word - CROWD_STATE_WORDS] = value;
    ITEM_END
}

// Centres -------------------------------------------------------------------------------------

/// N, h and the square of a set's bones about c (device/cpu/bones_schedule.h has it in lanes).
FN centre_system crowd_centre_build(GLOBAL const int *bones, int count,
                                    GLOBAL const double *palette, GLOBAL const double *squares,
                                    real3 c)
{
    centre_system e = centre_system_zero(), whole = centre_system_zero();
    bone34 first = crowd_bone(palette + 12 * bones[0]);
    double square = squares[bones[0]];
    if (count <= 3) {
        bone34 second = crowd_bone(palette + 12 * bones[1]);
        square = square + squares[bones[1]];
        e = centre_system_add(e, bone_minus(first, second), c);
        if (count == 3) {
            bone34 third = crowd_bone(palette + 12 * bones[2]);
            square = square + squares[bones[2]];
            e = centre_system_add(e, bone_minus(first, third), c);
            e = centre_system_add(e, bone_minus(second, third), c);
        }
    } else {
        bone34 sum = bone_minus(first, first);
        for (int s = 1; s < count; s++) {
            bone34 d = bone_minus(crowd_bone(palette + 12 * bones[s]), first);
            square = square + squares[bones[s]];
            sum = bone_plus(sum, d);
            e = centre_system_add(e, d, c);
        }
        whole = centre_system_add(whole, sum, c);
        e = centre_system_of_sums(e, whole, (double)count);
    }
    e.square = square * (1.0 / (3.0 * (double)count));
    return e;
}

ITEM_KERNEL(crowd_centres, CROWD_CENTRES_BUFFERS)
{
    ITEM_BEGIN
    int slot = item / given.set_count, set = item % given.set_count;
    GLOBAL const int *bones = sets + sets[set];
    int count = sets[set + 1] - sets[set];
    GLOBAL const double *palette = palettes + (INDEX)slot * 12 * given.bone_count;
    GLOBAL const double *squares = measures + (INDEX)slot * 2 * given.bone_count;
    real3 c = real3_make(references[3 * set], references[3 * set + 1], references[3 * set + 2]);
    real3 y = real3_make(0.0, 0.0, 0.0);
    centre_system e = crowd_centre_build(bones, count, palette, squares, c);
    centre_ways w = centre_ways_of(e);
    if (0.5 < w.plain) {
        y = centre_definite(e, e.h);
        if (0.5 < w.stiff) {
            real3 at = real3_make(c.x + y.x, c.y + y.y, c.z + y.z);
            centre_system again = crowd_centre_build(bones, count, palette, squares, at);
            real3 step = centre_definite(e, again.h);
            y = real3_make(y.x + step.x, y.y + step.y, y.z + step.z);
        }
    }
    if (0.5 < w.axial) y = centre_across(e, w);
    double far = real3_product(y, y) < given.limit * given.limit ? 0.0 : 1.0;
    if (0.5 < (0.5 < w.plain + w.axial ? far : w.turns)) y = centre_by_eigenvectors(e, given.limit);
    GLOBAL float *to = frames + given.centres + (INDEX)item * 4;
    to[0] = (float)(c.x + y.x);
    to[1] = (float)(c.y + y.y);
    to[2] = (float)(c.z + y.z);
    to[3] = 0.0f;
    ITEM_END
}

#endif
