// Certificates of the parts of a space, each written where the part was searched (plumbline solve
// --part --certificate). Their arguments are copied into the certificate of the whole. They need
// not be trusted: the whole is audited like any other.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_JOIN_H
#define PLUMBLINE_SOLVE_CERTIFICATE_JOIN_H

#include "data/text/document.h"
#include "solve/checker/space/arguments.h"

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

#endif
