// Replays tests/fuzz/corpus/FORMAT/ with the ordinary compiler: all inputs that the fuzzers kept,
// through the same entry point. Each folder also has valid documents, so that the laws of saving
// are really tested.
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "data/base/file.h"
#include "tests/fuzz/fuzz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h> // last: it has a macro fail()

typedef bool fuzzed(const uint8_t *data, size_t size);

// Folders of a corpus are named for the last letter of their files (make fuzz-keep-FORMAT).
static void replay(const char *name, fuzzed *one)
{
    struct arena arena;
    glob_t found;
    int valid = 0;
    arena_open(&arena, NULL);
    const char *files = arena_print(&arena, "tests/fuzz/corpus/%s/*/*", name);
    if (glob(files, 0, NULL, &found)) fail_msg("%s: none is there", files);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct error err = {OK, ""};
        const char *text;
        size_t size;
        if (file_read(found.gl_pathv[i], &text, &size, &arena, &err)) fail_msg("%s", err.text);
        valid += one((const uint8_t *)text, size);
    }
    print_message("%-8s %4zu inputs, %d of them valid\n", name, found.gl_pathc, valid);
    assert_true(found.gl_pathc >= 2 && valid >= 1);
    globfree(&found);
    arena_close(&arena);
}

static char folder[FUZZ_FOLDER];
static enum format format;

static bool fuzz_format(const uint8_t *data, size_t size)
{
    return fuzz_one(format, folder, data, size);
}

static void test_corpus(void **state)
{
    (void)state;
    fuzz_open(folder);
    for (int i = 0; i < FORMAT_COUNT; i++) {
        format = (enum format)i;
        replay(format_names[i], fuzz_format);
    }
    fuzz_close(folder);
}

static void test_tables(void **state)
{
    (void)state;
    replay("table", fuzz_table);
}

static void test_certificates(void **state)
{
    (void)state;
    replay("certificate", fuzz_certificate);
}

static void test_vipr(void **state)
{
    (void)state;
    replay("vipr", fuzz_vipr);
}

static void test_bounds(void **state)
{
    (void)state;
    replay("space", fuzz_space);
    replay("places", fuzz_places);
}

static void test_plans(void **state)
{
    (void)state;
    replay("verify", fuzz_verify);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),       cmocka_unit_test(test_tables),
        cmocka_unit_test(test_certificates), cmocka_unit_test(test_vipr),
        cmocka_unit_test(test_bounds),       cmocka_unit_test(test_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
