// The layers first: they are fitted as samples of measure are, by the rates of the costs. Then a
// plan's time with these costs, against its iterations, gives the trainer's factor.
#include "calibrate/calibrate.h"

#include <stdlib.h>
#include <string.h>

#include "data/results/origin.h"
#include "formulate/price/range.h"

// By which another schedule or split of the same machine may differ, where one plan alone was
// carried out; chosen with eleven plans of one small GPT in view (docs/VALIDATION.md).
static const double other_plans_apart = 0.05;
enum { RUNS_THAT_SCATTER = 3 }; // with fewer it is assumed
enum { FP32_STEP_BYTES = 24 };  // gradient and weight, both moments read and written
static const double step_open = 0.1, split_open = 1.25; // what these rates leave open

static enum status load(struct carried *c, const char *path, struct arena *arena, struct error *err)
{
    TRY(plan_run_load(&c->run, path, arena, err));
    const struct document *d = &c->run.document;
    for (int i = 0; i < d->source_count; i++)
        if (!strcmp(d->sources[i].role, "plan"))
            TRY(plan_load(&c->plan, path_beside(d->path, d->sources[i].path, arena), arena, err));
    if (!c->plan.stage_count)
        return refuse(err, "%s: made_from: expected a plan with stages", path);
    TRY(plan_run_check(&c->run, &c->plan, err));
    struct problem problem;
    if (!origin_problem(&c->plan, &problem, arena))
        return refuse(err, "%s: made_from: its problem is missing or has changed since",
                      c->plan.document.path);
    c->problem = problem_with_layout(&problem, &c->plan.layout);
    if (!c->run.samples.sample_count)
        return refuse(err, "%s: samples: expected layers as they ran, found none", path);
    return OK;
}

static enum status load_all(struct carried_fits *f, const struct option_texts *paths,
                            struct arena *arena, struct error *err)
{
    f->runs = TAKE(arena, paths->count, struct carried);
    for (int i = 0; i < paths->count; i++) {
        struct carried *c = &f->runs[f->run_count++], *first = &f->runs[0];
        TRY(load(c, paths->items[i], arena, err));
        if (strcmp(c->plan.group_gpus[0], first->plan.group_gpus[0]) ||
            c->problem.job.trainer != first->problem.job.trainer || c->run.with != first->run.with)
            return refuse(err, "%s: expected a run of the same GPU, trainer and kernels as %s",
                          paths->items[i], paths->items[0]);
        plan_run_at_speed(&c->run, 1e-9 * (double)first->run.yardstick_ns);
    }
    return OK;
}

// ---- the trainer's factor

static struct estimate *factor_of(struct gpu_costs *g, enum trainer trainer, const char **key)
{
    switch (trainer) {
    case TRAINER_MEGATRON: *key = "megatron_step_factor"; return &g->megatron_step_factor;
    case TRAINER_DEEPSPEED: *key = "deepspeed_step_factor"; return &g->deepspeed_step_factor;
    case TRAINER_TORCHTITAN: *key = "sharded_step_factor"; return &g->sharded_step_factor;
    default: *key = "other_step_factor"; return &g->other_step_factor;
    }
}

static enum status time_with(int64_t *ns, struct carried_fits *f, int run, double factor,
                             struct arena *arena, struct error *err)
{
    struct moved_costs_list *one = TAKE(arena, 1, struct moved_costs_list);
    struct carried *c = &f->runs[run];
    *one = (struct moved_costs_list){1, {{0, 0, costs_copy(&f->calibration.costs, arena)}}};
    struct gpu_costs *g =
        (struct gpu_costs *)costs_find_gpu(&one->items[0].costs, f->calibration.gpu);
    *factor_of(g, c->problem.job.trainer, &f->factor_key) =
        estimate_fitted(factor, factor, factor, NULL);
    TRY(range_times(ns, one, &c->plan, &c->problem, arena, err));
    if (*ns) return OK;
    return refuse(err, "%s: its plan cannot be priced with these costs", c->run.document.path);
}

// A time is a straight line of the factor as long as the same path is critical.
static enum status factor_of_run(double *factors, struct carried_fits *f, int run,
                                 struct arena *arena, struct error *err)
{
    const struct plan_run *r = &f->runs[run].run;
    for (int i = 0; i < r->iteration_count; i++) {
        double at = 1;
        for (int turn = 0; turn < 3; turn++) {
            int64_t low, high;
            TRY(time_with(&low, f, run, at, arena, err));
            TRY(time_with(&high, f, run, 1.1 * at, arena, err));
            if (high <= low) break;
            at += 0.1 * at * (double)(r->iterations[i].ns - low) / (double)(high - low);
            at = fmin(fmax(at, 0.05), 90);
        }
        factors[i] = at;
    }
    return OK;
}

// By how much the machine was faster, and slower, in some of a run's iterations than in the median.
static void yardstick_moved(const struct plan_run *r, double *faster, double *slower,
                            struct arena *arena)
{
    double *each = TAKE(arena, r->iteration_count, double);
    *faster = *slower = 1;
    for (int i = 0; i < r->iteration_count; i++) each[i] = (double)r->iterations[i].yardstick_ns;
    qsort(each, (size_t)r->iteration_count, sizeof *each, compare_numbers);
    if (each[0] <= 0) return;
    *faster = each[0] / each[(r->iteration_count - 1) / 2];
    *slower = each[r->iteration_count - 1] / each[(r->iteration_count - 1) / 2];
}

static enum status fit_factor(struct carried_fits *f, struct arena *arena, struct error *err)
{
    double *of_runs = TAKE(arena, f->run_count, double), apart = other_plans_apart;
    double least = HUGE_VAL, most = 0;
    for (int i = 0; i < f->run_count; i++) {
        int count = f->runs[i].run.iteration_count;
        double *factors = TAKE(arena, count, double);
        TRY(factor_of_run(factors, f, i, arena, err));
        qsort(factors, (size_t)count, sizeof *factors, compare_numbers);
        of_runs[i] = factors[(count - 1) / 2];
        double faster, slower;
        yardstick_moved(&f->runs[i].run, &faster, &slower, arena);
        least = fmin(least, faster * factors[0]), most = fmax(most, slower * factors[count - 1]);
    }
    qsort(of_runs, (size_t)f->run_count, sizeof *of_runs, compare_numbers);
    f->factor = of_runs[(f->run_count - 1) / 2];
    if (f->run_count >= RUNS_THAT_SCATTER) {
        double sum = 0;
        for (int i = 0; i < f->run_count; i++) sum += pow(log(of_runs[i] / f->factor), 2);
        apart = student_quantile(0.95, f->run_count - 1) * sqrt(sum / (f->run_count - 1));
    }
    f->low = least, f->high = most;
    f->apart = apart;
    return OK;
}

// ---- steps and memory

// Values per second of a step, from the ratio of measured to planned steps.
static void fit_step(struct carried_fits *f, const struct gpu_costs *g, struct arena *arena)
{
    double *ratios = NULL;
    int count = 0;
    f->step_values_per_s = 0;
    for (int i = 0; i < f->run_count; i++) {
        const struct carried *c = &f->runs[i];
        double *more = arena_grow(arena, ratios, (size_t)count,
                                  (size_t)(count + c->run.event_count), sizeof *ratios);
        ratios = more;
        for (int k = 0; k < c->run.event_count; k++) {
            const struct run_event *e = &c->run.events[k];
            int64_t planned = c->plan.stages[e->stage].optimizer_ns;
            if (e->kind == EVENT_OPTIMIZER && planned > 0)
                ratios[count++] = (double)(e->end_ns - e->start_ns) / (double)planned;
        }
    }
    if (!count || f->runs[0].problem.job.precision != FP32) return;
    qsort(ratios, (size_t)count, sizeof *ratios, compare_numbers);
    double rate = g->step_bytes_per_s.value > 0 ? g->step_bytes_per_s.value
                                                : g->memory_bytes_per_s.value;
    f->step_values_per_s =
        rate / (ratios[(count - 1) / 2] * (FP32_STEP_BYTES + g->step_bytes_per_value.value));
}

// Of all runs, the times of layers of this name that took so long; 0: none.
static double seconds_of_layers(const struct carried_fits *f, const char *operation,
                                struct arena *arena)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < f->run_count; i++)
        for (int k = 0; k < f->runs[i].run.samples.sample_count; k++) {
            const struct sample *s = &f->runs[i].run.samples.samples[k];
            if (s->kind != SAMPLE_LAYER || strcmp(s->operation, operation)) continue;
            sum += sample_median(s, arena).value;
            count++;
        }
    return count ? sum / count : 0;
}

// What both halves of a block's backward pass take over the whole.
static void fit_split(struct carried_fits *f, struct arena *arena)
{
    double whole = seconds_of_layers(f, "block backward, whole", arena),
           inputs = seconds_of_layers(f, "block backward, of inputs", arena),
           weights = seconds_of_layers(f, "block backward, of weights", arena);
    f->split_s = whole > 0 && inputs > 0 && weights > 0 ? fmax(0, inputs + weights - whole) : -1;
}

// What ranks held beyond what the plan says of all but the process itself. Own kernels have no
// communicators besides.
static void fit_memory(struct carried_fits *f, const struct gpu_costs *g, struct arena *arena)
{
    int count = 0, most = 0;
    for (int i = 0; i < f->run_count; i++) most += f->runs[i].run.rank_count;
    double *beyond = TAKE(arena, most, double);
    bool own = f->runs[0].run.with == RUNNER_OWN;
    f->constant_bytes = -1;
    for (int i = 0; i < f->run_count; i++)
        for (int k = 0; k < f->runs[i].run.rank_count; k++) {
            const struct run_rank *r = &f->runs[i].run.ranks[k];
            int64_t limit;
            const struct memory_parts *m = plan_memory(&f->runs[i].plan, r->rank, &limit);
            if (r->peak_bytes)
                beyond[count++] =
                    (double)(r->peak_bytes - memory_total(m) + (own ? m->constant_bytes : 0));
        }
    if (!count) return;
    qsort(beyond, (size_t)count, sizeof *beyond, compare_numbers);
    f->constant_bytes = (int64_t)fmax(0, (own ? -g->library_bytes.value : g->constant_bytes.value) +
                                             beyond[(count - 1) / 2]);
}

// ---- all of it

// Where a run scatters and gathers over so many ranks and has no sum of them: a sum is both, one
// after the other.
static void add_sums(struct samples *s, struct arena *arena)
{
    int count = s->sample_count;
    struct sample *all = TAKE(arena, 2 * count, struct sample);
    memcpy(all, s->samples, (size_t)count * sizeof *all);
    for (int i = 0; i < count; i++) {
        const struct sample *x = &s->samples[i];
        bool sums = false,
             half = !strcmp(x->operation, "reduce_scatter") || !strcmp(x->operation, "all_gather");
        for (int k = 0; k < count; k++)
            sums |= s->samples[k].member_count == x->member_count &&
                    !strcmp(s->samples[k].operation, "all_reduce");
        if (x->kind != SAMPLE_COLLECTIVE || !half || sums) continue;
        struct sample *to = &all[s->sample_count++];
        *to = *x;
        to->operation = "all_reduce";
        to->seconds = TAKE(arena, x->repetitions, double);
        for (int k = 0; k < x->repetitions; k++) to->seconds[k] = 2 * x->seconds[k];
    }
    s->samples = all;
}

// measured: of the costs' collectives the first ones are of these runs.
static void fit_ends(struct carried_fits *f, const char *gpu, int measured, struct arena *arena)
{
    double bytes = 0;
    for (int i = 0; i < f->run_count; i++) {
        const struct plan_run *r = &f->runs[i].run;
        message_ends_add(&f->ends, r, arena);
        for (int part = 0; part < PART_COUNT; part++) // its messages have parts that took no time
            f->runs[i].plan.graph.parts[part] = true;
        for (int k = 0; k < r->samples.sample_count; k++)
            if (r->samples.samples[k].kind == SAMPLE_LINK)
                bytes = fmax(bytes, r->samples.samples[k].bytes);
    }
    message_ends_to_costs(&f->ends, &f->calibration.costs, gpu, measured, bytes);
}

static enum status join(struct carried_fits *f, const char *name, struct arena *arena,
                        struct error *err)
{
    struct samples *documents = TAKE(arena, f->run_count, struct samples);
    struct inputs *inputs = TAKE(arena, 1, struct inputs);
    for (int i = 0; i < f->run_count; i++) {
        documents[i] = f->runs[i].run.samples;
        documents[i].document = f->runs[i].run.document;
        if (f->runs[i].run.with == RUNNER_OWN) add_sums(&documents[i], arena);
    }
    f->calibration.gpu = name ? name : f->runs[0].plan.group_gpus[0];
    f->calibration.inputs = inputs;
    return inputs_join(inputs, documents, f->run_count, f->calibration.gpu, arena, err);
}

static void put_sources(struct carried_fits *f, const struct costs *base, const char *output,
                        struct arena *arena)
{
    struct document *d = &f->calibration.costs.document;
    *d = (struct document){.sources = TAKE(arena, f->run_count + 1, struct source)};
    for (int i = 0; i < f->run_count; i++)
        d->sources[d->source_count++] = source_of("run", &f->runs[i].run.document, output, arena);
    d->sources[d->source_count++] = source_of("costs", &base->document, output, arena);
}

static void put_step(const struct carried_fits *f, struct gpu_costs *g, const char *source)
{
    double rate = f->step_values_per_s;
    if (rate > 0)
        step_costs_put(g, (struct interval){rate, rate / (1 + step_open), rate * (1 + step_open)},
                       source);
}

static void put_costs(struct carried_fits *f, struct gpu_costs *g, struct arena *arena)
{
    const char *source = arena_print(arena, "%d plan%s carried out with %s", f->run_count,
                                     f->run_count == 1 ? "" : "s",
                                     runner_names[f->runs[0].run.with]);
    *factor_of(g, f->runs[0].problem.job.trainer, &f->factor_key) =
        estimate_fitted(f->factor, f->low, f->high, source);
    struct estimate *spread = &f->calibration.costs.iteration_spread;
    *spread = estimate_fitted(f->apart, f->apart, f->apart, source);
    if (f->run_count < RUNS_THAT_SCATTER) spread->origin = ORIGIN_ASSUMED;
    double yardstick_s = 1e-9 * (double)f->runs[0].run.yardstick_ns;
    struct estimate *yardstick = f->runs[0].run.with == RUNNER_TORCH ? &g->torch_yardstick_s
                                                                     : &g->kernels_yardstick_s;
    *yardstick = (struct estimate){yardstick_s,
                                   yardstick_s,
                                   yardstick_s,
                                   ORIGIN_MEASURED,
                                   yardstick_s > 0 ? source : NULL,
                                   0,
                                   0};
    put_step(f, g, source);
    if (f->split_s >= 0)
        g->split_overhead_s =
            estimate_fitted(f->split_s, f->split_s / split_open, f->split_s * split_open, source);
    if (f->constant_bytes >= 0 && f->runs[0].run.with == RUNNER_OWN)
        g->communicator_bytes = (struct estimate){.origin = ORIGIN_MEASURED, .source = source};
    if (f->constant_bytes >= 0)
        g->constant_bytes = (struct estimate){(double)f->constant_bytes,
                                              (double)f->constant_bytes,
                                              (double)f->constant_bytes,
                                              ORIGIN_MEASURED,
                                              source,
                                              0,
                                              0};
}

// A processor starts its own kernels: what layers took on it holds their starts.
static void fit_launches(const struct carried_fits *f, struct gpu_costs *g)
{
    const struct estimate none = {.origin = ORIGIN_MEASURED, .source = "in the layers' own time"};
    if (f->runs[0].run.samples.machine.driver) return;
    g->layer_launch_s = g->mixture_launch_s = none;
    for (int i = 0; i < g->precision_count; i++) g->precisions[i].expert_launch_s = none;
}

enum status carried_fit(struct carried_fits *f, const struct option_texts *paths,
                        const struct costs *base, const char *name, const char *output,
                        struct arena *arena, struct error *err)
{
    *f = (struct carried_fits){.runs = NULL};
    TRY(load_all(f, paths, arena, err));
    if (!base) base = &f->runs[0].problem.costs;
    TRY(join(f, name, arena, err));
    f->calibration.costs = costs_copy(base, arena);
    struct gpu_costs *g =
        (struct gpu_costs *)costs_find_gpu(&f->calibration.costs, f->calibration.gpu);
    if (!g)
        return refuse(err, "%s: gpus: expected %s, which the plans are for, found none",
                      base->document.path, f->calibration.gpu);
    fit_launches(f, g);
    fit_step(f, g, arena);
    fit_memory(f, g, arena);
    fit_split(f, arena);
    TRY(links_fit(&f->calibration.links, f->calibration.inputs, arena, err));
    int measured =
        links_to_costs(&f->calibration.costs, &f->calibration.links, f->calibration.gpu, arena);
    fit_ends(f, f->calibration.gpu, measured, arena);
    put_step(f, g, NULL);
    TRY(layers_fit(&f->layers, &f->calibration, &f->runs[0].problem.model, arena, err));
    TRY(fit_factor(f, arena, err));
    put_costs(f, g, arena);
    put_sources(f, base, output, arena);
    return OK;
}

void carried_show(const struct carried_fits *f, FILE *to)
{
    fprintf(to, "measured: %d sample%s of whole layers; %s %.4g (%.4g to %.4g)",
            f->layers.check_count, f->layers.check_count == 1 ? "" : "s", f->factor_key, f->factor,
            f->low, f->high);
    fprintf(to, "; other plans within %.1f %%%s", 100 * f->apart,
            f->run_count < 3 ? " (assumed)" : "");
    if (f->step_values_per_s > 0) fprintf(to, "; the step");
    if (f->split_s >= 0) fprintf(to, "; %.3g ms of a split block", 1e3 * f->split_s);
    if (f->calibration.links.class_count) fprintf(to, "; messages and all-reduces");
    double end_s = message_ends_s(&f->ends);
    if (end_s > 0) fprintf(to, "; %.3g ms of a rank's own at each end of a message", 1e3 * end_s);
    if (f->constant_bytes >= 0)
        fprintf(to, "; %.0f MiB of the process itself", (double)f->constant_bytes / 1048576);
    fprintf(to, "\nstill as in the costs before: rates of single kernels, recomputation%s%s\n",
            f->calibration.links.class_count ? "" : ", links",
            f->constant_bytes < 0 ? ", memory" : "");
}
