// Bad documents: truncated, wrong-typed, duplicated, out of range, nested, missing, unwritable.
// Each must give one line that names the file, BAD_INPUT, and nothing half-written; none may crash
// (run with BUILD=asan as well).
#include <ctype.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/base/file.h"
#include "tests/support/documents.h"
#include "tests/support/check.h"

static char folder[64];

static void write_text(const char *path, const char *text, size_t size)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, size, f), size);
    fclose(f);
}

static const char *in_folder(const char *name, struct arena *arena)
{
    return arena_print(arena, "%s/%s", folder, name);
}

static const char *read_example(enum format format, size_t *size, struct arena *arena)
{
    struct error err = {OK, ""};
    const char *text;
    CHECK_OK(file_read(format_example(format, arena), &text, size, arena, &err));
    return text;
}

// The example without blanks and line ends, which no loader needs: tests at every byte cost half as
// much.
static const char *read_compact(enum format format, size_t *size, struct arena *arena)
{
    const char *text = read_example(format, size, arena);
    char *compact = TAKE(arena, *size + 1, char);
    bool in_text = false;
    size_t length = 0;
    for (size_t i = 0; i < *size; i++) {
        if (text[i] == '"') in_text = !in_text; // no example has an escaped one
        if (text[i] == '\\') fail_msg("%s: an escape", format_names[format]);
        if (in_text || !isspace((unsigned char)text[i])) compact[length++] = text[i];
    }
    *size = length;
    return compact;
}

// Loads the text as a file of this format. Any error must be one clear line with the file's name.
static enum status load_text(enum format format, const char *text, size_t size, struct error *err)
{
    struct arena_mark mark = arena_set_mark(&own_arena);
    const char *path = in_folder("bad.json", &own_arena);
    *err = (struct error){OK, ""};
    write_text(path, text, size);
    enum status status = format_load(format, path, NULL, &own_arena, err);
    if (status != OK) {
        if (status != BAD_INPUT || err->status != BAD_INPUT ||
            strncmp(err->text, folder, strlen(folder)) || strpbrk(err->text, "\n\r") ||
            strlen(err->text) < strlen(path) + 8)
            fail_msg("%s: status %d, \"%s\"", format_names[format], status, err->text);
    }
    arena_reset(&own_arena, mark);
    return status;
}

// A problem finds the documents it names next to it.
static int set_up(void **state)
{
    (void)state;
    const char *base =
        access("/dev/shm", W_OK)
            ? "/tmp"
            : "/dev/shm"; // thousands of files: in memory, where there is such a place
    snprintf(folder, sizeof folder, "%s/plumbline-XXXXXX", base);
    if (!mkdtemp(folder)) return 1;
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (int format = FORMAT_MODEL; format <= FORMAT_JOB; format++) {
        size_t size;
        const char *text = read_example((enum format)format, &size, &own_arena);
        write_text(arena_print(&own_arena, "%s/%s.json", folder, format_names[format]), text, size);
    }
    arena_reset(&own_arena, mark);
    return 0;
}

static int files_in(const char *path, bool remove)
{
    int count = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char name[400];
        if (e->d_name[0] == '.' && (!e->d_name[1] || e->d_name[1] == '.')) continue;
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        if (remove && unlink(name)) rmdir(name);
        count++;
    }
    closedir(d);
    return count;
}

static int tear_down(void **state)
{
    (void)state;
    files_in(folder, true);
    return rmdir(folder);
}

// ---- damage in the text

TEST(test_truncated_at_every_byte)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (int format = 0; format < FORMAT_COUNT; format++, arena_reset(arena, mark)) {
        size_t size;
        const char *text = read_compact((enum format)format, &size, arena);
        CHECK_OK(load_text((enum format)format, text, size, &err));
        assert_int_equal(text[size - 1], '}');
        for (size_t cut = 0; cut < size; cut++)
            if (load_text((enum format)format, text, cut, &err) == OK)
                fail_msg("%s cut at byte %zu is accepted", format_names[format], cut);
    }
}

TEST(test_planted_damages)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (size_t i = 0; i < planted_count; i++, arena_reset(arena, mark)) {
        const struct planted *p = &planted_damages[i];
        const char *text = planted_text(p, arena);
        if (!text) fail_msg("damage %zu: the example holds no '%s'", i, p->from);
        if (load_text(p->format, text, strlen(text), &err) == OK)
            fail_msg("%s: '%s' -> '%s' is accepted", format_names[p->format], p->from, p->to);
        if (!strstr(err.text + strlen(folder), p->where))
            fail_msg("'%s' -> '%s': \"%s\" does not name %s", p->from, p->to, err.text, p->where);
    }
}

// Every number of every document in turn becomes something else.
TEST(test_every_number)
{
    static const struct {
        const char *text;
        bool never;
    } values[] = {
        {"NaN", true},    {"-NaN", true},    {"Infinity", true}, {"1e999", false},
        {"01", true},     {"+1", true},      {"1.", true},       {".5", true},
        {"0x10", true},   {"--1", true},     {"-1", false},      {"9007199254740993", false},
        {"1e308", false}, {"-1e308", false}, {"0.5", false},     {"null", false},
        {"\"1\"", false}, {"[]", false},     {"{}", false},      {"true", false},
    };
    for (int format = 0; format < FORMAT_COUNT; format++) {
        size_t size;
        struct arena_mark mark = arena_set_mark(arena);
        const char *text = read_compact((enum format)format, &size, arena);
        bool in_text = false;
        for (const char *p = text; *p; p++) {
            if (*p == '"') in_text = !in_text;
            if (in_text || !isdigit((unsigned char)*p) || strchr("0123456789.e-+", p[-1])) continue;
            const char *begin = p[-1] == '-' ? p - 1 : p;
            size_t length = strspn(begin, "0123456789.eE-+");
            for (size_t v = 0; v < ARRAY_LENGTH(values); v++) {
                struct arena_mark own = arena_set_mark(arena);
                const char *bad = arena_print(arena, "%.*s%s%s", (int)(begin - text), text,
                                              values[v].text, begin + length);
                // Python's words may stand in a config that Python wrote: they count as null.
                bool never = values[v].never && !(format == FORMAT_CONFIG && v < 3 && v != 1);
                if (load_text((enum format)format, bad, strlen(bad), &err) == OK && never)
                    fail_msg("%s: %s is accepted", format_names[format], values[v].text);
                arena_reset(arena, own);
            }
            p = begin + length - 1;
        }
        arena_reset(arena, mark);
    }
}

// After every opening brace: an unknown key, and a duplicate key.
TEST(test_every_object)
{
    for (int format = 0; format < FORMAT_COUNT; format++) {
        size_t size;
        struct arena_mark mark = arena_set_mark(arena);
        const char *text = read_example((enum format)format, &size, arena);
        for (const char *p = strchr(text, '{'); p; p = strchr(p + 1, '{')) {
            struct arena_mark own = arena_set_mark(arena);
            const char *unknown =
                arena_print(arena, "%.*s\"no_such_key\": 1, %s", (int)(p + 1 - text), text, p + 1);
            const char *twice = arena_print(arena, "%.*s\"name\": 1, \"name\": 1, %s",
                                            (int)(p + 1 - text), text, p + 1);
            if (load_text((enum format)format, unknown, strlen(unknown), &err) == OK &&
                format != FORMAT_CONFIG)
                fail_msg("%s: an unknown key is accepted", format_names[format]);
            CHECK_REFUSED(load_text((enum format)format, twice, strlen(twice), &err), "twice");
            arena_reset(arena, own);
        }
        arena_reset(arena, mark);
    }
}

TEST(test_nested_and_odd)
{
    static const char *const texts[] = {"",         " ",         "[]",
                                        "{}",       "null",      "1",
                                        "\"x\"",    "{\"kind\"", "{\"kind\": 1}",
                                        "\xff\xfe", "{} {}",     "\xef\xbb\xbf{}"};
    for (int format = 0; format < FORMAT_COUNT; format++) {
        for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
            assert_int_equal(load_text((enum format)format, texts[i], strlen(texts[i]), &err),
                             BAD_INPUT);
        assert_int_equal(load_text((enum format)format, "{\"a\": 1}\0", 9, &err), BAD_INPUT);
        for (int depth = 60; depth <= 200000; depth *= 4) {
            char *deep = calloc(1, (size_t)depth + 1);
            memset(deep, depth % 8 ? '{' : '[', (size_t)depth);
            assert_int_equal(load_text((enum format)format, deep, (size_t)depth, &err), BAD_INPUT);
            free(deep);
        }
    }
}

// ---- files

TEST(test_missing_and_directory)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (int format = 0; format < FORMAT_COUNT; format++, arena_reset(arena, mark)) {
        struct error err_directory = {OK, ""};
        CHECK_REFUSED(
            format_load((enum format)format, in_folder("missing.json", arena), NULL, arena, &err),
            "missing.json");
        assert_int_equal(format_load((enum format)format, folder, NULL, arena, &err_directory),
                         BAD_INPUT);
        assert_non_null(strstr(err_directory.text, "directory"));
    }
}

// Outputs that cannot be written: in a missing folder, below a file, onto a folder. No file
// remains.
TEST(test_unwritable)
{
    static const char *const outputs[] = {"nowhere/out.json", "model.json/out.json", "taken"};
    assert_int_equal(mkdir(in_folder("taken", arena), 0777), 0);
    write_text(in_folder("taken/inside", arena), "x", 1);
    int before = files_in(folder, false);
    for (int format = 0; format < FORMAT_COUNT; format++)
        for (size_t i = 0; i < ARRAY_LENGTH(outputs); i++) {
            struct arena_mark mark = arena_set_mark(arena);
            const char *output = in_folder(outputs[i], arena);
            CHECK_REFUSED(format_load((enum format)format,
                                      format_example((enum format)format, arena), output, arena,
                                      &err),
                          output);
            assert_null(strchr(err.text, '\n'));
            arena_reset(arena, mark);
            assert_int_equal(files_in(folder, false), before);
        }
    unlink(in_folder("taken/inside", arena));
}

// The n-th allocation fails, and all after it, for every n that the load of an example needs: it
// ends through the arena's exit, or with an error of kind SYSTEM that says so; never with a
// document or "bad input". true: the load took fewer than n.
static bool load_with_failure_at(enum format format, const char *path, long n)
{
    struct arena arena;
    struct error err = {OK, ""};
    jmp_buf exhausted;
    volatile bool loaded = false;
    arena_open(&arena, &exhausted);
    memory_fail_at(n);
    if (!setjmp(exhausted)) {
        enum status status = format_load(format, path, NULL, &arena, &err);
        loaded = memory_taken() < n;
        if (status != (loaded ? OK : SYSTEM))
            fail_msg("%s, allocation %ld: status %d, \"%s\"", path, n, status, err.text);
    }
    memory_fail_at(0);
    arena_close(&arena);
    return loaded;
}

TEST(test_every_allocation_fails)
{
    for (int format = 0; format < FORMAT_COUNT; format++) {
        long n = 1;
        const char *path = format_example((enum format)format, arena);
        while (!load_with_failure_at((enum format)format, path, n)) n++;
        assert_true(n > 1);
    }
}

AROUND_ALL(set_up, tear_down)
