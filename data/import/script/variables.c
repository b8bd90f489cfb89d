// A script's variables. What is not set is an open name.
#include <ctype.h>
#include <string.h>

#include "data/base/grow.h"
#include "data/import/script/internal.h"

enum { VARIABLES_MAX = 4096, ITEMS_MAX = 20000 };

size_t script_name_length(const char *s, const char *end)
{
    size_t n = 0;
    if (s < end && isdigit((unsigned char)*s)) return 0;
    while (s + n < end && (isalnum((unsigned char)s[n]) || s[n] == '_')) n++;
    return n;
}

struct variable *script_variable(struct follow *f, const char *name, size_t length, bool create)
{
    for (int i = 0; i < f->variable_count; i++) {
        struct variable *v = &f->variables[i];
        if (strncmp(v->name, name, length) != 0 || v->name[length]) continue;
        bool other = v->refers && strcmp(v->refers, v->name) != 0 && ++f->references < 16;
        if (other) v = script_variable(f, v->refers, strlen(v->refers), create);
        if (other) f->references--;
        return v;
    }
    if (!create || f->variable_count >= VARIABLES_MAX) return NULL;
    struct variable *v = GROWN(f->arena, f->variables, f->variable_count, f->variable_capacity, 64);
    *v = (struct variable){.name = arena_print(f->arena, "%.*s", (int)length, name), .unset = true};
    return v;
}

const char *script_open(struct follow *f, const char *name, size_t length)
{
    return arena_print(f->arena, "%c%.*s%c", SCRIPT_OPEN, (int)length, name, SCRIPT_CLOSE);
}

const char *script_value(struct follow *f, const char *name, size_t length)
{
    struct variable *v = script_variable(f, name, length, false);
    return v && !v->unset && v->count ? v->items[0] : NULL;
}

static void put_item(struct follow *f, struct variable *v, int at, const char *key,
                     const char *value, bool add)
{
    while (v->count <= at && v->count < ITEMS_MAX) {
        if (v->count == v->capacity) {
            int capacity = v->capacity ? 2 * v->capacity : 4;
            v->items = arena_grow(f->arena, v->items, (size_t)v->count, (size_t)capacity,
                                  sizeof *v->items);
            v->keys =
                arena_grow(f->arena, v->keys, (size_t)v->count, (size_t)capacity, sizeof *v->keys);
            v->capacity = capacity;
        }
        v->items[v->count] = "", v->keys[v->count++] = "";
    }
    if (at >= v->count) return;
    if (add && *v->items[at]) {
        size_t length = strlen(v->items[at]) + strlen(value);
        f->bytes += length;
        if (f->bytes > SCRIPT_BYTES_MAX || length > SCRIPT_WORD_MAX) f->over = true;
        else v->items[at] = arena_print(f->arena, "%s%s", v->items[at], value);
    } else {
        v->items[at] = value;
    }
    v->keys[at] = key;
}

// A value that is one open name of a command or an argument is known by the variable from now on:
// that is what a caller can set.
static const char *renamed(struct follow *f, const char *name, size_t length, const char *value)
{
    size_t size = strlen(value);
    if (size < 3 || value[0] != SCRIPT_OPEN || value[size - 1] != SCRIPT_CLOSE) return value;
    if (memchr(value + 1, SCRIPT_OPEN, size - 1)) return value;
    if (value[1] != '$' && !isdigit((unsigned char)value[1])) return value;
    return script_open(f, name, length);
}

void script_set(struct follow *f, const char *name, size_t length, const char *value, bool add)
{
    struct variable *v = script_variable(f, name, length, true);
    if (!v || v->pinned) return;
    v->command = value[0] == SCRIPT_OPEN && value[1] == '$';
    if (!add || v->unset) v->count = 0, v->array = false;
    v->unset = false, v->line = f->line;
    put_item(f, v, 0, "", renamed(f, name, length, value), add);
}

void script_set_item(struct follow *f, struct variable *v, const char *key, const char *value,
                     bool add)
{
    int at = v->count;
    if (v->pinned) return;
    v->unset = false, v->line = f->line, v->array = true;
    for (int i = 0; key && i < v->count; i++)
        if (!strcmp(v->keys[i], key)) at = i;
    put_item(f, v, at, key ? key : arena_print(f->arena, "%d", at), value, add && at < v->count);
}
