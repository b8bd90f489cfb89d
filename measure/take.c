// Opens a back end, repeats its cells in rounds and saves the samples.
#include "measure/take.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "data/numbers/intervals.h"
#include "measure/sampling/host.h"
#include "measure/sampling/rounds.h"

static const double probe_share = 0.1; // of the budget
enum { PROBE_REPETITIONS = 25 };

#define AT(member) offsetof(struct take_settings, member)
static const struct option_row rows[] = {
    {"--threads", OPTION_INT, AT(threads), "number of threads (default: all processors)", 1, 1024},
    {"--budget-s", OPTION_NUMBER, AT(budget_s),
     "seconds to spend; every operation is measured at least once (default: 20)", 0.01, 1e6},
    {"--width", OPTION_NUMBER, AT(width),
     "target width of the 95 % interval, relative to the median (default: 0.05)", 1e-6, 10},
    {"--seed", OPTION_INT, AT(seed),
     "seed for the operands' values and the order of repetitions (default: 1)", 0, 1e15},
    {"--name", OPTION_TEXT, AT(name),
     "device name in the costs (default: the name of the processor or device)"},
    {"--backend", OPTION_TEXT, AT(backend),
     "device to measure: cpu, cuda or simulated (default: cpu)"},
    {"--device", OPTION_INT, AT(device),
     "with --backend cuda: number of the device, of those that are visible (default: 0)", 0, 1023},
    {"--algorithm", OPTION_NAME, AT(best),
     "with --backend cuda: algorithm of a product; first: the library's first proposal, as "
     "frameworks run it; best: the fastest of 8 (default: first)",
     .names = algorithm_names + ALGORITHM_FIRST},
    {"--simulate", OPTION_TEXT, AT(simulate), simulated_help},
    {"--shared", OPTION_FLAG, AT(shared),
     "the machine is shared with other programs: times and budget are of the processors, and the "
     "lower tenth of a time counts (default on a busy machine, for cpu)"},
    {"--exclusive", OPTION_FLAG, AT(exclusive),
     "the machine is not shared: elapsed time counts even if it seems busy",
     .excludes = "--shared"},
    {"--quiet", OPTION_FLAG, AT(quiet), "print nothing but errors on stderr"},
    {"-o", OPTION_PATH, AT(output), "output file for the samples (default: standard output)"},
};
const struct option_table take_options = OPTION_TABLE(rows);

void take_complete(struct take_settings *s, bool quick)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (!s->threads) s->threads = processors > 0 ? processors : 1;
    if (s->budget_s == 0) s->budget_s = quick ? 12 : 20;
    if (s->width == 0) s->width = quick ? 0.1 : 0.05;
}

enum status take_open(struct take *t, const struct take_settings *s, enum precision precision,
                      struct arena *arena, struct error *err)
{
    *t = (struct take){.settings = s, .backend = backend_find(s->backend)};
    TRY(file_check_place(s->output, err));
    if (!t->backend)
        return refuse(err, "--backend: expected one of %s, found '%s'", backend_names(arena),
                      s->backend);
    if (s->simulate && t->backend != &backend_simulated)
        return refuse(err, "--simulate: requires --backend simulated");
    if (s->device && t->backend != &backend_cuda)
        return refuse(err, "--device: requires --backend cuda");
    if (t->backend == &backend_cpu) t->load_before = host_load();
    t->shared = s->shared || (!s->exclusive && t->load_before > busy_load);
    t->begin_s = clock_s();
    interrupts_listen();
    const struct backend_settings settings = {.threads = (int)s->threads,
                                              .seed = (uint64_t)s->seed,
                                              .options = s->simulate,
                                              .shared = t->shared,
                                              .device = (int)s->device,
                                              .best = s->best};
    TRY(t->backend->open(&t->session, &settings, precision, arena, err));
    if (t->backend->clock) t->begin_s = t->backend->clock(t->session);
    t->backend->describe(t->session, &t->samples.machine, arena);
    if (s->name) t->samples.machine.gpu = s->name;
    if (!t->samples.machine.taken_at) t->samples.machine.taken_at = record_time(arena);
    record_launch(&t->samples, s->seed, record_command(s->line.argc, s->line.argv, arena), arena);
    return OK;
}

static bool probed_enough(const struct take *t)
{
    double spent_s = backend_seconds(t->backend, t->session) - t->begin_s;
    return spent_s > probe_share * t->settings->budget_s;
}

// The fastest of a few repetitions each, which suffices to choose sizes.
static enum status probe(struct take *t, struct arena *arena, struct error *err)
{
    struct cell probes[2];
    double fastest[2] = {1e9, 1e9};
    cells_probe(probes);
    TRY(t->backend->prepare(t->session, probes, 2, arena, err));
    for (int i = 0; i < 2 * PROBE_REPETITIONS && (i < 2 || !probed_enough(t)); i++) {
        double seconds = t->backend->repeat(t->session, &probes[i % 2]);
        fastest[i % 2] = seconds < fastest[i % 2] ? seconds : fastest[i % 2];
    }
    if (t->backend->failure) TRY(t->backend->failure(t->session, err));
    t->gemm_flop_per_s = probes[0].sample.flop / fastest[0];
    t->copy_bytes_per_s = probes[1].sample.bytes / fastest[1];
    return OK;
}

static const char gemm_guess[] = "guessed_flop_per_s", copy_guess[] = "guessed_bytes_per_s";

static double find_guess(const struct samples *s, const char *name)
{
    for (int i = 0; i < s->quantity_count; i++)
        if (!strcmp(s->quantities[i].name, name)) return s->quantities[i].values[0];
    return 0;
}

static enum status guess_like(struct take *t, const char *path, struct arena *arena,
                              struct error *err)
{
    struct samples other;
    TRY(samples_load(&other, path, arena, err));
    t->gemm_flop_per_s = find_guess(&other, gemm_guess);
    t->copy_bytes_per_s = find_guess(&other, copy_guess);
    if (t->gemm_flop_per_s > 0 && t->copy_bytes_per_s > 0) return OK;
    return refuse(
        err, "--like: %s: quantities: expected %s and %s above 0, as measure compute writes them",
        path, gemm_guess, copy_guess);
}

void take_note_quantity(struct samples *s, const char *name, double *values, int count,
                        struct arena *arena)
{
    s->quantities = arena_grow(arena, s->quantities, (size_t)s->quantity_count,
                               (size_t)s->quantity_count + 1, sizeof *s->quantities);
    s->quantities[s->quantity_count++] = (struct quantity){name, values, count};
}

enum status take_guess_rates(struct take *t, struct arena *arena, struct error *err)
{
    const char *like = t->settings->like;
    TRY(like ? guess_like(t, like, arena, err) : probe(t, arena, err));
    take_note_quantity(&t->samples, gemm_guess, TAKE_COPY(arena, &t->gemm_flop_per_s, 1), 1, arena);
    take_note_quantity(&t->samples, copy_guess, TAKE_COPY(arena, &t->copy_bytes_per_s, 1), 1,
                       arena);
    return OK;
}

// Operations that the budget ended before their first look, and a budget that would have sufficed.
static void tell_short(const struct take *t, const struct rounds_result *r,
                       const struct cell *cells, int cell_count)
{
    int count = 0;
    double needed_s = 0;
    for (int i = 0; i < cell_count; i++) {
        const struct sample *s = &cells[i].sample;
        int calls = s->repetitions + s->warm_ups;
        count += s->repetitions < LOOK_FIRST && strcmp(s->stopped_by, "count") != 0;
        needed_s += calls ? cells[i].spent_s / calls * (LOOK_FIRST + 1) : 0;
    }
    if (count && !r->interrupted)
        fprintf(stderr,
                "%d operations have fewer than %d repetitions: the machine was slower than it "
                "seemed, or busy; --budget-s %.0f would suffice\n",
                count, LOOK_FIRST,
                ceil(fmax(1.5 * needed_s + t->settings->budget_s * probe_share,
                          1.5 * t->settings->budget_s)));
}

static void tell(const struct take *t, const struct rounds_result *r, const struct cell *cells,
                 int cell_count, int kept)
{
    const struct machine *m = &t->samples.machine;
    if (t->settings->quiet) return;
    fprintf(stderr,
            "measured %d operations on %s, %d thread%s: %d repetitions in %.1f s; %d narrower than "
            "%g %%, %d stopped by the %s; %d outliers, %d throttled repetitions\n",
            kept, m->processor ? m->processor : m->gpu, m->threads, m->threads == 1 ? "" : "s",
            r->repetitions, r->elapsed_s, r->done, 100 * t->settings->width, kept - r->done,
            r->interrupted ? "signal" : "budget", r->outliers, r->throttled);
    if (t->load_before > busy_load && !t->settings->shared)
        fprintf(stderr, "the processors were busy before (load %.1f): %s\n", t->load_before,
                t->shared ? "times and budget are of the processors (--shared); --exclusive "
                            "measures elapsed time"
                          : "--shared excludes other work from the times");
    tell_short(t, r, cells, cell_count);
    if (kept < cell_count)
        fprintf(stderr, "interrupted: %d operations have no repetition and are left out\n",
                cell_count - kept);
}

enum status take_cells(struct take *t, struct cell *cells, int cell_count, struct arena *arena,
                       struct error *err)
{
    const struct take_settings *s = t->settings;
    TRY(t->backend->prepare(t->session, cells, cell_count + (t->yardstick != NULL), arena, err));
    for (int i = 0; i < cell_count && t->backend->state; i++)
        t->backend->state(t->session, &cells[i], &cells[i].sample);
    const struct rounds_settings rounds = {
        .budget_s = s->budget_s,
        .begin_s = t->begin_s,
        .width = s->width,
        .repetitions_min = REPETITIONS_MIN,
        .repetitions_max = LOOK_LAST,
        .warm_ups = 1,
        .seed = (uint64_t)s->seed,
        .progress = !s->quiet && isatty(STDERR_FILENO),
        .interrupted = interrupts_came,
        .yardstick = t->yardstick,
    };
    struct rounds_result result;
    rounds_run(&result, t->backend, t->session, cells, cell_count, &rounds, arena);
    if (t->backend->failure) TRY(t->backend->failure(t->session, err));
    t->interrupted |= result.interrupted;
    int before = t->samples.sample_count;
    record_cells(&t->samples, cells, cell_count, arena);
    tell(t, &result, cells, cell_count, t->samples.sample_count - before);
    struct cell *y = t->yardstick;
    if (y && y->sample.repetitions)
        take_note_quantity(&t->samples, "yardstick_s", y->sample.seconds, y->sample.repetitions,
                           arena);
    t->yardstick = NULL;
    return OK;
}

enum status take_sustained(struct take *t, struct cell *pairs, int cell_count, double least_s,
                           struct arena *arena, struct error *err)
{
    if (!cell_count || t->interrupted) return OK;
    double begin_s = backend_seconds(t->backend, t->session);
    TRY(t->backend->prepare(t->session, pairs, cell_count, arena, err));
    for (int i = 0; i < cell_count && t->backend->state; i++)
        t->backend->state(t->session, &pairs[i], &pairs[i].sample);
    TRY(sustained_run(t->backend, t->session, pairs, cell_count / 2, least_s, arena, err));
    if (t->backend->failure) TRY(t->backend->failure(t->session, err));
    t->interrupted |= interrupts_came();
    record_cells(&t->samples, pairs, cell_count, arena);
    if (!t->settings->quiet)
        fprintf(
            stderr, "measured %d passes of blocks without a rest, %d device%s at once, in %.1f s\n",
            cell_count, pairs[0].sample.busy_devices, pairs[0].sample.busy_devices == 1 ? "" : "s",
            backend_seconds(t->backend, t->session) - begin_s);
    return OK;
}

enum status take_save(struct take *t, int *exit_code, struct arena *arena, struct error *err)
{
    if (t->interrupted && !t->samples.sample_count)
        return fail(err, SYSTEM, "interrupted before the first repetition; nothing is written");
    interrupts_ignore();
    TRY(samples_save(&t->samples, t->settings->output, arena, err));
    if (t->interrupted) *exit_code = EXIT_OPEN;
    return OK;
}
