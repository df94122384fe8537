// Joints at loops, tips at the far end of leaves, and what to do with leaves that curl. Invariant:
// a joint is its loop's centre to the bit; a tip is a mean of vertices of its own part.
#include "skeleton/rig.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static const double TIP_SHARE = 0.95; // of the largest distance: vertices that make the tip
static const double CURVED = 0.7;     // straight distance to the tip against the way along the skin
#define BANDS  24
#define COARSE 120u             // faces: a leaf of fewer has fragments for bands
static const double BEND = 0.1; // of the polyline: how far a kept point must lie off the chord

// The vertex of the part nearest to a point.
static uint32_t closest_vertex(const cutis_parts *parts, const cutis_piece *part, const double *x)
{
    uint32_t best = part->vertices[0];
    for (uint32_t i = 1; i < part->vertex_count; i++)
        if (v3_distance_of(parts->mesh->points[part->vertices[i]], x) <
            v3_distance_of(parts->mesh->points[best], x))
            best = part->vertices[i];
    return best;
}

// Distances from the joint, and the largest.
static cutis_result from_joint(const cutis_parts *parts, uint32_t p, double *distances,
                               double *largest)
{
    const cutis_piece *part = &parts->parts[p];
    uint32_t nearest = 0, count = 1;
    const uint32_t *sources = &nearest;
    if (part->ring != CUTIS_NONE) {
        sources = parts->rings[part->ring].vertices, count = parts->rings[part->ring].count;
    } else {
        nearest = closest_vertex(parts, part, part->touch);
    }
    for (uint32_t i = 0; i < part->vertex_count; i++) distances[part->vertices[i]] = INFINITY;
    if (!cutis_label_distances(parts->mesh, part->label, sources, count, 1, distances))
        return cutis_alloc_result(parts->mesh->context);
    *largest = 0;
    for (uint32_t i = 0; i < part->vertex_count; i++)
        if (isfinite(distances[part->vertices[i]]))
            *largest = fmax(*largest, distances[part->vertices[i]]);
    return CUTIS_OK;
}

static cutis_result find_tip(cutis_parts *parts, uint32_t p, double *distances, double *largest)
{
    cutis_piece *part = &parts->parts[p];
    TRY(from_joint(parts, p, distances, largest));
    double sum[3] = { 0 };
    uint32_t count = 0;
    for (uint32_t i = 0; i < part->vertex_count; i++) {
        uint32_t v = part->vertices[i];
        if (!(distances[v] >= TIP_SHARE * *largest) || !isfinite(distances[v])) continue;
        v3_sum(sum, v3_of(parts->mesh->points[v]));
        count++;
    }
    for (int k = 0; k < 3; k++) part->tip[k] = count ? sum[k] / count : part->centroid[k];
    return CUTIS_OK;
}

static double subtree_volume(const cutis_parts *parts, uint32_t p)
{
    const cutis_piece *part = &parts->parts[p];
    double sum = part->volume;
    for (uint32_t i = 0; i < part->child_count; i++)
        sum += subtree_volume(parts, part->children[i]);
    return sum;
}

// The link point whose children carry the largest volume: the hips of a biped.
static void place_root(cutis_parts *parts, bool at_centroid)
{
    cutis_piece *root = &parts->parts[0];
    uint32_t best = 0;
    double most = -1;
    for (uint32_t g = 0; g < root->group_count; g++) {
        double sum = 0;
        for (uint32_t i = 0; i < root->child_count; i++)
            if (root->groups[i] == g) sum += subtree_volume(parts, root->children[i]);
        if (sum > most) most = sum, best = g;
    }
    memcpy(root->joint, at_centroid || root->group_count == 0 ? root->centroid : root->links[best],
           sizeof root->joint);
}

cutis_result cutis_parts_rig(cutis_parts *parts, bool root_at_centroid, double *distances)
{
    for (uint32_t p = 1; p < parts->count; p++)
        memcpy(parts->parts[p].joint, cutis_piece_joint(parts, p), sizeof parts->parts[p].joint);
    place_root(parts, root_at_centroid);
    for (uint32_t p = 0; p < parts->count; p++) {
        cutis_piece *part = &parts->parts[p];
        memset(part->end, 0, sizeof part->end);
        for (uint32_t i = 0; i < part->child_count; i++)
            for (int k = 0; k < 3; k++)
                part->end[k] += parts->parts[part->children[i]].joint[k] / part->child_count;
        if (part->child_count > 0) continue;
        double largest;
        TRY(find_tip(parts, p, distances, &largest));
        memcpy(part->end, part->tip, sizeof part->end);
    }
    return CUTIS_OK;
}

void cutis_piece_frame(const cutis_piece *part, bool world, double *frame)
{
    double33_identity(frame);
    if (world) return;
    const vec3 bone = v3_sub(v3_of(part->end), v3_of(part->joint)), y = v3_direction(bone);
    if (!(v3_length(bone) > 0)) return; // a bone without length has no direction
    const vec3 axes[3] = { v3_of(part->axes), v3_of(part->axes + 3), v3_of(part->axes + 6) };
    int best = 0;
    for (int e = 1; e < 3; e++) // e2 unless the bone runs along it
        if (fabs(v3_dot(axes[e], y)) < fabs(v3_dot(axes[best], y))) best = e;
    if (fabs(v3_dot(axes[1], y)) < 0.5) best = 1;
    const vec3 x = v3_direction(v3_mad(axes[best], -v3_dot(axes[best], y), y)), z = v3_cross(x, y);
    memcpy(frame, (double[9]){ x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z }, 9 * sizeof *frame);
}

// Curved leaves ---------------------------------------------------------------------------------

typedef struct {
    uint32_t count;
    double points[BANDS + 1][3];
    int band[BANDS + 1]; // -1: the joint
    bool kept[BANDS + 1];
} polyline;

static void band_centres(const cutis_parts *parts, const cutis_piece *part, const double *distances,
                         double largest, polyline *line)
{
    double sums[BANDS][3] = { { 0 } };
    uint32_t counts[BANDS] = { 0 };
    for (uint32_t i = 0; i < part->vertex_count; i++) {
        uint32_t v = part->vertices[i];
        if (!isfinite(distances[v])) continue;
        int b = (int)(BANDS * distances[v] / largest);
        if (b >= BANDS) b = BANDS - 1;
        v3_sum(sums[b], v3_of(parts->mesh->points[v]));
        counts[b]++;
    }
    memset(line, 0, sizeof *line);
    memcpy(line->points[0], part->joint, sizeof line->points[0]);
    line->band[line->count++] = -1;
    for (int b = 0; b < BANDS; b++) {
        if (counts[b] == 0) continue;
        v3_put(v3_divide(v3_of(sums[b]), counts[b]), line->points[line->count]);
        line->band[line->count++] = b;
    }
}

static double off_chord(const double *p, const double *a, const double *b)
{
    vec3 d = v3_sub(v3_of(b), v3_of(a)), e = v3_sub(v3_of(p), v3_of(a));
    double square = v3_dot(d, d);
    double t = square > 0 ? fmin(1, fmax(0, v3_dot(d, e) / square)) : 0;
    return v3_length(v3_mad(e, -t, d));
}

static void keep_bends(polyline *line, uint32_t i, uint32_t j, double tolerance)
{
    uint32_t best = i;
    double most = tolerance;
    for (uint32_t k = i + 1; k < j; k++) {
        double d = off_chord(line->points[k], line->points[i], line->points[j]);
        if (d > most) most = d, best = k;
    }
    if (best == i) return;
    line->kept[best] = true;
    keep_bends(line, i, best, tolerance);
    keep_bends(line, best, j, tolerance);
}

// Faces beyond each kept band get a label of their own.
static cutis_result cut_leaf(cutis_parts *parts, const cutis_piece *part, const double *distances,
                             double largest, const polyline *line, cutis_labels *names,
                             uint32_t *pieces)
{
    cutis_closed *mesh = parts->mesh;
    uint32_t label = part->label;
    *pieces = 1;
    for (uint32_t i = 1; i + 1 < line->count; i++) {
        if (!line->kept[i]) continue;
        uint32_t next = cutis_labels_add(names, "%.250s_%u", part->name, ++*pieces);
        if (next == CUTIS_NOTHING) return cutis_alloc_result(mesh->context);
        double from = (line->band[i] + 0.5) / BANDS * largest;
        for (uint32_t f = 0; f < part->face_count; f++) {
            const uint32_t *v = mesh->faces[part->faces[f]];
            double mean = (distances[v[0]] + distances[v[1]] + distances[v[2]]) / 3;
            if (mesh->labels[part->faces[f]] == label && mean > from)
                mesh->labels[part->faces[f]] = next;
        }
        label = next;
    }
    return CUTIS_OK;
}

cutis_result cutis_split_curved(cutis_parts *parts, cutis_labels *names, cutis_notes *notes,
                                double *distances, uint32_t *split)
{
    *split = 0;
    for (uint32_t p = 1; p < parts->count; p++) {
        cutis_piece *part = &parts->parts[p];
        double largest, length = 0;
        uint32_t pieces;
        polyline line;
        if (part->child_count > 0 || part->face_count < COARSE) continue;
        memcpy(part->joint, cutis_piece_joint(parts, p), sizeof part->joint);
        TRY(find_tip(parts, p, distances, &largest));
        if (!(v3_distance_of(part->tip, part->joint) < CURVED * largest)) continue;
        band_centres(parts, part, distances, largest, &line);
        for (uint32_t i = 1; i < line.count; i++)
            length += v3_distance_of(line.points[i - 1], line.points[i]);
        keep_bends(&line, 0, line.count - 1, BEND * length);
        TRY(cut_leaf(parts, part, distances, largest, &line, names, &pieces));
        if (pieces == 1) continue;
        cutis_note(notes, "\"%s\" is curved and becomes %u parts", part->name, pieces);
        ++*split;
    }
    return CUTIS_OK;
}
