// A row's configuration as a problem: the model's shape, the layout, the job, the node group. The
// meaning of a blank cell is decided here (docs/FORMATS.md, runs), but for what depends on who ran
// it (unstated.c).
#include <ctype.h>

#include "data/kinds/schedules.h"
#include "formulate/predict/internal.h"

// ---- words in notes

static const char *find_boundaries(struct cell notes)
{
    static const char before[] = "pseudo-layers=[";
    int length = (int)sizeof before - 1;
    for (int i = 0; i + length <= notes.length; i++)
        if (notes.text[i] == 'p' && !memcmp(notes.text + i, before, (size_t)length))
            return notes.text + i + length;
    return NULL;
}

// "size=194B", for rows that do not state the number of layers.
static double find_size(struct cell notes)
{
    static const char before[] = "size=";
    int length = (int)sizeof before - 1;
    for (int i = 0; i + length < notes.length; i++) {
        if (notes.text[i] != 's' || memcmp(notes.text + i, before, (size_t)length)) continue;
        double size = 0;
        for (i += length; i < notes.length && isdigit((unsigned char)notes.text[i]); i++)
            size = 10 * size + (notes.text[i] - '0');
        return i < notes.length && notes.text[i] == 'B' ? size * 1e9 : 0;
    }
    return 0;
}

// The bare 1f1b occurs too often next to other names to mean anything.
static int find_schedule(struct cell notes)
{
    for (int kind = SCHEDULE_KIND_COUNT - 1; kind >= 0; kind--)
        if (schedule_kinds[kind].in_notes && cell_contains(notes, schedule_names[kind]))
            return kind;
    // The names that arXiv 2401.10241 uses for the schedules its optimiser finds.
    return cell_contains(notes, "zb-1p")   ? (int)SCHEDULE_ZB_H1
           : cell_contains(notes, "zb-2p") ? (int)SCHEDULE_ZB_H2
                                           : NOT_STATED;
}

void predict_read_words(struct row_words *w, const struct run_row *row)
{
    static const char *const precisions[] = {"bf16", "fp16", "fp32"};
    static const enum precision which[] = {BF16, FP16, FP32};
    struct cell notes = row->notes;
    if (w->notes.text && same_text(w->notes, notes) && same_text(w->source, row->source)) return;
    bool llama = cell_contains(notes, "llama") || cell_contains(row->source, "llama");
    bool nemotron = cell_contains(notes, "nemotron") || cell_contains(row->source, "nemotron");
    *w = (struct row_words){.source = row->source,
                            .notes = notes,
                            .family = llama      ? FAMILY_LLAMA
                                      : nemotron ? FAMILY_NEMOTRON
                                                 : FAMILY_GPT,
                            .untied = cell_contains(notes, "untie"),
                            .gated = llama || cell_contains(notes, "swiglu=true"),
                            .rms_norm = llama || cell_contains(notes, "RMSNorm"),
                            .fused_loss = cell_contains(notes, "cross-entropy-loss-fusion=true"),
                            .deepspeed = cell_contains(notes, "DeepSpeed") ||
                                         cell_contains(notes, "ZeRO-3"),
                            .schedule = find_schedule(notes),
                            .parameters = find_size(notes),
                            .overlapped = cell_contains(notes, "overlap-grad-reduce=true"),
                            .wide_sums = cell_contains(notes, "fp32 grad"),
                            .embedding_counted = cell_contains(notes, "embedding counted"),
                            .precision = cell_contains(notes, "fp8") ? FP8 : NOT_STATED,
                            .boundaries = find_boundaries(notes)};
    for (size_t i = ARRAY_LENGTH(precisions); i-- > 0;)
        if (cell_contains(notes, precisions[i])) w->precision = which[i];
}

void row_drop_notes(struct run_row *row, FILE *to, bool *told)
{
    struct row_words said = {0};
    if (!*told && (row->notes.length || row->source.length)) {
        predict_read_words(&said, row);
        *told = said.family != FAMILY_GPT || said.untied || said.gated || said.rms_norm ||
                said.overlapped || said.wide_sums || said.embedding_counted || said.fused_loss ||
                said.deepspeed || said.precision != NOT_STATED || said.schedule != NOT_STATED ||
                said.parameters > 0 || said.boundaries;
        if (*told)
            fprintf(to,
                    "line %d: words in notes or source name settings; --read-notes reads them "
                    "(reported once)\n",
                    row->line);
    }
    row->notes = row->source = (struct cell){"", 0};
}

// ---- job

static int degree(int64_t value) { return value == NOT_STATED ? 1 : (int)value; }

// Degrees that are not stated: one, and as many replicas as the GPUs allow.
static bool set_degrees(struct layout *l, const struct run_row *row, struct prediction *prediction)
{
    l->tensor = degree(row->tp);
    l->context = degree(row->cp);
    l->pipeline = degree(row->pp);
    int64_t replica = (int64_t)l->tensor * l->context * l->pipeline;
    int64_t left = row->num_gpus == NOT_STATED || row->num_gpus < replica ? 1
                                                                          : row->num_gpus / replica;
    l->data = (int)stated(row->dp, left < 65536 ? left : 65536);
    if (row->num_gpus == NOT_STATED || replica * l->data == row->num_gpus) return true;
    return predict_refuse(prediction, "tp x cp x pp x dp = %lld, num_gpus %lld",
                          (long long)(replica * l->data), (long long)row->num_gpus);
}

// Several stages per rank are interleaved, unless the row says otherwise.
static bool set_schedule(struct layout *l, const struct row_words *words, const struct run_row *row,
                         struct prediction *prediction)
{
    l->virtual_stages = l->pipeline > 1 ? (int)stated(row->vpp, 1) : 1;
    l->slice_count = 1;
    l->expert = (int)stated(row->ep, 1);
    // Unstated, experts have the tensor ranks of attention, or one where only that divides.
    int ranks = l->data * l->context;
    bool alone = row->etp == NOT_STATED && ranks % l->expert && ranks * l->tensor % l->expert == 0;
    int64_t etp = alone ? 1 : row->etp;
    l->expert_tensor = etp == l->tensor ? 0 : (int)stated(etp, 0);
    int named = row->schedule != NOT_STATED ? row->schedule : words->schedule;
    l->schedule = named != NOT_STATED     ? named
                  : l->virtual_stages > 1 ? SCHEDULE_INTERLEAVED
                                          : SCHEDULE_1F1B;
    int wanted = schedule_kinds[l->schedule].virtual_stages;
    l->barrier = stated(row->barrier, !schedule_kinds[l->schedule].no_barrier);
    if (wanted > 1) l->virtual_stages = wanted;
    if (schedule_kinds[l->schedule].slices)
        return predict_refuse(prediction, "a row cannot state the slices of %s",
                              schedule_names[l->schedule]);
    if ((l->virtual_stages > 1) != (wanted != 1))
        return predict_refuse(prediction, "vpp and schedule contradict each other");
    if (layout_stage_count(l) > STAGES_MAX)
        return predict_refuse(prediction, "more than %d stages", STAGES_MAX);
    return true;
}

// Low ranks that the row states: one option each, which every stage uses.
static void set_compression(struct predictor *p, const struct run_row *row)
{
    struct job *job = &p->problem.job;
    p->boundary = (struct compression_option){.form.amount = (int)stated(row->boundary_rank, 0),
                                              .epilogue_only = stated(row->boundary_drain, 0)};
    p->gradient = (struct compression_option){.form.amount = (int)stated(row->gradient_rank, 0)};
    job->boundary_options = &p->boundary, job->gradient_options = &p->gradient;
    job->boundary_option_count = p->boundary.form.amount > 0;
    job->gradient_option_count = p->gradient.form.amount > 0;
}

static bool set_job(struct predictor *p, const struct run_row *row, struct prediction *prediction)
{
    struct job *job = &p->problem.job;
    struct layout *l = &job->layout;
    if (!set_degrees(l, row, prediction)) return false;
    if (!set_schedule(l, &p->words, row, prediction)) return false;
    l->micro_batch = (int)stated(row->micro_batch, 1);
    l->sequence_parallel = row->sp;
    l->fused_attention = row->fused > 0;
    job->attention_kernel = row->fused == FUSED_OPEN      ? ATTENTION_FLASH_2
                            : row->fused == FUSED_TRITON  ? ATTENTION_TRITON
                            : row->fused == FUSED_EARLIER ? ATTENTION_MAKER_2024
                                                          : ATTENTION_MAKER;
    l->zero = (int)row->zero;
    l->data_shard = l->zero && row->dp_shard != l->data ? (int)stated(row->dp_shard, 0) : 0;
    int64_t step = (int64_t)l->data * l->micro_batch;
    job->sequence = row->seq;
    job->global_batch = stated(row->global_batch, step * l->pipeline);
    job->precision = (enum precision)row->precision;
    job->trainer = (enum trainer)row->trainer;
    l->gradient_sync = row->overlap ? SYNC_OVERLAPPED : SYNC_EXPOSED;
    set_compression(p, row);
    // Each of Megatron's tensor ranks sends its part of a message; DeepSpeed's send all of it.
    job->scattered_messages = stated(row->scattered_messages, job_like_megatron(job));
    job->overlapped_messages = row->overlap_messages;
    job->overlapped_tensor = row->overlap_tensor;
    job->exposed_input_gradients = !stated(row->overlap_input_gradients, 1) &&
                                   job->trainer == TRAINER_MEGATRON;
    job->compiled = row->compiled;
    if (row->dispatcher != NOT_STATED) job->dispatcher = (enum dispatcher)row->dispatcher;
    job->expert_products = (enum expert_products)stated(row->expert_products, EXPERTS_BY_TRAINER);
    job->expert_padding = isnan(row->expert_padding) ? 0 : row->expert_padding;
    if (row->checkpoints != NOT_STATED) job->checkpoints = (enum checkpoints)row->checkpoints;
    if (row->graphs != NOT_STATED) job->graphs = (enum graphs)row->graphs;
    job->context_kind = (enum context_kind)stated(row->context_kind, CONTEXT_RING);
    job->overlapped_dispatch = stated(row->overlap_dispatch, 0);
    job->fixed_capacity = stated(row->fixed_capacity, 0);
    for (int i = 0; i < UNFUSED_COUNT; i++) job->unfused[i] = row->unfused >> i & 1;
    job->fused_loss = stated(row->fused_loss, p->words.fused_loss);
    job->stopped_recompute = stated(row->stopped_recompute, 0);
    job->gathered_logits = stated(row->gathered_logits, 0);
    job->gathered_inputs = stated(row->gathered_inputs, 0);
    job->chunked_loss = stated(row->chunked_loss, 0);
    job->kept_logits = stated(row->kept_logits, 0) && job_may_be_pytorch(job);
    job->loss_in_place = stated(row->loss_in_place, 0) && job->trainer == TRAINER_MEGATRON;
    job->fp8_activation_input = stated(row->fp8_activation_input, 0);
    job->whole_gradient_sums = stated(row->whole_gradient_sums, 0);
    job->owner_broadcasts = stated(row->owner_broadcasts, 0);
    job->split_gate = stated(row->split_gate, 0);
    job->gradient_bytes_per_value = (int)row->gradient_bytes;
    job->adam = stated(row->adam, 1);
    job->state_bytes_per_value = job->adam ? (int)stated(row->state_bytes, 0) : 0;
    if ((job->whole_gradient_sums && !job_may_sum_whole(job)) ||
        (job->owner_broadcasts && !job_may_broadcast(job)) ||
        (job->split_gate && !job_may_split_gate(job)) ||
        (job->gathered_inputs && !job_may_be_pytorch(job)))
        return predict_refuse(prediction,
                              "whole_gradient_sums, owner_broadcasts, split_gate, "
                              "gathered_inputs: not of this trainer or not beside one another, or "
                              "gradient_rank is stated");
    job->memory_fraction = p->settings.margin;
    job->memory_margin_bytes = p->settings.margin_bytes;
    if (job->global_batch % step || job->global_batch / step > MICRO_BATCHES_MAX)
        return predict_refuse(prediction,
                              "global_batch %lld is not dp x micro_batch %lld times 1 to %d",
                              (long long)job->global_batch, (long long)step, MICRO_BATCHES_MAX);
    return true;
}

static bool check_divides(int64_t value, int64_t by, const char *what,
                          struct prediction *prediction)
{
    if (value % by == 0) return true;
    return predict_refuse(prediction, "%s %lld is no multiple of %lld", what, (long long)value,
                          (long long)by);
}

static bool check_fit(const struct predictor *p, struct prediction *prediction)
{
    const struct shape *s = &p->problem.model.shape;
    const struct layout *l = &p->problem.job.layout;
    int64_t ranks = (int64_t)l->context * (l->sequence_parallel ? l->tensor : 1);
    return check_divides(s->heads, l->tensor, "heads", prediction) &&
           (job_shares_keys(&p->problem.job, s->kv_heads) ||
            check_divides(s->kv_heads, l->tensor, "kv_heads", prediction)) &&
           check_divides(s->heads, s->kv_heads, "heads", prediction) &&
           check_divides(s->ffn, l->tensor, "ffn", prediction) &&
           check_divides(p->problem.job.sequence, ranks, "seq", prediction);
}

// ---- split

static bool put_counts(struct placement *to, int stages, const int *starts,
                       struct prediction *prediction)
{
    to->stage_count = stages;
    for (int s = 0; s < stages; s++) {
        to->layer_count[s] = starts[s + 1] - starts[s];
        if (to->layer_count[s] < 1) return predict_refuse(prediction, "stage %d holds no layer", s);
    }
    return true;
}

// Whole numbers in a text up to `end`, at most max; -1: more.
static int read_numbers(const char *at, const char *end, int *numbers, int max)
{
    int count = 0;
    while (at < end) {
        if (!isdigit((unsigned char)*at)) {
            at++;
            continue;
        }
        if (count == max) return -1;
        int x = 0;
        for (; at < end && isdigit((unsigned char)*at) && x < 1000000; at++)
            x = 10 * x + (*at - '0');
        numbers[count++] = x;
    }
    return count;
}

// "split": blocks on each stage; the embedding is on the first stage, `behind` layers on the last:
// those that predict further tokens, and the head.
static bool split_as_stated(struct placement *to, struct cell split, int stages, int blocks,
                            int behind, struct prediction *prediction)
{
    int counts[STAGES_MAX], starts[STAGES_MAX + 1] = {0};
    int count = read_numbers(split.text, split.text + split.length, counts, STAGES_MAX);
    if (count != stages)
        return predict_refuse(prediction, "split states %d stages, the layout has %d", count,
                              stages);
    int layer = 1;
    for (int s = 0; s < stages; s++) starts[s + 1] = layer += counts[s];
    if (layer != blocks + 1)
        return predict_refuse(prediction, "split holds %d layers, the model has %d", layer - 1,
                              blocks);
    starts[stages] += behind;
    return put_counts(to, stages, starts, prediction);
}

// AMP writes boundaries over its own sequence: embedding, no-op, the blocks, two no-ops, head,
// no-op.
static bool split_as_amp(struct placement *to, const char *list, const char *end, int stages,
                         int blocks, struct prediction *prediction)
{
    int pseudo[STAGES_MAX + 1], starts[STAGES_MAX + 1];
    const char *close = memchr(list, ']', (size_t)(end - list));
    int count = close ? read_numbers(list, close, pseudo, STAGES_MAX + 1) : -1;
    if (count != stages + 1 || pseudo[0] != 0 || pseudo[stages] != blocks + 6)
        return predict_refuse(prediction, "the boundaries in notes do not fit the layout");
    for (int s = 0; s <= stages; s++) {
        int at = pseudo[s];
        starts[s] = at == 0            ? 0
                    : at <= 2          ? 1
                    : at <= blocks + 2 ? at - 1
                    : at <= blocks + 4 ? blocks + 1
                                       : blocks + 2;
    }
    return put_counts(to, stages, starts, prediction);
}

// Divides units of equal weight (all layers, or all but those before and after them) over the
// stages, the remainder one by one from the first stage on.
static void split_units(struct placement *to, int stages, int before, int units, int behind)
{
    to->stage_count = stages;
    for (int s = 0; s < stages; s++) to->layer_count[s] = units / stages + (s < units % stages);
    to->layer_count[0] += before;
    to->layer_count[stages - 1] += behind;
}

// Equal blocks as in Megatron. If the embedding is counted as a layer (BigScience's partition),
// embedding and head take the place of a block each; if the blocks do not divide evenly, the first
// stages hold one more.
static void split_equally(struct placement *to, bool embedding_counted, int stages, int blocks)
{
    if ((embedding_counted || blocks % stages) && (blocks + 2) % stages == 0 && stages > 2)
        split_units(to, stages, 0, blocks + 2, 0);
    else split_units(to, stages, 1, blocks, 1);
}

// Layers between those before and after them: a run of one layer at either end.
struct units {
    int before, count, behind;
};

static enum status find_units(struct units *u, struct placement *to, const struct problem *problem,
                              enum recompute recompute, struct error *err)
{
    const struct model *m = &problem->model;
    int stages = layout_stage_count(&problem->job.layout), last = m->run_count - 1;
    *u = (struct units){.before = m->run_count > 1 && m->runs[0].count == 1,
                        .behind = m->run_count > 2 && m->runs[last].count == 1};
    u->count = m->layer_count - u->before - u->behind;
    const struct layout *l = &problem->job.layout;
    if (layout_recomputes_alike(l) && recompute == RECOMPUTE_NONE) recompute = layout_recompute(l);
    *to = (struct placement){.recompute = recompute, .recomputed_layers = l->recomputed_layers};
    if (layout_recomputes_alike(l) && recompute != layout_recompute(l))
        return refuse(err, "%s: recompute: the layout sets %s for all stages, found %s",
                      problem->job.name, recompute_names[layout_recompute(l)],
                      recompute_names[recompute]);
    if (!problem->job.recompute[recompute] && recompute != RECOMPUTE_NONE)
        return refuse(err, "%s: recompute: the job does not offer %s", problem->job.name,
                      recompute_names[recompute]);
    if (u->count < stages) *u = (struct units){.count = m->layer_count};
    if (u->count < stages)
        return refuse(err, "%s: %d layers on %d stages", problem->name, u->count, stages);
    return OK;
}

enum status placement_equal(struct placement *to, const struct problem *problem,
                            enum recompute recompute, struct error *err)
{
    struct units u;
    TRY(find_units(&u, to, problem, recompute, err));
    split_units(to, layout_stage_count(&problem->job.layout), u.before, u.count, u.behind);
    return OK;
}

enum status placement_stated(struct placement *to, const struct problem *problem,
                             const char *blocks, enum recompute recompute, struct error *err)
{
    struct units u;
    int sum = 0, stages = layout_stage_count(&problem->job.layout);
    TRY(find_units(&u, to, problem, recompute, err));
    if (strspn(blocks, "0123456789,") != strlen(blocks))
        return refuse(err, "expected layers on each stage, as 8,8,9,7; found '%s'", blocks);
    to->stage_count = read_numbers(blocks, blocks + strlen(blocks), to->layer_count, STAGES_MAX);
    for (int s = 0; s < to->stage_count; s++) {
        sum += to->layer_count[s];
        if (!to->layer_count[s]) return refuse(err, "'%s': stage %d holds no layer", blocks, s);
    }
    if (to->stage_count != stages || sum != u.count)
        return refuse(err,
                      "'%s': expected %d layers (without embedding and head) on %d stages, found "
                      "%d on %d",
                      blocks, u.count, stages, sum, to->stage_count);
    to->layer_count[0] += u.before;
    to->layer_count[stages - 1] += u.behind;
    return OK;
}

// Those between the embedding and the layers that predict further tokens, which are on the last
// stage.
static int main_layers(const struct model *m) { return m->layer_count - 2 - model_mtp_depth(m); }

// Its engine of 1F1B asserts that a step warms up every stage but one (engine.py since 2023-09).
static bool nanotron_starts(const struct predictor *p, struct prediction *prediction)
{
    const struct layout *l = &p->problem.job.layout;
    int micro_batches = job_micro_batches(&p->problem.job);
    prediction->impossible = l->schedule == SCHEDULE_1F1B && micro_batches < l->pipeline - 1;
    return !prediction->impossible ||
           predict_refuse(prediction,
                          "nanotron's 1f1b: %d micro-batches on %d stages, expected "
                          "one fewer than stages at least",
                          micro_batches, l->pipeline);
}

static bool set_placement(struct predictor *p, const struct run_row *row,
                          struct prediction *prediction)
{
    int stages = layout_stage_count(&p->problem.job.layout),
        blocks = main_layers(&p->problem.model);
    struct placement *to = &p->placement;
    const char *end = row->notes.text + row->notes.length;
    to->recompute = (enum recompute)row->recompute;
    to->recomputed_layers = row->recomputed_layers;
    to->compresses_boundaries = p->problem.job.boundary_option_count > 0;
    to->compresses_gradients = p->problem.job.gradient_option_count > 0;
    int further = model_mtp_depth(&p->problem.model);
    if (row->split.length)
        return split_as_stated(to, row->split, stages, blocks, further + 1, prediction);
    if (p->words.boundaries)
        return split_as_amp(to, p->words.boundaries, end, stages, blocks, prediction);
    prediction->impossible = blocks < stages && blocks + 2 != stages;
    if (prediction->impossible)
        return predict_refuse(prediction, "%d layers on %d stages", blocks, stages);
    bool alike = p->problem.model.run_count == 3 && p->problem.model.runs[1].kind == LAYER_BLOCK;
    if (p->origin->origin.program == PROGRAM_NANOTRON && !nanotron_starts(p, prediction))
        return false;
    if (p->origin->origin.program == PROGRAM_NANOTRON && alike &&
        stages == p->problem.job.layout.pipeline)
        return split_by_work(to, &p->problem.model, stages, prediction);
    split_equally(to, p->words.embedding_counted, stages, blocks);
    to->layer_count[stages - 1] += further;
    return true;
}

// What is predicted could be solved for, too: the rules are those of a job's layout.
static bool check_rules(const struct predictor *p, struct prediction *prediction)
{
    struct error err; // a large text: not cleared
    err.status = OK;
    if (problem_check_layout(&p->problem, &err) == OK) return true;
    return predict_refuse(prediction, "%s", err.text);
}

bool predict_set_up(struct predictor *p, const struct run_row *row, struct prediction *prediction)
{
    struct problem *problem = &p->problem;
    *problem = (struct problem){
        .name = "row",
        .cluster = {.name = "row", .groups = p->fleet.groups},
        .job = {.name = "row", .budget = {.boundaries_max = -1, .stages_max = -1, .cost_max = -1}}};
    if (row->recompute != NOT_STATED) problem->job.recompute[row->recompute] = true;
    return predict_set_model(p, row, prediction) && set_job(p, row, prediction) &&
           check_fit(p, prediction) && set_placement(p, row, prediction) &&
           predict_set_fleet(p, row, prediction) && check_rules(p, prediction);
}
