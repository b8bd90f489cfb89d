// plumbline import links FILE: samples of links from what tests of two ends print: perftest
// (ib_write_bw, ib_send_bw, ib_read_bw and their _lat), the OSU micro-benchmarks (osu_bw,
// osu_latency), and CUDA's p2pBandwidthLatencyTest. A file may contain several, each among lines of
// others. A bandwidth is that of many messages under way, so only of long ones is bytes / bandwidth
// the time of a message; a latency is one message's time at any size.
#include <string.h>

#include "data/base/grow.h"
#include "data/import/foreign.h"
#include "data/import/import.h"
#include "data/import/text.h"

enum { DEVICES_MOST = 64, SAMPLES_MOST = 1 << 14, REPETITIONS_MOST = 4096, LONG_BYTES = 1 << 16 };
enum { PREFIX_MOST = 8 }; // words of a launcher before a line

// p2pBandwidthLatencyTest copies 40,000,000 ints, and one for its latency (S NVIDIA cuda-samples,
// the program of that name).
static const int64_t p2p_bytes = 160000000, p2p_short = 4;

enum table { TABLE_NONE, TABLE_BANDWIDTH, TABLE_LATENCY, TABLE_PAIRS, TABLE_SHORT_PAIRS };

struct links {
    struct samples samples;
    int capacity, devices, cut, shorter, passed_over;
    const char *not_taken; // the first that is passed over
    bool inside;           // both ends are on one node
    // the table that is being read
    enum table table;
    int column, columns, rows; // of the value; of a row; rows of pairs read
    double unit;               // of the value, in bytes/s or s
    const char *like;          // a number of the last row
    bool title_refused;        // what the last title says is not read
    // iperf: the best row of a test, whether it is all streams', how many rows are as good
    struct {
        double bytes, seconds;
        int rank, rows;
        bool any;
    } streams;
    struct arena *arena;
};

// ---- samples

static enum status add(struct links *l, int from, int to, int64_t bytes, double seconds,
                       const struct text_lines *t, struct error *err)
{
    struct samples *all = &l->samples;
    int i = 0;
    while (i < all->sample_count && (all->samples[i].from != from || all->samples[i].to != to ||
                                     all->samples[i].dimensions[0] != bytes))
        i++;
    if (i == SAMPLES_MOST) return text_refuse(t, err, "more than %d sizes and pairs", SAMPLES_MOST);
    if (i == all->sample_count) {
        GROW(l->arena, all->samples, i, l->capacity, 64);
        all->samples[all->sample_count++] = (struct sample){.kind = SAMPLE_LINK,
                                                            .operation = "send",
                                                            .dimensions = {bytes},
                                                            .dimension_count = 1,
                                                            .precision = FP32,
                                                            .bytes = (double)bytes,
                                                            .from = from,
                                                            .to = to,
                                                            .alone = true,
                                                            .stopped_by = "imported"};
    }
    struct sample *s = &all->samples[i];
    if (s->repetitions == REPETITIONS_MOST)
        return text_refuse(t, err, "more than %d times of one size", REPETITIONS_MOST);
    int room = s->repetitions, grown = room ? 2 * room : 1;
    if (!(room & (room - 1))) // a power of two is full
        s->seconds =
            arena_grow(l->arena, s->seconds, (size_t)room, (size_t)grown, sizeof *s->seconds);
    s->seconds[s->repetitions++] = seconds;
    return OK;
}

static void put_endpoints(struct links *l)
{
    struct samples *s = &l->samples;
    int count = l->devices ? l->devices : 2;
    s->endpoints = TAKE(l->arena, count, struct endpoint);
    s->endpoint_count = count;
    for (int i = 0; i < count; i++) {
        bool near = l->devices || l->inside;
        const char *host = near ? "node-0" : arena_print(l->arena, "node-%d", i);
        int device = near ? i : 0;
        s->endpoints[i] = (struct endpoint){.name = arena_print(l->arena, "%s:%d", host, device),
                                            .host = host,
                                            .device = device,
                                            .clock = -1};
    }
}

// ---- headers

static const char *bare(const char *word) { return word + (*word == '#'); }

static int find(const struct text_lines *t, const char *text)
{
    for (int i = 0; i < t->word_count; i++)
        if (!strcmp(bare(t->words[i]), text)) return i;
    return -1;
}

// "average[MB/sec]": of 2^20 bytes; "average[Gb/sec]"; "(MB/s)" of OSU: of 1e6.
static double unit_of(const char *word)
{
    if (strstr(word, "[MB/sec]")) return 1048576;
    if (strstr(word, "[Gb/sec]")) return 1e9 / 8;
    if (strstr(word, "[GB/sec]")) return 1e9;
    return 0;
}

// #bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]; or t_min[usec] ...
static bool take_perftest(struct links *l, const struct text_lines *t)
{
    int bytes = find(t, "bytes"), iterations = find(t, "iterations");
    if (bytes < 0 || iterations != bytes + 1) return false;
    for (int i = iterations + 1, column = 2; i < t->word_count; i++) {
        if (!strcmp(t->words[i], "BW")) continue; // a word of the next one's title
        if (!strncmp(t->words[i], "average[", 8) && unit_of(t->words[i]) > 0)
            l->table = TABLE_BANDWIDTH, l->column = column, l->unit = unit_of(t->words[i]);
        if (!strcmp(t->words[i], "t_typical[usec]"))
            l->table = TABLE_LATENCY, l->column = column, l->unit = 1e-6;
        l->columns = ++column;
    }
    return l->table != TABLE_NONE;
}

// "(GB/s)" behind a table's title, where it states a unit, is the one that its program prints.
static enum status check_unit(const struct text_lines *t, const char *unit, struct error *err)
{
    for (int i = 0; i < t->word_count; i++) {
        const char *word = t->words[i];
        bool states = *word == '(' && (strstr(word, "/s)") || strstr(word, "s)") == word + 2);
        if (states && strcmp(word, unit))
            return text_refuse(t, err, "expected %s, found %.40s", unit, word);
    }
    return OK;
}

// # Size Bandwidth (MB/s); # Size Latency (us); newer releases have more columns.
static bool take_osu(struct links *l, const struct text_lines *t)
{
    int size = find(t, "Size");
    if (size < 0 || size + 2 >= t->word_count) return false;
    const char *what = t->words[size + 1], *unit = t->words[size + 2];
    if (!strcmp(what, "Bandwidth") && !strcmp(unit, "(MB/s)"))
        l->table = TABLE_BANDWIDTH, l->unit = 1e6;
    else if ((!strcmp(what, "Latency") || !strcmp(what, "Avg")) &&
             strstr(t->words[size + 2], "(us)"))
        l->table = TABLE_LATENCY, l->unit = 1e-6;
    else return false;
    l->column = 1, l->columns = 2;
    return true;
}

// Unidirectional P2P=Enabled Bandwidth ...; P2P=Enabled Latency ... Both directions at once, and
// copies by way of the host, are passed over.
static bool take_p2p_title(struct links *l, const struct text_lines *t)
{
    int enabled = find(t, "P2P=Enabled"), disabled = find(t, "P2P=Disabled");
    int at = enabled >= 0 ? enabled : disabled;
    if (at < 0 || at + 1 >= t->word_count) return false;
    bool width = !strcmp(t->words[at + 1], "Bandwidth"),
         latency = !strcmp(t->words[at + 1], "Latency");
    l->table = TABLE_NONE, l->rows = 0;
    if (!width && !latency) return false;
    bool both = at && !strcmp(t->words[at - 1], "Bidirectional");
    if (both && !l->not_taken) l->not_taken = text_rest(t, 0, l->arena);
    // Reads wait for an answer, so they are no sends' times.
    if (disabled >= 0 || find(t, "Reads)") >= 0 || both) return true;
    l->table = width ? TABLE_PAIRS : TABLE_SHORT_PAIRS;
    l->unit = width ? 1e9 : 1e-6, l->columns = 0;
    return true;
}

static bool has(const struct text_lines *t, const char *a, const char *b)
{
    int i = find(t, a);
    return i >= 0 && i + 1 < t->word_count && !strcmp(t->words[i + 1], b);
}

// "RDMA_Write BW Test", "# OSU MPI Allreduce Latency Test v5.6": which of them are no sends.
static void take_title(struct links *l, const struct text_lines *t)
{
    int osu = find(t, "OSU");
    bool both = has(t, "Bidirectional", "BW") || has(t, "Bi-Directional", "Bandwidth"),
         other = osu >= 0 && !both && !has(t, "Bandwidth", "Test") && !has(t, "Latency", "Test");
    bool collective = osu >= 0 && osu + 3 < t->word_count &&
                      strncmp(t->words[osu + 2], "Band", 4) &&
                      strncmp(t->words[osu + 2], "Laten", 5);
    if (!both && !other && osu < 0 && !has(t, "BW", "Test") && !has(t, "Latency", "Test")) return;
    l->table = TABLE_NONE;
    l->title_refused = both || other || collective;
    if (l->title_refused && !l->passed_over++) l->not_taken = text_rest(t, 0, l->arena);
}

// ---- rows

// Where a row of the table begins: a whole number, then as many numbers as it has columns; -1:
// nowhere. Nothing but blanks and words may stand before it.
static int find_row(const struct text_lines *t, int columns, bool exactly)
{
    for (int at = 0; at <= PREFIX_MOST && at + columns <= t->word_count; at++) {
        int64_t whole;
        double value;
        bool row = word_is_whole(t->words[at], &whole) &&
                   (!exactly || at + columns == t->word_count);
        for (int i = at + 1; i < at + columns && row; i++)
            row = word_is_number(t->words[i], &value) || !strcmp(t->words[i], "N/A");
        if (row) return at;
    }
    return -1;
}

static enum status read_row(struct links *l, const struct text_lines *t, struct error *err)
{
    int at = find_row(t, l->columns, false);
    int64_t bytes;
    double value;
    if (at >= 0 && text_ends_short(t, l->like)) return OK;
    if (at >= 0) l->like = arena_copy_text(l->arena, t->words[t->word_count - 1]);
    if (at < 0 || !word_is_number(t->words[at + l->column], &value)) return OK;
    word_is_whole(t->words[at], &bytes);
    if (!bytes || !(value > 0)) return OK;
    if (l->table == TABLE_LATENCY) return add(l, 0, 1, bytes, value * l->unit, t, err);
    if (bytes < LONG_BYTES) return l->shorter++, OK;
    return add(l, 0, 1, bytes, (double)bytes / (value * l->unit), t, err);
}

// D\D 0 1 2, then a row for each; of latencies, GPU 0 1 2, and the host's follow.
static enum status read_pairs(struct links *l, const struct text_lines *t, struct error *err)
{
    int title = l->table == TABLE_PAIRS ? find(t, "D\\D") : find(t, "GPU");
    if (title >= 0 && !l->columns) {
        l->columns = t->word_count - title;
        if (l->columns - 1 > DEVICES_MOST)
            return text_refuse(t, err, "expected at most %d devices, found %d", DEVICES_MOST,
                               l->columns - 1);
        return OK;
    }
    if (l->columns < 2) return OK;
    int at = find_row(t, l->columns, true), count = l->columns - 1;
    int64_t from;
    if (at < 0) return OK;
    word_is_whole(t->words[at], &from);
    if (l->rows >= count) return OK;
    if (from != l->rows)
        return text_refuse(t, err, "expected the row of device %d, found that of %lld", l->rows,
                           (long long)from);
    if (text_ends_short(t, l->like)) return OK;
    l->like = arena_copy_text(l->arena, t->words[t->word_count - 1]);
    l->devices = l->devices > count ? l->devices : count;
    for (int to = 0; to < count; to++) {
        double value;
        if (to == from || !word_is_number(t->words[at + 1 + to], &value) || !(value > 0)) continue;
        bool is_short = l->table == TABLE_SHORT_PAIRS;
        TRY(add(l, (int)from, to, is_short ? p2p_short : p2p_bytes,
                is_short ? value * l->unit : (double)p2p_bytes / (value * l->unit), t, err));
    }
    if (++l->rows == count) l->table = TABLE_NONE;
    return OK;
}

// ---- iperf

// The time that the whole of a test took, as one message's.
static enum status end_streams(struct links *l, const struct text_lines *t, struct error *err)
{
    double bytes = l->streams.bytes, seconds = l->streams.seconds;
    int rank = l->streams.rank, rows = l->streams.rows;
    l->streams.rank = l->streams.rows = 0, l->streams.bytes = 0;
    if (!(bytes >= LONG_BYTES)) return OK;
    if (rank < 2 && rows > 1)
        return text_refuse(t, err, "expected the row [SUM] of %d streams of iperf", rows);
    return add(l, 0, 1, (int64_t)bytes, seconds, t, err);
}

// "[SUM] 0.00-10.00 sec 110 GBytes 94.1 Gbits/sec 0 receiver": of its rows since 0 s, that of all
// streams, of the receiver.
static enum status read_streams(struct links *l, const struct text_lines *t, struct error *err)
{
    enum { SECONDS_LEAST = 2 };
    static const char units[] = "KMGT";
    int sec = find(t, "sec");
    bool header = find(t, "Interval") > 0 && find(t, "ID]") >= 0;
    l->streams.any |= header;
    if (header) return end_streams(l, t, err);
    if (!l->streams.any || sec < 1 || sec + 4 >= t->word_count) return OK;
    const char *interval = t->words[sec - 1], *dash = strchr(interval, '-'),
               *unit = t->words[sec + 2], *prefix = strchr(units, *unit);
    double from, to, bytes;
    bool row = strstr(unit, "Bytes") && strstr(t->words[sec + 4], "bits/sec");
    if (!dash || !row || !prefix || !word_is_number(t->words[sec + 1], &bytes)) return OK;
    if (!word_is_number(arena_print(l->arena, "%.*s", (int)(dash - interval), interval), &from) ||
        !word_is_number(dash + 1, &to) || from > 0 || to < SECONDS_LEAST)
        return OK;
    for (const char *u = units; u <= prefix; u++) bytes *= 1024;
    int rank = 2 * (strstr(t->words[0], "SUM") != NULL) + (find(t, "receiver") >= 0);
    if (rank < l->streams.rank) return OK;
    l->streams.rows = rank > l->streams.rank ? 1 : l->streams.rows + 1;
    l->streams.rank = rank, l->streams.bytes = bytes, l->streams.seconds = to;
    return OK;
}

static enum status read_device(struct links *l, const struct text_lines *t)
{
    // Device: 0, NVIDIA A100-SXM4-40GB, pciBusID: 7, ...
    int at = find(t, "Device:");
    if (at < 0 || at + 2 >= t->word_count || l->samples.machine.gpu) return OK;
    const char *rest = text_rest(t, at + 2, l->arena), *end = strchr(rest, ',');
    if (end && strstr(end, "pciBusID"))
        l->samples.machine.gpu = arena_print(l->arena, "%.*s", (int)(end - rest), rest);
    return OK;
}

static enum status read_links(struct links *l, const char *path, const char *text, size_t size,
                              struct error *err)
{
    struct text_lines *t = TAKE(l->arena, 1, struct text_lines);
    bool more, any = false;
    text_open(t, path, text, size, l->arena);
    for (;;) {
        TRY(text_next(t, &more, err));
        if (!more) break;
        TRY(read_device(l, t));
        TRY(read_streams(l, t, err));
        take_title(l, t);
        bool p2p = take_p2p_title(l, t);
        if (p2p && l->table != TABLE_NONE)
            TRY(check_unit(t, l->table == TABLE_PAIRS ? "(GB/s)" : "(us)", err));
        if (find(t, "Size") >= 0 && find(t, "Bandwidth") >= 0) TRY(check_unit(t, "(MB/s)", err));
        if (p2p || take_perftest(l, t) || take_osu(l, t)) {
            any = true;
            if (l->title_refused) l->table = TABLE_NONE;
            continue;
        }
        bool pairs = l->table == TABLE_PAIRS || l->table == TABLE_SHORT_PAIRS;
        if (l->table != TABLE_NONE) TRY((pairs ? read_pairs : read_row)(l, t, err));
    }
    TRY(end_streams(l, t, err));
    if (l->table == TABLE_PAIRS && l->rows)
        return refuse(err, "%s: a matrix of %d devices has %d rows: the file is cut off", path,
                      l->columns - 1, l->rows);
    if (l->samples.sample_count) return OK;
    if (any && l->columns == 2 && l->devices == 1)
        return refuse(err, "%s: the matrix is of one device, which has no link to measure", path);
    if (l->not_taken)
        return refuse(err, "%s: expected a test in one direction, found \"%.60s\"", path,
                      l->not_taken);
    if (!any) TRY(foreign_refuse(path, text, "links", err));
    return refuse(
        err,
        any ? "%s: expected rows of %d bytes or more, found none: ib_write_bw -s 8388608, "
              "or -a"
            : "%s: expected what ib_write_bw, ib_write_lat, osu_bw, osu_latency, iperf or "
              "p2pBandwidthLatencyTest prints, found no header of theirs",
        path, LONG_BYTES);
}

// ---- the command

struct options {
    struct reading import;
    struct links read;
};
static const struct option_row rows[] = {
    {"--inside", OPTION_FLAG, OPT(read.inside),
     "both ends of perftest and OSU are on one node (default: on two)"},
};

static enum status read_file(void *options, struct error *err)
{
    struct options *o = options;
    struct reading *r = &o->import;
    o->read.arena = r->arena, o->read.like = ".00";
    TRY(read_links(&o->read, r->file.path, r->text, r->size, err));
    put_endpoints(&o->read);
    if (o->read.devices)
        said_assume(&r->said, "copies of %lld bytes, as the program has them: it prints no size",
                    (long long)p2p_bytes);
    r->samples = o->read.samples;
    if (o->read.streams.any)
        said_assume(&r->said, "messages between hosts get what iperf's TCP does");
    return OK;
}

static void tell(const void *options)
{
    const struct options *o = options;
    const struct links *l = &o->read;
    const char *path = o->import.file.path;
    fprintf(stderr, "%s: %d sample%s of links, between %s\n", path, l->samples.sample_count,
            l->samples.sample_count == 1 ? "" : "s",
            l->devices  ? "devices of one node"
            : l->inside ? "two devices of one node"
                        : "two nodes (--inside: of one)");
    if (l->shorter)
        fprintf(stderr,
                "%s: %d row%s below %d bytes left out: with many messages under way, that is no "
                "message's time; ib_write_lat or osu_latency has it\n",
                path, l->shorter, l->shorter == 1 ? "" : "s", LONG_BYTES);
    if (l->passed_over)
        fprintf(stderr, "%s: %d test%s skipped (%.60s)\n", path, l->passed_over,
                l->passed_over == 1 ? "" : "s", l->not_taken);
}

static const struct reader reader = {"links", MAKES_SAMPLES, false, read_file, tell};
static const struct options defaults = {.import = {.reader = &reader, .output = "-"}};
const struct command import_links = {
    .name = "links",
    .text = "ib_write_bw, osu_bw, p2pBandwidthLatencyTest ... output -> samples of links",
    .usage = "plumbline import links FILE [-o samples.json] [options]",
    READER(rows, struct options, defaults),
};
