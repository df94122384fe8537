/// Names from files as valid UTF-8: file formats of the 1990s do not say their encoding.
#ifndef CUTIS_BASE_UTF8_H
#define CUTIS_BASE_UTF8_H

#include <stdint.h>

/// Length of the well-formed sequence at `s` (zero-terminated), or 0: no overlong forms, no
/// surrogates.
static inline int cutis_utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    if (s[0] < 0xC2 || s[0] > 0xF4) return 0;
    int length = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0; // the terminator stops this too
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)) return 0;
    if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
    return length;
}

/// Bytes that are no UTF-8 become '?', in place. @return how many; NULL has none
static inline uint64_t cutis_utf8_repair(char *string)
{
    uint64_t replaced = 0;
    for (unsigned char *s = (unsigned char *)string; s && *s;) {
        int length = cutis_utf8_length(s);
        if (length == 0) *s = '?', replaced++;
        s += length ? length : 1;
    }
    return replaced;
}

#endif
