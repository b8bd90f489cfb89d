// The text of a document, parsed.
#include "solve/checker/read/json.h"

enum status check_parse_text(const struct reader *r, const struct check_text *text, cJSON **root,
                             struct arena *arena)
{
    struct file_held *held = arena->files;
    while (held && held->text != text->text) held = held->older;
    if (!held) return check_parse(r, text->text, text->size, root, arena);
    if (!held->parsed)
        TRY(check_parse(r, text->text, text->size, (cJSON **)&held->parsed, held->own));
    *root = held->parsed;
    return OK;
}
