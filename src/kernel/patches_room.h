/// Kernel text: which vertices of a part a joint may remove, and how far they lie inside what it
/// removes. After patches_joint.h.
///
/// The value of a vertex for an entry (a loop of its part) is the lesser of how far it lies beyond
/// the joint's plane (or inside the other part's box) and how far inside the joint's territory.
/// Territories of a part's joints do not meet, so at most one value is positive.
#ifndef CUTIS_KERNEL_PATCHES_ROOM_H
#define CUTIS_KERNEL_PATCHES_ROOM_H

FN double patch_least(double a, double b)
{
    return a < b ? a : b;
}

// How deep a point lies inside a part's box.
FN double patch_box_depth(PATCH_BODY S, GLOBAL const double *RESTRICT G, int part, pvec x)
{
    GLOBAL const double *frame = REALS(S, G, PATCH_FRAME) + 15 * part;
    double depth = 1e300;
    for (int k = 0; k < 3; k++) {
        double at = pvec_dot(pvec_at(frame, k), x);
        depth = patch_least(depth, patch_least(at - frame[9 + 2 * k], frame[10 + 2 * k] - at));
    }
    return depth;
}

// The paper's removal: inside the other part's box, and beyond its end of the joint.
FN double patch_box_value(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const double *r,
                          int joint, int side, pvec y)
{
    pvec centre = pvec_at(REALS(S, G, PATCH_CENTRE), joint);
    pvec normal = pvec_at(REALS(S, G, PATCH_PLANE), joint);
    GLOBAL const double *turn = r + PATCH_J_TURN;
    pvec offset = pvec_at(r + PATCH_J_OFFSET, 0), z;
    int other = FIELD(S, PATCH_JOINT_PART)[2 * joint + 1 - side];
    if (side) {
        z = pvec_plus(pvec_turned(turn, y), offset);
    } else {
        pvec q = pvec_minus(y, offset);
        z = pvec_make(turn[0] * q.x + turn[3] * q.y + turn[6] * q.z,
                      turn[1] * q.x + turn[4] * q.y + turn[7] * q.z,
                      turn[2] * q.x + turn[5] * q.y + turn[8] * q.z);
    }
    double beyond = side ? -pvec_dot(normal, z) : pvec_dot(normal, z);
    return patch_least(beyond, patch_box_depth(S, G, other, pvec_plus(z, centre)));
}

// Where the cut lies along the limb: straight from the end of the front to the inner side.
FN double patch_cut_height(GLOBAL const double *b, pvec y)
{
    double at = pvec_dot(pvec_at(b + PATCH_B_AXIS, 0), y),
           in = pvec_dot(pvec_at(b + PATCH_B_INNER, 0), y);
    at = at < b[PATCH_B_LOW] ? b[PATCH_B_LOW] : at > b[PATCH_B_HIGH] ? b[PATCH_B_HIGH] : at;
    double height = b[PATCH_B_LIMB] + b[PATCH_B_LIMB + 1] * at;
    double depth = b[PATCH_B_DEPTH] + b[PATCH_B_DEPTH + 1] * at, reach = b[PATCH_B_REACH];
    double last =
        b[PATCH_B_FOLLOW] * height - b[PATCH_B_BEND] * depth + b[PATCH_B_SLOPE] * (reach - depth);
    return height + (last - height) * (in - depth) / (reach - depth);
}

// How far a vertex lies beyond the joint's removal.
FN double patch_beyond(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const double *D,
                       int entry, pvec x)
{
    int joint = FIELD(S, PATCH_ENTRY_JOINT)[entry], side = FIELD(S, PATCH_ENTRY_SIDE)[entry];
    GLOBAL const double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * joint;
    pvec y = pvec_minus(x, pvec_at(REALS(S, G, PATCH_CENTRE), joint));
    if (S[PATCH_BOX]) return patch_box_value(S, G, r, joint, side, y);
    double d = pvec_dot(pvec_at(REALS(S, G, PATCH_LIMB), joint), y);
    d -= patch_cut_height(r + PATCH_J_BORDER + PATCH_BORDER_REALS * side, y);
    return side ? -d : d;
}

FN double patch_need(PATCH_BODY S, GLOBAL const double *D, int entry)
{
    return D[S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * FIELD(S, PATCH_ENTRY_JOINT)[entry] +
             PATCH_J_NEED + FIELD(S, PATCH_ENTRY_SIDE)[entry]];
}

// What the entries of a part get of the way to each other: PATCH_SHARE.
FN void patch_share(PATCH_BODY S, GLOBAL double *D, int part, int entry)
{
    int first = FIELD(S, PATCH_PART_ENTRY)[part], end = FIELD(S, PATCH_PART_ENTRY)[part + 1];
    GLOBAL double *shares = D + S[PATCH_SHARE] + FIELD(S, PATCH_ENTRY_SHARE)[entry];
    double need = patch_need(S, D, entry);
    for (int k = first; k < end; k++)
        shares[k - first] = patch_least(0.8, need / (need + patch_need(S, D, k)));
}

// How far a vertex lies from an entry's loop.
FN double patch_far(PATCH_BODY S, GLOBAL const double *RESTRICT G, int entry, int vertex)
{
    return G[S[PATCH_FAR] + FIELD(S, PATCH_ENTRY_AT)[entry] + vertex];
}

// How far a vertex lies inside the territory of an entry of its part.
FN double patch_room(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const double *D,
                     int part, int entry, int vertex)
{
    int first = FIELD(S, PATCH_PART_ENTRY)[part], end = FIELD(S, PATCH_PART_ENTRY)[part + 1];
    GLOBAL const double *shares = D + S[PATCH_SHARE] + FIELD(S, PATCH_ENTRY_SHARE)[entry];
    double mu = REALS(S, G, PATCH_EDGE_STEP)[part];
    double own = patch_far(S, G, entry, vertex);
    double room = 1.15 * patch_need(S, D, entry) - own;
    for (int k = first; k < end; k++) {
        double share = shares[k - first], far = patch_far(S, G, k, vertex);
        double left = share * far - (1.0 - share) * own - mu;
        room = k != entry ? patch_least(room, left) : room;
    }
    int tip = FIELD(S, PATCH_PART_TIP)[part];
    if (tip >= 0)
        room = patch_least(room,
                           0.8 * G[tip + vertex - FIELD(S, PATCH_PART_VERTEX)[part]] - 0.2 * own);
    return room;
}

FN double patch_value_of(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const double *D,
                         int part, int entry, int vertex, double shrink)
{
    double beyond = patch_beyond(S, G, D, entry, pvec_at(REALS(S, G, PATCH_POINTS), vertex));
    return patch_least(beyond, patch_room(S, G, D, part, entry, vertex) - shrink);
}

// The same where it is seldom asked for.
PATCH_FN double patch_value(PATCH_BODY S, GLOBAL const double *RESTRICT G, GLOBAL const double *D,
                            int part, int entry, int vertex, double shrink)
{
    return patch_value_of(S, G, D, part, entry, vertex, shrink);
}

// Where the territory is largest on its own loop: what the last retry takes away whole.
PATCH_FN double patch_room_most(PATCH_BODY S, GLOBAL const double *RESTRICT G,
                                GLOBAL const double *D, int part, int entry)
{
    int joint = FIELD(S, PATCH_ENTRY_JOINT)[entry], side = FIELD(S, PATCH_ENTRY_SIDE)[entry];
    double most = 0.0;
    for (int i = FIELD(S, PATCH_JOINT_LOOP)[joint]; i < FIELD(S, PATCH_JOINT_LOOP)[joint + 1];
         i++) {
        double h = patch_room(S, G, D, part, entry, FIELD(S, PATCH_LOOP_VERTEX)[2 * i + side]);
        if (h > most) most = h;
    }
    return most;
}

#endif
