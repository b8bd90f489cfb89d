// The verified referee (solve/proofs/) on random problems of every schedule: what enumeration finds
// is what it accepts, to the nanosecond; one more, and every forgery below, it refuses. What it has
// no theorem for it says. Skipped where the referee is not built (make proofs).
//
//   test_referee [PROBLEMS] [SEED]      make test runs 150, make test-exact 20,000
#include <sys/wait.h>

#include "data/base/file.h"
#include "solve/certificate/elaborate.h"
#include "tests/support/check.h"
#include "tests/support/trials/check_trials.h"

static int problem_count = 150, first_seed = 1;
ARGUMENT(problem_count)
ARGUMENT(first_seed)
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

// A line like it whose last number but `back` is one more, or one less.
static const char *shifted(const char *text, const char *from, int back, int by,
                           struct arena *arena)
{
    const char *at = strstr(text, arena_print(arena, "\n%s", from));
    if (!at) return NULL;
    const char *end = strchr(at + 1, '\n'), *stop = end;
    for (int i = 0; i < back; i++)
        while (stop > at && *--stop != ' ') {
        }
    const char *start = stop;
    while (start > at && *(start - 1) != ' ') start--;
    long long value = atoll(start);
    if (start == at || (by < 0 && value == 0)) return NULL;
    return arena_print(arena, "%.*s%lld%s", (int)(start - text), text, value + by, stop);
}

static void refuse(const struct check_trial *t, const char *what, const char *forged,
                   struct arena *arena)
{
    if (!forged) return;
    if (ask(forged, strlen(forged), &t->text, arena) == ACCEPTS)
        fail_msg("seed %llu: accepts %s", (unsigned long long)t->seed, what);
    seen.forged++;
}

static void forge(const struct check_trial *t, const char *text, struct arena *arena)
{
    const char *higher =
        t->best_ns == INT64_MAX
            ? NULL
            : with_line(text, "bound ", arena_print(arena, "bound %lld", (long long)t->best_ns + 1),
                        arena);
    refuse(t, "a bound one too high", higher, arena);
    refuse(t, "that there is no plan",
           t->best_ns == INT64_MAX ? NULL : with_line(text, "bound ", "infeasible", arena), arena);
    refuse(t, "another document", with_line(text, "priced ", "priced 00", arena), arena);
    // Either of what a plan and its time may claim.
    refuse(t, "a time one too short", shifted(text, "time ", 0, -1, arena), arena);
    refuse(t, "a plan with a layer more", shifted(text, "d 0 ", 5, 1, arena), arena);
    if (!higher) return;
    // With the higher claim, what would make it true.
    refuse(t, "a slower choice", shifted(higher, "v 0", 0, 1, arena), arena);
    refuse(t, "boxes left out", with_line(higher, "s ", "b", arena), arena);
    const char *heavier = with_line(higher, "w ", "w 0 2199023255552", arena);
    refuse(t, "a weight of two", heavier, arena);
    refuse(t, "a negative price", with_line(higher, "r ", "r -1099511627776", arena), arena);
}

static bool try_one(int seed, struct arena *arena)
{
    struct check_trial t;
    struct error err = {OK, ""};
    const char *text, *file = arena_print(arena, "%s/written", folder);
    size_t size;
    if (!check_trial_open(&t, (uint64_t)seed, arena)) return false;
    if (certificate_elaborate(file, &t.certificate, &t.text, arena, &err) != OK) {
        seen.several++;
        return true;
    }
    CHECK_OK(file_read(file, &text, &size, arena, &err));
    int answer = ask(text, size, &t.text, arena);
    seen.outside += answer == CANNOT;
    if (answer == CANNOT) return true;
    if (answer != ACCEPTS)
        fail_msg("seed %llu: refuses a certificate that holds (kept in %s)",
                 (unsigned long long)t.seed, folder);
    seen.accepted++;
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

TEST(random_problems)
{
    int tried = 0;
    if (!find_referee(arena)) {
        printf("skipped: no %s (make proofs)\n", referee);
        skip();
    }
    CHECK_OK(file_make_folder(folder, &err));
    for (int seed = first_seed; tried < problem_count; seed++) {
        struct arena_mark mark = arena_set_mark(arena);
        tried += try_one(seed, arena);
        arena_reset(arena, mark);
    }
    printf("%d problems: %lld accepted (%lld without a plan), %lld forgeries refused; %lld with "
           "several stages per rank, %lld with what has no theorem\n",
           problem_count, (long long)seen.accepted, (long long)seen.infeasible,
           (long long)seen.forged, (long long)seen.several, (long long)seen.outside);
    assert_true(problem_count < 100 || seen.accepted > problem_count / 8);
}
