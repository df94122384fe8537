/// What a function owns and gives back whichever way it is left, so that a step that fails can
/// leave by TRY. Variables end in the reverse order of their declarations: what is made from
/// another one is declared after it. Invariant: each is NULL or zero until it holds something.
#ifndef CUTIS_CLI_OWN_H
#define CUTIS_CLI_OWN_H

#include <stdlib.h>
#include <string.h>

#include <cutis/cutis.h>
#include <cutis/render.h>
#include <cutis/skeleton.h>

/// Before a declaration: `function` gets the variable's address at the end of its block.
#define ENDS_BY(function) __attribute__((cleanup(function)))
/// OWN(cutis_model) *model = NULL; is destroyed. Of the types below.
#define OWN(type) ENDS_BY(end_##type) type
/// Before a pointer to memory of malloc or calloc: it is freed.
#define OWN_MEMORY ENDS_BY(end_memory)
#ifdef __clang_analyzer__ // it does not know that a scope ends by a call; the sanitizers look for
                          // leaks
void *some_memory(size_t size);
#define malloc(size)        some_memory(size)
#define calloc(count, size) some_memory((count) * (size))
#endif

static inline void end_memory(void *owned)
{
    void *memory;
    memcpy(&memory, owned, sizeof memory);
    free(memory);
}

#define OWNABLE(type)                                                                              \
    static inline void end_##type(type **owned)                                                    \
    {                                                                                              \
        type##_destroy(*owned);                                                                    \
    }
OWNABLE(cutis_model)
OWNABLE(cutis_device)
OWNABLE(cutis_pose_fit_report)
OWNABLE(cutis_binding)
OWNABLE(cutis_sampler)
OWNABLE(cutis_cage)
OWNABLE(cutis_cage_report)
OWNABLE(cutis_reduce_report)
OWNABLE(cutis_handle_session)
OWNABLE(cutis_skeleton_report)
OWNABLE(cutis_handles_report)
OWNABLE(cutis_renderer)
OWNABLE(cutis_live)

#endif
