/// What the kernels of crowd.h and crowd_pack.h take. Places are in entries of their buffers.
#ifndef CUTIS_KERNEL_CROWD_ARGUMENTS_H
#define CUTIS_KERNEL_CROWD_ARGUMENTS_H

// An instance's state, in words of 4 bytes: its tracks, how many they are, whether it has a root
// other than the identity, the root's transform.
#define CROWD_TRACKS      4
#define CROWD_TRACK_WORDS 6 // seconds (double), speed, weight, clip, once
#define CROWD_STATE_COUNT 24
#define CROWD_STATE_MOVED 25
#define CROWD_STATE_ROOT  26
#define CROWD_STATE_WORDS 36

// A clip in the index: first channel, the one behind its last, duration (bits), nothing.
#define CROWD_CLIP_WORDS 4
// A channel: where in a pose its values go, kind, keys, places of times, bins and keys, number of
// bins, bins a second (bits), floats of a value, step of packed tangents (bits).
#define CROWD_CHANNEL_WORDS 10
// Its kind: path, interpolation, and flags.
#define CROWD_PATH               3 // cutis_path
#define CROWD_STEP               4 // neither: linear
#define CROWD_CUBIC              8
#define CROWD_LOOSE              16 // keys are not of unit length, so values must be made so
#define CROWD_PACKED             32 // keys of 16 bits, in the index: four components, z to the next key
#define CROWD_PACKED_WORDS       3
#define CROWD_PACKED_CUBIC_WORDS 6 // in-tangent, value, out-tangent

// A step on the way to the bones, sorted so that parents come in an earlier rank: node (-1: it
// never moves), parent (-1: none), the node's own matrix (-1: it has none).
#define CROWD_STEP_WORDS 3
// A bone: its step, whether it has an inverse bind, whether it is used.
#define CROWD_BONE_WORDS 3
// Doubles of a bone: inverse bind, rest origin.
#define CROWD_BONE_DOUBLES 15

/// Where the frames have one kind of a bone's values: of bone b in slot s at
/// first + (s * bone_count + b) * step. step 0: it is not wanted.
STRUCT(crowd_place)
{
    KERNEL_LONG first, step;
};

/// Instances that changed, one item a word. changes: from `first` on an instance per change, then
/// `words` words per change: its state and, where that is kept, its previous one.
#define CROWD_UPDATE_BUFFERS(IN, OUT) IN(int, changes) OUT(int, states) OUT(int, previous)
KERNEL_TAKES(crowd_update, KERNEL_LONG first; int count; int words)

/// One item is a slot: an instance that is drawn, from state and clock to bones.
/// states, state_floats, state_doubles: one buffer, of states; clip_index, clip_floats; poses:
/// twice a pose of 10 floats per node and the morph weights; locals and worlds: 12 per step;
/// palettes: 12 per bone; measures: per bone.
#define CROWD_POSE_BUFFERS(IN, OUT)                                                                \
    IN(int, drawn)                                                                                 \
    IN(int, states)                                                                                \
    IN(float, state_floats)                                                                        \
    IN(double, state_doubles)                                                                      \
    IN(int, clip_index)                                                                            \
    IN(float, clip_floats)                                                                         \
    IN(float, rest)                                                                                \
    IN(int, body)                                                                                  \
    IN(double, body_doubles)                                                                       \
    OUT(float, poses)                                                                              \
    OUT(double, locals)                                                                            \
    OUT(double, worlds)                                                                            \
    OUT(double, palettes)                                                                          \
    OUT(double, measures)                                                                          \
    OUT(float, frames)
KERNEL_TAKES(crowd_pose, int drawn_first; int placed; double clock; int node_count;
             int target_count; int channels_at; int step_count; int rank_count; int bone_count;
             int ranks_at; int bones_at; int bones_at_double; int turned; int dual; int measured;
             KERNEL_LONG scales; KERNEL_LONG targets; crowd_place matrix; crowd_place rotation;
             crowd_place duals; crowd_place origin)

/// One item is a bone set of a slot: its rotation centre.
#define CROWD_CENTRES_BUFFERS(IN, OUT)                                                             \
    IN(int, sets)                                                                                  \
    IN(double, references)                                                                         \
    IN(double, palettes)                                                                           \
    IN(double, measures)                                                                           \
    OUT(float, frames)
KERNEL_TAKES(crowd_centres, int set_count; int bone_count; KERNEL_LONG centres; double limit)

/// Vertices as floats to packed ones, one item each. `from` has 3 floats of the position and, with
/// `normals`, 3 of the normal.
#define CROWD_PACK_BUFFERS(IN, OUT) IN(float, from) OUT(unsigned, to)
KERNEL_TAKES(crowd_pack, KERNEL_LONG from_step; KERNEL_LONG to_first; KERNEL_LONG to_step;
             int vertex_count; int from_words; int to_words; int half_positions; int normals)

#endif
