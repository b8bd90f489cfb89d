// Reads a log from beginning to end: each format's function sees each line.

#include "data/import/logs/internal.h"

// Lines of which thousands come, and which name nothing new: only the format's own function sees
// them.
static bool is_measured_line(const char *line)
{
    const char *rate = strstr(line, "tps:");          // torchtitan's; an address has "https:"
    if (line[strspn(line, " ")] == '|') return false; // a table's row
    if (rate && (rate == line || !isalpha((unsigned char)rate[-1]))) return true;
    return strstr(line, "elapsed time per iteration") || strstr(line, "CurrSamplesPerSec=") ||
           strstr(line, "train_step_timing") || strstr(line, ":::MLLOG") ||
           strstr(line, "time (ms)") || strstr(line, "elapsed_time_per_iteration_ms=");
}

static void read_line(struct log *l, const char *line)
{
    static void (*const formats[])(struct log *, const char *) = {
        log_megatron, log_titan, log_deepspeed, log_nemo, log_mlperf, log_trainer};
    bool plain = !is_measured_line(line);
    if (!told(l, TOLD_VERSION)) log_date(l, line);
    if (plain) log_memory(l, line);
    if (plain && !l->reader->in_dump && log_table(l, line)) return;
    for (size_t i = 0; i < ARRAY_LENGTH(formats); i++) formats[i](l, line);
    if (!plain || l->reader->in_dump) return;
    log_names(l, line);
    if (!strstr(line, "[config.py:") && strncmp(line, "export ", 7) != 0) log_settings(l, line);
    log_compression(l, line);
    log_words(l, line), log_prose(l, line);
}

// Of what was seen most; where two share a line, the more special one.
static enum log_format format_of(const struct log *l)
{
    enum log_format best = LOG_UNKNOWN;
    for (int f = 1; f < LOG_FORMAT_COUNT; f++)
        if (l->seen[f] && l->seen[f] >= l->seen[best]) best = (enum log_format)f;
    bool deep = told(l, TOLD_DEEPSPEED) && *l->told[TOLD_DEEPSPEED].text == '1';
    if (l->dumped && deep) best = LOG_MEGATRON_DEEPSPEED;
    else if (l->dumped && best == LOG_DEEPSPEED) best = LOG_MEGATRON;
    if (l->seen[LOG_MLPERF]) best = LOG_MLPERF;
    else if (l->seen[LOG_BRIDGE]) best = LOG_BRIDGE;
    else if (best == LOG_DEEPSPEED && l->seen[LOG_MEGATRON_DEEPSPEED])
        best = LOG_MEGATRON_DEEPSPEED;
    else if (best == LOG_MEGATRON && l->seen[LOG_DEEPSPEED] && l->seen[LOG_MEGATRON_DEEPSPEED])
        best = LOG_MEGATRON_DEEPSPEED;
    else if (l->seen[LOG_LLAMA_FACTORY]) best = LOG_LLAMA_FACTORY;
    if (best == LOG_UNKNOWN && l->reader->names_bridge) best = LOG_BRIDGE;
    if (best == LOG_UNKNOWN && l->reader->names_nemo) best = LOG_NEMO;
    if (best == LOG_UNKNOWN && l->reader->names_titan) best = LOG_TORCHTITAN;
    if (best == LOG_UNKNOWN && l->reader->names_megatron) best = LOG_MEGATRON;
    return best;
}

// In words, of a post: a log has the error itself.
enum { SHORT_POST = 200 };

// A run without its time: a model, what it ran on, and a degree, a length or a batch; no manual.
enum { DESCRIPTION = 100 };
static bool describes_run(const struct log *l)
{
    static const enum told of[] = {TOLD_TP,          TOLD_PP,           TOLD_DP,  TOLD_SEQ,
                                   TOLD_MICRO_BATCH, TOLD_GLOBAL_BATCH, TOLD_ZERO};
    bool model = told(l, TOLD_MODEL) || (told(l, TOLD_LAYERS) && told(l, TOLD_HIDDEN)),
         machine = told(l, TOLD_GPU) || told(l, TOLD_NUM_GPUS) || told(l, TOLD_NODES), any = false;
    for (size_t i = 0; i < ARRAY_LENGTH(of); i++) any |= told(l, of[i]);
    return model && machine && any && !l->runs.count && l->lines < DESCRIPTION;
}

static bool says_something(struct log *l)
{
    // What ran and speaks of failures that were not raised and have no numbers warns of them.
    bool counted = l->failure.raised || l->failure.tried_bytes || l->failure.allocated_bytes ||
                   l->failure.card_bytes;
    bool ran = l->average_s > 0;
    for (int i = 0; i < MEASURED_COUNT; i++) ran |= l->series[i].count > 0;
    if (ran && !counted) l->failure.out_of_memory = false;
    if (l->failure.host_in_title && !counted) l->failure.killed = l->failure.host_full = true;
    // Steps before it failed, as its title says.
    if (ran && l->reader->failed_by_title && l->reader->traced && l->lines < SHORT_POST)
        l->failure.out_of_memory = true;
    if (ran) return true;
    if (l->mentions_failure && l->lines < SHORT_POST && !l->failure.killed)
        l->failure.out_of_memory = true;
    if (l->failure.out_of_memory && !told(l, TOLD_GPU) && !l->memory.card_bytes)
        l->memory.card_bytes = (int64_t)l->reader->card_gb << 30;
    bool summary = l->seen[LOG_TRANSFORMERS] > 3 && told(l, TOLD_MICRO_BATCH); // the trainer's
    return summary || l->failure.out_of_memory || l->average_s > 0 || l->block_s > 0 ||
           l->arguments || l->failure.killed || describes_run(l);
}

// Of tables with several runs: which were none asked for, or not there, or has no rate to count.
static enum status refuse_runs(const struct log *l, struct error *err)
{
    const struct log_runs *r = &l->runs;
    if (!r->count)
        return refuse(err, "%s: --run: expected a table of runs with a column of rates, found none",
                      l->path);
    if (r->several)
        return refuse(err,
                      "%s: line %d: --run %s: expected the number of one of several runs of that "
                      "name: %s%s",
                      l->path, r->line, l->run, r->names, r->count > RUNS_NAMED ? " ..." : "");
    if (r->chosen)
        return refuse(
            err,
            "%s: line %d: --run %s: expected a rate under a column that says of what it is "
            "(as step time (s), tokens/s/GPU, TFLOPS/GPU, samples/s), found none",
            l->path, r->line, l->run);
    return refuse(err, "%s: line %d: expected --run to %s one of %d run%s in its tables: %s%s",
                  l->path, r->line, l->run ? "name" : "choose", r->count, r->count > 1 ? "s" : "",
                  r->names, r->count > RUNS_NAMED ? " ..." : "");
}

static enum status refuse_log(const struct log *l, struct error *err)
{
    if (l->runs.count > 1 || l->run) return refuse_runs(l, err);
    return refuse(err,
                  "%s: expected a training log (iteration lines, printed arguments, MLPerf or "
                  "out-of-memory lines), found none in %lld line%s",
                  l->path, (long long)l->lines, l->lines == 1 ? "" : "s");
}

static enum status read_all(struct log *l, const char *path, const char *run, struct arena *arena,
                            struct error *err)
{
    const struct log_parts parts = l->parts;
    const struct log_part *from = parts.at + parts.chosen, *to = from + 1;
    bool more = true, in = true;
    *l = (struct log){.path = path, .run = run, .arena = arena, .parts = parts, .memory.rank = -1};
    l->reader = TAKE(arena, 1, struct log_reader);
    l->reader->keys = log_keys_make(arena);
    l->reader->models = log_models_make(arena);
    TRY(log_open(l->reader, path, arena, err));
    for (;;) {
        TRY(log_next(l, &more, err));
        if (!more) break;
        int line = (int)l->lines;
        bool last = parts.chosen + 1 == parts.count, ended = last && (!parts.items || !to->line),
             own = !parts.count || line < parts.at[0].line ||
                   (line >= from->from && (ended || line < to->line));
        if (in && !own) log_table(l, ""); // it ends here
        in = own;
        if (!own) continue;
        if (!parts.count) log_part_begins(l, l->reader->line);
        read_line(l, l->reader->line);
    }
    log_table(l, "");
    log_take_prose(l);
    log_heading_tells(l);
    return OK;
}

// Once more, one run alone, where there are several.
static enum status read_part(struct log *l, const char *path, const char *run, struct arena *arena,
                             struct error *err)
{
    int count = log_part_count(l), chosen = log_part_of(&l->parts, count, run);
    if (!l->parts.count) l->parts.at[0] = l->reader->first_part;
    l->parts.count = 0;
    if ((count < 2 && !l->parts.items) || (chosen < 0 && l->runs.chosen))
        return OK; // a row of a table's
    if (chosen < 0)
        return refuse(err,
                      "%s: --run %s: expected 1 to %d or the heading of one of its runs: '%s', "
                      "'%s'%s",
                      path, run, count, l->parts.at[0].name, l->parts.at[1].name,
                      count > 2 ? " ..." : "");
    l->parts.count = count, l->parts.chosen = chosen;
    return read_all(l, path, NULL, arena, err);
}

enum status log_read(struct log *l, const char *path, const char *run, struct arena *arena,
                     struct error *err)
{
    l->parts = (struct log_parts){.count = 0};
    TRY(read_all(l, path, run, arena, err));
    TRY(read_part(l, path, run, arena, err));
    l->format = format_of(l);
    if ((l->run && (!l->runs.chosen || l->runs.several)) || !says_something(l))
        return refuse_log(l, err);
    log_conclude(l);
    return OK;
}
