// Predictions: equal to the test's own replay on ten thousand random configurations, and to the
// solver's choices on problems; refused with a reason if a row states too little or contradicts
// itself.
#include <math.h>

#include "data/kinds/schedules.h"
#include "formulate/example/example.h"
#include "formulate/predict/internal.h"
#include "formulate/price/price.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"

static struct predictor *open_predictor(bool ends, struct arena *arena)
{
    struct predict_settings settings = {.margin = 0.8, .ranges = ends};
    struct predictor *p;
    MUST(predictor_open(&p, &settings, arena, &own_err));
    return p;
}

static struct run_row row_of(const char *text, struct arena *arena)
{
    struct run_row row;
    MUST(row_of_words(&row, &text, 1, arena, &own_err));
    return row;
}

// ---- the replay: 1F1B and GPipe as in the papers, one link per boundary and direction

struct stage_times {
    int64_t forward, backward, ending;
};
enum { STAGES = 8, BATCHES = 40 };

struct replay {
    int p, m;
    bool gpipe;
    struct stage_times stages[STAGES];
    int64_t link[2], delay[2]; // of one transfer, forward and backward
    int64_t overhead[2];       // of a message at each of its ends
    int64_t ended[STAGES];     // the stage's last pass; its last message may take it longer
    int64_t done[2][STAGES][BATCHES], arrived[2][STAGES][BATCHES], link_free[2][STAGES];
    int next[STAGES];
    int64_t now[STAGES];
};

// What stage s does as its k-th turn: pass 0 forward, 1 backward.
static int turn_of(const struct replay *r, int s, int k, int *batch)
{
    int warm_up = r->gpipe ? r->m : r->p - 1 - s < r->m ? r->p - 1 - s : r->m;
    if (k < warm_up) return *batch = k, 0;
    int behind = k - warm_up, steady = r->m - warm_up;
    if (behind < 2 * steady)
        return *batch = behind % 2 ? behind / 2 : warm_up + behind / 2, behind % 2;
    return *batch = behind - steady, 1;
}

static bool step(struct replay *r, int s)
{
    int batch, k = r->next[s];
    if (k == 2 * r->m) return false;
    int pass = turn_of(r, s, k, &batch), from = pass ? s + 1 : s - 1, to = pass ? s - 1 : s + 1;
    int64_t ready = 0;
    if (from >= 0 && from < r->p) ready = r->arrived[pass][s][batch];
    else if (pass) ready = r->done[0][s][batch];
    if (ready < 0) return false;
    int64_t start = ready > r->now[s] ? ready : r->now[s];
    if (from >= 0 && from < r->p) start += r->overhead[pass];
    int64_t end = start + (pass ? r->stages[s].backward : r->stages[s].forward);
    r->done[pass][s][batch] = r->now[s] = r->ended[s] = end;
    r->next[s]++;
    if (to < 0 || to >= r->p) return true;
    r->now[s] = end += r->overhead[pass];
    int boundary = pass ? s - 1 : s;
    int64_t sent = (end > r->link_free[pass][boundary] ? end : r->link_free[pass][boundary]) +
                   r->link[pass];
    r->link_free[pass][boundary] = sent;
    r->arrived[pass][to][batch] = sent + r->delay[pass];
    return true;
}

static int64_t replay(struct replay *r, int64_t embedding_sync)
{
    memset(r->done, 0, sizeof r->done);
    memset(r->link_free, 0, sizeof r->link_free);
    memset(r->next, 0, sizeof r->next);
    memset(r->now, 0, sizeof r->now);
    for (int pass = 0; pass < 2; pass++)
        for (int s = 0; s < r->p; s++)
            for (int i = 0; i < r->m; i++) r->arrived[pass][s][i] = -1;
    for (bool moved = true; moved;) {
        moved = false;
        for (int s = 0; s < r->p; s++)
            while (step(r, s)) moved = true;
    }
    int64_t last = 0;
    for (int s = 0; s < r->p; s++) assert_int_equal(r->next[s], 2 * r->m);
    int64_t ends = r->ended[0] + r->stages[0].ending;
    if (r->ended[r->p - 1] + r->stages[r->p - 1].ending > ends)
        ends = r->ended[r->p - 1] + r->stages[r->p - 1].ending;
    for (int s = 0; s < r->p; s++) {
        int64_t end = r->ended[s] + r->stages[s].ending;
        if (r->now[s] > last) last = r->now[s];
        if (embedding_sync && (s == 0 || s == r->p - 1)) end = ends + embedding_sync;
        if (end > last) last = end;
    }
    return last;
}

// Embedding with the first stage, head with the last, blocks in between as placed; everything by
// hand. The optimizer step follows the syncs.
static int64_t by_replay(struct predictor *p, struct arena *arena)
{
    static struct replay r;
    struct priced q;
    int64_t optimizer[STAGES] = {0}, last = 0;
    p->problem.costs = p->costs;
    MUST(price_problem(&q, &p->problem, arena, &own_err));
    r.p = q.stage_count, r.m = q.micro_batches, r.gpipe = q.layout.schedule == SCHEDULE_GPIPE;
    assert_true(r.p <= STAGES && r.m <= BATCHES);
    assert_int_equal(q.layout.gradient_sync, SYNC_EXPOSED);
    for (int s = 0, layer = 0; s < r.p; s++) {
        struct stage_times *t = &r.stages[s];
        *t = (struct stage_times){.ending = q.groups[0].sync_constant_ns[0]};
        for (int k = 0; k < p->placement.layer_count[s]; k++, layer++) {
            const struct priced_run *run = &q.runs[layer == 0                   ? 0
                                                   : layer == q.layer_count - 1 ? 2
                                                                                : 1];
            bool block = layer > 0 && layer < q.layer_count - 1;
            t->forward += run->forward_ns[0];
            t->backward += run->backward_ns[0];
            if (block && p->placement.recompute == RECOMPUTE_FULL)
                t->backward += run->again_ns[RECOMPUTE_FULL][0];
            if (block && p->placement.recompute == RECOMPUTE_SELECTIVE)
                t->backward += run->again_ns[RECOMPUTE_SELECTIVE][0];
            t->ending += run->sync_ns[0][0];
            optimizer[s] += run->optimizer_ns[0];
        }
    }
    const struct priced_cut *cut = &q.cuts[q.runs[1].cut];
    r.overhead[0] = cut->forward_ns[PART_OVERHEAD],
    r.overhead[1] = cut->backward_ns[0][PART_OVERHEAD];
    r.link[0] = cut->forward_ns[PART_LINK], r.delay[0] = cut->forward_ns[PART_DELAY];
    r.link[1] = cut->backward_ns[0][PART_LINK], r.delay[1] = cut->backward_ns[0][PART_DELAY];
    assert_int_equal(cut->forward_ns[PART_BLOCKING], 0);
    // Without the optimizer first: it is added stage by stage, to the embedding's sync at the ends.
    int64_t sync = q.has_embedding_sync ? q.embedding_sync_ns[0] : 0;
    last = replay(&r, sync);
    int64_t ends = 0;
    for (int s = 0; s < r.p; s++)
        if ((s == 0 || s == r.p - 1) && r.ended[s] + r.stages[s].ending > ends)
            ends = r.ended[s] + r.stages[s].ending;
    for (int s = 0; s < r.p; s++) {
        int64_t end = sync && (s == 0 || s == r.p - 1) ? ends + sync
                                                       : r.ended[s] + r.stages[s].ending;
        end = (end > r.now[s] ? end : r.now[s]) + optimizer[s];
        if (end > last) last = end;
    }
    return last;
}

// The fullest rank's bytes by hand, for one stage a rank: 1F1B holds min(m, p - s) micro-batches,
// GPipe all.
static int64_t fullest_by_hand(struct predictor *p, struct arena *arena)
{
    struct priced q;
    int64_t most = 0;
    MUST(price_problem(&q, &p->problem, arena, &own_err));
    for (int s = 0, layer = 0; s < q.stage_count; s++) {
        int64_t sum = q.groups[0].constant_bytes, working = 0;
        int held = q.layout.schedule == SCHEDULE_GPIPE || q.micro_batches < q.stage_count - s
                       ? q.micro_batches
                       : q.stage_count - s;
        for (int k = 0; k < p->placement.layer_count[s]; k++, layer++) {
            bool block = layer > 0 && layer < q.layer_count - 1;
            const struct priced_run *run = &q.runs[layer == 0 ? 0 : block ? 1 : 2];
            int mode = block ? (int)p->placement.recompute : RECOMPUTE_NONE;
            sum += run->weight_bytes + run->gradient_bytes + run->optimizer_bytes +
                   held * run->stash_bytes[mode];
            if (run->working_bytes[mode] > working) working = run->working_bytes[mode];
        }
        sum += working +
               2 * q.cuts[q.runs[1].cut].message_bytes * ((s > 0) + (s < q.stage_count - 1));
        if (sum > most) most = sum;
    }
    return most;
}

static struct run_row random_row(struct random *rng)
{
    static const int64_t hidden[] = {1024, 2048, 4096, 12288};
    struct run_row row = {.gpu = {"A100", 4},
                          .fused = random_chance(rng, 50),
                          .precision = BF16,
                          .metric = NOT_STATED,
                          .trainer = NOT_STATED,
                          .dispatcher = NOT_STATED,
                          .expert_products = NOT_STATED,
                          .graphs = NOT_STATED,
                          .schedule = random_chance(rng, 20) ? SCHEDULE_GPIPE : SCHEDULE_1F1B,
                          .recompute = (int)random_between(rng, 0, 2)};
    row.num_gpus = row.head_width = row.kv_heads = row.ffn = row.positions = row.gpus_per_node =
        row.gated = row.rms_norm = NOT_STATED;
    row.overlap_dispatch = row.fixed_capacity = NOT_STATED;
    row.experts = row.ep = row.etp = row.query_rank = row.kv_rank = row.rotary_width =
        row.value_width = NOT_STATED;
    row.imbalance = row.expert_padding = NAN;
    row.dropout = row.bias = row.adam = row.fused_loss = row.barrier = NOT_STATED;
    row.overlap = 0;
    row.tied = random_chance(rng, 60);
    row.gradient_bytes = random_chance(rng, 50) ? 2 : 4;
    row.hidden = hidden[random_between(rng, 0, 3)];
    row.heads = row.hidden / 128;
    row.vocab = random_between(rng, 1000, 200000);
    row.seq = 512 * random_between(rng, 1, 8);
    row.cp = 1;
    row.vpp = 1;
    row.tp = 1 << random_between(rng, 0, 3);
    row.pp = random_between(rng, 1, STAGES);
    row.dp = 1 << random_between(rng, 0, 4);
    row.layers = random_between(rng, row.pp, 40);
    row.micro_batch = random_between(rng, 1, 4);
    row.global_batch = row.dp * row.micro_batch * random_between(rng, 1, BATCHES);
    row.sp = random_chance(rng, 50);
    row.zero = random_chance(rng, 50);
    return row;
}

TEST(ten_thousand_rows_equal_a_replay)
{
    struct random rng = {11};
    struct arena scratch; // the predictor takes from its own while it lives
    arena_open(&scratch, NULL);
    struct predictor *p = open_predictor(false, arena);
    for (int trial = 0; trial < 10000; trial++) {
        struct run_row row = random_row(&rng);
        struct prediction prediction;
        struct arena_mark mark = arena_set_mark(&scratch);
        predict_row(p, &row, &prediction);
        if (*prediction.reason) fail_msg("row %d: %s", trial, prediction.reason);
        int64_t expected = by_replay(p, &scratch);
        if (prediction.iteration_ns != expected)
            fail_msg("row %d (p %lld, m %d): %lld ns, by replay %lld", trial, (long long)row.pp,
                     prediction.micro_batches, (long long)prediction.iteration_ns,
                     (long long)expected);
        int64_t bytes = fullest_by_hand(p, &scratch);
        if (prediction.device_bytes != bytes || memory_total(&prediction.memory) != bytes)
            fail_msg("row %d: %lld bytes, by hand %lld", trial, (long long)prediction.device_bytes,
                     (long long)bytes);
        assert_int_equal(prediction.fits, bytes <= prediction.limit_bytes);
        arena_reset(&scratch, mark);
    }
    arena_close(&scratch);
}

// ---- what the costs' intervals do

static void close_interval(struct estimate *e, const struct cost_key *key, void *context)
{
    (void)key, (void)context;
    e->low = e->high = e->value;
}

static double normal(struct random *rng)
{
    double radius = sqrt(-2 * log((double)random_between(rng, 1, 1000000) / 1e6));
    return radius * cos(2 * acos(-1) * (double)random_between(rng, 0, 999999) / 1e6);
}

struct draw {
    enum cost_group group;
    double share; // of the way to the slow end; below 0: to the fast one
};

static void draw_estimate(struct estimate *e, const struct cost_key *key, void *context)
{
    const struct draw *d = context;
    if (key->group != d->group || key->sense == COST_BYTES || !estimate_is_stated(e)) return;
    bool up = (d->share > 0) == (key->sense == COST_TIME);
    e->value += fabs(d->share) * ((up ? e->high : e->low) - e->value);
    e->value = fmin(fmax(e->value, key->low), key->high);
}

static bool is_of_kernels(int group)
{
    return group == COSTS_OF_PRODUCTS || group == COSTS_OF_ATTENTION || group == COSTS_OF_MEMORY;
}

// Costs drawn from normal errors, one for each group, of which 90 % are between the ends, either of
// the kernels or of the trainer: of the times, nearly linear in the costs, 78 % are inside 0.75 of
// the way to the ends, and a few more, as the greater doubt counts in either case.
TEST(ranges_hold_what_costs_at_random_give)
{
    enum { TRIALS = 1000 };
    struct random rng = {77};
    struct arena of_costs; // the predictor keeps its own allocations
    int inside = 0;
    arena_open(&of_costs, NULL);
    struct predictor *p = open_predictor(true, arena);
    struct costs costs = costs_copy(predictor_costs(p), arena);
    costs.iteration_spread = (struct estimate){0};
    struct arena_mark mark = arena_set_mark(&of_costs);
    for (int trial = 0; trial < TRIALS; trial++, arena_reset(&of_costs, mark)) {
        struct run_row row = random_row(&rng);
        struct prediction x, drawn;
        *predictor_costs(p) = costs_copy(&costs, &of_costs);
        predictor_ask_ranges(p, true);
        predict_row(p, &row, &x);
        for (int group = 0; group < COST_GROUPS; group++) {
            struct draw draw = {(enum cost_group)group, normal(&rng) / 1.645};
            if (group == COSTS_OF_TRAINER ? trial % 2 == 0 : is_of_kernels(group) && trial % 2)
                continue;
            for (int key = 0; key < cost_key_count; key++)
                costs_visit(predictor_costs(p), key, NULL, 0, draw_estimate, &draw);
        }
        predictor_ask_ranges(p, false);
        predict_row(p, &row, &drawn);
        inside += x.low_ns <= drawn.iteration_ns && drawn.iteration_ns <= x.high_ns;
    }
    print_message("%d of %d times inside\n", inside, TRIALS);
    assert_true(inside > 0.74 * TRIALS && inside < 0.86 * TRIALS);
    arena_close(&of_costs);
}

TEST(ends_enclose_the_value)
{
    struct random rng = {5};
    struct predictor *p = open_predictor(true, arena);
    for (int trial = 0; trial < 300; trial++) {
        struct run_row row = random_row(&rng);
        struct prediction x;
        predict_row(p, &row, &x);
        assert_true(x.low_ns < x.iteration_ns && x.iteration_ns < x.high_ns);
    }
    // Without intervals the three agree.
    for (int key = 0; key < cost_key_count; key++)
        costs_visit(predictor_costs(p), key, NULL, 0, close_interval, NULL);
    predictor_costs(p)->iteration_spread = (struct estimate){0};
    predictor_costs_changed(p);
    for (int trial = 0; trial < 50; trial++) {
        struct run_row row = random_row(&rng);
        struct prediction x;
        predict_row(p, &row, &x);
        assert_true(x.low_ns == x.iteration_ns && x.iteration_ns == x.high_ns);
    }
    // One setting applies to all GPUs and precisions.
    CHECK_OK(predictor_set(p, "gemm=1e14,intra_efficiency=0.5", &err));
    assert_true(p->costs.gpus[0].precisions[0].gemm_flop_per_s.value == 1e14 &&
                p->costs.intra_efficiency.value == 0.5);
    assert_int_equal(predictor_set(p, "gemm=1e14,intra_efficiency=1.5", &err), BAD_INPUT);
    assert_non_null(
        strstr(err.text, "intra_efficiency: expected a number from 1e-06 to 1, found '1.5'"));
}

// ---- rows

static void expect_refused(struct predictor *p, const char *text, const char *reason,
                           struct arena *arena)
{
    struct run_row row = row_of(text, arena);
    struct prediction x;
    predict_row(p, &row, &x);
    if (!strstr(x.reason, reason)) fail_msg("%s: '%s' instead of '%s'", text, x.reason, reason);
}

TEST(what_cannot_be_predicted_says_why)
{
    struct predictor *p = open_predictor(true, arena);
    expect_refused(p, "gpu=A100,hidden=1024,seq=1024", "layers not stated", arena);
    expect_refused(p, "gpu=A100,layers=4,seq=1024", "hidden not stated", arena);
    expect_refused(p, "gpu=A100,layers=4,hidden=1024", "seq not stated", arena);
    expect_refused(p, "layers=4,hidden=1024,seq=1024", "gpu not stated", arena);
    expect_refused(p, "gpu=TPU,layers=4,hidden=1024,seq=1024", "no cluster has a GPU like 'TPU'",
                   arena);
    expect_refused(p, "gpu=A100-20GB,layers=4,hidden=1024,seq=1024",
                   "no cluster has a GPU like 'A100-20GB'", arena);
    expect_refused(p, "gpu=A10,layers=4,hidden=1024,seq=1024", "no cluster has a GPU like 'A10'",
                   arena);
    expect_refused(p, "gpu=A100,layers=4,hidden=1024,seq=1024,tp=2,num_gpus=4,dp=1",
                   "tp x cp x pp x dp = 2, num_gpus 4", arena);
    expect_refused(p, "gpu=A100,layers=4,hidden=1024,heads=16,seq=1024,tp=3",
                   "heads 16 is no multiple of 3", arena);
    expect_refused(p, "gpu=A100,layers=4,hidden=1024,seq=1024,dp=2,global_batch=3",
                   "global_batch 3 is not", arena);
    expect_refused(p, "gpu=A100,layers=4,hidden=1024,seq=1024,pp=5", "4 layers on 5 stages", arena);
    expect_refused(p, "gpu=A100,layers=4,hidden=1024,seq=1024,pp=2,split=1 2 1",
                   "split states 3 stages", arena);
    expect_refused(p, "gpu=A100,layers=4,hidden=1024,seq=1024,pp=2,split=1 2",
                   "split holds 3 layers", arena);
    expect_refused(p, "gpu=A100,layers=4,hidden=1024,seq=1024,notes=an FP8 run",
                   "a100-80gb lacks fp8", arena);
}

static void check_placement(struct predictor *p, const char *text, const int *counts, int stages,
                            struct arena *arena)
{
    struct run_row row = row_of(text, arena);
    struct prediction x;
    predict_row(p, &row, &x);
    if (*x.reason) fail_msg("%s: %s", text, x.reason);
    assert_int_equal(p->placement.stage_count, stages);
    for (int s = 0; s < stages; s++)
        if (p->placement.layer_count[s] != counts[s])
            fail_msg("%s: stage %d holds %d layers", text, s, p->placement.layer_count[s]);
}

#define PLACED(text, ...)                                                                          \
    check_placement(p, text, (const int[]){__VA_ARGS__},                                           \
                    (int)(sizeof(int[]){__VA_ARGS__} / sizeof(int)), arena)

TEST(layers_stand_as_stated)
{
    struct predictor *p = open_predictor(false, arena);
    PLACED("gpu=A100,layers=24,hidden=1024,seq=1024,pp=1", 26);
    PLACED("gpu=A100,layers=24,hidden=1024,seq=1024,pp=4", 7, 6, 6, 7);
    PLACED("gpu=A100,layers=26,hidden=1024,seq=1024,pp=4", 7, 7, 7, 7);
    PLACED("gpu=A100,layers=27,hidden=1024,seq=1024,pp=4", 8, 7, 7, 7);
    PLACED("gpu=A100,layers=70,hidden=1024,seq=1024,pp=12,notes=embedding counted as a transformer "
           "layer",
           6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6);
    PLACED("gpu=A100,layers=24,hidden=1024,seq=1024,pp=3,split=10 4 10", 11, 4, 11);
    PLACED("gpu=A100,layers=24,hidden=1024,seq=1024,pp=4,notes=over pseudo-layers=[0  9  15  21  "
           "30]; x",
           8, 6, 6, 6);
    PLACED("gpu=A100,layers=24,hidden=1024,seq=1024,pp=2,notes=over pseudo-layers=[0  1 30]", 1,
           25);
    PLACED("gpu=A100,layers=24,hidden=1024,seq=1024,pp=2,notes=over pseudo-layers=[0  26 30]", 25,
           1);
}

// What was stated, and what was left open beside the value taken.
static void forget_assumptions(struct prediction *x)
{
    memset(x->assumptions, 0, sizeof x->assumptions);
    memset(&x->origin, 0, sizeof x->origin);
    x->low_ns = x->high_ns = 0;
}

// A blank cell has its documented default.
TEST(defaults_are_the_documented_ones)
{
    static const char *const pairs[][2] = {
        {"gpu=V100,layers=8,hidden=2048,seq=1024",
         "gpu=v100-32gb,layers=8,hidden=2048,seq=1024,heads=32,kv_heads=32,ffn=8192,tp=1,pp=1,cp=1,"
         "dp=1,"
         "vpp=1,micro_batch=1,global_batch=1,recompute=none,sp=0,flash=0,zero=0,precision=fp16,"
         "vocab=50304,positions=1024,gated=0,rms_norm=0,"
         "tied=1,dropout=1,bias=1,gradient_bytes=4,adam=1,schedule=1f1b,head_width=64,overlap=0"},
        {"gpu=H100,layers=8,hidden=2048,seq=1024,notes=BF16 Llama",
         "gpu=H100-80GB,layers=8,hidden=2048,seq=1024,precision=bf16,gated=1,rms_norm=1,tied=0,"
         "dropout=0,bias=0,positions=0"},
        {"gpu=A100,layers=8,hidden=2048,seq=1024",
         "gpu=A100,layers=8,hidden=2048,seq=1024,precision=bf16,flash=1,sp=0,zero=0,recompute=none,"
         "gated=0,rms_norm=0,tied=1,dropout=1,bias=1,gradient_bytes=4,overlap=0"},
        {"gpu=H100,layers=8,hidden=2048,seq=1024,flash=te,notes=Nemotron",
         "gpu=H100,layers=8,hidden=2048,seq=1024,flash=te,gated=0,rms_norm=0,tied=0,dropout=0,"
         "bias=0,positions=0"},
        {"gpu=A100,layers=8,hidden=2048,seq=1024,num_gpus=16,tp=2,pp=2",
         "gpu=A100,layers=8,hidden=2048,seq=1024,tp=2,pp=2,dp=4,global_batch=8"},
        {"gpu=A100,layers=8,hidden=2048,seq=1024,recompute=full:uniform1",
         "gpu=A100,layers=8,hidden=2048,seq=1024,recompute=full"},
        {"gpu=A100,layers=8,hidden=2048,seq=1024,recompute=full:block8",
         "gpu=A100,layers=8,hidden=2048,seq=1024,recompute=full"},
    };
    struct predictor *p = open_predictor(true, arena);
    for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++) {
        struct prediction x[2];
        for (int k = 0; k < 2; k++) {
            struct run_row row = row_of(pairs[i][k], arena);
            predict_row(p, &row, &x[k]);
            if (*x[k].reason) fail_msg("%s: %s", pairs[i][k], x[k].reason);
        }
        // The model's FLOP are without the padding of its vocabulary, which some pairs state.
        assert_true(fabs(x[0].model_flop_per_gpu_s / x[1].model_flop_per_gpu_s - 1) < 2e-3);
        for (int k = 0; k < 2; k++) {
            x[k].model_flop_per_gpu_s = x[k].mfu = x[k].causal_flop_per_gpu_s = x[k].causal_mfu = 0;
            forget_assumptions(&x[k]);
        }
        assert_memory_equal(&x[0], &x[1], sizeof x[0]);
    }
}

// A problem with its layers spread equally, and the same configuration as a row.
TEST(a_problem_is_predicted_as_its_row)
{
    struct transformer_request r = {.name = "x",
                                    .model = "gpt2-xl",
                                    .cluster = "a100-16x8",
                                    .costs = "kernels",
                                    .gpus = 32,
                                    .sequence = 1024,
                                    .global_batch = 64,
                                    .precision = FP16,
                                    .memory_fraction = 0.8,
                                    .quality_budget = -1,
                                    .layout = {.tensor = 1,
                                               .context = 1,
                                               .data = 8,
                                               LAYOUT_PLAIN(4),
                                               .micro_batch = 1,
                                               .schedule = SCHEDULE_1F1B}};
    struct problem problem;
    struct placement placement;
    struct prediction as_problem, as_row;
    struct predictor *p = open_predictor(true, arena);
    CHECK_OK(example_transformer(&problem, &r, arena, &err));
    CHECK_OK(placement_equal(&placement, &problem, RECOMPUTE_FULL, &err));
    predict_problem(p, &problem, &placement, &as_problem);
    struct run_row row = row_of("gpu=A100,layers=48,hidden=1600,heads=25,vocab=50257,seq=1024,pp=4,"
                                "dp=8,global_batch=64,recompute=full,precision=fp16,flash=0",
                                arena);
    predict_row(p, &row, &as_row);
    assert_string_equal(as_problem.reason, "");
    assert_string_equal(as_problem.gpu, as_row.gpu);
    as_problem.gpu = as_row.gpu;
    memset(as_row.assumptions, 0, sizeof as_row.assumptions);
    as_row.origin = as_problem.origin;
    assert_memory_equal(&as_problem, &as_row, sizeof as_row);
}

static int set_data(void **state)
{
    (void)state;
    return setenv("PLUMBLINE_DATA", "data", 1);
}

AROUND_ALL(set_data, NULL)
