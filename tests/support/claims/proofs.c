// Changed proofs of one layout, and the largest bound that the checker accepts for each.
#include "tests/support/claims/proofs.h"

#include "data/text/json.h"
#include "data/schedule/schedule.h"
#include "solve/certificate/certificate.h"
#include "solve/checker/proof.h"
#include "tests/support/check.h"

// ---- random mixtures of a whole problem's paths

struct mixing {
    const struct check_problem *p;
    struct check_graph g;
    struct check_choices choices;
    struct check_replay replay;
    struct check_mixer *mixer;
    struct check_round rounds[3];
    int round_count, symbols;
    int64_t time_ns; // the truth; INT64_MAX: no plan
    int64_t *length; // of the longest way to an operation's end
    int *from;
    uint64_t work;
    struct random *rng;
    struct arena *arena;
};

// The operations of the longest path, each symbol's duration drawn anew; added up in counts.
static void add_path(struct mixing *m, int64_t weight, int64_t *coefficients)
{
    const struct check_graph *g = &m->g;
    int64_t *durations = TAKE(m->arena, m->symbols, int64_t);
    for (int i = 0; i < m->symbols; i++)
        durations[i] = random_between(m->rng, 0, random_chance(m->rng, 50) ? 3 : 100);
    for (int i = 0; i < g->offset[KINDS]; i++) m->length[i] = 0, m->from[i] = -1;
    int last = g->order[0];
    for (int k = 0; k < g->operation_count; k++) {
        int at = g->order[k];
        int64_t end = m->length[at] + durations[check_symbol_of(g, at)];
        if (end >= m->length[last] + durations[check_symbol_of(g, last)]) last = at;
        for (int e = g->first[at]; e < g->first[at + 1]; e++)
            if (!g->lap[e] && end >= m->length[g->next[e]])
                m->length[g->next[e]] = end, m->from[g->next[e]] = at;
    }
    for (int at = last; at >= 0; at = m->from[at]) coefficients[check_symbol_of(g, at)] += weight;
}

// In 2^-40 ns a byte: of any size, or such that a full rank pays about the time of a plan.
static int64_t draw_memory_price(struct mixing *m)
{
    const struct check_group *g = &m->p->groups[random_between(m->rng, 0, m->p->group_count - 1)];
    double room = (double)(g->memory_limit - g->constant_bytes),
           even = room > 0 ? 0x1p40 * (double)m->time_ns / room : 0;
    if (random_chance(m->rng, 20)) return 0;
    if (random_chance(m->rng, 50) && even > 1 && even < 0x1p57)
        return random_between(m->rng, 0, 2 * (int64_t)even);
    return random_between(m->rng, 0, (int64_t)1 << random_between(m->rng, 10, 58));
}

static void draw_memory(struct mixing *m, struct check_round *round)
{
    round->memory_count =
        random_chance(m->rng, 40) ? 1 : (int)random_between(m->rng, 1, 3 * m->p->ranks);
    struct check_memory_price *to = TAKE(m->arena, round->memory_count, struct check_memory_price);
    round->memory = to;
    for (int i = 0; i < round->memory_count; i++) {
        int rank = (int)random_between(m->rng, 0, m->p->ranks - 1),
            moments = m->choices.g->peaks[rank].count;
        to[i] = (struct check_memory_price){rank, (int)random_between(m->rng, 0, moments - 1),
                                            (int)random_between(m->rng, 0, m->p->turns - 1),
                                            draw_memory_price(m)};
    }
}

static void draw_round(struct mixing *m, struct check_round *round)
{
    int64_t left = (int64_t)1 << WEIGHT_SHIFT;
    *round = (struct check_round){.coefficients = TAKE(m->arena, m->symbols, int64_t),
                                  .has_weights = true};
    for (int paths = (int)random_between(m->rng, 1, 3); paths > 0; paths--) {
        int64_t weight = paths == 1 ? left : random_between(m->rng, 0, left);
        add_path(m, weight, round->coefficients);
        left -= weight;
    }
    for (int r = 0; r < check_resource_count(m->p); r++)
        if (check_resource_limit(m->p, r) >= 0 && random_chance(m->rng, 40))
            round->prices[r] =
                random_between(m->rng, 0, (int64_t)1 << random_between(m->rng, 10, 45));
    round->counts = random_chance(m->rng, 50);
    round->by_ranks = m->p->turns > 1 && random_chance(m->rng, 60);
    struct random own = *m->rng;
    round->decisions = round->by_ranks && random_chance(&own, 30);
    if (m->p->turns > 1 && random_chance(m->rng, 60)) draw_memory(m, round);
}

// Whether the rounds, one after the other, close the box of all choices.
static bool closes(struct mixing *m, int64_t bound_ns)
{
    const struct check_problem *p = m->p;
    struct arena_mark mark = arena_set_mark(m->arena);
    struct check_box box = check_whole_box(&m->choices, m->arena);
    bool closed = false;
    for (int s = 0; s < p->stages; s++) closed = closed || !box.count[s];
    for (int i = 0; i < m->round_count && !closed; i++) {
        if (check_couple_ranks(&m->choices, &box) != OK ||
            check_use_round(m->mixer, &box, &m->rounds[i], bound_ns, &closed) != OK) {
            closed = false;
            break;
        }
        for (int s = 0; s < p->stages; s++) closed = closed || !box.count[s];
    }
    arena_reset(m->arena, mark);
    return closed;
}

typedef bool accepts(void *argument, int64_t bound_ns);

// Beyond the truth, at distances of all sizes; else by halves below.
static int64_t find_largest(accepts *asks, void *argument, int64_t truth_ns)
{
    int64_t high = truth_ns == INT64_MAX ? (int64_t)1 << 45 : truth_ns + 1, low = 0;
    const int64_t beyond[] = {high, high + high / 1000 + 1, high + high / 20 + 2, 2 * high + 5,
                              64 * high + 7};
    for (int i = 0; i < 5; i++)
        if (asks(argument, beyond[i])) low = beyond[i];
    if (low) return low;
    if (!asks(argument, 1)) return -1;
    for (low = 1; high - low > truth_ns / 4096 + 1;) {
        int64_t middle = low + (high - low) / 2;
        *(asks(argument, middle) ? &low : &high) = middle;
    }
    return low;
}

static bool mixing_closes(void *argument, int64_t bound_ns) { return closes(argument, bound_ns); }

int64_t mixture_largest(const struct check_problem *p, int64_t truth_ns, struct random *rng,
                        struct arena *arena)
{
    struct mixing *m = TAKE(arena, 1, struct mixing);
    struct check_problem *own = TAKE(arena, 1, struct check_problem); // with errors of its own
    bool counted[RESOURCES_MOST];
    *own = *p;
    own->reader.err = TAKE(arena, 1, struct error);
    p = own;
    *m = (struct mixing){.p = p,
                         .symbols = check_symbol_count(p),
                         .time_ns = truth_ns,
                         .work = UINT64_MAX / 2,
                         .rng = rng,
                         .arena = arena,
                         .round_count = (int)random_between(rng, 1, 3)};
    for (int r = 0; r < RESOURCES_MOST; r++)
        counted[r] = r < check_resource_count(p) && r != p->group_count + BUDGET_COST &&
                     random_chance(rng, 50);
    if (check_build_graph(&m->g, p, arena) != OK ||
        check_list_choices(&m->choices, &m->g, &m->work, arena) != OK ||
        check_open_mixer(&m->mixer, &m->choices, counted, arena) != OK)
        return -1;
    m->length = TAKE(arena, m->g.offset[KINDS], int64_t),
    m->from = TAKE(arena, m->g.offset[KINDS], int);
    for (int i = 0; i < m->round_count; i++) {
        draw_round(m, &m->rounds[i]);
        // What no plan can contain leaves in a round without paths.
        if (i == 0 && random_chance(rng, 20))
            memset(m->rounds[i].coefficients, 0, (size_t)m->symbols * sizeof(int64_t)),
                m->rounds[i].has_weights = false;
    }
    return find_largest(mixing_closes, m, truth_ns);
}

// ---- the solver's proof

cJSON *proof_of_layout(const struct layout_truth *l, struct arena *arena)
{
    struct error err = {OK, ""};
    struct solve_settings settings;
    struct solve_result r;
    struct json_writer w;
    struct certificate_result made;
    cJSON *root;
    struct reader reader = {"proof", &err};
    size_t size;
    solve_defaults(&settings);
    settings.progress = 0, settings.evidence = true, settings.boxes_max = 40;
    if (solve_run(&r, &l->priced, &settings, NULL, NULL, arena, &err) != OK || !r.evidence)
        return NULL;
    json_begin(&w, arena);
    json_open_object(&w, NULL);
    struct certificate_request request = {.priced = &l->priced,
                                          .plan = &r.plan,
                                          .evidence = r.evidence,
                                          .problem = l->tables,
                                          .into = &w};
    if (certificate_make(&made, &request, arena, &err) != OK || !made.text) return NULL;
    json_close_object(&w);
    const char *text = json_end(&w, &size);
    if (check_parse(&reader, text, size, &root, arena) != OK) fail_msg("%s", err.text);
    cJSON *proof = (cJSON *)(uintptr_t)value_get(root, "proof");
    cJSON_DeleteItemFromObject(proof, "incumbent");
    return proof;
}

struct asking {
    const struct check_problem *p;
    const cJSON *proof;
    struct arena *arena;
};

static bool is_accepted(void *argument, int64_t bound_ns)
{
    struct asking *a = argument;
    struct arena_mark mark = arena_set_mark(a->arena);
    struct error why = {OK, ""};
    struct reader reader = {"proof", &why};
    struct check_problem p = *a->p;
    struct check_result result = {
        .infeasible = bound_ns < 0, .iteration_ns = -1, .bound_ns = bound_ns};
    uint64_t work = 1000 * 1000 * 1000;
    p.reader = reader;
    bool so = check_one_proof(&reader, a->proof, &p, &result, &work, a->arena) == OK;
    arena_reset(a->arena, mark);
    return so;
}

int64_t proof_largest(const struct check_problem *p, const cJSON *proof, int64_t truth_ns,
                      struct arena *arena)
{
    struct asking a = {p, proof, arena};
    if (is_accepted(&a, -1)) return INT64_MAX;
    return find_largest(is_accepted, &a, truth_ns);
}

// ---- changes

enum { PLACES_MOST = 4000 };
struct places_in {
    cJSON *numbers[PLACES_MOST], *rounds[PLACES_MOST];
    int number_count, round_count;
};

static bool is_counted_key(const char *key)
{
    static const char *const keys[] = {"load_below_ns", "layers_below", "boundaries",
                                       "stages",        "cost",         NULL};
    for (int i = 0; keys[i]; i++)
        if (key && !strcmp(key, keys[i])) return true;
    return false;
}

static void list_places(struct places_in *to, cJSON *v, bool inside)
{
    bool is_round = v->type == cJSON_Object && (value_get(v, "weights") || value_get(v, "prices"));
    if (is_round && to->round_count < PLACES_MOST) to->rounds[to->round_count++] = v;
    inside = inside ||
             (v->string && (!strcmp(v->string, "weights") || !strcmp(v->string, "slots")));
    if ((v->type == cJSON_Number && (inside || is_counted_key(v->string))) &&
        to->number_count < PLACES_MOST)
        to->numbers[to->number_count++] = v;
    if (v->type != cJSON_Array && v->type != cJSON_Object) return;
    for (cJSON *e = v->child; e; e = e->next) list_places(to, e, inside);
}

static void set_number(cJSON *v, int64_t number)
{
    v->valuedouble = (double)number;
    v->valueint = (int)(number - (int64_t)v->valuedouble);
}

static void put_flag(cJSON *round, const char *key)
{
    if (value_get(round, key)) cJSON_DeleteItemFromObject(round, key);
    else cJSON_AddTrueToObject(round, key);
}

// Prices where there were none: of a slot of the first group, of the budget.
static void put_prices(cJSON *round, struct random *rng)
{
    cJSON_DeleteItemFromObject(round, "prices");
    cJSON *prices = cJSON_AddObjectToObject(round, "prices"),
          *slots = cJSON_AddArrayToObject(prices, "slots"), *pair = cJSON_CreateArray();
    cJSON_AddItemToArray(slots, pair);
    for (int i = 0; i < 2; i++) {
        cJSON *number = cJSON_CreateNumber(0);
        cJSON_AddItemToArray(pair, number);
        set_number(number, random_between(rng, 0, i ? (int64_t)1 << 45 : 1));
    }
    if (random_chance(rng, 50))
        set_number(
            cJSON_AddNumberToObject(prices, random_chance(rng, 50) ? "stages" : "boundaries", 0),
            random_between(rng, 0, (int64_t)1 << 45));
}

void proof_change(cJSON *proof, struct random *rng, struct arena *arena)
{
    struct places_in *x = TAKE(arena, 1, struct places_in);
    list_places(x, proof, false);
    for (int left = (int)random_between(rng, 1, 4); left > 0; left--) {
        if (x->round_count && random_chance(rng, 30)) {
            cJSON *round = x->rounds[random_between(rng, 0, x->round_count - 1)];
            if (random_chance(rng, 40)) put_flag(round, "by_ranks");
            else if (random_chance(rng, 50)) put_flag(round, "relaxed");
            else put_prices(round, rng);
        } else if (x->number_count) {
            cJSON *v = x->numbers[random_between(rng, 0, x->number_count - 1)];
            int64_t n = value_number(v);
            const int64_t to[] = {
                0,
                1,
                n + 1,
                n - 1,
                n / 2,
                2 * n,
                (int64_t)1 << 40,
                ((int64_t)1 << 40) - n,
                value_number(x->numbers[random_between(rng, 0, x->number_count - 1)])};
            set_number(v, to[random_between(rng, 0, 8)]);
        }
    }
    if (random_chance(rng, 20)) cJSON_DeleteItemFromObject(proof, "counted");
}
