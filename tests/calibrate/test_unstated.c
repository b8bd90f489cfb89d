// What a row does not state: by program, date and GPU; never what it states; and what remains open
// is inside the range.
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/check/predicted.h"

static struct cell cell_of(const char *text) { return (struct cell){text, (int)strlen(text)}; }

static struct run_origin origin(const char *framework, const char *version, const char *source,
                                const char *gpu)
{
    return run_origin_of(cell_of(framework), cell_of(version), cell_of(source), cell_of(gpu),
                         NOT_STATED);
}

TEST(programs_and_dates_are_read)
{
    static const struct {
        const char *framework, *version, *source, *gpu;
        enum program program;
        int date;
    } cases[] = {
        {"NeMo 25.04", "", "", "H100", PROGRAM_NEMO, 202504},
        {"Megatron-LM", "mcore 0.12, 2025-05", "", "H100", PROGRAM_MEGATRON, 202505},
        {"MLPerf NeMo (config_*.sh)", "ngc25.01 NeMo", "", "H100", PROGRAM_MLPERF, 202501},
        {"", "", "arXiv 2312.12391, Table 2", "A100", PROGRAM_UNKNOWN, 202312},
        {"", "", "repo NVIDIA-NeMo/Megatron-Bridge@067f987", "B200", PROGRAM_BRIDGE, 202506},
        {"", "2021", "", "V100-32GB", PROGRAM_UNKNOWN, 202106},
        {"my own", "", "megatron", "NVIDIA H100 80GB HBM3", PROGRAM_OTHER, 202401},
    };
    (void)arena;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct run_origin o =
            origin(cases[i].framework, cases[i].version, cases[i].source, cases[i].gpu);
        assert_int_equal(o.program, cases[i].program);
        assert_int_equal(o.date, cases[i].date);
    }
}

// LLaMA-Factory and its like call an engine; DeepSpeed's sums gradients in the weights' precision.
TEST(engines_are_those_that_are_named)
{
    static const struct {
        const char *framework;
        bool deepspeed;
    } cases[] = {{"LLaMA-Factory + ZeRO-3", true}, {"transformers, DeepSpeed", true},
                 {"transformers", false},          {"LLaMA-Factory", false},
                 {"Megatron-LM", false},           {"nanotron, ZeRO-1", false}};
    (void)arena;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct run_facts f = {.origin = origin(cases[i].framework, "", "", "H100"),
                              .tensor = 1,
                              .pipeline = 1,
                              .chunks = 1,
                              .replicas = 8};
        struct run_default traits[TRAIT_COUNT];
        for (int k = 0; k < TRAIT_COUNT; k++) f.values[k] = NOT_STATED;
        run_defaults(traits, &f);
        assert_int_equal(f.origin.deepspeed, cases[i].deepspeed);
        assert_int_equal(traits[TRAIT_GRADIENT_BYTES].value, cases[i].deepspeed ? 2 : 4);
    }
}

// Every combination: a value of the trait's own range, which is not open beside itself; stated
// values stay; the facts cover all.
TEST(every_run_has_a_value_for_every_trait)
{
    static const char *const gpus[] = {"V100-32GB", "A100-80GB", "H100-80GB", "GB200", "MI300X"};
    for (int program = 0; program < PROGRAM_COUNT; program++)
        for (size_t g = 0; g < ARRAY_LENGTH(gpus); g++)
            for (int bits = 0; bits < 32; bits++) {
                struct run_facts f = {.origin = origin(program_names[program], "", "", gpus[g]),
                                      .hidden = 4096,
                                      .ffn = bits & 1 ? 14336 : 16384,
                                      .vocab = 50257,
                                      .tensor = bits & 2 ? 4 : 1,
                                      .pipeline = bits & 4 ? 4 : 1,
                                      .chunks = bits & 8 ? 2 : 1,
                                      .replicas = bits & 16 ? 8 : 1};
                struct run_default traits[TRAIT_COUNT];
                for (int i = 0; i < TRAIT_COUNT; i++) f.values[i] = NOT_STATED;
                f.values[TRAIT_DROPOUT] = bits & 1;
                run_defaults(traits, &f);
                assert_int_equal(traits[TRAIT_DROPOUT].value, bits & 1);
                assert_false(traits[TRAIT_DROPOUT].assumed);
                for (int i = 0; i < TRAIT_COUNT; i++) {
                    int modes = i == TRAIT_RECOMPUTE ? RECOMPUTE_COUNT
                                : i == TRAIT_UNFUSED ? 1 << UNFUSED_COUNT
                                                     : 8;
                    assert_in_range(traits[i].value, 0, modes - 1);
                    if (traits[i].value < 8) assert_false(traits[i].open >> traits[i].value & 1);
                }
                if (f.tensor == 1) assert_int_equal(traits[TRAIT_OVERLAP_TENSOR].value, 0);
                if (f.replicas == 1) assert_int_equal(traits[TRAIT_ZERO].value, 0);
                if (!g) assert_int_equal(traits[TRAIT_ATTENTION].value, UNFUSED_ATTENTION);
            }
}

// What facts take or leave open is something that the program can have.
TEST(no_fact_says_what_its_program_cannot_have)
{
    int excluded = 0;
    for (int program = 0; program < PROGRAM_COUNT; program++) {
        struct run_facts f = {.origin = origin(program_names[program], "", "", "H100-80GB"),
                              .tensor = 4,
                              .pipeline = 4,
                              .chunks = 2,
                              .replicas = 8};
        struct run_default traits[TRAIT_COUNT];
        (void)arena;
        for (int i = 0; i < TRAIT_COUNT; i++) f.values[i] = NOT_STATED;
        run_defaults(traits, &f);
        for (int i = TRAIT_PRECISION; i < TRAIT_COUNT; i++)
            for (int v = 0; v < 8; v++) {
                bool may = program_may((enum program)program, (enum trait)i, v);
                excluded += !may;
                if (v == traits[i].value || traits[i].open >> v & 1) assert_true(may);
            }
    }
    assert_true(excluded > 0);
    assert_false(program_may(PROGRAM_TORCHTITAN, TRAIT_GATED, 0));
    assert_true(program_may(PROGRAM_MEGATRON, TRAIT_GATED, 0));
}

// Automodel's mixtures keep what is gathered, its dense models do not; its name is in NeMo's.
TEST(automodel_is_no_recipe_of_nemo)
{
    for (int mixture = 0; mixture < 2; mixture++) {
        struct run_facts f = {
            .origin = origin("", "", "NVIDIA-NeMo/Automodel 36044ad3", "H100-80GB"),
            .mixture = mixture,
            .spread = mixture,
            .tensor = 1,
            .pipeline = 1,
            .chunks = 1,
            .replicas = 8};
        struct run_default traits[TRAIT_COUNT];
        (void)arena;
        for (int i = 0; i < TRAIT_COUNT; i++) f.values[i] = NOT_STATED;
        run_defaults(traits, &f);
        assert_int_equal(f.origin.program, PROGRAM_AUTOMODEL);
        assert_int_equal(program_trainer(f.origin.program), TRAINER_TORCHTITAN);
        assert_int_equal(traits[TRAIT_ZERO].value, mixture ? 1 : 3);
        assert_int_equal(traits[TRAIT_ATTENTION].value, mixture ? FUSED_FASTEST : FUSED_OPEN);
        assert_int_equal(traits[TRAIT_GRADIENT_BYTES].value, 2);
        if (mixture) assert_int_equal(traits[TRAIT_DISPATCHER].value, DISPATCH_DEEPEP);
    }
}

// Checkpoints without re-entry end with the last tensor that was saved, torchtitan's until 2025-09;
// what its context ranks share is gathered. Someone's own program that is not compiled is eager.
TEST(pytorch_programs_are_as_their_code_has_them)
{
    static const struct {
        const char *framework, *version;
        int context, compiled, stopped, unfused;
        enum context_kind kind;
    } cases[] = {
        {"torchtitan", "2024-04", 2, NOT_STATED, 1, 0, CONTEXT_ALL_GATHER},
        {"torchtitan", "2025-09", 1, NOT_STATED, 0, 0, CONTEXT_RING},
        {"Automodel", "2026-02", 1, NOT_STATED, 1, 0, CONTEXT_RING},
        {"fms-fsdp", "2024-03", 2, 0, 0, (1 << UNFUSED_COUNT) - 1, CONTEXT_RING},
        {"fms-fsdp", "2024-05", 1, 1, 0, 0, CONTEXT_RING},
        {"fms-fsdp", "2024-05", 1, NOT_STATED, 0, 0, CONTEXT_RING},
        {"Megatron-LM", "2024-04", 2, 0, 0, 0, CONTEXT_RING},
    };
    (void)arena;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct run_facts f = {
            .origin = origin(cases[i].framework, cases[i].version, "", "H100-80GB"),
            .tensor = 1,
            .context = cases[i].context,
            .pipeline = 1,
            .chunks = 1,
            .replicas = 8};
        struct run_default traits[TRAIT_COUNT];
        for (int k = 0; k < TRAIT_COUNT; k++) f.values[k] = NOT_STATED;
        f.values[TRAIT_COMPILED] = cases[i].compiled;
        run_defaults(traits, &f);
        assert_int_equal(traits[TRAIT_STOPPED_RECOMPUTE].value, cases[i].stopped);
        assert_int_equal(traits[TRAIT_UNFUSED].value, cases[i].unfused);
        assert_int_equal(traits[TRAIT_CONTEXT_KIND].value, cases[i].kind);
    }
}

// A run that would need far more than its GPUs have recomputes; one that fits does not.
TEST(recomputation_is_as_little_as_fits)
{
    struct prediction x;
    predict_words(&x, RUN, "", arena);
    assert_int_equal(x.assumptions[TRAIT_RECOMPUTE].taken.value, RECOMPUTE_NONE);
    predict_words(&x, RUN, "micro_batch=8,framework=megatron", arena);
    assert_int_equal(x.assumptions[TRAIT_RECOMPUTE].taken.value, RECOMPUTE_FULL);
}

// Who takes one micro-batch of each replica, in a pipeline one a stage, where nothing names it.
TEST(runs_that_accumulate_nothing_are_torchtitans)
{
    static const struct {
        const char *words;
        enum program program;
    } cases[] = {{"micro_batch=8", PROGRAM_TORCHTITAN},
                 {"micro_batch=4", PROGRAM_UNKNOWN},
                 {"", PROGRAM_UNKNOWN},
                 {"micro_batch=8,cp=2", PROGRAM_UNKNOWN},
                 {"micro_batch=16,cp=2", PROGRAM_TORCHTITAN},
                 {"micro_batch=8,version=2023", PROGRAM_UNKNOWN},
                 {"micro_batch=8,framework=nemo", PROGRAM_NEMO},
                 {"micro_batch=8,trainer=other", PROGRAM_OTHER}};
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct prediction x;
        predict_words(&x, RUN, cases[i].words, arena);
        assert_int_equal(x.origin.program, cases[i].program);
    }
}

// What a recipe of that model, GPU and release sets is not open; a point release is one of its own.
TEST(recipes_of_mixtures_are_those_of_their_release)
{
    static const struct {
        const char *words;
        int dispatcher, overlap, graphs;
        bool open;
    } cases[] = {
        {"gpu=B200,version=26.02", DISPATCH_ALL_TO_ALL, 0, GRAPHS_PARTS, false},
        {"gpu=B200,version=26.02.01", DISPATCH_HYBRIDEP, 0, GRAPHS_PARTS, false},
        {"gpu=B300,version=26.04.01", DISPATCH_HYBRIDEP, 0, GRAPHS_PARTS, false},
        {"gpu=B300,version=26.06", DISPATCH_HYBRIDEP, 1, GRAPHS_STEP, false},
        {"gpu=H100-80GB,version=26.02", DISPATCH_DEEPEP, 1, GRAPHS_NONE, false},
        {"gpu=H200,version=26.02", DISPATCH_ALL_TO_ALL, 0, GRAPHS_NONE, true},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct prediction x;
        predict_words(&x,
                      "num_gpus=8,model=qwen3-30b-a3b,seq=4096,tp=1,pp=1,ep=8,micro_batch=1,"
                      "global_batch=512,precision=fp8,framework=megatron-bridge",
                      cases[i].words, arena);
        const struct assumption *a = x.assumptions;
        assert_int_equal(a[TRAIT_DISPATCHER].taken.value, cases[i].dispatcher);
        assert_int_equal(a[TRAIT_OVERLAP_DISPATCH].taken.value, cases[i].overlap);
        assert_int_equal(a[TRAIT_GRAPHS].taken.value, cases[i].graphs);
        assert_int_equal(a[TRAIT_DISPATCHER].taken.open != 0, cases[i].open);
    }
}

// A host that replays one graph an iteration is not what decides.
TEST(whole_graphs_leave_nothing_to_the_host)
{
    struct prediction x;
    predict_words(&x, SHORT_RUN, "global_batch=128,precision=fp8,graphs=none", arena);
    assert_true(prediction_launches_share(&x) > 0);
    predict_words(&x, SHORT_RUN, "global_batch=128,precision=fp8,graphs=step", arena);
    assert_true(prediction_launches_share(&x) == 0);
}

#define MIXTURE(name, gpu, version)                                                                \
    "model=" name ",gpu=" gpu ",num_gpus=64,seq=4096,global_batch=512,precision=fp8,"              \
    "framework=megatron-bridge,version=" version

// What Megatron-Bridge's recipes set for mixtures, by release, GPU and model.
TEST(mixtures_run_as_the_recipes_of_their_release)
{
    static const struct {
        const char *words;
        enum graphs graphs;
        enum dispatcher dispatcher;
        int overlapped;
        const char *recompute;
    } cases[] = {
        {MIXTURE("DeepSeekV3", "GB200", "26.02"), GRAPHS_PARTS, DISPATCH_HYBRIDEP, 0,
         "mla_up_proj"},
        {MIXTURE("DeepSeekV3", "GB200", "26.08"), GRAPHS_STEP, DISPATCH_HYBRIDEP, 1, "mla_up_proj"},
        {MIXTURE("DeepSeekV3", "H100", "25.11"), GRAPHS_NONE, DISPATCH_DEEPEP, 1,
         "mla_up_proj+mlp"},
        {MIXTURE("Qwen3-235B-A22B", "H100", "26.02"), GRAPHS_NONE, DISPATCH_ALL_TO_ALL, 1, "full"},
        {MIXTURE("Qwen3-235B-A22B", "B200", "26.02"), GRAPHS_NONE, DISPATCH_ALL_TO_ALL, 0, "full"},
        {MIXTURE("GPT OSS 120B", "GB300", "26.02"), GRAPHS_PARTS, DISPATCH_ALL_TO_ALL, 0, "none"},
        {MIXTURE("GPT OSS 120B", "H100", "26.02"), GRAPHS_NONE, DISPATCH_ALL_TO_ALL, 0,
         "moe_act+layernorm"},
        {MIXTURE("GPT OSS 120B", "GB300", "26.08"), GRAPHS_STEP, DISPATCH_HYBRIDEP, 1, "none"},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct prediction x;
        predict_words(&x, cases[i].words, "ep=8", arena);
        const struct assumption *a = x.assumptions;
        assert_int_equal(a[TRAIT_GRAPHS].taken.value, cases[i].graphs);
        assert_int_equal(a[TRAIT_DISPATCHER].taken.value, cases[i].dispatcher);
        assert_int_equal(a[TRAIT_OVERLAP_DISPATCH].taken.value, cases[i].overlapped);
        assert_string_equal(recompute_names[a[TRAIT_RECOMPUTE].taken.value], cases[i].recompute);
    }
}

// NeMo's recipes drop tokens over a capacity, so no host waits for numbers of tokens; until
// cuDNN 9.11 no kernel on Blackwell fused attention with heads of 192 and 128.
TEST(releases_differ_in_what_they_fuse_and_wait_for)
{
#define DEEPSEEK(gpu, rest)                                                                        \
    "model=DeepSeekV3,num_gpus=512,seq=4096,global_batch=4096,tp=2,pp=8,ep=64,gpu=" gpu "," rest
    static const struct {
        const char *words;
        int attention, fixed;
        bool rotary;
        const char *recompute;
    } cases[] = {
        {DEEPSEEK("GB200", "framework=nemo,version=25.04"), UNFUSED_ATTENTION, 1, true,
         "selective"},
        {DEEPSEEK("GB200", "framework=nemo,version=25.07"), FUSED_FASTEST, 1, false, "mla_up_proj"},
        {DEEPSEEK("H100", "framework=nemo,version=25.04"), FUSED_FASTEST, 1, true, "mla_up_proj"},
        {DEEPSEEK("H100", "framework=nemo,version=25.07"), FUSED_FASTEST, 0, false,
         "mla_up_proj+moe+mlp"},
        {DEEPSEEK("GB200", "framework=megatron-bridge,version=25.11"), FUSED_FASTEST, 0, false,
         "mla_up_proj"},
        {DEEPSEEK("B200", "framework=megatron-lm,version=25.05,recompute=none"), UNFUSED_ATTENTION,
         0, true, "none"},
    };
    int64_t first_ns = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct prediction x;
        predict_words(&x, cases[i].words, "precision=bf16", arena);
        const struct assumption *a = x.assumptions;
        assert_int_equal(a[TRAIT_ATTENTION].taken.value, cases[i].attention);
        assert_int_equal(a[TRAIT_FIXED_CAPACITY].taken.value, cases[i].fixed);
        assert_int_equal(a[TRAIT_UNFUSED].taken.value, cases[i].rotary ? 1 << UNFUSED_ROTARY : 0);
        assert_string_equal(recompute_names[a[TRAIT_RECOMPUTE].taken.value], cases[i].recompute);
        if (!i) first_ns = x.iteration_ns;
        if (i == 1) assert_true((double)first_ns > 1.5 * (double)x.iteration_ns);
    }
    // A capacity takes the wait off, whoever states it.
    struct prediction waits, knows;
    predict_words(&waits, DEEPSEEK("H100", "framework=nemo,version=25.04"), "fixed_capacity=0",
                  arena);
    predict_words(&knows, DEEPSEEK("H100", "framework=nemo,version=25.04"), "", arena);
    assert_true(knows.iteration_ns < waits.iteration_ns);
#undef DEEPSEEK
}

// Buffers of tensor collectives beside products were a host's alone, and since are where links let
// them be more: a host has eight GPUs, four where links join more than it.
TEST(tensor_collectives_over_hosts_are_not_beside_products)
{
    static const struct {
        const char *run;
        int overlapped;
        bool open;
    } cases[] = {
        {"gpu=GB200,version=25.07,tp=4", 1, false},
        {"gpu=GB200,version=25.07,tp=8", 0, true},
        {"gpu=GB200,version=25.02,tp=8", 0, false},
        {"gpu=H100-80GB,version=25.07,tp=8", 1, false},
        {"gpu=H100-80GB,version=25.07,tp=16", 0, true},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
        struct prediction x;
        predict_words(
            &x, cases[i].run,
            "framework=nemo,model=llama-3.1-405b,seq=8192,num_gpus=512,pp=8,global_batch=256,"
            "precision=fp8",
            arena);
        const struct assumption *a = &x.assumptions[TRAIT_OVERLAP_TENSOR];
        assert_int_equal(a->taken.value, cases[i].overlapped);
        assert_int_equal(a->taken.open != 0, cases[i].open);
        assert_true(!cases[i].open || (a->low_ns > 0 && a->low_ns <= x.iteration_ns));
        assert_true(i != 1 || a->low_ns < x.iteration_ns);
    }
}

// A stated split counts the blocks; layers that predict further tokens are behind them.
TEST(layers_that_predict_further_tokens_are_behind_a_stated_split)
{
    struct prediction plain, stated, other;
    const char *run = MIXTURE("deepseek-v3-mtp", "H100", "26.02") ",pp=4";
    predict_words(&plain, run, "ep=8", arena);
    predict_words(&stated, run, "ep=8,split=16 15 15 15", arena);
    predict_words(&other, run, "ep=8,split=16 16 16 13", arena);
    assert_int_equal(plain.iteration_ns, stated.iteration_ns);
    assert_true(other.iteration_ns != stated.iteration_ns);
}

// Megatron-Bridge sums gradients of DeepSeek-V3 and Kimi K2 beside passes, but not on H100.
TEST(gradients_of_latent_attention_are_summed_behind_passes_on_h100)
{
    struct prediction x;
    predict_words(&x, MIXTURE("deepseek-v3", "H100", "26.04") ",pp=4", "ep=8", arena);
    assert_int_equal(x.assumptions[TRAIT_OVERLAP].taken.value, 0);
    predict_words(&x, MIXTURE("deepseek-v3", "B200", "26.04") ",pp=4", "ep=8", arena);
    assert_int_equal(x.assumptions[TRAIT_OVERLAP].taken.value, 1);
    predict_words(&x, MIXTURE("qwen3-30b-a3b", "H100", "26.04"), "ep=8", arena);
    assert_int_equal(x.assumptions[TRAIT_OVERLAP].taken.value, 1);
}

// Experts have the tensor ranks of attention, or one where only that divides.
TEST(experts_on_more_ranks_than_replicas_have_no_tensor_ranks)
{
    struct prediction one, stated;
    const char *run = MIXTURE("DeepSeekV3", "H100", "26.02") ",tp=8";
    predict_words(&one, run, "ep=8", arena);
    predict_words(&stated, run, "ep=8,etp=8", arena);
    assert_int_equal(one.iteration_ns, stated.iteration_ns);
    predict_words(&one, run, "pp=4,ep=16", arena);
    predict_words(&stated, run, "pp=4,ep=16,etp=1", arena);
    assert_int_equal(one.iteration_ns, stated.iteration_ns);
}

static int set_data(void **state)
{
    (void)state;
    return setenv("PLUMBLINE_DATA", "data", 1);
}

AROUND_ALL(set_data, NULL)
