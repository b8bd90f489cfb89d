// A plan as Megatron-LM flags: a bash array to be sourced. What the flags cannot express follows
// as comments, so that an incomplete export is not mistaken for the plan.
#include <inttypes.h>
#include <string.h>

#include "solve/report/export/internal.h"

extern const char megatron_layers[];

// Each process reads its own flags, those of its pipeline rank, which is the outermost in the rank
// order.
static void put_rank_recompute(const struct export *e)
{
    int ranks = e->plan->layout.pipeline;
    text_put(e->out, "\n# Recomputation differs between ranks of the pipeline: torchrun runs this "
                     "file, which adds their own flags.\n"
                     "MEGATRON_RECOMPUTE=(\n");
    for (int rank = 0; rank < ranks; rank++) {
        struct recompute_setting r;
        struct run own = {.arena = e->out->arena};
        export_setting(e, rank, ranks, &r);
        core_set_recompute(&own, r);
        text_put(e->out, "  '");
        if (own.granularity) text_put(e->out, "--recompute-granularity %s", own.granularity);
        if (own.modules) text_put(e->out, " --recompute-modules %s", own.modules);
        if (own.method)
            text_put(e->out, " --recompute-method %s --recompute-num-layers %d", own.method,
                     (int)own.recomputed);
        text_put(e->out, "'\n");
    }
    text_put(e->out,
             ")\nMEGATRON_RUN=(--no-python bash \"$(realpath \"${BASH_SOURCE[0]}\")\")\n"
             "if [ \"${BASH_SOURCE[0]}\" = \"$0\" ]; then\n"
             "    read -r -a own <<<\"${MEGATRON_RECOMPUTE[RANK * %d / WORLD_SIZE]}\"\n"
             "    exec \"${PYTHON:-python3}\" -u \"$@\" \"${own[@]}\"\n"
             "fi\n",
             ranks);
}

static void put_head(const struct export *e)
{
    const struct plan *plan = e->plan;
    struct arena *arena = e->out->arena;
    const char *bound = arena_print(arena, "at least %s", report_time(plan->bound_ns, arena));
    if (plan->objective != OBJECTIVE_ITERATION_TIME)
        bound = arena_print(arena, "%s of %s", bound, objective_names[plan->objective]);
    bound = plan->bound_ns ? arena_print(arena, "%s (%s)", bound, plan_claim_words(plan, arena))
                           : "without a bound";
    text_put(e->out,
             "# Megatron-LM flags of the plan %s: %s per iteration, %s. By plumbline %s.\n"
             "# In bash: source this file, then run %s%s.py \"${MEGATRON_ARGS[@]}\" with data, "
             "tokenizer and learning rate\n"
             "# on %" PRId64 " GPUs.\nMEGATRON_ARGS=(\n",
             plan->name ? plan->name : "", report_time(plan->iteration_ns, arena), bound,
             PLUMBLINE_VERSION, e->by_rank ? "torchrun OPTION ... \"${MEGATRON_RUN[@]}\" " : "",
             e->problem && model_is_hybrid(&e->problem->model) ? "pretrain_hybrid" : "pretrain_gpt",
             plan->layout.pipeline * plan->devices_per_stage);
}

const char *report_megatron_layer(const struct problem *problem, struct arena *arena)
{
    static const struct known_model none = {.shipped = NULL};
    const struct model *m = problem ? &problem->model : NULL;
    const char *layer = m ? core_layer(m, arena) : NULL;
    if (!layer) return NULL;
    bool whole = m->shape.qk_norm == QK_NORM_WHOLE, gemma = core_gemma_scale(layer) > 0;
    const struct layer_run *mixture = model_first_run(m, LAYER_MOE);
    int64_t experts = mixture ? mixture->experts.experts : 0;
    const struct known_model *known = known_model(m, arena);
    if (!known) known = &none;
    // Gemma 3: EVERY layers, of which all but the last have a window.
    const char *values[] = {"EXPERTS", arena_print(arena, "%" PRId64, experts),
                            "NORMS",   m->shape.rms_norm ? "RMSNorm" : "LayerNorm",
                            "EVERY",   arena_print(arena, "%d", m->runs[1].count + 1),
                            "BASE",    arena_print(arena, "%g", known->window_base),
                            "SCALED",  arena_print(arena, "%.9g", known->query_width),
                            "LAYER",   layer,
                            NULL};
    struct text text;
    text_begin(&text, arena);
    text_put_part(&text, megatron_layers, "head", values);
    if (whole) text_put_part(&text, megatron_layers, "whole_norm", values);
    if (gemma || !strcmp(layer, "norms_behind"))
        text_put_part(&text, megatron_layers, "behind", values);
    text_put_part(&text, megatron_layers, gemma ? CORE_LAYER_GEMMA : layer, values);
    return text.text;
}

enum status report_megatron(struct text *out, const struct plan *plan,
                            const struct problem *problem, struct error *err)
{
    static const struct export_form form = {.values = {.yes = "", .quote = "'", .bare = true},
                                            .before = "  --",
                                            .between = " ",
                                            .behind = "\n"};
    struct export e = {.name = "Megatron-LM",
                       .framework = FRAMEWORK_MEGATRON,
                       .by_rank = true,
                       .flags = true,
                       .places_said = true};
    TRY(export_begin(&e, out, plan, problem, err));
    struct run run = core_run(&e);
    struct recompute_setting one = export_recompute(&e);
    if (!e.by_rank) core_set_recompute(&run, one);
    if (!run.grouped) run.groups = 0;
    put_head(&e);
    export_rows(&e, &megatron_rows, &run, &form, NULL);
    text_put(out, ")\n");
    if (e.problem && core_layer(&e.problem->model, out->arena))
        text_put(out, "# plumbline_layer.py is in the folder of launch files.\n"
                      "export PYTHONPATH=\"$(dirname \"$(realpath "
                      "\"${BASH_SOURCE[0]}\")\")${PYTHONPATH:+:$PYTHONPATH}\"\n");
    if (e.by_rank) put_rank_recompute(&e);
    core_print_placement(&e);
    core_note(&e, &run);
    export_print_notes(&e);
    return OK;
}
