// The form in which JSON text is held, only for json.c: a tree of values in the reader's arena, 32
// bytes each.
#ifndef PLUMBLINE_DATA_TEXT_JSON_NODES_H
#define PLUMBLINE_DATA_TEXT_JSON_NODES_H

#include "data/text/json.h"

enum node_type {
    NODE_NULL,
    NODE_FALSE,
    NODE_TRUE,
    NODE_NUMBER,
    NODE_TEXT,
    NODE_ARRAY,
    NODE_OBJECT
};

struct json_cursor;

struct json_node {
    const char *key;        // within an object, else NULL
    struct json_node *next; // the next member or element
    union {
        double number;
        const char *text;
        struct json_node *first;    // of a short array or object
        struct json_cursor *cursor; // of a long one
    };
    int count; // members or elements
    unsigned char type;
    bool is_long;
};

// A long array remembers the last request: elements requested in order cost one step each.
struct json_cursor {
    struct json_node *first, *at;
    int index; // of `at`
};

struct json_node *node_first(
    const struct json_node *node); // NULL: it has none, or is no array or object
const struct json_node *node_element(const struct json_node *node, int index);      // below count
const struct json_node *node_member(const struct json_node *node, const char *key); // NULL: none

#endif
