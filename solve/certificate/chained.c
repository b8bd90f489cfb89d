// The search for certificates of placements with chains of device groups.
#include "solve/certificate/internal.h"

#include "formulate/graph/objective.h"
#include "solve/checker/boxes/chain.h"
#include "solve/boxes/search.h"

struct chained {
    struct joint_transfers functions;
    const struct check_problem *p;
    int64_t *coefficients; // as the checker numbers symbols
    uint64_t work;
};

// Corresponding kinds of messages of the checker and the planner; whether only the first slice's.
static const struct {
    int kind, symbol;
    bool first;
} messages[] = {
    {KIND_SEND_FORWARD, SYMBOL_SEND_FORWARD, false},
    {KIND_SEND_BACKWARD, SYMBOL_SEND_BACKWARD, false},
    {KIND_SEND_EPILOGUE, SYMBOL_SEND_EPILOGUE, true},
};

static int symbol_of(const struct check_problem *p, int message, int part, int slice, int boundary)
{
    int kind = messages[message].symbol + part;
    return symbol_index(p->stages, symbol_of_slice(slice, kind), boundary);
}

static int64_t excess(void *of, const int64_t *coefficients, int fraction_bits)
{
    struct chained *c = of;
    const struct check_problem *p = c->p;
    wide excess;
    for (int boundary = 0; boundary + 1 < p->stages; boundary++)
        for (size_t i = 0; i < ARRAY_LENGTH(messages); i++)
            for (int slice = 0; slice < (messages[i].first ? 1 : p->slices); slice++)
                for (int part = 0; part < PARTS; part++)
                    c->coefficients[check_symbol(p, messages[i].kind + part, boundary, slice)] =
                        coefficients[symbol_of(p, (int)i, part, slice, boundary)];
    if (check_chain_excess(p, c->coefficients, &c->work, &excess) != OK) return 0;
    excess >>= WEIGHT_BITS - fraction_bits;
    return excess < (wide)1 << 60 ? (int64_t)excess : (int64_t)1 << 60;
}

// The least chain of the last mixture, with uncompressed messages of the first class.
static void put(void *of, int64_t *durations)
{
    const struct chained *c = of;
    const struct check_problem *p = c->p;
    const struct check_chain *x = p->chain;
    for (int hop = 0; hop < x->hops; hop++)
        for (int slice = 0; slice < p->slices; slice++)
            for (int part = 0; part < PARTS; part++) {
                int from = x->least[hop], to = x->least[hop + 1],
                    at = ((slice * x->node_count + from) * x->node_count + to) * PARTS + part,
                    of_groups = ((slice * p->group_count + x->group_of[from]) * p->group_count +
                                 x->group_of[to]) *
                                    PARTS +
                                part;
                int64_t there = x->forward[0][at] - p->cuts[0].forward[of_groups],
                        back = x->backward[0][0][at] - p->cuts[0].backward[0][of_groups];
                durations[symbol_of(p, 0, part, slice, hop)] += there;
                if (!check_sends_backward(p, hop)) continue;
                durations[symbol_of(p, 1, part, slice, hop)] += back;
                if (!slice) durations[symbol_of(p, 2, part, 0, hop)] += back;
            }
}

enum status certificate_search_chained(struct solve_evidence *evidence,
                                       const struct check_problem *p, const struct priced *priced,
                                       int64_t target_ns, struct arena *arena, struct error *err)
{
    enum { BOXES_MOST = 1000 };
    struct chained *chained = TAKE(arena, 1, struct chained);
    *chained = (struct chained){
        {excess, put, chained}, p, TAKE(arena, check_symbol_count(p), int64_t), UINT64_MAX / 2};
    return certificate_search_boxes(evidence, priced, target_ns, BOXES_MOST, &chained->functions,
                                    arena, err);
}
