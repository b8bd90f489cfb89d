// Judges what plumbline-measure links found between hosts by what really happened there, as
// recorded by independent observers. usage:
//   judge DOCUMENT REPORT WITNESS RECORD|- shared|own HOSTS RATES DELAYS BURST_BYTES
// the samples; what the program said; tests/links/witness.c's files, without their ranks;
// tests/links/relay.c's record; whether the hosts share a clock; "1 2 ...", the host of each rank;
// tables of tests/links/hosts.sh.
//
// Nothing here depends on how fast or how busy the machine is.
// 1. For every repetition the witness knows two times between which the measured one is, because
//    MPI was called right before and right after each reading of the clock. On one clock a
//    repetition lasts from the call that sends to the end of the receive; on two clocks, at the
//    sender alone, to the end of the answer, less half of the fastest of three empty exchanges
//    before.
// 2. Between the call that sends and the end all bytes of the message passed the relay, which
//    held every frame for the configured delay.
// 3. On one clock no repetition is shorter than the configured delay and rate allow.
// 4. The report follows from the document's seconds, by the definitions at the head of
//    measure/links/report.c.
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS = 4, SIZES_MAX = 16, REPETITIONS_MAX = 4096, LINE_BYTES = 1 << 18 };

struct event {
    char name[12];
    int64_t ns;
    int peer, bytes;
};
struct events {
    struct event *list;
    int count;
};
struct frame {
    int64_t taken_ns, passed_ns;
    int from, to, bytes;
};
struct sample {
    int from, to, bytes, warm_ups, count;
    double seconds[REPETITIONS_MAX];
};
struct range {
    double low, high;
};

static struct events ranks[HOSTS];
static struct frame *frames;
static int frame_count, sample_count, rank_count, failures, judged;
static struct sample samples[HOSTS * HOSTS * SIZES_MAX];
static double *widths_s; // of the ranges that repetitions were judged by
static int hosts[HOSTS], rate_mbit[HOSTS][HOSTS], delay_us[HOSTS][HOSTS], burst_bytes;
static const double rounding_s = 1e-6,
                    digits = 7e-4; // readings as doubles; four digits in the report

static void complain(const char *format, ...)
{
    va_list arguments;
    if (failures++ > 20) return;
    va_start(arguments, format);
    fputs("FAILED: ", stdout);
    vprintf(format, arguments);
    putchar('\n');
    va_end(arguments);
}

static FILE *open_or_die(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file) return file;
    perror(path);
    exit(2);
}

static void *grow(void *list, int count, size_t size)
{
    if (count & (count - 1)) return list;
    void *more = realloc(list, (size_t)(count ? 2 * count : 1) * size);
    if (!more) exit(2);
    return more;
}

// ---- reading

static void read_table(int table[HOSTS][HOSTS], const char *text)
{
    char *rest = (char *)text;
    for (int i = 0; i < HOSTS * HOSTS; i++)
        table[i / HOSTS][i % HOSTS] = (int)strtol(rest, &rest, 10);
}

static void read_witness(struct events *e, const char *prefix, int rank)
{
    char path[4096];
    struct event x;
    snprintf(path, sizeof path, "%s.%d", prefix, rank);
    FILE *file = open_or_die(path);
    for (long long ns; fscanf(file, "%11s %lld %d %d", x.name, &ns, &x.peer, &x.bytes) == 4;
         e->list[e->count++] = x) {
        e->list = grow(e->list, e->count, sizeof x);
        x.ns = ns;
    }
    fclose(file);
}

static void read_record(const char *path)
{
    static char line[LINE_BYTES];
    FILE *file = open_or_die(path);
    while (fgets(line, sizeof line, file)) {
        struct frame f;
        long long taken, passed;
        if (sscanf(line, "frame %d %d %d %lld %lld", &f.from, &f.to, &f.bytes, &taken, &passed) !=
            5)
            continue;
        f.taken_ns = taken, f.passed_ns = passed;
        frames = grow(frames, frame_count, sizeof f);
        frames[frame_count++] = f;
        if (passed - taken < 1000LL * delay_us[f.from - 1][f.to - 1])
            complain("the relay held a frame from %d to %d for %lld ns", f.from, f.to,
                     passed - taken);
    }
    fclose(file);
}

static void read_seconds(struct sample *s, const char *list)
{
    for (char *rest = strchr(list, '[') + 1; *rest && *rest != ']' && s->count < REPETITIONS_MAX;
         rest += strspn(rest, ", "))
        s->seconds[s->count++] = strtod(rest, &rest);
}

// As the program writes documents: a field a line, "stopped_by" the last one of a sample.
static void read_document(const char *path)
{
    static char line[LINE_BYTES];
    FILE *file = open_or_die(path);
    while (fgets(line, sizeof line, file)) {
        struct sample *s = &samples[sample_count];
        char *list = strstr(line, "\"seconds\": ");
        if (list) read_seconds(s, list);
        sscanf(line, " \"dimensions\": [%d]", &s->bytes);
        sscanf(line, " \"from\": %d", &s->from);
        sscanf(line, " \"to\": %d", &s->to);
        sscanf(line, " \"warm_ups\": %d", &s->warm_ups);
        if (strstr(line, "\"stopped_by\"")) sample_count++;
    }
    fclose(file);
}

// ---- 1: each repetition between two times

static bool is(const struct event *e, const char *name, int peer, int bytes)
{
    return !strcmp(e->name, name) && e->peer == peer && e->bytes == bytes;
}

// The n-th event of a kind, from 0; -1: there are fewer.
static int find(const struct events *e, int n, const char *name, int peer, int bytes)
{
    for (int i = 0; i < e->count; i++)
        if (is(&e->list[i], name, peer, bytes) && n-- == 0) return i;
    return -1;
}

static int64_t returned_before(const struct events *e, int i)
{
    while (--i >= 0)
        if (strcmp(e->list[i].name, "send") && strcmp(e->list[i].name, "receive") &&
            strcmp(e->list[i].name, "call"))
            return e->list[i].ns;
    return INT64_MIN / 4;
}

static int64_t called_behind(const struct events *e, int i)
{
    while (++i < e->count)
        if (!strcmp(e->list[i].name, "send") || !strcmp(e->list[i].name, "receive") ||
            !strcmp(e->list[i].name, "call"))
            return e->list[i].ns;
    return INT64_MAX / 4;
}

// From a clock reading right before event a of one rank to one right after event b of another.
static struct range between(const struct events *x, int a, const struct events *y, int b)
{
    return (struct range){1e-9 * (double)(y->list[b].ns - x->list[a].ns),
                          1e-9 * (double)(called_behind(y, b) - returned_before(x, a))};
}

// Empty exchanges of the sender before event `i`: the range of the fastest of three.
static struct range fastest_exchange(const struct events *e, int i, int peer)
{
    struct range fastest = {1e9, 1e9};
    for (int n = 0; n < 3; n++) {
        int answer = i;
        while (answer >= 0 && !is(&e->list[answer], "received", peer, 0)) answer--;
        for (i = answer; i >= 0 && !is(&e->list[i], "send", peer, 0); i--) continue;
        if (i < 0) return complain("an empty exchange is missing"), fastest;
        struct range took = between(e, i, e, answer);
        fastest = (struct range){fmin(fastest.low, took.low), fmin(fastest.high, took.high)};
        i--;
    }
    return fastest;
}

// For a sample's n-th message, counting warm-ups: the limits of its seconds, and the window in
// which it was under way.
static bool see_message(const struct sample *s, int n, bool is_shared, struct range *seconds,
                        int64_t *begin_ns, int64_t *end_ns)
{
    const struct events *from = &ranks[s->from], *to = &ranks[s->to], *ends = is_shared ? to : from;
    int send = find(from, n, "send", s->to, s->bytes);
    int end = is_shared ? find(to, n, "received", s->from, s->bytes) : send;
    if (!is_shared && send >= 0) do
            end++;
        while (end < from->count && !is(&from->list[end], "received", s->to, 0));
    if (send < 0 || end < 0 || end >= ends->count) return false;
    *seconds = between(from, send, ends, end);
    *begin_ns = from->list[send].ns;
    *end_ns = ends->list[end].ns;
    if (!is_shared) {
        struct range fastest = fastest_exchange(from, send, s->to);
        *seconds = (struct range){fmax(0, seconds->low - fastest.high / 2),
                                  fmax(0, seconds->high - fastest.low / 2)};
    }
    return true;
}

// ---- 2 and 3

static int64_t passed_bytes(int from, int to, int64_t begin_ns, int64_t end_ns)
{
    int64_t bytes = 0;
    for (int i = 0; i < frame_count; i++) {
        const struct frame *f = &frames[i];
        if (f->from == from && f->to == to && f->taken_ns >= begin_ns && f->passed_ns <= end_ns)
            bytes += f->bytes;
    }
    return bytes;
}

static double least_s(const struct sample *s)
{
    int from = hosts[s->from] - 1, to = hosts[s->to] - 1;
    return 1e-6 * delay_us[from][to] + fmax(0, s->bytes - burst_bytes) * 8e-6 / rate_mbit[from][to];
}

static void judge_repetition(const struct sample *s, int n, bool is_shared)
{
    struct range may;
    int64_t begin_ns, end_ns;
    double found = s->seconds[n];
    int from = hosts[s->from], to = hosts[s->to];
    if (!see_message(s, s->warm_ups + n, is_shared, &may, &begin_ns, &end_ns)) {
        complain("the witness saw no message %d of %d bytes from %d to %d", s->warm_ups + n + 1,
                 s->bytes, from, to);
        return;
    }
    widths_s = grow(widths_s, judged, sizeof *widths_s);
    widths_s[judged++] = may.high - may.low;
    if (!(found >= may.low - rounding_s && found <= may.high + rounding_s))
        complain("%d bytes from %d to %d: measured %.9f s, the witness saw %.9f .. %.9f", s->bytes,
                 from, to, found, may.low, may.high);
    if (is_shared && found < least_s(s) - rounding_s)
        complain("%d bytes from %d to %d: measured %.9f s, the links set take %.9f at least",
                 s->bytes, from, to, found, least_s(s));
    if (frame_count && passed_bytes(from, to, begin_ns, end_ns) < s->bytes)
        complain("%d bytes from %d to %d: only %lld of them passed the relay meanwhile", s->bytes,
                 from, to, (long long)passed_bytes(from, to, begin_ns, end_ns));
}

static void judge_sample(const struct sample *s, bool is_shared)
{
    int sent = 0;
    while (find(&ranks[s->from], sent, "send", s->to, s->bytes) >= 0) sent++;
    if (sent != s->warm_ups + s->count || s->count < 8)
        complain(
            "%d bytes from %d to %d: %d messages were sent, %d warm-ups and %d repetitions written",
            s->bytes, hosts[s->from], hosts[s->to], sent, s->warm_ups, s->count);
    for (int n = 0; n < s->count; n++) judge_repetition(s, n, is_shared);
}

// ---- 4: the report

struct link {
    double delay_s, bytes_per_s;
    struct range delays, longest;
};
static struct link links[HOSTS][HOSTS];

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *list, int count)
{
    qsort(list, (size_t)count, sizeof *list, ascending);
    return count % 2 ? list[count / 2] : (list[count / 2 - 1] + list[count / 2]) / 2;
}

// The samples of a pair come in any order of sizes: the n-th longest, from 0, or n = -1 the
// shortest.
static struct sample *sized(int from, int to, int n)
{
    struct sample *found = NULL;
    for (int longer = -1; longer < n || n < 0; longer++) {
        struct sample *next = NULL;
        for (struct sample *s = samples; s < samples + sample_count; s++)
            if (s->from == from && s->to == to && (!found || s->bytes < found->bytes) &&
                (!next || s->bytes > next->bytes))
                next = s;
        if (!next) break;
        found = next;
    }
    return found;
}

static void work_out_link(int from, int to)
{
    struct link *l = &links[from][to];
    struct sample *shortest = sized(from, to, -1), *longest = sized(from, to, 0),
                  *next = sized(from, to, 1);
    if (!shortest || shortest == longest) {
        complain("no samples of two sizes from %d to %d", hosts[from], hosts[to]);
        return;
    }
    l->delay_s = median(shortest->seconds, shortest->count);
    double longer_s = median(longest->seconds, longest->count) - median(next->seconds, next->count);
    l->bytes_per_s = longer_s > 0 ? (longest->bytes - next->bytes) / longer_s
                                  : longest->bytes / median(longest->seconds, longest->count);
    l->delays = (struct range){shortest->seconds[0],
                               shortest->seconds[shortest->count - 1]}; // sorted by now
    l->longest = (struct range){longest->seconds[0], longest->seconds[longest->count - 1]};
}

static bool is_near(double a, double b) { return fabs(a - b) <= digits * fabs(b); }

static void judge_matrix(FILE *report, bool is_rate)
{
    static char line[LINE_BYTES];
    for (int from = 0; from < rank_count; from++) {
        if (!fgets(line, sizeof line, report)) return complain("a row is missing");
        char *rest = line + strcspn(line, " ");
        for (int to = 0; to < rank_count; to++) {
            rest += strspn(rest, " ");
            double said = strtod(rest, NULL), true_one = is_rate ? links[from][to].bytes_per_s / 1e9
                                                                 : links[from][to].delay_s * 1e6;
            if (from != to && !is_near(said, true_one))
                complain("%s from %d to %d: said %g, by the document's seconds %g",
                         is_rate ? "rate" : "delay", hosts[from], hosts[to], said, true_one);
            rest += strcspn(rest, " \n");
        }
    }
}

static bool are_apart(struct range a, struct range b) { return a.high < b.low || b.high < a.low; }

// Named: the medians must differ by more than the ratio. Not named: they must not, or the ranges
// have something in common.
static void judge_pair(int a, int b, bool is_rate, bool is_named)
{
    const struct link *x = &links[a][b], *y = &links[b][a];
    double ratio = is_rate ? x->bytes_per_s / y->bytes_per_s : x->delay_s / y->delay_s,
           limit = is_rate ? 1.1 : 1.25;
    bool unlike = ratio > limit || ratio < 1 / limit,
         apart = is_rate ? are_apart(x->longest, y->longest) : are_apart(x->delays, y->delays);
    if (is_named && !unlike)
        complain("%d -> %d is named for its %s, back they are alike", hosts[a], hosts[b],
                 is_rate ? "rates" : "delays");
    if (!is_named && unlike && apart)
        complain("%d -> %d is not named for its %s, %g times those back", hosts[a], hosts[b],
                 is_rate ? "rates" : "delays", ratio);
}

static void judge_slow(int a, int b, bool is_named)
{
    double rates[HOSTS * HOSTS];
    int count = 0;
    for (int i = 0; i < rank_count * rank_count; i++)
        if (i / rank_count != i % rank_count)
            rates[count++] = links[i / rank_count][i % rank_count].bytes_per_s;
    if (is_named != (links[a][b].bytes_per_s < 0.7 * median(rates, count)))
        complain("%d -> %d is %snamed slow at %g GB/s", hosts[a], hosts[b], is_named ? "" : "not ",
                 links[a][b].bytes_per_s / 1e9);
}

static void judge_report(const char *path, bool is_shared)
{
    static char line[LINE_BYTES];
    bool asymmetric[2][HOSTS + 1][HOSTS + 1] = {{{false}}}, slow[HOSTS + 1][HOSTS + 1] = {{false}},
                                          is_half = false;
    int a, b, matrices = 0;
    char unit[8];
    double x;
    FILE *report = open_or_die(path);
    while (fgets(line, sizeof line, report)) {
        bool is_rate = !strncmp(line, "rates in GB/s", 13);
        if (is_rate || !strncmp(line, "delays in us", 12)) {
            if (!fgets(line, sizeof line, report)) break; // the columns' names
            judge_matrix(report, is_rate);
            matrices++;
        } else if (sscanf(line, "asymmetric: plumb-%d -> plumb-%d %lf %7s", &a, &b, &x, unit) == 4)
            asymmetric[unit[0] == 'G'][a][b] = true;
        else if (sscanf(line, "slow: plumb-%d -> plumb-%d ", &a, &b) == 2) slow[a][b] = true;
        is_half = is_half || strstr(line, "half the round trip");
    }
    fclose(report);
    if (matrices != 2) complain("expected the matrices of rates and delays, found %d", matrices);
    if (is_half == is_shared) complain("whether delays are half the round trip is told wrongly");
    for (int i = 0; i < rank_count; i++)
        for (int j = 0; j < rank_count; j++) {
            if (i != j) judge_slow(i, j, slow[hosts[i]][hosts[j]]);
            for (int rate = 0; rate < 2 && i < j; rate++)
                judge_pair(i, j, rate, asymmetric[rate][hosts[i]][hosts[j]]);
        }
}

// ---- what a person wants to see; nothing is judged by it

static void tell_distance(bool is_shared)
{
    double delay = 0, rate = 0;
    for (int i = 0; i < rank_count; i++)
        for (int j = 0; j < rank_count; j++) {
            if (i == j) continue;
            int from = hosts[i] - 1, to = hosts[j] - 1;
            double set_us = is_shared ? delay_us[from][to]
                                      : (delay_us[from][to] + delay_us[to][from]) / 2.;
            delay = fmax(delay, fabs(links[i][j].delay_s * 1e6 / set_us - 1));
            rate = fmax(rate, fabs(links[i][j].bytes_per_s * 8e-6 / rate_mbit[from][to] - 1));
        }
    printf("%d repetitions judged, within %.0f us each (the median); furthest from what was set: "
           "delays %.1f %%, rates %.1f %%\n",
           judged, 1e6 * median(widths_s, judged), 100 * delay, 100 * rate);
}

int main(int argc, char **argv)
{
    if (argc != 10)
        return fputs("usage: judge DOCUMENT REPORT WITNESS RECORD|- shared|own HOSTS RATES DELAYS "
                     "BURST_BYTES\n",
                     stderr),
               2;
    bool is_shared = !strcmp(argv[5], "shared");
    char *rest = argv[6];
    for (long host; rank_count < HOSTS && (host = strtol(rest, &rest, 10)) > 0;)
        hosts[rank_count++] = (int)host;
    read_table(rate_mbit, argv[7]);
    read_table(delay_us, argv[8]);
    burst_bytes = atoi(argv[9]);
    for (int i = 0; i < rank_count; i++) read_witness(&ranks[i], argv[3], i);
    if (strcmp(argv[4], "-")) read_record(argv[4]);
    if (strcmp(argv[4], "-") && !frame_count) complain("the relay saw no frame");
    read_document(argv[1]);
    if (sample_count < rank_count * (rank_count - 1) * 2) complain("only %d samples", sample_count);
    for (int i = 0; i < sample_count; i++) judge_sample(&samples[i], is_shared);
    for (int i = 0; i < rank_count * rank_count; i++)
        if (i / rank_count != i % rank_count) work_out_link(i / rank_count, i % rank_count);
    judge_report(argv[2], is_shared);
    tell_distance(is_shared);
    return failures > 0;
}
