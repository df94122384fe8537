/// Crowds: many instances of a character that live on the device. Clips, instances and skins are
/// there; a frame is one call, which uploads what changed since the last and nothing else, and
/// samples, blends, poses and skins there. Levels of detail and culling choose who is drawn.
///
/// Threads: a crowd is used by one thread at a time; several crowds may share a device.
///
/// A frame allocates nothing and waits for nothing but, on a GPU, the upload of two frames ago.
/// Experimental.
#ifndef CUTIS_CROWD_H
#define CUTIS_CROWD_H

#include <cutis/clip.h>
#include <cutis/deform.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUTIS_CROWD_LEVELS 8 ///< most levels of detail
#define CUTIS_CROWD_TRACKS 4 ///< most clips that an instance plays at once
#define CUTIS_CROWD_PLANES 8 ///< most planes of a view

/// How a vertex's position is written.
typedef enum cutis_crowd_position {
    CUTIS_CROWD_POSITION_F32 = 0, ///< 3 floats, 12 bytes
    CUTIS_CROWD_POSITION_F16 = 1, ///< 3 halves, rounded to nearest even, and a half of 1: 8 bytes.
                                  ///< Off by 2^-11 of itself, or 2^-25 near 0; beyond 65519 it is
                                  ///< infinite, so let the renderer place them (`placed` false)
} cutis_crowd_position;

/// How its normal is written, behind the position.
typedef enum cutis_crowd_normal {
    CUTIS_CROWD_NORMAL_NONE = 0,
    CUTIS_CROWD_NORMAL_F32 = 1,        ///< 3 floats, 12 bytes
    CUTIS_CROWD_NORMAL_OCTAHEDRAL = 2, ///< 2 signed words of 16 bits, 32767 = 1: the unit
                                       ///< octahedron's upper half, and the lower one folded over
                                       ///< its edges; at most 6.6e-5 rad off. Zero is 0, 0
} cutis_crowd_normal;

/// A level of detail.
typedef struct cutis_crowd_level {
    /// A block skin (all methods but CAGE and PATCHES), bound with normals where they are wanted,
    /// all on one device; kept until the crowd is destroyed. Nodes follow those of the first
    /// level's model that have their names, which hang on one another in the same way; a node that
    /// the first level does not have stays at rest. As many morph targets as the first level.
    cutis_binding *binding;
    float distance; ///< shown up to this far from the eye; 0: without end. Ascending
} cutis_crowd_level;

/// The zero value, levels and capacity apart: clips of the first level's model as they are, floats,
/// no normals, in the model's space.
typedef struct cutis_crowd_options {
    uint32_t struct_size; ///< sizeof of this struct where you compile; 0: as of version 0.1
    const cutis_crowd_level *levels; ///< nearest first; borrowed for the call
    uint32_t level_count;            ///< 1 .. CUTIS_CROWD_LEVELS
    uint32_t instance_capacity;
    const uint32_t *clips; ///< of the first level's model; NULL: all. Borrowed for the call
    uint32_t clip_count;
    /// How far compressing clips may move a joint or what hangs on it, in the model's units; 0: not
    /// compressed, and every bit is that of cutis_sampler_sample, cutis_pose_blend and
    /// cutis_deform. cutis_crowd_describe says what it came to.
    float clip_error;
    cutis_crowd_position position;
    cutis_crowd_normal normal;
    bool placed;   ///< vertices are placed by their instance's root; else in the model's space, and
                   ///< the renderer places them
    bool previous; ///< previous positions can be asked for: those of the state and the clock of the
                   ///< frame before, at this frame's level
} cutis_crowd_options;

typedef struct cutis_crowd cutis_crowd;

/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT, CUTIS_UNSUPPORTED (a method that is no block skin,
/// skeletons that differ), CUTIS_NOT_FOUND (no such clip), CUTIS_OUT_OF_MEMORY,
/// CUTIS_LIMIT_EXCEEDED, and of a GPU CUTIS_DEVICE_BUILD_FAILED, CUTIS_DEVICE_OUT_OF_MEMORY,
/// CUTIS_DEVICE_LOST
CUTIS_API cutis_result cutis_crowd_create(const cutis_crowd_options *options, cutis_crowd **out);
CUTIS_API void cutis_crowd_destroy(cutis_crowd *crowd); ///< before its bindings; NULL is fine

/// What a level writes.
typedef struct cutis_crowd_level_info {
    uint32_t vertex_count;
    uint32_t record_bytes;          ///< of a vertex: position, then normal
    uint32_t previous_record_bytes; ///< of a previous position
    uint64_t slot_bytes; ///< from instance to instance: a multiple of 16 and of record_bytes, not
                         ///< less than vertex_count records
    uint64_t previous_slot_bytes;
    bool on_device; ///< poses are made by the device's kernels. Else by the host's threads and
                    ///< sent: CPU devices, where that is quicker; drivers, pose space and virtual
                    ///< handles; clips that scale, and skins whose bones are not all rotations
} cutis_crowd_level_info;

typedef struct cutis_crowd_info {
    uint32_t level_count;
    cutis_crowd_level_info levels[CUTIS_CROWD_LEVELS];
    uint32_t clip_count;
    uint64_t clip_bytes;       ///< of all clips, as they are kept
    uint64_t clip_bytes_plain; ///< of the same without compression
    float clip_error;          ///< no joint, and nothing that hangs on it, is moved farther
    uint64_t device_bytes;     ///< of the crowd's own memory there, bindings apart
    float radius;              ///< of the largest clip's sphere
} cutis_crowd_info;

CUTIS_API cutis_crowd_info cutis_crowd_describe(const cutis_crowd *crowd);

/// Seconds; 0 for a clip that is not there.
CUTIS_API float cutis_crowd_clip_duration(const cutis_crowd *crowd, uint32_t clip);

/// The ball that holds a clip's skin at any time, in the model's space: about the middle of where
/// its topmost joints go, as wide as their chains reach (so larger than a box around one pose). For
/// methods that are not linear a quarter is added.
/// @param centre caller memory, or NULL; @return its radius
CUTIS_API float cutis_crowd_clip_sphere(const cutis_crowd *crowd, uint32_t clip,
                                        cutis_float3 *centre);

/// A clip that an instance plays. Its time is seconds + speed * clock, in double, then rounded; it
/// repeats unless `once`.
typedef struct cutis_crowd_track {
    double seconds;
    float speed;  ///< 1: as recorded; 0: it stands at `seconds`, for those who keep time themselves
    float weight; ///< of the second and later tracks, 0 .. 1: how much of it is blended over those
                  ///< before (cutis_pose_blend; morph weights linearly). Of the first: not read
    uint32_t clip; ///< place in the crowd's clips
    bool once;     ///< it stays at its end (and, before 0, at its start)
} cutis_crowd_track;

typedef struct cutis_crowd_instance {
    cutis_transform root; ///< above the model's topmost nodes. Scales equal and positive
    uint32_t track_count; ///< 0: the rest pose
    cutis_crowd_track tracks[CUTIS_CROWD_TRACKS];
    bool hidden; ///< never drawn
} cutis_crowd_instance;

/// The clip's time that a track shows at a clock: what the device samples at.
CUTIS_API float cutis_crowd_track_time(const cutis_crowd *crowd, const cutis_crowd_track *track,
                                       double clock);

/// How many instances there are, at most instance_capacity; 0 after creation. New ones are hidden
/// until they are set.
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT
CUTIS_API cutis_result cutis_crowd_resize(cutis_crowd *crowd, uint32_t instance_count);

/// Set instances [first, first + count). They are uploaded with the next frame. Nothing is changed
/// by a call that fails.
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (range, clip, weight, number not finite, root)
CUTIS_API cutis_result cutis_crowd_set(cutis_crowd *crowd, uint32_t first, uint32_t count,
                                       const cutis_crowd_instance *instances);

/// Their roots alone.
CUTIS_API cutis_result cutis_crowd_place(cutis_crowd *crowd, uint32_t first, uint32_t count,
                                         const cutis_transform *roots);

/// Who sees the crowd. An instance is drawn if the ball around it reaches the inner side of every
/// plane (x n + y n + z n + d >= 0, in the space of the roots), at the level of its distance: from
/// the eye to the ball's middle.
typedef struct cutis_crowd_view {
    cutis_float3 eye;
    uint32_t plane_count;
    float planes[CUTIS_CROWD_PLANES][4]; ///< any length of normal but 0
} cutis_crowd_view;

/// The planes of a camera, from a row-major matrix to clip space (-w <= x, y, z <= w).
CUTIS_API void cutis_crowd_view_from_matrix(const float matrix[16], cutis_float3 eye,
                                            cutis_crowd_view *view);

/// Where a level's vertices go: buffers of its device, slots one after the other.
typedef struct cutis_crowd_output {
    cutis_buffer *vertices;
    uint64_t vertices_offset; ///< bytes, a multiple of 16
    cutis_buffer *previous;   ///< NULL: not wanted
    uint64_t previous_offset;
} cutis_crowd_output;

/// One frame. Vertices of the level's first instance that is drawn are in slot 0, and so on
/// (cutis_crowd_drawn). The work is started; cutis_device_finish, cutis_buffer_read or the caller's
/// own queue waits for it.
/// @param view NULL: everybody, at the first level
/// @param outputs level_count of them; a level where nobody is drawn needs no buffer
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT, CUTIS_BUFFER_TOO_SMALL (more are drawn than the
/// level's buffer holds: nothing was written, and cutis_crowd_drawn says how many there are),
/// CUTIS_DEVICE_LOST, CUTIS_DEVICE_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_crowd_run(cutis_crowd *crowd, double clock,
                                       const cutis_crowd_view *view,
                                       const cutis_crowd_output *outputs);

/// Who was drawn by the last frame at a level, in the order of slots.
/// @param instances numbers, ascending; valid until the next frame; may be NULL
/// @return how many
CUTIS_API uint32_t cutis_crowd_drawn(const cutis_crowd *crowd, uint32_t level,
                                     const uint32_t **instances);

/// Bytes that the last frame sent to the device.
CUTIS_API uint64_t cutis_crowd_uploaded(const cutis_crowd *crowd);

#ifdef __cplusplus
}
#endif
#endif
