// What a predictor is told after it was opened: ranges, likenesses, numbers of the costs.
#include <stdlib.h>

#include "formulate/predict/internal.h"

void predictor_ask_ranges(struct predictor *p, bool asked)
{
    p->settings.ranges = asked;
    predictor_costs_changed(p);
}

void predictor_set_likeness(struct predictor *p, const struct gpu_likeness *likeness)
{
    p->settings.likeness = *likeness;
    predictor_costs_changed(p);
}

static void set_value(struct estimate *e, const struct cost_key *key, void *context)
{
    (void)key;
    e->value = e->low = e->high = *(const double *)context;
    e->stated = true;
}

enum status predictor_set(struct predictor *p, const char *text, struct error *err)
{
    for (const char *at = text; *at;) {
        const char *end = at + strcspn(at, ","), *equals = memchr(at, '=', (size_t)(end - at));
        char name[64], number[64], *rest;
        if (!equals || equals - at >= (int)sizeof name || end - equals > (int)sizeof number)
            return refuse(err, "--set: expected name=value, found '%.*s'", (int)(end - at), at);
        snprintf(name, sizeof name, "%.*s", (int)(equals - at), at);
        snprintf(number, sizeof number, "%.*s", (int)(end - equals - 1), equals + 1);
        int key = cost_key_find(name);
        if (key < 0) return refuse(err, "--set: expected a number of the costs, found '%s'", name);
        double value = strtod(number, &rest);
        if (!*number || *rest || !(value >= cost_keys[key].low && value <= cost_keys[key].high))
            return refuse(err, "--set: %s: expected a number from %.9g to %.9g, found '%s'",
                          cost_keys[key].name, cost_keys[key].low, cost_keys[key].high, number);
        costs_visit(&p->costs, key, NULL, 0, set_value, &value);
        at = *end ? end + 1 : end;
    }
    predictor_costs_changed(p);
    return OK;
}

static void set_estimate(struct estimate *e, const struct cost_key *key, void *context)
{
    const struct estimate *from = context;
    (void)key;
    e->value = from->value, e->low = from->low, e->high = from->high;
    e->stated |= from->stated;
}

void predictor_assume(struct predictor *p, const char *name, const struct estimate *value)
{
    struct estimate copy = *value;
    costs_visit(&p->costs, cost_key_find(name), NULL, 0, set_estimate, &copy);
    predictor_costs_changed(p);
}
