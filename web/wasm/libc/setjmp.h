/// setjmp for WebAssembly, which cannot jump back: the first return is the only one. qhull jumps
/// when it gives up, and the command ends there; the page starts the next one anew.
#ifndef STUDIO_SETJMP_H
#define STUDIO_SETJMP_H

typedef int jmp_buf[1];

#define setjmp(buffer)         ((buffer)[0] = 0)
#define longjmp(buffer, value) __builtin_trap()

#endif
