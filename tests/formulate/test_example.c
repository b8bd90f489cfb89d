// The shipped documents load and price, the examples are as described, and writing one damages
// nothing.
#include "data/kinds/schedules.h"
#include "formulate/example/example.h"

#include <unistd.h>

#include "tests/support/folder.h"
#include "tests/support/check.h"

#include "formulate/price/price.h"

static struct problem problem;
static struct priced priced;

static const struct priced *write_and_price(void)
{
    MUST(example_write(&problem, own_folder, false, &own_arena, &own_err));
    struct problem *loaded = TAKE(&own_arena, 1, struct problem);
    MUST(problem_load(loaded, own_path("problem.json"), &own_arena, &own_err));
    MUST(price_problem(&priced, loaded, &own_arena, &own_err));
    return &priced;
}

TEST(chain_is_as_described)
{
    struct chain_request request = {48, 8, 3, 32};
    MUST(example_chain(&problem, &request, &own_arena, &own_err));
    const struct priced *p = write_and_price();
    assert_int_equal(p->stage_count, 8);
    assert_int_equal(p->micro_batches, 32);
    assert_int_equal(p->layer_count, 50);
    assert_int_equal(p->group_count, 3);
    assert_int_equal(p->groups[0].slots, 3); // 8 = 3 + 3 + 2
    assert_int_equal(p->groups[1].slots, 3);
    assert_int_equal(p->groups[2].slots, 2);
    assert_int_equal(p->groups[1].memory_limit_bytes, 40000000000);
    assert_int_equal(p->groups[2].memory_limit_bytes, 80000000000);
    const struct priced_run *block = &p->runs[1];
    assert_int_equal(block->forward_ns[0], 1000000);
    assert_int_equal(block->backward_ns[1], 3636364);              // 2 / 0.55 ms
    assert_int_equal(block->again_ns[RECOMPUTE_FULL][2], 1333333); // 1 / 0.75 ms
    assert_int_equal(p->runs[0].forward_ns[0], 300000);
    assert_int_equal(p->runs[2].backward_ns[1], 4363636); // 2.4 / 0.55 ms
    assert_int_equal(block->weight_bytes, 4666666666);    // 28e9 x 8 / 48, down
    assert_int_equal(block->stash_bytes[RECOMPUTE_NONE], 1083333333);
    assert_int_equal(block->stash_bytes[RECOMPUTE_FULL], 86666666);
    assert_int_equal(p->runs[0].weight_bytes, 4000000000);
    const int64_t *same = &p->cuts[block->cut].forward_ns[(1 * 3 + 1) * PART_COUNT],
                  *other = &p->cuts[block->cut].backward_ns[0][(0 * 3 + 2) * PART_COUNT];
    assert_int_equal(same[PART_DELAY], 200000);
    assert_int_equal(other[PART_DELAY], 1500000);
    assert_int_equal(
        same[PART_LINK] + same[PART_BLOCKING] + other[PART_LINK] + other[PART_BLOCKING], 0);
    assert_false(priced_uses_sync(p));
    assert_false(p->recompute[RECOMPUTE_SELECTIVE]);
    assert_true(p->recompute[RECOMPUTE_FIRST_LAYERS]);
    assert_int_equal(p->rule_count, 1);
    assert_int_equal(p->rules[0].layers_min, 1);
}

TEST(chain_with_fewer_stages_than_types)
{
    struct chain_request request = {6, 3, 4, 2};
    MUST(example_chain(&problem, &request, &own_arena, &own_err));
    assert_int_equal(write_and_price()->group_count, 3);
    request.stages = 7;
    assert_int_equal(example_chain(&problem, &request, &own_arena, &own_err), BAD_INPUT);
}

TEST(every_shipped_pair_prices)
{
    static const char *const models[] = {"gpt2-xl", "gpt3-175b", "llama-3.1-8b", "llama-3.1-70b",
                                         "llama-3.1-405b"};
    static const char *const clusters[] = {"a100-16x8", "h100-128x8", "mixed-a100-v100",
                                           "two-nics"};
    for (size_t m = 0; m < ARRAY_LENGTH(models); m++)
        for (size_t c = 0; c < ARRAY_LENGTH(clusters); c++) {
            struct transformer_request r = {.name = "test",
                                            .model = models[m],
                                            .cluster = clusters[c],
                                            .costs = "published",
                                            .sequence = 1024,
                                            .precision = FP16,
                                            .layout = {.tensor = m ? 8 : 1,
                                                       .context = 1,
                                                       LAYOUT_PLAIN(4),
                                                       .micro_batch = 1,
                                                       .schedule = SCHEDULE_GPIPE},
                                            .memory_fraction = 0.9};
            struct arena_mark mark = arena_set_mark(&own_arena);
            MUST(example_transformer(&problem, &r, &own_arena, &own_err));
            MUST(price_problem(&priced, &problem, &own_arena, &own_err));
            int slots = 0;
            for (int g = 0; g < priced.group_count; g++) {
                assert_null(priced.groups[g].excluded);
                slots += priced.groups[g].slots;
                assert_true(priced.runs[1].forward_ns[g] > 0);
            }
            assert_int_equal(slots, 4); // the replicas take every GPU
            // different groups are joined, by the transport that both have
            int last = priced.group_count - 1;
            const int64_t *parts = &priced.cuts[0].forward_ns[last * PART_COUNT];
            assert_true(parts[PART_LINK] + parts[PART_OVERHEAD] > 0);
            arena_reset(&own_arena, mark);
        }
}

// arXiv 2205.05198 Table 4: one layer of the 22B model on A100, tensor 8, 4 sequences of 2048 (ms),
// within 12 %.
TEST(published_layer_times)
{
    static const struct {
        bool sequence_parallel;
        int mode;
        double forward_ms, backward_ms;
    } rows[] = {
        {false, 0, 7.7, 11.9}, {true, 0, 7.2, 11.8}, {false, 2, 7.7, 19.5},
        {false, 1, 7.7, 13.2}, {true, 1, 7.2, 13.1},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
        struct transformer_request r = {.name = "test",
                                        .model = "gpt3-175b",
                                        .cluster = "a100-16x8",
                                        .costs = "published",
                                        .sequence = 2048,
                                        .precision = FP16,
                                        .layout = {.tensor = 8,
                                                   .context = 1,
                                                   LAYOUT_PLAIN(1),
                                                   .micro_batch = 4,
                                                   .sequence_parallel = rows[i].sequence_parallel},
                                        .memory_fraction = 1};
        MUST(example_transformer(&problem, &r, &own_arena, &own_err));
        struct shape *shape = &problem.model.shape;
        shape->hidden = 6144, shape->ffn = 24576, shape->heads = shape->kv_heads = 64,
        shape->head_width = 96;
        MUST(price_problem(&priced, &problem, &own_arena, &own_err));
        const struct priced_run *block = &priced.runs[1];
        int64_t extra = rows[i].mode == 0   ? 0
                        : rows[i].mode == 1 ? block->again_ns[RECOMPUTE_SELECTIVE][0]
                                            : block->again_ns[RECOMPUTE_FULL][0];
        double forward = (double)block->forward_ns[0] / 1e6 / rows[i].forward_ms,
               backward = (double)(block->backward_ns[0] + extra) / 1e6 / rows[i].backward_ms;
        assert_true(forward > 0.88 && forward < 1.12);
        assert_true(backward > 0.88 && backward < 1.12);
    }
}

TEST(compression_as_asked)
{
    struct transformer_request r = {
        .name = "test", .model = "gpt2-xl", .cluster = "a100-16x8", .costs = "published"};
    r.sequence = 1024;
    r.precision = FP16, r.memory_fraction = 0.9, r.boundary_rank = 16, r.gradient_rank = 128,
    r.quality_budget = 3;
    r.layout = (struct layout){.tensor = 1, .context = 1, LAYOUT_PLAIN(4), .micro_batch = 8};
    MUST(example_transformer(&problem, &r, &own_arena, &own_err));
    const struct priced *p = write_and_price();
    assert_int_equal(p->boundary_option_count, 2);
    assert_int_equal(p->gradient_option_count, 2);
    assert_true(priced_uses_epilogue(p));
    assert_int_equal(p->budget.cost_max, 3);
    assert_int_equal(p->layout.data, 32); // 128 GPUs / 4
    assert_int_equal(p->micro_batches, 64);
    // 2 x 8 x 1024 x 1600 B become 2 x 16 x (8192 + 1600)
    const int64_t *whole = &p->cuts[0].backward_ns[0][PART_LINK],
                  *low = &p->cuts[0].backward_ns[1][PART_LINK];
    assert_true(llabs(*whole * (16 * (8192 + 1600)) / (8192 * 1600) - *low) <= 1);
}

TEST(four_machines)
{
    MUST(example_four(&problem, "published", 20, &own_arena, &own_err));
    assert_int_equal(problem.cluster.groups[0].memory_bytes, 32000000000);
    assert_non_null(strstr(problem.cluster.name, "assumed"));
    MUST(example_four(&problem, "published", 40.7, &own_arena, &own_err));
    assert_int_equal(problem.cluster.groups[0].memory_bytes, 40000000000);
    const struct priced *p = write_and_price();
    assert_int_equal(p->stage_count, 4);
    assert_int_equal(p->groups[0].slots, 4);
    assert_true(p->has_embedding_sync);
    assert_string_equal(p->groups[0].gpu, "a100-80gb");
}

TEST(names_of_shipped_documents)
{
    const char *path;
    MUST(shipped_find(&path, "models", "some/folder/file", &own_arena, &own_err));
    assert_string_equal(path, "some/folder/file");
    MUST(shipped_find(&path, "models", "some.json", &own_arena, &own_err));
    assert_string_equal(path, "some.json");
    MUST_REFUSE(shipped_find(&path, "models", "gpt9", &own_arena, &own_err), "gpt9");
}

static const char *content_of(const char *name)
{
    const char *text;
    size_t size;
    MUST(file_read(arena_print(&own_arena, "%s/%s", own_folder, name), &text, &size, &own_arena,
                   &own_err));
    return text;
}

TEST(nothing_is_overwritten)
{
    struct chain_request request = {12, 3, 1, 4};
    MUST(example_chain(&problem, &request, &own_arena, &own_err));
    write_and_price();
    MUST(example_write(&problem, own_folder, false, &own_arena, &own_err)); // the same once more
    const char *model = content_of("model.json"), *job = content_of("job.json");
    request.micro_batches = 5; // another job, the same model
    MUST(example_chain(&problem, &request, &own_arena, &own_err));
    MUST_REFUSE(example_write(&problem, own_folder, false, &own_arena, &own_err),
                "job.json: exists with other content");
    assert_string_equal(content_of("model.json"), model);
    own_err.status = OK;
    assert_string_equal(content_of("job.json"), job);
    MUST(example_write(&problem, own_folder, true, &own_arena, &own_err));
    assert_string_not_equal(content_of("job.json"), job);
}

AROUND_EACH(folder_open, folder_close)
