// The grammar of RFC 8259 and no more, in one pass over the text. Nesting is bounded, keys of an
// object are distinct, and text is UTF-8 without control characters. A number that a double cannot
// hold becomes infinite; whoever reads it refuses it and names its place.
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/plain.h"
#include "data/text/json_nodes.h"

enum { NESTING_MAX = 64, SHORT_MAX = 8, SHOWN_MAX = 16 };

// An array or object that is open, for messages.
struct level {
    const struct level *outer;
    const struct json_node *node;
};

struct parser {
    const char *file, *text, *at, *end;
    int depth;
    struct arena *arena;
    struct error *err;
};

// ---- messages

static int line_of(const struct parser *p, const char *at)
{
    int line = 1;
    for (const char *c = p->text; c < at; c++) line += *c == '\n';
    return line;
}

static int shown(const struct parser *p, const char *at, int most)
{
    return p->end - at < most ? (int)(p->end - at) : most;
}

static enum status refuse(const struct parser *p, const char *at, const char *why)
{
    return fail(p->err, BAD_INPUT, "%s: line %d: %s", p->file, line_of(p, at), why);
}

static bool begins(const struct parser *p, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(p->end - p->at) >= length && !strncasecmp(p->at, word, length);
}

static enum status refuse_here(const struct parser *p)
{
    int line = line_of(p, p->at);
    if (p->at >= p->end) return refuse(p, p->end, "the document is cut short");
    if (begins(p, "nan") || begins(p, "inf"))
        return fail(p->err, BAD_INPUT, "%s: line %d: expected a finite number, found '%.*s'",
                    p->file, line, shown(p, p->at, 8), p->at);
    if ((unsigned char)*p->at < 0x20)
        return fail(p->err, BAD_INPUT, "%s: line %d: control character %d outside a string",
                    p->file, line, *p->at);
    return fail(p->err, BAD_INPUT, "%s: line %d: not valid JSON here: '%.*s'", p->file, line,
                shown(p, p->at, SHOWN_MAX), p->at);
}

// "layers[3].range", the path to the value inside the levels.
static const char *path_of(const struct level *l, struct arena *arena)
{
    if (!l || !l->outer) return "";
    const char *outer = path_of(l->outer, arena);
    const struct json_node *in = l->outer->node;
    if (in->type == NODE_ARRAY) return arena_print(arena, "%s[%d]", outer, in->count);
    return arena_print(arena, "%s%s%s", outer, *outer ? "." : "", l->node->key);
}

// ---- scalars

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

static bool comes(const struct parser *p, char c) { return p->at < p->end && *p->at == c; }

static bool comes_digit(const struct parser *p)
{
    return p->at < p->end && *p->at >= '0' && *p->at <= '9';
}

static bool skip_digits(struct parser *p)
{
    bool any = comes_digit(p);
    while (comes_digit(p)) p->at++;
    return any;
}

// Skips a number from here on; false: there is none. "01" is not 0 and 1.
static bool skip_number(struct parser *p)
{
    if (comes(p, '-')) p->at++;
    bool zero = comes(p, '0');
    if (zero) p->at++;
    if (!zero && !skip_digits(p)) return false;
    if (comes(p, '.')) {
        p->at++;
        if (!skip_digits(p)) return false;
    }
    if (comes(p, 'e') || comes(p, 'E')) {
        p->at++;
        if (comes(p, '+') || comes(p, '-')) p->at++;
        if (!skip_digits(p)) return false;
    }
    return p->at == p->end || (*p->at && strchr(" \t\r\n,]}", *p->at));
}

static enum status read_number(struct parser *p, double *number)
{
    const char *begin = p->at;
    if (!skip_number(p))
        return fail(p->err, BAD_INPUT, "%s: line %d: expected a number, found '%.*s'", p->file,
                    line_of(p, begin), shown(p, begin, 8), begin);
    if (p->at < p->end) {
        *number = strtod(begin, NULL); // what follows is not part of a number
        return OK;
    }
    struct arena_mark mark = arena_set_mark(p->arena);
    *number = strtod(arena_print(p->arena, "%.*s", (int)(p->at - begin), begin), NULL);
    arena_reset(p->arena, mark);
    return OK;
}

static bool read_word(struct parser *p, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length)) return false;
    p->at += length;
    return true;
}

// ---- strings

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The number in "\uXXXX" at c; -1: there is none.
static int unit_at(const char *c, const char *end)
{
    int unit = 0;
    if (end - c < 6 || c[0] != '\\' || c[1] != 'u') return -1;
    for (int i = 2; i < 6; i++) {
        if (hex_digit(c[i]) < 0) return -1;
        unit = 16 * unit + hex_digit(c[i]);
    }
    return unit;
}

static char *put_utf8(char *to, int code)
{
    int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const int lead[] = {0, 0xc0, 0xe0, 0xf0};
    *to++ = (char)(lead[more] | code >> 6 * more);
    while (more--) *to++ = (char)(0x80 | (code >> 6 * more & 63));
    return to;
}

// After a backslash: writes what the escape means, or returns NULL with *why.
static char *read_escape(struct parser *p, const char *close, char *to, const char **why)
{
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *found = p->at[1] ? strchr(names, p->at[1]) : NULL;
    if (found) {
        p->at += 2;
        *to++ = meanings[found - names];
        return to;
    }
    int unit = unit_at(p->at, close),
        low = unit >= 0xd800 && unit < 0xdc00 ? unit_at(p->at + 6, close) : 0;
    if (unit == 0) return *why = "NUL in a string", NULL;
    bool is_lone = (unit >= 0xdc00 && unit < 0xe000) || (low && (low < 0xdc00 || low >= 0xe000));
    if (unit < 0 || is_lone) return *why = "an escape that JSON does not have, in a string", NULL;
    p->at += low ? 12 : 6;
    return put_utf8(to, low ? 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00) : unit);
}

static char *read_character(struct parser *p, const char *close, char *to, const char **why)
{
    if (*p->at == '\\') return read_escape(p, close, to, why);
    if ((unsigned char)*p->at < 0x20) return *why = "control character in a string", NULL;
    int length = utf8_length((const unsigned char *)p->at, (const unsigned char *)close);
    if (!length) return *why = "invalid UTF-8 in a string", NULL;
    memcpy(to, p->at, (size_t)length);
    p->at += length;
    return to + length;
}

static enum status read_string(struct parser *p, const char **to)
{
    const char *begin = p->at, *close = begin + 1, *why = NULL;
    while (close < p->end && *close != '"') close += *close == '\\' ? 2 : 1;
    if (close >= p->end) return refuse(p, begin, "the string does not end");
    char *copy = TAKE(p->arena, close - begin, char), *c = copy;
    for (p->at++; p->at < close;)
        if (!(c = read_character(p, close, c, &why))) return refuse(p, begin, why);
    p->at++;
    *to = copy;
    return OK;
}

// ---- arrays and objects

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *doubled_key(const struct json_node *object, struct arena *arena)
{
    struct arena_mark mark = arena_set_mark(arena);
    const char **keys = TAKE(arena, object->count, const char *), *doubled = NULL;
    int count = 0;
    for (const struct json_node *c = node_first(object); c; c = c->next) keys[count++] = c->key;
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    for (int i = 1; i < count && !doubled; i++)
        if (!strcmp(keys[i - 1], keys[i])) doubled = keys[i];
    arena_reset(arena, mark);
    return doubled;
}

static enum status read_value(struct parser *p, const struct level *outer, const char *key,
                              struct json_node **to);

static enum status read_key(struct parser *p, const char **key)
{
    skip_blanks(p);
    if (!comes(p, '"')) return refuse_here(p);
    TRY(read_string(p, key));
    skip_blanks(p);
    if (!comes(p, ':')) return refuse_here(p);
    p->at++;
    return OK;
}

static enum status read_members(struct parser *p, const struct level *level, struct json_node *node,
                                char close)
{
    struct json_node **last = &node->first, *first;
    p->at++;
    skip_blanks(p);
    for (bool more = !comes(p, close); more;) {
        const char *key = NULL;
        if (node->type == NODE_OBJECT) TRY(read_key(p, &key));
        TRY(read_value(p, level, key, last));
        last = &(*last)->next;
        node->count++;
        skip_blanks(p);
        more = comes(p, ',');
        if (more) p->at++;
        else if (!comes(p, close)) return refuse_here(p);
    }
    p->at++;
    first = node->first;
    if (node->count <= SHORT_MAX) return OK;
    node->is_long = true;
    node->cursor = TAKE(p->arena, 1, struct json_cursor);
    *node->cursor = (struct json_cursor){first, first, 0};
    return OK;
}

static enum status read_container(struct parser *p, const struct level *outer,
                                  struct json_node *node)
{
    const struct level level = {outer, node};
    node->type = comes(p, '{') ? NODE_OBJECT : NODE_ARRAY;
    if (++p->depth > NESTING_MAX)
        return fail(p->err, BAD_INPUT, "%s: line %d: nested deeper than %d", p->file,
                    line_of(p, p->at), NESTING_MAX);
    TRY(read_members(p, &level, node, node->type == NODE_OBJECT ? '}' : ']'));
    p->depth--;
    const char *doubled = node->type == NODE_OBJECT && node->count > 1 ? doubled_key(node, p->arena)
                                                                       : NULL;
    if (!doubled) return OK;
    const struct json where = {node, p->file, path_of(&level, p->arena)};
    return json_refuse(&where, p->err, "key \"%s\" appears twice", doubled);
}

static enum status read_value(struct parser *p, const struct level *outer, const char *key,
                              struct json_node **to)
{
    struct json_node *node = *to = TAKE(p->arena, 1, struct json_node);
    node->key = key;
    skip_blanks(p);
    if (comes(p, '{') || comes(p, '[')) return read_container(p, outer, node);
    if (comes(p, '"')) {
        node->type = NODE_TEXT;
        return read_string(p, &node->text);
    }
    if (comes(p, '-') || comes(p, '+') || comes_digit(p)) {
        node->type = NODE_NUMBER;
        return read_number(p, &node->number);
    }
    if (read_word(p, "null")) return OK;
    node->type = NODE_TRUE;
    if (read_word(p, "true")) return OK;
    node->type = NODE_FALSE;
    return read_word(p, "false") ? OK : refuse_here(p);
}

enum status json_parse(struct json *root, const char *file, const char *text, size_t size,
                       struct arena *arena, struct error *err)
{
    struct parser p = {
        .file = file, .text = text, .at = text, .end = text + size, .arena = arena, .err = err};
    struct json_node *node;
    TRY(read_value(&p, NULL, NULL, &node));
    skip_blanks(&p);
    if (p.at < p.end) return refuse_here(&p);
    *root = (struct json){node, file, ""};
    return OK;
}

// ---- the tree

struct json_node *node_first(const struct json_node *node)
{
    if (node->type < NODE_ARRAY) return NULL;
    return node->is_long ? node->cursor->first : node->first;
}

const struct json_node *node_element(const struct json_node *node, int index)
{
    assert(index >= 0 && index < node->count);
    struct json_cursor whole = {node_first(node), node_first(node), 0},
                       *c = node->is_long ? node->cursor : &whole;
    if (index < c->index) c->at = c->first, c->index = 0;
    for (; c->index < index; c->index++) c->at = c->at->next;
    return c->at;
}

const struct json_node *node_member(const struct json_node *node, const char *key)
{
    const struct json_node *c = node_first(node);
    while (c && strcmp(c->key, key)) c = c->next;
    return c;
}
