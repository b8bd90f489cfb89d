// Forgeries of a space's certificate: each kind is planted in those of many random problems.
#pragma once

#include <cjson/cJSON.h>

#include "tests/support/trials/space_trials.h"

struct forgery {
    struct space_trial *t; // a copy: given to the checker with the certificate
    cJSON *root, *space, *proofs, *dominated, *from;
    const char *fates; // a letter for each layout
    struct arena *arena;
};

struct space_forgery {
    const char *name;
    bool (*plant)(struct forgery *); // false: it does not apply
};
#define FORGERY(name)                                                                              \
    {                                                                                              \
#name, name                                                                                \
    }

// Fails unless each kind is planted somewhere, and refused with a reason wherever it is.
void space_forgeries_refused(const struct space_forgery *kinds, size_t count);

bool has_plan(const struct forgery *f);
int count_of(const cJSON *array);
bool claim(struct forgery *f, const char *key, double value); // of the space; true
struct check_layout layout_at(const struct forgery *f, int64_t at);
