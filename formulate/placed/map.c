// The meaning of every column of a program of placements: JSON next to the MPS or LP file.
#include "formulate/program/build.h"
#include "formulate/placed/program.h"

static const char *const role_names[] = {
    [COLUMN_TIME] = "time",           [COLUMN_SYMBOL] = "symbol", [COLUMN_CHOICE] = "choice",
    [COLUMN_OPTION] = "option",       [COLUMN_NODE] = "node",     [COLUMN_HOP] = "hop",
    [COLUMN_RING] = "ring",           [COLUMN_REACH] = "reach",   [COLUMN_MEMBER] = "member",
    [COLUMN_TRANSPORT] = "transport", [COLUMN_LEAVES] = "leaves", [COLUMN_SHARED] = "shared",
    [COLUMN_BOTTLENECK] = "dearest"};

static void put_symbols(struct json_writer *w, const struct placed_program *f, int column)
{
    json_put_count(w, "stage", f->milp.columns[column].a % f->ranks);
    json_open_flat_array(w, "replicas");
    for (int r = 0; r < f->replicas; r++)
        for (int i = 0; i < f->symbols; i++)
            if (f->symbol_column[r][i] == column) {
                json_put_count(w, NULL, r);
                break;
            }
    json_close_array(w);
    json_open_flat_array(w, "durations_ns_of");
    int replica = f->milp.columns[column].replica;
    for (int i = 0; i < f->symbols; i++)
        if (f->symbol_column[replica][i] == column)
            json_put_text(w, NULL, symbol_kind_name(i / f->ranks));
    json_close_array(w);
}

static const char *node_name(const struct placed_program *f, int node)
{
    return f->choices->priced->places->nodes[node].name;
}

static void put_link(struct json_writer *w, const struct placed_program *f,
                     const struct milp_column *c)
{
    json_put_text(w, "from", node_name(f, c->b));
    json_put_text(w, "to", node_name(f, c->c % f->nodes));
}

static void put_transport(struct json_writer *w, const struct placed_program *f, int transport)
{
    json_put_text(w, "transport", f->choices->priced->places->transports[transport].name);
}

static void put_column(struct json_writer *w, const struct placed_program *f, int column)
{
    const struct milp_column *c = &f->milp.columns[column];
    char name[64];
    json_open_flat_object(w, NULL);
    json_put_text(w, "name", milp_column_name(&f->milp, column, name));
    json_put_text(w, "role", role_names[c->role]);
    if (c->role == COLUMN_CHOICE || c->role == COLUMN_NODE || c->role == COLUMN_HOP)
        json_put_count(w, "replica", c->replica);
    if (c->role == COLUMN_SYMBOL) put_symbols(w, f, column);
    else if (c->role == COLUMN_CHOICE || c->role == COLUMN_OPTION)
        map_put_choice(w, f->choices->priced, c->a, &f->choices->stages[c->a].items[c->b]);
    else if (c->role == COLUMN_NODE) {
        json_put_count(w, "rank", c->a);
        json_put_text(w, "node", node_name(f, c->b));
    } else if (c->role == COLUMN_HOP) {
        json_put_text(w, "joins", c->a < f->ranks ? "transfer" : "embedding_sync");
        if (c->a < f->ranks) json_put_count(w, "boundary", c->a);
        put_link(w, f, c);
    } else if (c->role == COLUMN_RING || c->role == COLUMN_REACH) {
        json_put_count(w, "stage", c->a);
        put_link(w, f, c);
        if (f->choices->priced->places->transport_count > 1) put_transport(w, f, c->c / f->nodes);
    } else if (c->role == COLUMN_MEMBER) {
        json_put_count(w, "stage", c->a);
        json_put_text(w, "group", f->choices->priced->groups[c->b].name);
    } else if (c->role == COLUMN_TRANSPORT) {
        json_put_count(w, "stage", c->a);
        put_transport(w, f, c->b);
    } else if (c->role == COLUMN_LEAVES) {
        json_put_count(w, "stage", c->a);
        json_put_text(w, "node", node_name(f, c->b));
    } else if (c->role == COLUMN_SHARED) {
        json_put_text(w, "node", node_name(f, c->a));
        json_put_count(w, "rings", c->b);
    } else if (c->role == COLUMN_BOTTLENECK) {
        json_put_count(w, "stage", c->a);
        json_put_count(w, "choice", c->b);
        json_put_count(w, "level", c->c);
    }
    json_close_object(w);
}

enum status placed_program_write_map(const struct placed_program *f, const char *path,
                                     const struct problem *problem, struct arena *arena,
                                     struct error *err)
{
    struct json_writer w;
    map_begin(&w, &f->milp, path, problem, arena);
    json_open_array(&w, "columns");
    for (int j = 0; j < f->milp.column_count; j++) put_column(&w, f, j);
    json_close_array(&w);
    map_put_removed(&w, f->choices);
    return document_write(&w, path, err);
}
