// The records of the search by boxes used directly as the proof: weights, prices and splits as
// they were, nothing recomputed. The checker's programme is at least as strong as the one that
// made them (docs/PROOFS.md 6). It starts from the same choices, couples the same neighbours,
// counts the same resources, rounds less, and has a target that is no higher; so a round that
// closed a box there closes it here. This does not hold by ranks, where the checker chooses
// prices.
#include "solve/certificate/internal.h"

struct taker {
    struct proof *p;
    const struct box_proof *records;
    int resources;
    bool relaxes; // something is counted, so a smaller table differs
};

enum { USES_COUNTED = 1 << 16, DEEPEST = 3000 }; // combinations that the checker counts at most

// The counted resources, as far as the checker counts them.
static bool take_counted(struct taker *t)
{
    const struct priced *priced = t->p->request->priced;
    const struct quality_budget *b = &priced->budget;
    const int64_t budget[BUDGET_COUNT] = {b->boundaries_max, b->stages_max, b->cost_max,
                                          b->energy_max_uj ? b->energy_max_uj : -1};
    int64_t uses = 1;
    t->p->counted = t->records->counted;
    for (int r = 0; r < t->resources; r++) {
        int64_t limit = r < priced->group_count ? priced->groups[r].slots
                                                : budget[r - priced->group_count];
        if (!t->records->counted[r]) continue;
        if (limit < 0 || limit >= USES_COUNTED || (uses *= limit + 1) > USES_COUNTED) return false;
        t->relaxes = true;
    }
    return true;
}

// All paths that the steps name, each once.
static bool take_paths(struct taker *t)
{
    struct proof *p = t->p;
    const struct solve_evidence *e = p->request->evidence;
    int size = path_size(graph_symbol_count(e->graph));
    struct successors *successors = successors_open(e->schedule, p->request->priced, p->arena);
    p->paths = TAKE(p->arena, t->records->paths, struct proof_path);
    p->path_count = p->path_capacity = t->records->paths;
    for (int64_t i = 0; i < t->records->count; i++)
        for (int k = 0; k < t->records->records[i].step_count; k++) {
            const struct box_step *step = &t->records->records[i].steps[k];
            for (int j = 0; j < step->path_count; j++) {
                const int *counts = t->records->path_counts + (size_t)step->ids[j] * (size_t)size;
                assert(step->ids[j] >= 0 && step->ids[j] < t->records->paths);
                struct proof_path *path = &p->paths[step->ids[j]];
                if (!path->successors &&
                    !successors_find_path(successors, path, e->graph, counts,
                                          path_laps(counts, size - 1), p->arena))
                    return false;
            }
        }
    return true;
}

// The checker allows no larger prices.
static bool has_room(const struct taker *t, const struct box_step *step)
{
    for (int r = 0; r < t->resources && step->prices; r++)
        if (step->prices[r] > (int64_t)1 << (r == t->resources - 1 ? 50 : 59)) return false;
    return true;
}

// closing: otherwise steps that only raised the bound are useless.
static bool take_steps(struct taker *t, int box, const struct box_record *r, bool closing)
{
    for (int i = 0; i < r->step_count; i++) {
        const struct box_step *step = &r->steps[i];
        struct proof_round round = {.path_count = step->path_count,
                                    .paths = step->ids,
                                    .weights = step->weights,
                                    .prices = step->prices,
                                    .relaxed = step->relaxed && t->relaxes};
        if (!closing && !step->removes) continue;
        if (!has_room(t, step)) return false;
        proof_take_memory(&round, step, t->p->arena);
        proof_add_round(t->p, box, &round);
    }
    return true;
}

// The decision as a split states it to the checker, which knows where the last stage starts.
static struct check_decision stated_decision(const struct proof *p, const struct box_split *split,
                                             const struct choice *of)
{
    const struct priced *priced = p->request->priced;
    struct check_decision d = proof_decision(&of->decision);
    if (d.first < -1)
        d.first = split->at == priced->stage_count - 1 ? priced->layer_count - d.layers
                                                       : place_least(d.first);
    return d;
}

// A box whose own steps reach the bound ends there, even if it was split later for a higher
// target.
static bool take_record(struct taker *t, int64_t number, int depth)
{
    const struct box_record *r = &t->records->records[number];
    int box = t->p->box_count;
    bool closes = !r->single && r->proven_ns >= t->p->bound_ns;
    proof_add_box(t->p);
    if (depth > DEEPEST || !take_steps(t, box, r, closes)) return false;
    if (r->single || closes) {
        t->p->boxes[box].end = r->single ? END_LEAF : END_CLOSED;
        return true;
    }
    if (r->first_part < 0) return false;
    assert(r->first_part > number && r->first_part + 1 < t->records->count);
    proof_take_split(&t->p->boxes[box], &r->split);
    if (r->branched) t->p->boxes[box].stated = stated_decision(t->p, &r->split, r->branched);
    // In the file the half with the property comes first.
    return take_record(t, r->first_part + r->turned, depth + 1) &&
           take_record(t, r->first_part + !r->turned, depth + 1);
}

bool proof_take_records(struct proof *p)
{
    const struct solve_evidence *e = p->request->evidence;
    struct taker t = {
        .p = p, .records = &e->proof, .resources = p->request->priced->group_count + BUDGET_COUNT};
    if (p->bound_ns <= 0 || !e->proof.count || !e->proof.sure || e->proof_bound_ns < p->bound_ns)
        return false;
    return take_counted(&t) && take_paths(&t) && take_record(&t, 0, 0);
}
