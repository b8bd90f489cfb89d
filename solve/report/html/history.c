// The best plan and the bound over time, from the output of solve --progress.
#include <string.h>

#include "solve/report/html/html.h"

static const double most_s = 4e9; // for any time that is read

static int64_t ns_of(double s) { return s > 0 && s < most_s ? llround(s * 1e9) : 0; }

// "     2.3 s  plan 11.240980138 s  bound 10.839676143 s ...", or "plan none", or "no bound yet".
static bool read_line(const char *line, struct report_moment *m)
{
    double plan_s, bound_s;
    int behind = 0;
    *m = (struct report_moment){0};
    if (sscanf(line, "%lf s plan %n", &m->seconds, &behind) != 1 || !behind) return false;
    if (!(m->seconds >= 0 && m->seconds < most_s)) return false;
    if (sscanf(line + behind, "%lf s", &plan_s) == 1) m->plan_ns = ns_of(plan_s);
    const char *bound = strstr(line + behind, "  bound ");
    if (bound && sscanf(bound, " bound %lf s", &bound_s) == 1) m->bound_ns = ns_of(bound_s);
    return m->plan_ns > 0 || m->bound_ns > 0;
}

enum status report_history_read(struct report_page *page, const char *path, struct arena *arena,
                                struct error *err)
{
    const char *text, *line;
    size_t size, lines = 1;
    const struct plan *plan = page->plan;
    TRY(file_read(path, &text, &size, arena, err));
    for (line = text; (line = strchr(line, '\n')); line++) lines++;
    struct report_moment *moments = TAKE(arena, lines + 1, struct report_moment);
    for (line = text; line; line = strchr(line, '\n')) {
        struct report_moment m;
        line += *line == '\n';
        const char *end = strchr(line, '\n');
        if (!read_line(end ? arena_print(arena, "%.*s", (int)(end - line), line) : line, &m))
            continue;
        if ((m.plan_ns && m.plan_ns < plan_value_ns(plan)) || m.bound_ns > plan->bound_ns)
            return refuse(
                err,
                "%s: at %.1f s: expected plans of at least, and bounds of at most, what %s "
                "ends with; found a plan of %.9f s, a bound of %.9f s",
                path, m.seconds, plan->document.path, (double)m.plan_ns / 1e9,
                (double)m.bound_ns / 1e9);
        moments[page->moment_count++] = m;
    }
    if (!page->moment_count)
        return refuse(err, "%s: expected lines of solve --progress, found none", path);
    moments[page->moment_count++] =
        (struct report_moment){plan->effort.seconds, plan_value_ns(plan), plan->bound_ns};
    page->moments = moments;
    return OK;
}

struct frame {
    struct text svg;
    double left, top, width, height; // of the plot
    double seconds;                  // at its right edge
    int64_t least_ns, most_ns;       // at its lower and upper edge
};

static double x_of(const struct frame *f, double seconds)
{
    return f->left + f->width * seconds / f->seconds;
}

static double y_of(const struct frame *f, int64_t ns)
{
    double whole = (double)(f->most_ns - f->least_ns);
    return f->top + f->height * (double)(f->most_ns - ns) / whole;
}

static void set_scale(struct frame *f, const struct report_page *page)
{
    f->least_ns = INT64_MAX;
    for (int i = 0; i < page->moment_count; i++) {
        const struct report_moment *m = &page->moments[i];
        int64_t low = m->bound_ns ? m->bound_ns : m->plan_ns,
                high = m->plan_ns ? m->plan_ns : m->bound_ns;
        if (low < f->least_ns) f->least_ns = low;
        if (high > f->most_ns) f->most_ns = high;
        if (m->seconds > f->seconds) f->seconds = m->seconds;
    }
    if (f->most_ns <= f->least_ns) f->most_ns = f->least_ns + 1;
    if (!(f->seconds > 0)) f->seconds = 1e-9;
}

// A value holds until the next one.
static void draw_steps(struct frame *f, const struct report_page *page, bool of_bound)
{
    enum svg_colour colour = of_bound ? SVG_FIRST : SVG_INK;
    double before_x = 0, before_y = 0;
    bool begun = false;
    for (int i = 0; i < page->moment_count; i++) {
        const struct report_moment *m = &page->moments[i];
        int64_t ns = of_bound ? m->bound_ns : m->plan_ns;
        if (!ns) continue;
        double x = x_of(f, m->seconds), y = y_of(f, ns);
        if (begun) {
            svg_line(&f->svg, before_x, before_y, x, before_y, colour, of_bound ? 1.2 : 3);
            svg_line(&f->svg, x, before_y, x, y, colour, of_bound ? 1.2 : 3);
        }
        if (of_bound && (!begun || y < before_y)) svg_circle(&f->svg, x, y, 3, colour);
        begun = true;
        before_x = x;
        before_y = y;
    }
    if (!begun) return;
    svg_text(&f->svg, f->left + f->width + 6, before_y + (of_bound ? 14 : -4), SVG_START, 12,
             colour, of_bound ? "bound" : "best plan");
}

void html_history(struct text *out, const struct report_page *page)
{
    enum { LEFT = 90, TOP = 24, WIDTH = 640, HEIGHT = 200, TICKS = 4 };
    struct frame f = {.left = LEFT, .top = TOP, .width = WIDTH, .height = HEIGHT};
    struct arena *arena = out->arena;
    set_scale(&f, page);
    svg_begin(&f.svg, LEFT + WIDTH + 80, TOP + HEIGHT + 44, "Best plan and bound over time", arena);
    for (int i = 0; i <= TICKS; i++) {
        int64_t ns = f.least_ns + (f.most_ns - f.least_ns) / TICKS * i;
        double seconds = f.seconds * i / TICKS;
        svg_line(&f.svg, LEFT, y_of(&f, ns), LEFT + WIDTH, y_of(&f, ns), SVG_FAINT, 1);
        svg_text(&f.svg, LEFT - 8, y_of(&f, ns) + 4, SVG_END, 11, SVG_INK, report_time(ns, arena));
        svg_text(&f.svg, x_of(&f, seconds), TOP + HEIGHT + 18, SVG_MIDDLE, 11, SVG_INK,
                 arena_print(arena, "%.3g s", seconds));
    }
    draw_steps(&f, page, false);
    draw_steps(&f, page, true);
    svg_end(&f.svg);
    html_scroll(out, "best plan and bound over time");
    text_put(out, "%.*s</div>\n", (int)f.svg.length, f.svg.text);
}
