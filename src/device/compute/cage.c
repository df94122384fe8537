// The program of cage.h: mean value coordinates, relaxation of harmonic ones, and frames of cages.
#include "device/compute/cage.h"

#include "kernel/cage.h"

static const char *const TEXTS[] = { "cage_arguments.h", "cage.h", NULL };

// A point takes some microseconds.
CUTIS_COMPUTE_KERNEL(cage_mean_value, CAGE_MEAN_VALUE_BUFFERS, .texts = TEXTS, .task_items = 16);
CUTIS_COMPUTE_KERNEL(cage_weights_to_float, CAGE_WEIGHTS_TO_FLOAT_BUFFERS, .texts = TEXTS);
CUTIS_COMPUTE_WIDE_KERNEL(cage_relax, CAGE_RELAX_BUFFERS, .texts = TEXTS, .task_items = 2048);
CUTIS_COMPUTE_WIDE_KERNEL(cage_relax_residual, CAGE_RELAX_RESIDUAL_BUFFERS, .texts = TEXTS,
                          .task_items = 16);
CUTIS_COMPUTE_KERNEL(cage_deform, CAGE_DEFORM_BUFFERS, .texts = TEXTS, .task_items = 1024);
CUTIS_COMPUTE_KERNEL(cage_face_normals, CAGE_FACE_NORMALS_BUFFERS, .texts = TEXTS,
                     .task_items = 4096);
