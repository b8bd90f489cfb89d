// The pass over a document's text before cJSON, which takes more than JSON has.
#ifndef PLUMBLINE_DATA_TEXT_JSON_SCAN_H
#define PLUMBLINE_DATA_TEXT_JSON_SCAN_H

#include <stddef.h>

#include "data/base/status.h"

// What the text holds: by these the memory that its tree takes is known before there is one.
struct json_counts {
    size_t values, texts, text_bytes; // texts: keys and values; their bytes as written
};

// BAD_INPUT unless the text is one value by the grammar of RFC 8259 and no more, nested at most 64
// deep, its strings UTF-8 without control characters. Numbers have at most 63 characters, as many
// as cJSON reads.
enum status json_scan(struct json_counts *counts, const char *file, const char *text, size_t size,
                      struct error *err);

#endif
