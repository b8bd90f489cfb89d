// The meaning of every column of a program, and which choices it does not contain and why: JSON
// next to the MPS or LP file.
#include "data/kinds/schedules.h"
#include "formulate/program/formulate.h"

static const char *const role_names[] = {"time",  "symbol", "choice", "level",
                                         "state", "flow",   "working"};

static void put_slice(struct json_writer *w, const char *what, int slice, int64_t value)
{
    char key[40];
    snprintf(key, sizeof key, "slice_%d_%s", slice, what);
    json_put_count(w, key, value);
}

static void put_choice(struct json_writer *w, const struct priced *p, int stage,
                       const struct choice *x)
{
    json_put_count(w, "stage", stage);
    if (x->first_layer >= 0) json_put_count(w, "first_layer", x->first_layer);
    json_put_count(w, "layers", x->layer_count);
    json_put_text(w, "group", p->groups[x->group].name);
    decision_put(w, &x->decision, false);
    static const char *const gradient_keys[] = {"gradient_rank", "gradient_kept_per_thousand",
                                                "gradient_bits"};
    static const char *const boundary_keys[] = {"boundary_rank", "boundary_kept_per_thousand",
                                                "boundary_bits"};
    struct compression_form gradient = p->gradient_options[x->gradient_option].form,
                            boundary = p->boundary_options[x->boundary_option].form;
    if (gradient.amount) json_put_count(w, gradient_keys[gradient.method], gradient.amount);
    if (boundary.amount) {
        json_put_count(w, boundary_keys[boundary.method], boundary.amount);
        json_put_bool(w, "epilogue_only", p->boundary_options[x->boundary_option].epilogue_only);
    }
    json_put_count(w, "forward_ns", x->forward_ns[0]);
    json_put_count(w, "backward_ns", x->backward_ns[0]);
    if (schedule_splits_backward(p->layout.schedule)) json_put_count(w, "weight_ns", x->weight_ns);
    for (int slice = 1; slice < p->slice_count; slice++) {
        put_slice(w, "forward_ns", slice, x->forward_ns[slice]);
        put_slice(w, "backward_ns", slice, x->backward_ns[slice]);
    }
    json_put_count(w, "sync_ns", x->sync_ns);
    if (x->queued_sync_ns) json_put_count(w, "queued_sync_ns", x->queued_sync_ns);
    if (x->away_ns) json_put_count(w, "away_ns", x->away_ns);
    if (x->back_ns) json_put_count(w, "back_ns", x->back_ns);
    json_put_count(w, "optimizer_ns", x->optimizer_ns);
    json_put_count(w, "memory_bytes", memory_total(&x->memory));
}

// All symbols that this column represents: those of one boundary may share it.
static void put_symbols(struct json_writer *w, const struct formulation *f, int column)
{
    int stages = f->choices->priced->stage_count;
    json_put_count(w, "stage", f->milp.columns[column].a % stages);
    json_open_flat_array(w, "durations_ns_of");
    for (int i = 0; i < symbol_count(stages, f->choices->priced->slice_count); i++)
        if (f->symbol_column[i] == column) json_put_text(w, NULL, symbol_kind_name(i / stages));
    json_close_array(w);
}

// ---- the meaning of states and flows comes from their rows: any choice of a state shows what its
// neighbours see

static bool row_has(const struct milp *m, const struct milp_row *row, int column)
{
    for (int e = row->first; e < row->first + row->count; e++)
        if (m->entry_column[e] == column) return true;
    return false;
}

static const struct choice *choice_of_state(const struct formulation *f, int column)
{
    const struct milp *m = &f->milp;
    for (int i = 0; i < m->row_count; i++) {
        const struct milp_row *row = &m->rows[i];
        if (row->role != ROW_LINK_STATE || !row_has(m, row, column)) continue;
        for (int e = row->first; e < row->first + row->count; e++) {
            const struct milp_column *c = &m->columns[m->entry_column[e]];
            if (c->role == COLUMN_CHOICE) return &f->choices->stages[c->a].items[c->b];
        }
    }
    return NULL;
}

static void put_seen(struct json_writer *w, const struct priced *p, const struct choice *x)
{
    json_put_text(w, "group", p->groups[x->group].name);
    json_put_count(w, "boundary_option", x->boundary_option);
    json_put_count(w, "message_class", x->cut);
}

// The group at one end of a flow: of a state in the row of that end, or of the whole stage if it
// has only one state.
static const char *group_of_flow(const struct formulation *f, const struct milp_row *row, int stage)
{
    const struct milp *m = &f->milp;
    const struct choice *x = &f->choices->stages[stage].items[0];
    for (int e = row->first; e < row->first + row->count; e++)
        if (m->columns[m->entry_column[e]].role == COLUMN_STATE) {
            x = choice_of_state(f, m->entry_column[e]);
            break;
        }
    return x ? f->choices->priced->groups[x->group].name : "";
}

static void put_flow(struct json_writer *w, const struct formulation *f, int column)
{
    const struct milp_column *c = &f->milp.columns[column];
    int last = f->choices->priced->stage_count - 1, ends = 0;
    bool embedding = c->a > last;
    json_put_text(w, "joins", embedding ? "embedding_sync" : "transfer");
    if (!embedding) json_put_count(w, "boundary", c->a);
    for (int i = 0; i < f->milp.row_count && ends < 2; i++) {
        const struct milp_row *row = &f->milp.rows[i];
        if (row->role != ROW_FLOW || !row_has(&f->milp, row, column)) continue;
        int stage = embedding ? (ends ? last : 0) : c->a + ends;
        json_put_text(w, ends ? "right_group" : "left_group", group_of_flow(f, row, stage));
        ends++;
    }
    json_put_count(w, "left_key", c->b);
    json_put_count(w, "right_key", c->c);
}

static void put_column(struct json_writer *w, const struct formulation *f, int column)
{
    const struct milp_column *c = &f->milp.columns[column];
    char name[64];
    json_open_flat_object(w, NULL);
    json_put_text(w, "name", milp_column_name(&f->milp, column, name));
    json_put_text(w, "role", role_names[c->role]);
    switch (c->role) {
    case COLUMN_TIME: break;
    case COLUMN_SYMBOL: put_symbols(w, f, column); break;
    case COLUMN_CHOICE:
        put_choice(w, f->choices->priced, c->a, &f->choices->stages[c->a].items[c->b]);
        break;
    case COLUMN_LEVEL:
        json_put_count(w, "stage", c->a);
        json_put_count(w, "load_at_least_ns", f->level_load_ns[c->a][c->b]);
        break;
    case COLUMN_STATE:
        json_put_count(w, "stage", c->a);
        if (choice_of_state(f, column)) put_seen(w, f->choices->priced, choice_of_state(f, column));
        break;
    case COLUMN_FLOW: put_flow(w, f, column); break;
    case COLUMN_WORKING:
        json_put_count(w, "rank", c->a);
        json_put_count(w, "working_bytes_at_least", f->working_bytes[c->a][c->b]);
        break;
    default: assert(false); // the others are not columns of this program
    }
    json_close_object(w);
}

static void put_removed(struct json_writer *w, const struct choices *c,
                        const struct removed_choice *r)
{
    static const char *const amounts[] = {"rule", "bytes_over", NULL, "bound_ns"};
    json_open_flat_object(w, NULL);
    json_put_text(w, "reason", removal_names[r->removal]);
    if (amounts[r->removal]) json_put_count(w, amounts[r->removal], r->amount);
    put_choice(w, c->priced, r->stage, &r->choice);
    json_close_object(w);
}

enum status formulation_write_map(const struct formulation *f, const char *path,
                                  const struct problem *problem, struct arena *arena,
                                  struct error *err)
{
    struct json_writer w;
    struct source sources[PROBLEM_SOURCES];
    struct milp_units units = milp_units_of(&f->milp, arena);
    int count = problem ? problem_sources(problem, path, sources, arena) : 0;
    document_begin(&w, "plumbline.map", sources, count, arena);
    json_put_count(&w, "time_unit_ns", milp_units_power(units.time_log10));
    json_put_count(&w, "memory_unit_bytes", 1);
    json_open_array(&w, "columns");
    for (int j = 0; j < f->milp.column_count; j++) put_column(&w, f, j);
    json_close_array(&w);
    json_open_array(&w, "removed_choices");
    for (int i = 0; i < f->choices->removed_count; i++)
        put_removed(&w, f->choices, &f->choices->removed[i]);
    json_close_array(&w);
    return document_write(&w, path, err);
}
