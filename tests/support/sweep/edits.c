// Walks a document's tree and edits one value at a time.
#include "tests/support/sweep/edits.h"

#include <cjson/cJSON.h>
#include "tests/support/check.h"

enum { ELEMENTS_EDITED = 3, TEXT_MOST = 4000 };

const char *const edit_names[] = {"delete", "empty", "shorten", "lengthen", "change", NULL};

struct walk {
    cJSON *root;
    const char *original;
    edit_visit *visit;
    void *argument;
    struct arena *arena;
};

// ---- one value, edited; NULL: this edit does not apply

static cJSON *number(double x)
{
    char text[40];
    snprintf(text, sizeof text, "%.17g", x + 0.0);
    return cJSON_CreateRaw(text);
}

// Numbers are raw text in the tree, so that those that are not edited stay as they are.
static void keep_numbers(cJSON *value)
{
    if (cJSON_IsNumber(value)) {
        cJSON *raw = number(value->valuedouble);
        value->type = cJSON_Raw;
        value->valuestring = raw->valuestring;
        raw->valuestring = NULL;
        cJSON_Delete(raw);
    }
    for (cJSON *c = value->child; c; c = c->next) keep_numbers(c);
}

static cJSON *edit_number(const cJSON *value, enum edit edit)
{
    double x = strtod(value->valuestring, NULL);
    bool whole = x == floor(x);
    switch (edit) {
    case EDIT_EMPTY: return number(0);
    case EDIT_SHORTEN: return number(whole ? trunc(x / 2) : x / 2);
    case EDIT_LENGTHEN: return number(2 * x + 1);
    case EDIT_CHANGE: return number(whole ? x + 1 : x * 1.01);
    default: return NULL;
    }
}

// Of what is one of a few names, another of them: such an edit is read without complaint.
static const char *another_name(const char *name)
{
    static const char *const pairs[][2] = {
        {"optimal", "open"}, {"exposed", "overlapped"}, {"1f1b", "gpipe"}, {"none", "full"}};
    for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++)
        for (int k = 0; k < 2; k++)
            if (!strcmp(name, pairs[i][k])) return pairs[i][1 - k];
    return NULL;
}

static cJSON *edit_text(const cJSON *value, enum edit edit)
{
    const char *other = another_name(value->valuestring);
    if (edit == EDIT_CHANGE && other) return cJSON_CreateString(other);
    char text[TEXT_MOST + 2];
    size_t length = strlen(value->valuestring);
    if (length > TEXT_MOST) return NULL;
    strcpy(text, value->valuestring);
    switch (edit) {
    case EDIT_EMPTY: *text = '\0'; break;
    case EDIT_SHORTEN:
        if (length) text[length - 1] = '\0';
        break;
    case EDIT_LENGTHEN: strcpy(text + length, length && text[length - 1] == '0' ? "1" : "0"); break;
    case EDIT_CHANGE:
        if (length) text[length / 2] = text[length / 2] == 'a' ? 'b' : 'a';
        break;
    default: return NULL;
    }
    return cJSON_CreateString(text);
}

static cJSON *edit_array(const cJSON *value, enum edit edit)
{
    cJSON *copy = cJSON_Duplicate(value, true);
    int count = cJSON_GetArraySize(copy);
    cJSON *last = count ? cJSON_GetArrayItem(copy, count - 1) : NULL;
    if (edit == EDIT_EMPTY)
        while (cJSON_GetArraySize(copy)) cJSON_DeleteItemFromArray(copy, 0);
    else if (edit == EDIT_SHORTEN && count) cJSON_DeleteItemFromArray(copy, count - 1);
    else if (edit == EDIT_LENGTHEN)
        cJSON_AddItemToArray(copy, last ? cJSON_Duplicate(last, true) : number(0));
    else if (edit == EDIT_CHANGE && count > 1)
        cJSON_AddItemToArray(copy, cJSON_DetachItemFromArray(copy, 0));
    return copy;
}

static cJSON *edit_object(const cJSON *value, enum edit edit)
{
    cJSON *copy = cJSON_Duplicate(value, true);
    int count = cJSON_GetArraySize(copy);
    if (edit == EDIT_EMPTY)
        while (cJSON_GetArraySize(copy)) cJSON_DeleteItemFromArray(copy, 0);
    else if (edit == EDIT_SHORTEN && count) cJSON_DeleteItemFromArray(copy, count - 1);
    else if (edit == EDIT_LENGTHEN) cJSON_AddItemToObject(copy, "unknown", number(0));
    else if (edit == EDIT_CHANGE) cJSON_Delete(copy), copy = number(1);
    return copy;
}

static cJSON *edited_value(const cJSON *value, enum edit edit)
{
    if (cJSON_IsRaw(value)) return edit_number(value, edit);
    if (cJSON_IsString(value)) return edit_text(value, edit);
    if (cJSON_IsArray(value)) return edit_array(value, edit);
    if (cJSON_IsObject(value)) return edit_object(value, edit);
    if (!cJSON_IsBool(value)) return NULL;
    if (edit == EDIT_CHANGE) return cJSON_CreateBool(cJSON_IsFalse(value));
    return edit == EDIT_EMPTY ? cJSON_CreateNull() : NULL;
}

// ---- the walk

static void exchange(cJSON *a, cJSON *b)
{
    cJSON kept = *a;
    a->type = b->type, a->valuestring = b->valuestring, a->valueint = b->valueint,
    a->valuedouble = b->valuedouble, a->child = b->child;
    b->type = kept.type, b->valuestring = kept.valuestring, b->valueint = kept.valueint,
    b->valuedouble = kept.valuedouble, b->child = kept.child;
}

// The tree as text without `value`. Printing follows only `child` and `next`.
static char *print_without(const struct walk *w, cJSON *parent, const cJSON *value)
{
    cJSON **link = &parent->child;
    while (*link != value) link = &(*link)->next;
    cJSON *taken = *link;
    *link = taken->next;
    char *text = cJSON_PrintUnformatted(w->root);
    *link = taken;
    return text;
}

static void visit_edit(const struct walk *w, cJSON *parent, cJSON *value, struct edited *e)
{
    cJSON *by = e->edit == EDIT_DELETE ? NULL : edited_value(value, e->edit);
    if (e->edit != EDIT_DELETE && !by) return;
    if (by) exchange(value, by);
    char *text = by ? cJSON_PrintUnformatted(w->root) : print_without(w, parent, value);
    if (by) exchange(value, by);
    cJSON_Delete(by);
    e->text = text;
    if (strcmp(text, w->original)) w->visit(e, w->argument);
    cJSON_free(text);
}

static void visit_edits(const struct walk *w, cJSON *parent, cJSON *value, struct edited *e)
{
    struct arena_mark mark = arena_set_mark(w->arena);
    for (int edit = 0; edit < EDIT_COUNT; edit++, arena_reset(w->arena, mark)) {
        e->edit = (enum edit)edit;
        visit_edit(w, parent, value, e);
    }
}

static void walk_value(const struct walk *w, cJSON *value, const struct edited *above);

static void walk_member(const struct walk *w, cJSON *parent, cJSON *member,
                        const struct edited *above)
{
    bool top = !*above->path;
    const char *key = member->string;
    struct edited e = {.path = top ? key : arena_print(w->arena, "%s.%s", above->path, key),
                       .pattern = top ? key : arena_print(w->arena, "%s.%s", above->pattern, key),
                       .key = key};
    visit_edits(w, parent, member, &e);
    walk_value(w, member, &e);
}

static void walk_value(const struct walk *w, cJSON *value, const struct edited *above)
{
    int count = cJSON_GetArraySize(value), i = 0;
    for (cJSON *c = value->child, *next; c; c = next, i++) {
        next = c->next;
        if (cJSON_IsObject(value)) {
            walk_member(w, value, c, above);
            continue;
        }
        if (i >= ELEMENTS_EDITED - 1 && i < count - 1) continue;
        struct edited e = {.path = arena_print(w->arena, "%s[%d]", above->path, i),
                           .pattern = arena_print(w->arena, "%s[]", above->pattern),
                           .key = above->key};
        visit_edits(w, value, c, &e);
        walk_value(w, c, &e);
    }
}

void edits_each(const char *document, edit_visit *visit, void *argument, struct arena *arena)
{
    cJSON *root = cJSON_Parse(document);
    assert_non_null(root);
    keep_numbers(root);
    char *original = cJSON_PrintUnformatted(root);
    struct walk w = {root, original, visit, argument, arena};
    walk_value(&w, root, &(struct edited){.path = "", .pattern = "", .key = ""});
    free(original);
    cJSON_Delete(root);
}

// ---- tables

static const char *edited_cell(const char *cell, int length, enum edit edit, struct arena *arena)
{
    switch (edit) {
    case EDIT_EMPTY: return "";
    case EDIT_SHORTEN: return arena_print(arena, "%.*s", length ? length - 1 : 0, cell);
    case EDIT_LENGTHEN: return arena_print(arena, "%.*s0", length, cell);
    case EDIT_CHANGE: return arena_print(arena, "-%.*s", length, cell);
    default: return NULL;
    }
}

static void visit_cell(const char *table, const char *cell, int length, struct edited *e,
                       edit_visit *visit, void *argument, struct arena *arena)
{
    const char *behind = cell + length;
    struct arena_mark mark = arena_set_mark(arena);
    for (int edit = 0; edit < EDIT_COUNT; edit++, arena_reset(arena, mark)) {
        e->edit = (enum edit)edit;
        const char *by = edited_cell(cell, length, e->edit, arena);
        const char *rest = by ? behind : behind + (*behind == ',');
        e->text = arena_print(arena, "%.*s%s%s", (int)(cell - table), table, by ? by : "", rest);
        if (strcmp(e->text, table)) visit(e, argument);
    }
}

void edits_each_cell(const char *table, edit_visit *visit, void *argument, struct arena *arena)
{
    int line = 1, column = 1;
    for (const char *cell = table; *cell;) {
        int length = (int)strcspn(cell, ",\n");
        struct edited e = {.key = ""};
        e.path = e.pattern = arena_print(arena, "line %d, column %d", line, column);
        visit_cell(table, cell, length, &e, visit, argument, arena);
        column = cell[length] == ',' ? column + 1 : 1;
        line += cell[length] == '\n';
        cell += length + (cell[length] != '\0');
    }
}
