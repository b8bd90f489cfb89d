// Plans in messages between processes: each array follows the plain fields that state its length;
// names are filled in again from the problem.

#include "solve/layouts/work.h"

// ---- the placement

struct sizes {
    int64_t replicas, ranks, stages; // replicas: of the pipeline; ranks, stages: of all replicas
};

static struct sizes sizes_of(const struct plan *p)
{
    const struct plan_placement *x = p->placement;
    return (struct sizes){x->replica_count, (int64_t)x->replica_count * x->rank_count,
                          (int64_t)x->replica_count * p->stage_count};
}

// After the placement itself: its arrays, put or, with an arena, read.
static void pass_arrays(struct message *m, struct plan_placement *x, struct sizes of,
                        struct arena *arena)
{
    message_pass_array(m, &x->micro_batches, of.replicas, sizeof *x->micro_batches, arena);
    message_pass_array(m, &x->recompute, of.stages, sizeof *x->recompute, arena);
    message_pass_array(m, &x->recomputed_layers, of.stages, sizeof *x->recomputed_layers, arena);
    message_pass_array(m, &x->send_forward_ns, of.stages, sizeof *x->send_forward_ns, arena);
    message_pass_array(m, &x->send_backward_ns, of.stages, sizeof *x->send_backward_ns, arena);
    message_pass_array(m, &x->iteration_ns, of.replicas, sizeof *x->iteration_ns, arena);
    message_pass_array(m, &x->rings, of.stages, sizeof *x->rings, arena);
    message_pass_array(m, &x->embedding_ring, 2 * of.replicas, sizeof *x->embedding_ring, arena);
}

static void put_placement(struct message *m, const struct plan *p)
{
    const struct plan_placement *x = p->placement;
    struct sizes of = sizes_of(p);
    assert(!x->pipette); // spaces on nodes have no such objective
    message_put(m, x, sizeof *x);
    for (int64_t i = 0; i < of.ranks; i++) message_put_text(m, x->nodes[i]);
    pass_arrays(m, p->placement, of, NULL);
}

static void get_placement(struct message *m, struct plan *p, struct arena *arena)
{
    struct plan_placement *x = p->placement = TAKE(arena, 1, struct plan_placement);
    message_get(m, x, sizeof *x);
    struct sizes of = sizes_of(p);
    m->broken = m->broken || of.ranks < 0 || (uint64_t)of.ranks > m->used;
    x->nodes = TAKE(arena, m->broken ? 0 : of.ranks, const char *);
    for (int64_t i = 0; i < of.ranks && !m->broken; i++) x->nodes[i] = message_get_text(m, arena);
    pass_arrays(m, x, of, arena);
}

// ---- the plan

void layouts_put_plan(struct message *m, const struct plan *p)
{
    int slices = p->layout.slice_count;
    message_put(m, p, sizeof *p);
    message_put_count(m, slices);
    message_put(m, p->boundary_options,
                (size_t)p->boundary_option_count * sizeof *p->boundary_options);
    message_put(m, p->gradient_options,
                (size_t)p->gradient_option_count * sizeof *p->gradient_options);
    message_put(m, p->stages, (size_t)p->stage_count * sizeof *p->stages);
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s];
        message_put(m, x->slices, (size_t)slices * sizeof *x->slices);
        message_put(m, x->recomputed, (size_t)x->recomputed_count * sizeof *x->recomputed);
        for (int i = 0; i < x->node_count; i++) message_put_text(m, x->nodes[i]);
    }
    if (p->ranks) message_put(m, p->ranks, (size_t)p->layout.pipeline * sizeof *p->ranks);
    if (p->placement) put_placement(m, p);
}

// Groups are the cluster's, or with widths the seats that the job gives them.
static void put_names(struct plan *p, const struct problem *problem, struct arena *arena)
{
    struct seat *seats = NULL;
    bool seated = job_has_widths(&problem->job);
    p->name = problem->name;
    p->group_count = seated ? problem_seats(problem, &seats, arena) : problem->cluster.group_count;
    p->group_names = TAKE(arena, p->group_count, const char *);
    p->group_gpus = TAKE(arena, p->group_count, const char *);
    p->widths = seated ? TAKE(arena, p->group_count, struct plan_width) : NULL;
    for (int g = 0; g < p->group_count; g++) {
        const struct node_group *group = &problem->cluster.groups[seated ? seats[g].group : g];
        p->group_names[g] = seated ? seats[g].name : group->name;
        p->group_gpus[g] = group->gpu;
        if (seated)
            p->widths[g] =
                (struct plan_width){group->name, seats[g].tensor, seats[g].context, seats[g].data};
    }
}

void layouts_get_plan(struct message *m, struct plan *p, const struct problem *problem,
                      struct arena *arena)
{
    message_get(m, p, sizeof *p);
    int slices = (int)message_get_count(m);
    put_names(p, problem, arena);
    p->boundary_options =
        message_get_array(m, p->boundary_option_count, sizeof *p->boundary_options, arena);
    p->gradient_options =
        message_get_array(m, p->gradient_option_count, sizeof *p->gradient_options, arena);
    p->stages = message_get_array(m, p->stage_count, sizeof *p->stages, arena);
    for (int s = 0; s < p->stage_count && !m->broken; s++) {
        struct plan_stage *x = &p->stages[s];
        x->slices = message_get_array(m, slices, sizeof *x->slices, arena);
        x->recomputed = message_get_array(m, x->recomputed_count, sizeof *x->recomputed, arena);
        m->broken = m->broken || x->node_count < 0 || x->node_count > NAMED_DATA_MAX;
        x->nodes = TAKE(arena, NAMED_DATA_MAX, const char *);
        for (int i = 0; i < x->node_count && !m->broken; i++)
            x->nodes[i] = message_get_text(m, arena);
    }
    if (p->ranks) p->ranks = message_get_array(m, p->layout.pipeline, sizeof *p->ranks, arena);
    if (p->placement && !m->broken) get_placement(m, p, arena);
    p->document = (struct document){0};
    p->reason = NULL;
}
