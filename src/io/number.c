// Decimal numbers to and from binary, without locale. An approximation of a few ULP comes first;
// where it lies too close to the middle between two results, the decimal is compared with that
// middle exactly, in big integers. Invariant: the result is the nearest representable number, ties
// to even.
#include "io/text.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// The middle between two doubles has at most 767 significant digits; what comes later only matters
// as "not zero".
enum { DIGITS_MAX = 780, LIMBS = 256 };

typedef struct decimal {
    char digits[DIGITS_MAX + 1]; // values 0..9, no leading zero
    uint32_t count;
    int32_t exponent; // value = the digits as an integer * 10^exponent
    bool negative;
} decimal;

typedef struct big {
    uint32_t limbs[LIMBS];
    uint32_t count;
} big;

static void big_multiply_add(big *n, uint32_t factor, uint32_t carry)
{
    uint64_t sum = carry;
    for (uint32_t i = 0; i < n->count; i++) {
        sum += (uint64_t)n->limbs[i] * factor;
        n->limbs[i] = (uint32_t)sum;
        sum >>= 32;
    }
    if (sum && n->count < LIMBS) n->limbs[n->count++] = (uint32_t)sum;
}

static void big_scale10(big *n, uint32_t power)
{
    for (; power >= 9; power -= 9) big_multiply_add(n, 1000000000u, 0);
    for (; power; power--) big_multiply_add(n, 10, 0);
}

static void big_scale2(big *n, uint32_t power)
{
    for (; power >= 31; power -= 31) big_multiply_add(n, 1u << 31, 0);
    if (power) big_multiply_add(n, 1u << power, 0);
}

static int big_compare(const big *a, const big *b)
{
    if (a->count != b->count) return a->count < b->count ? -1 : 1;
    for (uint32_t i = a->count; i-- > 0;)
        if (a->limbs[i] != b->limbs[i]) return a->limbs[i] < b->limbs[i] ? -1 : 1;
    return 0;
}

// Sign of |d| - mantissa * 2^exponent. The largest numbers here: 780 digits (2592 bits) with
// 10^310, or 2^1075 * 10^1120 (4800 bits): both fit 256 limbs.
static int compare_exactly(const decimal *d, uint64_t mantissa, int exponent)
{
    big left = { .count = 0 }, right = { .count = 0 };
    for (uint32_t i = 0; i < d->count; i++) big_multiply_add(&left, 10, (uint32_t)d->digits[i]);
    right.limbs[0] = (uint32_t)mantissa;
    right.limbs[1] = (uint32_t)(mantissa >> 32);
    right.count = right.limbs[1] ? 2 : 1;
    if (d->exponent > 0) big_scale10(&left, (uint32_t)d->exponent);
    if (d->exponent < 0) big_scale10(&right, (uint32_t)-d->exponent);
    if (exponent > 0) big_scale2(&right, (uint32_t)exponent);
    if (exponent < 0) big_scale2(&left, (uint32_t)-exponent);
    return big_compare(&left, &right);
}

// Optional sign, digits with at most one point, optional exponent; nothing else in the span.
static bool scan(cutis_span span, decimal *out)
{
    const char *at = span.data, *end = span.data + span.size;
    int64_t point = 0, exponent = 0;
    bool any = false, after_point = false, lost = false;
    out->count = 0;
    out->negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    for (; at < end; at++) {
        if (*at == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (*at < '0' || *at > '9') break;
        any = true;
        point += after_point ? -1 : 0;
        if (out->count == 0 && *at == '0') continue;
        if (out->count < DIGITS_MAX) {
            out->digits[out->count++] = (char)(*at - '0');
        } else {
            lost |= *at != '0';
            point++;
        }
    }
    if (!any) return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        bool minus = at + 1 < end && at[1] == '-';
        at += at + 1 < end && (at[1] == '-' || at[1] == '+') ? 2 : 1;
        if (at == end) return false;
        for (; at < end && *at >= '0' && *at <= '9'; at++)
            if (exponent < 1000000) exponent = exponent * 10 + (*at - '0');
        if (minus) exponent = -exponent;
    }
    if (at != end) return false;
    if (lost) { // a last digit that is not zero stands for all of them
        out->digits[out->count++] = 1;
        point--;
    }
    while (out->count && out->digits[out->count - 1] == 0 && point + exponent < 0) {
        out->count--; // trailing zeros of "0.500000" would only make the powers larger
        point++;
    }
    int64_t total = point + exponent;
    out->exponent = (int32_t)(total < -4000000 ? -4000000 : total > 4000000 ? 4000000 : total);
    return true;
}

static const double POWERS[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

// |d| within 2^-48 relative; `exact` when it is the correctly rounded double. Never overflows for
// values below 1e309.
static double approximate(const decimal *d, bool *exact)
{
    uint64_t head = 0;
    uint32_t used = d->count < 19 ? d->count : 19;
    for (uint32_t i = 0; i < used; i++) head = head * 10 + (uint64_t)d->digits[i];
    int32_t power = d->exponent + (int32_t)(d->count - used);
    double value = (double)head;
    *exact = used == d->count && head <= (UINT64_C(1) << 53) && power >= -22 && power <= 22;
    for (; power > 22; power -= 22) value *= 1e22;
    for (; power < -22; power += 22) value /= 1e22;
    return power >= 0 ? value * POWERS[power] : value / POWERS[-power];
}

// The neighbours of the result are found by exact comparison with the middles around `guess`, a
// number of the type with `digits` bits whose smallest exponent is `lowest` (value = m * 2^e, m <
// 2^digits, e >= lowest).
static double settle(const decimal *d, double guess, int digits, int lowest)
{
    for (int steps = 0; steps < 64; steps++) {
        int e;
        if (guess > DBL_MAX) return guess;
        frexp(guess, &e);
        e = guess == 0 || e - digits < lowest ? lowest : e - digits;
        uint64_t m = guess == 0 ? 0 : (uint64_t)ldexp(guess, -e);
        int above = compare_exactly(d, 2 * m + 1, e - 1);
        if (above > 0 || (above == 0 && (m & 1))) {
            guess = ldexp((double)(m + 1), e);
            continue;
        }
        if (m == 0) return guess;
        // Just above a power of two the step down is half as long.
        bool power = m == UINT64_C(1) << (digits - 1) && e > lowest;
        int below =
            power ? compare_exactly(d, 4 * m - 1, e - 2) : compare_exactly(d, 2 * m - 1, e - 1);
        if (below > 0 || (below == 0 && !(m & 1))) return guess;
        guess = power ? ldexp((double)(2 * m - 1), e - 1) : ldexp((double)(m - 1), e);
    }
    return guess;
}

bool cutis_parse_double(cutis_span span, double *out)
{
    decimal d;
    if (!scan(span, &d)) return false;
    int64_t magnitude = (int64_t)d.count + d.exponent; // |value| < 10^magnitude
    double value = 0;
    if (d.count && magnitude > 310) return false;
    if (d.count && magnitude > -330) {
        bool exact;
        value = approximate(&d, &exact);
        if (!exact) value = settle(&d, value > DBL_MAX ? DBL_MAX : value, 53, -1074);
        if (value > DBL_MAX) return false;
    }
    *out = d.negative ? -value : value;
    return true;
}

bool cutis_parse_float(cutis_span span, float *out)
{
    decimal d;
    if (!scan(span, &d)) return false;
    int64_t magnitude = (int64_t)d.count + d.exponent;
    double value = 0;
    if (d.count && magnitude > 40) return false;
    if (d.count && magnitude > -50) {
        bool exact;
        value = approximate(&d, &exact);
        uint64_t bits;
        memcpy(&bits, &value, 8);
        // Rounding a double to float is right unless it lies within the approximation's error of
        // the middle of two floats.
        uint64_t low = bits & 0x1FFFFFFF, middle = 0x10000000;
        bool plain = value >= 2 * FLT_MIN && value <= FLT_MAX / 2 &&
                     (low < middle - 64 || low > middle + 64);
        value = plain ? (double)(float)value
                      : settle(&d, value > FLT_MAX ? FLT_MAX : (double)(float)value, 24, -149);
        if (value > FLT_MAX) return false;
    }
    *out = (float)(d.negative ? -value : value);
    return true;
}

bool cutis_parse_int(cutis_span span, int64_t *out)
{
    size_t i = 0;
    bool negative = span.size && span.data[0] == '-';
    if (span.size && (span.data[0] == '-' || span.data[0] == '+')) i = 1;
    if (i == span.size || span.size - i > 18) {
        while (span.size - i > 18 && i < span.size && span.data[i] == '0') i++;
        if (i == span.size || span.size - i > 18) return false;
    }
    int64_t value = 0;
    for (; i < span.size; i++) {
        if (span.data[i] < '0' || span.data[i] > '9') return false;
        value = value * 10 + (span.data[i] - '0');
    }
    *out = negative ? -value : value;
    return true;
}

size_t cutis_print_whole(int64_t value, char text[CUTIS_NUMBER_SIZE])
{
    char digits[CUTIS_NUMBER_SIZE];
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t at = sizeof digits, size;
    do {
        digits[--at] = (char)('0' + left % 10);
        left /= 10;
    } while (left);
    if (value < 0) digits[--at] = '-';
    size = sizeof digits - at;
    memcpy(text, digits + at, size);
    text[size] = 0;
    return size;
}

// printf writes the decimal point of the locale, which may be any string: whatever is no part of a
// number becomes '.'.
size_t cutis_print_number(double value, int digits, char text[CUTIS_NUMBER_SIZE])
{
    char raw[64];
    int length = snprintf(raw, sizeof raw, "%.*g", digits, value);
    size_t out = 0;
    bool point = false;
    for (int i = 0; i < length && i < (int)sizeof raw && out + 1 < CUTIS_NUMBER_SIZE; i++) {
        char c = raw[i];
        bool part = (c >= '0' && c <= '9') || c == '-' || c == '+' || c == 'e';
        if (part) text[out++] = c;
        if (!part && !point) text[out++] = '.';
        point = !part;
    }
    text[out] = 0;
    return out;
}

size_t cutis_format_float(float value, char text[CUTIS_NUMBER_SIZE])
{
    // Seven digits are enough for most numbers people type; nine for all.
    float back;
    size_t size = cutis_print_number((double)value, 7, text);
    if (cutis_parse_float((cutis_span){ text, size }, &back) && memcmp(&back, &value, 4) == 0)
        return size;
    return cutis_print_number((double)value, 9, text);
}

size_t cutis_format_double(double value, char text[CUTIS_NUMBER_SIZE])
{
    double back;
    size_t size = cutis_print_number(value, 15, text);
    if (cutis_parse_double((cutis_span){ text, size }, &back) && memcmp(&back, &value, 8) == 0)
        return size;
    return cutis_print_number(value, 17, text);
}
