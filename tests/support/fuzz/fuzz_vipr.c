// Proofs in the format of VIPR under the fuzzer. What is accepted about a tiny program of whole
// numbers is checked at every point.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/vipr/vipr.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/vipr/brute.h"

enum { WORK_MOST = 1 << 24 };

static void give_up(const char *why, const char *text)
{
    fprintf(stderr, "fuzz: vipr: %s: %s\n", why, text);
    abort();
}

static bool audit(const void *argument, struct arena *arena)
{
    const struct check_text *file = argument;
    struct error err = {OK, ""};
    struct check_vipr_result r;
    enum status status = check_vipr(&r, file, WORK_MOST, arena, &err);
    if (status != OK && (status != BAD_INPUT || !*err.text || strchr(err.text, '\n')))
        give_up("not one clear line", err.text);
    if (status == OK && !r.accepted && !*r.reason) give_up("refused", "without a reason");
    const char *why = status == OK && r.accepted ? vipr_contradiction(file, r.infeasible, arena)
                                                 : NULL;
    if (why) give_up("accepted", why);
    return status == OK && r.accepted;
}

bool fuzz_vipr(const uint8_t *data, size_t size)
{
    return fuzz_within_limit(audit, &(struct check_text){"proof.vipr", (const char *)data, size},
                             size);
}
