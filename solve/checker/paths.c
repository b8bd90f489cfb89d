// The paths of a proof: each starts at an operation and names, step by step, which of its
// successors comes next. Only paths of the graph that the checker built count. Without a barrier a
// path must be a cycle, and its laps are those of its edges into the next iteration.
#include <stdio.h>

#include "solve/checker/proof.h"

enum { STEPS_MOST = 1 << 22, COUNTS_MOST = 1 << 25 };

struct walker {
    struct check_proof *k;
    const char *where;
    int at, steps, laps;
    int *counts;
};

static enum status read_start(struct walker *w, const cJSON *v)
{
    const struct check_graph *g = w->k->g;
    const struct reader *r = &w->k->reader;
    if (cJSON_GetArraySize(v) != 4)
        return check_refuse(r, w->where,
                            "start: expected kind, stage or boundary, micro-batch and slice");
    int kind, number[3], i = 0, most[3];
    TRY(value_name(r, v->child, w->where, check_kind_names, &kind));
    most[0] = g->p->stages, most[1] = g->micro_batches[kind], most[2] = g->slices[kind];
    for (const cJSON *e = v->child->next; e; e = e->next, i++) {
        TRY(value_expect(r, e, w->where, cJSON_Number));
        if (value_number(e) < 0 || value_number(e) >= most[i])
            return NOT_PROVEN_HERE(w->k, "%s: starts at no operation of the schedule", w->where);
        number[i] = (int)value_number(e);
    }
    w->at = check_operation(g, kind, number[0], number[1], number[2]);
    if (g->offset[kind] == g->offset[kind + 1] || !g->exists[w->at])
        return NOT_PROVEN_HERE(w->k, "%s: starts at no operation of the schedule", w->where);
    return OK;
}

static enum status take_steps(struct walker *w, int successor, int times)
{
    const struct check_graph *g = w->k->g;
    if (w->steps + times > STEPS_MOST)
        return check_refuse(&w->k->reader, w->where, "more than %d steps", STEPS_MOST);
    TRY(check_spend(g->p, w->k->work, 2 * (uint64_t)times));
    w->steps += times;
    for (int i = 0; i < times; i++) {
        if (successor >= g->first[w->at + 1] - g->first[w->at])
            return NOT_PROVEN_HERE(w->k, "%s: is no path: operation %d has no successor %d",
                                   w->where, w->at, successor);
        int edge = g->first[w->at] + successor;
        w->laps += g->lap[edge];
        w->at = g->next[edge];
        w->counts[w->k->replay.symbol[w->at]]++;
    }
    return OK;
}

static bool read_digits(const char **c, int *number)
{
    int digits = 0;
    for (*number = 0; **c >= '0' && **c <= '9' && digits < 8; ++*c, digits++)
        *number = 10 * *number + (**c - '0');
    return digits > 0;
}

// "0*12 1 0*3": successor, and how many times.
static enum status read_steps(struct walker *w, const char *c)
{
    while (*c) {
        int successor, times = 1;
        bool good = read_digits(&c, &successor);
        if (good && *c == '*') {
            c++;
            good = read_digits(&c, &times) && times > 0;
        }
        if (good && *c == ' ') good = *++c != '\0';
        else good = good && !*c;
        if (!good)
            return check_refuse(&w->k->reader, w->where,
                                "steps: expected numbers such as \"0*12 1\"");
        TRY(take_steps(w, successor, times));
    }
    return OK;
}

// Of the greatest load: what one micro-batch occupies of a rank, or of a link.
static enum status read_load(struct check_proof *k, const cJSON *v, int number)
{
    int symbols = check_symbol_count(k->p), most = k->p->ranks - 1;
    struct check_load of = {-1, -1};
    const struct value_field of_rank[] = {{"rank", 0, most, .small = &of.from}, {NULL}},
                             of_link[] = {{"from", 0, most, .small = &of.from},
                                          {"to", 0, most, .small = &of.to},
                                          {NULL}};
    char where[CHECK_PATH_MAX];
    snprintf(where, sizeof where, "paths[%d]", number);
    TRY(value_expect(&k->reader, v, where, cJSON_Object));
    bool is_rank = value_get(v, "rank") != NULL;
    TRY(value_fields(&k->reader, v, where, is_rank ? of_rank : of_link, NULL));
    if (is_rank) of.to = of.from;
    else if (of.to == of.from)
        return NOT_PROVEN_HERE(k, "%s: no link leads from rank %d to itself", where, of.from);
    TRY(check_spend(k->p, k->work, (uint64_t)(symbols + k->replay.loads.count)));
    k->laps[number] = 1;
    if (check_count_load(&k->replay.loads, of, symbols,
                         k->counts + (size_t)number * (size_t)symbols))
        return OK;
    return NOT_PROVEN_HERE(k, "%s: nothing is sent from rank %d to rank %d", where, of.from, of.to);
}

static enum status read_path(struct check_proof *k, const cJSON *v, int number)
{
    if (k->p->objective == MINIMISE_LOAD) return read_load(k, v, number);
    const cJSON *start_stated, *steps;
    const struct value_field fields[] = {
        {"start", .value = &start_stated, .type = cJSON_Array},
        {"laps", 1, STEPS_MOST, .small = &k->laps[number]},
        {"steps", .value = &steps, .type = cJSON_String},
        {NULL},
    };
    char where[CHECK_PATH_MAX];
    int symbols = check_symbol_count(k->p);
    snprintf(where, sizeof where, "paths[%d]", number);
    struct walker w = {
        .k = k, .where = where, .counts = k->counts + (size_t)number * (size_t)symbols};
    TRY(value_fields(&k->reader, v, where, fields, NULL));
    TRY(read_start(&w, start_stated));
    int start = w.at;
    if (k->p->barrier) w.counts[k->replay.symbol[start]]++; // a cycle returns to it
    TRY(read_steps(&w, steps->valuestring));
    if (k->p->barrier && k->laps[number] != 1)
        return NOT_PROVEN_HERE(k, "%s: takes 1 lap, not %d", where, k->laps[number]);
    if (k->p->barrier) return OK;
    if (w.at != start) return NOT_PROVEN_HERE(k, "%s: does not return to its start", where);
    if (w.laps != k->laps[number])
        return NOT_PROVEN_HERE(k, "%s: takes %d laps, not %d", where, w.laps, k->laps[number]);
    return OK;
}

enum status check_read_paths(struct check_proof *k, const cJSON *paths)
{
    int symbols = check_symbol_count(k->p), number = 0;
    TRY(value_expect(&k->reader, paths, "paths", cJSON_Array));
    int count = cJSON_GetArraySize(paths);
    if ((int64_t)count * symbols > COUNTS_MOST)
        return check_refuse(&k->reader, "paths", "more paths than are checked");
    k->path_count = count;
    k->counts = TAKE(k->arena, (size_t)count * (size_t)symbols, int);
    k->laps = TAKE(k->arena, count, int);
    for (const cJSON *v = paths->child; v; v = v->next) TRY(read_path(k, v, number++));
    k->result->paths += count;
    return OK;
}
