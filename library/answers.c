// Questions of plumbline.h: audits and reports of plans, and the commands that take their words.
#include "library/internal.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/watch.h"
#include "data/text/pieces.h"
#include "formulate/commands.h"
#include "solve/checker/check.h"
#include "solve/commands/audits.h"
#include "solve/explain/explain.h"

// ---- audits

struct audit {
    const plumbline_plan *plan;
    const char *problem, *certificate, *against;
    bool answer;
    FILE *to;
};

static enum status verify(struct call *c, void *arguments)
{
    struct audit *a = arguments;
    struct verdict verdict;
    TRY(call_expect(a->plan, "a plan", &c->err));
    const plumbline_problem *own = a->problem ? NULL : a->plan->problem;
    struct verify_request r = {.problem_path = a->problem,
                               .certificate = a->certificate,
                               .at_hand = own ? &own->problem : NULL};
    if (own && own->composed && a->certificate)
        return refuse(&c->err,
                      "a certificate is about a problem file: expected problem_path, or a problem "
                      "that was saved");
    TRY(verify_run(&verdict, &a->plan->plan, &r, &c->scratch, &c->err));
    a->answer = verdict.accepted;
    verify_print(a->to, &verdict, &a->plan->plan, a->certificate, &c->scratch);
    return OK;
}

static enum status check(struct call *c, void *arguments)
{
    struct audit *a = arguments;
    const struct check_request r = {
        .certificate = a->certificate, .against = a->against, .work_limit = CHECK_WORK_DEFAULT};
    TRY(call_expect(a->certificate, "the path of a certificate", &c->err));
    return check_run(&a->answer, &r, a->to, &c->scratch, &c->err);
}

// Runs it with *to open, and gives what it printed.
static plumbline_status run_printing(call_body *body, FILE **to, void *arguments, char **text,
                                     plumbline_error *error)
{
    char *printed = NULL;
    size_t length;
    plumbline_error unwanted;
    if (!error) error = &unwanted;
    *to = open_memstream(&printed, &length);
    plumbline_status status = *to ? call_run(body, NULL, arguments, error) : PLUMBLINE_SYSTEM;
    bool written = *to && !fclose(*to);
    if (!status && !written) status = PLUMBLINE_SYSTEM;
    if (!written) *error = (plumbline_error){.status = PLUMBLINE_SYSTEM, .text = "out of memory"};
    if (text) *text = status ? NULL : printed;
    if (!text || status) free(printed);
    return status;
}

static plumbline_status run_audit(call_body *body, struct audit *a, int *answer, char **text,
                                  plumbline_error *error)
{
    plumbline_status status = run_printing(body, &a->to, a, text, error);
    if (answer) *answer = !status && a->answer;
    return status;
}

plumbline_status plumbline_verify(const plumbline_plan *plan, const char *problem_path,
                                  const char *certificate, int *accepted, char **text,
                                  plumbline_error *error)
{
    struct audit a = {.plan = plan, .problem = problem_path, .certificate = certificate};
    return run_audit(verify, &a, accepted, text, error);
}

plumbline_status plumbline_check(const char *certificate, const char *against, int *proven,
                                 char **text, plumbline_error *error)
{
    struct audit a = {.certificate = certificate, .against = against};
    return run_audit(check, &a, proven, text, error);
}

// ---- reports

struct report {
    const plumbline_plan *plan;
    const char *run; // that the plan is beside; NULL: none
    plumbline_format format;
    char **text;
    size_t *length;
};

static enum status report(struct call *c, void *arguments)
{
    const struct report *r = arguments;
    struct text out;
    const char *json;
    size_t length;
    TRY(call_expect(r->plan, "a plan", &c->err));
    const plumbline_problem *problem = r->plan->problem;
    const struct report_request request = {.plan = &r->plan->plan,
                                           .problem = problem ? &problem->problem : NULL,
                                           .layouts = r->plan->layouts,
                                           .html = r->format == PLUMBLINE_HTML};
    if (r->format == PLUMBLINE_JSON) {
        json = plan_text(&r->plan->plan, &length, &c->scratch);
        return call_give(r->text, r->length, json, length, &c->err);
    }
    if (r->format != PLUMBLINE_TEXT && r->format != PLUMBLINE_HTML)
        return refuse(&c->err, "expected a format from 0 to 2, found %d", (int)r->format);
    text_begin(&out, &c->scratch);
    TRY(report_run(&out, &request, &c->err));
    return call_give(r->text, r->length, out.text, out.length, &c->err);
}

static enum status report_against(struct call *c, void *arguments)
{
    const struct report *r = arguments;
    struct text out;
    TRY(call_expect(r->plan, "a plan", &c->err));
    TRY(call_expect(r->run, "the path of a run", &c->err));
    const struct plan *plan = &r->plan->plan;
    const struct about_links about = {.top = -1, .format = FORMAT_TEXT, .against = r->run};
    if (r->plan->problem)
        return refuse(&c->err,
                      "a run is of a plan's file: expected a plan that was opened from it");
    text_begin(&out, &c->scratch);
    if (r->format == PLUMBLINE_TEXT) TRY(make_with_links(&out, plan, &about, &c->err));
    else if (r->format == PLUMBLINE_HTML) TRY(make_page(&out, plan, &about, NULL, NULL, &c->err));
    else return refuse(&c->err, "expected text or HTML as format, found %d", (int)r->format);
    return call_give(r->text, r->length, out.text, out.length, &c->err);
}

plumbline_status plumbline_report(const plumbline_plan *plan, plumbline_format format, char **text,
                                  size_t *length, plumbline_error *error)
{
    struct report r = {plan, NULL, format, text, length};
    *text = NULL;
    return call_run(report, NULL, &r, error);
}

plumbline_status plumbline_report_against(const plumbline_plan *plan, const char *run,
                                          plumbline_format format, char **text, size_t *length,
                                          plumbline_error *error)
{
    struct report r = {plan, run, format, text, length};
    *text = NULL;
    return call_run(report_against, NULL, &r, error);
}

// ---- commands by their words

struct comparing {
    const char *const *words;
    char **text;
    size_t *length;
};

static enum status compare(struct call *c, void *arguments)
{
    const struct comparing *a = arguments;
    struct text out;
    int argc;
    char **argv = call_words(c, "compare", a->words, &argc);
    text_begin(&out, &c->scratch);
    TRY(compare_words(&out, argc, argv, &c->err));
    return call_give(a->text, a->length, out.text, out.length, &c->err);
}

plumbline_status plumbline_compare(const char *const *words, char **text, size_t *length,
                                   plumbline_error *error)
{
    struct comparing a = {words, text, length};
    *text = NULL;
    return call_run(compare, NULL, &a, error);
}

struct predicting {
    const char *table;
    const char *const *words;
    FILE *to, *notes;
    char **told;
};

static enum status predict(struct call *c, void *arguments)
{
    const struct predicting *a = arguments;
    int argc;
    char **argv = call_words(c, "predict", a->words, &argc);
    return predict_words(a->to, a->notes, a->table, argc, argv, &c->scratch, &c->err);
}

static plumbline_status predict_noting(struct predicting *a, char **text, plumbline_error *error)
{
    char *told = NULL;
    size_t length;
    a->notes = open_memstream(&told, &length);
    if (!a->notes) {
        if (error) *error = (plumbline_error){PLUMBLINE_SYSTEM, "out of memory"};
        return PLUMBLINE_SYSTEM;
    }
    plumbline_status status = run_printing(predict, &a->to, a, text, error);
    fclose(a->notes);
    if (a->told) *a->told = status ? NULL : told;
    if (!a->told || status) free(told);
    return status;
}

plumbline_status plumbline_predict(const char *table, const char *const *words, char **text,
                                   char **notes, plumbline_error *error)
{
    struct predicting a = {.table = table, .words = words, .told = notes};
    *text = NULL;
    if (notes) *notes = NULL;
    return predict_noting(&a, text, error);
}

struct explaining {
    const char *const *words;
    char **text, **json;
};

static enum status explain(struct call *c, void *arguments)
{
    const struct explaining *a = arguments;
    struct explained *x = TAKE(&c->scratch, 1, struct explained);
    size_t length;
    int argc;
    char **argv = call_words(c, "explain", a->words, &argc);
    TRY(explain_words(x, argc, argv, &c->scratch, &c->err));
    if (a->text) {
        const char *text = explained_text(x, &length);
        TRY(call_give(a->text, NULL, text, length, &c->err));
    }
    if (!a->json) return OK;
    const char *json = explained_json(x, &length);
    return call_give(a->json, NULL, json, length, &c->err);
}

plumbline_status plumbline_explain(const char *const *words, char **text, char **json,
                                   plumbline_error *error)
{
    struct explaining a = {words, text, json};
    if (text) *text = NULL;
    if (json) *json = NULL;
    plumbline_status status = call_run(explain, NULL, &a, error);
    if (status && text) free(*text), *text = NULL;
    return status;
}

struct carrying {
    const char *const *words;
    plumbline_options options;
    struct watch watch;
};

static void tell_line(void *argument, const char *line)
{
    const struct carrying *a = argument;
    const plumbline_progress told = {
        .size = sizeof told, .seconds = watch_elapsed_s(&a->watch), .text = line};
    a->options.progress(a->options.argument, &told);
}

static enum status carry(struct call *c, void *arguments)
{
    struct carrying *a = arguments;
    const struct carry_listener to = {a->options.stop, a->options.progress ? tell_line : NULL, a};
    int argc;
    char **argv = call_words(c, "run", a->words, &argc);
    return carry_words(&to, argc, argv, &c->scratch, &c->err);
}

plumbline_status plumbline_run(const char *const *words, const plumbline_options *options,
                               plumbline_error *error)
{
    struct carrying a = {.words = words, .watch = watch_begin(NULL, 0)};
    plumbline_options_init(&a.options, sizeof a.options);
    if (options)
        memcpy(&a.options, options,
               options->size < sizeof a.options ? options->size : sizeof a.options);
    return call_run(carry, NULL, &a, error);
}
