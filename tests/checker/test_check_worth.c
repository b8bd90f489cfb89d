// Certificates of spaces whose layouts are compared by cost or by load, or have limits of time or
// price: random problems, with every layout solved by itself and its devices counted here. The
// certificate is accepted and proves the best of all values within the limits; no argument for a
// layout goes beyond its own best plan; forgeries are refused with their reasons.
//
//   test_check_worth [PROBLEMS] [SEED]      make test runs 60
#include "data/inputs/space.h"
#include "solve/checker/prices/prices.h"
#include "solve/checker/space/arguments.h"
#include "tests/support/forge.h"
#include "tests/support/trials/space_trials.h"
#include "tests/support/check.h"

enum { LAYOUTS_MOST_TRIED = 120 };

static int problem_count = 60;
static uint64_t first_seed = 1;
static const double price = 3.6; // of a device-hour: 0.001 of a second

static struct {
    int64_t plans, infeasible, limited, changed, gaps, sounded, reached, fates[FATES];
    int64_t objectives[4];
} seen;

// ---- what layouts are worth, by the test's own count

struct worth {
    struct layout layouts[LAYOUTS_MOST_TRIED];
    struct check_layout checked[LAYOUTS_MOST_TRIED];
    int64_t count, value_ns[LAYOUTS_MOST_TRIED]; // INT64_MAX: no plan, or none within the limits
    int64_t best_ns;
};

static bool note_layout(void *argument, int64_t number, const struct layout *l)
{
    struct worth *w = argument;
    assert_int_equal(number, w->count);
    w->layouts[w->count++] = *l;
    return true;
}

static int64_t devices_of(const struct layout *l)
{
    return (int64_t)l->tensor * l->context * l->data * l->pipeline;
}

// Of a time, or micro-batches x load.
static int64_t value_of(const struct problem *p, const struct layout *l, int64_t ns)
{
    const struct job *j = &p->job;
    double seconds = (double)ns / 1e9, tokens = (double)j->global_batch * (double)j->sequence,
           million = seconds * (double)devices_of(l) * price / 3600 / tokens * 1e6;
    if (!ns || (j->iteration_limit_s > 0 && seconds > j->iteration_limit_s) ||
        (j->price_limit > 0 && million > j->price_limit))
        return INT64_MAX;
    return j->objective == OBJECTIVE_COST ? ns * devices_of(l) : ns;
}

static void find_worth(struct worth *w, const struct problem *p, const struct spaces_alone *alone)
{
    struct space_limits limits = problem_space_limits(p);
    *w = (struct worth){.best_ns = INT64_MAX};
    space_each(&p->job.space, &limits, note_layout, w);
    for (int64_t i = 0; i < w->count; i++) {
        w->value_ns[i] = alone->refused[i] ? INT64_MAX
                                           : value_of(p, &w->layouts[i], alone->optimum_ns[i]);
        w->checked[i] = space_layout(&w->layouts[i]);
        if (w->value_ns[i] < w->best_ns) w->best_ns = w->value_ns[i];
    }
}

// A limit that some layout just keeps, or just does not.
static void draw_limits(struct problem *p, const struct worth *w, const struct spaces_alone *a,
                        struct random *rng)
{
    int64_t at = random_between(rng, 0, w->count - 1), ns;
    for (int tries = 0; tries < 30 && (a->refused[at] || !a->optimum_ns[at]); tries++)
        at = random_between(rng, 0, w->count - 1);
    ns = a->optimum_ns[at];
    double seconds = ((double)ns + (random_chance(rng, 50) ? 0.5 : -0.5)) / 1e9,
           tokens = (double)p->job.global_batch * (double)p->job.sequence;
    if (!ns || a->refused[at]) return;
    if (random_chance(rng, 60)) p->job.iteration_limit_s = seconds;
    else
        p->job.price_limit = seconds * (double)devices_of(&w->layouts[at]) * price / 3600 / tokens *
                             1e6;
}

static void draw_trial(struct space_trial *t, struct worth *w, uint64_t seed, struct arena *arena)
{
    static const enum objective objectives[] = {OBJECTIVE_COST, OBJECTIVE_ITERATION_TIME,
                                                OBJECTIVE_MAX_LOAD};
    struct random rng = {seed};
    struct error err = {OK, ""};
    struct problem *p = &t->problem;
    struct spaces_alone alone;
    *t = (struct space_trial){0};
    do {
        spaces_draw(p, &rng, arena);
        p->job.space.fewer_devices = true;
        for (int g = 0; g < p->cluster.group_count; g++)
            p->cluster.groups[g].gpu_hour_price = price;
        p->job.objective = objectives[seed % 3];
    } while (spaces_count(p) > LAYOUTS_MOST_TRIED || problem_check(p, &err) != OK);
    seen.objectives[p->job.objective]++;
    spaces_solve(&alone, p, arena);
    find_worth(w, p, &alone);
    int64_t free_ns = w->best_ns;
    if (p->job.objective != OBJECTIVE_MAX_LOAD) draw_limits(p, w, &alone, &rng);
    CHECK_OK(problem_check(p, &err));
    find_worth(w, p, &alone);
    seen.limited += p->job.iteration_limit_s > 0 || p->job.price_limit > 0;
    seen.changed += w->best_ns != free_ns;
    space_trial_of_problem(t, seed, seed % 4 == 3 ? 0.1 : 0, arena);
}

// ---- certificates

static void try_certificate(const struct space_trial *t, const struct worth *w, uint64_t seed,
                            struct arena *arena)
{
    struct check_space_result audited;
    const char *why;
    unsigned long long name = seed;
    const struct layouts *found = &t->found.layouts;
    if (!t->certificate.text) fail_msg("seed %llu: no certificate", name);
    if (!space_trial_audit(t, &t->certificate, &audited, &why, arena) || !audited.proof.accepted)
        fail_msg("seed %llu: refused: %s", name, why);
    assert_int_equal(audited.proof.infeasible, w->best_ns == INT64_MAX);
    const int64_t counts[FATES] = {audited.refused,   audited.memory, audited.bounded,
                                   audited.dominated, audited.proven, audited.grouped};
    for (int f = 0; f < FATES; f++) seen.fates[f] += counts[f];
    seen.infeasible += w->best_ns == INT64_MAX;
    if (w->best_ns == INT64_MAX) return;
    seen.plans++;
    if (audited.proof.bound_ns > w->best_ns)
        fail_msg("seed %llu: proves %lld ns, the best of all is %lld", name,
                 (long long)audited.proof.bound_ns, (long long)w->best_ns);
    if (audited.proof.bound_ns != found->bound_ns)
        fail_msg("seed %llu: proves %lld ns, the search's bound is %lld", name,
                 (long long)audited.proof.bound_ns, (long long)found->bound_ns);
    assert_int_equal(audited.proof.iteration_ns, found->iteration_ns);
    assert_int_equal(audited.chosen, found->chosen);
    if (seed % 4 != 3) assert_int_equal(audited.proof.bound_ns, w->best_ns);
    seen.gaps += audited.proof.bound_ns < w->best_ns;
}

// The arguments by bounds never say of a layout, or of its group, what one of its plans refutes.
static void sound_layouts(const struct space_trial *t, const struct worth *w, struct arena *arena)
{
    struct error err = {OK, ""};
    uint64_t work = UINT64_MAX / 2;
    struct check_layouts x = {
        .space = &t->space,
        .pricer = &t->pricers[0],
        .reader = {"prices", &err},
        .held = {.work = &work, .arena = arena, .scratch = arena_open_within(arena)}};
    for (int64_t i = 0; i < w->count; i++) {
        bool holds, in_group;
        const char *why;
        if (w->value_ns[i] == INT64_MAX) continue;
        for (int k = 0; k < 3; k++) {
            x.bound_ns = k == 0 ? w->value_ns[i] + 1 : k == 1 ? -1 : w->value_ns[i] / 10 * 7;
            CHECK_OK(check_fate_holds(&x, &w->checked[i], FATE_IS_GROUP, &in_group, &why));
            CHECK_OK(check_fate_holds(&x, &w->checked[i], FATE_IS_BOUND, &holds, &why));
            if ((holds || in_group) && k < 2)
                fail_msg("layout %lld has a plan of value %lld within the limits, and is said to "
                         "have %s",
                         (long long)i, (long long)w->value_ns[i], k ? "none" : "none so good");
            seen.reached += holds;
        }
        seen.sounded++;
    }
}

TEST(certificates_prove_the_best_value)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < problem_count; i++, arena_reset(arena, mark)) {
        struct space_trial t;
        struct worth *w;
        w = TAKE(arena, 1, struct worth);
        draw_trial(&t, w, first_seed + (uint64_t)i, arena);
        try_certificate(&t, w, first_seed + (uint64_t)i, arena);
        sound_layouts(&t, w, arena);
    }
    print_message("%lld spaces with a plan, %lld without; %lld limited, which changed %lld; %lld "
                  "gaps; %lld of cost, %lld of time, %lld of load; %lld layouts sounded, %lld "
                  "bounds reach 0.7; fates",
                  (long long)seen.plans, (long long)seen.infeasible, (long long)seen.limited,
                  (long long)seen.changed, (long long)seen.gaps,
                  (long long)seen.objectives[OBJECTIVE_COST],
                  (long long)seen.objectives[OBJECTIVE_ITERATION_TIME],
                  (long long)seen.objectives[OBJECTIVE_MAX_LOAD], (long long)seen.sounded,
                  (long long)seen.reached);
    for (int f = 0; f < FATES; f++)
        print_message(" %c%lld", check_fate_letters[f], (long long)seen.fates[f]);
    print_message("\n");
    assert_true(seen.plans > problem_count / 4 && seen.infeasible > 0 && seen.gaps > 0 &&
                seen.limited > problem_count / 5 && seen.changed > problem_count / 20 &&
                seen.reached > problem_count);
}

// ---- forgeries

struct forged {
    struct space_trial t; // a copy: as given to the checker
    const struct worth *w;
    cJSON *space, *proofs;
    char fates[LAYOUTS_MOST_TRIED + 1]; // a letter for each layout
    struct arena *arena;
};

static bool has_plan(const struct forged *f) { return get(f->space, "chosen") != NULL; }
static const char *value_key(const struct forged *f)
{
    return get(f->space, "iteration_ns") ? "iteration_ns" : "objective_ns";
}

static void read_fates(struct forged *f)
{
    int at = 0;
    for (char *c = get(f->space, "fates")->valuestring; *c; c += *c == ' ') {
        char letter = *c++;
        for (long n = strtol(c, &c, 10); n > 0; n--) f->fates[at++] = letter;
    }
}
static void put_fates(struct forged *f)
{
    const char *text = "";
    for (int i = 0, n; f->fates[i]; i += n) {
        for (n = 1; f->fates[i + n] == f->fates[i];) n++;
        text = arena_print(f->arena, "%s%s%c%d", text, i ? " " : "", f->fates[i], n);
    }
    set(f->space, "fates", cJSON_CreateString(text));
}

static bool add_to(struct forged *f, const char *key, int by)
{
    if (has_plan(f)) set_number(f->space, key, get_number(f->space, key) + by);
    return has_plan(f);
}
// Of a search that left a gap it is still true.
static bool bound_high(struct forged *f)
{
    return get_number(f->space, "bound_ns") >= f->w->best_ns && add_to(f, "bound_ns", 1);
}
static bool value_high(struct forged *f) { return add_to(f, value_key(f), 1); }
static bool value_low(struct forged *f)
{
    return has_plan(f) && get_number(f->space, "bound_ns") < get_number(f->space, value_key(f)) &&
           add_to(f, value_key(f), -1);
}
static bool objective_dropped(struct forged *f)
{
    if (!get(f->space, "objective")) return false;
    drop(f->space, "objective");
    return true;
}
static bool objective_renamed(struct forged *f)
{
    const char *is = get(f->space, "objective") ? get(f->space, "objective")->valuestring : "";
    set_text(f->space, "objective", strcmp(is, "cost") ? "cost" : "max_load");
    return true;
}
static bool time_in_its_place(struct forged *f)
{
    if (!has_plan(f) || !get(f->space, "objective_ns")) return false;
    set_number(f->space, "iteration_ns", get_number(f->space, "objective_ns"));
    drop(f->space, "objective_ns");
    return true;
}
// The same file about a job with other limits, whose hash it states.
static bool limit_below_plan(struct forged *f)
{
    int64_t weight, chosen = has_plan(f) ? (int64_t)get_number(f->space, "chosen") : 0;
    if (!has_plan(f) || f->t.space.objective == MINIMISE_LOAD) return false;
    weight = check_weight(&f->t.space, &f->w->checked[chosen]);
    f->t.space.limit_ns = (int64_t)get_number(f->space, value_key(f)) / weight - 1;
    return true;
}
static bool price_below_plan(struct forged *f)
{
    int64_t chosen = has_plan(f) ? (int64_t)get_number(f->space, "chosen") : 0, weight;
    if (!has_plan(f) || f->t.space.objective == MINIMISE_LOAD) return false;
    weight = check_weight(&f->t.space, &f->w->checked[chosen]);
    f->t.space.limit_device_ns = (int64_t)get_number(f->space, value_key(f)) / weight *
                                     devices_of(&f->w->layouts[chosen]) -
                                 1;
    return true;
}
// Without its limits the job has a better plan.
static bool limits_dropped(struct forged *f)
{
    int64_t bound_ns = get(f->space, "bound_ns") ? (int64_t)get_number(f->space, "bound_ns") : -1;
    bool better = false;
    for (int64_t i = 0; i < f->w->count; i++) {
        int64_t ns = f->t.alone.refused[i] ? 0 : f->t.alone.optimum_ns[i],
                weight = check_weight(&f->t.space, &f->w->checked[i]);
        better = better || (ns && (bound_ns < 0 || ns * weight < bound_ns));
    }
    f->t.space.limit_ns = f->t.space.limit_device_ns = INT64_MAX;
    return better;
}
static bool all_beyond_the_limits(struct forged *f)
{
    cJSON *one;
    if (!has_plan(f) ||
        (f->t.space.limit_ns == INT64_MAX && f->t.space.limit_device_ns == INT64_MAX))
        return false;
    const char *keys[] = {"chosen", "objective_ns", "iteration_ns", "bound_ns"};
    for (int i = 0; i < 4; i++) drop(f->space, keys[i]);
    cJSON_AddTrueToObject(f->space, "infeasible");
    cJSON_ArrayForEach(one, f->proofs) drop(get(one, "proof"), "incumbent"),
        drop(get(one, "proof"), "iteration_ns");
    return true;
}
// A layout that is closed by a bound, said to be dominated by one of more devices.
static bool dominated_by_dearer(struct forged *f)
{
    const struct check_space *s = &f->t.space;
    if (get(f->space, "dominated")->child) return false;
    for (int64_t i = 0; i < f->w->count; i++)
        for (int64_t k = 0; k < f->w->count; k++) {
            const struct check_layout *x = &f->w->checked[i], *y = &f->w->checked[k];
            int64_t bound_ns = (int64_t)get_number(f->space, "bound_ns");
            if (f->fates[i] != 'b' || f->fates[k] != 'b' || get(f->space, "infeasible") ||
                check_goal_ns(s, x, bound_ns) >= check_goal_ns(s, y, bound_ns))
                continue;
            f->fates[k] = 'd';
            put_fates(f);
            cJSON_AddItemToArray(get(f->space, "dominated"), cJSON_CreateNumber((double)k));
            cJSON_AddItemToArray(get(f->space, "dominated"), cJSON_CreateNumber((double)i));
            return true;
        }
    return false;
}
static bool proof_swapped(struct forged *f)
{
    cJSON *first = cJSON_GetArrayItem(f->proofs, 0), *second = cJSON_GetArrayItem(f->proofs, 1);
    if (!second ||
        !get(get(first, "proof"), "incumbent") == !get(get(second, "proof"), "incumbent"))
        return false;
    cJSON *one = cJSON_DetachItemFromObject(first, "proof"),
          *other = cJSON_DetachItemFromObject(second, "proof");
    cJSON_AddItemToObject(first, "proof", other);
    cJSON_AddItemToObject(second, "proof", one);
    return true;
}

static const struct {
    const char *name;
    bool (*forge)(struct forged *f); // false: it does not apply
    const char *reason;
} forgeries[] = {
    {"bound a nanosecond too high", bound_high, ""},
    {"value a nanosecond too high", value_high, "its plan does not take"},
    {"value a nanosecond too low", value_low, "its plan does not take"},
    {"no objective named", objective_dropped, "is about iteration_time, the job minimises"},
    {"another objective named", objective_renamed, "the job minimises"},
    {"a time in the value's place", time_in_its_place, "objective_ns beside"},
    {"a limit of time below the plan's", limit_below_plan, "the job's limits allow"},
    {"a limit of price below the plan's", price_below_plan, "the job's limits allow"},
    {"limits dropped", limits_dropped, "layout "},
    {"said to have no plan within the limits", all_beyond_the_limits, "layout "},
    {"dominated by a layout of more devices", dominated_by_dearer, "may take less"},
    {"the plan's proof exchanged with another's", proof_swapped, "layout "},
};
enum { FORGERY_COUNT = sizeof forgeries / sizeof *forgeries };

static int tried[FORGERY_COUNT];

static void forge(int number, const struct space_trial *t, const struct worth *w,
                  struct arena *arena)
{
    cJSON *root = cJSON_Parse(t->certificate.text);
    struct forged *f = TAKE(arena, 1, struct forged);
    *f = (struct forged){.t = *t, .w = w, .space = get(root, "space"), .arena = arena};
    f->proofs = get(f->space, "proofs");
    read_fates(f);
    if (forgeries[number].forge(f)) {
        char *text = cJSON_PrintUnformatted(root);
        struct check_text forged = {"forged.json", text, strlen(text)};
        struct check_space_result audited;
        const char *why;
        bool can = space_trial_audit(&f->t, &forged, &audited, &why, arena);
        if (can && audited.proof.accepted) fail_msg("%s: accepted", forgeries[number].name);
        if (!strstr(why, forgeries[number].reason))
            fail_msg("%s: expected \"%s\", found \"%s\"", forgeries[number].name,
                     forgeries[number].reason, why);
        tried[number]++;
        cJSON_free(text);
    }
    cJSON_Delete(root);
}

TEST(forgeries_are_refused)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= 60; seed++, arena_reset(arena, mark)) {
        struct space_trial t;
        struct worth *w;
        w = TAKE(arena, 1, struct worth);
        draw_trial(&t, w, seed, arena);
        for (int i = 0; i < FORGERY_COUNT; i++) forge(i, &t, w, arena);
    }
    for (int i = 0; i < FORGERY_COUNT; i++) {
        print_message("%s: %d\n", forgeries[i].name, tried[i]);
        if (!tried[i]) fail_msg("%s: never tried", forgeries[i].name);
    }
}

ARGUMENT(problem_count)
ARGUMENT(first_seed)
