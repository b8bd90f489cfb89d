// The certificate by reaches: a proof for each case, at the checker's prices. A case that no group
// to share proves is halved where its best plans differ, until each part is proven.
#include <stdlib.h>

#include "solve/certificate/internal.h"

enum { PARTS_MOST = 2000 };

// A case, or a part of one.
struct part {
    struct check_problem p;
    struct priced priced;
    struct solve_result found;
    int shared;       // the group of which the replica has at most its share; -1: none
    int64_t bound_ns; // -1: the part has no plan
    int cases;        // together; 1: a case, or a part of one
    struct check_half half;
    struct part *halves[2]; // NULL: it is proven by itself
};

struct reaches_maker {
    struct places_maker *m;
    struct check_cases *cases;
    struct check_half halves[HALVES_MOST];
    unsigned reach_of[MOST_GROUPS]; // [target]
    int parts;
};

static bool proves_less(int64_t ns, int64_t than) { return ns >= 0 && (than < 0 || ns < than); }

static void list_targets(struct reaches_maker *h)
{
    for (int i = 0, target = 0; i < h->cases->reach_count; i++)
        for (int k = 0; k < __builtin_popcount(h->cases->reaches[i]); k++)
            h->reach_of[target++] = h->cases->reaches[i];
}

// ---- search

// The first stage whose ranks' rings have different reaches, or the one whose layers differ most.
static bool find_half(struct check_half *half, const struct reaches_maker *h,
                      const struct plan *const *looks, int count)
{
    int most = 0;
    for (int i = 0; i < count * count; i++) {
        const struct plan *a = looks[i / count], *b = looks[i % count];
        for (int s = 0; a && b && s < a->stage_count; s++) {
            unsigned reach = h->reach_of[a->stages[s].group];
            int apart = b->stages[s].layer_count - a->stages[s].layer_count;
            if (reach != h->reach_of[b->stages[s].group]) {
                *half = (struct check_half){.stage = s, .reach = reach};
                return true;
            }
            if (apart <= most) continue;
            most = apart;
            *half =
                (struct check_half){.stage = s, .most = b->stages[s].layer_count - apart / 2 - 1};
        }
    }
    return most > 0;
}

static enum status search_part(struct part **part, struct check_relaxation how,
                               struct reaches_maker *h, struct error *err);

// Replaces the part's own proof where both halves prove more.
static enum status search_halves(struct part *part, struct check_relaxation how,
                                 struct reaches_maker *h, struct error *err)
{
    struct check_half *half = &h->halves[how.half_count++];
    struct part *halves[2] = {NULL, NULL};
    *half = part->half;
    for (int i = 0; i < 2; i++) {
        TRY(search_part(&halves[i], how, h, err));
        if (!proves_less(part->bound_ns, halves[i]->bound_ns)) return OK;
        if (half->reach) half->other = true;
        else half->least = half->most + 1, half->most = MOST_LAYERS;
    }
    bool second = proves_less(halves[1]->bound_ns, halves[0]->bound_ns);
    part->bound_ns = halves[second]->bound_ns;
    part->halves[0] = halves[0], part->halves[1] = halves[1];
    return OK;
}

// Proves as much as it can with this group to share; -1: none.
static enum status search_shared(struct part **part, struct check_relaxation how,
                                 struct reaches_maker *h, struct error *err)
{
    struct places_maker *m = h->m;
    const struct reader r = {"prices", &m->why};
    struct part *own = *part = TAKE(m->arena, 1, struct part);
    own->shared = how.shared, own->cases = how.cases;
    if (check_relax_places(&own->p, &m->places, &how, &r, &m->work, m->arena) != OK)
        return fail(err, SOLVER, "the checker refuses the problem: %s", m->why.text);
    certificate_places_priced(&own->priced, m->request->priced, &own->p, m->arena);
    return places_search_anew(&own->found, &own->bound_ns, m, &own->priced, err);
}

// How: of which part. Takes the group to share, or none, that proves most, or enough.
static enum status search_part(struct part **part, struct check_relaxation how,
                               struct reaches_maker *h, struct error *err)
{
    struct places_maker *m = h->m;
    int groups = m->places.problem->group_count, first = places_group_to_share(m),
        unshared = first < 0 || how.crossing == CROSS_SOME,
        ways = unshared + (first < 0 ? 0 : groups);
    const struct plan *looks[MOST_GROUPS + 1] = {NULL};
    *part = NULL;
    for (int way = 0; way < ways; way++) {
        struct part *own;
        how.shared = way < unshared ? -1 : (first + way - unshared) % groups;
        TRY(search_shared(&own, how, h, err));
        if (own->found.plan.stage_count) looks[way] = &own->found.plan;
        if (!*part || proves_less((*part)->bound_ns, own->bound_ns)) *part = own;
        if (!proves_less(own->bound_ns, m->bound_ns)) return OK;
    }
    bool may = how.half_count < HALVES_MOST && ++h->parts < PARTS_MOST && m->bound_ns > 0 &&
               find_half(&(*part)->half, h, looks, ways);
    return may ? search_halves(*part, how, h, err) : OK;
}

// Where the first group's ranks in rings on it alone begin, or next to the middle where they
// change.
static int division_of(const struct check_relaxation *how)
{
    int best = 0;
    for (int i = 1; i < how->cases; i++) {
        if (how->ranks[i][0] == how->ranks[i - 1][0]) continue;
        if (!how->ranks[i - 1][0]) return i;
        if (!best || abs(2 * i - how->cases) < abs(2 * best - how->cases)) best = i;
    }
    return best ? best : how->cases / 2;
}

// Of these cases: one part, if they can be proven together with a group to share that all replicas
// have ranks on; otherwise those of a first and a second half of them. parts: one for each case,
// NULL where an earlier one is about it, too.
static enum status search_together(struct part **parts, struct check_relaxation how,
                                   struct reaches_maker *h, struct error *err)
{
    int all = how.cases, groups = h->m->places.problem->group_count;
    how.crossing = h->cases->crossing[how.ranks - (const int(*)[MOST_GROUPS])h->cases->ranks];
    if (all == 1) return search_part(parts, how, h, err);
    how.crossing = CROSS_ANY;
    for (how.shared = 0; how.shared < groups; how.shared++) {
        struct part *own;
        if (places_group_to_share(h->m) < 0 || !check_fewest_alone(&how, how.shared)) continue;
        TRY(search_shared(&own, how, h, err));
        parts[0] = own;
        if (!proves_less(own->bound_ns, h->m->bound_ns)) return OK;
    }
    how.cases = division_of(&how);
    TRY(search_together(parts, how, h, err));
    how.ranks += how.cases, parts += how.cases, how.cases = all - how.cases;
    return search_together(parts, how, h, err);
}

// The last case by itself, as the search has it; few cases, one by one.
static enum status search_cases(struct part **parts, struct reaches_maker *h, int64_t *bound_ns,
                                struct error *err)
{
    enum { FEW_CASES = 4 };
    int count = h->cases->count, together = count > FEW_CASES ? count - 1 : 1;
    *bound_ns = h->m->bound_ns;
    for (int i = 0; i < count && *bound_ns; i += i ? 1 : together) {
        const struct check_relaxation how = {.by = RELAX_BY_REACHES,
                                             .shared = -1,
                                             .ranks = (const int(*)[MOST_GROUPS])h->cases->ranks +
                                                      i,
                                             .cases = i ? 1 : together,
                                             .halves = h->halves};
        TRY(search_together(parts + i, how, h, err));
    }
    for (int i = 0; i < count && *bound_ns; i += parts[i]->cases)
        if (proves_less(parts[i]->bound_ns, *bound_ns)) *bound_ns = parts[i]->bound_ns;
    return OK;
}

// ---- the file

struct writing {
    struct json_writer w;
    const struct reaches_maker *h;
    struct certificate_places_result made;
    bool whole;
};

static enum status put_part(struct writing *x, const struct part *part, struct error *err)
{
    struct places_maker *m = x->h->m;
    struct plan plan = {.outcome = part->bound_ns < 0 ? OUTCOME_INFEASIBLE : OUTCOME_OPEN,
                        .bound_ns = part->bound_ns < 0 ? -1 : x->made.bound_ns};
    struct certificate_request request = {.priced = &part->priced,
                                          .plan = &plan,
                                          .evidence = part->found.evidence,
                                          .problem = &part->p,
                                          .anew = true,
                                          .into = &x->w};
    struct certificate_result made = {.text = NULL};
    json_open_object(&x->w, NULL);
    if (part->cases > 1) json_put_count(&x->w, "cases", part->cases);
    if (part->halves[0]) {
        json_put_count(&x->w, "stage", part->half.stage);
        if (part->half.reach) json_put_count(&x->w, "reach", part->half.reach);
        else json_put_count(&x->w, "layers_below", part->half.most + 1);
        json_close_object(&x->w);
        TRY(put_part(x, part->halves[0], err));
        return put_part(x, part->halves[1], err);
    }
    if (part->shared >= 0)
        json_put_text(&x->w, "shared", m->places.problem->groups[part->shared].name);
    TRY(certificate_make(&made, &request, m->arena, err));
    json_close_object(&x->w);
    x->whole = x->whole && made.text;
    x->made.boxes += made.boxes, x->made.weights += made.weights;
    return OK;
}

static enum status put_file(struct writing *x, struct part **parts, struct error *err)
{
    const struct certificate_places_request *request = x->h->m->request;
    struct json_writer *w = &x->w;
    document_begin(w, "plumbline.certificate", request->sources, request->source_count,
                   x->h->m->arena);
    json_open_object(w, "places");
    json_put_text(w, "by", x->made.how);
    if (x->made.bound_ns < 0) json_put_bool(w, "infeasible", true);
    else json_put_count(w, "bound_ns", x->made.bound_ns);
    json_open_array(w, "parts");
    for (int i = 0; i < x->h->cases->count; i += parts[i]->cases) TRY(put_part(x, parts[i], err));
    json_close_array(w);
    json_close_object(w);
    json_close_object(w);
    if (x->whole) x->made.text = json_end(w, &x->made.size);
    return OK;
}

enum status places_put_reaches(struct certificate_places_result *to, struct places_maker *m,
                               struct error *err)
{
    const struct reader r = {"certificate", &m->why};
    struct reaches_maker *h = TAKE(m->arena, 1, struct reaches_maker);
    struct check_result audited = {.iteration_ns = -1, .bound_ns = -1};
    struct writing x = {.h = h, .made = {.how = "reaches"}, .whole = true};
    cJSON *root;
    h->m = m;
    h->cases = TAKE(m->arena, 1, struct check_cases);
    if (check_list_cases(h->cases, &m->places, &r, &m->work) != OK) return OK;
    list_targets(h);
    struct part **parts = TAKE(m->arena, h->cases->count + 1, struct part *);
    TRY(search_cases(parts, h, &x.made.bound_ns, err));
    if (!x.made.bound_ns) return OK;
    TRY(put_file(&x, parts, err));
    if (x.made.text && check_parse(&r, x.made.text, x.made.size, &root, m->arena) == OK &&
        check_audit_places(&audited, &r, value_get(root, "places"), &m->places, &m->work,
                           m->arena) == OK)
        *to = x.made;
    return OK;
}
