// The new model of an extraction: one mesh in world space, joints with ends, rigid weights, the
// part tree, and the nodes that had nothing to do with any of it. Invariant: copies of one welded
// vertex have one position and one joint, so nothing tears but along joints, and there only what is
// nearer to the child stretches.
#include <math.h>
#include <string.h>

#include "skeleton/carry.h"
#include "skeleton/rig.h"

typedef struct {
    const cutis_parts *parts;
    const cutis_closed *mesh;
    const cutis_skeleton_options *options;
    cutis_arena arena;
    cutis_carried carried;
    bool flipped;
    uint32_t *place; // per output: its vertex in its primitive, or CUTIS_NOTHING
    uint32_t *owner; // per welded vertex: its part
    cutis_primitive *primitives;
    uint32_t primitive_count, vertex_count;
    uint32_t *weld; // of the new model
    cutis_node *nodes;
    uint32_t node_count, body, *joint_nodes;
    cutis_mat34 *binds;
} exporter;

// Vertices --------------------------------------------------------------------------------------

static void transform_vector(const float *transform, const float *v, bool normal, float *out)
{
    vec3 r = cutis_transform_vector(transform, normal, v);
    double length = v3_length(r);
    v3_put_floats(length > 0 ? v3_divide(r, length) : v3_of_floats(v), out);
}

// Floats of a vertex: normals, tangents, texture coordinates, colours.
static const uint8_t WIDTHS[] = { 3, 4, 2, 4 };

static const float *attribute_array(const cutis_primitive *source, int which)
{
    const float *arrays[] = { source->normals, source->tangents, source->texcoords,
                              source->colors };
    return arrays[which];
}

// Attribute `which` of an output; points between two outputs mix them. Caps may lie beside a
// primitive that has none: zeros, and white.
static void attribute(const exporter *e, uint32_t output, int which, float *out)
{
    const cutis_output_vertex *o = &e->mesh->outputs[output];
    const cutis_output_primitive *from = &e->mesh->primitives[o->primitive];
    const int width = WIDTHS[which];
    if (from->source && o->a == o->b) {
        const float *array = attribute_array(from->source, which);
        const float *v = array ? array + (size_t)width * (o->a - from->source_first) : NULL;
        for (int k = 0; k < width; k++) out[k] = v ? v[k] : which == 3;
        if (v && which < 2) transform_vector(from->transform, v, which == 0, out);
        if (which == 1 && cutis_transform_mirrors(from->transform))
            out[3] = -out[3]; // the bitangent's side
        return;
    }
    float a[4] = { 0 }, b[4] = { 0 };
    attribute(e, o->a, which, a);
    attribute(e, o->b, which, b);
    for (int k = 0; k < width; k++) out[k] = (float)((1 - o->t) * a[k] + o->t * b[k]);
    if (which == 1) out[3] = a[3];
    if (which > 1) return;
    double length = v3_length(v3_of_floats(out));
    v3_put_floats(length > 0 ? v3_divide(v3_of_floats(out), length) : v3_of_floats(a), out);
}

// Does the primitive get attribute `which`? Caps do if one beside them has it.
static bool has_attribute(const exporter *e, const cutis_output_primitive *from,
                          const uint32_t *outputs, uint32_t count, int which)
{
    if (from->source) return attribute_array(from->source, which);
    for (uint32_t v = 0; v < count && which > 1; v++) { // their normals are their own
        const cutis_output_vertex *o = &e->mesh->outputs[outputs[v]];
        const cutis_output_vertex *border = &e->mesh->outputs[o->a];
        const cutis_primitive *source = e->mesh->primitives[border->primitive].source;
        if (source && attribute_array(source, which)) return true;
    }
    return false;
}

// Displacements of the morph targets; normals and tangents where the source has them.
static bool copy_targets(exporter *e, cutis_primitive *to, const uint32_t *outputs,
                         uint32_t primitive)
{
    const cutis_carried *carried = &e->carried;
    const cutis_primitive *source = e->mesh->primitives[primitive].source;
    size_t floats = 3 * (size_t)to->vertex_count;
    if (carried->target_count == 0) return true;
    cutis_morph_target *targets =
        cutis_arena_alloc(&e->arena, carried->target_count, sizeof *targets);
    if (!targets) return false;
    for (uint32_t t = 0; t < carried->target_count; t++) {
        uint32_t own = carried->sources[(size_t)primitive * carried->target_count + t];
        const cutis_morph_target *old = own == CUTIS_NOTHING ? NULL : &source->targets[own];
        const float **arrays[] = { &targets[t].positions, &targets[t].normals,
                                   &targets[t].tangents };
        bool wanted[] = { true, old && old->normals, old && old->tangents };
        targets[t] = (cutis_morph_target){ 0 };
        for (int which = 0; which < 3; which++) {
            if (!wanted[which]) continue;
            float *values = cutis_arena_alloc(&e->arena, floats, sizeof *values);
            if (!values) return false;
            for (uint32_t v = 0; v < to->vertex_count; v++)
                cutis_carry_displacement(e->mesh, carried, outputs[v], t, which,
                                         values + 3 * (size_t)v);
            *arrays[which] = values;
        }
    }
    to->targets = targets;
    return true;
}

// A normal that was flipped takes the displacements of its targets along.
static void flip_targets(const exporter *e, cutis_primitive *to, size_t v)
{
    for (uint32_t t = 0; t < e->carried.target_count; t++) {
        float *values = (float *)to->targets[t].normals; // made by copy_targets
        for (size_t k = 3 * v; values && k < 3 * v + 3; k++) values[k] = -values[k];
    }
}

// Normals of caps, and of faces that were turned over, follow the faces.
static bool fix_normals(exporter *e, cutis_primitive *to)
{
    size_t count = to->vertex_count;
    double(*sums)[3] = cutis_arena_zero(&e->arena, count, sizeof *sums);
    bool caps = !to->normals;
    float *normals = cutis_arena_alloc(&e->arena, 3 * count, sizeof *normals);
    if (!sums || !normals) return false;
    v3_sum_normals(to->positions, to->indices, to->index_count / 3, NULL, sums[0]);
    for (size_t v = 0; v < count; v++) {
        double length = sqrt(double3_dot(sums[v], sums[v])), dot = 0;
        for (int k = 0; k < 3 && !caps; k++) dot += sums[v][k] * to->normals[3 * v + k];
        for (int k = 0; k < 3; k++)
            normals[3 * v + k] = caps ? (length > 0 ? (float)(sums[v][k] / length) : k == 2)
                                      : (dot < 0 ? -1 : 1) * to->normals[3 * v + k];
        if (!caps && dot < 0) flip_targets(e, to, v);
    }
    to->normals = normals;
    return true;
}

static bool set_influences(exporter *e, cutis_primitive *to, const uint32_t *weld)
{
    uint32_t count = to->vertex_count;
    uint32_t *first = cutis_arena_alloc(&e->arena, (size_t)count + 1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(&e->arena, count, sizeof *joints);
    float *weights = cutis_arena_alloc(&e->arena, count, sizeof *weights);
    if (!first || !joints || !weights) return false;
    for (uint32_t v = 0; v < count; v++)
        first[v] = v, joints[v] = e->owner[weld[v]], weights[v] = 1;
    first[count] = count;
    to->influences = (cutis_influences){ first, joints, weights };
    return true;
}

// What the vertices of one primitive carry beside their places.
static bool copy_attributes(exporter *e, cutis_primitive *to, const uint32_t *outputs,
                            uint32_t index)
{
    const cutis_output_primitive *from = &e->mesh->primitives[index];
    const float **arrays[] = { &to->normals, &to->tangents, &to->texcoords, &to->colors };
    for (int which = 0; which < 4; which++) {
        const size_t width = WIDTHS[which];
        if (!has_attribute(e, from, outputs, to->vertex_count, which)) continue;
        float *values = cutis_arena_alloc(&e->arena, to->vertex_count * width, sizeof *values);
        if (!values) return false;
        for (uint32_t v = 0; v < to->vertex_count; v++)
            attribute(e, outputs[v], which, values + width * v);
        *arrays[which] = values;
    }
    if (!copy_targets(e, to, outputs, index)) return false;
    return (from->source && !(e->flipped && to->normals)) || fix_normals(e, to);
}

// Faces and vertices of one primitive.
static bool make_primitive(exporter *e, uint32_t index, uint32_t face_count)
{
    const cutis_closed *mesh = e->mesh;
    const cutis_output_primitive *from = &mesh->primitives[index];
    cutis_primitive *to = &e->primitives[e->primitive_count];
    uint32_t *indices = cutis_arena_alloc(&e->arena, face_count, 3 * sizeof *indices);
    uint32_t *labels = cutis_arena_alloc(&e->arena, face_count, sizeof *labels);
    uint32_t *outputs = cutis_arena_alloc(&e->arena, 3 * (size_t)face_count, sizeof *outputs);
    if (!indices || !labels || !outputs) return false;
    *to = (cutis_primitive){ .material = from->material, .indices = indices, .parts = labels };
    uint32_t *weld = e->weld + e->vertex_count;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        if (mesh->outputs[mesh->corners[f][0]].primitive != index) continue;
        labels[to->index_count / 3] = e->parts->part_of_label[mesh->labels[f]];
        for (int c = 0; c < 3; c++) {
            uint32_t o = mesh->corners[f][c];
            // A corner's output may stand for two welded vertices where the surface touched
            // itself: the second gets a copy.
            if (e->place[o] == CUTIS_NOTHING || weld[e->place[o]] != mesh->faces[f][c]) {
                e->place[o] = to->vertex_count++;
                outputs[e->place[o]] = o, weld[e->place[o]] = mesh->faces[f][c];
            }
            indices[to->index_count++] = e->place[o];
        }
    }
    float *positions = cutis_arena_alloc(&e->arena, to->vertex_count, 3 * sizeof *positions);
    if (!positions) return false;
    for (uint32_t v = 0; v < to->vertex_count; v++)
        memcpy(positions + 3 * (size_t)v, mesh->outputs[outputs[v]].position, 3 * sizeof(float));
    to->positions = positions;
    if (!copy_attributes(e, to, outputs, index) || !set_influences(e, to, weld)) return false;
    e->vertex_count += to->vertex_count;
    e->primitive_count++;
    return true;
}

static bool make_primitives(exporter *e)
{
    const cutis_closed *mesh = e->mesh;
    uint32_t *counts = cutis_arena_zero(&e->arena, mesh->primitive_count, sizeof *counts);
    e->primitives = cutis_arena_alloc(&e->arena, mesh->primitive_count, sizeof *e->primitives);
    e->place = cutis_nothings(&e->arena, mesh->output_count);
    e->owner = cutis_nothings(&e->arena, mesh->vertex_count);
    e->weld = cutis_arena_alloc(&e->arena, 3 * (size_t)mesh->face_count, sizeof *e->weld);
    if (!counts || !e->primitives || !e->place || !e->owner || !e->weld) return false;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        uint32_t part = e->parts->part_of_label[mesh->labels[f]];
        counts[mesh->outputs[mesh->corners[f][0]].primitive]++;
        for (int c = 0; c < 3; c++) // a loop's vertices go with the parent
            if (part < e->owner[mesh->faces[f][c]]) e->owner[mesh->faces[f][c]] = part;
    }
    for (uint32_t p = 0; p < mesh->primitive_count; p++)
        if (counts[p] > 0 && !make_primitive(e, p, counts[p])) return false;
    return true;
}

// Nodes -----------------------------------------------------------------------------------------

// Local transform of a frame below a parent's: both world, row-major 3 x 4.
static cutis_transform local_transform(const double *parent, const double *own)
{
    cutis_mat34 m;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) {
            double sum = 0;
            for (int k = 0; k < 3; k++)
                sum += parent[4 * k + r] * (own[4 * k + c] - (c == 3 ? parent[4 * k + 3] : 0));
            m.m[4 * r + c] = (float)sum;
        }
    return cutis_transform_from_mat34(&m);
}

static void world_frame(const exporter *e, const cutis_piece *part, double *out)
{
    double frame[9];
    cutis_piece_frame(part, e->options->world_frames, frame);
    for (int r = 0; r < 3; r++) {
        memcpy(out + 4 * r, frame + 3 * r, 3 * sizeof *out);
        out[4 * r + 3] = part->joint[r];
    }
}

static bool add_point(exporter *e, uint32_t joint, const double *world, const char *name,
                      const char *what, int number, const double *point)
{
    double own[12];
    memcpy(own, world, sizeof own);
    for (int r = 0; r < 3; r++) own[4 * r + 3] = point[r];
    const char *text = number < 0 ? cutis_arena_format(&e->arena, "%s_%s", name, what)
                                  : cutis_arena_format(&e->arena, "%s_%s%d", name, what, number);
    if (!text) return false;
    e->nodes[e->node_count++] = (cutis_node){ .name = text,
                                              .parent = (int32_t)joint,
                                              .rest = local_transform(world, own),
                                              .mesh = CUTIS_NONE,
                                              .skin = CUTIS_NONE };
    return true;
}

static bool add_part_nodes(exporter *e, uint32_t p, double (*worlds)[12])
{
    const cutis_piece *part = &e->parts->parts[p];
    static const double identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    uint32_t node = e->node_count++;
    world_frame(e, part, worlds[p]);
    e->joint_nodes[p] = node;
    e->nodes[node] =
        (cutis_node){ .name = part->name,
                      .parent = part->parent == CUTIS_NONE ? CUTIS_NONE
                                                           : (int32_t)e->joint_nodes[part->parent],
                      .rest = local_transform(
                          part->parent == CUTIS_NONE ? identity : worlds[part->parent], worlds[p]),
                      .mesh = CUTIS_NONE,
                      .skin = CUTIS_NONE };
    for (int r = 0; r < 3; r++) { // the inverse: transposed rotation
        double sum = 0;
        for (int k = 0; k < 3; k++) {
            e->binds[p].m[4 * r + k] = (float)worlds[p][4 * k + r];
            sum -= worlds[p][4 * k + r] * part->joint[k];
        }
        e->binds[p].m[4 * r + 3] = (float)sum;
    }
    if (part->child_count == 0 && !add_point(e, node, worlds[p], part->name, "end", -1, part->end))
        return false;
    if (!e->options->extra) return true;
    for (uint32_t g = 0; g < part->group_count; g++)
        if (!add_point(e, node, worlds[p], part->name, "link", (int)g, part->links[g]))
            return false;
    return add_point(e, node, worlds[p], part->name, "axis", 0, part->axis_from) &&
           add_point(e, node, worlds[p], part->name, "axis", 1, part->axis_to);
}

// Which nodes have no part in the old rig or surface: no joint at or above them, and no joint or
// mesh at or below.
static bool *find_bystanders(exporter *e, const cutis_model_data *data)
{
    bool *joints = cutis_arena_zero(&e->arena, data->node_count, sizeof *joints);
    bool *others = cutis_arena_alloc(&e->arena, data->node_count, sizeof *others);
    if (!joints || !others) return NULL;
    for (uint32_t s = 0; s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++)
            joints[data->skins[s].joints[j]] = true;
    for (uint32_t n = 0; n < data->node_count; n++) {
        const cutis_node *node = &data->nodes[n];
        others[n] = !joints[n] && node->mesh == CUTIS_NONE && !node->outside;
    }
    for (uint32_t n = data->node_count; n-- > 0;) // children come after their parents
        if (!others[n] && data->nodes[n].parent != CUTIS_NONE)
            others[data->nodes[n].parent] = false;
    for (uint32_t n = 0; n < data->node_count; n++) {
        const int32_t parent = data->nodes[n].parent;
        joints[n] = joints[n] || (parent != CUTIS_NONE && joints[parent]);
        others[n] = others[n] && !joints[n];
    }
    return others;
}

// Bystanders (cameras and lights, in a glTF) stay where they are at rest.
static bool keep_bystanders(exporter *e, const cutis_model_data *data)
{
    const bool *others = find_bystanders(e, data);
    cutis_mat34 *worlds = cutis_arena_alloc(&e->arena, data->node_count, sizeof *worlds);
    uint32_t *places = cutis_arena_alloc(&e->arena, data->node_count, sizeof *places);
    if (!others || !worlds || !places) return false;
    for (uint32_t n = 0; n < data->node_count; n++) {
        const cutis_node *node = &data->nodes[n];
        const int32_t parent = node->parent;
        worlds[n] = node->matrix ? *node->matrix : cutis_mat34_from_transform(&node->rest);
        if (parent != CUTIS_NONE) worlds[n] = cutis_mat34_multiply(&worlds[parent], &worlds[n]);
        if (!others[n]) continue;
        cutis_node *copy = &e->nodes[places[n] = e->node_count++];
        *copy = *node;
        if (parent == CUTIS_NONE) continue;
        copy->parent = others[parent] ? (int32_t)places[parent] : CUTIS_NONE;
        if (others[parent]) continue;
        copy->rest = cutis_transform_from_mat34(&worlds[n]);
        copy->matrix = NULL;
    }
    return true;
}

static bool make_nodes(exporter *e, const cutis_model_data *before)
{
    const cutis_parts *parts = e->parts;
    size_t most = 1 + (size_t)before->node_count;
    for (uint32_t p = 0; p < parts->count; p++) most += (size_t)parts->parts[p].group_count + 4;
    double(*worlds)[12] = cutis_arena_alloc(&e->arena, parts->count, sizeof *worlds);
    e->nodes = cutis_arena_alloc(&e->arena, most, sizeof *e->nodes);
    e->joint_nodes = cutis_arena_alloc(&e->arena, parts->count, sizeof *e->joint_nodes);
    e->binds = cutis_arena_alloc(&e->arena, parts->count, sizeof *e->binds);
    if (!worlds || !e->nodes || !e->joint_nodes || !e->binds) return false;
    for (uint32_t p = 0; p < parts->count; p++)
        if (!add_part_nodes(e, p, worlds)) return false;
    e->nodes[e->node_count++] = (cutis_node){ .name = "body",
                                              .parent = CUTIS_NONE,
                                              .rest = cutis_transform_identity(),
                                              .mesh = 0,
                                              .skin = 0 };
    e->body = e->node_count - 1;
    return keep_bystanders(e, before);
}

// The tree --------------------------------------------------------------------------------------

static bool make_tree(exporter *e, const cutis_part_link *lines, uint32_t line_count,
                      cutis_part_tree *tree, const char ***names)
{
    const cutis_parts *parts = e->parts;
    cutis_part *list = cutis_arena_alloc(&e->arena, parts->count, sizeof *list);
    cutis_part_loop *loops = cutis_arena_alloc(&e->arena, parts->ring_count, sizeof *loops);
    *names = cutis_arena_alloc(&e->arena, parts->count, sizeof **names);
    if (!list || !loops || !*names) return false;
    for (uint32_t p = 0; p < parts->count; p++) {
        const cutis_piece *from = &parts->parts[p];
        cutis_part *to = &list[p];
        *to = (cutis_part){
            .parent = from->parent, .loop = from->ring, .joint = p, .kernel_radius = from->radius
        };
        memcpy(to->position, from->joint, sizeof to->position);
        memcpy(to->end, from->end, sizeof to->end);
        memcpy(to->centroid, from->centroid, sizeof to->centroid);
        memcpy(to->axes, from->axes, sizeof to->axes);
        memcpy(to->box_min, from->box_low, sizeof to->box_min);
        memcpy(to->box_max, from->box_high, sizeof to->box_max);
        (*names)[p] = from->name;
    }
    for (uint32_t r = 0; r < parts->ring_count; r++)
        loops[r] = (cutis_part_loop){ parts->rings[r].parent, parts->rings[r].child,
                                      parts->rings[r].count, parts->rings[r].vertices };
    *tree = (cutis_part_tree){ .parts = list,
                               .loop_count = parts->ring_count,
                               .loops = loops,
                               .welded_count = e->mesh->vertex_count,
                               .weld = e->weld,
                               .link_count = line_count,
                               .links = lines };
    return true;
}

cutis_result cutis_skeleton_model(const cutis_parts *parts, const cutis_model *model,
                                  const cutis_skeleton_options *options,
                                  const cutis_part_link *lines, uint32_t line_count, bool flipped,
                                  cutis_notes *notes, cutis_model **out)
{
    cutis_context *context = cutis_model_context(model);
    const cutis_model_data *before = cutis_model_get(model);
    exporter e = { .parts = parts,
                   .mesh = parts->mesh,
                   .options = options,
                   .flipped = flipped,
                   .arena = { .context = context } };
    cutis_part_tree tree;
    const char **names = NULL;
    cutis_clip *clips = NULL;
    uint32_t clip_count = 0;
    cutis_result result = cutis_carry_targets(model, parts->mesh, &e.arena, notes, &e.carried);
    if (result == CUTIS_OK && !(make_primitives(&e) && make_nodes(&e, before) &&
                                make_tree(&e, lines, line_count, &tree, &names)))
        result = cutis_alloc_result(context);
    if (result == CUTIS_OK)
        result = cutis_carry_clips(model, &e.carried, e.nodes, e.node_count, e.body, &e.arena,
                                   notes, &clips, &clip_count);
    if (result == CUTIS_OK) {
        cutis_mesh mesh = { .name = "body",
                            .primitive_count = e.primitive_count,
                            .primitives = e.primitives,
                            .target_count = e.carried.target_count,
                            .target_names = e.carried.target_count ? e.carried.target_names : NULL,
                            .target_weights = e.carried.target_weights,
                            .part_count = parts->count,
                            .part_names = names,
                            .part_tree = &tree };
        cutis_skin skin = { .name = "skeleton",
                            .joint_count = parts->count,
                            .joints = e.joint_nodes,
                            .inverse_binds = e.binds,
                            .root = (int32_t)e.joint_nodes[0] };
        cutis_model_data data = { .node_count = e.node_count,
                                  .mesh_count = 1,
                                  .skin_count = 1,
                                  .clip_count = clip_count,
                                  .material_count = before->material_count,
                                  .nodes = e.nodes,
                                  .meshes = &mesh,
                                  .skins = &skin,
                                  .clips = clips,
                                  .materials = before->materials,
                                  .source = before->source };
        result = cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out);
    }
    cutis_arena_release(&e.arena);
    return result;
}
