// Collectives of tensor ranks that form a grid of three axes. For every other product the first
// axis splits the columns and the second the depth; for the remaining ones it is the other way
// round. The third axis splits the rows, and each of its ranks stores a part of each matrix.
// docs/FORMULAS.md section 20.

#include "formulate/price/pricing.h"

// The collectives of a layer along one axis.
struct axis_talk {
    const struct pricing *x;
    int group;
    real ranks;
    struct link_price link;
};

static struct axis_talk axis_of(const struct pricing *x, int group, int axis)
{
    const real ranks[] = {x->t1, x->t2, x->t3};
    return (struct axis_talk){x, group, ranks[axis], link_of_tensor_axis(x, group, axis)};
}

// part: 1 for an all-reduce, a half for a reduce-scatter or an all-gather.
static real collective_s(const struct axis_talk *t, real bytes, real part)
{
    if (t->ranks <= 1 || !is_at_level(t->x, &t->link)) return 0;
    return exposed_share(t->x) * (part * all_reduce_price_s(&t->link, bytes, t->ranks) +
                                  t->x->gpus[t->group]->collective_launch_s.value);
}

// Values of a layer's matrices on one device after the gather.
real grid_matrices(const struct pricing *x, const struct layer_run *run)
{
    real all = run->kind == LAYER_BLOCK ? attention_of(x, run).matrices.sharded + x->g * x->h * x->f
                                        : x->v * x->h;
    return all / (x->t1 * x->t2);
}

// An embedding has no second pass that would read what is kept of a micro-batch's first.
bool grid_keeps(const struct pricing *x, const struct layer_run *run)
{
    enum grid_gathers how = x->problem->job.layout.grid_gathers;
    return how == GRID_EACH_STEP || (how == GRID_EACH_MICRO_BATCH && run->kind != LAYER_EMBEDDING);
}

real grid_step_s(const struct pricing *x, const struct layer_run *run, int group)
{
    if (!x->grid || x->problem->job.layout.grid_gathers != GRID_EACH_STEP) return 0;
    struct axis_talk rows = axis_of(x, group, 2);
    return collective_s(&rows, x->e * grid_matrices(x, run), 0.5L);
}

// Sums over the values of a token that a norm needs: of their squares and, if it subtracts their
// mean, of the values. With sequence parallelism each rank of the first axis has a part of the
// tokens.
static real norm_s(const struct pricing *x, const struct axis_talk *depth, real tokens)
{
    real own = x->problem->job.layout.sequence_parallel ? tokens / x->t1 : tokens;
    return collective_s(depth, (x->shape->rms_norm ? 4 : 8) * own, 1);
}

static void block_talk(const struct pricing *x, const struct layer_run *run, real n,
                       const struct axis_talk *columns, const struct axis_talk *depth,
                       struct grid_collectives *to)
{
    real narrow = collective_s(columns, n * x->h / x->t2 * x->e, 1),
         norms = norms_of(x, run) * norm_s(x, depth, n);
    // With a parallel residual, both parts are summed before they are sent.
    real sums = x->shape->parallel_residual ? 1 : 2;
    to->forward_s = sums * narrow + norms +
                    collective_s(depth, n * (x->q + 2 * x->kv) / x->t1 * x->e, 1) +
                    collective_s(depth, n * (x->g - 1) * x->f / x->t1 * x->e, 1);
    to->backward_s = norms;
    to->products_s = sums * narrow + collective_s(depth, n * x->q / x->t1 * x->e, 1) +
                     collective_s(depth, n * x->f / x->t1 * x->e, 1);
}

struct grid_collectives collectives_of_grid(const struct pricing *x, const struct layer_run *run,
                                            int group, const struct slice *slice)
{
    struct axis_talk columns = axis_of(x, group, 0), depth = axis_of(x, group, 1),
                     rows = axis_of(x, group, 2);
    enum grid_gathers how = x->problem->job.layout.grid_gathers;
    real n = slice->tokens, matrices = grid_matrices(x, run),
         gather_s = collective_s(&rows, x->e * matrices, 0.5L);
    struct grid_collectives to = {.gather_s = how == GRID_EACH_STEP ? 0 : gather_s,
                                  .scatter_s = collective_s(&rows, x->e_g * matrices, 0.5L)};
    if (run->kind != LAYER_EMBEDDING && how == GRID_EACH_PASS) to.gather_back_s = gather_s;
    if (run->kind == LAYER_BLOCK) {
        block_talk(x, run, n, &columns, &depth, &to);
    } else if (run->kind == LAYER_EMBEDDING) {
        to.forward_s = collective_s(&columns, n * x->h / x->t2 * x->e, 1);
    } else {
        real norm = x->shape->no_final_norm ? 0 : norm_s(x, &depth, n);
        to.forward_s = norm + collective_s(&depth, n * x->v / x->t1 * x->e, 1) +
                       3 * collective_s(&columns, 4 * n, 1);
        to.backward_s = norm;
        to.products_s = collective_s(&columns, n * x->h / x->t2 * x->e, 1);
    }
    return to;
}
