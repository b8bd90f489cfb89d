// plumbline offers: which of several machines for hire, and which plan on it, trains a number of
// tokens at the least price within a time, or soonest within a price; with a bound on all offers. A
// machine is only searched for plans that beat the best so far; otherwise the result is that it
// cannot.
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/base/file.h"
#include "data/text/csv.h"
#include "data/base/grow.h"
#include "data/inputs/framework.h"
#include "formulate/commands.h"
#include "solve/commands/commands.h"
#include "solve/commands/verbs.h"
#include "solve/layout/solve.h"
#include "solve/report/report.h"

enum { OFFERS_MOST = 256, WORDS_MAX = 40 };

// One machine: a number of nodes with a kind of GPU. The result: its best plan that beats the
// earlier offers, or why there is none; hours and price of the whole training, and the bounds on
// both for all its plans.
struct offer {
    const char *machine, *name, *folder;
    bool is_cluster; // a shipped cluster or a file, else a kind of GPU
    int64_t nodes, gpus;
    double gpu_hour_price;
    struct problem problem;
    enum { OFFER_PLAN, OFFER_NOT_BETTER, OFFER_NOT_WITHIN, OFFER_NONE, OFFER_OPEN } state;
    struct layout layout;
    enum bound_claim claim; // of the bounds, and of what it says there is not
    double hours, hours_bound, price, price_bound;
    bool lost; // its plan could not be written
};

struct options {
    const char *model, *costs, *folder;
    struct option_texts offers;
    int64_t sequence, global_batch;
    int framework, precision;
    double tokens, within_hours, budget, gap, time_limit_s;
    bool force;
    struct offer *items;
    int count, capacity;
};

// ---- the request

static enum status bad_offer(const char *text, const char *expected, struct error *err)
{
    return fail(err, BAD_INPUT,
                "--offer: expected MACHINE:NODES[,NODES ...]:PRICE, as in h100-80gb:2,4,8:2.5, %s, "
                "found \"%.80s\"",
                expected, text);
}

static void add_offer(struct options *r, const char *machine, long nodes, double price,
                      struct arena *arena)
{
    GROW(arena, r->items, r->count, r->capacity, 8);
    const char *base = strrchr(machine, '/') ? strrchr(machine, '/') + 1 : machine;
    char *name = arena_print(arena, "%s-%ld", base, nodes);
    for (char *at = name; *at; at++)
        if (*at == '.') *at = '_';
    for (int i = 0; i < r->count; i++) // the same machine at another price
        if (!strcmp(r->items[i].name, name)) name = arena_print(arena, "%s-%d", name, r->count + 1);
    r->items[r->count++] = (struct offer){.machine = machine,
                                          .name = name,
                                          .is_cluster = strchr(machine, '/') != NULL ||
                                                        strstr(machine, ".json") != NULL,
                                          .nodes = nodes,
                                          .gpu_hour_price = price,
                                          .folder = arena_print(arena, "%s/%s", r->folder, name)};
}

// MACHINE:NODES[,NODES ...]:PRICE, the price per GPU hour.
static enum status read_offer(struct options *r, const char *text, struct arena *arena,
                              struct error *err)
{
    char *machine = arena_copy_text(arena, text), *last = strrchr(machine, ':'), *end;
    if (!last) return bad_offer(text, "with two colons", err);
    *last = 0;
    char *nodes = strrchr(machine, ':');
    if (!nodes || nodes == machine) return bad_offer(text, "with two colons", err);
    *nodes++ = 0;
    double price = strtod(last + 1, &end);
    if (end == last + 1 || *end || !(price > 0 && price <= 1e6))
        return bad_offer(text, "PRICE above 0 and at most 1000000", err);
    do {
        errno = 0;
        long count = strtol(nodes, &end, 10);
        if (end == nodes || errno || count < 1 || count > 1 << 20 || (*end && *end != ','))
            return bad_offer(text, "NODES from 1 to 1048576", err);
        if (r->count >= OFFERS_MOST)
            return fail(err, BAD_INPUT, "--offer: expected at most %d machines", OFFERS_MOST);
        add_offer(r, machine, count, price, arena);
        nodes = end + 1;
    } while (*end);
    return OK;
}

// ---- one machine

static void add(char **words, int *count, const char *option, const char *value,
                struct arena *arena)
{
    if (!value) return;
    words[(*count)++] = arena_copy_text(arena, option);
    words[(*count)++] = arena_copy_text(arena, value);
}

// The machine's five documents, as plumbline plan writes them.
static enum status write_problem(const struct options *r, struct offer *o, struct arena *arena,
                                 struct error *err)
{
    char *words[WORDS_MAX + 1] = {NULL};
    int count = 0, exit_code = 0;
    words[count++] = arena_copy_text(arena, "example");
    words[count++] = arena_copy_text(arena, "gpt");
    add(words, &count, "--model", r->model, arena);
    add(words, &count, o->is_cluster ? "--cluster" : "--gpu", o->machine, arena);
    add(words, &count, "--nodes", arena_print(arena, "%" PRId64, o->nodes), arena);
    add(words, &count, "--gpu-hour-price", arena_print(arena, "%.9g", o->gpu_hour_price), arena);
    add(words, &count, "--costs", r->costs, arena);
    if (r->sequence)
        add(words, &count, "--sequence", arena_print(arena, "%" PRId64, r->sequence), arena);
    add(words, &count, "--global-batch", arena_print(arena, "%" PRId64, r->global_batch), arena);
    add(words, &count, "--precision", precision_names[r->precision], arena);
    add(words, &count, "--framework", framework_names[r->framework], arena);
    add(words, &count, "--layouts", "all", arena);
    add(words, &count, "-o", o->folder, arena);
    words[count++] = arena_copy_text(arena, "--quiet");
    if (r->force) words[count++] = arena_copy_text(arena, "--force");
    TRY(command_call(&command_example, count, words, &exit_code, arena, err));
    TRY(problem_load(&o->problem, arena_print(arena, "%s/problem.json", o->folder), arena, err));
    o->gpus = problem_space_limits(&o->problem).devices;
    return OK;
}

// More than a job may state, and more than any plan takes.
static const double iteration_limit_most_s = 1e6;

static double iterations_of(const struct options *r, const struct problem *p)
{
    return r->tokens / ((double)p->job.sequence * (double)p->job.global_batch);
}

static double hours_of(const struct options *r, const struct problem *p, int64_t ns)
{
    return iterations_of(r, p) * (double)ns / 3600e9;
}

static double price_of(const struct offer *o, double hours)
{
    return hours * (double)o->gpus * o->gpu_hour_price;
}

// The hours of interest: within the request, and better than the best. *asked: within the request
// only.
static double hours_limit(const struct options *r, const struct offer *o, const struct offer *best,
                          double *asked)
{
    double an_hour = price_of(o, 1), limit = INFINITY;
    if (r->within_hours > 0) limit = r->within_hours;
    if (r->budget > 0) limit = fmin(limit, r->budget / an_hour);
    *asked = limit;
    if (!best) return limit;
    return fmin(limit, r->budget > 0 ? best->hours : best->price / an_hour);
}

static void take_plan(const struct options *r, struct offer *o, const struct plan *plan,
                      double limit, double asked)
{
    bool found = plan->stage_count > 0;
    o->layout = plan->layout;
    o->hours = found ? hours_of(r, &o->problem, plan->iteration_ns) : 0;
    o->hours_bound = hours_of(r, &o->problem, plan->bound_ns);
    o->state = found                                 ? OFFER_PLAN
               : plan->outcome != OUTCOME_INFEASIBLE ? OFFER_OPEN
               : isinf(limit)                        ? OFFER_NONE
               : limit < asked                       ? OFFER_NOT_BETTER
                                                     : OFFER_NOT_WITHIN;
    if (o->state == OFFER_NOT_BETTER || o->state == OFFER_NOT_WITHIN) o->hours_bound = limit;
    o->price = price_of(o, o->hours), o->price_bound = price_of(o, o->hours_bound);
}

// A machine is searched in a process of its own, which writes the plan and hands over the rest.
static _Noreturn void end_child(const struct offer *o, struct arena *arena)
{
    struct message m;
    message_begin(&m, arena);
    message_put(&m, o, sizeof *o);
    supervised_keeps(&m);
    _exit(0);
}

// A child that failed has said why: the command ends as it did.
static enum status take_from_child(struct offer *o, struct supervised *left)
{
    struct offer found;
    if (left->exit_code) _exit(left->exit_code);
    message_get(&left->kept, &found, sizeof found);
    if (!left->kept.broken) *o = found; // texts and documents are where they were before the fork
    return OK;
}

static enum status write_plan(struct offer *o, struct plan *plan, const struct solved *solved,
                              struct arena *arena, struct error *err)
{
    const char *path = arena_print(arena, "%s/plan.json", o->folder);
    problem_made(&plan->document, &o->problem, path, arena);
    TRY(solve_settle(plan, solved, arena, err));
    return keep_plan(plan, path, &o->lost, arena, err);
}

static enum status search_offer(const struct options *r, struct offer *o, const struct offer *best,
                                struct arena *arena, struct error *err)
{
    struct problem limited = o->problem;
    struct solve_settings settings;
    struct solved solved;
    double asked;
    double limit = hours_limit(r, o, best, &asked);
    double seconds = limit * 3600 / iterations_of(r, &o->problem);
    if (seconds < iteration_limit_most_s) limited.job.iteration_limit_s = seconds;
    solve_defaults(&settings);
    settings.gap = r->gap, settings.time_limit_s = r->time_limit_s;
    struct supervised left;
    TRY(solve_prepare(&solved, &limited, arena, err));
    TRY(solve_apart(&solved, &settings, NULL, &left, arena, err));
    if (left.as == SUPERVISED_ENDED) return take_from_child(o, &left);
    struct plan *plan = &solved.result->plan;
    take_plan(r, o, plan, limit, asked);
    o->claim = solved.claim;
    if (o->state == OFFER_PLAN) TRY(write_plan(o, plan, &solved, arena, err));
    if (left.as == SUPERVISED_CHILD && supervised_is()) end_child(o, arena);
    return OK;
}

// ---- the answer

static bool is_better(const struct options *r, const struct offer *o, const struct offer *best)
{
    if (o->state != OFFER_PLAN) return false;
    if (!best) return true;
    return r->budget > 0 ? o->hours < best->hours : o->price < best->price;
}

// The bound on all plans of all machines: hours under a budget, else a price. Machines without a
// plan within the request do not count.
static double bound_of(const struct options *r)
{
    double bound = INFINITY;
    for (int i = 0; i < r->count; i++) {
        const struct offer *o = &r->items[i];
        if (o->state == OFFER_NONE || o->state == OFFER_NOT_WITHIN) continue;
        bound = fmin(bound, r->budget > 0 ? o->hours_bound : o->price_bound);
    }
    return bound;
}

// What stands behind the least of several claims: the weakest of theirs.
static enum bound_claim claim_of(const struct options *r)
{
    enum bound_claim weakest = CLAIM_PROVEN;
    for (int i = 0; i < r->count; i++)
        if (r->items[i].claim < weakest) weakest = r->items[i].claim;
    return weakest;
}

static const char *layout_text(const struct offer *o, struct arena *arena)
{
    return o->state == OFFER_PLAN ? report_layout_words(&o->layout, arena) : "";
}

static const char *state_text(const struct offer *o)
{
    static const char *const texts[] = {[OFFER_PLAN] = "plan",
                                        [OFFER_NOT_BETTER] = "no better",
                                        [OFFER_NOT_WITHIN] = "not within the limit",
                                        [OFFER_NONE] = "no plan",
                                        [OFFER_OPEN] = "none found, open"};
    return texts[o->state];
}

static void print_table(const struct options *r, const struct offer *best, struct arena *arena)
{
    printf("%-24s %6s %12s %14s %14s  %s\n", "machine", "GPUs", "hours", "price", "at least",
           "what");
    for (int i = 0; i < r->count; i++) {
        const struct offer *o = &r->items[i];
        char hours[32] = "-", price[32] = "-", least[32] = "-";
        if (o->state == OFFER_PLAN)
            snprintf(hours, sizeof hours, "%.6g", o->hours),
                snprintf(price, sizeof price, "%.6g", o->price);
        if (o->state != OFFER_NONE) snprintf(least, sizeof least, "%.6g", o->price_bound);
        printf("%-24s %6" PRId64 " %12s %14s %14s  %s%s%s%s\n", o->name, o->gpus, hours, price,
               least, o == best ? "* " : "", state_text(o), *layout_text(o, arena) ? ": " : "",
               o->state == OFFER_PLAN || o->state == OFFER_OPEN
                   ? layout_text(o, arena)
                   : arena_print(arena, " (%s)", bound_claim_names[o->claim]));
    }
}

static void print_answer(const struct options *r, const struct offer *best)
{
    if (!best) {
        bool open = false;
        for (int i = 0; i < r->count; i++) open = open || r->items[i].state == OFFER_OPEN;
        printf("\n%s%s (%s).\n", open ? "No plan was found" : "No machine has a plan",
               r->within_hours > 0 || r->budget > 0 ? " within the limit" : "",
               open ? "some searches ended at their limit" : bound_claim_names[claim_of(r)]);
        return;
    }
    double value = r->budget > 0 ? best->hours : best->price, bound = fmin(bound_of(r), value);
    printf("\n%s: %s, %.6g hours, %.6g; no plan of any machine %s less than %.6g (%.2g %% below; "
           "%s)\n",
           r->budget > 0 ? "Fastest" : "Cheapest", best->name, best->hours, best->price,
           r->budget > 0 ? "takes" : "costs", bound, value > 0 ? 100 * (value - bound) / value : 0,
           bound_claim_names[claim_of(r)]);
    printf("plan: %s/plan.json\n", best->folder);
}

static enum status write_table(const struct options *r, const struct offer *best,
                               struct arena *arena, struct error *err)
{
    const char *text = "machine,nodes,gpus,gpu_hour_price,state,best,hours,hours_at_least,price,"
                       "price_at_least,claim,layout\n";
    for (int i = 0; i < r->count; i++) {
        const struct offer *o = &r->items[i];
        bool found = o->state == OFFER_PLAN, known = o->state != OFFER_NONE;
        text = arena_print(arena, "%s%s,%" PRId64 ",%" PRId64 ",%.9g,%s,%d,", text,
                           csv_cell(o->machine, arena), o->nodes, o->gpus, o->gpu_hour_price,
                           csv_cell(state_text(o), arena), o == best);
        text = arena_print(
            arena, "%s%s,%s,%s,%s,%s,%s\n", text, found ? arena_print(arena, "%.9g", o->hours) : "",
            known ? arena_print(arena, "%.9g", o->hours_bound) : "",
            found ? arena_print(arena, "%.9g", o->price) : "",
            known ? arena_print(arena, "%.9g", o->price_bound) : "",
            csv_cell(o->state == OFFER_OPEN ? "" : bound_claim_names[o->claim], arena),
            csv_cell(layout_text(o, arena), arena));
    }
    return file_write(arena_print(arena, "%s/offers.csv", r->folder), text, strlen(text), err);
}

static int exit_code_of(const struct options *r, const struct offer *best)
{
    for (int i = 0; i < r->count; i++)
        if (r->items[i].lost) return EXIT_LOST;
    if (best) return 0;
    for (int i = 0; i < r->count; i++)
        if (r->items[i].state == OFFER_OPEN) return EXIT_NO_PLAN;
    return EXIT_INFEASIBLE;
}

static const struct option_row rows[] = {
    {"--model", OPTION_MODEL, OPT(model), "shipped name or file"},
    {"--offer", OPTION_TEXT, OPT(offers),
     "MACHINE:NODES[,NODES ...]:PRICE: GPU model, such as h100-80gb, or cluster file; numbers "
     "of nodes; price of one GPU hour; may be repeated",
     .many = OFFERS_MOST},
    {"--tokens", OPTION_NUMBER, OPT(tokens),
     "number of training tokens (default: 1e6: prices are per million tokens)", 1, 1e18},
    {"--within-hours", OPTION_NUMBER, OPT(within_hours),
     "find the cheapest plan that takes at most X hours (default: no limit)", 0, 1e9},
    {"--budget", OPTION_NUMBER, OPT(budget),
     "find the fastest plan that costs at most X, instead of the cheapest", 0, 1e15,
     .needs = "--tokens"},
    {"--sequence", OPTION_INT, OPT(sequence), "tokens per sequence (default: 2048)", 1, 1 << 30},
    {"--global-batch", OPTION_INT, OPT(global_batch), "sequences per iteration (default: 1024)", 1,
     1 << 30},
    {"--precision", OPTION_NAME, OPT(precision),
     "precision of weights and activations (default: bf16)", .names = precision_names},
    {"--for", OPTION_NAME, OPT(framework),
     "target framework (default: megatron); any: whichever layout is fastest",
     .names = framework_names},
    {"--costs", OPTION_COSTS, OPT(costs), "shipped name or file (default: kernels)"},
    {"--gap", OPTION_NUMBER, OPT(gap),
     "maximum relative distance from each machine's optimum (default: 0.01)", 0, 1},
    {"--time-limit-s", OPTION_NUMBER, OPT(time_limit_s),
     "time limit of each machine's search in seconds (default: 45; 0: none)", 0, 1e9},
    {"-o", OPTION_PATH, OPT(folder),
     "output folder for each machine's problem and plan, and offers.csv"},
    {"--force", OPTION_FLAG, OPT(force), "overwrite documents whose content differs"},
};

static enum status run(void *options, int *exit_code, struct arena *arena, struct error *err)
{
    struct options *r = options;
    const struct offer *best = NULL;
    const volatile int *stop;
    if (!r->tokens) r->tokens = 1e6;
    for (int i = 0; i < r->offers.count; i++) TRY(read_offer(r, r->offers.items[i], arena, err));
    TRY(file_make_folder(r->folder, err));
    for (int i = 0; i < r->count; i++) TRY(write_problem(r, &r->items[i], arena, err));
    for (int i = 0; i < r->count; i++) {
        fprintf(stderr, "%s (%d of %d)\n", r->items[i].name, i + 1, r->count);
        TRY(search_offer(r, &r->items[i], best, arena, err));
        if (is_better(r, &r->items[i], best)) best = &r->items[i];
    }
    print_table(r, best, arena);
    print_answer(r, best);
    TRY(write_table(r, best, arena, err));
    *exit_code = exit_code_of(r, best);
    TRY(supervision_stop(&stop, err));
    if (!*exit_code && *stop) *exit_code = EXIT_OPEN;
    return OK;
}

const struct command command_offers = {
    .name = "offers",
    .text = "machines for hire -> the cheapest or fastest one and its plan",
    .about =
        "Searches a space of layouts on each offered machine for the cheapest way to train on a "
        "number of "
        "tokens within a time, or the fastest within a budget, with a bound over all machines. "
        "Each machine is searched only for plans that beat those of the machines before it.",
    .usage = "plumbline offers --model NAME --offer MACHINE:NODES:PRICE ... -o FOLDER",
    READS(struct options, rows,
          {.costs = "kernels",
           .global_batch = 1024,
           .precision = BF16,
           .framework = FRAMEWORK_MEGATRON,
           .gap = 0.01,
           .time_limit_s = 45}),
    .needs = "--model -o --offer",
    .run = run,
};
