// Plans: save. What is written for people (seconds, the gap, sums, device names) is computed anew.
#include "data/inputs/job_fields.h"
#include "data/results/plan.h"
#include "data/results/internal.h"

static double seconds(int64_t ns) { return (double)ns / 1e9; }

static double seconds_of_parts(const int64_t ns[PART_COUNT])
{
    int64_t sum = 0;
    for (int part = 0; part < PART_COUNT; part++) sum += ns[part];
    return seconds(sum);
}

static void put_parts(struct json_writer *w, const char *key, const int64_t ns[PART_COUNT])
{
    json_open_flat_object(w, key);
    for (int part = 0; part < PART_COUNT; part++)
        json_put_count(w, transfer_part_names[part], ns[part]);
    json_close_object(w);
}

static void put_memory(struct json_writer *w, const struct memory_parts *m)
{
    json_open_object(w, "memory");
    json_put_count(w, "weight_bytes", m->weight_bytes);
    json_put_count(w, "gradient_bytes", m->gradient_bytes);
    json_put_count(w, "optimizer_bytes", m->optimizer_bytes);
    json_put_count(w, "activation_bytes", m->activation_bytes);
    json_put_count(w, "working_bytes", m->working_bytes);
    json_put_count(w, "buffer_bytes", m->buffer_bytes);
    json_put_count(w, "feedback_bytes", m->feedback_bytes);
    json_put_count(w, "constant_bytes", m->constant_bytes);
    json_put_count(w, "total_bytes", memory_total(m));
    json_close_object(w);
}

static void put_slices(struct json_writer *w, const struct plan *p, const struct plan_stage *s)
{
    json_open_array(w, "slices");
    for (int i = 0; i < p->layout.slice_count - 1; i++) {
        json_open_object(w, NULL);
        json_put_count(w, "forward_ns", s->slices[i].forward_ns);
        json_put_count(w, "backward_ns", s->slices[i].backward_ns);
        put_parts(w, "send_forward_ns", s->slices[i].send_forward_ns);
        put_parts(w, "send_backward_ns", s->slices[i].send_backward_ns);
        json_close_object(w);
    }
    json_close_array(w);
}

// The stage's compression in words: what it does to its gradient sync and to the backward transfers
// it sends.
static const char *compression_of(const struct plan *p, const struct plan_stage *s,
                                  struct arena *arena)
{
    const struct compression_option *b = &p->boundary_options[s->boundary_option];
    const struct compression_option *g = &p->gradient_options[s->gradient_option];
    if (!b->form.amount && !g->form.amount) return "none";
    static const char forgets[] = " without error feedback";
    const char *gradient = "", *boundary = "";
    if (g->form.amount)
        gradient = arena_print(arena, "gradient sync at %s%s", compression_text(g->form, arena),
                               g->forgets ? forgets : "");
    if (b->form.amount)
        boundary = arena_print(arena, "backward transfers at %s%s%s",
                               compression_text(b->form, arena),
                               b->epilogue_only ? " in the drain" : "", b->forgets ? forgets : "");
    return arena_print(arena, "%s%s%s", gradient, *gradient && *boundary ? ", " : "", boundary);
}

static void put_stage(struct json_writer *w, const struct plan *p, int i, struct arena *arena)
{
    const struct plan_stage *s = &p->stages[i];
    struct schedule_request request = plan_request(p);
    json_open_object(w, NULL);
    json_put_count(w, "stage", i);
    if (p->layout.virtual_stages > 1) json_put_count(w, "rank", schedule_rank_of(&request, i));
    json_put_count(w, "first_layer", s->first_layer);
    json_put_count(w, "layer_count", s->layer_count);
    json_put_count(w, "last_layer", s->first_layer + s->layer_count - 1);
    json_put_text(w, "group", p->group_names[s->group]);
    json_put_text(w, "gpu", p->group_gpus[s->group]);
    json_put_count(w, "devices", p->devices_per_stage);
    json_put_text(w, "recompute", recompute_names[s->recompute]);
    json_put_count(w, "recomputed_layers", s->recomputed_layers);
    if (s->recompute == RECOMPUTE_SWAP) json_put_count(w, "swapped_layers", s->swapped_layers);
    json_put_count(w, "gradient_option", s->gradient_option);
    json_put_count(w, "boundary_option", s->boundary_option);
    json_put_text(w, "compression", compression_of(p, s, arena));
    if (p->gradient_options[s->gradient_option].offloaded_percent)
        json_put_count(w, "offloaded_percent",
                       p->gradient_options[s->gradient_option].offloaded_percent);
    json_put_count(w, "forward_ns", s->forward_ns);
    json_put_count(w, "backward_ns", s->backward_ns);
    if (schedule_splits_backward(p->layout.schedule)) json_put_count(w, "weight_ns", s->weight_ns);
    if (p->layout.slice_count > 1) put_slices(w, p, s);
    json_put_count(w, "sync_ns", s->sync_ns);
    json_put_count(w, "optimizer_ns", s->optimizer_ns);
    put_parts(w, "send_forward_ns", s->send_forward_ns);
    put_parts(w, "send_backward_ns", s->send_backward_ns);
    put_parts(w, "send_epilogue_ns", s->send_epilogue_ns);
    json_put_number(w, "forward_s", seconds(s->forward_ns));
    json_put_number(w, "backward_s", seconds(s->backward_ns));
    json_put_number(w, "sync_s", seconds(s->sync_ns));
    json_put_number(w, "optimizer_s", seconds(s->optimizer_ns));
    json_put_number(w, "send_forward_s", seconds_of_parts(s->send_forward_ns));
    json_put_number(w, "send_backward_s", seconds_of_parts(s->send_backward_ns));
    json_put_number(w, "send_epilogue_s", seconds_of_parts(s->send_epilogue_ns));
    put_memory(w, &s->memory);
    json_put_count(w, "memory_limit_bytes", s->memory_limit_bytes);
    json_close_object(w);
}

static void put_graph(struct json_writer *w, const struct plan_graph *g)
{
    json_open_flat_object(w, "graph");
    json_open_flat_array(w, "transfer_parts");
    for (int part = 0; part < PART_COUNT; part++)
        if (g->parts[part]) json_put_text(w, NULL, transfer_part_names[part]);
    json_close_array(w);
    json_put_bool(w, "epilogue", g->epilogue);
    json_put_bool(w, "gradient_sync", g->sync);
    json_put_bool(w, "optimizer", g->optimizer);
    json_put_bool(w, "embedding_sync", g->embedding_sync);
    json_close_object(w);
}

// How far the costs' intervals leave the time open, and whether they leave it open which layout is
// the best.
static void put_range(struct json_writer *w, const struct plan *p)
{
    if (!p->iteration_high_ns) return;
    json_put_count(w, "iteration_low_ns", p->iteration_low_ns);
    json_put_count(w, "iteration_high_ns", p->iteration_high_ns);
    json_put_number(w, "iteration_low_s", seconds(p->iteration_low_ns));
    json_put_number(w, "iteration_high_s", seconds(p->iteration_high_ns));
    if (!p->runner_up_ns) return;
    json_put_count(w, "runner_up_ns", p->runner_up_ns);
    json_put_number(w, "runner_up_s", seconds(p->runner_up_ns));
    json_put_bool(w, "runner_up_inside", p->runner_up_inside);
}

static void put_head(struct json_writer *w, const struct plan *p)
{
    json_put_text(w, "name", p->name);
    json_put_text(w, "outcome", outcome_names[p->outcome]);
    if (p->reason) json_put_text(w, "reason", p->reason);
    json_put_count(w, "iteration_ns", p->iteration_ns);
    json_put_count(w, "bound_ns", plan_bound_ns(p));
    if (p->objective != OBJECTIVE_ITERATION_TIME) {
        json_put_text(w, "objective", objective_names[p->objective]);
        json_put_count(w, "objective_ns", p->objective_ns);
        json_put_number(w, "objective_s", seconds(p->objective_ns));
    }
    json_put_number(w, "iteration_s", seconds(p->iteration_ns));
    json_put_number(w, "bound_s", seconds(plan_bound_ns(p)));
    json_put_number(w, "gap", plan_gap(p));
    json_put_number(w, "gap_asked", p->gap_asked);
    put_range(w, p);
    if (p->extrapolated_count) plan_extrapolations_put(w, p);
    json_put_count(w, "embedding_sync_ns", p->embedding_sync_ns);
    json_put_number(w, "embedding_sync_s", seconds(p->embedding_sync_ns));
    layout_put(w, "layout", &p->layout);
    json_put_count(w, "micro_batches", p->micro_batches);
    json_put_count(w, "devices_per_stage", p->devices_per_stage);
    put_graph(w, &p->graph);
}

static void put_plan(struct json_writer *w, const struct plan *p, struct arena *arena)
{
    document_begin(w, "plumbline.plan", p->document.sources, p->document.source_count, arena);
    put_head(w, p);
    json_open_array(w, "groups");
    for (int i = 0; i < p->group_count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "name", p->group_names[i]);
        json_put_text(w, "gpu", p->group_gpus[i]);
        json_close_object(w);
    }
    json_close_array(w);
    compressions_put(w, "boundary_options", true, p->boundary_options, p->boundary_option_count);
    compressions_put(w, "gradient_options", false, p->gradient_options, p->gradient_option_count);
    json_open_array(w, "stages");
    for (int i = 0; i < p->stage_count; i++) put_stage(w, p, i, arena);
    json_close_array(w);
    if (p->placement) plan_placement_put(w, p);
    if (p->ranks) json_open_array(w, "ranks");
    for (int i = 0; p->ranks && i < p->layout.pipeline; i++) {
        json_open_object(w, NULL);
        json_put_count(w, "rank", i);
        put_memory(w, &p->ranks[i].memory);
        json_close_object(w);
    }
    if (p->ranks) json_close_array(w);
    json_put_count(w, "seed", p->seed);
    json_open_flat_object(w, "effort");
    json_put_count(w, "boxes", p->effort.boxes);
    json_put_count(w, "relaxations", p->effort.relaxations);
    json_put_count(w, "path_rows", p->effort.path_rows);
    json_put_number(w, "seconds", p->effort.seconds);
    json_close_object(w);
}

enum status plan_save(const struct plan *p, const char *path, struct arena *arena,
                      struct error *err)
{
    struct json_writer w;
    put_plan(&w, p, arena);
    return document_write(&w, path, err);
}

const char *plan_text(const struct plan *p, size_t *length, struct arena *arena)
{
    struct json_writer w;
    put_plan(&w, p, arena);
    return document_text(&w, length);
}
