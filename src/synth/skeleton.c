/// From the rows of a table to joints: every sided row becomes a left and a right joint whose
/// pivots are exact mirror images; the order is depth-first, as glTF scenes and outputs want it.
#include "synth/skeleton.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

static int find_row(const synth_skeleton *s, const char *name)
{
    for (int i = 0; i < s->row_count; i++)
        if (strcmp(s->rows[i]->name, name) == 0) return i;
    return -1;
}

static cutis_result read_rows(synth_skeleton *s, cutis_context *context, const synth_table *table)
{
    for (int run = 0; run < 3; run++) {
        for (size_t i = 0; i < table->joints[run].count; i++) {
            const synth_joint_row *row = &table->joints[run].rows[i];
            int parent = row->parent ? find_row(s, row->parent) : -1;
            if (row->parent && parent < 0)
                return cutis_fail(context, CUTIS_INTERNAL, "%s: joint %s: no parent %s above it",
                                  table->name, row->name, row->parent);
            s->rows[s->row_count] = row;
            s->row_parents[s->row_count] = parent;
            s->row_loops[s->row_count++] = row->blend > 0 ? s->loop_count++ : -1;
        }
    }
    return CUTIS_OK;
}

static void add_joint(synth_skeleton *s, int row, int side, int parent)
{
    const synth_joint_row *r = s->rows[row];
    synth_joint *joint = &s->joints[s->joint_count++];
    *joint = (synth_joint){ .row = row, .side = side, .parent = parent };
    joint->pivot = v3(side < 0 ? -r->pivot[0] : r->pivot[0], r->pivot[1], r->pivot[2]);
    snprintf(joint->name, sizeof joint->name, "%s%s", r->name,
             side > 0   ? "_l"
             : side < 0 ? "_r"
                        : "");
}

cutis_result cutis_synth_skeleton_init(synth_skeleton *s, cutis_context *context,
                                       const synth_table *table)
{
    memset(s, 0, sizeof *s);
    TRY(read_rows(s, context, table));
    s->part_first = table->rooted ? 1 : 0;

    // Depth first with a stack of what is still to add; children are pushed in reverse.
    struct {
        int row, side, parent;
    } stack[2 * SYNTH_JOINT_MAX];
    int depth = 0;
    stack[depth].row = 0, stack[depth].side = 0, stack[depth++].parent = -1;
    while (depth > 0) {
        int row = stack[--depth].row, side = stack[depth].side;
        add_joint(s, row, side, stack[depth].parent);
        for (int child = s->row_count - 1; child > row; child--) {
            if (s->row_parents[child] != row) continue;
            bool opens = s->rows[child]->sided && side == 0;
            for (int i = opens ? 1 : 0; i >= 0; i--) {
                stack[depth].row = child;
                stack[depth].side = opens ? (i ? -1 : 1) : side;
                stack[depth++].parent = s->joint_count - 1;
            }
        }
    }
    for (int j = 0; j < s->joint_count; j++)
        s->joints[j].mirror = cutis_synth_skeleton_joint(s, s->joints[j].row, -s->joints[j].side);
    return CUTIS_OK;
}

int cutis_synth_skeleton_joint(const synth_skeleton *s, int row, int side)
{
    for (int j = 0; j < s->joint_count; j++)
        if (s->joints[j].row == row && (s->joints[j].side == side || !s->rows[row]->sided))
            return j;
    return -1;
}
