// A table of Markdown that describes one run: a row of names over one row of values, or rows of a
// name and a value under "| Parameter | Value |". Where its rows are several runs, with a rate of
// each, the one that was asked for counts; without that none does.

#include "data/import/logs/internal.h"

enum { CELLS_MOST = 24 };

// Names of columns, without signs and case.
static const struct {
    const char *name;
    enum told told;
} names[] = {{"gpus", TOLD_NUM_GPUS},
             {"numgpus", TOLD_NUM_GPUS},
             {"totalgpus", TOLD_NUM_GPUS},
             {"worldsize", TOLD_NUM_GPUS},
             {"gpucount", TOLD_NUM_GPUS},
             {"nodes", TOLD_NODES},
             {"numnodes", TOLD_NODES},
             {"gpuspernode", TOLD_GPUS_PER_NODE},
             {"layers", TOLD_LAYERS},
             {"numlayers", TOLD_LAYERS},
             {"numberoflayers", TOLD_LAYERS},
             {"attentionheads", TOLD_HEADS},
             {"hiddensize", TOLD_HIDDEN},
             {"seqlen", TOLD_SEQ},
             {"seqlength", TOLD_SEQ},
             {"sequencelength", TOLD_SEQ},
             {"tp", TOLD_TP},
             {"tensorparallel", TOLD_TP},
             {"tensorparallelsize", TOLD_TP},
             {"pp", TOLD_PP},
             {"pipelineparallel", TOLD_PP},
             {"pipelineparallelsize", TOLD_PP},
             {"cp", TOLD_CP},
             {"contextparallelsize", TOLD_CP},
             {"ep", TOLD_EP},
             {"expertparallelsize", TOLD_EP},
             {"dp", TOLD_DP},
             {"dataparallelsize", TOLD_DP},
             {"vp", TOLD_VPP},
             {"vpp", TOLD_VPP},
             {"mbs", TOLD_MICRO_BATCH},
             {"microbatchsize", TOLD_MICRO_BATCH},
             {"gbs", TOLD_GLOBAL_BATCH},
             {"globalbatchsize", TOLD_GLOBAL_BATCH},
             {"globalbs", TOLD_GLOBAL_BATCH},
             {"localbs", TOLD_MICRO_BATCH},
             {"batchsize", TOLD_MICRO_BATCH},
             {"localbatchsize", TOLD_MICRO_BATCH},
             {"ga", TOLD_ACCUMULATION}};

// Those of rates. A unit behind the number in the cell says more; scale 0: what the rate is of is
// not said.
static const struct {
    const char *name;
    enum measured of;
    double scale;
} rates[] = {{"iters", MEASURED_ITERATION_S, 1},
             {"itertimes", MEASURED_ITERATION_S, 1},
             {"iterationtimes", MEASURED_ITERATION_S, 1},
             {"steptimes", MEASURED_ITERATION_S, 1},
             {"iterationtime", MEASURED_ITERATION_S, 0},
             {"steptime", MEASURED_ITERATION_S, 0},
             {"iterationtimems", MEASURED_ITERATION_S, 0.001},
             {"steptimems", MEASURED_ITERATION_S, 0.001},
             {"msstep", MEASURED_ITERATION_S, 0.001},
             {"sstep", MEASURED_ITERATION_S, 1},
             {"siter", MEASURED_ITERATION_S, 1},
             {"tflops", MEASURED_TFLOPS, 1},
             {"tflopsgpu", MEASURED_TFLOPS, 1},
             {"tflopspergpu", MEASURED_TFLOPS, 1},
             {"tfsgpu", MEASURED_TFLOPS, 1},
             {"modeltflopsgpu", MEASURED_TFLOPS, 1},
             {"tps", MEASURED_TOKENS, 1},
             {"wps", MEASURED_TOKENS, 1},
             {"tpsgpu", MEASURED_TOKENS, 1},
             {"tokssgpu", MEASURED_TOKENS, 1},
             {"tpstoksgpu", MEASURED_TOKENS, 1},
             {"toksgpu", MEASURED_TOKENS, 1},
             {"tokenssgpu", MEASURED_TOKENS, 1},
             {"tokenssecgpu", MEASURED_TOKENS, 1},
             {"tokenss", MEASURED_TOKENS, 0},
             {"tokenssec", MEASURED_TOKENS, 0},
             {"throughput", MEASURED_TOKENS, 0},
             {"throughputsamplessec", MEASURED_SAMPLES, 1},
             {"samplessec", MEASURED_SAMPLES, 1},
             {"sampless", MEASURED_SAMPLES, 1},
             {"speed", MEASURED_ITERATION_S, 0}};

struct cell_text {
    const char *text;
    int length;
};

// The cells between the bars of a row. Returns their number; 0: it is none.
static int cells_of(const char *line, struct cell_text cells[CELLS_MOST])
{
    const char *s = line + strspn(line, " >");
    int count = 0;
    if (*s != '|') return 0;
    for (s++; *s && count < CELLS_MOST; count++) {
        const char *end = s + strcspn(s, "|"), *to = end;
        if (!*end) break;
        s += strspn(s, " *`");
        while (to > s && strchr(" *`", to[-1])) to--;
        cells[count] = (struct cell_text){s < end ? s : end, s < to ? (int)(to - s) : 0};
        s = end + 1;
    }
    return count;
}

static void without_signs(char bare[TOLD_KEY], struct cell_text name)
{
    size_t length = 0;
    for (int i = 0; i < name.length && length + 1 < TOLD_KEY; i++)
        if (isalnum((unsigned char)name.text[i]))
            bare[length++] = (char)tolower((unsigned char)name.text[i]);
    bare[length] = '\0';
}

// "Avg step time", "Training step time (seconds per step)", "Throughput (Model TFLOP/s/GPU)": what
// such words leave of a rate's name.
static int rate_of(struct cell_text name)
{
    static const char *const before[] = {"training", "throughput", "postwarmup", "median",
                                         "average",  "train",      "model",      "mean",
                                         "avg",      "fsdp"};
    static const char *const after[] = {"secondsperstep", "seconds", "sec"};
    char room[TOLD_KEY], *bare = room;
    without_signs(room, name);
    for (;;) {
        size_t length = strlen(bare);
        for (size_t i = 0; i < ARRAY_LENGTH(rates); i++)
            if (!strcmp(rates[i].name, bare)) return (int)i;
        bool changed = false;
        for (size_t i = 0; i < ARRAY_LENGTH(before) && !changed; i++)
            if (!strncmp(bare, before[i], strlen(before[i])))
                bare += strlen(before[i]), changed = true;
        for (size_t i = 0; i < ARRAY_LENGTH(after) && !changed; i++) {
            size_t n = strlen(after[i]);
            if (length <= n || strcmp(bare + length - n, after[i]) != 0) continue;
            bare[length - n] = 's', bare[length - n + 1] = '\0', changed = true;
        }
        if (!changed) return -1;
    }
}

// "10.2s/it" under "speed", "341" under "TFLOPS".
static void tell_rate(struct log *l, int rate, struct cell_text value)
{
    double number, scale = rates[rate].scale;
    const char *after;
    for (; value.length && *value.text == '~'; value.length--) value.text++; // about
    if (!value.length || !isdigit((unsigned char)*value.text) ||
        !number_at(value.text, &number, &after) || after > value.text + value.length)
        return;
    after += strspn(after, " ");
    if (rates[rate].of == MEASURED_ITERATION_S && !strncmp(after, "ms", 2)) scale = 0.001;
    else if (rates[rate].of == MEASURED_ITERATION_S && *after == 's') scale = 1;
    struct prose_rate *to = &l->reader->prose[rates[rate].of];
    if (scale > 0 && (l->run || !(to->value > 0))) *to = (struct prose_rate){number * scale, true};
}

// "Hardware | 1x GH200" in the row of the run that is meant: that, whatever the page names besides.
static void tell_hardware(struct log *l, struct cell_text value)
{
    static const enum told own[] = {TOLD_GPU, TOLD_NUM_GPUS};
    char words[TOLD_TEXT];
    struct told_value before[2] = {l->told[TOLD_GPU], l->told[TOLD_NUM_GPUS]};
    snprintf(words, sizeof words, "%.*s", value.length, value.text);
    memset(l->reader->gpu_hits, 0, sizeof l->reader->gpu_hits);
    for (size_t i = 0; i < ARRAY_LENGTH(own); i++)
        if (before[i].by <= BY_WORDS) l->told[own[i]].by = BY_NONE;
    log_names(l, words), log_counts(l, words);
    for (size_t i = 0; i < ARRAY_LENGTH(own); i++)
        if (l->told[own[i]].by == BY_WORDS) l->told[own[i]].by = BY_COMMON;
        else if (!told(l, own[i])) l->told[own[i]] = before[i];
}

// "Activation checkpointing | selective op": a cell of words.
static void tell_recompute(struct log *l, struct cell_text value)
{
    static const char *const words[] = {"full", "selective", "none", "no"};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        size_t length = strlen(words[i]);
        if (value.length < (int)length || strncasecmp(value.text, words[i], length) != 0) continue;
        const char *text = i < 2 ? words[i] : "none";
        tell(l, TOLD_GRANULARITY, l->run ? BY_COMMON : BY_WORDS, "a table", text, strlen(text));
        return;
    }
}

static void tell_cell(struct log *l, struct cell_text name, struct cell_text value)
{
    static const char recomputed[] =
        "activationcheckpointing ac recompute activationrecomputation recomputation";
    static const char layers[] = "numckptlayers numcheckpointlayers recomputedlayers";
    char bare[TOLD_KEY];
    double number;
    const char *after;
    int rate = rate_of(name);
    if (rate >= 0) {
        tell_rate(l, rate, value);
        return;
    }
    without_signs(bare, name);
    size_t length = strlen(bare);
    if (name_is_listed(recomputed, bare, length)) tell_recompute(l, value);
    if (name_is_listed(layers, bare, length) && value.length == 1 && *value.text == '0')
        tell_recompute(l, (struct cell_text){"none", 4});
    if (l->run && name_is_listed("hardware gpu gputype accelerator device", bare, length))
        tell_hardware(l, value);
    const char *precision = l->run && name_is_listed("precision dtype datatype", bare, length)
                                ? first_precision(value.text, (size_t)value.length)
                                : NULL;
    if (precision) tell(l, TOLD_PRECISION, BY_PROGRAM, "a table", precision, strlen(precision));
    if (l->run && name_is_listed("model modelsize", bare, length))
        log_model_of_cell(l, value.text, value.length);
    if (!value.length || !isdigit((unsigned char)*value.text) ||
        !number_at(value.text, &number, &after) || after != value.text + value.length ||
        number < 1 || number > 1e9)
        return;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (!strcmp(names[i].name, bare))
            tell_count(l, names[i].told, l->run ? BY_COMMON : BY_WORDS, "a table", (int64_t)number);
}

// "step: 100  loss: 6.4  memory: 158GiB(86%)  tps: 17,581 ..." in a cell: torchtitan's own line.
static bool has_step(const char *row) { return strstr(row, "tps:") != NULL; }

// Of the cells that are not skipped.
static void tell_row(struct log *l, const char *row, unsigned skipped)
{
    struct cell_text names_[CELLS_MOST], cells[CELLS_MOST];
    int heads = cells_of(l->reader->table.head, names_), count = cells_of(row, cells);
    double value;
    for (int i = 0; i < heads && i < count; i++)
        if (!(skipped >> i & 1)) tell_cell(l, names_[i], cells[i]);
    if (has_step(row) && number_after(row, "tps:", &value, NULL))
        l->reader->prose[MEASURED_TOKENS] = (struct prose_rate){value, true};
    if (has_step(row) && number_after(row, "tflops:", &value, NULL))
        l->reader->prose[MEASURED_TFLOPS] = (struct prose_rate){value, true};
}

static bool has_rate(const char *head)
{
    struct cell_text cells[CELLS_MOST];
    int count = cells_of(head, cells);
    for (int i = 0; i < count; i++)
        if (rate_of(cells[i]) >= 0) return true;
    return false;
}

// A run among those of the page's tables: by what its first cell says, or by its number. Whether it
// is the one.
static bool count_run(struct log *l, struct cell_text first)
{
    struct log_runs *runs = &l->runs;
    char number[16], name[TOLD_KEY];
    snprintf(number, sizeof number, "%d", ++runs->count);
    snprintf(name, sizeof name, "%.*s", first.length < TOLD_KEY ? first.length : TOLD_KEY - 1,
             first.text);
    if (!runs->line) runs->line = (int)l->lines;
    size_t used = strlen(runs->names);
    if (runs->count <= RUNS_NAMED)
        snprintf(runs->names + used, sizeof runs->names - used, "%s%s '%s'", used ? ", " : "",
                 number, name);
    if (!l->run || (strcmp(l->run, number) != 0 && strcasecmp(l->run, name) != 0)) return false;
    if (runs->chosen) return runs->several = true, false;
    runs->chosen = true, runs->line = (int)l->lines;
    return true;
}

static bool take_run(struct log *l, const char *row, struct cell_text first)
{
    if (!count_run(l, first)) return false;
    log_model_of_heading(l);
    tell_row(l, row, 0);
    return true;
}

// A table whose columns are runs, by a row that has a rate of each: the column that is asked for,
// as its head names it or by its number, says what its cells and its head state.
static void finish_columns(struct log *l)
{
    struct log_table *t = &l->reader->table;
    struct cell_text heads[CELLS_MOST], cells[CELLS_MOST];
    int runs = cells_of(t->head, heads), taken = -1;
    bool had = l->runs.chosen;
    for (int c = 1; c < runs; c++)
        if (count_run(l, heads[c])) taken = c;
    if (taken < 0 || (had && l->runs.several)) return;
    log_model_of_heading(l);
    char words[TOLD_TEXT];
    for (int i = 0; i < TOLD_COLUMNS; i++) // of the first column, where its head was read as a line
        if (i != TOLD_GPU && l->told[i].by == BY_WORDS && l->told[i].line == t->head_line &&
            strcmp(l->told[i].key, OF_MODEL) != 0 && i != TOLD_MODEL)
            l->told[i].by = BY_NONE;
    snprintf(words, sizeof words, "%.*s %.*s", heads[0].length, heads[0].text, heads[taken].length,
             heads[taken].text);
    log_words(l, words);
    for (int i = 0; i < t->kept; i++)
        if (cells_of(t->lines_kept[i], cells) > taken) tell_cell(l, cells[0], cells[taken]);
}

// A table that ended: of one row of values, or of several in which some columns are all alike.
static void finish(struct log *l)
{
    struct log_table *t = &l->reader->table;
    if (t->columns) finish_columns(l);
    else if (t->rows && !t->pairs && !t->rates && !l->run) tell_row(l, t->row, t->differ);
    else if (t->rows == 1 && !t->pairs && !l->run) tell_row(l, t->row, 0);
    t->lines = t->rows = t->kept = 0, t->pairs = t->columns = false, t->differ = 0;
}

static void compare_rows(struct log_table *t, const char *row)
{
    struct cell_text cells[CELLS_MOST], before[CELLS_MOST];
    int count = cells_of(row, cells), had = cells_of(t->row, before);
    for (int i = 0; i < count; i++)
        if (i >= had || cells[i].length != before[i].length ||
            strncmp(cells[i].text, before[i].text, (size_t)cells[i].length) != 0)
            t->differ |= 1U << i;
}

static bool read_table(struct log *l, const char *line)
{
    struct log_table *t = &l->reader->table;
    struct cell_text cells[CELLS_MOST];
    int count = cells_of(line, cells);
    if (*line == '#' && line[1] == '#')
        snprintf(l->reader->heading, sizeof l->reader->heading, "%.200s", line);
    if (!count) {
        if (t->lines) finish(l);
        return false;
    }
    t->lines++;
    if (t->lines == 1) {
        t->head_line = (int)l->lines;
        snprintf(t->head, sizeof t->head, "%.*s", (int)sizeof t->head - 1, line);
        t->pairs = count == 2 && cells[1].length == 5 && !strncasecmp(cells[1].text, "value", 5);
        t->rates = !t->pairs && has_rate(line);
    } else if (t->lines > 2) { // behind the rule
        if (t->rows++) compare_rows(t, line);
        else t->rates |= has_step(line);
        snprintf(t->row, sizeof t->row, "%.*s", (int)sizeof t->row - 1, line);
        if (t->pairs && count == 2) tell_cell(l, cells[0], cells[1]);
        t->columns |= !t->pairs && !t->rates && count > 2 && rate_of(cells[0]) >= 0;
        if (!t->rates && t->kept < TABLE_KEPT)
            snprintf(t->lines_kept[t->kept++], sizeof t->lines_kept[0], "%s", t->row);
        return t->rates && !take_run(l, line, cells[0]);
    }
    return false;
}

// "Llama 2", "Qwen3", whose size may be in a table.
static void keep_family(struct log *l, const char *line)
{
    static const char *const families[] = {"Llama 2",  "Llama 3.1", "Llama 3", "Llama2",
                                           "Llama3.1", "Llama3",    "Qwen3",   "Qwen2.5"};
    for (size_t i = 0; i < ARRAY_LENGTH(families); i++) {
        const char *at = find_in_any_case(line, families[i]);
        if (!at || isdigit((unsigned char)at[strlen(families[i])])) continue;
        snprintf(l->reader->family, sizeof l->reader->family, "%s", families[i]);
        return;
    }
}

// "-- | -- | --", under the head of a table that has no bars around it.
static bool is_bare_rule(const char *line)
{
    return strchr(line, '|') && strchr("-:", *line) && *line && !line[strspn(line, "-:| ")];
}

bool log_table(struct log *l, const char *line)
{
    struct log_table *t = &l->reader->table;
    char row[sizeof t->before + 8];
    bool cells = *line != '|' && strstr(line, " | ");
    if (l->run && !l->runs.chosen) keep_family(l, line);
    if (*t->before && is_bare_rule(line)) {
        snprintf(row, sizeof row, "| %s |", t->before);
        read_table(l, row);
        t->bare = true;
    }
    t->bare &= cells || is_bare_rule(line);
    *t->before = '\0';
    if (cells) snprintf(t->before, sizeof t->before, "%s", line);
    if (!t->bare) return read_table(l, line);
    snprintf(row, sizeof row, "| %.*s |", (int)sizeof t->before - 1, line);
    return read_table(l, row);
}
