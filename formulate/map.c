// What every column of a program means, and which choices it does not contain and why: JSON beside the MPS or LP file.
#include "formulate/formulate.h"

#include "data/document.h"

static const char *const role_names[] = {"time", "symbol", "choice", "level", "state", "flow", "other"};

static void put_choice(struct json_writer *w, const struct priced *p, int stage, const struct choice *x)
{
    json_put_count(w, "stage", stage);
    if (x->first_layer >= 0) json_put_count(w, "first_layer", x->first_layer);
    json_put_count(w, "layers", x->layer_count);
    json_put_text(w, "group", p->groups[x->group].name);
    json_put_text(w, "recompute", recompute_names[x->recompute]);
    if (x->recompute == RECOMPUTE_FIRST_LAYERS) json_put_count(w, "recomputed_layers", x->recomputed_layers);
    if (p->gradient_options[x->gradient_option].rank) json_put_count(w, "gradient_rank", p->gradient_options[x->gradient_option].rank);
    if (p->boundary_options[x->boundary_option].rank) {
        json_put_count(w, "boundary_rank", p->boundary_options[x->boundary_option].rank);
        json_put_bool(w, "epilogue_only", p->boundary_options[x->boundary_option].epilogue_only);
    }
    json_put_count(w, "forward_ns", x->forward_ns);
    json_put_count(w, "backward_ns", x->backward_ns);
    json_put_count(w, "sync_ns", x->sync_ns);
    json_put_count(w, "optimizer_ns", x->optimizer_ns);
    json_put_count(w, "memory_bytes", memory_total(&x->memory));
}

// All symbols that this column stands for: those of one boundary may share it.
static void put_symbols(struct json_writer *w, const struct formulation *f, int column)
{
    int stages = f->choices->priced->stage_count;
    json_put_count(w, "stage", f->milp.columns[column].a % stages);
    json_open_flat_array(w, "durations_ns_of");
    for (int i = 0; i < symbol_count(stages); i++)
        if (f->symbol_column[i] == column) json_put_text(w, NULL, symbol_kind_name(i / stages));
    json_close_array(w);
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
    case COLUMN_CHOICE: put_choice(w, f->choices->priced, c->a, &f->choices->stages[c->a].items[c->b]); break;
    case COLUMN_LEVEL:
        json_put_count(w, "stage", c->a);
        json_put_count(w, "load_at_least_ns", f->level_load_ns[c->a][c->b]);
        break;
    case COLUMN_STATE:
        json_put_count(w, "stage", c->a);
        json_put_count(w, "state", c->b);
        break;
    case COLUMN_FLOW:
        json_put_count(w, "boundary", c->a);
        json_put_count(w, "left", c->b);
        json_put_count(w, "right", c->c);
        break;
    case COLUMN_OTHER:
        json_put_count(w, "a", c->a);
        json_put_count(w, "b", c->b);
        json_put_count(w, "c", c->c);
        break;
    }
    json_close_object(w);
}

static void put_removed(struct json_writer *w, const struct choices *c, const struct removed_choice *r)
{
    static const char *const amounts[] = {"rule", "bytes_over", NULL, "bound_ns"};
    json_open_flat_object(w, NULL);
    json_put_text(w, "reason", removal_names[r->removal]);
    if (amounts[r->removal]) json_put_count(w, amounts[r->removal], r->amount);
    put_choice(w, c->priced, r->stage, &r->choice);
    json_close_object(w);
}

enum status formulation_write_map(const struct formulation *f, const char *path, struct arena *arena, struct error *err)
{
    struct json_writer w;
    document_begin(&w, "plumbline.map", NULL, 0, arena);
    json_open_array(&w, "columns");
    for (int j = 0; j < f->milp.column_count; j++) put_column(&w, f, j);
    json_close_array(&w);
    json_open_array(&w, "removed_choices");
    for (int i = 0; i < f->choices->removed_count; i++) put_removed(&w, f->choices, &f->choices->removed[i]);
    json_close_array(&w);
    return document_write(&w, path, err);
}
