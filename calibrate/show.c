// Each fit as a line, followed by its samples: the measurement, the prediction, and the
// difference.
#include "calibrate/calibrate.h"

#include <stdlib.h>

struct unit {
    const char *text;
    double size;
};

static const struct unit units[] = {[UNIT_FLOP] = {"GFLOP", 1e9},
                                    [UNIT_BYTES] = {"MB", 1e6},
                                    [UNIT_VALUES] = {"million", 1e6},
                                    [UNIT_CALLS] = {"blocks", 1}};

static void print_seconds(FILE *to, double seconds)
{
    if (seconds < 1e-3) fprintf(to, "%9.2f us", 1e6 * seconds);
    else if (seconds < 1) fprintf(to, "%9.3f ms", 1e3 * seconds);
    else fprintf(to, "%9.4f s ", seconds);
}

static void show_notes(FILE *to, const struct point_notes *n)
{
    if (n->throttled_repetitions)
        fprintf(to,
                "  throttled %12d           of %d repetitions, %.3g times as long as the others "
                "(1: nothing to compare)\n",
                n->throttled_repetitions, n->repetitions,
                n->throttled_slowdown > 0 ? n->throttled_slowdown : 1);
    if (n->outlier_repetitions)
        fprintf(to, "  outliers  %12d           of %d repetitions; flagged, and in the medians\n",
                n->outlier_repetitions, n->repetitions);
}

static void show_point(FILE *to, const struct fit_point *p, double line, double size)
{
    fprintf(to, "  %-32.32s %14.6g ", p->operation, p->work / size);
    print_seconds(to, p->seconds);
    fputs("  ", to);
    print_seconds(to, p->low);
    fputs(" .. ", to);
    print_seconds(to, p->high);
    fputc(' ', to);
    print_seconds(to, line);
    fprintf(to, " %+6.1f %%\n", 100 * (line / p->seconds - 1));
}

static void show_fit(FILE *to, const char *title, const char *more, const struct fit *f,
                     struct unit work)
{
    if (!f) return;
    fprintf(to, "%s%s: %d samples\n", title, more, f->point_count);
    fprintf(to, "  rate      %12.5g %s/s   95 %%: %.5g to %.5g\n", f->rate.value / work.size,
            work.text, f->rate.low / work.size, f->rate.high / work.size);
    if (f->traffic_rate.value > 0)
        fprintf(to, "  traffic   %12.5g GB/s      95 %%: %.5g to %.5g\n",
                f->traffic_rate.value / 1e9, f->traffic_rate.low / 1e9, f->traffic_rate.high / 1e9);
    fprintf(to, "  overhead  %12.5g us        95 %%: %.5g to %.5g%s\n", 1e6 * f->overhead_s.value,
            1e6 * f->overhead_s.low, 1e6 * f->overhead_s.high,
            f->through_zero ? "; held at 0" : "");
    fprintf(to,
            "  scatter   %12.2f           of the points about the line, in their own deviations; "
            "intervals follow it\n",
            f->scatter);
    fprintf(to, "  off       %12.2f %%         median of the samples", 100 * f->residual);
    if (f->held_out > 0)
        fprintf(to, "; of operations that were left out, %.2f %%", 100 * f->held_out);
    fputc('\n', to);
    if (f->apart > 0)
        fprintf(to, "  launches  %12.2f %%         apart; intervals widened by it\n",
                100 * f->apart);
    show_notes(to, &f->notes);
    fprintf(to, "  %-32s %14s %12s %26s %12s %8s\n", "operation", work.text, "median",
            "95 % interval", "line", "off");
    for (int i = 0; i < f->point_count; i++)
        show_point(to, &f->points[i], fit_seconds(f, &f->points[i]), work.size);
    fputc('\n', to);
}

// ---- links

static const char *size_text(double bytes, char text[32])
{
    static const struct unit sizes[] = {{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"B", 1}};
    int i = 0;
    while (i < 3 && bytes < sizes[i].size) i++;
    snprintf(text, 32, "%.4g %s", bytes / sizes[i].size, sizes[i].text);
    return text;
}

static void show_segments(FILE *to, const struct segmented *f)
{
    char text[32];
    for (int k = 0; k < f->segment_count; k++) {
        const struct segment_fit *s = &f->segments[k];
        fprintf(
            to,
            "    from %-10s %10.2f us (%.4g to %.4g)   then %.5g GB/s (%.4g to %.4g), %d sizes\n",
            size_text(s->from_bytes, text), 1e6 * s->seconds.value, 1e6 * s->seconds.low,
            1e6 * s->seconds.high, s->rate.value / 1e9, s->rate.low / 1e9, s->rate.high / 1e9,
            s->count);
    }
}

static void show_class(FILE *to, const struct channel_class *k)
{
    fprintf(to, "%s, %s%s: %d %s\n", k->operation, k->pairs ? "" : "of several ranks ",
            k->between_nodes ? "between nodes" : "inside of a node", k->channel_count,
            k->pairs ? "ordered pairs" : "groups");
    if (!k->pairs) fprintf(to, "  ranks     %12d\n", k->ranks);
    fprintf(to, "  protocol  %12d segment%s, through the medians of all; intervals: their spread\n",
            k->fit.segment_count, k->fit.segment_count == 1 ? "" : "s");
    show_segments(to, &k->fit);
    fprintf(to, "  off       %12.2f %%         median over the sizes\n", 100 * k->fit.residual);
    if (k->contention > 0)
        fprintf(to, "  together  %12.3f           times as long as alone, median\n", k->contention);
    show_notes(to, &k->fit.notes);
}

static void show_channel(FILE *to, const struct link_fits *f, const struct channel *c,
                         struct arena *arena)
{
    struct interval rate = segmented_rate(&c->fit), latency = segmented_latency(&c->fit);
    fprintf(to,
            "  %-40.40s %9.4g GB/s (%.4g to %.4g) %10.2f us (%.4g to %.4g) %d segment%s%s%s%s\n",
            channel_name(f, c, arena), rate.value / 1e9, rate.low / 1e9, rate.high / 1e9,
            1e6 * latency.value, 1e6 * latency.low, 1e6 * latency.high, c->fit.segment_count,
            c->fit.segment_count == 1 ? "" : "s", c->slow ? "  SLOW" : "", c->late ? "  LATE" : "",
            c->asymmetric ? "  ASYMMETRIC" : "");
}

static void show_standing_out(FILE *to, const struct link_fits *f, struct arena *arena)
{
    int found = 0;
    for (int i = 0; i < f->channel_count; i++) {
        const struct channel *c = &f->channels[i];
        if (!c->slow && !c->late && !c->asymmetric) continue;
        if (!found++) fputs("links that stand out\n", to);
        const struct channel_class *k = links_class(f, c);
        struct interval rate = segmented_rate(&c->fit), latency = segmented_latency(&c->fit);
        struct interval usual_rate = segmented_rate(&k->fit),
                        usual_latency = segmented_latency(&k->fit);
        const char *name = channel_name(f, c, arena);
        if (c->slow)
            fprintf(to, "  slow        %s: %.4g GB/s, %.3g of the usual %.4g\n", name,
                    rate.value / 1e9, rate.value / usual_rate.value, usual_rate.value / 1e9);
        if (c->late)
            fprintf(to, "  late        %s: %.4g us, the usual is %.4g\n", name, 1e6 * latency.value,
                    1e6 * usual_latency.value);
        for (int b = 0; b < f->channel_count && c->asymmetric; b++) {
            const struct channel *back = &f->channels[b];
            if (back->from != c->to || back->to != c->from || c->from < 0 ||
                back->fit.name == c->fit.name)
                continue;
            fprintf(to, "  asymmetric  %s: %.4g GB/s, %.4g us; the way back %.4g GB/s, %.4g us\n",
                    name, rate.value / 1e9, 1e6 * latency.value,
                    segmented_rate(&back->fit).value / 1e9,
                    1e6 * segmented_latency(&back->fit).value);
            break;
        }
    }
    if (f->channel_count && !found) fputs("no link stands out\n", to);
}

static void links_show(const struct link_fits *f, FILE *to, struct arena *arena)
{
    if (!f->class_count) return;
    fputs("-- links\n\n", to);
    for (int k = 0; k < f->class_count; k++) {
        show_class(to, &f->classes[k]);
        for (int i = 0; i < f->classes[k].channel_count; i++)
            show_channel(to, f, &f->channels[f->classes[k].channels[i]], arena);
        fputc('\n', to);
    }
    show_standing_out(to, f, arena);
    fputc('\n', to);
}

// ---- costs

static void show_estimate(FILE *to, const char *name, const struct estimate *e, struct unit unit)
{
    if (!(e->value > 0 || e->high > 0)) return;
    fprintf(to, "  %-24s %12.5g %-9s 95 %%: %.5g to %.5g  (%s)\n", name, e->value / unit.size,
            unit.text, e->low / unit.size, e->high / unit.size, origin_names[e->origin]);
}

static void show_costs(FILE *to, const struct gpu_costs *g)
{
    const struct unit gflop_per_s = {"GFLOP/s", 1e9}, gb_per_s = {"GB/s", 1e9}, us = {"us", 1e-6},
                      mib = {"MiB", 1048576}, bytes = {"bytes", 1}, one = {"", 1};
    fprintf(to, "costs of %s\n", g->gpu);
    for (int i = 0; i < g->precision_count; i++) {
        const struct precision_costs *p = &g->precisions[i];
        fprintf(to, "  in %s\n", precision_names[p->precision]);
        show_estimate(to, "matrix products", &p->gemm_flop_per_s, gflop_per_s);
        show_estimate(to, "  for inputs' gradients", &p->data_gradient_flop_per_s, gflop_per_s);
        show_estimate(to, "  for weights' gradients", &p->weight_gradient_flop_per_s, gflop_per_s);
        show_estimate(to, "  operands", &p->operand_bytes_per_s, gb_per_s);
        show_estimate(to, "    weights' gradients", &p->weight_operand_bytes_per_s, gb_per_s);
        show_estimate(to, "attention", &p->attention_flop_per_s, gflop_per_s);
        show_estimate(to, "  backward", &p->backward_attention_flop_per_s, gflop_per_s);
        show_estimate(to, "experts' products", &p->grouped_flop_per_s, gflop_per_s);
        show_estimate(to, "  both gradients", &p->backward_grouped_flop_per_s, gflop_per_s);
        show_estimate(to, "attention, ring's step", &p->ring_attention_flop_per_s, gflop_per_s);
        show_estimate(to, "  backward", &p->backward_ring_attention_flop_per_s, gflop_per_s);
        show_estimate(to, "casts to 8 bits", &p->cast_bytes_per_s, gb_per_s);
        show_estimate(to, "low-rank compression", &p->low_rank_flop_per_s, gflop_per_s);
        show_estimate(to, "  its traffic", &p->low_rank_bytes_per_s, gb_per_s);
        show_estimate(to, "  decompression", &p->low_rank_back_flop_per_s, gflop_per_s);
        show_estimate(to, "    its traffic", &p->low_rank_back_bytes_per_s, gb_per_s);
    }
    show_estimate(to, "memory", &g->memory_bytes_per_s, gb_per_s);
    show_estimate(to, "  backward", &g->backward_memory_bytes_per_s, gb_per_s);
    show_estimate(to, "rotary positions", &g->rotary_bytes_per_s, gb_per_s);
    show_estimate(to, "dropout", &g->dropout_bytes_per_s, gb_per_s);
    show_estimate(to, "  backward", &g->backward_dropout_bytes_per_s, gb_per_s);
    show_estimate(to, "layer overhead", &g->layer_overhead_s, us);
    show_estimate(to, "  backward", &g->backward_overhead_s, us);
    show_estimate(to, "block over kernels", &g->forward_factor, one);
    show_estimate(to, "  backward", &g->backward_factor, one);
    show_estimate(to, "head over kernels", &g->head_forward_factor, one);
    show_estimate(to, "  backward", &g->head_backward_factor, one);
    show_estimate(to, "embedding over kernels", &g->embedding_forward_factor, one);
    show_estimate(to, "  backward", &g->embedding_backward_factor, one);
    show_estimate(to, "compression overhead", &g->compression_overhead_s, us);
    show_estimate(to, "optimizer, per value", &g->step_bytes_per_value, bytes);
    show_estimate(to, "optimizer", &g->step_bytes_per_s, gb_per_s);
    show_estimate(to, "link to the host", &g->host_link_bytes_per_s, gb_per_s);
    show_estimate(to, "constant", &g->constant_bytes, mib);
    show_estimate(to, "libraries", &g->library_bytes, mib);
    show_estimate(to, "each communicator", &g->communicator_bytes, mib);
}

void calibration_show(const struct calibration *c, FILE *to, struct arena *arena)
{
    for (int i = 0; i < c->precision_count; i++) {
        const struct precision_fits *p = &c->precisions[i];
        fprintf(to, "-- %s\n\n", precision_names[p->precision]);
        for (int k = 0; k < KERNELS_OF_PRECISION; k++) {
            bool apart = (k == KERNEL_ATTENTION && p->softmax_apart) ||
                         (k == KERNEL_ATTENTION_BACKWARD && p->backward_apart);
            show_fit(to, kernel_kinds[k].title, apart ? ", its memory traffic priced apart" : "",
                     p->kernels[k], units[kernel_kinds[k].unit]);
        }
    }
    bool any = false;
    for (int k = KERNELS_OF_PRECISION; k < KERNEL_COUNT; k++) {
        if (!c->kernels[k] || (k != KERNEL_COPY && c->kernels[k] == c->kernels[KERNEL_COPY]))
            continue;
        if (!any) fputs("-- any precision\n\n", to);
        any = true;
        show_fit(to, kernel_kinds[k].title, "", c->kernels[k], units[kernel_kinds[k].unit]);
    }
    links_show(&c->links, to, arena);
    const struct gpu_costs *g = costs_find_gpu(&c->costs, c->gpu);
    if (g) show_costs(to, g);
}

// ---- how good the fits are, in a line

struct quality {
    const char *title;
    double off;
};

static int worst_first(const void *a, const void *b)
{
    const struct quality *x = a, *y = b;
    return (x->off < y->off) - (x->off > y->off);
}

// The error on samples that a line was not fitted to, where it is known.
static void note_quality(struct quality *all, int *count, int *samples, const char *title,
                         const struct fit *f)
{
    if (!f) return;
    all[(*count)++] =
        (struct quality){title, f->held_out > f->residual ? f->held_out : f->residual};
    *samples += f->point_count;
}

void calibration_quality(const struct calibration *c, FILE *to)
{
    enum { WORST = 3, FITS_MOST = KERNEL_COUNT * (PRECISION_COUNT + 1) };
    struct quality all[FITS_MOST];
    int count = 0, samples = 0;
    for (int i = 0; i < c->precision_count; i++)
        for (int k = 0; k < KERNELS_OF_PRECISION; k++)
            note_quality(all, &count, &samples, kernel_kinds[k].title, c->precisions[i].kernels[k]);
    for (int k = KERNELS_OF_PRECISION; k < KERNEL_COUNT; k++)
        note_quality(all, &count, &samples, kernel_kinds[k].title, c->kernels[k]);
    if (!count) return;
    qsort(all, (size_t)count, sizeof *all, worst_first);
    fprintf(to, "fits: %d line%s through %d samples, median off %.1f %%; furthest off:", count,
            count == 1 ? "" : "s", samples, 100 * all[count / 2].off);
    for (int i = 0; i < count && i < WORST; i++)
        fprintf(to, "%s %s %.1f %%", i ? "," : "", all[i].title, 100 * all[i].off);
    fprintf(to, "; --show has every sample\n");
}
