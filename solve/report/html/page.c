// The page: its sections in order. Without scripts a browser shows everything but the chart.
#include <inttypes.h>
#include <string.h>

#include "solve/report/html/html.h"
#include "data/text/shell.h"

enum { MAP_NODES_MOST = 64 }; // above this a map has too many cells for a page

struct sections {
    struct text *out;
    const struct report_page *page;
    const struct plan *plan;
    struct report_replay replay;
    struct arena *arena;
};

// ---- key figures

static void put_tile(struct text *out, const char *name, const char *value, const char *id)
{
    text_put(out, "<div><dt>%s</dt><dd id=\"%s\">%s</dd></div>\n", name, id, value);
}

static void put_figures(struct sections *s)
{
    struct figures f;
    report_figures_of(&f, s->plan, s->page->problem);
    const struct {
        const char *name, *id, *format;
        double value;
    } tiles[] = {{"Tokens per second", "tokens", "%.6g", f.tokens_per_s},
                 {"TFLOP/s per GPU", "flop", "%.4g", f.tflops_per_gpu},
                 {"MFU", "mfu", "%.2f %%", f.mfu_percent},
                 {"MFU, causal", "causal-mfu", "%.2f %%", f.causal_mfu_percent},
                 {"Price per million tokens", "price", "%.4g", f.price_per_million_tokens}};
    for (size_t i = 0; i < ARRAY_LENGTH(tiles); i++)
        if (tiles[i].value > 0)
            put_tile(s->out, tiles[i].name, arena_print(s->arena, tiles[i].format, tiles[i].value),
                     tiles[i].id);
}

static void put_tiles(struct sections *s)
{
    const struct plan *plan = s->plan;
    struct arena *arena = s->arena;
    text_put(s->out, "<dl class=\"tiles\">\n");
    put_tile(s->out, "Iteration", report_time(plan->iteration_ns, arena), "iteration");
    put_tile(s->out,
             arena_print(arena, "Bound, %s", html_escape(plan_claim_words(plan, arena), arena)),
             report_time(plan->bound_ns, arena), "bound");
    put_tile(s->out, "Gap", arena_print(arena, "%.4g %%", 100 * plan_gap(plan)), "gap");
    if (s->page->problem && plan->iteration_ns > 0) put_figures(s);
    text_put(s->out, "</dl>\n");
}

static void put_claim(struct sections *s)
{
    static const char *const meaning[] = {
        [CLAIM_STATED] = "no known certificate proves it.",
        [CLAIM_PROVEN] = "a certificate can be written (solve --certificate) and audited (check).",
        [CLAIM_TAKEN_OVER] = "it relies on what these files stated when a search was resumed.",
        [CLAIM_CERTIFIED] = "a certificate was audited for this plan. It holds for every plan of "
                            "the priced problem."};
    text_put(s->out, "<p>The bound is %s: %s</p>\n",
             html_escape(plan_claim_words(s->plan, s->arena), s->arena), meaning[s->plan->claim]);
}

static void put_summary(struct sections *s)
{
    struct text lines;
    const char *title = s->plan->name ? s->plan->name : "plan";
    text_begin(&lines, s->arena);
    report_summary(&lines, s->plan, s->page->problem, &s->replay);
    const char *verdict = lines.text + strlen(title) + 2, *end = strchr(verdict, '\n');
    text_put(s->out, "<header>\n<h1>%s</h1>\n<p class=\"verdict\" id=\"verdict\">%s</p>\n",
             html_escape(title, s->arena),
             html_escape(arena_print(s->arena, "%.*s", (int)(end - verdict), verdict), s->arena));
    if (s->plan->stage_count) put_tiles(s);
    put_claim(s);
    if (s->plan->stage_count) html_facts(s->out, end + 1);
    else text_put(s->out, "<p>%s</p>\n", html_escape(end + 1, s->arena));
    text_put(s->out, "</header>\n");
}

// ---- where everything is

// Ranks of the pipeline by rows, replicas by columns.
static void put_nodes(struct sections *s)
{
    const struct plan_placement *x = s->plan->placement;
    html_scroll(s->out, "nodes");
    text_put(s->out, "<table id=\"nodes\"><thead><tr><th scope=\"col\">rank</th>");
    for (int r = 0; r < x->replica_count; r++)
        text_put(s->out, "<th scope=\"col\">replica %d</th>", r);
    text_put(s->out, "</tr></thead><tbody>\n");
    for (int rank = 0; rank < x->rank_count; rank++) {
        text_put(s->out, "<tr><th scope=\"row\">%d</th>", rank);
        for (int r = 0; r < x->replica_count; r++)
            text_put(s->out, "<td>%s</td>",
                     html_escape(x->nodes[r * x->rank_count + rank], s->arena));
        text_put(s->out, "</tr>\n");
    }
    text_put(s->out, "</tbody></table></div>\n");
}

static void put_placement(struct sections *s)
{
    struct report_table t;
    report_placement_table(&t, s->plan, s->arena);
    html_table(s->out, &t, "stages");
    if (s->plan->placement) put_nodes(s);
}

static void put_chart(struct sections *s)
{
    static const char *const controls[][3] = {
        {"zoom-in", "+", "Zoom in"},
        {"zoom-out", "&minus;", "Zoom out"},
        {"pan-left", "&larr;", "Earlier"},
        {"pan-right", "&rarr;", "Later"},
        {"whole", "Whole", "The whole iteration"},
    };
    if (!s->replay.schedule.request.barrier)
        text_put(s->out,
                 "<p>One iteration of many: without a barrier the next begins before it ends, "
                 "every %s.</p>\n",
                 report_time(s->replay.iteration_ns, s->arena));
    text_put(s->out, "<div class=\"controls\" id=\"controls\" hidden>\n");
    for (size_t i = 0; i < ARRAY_LENGTH(controls); i++)
        text_put(s->out, "<button type=\"button\" id=\"%s\" aria-label=\"%s\">%s</button>\n",
                 controls[i][0], controls[i][2], controls[i][1]);
    text_put(
        s->out,
        "<label><input type=\"checkbox\" id=\"transfers\" checked> transfers, syncs</label>\n"
        "<label><input type=\"checkbox\" id=\"critical\"> critical path alone</label>\n"
        "</div>\n<p class=\"legend\" id=\"chart-legend\"></p>\n"
        "<div id=\"chart-frame\" hidden><canvas id=\"chart\" tabindex=\"0\" role=\"img\" "
        "aria-label=\"Schedule of one iteration. Plus and minus zoom, arrows left and right pan, "
        "up and down choose a track, comma and full stop step through its operations, 0 shows the "
        "whole.\"></canvas><div id=\"chart-rest\"></div><div id=\"chart-tip\" hidden></div></div>\n"
        "<p id=\"chart-status\" aria-live=\"polite\"></p>\n<p class=\"hint\" id=\"chart-hint\" "
        "hidden>Drag to pan. Once the chart is clicked, or with Ctrl, the wheel zooms; keys: + "
        "&minus; &larr; &rarr; 0, &uarr; &darr; for a track, comma and full stop for its "
        "operations.</p>\n");
    if (!html_schedule(s->out, &s->replay))
        text_put(s->out,
                 "<p>%d operations are too many to draw on a page: use plumbline report --format "
                 "trace.</p>\n",
                 s->replay.schedule.operation_count);
    else
        text_put(s->out, "<noscript><p>The chart is drawn by a script in this page, which is "
                         "turned off here.</p></noscript>\n");
}

static void put_memory(struct sections *s)
{
    struct report_table t;
    html_memory(s->out, s->plan);
    report_memory_table(&t, s->plan, s->arena);
    text_put(s->out, "<p>In GB of 10<sup>9</sup> bytes; the limit is what may be planned.</p>\n");
    html_table(s->out, &t, "memory-table");
}

static void put_times(struct sections *s)
{
    struct report_table t;
    bool barrier = s->replay.schedule.request.barrier;
    report_path_table(&t, &s->replay, s->arena);
    text_put(s->out, "<h3>%s</h3>\n",
             barrier ? "Critical path: what the iteration waits for"
                     : "Longest path to the end of one iteration");
    html_table(s->out, &t, "path");
    double idle = report_use_table(&t, s->plan, &s->replay, s->arena);
    text_put(s->out, "<h3>Use of time (mean bubble %.2f %%)</h3>\n", 100 * idle);
    html_table(s->out, &t, "use");
    report_times_table(&t, s->plan, s->arena);
    text_put(s->out, "<h3>Times in ms of one micro-batch%s</h3>\n",
             s->plan->layout.slice_count > 1 ? "&rsquo;s first slice" : "");
    html_table(s->out, &t, "stage-times");
}

// ---- of a placement

static void put_map(struct sections *s)
{
    struct text map;
    int nodes = s->page->links->problem.cluster.places.node_count;
    if (nodes > MAP_NODES_MOST) {
        text_put(s->out,
                 "<p>A map of the links between %d nodes is too large for a page: use plumbline "
                 "report --format heatmap.</p>\n",
                 nodes);
        return;
    }
    text_begin(&map, s->arena);
    report_heatmap(&map, s->page->links, true);
    html_scroll(s->out, "map of links");
    text_put(s->out, "%s</div>\n", map.text);
}

static void put_links(struct sections *s)
{
    struct text text;
    if (s->page->links) put_map(s);
    text_begin(&text, s->arena);
    report_places(&text, s->plan, s->page->links, s->page->top);
    html_scroll(s->out, "replicas, rings, messages");
    text_put(s->out, "<pre>%s</pre></div>\n", html_escape(text.text, s->arena));
}

// ---- where it comes from

static void put_command(struct sections *s, const char *command)
{
    text_put(s->out, "%s\n", html_escape(command, s->arena));
}

static void put_commands(struct sections *s)
{
    const struct plan *plan = s->plan;
    const char *problem = NULL,
               *to = shell_word(path_name(document_name(&plan->document, "plan.json")), s->arena);
    for (int i = 0; i < plan->document.source_count; i++)
        if (!strcmp(plan->document.sources[i].role, "problem"))
            problem = shell_word(plan->document.sources[i].path, s->arena);
    text_put(s->out, "<h3>To repeat it, in the plan's folder</h3>\n<pre id=\"commands\">");
    if (problem) {
        const char *gap = arena_print(s->arena, "%.15g", plan->gap_asked);
        put_command(s, arena_print(s->arena,
                                   "plumbline solve %s --gap %s --seed %" PRId64
                                   " --certificate proof.json -o %s",
                                   problem, gap, plan->seed, to));
        put_command(s, arena_print(s->arena, "plumbline check proof.json %s", problem));
    }
    put_command(s, arena_print(s->arena, "plumbline verify %s", to));
    put_command(s, arena_print(s->arena, "plumbline report --format html -o report.html %s", to));
    text_put(s->out, "</pre>\n");
}

static void put_origin(struct sections *s)
{
    static const char *const headings[] = {"input", "file", "SHA-256"};
    const struct plan *plan = s->plan;
    struct report_table t;
    report_table_begin(&t, headings, "lll", s->arena);
    for (int i = 0; i < plan->document.source_count; i++) {
        report_cell(&t, plan->document.sources[i].role);
        report_cell(&t, plan->document.sources[i].path);
        report_cell(&t, plan->document.sources[i].sha256);
    }
    if (plan->document.path) {
        report_cell(&t, "this plan");
        report_cell(&t, path_name(plan->document.path));
        report_cell(&t, plan->document.sha256);
    }
    html_table(s->out, &t, "inputs");
    text_put(s->out,
             "<p>By %s; %" PRId64 " boxes, %" PRId64 " relaxations, %" PRId64
             " path rows, %.2f s.</p>\n",
             html_escape(plan->document.made_by ? plan->document.made_by : "hand", s->arena),
             plan->effort.boxes, plan->effort.relaxations, plan->effort.path_rows,
             plan->effort.seconds);
    put_commands(s);
}

// ---- all of it

static void put_layouts(struct sections *s)
{
    html_layouts(s->out, s->page->layouts, s->page->layouts_top);
}

static void put_sensitivity(struct sections *s) { html_sensitivity(s->out, s->page); }
static void put_against(struct sections *s) { text_put(s->out, "%s", s->page->against); }
static void put_search(struct sections *s) { html_history(s->out, s->page); }

static void put_sections(struct sections *s)
{
    bool stages = s->plan->stage_count;
    const struct {
        bool is;
        const char *id, *name, *title; // name: among the page's links
        void (*put)(struct sections *s);
    } items[] = {
        {stages, "placement", "Placement", "Placement", put_placement},
        {stages, "schedule", "Schedule", "Schedule", put_chart},
        {s->page->against, "against", "Run", "Predicted and measured", put_against},
        {stages, "memory", "Memory", "Memory of one GPU", put_memory},
        {stages, "times", "Times", "Where the time goes", put_times},
        {stages && s->plan->placement, "links", "Links", "Links", put_links},
        {s->page->layouts, "layouts", "Layouts", "Layouts", put_layouts},
        {s->page->sensitivity_count, "sensitivity", "Costs", "Cost uncertainty", put_sensitivity},
        {s->page->moment_count, "search", "Search", "Best plan and bound over time", put_search},
        {true, "origin", "Made from", "Made from", put_origin},
    };
    text_put(s->out, "<nav aria-label=\"sections\">");
    for (size_t i = 0; i < ARRAY_LENGTH(items); i++)
        if (items[i].is) text_put(s->out, "<a href=\"#%s\">%s</a> ", items[i].id, items[i].name);
    text_put(s->out, "</nav>\n<main>\n");
    put_summary(s);
    for (size_t i = 0; i < ARRAY_LENGTH(items); i++) {
        const char *id = items[i].id;
        if (!items[i].is) continue;
        text_put(s->out,
                 "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
                 id, id, id, items[i].title);
        items[i].put(s);
        text_put(s->out, "</section>\n");
    }
}

enum status report_html(struct text *out, const struct report_page *page, struct error *err)
{
    struct sections s = {.out = out, .page = page, .plan = page->plan, .arena = out->arena};
    if (s.plan->stage_count) TRY(report_replay(&s.replay, s.plan, out->arena, err));
    html_begin(out, s.plan->name ? s.plan->name : "plan");
    put_sections(&s);
    html_end(out);
    return OK;
}
