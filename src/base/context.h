/// The inside of a context, for the base room only.
#ifndef CUTIS_BASE_CONTEXT_H
#define CUTIS_BASE_CONTEXT_H

#include <cutis/base.h>
#include <stdatomic.h>

struct cutis_context {
    cutis_context_options options; ///< defaults filled in
    uint64_t id;                   ///< of this context alone: an address may come back
    _Atomic uint64_t memory_used;
};

#endif
