/// Memory that a CUDA device makes and OpenGL imports once: no hand-over per frame. The CUDA driver
/// is opened at run time.
#ifndef CUTIS_RENDER_SHARED_CUDA_H
#define CUTIS_RENDER_SHARED_CUDA_H

#include <cutis/device.h>

typedef struct cutis_cuda_shared cutis_cuda_shared;

/// At least `size` bytes on the device. CUTIS_UNSUPPORTED where the driver cannot export memory.
cutis_result cutis_cuda_shared_create(cutis_context *context, cutis_device *device, uint64_t size,
                                      cutis_cuda_shared **out);
void cutis_cuda_shared_destroy(cutis_cuda_shared *shared); ///< NULL is fine

cutis_buffer *cutis_cuda_shared_buffer(const cutis_cuda_shared *shared);

/// A new file descriptor of the memory, and its whole size. The importer owns it.
cutis_result cutis_cuda_shared_export(cutis_cuda_shared *shared, int *descriptor,
                                      uint64_t *whole_size);

#endif
