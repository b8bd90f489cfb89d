// How tables spell what they hold: numbers with separators, units, columns under other names.
#include "formulate/predict/row.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"

// ---- numbers

struct cell cell_without_separators(struct cell cell, char buffer[NUMBER_MAX])
{
    int length = 0, since = -1; // digits since the last comma; -1: none yet
    if (cell.length >= NUMBER_MAX || !memchr(cell.text, ',', (size_t)cell.length)) return cell;
    for (int i = 0; i < cell.length; i++) {
        char c = cell.text[i];
        bool comma = c == ',', ends = c == '.' || !isdigit((unsigned char)c);
        if (ends && since >= 0 && since != 3) return cell;
        if (comma && since < 0 && (length < 1 || length > 3)) return cell;
        if (comma || !ends) since = comma ? 0 : since + (since >= 0);
        else since = -1;
        if (!comma) buffer[length++] = c;
    }
    if (since >= 0 && since != 3) return cell;
    return (struct cell){buffer, length};
}

enum status value_read(const struct table *t, int column, double *value, enum run_unit *unit,
                       struct error *err)
{
    static const struct {
        const char *end;
        double factor;
    } ends[] = {{"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"%", 0.01}};
    struct cell *cell = &t->cells[column], whole = *cell;
    double factor = 1;
    for (size_t i = 0; i < ARRAY_LENGTH(ends) && whole.length > 1; i++)
        if (whole.text[whole.length - 1] == *ends[i].end) {
            factor = ends[i].factor, cell->length--;
            while (cell->length && cell->text[cell->length - 1] == ' ') cell->length--;
        }
    if (table_number(t, column, 0, 1e30, value, err) != OK) {
        *cell = whole;
        return table_refuse(t, column, err,
                            "expected a number from 0 to 1e+30, perhaps with k, M or %%");
    }
    if (whole.length) *value *= factor;
    if (factor < 1) *unit = UNIT_SHARE;
    return OK;
}

// ---- precisions

// Names of recipes: of Transformer Engine and Megatron (fp8_recipe), of Megatron-Bridge's tables
// (current and delayed scaling, subchannel, MX).
static const struct {
    const char *name;
    enum precision precision;
} recipes[] = {{"fp8-cs", FP8},          {"fp8-ds", FP8},       {"tensorwise", FP8},
               {"delayed", FP8},         {"fp8-sc", FP8_BLOCK}, {"fp8-block", FP8_BLOCK},
               {"blockwise", FP8_BLOCK}, {"fp8-mx", MXFP8},     {"fp4", NVFP4}};

enum status precision_read(const struct table *t, int column, int *precision, struct error *err)
{
    char small[16];
    struct cell cell = t->cells[column];
    for (int i = 0; i < cell.length && i < (int)sizeof small; i++)
        small[i] = cell.text[i] == '_' ? '-' : (char)tolower((unsigned char)cell.text[i]);
    struct cell folded = {small, cell.length};
    for (size_t i = 0; i < ARRAY_LENGTH(recipes) && cell.length < (int)sizeof small; i++)
        if (cell_is(folded, recipes[i].name)) return *precision = recipes[i].precision, OK;
    for (int i = 0; precision_names[i] && cell.length < (int)sizeof small; i++)
        if (cell_is(folded, precision_names[i])) return *precision = i, OK;
    return table_name(t, column, precision_names, precision, err);
}

// ---- units

// After folding: small letters, no blanks, parts of a quotient in one spelling.
static const struct {
    const char *folded;
    double factor;
    enum run_unit unit;
} units[] = {
    {"s", 1, UNIT_PLAIN},
    {"ms", 1e-3, UNIT_PLAIN},
    {"us", 1e-6, UNIT_PLAIN},
    {"b", 1, UNIT_PLAIN},
    {"mb", 1e6, UNIT_PLAIN},
    {"gb", 1e9, UNIT_GB},
    {"mib", 1048576, UNIT_PLAIN},
    {"gib", 1073741824, UNIT_PLAIN},
    {"tflop/s/gpu", 1e12, UNIT_PLAIN},
    {"tflop/gpu", 1e12, UNIT_PLAIN},
    {"tflop/s", 1e12, UNIT_PLAIN}, // training programs print them of a GPU
    {"tflop", 1e12, UNIT_PLAIN},
    {"flag", 1, UNIT_PLAIN},
    {"%", 0.01, UNIT_SHARE},
    {"samples/s", 1, UNIT_SAMPLES},
    {"samples/s/gpu", 1, UNIT_SAMPLES_PER_GPU},
    {"samples/gpu/s", 1, UNIT_SAMPLES_PER_GPU},
    {"tokens/s", 1, UNIT_TOKENS},
    {"tokens/s/gpu", 1, UNIT_TOKENS_PER_GPU},
    {"tokens/gpu/s", 1, UNIT_TOKENS_PER_GPU},
};

// The words of a unit in one spelling; longer ones first.
static const char *const words[][2] = {
    {"milliseconds", "ms"},   {"microseconds", "us"},  {"seconds", "s"},    {"second", "s"},
    {"msec", "ms"},           {"usec", "us"},          {"secs", "s"},       {"sec", "s"},
    {"tokens", "tokens"},     {"token", "tokens"},     {"toks", "tokens"},  {"tok", "tokens"},
    {"sequences", "samples"}, {"sequence", "samples"}, {"seqs", "samples"}, {"seq", "samples"},
    {"samples", "samples"},   {"sample", "samples"},   {"tflops", "tflop"}, {"tflop", "tflop"},
    {"devices", "gpu"},       {"device", "gpu"},       {"gpus", "gpu"},     {"per", "/"},
    {"bytes", "b"},
};

enum { UNIT_MAX = 48 };

static void fold(struct cell cell, char to[UNIT_MAX])
{
    int length = 0;
    for (int i = 0; i < cell.length && length < UNIT_MAX - 10;) {
        size_t k = 0, n = 0;
        bool starts = !i || !isalpha((unsigned char)cell.text[i - 1]);
        for (; k < ARRAY_LENGTH(words) && starts; k++) {
            n = strlen(words[k][0]);
            if ((size_t)(cell.length - i) >= n && !strncasecmp(cell.text + i, words[k][0], n) &&
                (i + (int)n == cell.length || !isalpha((unsigned char)cell.text[i + (int)n])))
                break;
        }
        if (starts && k < ARRAY_LENGTH(words)) {
            length += snprintf(to + length, 10, "%s", words[k][1]);
            i += (int)n;
        } else if (isspace((unsigned char)cell.text[i])) i++;
        else to[length++] = (char)tolower((unsigned char)cell.text[i++]);
    }
    to[length] = '\0';
}

enum status run_unit_read(const struct table *t, int column, double *factor, enum run_unit *unit,
                          struct error *err)
{
    struct cell cell = t->cells[column];
    char folded[UNIT_MAX];
    if (!cell.length) return OK;
    fold(cell, folded);
    for (size_t i = 0; i < ARRAY_LENGTH(units); i++)
        if (!strcmp(folded, units[i].folded)) {
            *factor = units[i].factor, *unit = units[i].unit;
            return OK;
        }
    return table_refuse(t, column, err,
                        "expected s, ms, us, B, MB, GB, MiB, GiB, TFLOP/s/GPU, samples/s, "
                        "samples/s/GPU, tokens/s, tokens/s/GPU, %% or flag");
}

// ---- columns

// Names under which others have a column, and what changes the model and no column states.
static const char *const foreign[][2] = {
    {"mbs", "micro_batch"},
    {"micro_batch_size", "micro_batch"},
    {"gbs", "global_batch"},
    {"global_batch_size", "global_batch"},
    {"batch_size", "global_batch"},
    {"gpus", "num_gpus"},
    {"n_gpus", "num_gpus"},
    {"world_size", "num_gpus"},
    {"sequence", "seq"},
    {"seq_len", "seq"},
    {"seq_length", "seq"},
    {"sequence_length", "seq"},
    {"num_layers", "layers"},
    {"n_layers", "layers"},
    {"hidden_size", "hidden"},
    {"ffn_hidden_size", "ffn"},
    {"intermediate_size", "ffn"},
    {"num_heads", "heads"},
    {"num_attention_heads", "heads"},
    {"num_kv_heads", "kv_heads"},
    {"num_query_groups", "kv_heads"},
    {"vocab_size", "vocab"},
    {"tensor", "tp"},
    {"pipeline", "pp"},
    {"context", "cp"},
    {"data", "dp"},
    {"vp", "vpp"},
    {"virtual_stages", "vpp"},
    {"num_experts", "experts"},
    {"n_experts", "experts"},
    {"topk", "top_k"},
    {"moe_router_topk", "top_k"},
    {"expert_parallel", "ep"},
    {"moe_ffn_hidden_size", "expert_ffn"},
    {"fsdp", "zero"},
    {"sequence_parallel", "sp"},
    {"window", NULL},
    {"sliding_window", NULL},
    {"adapter_rank", "lora_rank"},
    {"lora", "lora_rank"},
    {"lora_r", "lora_rank"},
    {"adapter_modules", "lora_modules"},
    {"target_modules", "lora_modules"},
    {"lora_target_modules", "lora_modules"},
    {"lora_target", "lora_modules"},
    {"mtp", NULL},
    {"linear_attention", NULL},
    {"frozen", NULL},
};

static bool same_column(struct cell name, const char *other)
{
    return name.length == (int)strlen(other) && !strncasecmp(name.text, other, strlen(other));
}

bool column_is_foreign(struct cell name, const char **known)
{
    for (size_t i = 0; i < ARRAY_LENGTH(foreign); i++)
        if (same_column(name, foreign[i][0])) return *known = foreign[i][1], true;
    return false;
}

const char *column_nearest(const char *name, const char *const *own, int count, bool close,
                           struct arena *arena)
{
    const char **names = TAKE(arena, count + (int)ARRAY_LENGTH(foreign), const char *),
               **means = TAKE(arena, count + (int)ARRAY_LENGTH(foreign), const char *);
    for (int i = 0; i < count; i++) names[i] = means[i] = own[i];
    for (size_t i = 0; i < ARRAY_LENGTH(foreign); i++)
        if (foreign[i][1]) names[count] = foreign[i][0], means[count++] = foreign[i][1];
    int found = (close ? name_meant : name_nearest)(name, names, count);
    return found < 0 ? NULL : means[found];
}
