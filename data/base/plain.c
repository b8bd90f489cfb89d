// Looks for what must not be printed.
#include "data/base/plain.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Bytes of the UTF-8 sequence at p, which ends before end; 0: it is none.
static int utf8_length(const unsigned char *p, const unsigned char *end)
{
    if (*p < 0x80) return 1;
    int n = *p >= 0xf0 && *p <= 0xf4 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 && *p <= 0xdf ? 2 : 0;
    if (!n || *p > 0xf4 || end - p < n) return 0;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f)) return 0;
    if ((*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f)) return 0;
    return n;
}

static unsigned code_at(const unsigned char *p, int length)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = p[0] & masks[length];
    for (int i = 1; i < length; i++) code = code << 6 | (p[i] & 0x3f);
    return code;
}

static const char *what_is(unsigned code)
{
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return "control character";
    if (code == 0x2028 || code == 0x2029) return "line separator";
    bool turns = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return turns ? "direction mark" : NULL;
}

// Eight bytes from blank to tilde: none has its highest bit, is below a blank, or is DEL.
static bool eight_are_plain(const unsigned char *p)
{
    const uint64_t each = 0x0101010101010101;
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return !((word | (word - ' ' * each) | (word + each)) & 0x80 * each);
}

bool text_is_plain(const char *text, size_t length, char found[PLAIN_FOUND_MAX])
{
    const unsigned char *p = (const unsigned char *)text, *end = p + length;
    for (int n; p < end; p += n) {
        n = 8;
        if (end - p >= n && eight_are_plain(p)) continue;
        n = 1;
        if (*p >= ' ' && *p < 0x7f) continue;
        n = utf8_length(p, end);
        const char *what = n ? what_is(code_at(p, n)) : "byte that is not UTF-8,";
        if (!what) continue;
        if (n) snprintf(found, PLAIN_FOUND_MAX, "%s U+%04X", what, code_at(p, n));
        else snprintf(found, PLAIN_FOUND_MAX, "%s 0x%02X", what, *p);
        return false;
    }
    return true;
}

void plain_make(char *text)
{
    char found[PLAIN_FOUND_MAX];
    const unsigned char *end = (unsigned char *)text + strlen(text);
    for (int n; *text; text += n) {
        n = utf8_length((unsigned char *)text, end);
        if (n && !text_is_plain(text, (size_t)n, found)) memset(text, ' ', (size_t)n);
        if (!n) *text = '?', n = 1;
    }
}

enum status plain_check(const char *text, const char *where, struct error *err)
{
    char found[PLAIN_FOUND_MAX];
    if (text_is_plain(text, strlen(text), found)) return OK;
    return refuse(err, "%s: expected plain text, found a %s", where, found);
}
