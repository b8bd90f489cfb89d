// Samples belong together if kind, operation, dimensions, shape, precision, endpoints, members,
// "alone" and the manner of running are equal; among several equal ones in a document, the n-th
// belongs to the n-th in the others. What ended the repetitions is taken from the launch with the
// weakest result. Outliers are marked again, launch by launch.
#include "measure/take.h"

#include <stdlib.h>
#include <string.h>

#include "data/numbers/intervals.h"
#include "measure/commands.h"

enum { DOCUMENTS_MAX = 64, LAUNCHES_MAX = 1024, REPETITIONS_MAX = 1000000 };

// One sample of one document.
struct entry {
    const struct sample *sample;
    int document, index, ordinal; // ordinal: among equal ones in its document
};

static int order(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_samples(const struct sample *a, const struct sample *b)
{
    int c = order(a->kind, b->kind);
    if (!c) c = strcmp(a->operation, b->operation);
    if (!c) c = order(a->dimension_count, b->dimension_count);
    for (int i = 0; !c && i < a->dimension_count; i++)
        c = order(a->dimensions[i], b->dimensions[i]);
    if (!c) c = sample_compare_shapes(a->shape, b->shape);
    if (!c) c = order(a->precision, b->precision);
    if (!c) c = order(a->from, b->from);
    if (!c) c = order(a->to, b->to);
    if (!c) c = order(a->alone, b->alone);
    if (!c) c = sample_compare_manner(a, b);
    if (!c) c = order(a->member_count, b->member_count);
    for (int i = 0; !c && i < a->member_count; i++) c = order(a->members[i], b->members[i]);
    return c;
}

static int by_document(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int c = compare_samples(x->sample, y->sample);
    if (!c) c = order(x->document, y->document);
    return c ? c : order(x->index, y->index);
}

static int by_ordinal(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int c = compare_samples(x->sample, y->sample);
    if (!c) c = order(x->ordinal, y->ordinal);
    return c ? c : order(x->document, y->document);
}

// Groups in the order of their first members in the documents.
struct group {
    const struct entry *entries;
    int count;
};

static int by_place(const void *a, const void *b)
{
    const struct entry *x = ((const struct group *)a)->entries,
                       *y = ((const struct group *)b)->entries;
    int c = order(x->document, y->document);
    return c ? c : order(x->index, y->index);
}

static int find_groups(struct group **to, const struct samples *documents, int count,
                       struct arena *arena)
{
    int all = 0, group_count = 0;
    for (int d = 0; d < count; d++) all += documents[d].sample_count;
    struct entry *entries = TAKE(arena, all, struct entry);
    struct group *groups = *to = TAKE(arena, all, struct group);
    for (int d = 0, n = 0; d < count; d++)
        for (int i = 0; i < documents[d].sample_count; i++)
            entries[n++] = (struct entry){&documents[d].samples[i], d, i, 0};
    qsort(entries, (size_t)all, sizeof *entries, by_document);
    for (int i = 1; i < all; i++)
        if (entries[i].document == entries[i - 1].document &&
            !compare_samples(entries[i].sample, entries[i - 1].sample))
            entries[i].ordinal = entries[i - 1].ordinal + 1;
    qsort(entries, (size_t)all, sizeof *entries, by_ordinal);
    for (int i = 0; i < all; i++) {
        bool same = i && entries[i].ordinal == entries[i - 1].ordinal &&
                    !compare_samples(entries[i].sample, entries[i - 1].sample);
        if (!same) groups[group_count++].entries = &entries[i];
        groups[group_count - 1].count++;
    }
    qsort(groups, (size_t)group_count, sizeof *groups, by_place);
    return group_count;
}

// ---- what must be the same

static enum status expect_text(const char *name, const char *first, const char *other,
                               const struct samples *a, const struct samples *b, struct error *err)
{
    if (!strcmp(first ? first : "", other ? other : "")) return OK;
    return refuse(err, "%s: machine.%s: expected '%s' as in %s, found '%s'", b->document.path, name,
                  first ? first : "nothing", a->document.path, other ? other : "nothing");
}

static enum status expect_machine(const struct samples *a, const struct samples *b,
                                  struct error *err)
{
    const struct machine *m = &a->machine, *n = &b->machine;
    if (!strcmp(a->document.sha256, b->document.sha256) && *a->document.sha256)
        return refuse(err, "%s: this is %s again, not another launch", b->document.path,
                      a->document.path);
    TRY(expect_text("gpu", m->gpu, n->gpu, a, b, err));
    TRY(expect_text("processor", m->processor, n->processor, a, b, err));
    TRY(expect_text("library", m->library, n->library, a, b, err));
    TRY(expect_text("driver", m->driver, n->driver, a, b, err));
    if (m->threads != n->threads)
        return refuse(err, "%s: machine.threads: expected %d as in %s, found %d", b->document.path,
                      m->threads, a->document.path, n->threads);
    if (a->endpoint_count != b->endpoint_count)
        return refuse(err, "%s: endpoints: expected %d as in %s, found %d", b->document.path,
                      a->endpoint_count, a->document.path, b->endpoint_count);
    for (int i = 0; i < a->endpoint_count; i++)
        if (strcmp(a->endpoints[i].name, b->endpoints[i].name))
            return refuse(err, "%s: endpoints[%d]: expected '%s' as in %s, found '%s'",
                          b->document.path, i, a->endpoints[i].name, a->document.path,
                          b->endpoints[i].name);
    return OK;
}

static const char *sample_name(const struct sample *s, struct arena *arena)
{
    const char *text = arena_print(arena, "%s '%s'", sample_kind_names[s->kind], s->operation);
    for (int i = 0; i < s->dimension_count; i++)
        text = arena_print(arena, "%s %s%lld", text, i ? "x " : "", (long long)s->dimensions[i]);
    text = arena_print(arena, "%s %s", text, precision_names[s->precision]);
    if (s->shape) text = arena_print(arena, "%s of hidden %lld", text, (long long)s->shape->hidden);
    return s->kind == SAMPLE_LINK ? arena_print(arena, "%s from %d to %d", text, s->from, s->to)
                                  : text;
}

static enum status expect_everywhere(const struct group *g, const struct samples *documents,
                                     int count, struct arena *arena, struct error *err)
{
    int missing = 0;
    while (missing < g->count && g->entries[missing].document == missing) missing++;
    if (missing == count) return OK;
    const struct entry *e = g->entries;
    return refuse(err,
                  "%s: %s is not in it, but in %s (samples[%d]); measure with --like %s, or merge "
                  "with --partial",
                  documents[missing].document.path, sample_name(e->sample, arena),
                  documents[e->document].document.path, e->index, documents[0].document.path);
}

// ---- joining

static int launches_of(const struct samples *s) { return s->launch_count ? s->launch_count : 1; }

static void add_launches(struct samples *merged, const struct samples *s)
{
    if (!s->launch_count)
        merged->launches[merged->launch_count++] =
            (struct launch){.host = s->machine.host, .taken_at = s->machine.taken_at};
    for (int i = 0; i < s->launch_count; i++)
        merged->launches[merged->launch_count++] = s->launches[i];
}

static void add_quantities(struct samples *merged, const struct samples *s, struct arena *arena)
{
    for (int i = 0; i < s->quantity_count; i++) {
        const struct quantity *from = &s->quantities[i];
        int q = 0;
        while (q < merged->quantity_count && strcmp(merged->quantities[q].name, from->name)) q++;
        struct quantity *to = &merged->quantities[q];
        if (q == merged->quantity_count)
            *to = (struct quantity){.name = from->name}, merged->quantity_count++;
        int count = to->value_count + from->value_count;
        to->values = arena_grow(arena, to->values, (size_t)to->value_count, (size_t)count,
                                sizeof *to->values);
        memcpy(to->values + to->value_count, from->values,
               (size_t)from->value_count * sizeof *from->values);
        to->value_count = count;
    }
}

// The one that leaves the widest interval.
static const char *weaker(const char *a, const char *b)
{
    static const char *const names[] = {"interrupted", "budget", "width", "count", "imported"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (!strcmp(a, names[i]) || !strcmp(b, names[i])) return names[i];
    return a;
}

static void append(struct sample *to, const struct sample *from, int first_launch, int launch_count)
{
    memcpy(to->seconds + to->repetitions, from->seconds,
           (size_t)from->repetitions * sizeof *from->seconds);
    for (int i = 0; i < from->condition_count; i++) {
        to->conditions[to->condition_count] = from->conditions[i];
        to->conditions[to->condition_count++].first += to->repetitions;
    }
    if (from->launch_repetitions)
        memcpy(to->launch_repetitions + first_launch, from->launch_repetitions,
               (size_t)launch_count * sizeof *from->launch_repetitions);
    else to->launch_repetitions[first_launch] = from->repetitions;
    to->repetitions += from->repetitions;
    to->warm_ups += from->warm_ups;
    to->stopped_by = weaker(to->stopped_by, from->stopped_by);
}

static void join(struct sample *to, const struct group *g, const int *first_launch,
                 int launch_count, const struct samples *documents, struct arena *arena)
{
    int repetitions = 0, conditions = 0;
    for (int i = 0; i < g->count; i++)
        repetitions += g->entries[i].sample->repetitions,
            conditions += g->entries[i].sample->condition_count + 1;
    *to = *g->entries[0].sample;
    to->seconds = TAKE(arena, repetitions, double);
    to->conditions = TAKE(arena, conditions, struct condition);
    to->launch_repetitions = TAKE(arena, launch_count, int);
    to->repetitions = to->condition_count = to->warm_ups = 0;
    for (int i = 0; i < g->count; i++) {
        const struct entry *e = &g->entries[i];
        // A launch without conditions must not inherit the previous one's.
        bool silent = to->condition_count &&
                      (!e->sample->condition_count || e->sample->conditions[0].first > 0);
        if (silent)
            to->conditions[to->condition_count++] = (struct condition){.first = to->repetitions};
        append(to, e->sample, first_launch[e->document], launches_of(&documents[e->document]));
    }
    sample_flag_outliers(to, arena);
}

enum status samples_merge(struct samples *merged, const struct samples *documents, int count,
                          bool partial, struct arena *arena, struct error *err)
{
    int launches = 0, quantities = 0;
    int *first_launch = TAKE(arena, count, int);
    for (int d = 0; d < count; d++) {
        for (int e = 0; e < d; e++) TRY(expect_machine(&documents[e], &documents[d], err));
        first_launch[d] = launches;
        launches += launches_of(&documents[d]);
        quantities += documents[d].quantity_count;
    }
    if (launches > LAUNCHES_MAX)
        return refuse(err, "%s: expected at most %d launches in all, found %d",
                      documents[count - 1].document.path, LAUNCHES_MAX, launches);
    *merged = (struct samples){.machine = documents[0].machine,
                               .endpoints = documents[0].endpoints,
                               .endpoint_count = documents[0].endpoint_count,
                               .launches = TAKE(arena, launches, struct launch),
                               .quantities = TAKE(arena, quantities, struct quantity)};
    for (int d = 0; d < count; d++)
        add_launches(merged, &documents[d]), add_quantities(merged, &documents[d], arena);
    struct group *groups;
    merged->sample_count = find_groups(&groups, documents, count, arena);
    merged->samples = TAKE(arena, merged->sample_count, struct sample);
    for (int i = 0; i < merged->sample_count; i++) {
        if (!partial) TRY(expect_everywhere(&groups[i], documents, count, arena, err));
        join(&merged->samples[i], &groups[i], first_launch, launches, documents, arena);
        if (merged->samples[i].repetitions > REPETITIONS_MAX)
            return refuse(err, "%s: %s: expected at most %d repetitions in all, found %d",
                          documents[0].document.path, sample_name(&merged->samples[i], arena),
                          REPETITIONS_MAX, merged->samples[i].repetitions);
    }
    return OK;
}

// ---- the command

static void tell(const struct samples *s, struct arena *arena)
{
    double *shares = TAKE(arena, s->sample_count, double);
    int outliers = 0, repetitions = 0;
    for (int i = 0; i < s->sample_count; i++) {
        struct median m = sample_median(&s->samples[i], arena);
        shares[i] = m.value > 0 ? (m.high - m.low) / m.value : 0;
        outliers += s->samples[i].outlier_count;
        repetitions += s->samples[i].repetitions;
    }
    double middle = 0, low, high;
    qsort(shares, (size_t)s->sample_count, sizeof *shares, compare_numbers);
    if (s->sample_count) median_interval(shares, s->sample_count, 0.95, &middle, &low, &high);
    fprintf(stderr,
            "merged %d launches: %d operations, %d repetitions, %d outliers; half of the 95 %% "
            "intervals are narrower than %.3g %%\n",
            s->launch_count, s->sample_count, repetitions, outliers, 100 * middle);
    if (s->launch_count == 2)
        fprintf(stderr, "two launches show little of how launches differ: an interval is 12.7 "
                        "standard errors to each side, 4.3 with three launches\n");
}

struct options {
    struct option_texts paths;
    const char *output;
    bool partial, quiet;
};

static const struct option_row rows[] = {
    {"SAMPLES", OPTION_PATH, OPT(paths), .low = 2, .many = DOCUMENTS_MAX},
    {"--partial", OPTION_FLAG, OPT(partial), "keep operations that are missing from some launches"},
    {"--quiet", OPTION_FLAG, OPT(quiet), "print nothing but errors on stderr"},
    {"-o", OPTION_PATH, OPT(output),
     "output file for the merged samples (default: standard output)"},
};

COMMAND_RUN(run)
{
    const struct options *o = options;
    struct samples *documents = TAKE(arena, o->paths.count, struct samples), merged;
    struct source *sources = TAKE(arena, o->paths.count, struct source);
    TRY(file_check_place(o->output, err));
    for (int d = 0; d < o->paths.count; d++) {
        TRY(samples_load(&documents[d], o->paths.items[d], arena, err));
        sources[d] = source_of("samples", &documents[d].document, o->output, arena);
    }
    TRY(samples_merge(&merged, documents, o->paths.count, o->partial, arena, err));
    merged.document.sources = sources;
    merged.document.source_count = o->paths.count;
    TRY(samples_save(&merged, o->output, arena, err));
    if (!o->quiet) tell(&merged, arena);
    return OK;
}

const struct command measure_merge = {
    .name = "merge",
    .text = "merge samples of several launches on one machine into one file",
    .usage = "plumbline measure merge [OPTION ...] SAMPLES SAMPLES ...",
    READS(struct options, rows, {.output = "-"}),
    .run = run,
};
