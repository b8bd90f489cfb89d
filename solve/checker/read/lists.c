// Runs besides the model's own: the head before a local boundary, all runs as sharded further, and
// those with the vocabulary at other tensor degrees.
#include <string.h>

#include "solve/checker/read/problem.h"

// At most one layer, where boundaries are local and nothing of a stage is elsewhere.
static enum status read_head(struct check_problem *p, const cJSON *v, int i, struct arena *arena)
{
    p->head = TAKE(arena, 1, struct check_run);
    TRY(check_read_layers(p, v, "local_heads", p->head, arena));
    bool elsewhere = check_has_tiers(p);
    for (int g = 0; g < p->group_count; g++) elsewhere = elsewhere || p->groups[g].of_node_group;
    if (i || !p->local_every || p->head->count != 1 || p->head->recomputable || elsewhere)
        return check_refuse(&p->reader, "local_heads",
                            "expected one layer, not recomputable, before local boundaries, and no "
                            "widths or tiers");
    return check_run_prices(p, p->head, p->run_count);
}

// The runs once more, as sharded further: alike in what is no price.
static enum status read_sharded(struct check_problem *p, const cJSON *v, int i, struct arena *arena)
{
    struct check_run *r = &p->runs[i < p->run_count ? i : 0],
                     *to = TAKE(arena, 1, struct check_run);
    if (i >= p->run_count || check_has_tiers(p) || p->turns > 1 || p->head ||
        p->gradient_count > 1 || p->groups[0].of_node_group)
        return check_refuse(&p->reader, "sharded_runs",
                            "expected one for each run, one stage a rank, and no widths, tiers, "
                            "local_heads or gradient_options");
    TRY(check_read_layers(p, v, "sharded_runs", to, arena));
    if (strcmp(to->name, r->name) || to->count != r->count || to->cut != r->cut ||
        to->recomputable != r->recomputable || to->tensor)
        return check_refuse(&p->reader, "sharded_runs", "number %d is another run", i);
    r->sharded = r->next = to;
    return check_run_prices(p, to, 0);
}

static bool is_degree(const struct check_problem *p, int k, int tensor)
{
    return k < p->degree_count && p->degrees[k] == tensor;
}

// One run at one degree. The first run that has several tells which there are, each above the one
// before.
static enum status read_degree(struct check_problem *p, const cJSON *v, struct arena *arena)
{
    struct check_run *to = TAKE(arena, 1, struct check_run), *last = NULL;
    int run = 0, before = 0;
    TRY(check_read_layers(p, v, "vocabulary_runs", to, arena));
    while (run < p->run_count && strcmp(p->runs[run].name, to->name)) run++;
    bool like = run < p->run_count && to->count == p->runs[run].count &&
                to->cut == p->runs[run].cut && !to->recomputable && !p->runs[run].recomputable;
    if (!like || !to->tensor)
        return check_refuse(&p->reader, "vocabulary_runs",
                            "expected runs that are not recomputable, at a tensor degree");
    for (last = &p->runs[run]; last->next; last = last->next) before += last->next->tensor > 0;
    if (before == p->degree_count && before < MOST_DEGREES && (!before || p->spread == run) &&
        last->tensor < to->tensor) {
        p->spread = run;
        p->degrees[p->degree_count++] = to->tensor;
    }
    if (!is_degree(p, before, to->tensor))
        return check_refuse(&p->reader, "vocabulary_runs",
                            "expected rising degrees, the same for each run");
    last->next = to;
    return check_run_prices(p, to, 0);
}

static int degrees_of(const struct check_run *r)
{
    int count = 0;
    for (; r; r = r->next) count += r->tensor > 0;
    return count;
}

static enum status read_vocabulary(struct check_problem *p, const cJSON *array, struct arena *arena)
{
    if (check_has_tiers(p) || p->turns > 1 || p->head || p->gradient_count > 1 ||
        p->groups[0].of_node_group)
        return check_refuse(&p->reader, "vocabulary_runs",
                            "expected one stage a rank, and no widths, tiers, local_heads or "
                            "gradient_options");
    for (const cJSON *v = array->child; v; v = v->next) TRY(read_degree(p, v, arena));
    for (int i = 0; i < p->run_count; i++)
        if (degrees_of(&p->runs[i]) && degrees_of(&p->runs[i]) != p->degree_count)
            return check_refuse(&p->reader, "vocabulary_runs", "run %d lacks a degree", i);
    return OK;
}

enum status check_read_lists(struct check_problem *p, const cJSON *heads, const cJSON *sharded,
                             const cJSON *vocabulary, struct arena *arena)
{
    const cJSON *v;
    int i = 0;
    for (int k = 0; k < p->run_count; k++)
        if (p->runs[k].tensor) return check_refuse(&p->reader, "runs", "run %d states tensor", k);
    for (v = heads ? heads->child : NULL; v; v = v->next) TRY(read_head(p, v, i++, arena));
    i = 0;
    for (v = sharded ? sharded->child : NULL; v; v = v->next) TRY(read_sharded(p, v, i++, arena));
    if (sharded && !p->runs[p->run_count - 1].sharded)
        return check_refuse(&p->reader, "sharded_runs", "expected one for each run");
    return vocabulary ? read_vocabulary(p, vocabulary, arena) : OK;
}
