// Certificates of stages with widths of their own on named nodes, from random documents: no part of
// the checker's takes longer than a plan in it, and its ways lead to a best one; proofs are
// accepted for the best plan's time by enumeration, and forged ones refused.
//
//   test_named_certificates [PROBLEMS] [SEED]      make test runs 150
#include "solve/certificate/certificate.h"
#include "solve/checker/places/internal.h"
#include "solve/checker/places/named.h"
#include "solve/checker/prices/prices.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"
#include "tests/support/trials/named_trials.h"

static int problem_count = 150;
static uint64_t first_seed = 1;
static struct {
    int certified, without, branched, refused, parts, covered;
} seen;

struct trial {
    const struct problem *p;
    const struct priced *priced;
    struct check_places places;
    struct check_named_tree *tree;
    struct check_named_part part;
    struct reader reader;
    uint64_t work;
    int64_t best_ns; // INT64_MAX: there is no plan
    int i;
};

static void expect_most(const struct trial *t, const char *what, int64_t part, int64_t own,
                        bool exact)
{
    bool none = own == PRICE_NONE;
    if (none ? exact && part >= 0 : part > own || part < 0 || (exact && part != own))
        fail_msg("problem %d: %s: %lld in a part of %d stages, a plan there has %lld", t->i, what,
                 (long long)part, t->part.stands, (long long)own);
}

// Against the tables of the plans of these stages, which continue the part.
static void compare_part(struct trial *t, const struct standing *at, const struct priced *plans)
{
    static const int part_of[PART_COUNT] = {[PART_BLOCKING] = PART_BLOCKS,
                                            [PART_LINK] = PART_LINKS,
                                            [PART_DELAY] = PART_DELAYS,
                                            [PART_OVERHEAD] = PART_WORKS};
    int n = t->p->job.layout.pipeline, stood = t->part.stands, group[NAMED_STAGES + 1];
    struct check_problem q;
    MUST(check_named_part_problem(&q, t->tree, &t->part, &t->reader, &t->work, &own_arena));
    for (int s = 0; s < n; s++) group[s] = s < stood ? s : stood + at[s].seat;
    for (int s = 0; s < n; s++) {
        if (plans->groups[s].sync_constant_ns[0] == PRICE_NONE) continue;
        expect_most(t, "a sync's constant", q.groups[group[s]].sync_constant[0],
                    plans->groups[s].sync_constant_ns[0], stood == n);
        for (int r = 0; r < q.run_count; r++) {
            expect_most(t, "a sync", q.runs[r].sync[0][group[s]], plans->runs[r].sync_ns[0][s],
                        stood == n);
            expect_most(t, "a pass", q.runs[r].forward[group[s]], plans->runs[r].forward_ns[s], 1);
            expect_most(t, "bytes", q.runs[r].seats[group[s]].weight_bytes,
                        plans->runs[r].seats[s].weight_bytes, true);
        }
    }
    for (int c = 0; c < q.cut_count; c++)
        for (int s = 0; s + 1 < n; s++)
            for (int k = 0; k < PART_COUNT; k++) {
                int pair = (group[s] * q.group_count + group[s + 1]) * PARTS + part_of[k],
                    own = (s * n + s + 1) * PART_COUNT + k;
                expect_most(t, "a message", q.cuts[c].forward[pair], plans->cuts[c].forward_ns[own],
                            s + 1 < stood);
                expect_most(t, "a message back", q.cuts[c].backward[0][pair],
                            plans->cuts[c].backward_ns[0][own], s + 1 < stood);
            }
    seen.parts++;
}

static void follow(struct trial *t, const struct standing *at)
{
    struct priced plans;
    if (!named_stand(&plans, t->priced, at, &own_arena)) return;
    for (int k = 0; k <= t->priced->stage_count; k++) {
        struct arena_mark mark = arena_set_mark(&own_arena);
        t->part.stands = k;
        for (int s = 0; s < k; s++) {
            t->part.at[s].seat = at[s].seat;
            for (int i = 0; i < NAMED_DATA_MAX; i++) t->part.at[s].node[i] = at[s].node[i];
        }
        compare_part(t, at, &plans);
        arena_reset(&own_arena, mark);
    }
}

// The best of the placements that the checker's ways lead to.
static void walk_ways(struct trial *t, struct named_all *x)
{
    struct arena_mark mark = arena_set_mark(&own_arena);
    struct check_stand *ways;
    int count;
    if (t->part.stands == t->priced->stage_count) {
        named_answer(x);
        return;
    }
    MUST(check_named_ways(&ways, &count, t->tree, &t->part, &t->reader, &t->work, &own_arena));
    for (int i = 0; i < count; i++) {
        struct standing *at = &x->at[t->part.stands];
        at->seat = ways[i].seat;
        for (int k = 0; k < NAMED_DATA_MAX; k++) at->node[k] = ways[i].node[k];
        t->part.at[t->part.stands++] = ways[i];
        walk_ways(t, x);
        t->part.stands--;
    }
    arena_reset(&own_arena, mark);
}

static void expect_covered(struct trial *t)
{
    struct named_all x = {.p = t->priced, .best_ns = INT64_MAX, .arena = &own_arena};
    t->part.stands = 0;
    walk_ways(t, &x);
    seen.covered++;
    if (x.best_ns != t->best_ns)
        fail_msg("problem %d: the best of %d ways takes %lld ns, of all placements %lld", t->i,
                 x.placements, (long long)x.best_ns, (long long)t->best_ns);
}

static bool is_proven(struct trial *t, const char *text, size_t size)
{
    struct check_result result = {.iteration_ns = -1, .bound_ns = -1};
    struct error why = {OK, ""};
    const struct reader r = {"certificate", &why};
    uint64_t work = CHECK_WORK_DEFAULT;
    cJSON *root;
    bool accepted = check_parse(&r, text, size, &root, &own_arena) == OK &&
                    check_audit_places(&result, &r, value_get(root, "places"), &t->places, &work,
                                       &own_arena) == OK;
    if (accepted && (result.infeasible ? t->best_ns < INT64_MAX : result.bound_ns > t->best_ns))
        fail_msg("problem %d: %lld ns is accepted, a plan takes %lld", t->i,
                 (long long)result.bound_ns, (long long)t->best_ns);
    return accepted;
}

// Each number of the text that is `from`, as `to`.
static const char *with_numbers(const char *text, int64_t from, int64_t to)
{
    const char *own = arena_print(&own_arena, ": %lld", (long long)from), *all = "", *at;
    while ((at = strstr(text, own)) != NULL) {
        const char *end = at + strlen(own);
        bool whole = *end < '0' || *end > '9';
        all = arena_print(&own_arena, "%s%.*s: %lld", all, (int)(at - text), text,
                          (long long)(whole ? to : from));
        text = end;
    }
    return arena_print(&own_arena, "%s%s", all, text);
}

static void expect_refused(struct trial *t, const char *what, const char *text)
{
    if (is_proven(t, text, strlen(text))) fail_msg("problem %d: %s is accepted", t->i, what);
    seen.refused++;
}

// The certificate with part `part` as other text, or without it.
static void forge_parts(struct trial *t, const char *text)
{
    const char *first = strchr(strstr(text, "\"parts\""), '[') + 1, *begin = NULL;
    int depth = 0;
    for (const char *at = first; depth || *at != ']'; at++) {
        if (*at == '{' && !depth++) begin = at;
        if (*at != '}' || --depth) continue;
        struct arena_mark mark = arena_set_mark(&own_arena);
        int before = (int)(begin - text), size = (int)(at + 1 - begin);
        const char *behind = at + 1 + (at[1] == ','), *branch = "{\"branch\": true}";
        const char *twice =
            arena_print(&own_arena, "%.*s%.*s, %s", before, text, size, begin, begin);
        seen.refused += !is_proven(t, twice, strlen(twice));
        if (at[1] == ',' && size > 20)
            expect_refused(t, "a part less",
                           arena_print(&own_arena, "%.*s%s", before, text, behind));
        // With one way alone, or where nothing can stand, these may cover everything, too.
        const char *empty = arena_print(&own_arena, "%.*s%s%s", before, text, branch, at + 1);
        seen.refused += !is_proven(t, empty, strlen(empty));
        arena_reset(&own_arena, mark);
    }
}

static void certify(struct trial *t, const struct solve_result *solved,
                    const struct solve_settings *settings)
{
    const struct certificate_places_request request = {
        .problem = t->p, .priced = t->priced, .solved = solved, .settings = settings};
    struct certificate_places_result made;
    bool none = t->best_ns == INT64_MAX;
    MUST(certificate_places_make(&made, &request, &own_arena, &own_err));
    if (!made.text || (none ? made.bound_ns >= 0 : made.bound_ns != t->best_ns))
        fail_msg("problem %d: nothing certifies %lld ns", t->i, (long long)t->best_ns);
    if (!is_proven(t, made.text, made.size))
        fail_msg("problem %d: its certificate is refused", t->i);
    seen.certified++, seen.branched += strstr(made.text, "branch") != NULL;
    forge_parts(t, made.text);
    expect_refused(t, "another way", "{\"places\": {\"by\": \"nodes\"}}");
    if (!none)
        expect_refused(t, "a bound above the best plan's time",
                       with_numbers(made.text, t->best_ns, t->best_ns + 1));
}

static void certify_one(struct trial *t, const struct solve_result *solved,
                        const struct solve_settings *settings, const struct standing *drawn)
{
    t->reader = (struct reader){"prices", &own_err}, t->work = UINT64_MAX / 2;
    MUST(space_places(&t->places, t->p, &own_arena, &own_err));
    MUST(check_open_named(&t->tree, &t->places, &t->reader, &t->work, &own_arena));
    if (drawn) follow(t, drawn);
    if (t->i % 3 == 0) expect_covered(t);
    certify(t, solved, settings);
}

static void certify_drawn(const struct problem *p, const struct priced *priced, struct random *rng,
                          int i)
{
    struct solve_settings settings;
    struct solve_result r = {0};
    struct named_all x = {
        .p = priced, .best_ns = INT64_MAX, .counts = true, .rng = rng, .arena = &own_arena};
    solve_defaults(&settings);
    settings.progress = 0, settings.threads = 0;
    named_walk(&x);
    if (!named_is_small(&x)) return;
    bool any = x.placements > 0;
    x.counts = false, x.placements = 0;
    named_walk(&x);
    MUST(named_solve(&r, priced, &settings, NULL, &own_arena, &own_err));
    struct trial t = {.p = p, .priced = priced, .best_ns = x.best_ns, .i = i};
    certify_one(&t, &r, &settings, any ? x.drawn : NULL);
    seen.without += x.best_ns == INT64_MAX;
}

TEST(test_certificates)
{
    struct random rng = {first_seed};
    for (int i = 0; i < problem_count; i++) {
        struct problem p;
        struct priced priced;
        struct arena_mark mark = arena_set_mark(&own_arena);
        struct random own;
        bool drawn = named_draw(&p, &priced, &rng, &own_arena);
        own = (struct random){rng.state};
        if (drawn) certify_drawn(&p, &priced, &own, i);
        arena_reset(&own_arena, mark);
    }
    print_message("%d problems certified (%d without a plan, %d in parts), %d forged certificates "
                  "refused, %d parts held against plans in them, the ways of %d against all\n",
                  seen.certified, seen.without, seen.branched, seen.refused, seen.parts,
                  seen.covered);
    assert_true(seen.certified > problem_count / 8 && seen.branched && seen.parts && seen.covered &&
                seen.refused > seen.certified);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
