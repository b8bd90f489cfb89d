// Models that a line names: those that are shipped, and shapes of others by their config.json.
#include <stdlib.h>

#include "data/base/shipped.h"
#include "data/import/logs/internal.h"

// Other names of shipped models, without signs.
static const struct {
    const char *name, *shipped;
} also[] = {{"llama3405b", "llama-3.1-405b"},
            {"llama370b", "llama-3.1-70b"},
            {"llama38b", "llama-3.1-8b"},
            {"llama13b", "llama-2-13b"},
            {"qwen3vl32b", "qwen3-32b"},
            {"llama7b", "llama-2-7b"},
            {"llava13b", "llama-2-13b"}, // LLaVA by its language model
            {"llava7b", "llama-2-7b"},
            {"llava1513b", "llama-2-13b"},
            {"llava157b", "llama-2-7b"},
            {"llavav1513b", "llama-2-13b"},
            {"llavav157b", "llama-2-7b"},
            {"llama4scout17b", "llama-4-scout"}, // 17B are active
            {"llama4maverick17b", "llama-4-maverick"},
            {"qwen2vl7b", "qwen2.5-7b"}, // of the same shape
            {"qwen25vl7b", "qwen2.5-7b"},
            {"qwen3vl8b", "qwen3-8b"}, // text_config of their config.json
            {"qwen3vl30ba3b", "qwen3-30b-a3b"},
            {"qwen3vl235ba22b", "qwen3-235b-a22b"},
            {"zephyr7b", "mistral-7b"},
            {"gptneoxtchatbase20b", "gpt-neox-20b"},
            {"mixtral", "mixtral-8x7b"},
            {"qwen3235b", "qwen3-235b-a22b"},
            {"qwen330b", "qwen3-30b-a3b"},
            {"microsoftphi2", "phi-2"},
            // torchtitan's models/deepseek_v3: "16B" has the layers of DeepSeek-V2-Lite
            {"deepseekv316b", "deepseek-v2-lite"},
            {"deepseekr1distillllama8b", "llama-3.1-8b"},
            {"deepseekr1distillllama70b", "llama-3.3-70b"},
            {"deepseekr1distillqwen7b", "qwen2.5-7b"}};

struct log_models {
    struct model_name {
        const char *name, *shipped; // name: as it is found in texts without signs
        size_t length;
        bool fraction; // its size has a point: 1.2b
    } * items;         // the longer before the shorter
    int count;
    bool begins[256];
    bool threes[1 << 12]; // whether the three letters of a place begin a name of either table
};

static unsigned place_of_three(const char *s)
{
    const unsigned char *c = (const unsigned char *)s;
    return c[0] && c[1] ? (c[0] * 1369U + c[1] * 37U + c[2]) & 0xfff : 0;
}

// A shorter one may be a part of anything, unless it ends with a size.
enum { MODEL_NAME_LEAST = 6, SIZED_NAME_LEAST = 5 };

static const char *without_signs(const char *name, struct arena *arena)
{
    char *bare = arena_copy_text(arena, name), *to = bare;
    for (const char *c = name; *c; c++)
        if (isalnum((unsigned char)*c)) *to++ = (char)tolower((unsigned char)*c);
    *to = '\0';
    return bare;
}

static int longer_first(const void *a, const void *b)
{
    const struct model_name *left = a, *right = b;
    if (left->length != right->length) return left->length > right->length ? -1 : 1;
    return strcmp(left->name, right->name);
}

// The size that ends at `end` has a point, "1.3B": without signs it would be another's.
static bool has_fraction(const char *from, const char *end)
{
    if (end == from || (end[-1] != 'b' && end[-1] != 'B')) return false;
    for (end--; end > from && isdigit((unsigned char)end[-1]);) end--;
    return end > from + 1 && end[-1] == '.' && isdigit((unsigned char)end[-2]);
}

static void add_model(struct log_models *to, const char *name, const char *shipped)
{
    size_t length = strlen(name);
    bool sized = length && name[length - 1] == 'b';
    if (length < (sized ? SIZED_NAME_LEAST : MODEL_NAME_LEAST)) return;
    bool fraction = has_fraction(shipped, shipped + strlen(shipped));
    to->items[to->count++] = (struct model_name){name, shipped, length, fraction};
    to->threes[place_of_three(name)] = true;
    to->begins[(unsigned char)*name] = to->begins[toupper((unsigned char)*name)] = true;
}

// Models that are not shipped and whose blocks are as Llama's, or, with learned positions, as
// GPT's: their published config.json.
static const struct unshipped {
    const char *name;
    int layers, hidden, ffn, heads, kv_heads, vocab;
    bool fraction;
    int positions;  // 0: as Llama
    int head_width; // 0: hidden over heads
    bool tied;      // as GPT's are
    bool ungated;   // with layer norms
} unshipped[] = {{"llama33b", 60, 6656, 17920, 52, 52, 32000},
                 {"llama30b", 60, 6656, 17920, 52, 52, 32000},
                 {"llama65b", 80, 8192, 22016, 64, 64, 32000},
                 {"codellama34b", 48, 8192, 22016, 64, 8, 32000},
                 {"codellama13b", 40, 5120, 13824, 40, 40, 32016},
                 {"codellama7b", 32, 4096, 11008, 32, 32, 32016},
                 {"vicuna13b", 40, 5120, 13824, 40, 40, 32000},
                 {"vicuna7b", 32, 4096, 11008, 32, 32, 32000},
                 {"alpaca7b", 32, 4096, 11008, 32, 32, 32000},
                 {"baichuan27b", 32, 4096, 11008, 32, 32, 125696},
                 {"baichuan213b", 40, 5120, 13696, 40, 40, 125696},
                 {"baichuan7b", 32, 4096, 11008, 32, 32, 64000},
                 {"baichuan13b", 40, 5120, 13696, 40, 40, 64000},
                 {"yi34b", 60, 7168, 20480, 56, 8, 64000},
                 {"yi6b", 32, 4096, 11008, 32, 4, 64000},
                 {"deepseekcoder33b", 62, 7168, 19200, 56, 8, 32256},
                 {"deepseekcoder67b", 32, 4096, 11008, 32, 32, 32256, true, 0},
                 {"deepseekllm7b", 30, 4096, 11008, 32, 32, 102400},
                 {"deepseekllm67b", 95, 8192, 22016, 64, 8, 102400},
                 {"qwen2514b", 48, 5120, 13824, 40, 8, 152064},
                 {"qwen2532b", 64, 5120, 27648, 40, 8, 152064},
                 {"qwen253b", 36, 2048, 11008, 16, 2, 151936, .tied = true},
                 {"qwen25vl3b", 36, 2048, 11008, 16, 2, 151936, .tied = true},
                 {"gemma2b", 18, 2048, 16384, 8, 1, 256000, .head_width = 256, .tied = true},
                 {"gemma7b", 28, 3072, 24576, 16, 16, 256000, .head_width = 256, .tied = true},
                 {"qwen2515b", 28, 1536, 8960, 12, 2, 151936, true, .tied = true},
                 {"qwen215b", 28, 1536, 8960, 12, 2, 151936, true, .tied = true},
                 {"qwen2505b", 24, 896, 4864, 14, 2, 151936, true, .tied = true},
                 {"qwen205b", 24, 896, 4864, 14, 2, 151936, true, .tied = true},
                 {"qwen2vl72b", 80, 8192, 29568, 64, 8, 152064},
                 {"qwen25vl72b", 80, 8192, 29568, 64, 8, 152064},
                 {"qwen272b", 80, 8192, 29568, 64, 8, 152064},
                 {"qwen27b", 28, 3584, 18944, 28, 4, 152064},
                 {"qwen1514b", 40, 5120, 13696, 40, 40, 152064},
                 {"qwen1532b", 64, 5120, 27392, 40, 8, 152064},
                 {"qwen1572b", 80, 8192, 24576, 64, 64, 152064},
                 {"qwen157b", 32, 4096, 11008, 32, 32, 151936},
                 {"qwen14b", 40, 5120, 13696, 40, 40, 152064},
                 {"qwen7b", 32, 4096, 11008, 32, 32, 151936},
                 {"qwen314b", 40, 5120, 17408, 40, 8, 151936},
                 {"qwen34b", 36, 2560, 9728, 32, 8, 151936, .head_width = 128, .tied = true},
                 {"qwen317b", 28, 2048, 6144, 16, 8, 151936, true, 0, 128, true},
                 {"qwen306b", 28, 1024, 3072, 16, 8, 151936, true, 0, 128, true},
                 {"qwen3vl4b", 36, 2560, 9728, 32, 8, 151936, .head_width = 128, .tied = true},
                 {"qwen3vl2b", 28, 2048, 6144, 16, 8, 151936, .head_width = 128, .tied = true},
                 {"qwen18b", 24, 2048, 5504, 16, 16, 151936, true, 0},
                 {"qwen1518b", 24, 2048, 5504, 16, 16, 151936, true, 0},
                 {"qwen154b", 40, 2560, 6912, 20, 20, 151936},
                 {"tinyllama11b", 22, 2048, 5632, 32, 4, 32000, true, 0},
                 {"internlm7b", 32, 4096, 11008, 32, 32, 103168},
                 {"internlm20b", 60, 5120, 13824, 40, 40, 103168},
                 {"yi9b", 48, 4096, 11008, 32, 4, 64000},
                 {"solar107b", 48, 4096, 14336, 32, 8, 32000, true, 0},
                 {"deepseekcoder13b", 24, 2048, 5504, 16, 16, 32256, true, 0},
                 {"internlm27b", 32, 4096, 14336, 32, 8, 92544},
                 {"deepseekr1distillqwen14b", 48, 5120, 13824, 40, 8, 152064},
                 {"deepseekr1distillqwen32b", 64, 5120, 27648, 40, 8, 152064},
                 {"mistralnemo12b", 40, 5120, 14336, 32, 8, 131072, .head_width = 128},
                 {"chatglm26b", 28, 4096, 13696, 32, 2, 65024},
                 {"chatglm36b", 28, 4096, 13696, 32, 2, 65024},
                 {"glm49b", 40, 4096, 13696, 32, 2, 151552},
                 {"phi3mini", 32, 3072, 8192, 32, 32, 32064},
                 {"phi3medium", 40, 5120, 17920, 40, 10, 32064},
                 {"internlm220b", 48, 6144, 16384, 48, 8, 92544},
                 {"falcon7b", 32, 4544, 18176, 71, 1, 65024, .tied = true, .ungated = true},
                 {"nemotron415b", 32, 6144, 24576, 48, 8, 256000, .ungated = true},
                 {"nemotron4340b", 96, 18432, 73728, 96, 8, 256000, .ungated = true},
                 {"pythia69b", 32, 4096, 16384, 32, 32, 50432, true, .ungated = true},
                 {"pythia12b", 36, 5120, 20480, 40, 40, 50688, .ungated = true},
                 {"pythia28b", 32, 2560, 10240, 32, 32, 50304, true, .ungated = true},
                 {"bloom7b1", 30, 4096, 16384, 32, 32, 250880, .tied = true, .ungated = true},
                 {"bloomz7b1", 30, 4096, 16384, 32, 32, 250880, .tied = true, .ungated = true},
                 {"gpt2large", 36, 1280, 5120, 20, 20, 50257, false, 1024},
                 {"gpt2medium", 24, 1024, 4096, 16, 16, 50257, false, 1024},
                 {"gpt2124m", 12, 768, 3072, 12, 12, 50257, false, 1024},
                 {"gpt2125m", 12, 768, 3072, 12, 12, 50257, false, 1024},
                 {"gpt2117m", 12, 768, 3072, 12, 12, 50257, false, 1024},
                 {"gpt2small", 12, 768, 3072, 12, 12, 50257, false, 1024},
                 {"gpt2345m", 24, 1024, 4096, 16, 16, 50257, false, 1024},
                 {"gpt2350m", 24, 1024, 4096, 16, 16, 50257, false, 1024},
                 {"gpt2355m", 24, 1024, 4096, 16, 16, 50257, false, 1024},
                 {"gpt2774m", 36, 1280, 5120, 20, 20, 50257, false, 1024},
                 {"gpt215b", 48, 1600, 6400, 25, 25, 50257, true, 1024},
                 // Megatron-LM's GPT-2 (arXiv:1909.08053, table 1)
                 {"gpt212b", 40, 1536, 6144, 16, 16, 50257, true, 1024},
                 {"gpt225b", 54, 1920, 7680, 20, 20, 50257, true, 1024},
                 {"gpt242b", 64, 2304, 9216, 24, 24, 50257, true, 1024},
                 {"gpt283b", 72, 3072, 12288, 32, 32, 50257, true, 1024},
                 {"opt125m", 12, 768, 3072, 12, 12, 50272, false, 2050},
                 {"opt350m", 24, 1024, 4096, 16, 16, 50272, false, 2050},
                 {"opt13b", 24, 2048, 8192, 32, 32, 50272, true, 2050},
                 {"opt27b", 32, 2560, 10240, 32, 32, 50272, true, 2050},
                 {"opt13b", 40, 5120, 20480, 40, 40, 50272, false, 2050},
                 {"opt67b", 32, 4096, 16384, 32, 32, 50272, true, 2050},
                 {"opt66b", 64, 9216, 36864, 72, 72, 50272, false, 2050},
                 {"opt30b", 48, 7168, 28672, 56, 56, 50272, false, 2050},
                 {"galactica67b", 32, 4096, 16384, 32, 32, 50000, true, 2050},
                 {"galactica30b", 48, 7168, 28672, 56, 56, 50000, false, 2050}};

struct log_models *log_models_make(struct arena *arena)
{
    struct log_models *m = TAKE(arena, 1, struct log_models);
    struct error unread = {OK, ""};
    const char *const *shipped;
    int count = 0;
    *m = (struct log_models){.count = 0};
    if (shipped_list(&shipped, &count, "models", arena, &unread) != OK) count = 0;
    m->items = TAKE(arena, count + (int)ARRAY_LENGTH(also) + 1, struct model_name);
    // Of adapters or further tokens no name tells; a tower of images is no run of one pipeline.
    for (int i = 0; i < count; i++)
        if (!strstr(shipped[i], "-adapters") && !strstr(shipped[i], "-mtp") &&
            strncmp(shipped[i], "llava", 5) != 0 && strncmp(shipped[i], "qwen2-vl", 8) != 0)
            add_model(m, without_signs(shipped[i], arena), shipped[i]);
    for (size_t i = 0; i < ARRAY_LENGTH(also); i++) add_model(m, also[i].name, also[i].shipped);
    for (size_t i = 0; i < ARRAY_LENGTH(unshipped); i++)
        m->threes[place_of_three(unshipped[i].name)] = true;
    qsort(m->items, (size_t)m->count, sizeof *m->items, longer_first);
    return m;
}

static void tell_shape(struct log *l, const struct unshipped *m)
{
    bool gpt = m->positions > 0;
    const struct {
        enum told told;
        int value;
    } values[] = {{TOLD_LAYERS, m->layers},
                  {TOLD_HIDDEN, m->hidden},
                  {TOLD_FFN, m->ffn},
                  {TOLD_HEADS, m->heads},
                  {TOLD_KV_HEADS, m->kv_heads},
                  {TOLD_VOCAB, m->vocab},
                  {TOLD_GATED, !gpt && !m->ungated},
                  {TOLD_RMS_NORM, !gpt && !m->ungated},
                  {TOLD_HEAD_WIDTH, m->head_width},
                  {TOLD_TIED, gpt || m->tied},
                  {TOLD_DROPOUT, gpt},
                  {TOLD_BIAS, gpt},
                  {TOLD_POSITIONS, m->positions}};
    if (l->reader->shaped) return;
    l->reader->shaped = true;
    log_forget(l, OF_SHAPE);
    for (size_t i = 0; i < ARRAY_LENGTH(values); i++)
        if (values[i].told != TOLD_HEAD_WIDTH || m->head_width)
            tell_count(l, values[i].told, BY_WORDS, OF_MODEL, values[i].value);
}

enum { BARE_MOST = 48, SIZED_LINES = 200 };

// The text at s without signs, as far as a name may go, and where each of its letters is.
struct bare {
    char text[BARE_MOST];
    const char *at[BARE_MOST];
    const char *from;
};

// What is between a family's name and its size: name = "gpt_oss" flavor = "20b"; Qwen2.5-Coder and
// Qwen2.5-Math are of the same shapes.
static void drop(struct bare *b, const char *word)
{
    char *found = strstr(b->text, word);
    if (!found) return;
    size_t at = (size_t)(found - b->text), length = strlen(word), rest = strlen(found + length) + 1;
    memmove(found, found + length, rest);
    memmove(b->at + at, b->at + at + length, rest * sizeof *b->at);
}

// Whether read_bare may find three letters that begin a name; a word that is dropped may be among
// them.
static bool may_begin(const struct log_models *models, const char *s)
{
    char three[4] = "";
    int length = 0;
    for (const char *c = s; *c && length < 3; c++)
        if (isalnum((unsigned char)*c)) three[length++] = (char)tolower((unsigned char)*c);
        else if (*c == '/' || !strchr("-_. \"='[]()", *c)) break;
    bool drops = strchr(three, 'f') || strchr(three, 'c');
    return length < 3 || drops || models->threes[place_of_three(three)];
}

static void read_bare(struct bare *b, const char *s)
{
    size_t length = 0;
    b->from = s;
    for (const char *c = s; *c && length + 1 < BARE_MOST && c < s + 60; c++) {
        bool size = length > 1 && b->text[length - 1] == 'b' &&
                    isdigit((unsigned char)b->text[length - 2]);
        if (*c == '/' && size) break; // "7B/13B"
        if (isalnum((unsigned char)*c))
            b->at[length] = c, b->text[length++] = (char)tolower((unsigned char)*c);
        else if (!strchr("-_./ \"='[]()", *c)) break;
    }
    b->text[length] = '\0';
    drop(b, "flavor"), drop(b, "config"); // NeMo's MixtralConfig8x7B
    if (!strncmp(b->text, "qwen", 4)) drop(b, "coder"), drop(b, "math");
}

static bool begins_with(const struct bare *b, const char *name, size_t length, bool fraction)
{
    bool sized = length > 1 && name[length - 1] == 'b' && isdigit((unsigned char)name[length - 2]);
    if (strncmp(b->text, name, length) != 0) return false;
    bool apart = b->text[length] && b->at[length][-1] == '('; // "GPT-2 large (774M)"
    if (!sized && !apart && isdigit((unsigned char)b->text[length]))
        return false; // "Mistral-7B 4k" ends
    return fraction == has_fraction(b->from, b->at[length - 1] + 1);
}

// "deepseek-v2-prover7b": another model's size behind a name that has none, within one word.
static bool is_of_another(const struct bare *b, const struct model_name *name)
{
    const char *s = b->text + name->length, *from = s;
    size_t last = name->length;
    if (name->name[name->length - 1] == 'b' || !isalpha((unsigned char)*s)) return false;
    while (isalpha((unsigned char)*s)) s++;
    if (name_is_listed("lite chat base instruct moe it", from, (size_t)(s - from))) return false;
    size_t digits = strspn(s, "0123456789");
    if (!digits || s[digits] != 'b') return false;
    for (size_t end = (size_t)(s - b->text) + digits; last <= end; last++)
        if (b->at[last][-1] == ' ') return false;
    return true;
}

// "DeepseekV3ForCausalLM": the class of a program, which other models have, too.
static bool is_class(const struct bare *b, size_t length)
{
    static const char *const words[] = {"forcausallm", "forconditionalgeneration",
                                        "forsequenceclassification", "decoderlayer"};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (!strncmp(b->text + length, words[i], strlen(words[i])) &&
            b->at[length] == b->at[length - 1] + 1)
            return true;
    return false;
}

// The same family's model that the rest of a line names in full: ".../deepseek_v3/deepseek_v3_16b".
static const struct model_name *fuller_name(const struct log_models *models, const char *rest,
                                            const struct model_name *name)
{
    struct bare bare;
    bool sized = name->name[name->length - 1] == 'b';
    for (const char *s = rest; !sized && *s; s++) {
        if (!models->begins[(unsigned char)*s] || isalnum((unsigned char)s[-1])) continue;
        read_bare(&bare, s);
        for (int i = 0; i < models->count && models->items[i].length > name->length; i++)
            if (!strncmp(models->items[i].name, name->name, name->length) &&
                begins_with(&bare, models->items[i].name, models->items[i].length,
                            models->items[i].fraction))
                return &models->items[i];
    }
    return name;
}

struct found_model {
    const struct unshipped *shape; // NULL: it is shipped
    const char *shipped;
};

// Within a word only Llama is looked for ("OpenLLaMA-7B").
static bool find_model(const struct log *l, const char *line, struct found_model *found)
{
    const struct log_models *models = l->reader->models;
    struct bare bare;
    for (const char *s = line; *s; s++) {
        bool inside = s > line && isalnum((unsigned char)s[-1]);
        if (inside ? strncasecmp(s, "llama", 5) != 0
                   : !models->begins[(unsigned char)*s] &&
                         !strchr("lLqQdDvVbBiIyYcCaAoOgGsStTfFnNpP", *s))
            continue;
        if (!may_begin(models, s)) continue;
        read_bare(&bare, s);
        if (!models->threes[place_of_three(bare.text)]) continue;
        for (size_t i = 0; i < ARRAY_LENGTH(unshipped) && !inside; i++)
            if (begins_with(&bare, unshipped[i].name, strlen(unshipped[i].name),
                            unshipped[i].fraction)) {
                *found = (struct found_model){.shape = &unshipped[i]};
                return true;
            }
        for (int i = 0; i < models->count; i++)
            if (begins_with(&bare, models->items[i].name, models->items[i].length,
                            models->items[i].fraction)) {
                if (is_of_another(&bare, &models->items[i]) ||
                    is_class(&bare, models->items[i].length))
                    break;
                found->shape = NULL;
                found->shipped = fuller_name(models, s + 1, &models->items[i])->shipped;
                return true;
            }
    }
    return false;
}

// A configuration's own name of its model is surer than what a post's title says.
static bool states_model(const char *line)
{
    static const char *const keys[] = {"model_name_or_path", "base_model:", "--model_name ",
                                       "model_id =", "model_id="};
    const char *end = strchr(line, '#');
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        const char *at = strstr(line, keys[i]);
        if (at && (!end || at < end)) return true;
    }
    return false;
}

static void forget_model(struct log *l)
{
    if (l->told[TOLD_MODEL].by == BY_WORDS) l->told[TOLD_MODEL].by = BY_NONE;
    log_forget(l, OF_MODEL);
    l->reader->shaped = false;
}

// The model that these words of the run's own name, whatever the page names besides.
static bool take_model(struct log *l, const char *words, const char *of)
{
    struct found_model found;
    if (!find_model(l, words, &found)) return false;
    forget_model(l);
    if (found.shape) tell_shape(l, found.shape);
    else tell(l, TOLD_MODEL, BY_WORDS, of, found.shipped, strlen(found.shipped));
    l->reader->keyed_model = true;
    return true;
}

void log_model_of_heading(struct log *l)
{
    take_model(l, l->reader->heading, "its section's heading");
}

void log_model_of_cell(struct log *l, const char *cell, int length)
{
    char words[TOLD_TEXT];
    snprintf(words, sizeof words, "%.*s", length, cell);
    if (take_model(l, words, "its row")) return;
    snprintf(words, sizeof words, "%s %.*s", l->reader->family, length, cell);
    take_model(l, words, "its row, and the page's family");
}

// Families whose size is not said: their smallest model. LLaMA's and the recipe that is named for
// it have 7B.
static void read_family(struct log *l, const char *line)
{
    static const struct {
        const char *bare, *least;
    } families[] = {{"llama31", "llama-3.1-8b"},  {"llama32", "llama-3.2-1b"},
                    {"llama33", "llama-3.3-70b"}, {"llama3", "llama-3.1-8b"},
                    {"llama2", "llama-2-7b"},     {"alpacalora", "llama-2-7b"},
                    {"mistral", "mistral-7b"}};
    struct bare bare;
    for (const char *s = line; *s && !l->family; s++) {
        if (!strchr("lLaAmM", *s) || !at_border(line, s)) continue;
        read_bare(&bare, s);
        for (size_t i = 0; i < ARRAY_LENGTH(families) && !l->family; i++) {
            size_t length = strlen(families[i].bare);
            if (!strncmp(bare.text, families[i].bare, length) &&
                !isdigit((unsigned char)bare.text[length]))
                l->family = families[i].least;
        }
    }
}

// "PHI-2": too short to be looked for without its sign; "gpt2", as transformers calls the smallest.
static bool find_short(const struct log *l, const char *line, bool keyed, struct found_model *found)
{
    const char *s = find_in_any_case(line, "phi-2"), *gpt = find_in_any_case(line, "gpt");
    keyed |= l->script && !strcmp(l->script->name, "run_clm.py");
    if (gpt) gpt += 3 + (gpt[3] == '-');
    if (gpt && keyed && *gpt == '2' && !isalnum((unsigned char)gpt[1]) && gpt[1] != '-')
        return find_model(l, "gpt2-124m", found);
    *found = (struct found_model){.shipped = "phi-2"};
    return s && at_border(line, s) && !isalnum((unsigned char)s[5]);
}

void log_models(struct log *l, const char *line)
{
    struct log_reader *r = l->reader;
    struct found_model found;
    bool keyed = !r->keyed_model && states_model(line);
    if (!told(l, TOLD_MODEL) && !told(l, TOLD_LAYERS) && l->lines < SIZED_LINES) log_size(l, line);
    if ((!keyed && (told(l, TOLD_MODEL) || r->keyed_model)) ||
        (!find_model(l, line, &found) && !find_short(l, line, keyed, &found))) {
        if (!told(l, TOLD_MODEL) && !l->family && l->lines < SIZED_LINES) read_family(l, line);
        return;
    }
    if (keyed) forget_model(l), r->keyed_model = true;
    const char *images = find_in_any_case(line, "-vl");
    l->has_tower |= (images && !isalnum((unsigned char)images[3])) ||
                    find_in_any_case(line, "llava");
    if (found.shape) {
        tell_shape(l, found.shape);
        return;
    }
    bool tokenizer = find_in_any_case(line, "tokenizer") != NULL;
    tell(l, TOLD_MODEL, BY_WORDS, tokenizer ? OF_TOKENIZER : "a line that names it", found.shipped,
         strlen(found.shipped));
}
