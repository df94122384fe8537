/// A bone's matrix from a palette. After algebra.h and bone.h, with KERNEL_DOUBLE.
#ifndef CUTIS_KERNEL_CROWD_BONE_H
#define CUTIS_KERNEL_CROWD_BONE_H

#include "item.h"
#include "algebra.h"
#include "bone.h"

FN bone34 crowd_bone(GLOBAL const double *m)
{
    bone34 b;
    for (int i = 0; i < 12; i++) b.m[i] = m[i];
    return b;
}

#endif
