// Runs with a shape and tokens of their own. The law: such a run costs the same, term by term, as
// in a model of that shape whose sequences are the run's pieces. Projectors by hand; what a frozen
// tower leaves out.
#include "formulate/price/price.h"
#include "tests/support/check.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/towers.h"

enum { PROBLEMS = 1500, SCALE = 32 };

// One group of nodes of four, rates and links of round numbers.
static void draw(struct problem *p, struct random *rng, struct arena *arena)
{
    static const char *const name = "G";
    *p = (struct problem){.name = "random"};
    random_model(&p->model, rng, arena);
    struct node_group *g = TAKE(arena, 1, struct node_group);
    struct nic *nic = TAKE(arena, 1, struct nic);
    struct gpu_costs *gpu = TAKE(arena, 1, struct gpu_costs);
    struct precision_costs *rates = TAKE(arena, 1, struct precision_costs);
    *nic = (struct nic){NIC_INFINIBAND, 2, {25e9, 1e-5}};
    *g = (struct node_group){"first", name, 64, 4, 80000000000, {300e9, 3e-6}, nic, 1, 0};
    *rates = (struct precision_costs){.precision = BF16, .gemm_flop_per_s = exactly(250e12)};
    rates->attention_flop_per_s = rates->low_rank_flop_per_s = exactly(150e12);
    if (random_chance(rng, 50)) rates->product_flop_per_s = exactly(260e12);
    *gpu = (struct gpu_costs){.gpu = name, .precisions = rates, .precision_count = 1};
    gpu->memory_bytes_per_s = exactly(1.6e12);
    gpu->elementwise_launch_s = exactly(2e-6);
    gpu->layer_overhead_s = exactly(1e-5);
    gpu->host_link_bytes_per_s = exactly(2e10);
    p->cluster = (struct cluster){.name = "random", .groups = g, .group_count = 1};
    p->costs = (struct costs){.name = "random", .gpus = gpu, .gpu_count = 1};
    p->costs.intra_efficiency = exactly(0.75);
    for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
        p->costs.network_efficiency[kind] = exactly(0.8);
    p->costs.transfer_share[PART_LINK] = 1;
    p->job = (struct job){.name = "random",
                          .sequence = 128 * random_between(rng, 1, 16),
                          .precision = BF16,
                          .gradient_bytes_per_value = random_chance(rng, 50) ? 2 : 4,
                          .adam = true,
                          .layout = {.tensor = 1 << random_between(rng, 0, 2),
                                     .context = 1,
                                     .data = (int)random_between(rng, 1, 3),
                                     LAYOUT_PLAIN(1),
                                     .micro_batch = (int)random_between(rng, 1, 3),
                                     .sequence_parallel = random_chance(rng, 50),
                                     .zero = (int)random_between(rng, 0, 3),
                                     .fused_attention = random_chance(rng, 50)},
                          .trainer = (enum trainer)random_between(rng, 0, TRAINER_TORCHTITAN),
                          .budget = {-1, -1, -1, 0},
                          .memory_fraction = 1};
    p->job.gradient_options = TAKE(arena, 1, struct compression_option);
    p->job.gradient_options[0].form.amount = 4;
    p->job.gradient_option_count = random_chance(rng, 50);
    p->job.global_batch = (int64_t)p->job.layout.micro_batch * p->job.layout.data;
    p->job.recompute[RECOMPUTE_NONE] = p->job.recompute[RECOMPUTE_SWAP] = true;
}

static void same(int name, const char *what, int64_t a, int64_t b)
{
    if (a != b) fail_msg("problem %d: %s: %lld and %lld", name, what, (long long)a, (long long)b);
}
#define SAME(what) same(name, #what, a->what, b->what)

static void check_same(int name, const struct priced *x, int run, const struct priced *y)
{
    const struct priced_run *a = &x->runs[run], *b = &y->runs[0];
    SAME(weight_bytes), SAME(gradient_bytes), SAME(optimizer_bytes), SAME(unsharded_bytes);
    for (int mode = 0; mode < 3; mode++) SAME(stash_bytes[mode]), SAME(working_bytes[mode]);
    SAME(forward_ns[0]), SAME(backward_ns[0]), SAME(again_ns[RECOMPUTE_SELECTIVE][0]),
        SAME(again_ns[RECOMPUTE_FULL][0]);
    SAME(optimizer_ns[0]), SAME(tiered[0].away_ns[0]);
    for (int o = 0; o < x->gradient_option_count; o++) SAME(sync_ns[o][0]), SAME(feedback_bytes[o]);
    assert_int_equal(x->cuts[a->cut].message_bytes, y->cuts[b->cut].message_bytes);
    for (int part = 0; part < PART_COUNT; part++)
        assert_int_equal(x->cuts[a->cut].forward_ns[part], y->cuts[b->cut].forward_ns[part]);
}

// The run alone, as the model and the job have it then.
static struct problem alone(const struct problem *p, int run, struct layer_run *room)
{
    struct problem one = *p;
    int64_t pieces = run_pieces(&p->model.runs[run]);
    *room = p->model.runs[run];
    if (room->shape) one.model.shape = *room->shape;
    one.model.shape.vocabulary = 1000;
    one.job.sequence = room->tokens;
    one.job.layout.micro_batch *= (int)pieces, one.job.global_batch *= pieces;
    room->shape = NULL, room->tokens = room->pieces = 0;
    one.model.runs = room, one.model.run_count = 1, one.model.layer_count = room->count;
    return one;
}

TEST(a_tower_is_a_model_of_its_own)
{
    struct random rng = {77};
    int compared = 0, several = 0, refused = 0;
    for (int i = 0; i < PROBLEMS; i++) {
        err = (struct error){OK, ""};
        struct problem p, one;
        struct priced whole, of_run;
        struct layer_run room;
        struct arena_mark mark = arena_set_mark(arena);
        draw(&p, &rng, arena);
        assert_true(random_tower(&p, rng.state, SCALE, arena));
        int run = p.model.runs[0].kind == LAYER_PROJECTOR;
        // What is trained before it is no part of the model that it is alone.
        if (run) p.model.runs[0].frozen = true;
        one = alone(&p, run, &room);
        // A sequence that its tensor ranks do not divide is refused as a job's, not as a piece.
        if (price_problem(&whole, &p, arena, &err) == OK &&
            price_problem(&of_run, &one, arena, &err) == OK && !whole.groups[0].excluded &&
            !of_run.groups[0].excluded) {
            check_same(i, &whole, run, &of_run);
            compared++, several += p.model.runs[run].pieces > 1;
        } else {
            refused++;
        }
        arena_reset(arena, mark);
    }
    print_message("%d towers, %d of several pieces, %d not comparable\n", compared, several,
                  refused);
    assert_true(compared > PROBLEMS / 2 && several > compared / 3);
}

// Patches of 588 values to a width of 1,024, two layers of a tower, a projector of two matrices to
// the model's 4,096; then a model of two blocks. FP16 at 100 TFLOP/s, 1 TB/s, no overheads.
static struct shape vision = {.hidden = 1024,
                              .ffn = 4096,
                              .heads = 16,
                              .kv_heads = 16,
                              .head_width = 64,
                              .qkv_bias = true,
                              .linear_bias = true};
static const struct layer_run llava[] = {
    {.name = "patches",
     .kind = LAYER_PROJECTOR,
     .count = 1,
     .projector = {588, 0, 1024, false},
     .tokens = 576,
     .pieces = 3},
    {.name = "vision",
     .kind = LAYER_BLOCK,
     .count = 2,
     .recomputable = true,
     .bidirectional = true,
     .shape = &vision,
     .tokens = 577,
     .pieces = 3},
    {.name = "projector",
     .kind = LAYER_PROJECTOR,
     .count = 1,
     .projector = {1024, 4096, 4096, true},
     .tokens = 576,
     .pieces = 3},
    {.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1},
    {.name = "block", .kind = LAYER_BLOCK, .count = 2, .recomputable = true},
    {.name = "head", .kind = LAYER_HEAD, .count = 1},
};

enum { PATCHES, TOWER, PROJECTOR_RUN, EMBEDDING_RUN, BLOCKS, HEAD_RUN, RUNS };

static void small(struct problem *p, struct layer_run runs[RUNS], struct arena *arena)
{
    struct random rng = {5};
    draw(p, &rng, arena);
    memcpy(runs, llava, sizeof llava);
    p->model = (struct model){.name = "llava",
                              .has_shape = true,
                              .runs = runs,
                              .run_count = RUNS,
                              .layer_count = 8,
                              .shape = {.hidden = 4096,
                                        .ffn = 11008,
                                        .heads = 32,
                                        .kv_heads = 32,
                                        .head_width = 128,
                                        .vocabulary = 32000,
                                        .gated_ffn = true,
                                        .rms_norm = true}};
    struct precision_costs *rates = p->costs.gpus[0].precisions;
    rates[0].gemm_flop_per_s = exactly(1e14), rates[0].product_flop_per_s = exactly(0);
    p->costs.gpus[0].memory_bytes_per_s = exactly(1e12);
    p->costs.gpus[0].layer_overhead_s = p->costs.gpus[0].elementwise_launch_s = exactly(0);
    p->costs.intra_efficiency = exactly(1);
    p->job = (struct job){.name = "small",
                          .sequence = 2048,
                          .precision = BF16,
                          .gradient_bytes_per_value = 4,
                          .adam = true,
                          .global_batch = 2,
                          .layout = {.tensor = 2,
                                     .context = 1,
                                     .data = 1,
                                     LAYOUT_PLAIN(1),
                                     .micro_batch = 2,
                                     .fused_attention = true},
                          .budget = {-1, -1, -1, 0},
                          .memory_fraction = 1};
    p->job.recompute[RECOMPUTE_NONE] = true;
}

static void check_ns(int64_t found, double seconds)
{
    assert_true(fabs((double)found - seconds * 1e9) <= 1);
}

TEST(projectors_by_hand)
{
    struct problem p;
    struct priced priced;
    struct layer_run runs[RUNS];
    small(&p, runs, arena);
    CHECK_OK(price_problem(&priced, &p, arena, &err));
    // Six images: n tokens. One matrix is whole on both tensor ranks.
    double n = 6 * 576, flop = 2 * n * 588 * 1024, memory = 2 * n * (588 + 1024);
    const struct priced_run *patches = &priced.runs[PATCHES];
    check_ns(patches->forward_ns[0], flop / 1e14 + memory / 1e12);
    check_ns(patches->backward_ns[0], 2 * flop / 1e14 + 2 * memory / 1e12);
    assert_int_equal(patches->weight_bytes, 2 * 588 * 1024);
    assert_int_equal(patches->stash_bytes[0], (int64_t)(2 * n * 588));
    assert_int_equal(patches->working_bytes[0], (int64_t)(2 * n * 1024));
    assert_int_equal(priced.cuts[patches->cut].message_bytes, (int64_t)(2 * n * 1024));
    // With two ranks each has half of the middle; a ring of two sums the outputs.
    const struct priced_run *projector = &priced.runs[PROJECTOR_RUN];
    flop = 2 * n * (1024 + 4096) * 2048, memory = 2 * n * (1024 + 4096 + 2 * 2048);
    double forward = 2 * n * 4096 / 300e9 + 2 * 3e-6, backward = 2 * n * 1024 / 300e9 + 2 * 3e-6;
    check_ns(projector->forward_ns[0], flop / 1e14 + memory / 1e12 + forward);
    check_ns(projector->backward_ns[0], 2 * flop / 1e14 + 2 * memory / 1e12 + backward);
    assert_int_equal(projector->weight_bytes, 2 * ((1024 + 4096) * 2048 + 2048 + 4096));
    assert_int_equal(projector->gradient_bytes, 2 * projector->weight_bytes);
    assert_int_equal(projector->optimizer_bytes, 6 * projector->weight_bytes);
    assert_int_equal(projector->stash_bytes[0], (int64_t)(2 * n * (1024 + 2 * 2048)));
    // A cut in the tower sends 577 tokens of an image, one after it 576 of the model's width, one
    // after the embedding the sequence.
    const int64_t sent[] = {2 * 6 * 577 * 1024, 2 * 6 * 576 * 4096, 2 * 2 * 2048 * 4096};
    for (int run = TOWER; run <= EMBEDDING_RUN; run++)
        assert_int_equal(priced.cuts[priced.runs[run].cut].message_bytes, sent[run - TOWER]);
}

// LLaVA's first stage trains the projector alone, its second the projector and the model.
TEST(frozen_towers_go_forward_only)
{
    struct problem p;
    struct priced priced[3]; // all trained, tower frozen, all but the projector
    struct layer_run runs[3][RUNS];
    for (int i = 0; i < 3; i++) {
        small(&p, runs[i], arena);
        for (int run = 0; run < RUNS; run++)
            runs[i][run].frozen = (i && run < PROJECTOR_RUN) || (i == 2 && run > PROJECTOR_RUN);
        CHECK_OK(price_problem(&priced[i], &p, arena, &err));
    }
    for (int i = 1; i < 3; i++)
        for (int run = 0; run < RUNS; run++) {
            const struct priced_run *r = &priced[i].runs[run], *all = &priced[0].runs[run];
            bool tower = run < PROJECTOR_RUN, still = runs[i][run].frozen;
            assert_int_equal(r->forward_ns[0], all->forward_ns[0]);
            assert_int_equal(r->weight_bytes, all->weight_bytes);
            assert_int_equal(r->backward_ns[0] == 0, tower);
            assert_int_equal(r->stash_bytes[0] == 0 && all->stash_bytes[0] > 0, tower);
            assert_int_equal(r->gradient_bytes + r->optimizer_bytes == 0, still);
            if (!still) assert_int_equal(r->backward_ns[0], all->backward_ns[0]);
        }
}
