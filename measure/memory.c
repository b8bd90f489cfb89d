// plumbline-measure memory: copies on the device over a range of sizes, transfers from and to the
// host if the device has its own memory, and the bytes that a process takes before any tensor.

#include "data/base/shipped.h"
#include "data/text/shell.h"
#include "measure/commands.h"
#include "measure/take.h"

enum { LEAST_BYTES = 1 << 16, STEP = 4 };

static void add_ladder(struct chooser *c, enum work work, enum sample_kind kind,
                       const char *operation, int64_t largest)
{
    for (int64_t bytes = LEAST_BYTES; bytes <= largest; bytes *= STEP)
        cells_add(c, work, kind, operation, 0, (double)bytes, SIZE(bytes));
}

struct options {
    struct take_settings take;
    int64_t largest_mib;
    const char *python;
};

static const struct option_row rows[] = {
    {"--largest-mib", OPTION_INT, OPT(largest_mib),
     "largest copy or transfer in MiB: 64 KiB, then four times as large each, up to this "
     "(default: 256)",
     1, 1 << 16},
    {"--python", OPTION_TEXT, OPT(python),
     "a Python that has PyTorch: what a process of run --with torch takes on processors"},
};

// As a process with it says of itself, after it has done a little of everything.
static enum status observe_torch(struct samples *to, const char *python, struct arena *arena,
                                 struct error *err)
{
    const char *program;
    double *bytes = TAKE(arena, 1, double);
    TRY(shipped_file(&program, "torch", "run.py", arena, err));
    fflush(NULL);
    FILE *said = popen(arena_print(arena, "PYTHONDONTWRITEBYTECODE=1 %s %s --memory 2>/dev/null",
                                   shell_word(python, arena), shell_word(program, arena)),
                       "r");
    bool told = said && fscanf(said, "%lf", bytes) == 1;
    if ((said && pclose(said)) || !told)
        return fail(err, UNAVAILABLE,
                    "--python: %s: expected a Python with torch.distributed.pipelining and gloo, "
                    "which run --with torch needs",
                    python);
    take_note_quantity(to, "torch_process_bytes", bytes, 1, arena);
    return OK;
}

COMMAND_RUN(run)
{
    struct options *o = options;
    struct take_settings *s = &o->take;
    struct take take;
    take_complete(s, false);
    TRY(take_open(&take, s, FP32, arena, err));
    // First, before the process takes any other memory.
    if (take.backend->observe)
        TRY(take.backend->observe(take.session, &take.samples.quantities,
                                  &take.samples.quantity_count, arena, err));
    if (o->python) TRY(observe_torch(&take.samples, o->python, arena, err));
    struct cells_request request = {.precision = FP32};
    struct chooser c = {.request = &request, .arena = arena};
    int64_t largest = o->largest_mib << 20;
    add_ladder(&c, WORK_COPY, SAMPLE_MEMORY, "copy", largest);
    if (take.backend->has_host) {
        add_ladder(&c, WORK_TO_DEVICE_PINNED, SAMPLE_TRANSFER, "host to device, pinned", largest);
        add_ladder(&c, WORK_TO_DEVICE_PAGEABLE, SAMPLE_TRANSFER, "host to device, pageable",
                   largest);
        add_ladder(&c, WORK_TO_HOST_PINNED, SAMPLE_TRANSFER, "device to host, pinned", largest);
        add_ladder(&c, WORK_TO_HOST_PAGEABLE, SAMPLE_TRANSFER, "device to host, pageable", largest);
    } else if (!s->quiet) {
        fprintf(stderr, "%s: no transfers between device and host: the device is the host\n",
                take.backend->name);
    }
    TRY(take_cells(&take, c.cells, c.count, arena, err));
    return take_save(&take, exit_code, arena, err);
}

const struct command measure_memory = {
    .name = "memory",
    .text = "time copies and transfers of increasing size; measure a process's memory",
    .usage = "plumbline measure memory [OPTION ...]",
    READS(struct options, rows, {.take = {TAKE_DEFAULTS}, .largest_mib = 256}),
    SHARES(take_options, struct options, take),
    .line = OPT(take.line),
    .run = run,
};
