// Programs that are run as they are: what they do unless told (batch, length, adapters, widths);
// what is on a GPU besides the model that is trained: a reference of preference pairs, PPO's other
// models, an engine that writes answers.

#include "data/import/logs/internal.h"

// The more exact ones first. Looked up in the programs themselves:
// - meta-llama/llama-cookbook d5f39914, 0e003351 (configs/training.py, datasets.py: 2048 at first,
//   4096 since 2024), Lightning-AI/litgpt 966646a4 (finetune/lora.py), tloen/alpaca-lora 8bb8579
//   (finetune.py), volcengine/verl 005a83db (trainer/config/sft_trainer.yaml), lm-sys/FastChat
//   047b6e4b (train/train.py), hiyouga/LLaMA-Factory 072bfe29 (hparams/data_args.py: 2048, 1024 as
//   llmtuner);
// - huggingface/trl v0.14.0 to v1.0.0 and f2cd5771 (trainer/*_config.py): GRPO's prompts of 512
//   (until v0.25) and answers of 256 (512 in f2cd5771), DPO's and SFT's 1024; batches are
//   transformers' 8 (training_args.py 4.57, which has neither bf16 nor fp16 unless told).
//   run_clm.py's blocks of 1024 at most;
// - DeepSpeedExamples 45b4b715 (DeepSpeed-Chat: step1's and step3's main.py: 16 and 512, 16 and
//   256 + 256; step2's 16 and 512);
// - OpenRLHF v0.4.0 to v0.9.0 (cli/train_*.py): micro_train_batch_size 8, 8, 1, 4; max_len 2048,
//   512, 512; prompts and answers of 1024; zero_stage 2;
// - axolotl v0.6.0 to 067b021c (utils/schemas): micro_batch_size 1, sequence_len 512;
// - InternLM/xtuner b934f462 (xtuner/configs: 510 of 600 state a batch of 1, 470 a length of 2048);
// - modelscope/ms-swift v1.5.0 to v4.5.2 (utils/argument.py, argument/): adapters of rank 8 on all
//   products, a batch of 1; 2048 tokens until v2.6 (sft_type), then as long as the model takes;
// - meta-pytorch/torchtune bd2a0fc7 (recipes/configs: 119 of 187 state a batch of 2, 143 of 171 no
//   length; all bf16, weights and moments alike);
// - unslothai/unsloth 015bdef0 (models/loader.py: 4 bits, 2048; models/llama.py get_peft_model:
//   rank 16 on all seven products), its README of July 2024 (a batch of 2).
#define ALL_PRODUCTS .adapted = "all"
static const struct log_script scripts[] = {
    {"llama-recipes", "llama-cookbook", 4, 2048},
    {"llama_recipes", "llama-cookbook", 4, 2048},
    {"llama-cookbook", "llama-cookbook", 4, 2048},
    {"llama_finetuning.py", "llama-cookbook", 4, 2048},
    {"lit-gpt", "lit-gpt", 4, 0},
    {"lit_gpt", "lit-gpt", 4, 0},
    {"litgpt", "lit-gpt", 4, 0},
    {"lit-llama", "lit-llama", 4, 0},
    {"finetune/lora.py", "lit-gpt", 4, 0},
    {"finetune/full.py", "lit-gpt", 4, 0},
    {"alpaca-lora", "alpaca-lora", 4, 256, .rank = 8, .bits = 8, .adapted = "q_proj,v_proj"},
    {"fsdp_sft_trainer", "veRL", 4, 1024},
    {"sft_type", "ms-swift before 3.0", 1, 2048, .rank = 8, ALL_PRODUCTS},
    {"swift sft", "ms-swift", 1, 0, .rank = 8, ALL_PRODUCTS},
    {"swift rlhf", "ms-swift", 1, 0, .rank = 8, ALL_PRODUCTS},
    {"swift pt", "ms-swift", 1, 0, .rank = 8, ALL_PRODUCTS},
    {"tune run lora", "torchtune", 2, 0, .rank = 8, ALL_PRODUCTS, .narrow = true},
    {"lora_finetune_", "torchtune", 2, 0, .rank = 8, ALL_PRODUCTS, .narrow = true},
    {"tune run", "torchtune", 2, 0, .narrow = true},
    {"full_finetune_", "torchtune", 2, 0, .narrow = true},
    {"LLaMA-Factory", "LLaMA-Factory", 8, 2048},
    {"llamafactory", "LLaMA-Factory", 8, 2048},
    {"llmtuner", "LLaMA-Factory", 8, 1024},
    {"train_bash.py", "LLaMA-Factory", 8, 1024},
    {"unsloth", "unsloth", 2, 2048, .rank = 16, .bits = 4, ALL_PRODUCTS},
    {"Unsloth", "unsloth", 2, 2048, .rank = 16, .bits = 4, ALL_PRODUCTS},
    {"GRPOTrainer", "trl's GRPOConfig", 8, 768},
    {"GRPOConfig", "trl's GRPOConfig", 8, 768},
    {"DPOTrainer", "trl's DPOConfig", 8, 1024},
    {"DPOConfig", "trl's DPOConfig", 8, 1024},
    {"SFTTrainer", "trl's SFTConfig", 8, 1024},
    {"SFTConfig", "trl's SFTConfig", 8, 1024},
    {"cli.train_sft", "OpenRLHF's train_sft", 8, 2048, .zero = 2},
    {"cli.train_dpo", "OpenRLHF's train_dpo", 8, 512, .zero = 2},
    {"cli.train_rm", "OpenRLHF's train_rm", 1, 512, .zero = 2},
    {"cli.train_ppo", "OpenRLHF's train_ppo", 4, 2048, .zero = 2},
    {"fastchat", "FastChat", 8, 512},
    {"FastChat", "FastChat", 8, 512},
    {"run_clm", "run_clm.py", 8, 1024, .precision = "fp32"},
    {"DeepSpeed-Chat", "DeepSpeed-Chat", 16, 512},
    {"step1_supervised", "DeepSpeed-Chat", 16, 512},
    {"step3_rlhf", "DeepSpeed-Chat", 16, 512},
    {"actor_zero_stage", "DeepSpeed-Chat", 16, 512},
    {"axolotl", "axolotl", 1, 512},
    {"xtuner", "xtuner", 1, 2048}};

void log_script(struct log *l, const char *line)
{
    enum { POST = 2000 }; // lines
    size_t count = l->script ? (size_t)(l->script - scripts) : ARRAY_LENGTH(scripts);
    static const char *const whole[] = {"full fine",
                                        "fully fine",
                                        "full-param",
                                        "full param",
                                        "full_finetun",
                                        "full weight",
                                        "load_in_4bit = False",
                                        "load_in_4bit=False",
                                        "\xe5\x85\xa8\xe5\x8f\x82", // all parameters
                                        "\xe5\x85\xa8\xe9\x87\x8f",
                                        NULL};
    if (l->lines >= POST) return;
    for (size_t i = 0; i < count; i++)
        if (strstr(line, scripts[i].word)) count = 0, l->script = &scripts[i];
    static const char *const recompute[] = {"swift sft", "swift pt", "swift rlhf",
                                            "unsloth",   "Unsloth",  NULL};
    l->trains_all |= has_one_in_any_case(line, whole);
    l->recomputes |= has_one_of(line, recompute);
    l->says_recompute |= strstr(line, "axolotl") != NULL;
}

static void follows(struct log *l, enum told what, const char *text)
{
    char key[TOLD_KEY];
    snprintf(key, sizeof key, "%s's default", l->script->name);
    if (!told(l, what) && text) tell(l, what, BY_OTHERS, key, text, strlen(text));
}

void log_conclude_script(struct log *l)
{
    const struct log_script *s = l->script;
    char rank[12], bits[12];
    if (!s) return;
    snprintf(rank, sizeof rank, "%d", s->rank), snprintf(bits, sizeof bits, "%d", s->bits);
    if (s->rank && !l->trains_all) {
        if (s->bits) follows(l, TOLD_WEIGHT_BITS, bits);
        follows(l, TOLD_ADAPTERS, rank);
    }
    if (!l->reader->no_half) follows(l, TOLD_PRECISION, s->precision);
    if (s->zero) follows(l, TOLD_ZERO, "2");
    if (s->narrow) follows(l, TOLD_STATE_BYTES, "4"), follows(l, TOLD_GRADIENT_BYTES, "2");
}

// ---- besides the model

// An engine that writes answers on the GPUs that train: trl's and ms-swift's where they say so,
// OpenRLHF's, veRL's always (ebd43d59, trainer/config: FSDP and recomputation unless told).
static void read_engine(struct log *l, const char *line)
{
    static const char *const sleeps[] = {"sleep_level", "enable_sleep", "sleep_mode", NULL};
    bool verl = strstr(line, "actor_rollout_ref.") != NULL;
    l->has_engine |= verl || strstr(line, "colocate_all_models") ||
                     (strstr(line, "vllm_mode") && strstr(line, "colocate"));
    l->engine_sleeps |= verl || has_one_of(line, sleeps);
    if (verl) l->recomputes = true;
    if (strstr(line, "actor_rollout_ref.actor.") && !strstr(line, "megatron"))
        tell(l, TOLD_ZERO, BY_WORDS, VERL_SHARDS, "3", 1);
}

// Preference pairs: a trainer's or a recipe's name, a stage, a title's word.
void log_besides(struct log *l, const char *line)
{
    static const char *const words[] = {
        "DPOTrainer",    "train_dpo",      "DPOConfig", "run_dpo", "stage: dpo", "--stage dpo",
        "rlhf_type dpo", "rlhf_type: dpo", "/dpo/",     "rl: dpo", NULL};
    enum { NEAR_TITLE = 3 };
    l->has_pairs |= has_one_of(line, words);
    for (const char *s = line; l->lines <= NEAR_TITLE && (s = find_in_any_case(s, "dpo")); s += 3)
        l->has_pairs |= at_border(line, s) && !isalpha((unsigned char)s[3]);
    // OpenRLHF's without Ray (15d31511, cli/train_ppo.py): all four models are on each GPU.
    static const char without_ray[] = "openrlhf.cli.train_ppo";
    const char *ppo = strstr(line, without_ray);
    l->has_critic |= (ppo && ppo[sizeof without_ray - 1] != '_') ||
                     strstr(line, "actor_zero_stage");
    static const char *const shared[] = {"zero3_init_flag: true", "zero.Init", "zero.init", NULL};
    l->has_init |= has_one_of(line, shared);
    static const char *const types[] = {"torch_dtype", " dtype=", "(dtype=", NULL};
    if (strstr(line, "dtype"))
        l->typed_weights |= has_one_of(line, types) && !strstr(line, "float32");
    l->shows_reading |= strstr(line, ".from_pretrained(") && strstr(line, "Model");
    read_engine(l, line);
}
