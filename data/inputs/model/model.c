// Models: load, check, save. What a loader cannot refuse key by key (unique names, shapes that some
// run needs, sums that must stay exact) stands in model_check, which also serves models made in
// memory. docs/FORMATS.md explains every key.
#include "data/inputs/model/model.h"

#include <assert.h>
#include <string.h>

#include "data/inputs/model/internal.h"
#include "data/base/units.h"

const char *const layer_kind_names[] = {"embedding", "block",  "head",      "measured",
                                        "moe",       "memory", "projector", NULL};

#define BYTES_MAX 1125899906842624.0 // 2^50: of one layer on one device
#define BYTES_SUM_MAX                                                                              \
    4503599627370496.0 // 2^52: of a whole model, so that sums stay exact everywhere

#define MORE_VALUES_MAX 1099511627776.0 // 2^40

static const char *name_of(const struct model *m)
{
    return m->document.path ? m->document.path : "model";
}

// ---- reading

// Bytes by recomputation mode: {"none", "selective", "full"}; a mode that is not stated is like
// none.
static enum status read_modes(const struct json *object, int64_t bytes[3], struct arena *arena,
                              struct error *err)
{
    bytes[0] = 0;
    bytes[1] = bytes[2] = -1;
    struct json_field fields[] = {
        FIELD_COUNT("none", REQUIRED, &bytes[0], 0, BYTES_MAX),
        FIELD_COUNT("selective", OPTIONAL, &bytes[1], 0, BYTES_MAX),
        FIELD_COUNT("full", OPTIONAL, &bytes[2], 0, BYTES_MAX),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    for (int mode = 1; mode < 3; mode++)
        if (bytes[mode] < 0) bytes[mode] = bytes[0];
    return OK;
}

static enum status read_measured(const struct json *object, struct measured_bytes *b,
                                 struct arena *arena, struct error *err)
{
    struct json stash = {0}, working = {0};
    struct json_field fields[] = {
        FIELD_COUNT("weight_bytes", REQUIRED, &b->weight_bytes, 0, BYTES_MAX),
        FIELD_COUNT("gradient_bytes", REQUIRED, &b->gradient_bytes, 0, BYTES_MAX),
        FIELD_COUNT("optimizer_bytes", REQUIRED, &b->optimizer_bytes, 0, BYTES_MAX),
        FIELD_OBJECT("stash_bytes", REQUIRED, &stash),
        FIELD_OBJECT("working_bytes", OPTIONAL, &working),
        FIELD_COUNT("boundary_bytes", REQUIRED, &b->boundary_bytes, 0, BYTES_MAX),
        FIELD_COUNT("matrix_rows", OPTIONAL, &b->matrix_rows, 0, 1 << 26),
        FIELD_COUNT("matrix_columns", OPTIONAL, &b->matrix_columns, 0, 1 << 26),
    };
    TRY(JSON_FIELDS(object, fields, arena, err));
    TRY(read_modes(&stash, b->stash_bytes, arena, err));
    return json_is_present(&working) ? read_modes(&working, b->working_bytes, arena, err) : OK;
}

// The object that a kind has of its own, where it must be and nowhere else.
static enum status check_part(const struct json *object, const struct json *part, const char *key,
                              bool wanted, const struct layer_run *run, struct error *err)
{
    if (json_is_present(part) == wanted) return OK;
    if (wanted)
        return json_refuse(object, err, "key \"%s\" is missing: a layer of kind \"%s\" needs it",
                           key, layer_kind_names[run->kind]);
    return json_refuse(object, err, "key \"%s\" does not belong to layers of kind \"%s\"", key,
                       layer_kind_names[run->kind]);
}

static enum status read_run(const struct json *object, struct layer_run *run, struct arena *arena,
                            struct error *err)
{
    struct json measured = {0}, experts = {0}, pool = {0}, projector = {0}, shape = {0};
    run->count = 1;
    struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &run->name),
        FIELD_NAME("kind", REQUIRED, &run->kind, layer_kind_names),
        FIELD_INT("count", OPTIONAL, &run->count, 1, LAYERS_MAX),
        FIELD_BOOL("recomputable", OPTIONAL, &run->recomputable),
        FIELD_BOOL("frozen", OPTIONAL, &run->frozen),
        FIELD_INT("adapter_rank", OPTIONAL, &run->adapter_rank, 0, 65536),
        FIELD_INT("weight_bits", OPTIONAL, &run->weight_bits, 1, 16),
        FIELD_COUNT("window", OPTIONAL, &run->window, 1, 1 << 30),
        FIELD_COUNT("chunk", OPTIONAL, &run->chunk, 1, 1 << 30),
        FIELD_BOOL("bidirectional", OPTIONAL, &run->bidirectional),
        FIELD_BOOL("cross_attention", OPTIONAL, &run->cross_attention),
        FIELD_BOOL("shared_weights", OPTIONAL, &run->shared_weights),
        FIELD_BOOL("mtp", OPTIONAL, &run->mtp),
        FIELD_COUNT("more_values", OPTIONAL, &run->more_values, 0, MORE_VALUES_MAX),
        FIELD_OBJECT("measured", OPTIONAL, &measured),
        FIELD_OBJECT("moe", OPTIONAL, &experts),
        FIELD_OBJECT("memory", OPTIONAL, &pool),
        FIELD_OBJECT("projector", OPTIONAL, &projector),
        FIELD_OBJECT("shape", OPTIONAL, &shape),
        FIELD_COUNT("tokens", OPTIONAL, &run->tokens, 1, 1 << 24),
        FIELD_COUNT("pieces", OPTIONAL, &run->pieces, 1, 1 << 16),
    };
    // The default depends on the kind, so the kind is read first.
    TRY(json_fields(object, fields + 1, 1, JSON_ENVELOPE, arena, err));
    run->recomputable = run->kind == LAYER_BLOCK || run->kind == LAYER_MOE;
    TRY(JSON_FIELDS(object, fields, arena, err));
    TRY(check_part(object, &measured, "measured", run->kind == LAYER_MEASURED, run, err));
    TRY(check_part(object, &experts, "moe", run->kind == LAYER_MOE, run, err));
    TRY(check_part(object, &pool, "memory", run->kind == LAYER_MEMORY, run, err));
    TRY(check_part(object, &projector, "projector", run->kind == LAYER_PROJECTOR, run, err));
    if (run->pieces == 1) run->pieces = 0;
    if (json_is_present(&shape)) {
        struct shape *own = TAKE(arena, 1, struct shape);
        TRY(shape_get(&shape, own, true, arena, err));
        run->shape = own;
    }
    if (run->kind == LAYER_PROJECTOR) return projector_get(&projector, &run->projector, arena, err);
    if (run->kind == LAYER_MOE) return experts_get(&experts, &run->experts, arena, err);
    if (run->kind == LAYER_MEMORY) return pool_get(&pool, &run->pool, arena, err);
    return run->kind == LAYER_MEASURED ? read_measured(&measured, &run->measured, arena, err) : OK;
}

enum status model_load(struct model *m, const char *path, struct arena *arena, struct error *err)
{
    struct json shape = {0}, runs = {0};
    *m = (struct model){0};
    TRY(document_read(&m->document, path, "plumbline.model", arena, err));
    struct json_field fields[] = {
        FIELD_TEXT("name", REQUIRED, &m->name),
        FIELD_OBJECT("shape", OPTIONAL, &shape),
        FIELD_ARRAY("runs", REQUIRED, &runs),
    };
    TRY(document_fields(&m->document, fields, ARRAY_LENGTH(fields), arena, err));
    m->has_shape = json_is_present(&shape);
    if (m->has_shape) TRY(shape_get(&shape, &m->shape, false, arena, err));
    int count = json_length(&runs);
    if (count > LAYERS_MAX)
        return json_refuse(&runs, err, "expected at most %d runs, found %d", LAYERS_MAX, count);
    m->run_count = count;
    m->runs = TAKE(arena, count, struct layer_run);
    for (int i = 0; i < count; i++) {
        struct json run = json_element(&runs, i, arena);
        TRY(read_run(&run, &m->runs[i], arena, err));
        m->layer_count += m->runs[i].count;
    }
    return model_check(m, err);
}

// ---- checking

static double measured_total(const struct measured_bytes *b)
{
    double sum = (double)b->weight_bytes + (double)b->gradient_bytes + (double)b->optimizer_bytes +
                 (double)b->boundary_bytes;
    for (int mode = 0; mode < 3; mode++)
        sum += (double)b->stash_bytes[mode] + (double)b->working_bytes[mode];
    return sum;
}

// One table: as many values, as wide, and frozen or not.
static enum status check_shared_pool(const struct model *m, int i, struct error *err)
{
    const struct layer_run *run = &m->runs[i], *first = model_shared_pool(m);
    if (run->kind != LAYER_MEMORY || !run->pool.shared ||
        (run->pool.values == first->pool.values && run->pool.width == first->pool.width &&
         run->frozen == first->frozen && run->weight_bits == first->weight_bits))
        return OK;
    return fail(err, BAD_INPUT,
                "%s: runs[%d].memory.shared: expected the values, width, frozen and weight_bits of "
                "run %s, with which it shares its pool",
                name_of(m), i, first->name);
}

static enum status check_run(const struct model *m, int i, double *bytes, struct error *err)
{
    const struct layer_run *run = &m->runs[i];
    const char *file = name_of(m);
    if (!run->name || !*run->name)
        return fail(err, BAD_INPUT, "%s: runs[%d].name: expected a name, found nothing", file, i);
    for (int k = 0; k < i; k++)
        if (!strcmp(m->runs[k].name, run->name))
            return fail(err, BAD_INPUT, "%s: runs[%d].name: \"%s\" names two runs", file, i,
                        run->name);
    if (run->count < 1 || run->count > LAYERS_MAX)
        return fail(err, BAD_INPUT, "%s: runs[%d].count: expected 1 to %d, found %d", file, i,
                    LAYERS_MAX, run->count);
    if (run->recomputable && run->kind != LAYER_BLOCK && run->kind != LAYER_MOE &&
        run->kind != LAYER_MEASURED)
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].recomputable: expected false for kind \"%s\", found true", file,
                    i, layer_kind_names[run->kind]);
    TRY(run_kind_check(run,
                       run->shape     ? run->shape
                       : m->has_shape ? &m->shape
                                      : NULL,
                       i, file, err));
    if (run->kind != LAYER_MEASURED) {
        if (!m->has_shape)
            return fail(err, BAD_INPUT, "%s: key \"shape\" is missing: runs[%d] is of kind \"%s\"",
                        file, i, layer_kind_names[run->kind]);
        return OK;
    }
    if (!run->measured.matrix_rows != !run->measured.matrix_columns)
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].measured: matrix_rows and matrix_columns: expected both or "
                    "neither to be 0",
                    file, i);
    *bytes += run->count * measured_total(&run->measured);
    if (*bytes > BYTES_SUM_MAX)
        return fail(err, BAD_INPUT,
                    "%s: runs[%d].measured: the bytes of all layers sum to more than 2^52", file,
                    i);
    return OK;
}

// Behind a block and before the head, which they need, and nothing between.
static enum status check_mtp(const struct model *m, struct error *err)
{
    const struct shape *s = &m->shape;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *r = &m->runs[i];
        bool before = i > 0 &&
                      (m->runs[i - 1].kind == LAYER_BLOCK || m->runs[i - 1].kind == LAYER_MOE),
             behind = i + 1 < m->run_count &&
                      (m->runs[i + 1].mtp || m->runs[i + 1].kind == LAYER_HEAD);
        if (!r->mtp) continue;
        const char *wrong =
            (r->kind != LAYER_BLOCK && r->kind != LAYER_MOE) || r->bidirectional ||
                    r->cross_attention || r->shared_weights || r->frozen || r->more_values ||
                    r->shape || r->tokens
                ? "expected a trained causal block or moe run, with parameters of its own alone"
            : !before || !behind
                ? "expected a run behind blocks, and behind it the head or another "
                  "such run"
            : m->runs[0].kind != LAYER_EMBEDDING || m->runs[0].frozen ||
                    m->runs[m->run_count - 1].frozen
                ? "expected a model that begins with a trained embedding and ends with a "
                  "trained head, which it shares"
            : s->positions || s->embedding_width
                ? "expected a model without learned positions and projected embeddings"
                : NULL;
        if (wrong) return fail(err, BAD_INPUT, "%s: runs[%d].mtp: %s", name_of(m), i, wrong);
    }
    return OK;
}

enum status model_check(const struct model *m, struct error *err)
{
    double bytes = 0;
    int64_t layers = 0;
    int embeddings = 0, heads = 0, first = 0;
    while (first < m->run_count - 1 && m->runs[first].tokens) first++;
    char shape[ERROR_TEXT_MAX];
    snprintf(shape, sizeof shape, "%s: shape", name_of(m));
    if (m->has_shape) TRY(shape_check(&m->shape, false, shape, err));
    if (m->run_count < 1)
        return fail(err, BAD_INPUT, "%s: runs: expected at least one run, found none", name_of(m));
    for (int i = 0; i < m->run_count; i++) {
        TRY(check_run(m, i, &bytes, err));
        TRY(check_shared_pool(m, i, err));
        layers += m->runs[i].count;
        embeddings += m->runs[i].kind == LAYER_EMBEDDING ? m->runs[i].count : 0;
        heads += m->runs[i].kind == LAYER_HEAD ? m->runs[i].count : 0;
    }
    if (layers > LAYERS_MAX || layers != m->layer_count)
        return fail(err, BAD_INPUT, "%s: runs: expected at most %d layers in all, found %lld",
                    name_of(m), LAYERS_MAX, (long long)layers);
    TRY(towers_check(m, name_of(m), err));
    if (m->has_shape && m->shape.tied_embeddings && embeddings && heads &&
        (m->runs[first].frozen != m->runs[m->run_count - 1].frozen ||
         m->runs[first].weight_bits != m->runs[m->run_count - 1].weight_bits))
        return fail(
            err, BAD_INPUT,
            "%s: runs: an embedding and a head that share a matrix are both frozen or neither, "
            "with the same weight_bits",
            name_of(m));
    if (embeddings > 1 || heads > 1 || (embeddings && m->runs[first].kind != LAYER_EMBEDDING) ||
        (heads && m->runs[m->run_count - 1].kind != LAYER_HEAD))
        return fail(err, BAD_INPUT,
                    "%s: runs: an embedding can only be the first layer (behind a tower the first "
                    "without tokens of its own), a head only the last, and each stands once",
                    name_of(m));
    return check_mtp(m, err);
}

// ---- writing

static void put_modes(struct json_writer *w, const char *key, const int64_t bytes[3])
{
    json_open_flat_object(w, key);
    for (int mode = 0; mode < 3; mode++) json_put_count(w, recompute_names[mode], bytes[mode]);
    json_close_object(w);
}

static void put_run(struct json_writer *w, const struct layer_run *run)
{
    const struct measured_bytes *b = &run->measured;
    bool measured = run->kind == LAYER_MEASURED, parts = measured || run->kind == LAYER_MOE ||
                                                         run->kind == LAYER_MEMORY ||
                                                         run->kind == LAYER_PROJECTOR || run->shape;
    if (parts) json_open_object(w, NULL);
    else json_open_flat_object(w, NULL);
    json_put_text(w, "name", run->name);
    json_put_text(w, "kind", layer_kind_names[run->kind]);
    json_put_count(w, "count", run->count);
    json_put_bool(w, "recomputable", run->recomputable);
    if (run->frozen) {
        json_put_bool(w, "frozen", true);
        json_put_count(w, "adapter_rank", run->adapter_rank);
        if (run->weight_bits) json_put_count(w, "weight_bits", run->weight_bits);
    }
    if (run->window) json_put_count(w, "window", run->window);
    if (run->chunk) json_put_count(w, "chunk", run->chunk);
    if (run->bidirectional) json_put_bool(w, "bidirectional", true);
    if (run->cross_attention) json_put_bool(w, "cross_attention", true);
    if (run->shared_weights) json_put_bool(w, "shared_weights", true);
    if (run->mtp) json_put_bool(w, "mtp", true);
    if (run->more_values) json_put_count(w, "more_values", run->more_values);
    if (run->tokens) json_put_count(w, "tokens", run->tokens);
    if (run->tokens) json_put_count(w, "pieces", run_pieces(run));
    if (run->shape) shape_put(w, run->shape, true);
    if (run->kind == LAYER_PROJECTOR) projector_put(w, &run->projector);
    if (run->kind == LAYER_MOE) experts_put(w, &run->experts);
    if (run->kind == LAYER_MEMORY) pool_put(w, &run->pool);
    if (measured) {
        json_open_object(w, "measured");
        json_put_count(w, "weight_bytes", b->weight_bytes);
        json_put_count(w, "gradient_bytes", b->gradient_bytes);
        json_put_count(w, "optimizer_bytes", b->optimizer_bytes);
        put_modes(w, "stash_bytes", b->stash_bytes);
        put_modes(w, "working_bytes", b->working_bytes);
        json_put_count(w, "boundary_bytes", b->boundary_bytes);
        json_put_count(w, "matrix_rows", b->matrix_rows);
        json_put_count(w, "matrix_columns", b->matrix_columns);
        json_close_object(w);
    }
    json_close_object(w);
}

enum status model_save(const struct model *m, const char *path, struct arena *arena,
                       struct error *err)
{
    struct json_writer w;
    document_begin(&w, "plumbline.model", m->document.sources, m->document.source_count, arena);
    json_put_text(&w, "name", m->name);
    if (m->has_shape) shape_put(&w, &m->shape, false);
    json_open_array(&w, "runs");
    for (int i = 0; i < m->run_count; i++) put_run(&w, &m->runs[i]);
    json_close_array(&w);
    return document_write(&w, path, err);
}

int model_run_of(const struct model *m, int layer)
{
    int run = 0;
    assert(layer >= 0 && layer < m->layer_count);
    while (layer >= m->runs[run].count) layer -= m->runs[run++].count;
    return run;
}

bool model_has_gradient(const struct model *m, int run)
{
    for (int i = 0; i <= run; i++)
        if (run_is_trained(&m->runs[i])) return true;
    return false;
}

bool model_shares_weights(const struct model *m)
{
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].shared_weights) return true;
    return false;
}

const struct layer_run *model_shared_pool(const struct model *m)
{
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].kind == LAYER_MEMORY && m->runs[i].pool.shared) return &m->runs[i];
    return NULL;
}

int model_mtp_depth(const struct model *m)
{
    int depth = 0;
    for (int i = 0; i < m->run_count; i++) depth += m->runs[i].mtp ? m->runs[i].count : 0;
    return depth;
}

bool model_crosses(const struct model *m)
{
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].cross_attention) return true;
    return false;
}

bool model_looks_ahead(const struct model *m)
{
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].bidirectional || m->runs[i].cross_attention || m->runs[i].tokens)
            return true;
    return false;
}

const char *model_peculiarity(const struct model *m)
{
    const struct shape *s = &m->shape;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *r = &m->runs[i];
        if (r->cross_attention) return "cross attention";
        if (r->bidirectional) return "bidirectional attention";
        if (r->window) return "windows of attention";
        if (r->chunk) return "chunks of attention";
        if (r->more_values) return "further parameters";
        if (r->shared_weights) return "layers that share weights";
        if (r->shape || r->tokens) return "layers of a shape or of tokens of their own";
        if (r->mtp) return "multi-token prediction";
        if (r->experts.shared_gate) return "a gate of the shared experts";
    }
    return s->kv_rank             ? "latent attention"
           : s->norms             ? "another number of norms than 2"
           : s->qk_norm           ? "norms of queries and keys"
           : s->plain_norms       ? "norms without parameters"
           : s->no_final_norm     ? "no norm before the logits"
           : s->parallel_residual ? "a parallel residual"
           : s->output_bias       ? "biases on some of the linear layers"
           : s->embedding_width   ? "projected embeddings"
                                  : NULL;
}
