// Finds the class of a config by its name, or by the architecture that it states.
#include <ctype.h>
#include <string.h>

#include "data/base/names.h"
#include "data/import/hf/internal.h"

// "mllama_text_model" is "mllama_text".
const struct hf_class *hf_find_class(const char *name)
{
    const struct hf_class *class;
    for (int i = 0; (class = hf_class_at(i)); i++) {
        size_t length = strlen(class->name);
        bool begins = !strncmp(class->name, name, length);
        if (begins && (!name[length] || !strcmp(name + length, "_model"))) return class;
    }
    return NULL;
}

// Letters and digits alone, in lower case, up to an end.
static const char *squashed(const char *text, size_t length, struct arena *arena)
{
    char *to = TAKE(arena, length + 1, char);
    int count = 0;
    for (size_t i = 0; i < length && text[i]; i++)
        if (isalnum((unsigned char)text[i])) to[count++] = (char)tolower((unsigned char)text[i]);
    return to;
}

// Whether a class of this name has the architecture, of which what is before its task counts.
bool hf_is_architecture(const char *name, const char *of, struct arena *arena)
{
    const char *end = strstr(of, "For");
    if (!end) end = strstr(of, "LMHead");
    if (!end || end == of) return false;
    const char *words = squashed(of, (size_t)(end - of), arena),
               *own = squashed(name, strlen(name), arena);
    size_t length = strlen(words);
    return !strncmp(own, words, length) && (!own[length] || !strcmp(own + length, "text"));
}

const struct hf_class *hf_find_architecture(const char *architecture, struct arena *arena)
{
    const struct hf_class *class;
    if (architecture && !strcmp(architecture, "QwenForCausalLM")) return NULL; // of no one class
    for (int i = 0; architecture && (class = hf_class_at(i)); i++)
        if (hf_is_architecture(class->name, architecture, arena)) return class;
    return NULL;
}

// ---- the class of a config

enum status hf_read_architecture(const struct hf_model *x, const char **to, struct error *err)
{
    struct json list = {0};
    bool many = hf_is_list(x, "architectures");
    struct json_field fields[] = {FIELD_ARRAY("architectures", OPTIONAL, &list),
                                  FIELD_TEXT("architectures", OPTIONAL, to)};
    const char **names = NULL;
    int count = 0;
    *to = NULL;
    TRY(json_lenient(x->root, many ? &fields[0] : &fields[1], 1, x->arena, err));
    if (json_is_present(&list)) TRY(json_texts(&list, &names, &count, x->arena, err));
    if (count) *to = names[0];
    return OK;
}

// In a model of several modalities, the part that reads and writes text.
static enum status find_text(struct hf_model *x, struct json *text, struct error *err)
{
    static const char *const keys[] = {"text_config", "llm_config", "language_config"};
    struct json *thinker = TAKE(x->arena, 1, struct json);
    struct json_field thinks[] = {FIELD_OBJECT("thinker_config", OPTIONAL, thinker)};
    TRY(HF_FIELDS(x, thinks, err));
    if (json_is_present(thinker)) {
        x->root = x->whole = thinker;
        said_line(x->asked->said,
                  "thinker_config: its text alone is the model: what hears, sees and speaks is "
                  "left out");
    }
    for (size_t i = 0; i < ARRAY_LENGTH(keys) && !json_is_present(text); i++) {
        struct json_field parts[] = {FIELD_OBJECT(keys[i], OPTIONAL, text)};
        TRY(HF_FIELDS(x, parts, err));
    }
    return OK;
}

// An encoder alone has half of its class, a draft more than it; other tasks have a head of their
// own.
static enum status weigh_task(struct hf_model *x, const char *architecture, struct error *err)
{
    static const char tasks[] = "CausalLM ConditionalGeneration MaskedLM PreTraining Seq2SeqLM";
    static const char *const drafts[] = {"Draft", "Eagle", "Medusa", "Speculator"};
    const char *task = architecture ? strstr(architecture, "For") : NULL;
    for (size_t i = 0; architecture && i < ARRAY_LENGTH(drafts); i++)
        if (strstr(architecture, drafts[i]))
            return json_refuse(x->root, err,
                               "architectures: %s: a draft model, which reads the states of the "
                               "model that it guesses for, is not read",
                               architecture);
    if (architecture && strstr(architecture, "EncoderModel"))
        return json_refuse(x->root, err, "architectures: %s: the encoder of a %s alone is not read",
                           architecture, x->class->name);
    if (x->class->both && task && !strcmp(task, "ForCausalLM"))
        return json_refuse(x->root, err, "architectures: %s: the decoder of a %s alone is not read",
                           architecture, x->class->name);
    if (hf_is_headless(x, architecture))
        return x->built = architecture ? architecture : x->class->name, OK;
    x->sorts_too = task && !strcmp(task, "ForPreTraining") && hf_is_pooled(x->class->name);
    if (!architecture ||
        (!task && (strstr(architecture, "Head") || strstr(architecture, "Model"))) ||
        (task && name_is_listed(tasks, task + 3, strlen(task + 3))))
        return OK;
    said_assume(x->asked->said,
                "architectures: %s is planned with the head of a language model, on its vocabulary",
                architecture);
    return OK;
}

enum status hf_choose_class(struct hf_model *x, struct json *text, const char **type,
                            struct error *err)
{
    struct json_field types[] = {FIELD_TEXT("model_type", OPTIONAL, type)};
    const char *built, *of_all;
    TRY(HF_FIELDS(x, types, err));
    TRY(hf_read_architecture(x, &built, err));
    of_all = built;
    if ((*type ? !strcmp(*type, "transformer") : !built) && json_has(x->root, "dim") &&
        json_has(x->root, "n_layers") && json_has(x->root, "n_heads"))
        *type = hf_params;
    if ((!*type && !built) || json_has(x->root, "_class_name")) return hf_refuse_other(x, err);
    TRY(find_text(x, text, err));
    const char *named = *type ? *type : built, *of_part = arena_print(x->arena, "%s_text", named);
    x->class = *type ? hf_find_class(*type) : NULL;
    const struct hf_class *of_text = hf_find_class(of_part);
    if (!x->class && !json_is_present(text) && of_text && (of_text->flat || hf_has_tower(named)))
        x->class = of_text;
    if (!x->class && json_is_present(text) && !strstr(named, "_assistant")) {
        struct json_field optional[] = {FIELD_TEXT("model_type", OPTIONAL, &of_part)};
        x->root = text;
        TRY(HF_FIELDS(x, optional, err));
        TRY(hf_read_architecture(x, &built, err));
        size_t length = of_all ? strlen(of_all) : 0; // the whole may have another head or none
        if (!built && length > 5 &&
            (!strcmp(of_all + length - 5, "Model") || strstr(of_all, "Classification")))
            built = of_all;
        x->class = hf_find_class(of_part);
        named = of_part;
    }
    if (!x->class && (x->class = hf_find_architecture(built, x->arena))) {
        x->by_architecture = true;
        said_assume(x->asked->said, "model_type: %s is read as %s, by its architecture, %s",
                    *type ? *type : "(not stated)", x->class->name, built);
    }
    const char *key = *type ? "model_type" : "architectures";
    if (!*type) *type = named;
    if (x->class) return weigh_task(x, x->class->headless ? of_all : built, err);
    return json_refuse(x->root, err, "%s: \"%s\" is not read%s", key, named,
                       hf_why_not(x, named, built));
}
