// plumbline offers: which of several machines for hire, and which plan on it, trains a number of
// tokens at the least price within a time, or soonest within a price; with a bound on all offers. A
// machine is only searched for plans that beat the best so far; otherwise the result is that it
// cannot.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/base/grow.h"
#include "formulate/commands.h"
#include "solve/commands/commands.h"
#include "solve/commands/offers/offers.h"
#include "solve/commands/verbs.h"

enum { OFFERS_MOST = 256, WORDS_MAX = 200 };

// ---- the request

static enum status bad_offer(const char *text, const char *expected, struct error *err)
{
    return refuse(
        err,
        "--offer: expected MACHINE:NODES[,NODES ...]:PRICE, as in h100-80gb:2,4,8:2.5, %s, "
        "found \"%.80s\"",
        expected, text);
}

struct offer *offers_add(struct offers_options *r, const char *machine, const char *name,
                         int64_t nodes, double price, struct arena *arena)
{
    GROW(arena, r->items, r->count, r->capacity, 8);
    char *own = arena_copy_text(arena, name);
    for (char *at = own; *at; at++)
        if (*at == '.') *at = '_';
    struct offer *o = &r->items[r->count++];
    *o = (struct offer){.machine = machine,
                        .name = own,
                        .nodes = nodes,
                        .gpu_hour_price = price,
                        .folder = arena_print(arena, "%s/%s", r->folder, own)};
    return o;
}

static void add_offer(struct offers_options *r, const char *machine, int64_t nodes, double price,
                      struct arena *arena)
{
    const char *base = strrchr(machine, '/') ? strrchr(machine, '/') + 1 : machine;
    const char *name = arena_print(arena, "%s-%" PRId64, base, nodes);
    int before = r->count;
    struct offer *o = offers_add(r, machine, name, nodes, price, arena);
    o->is_cluster = strchr(machine, '/') != NULL || strstr(machine, ".json") != NULL;
    for (int i = 0; i < before; i++) // the same machine at another price
        if (!strcmp(r->items[i].name, o->name)) {
            o->name = arena_print(arena, "%s-%d", o->name, r->count);
            o->folder = arena_print(arena, "%s/%s", r->folder, o->name);
        }
}

// MACHINE:NODES[,NODES ...]:PRICE, the price per GPU hour.
static enum status read_offer(struct offers_options *r, const char *text, struct arena *arena,
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
            return refuse(err, "--offer: expected at most %d machines", OFFERS_MOST);
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

// A design's cluster and costs as files, which the example's are made from.
struct made_files {
    const char *cluster, *costs;
};

static enum status make_files(const struct offer *o, struct made_files *to, struct arena *arena,
                              struct error *err)
{
    struct cluster cluster = design_cluster(o->designs, &o->design, arena);
    struct costs costs = design_costs(o->designs, &o->design, arena);
    to->cluster = arena_print(arena, "%s.cluster.json", o->folder);
    to->costs = arena_print(arena, "%s.costs.json", o->folder);
    TRY(cluster_save(&cluster, to->cluster, arena, err));
    return costs_save(&costs, to->costs, arena, err);
}

static void add_job(const struct offers_options *r, char **words, int *count, struct arena *arena)
{
    if (r->sequence)
        add(words, count, "--sequence", arena_print(arena, "%" PRId64, r->sequence), arena);
    add(words, count, "--global-batch", arena_print(arena, "%" PRId64, r->global_batch), arena);
    add(words, count, "--precision", precision_names[r->precision], arena);
    add(words, count, "--framework", framework_names[r->framework], arena);
    add(words, count, "--layouts", "all", arena);
    const struct stated_layout nothing = {LAYOUT_UNSTATED};
    const char *stated[WORDS_MAX];
    int more = command_words(stated, 0, &stated_layout_options, &r->stated, &nothing, arena);
    for (int i = 0; i < more; i++) words[(*count)++] = arena_copy_text(arena, stated[i]);
}

enum status offers_write_problem(const struct offers_options *r, struct offer *o,
                                 struct arena *arena, struct error *err)
{
    char *words[WORDS_MAX + 1] = {NULL};
    int count = 0, exit_code = 0;
    struct made_files made = {NULL, r->costs};
    if (o->problem) return OK;
    if (o->designs) TRY(make_files(o, &made, arena, err));
    words[count++] = arena_copy_text(arena, "example");
    words[count++] = arena_copy_text(arena, "gpt");
    add(words, &count, "--model", r->model, arena);
    add(words, &count, o->is_cluster || made.cluster ? "--cluster" : "--gpu",
        made.cluster ? made.cluster : o->machine, arena);
    add(words, &count, "--nodes", arena_print(arena, "%" PRId64, o->nodes), arena);
    if (o->gpu_hour_price > 0)
        add(words, &count, "--gpu-hour-price", arena_print(arena, "%.9g", o->gpu_hour_price),
            arena);
    add(words, &count, "--costs", made.costs, arena);
    add_job(r, words, &count, arena);
    add(words, &count, "-o", o->folder, arena);
    words[count++] = arena_copy_text(arena, "--quiet");
    if (r->force) words[count++] = arena_copy_text(arena, "--force");
    enum status status = command_call(&command_example, count, words, &exit_code, arena, err);
    if (o->designs) unlink(made.cluster), unlink(made.costs);
    TRY(status);
    o->problem = TAKE(arena, 1, struct problem);
    TRY(problem_load(o->problem, arena_print(arena, "%s/problem.json", o->folder), arena, err));
    o->gpus = problem_space_limits(o->problem).devices;
    return OK;
}

// More than a job may state, and more than any plan takes.
static const double iteration_limit_most_s = 1e6;

double offers_iterations(const struct offers_options *r, const struct problem *p)
{
    return r->tokens / ((double)p->job.sequence * (double)p->job.global_batch);
}

static double hours_of(const struct offers_options *r, const struct problem *p, int64_t ns)
{
    return offers_iterations(r, p) * (double)ns / 3600e9;
}

double offers_price(const struct offer *o, double hours)
{
    return hours * (double)o->gpus * o->gpu_hour_price;
}

bool offers_by_hours(const struct offers_options *r) { return r->fastest || r->budget > 0; }

double offers_value(const struct offers_options *r, const struct offer *o, double hours)
{
    return offers_by_hours(r) ? hours : offers_price(o, hours);
}

// The hours of interest: within the request, and better than the best by more than the gap (else
// machines that are as good would have to be proven so to the last digit). *asked: within the
// request only.
static double hours_limit(const struct offers_options *r, const struct offer *o,
                          const struct offer *best, double *asked)
{
    double an_hour = offers_price(o, 1), limit = INFINITY;
    if (r->within_hours > 0) limit = r->within_hours;
    if (r->budget > 0 && an_hour > 0) limit = fmin(limit, r->budget / an_hour);
    *asked = limit;
    if (!best) return limit;
    double better = offers_by_hours(r) ? best->hours : best->price / an_hour;
    return fmin(limit, (1 - r->gap) * better);
}

static void take_plan(const struct offers_options *r, struct offer *o, const struct plan *plan,
                      double limit, double asked)
{
    bool found = plan->stage_count > 0;
    o->layout = plan->layout;
    o->hours = found ? hours_of(r, o->problem, plan->iteration_ns) : 0;
    o->hours_bound = fmax(hours_of(r, o->problem, plan->bound_ns), o->least_hours);
    o->state = found                                 ? OFFER_PLAN
               : plan->outcome != OUTCOME_INFEASIBLE ? OFFER_OPEN
               : isinf(limit)                        ? OFFER_NONE
               : limit < asked                       ? OFFER_NOT_BETTER
                                                     : OFFER_NOT_WITHIN;
    if (o->state == OFFER_NOT_BETTER || o->state == OFFER_NOT_WITHIN) o->hours_bound = limit;
    o->price = offers_price(o, o->hours), o->price_bound = offers_price(o, o->hours_bound);
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
    problem_made(&plan->document, o->problem, path, arena);
    TRY(solve_settle(plan, solved, arena, err));
    return keep_plan(plan, path, &o->lost, arena, err);
}

static enum status search_offer(const struct offers_options *r, struct offer *o,
                                const struct offer *best, struct arena *arena, struct error *err)
{
    struct problem limited = *o->problem;
    struct solve_settings settings;
    struct solved solved;
    double asked;
    double limit = hours_limit(r, o, best, &asked);
    double seconds = limit * 3600 / offers_iterations(r, o->problem);
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

static bool is_better(const struct offers_options *r, const struct offer *o,
                      const struct offer *best)
{
    if (o->state != OFFER_PLAN) return false;
    if (!best) return true;
    return offers_value(r, o, o->hours) < offers_value(r, best, best->hours);
}

static int exit_code_of(const struct offers_options *r, const struct offer *best)
{
    for (int i = 0; i < r->count; i++)
        if (r->items[i].lost) return EXIT_LOST;
    if (best) return 0;
    for (int i = 0; i < r->count; i++)
        if (r->items[i].state == OFFER_OPEN) return EXIT_NO_PLAN;
    return EXIT_INFEASIBLE;
}

#define AT(member) offsetof(struct offers_options, member)
static const struct option_row rows[] = {
    {"--model", OPTION_MODEL, AT(model), "shipped name or file"},
    {"--offer", OPTION_TEXT, AT(offers),
     "MACHINE:NODES[,NODES ...]:PRICE: GPU model, such as h100-80gb, or cluster file; numbers of "
     "nodes; price of one GPU hour; may be repeated",
     .many = OFFERS_MOST},
    {"--designs", OPTION_PATH, AT(designs),
     "document of designs: parameters of a device in lists or steps, their area, power and price; "
     "may be repeated",
     .many = OFFERS_MOST},
    {"--tokens", OPTION_NUMBER, AT(tokens),
     "number of training tokens (default: 1e6: prices are per million tokens)", 1, 1e18},
    {"--within-hours", OPTION_NUMBER, AT(within_hours),
     "find the cheapest plan that takes at most X hours (default: no limit)", 0, 1e9},
    {"--budget", OPTION_NUMBER, AT(budget),
     "find the fastest plan that costs at most X, instead of the cheapest", 0, 1e15,
     .needs = "--tokens"},
    {"--fastest", OPTION_FLAG, AT(fastest), "find the fastest plan, whatever it costs",
     .excludes = "--budget"},
    {"--sequence", OPTION_INT, AT(sequence), "tokens per sequence (default: 2048)", 1, 1 << 30},
    {"--global-batch", OPTION_INT, AT(global_batch), "sequences per iteration (default: 1024)", 1,
     1 << 30},
    {"--precision", OPTION_NAME, AT(precision),
     "precision of weights and activations (default: bf16)", .names = precision_names},
    {"--for", OPTION_NAME, AT(framework),
     "target framework (default: megatron); any: whichever layout is fastest",
     .names = framework_names},
    {"--costs", OPTION_COSTS, AT(costs), "shipped name or file (default: kernels)"},
    {"--gap", OPTION_NUMBER, AT(gap),
     "maximum relative distance from each machine's optimum (default: 0.01)", 0, 1},
    {"--time-limit-s", OPTION_NUMBER, AT(time_limit_s),
     "time limit of each machine's search in seconds (default: 45; 0: none)", 0, 1e9},
    {"-o", OPTION_PATH, AT(folder),
     "output folder for each machine's problem and plan, and offers.csv"},
    {"--force", OPTION_FLAG, AT(force), "overwrite documents whose content differs"},
};

COMMAND_RUN(run)
{
    struct offers_options *r = options;
    const struct offer *best = NULL;
    const volatile int *stop;
    if (!r->tokens) r->tokens = 1e6;
    for (int i = 0; i < r->offers.count; i++) TRY(read_offer(r, r->offers.items[i], arena, err));
    TRY(file_make_folder(r->folder, err));
    for (int i = 0; i < r->count; i++) TRY(offers_write_problem(r, &r->items[i], arena, err));
    TRY(offers_add_designs(r, arena, err));
    offers_order(r, arena);
    TRY(supervision_stop(&stop, err));
    for (int i = 0; i < r->count; i++) {
        struct offer *o = &r->items[i];
        if (offers_dismiss(r, o, best)) continue;
        if (*stop && o->designs) {
            offers_leave_open(o);
            continue;
        }
        fprintf(stderr, "%s (%d of %d)\n", o->name, i + 1, r->count);
        TRY(offers_write_problem(r, o, arena, err));
        TRY(search_offer(r, o, best, arena, err));
        if (is_better(r, o, best)) best = o;
    }
    offers_print(r, best, arena);
    TRY(offers_write(r, best, arena, err));
    *exit_code = exit_code_of(r, best);
    if (!*exit_code && *stop) *exit_code = EXIT_OPEN;
    return OK;
}

const struct command command_offers = {
    .name = "offers",
    .text = "machines for hire -> the cheapest or fastest one and its plan",
    .about = "Searches a space of layouts on each offered machine for the cheapest way to train on "
             "a number of tokens within a time, or the fastest within a budget, with a bound over "
             "all machines. Each machine is searched only for plans that beat those of the "
             "machines before it. Designs are searched in the order of bounds that need no search, "
             "and dismissed by them.",
    .usage = "plumbline offers --model NAME [--offer MACHINE:NODES:PRICE ...] [--designs FILE ...] "
             "-o FOLDER",
    READS(struct offers_options, rows,
          {.costs = "kernels",
           .global_batch = 1024,
           .precision = BF16,
           .framework = FRAMEWORK_MEGATRON,
           .gap = 0.01,
           .time_limit_s = 45,
           .stated = {LAYOUT_UNSTATED}}),
    SHARES(stated_layout_options, struct offers_options, stated),
    .needs = "--model --offer|--designs -o",
    .run = run,
};
