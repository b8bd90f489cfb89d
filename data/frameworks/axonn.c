// Arguments of AxoNN (axonn-ai/axonn 660a2246), as JSON by call: of init and create_dataloader
// (axonn/axonn.py), of Lightning's strategy (axonn/lightning/axonn_strategy.py). What no argument
// of theirs states is under the key "plumbline".
#include "data/frameworks/setting.h"
#include "data/kinds/schedules.h"

static const struct setting_row rows[] = {
    SAYS("init.G_inter", INT, job.layout.pipeline),
    SAYS("init.G_data", INT, job.layout.data),
    SAYS("init.G_intra_r", INT, axes[0]),
    SAYS("init.G_intra_c", INT, axes[1]),
    SAYS("init.G_intra_d", INT, axes[2]),
    SAYS("init.gpus_per_node", COUNT, processes),
    SAYS("create_dataloader.global_batch_size", COUNT, global_batch),
    SAYS("create_dataloader.micro_batch_size", COUNT, micro_batch),
    SAYS("strategy.overlap_communication", FLAG, job.overlapped_tensor),
    SAYS("plumbline.about", TEXT, about),
    SAYS("plumbline.sequence", COUNT, job.sequence),
    SAYS_NAME("plumbline.precision", NAME, precision_at, precision_names),
    SAYS("plumbline.gradient_bytes_per_value", INT, job.gradient_bytes_per_value),
    SAYS_NAME("plumbline.recompute", NAME, mode, recompute_names),
    SAYS("plumbline.recomputed_layers", COUNT, recomputed),
    SAYS_NAME("plumbline.grid_order", NAME, job.layout.grid_order, grid_order_names),
    SAYS_NAME("plumbline.grid_gathers", NAME, gathers_at, grid_gathers_names),
    SAYS_NAME("plumbline.schedule", NAME, job.layout.schedule, schedule_names),
    SAYS("plumbline.virtual_stages", INT, job.layout.virtual_stages),
    SAYS("plumbline.zero", INT, job.layout.zero),
    SAYS("plumbline.overlapped_sync", TRUE, syncs_beside),
    SAYS("plumbline.sequence_parallel", TRUE, job.layout.sequence_parallel),
    SAYS("plumbline.unfused_attention", UNLESS, job.layout.fused_attention),
    SAYS("plumbline.overlapped_messages", TRUE, job.overlapped_messages),
    SAYS("plumbline.scattered_messages", TRUE, job.scattered_messages),
    SAYS("plumbline.gathered_logits", TRUE, job.gathered_logits),
    SAYS("plumbline.context", INT, job.layout.context),
    SAYS("plumbline.expert", INT, job.layout.expert),
    SAYS_NAME("plumbline.attention_kernel", NAME, job.attention_kernel, attention_kernel_names),
    SAYS("plumbline.fused_loss", TRUE, job.fused_loss),
    SAYS("plumbline.without_adam", UNLESS, job.adam),
    SAYS("plumbline.state_bytes_per_value", COUNT, state_bytes),
    LATER("plumbline.not_expressed"),
};

const struct setting_rows axonn_rows = {.rows = rows, .count = ARRAY_LENGTH(rows)};
