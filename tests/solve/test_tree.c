// The tree's proof under planted faults: the recheck detects damaged records. And workers that die,
// or a worker's memory that is too small, cost only time.
#include "solve/tree/tree.h"
#include "solve/process/worker.h"
#include "tests/support/prepare.h"
#include "tests/support/random_priced.h"
#include "tests/support/check.h"
#include <glpk.h>

struct made {
    struct prepared prepared;
    struct formulation formulation;
    struct program program;
    struct tree tree;
};

static void make_by(struct made *m, int layers, int stages, const struct tree_settings *settings,
                    struct arena *arena)
{
    chain_priced(&m->prepared.priced, layers, stages, 2, 8, arena);
    prepare(&m->prepared, arena);
    MUST(formulate_choices(&m->formulation, &m->prepared.choices, (int64_t)1 << 50, arena,
                           &own_err));
    program_prepare(&m->program, &m->formulation, m->prepared.graph, (int64_t)1 << 40, arena);
    MUST(tree_run(&m->tree, &m->program, settings, NULL, 0, 0, arena, &own_err));
}

static void make_sized(struct made *m, int layers, int stages, int64_t memory_limit_bytes,
                       struct arena *arena)
{
    const struct tree_settings settings = {
        .threads = 2, .plan_count = 1, .memory_limit_bytes = memory_limit_bytes};
    make_by(m, layers, stages, &settings, arena);
}

static void make(struct made *m, struct arena *arena) { make_sized(m, 16, 4, 0, arena); }

static enum status look_again(struct made *m, struct arena *arena)
{
    struct error err = {0};
    return tree_recheck(&m->tree, &m->program, 0, arena, &err);
}

static struct record *find(struct made *m, enum record_kind kind)
{
    for (int i = 0; i < m->tree.records.count; i++)
        if (m->tree.records.items[i].kind == kind) return &m->tree.records.items[i];
    fail_msg("no record of kind %d", kind);
    return NULL;
}

TEST(test_sound)
{
    struct made m = {0};
    make(&m, arena);
    assert_true(m.tree.finished);
    assert_int_equal(m.tree.plan_count, 1);
    assert_int_equal(m.tree.bound_ns, m.tree.plans[0].time_ns);
    assert_int_equal(look_again(&m, arena), OK);
}

static void damage_bound(struct made *m) { m->tree.bound_ns++; }
static void damage_multiplier(struct made *m)
{
    struct record *r = find(m, RECORD_CLOSED);
    for (int k = 0; k < r->proof.count; k++)
        if (m->formulation.milp.rows[r->proof.rows[k]].role == ROW_PATH) r->proof.values[k] /= 2;
}
static void damage_claim(struct made *m) { find(m, RECORD_CLOSED)->bound_ns += 1000000000000; }
static void damage_box(struct made *m) { find(m, RECORD_CLOSED)->allowed[0] ^= 1; }
static void damage_split(struct made *m) { find(m, RECORD_SPLIT)->split.load_ns = 0; }
static void damage_removal(struct made *m)
{
    struct record *r = find(m, RECORD_REMOVED);
    memcpy(r->removed, r->allowed, sizeof *r->removed);
}
static void damage_order(struct made *m) { m->tree.records.count--; }
static void damage_row(struct made *m)
{
    struct record *r = find(m, RECORD_CLOSED);
    for (int k = 0; k < r->proof.count; k++) {
        const struct milp_row *row = &m->formulation.milp.rows[r->proof.rows[k]];
        if (row->role != ROW_PATH) continue;
        for (int e = row->first + 1; e < row->first + row->count; e++)
            m->formulation.milp.entry_value[e] = m->formulation.milp.entry_value[e] / 2;
    }
}

TEST(test_planted)
{
    void (*const damages[])(struct made *) = {damage_bound, damage_multiplier, damage_claim,
                                              damage_box,   damage_split,      damage_removal,
                                              damage_order, damage_row};
    struct arena_mark mark = arena_set_mark(arena);
    for (size_t i = 0; i < ARRAY_LENGTH(damages); i++, arena_reset(arena, mark)) {
        struct made m = {0};
        make(&m, arena);
        damages[i](&m);
        if (look_again(&m, arena) != SOLVER) fail_msg("damage %d was not seen", (int)i);
    }
}

// ---- workers

enum { REQUESTS = 8, ABORTS = 3, HANGS = 5 };

static void shaky(void *context, struct message *in, struct message *out, struct arena *arena)
{
    (void)context, (void)arena;
    int64_t number = message_get_count(in);
    if (number == ABORTS) abort();
    if (number == HANGS)
        for (volatile int forever = 1; forever;) continue;
    message_put_count(out, number * number);
}

static void ask_workers(struct message answers[REQUESTS], int skipped, double silence_limit_s,
                        struct arena *arena)
{
    struct worker_pool *pool;
    struct worker_settings settings = {2, 0, silence_limit_s, shaky, NULL};
    struct message requests[REQUESTS];
    const char *why = NULL;
    memset(answers, 0, REQUESTS * sizeof *answers);
    MUST(worker_pool_open(&pool, &settings, arena, &own_err));
    for (int i = 0; i < REQUESTS; i++) {
        message_begin(&requests[i], arena);
        message_put_count(&requests[i], i == skipped ? 0 : i);
    }
    assert_true(worker_pool_run(pool, requests, REQUESTS, answers, NULL, NULL, &why, arena));
    for (int i = 0; i < REQUESTS; i++)
        if (!answers[i].broken)
            assert_int_equal(message_get_count(&answers[i]), i == skipped ? 0 : i * i);
    assert_non_null(why);
}

// One worker aborts, one hangs: nothing else is lost. A silence limit that ends the hanging worker
// in good time may also end a slow one on a busy machine; without a limit only the first is lost.
TEST(test_workers)
{
    struct message answers[REQUESTS];
    ask_workers(answers, -1, 0.3, arena);
    assert_true(answers[ABORTS].broken && answers[HANGS].broken);
    ask_workers(answers, HANGS, 0, arena);
    for (int i = 0; i < REQUESTS; i++) assert_int_equal(answers[i].broken, i == ABORTS);
}

// Memory that does not even hold a relaxation: every box falls to splitting alone, and the answer
// is the same.
TEST(test_no_memory)
{
    struct made sound = {0}, starved = {0};
    make_sized(&sound, 5, 2, 0, arena);
    make_sized(&starved, 5, 2, 1 << 16, arena);
    assert_non_null(starved.tree.sidelined);
    assert_true(starved.tree.finished);
    assert_int_equal(starved.tree.plans[0].time_ns, sound.tree.plans[0].time_ns);
    assert_int_equal(look_again(&starved, arena), OK);
}

// Without processes: the same records; and where GLPK gives up in this very thread, the same plan.
TEST(test_here)
{
    const struct tree_settings here = {.threads = 0, .plan_count = 1};
    struct made sound = {0}, alone = {0}, failing = {0};
    jmp_buf exhausted;
    arena->exit = &exhausted;
    if (setjmp(exhausted)) fail_msg("GLPK's error left the tree");
    make_sized(&sound, 16, 4, 0, arena);
    make_by(&alone, 16, 4, &here, arena);
    assert_null(alone.tree.sidelined);
    assert_int_equal(alone.tree.boxes, sound.tree.boxes);
    assert_int_equal(alone.tree.records.count, sound.tree.records.count);
    assert_int_equal(alone.tree.plans[0].time_ns, sound.tree.plans[0].time_ns);
    assert_int_equal(look_again(&alone, arena), OK);
    glp_mem_limit(1);
    glp_alloc(1000000, 1); // of 1 MiB, which is all that GLPK has until it is dropped
    make_by(&failing, 16, 4, &here, arena);
    assert_non_null(failing.tree.sidelined);
    assert_int_equal(failing.tree.plans[0].time_ns, sound.tree.plans[0].time_ns);
    assert_int_equal(look_again(&failing, arena), OK);
    arena->exit = NULL;
}

// A search whose time is over starts no box; its boxes stay open unchanged.
TEST(test_time_is_over)
{
    struct made m = {0};
    struct watch over = {NULL, 1e-9, 0};
    struct job_result r;
    make(&m, arena);
    struct task task = {.target_ns = m.program.hopeless_ns, .box_limit = 8};
    box_whole(&task.box, &m.program, arena);
    job_run(&r, &task, &m.program, arena);
    assert_true(r.explored > 0);
    task.watch = &over;
    job_run(&r, &task, &m.program, arena);
    assert_true(r.explored == 0 && r.open_count == 1 && r.open[0].bound_ns == task.box.bound_ns);
}

TEST(test_message)
{
    struct message m;
    message_begin(&m, arena);
    message_put_count(&m, 1000000);
    message_put_count(&m, 7);
    assert_int_equal(message_get_length(&m, 8), 0); // longer than the rest: broken
    assert_true(m.broken);
    assert_int_equal(message_get_count(&m), 0);
}
