/// What measure says of one shape of a model beyond sizes: closed or not, crossings, curvature of
/// its parts; and the shape of a model in a pose.
#ifndef CUTIS_CLI_MEASURE_SHAPE_H
#define CUTIS_CLI_MEASURE_SHAPE_H

#include "app.h"
#include "rest_shape.h"

/// The parts of a model's triangles, in output order.
typedef struct measure_parts {
    uint32_t count;
    char (*names)[128]; ///< no name twice
    uint32_t *of;       ///< per triangle
} measure_parts;

/// Parts as the meshes name them; a model without any is one part called "all".
int measure_parts_make(cli_app *app, const cutis_model *model, measure_parts *out);
void measure_parts_release(measure_parts *parts);

typedef struct measure_facts {
    cutis_manifold manifold;
    cutis_crossings crossings;
    double *curvature; ///< median per part, degrees; NAN without vertices
} measure_facts;

/// @param rest decides which vertices are one
int measure_facts_make(cli_app *app, const char *path, const cutis_surface *rest,
                       const cutis_surface *surface, const measure_parts *parts,
                       measure_facts *out);
void measure_facts_release(measure_facts *facts);
/// The keys watertight, euler, boundary_edges, self_intersections, intersecting_pairs,
/// curvature_median; all null if `facts` is NULL.
void measure_facts_json(json_out *json, const measure_parts *parts, const measure_facts *facts);
void measure_facts_print(const cli_app *app, const measure_parts *parts,
                         const measure_facts *facts);

/// Is a pose asked for (--clip, --pose, --method)?
bool measure_wants_pose(const cli_app *app);
/// Vertices of the model in the pose that --clip, --time, --pose, --method, --weighted ask for.
/// @param model may be replaced by one that has the clip's file too
int measure_pose(cli_app *app, const char *path, cutis_model **model, float **positions);

/// cutis measure --method patches.
int measure_patches(cli_app *app);

/// Plots of a model's joint under --plot's name: OUT_volume, OUT_curvature, OUT_patch.
int measure_plot(cli_app *app);

#endif
