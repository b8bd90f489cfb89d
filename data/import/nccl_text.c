// The output of nccl-tests. The table's own header line says which columns there are (releases and
// options differ), the lines "# Rank ..." say who took part, and "# Avg bus bandwidth" says that a
// test was completed. A file may contain several tests, and any output of launchers and libraries
// between their lines.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/import/nccl_internal.h"
#include "data/import/text.h"

// Indices of a row's words; -1: the table has no such column.
struct columns {
    int size, type, time, algbw, busbw, wrong, count;
    bool open_end; // a timestamp's words at the end
};

struct reader {
    struct nccl_import *n;
    struct text_lines lines;
    struct columns columns;
    bool in_table;       // after a header line
    bool in_test, ended; // ended: its last line was seen
    bool named;          // this test's first line stated its name
};

static const char *place(const struct reader *r)
{
    return arena_print(r->n->arena, "%s: line %d", r->lines.path, r->lines.line);
}

static bool word_is(const struct text_lines *t, int i, const char *word)
{
    return i < t->word_count && !strcmp(t->words[i], word);
}

// The n-th word of that name in the header, as the index of a row's word.
static int find_column(const struct text_lines *t, const char *name, int n)
{
    for (int i = 1; i < t->word_count; i++)
        if (!strcmp(t->words[i], name) && !n--) return i - 1;
    return -1;
}

// # size count type redop root time algbw busbw #wrong [i_min i_max i_p99 i_cv%] and the second
// half again, [timestamp]
static enum status read_header(struct reader *r, struct error *err)
{
    const struct text_lines *t = &r->lines;
    int side = r->n->settings->in_place;
    if (find_column(t, "cputime", 0) >= 0)
        return text_refuse(t, err,
                           "cputime: the calls' time on the processor is not the operations'");
    struct columns *c = &r->columns;
    *c = (struct columns){.size = find_column(t, "size", 0),
                          .type = find_column(t, "type", 0),
                          .time = find_column(t, "time", side),
                          .algbw = find_column(t, "algbw", side),
                          .busbw = find_column(t, "busbw", side),
                          .wrong = find_column(t, "#wrong", side),
                          .open_end = word_is(t, t->word_count - 1, "timestamp")};
    c->count = t->word_count - 1 - c->open_end;
    if (c->type < 0 || c->time < 0 || c->algbw < 0 || c->busbw < 0)
        return text_refuse(
            t, err, "expected columns type, time, algbw and busbw, %s in place, found no such ones",
            side ? "out of and" : "out of or");
    r->in_table = true;
    return OK;
}

// Up to the point or the exponent: 1.0e+07 has fewer digits than it needs.
static bool is_coarse(const char *word) { return strpbrk(word, "eE") != NULL; }

static enum status read_row(struct reader *r, struct error *err)
{
    const struct text_lines *t = &r->lines;
    const struct columns *c = &r->columns;
    struct nccl_row row = {0};
    double wrong = 0;
    if (t->word_count < c->count || (t->word_count > c->count && !c->open_end))
        return text_refuse(t, err, "expected %d columns, as the header has, found %d", c->count,
                           t->word_count);
    row.type = t->words[c->type];
    if (!word_is_whole(t->words[c->size], &row.bytes))
        return text_refuse(t, err, "size: expected a number of bytes, found '%.40s'",
                           t->words[c->size]);
    if (c->wrong >= 0 && strcmp(t->words[c->wrong], "N/A") &&
        (!word_is_number(t->words[c->wrong], &wrong) || wrong != 0))
        return text_refuse(t, err,
                           "#wrong: expected 0 or N/A, found '%.40s': what was timed did not work",
                           t->words[c->wrong]);
    const char *time = t->words[c->time];
    bool nan = !strcmp(time, "nan") || !strcmp(time, "-nan") || !strcmp(time, "N/A");
    if (!nan && (!word_is_number(time, &row.mean_us) || row.mean_us < 0 || row.mean_us > 1e12))
        return text_refuse(t, err, "time: expected microseconds, found '%.40s'", time);
    if (!word_is_number(t->words[c->algbw], &row.algbw) ||
        !word_is_number(t->words[c->busbw], &row.busbw))
        row.algbw = row.busbw = 0;
    row.times_us = TAKE(r->n->arena, 1, double);
    row.times_us[0] = row.mean_us;
    row.time_count = row.mean_us > 0;
    r->n->rows_coarse += row.time_count && is_coarse(time);
    return nccl_add_row(r->n, &row, place(r), err);
}

// # Rank 0 [Group 0] Pid 123 on HOST device 0 [PCI] NAME
static enum status read_rank(struct reader *r, struct error *err)
{
    const struct text_lines *t = &r->lines;
    int64_t rank = -1, group = 0, device = -1;
    int i = 2, host;
    bool good = t->word_count > 2 && word_is_whole(t->words[i++], &rank);
    if (good && word_is(t, i, "Group")) {
        good = i + 1 < t->word_count && word_is_whole(t->words[i + 1], &group);
        i += 2;
    }
    if (good && word_is(t, i, "Pid")) i += 2;
    host = i + 1;
    good = good && word_is(t, i, "on") && word_is(t, i + 2, "device") && i + 3 < t->word_count &&
           word_is_whole(t->words[i + 3], &device);
    if (!good)
        return text_refuse(t, err,
                           "expected \"# Rank R [Group G] Pid P on HOST device D [PCI] NAME\", "
                           "found another line of a rank");
    return nccl_add_rank(r->n, rank, group, t->words[host], device,
                         text_rest(t, i + 5, r->n->arena), place(r), err);
}

static enum status expect_end(struct reader *r, struct error *err)
{
    return !r->in_test || r->ended ? OK
                                   : text_refuse(&r->lines, err,
                                                 "expected \"# Avg bus bandwidth\" at a test's "
                                                 "end, found none: the output is cut off");
}

static enum status begin(struct reader *r, const char *program, struct error *err)
{
    TRY(expect_end(r, err));
    r->in_test = true;
    r->in_table = r->ended = false;
    r->named = program != NULL;
    return nccl_begin_test(r->n, program, place(r), err);
}

static enum status read_comment(struct reader *r, struct error *err)
{
    const struct text_lines *t = &r->lines;
    if (word_is(t, 1, "nccl-tests") && word_is(t, 2, "version") && t->word_count > 3 &&
        !r->n->version)
        r->n->version = arena_print(r->n->arena, "NCCL, nccl-tests %.40s", t->words[3]);
    if (word_is(t, 1, "Collective") && word_is(t, 3, "starting:"))
        return begin(r, t->word_count > 4 ? t->words[4] : "", err);
    if (word_is(t, 1, "nThread"))
        return r->named && !r->n->test.rank_count ? OK : begin(r, NULL, err);
    if (word_is(t, 1, "Rank"))
        return r->in_test
                   ? read_rank(r, err)
                   : text_refuse(
                         t, err,
                         "expected a test's first line (\"# nThread ...\") before its ranks");
    if (word_is(t, 1, "size"))
        return r->in_test
                   ? read_header(r, err)
                   : text_refuse(
                         t, err,
                         "expected a test's first line (\"# nThread ...\") before its table");
    if (word_is(t, 1, "Out") && word_is(t, 3, "bounds") && word_is(t, t->word_count - 1, "FAILED"))
        return text_refuse(t, err, "the test failed: values were out of bounds");
    if (word_is(t, 1, "Avg") && word_is(t, 2, "bus")) {
        r->ended = true;
        r->in_table = false;
    }
    return OK;
}

enum status nccl_read_text(struct nccl_import *n, const char *path, const char *text, size_t size,
                           struct error *err)
{
    struct reader *r = TAKE(n->arena, 1, struct reader);
    struct text_lines *t = &r->lines;
    int64_t number;
    bool more;
    r->n = n;
    text_open(t, path, text, size, n->arena);
    for (;;) {
        TRY(text_next(t, &more, err));
        if (!more) break;
        if (word_is(t, 0, "#")) TRY(read_comment(r, err));
        else if (r->in_table && t->word_count && word_is_whole(t->words[0], &number))
            TRY(read_row(r, err));
    }
    if (!r->in_test)
        return fail(
            err, BAD_INPUT,
            "%s: expected what nccl-tests prints, or its JSON, found no line \"# nThread ...\"",
            path);
    return expect_end(r, err);
}
