// Tables: what a reader of comma-separated values must accept, what it must refuse, and its
// messages. Oracle: random cells written by the test's own writer, read back unchanged.
#include "data/text/table.h"
#include "tests/support/check.h"

static enum status open_text(struct table *t, const char *text, struct arena *arena,
                             struct error *err)
{
    *err = (struct error){OK, ""};
    return table_open_text(t, "rows.csv", text, strlen(text), arena, err);
}

static void assert_cell(struct cell cell, const char *text)
{
    if (!cell_is(cell, text)) fail_msg("got '%.*s', want '%s'", cell.length, cell.text, text);
}

TEST(reads_what_is_there)
{
    static const char *const texts[] = {
        "id,note\n1,\"a, \"\"b\"\"\nc\"\n2,\n",
        "id,note\r\n1,\"a, \"\"b\"\"\nc\"\r\n2,\r\n",
        "id,note\n1,\"a, \"\"b\"\"\nc\"\n2,",
        "\xEF\xBB\xBFid,\"note\"\n\"1\",\"a, \"\"b\"\"\nc\"\n2,\"\"\n\n\n",
    };
    struct arena_mark mark = arena_set_mark(arena);
    for (size_t i = 0; i < ARRAY_LENGTH(texts); i++, arena_reset(arena, mark)) {
        struct table t;
        bool more;
        CHECK_OK(open_text(&t, texts[i], arena, &err));
        assert_int_equal(t.column_count, 2);
        assert_int_equal(table_column(&t, "note"), 1);
        assert_int_equal(table_column(&t, "not"), -1);
        CHECK_OK(table_next(&t, &more, &err));
        assert_true(more && t.line == 2 && t.row == 0);
        assert_cell(t.cells[0], "1");
        assert_cell(t.cells[1], "a, \"b\" c");
        assert_true(cell_contains(t.cells[1], "A,") && !cell_contains(t.cells[1], "cc"));
        CHECK_OK(table_next(&t, &more, &err));
        assert_true(more && t.line == 4 && t.row == 1);
        assert_cell(t.cells[0], "2");
        assert_cell(t.cells[1], "");
        CHECK_OK(table_next(&t, &more, &err));
        assert_false(more);
    }
}

// ---- refusals

static void expect_refused(const char *text, const char *where)
{
    struct table t;
    struct error err;
    bool more = true;
    struct arena_mark mark = arena_set_mark(&own_arena);
    enum status status = open_text(&t, text, &own_arena, &err);
    while (status == OK && more) status = table_next(&t, &more, &err);
    if (status != BAD_INPUT) fail_msg("accepted: %s", text);
    if (strncmp(err.text, "rows.csv: ", 10) || !strstr(err.text, where) || strchr(err.text, '\n'))
        fail_msg("'%s' does not say '%s'", err.text, where);
    arena_reset(&own_arena, mark);
}

TEST(refuses_with_file_and_line)
{
    expect_refused("", "columns' names");
    expect_refused("\xEF\xBB\xBF", "columns' names");
    expect_refused("id,,note\n", "column 2 has no name");
    expect_refused("id,note,id\n", "column 3: \"id\" names two columns");
    expect_refused("id,note\n1\n", "line 2: expected 2 cells, found 1");
    expect_refused("id,note\n1,2,3\n", "line 2: expected 2 cells, found more");
    expect_refused("id,note\n1,\"2\n3,4\n", "line 2, cell 2: expected a closing quote");
    expect_refused("id,note\n1,\"2\"x\n", "line 2, cell 2: expected a comma");
    expect_refused("id,note\n1,2\"3\"\n", "line 2, cell 2: expected quotes around the whole cell");
    expect_refused("id,note\n1,2\r3\n", "line 2, cell 2: expected a comma or the end of the line");
    expect_refused("id,note\n1,\x01\n", "line 2, cell 2: expected text, found a control");
    expect_refused("id,note\n1,\"\x01\"\n", "line 2, cell 2: expected text, found a control");
    expect_refused("id,note\n1,a\x7f\n",
                   "line 2, cell 2: expected text, found a control character U+007F");
    expect_refused("id,note\n1,\xC2\x9B\n",
                   "line 2, cell 2: expected text, found a control character U+009B");
    expect_refused("id,no\xE2\x80\xA8te\n",
                   "line 1, cell 2: expected text, found a line separator U+2028");
    expect_refused("id,note\n\xE2\x80\xAE,2\n",
                   "line 2, cell 1: expected text, found a direction mark");
    expect_refused("id,note\n1,\xE9\n",
                   "line 2, cell 2: expected text, found a byte that is not UTF-8");
    expect_refused("id,note\n\n1,2\n", "line 2: expected 2 cells, found 1");
}

TEST(refuses_what_is_too_large)
{
    char *text = malloc(80000), *end = text;
    assert_non_null(text);
    for (int i = 0; i < 300; i++) end += sprintf(end, "%sc%d", i ? "," : "", i);
    expect_refused(text, "line 1: expected 256 cells, found more");
    for (int quoted = 0; quoted < 2; quoted++) {
        end = text + sprintf(text, "id\n%s", quoted ? "\"" : "");
        memset(end, 'x', 66000);
        strcpy(end + 66000, quoted ? "\"\n" : "\n");
        expect_refused(text, "at most 65536 bytes");
    }
    free(text);
}

TEST(reads_numbers)
{
    static const struct {
        const char *cell;
        bool whole, number;
        double value;
    } cases[] = {
        {"12", true, true, 12},
        {"-3", true, true, -3},
        {"0.5", false, true, 0.5},
        {"1e3", false, true, 1000},
        {"12x", false, false, 0},
        {"0x10", false, false, 0},
        {"inf", false, false, 0},
        {"nan", false, false, 0},
        {" 1", false, false, 0},
        {"-", false, false, 0},
        {"99999999999999999999", false, false, 0},
        {"1e400", false, false, 0},
        {"1001", false, false, 0},
        {"\"7\"", true, true, 7},
    };
    struct arena_mark mark = arena_set_mark(arena);
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++, arena_reset(arena, mark)) {
        struct table t;
        bool more;
        int64_t whole = 0;
        double number = 0;
        CHECK_OK(open_text(&t, arena_print(arena, "n,m\n%s,\n", cases[i].cell), arena, &err));
        CHECK_OK(table_next(&t, &more, &err));
        enum status status = table_whole(&t, 0, -1000, 1000, &whole, &err);
        if (status != (cases[i].whole ? OK : BAD_INPUT))
            fail_msg("%s as a whole number", cases[i].cell);
        if (!cases[i].whole)
            assert_non_null(strstr(
                err.text,
                "rows.csv: line 2, column n: expected a whole number from -1000 to 1000, found '"));
        err = (struct error){OK, ""};
        status = table_number(&t, 0, -1000, 1000, &number, &err);
        if (status != (cases[i].number ? OK : BAD_INPUT)) fail_msg("%s as a number", cases[i].cell);
        if (cases[i].whole) assert_true((double)whole == cases[i].value);
        if (cases[i].number) assert_true(number == cases[i].value);
        whole = 42; // an empty cell changes nothing
        err = (struct error){OK, ""};
        CHECK_OK(table_whole(&t, 1, 0, 1, &whole, &err));
        assert_int_equal(whole, 42);
    }
}

TEST(names_are_listed)
{
    static const char *const names[] = {"none", "full", NULL};
    struct table t;
    bool more;
    int value = 0;
    CHECK_OK(open_text(&t, "mode\nfull\nfuller\n", arena, &err));
    CHECK_OK(table_next(&t, &more, &err));
    CHECK_OK(table_name(&t, 0, names, &value, &err));
    assert_int_equal(value, 1);
    CHECK_OK(table_next(&t, &more, &err));
    assert_int_equal(table_name(&t, 0, names, &value, &err), BAD_INPUT);
    assert_string_equal(
        err.text, "rows.csv: line 3, column mode: expected one of none, full, found 'fuller'");
}

// ---- oracle

enum { ROWS = 40, COLUMNS = 5, CELL = 12 };

static void write_cell(char **at, const char *cell, uint64_t draw)
{
    bool quoted = strpbrk(cell, ",\"\n\r") || draw % 3 == 0;
    if (!quoted) {
        *at += sprintf(*at, "%s", cell);
        return;
    }
    *(*at)++ = '"';
    for (const char *c = cell; *c; c++) {
        if (*c == '"') *(*at)++ = '"';
        *(*at)++ = *c;
    }
    *(*at)++ = '"';
}

TEST(what_was_written_is_read)
{
    static const char letters[] = "ab,\"\n\r 7.-\t;";
    uint64_t seed = 7;
    for (int trial = 0; trial < 300; trial++) {
        static char cells[ROWS][COLUMNS][CELL + 1], text[ROWS * COLUMNS * (2 * CELL + 4) + 100];
        char *at = text + sprintf(text, "a,b,c,d,e\n");
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < COLUMNS; k++) {
                int length = 0;
                for (seed = seed * 6364136223846793005u + 1; length < (int)((seed >> 33) % CELL);
                     length++) {
                    cells[i][k][length] = letters[(seed >> (20 + length)) % (sizeof letters - 1)];
                }
                cells[i][k][length] = '\0';
                write_cell(&at, cells[i][k], seed >> 40);
                *at++ = k + 1 < COLUMNS ? ',' : '\n';
            }
        *at = '\0';
        struct table t;
        bool more;
        struct arena_mark mark = arena_set_mark(arena);
        CHECK_OK(open_text(&t, text, arena, &err));
        for (int i = 0; i < ROWS; i++) {
            CHECK_OK(table_next(&t, &more, &err));
            assert_true(more);
            for (int k = 0; k < COLUMNS; k++) {
                // Tabs and line ends count as blanks.
                for (char *c = cells[i][k]; *c; c++)
                    if (strchr("\t\n\r", *c)) *c = ' ';
                assert_cell(t.cells[k], cells[i][k]);
            }
        }
        CHECK_OK(table_next(&t, &more, &err));
        assert_false(more);
        arena_reset(arena, mark);
    }
}
