// Compares the claims about a space's layouts with the truth.
#include "tests/support/claims/judge.h"

#include "solve/checker/space/arguments.h"
#include "solve/layouts/bound.h"
#include "solve/layouts/work.h"
#include "tests/support/check.h"

const char *const claim_names[CLAIM_KINDS] = {
    "average",       "filling",       "missing",        "same",
    "refused",       "room",          "bound",          "dominated",
    "mixture",       "proof",         "changed proof",  "tight proof",
    "layouts",       "plan",          "rough layouts",  "rough plan",
    "written",       "forged",        "one box",        "stopped",
    "placed",        "placed, rough", "placed, groups", "placed, certificate",
    "placed, space", "logged",        "saved",          "said"};

// ---- the checker's arguments for one layout

struct asked {
    const struct layout_truth *l;
    struct check_layouts x;
    struct error err;
    uint64_t work;
    struct arena scratch;
};

static void open_asked(struct asked *a, const struct space_truth *t, const struct layout_truth *l)
{
    *a = (struct asked){.l = l, .work = UINT64_MAX / 2};
    arena_open(&a->scratch, NULL);
    a->x = (struct check_layouts){
        .space = l->space,
        .pricer = &l->pricer,
        .reader = {"prices", &a->err},
        .held = {.work = &a->work, .arena = t->arena, .scratch = &a->scratch},
    };
}

static bool holds(struct asked *a, enum check_fate fate, int64_t bound_ns)
{
    bool so;
    const char *why;
    a->x.bound_ns = bound_ns;
    return check_fate_holds(&a->x, &a->l->own, fate, &so, &why) == OK &&
           so; // not OK: more than it counts
}

// First above the truth, at distances of all sizes (accepted bounds need not form an interval),
// then by bisection. Else by bisection below.
static int64_t largest_bound(struct asked *a, int64_t truth_ns)
{
    int64_t low = 0, high = truth_ns == INT64_MAX ? (int64_t)1 << 50 : truth_ns + 1;
    const int64_t beyond[] = {
        high,         high + high / 1000 + 1, high + high / 20 + 2, high + high / 4 + 3,
        2 * high + 5, 16 * high + 7};
    for (int i = 0; i < 6; i++)
        if (holds(a, FATE_IS_BOUND, beyond[i])) low = beyond[i], high = 2 * low + 1;
    while (low >= truth_ns && holds(a, FATE_IS_BOUND, high) && high < (int64_t)1 << 50)
        low = high, high *= 2;
    while (high - low > (low >= truth_ns ? 1 : truth_ns / 4096 + 1)) {
        int64_t middle = low + (high - low) / 2;
        if (holds(a, FATE_IS_BOUND, middle)) low = middle;
        else high = middle;
    }
    return low;
}

static int64_t checkers_claim(const struct space_truth *t, enum claim_kind kind,
                              const struct layout_truth *l)
{
    struct asked a;
    int64_t claim;
    open_asked(&a, t, l);
    if (kind == CLAIM_BOUND) claim = largest_bound(&a, l->time_ns);
    else
        claim = holds(&a, kind == CLAIM_ROOM ? FATE_IS_MEMORY : FATE_IS_REFUSED, 0) ? INT64_MAX
                                                                                    : -1;
    arena_close(&a.scratch);
    return claim;
}

// ---- the planner's

static bool sketch(struct layout_sketch *s, const struct space_truth *t,
                   const struct layout_truth *l)
{
    struct kept_cache *kept = TAKE(t->arena, 1, struct kept_cache);
    const char *why;
    *kept = (struct kept_cache){.arena = t->arena};
    return layout_sketch(s, &l->priced, kept, &why);
}

static int64_t planners_claim(const struct space_truth *t, enum claim_kind kind,
                              const struct layout_truth *l)
{
    struct layout_sketch s;
    if (!sketch(&s, t, l)) return INT64_MAX;
    if (kind == CLAIM_MISSING) return layout_missing_bytes(&s) > 0 ? INT64_MAX : -1;
    return kind == CLAIM_AVERAGE ? layout_average_bound(&s) : layout_filling_bound(&s, INT64_MAX);
}

// ---- any

static int64_t truth_of(const struct layout_truth *l, enum claim_kind kind)
{
    return kind <= CLAIM_SAME ? l->value_ns : l->time_ns;
}

// The largest claim of one argument for one layout (and another). INT64_MAX: that there is no plan;
// -1: nothing.
static int64_t claim_largest(const struct space_truth *t, enum claim_kind kind, int64_t layout,
                             int64_t other)
{
    const struct layout_truth *l = &t->layouts[layout], *o = other < 0 ? NULL : &t->layouts[other];
    switch (kind) {
    case CLAIM_AVERAGE:
    case CLAIM_FILLING:
    case CLAIM_MISSING: return planners_claim(t, kind, l);
    case CLAIM_SAME: return layout_no_worse(&o->priced, &l->priced) ? o->value_ns : -1;
    case CLAIM_REFUSED:
    case CLAIM_ROOM:
    case CLAIM_BOUND: return checkers_claim(t, kind, l);
    case CLAIM_DOMINATED: return check_no_worse(o->dear_tables, l->tables) ? o->time_ns : -1;
    default: return -1;
    }
}

static bool is_asked(enum claim_kind kind, const struct layout_truth *l,
                     const struct layout_truth *o)
{
    bool planners = kind <= CLAIM_SAME, compares = kind == CLAIM_SAME || kind == CLAIM_DOMINATED;
    if (!l->known || (o && !o->known)) return false;
    if (kind == CLAIM_REFUSED) return !o;
    if (compares != (o != NULL) || o == l) return false;
    if (planners ? l->refused || (o && o->refused) : !l->tables || (o && !o->tables)) return false;
    return planners || l->priced.objective == OBJECTIVE_ITERATION_TIME;
}

void claims_note(struct claims *c, enum claim_kind kind, int64_t layout, int64_t other,
                 int64_t claim_ns, int64_t truth_ns)
{
    struct claims_seen *seen = &c->seen[kind];
    seen->tried++;
    if (claim_ns < 0) return;
    bool bounds = claim_ns != INT64_MAX && truth_ns != INT64_MAX && truth_ns > 0;
    seen->held += bounds || claim_ns == INT64_MAX;
    seen->bounds += bounds;
    if (bounds) {
        double ratio = (double)claim_ns / (double)truth_ns;
        seen->ratio_sum += ratio;
        if (ratio > seen->ratio_most) seen->ratio_most = ratio;
    }
    if (claim_ns <= truth_ns) return;
    seen->violations++;
    struct violation v = {kind, layout, other, claim_ns, truth_ns};
    if (c->found) c->found(c->argument, &v);
}

static void judge(struct claims *c, const struct space_truth *t, enum claim_kind kind,
                  const struct layout_truth *l, const struct layout_truth *o)
{
    if (!is_asked(kind, l, o)) return;
    claims_note(c, kind, l->number, o ? o->number : -1,
                claim_largest(t, kind, l->number, o ? o->number : -1), truth_of(l, kind));
}

// Towards the tightest of all, and all of them.
struct tightness {
    double sum, most;
    int layouts;
};

static void note_tightness(struct tightness *x, const struct claims *c,
                           const struct claims_seen before[CLAIM_QUICK],
                           const struct layout_truth *l)
{
    double most = 0;
    if (!l->known || l->refused || l->value_ns == INT64_MAX || l->layout.pipeline < 2) return;
    for (int kind = 0; kind < CLAIM_QUICK; kind++) {
        double ratio = c->seen[kind].ratio_sum - before[kind].ratio_sum;
        if ((kind == CLAIM_FILLING || kind == CLAIM_BOUND) && ratio > most) most = ratio;
    }
    x->sum += most * most * most * most, x->layouts++;
    if (most > x->most) x->most = most;
}

double claims_judge(struct claims *c, const struct space_truth *t)
{
    struct tightness x = {0, 0, 0};
    for (int64_t i = 0; i < t->count; i++) {
        struct claims_seen before[CLAIM_QUICK];
        memcpy(before, c->seen, sizeof before);
        for (int kind = 0; kind < CLAIM_QUICK; kind++) {
            if (kind != CLAIM_SAME && kind != CLAIM_DOMINATED)
                judge(c, t, (enum claim_kind)kind, &t->layouts[i], NULL);
            else
                for (int64_t k = 0; k < t->count; k++)
                    judge(c, t, (enum claim_kind)kind, &t->layouts[i], &t->layouts[k]);
        }
        note_tightness(&x, c, before, &t->layouts[i]);
    }
    return x.layouts ? x.most + x.sum / x.layouts : 0;
}

int64_t claims_violations(const struct claims *c)
{
    int64_t sum = 0;
    for (int kind = 0; kind < CLAIM_KINDS; kind++) sum += c->seen[kind].violations;
    return sum;
}
