/// cutis measure --method patches: the mesh that a model has in a pose. It has vertices of its own,
/// so there is nothing to compare with the rest shape but volume and closedness.
#include "measure_shape.h"
#include "patches_facts.h"

#include <math.h>

static void print_text(const cli_app *app, const patch_play *p, const patch_facts *f)
{
    const double variation = 100.0 * (f->volume / p->info.volume - 1.0);
    app_say(app, "%-18s 1 of %u vertices, %u triangles\n", "frames", p->counts[0], p->counts[1]);
    app_say(app, "%-18s %.6g (rest %.6g)\n", "volume", f->volume, p->info.volume);
    app_say(app, "%-18s %+.4f %%\n", "volume variation", variation);
    app_say(app, "%-18s %s, euler characteristic %lld, %u pieces\n", "watertight",
            f->manifold.watertight ? "yes" : "no", (long long)f->manifold.euler,
            f->manifold.piece_count);
    app_say(app, "%-18s %ju triangles in %ju pairs\n", "self-intersections",
            f->crossings.triangle_count, f->crossings.pair_count);
    app_say(app, "%-18s %ju at joints, %ju by the pose\n", "of these", f->own, f->posed);
    for (uint32_t j = 0; j < p->info.joint_count; j++)
        if (f->joint[j] > 0)
            app_say(
                app, "%-18s %-20s %u, bent by %.1f degrees\n", "",
                cutis_patches_part_name(p->patches, cutis_patches_joint_at(p->patches, j).child),
                f->joint[j], p->reports[j].bend * 180.0 / M_PI);
}

static void print_json(const cli_app *app, const patch_play *p, const patch_facts *f,
                       const cutis_bounds *bounds)
{
    json_out json = { .file = stdout };
    emit(&json,
         "{ method %s band %s vertices %u triangles %u frames %u rest_volume %.17g volume %.17g "
         "volume_variation %g watertight %d euler %.17g boundary_edges %ju self_intersections %ju "
         "intersecting_pairs %ju own_crossings %ju posed_crossings %ju",
         "patches", patch_has_bands(app) ? "girth" : "none", p->counts[0], p->counts[1], 1u,
         p->info.volume, f->volume, 100.0 * (f->volume / p->info.volume - 1.0),
         f->manifold.watertight, (double)f->manifold.euler, f->manifold.boundary_edges,
         f->crossings.triangle_count, f->crossings.pair_count, f->own, f->posed);
    emit_bounds(&json, "bounds", *bounds);
    emit(&json, "joints [");
    for (uint32_t j = 0; j < p->info.joint_count; j++) {
        const cutis_patches_report *r = &p->reports[j];
        const uint32_t child = cutis_patches_joint_at(p->patches, j).child;
        emit(&json, "{ part %s bend %g twist %g triangles %u volume_left %g crossings %u }",
             cutis_patches_part_name(p->patches, child), r->bend * 180.0 / M_PI,
             r->twist * 180.0 / M_PI, r->triangles, r->volume_left, f->joint[j]);
    }
    emit(&json, "] }");
}

int measure_patches(cli_app *app)
{
    const char *path = app->operands[0];
    OWN(cutis_model) *model = NULL;
    OWN(cutis_device) *device = NULL;
    ENDS_BY(patch_play_close) patch_play p = { 0 };
    ENDS_BY(patch_facts_release) patch_facts facts = { 0 };
    play_options options = { .pose_file = option_text(app, OPTION_POSE),
                             .bind = patch_options(app) };
    if (app->operand_count > 1 || option_given(app, OPTION_REST))
        return app_usage(app, "--clip, --pose and --method are for a model alone");
    TRY(patch_check_options(app));
    if (option_given(app, OPTION_WEIGHTED)) return app_usage(app, "--weighted is for --method sbs");
    TRY(app_read_model(app, path, &model));
    TRY(clip_find(app, path, &model, &options.clip));
    TRY(app_open_device(app, &device));
    TRY(patch_play_open(app, path, model, device, &options, &p));
    double time = option_number(app, OPTION_TIME, 0);
    if (!option_given(app, OPTION_TIME))
        TRY(clip_peak(app, path, model, device, options.clip, &time));
    TRY(app_result(app, path, patch_play_frame(&p, time)));
    TRY(patch_facts_make(app, path, &p, &facts));
    const cutis_surface surface = patch_play_surface(&p);
    const cutis_bounds bounds = cutis_surface_bounds(&surface);
    if (app->json)
        print_json(app, &p, &facts, &bounds);
    else
        print_text(app, &p, &facts);
    return EXIT_GOOD;
}
