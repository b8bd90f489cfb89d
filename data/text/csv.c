// Writes cells of tables.
#include "data/text/table.h"

#include <stdlib.h>
#include <string.h>

// "-0.5", "+3.2 ms", "-", "--": nothing that a spreadsheet could compute further with.
static bool is_number(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%";
    char *end;
    if (strspn(text, "-") == strlen(text)) return true;
    if (!strchr("0123456789.", text[1])) return false; // strtod also reads names of numbers
    strtod(text, &end);
    return !*end || (*end == ' ' && strspn(end + 1, letters) == strlen(end + 1));
}

static bool is_computed(const char *text)
{
    if (!*text) return false;
    if (strchr("=@\t\r'", *text)) return true;
    return (*text == '+' || *text == '-') && !is_number(text);
}

const char *csv_cell(const char *text, struct arena *arena)
{
    size_t length = strlen(text);
    bool guarded = is_computed(text),
         quoted = strpbrk(text, ",\"\r\n\t") || *text == ' ' || (length && text[length - 1] == ' ');
    if (!guarded && !quoted) return text;
    char *cell = TAKE(arena, 2 * length + 4, char), *to = cell;
    if (quoted) *to++ = '"';
    if (guarded) *to++ = '\'';
    for (; *text; *to++ = *text++)
        if (*text == '"') *to++ = '"';
    if (quoted) *to++ = '"';
    *to = '\0';
    return cell;
}
