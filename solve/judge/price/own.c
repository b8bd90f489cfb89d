// The problem of a run with a shape or tokens of its own (docs/FORMULAS.md, section 21).
#include "solve/judge/price/verify_price.h"

const struct price_audit *audit_of_run(const struct price_audit *a, int run, struct own_audit *own)
{
    const struct layer_run *r = run_of(a, run);
    const struct price_audit *whole = a->whole ? a->whole : a;
    if (!r->shape && r->tokens == 0) return whole;
    own->problem = *whole->problem;
    if (r->shape) own->problem.model.shape = *r->shape;
    if (r->tokens > 0) own->problem.job.sequence = r->tokens;
    const struct shape *s = &own->problem.model.shape;
    long double width = s->head_width, values = s->value_width > 0 ? s->value_width : s->head_width,
                sequences = whole->sequences * (r->pieces > 1 ? (long double)r->pieces : 1);
    own->audit = *whole;
    own->audit.whole = whole;
    own->audit.problem = &own->problem;
    own->audit.sequences = sequences;
    own->audit.tokens = sequences * (long double)own->problem.job.sequence /
                        layout_of(whole)->context;
    own->audit.query = width * s->heads;
    own->audit.key = width * s->kv_heads;
    own->audit.held = width_held(s, layout_of(whole));
    own->audit.summed = values * s->heads;
    own->audit.gates = 2 + (s->gated_ffn ? 1 : 0);
    return &own->audit;
}
