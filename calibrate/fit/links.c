// Grouping samples into channels and classes. A pair's samples with concurrent traffic take
// precedence, since a schedule's messages travel together. Those taken alone show the cost of the
// other traffic, and are used where there are no others.
#include "calibrate/fit/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *host_of(const struct endpoint *e) { return e->host ? e->host : e->name; }

static bool is_link(const struct sample *s, const void *unused)
{
    (void)unused;
    return s->kind == SAMPLE_LINK || s->kind == SAMPLE_COLLECTIVE;
}

// A step's messages follow each other: those after a rest are used where there are no others.
static bool is_warm_link(const struct sample *s, const void *unused)
{
    return is_link(s, unused) && s->before != BEFORE_REST;
}

static double bytes_of(const struct sample *s) { return (double)s->dimensions[0]; }

// ---- channels

static bool leaves_node(const struct sample *s, const struct endpoint *endpoints)
{
    if (s->kind == SAMPLE_LINK)
        return strcmp(host_of(&endpoints[s->from]), host_of(&endpoints[s->to])) != 0;
    for (int i = 1; i < s->member_count; i++)
        if (strcmp(host_of(&endpoints[s->members[0]]), host_of(&endpoints[s->members[i]])))
            return true;
    return false;
}

static bool same_channel(const struct sample *a, const struct sample *b)
{
    if (a->kind != b->kind || a->from != b->from || a->to != b->to ||
        a->member_count != b->member_count || strcmp(a->operation, b->operation))
        return false;
    return !a->member_count ||
           !memcmp(a->members, b->members, (size_t)a->member_count * sizeof *a->members);
}

// Samples of a channel are adjacent, those with concurrent traffic before those alone.
static int compare_channels(const void *x, const void *y)
{
    const struct sample *a = ((const struct fit_point *)x)->sample,
                        *b = ((const struct fit_point *)y)->sample;
    int order = strcmp(a->operation, b->operation);
    if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
    if (order) return order;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    if (a->to != b->to) return a->to < b->to ? -1 : 1;
    if (a->member_count != b->member_count) return a->member_count < b->member_count ? -1 : 1;
    if (a->member_count &&
        (order = memcmp(a->members, b->members, (size_t)a->member_count * sizeof *a->members)))
        return order;
    return a->alone - b->alone;
}

// The points [0, count) of one channel.
static enum status take_channel(struct link_fits *f, struct fit_point *points, int count,
                                struct arena *arena, struct error *err)
{
    const struct sample *s = points[0].sample;
    struct channel *c = &f->channels[f->channel_count++];
    int among = 0;
    while (among < count && !points[among].sample->alone) among++;
    *c = (struct channel){.operation = s->operation,
                          .from = s->from,
                          .to = s->to,
                          .members = s->members,
                          .between_nodes = leaves_node(s, f->endpoints),
                          .ranks = s->kind == SAMPLE_LINK ? 2 : s->member_count};
    const char *name = channel_name(f, c, arena);
    return fit_segments(&c->fit, name, points, among ? among : count, arena, err);
}

// ---- classes

static bool in_class(const struct channel_class *k, const struct channel *c)
{
    return k->pairs == (c->from >= 0) && k->ranks == c->ranks &&
           k->between_nodes == c->between_nodes && !strcmp(k->operation, c->operation);
}

const struct channel_class *links_class(const struct link_fits *f, const struct channel *c)
{
    int i = 0;
    while (i < f->class_count && !in_class(&f->classes[i], c)) i++;
    return i < f->class_count ? &f->classes[i] : NULL;
}

static void sort_into_classes(struct link_fits *f, struct arena *arena)
{
    f->classes = TAKE(arena, f->channel_count, struct channel_class);
    for (int i = 0; i < f->channel_count; i++) {
        const struct channel *c = &f->channels[i];
        struct channel_class *k = (struct channel_class *)links_class(f, c);
        if (!k) {
            k = &f->classes[f->class_count++];
            *k = (struct channel_class){.operation = c->operation,
                                        .ranks = c->ranks,
                                        .pairs = c->from >= 0,
                                        .between_nodes = c->between_nodes,
                                        .channels = TAKE(arena, f->channel_count, int)};
        }
        k->channels[k->channel_count++] = i;
    }
}

// For each size, the median over the channels that have it.
static int median_points(struct fit_point *to, const struct fit_point *all, int count,
                         struct arena *arena)
{
    double *values = TAKE(arena, count, double), *lows = TAKE(arena, count, double),
           *highs = TAKE(arena, count, double), *deviations = TAKE(arena, count, double);
    int sizes = 0;
    for (int i = 0, n; i < count; i += n) {
        for (n = 0; i + n < count && all[i + n].work <= all[i].work; n++)
            values[n] = all[i + n].seconds, lows[n] = all[i + n].low, highs[n] = all[i + n].high,
            deviations[n] = all[i + n].deviation;
        to[sizes++] = (struct fit_point){.operation = all[i].operation,
                                         .work = all[i].work,
                                         .seconds = median_of(values, n),
                                         .low = median_of(lows, n),
                                         .high = median_of(highs, n),
                                         .deviation = median_of(deviations, n)};
    }
    return sizes;
}

// The middle 95 % of the channels, together with the class's own interval.
static void spread(struct interval *of, double *values, int count)
{
    median_of(values, count); // sorts
    int cut = (int)floor(0.025 * count);
    of->low = fmin(of->low, fmin(values[cut], of->value));
    of->high = fmax(of->high, fmax(values[count - 1 - cut], of->value));
}

static enum status spread_class(struct channel_class *k, const struct link_fits *f,
                                struct arena *arena, struct error *err)
{
    int n = k->channel_count;
    double *seconds = TAKE(arena, n * SEGMENT_FITS_MAX, double),
           *rates = TAKE(arena, n * SEGMENT_FITS_MAX, double);
    for (int i = 0; i < n; i++) {
        const struct segmented *own = &f->channels[k->channels[i]].fit;
        struct segmented like;
        struct arena_mark mark = arena_set_mark(arena);
        struct fit_point *points = TAKE_COPY(arena, own->points, own->point_count);
        TRY(fit_segments_like(&like, &k->fit, own->name, points, own->point_count, arena, err));
        arena_reset(arena, mark);
        for (int s = 0; s < k->fit.segment_count; s++) {
            seconds[s * n + i] = like.segments[s].seconds.value;
            rates[s * n + i] = like.segments[s].rate.value;
        }
    }
    for (int s = 0; s < k->fit.segment_count; s++) {
        spread(&k->fit.segments[s].seconds, &seconds[s * n], n);
        spread(&k->fit.segments[s].rate, &rates[s * n], n);
    }
    return OK;
}

static enum status fit_class(struct channel_class *k, const struct link_fits *f,
                             const struct inputs *in, struct arena *arena, struct error *err)
{
    int count = 0;
    for (int i = 0; i < k->channel_count; i++) count += f->channels[k->channels[i]].fit.point_count;
    struct fit_point *all = TAKE(arena, count, struct fit_point),
                     *medians = TAKE(arena, count, struct fit_point);
    count = 0;
    for (int i = 0; i < k->channel_count; i++) {
        const struct segmented *own = &f->channels[k->channels[i]].fit;
        for (int p = 0; p < own->point_count; p++) all[count++] = own->points[p];
    }
    k->source = inputs_source(in, all, count, arena);
    points_sort(all, count);
    int sizes = median_points(medians, all, count, arena);
    TRY(fit_segments(&k->fit, k->operation, medians, sizes, arena, err));
    k->fit.notes = points_note(all, count, arena);
    return k->channel_count > 1 ? spread_class(k, f, arena, err) : OK;
}

// Times with concurrent traffic over times alone, for the same channels and sizes.
static void find_contention(struct link_fits *f, const struct fit_point *points, int count,
                            struct arena *arena)
{
    double *ratios = TAKE(arena, count, double);
    for (int k = 0; k < f->class_count; k++) {
        int found = 0;
        for (int i = 0; i < count; i++) {
            const struct sample *alone = points[i].sample;
            if (!alone->alone) continue;
            for (int j = i - 1; j >= 0 && same_channel(points[j].sample, alone); j--) {
                if (points[j].sample->alone || points[j].work != points[i].work) continue;
                struct channel c = {.operation = alone->operation,
                                    .from = alone->from,
                                    .ranks = alone->kind == SAMPLE_LINK ? 2 : alone->member_count,
                                    .between_nodes = leaves_node(alone, f->endpoints)};
                if (in_class(&f->classes[k], &c))
                    ratios[found++] = points[j].seconds / points[i].seconds;
                break;
            }
        }
        f->classes[k].contention = median_of(ratios, found);
    }
}

// ---- outliers

static const double rate_differs = 0.10, latency_differs = 0.25, deviations_out = 3.5,
                    normal_mad = 1.4826;
enum { PEERS_MIN = 3 };

static bool apart(struct interval a, struct interval b, double share)
{
    bool disjoint = a.high < b.low || b.high < a.low;
    return disjoint && fmax(a.value, b.value) > (1 + share) * fmin(a.value, b.value);
}

static const struct channel *way_back(const struct link_fits *f, const struct channel *c)
{
    for (int i = 0; i < f->channel_count; i++) {
        const struct channel *o = &f->channels[i];
        if (c->from >= 0 && o->from == c->to && o->to == c->from &&
            !strcmp(o->operation, c->operation))
            return o;
    }
    return NULL;
}

static void find_asymmetric(struct link_fits *f)
{
    for (int i = 0; i < f->channel_count; i++) {
        struct channel *c = &f->channels[i];
        const struct channel *back = way_back(f, c);
        if (!back || back->asymmetric) continue;
        struct interval rate = segmented_rate(&c->fit), rate_back = segmented_rate(&back->fit);
        struct interval late = segmented_latency(&c->fit),
                        late_back = segmented_latency(&back->fit);
        bool rates = apart(rate, rate_back, rate_differs),
             latencies = apart(late, late_back, latency_differs);
        c->asymmetric = (rates && rate.value < rate_back.value) ||
                        (!rates && latencies && late.value > late_back.value);
    }
}

// The deviation of the logarithm from the median that scatter does not explain; scratch[count].
static double allowed_off(const double *logs, int count, double median, double share,
                          double *scratch)
{
    for (int i = 0; i < count; i++) scratch[i] = fabs(logs[i] - median);
    return fmax(deviations_out * normal_mad * median_of(scratch, count), log(1 + share));
}

static void find_slow(struct link_fits *f, const struct channel_class *k, struct arena *arena)
{
    int n = k->channel_count;
    if (!k->pairs || n < PEERS_MIN) return;
    double *rates = TAKE(arena, n, double), *latencies = TAKE(arena, n, double),
           *scratch = TAKE(arena, n, double);
    for (int i = 0; i < n; i++) {
        const struct segmented *fit = &f->channels[k->channels[i]].fit;
        rates[i] = log(segmented_rate(fit).value);
        latencies[i] = log(fmax(segmented_latency(fit).value, 1e-9));
    }
    double rate = median_of(rates, n), latency = median_of(latencies, n);
    double rate_off = allowed_off(rates, n, rate, rate_differs, scratch),
           latency_off = allowed_off(latencies, n, latency, latency_differs, scratch);
    for (int i = 0; i < n; i++) {
        struct channel *c = &f->channels[k->channels[i]];
        struct interval r = segmented_rate(&c->fit), l = segmented_latency(&c->fit);
        c->slow = log(r.value) < rate - rate_off && log(r.high) < rate;
        c->late = log(fmax(l.value, 1e-9)) > latency + latency_off &&
                  log(fmax(l.low, 1e-9)) > latency;
    }
}

const char *channel_name(const struct link_fits *f, const struct channel *c, struct arena *arena)
{
    if (c->from >= 0)
        return arena_print(arena, "%s -> %s", f->endpoints[c->from].name, f->endpoints[c->to].name);
    const char *text =
        arena_print(arena, "%s of %s", c->operation, f->endpoints[c->members[0]].name);
    for (int i = 1; i < c->ranks && i < 4; i++)
        text = arena_print(arena, "%s, %s", text, f->endpoints[c->members[i]].name);
    return c->ranks > 4 ? arena_print(arena, "%s ... (%d)", text, c->ranks) : text;
}

enum status links_fit(struct link_fits *f, const struct inputs *in, struct arena *arena,
                      struct error *err)
{
    struct fit_point *points;
    int count;
    *f = (struct link_fits){.endpoints = in->all.endpoints,
                            .endpoint_count = in->all.endpoint_count};
    TRY(inputs_points(&points, &count, in, is_warm_link, NULL, bytes_of, arena, err));
    if (!count) TRY(inputs_points(&points, &count, in, is_link, NULL, bytes_of, arena, err));
    if (!count) return OK;
    qsort(points, (size_t)count, sizeof *points, compare_channels);
    struct fit_point *all = TAKE_COPY(arena, points, count);
    f->channels = TAKE(arena, count, struct channel);
    for (int i = 0, n; i < count; i += n) {
        n = 1;
        while (i + n < count && same_channel(points[i].sample, points[i + n].sample)) n++;
        TRY(take_channel(f, &points[i], n, arena, err));
    }
    sort_into_classes(f, arena);
    for (int k = 0; k < f->class_count; k++) TRY(fit_class(&f->classes[k], f, in, arena, err));
    find_contention(f, all, count, arena);
    find_asymmetric(f);
    for (int k = 0; k < f->class_count; k++) find_slow(f, &f->classes[k], arena);
    return OK;
}
