// plumbline verify: finds the documents that a plan was made from, audits the plan, and reports
// what is wrong with it.
#include <string.h>

#include "data/base/command.h"
#include "solve/commands/audits.h"
#include "solve/commands/solution.h"
#include "solve/judge/verify.h"

enum { SOURCES_MOST = 64 };

// The plan's own list of inputs: checks that each file has the stated hash; one that cannot be read
// is bad input. With a problem named by the user only the loaded documents count, which verify_plan
// compares.
static enum status check_sources(struct verdict *v, const struct plan *plan, struct arena *arena,
                                 struct error *err)
{
    if (plan->document.source_count > SOURCES_MOST)
        return refuse(err, "%s: made_from: expected at most %d documents, found %d",
                      plan->document.path, SOURCES_MOST, plan->document.source_count);
    for (int i = 0; i < plan->document.source_count; i++) {
        const struct source *s = &plan->document.sources[i];
        const char *path = path_beside(plan->document.path, s->path, arena), *text;
        char found[SHA256_TEXT];
        size_t size;
        struct error unread = {OK, ""};
        if (file_read(path, &text, &size, arena, &unread) != OK)
            return refuse(err, "%s: made_from[%d].path: %s", plan->document.path, i, unread.text);
        sha256_text(text, size, found);
        if (strcmp(found, s->sha256))
            verdict_add(v, arena, "hash", -1,
                        "%s: SHA-256 is %.12s..., the plan was made from %.12s...", path, found,
                        s->sha256);
    }
    return OK;
}

// Memory of the first rank next to the published formula's, which includes neither recomputation
// nor memory outside the allocator.
static void print_memory(FILE *to, const struct verdict *v)
{
    if (v->memory_bytes < 0) return;
    fprintf(to, "memory of the first rank: %.3f GB a device", (double)v->memory_bytes / 1e9);
    if (v->published_bytes >= 0)
        fprintf(to,
                "; by the formula of Fujii et al. (2411.06465), without recomputation: %.3f GB, "
                "%.2f times that",
                (double)v->published_bytes / 1e9,
                (double)v->published_bytes / (double)v->memory_bytes);
    fprintf(to, "\n");
    if (v->energy_uj >= 0)
        fprintf(to, "energy of weights, states and swaps, of an iteration on all GPUs: %.6f J\n",
                (double)v->energy_uj / 1e6);
}

// Without a certificate, what the plan says of its bound.
static void print_bound(FILE *to, const struct verdict *v, const struct plan *plan,
                        const char *certificate, struct arena *arena)
{
    if (!certificate && !plan->bound_ns) {
        fprintf(to, "no bound stated");
        return;
    }
    fprintf(to, "bound %lld %s, gap %.3g: ", (long long)plan->bound_ns, plan_unit(plan),
            plan_gap(plan));
    if (!certificate) {
        fprintf(to, "%s%s", plan_claim_words(plan, arena),
                plan->claim == CLAIM_STATED ? "" : " (--certificate FILE audits it)");
        return;
    }
    fprintf(to, "%s by %s", claim_words(CLAIM_CERTIFIED, NULL, 0, arena), certificate);
    if (v->proven_ns > plan->bound_ns)
        fprintf(to, " (which certifies %lld %s)", (long long)v->proven_ns, plan_unit(plan));
}

// What no document at hand can tell: keys of the plan that the judge takes as they are.
static void print_stated(FILE *to, const struct plan *plan)
{
    const struct {
        const char *key;
        bool is_there;
    } keys[] = {
        {"made_by", plan->document.made_by != NULL},
        {"claim", true},
        {"taken_over", plan->taken_over_count > 0},
        {"gap_asked", true},
        {"runner_up_ns", plan->runner_up_ns != 0},
        {"extrapolated", plan->extrapolated_count > 0},
        {"seed", true},
        {"effort", true},
    };
    const char *before = "stated, not judged: ";
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
        if (!keys[i].is_there) continue;
        fprintf(to, "%s%s", before, keys[i].key);
        before = ", ";
    }
    fprintf(to, "\n");
}

void verify_print(FILE *to, const struct verdict *v, const struct plan *plan,
                  const char *certificate, struct arena *arena)
{
    if (v->accepted && plan->stage_count == 0) {
        fprintf(to, "accepted: there is no plan, certified by %s\n", certificate);
        print_stated(to, plan);
        return;
    }
    if (v->accepted) {
        fprintf(to, "accepted: iteration %lld ns by replay, ", (long long)v->replayed_ns);
        if (plan->objective != OBJECTIVE_ITERATION_TIME)
            fprintf(to, "%s %lld %s, its ", objective_names[plan->objective],
                    (long long)plan->objective_ns, plan_unit(plan));
        print_bound(to, v, plan, certificate, arena);
        fprintf(to, "; %lld priced terms checked", (long long)v->terms_checked);
        if (v->doubtful) fprintf(to, " (%lld of them may be off by one)", (long long)v->doubtful);
        if (v->closed_form) fprintf(to, "; closed form agrees (%s)", v->closed_form);
        fprintf(to, "\n");
        print_memory(to, v);
        print_stated(to, plan);
        return;
    }
    fprintf(to, "rejected: %d violation%s\n", v->violation_count,
            v->violation_count == 1 ? "" : "s");
    for (int i = 0; i < v->violation_count; i++) {
        fprintf(to, "  %s", v->violations[i].rule);
        if (v->violations[i].stage >= 0) fprintf(to, ", stage %d", v->violations[i].stage);
        fprintf(to, ": %s\n", v->violations[i].text);
    }
}

// Checks that the judge read the files with which the certificate was audited.
static enum status check_same_files(const struct check_claim *claim, const struct problem *p,
                                    struct error *err)
{
    for (int i = 0; i < CHECK_CLAIM_SOURCES; i++) {
        const struct check_audited *audited = &claim->sources[i];
        const struct document *read = problem_document(p, audited->role);
        if (read && strcmp(read->sha256, audited->sha256))
            return refuse(err, "%s: changed while it was read", audited->path);
    }
    return OK;
}

// Compares what the certificate proves of the problem with what the plan states.
static enum status judge_bound(struct verdict *v, const struct plan *plan, struct verify_request *r,
                               struct arena *arena, struct error *err)
{
    const char *certificate = r->certificate;
    bool none = plan->stage_count == 0;
    TRY(check_claim_of(&r->claim, certificate, r->loaded.document.path, arena, err));
    const struct check_claim claim = r->claim;
    TRY(check_same_files(&claim, &r->loaded, err));
    if (!claim.accepted)
        verdict_add(v, arena, "bound", -1, "%s is not certified: %s", certificate, claim.reason);
    else if (none != claim.infeasible)
        verdict_add(v, arena, "bound", -1, "%s proves %s, the plan says otherwise", certificate,
                    claim.infeasible ? "that there is no plan" : "only a bound");
    else if (!none && claim.bound_ns < plan->bound_ns)
        verdict_add(v, arena, "bound", -1, "stated %lld ns, but %s proves %lld ns",
                    (long long)plan->bound_ns, certificate, (long long)claim.bound_ns);
    else v->bound_judged = true;
    if (claim.accepted) v->proven_ns = claim.bound_ns;
    return OK;
}

// The problem named by the user or by the plan. Adds violations if an input is not the one the plan
// was made from.
static enum status find_problem(struct verdict *v, const struct plan *plan,
                                struct verify_request *r, struct arena *arena, struct error *err)
{
    const char *problem_path = r->problem_path;
    if (!problem_path) {
        const struct source *source = source_with_role(&plan->document, "problem");
        TRY(check_sources(v, plan, arena, err));
        if (!source)
            verdict_add(v, arena, "hash", -1, "%s: made_from names no problem; --problem FILE does",
                        plan->document.path);
        if (v->violation_count) return OK;
        problem_path = path_beside(plan->document.path, source->path, arena);
    }
    return problem_load(&r->loaded, problem_path, arena, err);
}

static enum status audit(struct verdict *v, const struct plan *plan, struct verify_request *r,
                         struct arena *arena, struct error *err)
{
    bool claims_none = plan->stage_count == 0 && plan->outcome == OUTCOME_INFEASIBLE;
    if (plan->stage_count == 0 && !(claims_none && r->certificate)) {
        verdict_add(v, arena, "plan", -1,
                    "there is no plan here to verify: its outcome is %s, a claim that cannot be "
                    "judged from this file",
                    outcome_names[plan->outcome]);
        return OK;
    }
    if (r->at_hand) r->loaded = *r->at_hand;
    else TRY(find_problem(v, plan, r, arena, err));
    if (v->violation_count) return OK;
    if (claims_none) verify_stated(v, plan, &r->loaded, arena);
    else TRY(verify_plan(v, plan, &r->loaded, arena, err));
    TRY(verify_copies(v, plan, arena, err));
    return r->certificate ? judge_bound(v, plan, r, arena, err) : OK;
}

enum status verify_run(struct verdict *v, const struct plan *plan, struct verify_request *r,
                       struct arena *arena, struct error *err)
{
    *v = (struct verdict){.closed_form_ns = -1,
                          .memory_bytes = -1,
                          .published_bytes = -1,
                          .proven_ns = -1,
                          .energy_uj = -1};
    TRY(audit(v, plan, r, arena, err));
    v->accepted = v->violation_count == 0;
    return OK;
}

// A verdict identifies its certificate, if one was audited, by the hash of what was read.
static enum status write_verdict(const struct verdict *v, const struct plan *plan,
                                 const struct verify_request *r, const char *path,
                                 struct arena *arena, struct error *err)
{
    struct source sources[3];
    struct document audited = {.path = r->certificate};
    int count = 0;
    sources[count++] = source_of("plan", &plan->document, path, arena);
    if (r->loaded.document.path)
        sources[count++] = source_of("problem", &r->loaded.document, path, arena);
    snprintf(audited.sha256, sizeof audited.sha256, "%s", r->claim.certificate.sha256);
    if (*audited.sha256) sources[count++] = source_of("certificate", &audited, path, arena);
    return verdict_save(v, path, sources, count, arena, err);
}

// A plan of another solver's solution, judged, and written if it is accepted.
static enum status verify_solution(struct verify_request *r, const struct solution_request *from,
                                   const char *plan_path, int *exit_code, struct arena *arena,
                                   struct error *err)
{
    struct solution_plan *p = TAKE(arena, 1, struct solution_plan);
    struct verdict verdict;
    if (plan_path) TRY(file_check_place(plan_path, err));
    TRY(solution_plan_make(p, from, arena, err));
    r->at_hand = &p->problem;
    TRY(verify_run(&verdict, &p->plan, r, arena, err));
    *exit_code = verdict.accepted ? 0 : EXIT_REJECTED;
    if (plan_path && verdict.accepted) {
        problem_made(&p->plan.document, &p->problem, plan_path, arena);
        TRY(plan_save(&p->plan, plan_path, arena, err));
    }
    FILE *to = plan_path && !strcmp(plan_path, "-") ? stderr : stdout;
    verify_print(to, &verdict, &p->plan, r->certificate, arena);
    if (verdict.accepted) solution_print(to, p);
    return OK;
}

struct options {
    const char *plan, *problem, *certificate, *solution, *map, *out;
    int64_t memory_mib;
};

static const struct option_row rows[] = {
    {"PLAN.json", OPTION_PATH, OPT(plan)},
    {"--problem", OPTION_PATH, OPT(problem),
     "use this problem instead of the one that the plan names"},
    {"--certificate", OPTION_PATH, OPT(certificate),
     "also judge the plan's bound by this proof, audited as by plumbline check"},
    {"--solution", OPTION_PATH, OPT(solution),
     "judge another solver's solution of a written program as a plan (glpsol, CBC, HiGHS, SCIP, "
     "Gurobi, MIPLIB)",
     .needs = "--map", .excludes = "PLAN.json"},
    {"--map", OPTION_PATH, OPT(map),
     "with --solution: the map that formulate --map or solve --map wrote with the program",
     .needs = "--solution"},
    {"-o", OPTION_PATH, OPT(out),
     "also write the verdict to this file; with --solution the plan, if it is accepted"},
    MEMORY_ROW(OPT(memory_mib), "1024"),
};

COMMAND_RUN(run)
{
    const struct options *o = options;
    struct verify_request r = {.problem_path = o->problem, .certificate = o->certificate};
    const struct solution_request from = {
        .solution_path = o->solution, .map_path = o->map, .problem_path = o->problem};
    struct plan plan;
    struct verdict verdict;
    memory_limit((size_t)o->memory_mib << 20);
    if (o->solution) return verify_solution(&r, &from, o->out, exit_code, arena, err);
    TRY(plan_load(&plan, o->plan, arena, err));
    TRY(verify_run(&verdict, &plan, &r, arena, err));
    if (o->out) TRY(write_verdict(&verdict, &plan, &r, o->out, arena, err));
    if (!o->out || strcmp(o->out, "-")) verify_print(stdout, &verdict, &plan, r.certificate, arena);
    *exit_code = verdict.accepted ? 0 : EXIT_REJECTED;
    return OK;
}

extern const struct command command_verify;
const struct command command_verify = {
    .name = "verify",
    .text = "judge a plan with independent code",
    .about = "Reads the plan and the documents that it was made from, and checks prices, memory, "
             "schedule and time with independent code; with --certificate also the bound.",
    .usage = "plumbline verify PLAN.json [--problem FILE] [--certificate FILE] [-o VERDICT.json], "
             "or --solution FILE --map MAP.json [-o PLAN.json]",
    READS(struct options, rows, {.memory_mib = 1024}),
    .needs = "PLAN.json|--solution",
    .audits = true,
    .run = run,
};
