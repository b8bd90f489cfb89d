// The recheck: every record of the tree is evaluated again from its stored numbers, and the records
// must connect from the whole box down. Only what is in a record is trusted: a box is what its
// ancestors' splits and proven removals make it, and each record must be about exactly that box.
#include <string.h>

#include "solve/tree/tree.h"

struct known_box {
    uint64_t *allowed; // NULL: not created by a split yet
    int64_t bound_ns;  // inherited
    bool done;         // closed, or split
};

struct recheck {
    const struct tree *tree;
    struct program *program;
    struct bound_scratch scratch;
    bool *closed;
    struct known_box *boxes;
    int64_t box_count;
    struct arena *arena;
};

static bool same(const struct recheck *c, const uint64_t *a, const uint64_t *b)
{
    return !memcmp(a, b, (size_t)box_words(c->program) * sizeof *a);
}

static void reach(struct recheck *c, int64_t number, const struct box *box)
{
    c->boxes[number].allowed = box->allowed;
    c->boxes[number].bound_ns = box->bound_ns;
}

static bool evaluate(struct recheck *c, const struct record *r, int64_t *bound_ns, wide *exact)
{
    struct box box = {.allowed = r->allowed};
    assert(r->allowed);
    box_close_columns(&box, c->program, c->closed);
    return bound_evaluate(bound_ns, exact, &c->program->formulation->milp, c->closed, &r->proof,
                          &c->scratch);
}

static const char *check_closed(struct recheck *c, const struct record *r)
{
    int64_t bound_ns, least_ns = c->tree->bound_ns;
    if (!r->proof.count)
        return r->bound_ns <= c->boxes[0].bound_ns && r->bound_ns >= least_ns
                   ? NULL
                   : "closed without multipliers";
    if (!evaluate(c, r, &bound_ns, NULL)) return "multipliers that prove nothing";
    if (bound_ns < r->bound_ns) return "a bound that the multipliers do not reach";
    return r->bound_ns >= least_ns ? NULL : "closed below the bound claimed for all";
}

static const char *check_removed(struct recheck *c, const struct record *r)
{
    const struct program *p = c->program;
    wide exact;
    int64_t bound_ns;
    if (!evaluate(c, r, &bound_ns, &exact)) return "multipliers that prove nothing";
    if (r->target_ns < c->tree->bound_ns) return "choices removed below the bound claimed for all";
    for (int i = 0; i < p->choice_count; i++) {
        if (!(r->removed[i / 64] >> (i % 64) & 1)) continue;
        wide residual =
            c->scratch.is_touched[p->column_of[i]] ? c->scratch.residual[p->column_of[i]] : 0;
        if (residual < 0 || exact + residual <= (wide)(r->target_ns - 1) << BOUND_FRACTION_BITS)
            return "a choice removed that may be better";
        c->boxes[r->box].allowed[i / 64] &= ~((uint64_t)1 << (i % 64));
    }
    return NULL;
}

static const char *check_leaf(struct recheck *c, const struct record *r)
{
    struct box box = {.allowed = r->allowed};
    int *chosen = TAKE(c->arena, c->program->stage_count, int);
    if (box_single(&box, c->program, chosen) != 1) return "a leaf with more than one decision";
    int64_t time_ns = program_time(c->program, chosen);
    if (time_ns < 0) time_ns = c->program->hopeless_ns;
    return time_ns == r->bound_ns && time_ns >= c->tree->bound_ns ? NULL
                                                                  : "a leaf with another time";
}

static const char *check_split(struct recheck *c, const struct record *r)
{
    struct box box = {.number = r->box, .bound_ns = r->bound_ns}, first, second;
    box.allowed = r->allowed;
    if (r->split.stage < 0 || r->split.stage >= c->program->stage_count)
        return "a split of no stage";
    if (r->first <= r->box || r->first + 1 >= c->box_count)
        return "a split into boxes that are not there";
    split_apply(&first, &second, &box, &r->split, c->program, c->arena);
    reach(c, r->first, &first);
    reach(c, r->first + 1, &second);
    return NULL;
}

static const char *check_record(struct recheck *c, const struct record *r)
{
    struct box box = {.allowed = r->allowed};
    if (r->box < 0 || r->box >= c->box_count || !c->boxes[r->box].allowed)
        return "a record of a box that nothing leads to";
    if (!same(c, r->allowed, c->boxes[r->box].allowed)) return "a record of another box";
    if (c->boxes[r->box].done) return "a box that is closed twice";
    if (r->kind == RECORD_REMOVED) return check_removed(c, r);
    c->boxes[r->box].done = true;
    int *chosen = TAKE(c->arena, c->program->stage_count, int);
    switch (r->kind) {
    case RECORD_CLOSED: return check_closed(c, r);
    case RECORD_EMPTY:
        return box_single(&box, c->program, chosen) < 0 ? NULL
                                                        : "a box stated to be empty that is not";
    case RECORD_LEAF: return check_leaf(c, r);
    default: return check_split(c, r);
    }
}

// An open box must be one that the records lead to and that none has ended, and its bound must be
// at least what is claimed.
static const char *check_open(struct recheck *c, const struct box *b)
{
    struct record r = {.allowed = b->allowed, .proof = b->proof, .bound_ns = b->bound_ns};
    int64_t bound_ns;
    if (b->number < 0 || b->number >= c->box_count || !c->boxes[b->number].allowed ||
        c->boxes[b->number].done)
        return "an open box that nothing leads to";
    c->boxes[b->number].done = true;
    if (!same(c, b->allowed, c->boxes[b->number].allowed)) return "an open box that differs";
    if (b->bound_ns < c->tree->bound_ns) return "an open box below the bound claimed for all";
    if (!b->proof.count)
        return b->bound_ns <= c->boxes[0].bound_ns ? NULL
                                                   : "an open box's bound without multipliers";
    return evaluate(c, &r, &bound_ns, NULL) && bound_ns >= b->bound_ns
               ? NULL
               : "an open box's bound that does not hold";
}

static void begin(struct recheck *c, int64_t root_bound_ns)
{
    struct box root;
    bound_prepare(&c->scratch, &c->program->formulation->milp, c->arena);
    c->closed = TAKE(c->arena, c->program->formulation->milp.column_count, bool);
    c->box_count = c->tree->next_number;
    assert(c->box_count > 0 && root_bound_ns >= 0);
    c->boxes = TAKE(c->arena, c->box_count, struct known_box);
    box_whole(&root, c->program, c->arena);
    root.bound_ns = root_bound_ns;
    reach(c, 0, &root);
}

enum status tree_recheck(const struct tree *tree, struct program *p, int64_t root_bound_ns,
                         struct arena *arena, struct error *err)
{
    struct recheck c = {.tree = tree, .program = p, .arena = arena};
    begin(&c, root_bound_ns);
    for (int i = 0; i < tree->records.count; i++) {
        const struct record *r = &tree->records.items[i];
        const char *wrong = check_record(&c, r);
        if (wrong) return fail(err, SOLVER, "recheck: box %lld: %s", (long long)r->box, wrong);
    }
    for (int i = 0; i < tree->frontier.count; i++) {
        const struct box *box = tree->frontier.open[i].content;
        const char *wrong = check_open(&c, box);
        if (wrong) return fail(err, SOLVER, "recheck: box %lld: %s", (long long)box->number, wrong);
    }
    for (int64_t i = 0; i < c.box_count; i++)
        if (c.boxes[i].allowed && !c.boxes[i].done)
            return fail(err, SOLVER, "recheck: box %lld is not closed", (long long)i);
    return OK;
}
