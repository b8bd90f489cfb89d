// Replicas that take whole micro-batches in turn (docs/PROOFS.md 15.6). Such a proof states its
// bound and a plan alone. Here the plan is judged, and the plans whose greatest load is below the
// bound are searched for: by stages left, first layer and the exact sum of replicas, the fewest
// slots.

#include "data/base/least.h"
#include "solve/checker/proof.h"

enum { SLOTS_NONE = 1 << 30 };

struct turns {
    struct check_proof *k;
    const struct check_problem *p;
    int *deepest; // [(first * (layers + 1) + end) * groups + group]: micro-batches of a replica
                  // that fit, with no load above the limit; 0: none
};

// A span of layers as a stage of a group, without what its layers' modes change.
struct span {
    int stage; // one that starts and ends as it does
    int64_t passes, ends, link;
    int64_t room; // of stash and working memory
    bool joined;
    struct check_choice whole;
};

// ---- one stage

static int64_t replicas_of(const struct turns *t, int group) { return t->p->groups[group].data; }

static void add_message(const struct turns *t, struct span *s, int layer, const int64_t *stated)
{
    const struct check_problem *p = t->p;
    int g = s->whole.group, at = (g * p->group_count + g) * PARTS;
    const struct check_cut *cut = &p->cuts[p->runs[p->run_of[layer]].cut];
    int64_t ends = 0, link = 0;
    const int64_t *ways[] = {cut->forward + at, cut->backward[0] + at};
    for (int i = 0; i < 2; i++) {
        s->joined = s->joined && ways[i][0] >= 0;
        ends += ways[i][PART_BLOCKS] + ways[i][PART_WORKS];
        link = larger(link, ways[i][PART_LINKS]);
    }
    s->ends += stated ? stated[g] : ends;
    s->link = larger(s->link, stated ? stated[p->group_count + g] : link);
}

static void evaluate(const struct turns *t, struct span *s)
{
    check_evaluate(t->p, s->stage, s->whole.first, &s->whole);
}

static struct span open_span(const struct turns *t, int first, int layers, int group)
{
    const struct check_problem *p = t->p;
    int end = first + layers, stage = first == 0 ? 0 : end == p->layers ? p->stages - 1 : 1;
    struct span s = {.stage = stage, .joined = true};
    s.whole = (struct check_choice){.first = first, .layers = layers, .group = group};
    s.whole.forward = TAKE(t->k->arena, 2, int64_t), s.whole.backward = s.whole.forward + 1;
    evaluate(t, &s);
    s.passes = s.whole.load;
    s.room = p->groups[group].memory_limit - p->groups[group].constant_bytes - s.whole.resident;
    if (first > 0) add_message(t, &s, first - 1, p->runs[p->run_of[first]].entry);
    if (end < p->layers) add_message(t, &s, end - 1, NULL);
    return s;
}

// Micro-batches that a replica has to keep where `sum` replicas take the stages from this one on.
static int64_t kept_by(const struct turns *t, int group, int64_t sum)
{
    int64_t d = replicas_of(t, group);
    return smaller((sum + d - 1) / d, t->p->micro_batches / d);
}

static int64_t load_of(const struct turns *t, const struct span *s, int64_t passes)
{
    int64_t d = replicas_of(t, s->whole.group);
    return (larger(passes + s->ends, s->link) + d - 1) / d;
}

// ---- how many micro-batches fit, with a load of at most `limit`

static void take_deepest(const struct turns *t, const struct span *s, int64_t working,
                         int64_t stash, int *deepest)
{
    int64_t rest = s->room - working, most = t->p->micro_batches / replicas_of(t, s->whole.group);
    int64_t fit = rest < 0 ? 0 : stash ? smaller(rest / stash, most) : most;
    *deepest = (int)larger(*deepest, fit);
}

static void try_whole(const struct turns *t, struct span *s, int64_t limit, int *deepest)
{
    evaluate(t, s);
    if (load_of(t, s, s->whole.load) <= limit)
        take_deepest(t, s, s->whole.working, s->whole.stash, deepest);
}

// All modes of a stage but sets of its layers.
static enum status try_modes(const struct turns *t, struct span *s, int64_t limit, int *deepest)
{
    const struct check_problem *p = t->p;
    int first = s->whole.first, layers = s->whole.layers,
        able = check_recomputable(p, first, layers);
    TRY(check_spend(p, t->k->work, (uint64_t)(able + 8) * (uint64_t)(layers + 20)));
    if (p->layout.value[KEY_RECOMPUTE]) {
        check_take_setting(p, &s->whole, able);
        try_whole(t, s, limit, deepest);
        return OK;
    }
    for (s->whole.mode = 0; s->whole.mode < MODES; s->whole.mode++) {
        bool offered = p->modes[s->whole.mode] && s->whole.mode != MODE_SWAP,
             counts = s->whole.mode == MODE_FIRST_LAYERS;
        int most = !offered ? -1 : counts ? able : 0;
        for (s->whole.recomputed = counts; s->whole.recomputed <= most; s->whole.recomputed++)
            try_whole(t, s, limit, deepest);
        s->whole.recomputed = 0;
    }
    return OK;
}

// ---- sets of recomputed layers (15.6, any set): of the sets whose layers all work within a cap,
// those of which none has both less recomputation and less stash

struct set {
    int64_t again, stash;
};
struct sets {
    struct set *items; // again rises, stash falls
    int count;
    int64_t unsharded;
};

static struct set extended(const struct sets *from, int i, int64_t again, int64_t stash)
{
    return (struct set){from->items[i].again + again, from->items[i].stash + stash};
}

// Every set, with the layer kept and with it recomputed, as far as it works within the cap.
static enum status extend(const struct turns *t, struct sets *sets, int layer, int group,
                          int64_t cap)
{
    const struct check_run *r = &t->p->runs[t->p->run_of[layer]], *at = check_run_at(r, group);
    struct sets to = {.items = TAKE(t->k->arena, 2 * sets->count + 1, struct set),
                      .unsharded = sets->unsharded + at->unsharded_bytes};
    int kept = at->working[MODE_NONE] <= cap ? 0 : sets->count,
        again = r->recomputable && at->working[MODE_FULL] <= cap ? 0 : sets->count;
    TRY(check_spend(t->p, t->k->work, (uint64_t)(2 * sets->count + 8)));
    while (kept < sets->count || again < sets->count) {
        struct set one = {MOST_SUM, 0}, other = {MOST_SUM, 0};
        if (kept < sets->count) one = extended(sets, kept, 0, at->stash[MODE_NONE]);
        if (again < sets->count)
            other = extended(sets, again, r->again[MODE_FULL][group], at->stash[MODE_FULL]);
        bool is_other = other.again < one.again ||
                        (other.again == one.again && other.stash < one.stash);
        *(is_other ? &again : &kept) += 1;
        const struct set *next = is_other ? &other : &one;
        if (!to.count || next->stash < to.items[to.count - 1].stash) to.items[to.count++] = *next;
    }
    *sets = to;
    return OK;
}

static void try_sets(const struct turns *t, const struct span *s, const struct sets *sets,
                     int64_t cap, int64_t limit, int *deepest)
{
    int last = -1;
    while (last + 1 < sets->count &&
           load_of(t, s, s->passes + sets->items[last + 1].again) <= limit)
        last++;
    if (last >= 0) take_deepest(t, s, cap + sets->unsharded, sets->items[last].stash, deepest);
}

// What layers work with, kept or recomputed: each is a cap.
static int list_caps(const struct turns *t, int group, int64_t *caps)
{
    int count = 0;
    for (int i = 0; i < t->p->run_count; i++)
        for (int mode = MODE_NONE; mode <= MODE_FULL; mode += MODE_FULL - MODE_NONE) {
            int64_t own = check_run_at(&t->p->runs[i], group)->working[mode];
            int same = 0;
            while (same < count && caps[same] != own) same++;
            caps[same] = own, count += same == count;
        }
    return count;
}

static int *deepest_of(const struct turns *t, int first, int end, int group)
{
    size_t at = (size_t)first * (size_t)(t->p->layers + 1) + (size_t)end;
    return &t->deepest[at * (size_t)t->p->group_count + (size_t)group];
}

static enum status try_all_sets(const struct turns *t, const struct span *spans, int first,
                                int group, int64_t cap, int64_t limit)
{
    struct arena_mark mark = arena_set_mark(t->k->arena);
    struct sets sets = {.items = TAKE(t->k->arena, 1, struct set), .count = 1};
    for (int end = first + 1; end <= t->p->layers && sets.count; end++) {
        TRY(extend(t, &sets, end - 1, group, cap));
        if (spans[end].joined)
            try_sets(t, &spans[end], &sets, cap, limit, deepest_of(t, first, end, group));
    }
    arena_reset(t->k->arena, mark);
    return OK;
}

// ---- all spans

// Whether a stage may have these layers: the first stage starts, the last one ends.
static bool is_stage(const struct check_problem *p, int first, int end)
{
    return p->stages == 1 ? first == 0 && end == p->layers
                          : (first > 0 || end < p->layers) &&
                                (p->stages > 2 || first == 0 || end == p->layers);
}

static enum status measure_from(const struct turns *t, int first, int group, int64_t limit)
{
    const struct check_problem *p = t->p;
    struct arena_mark mark = arena_set_mark(t->k->arena);
    struct span *spans = TAKE(t->k->arena, p->layers + 1, struct span);
    int64_t *caps = TAKE(t->k->arena, 2 * p->run_count, int64_t);
    for (int end = first + 1; end <= p->layers; end++) {
        if (!is_stage(p, first, end)) continue;
        struct span *s = &spans[end];
        *s = open_span(t, first, end - first, group);
        t->k->result->choices++;
        if (s->joined) TRY(try_modes(t, s, limit, deepest_of(t, first, end, group)));
    }
    int count = p->any_sets ? list_caps(t, group, caps) : 0;
    TRY(check_spend(p, t->k->work, (uint64_t)(2 * p->run_count) * (uint64_t)(count + 1)));
    for (int i = 0; i < count; i++) TRY(try_all_sets(t, spans, first, group, caps[i], limit));
    arena_reset(t->k->arena, mark);
    return OK;
}

// ---- all plans

// least[sum] of the layers from `first` on, against a stage of the width and what lies behind it.
static enum status put_before(const struct turns *t, int *least, const int *behind, int group,
                              int deepest, int most)
{
    int d = t->p->groups[group].data, slots = check_seat_slots(t->p, group);
    bool any = deepest >= t->p->micro_batches / d; // keeps all that a replica ever has
    int last = any ? most : (int)smaller((int64_t)deepest * d, most);
    TRY(check_spend(t->p, t->k->work, (uint64_t)(last > d ? last - d : 0) / 8 + 4));
    for (int sum = d; sum <= last; sum++)
        least[sum] = smaller_int(least[sum], behind[sum - d] + slots);
    return OK;
}

// The fewest slots of any plan: by stages left, first layer and the sum of all replicas from there.
static enum status find_fewest(const struct turns *t, int *fewest)
{
    const struct check_problem *p = t->p;
    int64_t most = 0; // replicas that any mix of widths has room for
    for (int g = 0; g < p->group_count; g++)
        most =
            larger(most, (int64_t)p->groups[g].slots * p->groups[g].data / check_seat_slots(p, g));
    if (most >= SLOTS_NONE)
        return NOT_PROVEN_HERE(t->k, "room for %lld replicas, more than are counted",
                               (long long)most);
    size_t row = (size_t)most + 1, rows = (size_t)(p->layers + 1) * row;
    TRY(check_spend(p, t->k->work, (uint64_t)(p->stages + 2) * rows / 8));
    int *behind = TAKE(t->k->arena, rows, int), *here = TAKE(t->k->arena, rows, int);
    for (size_t i = 0; i < rows; i++) behind[i] = SLOTS_NONE;
    behind[(size_t)p->layers * row] = 0;
    for (int left = 1; left <= p->stages; left++) {
        for (size_t i = 0; i < rows; i++) here[i] = SLOTS_NONE;
        for (int first = 0; first <= p->layers - left; first++)
            for (int end = first + 1; end <= p->layers && (left == p->stages) == (first == 0);
                 end++)
                for (int g = 0; g < p->group_count; g++) {
                    int deepest = *deepest_of(t, first, end, g);
                    if (deepest && (left == 1) == (end == p->layers))
                        TRY(put_before(t, here + (size_t)first * row, behind + (size_t)end * row, g,
                                       deepest, (int)most));
                }
        int *other = behind;
        behind = here, here = other;
    }
    *fewest = SLOTS_NONE;
    for (size_t sum = 0; sum < row; sum++) *fewest = smaller_int(*fewest, behind[sum]);
    return OK;
}

// No plan's greatest load is at most `limit`.
static enum status check_none_within(struct turns *t, int64_t limit)
{
    const struct check_problem *p = t->p;
    size_t spans = (size_t)p->layers * (size_t)(p->layers + 1) * (size_t)p->group_count;
    int fewest = 0;
    TRY(check_spend(p, t->k->work, spans));
    t->deepest = TAKE(t->k->arena, spans, int);
    for (int first = 0; first < p->layers; first++)
        for (int g = 0; g < p->group_count; g++)
            if (!p->groups[g].excluded) TRY(measure_from(t, first, g, limit));
    TRY(find_fewest(t, &fewest));
    if (fewest > p->groups[0].slots) return OK;
    return fail(t->k->reader.err, (enum status)NOT_PROVEN,
                "some plan has no load above %lld ns, with %d slots", (long long)limit, fewest);
}

// ---- the plan

// The stage recomputes these layers: ascending, of its own.
static enum status take_set(struct check_proof *k, const cJSON *list, struct span *s,
                            int64_t *passes, int64_t *bytes)
{
    const struct check_problem *p = k->p;
    const struct check_choice *c = &s->whole;
    int64_t working = 0, unsharded = 0;
    const cJSON *next = list->child;
    *passes = s->passes, *bytes = 0;
    for (int layer = c->first; layer < c->first + c->layers; layer++) {
        const struct check_run *r = &p->runs[p->run_of[layer]], *at = check_run_at(r, c->group);
        bool again = next && cJSON_IsNumber(next) && value_number(next) == layer;
        int mode = again ? MODE_FULL : MODE_NONE;
        if (again && !r->recomputable) break;
        if (again) *passes += r->again[MODE_FULL][c->group], next = next->next;
        *bytes += at->stash[mode];
        working = larger(working, at->working[mode]);
        unsharded += at->unsharded_bytes;
    }
    s->room -= working + unsharded;
    return !next ? OK
                 : NOT_PROVEN_HERE(k, "incumbent: recomputed: expected layers of the stage that "
                                      "can be recomputed, each once, in order");
}

struct counted {
    int64_t sum, slots, load; // of the stages from this one on
};

static enum status check_stage(struct turns *t, const struct check_choice *c, const cJSON *set,
                               struct counted *all)
{
    struct check_proof *k = t->k;
    struct span s = open_span(t, c->first, c->layers, c->group);
    int64_t passes, stash;
    if (set && (!t->p->any_sets || c->mode != MODE_FULL || c->recomputed))
        return NOT_PROVEN_HERE(k, "incumbent: the problem does not offer this choice");
    if (set) TRY(take_set(k, set, &s, &passes, &stash));
    s.whole.mode = c->mode, s.whole.recomputed = c->recomputed;
    if (!set) {
        evaluate(t, &s);
        passes = s.whole.load, stash = s.whole.stash;
        s.room -= s.whole.working;
    }
    all->sum += replicas_of(t, c->group);
    all->slots += check_seat_slots(t->p, c->group);
    all->load = larger(all->load, load_of(t, &s, passes));
    if (!s.joined) return NOT_PROVEN_HERE(k, "incumbent: a message has no price");
    if (s.room < 0 || kept_by(t, c->group, all->sum) * stash > s.room)
        return NOT_PROVEN_HERE(k, "incumbent: a stage does not fit into its memory");
    return OK;
}

static enum status check_plan(struct turns *t, const cJSON *stages, int64_t stated)
{
    struct check_proof *k = t->k;
    const struct check_problem *p = t->p;
    struct check_choice *own = TAKE(k->arena, p->stages, struct check_choice);
    const cJSON **sets = TAKE(k->arena, p->stages, const cJSON *);
    struct counted all = {0};
    int layers = 0;
    TRY(check_read_incumbent(k, stages, own, sets));
    for (int s = p->stages; s-- > 0;) TRY(check_stage(t, &own[s], sets[s], &all));
    for (int s = 0; s < p->stages; s++) layers += own[s].layers;
    if (layers != p->layers)
        return NOT_PROVEN_HERE(k, "incumbent: the stages do not cover the layers once in order");
    if (all.slots > p->groups[0].slots)
        return NOT_PROVEN_HERE(k, "incumbent: more slots than the groups have");
    if (all.load == stated) return OK;
    return NOT_PROVEN_HERE(k, "incumbent: its greatest load is %lld ns, stated are %lld ns",
                           (long long)all.load, (long long)stated);
}

enum status check_in_turn(struct check_proof *k, const cJSON *proof)
{
    struct turns t = {.k = k, .p = k->p};
    const struct check_result *claims = k->result;
    TRY(check_widths(k->p));
    if (value_get(proof, "paths") || value_get(proof, "boxes") || value_get(proof, "counted"))
        return check_refuse(&k->reader, "proof",
                            "expected no paths, boxes or counted with in_turn");
    if (value_get(proof, "incumbent"))
        TRY(check_plan(&t, value_get(proof, "incumbent"), claims->iteration_ns));
    if (!claims->infeasible && claims->bound_ns == 0) return OK;
    return check_none_within(&t, claims->infeasible ? MOST_SUM : claims->bound_ns - 1);
}
