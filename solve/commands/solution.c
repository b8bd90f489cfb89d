// From column values to a plan. Binaries are rounded; what they decide is priced and timed again,
// so the solver's other numbers do not count.
#include "solve/commands/solution.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/names.h"
#include "formulate/choices/choice.h"
#include "formulate/graph/objective.h"
#include "formulate/price/price.h"
#include "solve/places/placed.h"

static const double whole = 1e-3; // further from an integer, a binary decides nothing
static const double same = 1e-6;  // relative: the accuracy of what solvers print

struct column {
    const char *name, *role;
    struct json json;
    int line; // of the solution; 0: not listed
    double value;
};

struct map {
    struct document document;
    int64_t time_unit_ns;
    struct column *columns;
    struct column **by_name; // [count]: ascending
    int count;
};

struct reading {
    const struct solution *solution;
    struct map map;
    const struct choices *choices;
    struct arena *arena;
    struct error *err;
};

// ---- the map

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct column *const *)a)->name, (*(struct column *const *)b)->name);
}

static enum status read_map(struct map *m, const char *path, struct arena *arena, struct error *err)
{
    struct json columns;
    const struct json_field top[] = {
        FIELD_COUNT("time_unit_ns", REQUIRED, &m->time_unit_ns, 1, 1e15),
        FIELD_ARRAY("columns", REQUIRED, &columns)};
    TRY(document_read(&m->document, path, "plumbline.map", arena, err));
    TRY(json_fields(&m->document.root, top, ARRAY_LENGTH(top), JSON_ENVELOPE, arena, err));
    m->count = json_length(&columns);
    m->columns = TAKE(arena, m->count, struct column);
    m->by_name = TAKE(arena, m->count, struct column *);
    for (int i = 0; i < m->count; i++) {
        struct column *c = &m->columns[i];
        const struct json_field fields[] = {FIELD_TEXT("name", REQUIRED, &c->name),
                                            FIELD_TEXT("role", REQUIRED, &c->role)};
        c->json = json_element(&columns, i, arena);
        TRY(json_fields(&c->json, fields, ARRAY_LENGTH(fields), JSON_ENVELOPE, arena, err));
        m->by_name[i] = c;
    }
    qsort(m->by_name, (size_t)m->count, sizeof *m->by_name, by_name);
    return OK;
}

static struct column *find_column(const struct map *m, const char *name)
{
    int low = 0, high = m->count - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        int order = strcmp(m->by_name[middle]->name, name);
        if (!order) return m->by_name[middle];
        if (order < 0) low = middle + 1;
        else high = middle - 1;
    }
    return NULL;
}

// ---- values

static enum status refuse_name(const struct reading *r, const struct solution_value *v)
{
    const struct map *m = &r->map;
    const char **names = TAKE(r->arena, m->count, const char *);
    for (int i = 0; i < m->count; i++) names[i] = m->columns[i].name;
    int nearest = name_nearest(v->name, names, m->count);
    return refuse(r->err, "%s:%d: expected a column of %s, found '%s'; the nearest is '%s'",
                  r->solution->path, v->line, m->document.path, v->name,
                  nearest < 0 ? "" : names[nearest]);
}

static enum status take_values(struct reading *r)
{
    const struct solution *s = r->solution;
    for (int i = 0; i < s->count; i++) {
        const struct solution_value *v = &s->values[i];
        struct column *c = v->name ? find_column(&r->map, v->name) : NULL;
        if (!v->name && v->number <= r->map.count) c = &r->map.columns[v->number - 1];
        if (!c && v->name) return refuse_name(r, v);
        if (!c)
            return refuse(r->err, "%s:%d: expected at most %d columns, as in %s, found %d", s->path,
                          v->line, r->map.count, r->map.document.path, v->number);
        if (c->line)
            return refuse(r->err, "%s:%d: column %s is already in line %d", s->path, v->line,
                          c->name, c->line);
        c->line = v->line;
        c->value = v->value;
    }
    for (int i = 0; s->complete && i < r->map.count; i++)
        if (!r->map.columns[i].line)
            return refuse(r->err, "%s: column %s of %s is missing", s->path, r->map.columns[i].name,
                          r->map.document.path);
    return OK;
}

// Whether a binary is 1.
static enum status is_one(const struct reading *r, const struct column *c, bool *one)
{
    *one = c->value > 0.5;
    if (fabs(c->value - (*one ? 1 : 0)) <= whole) return OK;
    return refuse(r->err, "%s:%d: %s: expected 0 or 1, found %g", r->solution->path, c->line,
                  c->name, c->value);
}

// ---- decisions

static enum status find_group(const struct reading *r, const struct column *c, const char *name,
                              int *group)
{
    const struct priced *p = r->choices->priced;
    for (*group = 0; *group < p->group_count; ++*group)
        if (!strcmp(p->groups[*group].name, name)) return OK;
    return json_refuse(&c->json, r->err, "expected a node group of the problem, found '%s'", name);
}

static enum status read_choice(const struct reading *r, const struct column *c, struct choice *x)
{
    const struct priced *p = r->choices->priced;
    const char *group;
    *x = (struct choice){.first_layer = -1};
    const struct json_field fields[] = {
        FIELD_INT("first_layer", OPTIONAL, &x->first_layer, 0, p->layer_count - 1),
        FIELD_INT("layers", REQUIRED, &x->layer_count, 1, p->layer_count),
        FIELD_TEXT("group", REQUIRED, &group),
    };
    TRY(json_fields(&c->json, fields, ARRAY_LENGTH(fields), JSON_ENVELOPE, r->arena, r->err));
    if (x->first_layer < 0) x->first_layer = choices_place(r->choices, p->layer_count);
    TRY(decision_get(&x->decision, &c->json, p->gradient_option_count, p->boundary_option_count,
                     r->arena, r->err));
    return find_group(r, c, group, &x->group);
}

static enum status find_stage(const struct reading *r, const struct column *c, int *stage)
{
    const struct json_field fields[] = {
        FIELD_INT("stage", REQUIRED, stage, 0, r->choices->priced->stage_count - 1)};
    return json_fields(&c->json, fields, 1, JSON_ENVELOPE, r->arena, r->err);
}

static enum status refuse_decision(const struct reading *r, int stage)
{
    return refuse(r->err,
                  "%s: stage %d: the problem does not allow this decision: it does not fit into "
                  "memory, breaks a rule, or the program is another problem's",
                  r->solution->path, stage);
}

// One binary per choice: exactly one of them is 1 for each stage.
static enum status read_choices(const struct reading *r, struct choice *stages, int *found)
{
    const struct column **by =
        TAKE(r->arena, r->choices->priced->stage_count, const struct column *);
    for (int i = 0; i < r->map.count; i++) {
        const struct column *c = &r->map.columns[i];
        bool one;
        int stage;
        if (strcmp(c->role, "choice")) continue;
        TRY(is_one(r, c, &one));
        if (!one) continue;
        TRY(find_stage(r, c, &stage));
        if (by[stage])
            return refuse(r->err, "%s:%d: stage %d has %s already, and now %s", r->solution->path,
                          c->line, stage, by[stage]->name, c->name);
        by[stage] = c;
        found[stage] = 1;
        TRY(read_choice(r, c, &stages[stage]));
    }
    return OK;
}

// ---- the plan

static enum status decide(const struct reading *r, int *chosen)
{
    const struct choices *c = r->choices;
    int stages = c->priced->stage_count, *found = TAKE(r->arena, stages, int);
    struct choice *decided = TAKE(r->arena, stages, struct choice);
    TRY(read_choices(r, decided, found));
    for (int s = 0; s < stages; s++) {
        if (!found[s])
            return refuse(r->err, "%s: decides nothing for stage %d: no column of it is 1",
                          r->solution->path, s);
        choice_evaluate(c, s, &decided[s]);
        chosen[s] = choice_find(c, s, &decided[s]);
        if (chosen[s] < 0) return refuse_decision(r, s);
    }
    return OK;
}

// On named nodes the program decides the stages, and a search where their ranks are.
static enum status make_placed(struct solution_plan *p, struct reading *r, struct arena *arena,
                               struct error *err)
{
    const struct placed_settings search = {.evaluations = 20000};
    const struct priced *priced = r->choices->priced;
    struct placed *placed;
    TRY(placed_open(&placed, priced, arena, err));
    r->choices = placed_choices(placed);
    struct placed_plan best = placed_plan_empty(placed, arena);
    int *chosen = TAKE(arena, priced->stage_count, int);
    TRY(decide(r, chosen));
    if (!placed_search(placed, &best, chosen, &search, arena))
        return refuse(err, "%s: no placement on the nodes was found for its stages",
                      r->solution->path);
    placed_put_plan(&p->plan, placed, &best, arena);
    p->plan.iteration_ns = best.time_ns;
    return OK;
}

static enum status make_single(struct solution_plan *p, const struct reading *r,
                               const struct schedule *schedule, struct arena *arena,
                               struct error *err)
{
    const struct choices *choices = r->choices;
    const struct priced *priced = choices->priced;
    struct graph *graph;
    TRY(objective_graph(&graph, priced, schedule, arena, err));
    int *chosen = TAKE(arena, priced->stage_count, int);
    int64_t *durations = TAKE(arena, graph_symbol_count(graph), int64_t);
    TRY(decide(r, chosen));
    if (!choices_durations(choices, chosen, durations))
        return refuse(err, "%s: no link connects two of the stages' node groups",
                      r->solution->path);
    choices_to_plan(&p->plan, choices, chosen, graph_longest(graph, durations, NULL), arena);
    return objective_state(&p->plan, priced, schedule, arena, err);
}

static enum status load_problem(struct problem *problem, const struct solution_request *r,
                                const struct document *map, struct arena *arena, struct error *err)
{
    if (r->problem_path) return problem_load(problem, r->problem_path, arena, err);
    for (int i = 0; i < map->source_count; i++)
        if (!strcmp(map->sources[i].role, "problem"))
            return problem_load(problem, path_beside(map->path, map->sources[i].path, arena), arena,
                                err);
    return refuse(err, "%s: made_from names no problem; --problem FILE does", map->path);
}

enum status solution_plan_make(struct solution_plan *p, const struct solution_request *r,
                               struct arena *arena, struct error *err)
{
    struct priced *priced = TAKE(arena, 1, struct priced);
    struct schedule *schedule = TAKE(arena, 1, struct schedule);
    struct choices *choices = TAKE(arena, 1, struct choices);
    struct reading reading = {
        .solution = &p->solution, .choices = choices, .arena = arena, .err = err};
    *p = (struct solution_plan){.stated_ns = 0};
    TRY(solution_read(&p->solution, r->solution_path, arena, err));
    TRY(read_map(&reading.map, r->map_path, arena, err));
    TRY(take_values(&reading));
    TRY(load_problem(&p->problem, r, &reading.map.document, arena, err));
    TRY(price_problem(priced, &p->problem, arena, err));
    TRY(schedule_build_priced(schedule, priced, arena, err));
    TRY(choices_build(choices, priced, schedule, arena, err));
    if (priced->places) TRY(make_placed(p, &reading, arena, err));
    else TRY(make_single(p, &reading, schedule, arena, err));
    plan_end(&p->plan, 0, false);
    p->plan.document.path = r->solution_path;
    p->plan.document.sources = reading.map.document.sources;
    p->plan.document.source_count = reading.map.document.source_count;
    p->stated_ns = p->solution.objective * (double)reading.map.time_unit_ns;
    return OK;
}

void solution_print(FILE *to, const struct solution_plan *p)
{
    const struct solution *s = &p->solution;
    double value = (double)plan_value_ns(&p->plan);
    fprintf(to, "from the solution %s (%s%s%s)", s->path, s->writer, *s->status ? ": " : "",
            s->status);
    if (s->has_objective) {
        fprintf(to, ": it states %.0f ns", p->stated_ns);
        if (value > p->stated_ns * (1 + same))
            fprintf(to, "; the plan takes %.4g %% longer, %s", 100 * (value / p->stated_ns - 1),
                    p->plan.placement ? "as its links are not the best ones between its groups"
                                      : "on a path without a row in the program: formulate "
                                        "--path-of PLAN adds it, solve --program writes all");
        else if (value < p->stated_ns * (1 - same))
            fprintf(to, "; the plan takes %.4g %% less", 100 * (1 - value / p->stated_ns));
        else fprintf(to, ", which the plan takes");
    }
    fprintf(to, "\n");
}
