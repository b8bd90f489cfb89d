// See tokens.h.
#include "data/import/hosts/tokens.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/names.h"
#include "data/import/gpus.h"

bool token_is(const struct tokens *p, int i, const char *words)
{
    return i >= 0 && i < p->count && *p->tokens[i].text &&
           name_is_listed(words, p->tokens[i].text, strlen(p->tokens[i].text));
}
bool token_is_number(const struct tokens *p, int i)
{
    return i >= 0 && i < p->count && !isnan(p->tokens[i].value);
}
bool token_is_count(const struct tokens *p, int i, double most)
{
    return token_is_number(p, i) && !*p->tokens[i].text && p->tokens[i].value >= 1 &&
           p->tokens[i].value <= most && p->tokens[i].value == floor(p->tokens[i].value);
}

bool tokens_have(const struct tokens *p, const char *words)
{
    for (int i = 0; i < p->count; i++)
        if (token_is(p, i, words)) return true;
    return false;
}

static const char fillers[] =
    "nvidia amd tesla geforce quadro instinct rtx gtx radeon pro ampere hopper blackwell ada of x "
    "sxm sxm2 sxm3 sxm4 sxm5 sxm6 pcie pcie4 pcie5 nvl oam hbm2 hbm2e hbm3 hbm3e gddr6 gddr6x gpu "
    "gpus tensor core hgx dgx high end interconnected nvlinked local gb gib g vram class";

int token_memory(const struct tokens *p, int i)
{
    static const char units[] = "gb gib g";
    if (!token_is_number(p, i) || p->tokens[i].value < 8 || p->tokens[i].value > 320) return 0;
    bool own = token_is(p, i, units), next = !*p->tokens[i].text && token_is(p, i + 1, units);
    return (own || next) && !token_is(p, i + 1 + next,
                                      "ram ddr4 ddr5 system host dram cpu storage ssd "
                                      "nvme disk")
               ? (int)p->tokens[i].value
               : 0;
}

bool token_is_filler(const struct tokens *p, int i)
{
    return token_is(p, i, fillers) || token_memory(p, i);
}

static void put_token(struct tokens *p, double value, int gpu, const char *text, size_t length)
{
    if (p->count == TOKENS_MOST) return;
    struct token *t = &p->tokens[p->count++];
    *t = (struct token){.value = value, .gpu = gpu};
    for (size_t i = 0; i < length && i < TOKEN_TEXT - 1; i++)
        t->text[i] = (char)tolower((unsigned char)text[i]);
    if (length == 4 && (!strncmp(text, "GB/s", 4) || !strncmp(text, "GBps", 4)))
        memcpy(t->text, "bytes", sizeof "bytes");
}

// "4090" of "RTX 4090": a number only where no maker's word is before it.
static bool is_card(const struct tokens *p, const char *word, size_t length)
{
    return gpu_at(word, length) >= 0 &&
           (!isdigit((unsigned char)*word) ||
            token_is(p, p->count - 1, "rtx geforce gtx nvidia ascend"));
}

static const char *put_number(struct tokens *p, const char *s)
{
    char digits[TOKEN_TEXT] = "";
    size_t length = 0, word = 0;
    while (isalnum((unsigned char)s[word])) word++;
    if (is_card(p, s, word)) return put_token(p, NAN, gpu_at(s, word), s, word), s + word;
    for (; isdigit((unsigned char)*s) ||
           ((*s == ',' || *s == '.') && isdigit((unsigned char)s[1]) &&
            (*s == '.' || (isdigit((unsigned char)s[2]) && isdigit((unsigned char)s[3]))));
         s++)
        if (*s != ',' && length < TOKEN_TEXT - 1) digits[length++] = *s;
    size_t after = 1, unit = 0;
    bool times = *s == 'x' || *s == 'X';
    while (times && isalnum((unsigned char)s[after])) after++;
    times = times && (!isalpha((unsigned char)s[1]) || isupper((unsigned char)s[1]) ||
                      gpu_at(s + 1, after - 1) >= 0); // "8xH100", "4xGPU"
    while (!times && (isalpha((unsigned char)s[unit]) || (unit && s[unit] == '/'))) unit++;
    put_token(p, strtod(digits, NULL), -1, s, unit);
    s += unit;
    if (times) put_token(p, NAN, -1, "x", 1), s++;
    return s;
}

static const char *put_word(struct tokens *p, const char *s)
{
    size_t length = 0, name = 0;
    while (isalnum((unsigned char)s[length])) length++;
    if (!strncmp(s + length, "/s", 2) && !isalnum((unsigned char)s[length + 2])) // "Gb/s"
        return put_token(p, NAN, -1, s, length + 2), s + length + 2;
    // "H100x8"
    for (size_t i = 2; i + 1 < length && !name; i++)
        if ((s[i] == 'x' || s[i] == 'X') && isdigit((unsigned char)s[i + 1]) && gpu_at(s, i) >= 0)
            name = i;
    if (!name) return put_token(p, NAN, gpu_at(s, length), s, length), s + length;
    put_token(p, NAN, gpu_at(s, name), s, name), put_token(p, NAN, -1, "x", 1);
    return s + name + 1;
}

void tokens_cut(struct tokens *p, const char *s)
{
    for (p->count = 0; *s;) {
        bool times = !strncmp(s, "\xc3\x97", 2), dash = !strncmp(s, "\xe2\x80\x93", 3);
        if (isdigit((unsigned char)*s)) s = put_number(p, s);
        else if ((*s == 'x' || *s == 'X') && !isalpha((unsigned char)s[1]))
            put_token(p, NAN, -1, "x", 1), s++;
        else if (isalpha((unsigned char)*s)) {
            const char *word = s;
            s = put_word(p, s);
            int value = count_word(word, (size_t)(s - word));
            bool half = token_is(p, p->count - 2, "a") && token_is(p, p->count - 3, "half");
            if (value >= 12 && token_is_count(p, p->count - 2, 1024)) // "3 dozen"
                value *= (int)p->tokens[p->count-- - 2].value;
            if (value)
                p->tokens[p->count - 1] =
                    (struct token){.value = half ? value / 2 : value, .gpu = -1};
        } else {
            bool star = *s == '*' && s[1] != '*' && p->count && s[-1] != '*' &&
                        isalnum((unsigned char)s[1 + strspn(s + 1, " ")]) &&
                        !token_is(p, p->count - 1, "|");
            bool range = (dash || *s == '-') && token_is_count(p, p->count - 1, 65536) &&
                         isdigit((unsigned char)s[-1]) && isdigit((unsigned char)s[dash ? 3 : 1]);
            if (times || star) put_token(p, NAN, -1, "x", 1);
            else if (range) put_token(p, NAN, -1, "-", 1);
            else if (strchr("|,;:+/", *s)) put_token(p, NAN, -1, s, 1);
            s += dash ? 3 : times ? 2 : 1;
        }
    }
}
