// The file: claims, incumbent, what is counted, boxes in preorder, and the paths they use.

#include "data/base/grow.h"
#include "solve/certificate/internal.h"

// ---- growth

struct proof_box *proof_add_box(struct proof *p)
{
    GROW(p->arena, p->boxes, p->box_count, p->box_capacity, 64);
    p->boxes[p->box_count] = (struct proof_box){.stage = -1, .rank = -1, .choice = -1, .group = -1};
    return &p->boxes[p->box_count++];
}

void proof_take_memory(struct proof_round *round, const struct box_step *step, struct arena *arena)
{
    struct check_memory_price *prices = TAKE(arena, step->memory_count, struct check_memory_price);
    for (int i = 0; i < step->memory_count; i++) {
        const struct memory_price *m = &step->memory[i];
        prices[i] = (struct check_memory_price){m->rank, m->moment, m->turn, m->price};
    }
    round->memory = prices;
    round->memory_count = step->memory_count;
    round->layers = TAKE_COPY(arena, step->layers, step->layer_price_count);
    round->layer_price_count = step->layer_price_count;
}

void proof_take_split(struct proof_box *to, const struct box_split *s)
{
    bool by_rank = s->by == SPLIT_LAYERS;
    to->stage = by_rank ? -1 : s->at;
    to->rank = by_rank ? s->at : -1;
    to->like = by_rank ? s->like : 0;
    to->layers = by_rank || s->by == SPLIT_PLACE ? (int)s->value : 0;
    to->group = s->by == SPLIT_GROUP ? (int)s->value : -1;
    to->load_ns = s->by == SPLIT_LOAD ? s->value : 0;
    to->end = by_rank                 ? END_SPLIT_RANK
              : s->by == SPLIT_CHOICE ? END_SPLIT_CHOICE
              : s->by == SPLIT_GROUP  ? END_SPLIT_GROUP
              : s->by == SPLIT_PLACE  ? END_SPLIT_PLACE
                                      : END_SPLIT_LOAD;
}

void proof_add_round(struct proof *p, int box, const struct proof_round *round)
{
    struct proof_box *b = &p->boxes[box];
    *GROWN(p->arena, b->rounds, b->round_count, b->round_capacity, 4) = *round;
}

struct proof_path *proof_add_path(struct proof *p, const struct proof_path *path)
{
    GROW(p->arena, p->paths, p->path_count, p->path_capacity, 256);
    p->paths[p->path_count] = *path;
    return &p->paths[p->path_count++];
}

// ---- claims and boxes

static const struct plan *claimed(const struct proof *p)
{
    return p->request->of_energy ? p->request->of_energy : p->request->plan;
}

static void put_incumbent(const struct proof *p, struct json_writer *w)
{
    const struct plan *plan = claimed(p);
    json_open_array(w, "incumbent");
    for (int s = 0; s < plan->stage_count; s++) {
        const struct plan_stage *x = &plan->stages[s];
        assert(x->layer_count > 0 && x->group >= 0 && x->group < p->request->priced->group_count);
        json_open_flat_object(w, NULL);
        json_put_count(w, "first_layer", x->first_layer);
        json_put_count(w, "layer_count", x->layer_count);
        json_put_text(w, "group", p->request->priced->groups[x->group].name);
        struct decision tidy = decision_tidy(&x->decision);
        if (x->recomputed_count) tidy.recomputed_layers = 0; // the list says which
        decision_put(w, &tidy, true);
        if (x->recomputed_count) json_open_array(w, "recomputed");
        for (int i = 0; i < x->recomputed_count; i++) json_put_count(w, NULL, x->recomputed[i]);
        if (x->recomputed_count) json_close_array(w);
        json_close_object(w);
    }
    json_close_array(w);
}

static const char *const budget_names[] = {"boundaries", "stages", "cost", "energy"};

static void put_counted(const struct proof *p, struct json_writer *w)
{
    const struct priced *priced = p->request->priced;
    bool any = false;
    for (int r = 0; r < priced->group_count + BUDGETS; r++) any = any || p->counted[r];
    if (!any) return;
    json_open_flat_object(w, "counted");
    json_open_array(w, "slots");
    for (int g = 0; g < priced->group_count; g++)
        if (p->counted[g]) json_put_text(w, NULL, priced->groups[g].name);
    json_close_array(w);
    for (int i = 0; i < BUDGETS; i++)
        if (p->counted[priced->group_count + i]) json_put_bool(w, budget_names[i], true);
    json_close_object(w);
}

static void put_pair(struct json_writer *w, int64_t a, int64_t b)
{
    json_open_array(w, NULL);
    json_put_count(w, NULL, a);
    json_put_count(w, NULL, b);
    json_close_array(w);
}

static void put_prices(const struct proof *p, struct json_writer *w, const int64_t *prices)
{
    int group_count = p->request->priced->group_count;
    bool slots = false;
    for (int g = 0; g < group_count; g++) slots = slots || prices[g] > 0;
    json_open_object(w, "prices");
    if (slots) {
        json_open_array(w, "slots");
        for (int g = 0; g < group_count; g++)
            if (prices[g] > 0) put_pair(w, g, prices[g]);
        json_close_array(w);
    }
    for (int i = 0; i < BUDGETS; i++)
        if (prices[group_count + i] > 0)
            json_put_count(w, budget_names[i], prices[group_count + i]);
    json_close_object(w);
}

static void put_memory(struct json_writer *w, const struct check_memory_price *price)
{
    const int64_t numbers[] = {price->rank, price->moment, price->turn, price->price};
    json_open_array(w, NULL);
    for (int i = 0; i < 4; i++) json_put_count(w, NULL, numbers[i]);
    json_close_array(w);
}

static void put_layers(struct json_writer *w, const struct layer_price *price)
{
    json_open_array(w, NULL);
    json_put_count(w, NULL, price->rank);
    json_put_count(w, NULL, price->run);
    json_put_count(w, NULL, price->price);
    json_close_array(w);
}

static void put_round(struct proof *p, struct json_writer *w, const struct proof_round *round,
                      int *next_path)
{
    json_open_object(w, NULL);
    if (round->path_count) json_open_array(w, "weights");
    for (int i = 0; i < round->path_count; i++) {
        if (!round->weights[i]) continue;
        assert(round->weights[i] > 0 && round->paths[i] < p->path_count);
        struct proof_path *path = &p->paths[round->paths[i]];
        if (path->number < 0) path->number = (*next_path)++;
        put_pair(w, path->number, round->weights[i]);
    }
    if (round->path_count) json_close_array(w);
    if (round->prices) put_prices(p, w, round->prices);
    if (round->relaxed) json_put_bool(w, "relaxed", true);
    if (round->by_ranks) json_put_bool(w, "by_ranks", true);
    if (round->decisions) json_put_bool(w, "decisions", true);
    if (round->memory_count) json_open_array(w, "memory");
    for (int i = 0; i < round->memory_count; i++) put_memory(w, &round->memory[i]);
    if (round->memory_count) json_close_array(w);
    if (round->layer_price_count) json_open_array(w, "layers");
    for (int i = 0; i < round->layer_price_count; i++) put_layers(w, &round->layers[i]);
    if (round->layer_price_count) json_close_array(w);
    json_close_object(w);
    p->result->rounds++;
    p->result->weights += round->path_count;
}

static void put_choice(const struct proof *p, struct json_writer *w, const struct check_decision *c)
{
    json_open_object(w, "choice");
    if (c->first != -1) json_put_count(w, "first_layer", place_least(c->first));
    json_put_count(w, "layers", c->layers);
    json_put_text(w, "group", p->request->priced->groups[c->group].name);
    for (int i = 0; i < check_decision_row_count; i++) {
        const struct check_decision_row *row = &check_decision_rows[i];
        int value = check_decision_value(c, row);
        if (row->names) json_put_text(w, row->key + 1, row->names[value]);
        else if (value || !row->if_set || priced_mixes_layouts(p->request->priced))
            json_put_count(w, row->key + 1, value);
    }
    json_close_object(w);
}

static void put_end(const struct proof *p, struct json_writer *w, const struct proof_box *b)
{
    if (b->end == END_CLOSED || b->end == END_LEAF) {
        json_put_bool(w, b->end == END_CLOSED ? "closed" : "leaf", true);
        return;
    }
    assert((b->end == END_SPLIT_RANK ? b->rank : b->stage) >= 0);
    json_open_object(w, "split");
    json_put_count(w, b->end == END_SPLIT_RANK ? "rank" : "stage",
                   b->end == END_SPLIT_RANK ? b->rank : b->stage);
    if (b->end == END_SPLIT_RANK) json_put_count(w, "layers_below", b->layers);
    if (b->end == END_SPLIT_RANK && b->like) json_put_count(w, "run", b->like - 1);
    if (b->end == END_SPLIT_LOAD) json_put_count(w, "load_below_ns", b->load_ns);
    if (b->end == END_SPLIT_CHOICE) put_choice(p, w, &b->stated);
    if (b->end == END_SPLIT_PLACE) {
        json_open_object(w, "choice");
        json_put_count(w, "first_layer", b->layers);
        json_close_object(w);
    }
    if (b->end == END_SPLIT_GROUP) {
        json_open_object(w, "choice");
        json_put_text(w, "group", p->request->priced->groups[b->group].name);
        json_close_object(w);
    }
    json_close_object(w);
}

static void put_boxes(struct proof *p, struct json_writer *w)
{
    int next_path = 0;
    json_open_array(w, "boxes");
    for (int i = 0; i < p->box_count; i++) {
        const struct proof_box *b = &p->boxes[i];
        json_open_flat_object(w, NULL);
        json_open_array(w, "rounds");
        for (int k = 0; k < b->round_count; k++) put_round(p, w, &b->rounds[k], &next_path);
        json_close_array(w);
        put_end(p, w, b);
        json_close_object(w);
    }
    json_close_array(w);
    p->result->boxes += p->box_count;
}

// ---- paths

static char *append_number(char *to, int number)
{
    char digits[12];
    int count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count) *to++ = digits[--count];
    return to;
}

// "0*12 1 0*3"
static const char *steps_of(const struct proof *p, const struct proof_path *path)
{
    char *text = TAKE(p->arena, 24 * (size_t)path->step_count + 1, char), *to = text;
    for (int i = 0, n; i < path->step_count; i += n) {
        for (n = 1; i + n < path->step_count && path->successors[i + n] == path->successors[i];)
            n++;
        if (i) *to++ = ' ';
        to = append_number(to, path->successors[i]);
        if (n > 1) *to++ = '*';
        if (n > 1) to = append_number(to, n);
    }
    return text;
}

static void put_path(const struct proof *p, struct json_writer *w, const struct proof_path *path)
{
    json_open_flat_object(w, NULL);
    if (p->request->priced->objective == OBJECTIVE_MAX_LOAD) {
        json_put_count(w, path->from == path->to ? "rank" : "from", path->from);
        if (path->from != path->to) json_put_count(w, "to", path->to);
        json_close_object(w);
        return;
    }
    json_open_array(w, "start");
    json_put_text(w, NULL, check_kind_names[path->start.kind]);
    json_put_count(w, NULL, path->start.place);
    json_put_count(w, NULL, path->start.micro_batch);
    json_put_count(w, NULL, path->start.slice);
    json_close_array(w);
    json_put_count(w, "laps", path->laps);
    json_put_text(w, "steps", steps_of(p, path));
    json_close_object(w);
}

// In the order of their numbers.
static void put_paths(const struct proof *p, struct json_writer *w)
{
    int used = 0, *by_number = TAKE(p->arena, p->path_count, int);
    for (int i = 0; i < p->path_count; i++)
        if (p->paths[i].number >= 0) {
            assert(p->paths[i].number < p->path_count && p->paths[i].successors);
            by_number[p->paths[i].number] = i, used++;
        }
    json_open_array(w, "paths");
    for (int i = 0; i < used; i++) put_path(p, w, &p->paths[by_number[i]]);
    json_close_array(w);
    p->result->paths += used;
}

static void put_steps(struct proof *p, struct json_writer *w)
{
    for (int i = 0; i < p->path_count; i++) p->paths[i].number = -1;
    put_counted(p, w);
    put_boxes(p, w);
    put_paths(p, w);
}

static void put_combinations(struct proof *p, struct json_writer *w)
{
    const struct priced *priced = p->request->priced;
    json_open_array(w, "combinations");
    for (int i = 0; i < p->combination_count; i++) {
        json_open_object(w, NULL);
        json_open_flat_array(w, "groups");
        for (int g = 0; g < priced->group_count; g++)
            if (p->combinations[i].taken[g]) json_put_text(w, NULL, priced->groups[g].name);
        json_close_array(w);
        if (p->bound_ns >= 0 && p->combinations[i].bound_ns < 0)
            json_put_bool(w, "infeasible", true);
        put_steps(&p->combinations[i], w);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_proof(struct proof *p, struct json_writer *w)
{
    json_open_object(w, "proof");
    const struct plan *plan = claimed(p);
    int64_t bound_ns = !p->request->of_energy                ? p->bound_ns
                       : plan->outcome == OUTCOME_INFEASIBLE ? -1
                                                             : plan->bound_ns;
    enum check_objective of = p->request->of_energy ? MINIMISE_ENERGY
                              : p->request->priced->objective == OBJECTIVE_MAX_LOAD ? MINIMISE_LOAD
                                                                                    : MINIMISE_TIME;
    if (of != MINIMISE_TIME) json_put_text(w, "objective", check_objective_names[of]);
    if (bound_ns < 0) json_put_bool(w, "infeasible", true);
    else json_put_count(w, "bound_ns", bound_ns);
    if (plan->stage_count) {
        assert(bound_ns >= 0 && bound_ns <= plan_value_ns(plan));
        json_put_count(w, of == MINIMISE_TIME ? "iteration_ns" : "objective_ns",
                       plan_value_ns(plan));
        put_incumbent(p, w);
    }
    if (p->combination_count) put_combinations(p, w);
    else if (!p->request->priced->in_turn) put_steps(p, w);
    json_close_object(w);
    p->result->bound_ns = bound_ns;
}

void proof_write(struct proof *p)
{
    struct json_writer w;
    const struct certificate_request *r = p->request;
    struct source source = {.role = "priced", .path = r->priced_text.file};
    p->result->text = "";
    if (r->into) {
        put_proof(p, r->into);
        return;
    }
    sha256_text(r->priced_text.text, r->priced_text.size, source.sha256);
    document_begin(&w, "plumbline.certificate", &source, 1, p->arena);
    put_proof(p, &w);
    json_close_object(&w);
    p->result->text = json_end(&w, &p->result->size);
}
