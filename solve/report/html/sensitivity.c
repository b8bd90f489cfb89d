// The iteration time with each group of costs at the ends of its intervals, sorted by effect.
#include <stdlib.h>

#include "solve/report/html/html.h"

static int64_t spread_of(const struct report_sensitivity *x)
{
    return llabs(x->ns[COSTS_SLOW] - x->ns[COSTS_FAST]);
}

static int by_spread(const void *a, const void *b)
{
    int64_t x = spread_of(a), y = spread_of(b);
    return x < y ? 1 : x > y ? -1 : 0;
}

// A bar from the fast end to the slow one; the line is the time with the costs as they are.
static void put_row(struct text *out, const struct report_sensitivity *x, int64_t now_ns,
                    int64_t least_ns, int64_t most_ns)
{
    double whole = most_ns > least_ns ? (double)(most_ns - least_ns) : 1;
    int64_t fast = x->ns[COSTS_FAST], slow = x->ns[COSTS_SLOW], left = fast < slow ? fast : slow;
    double now = 100 * (double)(now_ns - least_ns) / whole;
    text_put(
        out,
        "<tr><td>%s</td><td class=\"number\">%s</td><td class=\"number\">%s</td>"
        "<td class=\"number\">%+.2f %%</td><td class=\"number\">%+.2f %%</td><td class=\"bar\">"
        "<svg width=\"100%%\" height=\"14\" aria-hidden=\"true\"><rect x=\"%.2f%%\" y=\"2\" "
        "width=\"%.2f%%\" height=\"10\"/><line class=\"limit\" x1=\"%.2f%%\" x2=\"%.2f%%\" "
        "y1=\"0\" y2=\"14\"/></svg></td></tr>\n",
        cost_group_names[x->group], report_time(fast, out->arena), report_time(slow, out->arena),
        100 * (double)(fast - now_ns) / (double)now_ns,
        100 * (double)(slow - now_ns) / (double)now_ns, 100 * (double)(left - least_ns) / whole,
        100 * (double)spread_of(x) / whole, now, now);
}

void html_sensitivity(struct text *out, const struct report_page *page)
{
    int count = page->sensitivity_count;
    int64_t now_ns = page->plan->iteration_ns, least_ns = now_ns, most_ns = now_ns;
    struct report_sensitivity *sorted = TAKE(out->arena, count, struct report_sensitivity);
    for (int i = 0; i < count; i++) {
        sorted[i] = page->sensitivity[i];
        for (int end = 0; end < COST_ENDS; end++) {
            if (!sorted[i].ns[end]) sorted[i].ns[end] = now_ns;
            if (sorted[i].ns[end] < least_ns) least_ns = sorted[i].ns[end];
            if (sorted[i].ns[end] > most_ns) most_ns = sorted[i].ns[end];
        }
    }
    qsort(sorted, (size_t)count, sizeof *sorted, by_spread);
    text_put(out,
             "<p>The iteration time of this plan, priced again with one group of costs at the "
             "fast and at the slow end of its intervals (the line: %s, as they are). Whether "
             "another plan would then be better is not examined here.</p>\n",
             report_time(now_ns, out->arena));
    html_scroll(out, "sensitivity");
    text_put(out, "<table class=\"sortable\" id=\"sensitivity-table\"><thead><tr>"
                  "<th scope=\"col\">costs of</th><th scope=\"col\">fast</th>"
                  "<th scope=\"col\">slow</th><th scope=\"col\">fast, change</th>"
                  "<th scope=\"col\">slow, change</th><td></td></tr></thead><tbody>\n");
    for (int i = 0; i < count; i++) put_row(out, &sorted[i], now_ns, least_ns, most_ns);
    text_put(out, "</tbody></table></div>\n");
}
