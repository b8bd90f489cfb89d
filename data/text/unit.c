// Reads numbers with a unit.
#include "data/text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the unit of a key

static bool ends_with(const char *key, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length >= n && !memcmp(key + length - n, end, n) &&
           (length == n || key[length - n - 1] == '_');
}

static enum key_unit unit_of_key(const char *key, size_t length)
{
    if (ends_with(key, length, "bytes_per_s")) return KEY_BYTES_PER_S;
    if (ends_with(key, length, "flop_per_s")) return KEY_FLOP_PER_S;
    if (ends_with(key, length, "per_s")) return KEY_UNITLESS;
    if (ends_with(key, length, "bytes")) return KEY_BYTES;
    return ends_with(key, length, "s") ? KEY_SECONDS : KEY_UNITLESS;
}

enum key_unit unit_of_path(const char *path)
{
    static const char *const members[] = {".value", ".low", ".high"};
    size_t end = strlen(path), begin;
    for (size_t i = 0; i < ARRAY_LENGTH(members); i++) {
        size_t n = strlen(members[i]);
        if (end <= n || strcmp(path + end - n, members[i])) continue;
        end -= n;
        break;
    }
    for (begin = end; begin && path[begin - 1] != '.' && path[begin - 1] != ']';) begin--;
    return unit_of_key(path + begin, end - begin);
}

const char *unit_example(enum key_unit kind)
{
    static const char *const examples[] = {"", "80 GB", "400 Gb/s", "989 TFLOP/s", "3.4 us"};
    return examples[kind];
}

// ---- reading

// Decimal prefixes; k stands for a thousand in either case.
static const char *read_prefix(const char *at, int *power)
{
    static const struct {
        char letter;
        int power;
    } prefixes[] = {{'k', 3}, {'K', 3}, {'M', 6}, {'G', 9}, {'T', 12}, {'P', 15}};
    *power = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++)
        if (*at == prefixes[i].letter) return *power = prefixes[i].power, at + 1;
    return at;
}

// "B", "b" or "bit" after a prefix, with "i" between them for powers of 2^10; *bits, *doublings.
static const char *read_byte(const char *at, int *power, int *doublings, bool *bits)
{
    at = read_prefix(at, power);
    *doublings = 0;
    if (*at == 'i') *doublings = *power / 3 * 10, *power = 0, at++;
    *bits = *at == 'b';
    if (!strncmp(at, "bit", 3)) return at + 3;
    return *at == 'B' || *at == 'b' ? at + 1 : NULL;
}

static bool is_rate(const char *at) { return !strcmp(at, "/s") || !strcmp(at, "ps"); }

static bool read_unit(const char *unit, enum key_unit kind, int *power, int *doublings, bool *bits)
{
    static const struct {
        const char *name;
        int power;
    } seconds[] = {{"s", 0},          {"ms", -3},        {"us", -6},
                   {"\xc2\xb5s", -6}, {"\xce\xbcs", -6}, {"ns", -9}};
    const char *at;
    *power = *doublings = 0, *bits = false;
    if (kind == KEY_SECONDS) {
        for (size_t i = 0; i < ARRAY_LENGTH(seconds); i++)
            if (!strcmp(unit, seconds[i].name)) return *power = seconds[i].power, true;
        return false;
    }
    if (kind == KEY_FLOP_PER_S) {
        at = read_prefix(unit, power);
        return !strcmp(at, "FLOP/s") || !strcmp(at, "FLOPS") || !strcmp(at, "FLOPs/s");
    }
    at = read_byte(unit, power, doublings, bits);
    if (!at) return false;
    return kind == KEY_BYTES ? !*at && !*bits : is_rate(at);
}

bool unit_read(const char *text, enum key_unit kind, double *value)
{
    char decimal[64];
    size_t digits = strspn(text, "0123456789."), whole = strspn(text, "0123456789");
    const char *unit = text + digits + strspn(text + digits, " ");
    int power, doublings;
    bool bits;
    if (kind == KEY_UNITLESS || !whole || digits > 40 ||
        memchr(text + whole + (whole < digits), '.', digits - whole - (whole < digits)) ||
        !read_unit(unit, kind, &power, &doublings, &bits))
        return false;
    snprintf(decimal, sizeof decimal, "%.*se%d", (int)digits, text, power);
    *value = strtod(decimal, NULL) / (bits ? 8 : 1);
    for (; doublings > 0; doublings--) *value *= 2;
    return true;
}
