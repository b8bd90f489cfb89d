// Says the features of a config that the model lacks and that are left out, so that nobody
// believes they are planned.
#include <string.h>

#include "data/import/hf/internal.h"
#include "data/inputs/figures.h"
#include "data/inputs/model/size.h"

enum { TOLD_SEQUENCE = 4096 };

// Layers that predict further tokens (DeepSeek-V3, arXiv 2412.19437, 2.2), in the model or not.
static void tell_further(const struct hf_model *x, const struct model *m)
{
    struct layer_run runs[2] = {hf_mtp_run(x, x->depth ? x->depth : x->further),
                                {.name = "head", .kind = LAYER_HEAD, .count = 1}};
    struct model own = {.has_shape = true, .shape = m->shape, .runs = runs, .run_count = 1},
                 head = {.has_shape = true, .shape = m->shape, .runs = &runs[1], .run_count = 1};
    double values = (double)model_size_of(&own).all, whole = model_flop(m, TOLD_SEQUENCE);
    own.run_count = 2; // the head runs once more for each, and once for the model itself
    double flop = model_flop(&own, TOLD_SEQUENCE) - model_flop(&head, TOLD_SEQUENCE);
    double of = x->depth ? whole - flop : whole;
    said_line(x->asked->said,
              "num_nextn_predict_layers: %lld layer%s of multi-token prediction %s: %.4g G "
              "parameters, %.3g %% of the main model's FLOP at %d tokens",
              (long long)runs[0].count, runs[0].count > 1 ? "s" : "",
              x->depth ? "in the model, on the head's stage (--mtp 0 leaves it out)"
                       : "left out, as transformers leaves it out",
              values / 1e9, 100 * flop / of, TOLD_SEQUENCE);
}

const char hf_alibi[] = "ALiBi positions are left out: launch files state rotary positions";

void hf_tell_left_out(const struct hf_model *x, const struct json *whole,
                      const struct hf_tower *tower, const struct model *m)
{
    static const char *const parts[] = {"vision_config", "audio_config", "speech_config",
                                        "vision_encoder"};
    const struct hf_model of_all = {.root = whole, .arena = x->arena};
    if (x->further || x->depth) tell_further(x, m);
    bool alibi = false;
    struct error ignored = {OK, ""};
    if (hf_flag(x, "alibi", &alibi, &ignored) == OK && alibi)
        said_line(x->asked->said, "alibi: %s", hf_alibi);
    if (x->class->told) said_line(x->asked->said, "%s: %s", x->class->name, x->class->told);
    bool alone = x->root != whole && !tower->count;
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        if (hf_has(&of_all, parts[i]) && !(tower->count && !strcmp(parts[i], tower->part)))
            alone = false,
            said_line(x->asked->said,
                      "%s: left out, with its connection to the text: the model is the language "
                      "model alone",
                      parts[i]);
    if (alone)
        said_line(x->asked->said, "text_config: the model is the language model alone, whatever "
                                  "else its class has");
    for (int i = 0; i < tower->count; i++)
        if (!strcmp(tower->runs[i].name, "merger"))
            said_line(x->asked->said,
                      "vision_config: images of 448 x 448, %lld tokens each: the class accepts "
                      "any; the model's \"tokens\" can state another",
                      (long long)tower->runs[i].tokens);
    if (hf_has(&of_all, "quantization_config") || hf_has(x, "quantization_config"))
        said_line(x->asked->said,
                  "quantization_config: left out: the job's precision determines the weights");
}
