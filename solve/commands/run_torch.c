// The task of data/torch/run.py: layers of each stage, the schedule, sizes.
#include "solve/commands/internal.h"

#include "data/kinds/schedules.h"
#include "data/results/origin.h"
#include "solve/report/export/export.h"

static enum status refuse_plan(const struct plan *p, const char *what, struct error *err)
{
    return refuse(err,
                  "%s: %s: not carried out with torch, whose runner has plain blocks in fp32 on "
                  "pipeline and data ranks",
                  p->document.path, what);
}

static enum status check(const struct plan *p, const struct problem *problem, struct arena *arena,
                         struct error *err)
{
    const struct layout *l = &p->layout;
    const struct model *m = &problem->model;
    if (l->tensor > 1 || l->context > 1 || l->expert > 1)
        return refuse_plan(p, "layout: tensor, context and expert degrees above 1", err);
    if (l->zero || l->offload_optimizer)
        return refuse_plan(p, "layout: sharded or offloaded state", err);
    if (p->graph.embedding_sync) return refuse_plan(p, "tied embeddings on two ranks", err);
    if (problem->job.precision != FP32) return refuse_plan(p, "precision other than fp32", err);
    if (!m->has_shape || model_peculiarity(m, false))
        return refuse_plan(p, m->has_shape ? model_peculiarity(m, false) : "layers without a shape",
                           err);
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].kind > LAYER_HEAD || m->runs[i].frozen)
            return refuse_plan(p, arena_print(arena, "run %s", m->runs[i].name), err);
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_stage *x = &p->stages[s];
        if (x->recompute > RECOMPUTE_FIRST_LAYERS)
            return refuse_plan(p, arena_print(arena, "stages[%d].recompute", s), err);
        if (p->gradient_options[x->gradient_option].form.amount ||
            p->gradient_options[x->gradient_option].tier_option ||
            p->boundary_options[x->boundary_option].form.amount)
            return refuse_plan(p, arena_print(arena, "stages[%d]: compression", s), err);
    }
    return OK;
}

static void put_stage(struct json_writer *w, const struct plan_stage *x, const struct model *m)
{
    int recomputable = 0;
    json_open_array(w, NULL);
    for (int i = 0; i < x->layer_count; i++) {
        const struct layer_run *run = &m->runs[model_run_of(m, x->first_layer + i)];
        enum recompute mode = RECOMPUTE_NONE;
        if (run->kind == LAYER_BLOCK && run->recomputable)
            mode = x->recompute == RECOMPUTE_FIRST_LAYERS
                       ? recomputable < x->recomputed_layers ? RECOMPUTE_FULL : RECOMPUTE_NONE
                       : x->recompute;
        recomputable += run->recomputable;
        json_open_flat_object(w, NULL);
        json_put_text(w, "kind", layer_kind_names[run->kind]);
        json_put_text(w, "recompute", recompute_names[mode]);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_shape(struct json_writer *w, const struct shape *s)
{
    const struct {
        const char *key;
        int64_t value;
    } sizes[] = {{"hidden", s->hidden},         {"ffn", s->ffn},
                 {"heads", s->heads},           {"kv_heads", s->kv_heads},
                 {"head_width", s->head_width}, {"vocabulary", s->vocabulary},
                 {"positions", s->positions}};
    json_open_flat_object(w, "shape");
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++)
        json_put_count(w, sizes[i].key, sizes[i].value);
    json_put_bool(w, "gated_ffn", s->gated_ffn);
    json_put_bool(w, "rms_norm", s->rms_norm);
    json_put_bool(w, "qkv_bias", s->qkv_bias);
    json_put_bool(w, "linear_bias", s->linear_bias);
    json_close_object(w);
}

static void put_settings(struct json_writer *w, const struct torch_task *t, const struct plan *p,
                         const struct problem *problem, const char *schedule)
{
    struct source source = source_of("plan", &p->document, t->output, w->arena);
    json_put_text(w, "plan", source.path);
    json_put_text(w, "sha256", source.sha256);
    json_put_text(w, "plan_name", p->name);
    json_put_text(w, "made_by", "plumbline " PLUMBLINE_VERSION);
    json_put_text(w, "output", t->output);
    json_put_text(w, "schedule", schedule);
    json_put_text(w, "name", t->name ? t->name : "");
    json_put_text(w, "backend", t->backend);
    json_put_count(w, "iterations", t->iterations);
    json_put_count(w, "warm_ups", t->warm_ups);
    json_put_count(w, "threads", t->threads);
    json_put_count(w, "seed", 1);
    json_put_bool(w, "quiet", t->quiet);
    json_put_count(w, "ranks", p->layout.pipeline);
    json_put_count(w, "replicas", p->layout.data);
    json_put_count(w, "micro_batches", p->micro_batches);
    json_put_count(w, "micro_batch", p->layout.micro_batch);
    json_put_count(w, "sequence", problem->job.sequence);
    json_put_count(w, "message_bytes",
                   p->layout.micro_batch * problem->job.sequence * problem->model.shape.hidden *
                       precision_bytes(problem->job.precision));
    json_put_bool(w, "fused", p->layout.fused_attention);
    json_put_bool(w, "adam", p->graph.optimizer);
    json_put_bool(w, "splits", schedule_splits_backward(p->layout.schedule));
}

static enum status write_schedule(const char *to, const struct plan *plan,
                                  const struct problem *problem, struct arena *arena,
                                  struct error *err)
{
    struct text out;
    text_begin(&out, arena);
    TRY(report_pytorch_schedule(&out, plan, problem, err));
    return file_write(to, out.text, out.length, err);
}

enum status torch_write_task(struct torch_files *files, const struct torch_task *t,
                             const struct plan *plan, struct arena *arena, struct error *err)
{
    struct problem problem;
    struct json_writer w;
    size_t length;
    struct schedule_request request = plan_request(plan);
    if (!origin_problem(plan, &problem, arena))
        return refuse(
            err,
            "%s: made_from: its problem is missing or has changed since: its model and job "
            "say what to run",
            plan->document.path);
    TRY(check(plan, &problem, arena, err));
    TRY(shipped_file(&files->program, "torch", "run.py", arena, err));
    files->task = arena_print(arena, "%s.task", t->output);
    files->schedule = arena_print(arena, "%s.csv", t->output);
    TRY(write_schedule(files->schedule, plan, &problem, arena, err));
    json_begin(&w, arena);
    json_open_object(&w, NULL);
    put_settings(&w, t, plan, &problem, files->schedule);
    put_shape(&w, &problem.model.shape);
    json_open_array(&w, "stages");
    for (int s = 0; s < plan->stage_count; s++) put_stage(&w, &plan->stages[s], &problem.model);
    json_close_array(&w);
    json_open_flat_array(&w, "stage_ranks");
    for (int s = 0; s < plan->stage_count; s++)
        json_put_count(&w, NULL, schedule_rank_of(&request, s));
    json_close_array(&w);
    json_close_object(&w);
    const char *text = json_end(&w, &length);
    return file_write(files->task, text, length, err);
}
