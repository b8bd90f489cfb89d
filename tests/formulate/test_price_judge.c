// The solver's priced document against the judge's single terms on random models of real size:
// every kind of layer, every switch of the layout, every cost that can be stated, over shared,
// different and missing links (small problems: test_verify_price.c): equal to the nanosecond and
// the byte. And the judge's bound on its own error, at a coarser precision.
#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve//checker/prices/prices.h"
#include "solve/judge/price/verify_price.h"
#include "tests/support/draws/fabric.h"
#include "tests/support/oracle/prices.h"
#include "tests/support/draws/dispatch.h"
#include "tests/support/draws/costs.h"
#include "tests/support/draws/grids.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/towers.h"
#include "tests/support/check.h"

// ---- cluster

static void random_cluster(struct cluster *c, struct random *rng, struct arena *arena)
{
    static const char *const names[] = {"first", "second"}, *const gpus[] = {"G", "H"};
    *c = (struct cluster){.name = "random",
                          .groups = TAKE(arena, 2, struct node_group),
                          .group_count = 2,
                          .links = TAKE(arena, 4, struct group_link)};
    for (int i = 0; i < 2; i++) {
        struct nic *nics = TAKE(arena, NIC_KIND_COUNT, struct nic);
        int count = 0;
        for (int kind = 0; kind < NIC_KIND_COUNT; kind++)
            if (random_chance(rng, 60))
                nics[count++] = (struct nic){(enum nic_kind)kind,
                                             (int)random_between(rng, 1, 8),
                                             {(double)random_between(rng, 1, 50) * 1e9,
                                              (double)random_between(rng, 0, 50) * 1e-6}};
        c->groups[i] = (struct node_group){
            names[i],
            gpus[i],
            (int)random_between(rng, 1, 128),
            (int)random_between(rng, 1, 8),
            random_between(rng, 16, 192) * 1000000000,
            {(double)random_between(rng, 10, 900) * 1e9, (double)random_between(rng, 0, 10) * 1e-6},
            nics,
            count,
            0,
            NULL,
            0,
            NULL,
            0};
        random_rings(&c->groups[i], rng, arena);
    }
    for (int i = 0; i < 4; i++)
        if (random_chance(rng, 15))
            c->links[c->link_count++] = (struct group_link){
                i / 2, i % 2, {(double)random_between(rng, 1, 100) * 1e9, 1e-5}};
}

// ---- job

static int divisor_of(struct random *rng, int64_t n)
{
    int x = (int)random_between(rng, 1, 8);
    while (n % x) x--;
    return x;
}

// An expert over fewer ranks than the rest, and experts over more.
static void fold_experts(struct layout *l, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 5};
    if (l->tensor == 1 || !l->sequence_parallel || random_chance(&own, 40)) return;
    l->expert_tensor = divisor_of(&own, l->tensor / 2);
    if (random_chance(&own, 70)) l->expert = divisor_of(&own, layout_expert_ranks(l));
}

// As many KV heads as there are tensor ranks, or a part of them.
static void share_keys(struct problem *p, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 3};
    struct shape *s = &p->model.shape;
    if (!s->kv_rank && random_chance(&own, 45))
        s->kv_heads = divisor_of(&own, p->job.layout.tensor);
}

static void random_layout(struct job *j, bool has_experts, struct random *rng)
{
    struct layout *l = &j->layout;
    *l = (struct layout){.tensor = 1 << random_between(rng, 0, 3),
                         .context = 1 << random_between(rng, 0, 2),
                         .data = (int)random_between(rng, 1, 8),
                         LAYOUT_PLAIN((int)random_between(rng, 1, 8)),
                         .micro_batch = (int)random_between(rng, 1, 4),
                         .schedule = (int)random_between(rng, 0, SCHEDULE_KIND_COUNT - 1),
                         .sequence_parallel = random_chance(rng, 50),
                         .fused_attention = random_chance(rng, 50),
                         .gradient_sync = random_chance(rng, 50) ? SYNC_OVERLAPPED : SYNC_EXPOSED,
                         .fused_embedding_sync = random_chance(rng, 50),
                         .zero = (int)random_between(rng, 0, 3),
                         .offload_optimizer = random_chance(rng, 20),
                         .local_loss_every = random_chance(rng, 20)};
    l->barrier = random_chance(rng, 70);
    if (has_experts && random_chance(rng, 60))
        l->expert = divisor_of(rng, (int64_t)l->data * l->context);
    if (has_experts) fold_experts(l, rng->state);
    if (schedule_kinds[l->schedule].virtual_stages != 1) {
        l->virtual_stages = 2;
        l->pipeline = l->pipeline > 3 ? 3 : l->pipeline;
    }
    if (!schedule_kinds[l->schedule].slices) return;
    l->slice_count = (int)random_between(rng, 2, 4);
    int64_t left = j->sequence;
    for (int i = 0; i < l->slice_count; i++) {
        l->slices[i] =
            (int)(i == l->slice_count - 1 ? left : left / 32 * random_between(rng, 4, 10) / 4 * 4);
        left -= l->slices[i];
    }
}

static void draw_form(struct compression_form *form, struct random *rng)
{
    static const int bits[] = {1, 4, 8};
    form->method = (enum compression_method)random_between(rng, 0, COMPRESSION_METHOD_COUNT - 1);
    if (form->method == COMPRESS_TOP_K) form->amount = (int)random_between(rng, 1, 700);
    if (form->method == COMPRESS_QUANTISE) form->amount = bits[random_between(rng, 0, 2)];
}

static void random_job(struct job *j, const struct model *m, struct random *rng,
                       struct arena *arena)
{
    bool has_experts = false;
    for (int i = 0; i < m->run_count; i++)
        has_experts = has_experts || m->runs[i].kind == LAYER_MOE;
    *j = (struct job){
        .name = "random",
        .sequence = 256 * random_between(rng, 1, 32),
        .precision = random_chance(rng, 60)   ? BF16
                     : random_chance(rng, 60) ? FP8
                                              : FP32,
        .gradient_bytes_per_value = random_chance(rng, 50) ? 2 : 4,
        .adam = random_chance(rng, 80),
        .trainer = (enum trainer)random_between(rng, 0, TRAINER_OTHER),
        .gathered_logits = random_chance(rng, 30),
        .fused_loss = random_chance(rng, 30),
        .compiled = random_chance(rng, 50),
        .unfused = {rng->state % 3 == 0, rng->state % 5 == 0, rng->state % 7 == 0,
                    rng->state % 11 < 4},
        .scattered_messages = random_chance(rng, 30),
        .overlapped_messages = random_chance(rng, 30),
        .overlapped_tensor = random_chance(rng, 40),
        .attention_kernel = (enum attention_kernel)random_between(rng, 0, ATTENTION_MAKER_2024),
        .local_loss = {1e-4, 3e-4, 1000000},
        .boundary_options = TAKE(arena, 1, struct compression_option),
        .gradient_options = TAKE(arena, 1, struct compression_option),
        .boundary_option_count = random_chance(rng, 50),
        .gradient_option_count = random_chance(rng, 50),
        .budget = {-1, -1, -1, random_chance(rng, 20) ? 16 : 0},
        .memory_fraction = 0.9};
    if (j->precision == FP8) j->precision = (enum precision)(FP8 + rng->state % 4);
    if (j->adam && rng->state % 41 < 20) j->state_bytes_per_value = 1 + (int)(rng->state % 16);
    j->whole_gradient_sums = (j->trainer == TRAINER_OTHER || j->trainer == TRAINER_DEEPSPEED) &&
                             !j->gradient_option_count;
    j->owner_broadcasts = j->trainer == TRAINER_OTHER && !j->gradient_option_count &&
                          rng->state % 37 < 18;
    if (j->owner_broadcasts) j->whole_gradient_sums = false;
    j->split_gate = j->trainer == TRAINER_OTHER && rng->state % 2;
    j->chunked_loss = rng->state % 11 < 3;
    j->gathered_inputs = job_may_be_pytorch(j) && rng->state % 13 < 5;
    j->loss_in_place = j->trainer == TRAINER_MEGATRON && rng->state % 19 < 6;
    j->stopped_recompute = rng->state % 23 < 9;
    j->exposed_input_gradients = j->trainer == TRAINER_MEGATRON && rng->state % 29 < 14;
    j->kept_logits = job_may_be_pytorch(j) && !j->chunked_loss && rng->state % 17 < 6;
    j->fp8_activation_input = j->trainer == TRAINER_MEGATRON && j->precision != FP32 &&
                              !job_unfused(j, UNFUSED_ACTIVATION) && rng->state % 31 < 16;
    j->recompute[RECOMPUTE_NONE] = true;
    j->boundary_options[0] = (struct compression_option){
        .form.amount = (int)random_between(rng, 4, 64), .epilogue_only = true, .quality_cost = 1};
    j->gradient_options[0] = (struct compression_option){
        .form.amount = (int)random_between(rng, 4, 256), .quality_cost = 1};
    draw_form(&j->boundary_options[0].form, rng);
    draw_form(&j->gradient_options[0].form, rng);
    j->boundary_options[0].forgets = j->boundary_options[0].form.amount % 2;
    j->gradient_options[0].forgets = j->gradient_options[0].form.amount % 2;
    random_layout(j, has_experts, rng);
    j->context_kind = (enum context_kind)(rng->state / 64 % 3);
    j->checkpoints = (enum checkpoints)(rng->state / 512 % 3);
    for (int mode = RECOMPUTE_SETS; mode < RECOMPUTE_COUNT; mode++)
        j->recompute[mode] = job_like_megatron(j) && !layout_has_grid(&j->layout) &&
                             (rng->state >> mode % 32) % 16 == 0;
    int shares[2] = {(int)random_between(rng, 1, 60)};
    shares[1] = (int)random_between(rng, 61, 100);
    bool some = random_chance(rng, 25);
    j->tier_option_count = 0;
    if (j->layout.slice_count > 1) j->boundary_option_count = 0;
    else if (some) job_offer_shares(j, shares, 2, arena);
    j->global_batch = (int64_t)j->layout.data * j->layout.micro_batch * random_between(rng, 1, 5) *
                      j->layout.pipeline;
}

// ---- the comparison

struct tally {
    int problems, refused, excluded, unjoined, kinds[LAYER_PROJECTOR + 1],
        schedules[SCHEDULE_KIND_COUNT], zero[4], fully_sharded, shared, copied, towers, further,
        folds, sharing, quantised[LAYER_MEMORY + 1], rules[LINEAR_CONVOLUTION + 1], beside,
        parts[2], widths, adapted, headed, same_heads, steps, states, groups;
};

static void note(struct tally *t, const struct problem *p)
{
    struct price_audit a = price_audit_of(p);
    t->problems++;
    t->excluded += exclusion_of(&a, 0) != NULL;
    t->unjoined += !judged_stage_link(&a, 0, 1).joined;
    for (int i = 0; i < p->model.run_count && !exclusion_of(&a, 0); i++)
        t->kinds[p->model.runs[i].kind]++;
    if (exclusion_of(&a, 0)) return;
    t->schedules[p->job.layout.schedule]++;
    t->zero[p->job.layout.zero]++;
    t->fully_sharded += shards_fully(&a);
    t->shared += model_shared_pool(&p->model) != NULL;
    t->copied += model_shares_weights(&p->model);
    t->towers += model_has_towers(&p->model);
    t->further += model_mtp_depth(&p->model) > 0;
    t->folds += p->job.layout.expert_tensor > 0;
    t->sharing += a.held > a.key;
    t->states += p->job.state_bytes_per_value > 0;
    for (int i = 0; i < p->model.run_count; i++) {
        const struct layer_run *r = &p->model.runs[i];
        if (r->weight_bits) t->quantised[r->kind]++;
        if (run_has_linear(r)) t->rules[run_shape(&p->model, r)->linear.rule]++;
        t->beside += r->linear_beside;
        t->parts[0] += r->no_attention, t->parts[1] += r->no_feed_forward;
    }
}

static void check_tally(const struct tally *t)
{
    print_message("%d problems, %d refused, first group excluded in %d, unjoined %d, shared pools "
                  "%d, weights %d, towers %d, further tokens %d, folds of "
                  "experts %d, shared KV heads %d\n",
                  t->problems, t->refused, t->excluded, t->unjoined, t->shared, t->copied,
                  t->towers, t->further, t->folds, t->sharing);
    assert_true(t->problems > 2000 && t->excluded > 50 && t->unjoined > 50);
    for (int i = 0; i <= LAYER_PROJECTOR; i++)
        if (i != LAYER_MEASURED) assert_true(t->kinds[i] > 50);
    for (int i = 0; i < SCHEDULE_KIND_COUNT; i++) assert_true(t->schedules[i] > 30);
    for (int i = 0; i < 4; i++) assert_true(t->zero[i] > 100);
    assert_true(t->fully_sharded > 100 && t->shared > 300 && t->copied > 200 && t->towers > 800 &&
                t->further > 120 && t->folds > 50 && t->sharing > 100 && t->states > 600);
    for (int i = 0; i <= LAYER_MEMORY; i++)
        if (i != LAYER_MEASURED) assert_true(t->quantised[i] > 30);
}

// Stages before local boundaries get a head: now and then the model's own.
static void own_head(struct problem *p, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 17};
    struct error unfit = {OK, ""};
    struct local_head *h = &p->job.local_loss.head;
    if (!p->job.layout.local_loss_every || !p->model.has_shape) return;
    *h = (struct local_head){p->model.shape.vocabulary, p->model.shape.embedding_width};
    if (random_chance(&own, 60)) h->vocabulary = random_between(&own, 1, 200000);
    if (random_chance(&own, 40)) h->embedding_width = random_between(&own, 1, 4096);
    if (problem_check(p, &unfit) != OK) *h = (struct local_head){0, 0};
}

// States in groups of data ranks, wherever a job may have them.
static bool share_in_groups(struct problem *p, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 23};
    struct error unfit = {OK, ""};
    const struct problem before = *p;
    struct layout *l = &p->job.layout;
    if (l->zero == 0 || l->data == 1 || random_chance(&own, 30)) return false;
    l->data_shard = divisor_of(&own, l->data);
    p->job.whole_gradient_sums = false, p->job.gradient_option_count = 0;
    if (problem_check(p, &unfit) == OK) return l->data_shard < l->data;
    *p = before;
    return false;
}

// Where stages learn alone, a step after each micro-batch in place of one: of every layer the
// backward pass takes as much longer.
static bool step_each(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 19};
    struct error err = {OK, ""};
    struct layout *l = &p->job.layout;
    struct problem before = *p;
    struct priced once, each;
    if (!p->model.has_shape || random_chance(&own, 80)) return false;
    p->model.shape.tied_embeddings = false;
    l->local_loss_every = 1, l->schedule = SCHEDULE_1F1B, l->virtual_stages = l->slice_count = 1;
    l->data = l->context = 1, l->offload_optimizer = false;
    p->job.tier_option_count = 0;
    if (problem_check(p, &err) != OK) return *p = before, false;
    CHECK_OK(price_problem(&once, p, arena, &err));
    p->job.local_loss.step_each_micro_batch = true;
    CHECK_OK(price_problem(&each, p, arena, &err));
    for (int run = 0; run < once.run_count; run++)
        for (int g = 0; g < once.group_count; g++) {
            const struct priced_run *a = &once.runs[run], *b = &each.runs[run];
            if (once.groups[g].excluded) continue;
            assert_int_equal(b->backward_ns[g], a->backward_ns[g] + a->optimizer_ns[g]);
            assert_int_equal(b->optimizer_ns[g], 0);
            assert_int_equal(b->forward_ns[g], a->forward_ns[g]);
        }
    return true;
}

static void expect_prices(const int64_t *a, const int64_t *b, int count)
{
    if (a) assert_memory_equal(a, b, (size_t)count * sizeof *a);
}

// A head that is the model's own costs what that layer costs, where it has a matrix of its own.
static bool own_head_costs_the_same(const struct problem *p, struct arena *arena)
{
    const struct shape *s = &p->model.shape;
    const struct local_head *h = &p->job.local_loss.head;
    struct priced priced;
    struct error err = {OK, ""};
    const struct layer_run *head = &p->model.runs[p->model.run_count - 1];
    if (!job_has_local_head(&p->job) || h->vocabulary != s->vocabulary ||
        h->embedding_width != s->embedding_width || s->tied_embeddings || head->frozen ||
        head->kind != LAYER_HEAD || head->more_values || p->costs.layer_time_count)
        return false;
    CHECK_OK(price_problem(&priced, p, arena, &err));
    const struct priced_run *a = priced.local_heads, *b = &priced.runs[priced.run_count - 1];
    int groups = priced.group_count, passes = groups * priced.slice_count;
    const int64_t bytes[] = {
        a->weight_bytes - b->weight_bytes,         a->gradient_bytes - b->gradient_bytes,
        a->optimizer_bytes - b->optimizer_bytes,   a->stash_bytes[0] - b->stash_bytes[0],
        a->working_bytes[0] - b->working_bytes[0], a->unsharded_bytes - b->unsharded_bytes};
    for (size_t i = 0; i < ARRAY_LENGTH(bytes); i++) assert_int_equal(bytes[i], 0);
    expect_prices(a->forward_ns, b->forward_ns, passes);
    expect_prices(a->backward_ns, b->backward_ns, passes);
    expect_prices(a->weight_ns, b->weight_ns, groups);
    expect_prices(a->optimizer_ns, b->optimizer_ns, groups);
    expect_prices(a->feedback_bytes, b->feedback_bytes, priced.gradient_option_count);
    for (int o = 0; o < priced.gradient_option_count; o++)
        expect_prices(a->sync_ns[o], b->sync_ns[o], groups);
    return true;
}

// `parts`: also linear attention by any rule, alone or beside attention, and layers of one part.
static void compare_models(uint64_t seed, int models, bool parts, struct tally *tally,
                           struct price_count *count, struct arena *arena)
{
    struct random rng = {seed};
    char last[ERROR_TEXT_MAX] = "";
    for (int i = 0; i < models; i++) {
        struct error err = (struct error){OK, ""};
        struct problem problem = {.name = "random"};
        struct arena_mark mark = arena_set_mark(arena);
        random_model(&problem.model, &rng, arena);
        random_cluster(&problem.cluster, &rng, arena);
        random_costs(&problem, &rng, arena);
        random_job(&problem.job, &problem.model, &rng, arena);
        dispatch_draw(&problem, rng.state);
        if (problem.job.layout.slice_count > 1) model_look_back(&problem.model);
        share_keys(&problem, rng.state);
        if (parts) random_parts(&problem.model, rng.state);
        if (parts && problem.model.shape.linear.rule == LINEAR_SCAN) problem.job.layout.tensor = 1;
        if (rng.state / 2 % 4) quantise_frozen(&problem.model, rng.state);
        int adapted = rng.state / 64 % 2 ? adapt_mixtures(&problem.model, rng.state) : 0;
        if (parts) tally->widths += random_widths(&problem.model, rng.state, arena);
        if (rng.state % 2) share_pools(&problem);
        if (rng.state / 16 % 2) random_tower(&problem, rng.state, 64, arena);
        if (rng.state / 8 % 4 == 0) share_weights(&problem);
        if (rng.state / 32 % 8) predict_further(&problem, rng.state, arena);
        own_head(&problem, rng.state);
        tally->steps += step_each(&problem, rng.state, arena);
        tally->groups += share_in_groups(&problem, rng.state);
        if (problem_check(&problem, &err) == OK) {
            compare_prices(&problem, i, count, arena);
            note(tally, &problem);
            tally->adapted += adapted;
            tally->headed += job_has_local_head(&problem.job);
            tally->same_heads += own_head_costs_the_same(&problem, arena);
        } else {
            tally->refused++;
            snprintf(last, sizeof last, "%s", err.text);
        }
        arena_reset(arena, mark);
    }
    if (tally->refused > 1500) print_message("refused: %s\n", last);
    print_message("%lld terms, %lld of them in doubt; %d mixtures with adapters\n",
                  (long long)count->terms, (long long)count->doubtful, tally->adapted);
    assert_int_equal(count->doubtful, 0);
    assert_true(tally->adapted > 15);
}

TEST(random_models)
{
    struct price_count count = {0};
    struct tally tally = {0};
    compare_models(11, 6000, false, &tally, &count, arena);
    check_tally(&tally);
    print_message("%d with heads of stages, %d of them the model's own; %d step each time; %d with "
                  "states in groups\n",
                  tally.headed, tally.same_heads, tally.steps, tally.groups);
    assert_true(tally.groups > 300 && tally.headed > 100 && tally.same_heads > 10 &&
                tally.steps > 50);
    assert_true(count.terms > 400000);
}

TEST(random_layers_of_parts)
{
    struct price_count count = {0};
    struct tally tally = {0};
    compare_models(43, 3000, true, &tally, &count, arena);
    for (int i = 0; i <= LINEAR_CONVOLUTION; i++) assert_true(tally.rules[i] > 20);
    print_message("%d with widths of their own\n", tally.widths);
    assert_true(tally.widths > 300 && tally.beside > 50 && tally.parts[0] > 50 &&
                tally.parts[1] > 50);
}

// Tensor ranks as a grid, from half of the problems; and there the nodes are small, so that axes
// stay within them or leave them.
TEST(random_grids)
{
    struct random rng = {13};
    struct price_count count = {0};
    int problems = 0, inside = 0, rows = 0;
    for (int i = 0; i < 3000; i++) {
        err = (struct error){OK, ""};
        struct problem problem = {.name = "random"};
        struct arena_mark mark = arena_set_mark(arena);
        random_model(&problem.model, &rng, arena);
        random_cluster(&problem.cluster, &rng, arena);
        random_costs(&problem, &rng, arena);
        random_job(&problem.job, &problem.model, &rng, arena);
        dispatch_draw(&problem, rng.state);
        grids_fit(&problem);
        grids_give(&problem, &rng, 3);
        grids_decide(&problem, (uint64_t)i);
        if (problem.job.layout.slice_count > 1) model_look_back(&problem.model);
        if (problem_check(&problem, &err) == OK) {
            const struct layout *l = &problem.job.layout;
            compare_prices(&problem, i, &count, arena);
            problems++, rows += l->grid_rows > 1;
            inside += l->tensor <= problem.cluster.groups[0].gpus_per_node;
        }
        arena_reset(arena, mark);
    }
    print_message("%d grids, %d within a node, %d with a third axis: %lld terms, %lld in doubt\n",
                  problems, inside, rows, (long long)count.terms, (long long)count.doubtful);
    assert_true(problems > 1500 && inside > 100 && problems - inside > 500 && rows > 500);
    assert_true(count.terms > 100000 && count.doubtful == 0);
}

// ---- the judge's bound on its own error, of 256 roundings: with 24 bits instead of 64 every price
// must be within 16 roundings of these.

#if defined(__x86_64__)

enum { CONTROL_64_BITS = 0x37f, CONTROL_24_BITS = 0x07f };

static void set_precision(unsigned short control) { __asm__ volatile("fldcw %0" : : "m"(control)); }

struct coarse {
    int64_t prices, decided, problems, skipped;
};

struct numbers {
    int64_t *items;
    int count;
};

static void add(struct numbers *n, const int64_t *items, int count)
{
    memcpy(n->items + n->count, items, (size_t)count * sizeof *items);
    n->count += count;
}

static struct numbers numbers_of(const struct check_problem *p, struct arena *arena)
{
    int passes = p->slices * p->group_count, prices = passes * p->group_count * PARTS;
    struct numbers n = {TAKE(arena,
                             p->run_count * (20 + 70 * passes) + p->cut_count * (2 + 70 * prices) +
                                 100 * p->group_count,
                             int64_t),
                        0};
    for (int i = 0; i < p->run_count; i++) {
        const struct check_run *r = &p->runs[i];
        const int64_t bytes[] = {r->weight_bytes, r->gradient_bytes};
        add(&n, bytes, 2), add(&n, r->optimizer_bytes, p->gradient_count), add(&n, r->stash, MODES),
            add(&n, r->working, MODES), add(&n, r->feedback, p->gradient_count);
        add(&n, r->forward, passes), add(&n, r->backward, passes);
        for (int mode = 0; mode < MODES; mode++)
            if (r->again[mode]) add(&n, r->again[mode], passes);
        add(&n, r->weight, p->group_count);
        for (int o = 0; o < p->gradient_count; o++)
            add(&n, r->optimizer[o], p->group_count), add(&n, r->sync[o], p->group_count);
    }
    for (int c = 0; c < p->cut_count; c++) {
        add(&n, &p->cuts[c].message_bytes, 1), add(&n, p->cuts[c].feedback, p->boundary_count),
            add(&n, p->cuts[c].forward, prices);
        for (int o = 0; o < p->boundary_count; o++) add(&n, p->cuts[c].backward[o], prices);
    }
    for (int g = 0; g < p->group_count; g++) {
        int64_t limit = -p->groups[g].memory_limit; // leans the other way
        add(&n, &limit, 1), add(&n, &p->groups[g].constant_bytes, 1),
            add(&n, p->groups[g].sync_constant, p->gradient_count);
    }
    if (p->embedding) add(&n, p->embedding, p->group_count * p->group_count);
    return n;
}

static bool price_at(struct numbers *to, const struct problem *problem, unsigned short control,
                     int direction, struct arena *arena)
{
    struct check_pricer pricer;
    struct check_problem *p;
    struct check_layout layout = space_layout(&problem->job.layout);
    MUST(space_pricer_open(&pricer, problem, arena, &own_err));
    if (control == CONTROL_24_BITS) space_pricer_lean(&pricer, direction, 0x1p-24L * 16);
    set_precision(control);
    bool priced = pricer.bytes(pricer.context, &layout, &p) && pricer.times(pricer.context);
    set_precision(CONTROL_64_BITS);
    if (priced) *to = numbers_of(p, arena);
    return priced && !*pricer.doubtful_sizes;
}

static void try_coarse(struct coarse *seen, const struct problem *p, int name, struct arena *arena)
{
    struct numbers exact, low, high;
    if (!price_at(&exact, p, CONTROL_64_BITS, 0, arena) ||
        !price_at(&low, p, CONTROL_24_BITS, -1, arena) ||
        !price_at(&high, p, CONTROL_24_BITS, 1, arena)) {
        seen->skipped++;
        return;
    }
    for (int i = 0; i < exact.count; i++) {
        if (low.items[i] > exact.items[i] || exact.items[i] > high.items[i])
            fail_msg("problem %d, number %d: %lld is not within %lld and %lld", name, i,
                     (long long)exact.items[i], (long long)low.items[i], (long long)high.items[i]);
        seen->decided += low.items[i] == high.items[i] && exact.items[i] > 0;
        seen->prices += exact.items[i] > 0;
    }
    seen->problems++;
}

TEST(errors_are_bounded)
{
    struct random rng = {12};
    struct coarse seen = {0};
    for (int i = 0; i < 2000; i++) {
        err = (struct error){OK, ""};
        struct problem problem = {.name = "random"};
        struct arena_mark mark = arena_set_mark(arena);
        random_model(&problem.model, &rng, arena);
        random_cluster(&problem.cluster, &rng, arena);
        random_costs(&problem, &rng, arena);
        random_job(&problem.job, &problem.model, &rng, arena);
        dispatch_draw(&problem, rng.state);
        if (problem.job.layout.slice_count > 1) model_look_back(&problem.model);
        if (rng.state / 16 % 2) random_tower(&problem, rng.state, 64, arena);
        // Logarithms reduce their arguments with 64 bits, whatever the processor's precision
        // setting.
        for (int k = 0; k < problem.costs.collective_count; k++)
            if (problem.costs.collectives[k].point_count > 1)
                problem.costs.collectives[k].point_count = 1;
        if (problem_check(&problem, &err) == OK) try_coarse(&seen, &problem, i, arena);
        arena_reset(arena, mark);
    }
    print_message("%lld problems, %lld skipped; %lld prices, of them %lld decided by 24 bits\n",
                  (long long)seen.problems, (long long)seen.skipped, (long long)seen.prices,
                  (long long)seen.decided);
    assert_true(seen.problems > 500 && seen.decided > 10000);
}

#endif
