// Layers of several kinds in the linear program of shares.c: rows of what a box states of ranks
// (kinds.c), of the order of layers, and of memory, whose multipliers become prices.
#include <string.h>

#include "data/base/least.h"
#include "solve/boxes/shares.h"

// As find_durations. Messages are those of any plan of the box.
bool shares_find_least(struct box_closer *b, const struct choice_box *box)
{
    struct box_shares *h = b->shares;
    int kinds = h->kinds, *chosen = b->work.fitting;
    for (int s = 0; s < b->stages; s++) {
        chosen[s] = -1;
        for (int j = 0; j < b->c->stages[s].count; j++) {
            const int *held = b->kinds->held[s] + j * kinds;
            if (!box->allowed[s][j]) continue;
            for (int i = 0; i < kinds; i++) {
                int *least = &h->least[s * kinds + i], *most = &h->most[s * kinds + i];
                *least = chosen[s] < 0 || held[i] < *least ? held[i] : *least;
                *most = chosen[s] < 0 || held[i] > *most ? held[i] : *most;
            }
            chosen[s] = j;
        }
        if (chosen[s] < 0) return false;
    }
    if (!choices_durations(b->c, chosen, h->base)) return false;
    for (int x = 0; x < b->symbols; x++) {
        double sum = h->none[x];
        for (int i = 0; i < kinds; i++)
            sum += h->rise[i * b->symbols + x] * h->least[x % b->stages * kinds + i];
        if (box_is_own(b, x)) h->base[x] = sum > 0 ? (int64_t)(sum + 0.5) : 0;
    }
    return true;
}

int shares_add_layers_row(struct box_closer *b, int rank, int kind, double sign, int layers)
{
    struct box_shares *h = b->shares;
    double least = layers;
    int row = simplex_row_count(h->program);
    memset(h->row, 0, (size_t)(h->share_count + 1) * sizeof *h->row);
    for (int j = 0; j < h->share_count; j++)
        for (int t = 0; t < b->c->virtual_stages && (rank < 0 || h->shares[j].rank == rank); t++)
            h->row[1 + j] += sign * h->shares[j].layers[t * h->kinds + kind];
    for (int s = 0; s < b->stages; s++)
        if (rank < 0 || choices_rank_of(b->c, s) == rank)
            least -= h->least[s * h->kinds + kind] + h->start[s * h->kinds + kind];
    h->path_of[row] = -1;
    simplex_add_row(h->program, h->row, sign * least);
    return row;
}

// A rank's bytes at a moment are within its limit, as if its lightest choices rose
// evenly.
static void add_memory_row(struct box_closer *b, const struct memory_price *of)
{
    struct box_shares *h = b->shares;
    double limit = (double)b->memory.limit, room = limit;
    memset(h->row, 0, (size_t)(h->share_count + 1) * sizeof *h->row);
    for (int t = 0; t < b->c->virtual_stages; t++) {
        int s = choices_stage_of(b->c, of->rank, t),
            held = b->c->peaks[of->rank].in_flight[of->moment][t];
        const double *bytes = b->kinds->bytes + 2 * s * (h->kinds + 1);
        int64_t working = INT64_MAX;
        for (int i = 0; i < b->c->stages[s].count; i++)
            working = smaller(working, b->c->stages[s].items[i].memory.working_bytes);
        room -= bytes[2 * h->kinds] + held * bytes[2 * h->kinds + 1] +
                (t == of->turn ? (double)working : 0);
        for (int k = 0; k < h->kinds; k++) {
            double layer = bytes[2 * k] + held * bytes[2 * k + 1];
            room -= layer * (h->least[s * h->kinds + k] + h->start[s * h->kinds + k]);
            for (int j = 0; j < h->share_count; j++)
                if (h->shares[j].rank == of->rank)
                    h->row[1 + j] -= layer * h->shares[j].layers[t * h->kinds + k] / limit;
        }
    }
    h->path_of[simplex_row_count(h->program)] = -1;
    simplex_add_row(h->program, h->row, -room / limit);
}

// Layers are held in their order, so that up to the end of a stage those of a kind are no
// further ahead of the first kind's, and no less far, than at some layer of the model.
static void add_order_rows(struct box_closer *b, int stage, int kind, int end)
{
    struct box_shares *h = b->shares;
    double part = (double)b->kinds->layers[0] / b->kinds->layers[kind], sign = end ? -1 : 1,
           least = sign * b->kinds->ahead[kind][end];
    memset(h->row, 0, (size_t)(h->share_count + 1) * sizeof *h->row);
    for (int s = 0; s <= stage; s++) {
        const int *held = h->least + s * h->kinds;
        const double *start = h->start + s * h->kinds;
        least -= sign * (part * (held[kind] + start[kind]) - held[0] - start[0]);
    }
    for (int j = 0; j < h->share_count; j++)
        for (int t = 0; t < b->c->virtual_stages; t++) {
            const int *layers = h->shares[j].layers + t * h->kinds;
            if (choices_stage_of(b->c, h->shares[j].rank, t) <= stage)
                h->row[1 + j] += sign * (part * layers[kind] - layers[0]);
        }
    h->path_of[simplex_row_count(h->program)] = -1;
    simplex_add_row(h->program, h->row, least);
}

void shares_add_kind_rows(struct box_closer *b, const struct choice_box *box)
{
    struct box_shares *h = b->shares;
    for (int k = 0; k < h->kinds; k++) shares_add_layers_row(b, -1, k, 1, b->kinds->layers[k]);
    for (int i = 0; i < box_closer_span_count(b); i++) {
        int rank = i % b->c->rank_count, kind = i / b->c->rank_count;
        h->rows[2 * i] = shares_add_layers_row(b, rank, kind, 1, box->spans[i].least);
        h->rows[2 * i + 1] = shares_add_layers_row(b, rank, kind, -1, box->spans[i].most);
    }
    h->memory_row = simplex_row_count(h->program);
    for (int i = 0; i < b->memory.count; i++) add_memory_row(b, &b->memory.rows[i]);
    for (int i = 0; i < 2 * (b->stages - 1) * (h->kinds - 1); i++)
        add_order_rows(b, i / 2 % (b->stages - 1), 1 + i / 2 / (b->stages - 1), i % 2);
}

static double span_price_ns(const struct box_shares *h, int span)
{
    return (simplex_multiplier(h->program, h->rows[2 * span + 1]) -
            simplex_multiplier(h->program, h->rows[2 * span])) *
           h->scale;
}

static double memory_price(const struct box_closer *b, int i)
{
    const struct box_shares *h = b->shares;
    return ldexp(simplex_multiplier(h->program, h->memory_row + i) * h->scale /
                     (double)b->memory.limit,
                 WEIGHT_BITS);
}

// All prices are less by one factor where one of them would be too great.
void shares_take_prices(struct box_closer *b)
{
    int ranks = b->c->rank_count, spans = box_closer_span_count(b);
    double part = 1, most = b->memory.count ? 0x1p59 / b->memory.count : 0;
    for (int i = 0; i < spans; i++)
        part = fmin(part, box_kinds_price_most(b) / fabs(span_price_ns(b->shares, i)));
    for (int i = 0; i < b->memory.count; i++) part = fmin(part, most / memory_price(b, i));
    for (int i = 0; i < spans; i++)
        box_kinds_put(b, i / ranks, i % ranks, part * span_price_ns(b->shares, i));
    for (int i = 0; i < b->memory.count; i++)
        b->memory.rows[i].price = (int64_t)(part * memory_price(b, i));
}
