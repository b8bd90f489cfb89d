// Jobs: load, check, save. What the priced document repeats (layout, rules, budget) is read and
// written by job_parts.c.
#include "data/inputs/job.h"

#include "data/inputs/framework.h"
#include "data/inputs/job_fields.h"
#include "data/inputs/space.h"

#define SEQUENCE_MAX 16777216.0     // 2^24 tokens
#define BATCH_MAX 1073741824.0      // 2^30 sequences
#define MARGIN_MAX 1125899906842624 // 2^50 bytes
#define TOKENS_MAX 1000000000000000
#define LOCAL_LOSS_MAX_S 1e3

static const char *name_of(const struct job *j)
{
    return j->document.path ? j->document.path : "job";
}

// ---- reading

static enum status read_local_loss(const struct json *object, struct local_loss *l,
                                   struct arena *arena, struct error *err)
{
    struct json_field fields[] = {
        FIELD_NUMBER("forward_s", REQUIRED, &l->forward_s, 0, LOCAL_LOSS_MAX_S),
        FIELD_NUMBER("backward_s", REQUIRED, &l->backward_s, 0, LOCAL_LOSS_MAX_S),
        FIELD_COUNT("bytes", REQUIRED, &l->bytes, 0, MARGIN_MAX),
    };
    return json_is_present(object) ? JSON_FIELDS(object, fields, arena, err) : OK;
}

static enum status read_placement(const struct json *object, struct placement_wishes *p,
                                  struct arena *arena, struct error *err)
{
    struct json_field fields[] = {
        FIELD_BOOL("homogeneous_groups", OPTIONAL, &p->homogeneous_groups),
        FIELD_BOOL("uneven_micro_batches", OPTIONAL, &p->uneven_micro_batches),
    };
    return json_is_present(object) ? JSON_FIELDS(object, fields, arena, err) : OK;
}

// Shares of the optimizer's state that a host may hold.
static enum status percents_get(const struct json *array, int **to, int *count, struct arena *arena,
                                struct error *err)
{
    int64_t *values;
    if (json_length(array) > OFFLOAD_PERCENTS_MAX)
        return json_refuse(array, err, "expected at most %d shares, found %d", OFFLOAD_PERCENTS_MAX,
                           json_length(array));
    TRY(json_counts(array, 1, 100, &values, count, arena, err));
    *to = TAKE(arena, *count, int);
    for (int i = 0; i < *count; i++) (*to)[i] = (int)values[i];
    return OK;
}

enum status job_load(struct job *j, const char *path, struct arena *arena, struct error *err)
{
    struct json layout = {0}, space = {0}, recompute = {0}, boundary = {0}, gradient = {0},
                budget = {0}, local_loss = {0}, placement = {0}, rules = {0}, percents = {0},
                unfused = {0};
    *j = (struct job){
        .gradient_bytes_per_value = 4, .adam = true, .memory_fraction = MEMORY_FRACTION_DEFAULT};
    TRY(document_read(&j->document, path, "plumbline.job", arena, err));
    struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &j->name),
        FIELD_COUNT("sequence", REQUIRED, &j->sequence, 1, SEQUENCE_MAX),
        FIELD_COUNT("global_batch", REQUIRED, &j->global_batch, 1, BATCH_MAX),
        FIELD_NAME("precision", REQUIRED, &j->precision, precision_names),
        FIELD_INT("gradient_bytes_per_value", OPTIONAL, &j->gradient_bytes_per_value, 2, 4),
        FIELD_BOOL("adam", OPTIONAL, &j->adam),
        FIELD_NAME("trainer", OPTIONAL, &j->trainer, trainer_names),
        FIELD_BOOL("fused_loss", OPTIONAL, &j->fused_loss),
        FIELD_BOOL("compiled", OPTIONAL, &j->compiled),
        FIELD_ARRAY("unfused", OPTIONAL, &unfused),
        FIELD_BOOL("gathered_logits", OPTIONAL, &j->gathered_logits),
        FIELD_BOOL("scattered_messages", OPTIONAL, &j->scattered_messages),
        FIELD_BOOL("overlapped_messages", OPTIONAL, &j->overlapped_messages),
        FIELD_BOOL("overlapped_tensor", OPTIONAL, &j->overlapped_tensor),
        FIELD_NAME("attention_kernel", OPTIONAL, &j->attention_kernel, attention_kernel_names),
        FIELD_NAME("objective", OPTIONAL, &j->objective, objective_names),
        FIELD_OBJECT("layout", REQUIRED, &layout),
        FIELD_OBJECT("space", OPTIONAL, &space),
        FIELD_ARRAY("recompute", OPTIONAL, &recompute),
        FIELD_ARRAY("boundary_options", OPTIONAL, &boundary),
        FIELD_ARRAY("gradient_options", OPTIONAL, &gradient),
        FIELD_ARRAY("offload_percents", OPTIONAL, &percents),
        FIELD_OBJECT("budget", OPTIONAL, &budget),
        FIELD_OBJECT("local_loss", OPTIONAL, &local_loss),
        FIELD_OBJECT("placement", OPTIONAL, &placement),
        FIELD_NUMBER("memory_fraction", OPTIONAL, &j->memory_fraction, 0, 1),
        FIELD_COUNT("memory_margin_bytes", OPTIONAL, &j->memory_margin_bytes, 0, MARGIN_MAX),
        FIELD_NUMBER("iteration_limit_s", OPTIONAL, &j->iteration_limit_s, 0, 1e6),
        FIELD_NUMBER("price_limit", OPTIONAL, &j->price_limit, 0, 1e9),
        FIELD_COUNT("run_tokens", OPTIONAL, &j->run_tokens, 0, TOKENS_MAX),
        FIELD_ARRAY("rules", OPTIONAL, &rules),
    };
    TRY(document_fields(&j->document, fields, ARRAY_LENGTH(fields), arena, err));
    TRY(layout_get(&layout, &j->layout, arena, err));
    TRY(space_get(&space, &j->space, arena, err));
    TRY(set_get(&unfused, unfused_names, j->unfused, arena, err));
    TRY(modes_get(&recompute, j->recompute, arena, err));
    j->recompute[RECOMPUTE_NONE] = true;
    TRY(compressions_get(&boundary, true, 1, &j->boundary_options, &j->boundary_option_count, arena,
                         err));
    TRY(compressions_get(&gradient, false, 1, &j->gradient_options, &j->gradient_option_count,
                         arena, err));
    TRY(percents_get(&percents, &j->offload_percents, &j->offload_percent_count, arena, err));
    TRY(budget_get(&budget, &j->budget, arena, err));
    TRY(read_local_loss(&local_loss, &j->local_loss, arena, err));
    TRY(read_placement(&placement, &j->placement, arena, err));
    TRY(rules_get(&rules, &j->rules, &j->rule_count, arena, err));
    return job_check(j, err);
}

// ---- checking

// Replicas with micro-batches of their own numbers: each has its unit at least.
static enum status check_uneven(const struct job *j, struct error *err)
{
    const struct layout *l = &j->layout;
    int64_t unit = layout_micro_batch_unit(l), together = job_micro_batches_together(j),
            others = (l->data - 1) * unit;
    // Of its orders one with fewer micro-batches is not part of one with more, and bounds rest on
    // that.
    if (schedule_kinds[l->schedule].nests == NESTS_NEVER)
        return fail(err, BAD_INPUT,
                    "%s: placement.uneven_micro_batches: expected another schedule than %s",
                    name_of(j), schedule_names[l->schedule]);
    if (j->global_batch % (unit * l->micro_batch))
        return fail(err, BAD_INPUT, "%s: global_batch: expected a multiple of %s %lld, found %lld",
                    name_of(j), unit > 1 ? "micro_batch x pipeline (interleaved)" : "micro_batch",
                    (long long)unit * l->micro_batch, (long long)j->global_batch);
    if (together < others + unit)
        return fail(
            err, BAD_INPUT,
            "%s: global_batch: expected %lld micro-batches or more for %d replicas, found %lld",
            name_of(j), (long long)(others + unit), l->data, (long long)together);
    if (together - others > MICRO_BATCHES_MAX)
        return fail(
            err, BAD_INPUT,
            "%s: global_batch: expected at most %d micro-batches per replica, found %lld possible",
            name_of(j), MICRO_BATCHES_MAX, (long long)(together - others));
    return OK;
}

static enum status check_batch(const struct job *j, struct error *err)
{
    const struct layout *l = &j->layout;
    int64_t together = (int64_t)l->data * l->micro_batch;
    if (j->sequence % l->context)
        return fail(err, BAD_INPUT,
                    "%s: sequence: expected a multiple of layout.context %d, found %lld",
                    name_of(j), l->context, (long long)j->sequence);
    if (l->sequence_parallel && j->sequence / l->context % l->tensor)
        return fail(err, BAD_INPUT,
                    "%s: sequence: expected a multiple of layout.context x tensor %lld for "
                    "sequence_parallel, found %lld",
                    name_of(j), (long long)l->context * l->tensor, (long long)j->sequence);
    if (j->placement.uneven_micro_batches) return check_uneven(j, err);
    if (j->global_batch % together)
        return fail(
            err, BAD_INPUT,
            "%s: global_batch: expected a multiple of layout.data x micro_batch %lld, found %lld",
            name_of(j), (long long)together, (long long)j->global_batch);
    if (j->global_batch / together > MICRO_BATCHES_MAX)
        return fail(err, BAD_INPUT,
                    "%s: global_batch: expected at most %d micro-batches per replica, found %lld",
                    name_of(j), MICRO_BATCHES_MAX, (long long)(j->global_batch / together));
    return OK;
}

// What a schedule asks of the batch and the sequence.
static enum status check_schedule(const struct job *j, struct error *err)
{
    const struct layout *l = &j->layout;
    int64_t tokens = 0;
    if (job_micro_batches(j) % layout_micro_batch_unit(l))
        return fail(err, BAD_INPUT,
                    "%s: layout.schedule: %s expects the micro-batches of a replica to be "
                    "a multiple of pipeline %d, found %d",
                    name_of(j), schedule_names[l->schedule], l->pipeline, job_micro_batches(j));
    if (l->slice_count == 1) return OK;
    for (int i = 0; i < l->slice_count; i++) tokens += l->slices[i];
    if (tokens != j->sequence)
        return fail(err, BAD_INPUT,
                    "%s: layout.slices: expected a sum of sequence %lld, found %lld", name_of(j),
                    (long long)j->sequence, (long long)tokens);
    if (l->context > 1)
        return fail(err, BAD_INPUT, "%s: layout.context: token-sliced expects 1, found %d",
                    name_of(j), l->context);
    if (j->boundary_option_count || j->gradient_option_count || j->offload_percent_count)
        return fail(err, BAD_INPUT,
                    "%s: boundary_options, gradient_options, offload_percents: expected none with "
                    "token-sliced",
                    name_of(j));
    return OK;
}

static enum status check_compressions(const struct job *j, const char *key,
                                      const struct compression_option *options, int count,
                                      struct error *err)
{
    static const int most[] = {RANK_MAX, 999, 8};
    for (int i = 0; i < count; i++) {
        const struct compression_form *form = &options[i].form;
        if (form->amount < 1 || form->amount > most[form->method] || options[i].quality_cost < 0 ||
            options[i].quality_cost > QUALITY_MAX)
            return fail(err, BAD_INPUT, "%s: %s[%d]: %s or quality_cost is out of range",
                        name_of(j), key, i, compression_keys[form->method]);
    }
    return OK;
}

static enum status check_percents(const struct job *j, struct error *err)
{
    int options = (j->gradient_option_count + 1) * (j->offload_percent_count + 1);
    for (int i = 0; i < j->offload_percent_count; i++)
        if (j->offload_percents[i] <= (i ? j->offload_percents[i - 1] : 0) ||
            j->offload_percents[i] > 100)
            return fail(err, BAD_INPUT,
                        "%s: offload_percents[%d]: expected 1 to 100, each above the one before, "
                        "found %d",
                        name_of(j), i, j->offload_percents[i]);
    if (options > OPTIONS_MAX)
        return fail(err, BAD_INPUT,
                    "%s: offload_percents: expected at most %d options of a stage together with "
                    "gradient_options, found %d",
                    name_of(j), OPTIONS_MAX, options);
    return OK;
}

static enum status check_options(const struct job *j, struct error *err)
{
    if (j->boundary_option_count > OPTIONS_MAX || j->gradient_option_count > OPTIONS_MAX)
        return fail(err, BAD_INPUT,
                    "%s: boundary_options, gradient_options: expected at most %d of each",
                    name_of(j), OPTIONS_MAX);
    TRY(check_compressions(j, "boundary_options", j->boundary_options, j->boundary_option_count,
                           err));
    TRY(check_compressions(j, "gradient_options", j->gradient_options, j->gradient_option_count,
                           err));
    TRY(check_percents(j, err));
    return budget_check(&j->budget, name_of(j), err);
}

enum status job_check_layout(const struct job *j, struct error *err)
{
    const char *file = name_of(j);
    TRY(layout_check(&j->layout, file, err));
    TRY(check_schedule(j, err));
    TRY(check_batch(j, err));
    return rules_check(j->rules, j->rule_count, layout_stage_count(&j->layout), 0, file, err);
}

enum status job_check(const struct job *j, struct error *err)
{
    const char *file = name_of(j);
    if (j->sequence < 1 || (double)j->sequence > SEQUENCE_MAX)
        return fail(err, BAD_INPUT, "%s: sequence: expected 1 to 2^24, found %lld", file,
                    (long long)j->sequence);
    if (j->global_batch < 1 || (double)j->global_batch > BATCH_MAX)
        return fail(err, BAD_INPUT, "%s: global_batch: expected 1 to 2^30, found %lld", file,
                    (long long)j->global_batch);
    if (j->gradient_bytes_per_value != 2 && j->gradient_bytes_per_value != 4)
        return fail(err, BAD_INPUT, "%s: gradient_bytes_per_value: expected 2 or 4, found %d", file,
                    j->gradient_bytes_per_value);
    if (!(j->memory_fraction > 0 && j->memory_fraction <= 1))
        return fail(err, BAD_INPUT, "%s: memory_fraction: expected above 0 and at most 1, found %g",
                    file, j->memory_fraction);
    if (j->run_tokens < 0 || j->run_tokens > TOKENS_MAX)
        return fail(err, BAD_INPUT, "%s: run_tokens: expected 0 to 1e15, found %lld", file,
                    (long long)j->run_tokens);
    if (j->memory_margin_bytes < 0 || j->memory_margin_bytes > MARGIN_MAX)
        return fail(err, BAD_INPUT, "%s: memory_margin_bytes: expected 0 to 2^50, found %lld", file,
                    (long long)j->memory_margin_bytes);
    if (!(j->local_loss.forward_s >= 0 && j->local_loss.forward_s <= LOCAL_LOSS_MAX_S &&
          j->local_loss.backward_s >= 0 && j->local_loss.backward_s <= LOCAL_LOSS_MAX_S &&
          j->local_loss.bytes >= 0 && j->local_loss.bytes <= MARGIN_MAX))
        return fail(err, BAD_INPUT, "%s: local_loss: expected 0 to %g s and 0 to 2^50 bytes", file,
                    LOCAL_LOSS_MAX_S);
    TRY(check_options(j, err));
    TRY(framework_check(j, file, err));
    if (j->space.given && j->placement.uneven_micro_batches)
        return fail(err, BAD_INPUT,
                    "%s: placement.uneven_micro_batches: expected a job without space", file);
    if (j->space.slice_tokens && j->sequence % j->space.slice_tokens)
        return fail(err, BAD_INPUT,
                    "%s: space.slice_tokens: expected a divisor of sequence %lld, found %d", file,
                    (long long)j->sequence, j->space.slice_tokens);
    if (!j->space.given) return job_check_layout(j, err);
    TRY(layout_check(&j->layout, file, err));
    return rules_check(j->rules, j->rule_count, STAGES_MAX, 0, file, err);
}

// ---- writing

enum status job_save(const struct job *j, const char *path, struct arena *arena, struct error *err)
{
    struct json_writer w;
    document_begin(&w, "plumbline.job", j->document.sources, j->document.source_count, arena);
    json_put_text(&w, "name", j->name);
    json_put_count(&w, "sequence", j->sequence);
    json_put_count(&w, "global_batch", j->global_batch);
    json_put_text(&w, "precision", precision_names[j->precision]);
    json_put_count(&w, "gradient_bytes_per_value", j->gradient_bytes_per_value);
    json_put_bool(&w, "adam", j->adam);
    json_put_text(&w, "trainer", trainer_names[j->trainer]);
    json_put_bool(&w, "fused_loss", j->fused_loss);
    if (j->compiled) json_put_bool(&w, "compiled", true);
    if (j->unfused[UNFUSED_NORMS] || j->unfused[UNFUSED_ROTARY] || j->unfused[UNFUSED_ACTIVATION])
        set_put(&w, "unfused", unfused_names, j->unfused);
    json_put_bool(&w, "gathered_logits", j->gathered_logits);
    json_put_bool(&w, "scattered_messages", j->scattered_messages);
    if (j->overlapped_messages) json_put_bool(&w, "overlapped_messages", true);
    if (j->overlapped_tensor) json_put_bool(&w, "overlapped_tensor", true);
    if (j->attention_kernel != ATTENTION_MAKER)
        json_put_text(&w, "attention_kernel", attention_kernel_names[j->attention_kernel]);
    if (j->objective != OBJECTIVE_ITERATION_TIME)
        json_put_text(&w, "objective", objective_names[j->objective]);
    layout_put(&w, "layout", &j->layout);
    space_put(&w, "space", &j->space);
    modes_put(&w, "recompute", j->recompute);
    compressions_put(&w, "boundary_options", true, j->boundary_options, j->boundary_option_count);
    compressions_put(&w, "gradient_options", false, j->gradient_options, j->gradient_option_count);
    if (j->offload_percent_count) {
        json_open_flat_array(&w, "offload_percents");
        for (int i = 0; i < j->offload_percent_count; i++)
            json_put_count(&w, NULL, j->offload_percents[i]);
        json_close_array(&w);
    }
    budget_put(&w, "budget", &j->budget);
    if (j->local_loss.forward_s > 0 || j->local_loss.backward_s > 0 || j->local_loss.bytes > 0) {
        json_open_flat_object(&w, "local_loss");
        json_put_number(&w, "forward_s", j->local_loss.forward_s);
        json_put_number(&w, "backward_s", j->local_loss.backward_s);
        json_put_count(&w, "bytes", j->local_loss.bytes);
        json_close_object(&w);
    }
    if (j->placement.homogeneous_groups || j->placement.uneven_micro_batches) {
        json_open_flat_object(&w, "placement");
        if (j->placement.homogeneous_groups) json_put_bool(&w, "homogeneous_groups", true);
        if (j->placement.uneven_micro_batches) json_put_bool(&w, "uneven_micro_batches", true);
        json_close_object(&w);
    }
    json_put_number(&w, "memory_fraction", j->memory_fraction);
    json_put_count(&w, "memory_margin_bytes", j->memory_margin_bytes);
    if (j->iteration_limit_s > 0) json_put_number(&w, "iteration_limit_s", j->iteration_limit_s);
    if (j->price_limit > 0) json_put_number(&w, "price_limit", j->price_limit);
    if (j->run_tokens) json_put_count(&w, "run_tokens", j->run_tokens);
    rules_put(&w, "rules", j->rules, j->rule_count);
    return document_write(&w, path, err);
}

int64_t job_micro_batches_together(const struct job *j)
{
    return j->global_batch / j->layout.micro_batch;
}

int job_micro_batches(const struct job *j)
{
    int64_t together = job_micro_batches_together(j),
            each = (int64_t)j->layout.data * layout_micro_batch_unit(&j->layout);
    if (j->placement.uneven_micro_batches)
        return (int)((together + each - 1) / each) * layout_micro_batch_unit(&j->layout);
    return (int)(j->global_batch / ((int64_t)j->layout.data * j->layout.micro_batch));
}
