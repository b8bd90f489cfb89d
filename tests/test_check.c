// The checker against what it shares nothing with: its graphs against the schedule tables, its verdicts against
// enumeration. A true bound is accepted; one that is a nanosecond too high has no proof, however the boxes are made.
//
//   test_check [PROBLEMS] [SEED]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/file.h"
#include "formulate/choices.h"
#include "formulate/longest.h"
#include "solve/check_parts.h"
#include "tests/support/certify.h"
#include "tests/support/enumerate.h"
#include "tests/support/random_priced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>      // last: it has a macro fail()

enum { DEFAULT_PROBLEMS = 240, BOXES_MOST = 4000, DECISIONS_MOST = 60000 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;

// ---- a random problem of a schedule, as a document

struct trial {
    struct priced p;
    struct schedule schedule;
    struct check_text text;
};

static const char *priced_path(struct arena *arena)
{
    return arena_print(arena, "%s/plumbline-check-%ld.json", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
}

// false: the draw is no valid document (more stages than layers, a schedule that does not fit).
static bool draw(struct trial *t, uint64_t seed, struct arena *arena)
{
    struct error err = {OK, ""};
    uint64_t state = seed * 7919 + 1;
    enum schedule_kind kind = (enum schedule_kind)(seed % (SCHEDULE_KIND_COUNT + 1));
    const char *path = priced_path(arena);
    if (kind == SCHEDULE_KIND_COUNT) random_priced(&t->p, &state, arena);
    else random_priced_of(&t->p, kind, &state, arena);
    t->p.layout.expert = 1;
    if (priced_save(&t->p, path, arena, &err)) fail_msg("%s", err.text);
    bool valid = priced_load(&t->p, path, arena, &err) == OK;
    t->text.file = "priced.json";
    err = (struct error){OK, ""};
    if (file_read(path, &t->text.text, &t->text.size, arena, &err)) fail_msg("%s", err.text);
    unlink(path);
    struct schedule_request request = schedule_request_of(&t->p);
    return valid && schedule_build(&t->schedule, &request, arena, &err) == OK;
}

// ---- graphs

static int operation_in(const struct check_graph *g, const struct schedule *s, int operation)
{
    const struct operation *o = &s->operations[operation];
    int stages = s->request.stage_count, kind = o->symbol / stages;
    return check_operation(g, symbol_base_kind(kind), o->symbol % stages, o->micro_batch < 0 ? 0 : o->micro_batch, symbol_slice(kind));
}

struct edges { int (*items)[3]; int count; };

static void add_edge(struct edges *e, int before, int after, int lap)
{
    e->items[e->count][0] = before;
    e->items[e->count][1] = lap;
    e->items[e->count++][2] = after;
}

static int compare_edge(const void *a, const void *b)
{
    for (int i = 0; i < 3; i++)
        if (((const int *)a)[i] != ((const int *)b)[i]) return ((const int *)a)[i] < ((const int *)b)[i] ? -1 : 1;
    return 0;
}

// All edges of the tables, in the checker's numbers, sorted, each once. Slices of one symbol are told apart by the symbol.
static struct edges edges_of(const struct check_graph *g, const struct schedule *s, struct arena *arena)
{
    int capacity = s->dependence_count + s->carried_count, kept = 0;
    for (int i = 0; i < s->stream_count; i++) capacity += s->streams[i].count;
    struct edges e = {arena_take(arena, (size_t)capacity, sizeof *e.items), 0};
    for (int i = 0; i < s->dependence_count; i++)
        add_edge(&e, operation_in(g, s, s->dependences[i].before), operation_in(g, s, s->dependences[i].after), 0);
    for (int i = 0; i < s->carried_count; i++)
        add_edge(&e, operation_in(g, s, s->carried[i].before), operation_in(g, s, s->carried[i].after), 1);
    for (int i = 0; i < s->stream_count; i++)
        for (int k = 1; k < s->streams[i].count; k++)
            add_edge(&e, operation_in(g, s, s->streams[i].operations[k - 1]), operation_in(g, s, s->streams[i].operations[k]), 0);
    qsort(e.items, (size_t)e.count, sizeof *e.items, compare_edge);
    for (int i = 0; i < e.count; i++)
        if (i == 0 || compare_edge(e.items[i], e.items[kept - 1])) memmove(e.items[kept++], e.items[i], sizeof *e.items);
    e.count = kept;
    return e;
}

static void compare_graphs(const struct trial *t, struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_problem p;
    struct check_graph g;
    if (check_read_problem(&p, t->text.file, t->text.text, t->text.size, arena, &err) || check_build_graph(&g, &p, arena))
        fail_msg("%s", err.text);
    assert_int_equal(g.operation_count, t->schedule.operation_count);
    struct edges e = edges_of(&g, &t->schedule, arena);
    assert_int_equal(e.count, g.first[g.offset[KINDS]]);
    for (int i = 0, k = 0; i < g.offset[KINDS]; i++)
        for (int at = g.first[i]; at < g.first[i + 1]; at++, k++) {
            assert_int_equal(e.items[k][0], i);
            assert_int_equal(e.items[k][1], g.lap[at]);
            assert_int_equal(e.items[k][2], g.next[at]);
        }
    int peaks = 0;
    for (int rank = 0; rank < p.ranks; rank++) peaks += g.peaks[rank].count;
    assert_int_equal(peaks, t->schedule.peak_count);
}

static void test_graphs(void **state)
{
    int compared = 0;
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct arena arena;
        struct trial t;
        arena_open(&arena, NULL);
        if (draw(&t, seed, &arena)) {
            compare_graphs(&t, &arena);
            compared++;
        }
        arena_close(&arena);
    }
    print_message("%d graphs are the tables' own\n", compared);
    assert_true(compared >= problem_count / 2);
}

// ---- bounds

static int64_t decisions_of(const struct choices *c)
{
    int64_t product = 1;
    for (int s = 0; s < c->priced->stage_count && product <= DECISIONS_MOST; s++) product *= c->stages[s].count;
    return product;
}

static struct {
    int feasible, infeasible, refused, skipped, by_kind[SCHEDULE_KIND_COUNT];
    int64_t boxes;
} seen;

static void expect(const struct check_text *certificate, const struct check_text *priced, bool accepted, uint64_t seed,
                   struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_result result;
    if (check_certificate(&result, certificate, priced, CHECK_WORK_DEFAULT, arena, &err))
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
    if (result.accepted != accepted)
        fail_msg("seed %llu: %s, %s", (unsigned long long)seed, accepted ? "not accepted" : "accepted", result.reason);
    seen.boxes += result.boxes;
}

// false: it would take too many boxes.
static bool hear(const struct certify_claim *claim, const struct trial *t, bool accepted, uint64_t seed, struct arena *arena)
{
    struct check_text certificate = {.file = "certificate.json"};
    certificate.text = certify(claim, &t->text, &certificate.size, arena);
    if (certificate.text) expect(&certificate, &t->text, accepted, seed, arena);
    return certificate.text != NULL;
}

static void check_bounds(const struct trial *t, uint64_t seed, struct arena *arena)
{
    struct error err = {OK, ""};
    struct choices c;
    struct graph *g;
    struct enumeration e;
    if (choices_build(&c, &t->p, &t->schedule, arena, &err) || graph_compile(&g, &t->schedule, arena, &err)) fail_msg("%s", err.text);
    seen.skipped += decisions_of(&c) > DECISIONS_MOST;
    if (decisions_of(&c) > DECISIONS_MOST) return;
    enumerate(&e, &c, g, NULL, NULL, arena);
    bool feasible = e.best_ns != INT64_MAX;
    struct plan plan;
    struct certify_claim claim = {.infeasible = !feasible, .iteration_ns = feasible ? e.best_ns : -1, .bound_ns = e.best_ns,
                                  .counts = seed % 2, .boxes_most = BOXES_MOST};
    if (feasible) choices_to_plan(&plan, &c, e.best, e.best_ns, arena);
    claim.incumbent = feasible ? plan.stages : NULL;
    if (!hear(&claim, t, true, seed, arena)) {
        seen.skipped++;
        return;
    }
    seen.feasible += feasible;
    seen.infeasible += !feasible;
    seen.by_kind[t->p.layout.schedule]++;
    // A claim that is not true: one nanosecond too much, or that there is no plan.
    claim = (struct certify_claim){.iteration_ns = -1, .bound_ns = e.best_ns + 1, .counts = seed % 2, .boxes_most = BOXES_MOST};
    if (feasible) seen.refused += hear(&claim, t, false, seed, arena);
    claim.infeasible = true;
    if (feasible) seen.refused += hear(&claim, t, false, seed, arena);
}

static void test_bounds(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct arena arena;
        struct trial t;
        arena_open(&arena, NULL);
        if (draw(&t, seed, &arena)) check_bounds(&t, seed, &arena);
        arena_close(&arena);
    }
    print_message("%d bounds and %d infeasible problems proven, %d false claims refused, %lld boxes; %d skipped\n", seen.feasible,
                  seen.infeasible, seen.refused, (long long)seen.boxes, seen.skipped);
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++) {
        print_message("  %-12s %d\n", schedule_names[kind], seen.by_kind[kind]);
        assert_true(seen.by_kind[kind] >= problem_count / 80);
    }
    assert_true(seen.feasible >= problem_count / 5 && seen.infeasible >= problem_count / 20 && seen.refused >= problem_count / 5);
}

int main(int argc, char **argv)
{
    if (argc > 1) problem_count = atoi(argv[1]);
    if (argc > 2) first_seed = strtoull(argv[2], NULL, 10);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_graphs), cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
