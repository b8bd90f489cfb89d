// Simple certificates of small problems.
#include "tests/support/trials/certify.h"
#include "tests/support/check.h"

#include "data/base/file.h"
#include "data/text/json.h"
#include "solve/certificate/certificate.h"
#include "solve/checker/proof.h"

enum { PATHS_MOST = 4000, ROUND_PATHS = 4, DEEPEST = 4000 };

// One path: its operations, the checker's counts, and how it is written. Of the greatest load: what
// is occupied.
struct path {
    struct check_load load;
    int start, laps, *counts;
    const char *steps;
};

struct step {
    int paths[ROUND_PATHS], count;
    int64_t weights[ROUND_PATHS];
    bool by_ranks;
    const struct check_memory_price *memory;
    int memory_count;
};

struct maker {
    const struct certify_claim *claim;
    const struct check_problem *p;
    struct check_graph *g;
    struct check_choices choices;
    struct check_mixer *mixer;
    struct check_replay replay;
    struct path *paths;
    int path_count;
    int64_t *coefficients;
    wide *reach; // scratch of the longest path, by operation
    int *from_edge, *from, *operations;
    struct json_writer boxes;
    int box_count;
    bool too_many;
    uint64_t work;
    struct arena *arena;
};

// ---- critical paths

// Lowers nothing: raises reach[] along all edges, each lap's length less `length` and all times
// `laps`; returns an operation that rose, or -1.
static int relax(struct maker *m, wide length, wide laps)
{
    const struct check_graph *g = m->g;
    int rose = -1;
    for (int k = 0; k < g->operation_count; k++) {
        int i = g->order[k];
        wide end = m->reach[i] + laps * m->replay.durations[m->replay.symbol[i]];
        for (int e = g->first[i]; e < g->first[i + 1]; e++) {
            wide value = end - (g->lap[e] ? length : 0);
            if (value <= m->reach[g->next[e]]) continue;
            m->reach[g->next[e]] = value;
            m->from[g->next[e]] = i;
            m->from_edge[g->next[e]] = e;
            rose = g->next[e];
        }
    }
    return rose;
}

static void clear(struct maker *m)
{
    for (int i = 0; i < m->g->offset[KINDS]; i++) {
        m->reach[i] = 0;
        m->from[i] = -1;
    }
}

static const char *write_steps(struct maker *m, const int *edges, int count)
{
    const char *text = "";
    for (int i = 0, n; i < count; i += n) {
        int before = 0;
        while (m->g->first[before + 1] <= edges[i]) before++;
        int successor = edges[i] - m->g->first[before];
        for (n = 1; i + n < count; n++) {
            before = 0;
            while (m->g->first[before + 1] <= edges[i + n]) before++;
            if (edges[i + n] - m->g->first[before] != successor) break;
        }
        text = n > 1 ? arena_print(m->arena, "%s%s%d*%d", text, *text ? " " : "", successor, n)
                     : arena_print(m->arena, "%s%s%d", text, *text ? " " : "", successor);
    }
    return text;
}

// Turns edges (in order) into a path of the pool; its number.
static int keep_path(struct maker *m, int start, const int *edges, int count)
{
    int symbols = check_symbol_count(m->p);
    struct path path = {
        .start = start, .laps = m->p->barrier ? 1 : 0, .counts = TAKE(m->arena, symbols, int)};
    if (m->p->barrier) path.counts[m->replay.symbol[start]]++;
    for (int i = 0; i < count; i++) {
        path.laps += m->g->lap[edges[i]];
        path.counts[m->replay.symbol[m->g->next[edges[i]]]]++;
    }
    for (int i = 0; i < m->path_count; i++)
        if (m->paths[i].laps == path.laps &&
            !memcmp(m->paths[i].counts, path.counts, (size_t)symbols * sizeof *path.counts))
            return i;
    assert_true(m->path_count < PATHS_MOST);
    path.steps = write_steps(m, edges, count);
    m->paths[m->path_count] = path;
    return m->path_count++;
}

// The edges into `at`, back to where it starts (or to `at` itself): in order, in operations[].
static int trace(struct maker *m, int at, bool cycle, int *start)
{
    int count = 0, i = at;
    do {
        m->operations[count++] = m->from_edge[i];
        i = m->from[i];
    } while (cycle ? i != at : m->from[i] >= 0);
    *start = i;
    for (int a = 0, b = count - 1; a < b; a++, b--) {
        int swapped = m->operations[a];
        m->operations[a] = m->operations[b];
        m->operations[b] = swapped;
    }
    return count;
}

static int longest_path(struct maker *m)
{
    int at = m->g->order[0], start;
    clear(m);
    relax(m, 0, 1);
    for (int k = 0; k < m->g->operation_count; k++) {
        int i = m->g->order[k];
        if (m->reach[i] + m->replay.durations[m->replay.symbol[i]] >
            m->reach[at] + m->replay.durations[m->replay.symbol[at]])
            at = i;
    }
    if (m->from[at] < 0) return keep_path(m, at, NULL, 0);
    int count = trace(m, at, false, &start);
    return keep_path(m, start, m->operations, count);
}

// An operation on a cycle of the operations from which each one rose, or -1.
static int find_cycle(struct maker *m, int at)
{
    int count = m->g->offset[KINDS];
    for (int i = 0; i < count && at >= 0; i++) at = m->from[at];
    return at;
}

static int longest_cycle(struct maker *m)
{
    int best = -1;
    wide length = -1, laps = 1; // any cycle is longer
    for (;;) {
        clear(m);
        int rose = 0, on = -1;
        for (int i = 0; i < 2 * m->replay.open_count + 4 && rose >= 0 && on < 0; i++) {
            rose = relax(m, length, laps);
            if (rose >= 0 && i > 0) on = find_cycle(m, rose);
        }
        if (on < 0) return best;
        int start, count = trace(m, on, true, &start);
        best = keep_path(m, start, m->operations, count);
        length = 0;
        laps = m->paths[best].laps;
        for (int i = 0; i < check_symbol_count(m->p); i++)
            length += (wide)m->paths[best].counts[i] * m->replay.durations[i];
    }
}

// The rank or link that is occupied for longest.
static int busiest(struct maker *m)
{
    int symbols = check_symbol_count(m->p);
    struct path best = {.laps = 1}, path = {.laps = 1};
    int64_t most = -1;
    for (int i = 0; i < m->replay.loads.count; i++) {
        int64_t ns = 0;
        path.load = m->replay.loads.items[i].of;
        path.counts = TAKE(m->arena, symbols, int);
        check_count_load(&m->replay.loads, path.load, symbols, path.counts);
        for (int k = 0; k < symbols; k++) ns += path.counts[k] * m->replay.durations[k];
        if (ns > most) best = path, most = ns;
    }
    for (int i = 0; i < m->path_count; i++)
        if (m->paths[i].load.from == best.load.from && m->paths[i].load.to == best.load.to)
            return i;
    m->paths[m->path_count] = best;
    return m->path_count++;
}

// Of the durations that one choice of each stage means, whether they fit together or not.
static int critical_path(struct maker *m, const struct check_choice *const *chosen)
{
    check_take_durations(&m->replay, chosen);
    for (int i = 0; i < check_symbol_count(m->p); i++)
        if (m->replay.durations[i] < 0) m->replay.durations[i] = 0;
    if (m->p->objective == MINIMISE_LOAD) return busiest(m);
    return m->p->barrier ? longest_path(m) : longest_cycle(m);
}

// ---- boxes

static const struct check_choice *pick(const struct maker *m, const struct check_box *box, int s,
                                       int how)
{
    const struct check_choice *best = &m->choices.items[s][box->left[s][0]];
    if (how == 2) return &m->choices.items[s][box->left[s][box->count[s] / 2]];
    for (int i = 1; i < box->count[s]; i++) {
        const struct check_choice *c = &m->choices.items[s][box->left[s][i]];
        if (how ? c->load > best->load : c->load < best->load) best = c;
    }
    return best;
}

// true: nothing is left.
static bool couple(struct maker *m, struct check_box *box)
{
    bool empty = false;
    assert_int_equal(check_couple_ranks(&m->choices, box), OK);
    for (int s = 0; s < m->p->stages; s++) empty = empty || !box->count[s];
    return empty;
}

static bool use(struct maker *m, struct check_box *box, struct step *step)
{
    int symbols = check_symbol_count(m->p);
    struct check_round round = {.coefficients = m->coefficients,
                                .has_weights = step->count > 0,
                                .counts = true,
                                .by_ranks = step->by_ranks};
    struct check_memory_price *memory;
    bool closed = false;
    memset(m->coefficients, 0, (size_t)symbols * sizeof *m->coefficients);
    for (int i = 0; i < step->count; i++)
        for (int k = 0; k < symbols; k++)
            m->coefficients[k] += step->weights[i] * m->paths[step->paths[i]].counts[k];
    if (step->by_ranks)
        step->memory_count = round.memory_count =
            memory_price(&memory, &m->choices, box, &round, m->arena);
    if (step->by_ranks) step->memory = round.memory = memory;
    assert_int_equal(check_use_round(m->mixer, box, &round,
                                     m->claim->infeasible ? -1 : m->claim->bound_ns, &closed),
                     OK);
    return closed || couple(m, box);
}

static void put_memory(struct maker *m, const struct step *step)
{
    json_open_array(&m->boxes, "memory");
    for (int i = 0; i < step->memory_count; i++) {
        const struct check_memory_price *price = &step->memory[i];
        const int64_t numbers[] = {price->rank, price->moment, price->turn, price->price};
        json_open_array(&m->boxes, NULL);
        for (int k = 0; k < 4; k++) json_put_count(&m->boxes, NULL, numbers[k]);
        json_close_array(&m->boxes);
    }
    json_close_array(&m->boxes);
}

static void put_step(struct maker *m, const struct step *step)
{
    json_open_flat_object(&m->boxes, NULL);
    json_open_array(&m->boxes, "weights");
    for (int i = 0; i < step->count; i++) {
        json_open_array(&m->boxes, NULL);
        json_put_count(&m->boxes, NULL, step->paths[i]);
        json_put_count(&m->boxes, NULL, step->weights[i]);
        json_close_array(&m->boxes);
    }
    json_close_array(&m->boxes);
    if (step->by_ranks) json_put_bool(&m->boxes, "by_ranks", true);
    if (step->memory_count) put_memory(m, step);
    json_close_object(&m->boxes);
}

// Whether the ranks have several stages and everything in the box is on one group and sends equal
// messages.
static bool goes_by_ranks(const struct maker *m, const struct check_box *box)
{
    if (m->p->turns == 1) return false;
    int group = m->choices.items[0][box->left[0][0]].group;
    for (int s = 0; s < m->p->stages; s++) {
        int cut = m->choices.items[s][box->left[s][0]].cut;
        for (int i = 0; i < box->count[s]; i++) {
            const struct check_choice *c = &m->choices.items[s][box->left[s][i]];
            if (c->group != group || (s < m->p->stages - 1 && c->cut != cut)) return false;
        }
    }
    return true;
}

static int left_in(const struct maker *m, const struct check_box *box)
{
    int sum = 0;
    for (int s = 0; s < m->p->stages; s++) sum += box->count[s];
    for (int r = 0; r < m->p->ranks; r++) sum += box->spans[r].most - box->spans[r].least;
    return sum;
}

// Rounds of single critical paths and of their even mixture, as long as they take something out.
// true: closed.
static bool use_steps(struct maker *m, struct check_box *box)
{
    const struct check_choice *chosen[MOST_STAGES];
    struct step mixture = {.count = 0};
    const int64_t whole = (int64_t)1 << WEIGHT_SHIFT;
    bool closed = false;
    for (int how = 0; how < ROUND_PATHS && !closed; how++) {
        struct step single = {.count = 0};
        if (how < ROUND_PATHS - 1 && !m->claim->infeasible) {
            for (int s = 0; s < m->p->stages; s++) chosen[s] = pick(m, box, s, how);
            single = (struct step){.paths = {critical_path(m, chosen)}, .count = 1};
            single.weights[0] = whole / m->paths[single.paths[0]].laps;
            mixture.paths[mixture.count++] = single.paths[0];
        } else if (!m->claim->infeasible) {
            single = mixture;
            for (int i = 0; i < mixture.count; i++)
                single.weights[i] = whole / mixture.count / m->paths[mixture.paths[i]].laps;
        }
        int before = left_in(m, box);
        single.by_ranks = goes_by_ranks(m, box);
        closed = use(m, box, &single);
        if (closed || left_in(m, box) < before) put_step(m, &single);
        if (m->claim->infeasible) break;
    }
    return closed;
}

// The stage with most choices left; false: none has more than one.
static bool find_split(const struct maker *m, const struct check_box *box, int *stage,
                       int64_t *load)
{
    *stage = 0;
    for (int s = 1; s < m->p->stages; s++)
        if (box->count[s] > box->count[*stage]) *stage = s;
    int64_t least = pick(m, box, *stage, 0)->load, most = pick(m, box, *stage, 1)->load;
    *load = least < most ? least + (most - least + 1) / 2 : -1;
    return box->count[*stage] > 1;
}

static void put_split(struct maker *m, int stage, int64_t load, const struct check_choice *c)
{
    json_open_flat_object(&m->boxes, "split");
    json_put_count(&m->boxes, "stage", stage);
    if (load >= 0) {
        json_put_count(&m->boxes, "load_below_ns", load);
    } else {
        json_open_object(&m->boxes, "choice");
        if (c->first != -1)
            json_put_count(&m->boxes, "first_layer", c->first < 0 ? -1 - c->first : c->first);
        json_put_count(&m->boxes, "layers", c->layers);
        json_put_text(&m->boxes, "group", m->p->groups[c->group].name);
        json_put_text(&m->boxes, "recompute", check_mode_names[c->mode]);
        json_put_count(&m->boxes, "recomputed_layers", c->recomputed);
        if (c->swapped) json_put_count(&m->boxes, "swapped_layers", c->swapped);
        if (m->p->runs[0].sharded) json_put_count(&m->boxes, "sharded_layers", c->sharded);
        if (m->p->degree_count) json_put_count(&m->boxes, "vocabulary_tensor", c->vocabulary);
        json_put_count(&m->boxes, "gradient_option", c->gradient);
        json_put_count(&m->boxes, "boundary_option", c->boundary);
        json_close_object(&m->boxes);
    }
    json_close_object(&m->boxes);
}

static struct check_box copy_box(struct maker *m, const struct check_box *box)
{
    struct check_box copy = {TAKE(m->arena, m->p->stages, int *), TAKE(m->arena, m->p->stages, int),
                             TAKE_COPY(m->arena, box->spans, m->p->ranks)};
    for (int s = 0; s < m->p->stages; s++) {
        copy.count[s] = box->count[s];
        copy.left[s] = TAKE_COPY(m->arena, box->left[s], box->count[s]);
    }
    return copy;
}

static void make_box(struct maker *m, struct check_box *box, int depth);

// The widest span in halves; false: there is none.
static bool split_span(struct maker *m, struct check_box *box, int depth)
{
    int rank = 0;
    for (int r = 1; r < m->p->ranks; r++)
        if (box->spans[r].most - box->spans[r].least >
            box->spans[rank].most - box->spans[rank].least)
            rank = r;
    struct check_span *span = &box->spans[rank];
    if (span->most <= span->least) return false;
    int below = span->least + (span->most - span->least + 1) / 2;
    json_open_flat_object(&m->boxes, "split");
    json_put_count(&m->boxes, "rank", rank);
    json_put_count(&m->boxes, "layers_below", below);
    json_close_object(&m->boxes);
    json_close_object(&m->boxes);
    struct check_box other = copy_box(m, box);
    other.spans[rank].least = below;
    span->most = below - 1;
    make_box(m, box, depth + 1);
    if (!m->too_many) make_box(m, &other, depth + 1);
    return true;
}

static void make_box(struct maker *m, struct check_box *box, int depth)
{
    int stage = 0;
    int64_t load;
    if (++m->box_count > m->claim->boxes_most || depth > DEEPEST) {
        m->too_many = true;
        return;
    }
    json_open_object(&m->boxes, NULL);
    json_open_array(&m->boxes, "rounds");
    bool empty = false;
    for (int s = 0; s < m->p->stages; s++) empty = empty || !box->count[s];
    bool closed = empty || couple(m, box) || use_steps(m, box);
    json_close_array(&m->boxes);
    bool splits = !closed && find_split(m, box, &stage, &load);
    if (!splits) {
        json_put_bool(&m->boxes, closed ? "closed" : "leaf", true);
        json_close_object(&m->boxes);
        return;
    }
    if (depth % 2 == 0 && goes_by_ranks(m, box) && split_span(m, box, depth)) return;
    const struct check_choice *only = &m->choices.items[stage][box->left[stage][0]];
    put_split(m, stage, load, only);
    json_close_object(&m->boxes);
    struct check_box other = copy_box(m, box);
    int kept = 0, others = 0;
    for (int i = 0; i < box->count[stage]; i++) {
        int number = box->left[stage][i];
        const struct check_choice *c = &m->choices.items[stage][number];
        if (load >= 0 ? c->load < load : c == only) box->left[stage][kept++] = number;
        else other.left[stage][others++] = number;
    }
    box->count[stage] = kept;
    other.count[stage] = others;
    make_box(m, box, depth + 1);
    if (!m->too_many) make_box(m, &other, depth + 1);
}

// ---- the file

static void put_incumbent(struct json_writer *w, const struct maker *m)
{
    json_open_array(w, "incumbent");
    for (int s = 0; s < m->p->stages; s++) {
        const struct plan_stage *x = &m->claim->incumbent[s];
        json_open_flat_object(w, NULL);
        json_put_count(w, "first_layer", x->first_layer);
        json_put_count(w, "layer_count", x->layer_count);
        json_put_text(w, "group", m->p->groups[x->group].name);
        json_put_text(w, "recompute", check_mode_names[x->recompute]);
        bool swaps = x->recompute == RECOMPUTE_SWAP;
        json_put_count(w, "recomputed_layers",
                       swaps || x->recompute == RECOMPUTE_FIRST_LAYERS ? x->recomputed_layers : 0);
        if (swaps) json_put_count(w, "swapped_layers", x->swapped_layers);
        if (x->sharded_layers) json_put_count(w, "sharded_layers", x->sharded_layers);
        if (x->vocabulary_tensor) json_put_count(w, "vocabulary_tensor", x->vocabulary_tensor);
        json_put_count(w, "gradient_option", x->gradient_option);
        json_put_count(w, "boundary_option", x->boundary_option);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_load(struct json_writer *w, struct check_load of)
{
    json_open_flat_object(w, NULL);
    json_put_count(w, of.from == of.to ? "rank" : "from", of.from);
    if (of.from != of.to) json_put_count(w, "to", of.to);
    json_close_object(w);
}

static void put_paths(struct json_writer *w, const struct maker *m)
{
    json_open_array(w, "paths");
    for (int i = 0; i < m->path_count; i++) {
        int kind = 0;
        if (m->p->objective == MINIMISE_LOAD) {
            put_load(w, m->paths[i].load);
            continue;
        }
        while (m->paths[i].start >= m->g->offset[kind + 1]) kind++;
        int rest = m->paths[i].start - m->g->offset[kind], slices = m->g->slices[kind],
            micro_batches = m->g->micro_batches[kind];
        json_open_flat_object(w, NULL);
        json_open_array(w, "start");
        json_put_text(w, NULL, check_kind_names[kind]);
        json_put_count(w, NULL, rest / slices / micro_batches);
        json_put_count(w, NULL, rest / slices % micro_batches);
        json_put_count(w, NULL, rest % slices);
        json_close_array(w);
        json_put_count(w, "laps", m->paths[i].laps);
        json_put_text(w, "steps", m->paths[i].steps);
        json_close_object(w);
    }
    json_close_array(w);
}

static const char *assemble(const struct maker *m, const struct check_text *priced, size_t *size)
{
    struct json_writer w;
    struct source source = {.role = "priced", .path = priced->file};
    sha256_text(priced->text, priced->size, source.sha256);
    document_begin(&w, "plumbline.certificate", &source, 1, m->arena);
    json_open_object(&w, "proof");
    bool of_time = m->p->objective == MINIMISE_TIME;
    if (!of_time) json_put_text(&w, "objective", check_objective_names[m->p->objective]);
    if (m->claim->infeasible) json_put_bool(&w, "infeasible", true);
    else json_put_count(&w, "bound_ns", m->claim->bound_ns);
    if (m->claim->iteration_ns >= 0) {
        json_put_count(&w, of_time ? "iteration_ns" : "objective_ns", m->claim->iteration_ns);
        put_incumbent(&w, m);
    }
    if (m->claim->counts) {
        json_open_flat_object(&w, "counted");
        json_open_array(&w, "slots");
        for (int g = 0; g < m->p->group_count; g++) json_put_text(&w, NULL, m->p->groups[g].name);
        json_close_array(&w);
        json_put_bool(&w, "boundaries", true);
        json_put_bool(&w, "stages", true);
        json_close_object(&w);
    }
    put_paths(&w, m);
    size_t length;
    const char *boxes = json_end((struct json_writer *)&m->boxes, &length);
    json_close_object(&w);
    json_close_object(&w);
    const char *text = json_end(&w, size);
    // The boxes were written while their paths were found: they go after the paths.
    const char *end = text + *size - 1;
    while (*end != ']') end--;
    const char *joined = arena_print(m->arena, "%.*s,\n\"boxes\": %s%s", (int)(end + 1 - text),
                                     text, boxes, end + 1);
    *size = strlen(joined);
    return joined;
}

const char *certify(const struct certify_claim *claim, const struct check_text *priced,
                    size_t *size, struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_problem p;
    struct check_graph g;
    bool counted[RESOURCES_MOST] = {false};
    struct maker m = {.claim = claim, .p = &p, .g = &g, .work = UINT64_MAX / 2, .arena = arena};
    if (check_read_problem(&p, priced, arena, &err) || check_build_graph(&g, &p, arena) ||
        check_list_choices(&m.choices, &g, &m.work, arena))
        fail_msg("%s", err.text);
    for (int r = 0; r < check_resource_count(&p) && claim->counts; r++)
        counted[r] = r < p.group_count + BUDGET_COST;
    check_open_replay(&m.replay, &g, &m.work, arena);
    assert_int_equal(check_open_mixer(&m.mixer, &m.choices, counted, arena), OK);
    int count = g.offset[KINDS];
    m.paths = TAKE(arena, PATHS_MOST, struct path);
    m.coefficients = TAKE(arena, check_symbol_count(&p), int64_t);
    m.reach = TAKE(arena, count, wide);
    m.from = TAKE(arena, count, int);
    m.from_edge = TAKE(arena, count, int);
    m.operations = TAKE(arena, count + 1, int);
    struct check_box whole = {TAKE(arena, p.stages, int *), m.choices.count,
                              TAKE(arena, p.ranks, struct check_span)},
                     box;
    for (int r = 0; r < p.ranks; r++) whole.spans[r] = (struct check_span){0, p.layers};
    for (int s = 0; s < p.stages; s++) {
        whole.left[s] = TAKE(arena, m.choices.count[s], int);
        for (int i = 0; i < m.choices.count[s]; i++) whole.left[s][i] = i;
    }
    box = copy_box(&m, &whole);
    json_begin(&m.boxes, arena);
    json_open_array(&m.boxes, NULL);
    make_box(&m, &box, 0);
    if (m.too_many) return NULL;
    json_close_array(&m.boxes);
    return assemble(&m, priced, size);
}
