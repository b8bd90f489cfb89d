// Several cases of reaches bounded together. Every assignment of ranks to groups on small clusters,
// enumerated here, keeps to the limits of every set of cases that it is in; no partition of the
// cases into sets claims more than the best placement's time; certificates with sets of cases that
// are forged are refused or true.
//
//   test_together [PROBLEMS] [SEED]
#include "data/base/random.h"
#include "tests/support/check.h"
#include "tests/support/trials/place_trials.h"

enum { DEFAULT_PROBLEMS = 60, PLACES_MOST = 10, CASES_TRIED = 12 };

static int problem_count = DEFAULT_PROBLEMS;
static uint64_t first_seed = 1;

struct sets {
    const struct place_trial *t;
    struct check_cases cases;
    int groups, ranks, d, ways;
    uint64_t state;
    // [first * CASES_TRIED + last][shared + 1]
    struct check_problem problems[CASES_TRIED * CASES_TRIED][MOST_GROUPS + 1];
};

static struct {
    int64_t assignments, held, tight;
    int problems, sets, reached, partitions, forged, refused, true_ones, certificates;
} seen;

static struct check_relaxation set_of(const struct sets *x, int first, int count, int shared)
{
    return (struct check_relaxation){.by = RELAX_BY_REACHES,
                                     .shared = shared,
                                     .ranks = (const int(*)[MOST_GROUPS])x->cases.ranks + first,
                                     .cases = count,
                                     .crossing = count > 1 ? CROSS_ANY : x->cases.crossing[first]};
}

static void relax(const struct sets *x, const struct check_relaxation *how,
                  struct check_problem *to)
{
    struct error err = {OK, ""};
    const struct reader r = {"prices", &err};
    uint64_t work = UINT64_MAX / 2;
    CHECK_OK(check_relax_places(to, &x->t->places, how, &r, &work, x->t->arena));
}

static bool open_sets(struct sets *x, const struct place_trial *t, uint64_t seed)
{
    struct error err = {OK, ""};
    const struct reader r = {"prices", &err};
    uint64_t work = UINT64_MAX / 2;
    x->t = t;
    x->groups = t->places.problem->group_count;
    x->ranks = t->places.problem->ranks, x->d = t->places.replicas;
    x->ways = t->places.together ? 0 : x->groups;
    x->state = seed * 7919 + 5;
    if (check_list_cases(&x->cases, &t->places, &r, &work) != OK) return false;
    return x->cases.count > 1 && x->cases.count <= CASES_TRIED;
}

// ---- every assignment is within the limits of every set

static int case_of(const struct sets *x, const int *group_of)
{
    int counts[MOST_GROUPS] = {0};
    bool cross = false;
    for (int rank = 0; rank < x->ranks; rank++) {
        unsigned reach = 0;
        for (int j = 0; j < x->d; j++) reach |= 1u << group_of[rank * x->d + j];
        for (int i = 0; i < x->cases.reach_count; i++) counts[i] += x->cases.reaches[i] == reach;
        for (int j = 0; j < x->d; j++) cross = cross || group_of[rank * x->d + j] != group_of[j];
    }
    for (int i = 0; i < x->cases.count; i++) {
        bool same = true;
        for (int k = 0; k < x->cases.reach_count; k++)
            same = same && x->cases.ranks[i][k] == counts[k];
        if (same &&
            (x->cases.crossing[i] == CROSS_ANY || (x->cases.crossing[i] == CROSS_SOME) == cross))
            return i;
    }
    return -1;
}

// A target is a reach and a group of it, in the order of the reaches.
static int target_of(const struct sets *x, unsigned reach, int group)
{
    int target = 0;
    for (int i = 0; i < x->cases.reach_count; i++)
        for (int g = 0; g < x->groups; g++) {
            if (!(x->cases.reaches[i] >> g & 1)) continue;
            if (x->cases.reaches[i] == reach && g == group) return target;
            target++;
        }
    return -1;
}

static void hold(const struct sets *x, const struct check_problem *p, const int *group_of, int j,
                 bool several)
{
    int used[MOST_GROUPS] = {0};
    for (int rank = 0; rank < x->ranks; rank++) {
        unsigned reach = 0;
        for (int k = 0; k < x->d; k++) reach |= 1u << group_of[rank * x->d + k];
        used[target_of(x, reach, group_of[rank * x->d + j])]++;
    }
    for (int r = 0; r < p->group_count; r++) {
        int sum = 0;
        for (int t = 0; t < p->group_count; t++)
            sum += used[t] * (p->groups[r].takes ? p->groups[r].takes[t] : r == t);
        if (sum > p->groups[r].slots)
            fail_msg("problem %llu: %d ranks where a set of cases allows %d", x->t->seed, sum,
                     p->groups[r].slots);
        seen.tight += several && p->groups[r].takes && sum == p->groups[r].slots;
    }
    seen.held++;
}

static void try_assignment(const struct sets *x, const int *group_of)
{
    int at = case_of(x, group_of), own[MOST_GROUPS] = {0};
    seen.assignments++;
    if (at < 0) fail_msg("problem %llu: an assignment is in no case", x->t->seed);
    for (int shared = -1; shared < x->ways; shared++)
        for (int j = 0; j < x->d; j++) {
            bool fewest = true;
            for (int k = 0; k < x->d && shared >= 0; k++) {
                own[0] = own[1] = 0;
                for (int rank = 0; rank < x->ranks; rank++) {
                    own[0] += group_of[rank * x->d + j] == shared;
                    own[1] += group_of[rank * x->d + k] == shared;
                }
                fewest = fewest && own[0] <= own[1];
            }
            for (int first = 0; first <= at && fewest; first++)
                for (int last = at > first ? at : first + 1; last < x->cases.count; last++)
                    hold(x, &x->problems[first * CASES_TRIED + last][shared + 1], group_of, j,
                         shared >= 0);
        }
}

static void assign(const struct sets *x, int *group_of, int *left, int place)
{
    if (place == x->ranks * x->d) {
        try_assignment(x, group_of);
        return;
    }
    for (int g = 0; g < x->groups; g++) {
        bool may = left[g] > 0;
        for (int k = place - place % x->d; k < place; k++)
            may = may && (group_of[k] == g || x->t->places.may_ring[group_of[k] * x->groups + g]);
        if (!may) continue;
        left[g]--;
        group_of[place] = g;
        assign(x, group_of, left, place + 1);
        left[g]++;
    }
}

static void try_assignments(struct sets *x)
{
    int group_of[PLACES_MOST], left[MOST_GROUPS] = {0};
    if (x->ranks * x->d > PLACES_MOST || x->groups > 3) return;
    for (int i = 0; i < x->t->places.node_count; i++) {
        const struct check_node *node = &x->t->places.nodes[i];
        if (!x->t->places.problem->groups[node->group].excluded) left[node->group] += node->slots;
    }
    for (int first = 0; first < x->cases.count; first++)
        for (int last = first + 1; last < x->cases.count; last++)
            for (int shared = -1; shared < x->ways; shared++) {
                const struct check_relaxation how = set_of(x, first, last - first + 1, shared);
                relax(x, &how, &x->problems[first * CASES_TRIED + last][shared + 1]);
                seen.sets++;
            }
    assign(x, group_of, left, 0);
}

// ---- what sets claim

static int64_t claim_of(const struct sets *x, int first, int count)
{
    int64_t most_ns = 0;
    for (int shared = -1; shared < x->ways; shared++) {
        const struct check_relaxation how = set_of(x, first, count, shared);
        struct check_problem p;
        struct priced priced;
        struct solve_result result;
        relax(x, &how, &p);
        certificate_places_priced(&priced, &x->t->priced, &p, x->t->arena);
        place_trial_solve(&result, x->t, &priced, 0);
        int64_t own_ns = result.plan.outcome == OUTCOME_INFEASIBLE ? INT64_MAX
                                                                   : result.plan.bound_ns;
        if (own_ns > most_ns) most_ns = own_ns;
    }
    return most_ns;
}

static void try_partition(struct sets *x)
{
    struct random rng = {x->state};
    int64_t claim_ns = INT64_MAX;
    for (int first = 0; first < x->cases.count;) {
        int count = (int)random_between(&rng, 1, x->cases.count - first);
        int64_t own_ns = claim_of(x, first, count);
        if (own_ns < claim_ns) claim_ns = own_ns;
        first += count;
    }
    x->state = rng.state;
    if (claim_ns > x->t->best_ns)
        fail_msg("problem %llu: %lld ns can be claimed, a plan takes %lld", x->t->seed,
                 (long long)claim_ns, (long long)x->t->best_ns);
    seen.partitions++;
    seen.reached += claim_ns == x->t->best_ns && claim_ns < INT64_MAX;
}

// ---- forgeries

// Refused, or no more than the best plan's time.
static void forge(const struct place_trial *t, const char *text)
{
    struct check_result audited;
    const char *why;
    enum status status = place_trial_audit(&audited, t, text, strlen(text), &why);
    bool accepted = status == OK && audited.accepted;
    seen.forged++;
    seen.refused += !accepted;
    seen.true_ones += accepted;
    if (accepted && (audited.infeasible ? t->best_ns < INT64_MAX : audited.bound_ns > t->best_ns))
        fail_msg("problem %llu: a forged certificate claims %lld, a plan takes %lld", t->seed,
                 (long long)audited.bound_ns, (long long)t->best_ns);
}

static void must_refuse(const struct place_trial *t, const char *text, const char *what)
{
    int refused = seen.refused;
    forge(t, text);
    if (seen.refused == refused) fail_msg("problem %llu: %s is accepted", t->seed, what);
}

static void forge_all(const struct place_trial *t, const struct certificate_places_result *made,
                      int case_count)
{
    const char *key = "\"cases\": ", *at = strstr(made->text, key);
    for (; at; at = strstr(at + 1, key)) {
        const char *digits = at + strlen(key), *end = digits;
        while (*end >= '0' && *end <= '9') end++;
        int before = (int)(digits - made->text), own = atoi(digits);
        for (int count = 0; count <= case_count + 1; count++) {
            const char *text = arena_print(t->arena, "%.*s%d%s", before, made->text, count, end);
            if (count == own) continue;
            forge(t, text);
            if (count < 2 || count > case_count) must_refuse(t, text, "a number out of range");
            for (int bound = 1; bound <= 2; bound++)
                must_refuse(t, place_trial_with_bounds(t, text, t->best_ns * bound + 1),
                            "a raised bound");
        }
        must_refuse(t,
                    arena_print(t->arena, "%.*s%s", (int)(at - made->text), made->text,
                                end + strspn(end, ", \n")),
                    "a part of one case for several");
    }
    must_refuse(t, place_trial_with_bounds(t, made->text, t->best_ns + 1), "a raised bound");
}

static void try_certificate(const struct sets *x)
{
    const struct place_trial *t = x->t;
    struct certificate_places_result made;
    struct solve_result solved;
    if (t->best_ns == INT64_MAX || t->best_ns > INT64_MAX / 16) return;
    place_trial_solve(&solved, t, &t->priced, 0.02);
    place_trial_write(&made, t, &solved);
    if (!made.text || made.bound_ns < 1 || !strstr(made.text, "\"cases\": ")) return;
    seen.certificates++;
    forge_all(t, &made, x->cases.count);
}

static void try_problem(uint64_t seed, int asked)
{
    struct arena_mark mark = arena_set_mark(&own_arena);
    struct place_trial *t = TAKE(&own_arena, 1, struct place_trial);
    struct sets *x = TAKE(&own_arena, 1, struct sets);
    if (place_trial_open(t, seed, asked, &own_arena) && t->best_ns >= 0 && open_sets(x, t, seed)) {
        seen.problems++;
        try_assignments(x);
        for (int i = 0; i < 3; i++) try_partition(x);
        try_certificate(x);
    }
    arena_reset(&own_arena, mark);
}

TEST(test_sets)
{
    for (int i = 0; i < problem_count; i++)
        try_problem(first_seed + (uint64_t)i, i % 2 ? PLACED_CROSSING : 0);
    printf("%d problems with several cases, %d sets; %lld assignments, %lld times within a set's "
           "limits, %lld at one of them; %d partitions, %d claim the best plan's time\n",
           seen.problems, seen.sets, (long long)seen.assignments, (long long)seen.held,
           (long long)seen.tight, seen.partitions, seen.reached);
    assert_true(seen.problems * 4 > problem_count && seen.sets > problem_count &&
                seen.tight > problem_count && seen.reached > 0);
}

// Problems whose certificates have sets of cases.
TEST(test_forged)
{
    static const uint64_t seeds[] = {258, 518};
    for (size_t i = 0; i < ARRAY_LENGTH(seeds); i++) try_problem(seeds[i], PLACED_CROSSING);
    printf("%d certificates with sets; %d forged: %d refused, %d true\n", seen.certificates,
           seen.forged, seen.refused, seen.true_ones);
    assert_true(seen.certificates >= (int)ARRAY_LENGTH(seeds));
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
