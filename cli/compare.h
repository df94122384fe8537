/// Methods measured against each other over a clip: what compare measures and its report shows.
#ifndef CUTIS_CLI_COMPARE_H
#define CUTIS_CLI_COMPARE_H

#include "picture.h"

/// Figures of one method, frame by frame.
typedef struct compare_series {
    double *position_rms, *position_max; ///< % of the diagonal; the first begins the block of all
    double *normal_rms;                  ///< radians
    double *volume;                      ///< variation, %
    double *curvature;                   ///< RMS mean curvature, 1/m
    double *stretch;                     ///< RMS log edge stretch
    double ns_per_vertex;                ///< of deforming, over all frames
} compare_series;

typedef struct compare_job {
    picture_stage stage;
    picture_shot shots[PICTURE_METHODS];
    compare_series series[PICTURE_METHODS];
    uint32_t shot_count, frame_count;
    double fps;
    const char *reference_path; ///< or NULL: the first method
    cutis_array reference;      ///< frames of positions, when from a file
    float *reference_frame;     ///< positions of the current frame
    double *times;              ///< seconds
    const char *report;         ///< or NULL
} compare_job;

/// The frame where a method is worst: the largest error, or for the reference itself the largest
/// change of volume.
uint32_t compare_worst_frame(const compare_job *job, uint32_t shot);
/// Pose every method at a frame and set the reference positions.
int compare_pose(cli_app *app, compare_job *job, uint32_t frame);
const char *compare_reference_name(const compare_job *job);

/// Write the page.
int compare_report(cli_app *app, compare_job *job);

#endif
