/// The program of kernel/reduce.h, reduce_wide.h and reduce_items.h, and for sweeps on normals
/// reduce_turns.h and reduce_normals.h; for sets reduce_choose.h. Arguments in the order of the
/// text, without ITEM_ARGS. A problem's sizes are compiled in: copy a kernel and set its `defines`
/// to lines that define KERNEL_DOUBLE, REDUCE_SET, REDUCE_CANDIDATES, REDUCE_LIST and REDUCE_ROWS.
/// Not for CPU devices: their schedule is src/fit/reduce_*.c.
#ifndef CUTIS_DEVICE_COMPUTE_REDUCE_H
#define CUTIS_DEVICE_COMPUTE_REDUCE_H

#include "device/compute.h"

extern const cutis_compute_kernel cutis_compute_reduce_choose;
extern const cutis_compute_kernel cutis_compute_reduce_begin;
extern const cutis_compute_kernel cutis_compute_reduce_gradient;
extern const cutis_compute_kernel cutis_compute_reduce_exchanging;
extern const cutis_compute_kernel cutis_compute_reduce_laplace;
extern const cutis_compute_kernel cutis_compute_reduce_energy;
extern const cutis_compute_kernel cutis_compute_reduce_falls;
extern const cutis_compute_kernel cutis_compute_reduce_keep;
extern const cutis_compute_kernel cutis_compute_reduce_store;
extern const cutis_compute_kernel cutis_compute_reduce_trace;
extern const cutis_compute_kernel cutis_compute_reduce_match;
extern const cutis_compute_kernel cutis_compute_reduce_stray;
extern const cutis_compute_kernel cutis_compute_reduce_places;
extern const cutis_compute_kernel cutis_compute_reduce_normal;
extern const cutis_compute_kernel cutis_compute_reduce_turn;
extern const cutis_compute_kernel cutis_compute_reduce_system;
extern const cutis_compute_kernel cutis_compute_reduce_turned;
extern const cutis_compute_kernel cutis_compute_reduce_turned_exchanging;

#endif
