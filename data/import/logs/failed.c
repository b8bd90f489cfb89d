// A run's report of having run out of memory: its numbers, and what the program did then.

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
    enum failure_phase phase;
    bool framed; // of a frame of a traceback, or the line behind it
    const char *words[6];
};
static const struct place places[] = {
    {PHASE_BACKWARD, false, {".backward("}},
    {PHASE_STEP, false, {"exp_avg", "optimizer.step"}},
    {PHASE_LOSS, false, {"cross_entropy", "logits.float()"}},
    {PHASE_SYNC, false, {"allreduce_gradients"}},
    {PHASE_PLACING, false, {"model.to("}},
    {PHASE_STATES, false, {"initialize_optimizer_states"}},
    {PHASE_FORWARD, false, {"in forward"}},
    // PyTorch's FSDP and DeepSpeed
    {PHASE_GATHER, true, {"_unshard", "all_gather_into_tensor", "fetch_sub_module"}},
    {PHASE_STATES,
     true,
     {"_configure_zero_optimizer", "_create_fp32_partitions", "get_megatron_optimizer"}},
    {PHASE_SYNC, true, {"in allreduce"}},
    {PHASE_STEP, true, {"in step"}},
    {PHASE_PLACING, true, {"_configure_distributed_model", "in _apply"}},
    {PHASE_WRAPPING, true, {"_ddp_init_helper"}},
    // transformers and trl
    {PHASE_ANSWERS, true, {"in generate", "_generate_and_score_completions"}},
    {PHASE_EVALUATION,
     true,
     {"evaluation_loop", "prediction_step", "in evaluate", "validation_step"}},
    {PHASE_SAVING,
     true,
     {"in save_", "_save_checkpoint", "16bit_state_dict", "full_post_state_dict",
      "merge_and_unload"}},
    {PHASE_LOADING,
     true,
     {"from_pretrained", "load_pretrained_model", "load_state_dict", "set_module_tensor_to_device",
      "caching_allocator_warmup"}},
    {PHASE_RESUMING,
     true,
     {"_load_from_checkpoint", "_load_optimizer_and_scheduler", "in load_checkpoint"}},
    // engines that write answers
    {PHASE_ENGINE, true, {"init_rollout_engine", "packages/vllm/", "packages/sglang/"}},
    // in words, beside those of the failure
    {PHASE_EVALUATION, false, {"evaluation", "evaluating", "validation"}},
    {PHASE_SAVING, false, {"saving"}},
    {PHASE_LOADING, false, {"loading"}},
    {PHASE_ANSWERS, false, {"generation"}},
    {PHASE_STEP, false, {"optimizer step"}},
};
enum { PLACES_IN_WORDS = 5, PLACES = ARRAY_LENGTH(places) - PLACES_IN_WORDS };

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
        if (places[i].framed && !r->frame) continue;
        for (const char *const *word = places[i].words; *word; word++) {
            const char *at = strstr(line, *word), *end = at;
            while (end && (islower((unsigned char)*end) || *end == '_')) end++;
            bool setting = at && end > at + 5 &&
                           (!strncmp(end - 5, "dtype", 5) || !strncmp(end - 6, "fusion", 6));
            if (at && !setting && depth_of(places[i].phase) >= depth_of(f->phase))
                f->phase = places[i].phase;
        }
    }
}

// "OOM during evaluation", "out of memory when saving": a line that speaks of the failure.
void log_phase_in_words(struct log *l, const char *line)
{
    static const char *const before[] = {"during ", "when ", "while ", "at ", "in ", "on ", NULL};
    for (size_t i = PLACES; i < ARRAY_LENGTH(places); i++)
        for (const char *const *word = places[i].words; *word && !l->failure.phase; word++) {
            const char *at = find_in_any_case(line, *word), *from = at;
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

// A process ended by signal 9, in the words of launchers (torchrun, DeepSpeed, Ray), Slurm,
// Kubernetes, the kernel and the shell ("Killed", alone or behind a number).
static bool says_killed(const char *line)
{
    static const char *const words[] = {
        "exitcode: -9",      "exitcode  : -9",  "exit code -9",   "exit code: -9",
        "code = -9",         "code -9",         "SIGKILL: 9",     "oom-kill",
        "oom_kill",          "Killed process ", "OOMKilled",      "killed by signal 9",
        "signal 9 (Killed)", "exit code 137",   "exit code: 137", NULL};
    size_t length = strlen(line);
    bool shell = length >= 6 && length < 200 && !strncmp(line + length - 6, "Killed", 6);
    return has_one_of(line, words) ||
           (shell && (length == 6 || strchr(" 0123456789", line[length - 7]))) ||
           (strstr(line, "Signal 9") && strstr(line, "SIGKILL"));
}

// "512GB RAM", "1TB of host memory", "CPU Memory : 1007.60 GB", "--mem=256G": of a host.
static int64_t host_in_words(const char *line)
{
    static const char *const behind[] = {
        "ram",        "of ram",        "cpu ram",          "host memory",    "system memory",
        "cpu memory", "of cpu memory", "of system memory", "of host memory", "main memory",
        NULL};
    static const char *const before[] = {
        "cpu memory", "system memory", "host memory", "--mem=", "ram:", "ram :", NULL};
    double value;
    const char *after;
    for (const char *const *word = before; *word; word++) {
        const char *at = find_in_any_case(line, *word), *number = at ? at + strlen(*word) : "";
        number += strspn(number, " :=~");
        if (at && at_border(line, at) && number_at(number, &value, &after) && value >= 8 &&
            (after[*after == ' '] | 32) == 'g' && value < 1e5)
            return (int64_t)(value * gib);
    }
    for (const char *s = line; *s; s++) {
        if (!isdigit((unsigned char)*s) || !at_border(line, s) || !number_at(s, &value, &after))
            continue;
        const char *unit = after + (*after == ' ');
        double scale = (*unit | 32) == 't' ? 1024 : (*unit | 32) == 'g' ? 1 : 0;
        unit += scale > 0, unit += *unit == 'i', unit += (*unit | 32) == 'b';
        if (scale > 0 && *unit == ' ' && begins_with_one(unit + 1, behind) && value * scale >= 8)
            return (int64_t)(value * scale * gib);
        s = after - 1;
    }
    return 0;
}

// A title, or a short line, that says whose memory was lacking: the host's.
enum { HEADING = 32, POST = 2000 };
static bool says_host(const char *line)
{
    static const char *const words[] = {"out of cpu memory",  "cpu oom",    "oom on cpu",
                                        "cpu memory oom",     "oom on ram", "ram oom",
                                        "host oom",           "out of ram", "cpu out of memory",
                                        "out of host memory", NULL};
    return has_one_in_any_case(line, words);
}

// What was said of how memory went: it came to lack after steps that ran.
static bool says_growing(const char *line)
{
    static const char *const words[] = {
        "memory leak",
        "keeps increasing",
        "keep increasing",
        "gradually increas",
        "continuously incr",
        "memory grows",
        "keeps growing",
        "increases over time",
        "increasing over",
        "increases with each",
        "increases after each",
        "after several steps",
        "after a few steps",
        "after some steps",
        "steps before OOM",
        "\xe6\xad\xa5\xe5\x90\x8e",             // steps later
        "\xe9\x80\x90\xe6\xb8\x90\xe5\xa2\x9e", // grows by and by
        "\xe4\xb8\x80\xe7\x9b\xb4\xe5\xa2\x9e", // grows all the time
        "\xe4\xb8\x8d\xe6\x96\xad\xe5\xa2\x9e",
        "\xe4\xb8\x80\xe7\x9b\xb4\xe6\xb6\xa8",
        NULL};
    const char *after = find_in_any_case(line, "after step "); // "OOM after step 683"
    return has_one_in_any_case(line, words) || (after && isdigit((unsigned char)after[11]));
}

// What a host's system did, and what it has.
static void read_killed(struct log *l, const char *line)
{
    static const char *const memory[] = {"RAM", "ram", "emory", "--mem=", NULL};
    struct log_failure *f = &l->failure;
    f->host_full |= strstr(line, "DefaultCPUAllocator: ") != NULL; // PyTorch's
    if (!f->killed) f->killed = f->host_full || says_killed(line);
    if (!f->host_bytes && has_digit(line) && has_one_of(line, memory))
        f->host_bytes = host_in_words(line);
    if (l->lines > POST) return;
    bool heading = (l->lines == 1 && line[0] == '#') || strlen(line) < HEADING;
    f->host_in_title |= heading && says_host(line) && !strstr(line, "CUDA");
    if (!f->grows) f->grows = says_growing(line);
}

void log_failed(struct log *l, const char *line)
{
    struct log_failure *f = &l->failure;
    read_killed(l, line);
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
