// Recipes of Megatron Bridge for texts (src/megatron/bridge/recipes at 067f987df03b), with
// their names, the name of the model on the hub, and what they set where it is not usual: a code of
// bridge_recipe_keys and a value each.
#include "data/frameworks/setting.h"

const struct recipe_key bridge_recipe_keys[] = {
    {"tp", "model.tensor_model_parallel_size"},
    {"pp", "model.pipeline_model_parallel_size"},
    {"vp", "model.virtual_pipeline_model_parallel_size"},
    {"cp", "model.context_parallel_size"},
    {"ep", "model.expert_model_parallel_size"},
    {"etp", "model.expert_tensor_parallel_size"},
    {"sp", "model.sequence_parallel"},
    {"mbs", "train.micro_batch_size"},
    {"gbs", "train.global_batch_size"},
    {"seq", "model.seq_length"},
    {"data", "dataset.seq_length"},
    {"layout", "model.pipeline_model_parallel_layout"},
    {"mp", "mixed_precision"},
    {"rg", "model.recompute_granularity"},
    {"rm", "model.recompute_method"},
    {"rn", "model.recompute_num_layers"},
    {"mod", "model.recompute_modules"},
    {"fsdp", "ddp.use_megatron_fsdp"},
    {"shard", "ddp.data_parallel_sharding_strategy"},
    {"zero", "ddp.use_distributed_optimizer"},
    {"grad32", "ddp.grad_reduce_in_fp32"},
    {"ov", "ddp.overlap_grad_reduce"},
    {"disp", "model.moe_token_dispatcher_type"},
    {"deepep", "model.moe_enable_deepep"},
    {"flex", "model.moe_flex_dispatcher_backend"},
    {"aeps", "model.account_for_embedding_in_pipeline_split"},
    {"alps", "model.account_for_loss_in_pipeline_split"},
    {"first", "model.num_layers_in_first_pipeline_stage"},
    {"last", "model.num_layers_in_last_pipeline_stage"},
    {"layers", "model.num_layers"},
    {"mtp", "model.mtp_num_layers"},
    {"loss", "model.cross_entropy_loss_fusion"},
    {"graph", "model.cuda_graph_impl"},
    {"over", "comm_overlap.tp_comm_overlap"},
    {"peft", "peft_scheme"},
    {NULL, NULL}};
const char bridge_recipe_usual[] = "mp=bf16_mixed zero=true ov=true loss=true";

const struct bridge_recipe bridge_recipes[] = {
    {"deepseek_v3_pretrain_256gpu_h100_bf16_32nodes_config", "deepseek-ai/DeepSeek-V3",
     "tp=2 pp=8 ep=32 etp=1 sp=true mbs=1 gbs=4096 seq=4096 "
     "layout=Et*8|t*8|t*8|t*8|t*8|t*8|t*8|t*5mL rg=full rm=uniform rn=1 grad32=false "
     "disp=alltoall mtp=1"},
    {"deepseek_v3_pretrain_config deepseek_v3_pretrain_1024gpu_h100_bf16_config",
     "deepseek-ai/DeepSeek-V3",
     "tp=2 pp=16 ep=64 etp=1 sp=true mbs=1 gbs=4096 seq=4096 "
     "layout=Et*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|tmL grad32=false "
     "disp=alltoall mtp=1"},
    {"deepseek_v4_flash_pretrain_64gpu_gb200_bf16_config deepseek_v4_flash_pretrain_gb200_config",
     "deepseek-ai/DeepSeek-V4-Flash",
     "pp=8 ep=8 etp=1 mbs=1 gbs=256 seq=4096 rg=selective mod=[moe_act,mhc,mla_up_proj] "
     "disp=flex flex=hybridep"},
    {"deepseek_v4_flash_pretrain_64gpu_gb200_bf16_muon_config "
     "deepseek_v4_flash_pretrain_muon_gb200_config",
     "deepseek-ai/DeepSeek-V4-Flash",
     "pp=8 ep=8 etp=1 mbs=1 gbs=256 seq=4096 rg=selective mod=[moe_act,mhc,mla_up_proj] "
     "zero=false disp=flex flex=hybridep"},
    {"deepseek_v4_flash_pretrain_64gpu_gb200_fp8mx_config "
     "deepseek_v4_flash_pretrain_mxfp8_gb200_config",
     "deepseek-ai/DeepSeek-V4-Flash",
     "pp=8 ep=8 etp=1 mbs=1 gbs=256 seq=4096 mp=bf16_with_mxfp8_mixed rg=selective "
     "mod=[mla_up_proj] disp=flex flex=hybridep"},
    {"deepseek_v4_flash_pretrain_mxfp8_config deepseek_v4_flash_pretrain_32gpu_h100_fp8mx_config",
     "deepseek-ai/DeepSeek-V4-Flash",
     "pp=4 ep=8 etp=1 mbs=1 gbs=128 seq=4096 mp=bf16_with_mxfp8_mixed rg=selective "
     "mod=[moe_act,mhc] disp=alltoall"},
    {"deepseek_v4_flash_pretrain_config deepseek_v4_flash_pretrain_32gpu_h100_bf16_config "
     "deepseek_v4_flash_sft_config deepseek_v4_flash_sft_openmath_thinking_packed_config "
     "deepseek_v4_flash_sft_32gpu_h100_bf16_config",
     "deepseek-ai/DeepSeek-V4-Flash",
     "pp=4 ep=8 etp=1 mbs=1 gbs=128 seq=4096 rg=selective mod=[moe_act,mhc] disp=alltoall"},
    {"deepseek_v4_flash_pretrain_muon_config "
     "deepseek_v4_flash_pretrain_32gpu_h100_bf16_muon_config",
     "deepseek-ai/DeepSeek-V4-Flash",
     "pp=4 ep=8 etp=1 mbs=1 gbs=128 seq=4096 rg=selective mod=[moe_act,mhc] zero=false "
     "disp=alltoall"},
    {"deepseek_v4_pro_pretrain_mxfp8_config deepseek_v4_pro_pretrain_32gpu_gb300_fp8mx_config",
     "deepseek-ai/DeepSeek-V4-Pro",
     "pp=4 ep=8 etp=1 mbs=1 gbs=128 seq=4096 mp=bf16_with_mxfp8_mixed rg=selective "
     "mod=[moe_act,mhc] disp=alltoall"},
    {"deepseek_v4_pro_pretrain_config deepseek_v4_pro_pretrain_32gpu_gb300_bf16_config",
     "deepseek-ai/DeepSeek-V4-Pro",
     "pp=4 ep=8 etp=1 mbs=1 gbs=128 seq=4096 rg=selective mod=[moe_act,mhc] disp=alltoall"},
    {"exaone4_1p2b_peft_config exaone4_1p2b_peft_1gpu_h100_bf16_config",
     "LGAI-EXAONE/EXAONE-4.0-1.2B", "mbs=1 gbs=128 seq=2048 peft=1"},
    {"exaone4_1p2b_pretrain_config exaone4_1p2b_pretrain_1gpu_h100_bf16_config",
     "LGAI-EXAONE/EXAONE-4.0-1.2B", "mbs=2 gbs=32 seq=4096"},
    {"exaone4_1p2b_sft_config exaone4_1p2b_sft_1gpu_h100_bf16_config",
     "LGAI-EXAONE/EXAONE-4.0-1.2B", "mbs=1 gbs=128 seq=2048"},
    {"exaone_moe_236b_a23b_peft_config exaone_moe_236b_a23b_peft_16gpu_h100_bf16_config",
     "LGAI-EXAONE/K-EXAONE-236B-A23B",
     "tp=4 pp=4 ep=4 etp=1 sp=true mbs=1 gbs=32 seq=2048 disp=flex peft=1"},
    {"exaone_moe_236b_a23b_pretrain_config exaone_moe_236b_a23b_pretrain_64gpu_h100_bf16_config",
     "LGAI-EXAONE/K-EXAONE-236B-A23B",
     "tp=4 pp=8 ep=8 etp=1 sp=true mbs=1 gbs=32 seq=4096 rg=full rm=uniform rn=1 disp=flex"},
    {"exaone_moe_236b_a23b_sft_config exaone_moe_236b_a23b_sft_64gpu_h100_bf16_config",
     "LGAI-EXAONE/K-EXAONE-236B-A23B",
     "tp=4 pp=8 ep=8 etp=1 sp=true mbs=1 gbs=32 seq=2048 disp=flex"},
    {"exaone_moe_2_0_750b_a37_peft_config exaone_moe_peft_config "
     "exaone_moe_2_0_750b_a37_peft_128gpu_h100_bf16_config",
     "LGAI-EXAONE/K-EXAONE-2.0-750B-A37B",
     "tp=4 pp=8 ep=16 etp=1 sp=true mbs=1 gbs=32 seq=2048 "
     "layout=Et*11|t*10|t*10|t*10|t*10|t*10|t*10|t*7mmmmL rg=selective "
     "mod=[core_attn,moe,shared_experts] disp=flex peft=1"},
    {"exaone_moe_2_0_750b_a37_pretrain_config exaone_moe_pretrain_config "
     "exaone_moe_2_0_750b_a37_pretrain_512gpu_h100_bf16_config",
     "LGAI-EXAONE/K-EXAONE-2.0-750B-A37B",
     "tp=4 pp=16 ep=32 etp=1 sp=true mbs=1 gbs=32 seq=4096 "
     "layout=Et*6|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|ttmmmmL rg=full "
     "rm=uniform rn=1 disp=flex"},
    {"exaone_moe_2_0_750b_a37_sft_config exaone_moe_sft_config "
     "exaone_moe_2_0_750b_a37_sft_512gpu_h100_bf16_config",
     "LGAI-EXAONE/K-EXAONE-2.0-750B-A37B",
     "tp=4 pp=16 ep=32 etp=1 sp=true mbs=1 gbs=32 seq=2048 "
     "layout=Et*6|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|t*5|ttmmmmL rg=full "
     "rm=uniform rn=1 disp=flex"},
    {"gemma2_27b_peft_config gemma2_27b_peft_4gpu_h100_bf16_config", "google/gemma-2-27b",
     "tp=4 mbs=1 gbs=128 seq=2048 zero=false ov=false peft=1"},
    {"gemma2_27b_pretrain_config gemma2_27b_pretrain_16gpu_h100_bf16_config", "google/gemma-2-27b",
     "tp=8 pp=2 mbs=2 gbs=32 seq=4096 grad32=false ov=false"},
    {"gemma2_27b_sft_config gemma2_27b_sft_16gpu_h100_bf16_config", "google/gemma-2-27b",
     "tp=8 pp=2 mbs=1 gbs=128 seq=2048 grad32=false"},
    {"gemma2_2b_peft_config gemma2_2b_peft_1gpu_h100_bf16_config", "google/gemma-2-2b",
     "mbs=1 gbs=128 seq=2048 zero=false ov=false peft=1"},
    {"gemma2_2b_pretrain_config gemma2_2b_pretrain_2gpu_h100_bf16_config", "google/gemma-2-2b",
     "tp=2 mbs=2 gbs=32 seq=4096 grad32=false ov=false"},
    {"gemma2_2b_sft_config gemma2_2b_sft_1gpu_h100_bf16_config", "google/gemma-2-2b",
     "mbs=1 gbs=128 seq=2048 grad32=false"},
    {"gemma2_9b_peft_config gemma2_9b_peft_1gpu_h100_bf16_config", "google/gemma-2-9b",
     "mbs=1 gbs=128 seq=2048 zero=false ov=false peft=1"},
    {"gemma2_9b_pretrain_config gemma2_9b_pretrain_8gpu_h100_bf16_config", "google/gemma-2-9b",
     "tp=8 mbs=2 gbs=32 seq=4096 grad32=false ov=false"},
    {"gemma2_9b_sft_config gemma2_9b_sft_4gpu_h100_bf16_config", "google/gemma-2-9b",
     "tp=4 mbs=1 gbs=128 seq=2048 grad32=false"},
    {"gemma3_1b_pretrain_config gemma3_1b_pretrain_1gpu_h100_bf16_config", "",
     "mbs=1 gbs=512 seq=32768 layers=26"},
    {"gemma4_e4b_pretrain_config gemma4_e4b_pretrain_2gpu_h100_bf16_config",
     "google/gemma-4-E4B-it", "tp=2 mbs=1 gbs=8 seq=4096"},
    {"glm45_355b_peft_config glm45_355b_peft_16gpu_h100_bf16_config", "zai-org/GLM-4.5",
     "tp=2 pp=4 ep=4 mbs=1 gbs=128 seq=2048 zero=false grad32=false ov=false disp=alltoall "
     "peft=1"},
    {"glm45_355b_pretrain_config glm45_355b_pretrain_128gpu_h100_bf16_config", "zai-org/GLM-4.5",
     "tp=2 pp=8 ep=16 etp=1 sp=true mbs=1 gbs=2048 seq=4096 rg=selective disp=alltoall first=10 "
     "last=10 mtp=1"},
    {"glm45_355b_sft_config glm45_355b_sft_128gpu_h100_bf16_config", "zai-org/GLM-4.5",
     "tp=2 pp=8 ep=16 mbs=1 gbs=128 seq=2048 zero=false grad32=false ov=false disp=alltoall "
     "first=10 last=10"},
    {"glm45_air_106b_peft_config glm45_air_106b_peft_8gpu_h100_bf16_config", "zai-org/GLM-4.5-Air",
     "pp=2 ep=4 mbs=1 gbs=128 seq=2048 zero=false grad32=false ov=false disp=alltoall peft=1"},
    {"glm45_air_106b_pretrain_config glm45_air_106b_pretrain_32gpu_h100_bf16_config",
     "zai-org/GLM-4.5-Air",
     "pp=4 ep=8 etp=1 sp=true mbs=1 gbs=2048 seq=4096 rg=selective disp=alltoall first=11 "
     "last=11 mtp=1"},
    {"glm45_air_106b_sft_config glm45_air_106b_sft_32gpu_h100_bf16_config", "zai-org/GLM-4.5-Air",
     "pp=4 ep=8 mbs=1 gbs=128 seq=2048 zero=false grad32=false ov=false disp=alltoall first=11 "
     "last=11"},
    {"glm52_peft_192gpu_gb200_bf16_config", "zai-org/GLM-5.2",
     "pp=6 ep=32 etp=1 mbs=1 gbs=32 seq=2048 rg=full rm=uniform rn=1 ov=false disp=alltoall "
     "first=14 last=16 mtp=1 loss=false peft=1"},
    {"glm52_peft_208gpu_h100_bf16_config", "zai-org/GLM-5.2",
     "pp=13 ep=16 etp=1 mbs=1 gbs=32 seq=2048 "
     "layout=Et*6|t*4|t*8|t*8|t*8|t*8|t*8|t*8|t*4|t*4|t*4|t*4|t*4mL rg=full rm=uniform rn=1 "
     "ov=false disp=flex mtp=1 loss=false peft=1"},
    {"glm52_pretrain_192gpu_gb200_bf16_config", "zai-org/GLM-5.2",
     "pp=6 ep=32 etp=1 mbs=1 gbs=1024 seq=4096 rg=full rm=uniform rn=1 grad32=false ov=false "
     "disp=alltoall first=14 last=16 mtp=1 loss=false"},
    {"glm52_pretrain_416gpu_h100_bf16_config", "zai-org/GLM-5.2",
     "pp=13 vp=2 ep=32 etp=1 mbs=1 gbs=1024 seq=4096 "
     "layout=Et|t||t*4|t*4|t*4|t*4||t*4|t*4|t*4|t*4||t*4|t*4|t*4|t*4||t*4|t*4|t*4|t*4||t*4|t*4|t*"
     "4mL "
     "rg=full rm=uniform rn=1 grad32=false ov=false disp=flex mtp=1 loss=false"},
    {"glm52_sft_192gpu_gb200_bf16_128k_config", "zai-org/GLM-5.2",
     "pp=6 cp=32 ep=32 etp=1 mbs=1 gbs=56 seq=131072 layout=Et*14|t*16|t*12|t*12|t*12|t*12mL "
     "rg=full rm=uniform rn=1 ov=false disp=flex flex=hybridep mtp=1 loss=false"},
    {"glm52_sft_192gpu_gb200_bf16_config", "zai-org/GLM-5.2",
     "pp=6 cp=4 ep=32 etp=1 mbs=1 gbs=8 seq=8192 rg=full rm=uniform rn=1 ov=false disp=flex "
     "flex=hybridep first=14 last=16 mtp=1 loss=false"},
    {"glm52_sft_416gpu_h100_bf16_config", "zai-org/GLM-5.2",
     "pp=13 vp=2 cp=16 ep=32 etp=1 mbs=1 gbs=32 seq=2048 "
     "layout=Et|t||t*4|t*4|t*4|t*4||t*4|t*4|t*4|t*4||t*4|t*4|t*4|t*4||t*4|t*4|t*4|t*4||t*4|t*4|t*"
     "4mL "
     "rg=full rm=uniform rn=1 ov=false disp=flex mtp=1 loss=false"},
    {"glm52_sft_608gpu_h100_bf16_200k_config", "zai-org/GLM-5.2",
     "pp=19 cp=32 ep=32 etp=1 mbs=1 gbs=13 seq=200000 "
     "layout=Et*6|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4mL "
     "rg=full rm=uniform rn=1 ov=false disp=flex mtp=1 loss=false"},
    {"gpt3_175b_pretrain_config gpt3_175b_pretrain_32gpu_h100_bf16_config", "",
     "tp=4 pp=8 vp=6 sp=true mbs=2 gbs=2048 seq=2048 layers=96 over=true"},
    {"gpt_oss_120b_peft_config gpt_oss_120b_peft_8gpu_h100_bf16_config", "openai/gpt-oss-120b",
     "ep=8 mbs=1 gbs=128 seq=2048 zero=false grad32=false ov=false disp=alltoall peft=1"},
    {"gpt_oss_120b_pretrain_config gpt_oss_120b_pretrain_64gpu_h100_bf16_config",
     "openai/gpt-oss-120b", "tp=2 pp=4 ep=16 etp=1 sp=true mbs=1 gbs=512 seq=4096 disp=alltoall"},
    {"gpt_oss_120b_sft_32k_config gpt_oss_120b_sft_48gpu_h100_bf16_32k_config",
     "openai/gpt-oss-120b",
     "tp=2 pp=6 cp=4 ep=4 sp=true mbs=1 gbs=4 seq=32768 rg=selective mod=[moe_act] zero=false "
     "grad32=false ov=false disp=alltoall loss=false"},
    {"gpt_oss_120b_sft_config gpt_oss_120b_sft_32gpu_h100_bf16_config", "openai/gpt-oss-120b",
     "pp=4 ep=8 mbs=1 gbs=128 seq=2048 zero=false grad32=false ov=false disp=alltoall"},
    {"gpt_oss_20b_peft_config gpt_oss_20b_peft_1gpu_h100_bf16_config", "openai/gpt-oss-20b",
     "mbs=1 gbs=128 seq=2048 zero=false grad32=false ov=false peft=1"},
    {"gpt_oss_20b_peft_fp8_current_scaling_config gpt_oss_20b_peft_1gpu_h100_fp8cs_config",
     "openai/gpt-oss-20b",
     "mbs=1 gbs=128 seq=2048 mp=bf16_with_fp8_current_scaling_mixed zero=false grad32=false "
     "ov=false peft=1"},
    {"gpt_oss_20b_peft_mxfp8_config gpt_oss_20b_peft_1gpu_h100_fp8mx_config", "openai/gpt-oss-20b",
     "mbs=1 gbs=128 seq=2048 mp=bf16_with_mxfp8_mixed zero=false grad32=false ov=false peft=1"},
    {"gpt_oss_20b_pretrain_config gpt_oss_20b_pretrain_16gpu_h100_bf16_config",
     "openai/gpt-oss-20b", "tp=2 pp=4 ep=4 etp=1 sp=true mbs=1 gbs=512 seq=4096 disp=alltoall"},
    {"gpt_oss_20b_pretrain_fp8_current_scaling_config "
     "gpt_oss_20b_pretrain_16gpu_h100_fp8cs_config",
     "openai/gpt-oss-20b",
     "tp=2 pp=4 ep=4 etp=1 sp=true mbs=1 gbs=512 seq=4096 mp=bf16_with_fp8_current_scaling_mixed "
     "disp=alltoall"},
    {"gpt_oss_20b_pretrain_mxfp8_config gpt_oss_20b_pretrain_16gpu_h100_fp8mx_config",
     "openai/gpt-oss-20b",
     "tp=2 pp=4 ep=4 etp=1 sp=true mbs=1 gbs=512 seq=4096 mp=bf16_with_mxfp8_mixed disp=alltoall"},
    {"gpt_oss_20b_sft_32k_config gpt_oss_20b_sft_8gpu_h100_bf16_32k_config", "openai/gpt-oss-20b",
     "ep=8 mbs=1 gbs=32 seq=32768 zero=false grad32=false ov=false disp=alltoall"},
    {"gpt_oss_20b_sft_config gpt_oss_20b_sft_8gpu_h100_bf16_config", "openai/gpt-oss-20b",
     "ep=8 mbs=1 gbs=128 seq=2048 zero=false grad32=false ov=false disp=alltoall"},
    {"gpt_oss_20b_sft_fp8_current_scaling_config gpt_oss_20b_sft_8gpu_h100_fp8cs_config",
     "openai/gpt-oss-20b",
     "ep=8 mbs=1 gbs=128 seq=2048 mp=bf16_with_fp8_current_scaling_mixed zero=false grad32=false "
     "ov=false disp=alltoall"},
    {"gpt_oss_20b_sft_mxfp8_config gpt_oss_20b_sft_8gpu_h100_fp8mx_config", "openai/gpt-oss-20b",
     "ep=8 mbs=1 gbs=128 seq=2048 mp=bf16_with_mxfp8_mixed zero=false grad32=false ov=false "
     "disp=alltoall"},
    {"gpt_oss_20b_sft_openmathinstruct2_thinking_packed_config "
     "gpt_oss_20b_sft_8gpu_h100_bf16_openmathinstruct2_thinking_packed_config",
     "openai/gpt-oss-20b",
     "ep=8 mbs=1 gbs=128 seq=4096 zero=false grad32=false ov=false disp=alltoall"},
    {"kimi_k2_pretrain_config kimi_k2_pretrain_512gpu_h100_bf16_config",
     "moonshotai/Kimi-K2-Instruct",
     "tp=2 pp=16 ep=32 etp=1 sp=true mbs=1 gbs=4096 data=4096 "
     "layout=Et*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|t*4|tL rg=selective "
     "zero=false disp=alltoall"},
    {"llama2_7b_pretrain_config llama2_7b_pretrain_2gpu_h100_bf16_config", "",
     "tp=2 mbs=1 gbs=512 seq=4096"},
    {"llama31_405b_peft_config llama31_405b_peft_32gpu_h100_bf16_config",
     "meta-llama/Meta-Llama-3.1-405B",
     "tp=4 pp=8 vp=8 sp=true mbs=1 gbs=32 seq=2048 zero=false grad32=false ov=false aeps=true "
     "alps=true loss=false peft=1"},
    {"llama31_405b_pretrain_config llama31_405b_pretrain_256gpu_h100_bf16_config",
     "meta-llama/Meta-Llama-3.1-405B",
     "tp=8 pp=8 vp=2 cp=4 sp=true mbs=1 gbs=512 seq=131072 aeps=true alps=true over=true"},
    {"llama31_405b_pretrain_deterministic_config "
     "llama31_405b_pretrain_256gpu_h100_bf16_deterministic_config",
     "meta-llama/Meta-Llama-3.1-405B",
     "tp=8 pp=8 vp=2 cp=4 sp=true mbs=1 gbs=512 seq=131072 aeps=true alps=true loss=false"},
    {"llama31_405b_sft_config llama31_405b_sft_128gpu_h100_bf16_config",
     "meta-llama/Meta-Llama-3.1-405B",
     "tp=8 pp=16 sp=true mbs=1 gbs=16 seq=2048 zero=false grad32=false aeps=true alps=true "
     "over=true"},
    {"llama31_70b_peft_config llama31_70b_peft_8gpu_h100_bf16_config",
     "meta-llama/Meta-Llama-3.1-70B",
     "tp=8 mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false loss=false peft=1"},
    {"llama31_70b_pretrain_config llama31_70b_pretrain_32gpu_h100_bf16_config",
     "meta-llama/Meta-Llama-3.1-70B",
     "tp=4 pp=4 vp=5 cp=2 sp=true mbs=1 gbs=512 seq=131072 over=true"},
    {"llama31_70b_sft_config llama31_70b_sft_32gpu_h100_bf16_config",
     "meta-llama/Meta-Llama-3.1-70B",
     "tp=8 pp=4 mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false"},
    {"llama31_8b_peft_config llama31_8b_peft_1gpu_h100_bf16_config", "meta-llama/Meta-Llama-3.1-8B",
     "mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false loss=false peft=1"},
    {"llama31_8b_pretrain_config llama31_8b_pretrain_2gpu_h100_bf16_config",
     "meta-llama/Meta-Llama-3.1-8B", "cp=2 mbs=1 gbs=512 seq=8192"},
    {"llama31_8b_sft_config llama31_8b_sft_2gpu_h100_bf16_config", "meta-llama/Meta-Llama-3.1-8B",
     "tp=2 mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false"},
    {"llama32_1b_peft_config llama32_1b_peft_1gpu_h100_bf16_config", "meta-llama/Llama-3.2-1B",
     "mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false loss=false peft=1"},
    {"llama32_1b_pretrain_config llama32_1b_pretrain_1gpu_h100_bf16_config",
     "meta-llama/Llama-3.2-1B", "mbs=1 gbs=512 seq=8192"},
    {"llama32_1b_sft_config llama32_1b_sft_1gpu_h100_bf16_config", "meta-llama/Llama-3.2-1B",
     "mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false"},
    {"llama32_3b_peft_config llama32_3b_peft_1gpu_h100_bf16_config", "meta-llama/Llama-3.2-3B",
     "mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false loss=false peft=1"},
    {"llama32_3b_pretrain_config llama32_3b_pretrain_1gpu_h100_bf16_config",
     "meta-llama/Llama-3.2-3B", "mbs=1 gbs=512 seq=8192"},
    {"llama32_3b_sft_config llama32_3b_sft_1gpu_h100_bf16_config", "meta-llama/Llama-3.2-3B",
     "mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false"},
    {"llama3_70b_16k_pretrain_config llama3_70b_pretrain_32gpu_h100_bf16_16k_config",
     "meta-llama/Meta-Llama-3-70B", "tp=8 pp=2 cp=2 sp=true mbs=1 gbs=512 seq=16384 over=true"},
    {"llama3_70b_64k_pretrain_config llama3_70b_pretrain_256gpu_h100_bf16_64k_config",
     "meta-llama/Meta-Llama-3-70B", "tp=8 pp=4 cp=8 sp=true mbs=1 gbs=512 seq=65536 over=true"},
    {"llama3_70b_peft_config llama3_70b_peft_8gpu_h100_bf16_config", "meta-llama/Meta-Llama-3-70B",
     "tp=8 mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false loss=false peft=1"},
    {"llama3_70b_pretrain_config llama3_70b_pretrain_32gpu_h100_bf16_config",
     "meta-llama/Meta-Llama-3-70B", "tp=4 pp=4 vp=5 cp=2 sp=true mbs=1 gbs=512 seq=8192 over=true"},
    {"llama3_70b_pretrain_deterministic_config "
     "llama3_70b_pretrain_32gpu_h100_bf16_deterministic_config",
     "meta-llama/Meta-Llama-3-70B",
     "tp=4 pp=4 vp=5 cp=2 sp=true mbs=1 gbs=512 seq=8192 loss=false"},
    {"llama3_70b_sft_config llama3_70b_sft_32gpu_h100_bf16_config", "meta-llama/Meta-Llama-3-70B",
     "tp=8 pp=4 mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false"},
    {"llama3_8b_128k_pretrain_config llama3_8b_pretrain_64gpu_h100_bf16_128k_config",
     "meta-llama/Meta-Llama-3-8B", "tp=4 pp=2 cp=8 sp=true mbs=1 gbs=512 seq=131072"},
    {"llama3_8b_16k_pretrain_config llama3_8b_pretrain_16gpu_h100_bf16_16k_config",
     "meta-llama/Meta-Llama-3-8B", "tp=4 pp=2 cp=2 sp=true mbs=1 gbs=512 seq=16384"},
    {"llama3_8b_64k_pretrain_config llama3_8b_pretrain_32gpu_h100_bf16_64k_config",
     "meta-llama/Meta-Llama-3-8B", "tp=4 pp=2 cp=4 sp=true mbs=1 gbs=512 seq=65536"},
    {"llama3_8b_low_precision_pretrain_config llama3_8b_pretrain_2gpu_h100_fp8cs_config",
     "meta-llama/Meta-Llama-3-8B",
     "cp=2 mbs=1 gbs=768 seq=8192 mp=bf16_with_fp8_current_scaling_mixed"},
    {"llama3_8b_peft_config llama3_8b_peft_1gpu_h100_bf16_config", "meta-llama/Meta-Llama-3-8B",
     "mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false loss=false peft=1"},
    {"llama3_8b_pretrain_2gpu_h100_fp8mx_config", "meta-llama/Meta-Llama-3-8B",
     "cp=2 mbs=1 gbs=768 seq=8192 mp=bf16_with_mxfp8_mixed"},
    {"llama3_8b_pretrain_2gpu_h100_nvfp4_config", "meta-llama/Meta-Llama-3-8B",
     "cp=2 mbs=1 gbs=768 seq=8192 mp=bf16_with_nvfp4_mixed"},
    {"llama3_8b_pretrain_config llama3_8b_pretrain_2gpu_h100_bf16_config",
     "meta-llama/Meta-Llama-3-8B", "cp=2 mbs=1 gbs=512 seq=8192"},
    {"llama3_8b_sft_config llama3_8b_sft_2gpu_h100_bf16_config", "meta-llama/Meta-Llama-3-8B",
     "tp=2 mbs=1 gbs=8 seq=4096 zero=false grad32=false ov=false"},
    {"minimax_m3_pretrain_config minimax_m3_pretrain_256gpu_h100_bf16_config",
     "MiniMaxAI/MiniMax-M3",
     "tp=2 pp=4 ep=32 etp=1 sp=true mbs=1 gbs=2048 seq=4096 rg=selective mod=[moe_act] "
     "grad32=false disp=flex flex=hybridep"},
    {"minimax_m3_sft_config minimax_m3_sft_128gpu_h100_bf16_config", "MiniMaxAI/MiniMax-M3",
     "tp=2 pp=4 ep=32 etp=1 sp=true mbs=1 gbs=128 seq=4096 rg=selective mod=[moe_act] disp=flex "
     "flex=hybridep"},
    {"ministral3_14b_peft_config ministral3_14b_peft_2gpu_h100_bf16_config",
     "mistralai/Ministral-3-14B-Instruct-2512", "tp=2 mbs=1 gbs=32 seq=4096 ov=false peft=1"},
    {"ministral3_14b_sft_config ministral3_14b_sft_4gpu_h100_bf16_config",
     "mistralai/Ministral-3-14B-Instruct-2512", "tp=4 mbs=1 gbs=32 seq=4096 ov=false"},
    {"ministral3_3b_peft_config ministral3_3b_peft_1gpu_h100_bf16_config",
     "mistralai/Ministral-3-3B-Instruct-2512", "mbs=1 gbs=32 seq=4096 ov=false peft=1"},
    {"ministral3_3b_sft_config ministral3_3b_sft_1gpu_h100_bf16_config",
     "mistralai/Ministral-3-3B-Instruct-2512", "mbs=1 gbs=32 seq=4096 ov=false"},
    {"ministral3_8b_peft_config ministral3_8b_peft_1gpu_h100_bf16_config",
     "mistralai/Ministral-3-8B-Instruct-2512", "mbs=1 gbs=32 seq=4096 ov=false peft=1"},
    {"ministral3_8b_sft_config ministral3_8b_sft_2gpu_h100_bf16_config",
     "mistralai/Ministral-3-8B-Instruct-2512", "tp=2 mbs=1 gbs=32 seq=4096 ov=false"},
    {"moonlight_16b_peft_2gpu_h100_bf16_config", "moonshotai/Moonlight-16B-A3B",
     "ep=2 etp=1 mbs=1 gbs=128 seq=4096 rg=selective grad32=false disp=alltoall peft=1"},
    {"moonlight_16b_peft_config moonlight_16b_peft_4gpu_h100_bf16_config",
     "moonshotai/Moonlight-16B-A3B", "ep=4 etp=1 mbs=1 gbs=32 seq=2048 disp=alltoall peft=1"},
    {"moonlight_16b_pretrain_8gpu_h100_bf16_config", "moonshotai/Moonlight-16B-A3B",
     "tp=2 ep=8 etp=1 sp=true mbs=1 gbs=2048 seq=4096 rg=selective grad32=false disp=alltoall"},
    {"moonlight_16b_pretrain_config moonlight_16b_pretrain_16gpu_h100_bf16_config",
     "moonshotai/Moonlight-16B-A3B",
     "ep=8 etp=1 mbs=2 gbs=1024 seq=4096 grad32=false disp=flex flex=hybridep"},
    {"moonlight_16b_sft_8gpu_h100_bf16_config", "moonshotai/Moonlight-16B-A3B",
     "tp=4 pp=2 ep=4 etp=1 sp=true mbs=1 gbs=32 seq=2048 layout=Et*14|t*13L rg=selective "
     "disp=alltoall"},
    {"moonlight_16b_sft_8k_config moonlight_16b_sft_8gpu_h100_bf16_8k_config",
     "moonshotai/Moonlight-16B-A3B",
     "tp=2 cp=2 ep=8 etp=1 sp=true mbs=1 gbs=128 seq=8192 rg=selective grad32=false "
     "disp=alltoall loss=false"},
    {"moonlight_16b_sft_config moonlight_16b_sft_8gpu_h100_bf16_tp1_config",
     "moonshotai/Moonlight-16B-A3B",
     "ep=8 etp=1 mbs=1 gbs=8 seq=8192 grad32=false disp=flex flex=hybridep"},
    {"nemotron_3_5_lightning_peft_config", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
     "ep=8 etp=1 mbs=1 gbs=128 seq=2048 disp=flex mtp=2 peft=1"},
    {"nemotron_3_5_lightning_pretrain_8k_config",
     "nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-BF16",
     "ep=8 etp=1 mbs=2 gbs=512 seq=8192 grad32=false disp=flex flex=hybridep layers=52 mtp=2 "
     "over=true"},
    {"nemotron_3_5_lightning_pretrain_8k_fsdp_config",
     "nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-BF16",
     "ep=8 etp=1 mbs=2 gbs=512 seq=8192 fsdp=true shard=optim_grads_params grad32=false "
     "disp=flex flex=hybridep layers=52 mtp=2 over=true"},
    {"nemotron_3_5_lightning_pretrain_config", "nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-BF16",
     "cp=2 ep=8 etp=1 mbs=1 gbs=512 seq=8192 rg=selective mod=[moe,layernorm,core_attn] "
     "grad32=false disp=flex flex=hybridep layers=52 mtp=2 graph=transformer_engine over=true"},
    {NULL, NULL, NULL}};
