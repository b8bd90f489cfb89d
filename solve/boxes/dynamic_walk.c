// The walk of the dynamic programme: a cell is (counted uses, layers covered) of one boundary state
// after one stage. Layers are the innermost index, so a choice is one shifted addition over a row;
// layers that cannot be reached or completed are left out of every row. It goes forward for the
// bound and the least decision, and also backward for the bound through each choice.
#include "solve/boxes/dynamic_table.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

// Which numbers of covered layers can be reached and completed. false: a stage has no allowed
// choice, or none fits.
static bool bound_layers(struct dynamic *d)
{
    int least[STAGES_MAX], most[STAGES_MAX], sum_least = 0, sum_most = 0;
    for (int s = 0; s < d->stage_count; s++) {
        least[s] = d->layers + 1;
        most[s] = 0;
        for (int i = 0; i < d->c->stages[s].count; i++) {
            int count = d->c->stages[s].items[i].layer_count;
            if (d->stages[s].cost[i] >= NOT_REACHED) continue;
            least[s] = count < least[s] ? count : least[s];
            most[s] = count > most[s] ? count : most[s];
        }
        if (least[s] > d->layers) return false;
        d->stages[s].least = sum_least += least[s];
        d->stages[s].most = sum_most += most[s];
    }
    int rest_least = 0, rest_most = 0;
    for (int s = d->stage_count - 1; s >= 0; s--) {
        struct stage_table *t = &d->stages[s];
        t->least = t->least > d->layers - rest_most ? t->least : d->layers - rest_most;
        t->most = t->most < d->layers - rest_least ? t->most : d->layers - rest_least;
        rest_least += least[s];
        rest_most += most[s];
        if (t->least > t->most) return false;
    }
    assert(d->stages[d->stage_count - 1].least == d->layers &&
           d->stages[d->stage_count - 1].most == d->layers);
    return true;
}

// ---- the walk

static size_t cell(const struct dynamic *d, int state, int uses, int layers)
{
    return ((size_t)state * (size_t)d->use_count + (size_t)uses) * (size_t)d->row + (size_t)layers;
}

static int least_before(const struct dynamic *d, int s) { return s ? d->stages[s - 1].least : 0; }
static int most_before(const struct dynamic *d, int s) { return s ? d->stages[s - 1].most : 0; }

// The rows before stage s; after the last one for s = stage_count.
static const int *rows_before(const struct dynamic *d, int s, int *count)
{
    *count = s < d->stage_count ? d->stages[s].row_count : d->last_row_count;
    return s < d->stage_count ? d->stages[s].rows : d->last_rows;
}

// Clears what can be reached before stage s in a table over the states of a stage, where passes
// [state * use_count + index of uses] says so (NULL: everywhere).
static void clear(const struct dynamic *d, double *table, const bool *passes, int state_count,
                  int s)
{
    int count, first = least_before(d, s), last = most_before(d, s);
    const int *rows = rows_before(d, s, &count);
    for (int q = 0; q < state_count; q++)
        for (int i = 0; i < count; i++)
            if (!passes || passes[q * d->use_count + rows[i]])
                memcpy(table + cell(d, q, rows[i], first), d->blank,
                       (size_t)(last - first + 1) * sizeof *table);
}

void dynamic_lower_row(double *restrict to, const double *restrict from, double cost, int count)
{
    int n = 0;
#ifdef __SSE2__
    const __m128d costs = _mm_set1_pd(cost);
    for (; n + 2 <= count; n += 2)
        _mm_storeu_pd(to + n,
                      _mm_min_pd(_mm_add_pd(_mm_loadu_pd(from + n), costs), _mm_loadu_pd(to + n)));
#endif
    for (; n < count; n++) {
        double value = from[n] + cost;
        to[n] = value < to[n] ? value : to[n];
    }
}

// One side of a boundary: the table of its states, those that cross alike, and the uses with which
// each can be (NULL: any; no other row of the table counts).
struct side {
    double *table;
    const int *same;
    const bool *passes;
    int count, step; // between the costs of two of its states
};

static bool passes(const struct dynamic *d, const struct side *side, int state, int uses)
{
    return !side->passes || side->passes[state * d->use_count + uses];
}

// The rows before stage s of a state that crosses like the first one.
static void copy_rows(const struct dynamic *d, int s, const struct side *to, int state)
{
    const struct stage_table *t = &d->stages[s], *before = &d->stages[s - 1];
    for (int i = 0; i < t->row_count; i++)
        if (passes(d, to, state, t->rows[i]))
            memcpy(to->table + cell(d, state, t->rows[i], before->least),
                   to->table + cell(d, to->same[state], t->rows[i], before->least),
                   (size_t)(before->most - before->least + 1) * sizeof *to->table);
}

// d->merged becomes the lesser of itself and the rows of a state before stage s.
static void merge_rows(struct dynamic *d, int s, const struct side *from, int state)
{
    const struct stage_table *t = &d->stages[s], *before = &d->stages[s - 1];
    for (int i = 0; i < t->row_count; i++)
        if (passes(d, from, state, t->rows[i]))
            dynamic_lower_row(d->merged + cell(d, 0, t->rows[i], before->least),
                              from->table + cell(d, state, t->rows[i], before->least), 0,
                              before->most - before->least + 1);
}

// The least of the states that cross like this one, the first of them. They are often alone.
static const double *least_of_same(struct dynamic *d, int s, const struct side *from, int state,
                                   int *at)
{
    bool alone = true;
    for (int p = state + 1; p < from->count; p++) {
        if (from->same[p] != state) continue;
        if (alone) {
            clear(d, d->merged, NULL, 1, s);
            merge_rows(d, s, from, state);
        }
        merge_rows(d, s, from, p);
        alone = false;
    }
    *at = alone ? state : 0;
    return alone ? from->table : d->merged;
}

// d->reached of the rows before stage s of states that cross alike, the first of which is `state`.
static void find_reached(struct dynamic *d, int s, const struct side *from, int state,
                         const double *least, int at)
{
    const struct stage_table *t = &d->stages[s], *before = &d->stages[s - 1];
    for (int i = 0; i < t->row_count; i++) {
        const double *row = least + cell(d, at, t->rows[i], 0);
        int first = before->least, last = before->most;
        if (least == from->table && !passes(d, from, state, t->rows[i])) last = first - 1;
        while (first <= last && row[first] >= NOT_REACHED) first++;
        while (first <= last && row[last] >= NOT_REACHED) last--;
        d->reached[i] = (struct reached){first, last};
    }
}

// d->wanted of states that cross like one of them: rows which one of them can use. They are
// cleared.
static void open_wanted(struct dynamic *d, int s, const struct side *to)
{
    const struct stage_table *t = &d->stages[s], *before = &d->stages[s - 1];
    memset(d->wanted, 0, (size_t)to->count * (size_t)d->use_count * sizeof *d->wanted);
    for (int q = 0; q < to->count; q++)
        for (int i = 0; i < t->row_count; i++) {
            bool *wanted = &d->wanted[to->same[q] * d->use_count + i];
            if (*wanted || !passes(d, to, q, t->rows[i])) continue;
            *wanted = true;
            memcpy(to->table + cell(d, to->same[q], t->rows[i], before->least), d->blank,
                   (size_t)(before->most - before->least + 1) * sizeof *to->table);
        }
}

// The cells before stage s that are reached and wanted.
static void lower_reached(const struct dynamic *d, int s, double *to, int to_state,
                          const double *from, int from_state, double cost)
{
    const struct stage_table *t = &d->stages[s];
    const bool *wanted = d->wanted + (size_t)to_state * (size_t)d->use_count;
    for (int i = 0; i < t->row_count; i++) {
        const struct reached r = d->reached[i];
        if (wanted[i] && r.first <= r.last)
            dynamic_lower_row(to + cell(d, to_state, t->rows[i], r.first),
                              from + cell(d, from_state, t->rows[i], r.first), cost,
                              r.last - r.first + 1);
    }
}

// Over the boundary before stage s: to[own] = the least of from[other] + its cost.
static void cross(struct dynamic *d, int s, const struct side *to, const struct side *from)
{
    open_wanted(d, s, to);
    for (int p = 0; p < from->count; p++) {
        if (from->same[p] != p) continue;
        int at;
        const double *least = least_of_same(d, s, from, p, &at);
        find_reached(d, s, from, p, least, at);
        for (int q = 0; q < to->count; q++) {
            double cost = d->stages[s].boundary[p * from->step + q * to->step];
            if (to->same[q] == q && cost < NOT_REACHED)
                lower_reached(d, s, to->table, q, least, at, cost);
        }
    }
    for (int q = 0; q < to->count; q++)
        if (to->same[q] != q) copy_rows(d, s, to, q);
}

// entry[q] = least cost before stage s when it is in state q.
static void enter_stage(struct dynamic *d, int s)
{
    const struct stage_table *t = &d->stages[s];
    if (s == 0) {
        clear(d, d->entry, NULL, t->state_count, s);
        for (int q = 0; q < t->state_count; q++) d->entry[cell(d, q, 0, 0)] = 0;
        return;
    }
    const struct stage_table *before = &d->stages[s - 1];
    cross(d, s, &(struct side){d->entry, t->same_before, t->enters, t->state_count, 1},
          &(struct side){before->forward, before->same_after, before->leaves, before->state_count,
                         t->state_count});
}

bool dynamic_span_of(const struct dynamic *d, int s, int i, int *first, int *last)
{
    const struct choice *c = &d->c->stages[s].items[i];
    *first = least_before(d, s);
    *last = most_before(d, s);
    int place = place_least(c->first_layer);
    *first = *first > place ? *first : place;
    if (c->first_layer >= 0) *last = *last < place ? *last : place;
    if (*first < d->stages[s].least - c->layer_count) *first = d->stages[s].least - c->layer_count;
    if (*last > d->stages[s].most - c->layer_count) *last = d->stages[s].most - c->layer_count;
    return d->stages[s].cost[i] < NOT_REACHED && *first <= *last;
}

static void walk_forward(struct dynamic *d, int s)
{
    struct stage_table *t = &d->stages[s];
    enter_stage(d, s);
    clear(d, t->forward, t->leaves, t->state_count, s + 1);
    for (int i = 0; i < d->c->stages[s].count; i++) {
        const struct use_class *k = &t->classes[t->class_of[i]];
        int first, last, q = t->state_of[i];
        if (!dynamic_span_of(d, s, i, &first, &last)) continue;
        for (int r = 0; r < k->row_count; r++)
            dynamic_lower_row(t->forward + cell(d, q, k->rows[r] + k->shift,
                                                first + d->c->stages[s].items[i].layer_count),
                              d->entry + cell(d, q, k->rows[r], first), t->cost[i],
                              last - first + 1);
    }
}

// Computes backward of stage s-1 from that of stage s. d->entry: by state of s, the least cost of s
// and what is after it.
static void walk_backward(struct dynamic *d, int s)
{
    struct stage_table *t = &d->stages[s], *before = &d->stages[s - 1];
    clear(d, d->entry, t->enters, t->state_count, s);
    for (int i = 0; i < d->c->stages[s].count; i++) {
        const struct use_class *k = &t->classes[t->class_of[i]];
        int first, last, q = t->state_of[i];
        if (!dynamic_span_of(d, s, i, &first, &last)) continue;
        for (int r = 0; r < k->row_count; r++)
            dynamic_lower_row(d->entry + cell(d, q, k->rows[r], first),
                              t->backward + cell(d, q, k->rows[r] + k->shift,
                                                 first + d->c->stages[s].items[i].layer_count),
                              t->cost[i], last - first + 1);
    }
    cross(d, s,
          &(struct side){before->backward, before->same_after, before->leaves, before->state_count,
                         t->state_count},
          &(struct side){d->entry, t->same_before, t->enters, t->state_count, 1});
}

// ---- answers

int64_t dynamic_cost_to_ns(const struct dynamic *d, double cost, wide priced_limits)
{
    if (cost >= NOT_REACHED) return DYNAMIC_NOTHING;
    wide value = (int64_t)cost - priced_limits, unit = (wide)1 << d->fraction_bits;
    return value <= 0 ? 0 : (int64_t)((value + unit - 1) >> d->fraction_bits);
}

static void bound_choices(struct dynamic *d, int s, wide priced_limits, int64_t *through_ns)
{
    const struct stage_table *t = &d->stages[s];
    enter_stage(d, s);
    for (int i = 0; i < d->c->stages[s].count; i++) {
        const struct use_class *k = &t->classes[t->class_of[i]];
        double least = NOT_REACHED;
        int first, last, q = t->state_of[i];
        bool leads = dynamic_span_of(d, s, i, &first, &last);
        for (int r = 0; r < k->row_count && leads; r++) {
            const double *before = d->entry + cell(d, q, k->rows[r], first);
            const double *behind = t->backward + cell(d, q, k->rows[r] + k->shift,
                                                      first + d->c->stages[s].items[i].layer_count);
            for (int n = 0; n <= last - first; n++)
                least = before[n] + behind[n] < least ? before[n] + behind[n] : least;
        }
        through_ns[i] = dynamic_cost_to_ns(
            d, least < NOT_REACHED ? least + t->cost[i] : NOT_REACHED, priced_limits);
    }
}

static double entry_at(const struct dynamic *d, int s, int q, int uses, int layers)
{
    if (s == 0) return uses == 0 && layers == 0 ? 0 : NOT_REACHED;
    const struct stage_table *t = &d->stages[s], *before = &d->stages[s - 1];
    double least = NOT_REACHED;
    for (int p = 0; p < before->state_count; p++) {
        double value = before->forward[cell(d, p, uses, layers)] +
                       t->boundary[p * t->state_count + q];
        least = value < least ? value : least;
    }
    return least;
}

static bool has_row(const struct use_class *k, int uses)
{
    for (int r = 0; r < k->row_count; r++)
        if (k->rows[r] == uses) return true;
    return false;
}

// The choice at stage s that gave the cost of this cell; moves to the cell before it. Ties: the
// first choice.
static int step_back(const struct dynamic *d, int s, double *cost, int *uses, int *layers, int q)
{
    const struct stage_table *t = &d->stages[s];
    for (int i = 0; i < d->c->stages[s].count; i++) {
        const struct use_class *k = &t->classes[t->class_of[i]];
        int from = *uses - k->shift, before = *layers - d->c->stages[s].items[i].layer_count, first,
            last;
        if (t->state_of[i] != q || !dynamic_span_of(d, s, i, &first, &last) || before < first ||
            before > last || !has_row(k, from))
            continue;
        double entry = entry_at(d, s, q, from, before);
        if (entry < NOT_REACHED && entry + t->cost[i] == *cost) {
            *cost = entry, *uses = from, *layers = before;
            return i;
        }
    }
    assert(!"a cell of the table was reached by a choice");
    return -1;
}

static void trace_back(const struct dynamic *d, double cost, int q, int uses, int *chosen)
{
    int layers = d->layers;
    for (int s = d->stage_count - 1; s >= 0; s--) {
        chosen[s] = step_back(d, s, &cost, &uses, &layers, q);
        if (s == 0) break;
        const struct stage_table *t = &d->stages[s], *before = &d->stages[s - 1];
        int p = 0;
        for (; before->forward[cell(d, p, uses, layers)] + t->boundary[p * t->state_count + q] !=
               cost;
             p++)
            assert(p + 1 < before->state_count); // one of them leads here
        cost = before->forward[cell(d, p, uses, layers)];
        q = p;
    }
    assert(layers == 0 && uses == 0 &&
           cost == 0); // the decision covers every layer once, at its cost
}

static void bound_all(struct dynamic *d, wide priced_limits, int64_t **through_ns)
{
    struct stage_table *last = &d->stages[d->stage_count - 1];
    clear(d, last->backward, NULL, last->state_count, d->stage_count);
    for (int q = 0; q < last->state_count; q++)
        for (int i = 0; i < d->last_row_count; i++)
            last->backward[cell(d, q, d->last_rows[i], d->layers)] = 0;
    for (int s = d->stage_count - 1; s > 0; s--) walk_backward(d, s);
    for (int s = 0; s < d->stage_count; s++) bound_choices(d, s, priced_limits, through_ns[s]);
}

// Forward and backward agree: the bound through every choice of the least decision is the bound
// itself.
static bool leads_through(const struct dynamic *d, const struct dynamic_answer *answer)
{
    bool all = true;
    for (int s = 0; s < d->stage_count && answer->chosen; s++)
        all = all && answer->through_ns[s][answer->chosen[s]] == answer->bound_ns;
    return all;
}

bool dynamic_is_by_ranks(const struct dynamic *d) { return d->ranks != NULL; }

void dynamic_solve(struct dynamic *d, const struct dynamic_box *box, struct dynamic_answer *answer)
{
    wide priced_limits;
    dynamic_price_box(d, box, &priced_limits);
    answer->bound_ns = DYNAMIC_NOTHING;
    for (int s = 0; s < d->stage_count && answer->through_ns; s++)
        for (int i = 0; i < d->c->stages[s].count; i++) answer->through_ns[s][i] = DYNAMIC_NOTHING;
    if (d->ranks) {
        dynamic_ranks_solve(d, box, priced_limits, answer);
        return;
    }
    if (!bound_layers(d)) return;
    for (int s = 0; s < d->stage_count; s++) walk_forward(d, s);
    const struct stage_table *last = &d->stages[d->stage_count - 1];
    double least = NOT_REACHED;
    int least_state = 0, least_uses = 0;
    for (int q = 0; q < last->state_count; q++)
        for (int i = 0; i < d->last_row_count; i++)
            if (last->forward[cell(d, q, d->last_rows[i], d->layers)] < least) {
                least = last->forward[cell(d, q, d->last_rows[i], d->layers)];
                least_state = q, least_uses = d->last_rows[i];
            }
    assert(least >= 0 && (least < 0x1p53 || least >= NOT_REACHED)); // exact: see dynamic_table.h
    answer->bound_ns = dynamic_cost_to_ns(d, least, priced_limits);
    if (least < NOT_REACHED && answer->chosen)
        trace_back(d, least, least_state, least_uses, answer->chosen);
    if (least < NOT_REACHED && answer->through_ns) bound_all(d, priced_limits, answer->through_ns);
    assert(least >= NOT_REACHED || !answer->through_ns || leads_through(d, answer));
}
