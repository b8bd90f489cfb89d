// The answer as a page of text.
#include <string.h>

#include "data/inputs/model/size.h"
#include "solve/explain/internal.h"
#include "solve/report/report.h"

// Lines of at most this many columns, continued behind the names on the left.
enum { PAGE_COLUMNS = 100, NAME_COLUMNS = 10 };

static void put_wrapped(struct text *out, const char *name, const char *text)
{
    size_t column = NAME_COLUMNS;
    text_put(out, "%-9s ", name);
    while (*text) {
        size_t length = strcspn(text, " "), room = column == NAME_COLUMNS ? 0 : 1;
        if (column + room + length > PAGE_COLUMNS && column > NAME_COLUMNS) {
            text_put(out, "\n%*s", NAME_COLUMNS, "");
            column = NAME_COLUMNS, room = 0;
        }
        text_put(out, "%s%.*s", room ? " " : "", (int)length, text);
        column += room + length, text += length;
        text += strspn(text, " ");
    }
    text_put(out, "\n");
}

static const char *seconds(const struct explained *x, double s)
{
    return s >= 1     ? arena_print(x->arena, "%.3f s", s)
           : s > 1e-3 ? arena_print(x->arena, "%.1f ms", s * 1e3)
                      : arena_print(x->arena, "%.3g s", s);
}

static const char *gigabytes(const struct explained *x, int64_t bytes)
{
    return arena_print(x->arena, "%.2f GB", (double)bytes / 1e9);
}

// ---- the run

static void put_run(struct text *out, const struct explained *x)
{
    const struct log *l = &x->log;
    const char *text =
        arena_print(x->arena, "%s, %lld lines", log_format_names[l->format], (long long)l->lines);
    if (!*x->own.reason) {
        const struct problem *p = &x->problem;
        text = arena_print(
            x->arena,
            "%s: %.4gB parameters, %lld tokens a sequence, %lld sequences; %s on %.0f x %s", text,
            (double)model_size_of(&p->model).all / 1e9, (long long)p->job.sequence,
            (long long)p->job.global_batch, report_layout_words(&p->job.layout, x->arena),
            x->own.gpus, x->own.gpu ? x->own.gpu : "?");
    }
    put_wrapped(out, "run", text);
}

// Of several in the text.
static void put_others(struct text *out, const struct explained *x)
{
    const struct log_parts *p = &x->log.parts;
    const char *text = "";
    if (!p->count) return;
    for (int i = 0; i < p->count; i++)
        text = arena_print(x->arena, "%s%s%d '%s' (line %d)%s", text, i ? ", " : "", i + 1,
                           p->at[i].name, p->at[i].line, i == p->chosen ? ", which is this" : "");
    put_wrapped(out, "runs",
                arena_print(x->arena, "%d in the text (--run N chooses): %s", p->count, text));
}

static bool is_absent(const struct told_value *v)
{
    return v->by == BY_OTHERS && !strcmp(v->key, OF_ABSENCE) && !strcmp(v->text, "0");
}

// How tokens travel between ranks of experts, where there is one.
static bool is_idle(const struct explained *x, enum told what)
{
    return what == TOLD_DISPATCHER && !*x->own.reason && x->problem.job.layout.expert <= 1;
}

static void put_stated(struct text *out, const struct explained *x)
{
    const struct log *l = &x->log;
    const char *text = "", *off = "";
    for (int i = 0; i < TOLD_COUNT; i++) {
        const struct told_value *v = &l->told[i];
        if (!told_is_shown(l, (enum told)i) || is_idle(x, (enum told)i)) continue;
        if (is_absent(v)) {
            off = arena_print(x->arena, "%s%s %s", off, *off ? "," : "", told_names[i]);
            continue;
        }
        text = v->by == BY_OTHERS ? arena_print(x->arena, "%s%s%s %s (from %s)", text,
                                                *text ? ", " : "", told_names[i], v->text, v->key)
                                  : arena_print(x->arena, "%s%s%s %s (line %d)", text,
                                                *text ? ", " : "", told_names[i], v->text, v->line);
    }
    if (*off) text = arena_print(x->arena, "%s; off, as no argument has it:%s", text, off);
    if (*text) put_wrapped(out, "stated", text);
    if (x->settings.set) put_wrapped(out, "set", x->settings.set);
}

static void put_unknown(struct text *out, const struct explained *x)
{
    for (int i = 0; i < x->log.unknown_count; i++) {
        const struct unknown_flag *u = &x->log.unknown[i];
        put_wrapped(out, i ? "" : "not read",
                    arena_print(x->arena,
                                "--%s (line %d): no flag that is known; the nearest is --%s",
                                u->flag, u->line, u->nearest));
    }
}

static void put_assumed(struct text *out, const struct explained *x)
{
    for (int i = 0; i < x->assumed_count; i++)
        put_wrapped(out, i ? "" : "assumed",
                    arena_print(x->arena, "%s %s: %s", x->assumed[i].column, x->assumed[i].value,
                                x->assumed[i].why));
}

// ---- the reading

static void put_reading(struct text *out, const struct explained *x)
{
    const struct certificate *c = &x->certificate;
    const char *text;
    if (*x->own.reason) return;
    if (c->by_log > 0 && c->found >= 0) {
        text = arena_print(
            x->arena, "certified: %.4g GFLOP a token by the log, %.4g by the model (%s)%s",
            c->by_log / 1e9, c->counts[c->found].flop / 1e9, c->counts[c->found].name,
            c->solved ? "; the sequence was found by it" : "");
    } else if (c->by_log > 0) {
        text = arena_print(x->arena, "refused: %.4g GFLOP a token by the log, by the model",
                           c->by_log / 1e9);
        for (int i = 0; i < c->count; i++)
            text = arena_print(x->arena, "%s%s %.4g (%s)", text, i ? "," : "",
                               c->counts[i].flop / 1e9, c->counts[i].name);
    } else {
        text = x->log.has_tower ? "not certified: the log's FLOP count a tower of images, too"
                                : "not certified: the log states no FLOP rate";
    }
    if (c->rank_parameters > 0)
        text = arena_print(
            x->arena, "%s; parameters %s: %.5g M in the log, %.5g M by the model", text,
            c->parameters_agree ? "agree" : "differ",
            (double)(x->log.parameters ? x->log.parameters : x->log.rank_parameters) / 1e6,
            c->rank_parameters / 1e6);
    put_wrapped(out, "reading", text);
}

// ---- measured and predicted

static void put_time(struct text *out, const struct explained *x)
{
    const struct prediction *p = &x->own;
    const char *text = "";
    if (x->measured_s > 0) {
        text = arena_print(x->arena, "measured %s an iteration (%s", seconds(x, x->measured_s),
                           x->measured_by);
        if (x->rate.count)
            text = arena_print(x->arena, "%s: median of %d, %d before them left out", text,
                               x->rate.count, x->rate.dropped);
        text = arena_print(x->arena, "%s)", text);
    }
    if (!*p->reason) {
        text = arena_print(x->arena, "%s%spredicted %s", text, *text ? ", " : "",
                           seconds(x, (double)p->iteration_ns * 1e-9));
        if (p->high_ns)
            text = arena_print(x->arena, "%s (%s to %s)", text,
                               seconds(x, (double)p->low_ns * 1e-9),
                               seconds(x, (double)p->high_ns * 1e-9));
        if (x->measured_s > 0)
            text = arena_print(x->arena, "%s: %+.1f %%", text,
                               100 * ((double)p->iteration_ns * 1e-9 / x->measured_s - 1));
    }
    if (*text) put_wrapped(out, "time", text);
}

static const char *compared(const struct explained *x, const char *what, int64_t measured,
                            int64_t predicted)
{
    const char *text = arena_print(x->arena, "%s measured %s", what, gigabytes(x, measured));
    if (*x->own.reason) return text;
    return arena_print(x->arena, "%s, predicted %s (%+.1f %%)", text, gigabytes(x, predicted),
                       100 * ((double)predicted / (double)measured - 1));
}

static void put_memory(struct text *out, const struct explained *x)
{
    const struct log_memory *m = &x->log.memory;
    const struct prediction *p = &x->own;
    const char *text = "";
    if (m->allocated_bytes)
        text = compared(x, "the allocator's most", m->allocated_bytes, explained_allocated(p));
    if (m->reserved_bytes)
        text = arena_print(x->arena, "%s%s%s", text, *text ? "; " : "",
                           compared(x, "reserved", m->reserved_bytes, p->held_bytes));
    if (m->device_bytes)
        text = arena_print(x->arena, "%s%s%s", text, *text ? "; " : "",
                           compared(x, "the device's", m->device_bytes, p->device_bytes));
    if (!*text && !*p->reason)
        text = arena_print(x->arena, "predicted %s of the device", gigabytes(x, p->device_bytes));
    if (!*p->reason)
        text = arena_print(x->arena, "%s; the card has %s%s", text, gigabytes(x, p->capacity_bytes),
                           p->device_bytes > p->capacity_bytes ? ", which it would not fit" : "");
    if (*text) put_wrapped(out, "memory", text);
}

static const char *largest_part(const struct memory_parts *m, int64_t *bytes)
{
    const struct {
        const char *name;
        int64_t bytes;
    } parts[] = {{"weights", m->weight_bytes},
                 {"gradients", m->gradient_bytes},
                 {"optimizer state", m->optimizer_bytes},
                 {"activations", m->activation_bytes},
                 {"working memory", m->working_bytes},
                 {"buffers", m->buffer_bytes}};
    int best = 0;
    for (int i = 1; i < (int)ARRAY_LENGTH(parts); i++)
        if (parts[i].bytes > parts[best].bytes) best = i;
    *bytes = parts[best].bytes;
    return parts[best].name;
}

static void put_fullest(struct text *out, const struct explained *x)
{
    const struct prediction *p = &x->own;
    const struct memory_parts *m = &p->memory;
    int64_t bytes;
    if (*p->reason) return;
    const char *largest = largest_part(m, &bytes);
    const char *text = arena_print(
        x->arena,
        "rank %d of %d pipeline ranks: weights %.2f, gradients %.2f, optimizer %.2f, activations "
        "%.2f, working %.2f, rest %.2f GB; most by %s",
        p->fullest_rank, x->problem.job.layout.pipeline, (double)m->weight_bytes / 1e9,
        (double)m->gradient_bytes / 1e9, (double)m->optimizer_bytes / 1e9,
        (double)m->activation_bytes / 1e9, (double)m->working_bytes / 1e9,
        (double)(m->buffer_bytes + m->feedback_bytes + m->constant_bytes) / 1e9, largest);
    int last = x->problem.job.layout.pipeline - 1;
    if (last > 0 && p->fullest_rank == 0)
        text = arena_print(
            x->arena,
            "%s; the first stage holds the most micro-batches in flight and the embedding", text);
    if (last > 0 && p->fullest_rank == last)
        text = arena_print(x->arena, "%s; the last stage has the head and its logits", text);
    put_wrapped(out, "fullest", text);
}

static void put_idle(struct text *out, const struct explained *x)
{
    struct report_replay replay;
    struct error err = {OK, ""};
    double idle = 0, sync = 0, blocked = 0, whole;
    int ranks;
    if (!x->plan.stage_count || report_replay(&replay, &x->plan, x->arena, &err) != OK) return;
    ranks = replay.schedule.request.rank_count, whole = (double)replay.iteration_ns;
    for (int rank = 0; rank < ranks; rank++) {
        struct report_use use = report_use_of(&replay, &x->plan, rank);
        idle += (double)use.idle_ns / whole / ranks, sync += (double)use.sync_ns / whole / ranks;
        blocked += (double)use.blocked_ns / whole / ranks;
    }
    const char *why = x->problem.job.layout.pipeline == 1
                          ? "no pipeline"
                          : arena_print(x->arena, "%d micro-batches on %d stages of %d ranks",
                                        x->own.micro_batches, x->plan.stage_count, ranks);
    put_wrapped(out, "idle",
                arena_print(x->arena,
                            "%.1f %% of the GPUs' time in the pipeline's bubble (%s), %.1f %% in "
                            "messages that nothing hides, %.1f %% in gradient sync",
                            100 * idle, why, 100 * blocked, 100 * sync));
}

// ---- the answer

static void put_finding(struct text *out, const struct explained *x)
{
    const char *text = verdict_names[x->verdict];
    if (*x->why) text = arena_print(x->arena, "%s: %s", text, x->why);
    if (x->alternative_count) {
        text = arena_print(x->arena, "%s: %s", text,
                           !x->log.failure.out_of_memory
                               ? x->room_alone ? "it ran, and as read it does not fit; its memory, "
                                                 "not its time, is met with "
                                 : x->ran_too_full ? "it ran, and as read it does not fit; with "
                                                   : "the time is met with "
                           : *x->own.reason || x->own.device_bytes <= x->own.limit_bytes
                               ? "it would not with "
                               : "at that moment it would not with ");
        for (int i = 0; i < x->alternative_count; i++)
            text = arena_print(x->arena, "%s%s%s (%s=%s)", text, i ? ", " : "",
                               x->alternatives[i].why, x->alternatives[i].column,
                               x->alternatives[i].value);
    }
    put_wrapped(out, "finding", text);
}

// A run that ran and is predicted not to fit has as much room as it is predicted to take.
static const char *room_words(const struct explained *x)
{
    return explain_room(x) > x->own.limit_bytes ? "take no more memory than the run is predicted to"
                                                : "fit";
}

static void put_change(struct text *out, const struct explained *x, const char *name, int kind)
{
    const struct change *c = explained_best(x, kind);
    int tried = 0;
    for (int i = 0; i < x->change_count; i++) tried += (int)x->changes[i].kind == kind;
    if (!c) {
        put_wrapped(out, name,
                    arena_print(x->arena, "none of %d that %s is faster", tried, room_words(x)));
        return;
    }
    const char *words = change_words(x, c);
    put_wrapped(out, name,
                arena_print(x->arena, "%s%s%s: %s (%+.1f %%), %s; the best of %d that %s",
                            arena_print(x->arena, "%s=%s", c->column, c->value), words ? ", " : "",
                            words ? words : "", seconds(x, (double)c->iteration_ns * 1e-9),
                            100 * ((double)c->iteration_ns / (double)x->own.iteration_ns - 1),
                            gigabytes(x, c->device_bytes), tried, room_words(x)));
}

static void put_any(struct text *out, const struct explained *x)
{
    struct assumed values[ANY_VALUES_MOST];
    const struct any_layout *a = &x->any;
    const char *text = "layout";
    int count = any_layout_values(x, values);
    for (int i = 0; i < count; i++)
        text = arena_print(x->arena, "%s%s %s=%s", text, i ? "," : "", values[i].column,
                           values[i].value);
    if (count)
        text = arena_print(x->arena, "%s: %s (%+.1f %%), %s; the best", text,
                           seconds(x, (double)a->iteration_ns * 1e-9),
                           100 * ((double)a->iteration_ns / (double)x->own.iteration_ns - 1),
                           gigabytes(x, a->device_bytes));
    else text = arena_print(x->arena, "%s: none is faster", text);
    put_wrapped(
        out, "any",
        arena_print(x->arena,
                    "%s of %d with equal stages%s; --then plan -o FOLDER searches all, and proves",
                    text, a->priced, a->all ? ", which are all" : ", the cheapest to price"));
}

const char *explained_text(const struct explained *x, size_t *length)
{
    struct text out;
    text_begin(&out, x->arena);
    put_run(&out, x);
    put_others(&out, x);
    put_finding(&out, x);
    put_time(&out, x);
    put_memory(&out, x);
    if (!*x->own.reason) {
        put_change(&out, x, "one flag", CHANGE_FLAG);
        put_change(&out, x, "one degree", CHANGE_DEGREE);
        put_any(&out, x);
    }
    put_fullest(&out, x);
    put_idle(&out, x);
    put_reading(&out, x);
    put_stated(&out, x);
    put_unknown(&out, x);
    put_assumed(&out, x);
    *length = out.length;
    return out.text;
}
