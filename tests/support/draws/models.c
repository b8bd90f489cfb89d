// Random models of real size: an embedding, some runs of blocks of all kinds, a head.
#include <string.h>

#include "tests/support/draws/models.h"

static struct layer_run random_middle(struct random *rng, const char *name)
{
    struct layer_run r = {.name = name,
                          .kind = LAYER_BLOCK,
                          .count = (int)random_between(rng, 4, 40),
                          .recomputable = true};
    switch (random_between(rng, 0, 5)) {
    case 0:
        r.kind = LAYER_MOE;
        r.experts = (struct expert_shape){
            .experts = 64,
            .top_k = random_between(rng, 1, 8),
            .ffn = 256 * random_between(rng, 1, 16),
            .shared_ffn = random_chance(rng, 50) ? 512 * random_between(rng, 1, 8) : 0,
            .imbalance = random_chance(rng, 50) ? 1 + (double)random_between(rng, 0, 8) / 8 : 0};
        r.frozen = random_chance(rng, 20);
        break;
    case 1: {
        int64_t half = 64 << random_between(rng, 0, 4);
        r.kind = LAYER_MEMORY;
        r.recomputable = false;
        r.pool = (struct pool_shape){.values = half * half,
                                     .width = 256 * random_between(rng, 1, 4),
                                     .heads = random_between(rng, 1, 4),
                                     .key_width = 128 * random_between(rng, 1, 4),
                                     .top_k = random_between(rng, 1, 32),
                                     .gated = random_chance(rng, 50)};
        r.frozen = random_chance(rng, 20);
        break;
    }
    case 2:
        r.frozen = true;
        r.adapter_rank = random_chance(rng, 60) ? (int)random_between(rng, 1, 64) : 0;
        r.weight_bits = random_chance(rng, 50) ? (int)random_between(rng, 2, 8) : 0;
        break;
    case 3:
        r.kind = LAYER_MEASURED;
        r.measured = (struct measured_bytes){.weight_bytes = random_between(rng, 0, 100000000),
                                             .gradient_bytes = random_between(rng, 0, 200000000),
                                             .optimizer_bytes = random_between(rng, 0, 600000000),
                                             .boundary_bytes = random_between(rng, 1, 50000000)};
        if (random_chance(rng, 50)) r.measured.matrix_rows = 4096, r.measured.matrix_columns = 1024;
        break;
    default: break;
    }
    return r;
}

static struct linear_shape random_linear(struct random *rng, int64_t key_heads)
{
    return (struct linear_shape){
        .key_heads = key_heads,
        .value_heads = key_heads * random_between(rng, 1, 3),
        .key_width = 32 * random_between(rng, 1, 8),
        .value_width = 32 * random_between(rng, 1, 8),
        .convolution = random_between(rng, 0, 6),
        .decay_rank = random_chance(rng, 50) ? random_between(rng, 1, 300) : 0,
        .gate_rank = random_chance(rng, 50) ? random_between(rng, 1, 300) : 0};
}

// What plain blocks have not: attention by latents, windows, without a mask, over an encoder; other
// norms, biases, residuals, embeddings. Adapters and quantised weights go with none of the first.
static void random_peculiarities(struct model *m, struct random *rng)
{
    struct shape *s = &m->shape;
    bool adapted = false;
    for (int i = 0; i < m->run_count; i++)
        adapted = adapted || m->runs[i].adapter_rank || m->runs[i].weight_bits;
    s->norms = (int)random_between(rng, 0, 4);
    s->plain_norms = random_chance(rng, 20), s->no_final_norm = random_chance(rng, 30);
    s->parallel_residual = random_chance(rng, 30);
    s->output_bias = (int)random_between(rng, -1, 1);
    if (random_chance(rng, 30)) s->embedding_width = 128 * random_between(rng, 1, 8);
    if (!adapted && random_chance(rng, 50)) {
        s->kv_heads = s->heads, s->kv_rank = 64 * random_between(rng, 1, 12);
        s->query_rank = random_chance(rng, 60) ? 64 * random_between(rng, 1, 24) : 0;
        s->rotary_width = 16 * random_between(rng, 0, 4);
        s->value_width = 32 * random_between(rng, 1, 4);
    } else {
        s->qk_norm = (enum qk_norm)random_between(rng, 0, 2);
        s->gated_attention = !adapted && random_chance(rng, 40);
    }
    if (random_chance(rng, 50)) s->linear = random_linear(rng, s->kv_heads);
    for (int i = 0; i < m->run_count; i++) {
        struct layer_run *r = &m->runs[i];
        if (r->kind != LAYER_MEASURED) r->more_values = random_chance(rng, 30) ? 12345 : 0;
        struct random own = *rng; // the draws of all else stay as they are
        if (r->kind == LAYER_MOE) r->experts.shared_gate = r->experts.shared_ffn > 0;
        if (r->kind == LAYER_MOE && random_chance(&own, 40))
            r->experts.latent = 64 * random_between(&own, 1, 40);
        if (r->kind == LAYER_BLOCK || r->kind == LAYER_MOE) {
            r->bidirectional = random_chance(rng, 30);
            if (!r->bidirectional && random_chance(rng, 50))
                r->window = random_between(rng, 1, 6000);
            else if (!r->bidirectional && random_chance(rng, 50))
                r->chunk = random_between(rng, 1, 3000);
            r->cross_attention = r->kind == LAYER_BLOCK && !r->adapter_rank && !r->weight_bits &&
                                 random_chance(rng, 40);
            r->linear = s->linear.key_heads && !r->adapter_rank && !r->weight_bits &&
                        random_chance(rng, 60);
            if (r->linear) r->window = r->chunk = r->bidirectional = r->cross_attention = false;
        }
    }
}

void draw_adapters(struct model *m, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 71};
    for (int i = 0; i < m->run_count; i++) {
        struct layer_run *r = &m->runs[i];
        bool *on = r->adapter_modules, gated = run_shape(m, r)->gated_ffn;
        r->adapter_dropout = r->adapter_rank && (seed + (uint64_t)i) % 5 < 2;
        if (!r->adapter_rank || random_chance(&own, 30)) continue;
        for (int k = 0; k < ADAPTER_MODULE_COUNT; k++) on[k] = random_chance(&own, 35);
        if (on[ADAPTER_QKV]) on[ADAPTER_QUERY] = on[ADAPTER_KEY] = on[ADAPTER_VALUE] = false;
        if (on[ADAPTER_GATE_UP]) on[ADAPTER_GATE] = on[ADAPTER_UP] = false;
        if (!gated) on[ADAPTER_GATE] = on[ADAPTER_GATE_UP] = false;
    }
}

int adapt_mixtures(struct model *m, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 83};
    int adapted = 0;
    for (int i = 0; i < m->run_count; i++) {
        struct layer_run *r = &m->runs[i];
        const struct shape *s = run_shape(m, r);
        bool plain = !s->kv_rank && !s->gated_attention && !s->value_width && !s->keys_as_values &&
                     !s->keys_reused;
        if (r->kind != LAYER_MOE || !plain || r->linear || r->linear_beside || r->no_attention ||
            r->mtp || random_chance(&own, 40))
            continue;
        bool *on = r->adapter_modules, one = random_chance(&own, 30);
        r->frozen = true, r->adapter_rank = (int)random_between(&own, 1, 64);
        r->adapter_dropout = random_chance(&own, 40);
        on[ADAPTER_OUTPUT] = random_chance(&own, 50), on[ADAPTER_QKV] = one;
        for (int k = ADAPTER_QUERY; k <= ADAPTER_VALUE && !one; k++)
            on[k] = random_chance(&own, 50);
        if (!memchr(on, true, ADAPTER_MODULE_COUNT)) on[ADAPTER_QUERY] = true;
        adapted++;
    }
    return adapted;
}

void model_look_back(struct model *m)
{
    for (int i = 0; i < m->run_count; i++)
        m->runs[i].bidirectional = m->runs[i].cross_attention = false;
}

void random_model(struct model *m, struct random *rng, struct arena *arena)
{
    static const char *const names[] = {"embedding", "one", "two", "three", "head"};
    int64_t kv_heads = 8 << random_between(rng, 0, 2);
    int middle = (int)random_between(rng, 1, 3), last = middle + 1;
    bool frozen_ends = random_chance(rng, 15);
    *m = (struct model){.name = "random",
                        .has_shape = true,
                        .runs = TAKE(arena, 5, struct layer_run),
                        .run_count = last + 1};
    m->shape = (struct shape){.hidden = 1024 * random_between(rng, 1, 12),
                              .ffn = 512 * random_between(rng, 4, 100),
                              .heads = kv_heads * random_between(rng, 1, 4),
                              .kv_heads = kv_heads,
                              .head_width = 64 * random_between(rng, 1, 2),
                              .vocabulary = random_between(rng, 30000, 160000),
                              .positions = random_chance(rng, 50) ? 8192 : 0,
                              .vocabulary_multiple = random_chance(rng, 50) ? 128 : 0,
                              .gated_ffn = random_chance(rng, 50),
                              .rms_norm = random_chance(rng, 50),
                              .qkv_bias = random_chance(rng, 50),
                              .linear_bias = random_chance(rng, 50),
                              .dropout = random_chance(rng, 50),
                              .tied_embeddings = random_chance(rng, 50)};
    m->runs[0] = (struct layer_run){
        .name = names[0], .kind = LAYER_EMBEDDING, .count = 1, .frozen = frozen_ends};
    for (int i = 1; i <= middle; i++) m->runs[i] = random_middle(rng, names[i]);
    m->runs[last] =
        (struct layer_run){.name = names[4], .kind = LAYER_HEAD, .count = 1, .frozen = frozen_ends};
    for (int i = 0; i <= last; i++) m->layer_count += m->runs[i].count;
    if (random_chance(rng, 50)) random_peculiarities(m, rng);
    struct random own = *rng;
    draw_adapters(m, random_bits(&own));
}

// ---- rules of linear attention, layers of one part

static struct linear_shape random_rule(struct random *own, int64_t heads)
{
    static const enum linear_rule rules[] = {LINEAR_DELTA,       LINEAR_STATE_SPACE,
                                             LINEAR_STATE_SPACE, LINEAR_LIGHTNING,
                                             LINEAR_CONVOLUTION, LINEAR_SCAN};
    struct linear_shape l = random_linear(own, heads);
    l.rule = rules[random_between(own, 0, 5)], l.no_norm = random_chance(own, 30);
    if (l.rule != LINEAR_DELTA) l.decay_rank = l.gate_rank = 0;
    if (l.rule == LINEAR_CONVOLUTION) l.key_heads = l.key_width = 0, l.convolution++;
    if (l.rule == LINEAR_SCAN) {
        l.key_heads = l.value_width = 1, l.value_heads *= 64, l.key_width /= 16;
        l.decay_rank = random_between(own, 1, 200);
    }
    return l;
}

void random_parts(struct model *m, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 41};
    struct shape *s = &m->shape;
    s->linear = random_rule(&own, s->kv_heads);
    for (int i = 0; i < m->run_count; i++) {
        struct layer_run *r = &m->runs[i];
        bool block = r->kind == LAYER_BLOCK, plain = !r->adapter_rank && !r->weight_bits;
        if ((!block && r->kind != LAYER_MOE) || !plain || r->cross_attention) continue;
        bool parts = !r->mtp && !r->shared_weights && !s->parallel_residual;
        r->linear = r->linear_beside = false;
        if (parts && random_chance(&own, 30)) {
            r->no_attention = true;
            r->window = r->chunk = r->bidirectional = false;
            continue;
        }
        r->no_feed_forward = parts && block && random_chance(&own, 40);
        if (!s->kv_rank && random_chance(&own, 30)) r->linear_beside = true;
        else if (!r->window && !r->chunk && !r->bidirectional) r->linear = random_chance(&own, 60);
    }
}

// ---- widths of their own

// Whether one of the runs before attends to keys of its own.
static bool makes_keys(const struct model *m, int end)
{
    for (int i = 0; i < end; i++) {
        const struct layer_run *r = &m->runs[i];
        if ((r->kind == LAYER_BLOCK || r->kind == LAYER_MOE) && !r->linear && !r->no_attention &&
            !r->tokens && !run_shape(m, r)->keys_reused)
            return true;
    }
    return false;
}

bool random_widths(struct model *m, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 53};
    struct shape *s = &m->shape;
    bool bare = !s->kv_rank && !s->gated_attention, drawn = false, causal = s->kv_rank > 0;
    for (int i = 0; i < m->run_count; i++) {
        struct layer_run *r = &m->runs[i];
        bool layer = r->kind == LAYER_BLOCK || r->kind == LAYER_MOE;
        if (layer && r->more_values && (seed + (uint64_t)i) % 2)
            r->more_products = r->more_values / (int64_t)(1 + seed % 3);
    }
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *r = &m->runs[i];
        causal = causal && !r->window && !r->chunk && !r->bidirectional && !r->cross_attention;
    }
    if (causal) {
        s->index_heads = random_between(&own, 1, 64), s->index_width = random_between(&own, 1, 160);
        s->index_top_k = random_between(&own, 1, 6000);
        return true;
    }
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *r = &m->runs[i];
        bare = bare && !r->adapter_rank && !r->weight_bits && !r->cross_attention && !r->shape;
    }
    if (!bare) return false;
    if (random_chance(&own, 20)) s->keys_as_values = true, drawn = true;
    else if (random_chance(&own, 50))
        s->value_width = 8 * random_between(&own, 1, 24), drawn = true;
    for (int i = 0; i < m->run_count; i++) {
        struct layer_run *r = &m->runs[i];
        if (r->kind != LAYER_MOE || r->mtp || random_chance(&own, 40)) continue;
        struct shape *other = TAKE(arena, 1, struct shape);
        *other = *s;
        other->vocabulary = other->embedding_width = other->vocabulary_multiple = 0;
        other->tied_embeddings = other->no_final_norm = false;
        other->heads *= random_between(&own, 1, 2);
        if (random_chance(&own, 50)) other->kv_heads = other->heads;
        if (random_chance(&own, 50)) other->head_width *= 2;
        other->keys_as_values = random_chance(&own, 20);
        other->keys_reused = !other->keys_as_values && (seed + (uint64_t)i) % 3 == 0 &&
                             makes_keys(m, i);
        other->value_width =
            !other->keys_as_values && random_chance(&own, 50) ? 16 * random_between(&own, 1, 9) : 0;
        r->shape = other, drawn = true;
    }
    return drawn;
}

// ---- bits

void quantise_frozen(struct model *m, uint64_t seed)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 17};
    for (int i = 0; i < m->run_count; i++) {
        struct layer_run *r = &m->runs[i];
        bool latent = r->kind == LAYER_MOE && m->shape.kv_rank;
        if (!r->frozen || r->kind == LAYER_BLOCK || latent || random_chance(&own, 40)) continue;
        r->weight_bits = random_chance(&own, 50) ? 4 : (int)random_between(&own, 1, 16);
    }
    if (m->shape.tied_embeddings) m->runs[m->run_count - 1].weight_bits = m->runs[0].weight_bits;
}

// ---- pools

static void keep_first_group(struct cluster *c)
{
    int kept = 0;
    for (int i = 0; i < c->link_count; i++)
        if (c->links[i].from == 0 && c->links[i].to == 0) c->links[kept++] = c->links[i];
    c->link_count = kept, c->group_count = 1;
}

bool share_pools(struct problem *p)
{
    const struct layer_run *first = NULL;
    for (int i = 0; i < p->model.run_count; i++) {
        struct layer_run *r = &p->model.runs[i];
        if (r->kind != LAYER_MEMORY) continue;
        if (!first) first = r;
        r->pool.values = first->pool.values, r->pool.width = first->pool.width;
        r->frozen = first->frozen, r->weight_bits = first->weight_bits, r->pool.shared = true;
    }
    if (!first) return false;
    keep_first_group(&p->cluster);
    p->job.layout.barrier = true;
    return true;
}

bool share_weights(struct problem *p)
{
    bool some = false;
    for (int i = 0; i < p->model.run_count; i++) {
        struct layer_run *r = &p->model.runs[i];
        r->shared_weights = r->kind == LAYER_BLOCK && !r->frozen;
        some = some || r->shared_weights;
    }
    if (!some) return false;
    keep_first_group(&p->cluster);
    p->job.layout.barrier = true, p->job.layout.zero = 0;
    return true;
}

bool predict_further(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 23};
    struct model *m = &p->model;
    int last = m->run_count - 1;
    if (last < 2) return false;
    struct layer_run *runs = TAKE(arena, last + 3, struct layer_run), *before = &m->runs[last - 1];
    bool block = before->kind == LAYER_BLOCK || before->kind == LAYER_MOE;
    if (!block || before->frozen || before->shared_weights || before->cross_attention ||
        before->bidirectional || before->shape || before->tokens ||
        m->runs[0].kind != LAYER_EMBEDDING || m->runs[0].frozen || m->runs[last].frozen ||
        p->job.trainer == TRAINER_DEEPSPEED)
        return false;
    for (int i = 0; i <= last; i++) runs[i] = m->runs[i];
    runs[last] = *before, runs[last].name = "further", runs[last].mtp = true;
    runs[last].more_values = 0, runs[last].count = (int)random_between(&own, 1, 3);
    int more = 1;
    if (before->kind == LAYER_MOE && random_chance(&own, 30)) {
        runs[last + 1] = runs[last], runs[last + 1].name = "further still", more = 2;
        runs[last + 1].kind = LAYER_BLOCK, runs[last + 1].experts = (struct expert_shape){0};
    }
    runs[last + more] = m->runs[last];
    for (int i = 0; i < more; i++) m->layer_count += runs[last + i].count;
    m->runs = runs, m->run_count += more;
    m->shape.positions = m->shape.embedding_width = 0;
    return true;
}

bool random_pools(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 11};
    struct model *m = &p->model;
    for (int i = 0; i < p->job.rule_count; i++)
        if (p->job.rules[i].group_count) return false;
    if (m->run_count != 3 || m->runs[1].kind != LAYER_BLOCK || m->runs[1].count < 2) return false;
    if (random_chance(&own, 30)) return share_weights(p);
    int64_t half = random_between(&own, 2, 24);
    struct layer_run *runs = TAKE(arena, 5, struct layer_run), block = m->runs[1];
    struct layer_run pool = {.name = "table",
                             .kind = LAYER_MEMORY,
                             .count = 1,
                             .frozen = random_chance(&own, 20),
                             .pool = {.values = half * half,
                                      .width = 4 * random_between(&own, 1, 4),
                                      .heads = random_between(&own, 1, 2),
                                      .key_width = 4,
                                      .top_k = random_between(&own, 1, 3),
                                      .gated = random_chance(&own, 50)}};
    int behind = block.count > 2 && random_chance(&own, 60) ? 2 : 1;
    runs[0] = m->runs[0], runs[1] = block, runs[2] = pool, runs[3] = pool, runs[4] = m->runs[2];
    runs[1].count = block.count - behind;
    runs[3].name = "second table";
    if (behind == 1) runs[3] = m->runs[2];
    m->runs = runs, m->run_count = 3 + behind;
    // If the pool is frozen, so is the embedding before it, so that no gradients go back to them.
    m->runs[0].frozen = pool.frozen && !m->shape.tied_embeddings;
    quantise_frozen(m, seed);
    if (random_chance(&own, 30)) share_weights(p);
    return share_pools(p);
}

bool random_pool_groups(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 37};
    struct layout *l = &p->job.layout;
    if (!random_pools(p, seed, arena)) return false;
    bool apart = random_chance(&own, 50);
    for (int i = 0; i < p->model.run_count; i++)
        p->model.runs[i].pool.shared = p->model.runs[i].kind == LAYER_MEMORY && !apart;
    if (random_chance(&own, 40)) l->zero = (int)random_between(&own, 0, 3);
    int64_t devices = layout_pool_devices(l, model_pool_span(&p->model)),
            group = random_between(&own, 1, 8);
    while (devices && devices % group) group--;
    if (devices) l->pool = (int)group;
    return devices > 0;
}

// ---- frozen blocks

bool random_frozen(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 19};
    struct model *m = &p->model;
    if (m->run_count != 3 || m->runs[1].kind != LAYER_BLOCK) return false;
    struct layer_run *runs = TAKE(arena, 4, struct layer_run);
    int frozen = random_chance(&own, 50) ? m->runs[1].count
                                         : (int)random_between(&own, 1, m->runs[1].count),
        left = m->runs[1].count - frozen, count = 0;
    runs[count++] = m->runs[0];
    runs[count] = m->runs[1];
    runs[count].count = frozen, runs[count].frozen = true;
    runs[count].weight_bits = random_chance(&own, 50) ? 4 : (int)random_between(&own, 1, 16);
    runs[count++].adapter_rank = random_chance(&own, 60) ? (int)random_between(&own, 1, 3) : 0;
    if (left) {
        runs[count] = m->runs[1];
        runs[count].name = "trained", runs[count++].count = left;
    }
    runs[count++] = m->runs[2];
    runs[0].frozen = !m->shape.tied_embeddings && random_chance(&own, 50);
    m->runs = runs, m->run_count = count;
    quantise_frozen(m, seed);
    draw_adapters(m, seed);
    return true;
}
