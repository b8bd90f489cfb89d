// One job of the tree: depth first below one box.
#include "solve/tree/job.h"

#include "data/base/grow.h"
#include "data/results/bound.h"
#include "solve/tree/node.h"

void push_box(struct subtree *t, const struct box *box)
{
    *GROWN(t->arena, t->stack, t->stack_count, t->stack_capacity, 64) = *box;
}

// What a box must reach now to be closed.
static void set_target(struct subtree *t, int64_t best_ns)
{
    const struct task *job = t->job;
    t->best_ns = best_ns;
    bool near_will_do = !job->keep_target && best_ns < t->program->hopeless_ns;
    t->target_ns = bound_closing(best_ns, near_will_do ? job->gap : 0, job->cutoff_ns);
}

void note_plan(struct subtree *t, const int *chosen)
{
    struct job_result *r = t->result;
    int stages = t->program->stage_count;
    int64_t time_ns = program_time(t->program, chosen);
    if (time_ns < 0 || time_ns >= t->best_ns) return;
    GROW(t->arena, r->plans, r->plan_count, r->plan_capacity, 4);
    assert(time_ns >= t->job->box.bound_ns); // else that bound was false
    r->plans[r->plan_count].chosen = TAKE_COPY(t->arena, chosen, stages);
    r->plans[r->plan_count++].time_ns = time_ns;
    if (!t->job->keep_target) set_target(t, time_ns);
}

bool is_leaf(struct subtree *t, struct box *box, int *chosen)
{
    int single = box_single(box, t->program, chosen);
    if (!single) return false;
    if (single < 0) {
        record_add(&t->result->records, RECORD_EMPTY, box, t->program, t->arena);
        return true;
    }
    note_plan(t, chosen);
    int64_t time_ns = program_time(t->program, chosen);
    record_add(&t->result->records, RECORD_LEAF, box, t->program, t->arena)->bound_ns =
        time_ns < 0 ? t->program->hopeless_ns : time_ns;
    return true;
}

static void enter(struct subtree *t, const struct box *box, bool restore)
{
    const struct program *p = t->program;
    for (int i = 0; i < p->choice_count; i++) {
        bool closed = !box_allows(box, i);
        if (t->closed[p->column_of[i]] == closed) continue;
        t->closed[p->column_of[i]] = closed;
        lp_set_closed(t->lp, p->column_of[i], closed);
    }
    if (restore && box->basis.present) lp_basis_restore(t->lp, &box->basis);
}

static void split_box(struct subtree *t, struct box *box, const struct split *s)
{
    struct box light, heavy;
    split_apply(&light, &heavy, box, s, t->program, t->arena);
    light.number = LOCAL_NUMBERS + t->result->box_count++;
    heavy.number = LOCAL_NUMBERS + t->result->box_count++;
    struct record *r = record_add(&t->result->records, RECORD_SPLIT, box, t->program, t->arena);
    r->split = *s;
    r->first = light.number;
    push_box(t, &heavy);
    push_box(t, &light);
}

// Explores one box; true: its lighter half is on top of the stack and fits the current relaxation.
static bool explore(struct subtree *t, struct box *box, bool restore)
{
    int *chosen = TAKE(t->arena, t->program->stage_count, int);
    if (is_leaf(t, box, chosen)) return false;
    t->result->explored++;
    enter(t, box, restore);
    struct split split = {0};
    enum settled settled = settle(t, box);
    if (settled == SETTLED_CLOSED) return false;
    if (is_leaf(t, box, chosen)) return false;
    bool relaxed = settled == SETTLED_OPEN;
    if (relaxed) lp_basis_save(&box->basis, t->lp, t->arena);
    else box->basis.present = false;
    if (relaxed && !split_by_relaxation(&split, t, box)) {
        relaxed_decision(t, box, chosen);
        note_plan(t, chosen);
        if (box->bound_ns >= t->target_ns) {
            record_add(&t->result->records, RECORD_CLOSED, box, t->program, t->arena)->proof =
                box->proof;
            return false;
        }
        relaxed = false; // whole, and still better than the target: alternatives, or multipliers
                         // too coarse
    }
    bool split_found = relaxed || split_blindly(&split, box, t->program);
    assert(split_found); // it is no leaf: a stage has several choices
    split_box(t, box, &split);
    return settled == SETTLED_OPEN;
}

static void begin(struct subtree *t, const struct task *job, struct job_result *r,
                  struct program *p, struct arena *arena)
{
    const struct milp *m = &p->formulation->milp;
    *r = (struct job_result){0};
    *t = (struct subtree){.job = job, .result = r, .program = p, .arena = arena};
    set_target(t, job->target_ns);
    bound_prepare(&t->scratch, m, arena);
    t->closed = TAKE(arena, m->column_count, bool);
    t->values = TAKE(arena, m->column_count, double);
    t->symbol_ns = TAKE(arena, p->symbol_count, double);
    t->time_columns = TAKE(arena, m->column_count, int);
    for (int j = 0; j < m->column_count; j++)
        if (m->columns[j].time) t->time_columns[t->time_column_count++] = j;
    box_close_columns(&job->box, p, t->closed);
    t->elastic_price = 8 * ldexp((double)job->target_ns, -p->unit_log2) + 1;
    struct lp_request request = {.milp = m,
                                 .first_path_row = p->first_path_row,
                                 .unit_log2 = p->unit_log2,
                                 .elastic_price = t->elastic_price,
                                 .closed = t->closed,
                                 .watch = job->watch,
                                 .levels = job->by_glpk};
    if (!job->attempt && !job->by_glpk) request.basis = &job->box.basis;
    t->lp = lp_open(&request, arena);
}

// Boxes ended by their records; records that remove choices do not end a box.
static int ended_count(const struct job_result *r)
{
    int count = 0;
    for (int i = 0; i < r->records.count; i++) count += r->records.items[i].kind != RECORD_REMOVED;
    return count;
}

void job_run(struct job_result *r, const struct task *job, struct program *p, struct arena *arena)
{
    struct subtree t;
    int first_new = p->paths.count;
    assert(job->target_ns >= 0 && job->box.bound_ns >= 0 && job->box.number < LOCAL_NUMBERS);
    begin(&t, job, r, p, arena);
    if (job->by_glpk) branch_by_glpk(&t);
    else push_box(&t, &job->box);
    bool restore = false, dives = !job->by_glpk || (t.stack_count && !r->box_count);
    while (dives && t.stack_count && r->explored < job->box_limit &&
           !(job->watch && watch_is_over(job->watch))) {
        struct box box = t.stack[--t.stack_count];
        if (box.bound_ns >= t.target_ns) {
            record_add(&r->records, RECORD_CLOSED, &box, p, arena)->proof = box.proof;
            restore = true;
            continue;
        }
        restore = !explore(&t, &box, restore);
    }
    r->open = t.stack;
    r->open_count = t.stack_count;
    assert(ended_count(r) + r->open_count == 1 + r->box_count); // every box has one end, or is open
    r->path_count = p->paths.count - first_new;
    r->paths = arena_grow(arena, path_pool_at(&p->paths, first_new), (size_t)r->path_count,
                          (size_t)r->path_count, (size_t)p->paths.size * sizeof(int));
}

// ---- messages

void job_put(struct message *m, const struct task *job, const struct program *p)
{
    message_put(m, job, sizeof *job);
    box_put(m, &job->box, p);
}

void job_get(struct task *job, struct message *m, const struct program *p, struct arena *arena)
{
    message_get(m, job, sizeof *job);
    box_get(&job->box, m, p, arena);
}

// If paths are kept, the master must know these too.
static void put_operations(struct message *m, const struct job_result *r, const struct program *p)
{
    for (int i = 0; i < r->path_count && graph_keeps_paths(p->graph); i++) {
        int count = 0;
        const int *operations =
            graph_path_operations(p->graph, r->paths + (size_t)i * (size_t)p->paths.size, &count);
        if (!operations) count = 0;
        message_put_count(m, count);
        message_put(m, operations, (size_t)count * sizeof *operations);
    }
}

static void get_operations(struct message *m, const struct job_result *r, const struct program *p,
                           struct arena *arena)
{
    for (int i = 0; i < r->path_count && graph_keeps_paths(p->graph); i++) {
        int count = message_get_length(m, sizeof(int)), *operations = TAKE(arena, count, int);
        message_get(m, operations, (size_t)count * sizeof *operations);
        if (count && !m->broken)
            graph_remember_path(p->graph, r->paths + (size_t)i * (size_t)p->paths.size, operations,
                                count);
    }
}

void job_result_put(struct message *m, const struct job_result *r, const struct program *p)
{
    message_put(m, r, sizeof *r);
    message_put(m, r->paths, (size_t)r->path_count * (size_t)p->paths.size * sizeof *r->paths);
    put_operations(m, r, p);
    for (int i = 0; i < r->plan_count; i++) {
        message_put(m, r->plans[i].chosen, (size_t)p->stage_count * sizeof *r->plans[i].chosen);
        message_put_count(m, r->plans[i].time_ns);
    }
    for (int i = 0; i < r->records.count; i++) record_put(m, &r->records.items[i], p);
    for (int i = 0; i < r->open_count; i++) box_put(m, &r->open[i], p);
}

void job_result_get(struct job_result *r, struct message *m, const struct program *p,
                    struct arena *arena)
{
    message_get(m, r, sizeof *r);
    r->paths =
        message_get_array(m, (int64_t)r->path_count * p->paths.size, sizeof *r->paths, arena);
    get_operations(m, r, p, arena);
    r->plans = TAKE(arena, r->plan_count, struct found_plan);
    for (int i = 0; i < r->plan_count; i++) {
        r->plans[i].chosen = message_get_array(m, p->stage_count, sizeof(int), arena);
        r->plans[i].time_ns = message_get_count(m);
    }
    r->records.items = TAKE(arena, r->records.count, struct record);
    for (int i = 0; i < r->records.count && !m->broken; i++)
        record_get(&r->records.items[i], m, p, arena);
    r->open = TAKE(arena, r->open_count, struct box);
    for (int i = 0; i < r->open_count && !m->broken; i++) box_get(&r->open[i], m, p, arena);
}
