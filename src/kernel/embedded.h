/// The kernel texts as strings, for compilers that run on the user's machine (OpenCL, NVRTC).
#ifndef CUTIS_KERNEL_EMBEDDED_H
#define CUTIS_KERNEL_EMBEDDED_H

/// Text of src/kernel/`name` ("algebra.h"), or NULL if there is none of that name. Static memory.
/// kernel_c.h is not among them: it is for C compilers only.
const char *cutis_kernel_text(const char *name);

#endif
