// Communication of tensor ranks that form a grid, as the judge prices it (docs/FORMULAS.md,
// section 20).
#include "solve/judge/price/passes.h"

struct axis {
    const struct price_audit *a;
    int group;
    int64_t ranks;
    struct joint link;
    const struct collective_times *table;
};

// For each order of the axes, those that are further inside than each, bits.
static const unsigned further_inside[][3] = {
    {0, 1, 1 + 2}, {0, 1 + 4, 1}, {2, 0, 1 + 2}, // 1-2-3, 1-3-2, 2-1-3
    {2 + 4, 0, 2}, {4, 1 + 4, 0}, {2 + 4, 4, 0}, // 2-3-1, 3-1-2, 3-2-1
};

// Ranks of the innermost axis are neighbours; those of another axis are as far apart as the product
// of the axes inside it. Tables describe rings that have the network to themselves.
static struct axis axis_at(const struct price_audit *a, int group, int number)
{
    const struct layout *l = layout_of(a);
    const int64_t lengths[] = {l->tensor / ((int64_t)l->grid_depth * l->grid_rows), l->grid_depth,
                               l->grid_rows};
    int64_t apart = 1;
    for (int i = 0; i < 3; i++)
        if (further_inside[l->grid_order][number] >> i & 1) apart *= lengths[i];
    bool shared = apart > 1 && a->problem->cluster.groups[group].gpus_per_node > 1;
    struct axis x = {a, group, lengths[number], judged_axis_link(a, group, apart, lengths[number]),
                     NULL};
    if (!shared || x.link.inside) x.table = judged_table(a, group, x.link, x.ranks, false);
    return x;
}

// parts: of the two that an all-reduce has.
static void say(long double *seconds, struct talk *lost, struct on_links *held,
                const struct axis *x, long double bytes, int parts)
{
    if (x->ranks == 1) return;
    struct computed all = {judged_all_reduce_s(x->link, bytes, x->ranks), 0};
    if (x->table && bytes > 0) all = judged_table_s(x->a, x->table, bytes);
    else if (!x->table && judged_by_nodes(x->a, x->group, x->link))
        all = judged_nodes_s(x->a, x->group, x->link, bytes, x->ranks);
    long double shown = 1 - (long double)x->a->problem->costs.tensor_overlap.value;
    long double whole = all.value / 2 * parts + gpu_of(x->a, x->group)->collective_launch_s.value;
    *seconds += shown * whole;
    judged_hold(held, x->link, whole);
    lost->lost_s += shown * all.lost;
}

long double gathered_matrices(const struct price_audit *a, int run)
{
    const struct shape *s = &a->problem->model.shape;
    long double all = is_layered(a, run) ? matrix_values(a, s->ffn)
                                         : a->vocabulary * (long double)s->hidden;
    return all / a->outer / a->inner;
}

bool keeps_gathered_matrices(const struct price_audit *a, int run)
{
    switch (layout_of(a)->grid_gathers) {
    case GRID_EACH_PASS: return false;
    case GRID_EACH_MICRO_BATCH: return run_of(a, run)->kind != LAYER_EMBEDDING;
    case GRID_EACH_STEP: return true;
    }
    return false;
}

struct computed gathered_after_step(const struct price_audit *a, int run, int group)
{
    struct computed gather = {0, 0};
    struct talk talk = {0};
    if (!a->gridded || layout_of(a)->grid_gathers != GRID_EACH_STEP) return gather;
    struct axis third = axis_at(a, group, 2);
    say(&gather.value, &talk, &talk.ahead, &third, a->value_bytes * gathered_matrices(a, run), 1);
    gather.lost = talk.lost_s;
    return gather;
}

// Scattered tokens are divided among the ranks of the first axis.
static void say_norms(struct talk *t, const struct axis *depth, long double tokens, int norms)
{
    int sums = depth->a->problem->model.shape.rms_norm ? 1 : 2; // of squares, of values
    if (layout_of(depth->a)->sequence_parallel) tokens /= depth->a->outer;
    for (int i = 0; i < norms; i++) {
        say(&t->forward_s, t, &t->ahead, depth, 4 * sums * tokens, 2);
        say(&t->backward_s, t, &t->back, depth, 4 * sums * tokens, 2);
    }
}

// Products come in pairs. The first one's outputs are summed over the second axis and its input
// gradients over the first; for the second product it is the other way round.
static void say_block(struct grid_talk *g, const struct price_audit *a, const struct axis *first,
                      const struct axis *second, long double tokens)
{
    struct talk *t = &g->pass;
    const struct shape *s = &a->problem->model.shape;
    long double e = a->value_bytes, of_token = tokens * s->hidden / a->inner * e,
                each = tokens * e / a->outer;
    int apart = s->parallel_residual ? 1 : 2;
    say(&t->forward_s, t, &t->ahead, second, each * (a->query + 2 * a->key), 2);
    say(&t->forward_s, t, &t->ahead, second, each * (a->gates - 1) * s->ffn, 2);
    say(&g->products_s, t, &t->back, second, each * a->query, 2);
    say(&g->products_s, t, &t->back, second, each * s->ffn, 2);
    for (int i = 0; i < apart; i++) {
        say(&t->forward_s, t, &t->ahead, first, of_token, 2);
        say(&g->products_s, t, &t->back, first, of_token, 2);
    }
}

struct grid_talk grid_talk_of(const struct price_audit *a, int run, int group, struct piece slice)
{
    const struct layer_run *r = run_of(a, run);
    const struct shape *s = &a->problem->model.shape;
    struct axis first = axis_at(a, group, 0), second = axis_at(a, group, 1),
                third = axis_at(a, group, 2);
    struct grid_talk g = {.gather_s = 0};
    long double e = a->value_bytes, n = slice.tokens, matrices = gathered_matrices(a, run),
                of_token = n * s->hidden / a->inner * e;
    enum grid_gathers how = layout_of(a)->grid_gathers;
    if (how != GRID_EACH_STEP) say(&g.gather_s, &g.pass, &g.gathered, &third, e * matrices, 1);
    say(&g.scatter_s, &g.pass, &g.scattered, &third,
        a->problem->job.gradient_bytes_per_value * matrices, 1);
    if (r->kind == LAYER_EMBEDDING) {
        say(&g.pass.forward_s, &g.pass, &g.pass.ahead, &first, of_token, 2);
        return g;
    }
    if (how == GRID_EACH_PASS) g.gather_back_s = g.gather_s, g.gathered_back = g.gathered;
    if (is_layered(a, run)) {
        say_norms(&g.pass, &second, n, judged_norms(a, r));
        say_block(&g, a, &first, &second, n);
        return g;
    }
    say_norms(&g.pass, &second, n, s->no_final_norm ? 0 : 1);
    say(&g.pass.forward_s, &g.pass, &g.pass.ahead, &second, n * a->vocabulary / a->outer * e, 2);
    for (int i = 0; i < 3; i++) say(&g.pass.forward_s, &g.pass, &g.pass.ahead, &first, 4 * n, 2);
    say(&g.products_s, &g.pass, &g.pass.back, &first, of_token, 2);
    return g;
}
