// What couples the stages' choices: layers covered once in order, ranks, slots, budgets, links
// between neighbours; and the durations of all symbols that a combination of choices means.
#include <assert.h>
#include <string.h>

#include "formulate/choices/choice.h"

static bool copy_parts(int64_t *parts, const int64_t *prices)
{
    memcpy(parts, prices, PART_COUNT * sizeof *parts);
    for (int i = 0; i < PART_COUNT; i++)
        if (prices[i] == PRICE_NONE) return false;
    return true;
}

static bool send_nothing(int64_t *parts)
{
    memset(parts, 0, PART_COUNT * sizeof *parts);
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

bool choices_send_forward(const struct choices *c, int boundary, int slice,
                          const struct choice *from, const struct choice *to, int64_t *parts)
{
    const struct priced *p = c->priced;
    if (schedule_is_inner(&c->schedule->request, boundary)) return send_nothing(parts);
    return copy_parts(parts, pair_prices(p, cut_at(c, boundary, from->cut)->forward_ns, slice,
                                         from->group, to->group));
}

bool choices_send_backward(const struct choices *c, int boundary, int slice,
                           const struct choice *from, const struct choice *to, bool epilogue,
                           int64_t *parts)
{
    const struct priced *p = c->priced;
    const struct schedule_request *r = &c->schedule->request;
    bool applies = epilogue || !p->boundary_options[to->boundary_option].epilogue_only;
    if (schedule_is_inner(r, boundary) || schedule_is_local(r, boundary))
        return send_nothing(parts);
    return copy_parts(
        parts,
        pair_prices(p,
                    cut_at(c, boundary, from->cut)->backward_ns[applies ? to->boundary_option : 0],
                    slice, from->group, to->group));
}

static void put_parts(int64_t *durations, int stages, int kind, int boundary, const int64_t *parts)
{
    for (int part = 0; part < PART_COUNT; part++)
        durations[symbol_index(stages, kind + part, boundary)] = parts[part];
}

static bool boundary_durations(const struct choices *c, int boundary, const struct choice *from,
                               const struct choice *to, int64_t *durations)
{
    int stages = c->priced->stage_count;
    int64_t parts[PART_COUNT];
    for (int slice = 0; slice < c->priced->slice_count; slice++) {
        if (!choices_send_forward(c, boundary, slice, from, to, parts)) return false;
        put_parts(durations, stages,
                  slice ? symbol_slice_kind(slice, SLICE_SEND_FORWARD) : SYMBOL_SEND_FORWARD,
                  boundary, parts);
        if (!choices_send_backward(c, boundary, slice, from, to, false, parts)) return false;
        put_parts(durations, stages,
                  slice ? symbol_slice_kind(slice, SLICE_SEND_BACKWARD) : SYMBOL_SEND_BACKWARD,
                  boundary, parts);
    }
    if (!choices_send_backward(c, boundary, 0, from, to, true, parts)) return false;
    put_parts(durations, stages, SYMBOL_SEND_EPILOGUE, boundary, parts);
    return true;
}

void choices_stage_durations(const struct choices *c, int stage, const struct choice *x,
                             int64_t *durations)
{
    int stages = c->priced->stage_count;
    durations[symbol_index(stages, SYMBOL_FORWARD, stage)] = x->forward_ns;
    durations[symbol_index(stages, SYMBOL_BACKWARD, stage)] = x->backward_ns;
    durations[symbol_index(stages, SYMBOL_WEIGHT, stage)] = x->weight_ns;
    durations[symbol_index(stages, SYMBOL_SYNC, stage)] = x->sync_ns;
    durations[symbol_index(stages, SYMBOL_OPTIMIZER, stage)] = x->optimizer_ns;
    for (int slice = 1; slice < c->priced->slice_count; slice++) {
        durations[symbol_index(stages, symbol_slice_kind(slice, SLICE_FORWARD), stage)] =
            x->slices[slice - 1].forward_ns;
        durations[symbol_index(stages, symbol_slice_kind(slice, SLICE_BACKWARD), stage)] =
            x->slices[slice - 1].backward_ns;
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
    int64_t *const *backward = p->places->backward_ns[ends[0]->cut], parts[PART_COUNT];
    bool returns = !schedule_is_local(r, boundary);
    if (schedule_is_inner(r, boundary)) return true;
    for (int slice = 0; slice < p->slice_count; slice++) {
        if (!copy_parts(parts,
                        node_prices(p, p->places->forward_ns[ends[0]->cut], slice, from, to)))
            return false;
        put_parts(durations, p->stage_count,
                  slice ? symbol_slice_kind(slice, SLICE_SEND_FORWARD) : SYMBOL_SEND_FORWARD,
                  boundary, parts);
        if (!returns) continue;
        if (!copy_parts(parts,
                        node_prices(p,
                                    backward[option->epilogue_only ? 0 : ends[1]->boundary_option],
                                    slice, from, to)))
            return false;
        put_parts(durations, p->stage_count,
                  slice ? symbol_slice_kind(slice, SLICE_SEND_BACKWARD) : SYMBOL_SEND_BACKWARD,
                  boundary, parts);
    }
    if (!returns) return true;
    if (!copy_parts(parts, node_prices(p, backward[ends[1]->boundary_option], 0, from, to)))
        return false;
    put_parts(durations, p->stage_count, SYMBOL_SEND_EPILOGUE, boundary, parts);
    return true;
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
        if (c->by_position && x->first_layer != layer) return false;
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

// A rank takes one slot: stages 0 .. rank_count - 1 stand on one rank each.
static bool within_slots(const struct choices *c, const int *chosen)
{
    for (int g = 0; g < c->priced->group_count; g++) {
        int used = 0;
        for (int s = 0; s < c->rank_count; s++) used += c->stages[s].items[chosen[s]].group == g;
        if (used > c->priced->groups[g].slots) return false;
    }
    return true;
}

bool choices_within_budget(const struct choices *c, const int *chosen)
{
    const struct priced *p = c->priced;
    const struct quality_budget *b = &p->budget;
    int64_t boundaries = 0, stages = 0, cost = 0;
    for (int s = 0; s < p->stage_count; s++) {
        const struct choice *x = &c->stages[s].items[chosen[s]];
        boundaries += p->boundary_options[x->boundary_option].form.amount > 0;
        stages += priced_compresses_sync(p, x->gradient_option);
        cost += x->quality_cost;
    }
    return (b->boundaries_max < 0 || boundaries <= b->boundaries_max) &&
           (b->stages_max < 0 || stages <= b->stages_max) &&
           (b->cost_max < 0 || cost <= b->cost_max);
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
    return covers_layers(c, chosen) && within_slots(c, chosen) &&
           choices_within_budget(c, chosen) && ends_joined(c, chosen) && ranks_fit(c, chosen);
}
