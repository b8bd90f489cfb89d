// Takes over the results of earlier searches of a problem, for --resume and --part.
#include "solve/questions/question.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/base/grow.h"
#include "solve/judge/verify.h"

// ---- origin of a document

// Checks that it was made from these documents, and by this version: its statements hold only for
// them.
static enum status check_origin(const struct document *d, const struct problem *p, const char *what,
                                struct error *err)
{
    for (const char *const *role = problem_roles; *role; role++) {
        const struct document *now = problem_document(p, *role);
        const char *hash = source_hash(d, *role);
        if (!hash || strcmp(hash, now->sha256))
            return refuse(err, "%s: %s: was not made from %s as it is now", what, d->path,
                          now->path ? now->path : *role);
    }
    if (d->made_by && !strcmp(d->made_by, "plumbline " PLUMBLINE_VERSION)) return OK;
    return refuse(err, "%s: %s: expected it made by plumbline %s, found %s", what, d->path,
                  PLUMBLINE_VERSION, d->made_by ? d->made_by : "nobody named");
}

static enum status judge(const struct plan *plan, const struct problem *problem, const char *what,
                         struct arena *arena, struct error *err)
{
    struct verdict verdict = {.closed_form_ns = -1};
    TRY(verify_plan(&verdict, plan, problem, arena, err));
    if (verdict.accepted) return OK;
    return refuse(err, "%s: %s: the judge does not accept it: %s: %s", what, plan->document.path,
                  verdict.violations[0].rule, verdict.violations[0].text);
}

static enum status read_plan(struct plan *plan, const char *path, const struct problem *problem,
                             const char *what, struct arena *arena, struct error *err)
{
    TRY(plan_load(plan, path, arena, err));
    TRY(check_origin(&plan->document, problem, what, err));
    return plan->stage_count ? judge(plan, problem, what, arena, err) : OK;
}

// ---- --resume

// As documents of layouts state it: devices x time, or micro-batches x load.
static int64_t value_of(const struct plan *plan, const struct problem *problem)
{
    return problem->job.objective == OBJECTIVE_MAX_LOAD
               ? plan->micro_batches * plan->objective_ns
               : problem_layout_worth(problem, &plan->layout).weight * plan->iteration_ns;
}

// plan: judged.
static enum status take_layouts(struct resume *r, const char *path, const struct problem *problem,
                                const struct plan *plan, struct arena *arena, struct error *err)
{
    struct layouts *known = TAKE(arena, 1, struct layouts),
                   *all = (struct layouts *)(uintptr_t)r->task.known;
    path = arena_print(arena, "%s.layouts.json", path_stem(path, arena));
    TRY(layouts_load(known, path, arena, err));
    TRY(check_origin(&known->document, problem, "--resume", err));
    if (plan->stage_count && known->iteration_ns != value_of(plan, problem))
        return refuse(err,
                      "--resume: %s: iteration_ns: expected %lld, of the plan in %s, found %lld",
                      path, (long long)value_of(plan, problem), plan->document.path,
                      (long long)known->iteration_ns);
    r->rests_on[r->rests_on_count++] = &known->document;
    if (!all) r->task.known = known;
    else if (all->count == known->count) layouts_take(all, known, arena);
    return OK;
}

static enum status take_plan(struct resume *r, const char *path, const struct problem *problem,
                             struct arena *arena, struct error *err)
{
    struct plan *plan = TAKE(arena, 1, struct plan);
    TRY(read_plan(plan, path, problem, "--resume", arena, err));
    bool space = problem->job.space.given;
    int64_t value_ns = space ? value_of(plan, problem) : plan->iteration_ns;
    plan_effort_add(&r->task.effort, &plan->effort);
    if (space) TRY(take_layouts(r, path, problem, plan, arena, err));
    else r->rests_on[r->rests_on_count++] = &plan->document;
    if (!plan->stage_count || (r->plan && r->task.plan.iteration_ns <= value_ns)) return OK;
    r->plan = plan;
    r->task.plan = *plan;
    r->task.plan.iteration_ns = value_ns;
    return OK;
}

enum status resume_read(struct resume *resume, const struct option_texts *plans,
                        const struct problem *problem, struct arena *arena, struct error *err)
{
    *resume = (struct resume){.rests_on_count = 0};
    resume->rests_on = TAKE(arena, plans->count, const struct document *);
    if (plans->count > 1 && !problem->job.space.given)
        return refuse(err, "--resume: expected one plan for a job with one layout");
    for (int i = 0; i < plans->count; i++)
        TRY(take_plan(resume, plans->items[i], problem, arena, err));
    return OK;
}

void resume_claim(struct solved *s, const struct resume *resume, const char *plan_path,
                  struct arena *arena)
{
    int count = resume->rests_on_count < TAKEN_OVER_MAX ? resume->rests_on_count : TAKEN_OVER_MAX;
    struct taken_over *files = TAKE(arena, count, struct taken_over);
    for (int i = 0; i < count; i++) {
        struct source *source = TAKE(arena, 1, struct source);
        *source = source_of("", resume->rests_on[i], plan_path, arena);
        files[i] = (struct taken_over){source->path, source->sha256};
    }
    solve_claim(s, CLAIM_TAKEN_OVER, files, count);
}

// ---- --share

struct share_seen {
    const char *path;
    struct timespec changed;
    off_t size;
};

enum status share_open(struct share *s, const char *folder, const struct problem *problem,
                       struct arena *arena, struct error *err)
{
    struct stat is;
    *s = (struct share){.folder = folder, .problem = problem, .arena = arena};
    if (stat(folder, &is) || !S_ISDIR(is.st_mode))
        return refuse(err, "--share: %s: expected an existing folder", folder);
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    s->own = arena_print(arena, "%s/best-%s-%ld.json", folder, host, (long)getpid());
    return OK;
}

// A failure to write only means that the others do not get the plan.
static void tell(struct share *s, const struct plan *best)
{
    struct error unread = {OK, ""};
    struct plan plan = *best;
    if (!best->stage_count || (s->reported_ns && s->reported_ns <= best->iteration_ns)) return;
    s->reported_ns = best->iteration_ns;
    plan.name = s->problem->name;
    plan.iteration_ns /= problem_layout_worth(s->problem, &plan.layout).weight;
    plan.outcome = OUTCOME_OPEN, plan.bound_ns = 0;
    plan.objective = s->problem->job.objective;
    if (plan.objective == OBJECTIVE_COST) plan.objective_ns = best->iteration_ns;
    problem_made(&plan.document, s->problem, s->own, s->arena);
    if (plan_save(&plan, s->own, s->arena, &unread) != OK)
        fprintf(stderr, "--share: %s\n", unread.text);
}

static bool is_news(struct share *s, const char *path)
{
    struct stat is;
    int at = 0;
    if (!strcmp(path, s->own) || stat(path, &is)) return false;
    while (at < s->seen_count && strcmp(s->seen[at].path, path)) at++;
    if (at == s->seen_count) {
        GROW(s->arena, s->seen, s->seen_count, s->seen_capacity, 16);
        s->seen[s->seen_count++] = (struct share_seen){.path = path};
    }
    struct share_seen *seen = &s->seen[at];
    if (seen->changed.tv_sec == is.st_mtim.tv_sec && seen->changed.tv_nsec == is.st_mtim.tv_nsec &&
        seen->size == is.st_size)
        return false;
    seen->changed = is.st_mtim, seen->size = is.st_size;
    return true;
}

// A file that cannot be read, or is no plan of this problem, is reported and skipped.
static bool hear(struct share *s, const char *path, int64_t *best_ns, struct plan *theirs)
{
    struct error err = {OK, ""};
    struct plan plan;
    if (read_plan(&plan, path, s->problem, "--share", s->arena, &err) != OK) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    int64_t value_ns = plan_value_ns(&plan);
    if (!plan.stage_count || (*best_ns && value_ns >= *best_ns)) return false;
    *best_ns = value_ns;
    *theirs = plan;
    theirs->iteration_ns = value_ns;
    return true;
}

bool share_exchange(void *argument, const struct plan *best, struct plan *theirs,
                    struct arena *arena)
{
    struct share *s = argument;
    int64_t best_ns = best->stage_count ? best->iteration_ns : 0;
    bool heard = false;
    (void)arena;
    tell(s, best);
    DIR *folder = opendir(s->folder);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        size_t length = strlen(e->d_name);
        if (strncmp(e->d_name, "best-", 5) || length < 10 ||
            strcmp(e->d_name + length - 5, ".json"))
            continue;
        const char *path = arena_print(s->arena, "%s/%s", s->folder, e->d_name);
        if (is_news(s, path)) heard |= hear(s, path, &best_ns, theirs);
    }
    if (folder) closedir(folder);
    return heard;
}
