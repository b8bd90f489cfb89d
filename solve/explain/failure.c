// A run that ran out of memory: what its report says by itself, what memory alone can stand in for
// (a model by its size, a batch by the request that failed), and for which of the values that the
// text leaves open it would not fit.
#include <string.h>

#include "data/base/least.h"
#include "data/inputs/model/size.h"
#include "solve/explain/internal.h"

static const double mib = 1048576, gib = 1073741824;

// Models of plain blocks, the smaller first: of what a run holds, their size is the most.
static const char *const sizes[] = {"smollm2-135m", "qwen2.5-0.5b",  "llama-3.2-1b", "gpt2-xl",
                                    "phi-2",        "llama-3.2-3b",  "llama-2-7b",   "llama-3.1-8b",
                                    "llama-2-13b",  "gpt-neox-20b",  "qwen3-32b",    "llama-2-70b",
                                    "gpt3-175b",    "llama-3.1-405b"};

static bool lacks_model(const struct explained *x)
{
    const struct run_row *r = &x->asked;
    return !r->model.length && r->hidden == NOT_STATED;
}

static double size_of(struct explained *x, const char *name)
{
    struct cell cell = {name, (int)strlen(name)};
    struct model m;
    return explain_try_model(x, &cell, 1024, &m) ? (double)model_size_of(&m).all : 0;
}

// Of a model that nothing names: by the parameters that the text counts; or by a request that all
// of them together have the size of (fp32 copies, gathered gradients).
void explain_assume_size(struct explained *x)
{
    const struct log *l = &x->log;
    double stated = l->size_in_words, tried = (double)l->failure.tried_bytes, best_off = 0.25;
    const char *best = NULL, *why = NULL;
    if (!l->failure.out_of_memory || !lacks_model(x) || x->asked.ep > 1) return;
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        double own = size_of(x, sizes[i]), off = stated > 0 ? fabs(log(own / stated)) : 1;
        if (!(own > 0)) continue;
        if (off < best_off) {
            best = sizes[i], best_off = off;
            why = arena_print(
                x->arena, "not named: of usual ones the nearest to %.3gB parameters, for memory",
                stated / 1e9);
        }
        for (int bytes = 4; !(stated > 0) && bytes >= 2; bytes -= 2)
            if (!best && fabs(own * bytes / tried - 1) < 0.004) {
                best = sizes[i];
                why = arena_print(
                    x->arena,
                    "not named: the request that failed is that of all its parameters in %d bytes",
                    bytes);
            }
    }
    if (!best && l->family)
        best = l->family, why = "its size is not stated: the smallest of its name";
    if (!best) return;
    x->asked.model = (struct cell){best, (int)strlen(best)};
    x->asked.layers = NOT_STATED; // alone they are no shape
    explain_assume(x, "model", best, why);
}

// How many of `unit` bytes a request is, as it is printed (two digits behind the point) and rounded
// up to 2 MiB by PyTorch's allocator; 0: it is no multiple, or the unit is too small to tell.
static int64_t multiple_of(double tried, double unit)
{
    double digits = 0.005 * (tried >= gib ? gib : mib), slack = 2 * mib + 2 * digits,
           count = floor((tried + digits) / unit);
    bool near = count * unit > tried + digits - slack;
    return unit > 4 * slack && near && count >= 1 && count <= 1024 ? (int64_t)count : 0;
}

struct tensor {
    const char *name;
    double values; // of a sequence
};

// The micro-batch for which a tensor of the model's, shared by so many tensor ranks, has the size
// of the request that failed; 0: it is one of weights, or of none. *what: which.
static int64_t batch_of_request(struct explained *x, double tensor, const char **what)
{
    const struct run_row *r = &x->asked;
    double tried = (double)x->log.failure.tried_bytes;
    struct model m;
    if (!(tried > 64 * mib) || r->seq < 1 || !explain_try_model(x, NULL, r->seq, &m)) return 0;
    const struct shape *s = &m.shape;
    double seq = (double)r->seq, h = (double)s->hidden, vocabulary = (double)s->vocabulary,
           multiple = 128 * tensor, padded = ceil(vocabulary / multiple) * multiple,
           block = ((double)model_size_of(&m).all - vocabulary * h) / (double)(m.layer_count - 2);
    const double weights[] = {vocabulary * h, padded * h, (double)s->ffn * h,
                              2 * (double)s->ffn * h, block};
    const struct tensor tensors[] = {{"logits", seq * padded / tensor},
                                     {"logits", seq * vocabulary / tensor},
                                     {"attention's scores", (double)s->heads * seq * seq / tensor}};
    for (size_t i = 0; i < ARRAY_LENGTH(weights); i++)
        for (int bytes = 2; bytes <= 4; bytes += 2)
            if (fabs(weights[i] * bytes / tried - 1) < 0.01) return 0;
    for (int bytes = 4; bytes >= 2; bytes -= 2)
        for (size_t i = 0; i < ARRAY_LENGTH(tensors); i++) {
            int64_t batch = multiple_of(tried, tensors[i].values * bytes);
            if (!batch) continue;
            *what = arena_print(x->arena, "%s of %d bytes", tensors[i].name, bytes);
            return batch;
        }
    return 0;
}

void explain_assume_request(struct explained *x)
{
    const char *what;
    int64_t batch;
    double tensor = x->asked.tp > 0 ? (double)x->asked.tp : 1;
    bool long_known = told(&x->log, TOLD_SEQ) || x->asked.positions > 0;
    if (!x->log.failure.out_of_memory || x->asked.micro_batch != NOT_STATED || !long_known) return;
    if (!(batch = batch_of_request(x, tensor, &what))) return;
    x->asked.micro_batch = batch;
    explain_assume(
        x, "micro_batch", arena_print(x->arena, "%lld", (long long)batch),
        arena_print(x->arena, "not in the log: with it, the request that failed is %s", what));
}

// ---- for which values it would not fit

// What the allocator had been asked for, the request that failed included; 0: its report is not
// whole.
static int64_t asked_for(const struct explained *x)
{
    const struct log_failure *f = &x->log.failure;
    return f->allocated_bytes && f->tried_bytes ? f->allocated_bytes + f->tried_bytes : 0;
}

// From how many bytes on it fails: what its report has, where that is less than the card and more
// than is predicted.
static int64_t failing_bytes(const struct explained *x, const struct prediction *p)
{
    int64_t report = asked_for(x) + p->outside_bytes;
    bool counts = asked_for(x) && report > x->own.device_bytes;
    return counts ? smaller(p->limit_bytes, report) : p->limit_bytes;
}

static bool fails(struct explained *x, const struct run_row *row, bool *known)
{
    struct prediction p;
    *known = explain_try(x, row, &p);
    return *known && p.device_bytes > failing_bytes(x, &p);
}

static struct run_row with_count(const struct explained *x, enum told what, int64_t value)
{
    struct run_row row = x->row;
    double scale;
    if (what == TOLD_SEQ) row.seq = value;
    if (what == TOLD_MICRO_BATCH) {
        scale = (double)value / (double)row.micro_batch;
        row.micro_batch = value;
        if (!told(&x->log, TOLD_GLOBAL_BATCH))
            row.global_batch = (int64_t)((double)row.global_batch * scale + 0.5);
    }
    if (what == TOLD_NUM_GPUS) {
        scale = (double)value / (double)row.num_gpus;
        row.num_gpus = value, row.dp = NOT_STATED;
        if (!told(&x->log, TOLD_GLOBAL_BATCH) && row.global_batch * value % row.num_gpus == 0)
            row.global_batch = (int64_t)ceil((double)row.global_batch * scale);
    }
    return row;
}

static void add(struct explained *x, const char *column, const char *value, const char *words)
{
    if (x->alternative_count < ALTERNATIVES_MOST)
        x->alternatives[x->alternative_count++] = (struct assumed){column, value, words};
}

// A count that is not stated: the least that does not fit, above the one that was taken; of GPUs
// the most, below it.
static void add_range(struct explained *x, enum told what, int64_t from, int64_t most, int64_t tile,
                      const char *words)
{
    int64_t fits = from, lacks = 0;
    bool known;
    if (told(&x->log, what) || from < 1) return;
    for (int64_t value = 2 * from; !lacks && value <= most; value *= 2) {
        struct run_row row = with_count(x, what, value);
        if (fails(x, &row, &known)) lacks = value;
        else if (known) fits = value;
    }
    while (lacks > fits + tile) {
        int64_t middle = (fits + lacks) / 2 / tile * tile;
        struct run_row row = with_count(x, what, middle);
        if (middle <= fits) break;
        if (fails(x, &row, &known)) lacks = middle;
        else if (known) fits = middle;
        else break;
    }
    if (!lacks) return;
    const char *value = arena_print(x->arena, "%lld", (long long)lacks);
    add(x, told_names[what], value, arena_print(x->arena, words, value));
}

static void add_fewer_gpus(struct explained *x)
{
    bool known;
    if (told(&x->log, TOLD_NUM_GPUS)) return;
    for (int64_t gpus = x->row.num_gpus / 2; gpus >= 1; gpus /= 2) {
        struct run_row row = with_count(x, TOLD_NUM_GPUS, gpus);
        if (!fails(x, &row, &known)) continue;
        const char *value = arena_print(x->arena, "%lld", (long long)gpus);
        add(x, "num_gpus", value,
            gpus == 1 ? "one GPU" : arena_print(x->arena, "%s GPUs or fewer", value));
        return;
    }
}

static void find_lacks(struct explained *x)
{
    enum { BATCH_MOST = 1024, SEQUENCE_MOST = 1 << 20, TILE = 64 };
    int64_t positions = x->problem.model.shape.positions;
    add_range(x, TOLD_MICRO_BATCH, x->row.micro_batch, BATCH_MOST, 1,
              "micro-batches of %s or more");
    add_range(x, TOLD_SEQ, x->row.seq, positions ? positions : SEQUENCE_MOST, TILE,
              "sequences of %s tokens or more");
    add_fewer_gpus(x);
}

// The least of usual models that would not fit, where nothing says which it was.
static const char *least_model(struct explained *x)
{
    bool any = false, known;
    for (size_t i = 0; i < ARRAY_LENGTH(sizes); i++) {
        struct run_row row = x->asked;
        row.model = (struct cell){sizes[i], (int)strlen(sizes[i])};
        bool lacks = fails(x, &row, &known);
        any |= known;
        if (!lacks) continue;
        const char *size = arena_print(x->arena, "%.3gB parameters", size_of(x, sizes[i]) / 1e9);
        add(x, "model", sizes[i],
            arena_print(x->arena, "a model as large as %s (%s) or larger", sizes[i], size));
        return "the model is not in the text";
    }
    return any ? "the model is not in the text, and no usual one up to 405B parameters would fill "
                 "the card"
               : NULL;
}

// ---- what the report says by itself

static const char *amount(const struct explained *x, int64_t bytes)
{
    double b = (double)bytes;
    return b >= gib ? arena_print(x->arena, "%.2f GiB", b / gib)
                    : arena_print(x->arena, "%.0f MiB", b / mib);
}

static const char *report_of(const struct explained *x)
{
    const struct log_failure *f = &x->log.failure;
    const char *text = "";
    if (f->tried_bytes)
        text = arena_print(x->arena, ": a request for %s", amount(x, f->tried_bytes));
    if (f->allocated_bytes && f->card_bytes)
        text = arena_print(x->arena, "%s%s %s of %s allocated", text, *text ? " with" : ":",
                           amount(x, f->allocated_bytes), amount(x, f->card_bytes));
    return text;
}

// A request that is a tensor of all heads or the whole vocabulary, of the batch that is stated: no
// tensor ranks share it, whatever degree was asked for.
static const char *whole_request_of(struct explained *x)
{
    const char *what, *shared;
    const struct run_row *r = &x->asked;
    if (r->tp < 2 || lacks_model(x) || r->micro_batch < 1 ||
        batch_of_request(x, (double)r->tp, &shared) == r->micro_batch ||
        batch_of_request(x, 1, &what) != r->micro_batch)
        return "";
    struct run_row row = x->row;
    bool known;
    row.tp = 1, row.pp = NOT_STATED, row.dp = NOT_STATED;
    row.global_batch = row.micro_batch * row.num_gpus;
    if (fails(x, &row, &known)) add(x, "tp", "1", "no tensor ranks");
    return arena_print(
        x->arena,
        "; that is %s of all of a layer: no tensor ranks share it, though %lld are stated", what,
        (long long)r->tp);
}

// Another process's, by the report's own numbers.
static const char *others_of(const struct explained *x)
{
    int64_t other = explain_others(x), tried = x->log.failure.tried_bytes;
    if (!other) return "";
    return arena_print(x->arena, "; other processes hold %s of the card%s", amount(x, other),
                       tried && tried <= other ? ", without which the request would have had room"
                                               : "");
}

// The counts that were taken because nothing states them.
static const char *assumed_counts(const struct explained *x)
{
    bool seq = !told(&x->log, TOLD_SEQ), batch = !told(&x->log, TOLD_MICRO_BATCH);
    return seq && batch ? arena_print(x->arena, " with seq %lld and micro_batch %lld, as assumed",
                                      (long long)x->row.seq, (long long)x->row.micro_batch)
           : seq        ? arena_print(x->arena, " with seq %lld, as assumed", (long long)x->row.seq)
           : batch      ? arena_print(x->arena, " with micro_batch %lld, as assumed",
                                      (long long)x->row.micro_batch)
                        : "";
}

// The first moments, before weights are shared.
static void add_unshared(struct explained *x)
{
    int64_t all = explain_unshared(x);
    if (!all) return;
    add(x, "zero", "0",
        arena_print(x->arena,
                    "weights that are shared only after each GPU was given all of them, %.1f GB "
                    "(ZeRO 3 without zero.Init)",
                    (double)all / 1e9));
}

// What programs do that no value of the text's says: transformers reads weights in 4 bytes unless
// it is given a type, which DeepSpeed's engine makes narrow and LLaMA-Factory's and ms-swift's
// configurations state; trl's before 0.15 took a prompt's answers for one sample.
static void add_habits(struct explained *x)
{
    const struct log *l = &x->log;
    const struct prediction *p = &x->own;
    int64_t wide = 2 * p->memory.weight_bytes, answers = told_count(l, TOLD_ANSWERS);
    bool own = l->format == LOG_TRANSFORMERS || l->format == LOG_UNKNOWN;
    if (!own || l->recomputes) return;
    if (!l->shows_reading && explain_reads_wide(x) && told_count(l, TOLD_ADAPTERS) > 0 &&
        p->device_bytes + wide / 2 > failing_bytes(x, p))
        add(x, "weights_fp32", "all",
            arena_print(x->arena,
                        "weights in 4 bytes, as from_pretrained reads them without a type, "
                        "%.1f GB",
                        (double)wide / 1e9));
    if (answers < 2 || x->row.micro_batch < 1) return;
    bool known;
    struct run_row row = with_count(x, TOLD_MICRO_BATCH, answers * x->row.micro_batch);
    row.global_batch = answers * x->row.global_batch;
    if (fails(x, &row, &known))
        add(x, "micro_batch", arena_print(x->arena, "%lld", (long long)row.micro_batch),
            arena_print(x->arena, "all %lld answers to a prompt in one pass (trl before 0.15)",
                        (long long)answers));
}

// An evaluation whose logits stay on the GPU until all are there: transformers' without
// eval_accumulation_steps and prediction_loss_only.
static void add_evaluation(struct explained *x, int64_t moment)
{
    const struct shape *s = &x->problem.model.shape;
    double sample = (double)x->row.seq * (double)s->vocabulary * x->own.value_bytes;
    int64_t room = x->own.limit_bytes - moment;
    bool evaluates = x->log.failure.phase == PHASE_EVALUATION && explain_has_trainer(&x->log);
    if (!evaluates || !(sample > 0) || room < 0) return;
    const char *count = arena_print(x->arena, "%.0f", floor((double)room / sample) + 1);
    add(x, "eval_samples", count,
        arena_print(x->arena,
                    "the logits of %s sequences kept, %.2f GB each (eval_accumulation_steps moves "
                    "them to the host)",
                    count, sample / 1e9));
}

// Weights alone do not fill the card: those of several ranks, or of another process.
static void add_ranks(struct explained *x, int64_t moment)
{
    const struct log *l = &x->log;
    int64_t most = x->own.gpus > 1 ? (int64_t)x->own.gpus : 1, ranks;
    bool loads = l->failure.phase == PHASE_LOADING || l->failure.phase == PHASE_PLACING;
    if (!loads || moment < 1 || moment > x->own.limit_bytes) return;
    ranks = x->own.limit_bytes / moment + 1;
    if (ranks > most) return;
    const char *count = arena_print(x->arena, "%lld", (long long)ranks);
    add(x, "ranks_of_gpu", count,
        arena_print(x->arena, "the weights of %s ranks on one GPU (each rank loads onto its own)",
                    count));
}

// What the report has reserved and not allocated, where it is a fiftieth of the card.
static const char *pieces_of(const struct explained *x)
{
    int64_t idle = explain_pieces(x);
    if ((double)idle < 0.02 * (double)x->own.capacity_bytes) return "";
    return arena_print(
        x->arena,
        "; its report has %.1f GB reserved in pieces, which no request fits into and "
        "expandable segments join",
        (double)idle / 1e9);
}

// What a first step does not show.
static const char *growth_of(const struct explained *x)
{
    return x->log.failure.grows ? "; by its text memory came to lack after steps that ran: "
                                  "what is kept from step to "
                                  "step, or a longer sample, is not predicted"
                                : "";
}

// Of a count that was assumed: the least from which on it does not fit.
static const char *from_which(struct explained *x)
{
    bool batch = !told(&x->log, TOLD_MICRO_BATCH) && x->row.micro_batch > 1, known;
    enum told what = batch ? TOLD_MICRO_BATCH : TOLD_SEQ;
    int64_t tile = batch ? 1 : 64, fits = 0, lacks = batch ? x->row.micro_batch : x->row.seq;
    if (!batch && told(&x->log, TOLD_SEQ)) return "";
    while (lacks > fits + tile) {
        int64_t middle = (fits + lacks) / 2 / tile * tile;
        if (middle <= fits) middle = fits + tile;
        struct run_row row = with_count(x, what, middle);
        if (fails(x, &row, &known)) lacks = middle;
        else fits = middle;
    }
    return lacks <= tile
               ? arena_print(x->arena, " (nor with any %s)", told_names[what])
               : arena_print(x->arena, " (from %s %lld on)", told_names[what], (long long)lacks);
}

// The report's own sum beside the prediction: that is right if it is as much, whatever else took
// the rest of the card; else by how much it is not.
static const char *sum_of(const struct explained *x, int64_t moment)
{
    static const double near = 0.1;
    double report = (double)asked_for(x), all = (double)(moment ? moment : x->own.device_bytes),
           own = all - (double)x->own.outside_bytes, off = own / report - 1;
    if (!(report > 0)) return "";
    const char *text = arena_print(x->arena, "; by its report it needed %.1f GB", report / 1e9);
    return off < -near
               ? arena_print(x->arena, "%s, %.1f more than is predicted", text,
                             (report - own) / 1e9)
               : arena_print(x->arena, "%s%s", text, off < near ? ", as is predicted" : " by then");
}

// Another moment than a training pass.
static const char *moment_of(const struct explained *x, int64_t moment, bool fits)
{
    if (!moment) return "";
    return arena_print(x->arena, " (%.1f GB at that moment%s)", (double)moment / 1e9,
                       fits ? ", which fits" : "");
}

const char *explain_failure(struct explained *x)
{
    const struct log_failure *f = &x->log.failure;
    const char *begin = arena_print(x->arena, "it ran out of memory%s%s%s", f->phase ? " " : "",
                                    failure_phase_names[f->phase], report_of(x)),
               *others = others_of(x), *whole = whole_request_of(x);
    if (*whole) begin = arena_print(x->arena, "%s%s", begin, whole);
    if (*x->own.reason) {
        const char *reason = lacks_model(x) ? least_model(x) : NULL;
        return arena_print(x->arena, "%s%s; not predicted: %s", begin, others,
                           reason ? reason : x->own.reason);
    }
    // Peaks are predicted to about a tenth (docs/VALIDATION.md).
    int64_t moment = explain_moment(x), failing = failing_bytes(x, &x->own);
    double full = (double)x->own.device_bytes / (double)failing;
    bool fits = full <= 1, near_end = fits && full > 0.9,
         by_pass = !fits && moment && moment <= failing; // though it failed in none
    double copied = (double)(x->own.device_bytes + f->tried_bytes);
    if (fits && explain_is_copy(x) && copied > 0.9 * (double)x->own.limit_bytes)
        return arena_print(x->arena,
                           "%s%s; the request is a copy of a rank's weights: with it %.1f GB of a "
                           "card of %.1f are predicted",
                           begin, others, copied / 1e9, (double)x->own.capacity_bytes / 1e9);
    const char *more = "";
    others = arena_print(x->arena, "%s%s%s", others, pieces_of(x), growth_of(x));
    add_evaluation(x, moment), add_ranks(x, moment);
    if (fits && !explain_others(x)) {
        if (!x->alternative_count) add_unshared(x);
        if (!x->alternative_count) add_habits(x), find_lacks(x);
        if (!x->alternative_count && !near_end) explain_find_alternatives(x);
        if (!x->alternative_count && !near_end)
            more = ", which no value that the log leaves open fills";
    }
    return arena_print(x->arena, "%s%s; it is predicted %s%s%s: %.1f GB of a card of %.1f%s%s%s%s",
                       begin, others,
                       near_end  ? "to come within a tenth of its end"
                       : fits    ? "to fit"
                       : by_pass ? "not to fit in a training pass"
                                 : "not to fit",
                       assumed_counts(x), fits ? "" : from_which(x),
                       (double)x->own.device_bytes / 1e9, (double)x->own.capacity_bytes / 1e9,
                       x->guessed && strstr(x->guessed, "GPU ") ? ", which is assumed" : "",
                       moment_of(x, moment, by_pass), sum_of(x, moment), more);
}
