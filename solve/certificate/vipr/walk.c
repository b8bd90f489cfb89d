// The tree's records as derivations. In every box everything is derived under the assumptions of
// its splits and of T below the target. A box ends in an absurdity, and two halves are joined by a
// disjunction over whole numbers.
//
// Each box has one row per stage: the sum of the excluded choices is at most 0. Choices excluded
// by their reduced cost are excluded together. The reduced costs times the choices sum to less
// than what is missing to the target; divided by the least cost of those excluded and rounded
// down, their sum is at most 0.
#include <string.h>

#include "solve/certificate/vipr/internal.h"

struct node {
    struct box box; // what is allowed
    int *fact;      // [stage]: row "the excluded ones sum to 0 at most", -1: nothing is out
};

static const struct program *program_of(const struct vipr_maker *m) { return &m->program; }

static struct node copy_node(const struct vipr_maker *m, const struct node *of)
{
    const struct program *p = program_of(m);
    struct node n = *of;
    box_copy(&n.box, &of->box, p, m->arena);
    n.fact = TAKE_COPY(m->arena, of->fact, p->stage_count);
    return n;
}

// Columns of a stage's allowed, or excluded, choices.
static struct claim claim_of(const struct vipr_maker *m, const struct box *box, int stage,
                             bool allowed, char sense, int64_t right)
{
    const struct program *p = program_of(m);
    int *columns = TAKE(m->arena, p->first_choice[stage + 1] - p->first_choice[stage], int),
        count = 0;
    for (int i = p->first_choice[stage]; i < p->first_choice[stage + 1]; i++)
        if (box_allows(box, i) == allowed) columns[count++] = p->column_of[i];
    return (struct claim){sense, right, columns, count, false};
}

// ---- the row "one choice" of a stage

static bool is_of_stage(const struct vipr_maker *m, const struct milp_row *r, int stage)
{
    const struct milp_column *c = r->count ? &m->milp->columns[m->milp->entry_column[r->first]]
                                           : NULL;
    return c && c->a == stage;
}

static int one_choice(struct vipr_maker *m, int stage)
{
    const struct program *p = program_of(m);
    struct box none = {.allowed = TAKE(m->arena, box_words(p), uint64_t)};
    int choose = -1, chosen_rows = 0;
    if (m->one_row[stage] >= 0) return m->one_row[stage];
    sum_begin(&m->sum);
    for (int i = 0; i < p->first_path_row; i++) {
        const struct milp_row *r = &m->milp->rows[i];
        // A stage without any choice has an empty row, identified by its position.
        if (r->role == ROW_CHOOSE_ONE && chosen_rows++ == stage) choose = i;
        else if (r->role != ROW_LINK_STATE || !is_of_stage(m, r, stage)) continue;
        sum_add(m, m->row_of[i], 1, r->right);
    }
    if (m->sum.count == 1) return m->one_row[stage] = m->row_of[choose];
    struct claim claim = claim_of(m, &none, stage, false, 'E', 1);
    return m->one_row[stage] = vipr_combine(m, &claim, false, 1);
}

// ---- multipliers of the program's rows in a box

static wide residual(const struct vipr_maker *m, int column)
{
    return m->scratch.is_touched[column] ? m->scratch.residual[column] : 0;
}

static void add_multipliers(struct vipr_maker *m, const struct multipliers *y)
{
    for (int k = 0; k < y->count; k++) {
        const struct milp_row *r = &m->milp->rows[y->rows[k]];
        wide value = milp_row_in_time(m->milp, r) ? (wide)y->values[k]
                                                  : (wide)y->values[k] * ((wide)1 << y->unit_log2);
        sum_add(m, m->row_of[y->rows[k]], value, r->right);
    }
}

// Every remaining column except the choices, by its bounds; the time, by its assumed upper bound.
static void add_bounds(struct vipr_maker *m)
{
    wide time = ((wide)1 << BOUND_FRACTION_BITS) - residual(m, 0);
    const struct milp_column *columns = m->milp->columns;
    sum_add(m, time > 0 ? m->below : vipr_lower(0), -time,
            time > 0 ? m->target_ns - 1 : columns[0].lower);
    for (int k = 0; k < m->scratch.touched_count; k++) {
        int j = m->scratch.touched[k];
        if (j == 0 || columns[j].role == COLUMN_CHOICE) continue;
        wide r = residual(m, j);
        sum_add(m, r > 0 ? vipr_lower(j) : vipr_upper(j), r,
                r > 0 ? columns[j].lower : columns[j].upper);
    }
}

// The choices. Those in `leave` keep what the caller needs (see below).
static void add_choices(struct vipr_maker *m, const struct node *n, const uint64_t *leave)
{
    const struct program *p = program_of(m);
    for (int s = 0; s < p->stage_count; s++) {
        wide most = 0;
        for (int i = p->first_choice[s]; i < p->first_choice[s + 1]; i++)
            if (!box_allows(&n->box, i) && -residual(m, p->column_of[i]) > most)
                most = -residual(m, p->column_of[i]);
        if (most) sum_add(m, n->fact[s], -most, 0);
        for (int i = p->first_choice[s]; i < p->first_choice[s + 1]; i++) {
            int j = p->column_of[i];
            wide r = residual(m, j);
            if (leave && leave[i / 64] >> (i % 64) & 1) continue;
            if (!box_allows(&n->box, i)) sum_add(m, vipr_lower(j), r + most, 0);
            else sum_add(m, r > 0 ? vipr_lower(j) : vipr_upper(j), r, r > 0 ? 0 : 1);
        }
    }
}

static enum status sum_box(struct vipr_maker *m, const struct node *n, const struct multipliers *y,
                           const uint64_t *leave, struct error *err)
{
    int64_t bound_ns;
    box_close_columns(&n->box, program_of(m), m->closed);
    if (!bound_evaluate(&bound_ns, NULL, m->milp, m->closed, y, &m->scratch))
        return fail(err, SOLVER, "VIPR: multipliers that prove nothing");
    sum_begin(&m->sum);
    add_multipliers(m, y);
    add_bounds(m);
    add_choices(m, n, leave);
    return m->sum.bad ? fail(err, SOLVER, "VIPR: a sum exceeds 128 bits") : OK;
}

static enum status close_box(struct vipr_maker *m, const struct node *n,
                             const struct multipliers *y, int *row, struct error *err)
{
    TRY(sum_box(m, n, y, NULL, err));
    if (m->sum.right <= 0)
        return fail(err, SOLVER, "VIPR: a box's multipliers do not reach the bound");
    *row = vipr_combine(m, &vipr_absurd, false, 1);
    return OK;
}

// A stage has no choice left.
static enum status close_empty(struct vipr_maker *m, const struct node *n, int *row,
                               struct error *err)
{
    for (int s = 0; s < program_of(m)->stage_count; s++) {
        if (box_allowed_count(&n->box, program_of(m), s)) continue;
        int one = one_choice(m, s);
        sum_begin(&m->sum);
        sum_add(m, one, 1, 1);
        if (n->fact[s] >= 0) sum_add(m, n->fact[s], -1, 0);
        *row = vipr_combine(m, &vipr_absurd, false, 1);
        return OK;
    }
    return fail(err, SOLVER, "VIPR: a box stated to be empty that is not");
}

// ---- excluding choices

// A power of two keeps the fractions short; any number above what is missing and not above any
// cost is valid.
static wide divisor_between(wide missing, wide least)
{
    wide power = 1;
    while (power <= least / 2) power *= 2;
    return power > missing ? power : least;
}

static enum status remove_choices(struct vipr_maker *m, struct node *n, const struct record *r,
                                  struct error *err)
{
    const struct program *p = program_of(m);
    int *columns = TAKE(m->arena, p->choice_count, int), count = 0;
    wide least = -1;
    TRY(sum_box(m, n, &r->proof, r->removed, err));
    for (int i = 0; i < p->choice_count; i++) {
        if (!(r->removed[i / 64] >> (i % 64) & 1)) continue;
        wide cost = residual(m, p->column_of[i]);
        if (least < 0 || cost < least) least = cost;
        columns[count++] = p->column_of[i];
    }
    wide missing = m->sum.right < 0 ? -m->sum.right : 0;
    if (least <= missing) return fail(err, SOLVER, "VIPR: a choice removed that may be better");
    wide divisor = divisor_between(missing, least);
    for (int i = 0; i < count; i++)
        sum_add(m, vipr_lower(columns[i]), residual(m, columns[i]) - divisor, 0);
    struct claim claim = {'L', 0, columns, count, false};
    int all = vipr_combine(m, &claim, true, -divisor);
    for (int s = 0; s < p->stage_count; s++) {
        bool some = false;
        sum_begin(&m->sum);
        sum_add(m, all, 1, 0);
        if (n->fact[s] >= 0) sum_add(m, n->fact[s], 1, 0);
        for (int i = 0; i < p->choice_count; i++) {
            if (!(r->removed[i / 64] >> (i % 64) & 1)) continue;
            if (p->stage_of[i] == s) some = true, box_forbid(&n->box, i);
            else sum_add(m, vipr_lower(p->column_of[i]), -1, 0);
        }
        if (!some) continue;
        if (m->sum.count == 1) {
            n->fact[s] = all;
            continue;
        }
        claim = claim_of(m, &n->box, s, false, 'L', 0);
        n->fact[s] = vipr_combine(m, &claim, false, 1);
    }
    return OK;
}

// ---- splits

static enum status walk_box(struct vipr_maker *m, int64_t number, struct node *n, int *row,
                            struct error *err);

static bool stands_above(const struct vipr_maker *m, const struct split *s, int choice)
{
    return s->by_load ? m->program.load_ns[choice] >= s->load_ns : choice == s->choice;
}

static struct claim side_of(const struct vipr_maker *m, const struct node *n, const struct split *s,
                            bool above)
{
    const struct program *p = program_of(m);
    int *columns = TAKE(m->arena, p->first_choice[s->stage + 1] - p->first_choice[s->stage], int),
        count = 0;
    for (int i = p->first_choice[s->stage]; i < p->first_choice[s->stage + 1]; i++)
        if (box_allows(&n->box, i) && stands_above(m, s, i)) columns[count++] = p->column_of[i];
    return (struct claim){above ? 'G' : 'L', above, columns, count, false};
}

// The half without (above: with) a choice of the sum, under its assumption.
static struct node enter_half(struct vipr_maker *m, const struct node *of, const struct split *s,
                              bool above, int side)
{
    const struct program *p = program_of(m);
    struct node n = copy_node(m, of);
    for (int i = p->first_choice[s->stage]; i < p->first_choice[s->stage + 1]; i++)
        if (stands_above(m, s, i) != above) box_forbid(&n.box, i);
    int other = above ? one_choice(m, s->stage) : of->fact[s->stage];
    if (other < 0) {
        n.fact[s->stage] = side;
        return n;
    }
    sum_begin(&m->sum);
    sum_add(m, other, 1, above);
    sum_add(m, side, above ? -1 : 1, above);
    struct claim claim = claim_of(m, &n.box, s->stage, false, 'L', 0);
    n.fact[s->stage] = vipr_combine(m, &claim, false, 1);
    return n;
}

// A half that does not use its assumption holds for both.
static enum status walk_split(struct vipr_maker *m, const struct record *r, const struct node *n,
                              int *row, struct error *err)
{
    int rows[2], sides[2];
    for (int above = 0; above < 2; above++) {
        struct claim claim = side_of(m, n, &r->split, above);
        sides[above] = vipr_assume(m, &claim);
        struct node half = enter_half(m, n, &r->split, above, sides[above]);
        bool is_first = r->split.by_load ? !above : above;
        TRY(walk_box(m, r->first + !is_first, &half, &rows[above], err));
        *row = rows[above];
        if (!vipr_rests_on(m, rows[above], sides[above])) return OK;
    }
    *row = vipr_unsplit(m, &vipr_absurd, rows[0], sides[0], rows[1], sides[1]);
    return OK;
}

static enum status walk_box(struct vipr_maker *m, int64_t number, struct node *n, int *row,
                            struct error *err)
{
    const struct program *p = program_of(m);
    for (int k = m->first_record[number]; k >= 0; k = m->next_record[k]) {
        const struct record *r = &m->tree.records.items[k];
        if (memcmp(r->allowed, n->box.allowed, (size_t)box_words(p) * sizeof *r->allowed))
            return fail(err, SOLVER, "VIPR: a record of another box");
        switch (r->kind) {
        case RECORD_REMOVED: TRY(remove_choices(m, n, r, err)); break;
        case RECORD_CLOSED: return close_box(m, n, &r->proof, row, err);
        case RECORD_LEAF: return close_box(m, n, &m->leaf_proof[k], row, err);
        case RECORD_EMPTY: return close_empty(m, n, row, err);
        case RECORD_SPLIT: return walk_split(m, r, n, row, err);
        }
    }
    return fail(err, SOLVER, "VIPR: a box that is not closed");
}

enum status vipr_walk(struct vipr_maker *m, int *row, struct error *err)
{
    int stages = m->program.stage_count;
    struct node root = {.fact = TAKE(m->arena, stages, int)};
    box_whole(&root.box, &m->program, m->arena);
    for (int s = 0; s < stages; s++) root.fact[s] = -1;
    return walk_box(m, 0, &root, row, err);
}
