// What a config has that the model has not, told and left out: nobody believes that it is planned.
#include <stdio.h>

#include "data/import/hf/internal.h"
#include "data/inputs/figures.h"
#include "data/inputs/model/size.h"

enum { TOLD_SEQUENCE = 4096 };

// A layer that predicts a further token is one as the last is, two norms and a projection of its
// inputs (the last layer's output beside an embedding, to the hidden width), and a final norm;
// embedding and head are the model's (DeepSeek-V3, arXiv 2412.19437, 2.2).
static void tell_further(const struct hf_model *x, const struct model *m)
{
    struct layer_run runs[] = {m->runs[m->run_count - 2],
                               {.name = "head", .kind = LAYER_HEAD, .count = 1}};
    struct model layer = {.has_shape = true, .shape = m->shape, .runs = runs, .run_count = 1};
    double hidden = (double)m->shape.hidden, whole = model_flop(m, TOLD_SEQUENCE);
    runs[0].count = 1;
    double values = (double)model_size_of(&layer).all + 2 * hidden * hidden + 3 * hidden;
    layer.run_count = 2;
    double flop = model_flop(&layer, TOLD_SEQUENCE) +
                  3 * 2 * 2 * hidden * hidden * (double)TOLD_SEQUENCE;
    fprintf(stderr,
            "num_nextn_predict_layers: %lld layers that predict further tokens are left out, as "
            "transformers leaves them out: %.4g G parameters of their own, %.3g %% of the model's "
            "FLOP at %d tokens\n",
            (long long)x->further, (double)x->further * values / 1e9,
            100 * (double)x->further * flop / whole, TOLD_SEQUENCE);
}

void hf_tell_left_out(const struct hf_model *x, const struct json *whole, const struct model *m)
{
    static const char *const parts[] = {"vision_config", "audio_config", "speech_config"};
    const struct hf_model of_all = {.root = whole, .arena = x->arena};
    if (x->further) tell_further(x, m);
    for (size_t i = 0; i < ARRAY_LENGTH(parts); i++)
        if (hf_has(&of_all, parts[i]))
            fprintf(stderr,
                    "%s: left out, and what joins it to the text: the model is the part "
                    "that reads and writes text\n",
                    parts[i]);
    if (hf_has(&of_all, "quantization_config") || hf_has(x, "quantization_config"))
        fprintf(stderr, "quantization_config: left out: weights are as the job's precision has "
                        "them\n");
}
