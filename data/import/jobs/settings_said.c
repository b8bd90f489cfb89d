// What an import says of a file: one line each of what it read, what it assumes, and what changes
// nothing; keys that nobody knows, with the nearest one; refusals.
#include "data/import/jobs/settings.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/script/script.h"

enum { CLOSE_MOST = 20, WEIGHTY_TOLD = 6, NAMES_MOST = 4096 };

struct settings settings_empty(struct arena *arena)
{
    return (struct settings){.arena = arena,
                             .said.arena = arena,
                             .twice = "",
                             .empty = "",
                             .hints = "",
                             .open = "",
                             .weighty = ""};
}

size_t settings_base_length(const char *key) { return strcspn(key, "["); }

static const char *dashes(const struct settings *s) { return s->flags ? "--" : ""; }

static const char *shown_key(struct settings *s, const char *key, size_t length)
{
    return arena_print(s->arena, "%s%.*s", dashes(s), (int)length, key);
}

void settings_say_read(struct settings *s, const char *key)
{
    said_read(&s->said, shown_key(s, key, settings_base_length(key)));
}

// ---- what nobody has set

void settings_say_open(struct settings *s, const struct setting *at)
{
    const char *name = script_open_name(at->text, s->arena);
    s->open = arena_print(s->arena, "%s%s%s (%s%s)", s->open, *s->open ? ", " : "",
                          name ? name : "", dashes(s), at->key);
}

enum status settings_check_open(const struct settings *s, struct error *err)
{
    if (!*s->open) return OK;
    bool gpus = strstr(s->open, "(--nproc-per-node)") || strstr(s->open, "(--nnodes)");
    return refuse(err, "%s: not set in the file: %.600s: give each with --set NAME=value%s",
                  s->document.path, s->open, gpus ? ", the number of GPUs with --gpus" : "");
}

void settings_hint(const struct settings *s, struct error *err)
{
    size_t length = strlen(err->text);
    if (*s->hints && length + 8 < sizeof err->text)
        snprintf(err->text + length, sizeof err->text - length, "%s", s->hints);
    length = strlen(err->text);
    if (s->elsewhere && *s->elsewhere && length + 60 < sizeof err->text)
        snprintf(err->text + length, sizeof err->text - length,
                 "; what is not here may be in %s, which it reads in or runs", s->elsewhere);
}

// ---- keys that are not read

static int add_names(const char **to, int count, const char *names, struct arena *arena)
{
    for (const char *at = names; at && *at && count < NAMES_MOST; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        to[count++] = arena_print(arena, "%.*s", (int)length, at);
        at += length;
    }
    return count;
}

// All that a program knows.
static const char **names_of(struct settings *s, const struct setting_rows *rows, int *count)
{
    if (s->names) return *count = s->name_count, s->names;
    s->names = TAKE(s->arena, NAMES_MOST, const char *), *count = 0;
    for (int i = 0; i < rows->count; i++)
        if (strcmp(rows->rows[i].key, "*")) s->names[(*count)++] = rows->rows[i].key;
    for (size_t k = 0; k < ARRAY_LENGTH(rows->names); k++)
        for (const struct setting_names *n = rows->names[k]; n && n->names; n++)
            *count = add_names(s->names, *count, n->names, s->arena);
    s->name_count = *count;
    return s->names;
}

static const char *last_part(const struct setting_rows *rows, const char *key)
{
    const char *dot = rows->last_parts ? strrchr(key, '.') : NULL;
    return dot ? dot + 1 : key;
}

// Whether a key with the same last part is read: this one is in another section, then. Words like
// "name" are in many.
static bool is_read_elsewhere(const struct setting_rows *rows, const char *last)
{
    size_t length = settings_base_length(last);
    for (int i = 0; memchr(last, '_', length) && i < rows->count; i++) {
        const char *other = last_part(rows, rows->rows[i].key);
        if (rows->rows[i].kind != SETTING_LEFT && rows->rows[i].use != ONLY_WRITTEN &&
            !strncmp(other, last, length) && !other[length])
            return true;
    }
    return false;
}

static bool is_listed_name(const struct setting_rows *rows, const char *key)
{
    if (rows->last_parts && is_read_elsewhere(rows, key = last_part(rows, key))) return false;
    for (size_t k = 0; k < ARRAY_LENGTH(rows->names); k++)
        for (const struct setting_names *n = rows->names[k]; n && n->names; n++)
            if (name_is_listed(n->names, key, settings_base_length(key))) return true;
    return false;
}

// ---- keys that nobody knows, by the words of their names

// What a model, a layout or memory is said in; what has one of the other words is none of it.
static const char weighty[] =
    "parallel parallelism parallelization tp pp cp ep vpp etp fsdp hsdp zero shard sharding "
    "sharded layer layers hidden heads kv gqa mqa experts expert moe topk lora qlora dora adapter "
    "adapters peft freeze frozen recompute recomputation offload offloading fp8 fp4 fp16 bf16 "
    "float8 float16 bfloat16 mxfp8 nvfp4 precision quantize quantized quantization 4bit 8bit batch "
    "seq seqlen sequence vocab vocabulary rope rotary norm layernorm rmsnorm bias tie tied untie "
    "window attention attn mlp ffn intermediate swiglu glu geglu activation activations mtp nextn "
    "pipeline virtual stages residual mamba ssm hybrid mla gdn linear compress compression swap "
    "distill distillation teacher reward dpo zero1 zero3";
static const char weightless[] =
    "log logs logging logger print verbose wandb mlflow tensorboard swanlab comet save saving load "
    "loading resume eval evaluation validation val test lr learning rate decay warmup scheduler "
    "seed init initializer data dataset datasets tokenizer template path dir file name project "
    "entity host port address url timeout interval freq frequency steps epochs epoch iters profile "
    "profiler nsys debug trace inference generation rollout sampling vllm sglang export convert "
    "workers prefetch prompt image images video vision hub push report monitor metrics timers ckpt "
    "coef coeff bucket dropout update pad loss std eps epsilon beta beta1 beta2 backend impl "
    "kernel fused fusion deterministic";
static const char weightless_sections[] =
    "logger logging log wandb exp ckpt checkpoint rollout generation eval validation reward critic "
    "ref retriever teacher env ray hydra inference tokenizer";

// Flags that begin so are of programs beside the one that trains.
static const char tools[] = "sglang vllm lmdeploy opd wandb swanlab mlflow clearml";

// Whether one of the words of a key, in small letters, is in the list.
static bool has_word(const char *key, size_t length, const char *list)
{
    for (size_t i = 0, word; i < length; i += word + 1) {
        word = 0;
        while (i + word < length && isalnum((unsigned char)key[i + word])) word++;
        if (word && name_is_listed(list, key + i, word)) return true;
    }
    return false;
}

// Whether an unknown key may be of what is made, by its words, and is not turned off.
static bool weighs(struct settings *s, const struct setting *at)
{
    static const char off[] = "false none null no off 0", ranks[] = "parallel tp pp cp ep";
    const char *text = at->text;
    if (!text || (*text && name_is_listed(off, text, strlen(text)))) return false;
    char *key = arena_copy_text(s->arena, at->key);
    for (char *c = key; *c; c++) *c = (char)tolower((unsigned char)*c);
    size_t length = settings_base_length(key), part = length;
    while (part && key[part - 1] != '.') part--;
    const char *last = key + part;
    length -= part;
    if (has_word(key, part, weightless_sections) || !strcasecmp(text, "false") ||
        !strcasecmp(text, "none") || (!strcmp(text, "1") && has_word(last, length, ranks)))
        return false;
    if (strstr(last, "grad") && strstr(last, "checkpoint")) return true;
    return !has_word(last, length, weightless) &&
           (has_word(last, length, weighty) || has_word(key, part, weighty));
}

// Whether the file states a key of the same last part that is read: this one is what an anchor
// names, or what a reference takes.
static bool is_stated(const struct settings *s, const struct setting_rows *rows, const char *key)
{
    const char *dot = strrchr(key, '.'), *last = dot ? dot : key;
    for (int i = 0; dot && i < s->count; i++) {
        const char *other = s->items[i].key, *part = strrchr(other, '.');
        if (!part || strcmp(part, last) != 0 || !strcmp(other, key)) continue;
        for (int k = 0; k < rows->count; k++)
            if (rows->rows[k].kind != SETTING_LEFT && setting_is_known(&rows->rows[k], other))
                return true;
    }
    return false;
}

// Whether a key that is read was probably meant.
static bool is_misspelt(const struct settings *s, const struct setting_rows *rows, const char *key,
                        const char *const *names, int count)
{
    if (s->said.unknown_count >= CLOSE_MOST || strlen(key) < 8) return false;
    int at = name_within(key, names, count, 1);
    return at >= 0 && at < rows->count && rows->rows[at].kind != SETTING_LEFT;
}

// A log prints a member as it is where nobody has given the flag that turns it off.
static bool is_left_on(const struct settings *s, const struct setting_rows *rows,
                       const struct setting *at)
{
    return s->dump && !*at->text &&
           (is_listed_name(rows, arena_print(s->arena, "no-%s", at->key)) ||
            is_listed_name(rows, arena_print(s->arena, "disable-%s", at->key)));
}

// A key that nobody knows: to be refused if it weighs, else said.
static void say_unknown(struct settings *s, const struct setting_rows *rows,
                        const struct setting *at)
{
    int count;
    if (is_left_on(s, rows, at)) return;
    const char *last = last_part(rows, at->key),
               *key = shown_key(s, at->key, (size_t)(last - at->key) + settings_base_length(last));
    if (s->said.unknown &&
        strstr(s->said.unknown, arena_print(s->arena, " %.120s is unknown", key)))
        return;
    const char **names = names_of(s, rows, &count);
    bool refused = !s->saved && at->text && strcmp(at->text, "auto") != 0 &&
                   !is_stated(s, rows, at->key) &&
                   (weighs(s, at) || is_misspelt(s, rows, key + strlen(dashes(s)), names, count));
    bool told = refused ? s->weighty_count < WEIGHTY_TOLD : s->said.unknown_count < CLOSE_MOST;
    const char *whole = key + strlen(dashes(s)), *part = last_part(rows, key);
    int meant = told ? name_within(whole, names, count, 1) : -1;
    if (told && meant < 0) meant = name_within(part, names, count, 1);
    if (told && meant < 0) meant = name_meant(whole, names, count);
    if (told && meant < 0) meant = name_meant(part, names, count);
    const char *hint =
        meant < 0 ? "" : arena_print(s->arena, " (did you mean %s%s?)", dashes(s), names[meant]);
    if (refused && strstr(s->weighty, key)) return;
    if (refused && s->weighty_count++ < WEIGHTY_TOLD)
        s->weighty =
            arena_print(s->arena, "%s%s%.100s%s", s->weighty, *s->weighty ? ", " : "", key, hint);
    if (refused) return;
    const char *line = s->flags ? "" : arena_print(s->arena, "line %d: ", at->line);
    said_unknown(&s->said, "%s: %s%.120s is unknown and left out%s%s%s%s", s->document.path, line,
                 key, meant < 0 ? "" : "; did you mean ", meant < 0 ? "" : dashes(s),
                 meant < 0 ? "" : names[meant], meant < 0 ? "" : "?");
}

enum status settings_check_weighty(const struct settings *s, struct error *err)
{
    if (!s->weighty_count) return OK;
    const char *more = s->weighty_count > WEIGHTY_TOLD
                           ? arena_print(s->arena, " and %d more", s->weighty_count - WEIGHTY_TOLD)
                           : "";
    return refuse(err,
                  "%s: unknown, and by the name of what a model or job states: %s%s: --ignore NAME "
                  "leaves one out that changes nothing here%s",
                  s->document.path, s->weighty, more,
                  s->weighty_count < 2 ? "" : "; or the file is another program's");
}

// For a section without any known key, only the first name.
static const char *left_name(struct settings *s, const struct setting_rows *rows, const char *key)
{
    size_t length = strcspn(key, ".[") + 1;
    for (int i = 0; i < rows->count && key[length - 1] == '.'; i++)
        if (!strncmp(rows->rows[i].key, key, length)) return key;
    return arena_print(s->arena, "%.*s", (int)length - 1, key);
}

// For "section.*": whether another key of the section is read.
static bool is_read(const struct setting_rows *rows, const char *section)
{
    size_t length = strlen(section);
    if (length < 2 || strcmp(section + length - 2, ".*")) return false;
    for (int i = 0; i < rows->count; i++)
        if (rows->rows[i].kind != SETTING_LEFT && !strncmp(rows->rows[i].key, section, length - 1))
            return true;
    return false;
}

void settings_say_left(struct settings *s, const char *name)
{
    size_t length = settings_base_length(name);
    if (length > 1 && !strcmp(name + length - 2, ".*")) length -= 2;
    said_ignore(&s->said, shown_key(s, name, length));
}

// _target_, _call_ ...: how an object is constructed, not what it contains.
static bool is_python(const char *key)
{
    const char *dot = strrchr(key, '.');
    return (dot ? dot + 1 : key)[0] == '_';
}

void settings_leave(struct settings *s, const struct setting_rows *rows, const struct setting *at)
{
    const struct setting_row *row = rows->rows, *end = row + rows->count;
    while (row < end && (!strcmp(row->key, "*") || !setting_is_known(row, at->key))) row++;
    bool any = rows->count && !strcmp(rows->rows[rows->count - 1].key, "*");
    if (is_python(at->key)) return;
    if (row < end) settings_say_left(s, is_read(rows, row->key) ? at->key : row->key);
    else if (rows->last_parts && !at->text) return;
    else if (s->flags && has_word(at->key, strcspn(at->key, "-_."), tools))
        settings_say_left(s, at->key);
    else if (is_listed_name(rows, at->key))
        settings_say_left(s, rows->last_parts && any ? left_name(s, rows, at->key) : at->key);
    else say_unknown(s, rows, at);
}

bool settings_are_left(struct settings *s, const char *key)
{
    size_t length = settings_base_length(key);
    for (int i = 0; s->leave && i < s->leave->count; i++) {
        const char *name = s->leave->items[i] + strspn(s->leave->items[i], "-");
        if (length == strlen(name) && !strncmp(key, name, length))
            return said_assume(&s->said, "%s changes nothing, as --ignore says",
                               shown_key(s, key, length)),
                   true;
    }
    return false;
}

// ---- at the end

void settings_conclude(struct settings *s)
{
    if (*s->twice) said_assume(&s->said, "%s", s->twice);
    if (*s->empty) said_assume(&s->said, "not set, taken as empty: %.200s", s->empty);
    if (*s->hints) said_assume(&s->said, "%s", s->hints + 2);
}

enum status settings_refuse(const struct settings *s, const char *key, struct error *err,
                            const char *format, ...)
{
    char text[ERROR_TEXT_MAX / 2];
    const struct setting *at = setting_of(s, key);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (at && !s->flags)
        return refuse(err, "%s: line %d: %s: %s", s->document.path, at->line, key, text);
    return refuse(err, "%s: %s%s: %s", s->document.path, dashes(s), key, text);
}

enum status settings_ask(const char *file, const struct settings_lack *of, int count,
                         struct error *err)
{
    char what[256] = "", options[128] = "";
    int found = 0, left = 0;
    for (int i = 0; i < count; i++) left += of[i].lacks;
    for (int i = 0; i < count; i++) {
        if (!of[i].lacks) continue;
        const char *between = !found ? "" : --left > 1 ? ", " : " and ";
        size_t at = strlen(what), to = strlen(options);
        snprintf(what + at, sizeof what - at, "%s%s", between, of[i].what);
        snprintf(options + to, sizeof options - to, "%s%s", between, of[i].option);
        found++;
    }
    if (!found) return OK;
    return refuse(err, "%s: %s %s missing: give %s with %s", file, what, found > 1 ? "are" : "is",
                  found > 1 ? "them" : "it", options);
}
