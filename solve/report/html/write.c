// Text, tables and facts as HTML.
#include <string.h>

#include "solve/report/html/html.h"

// Bytes below 32 and byte 127 are not allowed in a page, except newlines.
static const char *entity_of(char c)
{
    switch (c) {
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '&': return "&amp;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return c != '\n' && ((unsigned char)c < 32 || c == 127) ? " " : NULL;
    }
}

const char *html_escape(const char *text, struct arena *arena)
{
    enum { LONGEST = 6 };
    char *escaped = arena_take(arena, strlen(text) * LONGEST + 1, 1), *to = escaped;
    for (; *text; text++) {
        const char *entity = entity_of(*text);
        size_t length = entity ? strlen(entity) : 1;
        memcpy(to, entity ? entity : text, length);
        to += length;
    }
    *to = '\0';
    return escaped;
}

// The bar's share is the number of filled characters in the text report's bar.
static void put_bar(struct text *out, const char *bar)
{
    size_t filled = strspn(bar, "#"), width = strlen(bar);
    text_put(out,
             "<td class=\"bar\"><svg width=\"100%%\" height=\"10\" aria-hidden=\"true\">"
             "<rect width=\"%.1f%%\" height=\"10\"/></svg></td>",
             width ? 100 * (double)filled / (double)width : 0);
}

static void put_cell(struct text *out, const struct report_table *t, int column, const char *cell)
{
    if (!*t->headings[column]) {
        put_bar(out, cell);
        return;
    }
    text_put(out, t->align[column] == 'r' ? "<td class=\"number\">%s</td>" : "<td>%s</td>",
             html_escape(cell, out->arena));
}

static void put_headings(struct text *out, const struct report_table *t, const bool *shown)
{
    text_put(out, "<thead><tr>");
    for (int c = 0; c < t->column_count; c++) {
        if (!shown[c]) continue;
        if (*t->headings[c])
            text_put(out, "<th scope=\"col\">%s</th>", html_escape(t->headings[c], out->arena));
        else text_put(out, "<td></td>");
    }
    text_put(out, "</tr></thead>\n<tbody>\n");
}

void html_table(struct text *out, const struct report_table *t, const char *name)
{
    bool *shown = TAKE(out->arena, t->column_count, bool);
    for (int c = 0; c < t->column_count; c++) shown[c] = report_column_width(t, c) > 0;
    html_scroll(out, name);
    text_put(out, "<table class=\"sortable\" id=\"%s\">\n", name);
    put_headings(out, t, shown);
    for (int i = 0; i < t->cell_count; i += t->column_count) {
        text_put(out, "<tr>");
        for (int c = 0; c < t->column_count; c++)
            if (shown[c]) put_cell(out, t, c, t->cells[i + c]);
        text_put(out, "</tr>\n");
    }
    text_put(out, "</tbody></table></div>\n");
}

void html_scroll(struct text *out, const char *label)
{
    text_put(out, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n",
             label);
}

enum { NAME_AT = 2, TEXT_AT = 13 };

static void put_fact(struct text *out, const char *line, size_t length)
{
    size_t end = length < TEXT_AT ? length : TEXT_AT;
    while (end > NAME_AT && line[end - 1] == ' ') end--;
    const char *name = arena_print(out->arena, "%.*s", (int)(end - NAME_AT), line + NAME_AT),
               *text = length > TEXT_AT ? arena_print(out->arena, "%.*s", (int)(length - TEXT_AT),
                                                      line + TEXT_AT)
                                        : "";
    text_put(out, "<tr><th scope=\"row\">%s</th><td>%s</td></tr>\n", html_escape(name, out->arena),
             html_escape(text, out->arena));
}

void html_facts(struct text *out, const char *lines)
{
    text_put(out, "<table class=\"facts\"><tbody>\n");
    for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
        if (end - lines > NAME_AT) put_fact(out, lines, (size_t)(end - lines));
    text_put(out, "</tbody></table>\n");
}

void html_begin(struct text *out, const char *title)
{
    text_put(out,
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
             "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
             "<meta name=\"generator\" content=\"plumbline " PLUMBLINE_VERSION "\">\n"
             "<title>%s</title>\n<style>\n%s</style>\n</head>\n<body>\n",
             html_escape(title, out->arena), page_style);
}

void html_end(struct text *out)
{
    text_put(out, "</main>\n<script>\n%s</script>\n</body>\n</html>\n", page_script);
}
