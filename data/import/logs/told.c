// What was told and what was measured: kept in rooms of fixed size.
#include <math.h>
#include <stdlib.h>

#include "data/import/logs/internal.h"
#include "data/numbers/intervals.h"

const char *const log_format_names[] = {
    "unknown",     "transformers",       "LLaMA-Factory", "DeepSpeed",       "torchtitan",
    "Megatron-LM", "Megatron-DeepSpeed", "NeMo",          "Megatron-Bridge", "MLPerf (NeMo)"};

const char *const told_names[] = {TOLD_AS_COLUMNS(TOLD_NAME) TOLD_OTHERWISE(TOLD_NAME)};

void tell(struct log *l, enum told what, enum told_by by, const char *key, const char *text,
          size_t length)
{
    struct told_value *to = &l->told[what];
    if (to->by > by || !length) return;
    if (to->by == by && by >= BY_SETTING) log_part_tells(l, what, to, text);
    if (to->by == by && by == BY_WORDS) return; // the first words count
    bool only_there = what == TOLD_ADAPTERS && length == 1 && *text == '1';
    if (only_there && strtoll(to->text, NULL, 10) > 1) return; // their rank says more
    if (length >= TOLD_TEXT) length = TOLD_TEXT - 1;
    to->by = by, to->line = (int)l->lines;
    for (size_t i = 0; i < length; i++)
        to->text[i] = (char)(isprint((unsigned char)text[i]) ? text[i] : '?');
    to->text[length] = '\0';
    snprintf(to->key, sizeof to->key, "%s", key);
}

void tell_count(struct log *l, enum told what, enum told_by by, const char *key, int64_t value)
{
    char text[24];
    int length = snprintf(text, sizeof text, "%lld", (long long)value);
    tell(l, what, by, key, text, (size_t)length);
}

int tell_counts(struct log *l, const char *line, enum told_by by, const char *key,
                const struct count_words *rows, size_t row_count)
{
    int count = 0;
    double value;
    for (size_t i = 0; i < row_count && has_digit(line); i++)
        if (number_after(line, rows[i].before, &value, NULL) && value >= 1 && value < 1e9)
            tell_count(l, rows[i].told, by, key, (int64_t)value), count++;
    return count;
}

bool told_is_shown(const struct log *l, enum told what)
{
    static const bool others[TOLD_COUNT] = {
        [TOLD_ADAPTERS] = true,    [TOLD_ADAPTED] = true, [TOLD_ADAPTER_DROPOUT] = true,
        [TOLD_WEIGHT_BITS] = true, [TOLD_OFFLOAD] = true, [TOLD_OFFLOAD_WEIGHTS] = true};
    return told(l, what) &&
           (what < TOLD_COLUMNS || (others[what] &&
                                    ((what != TOLD_ADAPTED && what != TOLD_ADAPTER_DROPOUT) ||
                                     told_count(l, TOLD_ADAPTERS) > 0) &&
                                    strcmp(l->told[what].text, "0") != 0));
}

void log_forget(struct log *l, const char *key)
{
    for (int i = 0; i < TOLD_COUNT; i++)
        if (!strcmp(l->told[i].key, key)) l->told[i].by = BY_NONE;
}

int64_t told_count(const struct log *l, enum told what)
{
    return told(l, what) ? strtoll(l->told[what].text, NULL, 10) : 0;
}

// ---- measured

void measure(struct log *l, enum measured what, int64_t step, double value)
{
    struct log_series *s = &l->series[what];
    if (!(value > 0) || !(value < 1e18)) return;
    log_part_measures(l, s, step);
    if (!s->seen++) s->stride = 1;
    if (s->waits-- > 0) return;
    if (s->count == SERIES_MOST) { // every other one, from the first on
        for (int i = 0; i < SERIES_MOST / 2; i++) s->points[i] = s->points[2 * i];
        s->count = SERIES_MOST / 2, s->stride *= 2;
    }
    s->points[s->count++] = (struct log_point){step, value};
    s->waits = s->stride - 1;
}

// "2024-10-03 16:44:32,658": the first time of the day in the line.
static bool time_of_day(const char *line, double *seconds)
{
    for (const char *s = line; (s = strchr(s, ':')); s++) {
        int hours, minutes, thousandths = 0, read = 0;
        double whole;
        if (s < line + 2 || sscanf(s - 2, "%2d:%2d:%2lf%n", &hours, &minutes, &whole, &read) != 3)
            continue;
        if (!isdigit((unsigned char)s[-2]) || !isdigit((unsigned char)s[-1])) continue;
        const char *end = s - 2 + read;
        if (*end == ',' || *end == '.') sscanf(end + 1, "%3d", &thousandths);
        *seconds = hours * 3600 + minutes * 60 + whole + thousandths / 1000.0;
        return true;
    }
    return false;
}

void measure_clock(struct log *l, const char *line, double step)
{
    struct log_reader *r = l->reader;
    double now;
    if (!time_of_day(line, &now)) return;
    if (r->clock_step > 0 && step > r->clock_step && now > r->clock_s)
        measure(l, MEASURED_CLOCK_S, (int64_t)step, (now - r->clock_s) / (step - r->clock_step));
    r->clock_step = step, r->clock_s = now;
}

static double median_within(const struct log_series *s, int from, int to, struct arena *arena)
{
    int count = to - from;
    double *values = TAKE(arena, count, double);
    for (int i = 0; i < count; i++) values[i] = s->points[from + i].value;
    return median_of(values, count);
}

// The first line, and what follows it, take 1 to 11 times the median: they are left out where the
// half behind them is faster by more than this.
static const double slower_at_first = 1.1;
// A quantity that moves by more than this from its first to its last third is no single one.
static const double moves_above = 1.25, few_move_above = 2;
enum { FEW = 6 };

// falls: a rate, of which slow lines are small.
static bool is_slow(double value, double usual, bool falls)
{
    return falls ? value * slower_at_first < usual : value > usual * slower_at_first;
}

// All are alike but the last, which is slow: a checkpoint, an evaluation, the end.
static bool ends_slowly(const struct log_series *s, int from, bool falls)
{
    int last = s->count - 1;
    double least, most;
    if (last - from < 2) return false;
    least = most = s->points[from].value;
    for (int i = from; i < last; i++) {
        least = fmin(least, s->points[i].value);
        most = fmax(most, s->points[i].value);
    }
    return most <= moves_above * least &&
           is_slow(s->points[last].value, falls ? least : most, falls);
}

struct log_rate log_rate_of(const struct log_series *s, bool falls, struct arena *arena)
{
    struct log_rate r = {.count = 0};
    if (!s->count) return r;
    r.first = s->points[0].value;
    int from = 0, last = s->count - 1;
    double usual = median_within(s, s->count / 2, s->count, arena);
    bool starts = s->points[0].step <= 2; // a log that goes on later has no slow first lines
    if (s->count > 1 && (starts || is_slow(r.first, usual, falls))) from = 1;
    bool numbered = s->points[last].step != s->points[0].step;
    while (starts && numbered && from && s->points[from].step == s->points[0].step)
        from++; // the same line of other ranks
    while (from < last && from < s->count / 4 && is_slow(s->points[from].value, usual, falls))
        from++;
    r.only_first = starts && s->count - from < 2 && s->points[last].step <= 3;
    r.dropped = from, r.count = s->count - from;
    r.value = median_within(s, from, s->count, arena);
    r.least = r.most = s->points[from].value;
    for (int i = from; i < s->count; i++) {
        r.least = fmin(r.least, s->points[i].value);
        r.most = fmax(r.most, s->points[i].value);
    }
    if (ends_slowly(s, from, falls)) last--; // of one line nothing is said
    int count = last + 1 - from, third = count < FEW ? 1 : count / 3;
    r.early = median_within(s, from, from + third, arena);
    r.late = median_within(s, last + 1 - third, last + 1, arena);
    double most = count < FEW ? few_move_above : moves_above; // one slow line is no trend
    r.moves = count > 2 && fmax(r.early, r.late) > most * fmin(r.early, r.late);
    return r;
}
