// Replays tests/fuzz/corpus/FORMAT/ with the ordinary compiler: everything the fuzzers found worth
// keeping, through the same door. Each folder holds valid documents too, so that the laws of saving
// are really tried.
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "data/base/file.h"
#include "tests/fuzz/fuzz.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h> // last: it has a macro fail()

static void test_corpus(void **state)
{
    char folder[FUZZ_FOLDER];
    (void)state;
    fuzz_open(folder);
    for (int format = 0; format < FORMAT_COUNT; format++) {
        struct arena arena;
        int count = 0, valid = 0;
        arena_open(&arena, NULL);
        const char *path = arena_print(&arena, "tests/fuzz/corpus/%s", format_names[format]);
        DIR *d = opendir(path);
        if (!d) fail_msg("%s is missing", path);
        for (struct dirent *e; (e = readdir(d));) {
            struct error err = {OK, ""};
            const char *text;
            size_t size;
            if (e->d_name[0] == '.') continue;
            if (file_read(arena_print(&arena, "%s/%s", path, e->d_name), &text, &size, &arena,
                          &err))
                fail_msg("%s", err.text);
            valid += fuzz_one((enum format)format, folder, (const uint8_t *)text, size);
            count++;
        }
        closedir(d);
        arena_close(&arena);
        print_message("%-8s %4d inputs, %d of them valid\n", format_names[format], count, valid);
        assert_true(count >= 2 && valid >= 1);
    }
    fuzz_close(folder);
}

static void replay(const char *name, bool (*one)(const uint8_t *data, size_t size))
{
    struct arena arena;
    int count = 0, valid = 0;
    arena_open(&arena, NULL);
    const char *folder = arena_print(&arena, "tests/fuzz/corpus/%s", name);
    DIR *d = opendir(folder);
    if (!d) fail_msg("%s is missing", folder);
    for (struct dirent *e; (e = readdir(d));) {
        struct error err = {OK, ""};
        const char *text;
        size_t size;
        if (e->d_name[0] == '.') continue;
        if (file_read(arena_print(&arena, "%s/%s", folder, e->d_name), &text, &size, &arena, &err))
            fail_msg("%s", err.text);
        valid += one((const uint8_t *)text, size);
        count++;
    }
    closedir(d);
    arena_close(&arena);
    print_message("%-8s %4d inputs, %d of them valid\n", name, count, valid);
    assert_true(count >= 2 && valid >= 1);
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
