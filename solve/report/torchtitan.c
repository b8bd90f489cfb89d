// A plan as a config of torchtitan (TOML, its release 0.2; torchtitan/config/job_config.py says
// what the keys mean). What they cannot say follows as comments.
#include <inttypes.h>
#include <string.h>

#include "solve/report/report.h"

struct titan {
    struct report_out *out;
    const struct plan *plan;
    const struct problem *problem; // NULL: not at hand
    int layer_count;
};

// ---- the keys

// Its models that stand among the shipped ones.
static const struct {
    const char *model, *name, *flavor;
} flavors[] = {
    {"llama-3.1-8b", "llama3", "8B"},
    {"llama-3.1-70b", "llama3", "70B"},
    {"llama-3.1-405b", "llama3", "405B"},
    {"deepseek-v3", "deepseek_v3", "671B"},
};

static void put_model(const struct titan *t)
{
    const struct model *m = t->problem ? &t->problem->model : NULL;
    bool fp8 = t->problem && t->problem->job.precision == FP8;
    report_print(t->out, "\n[model]\n");
    for (size_t i = 0; m && m->name && i < ARRAY_LENGTH(flavors); i++)
        if (!strcmp(m->name, flavors[i].model)) {
            report_print(t->out, "name = \"%s\"\nflavor = \"%s\"\n", flavors[i].name,
                         flavors[i].flavor);
            m = NULL;
        }
    if (m && m->has_shape)
        report_print(t->out,
                     "# name, flavor: a model of %d layers beside embedding and head, width "
                     "%" PRId64 ", %" PRId64 " heads\n",
                     t->layer_count - 2, m->shape.hidden, m->shape.heads);
    if (fp8) report_print(t->out, "converters = [\"float8\"]\n");
}

// With a pipeline all micro-batches of a step are one call of its schedule; without, each is one.
static void put_training(const struct titan *t)
{
    const struct plan *plan = t->plan;
    const struct layout *l = &plan->layout;
    int64_t local = (l->pipeline > 1 ? (int64_t)plan->micro_batches : 1) * l->micro_batch;
    report_print(t->out, "\n[training]\nlocal_batch_size = %" PRId64 "\n", local);
    report_print(t->out, "global_batch_size = %" PRId64 "\n",
                 plan_micro_batches_together(plan) * l->micro_batch);
    if (t->problem) {
        report_print(t->out, "seq_len = %" PRId64 "\n", t->problem->job.sequence);
        report_print(t->out, "mixed_precision_param = \"%s\"\n",
                     t->problem->job.precision == FP32 ? "float32" : "bfloat16");
    }
    report_print(t->out, "enable_cpu_offload = %s\n", l->offload_optimizer ? "true" : "false");
}

static void put_parts(const struct titan *t)
{
    report_print(t->out, "module_fqns_per_model_part = [\n");
    for (int s = 0; s < t->plan->stage_count; s++) {
        const struct plan_stage *stage = &t->plan->stages[s];
        report_print(t->out, "    [");
        for (int i = stage->first_layer; i < stage->first_layer + stage->layer_count; i++) {
            const char *before = i > stage->first_layer ? ", " : "";
            if (i == 0) report_print(t->out, "%s\"tok_embeddings\"", before);
            else if (i == t->layer_count - 1)
                report_print(t->out, "%s\"norm\", \"output\"", before);
            else report_print(t->out, "%s\"layers.%d\"", before, i - 1);
        }
        report_print(t->out, "],\n");
    }
    report_print(t->out, "]\n");
}

// PyTorch's names; NULL: it has none of this kind.
static const char *schedule_name(enum schedule_kind kind)
{
    switch (kind) {
    case SCHEDULE_GPIPE: return "GPipe";
    case SCHEDULE_1F1B: return "1F1B";
    case SCHEDULE_INTERLEAVED: return "Interleaved1F1B";
    case SCHEDULE_LOOPED_BFS: return "LoopedBFS";
    case SCHEDULE_ZB_V: return "ZBVZeroBubble";
    default: return NULL;
    }
}

static void put_pipeline(const struct titan *t)
{
    const struct layout *l = &t->plan->layout;
    const char *schedule = schedule_name(l->schedule);
    report_print(t->out, "pipeline_parallel_degree = %d\n", l->pipeline);
    if (l->pipeline == 1) return;
    report_print(t->out,
                 "pipeline_parallel_schedule = \"%s\"\npipeline_parallel_microbatch_size = %d\n",
                 schedule                ? schedule
                 : l->virtual_stages > 1 ? "Interleaved1F1B"
                                         : "1F1B",
                 l->micro_batch);
    put_parts(t);
}

static void put_parallelism(const struct titan *t)
{
    const struct layout *l = &t->plan->layout;
    bool sharded = l->zero > 0;
    report_print(t->out, "\n[parallelism]\n");
    report_print(t->out, "data_parallel_replicate_degree = %d\n", sharded ? 1 : l->data);
    report_print(t->out, "data_parallel_shard_degree = %d\n", sharded ? l->data : 1);
    if (sharded)
        report_print(t->out, "fsdp_reshard_after_forward = \"%s\"\n",
                     l->zero == 3 ? "always" : "never");
    report_print(t->out, "tensor_parallel_degree = %d\n", l->tensor);
    if (t->problem && l->tensor > 1)
        report_print(t->out, "disable_loss_parallel = %s\n",
                     t->problem->job.gathered_logits ? "true" : "false");
    report_print(t->out, "context_parallel_degree = %d\n", l->context);
    if (l->context > 1) report_print(t->out, "context_parallel_rotate_method = \"alltoall\"\n");
    if (l->expert > 1) report_print(t->out, "expert_parallel_degree = %d\n", l->expert);
    put_pipeline(t);
}

// What all stages do; RECOMPUTE_COUNT: they differ.
static enum recompute recompute_of(const struct plan *plan)
{
    for (int s = 1; s < plan->stage_count; s++)
        if (plan->stages[s].recompute != plan->stages[0].recompute) return RECOMPUTE_COUNT;
    return plan->stages[0].recompute == RECOMPUTE_FIRST_LAYERS ? RECOMPUTE_COUNT
                                                               : plan->stages[0].recompute;
}

static void put_recomputation(const struct titan *t)
{
    enum recompute mode = recompute_of(t->plan);
    report_print(t->out, "\n[activation_checkpoint]\nmode = \"%s\"\n",
                 mode == RECOMPUTE_COUNT ? "full" : recompute_names[mode]);
    if (mode == RECOMPUTE_SELECTIVE) report_print(t->out, "selective_ac_option = \"op\"\n");
}

static void put_compile(const struct titan *t)
{
    if (!t->problem) return;
    const struct job *job = &t->problem->job;
    report_print(t->out, "\n[compile]\nenable = %s\n", job->compiled ? "true" : "false");
    if (job->compiled)
        report_print(t->out, "components = [\"model\"%s]\n", job->fused_loss ? ", \"loss\"" : "");
}

// ---- what they cannot say

static void put_schedule_notes(const struct titan *t)
{
    const struct layout *l = &t->plan->layout;
    if (l->pipeline > 1 && !schedule_name(l->schedule))
        report_print(t->out, "#   - the %s schedule: its times and memory are another schedule's\n",
                     schedule_names[l->schedule]);
    if (l->pipeline == 1 && l->schedule != SCHEDULE_1F1B)
        report_print(t->out,
                     "#   - the %s schedule of one pipeline rank: its micro-batches follow "
                     "each other\n",
                     schedule_names[l->schedule]);
    if (!l->barrier)
        report_print(t->out, "#   - iterations that follow each other without a barrier\n");
    if (l->local_loss_every)
        report_print(t->out, "#   - local losses, one every %d stages\n", l->local_loss_every);
    if (l->slice_count > 1)
        report_print(t->out, "#   - %d slices of a sequence that follow each other\n",
                     l->slice_count);
    report_uneven_note(t->out, t->plan);
}

static void put_recompute_note(const struct titan *t)
{
    if (recompute_of(t->plan) != RECOMPUTE_COUNT) return;
    report_print(t->out, "#   - recomputation that differs between stages or layers: \"full\" "
                         "everywhere is safe and slower. The plan:\n");
    for (int s = 0; s < t->plan->stage_count; s++) {
        const struct plan_stage *stage = &t->plan->stages[s];
        report_print(t->out, "#       stage %d: %s", s, recompute_names[stage->recompute]);
        if (stage->recompute == RECOMPUTE_FIRST_LAYERS)
            report_print(t->out, " %d", stage->recomputed_layers);
        report_print(t->out, "\n");
    }
}

static void put_state_notes(const struct titan *t)
{
    const struct layout *l = &t->plan->layout;
    int64_t others = (int64_t)l->tensor * l->context * l->pipeline;
    if (l->zero == 1)
        report_print(t->out, "#   - ZeRO 1: fully_shard shards gradients with the states, which is "
                             "ZeRO 2\n");
    if (l->zero == 0 && l->data > 1 && others > 1)
        report_print(t->out, "#   - replicas with whole states beside other degrees: torchtitan "
                             "refuses them\n");
    if (l->offload_optimizer)
        report_print(t->out,
                     "#   - optimizer states alone in host memory: enable_cpu_offload takes "
                     "weights and gradients there, too\n");
    if (l->gradient_sync == SYNC_EXPOSED && l->data > 1)
        report_print(t->out,
                     "#   - gradients synced behind the last backward: they go beside it\n");
    if (l->fused_embedding_sync)
        report_print(t->out, "#   - the fused embedding synchronisation\n");
    if (l->tensor > 1 && !l->sequence_parallel)
        report_print(t->out, "#   - tensor parallelism without sequence parallelism\n");
}

static void put_job_notes(const struct titan *t)
{
    const struct job *job = &t->problem->job;
    const struct {
        bool there;
        const char *text;
    } notes[] = {
        {job->trainer != TRAINER_TORCHTITAN, "another trainer: times and memory are priced as its"},
        {job->precision == FP16, "fp16: its mixed precision is bfloat16"},
        {job->gradient_bytes_per_value != 4, "gradients that are not of 4 bytes"},
        {!job->adam, "an optimizer other than Adam"},
        {!t->plan->layout.fused_attention, "attention that writes its scores"},
        {job->attention_kernel == ATTENTION_TRITON, "attention in Triton"},
        {job->fused_loss && !job->compiled, "a fused loss: it is a component of [compile]"},
        {t->problem->model.shape.tied_embeddings && t->plan->layout.pipeline > 1,
         "tied embeddings on two stages"},
        {!t->problem->model.has_shape, "the model: its layers were measured, not described"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(notes); i++)
        if (notes[i].there) report_print(t->out, "#   - %s\n", notes[i].text);
}

static void put_notes(const struct titan *t)
{
    size_t before = (report_print(t->out, "\n# Not expressed by these keys:\n"), t->out->length);
    put_recompute_note(t);
    report_compression_notes(t->out, t->plan);
    put_schedule_notes(t);
    put_state_notes(t);
    for (int s = 1; s < t->plan->stage_count; s++)
        if (t->plan->stages[s].group != t->plan->stages[0].group || t->plan->placement) {
            report_print(t->out,
                         "#   - which nodes the stages stand on: the order of the hosts says "
                         "so (plumbline report --format hosts)\n");
            break;
        }
    if (t->problem) put_job_notes(t);
    else
        report_print(t->out, "#   - model, sequence length, precision: the plan's problem was not "
                             "found or has changed since\n");
    if (t->out->length == before) report_print(t->out, "#   (nothing)\n");
}

enum status report_torchtitan(const struct plan *plan, const struct problem *problem,
                              const char **text, size_t *length, struct arena *arena,
                              struct error *err)
{
    struct report_out out;
    if (!plan->stage_count) return fail(err, BAD_INPUT, "there is no plan to show");
    const struct plan_stage *last = &plan->stages[plan->stage_count - 1];
    struct titan t = {&out, plan, problem, last->first_layer + last->layer_count};
    report_out_begin(&out, arena);
    report_print(&out,
                 "# torchtitan 0.2 for %s, %" PRId64 " GPUs; made by plumbline report --format "
                 "torchtitan\n# torchrun ... -m torchtitan.train --job.config_file THIS\n",
                 plan->name ? plan->name : "plan", plan->layout.pipeline * plan->devices_per_stage);
    put_model(&t);
    put_training(&t);
    put_parallelism(&t);
    put_recomputation(&t);
    put_compile(&t);
    put_notes(&t);
    *text = out.text;
    *length = out.length;
    return OK;
}
