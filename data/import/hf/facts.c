// What a config states about a model that no price depends on but a launch needs: activation, the
// norms' epsilon, rotary positions.
#include <string.h>

#include "data/import/hf/internal.h"

// The first of the keys (ended by NULL) that is present; null is absent.
static enum status number(const struct hf_model *x, const struct json *object,
                          const char *const *keys, double *to, struct error *err)
{
    for (; keys[0]; keys++) {
        double value = -1;
        if (object == x->root) hf_asks(x, keys[0]);
        struct json_field fields[] = {FIELD_NUMBER(keys[0], OPTIONAL, &value, 0, 1e15)};
        TRY(json_lenient(object, fields, 1, x->arena, err));
        if (value < 0) continue;
        *to = value;
        return OK;
    }
    return OK;
}

// T5 states in one name the activation and whether it is gated, and means another one by
// "gated-gelu".
static enum status read_activation(struct hf_model *x, struct error *err)
{
    static const char *const keys[] = {"hidden_act", "activation_function", "activation",
                                       "hidden_activation"};
    const char *part = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(keys); i++)
        TRY(hf_text(x, keys[i], &x->shape.activation, err));
    if (!strstr(x->class->name, "t5")) return OK;
    TRY(hf_text(x, "feed_forward_proj", &part, err));
    const char *dash = part ? strchr(part, '-') : NULL;
    if (part) x->shape.activation = dash ? dash + 1 : part;
    if (part && !strcmp(part, "gated-gelu")) x->shape.activation = "gelu_new";
    return OK;
}

// The method and its numbers; "default" is none. The original number of positions is the config's
// if the object does not state it.
static enum status read_scaling(struct hf_model *x, const struct json *object, struct error *err)
{
    static const char *const names[] = {"low_freq_factor", "high_freq_factor", "beta_fast",
                                        "beta_slow",       "mscale",           "mscale_all_dim",
                                        "factor"};
    struct rotary_scaling *r = &x->shape.rotary_scaling;
    double *const to[] = {&r->low_freq_factor,    &r->high_freq_factor, &r->beta_fast,
                          &r->beta_slow,          &r->mscale,           &r->mscale_all_dim,
                          &x->shape.rotary_factor};
    const struct hf_model part = {.root = object, .arena = x->arena};
    const char *type = NULL;
    TRY(hf_text(&part, "type", &type, err));
    TRY(hf_text(&part, "rope_type", &type, err));
    if (!type || !strcmp(type, "default")) return OK;
    r->type = type;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *const one[] = {names[i], NULL};
        TRY(number(x, object, one, to[i], err));
    }
    TRY(hf_count(x, "max_position_embeddings", &r->original_positions, err));
    return hf_count(&part, "original_max_position_embeddings", &r->original_positions, err);
}

// In models with windows: the values of layers without a window.
static enum status read_rotary(struct hf_model *x, const struct json *object, struct error *err)
{
    static const char *const bases[] = {"rope_theta", "rotary_emb_base", NULL},
                             *const shares[] = {"partial_rotary_factor", "rotary_pct", NULL};
    struct shape *s = &x->shape;
    struct json parts[3] = {0};
    struct json_field fields[] = {
        FIELD_OBJECT("rope_scaling", OPTIONAL, &parts[0]),
        FIELD_OBJECT("rope_parameters", OPTIONAL, &parts[1]),
        FIELD_OBJECT("full_attention", OPTIONAL, &parts[2]),
    };
    int64_t *of_layers = NULL;
    if (object == x->root && x->layer_count > 0 && hf_is_list(x, "rope_theta")) {
        TRY(hf_first_numbers(x, "rope_theta", 1e15, &of_layers, err)); // the first has no window
        if (of_layers) s->rotary_base = (double)of_layers[0];
    } else TRY(number(x, object, bases, &s->rotary_base, err));
    TRY(number(x, object, shares, &s->rotary_share, err));
    if (object != x->root) TRY(read_scaling(x, object, err));
    if (object == x->root) hf_asks(x, "rope_scaling"), hf_asks(x, "rope_parameters");
    TRY(json_lenient(object, fields, ARRAY_LENGTH(fields), x->arena, err));
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        if (json_is_present(&parts[i])) TRY(read_rotary(x, &parts[i], err));
    return OK;
}

enum status hf_read_facts(struct hf_model *x, struct error *err)
{
    static const char *const epsilons[] = {"rms_norm_eps",
                                           "layer_norm_eps",
                                           "layer_norm_epsilon",
                                           "norm_eps",
                                           "norm_epsilon",
                                           "layernorm_epsilon",
                                           NULL};
    static const char *const widths[] = {"query_pre_attn_scalar", NULL};
    bool alibi = false;
    TRY(read_activation(x, err));
    if (x->shape.score_width > 0) TRY(number(x, x->root, widths, &x->shape.score_width, err));
    TRY(number(x, x->root, epsilons, &x->shape.norm_epsilon, err));
    TRY(hf_flag(x, "alibi", &alibi, err));
    if (alibi) x->shape.rotary_base = 0;
    return x->shape.rotary_base > 0 ? read_rotary(x, x->root, err) : OK;
}
