// The text of the first failure.
#include "data/base/status.h"

#include "data/base/plain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// One line, whatever is in the document or file name that it quotes.
static void make_plain(char *text)
{
    char found[PLAIN_FOUND_MAX];
    const unsigned char *end = (unsigned char *)text + strlen(text);
    for (int n; *text; text += n) {
        n = utf8_length((unsigned char *)text, end);
        if (n && !text_is_plain(text, (size_t)n, found)) memset(text, ' ', (size_t)n);
        if (!n) n = 1;
    }
}

enum status fail(struct error *err, enum status status, const char *format, ...)
{
    if (err->status != OK) return err->status;
    err->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    make_plain(err->text);
    return status;
}
