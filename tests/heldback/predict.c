// See predict.h.
#include "data/kinds/schedules.h"
#include "tests/heldback/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate/calibrate.h"
#include "data/numbers/intervals.h"
#include "formulate/price/price.h"
#include "measure/take.h"

// ---- which sample is whose

static const char first_operation[] = "query, key and value";

enum status heldback_shapes(struct heldback_shapes *h, const struct samples *samples,
                            struct arena *arena, struct error *err)
{
    const char *command = samples->launch_count ? samples->launches[0].command : NULL,
               *at = command ? strstr(command, "--shape ") : NULL;
    if (!at)
        return refuse(err, "%s: launches[0].command: expected --shape among the options",
                      samples->document.path);
    at += strlen("--shape ");
    struct request_settings settings = {
        .shapes = arena_print(arena, "%.*s", (int)strcspn(at, " "), at),
        .tensors = "1",
        .contexts = "1",
        .micro_batches = "1",
        .ranks = "1",
        .recompute = "none",
        .sequence = 1};
    struct cells_request request = {.threads = 1};
    TRY(request_read(&request, &settings, arena, err));
    h->shapes = TAKE_COPY(arena, request.shapes, request.shape_count);
    h->count = request.shape_count;
    h->of_sample = TAKE(arena, samples->sample_count, int);
    int shape = -1;
    for (int i = 0; i < samples->sample_count; i++) {
        const struct sample *s = &samples->samples[i], *before = i ? s - 1 : NULL;
        shape += !strcmp(s->operation, first_operation) && (!before || before->kind != SAMPLE_GEMM);
        h->of_sample[i] = s->kind == SAMPLE_OVERHEAD ? -1 : shape;
    }
    return shape + 1 == h->count
               ? OK
               : refuse(err, "%s: samples: expected %d shapes one behind the other, found %d",
                        samples->document.path, h->count, shape + 1);
}

static enum status calibrate_without(struct calibration *c, const struct samples *samples,
                                     const struct heldback_shapes *h, int held, struct arena *arena,
                                     struct error *err)
{
    struct samples *rest = TAKE(arena, 1, struct samples);
    struct inputs *in = TAKE(arena, 1, struct inputs);
    *rest = *samples;
    rest->samples = TAKE(arena, samples->sample_count, struct sample);
    rest->sample_count = 0;
    for (int i = 0; i < samples->sample_count; i++)
        if (h->of_sample[i] != held) {
            struct sample *s = &rest->samples[rest->sample_count++];
            *s = samples->samples[i];
            if (s->kind == SAMPLE_LAYER && !s->shape) s->shape = &h->shapes[h->of_sample[i]];
        }
    TRY(inputs_join(in, rest, 1, NULL, arena, err));
    const struct calibrate_settings settings = {.output = "-"};
    struct layer_fits layers;
    TRY(calibrate(c, in, &settings, arena, err));
    TRY(layers_fit(&layers, c, NULL, arena, err));
    return c->lacking ? refuse(err, "%s: %s", samples->document.path, c->lacking) : OK;
}

// ---- prediction

// One machine with as many devices as the sample's degrees, joined by links that take no time.
static struct cluster machine_of(const struct costs *costs, const struct sample *s,
                                 struct arena *arena)
{
    struct node_group *group = TAKE(arena, 1, struct node_group);
    *group = (struct node_group){.name = "machine",
                                 .gpu = costs->gpus[0].gpu,
                                 .nodes = 1,
                                 .gpus_per_node = (int)(s->dimensions[2] * s->dimensions[3]),
                                 .memory_bytes = (int64_t)1 << 50,
                                 .intra = {1e18, 0}};
    return (struct cluster){.name = "machine", .groups = group, .group_count = 1};
}

static struct model layers_of(const struct shape *shape, struct arena *arena)
{
    static const struct {
        const char *name;
        enum layer_kind kind;
    } runs[] = {
        {"embedding", LAYER_EMBEDDING},
        {"block", LAYER_BLOCK},
        {"head", LAYER_HEAD},
    };
    struct model m = {
        .name = "held back", .has_shape = true, .shape = *shape, .run_count = 3, .layer_count = 3};
    m.runs = TAKE(arena, m.run_count, struct layer_run);
    for (int i = 0; i < m.run_count; i++)
        m.runs[i] = (struct layer_run){.name = runs[i].name,
                                       .kind = runs[i].kind,
                                       .count = 1,
                                       .recomputable = runs[i].kind == LAYER_BLOCK};
    return m;
}

static int run_of(const struct sample *s)
{
    return !strncmp(s->operation, "embedding", 9) ? 0
           : !strncmp(s->operation, "block", 5)   ? 1
           : !strncmp(s->operation, "head", 4)    ? 2
                                                  : -1;
}

static enum status predict_layer(double *seconds, const struct costs *costs,
                                 const struct shape *shape, const struct sample *s,
                                 struct arena *arena, struct error *err)
{
    const int64_t *d = s->dimensions;
    struct problem problem = {
        .name = "held back",
        .model = layers_of(shape, arena),
        .cluster = machine_of(costs, s, arena),
        .costs = *costs,
        .job = {.name = "held back",
                .sequence = d[1],
                .global_batch = d[0],
                .precision = s->precision,
                .gradient_bytes_per_value = 4,
                .adam = true,
                .memory_fraction = 1,
                .recompute = {true, true, true, false},
                .budget = {.boundaries_max = -1, .stages_max = -1},
                .layout = {.tensor = (int)d[2],
                           .context = (int)d[3],
                           .data = 1,
                           LAYOUT_PLAIN(1),
                           .micro_batch = (int)d[0],
                           .schedule = SCHEDULE_1F1B,
                           .fused_attention = strstr(s->operation, "fused") != NULL}}};
    struct priced priced;
    TRY(price_problem(&priced, &problem, arena, err));
    if (priced.groups[0].excluded)
        return refuse(err, "the machine is excluded: %s", priced.groups[0].excluded);
    const struct priced_run *run = &priced.runs[run_of(s)];
    double ns =
        (double)(strstr(s->operation, "forward") ? run->forward_ns[0] : run->backward_ns[0]);
    if (strstr(s->operation, "selective")) ns += (double)run->again_ns[RECOMPUTE_SELECTIVE][0];
    if (strstr(s->operation, "full")) ns += (double)run->again_ns[RECOMPUTE_FULL][0];
    *seconds = 1e-9 * ns;
    return OK;
}

// By the fit of its kind; what that one takes for traffic of another rate is so much a byte. 0:
// there is none.
static double predict_kernel(const struct calibration *c, const struct sample *s)
{
    const struct precision_fits *p = NULL;
    for (int i = 0; i < c->precision_count; i++)
        if (c->precisions[i].precision == s->precision) p = &c->precisions[i];
    for (int k = 0; k < KERNEL_COUNT; k++) {
        const struct fit *f = k < KERNELS_OF_PRECISION ? (p ? p->kernels[k] : NULL) : c->kernels[k];
        if (!f || !kernel_has((enum kernel)k, s)) continue;
        const struct fit_point *last = &f->points[f->point_count - 1];
        int unit = kernel_kinds[k].unit;
        struct fit_point at = {.work = unit == UNIT_FLOP    ? s->flop
                                       : unit == UNIT_BYTES ? s->bytes
                                                            : (double)s->dimensions[0],
                               .traffic = s->bytes};
        double explained_s = last->traffic > 0 ? last->explained_s / last->traffic * at.traffic : 0;
        return fit_seconds(f, &at) + explained_s;
    }
    return 0;
}

enum status heldback_predict(struct heldback_point **points, int *count,
                             const struct samples *samples, const struct heldback_shapes *h,
                             int held, struct arena *arena, struct error *err)
{
    struct calibration *calibration = TAKE(arena, 1, struct calibration);
    TRY(calibrate_without(calibration, samples, h, held, arena, err));
    const struct costs *costs = &calibration->costs;
    *points = TAKE(arena, samples->sample_count, struct heldback_point);
    *count = 0;
    for (int i = 0; i < samples->sample_count; i++) {
        const struct sample *s = &samples->samples[i];
        if (h->of_sample[i] != held) continue;
        struct heldback_point *p = &(*points)[*count];
        *p = (struct heldback_point){.sample = s, .layer = s->kind == SAMPLE_LAYER};
        if (p->layer && (run_of(s) < 0 || strstr(s->operation, "graph"))) continue;
        if (p->layer) TRY(predict_layer(&p->predicted_s, costs, &h->shapes[held], s, arena, err));
        else p->predicted_s = predict_kernel(calibration, s);
        if (!(p->predicted_s > 0)) continue;
        struct median median = sample_median(s, arena);
        p->measured_s = median.value, p->low_s = median.low, p->high_s = median.high;
        (*count)++;
    }
    return OK;
}

static double median_error(const struct heldback_point *points, int count, bool layers,
                           bool kernels, int *taken, struct arena *arena)
{
    double *errors = TAKE(arena, count + 1, double);
    *taken = 0;
    for (int i = 0; i < count; i++)
        if (points[i].layer ? layers : kernels)
            errors[(*taken)++] = fabs(points[i].predicted_s / points[i].measured_s - 1);
    return median_of(errors, *taken);
}

struct heldback_errors heldback_errors(const struct heldback_point *points, int count,
                                       struct arena *arena)
{
    struct heldback_errors e;
    int all;
    e.layers = median_error(points, count, true, false, &e.layer_count, arena);
    e.kernels = median_error(points, count, false, true, &e.kernel_count, arena);
    e.all = median_error(points, count, true, true, &all, arena);
    return e;
}

const char *const heldback_passes[] = {"embedding forward",
                                       "embedding backward",
                                       "block forward",
                                       "block backward",
                                       "block backward selective",
                                       "block backward full",
                                       "head forward",
                                       "head backward",
                                       NULL};

double heldback_bias(const struct heldback_point *points, int count, const char *pass,
                     struct arena *arena)
{
    double *errors = TAKE(arena, count + 1, double);
    int taken = 0;
    for (int i = 0; i < count; i++)
        if (points[i].layer && !strcmp(points[i].sample->operation, pass))
            errors[taken++] = points[i].predicted_s / points[i].measured_s - 1;
    return median_of(errors, taken);
}

void heldback_show(const struct heldback_point *points, int count, FILE *to)
{
    fprintf(to, "%-42s %-24s %10s %21s %10s %7s\n", "operation", "sizes", "measured",
            "its interval", "predicted", "error");
    for (int i = 0; i < count; i++) {
        const struct heldback_point *p = &points[i];
        char sizes[96] = "";
        for (int k = 0, used = 0; k < p->sample->dimension_count; k++)
            used += snprintf(sizes + used, sizeof sizes - (size_t)used, "%s%lld", k ? " x " : "",
                             (long long)p->sample->dimensions[k]);
        fprintf(to, "%-42s %-24s %7.3f ms %7.3f to %7.3f ms %7.3f ms %+6.1f%%\n",
                p->sample->operation, sizes, 1e3 * p->measured_s, 1e3 * p->low_s, 1e3 * p->high_s,
                1e3 * p->predicted_s, 100 * (p->predicted_s / p->measured_s - 1));
    }
}
