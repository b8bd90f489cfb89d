// Figures of a run: FLOP of models against counts by hand and published approximations, price by
// hand.
#include "data/inputs/figures.h"
#include "tests/support/check.h"

static double flop_per_token(const char *path, int64_t sequence)
{
    struct model m;
    struct arena_mark mark = arena_set_mark(&own_arena);
    MUST(model_load(&m, path, &own_arena, &own_err));
    double flop = model_flop(&m, sequence) / (double)sequence;
    arena_reset(&own_arena, mark);
    return flop;
}

static void check_near(double found, double expected, double share)
{
    if (fabs(found - expected) > share * fabs(expected))
        fail_msg("expected %.12g within %g, found %.12g", expected, share, found);
}

// Narayanan et al.: 72 B s l h^2 (1 + s / 6h + V / 12lh); PaLM: 6 N + 12 L H Q T.
TEST(gpt3_is_as_published)
{
    double h = 12288, l = 96, s = 2048, v = 51200,
           found = flop_per_token("data/models/openai/gpt3-175b.json", 2048);
    check_near(found, 72 * l * h * h * (1 + s / (6 * h) + v / (12 * l * h)), 1e-12);
    check_near(found, 6 * 174.6e9 + 12 * l * h * s, 0.005);
    check_near(found, 6 * 174.6e9, 0.035);
}

// Masks drawn cell by cell: what they leave of all scores is what is counted.
TEST(masked_scores_are_those_left)
{
    for (int64_t tokens = 1; tokens <= 48; tokens += 3)
        for (int64_t reach = 0; reach <= 24; reach += 8)
            for (int kind = 0; kind < 3; kind++) {
                struct layer_run run = {.name = "block", .kind = LAYER_BLOCK, .count = 1};
                struct model m = {.has_shape = true,
                                  .shape = {.hidden = 8,
                                            .ffn = 16,
                                            .heads = 4,
                                            .kv_heads = 4,
                                            .head_width = 2,
                                            .vocabulary = 10},
                                  .runs = &run,
                                  .run_count = 1,
                                  .layer_count = 1};
                double left = 0;
                if (kind == 0) run.window = reach;
                if (kind == 1) run.chunk = reach;
                if (kind == 2) run.bidirectional = true;
                for (int64_t row = 0; row < tokens; row++)
                    for (int64_t column = 0; column < tokens; column++) {
                        bool seen = kind == 2 || column <= row;
                        if (kind == 0 && reach) seen = seen && row - column < reach;
                        if (kind == 1 && reach) seen = seen && row / reach == column / reach;
                        left += seen ? kind != 2 && column == row ? 0.5 : 1 : 0; // the diagonal
                        if (kind == 0 && reach && row - column == reach) left += 0.5;
                    }
                // Scores and context, 2 FLOP each, with three passes, 8 wide.
                double apart = model_flop(&m, tokens) - model_flop_masked(&m, tokens),
                       products = 3 * 2 * (double)tokens * (4 * 64 + 2 * 128);
                check_near(model_flop_masked(&m, tokens), products + 3 * 2 * 2 * 8 * left, 1e-12);
                assert_true(apart >= 0);
            }
}

// 4 heads of 2 over 8, 2 for keys and values, gated 16, two blocks, vocabulary 10, 3 tokens.
static struct shape tiny = {.hidden = 8,
                            .ffn = 16,
                            .heads = 4,
                            .kv_heads = 2,
                            .head_width = 2,
                            .vocabulary = 10,
                            .vocabulary_multiple = 128,
                            .gated_ffn = true};

static struct model tiny_model(struct layer_run *runs)
{
    runs[0] = (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1};
    runs[1] =
        (struct layer_run){.name = "block", .kind = LAYER_BLOCK, .count = 2, .recomputable = true};
    runs[2] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    return (struct model){
        .has_shape = true, .shape = tiny, .runs = runs, .run_count = 3, .layer_count = 4};
}

TEST(tiny_models_are_counted_by_hand)
{
    struct layer_run runs[3];
    struct model m = tiny_model(runs);
    // Products a token: 8 x 16 (queries, keys, values) + 64 + 3 x 128 = 576; head 80. Scores and
    // context: 4 x 9 x 8 = 288 a block.
    double block = 2 * 3 * 576, head = 2 * 3 * 80;
    assert_true(model_flop(&m, 3) == 3 * (2 * (block + 288) + head));
    m.shape.tied_embeddings = true; // the product is the same one
    assert_true(model_flop(&m, 3) == 3 * (2 * (block + 288) + head));
    struct job job = {.sequence = 3, .layout.fused_attention = true};
    assert_true(recomputed_flop(&m, 0, 4, RECOMPUTE_NONE, 0, &job) == 0);
    assert_true(recomputed_flop(&m, 0, 4, RECOMPUTE_SELECTIVE, 0, &job) == 2 * 288);
    assert_true(recomputed_flop(&m, 0, 4, RECOMPUTE_FULL, 0, &job) == 2 * (block + 288));
    assert_true(recomputed_flop(&m, 0, 4, RECOMPUTE_FIRST_LAYERS, 1, &job) == block + 288);
    // Single operators: keys 8 x 4, attention's output 8 x 8, one of the gated layer's 8 x 16.
    job.trainer = TRAINER_TORCHTITAN;
    assert_true(recomputed_flop(&m, 0, 4, RECOMPUTE_SELECTIVE, 0, &job) == 2 * 2 * 3 * 224);
    job.layout.fused_attention = false;
    assert_true(recomputed_flop(&m, 0, 4, RECOMPUTE_SELECTIVE, 0, &job) == 2 * (2 * 3 * 224 + 288));
    // Frozen blocks after a frozen embedding: forward only; after a trained one, also gradients of
    // inputs.
    runs[1].frozen = true;
    assert_true(model_flop(&m, 3) == 2 * (2 * block + 3 * 288) + 3 * head);
    runs[0].frozen = true;
    assert_true(model_flop(&m, 3) == 2 * (block + 288) + 3 * head);
    // Adapters of rank 1: 2 (8 + 8) + 2 (8 + 4) + 3 (8 + 16) = 128 a token.
    runs[1].adapter_rank = 1;
    assert_true(model_flop(&m, 3) == 2 * (2 * block + 3 * 288 + 3 * (2 * 3 * 128)) + 3 * head);
}

// Of the experts those that a token uses, however many there are and however they are filled.
TEST(experts_count_where_they_are_used)
{
    struct layer_run runs[3];
    struct model m = tiny_model(runs);
    runs[1].kind = LAYER_MOE;
    runs[1].experts = (struct expert_shape){
        .experts = 8, .top_k = 2, .ffn = 4, .shared_ffn = 2, .imbalance = 1.5};
    double block = 2 * 3 * (128 + 64 + 3 * 8 * (2 * 4 + 2) + 8 * 8);
    assert_true(model_flop(&m, 3) == 3 * (2 * (block + 288) + 2 * 3 * 80));
    // 12.9e9 active parameters, of 46.7e9; the embedding's 131e6 are in no product.
    double scores = 12 * 32 * 4096 * 4096.0;
    check_near(flop_per_token("data/models/mistral/mixtral-8x7b.json", 4096) - scores, 6 * 12.75e9,
               0.01);
}

TEST(measured_layers_are_not_known)
{
    struct layer_run runs[3];
    struct model m = tiny_model(runs);
    runs[1].kind = LAYER_MEASURED;
    assert_true(model_flop(&m, 3) == 0);
}

// 4 sequences of 3 tokens in half a second on 2 x 4 and 1 x 2 GPUs, at 3 and 1.5 an hour.
TEST(a_run_is_priced_by_hand)
{
    struct layer_run runs[3];
    struct precision_costs fast = {.precision = FP16, .peak_flop_per_s.value = 1e6},
                           slow = {.precision = FP16, .peak_flop_per_s.value = 2e5};
    struct gpu_costs gpus[] = {{.gpu = "fast", .precisions = &fast, .precision_count = 1},
                               {.gpu = "slow", .precisions = &slow, .precision_count = 1}};
    struct node_group groups[] = {
        {.name = "a", .gpu = "fast", .nodes = 2, .gpus_per_node = 4, .gpu_hour_price = 3},
        {.name = "b", .gpu = "slow", .nodes = 1, .gpus_per_node = 2, .gpu_hour_price = 1.5}};
    struct problem p = {
        .model = tiny_model(runs),
        .cluster = {.groups = groups, .group_count = 2},
        .costs = {.gpus = gpus, .gpu_count = 2},
        .job = {.sequence = 3, .global_batch = 4, .precision = FP16, .run_tokens = 172800}};
    struct figures f;
    figures_find(&f, &p, 500000000, 100);
    assert_int_equal(f.gpus, 10);
    check_near(f.tokens_per_s, 24, 1e-12);
    check_near(f.tokens_per_gpu_hour, 8640, 1e-12);
    check_near(f.peak_flop_per_s, 8.4e6, 1e-12);
    check_near(f.model_flop_per_s, 8 * 3 * (2 * (3456 + 288) + 480), 1e-12);
    check_near(f.hardware_flop_per_s, f.model_flop_per_s + 800, 1e-12);
    check_near(f.price_per_hour, 27, 1e-12);
    check_near(f.price_per_million_tokens, 312.5, 1e-12);
    check_near(f.run_hours, 2, 1e-12);
    check_near(f.run_price, 54, 1e-12);
    groups[1].gpu_hour_price = 0, slow.peak_flop_per_s.value = 0;
    figures_find(&f, &p, 500000000, 100);
    assert_true(f.price_per_hour == 0 && f.run_price == 0 && f.peak_flop_per_s == 0);
    assert_string_equal(f.group_without_price, "b");
    assert_string_equal(f.gpu_without_peak, "slow");
}
