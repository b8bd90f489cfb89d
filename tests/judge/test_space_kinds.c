// Two choices of a space that few layouts have: how context ranks pass on keys and values, and the
// dispatch of experts' tokens beside another micro-batch's passes. Counted by hand, and against
// Megatron-LM's own assertions (megatron/core/transformer/transformer_config.py, d98e8a64).
#include "data/inputs/framework.h"
#include "data/inputs/space.h"
#include "data/kinds/schedules.h"
#include "tests/support/check.h"

#include <string.h>

enum { MOST = 200 };
struct seen {
    struct layout layouts[MOST];
    int count;
};

static bool note(void *argument, int64_t number, const struct layout *layout)
{
    struct seen *s = argument;
    assert_true(number == s->count && s->count < MOST);
    s->layouts[s->count++] = *layout;
    return true;
}

// 8 GPUs, 64 sequences, 16 layers, 8 experts.
static struct space_limits limits_of(const struct layout *base, const bool *modes)
{
    return (struct space_limits){.layout = base,
                                 .devices = 8,
                                 .global_batch = 64,
                                 .sequence = 1024,
                                 .layers = 16,
                                 .experts = 8,
                                 .precision = BF16,
                                 .key_heads = 8,
                                 .recompute = modes};
}

static const struct layout base = {.tensor = 1,
                                   .context = 1,
                                   .data = 8,
                                   LAYOUT_PLAIN(1),
                                   .micro_batch = 1,
                                   .schedule = SCHEDULE_1F1B,
                                   .zero = 1};

// Whether Megatron-LM starts with the flag.
static bool may_overlap(const struct layout *l, enum precision precision, int mtp, int mode)
{
    bool of_module = mode >= RECOMPUTE_SETS && recompute_repeats((enum recompute)mode, MODULE_MOE);
    return l->expert > 1 && precision != FP32 && mtp <= 1 && mode != RECOMPUTE_FULL &&
           mode != RECOMPUTE_FIRST_LAYERS && !of_module &&
           !(l->pipeline > 1 && l->virtual_stages == 1);
}

TEST(dispatch_is_overlapped_where_megatron_does)
{
    const int experts[] = {1, 4}, depths[] = {0, 1, 2};
    int runs = 0, refused = 0;
    for (int i = 0; i < 3 * 2 * 2 * 3 * RECOMPUTE_COUNT; i++) {
        int mode = i % RECOMPUTE_COUNT, rest = i / RECOMPUTE_COUNT;
        struct layout l = base;
        struct framework_of of = {16, 32, rest % 2 ? BF16 : FP32, .experts = true};
        of.mtp_depth = depths[rest / 2 % 3], l.expert = experts[rest / 6 % 2];
        if (rest / 12) l.pipeline = 2, l.data = 4;
        if (rest / 12 == 2) l.schedule = SCHEDULE_INTERLEAVED, l.virtual_stages = 2;
        l.recompute = 1 + mode, l.overlapped_dispatch = true;
        if (mode == RECOMPUTE_SWAP) continue;
        bool may = may_overlap(&l, of.precision, of.mtp_depth, mode);
        for (int f = FRAMEWORK_ANY; framework_names[f]; f++) {
            bool core = f == FRAMEWORK_MEGATRON || f == FRAMEWORK_NEMO;
            const char *why = framework_refusal((enum framework)f, &l, &of);
            if (f == FRAMEWORK_ANY || (core && may)) assert_null(why);
            else if (core) assert_string_equal(why, "overlapped_dispatch");
            else assert_non_null(why);
            // Megatron's hybrid has no schedule of two micro-batches; all else stays as it is.
            of.hybrid = true, why = framework_refusal((enum framework)f, &l, &of),
            of.hybrid = false;
            if (core) assert_string_equal(why, "overlapped_dispatch");
            else assert_true(!why == (f == FRAMEWORK_ANY));
        }
        *(may ? &runs : &refused) += 1;
    }
    assert_true(runs > 50 && refused > 500);
}

// On one rank, where every stage may choose, the setting is chosen with it; expert degree 1 has
// nothing to overlap.
TEST(overlapped_dispatch_is_a_choice)
{
    static const bool modes[RECOMPUTE_COUNT] = {
        true, [RECOMPUTE_SELECTIVE] = true, [RECOMPUTE_FULL] = true};
    struct space_limits limits = limits_of(&base, modes);
    const struct {
        enum framework framework;
        int expert, pipeline, expected, hidden;
    } rows[] = {{FRAMEWORK_MEGATRON, 1, 1, 1, 0},   {FRAMEWORK_MEGATRON, 4, 1, 1 + 2, 2},
                {FRAMEWORK_MEGATRON, 4, 2, 1, 0},   {FRAMEWORK_ANY, 4, 1, 2, 1},
                {FRAMEWORK_TORCHTITAN, 4, 1, 1, 0}, {FRAMEWORK_DEEPSPEED, 4, 1, 1, 0}};
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct seen seen = {.count = 0};
        struct layout own = base;
        struct space space = {.given = true, .framework = rows[i].framework};
        own.expert = rows[i].expert, own.pipeline = rows[i].pipeline, own.data /= own.pipeline;
        if (rows[i].framework == FRAMEWORK_TORCHTITAN)
            own.zero = 2, own.gradient_sync = SYNC_OVERLAPPED;
        space.axes[SPACE_OVERLAPPED_DISPATCH].kind = AXIS_ALL;
        limits.layout = &own;
        assert_int_equal(space_each(&space, &limits, note, &seen), rows[i].expected);
        int hidden = 0;
        for (int k = 0; k < seen.count; k++) {
            hidden += seen.layouts[k].overlapped_dispatch;
            assert_true(space_contains(&space, &limits, &seen.layouts[k], NULL));
        }
        assert_int_equal(hidden, rows[i].hidden);
        // Stated, it is refused where there is none, not dropped.
        own.overlapped_dispatch = true, space.axes[SPACE_OVERLAPPED_DISPATCH].kind = AXIS_FIXED;
        int64_t stated = space_each(&space, &limits, NULL, NULL);
        assert_int_equal(stated, rows[i].expert == 1 ? 1 : rows[i].hidden);
    }
}

// The ring, heads where tensor x context divides them, all at once for windows in Megatron and
// always in torchtitan.
TEST(kinds_of_context_ranks_are_choices)
{
    const struct {
        enum framework framework;
        enum context_kind stated;
        int key_heads, tensor, context;
        bool windows, sinks;
        const char *kinds; // 0: as stated, else of the layout
    } rows[] = {
        {FRAMEWORK_MEGATRON, CONTEXT_RING, 8, 1, 1, false, false, "0"},
        {FRAMEWORK_MEGATRON, CONTEXT_RING, 8, 2, 4, false, false, "02"},
        {FRAMEWORK_MEGATRON, CONTEXT_RING, 4, 2, 4, false, false, "0"},
        {FRAMEWORK_MEGATRON, CONTEXT_ALL_TO_ALL, 8, 1, 8, false, false, "10"},
        {FRAMEWORK_MEGATRON, CONTEXT_ALL_GATHER, 8, 1, 8, true, false, "02"},
        {FRAMEWORK_NEMO, CONTEXT_RING, 8, 1, 8, true, false, "32"},
        {FRAMEWORK_MEGATRON, CONTEXT_ALL_TO_ALL, 8, 1, 8, true, true, "0"},
        {FRAMEWORK_ANY, CONTEXT_RING, 8, 1, 8, true, true, "02"},
        {FRAMEWORK_TORCHTITAN, CONTEXT_RING, 8, 1, 8, false, false, "3"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct seen seen = {.count = 0};
        struct layout own = base;
        own.tensor = rows[i].tensor, own.context = rows[i].context;
        own.data = 8 / own.tensor / own.context, own.sequence_parallel = own.tensor > 1;
        if (rows[i].framework == FRAMEWORK_TORCHTITAN)
            own.zero = 2, own.gradient_sync = SYNC_OVERLAPPED;
        struct space_limits limits = limits_of(&own, NULL);
        struct space space = {.given = true, .framework = rows[i].framework};
        space.axes[SPACE_CONTEXT_KIND].kind = AXIS_ALL;
        limits.key_heads = rows[i].key_heads, limits.context_kind = rows[i].stated;
        limits.windows = rows[i].windows, limits.sinks = rows[i].sinks;
        space_each(&space, &limits, note, &seen);
        assert_int_equal(seen.count, (int)strlen(rows[i].kinds));
        for (int k = 0; k < seen.count; k++)
            assert_int_equal(seen.layouts[k].context_kind, rows[i].kinds[k] - '0');
    }
}
