// Each fit as a line, and under it the samples it was made from: what was measured, what the line says, how far off.
#include "calibrate/calibrate.h"

struct unit { const char *text; double size; };

static void print_seconds(FILE *to, double seconds)
{
    if (seconds < 1e-3) fprintf(to, "%9.2f us", 1e6 * seconds);
    else if (seconds < 1) fprintf(to, "%9.3f ms", 1e3 * seconds);
    else fprintf(to, "%9.4f s ", seconds);
}

static void show_fit(FILE *to, const char *title, const struct fit *f, struct unit work)
{
    fprintf(to, "%s: %d samples\n", title, f->point_count);
    fprintf(to, "  rate      %12.5g %s/s   95 %%: %.5g to %.5g\n", f->rate.value / work.size, work.text,
            f->rate.low / work.size, f->rate.high / work.size);
    fprintf(to, "  overhead  %12.5g us        95 %%: %.5g to %.5g%s\n", 1e6 * f->overhead_s.value,
            1e6 * f->overhead_s.low, 1e6 * f->overhead_s.high, f->through_zero ? "; held at 0" : "");
    fprintf(to, "  scatter   %12.2f           %s\n", f->scatter,
            f->scatter > 1 ? "points lie further from the line than their own intervals allow; "
                             "intervals widened"
                           : "points lie as near to the line as their intervals say");
    fprintf(to, "  %-32s %14s %12s %26s %12s %8s\n", "operation", work.text, "median", "95 % interval", "line", "off");
    for (int i = 0; i < f->point_count; i++) {
        const struct fit_point *p = &f->points[i];
        double line = fit_seconds(f, p->work) + p->explained_s;
        fprintf(to, "  %-32.32s %14.6g ", p->operation, p->work / work.size);
        print_seconds(to, p->seconds);
        fputs("  ", to);
        print_seconds(to, p->low);
        fputs(" .. ", to);
        print_seconds(to, p->high);
        fputc(' ', to);
        print_seconds(to, line);
        fprintf(to, " %+6.1f %%\n", 100 * (line / p->seconds - 1));
    }
    fputc('\n', to);
}

static void show_estimate(FILE *to, const char *name, const struct estimate *e, struct unit unit)
{
    fprintf(to, "  %-24s %12.5g %-9s 95 %%: %.5g to %.5g  (%s)\n", name, e->value / unit.size, unit.text,
            e->low / unit.size, e->high / unit.size, origin_names[e->origin]);
}

void calibration_show(const struct calibration *c, FILE *to)
{
    const struct unit gflop = {"GFLOP", 1e9}, mb = {"MB", 1e6}, blocks = {"blocks", 1};
    const struct unit gflop_per_s = {"GFLOP/s", 1e9}, gb_per_s = {"GB/s", 1e9}, us = {"us", 1e-6},
                      mib = {"MiB", 1048576};
    for (int i = 0; i < c->precision_count; i++) {
        const struct precision_fits *p = &c->precisions[i];
        fprintf(to, "-- %s\n\n", precision_names[p->precision]);
        show_fit(to, "matrix products", &p->gemm, gflop);
        show_fit(to,
                 p->softmax_apart ? "attention, its memory traffic priced apart" : "attention, with its memory traffic",
                 &p->attention, gflop);
        show_fit(to, "low-rank compression", &p->low_rank, gflop);
    }
    fprintf(to, "-- any precision\n\n");
    show_fit(to, "memory-bound parts", &c->memory, mb);
    show_fit(to, "calls of empty blocks", &c->blocks, blocks);
    const struct gpu_costs *g = &c->costs.gpus[0];
    fprintf(to, "costs of %s\n", g->gpu);
    for (int i = 0; i < g->precision_count; i++) {
        const struct precision_costs *p = &g->precisions[i];
        fprintf(to, "  in %s\n", precision_names[p->precision]);
        show_estimate(to, "matrix products", &p->gemm_flop_per_s, gflop_per_s);
        show_estimate(to, "attention", &p->attention_flop_per_s, gflop_per_s);
        show_estimate(to, "low-rank compression", &p->low_rank_flop_per_s, gflop_per_s);
    }
    show_estimate(to, "memory", &g->memory_bytes_per_s, gb_per_s);
    show_estimate(to, "layer overhead", &g->layer_overhead_s, us);
    show_estimate(to, "compression overhead", &g->compression_overhead_s, us);
    show_estimate(to, "constant", &g->constant_bytes, mib);
}
