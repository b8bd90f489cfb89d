// What the benchmark of placements needs besides the commands: clusters of racks, slower links,
// proofs under the Pipette objective, and annealing as in the published planner, for that objective
// and for the exact iteration time.
//
//     bench-placement racks RACKS NODES_A_RACK SEED cluster.json
//         links of 400, 200, 100 Gb/s, +-10 %
//     bench-placement slower cluster.json FACTOR cluster.json
//     bench-placement pipette problem.json SECONDS RUNS
//         SECONDS 0: as long as the proof took
//     bench-placement time problem.json plan.json SECONDS RUNS
//
// pipette prints: value ns, bound ns, seconds; then the median and the best of the annealing runs,
// and seconds of each. time prints: the plan's iteration ns, its bound ns, the same plan's ns with
// free links, then median, best, seconds.
//
// The annealing follows what is known of yimjinkyu1/date2024_pipette (docs/FORMULAS.md section 15):
// one of five moves at random, temperature 1 and x 0.999 an iteration, a difference in ms divided
// by ten until it is below 1, stopped by the clock.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "data/base/random.h"
#include "formulate/price/price.h"
#include "solve/chains/chains.h"
#include "solve/places/placed.h"

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- annealing

struct annealed {
    int64_t (*value)(void *of, const int *order);
    void *of;
    int count; // of nodes in order
};

static void turn(int *order, int a, int b)
{
    for (; a < b; a++, b--) {
        int kept = order[a];
        order[a] = order[b], order[b] = kept;
    }
}

// Moves the nodes at first .. last to after `to` of the others.
static void insert_route(int *order, int count, int first, int last, int to, bool turned,
                         int *scratch)
{
    int size = last - first + 1, rest = 0;
    if (turned) turn(order, first, last);
    memcpy(scratch, order + first, (size_t)size * sizeof *order);
    for (int i = 0; i < count; i++)
        if (i < first || i > last) scratch[size + rest++] = order[i];
    memcpy(order, scratch + size, (size_t)to * sizeof *order);
    memcpy(order + to, scratch, (size_t)size * sizeof *order);
    memcpy(order + to + size, scratch + size + to, (size_t)(rest - to) * sizeof *order);
}

static void move(int *order, int count, uint64_t *state, int *scratch)
{
    int a = random_below(state, count), b = random_below(state, count),
        kind = random_below(state, 5);
    int first = a < b ? a : b, last = a < b ? b : a;
    if (kind == 0) {
        turn(order, first, last);
    } else if (kind == 1) {
        insert_route(order, count, a, a, b, false, scratch);
    } else if (kind == 2) {
        int kept = order[a];
        order[a] = order[b], order[b] = kept;
    } else {
        insert_route(order, count, first, last, random_below(state, count - (last - first)),
                     kind == 4, scratch);
    }
}

// The best value seen within the seconds, from the order of the matrix.
static int64_t anneal(const struct annealed *x, double seconds, uint64_t seed, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    size_t size = (size_t)x->count * sizeof(int);
    int *now = TAKE(arena, x->count, int), *next = TAKE(arena, x->count, int),
        *scratch = TAKE(arena, x->count * 2, int);
    for (int i = 0; i < x->count; i++) now[i] = i;
    int64_t value = x->value(x->of, now), best = value;
    double temperature = 1, end_s = now_s() + seconds;
    for (; now_s() < end_s; temperature *= 0.999) {
        memcpy(next, now, size);
        move(next, x->count, &seed, scratch);
        int64_t moved = x->value(x->of, next);
        double difference = (double)(moved - value) / 1e6,
               chance = (double)(random_next(&seed) >> 11) / 9007199254740992.0;
        while (difference >= 1) difference /= 10;
        if (difference > 0 && chance >= exp(-difference / temperature)) continue;
        memcpy(now, next, size);
        value = moved;
        best = value < best ? value : best;
    }
    arena_reset(arena, mark);
    return best;
}

static int compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void anneal_and_print(const struct annealed *x, double seconds, int runs,
                             struct arena *arena)
{
    int64_t *values = TAKE(arena, runs, int64_t);
    for (int i = 0; i < runs; i++) values[i] = anneal(x, seconds, (uint64_t)i + 1, arena);
    qsort(values, (size_t)runs, sizeof *values, compare_values);
    printf(" %lld %lld %.3f\n", (long long)values[runs / 2], (long long)values[0], seconds);
}

// ---- the Pipette objective: 2 M / B per hop, 2 (k - 1) / k D / B of the ring's slowest link

static struct chains pipette_chains(const struct problem *p, struct arena *arena)
{
    const struct layout *l = &p->job.layout;
    const struct places *x = &p->cluster.places;
    const struct shape *shape = &p->model.shape;
    int n = x->node_count, k = l->data, blocks = 0;
    double bytes = precision_bytes(p->job.precision), hidden = (double)shape->hidden;
    for (int i = 0; i < p->model.run_count; i++)
        blocks += p->model.runs[i].kind == LAYER_BLOCK ? p->model.runs[i].count : 0;
    double message = (double)l->micro_batch * (double)p->job.sequence * hidden * bytes;
    double gradient =
        (hidden * (double)shape->vocabulary + (double)blocks / l->pipeline * 16 * hidden * hidden) /
        l->tensor * bytes;
    int64_t *hop = TAKE(arena, (size_t)l->pipeline * (size_t)n * (size_t)n, int64_t),
            *ring = TAKE(arena, (size_t)n * (size_t)n, int64_t);
    for (int i = 0; i < n * n; i++) {
        double speed = x->measured[i].bytes_per_s;
        ring[i] = i / n == i % n || speed <= 0
                      ? CHAIN_NONE
                      : llround(2.0 * (k - 1) / k * gradient / speed * 1e9);
        for (int at = 0; at + 1 < l->pipeline; at++)
            hop[(size_t)at * (size_t)n * (size_t)n + (size_t)i] =
                i / n == i % n || speed <= 0 ? CHAIN_NONE : llround(2 * message / speed * 1e9);
    }
    return (struct chains){n, k, l->pipeline, hop, ring};
}

static int64_t value_of_chains(void *of, const int *order) { return chains_value(of, order); }

static enum status bench_pipette(const char *path, double seconds, int runs, struct arena *arena,
                                 struct error *err)
{
    struct problem problem;
    TRY(problem_load(&problem, path, arena, err));
    if (!problem.cluster.places.measured || !problem.model.has_shape)
        return refuse(err, "%s: measured links and a model's shape are needed", path);
    struct chains c = pipette_chains(&problem, arena);
    struct chains_settings settings = chains_settings_for(&c, 1);
    struct chains_result r;
    double begin_s = now_s();
    chains_solve(&r, &c, &settings, arena);
    double took_s = now_s() - begin_s;
    printf("%lld %lld %.3f", (long long)r.value, (long long)r.bound, took_s);
    const struct annealed x = {value_of_chains, &c, c.node_count};
    anneal_and_print(&x, seconds > 0 ? seconds : took_s, runs, arena);
    return OK;
}

// ---- the exact time, with the layers and options of a plan

struct timed {
    struct placed *placed;
    struct placed_plan plan;
    int ranks; // of all replicas together
};

static int64_t time_of_order(void *of, const int *order)
{
    struct timed *x = of;
    memcpy(x->plan.node, order, (size_t)x->ranks * sizeof *order);
    x->plan.slowest = 0;
    placed_evaluate(x->placed, &x->plan, INT64_MAX);
    return x->plan.time_ns;
}

// One replica of the plan's layers alone, every transfer and sync for nothing.
static enum status time_with_free_links(int64_t *free_ns, const struct choices *c,
                                        const int *chosen, struct arena *arena, struct error *err)
{
    struct graph *g;
    TRY(graph_compile(&g, c->schedule, arena, err));
    int64_t *durations = TAKE(arena, graph_symbol_count(g), int64_t);
    int stages = c->priced->stage_count;
    for (int s = 0; s < stages; s++) {
        choices_stage_durations(c, s, &c->stages[s].items[chosen[s]], durations);
        durations[symbol_index(stages, SYMBOL_SYNC, s)] = 0;
    }
    *free_ns = graph_longest(g, durations, NULL);
    return OK;
}

static enum status bench_time(const char *path, const char *plan_path, double seconds, int runs,
                              struct arena *arena, struct error *err)
{
    struct problem problem;
    struct priced priced;
    struct placed *placed;
    struct plan plan;
    TRY(problem_load(&problem, path, arena, err));
    TRY(price_problem(&priced, &problem, arena, err));
    TRY(plan_load(&plan, plan_path, arena, err));
    if (!priced.places || priced.group_count != 1)
        return refuse(err, "%s: places of one group are needed", path);
    TRY(placed_open(&placed, &priced, arena, err));
    const struct choices *choices = placed_choices(placed);
    int *chosen = TAKE(arena, priced.stage_count, int), replicas = priced.layout.data;
    int64_t free_ns;
    if (!choices_from_plan(chosen, choices, &plan))
        return refuse(err, "%s: not a plan of %s", plan_path, path);
    TRY(time_with_free_links(&free_ns, choices, chosen, arena, err));
    struct timed timed = {placed, placed_plan_empty(placed, arena), replicas * choices->rank_count};
    for (int i = 0; i < replicas * priced.stage_count; i++)
        timed.plan.chosen[i] = chosen[i % priced.stage_count];
    printf("%lld %lld %lld", (long long)plan.iteration_ns, (long long)plan.bound_ns,
           (long long)free_ns);
    const struct annealed x = {time_of_order, &timed, priced.places->node_count};
    anneal_and_print(&x, seconds, runs, arena);
    return OK;
}

// ---- clusters

// Racks of `size` nodes below switches, four racks below each second-level switch.
static enum status write_racks(int racks, int size, uint64_t seed, const char *path,
                               struct arena *arena, struct error *err)
{
    int n = racks * size;
    struct node_group group = {.name = "a100",
                               .gpu = "a100-80gb",
                               .nodes = n,
                               .gpus_per_node = 8,
                               .memory_bytes = INT64_C(80000000000),
                               .intra = {3e11, 3.4e-6}};
    struct cluster c = {.name = arena_print(arena, "racks-%dx%d-%d", racks, size, (int)seed),
                        .groups = &group,
                        .group_count = 1};
    c.places.node_count = n;
    c.places.nodes = TAKE(arena, n, struct cluster_node);
    c.places.measured = TAKE(arena, n * n, struct link);
    for (int i = 0; i < n; i++)
        c.places.nodes[i].name = arena_print(arena, "rack%d-%d", i / size, i % size);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double gbit = i / size == j / size ? 400 : i / size / 4 == j / size / 4 ? 200 : 100;
            double u = 0.2 * ((double)(random_next(&seed) >> 11) / 9007199254740992.0 - 0.5);
            if (i != j)
                c.places.measured[i * n + j] = (struct link){gbit * 1e9 / 8 * (1 + u), 1.4e-5};
        }
    return cluster_save(&c, path, arena, err);
}

static enum status write_slower(const char *from, double factor, const char *to,
                                struct arena *arena, struct error *err)
{
    struct cluster c;
    TRY(cluster_load(&c, from, arena, err));
    for (int i = 0; i < c.places.node_count * c.places.node_count && c.places.measured; i++)
        c.places.measured[i].bytes_per_s /= factor;
    return cluster_save(&c, to, arena, err);
}

static enum status run(int count, char **words, struct arena *arena, struct error *err)
{
    const char *what = count > 1 ? words[1] : "";
    if (!strcmp(what, "racks") && count == 6)
        return write_racks(atoi(words[2]), atoi(words[3]), (uint64_t)atoi(words[4]), words[5],
                           arena, err);
    if (!strcmp(what, "slower") && count == 5)
        return write_slower(words[2], atof(words[3]), words[4], arena, err);
    if (!strcmp(what, "pipette") && count == 5)
        return bench_pipette(words[2], atof(words[3]), atoi(words[4]), arena, err);
    if (!strcmp(what, "time") && count == 6)
        return bench_time(words[2], words[3], atof(words[4]), atoi(words[5]), arena, err);
    return refuse(
        err, "usage: bench-placement racks|slower|pipette|time ...: see tests/bench/placement.c");
}

int main(int count, char **words)
{
    struct arena arena;
    struct error err = {OK, ""};
    arena_open(&arena, NULL);
    enum status status = run(count, words, &arena, &err);
    if (status != OK) fprintf(stderr, "bench-placement: %s\n", err.text);
    arena_close(&arena);
    return status == OK ? 0 : 1;
}
