// The tree's rounds of jobs, best bound first.
#include "solve/tree/tree.h"

#include <string.h>

#include "data/base/grow.h"
#include "data/base/least.h"

// Rounds are long enough to occupy a few processes, and jobs short enough to balance the work.
// These are constants because they determine the course of the search. In a large tree the bound
// matters, and jobs that dive less follow it more closely.
enum {
    JOBS_PER_ROUND = 4,
    BOXES_FIRST = 8,
    BOXES_PER_JOB = 24,
    BOXES_IN_LARGE = 1,
    BOXES_BY_GLPK = 1000,
    LARGE = 100,
    ATTEMPTS = 2
};

struct search {
    struct tree *tree;
    struct program *program;
    const struct tree_settings *settings;
    struct worker_pool *pool;
    struct arena *arena, scratch;
    int improvements; // requested so far
};

// Among equal bounds the older one comes first.
static void push(struct tree *t, const struct box *box)
{
    assert(box->number >= 0 && box->number < t->next_number);
    frontier_push(&t->frontier, box->bound_ns, box->number, TAKE_COPY(t->frontier.arena, box, 1));
}

// ---- plans

static void take_plan(struct search *s, const struct found_plan *plan)
{
    struct tree *t = s->tree;
    size_t size = (size_t)s->program->stage_count * sizeof *plan->chosen;
    int at = t->plan_count;
    for (int i = 0; i < t->plan_count; i++)
        if (!memcmp(t->plans[i].chosen, plan->chosen, size)) return;
    if (at == s->settings->plan_count && plan->time_ns >= t->plans[at - 1].time_ns) return;
    assert(plan->time_ns >= 0);
    if (at < s->settings->plan_count) t->plan_count++;
    else at--;
    for (; at > 0 && t->plans[at - 1].time_ns > plan->time_ns; at--)
        t->plans[at] = t->plans[at - 1];
    t->plans[at] = (struct found_plan){TAKE(s->arena, s->program->stage_count, int), plan->time_ns};
    memcpy(t->plans[at].chosen, plan->chosen, size);
    assert(t->plan_count <= s->settings->plan_count);
    assert(at == 0 || t->plans[at - 1].time_ns <= plan->time_ns);
    assert(at + 1 >= t->plan_count || t->plans[at].time_ns <= t->plans[at + 1].time_ns);
    if (at == 0 && s->settings->found && plan->chosen[0] >= 0)
        s->settings->found(s->settings->argument, plan->chosen, plan->time_ns);
    if (t->plan_count < s->settings->plan_count) return;
    t->frontier.best_ns = t->plans[t->plan_count - 1].time_ns;
    if (t->plan_count == 1) t->frontier.gap = s->settings->gap;
}

// ---- merging

struct numbering {
    int64_t first;
    int known_rows;
    const int *rows;
};

static int64_t global_number(const struct numbering *n, int64_t number)
{
    return number < LOCAL_NUMBERS ? number : n->first + number - LOCAL_NUMBERS;
}

static void renumber_rows(int *rows, int count, const struct numbering *n)
{
    for (int i = 0; i < count; i++)
        if (rows[i] >= n->known_rows)
            rows[i] = n->rows[rows[i] - n->known_rows]; // rows of paths found since
}

// What the record proves of what it ends; one ns less if rounding up added much, so that a
// certificate can also prove it.
static int64_t ended_ns(const struct record *r)
{
    switch (r->kind) {
    case RECORD_CLOSED: return r->ample || !r->proof.count ? r->bound_ns : r->bound_ns - 1;
    case RECORD_LEAF: return r->bound_ns;
    case RECORD_REMOVED: return r->target_ns;
    default: return INT64_MAX;
    }
}

static struct record *keep_record(struct tree *t, const struct record *r, struct arena *arena)
{
    frontier_end(&t->frontier, ended_ns(r));
    GROW(arena, t->records.items, t->records.count, t->records.capacity, 256);
    t->records.items[t->records.count] = *r;
    return &t->records.items[t->records.count++];
}

static int *merge_paths(struct search *s, const struct job_result *r)
{
    struct program *p = s->program;
    struct message *news = TAKE(s->arena, 1, struct message);
    int *rows = TAKE(s->arena, r->path_count, int);
    message_begin(news, s->arena);
    int before = p->paths.count;
    for (int i = 0; i < r->path_count; i++) {
        bool is_new;
        rows[i] = program_add_path(p, r->paths + (size_t)i * (size_t)p->paths.size, &is_new);
    }
    for (int i = before; i < p->paths.count; i++)
        message_put(news, path_pool_at(&p->paths, i), (size_t)p->paths.size * sizeof(int));
    assert(p->paths.count - before <= r->path_count);
    if (news->used) worker_pool_tell(s->pool, news);
    return rows;
}

static void merge(struct search *s, struct job_result *r, int known_rows)
{
    struct tree *t = s->tree;
    struct numbering n = {t->next_number, known_rows, merge_paths(s, r)};
    assert(r->box_count >= 0 && r->explored >= 0 && r->open_count <= r->box_count + 1);
    t->next_number += r->box_count;
    t->boxes += r->explored;
    t->relaxations += r->relaxations;
    for (int i = 0; i < r->plan_count; i++) take_plan(s, &r->plans[i]);
    for (int i = 0; i < r->records.count; i++) {
        struct record *record = keep_record(t, &r->records.items[i], s->arena);
        record->box = global_number(&n, record->box);
        record->first = global_number(&n, record->first);
        assert(record->box < t->next_number && record->first < t->next_number);
        renumber_rows(record->proof.rows, record->proof.count, &n);
    }
    for (int i = 0; i < r->open_count; i++) {
        struct box *b = &r->open[i];
        assert(b->bound_ns >= 0);
        b->number = global_number(&n, b->number);
        renumber_rows(b->proof.rows, b->proof.count, &n);
        renumber_rows(b->basis.path_rows, b->basis.path_count, &n);
        push(t, b);
    }
}

// ---- what remains when workers fail: split without a relaxation, down to single decisions, whose
// time is exact

static void split_without_worker(struct search *s, const struct box *box)
{
    struct program *p = s->program;
    int *chosen = TAKE(s->arena, p->stage_count, int);
    struct record_list list = {0};
    int single = box_single(box, p, chosen);
    struct split split = {0};
    if (single < 0)
        keep_record(s->tree, record_add(&list, RECORD_EMPTY, box, p, s->arena), s->arena);
    else if (single) {
        int64_t time_ns = program_time(p, chosen);
        struct record *r = record_add(&list, RECORD_LEAF, box, p, s->arena);
        r->bound_ns = time_ns < 0 ? p->hopeless_ns : time_ns;
        keep_record(s->tree, r, s->arena);
        if (time_ns >= 0) take_plan(s, &(struct found_plan){chosen, time_ns});
    } else if (split_blindly(&split, box, p)) {
        struct box first, second;
        split_apply(&first, &second, box, &split, p, s->arena);
        first.number = s->tree->next_number++;
        second.number = s->tree->next_number++;
        struct record *r = record_add(&list, RECORD_SPLIT, box, p, s->arena);
        assert(second.number == first.number + 1 && first.bound_ns >= box->bound_ns);
        r->split = split;
        r->first = first.number;
        keep_record(s->tree, r, s->arena);
        push(s->tree, &first);
        push(s->tree, &second);
    }
}

// ---- rounds

static bool run_tasks(struct search *s, const struct task *tasks, int count,
                      struct job_result *results, bool *failed)
{
    struct message requests[JOBS_PER_ROUND], answers[JOBS_PER_ROUND];
    for (int i = 0; i < count; i++) {
        message_begin(&requests[i], &s->scratch);
        answers[i] = (struct message){0};
        job_put(&requests[i], &tasks[i], s->program);
    }
    if (!worker_pool_run(s->pool, requests, count, answers, s->settings->stop_asked,
                         s->settings->argument, &s->tree->sidelined, &s->scratch))
        return false;
    for (int i = 0; i < count; i++) {
        if (!answers[i].broken) job_result_get(&results[i], &answers[i], s->program, s->arena);
        failed[i] = answers[i].broken;
    }
    return true;
}

// No box that a job leaves open has a lower bound than the job's box, and no plan that it found
// takes less than that bound.
static bool keeps_bound(const struct job_result *r, int64_t bound_ns)
{
    bool keeps = true;
    for (int i = 0; i < r->open_count; i++) keeps = keeps && r->open[i].bound_ns >= bound_ns;
    for (int i = 0; i < r->plan_count; i++) keeps = keeps && r->plans[i].time_ns >= bound_ns;
    return keeps;
}

// One round; true while the search continues.
static bool run_round(struct search *s, int job_limit, int box_limit)
{
    struct tree *t = s->tree;
    struct task tasks[JOBS_PER_ROUND];
    struct job_result results[JOBS_PER_ROUND];
    bool failed[JOBS_PER_ROUND];
    int count = 0, known_rows = s->program->formulation->milp.row_count;
    for (; count < job_limit && t->frontier.count; count++) {
        const struct box *box = frontier_pop(&t->frontier);
        tasks[count] = (struct task){.target_ns = t->frontier.best_ns,
                                     .box_limit = box_limit,
                                     .by_glpk = s->settings->by_glpk,
                                     .keep_target = s->settings->plan_count > 1,
                                     .gap = s->settings->gap,
                                     .cutoff_ns = s->settings->cutoff_ns,
                                     .box = *box};
    }
    bool done = run_tasks(s, tasks, count, results, failed);
    for (int i = 0; !done && i < count; i++) push(t, &tasks[i].box);
    for (int i = 0; done && i < count; i++) {
        struct job_result *r = &results[i];
        int rows = known_rows;
        for (int attempt = 1; failed[i] && attempt < ATTEMPTS; attempt++) {
            struct task again = tasks[i];
            again.attempt = attempt;
            again.by_glpk = false;
            again.box_limit = 1;
            rows = s->program->formulation->milp.row_count;
            if (!run_tasks(s, &again, 1, r, &failed[i])) {
                for (int k = i; k < count; k++) push(t, &tasks[k].box);
                return false;
            }
        }
        if (failed[i]) split_without_worker(s, &tasks[i].box);
        else {
            assert(keeps_bound(r, tasks[i].box.bound_ns));
            merge(s, r, rows);
        }
    }
    return done;
}

// What was proven once stays proven. All that has ended also reaches the closing bound.
static int64_t proven_bound(struct search *s)
{
    struct tree *t = s->tree;
    const struct frontier *f = &t->frontier;
    bool several = s->settings->plan_count > 1 && t->plan_count;
    int64_t ended_ns = several ? t->plans[0].time_ns
                               : larger(smaller(f->best_ns, f->ended_ns), frontier_closing_ns(f));
    return frontier_tell(&t->frontier,
                         larger(smaller(ended_ns, frontier_open_ns(f)), f->reported_ns));
}

// Closes boxes whose inherited bound reaches the target of the best plan, without working on them:
// that bound is of an enclosing box.
static void close_inherited(struct search *s)
{
    struct tree *t = s->tree;
    while (t->frontier.count && !frontier_is_wanted(&t->frontier)) {
        struct box *box = frontier_pop(&t->frontier);
        struct record_list list = {0};
        struct record *r = record_add(&list, RECORD_CLOSED, box, s->program, s->arena);
        r->proof = box->proof;
        keep_record(t, r, s->arena);
    }
}

static bool gap_reached(const struct search *s)
{
    const struct frontier *f = &s->tree->frontier;
    return s->tree->plan_count == s->settings->plan_count &&
           frontier_open_ns(f) >= bound_closing(f->best_ns, s->settings->gap, 0);
}

static void improve(struct search *s)
{
    static const int64_t at_boxes[] = {150, 1000, 10000};
    struct found_plan plan;
    if (!s->settings->improve || s->improvements == (int)ARRAY_LENGTH(at_boxes) ||
        s->tree->boxes < at_boxes[s->improvements])
        return;
    if (s->settings->improve(s->settings->argument, s->improvements++, s->tree->frontier.best_ns,
                             &plan))
        take_plan(s, &plan);
}

static void show(struct search *s)
{
    const struct tree *t = s->tree;
    if (!s->settings->report) return;
    struct tree_progress progress = {t->plan_count ? t->plans[0].time_ns : 0, proven_bound(s),
                                     t->boxes, s->program->paths.count, t->frontier.count};
    s->settings->report(s->settings->argument, &progress);
}

struct job_context {
    struct program *program;
    const struct watch *watch;
};

static void run_in_worker(void *context, struct message *in, struct message *out,
                          struct arena *arena)
{
    const struct job_context *x = context;
    struct program *p = x->program;
    if (!out) {
        int *counts = TAKE(arena, p->paths.size, int);
        while (in->read < in->used) {
            bool is_new;
            message_get(in, counts, (size_t)p->paths.size * sizeof *counts);
            program_add_path(p, counts, &is_new);
        }
        return;
    }
    struct task task;
    struct job_result result;
    int known = p->paths.count;
    job_get(&task, in, p, arena);
    task.watch = x->watch;
    job_run(&result, &task, p, arena);
    job_result_put(out, &result, p);
    program_forget_paths(p, known);
}

enum status tree_run(struct tree *tree, struct program *p, const struct tree_settings *settings,
                     const struct found_plan *plans, int plan_count, int64_t root_bound_ns,
                     struct arena *arena, struct error *err)
{
    struct search s = {.tree = tree, .program = p, .settings = settings, .arena = arena};
    struct job_context context = {p, settings->watch};
    struct worker_settings workers = {
        .count = settings->threads < JOBS_PER_ROUND ? settings->threads : JOBS_PER_ROUND,
        .memory_limit_bytes = settings->memory_limit_bytes,
        .silence_limit_s = 300,
        .run = run_in_worker,
        .context = &context};
    *tree =
        (struct tree){.plans = TAKE(arena, settings->plan_count, struct found_plan),
                      .next_number = 1,
                      .frontier = {.best_ns = p->hopeless_ns,
                                   .cutoff_ns = settings->cutoff_ns,
                                   .ended_ns = settings->ended_ns ? settings->ended_ns : INT64_MAX,
                                   .reported_ns = root_bound_ns,
                                   .arena = arena}};
    for (int i = 0; i < plan_count; i++) take_plan(&s, &plans[i]);
    TRY(worker_pool_open(&s.pool, &workers, arena, err));
    struct box root;
    box_whole(&root, p, arena);
    assert(root_bound_ns >= 0 && settings->plan_count >= 1 && plan_count >= 0);
    root.bound_ns = root_bound_ns;
    push(tree, &root);
    close_inherited(&s);
    bool going = true;
    for (bool first = true; going && tree->frontier.count && !gap_reached(&s); first = false) {
        if (settings->boxes_max && tree->boxes >= settings->boxes_max) break;
        int box_limit = settings->by_glpk              ? BOXES_BY_GLPK
                        : first                        ? BOXES_FIRST
                        : tree->frontier.count < LARGE ? BOXES_PER_JOB
                                                       : BOXES_IN_LARGE;
        arena_open(&s.scratch, arena->exit);
        going = run_round(&s, JOBS_PER_ROUND, box_limit);
        arena_close(&s.scratch);
        if (going) improve(&s);
        close_inherited(&s);
        show(&s);
    }
    worker_pool_close(s.pool);
    tree->finished = going && (!tree->frontier.count || gap_reached(&s));
    tree->bound_ns = proven_bound(&s);
    assert(tree->bound_ns >= root_bound_ns);
    assert(!tree->plan_count || tree->bound_ns <= tree->plans[tree->plan_count - 1].time_ns ||
           tree->bound_ns <= root_bound_ns);
    return OK;
}
