// The user's rules as stated in the priced document.
#include <stdio.h>
#include <string.h>

#include "solve/checker/read/problem.h"

struct check_rule check_rule_about(int stage)
{
    return (struct check_rule){.stage = stage,
                               .holds_first = -1,
                               .holds_last = -1,
                               .run = -1,
                               .layers_min = -1,
                               .layers_max = -1,
                               .compresses_gradient = -1,
                               .compresses_boundary = -1};
}

// The names in an array, as bits.
static enum status read_set(const struct check_problem *p, const cJSON *v, const char *where,
                            const char *const *names, uint64_t *set)
{
    int name;
    for (const cJSON *e = v ? v->child : NULL; e; e = e->next) {
        TRY(value_name(&p->reader, e, where, names, &name));
        if (*set >> name & 1)
            return check_refuse(&p->reader, where, "\"%.40s\" twice", names[name]);
        *set |= (uint64_t)1 << name;
    }
    return OK;
}

static enum status find_run(const struct check_problem *p, const char *name, const char *where,
                            int *run)
{
    for (int i = 0; i < p->run_count && name; i++)
        if (!strcmp(p->runs[i].name, name)) *run = i;
    return !name || *run >= 0 ? OK
                              : check_refuse(&p->reader, where, "no run is called \"%.40s\"", name);
}

static enum status read_rule(const struct check_problem *p, const cJSON *v, const char *where,
                             struct check_rule *r)
{
    static const char *const actions[] = {"require", "forbid", NULL};
    const char *names[MOST_SEATS + 1], *run = NULL;
    const cJSON *groups = NULL, *modes = NULL, *compresses[2] = {NULL};
    int action;
    const struct value_field fields[] = {
        {"action", .small = &action, .names = actions},
        {"?stage", 0, p->stages - 1, .small = &r->stage},
        {"?groups", .value = &groups, .type = cJSON_Array},
        {"?holds_first", 0, p->layers - 1, .small = &r->holds_first},
        {"?holds_last", 0, p->layers - 1, .small = &r->holds_last},
        {"?run", .text = &run},
        {"?layers_min", 0, 1 << 20, .small = &r->layers_min},
        {"?layers_max", 0, 1 << 20, .small = &r->layers_max},
        {"?recompute", .value = &modes, .type = cJSON_Array},
        {"?compresses_gradient", .value = &compresses[0], .type = VALUE_BOOL},
        {"?compresses_boundary", .value = &compresses[1], .type = VALUE_BOOL},
        {NULL},
    };
    *r = check_rule_about(-1);
    TRY(value_fields(&p->reader, v, where, fields, NULL));
    r->forbids = action == 1;
    TRY(read_set(p, groups, where, check_group_names(p, names), &r->groups));
    if (groups && !r->groups) return check_refuse(&p->reader, where, "names no group");
    TRY(find_run(p, run, where, &r->run));
    r->modes_stated = modes != NULL;
    TRY(read_set(p, modes, where, check_mode_names, &r->modes));
    r->compresses_gradient = compresses[0] ? cJSON_IsTrue(compresses[0]) : -1;
    r->compresses_boundary = compresses[1] ? cJSON_IsTrue(compresses[1]) : -1;
    if (r->holds_first >= 0 && r->holds_last < 0) r->holds_last = r->holds_first;
    bool counts = r->layers_min >= 0 || r->layers_max >= 0;
    if (!counts &&
        (run || (!groups && !modes && r->holds_first < 0 && !compresses[0] && !compresses[1])))
        return check_refuse(&p->reader, where, run ? "counts no layers" : "has no condition");
    if (r->holds_first > r->holds_last || (r->holds_first < 0 && r->holds_last >= 0))
        return check_refuse(&p->reader, where, "holds_first and holds_last do not go together");
    return OK;
}

enum status check_read_rules(struct check_problem *p, const cJSON *array, struct arena *arena)
{
    char where[CHECK_PATH_MAX];
    if (!array) return OK;
    TRY(value_expect(&p->reader, array, "rules", cJSON_Array));
    if (cJSON_GetArraySize(array) > MOST_RULES)
        return check_refuse(&p->reader, "rules", "found %d of them", cJSON_GetArraySize(array));
    p->rules = TAKE(arena, cJSON_GetArraySize(array), struct check_rule);
    for (const cJSON *v = array->child; v; v = v->next, p->rule_count++) {
        snprintf(where, sizeof where, "rules[%d]", p->rule_count);
        TRY(read_rule(p, v, where, &p->rules[p->rule_count]));
    }
    return OK;
}
