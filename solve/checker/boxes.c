// The tree of boxes, in preorder. A box inherits what its parent's rounds left, minus one side of
// the parent's split, so boxes cover everything by construction: each split sorts the choices of
// one stage by a property. A box that is not split must be closed by its rounds, or hold one
// decision whose replay reaches the bound.
#include <stdio.h>
#include <string.h>

#include "solve/checker/boxes/halves.h"
#include "solve/checker/proof.h"

struct tree {
    struct check_proof *k;
    struct check_halves halves;
    int64_t number; // of the current box
    char where[CHECK_PATH_MAX];
};

// ---- rounds

static enum status read_weights(struct check_proof *k, const cJSON *v, const char *where,
                                struct check_round *round)
{
    int symbols = check_symbol_count(k->p);
    int64_t sum = 0, whole = (int64_t)1 << WEIGHT_SHIFT;
    memset(k->coefficients, 0, (size_t)symbols * sizeof *k->coefficients);
    if (!v) return OK;
    TRY(value_expect(&k->reader, v, where, cJSON_Array));
    TRY(check_spend(k->p, k->work, (uint64_t)cJSON_GetArraySize(v) * (uint64_t)symbols));
    for (const cJSON *pair = v->child; pair; pair = pair->next) {
        int64_t numbers[2];
        TRY(value_row(&k->reader, pair, where, "path and numerator", 2, numbers));
        int64_t path = numbers[0], weight = numbers[1];
        if (path < 0 || path >= k->path_count)
            return NOT_PROVEN_HERE(k, "%s: weights: there is no path %lld", where, (long long)path);
        if (weight < 0) return NOT_PROVEN_HERE(k, "%s: weights: a weight is negative", where);
        if (weight > whole || (sum += weight * k->laps[path]) > whole)
            return NOT_PROVEN_HERE(k, "%s: weights: their sum (times laps) is more than one",
                                   where);
        const int *counts = k->counts + (size_t)path * (size_t)symbols;
        for (int i = 0; i < symbols; i++) k->coefficients[i] += weight * counts[i];
    }
    round->has_weights = v->child != NULL;
    return OK;
}

static enum status put_price(struct check_proof *k, const char *where, struct check_round *round,
                             int resource, int64_t price)
{
    int64_t most = (int64_t)1 << (resource >= k->p->group_count + BUDGET_COST ? 50 : 59);
    if (price < 0) return NOT_PROVEN_HERE(k, "%s: prices: a price is negative", where);
    if (price > most)
        return check_refuse(&k->reader, where, "prices: more than 2^50 (cost) or 2^59");
    if (check_resource_limit(k->p, resource) < 0)
        return NOT_PROVEN_HERE(k, "%s: prices: what is priced has no limit", where);
    round->prices[resource] = price;
    return OK;
}

static enum status read_prices(struct check_proof *k, const cJSON *v, const char *where,
                               struct check_round *round)
{
    const cJSON *slots = NULL, *budget[BUDGETS] = {NULL};
    const struct value_field fields[] = {
        {"?slots", .value = &slots, .type = cJSON_Array},
        {"?boundaries", .value = &budget[BUDGET_BOUNDARIES], .type = cJSON_Number},
        {"?stages", .value = &budget[BUDGET_STAGES], .type = cJSON_Number},
        {"?cost", .value = &budget[BUDGET_COST], .type = cJSON_Number},
        {"?energy", .value = &budget[BUDGET_ENERGY], .type = cJSON_Number},
        {NULL},
    };
    if (!v) return OK;
    TRY(value_fields(&k->reader, v, where, fields, NULL));
    for (int i = 0; i < BUDGETS; i++)
        if (budget[i])
            TRY(put_price(k, where, round, k->p->group_count + i, value_number(budget[i])));
    for (const cJSON *pair = slots ? slots->child : NULL; pair; pair = pair->next) {
        int64_t numbers[2];
        TRY(value_row(&k->reader, pair, where, "group and numerator", 2, numbers));
        if (numbers[0] < 0 || numbers[0] >= k->p->group_count)
            return NOT_PROVEN_HERE(k, "%s: prices: there is no group %lld", where,
                                   (long long)numbers[0]);
        TRY(put_price(k, where, round, (int)numbers[0], numbers[1]));
    }
    return OK;
}

static enum status read_memory(struct check_proof *k, const cJSON *v, const char *where,
                               struct check_round *round)
{
    if (!v) return OK;
    TRY(value_expect(&k->reader, v, where, cJSON_Array));
    if (!round->by_ranks && k->p->turns == 1)
        return NOT_PROVEN_HERE(k, "%s: memory is priced only where ranks have several stages",
                               where);
    int64_t sum = 0, most = (int64_t)1 << 60;
    struct check_memory_price *to =
        TAKE(k->arena, cJSON_GetArraySize(v), struct check_memory_price);
    round->memory = to;
    for (const cJSON *row = v->child; row; row = row->next) {
        int64_t n[4];
        TRY(value_row(&k->reader, row, where, "rank, moment, turn and numerator", 4, n));
        if (n[0] < 0 || n[0] >= k->p->ranks || n[1] < 0 || n[1] >= k->g->peaks[n[0]].count ||
            n[2] < 0 || n[2] >= k->p->turns)
            return NOT_PROVEN_HERE(k, "%s: memory: no rank %lld has a moment %lld and a turn %lld",
                                   where, (long long)n[0], (long long)n[1], (long long)n[2]);
        if (n[3] < 0) return NOT_PROVEN_HERE(k, "%s: memory: a price is negative", where);
        if (!round->by_ranks && (n[3] > most || (sum += n[3]) > most))
            return check_refuse(&k->reader, where, "memory: prices of more than 2^60 together");
        to[round->memory_count++] =
            (struct check_memory_price){(int)n[0], (int)n[1], (int)n[2], n[3]};
    }
    return OK;
}

static enum status read_layers(struct check_proof *k, const cJSON *v, const char *where,
                               struct check_round *round)
{
    if (!v) return OK;
    TRY(value_expect(&k->reader, v, where, cJSON_Array));
    if (round->by_ranks)
        return NOT_PROVEN_HERE(k, "%s: layers are priced where ranks are not taken as a whole",
                               where);
    int64_t sum = 0, most = (int64_t)1 << 60;
    struct check_layer_price *to = TAKE(k->arena, cJSON_GetArraySize(v), struct check_layer_price);
    round->layers = to;
    for (const cJSON *row = v->child; row; row = row->next) {
        int64_t n[3];
        TRY(value_row(&k->reader, row, where, "rank, run and numerator", 3, n));
        if (n[0] < 0 || n[0] >= k->p->ranks || n[1] < 0 || n[1] >= k->p->run_count)
            return NOT_PROVEN_HERE(k, "%s: layers: there is no rank %lld or no run %lld", where,
                                   (long long)n[0], (long long)n[1]);
        if (n[2] > most || n[2] < -most || (sum += n[2] < 0 ? -n[2] : n[2]) > most)
            return check_refuse(&k->reader, where, "layers: prices of more than 2^60 together");
        to[round->layer_price_count++] =
            (struct check_layer_price){(int)n[0], k->choices.kind_of[n[1]], n[2]};
    }
    return OK;
}

// What follows without any bound: before the first round and after each.
static enum status couple(struct tree *t, bool *closed)
{
    struct check_box *box = &t->halves.box;
    if (*closed) return OK;
    TRY(check_couple_ranks(&t->k->choices, box));
    for (int s = 0; s < t->k->p->stages; s++) *closed = *closed || box->count[s] == 0;
    return OK;
}

static enum status read_round(struct tree *t, const cJSON *v, struct check_round *round)
{
    struct check_proof *k = t->k;
    const cJSON *weights = NULL, *prices = NULL, *memory = NULL, *layers = NULL;
    bool relaxed = false;
    const struct value_field fields[] = {
        {"?weights", .value = &weights},
        {"?prices", .value = &prices},
        {"?relaxed", .flag = &relaxed},
        {"?by_ranks", .flag = &round->by_ranks},
        {"?memory", .value = &memory},
        {"?layers", .value = &layers},
        {"?decisions", .flag = &round->decisions},
        {NULL},
    };
    *round = (struct check_round){.coefficients = k->coefficients};
    TRY(value_fields(&k->reader, v, t->where, fields, NULL));
    TRY(read_weights(k, weights, t->where, round));
    TRY(read_prices(k, prices, t->where, round));
    TRY(read_memory(k, memory, t->where, round));
    TRY(read_layers(k, layers, t->where, round));
    round->counts = !relaxed;
    if (round->decisions && (!round->by_ranks || k->p->turns == 1))
        return NOT_PROVEN_HERE(k, "%s: decisions are gone through by ranks with several stages",
                               t->where);
    if (k->p->chain && round->has_weights)
        TRY(k->p->find_excess(k->p, k->coefficients, k->work, &round->excess));
    if (round->has_weights && k->result->infeasible)
        return NOT_PROVEN_HERE(k, "%s: weights prove nothing in a proof that there is no plan",
                               t->where);
    return OK;
}

static enum status use_rounds(struct tree *t, const cJSON *rounds, bool *closed)
{
    struct check_proof *k = t->k;
    struct check_round round;
    TRY(value_expect(&k->reader, rounds, t->where, cJSON_Array));
    TRY(check_remember(&t->halves));
    TRY(couple(t, closed));
    for (const cJSON *v = rounds->child; v; v = v->next) {
        struct arena_mark mark = arena_set_mark(k->arena);
        TRY(read_round(t, v, &round));
        if (!*closed)
            TRY(check_use_round(k->mixer, &t->halves.box, &round, k->result->bound_ns, closed));
        TRY(couple(t, closed));
        arena_reset(k->arena, mark);
        k->result->rounds++;
    }
    check_note(&t->halves);
    return OK;
}

// ---- splits

static enum status read_choice(struct check_proof *k, const cJSON *v, const char *where,
                               struct check_property *to)
{
    const char *names[MOST_SEATS + 1];
    struct value_field fields[CHECK_DECISION_FIELDS] = {
        {"?first_layer", 0, MOST_LAYERS, .small = &to->choice.first},
        {"?layers", 0, MOST_LAYERS, .small = &to->choice.layers},
    };
    check_decision_fields(fields + 2, k->p, &to->choice, true, names);
    return value_fields(&k->reader, v, where, fields, NULL);
}

static enum status read_split(struct check_proof *k, const cJSON *v, const char *where,
                              struct check_property *to)
{
    const cJSON *choice = NULL;
    int run = -1;
    const struct value_field rank_fields[] = {
        {"rank", 0, k->p->ranks - 1, .small = &to->rank},
        {"layers_below", 0, MOST_LAYERS, .small = &to->layers_below},
        {"?run", 0, k->p->run_count - 1, .small = &run},
        {NULL},
    };
    const struct value_field fields[] = {
        {"stage", 0, k->p->stages - 1, .small = &to->stage},
        {"?load_below_ns", 0, MOST_SUM, .large = &to->load_below},
        {"?choice", .value = &choice},
        {NULL},
    };
    memset(to, -1, sizeof *to); // nothing is stated
    TRY(value_expect(&k->reader, v, where, cJSON_Object));
    if (value_get(v, "rank")) {
        TRY(value_fields(&k->reader, v, where, rank_fields, NULL));
        to->kind = run < 0 ? -1 : k->choices.kind_of[run];
        return OK;
    }
    TRY(value_fields(&k->reader, v, where, fields, NULL));
    if ((to->load_below >= 0) == (choice != NULL))
        return check_refuse(&k->reader, where, "split: expected one of load_below_ns and choice");
    return choice ? read_choice(k, choice, where, to) : OK;
}

// A half may be empty or keep everything; but the property must distinguish some of the whole
// problem's choices.
static enum status split(struct tree *t, const cJSON *v, int *stage)
{
    struct check_property q;
    bool splits;
    TRY(read_split(t->k, v, t->where, &q));
    *stage = q.rank < 0 ? q.stage : -2;
    TRY(check_split(&t->halves, &q, &splits));
    return splits ? OK : NOT_PROVEN_HERE(t->k, "%s: its split separates nothing", t->where);
}

// ---- boxes that are not split

static bool is_within_spans(const struct tree *t, const struct check_choice *const *chosen)
{
    const struct check_problem *p = t->k->p;
    for (int i = 0; i < t->halves.box.span_count; i++) {
        int layers = 0, kind = i / p->ranks - 1;
        for (int turn = 0; turn < p->turns; turn++) {
            int s = check_stage_of(p, i % p->ranks, turn);
            layers += kind < 0 ? chosen[s]->layers
                               : check_layers_of(&t->k->choices, s, chosen[s], kind);
        }
        if (layers < t->halves.box.spans[i].least || layers > t->halves.box.spans[i].most)
            return false;
    }
    return true;
}

static enum status check_leaf(struct tree *t)
{
    struct check_proof *k = t->k;
    const struct check_choice *chosen[MOST_STAGES];
    bool below;
    for (int s = 0; s < k->p->stages; s++) {
        if (t->halves.box.count[s] == 0) return OK;
        if (t->halves.box.count[s] > 1)
            return NOT_PROVEN_HERE(
                k, "%s: a leaf of more than one decision: stage %d has %d choices left", t->where,
                s, t->halves.box.count[s]);
        chosen[s] = &k->choices.items[s][t->halves.box.left[s][0]];
    }
    if (check_misfit(k->g, chosen) || !is_within_spans(t, chosen)) return OK;
    if (k->result->infeasible)
        return NOT_PROVEN_HERE(k, "%s: a leaf that is a plan, in a proof that there is none",
                               t->where);
    if (k->result->bound_ns == 0) return OK;
    check_take_durations(&k->replay, chosen);
    TRY(check_takes_at_most(&k->replay, k->result->bound_ns - 1, &below));
    return below ? NOT_PROVEN_HERE(k, "%s: a leaf that takes less than the bound", t->where) : OK;
}

static enum status refuse_open(const struct tree *t)
{
    int most = 0, stage = 0;
    for (int s = 0; s < t->k->p->stages; s++)
        if (t->halves.box.count[s] > most) most = t->halves.box.count[s], stage = s;
    return NOT_PROVEN_HERE(t->k, "%s: not closed by its rounds: stage %d has %d choices left",
                           t->where, stage, most);
}

static enum status check_box(struct tree *t, const cJSON *v, bool *ends)
{
    const struct reader *r = &t->k->reader;
    bool closed = false, says_closed = false, says_leaf = false;
    const cJSON *rounds, *by = NULL;
    const struct value_field fields[] = {
        {"rounds", .value = &rounds},
        {"?split", .value = &by},
        {"?closed", .flag = &says_closed},
        {"?leaf", .flag = &says_leaf},
        {NULL},
    };
    snprintf(t->where, sizeof t->where, "boxes[%lld]", (long long)t->number);
    TRY(value_fields(r, v, t->where, fields, NULL));
    if ((by != NULL) + says_closed + says_leaf != 1)
        return check_refuse(r, t->where, "expected one of split, closed and leaf");
    for (int s = 0; s < t->k->p->stages; s++) closed = closed || t->halves.box.count[s] == 0;
    TRY(use_rounds(t, rounds, &closed));
    *ends = !by;
    t->k->result->splits += by != NULL;
    t->k->result->leaves += says_leaf;
    int stage = -1;
    const struct check_watch *watch = t->k->watch;
    if (by) TRY(split(t, by, &stage));
    else if (says_leaf && !closed) TRY(check_leaf(t));
    else if (!closed) return refuse_open(t);
    return watch ? watch->see(watch->of, v, &t->halves.box, stage, says_leaf && !closed) : OK;
}

enum status check_boxes(struct check_proof *k, const cJSON *boxes)
{
    struct tree t = {.k = k};
    TRY(value_expect(&k->reader, boxes, "boxes", cJSON_Array));
    TRY(check_open_halves(&t.halves, &k->choices, k->arena));
    bool more = true;
    for (const cJSON *v = boxes->child; v; v = v->next, t.number++) {
        bool ends = false;
        if (!more)
            return check_refuse(&k->reader, "boxes", "boxes continue after the tree is complete");
        TRY(check_box(&t, v, &ends));
        if (ends) TRY(check_next_half(&t.halves, &more));
    }
    k->result->boxes += t.number;
    return more ? NOT_PROVEN_HERE(
                      k, "boxes: a half of a split is missing: the boxes do not cover the problem")
                : OK;
}
