// The run as a row of runs: what the log states, what the user says instead, and what had to be
// taken for the rest, with its reason. What a program does by itself is filled by the prediction.
#include <stdlib.h>
#include <string.h>

#include "data/inputs/model/size.h"
#include "solve/explain/internal.h"

void explain_assume(struct explained *x, const char *column, const char *value, const char *why)
{
    int i = 0;
    while (i < x->assumed_count && strcmp(x->assumed[i].column, column) != 0) i++;
    if (i == ASSUMED_MOST) return;
    x->assumed[i] = (struct assumed){column, value, why};
    if (i == x->assumed_count) x->assumed_count++;
}

static const char *count_text(const struct explained *x, int64_t value)
{
    return arena_print(x->arena, "%lld", (long long)value);
}

// ---- what the log states

static bool is_plain(const char *text) { return !strpbrk(text, ",=\"\n"); }

static enum status row_of_log(struct explained *x, struct error *err)
{
    const char *words[TOLD_COLUMNS + 1];
    const struct log *l = &x->log;
    bool shaped = told(l, TOLD_LAYERS) && told(l, TOLD_HIDDEN) &&
                  (l->dumped || told(l, TOLD_FFN)) &&
                  (l->told[TOLD_LAYERS].by >= BY_SETTING || !told(l, TOLD_MODEL));
    int count = 0;
    for (int i = 0; i < TOLD_COLUMNS; i++) {
        if (!told(l, (enum told)i) || i == TOLD_GPU || !is_plain(l->told[i].text)) continue;
        if (i == TOLD_MODEL && shaped) continue;
        words[count++] = arena_print(x->arena, "%s=%s", told_names[i], l->told[i].text);
    }
    if (x->settings.gpus)
        words[count++] = arena_print(x->arena, "num_gpus=%lld", (long long)x->settings.gpus);
    TRY(row_of_words(&x->asked, words, count, x->arena, err));
    return OK;
}

// Columns that the user states instead of the log.
static enum status set_columns(struct explained *x, struct error *err)
{
    if (!x->settings.set) return OK;
    return row_set_columns(&x->asked, "--set", x->settings.set, x->arena, err);
}

// ---- what neither states

static void assume_count(struct explained *x, int64_t *cell, const char *column, int64_t value,
                         const char *why)
{
    if (*cell != NOT_STATED || value < 1) return;
    *cell = value;
    explain_assume(x, column, count_text(x, value), why);
}

static bool is_trainer(const struct explained *x)
{
    return x->log.format == LOG_TRANSFORMERS || x->log.format == LOG_LLAMA_FACTORY ||
           x->log.format == LOG_UNKNOWN || x->log.format == LOG_DEEPSPEED;
}

// What NVIDIA's configurations of MLPerf's GPT-3 leave unsaid (mlcommons/training_results_v3.1,
// conf/custom.yaml: INTERLEAVED_PIPELINE, 12): a layer in each virtual stage.
static void assume_benchmark(struct explained *x)
{
    enum { LAYERS = 96, CHUNKS = 12, UNTIL = 2024 };
    struct run_row *r = &x->asked;
    bool then = told(&x->log, TOLD_VERSION) && atoi(x->log.told[TOLD_VERSION].text) < UNTIL;
    if (x->log.format != LOG_MLPERF || !then || !cell_is(r->model, "gpt3-175b") || r->pp < 2 ||
        LAYERS % (r->pp * CHUNKS))
        return;
    assume_count(x, &r->vpp, "vpp", CHUNKS, "the benchmark's configuration: INTERLEAVED_PIPELINE");
}

static void assume_gpus(struct explained *x)
{
    struct run_row *r = &x->asked;
    int64_t replica = (r->tp > 0 ? r->tp : 1) * (r->pp > 0 ? r->pp : 1) * (r->cp > 0 ? r->cp : 1);
    if (r->num_gpus == NOT_STATED && r->dp > 0)
        assume_count(x, &r->num_gpus, "num_gpus", replica * r->dp, "the product of the degrees");
    int64_t nodes = told_count(&x->log, TOLD_NODES);
    const char *gpu = x->log.told[TOLD_GPU].text;
    bool desk = !strcmp(gpu, "gb10"), superchip = !desk && !strncmp(gpu, "gb", 2); // hosts of 4
    if (desk && !nodes) assume_count(x, &r->num_gpus, "num_gpus", 1, "a GB10's machine has one");
    if (r->num_gpus == NOT_STATED && !nodes) x->guessed = "the number of GPUs is";
    assume_count(x, &r->num_gpus, "num_gpus",
                 nodes         ? (superchip ? 4 : 8) * nodes
                 : replica > 8 ? replica
                               : 8,
                 nodes ? superchip ? "4 GPUs in each of the hosts that are stated"
                                   : "8 GPUs in each of the nodes that are stated"
                       : "not in the log: a node of 8 (--gpus states it)");
    if (r->tp == NOT_STATED && r->dp > 0 && r->num_gpus % (r->dp * replica) == 0)
        assume_count(x, &r->tp, "tp", r->num_gpus / (r->dp * replica),
                     "what the replicas leave of the GPUs");
}

// Tokens of a GPU in an iteration, where the lines of a log have a clock and no time; 0: they do
// not.
static double tokens_by_clock(const struct explained *x)
{
    const struct log_series *s = x->log.series;
    return log_rate_of(&s[MEASURED_TOKENS], true, x->arena).value *
           log_rate_of(&s[MEASURED_CLOCK_S], false, x->arena).value;
}

bool explain_try_model(struct explained *x, const struct cell *name, int64_t seq, struct model *m)
{
    struct run_row row = x->asked;
    struct problem problem;
    struct placement placement;
    struct prediction p;
    if (name) row.model = *name;
    row.seq = seq, row.num_gpus = row.tp = row.pp = row.cp = row.dp = row.ep = row.etp = 1;
    row.vpp = row.global_batch = row.micro_batch = NOT_STATED, row.sp = 0, row.precision = BF16;
    row.gpu = (struct cell){"h100-80gb", 9}, row.split = (struct cell){"", 0};
    if (!explain_try(x, &row, &p)) return false;
    predictor_problem(x->predictor, &problem, &placement, x->arena);
    *m = problem.model;
    return true;
}

// A model of the program's own that nothing names: its FLOP of a token at the sequence are the
// log's.
static void assume_model(struct explained *x, const char *name)
{
    struct run_row *r = &x->asked;
    struct cell cell = {name, (int)strlen(name)};
    struct model model;
    double flop = explain_flop_of_log(x);
    if (r->model.length || r->layers != NOT_STATED || !(flop > 0)) return;
    if (!explain_try_model(x, &cell, 2048, &model)) return;
    int64_t seq = certify_sequence(x, &model, flop, 0);
    if (!seq || (r->seq != NOT_STATED && r->seq != seq)) return;
    r->model = cell, x->certificate.solved = true;
    explain_assume(x, "model", name,
                   "of torchtitan's models, the one with the log's FLOP of a token");
}

// What torchtitan's own configurations of a model say (models/*/train_configs/*.toml, v0.1 to
// v0.2), where the log shows no other.
static void assume_recipe(struct explained *x)
{
    static const struct {
        const char *model;
        int64_t micro_batch, seq, tp;
    } recipes[] = {
        {"llama-3.1-8b", 1, 8192, 1},   {"llama-3.1-70b", 8, 8192, 8},
        {"llama-3.1-405b", 2, 8192, 8}, {"deepseek-v2-lite", 4, 4096, 1},
        {"deepseek-v3", 4, 4096, 1},    {"qwen3-32b", 2, 4096, 1}}; // v0.2's qwen3_32b.toml
    const char *why = "torchtitan's configuration of this model";
    bool own = x->log.format == LOG_TORCHTITAN, clocked = tokens_by_clock(x) > 0;
    for (size_t i = 0; own && i < ARRAY_LENGTH(recipes); i++) assume_model(x, recipes[i].model);
    for (size_t i = 0; own && i < ARRAY_LENGTH(recipes); i++) {
        if (!cell_is(x->asked.model, recipes[i].model)) continue;
        if (!clocked)
            assume_count(x, &x->asked.micro_batch, "micro_batch", recipes[i].micro_batch, why);
        if (!(explain_flop_of_log(x) > 0)) // else it follows
            assume_count(x, &x->asked.seq, "seq", recipes[i].seq, why);
        if (told(&x->log, TOLD_NUM_GPUS)) assume_count(x, &x->asked.tp, "tp", recipes[i].tp, why);
    }
}

// 0: the log has no such rates, or they give no whole number.
static int64_t batch_by_rate(const struct explained *x)
{
    const struct log *l = &x->log;
    const struct run_row *r = &x->asked;
    double tokens = log_rate_of(&l->series[MEASURED_TOKENS], true, x->arena).value,
           time = log_rate_of(&l->series[MEASURED_ITERATION_S], false, x->arena).value;
    if (!(time > 0)) time = l->average_s;
    if (!(tokens > 0) || !(time > 0) || r->seq < 1 || r->num_gpus < 1) return 0;
    double batch = tokens * time * (double)r->num_gpus / (double)r->seq, whole = floor(batch + 0.5);
    return whole >= 1 && whole < 1e8 && fabs(batch / whole - 1) < 0.003 ? (int64_t)whole : 0;
}

static void assume_trainers_batch(struct explained *x)
{
    enum { TRANSFORMERS = 8 }; // TrainingArguments' per_device_train_batch_size
    const struct log *l = &x->log;
    bool arguments = l->in_code || l->format == LOG_TRANSFORMERS || l->format == LOG_LLAMA_FACTORY;
    if (l->cut_code || !l->failure.out_of_memory || told(l, TOLD_GLOBAL_BATCH)) return;
    if (l->script)
        assume_count(x, &x->asked.micro_batch, "micro_batch", l->script->micro_batch,
                     arena_print(x->arena, "not in the log: %s's default", l->script->name));
    if (arguments)
        assume_count(x, &x->asked.micro_batch, "micro_batch", TRANSFORMERS,
                     "not in the log: transformers' default per_device_train_batch_size");
}

static void assume_batch(struct explained *x)
{
    struct run_row *r = &x->asked;
    int64_t steps = told_count(&x->log, TOLD_ACCUMULATION), replica, data;
    replica = (r->tp > 0 ? r->tp : 1) * (r->pp > 0 ? r->pp : 1) * (r->cp > 0 ? r->cp : 1);
    data = r->dp > 0 ? r->dp : r->num_gpus / replica;
    if (data < 1) data = 1;
    if (r->global_batch > 0 && steps && r->global_batch % (data * steps) == 0)
        assume_count(x, &r->micro_batch, "micro_batch", r->global_batch / (data * steps),
                     "the batch over replicas and accumulation");
    assume_count(x, &r->global_batch, "global_batch", batch_by_rate(x),
                 "tokens/s of a GPU x GPUs x time / seq");
    double local = tokens_by_clock(x) * (double)(replica / (r->pp > 0 ? r->pp : 1)), whole;
    whole = r->seq > 0 ? floor(local / (double)r->seq + 0.5) : 0;
    if (x->log.format == LOG_TORCHTITAN && r->pp <= 1 && whole >= 1 &&
        fabs(local / ((double)r->seq * whole) - 1) < 0.02) {
        struct told_value *each = &x->log.told[TOLD_MICRO_BATCH];
        if (whole < (double)r->micro_batch && each->by <= BY_SETTING) // of another run
            each->by = BY_NONE, r->micro_batch = NOT_STATED;
        assume_count(x, &r->micro_batch, "micro_batch", (int64_t)whole,
                     "tokens/s of a GPU x the clock of its lines / seq");
    }
    assume_trainers_batch(x);
    if (is_trainer(x) && x->log.format != LOG_UNKNOWN && !steps && replica == 1 && data > 0 &&
        r->global_batch % data == 0 && r->global_batch > 0)
        assume_count(x, &r->micro_batch, "micro_batch", r->global_batch / data,
                     "the batch over replicas: the trainer's default accumulates nothing");
    assume_count(x, &r->micro_batch, "micro_batch", 1, "not in the log");
    assume_count(x, &r->global_batch, "global_batch",
                 r->micro_batch * data *
                     (steps       ? steps
                      : r->pp > 1 ? r->pp
                                  : 1),
                 steps ? "micro_batch x replicas x accumulation"
                       : "not in the log: no accumulation");
}

// Samples are of different lengths, and padded to the longest of their batch: transformers counts 6
// FLOP a parameter (without embeddings) and token, by total_flos; FSDP's ranks see their share of
// the parameters.
static int64_t mean_length(struct explained *x)
{
    const struct log *l = &x->log;
    double rate = log_rate_of(&l->series[MEASURED_SAMPLES], true, x->arena).value;
    struct model m;
    if (!(l->total_flop > 0) || !(l->runtime_s > 0) || !(rate > 0) ||
        !explain_try_model(x, NULL, 1024, &m))
        return 0;
    double table = (double)m.shape.vocabulary * (double)m.shape.hidden,
           parameters = (double)model_size_of(&m).all - (m.shape.tied_embeddings ? 0 : table);
    if (!strcmp(l->told[TOLD_ZERO].key, "fsdp") && x->asked.num_gpus > 1)
        parameters /= (double)x->asked.num_gpus;
    double length = l->total_flop / (rate * l->runtime_s) / (6 * parameters);
    return length >= 1 && length < 1e7 ? (int64_t)(length + 0.5) : 0;
}

// What a program that is run as it is does unless told, where it ran out of memory.
static void assume_script(struct explained *x)
{
    const struct log_script *s = x->log.script;
    if (!s || !x->log.failure.out_of_memory) return;
    assume_count(x, &x->asked.seq, "seq", s->seq,
                 arena_print(x->arena, "not in the log: %s's default", s->name));
}

// The sequence: by the FLOP of a token, where the log has a rate; else a program's default.
static void assume_sequence(struct explained *x)
{
    struct run_row *r = &x->asked;
    struct model model;
    double flop = explain_flop_of_log(x), whole = explain_flop_of_sequence(x);
    int64_t mean = told(&x->log, TOLD_PACKED) ? 0 : mean_length(x);
    if (mean > 0 && (r->seq == NOT_STATED || (double)mean < 0.95 * (double)r->seq)) {
        r->seq = NOT_STATED;
        assume_count(x, &r->seq, "seq", mean,
                     "the mean: total_flos of a sample over 6 x parameters without embeddings");
    }
    if (r->seq != NOT_STATED) return;
    if ((flop > 0 || whole > 0) && explain_try_model(x, NULL, 2048, &model)) {
        int64_t found = certify_sequence(x, &model, flop, whole);
        x->certificate.solved = found > 0;
        assume_count(x, &r->seq, "seq", found,
                     "with it, the model's FLOP of a token are the log's");
    }
    if (x->log.failure.out_of_memory && r->positions > 0)
        assume_count(x, &r->seq, "seq", r->positions, "not in the log: as far as its positions go");
    assume_count(x, &r->seq, "seq", is_trainer(x) ? 1024 : 4096,
                 is_trainer(x) ? "not in the log: as run_clm.py's and trl's default (--set seq=N)"
                               : "not in the log (--set seq=N)");
}

// Who ran it, and when: what it did by itself follows from these.
static void set_origin(struct explained *x)
{
    static const char *const names[LOG_FORMAT_COUNT] = {
        [LOG_UNKNOWN] = "transformers",
        [LOG_TRANSFORMERS] = "transformers",
        [LOG_LLAMA_FACTORY] = "LLaMA-Factory",
        [LOG_DEEPSPEED] = "DeepSpeed",
        [LOG_TORCHTITAN] = "torchtitan",
        [LOG_MEGATRON] = "Megatron-LM",
        [LOG_MEGATRON_DEEPSPEED] = "Megatron-DeepSpeed",
        [LOG_NEMO] = "NeMo",
        [LOG_BRIDGE] = "Megatron-Bridge",
        [LOG_MLPERF] = "MLPerf"};
    struct run_row *r = &x->asked;
    bool engine = x->log.seen[LOG_DEEPSPEED] > 0;
    const char *name = names[x->log.format], *version = x->log.told[TOLD_VERSION].text;
    if (engine && x->log.format == LOG_LLAMA_FACTORY) name = "LLaMA-Factory, DeepSpeed";
    if (engine && x->log.format == LOG_TRANSFORMERS) name = "transformers, DeepSpeed";
    if (!r->framework.length) r->framework = (struct cell){name, (int)strlen(name)};
    if (!r->version.length && told(&x->log, TOLD_VERSION))
        r->version = (struct cell){version, (int)strlen(version)};
}

// What the program did by itself, with the reason; from here on the row states it.
static void take_defaults(struct explained *x)
{
    for (int i = 0; i < TRAIT_COUNT; i++) {
        const struct assumption *a = &x->own.assumptions[i];
        if (!a->taken.assumed) continue;
        const char *value = trait_value_text((enum trait)i, a->taken.value), *why = a->taken.why;
        row_set_trait(&x->row, (enum trait)i, a->taken.value);
        if (!*why || (x->row.model.length && i < TRAIT_PRECISION)) continue; // of the model
        if (a->low_ns)
            why = arena_print(x->arena, "%s; open: %.4g to %.4g s", why, (double)a->low_ns * 1e-9,
                              (double)a->high_ns * 1e-9);
        explain_assume(x, trait_columns[i], value, why);
    }
}

// ---- what follows from a prediction

// As Megatron-LM lays out stages, where the log states how: it needs the model's layers.
static void set_split(struct explained *x)
{
    struct prediction p;
    struct problem problem;
    struct placement placement;
    if (x->asked.split.length || told(&x->log, TOLD_LAYERS) || x->asked.pp < 2) return;
    if (!told(&x->log, TOLD_EMBEDDING_COUNTS) && !told(&x->log, TOLD_FIRST_LAYERS)) return;
    if (!explain_try(x, &x->asked, &p)) return;
    predictor_problem(x->predictor, &problem, &placement, x->arena);
    log_take_layers(&x->log, problem.model.layer_count - 2);
    const char *split = x->log.told[TOLD_SPLIT].text;
    if (told(&x->log, TOLD_SPLIT)) x->asked.split = (struct cell){split, (int)strlen(split)};
}

// Recipes of what is built on Megatron Core spread experts as far as they and the ranks go.
static void assume_experts(struct explained *x)
{
    struct run_row *r = &x->asked;
    struct prediction p;
    struct problem problem;
    struct placement placement;
    bool core = explained_framework(x) == FRAMEWORK_NEMO || x->log.format == LOG_MEGATRON;
    if (r->ep != NOT_STATED || !core || x->log.dumped || !explain_try(x, r, &p)) return;
    predictor_problem(x->predictor, &problem, &placement, x->arena);
    int64_t experts = 0, ranks = layout_expert_ranks(&problem.job.layout), ep = 1;
    for (int i = 0; i < problem.model.run_count; i++)
        if (problem.model.runs[i].kind == LAYER_MOE)
            experts = problem.model.runs[i].experts.experts;
    while (experts && ep < 64 && experts % (2 * ep) == 0 && ranks % (2 * ep) == 0) ep *= 2;
    if (ep > 1) assume_count(x, &r->ep, "ep", ep, "not in the log: as far as experts and ranks go");
}

// A post with several runs: the degree that another one has.
static void leave_out_experts(struct explained *x)
{
    struct run_row *r = &x->asked, without = *r;
    struct prediction p;
    without.ep = without.etp = NOT_STATED;
    if (r->ep <= 1 || told(&x->log, TOLD_EXPERTS) || explain_try(x, r, &p) ||
        !explain_try(x, &without, &p))
        return;
    *r = without;
    x->log.told[TOLD_EP].by = BY_NONE;
    explain_assume(x, "ep", "1",
                   "the model has no experts: the degree that is named is of another");
}

// transformers' TrainingArguments leave gradient checkpointing off, and so do most programs.
// LLaMA-Factory and ms-swift turn it on, and so does peft for weights of few bits; axolotl does
// what its configuration says.
static bool leaves_checkpointing_off(const struct log *l)
{
    bool trainer = l->format == LOG_TRANSFORMERS || l->format == LOG_UNKNOWN;
    return trainer && !l->recomputes && (l->says_recompute || !told(l, TOLD_WEIGHT_BITS));
}

// What runs out of memory recomputes as little as it says; one that ran, as much as it needed.
static void undo_memory(struct explained *x)
{
    const struct run_default *t = &x->own.assumptions[TRAIT_RECOMPUTE].taken;
    bool failed = x->log.failure.out_of_memory, adapters = told_count(&x->log, TOLD_ADAPTERS) > 0;
    bool off = failed && leaves_checkpointing_off(&x->log);
    if ((!failed && !adapters) || !t->assumed || (!t->by_memory && !off)) return;
    if (x->asked.recompute == RECOMPUTE_NONE) return;
    x->asked.recompute = RECOMPUTE_NONE;
    explain_predict_row(x, &x->asked, true, &x->own);
    explain_assume(x, "recompute", "none",
                   failed ? "it failed, and does not say that it recomputes"
                          : "adapters alone are trained, which leaves room");
}

void explain_predict(struct explained *x)
{
    struct prediction again;
    x->assumed_count = x->asked_count;
    explain_predict_row(x, &x->asked, true, &x->own);
    if (strstr(x->own.reason, "lacks bf16") && x->log.failure.out_of_memory) {
        x->asked.precision = FP16;
        explain_assume(x, "precision", "fp16",
                       "the GPU computes bf16 in other units: as many bytes");
        explain_predict_row(x, &x->asked, true, &x->own);
    }
    if (!*x->own.reason) undo_memory(x);
    x->row = x->asked;
    if (*x->own.reason) return;
    explain_assume_batches(x);
    take_defaults(x);
    if (!explain_try(x, &x->row, &again)) return;
    predictor_problem(x->predictor, &x->problem, &x->placement, x->arena);
    x->problem.costs = *predictor_costs(x->predictor);
    if (x->unadjusted)
        explain_assume(x, "columns_alone", "1",
                       arena_print(x->arena,
                                   "what no column says (adapters, the printed model, the host's "
                                   "optimizer) is left out, since with it: %s",
                                   x->unadjusted));
    else explain_assume_adapters(x);
}

enum status explain_assemble(struct explained *x, struct error *err)
{
    TRY(row_of_log(x, err));
    struct run_row of_log = x->asked;
    TRY(set_columns(x, err));
    explain_read_model(x, &of_log);
    set_origin(x);
    assume_recipe(x);
    assume_benchmark(x);
    assume_gpus(x);
    explain_measured(x); // without what is assumed
    explain_assume_size(x);
    assume_script(x);
    explain_assume_by_flop(x);
    assume_sequence(x);
    explain_assume_request(x);
    assume_batch(x);
    explain_assume_pairs(x), explain_assume_models(x);
    explain_measured(x);
    TRY(explain_find_gpu(x, err));
    explain_assume_host(x);
    set_split(x), explain_take_lone(x);
    leave_out_experts(x);
    explain_leave_out_batch(x);
    assume_experts(x);
    x->asked_count = x->assumed_count;
    explain_predict(x);
    if (explain_assume_degrees(x)) explain_predict(x);
    if (explain_fit_card(x)) explain_predict(x);
    double seconds = explain_time_of_flop(x);
    if (!(x->measured_s > 0) && seconds > 0) {
        x->measured_s = seconds, x->measured_by = "the log's FLOP/s and the model's FLOP";
        x->certificate.solved = true;
    }
    return OK;
}
