// plumbline run: a plan carried out, by this program's kernels on MPI ranks or by PyTorch's
// pipeline runtime. It starts a launcher, shows what that says, and reads the run that is written.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "solve/commands/commands.h"
#include "solve/commands/internal.h"
#include "solve/commands/verbs.h"

enum { WORDS_MAX = 64, LINE_BYTES = 4096, STOP_WAIT_MS = 100 };

struct options {
    const char *plan, *output, *launcher, *python, *backend, *simulate, *name;
    int64_t iterations, warm_ups, threads;
    int with;
    bool quiet;
};

static const struct option_row rows[] = {
    {"PLAN", OPTION_PATH, OPT(plan), .low = 1},
    {"--with", OPTION_NAME, OPT(with),
     "own: the kernels of plumbline measure, on one MPI process for each rank; torch: "
     "torch.distributed.pipelining, on one process for each rank (default: own)",
     .names = runner_names},
    {"--iterations", OPTION_INT, OPT(iterations), "iterations to time (default: 5)", 1, 100000},
    {"--warm-ups", OPTION_INT, OPT(warm_ups), "iterations before them (default: 1)", 0, 1000},
    {"--launcher", OPTION_TEXT, OPT(launcher),
     "with own: words that start processes, before -n RANKS (default: mpirun)"},
    {"--backend", OPTION_TEXT, OPT(backend),
     "what computes. own: cpu, cuda or simulated; torch: cpu (gloo) or cuda (NCCL) (default: cpu)"},
    {"--simulate", OPTION_TEXT, OPT(simulate), "with --backend simulated: as for measure compute"},
    {"--python", OPTION_TEXT, OPT(python),
     "with torch: the Python that has PyTorch (default: python3)"},
    {"--threads", OPTION_INT, OPT(threads), "threads of each rank (default: 1)", 1, 1024},
    {"--name", OPTION_TEXT, OPT(name), "device name in the samples (default: the processor's)"},
    {"--quiet", OPTION_FLAG, OPT(quiet), "print nothing but errors on stderr"},
    {"-o", OPTION_PATH, OPT(output), "output file for the run (default: run.json)"},
};

// ---- words of the launcher

struct words {
    const char *items[WORDS_MAX];
    int count;
};

static void add(struct words *w, const char *word)
{
    if (w->count < WORDS_MAX - 1) w->items[w->count++] = word;
}

static void add_pair(struct words *w, const char *option, const char *value)
{
    if (!value) return;
    add(w, option);
    add(w, value);
}

static const char *beside(const char *name, struct arena *arena)
{
    const char *path = program_beside(name, arena);
    return path && !access(path, X_OK) ? path : name;
}

static void add_own(struct words *w, const struct options *o, const char *written, int ranks,
                    struct arena *arena)
{
    char *rest = arena_copy_text(arena, o->launcher), *word;
    while ((word = strtok_r(rest, " ", &rest))) add(w, word);
    add_pair(w, "-n", arena_print(arena, "%d", ranks));
    add(w, beside("plumbline-measure", arena));
    add(w, "run");
    add(w, o->plan);
    add_pair(w, "--iterations", arena_print(arena, "%lld", (long long)o->iterations));
    add_pair(w, "--warm-ups", arena_print(arena, "%lld", (long long)o->warm_ups));
    add_pair(w, "--threads", arena_print(arena, "%lld", (long long)o->threads));
    add_pair(w, "--backend", o->backend);
    add_pair(w, "--simulate", o->simulate);
    add_pair(w, "--name", o->name);
    add_pair(w, "-o", written);
    if (o->quiet) add(w, "--quiet");
}

static enum status add_torch(struct words *w, const struct options *o, const char *written,
                             struct torch_files *files, const struct plan *plan,
                             struct arena *arena, struct error *err)
{
    const struct torch_task task = {written,     o->backend, o->name, o->iterations,
                                    o->warm_ups, o->threads, o->quiet};
    TRY(torch_write_task(files, &task, plan, arena, err));
    add(w, o->python);
    add(w, files->program);
    add(w, files->task);
    return OK;
}

// ---- the launcher

// That Open MPI may start more processes than there are processors; other launchers do not read it.
static void set_environment(void)
{
    setenv("PYTHONDONTWRITEBYTECODE", "1", 0);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);
}

struct ending {
    char error[LINE_BYTES];  // the last line in which a rank says why it failed
    char lost[LINE_BYTES];   // the launcher's line about a process that died
    char banner[LINE_BYTES]; // the first line of what it says between rulers
    bool in_banner;
    const struct carry_listener *to;
};

// Lines of the launcher between rulers are its own; what ranks say is passed on.
static void read_line(struct ending *e, const char *line)
{
    static const char own[] = "plumbline measure run: ", torch[] = "plumbline run: ";
    if (!strncmp(line, "-----", 5)) {
        e->in_banner = !e->in_banner;
        return;
    }
    if (e->in_banner && !*e->banner) snprintf(e->banner, sizeof e->banner, "%s", line);
    const char *rank = strstr(line, "exited on signal") ? strstr(line, "rank") : NULL;
    if (rank) snprintf(e->lost, sizeof e->lost, "%.*s", (int)strcspn(rank, "."), rank);
    if (!strncmp(line, own, sizeof own - 1))
        snprintf(e->error, sizeof e->error, "%s", line + sizeof own - 1);
    else if (!strncmp(line, torch, sizeof torch - 1))
        snprintf(e->error, sizeof e->error, "%s", line + sizeof torch - 1);
    else if (!e->in_banner && !strstr(line, "MPI_ABORT") && !strstr(line, "mpirun") &&
             !strstr(line, "ORTE_ERROR_LOG") && e->to->tell)
        e->to->tell(e->to->argument, line);
}

// SIGUSR1 is passed on by launchers: every rank ends after its iteration, and the first one writes.
// A second request ends all at once.
static void pass_stop(const struct carry_listener *to, pid_t child, int *passed)
{
    for (; to->stop && *passed < *to->stop && *passed < 2; ++*passed)
        kill(child, *passed ? SIGTERM : SIGUSR1);
}

// Until the launcher and every rank have closed their end.
static void read_all(struct ending *e, int from, pid_t child)
{
    char line[LINE_BYTES], some[LINE_BYTES];
    size_t length = 0;
    int passed = 0;
    for (;;) {
        struct pollfd wait = {.fd = from, .events = POLLIN};
        int ready = poll(&wait, 1, STOP_WAIT_MS);
        pass_stop(e->to, child, &passed);
        if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
        ssize_t got = read(from, some, sizeof some);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        for (ssize_t i = 0; i < got; i++) {
            if (some[i] != '\n' && length + 1 < sizeof line) {
                line[length++] = some[i];
                continue;
            }
            line[length] = '\0';
            read_line(e, line);
            length = 0;
        }
    }
}

// *code: of the launcher; 128 + the signal that ended it. It is in a group of its own, so that it
// gets only what is meant for it.
static enum status launch(const struct words *w, struct ending *e, int *code, struct error *err)
{
    int ends[2], status;
    char **arguments = (char **)w->items;
    if (pipe(ends)) return fail(err, SYSTEM, "a pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0) return fail(err, SYSTEM, "a process: %s", strerror(errno));
    if (!child) {
        setpgid(0, 0);
        set_environment();
        watch_take_long_turns();
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]), close(ends[1]);
        execvp(arguments[0], arguments);
        dprintf(STDERR_FILENO, "plumbline run: %s: %s\n", arguments[0], strerror(errno));
        _exit(127);
    }
    close(ends[1]);
    read_all(e, ends[0], child);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return OK;
}

// ---- the result

static void show(const struct carry_listener *to, const struct plan_run *run,
                 const struct plan *plan, struct arena *arena)
{
    int64_t took = plan_run_median_ns(run, arena);
    to->tell(to->argument,
             arena_print(arena,
                         "%d iterations with %s, median %s on the %s clock; predicted %s, "
                         "%+.1f %%%s",
                         run->iteration_count, runner_names[run->with], report_time(took, arena),
                         run_clock_names[run->clock], report_time(plan->iteration_ns, arena),
                         100 * ((double)took / (double)plan->iteration_ns - 1),
                         run->end == RUN_INTERRUPTED ? "; interrupted" : ""));
}

// Nothing was written.
static enum status explain_ending(const struct ending *e, const char *launcher, int code,
                                  struct error *err)
{
    if (*e->error) return fail(err, code == 2 || code == 127 ? BAD_INPUT : SYSTEM, "%s", e->error);
    if (*e->lost)
        return fail(err, SYSTEM, "%s; the others were ended, and nothing was written", e->lost);
    return fail(err, SYSTEM, "%s ended with exit code %d, and nothing was written%s%s%s", launcher,
                code, *e->banner ? ": " : "", e->banner,
                strstr(e->banner, "as root") ? " (--launcher 'mpirun --allow-run-as-root' lets it)"
                                             : "");
}

static enum status carry(const struct options *o, const struct carry_listener *to,
                         bool *interrupted, struct arena *arena, struct error *err)
{
    struct plan plan, beside;
    struct plan_run result;
    struct words words = {{0}, 0};
    struct ending ending = {.to = to};
    struct torch_files files = {0};
    int code = 0;
    const char *written = arena_print(arena, "%s.part", o->output);
    TRY(plan_load(&plan, o->plan, arena, err));
    TRY(report_expect_stages(&plan, err));
    if (plan.widths)
        return refuse(err, "%s: plans whose stages have different widths cannot be run", o->plan);
    if (plan_mixing_stages(&plan))
        return refuse(err,
                      "%s: runs neither shard some layers further than others nor split the "
                      "vocabulary over other ranks",
                      o->plan);
    TRY(file_check_place(o->output, err));
    if (o->with == RUNNER_OWN)
        add_own(&words, o, written,
                plan.layout.pipeline * plan.layout.data * plan.layout.context * plan.layout.tensor,
                arena);
    else TRY(add_torch(&words, o, written, &files, &plan, arena, err));
    remove(written); // what is there afterwards is this run's
    enum status launched = launch(&words, &ending, &code, err);
    if (files.task) remove(files.task), remove(files.schedule);
    TRY(launched);
    if (access(written, R_OK)) return explain_ending(&ending, words.items[0], code, err);
    TRY(plan_run_load(&result, written, arena, err));
    TRY(plan_run_check(&result, &plan, err));
    if (rename(written, o->output)) return fail(err, SYSTEM, "%s: %s", o->output, strerror(errno));
    plan_bring_run(&result, &plan, arena);
    TRY(plan_for_run(&beside, &plan, &result, arena, err));
    if (to->tell && !o->quiet) show(to, &result, &beside, arena);
    *interrupted = result.end == RUN_INTERRUPTED;
    return OK;
}

// ---- the command: signals ask for its end

static volatile int signals;

static void note_signal(int number) { (void)number, signals = signals + 1; }

static void tell_error_output(void *argument, const char *line)
{
    (void)argument;
    fprintf(stderr, "%s\n", line);
}

COMMAND_RUN(run)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    const struct carry_listener to = {&signals, tell_error_output, NULL};
    struct sigaction note = {.sa_handler = note_signal}, before[ARRAY_LENGTH(numbers)];
    bool interrupted = false;
    signals = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) sigaction(numbers[i], &note, &before[i]);
    enum status status = carry(options, &to, &interrupted, arena, err);
    for (size_t i = 0; i < ARRAY_LENGTH(numbers); i++) sigaction(numbers[i], &before[i], NULL);
    if (interrupted) *exit_code = EXIT_OPEN;
    return status;
}

const struct command command_carry = {
    .name = "run",
    .text = "carry out a plan -> run, its passes and messages with their times",
    .about =
        "Every rank of the plan is a process. With own, the kernels of plumbline measure run its "
        "passes in the plan's order, and messages have their true sizes; with torch, "
        "torch.distributed.pipelining runs transformer blocks of the model's shape by the plan's "
        "split and schedule. Times are on a virtual clock, of processor time and stamps inside "
        "messages, and on the wall clock; report --against lays the run beside its plan.",
    .usage = "plumbline run PLAN [OPTION ...]",
    READS(struct options, rows,
          {.output = "run.json",
           .launcher = "mpirun",
           .python = "python3",
           .backend = "cpu",
           .iterations = 5,
           .warm_ups = 1,
           .threads = 1}),
    .run = run,
};

enum status carry_words(const struct carry_listener *to, int argc, char **argv, struct arena *arena,
                        struct error *err)
{
    struct options o;
    bool interrupted;
    TRY(command_read_options(&command_carry, &o, argc, argv, arena, err));
    return carry(&o, to, &interrupted, arena, err);
}
