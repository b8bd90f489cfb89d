// Fujii et al.'s memory formula against values computed from the paper's equations for its own
// models, to the printed digit; and the cases to which it does not apply.
#include "solve/judge/internal.h"
#include "tests/support/check.h"

static const struct row {
    int64_t hidden, ffn;
    int layers;
    int64_t heads, kv_heads, vocabulary, sequence;
    int tensor, context, pipeline, data;
    double state_gb, activation_gb, total_gb;
} rows[] = {
    {4096, 11008, 32, 32, 32, 32000, 4096, 1, 1, 1, 8, 49.56, 20.86, 70.41},
    {4096, 11008, 32, 32, 32, 32000, 4096, 4, 1, 2, 8, 6.32, 5.25, 11.57},
    {4096, 11008, 32, 32, 32, 32000, 4096, 4, 2, 2, 4, 6.32, 2.62, 8.94},
    {5120, 13824, 40, 40, 40, 32000, 4096, 2, 1, 1, 16, 43.38, 16.16, 59.54},
    {8192, 28672, 80, 64, 8, 32000, 4096, 4, 1, 4, 4, 39.10, 27.61, 66.71},
    {8192, 28672, 80, 64, 8, 32000, 4096, 8, 1, 8, 2, 13.23, 13.94, 27.17},
    {4096, 14336, 32, 32, 8, 128256, 8192, 4, 1, 2, 8, 7.53, 12.22, 19.75},
    {8192, 28672, 80, 64, 8, 128256, 8192, 8, 1, 8, 2, 14.41, 28.27, 42.69},
};

static struct problem problem_of(const struct row *r, struct layer_run runs[3])
{
    runs[0] = (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1};
    runs[1] = (struct layer_run){.name = "block", .kind = LAYER_BLOCK, .count = r->layers};
    runs[2] = (struct layer_run){.name = "head", .kind = LAYER_HEAD, .count = 1};
    struct problem p = {
        .model = {.has_shape = true, .runs = runs, .run_count = 3, .layer_count = r->layers + 2}};
    p.model.shape = (struct shape){.hidden = r->hidden,
                                   .ffn = r->ffn,
                                   .heads = r->heads,
                                   .kv_heads = r->kv_heads,
                                   .head_width = r->hidden / r->heads,
                                   .vocabulary = r->vocabulary,
                                   .gated_ffn = true};
    p.job.sequence = r->sequence;
    p.job.layout = (struct layout){.tensor = r->tensor,
                                   .context = r->context,
                                   .data = r->data,
                                   LAYOUT_PLAIN(r->pipeline),
                                   .micro_batch = 1};
    return p;
}

static void near_to(int64_t bytes, double gb)
{
    double off = (double)bytes / 1e9 - gb;
    assert_true(off < 0.00501 && off > -0.00501);
}

TEST(test_published_values)
{
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct layer_run runs[3];
        struct problem p = problem_of(&rows[i], runs);
        struct published_memory m;
        assert_true(published_memory_of(&p, &m));
        near_to(m.state_bytes, rows[i].state_gb);
        near_to(m.activation_bytes, rows[i].activation_gb);
        near_to(m.state_bytes + m.activation_bytes, rows[i].total_gb);
    }
}

TEST(test_other_models)
{
    static const enum layer_kind others[] = {LAYER_MOE, LAYER_MEMORY, LAYER_MEASURED,
                                             LAYER_EMBEDDING};
    struct layer_run runs[3];
    struct published_memory m;
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++) {
        struct problem p = problem_of(&rows[0], runs);
        runs[1].kind = others[i];
        assert_false(published_memory_of(&p, &m));
    }
    struct problem p = problem_of(&rows[0], runs);
    runs[1].frozen = true;
    assert_false(published_memory_of(&p, &m));
}
