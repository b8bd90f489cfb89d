// Audits the certificate of a space: see space.h. One walk over all layouts. Where the argument
// that the file names needs only the layout's own tables, it is checked at once. Layouts that are
// dominated, that dominate others or that have a proof of their own are checked after the walk.
#include "solve/checker/space/space.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solve/checker/space/arguments.h"

enum { WORK_OF_LAYOUT = 40, LISTED_MOST = 1 << 20 };
#define MOST_VALUE ((int64_t)1 << 59) // of a plan: devices, or micro-batches, x time

struct listed {
    int64_t number;
    struct check_layout layout;
    enum check_fate fate;
    bool seen;
};

struct audit {
    struct reader reader;
    const struct check_space *space;
    const struct check_pricer *pricers;
    struct check_space_result *result;
    struct check_layouts layouts;
    const char *fates; // the rest of the text
    enum check_fate fate;
    int64_t fate_left;
    int64_t *dominated; // pairs
    int64_t dominated_count, dominated_next;
    const cJSON **proofs; // on nodes also an object of placements
    bool *on_nodes;
    int64_t *proof_of, proof_count, proof_next;
    struct listed *listed; // dominated, dominating or proven ones; ascending
    int64_t listed_count, listed_next;
    uint64_t *work;
    enum status status; // of the walk
    struct arena *arena, *scratch;
};

#define NOT_PROVEN_SPACE(h, ...) fail((h)->reader.err, (enum status)NOT_PROVEN, __VA_ARGS__)

// ---- reading

static enum status read_claims(struct audit *h, const cJSON *space)
{
    const struct reader *r = &h->reader;
    struct check_space_result *to = h->result;
    int64_t value_ns = -1;
    const struct value_field fields[] = {
        {"layouts", 0, LAYOUTS_MOST, .large = &to->layouts},
        {"?infeasible", .flag = &to->proof.infeasible},
        {"?objective", .small = &to->proof.objective, .names = check_objective_names},
        {"?objective_ns", 0, MOST_VALUE, .large = &value_ns},
        {"?iteration_ns", 0, MOST_SUM, .large = &to->proof.iteration_ns},
        {"?bound_ns", 0, MOST_VALUE, .large = &to->proof.bound_ns},
        {"?chosen", 0, LAYOUTS_MOST, .large = &to->chosen},
        {"fates", .text = &h->fates},
        {.key = "dominated"},
        {.key = "proofs"},
        {NULL},
    };
    TRY(value_fields(r, space, "space", fields, NULL));
    bool of_time = to->proof.objective == MINIMISE_TIME, has_plan = to->chosen >= 0;
    if (to->proof.objective != (int)h->space->objective)
        return NOT_PROVEN_SPACE(h, "is about %s, the job minimises %s",
                                check_objective_names[to->proof.objective],
                                check_objective_names[h->space->objective]);
    if (of_time ? value_ns >= 0 : to->proof.iteration_ns >= 0)
        return check_refuse(r, "space",
                            "expected iteration_ns about iteration_time, and objective_ns beside "
                            "any other objective");
    if (!of_time) to->proof.iteration_ns = value_ns;
    if (has_plan != (to->proof.iteration_ns >= 0))
        return check_refuse(r, "space", "expected both %s and chosen, or neither",
                            of_time ? "iteration_ns" : "objective_ns");
    if (to->proof.infeasible ? has_plan || to->proof.bound_ns >= 0 : to->proof.bound_ns < 0)
        return check_refuse(r, "space", "expected either infeasible or bound_ns");
    if (has_plan && to->proof.bound_ns > to->proof.iteration_ns)
        return NOT_PROVEN_SPACE(h, "bound_ns is above %s, that of a plan",
                                of_time ? "iteration_ns" : "objective_ns");
    return OK;
}

static enum status read_dominated(struct audit *h, const cJSON *v)
{
    const struct reader *r = &h->reader;
    TRY(value_expect(r, v, "space.dominated", cJSON_Array));
    int count = cJSON_GetArraySize(v);
    if (count % 2 || count > LISTED_MOST)
        return check_refuse(r, "space.dominated", "expected pairs of layouts");
    if (h->space->of_nodes && count)
        return NOT_PROVEN_SPACE(h, "space.dominated: layouts on nodes are not compared");
    h->dominated_count = count / 2;
    TRY(value_integers(r, v, "space.dominated", count, 0, LAYOUTS_MOST, &h->dominated, h->arena));
    for (int64_t i = 1; i < h->dominated_count; i++)
        if (h->dominated[2 * i] <= h->dominated[2 * i - 2])
            return check_refuse(r, "space.dominated", "expected ascending layouts");
    return OK;
}

static enum status read_proofs(struct audit *h, const cJSON *v)
{
    const struct reader *r = &h->reader;
    int64_t last = -1;
    TRY(value_expect(r, v, "space.proofs", cJSON_Array));
    int count = cJSON_GetArraySize(v);
    if (count > LISTED_MOST)
        return check_refuse(r, "space.proofs", "expected at most %d", LISTED_MOST);
    h->proofs = TAKE(h->arena, count, const cJSON *);
    h->proof_of = TAKE(h->arena, count, int64_t);
    h->on_nodes = TAKE(h->arena, count, bool);
    for (const cJSON *e = v->child; e; e = e->next) {
        int64_t *number = &h->proof_of[h->proof_count];
        const cJSON *proof = NULL, *places = NULL;
        const struct value_field fields[] = {
            {"layout", 0, LAYOUTS_MOST, .large = number},
            {"?proof", .value = &proof},
            {"?places", .value = &places},
            {NULL},
        };
        TRY(value_fields(r, e, "space.proofs", fields, NULL));
        if (!proof == !places || (places && !h->space->of_nodes))
            return check_refuse(r, "space.proofs",
                                h->space->of_nodes ? "expected either proof or places"
                                                   : "expected proof");
        h->proofs[h->proof_count] = proof ? proof : places;
        h->on_nodes[h->proof_count] = places != NULL;
        if (*number <= last) return check_refuse(r, "space.proofs", "expected ascending layouts");
        last = *number;
        h->proof_count++;
    }
    return OK;
}

static int by_number(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

static void list_layouts(struct audit *h)
{
    int64_t count = 0, kept = 0;
    h->listed = TAKE(h->arena, 2 * h->dominated_count + h->proof_count, struct listed);
    for (int64_t i = 0; i < 2 * h->dominated_count; i++)
        h->listed[count++].number = h->dominated[i];
    for (int64_t i = 0; i < h->proof_count; i++) h->listed[count++].number = h->proof_of[i];
    qsort(h->listed, (size_t)count, sizeof *h->listed, by_number);
    for (int64_t i = 0; i < count; i++)
        if (!kept || h->listed[kept - 1].number != h->listed[i].number)
            h->listed[kept++] = h->listed[i];
    h->listed_count = kept;
}

static const struct listed *find_listed(const struct audit *h, int64_t number)
{
    const struct listed key = {.number = number};
    return bsearch(&key, h->listed, (size_t)h->listed_count, sizeof key, by_number);
}

// "r1024 m12 b3": letters of fates, each with its number of layouts.
static enum status next_fates(struct audit *h, int64_t number)
{
    const char *letter = *h->fates ? strchr(check_fate_letters, *h->fates) : NULL;
    int digits = 0;
    if (!*h->fates)
        return NOT_PROVEN_SPACE(h, "space.fates: end before layout %lld", (long long)number);
    if (!letter)
        return check_refuse(&h->reader, "space.fates",
                            "expected a fate's letter before layout %lld", (long long)number);
    h->fate = (enum check_fate)(letter - check_fate_letters);
    h->fate_left = 0;
    for (h->fates++; *h->fates >= '0' && *h->fates <= '9' && digits < 9; h->fates++, digits++)
        h->fate_left = 10 * h->fate_left + *h->fates - '0';
    bool ends = !*h->fates || (*h->fates == ' ' && h->fates[1]);
    if (h->fate_left < 1 || !ends)
        return check_refuse(&h->reader, "space.fates",
                            "expected a number of layouts before layout %lld", (long long)number);
    if (*h->fates) h->fates++;
    return OK;
}

// ---- the walk

static enum status find_reason(struct audit *h, int64_t number, const struct check_layout *layout)
{
    static const char *const what[] = {
        "is stated as refused, but no rule refuses it",
        "is stated not to fit, which does not follow from its bytes",
        "is stated to take at least bound_ns, which does not follow from its prices",
        NULL,
        NULL,
        "is stated to take at least bound_ns, which does not follow from its group"};
    bool holds;
    const char *why;
    bool bounded = h->fate == FATE_IS_BOUND || h->fate == FATE_IS_GROUP;
    if (bounded && check_goal_ns(h->space, layout, h->layouts.bound_ns) < 0)
        return NOT_PROVEN_SPACE(h, "layout %lld: a bound does not prove that there is no plan",
                                (long long)number);
    TRY(check_fate_holds(&h->layouts, layout, h->fate, &holds, &why));
    if (holds) return OK;
    if (why)
        return NOT_PROVEN_SPACE(h, "layout %lld: is refused (%s), but not stated as refused",
                                (long long)number, why);
    return NOT_PROVEN_SPACE(h, "layout %lld: %s", (long long)number, what[h->fate]);
}

static enum status audit_layout(struct audit *h, int64_t number, const struct check_layout *layout)
{
    struct check_space_result *to = h->result;
    int64_t *const counts[FATES] = {&to->refused,   &to->memory, &to->bounded,
                                    &to->dominated, &to->proven, &to->grouped};
    if (number >= to->layouts)
        return NOT_PROVEN_SPACE(h, "the space has more than the %lld layouts stated",
                                (long long)to->layouts);
    if (*h->work < WORK_OF_LAYOUT) return NOT_PROVEN_SPACE(h, "the work limit is reached");
    *h->work -= WORK_OF_LAYOUT;
    if (!h->fate_left) TRY(next_fates(h, number));
    h->fate_left--;
    ++*counts[h->fate];
    if (h->listed_next < h->listed_count && h->listed[h->listed_next].number == number) {
        struct listed *l = &h->listed[h->listed_next++];
        l->layout = *layout, l->fate = h->fate, l->seen = true;
    }
    if (h->fate == FATE_IS_DOMINATED) {
        if (h->dominated_next < h->dominated_count && h->dominated[2 * h->dominated_next] == number)
            return h->dominated_next++, OK;
        return NOT_PROVEN_SPACE(h, "layout %lld: is stated as dominated, but not by which layout",
                                (long long)number);
    }
    if (h->fate == FATE_IS_PROVEN) {
        if (h->proof_next < h->proof_count && h->proof_of[h->proof_next] == number)
            return h->proof_next++, OK;
        return NOT_PROVEN_SPACE(h, "layout %lld: is stated to have a proof, but there is none",
                                (long long)number);
    }
    return find_reason(h, number, layout);
}

static bool visit(void *argument, int64_t number, const struct check_layout *layout)
{
    struct audit *h = argument;
    h->status = audit_layout(h, number, layout);
    return h->status == OK;
}

static enum status walk(struct audit *h)
{
    const struct check_space_result *to = h->result;
    int64_t count = check_space_walk(h->space, visit, h);
    TRY(h->status);
    if (count != to->layouts)
        return NOT_PROVEN_SPACE(h, "the space has %lld layouts, %lld are stated", (long long)count,
                                (long long)to->layouts);
    if (h->fate_left || *h->fates)
        return NOT_PROVEN_SPACE(h, "space.fates: continue after the last layout");
    if (h->dominated_next < h->dominated_count)
        return NOT_PROVEN_SPACE(h, "layout %lld: is not stated as dominated, but names by which",
                                (long long)h->dominated[2 * h->dominated_next]);
    if (h->proof_next < h->proof_count)
        return NOT_PROVEN_SPACE(h, "layout %lld: is not stated to have a proof, but there is one",
                                (long long)h->proof_of[h->proof_next]);
    return OK;
}

// ---- after the walk

// All tables of a layout whose fate says that it is not refused.
static enum status price(struct audit *h, int which, const struct listed *l,
                         struct check_problem **p)
{
    const struct check_pricer *pricer = &h->pricers[which];
    const char *why = check_space_refusal(h->space, &l->layout);
    if (!why && !pricer->bytes(pricer->context, &l->layout, p))
        why = "a price beyond what can be counted";
    if (!why) (*p)->reader = h->reader;
    if (!why && !check_has_slots(*p)) why = "room for fewer ranks";
    if (!why && !pricer->times(pricer->context)) why = "a price beyond what can be counted";
    if (why)
        return NOT_PROVEN_SPACE(h, "layout %lld: is refused (%s), but not stated as refused",
                                (long long)l->number, why);
    TRY(check_problem_bytes(*p));
    return check_problem_times(*p);
}

static int64_t goal_of(const struct audit *h, const struct listed *l)
{
    return check_goal_ns(h->space, &l->layout, h->layouts.bound_ns);
}

static enum status audit_dominated(struct audit *h, const struct listed *l,
                                   const struct listed *other, int64_t by)
{
    struct check_problem *a, *b;
    if (h->space->width_count)
        return NOT_PROVEN_SPACE(h, "layout %lld: has widths of stages, and no proof of its own",
                                (long long)l->number);
    if (!other->seen || other->fate == FATE_IS_REFUSED || other->fate == FATE_IS_DOMINATED)
        return NOT_PROVEN_SPACE(h,
                                "layout %lld: layout %lld, which it is dominated by, has no bound",
                                (long long)l->number, (long long)by);
    if (*h->work < 100 * WORK_OF_LAYOUT) return NOT_PROVEN_SPACE(h, "the work limit is reached");
    *h->work -= 100 * WORK_OF_LAYOUT;
    if (other->fate != FATE_IS_MEMORY && goal_of(h, other) >= 0 &&
        goal_of(h, other) < goal_of(h, l))
        return NOT_PROVEN_SPACE(h,
                                "layout %lld: plans of layout %lld, which it is dominated by, may "
                                "take less than its own may",
                                (long long)l->number, (long long)by);
    TRY(price(h, 1, other, &a));
    TRY(price(h, 0, l, &b));
    if (check_no_worse(a, b)) return OK;
    return NOT_PROVEN_SPACE(h, "layout %lld: is not dominated by layout %lld", (long long)l->number,
                            (long long)by);
}

static void add_counts(struct check_result *to, const struct check_result *from)
{
    to->operations += from->operations, to->choices += from->choices, to->paths += from->paths,
        to->rounds += from->rounds;
    to->boxes += from->boxes, to->splits += from->splits, to->leaves += from->leaves;
}

// The plan of the proof has the stated value, within the limits.
static enum status audit_chosen(struct audit *h, const struct listed *l, int64_t time_ns)
{
    struct check_result *to = &h->result->proof;
    int64_t cap_ns = check_cap_ns(h->space, &l->layout);
    h->result->weight = check_weight(h->space, &l->layout);
    h->result->layout = l->layout;
    if (time_ns < 0 || (wide)h->result->weight * time_ns != to->iteration_ns)
        return NOT_PROVEN_SPACE(h, "its plan does not take %s",
                                to->objective == MINIMISE_TIME ? "iteration_ns" : "objective_ns");
    if (time_ns > cap_ns)
        return NOT_PROVEN_SPACE(h, "its plan takes %lld ns, the job's limits allow %lld ns",
                                (long long)time_ns, (long long)cap_ns);
    return OK;
}

// On nodes: a proof about the layout's placements, with its links (docs/PROOFS.md 11).
static enum status audit_placements(struct audit *h, const struct listed *l, const cJSON *places)
{
    struct check_result own = {.iteration_ns = -1, .bound_ns = -1};
    const char *why = check_space_refusal(h->space, &l->layout);
    int64_t goal_ns = goal_of(h, l);
    if (why)
        return NOT_PROVEN_SPACE(h, "layout %lld: is refused (%s), but not stated as refused",
                                (long long)l->number, why);
    TRY(h->space->audit_on_nodes(&own, h->space, &l->layout, &h->reader, places, h->work,
                                 h->scratch));
    add_counts(&h->result->proof, &own);
    h->result->doubtful += own.doubtful;
    if (own.infeasible || (goal_ns >= 0 && own.bound_ns >= goal_ns)) return OK;
    return NOT_PROVEN_SPACE(h, "proves %lld ns on nodes, less than what is required of it",
                            (long long)own.bound_ns);
}

static enum status audit_proof(struct audit *h, const struct listed *l, const cJSON *proof)
{
    struct check_space_result *to = h->result;
    struct check_result own = {.iteration_ns = -1, .bound_ns = -1};
    struct check_problem *p;
    bool chosen = l->number == to->chosen;
    int64_t doubtful = *h->pricers[0].doubtful_prices;
    TRY(price(h, 0, l, &p));
    if (chosen && *h->pricers[0].doubtful_prices > doubtful)
        return NOT_PROVEN_SPACE(h, "a price of the plan's layout is so close to a rounding "
                                   "boundary that the judge cannot tell how it rounds");
    TRY(check_read_claims(&h->reader, proof, &own));
    int64_t goal_ns = goal_of(h, l);
    if (goal_ns < 0 && !own.infeasible)
        return NOT_PROVEN_SPACE(h, "proves a bound, not that there is no plan");
    if (!own.infeasible && own.bound_ns < goal_ns)
        return goal_ns == to->proof.bound_ns
                   ? NOT_PROVEN_SPACE(h, "proves %lld ns, less than bound_ns",
                                      (long long)own.bound_ns)
                   : NOT_PROVEN_SPACE(h, "proves %lld ns, less than the %lld ns required of it",
                                      (long long)own.bound_ns, (long long)goal_ns);
    if (!chosen && own.iteration_ns >= 0)
        return NOT_PROVEN_SPACE(h, "has a plan, and is not the chosen one");
    if (chosen) TRY(audit_chosen(h, l, own.iteration_ns));
    TRY(check_one_proof(&h->reader, proof, p, &own, h->work, h->scratch));
    add_counts(&to->proof, &own);
    return OK;
}

static enum status audit_listed(struct audit *h)
{
    const struct listed *chosen = h->result->chosen >= 0 ? find_listed(h, h->result->chosen) : NULL;
    struct error *err = h->reader.err;
    if (h->result->chosen >= 0 && (!chosen || !chosen->seen || chosen->fate != FATE_IS_PROVEN))
        return NOT_PROVEN_SPACE(h, "layout %lld: is chosen, and has no proof",
                                (long long)h->result->chosen);
    for (int64_t i = 0; i < h->dominated_count; i++)
        TRY(audit_dominated(h, find_listed(h, h->dominated[2 * i]),
                            find_listed(h, h->dominated[2 * i + 1]), h->dominated[2 * i + 1]));
    for (int64_t i = 0; i < h->proof_count; i++) {
        struct arena_mark mark = arena_set_mark(h->scratch);
        struct error why = {OK, ""};
        h->reader.err = &why;
        enum status status = (h->on_nodes[i] ? audit_placements : audit_proof)(
            h, find_listed(h, h->proof_of[i]), h->proofs[i]);
        h->reader.err = err;
        arena_reset(h->scratch, mark);
        if (status != OK)
            return fail(err, status, "layout %lld: %s", (long long)h->proof_of[i], why.text);
    }
    return OK;
}

// ---- the whole

static enum status audit(struct audit *h, const struct check_text *certificate,
                         const struct check_input *sources, int source_count)
{
    cJSON *root;
    TRY(check_read_envelope(&h->reader, certificate, &root, h->arena));
    const cJSON *space = value_get(root, "space");
    if (!space)
        return check_refuse(&h->reader, "",
                            "is about one layout: expected its priced document as well");
    TRY(check_same_sources(&h->reader, value_get(root, "made_from"), NULL, sources, source_count));
    TRY(read_claims(h, space));
    if (h->space->of_nodes && h->result->chosen >= 0)
        return check_refuse(&h->reader, "space",
                            "expected only a bound: plans on nodes are audited by plumbline "
                            "verify");
    TRY(read_dominated(h, value_get(space, "dominated")));
    TRY(read_proofs(h, value_get(space, "proofs")));
    list_layouts(h);
    h->layouts = (struct check_layouts){
        .space = h->space,
        .pricer = &h->pricers[0],
        .reader = h->reader,
        .bound_ns = h->result->proof.infeasible ? -1 : h->result->proof.bound_ns,
        .held = {.work = h->work, .arena = h->arena, .scratch = h->scratch}};
    TRY(walk(h));
    TRY(audit_listed(h));
    h->result->doubtful += *h->pricers[0].doubtful_prices + *h->pricers[1].doubtful_prices;
    if (*h->pricers[0].doubtful_sizes + *h->pricers[1].doubtful_sizes)
        return NOT_PROVEN_SPACE(h, "a size is so close to a step of a price that the judge cannot "
                                   "tell on which side it is");
    return OK;
}

enum status check_space_certificate(struct check_space_result *result,
                                    const struct check_text *certificate,
                                    const struct check_input *sources, int source_count,
                                    const struct check_space *space,
                                    const struct check_pricer pricers[2], uint64_t work_limit,
                                    struct arena *arena, struct error *err)
{
    struct error why = {OK, ""};
    uint64_t left = work_limit;
    struct arena *scratch = arena_open_within(arena);
    *result = (struct check_space_result){
        .proof = {.iteration_ns = -1, .bound_ns = -1}, .chosen = -1, .weight = 1};
    result->limited = space->limit_ns < INT64_MAX || space->limit_device_ns < INT64_MAX;
    struct audit h = {.reader = {certificate->file, &why},
                      .space = space,
                      .pricers = pricers,
                      .result = result,
                      .work = &left,
                      .arena = arena,
                      .scratch = scratch};
    enum status status = audit(&h, certificate, sources, source_count);
    result->proof.work = work_limit - left;
    result->proof.accepted = status == OK;
    if (status == OK) return OK;
    if (status != (enum status)NOT_PROVEN) return fail(err, status, "%s", why.text);
    snprintf(result->proof.reason, sizeof result->proof.reason, "%.*s", CHECK_REASON_MAX - 1,
             why.text);
    return OK;
}
