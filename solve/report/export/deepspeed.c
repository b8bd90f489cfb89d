// A plan as DeepSpeed's JSON. What DeepSpeed's keys do not express is under the key "plumbline",
// which DeepSpeed ignores: what the model's code has to do, and the notes.

#include "solve/report/export/internal.h"
#include "data/kinds/schedules.h"

static void set_precision(struct run *r)
{
    const struct job *job = &r->job;
    const char *narrow = job->precision == FP16 ? "fp16" : "bf16";
    int zero = job->layout.zero;
    bool wide = job->gradient_bytes_per_value == 4 && zero > 0;
    r->fp8_model = job->precision == FP8;
    if (job->precision == FP32) return;
    r->fp16 = job->precision == FP16, r->bf16 = !r->fp16;
    r->gradients = wide ? "fp32" : narrow;
    r->sums = (zero ? wide && zero == 1 : job->whole_gradient_sums) ? "fp32" : narrow;
}

static bool has_groups(const struct layout *l) { return layout_data_shard(l) < l->data; }
static bool has_mics(const struct layout *l)
{
    return has_groups(l) && l->zero == 3 && l->tensor == 1 && l->pipeline == 1;
}

static void set_zero(struct run *r)
{
    const struct layout *l = &r->job.layout;
    r->overlap = l->gradient_sync == SYNC_OVERLAPPED ? "true" : "false";
    if (l->offload_optimizer && l->zero) r->offload = "cpu", r->pinned = true;
    if (has_mics(l)) r->shards = (int64_t)l->data_shard * l->context;
}

const char *export_layers(const struct plan *plan, const char *between, struct arena *arena)
{
    struct text text;
    text_begin(&text, arena);
    for (int s = 0; s < plan->stage_count; s++)
        text_put(&text, "%s%d", s ? between : "", plan->stages[s].layer_count);
    return text.text;
}

static void note_states(struct export *e)
{
    const struct layout *l = &e->plan->layout;
    const struct job *job = &e->problem->job;
    const struct export_note notes[] = {
        {job->precision == FP8,
         "fp8: bf16 is set; fp8 is set in the model's code (Transformer Engine)"},
        {job->gradient_bytes_per_value == 4 && !l->zero && job->precision != FP32,
         "gradients of 4 bytes: without ZeRO, DeepSpeed sums them in those of the weights' 2 "
         "bytes"},
        {job->gradient_bytes_per_value == 2 && job->precision == FP32,
         "gradients of 2 bytes: in fp32 they have 4"},
        {l->offload_optimizer && !l->zero,
         "optimizer state in host memory: DeepSpeed offloads it from ZeRO 1 on"},
        {l->zero >= 2 && l->pipeline > 1,
         arena_print(e->out->arena,
                     "ZeRO %d with a pipeline: DeepSpeed refuses it (\"ZeRO-2 and ZeRO-3 are "
                     "incompatible with pipeline parallelism\")",
                     l->zero)},
        {has_mics(l),
         "mics_shard_size: the model is made under deepspeed.zero.MiCS_Init, which the "
         "script says"},
        {has_groups(l) && !has_mics(l),
         arena_print(e->out->arena,
                     "states over groups of %d data ranks: DeepSpeed has them at ZeRO 3 alone, "
                     "without pipeline and tensor ranks (MiCS)",
                     l->data_shard)},
        {l->gradient_sync == SYNC_OVERLAPPED && (l->pipeline > 1 || !l->zero),
         "gradient sync overlapped with the backward pass: DeepSpeed has it from ZeRO 1 on and "
         "without a pipeline"},
        {job->adam, "Adam with its learning rate: set in the script or by the key optimizer"},
        {!job->adam, "an optimizer without state: set in the script"}};
    EXPORT_NOTES(e, notes);
}

// The model's code does the partitioning: PipelineModule's partition_method takes a pattern of
// class names, "uniform" or "parameters", but no list of boundaries.
static void note_code(struct export *e, int mode)
{
    const struct plan *plan = e->plan;
    const struct job *job = &e->problem->job;
    const struct layout *l = &plan->layout;
    struct arena *arena = e->out->arena;
    const struct export_note notes[] = {
        {l->pipeline > 1,
         arena_print(arena,
                     "%d stages of %s layers: PipelineModule(num_stages=%d, partition_method=...) "
                     "of the model's code cuts it, evenly by layers or parameters; other bounds "
                     "need a partition of your own",
                     plan->stage_count, export_layers(plan, ", ", arena), l->pipeline)},
        {mode != RECOMPUTE_NONE,
         arena_print(arena,
                     "%s recomputation: %s of the model's code, where it is full; DeepSpeed has no "
                     "selective one",
                     recompute_names[mode],
                     l->pipeline > 1 ? "PipelineModule(activation_checkpoint_interval=1)"
                                     : "deepspeed.checkpointing.checkpoint")},
        {true,
         arena_print(arena, "the model and a sequence of %lld tokens: set in the model's code",
                     (long long)job->sequence)},
        {l->tensor > 1,
         arena_print(arena,
                     "tensor parallelism over %d ranks%s: set in the model's code "
                     "(Megatron-DeepSpeed)",
                     l->tensor, l->sequence_parallel ? ", with sequence parallelism" : "")},
        {l->context > 1,
         arena_print(arena, "context parallelism over %d ranks: DeepSpeed's (Ulysses) splits heads",
                     l->context)},
        {l->expert > 1,
         arena_print(arena, "experts over %d ranks: MoE(ep_size=%d) of the model's code", l->expert,
                     l->expert)},
        {job->fixed_capacity && model_first_run(&e->problem->model, LAYER_MOE),
         arena_print(arena,
                     "experts' rows padded to %.9g times those that come: MoE(capacity_factor=...) "
                     "of the model's code",
                     job_expert_padding(job))},
        {true, arena_print(arena, "%s attention: set in the model's code",
                           !l->fused_attention ? "unfused"
                           : job->attention_kernel == ATTENTION_MAKER ||
                                   job->attention_kernel == ATTENTION_MAKER_2024
                               ? "fused"
                               : attention_kernel_names[job->attention_kernel])},
        {job->fused_loss, "a fused loss: set in the model's code"},
        {job->compiled, "compiled blocks: engine.compile() of the script"}};
    EXPORT_NOTES(e, notes);
    export_unfused_notes(e);
}

enum status report_deepspeed(struct text *out, const struct plan *plan,
                             const struct problem *problem, struct error *err)
{
    const struct layout *l = &plan->layout;
    struct export e = {.name = "DeepSpeed",
                       .framework = FRAMEWORK_DEEPSPEED,
                       .trainer = TRAINER_DEEPSPEED,
                       .logits = "set in the model's code"};
    TRY(export_begin(&e, out, plan, problem, err));
    TRY(export_need_problem(&e, err));
    TRY(export_need_precision(&e, FP8, err));
    if (l->schedule != SCHEDULE_1F1B || l->virtual_stages > 1) e.runs = "1f1b with a stage a rank";
    struct run run = export_run(&e);
    run.about = export_headline(&e), run.print_every = 1;
    run.mode = (int)export_recompute(&e).mode;
    set_precision(&run);
    set_zero(&run);
    note_states(&e);
    note_code(&e, run.mode);
    export_common_notes(&e);
    export_json(&e, &deepspeed_rows, &run);
    return OK;
}
