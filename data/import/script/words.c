// Where words, quotes and brackets of the shell's language end.
#include <ctype.h>
#include <string.h>

#include "data/import/script/internal.h"

enum { BRACKETS_MAX = 24 };

static const char *behind_double(struct parser *p, const char *at, int depth);
static const char *behind_dollar(struct parser *p, const char *at, int depth);

// Behind the closing quote, or behind the opening one where none follows: it is then a sign.
static const char *behind_single(struct parser *p, const char *at)
{
    const char *close = p->open_single ? NULL : memchr(at + 1, '\'', (size_t)(p->end - at - 1));
    if (close) return close + 1;
    p->open_single = true;
    return at + 1;
}

static const char *behind_back(struct parser *p, const char *at)
{
    for (const char *s = at + 1; s < p->end && !p->open_back; s++) {
        if (*s == '\\' && s + 1 < p->end) s++;
        else if (*s == '`') return s + 1;
    }
    p->open_back = true;
    return at + 1;
}

// Behind anything that begins with a quote, a dollar or a backslash, else behind one character.
static const char *behind_one(struct parser *p, const char *at, int depth)
{
    switch (*at) {
    case '\\': return at + (at + 1 < p->end ? 2 : 1);
    case '\'': return behind_single(p, at);
    case '"': return behind_double(p, at, depth);
    case '`': return behind_back(p, at);
    case '$': return behind_dollar(p, at, depth);
    }
    return at + 1;
}

static const char *behind_bracket(struct parser *p, const char *at, char open, char close,
                                  int depth)
{
    int inside = 1;
    bool *unclosed = close == ')' ? &p->open_round : &p->open_brace;
    for (const char *s = at; s < p->end && depth < BRACKETS_MAX && !*unclosed;) {
        if (*s == close && !--inside) return s + 1;
        inside += *s == open;
        s = close == ')' && *s == '#' && s > at && strchr(" \t\n", s[-1])
                ? s + strcspn(s, "\n") // a comment
                : behind_one(p, s, depth + 1);
        if (s > p->end) s = p->end;
    }
    *unclosed = true;
    return NULL;
}

static const char *behind_dollar(struct parser *p, const char *at, int depth)
{
    const char *end = NULL;
    if (at + 1 >= p->end) return at + 1;
    if (at[1] == '{') end = behind_bracket(p, at + 2, '{', '}', depth);
    else if (at[1] == '(') end = behind_bracket(p, at + 2, '(', ')', depth);
    else if (at[1] == '\'') {
        for (end = at + 2; end < p->end && *end != '\''; end++)
            if (*end == '\\' && end + 1 < p->end) end++;
        end = end < p->end ? end + 1 : NULL;
    }
    return end ? end : at + 1;
}

static const char *behind_double(struct parser *p, const char *at, int depth)
{
    for (const char *s = at + 1; s < p->end && !p->open_double && depth < BRACKETS_MAX;) {
        if (*s == '"') return s + 1;
        s = *s == '\'' ? s + 1 : behind_one(p, s, depth + 1);
    }
    p->open_double = true;
    return at + 1;
}

const char *script_bracket_end(struct parser *p, const char *at, char open, char close)
{
    return behind_bracket(p, at, open, close, 0);
}

const char *script_placeholder_end(const struct parser *p, const char *at)
{
    const char *s = at + 1;
    if (at + 1 >= p->end || *at != '<' || !isalpha((unsigned char)*s)) return NULL;
    while (s < p->end && (isalnum((unsigned char)*s) || strchr(" _-./", *s))) s++;
    if (s == p->end || *s != '>' || s[-1] == ' ') return NULL;
    return s + 1 == p->end || strchr(" \t\n\\\"", s[1]) ? s + 1 : NULL;
}

const char *script_word_end(struct parser *p, const char *at)
{
    const char *s = at, *behind;
    while (s < p->end) {
        if (s == at && (behind = script_placeholder_end(p, s))) return behind;
        if ((*s == '<' || *s == '>') && s == at && s + 1 < p->end && s[1] == '(') {
            const char *end = behind_bracket(p, s + 2, '(', ')', 0);
            if (!end) return s + 1;
            s = end;
        } else if (*s == '(' && s > at && (s[-1] == '=' || strchr("?*+@!", s[-1]))) {
            const char *end = behind_bracket(p, s + 1, '(', ')', 0);
            if (!end) return s;
            s = end;
        } else if (strchr(" \t\n;&|<>()", *s)) {
            break;
        } else {
            s = behind_one(p, s, 0);
        }
    }
    return s > p->end ? p->end : s;
}

const char *script_skip_blanks(struct parser *p, const char *at, bool lines)
{
    while (at < p->end) {
        if (*at == ' ' || *at == '\t' || (lines && *at == '\n')) at++;
        else if (*at == '\\' && at + 1 < p->end && at[1] == '\n') at += 2;
        else if (*at == '#')
            while (at < p->end && *at != '\n') at++;
        else break;
    }
    return at;
}
