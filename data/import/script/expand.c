// Words with their variables, quotes and commands replaced.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/script/internal.h"

void part_add(struct follow *f, struct part *t, const char *s, size_t length)
{
    if (t->length + length > SCRIPT_WORD_MAX || f->bytes > SCRIPT_BYTES_MAX) {
        f->over = true;
        return;
    }
    if (t->length + length + 1 > t->capacity) {
        size_t capacity = 2 * (t->length + length) + 32;
        f->bytes += capacity;
        t->s = arena_grow(f->arena, t->s, t->length, capacity, 1), t->capacity = capacity;
    }
    memcpy(t->s + t->length, s, length);
    t->length += length, t->s[t->length] = '\0';
}

void part_put(struct follow *f, struct part *t, char c) { part_add(f, t, &c, 1); }

// A character that quotes or a backslash protect.
static void put_quoted(struct follow *f, struct part *t, char c)
{
    if (t->pattern && strchr("*?[\\", c)) part_put(f, t, '\\');
    part_put(f, t, c);
}

void script_add_value(struct follow *f, struct part *t, const char *value, bool quoted)
{
    for (const char *s = value; *s && !f->over; s++) {
        if (*s == SCRIPT_OPEN) {
            size_t length = strcspn(s, "\2");
            part_add(f, t, s, length + (s[length] != 0));
            s += length - (s[length] == 0);
        } else if (quoted) {
            put_quoted(f, t, *s);
        } else {
            part_put(f, t, t->fields && isspace((unsigned char)*s) ? FIELD : *s);
        }
    }
}

// ---- commands in $( )

static void open_command(struct follow *f, struct part *t, struct piece inside)
{
    enum { SHOWN_MAX = 60 };
    char shown[SHOWN_MAX + 8] = "$(";
    size_t length = 2;
    for (const char *s = inside.at; s < inside.end && length < SHOWN_MAX; s++) {
        bool blank = (unsigned char)*s <= ' ';
        if (!blank || shown[length - 1] != ' ') shown[length++] = blank ? ' ' : *s;
    }
    if (length == SHOWN_MAX) memcpy(shown + length, "...", 3), length += 3;
    shown[length++] = ')';
    const char *open = script_open(f, shown, length);
    part_add(f, t, open, strlen(open));
}

static void add_command(struct follow *f, struct part *t, struct piece inside, bool quoted)
{
    struct part captured = {0}, *outer = f->capture;
    bool unknown = f->capture_unknown, skips = f->skip, returned = f->returned;
    const char *folder = f->folder;
    int line = f->line;
    struct variable *ifs = script_variable(f, "IFS", 3, true);
    struct variable kept = ifs ? *ifs : (struct variable){0};
    if (f->depth >= FOLLOW_DEPTH_MAX || !script_step(f)) return;
    f->depth++, f->capture = &captured, f->capture_unknown = false;
    part_add(f, &captured, "", 0);
    script_run_text(f, arena_print(f->arena, "%.*s", (int)(inside.end - inside.at), inside.at),
                    line);
    bool known = !f->capture_unknown;
    f->depth--, f->capture = outer, f->capture_unknown = unknown, f->line = line;
    f->skip = skips, f->returned = returned, f->folder = folder;
    ifs = script_variable(f, "IFS", 3, true);
    if (ifs) *ifs = kept;
    if (!known) {
        open_command(f, t, inside);
        return;
    }
    while (captured.length && captured.s[captured.length - 1] == '\n')
        captured.s[--captured.length] = '\0';
    script_add_value(f, t, captured.s ? captured.s : "", quoted);
}

static void add_sum(struct follow *f, struct part *t, struct piece inside, bool quoted)
{
    const char *text = script_expanded(f, inside), *open = NULL;
    int64_t value;
    if (script_arithmetic(f, text, &value, &open)) text = arena_print(f->arena, "%" PRId64, value);
    else if (open) text = script_open(f, open, strlen(open));
    else {
        open_command(f, t, (struct piece){inside.at - 1, inside.end + 1});
        return;
    }
    script_add_value(f, t, text, quoted);
}

// ---- $...

// $'...': up to the quote.
static const char *add_escaped(struct follow *f, struct part *t, const char *s, const char *end)
{
    static const char from[] = "ntr", into[] = "\n\t\r";
    for (; s < end && *s != '\''; s++) {
        const char *found = NULL;
        if (*s == '\\' && s + 1 < end) found = strchr(from, *++s);
        put_quoted(f, t, found && *found ? into[found - from] : *s);
    }
    t->quoted = true;
    return s < end ? s + 1 : s;
}

static const char *add_dollar(struct follow *f, struct part *t, const char *s, const char *end,
                              bool quoted)
{
    struct parser *p = &f->words;
    p->at = s, p->end = end, p->open_round = p->open_brace = false;
    p->open_single = p->open_double = p->open_back = false;
    const char *close, *name = s + 1;
    if (name < end && *name == '(') {
        close = script_bracket_end(p, name + 1, '(', ')');
        if (!close) return part_put(f, t, '$'), name;
        if (close - name > 3 && name[1] == '(' && close[-2] == ')')
            add_sum(f, t, (struct piece){name + 2, close - 2}, quoted);
        else add_command(f, t, (struct piece){name + 1, close - 1}, quoted);
        return close;
    }
    if (name < end && *name == '{') {
        close = script_bracket_end(p, name + 1, '{', '}');
        if (!close) return part_put(f, t, '$'), name;
        script_parameter(f, t, (struct piece){name + 1, close - 1}, quoted);
        return close;
    }
    if (name < end && *name == '\'' && !quoted) return add_escaped(f, t, name + 1, end);
    size_t length = script_name_length(name, end);
    if (!length && name < end && (isdigit((unsigned char)*name) || strchr("@*#?$!-", *name)))
        length = 1;
    if (!length) return part_put(f, t, '$'), name;
    script_parameter(f, t, (struct piece){name, name + length}, quoted);
    return name + length;
}

static const char *add_double(struct follow *f, struct part *t, const char *s, const char *end);

// What is at s, outside of quotes (or inside double ones); returns the position behind it.
static const char *add_one(struct follow *f, struct part *t, const char *s, const char *end,
                           bool quoted)
{
    struct parser *p = &f->words;
    if (*s == '$') return add_dollar(f, t, s, end, quoted);
    if (*s == '`') {
        const char *close = memchr(s + 1, '`', (size_t)(end - s - 1));
        if (!close) return part_put(f, t, *s), s + 1;
        add_command(f, t, (struct piece){s + 1, close}, quoted);
        return close + 1;
    }
    if (*s == '\\' && s + 1 < end) {
        if (s[1] == '\n') return s + 2;
        if (quoted && !strchr("$`\"\\", s[1])) part_put(f, t, '\\');
        put_quoted(f, t, s[1]);
        return s + 2;
    }
    if (quoted) return put_quoted(f, t, *s), s + 1;
    if (*s == '\'') {
        const char *close = memchr(s + 1, '\'', (size_t)(end - s - 1));
        if (!close) return part_put(f, t, *s), s + 1;
        for (s++; s < close; s++) put_quoted(f, t, *s);
        t->quoted = true;
        return close + 1;
    }
    if (*s == '"') return add_double(f, t, s, end);
    if ((*s == '<' || *s == '>') && s + 1 < end && s[1] == '(') {
        p->at = s, p->end = end, p->open_round = false;
        const char *close = script_bracket_end(p, s + 2, '(', ')');
        if (close) return open_command(f, t, (struct piece){s + 2, close - 1}), close;
    }
    part_put(f, t, *s);
    return s + 1;
}

static const char *add_double(struct follow *f, struct part *t, const char *s, const char *end)
{
    struct parser *p = &f->words;
    *p = (struct parser){.at = s, .end = end};
    const char *close = script_word_end(p, s), *at = s + 1;
    if (p->open_double) return part_put(f, t, '"'), s + 1;
    t->quoted = true;
    // The word may go on behind the quote: find it by going through.
    while (at < close && *at != '"') at = add_one(f, t, at, end, true);
    return at < end ? at + 1 : at;
}

void script_expand(struct follow *f, struct part *t, struct piece word, bool quoted)
{
    if (++f->depth <= FOLLOW_DEPTH_MAX)
        for (const char *s = word.at; s < word.end && !f->over;)
            s = add_one(f, t, s, word.end, quoted);
    f->depth--;
}

static const char *expanded_to(struct part t, struct follow *f, struct piece word)
{
    part_add(f, &t, "", 0);
    script_expand(f, &t, word, false);
    return t.s ? t.s : "";
}

const char *script_expanded(struct follow *f, struct piece word)
{
    return expanded_to((struct part){0}, f, word);
}

const char *script_pattern(struct follow *f, struct piece word)
{
    return expanded_to((struct part){.pattern = true}, f, word);
}

// ---- fields

static int add_field(struct follow *f, const char ***words, int *capacity, int count,
                     const char *text)
{
    f->bytes += strlen(text) + 2 * sizeof text;
    if (f->bytes > SCRIPT_BYTES_MAX) f->over = true;
    GROW(f->arena, *words, count, *capacity, 16);
    (*words)[count] = text;
    return count + 1;
}

// {1..8}, {1..9..2}: numbers. *add: how many words there are now; whether it was that.
static bool add_numbers(struct follow *f, struct piece word, const char ***words, int *capacity,
                        int *count)
{
    long first, last, step = 1;
    char *end;
    if (word.end - word.at < 6 || word.at[0] != '{' || word.end[-1] != '}') return false;
    first = strtol(word.at + 1, &end, 10);
    if (end == word.at + 1 || strncmp(end, "..", 2) != 0) return false;
    const char *from = end + 2;
    last = strtol(from, &end, 10);
    if (end == from) return false;
    if (!strncmp(end, "..", 2)) step = strtol(end + 2, &end, 10);
    if (end != word.end - 1 || step < 1 || labs(first) > 1 << 20 || labs(last) > 1 << 20)
        return false;
    for (int i = 0; i < LOOP_MAX && (first <= last ? first <= last : true); i++) {
        *count = add_field(f, words, capacity, *count, arena_print(f->arena, "%ld", first));
        if (first == last || labs(last - first) < step) break;
        first += first < last ? step : -step;
    }
    return true;
}

int script_fields(struct follow *f, struct piece word, const char ***words, int *capacity,
                  int count)
{
    struct part t = {.fields = true};
    if (add_numbers(f, word, words, capacity, &count)) return count;
    part_add(f, &t, "", 0);
    script_expand(f, &t, word, false);
    bool some = false;
    for (char *s = t.s; s && *s && !f->over;) {
        size_t length = strcspn(s, "\3");
        if (length) {
            count =
                add_field(f, words, capacity, count, arena_print(f->arena, "%.*s", (int)length, s));
            some = true;
        }
        s += length + (s[length] == FIELD);
    }
    if (!some && t.quoted && !f->empty_list) count = add_field(f, words, capacity, count, "");
    f->empty_list = false;
    return count;
}
