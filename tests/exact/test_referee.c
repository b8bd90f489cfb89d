// The verified referee (solve/proofs/) on random problems of every schedule: what enumeration finds
// is what it accepts, to the nanosecond; one more, and every forgery below, it refuses. What it has
// no theorem for it says. Skipped where the referee is not built (make proofs).
//
//   test_referee [PROBLEMS] [SEED] [EVERY]    make test runs 150, make test-exact 20,000
//
// EVERY: all forgeries of every so many problems alone; of the others those of the claims.
//
//   test_referee 0 0 EVERY FOLDER    its `elaborated` and `priced.json`, with EVERY 1 all forgeries
#include <sys/wait.h>

#include "data/base/file.h"
#include "solve/certificate/elaborate.h"
#include "solve/checker/read/problem.h"
#include "solve/checker/verdict.h"
#include "tests/support/check.h"
#include "tests/support/trials/other_trials.h"

static int problem_count = 150, first_seed = 1, forged_every = 1;
ARGUMENT(problem_count)
ARGUMENT(first_seed)
ARGUMENT(forged_every)
static const char *given = "";
ARGUMENT(given)
static const char *referee, *folder;
static struct {
    int64_t accepted, infeasible, outside, several, forged;
} seen;

enum { ACCEPTS, REFUSES, CANNOT };

static int ask(const char *elaborated, size_t size, const struct check_text *priced,
               struct arena *arena)
{
    struct error err = {OK, ""};
    const char *one = arena_print(arena, "%s/elaborated", folder),
               *two = arena_print(arena, "%s/priced.json", folder);
    CHECK_OK(file_write(one, elaborated, size, &err));
    CHECK_OK(file_write(two, priced->text, priced->size, &err));
    int status = system(arena_print(arena, "%s %s %s > %s/said 2>&1", referee, one, two, folder));
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

// The text with its first line that starts with `from` replaced.
static const char *with_line(const char *text, const char *from, const char *to,
                             struct arena *arena)
{
    const char *at = strstr(text, arena_print(arena, "\n%s", from));
    if (!at) return NULL;
    const char *end = strchr(at + 1, '\n');
    return arena_print(arena, "%.*s\n%s%s", (int)(at - text), text, to, end);
}

// The same with a line's n-th number, of those behind its letter, changed by so much.
static const char *with_number(const char *text, const char *from, int n, int by,
                               struct arena *arena)
{
    const char *at = strstr(text, arena_print(arena, "\n%s", from));
    if (!at) return NULL;
    const char *end = strchr(at + 1, '\n'), *start = at;
    for (int i = 0; i < n && start; i++) start = strchr(start + 1, ' ');
    if (!start || start >= end) return NULL;
    const char *stop = start + 1 + strcspn(start + 1, " \n");
    long long value = atoll(start + 1);
    if (by < 0 && value == 0) return NULL;
    return arena_print(arena, "%.*s %lld%s", (int)(start - text), text, value + by, stop);
}

// One line of it is another (to), or the n-th number of one line is changed. Above the truth: with
// a bound that is one too high, so that whatever is accepted is wrong.
#define ONE "1099511627776"
static const struct forgery {
    const char *what, *from, *to;
    int number, by;
    bool above;
} forgeries[] = {
    {"another document", "priced ", "priced 00", 0, 0, false},
    {"a time one too short", "time ", NULL, 1, -1, false},
    {"a plan that starts at the second layer", "d 0 ", NULL, 1, 1, false},
    {"a plan with a layer more", "d 0 ", NULL, 2, 1, false},
    {"a plan on a group that is not there", "d 0 ", NULL, 3, 1 << 16, false},
    {"a plan with a stage less", "d 0 ", "", 0, 0, false},
    {"a bound one too high", "bound ", NULL, 1, 0, true},
    {"a choice left out", "v ", "", 0, 0, true},
    {"a choice somewhere else", "v ", NULL, 2, 1, true},
    {"a choice of more layers", "v ", NULL, 3, 1, true},
    {"a choice on another group", "v ", NULL, 4, 1, true},
    {"a choice with another message", "v ", NULL, 5, 1, true},
    {"a choice with another option", "v ", NULL, 6, 1, true},
    {"a slower choice", "v ", NULL, 7, 1, true},
    {"a choice of more bytes", "v ", NULL, 13, 1, true},
    {"what does not fit with its rank left in", "k", "", 0, 0, true},
    {"a path of one operation twice", "p ", "p 0 0 0 0 0 0 0 0", 0, 0, true},
    {"a path that begins later", "p ", NULL, 3, 1, true},
    {"a path of nothing", "p ", "p", 0, 0, true},
    {"a weight of two", "w ", "w 0 2199023255552", 0, 0, true},
    {"weights that are a little more than one", "w ", "w 0 " ONE " 0 1", 0, 0, true},
    {"a negative weight", "w ", "w 0 -" ONE " 0 " ONE " 0 " ONE, 0, 0, true},
    {"a path that is not there", "w ", "w 65536 " ONE, 0, 0, true},
    {"a negative price", "r ", "r -1099511627776", 0, 0, true},
    {"boxes left out", "s ", "b", 0, 0, true},
    {"a half with nothing in it", "s ", "s 0", 0, 0, true},
    {"a split of a stage that is not there", "s ", NULL, 1, 1 << 16, true},
};
enum { FORGERIES = sizeof forgeries / sizeof forgeries[0] };
static int64_t tried_kinds[FORGERIES + 1];

static void expect_refused(const struct check_trial *t, int kind, const char *what,
                           const char *forged, struct arena *arena)
{
    if (!forged) return;
    int answer = ask(forged, strlen(forged), &t->text, arena);
    if (answer == ACCEPTS) fail_msg("seed %llu: accepts %s", (unsigned long long)t->seed, what);
    if (answer == CANNOT && kind < FORGERIES && !strcmp(forgeries[kind].from, "bound "))
        fail_msg("seed %llu: cannot read %s", (unsigned long long)t->seed, what);
    tried_kinds[kind]++;
    seen.forged++;
}

static void forge(const struct check_trial *t, const char *text, struct arena *arena)
{
    bool there_is_one = t->best_ns != INT64_MAX;
    const char *above =
        there_is_one ? with_line(text, "bound ",
                                 arena_print(arena, "bound %lld", (long long)t->best_ns + 1), arena)
                     : NULL;
    expect_refused(t, FORGERIES, "that there is no plan",
                   there_is_one ? with_line(text, "bound ", "infeasible", arena) : NULL, arena);
    for (int i = 0; i < FORGERIES; i++) {
        const struct forgery *f = &forgeries[i];
        const char *of = f->above ? above : text;
        bool is_claim = !strncmp(f->from, "bound ", 6) || !strncmp(f->from, "time ", 5);
        if (!of || (t->seed % (uint64_t)forged_every && !is_claim)) continue;
        expect_refused(t, i, f->what,
                       f->to ? with_line(of, f->from, f->to, arena)
                             : with_number(of, f->from, f->number, f->by, arena),
                       arena);
    }
}

static bool draw(struct check_trial *t, uint64_t seed, struct arena *arena)
{
    return check_trial_draw(t, seed, arena) && check_trial_enumerate(t, arena) &&
           check_trial_certify(t, arena);
}

static bool try_one(struct check_trial *drawn, struct arena *arena)
{
    struct check_trial t = *drawn;
    struct error err = {OK, ""};
    const char *text, *file = arena_print(arena, "%s/written", folder);
    size_t size;
    CHECK_OK(certificate_elaborate(file, &t.certificate, &t.text, arena, &err));
    CHECK_OK(file_read(file, &text, &size, arena, &err));
    int answer = ask(text, size, &t.text, arena);
    seen.outside += answer == CANNOT;
    struct check_problem problem;
    CHECK_OK(check_read_problem(&problem, &t.text, arena, &err));
    const char *lacks = check_lacks_theorem(&problem);
    if ((answer == CANNOT) != (lacks != NULL))
        fail_msg("seed %llu: a statement says that a theorem is missing for %s",
                 (unsigned long long)t.seed, lacks ? lacks : "nothing");
    if (answer == CANNOT) return true;
    if (answer != ACCEPTS)
        fail_msg("seed %llu: refuses a certificate that holds (kept in %s)",
                 (unsigned long long)t.seed, folder);
    seen.accepted++;
    seen.several += t.priced.layout.virtual_stages > 1;
    seen.infeasible += t.best_ns == INT64_MAX;
    const char *claim = t.best_ns == INT64_MAX
                            ? "\ninfeasible\n"
                            : arena_print(arena, "\nbound %lld\n", (long long)t.best_ns);
    assert_true(strstr(text, claim) != NULL);
    forge(&t, text, arena);
    return true;
}

static bool find_referee(struct arena *kept)
{
    const char *logs = getenv("LOGS") ? getenv("LOGS") : "build/release/tests";
    referee = arena_print(kept, "%s/../rocq/plumbline-referee", logs);
    folder = arena_print(kept, "%s/referee", logs);
    FILE *there = fopen(referee, "rb");
    if (there) fclose(there);
    return there != NULL;
}

static void need_referee(struct arena *arena)
{
    struct error err = {OK, ""};
    if (!find_referee(arena)) {
        printf("skipped: no %s (make proofs)\n", referee);
        skip();
    }
    CHECK_OK(file_make_folder(folder, &err));
}

// A claim above the time of the file's own plan is false, whatever the bound is.
TEST(one_certificate)
{
    struct check_trial t = {.seed = 1, .best_ns = INT64_MAX};
    const char *text;
    size_t size;
    if (!*given) skip();
    need_referee(arena);
    CHECK_OK(file_read(arena_print(arena, "%s/elaborated", given), &text, &size, arena, &err));
    CHECK_OK(file_read(arena_print(arena, "%s/priced.json", given), &t.text.text, &t.text.size,
                       arena, &err));
    const char *time = strstr(text, "\ntime ");
    if (time) t.best_ns = atoll(time + 6);
    assert_int_equal(ask(text, size, &t.text, arena), ACCEPTS);
    forge(&t, text, arena);
    int kinds = 0;
    for (int i = 0; i <= FORGERIES; i++) kinds += tried_kinds[i] > 0;
    printf("accepted; %d forgeries refused\n", kinds);
}

// Documents that check reads otherwise, or not at all: no claim about them is accepted.
static const struct {
    const char *from, *to;
} otherwise[] = {
    {"\"schedule\"", "\"\\u0073chedule\""},
    {"\"barrier\"", "\"barrie\\u0072\""},
    {"\"layout\": {", "\"layout\": {\"pace\": 2, "},
    {"\"version\": 1", "\"version\": 2"},
    {"\"micro_batches\": ", "\"micro_batches\": 0"},
    {"\"micro_batches\": ", "\"micro_batches\": +"},
    {"\"name\": \"", "\"name\": \"\\u0041"},
    {"\"name\": \"", "\"name\": \"\n"},
    {"\"slots\": ", "\"excluded\": false, \"slots\": "},
    {"{", "{}{"},
    {"\"gpu\"", "\"pace\""},
    {"\"memory_limit_bytes\": ", "\"memory_limit_bytes\": -1"},
    {"\"working_bytes\": [", "\"working_bytes\": [-1"},
    {"\"forward_ns\": [", "\"forward_ns\": [-1"},
    {"\"backward_ns\": [", "\"backward_ns\": [9007199254740993, "},
    {"{\"rank\": 0", "{\"bits\": 4, \"rank\": 0"},
    {"\"none\"", "\"full\""},
};

TEST(documents_that_are_read_otherwise)
{
    struct check_trial t;
    const char *text, *file;
    size_t size;
    if (*given) skip();
    need_referee(arena);
    file = arena_print(arena, "%s/written", folder);
    for (uint64_t seed = 1, answer = CANNOT; answer == CANNOT; seed++) {
        if (!draw(&t, seed, arena)) continue;
        CHECK_OK(certificate_elaborate(file, &t.certificate, &t.text, arena, &err));
        CHECK_OK(file_read(file, &text, &size, arena, &err));
        answer = (uint64_t)ask(text, size, &t.text, arena);
    }
    for (size_t i = 0; i < sizeof otherwise / sizeof otherwise[0]; i++) {
        const char *at = strstr(t.text.text, otherwise[i].from);
        if (!at) fail_msg("no %s", otherwise[i].from);
        const char *changed = arena_print(arena, "%.*s%s%s", (int)(at - t.text.text), t.text.text,
                                          otherwise[i].to, at + strlen(otherwise[i].from));
        struct check_text document = {.text = changed, .size = strlen(changed)};
        char hash[CHECK_HASH];
        check_hash(changed, document.size, hash);
        const char *about =
            with_line(text, "priced ", arena_print(arena, "priced %s", hash), arena);
        if (ask(about, strlen(about), &document, arena) != CANNOT)
            fail_msg("reads %s", otherwise[i].to);
    }
}

TEST(random_problems)
{
    int tried = 0;
    if (*given) skip();
    need_referee(arena);
    for (int seed = first_seed; tried < problem_count; seed++) {
        struct arena_mark mark = arena_set_mark(arena);
        struct check_trial t;
        if (draw(&t, (uint64_t)seed, arena)) tried += try_one(&t, arena);
        arena_reset(arena, mark);
    }
    printf("%d problems: %lld accepted (%lld with several stages per rank, %lld without a plan), "
           "%lld forgeries of %d kinds refused; %lld with what has no theorem\n",
           problem_count, (long long)seen.accepted, (long long)seen.several,
           (long long)seen.infeasible, (long long)seen.forged, FORGERIES + 1,
           (long long)seen.outside);
    assert_true(problem_count < 100 || seen.accepted > problem_count / 6);
    assert_true(problem_count < 100 || seen.several > problem_count / 20);
    for (int i = 0; i <= FORGERIES && problem_count >= 100 && forged_every == 1; i++)
        if (!tried_kinds[i])
            fail_msg("never tried: %s", i < FORGERIES ? forgeries[i].what : "no plan");
}

TEST(random_problems_of_other_kinds)
{
    if (*given) skip();
    need_referee(arena);
    for (int kind = 0; kind < OTHER_KINDS; kind++) {
        int tried = 0, wanted = (problem_count + 4) / 5;
        memset(&seen, 0, sizeof seen);
        for (int seed = first_seed; tried < wanted; seed++) {
            struct arena_mark mark = arena_set_mark(arena);
            struct check_trial t;
            if (other_trial_open(&t, (enum other_kind)kind, (uint64_t)seed, arena))
                tried += try_one(&t, arena);
            arena_reset(arena, mark);
        }
        printf("%s: %d problems, %lld accepted (%lld with several stages per rank, %lld without a "
               "plan), %lld forgeries refused; %lld with what has no theorem\n",
               other_names[kind], wanted, (long long)seen.accepted, (long long)seen.several,
               (long long)seen.infeasible, (long long)seen.forged, (long long)seen.outside);
        assert_true(seen.accepted > wanted / 6);
    }
}
