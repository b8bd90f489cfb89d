// Models with a tower before the embedding: written and read again, counted; nonsensical values and
// those that are not priced are refused by name.
#include "data/inputs/model/size.h"
#include "data/inputs/problem.h"
#include "data/kinds/schedules.h"
#include "tests/support/folder.h"
#include "tests/support/same.h"
#include "tests/support/check.h"

static void refused(enum status status, const struct error *err, const char *word)
{
    assert_int_equal(status, BAD_INPUT);
    if (!strstr(err->text, word)) fail_msg("'%s' does not name %s", err->text, word);
}

// CLIP's ViT-L/14 at 336 pixels and LLaVA-1.5's projector, before a model of two blocks.
static const struct shape vision = {.hidden = 1024,
                                    .ffn = 4096,
                                    .heads = 16,
                                    .kv_heads = 16,
                                    .head_width = 64,
                                    .positions = 577,
                                    .qkv_bias = true,
                                    .linear_bias = true};
enum { PATCHES, TOWER, PROJECTED, EMBEDDED, BLOCKS, LAST, RUNS };

static struct model tower_model(struct layer_run runs[RUNS], struct shape *own)
{
    const struct layer_run all[] = {
        {.name = "patches",
         .kind = LAYER_PROJECTOR,
         .count = 1,
         .frozen = true,
         .more_values = 1024 + 577 * 1024 + 2048,
         .projector = {588, 0, 1024, false},
         .tokens = 576,
         .pieces = 2},
        {.name = "vision",
         .kind = LAYER_BLOCK,
         .count = 24,
         .recomputable = true,
         .frozen = true,
         .bidirectional = true,
         .shape = own,
         .tokens = 577,
         .pieces = 2},
        {.name = "projector",
         .kind = LAYER_PROJECTOR,
         .count = 1,
         .projector = {1024, 4096, 4096, true},
         .tokens = 576,
         .pieces = 2},
        {.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1},
        {.name = "block", .kind = LAYER_BLOCK, .count = 2, .recomputable = true},
        {.name = "head", .kind = LAYER_HEAD, .count = 1},
    };
    memcpy(runs, all, sizeof all);
    *own = vision;
    return (struct model){.name = "tower",
                          .has_shape = true,
                          .shape = {.hidden = 4096,
                                    .ffn = 11008,
                                    .heads = 32,
                                    .kv_heads = 32,
                                    .head_width = 128,
                                    .vocabulary = 32064,
                                    .gated_ffn = true,
                                    .rms_norm = true},
                          .runs = runs,
                          .run_count = RUNS,
                          .layer_count = 30};
}

TEST(towers_come_back)
{
    struct layer_run runs[RUNS];
    struct shape own;
    struct model m = tower_model(runs, &own), again;
    const char *path = own_path("tower.json");
    if (model_save(&m, path, arena, &err) != OK || model_load(&again, path, arena, &err) != OK)
        fail_msg("%s", err.text);
    same_model(&m, &again);
    assert_true(model_has_towers(&again) && model_looks_ahead(&again));
    assert_false(model_has_gradient(&again, TOWER) || model_ties_behind_tower(&again));
    assert_true(model_has_gradient(&again, PROJECTED) && model_peculiarity(&again, false));
}

// Tensor by tensor, as PyTorch has them: a block's four projections and two linear layers with
// their biases, two norms of two vectors.
TEST(sizes_are_each_runs_own)
{
    struct layer_run runs[RUNS];
    struct shape own;
    struct model m = tower_model(runs, &own);
    int64_t block = 4 * (1024 * 1024 + 1024) + 2 * 1024 * 4096 + 4096 + 1024 + 2 * 2048,
            patches = 588 * 1024 + 1024 + 577 * 1024 + 2048,
            projector = 1024 * 4096 + 4096 + 4096 * 4096 + 4096,
            language = 2 * (4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096) + 2 * 32064 * 4096 +
                       4096;
    assert_int_equal(model_size_of(&m).all, patches + 24 * block + projector + language);
}

#define REFUSED(change, word)                                                                      \
    do {                                                                                           \
        struct layer_run runs[RUNS];                                                               \
        struct shape own;                                                                          \
        struct model m = tower_model(runs, &own);                                                  \
        err = (struct error){OK, ""};                                                              \
        change;                                                                                    \
        refused(model_check(&m, &err), &err, word);                                                \
    } while (0)

TEST(senseless_towers)
{
    REFUSED(runs[PROJECTED].tokens = 0, "runs[2].tokens");
    REFUSED(runs[PROJECTED].shape = &own, "runs[2].shape");
    REFUSED((runs[PATCHES].weight_bits = 4), "weight_bits");
    REFUSED(runs[PROJECTED].shared_weights = true, "shared_weights");
    REFUSED(runs[PROJECTED].recomputable = true, "recomputable");
    REFUSED(runs[PROJECTED].adapter_rank = 4, "adapter_rank");
    REFUSED(runs[PROJECTED].projector.outputs = 0, "projector");
    REFUSED(runs[PROJECTED].projector.outputs = 2048, "runs[3].shape.hidden");
    REFUSED(runs[PROJECTED].projector.inputs = 588, "one tower");
    REFUSED(own.hidden = 512, "runs[1].shape.hidden");
    REFUSED(own.kv_heads = 3, "runs[1].shape.kv_heads");
    REFUSED(own.vocabulary = 7, "runs[1].shape.vocabulary");
    REFUSED(runs[EMBEDDED].tokens = 16, "runs[3]");
    REFUSED(runs[LAST].tokens = 16, "runs[5].tokens");
    REFUSED(runs[BLOCKS].tokens = 16, "before all others");
    REFUSED(runs[BLOCKS].pieces = 2, "runs[4].pieces");
    REFUSED((runs[BLOCKS].kind = LAYER_MOE, runs[BLOCKS].shape = &m.shape,
             runs[BLOCKS].experts = (struct expert_shape){.experts = 2, .top_k = 1, .ffn = 8}),
            "runs[4].shape");
    REFUSED(runs[BLOCKS].cross_attention = true, "runs[4].cross_attention");
    REFUSED(runs[TOWER].cross_attention = true, "runs[1].cross_attention");
    REFUSED((runs[EMBEDDED] = runs[BLOCKS], runs[EMBEDDED].name = "other",
             runs[BLOCKS] = (struct layer_run){.name = "embedding", .kind = LAYER_EMBEDDING},
             runs[BLOCKS].count = 1),
            "embedding");
}

static const char *const shape_of_run =
    "{\"kind\": \"plumbline.model\", \"version\": 1, \"name\": \"x\", \"runs\": [{\"name\": \"a\", "
    "\"kind\": \"block\", \"tokens\": 4, \"shape\": {\"hidden\": 8, \"ffn\": 8, \"heads\": 1, "
    "\"%s\": 1}}]}";

// What belongs to embedding and head is no key of a run's shape.
TEST(ends_have_no_part_in_a_runs_shape)
{
    static const char *const keys[] = {"vocabulary", "embedding_width", "vocabulary_multiple",
                                       "final_norm", "tied_embeddings"};
    for (int i = 0; i < 5; i++) {
        err = (struct error){OK, ""};
        struct model m;
        struct arena_mark mark = arena_set_mark(arena);
        const char *path = own_path("key.json");
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, shape_of_run, keys[i]);
        fclose(file);
        refused(model_load(&m, path, arena, &err), &err, keys[i]);
        arena_reset(arena, mark);
    }
}

// ---- with a layout

static struct problem tower_problem(struct layer_run runs[RUNS], struct shape *own)
{
    struct problem p = {.name = "tower", .model = tower_model(runs, own)};
    static struct node_group group = {.name = "g",
                                      .gpu = "G",
                                      .nodes = 1,
                                      .gpus_per_node = 8,
                                      .memory_bytes = 80000000000,
                                      .intra = {1e11, 1e-6}};
    static struct precision_costs rates;
    static struct gpu_costs gpu;
    const struct estimate one = {.value = 1, .low = 1, .high = 1, .origin = ORIGIN_ASSUMED},
                          fast = {
                              .value = 1e12, .low = 1e12, .high = 1e12, .origin = ORIGIN_ASSUMED};
    rates = (struct precision_costs){.precision = BF16,
                                     .gemm_flop_per_s = fast,
                                     .attention_flop_per_s = fast,
                                     .low_rank_flop_per_s = fast};
    gpu = (struct gpu_costs){
        .gpu = "G", .precisions = &rates, .precision_count = 1, .memory_bytes_per_s = fast};
    p.cluster = (struct cluster){.name = "c", .groups = &group, .group_count = 1};
    p.costs = (struct costs){.name = "c",
                             .gpus = &gpu,
                             .gpu_count = 1,
                             .intra_efficiency = one,
                             .transfer_share = {0, 0, 1}};
    for (int i = 0; i < NIC_KIND_COUNT; i++) p.costs.network_efficiency[i] = one;
    p.job = (struct job){
        .name = "j",
        .sequence = 2048,
        .precision = BF16,
        .global_batch = 8,
        .gradient_bytes_per_value = 4,
        .memory_fraction = 1,
        .budget = {-1, -1, -1, 0},
        .layout = {.tensor = 1, .context = 1, .data = 1, LAYOUT_PLAIN(2), .micro_batch = 1}};
    p.job.recompute[RECOMPUTE_NONE] = true;
    return p;
}

#define REFUSED_PROBLEM(change, word)                                                              \
    do {                                                                                           \
        struct layer_run runs[RUNS];                                                               \
        struct shape own;                                                                          \
        struct problem p = tower_problem(runs, &own);                                              \
        struct layout *l = &p.job.layout;                                                          \
        err = (struct error){OK, ""};                                                              \
        CHECK_OK(problem_check(&p, &err));                                                         \
        (void)l;                                                                                   \
        change;                                                                                    \
        refused(problem_check(&p, &err), &err, word);                                              \
    } while (0)

TEST(layouts_that_towers_do_not_go_with)
{
    REFUSED_PROBLEM((l->tensor = 2, own.ffn = 4095), "runs[1].shape.ffn");
    REFUSED_PROBLEM((l->tensor = 2, own.heads = own.kv_heads = 15), "runs[1].shape.heads");
    REFUSED_PROBLEM((l->tensor = 2, runs[PROJECTED].projector.inner = 4095), "projector.inner");
    REFUSED_PROBLEM(l->context = 2, "layout.context");
    REFUSED_PROBLEM((l->schedule = SCHEDULE_TOKEN_SLICED, l->slice_count = 2, l->slices[0] = 1024,
                     l->slices[1] = 1024),
                    "slices");
    REFUSED_PROBLEM(p.model.shape.tied_embeddings = true, "layout.pipeline");
    REFUSED_PROBLEM((l->tensor = 2, l->grid_depth = 2, l->grid_rows = 1), "grid");
    struct layer_run runs[RUNS];
    struct shape own;
    struct problem p = tower_problem(runs, &own);
    err = (struct error){OK, ""};
    p.model.shape.tied_embeddings = runs[EMBEDDED].frozen = runs[LAST].frozen = true;
    CHECK_OK(problem_check(&p, &err));
    runs[EMBEDDED].frozen = runs[LAST].frozen = false, p.job.layout.pipeline = 1;
    CHECK_OK(problem_check(&p, &err));
}

AROUND_ALL(folder_open, folder_close)
