/// Pictures of a posed model: what render, compare and the gallery share. One stage holds the
/// model, its rest shape, the renderer and the look that was asked for; a shot is one method at one
/// time.
#ifndef CUTIS_CLI_PICTURE_H
#define CUTIS_CLI_PICTURE_H

#include <cutis/render.h>

#include "app.h"
#include "cage_poses.h"
#include "html.h"
#include "patches.h"
#include "play.h"
#include "rest_shape.h"

#define PICTURE_METHODS 8 ///< most methods in one sheet

/// What --show asks for.
typedef struct picture_show {
    bool skeleton, wire, parts, curvature, handles, cage;
    char joint[128];      ///< weights:JOINT, or empty
    char reference[1024]; ///< error:REFERENCE (a method or a file), or empty
} picture_show;

typedef struct picture_stage {
    cli_app *app;
    const char *path;
    cutis_model *model;
    int32_t clip;
    const char *pose_file;
    cutis_device *device;
    cutis_renderer *renderer;
    rest_shape rest;
    double diagonal;
    float *colors;   ///< 4 per vertex, linear
    cage_poses cage; ///< --cage-poses, 30 a second
    picture_show show;
    uint32_t width, height;
    cutis_camera camera;
    bool dark;
    bool ground_fixed; ///< the floor is at `ground`, not at the lowest point
    float ground;
} picture_stage;

/// One method, bound; its positions and normals are those of the last picture_pose.
typedef struct picture_shot {
    cutis_method method;
    bool weighted;
    play play;
    patch_play patch;
} picture_shot;

/// A method's name as in --methods: "lbs", "sbs", "sbs-weighted", ...
const char *picture_method_name(const picture_shot *shot);
/// The same for people: "linear blend", ...
const char *picture_method_title(const picture_shot *shot);

/// --method patches: `patch` has the mesh, `play` the pose.
bool picture_is_patched(const picture_shot *shot);

/// Parse --methods (or --method) into shots; nothing is bound yet.
int picture_methods(cli_app *app, picture_shot *shots, uint32_t *count);

/// Read the model, find clip, pose and device, and if it `draws` open the renderer. On failure
/// nothing is left to close.
int picture_open(cli_app *app, const char *path, bool draws, picture_stage *out);
void picture_close(picture_stage *stage);

/// A shot that was never bound is fine.
void picture_shot_close(picture_shot *shot);
double picture_shot_volume(const picture_stage *stage, const picture_shot *shot);

int picture_bind(picture_stage *stage, picture_shot *shot);
int picture_pose(picture_stage *stage, picture_shot *shot, double seconds);

/// Shots of --method patches (picture_patches.c): bound, posed, and the frame's colours (4 per
/// vertex, to be freed; NULL: out of memory).
int picture_patches_open(picture_stage *stage, picture_shot *shot);
int picture_patches_pose(picture_stage *stage, picture_shot *shot, double seconds);
float *picture_patches_colors(const picture_stage *stage, const picture_shot *shot);

/// Values to paint, one per vertex, with the legend that goes with them.
typedef struct picture_paint {
    float *values; ///< NULL: the model's own colours
    cutis_legend legend;
    char title[160];
} picture_paint;

/// What --show paints for this shot, which must be posed; `reference` holds positions for error:,
/// or NULL.
int picture_paint_shot(picture_stage *stage, const picture_shot *shot, const float *reference,
                       picture_paint *out);
void picture_paint_release(picture_paint *paint);

/// Colours of all vertices, 4 each, linear: vertex colours, else the material's base colour, else
/// clay.
void picture_model_colors(const cutis_model *model, float *colors);

/// Weights on a joint (node) of every vertex of an output frame.
void picture_joint_weights(const cutis_model *model, uint32_t node, float *values);

/// Lines and dots of the model's handles (picture_handles.c): how many, and what they are with
/// nodes at `world`. false: out of memory.
uint32_t picture_handle_count(const picture_stage *stage);
bool picture_handle_lines(const picture_stage *stage, const cutis_mat34 *world,
                          cutis_scene_line *lines);

/// Draw a posed shot.
int picture_draw(picture_stage *stage, const picture_shot *shot, const picture_paint *paint,
                 cutis_image *out);

/// One picture of a row of pictures. Everything is borrowed.
typedef struct picture_view {
    cutis_surface surface;
    const float *normals, *values, *colors;
    const char *title, *subtitle;
    uint32_t line_count;
    const cutis_scene_line *lines;
} picture_view;

/// Pictures side by side, all framed alike. `legend` (its ends and map colour `values`) may be
/// NULL.
cutis_result picture_views(cutis_context *context, cutis_renderer *renderer,
                           const picture_view *views, uint32_t count, cutis_camera camera,
                           const cutis_legend *legend, uint32_t width, uint32_t height,
                           cutis_image *out);

/// Bodies side by side as one picture of a report, all seen from the same place.
/// @param legend NULL: they are not painted
int report_views(cli_app *app, html_page *page, cutis_renderer *renderer, const picture_view *views,
                 uint32_t count, const cutis_legend *legend, const char *text);

/// The cage (picture_cage.c): its poses when the stage opens, the one at a time, its edges.
int picture_open_cage(picture_stage *stage);
void picture_pose_cage(play *play, double seconds);
uint32_t picture_cage_count(const picture_stage *stage);
/// Grow a box by the cage, if it is shown.
void picture_cage_frame(const picture_stage *stage, const play *play, cutis_bounds *box);
void picture_cage_lines(const picture_stage *stage, const play *play, cutis_scene_line *lines);

#endif
