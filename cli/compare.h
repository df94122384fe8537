/// Methods measured against each other over a clip: what compare measures and its report shows.
#ifndef CUTIS_CLI_COMPARE_H
#define CUTIS_CLI_COMPARE_H

#include "picture.h"

/// What is measured of a frame.
enum {
    COMPARE_POSITION_RMS, ///< % of the diagonal
    COMPARE_POSITION_MAX,
    COMPARE_NORMAL_RMS, ///< radians
    COMPARE_VOLUME,     ///< variation, %
    COMPARE_CURVATURE,  ///< RMS mean curvature, 1/m
    COMPARE_STRETCH,    ///< RMS log edge stretch
    COMPARE_COLUMNS
};

/// Figures of one method, frame by frame.
typedef struct compare_series {
    double *columns[COMPARE_COLUMNS]; ///< the first begins the block of all
    double ns_per_vertex;
} compare_series;

/// The same over all frames.
typedef struct compare_totals {
    double position_rms, position_max, normal_rms, volume_min, volume_max, stretch;
} compare_totals;

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
int compare_pose(compare_job *job, uint32_t frame);
const char *compare_reference_name(const compare_job *job);
compare_totals compare_sum_up(const compare_job *job, uint32_t shot);

/// Write the page.
int compare_report(cli_app *app, compare_job *job);

#endif
