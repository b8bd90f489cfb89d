// The exact writers: their output is read back by small separate parsers, digit by digit, and in
// the units that the file states it must equal the program; including values near 2^53, negative
// ones, empty rows and fixed columns. Numbers are small enough for floating-point solvers.
#include "data/base/file.h"
#include "data/kinds/schedules.h"
#include "formulate/program/formulate.h"
#include "tests/support/random_priced.h"
#include "tests/support/textbook/textbook.h"

#include <inttypes.h>
#include <unistd.h>
#include "tests/support/check.h"

// A number of a file: digits / 10^decimals.
struct decimal {
    int64_t digits;
    int decimals;
};

struct reading {
    const struct milp *m;
    int time_log10;        // as the file states it
    struct decimal *dense; // [row * column_count + column]
    struct decimal *right, *lower, *upper;
    int *sense;
    bool *integer, *known;
    char (*columns)[64], (*rows)[64];
};

static struct decimal decimal_of(const char *word)
{
    struct decimal d = {0, 0};
    bool negative = *word == '-', after = false;
    for (word += negative; *word; word++) {
        if (*word == '.') {
            assert_false(after);
            after = true;
            continue;
        }
        assert_true(*word >= '0' && *word <= '9');
        assert_true(d.digits <= (INT64_MAX - 9) / 10);
        d.digits = d.digits * 10 + *word - '0';
        d.decimals += after;
    }
    if (negative) d.digits = -d.digits;
    return d;
}

// Whether d x 10^log10 is the value, exactly.
static bool is_value(struct decimal d, int log10, int64_t value)
{
    for (; d.decimals > log10; d.decimals--) {
        if (d.digits % 10) return false;
        d.digits /= 10;
    }
    for (; d.decimals < log10; d.decimals++) {
        if (llabs(d.digits) > INT64_MAX / 10) return false;
        d.digits *= 10;
    }
    return d.digits == value;
}

static int log10_of(const char *text)
{
    int64_t power = strtoll(text, NULL, 10);
    int log10 = 0;
    for (; power > 1; power /= 10, log10++) assert_int_equal(power % 10, 0);
    assert_int_equal(power, 1);
    return log10;
}

static void read_units(struct reading *r, const char *text)
{
    const char *time = strstr(text, "unit of time: ");
    assert_non_null(time);
    r->time_log10 = log10_of(time + 14);
}

static int find(char (*names)[64], int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

static void open_reading(struct reading *r, const struct milp *m, struct arena *arena)
{
    r->m = m;
    r->dense = TAKE(arena, m->row_count * m->column_count, struct decimal);
    r->right = TAKE(arena, m->row_count, struct decimal);
    r->lower = TAKE(arena, m->column_count, struct decimal);
    r->upper = TAKE(arena, m->column_count, struct decimal);
    r->sense = TAKE(arena, m->row_count, int);
    r->integer = TAKE(arena, m->column_count, bool);
    r->known = TAKE(arena, m->column_count, bool);
    r->columns = arena_take(arena, (size_t)m->column_count, 64);
    r->rows = arena_take(arena, (size_t)m->row_count, 64);
    for (int j = 0; j < m->column_count; j++) {
        milp_column_name(m, j, r->columns[j]);
        assert_true(strlen(r->columns[j]) <= 60 && find(r->columns, j, r->columns[j]) < 0);
    }
    for (int i = 0; i < m->row_count; i++) milp_row_name(m, i, r->rows[i]);
}

static int column_log10(const struct reading *r, int column)
{
    return r->m->columns[column].time ? r->time_log10 : 0;
}

// The power of ten by which the row is divided: that of its times, as the file states it,
// otherwise whichever the row's first number shows.
static int row_log10(const struct reading *r, int row)
{
    const struct milp_row *of = &r->m->rows[row];
    for (int e = of->first; e < of->first + of->count; e++)
        if (column_log10(r, r->m->entry_column[e])) return column_log10(r, r->m->entry_column[e]);
    for (int e = of->first; e < of->first + of->count; e++)
        if (r->m->columns[r->m->entry_column[e]].time) return 0;
    for (int log10 = 0; log10 < 18; log10++)
        if (of->count ? is_value(r->dense[row * r->m->column_count + r->m->entry_column[of->first]],
                                 log10, r->m->entry_value[of->first])
                      : is_value(r->right[row], log10, of->right))
            return log10;
    return 0;
}

// No coefficient is greater than 10,000, apart from counts of path rows.
static void expect_moderate(const struct reading *r, int row)
{
    const struct milp_row *of = &r->m->rows[row];
    for (int e = of->first; e < of->first + of->count; e++) {
        struct decimal d = r->dense[row * r->m->column_count + r->m->entry_column[e]];
        double value = (double)d.digits;
        for (int i = 0; i < d.decimals; i++) value /= 10;
        assert_true(of->role == ROW_PATH || (value <= 10000 && value >= -10000));
    }
}

static void expect_same(const struct reading *r)
{
    const struct milp *m = r->m;
    for (int i = 0; i < m->row_count; i++) {
        int log10 = row_log10(r, i);
        expect_moderate(r, i);
        assert_true(is_value(r->right[i], log10, m->rows[i].right));
        assert_int_equal(r->sense[i], m->rows[i].sense);
        for (int e = m->rows[i].first; e < m->rows[i].first + m->rows[i].count; e++) {
            struct decimal *value = &r->dense[i * m->column_count + m->entry_column[e]];
            assert_true(
                is_value(*value, log10 - column_log10(r, m->entry_column[e]), m->entry_value[e]));
            *value = (struct decimal){0, 0};
        }
    }
    for (int i = 0; i < m->row_count * m->column_count; i++)
        assert_int_equal(r->dense[i].digits, 0);
    for (int j = 0; j < m->column_count; j++) {
        assert_true(r->known[j]);
        assert_true(is_value(r->lower[j], column_log10(r, j), m->columns[j].lower));
        assert_true(is_value(r->upper[j], column_log10(r, j), m->columns[j].upper));
        assert_int_equal(r->integer[j], m->columns[j].integer);
    }
}

static void read_mps(struct reading *r, char *text)
{
    char section[32] = "";
    bool integer = false;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char a[64] = "", b[64] = "", c[64] = "", d[64] = "";
        int words = sscanf(line, "%63s %63s %63s %63s", a, b, c, d);
        if (line[0] == '*') continue;
        if (line[0] != ' ') snprintf(section, sizeof section, "%.31s", a);
        else if (!strcmp(section, "ROWS")) {
            int i = find(r->rows, r->m->row_count, b);
            if (i >= 0)
                r->sense[i] = a[0] == 'L' ? ROW_AT_MOST : a[0] == 'E' ? ROW_EQUAL : ROW_AT_LEAST;
            else assert_string_equal(b, "objective");
        } else if (!strcmp(section, "COLUMNS")) {
            if (!strcmp(b, "'MARKER'")) {
                integer = !strcmp(c, "'INTORG'");
                continue;
            }
            int j = find(r->columns, r->m->column_count, a), i = find(r->rows, r->m->row_count, b);
            assert_true(j >= 0 && words == 3);
            r->known[j] = true;
            r->integer[j] = integer;
            if (i >= 0) r->dense[i * r->m->column_count + j] = decimal_of(c);
            else assert_int_equal(strtoll(c, NULL, 10), j == 0);
        } else if (!strcmp(section, "RHS")) {
            r->right[find(r->rows, r->m->row_count, b)] = decimal_of(c);
        } else if (!strcmp(section, "BOUNDS")) {
            int j = find(r->columns, r->m->column_count, c);
            if (strcmp(a, "UP")) r->lower[j] = decimal_of(d);
            if (strcmp(a, "LO")) r->upper[j] = decimal_of(d);
        }
    }
    assert_string_equal(section, "ENDATA");
}

// Blank-separated words: [label:] {[sign] [number] name} sense number.
static void read_lp_rows(struct reading *r, char **word, char *until)
{
    int row = -1;
    int64_t sign = 1;
    struct decimal value = {1, 0};
    for (; strcmp(*word, until); *word = strtok(NULL, " \n")) {
        size_t length = strlen(*word);
        if ((*word)[length - 1] == ':') {
            (*word)[length - 1] = 0;
            row = find(r->rows, r->m->row_count, *word);
            assert_true(row >= 0);
        } else if (!strcmp(*word, "-")) sign = -1;
        else if (!strcmp(*word, "+")) sign = 1;
        else if (strchr("<>=", (*word)[0])) {
            r->sense[row] = (*word)[0] == '<'   ? ROW_AT_MOST
                            : (*word)[0] == '=' ? ROW_EQUAL
                                                : ROW_AT_LEAST;
            *word = strtok(NULL, " \n");
            r->right[row] = decimal_of(*word);
        } else if ((*word)[0] >= '0' && (*word)[0] <= '9') value = decimal_of(*word);
        else {
            int j = find(r->columns, r->m->column_count, *word);
            assert_true(j >= 0);
            value.digits *= sign;
            r->dense[row * r->m->column_count + j] = value;
            sign = 1;
            value = (struct decimal){1, 0};
        }
    }
}

static void read_lp(struct reading *r, char *text)
{
    char *word = strtok(strstr(text, "Subject To") + strlen("Subject To"), " \n"), to[] = "Bounds";
    read_lp_rows(r, &word, to);
    for (word = strtok(NULL, " \n"); strcmp(word, "Generals") && strcmp(word, "End");
         word = strtok(NULL, " \n")) {
        int j = find(r->columns, r->m->column_count, word);
        if (j >= 0) { // name = value
            assert_string_equal(strtok(NULL, " \n"), "=");
            r->lower[j] = r->upper[j] = decimal_of(strtok(NULL, " \n"));
        } else { // low <= name <= high
            struct decimal low = decimal_of(word);
            assert_string_equal(strtok(NULL, " \n"), "<=");
            j = find(r->columns, r->m->column_count, strtok(NULL, " \n"));
            assert_true(j >= 0);
            assert_string_equal(strtok(NULL, " \n"), "<=");
            r->lower[j] = low;
            r->upper[j] = decimal_of(strtok(NULL, " \n"));
        }
        r->known[j] = true;
    }
    if (!strcmp(word, "Generals"))
        for (word = strtok(NULL, " \n"); strcmp(word, "End"); word = strtok(NULL, " \n"))
            r->integer[find(r->columns, r->m->column_count, word)] = true;
}

static void check_both(const struct milp *m, struct arena *arena)
{
    for (int lp = 0; lp < 2; lp++) {
        struct reading r;
        const char *text;
        size_t size;
        char path[] = "/tmp/plumbline-program-XXXXXX";
        int handle = mkstemp(path);
        assert_true(handle >= 0);
        close(handle);
        MUST((lp ? milp_write_lp : milp_write_mps)(m, path, arena, &own_err));
        MUST(file_read(path, &text, &size, arena, &own_err));
        unlink(path);
        open_reading(&r, m, arena);
        read_units(&r, text);
        (lp ? read_lp : read_mps)(&r, arena_copy_text(arena, text));
        expect_same(&r);
    }
}

TEST(random_programs_are_read_back)
{
    uint64_t seed = 3;
    int programs = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < 80; i++, arena_reset(arena, mark)) {
        struct priced p;
        struct schedule schedule;
        struct choices c;
        struct formulation f;
        random_priced_of(&p, (int)(i / 2 % SCHEDULE_KIND_COUNT), &seed, arena);
        if (i % 2) priced_without_swaps(&p), priced_without_setting(&p);
        priced_schedule(&schedule, &p, arena);
        CHECK_OK(choices_build(&c, &p, &schedule, arena, &err));
        CHECK_OK((i % 2 ? formulate_textbook : formulate_choices)(&f, &c, 1000000, arena, &err));
        if (f.milp.column_count < 600 && f.milp.row_count < 2000) {
            check_both(&f.milp, arena);
            programs++;
        }
    }
    assert_true(programs > 30);
}

TEST(large_numbers_stay_exact)
{
    struct milp m;
    const int64_t large = ((int64_t)1 << 53) - 1;
    milp_begin(&m, arena);
    milp_add_column(&m, (struct milp_column){.role = COLUMN_TIME, .upper = large, .time = true});
    milp_add_column(
        &m, (struct milp_column){
                .role = COLUMN_SYMBOL, .a = 3, .lower = -large, .upper = -large, .time = true});
    milp_add_column(&m, (struct milp_column){
                            .role = COLUMN_CHOICE, .a = 1, .b = 2, .upper = 1, .integer = true});
    milp_add_column(&m, (struct milp_column){.role = COLUMN_FLOW, .upper = 1}); // in no row
    milp_add_entry(&m, 0, 1);
    milp_add_entry(&m, 1, -large);
    milp_add_entry(&m, 2, large - 1);
    milp_add_row(&m, ROW_PATH, ROW_AT_LEAST, 1 - large);
    milp_add_entry(&m, 0, -1);
    milp_add_row(&m, ROW_OTHER, ROW_EQUAL, 0);
    check_both(&m, arena);
    milp_add_row(&m, ROW_OTHER, ROW_AT_MOST, -1); // empty: the program is infeasible
    CHECK_REFUSED(milp_write_mps(&m, "/nowhere/at/all.mps", arena, &err), "/nowhere/at/all.mps");
}
