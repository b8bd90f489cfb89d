// The facts that are compared: one line each, with the text for each plan.
#include <inttypes.h>

#include "data/kinds/schedules.h"
#include "solve/report/compare/compare.h"

// What is said of a plan by a function, or by how a member of what is known of it is shown.
struct fact {
    const char *name;
    const char *(*say)(const struct comparison *c, const struct compared_plan *p); // "-": nothing
    const char *(*show)(const struct comparison *c, const struct compared_plan *p,
                        const struct fact *f);
    size_t at;          // of the member
    const char *format; // of a figure
};
#define SHOWN(name, show, member)                                                                  \
    {                                                                                              \
        name, NULL, show, offsetof(struct compared_plan, member), NULL                             \
    }
#define FIGURE(name, format, member)                                                               \
    {                                                                                              \
        name, NULL, figure, offsetof(struct compared_plan, figures.member), format                 \
    }

static void put_facts(struct comparison *c, const char *title, const struct fact *facts, int count)
{
    struct report_table *t = compare_open(c, title);
    for (int i = 0; i < count; i++) {
        int known = 0, first = t->cell_count;
        report_cell(t, facts[i].name);
        for (int k = 0; k < c->count; k++) {
            const struct compared_plan *p = &c->plans[k];
            const char *said = facts[i].say ? facts[i].say(c, p) : facts[i].show(c, p, &facts[i]);
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
                       report_value(plan, plan->objective_ns, c->arena));
}

static const char *bound(const struct comparison *c, const struct compared_plan *p)
{
    const struct plan *plan = p->of.plan;
    if (!plan->bound_ns) return "none";
    return arena_print(c->arena, "%s (%s)", report_value(plan, plan->bound_ns, c->arena),
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
    return arena_print(c->arena, "%" PRId64, plan_devices(p->of.plan));
}

static const char *degrees(const struct comparison *c, const struct compared_plan *p)
{
    const struct layout *l = &p->of.plan->layout;
    if (p->of.plan->widths) return arena_print(c->arena, "%d, each stage its own", l->pipeline);
    const char *text = arena_print(c->arena, "%d x %s x %d", l->pipeline,
                                   layout_tensor_text(l, c->arena), l->data);
    if (l->context > 1)
        text = arena_print(c->arena, "%s, context %s", text, layout_context_text(l, c->arena));
    return arena_print(c->arena, "%s%s", text, layout_experts_text(l, c->arena));
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

static const char *in_flight(const struct comparison *c, const struct compared_plan *p)
{
    return report_in_flight(&p->of.plan->layout, c->arena);
}

static const char *states(const struct comparison *c, const struct compared_plan *p)
{
    const struct layout *l = &p->of.plan->layout;
    bool groups = layout_data_shard(l) < l->data;
    return arena_print(c->arena, "ZeRO %d%s%s, sync %s", l->zero,
                       groups ? arena_print(c->arena, " over %d", l->data_shard) : "",
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

// ---- members of what is known of a plan

static const char *figure(const struct comparison *c, const struct compared_plan *p,
                          const struct fact *f)
{
    double value = *(const double *)((const char *)p + f->at);
    return value > 0 ? arena_print(c->arena, f->format, value) : "-";
}

static const char *part_of(const struct comparison *c, const struct compared_plan *p, int64_t ns)
{
    double whole = p->replay.iteration_ns > 0 ? (double)p->replay.iteration_ns : 1;
    if (!ns) return "-";
    return arena_print(c->arena, "%s, %.1f %%", report_time(ns, c->arena),
                       100 * (double)ns / whole);
}

static const char *part(const struct comparison *c, const struct compared_plan *p,
                        const struct fact *f)
{
    return part_of(c, p, *(const int64_t *)((const char *)p + f->at));
}

static const char *gigabytes(const struct comparison *c, const struct compared_plan *p,
                             const struct fact *f)
{
    int64_t bytes = *(const int64_t *)((const char *)p + f->at);
    return bytes ? report_gigabytes(bytes, c->arena) : "-";
}

// ---- memory of the fullest GPU

static const char *fullest(const struct comparison *c, const struct compared_plan *p)
{
    return arena_print(c->arena, "%s %d", p->of.plan->ranks ? "rank" : "stage", p->fullest);
}
static const char *working(const struct comparison *c, const struct compared_plan *p)
{
    const struct memory_parts *m = &p->memory;
    int64_t bytes = m->working_bytes + m->buffer_bytes + m->feedback_bytes;
    return bytes ? report_gigabytes(bytes, c->arena) : "-";
}
static const char *total(const struct comparison *c, const struct compared_plan *p)
{
    int64_t bytes = memory_total(&p->memory);
    return arena_print(c->arena, "%s%s", report_gigabytes(bytes, c->arena),
                       bytes > p->limit_bytes ? " OVER" : "");
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
    static const struct fact times[] = {{"iteration", .say = iteration},
                                        {"against the first", .say = against_first},
                                        {"minimised", .say = objective},
                                        {"bound", .say = bound},
                                        {"gap", .say = gap},
                                        {"cost uncertainty", .say = left_open}};
    static const struct fact layouts[] = {
        {"GPUs", .say = gpus},         {"pipeline x tensor x data", .say = degrees},
        {"schedule", .say = schedule}, {"micro-batches", .say = micro_batches},
        {"slices", .say = slices},     {"in flight, by stage", .say = in_flight},
        {"states", .say = states},     {"switches", .say = switches}};
    static const struct fact figures[] = {
        FIGURE("tokens/s", "%.6g", tokens_per_s),
        FIGURE("TFLOP/s per GPU", "%.4g", tflops_per_gpu),
        FIGURE("MFU", "%.2f %%", mfu_percent),
        FIGURE("MFU, causal", "%.2f %%", causal_mfu_percent),
        FIGURE("price of 1e6 tokens", "%.4g", price_per_million_tokens),
        FIGURE("run", "%.1f h", run_hours),
        FIGURE("price of the run", "%.0f", run_price)};
    static const struct fact uses[] = {
        SHOWN("forward", part, use.compute_ns[SYMBOL_FORWARD]),
        SHOWN("backward, with recomputation", part, use.compute_ns[SYMBOL_BACKWARD]),
        SHOWN("weight gradients", part, use.compute_ns[SYMBOL_WEIGHT]),
        SHOWN("in transfers", part, use.blocked_ns),
        SHOWN("gradient sync", part, use.sync_ns),
        SHOWN("optimizer", part, use.optimizer_ns),
        SHOWN("bubble", part, use.idle_ns)};
    static const struct fact memories[] = {{"of", .say = fullest},
                                           SHOWN("weights", gigabytes, memory.weight_bytes),
                                           SHOWN("gradients", gigabytes, memory.gradient_bytes),
                                           SHOWN("optimizer", gigabytes, memory.optimizer_bytes),
                                           SHOWN("activations", gigabytes, memory.activation_bytes),
                                           {"working, buffers", .say = working},
                                           SHOWN("constant", gigabytes, memory.constant_bytes),
                                           {"total", .say = total},
                                           SHOWN("limit", gigabytes, limit_bytes)};
    put_facts(c, "Time", times, ARRAY_LENGTH(times));
    put_facts(c, "Layout", layouts, ARRAY_LENGTH(layouts));
    put_facts(c, "Figures", figures, ARRAY_LENGTH(figures));
    put_facts(c, "Where the time of an average rank goes", uses, ARRAY_LENGTH(uses));
    put_path(c);
    put_facts(c, "Memory of the fullest GPU, in GB", memories, ARRAY_LENGTH(memories));
}
