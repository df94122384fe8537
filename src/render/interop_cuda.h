/// Letting a CUDA device write into an OpenGL buffer. The CUDA driver is opened at run time.
#ifndef CUTIS_RENDER_INTEROP_CUDA_H
#define CUTIS_RENDER_INTEROP_CUDA_H

#include <cutis/device.h>

typedef struct cutis_cuda_interop cutis_cuda_interop;

/// `gl_buffer` belongs to the OpenGL context current in this thread, on the same GPU.
cutis_result cutis_cuda_interop_create(cutis_context *context, cutis_device *device,
                                       unsigned gl_buffer, uint64_t size, cutis_cuda_interop **out);
void cutis_cuda_interop_destroy(cutis_cuda_interop *interop); ///< NULL is fine

/// From map to unmap the buffer is the device's; unmap orders OpenGL's later commands after the
/// device's work.
cutis_result cutis_cuda_interop_map(cutis_cuda_interop *interop, cutis_buffer **buffer);
cutis_result cutis_cuda_interop_unmap(cutis_cuda_interop *interop);

#endif
