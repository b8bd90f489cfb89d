// Text that grows in the arena. Coordinates have one decimal: drawings are the same on every machine, and small.
#include "data/svg.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "data/file.h"

static const char *const colours[SVG_COLOUR_COUNT] = {
    [SVG_INK] = "#1d2733", [SVG_FAINT] = "#c9d1da", [SVG_PAPER] = "#ffffff", [SVG_FIRST] = "#1f6fb2",
    [SVG_SECOND] = "#d9822b", [SVG_THIRD] = "#3b8a5a", [SVG_ALARM] = "#c23b3b",
};
static const int paper[3] = {0xf4, 0xf7, 0xfa}, first[3] = {0x1f, 0x6f, 0xb2};

static void add(struct svg *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_bytes(struct svg *s, const char *text, size_t length)
{
    if (s->length + length + 1 > s->capacity) {
        size_t capacity = 2 * (s->length + length + 1);
        s->text = arena_grow(s->arena, s->text, s->length, capacity, 1);
        s->capacity = capacity;
    }
    memcpy(s->text + s->length, text, length);
    s->length += length;
}

static void add(struct svg *s, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert(length >= 0 && (size_t)length < sizeof text);
    add_bytes(s, text, (size_t)length);
}

// Names come from files: nothing in them may end the text or begin an element. Bytes below 32 would not be XML.
static void add_escaped(struct svg *s, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<') add_bytes(s, "&lt;", 4);
        else if (c == '>') add_bytes(s, "&gt;", 4);
        else if (c == '&') add_bytes(s, "&amp;", 5);
        else if (c == '"') add_bytes(s, "&quot;", 6);
        else add_bytes(s, c < 32 || c == 127 ? " " : text, 1);
    }
}

// Never "-0.0", whatever the rounding.
static double tidy(double x)
{
    assert(isfinite(x));
    double rounded = round(x * 10) / 10;
    return rounded == 0 ? 0 : rounded;
}

void svg_begin(struct svg *s, double width, double height, const char *title, struct arena *arena)
{
    *s = (struct svg){.arena = arena};
    add(s, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" role=\"img\" ", width, height, width, height);
    add(s, "font-family=\"Helvetica, Arial, sans-serif\">\n<title>");
    add_escaped(s, title);
    add(s, "</title>\n");
    svg_rectangle(s, 0, 0, width, height, SVG_PAPER);
}

void svg_open(struct svg *s, const char *title)
{
    add(s, "<g><title>");
    add_escaped(s, title);
    add(s, "</title>\n");
}

void svg_close(struct svg *s) { add(s, "</g>\n"); }

void svg_rectangle(struct svg *s, double x, double y, double width, double height, enum svg_colour fill)
{
    add(s, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", tidy(x), tidy(y), tidy(width), tidy(height), colours[fill]);
}

void svg_cell(struct svg *s, double x, double y, double width, double height, double share)
{
    int c[3];
    share = fmin(fmax(share, 0), 1);
    for (int i = 0; i < 3; i++) c[i] = (int)lround(paper[i] + share * (first[i] - paper[i]));
    add(s, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%02x%02x%02x\"/>\n", tidy(x), tidy(y), tidy(width), tidy(height),
        (unsigned)c[0], (unsigned)c[1], (unsigned)c[2]);
}

void svg_line(struct svg *s, double x1, double y1, double x2, double y2, enum svg_colour colour, double width)
{
    add(s, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n", tidy(x1), tidy(y1), tidy(x2), tidy(y2),
        colours[colour], width);
}

void svg_circle(struct svg *s, double x, double y, double radius, enum svg_colour fill)
{
    add(s, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", tidy(x), tidy(y), radius, colours[fill]);
}

void svg_text(struct svg *s, double x, double y, enum svg_anchor anchor, double size, enum svg_colour colour, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    add(s, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"%s\" fill=\"%s\">", tidy(x), tidy(y), size, anchors[anchor], colours[colour]);
    add_escaped(s, text);
    add(s, "</text>\n");
}

enum status svg_write(struct svg *s, const char *path, struct error *err)
{
    add(s, "</svg>\n");
    return file_write(path, s->text, s->length, err);
}
