#include "measure/take.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "data/file.h"
#include "measure/cells.h"
#include "measure/rounds.h"

enum { PROBE_REPETITIONS = 5, REPETITIONS_MAX = 2000 };

struct take_settings take_defaults(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return (struct take_settings){.backend = "cpu", .output = "-", .threads = processors > 0 ? processors : 1, .seed = 1,
                                  .budget_s = 20, .width = 0.05};
}

static const char *time_now(struct arena *arena)
{
    char text[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return arena_copy_text(arena, text);
}

enum status take_open(struct take *t, const struct take_settings *s, enum precision precision, struct arena *arena, struct error *err)
{
    *t = (struct take){.settings = s, .backend = backend_find(s->backend), .begin_s = clock_seconds()};
    TRY(file_check_place(s->output, err));
    if (!t->backend) return fail(err, BAD_INPUT, "--backend: unknown back end '%s'", s->backend);
    struct backend_settings settings = {(int)s->threads, (uint64_t)s->seed};
    TRY(t->backend->open(&t->session, &settings, precision, arena, err));
    t->backend->describe(t->session, &t->samples.machine, arena);
    if (s->name) t->samples.machine.gpu = s->name;
    t->samples.machine.taken_at = time_now(arena);
    return OK;
}

// The fastest of a few repetitions each; good enough for choosing sizes.
enum status take_guess_rates(struct take *t, struct arena *arena, struct error *err)
{
    struct cell probes[2];
    double fastest[2] = {1e9, 1e9};
    cells_probe(probes);
    TRY(t->backend->prepare(t->session, probes, 2, arena, err));
    for (int i = 0; i < 2 * PROBE_REPETITIONS; i++) {
        double seconds = t->backend->repeat(t->session, &probes[i % 2]);
        fastest[i % 2] = seconds < fastest[i % 2] ? seconds : fastest[i % 2];
    }
    t->gemm_flop_per_s = probes[0].sample.flop / fastest[0];
    t->copy_bytes_per_s = probes[1].sample.bytes / fastest[1];
    return OK;
}

enum status take_cells(struct take *t, struct cell *cells, int cell_count, struct arena *arena, struct error *err)
{
    const struct take_settings *s = t->settings;
    struct samples *all = &t->samples;
    TRY(t->backend->prepare(t->session, cells, cell_count, arena, err));
    struct rounds_settings rounds = {
        .budget_s = s->budget_s, .begin_s = t->begin_s, .width = s->width, .repetitions_min = REPETITIONS_MIN,
        .repetitions_max = REPETITIONS_MAX, .warm_ups = 1, .seed = (uint64_t)s->seed,
        .progress = !s->quiet && isatty(STDERR_FILENO),
    };
    struct rounds_result result;
    rounds_run(&result, t->backend, t->session, cells, cell_count, &rounds, arena);
    int count = all->sample_count + cell_count;
    all->samples = arena_grow(arena, all->samples, (size_t)all->sample_count, (size_t)count, sizeof *all->samples);
    for (int i = 0; i < cell_count; i++) all->samples[all->sample_count + i] = cells[i].sample;
    all->sample_count = count;
    if (!s->quiet)
        fprintf(stderr,
                "measured %d operations on %s, %d thread%s: %d repetitions in %.1f s; %d narrower than %g %%, %d "
                "stopped by the budget\n",
                cell_count, all->machine.processor, all->machine.threads, all->machine.threads == 1 ? "" : "s",
                result.repetitions, result.elapsed_s, result.done, 100 * s->width, cell_count - result.done);
    return OK;
}

enum status take_save(struct take *t, struct arena *arena, struct error *err)
{
    return samples_save(&t->samples, t->settings->output, arena, err);
}
