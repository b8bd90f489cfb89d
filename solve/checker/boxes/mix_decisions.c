// A rank with several stages and few decisions left in a box, in a round by ranks: all of them are
// gone through, and those that do not fit into its memory are left out. Its least cost for a number
// of layers is that of a decision that fits.
#include "solve/checker/boxes/internal.h"

// The choice of each turn, as a place in the box; false: there are no more.
static bool next_decision(const struct check_mixer *m, const struct check_box *box, int rank,
                          int *places)
{
    for (int turn = 0; turn < m->p->turns; turn++) {
        if (++places[turn] < box->count[check_stage_of(m->p, rank, turn)]) return true;
        places[turn] = 0;
    }
    return false;
}

struct decision {
    int layers;
    int64_t cost; // UNREACHED: impossible, or it does not fit
};

static struct decision evaluate(const struct check_mixer *m, const struct check_box *box, int rank,
                                const int *places)
{
    const struct check_choice *chosen[MOST_STAGES];
    struct decision d = {0, 0};
    for (int turn = 0; turn < m->p->turns; turn++) {
        int stage = check_stage_of(m->p, rank, turn);
        int64_t cost = m->stages[stage].cost[places[turn]];
        chosen[turn] = &m->c->items[stage][box->left[stage][places[turn]]];
        d.layers += chosen[turn]->layers;
        d.cost = cost >= UNREACHED || d.cost >= UNREACHED ? UNREACHED : d.cost + cost;
    }
    if (d.layers > m->p->layers ||
        check_rank_bytes(m->c->g, rank, chosen) > m->p->groups[chosen[0]->group].memory_limit)
        d.cost = UNREACHED;
    return d;
}

int64_t mix_count_decisions(const struct check_mixer *m, const struct check_box *box, int rank)
{
    int64_t product = 1;
    for (int turn = 0; turn < m->p->turns; turn++) {
        product *= box->count[check_stage_of(m->p, rank, turn)];
        if (product > DECISIONS_MOST) return -1;
    }
    return product;
}

void mix_cost_decisions(const struct check_mixer *m, const struct check_box *box, int rank,
                        int64_t *cost)
{
    int places[MOST_STAGES] = {0};
    for (int n = 0; n <= m->p->layers; n++) cost[n] = UNREACHED;
    do {
        struct decision d = evaluate(m, box, rank, places);
        if (d.cost < UNREACHED && d.cost < cost[d.layers]) cost[d.layers] = d.cost;
    } while (next_decision(m, box, rank, places));
}

void mix_thin_decisions(const struct check_mixer *m, const struct check_box *box, int rank,
                        const int64_t *cost, const int64_t *others, int64_t most, bool **stays)
{
    int places[MOST_STAGES] = {0};
    do {
        struct decision d = evaluate(m, box, rank, places);
        if (d.cost >= UNREACHED || cost[d.layers] >= UNREACHED || others[d.layers] > most - d.cost)
            continue;
        for (int turn = 0; turn < m->p->turns; turn++) stays[turn][places[turn]] = true;
    } while (next_decision(m, box, rank, places));
}
