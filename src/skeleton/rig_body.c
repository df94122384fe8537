// A rig for a body: its plan, a model with joints and skins, and weights by the joints' bones.
// Invariant: at rest every vertex is where it was; y runs along every bone.
#include <cutis/handles.h>
#include <cutis/rig.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "model/object.h"
#include "skeleton/humanoid.h"
#include "skeleton/parts.h"
#include "skeleton/plan.h"
#include "skeleton/rig_labels.h"
#include "skeleton/rig_parts.h"
#include "skeleton/rig_twist.h"

static const uint32_t COARSE = 2000; // faces: so few may have none for a small part
static const double APART = 0.2;     // of the cells: more is a second body
static const double OPEN = 0.3;      // of the closed surface: more is a sheet; scans have holes
static const double DOUBTFUL = 3;    // deviation from a kind beyond which it is not trusted

typedef struct {
    const cutis_model *model;
    cutis_context *context;
    cutis_rig_report *report;
    cutis_arena arena; // of what is needed until the model is made
    cutis_labels names;
    cutis_closed mesh;
    cutis_centrelines *lines;
    cutis_plan *plan;
    cutis_gathered body;
    uint32_t *parts;     // per triangle of the body
    double (*frames)[9]; // per joint: columns x y z
    cutis_notes problems, notes;
    cutis_skin *skins;
    const float **transforms; // per skin: of its meshes
    uint32_t skin_count;
    uint32_t twist_count, influence_most; // joints at the plan's end; weights kept per vertex
} rigger;

const char *cutis_rig_kind_name(cutis_rig_kind kind)
{
    return kind == CUTIS_RIG_AUTO ? "auto" : cutis_kind_name((cutis_kind)(kind - 1));
}

void cutis_rig_report_destroy(cutis_rig_report *report)
{
    cutis_owner_destroy(report);
}

// The plan --------------------------------------------------------------------------------------

// Joints of thin or noisy bodies may come to lie outside: into the nearest cell.
static void move_inside(rigger *r)
{
    const cutis_cells *cells = &r->lines->cells;
    for (uint32_t j = 0; j < r->plan->joint_count; j++) {
        vec3 *point = &r->plan->joints[j].point;
        uint32_t cell = cutis_cell_near(cells, *point), best = 0;
        if (cell != CUTIS_NOTHING &&
            v3_distance(cutis_cell_centre(cells, cell), *point) < cells->size &&
            cells->depth[cell] > cells->size)
            continue;
        for (uint32_t i = 1; i < r->lines->count; i++)
            if (v3_distance(r->lines->nodes[i].point, *point) <
                v3_distance(r->lines->nodes[best].point, *point))
                best = i;
        *point = v3_mix(*point, r->lines->nodes[best].point, 0.5);
        cell = cutis_cell_near(cells, *point);
        if (cell == CUTIS_NOTHING || cells->depth[cell] <= cells->size)
            *point = r->lines->nodes[best].point;
        r->report->moved_inside++;
    }
}

static const char *article(cutis_kind kind)
{
    return strchr("aeio", cutis_kind_name(kind)[0]) ? "an" : "a";
}

// The area of a face, and its share of a sum of places weighted by area.
static double add_area(const cutis_closed *mesh, uint32_t f, vec3 *sum)
{
    vec3 p[3];
    for (int k = 0; k < 3; k++) p[k] = v3_of(mesh->points[mesh->faces[f][k]]);
    double area = 0.5 * v3_length(v3_cross(v3_sub(p[1], p[0]), v3_sub(p[2], p[0])));
    *sum = v3_mad(*sum, area / 3, v3_add(p[0], v3_add(p[1], p[2])));
    return area;
}

// A sheet has no inside to put joints in, though closing it makes one: much of what was closed is
// caps. They come last; those of one hole are a fan about their third vertex.
static void note_sheet(rigger *r)
{
    const cutis_closed *mesh = &r->mesh;
    vec3 hole = v3(0, 0, 0), place = hole, unused = hole;
    double all = 0, open = 0, own = 0, largest = 0;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        if (mesh->primitives[mesh->outputs[mesh->corners[f][0]].primitive].source) {
            all += add_area(mesh, f, &unused);
            continue;
        }
        if (f && mesh->faces[f][2] != mesh->faces[f - 1][2]) own = 0, hole = v3(0, 0, 0);
        const double area = add_area(mesh, f, &hole);
        own += area, open += area, all += area;
        if (own > largest) largest = own, place = v3_scale(hole, 1 / own);
    }
    if (open > OPEN * all)
        cutis_note(&r->problems,
                   "it is a sheet, not a body: %.0f %% of the surface that would close it are "
                   "missing, most of them around %.4g, %.4g, %.4g",
                   100 * open / all, place.x, place.y, place.z);
}

// Its own check of the plan.
static void note_problems(rigger *r)
{
    const cutis_plan *plan = r->plan;
    const cutis_cells *cells = &r->lines->cells;
    uint32_t apart = 0;
    note_sheet(r);
    for (uint32_t i = 0; i < cells->count; i++) apart += !isfinite(r->lines->reach[i]);
    if (apart > APART * cells->count)
        cutis_note(&r->problems, "%.0f %% of the model are apart from the body that was rigged",
                   100. * apart / cells->count);
    if (plan->kind == CUTIS_KIND_ANY && plan->part_count < 2)
        cutis_note(&r->problems, "no limb stands out of the body");
    for (uint32_t i = 0; i < plan->part_count && r->mesh.face_count > COARSE; i++) {
        uint32_t t = 0;
        while (t < r->body.triangle_count && r->parts[t] != i) t++;
        if (t == r->body.triangle_count)
            cutis_note(&r->problems, "nothing is left of its %s", plan->parts[i]);
    }
    if (plan->lacks != CUTIS_ROLE_NONE)
        cutis_note(&r->problems, "the body of %s %s has %u %s%s; %u %s found", article(plan->kind),
                   cutis_kind_name(plan->kind), plan->needs,
                   cutis_role_name(plan->kind, plan->lacks), plan->needs == 1 ? "" : "s", plan->has,
                   plan->has == 1 ? "was" : "were");
    else if (plan->kind != CUTIS_KIND_ANY && plan->cost > DOUBTFUL)
        cutis_note(&r->problems, "the limbs are not those of %s %s (deviation %.1f, beyond %.1f)",
                   article(plan->kind), cutis_kind_name(plan->kind), plan->cost, DOUBTFUL);
}

static cutis_result find_plan(rigger *r, const cutis_rig_options *options)
{
    cutis_skeleton_repairs repairs = { 0 };
    r->names.arena = &r->arena;
    TRY(cutis_gather(&r->arena, r->model, &r->body));
    if (r->body.triangle_count == 0) return INVALID(r->context, "there are no triangles to rig");
    TRY(cutis_closed_make(r->model, NULL, &r->names, &repairs, &r->mesh));
    r->lines = cutis_arena_zero(&r->arena, 1, sizeof *r->lines);
    r->plan = cutis_arena_zero(&r->arena, 1, sizeof *r->plan);
    if (!r->lines || !r->plan) return cutis_alloc_result(r->context);
    cutis_kind kind =
        options->kind == CUTIS_RIG_AUTO ? CUTIS_KIND_COUNT : (cutis_kind)(options->kind - 1);
    const cutis_hints hints = { options->strokes, options->stroke_count, options->part_count };
    TRY(cutis_plan_body(&r->arena, &r->mesh, kind, &hints, r->lines, r->plan));
    TRY(cutis_progress(r->context, "rigging", 0.3));
    move_inside(r);
    r->parts = cutis_arena_zero(&r->arena, r->body.triangle_count, sizeof *r->parts);
    if (!r->parts) return cutis_alloc_result(r->context);
    TRY(cutis_rig_parts(r->plan, r->lines, &r->mesh, &r->body, r->parts));
    r->report->kind = (cutis_rig_kind)(r->plan->kind + 1);
    r->report->deviation = r->plan->cost;
    r->report->second =
        options->kind == CUTIS_RIG_AUTO ? (cutis_rig_kind)(r->plan->next + 1) : CUTIS_RIG_AUTO;
    r->report->second_deviation = r->plan->second;
    if (!cutis_humanoid_map(cutis_owner_arena(r->report), r->plan, &r->report->humanoid,
                            &r->report->humanoid_count))
        return cutis_alloc_result(r->context);
    r->report->joint_count = r->plan->joint_count, r->report->part_count = r->plan->part_count;
    note_problems(r);
    return CUTIS_OK;
}

// Joints ----------------------------------------------------------------------------------------

// Where a bone points: at the child that goes on most as the bone before does; at the end of a
// chain as that bone does.
static vec3 bone_way(const cutis_plan *plan, uint32_t j)
{
    const cutis_plan_joint *own = &plan->joints[j];
    vec3 before = own->parent == CUTIS_NONE ? v3(0, 1, 0)
                                            : v3_sub(own->point, plan->joints[own->parent].point);
    vec3 best = before;
    double most = -2;
    if (!(v3_length(before) > 0)) before = best = v3(0, 1, 0);
    for (uint32_t c = j + 1; c < plan->joint_count; c++) {
        vec3 way = v3_sub(plan->joints[c].point, own->point);
        if (plan->joints[c].parent != (int32_t)j || !(v3_length(way) > 0)) continue;
        double along = v3_dot(v3_unit(way), v3_unit(before));
        if (along > most) most = along, best = way;
    }
    return v3_unit(best);
}

// y along the bone, z as near to the body's front as that leaves, x to complete them.
static bool find_frames(rigger *r)
{
    const cutis_plan *plan = r->plan;
    r->frames = cutis_arena_alloc(&r->arena, plan->joint_count, sizeof *r->frames);
    if (!r->frames) return false;
    for (uint32_t j = 0; j < plan->joint_count; j++) {
        vec3 y = bone_way(plan, j), z = v3_mad(plan->front, -v3_dot(plan->front, y), y);
        if (v3_length(z) < 0.2) z = v3_mad(v3(0, 1, 0), -y.y, y);
        if (v3_length(z) < 0.2) z = v3_mad(v3(1, 0, 0), -y.x, y);
        z = v3_unit(z);
        vec3 x = v3_cross(y, z);
        const double frame[9] = { x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z };
        memcpy(r->frames[j], frame, sizeof frame);
    }
    return true;
}

static cutis_node joint_node(const rigger *r, uint32_t j, uint32_t first)
{
    const cutis_plan_joint *own = &r->plan->joints[j];
    cutis_node node = cutis_node_default();
    double local[9], place[3], origin[3];
    cutis_mat34 matrix;
    v3_put(own->point, place);
    memcpy(local, r->frames[j], sizeof local);
    memcpy(origin, place, sizeof origin);
    if (own->parent != CUTIS_NONE) {
        vec3 way = v3_sub(own->point, r->plan->joints[own->parent].point);
        const double *up = r->frames[own->parent];
        double33_transpose_multiply(up, r->frames[j], local);
        for (int k = 0; k < 3; k++)
            origin[k] = up[k] * way.x + up[3 + k] * way.y + up[6 + k] * way.z;
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) matrix.m[4 * i + k] = (float)local[3 * i + k];
        matrix.m[4 * i + 3] = (float)origin[i];
    }
    node.name = own->name;
    node.parent = (int32_t)(own->parent == CUTIS_NONE ? first - 1 : first + (uint32_t)own->parent);
    node.rest = cutis_transform_from_mat34(&matrix);
    node.rest.scale = (cutis_float3){ 1, 1, 1 };
    return node;
}

// Takes a mesh's vertices to the world and from there to the joint.
static void bind_of(const rigger *r, uint32_t j, const float *transform, cutis_mat34 *out)
{
    const double *frame = r->frames[j];
    double place[3];
    v3_put(r->plan->joints[j].point, place);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            double sum = 0;
            for (int m = 0; m < 3; m++)
                sum += frame[3 * m + i] * (transform[4 * m + k] - (k == 3 ? place[m] : 0));
            out->m[4 * i + k] = (float)sum;
        }
}

static bool add_skin(rigger *r, const float *transform, uint32_t first)
{
    uint32_t n = r->plan->joint_count;
    cutis_mat34 *binds = cutis_arena_alloc(&r->arena, n, sizeof *binds);
    uint32_t *joints = cutis_arena_alloc(&r->arena, n, sizeof *joints);
    if (!binds || !joints) return false;
    for (uint32_t j = 0; j < n; j++) joints[j] = first + j, bind_of(r, j, transform, &binds[j]);
    r->skins[r->skin_count++] = (cutis_skin){ .name = "rig",
                                              .joint_count = n,
                                              .joints = joints,
                                              .inverse_binds = binds,
                                              .root = (int32_t)first };
    return true;
}

// A skin serves all meshes that stand in the same place. CUTIS_NONE: out of memory.
static int32_t skin_for(rigger *r, const float *transform, uint32_t first)
{
    for (uint32_t k = 0; k < r->skin_count; k++)
        if (memcmp(r->transforms[k], transform, 12 * sizeof *transform) == 0) return (int32_t)k;
    r->transforms[r->skin_count] = transform;
    return add_skin(r, transform, first) ? (int32_t)r->skin_count - 1 : CUTIS_NONE;
}

static bool has_inverse(const float *m)
{
    double own[9], largest = 0;
    for (int i = 0; i < 9; i++) {
        own[i] = m[4 * (i / 3) + i % 3];
        largest = fmax(largest, fabs(own[i]));
    }
    return fabs(double33_determinant(own)) > 1e-9 * largest * largest * largest;
}

// The model -------------------------------------------------------------------------------------

// Every vertex on the root, until there are weights.
static bool hold_by_root(rigger *r, cutis_primitive *primitive)
{
    size_t n = primitive->vertex_count;
    uint32_t *first = cutis_arena_alloc(&r->arena, n + 1, sizeof *first);
    uint32_t *joints = cutis_arena_zero(&r->arena, n, sizeof *joints);
    float *weights = cutis_arena_alloc(&r->arena, n, sizeof *weights);
    if (!first || !joints || !weights) return false;
    for (size_t v = 0; v <= n; v++) first[v] = (uint32_t)v;
    for (size_t v = 0; v < n; v++) weights[v] = 1;
    primitive->influences = (cutis_influences){ first, joints, weights };
    return true;
}

// Meshes of the instances as they are at rest in the world.
static cutis_mesh *world_meshes(rigger *r, const cutis_instance *instances, uint32_t count)
{
    const cutis_model_data *data = cutis_model_get(r->model);
    cutis_mesh *meshes = cutis_arena_zero(&r->arena, count, sizeof *meshes);
    const float *positions = r->body.positions;
    for (uint32_t i = 0; i < count && meshes; i++) {
        const cutis_mesh *source = &data->meshes[instances[i].mesh];
        cutis_primitive *own = cutis_arena_zero(&r->arena, source->primitive_count, sizeof *own);
        const bool mirrored = cutis_instance_mirrored(data, &instances[i]);
        if (!own) return NULL;
        for (uint32_t p = 0; p < source->primitive_count; p++) {
            const cutis_primitive *from = &source->primitives[p];
            own[p] = (cutis_primitive){ .topology = from->topology,
                                        .vertex_count = from->vertex_count,
                                        .index_count = from->index_count,
                                        .indices = from->indices,
                                        .positions = positions,
                                        .material = CUTIS_NONE };
            if (mirrored) own[p].indices = cutis_turned_corners(&r->arena, from);
            if (!own[p].indices) return NULL;
            positions += 3 * (size_t)from->vertex_count;
            if (!hold_by_root(r, &own[p])) return NULL;
        }
        meshes[i].primitives = own, meshes[i].primitive_count = source->primitive_count;
    }
    return meshes;
}

// Weights of the whole body in one skin, wherever its meshes stand in their files: a glove is held
// by the hand that it is at, not by what bones lie in it alone.
static cutis_result find_weights(rigger *r, cutis_device *device, const cutis_rig_options *options,
                                 cutis_model **out)
{
    static const float STAYS[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    const cutis_handles_options how = { .influences = options->influences,
                                        .reduce = !options->largest,
                                        .every_joint = true };
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(r->model, &instances), n = r->plan->joint_count;
    cutis_node *nodes = cutis_arena_alloc(&r->arena, 1u + n + (size_t)count, sizeof *nodes);
    cutis_mesh *meshes = world_meshes(r, instances, count);
    cutis_model *whole = NULL;
    if (!nodes || !meshes || !find_frames(r) || !add_skin(r, STAYS, 1))
        return cutis_alloc_result(r->context);
    nodes[0] = cutis_node_default();
    for (uint32_t j = 0; j < n; j++) nodes[1 + j] = joint_node(r, j, 1);
    for (uint32_t i = 0; i < count; i++) {
        cutis_node *node = &nodes[1 + n + i];
        *node = cutis_node_default();
        node->mesh = (int32_t)i, node->skin = 0;
    }
    const cutis_model_data data = { .nodes = nodes,
                                    .node_count = 1 + n + count,
                                    .meshes = meshes,
                                    .mesh_count = count,
                                    .skins = r->skins,
                                    .skin_count = 1 };
    TRY(cutis_model_create(r->context, &data, CUTIS_GATE_REFUSE, &whole));
    cutis_result result = cutis_handles_skeleton(whole, device, &how, out, NULL);
    cutis_model_destroy(whole);
    r->skin_count = 0;
    return result;
}

// @param at next primitive of triangles of the body; moves on
// @param weighted the mesh of this instance, in the world, with its weights
static bool fill_mesh(rigger *r, cutis_mesh *mesh, const cutis_mesh *weighted,
                      const char *const *part_names, const uint32_t *triangles, uint32_t *at)
{
    cutis_primitive *primitives =
        cutis_arena_copy(&r->arena, mesh->primitives, mesh->primitive_count, sizeof *primitives);
    if (!primitives) return false;
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        bool shown = primitives[p].topology == CUTIS_TOPOLOGY_TRIANGLES;
        primitives[p].influences = weighted->primitives[p].influences;
        if (r->twist_count &&
            cutis_twist_spread(&r->arena, r->plan, r->twist_count,
                               weighted->primitives[p].positions, primitives[p].vertex_count,
                               r->influence_most, &primitives[p].influences) != CUTIS_OK)
            return false;
        primitives[p].parts = shown ? r->parts + triangles[(*at)++] : NULL;
    }
    mesh->primitives = primitives;
    mesh->part_names = part_names, mesh->part_count = r->plan->part_count;
    mesh->part_tree = NULL;
    return true;
}

// First triangle of every primitive of the body, in its order.
static uint32_t *first_triangles(rigger *r)
{
    uint32_t *first = cutis_arena_zero(&r->arena, r->body.primitive_count, sizeof *first);
    for (uint32_t t = r->body.triangle_count; t-- > 0 && first;)
        first[r->body.triangle_primitives[t]] = t;
    return first;
}

// @param weights the body of find_weights
static cutis_result make_model(rigger *r, const cutis_model *weights, cutis_model **out)
{
    cutis_model_data data = *cutis_model_get(r->model);
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(r->model, &instances), n = r->plan->joint_count;
    uint32_t first = data.node_count + 1, primitive = 0, *triangles = first_triangles(r);
    cutis_node *nodes = cutis_arena_alloc(&r->arena, (size_t)first + n, sizeof *nodes);
    cutis_mesh *meshes =
        cutis_arena_alloc(&r->arena, (size_t)data.mesh_count + count, sizeof *meshes);
    bool *taken = cutis_arena_zero(&r->arena, data.mesh_count, sizeof *taken);
    const char **names = cutis_arena_alloc(&r->arena, CUTIS_PLAN_PARTS, sizeof *names);
    if (!triangles || !nodes || !meshes || !taken || !names) return cutis_alloc_result(r->context);
    memcpy(meshes, data.meshes, data.mesh_count * sizeof *meshes);
    memcpy(nodes, data.nodes, data.node_count * sizeof *nodes);
    for (uint32_t p = 0; p < r->plan->part_count; p++) names[p] = r->plan->parts[p];
    nodes[first - 1] = cutis_node_default();
    nodes[first - 1].name = "rig";
    nodes[first - 1].extras = cutis_humanoid_extras(&r->arena, r->plan->kind, r->report->humanoid,
                                                    r->report->humanoid_count);
    if (!nodes[first - 1].extras) return cutis_alloc_result(r->context);
    for (uint32_t j = 0; j < n; j++) nodes[first + j] = joint_node(r, j, first);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = instances[i].mesh;
        if (primitive == r->body.primitive_count || r->body.primitives[primitive].instance != i)
            continue;                                                // nothing of it is a surface
        if (!has_inverse(r->body.primitives[primitive].transform)) { // hidden by a scale of 0
            while (primitive < r->body.primitive_count &&
                   r->body.primitives[primitive].instance == i)
                primitive++;
            continue;
        }
        if (taken[own]) { // shown again, it has other weights there: two gloves of one mesh
            own = data.mesh_count++;
            meshes[own] = data.meshes[instances[i].mesh];
            nodes[instances[i].node].mesh = (int32_t)own;
        } else {
            taken[own] = true;
        }
        const int32_t skin = skin_for(r, r->body.primitives[primitive].transform, first);
        if (skin == CUTIS_NONE || !fill_mesh(r, &meshes[own], &cutis_model_get(weights)->meshes[i],
                                             names, triangles, &primitive))
            return cutis_alloc_result(r->context);
        nodes[instances[i].node].skin = skin;
    }
    data.nodes = nodes, data.node_count = first + n;
    data.meshes = meshes;
    data.skins = r->skins, data.skin_count = r->skin_count;
    data.handles = NULL, data.cage = NULL, data.pose_space = NULL;
    return cutis_model_create(r->context, &data, CUTIS_GATE_REFUSE, out);
}

// Its own check: clips that moved what is a skin now, which follows its joints alone.
static void check_clips(rigger *r)
{
    const cutis_model_data *data = cutis_model_get(r->model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(r->model, &instances);
    for (uint32_t c = 0; c < data->clip_count; c++) {
        bool moves = false;
        for (uint32_t k = 0; k < data->clips[c].channel_count && !moves; k++)
            for (uint32_t i = 0; i < count && !moves; i++)
                for (int32_t n = (int32_t)instances[i].node; n != CUTIS_NONE;
                     n = data->nodes[n].parent)
                    moves |= data->clips[c].channels[k].node == (uint32_t)n &&
                             data->clips[c].channels[k].path != CUTIS_PATH_WEIGHTS;
        if (moves)
            cutis_note(&r->problems,
                       "clip %u (%.60s) moves the body as a whole: a skin follows its "
                       "joints alone, so it would do nothing",
                       c, data->clips[c].name ? data->clips[c].name : "without a name");
    }
}

// Its own check: joints that hold nothing.
static void check_weights(rigger *r, const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    double held[CUTIS_PLAN_JOINTS] = { 0 };
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    for (uint32_t n = 0; n < count; n++) {
        const cutis_mesh *mesh = &data->meshes[instances[n].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count && instances[n].skin != CUTIS_NONE; p++) {
            const cutis_influences *w = &mesh->primitives[p].influences;
            for (uint32_t i = 0; w->first && i < w->first[mesh->primitives[p].vertex_count]; i++)
                held[w->joints[i]] += w->weights[i]; // the gate has seen that the skin has them
        }
    }
    for (uint32_t j = 0; j < r->plan->joint_count; j++)
        if (!(held[j] > 0))
            cutis_note(&r->problems, "joint %s moves nothing", r->plan->joints[j].name);
}

static cutis_result rig(rigger *r, cutis_device *device, const cutis_rig_options *options,
                        cutis_model **out)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(r->model, &instances);
    cutis_model *weights = NULL;
    TRY(find_plan(r, options));
    TRY(cutis_progress(r->context, "rigging", 0.5));
    r->skins = cutis_arena_alloc(&r->arena, count + 1u, sizeof *r->skins);
    r->transforms = cutis_arena_alloc(&r->arena, count + 1u, sizeof *r->transforms);
    if (!r->skins || !r->transforms) return cutis_alloc_result(r->context);
    cutis_result result = find_weights(r, device, options, &weights);
    if (result == CUTIS_OK && options->twist) {
        r->influence_most = options->influences ? options->influences : 4;
        r->twist_count = cutis_twist_add(r->plan);
        r->report->joint_count = r->plan->joint_count;
        if (!find_frames(r)) result = cutis_alloc_result(r->context);
    }
    if (result == CUTIS_OK) result = make_model(r, weights, out);
    cutis_model_destroy(weights);
    if (result == CUTIS_OK) check_clips(r), check_weights(r, *out);
    return result;
}

// The body closed first; a part for every joint at last.
static cutis_result rig_for_patches(rigger *r, cutis_device *device,
                                    const cutis_rig_options *options, cutis_model **out)
{
    cutis_model *bare = NULL, *made = NULL;
    rigger first = { .model = r->model,
                     .context = r->context,
                     .report = r->report,
                     .arena = { .context = r->context } };
    first.problems.arena = cutis_owner_arena(r->report);
    cutis_result result = find_plan(&first, options);
    const bool good = first.problems.count == 0; // else it is rigged as it is, and they are told
    if (result == CUTIS_OK && good)
        result =
            cutis_rig_close(r->model, first.parts, first.body.triangle_count, &r->notes, &bare);
    cutis_closed_release(&first.mesh);
    cutis_arena_release(&first.arena);
    r->report->moved_inside = 0; // counted again
    if (result == CUTIS_OK && bare) r->model = bare;
    if (result == CUTIS_OK) result = rig(r, device, options, good ? &made : out);
    if (result == CUTIS_OK && good) result = cutis_rig_joint_parts(made, out);
    if (result == CUTIS_OK && good)
        r->report->part_count = cutis_model_get(*out)->meshes[0].part_count;
    cutis_model_destroy(made);
    cutis_model_destroy(bare);
    return result;
}

cutis_result cutis_rig(const cutis_model *model, cutis_device *device,
                       const cutis_rig_options *options, cutis_model **out,
                       cutis_rig_report **report)
{
    const cutis_rig_options none = { 0 };
    if (out) *out = NULL;
    if (report) *report = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    if (!options) options = &none;
    cutis_context *context = cutis_model_context(model);
    const cutis_model_data *data = cutis_model_get(model);
    double begun = cutis_os_seconds();
    if ((unsigned)options->kind > CUTIS_RIG_ANY) return INVALID(context, "unknown kind of body");
    if (data->skin_count > 0)
        return UNSUPPORTED(context, "the model has a skin already: `handles --skeleton` makes new "
                                    "weights for it, `retarget` brings motion");
    rigger r = { .model = model, .context = context, .arena = { .context = context } };
    r.report = cutis_owner_create(context, sizeof *r.report);
    if (!r.report) return cutis_alloc_result(context);
    r.problems.arena = r.notes.arena = cutis_owner_arena(r.report);
    cutis_result result = options->labels    ? cutis_rig_labelled(model, device, options, r.report,
                                                                  &r.problems, &r.notes, out)
                          : options->patches ? rig_for_patches(&r, device, options, out)
                                             : rig(&r, device, options, out);
    if (result == CUTIS_OK && (r.problems.failed || r.notes.failed))
        result = cutis_alloc_result(context);
    r.report->problem_count = r.problems.count, r.report->problems = r.problems.lines;
    r.report->note_count = r.notes.count, r.report->notes = r.notes.lines;
    r.report->seconds = cutis_os_seconds() - begun;
    cutis_closed_release(&r.mesh);
    cutis_arena_release(&r.arena);
    if (result == CUTIS_OK && report) {
        *report = r.report;
        return result;
    }
    cutis_rig_report_destroy(r.report);
    if (result != CUTIS_OK) cutis_model_destroy(*out), *out = NULL;
    return result;
}
