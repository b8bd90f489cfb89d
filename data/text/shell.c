// Quotes words for a shell.
#include "data/text/shell.h"

#include <string.h>

const char *shell_word(const char *word, struct arena *arena)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=,+@%";
    const char *quoted = "";
    if (*word && strspn(word, plain) == strlen(word)) return word;
    for (const char *end; (end = strchr(word, '\'')); word = end + 1)
        quoted = arena_print(arena, "%s%.*s'\\''", quoted, (int)(end - word), word);
    return arena_print(arena, "'%s%s'", quoted, word);
}
