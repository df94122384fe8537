/// A crowd from inside: clips as tables, levels with what their bones need, instances, and the
/// memory of a frame.
///
/// Invariant: everything is allocated when the crowd is made; a frame fills what is there. The host
/// has every instance's state too (`now`, `before`): it culls by it, and poses by it where the
/// device does not.
#ifndef CUTIS_DEFORM_CROWD_H
#define CUTIS_DEFORM_CROWD_H

#include <cutis/crowd.h>

#include "deform/skin.h"
#include "device/compute/crowd.h"
#include "geometry/vector.h"

/// A ball in the model's space.
typedef struct crowd_ball {
    double centre[3], radius;
} crowd_ball;

/// Where a node goes in a clip: the box of its translations, the largest of its scales.
typedef struct cutis_node_range {
    box3 box;
    double scale;
} cutis_node_range;

/// The clips: samplers for the host, tables of the same keys for the device.
typedef struct crowd_clips {
    uint32_t count;
    const cutis_clip **sources; ///< of the first level's model
    cutis_sampler **samplers;
    float **packed;    ///< per clip and node: rotations are kept in 16 bits; the step of
                       ///< tangents, -1 of linear channels; 0: as floats. Or NULL
    crowd_ball *balls; ///< per clip, and of the rest pose behind them
    int32_t *index;    ///< clips, channels, bins
    float *floats;     ///< times and keys
    size_t index_count, float_count;
    uint32_t channels_at; ///< in the index
    uint64_t plain_bytes;
    double error;
    cutis_buffer *index_buffer, *float_buffer, *rest_buffer;
} crowd_clips;

typedef struct crowd_level {
    cutis_skin_binding *binding;
    float distance;
    int32_t *map; ///< per node: the first level's that it follows, -1: it stays at rest; NULL: all
                  ///< are the first level's
    bool on_device;
    cutis_crowd_level_info info;
    uint32_t batch; ///< slots that are done together
    // On the device: steps by rank, bones, sets.
    uint32_t rank_count, ranks_at, bones_at, bones_at_double;
    cutis_buffer *body, *body_doubles, *sets, *references, *frames;
    cutis_frame_places places;
    // This frame.
    uint32_t drawn_first, drawn_count;
} crowd_level;

/// Memory that goes up, and whether the device reads it from there.
typedef struct crowd_upload {
    cutis_staging *staging; ///< NULL: the device's memory is the host's
    cutis_buffer *buffer;
    int32_t *words;
} crowd_upload;

struct cutis_crowd {
    cutis_context *context;
    cutis_device *device;
    cutis_arena arena;
    cutis_crowd_options options; ///< its pointers are not kept
    uint32_t capacity, count;
    uint32_t node_count, target_count;
    crowd_clips clips;
    crowd_level levels[CUTIS_CROWD_LEVELS];
    uint32_t level_count;
    bool any_on_device, any_on_host;

    // Instances.
    cutis_crowd_instance *now, *before;
    float *x, *y, *z, *radius; ///< of their balls, in the roots' space; hidden ones have radius -1
    uint8_t *changed;          ///< 1: since the last frame; 4: it was never drawn
    uint32_t *changes, *changes_before, change_count, change_before_count;
    double clock_before;
    bool has_run;

    // A frame.
    bool drawn_changed; ///< since what was sent last
    uint8_t *chosen;    ///< level of each instance, or CROWD_NOBODY
    uint32_t *drawn;    ///< of all levels, in the order of slots
    crowd_upload uploads[2];
    uint32_t upload;       ///< the one that was sent last
    uint64_t upload_bytes; ///< by the last frame
    cutis_buffer *states, *states_before;
    cutis_buffer *poses, *locals, *worlds, *palettes, *measures;
    cutis_buffer *vertices;   ///< as floats, where they are packed afterwards
    cutis_buffer *any_buffer; ///< in place of the caller's, while kernels are prepared
    cutis_transform *host_poses, *host_over; ///< node_count per slot of a batch
    float *host_targets, *host_targets_over;
    cutis_transform *host_mapped; ///< poses of a level with nodes of its own
    cutis_transform *host_roots;
    uint32_t host_batch;
    uint64_t device_bytes;
};

#define CROWD_NOBODY 255u

// crowd_clips.c
/// Samplers and tables.
cutis_result cutis_crowd_clips_make(cutis_crowd *crowd, const cutis_crowd_options *options);
/// The tables and the rest pose to the device.
cutis_result cutis_crowd_clips_upload(cutis_crowd *crowd);
void cutis_crowd_clips_destroy(cutis_crowd *crowd);

// crowd_compress.c
/// A clip with fewer keys, rotations in 16 bits where `packed` (per channel) says so.
/// @param arena where it lives; @param error no point of the skin is moved farther
cutis_result cutis_crowd_compress(cutis_crowd *crowd, const cutis_clip *clip, cutis_arena *arena,
                                  cutis_clip *out, bool **packed, double *error);

/// The step of a cubic rotation channel's tangents in 16 bits.
float cutis_crowd_tangent_unit(const float *values, uint32_t key_count);

// crowd_bounds.c
/// Balls of the clips, around every level's skin.
cutis_result cutis_crowd_bounds_make(cutis_crowd *crowd);
/// The ball of an instance in the roots' space.
void cutis_crowd_bound(cutis_crowd *crowd, uint32_t instance);
/// Per node: how far the vertices that it holds are from it, over all levels, in its own
/// coordinates.
cutis_result cutis_crowd_radii(const cutis_crowd *crowd, double *radii);
/// Per node: where its translations and scales go in a clip (NULL: at rest), and how far anything
/// that hangs on it gets from it.
void cutis_crowd_reach(const cutis_model *model, const cutis_clip *clip, const double *radii,
                       cutis_node_range *ranges, double *reach);

// crowd_body.c
/// Whether the device's kernels can pose a level: its bones are rotations up to a scale in every
/// pose of the clips, and nothing else has a say in them.
cutis_result cutis_crowd_body_is_rigid(const cutis_crowd *crowd, const crowd_level *level,
                                       bool *rigid);
/// Tables of a level.
cutis_result cutis_crowd_body_make(cutis_crowd *crowd, crowd_level *level);
void cutis_crowd_body_destroy(crowd_level *level);

/// A pose of a level's nodes from one of the first level's.
void cutis_crowd_map_pose(const crowd_level *level, const cutis_transform *pose,
                          cutis_transform *out);

// crowd_cull.c
/// Who is drawn at which level: `chosen`, `drawn` and the levels' counts. @return whether anything
/// differs from the last frame
bool cutis_crowd_cull(cutis_crowd *crowd, const cutis_crowd_view *view);

// crowd_frame.c
/// Memory for frames, and kernels.
cutis_result cutis_crowd_frame_prepare(cutis_crowd *crowd);
void cutis_crowd_frame_destroy(cutis_crowd *crowd);
cutis_result cutis_crowd_frame_run(cutis_crowd *crowd, double clock, bool drawn_changed,
                                   const cutis_crowd_output *outputs);

/// The poses of the last frame's first batches again, by the device and without skins: for timing
/// alone.
cutis_result cutis_crowd_frame_poses(cutis_crowd *crowd, double clock);

// crowd_host.c
cutis_result cutis_crowd_host_prepare(cutis_crowd *crowd);
/// Slots [first, first + count) of a level by the host's threads, into streams of floats.
/// @param written  slots that are written together, these among them
cutis_result cutis_crowd_host_run(cutis_crowd *crowd, const crowd_level *level, uint32_t first,
                                  uint32_t count, uint32_t written, bool before, double clock,
                                  const cutis_outputs *outputs);

/// Floats of a state as the kernels have it.
void cutis_crowd_state_words(const cutis_crowd_instance *instance, int32_t *words);

/// A buffer of the device with this content. size 0 gives one of 16 bytes.
cutis_result cutis_crowd_buffer(cutis_crowd *crowd, const void *data, uint64_t size,
                                cutis_buffer **out);

#endif
