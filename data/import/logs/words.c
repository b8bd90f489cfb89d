// What prose states in words: "ZeRO-3", "batch size 8", "full AC".
#include <math.h>

#include "data/import/logs/internal.h"

#define IN_CHINESE_LENGTH "\xe5\xba\x8f\xe5\x88\x97\xe9\x95\xbf\xe5\xba\xa6" // of a sequence

// "zero3", "zero stage2", "ZeRO-3", "ds_z3_config": the stage behind the word.
static void read_zero(struct log *l, const char *line)
{
    static const char *const offload[] = {"z2_offload", "z3_offload", "zero2_offload",
                                          "zero3_offload", NULL};
    static const char *const plain[] = {"z2_config", "z3_config", "zero2_config", "zero3_config",
                                        NULL};
    static const char *const any[] = {"zero", "fsdp", "stage",  "ds_z",        "z2_",
                                      "z3_",  "hsdp", "hybrid", "distributed", NULL};
    if (!has_one_in_any_case(line, any)) return; // each word below has one
    bool tried = strstr(line, "\xe4\xb9\x9f\xe4\xb8\x80\xe6\xa0\xb7") != NULL; // "no different"
    if (!tried && !has_one_of(line, plain) && has_one_of(line, offload)) // "ds_z3_offload.json"
        tell(l, TOLD_OFFLOAD, BY_WORDS, "offload, in a file's name", "1", 1);
    static const char *const fsdp[] = {"fsdp with", "enable fsdp", "with fsdp", "using fsdp",
                                       "fsdp only", "use fsdp", "torch fsdp", "hsdp",
                                       "hybrid_shard", "hybrid shard",
                                       // veRL's, and torchtune's recipes
                                       "fsdp_sft_trainer", "finetune_distributed", NULL};
    static const char *const before[] = {
        "zero stage",   "zero-stage", "zero_stage",       "zero-",           "zero", "ds_z",
        "config_stage", "ds_stage",   "deep speed stage", "deepspeed stage", NULL};
    if (told(l, TOLD_ZERO) && l->told[TOLD_ZERO].by >= BY_WORDS) return;
    if (find_in_any_case(line, "also tried") || strstr(line, "\xe6\xad\xa3\xe5\xb8\xb8"))
        return; // "normally"
    if (strstr(line, "/fsdp/")) tell(l, TOLD_ZERO, BY_WORDS, "a traceback through FSDP", "3", 1);
    if (has_one_in_any_case(line, fsdp)) tell(l, TOLD_ZERO, BY_WORDS, "FSDP, in words", "3", 1);
    for (int i = 0; before[i]; i++)
        for (const char *at = line; (at = find_in_any_case(at, before[i])); at++) {
            const char *digit = at + strlen(before[i]);
            digit += strspn(digit, " =");
            if (*digit < '0' || *digit > '3' || isalnum((unsigned char)digit[1])) continue;
            if (at > line && isalnum((unsigned char)at[-1])) continue;
            tell(l, TOLD_ZERO, BY_WORDS, "ZeRO's stage in words", digit, 1);
            return;
        }
}

// "TPS ~6.5k; memory 40.15GiB-47.65GiB", "wps is only around ~200": of a GPU.
static void read_titan_words(struct log *l, const char *line)
{
    static const char *const between[] = {"is ", "was ", "only ", "around ", "about "};
    const char *at = strstr(line, "TPS"), *after;
    double value;
    if (!at) at = find_in_any_case(line, "wps");
    if (!at || !at_border(line, at) || l->series[MEASURED_TOKENS].seen) return;
    at += 3 + strspn(at + 3, " ~:=");
    for (size_t i = 0; i < ARRAY_LENGTH(between); i++)
        if (!strncmp(at, between[i], strlen(between[i])))
            at += strlen(between[i]), at += strspn(at, " ~:=");
    if (!isdigit((unsigned char)*at) || !number_at(at, &value, &after)) return;
    measure(l, MEASURED_TOKENS, 100, *after == 'k' || *after == 'K' ? 1000 * value : value);
    for (at = line; (at = strstr(at, "GiB")); at++) {
        const char *from = at;
        while (from > line && strchr("0123456789.", from[-1])) from--;
        if (number_at(from, &value, NULL) &&
            (int64_t)(value * 1073741824) > l->memory.reserved_bytes)
            l->memory.reserved_bytes = (int64_t)(value * 1073741824);
    }
}

// "precision: `bf16`"
static void read_quoted(struct log *l, const char *line)
{
    static const char *const names[] = {"`bf16`", "`fp16`", "`fp8`", "`fp32`"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (strstr(line, names[i]))
            tell(l, TOLD_PRECISION, BY_WORDS, "in words", names[i] + 1, strlen(names[i]) - 2);
    static const char *const plain[] = {"bf16", "fp16", "fp8"};
    for (size_t i = 0; i < ARRAY_LENGTH(plain) && strstr(line, " preci"); i++) {
        const char *at = find_in_any_case(line, plain[i]), *of = at ? at + strlen(plain[i]) : "";
        bool told_so = !strncasecmp(of, " preci", 6) || !strncasecmp(of, " mixed preci", 12);
        if (at && at_border(line, at) && told_so && !find_in_any_case(line, "support"))
            tell(l, TOLD_PRECISION, BY_WORDS, "in words", plain[i], strlen(plain[i]));
    }
    bool narrow = strstr(line, "MXFP8") && !find_in_any_case(line, "bf16");
    if (narrow) tell(l, TOLD_PRECISION, BY_WORDS, "in words", "fp8", 3);
    if (narrow) tell(l, TOLD_FP8_RECIPE, BY_WORDS, "in words", "mxfp8", 5);
}

// "full AC", "selective activation checkpointing": not "without" it.
static void read_checkpointing(struct log *l, const char *line)
{
    static const char *const kinds[] = {"full", "selective"};
    if (!strstr(line, " AC") && !strstr(line, "ctivation ")) return;
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
        for (const char *at = line; (at = find_in_any_case(at, kinds[i])); at++) {
            const char *of = at + strlen(kinds[i]);
            bool left_out = (at - line >= 8 && !strncasecmp(at - 8, "without ", 8)) ||
                            (at - line >= 3 && !strncasecmp(at - 3, "no ", 3));
            if (!strncmp(of, " op ", 4)) of += 3;
            bool named = !strncmp(of, " AC", 3) && !isalnum((unsigned char)of[3]);
            named |= !strncasecmp(of, " activation checkpoint", 22) ||
                     !strncasecmp(of, " activation recomput", 20);
            if (named && !left_out && at_border(line, at))
                tell(l, TOLD_GRANULARITY, BY_WORDS, "in words", kinds[i], strlen(kinds[i]));
        }
}

// "out of memory", "running out of GPU memory", "out of VRAM".
static bool lacks_memory(const char *line)
{
    static const char *const of[] = {"gpu ", "cuda ", "video ", "device "};
    if (find_in_any_case(line, "out-of-memory")) return true;
    for (const char *s = line; (s = find_in_any_case(s, "out of ")); s++) {
        const char *what = s + 7;
        for (size_t i = 0; i < ARRAY_LENGTH(of); i++)
            if (!strncasecmp(what, of[i], strlen(of[i]))) what += strlen(of[i]);
        if (!strncasecmp(what, "memory", 6) || !strncasecmp(what, "vram", 4)) return true;
    }
    return false;
}

// "OOM" as a word or a verb, in any case ("zoom" is none); "out of memory".
static bool names_failure(const char *line)
{
    for (const char *at = line; (at = find_in_any_case(at, "oom")); at += 3)
        if (at_border(line, at) && !isalpha((unsigned char)at[3 + (at[3] == 's')])) return true;
    return lacks_memory(line) || find_in_any_case(line, "outof memory") ||
           find_in_any_case(line, "OutOfMemory") || log_chinese_failure(line);
}

// Whether a line has the word, in any case, and not as a part of another one ("successfully").
static bool has_word(const char *line, const char *word)
{
    for (const char *s = line; (s = find_in_any_case(s, word)); s++)
        if (at_border(line, s) && !isalpha((unsigned char)s[strlen(word)])) return true;
    return false;
}

// Whether one of the words is right before s, in any case.
static bool is_behind(const char *line, const char *s, const char *const *words)
{
    for (; *words; words++) {
        size_t length = strlen(*words);
        if ((size_t)(s - line) >= length && !strncasecmp(s - length, *words, length)) return true;
    }
    return false;
}

// "I tried to activate LoRA but it failed", "did you use LoRA"
static bool is_refuted(const char *line, const char *word)
{
    static const char *const asked[] = {"did u use ", "did you use ", "do you use ", NULL};
    const char *failed = strstr(word, "but it failed"), *end = strchr(word, '.');
    if (is_behind(line, word, asked)) return true;
    return failed && (!end || failed < end);
}

// "finetune_qlora.py", "llama2_7b_qlora_alpaca_e3", "70B_lora.yaml": of a program or configuration.
static bool is_of_program(const char *word)
{
    static const char *const endings[] = {".py", ".yaml", ".yml", ".sh", NULL};
    size_t length = strcspn(word, " \t\"'`,;)");
    for (size_t i = 0; i < length; i++)
        if (word[i] == '.' && begins_with_one(word + i, endings)) return true;
    return length > 3 && word[length - 3] == '_' && word[length - 2] == 'e' &&
           isdigit((unsigned char)word[length - 1]); // xtuner's, of as many epochs
}

// "LoRA", "QLoRA" in a post's first lines, as what is used, or of what is run.
static void read_adapters(struct log *l, const char *line)
{
    static const char *const uses[] = {"using lora", "using qlora", "use lora",
                                       "use qlora",  "with lora",   "with qlora",
                                       "used lora",  "used qlora",  "lora recipe"};
    enum { NEAR_TITLE = 3, NEAR = 8 };
    const char *lora = find_in_any_case(line, "lora");
    bool narrow = lora && lora > line && (lora[-1] == 'Q' || lora[-1] == 'q'),
         near = l->lines <= NEAR_TITLE;
    for (size_t i = 0; i < ARRAY_LENGTH(uses) && l->lines <= NEAR; i++)
        near |= has_word(line, uses[i]) && !strchr(line, '?');
    near |= lora && (is_of_program(lora) || lora - narrow == line + strspn(line, "#-* "));
    if (!lora || !near || isalpha((unsigned char)lora[4]) ||
        (!at_border(line, lora - narrow) && !isdigit((unsigned char)lora[-1 - narrow])) ||
        has_word(line, "full") || is_refuted(line, lora))
        return;
    tell(l, TOLD_ADAPTERS, BY_WORDS, "LoRA, in words", "1", 1);
    if (narrow) tell(l, TOLD_WEIGHT_BITS, BY_WORDS, "QLoRA, in words", "4", 1);
}

// "llama-3-8b-bnb-4bit", "Qwen-72B-Chat-Int4", "70b-awq": weights of few bits, by their model's
// name; what is trained beside them are adapters.
static void read_narrow(struct log *l, const char *line)
{
    static const struct {
        const char *ending, *bits;
    } names[] = {{"-bnb-4bit", "4"}, {"-awq", "4"},  {"-gptq", "4"},
                 {"-int4", "4"},     {"-int8", "8"}, {"-bnb-8bit", "8"}};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *at = find_in_any_case(line, names[i].ending), *from = at;
        bool sized = false;
        while (from && from > line && (isalnum((unsigned char)from[-1]) || strchr("-._", from[-1])))
            from--, sized |= (from[1] | 32) == 'b' && isdigit((unsigned char)*from);
        if (!sized || isalnum((unsigned char)at[strlen(names[i].ending)])) continue;
        tell(l, TOLD_WEIGHT_BITS, BY_WORDS, "a model's name", names[i].bits, 1);
        tell(l, TOLD_ADAPTERS, BY_WORDS, "weights of few bits", "1", 1);
    }
}

// Whether a word is part of a setting's name, whose value says more.
static bool is_of_key(const char *word)
{
    while (isalpha((unsigned char)*word)) word++;
    if (*word == '_') return true;
    word += strspn(word, "\"' ");
    return *word == ':' || *word == '=';
}

// Behind a number: "4M", "16/32", "512 tokens" say another one, or no number of sequences.
static bool is_no_count(const char *after)
{
    static const char *const others[] = {" tok", " million", " M tok", " K tok", " k tok"};
    bool other = isalpha((unsigned char)*after) ||
                 (*after && strchr("./-", *after) && isdigit((unsigned char)after[1]));
    for (size_t i = 0; i < ARRAY_LENGTH(others); i++)
        other |= !strncmp(after, others[i], strlen(others[i]));
    return other;
}

// Of what is no training: "eval batch size 8".
static const char *const no_training[] = {"max ", // of a batch alone
                                          "eval ",      "evaluation ", "test ",   "validation ",
                                          "inference ", "rollout ",    "reward ", "generation ",
                                          "output ",    "prompt ",     NULL};

// Behind a name its number, perhaps with a word between: "of 4", "per GPU is 8"; NULL: there is
// none.
static const char *number_behind(const char *s, double *value)
{
    static const char *const each[] = {" per gpu", " per device", " per card", " per rank", NULL};
    static const char *const between[] = {" of ", " to ", " is set to ",  " is ",         " was ",
                                          " = ",  " ~",   "\xe4\xb8\xba", "\xe6\x98\xaf", NULL};
    for (const char *const *w = each; *w; w++)
        if (!strncasecmp(s, *w, strlen(*w))) s += strlen(*w);
    for (const char *const *w = between; *w; w++)
        if (!strncmp(s, *w, strlen(*w))) {
            s += strlen(*w);
            break;
        }
    return number_at(s, value, &s) && *value >= 1 && *value < 1e9 && !is_no_count(s) ? s : NULL;
}

// "batch size of 3 did not work, I reduced it to 1": the number that was then tried; NULL: what is
// behind a number does not say that it failed.
static const char *tried_instead(const char *after, double *value)
{
    static const char *const failed[] = {" did not work", " didn't work", " does not work",
                                         " doesn't work", " not working", NULL};
    const char *to = begins_with_one(after, failed) ? strstr(after, "to ") : NULL;
    return to && number_at(to + 3, value, &after) && *value >= 1 && *value < 1e9 ? after : NULL;
}

// "batch size of 4", "Batch Size: 1", "global batch size 64", "batch size 512 in total": of all,
// where a word before or behind it says so, or a micro-batch beside it.
static void read_batch(struct log *l, const char *line)
{
    static const char *const words[] = {"batch size",  "batchsize",   "batch_size",
                                        "micro batch", "micro-batch", "microbatch"};
    static const char *const all[] = {"global ",  "total ",  "effective ",
                                      "overall ", "global-", NULL};
    static const char *const in_all[] = {" in total", " in all",  " total",
                                         " globally", " across ", NULL};
    static const char *const micros[] = {"micro batch", "micro-batch", "micro_batch",
                                         "microbatch",  "mbs",         NULL};
    static const char *const each[] = {"per gpu", "per-gpu", "per device", "per-device",
                                       "local",   "device",  NULL};
    enum { WHOLE = 3 }; // names before these may be of either
    static const char *const ones[] = {"\xe9\x83\xbd\xe8\xb0\x83\xe6\x88\x90"
                                       "1", // all made 1
                                       "\xe9\x83\xbd\xe8\xae\xbe\xe4\xb8\xba"
                                       "1",
                                       "\xe9\x83\xbd\xe6\x94\xb9\xe6\x88\x90"
                                       "1",
                                       NULL};
    double value;
    const char *first = find_in_any_case(line, "batch");
    if (first && has_one_of(first, ones)) tell(l, TOLD_MICRO_BATCH, BY_WORDS, "in words", "1", 1);
    bool beside =
        has_one_in_any_case(line, micros) ||
        (first && find_in_any_case(first + 1, "batch") && has_one_in_any_case(line, each));
    for (size_t w = 0; w < ARRAY_LENGTH(words); w++)
        for (const char *s = line; (s = find_in_any_case(s, words[w])); s++) {
            static const char *const own[] = {"micro ",   "micro-",   "micro_", "local ", "device ",
                                              "per gpu ", "per-gpu ", "mini-",  NULL};
            const char *name = s + strlen(words[w]), *after = number_behind(name, &value);
            bool other = !at_border(line, s) ||
                         (s > line && strchr("_-", s[-1]) && !is_behind(line, s, own) &&
                          !is_behind(line, s, all));
            if (other || is_behind(line, s, no_training) || !after) continue;
            const char *instead = tried_instead(after, &value);
            if (instead) after = instead;
            bool micro = w >= WHOLE || is_behind(line, s, own) || !strncasecmp(name, " per ", 5) ||
                         !strncasecmp(after, " per ", 5);
            bool of_all = !micro && (is_behind(line, s, all) || begins_with_one(after, in_all) ||
                                     (beside && w < WHOLE));
            tell_count(l, of_all ? TOLD_GLOBAL_BATCH : TOLD_MICRO_BATCH, BY_WORDS, "in words",
                       (int64_t)value);
        }
}

// "sequence length of 4096", "seq_length 2048", "context length is 8192": in tokens.
static void read_lengths(struct log *l, const char *line)
{
    static const char *const words[] = {IN_CHINESE_LENGTH, "Seq.Len",        "seq len",
                                        "sequence length", "seq length",     "max length",
                                        "seq_length",      "context length", "cut_off"};
    enum { LEAST = 16 };
    double value;
    for (size_t w = 0; w < ARRAY_LENGTH(words); w++)
        for (const char *s = line; (s = find_in_any_case(s, words[w])); s++) {
            bool part = s > line && (strchr("_-", s[-1]) || !at_border(line, s));
            if ((part && isalpha((unsigned char)*words[w])) || is_behind(line, s, no_training + 1))
                continue;
            if (number_behind(s + strlen(words[w]), &value) && value >= LEAST)
                tell_count(l, TOLD_SEQ, BY_WORDS, "in words", (int64_t)value);
        }
}

// "context length is large (32k)", "sequences of 16K": not what a model supports.
static void read_thousands(struct log *l, const char *line)
{
    static const char *const words[] = {"context",
                                        "seq",
                                        "length",
                                        "cutoff",
                                        "\xe7\xaa\x97\xe5\x8f\xa3", // window
                                        "\xe9\x95\xbf\xe5\xba\xa6", // length
                                        NULL};
    double value;
    const char *after;
    if (!has_one_in_any_case(line, words) || find_in_any_case(line, "support")) return;
    for (const char *s = line; *s; s++) {
        if (!isdigit((unsigned char)*s) || !at_border(line, s) || (s > line && s[-1] == '.'))
            continue;
        if (!number_at(s, &value, &after)) return;
        bool power = value >= 1 && value <= 1024 && ((int)value & ((int)value - 1)) == 0;
        static const char *const others[] = {"vocab ", "vocabulary ", "vocab of ", NULL};
        if (is_behind(line, s, others)) {
            s = after - 1;
            continue;
        }
        bool follows = !strncmp(after + 1, " seq", 4) || !strncmp(after + 1, " context", 8);
        if ((*after | 32) == 'k' && (power || (follows && value <= 1024)) &&
            !isalnum((unsigned char)after[1])) {
            tell_count(l, TOLD_SEQ, BY_WORDS, "a length in thousands, in words",
                       (int64_t)value * 1024);
            return;
        }
        s = after - 1;
    }
}

// "8192ctx"
static void read_context(struct log *l, const char *line)
{
    double value;
    const char *ctx = strstr(line, "ctx"), *from = ctx;
    while (from && from > line && isdigit((unsigned char)from[-1])) from--;
    if (from && from < ctx && !isalnum((unsigned char)ctx[3]) && at_border(line, from) &&
        number_at(from, &value, NULL) && value >= 128 && value < 1e7)
        tell_count(l, TOLD_SEQ, BY_WORDS, "a context, in words", (int64_t)value);
}

// "24GB of VRAM", "192G per GPU", "each with 24 GB": of a card that nothing names; 0: none is so.
static int card_gb_in_words(const char *line)
{
    static const char *const of[] = {"per gpu",     "per card",      "each gpu", "vram",
                                     "gpu with",    "gb each",       "g each",   "cuda memory",
                                     "memory each", "gpu memory is", "geforce",  NULL};
    bool card = has_one_in_any_case(line, of);
    int first = 0, own = 0;
    double value;
    const char *after;
    const char *on = find_in_any_case(line, "on "); // "13B on 24GB"
    if (on && number_at(on + 3, &value, &after) && !strncasecmp(after, "gb", 2) && !card)
        card = true, line = on + 3;
    for (const char *s = line; card && *s; s++) {
        if (!isdigit((unsigned char)*s) || !at_border(line, s)) continue;
        if (!number_at(s, &value, &after)) return 0;
        const char *unit = after + (*after == ' ');
        bool gb = *unit == 'G' && !isalnum((unsigned char)unit[1 + ((unit[1] | 32) == 'b')]);
        bool fits = gb && value >= 8 && value <= 400;
        if (fits && !strncasecmp(unit + 2, " vram", 5)) own = (int)value; // of one, behind all
        if (fits && !first) first = (int)value;
        s = after - 1;
    }
    return own ? own : first;
}

static void read_prose(struct log *l, const char *line)
{
    static const struct count_words counts[] = {
        {"GPU number:", TOLD_GPUS_PER_NODE},         {"umber of gpus:", TOLD_NUM_GPUS},
        {"umber of GPUs:", TOLD_NUM_GPUS},           {"global_batch_size is", TOLD_GLOBAL_BATCH},
        {"model parallelism degree", TOLD_TP},       {"model parallel of", TOLD_TP},
        {"tensor model parallel size", TOLD_TP},     {"pipeline model parallel size", TOLD_PP},
        {"context parallel size", TOLD_CP},          {"tensor parallelism degree", TOLD_TP},
        {"pipeline parallelism degree", TOLD_PP},    {"grad accum", TOLD_ACCUMULATION},
        {"radient accumulation:", TOLD_ACCUMULATION}};
    tell_counts(l, line, BY_WORDS, "in words", counts, ARRAY_LENGTH(counts));
    if (has_digit(line)) {
        read_batch(l, line), read_lengths(l, line);
        read_thousands(l, line), read_context(l, line);
    }
    read_quoted(l, line);
    read_adapters(l, line);
    if (has_digit(line)) read_narrow(l, line);
    if (strstr(line, "HybridEP")) tell(l, TOLD_DISPATCHER, BY_WORDS, "HybridEP", "hybridep", 8);
    if (strstr(line, "DeepEP")) tell(l, TOLD_DISPATCHER, BY_WORDS, "DeepEP", "deepep", 6);
    if (strstr(line, "Transformer Engine CUDA graphs"))
        tell(l, TOLD_GRAPHS, BY_WORDS, "CUDA graphs", "parts", 5);
    const char *offload = find_in_any_case(line, "offload");
    if (offload && !is_of_key(offload) && !strstr(line, "...") && !strchr(line, '?') &&
        !strstr(line, "WARNING") && !strstr(line, "meta device")) {
        bool other = strstr(line, "OOM") || l->mentions_failure; // what helped, not what failed
        if (!other) tell(l, TOLD_OFFLOAD, BY_WORDS, "offload, in words", "1", 1);
    }
    static const char *const compiled[] = {"with torch.compile", "torch.compile is enabled",
                                           "torch.compile` is enabled",
                                           "Compiled Transformer blocks", NULL};
    const char *any = strstr(line, "ompile"), *compile = any ? strstr(line, "with compile") : NULL;
    if ((compile && !isalpha((unsigned char)compile[12])) || (any && has_one_of(line, compiled)))
        tell(l, TOLD_COMPILED, BY_WORDS, "in words", "1", 1);
    read_checkpointing(l, line);
    read_titan_words(l, line);
    if (strstr(line, "Megatron-Bridge") || strstr(line, "Megatron Bridge"))
        l->reader->names_bridge = true;
    if (strstr(line, "TorchTitan")) l->reader->names_titan = true;
    if (strstr(line, "model.tensor_model_parallel_size")) l->reader->names_nemo = true;
    if (strstr(line, "Megatron-LM") || strstr(line, "/megatron/")) l->reader->names_megatron = true;
    // "8% slower than bf16 & OOMs on the same batch" compares runs, of which one ran.
    bool compares = strstr(line, " slower than ") || strstr(line, " faster than ");
    if (names_failure(line) && !compares && !find_in_any_case(line, "no OOM")) {
        l->mentions_failure = true;
        log_phase_in_words(l, line);
        l->reader->failed_by_title |= l->lines == 1 && l->reader->titled;
    }
    if (!strncmp(line, "Traceback", 9) || strstr(line, "Traceback (most recent call last)"))
        l->reader->traced = true;
    if (!l->reader->card_gb) l->reader->card_gb = log_chinese_card_gb(line);
    if (!l->reader->card_gb && has_digit(line)) l->reader->card_gb = card_gb_in_words(line);
}

// When, at the earliest: the month in a container's tag, "nvcr.io/nvidia/nemo:23.08".
static void read_container(struct log *l, const char *line)
{
    double year, month;
    const char *at = strstr(line, "nvidia/"), *after;
    at = at ? strchr(at, ':') : NULL;
    if (!at || !number_at(at, &year, &after) || year < 19 || year > 40 || after != at + 6) return;
    month = floor((year - floor(year)) * 100 + 0.5);
    char text[16];
    snprintf(text, sizeof text, "20%02d-%02d", (int)year, (int)month);
    if (month >= 1 && month <= 12)
        tell(l, TOLD_VERSION, BY_WORDS, "a container's tag", text, strlen(text));
}

// When: the first date of the form 2025-04.
void log_date(struct log *l, const char *line)
{
    read_container(l, line);
    for (const char *at = line; !told(l, TOLD_VERSION) && (at = strstr(at, "20")); at++)
        if (isdigit((unsigned char)at[2]) && isdigit((unsigned char)at[3]) && at[4] == '-' &&
            (at[5] == '0' || at[5] == '1') && isdigit((unsigned char)at[6]) &&
            !isdigit((unsigned char)at[7]) && (at == line || !isdigit((unsigned char)at[-1])))
            tell(l, TOLD_VERSION, BY_WORDS, "a date", at, 7);
}

bool log_is_of_others(const char *line)
{
    static const char *const theirs[] = {"readme", "paper", "table", "blog", "report", NULL};
    static const char *const advice[] = {"use ",     "try ",        "please ",
                                         "you can ", "you should ", NULL};
    static const char said[] = "comment: "; // who says it
    if (!strncmp(line, said, strlen(said))) line += strlen(said);
    static const char *const servers[] = {"swift rollout", "vllm serve", "trl vllm-serve", NULL};
    if (has_one_of(line, servers)) return true;
    const char *your = strstr(line, "your ");
    bool own = !strncmp(line, "I ", 2) || strstr(line, " I "); // beside what is theirs
    own &= !strstr(line, "I saw ") && !strstr(line, "I read ");
    return (your && !own && begins_with_one(your + 5, theirs)) || begins_with_one(line, advice);
}

void log_words(struct log *l, const char *line)
{
    if (l->lines == 1) l->reader->titled = line[0] == '#' && line[1] == ' ';
    if (log_is_of_others(line)) return;
    log_shorts(l, line), log_shapes(l, line);
    read_zero(l, line);
    log_counts(l, line);
    log_besides(l, line);
    read_prose(l, line);
}
