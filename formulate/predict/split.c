// How many blocks each stage of a row holds where neither it nor its trainer says that they are
// equally many: docs/FORMATS.md, runs.
#include "formulate/predict/internal.h"

// Weights that a token meets in a block.
static double block_work(const struct shape *s)
{
    double h = (double)s->hidden, w = (double)s->head_width;
    return h * w * 2 * (double)(s->heads + s->kv_heads) +
           h * (double)s->ffn * (s->gated_ffn ? 3 : 2);
}

// After the head, only what makes the loss is left, for two stages at most.
enum { STAGES_OF_LOSS = 2 };

// Each stage takes blocks, and one the head, until it and those before it have more than their
// share of the work. Returns the stage of the head.
static int take_work(struct placement *to, double block, double head, int blocks)
{
    double share = (blocks * block + head) / to->stage_count;
    int stage = 0;
    for (int b = 0; b < blocks; b++) {
        to->layer_count[stage]++;
        if ((b + 1) * block > (stage + 1) * share && stage + 1 < to->stage_count) stage++;
    }
    return stage;
}

bool split_by_work(struct placement *to, const struct model *m, int stages,
                   struct prediction *prediction)
{
    int blocks = m->layer_count - 2;
    to->stage_count = stages;
    for (int s = 0; s < stages; s++) to->layer_count[s] = 0;
    int end = take_work(to, block_work(&m->shape),
                        (double)m->shape.vocabulary * (double)m->shape.hidden, blocks);
    prediction->impossible = end + STAGES_OF_LOSS < stages - 1;
    if (prediction->impossible)
        return predict_refuse(prediction,
                              "divided by their work, %d layers and the head are on the first %d "
                              "of %d stages; split states another division",
                              blocks, end + 1, stages);
    // A stage without a block takes one of those before it.
    for (int s = stages - 2; s > 0; s--)
        for (int from = s - 1; from >= 0 && !to->layer_count[s]; from--)
            if (to->layer_count[from] > 1) to->layer_count[from]--, to->layer_count[s]++;
    to->layer_count[0]++; // the embedding
    to->layer_count[stages - 1]++;
    for (int s = 0; s < stages; s++)
        if (!to->layer_count[s]) return predict_refuse(prediction, "stage %d holds no layer", s);
    return true;
}
