// Supervision: a child that never ends, dies, is suspended or goes on after saving; what it handed
// over; signals; temporary files; nobody is left behind. Each case is in a process of its own,
// since signals and the flag belong to a whole program. No case depends on how long something
// takes, but one: a child must wake up within seven seconds of the supervisor's own time.
#define _DEFAULT_SOURCE // usleep, mkdtemp
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/base/command.h"
#include "solve/process/supervise.h"
#include "tests/support/check.h"

static const struct supervise_settings soon = {"the test", 0.02, 0.02};
static const struct supervise_settings never = {"the test", 0, 0.1};

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) fprintf(stderr, "line %d: %s\n", __LINE__, #condition), _exit(1);        \
    } while (0)

static _Noreturn void never_return(void)
{
    for (;;) pause();
}

static struct supervised begin(const struct supervise_settings *settings, struct arena *arena)
{
    struct supervised s;
    struct error err = {OK, ""};
    REQUIRE(supervise(&s, settings, arena, &err) == OK);
    return s;
}

static void hand_over(int64_t value, size_t more, struct arena *arena)
{
    struct message m;
    message_begin(&m, arena);
    message_put_count(&m, value);
    message_put(&m, TAKE(arena, more, char), more);
    supervised_keeps(&m);
}

static void ask_ourselves(int signal) { REQUIRE(!kill(getppid(), signal)); }

// ---- the cases

static void lose_endless(struct arena *arena)
{
    struct supervised s = begin(&soon, arena);
    if (s.as == SUPERVISED_CHILD) {
        supervised_bounds(7);
        supervised_bounds(5);
        hand_over(1, 0, arena);
        hand_over(2, 3 << 20, arena);
        never_return();
    }
    REQUIRE(s.as == SUPERVISED_LOST && s.late && !s.died_of && !s.saved);
    REQUIRE(s.bound_ns == 7 && s.kept.used == sizeof(int64_t) + (3 << 20));
    REQUIRE(message_get_count(&s.kept) == 2 && !strcmp(s.what, "the test"));
}

// A search that looks at the flag only.
static void end_by_flag(struct arena *arena)
{
    const volatile int *stop;
    struct error err = {OK, ""};
    const struct supervise_settings patient = {"the test", 0.02, 60};
    REQUIRE(supervision_stop(&stop, &err) == OK);
    struct supervised s = begin(&patient, arena);
    if (s.as == SUPERVISED_CHILD) {
        while (!*stop) usleep(1000);
        _exit(9);
    }
    REQUIRE(s.as == SUPERVISED_ENDED && s.exit_code == 9);
}

static void lose_suspended(struct arena *arena)
{
    struct supervised s = begin(&soon, arena);
    if (s.as == SUPERVISED_CHILD) {
        raise(SIGSTOP);
        _exit(0);
    }
    REQUIRE(s.as == SUPERVISED_LOST && s.late);
}

// One that a busy machine leaves waiting is not late for that: its grace is processor time.
static void wait_for_busy(struct arena *arena)
{
    const struct supervise_settings busy = {"the test", 0.02, 0.5};
    struct supervised s = begin(&busy, arena);
    if (s.as == SUPERVISED_CHILD) {
        for (int i = 0; i < 10; i++) usleep(100 * 1000);
        _exit(9);
    }
    REQUIRE(s.as == SUPERVISED_ENDED && s.exit_code == 9);
}

// The end of a process that takes over for ever, as seen by its alarms.
static int end_of_endless(void)
{
    int status;
    pid_t process = fork();
    REQUIRE(process >= 0);
    while (!process) raise(SIGALRM);
    REQUIRE(waitpid(process, &status, 0) == process && WIFEXITED(status));
    return WEXITSTATUS(status);
}

// Minutes of waiting for a processor do not end what takes over; each step has its own time, and
// what was saved before is not called lost.
static void take_over(struct arena *arena)
{
    struct supervised s = begin(&soon, arena);
    if (s.as == SUPERVISED_CHILD) never_return();
    for (int step = 0; step < 3; step++) {
        for (int i = 0; i < 120; i++) raise(SIGALRM); // ten minutes of wall-clock time
        supervised_begins("the next step", 0, false);
    }
    REQUIRE(end_of_endless() == EXIT_NO_PLAN);
    supervised_saves(EXIT_OPEN);
    REQUIRE(end_of_endless() == EXIT_OPEN);
}

static void lose_dying(struct arena *arena)
{
    struct supervised s = begin(&never, arena);
    if (s.as == SUPERVISED_CHILD) {
        hand_over(4, 0, arena);
        raise(SIGKILL);
    }
    REQUIRE(s.as == SUPERVISED_LOST && s.died_of == SIGKILL);
    REQUIRE(message_get_count(&s.kept) == 4);
}

static void lose_after_saving(struct arena *arena)
{
    struct supervised s = begin(&never, arena);
    if (s.as == SUPERVISED_CHILD) {
        supervised_saves(3);
        supervised_begins("the rest", 0.02, false);
        never_return();
    }
    REQUIRE(s.as == SUPERVISED_LOST && s.late && s.saved && s.exit_code == 3);
    REQUIRE(!strcmp(s.what, "the rest"));
}

static void end_by_signal(struct arena *arena)
{
    const volatile int *stop;
    struct error err = {OK, ""};
    const struct supervise_settings patient = {"the test", 0, 60};
    REQUIRE(supervision_stop(&stop, &err) == OK);
    struct supervised s = begin(&patient, arena);
    if (s.as == SUPERVISED_CHILD) {
        ask_ourselves(SIGINT);
        while (!*stop) usleep(1000);
        _exit(EXIT_OPEN);
    }
    REQUIRE(s.as == SUPERVISED_ENDED && s.exit_code == EXIT_OPEN);
}

static void lose_by_signal(struct arena *arena)
{
    struct supervised s = begin(&never, arena);
    if (s.as == SUPERVISED_CHILD) {
        ask_ourselves(SIGTERM);
        never_return();
    }
    REQUIRE(s.as == SUPERVISED_LOST && !s.late && !s.died_of);
}

// The second signal does not wait for the grace, here longer than this test may take.
static void lose_by_second_signal(struct arena *arena)
{
    const volatile int *stop;
    struct error err = {OK, ""};
    const struct supervise_settings patient = {"the test", 0, 1e6};
    REQUIRE(supervision_stop(&stop, &err) == OK);
    struct supervised s = begin(&patient, arena);
    if (s.as == SUPERVISED_CHILD) {
        ask_ourselves(SIGINT);
        while (!*stop) usleep(1000);
        ask_ourselves(SIGINT);
        never_return();
    }
    REQUIRE(s.as == SUPERVISED_LOST && !s.late);
}

// What does not look at the flag is ended at once; an earlier signal was the search's.
static void lose_unstoppable(struct arena *arena)
{
    const volatile int *stop;
    struct error err = {OK, ""};
    const struct supervise_settings patient = {"the test", 0, 1e6};
    REQUIRE(supervision_stop(&stop, &err) == OK);
    struct supervised s = begin(&patient, arena);
    if (s.as == SUPERVISED_CHILD) {
        ask_ourselves(SIGINT);
        while (!*stop) usleep(1000);
        supervised_saves(0);
        supervised_begins("the certificate", 0, false);
        usleep(300 * 1000); // the supervisor looks at it at least once
        supervised_bounds(1);
        ask_ourselves(SIGINT);
        never_return();
    }
    REQUIRE(s.as == SUPERVISED_LOST && s.saved && s.bound_ns == 1);
}

// A child that dies while it writes (a file beyond its allowed size) leaves no temporary file.
static void remove_temporary(struct arena *arena)
{
    char folder[] = "/tmp/supervise-XXXXXX", text[4096] = "";
    struct error err = {OK, ""};
    REQUIRE(mkdtemp(folder) && !chdir(folder));
    struct supervised s = begin(&never, arena);
    if (s.as == SUPERVISED_CHILD) {
        signal(SIGXFSZ, SIG_DFL);
        REQUIRE(!setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100}));
        file_write("result", text, sizeof text, &err);
        _exit(0);
    }
    REQUIRE(s.as == SUPERVISED_LOST && s.died_of == SIGXFSZ);
    REQUIRE(!chdir("/") && !rmdir(folder)); // it is empty
}

// The child of a child is supervised by the one between, and told by the first one's signal.
static void end_nested(struct arena *arena)
{
    const struct supervise_settings patient = {"the test", 0, 60};
    const volatile int *stop;
    struct error err = {OK, ""};
    REQUIRE(supervision_stop(&stop, &err) == OK);
    pid_t first = getpid();
    struct supervised s = begin(&patient, arena);
    if (s.as == SUPERVISED_CHILD) {
        struct supervised inner = begin(&patient, arena);
        if (inner.as == SUPERVISED_CHILD) {
            REQUIRE(!kill(first, SIGINT));
            while (!*stop) usleep(1000);
            _exit(5);
        }
        REQUIRE(inner.as == SUPERVISED_ENDED);
        _exit(inner.exit_code + 1);
    }
    REQUIRE(s.as == SUPERVISED_ENDED && s.exit_code == 6);
}

#ifdef __linux__
// A supervisor that is killed takes its child with it: the pipe that both hold closes.
static void leave_nobody(struct arena *arena)
{
    int ends[2];
    char byte;
    REQUIRE(!pipe(ends));
    pid_t middle = fork();
    REQUIRE(middle >= 0);
    if (!middle) {
        struct supervised s = begin(&never, arena);
        if (s.as == SUPERVISED_CHILD) {
            REQUIRE(write(ends[1], "x", 1) == 1);
            never_return();
        }
        _exit(0);
    }
    close(ends[1]);
    REQUIRE(read(ends[0], &byte, 1) == 1); // the child is there
    REQUIRE(!kill(middle, SIGKILL) && waitpid(middle, NULL, 0) == middle);
    REQUIRE(read(ends[0], &byte, 1) == 0);
}
#endif

// ----

typedef void supervision_case(struct arena *arena);

static void run(supervision_case *one)
{
    int status;
    fflush(stdout);
    pid_t process = fork();
    assert_true(process >= 0);
    if (!process) {
        one(&own_arena);
        _exit(0);
    }
    assert_int_equal(waitpid(process, &status, 0), process);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) fail_msg("status %d", status);
}

#define CASE(name)                                                                                 \
    TEST(test_##name) { run(name); }
CASE(lose_endless)
CASE(end_by_flag)
CASE(lose_suspended)
CASE(wait_for_busy)
CASE(take_over)
CASE(lose_dying)
CASE(lose_after_saving)
CASE(end_by_signal)
CASE(lose_by_signal)
CASE(lose_by_second_signal)
CASE(lose_unstoppable)
CASE(remove_temporary)
CASE(end_nested)
#ifdef __linux__
CASE(leave_nobody)
#endif
