// Which program ran, and when: from its name, else from the source's, else from the GPU. What is
// known of it by its published runs, and what its recipes of mixtures set.
#include "data/frameworks/defaults.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

const char *const program_names[] = {
    "unknown",   "megatron",   "nemo",      "megatron-bridge", "mlperf",   "megatron-deepspeed",
    "deepspeed", "torchtitan", "automodel", "llm-foundry",     "nanotron", "transformers",
    "internevo", "other",      NULL};

#define TRAIT_COLUMN(constant, column) column,
const char *const trait_columns[] = {TRAITS(TRAIT_COLUMN)};

const char *trait_value_text(enum trait trait, int value)
{
    static const char *const attention[] = {"unfused", "te", "flash", "triton", "te-2024"},
                             *const digits[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};
    switch (trait) {
    case TRAIT_PRECISION: return precision_names[value];
    case TRAIT_ATTENTION: return attention[value];
    case TRAIT_RECOMPUTE: return recompute_names[value];
    case TRAIT_UNFUSED:
        return !value                         ? "none"
               : value == 1 << UNFUSED_ROTARY ? "rotary"
                                              : "norms rotary activation loss";
    case TRAIT_DISPATCHER: return dispatcher_names[value];
    case TRAIT_EXPERT_PRODUCTS: return expert_products_names[value];
    case TRAIT_GRAPHS: return graphs_names[value];
    case TRAIT_CONTEXT_KIND: return context_kind_names[value];
    case TRAIT_LEARNED_POSITIONS: return value ? "learned" : "0";
    default: return value >= 0 && value <= 8 ? digits[value] : "?";
    }
}

// Words that name a program, longer ones first; a repository's owner and name among them.
static const struct {
    const char *word;
    enum program program;
} words[] = {
    {"megatron-bridge", PROGRAM_BRIDGE},
    {"megatron-deepspeed", PROGRAM_MEGATRON_DEEPSPEED},
    {"bigscience-workshop", PROGRAM_MEGATRON_DEEPSPEED},
    {"mlcommons/training_results", PROGRAM_MLPERF},
    {"mlperf", PROGRAM_MLPERF},
    {"automodel", PROGRAM_AUTOMODEL},    // a repository of NVIDIA-NeMo's
    {"dgxc-benchmarking", PROGRAM_NEMO}, // its recipes are NeMo's
    {"nemo", PROGRAM_NEMO},
    {"megatron-core", PROGRAM_MEGATRON},
    {"megatron", PROGRAM_MEGATRON},
    {"mcore", PROGRAM_MEGATRON},
    {"torchtitan", PROGRAM_TORCHTITAN},
    {"llm-foundry", PROGRAM_FOUNDRY},
    {"nanotron", PROGRAM_NANOTRON},
    {"internevo", PROGRAM_INTERNEVO},
    {"ultrascale-playbook", PROGRAM_NANOTRON},
    {"llama-factory", PROGRAM_TRANSFORMERS},
    {"llamafactory", PROGRAM_TRANSFORMERS},
    {"transformers", PROGRAM_TRANSFORMERS},
    {"deepspeed", PROGRAM_DEEPSPEED},
    {"huggingface", PROGRAM_TRANSFORMERS},
    {"bridge", PROGRAM_BRIDGE},
};

static enum program program_in(struct cell text)
{
    for (size_t i = 0; i < ARRAY_LENGTH(words) && text.length; i++)
        if (cell_contains(text, words[i].word)) return words[i].program;
    return PROGRAM_UNKNOWN;
}

// By whose prices are stated, where the program is not.
static enum program program_of(int trainer)
{
    switch (trainer) {
    case TRAINER_MEGATRON: return PROGRAM_MEGATRON;
    case TRAINER_DEEPSPEED: return PROGRAM_DEEPSPEED;
    case TRAINER_TORCHTITAN: return PROGRAM_TORCHTITAN;
    case TRAINER_OTHER: return PROGRAM_OTHER;
    default: return PROGRAM_UNKNOWN;
    }
}

enum trainer program_trainer(enum program program)
{
    switch (program) {
    case PROGRAM_MEGATRON_DEEPSPEED:
    case PROGRAM_DEEPSPEED: return TRAINER_DEEPSPEED;
    case PROGRAM_AUTOMODEL:
    case PROGRAM_TORCHTITAN: return TRAINER_TORCHTITAN;
    case PROGRAM_NANOTRON:
    case PROGRAM_INTERNEVO:
    case PROGRAM_OTHER:
    case PROGRAM_TRANSFORMERS: return TRAINER_OTHER;
    default: return TRAINER_MEGATRON;
    }
}

// Recipes of NVIDIA's own: NeMo's are code since its version 2.0, on GPUs whose kernels were
// measured by shape. Its runs before and on Blackwell, and MLPerf's, are few rows a set and have
// one number together.
static double recipes_shown(const struct run_origin *o)
{
    if (o->program == PROGRAM_BRIDGE) return 0.093;
    return o->program == PROGRAM_NEMO && o->date >= 202409 && !o->blackwell ? 0.054 : 0.103;
}

// Of Megatron run by others six sets show as much as its factor's interval says, but within a node,
// where no fabric and no straggler is.
double program_shown(const struct run_facts *f)
{
    if (!f->origin.seen) return 0;
    if (f->mixture && f->origin.program == PROGRAM_BRIDGE) return f->origin.wide ? 0.086 : 0.16;
    if (f->mixture) return f->origin.program == PROGRAM_NEMO ? 0.141 : 0;
    bool node = f->tensor * f->pipeline * f->replicas <= 8;
    switch (f->origin.program) {
    case PROGRAM_NEMO:
    case PROGRAM_BRIDGE:
    case PROGRAM_MLPERF: return recipes_shown(&f->origin);
    case PROGRAM_FOUNDRY: return 0.066;
    case PROGRAM_TORCHTITAN: return 0.148;
    case PROGRAM_UNKNOWN:
    case PROGRAM_MEGATRON: return node ? 0.1 : 0;
    default: return 0;
    }
}

// Megatron before Transformer Engine's modules.
double program_host(const struct run_origin *o)
{
    bool fused = o->program == PROGRAM_MEGATRON_DEEPSPEED ||
                 (o->program == PROGRAM_MEGATRON && o->date < 202312);
    return fused ? 0.4 : 0;
}

// When a GPU's published runs are from, where nothing says it, and what its tensor cores have. By
// the beginning of a word of its name; the longest counts.
static const struct gpu_age {
    const char *begins;
    int date;
    bool fuses, fp8, wide, seen, blackwell;
} ages[] = {
    {"v100", 202006, false, false, false, false, false},
    {"t4", 202006, false, false, false, false, false},
    {"a100", 202301, true, false, false, true, false},
    {"a800", 202307, true, false, false, false, false},
    {"a40", 202301, true, false, false, false, false},
    {"a10", 202301, true, false, false, false, false},
    {"a6000", 202301, true, false, false, false, false},
    {"3090", 202307, true, false, false, false, false},
    {"rtx3090", 202307, true, false, false, false, false},
    {"4090", 202401, true, true, false, false, false},
    {"rtx4090", 202401, true, true, false, false, false},
    {"l4", 202401, true, true, false, false, false},
    {"l20", 202406, true, true, false, false, false},
    {"h100", 202401, true, true, false, true, false},
    {"h800", 202401, true, true, false, false, false},
    {"h20", 202406, true, true, false, false, false},
    {"h200", 202501, true, true, false, true, false},
    {"gh", 202401, true, true, false, false, false},
    {"b200", 202506, true, true, false, true, true},
    {"gb200", 202506, true, true, true, true, true},
    {"b300", 202510, true, true, false, true, true},
    {"gb300", 202510, true, true, true, true, true},
    {"mi250", 202301, true, false, false, false, false},
    {"mi3", 202501, true, true, false, false, false},
};

static struct gpu_age age_of(struct cell gpu)
{
    struct gpu_age found = {"", 202301, true, false, false, false, false};
    for (int at = 0; at < gpu.length; at++) {
        if (at && isalnum((unsigned char)gpu.text[at - 1])) continue;
        for (size_t i = 0; i < ARRAY_LENGTH(ages); i++) {
            size_t length = strlen(ages[i].begins);
            if (length > strlen(found.begins) && (size_t)(gpu.length - at) >= length &&
                !strncasecmp(gpu.text + at, ages[i].begins, length))
                found = ages[i];
        }
    }
    return found;
}

bool gpu_has_years(struct cell gpu) { return *age_of(gpu).begins; }

static int digits_at(struct cell text, int at, int count)
{
    int x = 0;
    for (int i = at; i < at + count; i++) {
        if (i >= text.length || !isdigit((unsigned char)text.text[i])) return -1;
        x = 10 * x + text.text[i] - '0';
    }
    return x;
}

static bool is_month(int month) { return month >= 1 && month <= 12; }

// 2025-04 or 25.04 or arXiv's 2504.12345 somewhere in a text, as YYYYMM; 0: none.
static int date_in(struct cell text)
{
    for (int at = 0; at < text.length; at++) {
        if (at && isdigit((unsigned char)text.text[at - 1])) continue;
        int four = digits_at(text, at, 4), two = digits_at(text, at, 2);
        char after = at + 4 < text.length ? text.text[at + 4] : ' ',
             after_two = at + 2 < text.length ? text.text[at + 2] : ' ';
        if (four >= 2017 && four < 2040 && after == '-' && is_month(digits_at(text, at + 5, 2)))
            return 100 * four + digits_at(text, at + 5, 2);
        if (four > 1700 && after == '.' && digits_at(text, at + 5, 4) >= 0 && is_month(four % 100))
            return 200000 + four;
        if (two >= 19 && two < 40 && after_two == '.' && is_month(digits_at(text, at + 3, 2)))
            return 200000 + 100 * two + digits_at(text, at + 3, 2);
    }
    return 0;
}

// 1 of 26.02.01.
static int point_of(struct cell version)
{
    int point = version.length >= 8 && version.text[2] == '.' && version.text[5] == '.'
                    ? digits_at(version, 6, 2)
                    : 0;
    return point > 0 && point < 10 ? point : 0;
}

static int date_of(struct cell version)
{
    int found = date_in(version), year = digits_at(version, 0, 4);
    return found ? found : year >= 2017 && year < 2040 ? 100 * year + 6 : 0;
}

static void find_program(struct run_origin *o, struct cell framework, struct cell source,
                         int trainer)
{
    o->program = program_in(framework);
    if (framework.length && o->program == PROGRAM_UNKNOWN) o->program = PROGRAM_OTHER;
    if (o->program == PROGRAM_UNKNOWN) o->program = program_in(source);
    if (o->program == PROGRAM_UNKNOWN) o->program = program_of(trainer);
}

struct run_origin run_origin_of(struct cell framework, struct cell version, struct cell source,
                                struct cell gpu, int trainer)
{
    struct gpu_age age = age_of(gpu);
    struct run_origin o = {.gpu = age.begins,
                           .point = point_of(version),
                           .fuses = age.fuses,
                           .tensor_cores_fp8 = age.fp8,
                           .wide = age.wide,
                           .blackwell = age.blackwell,
                           .seen = age.seen};
    find_program(&o, framework, source, trainer);
    o.deepspeed = trainer == TRAINER_DEEPSPEED;
    if (o.program == PROGRAM_TRANSFORMERS)
        o.deepspeed |= cell_contains(framework, "deepspeed") || cell_contains(framework, "zero-");
    const int dates[] = {date_of(version), date_in(framework), date_in(source)};
    for (size_t i = 0; i < ARRAY_LENGTH(dates) && !o.date; i++) o.date = dates[i];
    if (!o.date) o.date = age.date;
    return o;
}

bool names_model(struct cell name, const char *word)
{
    char plain[64];
    int length = 0;
    for (int i = 0; i < name.length && length < (int)sizeof plain - 1; i++)
        plain[length++] = isalnum((unsigned char)name.text[i]) || name.text[i] == '.' ? name.text[i]
                                                                                      : '-';
    return cell_contains((struct cell){plain, length}, word);
}

// ---- recipes

// What Megatron-Bridge's recipes of mixtures on nodes of eight GPUs set, by release: scripts/
// performance/run_script.py and configs/*/*_pretrain.yaml at v0.1.0rc3 (container 25.09; of GB200,
// too: all-to-alls, as nothing else drops tokens, and enable_cuda_graph, which captures whole
// layers); configs/*/*_workload_base_configs.py at v0.2.0 (25.11), v0.3.0 (26.02),
// v0.3.1 (26.02.01), v0.4.0 (26.04), v0.4.2 (26.04.01), v0.5.0 (26.06), v0.5.1 (26.06.01) and
// src/megatron/bridge/perf_recipes at v0.6.0 (26.08): of two variants the later one. Releases
// as YYYYMM and a digit, of 26.02.01 2026021.
enum {
    V0_1_0 = 2025090,
    V0_2_0 = 2025110,
    V0_3_0 = 2026020,
    V0_3_1 = 2026021,
    V0_4_0 = 2026040,
    V0_4_2 = 2026041,
    V0_5_0 = 2026060,
    V0_5_1 = 2026061,
    V0_6_0 = 2026080,
};
enum {
    NOTHING = RECOMPUTE_NONE,
    NORMS_ACT = REPEAT_NORMS_ACT,
    MLA = REPEAT_MLA,
    MLA_MLP = REPEAT_MLA + 1,
    EACH = DISPATCH_ALL_TO_ALL,
    DEEPEP = DISPATCH_DEEPEP,
    HYBRID = DISPATCH_HYBRIDEP,
};

// In the order of releases; the last that applies counts. Where nothing is recomputed, what fits in
// the layout that is run decides.
static const struct recipe {
    const char *gpu, *model;
    int from;
    bool eight; // where it computes in 8 bits or fewer
    int dispatcher, overlap, graphs, recompute;
} recipes[] = {
    {"h100", "235b-a22b", V0_1_0, false, EACH, 0, GRAPHS_NONE, NOTHING},
    {"b200", "235b-a22b", V0_1_0, false, EACH, 0, GRAPHS_NONE, NOTHING},
    {"gb200", "235b-a22b", V0_1_0, false, EACH, 0, GRAPHS_STEP, NOTHING},
    {"h100", "30b-a3b", V0_1_0, false, EACH, 0, GRAPHS_NONE, NOTHING},
    {"b200", "30b-a3b", V0_1_0, false, EACH, 0, GRAPHS_STEP, NOTHING},
    {"gb200", "30b-a3b", V0_1_0, false, EACH, 0, GRAPHS_STEP, NOTHING},
    {"h100", "deepseek", V0_1_0, false, DEEPEP, 1, GRAPHS_NONE, MLA_MLP},
    {"b200", "deepseek", V0_1_0, false, EACH, 0, GRAPHS_NONE, MLA},
    {"gb200", "deepseek", V0_1_0, false, EACH, 0, GRAPHS_NONE, MLA},
    {"h100", "235b-a22b", V0_2_0, false, EACH, 1, GRAPHS_NONE, NOTHING},
    {"b200", "235b-a22b", V0_2_0, false, EACH, 1, GRAPHS_NONE, NOTHING},
    {"b200", "235b-a22b", V0_3_0, false, EACH, 0, GRAPHS_NONE, NOTHING},
    {"b200", "235b-a22b", V0_5_1, true, HYBRID, 1, GRAPHS_STEP, NOTHING},
    {"b300", "235b-a22b", V0_3_0, false, EACH, 1, GRAPHS_NONE, NOTHING},
    {"b300", "235b-a22b", V0_3_1, false, EACH, 0, GRAPHS_NONE, NOTHING},
    {"b300", "235b-a22b", V0_4_2, false, HYBRID, 0, GRAPHS_NONE, NOTHING},
    {"b300", "235b-a22b", V0_5_1, true, HYBRID, 1, GRAPHS_STEP, NOTHING},
    {"h100", "30b-a3b", V0_2_0, false, EACH, 1, GRAPHS_PARTS, NOTHING},
    {"h100", "30b-a3b", V0_2_0, true, EACH, 1, GRAPHS_NONE, NOTHING},
    {"h100", "30b-a3b", V0_3_0, false, DEEPEP, 1, GRAPHS_PARTS, NOTHING},
    {"h100", "30b-a3b", V0_3_0, true, DEEPEP, 1, GRAPHS_NONE, NOTHING},
    {"h100", "30b-a3b", V0_3_1, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
    {"h100", "30b-a3b", V0_3_1, true, HYBRID, 0, GRAPHS_NONE, NOTHING},
    {"h100", "30b-a3b", V0_6_0, false, HYBRID, 1, GRAPHS_PARTS, NOTHING},
    {"h100", "30b-a3b", V0_6_0, true, HYBRID, 0, GRAPHS_NONE, NOTHING},
    {"b200", "30b-a3b", V0_2_0, false, EACH, 0, GRAPHS_PARTS, NOTHING},
    {"b200", "30b-a3b", V0_3_1, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
    {"b200", "30b-a3b", V0_5_1, true, HYBRID, 1, GRAPHS_STEP, NOTHING},
    {"b300", "30b-a3b", V0_3_0, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
    {"b300", "30b-a3b", V0_5_0, true, HYBRID, 1, GRAPHS_STEP, NOTHING},
    {"h100", "deepseek", V0_2_0, false, DEEPEP, 1, GRAPHS_NONE, MLA_MLP},
    {"h100", "deepseek", V0_3_0, false, HYBRID, 0, GRAPHS_NONE, MLA_MLP},
    {"b200", "deepseek", V0_2_0, false, EACH, 0, GRAPHS_NONE, MLA},
    {"b200", "deepseek", V0_3_0, false, HYBRID, 0, GRAPHS_NONE, MLA},
    {"b200", "deepseek", V0_4_2, false, DEEPEP, 1, GRAPHS_PARTS, MLA_MLP},
    {"b300", "deepseek", V0_3_0, false, HYBRID, 0, GRAPHS_NONE, MLA},
    {"b300", "deepseek", V0_4_2, false, HYBRID, 0, GRAPHS_PARTS, MLA},
    {"b300", "deepseek", V0_5_1, true, HYBRID, 1, GRAPHS_STEP, MLA},
    {"h100", "gpt-oss", V0_2_0, false, EACH, 0, GRAPHS_NONE, NORMS_ACT},
    {"b200", "gpt-oss", V0_2_0, false, EACH, 0, GRAPHS_NONE, NORMS_ACT},
    {"b200", "gpt-oss", V0_4_0, false, HYBRID, 0, GRAPHS_NONE, NORMS_ACT},
    {"b200", "gpt-oss", V0_4_2, false, EACH, 0, GRAPHS_NONE, NORMS_ACT},
    {"b300", "gpt-oss", V0_3_0, false, EACH, 0, GRAPHS_PARTS, NOTHING},
    {"b300", "gpt-oss", V0_4_0, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
    // Its 30B-A3B is Nano's size, too. B200 has none for Super in MXFP8, which recomputes
    // NORMS_ACT.
    {"h100", "nemotron-3", V0_2_0, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
    {"b200", "nemotron-3", V0_2_0, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
    {"b300", "nemotron-3", V0_2_0, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
    {"gb200", "nemotron-3", V0_2_0, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
    {"gb300", "nemotron-3", V0_2_0, false, HYBRID, 0, GRAPHS_PARTS, NOTHING},
};

bool recipe_says(const struct run_facts *f, enum trait trait, bool eight, int *value)
{
    const struct run_origin *o = &f->origin;
    const struct recipe *last = NULL;
    if (o->program != PROGRAM_BRIDGE || !f->mixture || !f->spread) return false;
    for (size_t i = 0; i < ARRAY_LENGTH(recipes); i++) {
        const struct recipe *r = &recipes[i];
        int release = 10 * o->date + o->point;
        if (strcmp(r->gpu, o->gpu) || (r->eight && !eight) || release < r->from ||
            (r->from < V0_2_0 && release >= V0_2_0) || !names_model(f->model, r->model))
            continue;
        last = r;
    }
    if (!last) return false;
    switch (trait) {
    case TRAIT_DISPATCHER: *value = last->dispatcher; return true;
    case TRAIT_OVERLAP_DISPATCH: *value = last->overlap; return true;
    case TRAIT_GRAPHS: *value = last->graphs; return true;
    case TRAIT_RECOMPUTE: *value = last->recompute; return last->recompute != NOTHING;
    default: return false;
    }
}
