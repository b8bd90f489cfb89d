// The text report: verdict first, then where everything is, what it costs, and why it is not
// faster.
#include <inttypes.h>

#include "data/kinds/schedules.h"
#include "solve/report/report.h"

static void print_extrapolated(struct text *out, const struct plan *plan)
{
    for (int i = 0; i < plan->extrapolated_count; i++) {
        const struct plan_extrapolation *e = &plan->extrapolated[i];
        text_put(out,
                 "  beyond     %s of %s: used at %.3g to %.3g, fitted on %.3g to %.3g (%.3g "
                 "times; %s)\n",
                 e->cost, e->gpu, e->least, e->greatest, e->valid_low, e->valid_high,
                 plan_extrapolation_times(e), e->of);
    }
}

const char *report_interval(const struct plan *plan, struct arena *arena)
{
    double unit = plan->iteration_ns >= 1000000000 ? 1e9
                  : plan->iteration_ns >= 1000000  ? 1e6
                                                   : 1e3;
    if (!plan->iteration_high_ns) return "";
    return arena_print(arena, " (%.4g to %.4g)", (double)plan->iteration_low_ns / unit,
                       (double)plan->iteration_high_ns / unit);
}

static void print_verdict(struct text *out, const struct plan *plan)
{
    const char *title = plan->name ? plan->name : "plan",
               *outcome = plan_outcome_words(plan, out->arena),
               *claim = plan_claim_words(plan, out->arena);
    if (!plan->stage_count) {
        text_put(out, "%s: %s", title, outcome);
        text_put(out, plan->reason ? ": %s\n" : "%s\n", plan->reason ? plan->reason : "");
        if (plan->bound_ns > 0)
            text_put(out, "any plan takes at least %s (%s)\n",
                     report_value(plan, plan->bound_ns, out->arena), claim);
        return;
    }
    bool other = plan->objective != OBJECTIVE_ITERATION_TIME;
    text_put(out, "%s: %s per iteration%s, %s%s%s\n", title,
             report_time(plan->iteration_ns, out->arena), report_interval(plan, out->arena),
             outcome, other ? " for another objective: " : "",
             other ? objective_names[plan->objective] : "");
    if (other)
        text_put(out, "  objective  %s: %s%s, minimised instead of the iteration time\n",
                 objective_names[plan->objective],
                 report_value(plan, plan->objective_ns, out->arena),
                 plan->objective == OBJECTIVE_COST ? " of a GPU" : "");
    if (plan->placement && plan->placement->pipette)
        text_put(out,
                 "  of which   hops of the slowest pipeline %s, ring of the first stages %s, "
                 "ring within a node %s\n",
                 report_time(plan->placement->pipette->hops_ns, out->arena),
                 report_time(plan->placement->pipette->ring_ns, out->arena),
                 report_time(plan->placement->pipette->inner_ns, out->arena));
    if (plan->bound_ns)
        text_put(out, "  bound      %s (%s), gap %.4g %% (requested %.4g %%)\n",
                 report_value(plan, plan->bound_ns, out->arena), claim, 100 * plan_gap(plan),
                 100 * plan->gap_asked);
    else text_put(out, "  bound      none yet: the search ended before it had one\n");
    print_extrapolated(out, plan);
    if (!plan->iteration_high_ns) return;
    text_put(out, "  range      cost uncertainty: %s to %s",
             report_time(plan->iteration_low_ns, out->arena),
             report_time(plan->iteration_high_ns, out->arena));
    if (plan->runner_up_ns)
        text_put(out, "; the best of another layout, %s, is %s",
                 report_time(plan->runner_up_ns, out->arena),
                 plan->runner_up_inside ? "inside" : "outside");
    text_put(out, "\n");
}

static void print_slices(struct text *out, const struct layout *l)
{
    if (l->slice_count == 1) return;
    text_put(out, "  slices     of");
    for (int i = 0; i < l->slice_count; i++) text_put(out, "%s %d", i ? "," : "", l->slices[i]);
    text_put(out, " tokens\n");
}

static void print_layout(struct text *out, const struct plan *plan)
{
    const struct layout *l = &plan->layout;
    int64_t sequences = plan_micro_batches_together(plan) * l->micro_batch;
    const char *stages = l->virtual_stages > 1
                             ? arena_print(out->arena, "ranks of %d stages", l->virtual_stages)
                             : "stages",
               *expert = layout_experts_text(l, out->arena);
    if (plan->widths)
        text_put(out,
                 "  layout     %d pipeline stages, each with its own tensor x context x data = "
                 "%" PRId64 " GPUs\n",
                 l->pipeline, plan_devices(plan));
    else
        text_put(out,
                 "  layout     %d pipeline %s x %" PRId64
                 " GPUs (tensor %s, context %s, data %d%s) = %" PRId64 " GPUs\n",
                 l->pipeline, stages, plan->devices_per_stage, layout_tensor_text(l, out->arena),
                 layout_context_text(l, out->arena), l->data, expert,
                 l->pipeline * plan->devices_per_stage);
    text_put(out, "  schedule   %s, %d micro-batches of %d sequence%s%s\n",
             schedule_names[l->schedule], plan->micro_batches, l->micro_batch,
             l->micro_batch == 1 ? "" : "s",
             plan->placement && plan->placement->micro_batches ? " (of the slowest replica)" : "");
    text_put(out, "  fixed      gradient sync %s, ZeRO %d%s%s%s%s%s%s\n",
             gradient_sync_names[l->gradient_sync], l->zero,
             layout_data_shard(l) < l->data
                 ? arena_print(out->arena, " over groups of %d data ranks", l->data_shard)
                 : "",
             l->offload_optimizer ? ", offloaded optimizer" : "",
             l->sequence_parallel ? ", sequence parallel" : "",
             l->fused_attention ? ", fused attention" : "",
             l->fused_embedding_sync ? ", fused embedding sync" : "",
             l->barrier ? "" : ", no barrier");
    print_slices(out, l);
    if (l->in_flight[0])
        text_put(out, "  in flight  %s micro-batches at most, stage by stage\n",
                 report_in_flight(l, out->arena));
    if (l->local_loss_every)
        text_put(out, "  losses     local, one every %d stage%s%s\n", l->local_loss_every,
                 l->local_loss_every == 1 ? "" : "s", l->stored_inputs ? ", inputs stored" : "");
    if (plan->iteration_ns > 0)
        text_put(out, "  throughput %.4g sequences/s (%" PRId64 " sequences per iteration)\n",
                 (double)sequences / ((double)plan->iteration_ns / 1e9), sequences);
}

// The types that the job states or its framework has by default, and what the trainer overlaps,
// fuses or sends in parts in this layout.
static void print_job(struct text *out, const struct plan *plan, const struct problem *problem)
{
    struct job job = problem_with_layout(problem, &plan->layout).job;
    const char *before = "  switches   ";
    text_put(out, "  numerics   %s, gradients of %d bytes, %s (trainer %s)\n",
             precision_names[job.precision], job.gradient_bytes_per_value,
             job.adam ? "Adam" : "an optimizer without state", trainer_names[job.trainer]);
    for (int i = 0; i < SWITCH_COUNT; i++) {
        if (!*job_switch(&job, (enum trainer_switch)i)) continue;
        text_put(out, "%s%s", before, trainer_switch_names[i]);
        before = ", ";
    }
    if (*before == ',') text_put(out, "\n");
}

static bool plan_has_tiers(const struct plan *plan)
{
    bool some = false;
    for (int o = 0; o < plan->gradient_option_count; o++)
        some = some || plan->gradient_options[o].tier_option;
    return some;
}

static const char *range_text(int64_t first, int64_t last, struct arena *arena)
{
    if (last < first) return "none";
    return first == last ? arena_print(arena, "%" PRId64, first)
                         : arena_print(arena, "%" PRId64 "-%" PRId64, first, last);
}

static const char *group_text(const struct plan *plan, const struct plan_stage *s,
                              struct arena *arena)
{
    const char *text = plan->group_names[s->group];
    for (int i = 0; i < s->node_count; i++)
        text = arena_print(arena, "%s%s %s", text, i ? "," : " on", s->nodes[i]);
    return text;
}

void report_placement_table(struct report_table *t, const struct plan *plan, struct arena *arena)
{
    const char *const headings[] = {
        "stage",     "layers",
        "count",     "node group",
        "GPU",       "ranks",
        "recompute", plan_has_tiers(plan) || plan_mixing_stages(plan) ? "options" : "compression"};
    struct schedule_request request = plan_request(plan);
    report_table_begin(t, headings, "rlrlllll", arena);
    for (int s = 0; s < plan->stage_count; s++) {
        const struct plan_stage *stage = &plan->stages[s];
        int64_t rank = schedule_rank_of(&request, s) * plan->devices_per_stage,
                own = plan_stage_devices(plan, s);
        for (int k = 0; k < s && plan->widths; k++)
            rank += plan_stage_devices(plan, k) - plan->devices_per_stage;
        report_cell(t, arena_print(arena, "%d", s));
        report_cell(
            t, range_text(stage->first_layer, stage->first_layer + stage->layer_count - 1, arena));
        report_cell(t, arena_print(arena, "%d", stage->layer_count));
        report_cell(t, group_text(plan, stage, arena));
        report_cell(t, plan->group_gpus[stage->group]);
        report_cell(t, range_text(rank, rank + own - 1, arena));
        report_cell(t, stage->recompute ? decision_recompute_text(&stage->decision, arena) : "-");
        const char *options = report_options_text(plan, &stage->decision, arena);
        report_cell(t, *options ? options : "-");
    }
}

static const char *sum_of_parts(const int64_t *parts, struct arena *arena)
{
    int64_t sum = 0;
    for (int i = 0; i < PART_COUNT; i++) sum += parts[i];
    return sum ? report_milliseconds(sum, arena) : "-";
}

void report_times_table(struct report_table *t, const struct plan *plan, struct arena *arena)
{
    static const char *const all[] = {"stage",       "forward",   "backward", "weight",
                                      "send on",     "back here", "in drain", "sync",
                                      "queued sync", "optimizer"};
    const char *headings[ARRAY_LENGTH(all)];
    bool drain = false, split = schedule_splits_backward(plan->layout.schedule), queued = false;
    int columns = 0;
    for (int s = 0; s < plan->stage_count; s++) queued |= plan->stages[s].queued_sync_ns > 0;
    for (int i = 0; i < (int)ARRAY_LENGTH(all); i++)
        if ((i != 3 || split) && (i != 8 || queued)) headings[columns++] = all[i];
    report_table_begin(t, headings, &"rrrrrrrrrr"[(int)ARRAY_LENGTH(all) - columns], arena);
    for (int i = 0; i < plan->boundary_option_count; i++)
        drain |= plan->boundary_options[i].epilogue_only;
    for (int s = 0; s < plan->stage_count; s++) {
        const struct plan_stage *stage = &plan->stages[s];
        const struct plan_slice *first = stage->slices;
        bool last = s == plan->stage_count - 1;
        report_cell(t, arena_print(arena, "%d", s));
        report_cell(t, report_milliseconds(first->forward_ns, arena));
        report_cell(t, report_milliseconds(first->backward_ns, arena));
        if (split) report_cell(t, report_milliseconds(stage->weight_ns, arena));
        report_cell(t, last ? "-" : sum_of_parts(first->send_forward_ns, arena));
        report_cell(t, last ? "-" : sum_of_parts(first->send_backward_ns, arena));
        report_cell(t, last || !drain ? "-" : sum_of_parts(stage->send_epilogue_ns, arena));
        report_cell(t, stage->sync_ns ? report_milliseconds(stage->sync_ns, arena) : "-");
        if (queued) report_cell(t, report_milliseconds(stage->queued_sync_ns, arena));
        report_cell(t, stage->optimizer_ns ? report_milliseconds(stage->optimizer_ns, arena) : "-");
    }
}

static void print_times(struct text *out, const struct plan *plan)
{
    struct report_table t;
    report_times_table(&t, plan, out->arena);
    text_put(
        out,
        "\nTimes in ms (of one micro-batch%s, and of its messages to and from the next stage)\n",
        plan->layout.slice_count > 1 ? "'s first slice" : "");
    report_table_print(out, &t);
    if (plan->embedding_sync_ns)
        text_put(out, "  embedding sync of the first and last stage: %s\n",
                 report_time(plan->embedding_sync_ns, out->arena));
}

void report_memory_table(struct report_table *t, const struct plan *plan, struct arena *arena)
{
    // A rank's stages share its devices, and their peaks need not coincide.
    const char *const headings[] = {plan->ranks ? "rank" : "stage",
                                    "weights",
                                    "grads",
                                    "optim",
                                    "activ",
                                    "work",
                                    "buf",
                                    "feedb",
                                    "const",
                                    "total",
                                    "limit",
                                    "",
                                    "used"};
    report_table_begin(t, headings, "rrrrrrrrrrrlr", arena);
    for (int s = 0; s < plan_memory_count(plan); s++) {
        int64_t limit;
        const struct memory_parts *m = plan_memory(plan, s, &limit);
        int64_t total = memory_total(m),
                parts[] = {m->weight_bytes,     m->gradient_bytes, m->optimizer_bytes,
                           m->activation_bytes, m->working_bytes,  m->buffer_bytes,
                           m->feedback_bytes,   m->constant_bytes};
        double share = limit > 0 ? (double)total / (double)limit : 1;
        report_cell(t, arena_print(arena, "%d", s));
        for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
            report_cell(t, parts[i] ? report_gigabytes(parts[i], arena) : "-");
        report_cell(t, report_gigabytes(total, arena));
        report_cell(t, report_gigabytes(limit, arena));
        report_cell(t, report_bar(share, 8, arena));
        report_cell(t, arena_print(arena, "%.0f %%%s", 100 * share, total > limit ? " OVER" : ""));
    }
}

static void print_origin(struct text *out, const struct plan *plan)
{
    text_put(out, "\nMade from\n");
    for (int i = 0; i < plan->document.source_count; i++) {
        const struct source *s = &plan->document.sources[i];
        text_put(out, "  %-8s %s  %s\n", s->role, s->sha256, s->path);
    }
    if (plan->document.made_by)
        text_put(out, "  by %s, seed %" PRId64 "\n", plan->document.made_by, plan->seed);
    text_put(
        out,
        "  search: %" PRId64 " boxes, %" PRId64 " relaxations, %" PRId64 " path rows, %.2f s\n",
        plan->effort.boxes, plan->effort.relaxations, plan->effort.path_rows, plan->effort.seconds);
}

void report_summary(struct text *out, const struct plan *plan, const struct problem *problem,
                    const struct report_replay *r)
{
    print_verdict(out, plan);
    if (!plan->stage_count) return;
    print_layout(out, plan);
    if (problem) print_job(out, plan, problem);
    if (problem && plan->iteration_ns > 0) report_figures(out, plan, problem);
    if (r->iteration_ns != plan->iteration_ns)
        text_put(out,
                 "  WARNING    a replay of the plan's own times takes %" PRId64
                 " ns, not the claimed %" PRId64 " ns: see plumbline verify\n",
                 r->iteration_ns, plan->iteration_ns);
}

// The summary and where the layers are; *r: of a plan with stages.
static enum status begin(struct text *out, struct report_replay *r, const struct plan *plan,
                         const struct problem *problem, struct error *err)
{
    struct report_table t;
    if (plan->stage_count) TRY(report_replay(r, plan, out->arena, err));
    report_summary(out, plan, problem, r);
    if (!plan->stage_count) return OK;
    report_placement_table(&t, plan, out->arena);
    text_put(out, "\nPlacement\n");
    report_table_print(out, &t);
    return OK;
}

enum status report_brief(struct text *out, const struct plan *plan, const struct problem *problem,
                         struct error *err)
{
    struct report_replay replay;
    return begin(out, &replay, plan, problem, err);
}

enum status report_text(struct text *out, const struct plan *plan, const struct problem *problem,
                        const struct report_links *links, int64_t top, struct error *err)
{
    struct report_replay replay;
    struct report_table t;
    TRY(begin(out, &replay, plan, problem, err));
    if (plan->stage_count) {
        if (plan->placement) report_places(out, plan, links, top);
        print_times(out, plan);
        report_memory_table(&t, plan, out->arena);
        text_put(out, "\nMemory of one GPU in GB (limit: what may be planned)\n");
        report_table_print(out, &t);
        TRY(report_loads(out, plan, &replay, err));
        report_use_of_time(out, plan, &replay);
        report_critical_path(out, plan, &replay);
        report_gantt(out, &replay);
    }
    print_origin(out, plan);
    return OK;
}

enum status report_expect_stages(const struct plan *plan, struct error *err)
{
    if (plan->stage_count) return OK;
    return refuse(err, "the plan has no stages (%s): there is nothing to export",
                  outcome_names[plan->outcome]);
}
