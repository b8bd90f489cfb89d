// A published memory formula for comparison: Fujii et al., arXiv 2411.06465, first stage of a
// dense transformer in mixed precision with Adam, distributed optimizer, sequence parallelism and
// fused attention, without recomputation (docs/FORMULAS.md, section 8). It is an estimate and
// never a reason to reject. Of 454 runs on A100 and H100, none with an estimate of at most 0.8 of
// the memory ran out of it.
#include "solve/judge/internal.h"

static int64_t block_count(const struct model *m)
{
    int64_t blocks = 0;
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].kind == LAYER_BLOCK) blocks += m->runs[i].count;
    return blocks;
}

// Models that the formula covers.
static bool is_plain(const struct model *m)
{
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].frozen || m->runs[i].kind == LAYER_MOE || m->runs[i].kind == LAYER_MEMORY ||
            m->runs[i].kind == LAYER_MEASURED)
            return false;
    return m->has_shape && !model_peculiarity(m, false) && block_count(m) > 0;
}

static int64_t nearest(long double bytes)
{
    return bytes < WHOLE_MAX ? (int64_t)(bytes + 0.5L) : WHOLE_MAX;
}

bool published_memory_of(const struct problem *problem, struct published_memory *p)
{
    const struct shape *s = &problem->model.shape;
    const struct layout *l = &problem->job.layout;
    if (!is_plain(&problem->model)) return false;
    long double h = s->hidden, f = s->ffn, k = s->kv_heads, a = s->heads, v = s->vocabulary,
                t = l->tensor, c = l->context, stages = l->pipeline,
                layers = block_count(&problem->model);
    long double values = h * v / t +
                         2 * layers / stages * h * h * ((1 + k / a + 1.5L * f / h) / t + 1 / h);
    p->state_bytes = nearest((6 + 12 / (l->data * c)) * values);
    long double message = (long double)problem->job.sequence * l->micro_batch * h / (t * c);
    p->activation_bytes =
        nearest(message * ((12 + 4 * k / a + 8 * f / h) * layers + 8 * stages + 4 * (1 + v / h)));
    return true;
}

void audit_published(struct audit *h)
{
    struct published_memory p;
    if (!h->at && published_memory_of(&h->judged, &p))
        h->verdict->published_bytes = p.state_bytes + p.activation_bytes;
}
