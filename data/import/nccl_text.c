// The output of nccl-tests and rccl-tests, as programs print it and as people post it: before its
// lines may stand what launchers, log collectors and Markdown put there, and '#' may be lost. The
// table's own header line says which columns there are (releases and options differ), the lines
// "# Rank ..." say who took part, and "# Avg bus bandwidth" says that a test was completed. A file
// may contain several tests, and any output of launchers and libraries between their lines.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "data/import/foreign.h"
#include "data/import/nccl_internal.h"
#include "data/import/text.h"

enum { PREFIX_MOST = 8 }; // words before a line's own

// Indices of a row's words; -1: the table has no such column.
struct columns {
    int size, type, redop, root, time, algbw, busbw, wrong, count, prefix;
    int half;      // where those in place begin
    bool open_end; // a timestamp's words at the end
};

struct reader {
    struct nccl_import *n;
    struct text_lines lines;
    struct columns columns;
    const char *command; // that a line before the test starts
    bool in_table;       // after a header line
    bool in_test, ended; // ended: its last line was seen
    bool named;          // this test's first line stated its name
    struct error bad;    // the first row that is none: refused if the test was completed
};

static const char *place(const struct reader *r)
{
    return arena_print(r->n->arena, "%s: line %d", r->lines.path, r->lines.line);
}

static bool word_is(const struct text_lines *t, int i, const char *word)
{
    return i >= 0 && i < t->word_count && !strcmp(t->words[i], word);
}

// "size", or with its unit, "size(B)".
static bool column_is(const struct text_lines *t, int i, const char *name)
{
    size_t length = strlen(name);
    return i >= 0 && i < t->word_count && !strncmp(t->words[i], name, length) &&
           (!t->words[i][length] || t->words[i][length] == '(');
}

static bool words_are(const struct text_lines *t, int i, const char *a, const char *b,
                      const char *c)
{
    return word_is(t, i, a) && word_is(t, i + 1, b) && word_is(t, i + 2, c);
}

// ---- lines of the program among what is put before them

enum line {
    LINE_OTHER,
    LINE_VERSION,
    LINE_STARTS,
    LINE_OPTIONS,
    LINE_RANK,
    LINE_HEADER,
    LINE_BAD,
    LINE_END
};

static bool after_mark(const struct text_lines *t, int i)
{
    return i > 0 && t->words[i - 1][strlen(t->words[i - 1]) - 1] == '#';
}

static enum line line_at(const struct text_lines *t, int i)
{
    int64_t number;
    if (words_are(t, i, "Collective", "test", "starting:")) return LINE_STARTS;
    if (word_is(t, i, "nThread") && (after_mark(t, i) || word_is(t, i + 2, "nGpus")))
        return LINE_OPTIONS;
    if (word_is(t, i, "Rank") &&
        (after_mark(t, i) || (i + 2 < t->word_count && word_is_whole(t->words[i + 1], &number) &&
                              (word_is(t, i + 2, "Pid") || word_is(t, i + 2, "Group")))))
        return LINE_RANK;
    if (column_is(t, i, "size") &&
        (after_mark(t, i) || (column_is(t, i + 1, "count") && word_is(t, i + 2, "type"))))
        return LINE_HEADER;
    if (words_are(t, i, "Out", "of", "bounds") && word_is(t, t->word_count - 1, "FAILED"))
        return LINE_BAD;
    if (words_are(t, i, "Avg", "bus", "bandwidth") ||
        words_are(t, i, "Collective", "test", "concluded:"))
        return LINE_END;
    return word_is(t, i, "nccl-tests") && word_is(t, i + 1, "version") ? LINE_VERSION : LINE_OTHER;
}

// *at: where the program's own words begin.
static enum line find_line(const struct text_lines *t, int *at)
{
    for (*at = 0; *at < t->word_count && *at <= PREFIX_MOST; ++*at) {
        enum line line = line_at(t, *at);
        if (line != LINE_OTHER) return line;
    }
    return LINE_OTHER;
}

// A word "PATH/NAME_perf" that an option follows: the program that was started.
static void find_command(struct reader *r)
{
    const struct text_lines *t = &r->lines;
    nccl_take_launch(r->n, t->words, t->word_count);
    for (int i = 0; i + 1 < t->word_count; i++)
        if (strstr(t->words[i], "_perf") && *t->words[i] != '-' && *t->words[i + 1] == '-')
            r->command = arena_copy_text(r->n->arena, t->words[i]);
}

// ---- the table

// The n-th word of that name in the header, as the index of a row's word.
static int find_column(const struct text_lines *t, int at, const char *name, int n)
{
    for (int i = at; i < t->word_count; i++)
        if (column_is(t, i, name) && !n--) return i - at;
    return -1;
}

// # size count type redop root time algbw busbw #wrong [i_min i_max i_p99 i_cv%] and the second
// half again, [timestamp]
static enum status read_columns(struct reader *r, int at, struct error *err)
{
    const struct text_lines *t = &r->lines;
    int side = r->n->settings->in_place;
    if (find_column(t, at, "cputime", 0) >= 0)
        return text_refuse(t, err,
                           "cputime: the calls' time on the processor is not the operations'");
    struct columns *c = &r->columns;
    *c = (struct columns){.size = find_column(t, at, "size", 0),
                          .type = find_column(t, at, "type", 0),
                          .redop = find_column(t, at, "redop", 0),
                          .root = find_column(t, at, "root", 0),
                          .half = side ? -1 : find_column(t, at, "time", 1),
                          .time = find_column(t, at, "time", side),
                          .algbw = find_column(t, at, "algbw", side),
                          .busbw = find_column(t, at, "busbw", side),
                          .wrong = find_column(t, at, "#wrong", side),
                          .prefix = word_is(t, at - 1, "#") ? at - 1 : at,
                          .open_end = word_is(t, t->word_count - 1, "timestamp")};
    if (c->wrong < 0) c->wrong = find_column(t, at, "wrong", side); // Markdown takes its mark
    c->count = t->word_count - at - c->open_end;
    if (c->type < 0 || c->time < 0 || c->algbw < 0 || c->busbw < 0)
        return text_refuse(
            t, err, "expected columns type, time, algbw and busbw, %s in place, found no such ones",
            side ? "out of and" : "out of or");
    r->in_table = true;
    return OK;
}

static bool is_time(const char *word)
{
    double value;
    return word_is_number(word, &value) || !strcmp(word, "nan") || !strcmp(word, "-nan") ||
           !strcmp(word, "N/A");
}

// Where a row begins; -1: nowhere. Behind what stands before the header, or behind as many words as
// leave its columns.
static int find_row(const struct text_lines *t, const struct columns *c)
{
    int64_t number;
    for (int at = 0; at <= PREFIX_MOST && at + c->count <= t->word_count; at++)
        if (word_is_whole(t->words[at + c->size], &number) &&
            isalpha((unsigned char)*t->words[at + c->type]) && is_time(t->words[at + c->time]) &&
            (c->open_end || at + c->count == t->word_count))
            return at;
    if (c->prefix < t->word_count && word_is_whole(t->words[c->prefix], &number)) return c->prefix;
    return -1;
}

// Up to the point or the exponent: 1.0e+07 has fewer digits than it needs.
static bool is_coarse(const char *word) { return strpbrk(word, "eE") != NULL; }

// mpirun's tag before a part of a line: "[1,0]<stdout>:" or "[0]", wherever it comes again.
static void blank_tags(char *text)
{
    for (char *at = text, *next; *at; at = next) {
        next = at + strcspn(at, "\n");
        size_t length = *at == '[' ? strspn(at + 1, "0123456789,") + 1 : 0;
        length = length > 1 && at[length] == ']' ? length + 1 : 0;
        if (length && !strncmp(at + length, "<stdout>:", 9)) length += 9;
        for (char *c = at + 1; length && c + length <= next; c++)
            if (!memcmp(c, at, length)) memset(c, ' ', length);
        next += *next == '\n';
    }
}

// Releases before 2.11 head a redop that copies and exchanges leave empty.
static void drop_redop(struct reader *r)
{
    const struct text_lines *t = &r->lines;
    struct columns *c = &r->columns;
    double value;
    int64_t bytes;
    int at = c->prefix;
    if (!r->in_table || c->redop < 0 || c->open_end || t->word_count != at + c->count - 1 ||
        !word_is_whole(t->words[at + c->size], &bytes) ||
        !isalpha((unsigned char)*t->words[at + c->type]) ||
        !word_is_number(t->words[at + c->redop], &value))
        return;
    int *later[] = {&c->time, &c->algbw, &c->busbw, &c->wrong, &c->count, &c->half};
    for (size_t i = 0; i < ARRAY_LENGTH(later); i++) *later[i] -= *later[i] > c->redop;
    c->redop = -1;
}

// Programs that measure nothing in place print a header of both halves, and rows of the first.
static void drop_in_place(struct reader *r)
{
    const struct text_lines *t = &r->lines;
    struct columns *c = &r->columns;
    int64_t bytes;
    double us;
    if (r->in_table && c->half > c->busbw && t->word_count == c->prefix + c->half &&
        word_is_whole(t->words[c->prefix + c->size], &bytes) &&
        word_is_number(t->words[c->prefix + c->time], &us))
        c->count = c->half;
}

static enum status take_row(struct reader *r, int at, struct nccl_row *row, struct error *err)
{
    const struct text_lines *t = &r->lines;
    const struct columns *c = &r->columns;
    const char *const *words = t->words + at;
    int found = t->word_count - at;
    if (found < c->count || (found > c->count && !c->open_end))
        return text_refuse(t, err, "expected %d columns, as the header has, found %d", c->count,
                           found);
    row->type = words[c->type];
    row->redop = c->redop >= 0 ? words[c->redop] : "";
    if (!word_is_whole(words[c->size], &row->bytes))
        return text_refuse(t, err, "size: expected a number of bytes, found '%.40s'",
                           words[c->size]);
    const char *time = words[c->time];
    bool nan = is_time(time) && !word_is_number(time, &row->mean_us);
    if (!nan && (!word_is_number(time, &row->mean_us) || row->mean_us < 0 || row->mean_us > 1e12))
        return text_refuse(t, err, "time: expected microseconds, found '%.40s'", time);
    if (!word_is_number(words[c->algbw], &row->algbw) ||
        !word_is_number(words[c->busbw], &row->busbw))
        row->algbw = row->busbw = 0;
    return OK;
}

static enum status check_wrong(const struct reader *r, int at, struct error *err)
{
    const struct columns *c = &r->columns;
    const char *word = c->wrong >= 0 ? r->lines.words[at + c->wrong] : "N/A";
    double wrong = 0;
    if (!strcmp(word, "N/A") || (word_is_number(word, &wrong) && wrong == 0)) return OK;
    return text_refuse(&r->lines, err,
                       "#wrong: expected 0 or N/A, found '%.40s': what was timed did not work",
                       word);
}

// A line that begins as a row but is none may be where an error broke in.
static enum status read_row(struct reader *r, int at, struct error *err)
{
    struct nccl_row row = {0};
    int64_t root;
    if (take_row(r, at, &row, &r->bad) != OK) return OK;
    TRY(check_wrong(r, at, err));
    if (r->columns.root >= 0 && word_is_whole(r->lines.words[at + r->columns.root], &root))
        return text_refuse(&r->lines, err,
                           "root %lld: a reduce, broadcast, gather or scatter, which is not read: "
                           "expected -1, a collective of all ranks",
                           (long long)root);
    row.times_us = TAKE(r->n->arena, 1, double);
    row.times_us[0] = row.mean_us;
    row.time_count = row.mean_us > 0;
    r->n->rows_coarse += row.time_count && is_coarse(r->lines.words[at + r->columns.time]);
    return nccl_add_row(r->n, &row, place(r), err);
}

// ---- what the test is of

// The rest of the test is looked through: the name at its end, and the row with most bandwidth.
static enum status look_ahead(struct reader *r, struct nccl_row *best, const char **program,
                              struct error *err)
{
    struct arena *arena = r->n->arena;
    struct reader *ahead = TAKE(arena, 1, struct reader);
    struct error ignored = {OK, ""};
    bool more = true;
    *ahead = *r;
    ahead->lines.copy = TAKE(arena, TEXT_LINE_MAX + 1, char);
    for (bool ended = false; more;) {
        struct text_lines *t = &ahead->lines;
        int at;
        TRY(text_next(t, &more, err));
        enum line line = more ? find_line(t, &at) : LINE_OPTIONS;
        if (line == LINE_STARTS || line == LINE_OPTIONS) return OK;
        ended = ended || line == LINE_END;
        for (int i = 0; i + 3 < t->word_count && ended; i++)
            if (words_are(t, i, "Collective", "test", "concluded:"))
                *program = arena_copy_text(arena, t->words[i + 3]);
        struct nccl_row row = {0};
        drop_in_place(ahead);
        at = ended ? -1 : find_row(t, &ahead->columns);
        if (at < 0 || take_row(ahead, at, &row, &ignored) != OK) continue;
        if (row.algbw > best->algbw) {
            *best = row;
            best->redop = arena_copy_text(arena, row.redop);
        }
    }
    return OK;
}

// The collective and the ranks, where no line said them, by the rows that follow.
static enum status guess(struct reader *r, struct error *err)
{
    struct nccl_row best = {.redop = ""};
    const char *program = NULL;
    if (r->n->test.operation && r->n->test.rank_count) return OK;
    TRY(look_ahead(r, &best, &program, err));
    return nccl_guess(r->n, program, &best, r->lines.path, place(r), err);
}

// ---- the test's other lines

// # Rank 0 [Group 0] Pid 123 on HOST device 0 [PCI] NAME; --ranks stands in place of a list, which
// may be cut off.
static enum status read_rank(struct reader *r, int at, struct error *err)
{
    const struct text_lines *t = &r->lines;
    int64_t rank = -1, group = 0, device = -1;
    int i = at + 1, host;
    bool good = t->word_count > i && word_is_whole(t->words[i++], &rank);
    if (good && word_is(t, i, "Group")) {
        good = i + 1 < t->word_count && word_is_whole(t->words[i + 1], &group);
        i += 2;
    }
    if (good && word_is(t, i, "Pid")) i += 2;
    host = i + 1;
    good = good && word_is(t, i, "on") && i + 2 < t->word_count;
    // A name that somebody wrote over may have blanks.
    for (i += 2; good && i < t->word_count && !word_is(t, i, "device");) i++;
    good = good && i + 1 < t->word_count && word_is_whole(t->words[i + 1], &device);
    if (!good)
        return text_refuse(t, err,
                           "expected \"# Rank R [Group G] Pid P on HOST device D [PCI] NAME\", "
                           "found another line of a rank");
    int64_t told = r->n->settings->ranks;
    if (told && rank >= told)
        return text_refuse(t, err, "found rank %lld, but --ranks is %lld", (long long)rank,
                           (long long)told);
    if (told) return OK;
    const char *name = t->words[host];
    for (int k = host + 1; k < i; k++) name = arena_print(r->n->arena, "%s %s", name, t->words[k]);
    return nccl_add_rank(r->n, rank, group, name, device, text_rest(t, i + 3, r->n->arena),
                         place(r), err);
}

// A test without its last line was cut off: by an error, or by who posted it. What it had printed
// by then counts; but not a test of which nothing is left.
static enum status end_test(struct reader *r, struct error *err)
{
    if (r->in_test && !r->ended) {
        r->n->cut_tests++;
        if (!r->n->cut_at) r->n->cut_at = place(r);
    }
    if (r->in_test && r->ended && r->bad.status != OK) {
        *err = r->bad;
        return r->bad.status;
    }
    r->bad = (struct error){OK, ""};
    return OK;
}

static enum status begin(struct reader *r, const char *program, struct error *err)
{
    TRY(end_test(r, err));
    r->in_test = true;
    r->in_table = r->ended = false;
    r->named = program != NULL;
    return nccl_begin_test(r->n, program ? program : r->command, place(r), err);
}

// nThread A nGpus B: of each process.
static void read_options(struct reader *r, int at)
{
    const struct text_lines *t = &r->lines;
    int64_t threads, gpus;
    if (at + 3 < t->word_count && word_is_whole(t->words[at + 1], &threads) &&
        word_is_whole(t->words[at + 3], &gpus) && threads <= 256 && gpus <= 256)
        r->n->test.process_gpus = (int)(threads * gpus);
}

static enum status read_line(struct reader *r, enum line line, int at, struct error *err)
{
    const struct text_lines *t = &r->lines;
    switch (line) {
    case LINE_VERSION:
        if (at + 2 < t->word_count && !r->n->version)
            r->n->version = arena_print(r->n->arena, "NCCL, nccl-tests %.40s", t->words[at + 2]);
        return OK;
    case LINE_STARTS: return begin(r, at + 3 < t->word_count ? t->words[at + 3] : "", err);
    case LINE_OPTIONS:
        if (!r->named || r->n->test.rank_count || r->in_table) TRY(begin(r, NULL, err));
        read_options(r, at);
        return OK;
    case LINE_RANK:
        if (!r->in_test || r->ended) TRY(begin(r, NULL, err));
        return read_rank(r, at, err);
    case LINE_HEADER:
        if (!r->in_test || r->ended) TRY(begin(r, NULL, err));
        TRY(read_columns(r, at, err));
        return guess(r, err);
    case LINE_BAD: return text_refuse(t, err, "the test failed: values were out of bounds");
    case LINE_END: r->ended = true, r->in_table = false; return OK;
    case LINE_OTHER: break;
    }
    return OK;
}

// Whether a row of a table whose header is not in the file begins at the word: there are as many
// words as one has, and its bandwidth follows from its time.
static bool is_bare_row(const struct text_lines *t, int at)
{
    enum { WORDS_LEAST = 11 }; // size count type (time algbw busbw error) twice
    const char *const *words = t->words + at;
    int more = t->word_count - at - WORDS_LEAST, time = 3 + more;
    int64_t bytes, count;
    double us, algbw, bus;
    return more >= 0 && more <= 2 && word_is_whole(words[0], &bytes) &&
           word_is_whole(words[1], &count) && isalpha((unsigned char)*words[2]) &&
           word_is_number(words[time], &us) && word_is_number(words[time + 1], &algbw) &&
           word_is_number(words[time + 2], &bus) && us > 0 &&
           fabs((double)bytes / us / 1e3 - algbw) <= 0.01 + 0.01 * algbw;
}

// A row behind as many words as may stand before a header's.
static enum status find_bare_table(struct reader *r, struct error *err)
{
    const struct text_lines *t = &r->lines;
    int at = 0, side = r->n->settings->in_place ? 4 : 0;
    if (r->in_table || r->ended) return OK;
    while (at < PREFIX_MOST && !is_bare_row(t, at)) at++;
    if (!is_bare_row(t, at)) return OK;
    if (!r->in_test) TRY(begin(r, NULL, err));
    const char *const *words = t->words + at;
    int64_t wrong;
    int time = t->word_count - at - 8 + side;
    r->columns = (struct columns){.type = 2,
                                  .root = -1,
                                  .half = -1,
                                  .redop = isalpha((unsigned char)*words[3]) ? 3 : -1,
                                  .time = time,
                                  .algbw = time + 1,
                                  .busbw = time + 2,
                                  .wrong = word_is_whole(words[time + 3], &wrong) ? time + 3 : -1,
                                  .count = t->word_count - at,
                                  .prefix = at};
    r->in_table = r->n->assumed_columns = true;
    return guess(r, err);
}

enum status nccl_read_text(struct nccl_import *n, const char *path, const char *text, size_t size,
                           struct error *err)
{
    struct reader *r = TAKE(n->arena, 1, struct reader);
    struct text_lines *t = &r->lines;
    bool more;
    char *bare = text_without_bars(text, size, n->arena); // tables of Markdown, of compose
    blank_tags(bare);
    r->n = n;
    if (!strstr(text, "busbw")) TRY(foreign_refuse(path, text, "nccl-tests", err));
    text_open(t, path, bare, size, n->arena);
    for (;;) {
        int at;
        TRY(text_next(t, &more, err));
        if (!more) break;
        enum line line = find_line(t, &at);
        if (line != LINE_OTHER) {
            TRY(read_line(r, line, at, err));
            continue;
        }
        find_command(r);
        TRY(find_bare_table(r, err));
        drop_redop(r);
        drop_in_place(r);
        at = r->in_table && !r->ended && r->bad.status == OK ? find_row(t, &r->columns) : -1;
        if (at < 0) continue;
        TRY(read_row(r, at, err));
    }
    if (!r->in_test) TRY(foreign_refuse(path, text, "nccl-tests", err));
    if (!r->in_test)
        return refuse(
            err,
            "%s: expected what nccl-tests or rccl-tests prints, or its JSON, found no line "
            "\"# nThread ...\" and no table \"# size count type ...\"",
            path);
    return end_test(r, err);
}
