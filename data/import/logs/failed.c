// A run's report of having run out of memory: its numbers, and what the program did then.
#include <ctype.h>
#include <string.h>

#include "data/import/logs/internal.h"

static const double mib = 1048576, gib = 1073741824;

static double unit_of(const char *s)
{
    s += strspn(s, " ");
    return !strncmp(s, "GiB", 3) ? gib : !strncmp(s, "MiB", 3) ? mib : 1;
}

static void amount(const char *line, const char *before, int64_t *to)
{
    double value;
    const char *after;
    if (!*to && number_after(line, before, &value, &after)) *to = (int64_t)(value * unit_of(after));
}

// "28.28 GiB already allocated": the number is before the words.
static void amount_before(const char *line, const char *words, int64_t *to)
{
    const char *at = strstr(line, words);
    double value;
    const char *after;
    if (!at || *to) return;
    while (at > line && strchr("GMKiB ", at[-1])) at--;
    while (at > line && strchr("0123456789.", at[-1])) at--;
    if (number_at(at, &value, &after)) *to = (int64_t)(value * unit_of(after));
}

// What the program did, by the lines of its traceback: the innermost of the outermost kind counts,
// so that a pass within an evaluation is one of evaluation.
struct place {
    const char *words;
    enum failure_phase phase;
    bool framed; // of a frame of a traceback, or the line behind it
};
static const struct place places[] = {{".backward(", PHASE_BACKWARD, false},
                                      {"exp_avg", PHASE_STEP, false},
                                      {"optimizer.step", PHASE_STEP, false},
                                      {"cross_entropy", PHASE_LOSS, false},
                                      {"logits.float()", PHASE_LOSS, false},
                                      {"allreduce_gradients", PHASE_SYNC, false},
                                      {"model.to(", PHASE_PLACING, false},
                                      {"initialize_optimizer_states", PHASE_STATES, false},
                                      {"in forward", PHASE_FORWARD, false},
                                      // PyTorch's FSDP and DeepSpeed
                                      {"_unshard", PHASE_GATHER, true},
                                      {"all_gather_into_tensor", PHASE_GATHER, true},
                                      {"fetch_sub_module", PHASE_GATHER, true},
                                      {"_configure_zero_optimizer", PHASE_STATES, true},
                                      {"_create_fp32_partitions", PHASE_STATES, true},
                                      {"get_megatron_optimizer", PHASE_STATES, true},
                                      {"in allreduce", PHASE_SYNC, true},
                                      {"in step", PHASE_STEP, true},
                                      {"_configure_distributed_model", PHASE_PLACING, true},
                                      {"in _apply", PHASE_PLACING, true},
                                      {"_ddp_init_helper", PHASE_WRAPPING, true},
                                      // transformers and trl
                                      {"in generate", PHASE_ANSWERS, true},
                                      {"_generate_and_score_completions", PHASE_ANSWERS, true},
                                      {"evaluation_loop", PHASE_EVALUATION, true},
                                      {"prediction_step", PHASE_EVALUATION, true},
                                      {"in evaluate", PHASE_EVALUATION, true},
                                      {"validation_step", PHASE_EVALUATION, true},
                                      {"in save_", PHASE_SAVING, true},
                                      {"_save_checkpoint", PHASE_SAVING, true},
                                      {"16bit_state_dict", PHASE_SAVING, true},
                                      {"full_post_state_dict", PHASE_SAVING, true},
                                      {"merge_and_unload", PHASE_SAVING, true},
                                      {"from_pretrained", PHASE_LOADING, true},
                                      {"load_pretrained_model", PHASE_LOADING, true},
                                      {"load_state_dict", PHASE_LOADING, true},
                                      {"set_module_tensor_to_device", PHASE_LOADING, true},
                                      {"caching_allocator_warmup", PHASE_LOADING, true},
                                      {"_load_from_checkpoint", PHASE_RESUMING, true},
                                      {"_load_optimizer_and_scheduler", PHASE_RESUMING, true},
                                      {"in load_checkpoint", PHASE_RESUMING, true},
                                      // engines that write answers
                                      {"init_rollout_engine", PHASE_ENGINE, true},
                                      {"packages/vllm/", PHASE_ENGINE, true},
                                      {"packages/sglang/", PHASE_ENGINE, true},
                                      // in words, beside those of the failure
                                      {"evaluation", PHASE_EVALUATION, false},
                                      {"evaluating", PHASE_EVALUATION, false},
                                      {"validation", PHASE_EVALUATION, false},
                                      {"saving", PHASE_SAVING, false},
                                      {"loading", PHASE_LOADING, false},
                                      {"generation", PHASE_ANSWERS, false},
                                      {"optimizer step", PHASE_STEP, false}};
enum { PLACES_IN_WORDS = 7, PLACES = ARRAY_LENGTH(places) - PLACES_IN_WORDS };

const char *const failure_phase_names[PHASE_COUNT] = {
    [PHASE_UNKNOWN] = "",
    [PHASE_FORWARD] = "in forward",
    [PHASE_LOSS] = "in the loss",
    [PHASE_GATHER] = "while it gathered weights",
    [PHASE_SYNC] = "in gradient sync",
    [PHASE_BACKWARD] = "in backward",
    [PHASE_STEP] = "in the optimizer's step",
    [PHASE_STATES] = "while it made the optimizer's states",
    [PHASE_PLACING] = "while it placed the model",
    [PHASE_WRAPPING] = "while it made DDP's buckets",
    [PHASE_ANSWERS] = "while it wrote answers",
    [PHASE_EVALUATION] = "in evaluation",
    [PHASE_SAVING] = "while it saved",
    [PHASE_LOADING] = "while it loaded the model",
    [PHASE_RESUMING] = "while it loaded a checkpoint",
    [PHASE_ENGINE] = "in an engine that writes answers"};

static int depth_of(enum failure_phase phase)
{
    return phase >= PHASE_RESUMING   ? 4
           : phase >= PHASE_SAVING   ? 3
           : phase >= PHASE_STATES   ? 2
           : phase >= PHASE_BACKWARD ? 1
                                     : 0;
}

static void read_phase(struct log *l, const char *line)
{
    struct log_failure *f = &l->failure;
    struct log_reader *r = l->reader;
    enum { FRAME_LINES = 2 };
    bool frame = strstr(line, ".py") && strstr(line, " in ");
    r->frame = frame ? FRAME_LINES : r->frame > 0 ? r->frame - 1 : 0;
    for (size_t i = 0; i < PLACES; i++) {
        const char *at = places[i].framed && !r->frame ? NULL : strstr(line, places[i].words);
        const char *end = at;
        while (end && (islower((unsigned char)*end) || *end == '_')) end++;
        bool setting = at && end > at + 5 &&
                       (!strncmp(end - 5, "dtype", 5) || !strncmp(end - 6, "fusion", 6));
        if (at && !setting && depth_of(places[i].phase) >= depth_of(f->phase))
            f->phase = places[i].phase;
    }
}

// "OOM during evaluation", "out of memory when saving": a line that speaks of the failure.
void log_phase_in_words(struct log *l, const char *line)
{
    static const char *const before[] = {"during ", "when ", "while ", "at ", "in ", "on ", NULL};
    for (size_t i = PLACES; i < ARRAY_LENGTH(places) && !l->failure.phase; i++) {
        const char *at = find_in_any_case(line, places[i].words), *from = at;
        for (int words = 0; from && from > line && words < 3; words += from[-1] == ' ') {
            if (begins_with_one(from, before) && at_border(line, from)) break;
            from--;
        }
        if (at && from && begins_with_one(from, before) && at_border(line, from))
            l->failure.phase = places[i].phase;
    }
}

// PyTorch's words for any kind of device ("CUDA", "HIP", "NPU", "XPU"), the drivers' and NCCL's.
static bool says_failed(const char *line)
{
    static const char *const words[] = {"CUDA out of memory",
                                        "HIP out of memory",
                                        "NPU out of memory",
                                        "XPU out of memory",
                                        " out of memory. Tried to allocate",
                                        "OutOfMemoryError",
                                        "CUDA error: out of memory",
                                        "HIP error: out of memory",
                                        "CUDA_ERROR_OUT_OF_MEMORY",
                                        "hipErrorOutOfMemory",
                                        "failure 'out of memory'",
                                        "failure 2 'out of memory'",
                                        NULL};
    return has_one_of(line, words);
}

// A report that a post has broken into lines.
static bool goes_on(const struct log_failure *f, const char *line)
{
    static const char *const words[] = {"total capacity", "already allocated", "is free",
                                        "allocated by PyTorch", NULL};
    return f->out_of_memory && has_one_of(line, words);
}

// "Process 7 has 30.51 GiB memory in use. Process 9 has ...": its own is the least that holds what
// its allocator has; the others' are what the card lacks.
static void read_processes(struct log_failure *f, const char *line, int64_t reserved)
{
    int64_t own = 0, all = 0;
    for (const char *s = line; (s = strstr(s, "Process ")); s++) {
        int64_t held = 0;
        const char *has = s + 8 + strspn(s + 8, "0123456789");
        if (has == s + 8 || strncmp(has, " has ", 5) != 0) continue;
        amount(has, " has ", &held);
        all += held;
        if (held >= reserved && (!own || held < own)) own = held;
    }
    f->listed |= all > 0;
    if (all && !f->other_bytes) f->other_bytes = f->process_bytes ? all : all - own;
}

void log_failed(struct log *l, const char *line)
{
    struct log_failure *f = &l->failure;
    if (!f->out_of_memory || !f->phase || l->reader->frame) read_phase(l, line);
    if (!says_failed(line) && !goes_on(f, line)) return;
    static const char *const raised[] = {"torch.", "RuntimeError", "OutOfMemoryError"};
    for (size_t i = 0; i < ARRAY_LENGTH(raised); i++)
        f->raised |= !strncmp(line, raised[i], strlen(raised[i]));
    f->out_of_memory = true;
    amount(line, "Tried to allocate", &f->tried_bytes);
    amount(line, "total capacity of", &f->card_bytes);
    amount(line, "total capacty of", &f->card_bytes); // PyTorch 2.1
    amount_before(line, "is free", &f->free_bytes);
    amount_before(line, "free;", &f->free_bytes);
    amount(line, "non-PyTorch memory, this process has", &f->process_bytes);
    amount(line, "Of the allocated memory", &f->allocated_bytes);
    amount_before(line, "is allocated by PyTorch", &f->allocated_bytes);
    int64_t idle = 0;
    amount(line, "allocated by PyTorch, and", &idle);
    if (idle && !f->reserved_bytes) f->reserved_bytes = f->allocated_bytes + idle;
    read_processes(f, line, f->reserved_bytes);
    amount_before(line, "total capacity;", &f->card_bytes);
    amount_before(line, "already allocated", &f->allocated_bytes);
    amount_before(line, "reserved in total", &f->reserved_bytes);
    if (f->card_bytes && !l->memory.card_bytes) l->memory.card_bytes = f->card_bytes;
}
