// A job whose boxes and branches glp_intopt chooses. Each node of its tree is a box, and only our
// exact bound ends one: GLPK is never told of a plan, so it prunes nothing by itself, and what it
// gives up is left open. Elastic columns make its relaxations feasible, so that it calls for each.

#include "data/base/grow.h"
#include "solve/tree/node.h"

enum { ITERATIONS_MOST = 40000 };
static const double whole = 1e-5; // larger than GLPK's: it never finds a plan itself

struct branching {
    struct subtree *t;
    struct box *boxes;  // 0: the job's; the others in the order of their numbers
    bool *ended, *left; // left: kept open
    int count, capacity, ended_capacity, left_capacity;
    int entered; // whose closed columns are set
};

static int add_box(struct branching *b, const struct box *box)
{
    struct arena *arena = b->t->arena;
    GROW(arena, b->ended, b->count, b->ended_capacity, 64);
    GROW(arena, b->left, b->count, b->left_capacity, 64);
    GROW(arena, b->boxes, b->count, b->capacity, 64);
    b->boxes[b->count] = *box;
    b->boxes[b->count].basis.present = false;
    b->ended[b->count] = b->left[b->count] = false;
    return b->count++;
}

static bool enter(struct branching *b, int64_t box)
{
    struct subtree *t = b->t;
    if (b->entered == box) return true;
    b->entered = (int)box;
    int *chosen = TAKE(t->arena, t->program->stage_count, int);
    if (is_leaf(t, &b->boxes[box], chosen)) return false;
    t->result->explored++;
    box_close_columns(&b->boxes[box], t->program, t->closed);
    return true;
}

// Before the limit, while what was found can still be handed over.
static bool is_late(const struct subtree *t)
{
    const struct watch *w = t->job->watch;
    return w && (watch_is_over(w) || (w->limit_s > 0 && watch_elapsed_s(w) > 0.95 * w->limit_s));
}

static bool is_fraction(const struct subtree *t, int column)
{
    double x = lp_value(t->lp, column);
    return fmin(x, 1 - x) > whole;
}

static bool is_whole(const struct subtree *t)
{
    for (int i = 0; i < t->program->choice_count; i++)
        if (is_fraction(t, t->program->column_of[i])) return false;
    return true;
}

static enum lp_move end(struct branching *b, int64_t box)
{
    b->ended[box] = true;
    return LP_DROP;
}

// A whole relaxation is a decision, whose exact time may be the new target.
static enum lp_move take_decision(struct branching *b, int64_t box)
{
    struct subtree *t = b->t;
    int *chosen = TAKE(t->arena, t->program->stage_count, int);
    relaxed_decision(t, &b->boxes[box], chosen);
    note_plan(t, chosen);
    if (close_box(t, &b->boxes[box])) return end(b, box);
    b->left[box] = true;
    return LP_DROP;
}

static enum lp_move visit(void *branching, int64_t box)
{
    struct branching *b = branching;
    struct subtree *t = b->t;
    wide exact;
    assert(box >= 0 && box < b->count);
    if (b->ended[box] || b->left[box]) return LP_DROP;
    if (is_late(t) || t->result->explored >= t->job->box_limit ||
        lp_iterations(t->lp) > ITERATIONS_MOST)
        return LP_END;
    if (!enter(b, box)) return end(b, box);
    t->result->relaxations++;
    struct box *own = &b->boxes[box];
    if (close_box(t, own)) return end(b, box);
    if (lp_objective_ns(t->lp) > (double)t->target_ns - 0.5 && bound_box(t, own, &exact) &&
        close_box(t, own))
        return end(b, box);
    if (separate(t)) return LP_AGAIN;
    bound_box(t, own, &exact);
    if (close_box(t, own)) return end(b, box);
    if (lp_elastic_use(t->lp) > 1e-7) {
        b->left[box] = true;
        return LP_DROP;
    }
    return is_whole(t) ? take_decision(b, box) : LP_BRANCH;
}

// The highest fractional level of all stages; its column, or -1.
static int highest_level(struct split *split, const struct subtree *t)
{
    const struct program *p = t->program;
    const struct formulation *f = p->formulation;
    int column = -1;
    double best = -1, unit = ldexp(1, p->unit_log2);
    for (int s = 0; s < p->stage_count; s++)
        for (int j = 1; j < f->level_count[s]; j++) {
            int at = f->level_column[s][j];
            double x = lp_value(t->lp, at),
                   key = (double)f->level_load_ns[s][j] + 0.5 * unit * fmin(x, 1 - x);
            if (!is_fraction(t, at) || key <= best || !lp_can_branch(t->lp, at)) continue;
            best = key;
            column = at;
            *split = (struct split){
                .stage = s, .by_load = true, .load_ns = f->level_load_ns[s][j], .choice = -1};
        }
    for (int i = 0; column >= 0 && i < p->choice_count && split->choice < 0; i++)
        if (p->stage_of[i] == split->stage && p->load_ns[i] == split->load_ns) split->choice = i;
    return column;
}

static int most_fractional(struct split *split, const struct subtree *t)
{
    const struct program *p = t->program;
    int column = -1;
    double best = 0;
    for (int i = 0; i < p->choice_count; i++) {
        double x = lp_value(t->lp, p->column_of[i]), fraction = fmin(x, 1 - x);
        if (fraction <= whole || fraction <= best || !lp_can_branch(t->lp, p->column_of[i]))
            continue;
        best = fraction;
        column = p->column_of[i];
        *split = (struct split){.stage = p->stage_of[i], .choice = i};
    }
    return column;
}

static int branch(void *branching, int64_t box, int64_t children[2], bool *up)
{
    struct branching *b = branching;
    struct subtree *t = b->t;
    struct split split;
    struct box first, second;
    int column = highest_level(&split, t);
    if (column < 0) column = most_fractional(&split, t);
    if (column < 0) return -1;
    split_apply(&first, &second, &b->boxes[box], &split, t->program, t->arena);
    if (!box_allowed_count(&first, t->program, split.stage) ||
        !box_allowed_count(&second, t->program, split.stage))
        return -1;
    first.number = LOCAL_NUMBERS + t->result->box_count++;
    second.number = LOCAL_NUMBERS + t->result->box_count++;
    struct record *r =
        record_add(&t->result->records, RECORD_SPLIT, &b->boxes[box], t->program, t->arena);
    r->split = split;
    r->first = first.number;
    b->ended[box] = true;
    int at = add_box(b, &first);
    add_box(b, &second);
    // The lighter part has the level at 0; a choice by itself is at 1.
    children[0] = split.by_load ? at : at + 1;
    children[1] = split.by_load ? at + 1 : at;
    *up = !split.by_load;
    return column;
}

void branch_by_glpk(struct subtree *t)
{
    struct branching b = {.t = t, .entered = -1};
    const struct lp_search search = {visit, branch, &b};
    add_box(&b, &t->job->box);
    if (t->program->formulation->level_column) {
        t->levels = level_rows_find(t->program, t->arena);
    }
    if (lp_solve(t->lp, LP_DUAL, 1e300) == LP_OPTIMAL) lp_search(t->lp, &search);
    for (int i = b.count - 1; i >= 0; i--)
        if (!b.ended[i]) push_box(t, &b.boxes[i]);
}
