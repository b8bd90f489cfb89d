// A plan as the arguments of AxoNN's calls, in JSON: init(**config["init"]),
// create_dataloader(data, **config["create_dataloader"]), AxonnStrategy(**config["strategy"], and
// the three degrees). What they do not state is under the key "plumbline", with the notes.
#include "solve/report/export/internal.h"

static void set_ranks(const struct export *e, struct run *r)
{
    const struct layout *l = &e->plan->layout;
    const struct cluster *c = &e->problem->cluster;
    for (int i = 0; i < 3; i++) r->axes[i] = layout_tensor_axis(l, i);
    if (c->group_count == 1) r->processes = c->groups[0].gpus_per_node;
    r->micro_batch /= r->axes[2];
    r->gathers_at = (int)l->grid_gathers;
    r->precision_at = (int)r->job.precision;
    r->syncs_beside = l->gradient_sync == SYNC_OVERLAPPED;
    r->job.overlapped_tensor = e->problem->job.overlapped_tensor;
}

// What is a framework's own way here: groups in one order, an all-reduce of each gradient after the
// backward pass, whole states, a pipeline that goes by what has come.
static void note_ways(struct export *e, int mode)
{
    const struct layout *l = &e->plan->layout;
    struct arena *arena = e->out->arena;
    bool grid = layout_has_grid(l);
    const struct export_note notes[] = {
        {grid && !layout_stands_as_in_axonn(l),
         arena_print(arena, "the axes' order over the ranks, %s: AxoNN's is %s",
                     grid_order_names[l->grid_order], grid_order_names[AXONN_ORDER])},
        {grid && l->grid_gathers == GRID_EACH_MICRO_BATCH,
         "matrices gathered once for each micro-batch: cache_weights_in_all_gather=True of its "
         "Linear's forward, in the model's code"},
        {grid && l->grid_gathers == GRID_EACH_STEP,
         "matrices gathered once for each step: AxoNN gathers them in every pass or micro-batch"},
        {l->sequence_parallel, "sequence parallelism: AxoNN has none"},
        {l->context > 1,
         arena_print(arena, "context parallelism over %d ranks: AxoNN has none", l->context)},
        {l->expert > 1, arena_print(arena, "experts over %d ranks: AxoNN has none", l->expert)},
        {l->zero > 0, arena_print(arena,
                                  "ZeRO %d: AxoNN keeps whole optimizer states, but for the "
                                  "depth's parts",
                                  l->zero)},
        {l->offload_optimizer, "optimizer state in host memory: set in the script"},
        {l->gradient_sync == SYNC_OVERLAPPED && l->data > 1,
         "gradient sync overlapped with the backward pass: sync_gradients comes after it"},
        {l->pipeline > 1, "the pipeline: AxoNN's own needs mpi4py and takes messages as they come; "
                          "Lightning's strategy has G_inter 1"},
        {mode != RECOMPUTE_NONE,
         arena_print(arena,
                     "%s recomputation: activation_checkpointing of Lightning's strategy, "
                     "with the class of a block, where it is full",
                     recompute_names[mode])},
        {true, "the model, its sequence length, precision and optimizer: set in the script, "
               "Linear layers by axonn.intra_layer.auto_parallelize(), with expert_mode=True: "
               "without it every product gathers and scatters its batch"},
        {true, "embeddings: auto_parallelize() leaves them whole on each rank; here they are "
               "divided"}};
    EXPORT_NOTES(e, notes);
    export_unfused_notes(e);
}

enum status report_axonn(struct text *out, const struct plan *plan, const struct problem *problem,
                         struct error *err)
{
    struct export e = {.name = "AxoNN",
                       .framework = FRAMEWORK_ANY,
                       .trainer = TRAINER_MEGATRON,
                       .logits = "AxoNN leaves the loss to the script",
                       .scattered = ": AxoNN sends them whole"};
    TRY(export_begin(&e, out, plan, problem, err));
    TRY(export_need_problem(&e, err));
    TRY(export_need_precision(&e, BF16, err));
    struct run run = export_run(&e);
    run.about = export_headline(&e);
    struct recompute_setting setting = export_recompute(&e);
    run.mode = (int)setting.mode, run.recomputed = setting.layers;
    run.state_bytes = run.job.state_bytes_per_value;
    set_ranks(&e, &run);
    note_ways(&e, run.mode);
    e.state_bytes = job_state_bytes(&run.job);
    export_common_notes(&e);
    export_json(&e, &axonn_rows, &run);
    return OK;
}
