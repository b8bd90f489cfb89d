// Each unstated trait is tried with each value that it could have. A suggestion is made greedily:
// the value that brings the rows nearest to what was measured, then the next one beside it.
#include "calibrate/runs/runs.h"

#include <string.h>

// What a trait may be tried with. Traits of the model are decided by its name.
static const struct {
    enum trait trait;
    int values[5], count;
} candidates[] = {
    {TRAIT_PRECISION, {BF16, FP8, FP16, FP32}, 4},
    {TRAIT_ATTENTION, {UNFUSED_ATTENTION, FUSED_FASTEST, FUSED_OPEN}, 3},
    {TRAIT_SEQUENCE_PARALLEL, {0, 1}, 2},
    {TRAIT_ZERO, {0, 1, 2, 3}, 4},
    {TRAIT_RECOMPUTE, {RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL}, 3},
    {TRAIT_GRADIENT_BYTES, {2, 4}, 2},
    {TRAIT_OVERLAP, {0, 1}, 2},
    {TRAIT_OVERLAP_MESSAGES, {0, 1}, 2},
    {TRAIT_OVERLAP_TENSOR, {0, 1}, 2},
    {TRAIT_COMPILED, {0, 1}, 2},
    {TRAIT_GATED, {0, 1}, 2},
};

// A column to state: a trait, or (program > 0) the program.
struct stated {
    enum trait trait;
    int value, program;
};
enum { STATED_MAX = 4 };

static bool is_blank(const struct run_row *row, const struct stated *s)
{
    if (s->program) return !row->framework.length && row->trainer == NOT_STATED;
    return row_trait(row, s->trait) == NOT_STATED;
}

static void state(struct run_row *row, const struct stated *s)
{
    const char *name = program_names[s->program];
    if (s->program) row->framework = (struct cell){name, (int)strlen(name)};
    else row_set_trait(row, s->trait, s->value);
}

static void put_stated(const struct stated *s, FILE *to)
{
    if (s->program) fprintf(to, "framework=%s", program_names[s->program]);
    else fprintf(to, "%s=%s", trait_columns[s->trait], trait_value_text(s->trait, s->value));
}

// The i-th of all candidates; false: there are no more.
static bool candidate(int i, struct stated *s)
{
    for (size_t k = 0; k < ARRAY_LENGTH(candidates); i -= candidates[k++].count)
        if (i < candidates[k].count) {
            *s = (struct stated){candidates[k].trait, candidates[k].values[i], 0};
            return true;
        }
    *s = (struct stated){.program = i + 1};
    return s->program < PROGRAM_OTHER;
}

// ---- those that ran and do not fit

static bool overfull(const struct prediction *x)
{
    return !*x->reason && x->device_bytes > x->capacity_bytes;
}

// None of what is stated contradicts the program that the row is taken to be of.
static bool may_be(const struct run_row *was, const struct prediction *x,
                   const struct stated *stated, int count)
{
    for (int k = 0; k < count; k++)
        if (!stated[k].program && is_blank(was, &stated[k]) &&
            !program_may(x->origin.program, stated[k].trait, stated[k].value))
            return false;
    return true;
}

static bool ran(const struct run *run)
{
    return !run->excluded && (metric_is_time(run->row.metric) || metric_is_memory(run->row.metric));
}

static void show_remedies(const struct run_set *set, int count, struct predictor *p, FILE *to)
{
    struct stated s;
    int shown = 0;
    for (int i = 0; candidate(i, &s) && !s.program; i++) {
        int fitting = 0;
        for (int k = 0; k < set->count; k++) {
            struct run_row row = set->runs[k].row;
            struct prediction x;
            if (!ran(&set->runs[k]) || !overfull(&set->runs[k].prediction) || !is_blank(&row, &s))
                continue;
            state(&row, &s);
            predict_row(p, &row, &x);
            fitting += !*x.reason && !overfull(&x) && may_be(&set->runs[k].row, &x, &s, 1);
        }
        if (!fitting) continue;
        fprintf(to, "%s", shown++ ? ", " : "    with what is not stated they would: ");
        put_stated(&s, to);
        fprintf(to, " (%d of %d)", fitting, count);
    }
    fprintf(to, "%s", shown ? "\n" : "    nothing that is not stated would change that\n");
}

void unstated_show_overfull(const struct run_set *set, struct predictor *p, FILE *to)
{
    enum { SHOWN = 6 };
    int count = 0;
    for (int i = 0; i < set->count; i++)
        count += ran(&set->runs[i]) && overfull(&set->runs[i].prediction);
    if (!count) return;
    fprintf(to, "%d runs that ran are predicted not to fit:", count);
    for (int i = 0, shown = 0; i < set->count && shown < SHOWN; i++) {
        const struct run *run = &set->runs[i];
        const struct prediction *x = &run->prediction;
        if (!ran(run) || !overfull(x)) continue;
        fprintf(to, "%s ", shown++ ? "," : "");
        if (run->row.id.length) fprintf(to, "%.*s", run->row.id.length, run->row.id.text);
        else fprintf(to, "line %d", run->row.line);
        fprintf(to, " (%.4g GB of %.3g)", (double)x->device_bytes * 1e-9,
                (double)x->capacity_bytes * 1e-9);
    }
    fprintf(to, "%s\n", count > SHOWN ? " ..." : "");
    predictor_ask_ranges(p, false);
    show_remedies(set, count, p, to);
}

// ---- what was taken

static void show_trait(const struct run_set *set, int file, enum trait trait, bool open, int *shown,
                       FILE *to)
{
    for (int value = 0; value < 16; value++) {
        int count = 0;
        double low = 0, high = 0;
        for (int i = 0; i < set->count; i++) {
            const struct run *run = &set->runs[i];
            const struct assumption *a = &run->prediction.assumptions[trait];
            if (run->file != file || run->excluded || !a->taken.assumed || !*a->taken.why ||
                a->taken.value != value || (a->low_ns > 0) != open)
                continue;
            double ns = (double)run->prediction.iteration_ns;
            count++;
            if (!open) continue;
            low = fmin(low, (double)a->low_ns / ns - 1),
            high = fmax(high, (double)a->high_ns / ns - 1);
        }
        if (!count) continue;
        fprintf(to, "%s%s %s (%d", (*shown)++ ? ", " : "", trait_columns[trait],
                trait_value_text(trait, value), count);
        if (open) fprintf(to, "; unknown: %.0f to +%.0f %%", 100 * low, 100 * high);
        fprintf(to, ")");
    }
}

// Of those that are not told yet, what leaves most open in the sum of its rows; TRAIT_COUNT:
// nothing.
static int widest_open(const struct run_set *set, int file, const bool told[TRAIT_COUNT])
{
    int widest = TRAIT_COUNT;
    double most = 0;
    for (int trait = 0; trait < TRAIT_COUNT; trait++) {
        double width = 0;
        for (int i = 0; i < set->count && !told[trait]; i++)
            if (set->runs[i].file == file && !set->runs[i].excluded)
                width += assumption_width(&set->runs[i].prediction.assumptions[trait]);
        if (width > most) most = width, widest = trait;
    }
    return widest;
}

// The host's time of a layer is the trainer's and the host's own, and stated by nobody.
static void show_launches(const struct run_set *set, int file, FILE *to)
{
    int count = 0;
    double most = 0;
    for (int i = 0; i < set->count; i++) {
        const struct run *run = &set->runs[i];
        double share =
            run->file == file && !run->excluded ? prediction_launches_share(&run->prediction) : 0;
        count += share > 0, most = fmax(most, share);
    }
    if (count)
        fprintf(to,
                "    the host's launches decide in %d rows, with a slow host up to +%.0f %%: "
                "column graphs (step: none), or --set layer_launch_s=S\n",
                count, 100 * most);
}

void unstated_show_assumed(const struct run_set *set, int file, FILE *to)
{
    int shown = 0, first = 0;
    while (first < set->count && (set->runs[first].file != file || set->runs[first].excluded))
        first++;
    if (first == set->count) return;
    const struct run_origin *o = &set->runs[first].prediction.origin;
    for (int i = 0; i < set->count && !shown; i++)
        for (int t = 0; t < TRAIT_COUNT && set->runs[i].file == file; t++)
            shown |= set->runs[i].prediction.assumptions[t].taken.assumed &&
                     *set->runs[i].prediction.assumptions[t].taken.why;
    if (!shown) return;
    fprintf(to, "    assumed (rows), as %s of %d-%02d: ",
            o->program == PROGRAM_UNKNOWN ? "programs" : program_names[o->program], o->date / 100,
            o->date % 100);
    bool told[TRAIT_COUNT] = {false};
    shown = 0;
    for (int trait; (trait = widest_open(set, file, told)) < TRAIT_COUNT; told[trait] = true)
        show_trait(set, file, (enum trait)trait, true, &shown, to);
    for (int trait = 0; trait < TRAIT_COUNT; trait++) // a family's other traits follow its gate
        if (trait == TRAIT_GATED || trait > TRAIT_LEARNED_POSITIONS)
            show_trait(set, file, (enum trait)trait, false, &shown, to);
    fprintf(to, "\n");
    show_launches(set, file, to);
}

// ---- what would explain them

struct score {
    int rows, blank, inside, overfull; // blank: rows in which a candidate is not stated
    double error;                      // mean
};

static struct score score_with(const struct run_set *set, int file, struct predictor *p,
                               const struct stated *stated, int count)
{
    struct score sum = {0};
    for (int i = 0; i < set->count; i++) {
        const struct run *run = &set->runs[i];
        struct run_row row = run->row;
        struct prediction x;
        if (run->file != file || run->excluded || !metric_is_time(row.metric)) continue;
        for (int k = 0; k < count; k++)
            if (is_blank(&run->row, &stated[k])) state(&row, &stated[k]), sum.blank++;
        predict_row(p, &row, &x);
        if (*x.reason || !may_be(&run->row, &x, stated, count)) continue;
        sum.rows++;
        sum.error += fabs(run_prediction(&row, &x) / row.value - 1);
        sum.overfull += overfull(&x);
        struct prediction fast = x, slow = x;
        fast.iteration_ns = x.low_ns, slow.iteration_ns = x.high_ns;
        double first = run_prediction(&row, &fast), second = run_prediction(&row, &slow);
        sum.inside += fmin(first, second) <= row.value && row.value <= fmax(first, second);
    }
    if (sum.rows) sum.error /= sum.rows;
    return sum;
}

// What is least: errors, and runs that ran and would not fit. A column must be worth its cell.
static double worth(const struct score *s)
{
    return s->error + 0.2 * (double)s->overfull / (double)(s->rows ? s->rows : 1);
}

static int find_suggestion(const struct run_set *set, int file, struct predictor *p,
                           struct stated stated[STATED_MAX])
{
    const double least = 0.01;
    int count = 0;
    struct score now = score_with(set, file, p, stated, 0);
    while (count < STATED_MAX) {
        struct stated best = {0}, s;
        bool found = false;
        struct score best_score = now;
        for (int i = 0; candidate(i, &s); i++) {
            stated[count] = s;
            struct score alone = {0}, with;
            for (int k = 0; k < set->count; k++)
                alone.blank += set->runs[k].file == file && is_blank(&set->runs[k].row, &s);
            if (!alone.blank) continue;
            with = score_with(set, file, p, stated, count + 1);
            if (with.rows == now.rows && worth(&with) < worth(&best_score))
                best_score = with, best = s, found = true;
        }
        if (!found || worth(&best_score) > worth(&now) - least) break;
        stated[count++] = best, now = best_score;
    }
    return count;
}

static double percent_of(int part, int all) { return all ? 100.0 * part / all : 0; }

void unstated_suggest(const struct run_set *set, int file, struct predictor *p, FILE *to)
{
    struct stated stated[STATED_MAX] = {0};
    predictor_ask_ranges(p, false);
    int count = find_suggestion(set, file, p, stated);
    predictor_ask_ranges(p, true);
    struct score before = score_with(set, file, p, stated, 0),
                 after = score_with(set, file, p, stated, count);
    predictor_ask_ranges(p, false);
    if (!before.rows) return;
    fprintf(to, "%s: ", set->files[file].label);
    if (!count) {
        fprintf(to, "no column that is not stated brings its %d rows nearer\n", before.rows);
        return;
    }
    fprintf(to, "state --default ");
    for (int k = 0; k < count; k++) {
        if (k) fprintf(to, ",");
        put_stated(&stated[k], to);
    }
    fprintf(to,
            " if that is so (%d rows): mean error %.2f -> %.2f %%, inside %.0f -> %.0f %%, ran and "
            "not fitting %d -> %d\n",
            before.rows, 100 * before.error, 100 * after.error,
            percent_of(before.inside, before.rows), percent_of(after.inside, after.rows),
            before.overfull, after.overfull);
}
