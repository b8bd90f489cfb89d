// The basis of bounds on plans with unequal replicas: a schedule of fewer micro-batches is that of
// more with the first ones removed, on every stream, so no path of it is longer and nothing more is
// in flight (docs/FORMULAS.md section 15).
#include "data/kinds/schedules.h"
#include "data/schedule/schedule.h"
#include "formulate/graph/longest.h"
#include "tests/support/problems.h"
#include "tests/support/check.h"

static struct schedule_request draw_request(struct random *rng, int kind)
{
    const struct schedule_properties *is = &schedule_kinds[kind];
    int ranks = (int)random_between(rng, is->in_groups ? 2 : 1, 5), turns = is->virtual_stages;
    if (!turns) turns = (int)random_between(rng, is->in_groups ? 2 : 1, 3);
    struct schedule_request r = {.kind = kind,
                                 .stage_count = ranks * turns,
                                 .rank_count = ranks,
                                 .virtual_stages = turns,
                                 .slice_count = 1,
                                 .barrier = true};
    if (is->slices) r.slice_count = (int)random_between(rng, 2, 3);
    for (int part = 0; part < PART_COUNT; part++) r.parts[part] = random_chance(rng, 50);
    r.epilogue = (kind == SCHEDULE_1F1B || kind == SCHEDULE_GPIPE) && random_chance(rng, 40);
    r.sync_overlapped = random_chance(rng, 50);
    r.sync = random_chance(rng, 70);
    r.optimizer = random_chance(rng, 50);
    r.embedding_sync = random_chance(rng, 30) && !is->folds;
    return r;
}

static struct schedule build(struct schedule_request request, int micro_batches,
                             struct arena *arena)
{
    struct schedule s;
    request.micro_batches = micro_batches;
    MUST(schedule_build(&s, &request, arena, &own_err));
    return s;
}

static bool same_stream(const struct schedule *few, const struct schedule *many,
                        const struct stream *a, const struct stream *b, int taken)
{
    int at = 0;
    for (int i = 0; i < b->count; i++) {
        const struct operation *y = &many->operations[b->operations[i]];
        if (y->micro_batch >= 0 && y->micro_batch < taken) continue;
        if (at == a->count) return false;
        const struct operation *x = &few->operations[a->operations[at++]];
        if (x->symbol != y->symbol || x->stage != y->stage ||
            (y->micro_batch >= 0 ? y->micro_batch - taken : -1) != x->micro_batch)
            return false;
    }
    return at == a->count;
}

// As solve/places/variants.c takes it.
static bool nests(const struct schedule_request *r)
{
    enum schedule_nesting nests = schedule_kinds[r->kind].nests;
    return nests == NESTS_ALWAYS || (nests == NESTS_UNBLOCKED && !r->parts[PART_BLOCKING]);
}

static void assert_part_of(const struct schedule *few, const struct schedule *many, int taken,
                           int trial)
{
    const char *name = schedule_names[few->request.kind];
    if (few->stream_count != many->stream_count || few->dependence_count > many->dependence_count)
        fail_msg("%s, trial %d: other streams", name, trial);
    for (int i = 0; i < few->stream_count; i++)
        if (!same_stream(few, many, &few->streams[i], &many->streams[i], taken))
            fail_msg("%s, trial %d: stream %d is another", name, trial, i);
    for (int s = 0; s < few->request.stage_count; s++)
        if (few->in_flight[s] > many->in_flight[s])
            fail_msg("%s, trial %d: stage %d holds more", name, trial, s);
}

static void assert_no_longer(const struct schedule *few, const struct schedule *many,
                             struct random *rng, int trial, struct arena *arena)
{
    struct graph *a, *b;
    MUST(graph_compile(&a, few, arena, &own_err));
    MUST(graph_compile(&b, many, arena, &own_err));
    int64_t *durations = TAKE(arena, graph_symbol_count(a), int64_t);
    for (int k = 0; k < 5; k++) {
        for (int i = 0; i < graph_symbol_count(a); i++)
            durations[i] = random_chance(rng, 30)
                               ? 0
                               : random_between(rng, 1, random_chance(rng, 50) ? 10 : 1000);
        if (graph_longest(a, durations, NULL) > graph_longest(b, durations, NULL))
            fail_msg("%s, trial %d: longer", schedule_names[few->request.kind], trial);
    }
}

TEST(test_orders)
{
    int nested = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < 1600; trial++, arena_reset(arena, mark)) {
        struct random rng = {(uint64_t)trial};
        struct schedule_request request = draw_request(&rng, (int)(trial % SCHEDULE_KIND_COUNT));
        int taken = layout_micro_batch_unit(
            &(struct layout){.schedule = request.kind, .pipeline = request.rank_count});
        int micro_batches = taken * (int)random_between(&rng, 1, 9);
        if (nests(&request)) {
            struct schedule few = build(request, micro_batches, arena),
                            many = build(request, micro_batches + taken, arena);
            assert_part_of(&few, &many, taken, trial);
            assert_no_longer(&few, &many, &rng, trial, arena);
            nested++;
        }
    }
    assert_true(nested > 800);
}

// ---- blocking time as a delay (solve/places/relax.c)

static int part_symbol(int stages, int kind, int part, int boundary)
{
    return symbol_index(stages, kind + part, boundary);
}

static void move_blocking(const struct schedule_request *r, int64_t *durations)
{
    for (int b = 0; b + 1 < r->stage_count; b++)
        for (int kind = SYMBOL_SEND_FORWARD; kind <= SYMBOL_SEND_EPILOGUE; kind += PART_COUNT)
            durations[part_symbol(r->stage_count, kind, PART_DELAY, b)] +=
                durations[part_symbol(r->stage_count, kind, PART_BLOCKING, b)];
}

// Passes that take almost no time, slow links, and messages of which few block.
static void draw_busy_links(const struct schedule_request *r, int64_t *durations,
                            struct random *rng)
{
    for (int s = 0; s < r->stage_count; s++) {
        for (int kind = 0; kind < SYMBOL_SEND_FORWARD; kind++)
            durations[symbol_index(r->stage_count, kind, s)] = random_between(rng, 0, 2);
        for (int kind = SYMBOL_SEND_FORWARD; kind < SYMBOL_SEND_EPILOGUE; kind += PART_COUNT) {
            durations[part_symbol(r->stage_count, kind, PART_LINK, s)] =
                random_between(rng, 50, 100);
            durations[part_symbol(r->stage_count, kind, PART_BLOCKING, s)] =
                random_chance(rng, 25) ? random_between(rng, 20, 60) : 0;
            durations[part_symbol(r->stage_count, kind, PART_DELAY, s)] =
                durations[part_symbol(r->stage_count, kind, PART_OVERHEAD, s)] =
                    random_between(rng, 0, 2);
        }
    }
}

// No path gets longer: a rank receives in the order of its link's messages, so a message blocks
// after the one before it.
static void assert_not_longer(const struct schedule *with, const struct schedule *moved,
                              struct random *rng, int trial, struct arena *arena)
{
    struct graph *a, *b;
    MUST(graph_compile(&a, with, arena, &own_err));
    MUST(graph_compile(&b, moved, arena, &own_err));
    int count = graph_symbol_count(a);
    int64_t *durations = TAKE(arena, count, int64_t);
    for (int k = 0; k < 6; k++) {
        for (int i = 0; i < count; i++)
            durations[i] = random_chance(rng, 20)
                               ? 0
                               : random_between(rng, 1, random_chance(rng, 50) ? 10 : 100);
        if (k % 2) draw_busy_links(&with->request, durations, rng);
        int64_t longest = graph_longest(a, durations, NULL);
        move_blocking(&with->request, durations);
        if (graph_longest(b, durations, NULL) > longest)
            fail_msg("%s, trial %d: longer", schedule_names[with->request.kind], trial);
    }
}

TEST(test_blocking)
{
    int tried = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < 1600; trial++, arena_reset(arena, mark)) {
        struct random rng = {(uint64_t)trial};
        struct schedule_request request = draw_request(&rng, (int)(trial % SCHEDULE_KIND_COUNT)),
                                without = request;
        int unit = layout_micro_batch_unit(
            &(struct layout){.schedule = request.kind, .pipeline = request.rank_count});
        without.parts[PART_BLOCKING] = false;
        without.parts[PART_DELAY] = request.parts[PART_DELAY] = true;
        if (!nests(&request) && schedule_kinds[request.kind].nests && request.rank_count > 1) {
            struct schedule with = build(request, unit * (int)random_between(&rng, 1, 5), arena),
                            moved = build(without, with.request.micro_batches, arena);
            assert_not_longer(&with, &moved, &rng, trial, arena);
            tried++;
        }
    }
    assert_true(tried > 250);
}
