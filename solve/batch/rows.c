// A row for each instance: values from its plan, its verdicts and its problem.
#include <string.h>

#include "data/kinds/schedules.h"
#include "solve/batch/table.h"
#include "solve/report/report.h"

#define COLUMN_ROW(constant, ...) {__VA_ARGS__},
static const struct batch_column built_in[COLUMN_COUNT] = {BATCH_COLUMNS(COLUMN_ROW)};

static void put_text(struct batch_row *row, int column, const char *text)
{
    row->values[column] = (struct value){text, NAN};
}

static void put(struct batch_row *row, int column, double number, struct arena *arena)
{
    row->values[column] = (struct value){arena_print(arena, "%.12g", number), number};
}

static void put_known(struct batch_row *row, int column, double number, struct arena *arena)
{
    if (number > 0) put(row, column, number, arena);
}

static void put_ns(struct batch_row *row, int column, int64_t ns, struct arena *arena)
{
    row->values[column] =
        (struct value){arena_print(arena, "%lld.%09lld", (long long)(ns / 1000000000),
                                   (long long)(ns % 1000000000)),
                       (double)ns / 1e9};
}

// ---- what is known of it

static void put_layout(struct batch_row *row, const struct layout *l, struct arena *arena)
{
    const struct {
        int column, value;
    } degrees[] = {{COLUMN_TENSOR, l->tensor},
                   {COLUMN_CONTEXT, l->context},
                   {COLUMN_DATA, l->data},
                   {COLUMN_EXPERT_TENSOR, layout_expert_tensor(l)},
                   {COLUMN_EXPERT, l->expert},
                   {COLUMN_PIPELINE, l->pipeline},
                   {COLUMN_VIRTUAL_STAGES, l->virtual_stages},
                   {COLUMN_MICRO_BATCH, l->micro_batch},
                   {COLUMN_ZERO, l->zero}};
    for (size_t i = 0; i < ARRAY_LENGTH(degrees); i++)
        put(row, degrees[i].column, degrees[i].value, arena);
    put_text(row, COLUMN_SCHEDULE, schedule_names[l->schedule]);
}

// The checker's bound where there is one: what is proven, not what was requested.
static void put_times(struct batch_row *row, const struct plan *p, const struct result *r,
                      struct arena *arena)
{
    int64_t bound_ns = r->bound_ns >= 0 ? r->bound_ns : plan_bound_ns(p);
    bool of_time = p->objective != OBJECTIVE_ENERGY;
    if (p->stage_count) {
        put_ns(row, COLUMN_ITERATION_S, p->iteration_ns, arena);
        if (of_time) put_ns(row, COLUMN_VALUE_S, plan_value_ns(p), arena);
        put(row, COLUMN_GAP, (double)report_gap_millionths(plan_value_ns(p), bound_ns) / 1e4,
            arena);
    }
    if (of_time && p->outcome != OUTCOME_INFEASIBLE) put_ns(row, COLUMN_BOUND_S, bound_ns, arena);
    put_text(row, COLUMN_OBJECTIVE, objective_names[p->objective]);
    put_text(row, COLUMN_CLAIM,
             r->certified ? claim_words(CLAIM_CERTIFIED, NULL, 0, arena)
                          : plan_claim_words(p, arena));
    put(row, COLUMN_NODES, (double)p->effort.boxes, arena);
}

static void put_figures(struct batch_row *row, const struct plan *p, const struct problem *problem,
                        struct arena *arena)
{
    struct figures f;
    report_figures_of(&f, p, problem);
    put(row, COLUMN_GPUS, (double)f.gpus, arena);
    put_known(row, COLUMN_TOKENS, f.tokens_per_s, arena);
    put_known(row, COLUMN_TFLOPS, f.tflops_per_gpu, arena);
    put_known(row, COLUMN_MFU, f.mfu_percent, arena);
    put_known(row, COLUMN_PRICE_HOUR, f.price_per_hour, arena);
    put_known(row, COLUMN_PRICE_TOKENS, f.price_per_million_tokens, arena);
    put_known(row, COLUMN_RUN_HOURS, f.run_hours, arena);
    put_known(row, COLUMN_RUN_PRICE, f.run_price, arena);
}

// The search space: keys of the job's space with more than one value.
static const char *searched_of(const struct space *space, struct arena *arena)
{
    struct text text;
    text_begin(&text, arena);
    for (int k = 0; k < SPACE_KEY_COUNT && space->given; k++) {
        const struct space_axis *axis = &space->axes[k];
        bool one = axis->kind == AXIS_LIST && axis->count < 2;
        if (axis->kind != AXIS_FIXED && !one)
            text_put(&text, "%s%s", text.length ? ", " : "", space_key_names[k]);
    }
    return text.length ? text.text : "nothing";
}

static void put_problem(struct batch_row *row, const struct batch *b, const struct problem *p,
                        struct arena *arena, struct arena *scratch)
{
    const char *layouts = "result/plan.layouts.json";
    put(row, COLUMN_SEQUENCE, (double)p->job.sequence, arena);
    put_text(row, COLUMN_PRECISION, precision_names[p->job.precision]);
    put_text(row, COLUMN_SEARCHED, searched_of(&p->job.space, arena));
    if (batch_has(b, row->instance->id, layouts, scratch))
        put_text(row, COLUMN_LAYOUTS, arena_print(arena, "%s/%s", row->instance->id, layouts));
}

static void put_result(struct batch_row *row, const struct result *r, struct arena *arena)
{
    put_text(row, COLUMN_OUTCOME, r->outcome);
    if (r->reason) put_text(row, COLUMN_REASON, r->reason);
    put(row, COLUMN_SOLVE_S, r->solve_s, arena);
    put_known(row, COLUMN_MEMORY, (double)r->memory_bytes / 1e6, arena);
    if (!r->certificate_bytes) return;
    put(row, COLUMN_CERTIFICATE, (double)r->certificate_bytes / 1e3, arena);
    put(row, COLUMN_CHECK_S, r->check_s, arena);
    put_text(row, COLUMN_HASH, r->certificate_sha256);
}

// folder: result, or saved: of an attempt that was stopped.
static enum status put_done(struct batch_row *row, const struct batch *b, const char *folder,
                            struct arena *arena, struct arena *scratch, struct error *err)
{
    struct plan plan;
    struct problem problem;
    struct result result;
    const char *id = row->instance->id, *path = batch_path(b, id, folder, scratch);
    TRY(result_load(&result, arena_print(scratch, "%s/status.json", path), arena, err));
    put_result(row, &result, arena);
    TRY(plan_load(&plan, arena_print(scratch, "%s/plan.json", path), scratch, err));
    put_times(row, &plan, &result, arena);
    put(row, COLUMN_GAP_ASKED, 100 * plan.gap_asked, arena);
    TRY(problem_load(&problem, batch_path(b, id, "problem.json", scratch), scratch, err));
    put_problem(row, b, &problem, arena, scratch);
    if (!plan.stage_count && plan.reason)
        put_text(row, COLUMN_REASON, arena_print(arena, "%s", plan.reason));
    if (!plan.stage_count) return OK;
    put_layout(row, &plan.layout, arena);
    put_figures(row, &plan, &problem, arena);
    return OK;
}

static enum status put_state(struct batch_row *row, const struct batch *b, struct arena *arena,
                             struct arena *scratch, struct error *err)
{
    const char *holder;
    struct result result;
    enum state state = batch_state(b, row->instance->id, &holder, scratch);
    put_text(row, COLUMN_OUTCOME, batch_state_names[state]);
    if (state == STATE_DONE) return put_done(row, b, "result", arena, scratch, err);
    if (state == STATE_WAITING && batch_has(b, row->instance->id, "saved/status.json", scratch))
        return put_done(row, b, "saved", arena, scratch, err);
    if (state != STATE_FAILED) return OK;
    TRY(result_load(&result, batch_path(b, row->instance->id, "failure/status.json", scratch),
                    arena, err));
    put_result(row, &result, arena);
    return OK;
}

// ---- columns

static bool is_built_in(const char *key)
{
    for (int c = 0; c < COLUMN_COUNT; c++)
        if (!strcmp(built_in[c].key, key)) return true;
    return false;
}

static void set_columns(struct batch_table *t)
{
    int count;
    const char *const *keys = batch_keys(t->batch, &count, t->arena);
    t->columns = TAKE(t->arena, COLUMN_COUNT + count, struct batch_column);
    memcpy(t->columns, built_in, sizeof built_in);
    t->column_count = COLUMN_COUNT;
    for (int k = 0; k < count; k++)
        if (!is_built_in(keys[k]))
            t->columns[t->column_count++] = (struct batch_column){keys[k], keys[k], -1, SHOW_NEVER};
}

// The manifest's value, as a number where it is one.
static struct value said(const char *text)
{
    double number;
    char end;
    if (!text) return (struct value){NULL, NAN};
    return (struct value){text, sscanf(text, "%lf%c", &number, &end) == 1 ? number : NAN};
}

enum status table_fill(struct batch_table *t, const struct batch *b, struct arena *arena,
                       struct error *err)
{
    struct arena *scratch = arena_open_within(arena);
    const struct arena_mark mark = arena_set_mark(scratch);
    const char *const *varying = batch_varying(b, arena);
    *t = (struct batch_table){.batch = b, .group = -1, .arena = arena};
    set_columns(t);
    t->rows = TAKE(arena, b->count, struct batch_row);
    for (int i = 0; i < b->count; i++) {
        if (b->items[i].part) continue; // covered by its whole
        struct batch_row *row = &t->rows[t->row_count++];
        *row = (struct batch_row){.instance = &b->items[i], .place = i};
        row->values = TAKE(arena, t->column_count, struct value);
        for (int c = 0; c < t->column_count; c++) row->values[c] = (struct value){NULL, NAN};
        for (int c = 1; c < t->column_count; c++)
            row->values[c] = said(instance_key(row->instance, t->columns[c].key));
        put_text(row, COLUMN_NAME, instance_label(row->instance, varying, arena));
        put_text(row, COLUMN_ID, row->instance->id);
        arena_reset(scratch, mark);
        TRY(put_state(row, b, arena, scratch, err));
    }
    return OK;
}
