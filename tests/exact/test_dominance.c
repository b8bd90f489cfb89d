// One layout dominates another (docs/PROOFS.md 8, d): of two documents that differ in a few
// numbers, the best plan of the one that the checker calls no worse takes no longer than the
// other's, by enumeration. usage: test_dominance [PROBLEMS [FIRST SEED]]
#include "data/kinds/schedules.h"
#include "solve/checker/space/arguments.h"
#include "tests/support/check.h"
#include "tests/support/claims/tables.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/random_priced.h"

enum { NUMBERS_MOST = 4096, PLANS_MOST = 3000 };
static int problems = 4000;
static uint64_t first_seed = 1000;

struct numbers {
    int64_t *of[NUMBERS_MOST];
    int count;
};

static void put(struct numbers *n, int64_t *of, int count)
{
    for (int i = 0; i < count && of && n->count < NUMBERS_MOST; i++)
        if (of[i] != PRICE_NONE) n->of[n->count++] = &of[i];
}

// Of its runs, and behind them the head of stages before local boundaries.
static struct priced_run *run_of(const struct priced *p, int r)
{
    return r < p->run_count ? &p->runs[r] : &p->local_heads[r - p->run_count];
}

// Of its head alone, if `from` is behind its runs.
static void put_bytes(struct numbers *n, const struct priced *p, int from)
{
    for (int r = from; r < p->run_count + p->local_head_count; r++) {
        struct priced_run *run = run_of(p, r);
        put(n, &run->weight_bytes, 1), put(n, &run->gradient_bytes, 1);
        put(n, &run->optimizer_bytes, 1), put(n, &run->unsharded_bytes, 1);
        put(n, run->stash_bytes, RECOMPUTE_COUNT), put(n, run->working_bytes, RECOMPUTE_COUNT);
        put(n, run->feedback_bytes, p->gradient_option_count);
    }
    for (int g = 0; g < p->group_count && !from; g++)
        put(n, &p->groups[g].memory_limit_bytes, 1), put(n, &p->groups[g].constant_bytes, 1);
    for (int c = 0; c < p->cut_count && !from; c++)
        put(n, &p->cuts[c].message_bytes, 1),
            put(n, p->cuts[c].feedback_bytes, p->boundary_option_count);
}

static void put_times(struct numbers *n, const struct priced *p, int from)
{
    int passes = p->slice_count * p->group_count, pairs = passes * p->group_count * PART_COUNT;
    for (int r = from; r < p->run_count + p->local_head_count; r++) {
        struct priced_run *run = run_of(p, r);
        put(n, run->forward_ns, passes), put(n, run->backward_ns, passes);
        put(n, run->weight_ns, p->group_count), put(n, run->optimizer_ns, p->group_count);
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) put(n, run->again_ns[mode], passes);
        for (int o = 0; o < p->gradient_option_count; o++) put(n, run->sync_ns[o], p->group_count);
    }
    if (from) return;
    for (int g = 0; g < p->group_count; g++)
        put(n, p->groups[g].sync_constant_ns, p->gradient_option_count);
    for (int c = 0; c < p->cut_count; c++) {
        put(n, p->cuts[c].forward_ns, pairs);
        for (int o = 0; o < p->boundary_option_count; o++) put(n, p->cuts[c].backward_ns[o], pairs);
    }
    if (p->embedding_sync_ns) put(n, p->embedding_sync_ns, p->group_count * p->group_count);
}

// What is in tiers, what they hold, and energies.
static void put_tiers(struct numbers *n, const struct priced *p)
{
    for (int g = 0; g < p->group_count; g++) put(n, p->groups[g].tier_limit_bytes, p->tier_count);
    for (int r = 0; r < p->run_count; r++)
        for (int o = 0; o < p->runs[r].tiered_count; o++) {
            struct priced_tiered *t = &p->runs[r].tiered[o];
            put(n, t->energy_uj, p->group_count), put(n, t->again_uj, p->group_count);
            put(n, t->swap_uj, p->group_count);
            if (!p->gradient_options[o].tier_option) continue;
            put(n, t->tier_bytes, p->tier_count), put(n, &t->buffer_bytes, 1);
        }
}

// Some of its numbers rise or fall, or it has a slot less.
static void change(struct priced *p, uint64_t *state)
{
    struct numbers n = {.count = 0};
    if (random_less(state, 12) == 0) {
        struct priced_group *g = &p->groups[random_less(state, p->group_count)];
        g->slots -= g->slots > 0;
        return;
    }
    int from = p->local_head_count && random_less(state, 2) ? p->run_count : 0;
    if (p->tier_count && random_less(state, 2)) put_tiers(&n, p);
    else if (random_less(state, 2)) put_bytes(&n, p, from);
    else put_times(&n, p, from);
    bool rises = random_less(state, 3) > 0;
    for (int i = 1 + (int)random_less(state, 3); i > 0 && n.count; i--) {
        int64_t *number = n.of[random_less(state, n.count)];
        *number = rises ? 3 * *number + 5 : *number / 2;
    }
}

// Stages before local boundaries have a head, like the last layer.
static void give_head(struct priced *p, uint64_t seed, struct arena *arena)
{
    uint64_t state = seed;
    struct priced other;
    if (!p->layout.local_loss_every) return;
    random_priced_of(&other, (int)random_less(&state, SCHEDULE_KIND_COUNT), &state, arena);
    p->local_heads = &other.runs[other.run_count - 1], p->local_head_count = 1;
    p->local_heads->count = 1, p->local_heads->recomputable = false;
}

// What each stage of 1f1b has in flight, the same in both or not.
static void give_lists(struct priced *a, struct priced *b, uint64_t seed, bool unlike)
{
    uint64_t state = 11 * seed;
    bool same = random_less(&state, 2) > 0 && !unlike;
    if (a->layout.schedule != SCHEDULE_1F1B || a->layout.local_loss_every) return;
    for (int s = a->rank_count - 1, one = 1, other = 1; s >= 0; s--) {
        a->layout.in_flight[s] = (unsigned char)one, b->layout.in_flight[s] = (unsigned char)other;
        one += (int)random_less(&state, 3),
            other = same ? one : other + (int)random_less(&state, 3);
    }
}

static struct oracle answer(const struct priced *p, struct schedule *s, struct arena *arena)
{
    struct oracle e;
    struct error err = {OK, ""};
    priced_schedule(s, p, arena);
    assert_int_equal(oracle_answer(&e, p, s, arena, &err), OK);
    return e;
}

static int64_t best_of(const struct priced *p, struct arena *arena)
{
    struct schedule s;
    return answer(p, &s, arena).best_ns;
}

// The best plan just fits.
static void tighten(struct priced *a, struct priced *b, struct arena *arena)
{
    struct schedule s;
    struct oracle e = answer(a, &s, arena);
    int64_t bytes[STAGES_MAX];
    if (!e.plans) return;
    oracle_time(a, &s, e.best, bytes, arena);
    for (int g = 0; g < a->group_count; g++) {
        int64_t most = 0;
        for (int rank = 0; rank < a->rank_count; rank++)
            if (e.best[rank].group == g && bytes[rank] > most) most = bytes[rank];
        a->groups[g].memory_limit_bytes = b->groups[g].memory_limit_bytes = most;
    }
}

TEST(what_is_no_worse_has_no_worse_best_plan)
{
    int64_t accepted = 0, refused = 0, faster = 0, with_tiers = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < problems; i++, arena_reset(arena, mark)) {
        uint64_t seed = first_seed + (uint64_t)i, state = seed, again = seed;
        bool lists = seed % 12 == 11; // two documents that are alike in all but their lists
        int kind = (int)random_less(&state, SCHEDULE_KIND_COUNT);
        random_less(&again, SCHEDULE_KIND_COUNT);
        struct priced a, b;
        struct check_problem x, y;
        if (lists) kind = SCHEDULE_1F1B;
        random_priced_of(&a, kind, &state, arena);
        random_priced_of(&b, kind, &again, arena);
        a.rule_count = b.rule_count = 0;
        priced_without_setting(&a), priced_without_setting(&b);
        uint64_t tiers = 7 * seed, tiers_again = tiers;
        bool tiered = seed % 4 == 0 && priced_draw_tiers(&a, &tiers, arena) &&
                      priced_draw_tiers(&b, &tiers_again, arena);
        if (lists) a.layout.local_loss_every = b.layout.local_loss_every = 0;
        if (lists) a.layout.stored_inputs = b.layout.stored_inputs = false;
        if (seed % 3 && !tiered) give_head(&a, seed, arena), give_head(&b, seed, arena);
        if (seed % 7 < 5 || lists) give_lists(&a, &b, seed, lists);
        if (seed % 5 == 0 && !lists) a.layout.gradient_sync = SYNC_OVERLAPPED;
        if (seed % 5 == 1 && !lists) b.layout.gradient_sync = SYNC_OVERLAPPED;
        if (oracle_size(&a, PLANS_MOST, arena) > PLANS_MOST) continue;
        if (random_less(&state, 2)) tighten(&a, &b, arena);
        if (!lists) change(&a, &state);
        if (!lists && random_less(&state, 3) == 0) change(&b, &state);
        if (tiered && (priced_check(&a, &own_err) || priced_check(&b, &own_err))) continue;
        tables_of_priced(&x, &a, arena);
        tables_of_priced(&y, &b, arena);
        if (!check_no_worse(&x, &y)) {
            refused++;
            continue;
        }
        int64_t best = best_of(&a, arena), other = best_of(&b, arena);
        if (best > other)
            fail_msg("seed %llu: no worse, but %lld for %lld", (unsigned long long)seed,
                     (long long)best, (long long)other);
        accepted++, faster += best < other, with_tiers += tiered;
    }
    print_message("%lld no worse, %lld of them better, %lld with tiers; %lld not\n",
                  (long long)accepted, (long long)faster, (long long)with_tiers,
                  (long long)refused);
    assert_true(with_tiers > accepted / 60);
    assert_true(accepted > problems / 30 && refused > problems / 10 && faster > problems / 200);
}

ARGUMENT(problems)
ARGUMENT(first_seed)
