// Certificates of Pipette's objective: random problems, with all rows of nodes enumerated at the
// planner's prices. The certificate is accepted and proves the least value; one nanosecond more, or
// that there are no rows where there are, is refused; so are forgeries, with their reasons.
//
//   test_check_rows [PROBLEMS] [SEED]      make test runs 300
#include "data/base/file.h"
#include "solve/certificate/certificate.h"
#include "solve/checker/prices/prices.h"
#include "tests/support/pipette.h"
#include "tests/support/check.h"

enum { SOURCES = 5 };

static int problem_count = 300;
static uint64_t first_seed = 1;
static struct {
    int rows, none, refused, several, shared, spare, partly, ruled;
} seen;

struct trial {
    struct pipette_trial of;
    struct check_places places;
    struct check_input inputs[SOURCES];
    struct source sources[SOURCES];
    int64_t best_ns; // INT64_MAX: no rows
    struct arena *arena;
};

// ---- all rows, at the planner's prices

static int64_t value_of(const struct pipette_trial *t, const int *order)
{
    const struct priced_pipette *x = t->priced.places->pipette;
    int n = t->priced.places->node_count, p = t->priced.rank_count;
    int64_t most = 0, ring = 0, inner = 0;
    for (int row = 0; row < t->rows; row++) {
        int64_t hops = 0;
        int first = order[row * p], next = order[(row + 1) % t->rows * p];
        for (int at = row * p; at + 1 < (row + 1) * p; at++) {
            int64_t hop = x->hop_ns[order[at] * n + order[at + 1]];
            if (hop == PRICE_NONE) return INT64_MAX;
            hops += hop;
        }
        if (t->rows > 1 && x->ring_ns[first * n + next] == PRICE_NONE) return INT64_MAX;
        if (t->rows > 1 && x->ring_ns[first * n + next] > ring) ring = x->ring_ns[first * n + next];
        if (x->inner_ns[first] > inner) inner = x->inner_ns[first];
        if (hops > most) most = hops;
    }
    return most + ring + inner;
}

static int64_t least_of_all(const struct pipette_trial *t, int *order, bool *used, int at)
{
    int p = t->priced.rank_count;
    if (at == t->rows * p) return value_of(t, order);
    int64_t least = INT64_MAX;
    for (int node = 0; node < t->priced.places->node_count; node++) {
        if (used[node] || !(at % p ? t->usable : t->first)[node]) continue;
        used[node] = true;
        order[at] = node;
        int64_t value = least_of_all(t, order, used, at + 1);
        if (value < least) least = value;
        used[node] = false;
    }
    return least;
}

// ---- certificates

static void open_trial(struct trial *t, const struct costs *costs, uint64_t seed,
                       struct arena *arena)
{
    static const char *const roles[SOURCES] = {"problem", "model", "cluster", "costs", "job"};
    struct random rng = {seed};
    int order[PIPETTE_NODES_MAX];
    bool used[PIPETTE_NODES_MAX] = {false};
    *t = (struct trial){.arena = arena};
    pipette_trial_make(&t->of, costs, &rng, arena);
    for (int i = 0; i < SOURCES; i++) {
        const char *text =
            arena_print(arena, "%s of trial %llu", roles[i], (unsigned long long)seed);
        t->inputs[i] = (struct check_input){roles[i], {roles[i], text, strlen(text)}};
        t->sources[i] = (struct source){.role = roles[i], .path = roles[i]};
        sha256_text(text, strlen(text), t->sources[i].sha256);
    }
    MUST(space_places(&t->places, &t->of.problem, arena, &own_err));
    t->best_ns = least_of_all(&t->of, order, used, 0);
}

// Accepted; why not, else.
static bool accepts(const struct trial *t, const struct check_places *places, const char *text,
                    struct check_result *result, const char **why)
{
    struct error err = {OK, ""};
    struct check_text certificate = {"certificate.json", text, strlen(text)};
    enum status status = check_places_certificate(result, &certificate, t->inputs, SOURCES, places,
                                                  CHECK_WORK_DEFAULT, t->arena, &err);
    *why = status == OK ? arena_copy_text(t->arena, result->reason)
                        : arena_copy_text(t->arena, err.text);
    return status == OK && result->accepted;
}

// The file with another claim.
static const char *claiming(const struct trial *t, const char *claim)
{
    const char *from = "";
    for (int i = 0; i < SOURCES; i++)
        from = arena_print(t->arena, "%s%s{\"role\": \"%s\", \"path\": \"x\", \"sha256\": \"%s\"}",
                           from, i ? ", " : "", t->sources[i].role, t->sources[i].sha256);
    return arena_print(t->arena,
                       "{\"kind\": \"plumbline.certificate\", \"version\": 1, \"made_from\": [%s], "
                       "\"places\": {%s}}",
                       from, claim);
}

static const char *about_rows(const struct trial *t, int64_t bound_ns)
{
    return claiming(
        t, arena_print(t->arena, "\"by\": \"rows\", \"objective\": \"pipette\", \"bound_ns\": %lld",
                       (long long)bound_ns));
}
static const char no_rows[] = "\"by\": \"rows\", \"objective\": \"pipette\", \"infeasible\": true";

static void must_refuse(const struct trial *t, const struct check_places *places, const char *text,
                        const char *reason)
{
    struct check_result result;
    const char *why;
    if (accepts(t, places, text, &result, &why)) fail_msg("accepted: %s", text);
    if (!strstr(why, reason)) fail_msg("expected \"%s\", found \"%s\"", reason, why);
    seen.refused++;
}

static void try_certificate(const struct trial *t, uint64_t seed)
{
    struct solve_settings settings;
    struct solve_result solved = pipette_solved(&t->of.priced, t->arena);
    struct certificate_places_result made;
    struct check_result result;
    const char *why;
    bool none = t->best_ns == INT64_MAX;
    solve_defaults(&settings);
    const struct certificate_places_request request = {.problem = &t->of.problem,
                                                       .priced = &t->of.priced,
                                                       .solved = &solved,
                                                       .settings = &settings,
                                                       .sources = t->sources,
                                                       .source_count = SOURCES};
    MUST(certificate_places_make(&made, &request, t->arena, &own_err));
    if (!made.text || !accepts(t, &t->places, made.text, &result, &why))
        fail_msg("seed %llu: %s", (unsigned long long)seed, made.text ? why : "no certificate");
    assert_int_equal(result.infeasible, none);
    assert_int_equal(result.objective, MINIMISE_PIPETTE);
    if (!none && result.bound_ns != t->best_ns)
        fail_msg("seed %llu: proves %lld ns, the least of all is %lld", (unsigned long long)seed,
                 (long long)result.bound_ns, (long long)t->best_ns);
    if (none) {
        assert_true(accepts(t, &t->places, about_rows(t, 1 << 20), &result, &why));
        return;
    }
    must_refuse(t, &t->places, about_rows(t, t->best_ns + 1), "a value below bound_ns");
    must_refuse(t, &t->places, claiming(t, no_rows), "there are rows of nodes");
    assert_true(accepts(t, &t->places, about_rows(t, t->best_ns / 2), &result, &why));
}

// ---- forgeries: of the claim, and of what it is about

static void try_forgeries(const struct trial *t)
{
    struct check_places other = t->places;
    struct check_rows rows = *t->places.rows;
    int nodes = t->places.node_count, pairs = nodes * nodes;
    if (t->best_ns == INT64_MAX || !t->best_ns) return;
    must_refuse(t, &t->places,
                claiming(t, "\"by\": \"rows\", \"objective\": \"max_load\", \"bound_ns\": 1"),
                "the job minimises pipette");
    must_refuse(t, &t->places, claiming(t, "\"by\": \"rows\", \"bound_ns\": 1"), "objective");
    must_refuse(t, &t->places, claiming(t, "\"by\": \"rows\", \"objective\": \"pipette\""),
                "either infeasible or bound_ns");
    must_refuse(t, &t->places,
                claiming(t, "\"by\": \"nodes\", \"proof\": {\"bound_ns\": 0, \"paths\": [], "
                            "\"boxes\": [{\"rounds\": [], \"closed\": true}]}"),
                "the job minimises pipette");
    other.rows = NULL;
    must_refuse(t, &other, about_rows(t, 1), "the job minimises iteration_time");
    // Every link a nanosecond faster: the claim is then too high.
    other.rows = &rows;
    rows.hop_ns = TAKE(t->arena, pairs, int64_t), rows.ring_ns = TAKE(t->arena, pairs, int64_t);
    rows.inner_ns = TAKE(t->arena, nodes, int64_t);
    for (int i = 0; i < pairs; i++) {
        rows.hop_ns[i] = t->places.rows->hop_ns[i] - (t->places.rows->hop_ns[i] > 0);
        rows.ring_ns[i] = t->places.rows->ring_ns[i] - (t->places.rows->ring_ns[i] > 0);
        if (i < nodes)
            rows.inner_ns[i] = t->places.rows->inner_ns[i] - (t->places.rows->inner_ns[i] > 0);
    }
    must_refuse(t, &other, about_rows(t, t->best_ns), "a value below bound_ns");
    struct trial renamed = *t;
    renamed.inputs[2].text.text = "another cluster", renamed.inputs[2].text.size = 15;
    must_refuse(&renamed, &t->places, about_rows(t, t->best_ns), "SHA-256");
}

TEST(certificates_prove_the_least_of_all_rows)
{
    struct costs costs;
    pipette_load_costs(&costs, arena);
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct arena_mark mark = arena_set_mark(arena);
        struct trial t;
        open_trial(&t, &costs, seed, arena);
        try_certificate(&t, seed);
        try_forgeries(&t);
        bool none = t.best_ns == INT64_MAX;
        int used = t.of.rows * t.of.priced.rank_count;
        seen.rows += !none, seen.none += none;
        seen.several += !none && t.of.rows > 1 && t.of.priced.rank_count > 1;
        seen.shared += !none && t.of.each > 1;
        seen.spare += !none && used < t.places.node_count;
        seen.ruled += !none && t.of.problem.job.rule_count;
        for (int i = 0; i < t.places.node_count && !none; i++)
            if (!t.of.usable[i]) {
                seen.partly++;
                break;
            }
        arena_reset(arena, mark);
    }
    print_message("%d with rows, %d without; %d of several rows of several nodes, %d with several "
                  "replicas a node, %d with nodes to spare, %d with nodes without room, %d ruled; "
                  "%d refused\n",
                  seen.rows, seen.none, seen.several, seen.shared, seen.spare, seen.partly,
                  seen.ruled, seen.refused);
    assert_true(seen.rows > problem_count / 3 && seen.none > problem_count / 30 &&
                seen.several > problem_count / 20 && seen.shared > problem_count / 10 &&
                seen.spare > problem_count / 10 && seen.partly > problem_count / 60 &&
                seen.ruled > problem_count / 60);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
