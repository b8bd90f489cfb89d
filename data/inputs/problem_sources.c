// The five documents of a problem, what documents made from it state of them, and what they state
// of each other by names.
#include "data/inputs/problem.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "data/base/names.h"

const char *const problem_roles[PROBLEM_SOURCES + 1] = {"problem", "model", "cluster", "costs",
                                                        "job"};

struct document *problem_piece_of(struct problem *p, enum problem_piece piece)
{
    struct document *const documents[PIECE_COUNT] = {&p->document, &p->model.document,
                                                     &p->cluster.document, &p->costs.document,
                                                     &p->job.document};
    return documents[piece];
}

const struct document *problem_document(const struct problem *p, const char *role)
{
    int i = 0;
    while (problem_roles[i] && strcmp(problem_roles[i], role)) i++;
    return problem_roles[i] ? problem_piece_of((struct problem *)(uintptr_t)p, i) : NULL;
}

int problem_sources(const struct problem *p, const char *maker_path, struct source *sources,
                    struct arena *arena)
{
    const char *maker = strcmp(maker_path, "-") ? maker_path : "standard-output";
    for (int i = 0; i < PROBLEM_SOURCES; i++)
        sources[i] =
            source_of(problem_roles[i], problem_document(p, problem_roles[i]), maker, arena);
    return PROBLEM_SOURCES;
}

void problem_made(struct document *d, const struct problem *p, const char *path,
                  struct arena *arena)
{
    d->sources = TAKE(arena, PROBLEM_SOURCES + 1, struct source);
    d->source_count = problem_sources(p, path, d->sources, arena);
}

// ---- writing

static enum status save(struct problem *p, enum problem_piece piece, const char *path,
                        struct arena *arena, struct error *err)
{
    switch (piece) {
    case PIECE_MODEL: return model_save(&p->model, path, arena, err);
    case PIECE_CLUSTER: return cluster_save(&p->cluster, path, arena, err);
    case PIECE_COSTS: return costs_save(&p->costs, path, arena, err);
    case PIECE_JOB: return job_save(&p->job, path, arena, err);
    default: return problem_save(p, path, arena, err);
    }
}

// Each document is first written next to its place, under this name.
static const char *draft_of(struct problem *p, enum problem_piece piece, struct arena *arena)
{
    return arena_print(arena, "%s.draft", problem_piece_of(p, piece)->path);
}

static enum status check_replaceable(const char *path, const char *draft, const char *otherwise,
                                     struct arena *arena, struct error *err)
{
    const char *old, *new;
    size_t old_size, new_size;
    if (access(path, F_OK)) return OK;
    TRY(file_read(path, &old, &old_size, arena, err));
    TRY(file_read(draft, &new, &new_size, arena, err));
    if (old_size == new_size && !memcmp(old, new, old_size)) return OK;
    return refuse(err, "%s: exists with other content%s", path, otherwise);
}

// The problem last: if it is there, all of them are.
static enum status write_drafts(struct problem *p, const bool *changed, const char *otherwise,
                                struct arena *arena, struct error *err)
{
    enum problem_piece pieces[PIECE_COUNT];
    int count = 0;
    for (int i = 1; i <= PIECE_COUNT; i++)
        if (changed[i % PIECE_COUNT]) pieces[count++] = i % PIECE_COUNT;
    for (int i = 0; i < count; i++)
        TRY(save(p, pieces[i], draft_of(p, pieces[i], arena), arena, err));
    for (int i = 0; i < count && otherwise; i++)
        TRY(check_replaceable(problem_piece_of(p, pieces[i])->path, draft_of(p, pieces[i], arena),
                              otherwise, arena, err));
    for (int i = 0; i < count; i++) {
        const char *path = problem_piece_of(p, pieces[i])->path;
        if (rename(draft_of(p, pieces[i], arena), path))
            return refuse(err, "%s: cannot be written: %s", path, strerror(errno));
    }
    return OK;
}

enum status problem_write(struct problem *p, const bool *changed, const char *otherwise,
                          struct arena *arena, struct error *err)
{
    enum status status = write_drafts(p, changed, otherwise, arena, err);
    for (int i = 0; i < PIECE_COUNT && status != OK; i++)
        if (changed[i]) unlink(draft_of(p, i, arena));
    return status;
}

// ---- names that other documents know

static enum status refuse_gpu(const struct problem *p, int group, struct arena *arena,
                              struct error *err)
{
    const struct costs *c = &p->costs;
    const char **known = TAKE(arena, c->gpu_count + 1, const char *), *list = "",
               *gpu = p->cluster.groups[group].gpu;
    for (int i = 0; i < c->gpu_count; i++) {
        known[i] = c->gpus[i].gpu;
        list = arena_print(arena, "%s%s%s", list, i ? ", " : "", known[i]);
    }
    int nearest = name_related_gpu(gpu, known, c->gpu_count);
    if (nearest < 0) nearest = name_nearest(gpu, known, c->gpu_count);
    return refuse(err, "%s: groups[%d].gpu: expected a GPU of %s (%s), found %s%s%s",
                  p->cluster.document.path, group, c->document.path, list, gpu,
                  nearest >= 0 ? "; nearest: " : "", nearest >= 0 ? known[nearest] : "");
}

// where: the key of the name in the job; what: "a group of the cluster".
static enum status check_name(const struct problem *p, const char *where, const char *what,
                              const char *name, const char *const *known, int count,
                              struct error *err)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(name, known[i])) return OK;
    int nearest = name_nearest(name, known, count);
    return refuse(err, "%s: %s: expected %s, found \"%.60s\"%s%s",
                  document_name(&p->job.document, "job"), where, what, name,
                  nearest >= 0 ? "; nearest: " : "", nearest >= 0 ? known[nearest] : "");
}

static enum status check_tier(const struct problem *p, int option, int part, struct arena *arena,
                              struct error *err)
{
    int count;
    const char *tier = p->job.tier_options[option].parts[part].tier, *const *known = cluster_tiers(
                                                                         &p->cluster, &count,
                                                                         arena);
    if (!tier || !strcmp(tier, TIER_HOST)) return OK; // which every group may have
    return check_name(p,
                      arena_print(arena, "tier_options[%d].%s.tier", option, tier_part_names[part]),
                      "a tier of a group of the cluster", tier, known, count, err);
}

static enum status check_group_names(const struct problem *p, const char *list, int entry,
                                     const char *const *names, int count, struct arena *arena,
                                     struct error *err)
{
    const char *known[GROUPS_MAX];
    for (int g = 0; g < p->cluster.group_count; g++) known[g] = p->cluster.groups[g].name;
    for (int i = 0; i < count; i++)
        TRY(check_name(p, arena_print(arena, "%s[%d].groups[%d]", list, entry, i),
                       "a group of the cluster", names[i], known, p->cluster.group_count, err));
    return OK;
}

static enum status check_rule(const struct problem *p, int i, struct arena *arena,
                              struct error *err)
{
    const struct rule *r = &p->job.rules[i];
    const char **runs = TAKE(arena, p->model.run_count + 1, const char *);
    TRY(check_group_names(p, "rules", i, r->groups, r->group_count, arena, err));
    if (!r->run) return OK;
    for (int k = 0; k < p->model.run_count; k++) runs[k] = p->model.runs[k].name;
    return check_name(p, arena_print(arena, "rules[%d].run", i), "a run of the model", r->run, runs,
                      p->model.run_count, err);
}

bool problem_has_tiers(const struct problem *p)
{
    bool tiers = job_tier_ways(&p->job) > 1 || job_swaps(&p->job);
    for (int g = 0; g < p->cluster.group_count; g++)
        tiers = tiers || p->cluster.groups[g].tier_count;
    return tiers;
}

const char problem_energy_needs[] =
    "a cluster with tiers or a job with tier options or swap (layout.offload_optimizer alone is "
    "none of these), no places, and memories with read_pj_per_byte or write_pj_per_byte";

bool problem_states_energy(const struct problem *p)
{
    return problem_has_tiers(p) && !p->cluster.places.node_count &&
           cluster_states_energy(&p->cluster);
}

// The least energy is one of a layout's plans within a time.
enum status problem_check_energy(const struct problem *p, struct error *err)
{
    const char *wanted = p->job.space.given                ? "a job with one layout"
                         : !(p->job.iteration_limit_s > 0) ? "an iteration_limit_s"
                         : p->job.price_limit > 0          ? "no price_limit"
                         : p->job.stage_degrees            ? "no stage_degrees"
                         : !problem_states_energy(p)       ? problem_energy_needs
                                                           : NULL;
    if (!wanted) return OK;
    return refuse(err, "%s: objective energy: expected %s", document_name(&p->job.document, "job"),
                  wanted);
}

// Up to what the digits of the limit leave open.
int64_t problem_energy_limit_ns(const struct problem *p)
{
    long double ns = (long double)p->job.iteration_limit_s * 1e9L * (1 + 1e-12L);
    return p->job.objective == OBJECTIVE_ENERGY ? (int64_t)ns : 0;
}

enum status problem_check_names(const struct problem *p, struct arena *arena, struct error *err)
{
    for (int g = 0; g < p->cluster.group_count; g++)
        if (!costs_find_gpu(&p->costs, p->cluster.groups[g].gpu))
            return refuse_gpu(p, g, arena, err);
    for (int i = 0; i < p->job.tier_option_count; i++)
        for (int part = 0; part < TIER_PARTS; part++) TRY(check_tier(p, i, part, arena, err));
    for (int i = 0; i < p->job.rule_count; i++) TRY(check_rule(p, i, arena, err));
    for (int i = 0; i < p->job.width_list_count; i++)
        TRY(check_group_names(p, "widths", i, p->job.widths[i].groups, p->job.widths[i].group_count,
                              arena, err));
    return OK;
}
