// Certificates of a space's parts, each written where the part was searched (plumbline solve
// --part --certificate): what they argue is taken into the certificate of the whole. Nothing of
// them needs to be believed: the whole is audited as any other.
#ifndef PLUMBLINE_SOLVE_CERTIFICATE_JOIN_H
#define PLUMBLINE_SOLVE_CERTIFICATE_JOIN_H

#include "data/text/document.h"
#include "solve/checker/space/arguments.h"

#define CERTIFICATE_PART "plumbline.certificate_part"

// Beside the letters of check_fate_letters: of another part.
enum { FATE_IS_ELSEWHERE = FATES, FATE_IS_UNKNOWN = FATES + 1 };
#define FATE_ELSEWHERE_LETTER '-'

struct part_text {
    const char *file, *text;
    size_t size;
};

// What a part has of a layout that it closes by another one, or by a proof.
struct joined_layout {
    int64_t number, other; // -1: by a proof
    struct json proof;
};

struct joined_parts {
    unsigned char *fates; // [count], FATE_IS_UNKNOWN where no part has it
    int64_t count;
    struct joined_layout *layouts; // ascending
    int64_t layout_count, capacity;
    int64_t
        bound_ns; // the least that a part proves of its layouts, INT64_MAX: that none has a plan
};

// bounded: what is proven of the whole is a bound; else that there is no plan, of which a part
// with a bound says nothing. BAD_INPUT: no certificate of a part, or made from other documents.
enum status joined_read(struct joined_parts *j, const struct part_text *parts, int part_count,
                        int64_t layouts, bool bounded, const struct source *sources,
                        int source_count, struct arena *arena, struct error *err);

#endif
