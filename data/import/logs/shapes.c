// Shapes and sizes of models in words: "32 layers, hidden size of 4096", "L=24, H=1024, A=16",
// "4096/16/50 (hidden/heads/layers)". Layers and width in one line are no accident; a line that
// says one of them twice, or of a part of a model, says nothing.

#include "data/import/logs/internal.h"

enum { SHAPE_LINE_MOST = 600, SHAPE_COUNT = TOLD_VOCAB - TOLD_LAYERS + 1 };

struct shape_words {
    int64_t value[SHAPE_COUNT]; // by told, from the layers on; 0: none
    bool unclear;               // two values of one, or one that none has
};

// The longer before the shorter that begins alike.
static const struct shape_word {
    const char *word;
    enum told told;
    bool before; // its number may stand before it: "32 layers"
} shape_words[] = {{"number of attention heads", TOLD_HEADS, false},
                   {"number of hidden layers", TOLD_LAYERS, false},
                   {"number of layers", TOLD_LAYERS, false},
                   {"number of heads", TOLD_HEADS, false},
                   {"num attention heads", TOLD_HEADS, false},
                   {"num hidden layers", TOLD_LAYERS, false},
                   {"num layers", TOLD_LAYERS, false},
                   {"num heads", TOLD_HEADS, false},
                   {"n layers", TOLD_LAYERS, false},
                   {"n heads", TOLD_HEADS, false},
                   {"feed forward dimension", TOLD_FFN, false},
                   {"feed forward size", TOLD_FFN, false},
                   {"intermediate size", TOLD_FFN, false},
                   {"ffn hidden size", TOLD_FFN, false},
                   {"ffn size", TOLD_FFN, false},
                   {"ffn dim", TOLD_FFN, false},
                   {"d ff", TOLD_FFN, false},
                   {"embedding dimension", TOLD_HIDDEN, false},
                   {"embedding dim", TOLD_HIDDEN, false},
                   {"model dimension", TOLD_HIDDEN, false},
                   {"model dim", TOLD_HIDDEN, false},
                   {"d model", TOLD_HIDDEN, false},
                   {"hidden dimension", TOLD_HIDDEN, false},
                   {"hidden layers", TOLD_LAYERS, true},
                   {"hidden size", TOLD_HIDDEN, false},
                   {"hidden dim", TOLD_HIDDEN, false},
                   {"hidden", TOLD_HIDDEN, true},
                   {"transformer blocks", TOLD_LAYERS, true},
                   {"transformer layers", TOLD_LAYERS, true},
                   {"decoder layers", TOLD_LAYERS, true},
                   {"layers", TOLD_LAYERS, true},
                   {"layer", TOLD_LAYERS, true},
                   {"key value heads", TOLD_KV_HEADS, true},
                   {"kv heads", TOLD_KV_HEADS, true},
                   {"attention heads", TOLD_HEADS, true},
                   {"query heads", TOLD_HEADS, true},
                   {"heads", TOLD_HEADS, true},
                   {"vocabulary size", TOLD_VOCAB, false},
                   {"vocab size", TOLD_VOCAB, false},
                   {"vocabulary", TOLD_VOCAB, false}};

static const struct shape_word *word_at(const char *line, const char *s)
{
    for (size_t i = 0; at_border(line, s) && i < ARRAY_LENGTH(shape_words); i++) {
        size_t length = strlen(shape_words[i].word);
        if (!strncmp(s, shape_words[i].word, length) && !isalnum((unsigned char)s[length]))
            return &shape_words[i];
    }
    return NULL;
}

static void take(struct shape_words *w, enum told what, double value)
{
    int64_t number = (int64_t)value, *to = &w->value[what - TOLD_LAYERS];
    bool few = what == TOLD_LAYERS || what == TOLD_HEADS || what == TOLD_KV_HEADS,
         likely = few ? number >= 1 && number <= 1024
                      : number >= 64 && number <= 4000000 &&
                            (what == TOLD_VOCAB || number % 8 == 0);
    w->unclear |= !likely || (*to && *to != number);
    *to = number;
}

// A whole number, with nothing that goes on behind it ("32k", "1.5", "24%", "4096/16", "12-24").
static bool whole_at(const char *s, double *value, const char **after)
{
    if (!isdigit((unsigned char)*s) || !number_at(s, value, after)) return false;
    const char *end = *after;
    bool goes_on = isalnum((unsigned char)*end) || *end == '%' || *end == '/' ||
                   ((*end == '.' || *end == '-') && isdigit((unsigned char)end[1]));
    return !goes_on && *value < 1e9 && *value == (double)(int64_t)*value;
}

// The number that ends before `word`, behind `from`: "32 layers".
static bool whole_before(const char *from, const char *word, double *value)
{
    const char *after, *s = word;
    if (s == from || s[-1] != ' ') return false;
    for (s--; s > from && (isdigit((unsigned char)s[-1]) || s[-1] == ',');) s--;
    while (*s == ',') s++;
    bool part = s > from && (isalnum((unsigned char)s[-1]) || strchr("./~<>", s[-1]));
    return !part && whole_at(s, value, &after) && after == word - 1;
}

// Behind a word and what joins it to its number: "size of 4096", "layers: 32".
static const char *joined(const char *s)
{
    static const char *const words[] = {"of ", "is ", "was ", "=", ":"};
    s += strspn(s, " ");
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (!strncmp(s, words[i], strlen(words[i]))) {
            s += strlen(words[i]);
            break;
        }
    return s + strspn(s, " ");
}

static void read_words(struct shape_words *w, const char *line)
{
    const char *from = line, *after; // behind the last number that was taken
    double value;
    for (const char *s = line; *s;) {
        const struct shape_word *found = word_at(line, s);
        if (!found) {
            s++;
            continue;
        }
        const char *end = s + strlen(found->word);
        if (found->before && whole_before(from, s, &value)) take(w, found->told, value), from = end;
        else if (whole_at(joined(end), &value, &after) && strcmp(found->word, "layer") != 0)
            take(w, found->told, value), from = end = after;
        s = end;
    }
}

// Letters of papers: all of layers, hidden and attention heads, with their signs.
static void read_letters(struct shape_words *w, const char *line)
{
    static const struct count_words letters[] = {
        {"l=", TOLD_LAYERS}, {"h=", TOLD_HIDDEN}, {"a=", TOLD_HEADS}};
    double value[ARRAY_LENGTH(letters)];
    const char *after;
    size_t found = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(letters); i++)
        for (const char *s = line; (s = strstr(s, letters[i].before)); s++)
            if (at_border(line, s) && whole_at(s + 2, &value[i], &after)) {
                found++;
                break;
            }
    for (size_t i = 0; found == ARRAY_LENGTH(letters) && i < found; i++)
        take(w, letters[i].told, value[i]);
}

// "4096/16/50/8 (hidden/heads/layers/batch)": numbers with as many words.
static void read_legend(struct shape_words *w, const char *line)
{
    enum { MOST = 8 };
    double numbers[MOST];
    enum told words[MOST];
    int number_count = 0, word_count = 0;
    for (const char *s = line; *s; s++) {
        if (!at_border(line, s) || (s > line && s[-1] == '/')) continue;
        int count = 0, named = 0;
        double value[MOST];
        enum told told[MOST];
        const char *at = s, *end = s;
        for (; count < MOST && isdigit((unsigned char)*at) && number_at(at, &value[count], &end);
             at = end + 1)
            if (count++, *end != '/') break;
        if (count > 2 && !isalnum((unsigned char)*end)) {
            if (number_count) return; // of two
            number_count = count, memcpy(numbers, value, sizeof value), s = end - 1;
            continue;
        }
        for (count = 0, at = s; count < MOST && isalpha((unsigned char)*at); at = end + 1) {
            end = at + strcspn(at, "/()[],:;=");
            const struct shape_word *word = word_at(at, at);
            bool whole = word && strlen(word->word) == (size_t)(end - at);
            told[count++] = whole ? word->told : TOLD_COUNT, named += whole;
            if (*end != '/') break;
        }
        if (count > 2 && named > 1)
            word_count = count, memcpy(words, told, sizeof told), s = end - 1;
    }
    for (int i = 0; number_count == word_count && i < word_count; i++)
        if (words[i] != TOLD_COUNT) take(w, words[i], numbers[i]);
}

// Lines of which the numbers are not those of the whole model that is trained.
static bool is_of_part(const char *line)
{
    static const char *const words[] = {
        "per gpu", "per stage", "per rank", "each",   "first", "last",        "froz",
        "freez",   "only",      "instead",  "expert", "moe",   "draft",       "teacher",
        "vision",  "encoder",   "student",  "tower",  "reduc", "remov",       "every",
        "lora",    "adapter",   "probe",    "if ",    "would", "for example", "e.g.",
        "works",   "mamba",     "critic",   "reward", NULL};
    return has_one_of(line, words);
}

void log_shapes(struct log *l, const char *words)
{
    struct shape_words w = {.unclear = false};
    char line[SHAPE_LINE_MOST + 1];
    size_t length = 0;
    bool may = find_in_any_case(words, "layer") || find_in_any_case(words, "h=") ||
               find_in_any_case(words, "blocks");
    if (!may || !has_digit(words) || l->reader->shaped || words[strspn(words, " ")] == '|') return;
    for (; words[length] && length < SHAPE_LINE_MOST; length++) {
        char c = words[length];
        bool joins = c == '_' || c == '*' ||
                     (c == '-' && isalpha((unsigned char)words[length + 1]));
        line[length] = (char)(joins ? ' ' : tolower((unsigned char)c));
    }
    line[length] = '\0';
    if (words[length] || is_of_part(line)) return;
    read_words(&w, line), read_letters(&w, line), read_legend(&w, line);
    if (w.unclear || !w.value[0] || !w.value[TOLD_HIDDEN - TOLD_LAYERS]) return;
    for (int i = 0; i < SHAPE_COUNT; i++)
        if (w.value[i]) tell_count(l, (enum told)(TOLD_LAYERS + i), BY_WORDS, OF_SHAPE, w.value[i]);
}

// Names that end with no size (their makers' pages), in 1e9 parameters.
static double size_of_name(const char *line)
{
    static const struct {
        const char *name;
        double size;
    } names[] = {{"gpt-j", 6.05},      {"gptj", 6.05},      {"flan-t5-xxl", 11.3},
                 {"flan-t5-xl", 2.85}, {"phi-4-mini", 3.8}, {"phi-4", 14.7},
                 {"phi-3-mini", 3.8},  {"phi-3.5", 3.8},    {"phi-3-medium", 14},
                 {"phi-1.5", 1.4},     {"command-r", 35},   {"openchat", 7.24},
                 {"starcoder", 15.5},  {"dbrx", 132},       {"jamba", 52}};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *at = find_in_any_case(line, names[i].name);
        bool ends = at && at_border(line, at) && !isalnum((unsigned char)at[strlen(names[i].name)]);
        if (ends) return names[i].size * 1e9;
    }
    return 0;
}

// "1_8B", "1b7": the point of a name's size.
static bool joined_size(const char *s, double *value, const char **after)
{
    const char *second = s + strspn(s, "0123456789"), *end = second;
    bool joins = (*second == '_' || (*second | 32) == 'b') && isdigit((unsigned char)second[1]);
    if (!joins || second != s + 1) return false;
    for (end++; isdigit((unsigned char)*end);) end++;
    if (end != second + 2 || (*second == '_' && (*end | 32) != 'b')) return false;
    if (isalnum((unsigned char)end[*second == '_'])) return false;
    *value = (*s - '0') + 0.1 * (second[1] - '0');
    *after = *second == '_' ? end : second;
    return true;
}

// "the 20B model", "gpt2(2.6B)", "8 billion", "Model params: 6.28 B": how large one is that nothing
// names; not how many tokens, and no "8bit".
void log_size(struct log *l, const char *line)
{
    const char *after, *s = line, *params = find_in_any_case(line, "params");
    double value;
    if (!(l->size_in_words > 0)) l->size_in_words = size_of_name(line);
    for (; !(l->size_in_words > 0) && *s; s++) {
        // "prover7B" ends a name, "8x7B" and "A3B" do not
        bool ends = s - line > 3 && isalpha((unsigned char)s[-1]) &&
                    isalpha((unsigned char)s[-2]) && isalpha((unsigned char)s[-3]);
        if (!isdigit((unsigned char)*s) || !(at_border(line, s) || ends) ||
            (s > line && s[-1] == '.') || !number_at(s, &value, &after))
            continue;
        if (joined_size(s, &value, &after)) {
            l->size_in_words = value * 1e9;
            return;
        }
        const char *unit = after + strspn(after, " ");
        bool billion = !strncasecmp(unit, "billion", 7), apart = unit > after,
             letter = (*unit == 'B' || *unit == 'b') && !isalnum((unsigned char)unit[1]) &&
                      (!apart || (params && params < s));
        const char *of = unit + (billion ? 7 : 1);
        of += strspn(of, " -");
        if ((billion || letter) && value >= 0.1 && value < 3000 && strncasecmp(of, "token", 5) != 0)
            l->size_in_words = value * 1e9;
        s = after - 1;
    }
}
