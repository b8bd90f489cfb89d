// One input of the readers of other programs' files: the first byte chooses which reader of its
// kind, the rest is the file. It is read within its bounds of memory, or refused in one line that
// names it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/import/import.h"
#include "data/import/logs/log.h"
#include "tests/fuzz/fuzz.h"

enum { WORDS_MAX = 6, TEXT_MAX = 48 };
#define LIKE "--like", "data/clusters/h100-128x8.json"
#define GPUS "--gpus", "64"
#define MODEL_AND_JOB GPUS, "--job", "/dev/null"
struct reader_of_files {
    const struct command *command; // NULL: logs
    const char *ending;            // of the file's name
    const char *words[WORDS_MAX];
};
static const struct reader_of_files nodes[] = {
    {&import_nccl_topology, "", {LIKE}},
    {&import_topo, "", {LIKE}},
    {&import_topo, "", {"--like", "data/clusters/mi300x-16x8.json"}},
    {&import_slurm, "", {LIKE}},
    {&import_sinfo, "", {LIKE}},
    {&import_links, "", {NULL}},
    {&import_nccl, "", {NULL}},
    {&import_nvbandwidth, "", {NULL}},
    {&import_hostfile, "", {LIKE}},
    {&import_matrix, "", {LIKE}},
};
static const struct reader_of_files jobs[] = {
    {&import_megatron, ".sh", {MODEL_AND_JOB}}, {&import_megatron, ".yaml", {MODEL_AND_JOB}},
    {&import_nemo, ".py", {MODEL_AND_JOB}},     {&import_nemo, ".yaml", {MODEL_AND_JOB}},
    {&import_torchtitan, ".toml", {GPUS}},      {&import_torchtitan, ".py", {GPUS}},
    {&import_deepspeed, ".json", {GPUS}},       {&import_axonn, ".json", {GPUS}},
    {&import_nanotron, ".yaml", {GPUS}},        {&import_trainer, ".yaml", {GPUS}},
    {&import_trainer, ".sh", {GPUS}},           {&import_rl, ".sh", {GPUS}},
};
static const struct reader_of_files hf[] = {{&import_hf, ".json", {NULL}}};
static const struct reader_of_files logs[] = {{NULL, ".log", {NULL}}};

struct input {
    const struct reader_of_files *reader;
    const uint8_t *data;
    size_t size;
};

static void give_up(const char *reader, const char *why, const char *text)
{
    fprintf(stderr, "fuzz: %s: %s: %s\n", reader, why, text);
    abort();
}

static const char *write_input(const struct input *in, const char *reader, struct arena *arena)
{
    static char paths[8][TEXT_MAX];
    int i = 0;
    size_t ending = strlen(in->reader->ending);
    while (*paths[i] && strcmp(paths[i] + strlen(paths[i]) - ending, in->reader->ending)) i++;
    if (!*paths[i]) {
        snprintf(paths[i], TEXT_MAX, "/tmp/fuzz-XXXXXX");
        int file = mkstemp(paths[i]);
        if (file < 0 || close(file)) give_up(reader, "no file", paths[i]);
        const char *plain = arena_copy_text(arena, paths[i]);
        snprintf(paths[i] + strlen(paths[i]), TEXT_MAX - strlen(paths[i]), "%s",
                 in->reader->ending);
        if (rename(plain, paths[i])) give_up(reader, "no file", paths[i]);
    }
    FILE *file = fopen(paths[i], "w");
    if (!file || fwrite(in->data, 1, in->size, file) != in->size || fclose(file))
        give_up(reader, "no file", paths[i]);
    return paths[i];
}

static bool read_input(const void *argument, struct arena *arena)
{
    const struct input *in = argument;
    const struct command *command = in->reader->command;
    const char *name = command ? command->name : "log";
    const char *path = write_input(in, name, arena);
    char *words[WORDS_MAX + 4] = {arena_copy_text(arena, name), arena_copy_text(arena, path), NULL};
    struct error err = {OK, ""};
    int count = 2, exit_code = 0;
    for (int i = 0; i < WORDS_MAX && in->reader->words[i]; i++)
        words[count++] = arena_copy_text(arena, in->reader->words[i]);
    words[count++] = arena_copy_text(arena, "-o");
    words[count++] = arena_copy_text(arena, "/dev/null");
    struct log log;
    enum status status = command ? command_call(command, count, words, &exit_code, arena, &err)
                                 : log_read(&log, path, NULL, arena, &err);
    if (status != OK && strchr(err.text, '\n')) give_up(name, "lines", err.text);
    bool read = strstr(err.text, ": not written: ") != NULL; // names that are not UTF-8
    if (status == BAD_INPUT && strncmp(err.text, path, strlen(path)) && !read)
        give_up(name, "no file is named", err.text);
    return status == OK;
}

static bool fuzz_reader(const struct reader_of_files *readers, size_t count, const uint8_t *data,
                        size_t size)
{
    if (!size) return false;
    struct input in = {&readers[data[0] % count], data + 1, size - 1};
    bool accepted = fuzz_within_limit(read_input, &in, size);
    if (memory_limit_is_met()) give_up("a reader", "more memory than its bound", "");
    return accepted;
}

bool fuzz_nodes(const uint8_t *data, size_t size)
{
    return fuzz_reader(nodes, ARRAY_LENGTH(nodes), data, size);
}

bool fuzz_jobs(const uint8_t *data, size_t size)
{
    return fuzz_reader(jobs, ARRAY_LENGTH(jobs), data, size);
}

bool fuzz_hf(const uint8_t *data, size_t size)
{
    return fuzz_reader(hf, ARRAY_LENGTH(hf), data, size);
}

bool fuzz_logs(const uint8_t *data, size_t size)
{
    return fuzz_reader(logs, ARRAY_LENGTH(logs), data, size);
}
