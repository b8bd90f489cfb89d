// Patterns of file names, as case and [[ == ]] compare texts with them.

#include "data/import/script/internal.h"

// One character against "[...]" at p; *end: behind it, or NULL: it is no bracket.
static bool in_bracket(const char *p, char c, const char **end)
{
    const char *s = p + 1;
    bool not = *s == '!' || *s == '^', found = false;
    if (not ) s++;
    for (const char *first = s; *s && (*s != ']' || s == first); s++) {
        if (s[1] == '-' && s[2] && s[2] != ']') found |= c >= s[0] && c <= s[2], s += 2;
        else found |= *s == c;
    }
    *end = *s ? s + 1 : NULL;
    return found != not ;
}

// Of one character, at *p; moves behind what it was compared with.
static bool matches_one(const char **p, char c)
{
    const char *end = NULL;
    if (**p == '?') return ++*p, true;
    if (**p == '[') {
        bool found = in_bracket(*p, c, &end);
        if (end) return *p = end, found;
    }
    if (**p == '\\' && (*p)[1]) ++*p;
    return *(*p)++ == c;
}

bool script_matches(const char *p, const char *text)
{
    const char *star = NULL, *back = NULL;
    while (*text) {
        const char *next = p;
        if (*p == '*') star = ++p, back = text;
        else if (*p && matches_one(&next, *text)) p = next, text++;
        else if (star) p = star, text = ++back;
        else return false;
    }
    while (*p == '*') p++;
    return !*p;
}
