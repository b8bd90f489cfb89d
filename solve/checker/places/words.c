// A page in words on what an accepted certificate about placements proves, based on the checker's
// findings.
#include "solve/checker/places/places.h"
#include "solve/checker/verdict.h"

static void put_claims(struct check_page *p, const struct check_result *r)
{
    page_print(p, "CERTIFIED, given what is assumed below\n");
    if (r->infeasible)
        page_print(p, "  There is no plan: wherever its ranks are placed, it violates a rule or a "
                      "limit.\n\n");
    else
        page_print(p,
                   "  No plan %s less than %lld ns, on whichever nodes its ranks are placed and in "
                   "whichever order its rings run.\n\n",
                   r->objective == MINIMISE_PIPETTE
                       ? "has a value of the objective pipette (docs/FORMULAS.md 16) of"
                   : r->objective == MINIMISE_LOAD
                       ? "has a greatest load (max_load, docs/FORMULAS.md 17) of"
                       : "takes",
                   (long long)r->bound_ns);
}

static const char *words_of_parts(const struct check_page *p, const struct check_result *r)
{
    if (!r->parts) return "";
    return arena_print(
        p->arena, "  - that the %lld parts are all placements; the same for the nodes of each;\n",
        (long long)r->parts);
}

static void put_verified(struct check_page *p, const struct check_result *r, int64_t microseconds)
{
    if (r->objective == MINIMISE_PIPETTE) {
        page_print(p,
                   "VERIFIED by plumbline check " PLUMBLINE_VERSION
                   ", which shares no code with the planner, in whole numbers alone\n"
                   "  - that the certificate is about these very documents (SHA-256);\n"
                   "  - every set of first nodes with its best ring, and every way to give each of "
                   "them the rest of its row\n"
                   "    (docs/PROOFS.md 15.3): none has less. The file contains only the claim.\n"
                   "  Work: %llu steps, %lld.%03lld s.\n\n",
                   (unsigned long long)r->work, (long long)(microseconds / 1000000),
                   (long long)(microseconds / 1000 % 1000));
        return;
    }
    page_print(
        p,
        "VERIFIED by plumbline check " PLUMBLINE_VERSION
        ", which shares no code with the planner, in whole numbers alone\n"
        "  - that the certificate is about these very documents (SHA-256);\n"
        "  - the least price of every link between nodes, and of a ring's heaviest link, that any "
        "placement can have\n"
        "    (docs/PROOFS.md 11): no replica of any plan takes less than one with those prices;\n"
        "%s  - that none with those prices takes less than the bound: %lld boxes, %lld of them "
        "split in two, %lld single decisions\n"
        "    that were replayed, %lld minimisations by dynamic programming over %lld stage "
        "choices, %lld paths of a graph of\n"
        "    %lld operations.\n  Work: %llu steps, %lld.%03lld s.\n\n",
        words_of_parts(p, r), (long long)r->boxes, (long long)r->splits, (long long)r->leaves,
        (long long)r->rounds, (long long)r->choices, (long long)r->paths, (long long)r->operations,
        (unsigned long long)r->work, (long long)(microseconds / 1000000),
        (long long)(microseconds / 1000 % 1000));
}

enum status check_places_write_statement(const struct check_places_audit *h, const char *path,
                                         struct arena *arena, struct error *err)
{
    struct check_page page = {.arena = arena}, *p = &page;
    page_print(p, "WHAT IS CERTIFIED, OF ALL PLACEMENTS ON THE NODES\n\n");
    put_claims(p, h->result);
    put_verified(p, h->result, h->microseconds);
    page_print(p, "WHY THE ONE FOLLOWS FROM THE OTHER\n"
                  "  Argued in docs/PROOFS.md 2 to 5 and 11; no theorem that a machine has checked "
                  "is about nodes (16).\n\n");
    page_print(p, "ASSUMED, not verified\n"
                  "  - the prices: whole nanoseconds and bytes that the judge (solve/judge/price/, "
                  "solve/judge/places*.c, docs/FORMULAS.md)\n"
                  "    finds for each layer, and for each link between two nodes. They are a model "
                  "of the machine;\n"
                  "  - that the five documents below were read as they are meant, and mean what "
                  "docs/FORMULAS.md and\n"
                  "    docs/PROOFS.md (3, 4, 11) say they mean;\n"
                  "  - that the checker, its compiler, the C library and the machine work.\n"
                  "  The certificate contains no plan: plumbline verify states what a plan "
                  "takes.\n\nINPUTS, by SHA-256 of their bytes\n");
    page_files(p, h->certificate, h->sources, h->source_count);
    return page_write(p, path, err);
}
