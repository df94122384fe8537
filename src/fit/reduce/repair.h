/// Is a result worse than k-largest in poses that nothing was learned from, and what is done about
/// it (docs/spec/reduction.md 2.8). The poses that decide are not those of the report.
#ifndef CUTIS_FIT_REDUCE_REPAIR_H
#define CUTIS_FIT_REDUCE_REPAIR_H

#include "fit/reduce/judge.h"

/// Measures: normals, positions on clips; normals, positions on random poses.
enum { CUTIS_REPAIR_MEASURES = 4 };

/// Errors in units of k-largest's: root of the mean square over poses and vertices.
typedef struct cutis_repair_verdict {
    double ratio[CUTIS_REPAIR_MEASURES];
    double doubt[CUTIS_REPAIR_MEASURES]; ///< standard error of the ratio: these are samples too
    /// What 84 and 97 % of others' samples of as many random poses as a report has stay below.
    double high[CUTIS_REPAIR_MEASURES], most[CUTIS_REPAIR_MEASURES];
    double normals; ///< mean over kinds that are learned from
    /// Nothing is worse, as far as can be told; nor will others find it so on poses of theirs.
    bool good, secure;
} cutis_repair_verdict;

typedef struct cutis_repair {
    const cutis_model *model;
    cutis_context *context;
    cutis_device *device;
    const cutis_reduce_options *options;
    const cutis_reduce_groups *groups;
    const cutis_reduce_poses *poses;
    const cutis_reduce_weights *largest; ///< per group
    cutis_arena arena;
    cutis_judge judge;
    cutis_transform *transforms; ///< frames of clips, random poses
    uint32_t clip_count, random_count;
    uint32_t *draws; ///< samples of the random poses
    uint32_t draw_size;
} cutis_repair;

/// @param out what the poses that decide say of weights (per group)
cutis_result cutis_repair_judge(cutis_repair *r, const cutis_reduce_weights *weights,
                                cutis_repair_verdict *out);
/// The same; where the result is not good, connected components of vertices take k-largest's
/// weights until it is: at the latest when all have. @param weights  new arrays, in `arena`
cutis_result cutis_repair_mix(cutis_repair *r, cutis_arena *arena, cutis_reduce_weights *weights,
                              bool *all, cutis_repair_verdict *out);
/// How much is missing until a measure is secure: <= 0: nothing.
double cutis_repair_missing(const cutis_repair_verdict *v, int measure);
/// Measures of kinds that are learned from.
bool cutis_repair_counts(const cutis_repair *r, int measure);
void cutis_repair_close(cutis_repair *r);

#endif
