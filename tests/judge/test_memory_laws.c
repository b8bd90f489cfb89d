// Laws of a problem's memory. Planner and judge count bytes by the same formulas, so what both
// believe is found by laws alone: more work never takes less memory (a longer micro-batch, more
// layers, wider ones, more experts), more ranks never leave more on one of them, a higher stage of
// sharding never holds more states, recomputation never keeps more, and the same thing said twice
// takes the same.
//
//   test_memory_laws [MODELS] [SEED]
#include "formulate/price/price.h"
#include "tests/support/draws/costs.h"
#include "tests/support/draws/models.h"
#include "tests/support/check.h"

enum { MODELS_OF_CI = 1000 };

static int models = MODELS_OF_CI;
static uint64_t first_seed = 1;

// ---- problems: one node group, one pipeline rank

static void draw_cluster(struct cluster *c, struct arena *arena)
{
    struct nic *nic = TAKE(arena, 1, struct nic);
    *nic = (struct nic){NIC_INFINIBAND, 8, {25e9, 5e-6}};
    *c = (struct cluster){
        .name = "plain", .groups = TAKE(arena, 1, struct node_group), .group_count = 1};
    c->groups[0] = (struct node_group){.name = "all",
                                       .gpu = "G",
                                       .nodes = 512,
                                       .gpus_per_node = 8,
                                       .memory_bytes = 80000000000,
                                       .intra = {3e11, 3e-6},
                                       .nics = nic,
                                       .nic_count = 1};
}

static void draw_job(struct job *j, const struct model *m, struct random *rng, struct arena *arena)
{
    static const enum precision precisions[] = {BF16, FP16, FP8, FP32};
    bool experts = false;
    for (int i = 0; i < m->run_count; i++) experts |= m->runs[i].kind == LAYER_MOE;
    *j = (struct job){.name = "plain",
                      .sequence = 256 << random_between(rng, 0, 4),
                      .precision = precisions[random_between(rng, 0, 3)],
                      .gradient_bytes_per_value = random_chance(rng, 50) ? 2 : 4,
                      .adam = random_chance(rng, 90),
                      .trainer = (enum trainer)random_between(rng, 0, TRAINER_OTHER),
                      .fused_loss = random_chance(rng, 40),
                      .compiled = random_chance(rng, 50),
                      .gathered_logits = random_chance(rng, 20),
                      .chunked_loss = random_chance(rng, 20),
                      .boundary_options = TAKE(arena, 1, struct compression_option),
                      .gradient_options = TAKE(arena, 1, struct compression_option),
                      .budget = {-1, -1, -1, 0},
                      .memory_fraction = 1};
    for (int i = 0; i < UNFUSED_COUNT; i++) j->unfused[i] = random_chance(rng, 20);
    j->recompute[RECOMPUTE_NONE] = j->recompute[RECOMPUTE_FULL] = true;
    j->recompute[RECOMPUTE_SELECTIVE] = true;
    j->layout = (struct layout){.tensor = 1 << random_between(rng, 0, 3),
                                .context = 1 << random_between(rng, 0, 2),
                                .data = 1 << random_between(rng, 0, 3),
                                LAYOUT_PLAIN(1),
                                .micro_batch = (int)random_between(rng, 1, 4),
                                .schedule = 1,
                                .sequence_parallel = random_chance(rng, 50),
                                .fused_attention = random_chance(rng, 60),
                                .zero = (int)random_between(rng, 0, 3)};
    if (experts && random_chance(rng, 50)) j->layout.expert = j->layout.data;
    j->global_batch = (int64_t)j->layout.data * j->layout.micro_batch * 4;
}

// ---- bytes of all layers on one rank

struct bytes {
    int64_t states, stash[RECOMPUTE_FULL + 1], working[RECOMPUTE_FULL + 1];
};

static bool weigh(struct bytes *to, const struct problem *p, struct arena *arena)
{
    struct priced priced;
    struct error err = {OK, ""};
    *to = (struct bytes){0};
    if (model_check(&p->model, &err) != OK || problem_check(p, &err) != OK ||
        price_problem(&priced, p, arena, &err) != OK)
        return false;
    for (int r = 0; r < priced.run_count; r++) {
        const struct priced_run *x = &priced.runs[r];
        to->states += x->count * (x->weight_bytes + x->gradient_bytes + x->optimizer_bytes);
        for (int mode = 0; mode <= RECOMPUTE_FULL; mode++) {
            int own = x->recomputable ? mode : RECOMPUTE_NONE;
            to->stash[mode] += x->count * x->stash_bytes[own];
            if (x->working_bytes[own] > to->working[mode])
                to->working[mode] = x->working_bytes[own];
        }
    }
    return true;
}

// ---- the laws: each changes the problem; false: it does not apply

static struct layer_run *run_of(struct model *m, enum layer_kind kind)
{
    for (int r = 0; r < m->run_count; r++)
        if (m->runs[r].kind == kind) return &m->runs[r];
    return NULL;
}

// Trainers whose gradients and steps have copies of their own, by stage and number of replicas
// (docs/FORMULAS.md 4).
static bool copies_states(const struct job *j)
{
    return j->trainer == TRAINER_DEEPSPEED || j->trainer == TRAINER_OTHER;
}

static bool longer_batch(struct problem *p)
{
    p->job.layout.micro_batch *= 2, p->job.global_batch *= 2;
    return true;
}
static bool longer_sequence(struct problem *p)
{
    p->job.sequence *= 2;
    return true;
}
static bool one_layer_more(struct problem *p)
{
    struct layer_run *r = run_of(&p->model, LAYER_BLOCK);
    if (!r || r->shared_weights) return false;
    r->count++, p->model.layer_count++;
    return true;
}
static bool wider_ffn(struct problem *p)
{
    p->model.shape.ffn *= 2;
    return true;
}
static bool more_words(struct problem *p)
{
    p->model.shape.vocabulary *= 2;
    return true;
}
static bool more_experts(struct problem *p)
{
    struct layer_run *r = run_of(&p->model, LAYER_MOE);
    if (!r || r->more_values) return false;
    r->experts.experts *= 2;
    return true;
}
static bool one_expert_more_for_each(struct problem *p)
{
    struct layer_run *r = run_of(&p->model, LAYER_MOE);
    if (!r || r->experts.top_k == r->experts.experts) return false;
    r->experts.top_k++;
    return true;
}
static bool wider_gradients(struct problem *p)
{
    if (p->job.gradient_bytes_per_value != 2 || copies_states(&p->job)) return false;
    p->job.gradient_bytes_per_value = 4;
    return true;
}
static bool usual_state_said(struct problem *p)
{
    p->job.state_bytes_per_value = p->job.precision == FP32 ? 8 : 12;
    return p->job.adam;
}
static bool narrower_state(struct problem *p)
{
    p->job.state_bytes_per_value = 1 + (int)(p->model.shape.ffn / 2 % 7);
    return p->job.adam;
}
static bool wider_state(struct problem *p)
{
    p->job.state_bytes_per_value = 13 + (int)(p->model.shape.ffn / 2 % 4);
    return p->job.adam;
}
static bool unfused(struct problem *p)
{
    if (!p->job.layout.fused_attention) return false;
    p->job.layout.fused_attention = false;
    return true;
}
static bool thawed(struct problem *p)
{
    bool any = false;
    // Narrow inputs are counted where something is trained.
    if (p->job.precision == FP8) return false;
    for (int r = 0; r < p->model.run_count; r++) {
        struct layer_run *x = &p->model.runs[r];
        if (x->adapter_rank) return false; // which keep activations of their own
        any |= x->frozen;
        x->frozen = false, x->weight_bits = 0;
    }
    return any;
}
static bool more_replicas(struct problem *p)
{
    if (copies_states(&p->job)) return false;
    p->job.layout.data *= 2, p->job.global_batch *= 2;
    return p->job.layout.expert == 1;
}
// PyTorch's FSDP keeps gathered weights at stage 2.
static bool shard_more(struct problem *p)
{
    return p->job.trainer == TRAINER_MEGATRON && p->job.layout.zero++ < 3;
}
static bool groups_of_all(struct problem *p)
{
    p->job.layout.data_shard = p->job.layout.data;
    return p->job.layout.zero > 0;
}
// Beside the buckets of whole states, which other trainers have.
static bool smaller_groups(struct problem *p)
{
    struct layout *l = &p->job.layout;
    l->data_shard = l->data / 2;
    return l->data > 1 && l->zero > 0 && !copies_states(&p->job) &&
           (l->data > 2 || p->job.trainer == TRAINER_MEGATRON);
}
static bool more_tensor_ranks(struct problem *p)
{
    p->job.layout.tensor *= 2;
    return p->job.layout.tensor <= 8 && p->job.layout.tensor > 2 && !p->job.layout.expert_tensor;
}
static bool more_context_ranks(struct problem *p)
{
    p->job.layout.context *= 2;
    return p->job.layout.context > 2;
}

static bool run_as_two(struct problem *p)
{
    struct model *m = &p->model;
    struct layer_run *r = run_of(m, LAYER_BLOCK);
    if (!r || r->count < 2 || r->shared_weights || r->mtp) return false;
    int at = (int)(r - m->runs);
    memmove(&m->runs[at + 1], r, (size_t)(m->run_count - at) * sizeof *r);
    m->run_count++;
    m->runs[at].count = 1, m->runs[at + 1].count--;
    m->runs[at + 1].name = "and_on";
    return true;
}
// Those that a block has unless it names some.
static void name_adapters(struct layer_run *r, bool gated)
{
    for (int k = ADAPTER_QUERY; k <= ADAPTER_DOWN; k++)
        r->adapter_modules[k] = k != ADAPTER_GATE || gated;
}
static bool one_adapter_more(struct problem *p)
{
    struct model *m = &p->model;
    for (int i = 0; i < m->run_count; i++) {
        struct layer_run *r = &m->runs[i];
        bool *on = r->adapter_modules;
        if (!r->adapter_rank || !memchr(on, true, ADAPTER_MODULE_COUNT)) continue;
        int last = r->kind == LAYER_MOE ? ADAPTER_OUTPUT : ADAPTER_DOWN;
        for (int k = ADAPTER_QUERY; k <= last; k++) {
            bool together = k <= ADAPTER_VALUE ? on[ADAPTER_QKV] : on[ADAPTER_GATE_UP];
            if (k != ADAPTER_OUTPUT && k != ADAPTER_DOWN && together) continue;
            if (on[k] || (k == ADAPTER_GATE && !m->shape.gated_ffn)) continue;
            return on[k] = true;
        }
    }
    return false;
}
static bool dropout_on_adapters(struct problem *p)
{
    bool found = false;
    for (int i = 0; i < p->model.run_count; i++) {
        struct layer_run *r = &p->model.runs[i];
        if (!r->adapter_rank || r->adapter_dropout) continue;
        r->adapter_dropout = found = true;
    }
    return found;
}
static bool said_in_full(struct problem *p)
{
    for (int i = 0; i < p->model.run_count; i++) {
        struct layer_run *r = &p->model.runs[i];
        if (r->adapter_rank && !memchr(r->adapter_modules, true, ADAPTER_MODULE_COUNT))
            name_adapters(r, p->model.shape.gated_ffn);
    }
    struct shape *s = &p->model.shape;
    s->value_width = shape_value_width(s);
    s->norms = shape_norms(s);
    if (!s->vocabulary_multiple) s->vocabulary_multiple = 1;
    if (!p->job.layout.expert_tensor) p->job.layout.expert_tensor = p->job.layout.tensor;
    for (int r = 0; r < p->model.run_count; r++)
        if (p->model.runs[r].kind == LAYER_MOE && p->model.runs[r].experts.imbalance == 0)
            p->model.runs[r].experts.imbalance = 1;
    return true;
}

enum { LESS = -1, SAME, MORE, FREE }; // what the bytes may do: not rise, stay, not fall, anything

static const struct law {
    const char *name;
    bool (*change)(struct problem *p);
    int states, stash, working;
    bool kept_alone; // of what is kept without recomputation
} laws[] = {
    {"a longer micro-batch", longer_batch, SAME, MORE, MORE},
    {"a longer sequence", longer_sequence, MORE, MORE, MORE},
    {"one layer more", one_layer_more, MORE, MORE, MORE},
    {"a wider FFN", wider_ffn, MORE, MORE, MORE},
    {"a larger vocabulary", more_words, MORE, MORE, MORE},
    {"more experts", more_experts, MORE, MORE, MORE},
    {"one expert more for each token", one_expert_more_for_each, SAME, MORE, MORE},
    {"wider gradients", wider_gradients, MORE, SAME, MORE},
    {"the usual bytes of a state, stated", usual_state_said, SAME, SAME, SAME},
    {"a narrower state", narrower_state, LESS, SAME, SAME},
    {"a wider state", wider_state, MORE, SAME, SAME},
    {"attention that is not fused", unfused, SAME, MORE, MORE, true},
    {"nothing frozen", thawed, MORE, MORE, FREE},
    {"one adapter more", one_adapter_more, MORE, MORE, MORE},
    {"dropout on adapters", dropout_on_adapters, SAME, MORE, MORE, true},
    {"more replicas", more_replicas, LESS, SAME, FREE},
    {"a higher stage of sharding", shard_more, LESS, SAME, FREE},
    {"states over all data ranks, stated", groups_of_all, SAME, SAME, SAME},
    {"states over groups half as large", smaller_groups, MORE, SAME, FREE},
    {"more tensor ranks", more_tensor_ranks, LESS, LESS, FREE},
    {"more context ranks", more_context_ranks, LESS, LESS, FREE},
    {"a run as two", run_as_two, SAME, SAME, SAME},
    {"defaults in full", said_in_full, SAME, SAME, SAME},
};

static void expect(const char *law, const char *part, int may, int64_t before, int64_t after,
                   uint64_t seed)
{
    if (may == FREE || (may == SAME ? before == after
                        : may > 0   ? after >= before
                                    : after <= before))
        return;
    fail_msg("seed %llu: %s: %s go from %lld to %lld bytes", (unsigned long long)seed, law, part,
             (long long)before, (long long)after);
}

static bool draw(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random rng = {seed * 0x9e3779b97f4a7c15u};
    *p = (struct problem){.name = "plain"};
    random_model(&p->model, &rng, arena);
    if (seed % 2) adapt_mixtures(&p->model, seed);
    // Room for one more run.
    struct layer_run *runs = TAKE(arena, p->model.run_count + 1, struct layer_run);
    memcpy(runs, p->model.runs, (size_t)p->model.run_count * sizeof *runs);
    p->model.runs = runs;
    draw_cluster(&p->cluster, arena);
    random_costs(p, &rng, arena);
    draw_job(&p->job, &p->model, &rng, arena);
    return true;
}

TEST(more_work_takes_no_less_memory)
{
    int held[ARRAY_LENGTH(laws)] = {0}, weighed = 0;
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)models; seed++) {
        struct arena_mark mark = arena_set_mark(arena);
        for (size_t i = 0; i < ARRAY_LENGTH(laws); i++) {
            const struct law *law = &laws[i];
            struct problem p;
            struct bytes before, after;
            draw(&p, seed, arena);
            if (!weigh(&before, &p, arena)) break;
            weighed += !i;
            if (!law->change(&p) || !weigh(&after, &p, arena)) continue;
            held[i]++;
            expect(law->name, "states", law->states, before.states, after.states, seed);
            for (int mode = 0; mode <= RECOMPUTE_FULL; mode++) {
                if (mode && law->kept_alone) break;
                expect(law->name, "stash", law->stash, before.stash[mode], after.stash[mode], seed);
                expect(law->name, "working", law->working, before.working[mode],
                       after.working[mode], seed);
            }
        }
        arena_reset(arena, mark);
    }
    print_message("%d of %d models weighed\n", weighed, models);
    for (size_t i = 0; i < ARRAY_LENGTH(laws); i++)
        print_message("  %s: %d\n", laws[i].name, held[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(laws) && models >= MODELS_OF_CI; i++)
        assert_true(held[i] > 20);
}

TEST(recomputation_keeps_no_more)
{
    int compared = 0;
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)models; seed++) {
        struct arena_mark mark = arena_set_mark(arena);
        struct problem p;
        struct bytes x;
        draw(&p, seed, arena);
        if (weigh(&x, &p, arena)) {
            compared++;
            // torchtitan's keeps the outputs of single operators.
            expect("selective recomputation", "stash",
                   p.job.trainer == TRAINER_TORCHTITAN ? FREE : LESS, x.stash[RECOMPUTE_NONE],
                   x.stash[RECOMPUTE_SELECTIVE], seed);
            expect("full recomputation", "stash", LESS, x.stash[RECOMPUTE_SELECTIVE],
                   x.stash[RECOMPUTE_FULL], seed);
        }
        arena_reset(arena, mark);
    }
    assert_true(compared > models / 4);
}

ARGUMENT(models)
ARGUMENT(first_seed)
