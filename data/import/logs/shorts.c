// What prose and names of runs state in short words: "tp4_pp2", "TP1/PP1/CP1, DP16, GBS/MBS
// 1024/1", "FSDP=8", "MBS 2".

#include "data/import/logs/internal.h"

enum { SHORT_MOST = 32 };

static const struct {
    const char *word;
    enum told told;
    bool behind; // the number may be before the word as well: "2mbs"
} shorts[] = {{"tp", TOLD_TP, false},           {"pp", TOLD_PP, false},
              {"cp", TOLD_CP, false},           {"dp", TOLD_DP, false},
              {"ep", TOLD_EP, false},           {"etp", TOLD_ETP, false},
              {"fsdp", TOLD_DP, false},         {"vp", TOLD_VPP, false},
              {"vpp", TOLD_VPP, false},         {"mbs", TOLD_MICRO_BATCH, true},
              {"mb", TOLD_MICRO_BATCH, false},  {"gbs", TOLD_GLOBAL_BATCH, true},
              {"gb", TOLD_GLOBAL_BATCH, false}, {"seq", TOLD_SEQ, false},
              {"nl", TOLD_LAYERS, false},       {"hs", TOLD_HIDDEN, false},
              {"stage", TOLD_ZERO, false},      {"nodes", TOLD_NODES, true},
              {"gpus", TOLD_NUM_GPUS, true},    {"gpu", TOLD_NUM_GPUS, true}};

static const char *const precisions[] = {"bf16", "fp16", "fp8"};

// The row of so many letters, in any case; the number of rows: none.
static size_t row_of(const char *word, size_t letters)
{
    size_t row = 0;
    while (row < ARRAY_LENGTH(shorts) && (strlen(shorts[row].word) != letters ||
                                          strncasecmp(word, shorts[row].word, letters) != 0))
        row++;
    return row;
}

struct short_words {
    struct {
        int row;
        int64_t value;
    } items[SHORT_MOST];
    int count;
};

static void put_short(struct short_words *w, size_t row, int64_t value)
{
    w->items[w->count].row = (int)row;
    w->items[w->count++].value = value;
}

// Behind digits: "1,024", "16/32", "2-4", and the first of "GBS/MBS 1024/2".
static bool goes_on(const char *end)
{
    return *end && strchr(",./-", *end) && isdigit((unsigned char)end[1]);
}

// "MBS 2": a short in capitals with its number behind a blank; NULL: it is none.
static const char *number_apart(const char *word, size_t letters)
{
    const char *number = word + letters + 1, *end = number;
    if (letters < 2 || word[letters] != ' ' || !isdigit((unsigned char)*number)) return NULL;
    for (size_t i = 0; i < letters; i++)
        if (!isupper((unsigned char)word[i])) return NULL;
    while (isdigit((unsigned char)*end)) end++;
    bool part = isalnum((unsigned char)*end) || goes_on(end);
    return part || !strncmp(word, "GB ", 3) ? NULL : number;
}

// "FSDP2" is PyTorch's second version, not of two ranks.
static bool is_version(const char *word, const char *number, int64_t value)
{
    return !strncasecmp(word, "fsdp", 4) && number == word + 4 && value <= 2;
}

// One word at s, "tp4", "TP=4", "MBS 2" or "2mbs"; returns what is behind it.
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
        if (isalpha((unsigned char)*end) || goes_on(end)) return end;
    }
    const char *apart = !first && word + letters == end ? number_apart(word, letters) : NULL;
    if (apart) number = apart, end = apart + strspn(apart, "0123456789");
    size_t length = strspn(number, "0123456789");
    if (!letters || !length || length > 7 || !at_border(line, s) || w->count == SHORT_MOST ||
        (first ? word + letters : number + length) != end)
        return end > s ? end : s + 1;
    int64_t value = 0;
    for (size_t i = 0; i < length; i++) value = 10 * value + (number[i] - '0');
    size_t row = row_of(word, letters);
    if (row < ARRAY_LENGTH(shorts) && (!first || shorts[row].behind) &&
        !is_version(word, number, value))
        put_short(w, row, value);
    return end;
}

// "..._seq4096_pp1_tp2_fp16"
static void read_name_precision(struct log *l, const char *line)
{
    const char *scaled = strstr(line, "mxfp8_");
    if (scaled && at_border(line, scaled)) {
        tell(l, TOLD_PRECISION, BY_WORDS, "a run's name", "fp8", 3);
        tell(l, TOLD_FP8_RECIPE, BY_WORDS, "a run's name", "mxfp8", 5);
    }
    for (size_t i = 0; i < ARRAY_LENGTH(precisions); i++)
        for (const char *at = line; (at = find_in_any_case(at, precisions[i])); at++) {
            size_t length = strlen(precisions[i]);
            if (at_border(line, at) && !isalnum((unsigned char)at[length]))
                tell(l, TOLD_PRECISION, BY_WORDS, "a run's name", precisions[i], length);
        }
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

// "TP1EP8PP2": returns its end; NULL: it is none.
static const char *read_joined(struct short_words *w, const char *s)
{
    struct short_words found = *w;
    for (int count = 0;; count++) {
        size_t letters = 0;
        double value;
        while (isupper((unsigned char)s[letters])) letters++;
        size_t row = row_of(s, letters);
        bool is_one = letters && row < ARRAY_LENGTH(shorts) && found.count < SHORT_MOST &&
                      isdigit((unsigned char)s[letters]) && number_at(s + letters, &value, &s);
        if (!is_one && (count < 2 || isalnum((unsigned char)*s))) return NULL;
        if (!is_one) return *w = found, s;
        put_short(&found, row, (int64_t)value);
    }
}

// "- FSDP8, EP1, PP1": an item of a list that holds nothing else is a setting, not prose.
static bool is_item(const char *line, int count)
{
    int pieces = 1;
    if ((*line != '-' && *line != '*') || line[1] != ' ') return false;
    for (const char *s = line; *s; s++) pieces += *s == ',';
    for (size_t i = 0; i < ARRAY_LENGTH(precisions); i++)
        pieces -= find_in_any_case(line, precisions[i]) != NULL;
    return count > 0 && pieces == count;
}

static bool has_short(const struct short_words *w, enum told what)
{
    for (int i = 0; i < w->count; i++)
        if (shorts[w->items[i].row].told == what) return true;
    return false;
}

static void tell_shorts(struct log *l, const struct short_words *w, enum told_by by)
{
    for (int i = 0; i < w->count; i++) {
        const char *word = shorts[w->items[i].row].word;
        enum told what = shorts[w->items[i].row].told;
        int64_t value = w->items[i].value;
        bool gpu = !strcmp(word, "gb") && (value == 200 || value == 300),
             shards = !strcmp(word, "fsdp");
        if (gpu || is_stated_twice(w, i) || (value < 1 && what != TOLD_ZERO)) continue;
        tell_count(l, what, by, shards ? OF_SHARDS : "short words of a line", value);
        if (shards) tell(l, TOLD_ZERO, BY_WORDS, "FSDP, in words", "3", 1);
    }
}

// Two degrees in one line are no accident.
static void read_shorts(struct log *l, const char *line)
{
    struct short_words w = {.count = 0};
    int degrees = 0;
    if (!has_digit(line) || strstr(line, ".whl")) return; // "cp39-cp39": of Python
    for (const char *s = line; *s;)
        if (isalnum((unsigned char)*s)) {
            const char *end = at_border(line, s) ? read_joined(&w, s) : NULL;
            s = end ? end : read_short(&w, line, s);
        } else s++;
    for (int i = 0; i < w.count; i++)
        degrees += shorts[w.items[i].row].told >= TOLD_TP &&
                   shorts[w.items[i].row].told <= TOLD_VPP;
    // No other word is written so: "TP=2", "FSDP=8"; a shell's variable is another's.
    for (const char *at = line; (at = strstr(at, "P=")); at++)
        if (at > line && strchr("DTPEC", at[-1]) && isdigit((unsigned char)at[2]))
            degrees += at_border(line, at - 1) ? 1 + !strstr(line, "export ")
                                               : at - line > 2 && at[-2] == 'S';
    for (const char *at = line; (at = strstr(at, "GBS=")); at++)
        if (at_border(line, at)) degrees += 2;
    if (has_short(&w, TOLD_MICRO_BATCH) && has_short(&w, TOLD_GLOBAL_BATCH)) degrees += 2;
    bool item = is_item(line, w.count);
    if (degrees > 1 || item) {
        tell_shorts(l, &w, item ? BY_COMMON : BY_WORDS);
        read_name_precision(l, line);
    }
    double micro;
    if (number_after(line, "-way gradient accumulation", &micro, NULL)) return;
    const char *way = strstr(line, "-way gradient accumulation");
    if (!way) way = strstr(line, " gradient-accumulation steps");
    if (!way) return;
    while (way > line && isdigit((unsigned char)way[-1])) way--;
    if (number_at(way, &micro, NULL) && micro >= 1)
        tell_count(l, TOLD_ACCUMULATION, BY_WORDS, "gradient accumulation", (int64_t)micro);
}

// "GBS/MBS 1024/1", perhaps with a line's end between.
static void read_batches(struct log *l, const char *line)
{
    static const char words[] = "GBS/MBS";
    double global, micro;
    bool ended = l->reader->batches_follow;
    const char *at = strstr(line, words), *after;
    l->reader->batches_follow = at && !at[sizeof words - 1];
    at = ended ? line : at ? at + sizeof words - 1 : NULL;
    if (!at || !number_at(at, &global, &after) || *after != '/' ||
        !number_at(after + 1, &micro, NULL))
        return;
    tell_count(l, TOLD_GLOBAL_BATCH, BY_WORDS, words, (int64_t)global);
    tell_count(l, TOLD_MICRO_BATCH, BY_WORDS, words, (int64_t)micro);
}

void log_shorts(struct log *l, const char *line)
{
    read_shorts(l, line);
    read_batches(l, line);
    read_shell_degree(l, line);
}
