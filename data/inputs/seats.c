// Lists of widths: reading, the seats that they give, and what they exclude.
#include "data/inputs/problem.h"

#include <string.h>

#include "data/base/least.h"
#include "data/inputs/job_fields.h"
#include "data/kinds/schedules.h"

enum { DEGREES_MOST = 64, COMBINATIONS_MOST = 256 };

const char *const replicas_names[] = {"split", "in_turn", NULL};
const char *const stage_degrees_names[] = {"uniform", "per_group", "per_stage", NULL};

static const struct member width_list_rows[] = {
    KEY_TEXTS(width_list, groups, group_count, OPTIONAL, 1, GROUPS_MAX),
    KEY_ARRAY(width_list, tensor, tensor_count, JSON_INT, OPTIONAL, IF_SET, 1, DEGREE_MAX,
              DEGREES_MOST),
    KEY_ARRAY(width_list, context, context_count, JSON_INT, OPTIONAL, IF_SET, 1, DEGREE_MAX,
              DEGREES_MOST),
    KEY_ARRAY(width_list, data, data_count, JSON_INT, OPTIONAL, IF_SET, 1, DEGREE_MAX,
              DEGREES_MOST),
};
MEMBERS(width_list, struct width_list, NULL, true, NULL);

// ---- seats

static bool is_of(const struct width_list *w, const char *group)
{
    for (int i = 0; i < w->group_count; i++)
        if (!strcmp(w->groups[i], group)) return true;
    return !w->group_count;
}

struct seat_list {
    struct seat *items;
    int count;
};

static void add_seat(struct seat_list *l, const struct seat *seat)
{
    for (int i = 0; i < l->count; i++) {
        const struct seat *s = &l->items[i];
        if (s->group == seat->group && s->tensor == seat->tensor && s->context == seat->context &&
            s->data == seat->data)
            return;
    }
    if (l->count <= SEATS_MAX) l->items[l->count++] = *seat;
}

static int degree(const int *listed, int count, int i) { return count ? listed[i] : 1; }
static int times(int count) { return count ? count : 1; }

static void add_list(struct seat_list *l, const struct width_list *w, int group)
{
    struct seat s = {.group = group};
    for (int t = 0; t < times(w->tensor_count); t++)
        for (int c = 0; c < times(w->context_count); c++)
            for (int d = 0; d < times(w->data_count); d++) {
                s.tensor = degree(w->tensor, w->tensor_count, t);
                s.context = degree(w->context, w->context_count, c);
                s.data = degree(w->data, w->data_count, d);
                add_seat(l, &s);
            }
}

int problem_seats(const struct problem *p, struct seat **seats, struct arena *arena)
{
    struct seat_list list = {TAKE(arena, SEATS_MAX + 1, struct seat), 0};
    for (int g = 0; g < p->cluster.group_count; g++)
        for (int i = 0; i < p->job.width_list_count; i++)
            if (is_of(&p->job.widths[i], p->cluster.groups[g].name))
                add_list(&list, &p->job.widths[i], g);
    for (int i = 0; i < list.count; i++) {
        struct seat *s = &list.items[i];
        s->name = arena_print(arena, "%s:%dx%dx%d", p->cluster.groups[s->group].name, s->tensor,
                              s->context, s->data);
    }
    *seats = list.items;
    return list.count;
}

struct problem problem_at_seat(const struct problem *p, const struct seat *seat)
{
    struct problem one = *p;
    one.job.stage_degrees = DEGREES_UNIFORM;
    one.job.widths = NULL, one.job.width_list_count = 0;
    one.job.layout.tensor = seat->tensor, one.job.layout.context = seat->context;
    one.job.layout.data = seat->data;
    one.job.replicas = REPLICAS_SPLIT;
    if (p->job.replicas == REPLICAS_SPLIT) one.job.layout.micro_batch /= seat->data;
    return one;
}

// ---- checks

// What a space with widths may choose; degrees are the widths', and no framework runs them.
static const char *what_space_excludes(const struct space *s)
{
    static const bool may[SPACE_KEY_COUNT] = {[SPACE_PIPELINE] = true,
                                              [SPACE_SCHEDULE] = true,
                                              [SPACE_MICRO_BATCH] = true,
                                              [SPACE_RECOMPUTE] = true};
    bool more = s->framework != FRAMEWORK_ANY || s->tensor_grids;
    for (int i = 0; i < SWITCH_COUNT; i++) more = more || s->switches[i];
    for (int key = 0; key < SPACE_KEY_COUNT; key++)
        more = more || (!may[key] && s->axes[key].kind != AXIS_FIXED);
    return more ? "a space of pipeline, micro_batch, schedule and recompute alone"
           : s->axes[SPACE_PIPELINE].kind == AXIS_ALL ? "a list of pipeline in its space"
                                                      : NULL;
}

// Each end of a message is as long as its own width's, so no device may send one to several.
static bool sends_once(const struct problem *p)
{
    int tensor = 0;
    bool alike = true, measured = true;
    for (int i = 0; i < p->job.width_list_count; i++)
        for (int k = 0; k < larger_int(p->job.widths[i].tensor_count, 1); k++) {
            int t = p->job.widths[i].tensor_count ? p->job.widths[i].tensor[k] : 1;
            alike = alike && (!tensor || t == tensor), tensor = t;
        }
    for (int i = 0; i < p->model.run_count; i++)
        measured = measured && p->model.runs[i].kind == LAYER_MEASURED;
    return alike || measured || p->job.layout.sequence_parallel;
}

// The first that does not go with replicas that take micro-batches in turn.
static const char *what_turns_exclude(const struct problem *p)
{
    const struct job *j = &p->job;
    return j->objective != OBJECTIVE_MAX_LOAD ? "objective max_load, as no other has a price there"
           : j->stage_degrees != DEGREES_PER_STAGE ? "stage_degrees per_stage"
           : p->cluster.group_count > 1            ? "one node group"
           : j->layout.schedule != SCHEDULE_1F1B ||
                   (j->space.given && j->space.axes[SPACE_SCHEDULE].kind != AXIS_FIXED)
               ? "schedule 1f1b"
           : j->layout.local_loss_every                       ? "no local losses"
           : j->layout.in_flight[0] || j->space.in_flight_max ? "no in_flight"
           : j->rule_count || model_mtp_depth(&p->model) ? "no rules and no multi-token prediction"
           : !sends_once(p) ? "one tensor degree, sequence_parallel or measured layers alone"
                            : NULL;
}

// The first that does not go with widths on nodes that have names; NULL: all do.
static const char *what_names_exclude(const struct problem *p)
{
    const struct job *j = &p->job;
    bool tied = p->model.has_shape && p->model.shape.tied_embeddings;
    return p->cluster.places.node_count > NAMED_NODES_MAX
               ? "at most 64 nodes, on a cluster with places"
           : j->stage_degrees != DEGREES_PER_STAGE ? "per_stage, on a cluster with places"
           : j->replicas != REPLICAS_SPLIT         ? "replicas split, on a cluster with places"
           : j->space.given                        ? "one layout, on a cluster with places"
           : j->objective != OBJECTIVE_ITERATION_TIME
               ? "objective iteration_time, on a cluster with places"
           : j->placement.homogeneous_groups || j->placement.uneven_micro_batches
               ? "no wishes in placement, as each stage is on one node group"
           : tied && j->layout.pipeline > 1
               ? "embeddings that are not tied, on a cluster with places"
               : NULL;
}

// The first that does not go with widths; NULL: all do.
static const char *what_excludes(const struct problem *p)
{
    const struct job *j = &p->job;
    const struct layout *l = &j->layout;
    for (int i = 0; i < p->model.run_count; i++)
        if (p->model.runs[i].kind == LAYER_MEMORY) return "a model without memory layers";
    if (model_has_towers(&p->model) || model_shares_weights(&p->model))
        return "a model without towers and without layers that share weights";
    if (p->cluster.places.node_count && what_names_exclude(p)) return what_names_exclude(p);
    if (j->space.given && what_space_excludes(&j->space)) return what_space_excludes(&j->space);
    return problem_counts_devices(p)           ? "no objective cost and price_limit"
           : j->objective == OBJECTIVE_PIPETTE ? "another objective than pipette"
           : j->boundary_option_count || j->gradient_option_count ? "no compression"
           : problem_has_tiers(p)
               ? "a cluster without tiers, no offload_percents, tier_options and swap"
           : l->virtual_stages > 1             ? "one stage for each rank"
           : l->slice_count > 1                ? "whole sequences"
           : layout_has_grid(l)                ? "no tensor_grid"
           : l->expert > 1 || l->expert_tensor ? "expert 1"
           : l->fused_embedding_sync           ? "no fused_embedding_sync"
           : l->tensor > 1 || l->context > 1 || l->data > 1
               ? "layout.tensor, context and data 1, as each stage has its own"
               : NULL;
}

// Every group has widths; where it has one of them for all its stages, the ways are few.
static enum status check_groups(const struct problem *p, const struct seat *seats, int count,
                                const char *job, struct error *err)
{
    int64_t ways = 1;
    for (int g = 0, i = 0; g < p->cluster.group_count; g++) {
        int first = i;
        while (i < count && seats[i].group == g) i++;
        if (i == first)
            return refuse(err, "%s: widths: expected a list of group %s, found none", job,
                          p->cluster.groups[g].name);
        ways = ways > COMBINATIONS_MOST ? ways : ways * (i - first);
    }
    return p->job.stage_degrees != DEGREES_PER_GROUP || ways <= COMBINATIONS_MOST
               ? OK
               : refuse(err,
                        "%s: widths: expected at most %d combinations of one width for each node "
                        "group, as stage_degrees is per_group",
                        job, COMBINATIONS_MOST);
}

// Stages of several widths fill a group's nodes without gaps if of any two tensor x context one
// divides the other, and a node's GPUs divide it or are a multiple of it: then devices need only be
// counted.
static bool fit_together(int64_t a, int64_t b) { return a % b == 0 || b % a == 0; }

static enum status check_packing(const struct problem *p, const struct seat *seats, int count,
                                 int i, const char *job, struct error *err)
{
    const struct node_group *g = &p->cluster.groups[seats[i].group];
    int64_t own = (int64_t)seats[i].tensor * seats[i].context, other = g->gpus_per_node;
    bool fits = fit_together(own, other);
    for (int k = 0; fits && k < count; k++)
        if (seats[k].group == seats[i].group) {
            other = (int64_t)seats[k].tensor * seats[k].context;
            fits = fit_together(own, other);
        }
    return fits ? OK
                : refuse(err,
                         "%s: widths: group %s: expected numbers of tensor x context of which one "
                         "divides the other, and a node's %d GPUs, found %lld and %lld",
                         job, g->name, g->gpus_per_node, (long long)own, (long long)other);
}

// On named nodes each replica takes as many devices of one node as any other of its group.
static enum status check_named(const struct problem *p, const struct seat *seats, int count,
                               const char *job, struct error *err)
{
    for (int i = 0; i < count && p->cluster.places.node_count; i++) {
        const struct node_group *g = &p->cluster.groups[seats[i].group];
        int64_t own = (int64_t)seats[i].tensor * seats[i].context;
        if (seats[i].data > NAMED_DATA_MAX)
            return refuse(
                err,
                "%s: widths: expected data degrees of 1 to %d on a cluster with places, found %d",
                job, NAMED_DATA_MAX, seats[i].data);
        if (own > g->gpus_per_node)
            return refuse(err,
                          "%s: widths: group %s: expected tensor x context of at most a node's %d "
                          "GPUs on a cluster with places, found %lld",
                          job, g->name, g->gpus_per_node, (long long)own);
        for (int k = 0; k < i; k++)
            if (seats[k].group == seats[i].group &&
                (int64_t)seats[k].tensor * seats[k].context != own)
                return refuse(err,
                              "%s: widths: group %s: expected one number of tensor x context on a "
                              "cluster with places, found %lld and %lld",
                              job, g->name, (long long)seats[k].tensor * seats[k].context,
                              (long long)own);
    }
    return OK;
}

static enum status check_seat(const struct problem *p, const struct seat *seat, const char *job,
                              struct error *err)
{
    struct error own = {OK, ""};
    if (p->job.replicas == REPLICAS_SPLIT && p->job.layout.micro_batch % seat->data)
        return refuse(err,
                      "%s: layout.micro_batch: expected a multiple of every data degree of widths, "
                      "as each replica takes whole samples: found %d and %d",
                      job, p->job.layout.micro_batch, seat->data);
    struct problem one = problem_at_seat(p, seat);
    if (problem_check_layout(&one, &own) == OK) return OK;
    return fail(err, own.status, "widths: %s: %s", seat->name, own.text);
}

enum status problem_check_seats(const struct problem *p, struct error *err)
{
    const char *job = document_name(&p->job.document, "job");
    struct arena scratch = {0};
    struct seat *seats;
    enum status status = OK;
    if (!job_has_widths(&p->job)) return OK;
    if (p->job.layout.virtual_stages > 1)
        return refuse(err, "%s: widths: expected a schedule with one stage for each rank", job);
    int count = problem_seats(p, &seats, &scratch);
    for (int i = 0; i < count && status == OK; i++) status = check_seat(p, &seats[i], job, err);
    arena_close(&scratch);
    return status;
}

// A layer's entry has a price with replicas in turn alone, and at every width then.
static enum status check_entries(const struct problem *p, struct error *err)
{
    const char *file = document_name(&p->model.document, "model");
    for (int i = 0; i < p->model.run_count; i++) {
        const struct measured_bytes *own = &p->model.runs[i].measured;
        if (p->model.runs[i].kind != LAYER_MEASURED) continue;
        for (int k = 0; k < own->by_degrees_count; k++)
            if (!own->by_degrees[k].entry_bytes != !own->entry_bytes)
                return refuse(err,
                              "%s: runs[%d].measured.by_degrees[%d].entry_bytes: expected it where "
                              "the layer has it, and nowhere else",
                              file, i, k);
        if (own->entry_bytes && p->job.replicas != REPLICAS_IN_TURN)
            return refuse(err,
                          "%s: runs[%d].measured.entry_bytes: expected replicas in_turn in the job",
                          file, i);
    }
    return OK;
}

// Sets of layers that are recomputed, where each stage chooses among them.
static enum status check_sets(const struct job *j, const char *job, struct error *err)
{
    bool chosen = j->recompute[RECOMPUTE_FULL] && !layout_recomputes_alike(&j->layout) &&
                  j->space.axes[SPACE_RECOMPUTE].kind == AXIS_FIXED;
    if (!j->recompute_any || (chosen && j->replicas == REPLICAS_IN_TURN)) return OK;
    return refuse(err,
                  "%s: recompute_any: expected replicas in_turn, \"full\" in recompute, and no "
                  "setting for all stages",
                  job);
}

enum status problem_check_widths(const struct problem *p, struct error *err)
{
    const char *job = document_name(&p->job.document, "job");
    TRY(check_entries(p, err));
    TRY(check_sets(&p->job, job, err));
    if (!job_has_widths(&p->job)) {
        if (p->job.replicas != REPLICAS_SPLIT)
            return refuse(err, "%s: replicas: in_turn expects stage_degrees per_stage", job);
        if (!p->job.width_list_count) return OK;
        return refuse(err, "%s: widths: expected stage_degrees per_group or per_stage next to it",
                      job);
    }
    const char *wanted = what_excludes(p);
    const char *kind = stage_degrees_names[p->job.stage_degrees];
    if (wanted) return refuse(err, "%s: stage_degrees: %s expects %s", job, kind, wanted);
    wanted = p->job.replicas == REPLICAS_IN_TURN ? what_turns_exclude(p) : NULL;
    if (wanted) return refuse(err, "%s: replicas: in_turn expects %s", job, wanted);
    if (!p->job.width_list_count)
        return refuse(err, "%s: widths: expected lists of degrees for %s", job, kind);
    struct arena scratch = {0};
    struct seat *seats;
    int count = problem_seats(p, &seats, &scratch);
    enum status status = OK;
    if (count > SEATS_MAX)
        status =
            refuse(err, "%s: widths: expected at most %d of all groups together", job, SEATS_MAX);
    if (status == OK) status = check_groups(p, seats, count, job, err);
    for (int i = 0; i < count && status == OK; i++)
        status = check_packing(p, seats, count, i, job, err);
    if (status == OK) status = check_named(p, seats, count, job, err);
    arena_close(&scratch);
    return status != OK || p->job.space.given ? status : problem_check_seats(p, err);
}
