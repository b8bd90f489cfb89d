// The tree's proof in the form of a search by boxes.
#include "solve/tree/proof.h"

#include <string.h>

struct translation {
    struct box_proof *proof;
    const struct program *p;
    int first_path; // the program's first path among the proof's
    int resources;
    int64_t bound_ns;
    struct arena *arena;
};

// In multiples of 2^-20 ns, at most what a certificate may state. The multiplier of an upper limit
// is negative, in units of 2^(unit - 40) ns.
static int64_t price_of(struct translation *t, const struct multipliers *y, int k, int resource)
{
    wide price = -((wide)y->values[k] * ((wide)1 << y->unit_log2)) /
                 ((wide)1 << (BOUND_FRACTION_BITS - PRICE_BITS));
    int64_t most = (int64_t)1 << (resource == t->resources - 1 ? 50 : 59);
    if (price > most) t->proof->sure = false;
    return price < most ? (int64_t)price : most;
}

static struct box_step step_of(struct translation *t, const struct multipliers *y)
{
    int *ids = TAKE(t->arena, y->count, int), count = 0, symbols = t->p->symbol_count;
    int64_t *weights = TAKE(t->arena, y->count, int64_t), *prices = NULL;
    wide sum = 0;
    for (int k = 0; k < y->count; k++) {
        int path = y->rows[k] - t->p->first_path_row;
        if (path >= 0) {
            assert(path < t->p->paths.count && y->values[k] >= 0);
            ids[count] = t->first_path + path;
            weights[count++] = y->values[k];
            sum += (wide)y->values[k] * path_laps(path_pool_at(&t->p->paths, path), symbols);
        }
        for (int r = 0; r < t->resources; r++) {
            if (y->rows[k] != t->p->formulation->resource_row[r]) continue;
            if (!prices) prices = TAKE(t->arena, t->resources, int64_t);
            prices[r] = price_of(t, y, k, r);
        }
    }
    if (sum > (wide)1 << WEIGHT_BITS) t->proof->sure = false;
    return (struct box_step){.path_count = count,
                             .ids = ids,
                             .weights = weights,
                             .prices = prices,
                             .relaxed = true,
                             .removes = true};
}

static void add_step(struct translation *t, int64_t box, const struct multipliers *y)
{
    struct box_record *r = &t->proof->records[box];
    struct box_step *steps = arena_grow(t->arena, r->steps, (size_t)r->step_count,
                                        (size_t)r->step_count + 1, sizeof *steps);
    steps[r->step_count++] = step_of(t, y);
    r->steps = steps;
}

// Adds the bound of a box: its plans take at least bound_ns, by these multipliers; without
// multipliers: by what was known before the tree.
static void add_bound(struct translation *t, int64_t box, int64_t bound_ns, bool ample,
                      const struct multipliers *y)
{
    struct box_record *r = &t->proof->records[box];
    bool needs_none = t->proof->records[0].proven_ns >= t->bound_ns; // the first ends the proof
    if (y->count) add_step(t, box, y);
    assert(box >= 0 && box < t->proof->count && bound_ns >= 0);
    if (bound_ns > r->proven_ns) r->proven_ns = r->claim_ns = bound_ns;
    if (!needs_none && (!y->count || (bound_ns == t->bound_ns && !ample))) t->proof->sure = false;
}

static void add_split(struct translation *t, const struct record *of)
{
    struct box_record *r = &t->proof->records[of->box];
    const struct program *p = t->p;
    assert(of->first > of->box && of->first + 1 < t->proof->count);
    r->first_part = of->first;
    int stage = of->split.stage, choice = of->split.choice - p->first_choice[stage];
    r->split = of->split.by_load ? (struct box_split){SPLIT_LOAD, stage, of->split.load_ns}
                                 : (struct box_split){SPLIT_CHOICE, stage, choice};
    if (!of->split.by_load)
        r->branched = TAKE_COPY(t->arena, &p->choices->stages[stage].items[choice], 1);
}

static void add_record(struct translation *t, const struct record *of)
{
    assert(of->box >= 0 && of->box < t->proof->count);
    struct box_record *r = &t->proof->records[of->box];
    switch (of->kind) {
    case RECORD_SPLIT: add_split(t, of); return;
    case RECORD_REMOVED: add_step(t, of->box, &of->proof); return;
    case RECORD_CLOSED: add_bound(t, of->box, of->bound_ns, of->ample, &of->proof); return;
    case RECORD_EMPTY: r->proven_ns = r->claim_ns = INT64_MAX; return;
    case RECORD_LEAF:
        r->single = true;
        r->proven_ns = r->claim_ns = of->bound_ns;
        return;
    }
}

// The root's paths first, then the program's.
static void take_paths(struct translation *t, const struct box_proof *root)
{
    const struct program *p = t->p;
    size_t size = (size_t)p->paths.size * sizeof(int);
    t->first_path = root ? root->paths : 0;
    t->proof->paths = t->first_path + p->paths.count;
    t->proof->path_counts = TAKE(t->arena, t->proof->paths * p->paths.size, int);
    if (root) memcpy(t->proof->path_counts, root->path_counts, (size_t)root->paths * size);
    if (p->paths.count)
        memcpy(t->proof->path_counts + t->first_path * p->paths.size, p->paths.paths,
               (size_t)p->paths.count * size);
}

void tree_proof(struct box_proof *proof, const struct tree *tree, const struct program *p,
                const struct box_proof *root, int64_t bound_ns, struct arena *arena)
{
    const struct priced *priced = p->choices->priced;
    struct translation t = {.proof = proof,
                            .p = p,
                            .resources = priced->group_count + BUDGET_COUNT,
                            .bound_ns = bound_ns,
                            .arena = arena};
    *proof = (struct box_proof){.count = tree->next_number,
                                .capacity = tree->next_number,
                                .counted = TAKE(arena, t.resources, bool),
                                .sure = priced->layout.virtual_stages == 1 &&
                                        !priced->has_embedding_sync};
    proof->records = TAKE(arena, proof->count, struct box_record);
    take_paths(&t, root);
    for (int64_t i = 0; i < proof->count; i++)
        proof->records[i] = (struct box_record){.parent = -1, .first_part = -1};
    if (root) {
        proof->counted = root->counted;
        proof->records[0].steps = root->records[0].steps;
        proof->records[0].step_count = root->records[0].step_count;
        proof->records[0].proven_ns = root->records[0].proven_ns;
        proof->records[0].single = root->records[0].single;
    }
    for (int i = 0; i < tree->records.count; i++) add_record(&t, &tree->records.items[i]);
    for (int i = 0; i < tree->frontier.count; i++) {
        const struct box *b = tree->frontier.open[i].content;
        add_bound(&t, b->number, b->bound_ns, b->ample, &b->proof);
    }
}
