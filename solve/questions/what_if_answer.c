// The answer to "what if": the time of the earlier plan, its time on the changed cluster, the time
// of the new plan and how much better any could be, which ranks and layers move. If no plan is
// left: which layouts the nodes have room for.
#include <inttypes.h>
#include <string.h>

#include "data/kinds/schedules.h"
#include "formulate/price/price.h"
#include "solve/report/report.h"
#include "solve/questions/question.h"

static double percent_of(int64_t now, int64_t before)
{
    return 100 * ((double)now - (double)before) / (double)before;
}

static void print_time(struct text *out, const char *what, int64_t ns, int64_t before_ns)
{
    text_put(out, "  %-20s %.9f s", what, (double)ns / 1e9);
    if (before_ns > 0) text_put(out, "  %+.3f %%", percent_of(ns, before_ns));
}

// ---- moves

static const char *rank_text(int replica, int rank, const struct plan_placement *x,
                             struct arena *arena)
{
    return x->replica_count > 1 ? arena_print(arena, "replica %d rank %d", replica, rank)
                                : arena_print(arena, "rank %d", rank);
}

// Prints the ranks that are not on the same node as before. Returns how many.
static int print_moves(struct text *out, const struct plan_placement *before,
                       const char *const *nodes, bool all)
{
    int moved = 0;
    for (int i = 0; i < before->replica_count * before->rank_count; i++) {
        if (!strcmp(before->nodes[i], nodes[i])) continue;
        moved++;
        if (all)
            text_put(out, "    %s: %s -> %s\n",
                     rank_text(i / before->rank_count, i % before->rank_count, before, out->arena),
                     before->nodes[i], nodes[i]);
    }
    return moved;
}

// Compares rings as cycles: who sends to whom.
static bool same_ring(const int *ring, const int *other, int count)
{
    int at = 0;
    while (at < count && other[at] != ring[0]) at++;
    for (int i = 0; i < count; i++)
        if (ring[i] != other[(at + i) % count]) return false;
    return true;
}

static void print_rings(struct text *out, const struct plan *before, const struct plan *now)
{
    const struct plan_placement *a = before->placement, *b = now->placement;
    const char *stages = "";
    int changed = 0, count = a->replica_count;
    if (a->embedding_ring && b->embedding_ring)
        text_put(out, "  the fused embedding sync's ring %s\n",
                 same_ring(a->embedding_ring, b->embedding_ring, 2 * count) ? "as before"
                                                                            : "in another order");
    if (count < 3) return; // there is only one ring
    for (int s = 0; s < now->stage_count; s++)
        if (!same_ring(a->rings + s * count, b->rings + s * count, count))
            stages = arena_print(out->arena, "%s%s%d", stages, changed++ ? ", " : "", s);
    if (changed)
        text_put(out, "  rings of replicas in another order: stage%s %s\n", changed > 1 ? "s" : "",
                 stages);
    else text_put(out, "  rings of replicas as before\n");
}

static void print_placement(struct text *out, const struct what_if_answer *x)
{
    const struct plan_placement *before = x->start->plan->placement, *now = x->now->placement;
    if (!before || !now) return;
    int moved = print_moves(out, before, now->nodes, false);
    text_put(out, "  %d of %d ranks move%s%s\n", moved, before->replica_count * before->rank_count,
             moved == 1 ? "s" : "", moved ? ":" : "");
    print_moves(out, before, now->nodes, true);
    print_rings(out, x->start->plan, x->now);
}

// ---- layers and options

static const char *layers_text(const struct plan_stage *s, struct arena *arena)
{
    return arena_print(arena, "%d-%d (%d)", s->first_layer, s->first_layer + s->layer_count - 1,
                       s->layer_count);
}

static int print_layers(struct text *out, const struct plan *before, const struct plan *now)
{
    int changed = 0;
    for (int s = 0; s < now->stage_count; s++) {
        const struct plan_stage *a = &before->stages[s], *b = &now->stages[s];
        if (a->first_layer == b->first_layer && a->layer_count == b->layer_count) continue;
        if (!changed++) text_put(out, "  layers move:\n");
        text_put(out, "    stage %d: %s -> %s\n", s, layers_text(a, out->arena),
                 layers_text(b, out->arena));
    }
    return changed;
}

// Of a replica's stage: with named nodes, replicas may recompute differently.
static struct decision decision_of(const struct plan *p, int replica, int stage)
{
    struct decision d = p->stages[stage].decision;
    const struct plan_placement *x = p->placement;
    if (x) {
        d.recompute = (enum recompute)x->recompute[replica * p->stage_count + stage];
        d.recomputed_layers = x->recomputed_layers[replica * p->stage_count + stage];
    }
    return d;
}

static int print_change(struct text *out, const char *where, const char *what, const char *before,
                        const char *now, int changed)
{
    if (!strcmp(before, now)) return changed;
    if (!changed) text_put(out, "  options change:\n");
    text_put(out, "    %s: %s %s -> %s\n", where, what, *before ? before : "none",
             *now ? now : "none");
    return changed + 1;
}

static int print_options(struct text *out, const struct plan *before, const struct plan *now)
{
    int changed = 0,
        replicas = now->placement && before->placement ? now->placement->replica_count : 1;
    for (int s = 0; s < now->stage_count; s++) {
        const char *where = arena_print(out->arena, "stage %d", s);
        if (!now->placement)
            changed = print_change(out, where, "group",
                                   before->group_names[before->stages[s].group],
                                   now->group_names[now->stages[s].group], changed);
        for (int r = 0; r < replicas; r++) {
            const struct decision then = decision_of(before, r, s), d = decision_of(now, r, s);
            if (replicas > 1) where = arena_print(out->arena, "replica %d stage %d", r, s);
            for (const struct report_decision *of = report_decisions; of->what; of++)
                changed = print_change(out, where, of->what, of->text(before, &then, out->arena),
                                       of->text(now, &d, out->arena), changed);
        }
    }
    return changed;
}

// ---- no plan is left

// Whether the nodes have room for the pipeline ranks, or for the device groups where ranks are
// placed on nodes.
static bool has_room(const struct problem *p, struct arena *arena)
{
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct error unfit = {OK, ""};
    int64_t slots = 0;
    if (problem_check_layout(p, &unfit) != OK || price_problem(priced, p, arena, &unfit) != OK)
        return false;
    for (int i = 0; priced->places && i < priced->places->node_count; i++)
        if (!priced->groups[priced->places->nodes[i].group].excluded)
            slots += priced->places->nodes[i].slots;
    return priced->places ? slots >= (int64_t)priced->rank_count * priced->layout.data
                          : priced_all_seats(priced) >= priced->rank_count;
}

static void print_fewer_replicas(struct text *out, const struct problem *p)
{
    for (int data = p->job.layout.data - 1; data >= 1; data--) {
        struct problem fewer = *p;
        int64_t batch = p->job.global_batch, together = (int64_t)p->job.layout.micro_batch * data,
                over = batch % together;
        fewer.job.layout.data = data;
        if (over) fewer.job.global_batch = batch - over > 0 ? batch - over : together;
        if (!has_room(&fewer, out->arena)) continue;
        text_put(out, "    data %d", data);
        if (over && batch > over)
            text_put(out, ", with a global batch of %" PRId64 " or %" PRId64 " instead of %" PRId64,
                     batch - over, batch - over + together, batch);
        else if (over)
            text_put(out, ", with a global batch of %" PRId64 " instead of %" PRId64, together,
                     batch);
        if (over)
            text_put(out, " (a multiple of micro-batch %d x data %d)", p->job.layout.micro_batch,
                     data);
        text_put(out, "\n");
        return;
    }
}

static void print_fewer_stages(struct text *out, const struct problem *p)
{
    for (int pipeline = p->job.layout.pipeline - 1; pipeline >= 1; pipeline--) {
        struct problem fewer = *p;
        fewer.job.layout.pipeline = pipeline;
        if (!has_room(&fewer, out->arena)) continue;
        text_put(out, "    pipeline %d, if the memory suffices\n", pipeline);
        return;
    }
}

static void print_what_fits(struct text *out, const struct problem *p)
{
    const struct layout *l = &p->job.layout;
    if (p->job.space.given || has_room(p, out->arena)) return;
    text_put(out,
             "  the job's layout (tensor %d, context %d, pipeline %d, data %d) no longer has "
             "enough nodes; instead there is room for\n",
             l->tensor, l->context, l->pipeline, l->data);
    print_fewer_replicas(out, p);
    print_fewer_stages(out, p);
}

// ---- the lines

// Why the earlier plan cannot stay as it is.
static const char *lost_text(const struct what_if_answer *x, struct arena *arena)
{
    const struct plan_placement *before = x->start->plan->placement;
    const char *names = "";
    int lost = 0;
    if (!before) return "the groups have no room for it";
    for (int i = 0; i < x->change->without.count; i++)
        for (int k = 0; k < before->replica_count * before->rank_count; k++) {
            if (strcmp(before->nodes[k], x->change->without.items[i])) continue;
            names = arena_print(arena, "%s%s%s", names, lost++ ? ", " : "", before->nodes[k]);
            break;
        }
    return lost ? arena_print(arena, "%s %s gone", names, lost > 1 ? "are" : "is")
                : "it does not fit";
}

// Its layout is kept, so for objective cost its iteration time is what counts.
static int64_t earlier_ns(const struct plan *p)
{
    return p->objective == OBJECTIVE_COST ? p->iteration_ns : plan_value_ns(p);
}

static void print_standing(struct text *out, const struct what_if_answer *x)
{
    const struct placed_start *start = x->start;
    const struct plan_placement *before = start->plan->placement;
    int64_t before_ns = earlier_ns(start->plan);
    print_time(out, "earlier plan", before_ns, 0);
    if (start->standing_ns) {
        text_put(out, "\n");
        print_time(out, "as it stands", start->standing_ns, before_ns);
        text_put(out, "\n");
    } else {
        text_put(out, "\n  %-20s no longer possible: %s\n", "as it stands",
                 lost_text(x, out->arena));
    }
    if (start->standing_ns || !before || !start->repaired_ns) return;
    print_time(out, "only what must move", start->repaired_ns, before_ns);
    text_put(out, "\n");
    print_moves(out, before, start->repaired_nodes, true);
}

static void print_now(struct text *out, const struct what_if_answer *x)
{
    const struct plan *p = x->now;
    int64_t before_ns = x->start->plan ? earlier_ns(x->start->plan) : 0;
    if (!p->stage_count) {
        text_put(out, "  %-20s %s%s%s\n", "new plan", plan_outcome_words(p, out->arena),
                 p->reason ? ": " : "", p->reason ? p->reason : "");
        return;
    }
    print_time(out, "new plan", plan_value_ns(p), before_ns);
    text_put(out, "; bound %.9f s (%s), gap %.4g %%", (double)plan_bound_ns(p) / 1e9,
             plan_claim_words(p, out->arena), 100 * plan_gap(p));
    if (before_ns > 0)
        text_put(out, ": no plan less than %+.3f %%", percent_of(plan_bound_ns(p), before_ns));
    text_put(out, "\n");
}

static const char *layout_text(const struct plan *p, struct arena *arena)
{
    const struct layout *l = &p->layout;
    return arena_print(arena, "pipeline %d, tensor %s, context %d, data %d, %s, micro-batch %d",
                       l->pipeline, layout_tensor_text(l, arena), l->context, l->data,
                       schedule_names[l->schedule], l->micro_batch);
}

const char *what_if_layouts_text(const struct plan *kept, const struct plan *best, size_t *length,
                                 struct arena *arena)
{
    struct text out;
    text_begin(&out, arena);
    int64_t kept_ns = kept->stage_count ? plan_value_ns(kept) : 0;
    if (!best->stage_count) {
        text_put(&out, "  %-20s %s%s%s\n", "any layout", plan_outcome_words(best, arena),
                 best->reason ? ": " : "", best->reason ? best->reason : "");
    } else if (kept_ns && plan_value_ns(best) >= kept_ns) {
        text_put(&out, "  %-20s none found that is faster; no plan less than %.9f s (%s)\n",
                 "any layout", (double)plan_bound_ns(best) / 1e9, plan_claim_words(best, arena));
    } else {
        print_time(&out, "any layout", plan_value_ns(best), kept_ns);
        text_put(&out, "%s; %s; the same without --start writes it\n",
                 kept_ns ? " of the new plan" : "", layout_text(best, arena));
    }
    *length = out.length;
    return out.text;
}

const char *what_if_text(const struct what_if_answer *x, size_t *length, struct arena *arena)
{
    struct text out;
    text_begin(&out, arena);
    text_put(&out, "%s\n", cluster_change_text(x->change, arena));
    if (x->now->stage_count && x->now->objective != OBJECTIVE_ITERATION_TIME)
        text_put(&out, "  times are of the objective %s\n", objective_names[x->now->objective]);
    if (x->start->plan) print_standing(&out, x);
    print_now(&out, x);
    if (!x->now->stage_count) {
        print_what_fits(&out, x->changed);
    } else if (x->start->plan) {
        const struct plan *before = x->start->plan;
        print_placement(&out, x);
        if (!print_layers(&out, before, x->now)) text_put(&out, "  layers as before\n");
        if (!print_options(&out, before, x->now)) text_put(&out, "  options as before\n");
    }
    *length = out.length;
    return out.text;
}
