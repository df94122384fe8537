/// The wire of a cage over the body it moves: as the frame has it with --method cage, else at rest.
#include "picture.h"

#include <math.h>
#include <string.h>

static const uint32_t WIRE = 0x2a78b8d0;
static const double FPS = 30;

int picture_open_cage(picture_stage *stage)
{
    const char *list = option_text(stage->app, OPTION_CAGE_POSES);
    const cutis_cage *cage = cutis_model_get(stage->model)->cage;
    if (!cage && (list || stage->show.cage))
        return app_fail_text(stage->app, "%s: it has no cage to show (cutis cage binds one)",
                             stage->path);
    return list ? cage_poses_read(stage->app, list, cage, FPS, &stage->cage) : EXIT_GOOD;
}

void picture_pose_cage(play *p, double seconds)
{
    double wanted = seconds > 0 ? floor(seconds * FPS + 0.5) : 0;
    uint32_t frame = wanted < p->control_frames ? (uint32_t)wanted : p->control_frames - 1;
    memcpy(p->posed, p->controls + 3 * (size_t)frame * p->control_count,
           p->control_count * sizeof *p->posed);
}

// An edge belongs to the triangle that runs along it upwards: once for each edge of a closed mesh.
static uint32_t walk_edges(const cutis_cage *cage, const cutis_float3 *at, cutis_scene_line *lines)
{
    uint32_t count = 0;
    for (size_t i = 0; i < 3 * (size_t)cage->triangle_count; i++) {
        const uint32_t a = cage->triangles[i], b = cage->triangles[i % 3 == 2 ? i - 2 : i + 1];
        if (a > b) continue;
        if (lines)
            lines[count] = (cutis_scene_line){
                .from = at[a], .to = at[b], .width = 1.2f, .dot = 2.5f, .color = WIRE
            };
        count++;
    }
    return count;
}

uint32_t picture_cage_count(const picture_stage *stage)
{
    const cutis_cage *cage = cutis_model_get(stage->model)->cage;
    return walk_edges(cage, cage->controls, NULL);
}

void picture_cage_lines(const picture_stage *stage, const play *p, cutis_scene_line *lines)
{
    const cutis_cage *cage = cutis_model_get(stage->model)->cage;
    walk_edges(cage, p->controls ? p->posed : cage->controls, lines);
}

void picture_cage_frame(const picture_stage *stage, const play *p, cutis_bounds *box)
{
    const cutis_cage *cage = cutis_model_get(stage->model)->cage;
    if (!stage->show.cage) return;
    bounds_add(box, cutis_surface_bounds(&(cutis_surface){
                        .vertex_count = cage->control_count,
                        .positions = p->controls ? &p->posed->x : &cage->controls->x }));
}
