// Which value a key states: of the frameworks' rows, and of logs alone. Keys are compared by their
// last part ("model.seq_length"), in lower case and with '_' for '-'.
#include <stdlib.h>

#include "data/frameworks/setting.h"
#include "data/import/logs/internal.h"
#include "data/import/logs/keys.h"

// What is behind a key's last dot, in the rows' letters. false: it is too long for a row.
static bool plain_key(char to[TOLD_KEY], const char *key, size_t length)
{
    for (size_t i = length; i-- > 0;)
        if (key[i] == '.') {
            key += i + 1, length -= i + 1;
            break;
        }
    if (!length || length >= TOLD_KEY) return false;
    for (size_t i = 0; i < length; i++)
        to[i] = (char)(key[i] == '-' ? '_' : tolower((unsigned char)key[i]));
    to[length] = '\0';
    return true;
}

static unsigned letters_of(const char *key)
{
    unsigned h = 0;
    for (; *key; key++) h = h * 31 + (unsigned char)*key;
    return h;
}

// ---- all keys: those above, and of frameworks' rows those of several words that mean one thing

enum { KEY_ROOM = 4096 };

struct log_keys {
    struct key_row *at[KEY_ROOM]; // by letters; told TOLD_COUNT: of several meanings
};

static struct key_row **place_of(struct log_keys *keys, const char *key)
{
    unsigned at = letters_of(key) % KEY_ROOM;
    while (keys->at[at] && strcmp(keys->at[at]->key, key) != 0) at = (at + 1) % KEY_ROOM;
    return &keys->at[at];
}

static enum how how_of_kind(enum setting_kind kind)
{
    switch (kind) {
    case SETTING_FLAG:
    case SETTING_TRUE:
    case SETTING_SWITCH: return TRUTH;
    case SETTING_UNLESS: return FALSITY;
    case SETTING_NUMBER:
    case SETTING_ROUND:
    case SETTING_SHARE: return POSITIVE;
    case SETTING_INT:
    case SETTING_COUNT:
    case SETTING_WHOLE: return COUNT;
    default: return TEXT;
    }
}

static const struct meaning *meaning_of(const struct setting_row *row)
{
    bool read = row->kind != SETTING_LEFT && row->kind != SETTING_LATER && row->use != ONLY_WRITTEN;
    for (size_t i = 0; read && i < (size_t)log_meaning_count; i++)
        if (log_meanings[i].member == row->at) return &log_meanings[i];
    return NULL;
}

static void take_framework(struct log_keys *keys, const struct setting_rows *of,
                           struct arena *arena)
{
    const struct setting_rows names = setting_rows_of(of, arena);
    char key[TOLD_KEY];
    for (int i = 0; i < names.count; i++) {
        const struct setting_row *row = &names.rows[i];
        const struct meaning *m = meaning_of(row);
        if (!plain_key(key, row->key, strlen(row->key)) || !strchr(key, '_')) continue;
        struct key_row **to = place_of(keys, key);
        if (*to && ((*to)->of_logs || (m && (*to)->told == m->told))) continue;
        if (!*to) *to = TAKE(arena, 1, struct key_row);
        else m = NULL;
        **to = (struct key_row){.key = arena_copy_text(arena, key), .told = TOLD_COUNT};
        if (!m) continue;
        (*to)->told = m->told, (*to)->text = m->text;
        (*to)->how = m->how == AS_KIND ? how_of_kind(row->kind) : m->how;
    }
}

static void take_row(struct log_keys *keys, const struct key_row *row, struct arena *arena)
{
    for (const char *at = row->key, *end; *at; at = *end ? end + 1 : end) {
        struct key_row *own = TAKE(arena, 1, struct key_row);
        end = at + strcspn(at, "|");
        *own = *row;
        own->key = arena_print(arena, "%.*s", (int)(end - at), at);
        own->of_logs = true;
        *place_of(keys, own->key) = own;
    }
}

struct log_keys *log_keys_make(struct arena *arena)
{
    static const struct setting_rows *const frameworks[] = {&megatron_rows, &nemo_rows,
                                                            &deepspeed_rows, &torchtitan_rows};
    struct log_keys *keys = TAKE(arena, 1, struct log_keys);
    for (int i = 0; i < log_key_row_count; i++) take_row(keys, &log_key_rows[i], arena);
    for (size_t i = 0; i < ARRAY_LENGTH(frameworks); i++)
        take_framework(keys, frameworks[i], arena);
    return keys;
}

static bool is_word(const char *value, size_t length, const char *word)
{
    return strlen(word) == length && !strncasecmp(value, word, length);
}

// 1 true, 0 false, -1 neither.
static int truth_of(const char *value, size_t length)
{
    if (!length || is_word(value, length, "true") || is_word(value, length, "1")) return 1;
    return is_word(value, length, "false") || is_word(value, length, "0") ? 0 : -1;
}

static bool is_nothing(const char *value, size_t length)
{
    return is_word(value, length, "none") || is_word(value, length, "null") ||
           is_word(value, length, "auto") || is_word(value, length, "~");
}

static bool whole_of(const char *value, size_t length, int64_t *number)
{
    enum { THOUSANDS_MOST = 4 };
    *number = 0;
    if (length > 2 && !strncmp(value + length - 2, ".0", 2)) length -= 2;            // 288.0
    if (length > 1 && length <= THOUSANDS_MOST && (value[length - 1] | 32) == 'k') { // "256K"
        if (!whole_of(value, length - 1, number)) return false;
        *number *= 1024;
        return *number > 0;
    }
    if (!length || length > 12) return false;
    for (size_t i = 0; i < length; i++) {
        if (!isdigit((unsigned char)value[i])) return false;
        *number = 10 * *number + (value[i] - '0');
    }
    return true;
}

static void tell_text(struct log *l, const struct key_row *row, enum told_by by, const char *text)
{
    tell(l, row->told, by, row->key, text, strlen(text));
}

static void take_truth(struct log *l, const struct key_row *row, enum told_by by, int truth)
{
    const char *bar = row->text ? strchr(row->text, '|') : NULL;
    if (truth < 0) return;
    switch (row->how) {
    case TRUTH:
        tell_text(l, row, by, truth ? "1" : "0");
        if (row->told == TOLD_ADAPTERS) l->reader->no_adapters = !truth;
        break;
    case FALSITY: tell_text(l, row, by, truth ? "0" : "1"); break;
    case MEANS:
        if (truth) tell_text(l, row, by, row->text);
        else if (row->told == TOLD_PRECISION) l->reader->no_half |= *row->text == 'b' ? 1 : 2;
        break;
    case EITHER: // FSDP's own switch stays
        if (!truth && !strcmp(l->told[row->told].key, "activation_checkpointing")) break;
        tell(l, row->told, by, row->key, truth ? row->text : bar + 1,
             truth ? (size_t)(bar - row->text) : strlen(bar + 1));
        break;
    default: break;
    }
}

// How experts' tokens travel, and what graphs hold, as columns say it.
static const char *word_of(enum how how, const char *value, size_t length)
{
    static const struct {
        enum how how;
        const char *word, *column;
    } names[] = {{NAMES_DISPATCHER, "alltoall", "all_to_all"},
                 {NAMES_DISPATCHER, "deepep", "deepep"},
                 {NAMES_DISPATCHER, "hybridep", "hybridep"},
                 {NAMES_GRAPHS, "transformer_engine", "parts"},
                 {NAMES_GRAPHS, "local", "step"},
                 {NAMES_GRAPHS, "full_iteration", "step"},
                 {NAMES_GRAPHS, "none", "none"}};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (names[i].how == how && is_word(value, length, names[i].word)) return names[i].column;
    return NULL;
}

// "full_shard auto_wrap offload", FULL_SHARD; FSDP's offload takes weights and optimizer along.
static void take_shards(struct log *l, const struct key_row *row, enum told_by by,
                        const char *value, size_t length)
{
    static const struct {
        const char *word, *zero;
    } kinds[] = {
        {"full_shard", "3"}, {"hybrid_shard", "3"}, {"shard_grad_op", "2"}, {"no_shard", "0"}};
    char text[TOLD_TEXT];
    snprintf(text, sizeof text, "%.*s", (int)(length < TOLD_TEXT ? length : TOLD_TEXT - 1), value);
    for (size_t i = 0; i < ARRAY_LENGTH(kinds); i++)
        if (find_in_any_case(text, kinds[i].word)) tell_text(l, row, by, kinds[i].zero);
    if (find_in_any_case(text, "offload"))
        tell_text(l, &(struct key_row){row->key, TOLD_OFFLOAD, PRESENT, NULL}, by, "1");
}

// "bf16", "float", "half"; not "params_dtype=t", cut off, nor code.
static bool names_width(const char *value, size_t length)
{
    bool named = false;
    for (size_t i = 0; i < length; i++)
        named |= isdigit((unsigned char)value[i]) || value[i] == 'f' || value[i] == 'F';
    return named && *value != '{';
}

static void take_value(struct log *l, const struct key_row *row, enum told_by by, const char *value,
                       size_t length)
{
    int64_t number;
    switch (row->how) {
    case COUNT:
    case SEVERAL:
    case WHOLE:
        if (whole_of(value, length, &number) && (number > 0 || row->how == WHOLE) &&
            (number > 1 || row->how != SEVERAL))
            tell_count(l, row->told, by, row->key, number);
        return;
    case MANY:
        if (whole_of(value, length, &number) && number > 1) tell_text(l, row, by, row->text);
        return;
    case TEXT:
        if (row->told == TOLD_ADAM && // a size in MB; "FP16_Optimizer", around another
            (!isalpha((unsigned char)*value) || (length > 10 && value[length - 9] == 'O') ||
             (length > 9 && !strncmp(value, "DeepSpeed", 9))))
            return;
        if (row->told == TOLD_ADAM)
            l->optimizer = arena_print(l->arena, "%.*s", (int)(length < 64 ? length : 64), value);
        if (row->told == TOLD_PRECISION && !names_width(value, length)) return;
        if (length && (!is_nothing(value, length) || row->told == TOLD_GRANULARITY))
            tell(l, row->told, by, row->key, value, length);
        if (!length && row->told == TOLD_BACKEND) tell_text(l, row, by, "flash"); // a bare flag
        return;
    case SWITCH_OR_TEXT:
        if (truth_of(value, length) >= 0 && length)
            tell_text(l, &(struct key_row){row->key, TOLD_FP8_SWITCH, TRUTH, NULL}, by,
                      truth_of(value, length) ? "1" : "0");
        if (truth_of(value, length) != 0 && length && !is_nothing(value, length))
            tell(l, row->told, by, row->key, value, length);
        return;
    case NAMES_LORA:
        tell_text(l, row, by,
                  is_word(value, length, "lora") || is_word(value, length, "qlora") ? "1" : "0");
        return;
    case NAMES: tell_text(l, row, by, is_word(value, length, row->text) ? "1" : "0"); return;
    case NAMES_DISPATCHER:
    case NAMES_GRAPHS:
        if (word_of(row->how, value, length))
            tell_text(l, row, by, word_of(row->how, value, length));
        return;
    case SHARDS: take_shards(l, row, by, value, length); return;
    case PRESENT:
        if (length && !is_nothing(value, length)) tell_text(l, row, by, "1");
        return;
    case PLACES:
        if (length) tell_text(l, row, by, is_nothing(value, length) ? "0" : "1");
        return;
    case POSITIVE:
        if (length && (strtod(value, NULL) > 0 || l->told[row->told].by < by))
            tell_text(l, row, by, strtod(value, NULL) > 0 ? "1" : "0");
        return;
    default: take_truth(l, row, by, is_nothing(value, length) ? -1 : truth_of(value, length));
    }
}

// A rank of adapters, where the same configuration trains everything ("finetuning_type: full").
static bool is_left_over(const struct log *l, const struct key_row *row, enum told_by by)
{
    const struct told_value *v = &l->told[TOLD_ADAPTERS];
    bool whole = v->by >= by && !strcmp(v->text, "0");
    return row->told == TOLD_ADAPTERS && whole && (row->how == COUNT || row->how == PRESENT);
}

static bool within(const char *key, size_t length, const char *part)
{
    const char *found = strstr(key, part);
    return found && found + strlen(part) <= key + length;
}

bool log_setting(struct log *l, enum told_by by, const char *key, size_t key_length,
                 const char *value, size_t length)
{
    char name[TOLD_KEY];
    // Of torchtitan, whose last part means nothing alone: a word of its own.
    static const struct {
        const char *section, *word;
    } sections[] = {{"activation_checkpoint.mode", "checkpoint_mode"},
                    {"compile.enable", "torch_compile"}};
    for (size_t i = 0; i < ARRAY_LENGTH(sections); i++)
        if (key_length == strlen(sections[i].section) &&
            !strncmp(key, sections[i].section, key_length)) {
            key = sections[i].word, key_length = strlen(key);
            break;
        }
    // Of veRL's overrides only the actor's are the trained model's.
    if (within(key, key_length, ".rollout.")) {
        static const char ranks[] = "tensor_model_parallel_size";
        size_t own = sizeof ranks - 1;
        if (key_length > own && !strncmp(key + key_length - own, ranks, own))
            key = "vllm_tensor_parallel_size", key_length = strlen(key);
        else if (!within(key, key_length, "gpu_memory_utilization")) return true;
    }
    if (within(key, key_length, "_ref.ref.") || !strncmp(key, "critic.", 7)) return true;
    if (!plain_key(name, key, key_length)) return false;
    const struct key_row *row = *place_of(l->reader->keys, name);
    if (!row || row->told == TOLD_COUNT) return false;
    // The data's sequences, not what the model could have; the type that weights are loaded in.
    if (by == BY_SETTING && strcmp(name, "sequence_length") == 0) by = BY_PROGRAM;
    if (strcmp(name, "torch_dtype") == 0) by = BY_WORDS;
    if (is_left_over(l, row, by)) return true;
    while (length && strchr("\"'`", *value)) value++, length--;
    while (length && strchr("\"'`,;.)", value[length - 1])) length--;
    // "adapter_name=adapter_name", of code: what the name holds is not known.
    if (length != key_length || strncmp(key, value, length) != 0)
        take_value(l, row, by, value, length);
    return true;
}

bool log_is_switch(const struct log *l, const char *key, size_t length, const char *word)
{
    char name[TOLD_KEY];
    size_t own = strcspn(word, " ,.;'\"`)]");
    if (!plain_key(name, key, length) || truth_of(word, own) >= 0 || is_nothing(word, own))
        return false;
    const struct key_row *row = *place_of(l->reader->keys, name);
    return row && row->told != TOLD_COUNT &&
           (row->how == TRUTH || row->how == MEANS || row->how == EITHER);
}

// ---- flags that are none

// Two letters in the wrong order.
static bool is_swapped(const char *a, const char *b)
{
    size_t at = 0;
    while (a[at] && a[at] == b[at]) at++;
    return a[at] && b[at] && a[at] == b[at + 1] && a[at + 1] == b[at] &&
           !strcmp(a + at + 2, b + at + 2);
}

void log_unknown_flag(struct log *l, const char *key, size_t length)
{
    enum { LEAST = 8, SIGNS = 2 }; // signs left out, which are one change
    struct log_keys *keys = l->reader->keys;
    const char *names[KEY_ROOM];
    char name[TOLD_KEY];
    int count = 0, nearest = -1;
    if (l->unknown_count == UNKNOWN_MOST || length < LEAST || !plain_key(name, key, length) ||
        *place_of(keys, name))
        return;
    unsigned letters = letters_of(name), *judged = &l->reader->judged[letters % JUDGED_ROOM];
    if (*judged == letters) return; // a moment ago
    *judged = letters;
    size_t own_length = strlen(name);
    for (int i = 0; i < KEY_ROOM; i++) {
        const struct key_row *row = keys->at[i];
        if (!row || row->told == TOLD_COUNT || row->key[0] != name[0]) continue;
        if (strlen(row->key) + SIGNS < own_length || strlen(row->key) > own_length + SIGNS)
            continue;
        if (is_swapped(name, row->key)) nearest = count;
        names[count++] = row->key;
    }
    if (nearest < 0) nearest = name_within(name, names, count, 1);
    if (nearest < 0) return;
    const struct told_value *own = &l->told[(*place_of(keys, names[nearest]))->told];
    for (int i = 0; i < l->unknown_count; i++)
        if (!strncmp(l->unknown[i].flag, key, length)) return;
    if (own->by > BY_WORDS && !strcmp(own->key, names[nearest])) return; // both are there
    struct unknown_flag *to = &l->unknown[l->unknown_count++];
    char *shown = arena_copy_text(l->arena, names[nearest]);
    for (char *c = shown; *c && memchr(key, '-', length); c++)
        if (*c == '_') *c = '-';
    *to = (struct unknown_flag){.nearest = shown, .line = (int)l->lines};
    snprintf(to->flag, sizeof to->flag, "%.*s", (int)length, key);
}
