// One input of the reader of launch scripts: followed within its bounds, or refused in one line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/import/script/script.h"
#include "tests/fuzz/fuzz.h"

struct input {
    const char *text;
    size_t size;
};

static void give_up(const char *why, const char *text)
{
    fprintf(stderr, "fuzz: script: %s: %s\n", why, text);
    abort();
}

static bool follow(const void *argument, struct arena *arena)
{
    const struct input *in = argument;
    const struct script_given given[] = {{"TP", "2"}, {"X", ""}};
    struct script s;
    struct error err = {OK, ""};
    enum status status =
        script_follow(&s, "fuzz.sh", in->text, in->size, given, 2, "one 'two x'", arena, &err);
    if (status != OK &&
        (status != BAD_INPUT || strncmp(err.text, "fuzz.sh: ", 9) || strchr(err.text, '\n')))
        give_up("not one clear line", err.text);
    for (int i = 0; status == OK && i < s.command_count; i++)
        for (int k = 0; k < s.commands[i].count; k++)
            if (strlen(s.commands[i].words[k]) > SCRIPT_WORD_MAX) give_up("a word is too long", "");
    return status == OK && s.command_count > 0;
}

bool fuzz_script(const uint8_t *data, size_t size)
{
    struct arena arena;
    arena_open(&arena, NULL);
    char *copy = TAKE(&arena, size + 1, char);
    memcpy(copy, data, size);
    struct input in = {copy, size};
    bool accepted = fuzz_within_limit(follow, &in, size);
    if (memory_limit_is_met()) give_up("more memory than its bound", "");
    arena_close(&arena);
    return accepted;
}
