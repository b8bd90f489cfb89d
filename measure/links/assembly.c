// Rank 0 decides the end of a run and holds the document, whose path is checked before anything is
// measured.
#include "measure/links/assembly.h"

#include <unistd.h>

#include "measure/sampling/host.h"
#include "measure/sampling/rounds.h"

enum { REPETITIONS_MAX = 2000 };

#define AT(member) offsetof(struct assembly_settings, member)
static const struct option_row rows[] = {
    {"--largest", OPTION_INT, AT(largest), "bytes of the longest (default: 16777216)", 1,
     MESSAGE_BYTES_MAX},
    {"--factor", OPTION_INT, AT(factor), "factor from one length to the next (default: 4)", 2,
     1024},
    {"--wait", OPTION_NAME, AT(wait),
     "how to wait; auto: sleep between polls if there are more processes than processors (default: "
     "auto)",
     .names = wait_names},
    {"--budget-s", OPTION_NUMBER, AT(budget_s),
     "seconds to spend; every operation is measured at least once (default: 60)", 0.01, 1e6},
    {"--width", OPTION_NUMBER, AT(width),
     "target width of the 95 % interval, relative to the median (default: 0.05)", 1e-6, 10},
    {"--seed", OPTION_INT, AT(seed), "seed for the order and the messages' content (default: 1)", 0,
     1e9},
    {"--name", OPTION_TEXT, AT(name), "device name in the costs (default: the processor's name)"},
    {"--nccl", OPTION_FLAG, AT(nccl),
     "measure between CUDA devices through NCCL, one device per rank"},
    {"--cold", OPTION_FLAG, AT(cold),
     "time each operation after a rest, without the same one, untimed, directly before it",
     .needs = "--nccl"},
    {"--in-a-row", OPTION_INT, AT(in_a_row),
     "time N repetitions of an operation together and divide by N (default: 1)", 1, 1000,
     .needs = "--nccl"},
    {"--shared", OPTION_FLAG, AT(shared),
     "the machines are shared with other programs: the lower tenth of a time counts (default on "
     "busy machines, between processes)"},
    {"--exclusive", OPTION_FLAG, AT(exclusive),
     "the machines are not shared: the median counts even if they seem busy",
     .excludes = "--shared"},
    {"--quiet", OPTION_FLAG, AT(quiet), "print nothing but errors on stderr"},
    {"-o", OPTION_PATH, AT(output), "output file for the samples (default: standard output)"},
};
const struct option_table assembly_options = OPTION_TABLE(rows);

static enum status check_start(const struct assembly_settings *s, const struct ranks *ranks,
                               struct error *err)
{
    if (ranks_count(ranks) < 2)
        return refuse(
            err,
            "this measures between processes, and there is only one: start it with mpirun or srun");
    return ranks_self(ranks) ? OK : file_check_place(s->output, err);
}

enum status assembly_run(const struct assembly_settings *s, assembly_body *body, void *settings,
                         int *exit_code, struct arena *arena, struct error *err)
{
    if (s->smallest > s->largest)
        return refuse(err, "--smallest: expected at most --largest, %lld, found %lld",
                      (long long)s->largest, (long long)s->smallest);
    struct ranks *ranks;
    TRY(ranks_open(&ranks, arena, err));
    interrupts_listen();
    enum status status = check_start(s, ranks, err);
    if (status == OK) status = body(settings, ranks, exit_code, arena, err);
    if (status != OK && ranks_count(ranks) > 1) {
        fprintf(stderr, "plumbline measure %s: %s\n", s->line.argv[0], err->text);
        fflush(stderr);
        ranks_abort(ranks, status == BAD_INPUT || status == UNAVAILABLE ? 2 : 1);
    }
    ranks_close(ranks);
    return status;
}

enum status assembly_take(struct samples *samples, const struct assembly_settings *s,
                          struct ranks *ranks, const struct roster *roster, struct joint *joint,
                          joint_function *repeat, void *context, int *exit_code,
                          struct arena *arena, struct error *err)
{
    const struct joint_settings settings = {
        .budget_s = s->budget_s,
        .width = s->width,
        .repetitions_min = REPETITIONS_MIN,
        .repetitions_max = REPETITIONS_MAX,
        .warm_ups = 1,
        .seed = (uint64_t)s->seed,
        .progress = s->quiet                ? PROGRESS_NONE
                    : isatty(STDERR_FILENO) ? PROGRESS_TERMINAL
                                            : PROGRESS_LINES,
    };
    struct joint_result result;
    bool shared = s->shared || (!s->exclusive && !s->nccl && roster->is_busy);
    *samples = (struct samples){0};
    TRY(joint_run(&result, ranks, joint, &settings, repeat, context, arena, err));
    if (ranks_self(ranks)) return OK;
    if (!result.repetitions)
        return fail(err, SYSTEM,
                    "interrupted before the first round was complete; nothing is written");

    interrupts_ignore();
    samples->samples = TAKE(arena, joint->cell_count, struct sample);
    samples->sample_count = joint->cell_count;
    for (int i = 0; i < joint->cell_count; i++) {
        struct sample *sample = &samples->samples[i];
        *sample = joint->cells[i].sample;
        sample->shared = shared;
        if (!s->nccl) continue;
        sample->before = s->cold ? BEFORE_REST : BEFORE_SAME;
        sample->in_a_row = (int)s->in_a_row;
    }
    roster_describe(samples, roster, s->name, arena);
    samples->machine.taken_at = record_time(arena);
    record_launch(samples, s->seed, record_command(s->line.argc, s->line.argv, arena), arena);
    TRY(samples_save(samples, s->output, arena, err));
    if (!s->quiet)
        fprintf(stderr,
                "measured %d operations of %d ranks: %d repetitions in %.1f s; %d narrower than %g "
                "%%, %d stopped by the %s; %d outliers\n",
                joint->cell_count, roster->count, result.repetitions, result.elapsed_s, result.done,
                100 * s->width, joint->cell_count - result.done,
                result.interrupted ? "signal" : "budget", result.outliers);
    if (result.interrupted) *exit_code = EXIT_OPEN;
    return OK;
}
