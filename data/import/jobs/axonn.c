// AxoNN's arguments by call, in JSON, as a run: the job that report --format axonn wrote, or one of
// init's and create_dataloader's arguments alone.
#include "data/import/jobs/importer.h"
#include "data/inputs/framework.h"

// Axes 1, 2 and 3 are its rows, columns and depth; with the first alone the ranks are no grid.
// Without a word of ours their groups are in its own order (axonn/communication.py).
static enum status set_axes(struct run *r, const struct settings *s, struct error *err)
{
    static const char *const names[] = {"G_intra_r", "G_intra_c", "G_intra_d"};
    struct layout *l = &r->job.layout;
    int64_t ranks = 1;
    for (int i = 0; i < 3; i++) {
        ranks *= r->axes[i];
        if (r->axes[i] < 1 || ranks > 65536)
            return refuse(err, "%s: init.%s: expected 1 or more, of 65536 ranks, found %d", r->file,
                          names[i], r->axes[i]);
    }
    bool grid = r->axes[1] > 1 || r->axes[2] > 1;
    l->tensor = (int)ranks;
    l->grid_depth = grid ? r->axes[1] : 0, l->grid_rows = grid ? r->axes[2] : 0;
    if (!setting_of(s, "plumbline.grid_order")) l->grid_order = AXONN_ORDER;
    if (!grid) l->grid_order = 0;
    l->grid_gathers = grid ? (enum grid_gathers)r->gathers_at : GRID_EACH_PASS;
    return OK;
}

// A rank of the depth has its own part of the batch: micro_batch_size is of each.
static enum status set_batch(struct run *r, const struct settings *s, struct error *err)
{
    struct layout *l = &r->job.layout;
    int64_t others = (int64_t)l->tensor * l->pipeline * l->context,
            micro = r->micro_batch * r->axes[2];
    if (!r->micro_batch || micro > 1 << 20)
        return refuse(err,
                      "%s: create_dataloader.micro_batch_size: expected 1 to 2^20 sequences, found "
                      "%lld (--micro-batch)",
                      r->file, (long long)r->micro_batch);
    if (!r->global_batch)
        return refuse(
            err, "%s: expected create_dataloader.global_batch_size (--global-batch), found none",
            r->file);
    if (r->gpus)
        TRY(settings_divide(s->document.path,
                            "--gpus over G_inter x G_intra_r x G_intra_c x G_intra_d", r->gpus,
                            others, &l->data, err));
    l->micro_batch = (int)micro, r->job.global_batch = r->global_batch;
    return OK;
}

static enum status read_run(struct run *r, struct settings *s, const struct asked *asked,
                            struct error *err)
{
    struct job *j = &r->job;
    if (asked->sequence) j->sequence = asked->sequence;
    if (asked->micro_batch) r->micro_batch = asked->micro_batch;
    if (asked->global_batch) r->global_batch = asked->global_batch;
    j->precision = (enum precision)(asked->precision >= 0 ? asked->precision : r->precision_at);
    if (!j->sequence)
        return refuse(err, "%s: the script sets the sequence length: give it with --sequence",
                      r->file);
    if (j->layout.pipeline < 1 || j->layout.data < 1)
        return refuse(err, "%s: init: expected G_inter and G_data of 1 or more, found %d and %d",
                      r->file, j->layout.pipeline, j->layout.data);
    TRY(set_axes(r, s, err));
    TRY(set_batch(r, s, err));
    j->layout.gradient_sync = r->syncs_beside ? SYNC_OVERLAPPED : SYNC_EXPOSED;
    j->state_bytes_per_value = r->state_bytes > STATE_BYTES_MAX ? -1 : (int)r->state_bytes;
    j->recompute[r->mode] = true;
    if (r->mode == RECOMPUTE_FIRST_LAYERS) // of one stage, too
        j->layout.recompute = 1 + r->mode, j->layout.recomputed_layers = (int)r->recomputed;
    if (!setting_of(s, "plumbline.precision") && asked->precision < 0)
        said_assume(&s->said, "the script sets the precision: bf16 is assumed (--precision)");
    return OK;
}

static const struct run defaults = {
    .axes = {1, 1, 1}, .precision_at = BF16, .mode = RECOMPUTE_NONE};

static const struct importer importer = {.name = "axonn",
                                         .framework = FRAMEWORK_AXONN,
                                         .recompute_key = "plumbline.recompute",
                                         .defaults = &defaults,
                                         .settings = settings_read_json,
                                         .rows = &axonn_rows,
                                         .run = read_run};

static const struct option_row option_rows[] = {
    ASK_GPUS,
    ASK_IGNORE,
    ASK_SEQUENCE,
    ASK_MICRO_BATCH,
    ASK_PRECISION,
    {"--global-batch", OPTION_INT, ASK(global_batch),
     "sequences per iteration, instead of global_batch_size", 1, 1 << 30},
};
static const struct asked defaults_asked = ASKED(importer);
const struct command import_axonn = {
    .name = "axonn",
    .text = "arguments of AxoNN in JSON -> job",
    .usage = "plumbline import axonn CONFIG.json [--sequence N] [--gpus N] [-o job.json]",
    READER(option_rows, struct asked, defaults_asked),
};
