// Random priced problems with their least time and a certificate of it.
#include "data/kinds/schedules.h"
#include "tests/support/trials/check_trials.h"

#include <unistd.h>
#include "tests/support/check.h"

#include "data/base/file.h"
#include "formulate/graph/longest.h"
#include "tests/support/oracle/enumerate.h"
#include "tests/support/random_priced.h"

enum { BOXES_MOST = 4000, DECISIONS_MOST = 60000 };

static const char *scratch_path(struct arena *arena)
{
    return arena_print(arena, "%s/plumbline-check-%ld.json",
                       access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid());
}

static struct check_text save(const struct priced *p, const char *file, struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_text text = {.file = file};
    const char *path = scratch_path(arena);
    if (priced_save(p, path, arena, &err) || file_read(path, &text.text, &text.size, arena, &err))
        fail_msg("%s", err.text);
    return text;
}

struct check_text check_trial_save(const struct priced *p, const char *file, struct arena *arena)
{
    struct check_text text = save(p, file, arena);
    unlink(scratch_path(arena));
    return text;
}

// One group for all, and one message class, as rounds by ranks require.
static void make_alike(struct priced *p)
{
    for (int r = 0; r < p->run_count; r++) p->runs[r].cut = 0;
    for (int g = 1; g < p->group_count; g++) p->groups[g].excluded = "drawn";
    p->groups[0].excluded = NULL;
    p->groups[0].slots = p->rank_count;
    p->rule_count = 0;
}

bool check_trial_draw(struct check_trial *t, uint64_t seed, struct arena *arena)
{
    return check_trial_draw_for(t, OBJECTIVE_ITERATION_TIME, seed, arena);
}

bool check_trial_draw_for(struct check_trial *t, enum objective objective, uint64_t seed,
                          struct arena *arena)
{
    struct error err = {OK, ""};
    uint64_t state = seed * 7919 + 1;
    int kind = (int)(seed % (SCHEDULE_KIND_COUNT + 1));
    *t = (struct check_trial){.seed = seed};
    if (kind == SCHEDULE_KIND_COUNT) random_priced(&t->priced, &state, arena);
    else random_priced_of(&t->priced, kind, &state, arena);
    t->priced.layout.expert = 1;
    t->priced.objective = objective;
    if (t->priced.layout.virtual_stages > 1 && seed / (SCHEDULE_KIND_COUNT + 1) % 2)
        make_alike(&t->priced);
    t->text = save(&t->priced, "priced.json", arena);
    bool valid = priced_load(&t->priced, scratch_path(arena), arena, &err) == OK;
    unlink(scratch_path(arena));
    return valid && schedule_build_priced(&t->schedule, &t->priced, arena, &err) == OK;
}

bool check_trial_enumerate(struct check_trial *t, struct arena *arena)
{
    struct error err = {OK, ""};
    struct graph *g;
    struct enumeration e;
    int64_t decisions = 1;
    if (choices_build(&t->choices, &t->priced, &t->schedule, arena, &err) ||
        graph_compile(&g, &t->schedule, arena, &err))
        fail_msg("%s", err.text);
    for (int s = 0; s < t->priced.stage_count && decisions <= DECISIONS_MOST; s++)
        decisions *= t->choices.stages[s].count;
    if (decisions > DECISIONS_MOST) return false;
    enumerate(&e, &t->choices, g, NULL, NULL, arena);
    t->best_ns = e.best_ns;
    if (e.best_ns == INT64_MAX) return true;
    struct plan plan;
    choices_to_plan(&plan, &t->choices, e.best, e.best_ns, arena);
    t->best = plan.stages;
    return true;
}

struct check_text check_trial_claim(const struct check_trial *t, bool infeasible,
                                    int64_t iteration_ns, int64_t bound_ns, struct arena *arena)
{
    const struct certify_claim claim = {.infeasible = infeasible,
                                        .iteration_ns = iteration_ns,
                                        .bound_ns = bound_ns,
                                        .incumbent = t->best,
                                        .counts = t->seed % 2,
                                        .boxes_most = BOXES_MOST};
    struct check_text text = {.file = "certificate.json"};
    text.text = certify(&claim, &t->text, &text.size, arena);
    return text;
}

bool check_trial_certify(struct check_trial *t, struct arena *arena)
{
    bool feasible = t->best_ns != INT64_MAX;
    t->certificate = check_trial_claim(t, !feasible, feasible ? t->best_ns : -1, t->best_ns, arena);
    return t->certificate.text != NULL;
}

bool check_trial_open(struct check_trial *t, uint64_t seed, struct arena *arena)
{
    return check_trial_draw(t, seed, arena) && check_trial_enumerate(t, arena) &&
           check_trial_certify(t, arena);
}

void check_trial_refused(const char *name, const struct check_text *certificate,
                         const struct check_text *priced, const char *reason, bool is_audited,
                         struct arena *arena)
{
    struct error err = {OK, ""};
    struct check_result result;
    enum status status =
        check_certificate(&result, certificate, priced, CHECK_WORK_DEFAULT, arena, &err);
    const char *said = status == OK ? result.reason : err.text;
    if (status == OK && result.accepted) fail_msg("%s: accepted", name);
    if ((status == OK) != is_audited)
        fail_msg("%s: %s: %s", name, is_audited ? "not audited" : "audited", said);
    if (!*said || !strstr(said, reason))
        fail_msg("%s: expected \"%s\", found \"%s\"", name, reason, said);
}
