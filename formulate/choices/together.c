// What couples the stages' choices: layers covered once and in order, ranks, slots, budgets, links
// between neighbours; and the durations of all symbols for a combination of choices.
#include <string.h>

#include "formulate/choices/choice.h"

static const int64_t nothing_sent[PART_COUNT];

static bool copy_parts(int64_t *parts, const int64_t *prices)
{
    memcpy(parts, prices, PART_COUNT * sizeof *parts);
    for (int i = 0; i < PART_COUNT; i++)
        if (prices[i] == PRICE_NONE) return false;
    return true;
}

static const int64_t *pair_prices(const struct priced *p, const int64_t *prices, int slice,
                                  int from, int to)
{
    return prices + ((slice * p->group_count + from) * p->group_count + to) * PART_COUNT;
}

static const struct priced_cut *cut_at(const struct choices *c, int boundary, int cut)
{
    return &(c->boundary_cuts ? c->boundary_cuts[boundary] : c->priced->cuts)[cut];
}

static const int64_t *forward_prices(const struct choices *c, int boundary, int slice,
                                     const struct choice *from, const struct choice *to)
{
    if (!schedule_sends(&c->schedule->request, boundary)) return nothing_sent;
    return pair_prices(c->priced, cut_at(c, boundary, from->cut)->forward_ns, slice, from->group,
                       to->group);
}

static const int64_t *backward_prices(const struct choices *c, int boundary, int slice,
                                      const struct choice *from, const struct choice *to,
                                      bool epilogue)
{
    const struct priced *p = c->priced;
    const struct schedule_request *r = &c->schedule->request;
    int option = to->boundary_option;
    if (schedule_is_inner(r, boundary) || schedule_is_local(r, boundary)) return nothing_sent;
    if (!epilogue && p->boundary_options[option].epilogue_only) option = 0;
    return pair_prices(p, cut_at(c, boundary, from->cut)->backward_ns[option], slice, from->group,
                       to->group);
}

bool choices_send_forward(const struct choices *c, int boundary, int slice,
                          const struct choice *from, const struct choice *to, int64_t *parts)
{
    return copy_parts(parts, forward_prices(c, boundary, slice, from, to));
}

bool choices_send_backward(const struct choices *c, int boundary, int slice,
                           const struct choice *from, const struct choice *to, bool epilogue,
                           int64_t *parts)
{
    return copy_parts(parts, backward_prices(c, boundary, slice, from, to, epilogue));
}

// false: no link connects them.
static bool put_parts(int64_t *durations, int stages, int kind, int boundary, const int64_t *parts)
{
    bool joined = true;
    for (int part = 0; part < PART_COUNT; part++) {
        durations[symbol_index(stages, kind + part, boundary)] = parts[part];
        joined = joined && parts[part] != PRICE_NONE;
    }
    return joined;
}

static bool boundary_durations(const struct choices *c, int boundary, const struct choice *from,
                               const struct choice *to, int64_t *durations)
{
    int stages = c->priced->stage_count;
    for (int slice = 0; slice < c->priced->slice_count; slice++)
        if (!put_parts(durations, stages, symbol_of_slice(slice, SYMBOL_SEND_FORWARD), boundary,
                       forward_prices(c, boundary, slice, from, to)) ||
            !put_parts(durations, stages, symbol_of_slice(slice, SYMBOL_SEND_BACKWARD), boundary,
                       backward_prices(c, boundary, slice, from, to, false)))
            return false;
    return put_parts(durations, stages, SYMBOL_SEND_EPILOGUE, boundary,
                     backward_prices(c, boundary, 0, from, to, true));
}

void choices_stage_durations(const struct choices *c, int stage, const struct choice *x,
                             int64_t *durations)
{
    int stages = c->priced->stage_count;
    durations[symbol_index(stages, SYMBOL_WEIGHT, stage)] = x->weight_ns;
    durations[symbol_index(stages, SYMBOL_SYNC, stage)] = x->sync_ns;
    durations[symbol_index(stages, SYMBOL_QUEUED_SYNC, stage)] = x->queued_sync_ns;
    durations[symbol_index(stages, SYMBOL_OPTIMIZER, stage)] = x->optimizer_ns;
    durations[symbol_index(stages, SYMBOL_AWAY, stage)] = x->away_ns;
    durations[symbol_index(stages, SYMBOL_BACK, stage)] = x->back_ns;
    for (int slice = 0; slice < c->priced->slice_count; slice++) {
        durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_FORWARD), stage)] =
            x->forward_ns[slice];
        durations[symbol_index(stages, symbol_of_slice(slice, SYMBOL_BACKWARD), stage)] =
            x->backward_ns[slice];
    }
}

bool choices_durations(const struct choices *c, const int *chosen, int64_t *durations)
{
    const struct priced *p = c->priced;
    int stages = p->stage_count;
    memset(durations, 0, (size_t)symbol_count(stages, p->slice_count) * sizeof *durations);
    for (int s = 0; s < stages; s++) {
        const struct choice *x = &c->stages[s].items[chosen[s]];
        choices_stage_durations(c, s, x, durations);
        if (s < stages - 1 &&
            !boundary_durations(c, s, x, &c->stages[s + 1].items[chosen[s + 1]], durations))
            return false;
    }
    if (p->has_embedding_sync) {
        int first = c->stages[0].items[chosen[0]].group,
            last = c->stages[stages - 1].items[chosen[stages - 1]].group;
        int64_t price = p->embedding_sync_ns[first * p->group_count + last];
        if (price == PRICE_NONE) return false;
        durations[symbol_index(stages, SYMBOL_EMBEDDING_SYNC, 0)] = price;
    }
    return true;
}

// ---- ranks on nodes

static const int64_t *node_prices(const struct priced *p, const int64_t *prices, int slice,
                                  int from, int to)
{
    size_t nodes = (size_t)p->places->node_count;
    return prices + (((size_t)slice * nodes + (size_t)from) * nodes + (size_t)to) * PART_COUNT;
}

static bool node_boundary(const struct choices *c, int boundary, const struct choice *const *ends,
                          int from, int to, int64_t *durations)
{
    const struct priced *p = c->priced;
    const struct schedule_request *r = &c->schedule->request;
    const struct compression_option *option = &p->boundary_options[ends[1]->boundary_option];
    int64_t *const *backward = p->places->cuts[ends[0]->cut].backward_ns;
    int option_at = ends[1]->boundary_option, within = option->epilogue_only ? 0 : option_at;
    bool returns = !schedule_is_local(r, boundary);
    if (schedule_is_inner(r, boundary)) return true;
    for (int slice = 0; slice < p->slice_count; slice++) {
        if (!put_parts(durations, p->stage_count, symbol_of_slice(slice, SYMBOL_SEND_FORWARD),
                       boundary,
                       node_prices(p, p->places->cuts[ends[0]->cut].forward_ns, slice, from, to)))
            return false;
        if (returns &&
            !put_parts(durations, p->stage_count, symbol_of_slice(slice, SYMBOL_SEND_BACKWARD),
                       boundary, node_prices(p, backward[within], slice, from, to)))
            return false;
    }
    return !returns || put_parts(durations, p->stage_count, SYMBOL_SEND_EPILOGUE, boundary,
                                 node_prices(p, backward[option_at], 0, from, to));
}

bool choices_node_transfers(const struct choices *c, const struct choice *const *stages,
                            const int *node, int64_t *durations)
{
    const struct priced *p = c->priced;
    for (int s = 0; s + 1 < p->stage_count; s++)
        if (!node_boundary(c, s, stages + s, node[choices_rank_of(c, s)],
                           node[choices_rank_of(c, s + 1)], durations))
            return false;
    if (!p->has_embedding_sync) return true;
    int first = node[choices_rank_of(c, 0)], last = node[choices_rank_of(c, p->stage_count - 1)];
    int64_t price =
        p->places->embedding_sync_ns[(size_t)first * (size_t)p->places->node_count + (size_t)last];
    int group = p->places->nodes[first].group;
    if (choices_rank_of(c, 0) == choices_rank_of(c, p->stage_count - 1))
        price = p->embedding_sync_ns[group * p->group_count + group];
    if (price == PRICE_NONE) return false;
    durations[symbol_index(p->stage_count, SYMBOL_EMBEDDING_SYNC, 0)] = price;
    return true;
}

static bool covers_layers(const struct choices *c, const int *chosen)
{
    int layer = 0;
    for (int s = 0; s < c->priced->stage_count; s++) {
        const struct choice *x = &c->stages[s].items[chosen[s]];
        if (x->first_layer != choices_place(c, layer)) return false;
        layer += x->layer_count;
    }
    return layer == c->priced->layer_count;
}

static bool ranks_fit(const struct choices *c, const int *chosen)
{
    for (int rank = 0; rank < c->rank_count && c->virtual_stages > 1; rank++)
        if (!choices_rank_fits(c, chosen, rank)) return false;
    return true;
}

// A rank takes one seat: stages 0 .. rank_count - 1 are on one rank each.
static bool within_slots(const struct choices *c, const int *chosen)
{
    for (int g = 0; g < c->priced->group_count; g++) {
        int64_t used = 0;
        for (int s = 0; s < c->rank_count; s++)
            used += priced_slots_taken(c->priced, g, c->stages[s].items[chosen[s]].group);
        if (used > c->priced->groups[g].slots) return false;
    }
    return true;
}

// Where all stages on a node group have one width.
static bool widths_agree(const struct choices *c, const int *chosen)
{
    const struct priced *p = c->priced;
    for (int s = 1; p->width_per_group && s < p->stage_count; s++)
        for (int k = 0; k < s; k++) {
            int one = c->stages[s].items[chosen[s]].group,
                other = c->stages[k].items[chosen[k]].group;
            if (one != other && priced_pool(p, one) == priced_pool(p, other)) return false;
        }
    return true;
}

bool choices_within_budget(const struct choices *c, const int *chosen)
{
    const struct priced *p = c->priced;
    const struct quality_budget *b = &p->budget;
    int64_t boundaries = 0, stages = 0, cost = 0, energy = 0;
    if (b->boundaries_max < 0 && b->stages_max < 0 && b->cost_max < 0 && !b->energy_max_uj)
        return true;
    for (int s = 0; s < p->stage_count; s++) {
        const struct choice *x = &c->stages[s].items[chosen[s]];
        boundaries += p->boundary_options[x->boundary_option].form.amount > 0;
        stages += priced_compresses_sync(p, x->gradient_option);
        cost += x->quality_cost;
        energy += x->energy_uj;
    }
    return (b->boundaries_max < 0 || boundaries <= b->boundaries_max) &&
           (b->stages_max < 0 || stages <= b->stages_max) &&
           (b->cost_max < 0 || cost <= b->cost_max) &&
           (!b->energy_max_uj || energy <= b->energy_max_uj);
}

static bool ends_joined(const struct choices *c, const int *chosen)
{
    const struct priced *p = c->priced;
    int64_t parts[PART_COUNT];
    for (int s = 0; s + 1 < p->stage_count; s++) {
        const struct choice *from = &c->stages[s].items[chosen[s]],
                            *to = &c->stages[s + 1].items[chosen[s + 1]];
        for (int slice = 0; slice < p->slice_count; slice++)
            if (!choices_send_forward(c, s, slice, from, to, parts) ||
                !choices_send_backward(c, s, slice, from, to, false, parts))
                return false;
        if (!choices_send_backward(c, s, 0, from, to, true, parts)) return false;
    }
    if (!p->has_embedding_sync) return true;
    int first = c->stages[0].items[chosen[0]].group,
        last = c->stages[p->stage_count - 1].items[chosen[p->stage_count - 1]].group;
    return p->embedding_sync_ns[first * p->group_count + last] != PRICE_NONE;
}

bool choices_fit_together(const struct choices *c, const int *chosen)
{
    return covers_layers(c, chosen) && within_slots(c, chosen) && widths_agree(c, chosen) &&
           choices_within_budget(c, chosen) && ends_joined(c, chosen) && ranks_fit(c, chosen);
}
