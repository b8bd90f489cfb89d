// Conditions that relate the parts of a priced document: sums within range, layers in order.
#include <string.h>

#include "solve/checker/read/problem.h"

static wide larger(wide a, wide b) { return a > b ? a : b; }

static wide most_again_ns(const struct check_run *r, int at)
{
    wide sum = 0;
    for (int mode = 0; mode < MODES; mode++)
        if (r->again[mode]) sum += larger(r->again[mode][at], 0);
    return sum;
}

static wide most_pass_ns(const struct check_problem *p, const struct check_run *r, int at)
{
    wide most = 0;
    for (int o = 0; o < p->gradient_count; o++)
        most =
            larger(most, larger(check_forward(r, o)[at], 0) + larger(check_backward(r, o)[at], 0));
    return most;
}

static bool lacks_again(const struct check_run *r, int at)
{
    bool lacks = false;
    for (int mode = 0; mode < MODES; mode++)
        lacks = lacks || (r->again[mode] && r->again[mode][at] < 0);
    return lacks;
}

// The most that the passes, syncs and optimizer steps of a run's layer can take, and its bytes.
static wide most_ns_of_run(const struct check_problem *p, const struct check_run *r)
{
    wide ns = 0;
    for (int g = 0; g < p->group_count; g++) {
        wide passes = r->weight[g], sync = 0;
        wide ways = 0;
        for (int o = 0; p->modes[MODE_SWAP] && o < p->gradient_count; o++)
            ways = larger(ways, (wide)larger(check_swap(r, o, false)[g], 0) +
                                    larger(check_swap(r, o, true)[g], 0));
        passes += ways;
        for (int k = g; k < p->slices * p->group_count; k += p->group_count)
            passes += most_pass_ns(p, r, k) + most_again_ns(r, k);
        for (int o = 0; o < p->gradient_count; o++)
            sync = larger(sync, (wide)r->sync[o][g] + r->optimizer[o][g]);
        ns = larger(ns, p->micro_batches * passes + sync);
    }
    return ns;
}

static wide most_bytes_of_run(const struct check_problem *p, const struct check_run *r)
{
    wide stash = 0, feedback = 0;
    for (int i = 0; i < MODES; i++) stash = larger(larger(stash, r->stash[i]), r->working[i]);
    for (int o = 0; o < p->gradient_count; o++) {
        wide sum = (wide)r->feedback[o] + r->optimizer_bytes[o];
        if (r->tiered) sum += r->tiered[o].buffer_bytes;
        for (int i = 0; i < p->tier_count; i++) sum += r->tiered[o].tier_bytes[i];
        feedback = larger(feedback, sum);
    }
    return (wide)r->weight_bytes + r->gradient_bytes + r->unsharded_bytes +
           (p->micro_batches + 1 + 2 * p->across) * stash + feedback;
}

static enum status refuse_sums(const struct check_problem *p)
{
    return check_refuse(&p->reader, "", "sums of times or bytes could pass 2^54");
}

enum status check_problem_bytes(const struct check_problem *p)
{
    wide bytes = 0, message = 0;
    for (int i = 0; i < p->run_count; i++)
        for (const struct check_run *r = &p->runs[i]; r; r = r->next)
            bytes += r->count * most_bytes_of_run(p, r);
    for (int i = 0; i < p->cut_count; i++) {
        message = larger(message, p->cuts[i].message_bytes);
        for (int o = 0; o < p->boundary_count; o++)
            message = larger(message, p->cuts[i].feedback[o]);
    }
    for (int g = 0; g < p->group_count; g++) bytes += p->groups[g].constant_bytes;
    bytes += p->stages * (8 * message + p->local_bytes);
    if (p->head) bytes += p->stages * most_bytes_of_run(p, p->head);
    return bytes < MOST_SUM ? OK : refuse_sums(p);
}

enum status check_problem_times(const struct check_problem *p)
{
    wide ns = 0, price = 0, constant = 0, passes = (wide)p->micro_batches * p->slices;
    for (int i = 0; i < p->run_count; i++)
        for (const struct check_run *r = &p->runs[i]; r; r = r->next)
            ns += r->count * most_ns_of_run(p, r);
    for (int i = 0; i < p->cut_count; i++)
        for (int k = 0; k < p->slices * p->group_count * p->group_count * PARTS; k++) {
            price = larger(price, p->cuts[i].forward[k]);
            for (int o = 0; o < p->boundary_count; o++)
                price = larger(price, p->cuts[i].backward[o][k]);
        }
    for (int i = 0; i < p->run_count; i++)
        for (int k = 0; p->runs[i].entry && k < 2 * p->group_count; k++)
            price = larger(price, p->runs[i].entry[k]);
    for (int g = 0; g < p->group_count; g++)
        for (int o = 0; o < p->gradient_count; o++)
            constant = larger(constant, p->groups[g].sync_constant[o]);
    for (int k = 0; p->embedding && k < p->group_count * p->group_count; k++)
        constant = larger(constant, p->embedding[k]);
    ns += (p->stages + 1) *
          (constant + passes * (2 * (PARTS + 1) * price + p->local_forward + p->local_backward));
    if (p->head) ns += p->stages * most_ns_of_run(p, p->head);
    return ns < MOST_SUM ? OK : refuse_sums(p);
}

enum status check_run_prices(const struct check_problem *p, const struct check_run *r, int i)
{
    for (int g = 0; g < p->group_count; g++) {
        bool missing = r->weight[g] < 0, split = r->weight[g] && !missing && !p->splits_backward;
        for (int k = g; k < p->slices * p->group_count; k += p->group_count)
            missing = missing || r->forward[k] < 0 || r->backward[k] < 0 || lacks_again(r, k);
        for (int o = 0; o < p->gradient_count; o++)
            missing = missing || r->sync[o][g] < 0 || r->optimizer[o][g] < 0 ||
                      p->groups[g].sync_constant[o] < 0;
        bool unlike = false;
        for (int o = 0; p->modes[MODE_SWAP] && o < p->gradient_count; o++) {
            bool none = check_swap(&p->runs[0], o, false)[g] < 0;
            for (int back = 0; back < 2; back++)
                unlike = unlike || (check_swap(r, o, back)[g] < 0) != none;
        }
        if (split || ((missing || unlike) && !p->groups[g].excluded))
            return check_refuse(&p->reader, "runs",
                                "run %d lacks a price on group %d, or states one too many", i, g);
    }
    for (int k = 0; k < i; k++)
        if (!strcmp(p->runs[k].name, r->name))
            return check_refuse(&p->reader, "runs", "\"%.40s\" names two runs", r->name);
    return OK;
}

enum status check_place_layers(struct check_problem *p, struct arena *arena)
{
    int layer = 0;
    p->run_of = TAKE(arena, p->layers, int);
    p->run_begin = TAKE(arena, p->run_count + 1, int);
    for (int i = 0; i < p->run_count; i++) {
        for (int k = 0; k < p->runs[i].count; k++, layer++) {
            if (layer == p->layers)
                return check_refuse(&p->reader, "layer_count", "the runs have more than %d layers",
                                    p->layers);
            p->run_of[layer] = i;
        }
        p->run_begin[i + 1] = layer;
    }
    if (layer != p->layers)
        return check_refuse(&p->reader, "layer_count", "the runs have %d layers", layer);
    return p->layers >= p->stages
               ? OK
               : check_refuse(&p->reader, "layer_count", "fewer layers than stages");
}
