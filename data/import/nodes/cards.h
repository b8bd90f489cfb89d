// GPUs of a node as programs list them, without what joins them: nvidia-smi in all its forms,
// rocm-smi, amd-smi, rocminfo, lspci, deviceQuery, gpustat, PyTorch's collect_env.
#pragma once

#include "data/import/text.h"

enum { CARDS_MAX = 256 };

struct cards {
    const char *program; // that lists them; NULL: none does, and all else is 0
    struct card {
        const char *name;    // as printed; "": it is not
        double memory_bytes; // 0: not stated
    } items[CARDS_MAX];
    int count, attached; // attached: as the file counts them; 0: it does not
    bool split;          // some are in parts (MIG, CPX)
    bool ended;          // by another table
    bool too_many;       // more than CARDS_MAX
};

// BAD_INPUT: rows are left out or cut off, or their name is not known.
enum status cards_read(struct cards *c, const char *path, const char *text, size_t size,
                       struct arena *arena, struct error *err);
// Leaves those that `gpu` names (NULL: any). BAD_INPUT: they are of several kinds, or there is
// none.
enum status cards_choose(struct cards *c, const char *path, const char *gpu, struct error *err);
