// Values that follow from others which the text states: as columns of runs have them.
#include <math.h>
#include <stdlib.h>

#include "data/frameworks/setting.h"
#include "data/import/logs/internal.h"

static void follows(struct log *l, enum told what, const char *from, int64_t value)
{
    if (told(l, what) || value < 1) return;
    tell_count(l, what, BY_OTHERS, from, value);
}

static void put(struct log *l, enum told what, enum told like, const char *text)
{
    const struct told_value source = l->told[like];
    struct told_value *to = &l->told[what];
    *to = source;
    snprintf(to->text, sizeof to->text, "%s", text);
}

static bool is(const struct log *l, enum told what, const char *text)
{
    return told(l, what) && !strcasecmp(l->told[what].text, text);
}

static bool has(const struct log *l, enum told what, const char *part)
{
    return told(l, what) && find_in_any_case(l->told[what].text, part);
}

static int64_t or_one(const struct log *l, enum told what)
{
    return told(l, what) ? told_count(l, what) : 1;
}

// ---- GPUs, degrees, batches

// A whole number that is meant by a quotient of rounded ones; 0: none is near.
static int64_t whole_within(double x, double share)
{
    double whole = floor(x + 0.5);
    return whole >= 1 && fabs(x - whole) <= share * whole && whole < 1e9 ? (int64_t)whole : 0;
}

static int64_t whole_near(double x) { return whole_within(x, 0.003); }

static double usual(const struct log *l, enum measured what)
{
    struct arena *arena = l->arena;
    bool falls = what != MEASURED_ITERATION_S && what != MEASURED_CLOCK_S;
    return log_rate_of(&l->series[what], falls, arena).value;
}

static void conclude_gpus(struct log *l)
{
    enum { NODE_MOST = 16 };
    const struct told_value *own = &l->told[TOLD_GPUS_PER_NODE];
    const char *gpu = l->told[TOLD_GPU].text, *of = own->key + strlen(OF_MACHINE);
    bool machine = !strncmp(own->key, OF_MACHINE, strlen(OF_MACHINE));
    if (machine && strncmp(of, gpu, strcspn(gpu, "-")) != 0) // another than the run's
        l->told[TOLD_GPUS_PER_NODE].by = BY_NONE;
    int64_t nodes = told_count(l, TOLD_NODES), each = told_count(l, TOLD_GPUS_PER_NODE);
    double samples = usual(l, MEASURED_SAMPLES), tokens = usual(l, MEASURED_TOKENS);
    if (!nodes && each && !told(l, TOLD_NUM_GPUS)) nodes = 1;
    // The launcher's --num_gpus is a node's.
    bool all = nodes * each == told_count(l, TOLD_NUM_GPUS);
    bool of_node = told_count(l, TOLD_NUM_GPUS) <= NODE_MOST;
    if (nodes > 1 && !all && of_node && !strcmp(l->told[TOLD_NUM_GPUS].key, "num_gpus")) {
        put(l, TOLD_GPUS_PER_NODE, TOLD_NUM_GPUS, l->told[TOLD_NUM_GPUS].text);
        l->told[TOLD_NUM_GPUS].by = BY_NONE, each = told_count(l, TOLD_GPUS_PER_NODE);
    }
    int64_t replica = or_one(l, TOLD_TP) * or_one(l, TOLD_PP) * or_one(l, TOLD_CP);
    // "I have 9 V100", and a launch line that begins one process, or shows it some of them.
    int64_t said = told_count(l, TOLD_NUM_GPUS);
    bool one = own->by == BY_SETTING && each && (each == 1 || said % each),
         shown = !strcmp(own->key, VISIBLE_DEVICES);
    if ((one || shown) && !told(l, TOLD_NODES) && l->told[TOLD_NUM_GPUS].by == BY_WORDS &&
        replica <= each && each < told_count(l, TOLD_NUM_GPUS) &&
        told_count(l, TOLD_NUM_GPUS) <= NODE_MOST)
        l->told[TOLD_NUM_GPUS].by = BY_NONE, nodes = 1;
    // "a card has 24 GB": fewer than the degrees need were not all of them.
    if (l->told[TOLD_NUM_GPUS].by == BY_WORDS && told_count(l, TOLD_NUM_GPUS) < replica)
        l->told[TOLD_NUM_GPUS].by = BY_NONE;
    bool words = l->told[TOLD_NUM_GPUS].by == BY_WORDS,
         surer = l->told[TOLD_NODES].by > BY_WORDS || l->told[TOLD_GPUS_PER_NODE].by > BY_WORDS;
    if (nodes && each && words && surer) l->told[TOLD_NUM_GPUS].by = BY_NONE;
    follows(l, TOLD_NUM_GPUS, "nodes x GPUs of a node", nodes * each);
    if (l->reader->notebook && l->seen[LOG_TRANSFORMERS])
        follows(l, TOLD_NUM_GPUS, "a notebook, which is one process", 1);
    if (samples > 0 && tokens > 0)
        follows(l, TOLD_NUM_GPUS, "samples/s x seq / tokens/s of a GPU",
                whole_near(samples * (double)told_count(l, TOLD_SEQ) / tokens));
    if (told(l, TOLD_NUM_GPUS) && nodes && told_count(l, TOLD_NUM_GPUS) % nodes == 0)
        follows(l, TOLD_GPUS_PER_NODE, "GPUs over nodes", told_count(l, TOLD_NUM_GPUS) / nodes);
}

static void conclude_degrees(struct log *l)
{
    int64_t gpus = told_count(l, TOLD_NUM_GPUS), steps = told_count(l, TOLD_ACCUMULATION),
            replica = or_one(l, TOLD_TP) * or_one(l, TOLD_PP) * or_one(l, TOLD_CP);
    bool degrees = told(l, TOLD_TP) && told(l, TOLD_PP);
    // Replicas besides those that experts are spread over.
    int64_t besides = told_count(l, TOLD_DP), spread = told_count(l, TOLD_EP);
    if (degrees && spread > 1 && besides && gpus == replica * besides * spread)
        l->told[TOLD_DP].by = BY_NONE;
    if (told(l, TOLD_DP) && degrees)
        follows(l, TOLD_NUM_GPUS, "tp x pp x cp x dp", replica * told_count(l, TOLD_DP));
    bool alone = l->seen[LOG_TRANSFORMERS] || l->seen[LOG_LLAMA_FACTORY] ||
                 !strcmp(l->told[TOLD_DP].key, OF_SHARDS);
    if (alone && told(l, TOLD_DP) && !told(l, TOLD_NODES))
        follows(l, TOLD_NUM_GPUS, "replicas, and no other degree is stated",
                replica * told_count(l, TOLD_DP));
    if (degrees && gpus && gpus % replica == 0)
        follows(l, TOLD_DP, "GPUs over the other degrees", gpus / replica);
    int64_t each = told_count(l, TOLD_MICRO_BATCH) * steps, all = told_count(l, TOLD_GLOBAL_BATCH);
    bool divides = each && all && all % each == 0;
    if (divides && (!gpus || gpus % (replica * (all / each)) == 0))
        follows(l, TOLD_DP, "global_batch over micro_batch and accumulation", all / each);
    int64_t data = told_count(l, TOLD_DP), micro = told_count(l, TOLD_MICRO_BATCH);
    follows(l, TOLD_GLOBAL_BATCH, "micro_batch x dp x accumulation", micro * data * steps);
    int64_t global = told_count(l, TOLD_GLOBAL_BATCH);
    if (global && data && steps && global % (data * steps) == 0)
        follows(l, TOLD_MICRO_BATCH, "global_batch over dp and accumulation",
                global / (data * steps));
}

enum { TILE = 128 };

// Where a program prints rates alone, the clock of its lines tells how much a step is of.
static void conclude_by_clock(struct log *l, double tokens)
{
    enum { SOME = 16, FEW = 16 }; // batches of many are multiples of it
    double clock = usual(l, MEASURED_CLOCK_S), each = (double)told_count(l, TOLD_MICRO_BATCH),
           samples = clock * usual(l, MEASURED_TIMER);
    int64_t replica = or_one(l, TOLD_TP) * or_one(l, TOLD_PP) * or_one(l, TOLD_CP);
    if (clock > 0 && tokens > 0 && each > 0 && replica == 1 && !told(l, TOLD_ACCUMULATION))
        follows(l, TOLD_SEQ, "tokens/s of a GPU x its clock / micro_batch",
                TILE * whole_near(tokens * clock / each / TILE));
    if (samples > 2 * SOME && !told(l, TOLD_MICRO_BATCH))
        follows(l, TOLD_GLOBAL_BATCH, "samples/s x time between lines",
                SOME * whole_within(samples / SOME, samples < FEW * SOME ? 0.006 : 0.003));
}

// Settings of the same name that are of something else: the length of texts that a model's
// configuration generates; a batch that no GPU takes at once.
static void undo_namesakes(struct log *l)
{
    enum { GENERATED_MOST = 64, AT_ONCE_MOST = 64 };
    struct told_value *seq = &l->told[TOLD_SEQ], *batch = &l->told[TOLD_MICRO_BATCH];
    if (!strcmp(seq->key, "max_length") && told_count(l, TOLD_SEQ) <= GENERATED_MOST)
        seq->by = BY_NONE;
    if (strcmp(batch->key, "batch_size") != 0 || told_count(l, TOLD_MICRO_BATCH) <= AT_ONCE_MOST)
        return;
    if (!told(l, TOLD_GLOBAL_BATCH)) put(l, TOLD_GLOBAL_BATCH, TOLD_MICRO_BATCH, batch->text);
    batch->by = BY_NONE;
}

// torchtitan's batch is a replica's. A pipeline cuts it into as many micro-batches as it has ranks,
// and from April 2025 on (5e2033c7) into those of pipeline_parallel_microbatch_size, 1 unless told.
// Several such batches make one of all replicas.
static void conclude_replica(struct log *l)
{
    int64_t batch = told_count(l, TOLD_MICRO_BATCH), ranks = told_count(l, TOLD_PP);
    const char *version = l->told[TOLD_VERSION].text;
    if (!l->seen[LOG_TORCHTITAN] || ranks < 2 || batch < 1 || told(l, TOLD_ACCUMULATION)) return;
    int64_t pieces = l->reader->pieces, stages = l->reader->stages, own = told_count(l, TOLD_PIECE);
    if (stages > ranks && stages % ranks == 0)
        follows(l, TOLD_VPP, "stages of its schedule over ranks", stages / ranks);
    if (!pieces && own) pieces = batch / own;
    if (!pieces) pieces = strcmp(version, "2025-04") < 0 && batch % ranks == 0 ? ranks : batch;
    if (pieces > batch || batch % pieces) return;
    l->replica_batch = batch;
    l->told[TOLD_MICRO_BATCH].by = BY_NONE;
    tell_count(l, TOLD_MICRO_BATCH, BY_OTHERS, "a replica's batch over the pipeline's pieces",
               batch / pieces);
    int64_t all = told_count(l, TOLD_GLOBAL_BATCH), gpus = told_count(l, TOLD_NUM_GPUS),
            replica = or_one(l, TOLD_TP) * ranks * or_one(l, TOLD_CP);
    if (!all || gpus != replica)
        follows(l, TOLD_ACCUMULATION, "micro-batches of a replica", pieces);
}

// The batch, or the length of its sequences, from rates.
static void conclude_batch(struct log *l)
{
    double time = usual(l, MEASURED_ITERATION_S), tokens = usual(l, MEASURED_TOKENS);
    if (!(time > 0)) time = l->average_s;
    if (!(time > 0)) time = usual(l, MEASURED_CLOCK_S);
    if (l->reader->tokens > 0 && l->reader->all_samples > 0)
        follows(l, TOLD_SEQ, "consumed tokens over samples",
                TILE * whole_near(l->reader->tokens / l->reader->all_samples / TILE));
    double seq = (double)told_count(l, TOLD_SEQ), gpus = (double)told_count(l, TOLD_NUM_GPUS);
    if (time > 0 && (l->seen[LOG_MEGATRON_DEEPSPEED] || l->seen[LOG_DEEPSPEED]))
        follows(l, TOLD_GLOBAL_BATCH, "samples/s x time",
                whole_near(time * usual(l, MEASURED_SAMPLES)));
    if (l->average_s > 0 && l->seen[LOG_TRANSFORMERS]) // both of the same steps
        follows(l, TOLD_GLOBAL_BATCH, "samples/s x time of a step",
                whole_near(time * usual(l, MEASURED_SAMPLES)));
    if (time > 0 && tokens > 0 && seq > 0 && gpus > 0)
        follows(l, TOLD_GLOBAL_BATCH, "tokens/s of a GPU x GPUs x time / seq",
                whole_near(tokens * gpus * time / seq));
    double batch = (double)told_count(l, TOLD_GLOBAL_BATCH);
    if (time > 0 && tokens > 0 && batch > 0 && gpus > 0) // lengths are multiples of a tile
        follows(l, TOLD_SEQ, "tokens/s of a GPU x GPUs x time / global_batch",
                TILE * whole_near(tokens * gpus * time / batch / TILE));
    if (time > 0 && tokens > 0 && batch > 0 && seq > 0)
        follows(l, TOLD_NUM_GPUS, "global_batch x seq / time / tokens/s of a GPU",
                whole_near(batch * seq / time / tokens));
    conclude_by_clock(l, tokens);
}

// ---- switches

static void conclude_precision(struct log *l)
{
    const char *p = l->told[TOLD_PRECISION].text;
    bool narrow = told(l, TOLD_FP8) && !is(l, TOLD_FP8, "false") && !is(l, TOLD_FP8, "0") &&
                  !is(l, TOLD_FP8_SWITCH, "0"),
         eight = has(l, TOLD_PRECISION, "fp8"),
         scaled = has(l, TOLD_PRECISION, "mxfp8") || has(l, TOLD_FP8_RECIPE, "mxfp8"),
         four = has(l, TOLD_PRECISION, "nvfp4");
    if (told(l, TOLD_PRECISION))
        put(l, TOLD_PRECISION, TOLD_PRECISION,
            find_in_any_case(p, "bf16") || find_in_any_case(p, "bfloat") ? "bf16"
            : eight                                                      ? "fp8"
            : strstr(p, "16") || find_in_any_case(p, "half")             ? "fp16"
                                                                         : "fp32");
    if (narrow || eight)
        put(l, TOLD_PRECISION, narrow ? TOLD_FP8 : TOLD_PRECISION,
            has(l, TOLD_FP8_RECIPE, "nvfp4")       ? "nvfp4"
            : scaled                               ? "mxfp8"
            : has(l, TOLD_FP8_RECIPE, "blockwise") ? "blockwise"
                                                   : "fp8");
    if (four) put(l, TOLD_PRECISION, TOLD_PRECISION, "nvfp4");
    if (told(l, TOLD_FP4) && !is(l, TOLD_FP4, "false") && !is(l, TOLD_FP4, "0"))
        put(l, TOLD_PRECISION, TOLD_FP4, "nvfp4");
    bool weak = !told(l, TOLD_PRECISION) || !strcmp(l->told[TOLD_PRECISION].key, "torch_dtype");
    if (l->reader->no_half == 3 && weak) {
        l->told[TOLD_PRECISION].by = BY_NONE;
        tell(l, TOLD_PRECISION, BY_OTHERS, "bf16 and fp16 are off", "fp32", 4);
    }
    if (l->dumped && !told(l, TOLD_PRECISION))
        tell(l, TOLD_PRECISION, BY_OTHERS, "neither bf16 nor fp16", "fp32", 4);
}

static void conclude_recompute(struct log *l)
{
    const struct told_value *g = &l->told[TOLD_GRANULARITY];
    char text[TOLD_TEXT];
    if (!told(l, TOLD_GRANULARITY)) return;
    bool none = is(l, TOLD_GRANULARITY, "none") || is(l, TOLD_GRANULARITY, "null"),
         block = has(l, TOLD_METHOD, "block");
    snprintf(text, sizeof text, "%s",
             none                                     ? "none"
             : find_in_any_case(g->text, "selective") ? "selective"
                                                      : "full");
    if (!none && !strcmp(text, "full") && block && told(l, TOLD_RECOMPUTED))
        snprintf(text, sizeof text, "full:block%lld", (long long)told_count(l, TOLD_RECOMPUTED));
    put(l, TOLD_RECOMPUTE, TOLD_GRANULARITY, text);
}

static void conclude_attention(struct log *l)
{
    bool engine = has(l, TOLD_IMPLEMENTATION, "transformer_engine"),
         old = l->dumped_whole && !told(l, TOLD_IMPLEMENTATION);
    if (told(l, TOLD_FLASH)) return;
    if (has(l, TOLD_BACKEND, "unfused") || has(l, TOLD_BACKEND, "eager") ||
        has(l, TOLD_BACKEND, "local"))
        put(l, TOLD_FLASH, TOLD_BACKEND, "0");
    else if (engine) put(l, TOLD_FLASH, TOLD_IMPLEMENTATION, "te");
    else if (has(l, TOLD_BACKEND, "fa2") || has(l, TOLD_BACKEND, "flash"))
        put(l, TOLD_FLASH, TOLD_BACKEND, "flash");
    else if (is(l, TOLD_FLASH_SWITCH, "1")) put(l, TOLD_FLASH, TOLD_FLASH_SWITCH, "flash");
    else if (is(l, TOLD_FLASH_SWITCH, "0") && l->dumped) put(l, TOLD_FLASH, TOLD_FLASH_SWITCH, "0");
    else if (old) tell(l, TOLD_FLASH, BY_OTHERS, "this version has no such argument", "0", 1);
}

// What a version has no argument for, it does not do.
static void conclude_absent(struct log *l)
{
    static const struct {
        enum told what;
        const char *value;
    } absent[] = {{TOLD_SP, "0"},
                  {TOLD_OVERLAP, "0"},
                  {TOLD_ZERO, "0"},
                  {TOLD_OVERLAP_MESSAGES, "0"},
                  {TOLD_OVERLAP_TENSOR, "0"},
                  {TOLD_FUSED_LOSS, "0"},
                  {TOLD_GATED, "0"},
                  {TOLD_RMS_NORM, "0"},
                  {TOLD_TIED, "1"},
                  {TOLD_BIAS, "1"},
                  {TOLD_RECOMPUTE, "none"}};
    for (size_t i = 0; i < ARRAY_LENGTH(absent); i++)
        if (!told(l, absent[i].what))
            tell(l, absent[i].what, BY_OTHERS, OF_ABSENCE, absent[i].value,
                 strlen(absent[i].value));
    if (!told(l, TOLD_POSITIONS) && told(l, TOLD_MOST_POSITIONS))
        put(l, TOLD_POSITIONS, TOLD_MOST_POSITIONS, l->told[TOLD_MOST_POSITIONS].text);
    if (!told(l, TOLD_KV_HEADS)) put(l, TOLD_KV_HEADS, TOLD_HEADS, l->told[TOLD_HEADS].text);
}

static void conclude_rest(struct log *l)
{
    if (!strcmp(l->told[TOLD_ZERO].key, VERL_SHARDS) && told(l, TOLD_TP)) // Megatron trains
        l->told[TOLD_ZERO].by = BY_NONE;
    int64_t stages = told_count(l, TOLD_LAYERS_OF_STAGE) * or_one(l, TOLD_PP),
            layers = told_count(l, TOLD_LAYERS);
    if (stages && layers && layers % stages == 0 && layers / stages > 1)
        follows(l, TOLD_VPP, "layers of a virtual stage", layers / stages);
    int64_t vocabulary =
        told(l, TOLD_TOKENIZER) ? tokenizer_vocabulary(l->told[TOLD_TOKENIZER].text) : 0;
    if (vocabulary) follows(l, TOLD_VOCAB, l->told[TOLD_TOKENIZER].text, vocabulary);
    if (!is(l, TOLD_LATENT, "1"))
        for (int i = TOLD_QUERY_RANK; i <= TOLD_VALUE_WIDTH; i++) l->told[i].by = BY_NONE;
    if (!told(l, TOLD_FFN) && !told(l, TOLD_MODEL) && is(l, TOLD_GATED, "1") &&
        !strcmp(l->told[TOLD_GATED].key, "swiglu"))
        follows(l, TOLD_FFN, "hidden_size, with swiglu",
                4 * told_count(l, TOLD_HIDDEN) * 2 / 3 / 64 * 64);
    if (told(l, TOLD_EXPERTS) && told(l, TOLD_FFN) && l->seen[LOG_MEGATRON])
        follows(l, TOLD_EXPERT_FFN, "ffn_hidden_size, its default", told_count(l, TOLD_FFN));
    if (!told(l, TOLD_MODEL)) follows(l, TOLD_FFN, "ModelArgs", l->reader->ffn);
    if (told(l, TOLD_LAYERS) && told(l, TOLD_HIDDEN) && told(l, TOLD_FFN) &&
        !strcmp(l->told[TOLD_MODEL].key, OF_TOKENIZER))
        l->told[TOLD_MODEL].by = BY_NONE;
    if (!told(l, TOLD_EXPERTS)) l->told[TOLD_TOP_K].by = l->told[TOLD_EXPERT_FFN].by = BY_NONE;
    if (!told(l, TOLD_EXPERTS) && told(l, TOLD_LAYERS) && told(l, TOLD_HIDDEN))
        l->told[TOLD_ETP].by = BY_NONE;
    if (told(l, TOLD_POSITION_TYPE)) {
        bool learned = has(l, TOLD_POSITION_TYPE, "learned");
        put(l, TOLD_POSITIONS, TOLD_POSITION_TYPE, "0");
        if (learned && told(l, TOLD_MOST_POSITIONS))
            put(l, TOLD_POSITIONS, TOLD_MOST_POSITIONS, l->told[TOLD_MOST_POSITIONS].text);
    }
    // Renamed in Megatron-LM's commits of 2022.
    if (!told(l, TOLD_VERSION) && !strcmp(l->told[TOLD_GRANULARITY].key, "checkpoint_activations"))
        tell(l, TOLD_VERSION, BY_OTHERS, "an argument of that time", "2021-06", 7);
    log_conclude_month(l);
    if (l->dumped) {
        if (is(l, TOLD_GROUPED, "0")) l->told[TOLD_KV_HEADS].by = BY_NONE;
        conclude_absent(l);
    }
    if (told(l, TOLD_PADDED)) put(l, TOLD_VOCAB, TOLD_PADDED, l->told[TOLD_PADDED].text);
    if (told(l, TOLD_OFFLOAD_SHARE) && !(strtod(l->told[TOLD_OFFLOAD_SHARE].text, NULL) > 0))
        l->told[TOLD_OFFLOAD].by = BY_NONE;
    log_conclude_states(l);
    if (told(l, TOLD_ADAM))
        put(l, TOLD_ADAM, TOLD_ADAM, find_in_any_case(l->told[TOLD_ADAM].text, "adam") ? "1" : "0");
    if (is(l, TOLD_SP, "1") && or_one(l, TOLD_TP) == 1) put(l, TOLD_SP, TOLD_SP, "0");
}

// ---- stages that hold different numbers of layers

static void put_split(struct log *l, enum told like, const int *counts, int stages)
{
    char text[TOLD_TEXT];
    size_t length = 0;
    for (int s = 0; s < stages && length + 8 < sizeof text; s++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length, s ? " %d" : "%d", counts[s]);
    if (length + 8 < sizeof text) put(l, TOLD_SPLIT, like, text);
}

enum { SPLIT_STAGES = 100 };

// First and last rank as stated, the others alike; the chunks of a rank are equal.
static void split_by_ends(struct log *l)
{
    int counts[SPLIT_STAGES];
    int64_t pipeline = or_one(l, TOLD_PP), chunks = or_one(l, TOLD_VPP),
            layers = told_count(l, TOLD_LAYERS);
    bool first = told(l, TOLD_FIRST_LAYERS), last = told(l, TOLD_LAST_LAYERS);
    if ((!first && !last) || pipeline < 2 || pipeline * chunks > SPLIT_STAGES || !layers) return;
    int64_t rest = layers - told_count(l, TOLD_FIRST_LAYERS) - told_count(l, TOLD_LAST_LAYERS),
            ranks = pipeline - first - last;
    if (ranks < 1 || rest < 0 || rest % ranks) return;
    for (int64_t s = 0; s < pipeline * chunks; s++) {
        int64_t rank = s % pipeline, own = rest / ranks;
        if (first && rank == 0) own = told_count(l, TOLD_FIRST_LAYERS);
        if (last && rank == pipeline - 1) own = told_count(l, TOLD_LAST_LAYERS);
        if (own % chunks) return;
        counts[s] = (int)(own / chunks);
    }
    put_split(l, first ? TOLD_FIRST_LAYERS : TOLD_LAST_LAYERS, counts, (int)(pipeline * chunks));
}

// Embedding and head each in the place of a layer.
static void split_by_ends_counted(struct log *l)
{
    int counts[SPLIT_STAGES];
    int64_t stages = or_one(l, TOLD_PP) * or_one(l, TOLD_VPP), layers = told_count(l, TOLD_LAYERS);
    bool first = is(l, TOLD_EMBEDDING_COUNTS, "1"), last = is(l, TOLD_HEAD_COUNTS, "1");
    int64_t all = layers + first + last;
    if ((!first && !last) || !layers || stages < 2 || stages > SPLIT_STAGES || all % stages) return;
    for (int64_t s = 0; s < stages; s++)
        counts[s] = (int)(all / stages - (s == 0 && first) - (s == stages - 1 && last));
    put_split(l, first ? TOLD_EMBEDDING_COUNTS : TOLD_HEAD_COUNTS, counts, (int)stages);
}

// "Et*3|(tt|)*29,m|L": the decoder layers before each stroke. Returns how many strokes there were.
static int read_stages(const char **at, int *counts, int stage, int depth)
{
    int from = stage;
    for (; **at && **at != ')'; ++*at) {
        int before = counts[stage], begin = stage;
        char c = **at;
        if (c == '|') {
            if (stage + 1 < SPLIT_STAGES) stage++;
            continue;
        }
        if (c == '(' && depth < 8) {
            ++*at;
            stage += read_stages(at, counts, stage, depth + 1);
            if (!**at) break;
        } else if (c == 't') counts[stage]++;
        else continue;
        if ((*at)[1] != '*') continue;
        char *end;
        long times = strtol(*at + 2, &end, 10);
        int added = counts[begin] - before, strokes = stage - begin, inner[SPLIT_STAGES];
        *at = end - 1;
        memcpy(inner, counts + begin, sizeof(int) * (size_t)(strokes + 1));
        inner[0] = added;
        for (long t = 1; t < times && t < SPLIT_STAGES; t++)
            for (int k = 0; k <= strokes; k++) {
                if (k && stage + 1 < SPLIT_STAGES) stage++;
                counts[stage] += inner[k];
            }
    }
    return stage - from;
}

static void split_by_layout(struct log *l)
{
    int counts[SPLIT_STAGES] = {0};
    const char *at = l->told[TOLD_STAGES].text;
    int64_t pipeline = or_one(l, TOLD_PP);
    if (!told(l, TOLD_STAGES)) return;
    int stages = read_stages(&at, counts, 0, 0) + 1;
    if (pipeline < 1 || stages % pipeline || stages >= SPLIT_STAGES) return;
    if (stages > pipeline) follows(l, TOLD_VPP, "the layout of stages", stages / pipeline);
    put_split(l, TOLD_STAGES, counts, stages);
}

void log_take_layers(struct log *l, int64_t layers)
{
    follows(l, TOLD_LAYERS, "the model", layers);
    split_by_ends(l);
    split_by_ends_counted(l);
}

// A report of memory before the training is none of the most that was held; a step's time without
// its number, quoted alone, is no first step's.
static void conclude_measured(struct log *l)
{
    struct log_memory *m = &l->memory;
    struct log_series *s = &l->series[MEASURED_ITERATION_S];
    if (m->reserved_bytes < m->allocated_bytes) m->reserved_bytes = 0;
    if (s->count == 1 && l->seen[LOG_BRIDGE] && !l->seen[LOG_MEGATRON]) s->points[0].step = 100;
    // The only line is a mean from the first iteration on.
    double all = l->reader->all_samples, batch = (double)l->batch;
    enum { INTERVAL_MOST = 200 }; // of lines: a later one is quoted from among others
    bool alone = s->seen == 1 || (s->seen == 2 && l->seen[LOG_BRIDGE]), // which says it twice
        first = alone && batch > 0 && s->points[s->count - 1].step <= INTERVAL_MOST;
    if (first && all == batch * (double)s->points[s->count - 1].step)
        for (int i = 0; i < s->count; i++) s->points[i].step = 1;
}

void log_conclude(struct log *l)
{
    undo_namesakes(l);
    if (told(l, TOLD_MODEL)) log_forget(l, OF_SHAPE);
    conclude_measured(l);
    if (told(l, TOLD_SOURCE) && told(l, TOLD_TARGET))
        follows(l, TOLD_SEQ, "a prompt's and an answer's tokens",
                told_count(l, TOLD_SOURCE) + told_count(l, TOLD_TARGET));
    conclude_replica(l);
    conclude_gpus(l);
    conclude_degrees(l);
    conclude_batch(l);
    conclude_degrees(l);
    conclude_precision(l);
    log_conclude_script(l);
    conclude_recompute(l);
    conclude_attention(l);
    conclude_rest(l);
    log_conclude_adapters(l);
    split_by_ends(l);
    split_by_ends_counted(l);
    split_by_layout(l);
}
