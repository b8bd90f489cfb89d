// Replays tests/fuzz/corpus/FORMAT/ with the ordinary compiler: all inputs that the fuzzers kept,
// through the same entry point. Each folder also has valid documents, so that the laws of saving
// are really tested.
#include <glob.h>

#include "data/base/file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/check.h"

typedef bool fuzzed(const uint8_t *data, size_t size);

// Folders of a corpus are named for the last letter of their files (make fuzz-keep-FORMAT).
static void replay(const char *name, fuzzed *one)
{
    glob_t found;
    int valid = 0;
    struct arena_mark mark = arena_set_mark(&own_arena);
    const char *files = arena_print(&own_arena, "tests/fuzz/corpus/%s/*/*", name);
    if (glob(files, 0, NULL, &found)) fail_msg("%s: none is there", files);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct error err = {OK, ""};
        const char *text;
        size_t size;
        if (file_read(found.gl_pathv[i], &text, &size, &own_arena, &err)) fail_msg("%s", err.text);
        valid += one((const uint8_t *)text, size);
    }
    print_message("%-8s %4zu inputs, %d of them valid\n", name, found.gl_pathc, valid);
    assert_true(found.gl_pathc >= 2 && valid >= 1);
    globfree(&found);
    arena_reset(&own_arena, mark);
}

static char folder[FUZZ_FOLDER];
static enum format format;

static bool fuzz_format(const uint8_t *data, size_t size)
{
    return fuzz_one(format, folder, data, size);
}

TEST(test_corpus)
{
    fuzz_open(folder);
    for (int i = 0; i < FORMAT_COUNT; i++) {
        format = (enum format)i;
        replay(format_names[i], fuzz_format);
    }
    fuzz_close(folder);
}

TEST(test_tables) { replay("table", fuzz_table); }

TEST(test_scripts) { replay("script", fuzz_script); }
TEST(test_readers)
{
    replay("nodes", fuzz_nodes);
    replay("jobs", fuzz_jobs);
    replay("hf", fuzz_hf);
    replay("logs", fuzz_logs);
}

TEST(test_certificates) { replay("certificate", fuzz_certificate); }

TEST(test_vipr) { replay("vipr", fuzz_vipr); }

TEST(test_bounds)
{
    replay("space", fuzz_space);
    replay("places", fuzz_places);
}

TEST(test_plans) { replay("verify", fuzz_verify); }
