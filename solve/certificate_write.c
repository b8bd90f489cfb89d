// The file: claims, incumbent, what is counted, boxes in preorder, the paths they use.
#include <string.h>

#include "data/document.h"
#include "solve/certificate_parts.h"

static void put_incumbent(const struct maker *m, struct json_writer *w)
{
    const struct plan *plan = m->request->plan;
    json_open_array(w, "incumbent");
    for (int s = 0; s < m->p.stages; s++) {
        const struct plan_stage *x = &plan->stages[s];
        json_open_flat_object(w, NULL);
        json_put_count(w, "first_layer", x->first_layer);
        json_put_count(w, "layer_count", x->layer_count);
        json_put_text(w, "group", m->p.groups[x->group].name);
        json_put_text(w, "recompute", check_mode_names[x->recompute]);
        json_put_count(w, "recomputed_layers", x->recompute == RECOMPUTE_FIRST_LAYERS ? x->recomputed_layers : 0);
        json_put_count(w, "gradient_option", x->gradient_option);
        json_put_count(w, "boundary_option", x->boundary_option);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_counted(const struct maker *m, struct json_writer *w)
{
    static const char *const names[] = {"boundaries", "stages", "cost"};
    bool any = false;
    for (int r = 0; r < check_resource_count(&m->p); r++) any = any || m->counted[r];
    if (!any) return;
    json_open_flat_object(w, "counted");
    json_open_array(w, "slots");
    for (int g = 0; g < m->p.group_count; g++)
        if (m->counted[g]) json_put_text(w, NULL, m->p.groups[g].name);
    json_close_array(w);
    for (int i = 0; i < BUDGETS; i++)
        if (m->counted[m->p.group_count + i]) json_put_bool(w, names[i], true);
    json_close_object(w);
}

static void put_pair(struct json_writer *w, int64_t a, int64_t b)
{
    json_open_array(w, NULL);
    json_put_count(w, NULL, a);
    json_put_count(w, NULL, b);
    json_close_array(w);
}

static void put_prices(const struct maker *m, struct json_writer *w, const int64_t *prices)
{
    static const char *const names[] = {"boundaries", "stages", "cost"};
    bool slots = false;
    for (int g = 0; g < m->p.group_count; g++) slots = slots || prices[g] > 0;
    json_open_object(w, "prices");
    if (slots) {
        json_open_array(w, "slots");
        for (int g = 0; g < m->p.group_count; g++)
            if (prices[g] > 0) put_pair(w, g, prices[g]);
        json_close_array(w);
    }
    for (int i = 0; i < BUDGETS; i++)
        if (prices[m->p.group_count + i] > 0) json_put_count(w, names[i], prices[m->p.group_count + i]);
    json_close_object(w);
}

static void put_round(struct maker *m, struct json_writer *w, const struct proof_round *round, int *next_path)
{
    json_open_object(w, NULL);
    if (round->path_count) json_open_array(w, "weights");
    for (int i = 0; i < round->path_count; i++) {
        struct proof_path *path = &m->paths[round->paths[i]];
        if (path->number < 0) path->number = (*next_path)++;
        put_pair(w, path->number, round->weights[i]);
    }
    if (round->path_count) json_close_array(w);
    if (round->prices) put_prices(m, w, round->prices);
    if (round->relaxed) json_put_bool(w, "relaxed", true);
    if (round->by_ranks) json_put_bool(w, "by_ranks", true);
    json_close_object(w);
    m->result->rounds++;
    m->result->weights += round->path_count;
}

static void put_choice(const struct maker *m, struct json_writer *w, const struct check_choice *c)
{
    json_open_object(w, "choice");
    if (c->first >= 0) json_put_count(w, "first_layer", c->first);
    json_put_count(w, "layers", c->layers);
    json_put_text(w, "group", m->p.groups[c->group].name);
    json_put_text(w, "recompute", check_mode_names[c->mode]);
    json_put_count(w, "recomputed_layers", c->recomputed);
    json_put_count(w, "gradient_option", c->gradient);
    json_put_count(w, "boundary_option", c->boundary);
    json_close_object(w);
}

static void put_end(const struct maker *m, struct json_writer *w, const struct proof_box *b)
{
    if (b->end == END_CLOSED || b->end == END_LEAF) {
        json_put_bool(w, b->end == END_CLOSED ? "closed" : "leaf", true);
        return;
    }
    json_open_object(w, "split");
    json_put_count(w, b->end == END_SPLIT_RANK ? "rank" : "stage", b->end == END_SPLIT_RANK ? b->rank : b->stage);
    if (b->end == END_SPLIT_RANK) json_put_count(w, "layers_below", b->layers);
    if (b->end == END_SPLIT_LOAD) json_put_count(w, "load_below_ns", b->load_ns);
    if (b->end == END_SPLIT_CHOICE) put_choice(m, w, &m->choices.items[b->stage][b->choice]);
    if (b->end == END_SPLIT_GROUP) {
        json_open_object(w, "choice");
        json_put_text(w, "group", m->p.groups[b->group].name);
        json_close_object(w);
    }
    json_close_object(w);
}

static void put_boxes(struct maker *m, struct json_writer *w)
{
    int next_path = 0;
    json_open_array(w, "boxes");
    for (int i = 0; i < m->box_count; i++) {
        const struct proof_box *b = &m->boxes[i];
        json_open_flat_object(w, NULL);
        json_open_array(w, "rounds");
        for (int k = 0; k < b->round_count; k++) put_round(m, w, &b->rounds[k], &next_path);
        json_close_array(w);
        put_end(m, w, b);
        json_close_object(w);
    }
    json_close_array(w);
    m->result->boxes = m->box_count;
}

void maker_write(struct maker *m)
{
    struct json_writer w;
    const struct certificate_request *r = m->request;
    struct source source = {.role = "priced", .path = r->priced_text.file};
    sha256_text(r->priced_text.text, r->priced_text.size, source.sha256);
    document_begin(&w, "plumbline.certificate", &source, 1, m->arena);
    json_open_object(&w, "proof");
    if (m->bound_ns < 0) json_put_bool(&w, "infeasible", true);
    else json_put_count(&w, "bound_ns", m->bound_ns);
    if (r->plan->stage_count) {
        json_put_count(&w, "iteration_ns", r->plan->iteration_ns);
        put_incumbent(m, &w);
    }
    put_counted(m, &w);
    put_boxes(m, &w);
    maker_put_paths(m, &w);
    json_close_object(&w);
    json_close_object(&w);
    m->result->text = json_end(&w, &m->result->size);
    m->result->bound_ns = m->bound_ns;
}
