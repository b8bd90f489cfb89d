// Layers of several kinds on ranks with several stages, where the dynamic programme works stage by
// stage. A box states of each rank how many layers of each kind it holds at least and at most. For
// a price of a layer of a kind on a rank, price x (layers - most) and price x (least - layers) are
// 0 or less for every plan of the box, so either may be added (docs/PROOFS.md 5.2). Good prices
// come with the weights of shares.c; what is in no plan of the box is removed first.
#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/box_internal.h"

enum { CELLS_MOST = 4096 };       // combinations of layers that a stage may hold
static const int price_room = 57; // bits: all prices times layers together stay below this, in ns

static int kind_of_layer(const struct box_kinds *k, const struct priced *p, int layer)
{
    int run = priced_run_of(p, layer);
    for (int i = 0; i < k->count; i++)
        if (run == k->runs[i] || choices_runs_alike(p, run, k->runs[i])) return i;
    return -1;
}

// The kinds of which there is at least a layer for each rank. false: fewer than two, or too many.
static bool find_kinds(struct box_kinds *k, const struct choices *c)
{
    const struct priced *p = c->priced;
    int64_t cells = 1;
    for (int i = 0; i < p->rule_count; i++)
        if (p->rules[i].run) return false; // a rule tells runs apart
    for (int run = 0; run < p->run_count; run++) {
        int layers = 0, before = 0;
        for (int other = 0; other < p->run_count; other++)
            if (other == run || choices_runs_alike(p, other, run)) {
                layers += p->runs[other].count;
                before += other < run;
            }
        if (before || layers < c->rank_count) continue;
        if (k->count == KINDS_MAX) return false;
        k->runs[k->count] = run;
        k->layers[k->count++] = layers;
        cells *= layers + 1;
    }
    return k->count > 1 && cells <= CELLS_MOST;
}

// Layers of each kind on each choice of each stage. Behind free_from all are of one kind, wherever
// a middle stage starts.
static void count_layers(struct box_kinds *k, const struct choices *c, struct arena *arena)
{
    const struct priced *p = c->priced;
    int *before = TAKE(arena, (p->layer_count + 1) * k->count, int);
    for (int layer = 0; layer < p->layer_count; layer++) {
        int own = kind_of_layer(k, p, layer);
        for (int i = 0; i < k->count; i++)
            before[(layer + 1) * k->count + i] = before[layer * k->count + i] + (own == i);
    }
    for (int i = 0; i < k->count; i++) {
        double *ends = k->ahead[i];
        ends[0] = p->layer_count, ends[1] = -p->layer_count;
        for (int layer = 1; layer < p->layer_count; layer++) {
            const int *at = before + layer * k->count;
            double ahead = (double)at[i] * k->layers[0] / k->layers[i] - at[0];
            ends[0] = ahead < ends[0] ? ahead : ends[0];
            ends[1] = ahead > ends[1] ? ahead : ends[1];
        }
    }
    k->held = TAKE(arena, p->stage_count, int *);
    k->added = TAKE(arena, p->stage_count, wide *);
    for (int s = 0; s < p->stage_count; s++) {
        int count = c->stages[s].count;
        k->held[s] = TAKE(arena, count * k->count, int);
        k->added[s] = TAKE(arena, count, wide);
        for (int j = 0; j < count; j++) {
            const struct choice *x = &c->stages[s].items[j];
            int from = s == p->stage_count - 1 ? p->layer_count - x->layer_count
                       : x->first_layer >= 0   ? x->first_layer
                                               : larger_int(place_least(x->first_layer), s),
                end = from + x->layer_count;
            assert(from >= 0 && end <= p->layer_count);
            for (int i = 0; i < k->count; i++)
                k->held[s][j * k->count + i] = before[end * k->count + i] -
                                               before[from * k->count + i];
        }
    }
}

void box_kinds_open(struct box_closer *b)
{
    struct box_kinds kinds = {0};
    if (!b->memory.count || b->c->joint || !find_kinds(&kinds, b->c)) return;
    b->kinds = TAKE_COPY(b->arena, &kinds, 1);
    count_layers(b->kinds, b->c, b->arena);
    b->kinds->prices = TAKE(b->arena, kinds.count * b->c->rank_count, int64_t);
}

int box_closer_span_count(const struct box_closer *b)
{
    int ranks = b->c->rank_count;
    return b->kinds ? b->kinds->count * ranks : box_closer_is_by_ranks(b) ? ranks : 0;
}

int box_closer_span_at(const struct box_closer *b, const struct box_split *s)
{
    if (!b->kinds) return box_closer_is_by_ranks(b) && !s->like ? s->at : -1;
    for (int kind = 0; kind < b->kinds->count; kind++)
        if (b->kinds->runs[kind] == s->like - 1) return kind * b->c->rank_count + s->at;
    return -1;
}

// ---- prices

// Adds what the prices charge. Whatever a price is, layers are at most those of the model.
void box_kinds_charge(struct box_closer *b, const struct choice_box *box)
{
    struct box_kinds *k = b->kinds;
    int ranks = b->c->rank_count, shift = WEIGHT_BITS - PRICE_BITS;
    k->granted = 0;
    k->charging = false;
    for (int s = 0; s < b->stages; s++)
        memset(k->added[s], 0, (size_t)b->c->stages[s].count * sizeof *k->added[s]);
    for (int at = 0; at < k->count * ranks; at++) {
        int kind = at / ranks, rank = at % ranks, all = k->layers[kind];
        wide price = (wide)k->prices[at] * ((wide)1 << shift);
        if (!price) continue;
        k->charging = true;
        k->granted += price > 0 ? price * box->spans[at].most
                                : -price * (b->c->virtual_stages * all - box->spans[at].least);
        for (int t = 0; t < b->c->virtual_stages; t++) {
            int s = choices_stage_of(b->c, rank, t);
            for (int j = 0; j < b->c->stages[s].count; j++) {
                int held = k->held[s][j * k->count + kind];
                k->added[s][j] += price > 0 ? price * held : -price * (all - held);
            }
        }
    }
}

double box_kinds_price_most(const struct box_closer *b)
{
    double most = (double)((int64_t)1 << price_room) /
                  (double)(b->stages * b->kinds->count * b->c->priced->layer_count);
    return most < 0x1p40 ? most : 0x1p40;
}

void box_kinds_put(struct box_closer *b, int kind, int rank, double price_ns)
{
    double most = box_kinds_price_most(b), price = price_ns > most    ? most
                                                   : price_ns < -most ? -most
                                                                      : price_ns;
    b->kinds->prices[kind * b->c->rank_count + rank] = (int64_t)(price * (1 << PRICE_BITS));
}

void box_kinds_clear(struct box_closer *b)
{
    if (b->kinds)
        memset(b->kinds->prices, 0,
               (size_t)(b->kinds->count * b->c->rank_count) * sizeof *b->kinds->prices);
}

void box_kinds_note(const struct box_closer *b, struct box_step *step)
{
    const struct box_kinds *k = b->kinds;
    int ranks = b->c->rank_count;
    if (!k) return;
    struct layer_price *prices = TAKE(b->arena, k->count * ranks, struct layer_price);
    for (int at = 0; at < k->count * ranks; at++)
        if (k->prices[at])
            prices[step->layer_price_count++] =
                (struct layer_price){at % ranks, k->runs[at / ranks], k->prices[at]};
    step->layers = prices;
}

void box_kinds_repeat(struct box_closer *b, const struct box_step *step)
{
    box_kinds_clear(b);
    for (int i = 0; i < step->layer_price_count; i++) {
        const struct layer_price *of = &step->layers[i];
        struct box_split split = {.by = SPLIT_LAYERS, .at = of->rank, .like = of->run + 1};
        b->kinds->prices[box_closer_span_at(b, &split)] = of->price;
    }
}

// ---- what no plan of the box has

// The least and the most of a kind on a stage. false: it has no choice.
static bool find_ends(const struct box_closer *b, const struct choice_box *box, int s, int kind,
                      struct layer_span *ends)
{
    const struct box_kinds *k = b->kinds;
    *ends = (struct layer_span){k->layers[kind] + 1, -1};
    for (int j = 0; j < b->c->stages[s].count; j++) {
        int held = k->held[s][j * k->count + kind];
        if (!box->allowed[s][j]) continue;
        ends->least = smaller_int(ends->least, held);
        ends->most = larger_int(ends->most, held);
    }
    return ends->most >= 0;
}

static void empty_box(const struct box_closer *b, const struct choice_box *box)
{
    memset(box->allowed[0], 0, (size_t)b->c->stages[0].count);
}

// Narrows the spans of a kind to what the stages allow and what the other ranks leave. false:
// nothing is left. ends[stage].
static bool narrow_spans(const struct box_closer *b, const struct choice_box *box, int kind,
                         struct layer_span *ends)
{
    int ranks = b->c->rank_count, least = 0, most = 0, all = b->kinds->layers[kind];
    struct layer_span *spans = box->spans + kind * ranks;
    for (int s = 0; s < b->stages; s++)
        if (!find_ends(b, box, s, kind, &ends[s])) return false;
    for (int r = 0; r < ranks; r++) {
        struct layer_span sum = {0, 0};
        for (int t = 0; t < b->c->virtual_stages; t++) {
            sum.least += ends[choices_stage_of(b->c, r, t)].least;
            sum.most += ends[choices_stage_of(b->c, r, t)].most;
        }
        spans[r].least = larger_int(spans[r].least, sum.least);
        spans[r].most = smaller_int(spans[r].most, sum.most);
        least += spans[r].least, most += spans[r].most;
    }
    for (int r = 0; r < ranks; r++) {
        struct layer_span was = spans[r];
        spans[r].least = larger_int(was.least, all - (most - was.most));
        spans[r].most = smaller_int(was.most, all - (least - was.least));
        if (spans[r].least > spans[r].most) return false;
    }
    return true;
}

// Whether a split said anything of this kind in the box. Others are left alone, as by the checker.
static bool is_stated(const struct box_closer *b, const struct layer_span *spans)
{
    for (int r = 0; r < b->c->rank_count; r++)
        if (spans[r].least > 0 || spans[r].most < b->c->priced->layer_count) return true;
    return false;
}

void box_narrow(const struct box_closer *b, const struct choice_box *box)
{
    const struct box_kinds *k = b->kinds;
    struct layer_span ends[STAGES_MAX];
    int ranks = b->c->rank_count;
    for (int kind = 0; k && kind < k->count; kind++) {
        if (!is_stated(b, box->spans + kind * ranks)) continue;
        if (!narrow_spans(b, box, kind, ends)) {
            empty_box(b, box);
            return;
        }
        for (int s = 0; s < b->stages; s++) {
            int r = choices_rank_of(b->c, s), least = 0, most = 0;
            const struct layer_span *span = &box->spans[kind * ranks + r];
            for (int t = 0; t < b->c->virtual_stages; t++) {
                int other = choices_stage_of(b->c, r, t);
                least += other == s ? 0 : ends[other].least;
                most += other == s ? 0 : ends[other].most;
            }
            for (int j = 0; j < b->c->stages[s].count; j++) {
                int held = k->held[s][j * k->count + kind];
                box->allowed[s][j] = box->allowed[s][j] && held + least <= span->most &&
                                     held + most >= span->least;
            }
        }
    }
}

bool box_within_spans(const struct box_closer *b, const struct choice_box *box, const int *chosen)
{
    const struct box_kinds *k = b->kinds;
    int ranks = b->c->rank_count;
    for (int at = 0; k && at < k->count * ranks; at++) {
        int held = 0;
        for (int t = 0; t < b->c->virtual_stages; t++) {
            int s = choices_stage_of(b->c, at % ranks, t);
            held += k->held[s][chosen[s] * k->count + at / ranks];
        }
        if (held < box->spans[at].least || held > box->spans[at].most) return false;
    }
    return true;
}

// ---- what a layer takes

bool box_is_own(const struct box_closer *b, int symbol)
{
    int kind = symbol_base_kind(symbol / b->stages);
    return kind < SYMBOL_SEND_FORWARD || kind >= SYMBOL_QUEUED_SYNC;
}

// at[layers of each kind, as a number]: the lightest such choice of the stage, or -1. Returns how
// many numbers there are.
static int list_lightest(const struct box_closer *b, int stage, int *at)
{
    const struct box_kinds *k = b->kinds;
    const struct choice *items = b->c->stages[stage].items;
    int cells = 1;
    for (int i = 0; i < k->count; i++) cells *= k->layers[i] + 1;
    for (int i = 0; i < cells; i++) at[i] = -1;
    for (int j = 0; j < b->c->stages[stage].count; j++) {
        int cell = 0;
        for (int i = 0; i < k->count; i++)
            cell = cell * (k->layers[i] + 1) + k->held[stage][j * k->count + i];
        if (at[cell] < 0 || items[j].load_ns < items[at[cell]].load_ns) at[cell] = j;
    }
    return cells;
}

// The durations of a stage with this choice, its resident bytes, and its stash.
static void take_values(struct box_closer *b, int stage, const struct choice *c, double *values)
{
    int count = b->symbols / b->stages;
    choices_stage_durations(b->c, stage, c, b->work.durations);
    for (int i = 0; i < count; i++) values[i] = (double)b->work.durations[i * b->stages + stage];
    values[count] = (double)box_resident_bytes(c);
    values[count + 1] = (double)c->stash_bytes;
}

// The least that one more layer of a kind adds to a value of any choice; cells that differ by one
// are `step` apart.
static double least_rise(const struct box_kinds *k, int kind, int step, const int *at, int cells,
                         const double *values, int parts)
{
    double least = 0;
    bool any = false;
    for (int cell = 0; cell + step < cells; cell++) {
        int layers = cell / step % (k->layers[kind] + 1);
        if (at[cell] < 0 || at[cell + step] < 0 || layers == k->layers[kind]) continue;
        double rise = values[at[cell + step] * parts] - values[at[cell] * parts];
        least = !any || rise < least ? rise : least;
        any = true;
    }
    return least > 0 ? least : 0;
}

// What a layer of each kind adds to a stage's durations and bytes, and what is left without layers:
// no more than any of its lightest choices takes, and exact where these rise evenly.
static void find_stage_rises(struct box_closer *b, int stage, int *at, double *rise, double *none)
{
    const struct box_kinds *k = b->kinds;
    int cells = list_lightest(b, stage, at), parts = b->symbols / b->stages + 2;
    double *values = TAKE(b->arena, b->c->stages[stage].count * parts, double);
    for (int cell = 0; cell < cells; cell++)
        if (at[cell] >= 0)
            take_values(b, stage, &b->c->stages[stage].items[at[cell]], values + at[cell] * parts);
    for (int part = 0; part < parts; part++) {
        double rises[KINDS_MAX + 1] = {0}, *left = &rises[k->count];
        int byte = part - (parts - 2), x = part * b->stages + stage;
        bool any = false;
        for (int i = k->count - 1, step = 1; i >= 0; step *= k->layers[i--] + 1)
            rises[i] = least_rise(k, i, step, at, cells, values + part, parts);
        for (int cell = 0; cell < cells; cell++) {
            if (at[cell] < 0) continue;
            double own = values[at[cell] * parts + part];
            for (int i = 0; i < k->count; i++)
                own -= rises[i] * k->held[stage][at[cell] * k->count + i];
            *left = !any || own < *left ? own : *left;
            any = true;
        }
        for (int i = 0; i <= k->count; i++) {
            if (byte >= 0) k->bytes[2 * (stage * (k->count + 1) + i) + byte] = rises[i];
            else if (!box_is_own(b, x)) continue;
            else if (i < k->count) rise[i * b->symbols + x] = rises[i];
            else none[x] = rises[i];
        }
    }
}

void box_kinds_rises(struct box_closer *b, double *rise, double *none)
{
    int cells = 1;
    for (int i = 0; i < b->kinds->count; i++) cells *= b->kinds->layers[i] + 1;
    b->kinds->bytes = TAKE(b->arena, 2 * b->stages * (b->kinds->count + 1), double);
    struct arena_mark mark = arena_set_mark(b->arena);
    int *at = TAKE(b->arena, cells, int);
    for (int s = 0; s < b->stages; s++) find_stage_rises(b, s, at, rise, none);
    arena_reset(b->arena, mark);
}
