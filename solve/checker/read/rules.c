// The user's rules as the priced document states them, and whether a stage's decision obeys them:
// `require` wants all stated conditions to hold there, `forbid` not all of them at once.
#include <stdio.h>
#include <string.h>

#include "solve/checker/choices.h"

static enum status read_flag(const struct check_problem *p, const struct value *v,
                             const char *where, const char *key, int *to)
{
    bool flag = false;
    *to = -1;
    if (!value_get(v, key)) return OK;
    TRY(value_bool(&p->reader, v, where, key, &flag));
    *to = flag;
    return OK;
}

static enum status read_groups(const struct check_problem *p, const struct value *v,
                               const char *where, struct check_rule *r)
{
    const char *names[MOST_GROUPS + 1] = {NULL};
    int group;
    if (!v) return OK;
    for (int g = 0; g < p->group_count; g++) names[g] = p->groups[g].name;
    TRY(value_expect(&p->reader, v, where, VALUE_ARRAY));
    for (const struct value *e = v->first; e; e = e->next) {
        TRY(value_name(&p->reader, e, where, names, &group));
        r->groups |= 1u << group;
    }
    return r->groups ? OK : check_refuse(&p->reader, where, "names no group");
}

static enum status read_modes(const struct check_problem *p, const struct value *v,
                              const char *where, struct check_rule *r)
{
    int mode;
    if (!v) return OK;
    TRY(value_expect(&p->reader, v, where, VALUE_ARRAY));
    r->modes_stated = true;
    for (const struct value *e = v->first; e; e = e->next) {
        TRY(value_name(&p->reader, e, where, check_mode_names, &mode));
        r->modes |= 1u << mode;
    }
    return OK;
}

static enum status read_run_name(const struct check_problem *p, const struct value *v,
                                 const char *where, struct check_rule *r)
{
    if (!v) return OK;
    TRY(value_expect(&p->reader, v, where, VALUE_TEXT));
    for (int i = 0; i < p->run_count; i++)
        if (!strcmp(p->runs[i].name, v->text)) r->run = i;
    return r->run >= 0 ? OK
                       : check_refuse(&p->reader, where, "no run is called \"%.40s\"", v->text);
}

static enum status read_rule(const struct check_problem *p, const struct value *v,
                             const char *where, struct check_rule *r)
{
    static const char *const keys[] = {"action",
                                       "?stage",
                                       "?groups",
                                       "?holds_first",
                                       "?holds_last",
                                       "?run",
                                       "?layers_min",
                                       "?layers_max",
                                       "?recompute",
                                       "?compresses_gradient",
                                       "?compresses_boundary",
                                       NULL};
    static const char *const actions[] = {"require", "forbid", NULL};
    int action;
    *r = (struct check_rule){.stage = -1,
                             .holds_first = -1,
                             .holds_last = -1,
                             .run = -1,
                             .layers_min = -1,
                             .layers_max = -1};
    TRY(value_keys(&p->reader, v, where, keys));
    TRY(value_name(&p->reader, value_get(v, "action"), where, actions, &action));
    r->forbids = action == 1;
    TRY(value_int(&p->reader, v, where, "stage", 0, p->stages - 1, &r->stage));
    TRY(value_int(&p->reader, v, where, "holds_first", 0, p->layers - 1, &r->holds_first));
    TRY(value_int(&p->reader, v, where, "holds_last", 0, p->layers - 1, &r->holds_last));
    TRY(value_int(&p->reader, v, where, "layers_min", 0, 1 << 20, &r->layers_min));
    TRY(value_int(&p->reader, v, where, "layers_max", 0, 1 << 20, &r->layers_max));
    TRY(read_groups(p, value_get(v, "groups"), where, r));
    TRY(read_run_name(p, value_get(v, "run"), where, r));
    TRY(read_modes(p, value_get(v, "recompute"), where, r));
    TRY(read_flag(p, v, where, "compresses_gradient", &r->compresses_gradient));
    TRY(read_flag(p, v, where, "compresses_boundary", &r->compresses_boundary));
    if (r->holds_first >= 0 && r->holds_last < 0) r->holds_last = r->holds_first;
    if (r->holds_first > r->holds_last || (r->holds_first < 0 && r->holds_last >= 0))
        return check_refuse(&p->reader, where, "holds_first and holds_last do not go together");
    return OK;
}

enum status check_read_rules(struct check_problem *p, const struct value *array,
                             struct arena *arena)
{
    char where[CHECK_PATH_MAX];
    if (!array) return OK;
    TRY(value_expect(&p->reader, array, "rules", VALUE_ARRAY));
    if (array->count > MOST_RULES)
        return check_refuse(&p->reader, "rules", "found %d of them", array->count);
    p->rules = TAKE(arena, array->count, struct check_rule);
    for (const struct value *v = array->first; v; v = v->next, p->rule_count++) {
        snprintf(where, sizeof where, "rules[%d]", p->rule_count);
        TRY(read_rule(p, v, where, &p->rules[p->rule_count]));
    }
    return OK;
}

// ---- one stage

static int counted_layers(const struct check_problem *p, int run, int first, int count)
{
    if (run < 0) return count;
    int from = p->run_begin[run] > first ? p->run_begin[run] : first, end = first + count;
    if (end > p->run_begin[run + 1]) end = p->run_begin[run + 1];
    return end > from ? end - from : 0;
}

static bool conditions_hold(const struct check_problem *p, const struct check_rule *r,
                            const struct check_choice *c, int first)
{
    int last = first + c->layers - 1;
    if (r->groups && !(r->groups >> c->group & 1)) return false;
    if (r->holds_first >= 0 && (r->holds_first < first || r->holds_last > last)) return false;
    if (r->layers_min >= 0 || r->layers_max >= 0) {
        int count = counted_layers(p, r->run, first, c->layers);
        if (count < r->layers_min || (r->layers_max >= 0 && count > r->layers_max)) return false;
    }
    if (r->modes_stated && !(r->modes >> c->mode & 1)) return false;
    if (r->compresses_gradient >= 0 &&
        (p->gradient[c->gradient].rank > 0) != r->compresses_gradient)
        return false;
    return r->compresses_boundary < 0 ||
           (p->boundary[c->boundary].rank > 0) == r->compresses_boundary;
}

bool check_obeys_rules(const struct check_problem *p, int stage, const struct check_choice *c,
                       int first)
{
    for (int i = 0; i < p->rule_count; i++) {
        const struct check_rule *r = &p->rules[i];
        if (r->stage >= 0 && r->stage != stage) continue;
        if (conditions_hold(p, r, c, first) == r->forbids) return false;
    }
    return true;
}
