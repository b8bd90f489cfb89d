// What is printed into a command that changes text: tr, cut, head, tail, xargs, sed, awk, wc, grep,
// as far as scripts need them to make a list of flags. What is not understood stays open.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/import/script/internal.h"

struct filter {
    struct follow *f;
    const char **words;
    int count;
    const char *text;
    struct part out;
};

static bool is(const struct filter *t, int at, const char *word)
{
    return at < t->count && !strcmp(t->words[at], word);
}

static void put(struct filter *t, char c) { part_put(t->f, &t->out, c); }

// "\n" and the like are one character; sets of more than that are single characters.
static size_t characters(char *to, size_t most, const char *set)
{
    size_t count = 0;
    for (const char *s = set; *s && count < most; s++) {
        if (*s == '\\' && s[1]) s++, to[count++] = (char)(*s == 'n' ? '\n' : *s == 't' ? '\t' : *s);
        else if (s[1] == '-' && s[2] > *s) {
            for (char c = *s; c <= s[2] && count < most; c++) to[count++] = c;
            s += 2;
        } else to[count++] = *s;
    }
    return count;
}

static bool run_tr(struct filter *t)
{
    enum { SET_MAX = 128 };
    char from[SET_MAX], into[SET_MAX];
    bool removes = is(t, 1, "-d"), squeezes = is(t, 1, "-s");
    int first = removes || squeezes ? 2 : 1;
    if (first >= t->count || strchr(t->words[first], '[')) return false;
    size_t count = characters(from, SET_MAX, t->words[first]), others = 0;
    if (!removes && !squeezes && first + 1 >= t->count) return false;
    if (!removes && first + 1 < t->count) others = characters(into, SET_MAX, t->words[first + 1]);
    char last = '\0';
    for (const char *s = t->text; *s; s++) {
        const char *at = memchr(from, *s, count);
        size_t k = at ? (size_t)(at - from) : 0;
        char c = at && others ? into[k < others ? k : others - 1] : *s;
        if (at && (removes || (squeezes && last == c))) continue;
        put(t, c), last = c;
    }
    return true;
}

// The words of each line between blanks, or between a sign.
static bool put_column(struct filter *t, long column, char sign)
{
    if (column < 1) return false;
    for (const char *line = t->text; *line;) {
        const char *end = line + strcspn(line, "\n"), *at = line, *stop = line;
        for (long k = 0; k < column; k++) {
            at = k ? stop + (sign && stop < end) : at;
            while (!sign && at < end && isspace((unsigned char)*at)) at++;
            if (sign && k && stop >= end) at = end;
            for (stop = at; stop < end && (sign ? *stop != sign : !isspace((unsigned char)*stop));)
                stop++;
        }
        part_add(t->f, &t->out, at, (size_t)(stop - at));
        put(t, '\n');
        line = end + (*end == '\n');
    }
    return true;
}

static bool run_cut(struct filter *t)
{
    char sign = '\t';
    long field = 0;
    for (int i = 1; i < t->count; i++) {
        const char *w = t->words[i], *value = w[0] == '-' && w[1] && w[2] ? w + 2 : "";
        if (w[0] != '-' || !w[1]) return false;
        if (!*value && i + 1 < t->count) value = t->words[++i];
        if (w[1] == 'd') sign = *value;
        else if (w[1] == 'f' && !value[strspn(value, "0123456789")])
            field = strtol(value, NULL, 10);
        else return false;
    }
    return put_column(t, field, sign);
}

static void put_number(struct filter *t, long number)
{
    const char *text = arena_print(t->f->arena, "%ld\n", number);
    part_add(t->f, &t->out, text, strlen(text));
}

// wc -l, wc -w, grep -c . (lines that are not empty).
static bool run_count(struct filter *t)
{
    bool words = is(t, 0, "wc") && is(t, 1, "-w"), lines = is(t, 0, "wc") && is(t, 1, "-l"),
         full = is(t, 0, "grep") && is(t, 1, "-c") && is(t, 2, ".") && t->count == 3;
    long count = 0;
    if (!full && (t->count != 2 || !(words || lines))) return false;
    for (const char *s = t->text, *before = "\n"; *s; before = s++) {
        bool blank = isspace((unsigned char)*s), after = isspace((unsigned char)*before);
        count += lines ? *s == '\n' : full ? *s != '\n' && *before == '\n' : !blank && after;
    }
    return put_number(t, count), true;
}

// grep -o, of one sign: each of them on a line.
static bool run_grep(struct filter *t)
{
    if (!is(t, 1, "-o") || t->count != 3 || !ispunct((unsigned char)t->words[2][0]) ||
        t->words[2][1] || strchr(".*[^$\\", t->words[2][0]))
        return run_count(t);
    for (const char *s = t->text; *s; s++)
        if (*s == t->words[2][0]) put(t, *s), put(t, '\n');
    return true;
}

// How many parts the sign divides each line into; without it, words.
static bool put_parts(struct filter *t, char sign)
{
    for (const char *line = t->text; *line;) {
        const char *end = line + strcspn(line, "\n");
        long count = sign && end > line;
        for (const char *s = line; s < end; s++) {
            bool blank = isspace((unsigned char)*s);
            count += sign ? *s == sign : !blank && (s == line || isspace((unsigned char)s[-1]));
        }
        put_number(t, count);
        line = end + (*end == '\n');
    }
    return true;
}

// awk '{print $N}' and '{print NF}', also with -F.
static bool run_awk(struct filter *t)
{
    char sign = '\0';
    int at = 1;
    if (at < t->count && !strncmp(t->words[at], "-F", 2)) {
        sign = t->words[at][2] ? t->words[at][2] : at + 1 < t->count ? t->words[++at][0] : '\0';
        at++;
    }
    const char *program = at + 1 == t->count ? t->words[at] : "";
    program += strspn(program, "{ "); // }
    if (!strncmp(program, "print NF", 8) && !program[8 + strspn(program + 8, " ;}")])
        return put_parts(t, sign);
    if (strncmp(program, "print $", 7) != 0) return false;
    char *end;
    long column = strtol(program + 7, &end, 10);
    return !end[strspn(end, " ;}")] && put_column(t, column, sign);
}

// The first or the last lines.
static bool run_lines(struct filter *t, bool first)
{
    long most = 10;
    const char *w = t->count > 1 ? t->words[t->count - 1] : "";
    if (t->count > 3) return false;
    if (*w) most = strtol(w + (*w == '-') + (w[0] == '-' && w[1] == 'n'), NULL, 10);
    long lines = 0, seen = 0;
    for (const char *s = t->text; *s; s++) lines += *s == '\n';
    for (const char *s = t->text; *s && most > 0; s++) {
        if (first ? seen < most : seen >= lines - most) put(t, *s);
        seen += *s == '\n';
    }
    return most > 0;
}

static bool run_xargs(struct filter *t)
{
    const char *s = t->text + strspn(t->text, " \t\n");
    for (; *s; s++) {
        bool blank = isspace((unsigned char)*s);
        if (!blank) put(t, *s);
        else if (s[strspn(s, " \t\n")] && !isspace((unsigned char)s[1])) put(t, ' ');
    }
    put(t, '\n');
    return t->count == 1;
}

// sed 's/text/other/g': without signs of an expression, but "  *", " \+" for several blanks.
static bool run_sed(struct filter *t)
{
    int at = is(t, 1, "-e") || is(t, 1, "-E") ? 2 : 1;
    const char *program = at + 1 == t->count ? t->words[at] : "";
    if (*program != 's' || !program[1]) return false;
    char sign = program[1];
    const char *from = program + 2, *to = strchr(from, sign),
               *end = to ? strchr(to + 1, sign) : NULL;
    if (!end || to == from) return false;
    size_t length = (size_t)(to - from);
    bool all = strchr(end, 'g') != NULL;
    const char *old = arena_print(t->f->arena, "%.*s", (int)length, from);
    bool blanks = !strcmp(old, "  *") || !strcmp(old, "  \\+") || !strcmp(old, " \\+") ||
                  !strcmp(old, " +") || !strcmp(old, "  +");
    if (!blanks && strpbrk(old, "*+?[](){}|.\\^$&")) return false;
    bool done = false;
    for (const char *s = t->text; *s && !t->f->over;) {
        size_t found = blanks ? strspn(s, " ") : strncmp(s, old, length) ? 0 : length;
        if (*s == '\n') done = false;
        if (found && (all || !done)) {
            part_add(t->f, &t->out, to + 1, (size_t)(end - to - 1));
            s += found, done = true;
        } else {
            put(t, *s++);
        }
    }
    return true;
}

const char *script_filtered(struct follow *f, const char **words, int count, const char *text)
{
    struct filter t = {.f = f, .words = words, .count = count, .text = text};
    bool done = false;
    part_add(f, &t.out, "", 0);
    f->bytes += strlen(text);
    if (strchr(text, SCRIPT_OPEN) && !is(&t, 0, "tr") && !is(&t, 0, "sed") && !is(&t, 0, "xargs"))
        return NULL;
    if (is(&t, 0, "tr")) done = run_tr(&t);
    else if (is(&t, 0, "cut")) done = run_cut(&t);
    else if (is(&t, 0, "awk")) done = run_awk(&t);
    else if (is(&t, 0, "head") || is(&t, 0, "tail")) done = run_lines(&t, is(&t, 0, "head"));
    else if (is(&t, 0, "xargs")) done = run_xargs(&t);
    else if (is(&t, 0, "sed")) done = run_sed(&t);
    else if (is(&t, 0, "wc")) done = run_count(&t);
    else if (is(&t, 0, "grep")) done = run_grep(&t);
    else if (is(&t, 0, "cat") && count == 1) return text;
    return done && !f->over ? t.out.s : NULL;
}
