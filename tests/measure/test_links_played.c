// measure links on simulated links: four processes whose messages go through pipes and whose clocks
// are simulated too. A message carries its arrival time, by the delay and the rate of its link, and
// a clock moves only by waiting for one. So the program has one right answer, whatever the machine
// does meanwhile: every repetition, both matrices and every name. tests/measure/test_known_links.sh
// runs the same program with real messages, MPI and clocks.
#include <signal.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/numbers/samples.h"
#include "measure/sampling/backend.h"
#include "measure/sampling/host.h"
#include "measure/links/links.h"
#include "measure/links/ranks.h"
#include "tests/support/folder.h"
#include "tests/support/check.h"

enum { RANKS = 4, LATE_EVERY = 9, SIZE_CLASSES = 32 };
static const double late_s =
    0.04; // a busy machine: every ninth message of a length arrives so much later

struct links {
    double delay_s[RANKS][RANKS], bytes_per_s[RANKS][RANKS];
    int clock[RANKS]; // the same number: the same clock
};

// ---- one process: replacements for measure/links/mpi.c, measure/sampling/host.c and the system's
// clock and name

struct ranks {
    int self;
    int to[RANKS], from[RANKS];  // messages
    int leader[RANKS];           // all with rank 0; at rank 0 one for each, else only [0]
    double now_s, free_s[RANKS]; // when the link to each is free again
    int messages[RANKS][SIZE_CLASSES];
    struct links links;
    void *awaited;
    int awaited_bytes, awaited_from;
};

static struct ranks own;

struct header {
    double arrival_s;
    int bytes;
};

static void put(int file, const void *data, size_t bytes)
{
    for (ssize_t done; bytes; data = (const char *)data + done, bytes -= (size_t)done)
        if ((done = write(file, data, bytes)) <= 0) _exit(98);
}

static void get(int file, void *data, size_t bytes)
{
    for (ssize_t done; bytes; data = (char *)data + done, bytes -= (size_t)done)
        if ((done = read(file, data, bytes)) <= 0) _exit(97);
}

double clock_s(void) { return own.now_s + 1000 * own.links.clock[own.self]; }

const char *host_clock(struct arena *arena)
{
    return arena_print(arena, "clock %d", own.links.clock[own.self]);
}

const double busy_load = 0.5;
double host_load(void) { return 0; }

void host_describe(struct machine *machine, struct arena *arena)
{
    (void)arena;
    *machine = (struct machine){
        .host = "played", .processor = "none", .gpu = "none", .memory_bytes = 1, .threads = 1};
}

int uname(struct utsname *system)
{
    memset(system, 0, sizeof *system);
    snprintf(system->nodename, sizeof system->nodename, "host-%d", own.self);
    return 0;
}

enum status ranks_open(struct ranks **ranks, struct arena *arena, struct error *err)
{
    (void)arena, (void)err;
    *ranks = &own;
    return OK;
}

void ranks_close(struct ranks *r) { (void)r; }
void ranks_abort(const struct ranks *r, int exit_code) { (void)r, _exit(exit_code); }
const char *ranks_library(struct arena *arena) { return (void)arena, "pipes"; }
int ranks_self(const struct ranks *r) { return r->self; }
int ranks_count(const struct ranks *r) { return (void)r, RANKS; }
void ranks_set_patience(struct ranks *r, bool patient) { (void)r, (void)patient; }

// Everybody's bytes to rank 0, and all of them back; nothing of it takes time.
void ranks_tell_all(struct ranks *r, const void *mine, int bytes, void *every)
{
    size_t size = (size_t)bytes;
    if (r->self) {
        put(r->leader[0], mine, size);
        get(r->leader[0], every, RANKS * size);
        return;
    }
    memcpy(every, mine, size);
    for (int i = 1; i < RANKS; i++) get(r->leader[i], (char *)every + (size_t)i * size, size);
    for (int i = 1; i < RANKS; i++) put(r->leader[i], every, RANKS * size);
}

void ranks_meet(struct ranks *r)
{
    double every_s[RANKS];
    ranks_tell_all(r, &r->now_s, (int)sizeof r->now_s, every_s);
    for (int i = 0; i < RANKS; i++) r->now_s = fmax(r->now_s, every_s[i]);
}

void ranks_share(struct ranks *r, void *data, int bytes)
{
    if (r->self) get(r->leader[0], data, (size_t)bytes);
    for (int i = 1; i < RANKS && !r->self; i++) put(r->leader[i], data, (size_t)bytes);
}

void ranks_maximum(struct ranks *r, double *values, int count)
{
    double *every = malloc(RANKS * (size_t)count * sizeof *every);
    if (!every) _exit(96);
    ranks_tell_all(r, values, count * (int)sizeof *values, every);
    for (int i = 0; i < RANKS * count && !r->self; i++)
        values[i % count] = fmax(values[i % count], every[i]);
    free(every);
}

void ranks_send(struct ranks *r, const void *data, int bytes, int to)
{
    double begin_s = fmax(r->now_s, r->free_s[to]);
    r->free_s[to] = begin_s + bytes / r->links.bytes_per_s[r->self][to];
    struct header header = {r->free_s[to] + r->links.delay_s[r->self][to], bytes};
    int class = 0;
    for (int size = bytes; size > 1; size /= 2) class ++;
    if (bytes && ++r->messages[to][class] % LATE_EVERY == 0) header.arrival_s += late_s;
    put(r->to[to], &header, sizeof header);
    put(r->to[to], data, (size_t)bytes);
}

void ranks_receive(struct ranks *r, void *data, int bytes, int from)
{
    struct header header;
    get(r->from[from], &header, sizeof header);
    if (header.bytes != bytes) _exit(95);
    get(r->from[from], data, (size_t)bytes);
    r->now_s = fmax(r->now_s, header.arrival_s);
}

void ranks_receive_begin(struct ranks *r, void *data, int bytes, int from)
{
    r->awaited = data, r->awaited_bytes = bytes, r->awaited_from = from;
}

void ranks_receive_end(struct ranks *r)
{
    ranks_receive(r, r->awaited, r->awaited_bytes, r->awaited_from);
}

// ---- all four

static void open_pipes(struct ranks ranks[RANKS], const struct links *links)
{
    int ends[2];
    for (int a = 0; a < RANKS; a++) ranks[a] = (struct ranks){.self = a, .links = *links};
    for (int a = 0; a < RANKS; a++)
        for (int b = 0; b < RANKS; b++) {
            assert_int_equal(pipe(ends), 0);
            ranks[a].to[b] = ends[1];
            ranks[b].from[a] = ends[0];
        }
    for (int a = 1; a < RANKS; a++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
        ranks[0].leader[a] = ends[0];
        ranks[a].leader[0] = ends[1];
    }
}

static void close_pipes(const struct ranks ranks[RANKS])
{
    for (int a = 0; a < RANKS; a++)
        for (int b = 0; b < RANKS; b++) close(ranks[a].to[b]), close(ranks[b].from[a]);
    for (int a = 1; a < RANKS; a++) close(ranks[0].leader[a]), close(ranks[a].leader[0]);
}

struct played {
    struct samples samples;
    const char *report;
};

static void run_rank(const struct ranks *ranks, int self, const char *document, const char *report)
{
    char *words[] = {"links",      "--factor", "512", "--largest",     "262144",
                     "--budget-s", "30",       "-o",  (char *)document};
    struct error err = {OK, ""};
    int exit_code = 0;
    own = ranks[self];
    if (!self && !freopen(report, "w", stderr)) _exit(94);
    enum status status =
        command_call(&measure_links, (int)ARRAY_LENGTH(words), words, &exit_code, &own_arena, &err);
    fflush(stderr);
    _exit(status == OK ? exit_code : 93);
}

// One that fails ends the others, who would wait for it.
static void wait_for_all(pid_t processes[RANKS])
{
    bool failed = false;
    for (int left = RANKS; left; left--) {
        int status;
        pid_t ended = wait(&status);
        assert_true(ended > 0);
        for (int i = 0; i < RANKS; i++)
            if (processes[i] == ended) processes[i] = 0;
        if (WIFEXITED(status) && !WEXITSTATUS(status)) continue;
        print_message("a rank ended with status %x\n", (unsigned)status);
        for (int i = 0; i < RANKS && !failed; i++)
            if (processes[i]) kill(processes[i], SIGKILL);
        failed = true;
    }
    assert_false(failed);
}

static struct played play(const struct links *links, struct arena *arena)
{
    char folder[FOLDER_SIZE];
    struct ranks ranks[RANKS];
    pid_t processes[RANKS];
    struct played p = {.report = NULL};
    size_t size;
    assert_int_equal(folder_make(folder), 0);
    const char *document = arena_print(arena, "%s/links.json", folder),
               *report = arena_print(arena, "%s/report", folder);
    open_pipes(ranks, links);
    for (int i = 0; i < RANKS; i++) {
        processes[i] = fork();
        assert_true(processes[i] >= 0);
        if (!processes[i]) run_rank(ranks, i, document, report);
    }
    close_pipes(ranks);
    wait_for_all(processes);
    MUST(samples_load(&p.samples, document, arena, &own_err));
    MUST(file_read(report, &p.report, &size, arena, &own_err));
    assert_int_equal(folder_remove(folder), 0);
    return p;
}

// ---- what the right answer is

static bool share_clock(const struct links *l, int a, int b) { return l->clock[a] == l->clock[b]; }

static double true_delay_s(const struct links *l, int from, int to)
{
    double there_s = l->delay_s[from][to], back_s = l->delay_s[to][from];
    return share_clock(l, from, to) ? there_s : (there_s + back_s) / 2;
}

// Late messages are late by exactly so much, and are fewer than half.
static void check_sample(const struct sample *s, const struct links *l)
{
    double true_s = true_delay_s(l, s->from, s->to) +
                    (double)s->dimensions[0] / l->bytes_per_s[s->from][s->to];
    int late = 0;
    assert_true(s->repetitions >= 8);
    for (int i = 0; i < s->repetitions; i++) {
        double over_s = s->seconds[i] - true_s;
        bool is_late = over_s > late_s / 2;
        late += is_late;
        if (!(fabs(over_s - (is_late ? late_s : 0)) < 1e-9))
            fail_msg("%lld bytes from %d to %d: %.12f s measured, %.12f played",
                     (long long)s->dimensions[0], s->from, s->to, s->seconds[i], true_s);
    }
    assert_true(late && 2 * late < s->repetitions);
}

static const char *shown(double value, struct arena *arena)
{
    return arena_print(arena, " %12.4g", value);
}

static const char *matrix(const struct links *l, bool rates, struct arena *arena)
{
    const char *text = rates ? "rates in GB/s, from the row's to the column's:\n             "
                             : "delays in us, from the row's to the column's:\n             ";
    for (int to = 0; to < RANKS; to++) text = arena_print(arena, "%s       host-%d", text, to);
    for (int from = 0; from < RANKS; from++) {
        text = arena_print(arena, "%s\nhost-%-7d ", text, from);
        for (int to = 0; to < RANKS; to++) {
            double delay_s = true_delay_s(l, from, to) + 1 / l->bytes_per_s[from][to];
            text = arena_print(
                arena, "%s%s", text,
                from == to ? "            -"
                           : shown(rates ? l->bytes_per_s[from][to] / 1e9 : delay_s * 1e6, arena));
        }
    }
    return arena_print(arena, "%s\n", text);
}

static void expect(const char *report, const char *text)
{
    if (!strstr(report, text)) fail_msg("expected\n%s\nin\n%s", text, report);
}

static void check(const struct played *p, const struct links *l, const char *const *named,
                  const char *total, struct arena *arena)
{
    int names = 0, expected = 0;
    assert_true(p->samples.sample_count > RANKS * (RANKS - 1) * 3); // and some that are alone
    for (int i = 0; i < p->samples.sample_count; i++) check_sample(&p->samples.samples[i], l);
    expect(p->report, matrix(l, true, arena));
    expect(p->report, matrix(l, false, arena));
    for (; named[expected]; expected++) expect(p->report, named[expected]);
    for (const char *at = p->report; (at = strstr(at, " -> ")); at++) names++;
    assert_int_equal(names, expected);
    expect(p->report, total);
}

static struct links alike(void)
{
    struct links l = {.clock = {0}};
    for (int i = 0; i < RANKS * RANKS; i++)
        l.delay_s[i / RANKS][i % RANKS] = 1e-3, l.bytes_per_s[i / RANKS][i % RANKS] = 3e7;
    return l;
}

static struct links unlike(void)
{
    static const double mbit[RANKS][RANKS] = {
        {1, 60, 120, 240}, {60, 1, 240, 60}, {120, 240, 1, 240}, {240, 60, 60, 1}};
    static const double us[RANKS][RANKS] = {{0, 3000, 6000, 12000},
                                            {3000, 0, 3000, 6000},
                                            {6000, 3000, 0, 3000},
                                            {12000, 6000, 12000, 0}};
    struct links l = {.clock = {0}};
    for (int i = 0; i < RANKS * RANKS; i++) {
        l.bytes_per_s[i / RANKS][i % RANKS] = mbit[i / RANKS][i % RANKS] / 8 * 1e6;
        l.delay_s[i / RANKS][i % RANKS] = us[i / RANKS][i % RANKS] * 1e-6;
    }
    return l;
}

// ---- the tests

TEST(test_alike)
{
    struct links l = alike();
    struct played p = play(&l, arena);
    check(&p, &l, (const char *const[]){NULL},
          "0 asymmetric, 0 slow, 0 of 4 tested slower with others busy", arena);
    assert_null(strstr(p.report, "half the round trip"));
}

#define SLOW(a, b) "slow: host-" #a " -> host-" #b " 0.0075 GB/s, the median link 0.015 GB/s"

TEST(test_unlike)
{
    struct links l = unlike();
    struct played p = play(&l, arena);
    static const char *const named[] = {
        "asymmetric: host-2 -> host-3 0.03 GB/s, back 0.0075 GB/s",
        "asymmetric: host-2 -> host-3 3000 us, back 1.2e+04 us",
        SLOW(0, 1),
        SLOW(1, 0),
        SLOW(1, 3),
        SLOW(3, 1),
        SLOW(3, 2),
        NULL,
    };
    check(&p, &l, named, "2 asymmetric, 5 slow, 0 of 4 tested slower with others busy", arena);
    assert_null(strstr(p.report, "half the round trip"));
}

// The last two have clocks of their own: rates still belong to their direction, delays become half
// of there and back.
TEST(test_own_clocks)
{
    struct links l = unlike();
    l.clock[2] = 1, l.clock[3] = 7;
    struct played p = play(&l, arena);
    static const char *const named[] = {
        "asymmetric: host-2 -> host-3 0.03 GB/s, back 0.0075 GB/s",
        SLOW(0, 1),
        SLOW(1, 0),
        SLOW(1, 3),
        SLOW(3, 1),
        SLOW(3, 2),
        NULL,
    };
    check(&p, &l, named, "1 asymmetric, 5 slow, 0 of 4 tested slower with others busy", arena);
    expect(p.report, "half the round trip");
}
