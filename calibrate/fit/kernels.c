// One line for each kind of kernel (docs/FORMULAS.md section 12), identified by the operation's
// name.
#include "calibrate/fit/fit.h"

#include <math.h>
#include <string.h>

#define KERNEL_KIND(constant, ...) {__VA_ARGS__},
const struct kernel_kind kernel_kinds[KERNEL_COUNT] = {KERNELS_EACH(KERNEL_KIND)
                                                           KERNELS_COMMON(KERNEL_KIND)};

bool kernel_has(enum kernel kernel, const struct sample *s)
{
    const struct kernel_kind *k = &kernel_kinds[kernel];
    if (s->kind != k->kind || (k->with && !strstr(s->operation, k->with)) ||
        (k->without && strstr(s->operation, k->without)))
        return false;
    bool norm = !strncmp(s->operation, "norm", 4) && strncmp(s->operation, "norms", 5) != 0;
    bool active = !strncmp(s->operation, "activation", 10);
    if (kernel == KERNEL_NORM || kernel == KERNEL_NORM_BACKWARD) return norm;
    if (kernel == KERNEL_ACTIVATION || kernel == KERNEL_ACTIVATION_BACKWARD) return active;
    if (kernel == KERNEL_ELEMENTWISE_BACKWARD) return !norm && !active;
    return kernel != KERNEL_ELEMENTWISE || (!norm && !active && !strstr(s->operation, "copy"));
}

// Least share of a time left for the work itself, whatever another fit says about the rest.
static const double least_share_left = 0.1;
// As fit_best requires for a term; no error below the floor justifies one.
static const double worth_it = 0.9, error_floor = 1e-3;

struct choice {
    enum kernel kernel;
    enum precision precision;
};

static bool is_chosen(const struct sample *s, const void *context)
{
    const struct choice *c = context;
    return kernel_has(c->kernel, s) &&
           (c->precision == PRECISION_COUNT || s->precision == c->precision);
}

static double flop_of(const struct sample *s) { return s->flop; }
static double bytes_of(const struct sample *s) { return s->bytes; }
static double first_of(const struct sample *s) { return (double)s->dimensions[0]; }

// Products of different algorithms, recipes or sums have different rates: a fit has one of each.
static enum status expect_alike(const struct inputs *in, enum kernel kernel,
                                const struct fit_point *points, int count, struct error *err)
{
    for (int i = 1; i < count; i++) {
        const struct sample *a = points[0].sample, *b = points[i].sample;
        const char *what = a->recipe != b->recipe ? "recipe" : NULL;
        if (a->algorithm && b->algorithm && a->algorithm != b->algorithm) what = "algorithm";
        if (kernel == KERNEL_GEMM_WEIGHT && a->fp32_gradients != b->fp32_gradients)
            what = "fp32_gradients";
        if (what)
            return refuse(err, "%s: %s '%s': expected the same %s as in %s; fit them apart",
                          in->documents[in->document_of[b - in->all.samples]].document.path,
                          sample_kind_names[b->kind], b->operation, what,
                          in->documents[in->document_of[a - in->all.samples]].document.path);
    }
    return OK;
}

enum status kernel_points(struct fit_point **points, int *count, const struct inputs *in,
                          enum kernel kernel, enum precision precision, struct arena *arena,
                          struct error *err)
{
    struct choice choice = {kernel, precision};
    sample_work *work = kernel_kinds[kernel].unit == UNIT_FLOP    ? flop_of
                        : kernel_kinds[kernel].unit == UNIT_BYTES ? bytes_of
                                                                  : first_of;
    TRY(inputs_points(points, count, in, is_chosen, &choice, work, arena, err));
    TRY(expect_alike(in, kernel, *points, *count, err));
    for (int i = 0; i < *count; i++) (*points)[i].traffic = (*points)[i].sample->bytes;
    return OK;
}

// Documents count as launches too: the greatest, over documents, of the median deviation of its
// points from the common line, as a share.
static double documents_apart(const struct inputs *in, const struct fit *f, struct arena *arena)
{
    double *off = TAKE(arena, f->point_count, double), greatest = 0;
    int documents = 0;
    for (int d = 0; d < in->document_count; d++) {
        int count = 0;
        for (int i = 0; i < f->point_count; i++) {
            const struct fit_point *p = &f->points[i];
            if (in->document_of[p->sample - in->all.samples] != d) continue;
            off[count++] = p->seconds / fit_seconds(f, p) - 1;
        }
        if (count) greatest = fmax(greatest, fabs(median_of(off, count)));
        documents += count > 0;
    }
    return documents > 1 ? greatest : 0;
}

// With one size, as nvbandwidth has, no line can be fitted. Reported and skipped, so that the rest
// can be used.
static bool is_one_size(const struct inputs *in, const struct fit_point *points, int count,
                        const char *name)
{
    for (int i = 1; i < count; i++)
        if (points[i].work != points[0].work) return false;
    fprintf(stderr, "%s: %s: %d sample%s of one size, which give no rate: skipped\n",
            in->documents[in->document_of[points[0].sample - in->all.samples]].document.path, name,
            count, count == 1 ? "" : "s");
    return true;
}

// Gradients of weights are accumulated: their traffic may differ from the forward products'.
static void take_own_traffic(struct fit *f, const struct fit_point *points, int count,
                             struct arena *arena)
{
    static const enum line with_traffic[] = {LINE_WITH_TRAFFIC};
    struct error unused = {OK, ""};
    struct fit own;
    struct fit_point *whole = TAKE(arena, count, struct fit_point);
    for (int i = 0; i < count; i++) whole[i] = points[i], whole[i].explained_s = 0;
    if (fit_best(&own, f->name, f->name, with_traffic, 1, whole, count, arena, &unused) == OK &&
        own.traffic_rate.value > 0 && own.held_out > 0 && f->held_out > error_floor &&
        own.held_out < worth_it * f->held_out)
        *f = own;
}

enum status kernel_fit(struct fit **f, const struct inputs *in, enum kernel kernel,
                       enum precision precision, double traffic_bytes_per_s, struct arena *arena,
                       struct error *err)
{
    const struct kernel_kind *k = &kernel_kinds[kernel];
    struct fit_point *points;
    int count;
    *f = NULL;
    TRY(kernel_points(&points, &count, in, kernel, precision, arena, err));
    if (!count || is_one_size(in, points, count, k->title)) return OK;
    for (int i = 0; i < count && traffic_bytes_per_s > 0; i++)
        points[i].explained_s = fmin(points[i].traffic / traffic_bytes_per_s,
                                     (1 - least_share_left) * points[i].seconds);
    *f = TAKE(arena, 1, struct fit);
    TRY(fit_best(*f, in->all.document.path, sample_kind_names[k->kind], k->forms, k->form_count,
                 points, count, arena, err));
    if (k->may_own) take_own_traffic(*f, points, count, arena);
    fit_widen(*f, documents_apart(in, *f, arena));
    return OK;
}
