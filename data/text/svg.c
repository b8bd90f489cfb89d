// Text that grows in the arena. Coordinates have one decimal, so that drawings are small and the
// same on every machine.
#include "data/text/svg.h"

#include <assert.h>
#include <math.h>

#include "data/base/file.h"

static const char *const colours[SVG_COLOUR_COUNT] = {
    [SVG_INK] = "#1d2733",   [SVG_MUTED] = "#8592a0", [SVG_FAINT] = "#c9d1da",
    [SVG_PAPER] = "#ffffff", [SVG_FIRST] = "#1f6fb2", [SVG_SECOND] = "#d9822b",
    [SVG_THIRD] = "#3b8a5a", [SVG_ALARM] = "#c23b3b", [SVG_RING] = "#b0287c",
};

// Names come from files: nothing in them may end the text or begin an element. Bytes below 32 would
// not be valid XML.
static void add_escaped(struct text *s, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '<') text_put(s, "&lt;");
        else if (c == '>') text_put(s, "&gt;");
        else if (c == '&') text_put(s, "&amp;");
        else if (c == '"') text_put(s, "&quot;");
        else text_put(s, "%c", c < 32 || c == 127 ? ' ' : c);
    }
}

// Never "-0.0", whatever the rounding.
static double tidy(double x)
{
    assert(isfinite(x));
    double rounded = round(x * 10) / 10;
    return rounded == 0 ? 0 : rounded;
}

void svg_begin(struct text *s, double width, double height, const char *title, struct arena *arena)
{
    *s = (struct text){.arena = arena};
    text_put(s,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
             "height=\"%.0f\" role=\"img\" ",
             width, height, width, height);
    text_put(s, "font-family=\"Helvetica, Arial, sans-serif\">\n<title>");
    add_escaped(s, title);
    text_put(s, "</title>\n");
    svg_rectangle(s, 0, 0, width, height, SVG_PAPER);
}

void svg_open(struct text *s, const char *title)
{
    text_put(s, "<g><title>");
    add_escaped(s, title);
    text_put(s, "</title>\n");
}

void svg_open_map(struct text *s, const char *title)
{
    text_put(s, "<g shape-rendering=\"crispEdges\"><title>");
    add_escaped(s, title);
    text_put(s, "</title>\n");
}

void svg_close(struct text *s) { text_put(s, "</g>\n"); }

void svg_rectangle(struct text *s, double x, double y, double width, double height,
                   enum svg_colour fill)
{
    text_put(s, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
             tidy(x), tidy(y), tidy(width), tidy(height), colours[fill]);
}

// A curve through the OKLab colour space (B. Ottosson, 2020), in which distances match those that
// the eye perceives. Lightness grows evenly, so that the order is visible in grey and with colour
// blindness; the hue bends from blue through teal to yellow.
struct svg_rgb svg_ramp(double share)
{
    static const double slow[3] = {0.24, 0.015, -0.105}, bend[3] = {0.59, -0.16, -0.015},
                        fast[3] = {0.94, -0.045, 0.165};
    static const double roots[3][3] = {{1, 0.3963377774, 0.2158037573},
                                       {1, -0.1055613458, -0.0638541728},
                                       {1, -0.0894841775, -1.2914855480}};
    static const double linear[3][3] = {{4.0767416621, -3.3077115913, 0.2309699292},
                                        {-1.2684380046, 2.6097574011, -0.3413193965},
                                        {-0.0041960863, -0.7034186147, 1.7076147010}};
    double lab[3], cubes[3];
    unsigned byte[3];
    share = fmin(fmax(share, 0), 1);
    for (int i = 0; i < 3; i++)
        lab[i] = (1 - share) * ((1 - share) * slow[i] + share * bend[i]) +
                 share * ((1 - share) * bend[i] + share * fast[i]);
    for (int i = 0; i < 3; i++) {
        double root = roots[i][0] * lab[0] + roots[i][1] * lab[1] + roots[i][2] * lab[2];
        cubes[i] = root * root * root;
    }
    for (int i = 0; i < 3; i++) {
        double x = fmin(
            fmax(linear[i][0] * cubes[0] + linear[i][1] * cubes[1] + linear[i][2] * cubes[2], 0),
            1);
        byte[i] =
            (unsigned)lround(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055));
    }
    return (struct svg_rgb){byte[0], byte[1], byte[2]};
}

void svg_shade(struct text *s, double x, double y, double width, double height, struct svg_rgb fill,
               const char *title)
{
    text_put(s, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#%02x%02x%02x\"",
             tidy(x), tidy(y), tidy(width), tidy(height), fill.red, fill.green, fill.blue);
    if (title) {
        text_put(s, "><title>");
        add_escaped(s, title);
        text_put(s, "</title></rect>\n");
    } else {
        text_put(s, "/>\n");
    }
}

void svg_frame(struct text *s, double x, double y, double width, double height,
               enum svg_colour colour, double line)
{
    text_put(s,
             "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"none\" stroke=\"%s\" "
             "stroke-width=\"%.1f\"/>\n",
             tidy(x), tidy(y), tidy(width), tidy(height), colours[colour], line);
}

void svg_mark(struct text *s, enum svg_shape shape, double x, double y, double radius,
              enum svg_colour fill, enum svg_colour edge, double line)
{
    double r = radius;
    if (shape == SVG_DISC)
        text_put(s, "<circle cx=\"%g\" cy=\"%g\" r=\"%.1f\"", tidy(x), tidy(y), r);
    if (shape == SVG_DIAMOND)
        text_put(s, "<path d=\"M%g %gL%g %gL%g %gL%g %gZ\"", tidy(x), tidy(y - r), tidy(x + r),
                 tidy(y), tidy(x), tidy(y + r), tidy(x - r), tidy(y));
    if (shape == SVG_TRIANGLE)
        text_put(s, "<path d=\"M%g %gL%g %gL%g %gZ\"", tidy(x), tidy(y - r), tidy(x + r),
                 tidy(y + r), tidy(x - r), tidy(y + r));
    text_put(s, " fill=\"%s\" stroke=\"%s\" stroke-width=\"%.1f\"/>\n", colours[fill],
             colours[edge], line);
}

void svg_line(struct text *s, double x1, double y1, double x2, double y2, enum svg_colour colour,
              double width)
{
    text_put(s,
             "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
             "stroke-width=\"%.1f\"/>\n",
             tidy(x1), tidy(y1), tidy(x2), tidy(y2), colours[colour], width);
}

void svg_circle(struct text *s, double x, double y, double radius, enum svg_colour fill)
{
    text_put(s, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", tidy(x), tidy(y),
             radius, colours[fill]);
}

void svg_text(struct text *s, double x, double y, enum svg_anchor anchor, double size,
              enum svg_colour colour, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    text_put(s, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.0f\" text-anchor=\"%s\" fill=\"%s\">",
             tidy(x), tidy(y), size, anchors[anchor], colours[colour]);
    add_escaped(s, text);
    text_put(s, "</text>\n");
}

void svg_text_upwards(struct text *s, double x, double y, enum svg_anchor anchor, double size,
                      enum svg_colour colour, const char *text)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    text_put(s,
             "<text transform=\"translate(%g %g) rotate(-90)\" font-size=\"%.0f\" "
             "text-anchor=\"%s\" fill=\"%s\">",
             tidy(x), tidy(y), size, anchors[anchor], colours[colour]);
    add_escaped(s, text);
    text_put(s, "</text>\n");
}

void svg_end(struct text *s) { text_put(s, "</svg>\n"); }

enum status svg_write(struct text *s, const char *path, struct error *err)
{
    svg_end(s);
    return file_write(path, s->text, s->length, err);
}
