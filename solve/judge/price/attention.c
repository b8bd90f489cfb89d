// The matrices of a layer's attention, as the judge reads them from docs/FORMULAS.md, sections 1
// and 4.
#include "solve/judge/price/verify_price.h"

#include <assert.h>

int attentions_of(const struct layer_run *r) { return r->cross_attention ? 2 : 1; }

int judged_norms(const struct price_audit *a, const struct layer_run *r)
{
    int norms = a->problem->model.shape.norms;
    // A further token's layer has one for the state, one for the embedding, and one before the
    // logits.
    return (norms ? norms : 2) + attentions_of(r) - 1 + (r->mtp ? 3 : 0);
}

static void put(struct judged_matrix *m, int *count, long double inputs, long double outputs)
{
    assert(*count < ATTENTION_MATRICES_MAX);
    m[(*count)++] = (struct judged_matrix){inputs, outputs};
}

int judged_attention(const struct price_audit *a, int run,
                     struct judged_matrix m[ATTENTION_MATRICES_MAX])
{
    const struct shape *s = &a->problem->model.shape;
    long double h = s->hidden / a->inner, t = a->outer;
    int count = 0;
    for (int i = 0; i < attentions_of(run_of(a, run)); i++) {
        if (s->kv_rank) {
            long double asked = h;
            if (s->query_rank) put(m, &count, h, asked = s->query_rank);
            put(m, &count, asked, a->query / t);
            put(m, &count, h, (long double)s->kv_rank + s->rotary_width);
            long double key = (long double)(s->head_width - s->rotary_width) * s->heads;
            put(m, &count, s->kv_rank, (key + a->summed) / t);
        } else if (i == 0) {
            put(m, &count, h, (a->query + 2 * a->key) / t);
        } else { // queries from the decoder, keys and values from the encoder
            put(m, &count, h, a->query / t);
            put(m, &count, h, 2 * a->key / t);
        }
        put(m, &count, a->summed / t, h);
    }
    return count;
}

long double latent_width(const struct price_audit *a, const struct layer_run *r)
{
    const struct shape *s = &a->problem->model.shape;
    return attentions_of(r) * ((long double)s->query_rank + s->kv_rank);
}

long double passed_width(const struct price_audit *a, const struct layer_run *r)
{
    long double values = a->problem->model.shape.kv_rank ? a->summed : a->key;
    return attentions_of(r) * (a->key + values);
}

long double attended_width(const struct price_audit *a, const struct layer_run *r)
{
    return attentions_of(r) * (a->query + a->summed) + passed_width(a, r);
}
