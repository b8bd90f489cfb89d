// The changed problem as documents, and the checks of an earlier plan before comparing with it.
#include "data/kinds/schedules.h"
#include "solve/questions/question.h"

#include "formulate/graph/objective.h"
#include "solve/judge/verify.h"

// ---- the change

static enum status take_layout(struct problem *to, const struct layout *layout, struct error *err)
{
    struct space_limits limits = problem_space_limits(to);
    if (!space_contains(&to->job.space, &limits, layout, NULL))
        return refuse(err,
                      "--start: expected a layout of the space of %s; found is "
                      "tensor %d, context %d, pipeline %d, data %d, micro-batch %d, %s",
                      to->job.document.path, layout->tensor, layout->context, layout->pipeline,
                      layout->data, layout->micro_batch, schedule_names[layout->schedule]);
    *to = problem_with_layout(to, layout);
    return OK;
}

static const char *change_text(const struct problem_change *change, struct arena *arena)
{
    bool cluster = cluster_change_any(change->cluster);
    const char *nodes = cluster ? cluster_change_text(change->cluster, arena) : "";
    if (!change->layout) return nodes;
    return arena_print(arena, cluster ? "one layout, %s" : "one layout", nodes);
}

// What is changed becomes a separate document, without a hash so far. path NULL: it is not written.
static void name_pieces(struct problem *to, const struct problem *from, const bool *changed,
                        const char *text, const char *path, struct arena *arena)
{
    struct problem was = *from;
    for (int i = 0; i < PIECE_COUNT; i++) {
        struct document *old = problem_piece_of(&was, i), *d = problem_piece_of(to, i);
        if (!changed[i]) continue;
        *d = (struct document){.path = arena_print(arena, "%s (%s)", old->path, text)};
        if (!path) continue;
        d->path = arena_print(arena, "%s.%s.json", path_stem(path, arena), problem_roles[i]);
        d->sources = TAKE(arena, 1, struct source);
        d->sources[d->source_count++] = source_of(problem_roles[i], old, d->path, arena);
    }
}

enum status what_if_change(struct problem *changed, const struct problem *problem,
                           const struct problem_change *change, const char *path,
                           struct arena *arena, struct error *err)
{
    const struct cluster_change *nodes = cluster_change_any(change->cluster) ? change->cluster
                                                                             : NULL;
    const char *text = change_text(change, arena);
    const bool pieces[PIECE_COUNT] = {[PIECE_PROBLEM] = true,
                                      [PIECE_CLUSTER] = nodes != NULL,
                                      [PIECE_JOB] = change->layout != NULL};
    *changed = *problem;
    if (change->layout) TRY(take_layout(changed, change->layout, err));
    if (nodes) TRY(cluster_make_change(&changed->cluster, &problem->cluster, nodes, arena, err));
    changed->name = problem->name ? arena_print(arena, "%s, %s", problem->name, text) : text;
    name_pieces(changed, problem, pieces, text, NULL, arena);
    TRY(problem_check(changed, err));
    if (!path) return OK;
    name_pieces(changed, problem, pieces, text, path, arena);
    TRY(problem_write(changed, pieces, "; expected another -o for another change", arena, err));
    return problem_load(changed, changed->document.path, arena, err);
}

// ---- the earlier plan

enum status what_if_check_earlier(const struct plan *earlier, const struct problem *problem,
                                  struct arena *arena, struct error *err)
{
    struct verdict verdict = {.closed_form_ns = -1};
    TRY(verify_plan(&verdict, earlier, problem, arena, err));
    if (verdict.accepted) return OK;
    return refuse(err, "--start: %s: expected a plan of %s, found: %s: %s", earlier->document.path,
                  problem->document.path, verdict.violations[0].rule, verdict.violations[0].text);
}

enum status what_if_standing(int64_t *standing_ns, const struct plan *earlier,
                             const struct priced *priced, struct arena *arena, struct error *err)
{
    struct schedule schedule;
    struct choices choices;
    struct graph *graph;
    *standing_ns = 0;
    TRY(schedule_build_priced(&schedule, priced, arena, err));
    TRY(choices_build(&choices, priced, &schedule, arena, err));
    TRY(objective_graph(&graph, priced, &schedule, arena, err));
    int *chosen = TAKE(arena, priced->stage_count, int);
    int64_t *durations = TAKE(arena, graph_symbol_count(graph), int64_t);
    if (earlier->stage_count != priced->stage_count ||
        !choices_from_plan(chosen, &choices, earlier) || !choices_fit_together(&choices, chosen))
        return OK;
    if (choices_durations(&choices, chosen, durations))
        *standing_ns = graph_longest(graph, durations, NULL);
    return OK;
}
