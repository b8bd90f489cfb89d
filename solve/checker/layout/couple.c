// Constraints between the stages of one rank: one node group, and its memory. A choice is removed
// from a box if the rank's other stages have no choice on its group, or if it does not fit
// together with the least that they need there. That least is taken for each part of their memory
// separately.
#include "solve/checker/layout/box.h"

// The least of each stage of a rank on one group, combined into one choice that need not exist.
// Returns false where a stage has none.
static bool find_least(const struct check_choices *c, const struct check_box *box, int rank,
                       int group, struct check_choice *least)
{
    for (int turn = 0; turn < c->p->turns; turn++) {
        int stage = check_stage_of(c->p, rank, turn), count = 0;
        for (int i = 0; i < box->count[stage]; i++) {
            const struct check_choice *x = &c->items[stage][box->left[stage][i]];
            if (x->group != group) continue;
            if (!count++)
                least[turn] = (struct check_choice){.group = group,
                                                    .resident = x->resident,
                                                    .stash = x->stash,
                                                    .working = x->working};
            if (x->resident < least[turn].resident) least[turn].resident = x->resident;
            if (x->stash < least[turn].stash) least[turn].stash = x->stash;
            if (x->working < least[turn].working) least[turn].working = x->working;
        }
        if (!count) return false;
    }
    return true;
}

// Removes from the rank's stages the choices on this group that do not fit.
static void couple_group(const struct check_choices *c, struct check_box *box, int rank, int group,
                         struct check_choice *least)
{
    const struct check_choice *chosen[MOST_STAGES];
    bool together = find_least(c, box, rank, group, least);
    for (int turn = 0; turn < c->p->turns; turn++) chosen[turn] = &least[turn];
    for (int turn = 0; turn < c->p->turns; turn++) {
        int stage = check_stage_of(c->p, rank, turn), kept = 0;
        for (int i = 0; i < box->count[stage]; i++) {
            int number = box->left[stage][i];
            const struct check_choice *x = &c->items[stage][number];
            if (x->group == group) {
                chosen[turn] = x;
                if (!together ||
                    check_rank_bytes(c->g, rank, chosen) > c->p->groups[group].memory_limit)
                    continue;
            }
            box->left[stage][kept++] = number;
        }
        box->count[stage] = kept;
        chosen[turn] = &least[turn];
    }
}

struct check_box check_whole_box(const struct check_choices *c, struct arena *arena)
{
    const struct check_problem *p = c->p;
    struct check_box box = {TAKE(arena, p->stages, int *), TAKE(arena, p->stages, int),
                            .span_count = p->ranks * (c->kind_count + 1)};
    box.spans = TAKE(arena, box.span_count, struct check_span);
    for (int i = 0; i < box.span_count; i++) box.spans[i] = (struct check_span){0, p->layers};
    for (int s = 0; s < p->stages; s++) {
        box.count[s] = c->count[s];
        box.left[s] = TAKE(arena, box.count[s], int);
        for (int i = 0; i < box.count[s]; i++) box.left[s][i] = i;
    }
    return box;
}

// Keeps the choices that start where a stage before them may end; back: that end where a stage
// behind them may start. Covered layers from free_from on are one place, since choices that start
// there state none. reached: [stages + 1][places].
static void couple_starts(const struct check_choices *c, struct check_box *box, bool *reached,
                          bool back)
{
    int free = c->free_from, stages = c->p->stages;
    reached[back ? stages * (free + 1) + free : 0] = true;
    for (int k = 0; k < stages; k++) {
        int s = back ? stages - 1 - k : k, kept = 0;
        bool *now = reached + s * (free + 1), *next = now + free + 1;
        for (int i = 0; i < box->count[s]; i++) {
            const struct check_choice *x = &c->items[s][box->left[s][i]];
            int first = x->first < 0 || x->first > free ? free : x->first, end = first + x->layers;
            bool *starts = &now[first], *ends = &next[end < free ? end : free];
            if (!*(back ? ends : starts)) continue;
            *(back ? starts : ends) = true;
            box->left[s][kept++] = box->left[s][i];
        }
        box->count[s] = kept;
    }
}

static enum status couple_places(const struct check_choices *c, struct check_box *box)
{
    const struct check_problem *p = c->p;
    size_t cells = (size_t)(p->stages + 1) * (size_t)(c->free_from + 1);
    uint64_t sum = 2 * cells;
    for (int s = 0; s < p->stages; s++) sum += 2 * (uint64_t)box->count[s];
    TRY(check_spend(p, c->work, sum));
    struct arena_mark mark = arena_set_mark(c->arena);
    couple_starts(c, box, TAKE(c->arena, cells, bool), false);
    couple_starts(c, box, TAKE(c->arena, cells, bool), true);
    arena_reset(c->arena, mark);
    return OK;
}

// ---- layers of each kind

static int least_of(int a, int b) { return a < b ? a : b; }
static int most_of(int a, int b) { return a > b ? a : b; }

// The least and the most layers of a kind that each stage's choices have.
static void find_ends(const struct check_choices *c, const struct check_box *box, int kind,
                      struct check_span *ends)
{
    for (int s = 0; s < c->p->stages; s++) {
        ends[s] = (struct check_span){c->p->layers, 0};
        for (int i = 0; i < box->count[s]; i++) {
            int n = check_layers_of(c, s, &c->items[s][box->left[s][i]], kind);
            ends[s] = (struct check_span){least_of(ends[s].least, n), most_of(ends[s].most, n)};
        }
    }
}

// All layers of the kind are on the ranks, so each has what the others leave.
static void narrow_kind(const struct check_choices *c, struct check_span *spans, int kind,
                        const struct check_span *ends)
{
    const struct check_problem *p = c->p;
    int least = 0, most = 0, all = c->before[kind * (p->layers + 1) + p->layers];
    for (int r = 0; r < p->ranks; r++) {
        struct check_span sum = {0, 0};
        for (int turn = 0; turn < p->turns; turn++) {
            const struct check_span *end = &ends[check_stage_of(p, r, turn)];
            sum.least += end->least, sum.most += end->most;
        }
        spans[r].least = most_of(spans[r].least, sum.least);
        spans[r].most = least_of(spans[r].most, sum.most);
        least += spans[r].least, most += spans[r].most;
    }
    for (int r = 0; r < p->ranks; r++) {
        struct check_span was = spans[r];
        spans[r].least = most_of(was.least, all - (most - was.most));
        spans[r].most = least_of(was.most, all - (least - was.least));
    }
}

// Keeps the choices of a stage with which the rank can hold so many.
static void keep_kind(const struct check_choices *c, struct check_box *box, int s, int kind,
                      const struct check_span *ends)
{
    const struct check_problem *p = c->p;
    int rank = check_rank_of(p, s), least = 0, most = 0, kept = 0;
    const struct check_span *span = &box->spans[(kind + 1) * p->ranks + rank];
    for (int turn = 0; turn < p->turns; turn++) {
        int other = check_stage_of(p, rank, turn);
        if (other != s) least += ends[other].least, most += ends[other].most;
    }
    for (int i = 0; i < box->count[s]; i++) {
        int n = check_layers_of(c, s, &c->items[s][box->left[s][i]], kind);
        if (n + least <= span->most && n + most >= span->least)
            box->left[s][kept++] = box->left[s][i];
    }
    box->count[s] = kept;
}

static bool states_kind(const struct check_problem *p, const struct check_span *spans)
{
    for (int r = 0; r < p->ranks; r++)
        if (spans[r].least > 0 || spans[r].most < p->layers) return true;
    return false;
}

// Only kinds of which a span was stated: the others are not looked at.
static enum status couple_kinds(const struct check_choices *c, struct check_box *box)
{
    const struct check_problem *p = c->p;
    struct check_span ends[MOST_STAGES];
    for (int kind = 0; (kind + 1) * p->ranks < box->span_count; kind++) {
        struct check_span *spans = box->spans + (kind + 1) * p->ranks;
        uint64_t sum = (uint64_t)p->ranks;
        if (!states_kind(p, spans)) continue;
        for (int s = 0; s < p->stages; s++) sum += 3 * (uint64_t)box->count[s] + (uint64_t)p->turns;
        TRY(check_spend(p, c->work, sum));
        find_ends(c, box, kind, ends);
        narrow_kind(c, spans, kind, ends);
        for (int s = 0; s < p->stages; s++) keep_kind(c, box, s, kind, ends);
        for (int r = 0; r < p->ranks; r++)
            if (spans[r].least > spans[r].most) box->count[0] = 0;
    }
    return OK;
}

enum status check_couple_ranks(const struct check_choices *c, struct check_box *box)
{
    const struct check_problem *p = c->p;
    struct check_choice least[MOST_STAGES];
    if (p->turns > 1 && c->free_from) TRY(couple_places(c, box));
    for (int rank = 0; rank < p->ranks && p->turns > 1; rank++) {
        uint64_t sum = 0;
        for (int turn = 0; turn < p->turns; turn++)
            sum += (uint64_t)box->count[check_stage_of(p, rank, turn)];
        TRY(check_spend(p, c->work,
                        sum * ((uint64_t)p->group_count +
                               (uint64_t)p->turns * (1 + (uint64_t)c->g->peaks[rank].count))));
        for (int group = 0; group < p->group_count; group++)
            couple_group(c, box, rank, group, least);
    }
    return couple_kinds(c, box);
}
