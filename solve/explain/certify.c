// The FLOP of a token certify a reading: a log's TFLOP/s x time x GPUs / tokens agree with the
// model's own to three digits when model, sequence, batch and GPUs are read right. Programs count
// in different ways: attention in full or its causal half, recomputation or not.
#include <stdlib.h>
#include <string.h>

#include "data/inputs/model/size.h"
#include "solve/explain/internal.h"

// Three digits, of which the last is rounded in the log.
static const double tolerance = 0.012;

// Forward FLOP of all layers on one sequence; attention: all score cells.
static void forward_of(const struct model *m, int64_t sequence, double *products, double *attention,
                       double *blocks)
{
    *products = *attention = *blocks = 0;
    for (int r = 0; r < m->run_count; r++) {
        const struct layer_run *run = &m->runs[r];
        struct layer_flop f = layer_flop_of(m, run, sequence);
        bool block = run->kind == LAYER_BLOCK || run->kind == LAYER_MOE;
        *products += run->count * f.products, *attention += run->count * f.attention;
        if (block) *blocks += run->count * (f.products + f.attention);
    }
}

// Most programs count attention as if it looked back over all tokens.
static struct model without_windows(const struct model *m, struct arena *arena)
{
    struct model whole = *m;
    whole.runs = TAKE_COPY(arena, m->runs, m->run_count);
    for (int i = 0; i < m->run_count; i++) whole.runs[i].window = whole.runs[i].chunk = 0;
    return whole;
}

static bool has_windows(const struct model *m)
{
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].window || m->runs[i].chunk) return true;
    return false;
}

static void add_count(struct certificate *c, const char *name, double flop)
{
    if (flop > 0 && c->count < COUNTS_MOST) c->counts[c->count++] = (struct flop_count){name, flop};
}

// recomputes: the log does not state that nothing, or not everything, is recomputed.
static void count_flop(struct certificate *c, const struct model *m, int64_t sequence,
                       bool recomputes)
{
    double products, attention, blocks, tokens = (double)sequence;
    const struct shape *s = &m->shape;
    double layers = (double)m->layer_count - 2, h = (double)s->hidden;
    forward_of(m, sequence, &products, &attention, &blocks);
    add_count(c, "full attention", 3 * (products + attention) / tokens);
    add_count(c, "causal attention", 3 * (products + attention / 2) / tokens);
    if (recomputes)
        add_count(c, "with recomputation", (3 * (products + attention) + blocks) / tokens);
    // 72 B s l h^2 (1 + s/6h + V/12lh) and with recomputation 96 ... (1 + s/6h + V/16lh), of plain
    // blocks whatever the model's are: arXiv 2104.04473, which older programs print.
    double own = tokens / (6 * h), head = (double)s->vocabulary / (layers * h);
    add_count(c, "formula of arXiv 2104.04473", 72 * layers * h * h * (1 + own + head / 12));
    if (recomputes)
        add_count(c, "formula of arXiv 2104.04473 with recomputation",
                  96 * layers * h * h * (1 + own + head / 16));
    // arXiv 2204.02311, appendix B, with the embedding among the parameters.
    double active = 6 * (double)model_size_of(m).active;
    add_count(c, "6 x parameters", active);
    add_count(c, "6 x parameters and attention", active + 3 * attention / tokens);
    // torchtitan counts attention as if its heads were the model's width over their number.
    if (s->kv_rank || s->head_width * s->heads != s->hidden)
        add_count(c, "attention of the model's width",
                  3 * products / tokens + 12 * layers * h * tokens);
}

static void count_whole(struct certificate *c, const struct model *m, int64_t sequence,
                        struct arena *arena)
{
    struct model whole = without_windows(m, arena);
    double products, attention, blocks, tokens = (double)sequence;
    forward_of(&whole, sequence, &products, &attention, &blocks);
    add_count(c, "full attention without windows", 3 * (products + attention) / tokens);
    add_count(c, "causal attention without windows", 3 * (products + attention / 2) / tokens);
}

// With the vocabulary of a run's own tokenizer, where a plain SentencePiece model replaces the
// model's own: that of Llama and Llama 2.
static void count_own_vocabulary(struct certificate *c, const struct model *m, int64_t sequence)
{
    enum { SENTENCEPIECE = 32000 };
    struct model own = *m;
    double products, attention, blocks, tokens = (double)sequence;
    own.shape.vocabulary = SENTENCEPIECE;
    forward_of(&own, sequence, &products, &attention, &blocks);
    add_count(c, "causal attention, a vocabulary of 32,000",
              3 * (products + attention / 2) / tokens);
}

// Attention within documents of unknown length is anything up to the causal half.
static void count_packed(struct certificate *c, const struct model *m, int64_t sequence)
{
    double products, attention, blocks, tokens = (double)sequence;
    forward_of(m, sequence, &products, &attention, &blocks);
    double none = 3 * products / tokens, causal = 3 * (products + attention / 2) / tokens;
    if (c->by_log > none && c->by_log < causal)
        add_count(c, "causal attention within packed documents", c->by_log);
}

static int nearest_of(const struct certificate *c)
{
    int best = -1;
    for (int i = 0; i < c->count; i++) {
        double off = fabs(c->counts[i].flop / c->by_log - 1);
        if (off <= tolerance && (best < 0 || off < fabs(c->counts[best].flop / c->by_log - 1)))
            best = i;
    }
    return best;
}

// Megatron-LM and what is built on its training loop count the causal half since 2025; attention in
// full for a sequence is the same number as its half for twice the sequence.
static bool counts_causal(const struct explained *x)
{
    bool late = told(&x->log, TOLD_VERSION) && atoi(x->log.told[TOLD_VERSION].text) >= 2025,
         blackwell = strstr(x->log.told[TOLD_GPU].text, "b200") ||
                     strstr(x->log.told[TOLD_GPU].text, "b300");
    return x->log.format == LOG_BRIDGE || (x->log.format == LOG_MEGATRON && late) ||
           (x->log.format == LOG_UNKNOWN && blackwell);
}

// share: of attention's cells; 0: latent attention as if its heads were as wide as others'.
static int64_t sequence_by(const struct model *m, double share, double flop_per_token,
                           double flop_per_sequence)
{
    static const int64_t lengths[] = {512,   1024,  2048,  4096,   8192,
                                      16384, 32768, 65536, 131072, 262144};
    for (size_t i = 0; i < ARRAY_LENGTH(lengths); i++) {
        double products, attention, blocks,
            tokens = (double)lengths[i],
            by_log = flop_per_token > 0 ? flop_per_token : flop_per_sequence / tokens;
        forward_of(m, lengths[i], &products, &attention, &blocks);
        double cells = share > 0 ? 3 * share * attention / tokens
                                 : 12.0 * (m->layer_count - 2) * (double)m->shape.hidden * tokens;
        if (fabs((3 * products / tokens + cells) / by_log - 1) <= tolerance) return lengths[i];
    }
    return 0;
}

int64_t certify_sequence(const struct explained *x, const struct model *m, double flop_per_token,
                         double flop_per_sequence)
{
    struct model whole = without_windows(m, x->arena);
    double share = counts_causal(x) ? 0.5 : 1;
    const struct shape *s = &m->shape;
    bool latent = s->kv_rank > 0 || s->head_width * s->heads != s->hidden;
    if (latent && x->log.format == LOG_TORCHTITAN) share = 0;
    int64_t found = sequence_by(&whole, share, flop_per_token, flop_per_sequence);
    return !found && latent ? sequence_by(&whole, 0, flop_per_token, flop_per_sequence) : found;
}

// A rate that no GPU has is of something else, as Bridge's of a model's longest sequence.
static double rate_of_log(const struct explained *x)
{
    static const double fastest = 2e4; // TFLOP/s
    static const struct {
        const char *gpu;
        double tflops;
    } peaks[] = {{"a100", 312}, {"h100", 989}, {"h200", 989}, {"b200", 2250}}; // dense bf16
    const struct log *l = &x->log;
    double rate = log_rate_of(&l->series[MEASURED_TFLOPS], true, x->arena).value,
           mfu = log_rate_of(&l->series[MEASURED_MFU], true, x->arena).value;
    bool share = !(rate > 0) && mfu > 0 && told(l, TOLD_GPU);
    for (size_t i = 0; share && i < ARRAY_LENGTH(peaks); i++)
        if (!strncmp(l->told[TOLD_GPU].text, peaks[i].gpu, strlen(peaks[i].gpu)))
            rate = mfu / 100 * peaks[i].tflops;
    return rate < fastest ? rate * 1e12 : 0;
}

double explain_time_of_flop(const struct explained *x)
{
    double products, attention, blocks, rate = rate_of_log(x);
    const struct run_row *r = &x->asked;
    if (!(rate > 0) || *x->own.reason || r->num_gpus < 1 || r->global_batch < 1) return 0;
    forward_of(&x->problem.model, x->problem.job.sequence, &products, &attention, &blocks);
    return 3 * (products + (counts_causal(x) ? 0.5 : 1) * attention) * (double)r->global_batch /
           rate / (double)r->num_gpus;
}

// The power of two of sequences that an iteration's FLOP are, by the log's rate; 0: they are none.
static int64_t batch_of_flop(const struct explained *x, const struct model *m, int64_t seq)
{
    double products, attention, blocks, rate = rate_of_log(x);
    forward_of(m, seq, &products, &attention, &blocks);
    double of_sequence = 3 * (products + (counts_causal(x) ? 0.5 : 1) * attention),
           batch = x->measured_s * rate * (double)x->asked.num_gpus / of_sequence;
    for (int64_t power = 1; power < 1 << 20; power *= 2)
        if (fabs(batch / (double)power - 1) < tolerance) return power;
    return 0;
}

void explain_assume_by_flop(struct explained *x)
{
    static const int64_t usual[] = {8192, 4096, 2048, 1024, 16384, 32768};
    struct run_row *r = &x->asked;
    struct model model;
    bool open = r->seq == NOT_STATED, counts = rate_of_log(x) > 0 && x->measured_s > 0;
    if (!counts || r->num_gpus < 1 || r->global_batch != NOT_STATED ||
        !explain_try_model(x, NULL, 2048, &model))
        return;
    const char *why = "", *also = ", as with seq ";
    int64_t found = 0, sequences = 0;
    for (size_t i = 0; i < (open ? ARRAY_LENGTH(usual) : 1); i++) {
        int64_t seq = open ? usual[i] : r->seq, batch = batch_of_flop(x, &model, seq);
        if (!batch) continue;
        if (sequences) {
            why = arena_print(x->arena, "%s%s%lld", why, also, (long long)seq), also = ", ";
            continue;
        }
        found = seq, sequences = batch;
        why = "with it, the model's FLOP of an iteration are the log's, of a power of two of "
              "sequences";
    }
    if (!sequences) return;
    r->seq = found, r->global_batch = sequences, x->certificate.solved = true;
    if (open) explain_assume(x, "seq", arena_print(x->arena, "%lld", (long long)found), why);
    explain_assume(x, "global_batch", arena_print(x->arena, "%lld", (long long)sequences), why);
}

double explain_flop_of_sequence(const struct explained *x)
{
    const struct log *l = &x->log;
    double rate = rate_of_log(x);
    bool stated = told(l, TOLD_NUM_GPUS) && told(l, TOLD_GLOBAL_BATCH);
    if (!stated || !(x->measured_s > 0)) return 0;
    return rate * x->measured_s * (double)x->asked.num_gpus / (double)x->asked.global_batch;
}

double explain_flop_of_log(const struct explained *x)
{
    double rate = rate_of_log(x),
           tokens = log_rate_of(&x->log.series[MEASURED_TOKENS], true, x->arena).value;
    if (!(rate > 0)) return 0;
    if (tokens > 0) return rate / tokens;
    const struct run_row *r = &x->asked;
    if (!(x->measured_s > 0) || r->global_batch < 1 || r->seq < 1 || r->num_gpus < 1) return 0;
    return rate * x->measured_s * (double)r->num_gpus / ((double)r->global_batch * (double)r->seq);
}

// Parameters of the fullest rank that the log counts, by the model: blocks divided by tensor ranks
// but for norms and the biases behind sums, embedding or head on an end.
static void certify_parameters(struct certificate *c, const struct explained *x)
{
    const struct log *l = &x->log;
    const struct model *m = &x->problem.model;
    const struct layout *lay = &x->problem.job.layout;
    struct model_size size = model_size_of(m);
    if (l->parameters) {
        c->rank_parameters = (double)size.all;
        c->parameters_agree = fabs((double)l->parameters / (double)size.all - 1) < 0.01;
        return;
    }
    if (!l->rank_parameters || m->run_count != 3 || layout_stage_count(lay) != lay->pipeline)
        return;
    double vocabulary = (double)m->shape.vocabulary * (double)m->shape.hidden,
           ends = vocabulary * (m->shape.tied_embeddings ? 1 : 2) +
                  (double)m->shape.positions * (double)m->shape.hidden,
           blocks = ((double)size.all - ends) / lay->pipeline / lay->tensor,
           end = blocks +
                 (vocabulary + (double)m->shape.positions * (double)m->shape.hidden * lay->tensor) /
                     lay->tensor;
    double middle_off = fabs((double)l->rank_parameters / blocks - 1),
           end_off = fabs((double)l->rank_parameters / end - 1);
    c->rank_parameters = middle_off < end_off ? blocks : end;
    c->parameters_agree = fmin(middle_off, end_off) < 0.005;
}

static bool has_scans(const struct model *m)
{
    bool any = false;
    for (int i = 0; i < m->run_count; i++) any |= m->runs[i].linear || m->runs[i].linear_beside;
    return any;
}

static void certify(struct explained *x)
{
    struct certificate *c = &x->certificate;
    *c = (struct certificate){.found = -1, .solved = c->solved};
    if (*x->own.reason) return;
    c->by_log = explain_flop_of_log(x);
    certify_parameters(c, x);
    if (!(c->by_log > 0)) return;
    count_flop(c, &x->problem.model, x->problem.job.sequence,
               !told(&x->log, TOLD_RECOMPUTE) || x->row.recompute >= RECOMPUTE_FULL);
    const struct model *m = &x->problem.model;
    if (has_windows(m)) count_whole(c, m, x->problem.job.sequence, x->arena);
    if (told(&x->log, TOLD_TOKENIZER) && strstr(x->log.told[TOLD_TOKENIZER].text, "SentencePiece"))
        count_own_vocabulary(c, m, x->problem.job.sequence);
    if (told(&x->log, TOLD_PACKED)) count_packed(c, &x->problem.model, x->problem.job.sequence);
    c->found = nearest_of(c);
    // A tower of images or sound, which is not priced, has parameters whose FLOP programs count.
    if (c->found < 0 && x->log.has_tower && c->by_log > c->counts[0].flop) c->by_log = 0;
    // Scans of states are counted in many ways.
    static const double scans_off = 0.15;
    if (c->found < 0 && has_scans(m) && fabs(c->by_log / c->counts[0].flop - 1) < scans_off)
        c->by_log = 0;
}

static void assume_again(struct explained *x, const char *column, const char *value,
                         const char *why)
{
    x->assumed_count = x->asked_count;
    explain_assume(x, column, value, why);
    x->asked_count = x->assumed_count;
    explain_predict(x);
    certify(x);
}

// A model that is shipped with its layers for further tokens, too.
static void try_further_tokens(struct explained *x)
{
    const struct run_row was = x->asked;
    const char *name = arena_print(x->arena, "%.*s-mtp", was.model.length, was.model.text), *path;
    struct error err = {OK, ""};
    if (!was.model.length || shipped_find(&path, "models", name, x->arena, &err) != OK) return;
    x->asked.model = (struct cell){name, (int)strlen(name)};
    assume_again(x, "model", name, "with its layer for further tokens, the FLOP are the log's");
    if (x->certificate.found >= 0) return;
    x->asked = was, x->asked_count--;
    explain_predict(x);
    certify(x);
}

void explain_certify(struct explained *x)
{
    const struct certificate *c = &x->certificate;
    certify(x);
    if (*x->own.reason || !(c->by_log > 0)) return;
    if (c->found < 0) try_further_tokens(x);
    if (c->found < 0 || told(&x->log, TOLD_RECOMPUTE) ||
        !strstr(c->counts[c->found].name, "with recomputation"))
        return;
    x->asked.recompute = RECOMPUTE_FULL;
    assume_again(x, "recompute", "full", "the log's FLOP of a token count it");
}
