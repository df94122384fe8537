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

#define DECLARE(name)                                                                              \
    void cutis_cpu_skin_##name(const cutis_cpu_job *job, uint32_t instance, uint32_t begin,        \
                               uint32_t end);                                                      \
    extern const cutis_bone_work cutis_cpu_bones_##name;
DECLARE(scalar)
#if defined(CUTIS_X86)
DECLARE(scalar_fma)
DECLARE(sse2)
DECLARE(sse2_fma)
DECLARE(avx2)
DECLARE(avx512)
#elif defined(__aarch64__)
DECLARE(neon)
#elif defined(__wasm__)
DECLARE(wasm)
DECLARE(wasm_fast)
#endif

#if defined(CUTIS_X86)

typedef struct x86_features {
    bool fma, avx2, avx512;
} x86_features;

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

uint32_t cutis_cpu_variants(cutis_cpu_variant out[8])
{
    const x86_features has = x86_detect();
    const cutis_cpu_variant all[] = {
        { CUTIS_ISA_SCALAR, "scalar", cutis_cpu_skin_scalar, &cutis_cpu_bones_scalar, true },
        { CUTIS_ISA_SCALAR, "scalar_fma", cutis_cpu_skin_scalar_fma, &cutis_cpu_bones_scalar_fma,
          has.fma },
        { CUTIS_ISA_SSE2, "sse2", cutis_cpu_skin_sse2, &cutis_cpu_bones_sse2, true },
        { CUTIS_ISA_SSE2, "sse2_fma", cutis_cpu_skin_sse2_fma, &cutis_cpu_bones_sse2_fma, has.fma },
        { CUTIS_ISA_AVX2, "avx2", cutis_cpu_skin_avx2, &cutis_cpu_bones_avx2, has.avx2 },
        { CUTIS_ISA_AVX512, "avx512", cutis_cpu_skin_avx512, &cutis_cpu_bones_avx512, has.avx512 },
    };
    memcpy(out, all, sizeof all);
    return sizeof all / sizeof all[0];
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
    if (!*start) start = "x86 CPU";
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

uint32_t cutis_cpu_variants(cutis_cpu_variant out[8])
{
    const cutis_cpu_variant all[] = {
        { CUTIS_ISA_SCALAR, "scalar", cutis_cpu_skin_scalar, &cutis_cpu_bones_scalar, true },
#if defined(__aarch64__)
        { CUTIS_ISA_NEON, "neon", cutis_cpu_skin_neon, &cutis_cpu_bones_neon, true },
#elif defined(__wasm__)
        { CUTIS_ISA_WASM, "wasm", cutis_cpu_skin_wasm, &cutis_cpu_bones_wasm, true },
        { CUTIS_ISA_WASM_FAST, "wasm_fast", cutis_cpu_skin_wasm_fast, &cutis_cpu_bones_wasm_fast,
          true },
#endif
    };
    memcpy(out, all, sizeof all);
    return sizeof all / sizeof all[0];
}

void cutis_cpu_name(char *name)
{
#if defined(__aarch64__)
    strcpy(name, "ARM CPU");
#elif defined(__wasm__)
    strcpy(name, "WebAssembly");
#else
    strcpy(name, "CPU");
#endif
}

uint64_t cutis_cpu_cache_bytes(void)
{
    return 32u << 20;
}

#endif

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
