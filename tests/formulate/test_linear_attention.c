// Linear attention: times, parameters and activations computed by hand, laws that hold whatever the
// numbers are, the sizes that are published, and what it does not go with.
#include "data/inputs/model/size.h"
#include "data/kinds/schedules.h"
#include "tests/support/check.h"
#include "tests/support/price_bench.h"

static const struct linear_shape small = {8, 16, 64, 64, .convolution = 4};

static struct bench *begin(struct linear_shape linear)
{
    struct bench *b = bench_dense();
    b->problem.job.layout.fused_attention = true;
    b->problem.model.shape.linear = linear;
    b->runs[BLOCK].linear = true;
    return b;
}

TEST(block_by_hand)
{
    struct bench *b = begin(small);
    const struct priced_run *block = &price(b)->runs[BLOCK];
    // Q = 1024 x (1024 + 1024 + 1024 + 32 + 1024) = 4 227 072; FL = 2 x 1024 x (Q + 2 x 1024 x
    // 4096) = 25 836 912 640: 258.3691264 us. FA = 1024 x 16 x (128 x (192 + 128) + 6 x 4096 + 4096
    // / 3) = 1 096 111 445.3: 21.9222289 us. FM = 37 748 736 + 2 x 1024 x (4096 + 2048 + 7 x 1024 +
    // 9 x 1024 + 4096 + 2048) = 96 468 992: 96.468992 us; overhead 10.
    assert_int_equal(block->forward_ns[0], 386760);
    // 2 x 258.3691264 + 16384 x (128 x (512 + 320) + 16 x 4096 + 4 x 4096) / 50e12 + 2 x 96.468992
    // + 10
    assert_int_equal(block->backward_ns[0], 781416);
    assert_int_equal(block->again_ns[RECOMPUTE_SELECTIVE][0], 0);
    assert_int_equal(block->again_ns[RECOMPUTE_FULL][0], 386760);
    assert_true(block->stash_bytes[0] == block->stash_bytes[1]);
    // P = Q + 8 388 608 + norms 4096 + convolution 8192 + 16 + 16 + norm of a head 64; 30 P / 1e12
    assert_int_equal(block->optimizer_ns[0], 378842);
    // 2 x 2048 + 2 x 1024 + 3 x 1024 + 16 x 64 values a token where attention keeps 4 x 1024
    int64_t kept = block->stash_bytes[0];
    b->runs[BLOCK].linear = false;
    assert_int_equal(kept - price(b)->runs[BLOCK].stash_bytes[0], 2 * 1024 * (10240 - 4096));
}

TEST(state_space_by_hand)
{
    struct linear_shape states = small;
    states.rule = LINEAR_STATE_SPACE;
    struct bench *b = begin(states);
    const struct priced_run *block = &price(b)->runs[BLOCK];
    // Q = 1024 x (2 x 512 + 2 x 1024 + 16) + 1024 x 1024 = 4 210 688; FL = 2 x 1024 x (Q + 2 x 1024
    // x 4096): 258.03358208 us. FA = 5 x 1024 x (2 x 128 x 512 + 16 x (2 x 128 x 64 + 4 x 4096)):
    // 67.108864. FM = 37 748 736 + 2 x 1024 x (4096 + 8192 + 6 x 512 + 2 x 2048 + 13 x 16):
    // 78.020608; + 10
    assert_int_equal(block->forward_ns[0], 413163);
    // 2 x 258.03358208 + 5 x 1024 x (6 x 128 x 512 + 16 x (6 x 128 x 64 + 10 x 4096)) / 50e12 + 2 x
    // 78.020608 + 2 x 1024 x (13 x 512 + 5 x 1024 + 5 x 512 + 2 x 2048 + 41 x 16) / 1e12 + 10
    assert_int_equal(block->backward_ns[0], 909105);
    // P = Q + 8 388 608 + norms 4096 + convolution 5 x 2048 + 3 x 16 + the output's norm 1024
    assert_int_equal(block->weight_bytes, 2 * (4210688 + 8388608 + 4096 + 10240 + 48 + 1024));
}

// Latents of 512, sparse: 4 heads of 32 find 256 of up to 512 keys. FL + 2 x 1024 x (1024 x 128 +
// 1024 x 36): 3.43932928 us. Cells 2 x (256 x 256 / 2 + 256 x 256) = 196 608 instead of 262 144:
// 4096 x 65 536 / 50e12 = 5.36870912 us less, 2.5 times that backward; finding 256 x 262 144 /
// 50e12 = 1.34217728, backward 512 x 196 608 / 50e12 = 2.01326592.
TEST(sparse_attention_by_hand)
{
    struct bench *b = bench_dense();
    struct shape *s = &b->problem.model.shape;
    b->problem.job.layout.fused_attention = true;
    s->kv_heads = s->heads, s->kv_rank = 512;
    struct priced_run all = price(b)->runs[BLOCK];
    int64_t forward = all.forward_ns[0], backward = all.backward_ns[0], kept = all.stash_bytes[0],
            weights = all.weight_bytes;
    s->index_heads = 4, s->index_width = 32, s->index_top_k = 256;
    const struct priced_run *found = &price(b)->runs[BLOCK];
    assert_in_range(forward - found->forward_ns[0], 586, 588);
    assert_in_range(backward - found->backward_ns[0], 4529, 4531);
    assert_int_equal(found->stash_bytes[0] - kept, 2 * 1024 * (128 + 32 + 4));
    assert_int_equal(found->weight_bytes - weights, 2 * (1024 * 164 + 2 * 32));
    s->index_top_k = 5000; // all of them: only finding them is added
    assert_in_range(price(b)->runs[BLOCK].forward_ns[0] - forward, 4781, 4782);
}

// Without what a layer costs by itself.
static int64_t net(const struct priced_run *r) { return r->forward_ns[0] - 10000; }

// A block is the sum of its parts alone, each of which has a layer's own overhead.
TEST(parts_of_a_block)
{
    struct bench *b = begin(small);
    struct layer_run *run = &b->runs[BLOCK];
    for (int linear = 0; linear < 2; linear++) {
        run->linear = linear == 1;
        struct priced_run whole = price(b)->runs[BLOCK];
        int64_t forward = net(&whole), weights = whole.weight_bytes;
        run->no_feed_forward = true;
        struct priced_run attention = price(b)->runs[BLOCK];
        int64_t first = net(&attention);
        run->no_feed_forward = run->linear = false, run->no_attention = true;
        const struct priced_run *ffn = &price(b)->runs[BLOCK];
        assert_in_range(net(ffn) + first - forward + 1, 0, 2);
        assert_int_equal(ffn->weight_bytes + attention.weight_bytes, weights);
        assert_int_equal(ffn->stash_bytes[0] + attention.stash_bytes[0], whole.stash_bytes[0]);
        run->no_attention = false;
    }
}

// ---- laws

TEST(twice_the_tokens_take_twice_as_long)
{
    static const struct linear_shape shapes[] = {
        {8, 16, 64, 64, 4, 0, 0},
        {16, 16, 128, 32, 0, 128, 32},
        {2, 4, 32, 256, 3, 0, 16},
        {8, 16, 64, 64, 4, .rule = LINEAR_STATE_SPACE},
        {1, 1024, 16, 1, 4, 64, .rule = LINEAR_SCAN},
        {16, 16, 64, 64, 0, .rule = LINEAR_LIGHTNING, .no_norm = true},
        {0, 16, 0, 64, 3, .rule = LINEAR_CONVOLUTION}};
    for (size_t i = 0; i < ARRAY_LENGTH(shapes); i++) {
        struct bench *b = begin(shapes[i]);
        int64_t once = net(&price(b)->runs[BLOCK]), kept = b->priced.runs[BLOCK].stash_bytes[0];
        b->problem.job.sequence *= 2;
        int64_t twice = net(&price(b)->runs[BLOCK]);
        assert_true(twice - 2 * once <= 1 && 2 * once - twice <= 1);
        assert_int_equal(b->priced.runs[BLOCK].stash_bytes[0], 2 * kept);
        // In slices as a whole, of whatever lengths.
        struct layout *l = &b->problem.job.layout;
        l->schedule = SCHEDULE_TOKEN_SLICED, l->slice_count = 2;
        l->slices[0] = 300, l->slices[1] = 724;
        const struct priced_run *sliced = &price(b)->runs[BLOCK];
        int64_t both = sliced->forward_ns[0] + sliced->forward_ns[b->priced.group_count] - 20000;
        assert_true(both - twice <= 1 && twice - both <= 1);
        b->runs[BLOCK].linear = false; // attention's scores make the later slice the longer
        l->schedule = SCHEDULE_1F1B, l->slice_count = 1, b->problem.job.sequence /= 2;
        once = net(&price(b)->runs[BLOCK]), b->problem.job.sequence *= 2;
        assert_true(net(&price(b)->runs[BLOCK]) > 2 * once);
    }
}

TEST(more_work_takes_no_less)
{
    struct random rng = {36};
    for (int i = 0; i < 200; i++) {
        struct linear_shape s = {4,
                                 8,
                                 16 * random_between(&rng, 1, 16),
                                 16 * random_between(&rng, 1, 16),
                                 random_between(&rng, 1, 6),
                                 random_between(&rng, 1, 200),
                                 random_between(&rng, 1, 200)};
        int64_t *const numbers[] = {&s.value_heads, &s.key_width,  &s.value_width,
                                    &s.convolution, &s.decay_rank, &s.gate_rank};
        if (i >= 100) { // sizes that two rules have
            s.rule = i % 2 ? LINEAR_STATE_SPACE : LINEAR_LIGHTNING, s.decay_rank = s.gate_rank = 0;
            if (i % 6 > 3) continue;
        }
        struct bench *b = begin(s);
        struct priced_run less = price(b)->runs[BLOCK];
        int64_t forward = less.forward_ns[0], backward = less.backward_ns[0];
        *numbers[i % 6] *= 2;
        b->problem.model.shape.linear = s;
        const struct priced_run *more = &price(b)->runs[BLOCK];
        assert_true(more->forward_ns[0] >= forward && more->backward_ns[0] >= backward);
        assert_true(more->stash_bytes[0] >= less.stash_bytes[0]);
        assert_true(more->weight_bytes > less.weight_bytes);
    }
}

// Tensor ranks share everything but the norms over a token and the latents.
TEST(tensor_ranks_share_it)
{
    struct bench *b = begin(small);
    struct layout *l = &b->problem.job.layout;
    int64_t one = price(b)->runs[BLOCK].weight_bytes;
    l->tensor = 2;
    // Halved but for norms 4096 and the norm of a head 64, 2 bytes each.
    assert_int_equal(2 * price(b)->runs[BLOCK].weight_bytes - one, 2 * (4096 + 64));
    l->tensor = 1, l->context = 2;
    struct problem *p = &b->problem;
    int64_t near = net(&price(b)->runs[BLOCK]);
    p->job.sequence *= 2;
    // 2 sequences' 16 states of 64 x (64 + 64) in fp32, passed on once: the same however long they
    // are.
    int64_t far = net(&price(b)->runs[BLOCK]), passed = 2 * near - far;
    p->job.sequence *= 2;
    int64_t farther = net(&price(b)->runs[BLOCK]);
    assert_true(passed > 0 && 2 * far - farther - passed <= 1 && 2 * far - farther - passed >= -1);
}

// ---- published sizes, and what it does not go with

TEST(published_sizes)
{
    static const struct {
        const char *path;
        double all, active; // in billions, as the models are called
    } models[] = {{"data/models/alibaba/qwen3-next-80b-a3b.json", 80, 3},
                  {"data/models/others/kimi-linear-48b-a3b.json", 48, 3}};
    for (size_t i = 0; i < ARRAY_LENGTH(models); i++) {
        struct model m;
        CHECK_OK(model_load(&m, models[i].path, arena, &err));
        struct model_size size = model_size_of(&m);
        double table = (double)(m.shape.vocabulary * m.shape.hidden); // not counted as active
        assert_true(fabs((double)size.all / 1e9 / models[i].all - 1) < 0.03);
        assert_true(fabs(((double)size.active - table) / 1e9 - models[i].active) < 0.7);
    }
}

static void refused(void (*spoil)(struct bench *b), const char *told)
{
    struct bench *b = begin(small);
    spoil(b);
    struct error err = {OK, ""};
    enum status found = model_check(&b->problem.model, &err);
    if (found == OK) found = problem_check(&b->problem, &err);
    if (found == OK) found = problem_check_layout(&b->problem, &err);
    if (found != BAD_INPUT) fail_msg("%s: not refused", told);
    if (!strstr(err.text, told)) fail_msg("%s: does not say %s", err.text, told);
}

static void keyless(struct bench *b) { b->problem.model.shape.linear.key_heads = 0; }
static void scan(struct bench *b) { b->problem.model.shape.linear.rule = LINEAR_SCAN; }
static void nothing(struct bench *b)
{
    b->runs[BLOCK].linear = false, b->runs[BLOCK].no_attention = true;
    b->runs[BLOCK].no_feed_forward = true;
}
static void partless(struct bench *b) { b->runs[BLOCK].no_attention = true; }
static void window(struct bench *b) { b->runs[BLOCK].window = 4; }
static void crossing(struct bench *b) { b->runs[BLOCK].cross_attention = true; }
static void shapeless(struct bench *b) { b->problem.model.shape.linear = (struct linear_shape){0}; }
static void head(struct bench *b) { b->runs[HEAD].linear = true; }
static void uneven(struct bench *b) { b->problem.model.shape.linear.value_heads = 12; }
static void narrow(struct bench *b) { b->problem.model.shape.linear.value_width = 0; }
static void split(struct bench *b)
{
    b->problem.model.shape.linear.key_heads = 1, b->problem.job.layout.tensor = 2;
}

TEST(misfits_are_named)
{
    refused(keyless, "shape.linear.key_heads: expected at least 1");
    refused(scan, "shape.linear.rule: expected key_heads 1, value_width 1");
    refused(nothing, "with neither");
    refused(partless, "runs[1].attention: expected a run without kinds of attention");
    refused(window, "runs[1].linear: expected a causal run");
    refused(crossing, "runs[1].linear: expected a causal run");
    refused(shapeless, "runs[1].linear");
    refused(head, "runs[2].linear: kind \"head\" has no attention");
    refused(uneven, "shape.linear.value_heads: expected a multiple of key_heads 8");
    refused(narrow, ".linear.value_width: expected");
    refused(split, "shape.linear.key_heads: expected a multiple of the job's layout.tensor 2");
}
