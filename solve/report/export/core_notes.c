// Where Megatron Core's ranks stand, and every decision of the plan that none of its settings
// expresses. Without them the flags would seem to express the whole plan.
#include <inttypes.h>
#include <string.h>

#include "solve/report/export/internal.h"
#include "data/kinds/schedules.h"

// Ranks on nodes; their hosts are in another report.
static void put_nodes(const struct export *e)
{
    const struct plan *plan = e->plan;
    const struct plan_placement *x = plan->placement;
    const int *replicas = report_data_ranks(plan, e->out->arena);
    text_put(e->out, "\n# Placement. The hosts of all ranks: plumbline report --format "
                     "hostfile (srun -m arbitrary), rankfile (mpirun), hosts (torchrun),\n"
                     "# with --rank-order tp-pp-dp where --use-tp-pp-dp-mapping is set. "
                     "Pipeline ranks of each data-parallel rank:\n");
    for (int d = 0; d < x->replica_count; d++) {
        text_put(e->out, "#   %d:", d);
        for (int r = 0; r < x->rank_count; r++)
            text_put(e->out, " %s", x->nodes[replicas[d] * x->rank_count + r]);
        text_put(e->out, "\n");
    }
}

void core_print_placement(const struct export *e)
{
    const struct plan *plan = e->plan;
    if (plan->placement) {
        put_nodes(e);
        return;
    }
    text_put(e->out,
             "\n# Placement. Default rank order (tp-cp-ep-dp-pp): list the hosts (hostfile, "
             "SLURM_HOSTFILE) so that the ranks\n"
             "# fall on these node groups:\n");
    struct schedule_request request = plan_request(plan);
    for (int r = 0; r < plan->layout.pipeline; r++) {
        int64_t first = r * plan->devices_per_stage;
        int group = plan->stages[schedule_stage_of(&request, r, 0)].group;
        text_put(e->out, "#   ranks %" PRId64 "-%" PRId64 ": stage", first,
                 first + plan->devices_per_stage - 1);
        for (int k = 0; k < request.virtual_stages; k++)
            text_put(e->out, "%s%d",
                     k                            ? ", "
                     : request.virtual_stages > 1 ? "s "
                                                  : " ",
                     schedule_stage_of(&request, r, k));
        text_put(e->out, " on %s (%s)\n", plan->group_names[group], plan->group_gpus[group]);
    }
}

static void note_states(struct export *e)
{
    const struct layout *l = &e->plan->layout;
    const struct export_note notes[] = {
        {schedule_kinds[l->schedule].folds,
         "stages that fold back at the last rank: these flags assign them to the ranks in turn, so "
         "ranks hold other stages than the placement above says"},
        {l->zero > 1,
         arena_print(e->out->arena,
                     "ZeRO %d: the distributed optimizer shards optimizer state alone; "
                     "gradients%s stay whole, and stages may run out of memory",
                     l->zero, l->zero > 2 ? " and weights" : "")},
        {l->offload_optimizer && !l->zero,
         "optimizer state that is whole on each rank: offloading requires the distributed "
         "optimizer, which shards it"}};
    EXPORT_NOTES(e, notes);
}

// Properties of layers that no flag above expresses.
static void note_layers(struct export *e, const struct run *r)
{
    const struct model *m = &e->problem->model;
    const struct shape *s = &m->shape;
    struct core_rotary way;
    const char *rotary = core_rotary_of(s, !e->flags, &way, e->out->arena);
    bool cross = false, both = false, window = false, more = false, chunk = false, unlike = false,
         own = false, linear = false;
    for (int i = 0; i < m->run_count; i++) {
        cross |= m->runs[i].cross_attention, both |= m->runs[i].bidirectional;
        linear |= m->runs[i].linear, own |= m->runs[i].shape || m->runs[i].tokens;
        chunk |= m->runs[i].chunk > 0, window |= m->runs[i].window > 0,
            more |= m->runs[i].more_values > 0;
        unlike |= m->runs[i].mtp && m->runs[i].kind != m->runs[i - 1].kind;
    }
    bool unnamed = !r->activation ||
                   (e->flags && (s->gated_ffn ? !r->swiglu
                                              : !r->openai_gelu && !r->squared_relu &&
                                                    strcmp(r->activation, "gelu") != 0));
    const struct export_note notes[] = {
        {cross, "cross attention: these are flags of a decoder alone"},
        {both, "attention without a causal mask"},
        {linear,
         "linear attention (--experimental-attention-variant, --linear-attention-freq ...)"},
        {window, "attention over windows (--window-size, --window-attn-skip-freq)"},
        {chunk, "attention within chunks"},
        {own, "layers of a shape or of tokens of their own: towers and projectors"},
        {more, "parameters besides those of its layers' shape"},
        {s->norms > 0, "a number of norms per layer other than 2"},
        {s->qk_norm == QK_NORM_WHOLE, "norms over all heads of queries and keys"},
        {s->gated_attention, "a gate of attention's output (--attention-output-gate)"},
        {s->plain_norms, "norms without parameters"},
        {s->no_final_norm, "no norm before the logits"},
        {s->parallel_residual, "attention and feed-forward part in parallel"},
        {s->output_bias != 0, "a bias on attention's output unlike the other layers'"},
        {s->embedding_width > 0, "an embedding narrower than the model"},
        {s->linear_bias && !s->qkv_bias, "no bias on queries, keys and values alone"},
        {unnamed, "an activation that no flag names"},
        {unlike, "multi-token prediction layers unlike the last decoder layer"},
        {rotary != NULL, rotary}};
    for (size_t i = 0; m->has_shape && i < ARRAY_LENGTH(notes); i++)
        if (notes[i].there) export_note(e, "of the model: %s", notes[i].text);
}

static void note_job(struct export *e, const struct run *r)
{
    const struct job *job = &r->job;
    struct arena *arena = e->out->arena;
    bool differ;
    core_experts(e, &differ);
    const struct export_note notes[] = {
        {e->flags && job->precision == FP32 && job->gradient_bytes_per_value == 2,
         "gradients of 2 bytes: in fp32 they have 4"},
        {job->attention_kernel == ATTENTION_TRITON,
         "attention in Triton: its backend is the one above"},
        {job->unfused[UNFUSED_NORMS], "norms in single steps: Transformer Engine's are fused"},
        {r->shaped && !r->padding,
         arena_print(arena,
                     "a vocabulary of %" PRId64 ": it is padded to a multiple of the tensor "
                     "degree, %d",
                     r->shape.vocabulary, job->layout.tensor)},
        {differ, "experts: their shape differs between layers"}};
    EXPORT_NOTES(e, notes);
}

void core_note(struct export *e, const struct run *r)
{
    const struct layout *l = &e->plan->layout;
    bool ends = e->problem && e->holds_embedding[0] && e->holds_head[e->plan->stage_count - 1];
    if (!schedule_kinds[l->schedule].in_megatron)
        e->runs = l->virtual_stages > 1 ? "interleaved 1F1B" : "1F1B";
    e->logits = "Megatron-LM keeps its shards";
    export_common_notes(e);
    note_states(e);
    if (e->problem) note_layers(e, r), note_job(e, r);
    const struct export_note notes[] = {
        {!e->problem, "the model's shape, sequence length and precision: the plan's problem is "
                      "missing or has changed since"},
        {!ends, e->problem ? "(assumed: the embedding stands on the first stage and the loss on "
                             "the last)"
                           : "(assumed: the embedding stands on the first stage and the loss on "
                             "the last, as layers of their own)"}};
    EXPORT_NOTES(e, notes);
}
