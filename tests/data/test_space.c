// The space of layouts: counted a second time, by plain nested loops over all numbers; every layout
// once; membership.
#include "data/inputs/framework.h"
#include "data/inputs/space.h"
#include "data/kinds/schedules.h"
#include "tests/support/check.h"

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

static struct space all_of(const enum space_key *keys, int count)
{
    struct space space = {.given = true};
    for (int i = 0; i < count; i++) space.axes[keys[i]].kind = AXIS_ALL;
    return space;
}

static const struct layout plain = {.tensor = 1,
                                    .context = 1,
                                    .data = 1,
                                    LAYOUT_PLAIN(1),
                                    .micro_batch = 1,
                                    .schedule = SCHEDULE_1F1B};

// How many micro-batches a data degree allows; a degree that does not divide the batch counts once.
static int64_t micro_batches_of(int64_t batch, int64_t data)
{
    int64_t count = 0;
    if (batch % data) return 1;
    for (int64_t b = 1; b <= batch / data; b++) count += batch / data % b == 0;
    return count;
}

static int64_t turns_of(int layers, int p)
{
    int64_t count = 0;
    int low = layers / p, high = low + (layers % p > 0);
    for (int v = 2; v * p <= STAGES_MAX; v++) count += (low > 0 && low % v == 0) || high % v == 0;
    return count;
}

// Schedules with one value of everything, with several stages a rank, and with three
// slicings.
static int64_t count_by_hand(int64_t devices, int64_t batch, int layers, bool fewer)
{
    int64_t count = 0, fixed = 0, winding = 0, sliced = 0;
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        *(schedule_kinds[kind].slices           ? &sliced
          : schedule_kinds[kind].virtual_stages ? &fixed
                                                : &winding) += 1;
    for (int64_t t = 1; t <= devices; t++)
        for (int64_t c = 1; t * c <= devices; c++)
            for (int64_t p = 1; t * c * p <= devices; p++)
                for (int64_t d = 1; t * c * p * d <= devices; d++) {
                    if (fewer ? devices % (t * c * p * d) != 0 : t * c * p * d != devices) continue;
                    count += micro_batches_of(batch, d) *
                             (fixed + winding * turns_of(layers, (int)p) + 3 * sliced);
                }
    return count;
}

TEST(counts_match)
{
    const enum space_key keys[] = {SPACE_TENSOR,      SPACE_CONTEXT,    SPACE_PIPELINE,
                                   SPACE_DATA,        SPACE_SCHEDULE,   SPACE_VIRTUAL_STAGES,
                                   SPACE_MICRO_BATCH, SPACE_SLICE_COUNT};
    static struct layout storage[100000];
    for (int fewer = 0; fewer < 2; fewer++)
        for (int devices = 1; devices <= 24; devices++) {
            struct space space = all_of(keys, (int)ARRAY_LENGTH(keys));
            struct space_limits limits = {&plain, devices, 12, 1024, 10};
            struct seen seen = {storage, 0, (int64_t)ARRAY_LENGTH(storage)};
            space.fewer_devices = fewer;
            int64_t count = space_each(&space, &limits, note, &seen);
            assert_int_equal(count, seen.count);
            assert_int_equal(count, count_by_hand(devices, 12, 10, fewer));
        }
}

// All expert degrees, by looking at every number: of a fold of d x c ranks, where g divides all
// mixtures' experts. 0: there are no mixtures.
TEST(expert_degrees)
{
    static struct layout storage[10000];
    const enum space_key keys[] = {SPACE_CONTEXT, SPACE_DATA, SPACE_EXPERT};
    for (int experts = 0; experts <= 12; experts++)
        for (int devices = 1; devices <= 24; devices++) {
            struct space space = all_of(keys, (int)ARRAY_LENGTH(keys));
            struct space_limits limits = {&plain, devices, 24, 1024, 10, experts};
            struct seen seen = {storage, 0, (int64_t)ARRAY_LENGTH(storage)};
            int64_t count = 0;
            for (int c = 1; c <= devices; c++)
                for (int x = 1; x <= devices && devices % c == 0; x++)
                    count += experts ? devices % x == 0 && experts % x == 0 : x == 1;
            assert_int_equal(space_each(&space, &limits, note, &seen), count);
            for (int64_t i = 0; i < seen.count; i++)
                for (int64_t k = 0; k < i; k++)
                    assert_false(layout_equal(&storage[i], &storage[k]));
        }
}

// With a tensor degree of their own, which is named as tensor's where it is the same.
TEST(expert_folds)
{
    static struct layout storage[10000];
    int parts[] = {1, 2, 4};
    struct layout base = plain;
    base.tensor = 4, base.data = 6;
    for (int listed = 0; listed < 2; listed++) {
        struct space space = {.given = true};
        struct space_limits limits = {&base, 24, 24, 1024, 10, 12};
        struct seen seen = {storage, 0, (int64_t)ARRAY_LENGTH(storage)};
        int64_t count = 0;
        space.axes[SPACE_EXPERT_TENSOR] = listed ? (struct space_axis){AXIS_LIST, parts, 3}
                                                 : (struct space_axis){AXIS_ALL, NULL, 0};
        space.axes[SPACE_EXPERT].kind = AXIS_ALL;
        for (int part = 1; part <= 4; part *= listed ? 2 : 4)
            for (int x = 1; x <= 24; x++) count += 24 % (part * x) == 0 && 12 % x == 0;
        assert_int_equal(space_each(&space, &limits, note, &seen), count);
        for (int64_t i = 0; i < count; i++) {
            assert_true(storage[i].expert_tensor < 4 &&
                        24 / layout_expert_tensor(&storage[i]) % storage[i].expert == 0);
            for (int64_t k = 0; k < i; k++) assert_false(layout_equal(&storage[i], &storage[k]));
        }
    }
}

TEST(every_layout_once)
{
    enum space_key keys[SPACE_KEY_COUNT];
    static struct layout storage[30000];
    for (int i = 0; i < SPACE_KEY_COUNT; i++) keys[i] = (enum space_key)i;
    struct space space = all_of(keys, SPACE_KEY_COUNT);
    struct space_limits limits = {&plain, 2, 1, 64, 4};
    struct seen seen = {storage, 0, (int64_t)ARRAY_LENGTH(storage)};
    space_each(&space, &limits, note, &seen);
    for (int64_t i = 0; i < seen.count; i++) {
        int64_t tokens = 0;
        for (int k = 0; k < storage[i].slice_count; k++) tokens += storage[i].slices[k];
        assert_int_equal(tokens, storage[i].slice_count > 1 ? 64 : 0);
        for (int64_t k = 0; k < i; k++) assert_false(layout_equal(&storage[i], &storage[k]));
    }
    int64_t number;
    assert_true(space_contains(&space, &limits, &storage[777], &number));
    assert_int_equal(number, 777);
    struct layout other = storage[777];
    other.micro_batch = 3;
    assert_false(space_contains(&space, &limits, &other, NULL));
}

// All ways to cut n parts, each once: 2^(n-1), including the whole. Three slices: (n-1)(n-2)/2.
TEST(slices_of_any_lengths)
{
    static struct layout storage[30000];
    struct layout base = plain;
    base.schedule = SCHEDULE_TOKEN_SLICED, base.slice_count = 2;
    base.slices[0] = base.slices[1] = 600;
    int three[] = {3};
    for (int parts = 1; parts <= 12; parts++) {
        struct space space = {.given = true, .slice_tokens = 100};
        space.axes[SPACE_SLICE_COUNT].kind = AXIS_ALL;
        struct space_limits limits = {&base, 1, 1, 100 * parts, 4};
        struct seen seen = {storage, 0, (int64_t)ARRAY_LENGTH(storage)};
        assert_int_equal(space_each(&space, &limits, note, &seen), (1 << (parts - 1)) - 1);
        for (int64_t i = 0; i < seen.count; i++) {
            int tokens = 0;
            for (int k = 0; k < storage[i].slice_count; k++) {
                assert_true(storage[i].slices[k] > 0 && storage[i].slices[k] % 100 == 0);
                tokens += storage[i].slices[k];
            }
            assert_int_equal(tokens, 100 * parts);
            for (int64_t k = 0; k < i; k++) assert_false(layout_equal(&storage[i], &storage[k]));
        }
        space.axes[SPACE_SLICE_COUNT] = (struct space_axis){AXIS_LIST, three, 1};
        seen.count = 0;
        assert_int_equal(space_each(&space, &limits, note, &seen), (parts - 1) * (parts - 2) / 2);
        seen.count = 0;
        space.axes[SPACE_SLICE_COUNT].kind = AXIS_FIXED; // as the layout has them
        assert_int_equal(space_each(&space, &limits, note, &seen), 1);
    }
}

// A key that is not mentioned stays as in the layout; a list is used as given.
TEST(fixed_and_listed)
{
    int tensors[] = {4, 2, 3};
    struct layout storage[8], base = plain;
    struct space space = {.given = true};
    base.micro_batch = 2;
    space.axes[SPACE_TENSOR] = (struct space_axis){AXIS_LIST, tensors, 3};
    space.axes[SPACE_DATA].kind = AXIS_ALL;
    struct space_limits limits = {&base, 8, 16, 64, 4};
    struct seen seen = {storage, 0, 8};
    assert_int_equal(space_each(&space, &limits, note, &seen), 2);
    assert_int_equal(storage[0].tensor, 4);
    assert_int_equal(storage[0].data, 2);
    assert_int_equal(storage[1].tensor, 2);
    assert_int_equal(storage[1].data, 4);
    assert_int_equal(storage[1].micro_batch, 2);
}

// Listed degrees of any cluster: where devices may be idle, every product that is not more than
// there are, whether it divides them or not. A space that has none says so.
TEST(degrees_that_do_not_divide)
{
    static struct layout storage[256];
    int lists[4][3] = {{1, 2, 3}, {1, 1, 1}, {2, 3, 5}, {1, 3, 4}};
    for (int devices = 1; devices <= 40; devices++)
        for (int fewer = 0; fewer < 2; fewer++) {
            struct space space = {.given = true, .fewer_devices = fewer};
            struct space_limits limits = {&plain, devices, 60, 64, 8};
            struct seen seen = {storage, 0, 256};
            int64_t expected = 0;
            for (int key = 0; key < 4; key++)
                space.axes[key] = (struct space_axis){AXIS_LIST, lists[key], key == 1 ? 1 : 3};
            for (int i = 0; i < 27; i++) {
                int used = lists[0][i / 9] * lists[2][i / 3 % 3] * lists[3][i % 3];
                expected += fewer ? used <= devices : used == devices;
            }
            assert_int_equal(space_each(&space, &limits, note, &seen), expected);
            const char *why = space_why_empty(&space, &limits);
            assert_int_equal(why == NULL, expected > 0);
            if (why) assert_non_null(strstr(why, fewer ? "always more than" : "no product"));
        }
}

TEST(what_leaves_a_space_empty)
{
    struct layout wound = plain;
    wound.schedule = SCHEDULE_INTERLEAVED;
    struct space space = all_of((enum space_key[]){SPACE_VIRTUAL_STAGES}, 1);
    struct space_limits limits = {&wound, 1, 1, 64, 1};
    assert_non_null(strstr(space_why_empty(&space, &limits), "no number of stages"));
    limits.layers = 2;
    assert_null(space_why_empty(&space, &limits));
    wound = plain, wound.schedule = SCHEDULE_TOKEN_SLICED, limits.sequence = 1;
    space = all_of((enum space_key[]){SPACE_SLICE_COUNT}, 1), space.slice_tokens = 1;
    assert_non_null(strstr(space_why_empty(&space, &limits), "no slices"));
    limits.sequence = 2;
    assert_null(space_why_empty(&space, &limits));
}

// ---- frameworks: cases from docs/FORMATS.md (job)

static const struct {
    const char *what;
    struct layout with;
    const char *runs; // megatron (and nemo), torchtitan (and torchtitan-0.2), deepspeed: y, n
    int expert;       // 0: as in `with`
} framed[] = {
#define AT(t, c, d, p)                                                                             \
    .tensor = (t), .context = (c), .data = (d), .pipeline = (p), .expert = 1, .virtual_stages = 1, \
    .slice_count = 1, .micro_batch = 1
#define PIPED AT(2, 1, 2, 2), .barrier = true
#define ALONE AT(2, 1, 4, 1), .barrier = true
#define FOLD .expert_tensor = 1
#define OVER .gradient_sync = SYNC_OVERLAPPED
#define WITH(kind) .context_kind = CONTEXT_##kind
#define O1F1B .schedule = SCHEDULE_1F1B
    {"1f1b, ZeRO 0, exposed", {PIPED, O1F1B}, "yny"},
    {"1f1b, ZeRO 1, exposed", {PIPED, O1F1B, .zero = 1}, "yny"},
    {"1f1b, ZeRO 1, overlapped", {PIPED, O1F1B, .zero = 1, OVER}, "ynn"},
    {"1f1b, ZeRO 2, overlapped", {PIPED, O1F1B, .zero = 2, OVER}, "nyn"},
    {"1f1b, ZeRO 3, overlapped", {PIPED, O1F1B, .zero = 3, OVER}, "nyn"},
    {"1f1b, ZeRO 2, exposed", {PIPED, O1F1B, .zero = 2}, "nnn"},
    {"gpipe", {PIPED, .schedule = SCHEDULE_GPIPE, .zero = 2, OVER}, "nyn"},
    {"gpipe, ZeRO 1", {PIPED, .schedule = SCHEDULE_GPIPE, .zero = 1}, "nnn"},
    {"zb-h1", {PIPED, .schedule = SCHEDULE_ZB_H1, .zero = 2, OVER}, "nnn"},
    {"zb-h1, ZeRO 1", {PIPED, .schedule = SCHEDULE_ZB_H1, .zero = 1}, "nnn"},
    {"no barrier", {AT(2, 1, 2, 2), O1F1B, .zero = 1}, "nnn"},
    {"fused embedding sync", {PIPED, O1F1B, .fused_embedding_sync = true, .zero = 1}, "nnn"},
    {"local losses", {PIPED, O1F1B, .local_loss_every = 1, .zero = 1}, "nnn"},
    {"offload, ZeRO 1", {PIPED, O1F1B, .zero = 1, .offload_optimizer = true}, "yny"},
    {"offload, ZeRO 0", {PIPED, O1F1B, .offload_optimizer = true}, "nnn"},
    {"context", {AT(2, 2, 1, 2), .barrier = true, O1F1B, .zero = 1}, "ynn"},
    {"context, ZeRO 3", {AT(2, 2, 1, 2), .barrier = true, O1F1B, .zero = 3, OVER}, "nyn"},
    {"one rank, ZeRO 2, overlapped", {ALONE, O1F1B, .zero = 2, OVER}, "nyy"},
    {"one rank, ZeRO 3, exposed", {ALONE, O1F1B, .zero = 3}, "nny"},
    {"one rank, ZeRO 0, overlapped", {ALONE, O1F1B, OVER}, "ynn"},
    {"one rank, gpipe", {ALONE, .schedule = SCHEDULE_GPIPE, .zero = 2, OVER}, "nnn"},
    {"replicas alone", {AT(1, 1, 8, 1), .barrier = true, O1F1B, OVER}, "yyn"},
    {"no replicas", {AT(4, 1, 1, 2), .barrier = true, O1F1B, OVER}, "yyn"},
    {"experts", {PIPED, O1F1B, .zero = 1, .sequence_parallel = true}, "ynn", 2},
    {"experts of whole activations", {PIPED, O1F1B, .zero = 1}, "nnn", 2},
    {"experts, one tensor rank", {AT(1, 1, 4, 2), .barrier = true, O1F1B}, "ynn", 4},
    {"experts, ZeRO 2, pipeline",
     {PIPED, O1F1B, .zero = 2, OVER, .sequence_parallel = true},
     "nnny",
     2},
    {"experts, ZeRO 3", {ALONE, O1F1B, .zero = 3, OVER}, "nnny", 4},
    {"experts, ZeRO 2", {ALONE, O1F1B, .zero = 2, OVER}, "nnyy", 4},
    {"experts in a fold", {PIPED, O1F1B, .zero = 1, .sequence_parallel = true, FOLD}, "ynn", 4},
    {"... in one with ZeRO 2",
     {PIPED, O1F1B, .zero = 2, OVER, .sequence_parallel = true, FOLD},
     "nyn",
     4},
    {"... on every rank", {PIPED, O1F1B, .zero = 1, .sequence_parallel = true, FOLD}, "ynn"},
    {"... on every rank, ZeRO 2",
     {PIPED, O1F1B, .zero = 2, OVER, .sequence_parallel = true, FOLD},
     "nnn"},
    {"experts, replicas", {AT(1, 1, 8, 1), .barrier = true, O1F1B, OVER}, "ynn", 4},
    {"sequence parallel", {PIPED, O1F1B, .zero = 1, .sequence_parallel = true}, "yny"},
    {"... without tensor",
     {AT(1, 1, 4, 2), .barrier = true, O1F1B, .zero = 1, .sequence_parallel = true},
     "nnn"},
#undef O1F1B
};

// Of an only layout: whether it is in its space.
static bool uneven_stages; // of every space

static bool is_in_at(enum framework framework, const struct layout *l, int layers,
                     enum precision precision)
{
    struct space space = {.given = true, .framework = framework, .uneven_stages = uneven_stages};
    struct layout of_all = *l; // nothing is recomputed in any stage
    of_all.recompute = 1 + RECOMPUTE_NONE;
    struct space_limits limits = {
        .layout = &of_all,
        .devices = (int64_t)l->tensor * l->context * l->data * l->pipeline,
        .global_batch = 32,
        .sequence = 512,
        .layers = layers,
        .experts = l->expert > 1 ? 8 : 0,
        .context_kind = framework == FRAMEWORK_TORCHTITAN ? CONTEXT_ALL_GATHER : CONTEXT_RING,
        .precision = precision,
        .uneven_stages = uneven_stages};
    bool in = space_contains(&space, &limits, &of_all, NULL);
    struct framework_of of = space_framework_of(&limits, &of_all);
    assert_int_equal(in, framework_refusal(framework, &of_all, &of) == NULL);
    return in;
}

static bool is_in(enum framework framework, const struct layout *l, int layers)
{
    return is_in_at(framework, l, layers, FP32);
}

// torchtitan 0.2.2 computes in 16 bits where FSDP shards the weights, or on single ranks.
TEST(torchtitan_computes_narrow_where_it_shards)
{
    const struct {
        struct layout with;
        bool narrow;
    } cases[] = {
        {{AT(4, 1, 1, 2), .barrier = true, .schedule = SCHEDULE_1F1B, OVER}, false},
        {{AT(4, 1, 1, 1), .barrier = true, .schedule = SCHEDULE_1F1B, OVER}, false},
        {{AT(1, 1, 1, 1), .barrier = true, .schedule = SCHEDULE_1F1B, OVER}, true},
        {{AT(1, 1, 8, 1), .barrier = true, .schedule = SCHEDULE_1F1B, OVER}, true},
        {{AT(2, 2, 1, 2), .barrier = true, .schedule = SCHEDULE_1F1B, .zero = 2, OVER}, true},
        {{AT(2, 1, 2, 2), .barrier = true, .schedule = SCHEDULE_1F1B, .zero = 2, OVER}, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct layout *l = &cases[i].with;
        assert_int_equal(is_in_at(FRAMEWORK_TORCHTITAN_0_2, l, 18, BF16), cases[i].narrow);
        assert_true(is_in_at(FRAMEWORK_TORCHTITAN_0_2, l, 18, FP32));
        assert_true(is_in_at(FRAMEWORK_TORCHTITAN, l, 18, BF16));
    }
}

TEST(frameworks_run)
{
    for (size_t i = 0; i < sizeof framed / sizeof *framed; i++)
        for (int f = 0; f < 5; f++) {
            struct layout l = framed[i].with;
            if (framed[i].expert) l.expert = framed[i].expert;
            bool in = is_in((enum framework)(FRAMEWORK_MEGATRON + f), &l, 18);
            const char *runs = framed[i].runs;
            if (in != (runs[f == 4 && runs[3] ? 3 : f % 3] == 'y'))
                fail_msg("%s, %s: %s", framework_names[FRAMEWORK_MEGATRON + f], framed[i].what,
                         in ? "runs" : "does not run");
            assert_true(is_in(FRAMEWORK_ANY, &l, 18));
        }
}

// torchtitan: compiled attention takes all keys and values at once, for whole blocks of 128 tokens;
// 0.2.2's PyTorch attention also step by step, its compiled one not at all.
TEST(torchtitan_passes_keys)
{
    const struct {
        struct framework_of of;
        int context;
        bool runs, early;
    } rows[] = {{{18, 8, BF16, .sequence = 512}, 2, false, true},
                {{18, 8, BF16, .sequence = 512, WITH(ALL_GATHER)}, 2, true, true},
                {{18, 8, BF16, .sequence = 512, WITH(ALL_TO_ALL)}, 2, false, false},
                {{18, 8, BF16, .sequence = 512, WITH(ALL_GATHER)}, 4, true, true},
                {{18, 8, BF16, .sequence = 512, WITH(ALL_GATHER)}, 8, false, true},
                {{18, 8, BF16, .sequence = 640, WITH(ALL_GATHER)}, 2, false, true},
                {{18, 8, BF16, .sequence = 512, .latent = true, WITH(ALL_GATHER)}, 2, true, false},
                {{18, 8, BF16, .sequence = 512, .windows = true, WITH(ALL_GATHER)}, 2, true, false},
                {{18, 8, BF16, .sequence = 512, .sinks = true, WITH(ALL_GATHER)}, 2, true, false}};
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct layout l = {AT(2, rows[i].context, 1, 2), .schedule = SCHEDULE_1F1B, .zero = 2,
                           OVER};
        l.barrier = true, l.sequence_parallel = true, l.recompute = 1 + RECOMPUTE_NONE;
        const char *why = framework_refusal(FRAMEWORK_TORCHTITAN, &l, &rows[i].of),
                   *early = framework_refusal(FRAMEWORK_TORCHTITAN_0_2, &l, &rows[i].of);
        assert_int_equal(!why, rows[i].runs);
        assert_int_equal(!early, rows[i].early);
        if (why) assert_string_equal(why, "context");
    }
}

// gpt-oss in Megatron Core: no context ranks, and experts that tensor ranks do not split.
TEST(sinks_and_biases_of_experts_stay_whole)
{
    const struct {
        struct layout with;
        bool runs;
    } rows[] = {
        {{AT(1, 1, 4, 2), .barrier = true, .zero = 1}, true},
        {{AT(1, 2, 2, 2), .barrier = true, .zero = 1}, false},
        {{AT(2, 1, 2, 2), .barrier = true, .zero = 1, .sequence_parallel = true}, false},
        {{AT(2, 1, 2, 2), .barrier = true, .zero = 1, .sequence_parallel = true, FOLD}, true}};
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        for (int f = FRAMEWORK_MEGATRON; framework_names[f]; f++) {
            struct layout l = rows[i].with;
            struct framework_of of = {18, 8, BF16, true}, other = {18, 8, BF16, false};
            l.schedule = SCHEDULE_1F1B, l.recompute = 1 + RECOMPUTE_NONE;
            bool core = f == FRAMEWORK_MEGATRON || f == FRAMEWORK_NEMO;
            if (core) assert_null(framework_refusal((enum framework)f, &l, &other));
            if (core)
                assert_int_equal(!framework_refusal((enum framework)f, &l, &of), rows[i].runs);
            else if (f != FRAMEWORK_TORCHTITAN_0_2) // torchtitan_passes_keys
                assert_ptr_equal(framework_refusal((enum framework)f, &l, &of),
                                 framework_refusal((enum framework)f, &l, &other));
        }
}

// Megatron Core: mixtures of scattered tokens alone, windows not over context ranks.
TEST(mixtures_are_scattered_and_windows_whole)
{
    const struct {
        struct layout with;
        struct framework_of of;
        bool runs;
    } rows[] = {{{AT(2, 1, 2, 2)}, {18, 8, BF16}, true},
                {{AT(2, 1, 2, 2)}, {18, 8, BF16, .experts = true}, false},
                {{AT(2, 1, 2, 2), .sequence_parallel = true}, {18, 8, BF16, .experts = true}, true},
                {{AT(1, 1, 4, 2)}, {18, 8, BF16, .experts = true}, true},
                {{AT(1, 2, 2, 2)}, {18, 8, BF16}, true},
                {{AT(1, 2, 2, 2)}, {18, 8, BF16, .windows = true}, false},
                {{AT(1, 1, 4, 2)}, {18, 8, BF16, .windows = true}, true},
                {{AT(1, 2, 2, 2)}, {18, 8, BF16, .windows = true, WITH(ALL_GATHER)}, true},
                {{AT(1, 2, 2, 2)}, {18, 8, BF16, .windows = true, WITH(ALL_TO_ALL)}, true},
                {{AT(1, 2, 2, 2)}, {18, 8, BF16, .sinks = true, WITH(ALL_GATHER)}, false},
                {{AT(1, 2, 2, 2)}, {18, 8, BF16, .sinks = true, WITH(ALL_TO_ALL)}, true},
                {{AT(2, 1, 2, 2)}, {18, 8, BF16, .key_heads = 1}, true}};
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
        for (int f = FRAMEWORK_MEGATRON; framework_names[f]; f++) {
            struct layout l = rows[i].with;
            struct framework_of other = {18, 8, BF16};
            l.schedule = SCHEDULE_1F1B, l.recompute = 1 + RECOMPUTE_NONE;
            l.barrier = true, l.zero = 1;
            const char *why = framework_refusal((enum framework)f, &l, &rows[i].of);
            if (f == FRAMEWORK_MEGATRON || f == FRAMEWORK_NEMO)
                assert_int_equal(why == NULL, rows[i].runs);
            else if (f == FRAMEWORK_TORCHTITAN || f == FRAMEWORK_TORCHTITAN_0_2) // they shard more
                assert_non_null(why);
            else if (rows[i].of.context_kind && f != FRAMEWORK_DEEPSPEED)
                assert_string_equal(why, "context");
            else if (rows[i].of.key_heads) assert_string_equal(why, "tensor");
            else assert_ptr_equal(why, framework_refusal((enum framework)f, &l, &other));
        }
}

// Several stages a rank: of 4 stages in all, 16, 17 and 18 layers are 16 with or without ends. Any
// number is, where a space has uneven stages.
TEST(frameworks_wind)
{
    struct layout l = {PIPED, .schedule = SCHEDULE_INTERLEAVED, .zero = 1};
    l.virtual_stages = 2;
    for (int layers = 16; layers <= 20; layers++)
        for (int i = 0; i < 2; i++) {
            enum framework core = i ? FRAMEWORK_NEMO : FRAMEWORK_MEGATRON;
            assert_int_equal(is_in(core, &l, layers), layers != 19);
            uneven_stages = true;
            assert_true(is_in(core, &l, layers));
            assert_false(is_in(FRAMEWORK_DEEPSPEED, &l, layers));
            uneven_stages = false;
        }
    assert_false(is_in(FRAMEWORK_DEEPSPEED, &l, 16));
    l.zero = 2, l.gradient_sync = SYNC_OVERLAPPED;
    assert_true(is_in(FRAMEWORK_TORCHTITAN, &l, 19));
    l.schedule = SCHEDULE_ZB_V;
    assert_true(is_in(FRAMEWORK_TORCHTITAN, &l, 19));
    l.schedule = SCHEDULE_V_HALF;
    assert_false(is_in(FRAMEWORK_TORCHTITAN, &l, 19));
}

// What means nothing to a framework is not offered twice, nor does it empty a space where it is
// fixed: one rank takes 1F1B and one tensor rank no sequence parallelism.
TEST(frameworks_decide)
{
    struct layout storage[64], base = {PIPED, .schedule = SCHEDULE_INTERLEAVED, .zero = 1};
    base.sequence_parallel = true, base.virtual_stages = 2;
    const enum space_key keys[] = {SPACE_TENSOR, SPACE_PIPELINE, SPACE_DATA};
    struct space space = all_of(keys, 3);
    struct space_limits limits = {&base, 8, 32, 64, 16};
    struct seen seen = {storage, 0, 64};
    space.framework = FRAMEWORK_MEGATRON;
    assert_int_equal(space_each(&space, &limits, note, &seen), 10); // t p d = 8
    for (int64_t i = 0; i < seen.count; i++) {
        const struct layout *l = &storage[i];
        assert_int_equal(l->schedule, l->pipeline > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B);
        assert_int_equal(l->sequence_parallel, l->tensor > 1);
    }
}

// Stages that recompute as they choose, one setting where a framework has no other, and every
// number of first layers; counted by hand for 2 ranks of 1 or 2 stages, 16 layers.
TEST(settings_of_all_stages)
{
    static const struct {
        enum framework framework;
        int turns, kind; // of the axis
        int expected;
    } rows[] = {
        {FRAMEWORK_ANY, 1, AXIS_FIXED, 1},        {FRAMEWORK_ANY, 1, AXIS_ALL, 1 + 1 + 7},
        {FRAMEWORK_MEGATRON, 1, AXIS_FIXED, 1},   {FRAMEWORK_MEGATRON, 2, AXIS_FIXED, 1 + 1 + 3},
        {FRAMEWORK_TORCHTITAN, 1, AXIS_ALL, 9},   {FRAMEWORK_TORCHTITAN, 1, AXIS_FIXED, 9},
        {FRAMEWORK_TORCHTITAN, 2, AXIS_FIXED, 5}, {FRAMEWORK_DEEPSPEED, 1, AXIS_FIXED, 9},
    };
    static const bool offered[RECOMPUTE_COUNT] = {
        [RECOMPUTE_FULL] = true, [RECOMPUTE_FIRST_LAYERS] = true, [RECOMPUTE_SWAP] = true};
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct layout storage[64], base = {PIPED, .schedule = SCHEDULE_1F1B, .zero = 1};
        bool titan = rows[i].framework == FRAMEWORK_TORCHTITAN;
        if (titan) base.zero = 2, base.gradient_sync = SYNC_OVERLAPPED;
        if (rows[i].turns > 1)
            base.schedule = SCHEDULE_INTERLEAVED, base.virtual_stages = rows[i].turns;
        struct space space = {.given = true, .framework = rows[i].framework};
        space.axes[SPACE_RECOMPUTE].kind = rows[i].kind;
        struct space_limits limits = {&base, 8, 32, 64, 16, .recompute = offered};
        struct seen seen = {storage, 0, 64};
        int64_t count = space_each(&space, &limits, note, &seen);
        if (count != rows[i].expected)
            fail_msg("%s, %d stages a rank: %d settings", framework_names[rows[i].framework],
                     rows[i].turns, (int)count);
        for (int64_t k = 0; k < seen.count; k++)
            assert_int_equal(storage[k].recomputed_layers > 0,
                             storage[k].recompute == 1 + RECOMPUTE_FIRST_LAYERS);
        // A setting that the layout has stays the only one.
        base.recompute = 1 + RECOMPUTE_FIRST_LAYERS, base.recomputed_layers = 9;
        space.axes[SPACE_RECOMPUTE].kind = AXIS_FIXED;
        assert_true(space_contains(&space, &limits, &base, NULL));
        assert_int_equal(space_each(&space, &limits, NULL, NULL), 1);
    }
}

static bool compare(void *argument, int64_t number, const struct layout *layout)
{
    struct seen *s = argument;
    return assert_true(layout_equal(layout, &s->layouts[number])), s->count++, true;
}

// Every layout of a few ranges, and no other, whether tuples have the degrees alone or more keys.
TEST(some_of_a_space)
{
    enum { LAYOUTS = 200000 };
    struct space space = {.given = true, .tensor_grids = true};
    struct space_limits limits = {&plain, 8, 12, 1024, 10, 12};
    struct seen all = {TAKE(arena, LAYOUTS, struct layout), 0, LAYOUTS};
    for (int key = 0; key <= SPACE_GRADIENT_SYNC; key++) space.axes[key].kind = AXIS_ALL;
    space_each(&space, &limits, note, &all);
    for (int keys = SPACE_TUPLE_KEYS; keys > SPACE_DATA;
         keys -= SPACE_TUPLE_KEYS - SPACE_DATA - 1) {
        struct space_index index = {.keys = keys, .arena = arena};
        for (int64_t i = 0; i < all.count; i++) space_index_add(&index, i, &all.layouts[i]);
        for (int64_t first = 0; first + 500 < all.count; first += 9973) {
            struct space_range ranges[] = {{first, first + 3}, {first + 400, first + 490}};
            struct seen some = {all.layouts, 0, 0};
            space_each_of(&space, &limits, &index, ranges, 2, compare, &some);
            assert_int_equal(some.count, 93);
        }
    }
}
