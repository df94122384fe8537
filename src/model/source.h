/// What a reader keeps of its file: shared, counted, opaque to everything but the reader's own
/// writer. A model holds one reference for as long as it lives; `owner` tells a writer whether the
/// source is one of its own.
#ifndef CUTIS_MODEL_SOURCE_H
#define CUTIS_MODEL_SOURCE_H

#include <cutis/model.h>
#include <stdatomic.h>

/// The first member of a reader's own struct. Made with one reference, which belongs to the maker.
struct cutis_source {
    atomic_uint references;
    void (*destroy)(struct cutis_source
                        *source); ///< called when the last reference goes; also tells whose it is
};

/// NULL is fine for both.
static inline cutis_source *cutis_source_retain(cutis_source *source)
{
    if (source) atomic_fetch_add_explicit(&source->references, 1, memory_order_relaxed);
    return source;
}

static inline void cutis_source_release(cutis_source *source)
{
    if (source && atomic_fetch_sub_explicit(&source->references, 1, memory_order_acq_rel) == 1)
        source->destroy(source);
}

#endif
