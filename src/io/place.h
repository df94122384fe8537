/// Up and units of formats that do not say: a model has y up and metres, a file may have been made
/// with another axis up and in other units.
#ifndef CUTIS_IO_PLACE_H
#define CUTIS_IO_PLACE_H

#include "base/memory.h"
#include "io/format.h"

/// How a file's space becomes the model's: turned so that `up` is y, then scaled.
typedef struct cutis_place {
    cutis_up up; ///< never CUTIS_UP_AUTO
    float scale;
} cutis_place;

/// The gate for what a reader of such a format has made, which is in the file's axes and already
/// scaled by the input's `scale`: guesses what is to be guessed, turns and scales, and remembers it
/// for clips that are read later.
/// @param total what the reader has scaled by: the input's `scale`, times a scale of the file's own
cutis_result cutis_input_publish(const cutis_input *input, const cutis_model_data *data,
                                 float total, cutis_model **out);

/// How the model's file was read, from data->source; as it is for other sources. `total` includes a
/// scale of the file's own (Cal3D's .cfg).
cutis_place cutis_place_of(const cutis_source *source, float *total);

/// Copies of clips in the model's axes, in the arena; NULL: no memory.
cutis_clip *cutis_place_clips(cutis_arena *arena, cutis_place place, const cutis_clip *clips,
                              uint32_t count);

/// Metres of a unit.
double cutis_units_metres(cutis_units units);

/// Which axis is up, from what the data shows; says why. `fallback` is what it is where nothing
/// tells. False: no memory.
bool cutis_guess_up(const cutis_model_data *data, cutis_arena *arena, cutis_up fallback,
                    cutis_up *out, char reason[CUTIS_REASON_SIZE]);
/// Which unit makes the height that of a body; metres where none does.
bool cutis_guess_units(const cutis_model_data *data, cutis_arena *arena, cutis_up up,
                       cutis_units *out, char reason[CUTIS_REASON_SIZE]);

#endif
