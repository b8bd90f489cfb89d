// Reads a priced document, strictly: unknown keys, wrong lengths, prices that are missing where a
// stage could stand, and numbers whose sums might not stay exact are refused.
#include "solve/checker/read/problem.h"

#include <stdio.h>
#include <string.h>

const char *const check_mode_names[] = {"none", "selective", "full", "first_layers", NULL};

// ---- the parts of the document

static const struct value *get(const struct value *object, const char *key)
{
    return value_get(object, key);
}

static enum status read_tables(const struct check_problem *p, const struct value *v,
                               const char *where, int tables, int count, int64_t ***to,
                               struct arena *arena)
{
    TRY(value_expect(&p->reader, v, where, VALUE_ARRAY));
    if (v->count != tables)
        return check_refuse(&p->reader, where, "expected %d tables, found %d", tables, v->count);
    *to = TAKE(arena, tables, int64_t *);
    int i = 0;
    for (const struct value *e = v->first; e; e = e->next)
        TRY(value_integers(&p->reader, e, where, count, -1, MOST_NS, &(*to)[i++], arena));
    return OK;
}

static enum status read_counts(const struct check_problem *p, const struct value *object,
                               const char *where, const char *key, int count, int64_t low,
                               int64_t **to, struct arena *arena)
{
    char path[2 * CHECK_PATH_MAX];
    snprintf(path, sizeof path, "%.90s.%s", where, key);
    return value_integers(&p->reader, get(object, key), path, count, low, MOST_NS, to, arena);
}

static enum status read_run(struct check_problem *p, const struct value *v, int i,
                            struct arena *arena)
{
    static const char *const keys[] = {"name",         "count",          "recomputable",
                                       "weight_bytes", "gradient_bytes", "optimizer_bytes",
                                       "stash_bytes",  "working_bytes",  "feedback_bytes",
                                       "cut",          "forward_ns",     "backward_ns",
                                       "?weight_ns",   "selective_ns",   "full_ns",
                                       "optimizer_ns", "sync_ns",        NULL};
    struct check_run *r = &p->runs[i];
    int passes = p->slices * p->group_count;
    char where[CHECK_PATH_MAX];
    snprintf(where, sizeof where, "runs[%d]", i);
    TRY(value_keys(&p->reader, v, where, keys));
    TRY(value_expect(&p->reader, get(v, "name"), where, VALUE_TEXT));
    r->name = get(v, "name")->text;
    TRY(value_int(&p->reader, v, where, "count", 1, MOST_LAYERS, &r->count));
    TRY(value_int(&p->reader, v, where, "cut", 0, p->cut_count - 1, &r->cut));
    TRY(value_bool(&p->reader, v, where, "recomputable", &r->recomputable));
    TRY(value_integer(&p->reader, v, where, "weight_bytes", 0, MOST_NS, &r->weight_bytes));
    TRY(value_integer(&p->reader, v, where, "gradient_bytes", 0, MOST_NS, &r->gradient_bytes));
    TRY(value_integer(&p->reader, v, where, "optimizer_bytes", 0, MOST_NS, &r->optimizer_bytes));
    TRY(read_counts(p, v, where, "stash_bytes", 3, 0, &r->stash, arena));
    TRY(read_counts(p, v, where, "working_bytes", 3, 0, &r->working, arena));
    TRY(read_counts(p, v, where, "feedback_bytes", p->gradient_count, 0, &r->feedback, arena));
    TRY(read_counts(p, v, where, "forward_ns", passes, -1, &r->forward, arena));
    TRY(read_counts(p, v, where, "backward_ns", passes, -1, &r->backward, arena));
    TRY(read_counts(p, v, where, "selective_ns", passes, -1, &r->selective, arena));
    TRY(read_counts(p, v, where, "full_ns", passes, -1, &r->full, arena));
    TRY(read_counts(p, v, where, "optimizer_ns", p->group_count, -1, &r->optimizer, arena));
    r->weight = TAKE(arena, p->group_count, int64_t);
    if (get(v, "weight_ns"))
        TRY(read_counts(p, v, where, "weight_ns", p->group_count, -1, &r->weight, arena));
    return read_tables(p, get(v, "sync_ns"), where, p->gradient_count, p->group_count, &r->sync,
                       arena);
}

static enum status read_group(struct check_problem *p, const struct value *v, int i,
                              struct arena *arena)
{
    static const char *const keys[] = {"name",
                                       "gpu",
                                       "slots",
                                       "memory_limit_bytes",
                                       "constant_bytes",
                                       "?excluded",
                                       "sync_constant_ns",
                                       NULL};
    struct check_group *g = &p->groups[i];
    char where[CHECK_PATH_MAX];
    snprintf(where, sizeof where, "groups[%d]", i);
    TRY(value_keys(&p->reader, v, where, keys));
    TRY(value_expect(&p->reader, get(v, "name"), where, VALUE_TEXT));
    TRY(value_expect(&p->reader, get(v, "gpu"), where, VALUE_TEXT));
    g->name = get(v, "name")->text;
    g->gpu = get(v, "gpu")->text;
    g->excluded = get(v, "excluded") != NULL;
    if (g->excluded) TRY(value_expect(&p->reader, get(v, "excluded"), where, VALUE_TEXT));
    TRY(value_int(&p->reader, v, where, "slots", 0, INT32_MAX, &g->slots));
    TRY(value_integer(&p->reader, v, where, "memory_limit_bytes", 0, MOST_NS, &g->memory_limit));
    TRY(value_integer(&p->reader, v, where, "constant_bytes", 0, MOST_NS, &g->constant_bytes));
    for (int k = 0; k < i; k++)
        if (!strcmp(p->groups[k].name, g->name))
            return check_refuse(&p->reader, where, "\"%.40s\" names two groups", g->name);
    return read_counts(p, v, where, "sync_constant_ns", p->gradient_count, -1, &g->sync_constant,
                       arena);
}

static enum status read_cut(struct check_problem *p, const struct value *v, int i,
                            struct arena *arena)
{
    static const char *const keys[] = {"message_bytes", "feedback_bytes", "forward_ns",
                                       "backward_ns", NULL};
    struct check_cut *c = &p->cuts[i];
    int groups = p->group_count, prices = p->slices * groups * groups * PARTS;
    char where[CHECK_PATH_MAX];
    snprintf(where, sizeof where, "cuts[%d]", i);
    TRY(value_keys(&p->reader, v, where, keys));
    TRY(value_integer(&p->reader, v, where, "message_bytes", 0, MOST_NS, &c->message_bytes));
    TRY(read_counts(p, v, where, "feedback_bytes", p->boundary_count, 0, &c->feedback, arena));
    TRY(read_counts(p, v, where, "forward_ns", prices, -1, &c->forward, arena));
    TRY(read_tables(p, get(v, "backward_ns"), where, p->boundary_count, prices, &c->backward,
                    arena));
    for (int k = 0; k < prices; k++) {
        bool joined = c->forward[k % (groups * groups * PARTS) / PARTS * PARTS] >= 0,
             differs = (c->forward[k] >= 0) != joined;
        for (int o = 0; o < p->boundary_count; o++)
            differs = differs || (c->backward[o][k] >= 0) != joined;
        if (differs)
            return check_refuse(&p->reader, where,
                                "a pair of groups has some prices and lacks others");
    }
    return OK;
}

static enum status read_options(struct check_problem *p, const struct value *v, const char *where,
                                struct check_option **to, int *count, struct arena *arena)
{
    static const char *const keys[] = {"rank", "?epilogue_only", "?quality_cost", NULL};
    TRY(value_expect(&p->reader, v, where, VALUE_ARRAY));
    if (v->count < 1 || v->count > MOST_OPTIONS)
        return check_refuse(&p->reader, where, "found %d options", v->count);
    *to = TAKE(arena, v->count, struct check_option);
    for (const struct value *e = v->first; e; e = e->next, ++*count) {
        struct check_option *o = &(*to)[*count];
        TRY(value_keys(&p->reader, e, where, keys));
        TRY(value_int(&p->reader, e, where, "rank", *count ? 1 : 0, *count ? 1 << 20 : 0,
                      &o->rank));
        TRY(value_bool(&p->reader, e, where, "epilogue_only", &o->epilogue_only));
        TRY(value_integer(&p->reader, e, where, "quality_cost", 0, *count ? (int64_t)1 << 40 : 0,
                          &o->cost));
        if (!*count && o->epilogue_only)
            return check_refuse(&p->reader, where, "the first option is to do nothing");
    }
    return OK;
}

// What the proof does not turn on, and a layout is told by all the same.
static enum status read_degrees(struct check_problem *p, const struct value *v, struct arena *arena)
{
    static const struct {
        const char *key;
        enum check_key to;
        int low;
        bool flag;
    } rest[] = {
        {"tensor", KEY_TENSOR, 1, false},
        {"context", KEY_CONTEXT, 1, false},
        {"data", KEY_DATA, 1, false},
        {"micro_batch", KEY_MICRO_BATCH, 1, false},
        {"zero", KEY_ZERO, 0, false},
        {"sequence_parallel", KEY_SEQUENCE_PARALLEL, 0, true},
        {"offload_optimizer", KEY_OFFLOAD, 0, true},
        {"fused_embedding_sync", KEY_FUSED_EMBEDDING, 0, true},
    };
    struct check_layout *l = &p->layout;
    int64_t *lengths;
    l->expert = 1;
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) {
        int *to = &l->value[rest[i].to];
        bool flag = false;
        *to = rest[i].low;
        if (rest[i].flag) TRY(value_bool(&p->reader, v, "layout", rest[i].key, &flag));
        if (rest[i].flag) *to = flag;
        else TRY(value_int(&p->reader, v, "layout", rest[i].key, rest[i].low, INT32_MAX, to));
    }
    TRY(value_int(&p->reader, v, "layout", "expert", 1, INT32_MAX, &l->expert));
    TRY(value_bool(&p->reader, v, "layout", "fused_attention", &l->fused_attention));
    l->value[KEY_PIPELINE] = p->ranks, l->value[KEY_TURNS] = p->turns,
    l->value[KEY_SCHEDULE] = p->kind;
    l->value[KEY_OVERLAPPED] = p->overlapped, l->value[KEY_BARRIER] = p->barrier,
    l->value[KEY_LOCAL] = p->local_every;
    l->value[KEY_SLICES] = p->slices;
    if (p->slices == 1) return OK;
    TRY(value_integers(&p->reader, get(v, "slices"), "layout.slices", p->slices, 1, MOST_NS,
                       &lengths, arena));
    memcpy(l->slice, lengths, (size_t)p->slices * sizeof *lengths);
    return OK;
}

static enum status read_layout(struct check_problem *p, const struct value *v, struct arena *arena)
{
    static const char *const keys[] = {"?tensor",
                                       "?context",
                                       "?data",
                                       "pipeline",
                                       "?virtual_stages",
                                       "?micro_batch",
                                       "?schedule",
                                       "?sequence_parallel",
                                       "?fused_attention",
                                       "?gradient_sync",
                                       "?fused_embedding_sync",
                                       "?zero",
                                       "?offload_optimizer",
                                       "?expert",
                                       "?barrier",
                                       "?local_loss_every",
                                       "?slices",
                                       NULL};
    static const char *const syncs[] = {"exposed", "overlapped", NULL};
    const struct value *slices = get(v, "slices");
    int kind = check_schedule_default, overlapped = 0;
    TRY(value_keys(&p->reader, v, "layout", keys));
    p->turns = p->slices = 1;
    p->barrier = true;
    TRY(value_int(&p->reader, v, "layout", "pipeline", 1, MOST_STAGES, &p->ranks));
    TRY(value_int(&p->reader, v, "layout", "virtual_stages", 1, MOST_STAGES, &p->turns));
    TRY(value_int(&p->reader, v, "layout", "local_loss_every", 0, MOST_STAGES, &p->local_every));
    TRY(value_bool(&p->reader, v, "layout", "barrier", &p->barrier));
    if (get(v, "schedule"))
        TRY(value_name(&p->reader, get(v, "schedule"), "layout.schedule", check_schedule_names,
                       &kind));
    if (get(v, "gradient_sync"))
        TRY(value_name(&p->reader, get(v, "gradient_sync"), "layout.gradient_sync", syncs,
                       &overlapped));
    if (slices) TRY(value_expect(&p->reader, slices, "layout.slices", VALUE_ARRAY));
    if (slices) p->slices = slices->count;
    const struct check_schedule *schedule = &check_schedules[kind];
    p->kind = kind;
    p->overlapped = overlapped;
    p->splits_backward = schedule->splits_backward;
    p->stages = p->ranks * p->turns;
    if ((schedule->turns && p->turns != schedule->turns) || p->stages > MOST_STAGES)
        return check_refuse(&p->reader, "layout.virtual_stages",
                            "%d on %d ranks do not go with the schedule", p->turns, p->ranks);
    if (p->slices < 1 || p->slices > MOST_SLICES || (p->slices > 1) != schedule->slices)
        return check_refuse(&p->reader, "layout.slices", "%d do not go with the schedule",
                            p->slices);
    return read_degrees(p, v, arena);
}

static enum status read_modes(struct check_problem *p, const struct value *v)
{
    TRY(value_expect(&p->reader, v, "recompute", VALUE_ARRAY));
    for (const struct value *e = v->first; e; e = e->next) {
        int mode;
        TRY(value_name(&p->reader, e, "recompute", check_mode_names, &mode));
        p->modes[mode] = true;
    }
    return p->modes[MODE_NONE]
               ? OK
               : check_refuse(&p->reader, "recompute", "expected \"none\" among the modes");
}

static enum status read_budget(struct check_problem *p, const struct value *v)
{
    static const char *const keys[] = {"?boundaries_max", "?stages_max", "?cost_max", "?rank_min",
                                       NULL};
    for (int i = 0; i < BUDGETS; i++) p->budget[i] = -1;
    if (!v) return OK;
    TRY(value_keys(&p->reader, v, "budget", keys));
    for (int i = 0; i < BUDGETS; i++)
        TRY(value_integer(&p->reader, v, "budget", keys[i] + 1, 0, MOST_NS, &p->budget[i]));
    return value_int(&p->reader, v, "budget", "rank_min", 0, 1 << 20, &p->rank_min);
}

// ---- the document

static enum status open_arrays(struct check_problem *p, const struct value *root,
                               struct arena *arena)
{
    static const char *const names[] = {"groups", "runs", "cuts"};
    int *const counts[] = {&p->group_count, &p->run_count, &p->cut_count};
    static const int most[] = {MOST_GROUPS, MOST_LAYERS, MOST_LAYERS};
    for (int i = 0; i < 3; i++) {
        const struct value *v = get(root, names[i]);
        TRY(value_expect(&p->reader, v, names[i], VALUE_ARRAY));
        if (v->count < 1 || v->count > most[i])
            return check_refuse(&p->reader, names[i], "found %d of them", v->count);
        *counts[i] = v->count;
    }
    p->groups = TAKE(arena, p->group_count, struct check_group);
    p->runs = TAKE(arena, p->run_count, struct check_run);
    p->cuts = TAKE(arena, p->cut_count, struct check_cut);
    return OK;
}

static enum status read_arrays(struct check_problem *p, const struct value *root,
                               struct arena *arena)
{
    TRY(open_arrays(p, root, arena));
    TRY(read_options(p, get(root, "boundary_options"), "boundary_options", &p->boundary,
                     &p->boundary_count, arena));
    TRY(read_options(p, get(root, "gradient_options"), "gradient_options", &p->gradient,
                     &p->gradient_count, arena));
    int i = 0;
    for (const struct value *v = get(root, "groups")->first; v; v = v->next)
        TRY(read_group(p, v, i++, arena));
    i = 0;
    for (const struct value *v = get(root, "runs")->first; v; v = v->next)
        TRY(read_run(p, v, i++, arena));
    i = 0;
    for (const struct value *v = get(root, "cuts")->first; v; v = v->next)
        TRY(read_cut(p, v, i++, arena));
    for (i = 0; i < p->run_count; i++) TRY(check_run_prices(p, i));
    const struct value *embedding = get(root, "embedding_sync_ns");
    if (!embedding) return OK;
    return value_integers(&p->reader, embedding, "embedding_sync_ns",
                          p->group_count * p->group_count, -1, MOST_NS, &p->embedding, arena);
}

// What a proof cannot be about: places, and any value but the iteration time.
static enum status refuse_kinds(const struct reader *r, const struct value *root)
{
    const struct value *objective = get(root, "objective");
    if (get(root, "places"))
        return check_refuse(r, "places",
                            "a proof about node groups says nothing of placements: expected a "
                            "certificate about those");
    if (objective) TRY(value_expect(r, objective, "objective", VALUE_TEXT));
    if (objective && strcmp(objective->text, "iteration_time"))
        return check_refuse(r, "objective",
                            "certificates are about iteration_time, found \"%.40s\": its bound is "
                            "the planner's word",
                            objective->text);
    return OK;
}

enum status check_read_problem(struct check_problem *p, const char *file, const char *text,
                               size_t size, struct arena *arena, struct error *err)
{
    const struct reader r = {file, err};
    struct value *root;
    TRY(check_parse(&r, text, size, &root, arena));
    return check_read_tables(p, file, root, arena, err);
}

enum status check_read_tables(struct check_problem *p, const char *file, const struct value *root,
                              struct arena *arena, struct error *err)
{
    static const char *const keys[] = {"kind",
                                       "version",
                                       "?made_by",
                                       "?made_from",
                                       "name",
                                       "layout",
                                       "stage_count",
                                       "micro_batches",
                                       "layer_count",
                                       "devices_per_stage",
                                       "recompute",
                                       "boundary_options",
                                       "gradient_options",
                                       "groups",
                                       "runs",
                                       "cuts",
                                       "?embedding_sync_ns",
                                       "?local_forward_ns",
                                       "?local_backward_ns",
                                       "?local_bytes",
                                       "?budget",
                                       "?rules",
                                       "?objective",
                                       "?places",
                                       NULL};
    static const char *const kinds[] = {"plumbline.priced", NULL};
    int version = 0, kind, stage_count = 0;
    *p = (struct check_problem){.reader = {file, err}};
    const struct reader *r = &p->reader;
    TRY(value_expect(r, root, "", VALUE_OBJECT));
    TRY(value_name(r, get(root, "kind"), "kind", kinds, &kind));
    TRY(value_keys(r, root, "", keys));
    TRY(refuse_kinds(r, root));
    TRY(value_int(r, root, "", "version", 1, 1, &version));
    TRY(value_expect(r, get(root, "name"), "name", VALUE_TEXT));
    p->name = get(root, "name")->text;
    p->made_from = get(root, "made_from");
    TRY(value_int(r, root, "", "stage_count", 1, MOST_STAGES, &stage_count));
    TRY(value_int(r, root, "", "micro_batches", 1, MOST_MICRO_BATCHES, &p->micro_batches));
    TRY(value_int(r, root, "", "layer_count", 1, MOST_LAYERS, &p->layers));
    TRY(value_integer(r, root, "", "devices_per_stage", 1, MOST_NS, &p->devices));
    TRY(value_integer(r, root, "", "local_forward_ns", 0, MOST_NS, &p->local_forward));
    TRY(value_integer(r, root, "", "local_backward_ns", 0, MOST_NS, &p->local_backward));
    TRY(value_integer(r, root, "", "local_bytes", 0, MOST_NS, &p->local_bytes));
    TRY(value_expect(r, get(root, "layout"), "layout", VALUE_OBJECT));
    TRY(read_layout(p, get(root, "layout"), arena));
    if (stage_count != p->stages)
        return check_refuse(r, "stage_count", "the layout has %d stages", p->stages);
    TRY(read_modes(p, get(root, "recompute")));
    TRY(read_arrays(p, root, arena));
    TRY(read_budget(p, get(root, "budget")));
    TRY(check_place_layers(p, arena));
    TRY(check_read_rules(p, get(root, "rules"), arena));
    TRY(check_problem_bytes(p));
    return check_problem_times(p);
}
