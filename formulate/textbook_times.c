// Textbook rows of memory and of durations. A product of binaries and sums becomes "at least, unless": a big M that is the
// greatest value of what it switches off. docs/FORMULAS.md, sections 7 and 8.
#include "formulate/formulate_parts.h"
#include "formulate/textbook.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// ---- memory

// Working bytes of a stage: at least those of each of its layers in its mode.
static int add_working(struct textbook *t, int stage)
{
    int64_t most = 0;
    for (int r = 0; r < t->p->run_count; r++)
        for (int i = 0; i < 3; i++) most = larger(most, t->p->runs[r].working_bytes[i]);
    int column = textbook_add_column(t, TEXTBOOK_BYTES, stage, 0, most, false);
    for (int l = 0; l < t->p->layer_count; l++) {
        const int64_t *bytes = textbook_run(t, l)->working_bytes;
        milp_add_entry(t->m, column, 1);
        textbook_put(t, TEXTBOOK_HOLDS, stage, l, -bytes[RECOMPUTE_NONE]);
        textbook_put(t, TEXTBOOK_FULL, stage, l, bytes[RECOMPUTE_NONE] - bytes[RECOMPUTE_FULL]);
        textbook_put(t, TEXTBOOK_SELECTIVE, stage, l, bytes[RECOMPUTE_NONE] - bytes[RECOMPUTE_SELECTIVE]);
        milp_add_row(t->m, ROW_OTHER, ROW_AT_LEAST, 0);
    }
    return column;
}

static int add_gradient_feedback(struct textbook *t, int stage)
{
    const struct priced *p = t->p;
    int64_t most = 0;
    for (int o = 0; o < p->gradient_option_count; o++) {
        int64_t sum = 0;
        for (int r = 0; r < p->run_count; r++) sum += p->runs[r].count * p->runs[r].feedback_bytes[o];
        most = larger(most, sum);
    }
    int column = textbook_add_column(t, TEXTBOOK_BYTES, stage, 1, most, false);
    for (int o = 0; o < p->gradient_option_count; o++) {
        milp_add_entry(t->m, column, 1);
        for (int l = 0; l < p->layer_count; l++)
            textbook_put(t, TEXTBOOK_HOLDS, stage, l, -textbook_run(t, l)->feedback_bytes[o]);
        textbook_put(t, TEXTBOOK_GRADIENT, stage, o, -most);
        milp_add_row(t->m, ROW_OTHER, ROW_AT_LEAST, -most);
    }
    return column;
}

static int add_boundary_feedback(struct textbook *t, int stage)
{
    const struct priced *p = t->p;
    int64_t most = 0;
    for (int c = 0; c < p->cut_count; c++)
        for (int o = 0; o < p->boundary_option_count; o++) most = larger(most, p->cuts[c].feedback_bytes[o]);
    int column = textbook_add_column(t, TEXTBOOK_BYTES, stage, 2, most, false);
    for (int c = 0; c < p->cut_count && stage > 0; c++)
        for (int o = 0; o < p->boundary_option_count; o++) {
            int64_t bytes = p->cuts[c].feedback_bytes[o];
            milp_add_entry(t->m, column, 1);
            textbook_put(t, TEXTBOOK_CUT, stage - 1, c, -bytes);
            textbook_put(t, TEXTBOOK_BOUNDARY, stage, o, -bytes);
            milp_add_row(t->m, ROW_OTHER, ROW_AT_LEAST, -bytes);
        }
    return column;
}

// Bytes of the stage beside the group's constant, as terms; what they come to at most.
static int64_t put_bytes(struct textbook *t, int stage, const int *columns)
{
    const struct priced *p = t->p;
    int64_t most = 0, in_flight = t->c->schedule->in_flight[stage], message = 0;
    for (int l = 0; l < p->layer_count; l++) {
        const struct priced_run *run = textbook_run(t, l);
        const int64_t *stash = run->stash_bytes;
        int64_t states = run->weight_bytes + run->gradient_bytes + run->optimizer_bytes;
        textbook_put(t, TEXTBOOK_HOLDS, stage, l, states + in_flight * stash[RECOMPUTE_NONE]);
        textbook_put(t, TEXTBOOK_FULL, stage, l, in_flight * (stash[RECOMPUTE_FULL] - stash[RECOMPUTE_NONE]));
        textbook_put(t, TEXTBOOK_SELECTIVE, stage, l, in_flight * (stash[RECOMPUTE_SELECTIVE] - stash[RECOMPUTE_NONE]));
        most += states + in_flight * larger(stash[RECOMPUTE_NONE], larger(stash[RECOMPUTE_FULL], stash[RECOMPUTE_SELECTIVE]));
    }
    for (int c = 0; c < p->cut_count; c++) {
        if (stage > 0) textbook_put(t, TEXTBOOK_CUT, stage - 1, c, 2 * p->cuts[c].message_bytes);
        if (stage < p->stage_count - 1) textbook_put(t, TEXTBOOK_CUT, stage, c, 2 * p->cuts[c].message_bytes);
        message = larger(message, p->cuts[c].message_bytes);
    }
    for (int i = 0; i < 3; i++) {
        milp_add_entry(t->m, columns[i], 1);
        most += t->m->columns[columns[i]].upper;
    }
    return most + 4 * message;
}

void textbook_add_memory(struct textbook *t)
{
    for (int s = 0; s < t->p->stage_count; s++) {
        const int columns[3] = {add_working(t, s), add_gradient_feedback(t, s), add_boundary_feedback(t, s)};
        for (int g = 0; g < t->p->group_count; g++) {
            if (textbook_column(t, TEXTBOOK_GROUP, s, g) < 0) continue;
            int before = t->m->entry_count;
            int64_t most = put_bytes(t, s, columns), room = t->p->groups[g].memory_limit_bytes - t->p->groups[g].constant_bytes;
            if (most <= room) {
                t->m->entry_count = before;
                continue;
            }
            textbook_put(t, TEXTBOOK_GROUP, s, g, most - room);
            milp_add_row(t->m, ROW_OTHER, ROW_AT_MOST, most);
        }
    }
}

// ---- durations of a stage

static int64_t layer_price(const struct priced_run *run, int kind, int group)
{
    return kind == SYMBOL_FORWARD ? run->forward_ns[group] : kind == SYMBOL_BACKWARD ? run->backward_ns[group] : run->optimizer_ns[group];
}

// A symbol is a sum over the stage's layers on its group; at least that, unless the stage is on another.
static void add_layer_sum(struct textbook *t, int kind, int stage)
{
    const struct priced *p = t->p;
    int symbol = symbol_index(p->stage_count, kind, stage);
    int64_t *most = TAKE(t->arena, p->group_count, int64_t), greatest = 0;
    if (!t->used[symbol]) return;
    for (int g = 0; g < p->group_count; g++) {
        for (int r = 0; r < p->run_count && !p->groups[g].excluded; r++) {
            const struct priced_run *run = &p->runs[r];
            int64_t extra = larger(run->full_ns[g], run->selective_ns[g]);
            most[g] += run->count * (layer_price(run, kind, g) + (kind == SYMBOL_BACKWARD ? extra : 0));
        }
        greatest = larger(greatest, most[g]);
    }
    int column = add_symbol_column(t->f, symbol, 0, greatest);
    for (int g = 0; g < p->group_count && column >= 0; g++) {
        if (textbook_column(t, TEXTBOOK_GROUP, stage, g) < 0) continue;
        milp_add_entry(t->m, column, 1);
        for (int l = 0; l < p->layer_count; l++) {
            const struct priced_run *run = textbook_run(t, l);
            textbook_put(t, TEXTBOOK_HOLDS, stage, l, -layer_price(run, kind, g));
            if (kind != SYMBOL_BACKWARD) continue;
            textbook_put(t, TEXTBOOK_FULL, stage, l, -run->full_ns[g]);
            textbook_put(t, TEXTBOOK_SELECTIVE, stage, l, -run->selective_ns[g]);
        }
        textbook_put(t, TEXTBOOK_GROUP, stage, g, -most[g]);
        milp_add_row(t->m, ROW_SYMBOL, ROW_AT_LEAST, -most[g]);
    }
}

static int64_t most_sync(const struct textbook *t, int option, int group)
{
    int64_t sum = t->p->groups[group].sync_constant_ns[option];
    for (int r = 0; r < t->p->run_count; r++) sum += t->p->runs[r].count * t->p->runs[r].sync_ns[option][group];
    return sum;
}

// G >= constant + sync of the layers up to `last` - backward of the layers before it, unless: another group, another
// option, or the stage does not hold `last`. last = layer_count: all layers' syncs, no backward (exposed).
static void add_sync_row(struct textbook *t, int column, int stage, int option, int group, int last)
{
    const struct priced *p = t->p;
    bool exposed = last == p->layer_count;
    int64_t most = most_sync(t, option, group);
    milp_add_entry(t->m, column, 1);
    for (int l = 0; l < p->layer_count && l <= last; l++) {
        const struct priced_run *run = textbook_run(t, l);
        int64_t value = -run->sync_ns[option][group];
        if (!exposed && l < last) {
            value += run->backward_ns[group];
            textbook_put(t, TEXTBOOK_FULL, stage, l, run->full_ns[group]);
            textbook_put(t, TEXTBOOK_SELECTIVE, stage, l, run->selective_ns[group]);
        }
        if (l == last) value -= most;
        textbook_put(t, TEXTBOOK_HOLDS, stage, l, value);
    }
    textbook_put(t, TEXTBOOK_GROUP, stage, group, -most);
    textbook_put(t, TEXTBOOK_GRADIENT, stage, option, -most);
    milp_add_row(t->m, ROW_SYMBOL, ROW_AT_LEAST, p->groups[group].sync_constant_ns[option] - (exposed ? 2 : 3) * most);
}

static void add_sync(struct textbook *t, int stage)
{
    const struct priced *p = t->p;
    int symbol = symbol_index(p->stage_count, SYMBOL_SYNC, stage);
    int64_t greatest = 0;
    if (!t->used[symbol]) return;
    for (int g = 0; g < p->group_count; g++)
        for (int o = 0; o < p->gradient_option_count; o++)
            if (!p->groups[g].excluded) greatest = larger(greatest, most_sync(t, o, g));
    int column = add_symbol_column(t->f, symbol, 0, greatest);
    bool exposed = p->layout.gradient_sync == SYNC_EXPOSED;
    for (int g = 0; g < p->group_count && column >= 0; g++)
        for (int o = 0; o < p->gradient_option_count; o++) {
            if (textbook_column(t, TEXTBOOK_GROUP, stage, g) < 0 || textbook_column(t, TEXTBOOK_GRADIENT, stage, o) < 0)
                continue;
            for (int last = exposed ? p->layer_count : 0; last < p->layer_count + exposed; last++)
                if (exposed || textbook_column(t, TEXTBOOK_HOLDS, stage, last) >= 0) add_sync_row(t, column, stage, o, g, last);
        }
}

// ---- durations of two stages

// symbol >= price, unless one of the binaries of the combination is 0; or, where nothing joins, the combination is barred.
static void add_switched(struct textbook *t, int column, int64_t price, const int *binaries, int count)
{
    if (price != PRICE_NONE && (price == 0 || column < 0)) return;
    if (price != PRICE_NONE) milp_add_entry(t->m, column, 1);
    for (int i = 0; i < count; i++) milp_add_entry(t->m, binaries[i], price == PRICE_NONE ? 1 : -price);
    if (price == PRICE_NONE) milp_add_row(t->m, ROW_FLOW, ROW_AT_MOST, count - 1);
    else milp_add_row(t->m, ROW_SYMBOL, ROW_AT_LEAST, price - count * price);
}

static const int64_t *transfer_prices(const struct priced *p, int kind, int cut, int option)
{
    bool applies = kind == SYMBOL_SEND_EPILOGUE || !p->boundary_options[option].epilogue_only;
    return kind == SYMBOL_SEND_FORWARD ? p->cuts[cut].forward_ns : p->cuts[cut].backward_ns[applies ? option : 0];
}

// One symbol over one boundary; index of the price in the pair tables: (from * groups + to) * PART_COUNT + part.
static void add_transfer(struct textbook *t, int boundary, int kind, int part)
{
    const struct priced *p = t->p;
    int symbol = symbol_index(p->stage_count, kind + part, boundary), pairs = p->group_count * p->group_count, column = -1;
    int64_t greatest = 0;
    for (int c = 0; c < p->cut_count; c++)
        for (int o = 0; o < p->boundary_option_count; o++)
            for (int i = 0; i < pairs; i++) greatest = larger(greatest, transfer_prices(p, kind, c, o)[i * PART_COUNT + part]);
    if (t->used[symbol]) column = add_symbol_column(t->f, symbol, 0, greatest);
    for (int c = 0; c < p->cut_count; c++)
        for (int o = 0; o < (kind == SYMBOL_SEND_FORWARD ? 1 : p->boundary_option_count); o++)
            for (int i = 0; i < pairs; i++) {
                const int binaries[4] = {
                    textbook_column(t, TEXTBOOK_CUT, boundary, c),
                    textbook_column(t, TEXTBOOK_GROUP, boundary, i / p->group_count),
                    textbook_column(t, TEXTBOOK_GROUP, boundary + 1, i % p->group_count),
                    textbook_column(t, TEXTBOOK_BOUNDARY, boundary + 1, o),
                };
                int64_t price = transfer_prices(p, kind, c, o)[i * PART_COUNT + part];
                // Barring a pair once is enough: none of its prices exists.
                bool said = price == PRICE_NONE && (kind != SYMBOL_SEND_FORWARD || part > 0);
                if (binaries[1] >= 0 && binaries[2] >= 0 && binaries[3] >= 0 && !said)
                    add_switched(t, column, price, binaries, kind == SYMBOL_SEND_FORWARD ? 3 : 4);
            }
}

static void add_embedding_sync(struct textbook *t)
{
    const struct priced *p = t->p;
    int symbol = symbol_index(p->stage_count, SYMBOL_EMBEDDING_SYNC, 0), last = p->stage_count - 1, column = -1;
    int64_t greatest = 0;
    for (int i = 0; i < p->group_count * p->group_count; i++) greatest = larger(greatest, p->embedding_sync_ns[i]);
    if (t->used[symbol]) column = add_symbol_column(t->f, symbol, 0, greatest);
    for (int i = 0; i < p->group_count * p->group_count; i++) {
        const int binaries[2] = {textbook_column(t, TEXTBOOK_GROUP, 0, i / p->group_count),
                                 textbook_column(t, TEXTBOOK_GROUP, last, i % p->group_count)};
        if (binaries[0] >= 0 && binaries[1] >= 0) add_switched(t, column, p->embedding_sync_ns[i], binaries, 2);
    }
}

void textbook_add_times(struct textbook *t)
{
    static const int kinds[] = {SYMBOL_SEND_FORWARD, SYMBOL_SEND_BACKWARD, SYMBOL_SEND_EPILOGUE};
    for (int s = 0; s < t->p->stage_count; s++) {
        add_layer_sum(t, SYMBOL_FORWARD, s);
        add_layer_sum(t, SYMBOL_BACKWARD, s);
        add_layer_sum(t, SYMBOL_OPTIMIZER, s);
        add_sync(t, s);
        for (int k = 0; s + 1 < t->p->stage_count && k < 3; k++)
            for (int part = 0; part < PART_COUNT; part++) add_transfer(t, s, kinds[k], part);
    }
    if (t->p->has_embedding_sync && t->p->stage_count > 1) add_embedding_sync(t);
}
