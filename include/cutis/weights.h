/// Influences: questions about them, checks, and simple edits. Learned and reduced weights come from here too.
#ifndef CUTIS_WEIGHTS_H
#define CUTIS_WEIGHTS_H

#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Counts over the skinned instances of a model. An influence counts when its weight is > 0.
typedef struct cutis_weight_summary {
    uint32_t max_influences;
    uint32_t bone_set_count;     ///< distinct sets of two or more bones
    uint32_t large_set_count;    ///< of three or more
    uint32_t joint_count;        ///< distinct joints (nodes) of the skins in use
    uint32_t unused_joint_count; ///< joints no vertex has weight on
    uint64_t unweighted_count;   ///< vertices without any weight
    uint64_t histogram[17];      ///< vertices by number of influences; the last entry: 16 or more
} cutis_weight_summary;

CUTIS_API cutis_result cutis_weights_summarize(const cutis_model *model, cutis_weight_summary *out);

typedef struct cutis_report cutis_report;

/// Look for what is wrong with the skin: sums, duplicates, unweighted vertices, seams whose copies differ, more influences
/// than `influence_limit` (0: 4), unused joints, missing or singular inverse binds, degenerate triangles, clips without effect.
CUTIS_API cutis_result cutis_model_check(const cutis_model *model, uint32_t influence_limit,
                                         cutis_report **out);
CUTIS_API void cutis_report_destroy(cutis_report *report); ///< NULL is fine
CUTIS_API uint32_t cutis_report_issues(const cutis_report *report, const cutis_issue **out);

/// A model whose vertices keep their `max_influences` largest weights (ties: the lower joint), renormalised, sorted by
/// joint; duplicates merged. 0 keeps all and only cleans. Everything else is the same.
CUTIS_API cutis_result cutis_weights_limit(const cutis_model *model, uint32_t max_influences,
                                           cutis_model **out);

#ifdef __cplusplus
}
#endif
#endif
