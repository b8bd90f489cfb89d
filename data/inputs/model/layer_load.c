// Work of layers, as samples count it.
#include "data/inputs/model/layer_load.h"

#include <string.h>

struct layer_load layer_load_of(const struct shape *s, const struct layer_at *at)
{
    double e = precision_bytes(at->precision), t = (double)at->tensor, h = (double)s->hidden;
    double n = (double)at->micro_batch * (double)at->sequence / (double)at->context,
           g = s->gated_ffn ? 3 : 2;
    double query = (double)(s->heads * s->head_width), key = (double)(s->kv_heads * s->head_width),
           ffn = (double)s->ffn;
    struct layer_load load = {.bytes = 2 * n * h * e};
    if (at->kind == LAYER_HEAD) {
        load.linear = 2 * n * h * (double)s->vocabulary / t;
        load.bytes += 12 * n * (double)s->vocabulary / t;
    } else if (at->kind == LAYER_BLOCK) {
        double scores = n * (double)at->sequence * (double)s->heads / t;
        load.linear = 2 * n * (h * (query + 2 * key) + query * h + g * h * ffn) / t;
        load.attention = 4 * scores * (double)s->head_width * (at->fused ? 0.5 : 1);
        load.score_bytes = at->fused ? 0 : 6 * scores * e;
        load.bytes = 10 * n * h * e + g * n * ffn * e / t + load.score_bytes;
    }
    return load;
}

void layer_load_of_pass(const struct layer_load *load, enum load_pass pass, bool fused,
                        double *flop, double *bytes)
{
    double again = fused ? 2.5 : 2;
    *flop = load->linear + load->attention, *bytes = load->bytes;
    if (pass != LOAD_FORWARD) {
        *flop = 2 * load->linear + again * load->attention;
        *bytes = 2 * load->bytes;
    }
    if (pass == LOAD_SELECTIVE) *flop += load->attention, *bytes += load->score_bytes;
    if (pass == LOAD_FULL) *flop += load->linear + load->attention, *bytes += load->bytes;
}

bool layer_operation_read(const char *operation, enum layer_kind *kind, enum load_pass *pass)
{
    static const enum layer_kind kinds[] = {LAYER_EMBEDDING, LAYER_BLOCK, LAYER_HEAD};
    static const char *const passes[] = {" forward", " backward", " backward selective",
                                         " backward full"};
    for (size_t k = 0; k < ARRAY_LENGTH(kinds); k++) {
        size_t length = strlen(layer_kind_names[kinds[k]]);
        if (strncmp(operation, layer_kind_names[kinds[k]], length)) continue;
        for (size_t p = 0; p < ARRAY_LENGTH(passes); p++) {
            if (strcmp(operation + length, passes[p])) continue;
            *kind = kinds[k], *pass = (enum load_pass)p;
            return true;
        }
    }
    return false;
}
