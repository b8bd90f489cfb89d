// A sample states micro-batch, sequence, tensor and context degree. Its own shape, or the model,
// gives the rest, and pricing's own function gives the time of its kernels by the rates fitted so
// far. For blocks, time = factor x kernels + overhead is fitted if there are enough sizes and the
// overhead improves the prediction of what was left out. With one size, the factor is what remains
// after subtracting the kernels' overheads. Heads and embeddings only have a factor. Each of
// several shapes is one group: the differences between their factors show how far another shape's
// may be off.
#include "calibrate/calibrate.h"

#include <string.h>

#include "formulate/price/price.h"

static const double flop_tolerance = 1e-6;
static const double coverage = 0.95, least_share_left = 0.1;
static const char *const passes[] = {"forward", "backward", "backward selective", "backward full"};

// ---- which samples

static bool read_operation(const char *operation, enum layer_kind *kind, enum layer_pass *pass,
                           bool *graph)
{
    static const enum layer_kind kinds[] = {LAYER_EMBEDDING, LAYER_BLOCK, LAYER_HEAD};
    for (size_t k = 0; k < ARRAY_LENGTH(kinds); k++) {
        size_t length = strlen(layer_kind_names[kinds[k]]);
        if (strncmp(operation, layer_kind_names[kinds[k]], length) || operation[length] != ' ')
            continue;
        const char *rest = operation + length + 1;
        size_t words = strcspn(rest, ",");
        *graph = strstr(rest, ", graph") != NULL;
        for (int p = 0; p < LAYER_PASS_COUNT; p++) {
            if (words != strlen(passes[p]) || strncmp(rest, passes[p], words)) continue;
            *kind = kinds[k];
            *pass = (enum layer_pass)p;
            return true;
        }
    }
    return false;
}

static int find_run(const struct model *m, enum layer_kind kind)
{
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].kind == kind && !m->runs[i].frozen && !m->runs[i].shape &&
            !m->runs[i].tokens)
            return i;
    return -1;
}

// One node with as many devices as the degrees need.
static void make_problem(struct problem *p, struct node_group *group, const struct calibration *c,
                         const struct model *model, const struct sample *s, bool fused)
{
    *group = (struct node_group){.name = "measured",
                                 .gpu = c->gpu,
                                 .nodes = 1,
                                 .gpus_per_node = (int)(s->dimensions[2] * s->dimensions[3]),
                                 .memory_bytes = 1,
                                 .intra = {1e18, 0}};
    *p = (struct problem){.name = "a layer",
                          .model = *model,
                          .costs = c->costs,
                          .cluster = {.name = "one node", .groups = group, .group_count = 1}};
    p->job = (struct job){.sequence = s->dimensions[1],
                          .global_batch = s->dimensions[0],
                          .precision = s->precision,
                          .gradient_bytes_per_value = 4,
                          .layout = {.tensor = (int)s->dimensions[2],
                                     .context = (int)s->dimensions[3],
                                     .data = 1,
                                     .pipeline = 1,
                                     .virtual_stages = 1,
                                     .expert = 1,
                                     .micro_batch = (int)s->dimensions[0],
                                     .slice_count = 1,
                                     .sequence_parallel = s->sequence_parallel,
                                     .fused_attention = fused,
                                     .barrier = true}};
}

// FLOP of the pass as the samples count them: section 3's, including recomputation.
static double flop_of(const struct layer_kernels *k, enum layer_pass pass, double attention_flop,
                      double beta)
{
    double linear = k->forward_flop - attention_flop, backward = 2 * linear + beta * attention_flop;
    static const double again[LAYER_PASS_COUNT] = {0, 0, 0, 1};
    if (pass == LAYER_FORWARD) return k->forward_flop;
    return backward + again[pass] * k->forward_flop +
           (pass == LAYER_BACKWARD_SELECTIVE ? attention_flop : 0);
}

// Seconds of the pass's kernels; false: the sample is of another shape. Attention's FLOP follow
// from their definition.
static bool kernels_of(double *seconds, double *again_s, const struct calibration *c,
                       const struct model *model, const struct sample *s, enum layer_kind kind,
                       enum layer_pass pass)
{
    int run = find_run(model, kind);
    if (run < 0 || s->dimension_count < 4 || !model->has_shape) return false;
    for (int fused = 0; fused < 2; fused++) {
        struct problem problem;
        struct node_group group;
        struct layer_kernels k;
        make_problem(&problem, &group, c, model, s, fused);
        if (!price_layer_kernels(&k, &problem, run, 0)) return false;
        double scores = (double)s->dimensions[0] * (double)s->dimensions[1] *
                        (double)s->dimensions[1] / (double)s->dimensions[3];
        double width = (double)(model->shape.heads * model->shape.head_width) /
                       (double)s->dimensions[2];
        double attention = kind == LAYER_BLOCK ? 4 * scores * width * (fused ? 0.5 : 1) : 0;
        // An embedding has no FLOP: its rows identify the shape.
        double rows = 2 * (double)(s->dimensions[0] * s->dimensions[1] / s->dimensions[3] *
                                   model->shape.hidden * precision_bytes(s->precision));
        if (kind == LAYER_EMBEDDING &&
            !(fabs((pass == LAYER_FORWARD ? 1 : 2) * rows - s->bytes) <= flop_tolerance * s->bytes))
            continue;
        if (!(fabs(flop_of(&k, pass, attention, fused ? 2.5 : 2) - s->flop) <=
              flop_tolerance * s->flop))
            continue;
        *seconds = pass == LAYER_FORWARD ? k.forward_s : k.backward_s;
        *again_s = pass == LAYER_BACKWARD_SELECTIVE ? k.selective_s
                   : pass == LAYER_BACKWARD_FULL    ? k.forward_s
                                                    : 0;
        return true;
    }
    return false;
}

static bool is_layer(const struct sample *s, const void *unused)
{
    (void)unused;
    return s->kind == SAMPLE_LAYER;
}

static double no_work(const struct sample *s)
{
    (void)s;
    return 0;
}

// A model with nothing but the sample's shape.
static const struct model *model_of(const struct shape *shape, struct arena *arena)
{
    static struct layer_run runs[] = {
        {.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1},
        {.name = "block", .kind = LAYER_BLOCK, .count = 1},
        {.name = "head", .kind = LAYER_HEAD, .count = 1},
    };
    struct model *m = TAKE(arena, 1, struct model);
    *m = (struct model){.name = "a shape",
                        .has_shape = true,
                        .shape = *shape,
                        .runs = runs,
                        .run_count = ARRAY_LENGTH(runs),
                        .layer_count = ARRAY_LENGTH(runs)};
    return m;
}

static bool is_same_shape(const struct model *a, const struct model *b)
{
    return !sample_compare_shapes(&a->shape, &b->shape);
}

// The shape stated by the sample; without one, the model's if its FLOP agree.
static bool read_check(struct layer_check *k, const struct calibration *c,
                       const struct model *model, struct arena *arena)
{
    const struct shape *stated = k->sample->shape;
    k->model = stated ? model_of(stated, arena) : model;
    k->own = model && (!stated || is_same_shape(k->model, model));
    return k->model &&
           kernels_of(&k->point.work, &k->again_s, c, k->model, k->sample, k->kind, k->pass) &&
           k->point.work > 0;
}

// For kinds of layers with samples of the model's own shape, keeps only those.
static void keep_own(struct layer_fits *f)
{
    bool any[LAYER_KINDS_MEASURED] = {false};
    int all = f->check_count;
    f->check_count = 0;
    for (int i = 0; i < all; i++) any[f->checks[i].kind] |= f->checks[i].own;
    for (int i = 0; i < all; i++)
        if (f->checks[i].own || !any[f->checks[i].kind]) f->checks[f->check_count++] = f->checks[i];
    f->other_count += all - f->check_count;
}

static enum status take_checks(struct layer_fits *f, const struct calibration *c,
                               const struct model *model, struct arena *arena, struct error *err)
{
    struct fit_point *points;
    int count;
    bool plain = false, graph;
    TRY(inputs_points(&points, &count, c->inputs, is_layer, NULL, no_work, arena, err));
    f->checks = TAKE(arena, count, struct layer_check);
    f->loads = TAKE(arena, count, struct layer_check);
    for (int i = 0; i < count; i++) plain = plain || !strstr(points[i].operation, ", graph");
    for (int i = 0; i < count; i++) {
        bool load = points[i].sample->before == BEFORE_LOAD;
        struct layer_check *check = load ? &f->loads[f->load_count] : &f->checks[f->check_count];
        *check = (struct layer_check){.sample = points[i].sample, .point = points[i]};
        bool known = read_operation(points[i].operation, &check->kind, &check->pass, &graph) &&
                     graph != plain && read_check(check, c, model, arena);
        f->check_count += known && !load;
        f->load_count += known && load;
        f->other_count += !known;
    }
    keep_own(f);
    return OK;
}

// ---- factors

// The points of one pass, and the shape of each: a fit's folds are operations, which stand for
// shapes here.
struct group {
    struct fit_point *points;
    int count, shapes;
    bool own;
};

static struct group group_of(const struct layer_fits *f, enum layer_kind kind, enum layer_pass pass,
                             struct arena *arena)
{
    struct group g = {.points = TAKE(arena, f->check_count, struct fit_point)};
    const struct model **shapes = TAKE(arena, f->check_count, const struct model *);
    for (int i = 0; i < f->check_count; i++) {
        const struct layer_check *k = &f->checks[i];
        if (k->kind != kind || k->pass != pass) continue;
        int shape = 0;
        while (shape < g.shapes && !is_same_shape(shapes[shape], k->model)) shape++;
        if (shape == g.shapes) shapes[g.shapes++] = k->model;
        g.points[g.count] = k->point;
        g.points[g.count++].operation = arena_print(arena, "shape %d", shape);
        g.own = g.own || k->own;
    }
    return g;
}

// All points have one size: the part of the time not explained by the kernels' own overheads.
static void fit_ratio(struct pass_fit *to, const struct fit_point *points, int count,
                      double overhead_s, struct arena *arena)
{
    double *value = TAKE(arena, count, double), *low = TAKE(arena, count, double),
           *high = TAKE(arena, count, double);
    for (int i = 0; i < count; i++) {
        const struct fit_point *p = &points[i];
        double left = least_share_left;
        value[i] = fmax(p->seconds - overhead_s, left * p->seconds) / p->work;
        low[i] = fmax(p->low - overhead_s, left * p->low) / p->work;
        high[i] = fmax(p->high - overhead_s, left * p->high) / p->work;
    }
    to->factor =
        (struct interval){median_of(value, count), median_of(low, count), median_of(high, count)};
    to->factor.low = fmin(to->factor.low, to->factor.value),
    to->factor.high = fmax(to->factor.high, to->factor.value);
}

// 95 % error of another shape's factor: Student's t on the scatter of the shapes' medians, for a
// new one. With one shape, its own error.
static double shapes_apart(const struct pass_fit *to, const struct group *g, double overhead_s,
                           struct arena *arena)
{
    double *off = TAKE(arena, g->count, double), sum = 0, squares = 0;
    if (to->has_overhead) overhead_s = to->overhead_s.value;
    for (int shape = 0; shape < g->shapes; shape++) {
        const char *name = arena_print(arena, "shape %d", shape);
        int count = 0;
        for (int i = 0; i < g->count; i++)
            if (!strcmp(g->points[i].operation, name))
                off[count++] =
                    g->points[i].seconds / (to->factor.value * g->points[i].work + overhead_s) - 1;
        double median = median_of(off, count);
        sum += median, squares += median * median;
    }
    int n = g->shapes;
    if (n == 1) return fabs(1 / to->factor.value - 1);
    double scatter = sqrt(fmax(0, squares - sum * sum / n) / (n - 1));
    return student_quantile(coverage, n - 1) * scatter * sqrt(1 + 1.0 / n);
}

// overhead_s: of the kernels; for blocks it is fitted with the factor if there are several sizes.
static enum status fit_sizes(struct pass_fit *to, struct group *g, const char *kind,
                             const char *pass, double overhead_s, struct arena *arena,
                             struct error *err)
{
    static const enum line forms[] = {LINE_THROUGH_ZERO, LINE_WITH_OVERHEAD};
    struct fit fit;
    for (int i = 0; i < g->count && !to->has_overhead; i++)
        g->points[i].explained_s = fmin(overhead_s, (1 - least_share_left) * g->points[i].seconds);
    TRY(fit_best(&fit, kind, pass, forms, to->has_overhead ? 2 : 1, g->points, g->count, arena,
                 err));
    to->factor = (struct interval){1 / fit.rate.value, 1 / fit.rate.high, 1 / fit.rate.low};
    to->overhead_s = fit.overhead_s;
    to->residual = fit.residual, to->held_out = fit.held_out;
    return OK;
}

static enum status fit_pass(struct pass_fit *to, const struct layer_fits *f, enum layer_kind kind,
                            enum layer_pass pass, double overhead_s, struct arena *arena,
                            struct error *err)
{
    struct group g = group_of(f, kind, pass, arena);
    *to = (struct pass_fit){.count = g.count, .shapes = g.shapes};
    if (!g.count) return OK;
    points_sort(g.points, g.count);
    if (g.points[g.count - 1].work > 1.01 * g.points[0].work) {
        to->has_overhead = kind == LAYER_BLOCK;
        TRY(fit_sizes(to, &g, layer_kind_names[kind], passes[pass], overhead_s, arena, err));
    } else {
        fit_ratio(to, g.points, g.count, overhead_s, arena);
    }
    if (g.own) return OK;
    to->apart = shapes_apart(to, &g, overhead_s, arena);
    to->factor = interval_widened(to->factor, to->apart);
    return OK;
}

// ---- costs

static struct estimate estimate_of(struct interval i, double most, const char *source)
{
    return estimate_fitted(fmin(i.value, most), fmin(i.low, most), fmin(i.high, most), source);
}

static void put_pass(struct estimate *factor, struct estimate *overhead, const struct pass_fit *p,
                     const struct load_fit *load, enum layer_kind kind, enum layer_pass pass,
                     struct arena *arena)
{
    struct interval value = p->factor;
    if (!p->count) return;
    const char *source = arena_print(arena,
                                     "%d whole %ss %s over the sum of their kernels%s; median "
                                     "residual %.1f %%, held out %.1f %%",
                                     p->count, layer_kind_names[kind], passes[pass],
                                     p->has_overhead ? ", and what comes on top of them" : "",
                                     100 * p->residual, 100 * p->held_out);
    if (p->apart > 0)
        source = arena_print(arena, "%s; %d shape%s, another may be off by %.1f %%", source,
                             p->shapes, p->shapes == 1 ? "" : "s", 100 * p->apart);
    if (kind == LAYER_BLOCK && load->count) {
        value = sustained_factor(load, value);
        source = arena_print(
            arena, "%s; without a rest %.4g times as long (%d block%s, %d device%s at once)",
            source, load->factor.value, load->count, load->count == 1 ? "" : "s",
            load->busy_devices, load->busy_devices == 1 ? "" : "s");
    }
    *factor = estimate_of(value, 100, source);
    if (p->has_overhead) *overhead = estimate_of(p->overhead_s, 1e6, source);
}

static double back_overhead(const struct gpu_costs *g)
{
    return (double)stated_or(&g->backward_overhead_s, g->layer_overhead_s.value);
}

// Blocks first: their overheads are used for heads, too.
static enum status fit_passes(struct layer_fits *f, struct gpu_costs *g, struct arena *arena,
                              struct error *err)
{
    struct estimate *const factors[][2] = {
        [LAYER_EMBEDDING] = {&g->embedding_forward_factor, &g->embedding_backward_factor},
        [LAYER_BLOCK] = {&g->forward_factor, &g->backward_factor},
        [LAYER_HEAD] = {&g->head_forward_factor, &g->head_backward_factor},
    };
    struct estimate *const overheads[] = {&g->layer_overhead_s, &g->backward_overhead_s};
    static const enum layer_kind kinds[] = {LAYER_BLOCK, LAYER_HEAD, LAYER_EMBEDDING};
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++) {
        enum layer_kind kind = kinds[i];
        double seconds[] = {g->layer_overhead_s.value, back_overhead(g)};
        for (int back = 0; back < 2; back++) {
            double overhead_s = kind == LAYER_EMBEDDING ? 0 : seconds[back];
            enum layer_pass pass = back ? LAYER_BACKWARD : LAYER_FORWARD;
            TRY(fit_pass(&f->passes[kind][back], f, kind, pass, overhead_s, arena, err));
            put_pass(factors[kind][back], overheads[back], &f->passes[kind][back],
                     &f->sustained[back], kind, pass, arena);
        }
    }
    return OK;
}

enum status layers_fit(struct layer_fits *f, struct calibration *c, const struct model *model,
                       struct arena *arena, struct error *err)
{
    *f = (struct layer_fits){.check_count = 0};
    TRY(take_checks(f, c, model, arena, err));
    struct gpu_costs *g = (struct gpu_costs *)costs_find_gpu(&c->costs, c->gpu);
    if (!g || !f->check_count) return OK;
    sustained_fit(f, arena);
    TRY(fit_passes(f, g, arena, err));
    double forward_s = g->layer_overhead_s.value, backward_s = back_overhead(g);
    for (int i = 0; i < f->check_count; i++) {
        struct layer_check *k = &f->checks[i];
        const struct pass_fit *fits = f->passes[k->kind];
        bool back = k->pass != LAYER_FORWARD;
        double of_forward = fits[0].count ? fits[0].factor.value : 1,
               factor = fits[back].count ? fits[back].factor.value : 1;
        k->predicted_s = factor * k->point.work +
                         (k->kind == LAYER_EMBEDDING ? 0
                          : back                     ? backward_s
                                                     : forward_s) +
                         of_forward * k->again_s + (k->pass == LAYER_BACKWARD_FULL ? forward_s : 0);
    }
    return OK;
}

// ---- for people

void layers_show(const struct layer_fits *f, FILE *to)
{
    if (!f->check_count) return;
    fprintf(to, "-- whole layers, against the sum of their kernels: %d samples%s\n\n",
            f->check_count, f->other_count ? "; others are of another shape, or graphs" : "");
    fprintf(to, "  %-28s %6s %6s %9s %7s %8s %12s %12s %12s %8s\n", "layer", "hidden", "micro",
            "sequence", "tensor", "context", "median ms", "kernels ms", "costs ms", "off");
    for (int i = 0; i < f->check_count; i++) {
        const struct layer_check *k = &f->checks[i];
        const int64_t *d = k->sample->dimensions;
        fprintf(to, "  %-28.28s %6lld %6lld %9lld %7lld %8lld %12.4f %12.4f %12.4f %+6.1f %%\n",
                k->sample->operation, (long long)k->model->shape.hidden, (long long)d[0],
                (long long)d[1], (long long)d[2], (long long)d[3], 1e3 * k->point.seconds,
                1e3 * (k->point.work + k->again_s), 1e3 * k->predicted_s,
                100 * (k->predicted_s / k->point.seconds - 1));
    }
    for (int kind = LAYER_EMBEDDING; kind <= LAYER_HEAD; kind++)
        for (int back = 0; back < 2; back++) {
            const struct pass_fit *p = &f->passes[kind][back];
            if (!p->count) continue;
            fprintf(to, "  %ss %-9s %.4g times their kernels (95 %%: %.4g to %.4g)",
                    layer_kind_names[kind], passes[back], p->factor.value, p->factor.low,
                    p->factor.high);
            if (kind == LAYER_BLOCK) fprintf(to, ", and %.4g us", 1e6 * p->overhead_s.value);
            fputc('\n', to);
        }
    for (int back = 0; back < 2; back++)
        if (f->sustained[back].count)
            fprintf(to, "  blocks %-9s without a rest %.4g times as long (95 %%: %.4g to %.4g)\n",
                    passes[back], f->sustained[back].factor.value, f->sustained[back].factor.low,
                    f->sustained[back].factor.high);
    fputc('\n', to);
}
