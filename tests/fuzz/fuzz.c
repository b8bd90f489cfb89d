// One fuzz target for every format, told by the name it is called by (fuzz-model, fuzz-cluster ...): any bytes must load or be
// refused, never crash; and what loads must save to a document that loads again and saves to the same bytes.
// Built and run by `make fuzz-FORMAT SECONDS=600`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int format;
static bool tables, certificates, proofs;
static char folder[FUZZ_FOLDER];

static void close_folder(void) { fuzz_close(folder); }

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    const char *name = strrchr((*argv)[0], '-');
    tables = name && !strcmp(name, "-table");
    certificates = name && !strcmp(name, "-certificate");
    proofs = name && !strcmp(name, "-vipr");
    if (tables || certificates || proofs) return 0;
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
    if (tables) fuzz_table(data, size);
    else if (certificates) fuzz_certificate(data, size);
    else if (proofs) fuzz_vipr(data, size);
    else fuzz_one((enum format)format, folder, data, size);
    return 0;
}
