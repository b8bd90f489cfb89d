// A sample says micro-batch, sequence, tensor and context degree; the model says the rest, and
// pricing's own function what its kernels take by the rates fitted so far. Of blocks time = factor
// x kernels + overhead is fitted, where there are sizes enough and the overhead predicts what was
// left out better; with one size the factor is what is left when the kernels' overheads are taken
// off.
#include "calibrate/fit/layers.h"

#include <math.h>
#include <string.h>

#include "formulate/price/price.h"

static const double flop_tolerance = 1e-6;
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

// One node with as many devices as the degrees ask for.
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
                                     .fused_attention = fused,
                                     .barrier = true}};
}

// FLOP of the pass as the samples count them: section 3's, recomputation added.
static double flop_of(const struct layer_kernels *k, enum layer_pass pass, double attention_flop,
                      double beta)
{
    double linear = k->forward_flop - attention_flop, backward = 2 * linear + beta * attention_flop;
    static const double again[LAYER_PASS_COUNT] = {0, 0, 0, 1};
    if (pass == LAYER_FORWARD) return k->forward_flop;
    return backward + again[pass] * k->forward_flop +
           (pass == LAYER_BACKWARD_SELECTIVE ? attention_flop : 0);
}

// Seconds of the pass's kernels; false: the sample is of another shape. Attention's FLOP are what
// the same layer lacks at rate infinity, and are asked for by their definition.
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
        // An embedding has no FLOP: its rows tell the shape.
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

static enum status take_checks(struct layer_fits *f, const struct calibration *c,
                               const struct model *model, struct arena *arena, struct error *err)
{
    struct fit_point *points;
    int count;
    bool plain = false, graph;
    TRY(inputs_points(&points, &count, c->inputs, is_layer, NULL, no_work, arena, err));
    f->checks = TAKE(arena, count, struct layer_check);
    for (int i = 0; i < count; i++) plain = plain || !strstr(points[i].operation, ", graph");
    for (int i = 0; i < count; i++) {
        struct layer_check *check = &f->checks[f->check_count];
        *check = (struct layer_check){.sample = points[i].sample, .point = points[i]};
        bool known = read_operation(points[i].operation, &check->kind, &check->pass, &graph) &&
                     graph != plain &&
                     kernels_of(&check->point.work, &check->again_s, c, model, check->sample,
                                check->kind, check->pass) &&
                     check->point.work > 0;
        f->check_count += known;
        f->other_count += !known;
    }
    return OK;
}

// ---- blocks

// All points have one size: what is left of the time beside the kernels' own overheads.
static void fit_ratio(struct pass_fit *to, const struct fit_point *points, int count,
                      double overhead_s, struct arena *arena)
{
    double *value = TAKE(arena, count, double), *low = TAKE(arena, count, double),
           *high = TAKE(arena, count, double);
    for (int i = 0; i < count; i++) {
        value[i] = fmax(points[i].seconds - overhead_s, 0.1 * points[i].seconds) / points[i].work;
        low[i] = fmax(points[i].low - overhead_s, 0.1 * points[i].low) / points[i].work;
        high[i] = fmax(points[i].high - overhead_s, 0.1 * points[i].high) / points[i].work;
    }
    to->factor =
        (struct interval){median_of(value, count), median_of(low, count), median_of(high, count)};
    to->factor.low = fmin(to->factor.low, to->factor.value),
    to->factor.high = fmax(to->factor.high, to->factor.value);
}

static enum status fit_pass(struct pass_fit *to, const struct layer_fits *f, enum layer_pass pass,
                            double overhead_s, struct arena *arena, struct error *err)
{
    static const enum line forms[] = {LINE_THROUGH_ZERO, LINE_WITH_OVERHEAD};
    struct fit_point *points = TAKE(arena, f->check_count, struct fit_point);
    int count = 0;
    for (int i = 0; i < f->check_count; i++)
        if (f->checks[i].kind == LAYER_BLOCK && f->checks[i].pass == pass)
            points[count++] = f->checks[i].point;
    *to = (struct pass_fit){.count = count};
    if (!count) return OK;
    points_sort(points, count);
    if (!(points[count - 1].work > 1.01 * points[0].work)) {
        fit_ratio(to, points, count, overhead_s, arena);
        return OK;
    }
    struct fit fit;
    TRY(fit_best(&fit, "blocks", passes[pass], forms, ARRAY_LENGTH(forms), points, count, arena,
                 err));
    to->factor = (struct interval){1 / fit.rate.value, 1 / fit.rate.high, 1 / fit.rate.low};
    to->overhead_s = fit.overhead_s;
    to->has_overhead = true;
    to->residual = fit.residual, to->held_out = fit.held_out;
    return OK;
}

static void put_estimate(struct estimate *to, struct interval i, double most, const char *source)
{
    *to = (struct estimate){.value = fmin(i.value, most),
                            .low = fmin(i.low, most),
                            .high = fmin(i.high, most),
                            .origin = ORIGIN_FITTED,
                            .source = source};
}

static void put_pass(struct estimate *factor, struct estimate *overhead, const struct pass_fit *p,
                     const char *pass, struct arena *arena)
{
    if (!p->count) return;
    const char *source =
        arena_print(arena,
                    "%d whole blocks %s over the sum of their kernels%s; median residual %.1f %%, "
                    "held out %.1f %%",
                    p->count, pass, p->has_overhead ? ", and what is beside them" : ", of one size",
                    100 * p->residual, 100 * p->held_out);
    put_estimate(factor, p->factor, 100, source);
    if (p->has_overhead) put_estimate(overhead, p->overhead_s, 1e6, source);
}

enum status layers_fit(struct layer_fits *f, struct calibration *c, const struct model *model,
                       struct arena *arena, struct error *err)
{
    *f = (struct layer_fits){.check_count = 0};
    TRY(take_checks(f, c, model, arena, err));
    struct gpu_costs *g = (struct gpu_costs *)costs_find_gpu(&c->costs, c->gpu);
    if (!g || !f->check_count) return OK;
    double forward_s = g->layer_overhead_s.value,
           backward_s = g->backward_overhead_s.value > 0 ? g->backward_overhead_s.value : forward_s;
    TRY(fit_pass(&f->passes[0], f, LAYER_FORWARD, forward_s, arena, err));
    TRY(fit_pass(&f->passes[1], f, LAYER_BACKWARD, backward_s, arena, err));
    put_pass(&g->forward_factor, &g->layer_overhead_s, &f->passes[0], "forward", arena);
    put_pass(&g->backward_factor, &g->backward_overhead_s, &f->passes[1], "backward", arena);
    double of_forward = g->forward_factor.value > 0 ? g->forward_factor.value : 1,
           of_backward = g->backward_factor.value > 0 ? g->backward_factor.value : 1;
    forward_s = g->layer_overhead_s.value,
    backward_s = g->backward_overhead_s.value > 0 ? g->backward_overhead_s.value : forward_s;
    for (int i = 0; i < f->check_count; i++) {
        struct layer_check *k = &f->checks[i];
        bool block = k->kind == LAYER_BLOCK, back = k->pass != LAYER_FORWARD;
        k->predicted_s = (block ? back ? of_backward : of_forward : 1) * k->point.work +
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
    fprintf(to, "  %-28s %6s %9s %7s %8s %12s %12s %12s %8s\n", "layer", "micro", "sequence",
            "tensor", "context", "median ms", "kernels ms", "costs ms", "off");
    for (int i = 0; i < f->check_count; i++) {
        const struct layer_check *k = &f->checks[i];
        const int64_t *d = k->sample->dimensions;
        fprintf(to, "  %-28.28s %6lld %9lld %7lld %8lld %12.4f %12.4f %12.4f %+6.1f %%\n",
                k->sample->operation, (long long)d[0], (long long)d[1], (long long)d[2],
                (long long)d[3], 1e3 * k->point.seconds, 1e3 * (k->point.work + k->again_s),
                1e3 * k->predicted_s, 100 * (k->predicted_s / k->point.seconds - 1));
    }
    static const char *const names[] = {"forward", "backward"};
    for (int p = 0; p < 2; p++)
        if (f->passes[p].count)
            fprintf(to,
                    "  blocks %-9s %.4g times their kernels (95 %%: %.4g to %.4g), and %.4g us\n",
                    names[p], f->passes[p].factor.value, f->passes[p].factor.low,
                    f->passes[p].factor.high, 1e6 * f->passes[p].overhead_s.value);
    fputc('\n', to);
}
