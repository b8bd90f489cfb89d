// Passes of a layer, as the judge prices them from what they compute and what their ranks say to
// each other (docs/FORMULAS.md, section 3).
#include "data/kinds/schedules.h"
#include "solve/judge/price/passes.h"

// The host starts kernels no faster than `launch`. Communication counts as work of the device,
// except at both ends of the model.
static long double at_least(const struct price_audit *a, int run, long double compute,
                            long double launch, long double talk)
{
    return is_end(run_of(a, run)) ? greatest(compute, launch) + talk
                                  : greatest(compute + talk, launch);
}

static long double together_s(const struct price_audit *a, long double pass, long double gather,
                              bool overlapped)
{
    long double slowdown = a->problem->costs.overlap_slowdown.value;
    return overlapped ? greatest(pass, gather) + slowdown * least(pass, gather) : pass + gather;
}

static struct on_links all_of(struct on_links x, struct on_links y)
{
    return (struct on_links){x.inside + y.inside, x.across + y.across};
}

// No pass ends before its links have done what it says, hidden or not.
static long double links_done(long double pass, struct on_links held)
{
    return greatest(pass, greatest(held.inside, held.across));
}

// What shares a pass's links moves while the pass leaves them free; what does not fit, afterwards.
static long double moved_beside(const struct price_audit *a, long double pass, long double held,
                                long double moved)
{
    long double fits = least(pass - held, moved), outlasts = greatest(0, moved - (pass - held));
    return pass + outlasts + (long double)a->problem->costs.overlap_slowdown.value * fits;
}

static long double joined(const struct price_audit *a, long double pass, struct on_links held,
                          long double gather, struct on_links moved)
{
    pass = links_done(pass, held);
    if (!a->overlapped) return pass + gather;
    return greatest(moved_beside(a, pass, held.inside, moved.inside),
                    moved_beside(a, pass, held.across, moved.across));
}

// A pass whose layer's matrices come and go over a grid's third axis: as a part of what it says to
// other ranks, or, if that is sooner, while it says nothing, aloud or under a product (`under`).
static long double with_matrices(const struct price_audit *a, int run, long double compute,
                                 long double launch, long double talk, long double under,
                                 long double matrices)
{
    long double in_turn = at_least(a, run, compute, launch, talk + matrices),
                silent = at_least(a, run, compute, launch, talk) - talk - under;
    if (!a->gridded || !a->problem->job.overlapped_tensor) return in_turn;
    return least(in_turn, talk + under + together_s(a, silent, matrices, true));
}

// As measured, frozen or not.
static struct passes stated_passes(const struct price_audit *a, const struct layer_time *t,
                                   int slice)
{
    long double part = piece_of(a, slice).length / (long double)a->problem->job.sequence,
                weight = 0;
    if (schedule_splits_backward(layout_of(a)->schedule))
        weight = t->weight_s > 0 ? t->weight_s : t->backward_s / 2.0L;
    struct passes s = {.forward_s = t->forward_s * part,
                       .backward_s = (t->backward_s - weight) * part,
                       .weight_s = weight * part,
                       .again = {[RECOMPUTE_SELECTIVE] = {t->selective_s * part, 0},
                                 [RECOMPUTE_FULL] = {t->full_s * part, 0}}};
    // Nobody measured single modules; none takes longer than the whole.
    for (int set = RECOMPUTE_SETS; set < RECOMPUTE_COUNT; set++)
        s.again[set] = s.again[RECOMPUTE_FULL];
    return s;
}

// Of two that run side by side, by how much the first is longer, and what both slow each other.
static long double outlasts(const struct price_audit *a, long double moved, long double computed)
{
    return greatest(0, moved - computed) +
           (long double)a->problem->costs.overlap_slowdown.value * least(moved, computed);
}

// What is left to see of what goes beside the gradients of a part's first product. Beside a ring
// of context ranks some GPUs show more of it.
static long double shown_beside_first(const struct price_audit *a, int group, const struct work *w,
                                      const struct talk *talk)
{
    long double factor = w->step_factor * w->backward_factor, seconds = 0, whole = 0, lost = 0;
    if (layout_of(a)->context > 1) lost = gpu_of(a, group)->context_tensor_loss.value;
    for (int part = 0; part < 2; part++) {
        if (!talk->beside_first[part]) continue;
        whole += talk->comes_s + talk->goes_s;
        seconds += outlasts(a, talk->comes_s, factor * w->first[part].data) +
                   outlasts(a, talk->goes_s, factor * w->first[part].weight);
    }
    return seconds + lost * (whole - seconds);
}

// The backward pass of a layer that gradients pass through.
static void go_back(const struct price_audit *a, int run, int group, const struct work *w,
                    const struct grid_talk *talks, const struct gathers *g, struct passes *s)
{
    const struct talk *talk = &talks->pass;
    long double talk_s = talk->backward_s, matrices = talks->gather_back_s;
    const struct layer_run *r = run_of(a, run);
    bool embedding = r->kind == LAYER_EMBEDDING;
    long double launch_back = (embedding ? 1 : 2) * w->launch;
    // Weight gradients and everything else, kept separate: nothing is subtracted later.
    long double weight = r->frozen   ? w->adapter_weight
                         : embedding ? 0
                                     : w->weight + w->learning_operands;
    long double rest = w->data + w->operands + w->adapter_data + w->attention_back +
                       w->memory_back + w->narrowing + 2 * w->small;
    if (!r->frozen)
        rest += w->adapter_weight + w->weightless + w->gather +
                (embedding ? w->weight + w->learning_operands : 0);
    weight *= w->step_factor * w->backward_factor;
    rest = w->step_factor * (w->backward_factor * rest + w->overhead_back);
    bool together = !schedule_splits_backward(layout_of(a)->schedule);
    // A product for a weight's gradient runs while that of its input is summed.
    bool beside = together && a->problem->job.overlapped_tensor;
    long double under = beside ? least(weight, talks->products_s) : 0;
    long double shown = shown_beside_first(a, group, w, talk);
    // Products that wait for the host hide nothing at the end of a model, where both add up.
    if (is_end(r) && talk->beside_first[1]) launch_back += talk->comes_s + talk->goes_s - shown;
    talk_s += talks->products_s - under + shown;
    talk_s += chunks_shown_s(a, group, talk, together ? rest + weight : rest) +
              judged_routing_s(a, talk->routed_back_s, together ? rest + weight : rest);
    struct on_links held = all_of(talk->back, talks->gathered_back),
                    both = all_of(g->weights, g->gradients), none = {0, 0};
    if (together) {
        s->backward_s = joined(a,
                               with_matrices(a, run, rest + weight, launch_back, talk_s, under,
                                             matrices + talks->scatter_s),
                               all_of(held, talks->scattered), g->weights_s + g->gradients_s, both);
        return;
    }
    // Scattered values are ready when the weight gradients are.
    bool split = weight > 0;
    if (!split) matrices += talks->scatter_s, held = all_of(held, talks->scattered);
    s->backward_s =
        joined(a, with_matrices(a, run, rest, split ? w->launch : launch_back, talk_s, 0, matrices),
               held, g->weights_s, g->weights);
    weight += gpu_of(a, group)->split_overhead_s.value;
    long double later =
        with_matrices(a, run, greatest(weight, w->launch), 0, 0, 0, talks->scatter_s);
    s->weight_s =
        joined(a, split ? later : 0, split ? talks->scattered : none, g->gradients_s, g->gradients);
}

// What selective recomputation repeats: the scores; with torchtitan's, by single operators,
// everything bound by memory, every second product, the gathers before products and attention, and
// unfused attention.
static void recompute_selected(const struct price_audit *a, int run, int group, struct piece p,
                               const struct work *w, const struct talk *talk, struct passes *s)
{
    bool operators = a->problem->job.trainer == TRAINER_TORCHTITAN;
    long double again = w->repeated;
    if (operators)
        again = w->memory + w->small + w->dropped + every_second_product_s(a, run, group, p);
    s->again[RECOMPUTE_SELECTIVE] =
        (struct computed){w->step_factor * w->forward_factor * again +
                              (operators ? talk->reduce_s + talk->keys_s : 0),
                          operators ? talk->reduce_lost_s + talk->keys_s : 0};
}

struct passes passes_of(const struct price_audit *of_all, int run, int group, int slice)
{
    struct own_audit own;
    const struct price_audit *a = audit_of_run(of_all, run, &own);
    const struct layer_time *stated = stated_time(a, run, group);
    if (stated) return stated_passes(a, stated, slice);
    struct piece p = piece_of(a, slice);
    struct work w = work_of(a, run, group, p);
    struct grid_talk talks = {.pass = talk_of(a, run, group, p, w.attention)};
    if (a->gridded) talks = grid_talk_of(a, run, group, p);
    struct talk talk = talks.pass;
    struct gathers g = gathers_of(a, run, group);
    long double kernels = w.linear + w.operands + w.adapters + w.attention + w.memory +
                          w.narrowing + w.small,
                compute = w.step_factor * (w.forward_factor * kernels + w.overhead),
                talk_s = talk.forward_s + chunks_shown_s(a, group, &talk, compute) +
                         judged_routing_s(a, talk.routed_s, compute),
                forward = links_done(at_least(a, run, compute, w.launch, talk_s), talk.ahead);
    struct on_links ahead = all_of(talk.ahead, talks.gathered);
    long double gathering = with_matrices(a, run, compute, w.launch, talk_s, 0, talks.gather_s);
    struct passes s = {.forward_s = joined(a, gathering, ahead, g.weights_s, g.weights),
                       .ahead = ahead,
                       .lost_s = (1 + (long double)a->problem->costs.overlap_slowdown.value) *
                                 (talk.lost_s + g.lost_s)};
    if (!passes_gradient(a, run)) return s;
    go_back(a, run, group, &w, &talks, &g, &s);
    if (!is_layered(a, run)) return s;
    recompute_selected(a, run, group, p, &w, &talk, &s);
    struct computed fetched = judged_fetched_s(a, run, group, p, forward);
    long double unread = w.step_factor * w.forward_factor * unread_product_s(a, run, group, p),
                repeated =
                    links_done(at_least(a, run, compute - unread, w.launch, talk_s), talk.ahead);
    s.again[RECOMPUTE_FULL] = (struct computed){repeated + fetched.value, s.lost_s + fetched.lost};
    for (int set = RECOMPUTE_SETS; set < RECOMPUTE_COUNT; set++)
        if (a->problem->job.recompute[set])
            s.again[set] = judged_set_s(a, run, group, p, (enum recompute)set, &w, &talk);
    return s;
}
