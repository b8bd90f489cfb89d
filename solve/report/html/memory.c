// Bars of memory, one for each rank: its parts in patterns that differ in black and white, and the
// limit as a line.
#include "data/base/least.h"
#include "solve/report/html/html.h"

enum { PARTS = 8 };
static const char *const part_names[PARTS] = {"weights", "gradients", "optimizer", "activations",
                                              "working", "buffers",   "feedback",  "constant"};

// Eight patterns that differ in tone and line.
static void put_patterns(struct text *out)
{
    static const char *const grounds[PARTS] = {"#1f6fb2", "#ffffff", "#9aa7b4", "#f2d9a0",
                                               "#ffffff", "#333333", "#dde8d0", "#ffffff"};
    static const char *const lines[PARTS] = {
        "",       "M-1 5L5 -1M-1 9L9 -1M3 9L9 3",
        "",       "M-1 3L5 9M-1 -1L9 9M3 -1L9 5",
        "M0 4H8", "",
        "M4 0V8", "M0 0L8 8M8 0L0 8",
    };
    text_put(out, "<svg class=\"patterns\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>");
    for (int i = 0; i < PARTS; i++)
        text_put(
            out,
            "<pattern id=\"part%d\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\"><rect "
            "width=\"8\" height=\"8\" fill=\"%s\"/><path d=\"%s\" stroke=\"#1d2733\" "
            "stroke-width=\"1.4\" fill=\"none\"/></pattern>",
            i, grounds[i], lines[i]);
    text_put(out, "</defs></svg>\n<p class=\"legend\">");
    for (int i = 0; i < PARTS; i++)
        text_put(out,
                 "<span><svg width=\"16\" height=\"12\" aria-hidden=\"true\"><rect width=\"16\" "
                 "height=\"12\" class=\"part\" fill=\"url(#part%d)\"/></svg> %s</span> ",
                 i, part_names[i]);
    text_put(out, "<span><b aria-hidden=\"true\">|</b> limit</span></p>\n");
}

static void put_row(struct text *out, int rank, const struct memory_parts *m, int64_t limit_bytes,
                    double whole)
{
    int64_t parts[PARTS] = {m->weight_bytes,     m->gradient_bytes, m->optimizer_bytes,
                            m->activation_bytes, m->working_bytes,  m->buffer_bytes,
                            m->feedback_bytes,   m->constant_bytes};
    int64_t total = memory_total(m), at = 0;
    text_put(out,
             "<tr><th scope=\"row\">%d</th><td class=\"memory\"><svg width=\"100%%\" height=\"18\" "
             "role=\"img\" aria-label=\"%s of %s GB\">",
             rank, report_gigabytes(total, out->arena), report_gigabytes(limit_bytes, out->arena));
    for (int i = 0; i < PARTS; i++) {
        if (!parts[i]) continue;
        text_put(out,
                 "<rect class=\"part\" x=\"%.3f%%\" y=\"2\" width=\"%.3f%%\" height=\"14\" "
                 "fill=\"url(#part%d)\"><title>%s %s GB</title></rect>",
                 100 * (double)at / whole, 100 * (double)parts[i] / whole, i, part_names[i],
                 report_gigabytes(parts[i], out->arena));
        at += parts[i];
    }
    double limit = 100 * (double)limit_bytes / whole;
    text_put(out,
             "<line class=\"limit\" x1=\"%.3f%%\" x2=\"%.3f%%\" y1=\"0\" y2=\"18\"/></svg></td><td "
             "class=\"number\">%.0f %%%s</td></tr>\n",
             limit, limit, limit_bytes > 0 ? 100 * (double)total / (double)limit_bytes : 100,
             total > limit_bytes ? " OVER" : "");
}

void html_memory(struct text *out, const struct plan *plan)
{
    int count = plan_memory_count(plan);
    int64_t limit, whole = 1;
    for (int s = 0; s < count; s++) {
        const struct memory_parts *m = plan_memory(plan, s, &limit);
        whole = larger(whole, larger(limit, memory_total(m)));
    }
    put_patterns(out);
    text_put(out,
             "<table class=\"bars\" id=\"memory-bars\"><thead><tr><th "
             "scope=\"col\">%s</th><td></td><th scope=\"col\">used</th></tr></thead><tbody>\n",
             plan->ranks ? "rank" : "stage");
    for (int s = 0; s < count; s++) {
        const struct memory_parts *m = plan_memory(plan, s, &limit);
        put_row(out, s, m, limit, (double)whole * 1.01);
    }
    text_put(out, "</tbody></table>\n");
}
