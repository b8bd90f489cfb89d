// What prose and names of runs state in short words: "tp4_pp2", "TP1/PP1/CP1, DP16, GBS/MBS
// 1024/1", "8xA100", "ZeRO-3", "batch size 8".
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "data/base/least.h"
#include "data/import/logs/internal.h"

enum { SHORT_MOST = 32 };

static const struct {
    const char *word;
    enum told told;
    bool behind; // the number may be before the word as well: "2mbs"
} shorts[] = {{"tp", TOLD_TP, false},           {"pp", TOLD_PP, false},
              {"cp", TOLD_CP, false},           {"dp", TOLD_DP, false},
              {"ep", TOLD_EP, false},           {"etp", TOLD_ETP, false},
              {"vp", TOLD_VPP, false},          {"vpp", TOLD_VPP, false},
              {"mbs", TOLD_MICRO_BATCH, true},  {"mb", TOLD_MICRO_BATCH, false},
              {"gbs", TOLD_GLOBAL_BATCH, true}, {"gb", TOLD_GLOBAL_BATCH, false},
              {"seq", TOLD_SEQ, false},         {"nl", TOLD_LAYERS, false},
              {"hs", TOLD_HIDDEN, false},       {"stage", TOLD_ZERO, false},
              {"nodes", TOLD_NODES, true},      {"gpus", TOLD_NUM_GPUS, true}};

struct short_words {
    struct {
        int row;
        int64_t value;
    } items[SHORT_MOST];
    int count;
};

static bool at_border(const char *line, const char *s)
{
    return s == line || !isalnum((unsigned char)s[-1]);
}

// One word at s, "tp4", "TP=4" or "2mbs"; returns what is behind it.
static const char *read_short(struct short_words *w, const char *line, const char *s)
{
    const char *end = s;
    while (isalnum((unsigned char)*end)) end++;
    size_t letters = 0, digits = 0;
    bool first = isdigit((unsigned char)*s) != 0;
    while (isdigit((unsigned char)s[digits])) digits++;
    const char *word = s + (first ? digits : 0);
    while (isalpha((unsigned char)word[letters])) letters++;
    const char *number = first ? s : word + letters;
    if (!first && word + letters == end && *end == '=' && isdigit((unsigned char)end[1])) {
        number = end + 1, end = number;
        while (isdigit((unsigned char)*end)) end++;
        if (isalpha((unsigned char)*end)) return end;
    }
    size_t length = strspn(number, "0123456789");
    if (!letters || !length || length > 7 || !at_border(line, s) || w->count == SHORT_MOST ||
        (first ? word + letters : number + length) != end)
        return end > s ? end : s + 1;
    int64_t value = 0;
    for (size_t i = 0; i < length; i++) value = 10 * value + (number[i] - '0');
    for (size_t i = 0; i < ARRAY_LENGTH(shorts); i++)
        if (strlen(shorts[i].word) == letters && !strncasecmp(word, shorts[i].word, letters) &&
            (!first || shorts[i].behind)) {
            w->items[w->count].row = (int)i;
            w->items[w->count++].value = value;
        }
    return end;
}

// "..._seq4096_pp1_tp2_fp16"
static void read_name_precision(struct log *l, const char *line)
{
    static const char *const names[] = {"bf16", "fp16", "fp8"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        for (const char *at = line; (at = strstr(at, names[i])); at++)
            if (at_border(line, at) && !isalnum((unsigned char)at[strlen(names[i])]))
                tell(l, TOLD_PRECISION, BY_WORDS, "a run's name", names[i], strlen(names[i]));
}

// A shell's "TP=8", alone in its line.
static void read_shell_degree(struct log *l, const char *line)
{
    static const struct count_words degrees[] = {
        {"TP=", TOLD_TP}, {"PP=", TOLD_PP}, {"CP=", TOLD_CP}, {"EP=", TOLD_EP}};
    for (size_t i = 0; i < ARRAY_LENGTH(degrees); i++)
        if (!strncmp(line, degrees[i].before, 3) && line[3] &&
            strspn(line + 3, "0123456789") == strcspn(line + 3, " "))
            tell_counts(l, line, BY_WORDS, "a shell's variable", &degrees[i], 1);
}

// "4 nodes: DP=1, 8 nodes: DP=2": no value of one run.
static bool is_stated_twice(const struct short_words *w, int of)
{
    for (int i = 0; i < w->count; i++)
        if (w->items[i].row == w->items[of].row && w->items[i].value != w->items[of].value)
            return true;
    return false;
}

// Two degrees in one line are no accident.
static void read_shorts(struct log *l, const char *line)
{
    struct short_words w = {.count = 0};
    int degrees = 0;
    for (const char *s = line; *s;)
        if (isalnum((unsigned char)*s)) s = read_short(&w, line, s);
        else s++;
    for (int i = 0; i < w.count; i++)
        degrees += shorts[w.items[i].row].told >= TOLD_TP &&
                   shorts[w.items[i].row].told <= TOLD_VPP;
    for (const char *at = line; (at = strstr(at, "DP=")); at++)
        if (at_border(line, at)) degrees++; // no other word is written so
    for (int i = 0; degrees > 1 && i < w.count; i++)
        if (strcmp(shorts[w.items[i].row].word, "gb") == 0 &&
            (w.items[i].value == 200 || w.items[i].value == 300))
            continue; // a GPU
        else if (is_stated_twice(&w, i)) continue;
        else if (w.items[i].value > 0 || shorts[w.items[i].row].told == TOLD_ZERO)
            tell_count(l, shorts[w.items[i].row].told, BY_WORDS, "short words of a line",
                       w.items[i].value);
    if (degrees > 1) read_name_precision(l, line);
    double global, micro;
    const char *after;
    if (number_after(line, "GBS/MBS", &global, &after) && *after == '/' &&
        number_at(after + 1, &micro, NULL)) {
        tell_count(l, TOLD_GLOBAL_BATCH, BY_WORDS, "GBS/MBS", (int64_t)global);
        tell_count(l, TOLD_MICRO_BATCH, BY_WORDS, "GBS/MBS", (int64_t)micro);
    }
    if (number_after(line, "-way gradient accumulation", &micro, NULL)) return;
    const char *way = strstr(line, "-way gradient accumulation");
    if (!way) way = strstr(line, " gradient-accumulation steps");
    if (!way) return;
    while (way > line && isdigit((unsigned char)way[-1])) way--;
    if (number_at(way, &micro, NULL) && micro >= 1)
        tell_count(l, TOLD_ACCUMULATION, BY_WORDS, "gradient accumulation", (int64_t)micro);
}

// "zero3", "zero stage2", "ZeRO-3", "ds_z3_config": the stage behind the word.
static void read_zero(struct log *l, const char *line)
{
    static const char *const before[] = {
        "zero stage",   "zero-stage", "zero_stage",       "zero-",           "zero", "ds_z",
        "config_stage", "ds_stage",   "deep speed stage", "deepspeed stage", NULL};
    if (told(l, TOLD_ZERO) && l->told[TOLD_ZERO].by >= BY_WORDS) return;
    if (strstr(line, "/fsdp/")) tell(l, TOLD_ZERO, BY_WORDS, "a traceback through FSDP", "3", 1);
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

// "4 nodes, each 4 A100", "10 nodes with 8 GPUs per node": the number before `number`, and what it
// is of.
static bool is_of_each(struct log *l, const char *line, const char *number)
{
    static const char *const nodes[] = {"nodes", "machines", "\xe8\x8a\x82\xe7\x82\xb9",
                                        "\xe7\xbb\x93\xe7\x82\xb9"};
    static const char *const each[] = {"each ", "per node", "per machine", "\xe6\xaf\x8f"};
    bool of_each = false;
    double count;
    for (size_t i = 0; i < ARRAY_LENGTH(each); i++) of_each |= strstr(line, each[i]) != NULL;
    for (const char *s = line; of_each && s < number; s++) {
        if (!isdigit((unsigned char)*s) || !at_border(line, s) || !number_at(s, &count, &s))
            continue;
        s += strspn(s, " ");
        for (size_t i = 0; i < ARRAY_LENGTH(nodes); i++)
            if (s < number && !strncmp(s, nodes[i], strlen(nodes[i])) && count >= 1 &&
                count < 1e5) {
                tell_count(l, TOLD_NODES, BY_WORDS, "a number of nodes, in words", (int64_t)count);
                return true;
            }
    }
    return false;
}

// "2 nodes x 8", "2Nodes * 8": the number before the GPU is a node's.
static bool is_of_node(struct log *l, const char *line, const char *number)
{
    const char *s = number;
    double nodes;
    while (s > line && strchr(" *xX", s[-1])) s--;
    size_t length = s - line > 5 && !strncasecmp(s - 5, "nodes", 5)  ? 5
                    : s - line > 4 && !strncasecmp(s - 4, "node", 4) ? 4
                                                                     : 0;
    if (!length || s == number) return is_of_each(l, line, number);
    for (s -= length; s > line && s[-1] == ' ';) s--;
    while (s > line && isdigit((unsigned char)s[-1])) s--;
    if (number_at(s, &nodes, NULL) && nodes >= 1 && nodes < 1e6)
        tell_count(l, TOLD_NODES, BY_WORDS, "a number of nodes, in words", (int64_t)nodes);
    return true;
}

// "on an 80 GB A100": of one, if it is no node of them.
static bool is_on_a(const char *line)
{
    static const char *const many[] = {"node", "cluster", "server", "machine", "pod", "instance"};
    for (const char *s = line; (s = find_in_any_case(s, "on a")); s += 4) {
        const char *of = s + 4;
        if (!at_border(line, s)) continue;
        of += *of == 'n';
        if (*of != ' ') continue;
        size_t size = strspn(++of, "0123456789");
        if (size) of += size + strspn(of + size, " GgBb");
        if (!names_gpu(of)) continue;
        bool alone = true;
        for (size_t i = 0; i < ARRAY_LENGTH(many); i++) alone &= !find_in_any_case(of, many[i]);
        if (alone) return true;
    }
    return false;
}

// "single A100", "a single GPU"; not of a single node.
static bool is_single(const char *line)
{
    const char *s = line;
    for (; (s = find_in_any_case(s, "single ")); s += 7) {
        const char *of = s + 7;
        if (!strncmp(of, "core ", 5)) of += 5;
        if (!strncmp(of, "NVIDIA ", 7)) of += 7;
        if (!strncmp(of, "GPU", 3) || (names_gpu(of) && strstr(of, "GPU"))) return true;
    }
    return is_on_a(line);
}

// "CUDA_VISIBLE_DEVICES=0,1,2 python", DeepSpeed's "--include localhost:0,1,2": of one node.
static void read_visible(struct log *l, const char *line)
{
    static const char *const keys[] = {"CUDA_VISIBLE_DEVICES=", "--include localhost:"};
    const char *key = strstr(line, keys[1]) ? keys[1] : keys[0], *at = strstr(line, key);
    size_t length = at ? strspn(at + strlen(key), "0123456789,") : 0;
    int count = 1;
    if (!length || told(l, TOLD_GPUS_PER_NODE)) return;
    for (size_t i = 0; i < length; i++) count += at[strlen(key) + i] == ',';
    tell_count(l, TOLD_GPUS_PER_NODE, BY_WORDS, "CUDA_VISIBLE_DEVICES", count);
}

// "on 32 GPUs": no GPU need be named for that.
static bool follows_word(const char *line, const char *number)
{
    static const char *const words[] = {"on ", "with ", "using ", "use "};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(number - line) >= length && !strncmp(number - length, words[i], length))
            return true;
    }
    return false;
}

// "Two cards", in Chinese.
static int cards_in_chinese(const char *line)
{
    static const struct {
        const char *word;
        int count;
    } words[] = {{"\xe5\x8d\x95\xe5\x8d\xa1", 1}, {"\xe5\x8f\x8c\xe5\x8d\xa1", 2},
                 {"\xe4\xb8\xa4\xe5\x8d\xa1", 2}, {"\xe4\xb8\xa4\xe5\xbc\xa0", 2}, // of cards
                 {"\xe5\x9b\x9b\xe5\x8d\xa1", 4}, {"\xe5\x85\xab\xe5\x8d\xa1", 8}};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (strstr(line, words[i].word)) return words[i].count;
    return 0;
}

// A row of nvidia-smi's table, "|   7  NVIDIA H100 80GB HBM3   On | ...": the GPU of that index.
static bool read_table_row(struct log *l, const char *line)
{
    double index;
    const char *after;
    if (line[0] != '|' || line[1] != ' ' || !number_at(line + 1, &index, &after)) return false;
    if (*after != ' ' || index > 15) return false;
    if (strstr(after, "NVIDIA ") || strstr(after, "Tesla ") || strstr(after, "GeForce "))
        tell_count(l, TOLD_GPUS_PER_NODE, BY_COMMON, "nvidia-smi's table", (int64_t)index + 1);
    return true;
}

// "4 * 8 H100", behind its first number: the second one; 0: it is no product.
static int64_t second_factor(const char *s)
{
    double factor;
    s += strspn(s, " ");
    if (*s != '*' && *s != 'x') return 0;
    s += 1 + strspn(s + 1, " ");
    if (!isdigit((unsigned char)*s) || !number_at(s, &factor, &s) || *s != ' ') return 0;
    s += strspn(s, " ");
    bool gpus = names_gpu(s) || !strncasecmp(s, "gpus", 4);
    return gpus && factor >= 1 && factor <= 65536 ? (int64_t)factor : 0;
}

// "8xA100", "A100 80G*8", "8 GPUs", "8-V100", "single A100": only where a GPU is named.
static void read_gpus(struct log *l, const char *line)
{
    double count;
    if (read_table_row(l, line) || told(l, TOLD_NUM_GPUS)) return;
    int cards = is_single(line) ? 1 : cards_in_chinese(line);
    if (cards) {
        tell_count(l, TOLD_NUM_GPUS, BY_WORDS, "a number of GPUs, in words", cards);
        return;
    }
    for (const char *s = line; *s; s++) {
        if (!isdigit((unsigned char)*s)) continue;
        const char *begin = s;
        if (!number_at(s, &count, &s)) continue;
        const char *unit = s + strspn(s, " ");
        count *= (double)larger(second_factor(s), 1);
        if (!strncmp(unit, "of ", 3)) unit += 3;
        if (!strncasecmp(unit, "nvidia ", 7)) unit += 7;
        bool many = count >= 1 && count <= 65536 &&
                    (begin == line || !isalpha((unsigned char)begin[-1]));
        bool whole = !strncmp(unit, "-GPU ", 5) && count > 1 && at_border(line, begin);
        if (many && whole) { // "the 256-GPU recipes", "an 8-GPU node"
            bool node = !strncmp(unit + 5, "node", 4) || !strncmp(unit + 5, "server", 6);
            tell_count(l, node ? TOLD_GPUS_PER_NODE : TOLD_NUM_GPUS, BY_WORDS,
                       "a number of GPUs, in words", (int64_t)count);
            return;
        }
        bool named = !strncasecmp(unit, "gpus", 4) || !strncmp(unit, "GPUs", 4) ||
                     !strncmp(unit, "\xe5\x8d\xa1", 3);
        const char *of = unit + (*unit == '\xc3' ? 2 : 1);
        bool times = (*unit == 'x' || *unit == '*' || !strncmp(unit, "\xc3\x97", 2)) && *of &&
                     (strchr("AHVBLMR34T ", *of) || names_gpu(of)) && told(l, TOLD_GPU);
        const char *sign = begin;
        while (sign > line && sign[-1] == ' ') sign--;
        bool behind = sign > line + 1 && strchr("*xX", sign[-1]) && told(l, TOLD_GPU) &&
                      (sign[-1] == '*' || sign[-2] == ' ') && !isalnum((unsigned char)*s) &&
                      s[strspn(s, " ")] != '='; // "12*7 = 84"
        bool of_node = is_of_node(l, line, begin);
        bool card = !strncmp(unit, "3090", 4) || !strncmp(unit, "4090", 4),
             before = *s == ' ' && told(l, TOLD_GPU) && (card || names_gpu(unit));
        bool used = named && (follows_word(line, begin) || !strncasecmp(unit + 4, " total", 6));
        if (many && (named || times || behind || before) &&
            (used || l->told[TOLD_GPU].line == l->lines)) {
            tell_count(l, of_node ? TOLD_GPUS_PER_NODE : TOLD_NUM_GPUS, BY_WORDS,
                       "a number of GPUs, in words", (int64_t)count);
            return;
        }
        s--;
    }
}

// "TPS ~6.5k; memory 40.15GiB-47.65GiB"
static void read_titan_words(struct log *l, const char *line)
{
    const char *at = strstr(line, "TPS"), *after;
    double value;
    if (!at || l->series[MEASURED_TOKENS].seen) return;
    at += 3 + strspn(at + 3, " ~:=");
    if (!number_at(at, &value, &after)) return;
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
    bool narrow = strstr(line, "MXFP8") && !find_in_any_case(line, "bf16");
    if (narrow) tell(l, TOLD_PRECISION, BY_WORDS, "in words", "fp8", 3);
    if (narrow) tell(l, TOLD_FP8_RECIPE, BY_WORDS, "in words", "mxfp8", 5);
}

// "OOM" as a word, in any case ("zoom" is none); "out of memory".
static bool names_failure(const char *line)
{
    for (const char *at = line; (at = find_in_any_case(at, "oom")); at += 3)
        if (at_border(line, at) && !isalpha((unsigned char)at[3])) return true;
    return find_in_any_case(line, "out of memory") != NULL;
}

static void read_prose(struct log *l, const char *line)
{
    static const struct count_words counts[] = {{"batch size", TOLD_MICRO_BATCH},
                                                {"GPU number:", TOLD_GPUS_PER_NODE},
                                                {"Seq.Len=", TOLD_SEQ},
                                                {"seq len is", TOLD_SEQ},
                                                {"seq len", TOLD_SEQ},
                                                {"sequence length", TOLD_SEQ},
                                                {"max length", TOLD_SEQ},
                                                {"model parallelism degree", TOLD_TP},
                                                {"model parallel of", TOLD_TP},
                                                {"tensor parallelism degree", TOLD_TP},
                                                {"pipeline parallelism degree", TOLD_PP},
                                                {"grad accum", TOLD_ACCUMULATION},
                                                {"radient accumulation:", TOLD_ACCUMULATION}};
    tell_counts(l, line, BY_WORDS, "in words", counts, ARRAY_LENGTH(counts));
    read_quoted(l, line);
    if (strstr(line, "HybridEP")) tell(l, TOLD_DISPATCHER, BY_WORDS, "HybridEP", "hybridep", 8);
    if (strstr(line, "DeepEP")) tell(l, TOLD_DISPATCHER, BY_WORDS, "DeepEP", "deepep", 6);
    if (strstr(line, "Transformer Engine CUDA graphs"))
        tell(l, TOLD_GRAPHS, BY_WORDS, "CUDA graphs", "parts", 5);
    const char *offload = find_in_any_case(line, "offload");
    if (offload && offload[7] != '_' && !strstr(line, "...") && !strchr(line, '?')) {
        bool other = strstr(line, "OOM") || l->mentions_failure; // what helped, not what failed
        if (!other) tell(l, TOLD_OFFLOAD, BY_WORDS, "offload, in words", "1", 1);
    }
    const char *compile = strstr(line, "with compile"), *torch = strstr(line, "with torch.compile");
    if (torch || (compile && !isalpha((unsigned char)compile[12])))
        tell(l, TOLD_COMPILED, BY_WORDS, "in words", "1", 1);
    read_titan_words(l, line);
    if (names_failure(line) && !find_in_any_case(line, "no OOM")) l->mentions_failure = true;
    if (strstr(line, "it ran") || strstr(line, "it runs") || strstr(line, "works"))
        l->runs_elsewhere = true;
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
    static const char *const theirs[] = {"readme", "paper", "table", "blog", "report"};
    static const char *const advice[] = {"use ", "try ", "please ", "you can ", "you should "};
    const char *your = strstr(line, "your ");
    for (size_t i = 0; your && i < ARRAY_LENGTH(theirs); i++)
        if (!strncasecmp(your + 5, theirs[i], strlen(theirs[i]))) return true;
    for (size_t i = 0; i < ARRAY_LENGTH(advice); i++)
        if (!strncasecmp(line, advice[i], strlen(advice[i]))) return true;
    return false;
}

void log_words(struct log *l, const char *line)
{
    if (log_is_of_others(line)) return;
    read_shorts(l, line);
    read_shell_degree(l, line);
    read_zero(l, line);
    read_gpus(l, line);
    read_visible(l, line);
    read_prose(l, line);
}
