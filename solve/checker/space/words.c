// A page in words on what an accepted certificate of a space proves, based on the checker's
// findings.
#include "solve/checker/space/space.h"
#include "solve/checker/verdict.h"

const char *check_space_has(const struct check_space_result *s)
{
    return s->proof.objective == MINIMISE_COST   ? "costs"
           : s->proof.objective == MINIMISE_LOAD ? "has"
                                                 : "takes";
}

const char *check_space_unit(const struct check_space_result *s)
{
    return s->proof.objective == MINIMISE_COST   ? "ns of a device"
           : s->proof.objective == MINIMISE_LOAD ? "ns of micro-batches x greatest load"
                                                 : "ns";
}

const char *check_space_within(const struct check_space_result *s)
{
    return s->limited ? " within the job's limits of time and price" : "";
}

// The chosen layout, and what the values are that layouts are compared by.
static void put_layout(struct check_page *p, const struct check_space_result *s)
{
    const int *v = s->layout.value;
    if (s->chosen >= 0) {
        page_layout(p, &s->layout);
        page_print(
            p, ";\n  pipeline %d with %d stage%s a rank, schedule %s, %s, recomputation %s.\n",
            v[KEY_PIPELINE], v[KEY_TURNS], v[KEY_TURNS] == 1 ? "" : "s",
            check_schedule_names[v[KEY_SCHEDULE]],
            v[KEY_BARRIER] ? "a barrier behind each iteration" : "no barrier",
            v[KEY_RECOMPUTE] ? check_setting_names[v[KEY_RECOMPUTE]] : "of each stage's own");
    }
    if (s->proof.objective == MINIMISE_COST)
        page_print(p, "  A value is the time of an iteration in ns, times the devices that the "
                      "layout takes.\n");
    if (s->proof.objective == MINIMISE_LOAD)
        page_print(p, "  A value is the greatest time that one micro-batch occupies a rank or a "
                      "link (max_load, docs/FORMULAS.md 17),\n  times the micro-batches.\n");
}

static void put_claims(struct check_page *p, const struct check_space_result *s)
{
    const struct check_result *r = &s->proof;
    const char *has = check_space_has(s), *unit = check_space_unit(s),
               *within = check_space_within(s);
    page_print(p, "CERTIFIED, given what is assumed below, of %lld layouts\n",
               (long long)s->layouts);
    if (r->infeasible) {
        page_print(p, "  No layout of the space has a plan%s.\n\n", within);
        return;
    }
    if (r->iteration_ns >= 0)
        page_print(p,
                   "  1. The plan in the certificate, of layout %lld, satisfies every rule, memory "
                   "limit, slot and budget%s,\n"
                   "     and it %s exactly %lld %s.\n",
                   (long long)s->chosen,
                   s->limited ? ", and the job's limits of time and price" : "", has,
                   (long long)r->iteration_ns, unit);
    page_print(p, "  %s No plan of any layout%s %s less than %lld %s.\n",
               r->iteration_ns >= 0 ? "2." : "1.", within, has, (long long)r->bound_ns, unit);
    if (r->iteration_ns >= 0 && r->iteration_ns == r->bound_ns)
        page_print(p, "  So the plan is the best of all.\n");
    else if (r->iteration_ns >= 0)
        page_print(p, "  So no plan is better by more than %lld %s.\n",
                   (long long)(r->iteration_ns - r->bound_ns), unit);
    else page_print(p, "  The certificate contains no plan.\n");
    put_layout(p, s);
    page_print(p, "\n");
}

static void put_verified(struct check_page *p, const struct check_space_result *s,
                         int64_t microseconds)
{
    const struct check_result *r = &s->proof;
    page_print(p,
               "VERIFIED by plumbline check " PLUMBLINE_VERSION
               ", which walked the whole space by itself, in whole numbers alone\n"
               "  - %lld layouts are in groups whose passes alone take the bound at least: those "
               "of one layout with the\n"
               "    fastest passes of its group (docs/PROOFS.md 8.17);\n"
               "  - %lld layouts are refused by a rule (docs/PROOFS.md 8);\n"
               "  - %lld have no room: a rank's bytes at one moment exceed its memory whatever is "
               "recomputed;\n"
               "  - %lld take the bound at least, as follows from their prices: fill, load and "
               "drain of ranks that take\n"
               "    as many layers as it allows;\n"
               "  - %lld are in nothing better than another layout with the same schedule;\n"
               "  - %lld have a proof of their own: %lld boxes, %lld minimisations by dynamic "
               "programming, %lld paths.\n"
               "  Work: %llu steps, %lld.%06lld s.\n\n",
               (long long)s->grouped, (long long)s->refused, (long long)s->memory,
               (long long)s->bounded, (long long)s->dominated, (long long)s->proven,
               (long long)r->boxes, (long long)r->rounds, (long long)r->paths,
               (unsigned long long)r->work, (long long)(microseconds / 1000000),
               (long long)(microseconds % 1000000));
    if (s->doubtful)
        page_print(p,
                   "  %lld prices are so close to a rounding boundary that one more or less would "
                   "be equally right: the bound\n  holds for both.\n\n",
                   (long long)s->doubtful);
}

enum status check_space_write_statement(const struct check_space_audit *h, const char *path,
                                        struct arena *arena, struct error *err)
{
    struct check_page page = {.arena = arena}, *p = &page;
    page_print(p, "WHAT IS CERTIFIED, OF A WHOLE SPACE OF LAYOUTS\n\n");
    put_claims(p, h->result);
    put_verified(p, h->result, h->microseconds);
    page_print(p, "WHY THE ONE FOLLOWS FROM THE OTHER\n"
                  "  Argued in docs/PROOFS.md 8. Proven by machine (solve/proofs, docs/PROOFS.md "
                  "16): the paths that bound a rank\n"
                  "  (of several stages, with messages that block both ends, and before local "
                  "losses, too), what layers of any\n"
                  "  kinds, wherever their parts are, add to them, room, slots, how ranks are "
                  "filled, means, groups, dominance,\n"
                  "  settings, what all layouts' arguments make together; of a proof of a layout's "
                  "own, accepted_bound, where 16\n"
                  "  leaves nothing of that layout out.\n"
                  "  Not proven by machine: swapping, the order of the space, and that these lines "
                  "of the checker compute what the\n"
                  "  theorems speak of.\n\n");
    page_print(p, "ASSUMED, not verified\n"
                  "  - the prices: whole nanoseconds and bytes that the judge (solve/judge/price/, "
                  "docs/FORMULAS.md) finds for each\n"
                  "    layout. They are a model of the machine; nothing here states how close they "
                  "are to a measured run;\n"
                  "  - that the five documents below were read as they are meant, and mean what "
                  "docs/FORMULAS.md and\n"
                  "    docs/PROOFS.md (3, 4, 8) say they mean;\n"
                  "  - that the checker, its compiler, the C library and the machine "
                  "work.\n\nINPUTS, by SHA-256 of their bytes\n");
    page_files(p, h->certificate, h->sources, h->source_count);
    return page_write(p, path, err);
}
