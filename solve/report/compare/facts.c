// The facts that are compared: one line each, with the text for each plan.
#include <inttypes.h>

#include "data/inputs/framework.h"
#include "data/kinds/schedules.h"
#include "solve/report/compare/compare.h"

typedef const char *fact_function(const struct comparison *c, const struct compared_plan *p);

struct fact {
    const char *name;
    fact_function *say; // "-": nothing to say
};

static void put_facts(struct comparison *c, const char *title, const struct fact *facts, int count)
{
    struct report_table *t = compare_open(c, title);
    for (int i = 0; i < count; i++) {
        int known = 0, first = t->cell_count;
        report_cell(t, facts[i].name);
        for (int k = 0; k < c->count; k++) {
            const char *said = facts[i].say(c, &c->plans[k]);
            known += *said != '-';
            report_cell(t, said);
        }
        if (!known) t->cell_count = first;
    }
    if (!t->cell_count) c->section_count--;
}

// ---- time

static const char *iteration(const struct comparison *c, const struct compared_plan *p)
{
    return report_time(p->of.plan->iteration_ns, c->arena);
}

static const char *against_first(const struct comparison *c, const struct compared_plan *p)
{
    double first = (double)c->plans[0].of.plan->iteration_ns;
    return arena_print(c->arena, "x %.4f", (double)p->of.plan->iteration_ns / first);
}

static const char *objective(const struct comparison *c, const struct compared_plan *p)
{
    const struct plan *plan = p->of.plan;
    if (plan->objective == OBJECTIVE_ITERATION_TIME) return "-";
    return arena_print(c->arena, "%s %s", objective_names[plan->objective],
                       report_time(plan->objective_ns, c->arena));
}

static const char *bound(const struct comparison *c, const struct compared_plan *p)
{
    const struct plan *plan = p->of.plan;
    if (!plan->bound_ns) return "none";
    return arena_print(c->arena, "%s (%s)", report_time(plan->bound_ns, c->arena),
                       plan_claim_words(plan, c->arena));
}

static const char *gap(const struct comparison *c, const struct compared_plan *p)
{
    if (!p->of.plan->bound_ns) return "none";
    return arena_print(c->arena, "%.4g %%", 100 * plan_gap(p->of.plan));
}

static const char *left_open(const struct comparison *c, const struct compared_plan *p)
{
    const struct plan *plan = p->of.plan;
    if (!plan->iteration_high_ns) return "-";
    return arena_print(c->arena, "%s to %s", report_time(plan->iteration_low_ns, c->arena),
                       report_time(plan->iteration_high_ns, c->arena));
}

// ---- layout

static const char *gpus(const struct comparison *c, const struct compared_plan *p)
{
    const struct plan *plan = p->of.plan;
    return arena_print(c->arena, "%" PRId64, plan->layout.pipeline * plan->devices_per_stage);
}

static const char *degrees(const struct comparison *c, const struct compared_plan *p)
{
    const struct layout *l = &p->of.plan->layout;
    const char *text = arena_print(c->arena, "%d x %s x %d", l->pipeline,
                                   layout_tensor_text(l, c->arena), l->data);
    if (l->context > 1) text = arena_print(c->arena, "%s, context %d", text, l->context);
    return l->expert > 1 ? arena_print(c->arena, "%s, expert %d", text, l->expert) : text;
}

static const char *schedule(const struct comparison *c, const struct compared_plan *p)
{
    const struct layout *l = &p->of.plan->layout;
    if (l->virtual_stages == 1) return schedule_names[l->schedule];
    return arena_print(c->arena, "%s x %d", schedule_names[l->schedule], l->virtual_stages);
}

static const char *micro_batches(const struct comparison *c, const struct compared_plan *p)
{
    return arena_print(c->arena, "%d of %d", p->of.plan->micro_batches,
                       p->of.plan->layout.micro_batch);
}

static const char *slices(const struct comparison *c, const struct compared_plan *p)
{
    int count = p->of.plan->layout.slice_count;
    return count > 1 ? arena_print(c->arena, "%d", count) : "-";
}

static const char *states(const struct comparison *c, const struct compared_plan *p)
{
    const struct layout *l = &p->of.plan->layout;
    return arena_print(c->arena, "ZeRO %d%s, sync %s", l->zero,
                       l->offload_optimizer ? ", offloaded" : "",
                       gradient_sync_names[l->gradient_sync]);
}

static const char *switches(const struct comparison *c, const struct compared_plan *p)
{
    const struct layout *l = &p->of.plan->layout;
    const char *text = arena_print(
        c->arena, "%s%s%s%s", l->sequence_parallel ? ", sequence parallel" : "",
        l->fused_attention ? ", fused attention" : "",
        l->fused_embedding_sync ? ", fused embedding sync" : "", l->barrier ? "" : ", no barrier");
    return *text ? text + 2 : "-";
}

// ---- figures

static bool find_figures(struct figures *f, const struct compared_plan *p)
{
    if (!p->of.problem || p->of.plan->iteration_ns <= 0) return false;
    report_figures_of(f, p->of.plan, p->of.problem);
    return true;
}

static const char *tokens(const struct comparison *c, const struct compared_plan *p)
{
    struct figures f;
    return find_figures(&f, p) ? arena_print(c->arena, "%.6g", f.tokens_per_s) : "-";
}

static const char *flop(const struct comparison *c, const struct compared_plan *p)
{
    struct figures f;
    if (!find_figures(&f, p) || !(f.model_flop_per_s > 0)) return "-";
    return arena_print(c->arena, "%.4g", f.model_flop_per_s / (double)f.gpus / 1e12);
}

static const char *mfu(const struct comparison *c, const struct compared_plan *p)
{
    struct figures f;
    if (!find_figures(&f, p) || !(f.model_flop_per_s > 0) || f.gpu_without_peak) return "-";
    return arena_print(c->arena, "%.2f %%", 100 * f.model_flop_per_s / f.peak_flop_per_s);
}

static const char *price(const struct comparison *c, const struct compared_plan *p)
{
    struct figures f;
    if (!find_figures(&f, p) || !(f.price_per_million_tokens > 0)) return "-";
    return arena_print(c->arena, "%.4g", f.price_per_million_tokens);
}

static const char *run_hours(const struct comparison *c, const struct compared_plan *p)
{
    struct figures f;
    if (!find_figures(&f, p) || !(f.run_hours > 0)) return "-";
    return arena_print(c->arena, "%.1f h", f.run_hours);
}

static const char *run_price(const struct comparison *c, const struct compared_plan *p)
{
    struct figures f;
    if (!find_figures(&f, p) || !(f.run_price > 0)) return "-";
    return arena_print(c->arena, "%.0f", f.run_price);
}

// ---- where the time goes, in an average rank

static const char *part_of(const struct comparison *c, const struct compared_plan *p, int64_t ns)
{
    double whole = p->replay.iteration_ns > 0 ? (double)p->replay.iteration_ns : 1;
    if (!ns) return "-";
    return arena_print(c->arena, "%s, %.1f %%", report_time(ns, c->arena),
                       100 * (double)ns / whole);
}

static const char *forward(const struct comparison *c, const struct compared_plan *p)
{
    return part_of(c, p, p->use.compute_ns[SYMBOL_FORWARD]);
}
static const char *backward(const struct comparison *c, const struct compared_plan *p)
{
    return part_of(c, p, p->use.compute_ns[SYMBOL_BACKWARD]);
}
static const char *weight(const struct comparison *c, const struct compared_plan *p)
{
    return part_of(c, p, p->use.compute_ns[SYMBOL_WEIGHT]);
}
static const char *blocked(const struct comparison *c, const struct compared_plan *p)
{
    return part_of(c, p, p->use.blocked_ns);
}
static const char *sync(const struct comparison *c, const struct compared_plan *p)
{
    return part_of(c, p, p->use.sync_ns);
}
static const char *optimizer(const struct comparison *c, const struct compared_plan *p)
{
    return part_of(c, p, p->use.optimizer_ns);
}
static const char *bubble(const struct comparison *c, const struct compared_plan *p)
{
    return part_of(c, p, p->use.idle_ns);
}

// ---- memory of the fullest GPU

static const char *fullest(const struct comparison *c, const struct compared_plan *p)
{
    return arena_print(c->arena, "%s %d", p->of.plan->ranks ? "rank" : "stage", p->fullest);
}
static const char *gigabytes(const struct comparison *c, int64_t bytes)
{
    return bytes ? report_gigabytes(bytes, c->arena) : "-";
}
static const char *weights(const struct comparison *c, const struct compared_plan *p)
{
    return gigabytes(c, p->memory->weight_bytes);
}
static const char *gradients(const struct comparison *c, const struct compared_plan *p)
{
    return gigabytes(c, p->memory->gradient_bytes);
}
static const char *optimizer_state(const struct comparison *c, const struct compared_plan *p)
{
    return gigabytes(c, p->memory->optimizer_bytes);
}
static const char *activations(const struct comparison *c, const struct compared_plan *p)
{
    return gigabytes(c, p->memory->activation_bytes);
}
static const char *working(const struct comparison *c, const struct compared_plan *p)
{
    return gigabytes(c, p->memory->working_bytes + p->memory->buffer_bytes +
                            p->memory->feedback_bytes);
}
static const char *constant(const struct comparison *c, const struct compared_plan *p)
{
    return gigabytes(c, p->memory->constant_bytes);
}
static const char *total(const struct comparison *c, const struct compared_plan *p)
{
    int64_t bytes = memory_total(p->memory);
    return arena_print(c->arena, "%s%s", report_gigabytes(bytes, c->arena),
                       bytes > p->limit_bytes ? " OVER" : "");
}
static const char *limit(const struct comparison *c, const struct compared_plan *p)
{
    return gigabytes(c, p->limit_bytes);
}

// ----

static void put_path(struct comparison *c)
{
    struct report_table *t = compare_open(c, "Critical path");
    struct report_path_parts *parts = TAKE(c->arena, c->count, struct report_path_parts);
    for (int k = 0; k < c->count; k++) parts[k] = report_path_parts_of(&c->plans[k].replay);
    for (int class = 0; class < REPORT_PATH_CLASSES; class ++) {
        int64_t any = 0;
        for (int k = 0; k < c->count; k++) any += parts[k].ns[class];
        if (!any) continue;
        report_cell(t, report_path_class_names[class]);
        for (int k = 0; k < c->count; k++)
            report_cell(t, part_of(c, &c->plans[k], parts[k].ns[class]));
    }
}

void compare_facts(struct comparison *c)
{
    static const struct fact times[] = {{"iteration", iteration},
                                        {"against the first", against_first},
                                        {"minimised", objective},
                                        {"bound", bound},
                                        {"gap", gap},
                                        {"cost uncertainty", left_open}};
    static const struct fact layouts[] = {
        {"GPUs", gpus},         {"pipeline x tensor x data", degrees},
        {"schedule", schedule}, {"micro-batches", micro_batches},
        {"slices", slices},     {"states", states},
        {"switches", switches}};
    static const struct fact figures[] = {{"tokens/s", tokens}, {"TFLOP/s per GPU", flop},
                                          {"MFU", mfu},         {"price of 1e6 tokens", price},
                                          {"run", run_hours},   {"price of the run", run_price}};
    static const struct fact uses[] = {{"forward", forward},
                                       {"backward, with recomputation", backward},
                                       {"weight gradients", weight},
                                       {"in transfers", blocked},
                                       {"gradient sync", sync},
                                       {"optimizer", optimizer},
                                       {"bubble", bubble}};
    static const struct fact memories[] = {{"of", fullest},
                                           {"weights", weights},
                                           {"gradients", gradients},
                                           {"optimizer", optimizer_state},
                                           {"activations", activations},
                                           {"working, buffers", working},
                                           {"constant", constant},
                                           {"total", total},
                                           {"limit", limit}};
    put_facts(c, "Time", times, ARRAY_LENGTH(times));
    put_facts(c, "Layout", layouts, ARRAY_LENGTH(layouts));
    put_facts(c, "Figures", figures, ARRAY_LENGTH(figures));
    put_facts(c, "Where the time of an average rank goes", uses, ARRAY_LENGTH(uses));
    put_path(c);
    put_facts(c, "Memory of the fullest GPU, in GB", memories, ARRAY_LENGTH(memories));
}
