// Parsing of a command line by its table of options.
#include "data/base/options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/base/names.h"
#include "data/base/options_text.h"
#include "data/base/plain.h"

static enum status set_number(const struct option *o, const char *value, struct error *err)
{
    char *end;
    errno = 0;
    if (o->type == OPTION_INT) {
        long long x = strtoll(value, &end, 10);
        if (!*value || *end || errno || (double)x < o->low || (double)x > o->high)
            return fail(err, BAD_INPUT,
                        "%s: expected a whole number from %.17g to %.17g, found '%s'", o->name,
                        o->low, o->high, value);
        *(int64_t *)o->to = x;
        return OK;
    }
    double x = strtod(value, &end);
    if (!*value || *end || !isfinite(x) || x < o->low || x > o->high)
        return fail(err, BAD_INPUT, "%s: expected a number from %.17g to %.17g, found '%s'",
                    o->name, o->low, o->high, value);
    *(double *)o->to = x;
    return OK;
}

static enum status set(const struct option *o, const char *value, struct error *err)
{
    if (o->type == OPTION_INT || o->type == OPTION_NUMBER) return set_number(o, value, err);
    if (o->type != OPTION_NAME && !*value)
        return fail(err, BAD_INPUT, "%s: expected a value, found nothing", o->name);
    if (o->type == OPTION_TEXTS) {
        struct option_texts *texts = o->to;
        if (texts->count == texts->most)
            return fail(err, BAD_INPUT, "%s: expected at most %d of these", o->name, texts->most);
        texts->items[texts->count++] = value;
        return OK;
    }
    if (o->type != OPTION_NAME) {
        *(const char **)o->to = value;
        return OK;
    }
    char known[200] = "";
    for (int i = 0; o->names[i]; i++) {
        if (!strcmp(o->names[i], value)) {
            *(int *)o->to = i;
            return OK;
        }
        size_t n = strlen(known);
        snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", o->names[i]);
    }
    return fail(err, BAD_INPUT, "%s: expected one of %s, found '%s'", o->name, known, value);
}

static enum status unknown_option(const char *word, const struct options_table *t,
                                  struct error *err)
{
    enum { NAMES_MOST = 64 };
    const char *names[NAMES_MOST];
    char name[64];
    int known = 0;
    for (size_t i = 0; i < t->count && known < NAMES_MOST; i++) names[known++] = t->options[i].name;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    int meant = name_meant(name, names, known);
    if (meant < 0) return fail(err, BAD_INPUT, "unknown option '%s'; usage: %s", word, t->usage);
    return fail(err, BAD_INPUT, "unknown option '%s', did you mean %s? usage: %s", word,
                names[meant], t->usage);
}

// Words and the folder that relative names begin at: their names are printed and written.
static enum status check_plain(int argc, char **argv, struct error *err)
{
    char folder[PATH_MAX];
    for (int i = 1; i < argc; i++) TRY(plain_check(argv[i], "command line", err));
    return getcwd(folder, sizeof folder) ? plain_check(folder, "current folder", err) : OK;
}

enum status options_read(int argc, char **argv, const char *usage, const struct option *options,
                         size_t option_count, const char **operands, int operand_min,
                         int operand_max, int *operand_count, bool *helped, struct error *err)
{
    const struct options_table table = {usage, options, option_count};
    bool ended = false;
    int operand_total = 0;
    *helped = options_completed(&table, argc, argv);
    if (*helped) return OK;
    TRY(check_plain(argc, argv, err));
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        *helped = !ended && options_told(&table, argc, argv, i);
        if (*helped) return OK;
        if (!ended && !strcmp(word, "--")) {
            ended = true;
        } else if (ended || word[0] != '-' || !word[1]) {
            if (operand_total == operand_max)
                return fail(err, BAD_INPUT, "unexpected operand '%s'; usage: %s", word, usage);
            operands[operand_total++] = word;
        } else {
            const char *equals = strchr(word, '=');
            const struct option *o =
                options_find(&table, word, equals ? (size_t)(equals - word) : strlen(word));
            if (!o) return unknown_option(word, &table, err);
            if (o->type == OPTION_FLAG) {
                if (equals) return fail(err, BAD_INPUT, "%s takes no value", o->name);
                *(bool *)o->to = true;
            } else {
                if (!equals && i + 1 == argc)
                    return fail(err, BAD_INPUT, "%s: expected a value, found nothing", o->name);
                TRY(set(o, equals ? equals + 1 : argv[++i], err));
            }
        }
    }
    if (operand_total < operand_min)
        return fail(err, BAD_INPUT, "missing operand; usage: %s", usage);
    if (operand_count) *operand_count = operand_total;
    return OK;
}
