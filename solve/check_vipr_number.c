// Tokens and numbers of a VIPR file. Numbers are whole, fractions or finite decimals, and are bounded in length, as is what
// is worked out of them: GMP ends a process that it finds no memory for.
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "solve/check_vipr_parts.h"

enum status vipr_refuse(const struct vipr *v, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fail(v->err, BAD_INPUT, "%s: line %d: %s", v->file->file, v->line, text);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

enum status vipr_next(struct vipr *v)
{
    for (; v->at < v->end && is_blank(*v->at); v->at++) v->line += *v->at == '\n';
    v->token = v->at;
    for (; v->at < v->end && !is_blank(*v->at); v->at++)
        if ((unsigned char)*v->at < 0x20) return vipr_refuse(v, "a control character");
    v->length = (size_t)(v->at - v->token);
    if (!v->length) return vipr_refuse(v, "the file ends too early");
    memcpy(v->copy, v->token, v->length);
    v->copy[v->length] = '\0';
    v->token = v->copy;
    return OK;
}

enum status vipr_keyword(struct vipr *v, const char *word)
{
    TRY(vipr_next(v));
    return strcmp(v->token, word) ? vipr_refuse(v, "expected %s, found '%.40s'", word, v->token) : OK;
}

enum status vipr_integer(struct vipr *v, const char *what, int low, int high, int *to)
{
    TRY(vipr_next(v));
    const char *c = v->token;
    bool negative = *c == '-', whole = true;
    int64_t number = 0;
    c += negative;
    whole = *c != '\0' && v->length < 12;
    for (; whole && *c; c++) {
        whole = *c >= '0' && *c <= '9';
        number = 10 * number + (*c - '0');
    }
    if (negative) number = -number;
    if (!whole || number < low || number > high) return vipr_refuse(v, "%s: expected %d to %d, found '%.40s'", what, low, high, v->token);
    *to = (int)number;
    return OK;
}

// ---- rationals

static void clear_number(void *q) { mpq_clear(*(mpq_t *)q); }

void vipr_init(mpq_t q, struct arena *arena)
{
    mpq_init(q);
    arena_defer(arena, clear_number, (void *)q);
}

bool vipr_is_whole(const mpq_t q) { return mpz_cmp_ui(mpq_denref(q), 1) == 0; }

static bool are_digits(const char *from, const char *to)
{
    if (from == to) return false;
    for (; from < to; from++)
        if (*from < '0' || *from > '9') return false;
    return true;
}

// -12, 3/4, 0.25
enum status vipr_number(struct vipr *v, mpq_t to)
{
    char *start = v->copy, *digits = start + (*start == '-'), *end = start + v->length, *mark = strpbrk(start, "./");
    if (v->length > VIPR_DIGITS_MOST) return vipr_refuse(v, "a number of more than %d digits", VIPR_DIGITS_MOST);
    if (!are_digits(digits, mark ? mark : end) || (mark && !are_digits(mark + 1, end)))
        return vipr_refuse(v, "expected a number, found '%.40s'", v->token);
    uint64_t cost = v->length * (v->length / 64 + 1);
    if (v->work < cost) return VIPR_NOT_PROVEN(v, "the work limit is reached");
    v->work -= cost;
    bool is_fraction = mark && *mark == '/';
    size_t places = mark && !is_fraction ? (size_t)(end - mark - 1) : 0;
    if (is_fraction) *mark = '\0';
    else if (mark) memmove(mark, mark + 1, places + 1);
    mpz_set_str(mpq_numref(to), start, 10);
    if (is_fraction) mpz_set_str(mpq_denref(to), mark + 1, 10);
    else mpz_ui_pow_ui(mpq_denref(to), 10, places);
    if (mpz_sgn(mpq_denref(to)) == 0) return vipr_refuse(v, "a fraction with denominator 0");
    mpq_canonicalize(to);
    return OK;
}

static uint64_t limbs(const mpq_t q) { return 1 + mpz_size(mpq_numref(q)) + mpz_size(mpq_denref(q)); }

enum status vipr_spend(struct vipr *v, const mpq_t a, const mpq_t b)
{
    uint64_t cost = limbs(a) * limbs(b);
    if (limbs(a) + limbs(b) > VIPR_BITS_MOST / 64) return VIPR_NOT_PROVEN(v, "line %d: numbers of more bits than are checked", v->line);
    if (v->work < cost) return VIPR_NOT_PROVEN(v, "the work limit is reached");
    v->work -= cost;
    return OK;
}
