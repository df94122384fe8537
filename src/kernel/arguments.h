/// Kernel text: how a kernel says what it takes, once for host and device. Buffers are in a list,
/// read-only ones as IN, the others as OUT; all else is in one struct, passed by value:
///
///     #define SCALE_BUFFERS(IN, OUT) IN(float, source) OUT(float, scaled)
///     KERNEL_TAKES(scale, float factor)
///
/// Such lists and structs are a program's NAME_arguments.h, which the host includes too
/// (device/compute.h makes its side of them). Invariant: nothing writes an IN buffer while the
/// kernel runs. Fields of structs are int, unsigned, KERNEL_LONG, float and double, which all
/// dialects lay out alike.
#ifndef CUTIS_KERNEL_ARGUMENTS_H
#define CUTIS_KERNEL_ARGUMENTS_H

/// A whole number of 64 bits, for offsets of more than 2^31 entries. (Inside kernels: INDEX.)
#ifdef KERNEL_OPENCL
#define KERNEL_LONG long
#else
#define KERNEL_LONG long long
#endif

#ifndef STRUCT // a host file that has no kernel text; the same as in kernel_c.h
#define STRUCT(n)                                                                                  \
    typedef struct n n;                                                                            \
    struct n
#endif

/// The first field of every struct of arguments: the items that this call does. Whoever launches
/// the kernel leaves it at zero; device/compute fills it in.
#define ITEM_RANGE int item_first, item_end

/// NAME_arguments of these fields, or of none. A comma would end them: `int a; int b`.
#define KERNEL_TAKES(name, fields)                                                                 \
    STRUCT(name##_arguments)                                                                       \
    {                                                                                              \
        ITEM_RANGE;                                                                                \
        fields;                                                                                    \
    };
#define KERNEL_TAKES_NONE(name)                                                                    \
    STRUCT(name##_arguments)                                                                       \
    {                                                                                              \
        ITEM_RANGE;                                                                                \
    };

#endif
