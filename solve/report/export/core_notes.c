// Where Megatron Core's ranks stand, and every decision of the plan that none of its settings
// expresses. Without them the flags would seem to express the whole plan.
#include <inttypes.h>

#include "solve/report/export/internal.h"
#include "data/kinds/schedules.h"

// Ranks on nodes; their hosts are in another report.
static void put_nodes(const struct export *e)
{
    const struct plan *plan = e->plan;
    const struct plan_placement *x = plan->placement;
    const int *replicas = report_data_ranks(plan, e->out->arena);
    text_put(e->out, "\n# Placement. The hosts of all ranks: plumbline report --format hostfile "
                     "(srun -m arbitrary), rankfile (mpirun), hosts (torchrun),\n"
                     "# with --rank-order tp-pp-dp where --use-tp-pp-dp-mapping is set. Pipeline "
                     "ranks of each data-parallel rank:\n");
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
    if (e->problem && plan->layout.tensor > e->problem->model.shape.kv_heads)
        text_put(e->out, "\n# Megatron-core 0.16 or later: tensor ranks share KV heads.\n");
    if (plan->placement) {
        put_nodes(e);
        return;
    }
    text_put(e->out, "\n# Placement. Default rank order (tp-cp-ep-dp-pp): list the hosts "
                     "(hostfile, SLURM_HOSTFILE) so that the ranks\n"
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
    bool sinks = e->problem && model_has_sinks(&e->problem->model);
    const struct export_note notes[] = {
        {schedule_kinds[l->schedule].folds,
         "stages that fold back at the last rank: these flags assign them to the ranks in turn, so "
         "ranks hold other stages than the placement above says"},
        {l->zero > 1, arena_print(e->out->arena,
                                  "ZeRO %d: the distributed optimizer shards optimizer state "
                                  "alone; gradients%s stay whole, and stages may run out of memory",
                                  l->zero, l->zero > 2 ? " and weights" : "")},
        {sinks && l->context > 1 && e->problem->job.context_kind != CONTEXT_ALL_TO_ALL,
         arena_print(e->out->arena, "context_kind %s: attention with sinks has all_to_all alone",
                     sinks ? context_kind_names[e->problem->job.context_kind] : "")},
        {sinks && layout_expert_tensor(l) > 1,
         "biases of experts that tensor ranks split: Megatron-LM refuses them"},
        {l->offload_optimizer && !l->zero, "optimizer state that is whole on each rank: offloading "
                                           "requires the distributed optimizer, which shards it"}};
    EXPORT_NOTES(e, notes);
}

static void note_model(struct export *e)
{
    const char *texts[GAPS_MAX];
    int count = framework_gaps(texts, e->framework, e->problem, e->out->arena);
    for (int i = 0; i < count; i++) export_note(e, "of the model: %s", texts[i]);
}

static void note_job(struct export *e, const struct run *r)
{
    const struct job *job = &r->job;
    const struct export_note notes[] = {
        {job->precision == FP32 && job->gradient_bytes_per_value == 2,
         "gradients of 2 bytes: in fp32 they have 4"},
        {job->attention_kernel == ATTENTION_TRITON,
         "attention in Triton: its backend is the one above"},
        {e->flags && job->loss_in_place,
         "Transformer Engine's loss: Megatron-LM's newest arguments refuse it as unstable"},
        {job->exposed_input_gradients,
         "sums of input gradients that nothing hides: all versions since 2024-05 hide them beside "
         "the products for weights' gradients"},
        {job->unfused[UNFUSED_NORMS], "norms in single steps: Transformer Engine's are fused"}};
    EXPORT_NOTES(e, notes);
}

void core_note(struct export *e, const struct run *r)
{
    const struct layout *l = &e->plan->layout;
    bool ends = e->problem && e->holds_embedding[0] && e->holds_head[e->plan->stage_count - 1];
    if (!schedule_kinds[l->schedule].in_megatron)
        e->runs = l->virtual_stages > 1 ? "interleaved 1F1B" : "1F1B";
    e->logits = "Megatron-LM keeps its shards";
    e->state_bytes = megatron_state_bytes(r);
    export_common_notes(e);
    note_states(e);
    if (e->problem) note_model(e), note_job(e, r);
    const struct export_note notes[] = {
        {!e->problem, "the model's shape, sequence length and precision: the plan's problem is "
                      "missing or has changed since"},
        {!ends, e->problem
                    ? "(assumed: the embedding stands on the first stage and the loss on the last)"
                    : "(assumed: the embedding stands on the first stage and the loss on the last, "
                      "as layers of their own)"}};
    EXPORT_NOTES(e, notes);
}
