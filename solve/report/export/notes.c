// What no framework's configuration expresses of a plan, in words.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "solve/report/export/internal.h"

enum status export_begin(struct export *e, struct report_out *out, const struct plan *plan,
                         const struct problem *problem, struct arena *arena, struct error *err)
{
    if (!plan->stage_count)
        return fail(err, BAD_INPUT, "the plan has no stages (%s): there is nothing to launch",
                    outcome_names[plan->outcome]);
    if (!problem)
        return fail(err, BAD_INPUT,
                    "%s: its problem is missing or has changed since: it gives model, precision "
                    "and sequence",
                    plan->document.path);
    report_out_begin(out, arena);
    report_out_begin(&e->notes, arena);
    e->out = out, e->plan = plan, e->problem = problem;
    return OK;
}

void export_note(struct export *e, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t size = (size_t)vsnprintf(NULL, 0, format, arguments) + 1;
    char *note = arena_take(e->out->arena, size, 1);
    vsnprintf(note, size, format, again);
    va_end(again);
    va_end(arguments);
    report_print(&e->notes, NOTE_MARK "%s\n", note);
}

static int64_t export_gpus(const struct plan *plan)
{
    return plan->layout.pipeline * plan->devices_per_stage;
}

char export_layer(const struct export *e, int layer)
{
    return report_layer_letter(&e->problem->model, layer);
}

const char *export_headline(const struct export *e)
{
    return arena_print(
        e->out->arena,
        "%s configuration of the plan %s: %s per iteration on %" PRId64 " GPUs. By plumbline %s.",
        e->framework, e->plan->name ? e->plan->name : "",
        report_time(e->plan->iteration_ns, e->out->arena), export_gpus(e->plan), PLUMBLINE_VERSION);
}

// ---- recomputation

static bool recomputes_all(const struct export *e, const struct plan_stage *stage)
{
    int some = 0;
    for (int i = 0; i < stage->layer_count; i++)
        some += strchr("tm", export_layer(e, stage->first_layer + i)) != NULL;
    return stage->recompute == RECOMPUTE_FULL ||
           (stage->recompute == RECOMPUTE_FIRST_LAYERS && stage->recomputed_layers >= some);
}

static bool stages_agree(const struct export *e, enum recompute *mode)
{
    const struct plan_stage *stages = e->plan->stages;
    *mode = recomputes_all(e, &stages[0]) ? RECOMPUTE_FULL : stages[0].recompute;
    for (int s = 0; s < e->plan->stage_count; s++)
        if (*mode == RECOMPUTE_FULL ? !recomputes_all(e, &stages[s]) : stages[s].recompute != *mode)
            return false;
    return *mode != RECOMPUTE_FIRST_LAYERS && *mode != RECOMPUTE_SWAP;
}

bool export_one_recompute(const struct plan *plan, const struct problem *problem)
{
    enum recompute mode;
    const struct export e = {.plan = plan, .problem = problem};
    return stages_agree(&e, &mode);
}

bool export_recompute(struct export *e, enum recompute *mode)
{
    struct report_out text;
    if (stages_agree(e, mode)) return true;
    *mode = e->told ? e->told->stages[0].recompute : RECOMPUTE_FULL;
    report_out_begin(&text, e->out->arena);
    for (int s = 0; s < e->plan->stage_count; s++) {
        const struct plan_stage *stage = &e->plan->stages[s];
        report_print(&text, "%s stage %d %s", s ? "," : "", s,
                     decision_recompute_text(&stage->decision, e->out->arena));
    }
    export_note(e,
                "recomputation that differs between layers or stages: %s has only one setting; %s. "
                "The plan:%s",
                e->framework,
                e->told ? report_told_text(e->plan, e->told, false, e->out->arena)
                        : "all layers are recomputed, which takes more time",
                text.text);
    return false;
}

// ---- what no configuration expresses

static void note_layout(struct export *e)
{
    const struct layout *l = &e->plan->layout;
    if (!l->barrier) export_note(e, "iterations that follow each other without a barrier");
    if (l->local_loss_every)
        export_note(e, "local losses, one every %d stages: gradients go back over every boundary",
                    l->local_loss_every);
    if (l->slice_count > 1)
        export_note(e, "%d slices of a sequence that follow each other: micro-batches go whole",
                    l->slice_count);
    if (l->fused_embedding_sync) export_note(e, "the fused embedding synchronisation");
}

static void note_places(struct export *e)
{
    const struct plan *plan = e->plan;
    const struct plan_placement *x = plan->placement;
    if (x)
        export_note(e, "which node has which rank: plumbline report --format hostfile, rankfile or "
                       "hosts");
    for (int s = 1; !x && s < plan->stage_count; s++)
        if (plan->stages[s].group != plan->stages[0].group) {
            export_note(e, "stages on unlike node groups: set by the order of the hosts");
            break;
        }
}

static void note_model(struct export *e)
{
    const struct model *m = &e->problem->model;
    bool frozen = false, unknown = false;
    for (int i = 0; i < m->run_count; i++) frozen |= m->runs[i].frozen;
    for (int i = 0; i < m->layer_count; i++) unknown |= export_layer(e, i) == '?';
    if (frozen) export_note(e, "frozen layers and their adapters: set in the model's code");
    if (unknown) export_note(e, "layers that are neither embedding, decoder layer nor head");
    if (e->problem->job.trainer != e->trainer)
        export_note(e, "the trainer %s: times and memory are priced for it, not for %s",
                    trainer_names[e->problem->job.trainer], e->framework);
}

static void note_unfused(struct export *e)
{
    for (int i = 0; i < UNFUSED_COUNT; i++)
        if (e->problem->job.unfused[i])
            export_note(e, "%s in single steps: set in the model's code", unfused_names[i]);
}

void export_common_notes(struct export *e)
{
    report_compression_notes(&e->notes, e->plan);
    report_uneven_note(&e->notes, e->plan);
    note_layout(e);
    note_places(e);
    note_model(e);
    note_unfused(e);
}

void export_print_notes(const struct export *e)
{
    report_print(e->out, "\n# Not expressed by this configuration:\n");
    report_print(e->out, "%s", e->notes.length ? e->notes.text : "#   (nothing)\n");
}
