// Lists and shapes in words.
#include "measure/take.h"

#include <stdlib.h>
#include <string.h>

#include "data/base/shipped.h"

enum { SIZE_MAX_PER_AXIS = 1 << 24, SHAPES_MAX = 16, DEGREE_MAX = 65536 };

static const struct shape default_shape = {
    .hidden = 1600,
    .ffn = 6400,
    .heads = 25,
    .kv_heads = 25,
    .head_width = 64,
    .vocabulary = 50257,
    .positions = 1024,
    .qkv_bias = true,
    .linear_bias = true,
    .dropout = true,
    .tied_embeddings = true,
};

// "hidden=4096,ffn=14336,heads=32,kv_heads=8,vocabulary=128256,gated=1"; what is not named follows
// from the rest.
static enum status read_shape(struct shape *s, char *rest, struct error *err)
{
    int64_t gated = 0, rms = 0;
    *s = (struct shape){0};
    const struct {
        const char *key;
        int64_t *to;
    } keys[] = {
        {"hidden", &s->hidden},
        {"ffn", &s->ffn},
        {"heads", &s->heads},
        {"kv_heads", &s->kv_heads},
        {"head_width", &s->head_width},
        {"vocabulary", &s->vocabulary},
        {"positions", &s->positions},
        {"gated", &gated},
        {"rms", &rms},
    };
    char *word;
    while ((word = strtok_r(rest, ",", &rest))) {
        char *equals = strchr(word, '='), *end = NULL;
        size_t i = 0;
        if (equals) *equals++ = '\0';
        while (i < ARRAY_LENGTH(keys) && strcmp(keys[i].key, word)) i++;
        long long value = equals ? strtoll(equals, &end, 10) : -1;
        if (i == ARRAY_LENGTH(keys) || !equals || end == equals || *end || value < 0 ||
            value > SIZE_MAX_PER_AXIS)
            return refuse(
                err,
                "--shape: expected hidden=N,heads=N and any of ffn, kv_heads, head_width, "
                "vocabulary, positions, "
                "gated, rms (0 or 1), each a whole number up to %d, found '%s%s%s'",
                SIZE_MAX_PER_AXIS, word, equals ? "=" : "", equals ? equals : "");
        *keys[i].to = value;
    }
    if (!s->hidden || !s->heads || (!s->head_width && s->hidden % s->heads))
        return refuse(
            err, "--shape: expected hidden and heads, and heads to divide hidden if head_width "
                 "is not given");
    if (!s->ffn) s->ffn = 4 * s->hidden;
    if (!s->kv_heads) s->kv_heads = s->heads;
    if (!s->head_width) s->head_width = s->hidden / s->heads;
    if (!s->vocabulary) s->vocabulary = default_shape.vocabulary;
    if (s->heads % s->kv_heads)
        return refuse(err, "--shape: expected kv_heads to divide heads, found %lld and %lld",
                      (long long)s->kv_heads, (long long)s->heads);
    s->gated_ffn = gated != 0;
    s->rms_norm = rms != 0;
    return OK;
}

static enum status read_shapes(struct cells_request *request, const struct request_settings *s,
                               struct arena *arena, struct error *err)
{
    struct shape *shapes = TAKE(arena, SHAPES_MAX, struct shape);
    request->shapes = shapes;
    request->shape_count = 1;
    shapes[0] = default_shape;
    if (s->model) shapes[0] = s->loaded.shape;
    if (!s->shapes) return OK;
    char *rest = arena_copy_text(arena, s->shapes), *words;
    for (request->shape_count = 0; (words = strtok_r(rest, ";", &rest)); request->shape_count++) {
        if (request->shape_count == SHAPES_MAX)
            return refuse(err, "--shape: expected at most %d shapes", SHAPES_MAX);
        TRY(read_shape(&shapes[request->shape_count], words, err));
    }
    return request->shape_count ? OK : refuse(err, "--shape: expected a shape, found nothing");
}

static enum status read_list(struct cells_list *list, const char *option, const char *text,
                             struct arena *arena, struct error *err)
{
    char *rest = arena_copy_text(arena, text), *word;
    list->count = 0;
    while ((word = strtok_r(rest, ",", &rest))) {
        char *end;
        long long value = strtoll(word, &end, 10);
        if (*end || end == word || value < 1 || value > DEGREE_MAX || list->count == CELLS_LIST_MAX)
            return refuse(err,
                          "%s: expected at most %d whole numbers from 1 to %d with commas between, "
                          "found '%s'",
                          option, CELLS_LIST_MAX, DEGREE_MAX, text);
        list->values[list->count++] = value;
    }
    return list->count ? OK : refuse(err, "%s: expected a number, found nothing", option);
}

static enum status read_recompute(bool recompute[PASS_COUNT], const char *text, struct arena *arena,
                                  struct error *err)
{
    char *rest = arena_copy_text(arena, text), *word;
    while ((word = strtok_r(rest, ",", &rest))) {
        if (!strcmp(word, recompute_names[RECOMPUTE_SELECTIVE]))
            recompute[PASS_BACKWARD_SELECTIVE] = true;
        else if (!strcmp(word, recompute_names[RECOMPUTE_FULL]))
            recompute[PASS_BACKWARD_FULL] = true;
        else if (strcmp(word, recompute_names[RECOMPUTE_NONE]))
            return refuse(err, "--recompute: expected any of none, selective and full, found '%s'",
                          word);
    }
    return OK;
}

// One rank must have a whole number of heads and an equal part of the rest, as the planner also
// requires.
static enum status check_degrees(const struct cells_request *r, const char *where,
                                 struct error *err)
{
    for (int s = 0; s < r->shape_count; s++) {
        if (r->shapes[s].head_width > HEAD_WIDTH_MAX)
            return refuse(err, "%s: a head may be at most %d wide, found %lld", where,
                          HEAD_WIDTH_MAX, (long long)r->shapes[s].head_width);
        for (int i = 0; i < r->tensors.count; i++)
            if (r->shapes[s].heads % r->tensors.values[i] ||
                r->shapes[s].ffn < r->tensors.values[i])
                return refuse(err, "--tensor: %lld does not divide the %lld heads of %s",
                              (long long)r->tensors.values[i], (long long)r->shapes[s].heads,
                              where);
    }
    for (int i = 0; i < r->contexts.count; i++)
        if (r->sequence % r->contexts.values[i])
            return refuse(err, "--context: %lld does not divide the sequence of %lld",
                          (long long)r->contexts.values[i], (long long)r->sequence);
    return OK;
}

const char *const gradient_names[] = {"fp32", "same", NULL};

enum status request_read(struct cells_request *r, struct request_settings *s, struct arena *arena,
                         struct error *err)
{
    if (s->model && s->shapes) return refuse(err, "--model and --shape: expected one of them");
    if (s->model) {
        const char *peculiarity;
        TRY(shipped_find(&s->model, "models", s->model, arena, err));
        TRY(model_load(&s->loaded, s->model, arena, err));
        if (!s->loaded.has_shape)
            return refuse(
                err, "%s: the model has no shape, only measured layers: there is nothing to time",
                s->model);
        peculiarity = model_peculiarity(&s->loaded, false);
        if (peculiarity)
            return refuse(err,
                          "%s: its layers have %s, which the measuring program does not time: "
                          "time a plain shape of its sizes with --shape",
                          s->model, peculiarity);
    }
    TRY(read_shapes(r, s, arena, err));
    TRY(read_list(&r->tensors, "--tensor", s->tensors, arena, err));
    TRY(read_list(&r->contexts, "--context", s->contexts, arena, err));
    TRY(read_list(&r->micro_batches, "--micro-batch", s->micro_batches, arena, err));
    TRY(read_list(&r->ranks, "--rank", s->ranks, arena, err));
    if (s->experts) TRY(read_list(&r->experts, "--experts", s->experts, arena, err));
    TRY(read_recompute(r->recompute, s->recompute, arena, err));
    r->sequence = s->sequence;
    r->precision = (enum precision)s->precision;
    r->quick = s->quick;
    r->fused = s->fused;
    r->graphs = s->graphs;
    if (r->precision > FP8)
        return refuse(err, "--precision: expected fp32, fp16, bf16 or fp8 (and --recipe), found %s",
                      precision_names[r->precision]);
    r->recipe = r->precision == FP8 ? (enum recipe)s->recipe : RECIPE_NONE;
    r->fp32_gradients = s->gradients == 0 && r->precision != FP32;
    return check_degrees(r,
                         s->model    ? s->model
                         : s->shapes ? "--shape"
                                     : "the shape of GPT-2 XL",
                         err);
}
