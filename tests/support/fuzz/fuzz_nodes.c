// One input of the readers of measurements and nodes: the first byte chooses which, the rest is the
// file. It is read within its bounds of memory, or refused in one line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/import/import.h"
#include "tests/fuzz/fuzz.h"

#define LIKE "--like", "data/clusters/h100-128x8.json"
static const struct {
    const struct command *command;
    const char *words[4];
} readers[] = {
    {&import_nccl_topology, {LIKE}},
    {&import_topo, {LIKE}},
    {&import_topo, {"--like", "data/clusters/mi300x-16x8.json"}},
    {&import_slurm, {LIKE}},
    {&import_sinfo, {LIKE}},
    {&import_links, {NULL}},
    {&import_nccl, {NULL}},
    {&import_nvbandwidth, {NULL}},
    {&import_hostfile, {LIKE}},
    {&import_matrix, {LIKE}},
};

struct input {
    const uint8_t *data;
    size_t size;
};

static void give_up(const char *reader, const char *why, const char *text)
{
    fprintf(stderr, "fuzz: nodes: %s: %s: %s\n", reader, why, text);
    abort();
}

static bool read_nodes(const void *argument, struct arena *arena)
{
    static char path[] = "/tmp/fuzz-nodes-XXXXXX";
    static int file = -1;
    const struct input *in = argument;
    size_t which = in->data[0] % ARRAY_LENGTH(readers);
    const struct command *command = readers[which].command;
    char *words[8] = {arena_copy_text(arena, command->name), path, NULL};
    struct error err = {OK, ""};
    int count = 2, exit_code = 0;
    if (file < 0) file = mkstemp(path);
    if (file < 0 || ftruncate(file, 0) || lseek(file, 0, SEEK_SET) ||
        write(file, in->data + 1, in->size - 1) != (ssize_t)(in->size - 1))
        give_up(command->name, "no file", path);
    for (int i = 0; i < 4 && readers[which].words[i]; i++)
        words[count++] = arena_copy_text(arena, readers[which].words[i]);
    words[count++] = arena_copy_text(arena, "-o");
    words[count++] = arena_copy_text(arena, "/dev/null");
    enum status status = command_call(command, count, words, &exit_code, arena, &err);
    if (status != OK && strchr(err.text, '\n')) give_up(command->name, "lines", err.text);
    bool read = strstr(err.text, ": not written: ") != NULL; // names that are not UTF-8
    if (status == BAD_INPUT && strncmp(err.text, path, strlen(path)) && !read)
        give_up(command->name, "no file is named", err.text);
    return status == OK;
}

bool fuzz_nodes(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    if (!size) return false;
    bool accepted = fuzz_within_limit(read_nodes, &in, size);
    if (memory_limit_is_met()) give_up("a reader", "more memory than its bound", "");
    return accepted;
}
