// Forgeries of what surrounds a proof: the certificate's envelope, and the problem it is checked
// against. Each returns false if it does not apply.
#pragma once

#include "tests/support/forge.h"
#include "tests/support/trials/check_trials.h"

struct forgery {
    struct check_trial *t;
    struct check_text priced; // as given to the checker
    cJSON *root, *proof, *paths, *boxes, *stages;
    struct arena *arena;
};

static inline bool has_plan(const struct forgery *f) { return f->stages != NULL; }

bool kind_wrong(struct forgery *f);
bool version_wrong(struct forgery *f);
bool sources_missing(struct forgery *f);
bool priced_not_named(struct forgery *f);
bool priced_named_twice(struct forgery *f);
bool proof_missing(struct forgery *f);
bool key_unknown(struct forgery *f);
bool hash_wrong(struct forgery *f);
bool priced_swapped(struct forgery *f);
bool prices_rounded(struct forgery *f);
bool memory_shrunk(struct forgery *f);
