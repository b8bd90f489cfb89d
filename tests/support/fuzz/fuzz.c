// One input of a document's loader: either refused in one line, or saved and read again.
#include "tests/fuzz/fuzz.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/base/file.h"

static void give_up(const char *why, const char *text)
{
    fprintf(stderr, "fuzz: %s: %s\n", why, text);
    abort();
}

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "w");
    if (!f || (size && fwrite(bytes, 1, size, f) != size) || fclose(f))
        give_up("cannot write", path);
}

void fuzz_open(char folder[FUZZ_FOLDER])
{
    struct arena arena;
    snprintf(folder, FUZZ_FOLDER, "%s/plumbline-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    if (!mkdtemp(folder)) give_up("cannot make", folder);
    arena_open(&arena, NULL);
    for (int format = FORMAT_MODEL; format <= FORMAT_JOB; format++) {
        struct error err = {OK, ""};
        const char *text;
        size_t size;
        if (file_read(format_example((enum format)format, &arena), &text, &size, &arena, &err))
            give_up("cannot read", err.text);
        write_bytes(arena_print(&arena, "%s/%s.json", folder, format_names[format]), text, size);
    }
    arena_close(&arena);
}

void fuzz_close(const char *folder)
{
    static const char *const names[] = {"model.json", "cluster.json", "costs.json", "job.json",
                                        "input.json", "first.json",   "second.json"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        char path[FUZZ_FOLDER + 20];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

bool fuzz_within_limit(bool (*one)(const void *argument, struct arena *arena), const void *argument,
                       size_t size)
{
    struct arena arena;
    jmp_buf exhausted;
    volatile bool accepted = false;
    arena_open(&arena, &exhausted);
    memory_limit(((size_t)MEMORY_BASE_MIB << 20) + MEMORY_FOR_A_BYTE * size);
    if (!setjmp(exhausted)) accepted = one(argument, &arena);
    arena_close(&arena);
    memory_limit(0);
    return accepted;
}

static void expect_same_bytes(const char *a, const char *b, struct arena *arena)
{
    struct error err = {OK, ""};
    const char *text_a, *text_b;
    size_t size_a, size_b;
    if (file_read(a, &text_a, &size_a, arena, &err) || file_read(b, &text_b, &size_b, arena, &err))
        give_up("cannot read", err.text);
    if (size_a != size_b || memcmp(text_a, text_b, size_a))
        give_up("saved, loaded and saved again, it differs", text_b);
}

bool fuzz_one(enum format format, const char *folder, const uint8_t *data, size_t size)
{
    struct arena arena;
    struct error err = {OK, ""};
    arena_open(&arena, NULL);
    const char *input = arena_print(&arena, "%s/input.json", folder);
    const char *first = arena_print(&arena, "%s/first.json", folder),
               *second = arena_print(&arena, "%s/second.json", folder);
    // What an imported config saves is a model.
    enum format saved = format == FORMAT_CONFIG ? FORMAT_MODEL : format;
    write_bytes(input, data, size);
    enum status status = format_load(format, input, first, &arena, &err);
    if (status != OK) {
        if (status != BAD_INPUT || !*err.text || strchr(err.text, '\n'))
            give_up("not one clear line", err.text);
    } else {
        if (format_load(saved, first, second, &arena, &err))
            give_up("what was saved does not load", err.text);
        expect_same_bytes(first, second, &arena);
    }
    arena_close(&arena);
    return status == OK;
}
