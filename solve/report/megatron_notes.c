// The comments below Megatron-LM's flags: the node group of each rank, and every decision of the
// plan that no flag expresses. Without them the flags would seem to express the whole plan.
#include <inttypes.h>

#include "data/kinds/schedules.h"
#include "solve/report/megatron.h"

// Ranks on nodes; their hosts are in another report.
static void put_nodes(const struct megatron *e)
{
    const struct plan *plan = e->plan;
    const struct plan_placement *x = plan->placement;
    const int *replicas = report_data_ranks(plan, e->out->arena);
    report_print(e->out, "\n# Placement. The hosts of all ranks: plumbline report --format "
                         "hostfile (srun -m arbitrary), rankfile (mpirun), hosts (torchrun),\n"
                         "# with --rank-order tp-pp-dp where --use-tp-pp-dp-mapping is set. "
                         "Pipeline ranks of each data-parallel rank:\n");
    for (int d = 0; d < x->replica_count; d++) {
        report_print(e->out, "#   %d:", d);
        for (int r = 0; r < x->rank_count; r++)
            report_print(e->out, " %s", x->nodes[replicas[d] * x->rank_count + r]);
        report_print(e->out, "\n");
    }
}

void megatron_put_placement(const struct megatron *e)
{
    const struct plan *plan = e->plan;
    if (plan->placement) {
        put_nodes(e);
        return;
    }
    report_print(e->out,
                 "\n# Placement. Default rank order (tp-cp-ep-dp-pp): list the hosts (hostfile, "
                 "SLURM_HOSTFILE) so that the ranks\n"
                 "# fall on these node groups:\n");
    struct schedule_request request = plan_request(plan);
    for (int r = 0; r < plan->layout.pipeline; r++) {
        int64_t first = r * plan->devices_per_stage;
        int group = plan->stages[schedule_stage_of(&request, r, 0)].group;
        report_print(e->out, "#   ranks %" PRId64 "-%" PRId64 ": stage", first,
                     first + plan->devices_per_stage - 1);
        for (int k = 0; k < request.virtual_stages; k++)
            report_print(e->out, "%s%d",
                         k                            ? ", "
                         : request.virtual_stages > 1 ? "s "
                                                      : " ",
                         schedule_stage_of(&request, r, k));
        report_print(e->out, " on %s (%s)\n", plan->group_names[group], plan->group_gpus[group]);
    }
}

const char *report_told_text(const struct plan *plan, const struct plan *told, bool by_rank,
                             struct arena *arena)
{
    const struct plan_stage *most = &told->stages[0];
    for (int s = 1; s < told->stage_count; s++)
        if (told->stages[s].recomputed_layers > most->recomputed_layers) most = &told->stages[s];
    const char *mode = by_rank ? "each rank recomputes alike in all its stages"
                       : most->recompute == RECOMPUTE_NONE      ? "nothing is recomputed"
                       : most->recompute == RECOMPUTE_SELECTIVE ? "all stages recompute selectively"
                       : most->recompute == RECOMPUTE_FULL
                           ? "all layers are recomputed"
                           : arena_print(arena, "the first %d layers of each stage are recomputed",
                                         most->recomputed_layers);
    return arena_print(arena,
                       "%s instead, which fits into memory and takes %s per iteration, %+.3g %%",
                       mode, report_time(told->iteration_ns, arena),
                       100 * ((double)told->iteration_ns / (double)plan->iteration_ns - 1));
}

static void put_recompute_notes(const struct megatron *e)
{
    report_print(e->out, "#   - recomputation that differs between stages; %s.\n#     The plan:\n",
                 e->told ? report_told_text(e->plan, e->told, e->by_rank, e->out->arena)
                         : "no recompute flag is set, and stages may run out of memory (full "
                           "granularity everywhere takes less, and time)");
    for (int s = 0; s < e->plan->stage_count; s++) {
        const struct plan_stage *stage = &e->plan->stages[s];
        report_print(e->out, "#       stage %d: %s\n", s,
                     decision_recompute_text(&stage->decision, e->out->arena));
    }
}

static bool factors(const struct compression_option *o)
{
    return o->form.method == COMPRESS_LOW_RANK;
}

void report_compression_notes(struct report_out *out, const struct plan *plan)
{
    for (int s = 0; s < plan->stage_count; s++) {
        const struct plan_stage *stage = &plan->stages[s];
        const struct compression_option *gradient = &plan->gradient_options[stage->gradient_option];
        const struct compression_option *boundary = &plan->boundary_options[stage->boundary_option];
        if (gradient->form.amount)
            report_print(out, "#   - %sgradient sync of stage %d, %s\n",
                         factors(gradient) ? "low-rank " : "", s,
                         compression_text(gradient->form, out->arena));
        if (gradient->offloaded_percent)
            report_print(out, "#   - %d %% of the optimizer's state of stage %d on the host\n",
                         gradient->offloaded_percent, s);
        if (boundary->form.amount)
            report_print(out, "#   - %sbackward transfers from stage %d to stage %d, %s%s\n",
                         factors(boundary) ? "low-rank " : "", s, s - 1,
                         compression_text(boundary->form, out->arena),
                         boundary->epilogue_only ? ", in the drain only" : "");
    }
}

void report_uneven_note(struct report_out *out, const struct plan *plan)
{
    const struct plan_placement *x = plan->placement;
    if (!x || !x->micro_batches) return;
    const int *replicas = report_data_ranks(plan, out->arena);
    report_print(out, "#   - micro-batches that differ between the data-parallel replicas:");
    for (int i = 0; i < x->replica_count; i++)
        report_print(out, " %d", x->micro_batches[replicas[i]]);
    report_print(out, "\n");
}

static void put_schedule_notes(const struct megatron *e)
{
    const struct layout *l = &e->plan->layout;
    report_uneven_note(e->out, e->plan);
    bool winds = l->virtual_stages > 1;
    if (!schedule_kinds[l->schedule].in_megatron)
        report_print(
            e->out,
            "#   - the %s schedule: Megatron-LM runs %s; times and memory are another schedule's\n",
            schedule_names[l->schedule], winds ? "interleaved 1F1B" : "1F1B");
    if (schedule_kinds[l->schedule].folds)
        report_print(
            e->out,
            "#   - stages that fold back at the last rank: these flags assign them to the ranks in "
            "turn, so ranks hold other\n#     stages than the placement above says\n");
    if (winds && l->pipeline == 1)
        report_print(e->out, "#   - several stages on a single rank: Megatron-LM has them only "
                             "with two or more ranks\n");
    if (!l->barrier)
        report_print(e->out, "#   - iterations that follow each other without a barrier: "
                             "Megatron-LM ends them for all "
                             "ranks together\n");
    if (l->local_loss_every)
        report_print(
            e->out,
            "#   - local losses, one every %d stages: gradients go back over every boundary\n",
            l->local_loss_every);
    if (l->slice_count > 1)
        report_print(
            e->out,
            "#   - %d slices of a sequence that follow each other: micro-batches go whole\n",
            l->slice_count);
}

static void put_state_notes(const struct megatron *e)
{
    const struct layout *l = &e->plan->layout;
    if (l->zero > 1)
        report_print(e->out,
                     "#   - ZeRO %d: the distributed optimizer shards optimizer state alone; "
                     "gradients%s stay "
                     "whole, and stages\n"
                     "#     may run out of memory\n",
                     l->zero, l->zero > 2 ? " and weights" : "");
    if (l->offload_optimizer && !l->zero)
        report_print(e->out, "#   - optimizer state that is whole on each rank: offloading "
                             "requires the distributed optimizer, which shards it\n");
    if (l->fused_embedding_sync)
        report_print(e->out, "#   - the fused embedding synchronisation\n");
}

static void put_job_notes(const struct megatron *e)
{
    const struct job *job = &e->problem->job;
    const struct shape *m = &e->problem->model.shape;
    if (job->trainer != TRAINER_MEGATRON)
        report_print(
            e->out,
            "#   - the trainer %s: times and memory are priced for it, not for Megatron-LM\n",
            trainer_names[job->trainer]);
    if (job->gathered_logits && e->plan->layout.tensor > 1)
        report_print(e->out, "#   - logits of the whole vocabulary on each tensor rank: "
                             "Megatron-LM keeps its shards\n");
    if (job->attention_kernel == ATTENTION_TRITON)
        report_print(e->out, "#   - attention in Triton: its backend is the one above\n");
    if (job->unfused[UNFUSED_NORMS])
        report_print(e->out, "#   - norms in single steps: Transformer Engine's are fused\n");
    if (e->problem->model.has_shape && m->vocabulary_multiple < 2 &&
        m->vocabulary % e->plan->layout.tensor)
        report_print(e->out,
                     "#   - a vocabulary of %" PRId64 ": it is padded to a multiple of the tensor "
                     "degree, %d\n",
                     m->vocabulary, e->plan->layout.tensor);
}

static void put_frozen_note(const struct megatron *e)
{
    const struct model *model = &e->problem->model;
    for (int i = 0; i < model->run_count; i++)
        if (model->runs[i].frozen) {
            report_print(e->out, "#   - frozen layers, their adapters and weights of few bits: all "
                                 "layers are trained "
                                 "whole\n");
            return;
        }
}

// Properties of layers that no flag above expresses.
static void put_layer_notes(const struct megatron *e)
{
    const struct model *m = &e->problem->model;
    const struct shape *s = &m->shape;
    struct megatron_rotary way;
    const char *rotary = megatron_rotary_of(s, e->says_fractions, &way, e->out->arena);
    bool cross = false, both = false, window = false, more = false, chunk = false, unlike = false,
         own = false;
    for (int i = 0; i < m->run_count; i++) {
        cross |= m->runs[i].cross_attention, both |= m->runs[i].bidirectional;
        own |= m->runs[i].shape || m->runs[i].tokens;
        chunk |= m->runs[i].chunk > 0, window |= m->runs[i].window > 0,
            more |= m->runs[i].more_values > 0;
        unlike |= m->runs[i].mtp && m->runs[i].kind != m->runs[i - 1].kind;
    }
    const struct {
        bool there;
        const char *text;
    } notes[] = {{cross, "cross attention: these are flags of a decoder alone"},
                 {both, "attention without a causal mask"},
                 {window, "attention over windows (--window-size, --window-attn-skip-freq)"},
                 {chunk, "attention within chunks"},
                 {own, "layers of a shape or of tokens of their own: towers and projectors"},
                 {more, "parameters besides those of its layers' shape"},
                 {s->norms > 0, "another number of norms in a layer than 2"},
                 {s->qk_norm == QK_NORM_WHOLE, "norms over all heads of queries and keys"},
                 {s->plain_norms, "norms without parameters"},
                 {s->no_final_norm, "no norm before the logits"},
                 {s->parallel_residual, "attention and feed-forward part in parallel"},
                 {s->output_bias != 0, "a bias on attention's output unlike the other layers'"},
                 {s->embedding_width > 0, "an embedding narrower than the model"},
                 {s->linear_bias && !s->qkv_bias, "no bias on queries, keys and values alone"},
                 {!e->says_activation && megatron_activation_of(s) == ACTIVATION_OTHER,
                  "an activation that no flag names"},
                 {unlike, "multi-token prediction layers unlike the last decoder layer"},
                 {rotary != NULL, rotary}};
    for (size_t i = 0; m->has_shape && i < ARRAY_LENGTH(notes); i++)
        if (notes[i].there) report_print(e->out, "#   - of the model: %s\n", notes[i].text);
}

static void put_model_notes(const struct megatron *e)
{
    if (!e->problem)
        report_print(e->out, "#   - the model's shape, sequence length and precision: the plan's "
                             "problem is missing or has changed since\n");
    if (e->problem) put_layer_notes(e);
    if (e->problem && !e->problem->model.has_shape)
        report_print(e->out, "#   - the model's shape: its layers were measured, not described\n");
    if (e->ends_assumed)
        report_print(
            e->out,
            "#   - (assumed: the embedding stands on the first stage and the loss on the last%s)\n",
            e->problem ? "" : ", as layers of their own");
    if (e->unknown_layers)
        report_print(e->out, "#   - %d layers that are neither embedding, decoder layer nor head\n",
                     e->unknown_layers);
    if (e->experts_differ)
        report_print(e->out, "#   - experts: their shape differs between layers\n");
    if (e->problem) put_job_notes(e);
    if (e->problem) put_frozen_note(e);
}

void megatron_put_notes(const struct megatron *e, bool recompute_said, const char *others)
{
    const struct plan *plan = e->plan;
    size_t before = e->out->length;
    report_print(e->out, "%s", others);
    if (!recompute_said) put_recompute_notes(e);
    report_compression_notes(e->out, plan);
    put_schedule_notes(e);
    put_state_notes(e);
    for (int s = 1; s < plan->stage_count; s++)
        if (plan->stages[s].group != plan->stages[0].group) {
            report_print(
                e->out,
                "#   - stages on unlike node groups: set only by the order of the hosts (above)\n");
            break;
        }
    put_model_notes(e);
    if (e->out->length == before) report_print(e->out, "#   (nothing)\n");
}
