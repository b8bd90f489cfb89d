// All settings that a line states: --key value, key=value, key: value, "key": value.

#include "data/import/logs/internal.h"

static bool in_key(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.'; }

static const char *end_of_value(const char *s)
{
    char close = *s == '"' || *s == '\'' ? *s : '\0';
    if (close) {
        const char *end = strchr(s + 1, close);
        return end ? end + 1 : s + strlen(s);
    }
    while (*s && !isspace((unsigned char)*s) && !strchr(",}|", *s) && (unsigned char)*s < 0x80) s++;
    return s;
}

// A shell's default, "${NAME:=64}": the value behind the sign.
static const char *without_default(const char *value, const char **end)
{
    const char *sign = memchr(value, '{', (size_t)(*end - value));
    if (!sign) return value;
    for (const char *s = sign; s + 1 < *end; s++)
        if (*s == ':' && (s[1] == '=' || s[1] == '-')) {
            const char *close = memchr(s, '}', (size_t)(*end - s));
            if (close) *end = close;
            return s + 2;
        }
    return value;
}

// Keys whose value is a list of names.
static bool takes_list(const char *key, size_t length)
{
    static const char *const names[] = {"target_modules", "lora_target_modules", "lora_target"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        size_t own = strlen(names[i]);
        if (length >= own && !strncasecmp(key + length - own, names[i], own) &&
            (length == own || !isalnum((unsigned char)key[length - own - 1])))
            return true;
    }
    return false;
}

// Up to the bracket that closes it, the next flag or setting, or the line's end.
static const char *end_of_list(const char *value)
{
    const char *close = strchr(value, *value == '{' ? '}' : ']'), *s = value;
    if ((*value == '[' || *value == '{') && close) return close + 1;
    for (; *s && !strchr("}\\", *s); s++) {
        const char *word = s + 1 + strspn(s + 1, " \"'"), *after = word;
        while (in_key(*after)) after++;
        bool sets = *s == ',' && (*after == '=' || *after == ':' || *after == '"');
        if (sets || (isspace((unsigned char)*s) && s[1] == '-')) break;
    }
    while (s > value && isspace((unsigned char)s[-1])) s--;
    return s;
}

// One more name of a list that has a line for each.
static void take_item(struct log *l, const char *key, const char *item)
{
    char text[TOLD_TEXT];
    const struct told_value *so_far = &l->told[TOLD_ADAPTED];
    bool more = so_far->by == BY_SETTING && so_far->line == (int)l->lines - 1;
    int length = snprintf(text, sizeof text, "%s%s%.*s", more ? so_far->text : "", more ? " " : "",
                          (int)strcspn(item, " \t"), item);
    log_setting(l, BY_SETTING, key, strlen(key), text,
                length < TOLD_TEXT ? (size_t)length : TOLD_TEXT - 1);
}

// A flag at the end of a line has its value on the next; a key of YAML or Python perhaps a list.
static void take_pending(struct log *l, const char *line)
{
    char *pending = l->reader->pending;
    bool list = l->reader->pending_list;
    line += strspn(line, " \t");
    if (*pending && list && takes_list(pending, strlen(pending)) && strchr("\"'", *line) && *line) {
        char item[TOLD_TEXT];
        snprintf(item, sizeof item, "%.*s", (int)strcspn(line + 1, "\"'"), line + 1);
        take_item(l, pending, item);
        return;
    }
    if (*pending && list && takes_list(pending, strlen(pending)) && line[0] == '-' &&
        line[1] == ' ') {
        take_item(l, pending, line + 2);
        return; // until a line is none of its items
    }
    if (*pending && list && line[0] == '-' && line[1] == ' ') {
        const char *item = line + (strncmp(line, "- name: ", 8) ? 2 : 8);
        size_t length = strcspn(item, " \t");
        if (length && item[length - 1] != ':') // else a key of a group
            log_setting(l, BY_SETTING, pending, strlen(pending), item, length);
    } else if (*pending && !list && *line && *line != '-')
        log_setting(l, BY_SETTING, pending, strlen(pending), line, strcspn(line, " \t"));
    *pending = '\0';
}

// '"offload_optimizer": {', of which the device within decides, '"bf16": {', whether it is enabled,
// perhaps lines later. Whether the key is either.
static bool take_place(struct log *l, enum told_by by, const char *key, size_t length,
                       const char *value)
{
    char *place = l->reader->place;
    if (length == 6 && !strncmp(key, "device", 6) && *place) {
        log_setting(l, by, place, strlen(place), value, (size_t)(end_of_value(value) - value));
        *place = '\0';
        return true;
    }
    if (length == 7 && !strncmp(key, "enabled", 7) && strstr(place, "16")) {
        log_setting(l, by, place, strlen(place), value, (size_t)(end_of_value(value) - value));
        *place = '\0';
        return true;
    }
    bool offload = !strncmp(key, "offload_", 8),
         precision = length == 4 && (!strncmp(key, "bf16", 4) || !strncmp(key, "fp16", 4)),
         opens = length < TOLD_KEY && *value == '{' && (offload || precision);
    if (opens) memcpy(place, key, length), place[length] = '\0';
    return opens;
}

// What a line has of a call in code that began in it, or is open (*depth brackets), by one of the
// names; *close: its end, NULL: it goes on. NULL: there is none.
static const char *within_call(int *depth, const char *line, const char *const *begins,
                               size_t count, const char **close)
{
    const char *from = *depth ? line : NULL;
    *close = NULL;
    for (size_t i = 0; i < count && !from; i++) from = strstr(line, begins[i]);
    if (!from) return NULL;
    const char *open = *depth ? NULL : strchr(from, '(');
    for (const char *s = open ? open : from; *s && !*close; s++) {
        *depth += (*s == '(') - (*s == ')');
        if (*s == ')' && *depth <= 0) *close = s;
    }
    if (*close) *depth = 0;
    return from;
}

// A trainer's arguments, all of them, where the call is seen from bracket to bracket.
static void take_trainer(struct log *l, const char *line)
{
    static const char *const begins[] = {"TrainingArguments(", "SFTConfig(",  "DPOConfig(",
                                         "GRPOConfig(",        "ORPOConfig(", "KTOConfig("};
    struct log_reader *r = l->reader;
    const char *close, *from = within_call(&r->trainer, line, begins, ARRAY_LENGTH(begins), &close);
    if (!from) return;
    if (strstr(from, "...") || strstr(from, "**")) r->cut_trainer = l->cut_code = true;
    if (close && !r->cut_trainer) l->in_code = true;
    if (close) r->cut_trainer = false;
}

// "LoraConfig(lora_alpha=8, r=8, ...)" of peft, "LoRA(dim=32)" of NeMo, perhaps over several lines:
// short names that mean a rank there alone.
static void take_adapter(struct log *l, enum told_by by, const char *line)
{
    static const char *const begins[] = {"LoraConfig(", "LoRA("};
    static const char *const ranks[] = {"r=", "dim="};
    double rank;
    const char *close,
        *from = within_call(&l->reader->adapter, line, begins, ARRAY_LENGTH(begins), &close);
    if (!from) return;
    for (size_t i = 0; i < ARRAY_LENGTH(ranks); i++)
        for (const char *s = from; (s = strstr(s, ranks[i])) && (!close || s < close); s++)
            if (at_border(line, s) && (s == line || s[-1] != '_') &&
                number_at(s + strlen(ranks[i]), &rank, NULL) && rank >= 1 && rank < 1e5)
                tell_count(l, TOLD_ADAPTERS, by, "LoraConfig", (int64_t)rank);
}

// Within a call for text that a model writes there is nothing of its training.
static bool is_of_writer(struct log_reader *r, const char *line)
{
    static const char *const begins[] = {".generate(", "pipeline("};
    const char *close;
    return r->notebook && within_call(&r->writer, line, begins, ARRAY_LENGTH(begins), &close);
}

// Whether a line is within the configuration of a tower of images or sound, or begins it.
static bool is_of_tower(struct log_reader *r, const char *line)
{
    bool begins = strstr(line, "vision_config\": {") || strstr(line, "audio_config\": {");
    if (!r->tower && !begins) return false;
    for (const char *s = line; *s; s++) r->tower += (*s == '{') - (*s == '}');
    if (r->tower < 0) r->tower = 0;
    return true;
}

// "# cfg.model.num_layers = 8": a setting that is left out.
static bool is_comment(const char *line)
{
    const char *s = line + strspn(line, " ");
    if (s[0] != '#' || s[1] != ' ') return false;
    for (s += 2; in_key(*s);) s++;
    return s[strspn(s, " ")] == '=' && s[strspn(s, " ") + 1] != '=';
}

// A tokenizer's vocabulary, a pipeline's stage, and the length of what a model is asked to write.
static bool is_of_others(const char *line, const char *key, size_t length)
{
    bool vocabulary = length == 10 && !strncmp(key, "vocab_size", 10),
         longest = length == 10 && !strncmp(key, "max_length", 10),
         stage = length == 5 && !strncmp(key, "stage", 5); // "stage=0 layers=33": a pipeline's
    return (stage && strstr(line, " layers=")) || (vocabulary && strstr(line, "Tokenizer")) ||
           (longest &&
            (strstr(line, "gen_kwargs") || strstr(line, "generate(") || strstr(line, "do_sample")));
}

// What is behind these words is no setting of the run: it ran elsewhere, or is left out.
static const char *behind_which_none(const char *line)
{
    static const char *const words[] = {"reducing to",    "remove the",     "removing",
                                        "omit the",       "without the",    "instead of",
                                        "did you",        "have you tried", "you can modify",
                                        "add `", // to a command, if one likes
                                        "you can change", "you can set"};
    const char *first = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        const char *at = find_in_any_case(line, words[i]);
        if (at && (!first || at < first)) first = at;
    }
    return first;
}

// "set gradient_checkpointing to True": in words, unless that is what helped.
static bool is_set_to(const char *line, const char *key, size_t length, const char *value)
{
    static const char *const helped[] = {"works",     "worked", "it ran",     "it runs",
                                         "no longer", "fits",   "results in", NULL};
    return !strncmp(value, "to ", 3) && memchr(key, '_', length) && !has_one_of(line, helped);
}

// Lines between triple quotes of a notebook's code, which are a comment.
static bool is_quoted(struct log_reader *r, const char *line)
{
    const char *s = line + strspn(line, " ");
    bool mark = !strncmp(s, "\"\"\"", 3) && !strstr(s + 3, "\"\"\"");
    if (mark && r->notebook) r->quoted = !r->quoted;
    return r->quoted;
}

// "`tp_size=8`, and for the smaller model `tp_size=2`": words of two runs state neither.
static bool is_of_two(const char *line, const char *key, size_t length)
{
    const char *value = key + length;
    if (*value != '=' || !strchr(line, '`')) return false;
    size_t own = strcspn(value, " ,`)");
    for (const char *s = line; (s = strchr(s, '=')); s++)
        if (s - line >= (int)length && s != value && !strncmp(s - length, key, length) &&
            at_border(line, s - length) &&
            (s - line == (int)length || !in_key(s[-(int)length - 1])) && strcspn(s, " ,`)") > 1 &&
            (strcspn(s, " ,`)") != own || strncmp(s, value, own) != 0))
            return true;
    return false;
}

// Where a program has both "batch_size" and "micro_batch_size", the former is of all (alpaca-lora).
static bool take_both(struct log *l, enum told_by by, const char *key, size_t length,
                      const char *value, size_t value_length)
{
    static const char all[] = "batch_size", each[] = "micro_batch_size";
    struct told_value *micro = &l->told[TOLD_MICRO_BATCH];
    bool later = length == sizeof each - 1 && !strncmp(key, each, length) &&
                 !strcmp(micro->key, all) && micro->line == (int)l->lines,
         now = length == sizeof all - 1 && !strncmp(key, all, length) &&
               !strcmp(micro->key, each) && micro->line == (int)l->lines;
    if (later) {
        tell(l, TOLD_GLOBAL_BATCH, micro->by, all, micro->text, strlen(micro->text));
        micro->by = BY_NONE;
    }
    return now && log_setting(l, by, "global_batch_size", 17, value, value_length);
}

void log_settings(struct log *l, const char *line)
{
    // The program says what it replaces by; a table's rows are perhaps of several runs.
    enum told_by by = strstr(line, "Overriding config:") ? BY_PROGRAM
                      : line[strspn(line, " ")] == '|'   ? BY_WORDS
                                                         : BY_SETTING;
    take_pending(l, line);
    if (l->mentions_failure && log_is_of_others(line)) return; // what may help
    if (is_of_tower(l->reader, line) || is_comment(line) || is_quoted(l->reader, line) ||
        is_of_writer(l->reader, line))
        return;
    take_adapter(l, by, line), take_trainer(l, line);
    const char *helped = behind_which_none(line);
    for (const char *s = line; *s && (!helped || s < helped);) {
        if (!isalpha((unsigned char)*s) && *s != '_') {
            s++;
            continue;
        }
        const char *key = s;
        while (in_key(*s)) s++;
        size_t length = (size_t)(s - key);
        bool dashes = key - line >= 2 && key[-1] == '-' && key[-2] == '-';
        const char *value = s + (*s == '"' || *s == '\'');
        value += strspn(value, " ");
        if (dashes && *value == '\\') value = s = value + strlen(value); // a shell's next line
        bool signed_ = *value == '=' || *value == ':';
        if (signed_) value += 1, value += strspn(value, " ");
        else if (!dashes && is_set_to(line, key, length, value)) {
            value += 3;
            log_setting(l, BY_WORDS, key, length, value, (size_t)(end_of_value(value) - value));
            continue;
        } else if (!dashes || value == s) {
            if (dashes && !log_setting(l, by, key, length, "", 0)) log_unknown_flag(l, key, length);
            if (dashes && !*s && length < TOLD_KEY)
                l->reader->pending_list = false, memcpy(l->reader->pending, key, length),
                l->reader->pending[length] = '\0';
            continue;
        }
        // A flag before the next one, at the end of a list in Python, before a word of a sentence.
        bool next = value[0] == '-' && value[1] == '-', last = *s == '\'' && *value == ']',
             said = isalpha((unsigned char)*value) && log_is_switch(l, key, length, value);
        if (!signed_ && (next || last || said)) {
            log_setting(l, by, key, length, "", 0);
            continue;
        }
        if (signed_ && take_place(l, by, key, length, value)) continue;
        if (signed_ && !*value) { // "fp16:" says nothing
            l->reader->pending_list = length < TOLD_KEY;
            if (l->reader->pending_list)
                memcpy(l->reader->pending, key, length), l->reader->pending[length] = '\0';
            continue;
        }
        // LLaMA-Factory's max_length is of what a model writes.
        bool written = length == 10 && !strncmp(key, "max_length", 10) &&
                       !strcmp(l->told[TOLD_SEQ].key, "cutoff_len");
        if (written || is_of_others(line, key, length) || is_of_two(line, key, length)) continue;
        bool list = takes_list(key, length) && *value != '"' && *value != '\'';
        if (list && *value == '[' && !value[1 + strspn(value + 1, " ")] && length < TOLD_KEY) {
            l->reader->pending_list = true;
            memcpy(l->reader->pending, key, length), l->reader->pending[length] = '\0';
            break;
        }
        const char *end = list ? end_of_list(value) : end_of_value(value), *from = value;
        if (*from == '"' || *from == '$') from = without_default(from, &end);
        bool known = take_both(l, by, key, length, from, (size_t)(end - from)) ||
                     log_setting(l, by, key, length, from, (size_t)(end - from));
        if (dashes && !known) log_unknown_flag(l, key, length);
        if (known || dashes) s = end > s ? end : s;
    }
}
