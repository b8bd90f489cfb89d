// Forged certificates about placements: each kind is refused with its reason, and whatever is
// accepted after random damage is still true.
//
//   test_check_places_forgeries [DAMAGES] [SEED]
#include "solve/checker/prices/prices.h"
#include "tests/support/check.h"
#include "tests/support/trials/place_trials.h"

enum { DEFAULT_DAMAGES = 3000 };

static int damage_count = DEFAULT_DAMAGES;
static uint64_t first_seed = 1;

struct honest {
    struct place_trial t;
    struct certificate_places_result made;
};

// A problem with a plan whose certificate has a bound above 0.
static void find_honest(struct honest *h, bool (*suits)(const struct honest *h), bool uneven,
                        uint64_t seed, struct arena *arena)
{
    struct solve_result solved;
    struct arena_mark mark = arena_set_mark(arena);
    for (;; seed++, arena_reset(arena, mark)) {
        bool found = place_trial_open(&h->t, seed, uneven, arena) && h->t.best_ns > 0 &&
                     h->t.best_ns < INT64_MAX;
        if (found) place_trial_solve(&solved, &h->t, &h->t.priced, 0.02);
        if (found) place_trial_write(&h->made, &h->t, &solved);
        if (found && h->made.text && h->made.bound_ns > 0 && suits(h)) return;
    }
}

static bool has_several(const struct honest *h)
{
    return h->t.places.replicas > 1 && h->t.places.problem->group_count > 1 &&
           !strcmp(h->made.how, "groups");
}
static bool has_one(const struct honest *h)
{
    return !strcmp(h->made.how, "nodes") && h->t.places.problem->group_count > 1;
}
static bool has_no_hop(const struct honest *h)
{
    return h->t.places.problem->ranks == 1 && !strcmp(h->made.how, "groups");
}
static bool is_any(const struct honest *h) { return h != NULL; }

// The text with the first `from` as `to`.
static const char *edit(const struct honest *h, const char *from, const char *to)
{
    const char *at = strstr(h->made.text, from);
    if (!at) fail_msg("\"%s\" is not in the certificate", from);
    return arena_print(h->t.arena, "%.*s%s%s", (int)(at - h->made.text), h->made.text, to,
                       at + strlen(from));
}

static void must_refuse(const struct honest *h, const char *text, enum status status,
                        const char *what)
{
    struct check_result audited;
    const char *why;
    enum status found = place_trial_audit(&audited, &h->t, text, strlen(text), &why);
    if (found != status || audited.accepted)
        fail_msg("\"%s\": status %d, accepted %d: %s", what, found, audited.accepted, why);
    if (!strstr(why, what)) fail_msg("\"%s\" is not in: %s", what, why);
}

static const char *number(const struct honest *h, int64_t x)
{
    return arena_print(h->t.arena, "\"bound_ns\": %lld", (long long)x);
}

TEST(test_sources)
{
    struct honest h;
    find_honest(&h, is_any, false, 3, arena);
    for (int i = 0; i < PLACE_SOURCES; i++) {
        const char *role = h.t.sources[i].role,
                   *quoted = arena_print(arena, "\"role\": \"%s\"", role);
        must_refuse(&h, edit(&h, quoted, "\"role\": \"samples\""), BAD_INPUT,
                    arena_print(arena, "names no document of role %s", role));
        struct check_text kept = h.t.sources[i].text;
        h.t.sources[i].text.text = "another text";
        h.t.sources[i].text.size = strlen("another text");
        must_refuse(&h, h.made.text, OK, "SHA-256");
        h.t.sources[i].text = kept;
    }
    must_refuse(&h, edit(&h, "\"role\": \"job\"", "\"role\": \"model\""), BAD_INPUT,
                "two documents of role model");
}

TEST(test_ways)
{
    struct honest h;
    find_honest(&h, has_several, false, 3, arena);
    must_refuse(&h, edit(&h, "\"by\": \"groups\"", "\"by\": \"racks\""), BAD_INPUT, "places.by");
    must_refuse(&h, edit(&h, "\"by\": \"groups\"", "\"by\": \"nodes\""), BAD_INPUT,
                "only with by groups");
    must_refuse(&h, edit(&h, "\"by\": \"groups\"", "\"by\": \"groups\", \"chained\": 1"), BAD_INPUT,
                "chained");
    const char *shared =
        arena_print(arena, "\"shared\": \"%s\"", h.t.places.problem->groups[0].name);
    const char *plain =
        strstr(h.made.text, "\"shared\"")
            ? h.made.text
            : edit(&h, "\"by\": \"groups\"", arena_print(arena, "\"by\": \"groups\", %s", shared));
    struct honest named = h;
    named.made.text = plain;
    must_refuse(&named, edit(&named, "\"shared\": \"", "\"shared\": \"no"), BAD_INPUT,
                "places.shared");
    must_refuse(&h, edit(&h, "\"places\"", "\"proofs\""), BAD_INPUT, "proofs");
    must_refuse(&h, edit(&h, "\"by\":", "\"why\":"), BAD_INPUT, "\"by\" is missing");
    must_refuse(&h, edit(&h, "\"proof\":", "\"proofs\":"), BAD_INPUT, "\"proof\" is missing");
    // The number of nodes exceeds the groups of a problem.
    struct check_node *nodes = TAKE(arena, MOST_GROUPS + 1, struct check_node);
    for (int i = 0; i <= MOST_GROUPS; i++) nodes[i] = h.t.places.nodes[0];
    find_honest(&h, has_one, false, 3, arena);
    must_refuse(&h, edit(&h, "\"by\": \"nodes\"", "\"by\": \"nodes\", \"chained\": true"),
                BAD_INPUT, "only with by groups");
    h.t.places.nodes = nodes;
    h.t.places.node_count = MOST_GROUPS + 1;
    must_refuse(&h, h.made.text, OK, "more than the 16 groups");
    find_honest(&h, has_no_hop, false, 3, arena);
    must_refuse(&h, edit(&h, "\"by\": \"groups\"", "\"by\": \"groups\", \"chained\": true"), OK,
                "expected one stage a rank, 2 ranks or more");
}

static bool is_by_reaches(const struct honest *h) { return !strcmp(h->made.how, "reaches"); }
static bool has_one_replica(const struct honest *h)
{
    return h->t.places.replicas == 1 && !strcmp(h->made.how, "nodes");
}

// The text up to its first `until`, then this.
static const char *end_with(const struct honest *h, const char *until, const char *end)
{
    const char *at = strstr(h->made.text, until);
    assert_non_null(at);
    return arena_print(h->t.arena, "%.*s%s", (int)(at - h->made.text), h->made.text, end);
}

// Parts of a proof by reaches are left out, added, or prove less.
TEST(test_reaches)
{
    struct honest h;
    const char *by = "\"by\": \"reaches\"", *parts = "\"parts\": [";
    find_honest(&h, is_by_reaches, false, 3, arena);
    must_refuse(&h, edit(&h, by, "\"by\": \"reaches\", \"chained\": true"), BAD_INPUT, "chained");
    must_refuse(&h, edit(&h, number(&h, h.made.bound_ns), number(&h, h.t.best_ns + 1)), OK,
                "less than is claimed");
    must_refuse(&h, end_with(&h, parts, "\"parts\": []}}"), OK, "a part is missing");
    must_refuse(&h, edit(&h, parts, "\"parts\": [{}, "), BAD_INPUT, "parts[0]");
    must_refuse(&h, edit(&h, parts, "\"parts\": [{\"shared\": \"none\"}, "), BAD_INPUT, "shared");
    must_refuse(&h, edit(&h, by, "\"by\": \"reaches\", \"shared\": \"none\""), BAD_INPUT, "shared");
    const char *const steps[][2] = {
        {"{\"stage\": 0}", "either layers_below or reach"},
        {"{\"reach\": 1}", "either layers_below or reach"},
        {"{\"stage\": 0, \"layers_below\": 1, \"reach\": 1}", "either layers_below or reach"},
        {"{\"stage\": 0, \"reach\": 1, \"proof\": {}}", "either layers_below or reach"},
        {"{\"stage\": 0, \"reach\": 0}", "reach"},
        {"{\"stage\": 0, \"layers_below\": 0}", "layers_below"},
        {"{\"stage\": 99, \"reach\": 1}", "stage"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(steps); i++)
        must_refuse(&h, edit(&h, parts, arena_print(arena, "%s%s, ", parts, steps[i][0])),
                    BAD_INPUT, steps[i][1]);
    // A half is missing: the next case's proof is taken for it.
    const char *half = "{\"stage\": 0, \"layers_below\": 1}";
    must_refuse(&h, edit(&h, parts, arena_print(arena, "%s%s, ", parts, half)), OK, "");
    char *deep = arena_print(arena, "%s", parts);
    for (int i = 0; i < 65; i++) deep = arena_print(arena, "%s%s, ", deep, half);
    must_refuse(&h, edit(&h, parts, deep), BAD_INPUT, "more than 64 halves");
    const char *last = strrchr(h.made.text, ']');
    must_refuse(
        &h,
        arena_print(arena, "%.*s, {\"proof\": {}}%s", (int)(last - h.made.text), h.made.text, last),
        BAD_INPUT, "parts continue");
    find_honest(&h, has_one_replica, false, 3, arena);
    must_refuse(&h,
                end_with(&h, "\"places\"",
                         "\"places\": {\"by\": \"reaches\", \"bound_ns\": 1, \"parts\": []}}"),
                OK, "several replicas and groups");
}

TEST(test_uneven)
{
    struct honest h;
    find_honest(&h, is_any, true, 3, arena);
    if (!strcmp(h.made.how, "nodes"))
        h.made.text = edit(&h, "\"by\": \"nodes\"", "\"by\": \"groups\"");
    const char *to = arena_print(arena, "\"by\": \"groups\", \"shared\": \"%s\"",
                                 h.t.places.problem->groups[0].name);
    must_refuse(&h, edit(&h, "\"by\": \"groups\"", to), OK, "may have all of a group");
}

TEST(test_claims)
{
    struct honest h;
    find_honest(&h, has_several, false, 40, arena);
    const char *bound = number(&h, h.made.bound_ns);
    must_refuse(&h, edit(&h, bound, number(&h, h.t.best_ns + 1)), OK, "boxes[");
    must_refuse(&h, edit(&h, bound, "\"infeasible\": true"), OK, "");
    must_refuse(&h, edit(&h, bound, "\"infeasible\": false"), BAD_INPUT,
                "expected either infeasible or bound_ns");
    must_refuse(
        &h,
        edit(&h, bound,
             arena_print(arena, "%s, \"iteration_ns\": %lld", bound, (long long)h.t.best_ns)),
        BAD_INPUT, "both iteration_ns and incumbent");
    must_refuse(&h,
                edit(&h, bound,
                     arena_print(arena, "%s, \"iteration_ns\": %lld, \"incumbent\": []", bound,
                                 (long long)h.t.best_ns)),
                BAD_INPUT, "only a bound");
}

// Prices that a pricer cannot count, and work that is not allowed.
static bool too_large(void *context, int from, int to, bool *joined, struct check_pair *prices)
{
    (void)context, (void)from, (void)to, (void)prices;
    return *joined = false;
}

static bool has_ranks(const struct honest *h) { return h->t.places.problem->ranks > 1; }

TEST(test_limits)
{
    struct honest h;
    struct check_result audited;
    find_honest(&h, has_ranks, false, 3, arena);
    const struct check_text file = {"certificate.json", h.made.text, h.made.size};
    CHECK_OK(check_places_certificate(&audited, &file, h.t.sources, PLACE_SOURCES, &h.t.places, 10,
                                      arena, &err));
    assert_false(audited.accepted);
    assert_non_null(strstr(audited.reason, "work limit"));
    h.t.places.pair = too_large;
    must_refuse(&h, h.made.text, BAD_INPUT, "beyond what can be counted");
}

// Problems without places.
TEST(test_kinds)
{
    struct place_trial t;
    struct check_places places;
    uint64_t seed = 3;
    while (!place_trial_open(&t, seed, false, arena)) seed++;
    struct problem p = t.problem;
    p.cluster.places = (struct places){0};
    CHECK_REFUSED(space_places(&places, &p, arena, &err), "expected a cluster with places");
}

// ---- damages

static void damage(char *text, size_t size, struct random *rng)
{
    for (int64_t i = random_between(rng, 1, 3); i > 0; i--) {
        char *at = text + random_between(rng, 0, (int64_t)size - 1);
        while (*at && (*at < '0' || *at > '9')) at++;
        if (*at) *at = (char)random_between(rng, '0', '9');
    }
}

TEST(test_damages)
{
    int accepted = 0, changed = 0;
    for (int problem = 0; problem < 4; problem++) {
        struct arena_mark mark = arena_set_mark(arena);
        struct honest h;
        find_honest(&h, problem % 2 ? has_several : is_any, problem == 2,
                    first_seed + 50 * (uint64_t)problem, arena);
        const char *places = strstr(h.made.text, "\"places\"");
        for (int i = 0; i < damage_count / 4; i++) {
            struct arena_mark inner = arena_set_mark(arena);
            struct random rng = {first_seed + (uint64_t)i};
            struct check_result audited;
            const char *why;
            char *text = arena_copy_text(arena, h.made.text);
            size_t before = (size_t)(places - h.made.text);
            damage(text + before, h.made.size - before, &rng);
            if (place_trial_audit(&audited, &h.t, text, h.made.size, &why) == OK &&
                audited.accepted) {
                accepted++;
                changed += strcmp(text, h.made.text) != 0;
                if (audited.infeasible || audited.bound_ns > h.t.best_ns)
                    fail_msg("damage %d: %lld ns is accepted, a plan takes %lld", i,
                             (long long)audited.bound_ns, (long long)h.t.best_ns);
            }
            arena_reset(arena, inner);
        }
        arena_reset(arena, mark);
    }
    printf("%d damages, %d accepted, %d of them with another text\n", damage_count, accepted,
           changed);
    assert_true(changed > 0 && accepted < damage_count / 2);
}

ARGUMENT(damage_count)
ARGUMENT(first_seed)
