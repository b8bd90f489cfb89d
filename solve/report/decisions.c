// What is decided of a stage in words, one row a decision: what reports, comparisons and what-ifs
// say of it.
#include "solve/report/report.h"

static const char *recompute(const struct plan *plan, const struct decision *d, struct arena *arena)
{
    (void)plan;
    return d->recompute == RECOMPUTE_NONE ? "" : decision_recompute_text(d, arena);
}

static const char *form(const struct compression_option *o, struct arena *arena)
{
    if (!o->form.amount) return "";
    return arena_print(arena, "%s%s", compression_text(o->form, arena),
                       o->epilogue_only ? " (drain)" : "");
}

static const char *gradient(const struct plan *plan, const struct decision *d, struct arena *arena)
{
    return form(&plan->gradient_options[d->gradient_option], arena);
}

static const char *backward(const struct plan *plan, const struct decision *d, struct arena *arena)
{
    return form(&plan->boundary_options[d->boundary_option], arena);
}

static const char *tiers(const struct plan *plan, const struct decision *d, struct arena *arena)
{
    const char *name = plan->gradient_options[d->gradient_option].tier_option;
    (void)arena;
    return name ? name : "";
}

static const char *sharded(const struct plan *plan, const struct decision *d, struct arena *arena)
{
    (void)plan;
    return d->sharded_layers ? arena_print(arena, "%d sharded", d->sharded_layers) : "";
}

static const char *vocabulary(const struct plan *plan, const struct decision *d,
                              struct arena *arena)
{
    (void)plan;
    return d->vocabulary_tensor ? arena_print(arena, "over %d", d->vocabulary_tensor) : "";
}

const struct report_decision report_decisions[] = {
    {"recomputation", "", recompute},
    {"sharded layers", "first ", sharded},
    {"tensor ranks of the vocabulary", "vocabulary ", vocabulary},
    {"compression of the gradient sync", "gradient ", gradient},
    {"compression backward", "backward ", backward},
    {"tiers", "", tiers},
    {NULL, NULL, NULL},
};

const char *report_options_text(const struct plan *plan, const struct decision *d,
                                struct arena *arena)
{
    const char *text = "";
    for (const struct report_decision *r = report_decisions + 1; r->what; r++) {
        const char *value = r->text(plan, d, arena);
        if (*value) text = arena_print(arena, "%s%s%s%s", text, *text ? ", " : "", r->label, value);
    }
    return text;
}
