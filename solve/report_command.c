// plumbline report PLAN: a plan for people, for a trace viewer, for a launcher.
#include <string.h>

#include "data/options.h"
#include "solve/report.h"

command_function command_report;

enum format { FORMAT_TEXT, FORMAT_TRACE, FORMAT_MEGATRON };
static const char *const format_names[] = {"text", "trace", "megatron", NULL};

static bool hash_matches(const struct plan *plan, const char *role, const struct document *now)
{
    for (int i = 0; i < plan->document.source_count; i++)
        if (!strcmp(plan->document.sources[i].role, role))
            return !strcmp(plan->document.sources[i].sha256, now->sha256);
    return true;
}

// The problem that the plan was made from, if it is where the plan says and has not changed. Nothing depends on it but
// the flags that describe the model.
static bool find_problem(const struct plan *plan, struct problem *problem, struct arena *arena)
{
    struct error unread = {OK, ""};
    for (int i = 0; i < plan->document.source_count; i++) {
        const struct source *s = &plan->document.sources[i];
        if (strcmp(s->role, "problem")) continue;
        if (problem_load(problem, path_beside(plan->document.path, s->path, arena), arena, &unread) != OK) return false;
        return hash_matches(plan, "problem", &problem->document) &&
               hash_matches(plan, "model", &problem->model.document) &&
               hash_matches(plan, "cluster", &problem->cluster.document) &&
               hash_matches(plan, "job", &problem->job.document);
    }
    return false;
}

enum status command_report(int argc, char **argv, int *exit_code, struct arena *arena, struct error *err)
{
    int format = FORMAT_TEXT;
    bool helped;
    const char *to = "-", *from, *text;
    size_t length;
    const struct option options[] = {
        {"--format", OPTION_NAME, &format, 0, 0, format_names,
         "for people (default), Chrome/Perfetto JSON, Megatron-LM flags"},
        {"-o", OPTION_TEXT, &to, 0, 0, NULL, "write to this file; - is standard output (default)"},
    };
    struct plan plan;
    struct problem problem;
    TRY(options_read(argc, argv, "plumbline report [--format text|trace|megatron] [-o FILE] PLAN", options,
                     ARRAY_LENGTH(options), &from, 1, 1, NULL, &helped, err));
    *exit_code = 0;
    if (helped) return OK;
    TRY(plan_load(&plan, from, arena, err));
    if (format == FORMAT_TEXT) TRY(report_text(&plan, &text, &length, arena, err));
    else if (format == FORMAT_TRACE) TRY(report_trace(&plan, &text, &length, arena, err));
    else
        TRY(report_megatron(&plan, find_problem(&plan, &problem, arena) ? &problem : NULL, &text, &length, arena, err));
    return file_write(to, text, length, err);
}
