// One fuzz target for every format, selected by the program's name (fuzz-model, fuzz-cluster ...):
// any bytes must load or be refused, never crash; and what loads must save to a document that loads
// again and saves to the same bytes. Built and run by `make fuzz-FORMAT SECONDS=600`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int format;
static bool (*one)(const uint8_t *data,
                   size_t size); // of a target that is no format; NULL: it is one
static const struct {
    const char *name;
    bool (*one)(const uint8_t *data, size_t size);
} targets[] = {
    {"table", fuzz_table},   {"certificate", fuzz_certificate},
    {"vipr", fuzz_vipr},     {"space", fuzz_space},
    {"places", fuzz_places}, {"verify", fuzz_verify},
    {"script", fuzz_script}, {"nodes", fuzz_nodes},
    {"jobs", fuzz_jobs},     {"hf", fuzz_hf},
    {"logs", fuzz_logs},
};
static char folder[FUZZ_FOLDER];

static void close_folder(void) { fuzz_close(folder); }

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    const char *name = strrchr((*argv)[0], '-');
    for (size_t i = 0; i < ARRAY_LENGTH(targets) && name; i++)
        if (!strcmp(name + 1, targets[i].name)) one = targets[i].one;
    if (one) return 0;
    while (name && format < FORMAT_COUNT && strcmp(format_names[format], name + 1)) format++;
    if (!name || format == FORMAT_COUNT) {
        fprintf(stderr, "fuzz: called by a name that ends in no format: %s\n", (*argv)[0]);
        exit(2);
    }
    fuzz_open(folder);
    atexit(close_folder);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (one) one(data, size);
    else fuzz_one((enum format)format, folder, data, size);
    return 0;
}
