// GPUs that a line names, and what MLPerf's names of its benchmarks say. The more often named one
// counts.
#include <stdlib.h>

#include "data/import/logs/internal.h"

// ---- GPUs

bool names_gpu(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length])) length++;
    return length > 1 && isalpha((unsigned char)*text) && gpu_at(text, length) >= 0;
}

// Cards of two words.
static void find_phrase(struct log *l, const char *line)
{
    static const struct {
        const char *words, *gpu;
    } phrases[] = {{"titan rtx", "titan-rtx"},  {"rtx 6000 ada", "rtx6000ada"},
                   {"a6000 ada", "rtx6000ada"}, {"rtx6000 ada", "rtx6000ada"},
                   {"rtx 6000", "rtx6000"},     {"rtx 8000", "rtx8000"},
                   {"7900 xtx", "rx7900xtx"},   {"2080 ti", "rtx2080ti"}};
    for (size_t i = 0; i < ARRAY_LENGTH(phrases) && !told(l, TOLD_GPU); i++)
        if (find_in_any_case(line, phrases[i].words))
            tell(l, TOLD_GPU, BY_WORDS, "a line that names it", phrases[i].gpu,
                 strlen(phrases[i].gpu));
}

enum { GB_NEAR = 24, GB_BEFORE = 8 };

// "80GB", "80G" behind the name.
static int stated_gb(const char *line, const char *end)
{
    static const int sizes[] = {80, 40, 32, 16, 24, 48, 96, 141, 180, 192, 12, 20, 64, 22};
    for (const char *s = line; *s && s < end; s++) {
        bool inside = s > line && isalnum((unsigned char)s[-1]) && s[-1] != 'x' && s[-1] != 'X';
        if (!isdigit((unsigned char)*s) || inside) continue;
        int number = 0, digits = 0;
        for (; isdigit((unsigned char)s[digits]) && digits < 4; digits++)
            number = 10 * number + (s[digits] - '0');
        const char *unit = s + digits;
        unit += strspn(unit, " -");
        if (strncasecmp(s - (s - line < 9 ? s - line : 9), "total of ", 9) == 0) return 0; // of all
        bool gb = (*unit == 'G' || *unit == 'g') &&
                  (((unit[1] == 'B' || unit[1] == 'b') && !isalnum((unsigned char)unit[2])) ||
                   !isalnum((unsigned char)unit[1]) ||
                   (unit[1] == 'x' && isdigit((unsigned char)unit[2]))); // "A100-80Gx8"
        for (size_t i = 0; gb && i < ARRAY_LENGTH(sizes); i++)
            if (sizes[i] == number) return number;
        s += digits - 1;
    }
    return 0;
}

// The end of the word at s: its letters and digits, up to an x that multiplies ("V100x32G",
// "XE9680Lx8B200").
static const char *end_of_word(const char *s)
{
    const char *word = s;
    size_t digits = strspn(s, "0123456789");
    if (digits == 4 && (!strncmp(s + 4, "lora", 4) || !strncmp(s + 4, "qlora", 5)))
        return s + 4; // "4090lora"
    for (; isalnum((unsigned char)*s); s++)
        if ((*s == 'x' || *s == 'X') && s > word + 1 && isdigit((unsigned char)s[1]) &&
            (isdigit((unsigned char)s[-1]) || names_gpu(s + 1 + strspn(s + 1, "0123456789"))))
            return s;
    return s;
}

bool names_card(const char *text)
{
    size_t length = (size_t)(end_of_word(text) - text);
    return length > 3 && isdigit((unsigned char)*text) ? gpu_at(text, length) >= 0
                                                       : names_gpu(text);
}

// Programs that GB300 runs name its architecture by GB200's, and none does the opposite.
static bool is_surer(const char *before, const char *gpu)
{
    return strncmp(before, "gb300", 5) != 0 || strcmp(gpu, "gb200") != 0;
}

// "80GB A100": before it.
static int stated_gb_before(const char *line, const char *word)
{
    const char *from = word - line > GB_BEFORE ? word - GB_BEFORE : line, *glued = word;
    if (glued > line && (glued[-1] | 32) == 'g') // "32GV100"
        for (glued--; glued > line && isdigit((unsigned char)glued[-1]);) glued--;
    if (word - glued > 2) return atoi(glued);
    while (from > line && from < word && isalnum((unsigned char)from[-1])) from++;
    const char *unit = word;
    while (unit > from && unit[-1] == ' ') unit--;
    return unit > from && strchr("GgBb", unit[-1]) ? stated_gb(from, word) : 0;
}

static bool is_counted(const char *line, const char *word);

// Where a size is another one's: "2xA6000 vs 2xA100 80GB".
static const char *end_of_its_size(const char *s, const char *end)
{
    for (; *s && s < end; s++)
        if ((!isalnum((unsigned char)s[-1]) || s[-1] == 'x') && names_gpu(s)) return s;
    return end;
}

// "on a 4090", "8 x 4090"; "4 cards of 4090", in Chinese.
static bool follows_card(const char *line, const char *word)
{
    bool times = word > line && strchr("xX* ", word[-1]) &&
                 (word[-1] != ' ' || (word > line + 1 && strchr("xX*", word[-2])));
    if (times && is_counted(line, word)) return true;
    static const char *const before[] = {"on a ", "single ", "gpus (", "GPUs (", "GPU: 1x"};
    for (size_t i = 0; i < ARRAY_LENGTH(before); i++) {
        size_t length = strlen(before[i]);
        if ((size_t)(word - line) >= length && !strncmp(word - length, before[i], length))
            return true;
    }
    const char *size = word + 4 + strspn(word + 4, " -");
    size_t digits = strspn(size, "0123456789"); // "3090 24G"
    if (digits == 2 && (size[2] == 'G' || size[2] == 'g') && size > word + 4) return true;
    return word - line >= 3 &&
           (!strncmp(word - 3, "\xe5\x8d\xa1", 3) || !strncmp(word - 3, "\xe5\xbc\xa0", 3));
}

// "With 4 GB200": how many there are says more than a name, and that more than a part of a module's
// or a file's.
enum { PART_HITS = 1, NAME_HITS = 2, COUNTED_HITS = 6 };

static int hits_of(const char *line, const char *word, size_t length)
{
    bool part = (word > line && strchr("_./", word[-1])) || word[length] == '_';
    return is_counted(line, word) ? COUNTED_HITS : part ? PART_HITS : NAME_HITS;
}

static bool is_counted(const char *line, const char *word)
{
    const char *s = word;
    if (s > line && s[-1] == ' ') s--;
    else if (s > line && strchr("xX*", s[-1])) s--;
    else return false;
    if (s > line + 1 && strchr("xX*", s[-1]) && s[-2] == ' ') s -= 2; // "8 x 4090"
    if (s == line || !isdigit((unsigned char)s[-1])) return false;
    while (s > line && isdigit((unsigned char)s[-1])) s--;
    return s == line || strchr(" (~", s[-1]) || (unsigned char)s[-1] > 127; // Chinese
}

static void find_gpu(struct log *l, const char *line)
{
    if (l->told[TOLD_GPU].by > BY_WORDS) return;
    for (const char *s = line; *s;) {
        if (!isalnum((unsigned char)*s)) {
            s++;
            continue;
        }
        // "XE8640x4H100"
        if (*s == 'x' && s > line && isalnum((unsigned char)s[-1]) && isdigit((unsigned char)s[1]))
            s++;
        const char *word = s;
        size_t count = strspn(s, "0123456789");
        if (count && names_gpu(s + count)) word = s + count;
        else if (count && (s[count] == 'G' || s[count] == 'g') && names_gpu(s + count + 1))
            word = s + count + 1; // "32GV100"
        else if (count && (s[count] == 'x' || s[count] == 'X') &&
                 isalpha((unsigned char)s[count + 1]))
            word = s + count + 1; // "8xA100"
        else if (count && (s[count] == 'x' || s[count] == 'X') &&
                 names_gpu(s + count + 1 + strspn(s + count + 1, "0123456789")))
            word = s + count + 1 + strspn(s + count + 1, "0123456789"); // "8x8H800"
        s = end_of_word(word);
        size_t length = (size_t)(s - word);
        bool wide = length > 5 && isdigit((unsigned char)word[length - 3]); // "2080Ti"
        if (length < 2 || length > 9 ||
            (!wide && !isdigit((unsigned char)word[length - (length > 2 ? 2 : 1)])))
            continue;
        int found = gpu_at(word, length);
        // "3090": of a card, not a number
        bool bare = found >= 0 && isdigit((unsigned char)*word) && *gpu_name(found) == 'r' &&
                    !follows_card(line, word);
        if (found < 0 || (bare && !strstr(line, "RTX") && !find_in_any_case(line, "x3090") &&
                          !find_in_any_case(line, "x4090") && !find_in_any_case(line, "geforce") &&
                          !find_in_any_case(line, "nvidia")))
            continue;
        if (strstr(line, "GPU_ARCH") && told(l, TOLD_GPU)) continue; // which GB300 calls gb200
        if (*s == '+') continue;                                     // "H100+": at least
        if (!strncasecmp(s, " ada", 4) && !isalnum((unsigned char)s[4])) continue; // find_phrase's
        if (word - line >= 8 && !strncmp(word - 8, "without ", 8)) continue;
        int64_t most = 0;
        for (int i = 0; i < GPUS_MOST; i++)
            if (l->reader->gpu_hits[i] > most) most = l->reader->gpu_hits[i];
        const char *before = l->told[TOLD_GPU].text;
        bool surer = is_surer(before, gpu_name(found));
        if (surer) l->reader->gpu_hits[found] += hits_of(line, word, length);
        bool taken = surer && l->reader->gpu_hits[found] > most,
             other = *before && strncmp(before, gpu_name(found), strlen(gpu_name(found))) != 0;
        if (other) snprintf(l->other_gpu, TOLD_KEY, "%.40s", taken ? before : gpu_name(found));
        if (!taken) continue;
        int gb = stated_gb(word, end_of_its_size(word + length, word + GB_NEAR));
        if (!gb) gb = stated_gb_before(line, word);
        size_t bare_length = strlen(gpu_name(found)); // a size that was named stays
        if (!gb && !other && before[bare_length] == '-') continue;
        char name[TOLD_KEY];
        if (gb) snprintf(name, sizeof name, "%s-%dgb", gpu_name(found), gb);
        else snprintf(name, sizeof name, "%s", gpu_name(found));
        l->told[TOLD_GPU].by = BY_NONE;
        tell(l, TOLD_GPU, BY_WORDS, "a line that names it", name, strlen(name));
    }
}

void log_gpu_of_program(struct log *l, const char *text)
{
    struct told_value *gpu = &l->told[TOLD_GPU], before = *gpu;
    if (before.by > BY_WORDS) return;
    memset(l->reader->gpu_hits, 0, sizeof l->reader->gpu_hits);
    gpu->by = BY_NONE, *gpu->text = '\0';
    find_gpu(l, text);
    find_phrase(l, text);
    if (gpu->by == BY_NONE) *gpu = before;
    else gpu->by = BY_PROGRAM;
}

void log_names(struct log *l, const char *line)
{
    find_gpu(l, line);
    find_phrase(l, line);
    log_models(l, line);
    if (strstr(line, "submission_benchmark")) { // MLPerf's names of its own
        if (strstr(line, "\"gpt3\""))
            tell(l, TOLD_MODEL, BY_PROGRAM, "submission_benchmark", "gpt3-175b", 9);
        // The lengths of sequences are the benchmarks' rules (training_policies, 2025).
        if (strstr(line, "\"llama31_405b\"") || strstr(line, "\"llama31_8b\""))
            tell(l, TOLD_SEQ, BY_WORDS, "submission_benchmark", "8192", 4);
    }
    // By the benchmark's rules, wherever the text is MLPerf's.
    bool names = strstr(line, "submission_benchmark") != NULL,
         own = names || l->seen[LOG_MLPERF] || strstr(line, "mlperf") || strstr(line, "config_");
    if (own && strstr(line, names ? "\"llama2_70b_lora\"" : "llama2_70b_lora")) {
        enum told_by by = names ? BY_PROGRAM : BY_WORDS;
        tell(l, TOLD_SEQ, by, "MLPerf's rules", "8192", 4);
        tell(l, TOLD_MODEL, by, "MLPerf's rules", "llama-2-70b", 11);
        tell(l, TOLD_ADAPTERS, by, "MLPerf's rules", "16", 2);
        tell(l, TOLD_ADAPTED, by, "MLPerf's rules", "attention", 9);
    }
}

// Of a text without a date: a run is not older than its model (the month of its weights; classes
// of transformers are not older) or its dispatcher (deepseek-ai/DeepEP, branch hybrid-ep).
void log_conclude_month(struct log *l)
{
    static const struct {
        enum told told;
        const char *begins, *month;
    } months[] = {{TOLD_DISPATCHER, "hybridep", "2025-09"}, {TOLD_MODEL, "gpt-oss", "2025-08"},
                  {TOLD_MODEL, "qwen3", "2025-04"},         {TOLD_MODEL, "deepseek-v3", "2024-12"},
                  {TOLD_MODEL, "qwen2.5", "2024-09"},       {TOLD_MODEL, "llama-3", "2024-04"},
                  {TOLD_MODEL, "mixtral", "2023-12"},       {TOLD_MODEL, "llama-2", "2023-07"}};
    for (size_t i = 0; i < ARRAY_LENGTH(months) && !told(l, TOLD_VERSION); i++)
        if (told(l, months[i].told) &&
            !strncmp(l->told[months[i].told].text, months[i].begins, strlen(months[i].begins)))
            tell(l, TOLD_VERSION, BY_OTHERS, "not before its model or dispatcher", months[i].month,
                 7);
}
