// A plan as DeepSpeed's JSON (runtime/config.py, runtime/zero/config.py). What DeepSpeed's keys do
// not express is under the key "plumbline", which DeepSpeed ignores.
#include <string.h>

#include "data/kinds/schedules.h"
#include "data/text/json.h"
#include "solve/report/export/internal.h"

static void put_precision(struct export *e, struct json_writer *w)
{
    const struct job *job = &e->problem->job;
    const char *key = job->precision == FP16 ? "fp16" : "bf16";
    bool wide = job->gradient_bytes_per_value == 4;
    if (job->precision == FP8)
        export_note(e, "fp8: bf16 is set; fp8 is set in the model's code (Transformer Engine)");
    if (job->precision == FP32) return;
    json_open_object(w, key);
    json_put_bool(w, "enabled", true);
    json_close_object(w);
    if (wide && !e->plan->layout.zero)
        export_note(e, "gradients of 4 bytes: without ZeRO, DeepSpeed sums them in those of the "
                       "weights' 2 bytes");
    wide &= e->plan->layout.zero > 0;
    json_open_object(w, "data_types");
    json_put_text(w, "grad_accum_dtype", wide ? "fp32" : key);
    json_close_object(w);
    wide = e->plan->layout.zero ? wide && e->plan->layout.zero == 1 : job->whole_gradient_sums;
    json_put_text(w, "communication_data_type", wide ? "fp32" : key);
}

static void put_zero(struct export *e, struct json_writer *w)
{
    const struct layout *l = &e->plan->layout;
    bool overlapped = l->gradient_sync == SYNC_OVERLAPPED;
    json_open_object(w, "zero_optimization");
    json_put_count(w, "stage", l->zero);
    json_put_bool(w, "overlap_comm", overlapped);
    if (l->offload_optimizer && l->zero) {
        json_open_object(w, "offload_optimizer");
        json_put_text(w, "device", "cpu");
        json_put_bool(w, "pin_memory", true);
        json_close_object(w);
    }
    json_close_object(w);
    if (l->offload_optimizer && !l->zero)
        export_note(e, "optimizer state in host memory: DeepSpeed offloads it from ZeRO 1 on");
    if (l->zero >= 2 && l->pipeline > 1)
        export_note(e,
                    "ZeRO %d with a pipeline: DeepSpeed refuses it (\"ZeRO-2 and ZeRO-3 are "
                    "incompatible with pipeline parallelism\")",
                    l->zero);
    if (overlapped && (l->pipeline > 1 || !l->zero))
        export_note(e, "gradient sync overlapped with the backward pass: DeepSpeed has it from "
                       "ZeRO 1 on and without a pipeline");
}

// The model's code does the partitioning: PipelineModule's partition_method takes a pattern of
// class names, "uniform" or "parameters", but no list of boundaries.
static void note_pipeline(struct export *e)
{
    const struct plan *plan = e->plan;
    const struct layout *l = &plan->layout;
    struct report_out text;
    if (l->pipeline == 1) return;
    report_out_begin(&text, e->out->arena);
    for (int s = 0; s < plan->stage_count; s++)
        report_print(&text, "%s%d", s ? ", " : "", plan->stages[s].layer_count);
    export_note(e,
                "%d stages of %s layers: PipelineModule(num_stages=%d, partition_method=...) of "
                "the model's code cuts it, evenly by layers or parameters; other bounds need a "
                "partition of your own",
                plan->stage_count, text.text, l->pipeline);
    if (l->schedule != SCHEDULE_1F1B || l->virtual_stages > 1)
        export_note(e,
                    "the %s schedule: DeepSpeed runs 1f1b with a stage a rank; times and memory "
                    "are another schedule's",
                    schedule_names[l->schedule]);
}

static void note_model(struct export *e)
{
    const struct job *job = &e->problem->job;
    const struct layout *l = &e->plan->layout;
    export_note(e, "the model and a sequence of %lld tokens: set in the model's code",
                (long long)job->sequence);
    if (l->tensor > 1)
        export_note(
            e, "tensor parallelism over %d ranks%s: set in the model's code (Megatron-DeepSpeed)",
            l->tensor, l->sequence_parallel ? ", with sequence parallelism" : "");
    if (l->context > 1)
        export_note(e, "context parallelism over %d ranks: DeepSpeed's (Ulysses) splits heads",
                    l->context);
    if (l->expert > 1)
        export_note(e, "experts over %d ranks: MoE(ep_size=%d) of the model's code", l->expert,
                    l->expert);
    export_note(e, "%s attention: set in the model's code",
                !l->fused_attention ? "unfused"
                : job->attention_kernel == ATTENTION_MAKER
                    ? "fused"
                    : attention_kernel_names[job->attention_kernel]);
    if (job->fused_loss) export_note(e, "a fused loss: set in the model's code");
    if (job->compiled) export_note(e, "compiled blocks: engine.compile() of the script");
    if (job->gathered_logits && l->tensor > 1)
        export_note(e, "logits of the whole vocabulary on each tensor rank");
    if (job->scattered_messages && l->tensor > 1 && l->pipeline > 1)
        export_note(e, "messages between stages of which each tensor rank sends its part");
}

static void note_recompute(struct export *e)
{
    enum recompute mode;
    if (export_recompute(e, &mode) && mode == RECOMPUTE_NONE) return;
    export_note(e, "%s recomputation: %s", recompute_names[mode],
                e->plan->layout.pipeline > 1
                    ? "PipelineModule(activation_checkpoint_interval=1) of the model's code, where "
                      "it is full; DeepSpeed has no selective one"
                    : "deepspeed.checkpointing.checkpoint of the model's code, where it is full; "
                      "DeepSpeed has no selective one");
}

// What the model's code has to do; read by plumbline import deepspeed.
static void put_rest(struct export *e, struct json_writer *w)
{
    const struct job *job = &e->problem->job;
    const struct layout *l = &e->plan->layout;
    const struct {
        const char *key;
        int64_t value;
    } counts[] = {{"sequence", job->sequence}, {"tensor", l->tensor},
                  {"context", l->context},     {"pipeline", l->pipeline},
                  {"expert", l->expert},       {"virtual_stages", l->virtual_stages}};
    const struct {
        const char *key;
        bool value;
    } flags[] = {{"sequence_parallel", l->sequence_parallel},
                 {"unfused_attention", !l->fused_attention},
                 {"fp8", job->precision == FP8},
                 {"fused_loss", job->fused_loss},
                 {"compiled", job->compiled},
                 {"unfused_norms", job->unfused[UNFUSED_NORMS]},
                 {"unfused_rotary", job->unfused[UNFUSED_ROTARY]},
                 {"unfused_activation", job->unfused[UNFUSED_ACTIVATION]},
                 {"gathered_logits", job->gathered_logits},
                 {"scattered_messages", job->scattered_messages}};
    enum recompute mode = e->plan->stages[0].recompute;
    for (int s = 1; s < e->plan->stage_count; s++)
        if (e->plan->stages[s].recompute != mode) mode = RECOMPUTE_FULL;
    for (size_t i = 0; i < ARRAY_LENGTH(counts); i++)
        json_put_count(w, counts[i].key, counts[i].value);
    for (size_t i = 0; i < ARRAY_LENGTH(flags); i++)
        if (flags[i].value) json_put_bool(w, flags[i].key, true);
    json_put_text(w, "schedule", schedule_names[l->schedule]);
    json_put_text(w, "recompute", recompute_names[mode]);
    if (job->attention_kernel != ATTENTION_MAKER)
        json_put_text(w, "attention_kernel", attention_kernel_names[job->attention_kernel]);
}

static void put_notes(struct export *e, struct json_writer *w)
{
    json_open_object(w, "plumbline");
    json_put_text(w, "about", export_headline(e));
    put_rest(e, w);
    json_open_array(w, "not_expressed");
    for (const char *note = e->notes.text, *end; *note; note = end + 1) {
        end = strchr(note, '\n');
        note += strlen(NOTE_MARK);
        json_put_text(w, NULL, arena_print(e->out->arena, "%.*s", (int)(end - note), note));
    }
    json_close_array(w);
    json_close_object(w);
}

enum status report_deepspeed(const struct plan *plan, const struct plan *told,
                             const struct problem *problem, const char **text, size_t *length,
                             struct arena *arena, struct error *err)
{
    struct report_out out;
    struct json_writer w;
    const struct layout *l = &plan->layout;
    struct export e = {.framework = "DeepSpeed", .trainer = TRAINER_DEEPSPEED, .told = told};
    TRY(export_begin(&e, &out, plan, problem, arena, err));
    json_begin(&w, arena);
    json_open_object(&w, NULL);
    json_put_count(&w, "train_batch_size", plan_micro_batches_together(plan) * l->micro_batch);
    json_put_count(&w, "train_micro_batch_size_per_gpu", l->micro_batch);
    json_put_count(&w, "gradient_accumulation_steps", plan->micro_batches);
    put_precision(&e, &w);
    put_zero(&e, &w);
    note_pipeline(&e);
    note_recompute(&e);
    note_model(&e);
    if (!problem->job.adam) export_note(&e, "an optimizer without state: set in the script");
    else export_note(&e, "Adam with its learning rate: set in the script or by the key optimizer");
    export_common_notes(&e);
    put_notes(&e, &w);
    json_close_object(&w);
    *text = json_end(&w, length);
    return OK;
}
