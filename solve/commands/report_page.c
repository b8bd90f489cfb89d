// Finds what a report shows besides the plan: its problem, links, layouts, what its costs leave
// open.
#include "solve/commands/verbs.h"

#include <string.h>

#include "formulate/price/range.h"
#include "solve/commands/internal.h"
#include "solve/report/html/html.h"

// ---- plans with a placement

enum { LINKS_SHOWN = 10 };

// NULL: it is not where the plan says, or has changed.
static enum status find_problem(const struct problem **problem, const struct plan *plan,
                                const struct about_links *about, struct arena *arena,
                                struct error *err)
{
    *problem = about->at_hand && about->at_hand->problem ? about->at_hand->problem
                                                         : origin_whole_problem(plan, arena);
    return origin_check_layers(plan, *problem, err);
}

// The links of a placement; *found stays false if its problem is not available and was not named.
static enum status find_links(struct report_links *links, bool *found, const struct plan *plan,
                              const struct about_links *about, struct arena *arena,
                              struct error *err)
{
    const char *named = about->problem;
    struct problem *problem = TAKE(arena, 1, struct problem);
    *found = false;
    if (!plan->placement) return OK;
    if (about->at_hand && about->at_hand->problem) {
        *problem = *about->at_hand->problem;
    } else if (named) {
        TRY(problem_load(problem, named, arena, err));
        if (!origin_matches(plan, "cluster", &problem->cluster.document) ||
            !origin_matches(plan, "costs", &problem->costs.document))
            return refuse(err, "%s: its cluster or its costs are not those that %s was made from",
                          named, plan->document.path);
    } else if (!origin_problem(plan, problem, arena) ||
               !origin_matches(plan, "costs", &problem->costs.document)) {
        return OK;
    }
    *found = true;
    return report_links_find(links, plan, problem, arena, err);
}

// ---- a run beside the plan

static enum status find_against(struct against *a, const struct plan *plan, const char *path,
                                struct arena *arena, struct error *err)
{
    struct plan_run *run = TAKE(arena, 1, struct plan_run);
    struct plan *beside = TAKE(arena, 1, struct plan);
    TRY(plan_run_load(run, path, arena, err));
    TRY(plan_run_check(run, plan, err));
    plan_bring_run(run, plan, arena);
    TRY(plan_for_run(beside, plan, run, arena, err));
    TRY(against_find(a, beside, run, arena, err));
    against_take_costs(a, origin_whole_problem(plan, arena));
    plan_find_kept(&a->kept, plan, arena);
    return OK;
}

// put: the text before the faults.
static enum status make_against(struct text *out,
                                void put(struct text *out, const struct against *a),
                                const struct plan *plan, const char *path, struct error *err)
{
    struct against a;
    struct against_faults faults;
    TRY(find_against(&a, plan, path, out->arena, err));
    TRY(against_find_faults(&faults, &a, out->arena, err));
    put(out, &a);
    against_faults_text(out, &faults, &a);
    return OK;
}

enum status make_explained_run(struct text *out, const char *path, struct error *err)
{
    struct plan plan = {.stage_count = 0};
    struct plan_run run;
    struct arena *arena = out->arena;
    TRY(plan_run_load(&run, path, arena, err));
    const struct document *d = &run.document;
    for (int i = 0; i < d->source_count; i++)
        if (!strcmp(d->sources[i].role, "plan"))
            TRY(plan_load(&plan, path_beside(d->path, d->sources[i].path, arena), arena, err));
    if (!plan.stage_count) return refuse(err, "%s: made_from: expected a plan with stages", path);
    return make_against(out, against_summary, &plan, path, err);
}

enum status make_trace(struct text *out, const struct plan *plan, const struct about_links *about,
                       struct error *err)
{
    struct against a;
    if (about->against) TRY(find_against(&a, plan, about->against, out->arena, err));
    return report_trace(out, plan, about->against ? &a.measured : NULL, err);
}

static enum status add_against(struct report_page *page, const char *path, struct arena *arena,
                               struct error *err)
{
    struct against a;
    struct text out;
    if (!path) return OK;
    TRY(find_against(&a, page->plan, path, arena, err));
    text_begin(&out, arena);
    against_page(&out, &a);
    page->against = out.text;
    return OK;
}

// A text, a table or a map with links; the text is made without them if they are not available.
enum status make_with_links(struct text *out, const struct plan *plan,
                            const struct about_links *about, struct error *err)
{
    struct report_links links;
    const struct problem *problem;
    bool found;
    if (about->against) return make_against(out, against_text, plan, about->against, err);
    TRY(find_problem(&problem, plan, about, out->arena, err));
    TRY(find_links(&links, &found, plan, about, out->arena, err));
    if (about->format == FORMAT_TEXT)
        return report_text(out, plan, problem, found ? &links : NULL,
                           about->top < 0 ? LINKS_SHOWN : about->top, err);
    if (!plan->placement)
        return refuse(
            err, "%s: placement: expected a plan for a cluster with places, found one for groups",
            plan->document.path);
    if (!found)
        return refuse(err,
                      "%s: its problem is missing or has changed since; expected --problem FILE",
                      plan->document.path);
    if (about->format == FORMAT_LINKS) report_links_csv(out, &links);
    else report_heatmap(out, &links, about->node_order == 1);
    return OK;
}

// ---- the page

enum { LAYOUTS_SHOWN = 200 };

// For a plan whose problem is available; nothing if its times are not those of the stages alone, or
// if some end of the cost ranges cannot be priced.
static enum status find_sensitivity(struct report_page *page, struct arena *arena,
                                    struct error *err)
{
    struct moved_costs_list *moved = TAKE(arena, 1, struct moved_costs_list);
    struct report_sensitivity *found = TAKE(arena, COST_GROUPS, struct report_sensitivity);
    int64_t ns[COST_GROUPS * COST_ENDS];
    int count = 0;
    if (!page->problem || !page->plan->stage_count || page->plan->placement) return OK;
    struct problem problem = problem_with_layout(page->problem, &page->plan->layout);
    range_move_costs(moved, &problem.costs, arena);
    TRY(range_times(ns, moved, page->plan, &problem, arena, err));
    for (int i = 0; i < moved->count; i++) {
        const struct moved_costs *m = &moved->items[i];
        if (!ns[i]) return OK;
        if (!count || found[count - 1].group != m->group) found[count++].group = m->group;
        found[count - 1].ns[m->end] = ns[i];
    }
    page->sensitivity = found;
    page->sensitivity_count = count;
    return OK;
}

// The named layouts, or those that solve wrote next to the plan, if they are of its problem.
static enum status find_layouts(struct report_page *page, const char *named, struct arena *arena,
                                struct error *err)
{
    struct layouts *l = TAKE(arena, 1, struct layouts);
    struct error unread = {OK, ""};
    const struct document *of = &page->plan->document;
    const char *path = named ? named
                             : arena_print(arena, "%s.layouts.json", path_stem(of->path, arena));
    enum status status = layouts_load(l, path, arena, named ? err : &unread);
    if (status != OK) return named ? status : OK;
    for (int i = 0; i < l->document.source_count; i++) {
        const struct source *s = &l->document.sources[i];
        const char *hash = source_hash(of, s->role);
        if (hash && !strcmp(hash, s->sha256)) continue;
        if (!named) return OK;
        return refuse(err, "%s: made_from: its %s is not the one that %s was made from", path,
                      s->role, of->path);
    }
    page->layouts = l;
    return OK;
}

enum status make_page(struct text *out, const struct plan *plan, const struct about_links *about,
                      const char *layouts, const char *progress, struct error *err)
{
    struct report_links links;
    struct report_page page = {.plan = plan,
                               .top = LINKS_SHOWN,
                               .layouts_top = about->top < 0 ? LAYOUTS_SHOWN : about->top};
    bool found;
    TRY(find_problem(&page.problem, plan, about, out->arena, err));
    TRY(find_links(&links, &found, plan, about, out->arena, err));
    if (found) page.links = &links;
    if (about->at_hand && about->at_hand->layouts) page.layouts = about->at_hand->layouts;
    else if (layouts || plan->document.path) TRY(find_layouts(&page, layouts, out->arena, err));
    TRY(find_sensitivity(&page, out->arena, err));
    TRY(add_against(&page, about->against, out->arena, err));
    if (progress && plan->placement)
        return refuse(err,
                      "--progress: expected a plan without a placement: lines of its search are of "
                      "relaxations");
    if (progress) TRY(report_history_read(&page, progress, out->arena, err));
    return report_html(out, &page, err);
}

enum status report_run(struct text *out, const struct report_request *r, struct error *err)
{
    const struct about_links about = {.top = -1, .format = FORMAT_TEXT, .at_hand = r};
    return r->html ? make_page(out, r->plan, &about, NULL, NULL, err)
                   : make_with_links(out, r->plan, &about, err);
}
