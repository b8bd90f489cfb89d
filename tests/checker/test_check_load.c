// Certificates of the greatest load (objective max_load): what the checker counts is what the
// schedule's own streams hold; what is accepted is what enumeration finds, and a nanosecond more is
// refused however the boxes are made; forgeries are refused with their reasons.
//
//   test_check_load [PROBLEMS] [SEED]      make test runs 300
#include "solve/checker/proof.h"
#include "tests/support/forge.h"
#include "tests/support/oracle/oracle.h"
#include "tests/support/trials/certified.h"
#include "tests/support/trials/check_trials.h"
#include "tests/support/check.h"

enum { PLANS_MOST = 20000 };

static int problem_count = 300;
static uint64_t first_seed = 1;

// ---- what occupies a rank or a link

// Of one micro-batch, from the streams of a whole iteration.
static void compare_stream(const struct check_problem *p, const struct check_loads *loads,
                           const struct schedule *s, const struct stream *stream,
                           struct arena *arena)
{
    int symbols = check_symbol_count(p), *own = TAKE(arena, symbols, int),
        *counted = TAKE(arena, symbols, int);
    for (int k = 0; k < stream->count; k++) {
        const struct operation *o = &s->operations[stream->operations[k]];
        int kind = symbol_base_kind(o->symbol / p->stages);
        if (o->micro_batch < 0) continue; // once an iteration
        if (kind >= SYMBOL_SEND_EPILOGUE && kind < SYMBOL_EMBEDDING_SYNC)
            kind += SYMBOL_SEND_BACKWARD - SYMBOL_SEND_EPILOGUE;
        own[check_symbol(p, kind, o->symbol % p->stages, symbol_slice(o->symbol / p->stages))]++;
    }
    const struct check_load of = {stream->rank,
                                  stream->kind == STREAM_LINK ? stream->to_rank : stream->rank};
    assert_true(check_count_load(loads, of, symbols, counted));
    for (int i = 0; i < symbols; i++) {
        if (own[i] == p->micro_batches * counted[i]) continue;
        // A part that no message has is no operation of the schedule, and takes 0 in every plan.
        assert_int_equal(own[i], 0);
    }
}

static int compare_loads(const struct check_trial *t, struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_problem p;
    struct check_loads loads;
    int compared = 0;
    if (check_read_problem(&p, &t->text, arena, &err)) fail_msg("%s", err.text);
    check_list_loads(&loads, &p, arena);
    for (int i = 0; i < t->schedule.stream_count; i++) {
        if (t->schedule.streams[i].kind == STREAM_SYNC) continue;
        compare_stream(&p, &loads, &t->schedule, &t->schedule.streams[i], arena);
        compared++;
    }
    return compared;
}

// ---- the best of all plans

static struct {
    int64_t proven, infeasible, refused, gaps, links, ranks, split, streams;
} seen;

static bool open_trial(struct check_trial *t, uint64_t seed, struct arena *arena)
{
    struct error err = {OK, ""};
    struct oracle all;
    if (!check_trial_draw_for(t, OBJECTIVE_MAX_LOAD, seed, arena)) return false;
    if (oracle_size(&t->priced, PLANS_MOST, arena) > PLANS_MOST) return false;
    if (oracle_answer(&all, &t->priced, &t->schedule, arena, &err)) fail_msg("%s", err.text);
    t->best_ns = all.plans ? all.best_ns : INT64_MAX;
    t->best = all.best;
    return true;
}

static struct certified solve_and_certify(const struct check_trial *t, double gap, bool shrink,
                                          struct arena *arena)
{
    static const volatile int never = 0;
    struct error err = {OK, ""};
    struct solve_settings settings;
    struct solve_result solved;
    struct certified c;
    solve_defaults(&settings);
    settings.progress = 0;
    settings.evidence = true;
    settings.gap = gap;
    settings.eliminate = t->seed % 5 != 0; // else there are no records, and all is made anew
    settings.start_search = t->seed % 3 != 0;
    if (solve_run(&solved, &t->priced, &settings, NULL, &never, arena, &err) ||
        !certify_solved(&c, &t->priced, &t->text, &solved, shrink, arena, &err))
        fail_msg("seed %llu: %s", (unsigned long long)t->seed, err.text);
    if (!c.made.text || !c.audited.accepted)
        fail_msg("seed %llu: %s", (unsigned long long)t->seed,
                 c.made.text ? c.audited.reason : "no certificate");
    assert_int_equal(c.audited.objective, MINIMISE_LOAD);
    if (solved.plan.stage_count) {
        assert_int_equal(c.audited.iteration_ns, solved.plan.objective_ns);
        assert_int_equal(c.audited.bound_ns, solved.plan.bound_ns);
    }
    return c;
}

static void expect(const struct check_trial *t, const struct check_text *certificate, bool accepted,
                   struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_result r;
    if (check_certificate(&r, certificate, &t->text, CHECK_WORK_DEFAULT, arena, &err))
        fail_msg("seed %llu: %s", (unsigned long long)t->seed, err.text);
    if (r.accepted != accepted)
        fail_msg("seed %llu: %s: %s", (unsigned long long)t->seed,
                 accepted ? "not accepted" : "accepted", r.reason);
}

// Proofs of the tests' own making, of what is true and of what is not.
static void try_claims(struct check_trial *t, struct arena *arena)
{
    if (!check_trial_certify(t, arena)) return;
    expect(t, &t->certificate, true, arena);
    for (int i = 0; i < 2 && t->best_ns != INT64_MAX; i++) {
        struct check_text text = check_trial_claim(t, i == 1, -1, t->best_ns + 1, arena);
        if (!text.text) continue;
        expect(t, &text, false, arena);
        seen.refused++;
    }
}

static void check_one(struct check_trial *t, struct arena *arena)
{
    struct certified c = solve_and_certify(t, 0, t->seed % 2 == 0, arena);
    bool feasible = t->best_ns != INT64_MAX;
    assert_int_equal(c.audited.infeasible, !feasible);
    if (feasible) {
        assert_int_equal(c.audited.bound_ns, t->best_ns);
        assert_int_equal(c.audited.iteration_ns, t->best_ns);
        struct certified loose = solve_and_certify(t, 0.3, false, arena);
        assert_true(loose.audited.bound_ns <= t->best_ns);
        seen.gaps += loose.audited.bound_ns < t->best_ns;
    }
    seen.proven += feasible;
    seen.infeasible += !feasible;
    seen.split += c.audited.splits > 0;
    seen.links += strstr(c.made.text, "{\"from\": ") != NULL;
    seen.ranks += t->priced.layout.virtual_stages > 1;
    seen.streams += compare_loads(t, arena);
    try_claims(t, arena);
}

TEST(certificates_prove_the_least_load)
{
    for (uint64_t seed = first_seed; seed < first_seed + (uint64_t)problem_count; seed++) {
        struct check_trial t;
        struct arena_mark mark = arena_set_mark(arena);
        if (open_trial(&t, seed, arena)) check_one(&t, arena);
        arena_reset(arena, mark);
    }
    print_message(
        "%lld least loads and %lld infeasible problems proven, %lld false claims refused, "
        "%lld bounds with a gap; %lld split, %lld by links, %lld with several stages a "
        "rank; %lld streams counted\n",
        (long long)seen.proven, (long long)seen.infeasible, (long long)seen.refused,
        (long long)seen.gaps, (long long)seen.split, (long long)seen.links, (long long)seen.ranks,
        (long long)seen.streams);
    assert_true(seen.proven >= problem_count / 5 && seen.infeasible >= problem_count / 30 &&
                seen.refused >= problem_count / 5 && seen.gaps >= problem_count / 30);
    assert_true(seen.links >= problem_count / 100 && seen.ranks >= problem_count / 20 &&
                seen.split >= problem_count / 100);
}

// ---- forgeries

struct forged {
    const struct check_trial *t;
    struct check_text priced;
    cJSON *proof, *paths, *made_from;
    struct arena *arena;
};

static cJSON *path_with(const struct forged *f, const char *key)
{
    cJSON *path;
    cJSON_ArrayForEach(path, f->paths) if (get(path, key)) return path;
    return NULL;
}

static bool off_by(struct forged *f, const char *key, int by)
{
    if (!get(f->proof, key)) return false;
    set_number(f->proof, key, get_number(f->proof, key) + by);
    return true;
}
static bool bound_high(struct forged *f)
{
    drop(f->proof, "incumbent");
    drop(f->proof, "objective_ns");
    return off_by(f, "bound_ns", 1);
}
static bool bound_above_plan(struct forged *f) { return off_by(f, "bound_ns", 1); }
static bool load_high(struct forged *f) { return off_by(f, "objective_ns", 1); }
static bool load_low(struct forged *f)
{
    return off_by(f, "objective_ns", -1) && off_by(f, "bound_ns", -1);
}
static bool objective_dropped(struct forged *f)
{
    drop(f->proof, "objective");
    return true;
}
static bool time_in_its_place(struct forged *f)
{
    cJSON_AddNumberToObject(f->proof, "iteration_ns", get_number(f->proof, "objective_ns"));
    drop(f->proof, "objective_ns");
    return true;
}
static bool time_alone(struct forged *f) { return objective_dropped(f) && time_in_its_place(f); }
static bool cost_named(struct forged *f)
{
    set_text(f->proof, "objective", "cost");
    return true;
}
static bool nothing_known_named(struct forged *f)
{
    set_text(f->proof, "objective", "least_load");
    return true;
}
// The same proof given for the iteration time of the same prices, with its hash.
static bool for_the_time(struct forged *f)
{
    struct priced time = f->t->priced;
    char hash[SHA256_TEXT];
    time.objective = OBJECTIVE_ITERATION_TIME;
    f->priced = check_trial_save(&time, "priced.json", f->arena);
    sha256_text(f->priced.text, f->priced.size, hash);
    set_text(cJSON_GetArrayItem(f->made_from, 0), "sha256", hash);
    return true;
}
static bool another_rank(struct forged *f)
{
    cJSON *path = path_with(f, "rank");
    if (path) set_number(path, "rank", f->t->priced.rank_count);
    return path != NULL;
}
static bool turn_into_link(struct forged *f, int from, int to)
{
    cJSON *path = path_with(f, "rank");
    if (!path) return false;
    drop(path, "rank");
    cJSON_AddNumberToObject(path, "from", from);
    cJSON_AddNumberToObject(path, "to", to);
    return true;
}
static bool link_to_itself(struct forged *f) { return turn_into_link(f, 0, 0); }
static bool link_not_used(struct forged *f)
{
    return f->t->priced.rank_count > 3 && f->t->priced.layout.virtual_stages == 1 &&
           turn_into_link(f, 0, 2);
}
static bool both_of_them(struct forged *f)
{
    cJSON *path = path_with(f, "rank");
    if (path) cJSON_AddNumberToObject(path, "to", 0);
    return path != NULL;
}
static bool steps_of_a_path(struct forged *f)
{
    cJSON *path = path_with(f, "rank");
    if (path) cJSON_AddStringToObject(path, "steps", "0*3");
    return path != NULL;
}
static bool path_of_time(struct forged *f)
{
    cJSON *path = cJSON_GetArrayItem(f->paths, 0), *start = cJSON_CreateArray();
    if (!path) return cJSON_Delete(start), false;
    while (path->child) cJSON_DeleteItemFromObject(path, path->child->string);
    cJSON_AddItemToArray(start, cJSON_CreateString("forward"));
    for (int i = 0; i < 3; i++) cJSON_AddItemToArray(start, cJSON_CreateNumber(0));
    cJSON_AddItemToObject(path, "start", start);
    cJSON_AddNumberToObject(path, "laps", 1);
    cJSON_AddStringToObject(path, "steps", "0*2");
    return true;
}

static const struct {
    const char *name;
    bool (*forge)(struct forged *f); // false: it does not apply
    const char *reason;
    bool is_audited;
} forgeries[] = {
    {"bound a nanosecond too high", bound_high, "boxes", true},
    {"bound above the plan's load", bound_above_plan, "above objective_ns", true},
    {"load a nanosecond too high", load_high, "takes less", true},
    {"load a nanosecond too low", load_low, "takes more", true},
    {"no objective named", objective_dropped, "expected iteration_ns about iteration_time", false},
    {"a time in the load's place", time_in_its_place, "objective_ns beside", false},
    {"said to be about the time", time_alone, "minimises max_load", true},
    {"said to be about cost", cost_named, "is about cost", true},
    {"about an objective that nobody knows", nothing_known_named, "objective", false},
    {"given for the iteration time", for_the_time, "minimises iteration_time", true},
    {"a rank too many", another_rank, "paths[", false},
    {"a link from a rank to itself", link_to_itself, "to itself", true},
    {"a link that no message takes", link_not_used, "nothing is sent", true},
    {"a rank and a link at once", both_of_them, "paths[", false},
    {"steps of a load", steps_of_a_path, "steps", false},
    {"a path of the schedule", path_of_time, "paths[", false},
};
enum { FORGERY_COUNT = sizeof forgeries / sizeof *forgeries, TIMES_MOST = 20, TRIALS = 150 };

static int tried[FORGERY_COUNT];

static void forge(int number, const struct check_trial *t, const char *text, struct arena *arena)
{
    cJSON *root = cJSON_Parse(text);
    struct forged f = {.t = t,
                       .priced = t->text,
                       .proof = get(root, "proof"),
                       .made_from = get(root, "made_from"),
                       .arena = arena};
    f.paths = get(f.proof, "paths");
    if (tried[number] < TIMES_MOST && forgeries[number].forge(&f)) {
        char *changed = cJSON_PrintUnformatted(root);
        struct check_text certificate = {"forged.json", changed, strlen(changed)};
        check_trial_refused(forgeries[number].name, &certificate, &f.priced,
                            forgeries[number].reason, forgeries[number].is_audited, arena);
        tried[number]++;
        cJSON_free(changed);
    }
    cJSON_Delete(root);
}

TEST(forgeries_are_refused)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= TRIALS; seed++, arena_reset(arena, mark)) {
        struct check_trial t;
        if (open_trial(&t, seed, arena) && t.best_ns != INT64_MAX && t.best_ns > 0) {
            struct certified c = solve_and_certify(&t, 0, false, arena);
            for (int i = 0; i < FORGERY_COUNT; i++) forge(i, &t, c.made.text, arena);
        }
    }
    for (int i = 0; i < FORGERY_COUNT; i++)
        if (!tried[i]) fail_msg("%s: never tried", forgeries[i].name);
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
