// What is on a GPU besides the model that is trained: a reference of preference pairs, PPO's other
// models, an engine that writes answers.

#include "data/import/logs/internal.h"

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
    l->typed_weights |= has_one_of(line, types) && !strstr(line, "float32");
    l->shows_reading |= strstr(line, "Model") && strstr(line, ".from_pretrained(");
    read_engine(l, line);
}
