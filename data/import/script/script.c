// See script.h.
#include "data/import/script/internal.h"

#include <string.h>

#include "data/base/grow.h"

const char *script_open_name(const char *text, struct arena *arena)
{
    const char *open = text ? strchr(text, SCRIPT_OPEN) : NULL;
    return open ? arena_print(arena, "%.*s", (int)strcspn(open + 1, "\2"), open + 1) : NULL;
}

const char *script_shown(const char *text, struct arena *arena)
{
    size_t length = 0;
    char *shown = TAKE(arena, 2 * strlen(text) + 1, char);
    for (const char *s = text; *s; s++) {
        bool command = s[0] == SCRIPT_OPEN && s[1] == '$';
        if (command) continue;
        if (*s == SCRIPT_OPEN) shown[length++] = '$', shown[length++] = '{';
        else if (*s == SCRIPT_CLOSE) {
            if (shown[length - 1] != ')') shown[length++] = '}';
        } else {
            shown[length++] = (unsigned char)*s < ' ' ? ' ' : *s;
        }
    }
    return shown;
}

// Without returns of the line ends of Windows; control characters are blanks.
static char *cleaned(const char *text, size_t size, struct arena *arena)
{
    char *copy = TAKE(arena, size + 1, char), *to = copy;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\r' && i + 1 < size && text[i + 1] == '\n') continue;
        *to++ = c < ' ' && c != '\n' && c != '\t' ? ' ' : (char)c;
    }
    if (!strncmp(copy, "\xEF\xBB\xBF", 3)) memset(copy, ' ', 3);
    return copy;
}

static void set_arguments(struct follow *f, const char *arguments)
{
    struct parser p = {.at = arguments, .end = arguments + strlen(arguments)};
    int capacity = 0;
    for (const char *s = script_skip_blanks(&p, arguments, true); s < p.end && !f->over;) {
        const char *end = script_word_end(&p, s);
        if (end == s) end++;
        f->argument_count =
            script_fields(f, (struct piece){s, end}, &f->arguments, &capacity, f->argument_count);
        s = script_skip_blanks(&p, end, true);
    }
}

// Variables that hold flags, for scripts that launch nothing themselves.
static void keep_values(struct follow *f)
{
    struct script *s = f->script;
    for (int i = 0; i < f->variable_count && !f->over; i++) {
        const struct variable *v = &f->variables[i];
        bool flags = false;
        for (int k = 0; k < v->count && !flags; k++)
            flags = !strncmp(v->items[k], "--", 2) || strstr(v->items[k], " --") ||
                    strstr(v->items[k], "\n--") || strstr(v->items[k], "\t--");
        if (!flags || v->unset) continue;
        struct script_command *c = GROWN(s->arena, s->values, s->value_count, s->value_capacity, 8);
        *c = (struct script_command){.count = v->count,
                                     .line = v->line,
                                     .variable = arena_copy_text(s->arena, v->name),
                                     .words = TAKE(s->arena, v->count, const char *)};
        for (int k = 0; k < v->count; k++) c->words[k] = arena_copy_text(s->arena, v->items[k]);
    }
}

enum status script_follow(struct script *s, const char *path, const char *text, size_t size,
                          const struct script_given *given, int given_count, const char *arguments,
                          struct arena *arena, struct error *err)
{
    *s = (struct script){.path = path, .arena = arena, .notes = "", .sourced = "", .read_in = ""};
    struct arena *own = arena_open_within(arena);
    struct follow f = {.script = s, .arena = own};
    struct parser p;
    char *copy = cleaned(text, size, own);
    for (int i = 0; i < given_count; i++) {
        script_set(&f, given[i].name, strlen(given[i].name), given[i].value, false);
        struct variable *v = script_variable(&f, given[i].name, strlen(given[i].name), false);
        if (v) v->pinned = true;
    }
    script_set_place(&f);
    script_take_directives(&f, copy);
    if (arguments) set_arguments(&f, arguments);
    struct node *list = script_parse(&p, copy, copy + strlen(copy), 1, own);
    script_run_list(&f, list);
    if (!f.over) keep_values(&f);
    script_keep_processes(&f);
    s->notes = arena_copy_text(arena, p.notes);
    bool over = f.over;
    arena_close(own);
    if (over)
        return refuse(err,
                      "%s: line %d: the script does more than is followed (%d commands, %d MB of "
                      "text): give the list of arguments that its run prints",
                      path, f.line, SCRIPT_STEPS_MAX, SCRIPT_BYTES_MAX >> 20);
    return OK;
}
