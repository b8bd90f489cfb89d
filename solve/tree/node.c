// The tree's inner loop. Only bound_evaluate closes a box; the simplex method's own numbers only
// decide where to look: which path is violated, which level is fractional.
#include "solve/tree/node.h"

enum { PATHS_AT_ONCE = 6, PRICE_RAISES = 4 };
static const double violated_ns = 0.3;

static enum lp_status relax(struct subtree *t, double limit_ns)
{
    for (int method = t->job->attempt ? LP_DUAL_FROM_SCRATCH : LP_DUAL; method < LP_METHOD_COUNT;
         method++) {
        t->result->relaxations++;
        enum lp_status status = lp_solve(t->lp, (enum lp_method)method, limit_ns);
        if (status != LP_FAILED) return status;
    }
    return LP_FAILED;
}

const struct level_rows *level_rows_find(const struct program *p, struct arena *arena)
{
    struct level_rows *rows = TAKE(arena, 1, struct level_rows);
    const struct formulation *f = p->formulation;
    rows->of_level = TAKE(arena, p->stage_count, int *);
    rows->stage_of_row = TAKE(arena, p->first_path_row, int);
    for (int s = 0; s < p->stage_count; s++)
        rows->of_level[s] = TAKE(arena, f->level_count[s] + 1, int);
    for (int i = 0; i < p->first_path_row; i++) {
        const struct milp_row *row = &f->milp.rows[i];
        const struct milp_column *first = &f->milp.columns[f->milp.entry_column[row->first]];
        bool one = row->role == ROW_CHOOSE_ONE || row->role == ROW_LINK_STATE;
        rows->stage_of_row[i] = one ? first->a : -1;
        for (int e = row->first; row->role == ROW_LEVEL && e < row->first + row->count; e++) {
            const struct milp_column *c = &f->milp.columns[f->milp.entry_column[e]];
            if (c->role == COLUMN_LEVEL && f->milp.entry_value[e] == 1)
                rows->of_level[c->a][c->b] = i;
        }
    }
    return rows;
}

// Boxes know nothing of levels: a level that is reached is a set of choices that are closed. What
// the multipliers of level rows say is therefore moved into the rows that give each stage one
// choice (docs/PROOFS.md 5): for each stage, what is added there. NULL: there are no levels.
static double *levels_moved(struct subtree *t)
{
    const struct formulation *f = t->program->formulation;
    if (!t->levels) return NULL;
    double *moved = TAKE(t->arena, t->program->stage_count, double);
    for (int s = 0; s < t->program->stage_count; s++) {
        int reached = f->level_count[s] - 1;
        while (reached > 0 && lp_value(t->lp, f->level_column[s][reached]) < 1 - 1e-7) reached--;
        if (reached <= 0) continue;
        moved[s] = -lp_multiplier(t->lp, lp_index_of(t->lp, t->levels->of_level[s][reached]));
    }
    return moved;
}

bool bound_box(struct subtree *t, struct box *box, wide *exact)
{
    struct arena_mark mark = arena_set_mark(t->arena);
    int n = lp_row_count(t->lp), used = 0;
    int *rows = TAKE(t->arena, n, int);
    double *values = TAKE(t->arena, n, double), *moved = levels_moved(t);
    for (int i = 0; i < n; i++) {
        double y = lp_multiplier(t->lp, i);
        int row = lp_row_of(t->lp, i);
        enum row_role role = t->program->formulation->milp.rows[row].role;
        if (role == ROW_LEVEL) continue;
        if (moved && row < t->program->first_path_row && t->levels->stage_of_row[row] >= 0)
            y += moved[t->levels->stage_of_row[row]];
        if (y == 0 && role != ROW_SYMBOL) continue;
        rows[used] = row, values[used++] = y;
    }
    struct multipliers y;
    int64_t bound_ns;
    bound_round(&y, &t->scratch, rows, values, used, t->program->unit_log2, t->arena);
    if (!bound_evaluate(&bound_ns, exact, &t->program->formulation->milp, t->closed, &y,
                        &t->scratch)) {
        arena_reset(t->arena, mark);
        return false;
    }
    wide one_ns = (wide)1 << BOUND_FRACTION_BITS;
    assert(*exact <= bound_ns * one_ns && *exact > (bound_ns - 1) * one_ns); // rounded up
    if (bound_ns > box->bound_ns) {
        box->bound_ns = bound_ns;
        box->ample = *exact - ((wide)(bound_ns - 1) << BOUND_FRACTION_BITS) > (wide)1 << AMPLE_BITS;
        box->proof = y;
    }
    return true;
}

static double violation(const struct milp *m, int row, const double *values)
{
    const struct milp_row *r = &m->rows[row];
    double sum = 0;
    for (int e = r->first; e < r->first + r->count; e++)
        sum += (double)m->entry_value[e] * values[m->entry_column[e]];
    return r->sense == ROW_AT_LEAST ? (double)r->right - sum : sum - (double)r->right;
}

static void read_times(struct subtree *t)
{
    const struct formulation *f = t->program->formulation;
    for (int k = 0; k < t->time_column_count; k++)
        t->values[t->time_columns[k]] = lp_value(t->lp, t->time_columns[k]);
    for (int i = 0; i < t->program->symbol_count; i++)
        t->symbol_ns[i] = f->symbol_column[i] < 0 ? 0 : t->values[f->symbol_column[i]];
}

// The most violated of the known paths that are not in the relaxation.
static int add_known_paths(struct subtree *t)
{
    struct program *p = t->program;
    int worst[PATHS_AT_ONCE], count = 0;
    double by[PATHS_AT_ONCE];
    for (int i = 0; i < p->paths.count; i++) {
        int row = p->first_path_row + i;
        if (lp_has_row(t->lp, row)) continue;
        double v = violation(&p->formulation->milp, row, t->values);
        if (v <= violated_ns || (count == PATHS_AT_ONCE && v <= by[count - 1])) continue;
        int k = count < PATHS_AT_ONCE ? count++ : count - 1;
        for (; k > 0 && by[k - 1] < v; k--) by[k] = by[k - 1], worst[k] = worst[k - 1];
        by[k] = v, worst[k] = row;
    }
    assert(count <= PATHS_AT_ONCE);
    for (int k = 0; k < count; k++) {
        assert(k == 0 || by[k - 1] >= by[k]);
        lp_add_row(t->lp, worst[k]);
    }
    return count;
}

bool separate(struct subtree *t)
{
    struct program *p = t->program;
    read_times(t);
    int added = 0;
    if (program_longest_at(p, t->symbol_ns, p->counts) > t->values[0] + violated_ns) {
        bool is_new;
        int row = program_add_path(p, p->counts, &is_new);
        if (!lp_has_row(t->lp, row)) lp_add_row(t->lp, row), added++;
    }
    return added + add_known_paths(t) > 0;
}

// What the sum proves with a margin, in whole ns, rounded up; at most the greatest time.
static int64_t proven_with_spare(wide exact)
{
    wide whole = ((exact - ((wide)1 << AMPLE_BITS) - 1) >> BOUND_FRACTION_BITS) + 1;
    return whole < INT64_MAX / 4 ? (int64_t)whole : INT64_MAX / 4;
}

// Removes choices whose reduced cost alone lifts the bound to the target, with a margin: no better
// plan of this box contains them.
static void remove_by_residual(struct subtree *t, struct box *box, wide exact)
{
    struct program *p = t->program;
    struct record *r = NULL;
    wide least = 0, missing = ((wide)(t->target_ns - 1) << BOUND_FRACTION_BITS) +
                              ((wide)1 << AMPLE_BITS) - exact;
    for (int i = 0; i < p->choice_count; i++) {
        if (!box_allows(box, i) || !t->scratch.is_touched[p->column_of[i]] ||
            t->scratch.residual[p->column_of[i]] <= missing)
            continue;
        wide residual = t->scratch.residual[p->column_of[i]];
        if (!r || residual < least) least = residual;
        if (!r) {
            r = record_add(&t->result->records, RECORD_REMOVED, box, p, t->arena);
            r->removed = TAKE(t->arena, box_words(p), uint64_t);
            r->proof = box->proof;
        }
        r->removed[i / 64] |= (uint64_t)1 << (i % 64);
    }
    if (r) r->target_ns = proven_with_spare(exact + least);
    assert(!r || r->target_ns >= t->target_ns);
    for (int i = 0; r && i < p->choice_count; i++)
        if (r->removed[i / 64] >> (i % 64) & 1) {
            box_forbid(box, i);
            t->closed[p->column_of[i]] = true;
            lp_set_closed(t->lp, p->column_of[i], true);
        }
}

bool close_box(struct subtree *t, struct box *box)
{
    assert(t->target_ns > 0);
    if (box->bound_ns < t->target_ns) return false;
    record_add(&t->result->records, RECORD_CLOSED, box, t->program, t->arena)->proof = box->proof;
    return true;
}

// Infeasible but not closed: the elastic columns are too cheap for this box.
static bool raise_price(struct subtree *t)
{
    if (lp_elastic_use(t->lp) < 1e-7) return false;
    t->elastic_price *= 8;
    lp_set_elastic_price(t->lp, t->elastic_price);
    return true;
}

enum settled settle(struct subtree *t, struct box *box)
{
    wide exact = 0;
    for (int raises = 0;;) {
        bool limited = true;
        double limit_ns = (double)t->target_ns - 0.5;
        enum lp_status status = relax(t, limit_ns);
        if (status == LP_FAILED) return SETTLED_BLIND;
        if (status == LP_STOPPED) { // any multipliers bound the box
            bound_box(t, box, &exact);
            return close_box(t, box) ? SETTLED_CLOSED : SETTLED_BLIND;
        }
        if (status == LP_ABOVE_LIMIT || lp_objective_ns(t->lp) > limit_ns) {
            if (bound_box(t, box, &exact) && close_box(t, box)) return SETTLED_CLOSED;
            limited = false;
        }
        if (status == LP_ABOVE_LIMIT && !limited && relax(t, 1e300) >= LP_STOPPED)
            return SETTLED_BLIND;
        if (separate(t)) { // each time a path of the graph that was not in it
            if (!t->job->watch || !watch_is_over(t->job->watch)) continue;
            bound_box(t, box, &exact);
            return close_box(t, box) ? SETTLED_CLOSED : SETTLED_BLIND;
        }
        if (lp_elastic_use(t->lp) < 1e-7 || raises++ == PRICE_RAISES || !raise_price(t)) break;
    }
    int64_t before = box->bound_ns;
    bool known = bound_box(t, box, &exact);
    assert(box->bound_ns >= before); // bounds never fall
    if (close_box(t, box)) return SETTLED_CLOSED;
    if (known && box->bound_ns > before) remove_by_residual(t, box, exact);
    return lp_elastic_use(t->lp) < 1e-7 ? SETTLED_OPEN : SETTLED_BLIND;
}

// ---- branching

static const double whole = 1e-6;

// Weight of the choices at or above each distinct load, from the heaviest down; the level's key is
// its load, and among equal loads the more fractional one.
static void highest_level(struct split *best, double *best_key, const struct subtree *t,
                          const struct box *box, int stage)
{
    const struct program *p = t->program;
    double above = 0, unit = ldexp(1, p->unit_log2);
    int lowest = p->first_choice[stage];
    while (lowest < p->first_choice[stage + 1] && !box_allows(box, p->by_load[lowest])) lowest++;
    for (int k = p->first_choice[stage + 1] - 1; k > lowest; k--) {
        int i = p->by_load[k];
        if (!box_allows(box, i)) continue;
        above += lp_value(t->lp, p->column_of[i]);
        double fraction = fmin(above, 1 - above),
               key = (double)p->load_ns[i] + 0.5 * unit * fraction;
        if (fraction < whole || key <= *best_key) continue;
        int below = k - 1;
        while (!box_allows(box, p->by_load[below])) below--;
        if (p->load_ns[p->by_load[below]] == p->load_ns[i]) continue; // the level is incomplete
        *best_key = key;
        *best =
            (struct split){.stage = stage, .by_load = true, .load_ns = p->load_ns[i], .choice = i};
        assert(below >= p->first_choice[stage] && p->load_ns[p->by_load[below]] < p->load_ns[i]);
    }
}

bool split_by_relaxation(struct split *s, const struct subtree *t, const struct box *box)
{
    const struct program *p = t->program;
    double key = -1;
    for (int stage = 0; stage < p->stage_count; stage++) highest_level(s, &key, t, box, stage);
    if (key >= 0) return true;
    for (int i = 0; i < p->choice_count; i++) {
        double x = box_allows(box, i) ? lp_value(t->lp, p->column_of[i]) : 0,
               fraction = fmin(x, 1 - x);
        if (fraction < whole || fraction <= key) continue;
        key = fraction;
        *s = (struct split){.stage = p->stage_of[i], .choice = i};
    }
    assert(key < 0 || (box_allows(box, s->choice) && p->stage_of[s->choice] == s->stage));
    return key >= 0;
}

void relaxed_decision(const struct subtree *t, const struct box *box, int *chosen)
{
    const struct program *p = t->program;
    for (int s = 0; s < p->stage_count; s++) {
        double most = -1;
        for (int i = p->first_choice[s]; i < p->first_choice[s + 1]; i++)
            if (box_allows(box, i) && lp_value(t->lp, p->column_of[i]) > most)
                most = lp_value(t->lp, p->column_of[i]), chosen[s] = i - p->first_choice[s];
        assert(most > -1 && chosen[s] >= 0 &&
               chosen[s] < p->first_choice[s + 1] - p->first_choice[s]);
    }
}
