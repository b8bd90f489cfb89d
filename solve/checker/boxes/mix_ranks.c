// A round by ranks, for ranks with several stages. Where a box allows one node group and all its
// boundaries look alike, the layers only need to add up. The stages can then be taken rank by
// rank, and a rank's number of layers is a coordinate of the table. This number can be bounded
// (spans), and the rank's memory can be priced. At one moment of the schedule, with the working
// memory of one stage, the rank's bytes are a sum over its stages and within the limit for every
// plan; so price x (bytes - limit) may be added for any price >= 0. For each number of layers, the
// greatest cost that any of the round's prices gives counts. In a round by decisions a rank
// with few of them left goes through them instead (mix_decisions.c).
#include <string.h>

#include "solve/checker/boxes/internal.h"

// One way to add up a rank's stages: costs, with or without a price of memory, or bytes alone.
struct view {
    const struct check_memory_price *memory; // NULL: only costs
    wide granted;                            // price x limit, rounded up; without a price the
                                             // limit
    int64_t *steps; // [turn * row + layers]: the least of a stage's choices
    int64_t *total; // [layers]: of all stages together
};

struct walk {
    struct check_mixer *m;
    struct check_box *box;
    const struct check_problem *p;
    const struct check_round *round;
    int row; // layers + 1
    int group;
    struct view *views;                             // by rank
    int *first_view;                                // [rank + 1]
    int64_t *costs;                                 // [rank * row + layers]
    int64_t *others;                                // the same: the least of all other ranks
    int64_t *behind, *before, *next, *outer, *rest; // scratch
    int reach;                                      // of `before`: layers are below this
    bool *by_decisions;                             // by rank
    struct mix_decisions *decisions;                // by rank, of those that go by them
};

static int64_t *take_rows(const struct walk *w, int rows)
{
    size_t count = (size_t)rows * (size_t)w->row;
    int64_t *row = TAKE(w->m->arena, count, int64_t);
    for (size_t i = 0; i < count; i++) row[i] = UNREACHED;
    return row;
}

static const struct check_choice *choice_at(const struct walk *w, int stage, int i)
{
    return &w->m->c->items[stage][w->box->left[stage][i]];
}

// ---- whether the box allows it; the effect of a receiver's option on the boundary before it is
// part of its choice

static enum status fold_boundaries(struct walk *w)
{
    const struct check_problem *p = w->p;
    bool alike = true;
    w->group = choice_at(w, 0, 0)->group;
    for (int s = 0; s < p->stages; s++) {
        struct mix_stage *t = &w->m->stages[s];
        int before = s ? w->m->stages[s - 1].left_of[w->box->left[s - 1][0]] : 0;
        for (int i = 0; i < w->box->count[s]; i++) {
            int number = w->box->left[s][i];
            alike = alike && choice_at(w, s, i)->group == w->group &&
                    (s == p->stages - 1 || t->left_of[number] == t->left_of[w->box->left[s][0]]);
        }
        for (int i = 0; i < w->box->count[s] && s > 0; i++) {
            int64_t boundary =
                t->boundary[before * t->right_count + t->right_of[w->box->left[s][i]]];
            t->cost[i] = t->cost[i] >= UNREACHED || boundary >= UNREACHED ? UNREACHED
                                                                          : t->cost[i] + boundary;
        }
    }
    return alike ? OK
                 : fail(p->reader.err, (enum status)NOT_PROVEN,
                        "a round by ranks, where groups or boundaries differ");
}

// ---- chains of links, each of which holds a number of layers at a cost: steps[link * row +
// layers]

// before[n]: the least of the links so far with n layers together.
static void start_chain(struct walk *w)
{
    for (int n = 0; n < w->row; n++) w->before[n] = n ? UNREACHED : 0;
    w->reach = 1;
}

static void add_link(struct walk *w, const int64_t *step)
{
    int most = 0, reach = w->reach;
    for (int n = 0; n < w->row; n++) w->next[n] = UNREACHED;
    for (int n = 0; n < w->row; n++)
        if (step[n] < UNREACHED) {
            most = n;
            mix_lower(w->next + n, w->before, step[n], reach < w->row - n ? reach : w->row - n);
        }
    w->reach = reach + most < w->row ? reach + most : w->row;
    memcpy(w->before, w->next, (size_t)w->row * sizeof *w->before);
}

// rest[link * row + n]: the least of all links other than this one with n layers, outer[layers]
// being the least outside all of them.
static void find_rests(struct walk *w, int links, const int64_t *steps, const int64_t *outer,
                       int64_t *rest)
{
    int row = w->row;
    memcpy(w->behind + links * row, outer, (size_t)row * sizeof *outer);
    for (int link = links - 1; link > 0; link--) {
        int64_t *to = w->behind + link * row, *from = to + row;
        for (int n = 0; n < row; n++) to[n] = UNREACHED;
        for (int n = 0; n < row; n++)
            if (steps[link * row + n] < UNREACHED)
                mix_lower(to, from + n, steps[link * row + n], row - n);
    }
    start_chain(w);
    for (int link = 0; link < links; link++) {
        const int64_t *behind = w->behind + (link + 1) * row;
        for (int n = 0; n < row; n++) {
            int64_t least = UNREACHED;
            for (int covered = 0; covered < w->reach && covered < row - n; covered++)
                if (w->before[covered] + behind[covered + n] < least)
                    least = w->before[covered] + behind[covered + n];
            rest[link * row + n] = least;
        }
        add_link(w, steps + link * row);
    }
}

// ---- one rank

// What a choice adds to a view of its rank.
static int64_t value_of(const struct walk *w, const struct view *v, int rank, int turn, int i)
{
    int stage = check_stage_of(w->p, rank, turn);
    int64_t cost = w->m->stages[stage].cost[i];
    if (!v->memory || cost >= UNREACHED) return cost;
    const struct check_choice *c = choice_at(w, stage, i);
    const int *held = w->m->c->g->peaks[rank].held + v->memory->moment * w->p->turns;
    int64_t bytes = c->resident + held[turn] * c->stash +
                    (turn == v->memory->turn ? c->working : 0);
    if (!v->memory->price) return bytes;
    wide most = ((wide)1 << COST_BITS) / w->p->stages,
         priced = (wide)v->memory->price * bytes >> w->m->shift;
    return cost + (int64_t)(priced < most ? priced : most); // still a lower bound
}

static void open_view(struct walk *w, struct view *v, int rank)
{
    const struct check_group *group = &w->p->groups[w->group];
    wide limit = group->memory_limit - group->constant_bytes, unit = (wide)1 << w->m->shift;
    v->steps = take_rows(w, w->p->turns);
    v->total = take_rows(w, 1);
    start_chain(w);
    for (int turn = 0; turn < w->p->turns; turn++) {
        int stage = check_stage_of(w->p, rank, turn);
        for (int i = 0; i < w->box->count[stage]; i++) {
            int64_t value = value_of(w, v, rank, turn, i),
                    *step = &v->steps[turn * w->row + choice_at(w, stage, i)->layers];
            if (value < *step) *step = value;
        }
        add_link(w, v->steps + turn * w->row);
    }
    memcpy(v->total, w->before, (size_t)w->row * sizeof *v->total);
    if (v->memory && !v->memory->price) v->granted = limit;
    else if (v->memory) v->granted = (v->memory->price * limit + unit - 1) >> w->m->shift;
}

// The views of all ranks: for each its costs alone, then those the round states.
static void list_views(struct walk *w)
{
    const struct check_round *round = w->round;
    int count = 0;
    w->views = TAKE(w->m->arena, w->p->ranks + round->memory_count, struct view);
    w->first_view = TAKE(w->m->arena, w->p->ranks + 1, int);
    for (int rank = 0; rank < w->p->ranks; rank++) {
        w->first_view[rank] = count++;
        for (int i = 0; i < round->memory_count; i++)
            if (round->memory[i].rank == rank) w->views[count++].memory = &round->memory[i];
    }
    w->first_view[w->p->ranks] = count;
}

static void open_rank(struct walk *w, int rank)
{
    int64_t *cost = w->costs + rank * w->row;
    if (w->by_decisions[rank]) mix_cost_decisions(w->m, &w->decisions[rank], cost);
    for (int i = w->first_view[rank]; i < w->first_view[rank + 1] && !w->by_decisions[rank]; i++) {
        struct view *v = &w->views[i];
        open_view(w, v, rank);
        for (int n = 0; n < w->row; n++) {
            wide value = v->total[n] - v->granted;
            if (!v->memory) cost[n] = v->total[n];
            else if (!v->memory->price && value > 0) cost[n] = UNREACHED;
            else if (v->memory->price && value > cost[n])
                cost[n] = value < UNREACHED ? (int64_t)value : UNREACHED;
        }
    }
    for (int n = 0; n < w->row; n++)
        if (n < w->box->spans[rank].least || n > w->box->spans[rank].most) cost[n] = UNREACHED;
}

// Removes numbers of layers whose cost, with the least of the other ranks, exceeds `most`; false:
// none is left.
static bool narrow_rank(struct walk *w, int rank, int64_t most)
{
    int64_t *cost = w->costs + rank * w->row, *others = w->others + rank * w->row;
    struct check_span span = {w->row, -1};
    for (int n = 0; n < w->row; n++) {
        if (cost[n] >= UNREACHED || others[n] > most - cost[n]) cost[n] = UNREACHED;
        if (cost[n] >= UNREACHED) continue;
        if (span.most < 0) span.least = n;
        span.most = n;
    }
    w->box->spans[rank] = span;
    return span.most >= 0;
}

// A choice becomes unreached if a view shows that it costs more than `most` or does not fit.
static void thin_view(struct walk *w, const struct view *v, int rank, int64_t most)
{
    bool of_bytes = v->memory && !v->memory->price;
    for (int n = 0; n < w->row; n++) {
        bool stays = w->costs[rank * w->row + n] < UNREACHED;
        w->outer[n] = !stays ? UNREACHED : of_bytes ? 0 : w->others[rank * w->row + n];
    }
    find_rests(w, w->p->turns, v->steps, w->outer, w->rest);
    for (int turn = 0; turn < w->p->turns; turn++) {
        int stage = check_stage_of(w->p, rank, turn);
        for (int i = 0; i < w->box->count[stage]; i++) {
            int64_t rest = w->rest[turn * w->row + choice_at(w, stage, i)->layers],
                    value = value_of(w, v, rank, turn, i);
            if (value >= UNREACHED || rest >= UNREACHED ||
                value + rest - v->granted > (of_bytes ? 0 : most))
                w->m->stages[stage].cost[i] = UNREACHED;
        }
    }
}

static void thin_decisions(struct walk *w, int rank, int64_t most)
{
    bool *stays[MOST_STAGES];
    for (int turn = 0; turn < w->p->turns; turn++)
        stays[turn] = TAKE(w->m->arena, w->box->count[check_stage_of(w->p, rank, turn)], bool);
    mix_thin_decisions(w->m, &w->decisions[rank], w->costs + rank * w->row,
                       w->others + rank * w->row, most, stays);
    for (int turn = 0; turn < w->p->turns; turn++) {
        int stage = check_stage_of(w->p, rank, turn);
        for (int i = 0; i < w->box->count[stage]; i++)
            if (!stays[turn][i]) w->m->stages[stage].cost[i] = UNREACHED;
    }
}

static void thin_rank(struct walk *w, int rank, int64_t most)
{
    if (w->by_decisions[rank]) thin_decisions(w, rank, most);
    for (int i = w->first_view[rank]; i < w->first_view[rank + 1] && !w->by_decisions[rank]; i++)
        thin_view(w, &w->views[i], rank, most);
    for (int turn = 0; turn < w->p->turns; turn++) {
        int stage = check_stage_of(w->p, rank, turn), kept = 0;
        for (int i = 0; i < w->box->count[stage]; i++)
            if (w->m->stages[stage].cost[i] < UNREACHED)
                w->box->left[stage][kept++] = w->box->left[stage][i];
        w->box->count[stage] = kept;
    }
}

// ---- all ranks

// The most layers that a rank can hold in the box, by its span, its stages and what the other ranks
// need.
static void find_most(const struct walk *w, int *most)
{
    int ranks = w->p->ranks, least[MOST_STAGES], all_least = 0, all_most = 0;
    for (int rank = 0; rank < ranks; rank++) {
        int low = 0, high = 0;
        for (int turn = 0; turn < w->p->turns; turn++) {
            int stage = check_stage_of(w->p, rank, turn), few = w->row, many = 0;
            for (int i = 0; i < w->box->count[stage]; i++) {
                int n = choice_at(w, stage, i)->layers;
                if (w->m->stages[stage].cost[i] >= UNREACHED) continue;
                few = n < few ? n : few;
                many = n > many ? n : many;
            }
            low += few, high += many;
        }
        const struct check_span *span = &w->box->spans[rank];
        least[rank] = span->least > low ? span->least : low;
        most[rank] = span->most < high ? span->most : high;
        all_least += least[rank], all_most += most[rank];
    }
    for (int rank = 0; rank < ranks; rank++) {
        int others_least = all_least - least[rank], others_most = all_most - most[rank];
        if (most[rank] > w->p->layers - others_least) most[rank] = w->p->layers - others_least;
        if (least[rank] < w->p->layers - others_most) least[rank] = w->p->layers - others_most;
        all_least = others_least + least[rank];
        all_most = others_most + most[rank];
    }
}

static enum status list_decisions(struct walk *w)
{
    int ranks = w->p->ranks, most[MOST_STAGES];
    w->by_decisions = TAKE(w->m->arena, ranks, bool);
    w->decisions = TAKE(w->m->arena, ranks, struct mix_decisions);
    find_most(w, most);
    for (int rank = 0; rank < ranks && w->round->decisions; rank++) {
        uint64_t work;
        w->by_decisions[rank] =
            mix_list_decisions(w->m, w->box, rank, most[rank], &w->decisions[rank], &work);
        TRY(check_spend(w->p, w->m->c->work, work));
    }
    return OK;
}

static enum status open_walk(struct walk *w)
{
    int ranks = w->p->ranks, turns = w->p->turns, links = ranks > turns ? ranks : turns;
    uint64_t row = (uint64_t)w->row, views = (uint64_t)(ranks + w->round->memory_count), sum = 0;
    if (((views + 1) * (uint64_t)(turns + 1) + 2 * (uint64_t)(ranks + links) + 5) * row >
        CELLS_MOST)
        return fail(w->p->reader.err, (enum status)NOT_PROVEN,
                    "a box needs a larger table than is checked");
    for (int s = 0; s < w->p->stages; s++) sum += (uint64_t)w->box->count[s];
    sum *= 8 * (views + 1 - (uint64_t)ranks);
    sum += (4 * views * (uint64_t)turns + 3 * (uint64_t)ranks) * row * row;
    TRY(check_spend(w->p, w->m->c->work, sum));
    TRY(list_decisions(w));
    w->costs = take_rows(w, ranks);
    w->others = take_rows(w, ranks);
    w->behind = take_rows(w, links + 1);
    w->rest = take_rows(w, turns);
    w->before = take_rows(w, 1);
    w->next = take_rows(w, 1);
    w->outer = take_rows(w, 1);
    list_views(w);
    return OK;
}

enum status mix_use_ranks(struct check_mixer *m, struct check_box *box,
                          const struct check_round *round, int64_t most, bool *closed)
{
    struct walk w = {.m = m, .box = box, .p = m->p, .round = round, .row = m->p->layers + 1};
    TRY(fold_boundaries(&w));
    *closed = true;
    if (check_seats(m->p, w.group) < m->p->ranks) return OK;
    TRY(open_walk(&w));
    for (int rank = 0; rank < m->p->ranks; rank++) open_rank(&w, rank);
    w.outer[m->p->layers] = 0;
    find_rests(&w, m->p->ranks, w.costs, w.outer, w.others);
    for (int rank = 0; rank < m->p->ranks; rank++) {
        if (!narrow_rank(&w, rank, most)) return OK;
        thin_rank(&w, rank, most);
    }
    *closed = false;
    return OK;
}
