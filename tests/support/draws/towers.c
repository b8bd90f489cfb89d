// Random towers: patches, blocks of a shape of their own, a projector, before an embedding.
#include "data/kinds/schedules.h"
#include "tests/support/draws/models.h"
#include "tests/support/draws/towers.h"

static struct shape *draw_shape(const struct problem *p, struct random *rng, int scale,
                                struct arena *arena)
{
    struct shape *s = TAKE(arena, 1, struct shape);
    int64_t kv_heads = p->job.layout.tensor * random_between(rng, 1, 2),
            heads = kv_heads * random_between(rng, 1, 3);
    *s = (struct shape){.hidden = scale * random_between(rng, 2, 12),
                        .ffn = heads * scale * random_between(rng, 1, 6),
                        .heads = heads,
                        .kv_heads = kv_heads,
                        .head_width = 2 * random_between(rng, 1, 2 + scale),
                        .positions = random_chance(rng, 50) ? 1 << 20 : 0,
                        .norms = (int)random_between(rng, 0, 3),
                        .gated_ffn = random_chance(rng, 50),
                        .rms_norm = random_chance(rng, 50),
                        .plain_norms = random_chance(rng, 20),
                        .parallel_residual = random_chance(rng, 30),
                        .qkv_bias = random_chance(rng, 50),
                        .linear_bias = random_chance(rng, 50),
                        .output_bias = (int)random_between(rng, -1, 1),
                        .qk_norm = (enum qk_norm)random_between(rng, 0, 2),
                        .dropout = random_chance(rng, 50)};
    if (!random_chance(rng, 25)) return s;
    s->kv_heads = heads, s->qk_norm = QK_NORM_NONE, s->kv_rank = random_between(rng, 1, 4 * scale);
    s->query_rank = random_between(rng, 0, 2 * scale);
    s->rotary_width = random_between(rng, 0, 2), s->value_width = random_between(rng, 1, scale + 1);
    return s;
}

static struct layer_run projector(const char *name, int64_t inputs, int64_t outputs, bool frozen,
                                  int scale, const struct problem *p, struct random *rng)
{
    return (struct layer_run){.name = name,
                              .kind = LAYER_PROJECTOR,
                              .count = 1,
                              .frozen = frozen,
                              .more_values = random_chance(rng, 30) ? 77 : 0,
                              .projector = {inputs,
                                            random_chance(rng, 60) ? p->job.layout.tensor * scale *
                                                                         random_between(rng, 1, 4)
                                                                   : 0,
                                            outputs, random_chance(rng, 50)}};
}

static struct layer_run blocks(const struct shape *own, const struct model *m, bool frozen,
                               int scale, struct random *rng)
{
    const struct shape *s = own ? own : &m->shape;
    struct layer_run r = {.name = "tower",
                          .kind = LAYER_BLOCK,
                          .count = (int)random_between(rng, 1, 2 * scale),
                          .recomputable = random_chance(rng, 80),
                          .frozen = frozen,
                          .bidirectional = random_chance(rng, 60),
                          .shape = own};
    if (frozen && !s->kv_rank && random_chance(rng, 40)) r.weight_bits = 4;
    if (frozen && !s->kv_rank && random_chance(rng, 30))
        r.adapter_rank = (int)random_between(rng, 1, 3);
    if (!r.bidirectional && random_chance(rng, 40)) r.window = random_between(rng, 1, 8 * scale);
    if (!r.bidirectional && !r.window && random_chance(rng, 40))
        r.chunk = random_between(rng, 1, 8 * scale);
    return r;
}

// All of them of the same tokens, but that a projector may take several as one.
static void give_tokens(struct layer_run *runs, int count, struct random *rng, int scale)
{
    int64_t tokens = 4 * random_between(rng, 1, 2 * scale), pieces = random_between(rng, 1, 3);
    for (int i = 0; i < count; i++) {
        struct layer_run *r = &runs[i];
        r->tokens = tokens, r->pieces = pieces > 1 ? pieces : 0;
        if (i && r->kind == LAYER_PROJECTOR && random_chance(rng, 30))
            r->tokens /= 4, r->projector.inputs *= 4;
    }
}

// Nothing of a tied matrix is trained on both sides of a pipeline.
static void untie(struct problem *p, struct random *rng)
{
    struct model *m = &p->model;
    struct layer_run *head = &m->runs[m->run_count - 1];
    if (!m->shape.tied_embeddings || p->job.layout.pipeline == 1 || head->kind != LAYER_HEAD)
        return;
    if (random_chance(rng, 50)) m->shape.tied_embeddings = false;
    else m->runs[0].frozen = head->frozen = true;
}

static int draw_tower(struct layer_run to[3], struct problem *p, struct random *rng, int scale,
                      struct arena *arena)
{
    struct model *m = &p->model;
    const struct shape *own = random_chance(rng, 85) ? draw_shape(p, rng, scale, arena) : NULL;
    int64_t width = run_shape(m, &(struct layer_run){.shape = own})->hidden;
    bool frozen = random_chance(rng, 60),
         projects = width != m->shape.hidden || random_chance(rng, 50);
    int count = 0;
    if (random_chance(rng, 60))
        to[count++] =
            projector("patches", scale * random_between(rng, 1, 9), width, frozen, scale, p, rng);
    to[count++] = blocks(own, m, frozen, scale, rng);
    if (projects)
        to[count++] =
            projector("projector", width, m->shape.hidden, random_chance(rng, 20), scale, p, rng);
    give_tokens(to, count, rng, scale);
    return count;
}

static bool takes_tower(const struct problem *p)
{
    const struct model *m = &p->model;
    if (!m->has_shape || m->runs[0].kind != LAYER_EMBEDDING || p->job.layout.slice_count > 1 ||
        layout_has_grid(&p->job.layout))
        return false;
    return !schedule_kinds[p->job.layout.schedule].slices;
}

static void put_before(struct model *m, const struct layer_run *tower, int count,
                       struct arena *arena)
{
    struct layer_run *runs = TAKE(arena, m->run_count + count, struct layer_run);
    for (int i = 0; i < count; i++) runs[i] = tower[i], m->layer_count += tower[i].count;
    for (int i = 0; i < m->run_count; i++) {
        runs[count + i] = m->runs[i];
        runs[count + i].cross_attention = false;
    }
    m->runs = runs, m->run_count += count;
}

bool random_tower(struct problem *p, uint64_t seed, int scale, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 23};
    struct layer_run tower[3];
    if (!takes_tower(p)) return false;
    untie(p, &own);
    p->job.layout.context = 1;
    put_before(&p->model, tower, draw_tower(tower, p, &own, scale, arena), arena);
    draw_adapters(&p->model, seed);
    return true;
}

bool random_small_tower(struct problem *p, uint64_t seed, struct arena *arena)
{
    struct random own = {seed * 0x9e3779b97f4a7c15u + 29};
    struct layer_run tower[3];
    struct model *m = &p->model;
    for (int i = 0; i < p->job.rule_count; i++)
        if (p->job.rules[i].run) return false;
    if (!takes_tower(p) || m->run_count != 3 || m->runs[1].kind != LAYER_BLOCK ||
        p->job.layout.context > 1)
        return false;
    int count = draw_tower(tower, p, &own, 2, arena), left = m->runs[1].count, sum = 0;
    for (int i = 0; i < count; i++)
        sum += tower[i].count = tower[i].kind == LAYER_BLOCK && left > count ? tower[i].count : 1;
    while (sum > left - 1 && sum > count)
        for (int i = 0; i < count; i++)
            if (tower[i].count > 1) tower[i].count--, sum--;
    if (sum > left - 1) return false;
    untie(p, &own);
    if (random_chance(&own, 30)) m->runs[1].frozen = true; // a projector learns before it
    m->runs[1].count -= sum, m->layer_count -= sum;
    put_before(m, tower, count, arena);
    draw_adapters(m, seed);
    return true;
}
