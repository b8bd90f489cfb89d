// Claims: their words, and which kinds have certificates.
#include "data/results/claim.h"

#include <string.h>

const char *const bound_claim_names[] = {[CLAIM_STATED] = "stated by solve, not audited",
                                         [CLAIM_PROVEN] = "proven, not yet audited",
                                         [CLAIM_TAKEN_OVER] = "taken over",
                                         [CLAIM_CERTIFIED] = NULL};

GET_MEMBER(finish_taken_over)
{
    const struct taken_over *t = to;
    if (strlen(t->sha256) == 64 && strspn(t->sha256, "0123456789abcdef") == 64) return OK;
    return json_refuse(value, err, "sha256: expected 64 hexadecimal digits, found \"%.70s\"",
                       t->sha256);
}

static const struct member taken_over_rows[] = {
    KEY_TEXT(taken_over, path, REQUIRED),
    KEY_TEXT(taken_over, sha256, REQUIRED),
};
MEMBERS(taken_over, struct taken_over, NULL, true, finish_taken_over);

const char *claim_words(enum bound_claim claim, const struct taken_over *files, int count,
                        struct arena *arena)
{
    const char *list = "";
    if (claim == CLAIM_CERTIFIED) return "certified";
    if (claim != CLAIM_TAKEN_OVER) return bound_claim_names[claim];
    for (int i = 0; i < count; i++)
        list = arena_print(arena, "%s%s%s", list, i ? ", " : "", files[i].path);
    return arena_print(arena, "taken over from %s, not audited", list);
}

enum status claim_check(const struct json *object, enum bound_claim claim, int count,
                        struct error *err)
{
    if ((claim == CLAIM_TAKEN_OVER) == (count > 0)) return OK;
    return json_refuse(object, err,
                       count ? "taken_over: expected with the claim \"taken over\" alone"
                             : "taken_over: expected the files that the claim is taken over from");
}

const char *claim_has_no_certificate(const struct problem *p)
{
    bool many = p->cluster.places.node_count > 16;
    return job_mixes_layouts(&p->job) && !job_has_widths(&p->job) && p->job.space.given
               ? "it has a space with sharded_zero or vocabulary_tensor, and a space's certificate "
                 "is of one layout for all layers of a stage"
           : p->job.objective == OBJECTIVE_PIPETTE && many
               ? "its objective is pipette, whose certificates cover at most 16 nodes"
               : NULL;
}

enum bound_claim claim_of_search(const struct problem *p)
{
    bool stated = claim_has_no_certificate(p) || p->cluster.places.node_count;
    return stated ? CLAIM_STATED : CLAIM_PROVEN;
}
