/// Everything of the library `cutis`. Files need <cutis/io.h> and the library cutis-io, skeletons
/// and retargeting <cutis/skeleton.h>, <cutis/retarget.h> and cutis-skeleton, pictures
/// <cutis/render.h> and cutis-render. C99 or C++11 suffice. Threads: each header says what it
/// allows.
#ifndef CUTIS_CUTIS_H
#define CUTIS_CUTIS_H

#include <cutis/bake.h>
#include <cutis/base.h>
#include <cutis/brush.h>
#include <cutis/cage.h>
#include <cutis/clip.h>
#include <cutis/crowd.h>
#include <cutis/deform.h>
#include <cutis/device.h>
#include <cutis/handles.h>
#include <cutis/math.h>
#include <cutis/measure.h>
#include <cutis/model.h>
#include <cutis/patches.h>
#include <cutis/poses.h>
#include <cutis/synth.h>
#include <cutis/weights.h>

#endif
