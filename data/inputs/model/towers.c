// Runs with their own shape or tokens: towers before a language model, and the projectors into and
// out of them. docs/FORMULAS.md section 21 defines their costs.
#include "data/inputs/model/internal.h"

#define WIDTH_MAX 4194304   // 2^22
#define TOKENS_MAX 16777216 // 2^24
enum { PIECES_MAX = 65536 };

static const struct member projector_rows[] = {
    KEY_COUNT(projector_shape, inputs, REQUIRED, ALWAYS_WRITTEN, 1, WIDTH_MAX),
    KEY_COUNT(projector_shape, inner, OPTIONAL, ALWAYS_WRITTEN, 0, WIDTH_MAX),
    KEY_COUNT(projector_shape, outputs, REQUIRED, ALWAYS_WRITTEN, 1, WIDTH_MAX),
    KEY_BOOL(projector_shape, bias, OPTIONAL, ALWAYS_WRITTEN),
};
MEMBERS(projector, struct projector_shape, NULL, true, NULL);

int64_t run_tokens_out(const struct layer_run *r, int64_t sequence)
{
    return r->tokens ? r->tokens * run_pieces(r) : sequence;
}

int64_t run_width_out(const struct model *m, const struct layer_run *r)
{
    return r->kind == LAYER_PROJECTOR ? r->projector.outputs : run_shape(m, r)->hidden;
}

bool model_has_towers(const struct model *m) { return m->run_count && m->runs[0].tokens; }

bool model_ties_behind_tower(const struct model *m)
{
    const struct layer_run *last = &m->runs[m->run_count - 1];
    bool embeds = false;
    for (int i = 0; i < m->run_count; i++) embeds = embeds || m->runs[i].kind == LAYER_EMBEDDING;
    return model_has_towers(m) && embeds && m->shape.tied_embeddings && last->kind == LAYER_HEAD &&
           !last->frozen;
}

static enum status check_projector(const struct layer_run *r, int i, const char *file,
                                   struct error *err)
{
    const char *wrong = r->weight_bits      ? "weight_bits"
                        : r->shared_weights ? "shared_weights"
                        : r->shape          ? "shape"
                                            : NULL;
    if (wrong) return refuse(err, "%s: runs[%d].%s: a projector has none", file, i, wrong);
    if (!r->tokens)
        return refuse(
            err,
            "%s: runs[%d].tokens: a projector needs them: how many of a sequence's pieces "
            "it projects",
            file, i);
    char where[40];
    snprintf(where, sizeof where, "runs[%d].projector.", i);
    return members_check(&projector_members, &r->projector, file, where, err);
}

static enum status check_own(const struct layer_run *r, int i, const char *file, struct error *err)
{
    char shape[ERROR_TEXT_MAX];
    if (r->kind == LAYER_PROJECTOR) TRY(check_projector(r, i, file, err));
    if (!r->shape && !r->tokens)
        return r->pieces ? refuse(err, "%s: runs[%d].pieces: requires tokens", file, i) : OK;
    bool shaped = r->kind == LAYER_MOE && !r->tokens;
    if (r->kind != LAYER_BLOCK && r->kind != LAYER_PROJECTOR && !shaped)
        return refuse(
            err,
            "%s: runs[%d].%s: expected none for kind \"%s\": only blocks%s and projectors "
            "may have it",
            file, i, r->tokens ? "tokens" : "shape", layer_kind_names[r->kind],
            r->tokens ? "" : ", mixtures");
    if (r->tokens < 0 || r->tokens > TOKENS_MAX || r->pieces < 0 || r->pieces > PIECES_MAX)
        return refuse(err, "%s: runs[%d].tokens: tokens or pieces out of range", file, i);
    snprintf(shape, sizeof shape, "%s: runs[%d].shape", file, i);
    return r->shape ? shape_check(r->shape, true, shape, err) : OK;
}

// A run's input is as wide as the output of the run before it; a projector may read several of its
// tokens as one. *width: 0 if it is not known.
static enum status check_width(const struct model *m, int i, int64_t *width, const char *file,
                               struct error *err)
{
    const struct layer_run *r = &m->runs[i];
    bool projector = r->kind == LAYER_PROJECTOR;
    int64_t found = projector ? r->projector.inputs : run_shape(m, r)->hidden;
    if (r->kind == LAYER_MEASURED) return *width = 0, OK;
    if (*width && (projector ? found % *width : found != *width))
        return refuse(err,
                      "%s: runs[%d].%s: expected %s%lld, the width of run %s before it, found %lld "
                      "(a model has one tower)",
                      file, i, projector ? "projector.inputs" : "shape.hidden",
                      projector ? "a multiple of " : "", (long long)*width, m->runs[i - 1].name,
                      (long long)found);
    *width = run_width_out(m, r);
    return OK;
}

enum status towers_check(const struct model *m, const char *file, struct error *err)
{
    int64_t width = 0;
    for (int i = 0; i < m->run_count; i++) {
        const struct layer_run *r = &m->runs[i];
        TRY(check_own(r, i, file, err));
        TRY(check_width(m, i, &width, file, err));
        if (i && r->tokens && !m->runs[i - 1].tokens)
            return refuse(err,
                          "%s: runs[%d].tokens: runs with separate tokens come before all others",
                          file, i);
        if (r->cross_attention && (model_has_towers(m) || r->shape))
            return refuse(err,
                          "%s: runs[%d].cross_attention: expected none in a run with a separate "
                          "shape, and none after a tower",
                          file, i);
    }
    return OK;
}
