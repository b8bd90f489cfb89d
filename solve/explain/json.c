// The answer as JSON (docs/FORMATS.md, explain).

#include "solve/explain/internal.h"

static void put_told(struct json_writer *w, const struct explained *x)
{
    static const char *const by[] = {"", "words", "setting", "setting", "program", "other values"};
    json_open_object(w, "stated");
    for (int i = 0; i < TOLD_COUNT; i++) {
        const struct told_value *v = &x->log.told[i];
        if (!told_is_shown(&x->log, (enum told)i)) continue;
        json_open_flat_object(w, told_names[i]);
        json_put_text(w, "value", v->text);
        json_put_text(w, "by", by[v->by]);
        json_put_text(w, "key", v->key);
        json_put_count(w, "line", v->line);
        json_close_object(w);
    }
    json_close_object(w);
}

static void put_assumed(struct json_writer *w, const char *key, const struct assumed *items,
                        int count)
{
    json_open_array(w, key);
    for (int i = 0; i < count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "column", items[i].column);
        json_put_text(w, "value", items[i].value);
        json_put_text(w, "why", items[i].why);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_measured(struct json_writer *w, const struct explained *x)
{
    const struct log *l = &x->log;
    json_open_object(w, "measured");
    if (x->measured_s > 0) {
        json_put_number(w, "iteration_s", x->measured_s);
        json_put_text(w, "by", x->measured_by);
    }
    json_put_count(w, "lines", x->rate.count);
    json_put_count(w, "left_out", x->rate.dropped);
    static const char *const names[] = {NULL,
                                        "tflops_per_gpu",
                                        "tokens_per_s_per_gpu",
                                        "samples_per_s",
                                        "timer_samples_per_s",
                                        "mfu_percent"};
    for (int i = 1; i < MEASURED_CLOCK_S; i++) { // which only tells what others are of
        double value = log_rate_of(&l->series[i], true, x->arena).value;
        if (value > 0) json_put_number(w, names[i], value);
    }
    const struct {
        const char *key;
        int64_t bytes;
    } memory[] = {{"allocated_bytes", l->memory.allocated_bytes},
                  {"reserved_bytes", l->memory.reserved_bytes},
                  {"device_bytes", l->memory.device_bytes},
                  {"card_bytes", l->memory.card_bytes},
                  {"failed_request_bytes", l->failure.tried_bytes},
                  {"failed_allocated_bytes", l->failure.allocated_bytes}};
    for (size_t i = 0; i < ARRAY_LENGTH(memory); i++)
        if (memory[i].bytes) json_put_count(w, memory[i].key, memory[i].bytes);
    if (l->memory.rank >= 0) json_put_count(w, "rank", l->memory.rank);
    if (l->failure.out_of_memory) json_put_bool(w, "out_of_memory", true);
    if (l->retries) json_put_count(w, "allocation_retries", l->retries);
    json_close_object(w);
}

static void put_predicted(struct json_writer *w, const struct explained *x)
{
    const struct prediction *p = &x->own;
    json_open_object(w, "predicted");
    if (*p->reason) json_put_text(w, "reason", p->reason);
    else {
        json_put_number(w, "iteration_s", (double)p->iteration_ns * 1e-9);
        if (p->high_ns) {
            json_put_number(w, "iteration_low_s", (double)p->low_ns * 1e-9);
            json_put_number(w, "iteration_high_s", (double)p->high_ns * 1e-9);
        }
        json_put_count(w, "allocated_bytes", explained_allocated(p));
        json_put_count(w, "reserved_bytes", p->held_bytes);
        json_put_count(w, "device_bytes", p->device_bytes);
        json_put_count(w, "card_bytes", p->capacity_bytes);
        json_put_bool(w, "fits", p->device_bytes <= p->limit_bytes);
        json_put_count(w, "fullest_rank", p->fullest_rank);
    }
    json_close_object(w);
}

static void put_certificate(struct json_writer *w, const struct explained *x)
{
    const struct certificate *c = &x->certificate;
    json_open_object(w, "reading");
    json_put_text(w, "outcome",
                  c->by_log > 0 ? c->found >= 0 ? "certified" : "refused" : "not certified");
    if (c->by_log > 0) json_put_number(w, "flop_per_token", c->by_log);
    json_open_array(w, "counts");
    for (int i = 0; i < c->count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "name", c->counts[i].name);
        json_put_number(w, "flop_per_token", c->counts[i].flop);
        json_put_bool(w, "agrees", i == c->found);
        json_close_object(w);
    }
    json_close_array(w);
    if (c->rank_parameters > 0) json_put_bool(w, "parameters_agree", c->parameters_agree);
    json_close_object(w);
}

static void put_unknown(struct json_writer *w, const struct explained *x)
{
    if (!x->log.unknown_count) return;
    json_open_array(w, "not_read");
    for (int i = 0; i < x->log.unknown_count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "flag", x->log.unknown[i].flag);
        json_put_text(w, "nearest", x->log.unknown[i].nearest);
        json_put_count(w, "line", x->log.unknown[i].line);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_runs(struct json_writer *w, const struct log_parts *p)
{
    if (!p->count) return;
    json_open_array(w, "runs");
    for (int i = 0; i < p->count; i++) {
        json_open_flat_object(w, NULL);
        json_put_text(w, "name", p->at[i].name);
        json_put_count(w, "line", p->at[i].line);
        json_put_bool(w, "chosen", i == p->chosen);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_change(struct json_writer *w, const struct explained *x, const char *key, int kind)
{
    const struct change *c = explained_best(x, kind);
    if (!c) return;
    const char *words = change_words(x, c);
    json_open_flat_object(w, key);
    json_put_text(w, "column", c->column);
    json_put_text(w, "value", c->value);
    if (words) json_put_text(w, "flags", words);
    json_put_number(w, "iteration_s", (double)c->iteration_ns * 1e-9);
    json_put_count(w, "device_bytes", c->device_bytes);
    json_close_object(w);
}

static void put_any(struct json_writer *w, const struct explained *x)
{
    struct assumed values[ANY_VALUES_MOST];
    int count = any_layout_values(x, values);
    if (!x->any.found) return;
    json_open_flat_object(w, "any_layout");
    json_open_flat_object(w, "values");
    for (int i = 0; i < count; i++) json_put_text(w, values[i].column, values[i].value);
    json_close_object(w);
    json_put_number(w, "iteration_s", (double)x->any.iteration_ns * 1e-9);
    json_put_count(w, "device_bytes", x->any.device_bytes);
    json_put_count(w, "priced", x->any.priced);
    json_put_bool(w, "all", x->any.all);
    json_close_object(w);
}

const char *explained_json(const struct explained *x, size_t *length)
{
    struct json_writer w;
    json_begin(&w, x->arena);
    json_open_object(&w, NULL);
    json_put_text(&w, "kind", "plumbline.explained");
    json_put_count(&w, "version", 1);
    json_put_text(&w, "format", log_format_names[x->log.format]);
    json_put_count(&w, "lines", x->log.lines);
    put_runs(&w, &x->log.parts);
    put_told(&w, x);
    put_unknown(&w, x);
    put_assumed(&w, "assumed", x->assumed, x->assumed_count);
    put_measured(&w, x);
    put_predicted(&w, x);
    put_certificate(&w, x);
    json_put_text(&w, "verdict", verdict_names[x->verdict]);
    json_put_text(&w, "why", x->why);
    put_assumed(&w, "would_resolve", x->alternatives, x->alternative_count);
    put_change(&w, x, "one_flag", CHANGE_FLAG);
    put_change(&w, x, "one_degree", CHANGE_DEGREE);
    put_any(&w, x);
    json_close_object(&w);
    return json_end(&w, length);
}
