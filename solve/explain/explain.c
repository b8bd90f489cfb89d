// See explain.h.
#include "solve/explain/internal.h"

// The plan of the run as it is, for its use of time.
static void make_plan(struct explained *x)
{
    struct error err = {OK, ""};
    if (*x->own.reason) return;
    if (placement_plan(&x->plan, &x->problem, &x->placement, x->arena, &err) == OK) return;
    x->plan.stage_count = 0;
    x->plan_missing = arena_copy_text(x->arena, err.text);
}

enum status explain_log(struct explained *x, const char *path,
                        const struct explain_settings *settings, struct arena *arena,
                        struct error *err)
{
    struct predict_settings predict = {.cluster = settings->cluster,
                                       .costs = settings->costs,
                                       .margin = settings->margin,
                                       .likeness = settings->likeness,
                                       .ranges = true,
                                       .operations_kept = 1 << 16};
    *x = (struct explained){.settings = *settings, .arena = arena, .why = ""};
    TRY(log_read(&x->log, path, settings->run, arena, err));
    TRY(predictor_open(&x->predictor, &predict, arena, err));
    TRY(explain_assemble(x, err));
    explain_certify(x);
    explain_judge(x);
    explain_changes(x);
    explain_layouts(x);
    make_plan(x);
    return OK;
}
