// The boxes: following the search's records, and going further where a box stays open. Every round
// is applied to the box by the checker's own function; a round that changes nothing is not
// written.
#include <string.h>

#include "solve/certificate/internal.h"

enum { DEEPEST = 3000 };

// ---- rounds

bool maker_couple(struct maker *m, struct check_box *box)
{
    return check_couple_ranks(&m->choices, box) != OK || maker_is_empty(m, box);
}

// As the checker would read it, without what mixtures take beyond the tables.
static struct check_round read_round(struct maker *m, const struct proof_round *round)
{
    struct check_round r = {.coefficients = m->coefficients,
                            .has_weights = round->path_count > 0,
                            .counts = !round->relaxed,
                            .by_ranks = round->by_ranks,
                            .decisions = round->decisions,
                            .memory = round->memory,
                            .memory_count = round->memory_count};
    struct check_layer_price *layers =
        TAKE(m->scratch, round->layer_price_count, struct check_layer_price);
    for (int i = 0; i < round->layer_price_count; i++)
        layers[i] = (struct check_layer_price){round->layers[i].rank,
                                               m->choices.kind_of[round->layers[i].run],
                                               round->layers[i].price};
    r.layers = layers;
    r.layer_price_count = round->layer_price_count;
    memset(m->coefficients, 0, (size_t)m->symbols * sizeof *m->coefficients);
    for (int i = 0; i < round->path_count; i++) {
        const struct proof_path *path = &m->proof->paths[round->paths[i]];
        assert(round->paths[i] < m->proof->path_count && path->counts && round->weights[i] >= 0);
        for (int k = 0; k < m->symbols; k++)
            m->coefficients[k] += round->weights[i] * path->counts[k];
    }
    for (int i = 0; i < check_resource_count(&m->p) && round->prices; i++)
        r.prices[i] = round->prices[i];
    return r;
}

bool maker_use(struct maker *m, struct check_box *box, const struct proof_round *round)
{
    struct check_round r = read_round(m, round);
    bool closed = false;
    if (m->p.chain && r.has_weights &&
        m->p.find_excess(&m->p, m->coefficients, &m->work, &r.excess) != OK)
        return false;
    if (check_use_round(m->mixer, box, &r, m->bound_ns, &closed) == OK)
        return closed || maker_couple(m, box);
    m->err = (struct error){OK, ""};
    return false;
}

static void put_box(const struct maker *m, struct check_box *to, const struct check_box *from)
{
    for (int s = 0; s < m->p.stages; s++) {
        to->count[s] = from->count[s];
        for (int i = 0; i < from->count[s]; i++) to->left[s][i] = from->left[s][i];
    }
    for (int r = 0; r < from->span_count; r++) to->spans[r] = from->spans[r];
}

// Uses the round with prices of memory if it then removes more from the box than without: `left`
// choices remained without. given: the box as it was before; box becomes what is left.
static bool use_memory(struct maker *m, struct check_box *box, struct check_box *given,
                       struct proof_round *round, int left)
{
    struct proof_round priced = *round;
    struct check_round r = read_round(m, round);
    struct check_memory_price *prices;
    int count = memory_price(&prices, &m->choices, given, &r, m->scratch);
    priced.memory_count = count;
    priced.memory = TAKE_COPY(m->arena, prices, count);
    bool closed = count && maker_use(m, given, &priced);
    if (!closed && (!count || maker_left_in(m, given) >= left)) return false;
    put_box(m, box, given);
    *round = priced;
    return closed;
}

// Applies it to the box and records it if that changed anything. true: closed.
static bool try_round(struct maker *m, int number, struct check_box *box,
                      const struct proof_round *round)
{
    struct arena_mark mark = arena_set_mark(m->scratch);
    struct check_box given = maker_copy_box(m, box, m->scratch);
    struct proof_round used = *round;
    int before = maker_left_in(m, box);
    bool closed = maker_use(m, box, round);
    if (!closed && round->by_ranks && !maker_is_empty(m, &given))
        closed = use_memory(m, box, &given, &used, maker_left_in(m, box));
    if (closed || maker_left_in(m, box) < before) proof_add_round(m->proof, number, &used);
    arena_reset(m->scratch, mark);
    return closed;
}

// Whether ranks have several stages, and everything in the box is on one group and sends equal
// messages.
static bool goes_by_ranks(const struct maker *m, const struct check_box *box)
{
    if (m->p.turns == 1 || m->choices.free_from > PLACES_BY_RANKS || maker_is_empty(m, box))
        return false;
    int group = m->choices.items[0][box->left[0][0]].group;
    for (int s = 0; s < m->p.stages; s++) {
        int cut = m->choices.items[s][box->left[s][0]].cut;
        for (int i = 0; i < box->count[s]; i++) {
            const struct check_choice *c = &m->choices.items[s][box->left[s][i]];
            if (c->group != group || (s < m->p.stages - 1 && c->cut != cut)) return false;
        }
    }
    return true;
}

// The proof's path for one that the records or the closer identify by its counts.
static int path_of_record(struct maker *m, int id)
{
    if (m->path_of[id] == -2)
        m->path_of[id] = maker_find_path(
            m, m->request->evidence->proof.path_counts +
                   (size_t)id * (size_t)path_size(graph_symbol_count(m->request->evidence->graph)));
    return m->path_of[id];
}

static int path_of_closer(struct maker *m, int id)
{
    int count = box_closer_path_count(m->closer);
    if (id >= m->closer_paths) {
        m->path_of_closer = arena_grow(m->arena, m->path_of_closer, (size_t)m->closer_paths,
                                       (size_t)(2 * count), sizeof *m->path_of_closer);
        for (int i = m->closer_paths; i < 2 * count; i++) m->path_of_closer[i] = -2;
        m->closer_paths = 2 * count;
    }
    if (m->path_of_closer[id] == -2)
        m->path_of_closer[id] = maker_find_path(m, box_closer_path(m->closer, id));
    return m->path_of_closer[id];
}

static bool has_prices(const struct maker *m, const int64_t *prices)
{
    for (int r = 0; r < check_resource_count(&m->p) && prices; r++)
        if (prices[r] > 0) return true;
    return false;
}

static bool counts_anything(const struct maker *m)
{
    for (int r = 0; r < check_resource_count(&m->p); r++)
        if (m->counted[r]) return true;
    return false;
}

static bool step_is_relaxed(const struct maker *m, const struct box_step *step)
{
    return step->relaxed && counts_anything(m);
}

// The step as a round. Paths come from the records or, if of_closer, from the closer.
static struct proof_round round_of(struct maker *m, const struct check_box *box,
                                   const struct box_step *step, bool of_closer)
{
    int *paths = TAKE(m->arena, step->path_count, int);
    int64_t *weights = TAKE(m->arena, step->path_count, int64_t), *prices;
    bool by_ranks = goes_by_ranks(m, box);
    struct proof_round round = {.paths = paths,
                                .weights = weights,
                                .relaxed = step_is_relaxed(m, step) && !by_ranks,
                                .by_ranks = by_ranks,
                                .decisions = by_ranks};
    for (int i = 0; i < step->path_count && m->bound_ns >= 0; i++) {
        int path = of_closer ? path_of_closer(m, step->ids[i]) : path_of_record(m, step->ids[i]);
        if (path < 0 || step->weights[i] <= 0) continue;
        paths[round.path_count] = path;
        weights[round.path_count++] = step->weights[i];
    }
    if (!by_ranks) proof_take_memory(&round, step, m->arena);
    if (!has_prices(m, step->prices)) return round;
    round.prices = prices = TAKE_COPY(m->arena, step->prices, check_resource_count(&m->p));
    for (int r = 0; r < check_resource_count(&m->p); r++)
        if (check_resource_limit(&m->p, r) < 0) prices[r] = 0;
    return round;
}

static bool follow_steps(struct maker *m, int number, struct check_box *box,
                         const struct box_record *r)
{
    bool closed = maker_is_empty(m, box);
    for (int i = 0; i < r->step_count && !closed; i++) {
        struct proof_round round = round_of(m, box, &r->steps[i], false);
        closed = try_round(m, number, box, &round);
        round.relaxed = false;
        if (!closed && i == r->step_count - 1 && r->first_part < 0 &&
            step_is_relaxed(m, &r->steps[i]))
            closed = try_round(m, number, box, &round);
    }
    return closed;
}

// ---- the planner's choices, where they are needed

static bool same_choice(const struct choice *x, const struct check_choice *c)
{
    struct check_decision of = proof_decision(&x->decision), to = c->decision;
    if (of.first < 0 && to.first >= place_least(of.first)) of.first = to.first; // an end stage's
    return !memcmp(&of, &to, sizeof of);
}

// Both lists are in the same order, so the next one usually matches.
static bool match_choices(struct maker *m)
{
    m->planner_of = TAKE(m->arena, m->p.stages, int *);
    for (int s = 0; s < m->p.stages; s++) {
        const struct stage_choices *stage = &m->planner.stages[s];
        m->planner_of[s] = TAKE(m->arena, m->choices.count[s], int);
        for (int i = 0, k = 0; i < m->choices.count[s]; i++) {
            int tried = 0;
            for (; tried < stage->count && !same_choice(&stage->items[k], &m->choices.items[s][i]);
                 tried++)
                k = (k + 1) % stage->count;
            if (tried == stage->count) {
                m->planner_of = NULL;
                return false;
            }
            m->planner_of[s][i] = k;
        }
    }
    return true;
}

// false: the two disagree, and the certificate must do without the planner.
static bool open_planner(struct maker *m)
{
    if (m->planner_of) return true;
    if (choices_build(&m->planner, m->request->priced, m->request->evidence->schedule, m->arena,
                      &m->err) != OK)
        return false;
    return match_choices(m);
}

// ---- splits

static int find_choice(const struct maker *m, int stage, const struct choice *x)
{
    for (int i = 0; i < m->choices.count[stage]; i++)
        if (same_choice(x, &m->choices.items[stage][i])) return i;
    return -1;
}

// A split as the search made it; false: the checker has no such choice, or it splits nothing.
static bool read_split(const struct maker *m, struct proof_box *to, const struct box_split *s,
                       const struct choice *choice)
{
    bool by_choice = s->by == SPLIT_CHOICE;
    proof_take_split(to, s);
    to->choice = by_choice ? find_choice(m, s->at, choice) : -1;
    if (to->choice >= 0) to->stated = m->choices.items[s->at][to->choice].decision;
    return s->by && (!by_choice || to->choice >= 0);
}

// Without a record: the rank with the widest span if there are two groups, otherwise the stage
// with most choices, halved by load or by one.
static void split_blindly(const struct maker *m, const struct check_box *box, struct proof_box *to)
{
    int stage = 0;
    for (int s = 1; s < m->p.stages; s++)
        if (box->count[s] > box->count[stage]) stage = s;
    const struct check_choice *items = m->choices.items[stage];
    int64_t least = INT64_MAX, most = -1;
    to->stage = stage;
    for (int i = 0; i < box->count[stage]; i++) {
        const struct check_choice *c = &items[box->left[stage][i]];
        least = c->load < least ? c->load : least;
        most = c->load > most ? c->load : most;
        to->group = i && c->group != items[box->left[stage][0]].group ? c->group : to->group;
    }
    to->choice = box->left[stage][0];
    to->stated = m->choices.items[stage][to->choice].decision;
    to->load_ns = least + (most - least + 1) / 2;
    to->end = m->p.turns > 1 && to->group >= 0 ? END_SPLIT_GROUP
              : least < most                   ? END_SPLIT_LOAD
                                               : END_SPLIT_CHOICE;
}

static bool divides(struct maker *m, const struct check_box *box, const struct proof_box *by,
                    bool *first_empty)
{
    struct arena_mark mark = arena_set_mark(m->scratch);
    struct check_box one = maker_copy_box(m, box, m->scratch),
                     other = maker_split(m, &one, by, m->scratch);
    bool second_empty = maker_is_empty(m, &other);
    *first_empty = maker_is_empty(m, &one);
    arena_reset(m->scratch, mark);
    return !*first_empty && !second_empty;
}

// ---- boxes that the records leave open

static bool open_closer(struct maker *m)
{
    if (!open_planner(m)) return false;
    if (!m->closer)
        m->closer = box_closer_open(&m->planner, m->request->evidence->graph,
                                    (struct box_settings){0}, m->arena);
    return true;
}

// The checker's spans as the closer has them.
static void put_spans(const struct maker *m, struct choice_box *own, const struct check_box *box)
{
    for (int run = 0; run <= m->p.run_count && own->spans; run++)
        for (int r = 0; r < m->p.ranks; r++) {
            struct box_split of = {.by = SPLIT_LAYERS, .at = r, .like = run};
            int to = box_closer_span_at(m->closer, &of),
                from = run ? (m->choices.kind_of[run - 1] + 1) * m->p.ranks + r : r;
            if (to >= 0)
                own->spans[to] = (struct layer_span){box->spans[from].least, box->spans[from].most};
        }
}

// Adds mixtures. true: closed. Otherwise *split is the next split.
static bool mend(struct maker *m, int number, struct check_box *box, struct proof_box *split)
{
    struct arena_mark mark = arena_set_mark(m->scratch);
    bool closed = false, split_given = false;
    m->result->mended++;
    if (m->bound_ns < 0) {
        bool by_ranks = goes_by_ranks(m, box);
        struct proof_round plain = {.by_ranks = by_ranks, .decisions = by_ranks};
        closed = try_round(m, number, box, &plain);
    } else if (open_closer(m)) {
        struct box_answer answer;
        struct choice_box own = choice_box_whole(m->closer, m->scratch);
        for (int s = 0; s < m->p.stages; s++) {
            memset(own.allowed[s], 0, (size_t)m->planner.stages[s].count);
            for (int i = 0; i < box->count[s]; i++)
                own.allowed[s][m->planner_of[s][box->left[s][i]]] = true;
        }
        put_spans(m, &own, box);
        bool closes = box_close(m->closer, &own, m->bound_ns, 0, &answer);
        for (int i = 0; i < answer.step_count && !closed; i++) {
            struct proof_round round = round_of(m, box, &answer.steps[i], true);
            closed = try_round(m, number, box, &round);
        }
        const struct choice *one =
            answer.split.by == SPLIT_CHOICE
                ? &m->planner.stages[answer.split.at].items[answer.split.value]
                : NULL;
        split_given = !closes && read_split(m, split, &answer.split, one);
    }
    arena_reset(m->scratch, mark);
    bool first_empty;
    if (!closed && (!split_given || !divides(m, box, split, &first_empty))) {
        *split = (struct proof_box){.stage = -1, .rank = -1, .choice = -1, .group = -1};
        if (!maker_is_single(m, box)) split_blindly(m, box, split);
    }
    return closed;
}

int64_t maker_root_bound(struct maker *m, int64_t target_ns)
{
    struct box_answer answer;
    if (!open_closer(m)) return 0;
    struct choice_box whole = choice_box_whole(m->closer, m->arena);
    box_close(m->closer, &whole, target_ns, 0, &answer);
    return answer.bound_ns < INT64_MAX / 8 ? answer.bound_ns : 0;
}

// ---- the tree

static void prove_box(struct maker *m, struct check_box *box, int64_t record, int depth);

static void split_box(struct maker *m, int number, struct check_box *box,
                      const struct proof_box *by, int64_t first, int64_t second, int depth)
{
    struct proof_box *b = &m->proof->boxes[number], given = *b;
    struct arena_mark mark = arena_set_mark(m->scratch);
    *b = *by;
    b->rounds = given.rounds;
    b->round_count = given.round_count;
    b->round_capacity = given.round_capacity;
    b->given = given.given;
    struct check_box other = maker_split(m, box, by, m->scratch);
    prove_box(m, box, first, depth + 1);
    if (!m->failed) prove_box(m, &other, second, depth + 1);
    arena_reset(m->scratch, mark);
}

// The record's split, its two parts in the file's order: the choices with the property first.
static bool split_of_record(struct maker *m, const struct box_record *r, struct proof_box *to,
                            int64_t *first, int64_t *second)
{
    if (r->first_part < 0 || !read_split(m, to, &r->split, r->branched)) return false;
    assert(r->first_part + 1 < m->request->evidence->proof.count);
    *first = r->first_part + r->turned;
    *second = r->first_part + !r->turned;
    return true;
}

// At most one decision is left: replayed as the checker will. If it is a plan below the bound, the
// claim is false.
static bool leaf_holds(struct maker *m, const struct check_box *box)
{
    const struct check_choice *chosen[MOST_STAGES];
    bool below = false;
    for (int s = 0; s < m->p.stages; s++) {
        if (!box->count[s]) return true;
        chosen[s] = &m->choices.items[s][box->left[s][0]];
    }
    for (int i = 0; i < box->span_count; i++) {
        int layers = 0, kind = i / m->p.ranks - 1;
        for (int turn = 0; turn < m->p.turns; turn++) {
            int s = check_stage_of(&m->p, i % m->p.ranks, turn);
            layers += kind < 0 ? chosen[s]->layers
                               : check_layers_of(&m->choices, s, chosen[s], kind);
        }
        if (layers < box->spans[i].least || layers > box->spans[i].most) return true;
    }
    if (check_misfit(&m->g, chosen)) return true;
    if (m->bound_ns <= 0) return m->bound_ns == 0;
    check_take_durations(&m->replay, chosen);
    return check_takes_at_most(&m->replay, m->bound_ns - 1, &below) == OK && !below;
}

// Record -1: nothing more is known of the box.
static void prove_box(struct maker *m, struct check_box *box, int64_t record, int depth)
{
    if (m->proof->box_count >= m->boxes_most || depth > DEEPEST) m->failed = true;
    if (m->result->mended >= m->mended_most) m->failed = true;
    if (m->failed) return;
    const struct box_proof *proof = &m->request->evidence->proof;
    assert(record < proof->count);
    int number = m->proof->box_count;
    struct proof_box *b = proof_add_box(m->proof), split = *b;
    if (m->request->shrink) {
        struct check_box *given = TAKE(m->arena, 1, struct check_box);
        *given = maker_copy_box(m, box, m->arena);
        b->given = given;
    }
    bool closed = maker_couple(m, box);
    int64_t first = -1, second = -1;
    for (bool walking = true; walking && !closed && record >= 0;) {
        closed = follow_steps(m, number, box, &proof->records[record]);
        walking = false;
        bool first_empty;
        if (closed || maker_is_single(m, box) ||
            !split_of_record(m, &proof->records[record], &split, &first, &second))
            continue;
        if (divides(m, box, &split, &first_empty)) {
            split_box(m, number, box, &split, first, second, depth);
            return;
        }
        record = first_empty ? second : first; // everything left lies in one part, so there is no
                                               // separate box
        walking = true;
    }
    if (!closed && !maker_is_single(m, box)) {
        split = (struct proof_box){.stage = -1, .rank = -1, .choice = -1, .group = -1};
        closed = mend(m, number, box, &split);
        if (!closed && !maker_is_single(m, box)) {
            split_box(m, number, box, &split, -1, -1, depth);
            return;
        }
    }
    m->proof->boxes[number].end = closed ? END_CLOSED : END_LEAF;
    if (!closed && !leaf_holds(m, box)) m->failed = true;
}

bool maker_prove(struct maker *m)
{
    const struct box_proof *proof = &m->request->evidence->proof;
    struct check_box whole = check_whole_box(&m->choices, m->scratch);
    m->proof->box_count = 0;
    m->failed = false;
    prove_box(m, &whole, proof->count && m->bound_ns >= 0 ? 0 : -1, 0);
    return !m->failed;
}
