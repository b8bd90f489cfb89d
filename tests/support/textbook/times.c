// Textbook rows of durations. A product of binaries and sums becomes "at least, unless": a big M
// that is the maximum of what it switches off. docs/FORMULAS.md, sections 7 and 13.
#include "data/base/least.h"
#include "data/kinds/schedules.h"
#include "formulate/program/formulate.h"
#include "tests/support/textbook/textbook.h"

// ---- durations of a stage

// The symbol's kind may be that of a slice.
static int64_t layer_price(const struct textbook *t, const struct priced_run *run, int kind,
                           int group, int option)
{
    int price = symbol_slice(kind) * t->p->group_count + group;
    switch (symbol_base_kind(kind)) {
    case SYMBOL_FORWARD: return run->forward_ns[price];
    case SYMBOL_BACKWARD: return run->backward_ns[price];
    case SYMBOL_WEIGHT: return run->weight_ns[group];
    default: return priced_optimizer_ns(run, option, group);
    }
}

static bool recomputes(int kind) { return symbol_base_kind(kind) == SYMBOL_BACKWARD; }

// The work of a stage before a local boundary in addition to its layers, in the first slice.
static int64_t local_price(const struct textbook *t, int kind, int stage)
{
    if (stage == t->p->stage_count - 1 || !schedule_is_local(&t->c->schedule->request, stage))
        return 0;
    return kind == SYMBOL_FORWARD    ? t->p->local_forward_ns
           : kind == SYMBOL_BACKWARD ? t->p->local_backward_ns
                                     : 0;
}

// The number of options on which the symbol depends.
static int options_of(const struct textbook *t, int kind)
{
    bool apart = symbol_base_kind(kind) == SYMBOL_OPTIMIZER && priced_tiers(t->p);
    return apart ? t->p->gradient_option_count : 1;
}

// The maximum time of all layers together on the group.
static int64_t most_layer_sum(const struct textbook *t, int kind, int group, int option)
{
    int price = symbol_slice(kind) * t->p->group_count + group;
    int64_t most = 0;
    for (int r = 0; r < t->p->run_count; r++) {
        const struct priced_run *run = &t->p->runs[r];
        int64_t extra = recomputes(kind) ? larger(run->again_ns[RECOMPUTE_FULL][price],
                                                  run->again_ns[RECOMPUTE_SELECTIVE][price])
                                         : 0;
        most += run->count * (layer_price(t, run, kind, group, option) + extra);
    }
    return most;
}

// At least the sum over the stage's layers, unless the stage is on another group or has another
// option.
static void add_layer_row(struct textbook *t, int column, int kind, int stage, int g, int option)
{
    const struct priced *p = t->p;
    int price = symbol_slice(kind) * p->group_count + g, switches = 1 + (options_of(t, kind) > 1);
    int64_t most = most_layer_sum(t, kind, g, option), local = local_price(t, kind, stage);
    milp_add_entry(t->m, column, 1);
    for (int l = 0; l < p->layer_count; l++) {
        const struct priced_run *run = textbook_run(t, l);
        textbook_put(t, TEXTBOOK_HOLDS, stage, l, -layer_price(t, run, kind, g, option));
        if (!recomputes(kind)) continue;
        textbook_put(t, TEXTBOOK_FULL, stage, l, -run->again_ns[RECOMPUTE_FULL][price]);
        textbook_put(t, TEXTBOOK_SELECTIVE, stage, l, -run->again_ns[RECOMPUTE_SELECTIVE][price]);
    }
    textbook_put(t, TEXTBOOK_GROUP, stage, g, -most);
    if (switches > 1) textbook_put(t, TEXTBOOK_GRADIENT, stage, option, -most);
    milp_add_row(t->m, ROW_SYMBOL, ROW_AT_LEAST, local - switches * most);
}

// A symbol is a sum over the stage's layers on its group.
static void add_layer_sum(struct textbook *t, int kind, int stage)
{
    const struct priced *p = t->p;
    int symbol = symbol_index(p->stage_count, kind, stage);
    int64_t greatest = 0, local = local_price(t, kind, stage);
    if (!t->used[symbol]) return;
    for (int g = 0; g < p->group_count; g++)
        for (int o = 0; o < options_of(t, kind); o++)
            if (!p->groups[g].excluded) greatest = larger(greatest, most_layer_sum(t, kind, g, o));
    int column = add_symbol_column(t->f, symbol, 0, greatest + local);
    for (int g = 0; g < p->group_count && column >= 0; g++)
        for (int o = 0; o < options_of(t, kind); o++)
            if (textbook_column(t, TEXTBOOK_GROUP, stage, g) >= 0 &&
                (options_of(t, kind) == 1 || textbook_column(t, TEXTBOOK_GRADIENT, stage, o) >= 0))
                add_layer_row(t, column, kind, stage, g, o);
}

static void add_layer_sums(struct textbook *t, int stage)
{
    static const int kinds[] = {SYMBOL_FORWARD, SYMBOL_BACKWARD, SYMBOL_WEIGHT, SYMBOL_OPTIMIZER};
    for (int slice = 0; slice < t->p->slice_count; slice++)
        for (int k = 0; k < 4; k++) add_layer_sum(t, symbol_of_slice(slice, kinds[k]), stage);
}

static int64_t most_sync(const struct textbook *t, int option, int group)
{
    int64_t sum = t->p->groups[group].sync_constant_ns[option];
    for (int r = 0; r < t->p->run_count; r++)
        sum += t->p->runs[r].count * t->p->runs[r].sync_ns[option][group];
    return sum;
}

// G >= constant + sync of the layers up to `last` - last passes of the layers before it (backward,
// or the weight gradient where it is split off), unless: another group, another option, or the
// stage does not hold `last`. last = layer_count: all layers' syncs, no pass (exposed).
static void add_sync_row(struct textbook *t, int column, int stage, int option, int group, int last)
{
    const struct priced *p = t->p;
    bool exposed = last == p->layer_count, splits = schedule_splits_backward(p->layout.schedule);
    int64_t most = most_sync(t, option, group);
    milp_add_entry(t->m, column, 1);
    for (int l = 0; l < p->layer_count && l <= last; l++) {
        const struct priced_run *run = textbook_run(t, l);
        int64_t value = -run->sync_ns[option][group];
        if (!exposed && l < last) {
            value += splits ? run->weight_ns[group] : run->backward_ns[group];
            textbook_put(t, TEXTBOOK_FULL, stage, l,
                         splits ? 0 : run->again_ns[RECOMPUTE_FULL][group]);
            textbook_put(t, TEXTBOOK_SELECTIVE, stage, l,
                         splits ? 0 : run->again_ns[RECOMPUTE_SELECTIVE][group]);
        }
        if (l == last) value -= most;
        textbook_put(t, TEXTBOOK_HOLDS, stage, l, value);
    }
    textbook_put(t, TEXTBOOK_GROUP, stage, group, -most);
    textbook_put(t, TEXTBOOK_GRADIENT, stage, option, -most);
    milp_add_row(t->m, ROW_SYMBOL, ROW_AT_LEAST,
                 p->groups[group].sync_constant_ns[option] - (exposed ? 2 : 3) * most);
}

// kind: SYMBOL_SYNC, or SYMBOL_QUEUED_SYNC, which is a sync in full.
static void add_sync(struct textbook *t, int stage, int kind)
{
    const struct priced *p = t->p;
    int symbol = symbol_index(p->stage_count, kind, stage);
    int64_t greatest = 0;
    if (!t->used[symbol]) return;
    for (int g = 0; g < p->group_count; g++)
        for (int o = 0; o < p->gradient_option_count; o++)
            if (!p->groups[g].excluded) greatest = larger(greatest, most_sync(t, o, g));
    int column = add_symbol_column(t->f, symbol, 0, greatest);
    bool exposed = p->layout.gradient_sync == SYNC_EXPOSED || kind == SYMBOL_QUEUED_SYNC;
    for (int g = 0; g < p->group_count && column >= 0; g++)
        for (int o = 0; o < p->gradient_option_count; o++) {
            if (textbook_column(t, TEXTBOOK_GROUP, stage, g) < 0 ||
                textbook_column(t, TEXTBOOK_GRADIENT, stage, o) < 0)
                continue;
            for (int last = exposed ? p->layer_count : 0; last < p->layer_count + exposed; last++)
                if (exposed || textbook_column(t, TEXTBOOK_HOLDS, stage, last) >= 0)
                    add_sync_row(t, column, stage, o, g, last);
        }
}

// ---- durations of two stages

// symbol >= price, unless one of the binaries of the combination is 0; if no link connects the
// pair, the combination is forbidden.
static void add_switched(struct textbook *t, int column, int64_t price, const int *binaries,
                         int count)
{
    if (price != PRICE_NONE && (price == 0 || column < 0)) return;
    if (price != PRICE_NONE) milp_add_entry(t->m, column, 1);
    for (int i = 0; i < count; i++)
        milp_add_entry(t->m, binaries[i], price == PRICE_NONE ? 1 : -price);
    if (price == PRICE_NONE) milp_add_row(t->m, ROW_FLOW, ROW_AT_MOST, count - 1);
    else milp_add_row(t->m, ROW_SYMBOL, ROW_AT_LEAST, price - count * price);
}

// [(from * groups + to) * PART_COUNT + part] of the kind's slice.
static const int64_t *transfer_prices(const struct priced *p, int kind, int cut, int option)
{
    bool applies = kind == SYMBOL_SEND_EPILOGUE || !p->boundary_options[option].epilogue_only;
    bool forward = symbol_base_kind(kind) == SYMBOL_SEND_FORWARD;
    return (forward ? p->cuts[cut].forward_ns : p->cuts[cut].backward_ns[applies ? option : 0]) +
           symbol_slice(kind) * p->group_count * p->group_count * PART_COUNT;
}

// One symbol over one boundary.
static void add_transfer(struct textbook *t, int boundary, int kind, int part)
{
    const struct priced *p = t->p;
    int symbol = symbol_index(p->stage_count, kind + part, boundary),
        pairs = p->group_count * p->group_count, column = -1;
    int options = symbol_base_kind(kind) == SYMBOL_SEND_FORWARD ? 1 : p->boundary_option_count;
    int64_t greatest = 0;
    for (int c = 0; c < p->cut_count; c++)
        for (int o = 0; o < p->boundary_option_count; o++)
            for (int i = 0; i < pairs; i++)
                greatest = larger(greatest, transfer_prices(p, kind, c, o)[i * PART_COUNT + part]);
    if (t->used[symbol]) column = add_symbol_column(t->f, symbol, 0, greatest);
    for (int c = 0; c < p->cut_count; c++)
        for (int o = 0; o < options; o++)
            for (int i = 0; i < pairs; i++) {
                const int binaries[4] = {
                    textbook_column(t, TEXTBOOK_CUT, boundary, c),
                    textbook_column(t, TEXTBOOK_GROUP, boundary, i / p->group_count),
                    textbook_column(t, TEXTBOOK_GROUP, boundary + 1, i % p->group_count),
                    textbook_column(t, TEXTBOOK_BOUNDARY, boundary + 1, o),
                };
                int64_t price = transfer_prices(p, kind, c, o)[i * PART_COUNT + part];
                // Forbidding a pair once is enough: none of its prices exists.
                bool said = price == PRICE_NONE && (kind != SYMBOL_SEND_FORWARD || part > 0);
                if (binaries[1] >= 0 && binaries[2] >= 0 && binaries[3] >= 0 && !said)
                    add_switched(t, column, price, binaries, options == 1 ? 3 : 4);
            }
}

static void add_transfers(struct textbook *t, int boundary)
{
    bool local = schedule_is_local(&t->c->schedule->request, boundary);
    if (!textbook_crosses_ranks(t, boundary)) return;
    for (int part = 0; part < PART_COUNT; part++)
        for (int slice = 0; slice < t->p->slice_count; slice++) {
            add_transfer(t, boundary, symbol_of_slice(slice, SYMBOL_SEND_FORWARD), part);
            if (local) continue;
            add_transfer(t, boundary, symbol_of_slice(slice, SYMBOL_SEND_BACKWARD), part);
            if (slice == 0) add_transfer(t, boundary, SYMBOL_SEND_EPILOGUE, part);
        }
}

static void add_embedding_sync(struct textbook *t)
{
    const struct priced *p = t->p;
    int symbol = symbol_index(p->stage_count, SYMBOL_EMBEDDING_SYNC, 0), last = p->stage_count - 1,
        column = -1;
    int64_t greatest = 0;
    for (int i = 0; i < p->group_count * p->group_count; i++)
        greatest = larger(greatest, p->embedding_sync_ns[i]);
    if (t->used[symbol]) column = add_symbol_column(t->f, symbol, 0, greatest);
    for (int i = 0; i < p->group_count * p->group_count; i++) {
        const int binaries[2] = {textbook_column(t, TEXTBOOK_GROUP, 0, i / p->group_count),
                                 textbook_column(t, TEXTBOOK_GROUP, last, i % p->group_count)};
        if (binaries[0] >= 0 && binaries[1] >= 0)
            add_switched(t, column, p->embedding_sync_ns[i], binaries, 2);
    }
}

void textbook_add_times(struct textbook *t)
{
    for (int s = 0; s < t->p->stage_count; s++) {
        add_layer_sums(t, s);
        add_sync(t, s, SYMBOL_SYNC);
        add_sync(t, s, SYMBOL_QUEUED_SYNC);
        if (s + 1 < t->p->stage_count) add_transfers(t, s);
    }
    if (t->p->has_embedding_sync && t->p->stage_count > 1) add_embedding_sync(t);
}
