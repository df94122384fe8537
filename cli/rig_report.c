/// The page of `cutis rig`: the verdict, pictures, the table of parts, the table of joints with the
/// names that other tools have for them, the motions, times. One file, nothing outside referred to.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "rest_shape.h"
#include "rig.h"

static const char STYLE[] =
    "<style>\n"
    "ul.problems { margin: 8px 0 0; padding-left: 22px; }\n"
    ".swatch { display: inline-block; width: 12px; height: 12px; border-radius: 3px; margin-right: "
    "8px; vertical-align: -1px; }\n"
    "table.joints td:nth-child(2), table.joints th:nth-child(2), td.name, th.name { text-align: "
    "left; }\n"
    "td, th { padding: 5px 12px; } td:first-child { white-space: nowrap; }\n"
    ".wide { overflow-x: auto; }\n"
    "</style>\n";

// What is measured ------------------------------------------------------------------------------

typedef struct part_figures {
    uint64_t triangles;
    double area;
    cutis_bounds box;
} part_figures;

static double area_of(const float *a, const float *b, const float *c)
{
    double u[3], v[3];
    for (int k = 0; k < 3; k++) u[k] = (double)b[k] - a[k], v[k] = (double)c[k] - a[k];
    const double x = u[1] * v[2] - u[2] * v[1], y = u[2] * v[0] - u[0] * v[2],
                 z = u[0] * v[1] - u[1] * v[0];
    return 0.5 * sqrt(x * x + y * y + z * z);
}

// Triangles of a shape stand in the order of instances and their primitives.
static void measure_parts(const cutis_model *model, const rest_shape *rest, part_figures *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    const uint32_t *corner = rest->indices;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t p = 0; p < data->meshes[instances[i].mesh].primitive_count; p++) {
            const cutis_primitive *primitive = &data->meshes[instances[i].mesh].primitives[p];
            if (primitive->topology != CUTIS_TOPOLOGY_TRIANGLES) continue;
            for (uint32_t t = 0; t < primitive->index_count / 3; t++, corner += 3) {
                if (!primitive->parts || instances[i].skin == CUTIS_NONE) continue;
                part_figures *part = &out[primitive->parts[t]];
                const float *at[3];
                for (int k = 0; k < 3; k++) {
                    const float *v = at[k] = rest->positions + 3 * (size_t)corner[k];
                    const cutis_float3 point = { v[0], v[1], v[2] };
                    bounds_add(&part->box, (cutis_bounds){ point, point });
                }
                part->triangles++;
                part->area += area_of(at[0], at[1], at[2]);
            }
        }
}

// Per node: what it holds of the vertices, as if each weighed one.
static void measure_weights(const cutis_model *model, double *held)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        if (instances[i].skin == CUTIS_NONE) continue;
        const cutis_skin *skin = &data->skins[instances[i].skin];
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_influences *w = &mesh->primitives[p].influences;
            for (uint32_t k = 0; w->first && k < w->first[mesh->primitives[p].vertex_count]; k++)
                held[skin->joints[w->joints[k]]] += (double)w->weights[k];
        }
    }
}

// The page ---------------------------------------------------------------------------------------

static void put_verdict(html_page *page, const rig_job *job)
{
    const cutis_rig_report *r = job->report;
    const bool good = r->problem_count == 0;
    html_markup(page, "<p><span class=\"badge %s\">%s</span>", good ? "good" : "bad",
                good ? "good" : "failed");
    if (good) {
        html_markup(page, "Its own check found nothing wrong.</p>\n");
        return;
    }
    html_markup(page,
                "Its own check found %u thing%s wrong; it was kept all the same.</p>\n"
                "<ul class=\"problems\">\n",
                r->problem_count, r->problem_count == 1 ? "" : "s");
    for (uint32_t i = 0; i < r->problem_count; i++)
        html_between(page, "<li>", r->problems[i], "</li>\n");
    html_markup(page, "</ul>\n");
}

static void put_tally(html_page *page, const rig_job *job)
{
    const cutis_rig_report *r = job->report;
    html_markup(page,
                "<div class=\"tally\"><div><b>%s</b><span>%s</span></div>"
                "<div title=\"of the limbs from the kind's: below 0.5 is usual, beyond 1.5 it is "
                "none\"%s><b>%.2f</b><span>%s</span></div>",
                cutis_rig_kind_name(r->kind),
                r->second == CUTIS_RIG_AUTO ? "the kind, as told" : "the kind it was taken for",
                r->deviation > 1.5 && r->kind != CUTIS_RIG_ANY ? " class=\"bad\"" : "",
                r->deviation,
                r->kind == CUTIS_RIG_ANY ? "deviation from the nearest kind" : "deviation from it");
    if (r->second != CUTIS_RIG_AUTO)
        html_markup(page, "<div><b>%.2f</b><span>next best: %s</span></div>", r->second_deviation,
                    cutis_rig_kind_name(r->second));
    html_markup(page,
                "<div><b>%u</b><span>joints</span></div><div><b>%u</b><span>parts</span></div>"
                "<div><b>%u</b><span>clip%s</span></div><div><b>%.2f s</b><span>to rig it</span>"
                "</div></div>\n",
                r->joint_count, r->part_count, cutis_model_get(job->rigged)->clip_count,
                cutis_model_get(job->rigged)->clip_count == 1 ? "" : "s", r->seconds);
}

static void put_figure(html_page *page, const char *format, double value)
{
    char text[48];
    snprintf(text, sizeof text, format, value);
    html_markup(page, "<td>%s</td>", isfinite(value) ? text : "\xe2\x80\x93");
}

static void put_motions(html_page *page, const rig_job *job)
{
    if (job->motion_count == 0) return;
    html_markup(page, "<div class=\"wide\"><table><thead><tr><th>clip</th><th "
                      "class=\"name\">file</th><th>frames</th><th>a "
                      "second</th><th>joints moved</th><th>stances</th><th>off the ground, %% of "
                      "the height</th><th>slide, %%</th><th>lean, degrees</th><th>torn, %% of the "
                      "surface</th><th>seconds to make</th></tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < job->motion_count; i++) {
        const rig_motion *m = &job->motions[i];
        html_between(page, "<tr><td>", rig_clip_name(job, i), "</td>");
        html_between(page, "<td class=\"name\">", m->path, "</td>");
        html_markup(page, "<td>%u</td><td>%.4g</td><td>%u of %u</td><td>%u left, %u right</td>",
                    m->moved.frame_count, m->moved.fps, m->moved.mapped_count, m->moved.joint_count,
                    m->moved.stance_count[0], m->moved.stance_count[1]);
        put_figure(page, "%.2f", m->seen.off_ground);
        put_figure(page, "%.2f", m->seen.slide);
        put_figure(page, "%.1f", m->seen.lean);
        put_figure(page, "%.2f", m->seen.torn);
        html_markup(page, "<td>%.3f</td></tr>\n", m->seconds);
    }
    html_markup(page, "</tbody></table></div>\n");
}

static void put_part_rows(html_page *page, const cutis_mesh *mesh, const part_figures *figures)
{
    double whole = 0;
    for (uint32_t p = 0; p < mesh->part_count; p++) whole += figures[p].area;
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        const part_figures *f = &figures[p];
        html_markup(page, "<tr><td><span class=\"swatch\" style=\"background: #%06x\"></span>",
                    (unsigned)(cutis_color_category(p) >> 8));
        html_text(page, mesh->part_names[p]);
        html_markup(page, "</td><td>%ju</td><td>%.1f</td>", (uintmax_t)f->triangles,
                    whole > 0 ? 100 * f->area / whole : 0);
        if (f->triangles)
            html_markup(page, "<td>%.3g &times; %.3g &times; %.3g</td></tr>\n",
                        (double)(f->box.max.x - f->box.min.x),
                        (double)(f->box.max.y - f->box.min.y),
                        (double)(f->box.max.z - f->box.min.z));
        else
            html_markup(page, "<td>\xe2\x80\x93</td></tr>\n");
    }
}

// Parts are the same for every mesh that was rigged; others may have had parts of their own.
static const cutis_mesh *mesh_with_parts(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    for (uint32_t i = 0; i < count; i++)
        if (instances[i].skin != CUTIS_NONE && data->meshes[instances[i].mesh].part_count)
            return &data->meshes[instances[i].mesh];
    return NULL;
}

static int put_parts(cli_app *app, html_page *page, const rig_job *job)
{
    const cutis_mesh *mesh = mesh_with_parts(job->rigged);
    rest_shape rest;
    if (!mesh) return EXIT_GOOD;
    TRY(rest_shape_make(app, job->path, job->rigged, &rest));
    part_figures *figures = calloc(mesh->part_count, sizeof *figures);
    if (figures) {
        for (uint32_t p = 0; p < mesh->part_count; p++)
            figures[p].box = (cutis_bounds){ { INFINITY, INFINITY, INFINITY },
                                             { -INFINITY, -INFINITY, -INFINITY } };
        measure_parts(job->rigged, &rest, figures);
        html_markup(page, "<h2>Sizes of parts</h2>\n<table><thead><tr><th>part</th><th>triangles</"
                          "th><th>%% of the surface</th><th>width &times; height &times; "
                          "depth</th></tr></thead>\n<tbody>\n");
        put_part_rows(page, mesh, figures);
        html_markup(page, "</tbody></table>\n");
    }
    free(figures);
    rest_shape_release(&rest);
    return figures ? EXIT_GOOD : app_fail_text(app, "%s: not enough memory", job->path);
}

static const cutis_rig_bone *find_bone(const cutis_rig_report *r, const char *joint)
{
    for (uint32_t i = 0; i < r->humanoid_count; i++)
        if (strcmp(r->humanoid[i].joint, joint) == 0) return &r->humanoid[i];
    return NULL;
}

static void put_joint(html_page *page, const rig_job *job, uint32_t node, const cutis_mat34 *world,
                      double held, bool root)
{
    const cutis_model_data *data = cutis_model_get(job->rigged);
    const int32_t above = data->nodes[node].parent;
    const char *name = data->nodes[node].name;
    const float *m = world[node].m;
    const bool map = job->report->humanoid_count > 0;
    const cutis_rig_bone *bone = find_bone(job->report, name);
    html_between(page, "<tr><td>", name, "</td>");
    html_between(page, "<td>", root ? "" : data->nodes[above].name, "</td>");
    html_markup(page, "<td>%.3f</td><td>%.3f</td><td>%.3f</td>", (double)m[3], (double)m[7],
                (double)m[11]);
    const float *up = world[root ? node : (uint32_t)above].m;
    put_figure(
        page, "%.3f",
        root ? NAN
             : hypot(hypot((double)m[3] - up[3], (double)m[7] - up[7]), (double)m[11] - up[11]));
    html_markup(page, "<td>%.1f</td>", held);
    if (map) html_between(page, "<td class=\"name\">", bone ? bone->vrm : "", "</td>");
    if (map) html_between(page, "<td class=\"name\">", bone ? bone->mixamo : "", "</td>");
    html_markup(page, "</tr>\n");
}

static int put_joints(cli_app *app, html_page *page, const rig_job *job)
{
    const cutis_model_data *data = cutis_model_get(job->rigged);
    const size_t n = data->node_count;
    OWN_MEMORY cutis_transform *pose = malloc((n + 1) * sizeof *pose);
    OWN_MEMORY cutis_mat34 *world = malloc((n + 1) * sizeof *world);
    OWN_MEMORY double *held = calloc(n + 1, sizeof *held);
    if (!pose || !world || !held) return app_fail_text(app, "%s: not enough memory", job->path);
    if (data->skin_count == 0) return EXIT_GOOD;
    cutis_pose_rest(job->rigged, pose, NULL);
    cutis_pose_world(job->rigged, pose, world);
    measure_weights(job->rigged, held);
    html_markup(page,
                "<h2>Joints</h2>\n<div class=\"wide\"><table class=\"joints\"><thead><tr>"
                "<th>joint</th><th>below</th><th>x</th><th>y</th><th>z</th><th>from the one "
                "above</th><th>%% of the weights</th>%s</tr></thead>\n<tbody>\n",
                job->report->humanoid_count
                    ? "<th class=\"name\">VRM</th><th class=\"name\">Mixamo</th>"
                    : "");
    const cutis_skin *skin = &data->skins[0]; // all have the same joints
    const double whole = cutis_model_vertex_count(job->rigged);
    for (uint32_t j = 0; j < skin->joint_count; j++)
        put_joint(page, job, skin->joints[j], world, 100 * held[skin->joints[j]] / fmax(whole, 1),
                  j == 0);
    html_markup(page, "</tbody></table></div>\n");
    return EXIT_GOOD;
}

static void put_times(html_page *page, const rig_job *job)
{
    double motions = 0;
    for (uint32_t i = 0; i < job->motion_count; i++) motions += job->motions[i].seconds;
    html_markup(page,
                "<h2>Times</h2>\n<table><thead><tr><th>step</th><th>seconds</th></tr></thead>\n"
                "<tbody>\n<tr><td>reading</td><td>%.3f</td></tr>\n"
                "<tr><td>kind, parts, joints, weights</td><td>%.3f</td></tr>\n",
                job->read_seconds, job->report->seconds);
    if (job->motion_count) html_markup(page, "<tr><td>motions</td><td>%.3f</td></tr>\n", motions);
    html_markup(page, "<tr><td>writing</td><td>%.3f</td></tr>\n</tbody></table>\n",
                job->write_seconds);
}

static int fill(cli_app *app, html_page *page, const rig_job *job)
{
    html_between(page, "<h1>", job->path, "</h1>\n");
    html_between(page, "<p class=\"lead\">rigged as <code>", job->output, "</code>");
    html_markup(page, ": %u vertices, %ju triangles. y is up; lengths in the model's unit.</p>\n",
                cutis_model_vertex_count(job->rigged),
                (uintmax_t)cutis_model_triangle_count(job->rigged));
    put_verdict(page, job);
    put_tally(page, job);
    TRY(rig_pictures(app, page, job));
    put_motions(page, job);
    html_markup(page, "<div class=\"grid\"><div>\n");
    TRY(put_parts(app, page, job));
    html_markup(page, "</div><div>\n");
    put_times(page, job);
    html_markup(page, "</div></div>\n");
    TRY(put_joints(app, page, job));
    html_command(page, app);
    html_markup(page, "<p class=\"lead\">Cutis %s, <code>cutis rig</code>.</p>\n", cutis_version());
    return EXIT_GOOD;
}

int rig_report(cli_app *app, const rig_job *job, const char *path)
{
    html_page page;
    html_open(&page, "Cutis: a body rigged");
    html_verdict_style(&page);
    html_markup(&page, "%s", STYLE);
    const int status = fill(app, &page, job);
    app_progress_done(app);
    if (status == EXIT_GOOD) return html_write(app, &page, path);
    html_release(&page);
    return status;
}
