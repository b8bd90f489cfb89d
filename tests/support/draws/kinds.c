// Random problems whose layers are of a few kinds: as priced documents, and as documents.
#include "data/kinds/schedules.h"
#include "tests/support/draws/kinds.h"

#include <string.h>

#include "data/base/least.h"

#include "tests/support/random_priced.h"

enum { KINDS = 3, SEGMENTS = 6 };

static int below(uint64_t *state, int n) { return (int)random_less(state, n); }

// ---- kinds of layers

// Prices of a slice or a group are mostly the same, so that what a plan may choose leaves no room.
static int64_t *passes(const struct priced *p, int64_t most, uint64_t *state, struct arena *arena)
{
    int count = p->slice_count * p->group_count;
    int64_t *values = TAKE(arena, count, int64_t);
    for (int i = 0; i < count; i++) {
        values[i] = random_less(state, most + 1);
        if (i && below(state, 4)) values[i] = values[i % p->group_count ? i - 1 : 0];
    }
    return values;
}

static int64_t some(uint64_t *state, int64_t most)
{
    return below(state, 3) ? random_less(state, most + 1) : 0;
}

// How the kinds differ: in anything; the others have next to nothing to keep and to recompute; they
// have as much to keep, and recompute in little time.
enum contrast { CONTRAST_ANY, CONTRAST_APART, CONTRAST_CHEAP };

// Options leave the weights where they are; a kind's are its own.
static void keep_weights(struct priced_run *run, struct arena *arena)
{
    struct priced_tiered *own = TAKE(arena, run->tiered_count + 1, struct priced_tiered);
    for (int o = 0; o < run->tiered_count; o++)
        own[o] = run->tiered[o], own[o].weight_bytes = run->weight_bytes;
    if (!run->tiered) return;
    own[0].optimizer_bytes = run->optimizer_bytes;
    run->tiered = own;
}

// heavy: the kind of few layers, with much to keep and much to recompute.
static void draw_kind(struct priced *p, struct priced_run *run, bool heavy, enum contrast contrast,
                      uint64_t *state, struct arena *arena)
{
    static const int64_t factors[] = {1, 1, 8, 30};
    int64_t weight = 1 + below(state, heavy || below(state, 4) == 0 ? 30 : 3);
    run->recomputable = heavy ? below(state, 8) > 0 : below(state, 2);
    run->weight_bytes = some(state, 4), run->gradient_bytes = some(state, 3);
    keep_weights(run, arena);
    run->stash_bytes[0] = heavy ? 10 + below(state, 20) : some(state, below(state, 3) ? 3 : 20);
    run->stash_bytes[1] = below(state, 2) ? run->stash_bytes[0]
                                          : random_less(state, run->stash_bytes[0] + 1);
    run->stash_bytes[2] = random_less(state, run->stash_bytes[1] / (heavy ? 8 : 1) + 1);
    for (int mode = 0; mode < 3; mode++) run->working_bytes[mode] = some(state, heavy ? 6 : 2);
    run->forward_ns = passes(p, weight, state, arena);
    run->backward_ns = passes(p, 2 * weight, state, arena);
    run->again_ns[RECOMPUTE_FULL] =
        passes(p, factors[below(state, contrast ? 4 : 3)] * weight, state, arena);
    run->again_ns[RECOMPUTE_SELECTIVE] = below(state, 2) ? run->again_ns[RECOMPUTE_FULL]
                                                         : passes(p, weight, state, arena);
    if (!heavy && below(state, 2)) {
        run->sync_ns = TAKE(arena, p->gradient_option_count, int64_t *);
        for (int o = 0; o < p->gradient_option_count; o++)
            run->sync_ns[o] = TAKE(arena, p->group_count, int64_t);
    }
    if (contrast == CONTRAST_ANY) return;
    run->recomputable = heavy || contrast == CONTRAST_CHEAP;
    if (heavy) run->weight_bytes += 8, run->stash_bytes[0] += 20, run->optimizer_bytes = 0;
    else {
        run->weight_bytes = run->gradient_bytes = 0, run->optimizer_bytes = below(state, 2);
        for (int mode = 0; mode < 3; mode++) run->stash_bytes[mode] = run->working_bytes[mode] = 0;
    }
    keep_weights(run, arena);
    if (!heavy && contrast == CONTRAST_CHEAP)
        run->stash_bytes[0] = run->stash_bytes[1] = 30 + below(state, 20),
        run->again_ns[RECOMPUTE_FULL] = passes(p, 2, state, arena);
}

// Equal in the sum of slices, and not in each.
static void turn_slices(struct priced *p, struct priced_run *run, struct arena *arena)
{
    int64_t **prices[] = {&run->forward_ns, &run->backward_ns, &run->again_ns[RECOMPUTE_FULL],
                          &run->again_ns[RECOMPUTE_SELECTIVE]};
    for (size_t i = 0; i < ARRAY_LENGTH(prices); i++) {
        int64_t *values = TAKE(arena, p->slice_count * p->group_count, int64_t);
        for (int slice = 0; slice < p->slice_count; slice++)
            memcpy(values + slice * p->group_count,
                   *prices[i] + (slice + 1) % p->slice_count * p->group_count,
                   (size_t)p->group_count * sizeof *values);
        *prices[i] = values;
    }
}

// ---- layers

struct segments {
    int kind[SEGMENTS], count[SEGMENTS], used;
};

// A few layers of the first kind among the others.
static void draw_segments(struct segments *s, int kinds, int layers, bool few, uint64_t *state)
{
    int main = kinds == 1 ? layers : 1 + below(state, few || below(state, 2) ? 2 : layers);
    *s = (struct segments){.used = 0};
    for (int left = layers; left > 0 && s->used < SEGMENTS; s->used++) {
        int kind = below(state, kinds), count = 1 + below(state, kind ? left : 2);
        if (s->used == SEGMENTS - 1) count = left;
        if (kind == 0 && main < 1) kind = kinds - 1;
        if (kind == 0 && count > main) count = main;
        if (count > left) count = left;
        if (kind == 0) main -= count;
        s->kind[s->used] = kind, s->count[s->used] = count, left -= count;
    }
}

static void draw_layers(struct priced *p, enum contrast contrast, uint64_t *state,
                        struct arena *arena)
{
    struct segments s;
    struct priced_run kinds[KINDS], *base = p->runs;
    int bases = p->run_count, count = 1 + below(state, KINDS), at = 0;
    int layers = p->stage_count + below(state, p->stage_count > 4 ? 2 : 4);
    for (int k = 0; k < KINDS; k++) {
        kinds[k] = base[k % bases];
        draw_kind(p, &kinds[k], k == 0, contrast, state, arena);
    }
    draw_segments(&s, count, layers, contrast != CONTRAST_ANY, state);
    p->runs = TAKE(arena, SEGMENTS + 2, struct priced_run);
    if (below(state, 2)) p->runs[at] = base[0], p->runs[at++].count = 1;
    for (int i = 0; i < s.used; i++) {
        struct priced_run *run = &p->runs[at++];
        *run = kinds[s.kind[i]];
        run->count = s.count[i];
        if (p->slice_count > 1 && below(state, 3) == 0) turn_slices(p, run, arena);
    }
    if (below(state, 2)) p->runs[at] = base[bases - 1], p->runs[at++].count = 1;
    p->run_count = at, p->layer_count = 0;
    for (int r = 0; r < at; r++) {
        p->runs[r].name = arena_print(arena, "run%d", r);
        p->runs[r].cut = 0;
        p->layer_count += p->runs[r].count;
    }
}

// ---- everything else

static void clear(int64_t *prices, int count) { memset(prices, 0, (size_t)count * sizeof *prices); }

// What is not there leaves the rest alone on its paths.
static void clear_some(struct priced *p, uint64_t *state)
{
    int which = below(state, 1 << 5) | (below(state, 2) ? below(state, 1 << 5) : 0),
        links = p->slice_count * p->group_count * p->group_count * PART_COUNT;
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &p->runs[r];
        if (which & 1) clear(run->optimizer_ns, p->group_count);
        if (which & 2)
            for (int o = 0; o < p->gradient_option_count; o++)
                clear(run->sync_ns[o], p->group_count);
        if (which & 4) clear(run->weight_ns, p->group_count);
    }
    for (int g = 0; g < p->group_count; g++) {
        p->groups[g].excluded = NULL, p->groups[g].slots = p->rank_count;
        if (which & 2) clear(p->groups[g].sync_constant_ns, p->gradient_option_count);
    }
    for (int c = 0; c < p->cut_count; c++)
        for (int i = 0; i < links; i++) {
            int64_t *forward = &p->cuts[c].forward_ns[i];
            if (*forward == PRICE_NONE || which & 8) *forward = 0;
            for (int o = 0; o < p->boundary_option_count; o++) {
                int64_t *backward = &p->cuts[c].backward_ns[o][i];
                if (*backward == PRICE_NONE || which & 8) *backward = 0;
            }
        }
    for (int i = 0; i < p->group_count * p->group_count; i++)
        if (p->embedding_sync_ns[i] == PRICE_NONE || which & 16) p->embedding_sync_ns[i] = 0;
}

// Between what one layer of the heaviest kind needs recomputed, and what a few need kept.
static void draw_memory(struct priced *p, bool apart, uint64_t *state)
{
    int64_t held = p->micro_batches, low = 0, high = 0;
    if (!schedule_kinds[p->layout.schedule].holds_all && held > p->rank_count) held = p->rank_count;
    for (int r = 0; r < p->run_count; r++) {
        const struct priced_run *run = &p->runs[r];
        int64_t fixed = run->weight_bytes + run->gradient_bytes + run->optimizer_bytes,
                kept = fixed + held * run->stash_bytes[0] + run->working_bytes[0],
                least = fixed + held * run->stash_bytes[2];
        if (kept > high) high = kept, low = least;
    }
    for (int g = 0; g < p->group_count; g++) {
        int64_t room = low + random_less(state, larger(high - low, 0) + 2);
        if (!apart && below(state, 3) == 0) room += random_less(state, high + 1);
        if (below(state, 8) == 0) room = 1 << 20;
        p->groups[g].memory_limit_bytes = room + p->groups[g].constant_bytes +
                                          4 * p->layout.virtual_stages * p->cuts[0].message_bytes;
        if (g && below(state, 2)) p->groups[g].memory_limit_bytes = p->groups[0].memory_limit_bytes;
    }
}

// Up to six ranks of one stage.
static void draw_ranks(struct priced *p, bool apart, uint64_t *state)
{
    if (p->layout.virtual_stages > 1) return;
    int least = apart && below(state, 2) ? 4 : 1;
    p->stage_count = p->rank_count = p->layout.pipeline = least + below(state, 7 - least);
}

static void drop_options(struct priced *p)
{
    p->boundary_option_count = p->gradient_option_count = 1;
    for (int r = 0; r < p->run_count; r++) {
        struct priced_run *run = &p->runs[r];
        run->tiered_count = p->recompute[RECOMPUTE_SWAP]; // the first is the run as it is
        if (!run->tiered_count) run->tiered = NULL;
    }
}

void random_kinds(struct priced *p, int schedule, uint64_t *state, struct arena *arena)
{
    static const enum contrast contrasts[] = {CONTRAST_ANY, CONTRAST_ANY, CONTRAST_APART,
                                              CONTRAST_APART, CONTRAST_CHEAP};
    enum contrast contrast = contrasts[below(state, ARRAY_LENGTH(contrasts))];
    bool apart = contrast != CONTRAST_ANY;
    do random_priced_of(p, schedule, state, arena);
    while (p->groups[0].memory_limit_bytes > 1 << 20); // bytes as in life
    if (below(state, 3)) p->group_count = 1;
    p->rule_count = 0;
    p->budget = (struct quality_budget){-1, -1, -1, 0};
    draw_ranks(p, apart, state);
    if (below(state, apart ? 4 : 2)) p->micro_batches = 1;
    if (schedule_kinds[schedule].in_groups) p->micro_batches = p->rank_count;
    if (apart || below(state, 4)) drop_options(p);
    for (int mode = 1; mode < RECOMPUTE_SWAP; mode++) p->recompute[mode] = below(state, 3) == 0;
    p->recompute[RECOMPUTE_FULL] = below(state, 4) > 0;
    if (below(state, 4)) priced_without_swaps(p);
    if (apart) p->recompute[RECOMPUTE_SELECTIVE] = p->recompute[RECOMPUTE_FIRST_LAYERS] = false;
    if (p->layout.recompute && !p->recompute[p->layout.recompute - 1])
        p->layout.recompute = p->layout.recomputed_layers = 0;
    draw_layers(p, contrast, state, arena);
    clear_some(p, state);
    draw_memory(p, apart, state);
}

// ---- documents

struct document_draw {
    struct problem *p;
    struct random *rng;
    struct arena *arena;
    int layers;
    bool apart; // the kinds that are not heavy have next to nothing to keep and to recompute
};

static int64_t up_to(struct document_draw *d, int64_t most)
{
    return random_between(d->rng, 0, most);
}
static bool chance(struct document_draw *d, int percent) { return random_chance(d->rng, percent); }

static void draw_document_layout(struct document_draw *d)
{
    struct job *j = &d->p->job;
    struct layout *l = &j->layout;
    bool sliced = chance(d, 75);
    int ranks = (int)random_between(d->rng, d->apart ? 4 : 2, d->apart || chance(d, 60) ? 5 : 3);
    *j = (struct job){.name = "kinds", .document.path = "", .memory_fraction = 1};
    j->precision = FP32, j->gradient_bytes_per_value = 4;
    *l = (struct layout){.tensor = 1,
                         .context = 1,
                         .data = 1 + chance(d, 20),
                         LAYOUT_PLAIN(ranks),
                         .micro_batch = 1};
    l->barrier = chance(d, sliced ? 90 : 60);
    l->schedule = sliced          ? SCHEDULE_TOKEN_SLICED
                  : chance(d, 50) ? SCHEDULE_GPIPE
                                  : (int)up_to(d, SCHEDULE_KIND_COUNT - 1);
    l->virtual_stages = schedule_kinds[l->schedule].virtual_stages;
    if (!l->virtual_stages) l->virtual_stages = 2;
    if (l->virtual_stages > 1) l->pipeline = ranks = 2;
    l->gradient_sync = chance(d, 30) ? SYNC_OVERLAPPED : SYNC_EXPOSED;
    l->slice_count = schedule_kinds[l->schedule].slices ? 2 + chance(d, 40) : 1;
    j->sequence = 6;
    for (int i = 0; i < l->slice_count && l->slice_count > 1; i++)
        l->slices[i] = (int)j->sequence / l->slice_count;
    int micro_batches = schedule_kinds[l->schedule].in_groups ? ranks
                        : chance(d, d->apart ? 75 : 50)       ? 1
                                                              : (int)random_between(d->rng, 2, 4);
    j->global_batch = (int64_t)micro_batches * l->data;
    d->layers = ranks * l->virtual_stages + 1 + (int)up_to(d, l->virtual_stages > 1 ? 1 : 2);
    j->recompute[RECOMPUTE_NONE] = true, j->recompute[RECOMPUTE_FULL] = chance(d, 80);
    j->recompute[RECOMPUTE_SELECTIVE] = !d->apart && chance(d, 30);
    j->recompute[RECOMPUTE_FIRST_LAYERS] = !d->apart && chance(d, 30);
    j->budget = (struct quality_budget){-1, -1, -1, 0};
}

static void add_document_run(struct document_draw *d, const char *name, int kind, int count,
                             const struct measured_bytes *bytes)
{
    struct model *m = &d->p->model;
    m->runs[m->run_count++] =
        (struct layer_run){.name = name,
                           .kind = LAYER_MEASURED,
                           .count = count,
                           .recomputable = kind == 0 || (!d->apart && chance(d, 60)),
                           .measured = *bytes};
    m->layer_count += count;
}

static struct measured_bytes draw_document_bytes(struct document_draw *d, bool heavy)
{
    int64_t stash = heavy ? 1000 * random_between(d->rng, 10, 30) : 1000 * up_to(d, 3);
    struct measured_bytes m = {.weight_bytes = 1000 * up_to(d, heavy ? 4 : 1),
                               .gradient_bytes = chance(d, 30) ? 1000 * up_to(d, 4) : 0,
                               .boundary_bytes = 1 + 10 * up_to(d, 3)};
    if (d->apart && !heavy) return (struct measured_bytes){.boundary_bytes = 1 + 10 * up_to(d, 3)};
    if (d->apart) m.weight_bytes += 4000, stash += 20000;
    m.stash_bytes[RECOMPUTE_NONE] = stash;
    m.stash_bytes[RECOMPUTE_SELECTIVE] = chance(d, 50) ? stash : up_to(d, stash);
    m.stash_bytes[RECOMPUTE_FULL] = up_to(d, m.stash_bytes[RECOMPUTE_SELECTIVE] / (heavy ? 8 : 1));
    return m;
}

static void draw_document_times(struct document_draw *d, int run, int kind, const char *gpu)
{
    static const int64_t passes[KINDS + 1] = {1000, 1, 30, 40};
    const struct layer_run *r = &d->p->model.runs[run];
    int64_t forward = (d->apart && !kind ? 200 : 1) + up_to(d, passes[kind]),
            again = forward * (chance(d, 40) ? 1 : 10);
    struct costs *c = &d->p->costs;
    // Runs of one kind take the same time.
    for (int i = 0; i < c->layer_time_count && kind < KINDS; i++) {
        struct layer_time known = c->layer_times[i];
        if (known.run[0] != r->name[0] || known.gpu != gpu) continue;
        known.run = r->name;
        c->layer_times[c->layer_time_count++] = known;
        return;
    }
    c->layer_times[c->layer_time_count++] =
        (struct layer_time){.run = r->name,
                            .gpu = gpu,
                            .forward_s = (double)forward * 1e-6,
                            .backward_s = (double)(forward + up_to(d, forward)) * 1e-6,
                            .weight_s = (double)up_to(d, forward) * 1e-6,
                            .selective_s = (double)up_to(d, again) * 1e-6,
                            .full_s = (double)again * 1e-6,
                            .optimizer_s = chance(d, 20) ? (double)up_to(d, forward) * 1e-6 : 0};
}

static void draw_document_model(struct document_draw *d)
{
    static const char *const letters[KINDS] = {"a", "b", "c"};
    struct model *m = &d->p->model;
    struct measured_bytes bytes[KINDS], end = draw_document_bytes(d, false);
    struct segments s;
    bool first = chance(d, 50), last = chance(d, 50);
    *m = (struct model){.name = "kinds",
                        .document.path = "",
                        .runs = TAKE(d->arena, SEGMENTS + 2, struct layer_run)};
    for (int k = 0; k < KINDS; k++) bytes[k] = draw_document_bytes(d, k == 0);
    draw_segments(&s, 2 + chance(d, 30), d->layers - first - last, d->apart, &d->rng->state);
    if (first) add_document_run(d, "first", KINDS, 1, &end);
    for (int i = 0; i < s.used; i++)
        add_document_run(d, arena_print(d->arena, "%s%d", letters[s.kind[i]], i), s.kind[i],
                         s.count[i], &bytes[s.kind[i]]);
    if (last) add_document_run(d, "last", KINDS, 1, &end);
    // Equal layers are equal in this, too.
    for (int i = 0; i < m->run_count; i++)
        for (int k = 0; k < i; k++)
            if (m->runs[k].name[0] == m->runs[i].name[0])
                m->runs[i].recomputable = m->runs[k].recomputable;
}

// Between what one heavy layer needs recomputed, and what two of them need kept.
static void draw_document_memory(struct document_draw *d)
{
    const struct model *m = &d->p->model;
    int64_t low = 0, high = 0, micro_batches = d->p->job.global_batch / d->p->job.layout.data;
    for (int r = 0; r < m->run_count; r++) {
        const struct measured_bytes *b = &m->runs[r].measured;
        int64_t kept = b->weight_bytes + b->gradient_bytes + micro_batches * b->stash_bytes[0];
        if (kept <= high) continue;
        high = kept;
        low = b->weight_bytes + b->gradient_bytes + micro_batches * b->stash_bytes[RECOMPUTE_FULL];
    }
    for (int g = 0; g < d->p->cluster.group_count; g++)
        d->p->cluster.groups[g].memory_bytes =
            1 + low +
            (high > low ? up_to(d, (!d->apart && chance(d, 50) ? 2 : 1) * (high - low)) : 0);
}

static void draw_document_cluster(struct document_draw *d)
{
    struct cluster *c = &d->p->cluster;
    const struct layout *l = &d->p->job.layout;
    struct costs *costs = &d->p->costs;
    int groups = 1 + chance(d, 25), slots = l->pipeline * l->data;
    *c = (struct cluster){
        .name = "kinds", .document.path = "", .groups = TAKE(d->arena, groups, struct node_group)};
    c->links = TAKE(d->arena, groups * groups, struct group_link);
    *costs = (struct costs){
        .name = "kinds",
        .document.path = "",
        .intra_efficiency = exactly(1),
        .gpus = TAKE(d->arena, groups, struct gpu_costs),
        .layer_times = TAKE(d->arena, groups * d->p->model.run_count, struct layer_time)};
    for (int i = 0; i < NIC_KIND_COUNT; i++) costs->network_efficiency[i] = exactly(1);
    costs->transfer_share[up_to(d, PART_COUNT - 1)] = 1;
    struct link link = {1e9, chance(d, 50) ? 0 : 1e-6 * (double)up_to(d, d->apart ? 20 : 200)};
    for (int g = 0; g < groups; g++) {
        const char *name = g ? "second" : "first";
        c->groups[c->group_count++] =
            (struct node_group){.name = name,
                                .gpu = name,
                                .gpus_per_node = 1,
                                .nodes = g || groups == 1 ? slots - g * (slots / 2) : slots / 2,
                                .intra = link,
                                .nics = TAKE(d->arena, 1, struct nic)};
        costs->gpus[costs->gpu_count++] =
            (struct gpu_costs){.gpu = name,
                               .precisions = TAKE(d->arena, 1, struct precision_costs),
                               .memory_bytes_per_s = exactly(1e12),
                               .layer_overhead_s = exactly(0),
                               .constant_bytes = exactly(0),
                               .compression_overhead_s = exactly(0)};
    }
    for (int pair = 0; pair < groups * groups; pair++)
        c->links[c->link_count++] = (struct group_link){pair / groups, pair % groups, link};
}

void random_kinds_problem(struct problem *p, struct random *rng, struct arena *arena)
{
    struct document_draw d = {.p = p, .rng = rng, .arena = arena};
    *p = (struct problem){.name = "kinds", .document.path = ""};
    d.apart = chance(&d, 75);
    draw_document_layout(&d);
    draw_document_model(&d);
    draw_document_cluster(&d);
    for (int g = 0; g < p->cluster.group_count; g++)
        for (int r = 0; r < p->model.run_count; r++)
            draw_document_times(
                &d, r,
                p->model.runs[r].name[0] - 'a' < KINDS ? p->model.runs[r].name[0] - 'a' : KINDS,
                p->cluster.groups[g].gpu);
    draw_document_memory(&d);
}
