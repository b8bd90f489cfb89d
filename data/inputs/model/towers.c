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

static enum status check_projector(const struct layer_run *r, struct error *err)
{
    const char *wrong = r->weight_bits      ? "weight_bits"
                        : r->shared_weights ? "shared_weights"
                        : r->shape          ? "shape"
                                            : NULL;
    if (wrong) return refuse(err, "%s: a projector has none", wrong);
    if (!r->tokens)
        return refuse(
            err, "tokens: a projector needs them: how many of a sequence's pieces it projects");
    return members_check(&projector_members, &r->projector, "projector.", err);
}

static enum status check_own(const struct layer_run *r, struct error *err)
{
    if (r->kind == LAYER_PROJECTOR) TRY(check_projector(r, err));
    if (!r->shape && !r->tokens) return r->pieces ? refuse(err, "pieces: requires tokens") : OK;
    bool shaped = r->kind == LAYER_MOE && !r->tokens;
    if (r->kind != LAYER_BLOCK && r->kind != LAYER_PROJECTOR && !shaped)
        return refuse(err,
                      "%s: expected none for kind \"%s\": only blocks%s and projectors may have it",
                      r->tokens ? "tokens" : "shape", layer_kind_names[r->kind],
                      r->tokens ? "" : ", mixtures");
    if (r->tokens < 0 || r->tokens > TOKENS_MAX || r->pieces < 0 || r->pieces > PIECES_MAX)
        return refuse(err, "tokens: tokens or pieces out of range");
    return r->shape ? fail_within(err, shape_check(r->shape, true, err), "shape.") : OK;
}

// A run's input is as wide as the output of the run before it; a projector may read several of its
// tokens as one. *width: 0 if it is not known.
static enum status check_width(const struct model *m, int i, int64_t *width, struct error *err)
{
    const struct layer_run *r = &m->runs[i];
    bool projector = r->kind == LAYER_PROJECTOR;
    int64_t found = projector ? r->projector.inputs : run_shape(m, r)->hidden;
    if (r->kind == LAYER_MEASURED) return *width = 0, OK;
    if (*width && (projector ? found % *width : found != *width))
        return refuse(err,
                      "%s: expected %s%lld, the width of run %s before it, found %lld (a model has "
                      "one tower)",
                      projector ? "projector.inputs" : "shape.hidden",
                      projector ? "a multiple of " : "", (long long)*width, m->runs[i - 1].name,
                      (long long)found);
    *width = run_width_out(m, r);
    return OK;
}

static enum status check_run(const struct model *m, int i, int64_t *width, struct error *err)
{
    const struct layer_run *r = &m->runs[i];
    TRY(check_own(r, err));
    TRY(check_width(m, i, width, err));
    if (i && r->tokens && !m->runs[i - 1].tokens)
        return refuse(err, "tokens: runs with separate tokens come before all others");
    if (r->cross_attention && (model_has_towers(m) || r->shape))
        return refuse(err, "cross_attention: expected none in a run with a separate shape, and "
                           "none after a tower");
    return OK;
}

enum status towers_check(const struct model *m, struct error *err)
{
    int64_t width = 0;
    for (int i = 0; i < m->run_count; i++)
        TRY(fail_within(err, check_run(m, i, &width, err), "runs[%d].", i));
    return OK;
}
