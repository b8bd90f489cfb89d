// Writes what a solve proves as a file that `plumbline check` accepts (docs/PROOFS.md). The search
// by boxes left records. They are followed with the checker's own functions, so a box is written
// as closed only if the checker will close it. Boxes that the records leave open are closed here,
// by more mixtures and splits. A bound that cannot be proven is lowered to what the records prove,
// never claimed.
#pragma once

#include "solve/checker/space/arguments.h"
#include "solve/layouts/layouts.h"

struct certificate_request {
    const struct priced *priced;
    struct check_text
        priced_text;         // the bytes of the priced document; file: its name in the certificate
    const struct plan *plan; // its outcome, plan and bound
    const struct solve_evidence *evidence;
    bool shrink;        // leave out what the proof does not need; takes time
    int64_t boxes_most; // 0: a default
    // For a layout of a space: the checker's tables to use instead of the priced document's, and
    // the writer that gets the proof, under "proof".
    const struct check_problem *problem;
    struct json_writer *into;
    bool anew; // without the search's records
    // Of the objective energy: the plan whose energy and bound are claimed, while the rest of the
    // request is about times with less of it. NULL: another objective.
    const struct plan *of_energy;
};

struct certificate_result {
    const char *text; // NULL: nothing could be proven; "" if the request names a writer
    size_t size;
    int64_t bound_ns; // what it proves; -1: there is no plan
    int64_t boxes, rounds, weights, paths;
    int64_t mended; // boxes that the records left open and that were closed here
};

enum status certificate_make(struct certificate_result *r,
                             const struct certificate_request *request, struct arena *arena,
                             struct error *err);
// The same for the objective energy, whose evidence is of energy_below: the bound or nothing.
enum status certificate_of_energy(struct certificate_result *r,
                                  const struct certificate_request *request, struct arena *arena,
                                  struct error *err);

// memory.c: prices of memory for rounds by ranks, as stated in certificates and verified by the
// checker. For a box with one group and the mixture with these coefficients: a few prices for each
// rank that the largest choices of the box would overflow, at the moment at which they need most. A
// proof is valid with any prices; these are slopes between a stage's choices. Returns their number.
int memory_price(struct check_memory_price **prices, const struct check_choices *choices,
                 const struct check_box *box, const struct check_round *round, struct arena *arena);

// Writes the certificate of a bound on placements (docs/PROOFS.md 11): the checker's own problem
// of one replica, at the checker's prices, and a proof about it. A bound that cannot be proven is
// lowered to what can.

struct certificate_places_request {
    const struct problem *problem; // its job has one layout, its cluster places
    const struct priced *priced;
    const struct solve_result *solved; // by placed_solve, with evidence
    const struct solve_settings *settings;
    const struct source *sources; // problem, model, cluster, costs, job
    int source_count;
};

struct certificate_places_result {
    const char *text; // NULL: nothing could be proven
    size_t size;
    int64_t bound_ns; // what it proves; -1: there is no plan
    // The problem of one replica that was used: "nodes", "groups", "groups, chained"; or "a tree
    // over placements".
    const char *how;
    int64_t boxes, weights;
};

// The checker's problem as a priced document, for the planner's search; everything but prices is
// taken from base.
struct check_problem;
void certificate_places_priced(struct priced *to, const struct priced *base,
                               const struct check_problem *p, struct arena *arena);

enum status certificate_places_make(struct certificate_places_result *r,
                                    const struct certificate_places_request *request,
                                    struct arena *arena, struct error *err);

// Writes the certificate of a whole space of layouts (docs/PROOFS.md 8). Every layout is tried
// with the checker's own arguments, at the checker's prices. Layouts that no such argument closes
// are compared with each other, and the rest get proofs of their own. Results of the search only
// supply the target.

struct certificate_space_request {
    const struct problem *problem; // its job has a space
    const struct layouts_result *found;
    const struct solve_settings *settings;
    const struct source *sources; // problem, model, cluster, costs, job
    int source_count;
    struct space_part
        part; // of the space, searched alone: its certificate says nothing about the rest
    const struct part_text *parts; // certificates of parts whose arguments are adopted
    int part_count;
};

struct certificate_space_result {
    const char *text; // NULL: nothing could be proven
    size_t size;
    int64_t bound_ns; // what it proves; -1: there is no plan
    int64_t joined;   // layouts whose argument comes from a part
    int64_t layouts, refused, memory, bounded, dominated, proven, grouped, boxes;
};

enum status certificate_space_make(struct certificate_space_result *r,
                                   const struct certificate_space_request *request,
                                   struct arena *arena, struct error *err);

// Certificates of the parts of a space, each written where the part was searched (plumbline solve
// --part --certificate). Their arguments are copied into the certificate of the whole. They need
// not be trusted: the whole is audited like any other.

#define CERTIFICATE_PART "plumbline.certificate_part"

// In addition to the letters of check_fate_letters: belongs to another part.
enum { FATE_IS_ELSEWHERE = FATES, FATE_IS_UNKNOWN = FATES + 1 };
#define FATE_ELSEWHERE_LETTER '-'

struct part_text {
    const char *file, *text;
    size_t size;
};

// A layout that a part closes by another layout, or by a proof.
struct joined_layout {
    int64_t number, other; // -1: by a proof
    struct json proof;
};

struct joined_parts {
    unsigned char *fates; // [count], FATE_IS_UNKNOWN where no part states it
    int64_t count;
    struct joined_layout *layouts; // ascending
    int64_t layout_count, capacity;
    int64_t
        bound_ns; // the least bound that a part proves for its layouts, INT64_MAX: none has a plan
};

// bounded: a bound is to be proven of the whole; otherwise that there is no plan, for which a part
// with a bound is no use. BAD_INPUT: not a certificate of a part, or made from other documents.
enum status joined_read(struct joined_parts *j, const struct part_text *parts, int part_count,
                        int64_t layouts, bool bounded, const struct source *sources,
                        int source_count, struct arena *arena, struct error *err);
