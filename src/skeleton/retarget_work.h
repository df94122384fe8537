/// What a retargeting is made of while it runs: shared by the passes over the frames (retarget.c)
/// and by what makes feet stand (retarget_stand.c).
#ifndef CUTIS_SKELETON_RETARGET_WORK_H
#define CUTIS_SKELETON_RETARGET_WORK_H

#include "skeleton/retarget.h"

typedef struct retarget_keys {
    float *times;
    float **rotations; // per target node, 4 per frame, or NULL
    float **moves;     // per target node, 3 per frame, or NULL: of the root and of what is carried
} retarget_keys;

typedef struct retarget_work {
    const cutis_model *target_model, *motion_model;
    const cutis_retarget_options *options;
    cutis_retarget_report report;
    cutis_arena arena;
    retarget_job job;
    retarget_frame frame;
    cutis_sampler *sampler;
    cutis_transform *pose;
    int32_t *map;
    uint32_t first;     // frame of the motion that is the result's first
    double lift, level; // of the whole motion; of the ground
    bool locked;        // feet stand where they do
    retarget_foot foot[RETARGET_FEET];
    double *points[RETARGET_FEET][2]; // of each foot's sole, in a frame and the one before
    double *lows, *drop; // per frame: lowest of both soles; how far the hips are lowered
    double *scratch;     // 3 per frame
    retarget_sole body;  // of legs that are not whole: all skin that travels
    double *body_at;     // in a frame
    retarget_keys keys;
} retarget_work;

/// Room for one foot; soles and frames are known.
cutis_result cutis_retarget_stand_alloc(retarget_work *w, int side);
/// What a foot does in the frame that was just made.
void cutis_retarget_stand_take(retarget_work *w, int side, uint32_t frame);
/// What its sole alone does in it: where a heel blends with the shin, that depends on how the leg
/// is bent.
void cutis_retarget_stand_touch(retarget_work *w, int side, uint32_t frame);
/// Stances, how far the motion is lifted, and how feet would slide, from all frames.
void cutis_retarget_stand_find(retarget_work *w);
/// Where ankles shall be, and how far the hips come down for it. May be called again.
void cutis_retarget_stand_goals(retarget_work *w);
/// Legs that are not whole (a toy's, without knees) have no feet to stand on: the body as a whole
/// goes to the ground it rests on. Before the frames; in each; after them.
cutis_result cutis_retarget_stand_body_alloc(retarget_work *w);
void cutis_retarget_stand_body_take(retarget_work *w, uint32_t frame);
void cutis_retarget_stand_body_find(retarget_work *w);
/// The report's slide, from where ankles went.
void cutis_retarget_stand_measure(retarget_work *w);

#endif
