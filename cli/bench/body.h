/// Models to measure speed on: a sheet whose blocks share exactly four of 64 bones, and poses for
/// any model.
#ifndef CUTIS_CLI_BENCH_BODY_H
#define CUTIS_CLI_BENCH_BODY_H

#include "app.h"

#define BENCH_BONES 64

/// A strip of `vertex_count` vertices with four influences each, in `set_count` bone sets of equal
/// size (16: no two sets share a bone); two clips, "a" and "b", that turn all 64 joints.
cutis_result bench_body_create(cutis_context *context, uint32_t vertex_count, uint32_t set_count,
                               cutis_model **out);

/// A pose that turns every node a little (at most 40 degrees), the same every time.
/// @param transforms node_count of the model
void bench_pose(const cutis_model *model, cutis_transform *transforms);

#endif
