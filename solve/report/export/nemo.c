// A plan as YAML for NeMo's Megatron Bridge: sections and fields of its ConfigContainer, which a
// script merges into a recipe (process_config_with_overrides).
#include <string.h>

#include "solve/report/export/internal.h"

// The registered mixed-precision recipe, which sets the width of gradients regardless of ddp; with
// gradients of the other width, what is in it (training/mixed_precision.py).
static void set_precision(struct run *r)
{
    static const struct {
        const char *recipe, *eight;
    } known[] = {[BF16] = {"bf16_mixed", ""},
                 [FP16] = {"fp16_mixed", ""},
                 [FP8] = {"bf16_with_fp8_delayed_scaling_mixed",
                          "fp8: hybrid, fp8_recipe: delayed, fp8_amax_history_len: 1024, "
                          "fp8_amax_compute_algo: max, fp8_param_gather: true, "},
                 [FP8_BLOCK] = {"bf16_with_fp8_subchannel_scaling_mixed",
                                "fp8: hybrid, fp8_recipe: blockwise, "},
                 [MXFP8] = {"bf16_with_mxfp8_mixed",
                            "fp8: e4m3, fp8_recipe: mxfp8, fp8_param_gather: true, "
                            "reuse_grad_buf_for_mxfp8_param_ag: true, "},
                 [NVFP4] = {"bf16_with_nvfp4_mixed",
                            "fp4: e2m1, fp4_recipe: nvfp4, fp4_param_gather: true, "},
                 [FP32] = {NULL, NULL}};
    const struct job *job = &r->job;
    bool wide = job->gradient_bytes_per_value == 4, half = job->precision == FP16;
    r->precision = known[job->precision].recipe;
    if (!r->precision || wide != half) return;
    const char *type = half ? "{_target_: torch.float16, _call_: false}"
                            : "{_target_: torch.bfloat16, _call_: false}";
    r->precision = arena_print(
        r->arena,
        "{_target_: megatron.bridge.training.mixed_precision.MixedPrecisionConfig, bf16: %s, "
        "fp16: %s, params_dtype: %s, pipeline_dtype: %s, %sgrad_reduce_in_fp32: %s}",
        half ? "false" : "true", half ? "true" : "false", type, type, known[job->precision].eight,
        wide ? "true" : "false");
}

// Gemma 3: its layers' class has windows, bases and the scale of scores in keys of its own. The
// recipe is any of that class.
static void set_provider(struct export *e, struct run *r)
{
    const struct known_model *known = known_model(&e->problem->model, r->arena);
    if (!known || !known->provider) return;
    r->provider = known->provider, r->windowed = NULL, r->rotary = r->plain_rotary = false;
    r->window = arena_print(r->arena, "%lld", (long long)e->problem->model.runs[1].window);
    r->bases = arena_print(r->arena, "[%.9g, %.9g]", known->window_base, r->shape.rotary_base);
    r->stretch = r->shape.rotary_factor, r->interpolation = 0;
    r->score_scale = 1 / sqrt(known->query_width);
    text_put(e->out, "# The recipe's model is of the class %s:\n# gemma3_1b_pretrain_config is.\n",
             strrchr(known->provider, '.') + 1);
}

enum status report_nemo(struct text *out, const struct plan *plan, const struct problem *problem,
                        struct error *err)
{
    static const struct export_form form = {
        .values = {.yes = "true", .no = "false", .quote = "\"", .bare = true, .pointed = true},
        .open = "",
        .close = ":",
        .before = "  ",
        .between = ": ",
        .behind = "\n",
        .top_bare = true};
    struct export e = {.name = "NeMo", .framework = FRAMEWORK_NEMO, .places_said = true};
    TRY(export_begin(&e, out, plan, problem, err));
    TRY(export_need_problem(&e, err));
    text_put(out,
             "# %s\n# Of Megatron Bridge: --config-file of a script that merges it into a "
             "recipe (process_config_with_overrides),\n# with data, tokenizer and learning "
             "rate.\n",
             export_headline(&e));
    struct run run = core_run(&e);
    set_provider(&e, &run);
    core_set_recompute(&run, export_recompute(&e));
    run.odd_heads = run.plain;
    if (run.latent) run.rope_type = "yarn"; // a factor of 1 scales nothing
    if (run.latent && !(run.yarn > 0)) run.yarn = 1;
    set_precision(&run);
    // Overrides that are texts do not become members of an enumeration; one that is built does.
    run.backend = plan->layout.fused_attention ? NULL
                                               : "{_target_: megatron.core.transformer.enums."
                                                 "AttnBackend, _call_: true, _args_: [3]}";
    if (run.shape.positions && run.shape.positions != run.job.sequence)
        export_note(&e, "learned positions for %lld tokens: the provider has a sequence's",
                    (long long)run.shape.positions);
    export_rows(&e, &nemo_rows, &run, &form, NULL);
    core_print_placement(&e);
    core_note(&e, &run);
    export_print_notes(&e);
    return OK;
}
