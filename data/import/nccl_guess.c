// What nccl-tests' output does not state of a test: its collective, by the ratio of its bandwidths
// or the file's name; its ranks, by the command that stands before it or by that ratio.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/import/launcher.h"
#include "data/import/nccl_internal.h"

// Other names of collectives in names of files.
static const char *const told_by[][2] = {
    {"allreduce", "all_reduce"},         {"all_reduce", "all_reduce"},
    {"reducescatter", "reduce_scatter"}, {"reduce_scatter", "reduce_scatter"},
    {"allgather", "all_gather"},         {"all_gather", "all_gather"},
    {"alltoall", "all_to_all"},          {"all_to_all", "all_to_all"},
    {"sendrecv", "send_recv"},           {"send_recv", "send_recv"},
};

// ---- a launch

static void take_option(struct nccl_launch *l, int of, const char *word, const char *next)
{
    enum launcher_states states;
    const char *text;
    int64_t slots, value;
    if (!of && ((text = launcher_value(word, "-g", next)) ||
                (text = launcher_value(word, "--ngpus", next)))) {
        value = launcher_number(text);
        if (value && value <= NCCL_RANKS_MAX) l->process_gpus = value;
    }
    if (!launcher_option(of, word, next, &states, &text)) return;
    value = launcher_number(text);
    if (states == LAUNCHER_HOSTS) l->hosts = true, value = launcher_hosts(word, text, &slots);
    if (value < 1 || value > NCCL_RANKS_MAX) return;
    if (states == LAUNCHER_PROCESSES) l->processes = value;
    if (states == LAUNCHER_PER_NODE) l->per_node = value;
    if (states == LAUNCHER_NODES || states == LAUNCHER_HOSTS) l->nodes = value;
}

void nccl_take_launch(struct nccl_import *n, const char *const *words, int count)
{
    struct nccl_launch *l = &n->launch;
    int of = l->goes_on ? l->slurm ? LAUNCHER_SLURM : LAUNCHER_MPI : 0;
    bool test = false; // the words are nccl-tests' own
    l->goes_on = false;
    for (int i = 0; i < count; i++) {
        int launcher = launcher_of(words[i]) & LAUNCHER_STARTS;
        const char *next = i + 1 < count ? words[i + 1] : "";
        if (launcher) {
            *l = (struct nccl_launch){.slurm = launcher == LAUNCHER_SLURM};
            of = launcher, test = false;
        } else if (strstr(words[i], "_perf") && *words[i] != '-' && *next == '-') {
            if (!of) *l = (struct nccl_launch){.processes = 1, .nodes = 1};
            of = 0, test = true, l->process_gpus = 1;
        } else if ((of || test) && *words[i] == '-') take_option(l, of, words[i], next);
    }
    l->goes_on = of && count && !strcmp(words[count - 1], "\\");
}

// ---- ranks and the collective

static enum status add_ranks(struct nccl_import *n, int64_t count, int64_t per_node,
                             const char *where, struct error *err)
{
    for (int64_t i = 0; i < count; i++)
        TRY(nccl_add_rank(n, i, 0, arena_print(n->arena, "node-%lld", (long long)(i / per_node)),
                          i % per_node, "", where, err));
    return OK;
}

static bool has_ratio(const struct nccl_row *row, double ratio)
{
    return row->algbw >= NCCL_BANDWIDTH_CHECKED &&
           fabs(row->busbw / row->algbw / ratio - 1) <= NCCL_RATIO_TOLERANCE;
}

// The collectives whose bus and algorithm bandwidths have this ratio, and whose operator the column
// states; NULL: none or several, by this row.
static const char *by_ratio(const struct nccl_row *row, int ranks)
{
    double each = (double)(ranks - 1) / ranks;
    bool sums = *row->redop && strcmp(row->redop, "none") != 0;
    if (ranks < 3 || has_ratio(row, 1)) return NULL;
    if (has_ratio(row, 2 * each)) return "all_reduce";
    return has_ratio(row, each) && sums ? "reduce_scatter" : NULL;
}

static const char *by_name(const char *path)
{
    const char *name = path_name(path), *found = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(told_by); i++) {
        if (!strstr(name, told_by[i][0])) continue;
        if (found && strcmp(found, told_by[i][1])) return NULL;
        found = told_by[i][1];
    }
    return found;
}

// Whether the bandwidths may be those of so many ranks.
static bool may_be(const struct nccl_row *row, int64_t ranks)
{
    double each = (double)(ranks - 1) / (double)ranks;
    return ranks > 1 && (has_ratio(row, 2 * each) || has_ratio(row, each));
}

// An all-reduce's bus bandwidth is more than its algorithm's, 2 (n - 1) / n of it, which two digits
// behind the point may leave one n for; 0: they do not.
static int64_t ranks_by_ratio(const struct nccl_row *row)
{
    static const double half_digit = 0.005;
    double least = (row->busbw - half_digit) / (row->algbw + half_digit),
           most = (row->busbw + half_digit) / (row->algbw - half_digit);
    if (row->algbw < NCCL_BANDWIDTH_CHECKED || least <= 1 || most >= 2) return 0;
    double first = ceil(2 / (2 - least)), last = floor(2 / (2 - most));
    return first == last && first > 2 && first <= NCCL_RANKS_MAX ? (int64_t)first : 0;
}

static enum status find_ranks(struct nccl_import *n, const struct nccl_row *best, const char *where,
                              struct error *err)
{
    enum { NODE_MOST = 8 };
    const struct nccl_launch *l = &n->launch;
    int64_t each = n->test.process_gpus ? n->test.process_gpus : l->process_gpus,
            processes = l->processes ? l->processes : l->nodes * l->per_node, count = 0,
            per_node = n->settings->gpus_per_node;
    const char *by = "the command before them";
    if (l->process_gpus && may_be(best, processes * each)) {
        count = processes * each;
        int64_t own = l->per_node ? l->per_node : l->nodes ? processes / l->nodes : 0;
        bool placed = own || (!l->hosts && count <= NODE_MOST);
        if (!per_node && placed) per_node = own && own * each < count ? own * each : count;
    } else if (may_be(best, n->test.process_gpus)) {
        count = per_node = n->test.process_gpus;
        by = "the GPUs of one process";
    } else count = ranks_by_ratio(best), by = "busbw / algbw";
    if (!count) return OK;
    if (!per_node)
        return refuse(err,
                      "%s: the results are of %lld ranks, by %s, on unknown nodes: give "
                      "--gpus-per-node",
                      where, (long long)count, by);
    n->assumed_ranks = arena_print(
        n->arena, "%lld ranks, %lld on each node, by %s, as the file does not list them",
        (long long)count, (long long)per_node, by);
    return add_ranks(n, count, per_node, where, err);
}

enum status nccl_guess(struct nccl_import *n, const char *program, const struct nccl_row *best,
                       const char *path, const char *where, struct error *err)
{
    struct nccl_test *t = &n->test;
    const struct nccl_settings *s = n->settings;
    if (s->test && n->test_count != s->test) return OK; // left out
    if (!t->rank_count && s->ranks)
        TRY(add_ranks(n, s->ranks, s->gpus_per_node ? s->gpus_per_node : s->ranks, where, err));
    else if (!t->rank_count) TRY(find_ranks(n, best, where, err));
    if (t->operation || !t->rank_count) return OK;
    TRY(nccl_settle_groups(n, where, err));
    if (program) {
        t->operation = nccl_operation(program);
        return t->operation ? OK : nccl_refuse_program(program, where, err);
    }
    t->operation = by_ratio(best, t->group_size);
    int64_t other = t->operation ? 0 : ranks_by_ratio(best);
    if (other && other != t->group_size)
        return refuse(
            err,
            "%s: busbw / algbw is that of an all_reduce over %lld ranks, not of %d: choose "
            "a test with --test N",
            where, (long long)other, t->group_size);
    n->guessed_by_name = !t->operation;
    if (!t->operation) t->operation = by_name(path);
    if (t->operation) n->guessed = t->operation;
    n->guessed_by_name &= t->operation != NULL;
    return OK;
}
