/// Which variants of the schedule were compiled, which of them this machine can run, and what the
/// machine is.
///
/// Invariant: a variant is `supported` only if both the processor has its instructions and the
/// operating system saves its registers.
#include "device/cpu/cpu.h"

#include "base/os/os.h"

#include <string.h>

#if (defined(__x86_64__) || defined(__i386__)) && !defined(CUTIS_SCALAR_ONLY)
#include <cpuid.h>
#define CUTIS_X86 1
#endif

/// What the processor and the operating system have beyond the least of the architecture.
typedef struct x86_features {
    bool fma, avx2, avx512;
} x86_features;

/// X(instruction set, name, is it supported?), best last.
#if defined(CUTIS_X86)
#define VARIANTS(X)                                                                                \
    X(SCALAR, scalar, true)                                                                        \
    X(SCALAR, scalar_fma, has.fma)                                                                 \
    X(SSE2, sse2, true)                                                                            \
    X(SSE2, sse2_fma, has.fma) X(AVX2, avx2, has.avx2) X(AVX512, avx512, has.avx512)
#define MACHINE "x86 CPU"
#elif defined(__aarch64__)
#define VARIANTS(X) X(SCALAR, scalar, true) X(NEON, neon, true)
#define MACHINE     "ARM CPU"
#elif defined(__wasm__)
#define VARIANTS(X) X(SCALAR, scalar, true) X(WASM, wasm, true) X(WASM_FAST, wasm_fast, true)
#define MACHINE     "WebAssembly"
#else
#define VARIANTS(X) X(SCALAR, scalar, true)
#define MACHINE     "CPU"
#endif

#define DECLARE(isa, name, supported)                                                              \
    void cutis_cpu_skin_##name(const cutis_cpu_job *job, uint32_t instance, uint32_t begin,        \
                               uint32_t end);                                                      \
    extern const cutis_bone_work cutis_cpu_bones_##name;
VARIANTS(DECLARE)

#if defined(CUTIS_X86)

static uint64_t saved_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static x86_features x86_detect(void)
{
    x86_features has = { false, false, false };
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return has;
    const bool saves = (c >> 27 & 1) != 0, avx = (c >> 28 & 1) != 0, fma = (c >> 12 & 1) != 0;
    if (!saves || !avx) return has;
    const uint64_t saved = saved_registers();
    if ((saved & 6) != 6) return has; // xmm and ymm
    has.fma = fma;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return has;
    has.avx2 = fma && (b >> 5 & 1);
    // F, DQ, BW, VL; mask registers and the upper halves of zmm
    const uint32_t wanted = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31;
    has.avx512 = has.avx2 && (b & wanted) == wanted && (saved & 0xe0) == 0xe0;
    return has;
}

void cutis_cpu_name(char *name)
{
    uint32_t words[12] = { 0 };
    char text[49] = "", *start = text;
    for (uint32_t i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2],
                         &words[4 * i + 3]))
            break;
    memcpy(text, words, 48);
    while (*start == ' ') start++;
    for (size_t n = strlen(start); n > 0 && start[n - 1] == ' '; n--) start[n - 1] = '\0';
    if (!*start) start = MACHINE;
    memcpy(name, start, strlen(start) + 1);
}

uint64_t cutis_cpu_cache_bytes(void)
{
    uint64_t most = 0;
    for (uint32_t leaf = 4; leaf; leaf = leaf == 4 ? 0x8000001du : 0) { // Intel's, then AMD's
        for (uint32_t i = 0; i < 16; i++) {
            uint32_t a = 0, b = 0, c = 0, d = 0;
            if (!__get_cpuid_count(leaf, i, &a, &b, &c, &d) || (a & 31) == 0) break;
            const uint64_t size = (uint64_t)((b >> 22) + 1) * ((b >> 12 & 1023) + 1) *
                                  ((b & 4095) + 1) * ((uint64_t)c + 1);
            if (size > most) most = size;
        }
    }
    return most ? most : 32u << 20;
}

#else

static x86_features x86_detect(void)
{
    return (x86_features){ false, false, false };
}

void cutis_cpu_name(char *name)
{
    strcpy(name, MACHINE);
}

uint64_t cutis_cpu_cache_bytes(void)
{
    return 32u << 20;
}

#endif

uint32_t cutis_cpu_variants(cutis_cpu_variant out[8])
{
    const x86_features has = x86_detect();
#define ROW(isa, name, supported)                                                                  \
    { CUTIS_ISA_##isa, #name, cutis_cpu_skin_##name, &cutis_cpu_bones_##name, supported },
    const cutis_cpu_variant all[] = { VARIANTS(ROW) };
    (void)has; // other machines have none of it
    memcpy(out, all, sizeof all);
    return sizeof all / sizeof all[0];
}

// CUTIS_ISA can only lower the choice; an unknown name changes nothing.
static cutis_isa isa_allowed(void)
{
    const char *wanted = cutis_os_environment("CUTIS_ISA");
    for (cutis_isa isa = CUTIS_ISA_SCALAR; wanted && isa <= CUTIS_ISA_WASM_FAST; isa++)
        if (strcmp(wanted, cutis_isa_name(isa)) == 0) return isa;
    return CUTIS_ISA_WASM_FAST;
}

bool cutis_cpu_choose(cutis_isa isa, cutis_cpu_variant *out)
{
    cutis_cpu_variant all[8];
    const uint32_t count = cutis_cpu_variants(all);
    const cutis_isa allowed = isa_allowed();
    bool found = false;
    for (uint32_t i = 0; i < count; i++) { // best last
        if (!all[i].supported || (isa != CUTIS_ISA_AUTO && all[i].isa > isa)) continue;
        if (all[i].isa > allowed) continue;
        if (isa == CUTIS_ISA_AUTO && all[i].isa == CUTIS_ISA_WASM_FAST) continue; // other bits
        if (isa != CUTIS_ISA_AUTO && all[i].isa != isa && allowed >= isa) continue;
        *out = all[i];
        found = true;
    }
    return found;
}
