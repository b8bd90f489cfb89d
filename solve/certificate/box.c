// Operations on a box of the checker, for the maker of certificates.

#include "solve/certificate/internal.h"

struct check_box maker_copy_box(const struct maker *m, const struct check_box *box,
                                struct arena *arena)
{
    struct check_box other = {TAKE(arena, m->p.stages, int *),
                              TAKE_COPY(arena, box->count, m->p.stages),
                              TAKE_COPY(arena, box->spans, box->span_count), box->span_count};
    for (int s = 0; s < m->p.stages; s++)
        other.left[s] = TAKE_COPY(arena, box->left[s], box->count[s]);
    return other;
}

int maker_left_in(const struct maker *m, const struct check_box *box)
{
    int sum = 0;
    for (int s = 0; s < m->p.stages; s++) sum += box->count[s];
    for (int r = 0; r < box->span_count; r++) sum += box->spans[r].most - box->spans[r].least;
    return sum;
}

bool maker_is_empty(const struct maker *m, const struct check_box *box)
{
    for (int s = 0; s < m->p.stages; s++)
        if (!box->count[s]) return true;
    for (int r = 0; r < box->span_count; r++)
        if (box->spans[r].least > box->spans[r].most) return true;
    return false;
}

bool maker_is_single(const struct maker *m, const struct check_box *box)
{
    for (int s = 0; s < m->p.stages; s++)
        if (box->count[s] > 1) return false;
    return true;
}

struct check_decision proof_decision(const struct decision *d)
{
    struct check_decision to = {
        .first = d->first_layer, .layers = d->layer_count, .group = d->group};
    assert(decision_row_count == check_decision_row_count);
    for (int i = 0; i < decision_row_count; i++)
        *(int *)((char *)&to + check_decision_rows[i].at) = decision_value(d, &decision_rows[i]);
    return to;
}

static bool has_property(const struct maker *m, const struct proof_box *by, int number)
{
    const struct check_choice *c = &m->choices.items[by->stage][number];
    assert(by->end >= END_SPLIT_LOAD && by->end <= END_SPLIT_PLACE);
    if (by->end == END_SPLIT_LOAD) return c->load < by->load_ns;
    if (by->end == END_SPLIT_PLACE) return c->first == by->layers;
    return by->end == END_SPLIT_GROUP ? c->group == by->group : number == by->choice;
}

bool maker_separates(const struct maker *m, const struct proof_box *by)
{
    if (by->end == END_SPLIT_RANK) return true;
    int with = 0, count = m->choices.count[by->stage];
    for (int i = 0; i < count; i++)
        with += by->end == END_SPLIT_CHOICE
                    ? check_decision_is(&by->stated, &m->choices.items[by->stage][i].decision)
                    : has_property(m, by, i);
    return with > 0 && with < count;
}

struct check_box maker_split(struct maker *m, struct check_box *box, const struct proof_box *by,
                             struct arena *arena)
{
    struct check_box other = maker_copy_box(m, box, arena);
    if (by->end == END_SPLIT_RANK) {
        assert(by->rank >= 0 && by->rank < m->p.ranks);
        int at = by->rank;
        if (by->like) at += (m->choices.kind_of[by->like - 1] + 1) * m->p.ranks;
        struct check_span *below = &box->spans[at], *others = &other.spans[at];
        if (below->most >= by->layers) below->most = by->layers - 1;
        if (others->least < by->layers) others->least = by->layers;
        return other;
    }
    assert(by->stage >= 0 && by->stage < m->p.stages);
    int kept = 0, others = 0;
    for (int i = 0; i < box->count[by->stage]; i++) {
        int number = box->left[by->stage][i];
        if (has_property(m, by, number)) box->left[by->stage][kept++] = number;
        else other.left[by->stage][others++] = number;
    }
    box->count[by->stage] = kept;
    other.count[by->stage] = others;
    return other;
}
