// Runs test programs, several at a time, the longest first, and counts them.
// usage: run [--jobs N] [--alone "NAME ..."] [--most-mb MB] [--times FILE] [--hints FILE]
//            [--logs FOLDER] PROGRAM ...
//   --jobs     how many at a time; default 1. Of several, those that mostly sleep are not counted
//   --alone    programs that run after the others, one at a time
//   --most-mb  a program that passes but whose largest process takes more has failed
//   --times    the time of each program, one per line; read to order the programs, then written
//   --hints    the same of another day, for programs that --times does not know
//   --logs     where the logs of scripts are written; a program's log is next to it, as NAME.log
// A script (*.sh) is run by sh. What a program prints is kept in its log, and shown when it fails;
// lines "skipped: ..." are always shown. Memory is that of a program's largest process, including
// the descendants that it waited for. The last line is "N passed, N failed".
#define _DEFAULT_SOURCE // wait4
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAMS_MAX = 1000, PATH_BYTES = 1024, NAME_BYTES = 100 };

static const double meant_cpu_s = 30; // programs that take more are only named

struct row {
    char name[NAME_BYTES];
    double wall_s, cpu_s, peak_mb;
};
struct times {
    struct row rows[PROGRAMS_MAX];
    int count;
};
struct program {
    const char *path, *name;
    char log[PATH_BYTES];
    double expected_s, began_s;
    int place;
    bool is_alone, waits;
    pid_t id; // 0 unless it runs
};
struct settings {
    int jobs;
    double most_mb;
    const char *alone, *times, *hints, *logs;
};

static struct program programs[PROGRAMS_MAX];
static int program_count, passed, failed;
static struct times times, hints;
static struct settings settings = {.jobs = 1, .most_mb = INFINITY, .alone = "", .logs = "build"};

static _Noreturn void give_up(const char *what, const char *which)
{
    fprintf(stderr, "run: %s %s%s%s\n", what, which, errno ? ": " : "",
            errno ? strerror(errno) : "");
    exit(2);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- what programs took

static struct row *find_row(struct times *t, const char *name)
{
    for (int i = 0; i < t->count; i++)
        if (!strcmp(t->rows[i].name, name)) return &t->rows[i];
    return NULL;
}

static void read_times(struct times *t, const char *path)
{
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return;
    char line[256];
    while (t->count < PROGRAMS_MAX && fgets(line, sizeof line, file)) {
        struct row r;
        if (sscanf(line, "%lf %lf %lf %99s", &r.wall_s, &r.cpu_s, &r.peak_mb, r.name) == 4)
            t->rows[t->count++] = r;
    }
    fclose(file);
}

static void write_times(const struct times *t, const char *path)
{
    char temporary[PATH_BYTES];
    if (!path) return;
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "w");
    if (!file) give_up("cannot write", temporary);
    fputs("# seconds, seconds of CPU, MB of the largest process, program\n", file);
    for (int i = 0; i < t->count; i++) {
        const struct row *r = &t->rows[i];
        fprintf(file, "%6.1f %6.1f %5.0f %s\n", r->wall_s, r->cpu_s, r->peak_mb, r->name);
    }
    if (fclose(file) || rename(temporary, path)) give_up("cannot write", path);
}

static void keep_row(struct row r)
{
    struct row *old = find_row(&times, r.name);
    if (old) *old = r;
    else if (times.count < PROGRAMS_MAX) times.rows[times.count++] = r;
}

// ---- the order

// What a program took: an unknown one may be the longest.
static struct row expect(const char *name)
{
    const struct row *r = find_row(&times, name);
    if (!r) r = find_row(&hints, name);
    return r ? *r : (struct row){.wall_s = INFINITY, .cpu_s = INFINITY};
}

// A program that sleeps most of its time takes no processor from others.
static bool is_asleep(const struct row *r) { return r->wall_s > 8 && r->wall_s > 8 * r->cpu_s; }

static bool is_among(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)); at++)
        if ((at == names || at[-1] == ' ') && (!at[length] || at[length] == ' ')) return true;
    return false;
}

static bool is_script(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && !strcmp(path + length - 3, ".sh");
}

static void add_program(const char *path)
{
    struct program *p = &programs[program_count];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int length;
    if (program_count == PROGRAMS_MAX) give_up("too many programs:", path);
    *p = (struct program){.path = path, .name = name, .place = program_count++};
    struct row expected = expect(name);
    p->expected_s = expected.wall_s;
    p->waits = settings.jobs > 1 && is_asleep(&expected);
    p->is_alone = is_among(settings.alone, name);
    if (is_script(path)) length = snprintf(p->log, sizeof p->log, "%s/%s.log", settings.logs, name);
    else length = snprintf(p->log, sizeof p->log, "%s.log", path);
    if (length >= (int)sizeof p->log || strlen(name) >= NAME_BYTES) give_up("too long:", path);
}

static int earlier(const void *a, const void *b)
{
    const struct program *x = a, *y = b;
    if (x->is_alone != y->is_alone) return x->is_alone - y->is_alone;
    if (x->expected_s != y->expected_s) return x->expected_s < y->expected_s ? 1 : -1;
    return x->place - y->place;
}

// ---- one program

static _Noreturn void become(const struct program *p)
{
    int nothing = open("/dev/null", O_RDONLY);
    int log = open(p->log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (log < 0 || nothing < 0) give_up("cannot write", p->log);
    dup2(nothing, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close(nothing);
    close(log);
    if (is_script(p->path)) execlp("sh", "sh", p->path, (char *)NULL);
    else execl(p->path, p->path, (char *)NULL);
    give_up("cannot run", p->path);
}

static void start(struct program *p)
{
    fflush(stdout);
    p->began_s = now_s();
    p->id = fork();
    if (p->id < 0) give_up("cannot start", p->path);
    if (!p->id) become(p);
}

static void show_log(const struct program *p, const char *only)
{
    char line[4096];
    FILE *file = fopen(p->log, "r");
    if (!file) return;
    while (fgets(line, sizeof line, file))
        if (!only) fputs(line, stdout);
        else if (!strncmp(line, only, strlen(only))) printf("        %s", line);
    fclose(file);
}

static void tell(const struct program *p, int status, const struct row *r)
{
    char why[64] = "";
    if (WIFSIGNALED(status)) snprintf(why, sizeof why, "signal %d, ", WTERMSIG(status));
    else if (status) snprintf(why, sizeof why, "exit %d, ", WEXITSTATUS(status));
    else if (r->peak_mb > settings.most_mb)
        snprintf(why, sizeof why, "more than %.0f MB, ", settings.most_mb);
    show_log(p, *why ? NULL : "skipped: ");
    printf("%s  %s  (%s%.1f s, %.1f s of CPU, %.0f MB)\n", *why ? "FAILED" : "passed", p->name, why,
           r->wall_s, r->cpu_s, r->peak_mb);
    *why ? failed++ : passed++;
}

static void finish(struct program *p, int status, const struct rusage *used)
{
    struct row r = {.wall_s = now_s() - p->began_s, .peak_mb = (double)used->ru_maxrss / 1024};
    r.cpu_s = (double)(used->ru_utime.tv_sec + used->ru_stime.tv_sec) +
              1e-6 * (double)(used->ru_utime.tv_usec + used->ru_stime.tv_usec);
    snprintf(r.name, sizeof r.name, "%s", p->name);
    tell(p, status, &r);
    keep_row(r);
    p->id = 0; // the system gives numbers of processes that ended to new ones
}

static void await_one(void)
{
    struct rusage used;
    int status;
    pid_t id = wait4(-1, &status, 0, &used);
    if (id < 0) give_up("cannot wait for", "a program");
    for (int i = 0; i < program_count; i++)
        if (programs[i].id == id) finish(&programs[i], status, &used);
}

// ---- all of them

static int count_running(bool with_waiting)
{
    int running = 0;
    for (int i = 0; i < program_count; i++)
        running += programs[i].id && (with_waiting || !programs[i].waits);
    return running;
}

static void run_all(void)
{
    for (int i = 0; i < program_count; i++) {
        const struct program *p = &programs[i];
        int most = p->is_alone ? 1 : settings.jobs;
        while (!p->waits && count_running(p->is_alone) >= most) await_one();
        start(&programs[i]);
    }
    while (count_running(true)) await_one();
}

static void name_slow(void)
{
    for (int i = 0; i < program_count; i++) {
        const struct row *r = find_row(&times, programs[i].name);
        if (r && r->cpu_s > meant_cpu_s)
            printf("slow    %s took %.0f s of CPU; %.0f are meant\n", r->name, r->cpu_s,
                   meant_cpu_s);
    }
}

static void read_option(const char *name, const char *value)
{
    if (!value) give_up("no value for", name);
    if (!strcmp(name, "--jobs")) settings.jobs = atoi(value) > 1 ? atoi(value) : 1;
    else if (!strcmp(name, "--most-mb")) settings.most_mb = atof(value);
    else if (!strcmp(name, "--alone")) settings.alone = value;
    else if (!strcmp(name, "--times")) settings.times = value;
    else if (!strcmp(name, "--hints")) settings.hints = value;
    else if (!strcmp(name, "--logs")) settings.logs = value;
    else give_up("unknown option", name);
}

int main(int count, char **words)
{
    int i = 1;
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    for (; i < count && !strncmp(words[i], "--", 2); i += 2) read_option(words[i], words[i + 1]);
    read_times(&times, settings.times);
    read_times(&hints, settings.hints);
    for (; i < count; i++) add_program(words[i]);
    qsort(programs, (size_t)program_count, sizeof *programs, earlier);
    run_all();
    write_times(&times, settings.times);
    name_slow();
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
