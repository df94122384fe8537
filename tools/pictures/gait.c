/// A clip for a rig of `cutis rig` that no motion is made for: pictures_gait RIGGED.glb OUT.glb.
/// Wings beat, arms of an octopus wave, six legs go in threes, fingers close, a fish swims: joints
/// turn about axes of the body by sines. A model that has a clip is written as it is.
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/cutis.h>
#include <cutis/io.h>

enum { KEYS = 33, NODES = 256 };
static const double TURN = 6.283185307179586;

typedef enum gait_axis {
    AXIS_LEFT,
    AXIS_UP,
    AXIS_FRONT,
    AXIS_ACROSS, ///< level, across the way from the body's middle to the joint
    AXIS_KNUCKLES,
} gait_axis;

/// Angle: degrees * sin(turns of t - phase), or with `closes` between 0 and degrees.
typedef struct gait_row {
    const char *joint; ///< without side; # is a digit
    gait_axis axis;
    double degrees, phase;
    double per_digit; ///< added to the phase for the joint's first number
    bool mirrored;    ///< the right side turns the other way
    bool opposite;    ///< the right side is half a turn later
    bool closes;
} gait_row;

static const gait_row ROWS[] = {
    { "wing1", AXIS_FRONT, 32, 0, 0, true, false, false },
    { "wing2", AXIS_FRONT, 24, .10, 0, true, false, false },
    { "wing3", AXIS_FRONT, 18, .18, 0, true, false, false },
    { "arm#_1", AXIS_ACROSS, 12, 0, .27, false, true, false },
    { "arm#_2", AXIS_ACROSS, 16, .12, .27, false, true, false },
    { "arm#_3", AXIS_ACROSS, 20, .24, .27, false, true, false },
    { "arm#_4", AXIS_ACROSS, 24, .36, .27, false, true, false },
    { "arm#_5", AXIS_ACROSS, 28, .48, .27, false, true, false },
    { "femur#", AXIS_UP, 18, 0, .5, true, true, false },
    { "femur#", AXIS_FRONT, 9, .25, .5, true, true, false },
    { "antenna1", AXIS_UP, 14, 0, 0, false, false, false },
    { "abdomen1", AXIS_LEFT, 6, .3, 0, false, false, false },
    { "head", AXIS_UP, 6, .5, 0, false, false, false },
    { "spine1", AXIS_UP, 10, 0, 0, false, false, false },
    { "spine2", AXIS_UP, 16, .12, 0, false, false, false },
    { "caudal", AXIS_UP, 22, .24, 0, false, false, false },
    { "pectoral", AXIS_FRONT, 22, .1, 0, true, false, false },
    { "index#", AXIS_KNUCKLES, 42, 0, 0, false, false, true },
    { "middle#", AXIS_KNUCKLES, 42, .04, 0, false, false, true },
    { "ring#", AXIS_KNUCKLES, 42, .08, 0, false, false, true },
    { "pinky#", AXIS_KNUCKLES, 42, .12, 0, false, false, true },
    { "tail", AXIS_LEFT, 10, .2, 0, false, false, false },
    { "thigh", AXIS_LEFT, 14, 0, 0, false, true, false },
};

typedef struct gait {
    cutis_context *context;
    const cutis_model_data *data;
    cutis_mat34 world[NODES]; ///< at rest
    float times[KEYS], values[NODES][4 * KEYS];
    cutis_channel channels[NODES];
    uint32_t channel_count;
    double knuckles[3];
} gait;

static void check(const gait *g, cutis_result result)
{
    if (result == CUTIS_OK) return;
    fprintf(stderr, "pictures: %s\n", cutis_context_error(g->context));
    exit(1);
}

// Does a joint's name, less its side, fit the row? `digit`: its first number.
static bool fits(const char *name, const char *pattern, bool *right, int *digit)
{
    *digit = 0;
    for (; *pattern; name++, pattern++) {
        if (*pattern == '#' ? !isdigit((unsigned char)*name) : *name != *pattern) return false;
        if (*pattern == '#' && !*digit) *digit = *name - '0';
    }
    *right = strcmp(name, "_r") == 0;
    return !*name || *right || strcmp(name, "_l") == 0;
}

static int32_t find(const gait *g, const char *name)
{
    for (uint32_t n = 0; n < g->data->node_count; n++)
        if (g->data->nodes[n].name && strcmp(g->data->nodes[n].name, name) == 0) return (int32_t)n;
    return CUTIS_NONE;
}

static void place(const gait *g, uint32_t node, double out[3])
{
    for (int k = 0; k < 3; k++) out[k] = (double)g->world[node].m[4 * k + 3];
}

static void cross(const double a[3], const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

// Across the fingers, such that turning about it takes their tips towards the thumb's.
static void find_knuckles(gait *g)
{
    const int32_t index = find(g, "index1"), pinky = find(g, "pinky1"), tip = find(g, "middle3"),
                  root = find(g, "middle1"), thumb = find(g, "thumb3");
    double a[3], b[3], way[3], moved[3], to[3], along = 0;
    if (index < 0 || pinky < 0 || tip < 0 || root < 0 || thumb < 0) return;
    place(g, (uint32_t)index, a), place(g, (uint32_t)pinky, b);
    for (int k = 0; k < 3; k++) g->knuckles[k] = b[k] - a[k];
    place(g, (uint32_t)root, a), place(g, (uint32_t)tip, b), place(g, (uint32_t)thumb, to);
    for (int k = 0; k < 3; k++) way[k] = b[k] - a[k];
    cross(g->knuckles, way, moved);
    for (int k = 0; k < 3; k++) along += moved[k] * (to[k] - b[k]);
    for (int k = 0; k < 3 && along < 0; k++) g->knuckles[k] = -g->knuckles[k];
}

static void axis_of(const gait *g, gait_axis axis, uint32_t node, double out[3])
{
    static const double UP[3] = { 0, 1, 0 };
    double at[3], middle[3];
    for (int k = 0; k < 3; k++) out[k] = axis == AXIS_KNUCKLES ? g->knuckles[k] : (int)axis == k;
    if (axis != AXIS_ACROSS) return;
    const int32_t body = find(g, "body");
    place(g, node, at), place(g, body < 0 ? 0 : (uint32_t)body, middle);
    for (int k = 0; k < 3; k++) at[k] -= middle[k];
    cross(at, UP, out);
}

// Turn `q` (local) by an angle about an axis of the world at rest.
static void turn(const gait *g, uint32_t node, const double axis[3], double angle, float q[4])
{
    const int32_t above = g->data->nodes[node].parent;
    double own[3] = { axis[0], axis[1], axis[2] }, length = 0;
    for (int k = 0; k < 3 && above != CUTIS_NONE; k++) {
        own[k] = 0;
        for (int i = 0; i < 3; i++) own[k] += (double)g->world[above].m[4 * i + k] * axis[i];
    }
    for (int k = 0; k < 3; k++) length += own[k] * own[k];
    if (!(length > 0)) return;
    const double s = sin(angle / 2) / sqrt(length), w = cos(angle / 2);
    const double x = s * own[0], y = s * own[1], z = s * own[2];
    const double b[4] = { (double)q[0], (double)q[1], (double)q[2], (double)q[3] };
    q[0] = (float)(w * b[0] + x * b[3] + y * b[2] - z * b[1]);
    q[1] = (float)(w * b[1] - x * b[2] + y * b[3] + z * b[0]);
    q[2] = (float)(w * b[2] + x * b[1] - y * b[0] + z * b[3]);
    q[3] = (float)(w * b[3] - x * b[0] - y * b[1] - z * b[2]);
}

static void add(gait *g, uint32_t node)
{
    const char *name = g->data->nodes[node].name;
    bool any = false;
    if (!name || node >= NODES) return;
    for (int i = 0; i < KEYS; i++)
        memcpy(&g->values[node][4 * i], &g->data->nodes[node].rest.rotation, 4 * sizeof(float));
    for (size_t r = 0; r < sizeof ROWS / sizeof *ROWS; r++) {
        const gait_row *row = &ROWS[r];
        bool right;
        int digit;
        double axis[3];
        if (!fits(name, row->joint, &right, &digit)) continue;
        axis_of(g, row->axis, node, axis);
        any = true;
        for (int i = 0; i < KEYS; i++) {
            const double t = (double)i / (KEYS - 1) - row->phase - digit * row->per_digit -
                             (row->opposite && right ? .5 : 0);
            const double wave = row->closes ? (1 - cos(TURN * (t + .25))) / 2 : sin(TURN * t);
            turn(g, node, axis,
                 row->degrees * TURN / 360 * wave * (row->mirrored && right ? -1 : 1),
                 &g->values[node][4 * i]);
        }
    }
    if (any)
        g->channels[g->channel_count++] = (cutis_channel){ .node = node,
                                                           .path = CUTIS_PATH_ROTATION,
                                                           .key_count = KEYS,
                                                           .times = g->times,
                                                           .values = g->values[node] };
}

int main(int argc, char **argv)
{
    static gait g;
    cutis_model *model = NULL, *moved = NULL;
    if (argc != 3) return fprintf(stderr, "usage: pictures_gait RIGGED.glb OUT.glb\n"), 2;
    check(&g, cutis_context_create(NULL, &g.context));
    check(&g, cutis_model_read(g.context, argv[1], NULL, &model));
    cutis_model_data data = *cutis_model_get(model);
    g.data = &data;
    if (data.clip_count == 0 && data.node_count <= NODES) {
        cutis_transform pose[NODES];
        cutis_pose_rest(model, pose, NULL);
        cutis_pose_world(model, pose, g.world);
        find_knuckles(&g);
        for (int i = 0; i < KEYS; i++) g.times[i] = (float)i / (KEYS - 1);
        for (uint32_t n = 0; n < data.node_count; n++) add(&g, n);
    }
    const cutis_clip clip = { .name = "gait",
                              .channel_count = g.channel_count,
                              .channels = g.channels };
    if (g.channel_count > 0) data.clips = &clip, data.clip_count = 1;
    check(&g, cutis_model_create(g.context, &data, CUTIS_GATE_REFUSE, &moved));
    check(&g, cutis_model_write(moved, argv[2], NULL));
    cutis_model_destroy(moved);
    cutis_model_destroy(model);
    cutis_context_destroy(g.context);
    return 0;
}
