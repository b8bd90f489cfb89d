// Key figures of a plan: tokens, utilisation, price (docs/FORMULAS.md 18).
#include <inttypes.h>
#include <string.h>

#include "data/inputs/cost_keys.h"
#include "solve/report/report.h"

static double recomputed_of(const struct plan *plan, const struct problem *p)
{
    double sum = 0;
    for (int s = 0; s < plan->stage_count; s++) {
        const struct plan_stage *stage = &plan->stages[s];
        bool swaps = stage->recompute == RECOMPUTE_SWAP; // recomputes those after the swapped
        enum recompute mode = swaps ? RECOMPUTE_FIRST_LAYERS : stage->recompute;
        int before = swaps ? stage->swapped_layers : 0;
        sum += recomputed_flop(&p->model, stage->first_layer, stage->layer_count, mode,
                               before + stage->recomputed_layers, &p->job);
        if (swaps)
            sum -= recomputed_flop(&p->model, stage->first_layer, stage->layer_count, mode, before,
                                   &p->job);
    }
    return sum;
}

// ---- what the plan expects of the hosts

static const char *rate_text(const struct estimate *e, const char *unit, double by,
                             struct arena *arena)
{
    if (!(e->value > 0)) return NULL;
    return arena_print(arena, "%.3g %s (%s)", e->value / by, unit, origin_names[e->origin]);
}

static bool asks_of_hosts(const struct plan *plan)
{
    for (int s = 0; s < plan->stage_count; s++) {
        int option = plan->stages[s].gradient_option;
        bool share = option < plan->gradient_option_count &&
                     plan->gradient_options[option].tier_option;
        if (share || plan->stages[s].recompute == RECOMPUTE_SWAP) return true;
    }
    return plan->layout.offload_optimizer;
}

// The rates of a GPU's share of its host, with where each is from.
static void print_hosts(struct text *out, const struct plan *plan, const struct problem *p)
{
    for (int i = 0; i < p->costs.gpu_count && asks_of_hosts(plan); i++) {
        const struct gpu_costs *gpu = &p->costs.gpus[i];
        bool used = false;
        for (int s = 0; s < plan->stage_count; s++)
            used |= !strcmp(plan->group_gpus[plan->stages[s].group], gpu->gpu);
        if (!used) continue;
        const char *link = rate_text(&gpu->host_link_bytes_per_s, "GB/s", 1e9, out->arena),
                   *memory = rate_text(&gpu->host_memory_bytes_per_s, "GB/s", 1e9, out->arena),
                   *update =
                       rate_text(&gpu->host_update_values_per_s, "10^9 values/s", 1e9, out->arena);
        text_put(out, "  host       of each %s: link %s, memory %s, update %s; size not checked\n",
                 gpu->gpu, link ? link : "not stated", memory ? memory : "not stated",
                 update ? update : "as its memory allows (assumed)");
    }
}

// What the times are made of, for each GPU of the plan.
static void print_origins(struct text *out, const struct plan *plan, const struct problem *p)
{
    for (int i = 0; i < p->costs.gpu_count; i++) {
        const char *gpu = p->costs.gpus[i].gpu;
        bool used = false;
        for (int s = 0; s < plan->stage_count; s++)
            used |= !strcmp(plan->group_gpus[plan->stages[s].group], gpu);
        if (used)
            text_put(out, "  costs      of %s %s\n", gpu,
                     costs_origins(&p->costs, gpu, precision_bytes(p->job.precision), out->arena));
    }
}

static void print_utilisation(struct text *out, const struct figures *f)
{
    if (!(f->model_flop_per_s > 0)) {
        text_put(out, "  MFU        not known: the model has measured layers\n");
        return;
    }
    text_put(out,
             "  FLOP       %.4g TFLOP/s per GPU of the model (%.4g with causal attention), %.4g "
             "with recomputation\n",
             f->tflops_per_gpu, f->causal_tflops_per_gpu,
             f->hardware_flop_per_s / (double)f->gpus / 1e12);
    if (f->gpu_without_peak)
        text_put(out, "  MFU        not known: the costs state no peak_flop_per_s of %s\n",
                 f->gpu_without_peak);
    else
        text_put(out,
                 "  MFU        %.2f %% (causal %.2f %%), HFU %.2f %%, of a peak of %.4g PFLOP/s\n",
                 f->mfu_percent, f->causal_mfu_percent,
                 100 * f->hardware_flop_per_s / f->peak_flop_per_s, f->peak_flop_per_s / 1e15);
}

void report_figures_of(struct figures *f, const struct plan *plan, const struct problem *problem)
{
    figures_find(f, problem, plan->iteration_ns, recomputed_of(plan, problem));
}

void report_figures(struct text *out, const struct plan *plan, const struct problem *problem)
{
    struct figures f;
    report_figures_of(&f, plan, problem);
    int64_t idle = f.gpus - plan_devices(plan);
    text_put(out, "  tokens     %.6g a second, %.0f a GPU-hour", f.tokens_per_s,
             f.tokens_per_gpu_hour);
    if (idle > 0) text_put(out, " (%" PRId64 " GPUs, %" PRId64 " of them idle)", f.gpus, idle);
    text_put(out, "\n");
    print_utilisation(out, &f);
    print_hosts(out, plan, problem);
    print_origins(out, plan, problem);
    if (f.price_per_hour > 0)
        text_put(out, "  price      %.2f an hour, %.4g per million tokens\n", f.price_per_hour,
                 f.price_per_million_tokens);
    if (f.run_hours > 0)
        text_put(out, "  run        %" PRId64 " tokens: %.1f hours", problem->job.run_tokens,
                 f.run_hours);
    if (f.run_price > 0) text_put(out, ", price %.0f", f.run_price);
    if (f.run_hours > 0 && f.group_without_price)
        text_put(out, "; no price: group %s has no gpu_hour_price", f.group_without_price);
    if (f.run_hours > 0) text_put(out, "\n");
}
