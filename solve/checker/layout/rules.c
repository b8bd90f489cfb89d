// Whether a stage's decision obeys the user's rules: `require` needs all stated conditions to hold
// there, `forbid` rejects all of them together.
#include "solve/checker/layout/choices.h"

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
        (p->gradient[c->gradient].amount > 0) != r->compresses_gradient)
        return false;
    return r->compresses_boundary < 0 ||
           (p->boundary[c->boundary].amount > 0) == r->compresses_boundary;
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
