// The text of the first failure.
#include "data/base/status.h"

#include <stdarg.h>
#include <stdio.h>

enum status fail(struct error *err, enum status status, const char *format, ...)
{
    if (err->status != OK) return err->status;
    err->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    // One line, whatever is in the document or file name that it quotes.
    for (char *c = err->text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = ' ';
    return status;
}
