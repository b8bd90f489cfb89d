// The timed parts: where a repetition's operands are, and which kernels run over them. Nothing is
// fused: like a block on a CPU without a fused attention, this writes the scores to memory and
// reads them back.

#include <assert.h>

#include "measure/cpu/internal.h"

// Room for `bytes`, in floats.
static int64_t floats_of(int64_t bytes) { return (bytes + 3) / 4; }

// A block with next to nothing in it, and buffers for its forward pass.
static const struct shape empty_shape = {
    .hidden = 1, .ffn = 1, .heads = 1, .kv_heads = 1, .head_width = 1, .vocabulary = 1};
static const struct layer_cell empty_layer = {
    .kind = LAYER_BLOCK, .pass = PASS_FORWARD, .shape = &empty_shape};
static const struct cell empty_block = {
    .work = WORK_LAYER,
    .layer = &empty_layer,
    .sample = {.dimensions = {1, 1, 1, 1}, .dimension_count = 4}};

static struct part_size layer_size(const struct cell *cell)
{
    struct layer_buffers b;
    layer_place(&b, cell, NULL, NULL);
    return (struct part_size){b.in_floats, b.out_floats};
}

static struct part_size size_of(int64_t in, int64_t out) { return (struct part_size){in, out}; }

// Of a part with attention; without a ring of context ranks, keys are as many as queries.
struct attended {
    int64_t heads, queries, keys, width;
};

static struct attended attended_of(const struct cell *cell)
{
    const int64_t *d = cell->sample.dimensions;
    int ring = cell->work == WORK_CONTEXT_ATTENTION ||
               cell->work == WORK_CONTEXT_ATTENTION_BACKWARD;
    return (struct attended){d[0], d[1], d[1 + ring], d[2 + ring]};
}

struct part_size part_size(const struct cell *cell, int threads)
{
    const struct attended a = attended_of(cell);
    const int64_t *d = cell->sample.dimensions;
    switch (cell->work) {
    case WORK_GEMM: return size_of(d[0] * d[2] + d[1] * d[2], d[0] * d[1]);
    case WORK_GEMM_DATA: return size_of(d[0] * d[1] + d[1] * d[2], d[0] * d[2]);
    case WORK_GEMM_WEIGHT: return size_of(d[0] * d[2] + d[0] * d[1], d[1] * d[2]);
    case WORK_GROUPED: return size_of(d[3] * (d[0] * d[2] + d[1] * d[2]), d[3] * d[0] * d[1]);
    case WORK_GROUPED_DATA: return size_of(d[3] * (d[0] * d[1] + d[1] * d[2]), d[3] * d[0] * d[2]);
    case WORK_GROUPED_WEIGHT:
        return size_of(d[3] * (d[0] * d[2] + d[0] * d[1]), d[3] * d[1] * d[2]);
    case WORK_ATTENTION:
    case WORK_CONTEXT_ATTENTION:
        return size_of(a.heads * (a.queries + 2 * a.keys) * a.width,
                       a.heads * a.queries * (a.keys + a.width));
    case WORK_ATTENTION_BACKWARD:
    case WORK_CONTEXT_ATTENTION_BACKWARD:
        return size_of(a.heads * (2 * (a.queries + a.keys) * a.width + a.queries * a.keys),
                       a.heads * (a.queries * a.keys + (a.queries + 2 * a.keys) * a.width));
    case WORK_ROTARY: return size_of(d[0] * d[2] * (d[1] + 1), d[0] * d[1] * d[2]);
    case WORK_DROPOUT: return size_of(d[0], d[0] + floats_of(d[0]));
    case WORK_DROPOUT_BACKWARD: return size_of(d[0] + floats_of(d[0]), d[0]);
    case WORK_ELEMENTWISE: return size_of(d[1] * (d[2] + d[3]), d[1] * (2 * d[2] + d[3] + 1));
    case WORK_ELEMENTWISE_BACKWARD:
        return size_of(d[1] * (2 * d[2] + 2 * d[3] + 1), d[1] * (2 * d[2] + d[3]));
    case WORK_GATED_ELEMENTWISE:
        return size_of(d[1] * (d[2] + 2 * d[3]), d[1] * (2 * d[2] + d[3] + 1));
    case WORK_GATED_ELEMENTWISE_BACKWARD:
        return size_of(d[1] * (2 * d[2] + 3 * d[3] + 1), d[1] * (2 * d[2] + 2 * d[3]));
    case WORK_ACTIVATION: return size_of(d[1] * d[2] * (1 + d[3]), d[1] * d[2]);
    case WORK_ACTIVATION_BACKWARD:
        return size_of(d[1] * d[2] * (2 + d[3]), d[1] * d[2] * (1 + d[3]));
    case WORK_NORM: return size_of(d[1] * d[2], d[1] * (d[2] + 1));
    case WORK_NORM_BACKWARD: return size_of(d[1] * (2 * d[2] + 1), d[1] * d[2]);
    case WORK_COPY: return size_of(d[0] / 8, d[0] / 8);
    case WORK_OPTIMIZER: return size_of(d[0], 3 * d[0]);
    case WORK_COMPRESS: return size_of(d[0] * d[1] + d[1] * d[2], d[0] * d[2] + d[1] * d[2]);
    case WORK_DECOMPRESS: return size_of(d[0] * d[2] + d[1] * d[2], d[0] * d[1]);
    case WORK_TOP_K_COMPRESS: return size_of(d[0], 2 * d[1] + (int64_t)threads * TOP_K_BUCKETS);
    case WORK_TOP_K_DECOMPRESS: return size_of(2 * d[1], d[0]);
    case WORK_QUANTISE:
        return size_of(d[1] == 1 ? 2 * d[0] : d[0], quantise_runs(d[0]) +
                                                        floats_of(quantise_bytes(d[0], (int)d[1])) +
                                                        (d[1] == 1 ? d[0] : 0));
    case WORK_DEQUANTISE:
        return size_of(quantise_runs(d[0]) + floats_of(quantise_bytes(d[0], (int)d[1])), d[0]);
    case WORK_LAYER: return layer_size(cell);
    case WORK_EMPTY_BLOCKS: return layer_size(&empty_block);
    default: break;
    }
    assert(!"a kind of work that this back end refuses");
    return size_of(0, 0);
}

// ---- kernels of a block

static void run_product(struct team *team, const struct cell *cell, const float *in, float *out)
{
    const int64_t *d = cell->sample.dimensions, m = d[0], n = d[1], k = d[2];
    struct linear l = {m, n, k, 1, in, in + m * k};
    if (cell->work == WORK_GEMM) {
        linear_forward(team, &l, out);
    } else if (cell->work == WORK_GEMM_DATA) {
        l.w = in + m * n;
        linear_data(team, &l, in, out);
    } else {
        linear_weight(team, &l, in + m * k, out);
    }
}

// As many products as d[3], one after the other.
static void run_grouped(struct team *team, const struct cell *cell, const float *in, float *out)
{
    const int64_t *d = cell->sample.dimensions, m = d[0], n = d[1], k = d[2];
    const float *second = in + d[3] * m * (cell->work == WORK_GROUPED_DATA ? n : k);
    for (int64_t i = 0; i < d[3]; i++) {
        struct linear l = {m, n, k, 1, in + i * m * k, second + i * n * k};
        if (cell->work == WORK_GROUPED) linear_forward(team, &l, out + i * m * n);
        else if (cell->work == WORK_GROUPED_DATA)
            linear_data(team, &l, in + i * m * n, out + i * m * k);
        else linear_weight(team, &l, second + i * m * n, out + i * n * k);
    }
}

// in: queries, keys, values, and backward the context's gradient and the kept scores.
static void run_attention(struct team *team, const struct cell *cell, const float *in, float *out)
{
    bool forward = cell->work == WORK_ATTENTION || cell->work == WORK_CONTEXT_ATTENTION;
    const struct attended z = attended_of(cell);
    int64_t queries = z.heads * z.queries * z.width, keys = z.heads * z.keys * z.width,
            scores = z.heads * z.queries * z.keys;
    struct attention a = {.batch = z.heads,
                          .heads = 1,
                          .kv_heads = 1,
                          .queries = z.queries,
                          .keys = z.keys,
                          .blocks = 1,
                          .width = z.width,
                          .query_row = z.width,
                          .key_row = z.width,
                          .context_row = z.width,
                          .query = in,
                          .key = in + queries,
                          .value = in + queries + keys};
    a.scores = out, a.context = out + scores;
    if (forward) {
        attention_forward(team, &a);
        return;
    }
    a.d_context = in + queries + 2 * keys;
    a.scores = (float *)in + 2 * (queries + keys); // only read by backward
    a.d_scores = out;
    a.d_query = out + scores, a.d_key = a.d_query + queries, a.d_value = a.d_key + keys;
    attention_backward(team, &a);
}

static void run_rotated(struct team *team, const struct cell *cell, const float *in, float *out)
{
    const int64_t *d = cell->sample.dimensions;
    rotary_run(team, &(struct rotary){d[0], d[1], d[2], in, in + d[0] * d[1] * d[2], out});
}

static void run_dropped(struct team *team, const struct cell *cell, const float *in, float *out)
{
    int64_t count = cell->sample.dimensions[0];
    struct dropout d = {.count = count, .share = 0.1f, .seed = 1, .y = out};
    if (cell->work == WORK_DROPOUT) d.x = in, d.kept = (uint8_t *)(out + count);
    else d.dy = in, d.kept = (uint8_t *)(in + count); // only read by backward
    dropout_run(team, &d);
}

static void run_elementwise(struct team *team, const struct cell *cell, const float *in, float *out)
{
    const int64_t *d = cell->sample.dimensions, tokens = d[1], h = d[2], f = d[3];
    const float *gate = in + tokens * h,
                *up = cell->work == WORK_GATED_ELEMENTWISE ? gate + tokens * f : NULL;
    float *sum = out + tokens * h, *active = sum + tokens * h;
    struct norm norm = {
        .rows = tokens, .width = h, .x = in, .y = out, .scale = active + tokens * f};
    struct activation activation = {
        .rows = tokens, .width = f, .row = f, .gate = gate, .up = up, .y = active};
    for (int i = 0; i < 2; i++) {
        norm_forward(team, &norm);
        sum_run(team, tokens * h, in, out, sum);
    }
    activation_forward(team, &activation);
}

// in: normalised rows, their gradients, their scales, then gate, up, the activation's gradient.
static void run_elementwise_backward(struct team *team, const struct cell *cell, const float *in,
                                     float *out)
{
    const int64_t *d = cell->sample.dimensions, tokens = d[1], h = d[2], f = d[3];
    bool gated = cell->work == WORK_GATED_ELEMENTWISE_BACKWARD;
    const float *dy = in + tokens * h, *scale = dy + tokens * h, *gate = scale + tokens,
                *up = gate + tokens * f;
    float *sum = out + tokens * h, *d_gate = sum + tokens * h;
    struct norm norm = {
        .rows = tokens, .width = h, .y = (float *)in, .scale = (float *)scale, .dy = dy, .dx = out};
    struct activation activation = {.rows = tokens,
                                    .width = f,
                                    .row = f,
                                    .gate = gate,
                                    .up = gated ? up : NULL,
                                    .dy = gated ? up + tokens * f : up,
                                    .d_gate = d_gate,
                                    .d_up = gated ? d_gate + tokens * f : NULL};
    activation_backward(team, &activation);
    for (int i = 0; i < 2; i++) {
        norm_backward(team, &norm);
        sum_run(team, tokens * h, dy, out, sum);
    }
}

// in: gate, up if gated, backward the output's gradient.
static void run_active(struct team *team, const struct cell *cell, const float *in, float *out)
{
    const int64_t *d = cell->sample.dimensions, values = d[1] * d[2];
    struct activation a = {.rows = d[1], .width = d[2], .row = d[2], .gate = in};
    if (d[3]) a.up = in + values;
    if (cell->work == WORK_ACTIVATION) {
        a.y = out;
        activation_forward(team, &a);
        return;
    }
    a.dy = in + (1 + d[3]) * values;
    a.d_gate = out, a.d_up = d[3] ? out + values : NULL;
    activation_backward(team, &a);
}

static void run_norm(struct team *team, const struct cell *cell, const float *in, float *out)
{
    int64_t tokens = cell->sample.dimensions[1], h = cell->sample.dimensions[2];
    struct norm norm = {.rows = tokens, .width = h, .x = in, .y = out, .scale = out + tokens * h};
    if (cell->work == WORK_NORM) {
        norm_forward(team, &norm);
        return;
    }
    norm.y = (float *)in, norm.scale = (float *)in + 2 * tokens * h; // only read by backward
    norm.dy = in + tokens * h, norm.dx = out;
    norm_backward(team, &norm);
}

static void run_layer(struct team *team, const struct cell *cell, const float *in, float *out)
{
    struct layer_buffers b;
    layer_place(&b, cell, (float *)in, out); // the pass does not write to `in`
    layer_run(team, cell->layer, &b);
}

// ---- compression

static void run_low_rank(struct team *team, const struct cell *cell, const float *in, float *out)
{
    const int64_t *d = cell->sample.dimensions;
    if (cell->work == WORK_COMPRESS)
        low_rank_compress(team, &(struct low_rank){d[0], d[1], d[2], in, in + d[0] * d[1], out,
                                                   out + d[0] * d[2]});
    else
        low_rank_decompress(
            team, &(struct low_rank_product){d[0], d[1], d[2], in, in + d[0] * d[2], out});
}

static void run_top_k(struct team *team, const struct cell *cell, const float *in, float *out)
{
    int64_t count = cell->sample.dimensions[0], kept = cell->sample.dimensions[1];
    if (cell->work == WORK_TOP_K_COMPRESS)
        top_k_compress(team, &(struct top_k){count, kept, in, out, (int32_t *)(void *)(out + kept),
                                             (uint32_t *)(void *)(out + 2 * kept)});
    else
        top_k_decompress(team,
                         &(struct top_k_spread){count, kept, in,
                                                (const int32_t *)(const void *)(in + kept), out});
}

static void run_quantised(struct team *team, const struct cell *cell, const float *in, float *out)
{
    int64_t count = cell->sample.dimensions[0], runs = quantise_runs(count);
    int bits = (int)cell->sample.dimensions[1];
    if (cell->work == WORK_QUANTISE) {
        float *packed = out + runs;
        quantise_run(team, &(struct quantise){count, bits, in, in + count, out,
                                              packed + floats_of(quantise_bytes(count, bits)),
                                              (uint8_t *)packed});
    } else {
        dequantise_run(team,
                       &(struct dequantise){count, bits, in, (const uint8_t *)(in + runs), out});
    }
}

void part_run(struct team *team, const struct cell *cell, const float *in, float *out)
{
    int64_t first = cell->sample.dimensions[0];
    switch (cell->work) {
    case WORK_GEMM:
    case WORK_GEMM_DATA:
    case WORK_GEMM_WEIGHT: run_product(team, cell, in, out); break;
    case WORK_GROUPED:
    case WORK_GROUPED_DATA:
    case WORK_GROUPED_WEIGHT: run_grouped(team, cell, in, out); break;
    case WORK_ROTARY: run_rotated(team, cell, in, out); break;
    case WORK_DROPOUT:
    case WORK_DROPOUT_BACKWARD: run_dropped(team, cell, in, out); break;
    case WORK_ATTENTION:
    case WORK_CONTEXT_ATTENTION:
    case WORK_ATTENTION_BACKWARD:
    case WORK_CONTEXT_ATTENTION_BACKWARD: run_attention(team, cell, in, out); break;
    case WORK_ELEMENTWISE:
    case WORK_GATED_ELEMENTWISE: run_elementwise(team, cell, in, out); break;
    case WORK_ELEMENTWISE_BACKWARD:
    case WORK_GATED_ELEMENTWISE_BACKWARD: run_elementwise_backward(team, cell, in, out); break;
    case WORK_ACTIVATION:
    case WORK_ACTIVATION_BACKWARD: run_active(team, cell, in, out); break;
    case WORK_NORM:
    case WORK_NORM_BACKWARD: run_norm(team, cell, in, out); break;
    case WORK_COPY: copy_run(team, first / 8, in, out); break;
    case WORK_LAYER: run_layer(team, cell, in, out); break;
    case WORK_OPTIMIZER:
        adam_run(team, &(struct adam){first, in, out, out + first, out + 2 * first});
        break;
    case WORK_COMPRESS:
    case WORK_DECOMPRESS: run_low_rank(team, cell, in, out); break;
    case WORK_TOP_K_COMPRESS:
    case WORK_TOP_K_DECOMPRESS: run_top_k(team, cell, in, out); break;
    case WORK_QUANTISE:
    case WORK_DEQUANTISE: run_quantised(team, cell, in, out); break;
    case WORK_EMPTY_BLOCKS:
        for (int64_t i = 0; i < first; i++) run_layer(team, &empty_block, in, out);
        break;
    default: assert(!"a kind of work that this back end refuses");
    }
}
