// Draws clusters and jobs of real size.
#include "tests/support/oracle/jobs.h"

#include "data/kinds/schedules.h"
#include "tests/support/draws/fabric.h"

// ---- cluster

void random_cluster(struct cluster *c, struct random *rng, struct arena *arena)
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

int divisor_of(struct random *rng, int64_t n)
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
void share_keys(struct problem *p, uint64_t seed)
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

void random_job(struct job *j, const struct model *m, struct random *rng, struct arena *arena)
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
