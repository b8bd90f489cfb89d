// What nvbandwidth prints: "Running NAME.", a description, a line of column numbers, and rows that
// begin with their own. A launcher's words may stand before lines.
#include <string.h>

#include "data/import/nvbandwidth.h"
#include "data/import/text.h"

enum { PREFIX_MOST = 8, UNNAMED = TEST_COUNT + 1 };

struct printed {
    struct bandwidths *b;
    struct text_lines lines;
    int test; // that runs; TEST_COUNT: another; UNNAMED: that its sum names; -1: none
    struct testcase now;
    const char *like; // a number that was read
    int rows, wanted; // read; of the matrix: 0 before its columns are known
};

static int find(const struct text_lines *t, const char *word)
{
    for (int i = 0; i < t->word_count; i++)
        if (!strcmp(t->words[i], word)) return i;
    return -1;
}

static void end_case(struct printed *p)
{
    struct bandwidths *b = p->b;
    bool some = p->wanted && p->rows;
    b->unnamed += p->test == UNNAMED;
    if (p->test >= 0 && p->test < TEST_COUNT) {
        p->now.passed = some, p->now.cut = some && p->rows < p->wanted;
        b->cut += p->now.cut;
        if (!some) b->failed++;
        else if (!b->tests[p->test].passed || b->tests[p->test].cut) b->tests[p->test] = p->now;
    }
    p->test = -1;
}

static int test_named(const char *name)
{
    int test = 0;
    while (test < TEST_COUNT && strcmp(nvbandwidth_tests[test], name) != 0) test++;
    return test;
}

// SUM NAME VALUE: ends a table without "Running", as posts have them.
static bool name_case(struct printed *p)
{
    const struct text_lines *t = &p->lines;
    int at = find(t, "SUM");
    if (p->test != UNNAMED || at < 0 || at + 1 >= t->word_count) return false;
    p->test = test_named(t->words[at + 1]);
    p->now.place = p->test < TEST_COUNT ? nvbandwidth_tests[p->test] : p->now.place;
    end_case(p);
    return true;
}

// Running NAME.
static bool begin_case(struct printed *p)
{
    const struct text_lines *t = &p->lines;
    int at = find(t, "Running");
    if (at < 0 || at + 1 >= t->word_count) return false;
    char *name = arena_copy_text(p->b->arena, t->words[at + 1]);
    size_t length = strlen(name);
    if (!length || name[length - 1] != '.' || !strchr(name, '_')) return false;
    name[length - 1] = '\0';
    end_case(p);
    p->test = test_named(name);
    if (p->test == TEST_COUNT && !p->b->passed_over++) p->b->not_taken = name;
    p->now = (struct testcase){.place = name};
    p->rows = p->wanted = 0;
    return true;
}

static bool is_cell(const char *word)
{
    double value;
    return word_is_number(word, &value) || !strcmp(word, "N/A");
}

// 0 1 2 ...: the columns' numbers, at the end of the line.
static int columns_of(const struct text_lines *t)
{
    int64_t number;
    for (int at = 0; at < t->word_count && at <= PREFIX_MOST; at++) {
        int i = at;
        while (i < t->word_count && word_is_whole(t->words[i], &number) && number == i - at) i++;
        if (i == t->word_count && i > at) return i - at;
    }
    return 0;
}

// The row's number, then a cell for each column.
static enum status take_row(struct printed *p, struct error *err)
{
    const struct text_lines *t = &p->lines;
    int at = t->word_count - p->now.columns - 1;
    int64_t number;
    if (at < 0 || at > PREFIX_MOST || !word_is_whole(t->words[at], &number)) return OK;
    for (int i = at + 1; i < t->word_count; i++)
        if (!is_cell(t->words[i])) return OK;
    if (*t->words[t->word_count - 1] != 'N' && text_ends_short(t, p->like)) return OK;
    if (number != p->rows)
        return text_refuse(t, err, "%s: expected row %d, found %lld", p->now.place, p->rows,
                           (long long)number);
    for (int i = 0; i < p->now.columns; i++) {
        double *to = &p->now.gb_per_s[p->rows * p->now.columns + i];
        if (strcmp(t->words[at + 1 + i], "N/A") &&
            (!word_is_number(t->words[at + 1 + i], to) || *to < 0 || *to > 1e6))
            return text_refuse(t, err, "%s: expected GB/s or N/A, found '%.40s'", p->now.place,
                               t->words[at + 1 + i]);
        if (*to > 0) p->like = arena_copy_text(p->b->arena, t->words[at + 1 + i]);
    }
    p->rows++;
    return OK;
}

static enum status take_line(struct printed *p, struct error *err)
{
    const struct text_lines *t = &p->lines;
    struct bandwidths *b = p->b;
    struct machine *m = &b->samples.machine;
    int device = find(t, "Device"), version = find(t, "Version:"), memcpy_at = find(t, "memcpy");
    if (begin_case(p) || name_case(p)) return OK;
    if (p->test < 0 && t->word_count == 2 && !strcmp(t->words[0], "Waiving")) b->failed++;
    if (p->test < 0 && device >= 0 && device + 2 < t->word_count && !m->gpu) {
        const char *name = text_rest(t, device + 2, b->arena), *end = strstr(name, " (");
        if (end && strchr(t->words[device + 1], ':'))
            m->gpu = arena_print(b->arena, "%.*s", (int)(end - name), name);
    }
    if (version > 0 && version + 1 < t->word_count) {
        const char *what = t->words[version - 1], *number = t->words[version + 1];
        if (!strcmp(what, "nvbandwidth"))
            m->library = arena_print(b->arena, "nvbandwidth %.40s", number);
        if (!strcmp(what, "Driver") && (version < 2 || strcmp(t->words[version - 2], "CUDA")))
            m->driver = arena_copy_text(b->arena, number);
    }
    bool heads = memcpy_at >= 0 && find(t, "bandwidth") > memcpy_at;
    if (p->test < 0 && heads)
        p->test = UNNAMED, p->now = (struct testcase){.place = "a table"}, p->rows = p->wanted = 0;
    if (p->test < 0 || p->test == TEST_COUNT) return OK;
    if (heads) {
        p->now.description = text_rest(t, memcpy_at, b->arena);
    } else if (p->now.description && !p->wanted) {
        p->now.columns = columns_of(t);
        if (p->now.columns > DEVICES_MAX)
            return text_refuse(t, err, "expected at most %d devices, found %d", DEVICES_MAX,
                               p->now.columns);
        bool pairs = p->test == UNNAMED ? strstr(p->now.description, "GPU(row)") != NULL
                                        : p->test >= PEER_WRITE;
        p->wanted = !p->now.columns ? 0 : pairs ? p->now.columns : 1;
        p->now.gb_per_s = TAKE(b->arena, p->wanted * p->now.columns, double);
    } else if (p->wanted && p->rows < p->wanted) {
        return take_row(p, err);
    }
    return OK;
}

enum status nvbandwidth_read_text(struct bandwidths *b, const char *text, size_t size,
                                  struct error *err)
{
    struct printed *p = TAKE(b->arena, 1, struct printed);
    bool more;
    *p = (struct printed){.b = b, .test = -1, .like = ".00"};
    text_open(&p->lines, b->path, text, size, b->arena);
    for (;;) {
        TRY(text_next(&p->lines, &more, err));
        if (!more) break;
        TRY(take_line(p, err));
    }
    end_case(p);
    for (int i = 0; i < TEST_COUNT; i++)
        if (b->tests[i].passed) return OK;
    if (b->passed_over || b->failed || b->unnamed) return OK;
    return refuse(
        err, "%s: expected what nvbandwidth prints, or its JSON, found no line \"Running ...\"",
        b->path);
}
