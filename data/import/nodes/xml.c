// See xml.h.
#include "data/import/nodes/xml.h"

#include <ctype.h>
#include <string.h>

void xml_open(struct xml *x, const char *path, const char *text, size_t size, struct arena *arena)
{
    *x = (struct xml){.path = path, .at = text, .end = text + size, .line = 1, .arena = arena};
}

const char *xml_attribute(const struct xml *x, const char *name)
{
    for (int i = 0; i < x->attribute_count; i++)
        if (!strcmp(x->attributes[i].name, name)) return x->attributes[i].value;
    return "";
}

static void step(struct xml *x)
{
    if (*x->at == '\n') x->line++;
    x->at++;
}

static void skip_blanks(struct xml *x)
{
    while (x->at < x->end && isspace((unsigned char)*x->at)) step(x);
}

static bool begins(const struct xml *x, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(x->end - x->at) >= length && !memcmp(x->at, text, length);
}

// Skips to after the text; false: it does not occur.
static bool skip_to(struct xml *x, const char *text)
{
    while (x->at < x->end && !begins(x, text)) step(x);
    if (x->at == x->end) return false;
    x->at += strlen(text);
    return true;
}

static const char *take_name(struct xml *x)
{
    const char *from = x->at;
    while (x->at < x->end && (isalnum((unsigned char)*x->at) || strchr("_-:.", *x->at))) x->at++;
    return arena_print(x->arena, "%.*s", (int)(x->at - from), from);
}

static enum status take_attribute(struct xml *x, struct error *err)
{
    struct xml_attribute *a = &x->attributes[x->attribute_count];
    if (x->attribute_count == XML_ATTRIBUTES_MAX)
        return xml_refuse(x, err, "more than %d attributes", XML_ATTRIBUTES_MAX);
    a->name = take_name(x);
    skip_blanks(x);
    if (!*a->name || x->at == x->end || *x->at != '=')
        return xml_refuse(x, err, "expected attributes as name=\"value\" in <%.40s>", x->name);
    x->at++;
    skip_blanks(x);
    char quote = x->at < x->end ? *x->at : 0;
    const char *from = x->at + 1;
    if (quote != '"' && quote != '\'')
        return xml_refuse(x, err, "%.40s: expected a value in quotes", a->name);
    for (x->at++; x->at < x->end && *x->at != quote;) step(x);
    if (x->at == x->end) return xml_refuse(x, err, "%.40s: the value has no end", a->name);
    a->value = arena_print(x->arena, "%.*s", (int)(x->at - from), from);
    x->at++;
    x->attribute_count++;
    return OK;
}

static enum status take_end(struct xml *x, struct error *err)
{
    x->name = take_name(x);
    skip_blanks(x);
    if (x->at == x->end || *x->at != '>')
        return xml_refuse(x, err, "expected > after </%.40s", x->name);
    x->at++;
    if (!x->depth || strcmp(x->open[x->depth - 1], x->name))
        return xml_refuse(x, err, "expected </%.40s>, found </%.40s>",
                          x->depth ? x->open[x->depth - 1] : "", x->name);
    x->depth--;
    return OK;
}

static enum status take_begin(struct xml *x, struct error *err)
{
    x->name = take_name(x);
    if (!*x->name) return xml_refuse(x, err, "expected an element's name after <");
    if (x->depth == XML_DEPTH_MAX)
        return xml_refuse(x, err, "nested deeper than %d", XML_DEPTH_MAX);
    x->open[x->depth++] = x->name;
    for (skip_blanks(x); x->at < x->end && *x->at != '>' && *x->at != '/'; skip_blanks(x))
        TRY(take_attribute(x, err));
    x->alone = x->at < x->end && *x->at == '/';
    x->at += x->alone;
    if (x->at >= x->end || *x->at != '>')
        return xml_refuse(x, err, "expected > at the end of <%.40s", x->name);
    x->at++;
    return OK;
}

enum status xml_next(struct xml *x, bool *more, struct error *err)
{
    *more = true;
    x->closes = x->alone;
    if (x->alone) {
        x->alone = false;
        x->name = x->open[--x->depth];
        return OK;
    }
    x->attribute_count = 0;
    for (;;) {
        while (x->at < x->end && *x->at != '<') step(x);
        *more = x->at < x->end;
        if (!*more)
            return x->depth ? xml_refuse(x, err, "<%.40s> has no end: the file is cut short",
                                         x->open[x->depth - 1])
                            : OK;
        if (begins(x, "<!--") ? !skip_to(x, "-->")
            : begins(x, "<?") ? !skip_to(x, "?>")
            : begins(x, "<!") ? !skip_to(x, ">")
                              : false)
            return xml_refuse(x, err, "a comment or declaration has no end");
        if (x->at < x->end && *x->at == '<' && !begins(x, "<!") && !begins(x, "<?")) break;
    }
    x->at++;
    x->closes = x->at < x->end && *x->at == '/';
    x->at += x->closes;
    return x->closes ? take_end(x, err) : take_begin(x, err);
}
