// Tensor grids in documents: written as they were read, and each incompatible setting refused by
// name in one line; and which of them a degree is.
#include "data/inputs/framework.h"
#include "data/inputs/problem.h"
#include "data/inputs/space.h"
#include "data/kinds/schedules.h"
#include "tests/support/check.h"
#include "tests/support/folder.h"
#include "tests/support/problems.h"

static enum status load(struct job *j, const char *layout, const char *space, struct arena *arena,
                        struct error *err)
{
    const char *path = own_path("job.json");
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f,
            "{\"kind\": \"plumbline.job\", \"version\": 1, \"name\": \"j\", \"precision\": "
            "\"bf16\", \"sequence\": 64, "
            "\"global_batch\": 8, \"layout\": {\"pipeline\": 1, \"micro_batch\": 4%s}%s}\n",
            layout, space);
    fclose(f);
    return job_load(j, path, arena, err);
}

TEST(grids_are_read_and_written)
{
    struct job j, again;
    const char *path = own_path("again.json");
    CHECK_OK(load(&j, ", \"tensor\": 24, \"tensor_grid\": [3, 4, 2]", "", arena, &err));
    assert_int_equal(layout_tensor_axis(&j.layout, 0), 3);
    assert_int_equal(layout_tensor_axis(&j.layout, 1), 4);
    assert_int_equal(layout_tensor_axis(&j.layout, 2), 2);
    assert_string_equal(layout_tensor_text(&j.layout, arena), "3x4x2");
    CHECK_OK(job_save(&j, path, arena, &err));
    CHECK_OK(job_load(&again, path, arena, &err));
    assert_true(layout_has_grid(&again.layout) && again.layout.grid_depth == 4);
    CHECK_OK(load(&j, ", \"tensor\": 8, \"tensor_grid\": [8, 1, 1]",
                  ", \"space\": {\"tensor_grids\": true}", arena, &err));
    assert_false(layout_has_grid(&j.layout));
    CHECK_OK(job_save(&j, path, arena, &err));
    CHECK_OK(job_load(&again, path, arena, &err));
    assert_true(again.space.tensor_grids && !layout_has_grid(&again.layout));
}

static void expect(const char *layout, const char *where)
{
    struct error err = {OK, ""};
    struct job j;
    struct arena_mark mark = arena_set_mark(&own_arena);
    CHECK_REFUSED(load(&j, layout, "", &own_arena, &err), where);
    arena_reset(&own_arena, mark);
}

TEST(axes_are_refused)
{
    expect(", \"tensor\": 8, \"tensor_grid\": [2, 4]", "layout.tensor_grid: expected 3 axes");
    expect(", \"tensor\": 8, \"tensor_grid\": [2, 2, 4]", "whose product is tensor 8, found 16");
    expect(", \"tensor\": 8, \"tensor_grid\": [8, 0, 1]", "layout.tensor_grid");
    expect(", \"tensor_grid\": [2, 1, 1]", "whose product is tensor 1, found 2");
}

// ---- what of a problem does not go with a grid

static struct problem problem;

static void frozen(void) { problem.model.runs[1].frozen = true; }
static void moe(void) { problem.model.runs[1].kind = LAYER_MOE; }
static void latent(void) { problem.model.shape.kv_rank = 8; }
static void normed(void) { problem.model.shape.qk_norm = QK_NORM_HEAD; }
static void narrow(void) { problem.model.shape.embedding_width = 8; }
static void crossing(void) { problem.model.runs[1].cross_attention = true; }
static void titan(void) { problem.job.trainer = TRAINER_TORCHTITAN; }
static void fp8(void) { problem.job.precision = FP8; }
static void gathered(void) { problem.job.gathered_logits = true; }
static void compressing(void) { problem.job.gradient_option_count = 1; }
static void framed(void) { problem.job.space.framework = FRAMEWORK_MEGATRON; }
static void contextual(void) { problem.job.layout.context = 2; }
static void sharded(void)
{
    problem.job.layout.sequence_parallel = true, problem.job.layout.tensor = 4;
}
static void kept(void)
{
    problem.job.layout.zero = 3, problem.job.layout.grid_gathers = GRID_EACH_STEP;
}
static void kept_alone(void)
{
    problem.job.layout.grid_rows = 1, problem.job.layout.tensor = 4;
    problem.job.layout.grid_gathers = GRID_EACH_MICRO_BATCH;
}
static void odd_batch(void) { problem.job.layout.micro_batch = 3; }
static void odd_width(void) { problem.model.shape.hidden += 1; }
static void odd_heads(void) { problem.model.shape.heads += 1; }
static void listed(void)
{
    static int degrees[] = {4, 8};
    problem.job.space.given = true;
    problem.job.space.axes[SPACE_TENSOR] = (struct space_axis){AXIS_LIST, degrees, 2};
}

TEST(misfits_are_named)
{
    static const struct {
        void (*spoil)(void);
        const char *told;
    } cases[] = {{frozen, "no frozen layers"},
                 {moe, "blocks, embeddings and heads alone"},
                 {latent, "without latent attention (shape.kv_rank)"},
                 {normed, "shape.qk_norm"},
                 {narrow, "shape.embedding_width"},
                 {crossing, "a model without cross attention"},
                 {titan, "trainer \"megatron\""},
                 {fp8, "another precision than fp8"},
                 {gathered, "gathered_logits false"},
                 {compressing, "no boundary_options, no gradient_options"},
                 {framed, "space.framework \"axonn\" or \"any\""},
                 {contextual, "layout.context: a tensor grid needs 1, found 2"},
                 {sharded, "layout.sequence_parallel: a tensor grid of one along its first axis"},
                 {kept, "layout.grid_gathers: expected pass with zero 3"},
                 {kept_alone, "third axis, found micro_batch"},
                 {odd_batch, "multiple of tensor_grid's third axis 2, found 3"},
                 {odd_width, "tensor_grid's second axis 2"},
                 {odd_heads, "the first axis of the job's tensor_grid 2"},
                 {listed, "space.tensor_grids, or a space that does not vary tensor"}};
    struct random_limits limits = random_limits_small();
    limits.flavour = FLAVOUR_SHAPE, limits.grids = true;
    struct arena_mark mark = arena_set_mark(arena);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++, arena_reset(arena, mark)) {
        struct random rng = {7};
        struct error found = {OK, ""};
        do random_problem(&problem, &rng, &limits, arena);
        while (problem.job.layout.grid_depth != 2 || problem.job.layout.grid_rows != 2 ||
               layout_tensor_axis(&problem.job.layout, 0) != 2 || problem.job.rule_count);
        CHECK_OK(problem_check_grid(&problem, &err));
        CHECK_OK(problem_check_layout(&problem, &err));
        cases[i].spoil();
        problem.job.global_batch = 8 * problem.job.layout.data * problem.job.layout.micro_batch;
        if (problem_check_grid(&problem, &found) == OK &&
            problem_check_layout(&problem, &found) == OK)
            fail_msg("%s: not refused", cases[i].told);
        if (!strstr(found.text, cases[i].told))
            fail_msg("expected %s, found %s", cases[i].told, found.text);
    }
}

AROUND_EACH(folder_open, folder_close)

// ---- what AxoNN runs of all grids

struct counts {
    int64_t all, runs;
};

// Ranks along the second axis are next to each other, rows of them along the first, then the third.
static bool count_own(void *argument, int64_t number, const struct layout *l)
{
    struct counts *c = argument;
    struct framework_of of = {.layers = 8, .micro_batches = 4, .precision = BF16};
    int lengths[3], places[] = {1, 0, 2}, stride = 1;
    bool own = l->pipeline == 1 && l->zero == 0 && l->gradient_sync == SYNC_EXPOSED &&
               !l->sequence_parallel && l->grid_gathers != GRID_EACH_STEP && !l->offload_optimizer;
    for (int i = 0; i < 3; i++) lengths[i] = layout_tensor_axis(l, i);
    for (int i = 0; i < 3; stride *= lengths[places[i++]])
        own = own && (lengths[places[i]] == 1 || layout_axis_stride(l, places[i]) == stride);
    assert_int_equal(own, !framework_refusal(FRAMEWORK_AXONN, l, &of));
    c->all++, c->runs += own;
    return (void)number, true;
}

static bool count_framed(void *argument, int64_t number, const struct layout *l)
{
    return (void)number, (void)l, ++*(int64_t *)argument, true;
}

TEST(axonn_runs_its_grids)
{
    static const enum space_key open[] = {SPACE_TENSOR,
                                          SPACE_PIPELINE,
                                          SPACE_DATA,
                                          SPACE_MICRO_BATCH,
                                          SPACE_ZERO,
                                          SPACE_GRADIENT_SYNC,
                                          SPACE_SEQUENCE_PARALLEL,
                                          SPACE_GRID_ORDER,
                                          SPACE_GRID_GATHERS,
                                          SPACE_OFFLOAD_OPTIMIZER};
    struct layout base = {LAYOUT_PLAIN(1), .tensor = 1,      .context = 1,
                          .data = 1,       .micro_batch = 1, .schedule = SCHEDULE_1F1B};
    struct space space = {.given = true, .tensor_grids = true};
    struct counts c = {0, 0};
    int64_t framed_count = 0;
    struct space_limits limits = {.layout = &base,
                                  .devices = 16,
                                  .global_batch = 32,
                                  .sequence = 64,
                                  .layers = 8,
                                  .precision = BF16};
    base.recompute = 1 + RECOMPUTE_NONE;
    for (size_t i = 0; i < ARRAY_LENGTH(open); i++) space.axes[open[i]].kind = AXIS_ALL;
    space_each(&space, &limits, count_own, &c);
    space.framework = FRAMEWORK_AXONN;
    space_each(&space, &limits, count_framed, &framed_count);
    assert_int_equal(framed_count, c.runs);
    assert_true(c.runs > 100 && c.all > 50 * c.runs);
}

struct seen {
    struct layout *layouts;
    int64_t count, capacity;
};

static bool note(void *argument, int64_t number, const struct layout *layout)
{
    struct seen *s = argument;
    assert_int_equal(number, s->count);
    assert_true(s->count < s->capacity);
    s->layouts[s->count++] = *layout;
    return true;
}

// All ways to write a degree as a product of three, in their order; the first is no grid.
TEST(grids_of_a_degree)
{
    static struct layout storage[400];
    struct layout base = {LAYOUT_PLAIN(1), .tensor = 1, .context = 1, .data = 1, .micro_batch = 1};
    base.schedule = SCHEDULE_1F1B, base.sequence_parallel = true;
    for (int tensor = 1; tensor <= 64; tensor++) {
        int expected = 0, divided = 0, decided = 0, at = 0, only[] = {tensor}, both[] = {0, 1};
        struct space space = {.given = true, .tensor_grids = true};
        space.axes[SPACE_TENSOR] = (struct space_axis){AXIS_LIST, only, 1};
        struct space_limits limits = {&base, tensor, 1, 100, 4};
        struct seen seen = {storage, 0, (int64_t)ARRAY_LENGTH(storage)};
        space_each(&space, &limits, note, &seen);
        for (int third = 1; third <= tensor; third++)
            for (int second = 1; second <= tensor; second++) {
                if (tensor % (third * second)) continue;
                const struct layout *l = &storage[at++];
                expected++;
                assert_int_equal(layout_tensor_axis(l, 2), third);
                assert_int_equal(layout_tensor_axis(l, 1), second);
                assert_int_equal(layout_tensor_axis(l, 0), tensor / third / second);
                assert_int_equal(layout_has_grid(l), third * second > 1);
                bool divides = !layout_has_grid(l) || layout_tensor_axis(l, 0) > 1;
                assert_int_equal(l->sequence_parallel, divides);
                divided += divides;
                // Orders differ in how the axes above 1 come; gathers only where there are any.
                int above = 0, orders[] = {1, 1, 2, 6};
                for (int axis = 0; axis < 3; axis++) above += layout_tensor_axis(l, axis) > 1;
                decided += layout_has_grid(l) ? orders[above] * (third > 1 ? 3 : 1) : 1;
            }
        assert_int_equal(seen.count, expected);
        space.axes[SPACE_GRID_ORDER].kind = space.axes[SPACE_GRID_GATHERS].kind = AXIS_ALL;
        assert_int_equal(space_each(&space, &limits, NULL, NULL), decided);
        space.axes[SPACE_GRID_ORDER].kind = space.axes[SPACE_GRID_GATHERS].kind = AXIS_FIXED;
        space.axes[SPACE_SEQUENCE_PARALLEL] = (struct space_axis){AXIS_LIST, both, 2};
        seen.count = 0;
        assert_int_equal(space_each(&space, &limits, note, &seen), expected + divided);
    }
}
