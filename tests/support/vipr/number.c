// Tokens and numbers of a VIPR file. Numbers are integers, fractions or finite decimals, and
// limited in length, as are results computed from them: GMP ends the process if it has no memory.
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/vipr/internal.h"

enum status vipr_refuse(const struct vipr *v, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return refuse(v->err, "%s: line %d: %s", v->file->file, v->line, text);
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
    return strcmp(v->token, word) ? vipr_refuse(v, "expected %s, found '%.40s'", word, v->token)
                                  : OK;
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
    if (!whole || number < low || number > high)
        return vipr_refuse(v, "%s: expected %d to %d, found '%.40s'", what, low, high, v->token);
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
    char *start = v->copy, *digits = start + (*start == '-'), *end = start + v->length,
         *mark = strpbrk(start, "./");
    if (v->length > VIPR_DIGITS_MOST)
        return vipr_refuse(v, "a number of more than %d digits", VIPR_DIGITS_MOST);
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

// What GMP takes counts as ours. It cannot do without: what the limit does not allow it gets all
// the same, and the next operation is refused (vipr_spend).
enum { OVERHEAD_BYTES = 16 };
static size_t beyond_bytes; // taken although the limit refused them

static void count(size_t bytes)
{
    if (!memory_hold(bytes + OVERHEAD_BYTES)) beyond_bytes += bytes + OVERHEAD_BYTES;
}

static void discount(size_t bytes)
{
    bytes += OVERHEAD_BYTES;
    size_t beyond = bytes < beyond_bytes ? bytes : beyond_bytes;
    beyond_bytes -= beyond;
    memory_release(bytes - beyond);
}

static void *count_taken(size_t bytes)
{
    count(bytes);
    void *memory = malloc(bytes);
    if (!memory) abort();
    return memory;
}

static void count_given(void *memory, size_t bytes)
{
    discount(bytes);
    free(memory);
}

static void *count_changed(void *memory, size_t old_bytes, size_t bytes)
{
    count(bytes);
    discount(old_bytes);
    memory = realloc(memory, bytes);
    if (!memory) abort();
    return memory;
}

void vipr_count_memory(void) { mp_set_memory_functions(count_taken, count_changed, count_given); }

static uint64_t limbs(const mpq_t q)
{
    return 1 + mpz_size(mpq_numref(q)) + mpz_size(mpq_denref(q));
}

enum status vipr_spend(struct vipr *v, const mpq_t a, const mpq_t b)
{
    uint64_t cost = limbs(a) * limbs(b);
    if (limbs(a) + limbs(b) > VIPR_BITS_MOST / 64)
        return VIPR_NOT_PROVEN(v, "line %d: numbers of more bits than are checked", v->line);
    if (v->work < cost) return VIPR_NOT_PROVEN(v, "the work limit is reached");
    if (memory_limit_is_met()) return VIPR_NOT_PROVEN(v, "the memory limit is reached");
    v->work -= cost;
    return OK;
}

// ---- numbers that stay

struct big {
    int top, bottom;
    mp_limb_t limbs[];
}; // limbs of the numerator, with its sign, and of the denominator

struct vipr_value vipr_keep(const mpq_t q, struct arena *arena)
{
    mpz_srcptr top = mpq_numref(q), bottom = mpq_denref(q);
    if (vipr_is_whole(q) && mpz_fits_slong_p(top)) {
        int64_t number = mpz_get_si(top), most = (int64_t)1 << 62;
        if (number > -most && number < most) return (struct vipr_value){(uintptr_t)number << 1 | 1};
    }
    size_t tops = mpz_size(top), bottoms = mpz_size(bottom);
    struct big *big = arena_take(arena, sizeof *big + (tops + bottoms) * sizeof *big->limbs, 1);
    *big = (struct big){mpz_sgn(top) * (int)tops, (int)bottoms};
    memcpy(big->limbs, mpz_limbs_read(top), tops * sizeof *big->limbs);
    memcpy(big->limbs + tops, mpz_limbs_read(bottom), bottoms * sizeof *big->limbs);
    return (struct vipr_value){(uintptr_t)big};
}

mpq_srcptr vipr_see(struct vipr_view *view, struct vipr_value value)
{
    if (value.word & 1) {
        int64_t number = (int64_t)value.word >> 1;
        view->own[0] = (mp_limb_t)(number < 0 ? -number : number);
        view->own[1] = 1;
        mpz_roinit_n(mpq_numref(view->number), &view->own[0], (number > 0) - (number < 0));
        mpz_roinit_n(mpq_denref(view->number), &view->own[1], 1);
        return view->number;
    }
    const struct big *big = (const struct big *)value.word;
    int tops = big->top < 0 ? -big->top : big->top;
    mpz_roinit_n(mpq_numref(view->number), big->limbs, big->top);
    mpz_roinit_n(mpq_denref(view->number), big->limbs + tops, big->bottom);
    return view->number;
}

bool vipr_same(struct vipr_value a, struct vipr_value b)
{
    struct vipr_view x, y;
    if (a.word == b.word) return true;
    return !((a.word | b.word) & 1) && mpq_equal(vipr_see(&x, a), vipr_see(&y, b));
}

// ---- the current sum

static void clear_all_sums(void *object)
{
    struct vipr *v = object;
    for (int i = 0; i < v->sums_ready; i++) mpq_clear(v->sums[i / VIPR_SUMS][i % VIPR_SUMS]);
    v->sums_ready = 0;
}

void vipr_open_sums(struct vipr *v)
{
    v->place = TAKE(v->arena, v->variables, int);
    v->touched_columns = TAKE(v->arena, v->variables, int);
    v->sums = TAKE(v->arena, v->variables / VIPR_SUMS + 1, mpq_t *);
    vipr_init(v->sum_right, v->arena);
    vipr_init(v->scratch, v->arena);
    arena_defer(v->arena, clear_all_sums, v);
}

mpq_t *vipr_sum(struct vipr *v, int column)
{
    if (!v->place[column]) {
        int i = v->touched_count++;
        v->touched_columns[i] = column;
        v->place[column] = i + 1;
        if (i == v->sums_ready) {
            mpq_t **chunk = &v->sums[i / VIPR_SUMS];
            if (i % VIPR_SUMS == 0) *chunk = TAKE(v->arena, VIPR_SUMS, mpq_t);
            mpq_init((*chunk)[i % VIPR_SUMS]);
            v->sums_ready++;
        }
    }
    int at = v->place[column] - 1;
    return &v->sums[at / VIPR_SUMS][at % VIPR_SUMS];
}

void vipr_clear_sums(struct vipr *v)
{
    enum { LIMBS_KEPT = 8 };
    for (int i = 0; i < v->touched_count; i++) {
        mpq_t *sum = &v->sums[i / VIPR_SUMS][i % VIPR_SUMS];
        v->place[v->touched_columns[i]] = 0;
        if (limbs(*sum) > LIMBS_KEPT) {
            mpq_clear(*sum);
            mpq_init(*sum);
        } else mpq_set_ui(*sum, 0, 1);
    }
    v->touched_count = v->sum_sense = 0;
    mpq_set_ui(v->sum_right, 0, 1);
}
