// Reads a command line by a command's rows.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/base/command_text.h"
#include "data/base/names.h"
#include "data/base/plain.h"

struct reading {
    const struct command *command;
    void *options;
    int argc, operand_count;
    struct arena *arena;
    struct error *err;
};

// ---- values

static bool is_operand(const struct option_row *row) { return *row->name != '-'; }

static const void *value_in(const struct command *c, const void *options,
                            const struct option_row *row)
{
    size_t at = row->at;
    for (size_t k = 0; k < ARRAY_LENGTH(c->shared) && c->shared[k].table; k++) {
        const struct option_table *s = c->shared[k].table;
        if (row >= s->rows && row < s->rows + s->count) at += c->shared[k].at;
    }
    return (const char *)options + at;
}

static enum status set_number(const struct option_row *row, void *to, const char *value,
                              struct error *err)
{
    char *end;
    errno = 0;
    if (row->type == OPTION_NUMBER) {
        double x = strtod(value, &end);
        if (!*value || *end || !isfinite(x) || x < row->low || x > row->high)
            return refuse(err, "%s: expected a number from %.17g to %.17g, found '%s'", row->name,
                          row->low, row->high, value);
        *(double *)to = x;
        return OK;
    }
    long long x = strtoll(value, &end, 10);
    if (!*value || *end || errno || (double)x < row->low || (double)x > row->high)
        return refuse(err, "%s: expected a whole number from %.17g to %.17g, found '%s'", row->name,
                      row->low, row->high, value);
    if (row->type == OPTION_INT) *(int64_t *)to = x;
    else *(int *)to = (int)x;
    return OK;
}

static enum status set_name(const struct option_row *row, int *to, const char *value,
                            struct error *err)
{
    char known[200] = "";
    for (int i = 0; row->names[i]; i++) {
        if (!strcmp(row->names[i], value)) return *to = i, OK;
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", row->names[i]);
    }
    return refuse(err, "%s: expected one of %s, found '%s'", row->name, known, value);
}

static enum status add_text(const struct reading *r, const struct option_row *row,
                            struct option_texts *texts, const char *value)
{
    if (!texts->items) texts->items = TAKE(r->arena, r->argc, const char *);
    if (texts->count == row->many)
        return refuse(r->err, "%s: expected at most %d of these", row->name, row->many);
    texts->items[texts->count++] = value;
    return OK;
}

static enum status set(const struct reading *r, const struct option_row *row, const char *value)
{
    void *to = (void *)(uintptr_t)value_in(r->command, r->options, row);
    switch (row->type) {
    case OPTION_FLAG: return *(bool *)to = true, OK;
    case OPTION_INT:
    case OPTION_COUNT:
    case OPTION_NUMBER: return set_number(row, to, value, r->err);
    case OPTION_NAME: return set_name(row, to, value, r->err);
    default: break;
    }
    if (!*value && !is_operand(row))
        return refuse(r->err, "%s: expected a value, found nothing", row->name);
    if (row->many) return add_text(r, row, to, value);
    return *(const char **)to = value, OK;
}

// ---- what was given

static bool differs(const struct option_row *row, const void *value, const void *usual)
{
    static const size_t sizes[] = {
        [OPTION_FLAG] = sizeof(bool), [OPTION_INT] = sizeof(int64_t),
        [OPTION_COUNT] = sizeof(int), [OPTION_NUMBER] = sizeof(double),
        [OPTION_NAME] = sizeof(int),
    };
    if (row->many) return ((const struct option_texts *)value)->count > 0;
    size_t size = row->type < ARRAY_LENGTH(sizes) ? sizes[row->type] : 0;
    return memcmp(value, usual, size ? size : sizeof(const char *)) != 0;
}

static bool is_given(const struct reading *r, const struct option_row *row)
{
    static const char zeros[sizeof(int64_t)];
    const struct command *c = r->command;
    return differs(row, value_in(c, r->options, row),
                   c->defaults ? value_in(c, c->defaults, row) : zeros);
}

static const char *value_text(const struct option_row *row, const void *value, struct arena *arena)
{
    switch (row->type) {
    case OPTION_INT: return arena_print(arena, "%lld", (long long)*(const int64_t *)value);
    case OPTION_COUNT: return arena_print(arena, "%d", *(const int *)value);
    case OPTION_NUMBER: return arena_print(arena, "%.17g", *(const double *)value);
    case OPTION_NAME: return row->names[*(const int *)value];
    default: return *(const char *const *)value;
    }
}

int command_words(const char **words, int count, const struct option_table *table,
                  const void *options, const void *usual, struct arena *arena)
{
    for (int i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        const char *value = (const char *)options + row->at;
        if (!differs(row, value, (const char *)usual + row->at)) continue;
        const struct option_texts *texts = row->many ? (const void *)value : NULL;
        for (int k = 0; k < (texts ? texts->count : 1); k++) {
            words[count++] = row->name;
            if (row->type != OPTION_FLAG)
                words[count++] = texts ? texts->items[k] : value_text(row, value, arena);
        }
    }
    return count;
}

static bool is_stdout(const struct reading *r, const struct option_row *row)
{
    return row->type == OPTION_PATH && !row->many &&
           !strcmp(*(const char *const *)value_in(r->command, r->options, row), "-");
}

// Whether one of a term's alternatives counts; needed: standard output does not.
static bool counts(const struct reading *r, const char *term, bool needed)
{
    const struct option_row *row = NULL;
    for (size_t length; *term && *term != ' '; term += length, term += *term == '|') {
        const char *value = term;
        length = strcspn(term, "| ");
        if (*term == '-' || isupper((unsigned char)*term)) {
            size_t name = strcspn(term, "=| ");
            row = command_find(r->command, term, name);
            assert(row);
            if (term[name] != '=') {
                if (is_given(r, row) && !(needed && is_stdout(r, row))) return true;
                continue;
            }
            value += name + 1;
        }
        assert(row && row->type == OPTION_NAME);
        const char *chosen = row->names[*(const int *)value_in(r->command, r->options, row)];
        size_t size = (size_t)(term + length - value);
        if (strlen(chosen) == size && !strncmp(chosen, value, size)) return true;
    }
    return false;
}

// "--format=csv|latex" as "--format csv or latex"
static const char *term_text(const struct reading *r, const char *term)
{
    const char *text = "";
    for (const char *at = term; *at && *at != ' '; at++)
        text = *at == '|'   ? arena_print(r->arena, "%s or ", text)
               : *at == '=' ? arena_print(r->arena, "%s ", text)
                            : arena_print(r->arena, "%s%c", text, *at);
    return text;
}

static const char *next_term(const char *terms)
{
    terms += strcspn(terms, " ");
    return terms + strspn(terms, " ");
}

static enum status check_row(const struct reading *r, const struct option_row *row)
{
    if ((!row->needs && !row->excludes) || !is_given(r, row)) return OK;
    for (const char *term = row->needs; term && *term; term = next_term(term))
        if (!counts(r, term, true))
            return refuse(r->err, "%s: requires %s", row->name, term_text(r, term));
    for (const char *term = row->excludes; term && *term; term = next_term(term))
        if (counts(r, term, false))
            return refuse(r->err, "%s: cannot be combined with %s", row->name, term_text(r, term));
    return OK;
}

static enum status check_all(const struct reading *r)
{
    const struct command *c = r->command;
    const struct option_row *row;
    int fewest = 0;
    for (int i = 0; (row = command_row(c, i)); i++) fewest += is_operand(row) ? (int)row->low : 0;
    if (r->operand_count < fewest) return refuse(r->err, "missing operand; usage: %s", c->usage);
    for (int i = 0; (row = command_row(c, i)); i++) TRY(check_row(r, row));
    for (const char *term = c->needs; term && *term; term = next_term(term))
        if (!counts(r, term, false))
            return refuse(r->err, "%s is missing; usage: %s", term_text(r, term), c->usage);
    return OK;
}

// ---- words

static enum status unknown_option(const struct command *c, const char *word, struct error *err)
{
    enum { NAMES_MOST = 64 };
    const char *names[NAMES_MOST];
    const struct option_row *row;
    char name[64];
    int known = 0;
    for (int i = 0; (row = command_row(c, i)) && known < NAMES_MOST; i++)
        if (!is_operand(row)) names[known++] = row->name;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    int meant = name_meant(name, names, known), nearest = name_nearest(name, names, known);
    if (nearest < 0) return refuse(err, "unknown option '%s'; usage: %s", word, c->usage);
    return refuse(err, "unknown option '%s', %s %s%s usage: %s", word,
                  meant < 0 ? "the nearest is" : "did you mean", names[nearest],
                  meant < 0 ? ";" : "?", c->usage);
}

// Words and the folder that relative names begin at: their names are printed and written.
static enum status check_plain(int argc, char **argv, struct error *err)
{
    char folder[PATH_MAX];
    for (int i = 1; i < argc; i++) TRY(plain_check(argv[i], "command line", err));
    return getcwd(folder, sizeof folder) ? plain_check(folder, "current folder", err) : OK;
}

static enum status take_operand(struct reading *r, const char *word)
{
    const struct option_row *row;
    int room = 0;
    for (int i = 0; (row = command_row(r->command, i)); i++) {
        if (!is_operand(row)) continue;
        room += row->many ? row->many : 1;
        if (r->operand_count >= room) continue;
        r->operand_count++;
        return set(r, row, word);
    }
    return refuse(r->err, "unexpected operand '%s'; usage: %s", word, r->command->usage);
}

// The option argv[*i], and its value if that is the next word.
static enum status take_option(struct reading *r, char **argv, int *i)
{
    const char *word = argv[*i], *equals = strchr(word, '=');
    const struct option_row *row =
        command_find(r->command, word, equals ? (size_t)(equals - word) : strlen(word));
    if (!row) return unknown_option(r->command, word, r->err);
    if (row->type == OPTION_FLAG)
        return equals ? refuse(r->err, "%s takes no value", row->name) : set(r, row, NULL);
    if (!equals && *i + 1 == r->argc)
        return refuse(r->err, "%s: expected a value, found nothing", row->name);
    return set(r, row, equals ? equals + 1 : argv[++*i]);
}

enum status command_read(const struct command *c, void *options, int argc, char **argv,
                         bool *helped, struct arena *arena, struct error *err)
{
    struct reading r = {.command = c, .options = options, .argc = argc, .arena = arena, .err = err};
    bool ended = false;
    if (c->defaults) memcpy(options, c->defaults, c->size);
    else if (c->size) memset(options, 0, c->size);
    if (c->line)
        *(struct command_line *)(void *)((char *)options + c->line) =
            (struct command_line){argc, argv};
    *helped = command_completed(c, argc, argv);
    if (*helped) return OK;
    TRY(check_plain(argc, argv, err));
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        *helped = !ended && command_helped(c, argv, i);
        if (*helped) return OK;
        if (!ended && !strcmp(word, "--")) ended = true;
        else if (ended || word[0] != '-' || !word[1]) TRY(take_operand(&r, word));
        else TRY(take_option(&r, argv, &i));
    }
    return check_all(&r);
}

enum status command_read_options(const struct command *c, void *options, int argc, char **argv,
                                 struct arena *arena, struct error *err)
{
    bool helped;
    for (int i = 1; i < argc; i++)
        if (!strncmp(argv[i], "--help", 6) || !strcmp(argv[i], "-h"))
            return refuse(err, "%s: expected an option of %s", argv[i], c->name);
    return command_read(c, options, argc, argv, &helped, arena, err);
}
