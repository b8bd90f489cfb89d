// What a model of another task has in place of the head of a language model.
#include <string.h>

#include "data/base/names.h"
#include "data/import/hf/internal.h"

// A dense layer after the first token: of the encoder itself, or of what sorts sequences alone.
static const char pooled[] = "bert ernie roberta xlm-roberta camembert data2vec-text "
                             "megatron-bert albert",
                  sorted[] = "distilbert deberta-v2 eurobert electra";
bool hf_is_pooled(const char *name) { return name_is_listed(pooled, name, strlen(name)); }

enum task {
    TASK_MODEL,
    TASK_SEQUENCE,
    TASK_TOKEN,
    TASK_QUESTION,
    TASK_CHOICE,
    TASK_DETECT,
    TASK_OTHER
};

static enum task task_of(const char *architecture)
{
    static const char *const ends[] = {"Model",
                                       "ForSequenceClassification",
                                       "ForTokenClassification",
                                       "ForQuestionAnswering",
                                       "ForMultipleChoice",
                                       "ForPreTraining"};
    bool headed = !architecture || strstr(architecture, "Head"); // GPT2LMHeadModel
    size_t length = headed ? 0 : strlen(architecture);
    for (size_t i = 0; i < ARRAY_LENGTH(ends); i++) {
        size_t of = strlen(ends[i]);
        if (length > of && !strcmp(architecture + length - of, ends[i])) return (enum task)i;
    }
    return TASK_OTHER;
}

// Two if the file does not list them.
enum status hf_read_labels(const struct hf_model *x, int64_t *to, struct error *err)
{
    struct json labels = {0}, *values;
    const char *const *keys;
    int count = 0;
    struct json_field fields[] = {FIELD_OBJECT("id2label", OPTIONAL, &labels)};
    *to = 2;
    TRY(HF_FIELDS(x, fields, err));
    TRY(hf_count(x, "num_labels", to, err));
    if (json_is_present(&labels)) {
        TRY(json_members(&labels, &keys, &values, &count, x->arena, err));
        *to = count;
    }
    return OK;
}

bool hf_is_headless(const struct hf_model *x, const char *architecture)
{
    const char *name = x->class->name;
    if (x->class->headless) return true;
    return !x->class->both && strcmp(name, "chatglm") && task_of(architecture) != TASK_OTHER &&
           (task_of(architecture) != TASK_DETECT || !strcmp(name, "electra"));
}

enum status hf_read_other_head(struct hf_model *x, struct error *err)
{
    const struct shape *s = &x->shape;
    const char *name = x->class->name;
    size_t length = strlen(name);
    enum task task = task_of(x->built);
    bool pools = hf_is_pooled(name), modern = !strncmp(name, "modernbert", 10),
         encodes = pools || modern || name_is_listed(sorted, name, length), biased = false,
         norm_bias = false;
    bool more = x->class->headless || !strcmp(name, "gemma3n_text"); // their models have more
    int64_t width = encodes ? s->hidden : shape_embedding_width(s), labels = 2,
            values = more ? x->head_values : 0;
    TRY(hf_read_labels(x, &labels, err));
    if (task == TASK_CHOICE || task == TASK_DETECT) labels = 1;
    if (task == TASK_QUESTION && !encodes) labels = 2;
    if (!s->no_final_norm && !s->plain_norms) values += (s->rms_norm ? 1 : 2) * s->hidden;
    if (s->embedding_width && !encodes) values += s->embedding_width * s->hidden;
    TRY(hf_flag(x, "classifier_bias", &biased, err));
    TRY(hf_flag(x, "norm_bias", &norm_bias, err));
    bool is_biased = strcmp(name, "modernbert-decoder") ? encodes : biased;
    if (modern && task != TASK_MODEL) values += (s->hidden + 1 + biased + norm_bias) * s->hidden;
    else if (encodes && !modern &&
             (task == TASK_SEQUENCE || task == TASK_CHOICE || task == TASK_DETECT ||
              (pools && task == TASK_MODEL)))
        values += (s->hidden + 1) * s->hidden;
    if (task != TASK_MODEL && !x->class->headless)
        values += labels * (width + (is_biased || task == TASK_TOKEN || task == TASK_QUESTION));
    *(x->class->shared_layers ? &x->embedding_values : &x->layers[x->layer_count - 1].values) +=
        values;
    x->depth = 0;
    said_line(x->asked->said,
              "architectures: %s: no head of a language model; what follows the layers, %lld "
              "parameters, is part of the %s",
              x->built, (long long)values, x->class->shared_layers ? "embedding" : "last one");
    return OK;
}
