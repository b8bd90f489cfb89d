// Lines of the DER section: text, and the assumptions that each row depends on.
#include <string.h>

#include "data/base/grow.h"
#include "solve/certificate/vipr/internal.h"

const struct claim vipr_absurd = {.sense = 'G', .right = 1};

// ---- text

static void vipr_print_wide(struct text *t, wide value)
{
    char digits[48];
    int at = (int)sizeof digits;
    bool negative = value < 0;
    do digits[--at] = (char)('0' + (int)(negative ? -(value % 10) : value % 10));
    while (value /= 10);
    if (negative) digits[--at] = '-';
    GROW_BYTES(t->arena, t->text, t->length, sizeof digits, t->capacity);
    memcpy(t->text + t->length, digits + at, sizeof digits - (size_t)at);
    t->length += sizeof digits - (size_t)at;
}

static wide common_divisor(wide a, wide b)
{
    while (b) {
        wide rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

static void print_quotient(struct text *t, wide value, wide divisor)
{
    wide common = divisor < 0 ? -common_divisor(value, divisor) : common_divisor(value, divisor);
    vipr_print_wide(t, value / common);
    if (divisor / common == 1) return;
    text_put(t, "/");
    vipr_print_wide(t, divisor / common);
}

// ---- sets

static struct row_set set_of(const struct vipr_maker *m, int row)
{
    return row < m->constraint_count ? (struct row_set){NULL, 0}
                                     : m->sets[row - m->constraint_count];
}

static struct row_set join(const struct vipr_maker *m, struct row_set a, struct row_set b,
                           int without)
{
    int *items = TAKE(m->arena, a.count + b.count, int), n = 0;
    for (int i = 0, k = 0; i < a.count || k < b.count;) {
        int x = i < a.count && (k == b.count || a.items[i] <= b.items[k]) ? a.items[i] : b.items[k];
        i += i < a.count && a.items[i] == x;
        k += k < b.count && b.items[k] == x;
        if (x != without) items[n++] = x;
    }
    return (struct row_set){items, n};
}

bool vipr_rests_on(const struct vipr_maker *m, int row, int assumption)
{
    struct row_set s = set_of(m, row);
    for (int i = 0; i < s.count; i++)
        if (s.items[i] == assumption) return true;
    return false;
}

// ---- lines

static int open_line(struct vipr_maker *m, const struct claim *claim)
{
    struct text *t = &m->lines;
    GROW(m->arena, m->sets, m->line_count, m->line_capacity, 256);
    int row = m->constraint_count + m->line_count++;
    text_put(t, "d%d %c %lld ", row, claim->sense, (long long)claim->right);
    if (claim->objective) text_put(t, "OBJ");
    else text_put(t, "%d", claim->count);
    for (int i = 0; i < claim->count; i++) text_put(t, " %d 1", claim->columns[i]);
    return row;
}

int vipr_assume(struct vipr_maker *m, const struct claim *claim)
{
    int row = open_line(m, claim), *self = TAKE(m->arena, 1, int);
    text_put(&m->lines, " { asm } -1\n");
    *self = row;
    m->sets[row - m->constraint_count] = (struct row_set){self, 1};
    return row;
}

// An absurdity can be scaled by any factor, so the shortest numbers are used.
static wide common_factor(const struct combination *c)
{
    wide common = 0;
    for (int i = 0; i < c->count && common != 1; i++) common = common_divisor(common, c->values[i]);
    return common ? common : 1;
}

int vipr_combine(struct vipr_maker *m, const struct claim *claim, bool rounds, wide divisor)
{
    const struct combination *c = &m->sum;
    if (claim == &vipr_absurd) divisor = common_factor(c);
    struct row_set set = {NULL, 0};
    int row = open_line(m, claim);
    text_put(&m->lines, " { %s %d", rounds ? "rnd" : "lin", c->count);
    for (int i = 0; i < c->count; i++) {
        text_put(&m->lines, " %d ", c->rows[i]);
        print_quotient(&m->lines, c->values[i], divisor);
        struct row_set of = set_of(m, c->rows[i]);
        if (of.count) set = join(m, set, of, -1);
    }
    text_put(&m->lines, " } -1\n");
    m->sets[row - m->constraint_count] = set;
    return row;
}

int vipr_unsplit(struct vipr_maker *m, const struct claim *claim, int low, int low_side, int high,
                 int high_side)
{
    int row = open_line(m, claim);
    text_put(&m->lines, " { uns %d %d %d %d } -1\n", low, low_side, high, high_side);
    struct row_set a = join(m, set_of(m, low), (struct row_set){NULL, 0}, low_side),
                   b = join(m, set_of(m, high), (struct row_set){NULL, 0}, high_side);
    m->sets[row - m->constraint_count] = join(m, a, b, -1);
    return row;
}

// ---- combinations

void sum_begin(struct combination *c)
{
    c->count = 0;
    c->right = 0;
}

void sum_add(struct vipr_maker *m, int row, wide value, int64_t right)
{
    struct combination *c = &m->sum;
    wide term;
    if (value == 0) return;
    if (c->count == c->capacity) {
        int capacity = 2 * c->capacity + 256;
        c->rows =
            arena_grow(m->arena, c->rows, (size_t)c->count, (size_t)capacity, sizeof *c->rows);
        c->values =
            arena_grow(m->arena, c->values, (size_t)c->count, (size_t)capacity, sizeof *c->values);
        c->capacity = capacity;
    }
    c->bad |= __builtin_mul_overflow(value, (wide)right, &term);
    c->bad |= __builtin_add_overflow(c->right, term, &c->right);
    c->rows[c->count] = row;
    c->values[c->count++] = value;
}
