// Laws of tensor ranks, in one dimension and as grids: no pass is shorter than what its collectives
// move takes on the links of either level. Of grids: with one axis they equal the columns and rows
// of one dimension, term by term; for any grid, all ranks together do the work of one; and their
// all-reduces send what each product by itself requires, with the axes exchanged from one product
// to the next.
#include "data/kinds/schedules.h"
#include "formulate/price/pricing.h"
#include "tests/support/check.h"
#include "tests/support/draws/grids.h"
#include "tests/support/draws/models.h"

enum { PROBLEMS = 2000, NODE = 4 };

// One group of nodes of four, all numbers of links and rates drawn.
static void draw(struct problem *p, struct random *rng, struct arena *arena)
{
    static const char *const name = "G";
    *p = (struct problem){.name = "random"};
    random_model(&p->model, rng, arena);
    struct node_group *g = TAKE(arena, 1, struct node_group);
    struct nic *nic = TAKE(arena, 1, struct nic);
    struct gpu_costs *gpu = TAKE(arena, 1, struct gpu_costs);
    struct precision_costs *rates = TAKE(arena, 1, struct precision_costs);
    *nic = (struct nic){NIC_INFINIBAND, (int)random_between(rng, 1, 4), {25e9, 1e-5}};
    *g = (struct node_group){"first", name, 64, NODE, 80000000000, {300e9, 3e-6}, nic, 1, 0};
    *rates = (struct precision_costs){.precision = BF16, .gemm_flop_per_s = exactly(250e12)};
    rates->attention_flop_per_s = exactly(150e12);
    *gpu = (struct gpu_costs){.gpu = name, .precisions = rates, .precision_count = 1};
    gpu->memory_bytes_per_s = exactly(1.6e12);
    gpu->collective_launch_s = exactly(random_chance(rng, 50) ? 1e-5 : 0);
    p->cluster = (struct cluster){.name = "random", .groups = g, .group_count = 1};
    p->costs = (struct costs){.name = "random", .gpus = gpu, .gpu_count = 1};
    p->costs.intra_efficiency = exactly(0.75);
    p->costs.tensor_overlap = exactly(random_chance(rng, 50) ? 0.25 : 0);
    p->costs.network_efficiency[NIC_INFINIBAND] = exactly(0.8);
    p->costs.transfer_share[PART_LINK] = 1;
    p->job = (struct job){.name = "random",
                          .sequence = 128 * random_between(rng, 1, 16),
                          .precision = BF16,
                          .gradient_bytes_per_value = random_chance(rng, 50) ? 2 : 4,
                          .layout = {.tensor = (int)random_between(rng, 1, 6),
                                     .context = 1,
                                     .data = 1,
                                     LAYOUT_PLAIN(1),
                                     .micro_batch = (int)random_between(rng, 1, 3),
                                     .fused_attention = random_chance(rng, 50)},
                          .budget = {-1, -1, -1, 0},
                          .memory_fraction = 1};
    p->job.global_batch = p->job.layout.micro_batch;
    p->job.recompute[RECOMPUTE_NONE] = true;
    grids_fit(p);
}

static bool near(real a, real b) { return fabsl(a - b) <= 1e-16L * (fabsl(a) + fabsl(b)); }

static void check_near(const char *what, int name, real a, real b)
{
    if (!near(a, b)) fail_msg("problem %d: %s: %.20Lg and %.20Lg", name, what, a, b);
}

TEST(one_axis_is_one_dimension)
{
    struct random rng = {21};
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < PROBLEMS; i++, arena_reset(arena, mark)) {
        struct problem p;
        draw(&p, &rng, arena);
        struct pricing x = pricing_of(&p, NULL, arena);
        struct slice whole = slice_of(&x, 0);
        for (int r = 0; r < p.model.run_count; r++) {
            const struct layer_run *run = &p.model.runs[r];
            struct layer_talk talk;
            communication_of_layer(&x, run, 0, &whole, 0, &talk);
            struct grid_collectives grid = collectives_of_grid(&x, run, 0, &whole);
            check_near("forward", i, grid.forward_s, talk.forward_s);
            check_near("backward", i, grid.backward_s + grid.products_s, talk.backward_s);
            assert_true(grid.gather_s <= 0 && grid.gather_back_s <= 0 && grid.scatter_s <= 0);
        }
    }
}

// FLOP, values of matrices, and kept activations of heads and feed-forward part.
TEST(all_ranks_do_the_work_of_one)
{
    struct random rng = {22};
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < PROBLEMS; i++, arena_reset(arena, mark)) {
        struct problem p, alone;
        draw(&p, &rng, arena);
        grids_give(&p, &rng, 4);
        p.model.shape.vocabulary_multiple = 0, p.model.shape.plain_norms = true;
        p.model.shape.vocabulary *= p.job.layout.tensor; // of which each rank has whole rows
        p.model.shape.qkv_bias = p.model.shape.linear_bias = false;
        p.model.shape.output_bias = -1, p.model.shape.positions = 0;
        alone = p;
        alone.job.layout.tensor = 1;
        alone.job.layout.grid_depth = alone.job.layout.grid_rows = 0;
        struct pricing x = pricing_of(&p, NULL, arena), y = pricing_of(&alone, NULL, arena);
        struct slice part = slice_of(&x, 0), whole = slice_of(&y, 0);
        for (int r = 0; r < p.model.run_count; r++) {
            const struct layer_run *run = &p.model.runs[r];
            struct layer_work split = work_of_layer(&x, run, &part),
                              one = work_of_layer(&y, run, &whole);
            check_near("FLOP of matrices", i, x.t * split.linear, one.linear);
            // Each rank of axis 2 computes the same attention.
            check_near("FLOP of attention", i, x.t1 * x.t3 * split.attention, one.attention);
            struct layer_parameters few = parameters_of(&x, run), all = parameters_of(&y, run);
            real more = (real)run->more_values;
            check_near("values", i, x.t * (few.dense - more), all.dense - more);
        }
    }
}

// Bytes that a rank sends in an all-reduce of `bytes` over `ranks`.
static real sent(real bytes, real ranks) { return 2 * (ranks - 1) / ranks * bytes; }

// What each product by itself requires, in the order of the layer: [rank of the axis].
static void add_product(const struct pricing *x, bool turned, real columns, real depth,
                        real sums[2])
{
    real split[2] = {turned ? x->t2 : x->t1, turned ? x->t1 : x->t2}; // of columns, of depth
    real outputs = x->n * columns / split[0] * x->e, inputs = x->n * depth / split[1] * x->e;
    sums[0] += sent(outputs, split[1]);
    sums[1] += sent(inputs, split[0]);
}

TEST(each_product_is_summed_over_its_depth)
{
    struct random rng = {23};
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < PROBLEMS; i++, arena_reset(arena, mark)) {
        struct problem p;
        draw(&p, &rng, arena);
        grids_give(&p, &rng, 4);
        // One rate everywhere, and nothing else.
        p.cluster.groups[0].gpus_per_node = 1 << 10;
        p.cluster.groups[0].intra.latency_s = 0;
        p.costs.gpus[0].collective_launch_s.value = p.costs.tensor_overlap.value = 0;
        p.model.shape.parallel_residual = false;
        struct pricing x = pricing_of(&p, NULL, arena);
        struct slice whole = slice_of(&x, 0);
        real rate = link_of_tensor_axis(&x, 0, 0).bytes_per_s;
        for (int r = 0; r < p.model.run_count; r++) {
            const struct layer_run *run = &p.model.runs[r];
            real sums[2] = {0, 0}, norm = sent((p.model.shape.rms_norm ? 4 : 8) * x.n, x.t2);
            if (run->kind != LAYER_BLOCK) continue;
            add_product(&x, false, x.q + 2 * x.kv, x.h, sums);
            add_product(&x, true, x.h, x.q, sums);
            add_product(&x, false, (x.g - 1) * x.f, x.h, sums);
            add_product(&x, true, x.h, x.f, sums);
            struct grid_collectives grid = collectives_of_grid(&x, run, 0, &whole);
            check_near("sums forward", i, grid.forward_s * rate,
                       sums[0] + norms_of(&x, run) * norm);
            check_near("sums of inputs' gradients", i, grid.products_s * rate, sums[1]);
            check_near("norms backward", i, grid.backward_s * rate, norms_of(&x, run) * norm);
            real matrices = (x.h * (x.q + 2 * x.kv) + x.q * x.h + x.g * x.h * x.f) / x.t;
            check_near("gathers", i, grid.gather_s * rate, (x.t3 - 1) * matrices * x.e);
            check_near("scatters", i, grid.scatter_s * rate, (x.t3 - 1) * matrices * x.e_g);
        }
    }
}

// In nodes of four: how many rings of an axis leave a node, by the rate that each is left.
TEST(axes_lie_on_levels)
{
    static const struct {
        int axes[3], streams[3]; // 0: within the node
    } cases[] = {{{4, 2, 2}, {0, 4, 4}}, {{2, 2, 2}, {0, 0, 4}}, {{1, 8, 2}, {0, 1, 4}},
                 {{8, 2, 1}, {1, 4, 4}}, {{2, 4, 1}, {0, 2, 4}}, {{1, 2, 4}, {0, 0, 2}}};
    struct random rng = {24};
    struct problem p;
    draw(&p, &rng, arena);
    p.cluster.groups[0].intra.bytes_per_s = 1e15;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        const int *axes = cases[i].axes;
        struct layout *l = &p.job.layout;
        l->tensor = axes[0] * axes[1] * axes[2], l->grid_depth = axes[1], l->grid_rows = axes[2];
        struct pricing x = pricing_of(&p, NULL, arena);
        const struct nic *nic = p.cluster.groups[0].nics;
        for (int axis = 0; axis < 3; axis++) {
            struct link_price link = link_of_tensor_axis(&x, 0, axis);
            if (axes[axis] == 1) continue;
            assert_int_equal(link.intra, cases[i].streams[axis] == 0);
            if (!link.intra)
                check_near("rate", (int)i, link.bytes_per_s * cases[i].streams[axis],
                           nic->count * (real)nic->link.bytes_per_s * 0.8);
        }
    }
}

// One change of a grid, and what it may not make longer or larger: the passes of a layer, its step,
// what it keeps of a micro-batch, what it needs while it runs.
struct costs_of_layer {
    real passes, step, stash, working;
};

static struct costs_of_layer costs_of(const struct problem *p, const struct layer_run *run,
                                      struct arena *arena)
{
    struct pricing x = pricing_of(p, NULL, arena);
    struct layer_seconds s = seconds_of_layer(&x, run, 0, 0);
    struct layer_bytes b = bytes_of_layer(&x, run);
    return (struct costs_of_layer){s.forward + s.backward + s.weight, grid_step_s(&x, run, 0),
                                   b.stash[RECOMPUTE_NONE],
                                   b.working[RECOMPUTE_NONE] + b.unsharded};
}

static void no_more(const char *what, int name, real found, real than)
{
    if (found > than * (1 + 1e-15L))
        fail_msg("problem %d: %s: %Lg, before %Lg", name, what, found, than);
}

// However much computation there is to hide them, collectives of one rank take turns.
static void longer_than_collectives(const struct problem *p, const struct layer_run *run, int name,
                                    struct arena *arena)
{
    struct pricing x = pricing_of(p, NULL, arena);
    struct slice whole = slice_of(&x, 0);
    struct layer_seconds s = seconds_of_layer(&x, run, 0, 0);
    struct grid_collectives g = collectives_of_grid(&x, run, 0, &whole);
    no_more("collectives of a forward pass", name, g.forward_s + g.gather_s, s.forward);
    no_more("collectives of a backward pass", name,
            g.backward_s + g.products_s + g.gather_back_s + g.scatter_s, s.backward);
}

TEST(decisions_of_grids_only_help_what_they_are_for)
{
    struct random rng = {25};
    struct arena_mark mark = arena_set_mark(arena);
    for (int i = 0; i < PROBLEMS; i++, arena_reset(arena, mark)) {
        struct problem p, other;
        draw(&p, &rng, arena);
        p.job.gradient_bytes_per_value = 4, p.costs.overlap_slowdown = exactly(0.3);
        grids_give(&p, &rng, 4);
        struct layout *l = &p.job.layout;
        l->grid_order = (int)random_between(&rng, 0, 5);
        for (int r = 0; r < p.model.run_count; r++) {
            const struct layer_run *run = &p.model.runs[r];
            struct costs_of_layer base = costs_of(&p, run, arena), now;
            other = p, other.job.overlapped_tensor = true;
            now = costs_of(&other, run, arena);
            no_more("overlapped passes", i, now.passes, base.passes);
            longer_than_collectives(&other, run, i, arena);
            other = p, other.job.layout.sequence_parallel = true;
            now = costs_of(&other, run, arena);
            no_more("passes of scattered tokens", i, now.passes, base.passes);
            no_more("what they keep", i, now.stash, base.stash);
            if (l->grid_rows == 1) continue;
            struct costs_of_layer last = base;
            for (int how = GRID_EACH_MICRO_BATCH; how <= GRID_EACH_STEP; how++, last = now) {
                other = p, other.job.layout.grid_gathers = (enum grid_gathers)how;
                now = costs_of(&other, run, arena);
                no_more("passes of kept matrices", i, now.passes, last.passes);
                no_more("memory without them", i, last.working, now.working);
                // Each gather is once, wherever: with as many passes forward as backward. (Of sums
                // that are said to hide, more can hide in a pass that also gathers elsewhere.)
                real once = now.passes + (how == GRID_EACH_STEP ? now.step : 0);
                if (p.costs.tensor_overlap.value > 0) continue;
                no_more("gathers of one micro-batch", i, once, base.passes);
            }
        }
        // In one node every order is the same.
        other = p, other.cluster.groups[0].gpus_per_node = 1 << 10;
        for (int r = 0; r < p.model.run_count; r++) {
            other.job.layout.grid_order = l->grid_order;
            real own = costs_of(&other, &p.model.runs[r], arena).passes;
            other.job.layout.grid_order = 0;
            check_near("orders in a node", i, own,
                       costs_of(&other, &p.model.runs[r], arena).passes);
        }
    }
}

// ---- no link does more than it can

enum { WITHIN, BETWEEN }; // nodes

struct links_work {
    real seconds[2];
};

// What a stream gets of a node's links, or of its cards when so many streams leave it.
static real rate_within(void) { return 300e9L * 0.75; }

static real rate_between(const struct problem *p, real streams, bool one_card)
{
    const struct nic *nic = p->cluster.groups[0].nics;
    real all = nic->count * 25e9L * 0.8;
    streams = streams < NODE ? streams : NODE;
    return all / (one_card && streams < nic->count ? nic->count : streams);
}

// `bytes` that each of `ranks` ranks sends, `apart` in the order of ranks, with as many rings side
// by side as `streams`.
static void add_ring(struct links_work *w, const struct problem *p, real bytes, real ranks,
                     real apart, real streams, bool one_card)
{
    if (ranks <= 1) return;
    real leaving = fminl(rate_between(p, streams, one_card), rate_within());
    if (ranks * apart <= NODE) w->seconds[WITHIN] += bytes / rate_within();
    else w->seconds[BETWEEN] += bytes / leaving;
}

static void add_tensor(struct links_work *w, const struct pricing *x, const struct layer_run *run,
                       bool back)
{
    const struct problem *p = x->problem;
    real own = sent(x->n * x->h * x->e, x->t), sums = x->shape->parallel_residual ? 1 : 2;
    if (run->kind == LAYER_BLOCK) add_ring(w, p, sums * own, x->t, 1, 1, false);
    else if ((run->kind == LAYER_HEAD) == back) add_ring(w, p, own, x->t, 1, 1, false);
    if (run->kind == LAYER_BLOCK)
        add_ring(w, p, (back ? 2 : 1) * (x->c - 1) * x->n * 2 * x->kv / x->t * x->e, x->c, x->t,
                 x->t, true);
}

static void add_axes(struct links_work *w, const struct pricing *x, const struct layer_run *run,
                     bool back)
{
    real lengths[] = {x->t1, x->t2, x->t3}, sums[2] = {0, 0}, bytes[3] = {0};
    if (run->kind == LAYER_BLOCK) {
        add_product(x, false, x->q + 2 * x->kv, x->h, sums);
        add_product(x, false, (x->g - 1) * x->f, x->h, sums);
        real first = sums[0], second = sums[1]; // outputs over axis 2, inputs' gradients over 1
        sums[0] = sums[1] = 0;
        add_product(x, true, x->h, x->q, sums);
        add_product(x, true, x->h, x->f, sums);
        bytes[0] = back ? second : sums[0], bytes[1] = back ? sums[1] : first;
        if (x->shape->parallel_residual) bytes[0] = 0;
        real matrices = (x->h * (x->q + 2 * x->kv) + x->q * x->h + x->g * x->h * x->f) / x->t;
        bytes[2] = (x->t3 - 1) * matrices * (back ? x->e + x->e_g : x->e);
    }
    for (int axis = 0; axis < 3; axis++) {
        real apart = layout_axis_stride(&x->problem->job.layout, axis);
        add_ring(w, x->problem, bytes[axis], lengths[axis], apart, apart, false);
    }
}

// Rings of replicas that leave a node with several of their ranks pass through it, too.
static void add_replicas(struct links_work *w, const struct pricing *x, const struct layer_run *run,
                         bool back)
{
    struct layer_parameters own = parameters_of(x, run);
    real bytes = (x->zero == 3 ? x->e : 0) + (back ? x->e_w : 0);
    bytes *= own.dense * (x->R - 1) / x->R;
    add_ring(w, x->problem, bytes, x->R, x->t, x->t, false);
    if (x->R * x->t > NODE && x->t < NODE) w->seconds[WITHIN] += bytes / rate_within();
}

static void draw_shared(struct problem *p, struct random *rng, struct arena *arena)
{
    static const real hidden[] = {0, 0.25, 1};
    draw(p, rng, arena);
    struct layout *l = &p->job.layout;
    bool grid = random_chance(rng, 50);
    l->tensor = 1 << random_between(rng, 0, 3);
    if (grid) grids_give(p, rng, 4);
    else l->context = 1 << random_between(rng, 0, 1);
    p->model.shape.heads *= 8, p->model.shape.kv_heads *= 8;
    l->data = 1 << random_between(rng, grid ? 1 : 0, 4);
    p->job.global_batch *= l->data;
    l->zero = (int)random_between(rng, 2, 3);
    l->gradient_sync = SYNC_OVERLAPPED;
    l->sequence_parallel = !grid && random_chance(rng, 50);
    if (random_chance(rng, 30)) l->schedule = SCHEDULE_ZB_H1;
    p->job.overlapped_tensor = random_chance(rng, 50);
    p->costs.overlap_slowdown = exactly(random_chance(rng, 50) ? 0.3 : 0);
    p->costs.context_overlap = exactly(random_chance(rng, 50) ? 1 : 0);
    p->costs.tensor_overlap = exactly((double)hidden[random_between(rng, 0, 2)]);
    p->cluster.groups[0].intra.latency_s = p->cluster.groups[0].nics[0].link.latency_s = 0;
    p->costs.gpus[0].collective_launch_s = exactly(0);
    if (random_chance(rng, 50)) p->cluster.groups[0].nics[0].count *= 8; // nearly as fast as inside
}

// The passes of a layer forward, and of all that follows.
static void passes_at(const struct problem *p, const struct layer_run *run, real passes[2],
                      struct arena *arena)
{
    struct pricing x = pricing_of(p, NULL, arena);
    struct layer_seconds s = seconds_of_layer(&x, run, 0, 0);
    passes[0] = s.forward, passes[1] = s.backward + s.weight;
}

TEST(no_pass_is_shorter_than_the_work_of_its_links)
{
    struct random rng = {26};
    struct arena_mark mark = arena_set_mark(arena);
    int tight[2] = {0, 0}, passes = 0;
    for (int i = 0; i < PROBLEMS; i++, arena_reset(arena, mark)) {
        struct problem p, other;
        draw_shared(&p, &rng, arena);
        struct pricing x = pricing_of(&p, NULL, arena);
        for (int r = 0; r < p.model.run_count; r++) {
            const struct layer_run *run = &p.model.runs[r];
            real found[2], compute[2], exposed[2];
            passes_at(&p, run, found, arena);
            struct node_group near = p.cluster.groups[0];
            other = p, near.gpus_per_node = 1 << 20, near.intra.bytes_per_s = 1e30;
            other.cluster.groups = &near;
            passes_at(&other, run, compute, arena);
            other = p, other.job.layout.gradient_sync = SYNC_EXPOSED;
            passes_at(&other, run, exposed, arena);
            for (int back = 0; back < 2; back++, passes++) {
                struct links_work w = {{0, 0}};
                if (x.grid) add_axes(&w, &x, run, back);
                else add_tensor(&w, &x, run, back);
                add_replicas(&w, &x, run, back);
                no_more("computation", i, compute[back], found[back]);
                no_more("beside each other", i, found[back], exposed[back]);
                for (int level = 0; level < 2; level++) {
                    no_more(level ? "links between nodes" : "links within nodes", i,
                            w.seconds[level], found[back]);
                    tight[level] += w.seconds[level] > 0.99L * found[back];
                }
            }
        }
    }
    printf("grids: of %d passes %d as long as the links within nodes work, %d those between\n",
           passes, tight[0], tight[1]);
    assert_true(tight[0] > 20 && tight[1] > 200);
}
