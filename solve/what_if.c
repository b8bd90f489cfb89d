// The changed problem as documents, and what an earlier plan must be to be compared with.
#include "solve/what_if.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "data/file.h"
#include "formulate/choices.h"
#include "formulate/objective.h"
#include "solve/verify.h"

static const char *stem_of(const char *path, struct arena *arena)
{
    size_t length = strlen(path), end = length > 5 && !strcmp(path + length - 5, ".json") ? length - 5 : length;
    return arena_print(arena, "%.*s", (int)end, path);
}

// ---- documents

static enum status check_replaceable(const char *path, const char *draft, struct arena *arena, struct error *err)
{
    const char *old, *new;
    size_t old_size, new_size;
    if (access(path, F_OK)) return OK;
    TRY(file_read(path, &old, &old_size, arena, err));
    TRY(file_read(draft, &new, &new_size, arena, err));
    if (old_size == new_size && !memcmp(old, new, old_size)) return OK;
    return fail(err, BAD_INPUT, "%s: exists with other content; expected another -o for another change", path);
}

// Both or none: each goes beside its place first.
static enum status write_both(const struct problem *p, const char *const *drafts, struct arena *arena, struct error *err)
{
    const char *paths[] = {p->cluster.document.path, p->document.path};
    TRY(cluster_save(&p->cluster, drafts[0], arena, err));
    TRY(problem_save(p, drafts[1], arena, err));
    for (int i = 0; i < 2; i++) TRY(check_replaceable(paths[i], drafts[i], arena, err));
    for (int i = 0; i < 2; i++)
        if (rename(drafts[i], paths[i])) return fail(err, BAD_INPUT, "%s: cannot be written: %s", paths[i], strerror(errno));
    return OK;
}

static enum status write_documents(struct problem *p, struct arena *arena, struct error *err)
{
    const char *path = p->document.path;
    const char *const drafts[] = {arena_print(arena, "%s.draft", p->cluster.document.path), arena_print(arena, "%s.draft", path)};
    enum status status = write_both(p, drafts, arena, err);
    for (int i = 0; i < 2; i++) unlink(drafts[i]);
    return status == OK ? problem_load(p, path, arena, err) : status;
}

enum status what_if_change(struct problem *changed, const struct problem *problem, const struct cluster_change *change, const char *path,
                           struct arena *arena, struct error *err)
{
    const char *text = cluster_change_text(change, arena);
    *changed = *problem;
    TRY(cluster_make_change(&changed->cluster, &problem->cluster, change, arena, err));
    changed->name = problem->name ? arena_print(arena, "%s, %s", problem->name, text) : text;
    changed->document = (struct document){.path = arena_print(arena, "%s (%s)", problem->document.path, text)};
    changed->cluster.document = (struct document){.path = arena_print(arena, "%s (%s)", problem->cluster.document.path, text)};
    TRY(problem_check(changed, err));
    if (!path) return OK;
    changed->document.path = arena_print(arena, "%s.problem.json", stem_of(path, arena));
    changed->cluster.document.path = arena_print(arena, "%s.cluster.json", stem_of(path, arena));
    struct source sources[] = {source_of("problem", &problem->document, changed->document.path, arena),
                               source_of("cluster", &problem->cluster.document, changed->cluster.document.path, arena)};
    changed->document.sources = &sources[0];
    changed->cluster.document.sources = &sources[1];
    changed->document.source_count = changed->cluster.document.source_count = 1;
    return write_documents(changed, arena, err);
}

// ---- the earlier plan

enum status what_if_check_earlier(const struct plan *earlier, const struct problem *problem, struct arena *arena, struct error *err)
{
    struct verdict verdict = {.closed_form_ns = -1};
    TRY(verify_plan(&verdict, earlier, problem, arena, err));
    if (verdict.accepted) return OK;
    return fail(err, BAD_INPUT, "--start: %s: expected a plan of %s, found: %s: %s", earlier->document.path, problem->document.path, verdict.violations[0].rule, verdict.violations[0].text);
}

enum status what_if_standing(int64_t *standing_ns, const struct plan *earlier, const struct priced *priced, struct arena *arena, struct error *err)
{
    struct schedule schedule;
    struct choices choices;
    struct graph *graph;
    struct schedule_request request = schedule_request_of(priced);
    *standing_ns = 0;
    TRY(schedule_build(&schedule, &request, arena, err));
    TRY(choices_build(&choices, priced, &schedule, arena, err));
    TRY(objective_graph(&graph, priced, &schedule, arena, err));
    int *chosen = TAKE(arena, priced->stage_count, int);
    int64_t *durations = TAKE(arena, graph_symbol_count(graph), int64_t);
    if (earlier->stage_count != priced->stage_count || !choices_from_plan(chosen, &choices, earlier) || !choices_fit_together(&choices, chosen)) return OK;
    if (choices_durations(&choices, chosen, durations)) *standing_ns = graph_longest(graph, durations, NULL);
    return OK;
}
