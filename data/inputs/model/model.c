// Models: load, check, save. What cannot be checked key by key (unique names, shapes that some run
// needs, sums that must be exact) is in model_check, which also serves models built in memory.
// docs/FORMATS.md explains every key.
#include "data/inputs/model/model.h"

#include <assert.h>
#include <string.h>

#include "data/inputs/model/internal.h"

enum { BY_DEGREES_MAX = 256, MEASURED_DEGREE_MAX = 65536 };
#define BYTES_MAX 1125899906842624.0 // 2^50: of one layer on one device
#define BYTES_SUM_MAX                                                                              \
    4503599627370496.0 // 2^52: of a whole model, so that sums are exact everywhere

#define MORE_VALUES_MAX 1099511627776.0 // 2^40

static const char *name_of(const struct model *m) { return document_name(&m->document, "model"); }

// ---- reading and writing

// Bytes by recompute mode: {"none", "selective", "full"}; a mode that is not stated is like none.
struct by_mode {
    int64_t none, selective, full;
};

static const struct member by_mode_rows[] = {
    KEY_COUNT(by_mode, none, REQUIRED, ALWAYS_WRITTEN, 0, BYTES_MAX),
    KEY_COUNT(by_mode, selective, OPTIONAL, ALWAYS_WRITTEN, 0, BYTES_MAX),
    KEY_COUNT(by_mode, full, OPTIONAL, ALWAYS_WRITTEN, 0, BYTES_MAX),
};
static MEMBERS(by_mode, struct by_mode, NULL, true, NULL);

GET_MEMBER(get_modes)
{
    struct by_mode by = {0, -1, -1};
    int64_t *bytes = to;
    if (!json_is_present(value)) return OK;
    TRY(members_read(value, &by_mode_members, &by, context, arena, err));
    bytes[0] = by.none;
    bytes[1] = by.selective < 0 ? by.none : by.selective;
    bytes[2] = by.full < 0 ? by.none : by.full;
    return OK;
}

PUT_MEMBER(put_modes)
{
    const int64_t *bytes = from;
    struct by_mode by = {bytes[0], bytes[1], bytes[2]};
    members_write(w, key, &by_mode_members, &by, context);
}

#define KEY_MODES(member, need)                                                                    \
    KEY_ROW(#member, JSON_OBJECT, need, ALWAYS_WRITTEN, offsetof(struct measured_bytes, member),   \
            0, 0, NULL, &by_mode_members, 0, 0, JSON_SKIP, get_modes, put_modes)
#define MEASURED_ROWS                                                                              \
    KEY_COUNT(measured_bytes, weight_bytes, REQUIRED, ALWAYS_WRITTEN, 0, BYTES_MAX),               \
        KEY_COUNT(measured_bytes, gradient_bytes, REQUIRED, ALWAYS_WRITTEN, 0, BYTES_MAX),         \
        KEY_COUNT(measured_bytes, optimizer_bytes, REQUIRED, ALWAYS_WRITTEN, 0, BYTES_MAX),        \
        KEY_MODES(stash_bytes, REQUIRED), KEY_MODES(working_bytes, OPTIONAL),                      \
        KEY_COUNT(measured_bytes, boundary_bytes, REQUIRED, ALWAYS_WRITTEN, 0, BYTES_MAX),         \
        KEY_COUNT(measured_bytes, entry_bytes, OPTIONAL, IF_SET, 1, BYTES_MAX),                    \
        KEY_COUNT(measured_bytes, matrix_rows, OPTIONAL, ALWAYS_WRITTEN, 0, 1 << 26),              \
        KEY_COUNT(measured_bytes, matrix_columns, OPTIONAL, ALWAYS_WRITTEN, 0, 1 << 26)
static const struct member by_degrees_rows[] = {
    KEY_INT(measured_bytes, tensor, OPTIONAL, IF_SET, 1, MEASURED_DEGREE_MAX),
    KEY_INT(measured_bytes, context, OPTIONAL, IF_SET, 1, MEASURED_DEGREE_MAX),
    KEY_INT(measured_bytes, data, OPTIONAL, IF_SET, 1, MEASURED_DEGREE_MAX),
    KEY_INT(measured_bytes, micro_batch, OPTIONAL, IF_SET, 1, MEASURED_DEGREE_MAX),
    KEY_INT(measured_bytes, zero, OPTIONAL, IF_SET, 1, 3),
    MEASURED_ROWS,
};
static MEMBERS(by_degrees, struct measured_bytes, NULL, false, NULL);
static const struct member measured_rows[] = {
    MEASURED_ROWS,
    KEY_LIST(measured_bytes, by_degrees, by_degrees_count, OPTIONAL, IF_SET, BY_DEGREES_MAX,
             &by_degrees_members),
};
static MEMBERS(measured, struct measured_bytes, NULL, false, NULL);

GET_MEMBER(get_shape)
{
    if (!json_is_present(value)) return OK;
    struct shape *own = TAKE(arena, 1, struct shape);
    *(const struct shape **)to = own;
    return members_read(value, &own_shape_members, own, context, arena, err);
}

PUT_MEMBER(put_shape)
{
    const struct shape *own = *(const struct shape *const *)from;
    if (own) shape_put(w, key, own, &own_shape_members);
}

static enum status finish_run(const struct json *object, void *to, const void *context,
                              struct arena *arena, struct error *err);

static const struct member run_rows[] = {
    KEY_TEXT(layer_run, name, REQUIRED),
    KEY_NAME(layer_run, kind, REQUIRED, ALWAYS_WRITTEN, layer_kind_names),
    KEY_INT(layer_run, count, OPTIONAL, ALWAYS_WRITTEN, 1, LAYERS_MAX),
    KEY_BOOL(layer_run, recomputable, OPTIONAL, ALWAYS_WRITTEN),
    KEY_BOOL(layer_run, frozen, OPTIONAL, IF_SET),
    KEY_INT(layer_run, adapter_rank, OPTIONAL, IF_STATED, 0, 65536),
    KEY_SET(layer_run, adapter_modules, OPTIONAL, IF_SET, adapter_module_names),
    KEY_BOOL(layer_run, adapter_dropout, OPTIONAL, IF_SET),
    KEY_INT(layer_run, weight_bits, OPTIONAL, IF_SET, 1, 16),
    KEY_COUNT(layer_run, window, OPTIONAL, IF_SET, 1, 1 << 30),
    KEY_COUNT(layer_run, chunk, OPTIONAL, IF_SET, 1, 1 << 30),
    KEY_BOOL(layer_run, linear, OPTIONAL, IF_SET),
    KEY_BOOL(layer_run, linear_beside, OPTIONAL, IF_SET),
    KEY_UNLESS("attention", layer_run, no_attention),
    KEY_UNLESS("feed_forward", layer_run, no_feed_forward),
    KEY_BOOL(layer_run, bidirectional, OPTIONAL, IF_SET),
    KEY_BOOL(layer_run, cross_attention, OPTIONAL, IF_SET),
    KEY_BOOL(layer_run, shared_weights, OPTIONAL, IF_SET),
    KEY_BOOL(layer_run, mtp, OPTIONAL, IF_SET),
    KEY_BOOL(layer_run, vocabulary, OPTIONAL, IF_SET),
    KEY_COUNT(layer_run, more_values, OPTIONAL, IF_SET, 0, MORE_VALUES_MAX),
    KEY_COUNT(layer_run, more_products, OPTIONAL, IF_SET, 0, MORE_VALUES_MAX),
    KEY_COUNT(layer_run, tokens, OPTIONAL, IF_SET, 1, 1 << 24),
    KEY_COUNT(layer_run, pieces, OPTIONAL, IF_SET, 1, 1 << 16),
    KEY_ROW("shape", JSON_OBJECT, OPTIONAL, ALWAYS_WRITTEN, offsetof(struct layer_run, shape), 0, 0,
            NULL, &own_shape_members, 0, 0, JSON_SKIP, get_shape, put_shape),
    KEY_OBJECT("projector", layer_run, projector, OPTIONAL, NOT_BY_TABLE, &projector_members),
    KEY_OBJECT("moe", layer_run, experts, OPTIONAL, NOT_BY_TABLE, &experts_members),
    KEY_OBJECT("memory", layer_run, pool, OPTIONAL, NOT_BY_TABLE, &pool_members),
    KEY_OBJECT("measured", layer_run, measured, OPTIONAL, NOT_BY_TABLE, &measured_members),
};
static const struct layer_run one_layer = {.count = 1};
static MEMBERS(run, struct layer_run, &one_layer, false, finish_run);

// The last rows: the object that only one kind has, which needs it; no other kind may have it.
static const enum layer_kind part_kinds[] = {LAYER_PROJECTOR, LAYER_MOE, LAYER_MEMORY,
                                             LAYER_MEASURED};
enum { PARTS = ARRAY_LENGTH(part_kinds), FIRST_PART = ARRAY_LENGTH(run_rows) - PARTS };

static enum status finish_run(const struct json *object, void *to, const void *context,
                              struct arena *arena, struct error *err)
{
    struct layer_run *run = to;
    (void)context, (void)arena;
    for (int i = 0; i < PARTS; i++) {
        const char *key = run_rows[FIRST_PART + i].key;
        bool there = json_has(object, key);
        if (there != (run->kind == part_kinds[i]))
            return json_refuse(object, err,
                               there ? "key \"%s\" does not belong to layers of kind \"%s\""
                                     : "key \"%s\" is missing: a layer of kind \"%s\" needs it",
                               key, layer_kind_names[run->kind]);
    }
    if (!json_has(object, "recomputable"))
        run->recomputable = run->kind == LAYER_BLOCK || run->kind == LAYER_MOE;
    if (run->pieces == 1) run->pieces = 0;
    return OK;
}

static void put_run(struct json_writer *w, const struct layer_run *run)
{
    struct layer_run written = *run;
    bool parts = run->shape;
    written.pieces = run->tokens ? run_pieces(run) : 0;
    if (!run->frozen) written.adapter_rank = -1, written.weight_bits = 0;
    if (!(run->experts.imbalance > 0)) written.experts.imbalance = 1;
    for (int i = 0; i < PARTS; i++) parts = parts || run->kind == part_kinds[i];
    if (parts) json_open_object(w, NULL);
    else json_open_flat_object(w, NULL);
    members_put(w, &run_members, &written, NULL);
    for (int i = 0; i < PARTS; i++) {
        const struct member *row = &run_rows[FIRST_PART + i];
        if (run->kind == part_kinds[i])
            members_write(w, row->key, row->of, (const char *)&written + row->at, NULL);
    }
    json_close_object(w);
}

PUT_MEMBER(put_model_shape)
{
    if (((const struct model *)context)->has_shape) shape_put(w, key, from, &shape_members);
}

PUT_MEMBER(put_runs)
{
    const struct model *m = context;
    json_open_array(w, key);
    for (int i = 0; i < m->run_count; i++) put_run(w, &m->runs[i]);
    json_close_array(w);
}

GET_MEMBER(finish_model)
{
    struct model *m = to;
    m->has_shape = json_has(value, "shape");
    for (int i = 0; i < m->run_count; i++) m->layer_count += m->runs[i].count;
    return OK;
}

static const struct member model_rows[] = {
    KEY_TEXT(model, name, REQUIRED),
    KEY_ROW("shape", JSON_OBJECT, OPTIONAL, ALWAYS_WRITTEN, offsetof(struct model, shape), 0, 0,
            NULL, &shape_members, 0, 0, JSON_SKIP, NULL, put_model_shape),
    KEY_ROW("runs", JSON_ARRAY, REQUIRED, ALWAYS_WRITTEN, offsetof(struct model, runs), 0, 0, NULL,
            &run_members, offsetof(struct model, run_count), LAYERS_MAX, JSON_SKIP, NULL, put_runs),
};
MEMBERS(model, struct model, NULL, false, finish_model);

enum status model_load(struct model *m, const char *path, struct arena *arena, struct error *err)
{
    *m = (struct model){0};
    TRY(document_load(&m->document, path, "plumbline.model", &model_members, m, m, arena, err));
    return model_check(m, err);
}

enum status model_save(const struct model *m, const char *path, struct arena *arena,
                       struct error *err)
{
    return document_save(&m->document, "plumbline.model", &model_members, m, m, path, arena, err);
}

// ---- checking

static double measured_total(const struct measured_bytes *b)
{
    double sum = (double)b->weight_bytes + (double)b->gradient_bytes + (double)b->optimizer_bytes +
                 (double)b->boundary_bytes + (double)b->entry_bytes;
    for (int mode = 0; mode < 3; mode++)
        sum += (double)b->stash_bytes[mode] + (double)b->working_bytes[mode];
    return sum;
}

// One table: the same number of values, the same width, and frozen or not.
static enum status check_shared_pool(const struct model *m, int i, struct error *err)
{
    const struct layer_run *run = &m->runs[i], *first = model_shared_pool(m);
    if (run->kind != LAYER_MEMORY || !run->pool.shared ||
        (run->pool.values == first->pool.values && run->pool.width == first->pool.width &&
         run->frozen == first->frozen && run->weight_bits == first->weight_bits))
        return OK;
    return refuse(err,
                  "runs[%d].memory.shared: expected the values, width, frozen and weight_bits of "
                  "run %s, with which it shares its pool",
                  i, first->name);
}

static enum status check_run(const struct model *m, int i, double *bytes, struct error *err)
{
    const struct layer_run *run = &m->runs[i];
    if (!run->name || !*run->name)
        return refuse(err, "runs[%d].name: expected a name, found nothing", i);
    for (int k = 0; k < i; k++)
        if (!strcmp(m->runs[k].name, run->name))
            return refuse(err, "runs[%d].name: \"%s\" names two runs", i, run->name);
    if (run->count < 1 || run->count > LAYERS_MAX)
        return refuse(err, "runs[%d].count: expected 1 to %d, found %d", i, LAYERS_MAX, run->count);
    if (run->recomputable && run->kind != LAYER_BLOCK && run->kind != LAYER_MOE &&
        run->kind != LAYER_MEASURED)
        return refuse(err, "runs[%d].recomputable: expected false for kind \"%s\", found true", i,
                      layer_kind_names[run->kind]);
    const struct shape *s = run->shape ? run->shape : m->has_shape ? &m->shape : NULL;
    TRY(fail_within(err, run_kind_check(run, s, err), "runs[%d].", i));
    if (run->kind != LAYER_MEASURED) {
        if (!m->has_shape)
            return refuse(err, "key \"shape\" is missing: runs[%d] is of kind \"%s\"", i,
                          layer_kind_names[run->kind]);
        return OK;
    }
    const struct measured_bytes *own = &run->measured;
    double most = 0;
    for (int k = -1; k < own->by_degrees_count; k++) {
        const struct measured_bytes *b = k < 0 ? own : &own->by_degrees[k];
        if (!b->matrix_rows != !b->matrix_columns)
            return refuse(err,
                          "runs[%d].measured: matrix_rows and matrix_columns: expected both or "
                          "neither to be 0",
                          i);
        if (measured_total(b) > most) most = measured_total(b);
    }
    *bytes += run->count * most;
    if (*bytes > BYTES_SUM_MAX)
        return refuse(err, "runs[%d].measured: the bytes of all layers sum to more than 2^52", i);
    return OK;
}

static bool attends(const struct layer_run *r)
{
    return (r->kind == LAYER_BLOCK || r->kind == LAYER_MOE) && !r->no_attention && !r->linear;
}

// Keys that are reused are those of a layer before.
static enum status check_reused(const struct model *m, int i, struct error *err)
{
    const struct layer_run *r = &m->runs[i];
    if (!attends(r) || !run_shape(m, r)->keys_reused) return OK;
    for (int k = 0; k < i; k++) {
        const struct layer_run *before = &m->runs[k];
        bool makes = attends(before) ? !run_shape(m, before)->keys_reused
                                     : before->kind == LAYER_MEASURED;
        if (makes && before->tokens == r->tokens) return OK;
    }
    return refuse(err,
                  "runs[%d]: shape.keys_reused: expected a run before it whose attention makes "
                  "keys and values of its own, found none",
                  i);
}

// After a block and directly before the head; both are required.
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
                    r->cross_attention || r->shared_weights || r->frozen || r->shape || r->tokens
                ? "expected a trained causal block or moe run, that shares no parameters"
            : !before || !behind
                ? "expected a run after blocks, followed by the head or another such run"
            : m->runs[0].kind != LAYER_EMBEDDING || m->runs[0].frozen ||
                    m->runs[m->run_count - 1].frozen
                ? "expected a model that begins with a trained embedding and ends with a trained "
                  "head, which it shares"
            : s->positions || s->embedding_width
                ? "expected a model without learned positions and projected embeddings"
                : NULL;
        if (wrong) return refuse(err, "runs[%d].mtp: %s", i, wrong);
    }
    return OK;
}

static enum status check(const struct model *m, struct error *err)
{
    double bytes = 0;
    int64_t layers = 0;
    int embeddings = 0, heads = 0, first = 0;
    while (first < m->run_count - 1 && m->runs[first].tokens) first++;
    if (m->has_shape) TRY(fail_within(err, shape_check(&m->shape, false, err), "shape."));
    if (m->run_count < 1) return refuse(err, "runs: expected at least one run, found none");
    for (int i = 0; i < m->run_count; i++) {
        TRY(check_run(m, i, &bytes, err));
        TRY(check_shared_pool(m, i, err));
        TRY(check_reused(m, i, err));
        layers += m->runs[i].count;
        embeddings += m->runs[i].kind == LAYER_EMBEDDING ? m->runs[i].count : 0;
        heads += m->runs[i].kind == LAYER_HEAD ? m->runs[i].count : 0;
    }
    if (layers > LAYERS_MAX || layers != m->layer_count)
        return refuse(err, "runs: expected at most %d layers in all, found %lld", LAYERS_MAX,
                      (long long)layers);
    TRY(towers_check(m, err));
    if (m->has_shape && m->shape.tied_embeddings && embeddings && heads &&
        (m->runs[first].frozen != m->runs[m->run_count - 1].frozen ||
         m->runs[first].weight_bits != m->runs[m->run_count - 1].weight_bits))
        return refuse(err, "runs: an embedding and a head that share a matrix are both frozen or "
                           "neither, with the same weight_bits");
    if (embeddings > 1 || heads > 1 || (embeddings && m->runs[first].kind != LAYER_EMBEDDING) ||
        (heads && m->runs[m->run_count - 1].kind != LAYER_HEAD))
        return refuse(err,
                      "runs: an embedding can only be the first layer (behind a tower the first "
                      "without tokens of its own), a head only the last, and each appears once");
    return check_mtp(m, err);
}

enum status model_check(const struct model *m, struct error *err)
{
    return fail_within(err, check(m, err), "%s: ", name_of(m));
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

enum pool_span model_pool_span(const struct model *m)
{
    enum pool_span all = POOL_NONE;
    for (int i = 0; i < m->run_count; i++) {
        if (m->runs[i].kind != LAYER_MEMORY) continue;
        enum pool_span own = m->runs[i].pool.shared ? POOL_OF_PIPELINE : POOL_OF_STAGE;
        if (all && all != own) return POOL_NONE;
        all = own;
    }
    return all;
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

// What a plain block does not have: a member of a run or of the shape that is not 0.
static const struct peculiarity {
    const char *text;
    bool of_run, gridded; // gridded: a grid of tensor ranks covers it
    size_t at, size;
} peculiarities[] = {
#define PECULIAR(of_run, gridded, s, member, text)                                                 \
    {                                                                                              \
        text, of_run, gridded, offsetof(struct s, member), sizeof(((struct s *)0)->member)         \
    }
    PECULIAR(true, false, layer_run, cross_attention, "cross attention"),
    PECULIAR(true, false, layer_run, linear, "linear attention"),
    PECULIAR(true, false, layer_run, linear_beside, "linear attention beside attention"),
    PECULIAR(true, false, layer_run, no_attention, "layers without attention"),
    PECULIAR(true, false, layer_run, no_feed_forward, "layers without a feed-forward part"),
    PECULIAR(true, true, layer_run, bidirectional, "bidirectional attention"),
    PECULIAR(true, true, layer_run, window, "windows of attention"),
    PECULIAR(true, true, layer_run, chunk, "chunks of attention"),
    PECULIAR(true, true, layer_run, more_values, "further parameters"),
    PECULIAR(true, false, layer_run, shared_weights, "layers that share weights"),
    PECULIAR(true, false, layer_run, shape, "layers with a separate shape"),
    PECULIAR(true, false, layer_run, tokens, "layers with separate tokens (towers)"),
    PECULIAR(true, false, layer_run, mtp, "multi-token prediction"),
    PECULIAR(true, true, layer_run, experts.shared_gate, "a gate of the shared experts"),
    PECULIAR(false, false, shape, kv_rank, "latent attention (shape.kv_rank)"),
    PECULIAR(false, true, shape, norms, "a number of norms other than 2"),
    PECULIAR(false, false, shape, value_width, "values of another width (shape.value_width)"),
    PECULIAR(false, false, shape, index_heads, "sparse attention (shape.index_heads)"),
    PECULIAR(false, false, shape, keys_as_values, "values that are keys (shape.keys_as_values)"),
    PECULIAR(false, false, shape, keys_reused, "keys of a layer before (shape.keys_reused)"),
    PECULIAR(false, false, shape, qk_norm, "norms of queries and keys (shape.qk_norm)"),
    PECULIAR(false, false, shape, gated_attention, "gated attention"),
    PECULIAR(false, true, shape, plain_norms, "norms without parameters"),
    PECULIAR(false, true, shape, no_final_norm, "no norm before the logits"),
    PECULIAR(false, true, shape, parallel_residual, "a parallel residual"),
    PECULIAR(false, true, shape, output_bias, "biases on some of the linear layers"),
    PECULIAR(false, false, shape, embedding_width, "projected embeddings (shape.embedding_width)"),
};

const char *model_peculiarity(const struct model *m, bool of_grids)
{
    static const char zeros[16];
    for (size_t i = 0; i < ARRAY_LENGTH(peculiarities); i++) {
        const struct peculiarity *p = &peculiarities[i];
        assert(p->size <= sizeof zeros);
        for (int r = 0; r < (p->of_run ? m->run_count : 1) && !(of_grids && p->gridded); r++) {
            const char *of = p->of_run ? (const char *)&m->runs[r] : (const char *)&m->shape;
            if (memcmp(of + p->at, zeros, p->size)) return p->text;
        }
    }
    return NULL;
}
