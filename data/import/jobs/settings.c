// See settings.h.
#include "data/import/jobs/settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/grow.h"
#include "data/base/names.h"
#include "data/import/script/script.h"
#include "data/kinds/schedules.h"

const struct setting *setting_of(const struct settings *s, const char *key)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->items[i].key, key)) return &s->items[i];
    return NULL;
}

double settings_number(const struct settings *s, const char *key)
{
    const struct setting *at = setting_of(s, key);
    return at && at->text ? atof(at->text) : 0;
}

void settings_replace(struct settings *s, const char *key, const char *text, int line)
{
    struct setting *at = (struct setting *)setting_of(s, key);
    if (!at) at = GROWN(s->arena, s->items, s->count, s->capacity, 64);
    else if (!line) line = at->line;
    *at = (struct setting){key, text, line};
}

const char *settings_text(const struct settings *s, const char *key)
{
    const struct setting *at = setting_of(s, key);
    return at ? at->text : NULL;
}

void settings_rename(struct settings *s, const char *from, const char *to)
{
    struct setting *at = (struct setting *)setting_of(s, from);
    if (at) at->key = to;
}

// The part after "key[N]"; NULL: the setting is in no such list.
static const char *behind_element(const struct setting *at, const char *key, int *number)
{
    size_t length = strlen(key);
    int read = 0;
    if (strncmp(at->key, key, length) || sscanf(at->key + length, "[%d]%n", number, &read) < 1)
        return NULL;
    return at->key + length + read;
}

bool setting_lists(const struct settings *s, const char *key, const char *text)
{
    int number;
    for (int i = 0; i < s->count; i++)
        if (behind_element(&s->items[i], key, &number) && s->items[i].text &&
            !strcasecmp(s->items[i].text, text))
            return true;
    return false;
}

int setting_list_length(const struct settings *s, const char *key)
{
    int most = 0, number;
    for (int i = 0; i < s->count; i++)
        if (behind_element(&s->items[i], key, &number) && number >= most) most = number + 1;
    return most;
}

// ---- taking

static size_t base_length(const char *key) { return settings_base_length(key); }

bool setting_is_known(const struct setting_row *known, const char *key)
{
    if (!strcmp(known->key, "*")) return true;
    size_t length = strlen(known->key), base = base_length(key);
    if (length > 1 && !strcmp(known->key + length - 2, ".*"))
        return !strncmp(known->key, key, length - 1) ||
               (base == length - 2 && !strncmp(known->key, key, base));
    return base == length && !strncmp(known->key, key, length);
}

// 4_096, as in TOML.
static const char *without_underscores(struct settings *s, const struct setting_row *row,
                                       const char *text)
{
    if (row->kind < SETTING_INT || row->kind > SETTING_SHARE) return text;
    char *copy = arena_copy_text(s->arena, text), *to = copy;
    for (const char *from = text; *from; from++)
        if (*from != '_') *to++ = *from;
    *to = '\0';
    return copy;
}

enum { NUMBER_MOST = 1000000000 };

static bool is_whole(const struct setting_row *row, const char *text, int64_t *value)
{
    if (row->kind == SETTING_WHOLE && !strcmp(text, "-1")) return *value = -1, true;
    return word_is_whole(text, value) && *value <= NUMBER_MOST;
}

// A flag's value is what YAML and transformers take for one; another word turns it on, unless it
// looks like a word for no misspelt.
static bool is_truth(const struct settings *s, const char *text, bool *value)
{
    static const char *const no[] = {"false", "no", "off", "n", "f", "0"},
                             *const yes[] = {"", "true", "yes", "on", "y", "t", "1"},
                             *const words[] = {"true", "false"};
    *value = !strcasecmp(text, "true");
    if (!s->flags) return *value || !strcasecmp(text, "false");
    for (size_t i = 0; i < ARRAY_LENGTH(no); i++)
        if (!strcasecmp(text, no[i])) return true;
    *value = true;
    for (size_t i = 0; i < ARRAY_LENGTH(yes); i++)
        if (!strcasecmp(text, yes[i])) return true;
    return name_meant(text, words, ARRAY_LENGTH(words)) < 0;
}

// Whether the text is a value of this kind.
static bool set_value(const struct settings *s, const struct setting_row *row, const char *text,
                      void *to, const char **expected)
{
    int64_t whole = 0;
    int found = 0;
    bool truth;
    switch (row->kind) {
    case SETTING_FLAG:
    case SETTING_TRUE:
    case SETTING_UNLESS:
    case SETTING_SWITCH:
        *expected = "true or false";
        if (!is_truth(s, text, &truth)) return false;
        if (row->kind == SETTING_SWITCH) *(int *)to = truth;
        else *(bool *)to = truth != (row->kind == SETTING_UNLESS);
        return true;
    case SETTING_INT:
    case SETTING_COUNT:
    case SETTING_WHOLE:
        *expected = row->kind == SETTING_WHOLE ? "a whole number from -1 to 1e9"
                                               : "a whole number from 0 to 1e9";
        if (!is_whole(row, text, &whole)) return false;
        if (row->kind == SETTING_INT) *(int *)to = (int)whole;
        else *(int64_t *)to = whole;
        return true;
    case SETTING_NUMBER:
    case SETTING_ROUND:
    case SETTING_SHARE: *expected = "a number"; return word_is_number(text, to);
    case SETTING_NAMED:
        for (found = 1; found && strcasecmp(row->names[found], text);) found--;
        return *(bool *)to = found, true;
    case SETTING_NAME:
        *expected = row->names[0];
        for (int i = 1; row->names[i]; i++)
            *expected = arena_print(s->arena, "%s%s%s", *expected,
                                    row->names[i + 1] ? ", " : " or ", row->names[i]);
        while (row->names[found] && strcasecmp(row->names[found], text)) found++;
        return *(int *)to = found, row->names[found] != NULL;
    case SETTING_TEXT:
    case SETTING_RAW: *(const char **)to = text; return true;
    case SETTING_LATER:
    case SETTING_LEFT: break;
    }
    return true;
}

bool setting_has_effect(const struct setting_effect *e, const struct setting *at)
{
    const char *text = at->text ? at->text : "null";
    if (!strcasecmp(text, "false")) return name_is_listed(e->harmless, "true", 4);
    if (!strcasecmp(text, "none") || !strcasecmp(text, "null")) return false;
    return !*text || !name_is_listed(e->harmless, text, strlen(text));
}

static bool is_in_section(const struct setting_rows *rows, const char *key, const char *last)
{
    for (int k = 0; rows->sections && rows->sections[k]; k++) {
        size_t length = strlen(rows->sections[k]);
        if (last == key + length + 1 && !strncmp(key, rows->sections[k], length)) return true;
    }
    return false;
}

static const struct setting_effect *effect_of(const struct setting_rows *rows,
                                              const struct setting *at)
{
    const struct setting_effect *e = rows->effects;
    const char *dot = rows->beyond ? strrchr(at->key, '.') : NULL, *last = dot ? dot + 1 : at->key;
    while (e && e->keys && !name_is_listed(e->keys, at->key, base_length(at->key)) &&
           !name_is_listed(e->keys, last, base_length(last)))
        e++;
    if (e && e->keys) return e;
    e = is_in_section(rows, at->key, last) ? rows->within : NULL;
    while (e && e->keys && !name_is_listed(e->keys, last, base_length(last))) e++;
    return e && e->keys ? e : NULL;
}

// A key that no row reads: what it changes is refused or assumed away, or it is harmless.
static enum status take_other(struct settings *s, const struct setting_rows *rows,
                              const struct run *run, const struct setting *at, struct error *err)
{
    const struct setting_effect *e = effect_of(rows, at);
    bool on_model = e && e->kind == EFFECT_ON_MODEL,
         asked = on_model ? run->wants_model : run->wants_job;
    bool left = e && e->kind == EFFECT_ON_OTHERS && s->policy_alone;
    if (e && !left && at->text && strchr(at->text, OPEN_BEGIN) && e->kind != EFFECT_ASSUMED) {
        if (asked) settings_say_open(s, at);
    } else if (!e) {
        settings_leave(s, rows, at);
    } else if (left || !setting_has_effect(e, at)) {
        settings_say_left(s, at->key);
    } else if (e->kind == EFFECT_ASSUMED) {
        said_assume(&s->said, "%s%s: %s", s->flags ? "--" : "", at->key, e->text);
    } else if (asked) {
        return settings_refuse(s, at->key, err, "is not read: %s", e->text);
    } else { // of what is not made
        const char *what = strstr(e->text, ": ");
        said_assume(&s->said, "%s%s: %.*s: the %s's, which is not made here", s->flags ? "--" : "",
                    at->key, (int)(what ? what - e->text : (long)strlen(e->text)), e->text,
                    on_model ? "model" : "job");
    }
    return OK;
}

#define WITHIN(row, member)                                                                        \
    ((row)->at >= offsetof(struct run, member) &&                                                  \
     (row)->at < offsetof(struct run, member) + sizeof(((struct run *)NULL)->member))

// Whether a value that nobody has set does not matter: it is asked for elsewhere, or is of what is
// not made.
static bool may_be_open(const struct settings *s, const struct setting_row *row,
                        const struct run *run)
{
    if (row->kind <= SETTING_SWITCH) return true;
    if (WITHIN(row, processes) || WITHIN(row, nodes)) return s->gpus_asked || !run->wants_job;
    if (WITHIN(row, shape.vocabulary)) return s->vocabulary_asked || !run->wants_model;
    if (WITHIN(row, model) || WITHIN(row, adapters)) return true;
    if (WITHIN(row, job)) return !run->wants_job;
    return (WITHIN(row, shape) || WITHIN(row, experts)) && !run->wants_model;
}

static enum status take_row(struct settings *s, const struct setting_row *row,
                            const struct setting *at, struct run *run, struct error *err)
{
    const char *expected = "";
    if (s->flags && !*at->text && row->kind > SETTING_SWITCH)
        return settings_refuse(s, at->key, err, "a value is missing");
    settings_say_read(s, at->key);
    if (at->text && strchr(at->text, OPEN_BEGIN)) {
        if (!may_be_open(s, row, run)) settings_say_open(s, at);
        return OK;
    }
    const char *text = at->text;
    if (text && s->flags && row->kind >= SETTING_INT && row->kind <= SETTING_SHARE)
        text = arena_print(s->arena, "%.*s", (int)strcspn(text, " "), text); // the first of several
    const char *element = at->key + base_length(at->key);
    if (text && WITHIN(row, adapters) && *element && strcmp(element, "[0]") != 0)
        text = arena_print(s->arena, "%s, %s", run->adapters.modules, text);
    if (text && strcmp(text, "auto") &&
        !set_value(s, row, without_underscores(s, row, text), (char *)run + row->at, &expected))
        return settings_refuse(s, at->key, err, "expected %s, found \"%.60s\"", expected, text);
    return OK;
}

enum status settings_take(struct settings *s, const struct setting_rows *table, struct run *run,
                          struct error *err)
{
    struct setting_rows all = setting_rows_of(table, s->arena), *rows = &all;
    for (int i = 0; i < s->count; i++) {
        const struct setting *at = &s->items[i];
        const struct setting_row *row = rows->rows, *end = row + rows->count;
        if (settings_are_left(s, at->key)) continue;
        while (row < end && !setting_is_known(row, at->key)) row++;
        if (row == end || row->kind == SETTING_LEFT || row->use == ONLY_WRITTEN)
            TRY(take_other(s, rows, run, at, err));
        else TRY(take_row(s, row, at, run, err));
    }
    return settings_check_open(s, err);
}

// ---- the job

void settings_take_offload(struct run *r, struct settings *s)
{
    struct job *j = &r->job;
    if (!j->layout.offload_optimizer || !(r->offload_share > 0 && r->offload_share < 1)) return;
    int percent = (int)(100 * r->offload_share + 0.5);
    if (!percent) percent = 1;
    job_offer_shares(j, &percent, 1, s->arena);
    j->layout.offload_optimizer = false;
    said_assume(&s->said, "a stage may keep %d %% of the optimizer's state on the host, or none",
                percent);
}

bool settings_take_policy(struct settings *s)
{
    const struct setting *type = setting_of(s, "rlhf-type");
    s->policy_alone = type ? type->text && !strcmp(type->text, "grpo")
                           : setting_of(s, "num-generations") != NULL;
    return s->policy_alone;
}

enum status settings_take_environment(struct run *r, const struct settings *s, struct error *err)
{
    if (r->processes || !s->processes) return OK;
    r->processes = atoll(s->processes);
    if (!s->machines || r->gpus || !r->wants_job) return OK;
    const char *open = script_open_name(s->machines, s->arena);
    if (open)
        return refuse(err,
                      "%s: not set in the file: %.60s (NNODES): give it with --set NAME=value, or "
                      "the number of GPUs with --gpus",
                      s->document.path, open);
    r->nodes = atoll(s->machines);
    if (r->nodes > 0 && r->nodes <= 1 << 20) return OK;
    return refuse(err, "%s: NNODES: expected a number of nodes, found \"%.40s\"", s->document.path,
                  s->machines);
}

// GPUs that no launcher states, by variables: of the run, or of a node whose launcher takes all.
static void take_variables(struct run *r, struct settings *s)
{
    if (r->gpus || r->processes || s->of_node || !r->wants_job) return;
    int64_t all = s->world ? atoll(s->world) : 0, visible = s->visible != NULL;
    for (const char *at = s->visible; at && *at; at++) visible += *at == ',' && at[1];
    bool world = all > 1 && all <= 1 << 24;
    if (!world && !visible) return;
    r->processes = world ? all : visible;
    if (world || !r->nodes) r->nodes = 1;
    said_assume(&s->said, "%lld GPUs%s, as %s says", (long long)r->processes,
                r->nodes > 1 ? " of each node" : "", world ? "WORLD_SIZE" : "CUDA_VISIBLE_DEVICES");
}

void settings_take_slurm(struct run *r, struct settings *s)
{
    bool each = r->processes && !r->nodes && s->by_slurm && s->nodes;
    take_variables(r, s);
    if (r->gpus || !r->wants_job || !(each || (!r->processes && s->of_node))) return;
    if (!each) r->processes = atoll(s->of_node);
    if (!r->nodes && s->nodes) r->nodes = atoll(s->nodes);
    said_assume(&s->said, "%lld nodes of %lld GPUs, as #SBATCH says",
                (long long)(r->nodes ? r->nodes : 1), (long long)r->processes);
}

struct job job_imported(const char *name, const struct settings *s)
{
    struct job j = {.document = s->document,
                    .name = name,
                    .gradient_bytes_per_value = 4,
                    .adam = true,
                    .budget = {-1, -1, -1, 0},
                    .memory_fraction = MEMORY_FRACTION_DEFAULT,
                    .layout = {LAYOUT_PLAIN(1), .tensor = 1, .context = 1,
                               .schedule = SCHEDULE_1F1B, .fused_attention = true}};
    j.recompute[RECOMPUTE_NONE] = true;
    return j;
}

enum status settings_divide(const char *file, const char *what, int64_t all, int64_t by, int *to,
                            struct error *err)
{
    if (by < 1 || all < by || all % by || all / by > 1 << 30)
        return refuse(err, "%s: %s: expected a multiple of %lld, found %lld", file, what,
                      (long long)by, (long long)all);
    *to = (int)(all / by);
    return OK;
}
