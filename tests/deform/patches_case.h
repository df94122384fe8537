/// Bodies, poses and checks for the tests of the blending patches. What is checked is computed here
/// anew, from the output mesh alone.
#ifndef CUTIS_TESTS_PATCHES_CASE_H
#define CUTIS_TESTS_PATCHES_CASE_H

#include "support.h"

#include <cutis/patches.h>

#define DEGREES (M_PI / 180.0)

/// A limb along z with its joint at the origin: rings of `around` vertices from -length to length.
typedef struct limb_options {
    double length;          ///< of each part
    bool knee;              ///< a thigh and a calf, else a cylinder of radius 1
    double ellipse;         ///< factor on y; 0 = 1
    double tilt;            ///< of the joint loop, degrees
    double wave;            ///< amplitude of the joint loop
    double jitter;          ///< of all vertices, in radii
    uint32_t around, rings; ///< rings is even: half for each part
} limb_options;

static inline double limb_radius(const limb_options *o, double z)
{
    if (!o->knee) return 1.0;
    double t = z / o->length; // thigh 1.18 .. 1.04, calf 1.0 .. 1.1 .. 0.75
    double body = t < 0 ? 1.04 - 0.14 * t : 1.04 + t * (0.24 - 0.53 * t);
    double end = fabs(t) > 0.85 ? sqrt(fmax(0.0, 1.0 - pow((fabs(t) - 0.85) / 0.1501, 2))) : 1.0;
    return body * end + 1e-3;
}

static inline void limb_vertex(const limb_options *o, uint32_t ring, uint32_t i, float *out)
{
    double phi = 2.0 * M_PI * (i + 0.5 * (ring % 2)) / o->around;
    double t = 2.0 * ring / o->rings - 1.0; // -1 .. 1, 0 at the joint
    double fade = pow(1.0 - fabs(t), 2.0), z = o->length * t;
    double r = limb_radius(o, z), x = r * cos(phi), y = r * sin(phi);
    z += fade * (x * tan(o->tilt * DEGREES) + o->wave * sin(3.0 * phi));
    uint64_t seed = 3 * ((uint64_t)ring * o->around + i);
    if (o->jitter > 0 && ring != o->rings / 2 && ring > 0 && ring < o->rings) {
        x += o->jitter * random_in(7, seed, -1, 1);
        y += o->jitter * random_in(7, seed + 1, -1, 1);
        z += o->jitter * random_in(7, seed + 2, -1, 1);
    }
    out[0] = (float)x;
    out[1] = (float)(y * (o->ellipse > 0 ? o->ellipse : 1.0));
    out[2] = (float)z;
}

static inline cutis_model *limb_create(cutis_context *context, const limb_options *o)
{
    uint32_t rings = o->rings + 1, around = o->around, vertices = rings * around + 2;
    uint32_t triangles = 2 * around * (rings - 1) + 2 * around, t = 0;
    float *positions = calloc(vertices, 12), *weights = calloc(2 * vertices, 4);
    uint32_t *indices = calloc(triangles, 12), *parts = calloc(triangles, 4);
    uint32_t *first = calloc(vertices + 1, 4), *joints = calloc(2 * vertices, 4);
    for (uint32_t r = 0; r < rings; r++)
        for (uint32_t i = 0; i < around; i++)
            limb_vertex(o, r, i, positions + 3 * (r * around + i));
    positions[3 * (vertices - 2) + 2] = (float)-o->length;
    positions[3 * (vertices - 1) + 2] = (float)o->length;
    for (uint32_t r = 0; r < rings - 1; r++)
        for (uint32_t i = 0; i < around; i++) {
            uint32_t k = (i + 1) % around, a = r * around + i, b = r * around + k;
            uint32_t c = (r + 1) * around + i, d = (r + 1) * around + k;
            uint32_t even[6] = { a, b, c, b, d, c }, odd[6] = { a, b, d, a, d, c };
            memcpy(indices + 3 * t, r % 2 ? odd : even, sizeof even);
            parts[t] = parts[t + 1] = r >= o->rings / 2;
            t += 2;
        }
    for (uint32_t i = 0; i < around; i++) {
        uint32_t k = (i + 1) % around, top = (rings - 1) * around;
        uint32_t caps[6] = { vertices - 2, k, i, vertices - 1, top + i, top + k };
        memcpy(indices + 3 * t, caps, sizeof caps);
        parts[t] = 0;
        parts[t + 1] = 1;
        t += 2;
    }
    for (uint32_t v = 0; v < vertices; v++) { // for LBS: linear over |z| <= 1
        double w = fmin(1.0, fmax(0.0, 0.5 + 0.5 * positions[3 * v + 2]));
        first[v] = 2 * v;
        joints[2 * v + 1] = 1;
        weights[2 * v] = (float)(1.0 - w);
        weights[2 * v + 1] = (float)w;
    }
    first[vertices] = 2 * vertices;
    static const char *const names[2] = { "upper", "lower" };
    cutis_primitive primitive = { .vertex_count = vertices,
                                  .index_count = 3 * triangles,
                                  .indices = indices,
                                  .positions = positions,
                                  .influences = { first, joints, weights },
                                  .parts = parts,
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = {
        .primitive_count = 1, .primitives = &primitive, .part_count = 2, .part_names = names
    };
    cutis_transform still = cutis_transform_identity(), root = still, child = still;
    root.translation.z = (float)-o->length;
    child.translation.z = (float)o->length;
    cutis_node nodes[3] = {
        { .name = "upper",
          .parent = CUTIS_NONE,
          .rest = root,
          .mesh = CUTIS_NONE,
          .skin = CUTIS_NONE },
        { .name = "lower", .parent = 0, .rest = child, .mesh = CUTIS_NONE, .skin = CUTIS_NONE },
        { .name = "limb", .parent = CUTIS_NONE, .rest = still, .mesh = 0, .skin = 0 },
    };
    uint32_t skin_joints[2] = { 0, 1 };
    cutis_mat34 binds[2] = { { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, (float)o->length } },
                             { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } } };
    cutis_skin skin = {
        .joint_count = 2, .joints = skin_joints, .inverse_binds = binds, .root = CUTIS_NONE
    };
    cutis_model_data data = { .node_count = 3,
                              .nodes = nodes,
                              .mesh_count = 1,
                              .meshes = &mesh,
                              .skin_count = 1,
                              .skins = &skin };
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    free(positions), free(weights), free(indices), free(parts), free(first), free(joints);
    return model;
}

/// A model bound, with room for one frame.
typedef struct patch_case_run {
    cutis_context *context;
    cutis_device *device;
    cutis_model *model;
    cutis_binding *patches;
    cutis_patches_info info;
    cutis_transform *rest, *pose;
    float *positions, *normals;
    uint32_t *indices, *labels, counts[2];
    cutis_patches_report *reports;
    double rest_volume;
} patch_run;

static inline double mesh_volume(uint32_t triangles, const float *p, const uint32_t *indices)
{
    double sum = 0.0;
    for (uint32_t t = 0; t < triangles; t++) {
        const float *a = p + 3 * (size_t)indices[3 * t], *b = p + 3 * (size_t)indices[3 * t + 1];
        const float *c = p + 3 * (size_t)indices[3 * t + 2];
        sum += a[0] * ((double)b[1] * c[2] - (double)b[2] * c[1]) +
               a[1] * ((double)b[2] * c[0] - (double)b[0] * c[2]) +
               a[2] * ((double)b[0] * c[1] - (double)b[1] * c[0]);
    }
    return sum / 6.0;
}

static inline void patch_run_now(patch_run *r)
{
    cutis_poses poses = { .kind = CUTIS_POSE_LOCAL, .local = r->pose };
    cutis_outputs output = { .positions.data = r->positions,
                             .normals.data = r->normals,
                             .topology.indices.data = r->indices,
                             .topology.labels.data = r->labels,
                             .topology.counts.data = r->counts,
                             .topology.reports = r->reports };
    assert_ok(r->context, cutis_deform(r->patches, &poses, 1, &output));
}

static inline double patch_run_volume(const patch_run *r)
{
    return mesh_volume(r->counts[1], r->positions, r->indices);
}

/// Most tests are about patches, which bands leave little to do.
static cutis_patch_band patch_case_band = CUTIS_PATCH_BAND_NONE;

/// The run takes the model over.
static inline patch_run patch_run_open(cutis_context *context, cutis_device *device,
                                       cutis_model *model, cutis_patch_removal removal,
                                       cutis_patch_fill fill)
{
    patch_run r = { .context = context, .device = device, .model = model };
    cutis_bind_options options = { .method = CUTIS_METHOD_PATCHES,
                                   .normals = true,
                                   .patch_removal = removal,
                                   .patch_fill = fill,
                                   .patch_band = patch_case_band };
    assert_ok(context, cutis_bind(device, model, &options, &r.patches));
    r.info = cutis_patches_describe(r.patches);
    uint32_t nodes = cutis_model_get(model)->node_count;
    r.rest = calloc(nodes, sizeof *r.rest);
    r.pose = calloc(nodes, sizeof *r.pose);
    r.positions = calloc(r.info.vertex_capacity, 12);
    r.normals = calloc(r.info.vertex_capacity, 12);
    r.indices = calloc(r.info.triangle_capacity, 12);
    r.labels = calloc(r.info.triangle_capacity, 4);
    r.reports = calloc(r.info.joint_count, sizeof *r.reports);
    cutis_pose_rest(model, r.rest, NULL);
    memcpy(r.pose, r.rest, nodes * sizeof *r.pose);
    patch_run_now(&r);
    r.rest_volume = patch_run_volume(&r);
    return r;
}

static inline void patch_run_close(patch_run *r)
{
    free(r->rest), free(r->pose), free(r->positions), free(r->normals);
    free(r->indices), free(r->labels), free(r->reports);
    cutis_binding_destroy(r->patches);
    cutis_model_destroy(r->model);
}

/// Axis across the limb: 0 and 1 are perpendicular, `k` in between turns by k * 60 degrees.
static inline void limb_axis(const double *limb, double turn, double *axis)
{
    double h[3] = { fabs(limb[0]) > 0.8 ? 0 : 1, 0, fabs(limb[0]) > 0.8 ? 1 : 0 }, a[3], b[3];
    a[0] = h[1] * limb[2] - h[2] * limb[1];
    a[1] = h[2] * limb[0] - h[0] * limb[2];
    a[2] = h[0] * limb[1] - h[1] * limb[0];
    double l = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    for (int k = 0; k < 3; k++) a[k] /= l;
    b[0] = limb[1] * a[2] - limb[2] * a[1];
    b[1] = limb[2] * a[0] - limb[0] * a[2];
    b[2] = limb[0] * a[1] - limb[1] * a[0];
    for (int k = 0; k < 3; k++) axis[k] = cos(turn) * a[k] + sin(turn) * b[k];
}

/// Bend a joint about an axis across its limb and twist it about the limb (radians, world axes at
/// rest), on top of the pose at hand.
static inline void patch_pose_joint(patch_run *r, uint32_t joint, double turn, double bend,
                                    double twist)
{
    cutis_patches_joint j = cutis_patches_joint_at(r->patches, joint);
    const cutis_model_data *data = cutis_model_get(r->model);
    cutis_mat34 *world = calloc(data->node_count, sizeof *world);
    double axis[3], local[2][3];
    cutis_pose_world(r->model, r->rest, world);
    limb_axis(j.limb, turn, axis);
    int32_t parent = data->nodes[j.node].parent;
    for (int k = 0; k < 3; k++) {
        const float *m = parent >= 0 ? world[parent].m : NULL;
        local[0][k] = m ? m[k] * axis[0] + m[4 + k] * axis[1] + m[8 + k] * axis[2] : axis[k];
        local[1][k] =
            m ? m[k] * j.limb[0] + m[4 + k] * j.limb[1] + m[8 + k] * j.limb[2] : j.limb[k];
    }
    free(world);
    cutis_quat swing = cutis_quat_from_axis_angle(
        (cutis_float3){ (float)local[0][0], (float)local[0][1], (float)local[0][2] }, (float)bend);
    cutis_quat spin = cutis_quat_from_axis_angle(
        (cutis_float3){ (float)local[1][0], (float)local[1][1], (float)local[1][2] }, (float)twist);
    r->pose[j.node].rotation =
        cutis_quat_multiply(cutis_quat_multiply(swing, spin), r->rest[j.node].rotation);
}

static inline void patch_pose_rest(patch_run *r)
{
    memcpy(r->pose, r->rest, cutis_model_get(r->model)->node_count * sizeof *r->pose);
}

typedef struct directed {
    uint32_t from, to;
} directed;

static inline int compare_directed(const void *a, const void *b)
{
    const directed *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/// NULL if the frame is closed, consistently oriented, finite, without unused vertices and of the
/// wanted Euler characteristic; else what is wrong.
static inline const char *frame_fault(const patch_run *r, int euler)
{
    uint32_t vertices = r->counts[0], triangles = r->counts[1], used = 0;
    size_t edges = 3 * (size_t)triangles;
    const char *fault = NULL;
    directed *there = malloc(edges * sizeof *there), *back = malloc(edges * sizeof *back);
    uint8_t *seen = calloc(vertices, 1);
    for (size_t i = 0; i < 3 * (size_t)vertices; i++)
        if (!isfinite(r->positions[i]) || !isfinite(r->normals[i])) fault = "not finite";
    for (size_t i = 0; i < edges && !fault; i++) {
        uint32_t a = r->indices[i], b = r->indices[i % 3 == 2 ? i - 2 : i + 1];
        if (a >= vertices || b >= vertices || a == b) fault = "index";
        if (fault) break;
        there[i] = (directed){ a, b };
        back[i] = (directed){ b, a };
        seen[a] = 1;
    }
    if (!fault) {
        qsort(there, edges, sizeof *there, compare_directed);
        qsort(back, edges, sizeof *back, compare_directed);
        for (size_t i = 0; i < edges; i++) {
            if (compare_directed(&there[i], &back[i]) != 0) fault = "an edge without its opposite";
            if (i > 0 && compare_directed(&there[i], &there[i - 1]) == 0) fault = "an edge twice";
        }
        for (uint32_t v = 0; v < vertices; v++) used += seen[v];
        if (used != vertices) fault = "a vertex without a face";
        if ((int)used - (int)(edges / 2) + (int)triangles != euler) fault = "Euler characteristic";
    }
    free(there), free(back), free(seen);
    return fault;
}

/// Patch triangles of a joint that cross one another (exact, cutis_surface_crossings).
static inline uint32_t patch_crossings(const patch_run *r, uint32_t joint, uint32_t *total)
{
    uint32_t *own = malloc(12 * (size_t)r->counts[1]), count = 0;
    uint32_t *weld = malloc(4 * (size_t)r->counts[0]);
    for (uint32_t t = 0; t < r->counts[1]; t++)
        if (r->labels[t] == r->info.part_count + joint)
            memcpy(own + 3 * (size_t)count++, r->indices + 3 * (size_t)t, 12);
    for (uint32_t v = 0; v < r->counts[0]; v++) weld[v] = v;
    cutis_surface surface = { .vertex_count = r->counts[0],
                              .positions = r->positions,
                              .triangle_count = count,
                              .indices = own };
    cutis_crossings crossings;
    assert_ok(r->context, cutis_surface_crossings(r->context, &surface, weld, NULL, &crossings));
    free(own), free(weld);
    if (total) *total = count;
    return (uint32_t)crossings.triangle_count;
}

/// The same mesh and parts with joints where the method wants them: each at the centroid of its
/// loop (by edge length), frames without rotation.
static inline cutis_model *rig_at_loops(cutis_context *context, cutis_device *device,
                                        cutis_model *model)
{
    cutis_binding *patches = NULL;
    assert_ok(context,
              cutis_bind(device, model,
                         &(cutis_bind_options){ .method = CUTIS_METHOD_PATCHES, .normals = true },
                         &patches));
    cutis_patches_info info = cutis_patches_describe(patches);
    const cutis_instance *instances;
    cutis_model_instances(model, &instances);
    const cutis_mesh *mesh = &cutis_model_get(model)->meshes[instances[0].mesh];
    const cutis_primitive *from = &mesh->primitives[0];
    uint32_t parts = info.part_count, triangles = from->index_count / 3, made = 0;
    double *place = calloc(4 * (size_t)parts, sizeof *place);
    int32_t *parent = malloc(parts * sizeof *parent);
    uint32_t *order = calloc(parts, 4), *at = calloc(parts, 4), *joints = calloc(parts, 4);
    uint32_t *weld = malloc(4 * (size_t)from->vertex_count);
    for (uint32_t p = 0; p < parts; p++) parent[p] = -1;
    for (uint32_t j = 0; j < info.joint_count; j++) {
        cutis_patches_joint joint = cutis_patches_joint_at(patches, j);
        parent[joint.child] = (int32_t)joint.parent;
    }
    assert_ok(context, cutis_weld_positions(context, from->vertex_count, from->positions, weld));
    typedef struct side {
        directed edge;
        uint32_t part;
    } side;
    side *sides = malloc(3 * (size_t)triangles * sizeof *sides);
    for (uint32_t i = 0; i < 3 * triangles; i++) {
        uint32_t a = weld[from->indices[i]], b = weld[from->indices[i % 3 == 2 ? i - 2 : i + 1]];
        sides[i] = (side){ { a < b ? a : b, a < b ? b : a }, from->parts[i / 3] };
    }
    qsort(sides, 3 * (size_t)triangles, sizeof *sides, compare_directed);
    for (uint32_t i = 0; i + 1 < 3 * triangles; i += 2) {
        if (sides[i].part == sides[i + 1].part) continue;
        uint32_t a = sides[i].part, b = sides[i + 1].part, c = parent[a] == (int32_t)b ? a : b;
        const float *x = from->positions + 3 * (size_t)sides[i].edge.from;
        const float *y = from->positions + 3 * (size_t)sides[i].edge.to;
        double l = sqrt(pow(x[0] - y[0], 2) + pow(x[1] - y[1], 2) + pow(x[2] - y[2], 2));
        for (int k = 0; k < 3; k++) place[4 * c + k] += l * 0.5 * (x[k] + y[k]);
        place[4 * c + 3] += l;
    }
    for (uint32_t p = 0; p < parts; p++)
        for (int k = 0; k < 3 && place[4 * p + 3] > 0; k++) place[4 * p + k] /= place[4 * p + 3];
    for (uint32_t p = 0; p < parts; p++)
        if (parent[p] < 0) order[made++] = p;
    for (uint32_t i = 0; i < made; i++)
        for (uint32_t p = 0; p < parts; p++)
            if (parent[p] == (int32_t)order[i]) order[made++] = p;
    for (uint32_t i = 0; i < parts; i++) at[order[i]] = i;
    cutis_node *nodes = calloc(parts + 1, sizeof *nodes);
    cutis_mat34 *binds = calloc(parts, sizeof *binds);
    for (uint32_t i = 0; i < parts; i++) {
        uint32_t p = order[i];
        const double *up = parent[p] >= 0 ? place + 4 * parent[p] : NULL;
        cutis_transform t = cutis_transform_identity();
        t.translation = (cutis_float3){ (float)(place[4 * p] - (up ? up[0] : 0)),
                                        (float)(place[4 * p + 1] - (up ? up[1] : 0)),
                                        (float)(place[4 * p + 2] - (up ? up[2] : 0)) };
        nodes[i] = (cutis_node){ .name = mesh->part_names[p],
                                 .parent = up ? (int32_t)at[parent[p]] : CUTIS_NONE,
                                 .rest = t,
                                 .mesh = CUTIS_NONE,
                                 .skin = CUTIS_NONE };
        binds[i] = (cutis_mat34){ { 1, 0, 0, (float)-place[4 * p], 0, 1, 0,
                                    (float)-place[4 * p + 1], 0, 0, 1, (float)-place[4 * p + 2] } };
        joints[i] = i;
    }
    nodes[parts] = (cutis_node){
        .parent = CUTIS_NONE, .rest = cutis_transform_identity(), .mesh = 0, .skin = 0
    };
    uint32_t *first = calloc(from->vertex_count + 1, 4), *influence = calloc(from->vertex_count, 4);
    float *weights = calloc(from->vertex_count, 4);
    for (uint32_t v = 0; v < from->vertex_count; v++) first[v + 1] = v + 1, weights[v] = 1.0f;
    cutis_primitive primitive = *from;
    primitive.influences = (cutis_influences){ first, influence, weights };
    primitive.material = CUTIS_NONE;
    cutis_mesh copy = *mesh;
    copy.primitives = &primitive;
    cutis_skin skin = {
        .joint_count = parts, .joints = joints, .inverse_binds = binds, .root = CUTIS_NONE
    };
    cutis_model_data data = { .node_count = parts + 1,
                              .nodes = nodes,
                              .mesh_count = 1,
                              .meshes = &copy,
                              .skin_count = 1,
                              .skins = &skin };
    cutis_model *out = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &out));
    free(place), free(parent), free(order), free(at), free(joints), free(weld), free(sides);
    free(nodes), free(binds), free(first), free(influence), free(weights);
    cutis_binding_destroy(patches);
    cutis_model_destroy(model);
    return out;
}

#endif
