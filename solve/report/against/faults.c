// What keeps a run from being faster: each suspicion is tried by taking it out of the measured
// durations and walking the plan's graph again.
#include "solve/report/against/against.h"

#include <stdlib.h>

#include "data/base/least.h"
#include "data/numbers/intervals.h"

// What others of the same kind leave to chance, as factors; chosen with runs of docs/VALIDATION.md
// 11 in view, whose ranks were 3 % apart. Moves: of single layers between neighbours.
static const double slow_rank = 1.08, slow_forward = 1.05, slow_message = 1.5, again_share = 0.6;
enum { MOVES_MOST = 8 };

struct search {
    struct against *a;
    struct against_faults *to;
    struct report_replay replay;
    struct arena *arena;
    int64_t *each_ns, now_ns; // as measured
    int operations, stages;
};

static int kind_of(const struct search *s, int operation)
{
    return symbol_base_kind(report_kind_of(&s->a->predicted, operation));
}

static int rank_of(const struct search *s, int stage)
{
    return schedule_rank_of(&s->a->predicted.schedule.request, stage);
}

static bool is_pass(int kind) { return kind <= SYMBOL_WEIGHT; }

static enum status time_of(struct search *s, const int64_t *each_ns, int64_t *ns, struct error *err)
{
    TRY(report_replay_again(&s->replay, s->a->plan, each_ns, s->arena, err));
    *ns = s->replay.iteration_ns;
    return OK;
}

static int64_t *copy(const struct search *s)
{
    return TAKE_COPY(s->arena, s->each_ns, s->operations);
}

static enum status add(struct search *s, struct against_fault fault, const int64_t *without,
                       struct error *err)
{
    int64_t ns;
    TRY(time_of(s, without, &ns, err));
    fault.gain_ns = s->now_ns - ns;
    fault.gain = (double)fault.gain_ns / (double)s->now_ns;
    if (s->to->count < AGAINST_FAULTS_MOST && fault.gain >= against_fault_least)
        s->to->items[s->to->count++] = fault;
    return OK;
}

// ---- a slow rank

// Measured over predicted time of a process's passes; 0: it has none. Forward alone, or all.
static double ratio_of(const struct search *s, int replica, int rank, bool forward)
{
    const struct plan_run *run = s->a->run;
    double measured = 0, predicted = 0;
    for (int i = 0; i < run->event_count; i++) {
        const struct run_event *e = &run->events[i];
        if (e->replica != replica || e->rank != rank || e->kind > EVENT_WEIGHT) continue;
        if (forward && e->kind != EVENT_FORWARD) continue;
        measured += (double)(e->end_ns - e->start_ns);
        predicted += (double)s->a->predicted.durations[symbol_index(
            s->stages, symbol_of_slice(e->slice, SYMBOL_FORWARD + (int)e->kind), e->stage)];
    }
    return predicted > 0 ? measured / predicted : 0;
}

static double lower_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_numbers);
    return count ? values[(count - 1) / 2] : 0;
}

static double usual_ratio(const struct search *s, bool forward)
{
    const struct plan_run *run = s->a->run;
    double *ratios = TAKE(s->arena, run->rank_count, double);
    for (int i = 0; i < run->rank_count; i++)
        ratios[i] = ratio_of(s, run->ranks[i].replica, run->ranks[i].rank, forward);
    return lower_median(ratios, run->rank_count);
}

static void scale_rank(const struct search *s, int64_t *each_ns, int rank, double factor)
{
    for (int i = 0; i < s->operations; i++)
        if (is_pass(kind_of(s, i)) && rank_of(s, report_place_of(&s->a->predicted, i)) == rank)
            each_ns[i] = (int64_t)(factor * (double)each_ns[i]);
}

static enum status try_ranks(struct search *s, struct error *err)
{
    const struct plan_run *run = s->a->run;
    double all = usual_ratio(s, false), forward = usual_ratio(s, true);
    for (int i = 0; i < run->rank_count; i++) {
        const struct run_rank *r = &run->ranks[i];
        double own = ratio_of(s, r->replica, r->rank, false);
        if (!(own > slow_rank * all) ||
            !(ratio_of(s, r->replica, r->rank, true) > slow_forward * forward))
            continue;
        int64_t *without = copy(s);
        scale_rank(s, without, r->rank, all / own);
        TRY(add(s, (struct against_fault){AGAINST_SLOW_RANK, r->replica, r->rank, -1, own / all},
                without, err));
    }
    return OK;
}

// ---- a slow link

static bool is_over(const struct search *s, int operation, enum run_event_kind kind, int boundary)
{
    int of = kind_of(s, operation);
    return of >= SYMBOL_SEND_FORWARD && of < SYMBOL_EMBEDDING_SYNC &&
           report_place_of(&s->a->predicted, operation) == boundary &&
           (of < SYMBOL_SEND_BACKWARD) == (kind == EVENT_SEND_FORWARD);
}

// The usual time of other messages, or what was predicted, if that is longer.
static double usual_message(const struct search *s, const struct against_row *own)
{
    double *others = TAKE(s->arena, s->a->row_count, double);
    int count = 0;
    for (int i = 0; i < s->a->row_count; i++) {
        const struct against_row *r = &s->a->rows[i];
        bool message = r->kind == EVENT_SEND_FORWARD || r->kind == EVENT_SEND_BACKWARD;
        if (message && r != own) others[count++] = r->measured_ns;
    }
    double usual = lower_median(others, count), predicted = (double)own->predicted_ns;
    return usual > predicted ? usual : predicted;
}

static enum status try_links(struct search *s, struct error *err)
{
    for (int i = 0; i < s->a->row_count; i++) {
        const struct against_row *r = &s->a->rows[i];
        bool sync = r->kind == EVENT_SYNC || r->kind == EVENT_EMBEDDING_SYNC;
        if (r->kind != EVENT_SEND_FORWARD && r->kind != EVENT_SEND_BACKWARD && !sync) continue;
        double usual = sync ? (double)r->predicted_ns : usual_message(s, r);
        if (!(r->measured_ns > slow_message * usual)) continue;
        int64_t *without = copy(s);
        for (int k = 0; k < s->operations; k++) {
            int kind = kind_of(s, k);
            bool synced = sync && (kind == SYMBOL_SYNC || kind == SYMBOL_QUEUED_SYNC) &&
                          report_place_of(&s->a->predicted, k) == r->stage;
            if (synced || (!sync && is_over(s, k, r->kind, r->stage)))
                without[k] = (int64_t)((double)without[k] * usual / r->measured_ns);
        }
        struct against_fault fault = {sync ? AGAINST_SLOW_SYNC : AGAINST_SLOW_LINK, 0, r->rank,
                                      r->stage, usual > 0 ? r->measured_ns / usual : 0};
        fault.backward = r->kind == EVENT_SEND_BACKWARD;
        TRY(add(s, fault, without, err));
    }
    return OK;
}

// ---- recomputation

static const struct against_row *row_of(const struct against *a, enum run_event_kind kind,
                                        int stage)
{
    for (int i = 0; i < a->row_count; i++)
        if (a->rows[i].kind == kind && a->rows[i].stage == stage) return &a->rows[i];
    return NULL;
}

// The plan's own, or, where the plan has none, a backward pass longer by a forward pass. *ns: of a
// pass of the stage.
static bool recomputes(const struct search *s, int stage, double *ns)
{
    const struct plan_stage *x = &s->a->plan->stages[stage];
    const struct against_row *forward = row_of(s->a, EVENT_FORWARD, stage),
                             *backward = row_of(s->a, EVENT_BACKWARD, stage);
    if (!forward || !backward || forward->predicted_ns <= 0) return false;
    double usual = forward->measured_ns / (double)forward->predicted_ns,
           more = backward->measured_ns - usual * (double)backward->predicted_ns;
    if (x->recompute == RECOMPUTE_NONE) {
        *ns = more;
        return more > again_share * forward->measured_ns;
    }
    int again = x->recompute == RECOMPUTE_FIRST_LAYERS ? x->recomputed_layers : x->layer_count;
    *ns = forward->measured_ns * (double)again / (double)x->layer_count;
    return x->recompute == RECOMPUTE_FULL || x->recompute == RECOMPUTE_FIRST_LAYERS;
}

static enum status try_recompute(struct search *s, struct error *err)
{
    int64_t *without = copy(s);
    int first = -1;
    bool planned = false;
    for (int stage = 0; stage < s->stages; stage++) {
        double ns;
        if (!recomputes(s, stage, &ns)) continue;
        if (first < 0) first = stage;
        planned |= s->a->plan->stages[stage].recompute != RECOMPUTE_NONE;
        for (int i = 0; i < s->operations; i++)
            if (kind_of(s, i) == SYMBOL_BACKWARD && report_place_of(&s->a->predicted, i) == stage)
                without[i] = larger(0, without[i] - (int64_t)ns);
    }
    if (first < 0) return OK;
    struct against_fault fault = {AGAINST_RECOMPUTES, 0, rank_of(s, first), first, 0};
    fault.planned = planned;
    return add(s, fault, without, err);
}

// ---- an unbalanced split

static void move_layer(const struct search *s, int64_t *each_ns, const int *layers, int from,
                       int to)
{
    double each[EVENT_WEIGHT + 1] = {0};
    int counts[EVENT_WEIGHT + 1] = {0};
    for (int i = 0; i < s->operations; i++) {
        int kind = kind_of(s, i);
        if (!is_pass(kind) || report_place_of(&s->a->predicted, i) != from) continue;
        each[kind] += (double)each_ns[i] / layers[from];
        counts[kind]++;
    }
    for (int i = 0; i < s->operations; i++) {
        int kind = kind_of(s, i), stage = report_place_of(&s->a->predicted, i);
        if (!is_pass(kind) || !counts[kind]) continue;
        if (stage == from) each_ns[i] -= (int64_t)(each[kind] / counts[kind]);
        if (stage == to) each_ns[i] += (int64_t)(each[kind] / counts[kind]);
    }
}

// The best single move, or none: *from -1.
static enum status best_move(struct search *s, const int64_t *each_ns, const int *layers,
                             int64_t *least, int *from, int *to, struct error *err)
{
    *from = -1;
    for (int i = 0; i < 2 * s->stages; i++) {
        int stage = i / 2, other = stage + (i % 2 ? 1 : -1);
        if (other < 0 || other >= s->stages || layers[stage] < 2 ||
            rank_of(s, stage) == rank_of(s, other))
            continue;
        int64_t *moved = TAKE_COPY(s->arena, each_ns, s->operations), ns;
        move_layer(s, moved, layers, stage, other);
        TRY(time_of(s, moved, &ns, err));
        if (ns < *least) *least = ns, *from = stage, *to = other;
    }
    return OK;
}

static enum status try_split(struct search *s, struct error *err)
{
    int64_t *without = copy(s), least = s->now_ns;
    int *layers = TAKE(s->arena, s->stages, int), from, to, first = -1, moves = 0;
    for (int i = 0; i < s->stages; i++) layers[i] = s->a->plan->stages[i].layer_count;
    for (; moves < MOVES_MOST; moves++) { // each lowers the time
        TRY(best_move(s, without, layers, &least, &from, &to, err));
        if (from < 0) break;
        if (first < 0) first = from;
        move_layer(s, without, layers, from, to);
        layers[from]--, layers[to]++;
    }
    if (first < 0) return OK;
    struct against_fault fault = {AGAINST_UNBALANCED, 0, rank_of(s, first), first, moves};
    return add(s, fault, without, err);
}

// ----

static int by_gain(const void *a, const void *b)
{
    const struct against_fault *x = a, *y = b;
    return (x->gain_ns < y->gain_ns) - (x->gain_ns > y->gain_ns);
}

enum status against_find_faults(struct against_faults *f, struct against *a, struct arena *arena,
                                struct error *err)
{
    *f = (struct against_faults){.count = 0};
    struct search s = {.a = a,
                       .to = f,
                       .arena = arena,
                       .each_ns = a->each_ns,
                       .operations = a->predicted.schedule.operation_count,
                       .stages = a->plan->stage_count};
    TRY(report_replay(&s.replay, a->plan, arena, err));
    TRY(time_of(&s, s.each_ns, &s.now_ns, err));
    TRY(try_ranks(&s, err));
    TRY(try_links(&s, err));
    TRY(try_recompute(&s, err));
    TRY(try_split(&s, err));
    qsort(f->items, (size_t)f->count, sizeof *f->items, by_gain);
    return OK;
}

// ---- words

// Whether there is room for what the plan recomputes.
static const char *words_of_room(const struct against_kept *k, struct arena *arena)
{
    if (!k->known) return "; whether there is room without it is not known: its problem is missing";
    return arena_print(arena,
                       k->fits ? "; without it every rank fits: rank %d takes %.2f of %.2f GB"
                               : "; without it rank %d does not fit: it takes %.2f of %.2f GB",
                       k->rank, (double)k->bytes / 1e9, (double)k->limit_bytes / 1e9);
}

static const char *words_of(const struct against_fault *x, const struct against *a,
                            struct arena *arena)
{
    bool replicas = a->plan->layout.data > 1;
    switch (x->kind) {
    case AGAINST_SLOW_RANK:
        return arena_print(
            arena, "slow rank: rank %d%s takes %.2f times as long as the others", x->rank,
            replicas ? arena_print(arena, " of replica %d", x->replica) : "", x->factor);
    case AGAINST_SLOW_LINK:
        return arena_print(arena,
                           "slow link: messages %s over the boundary after stage %d, to rank %d, "
                           "take %.1f times as long as usual",
                           x->backward ? "back" : "forward", x->stage, x->rank, x->factor);
    case AGAINST_SLOW_SYNC:
        return arena_print(arena, "slow link: syncs of stage %d take %.1f times as long as planned",
                           x->stage, x->factor);
    case AGAINST_RECOMPUTES:
        return arena_print(arena, "%s%d on%s%s",
                           x->planned ? "recomputation: the plan recomputes from stage "
                                      : "recomputation left on: backward passes from stage ",
                           x->stage, x->planned ? "" : " take a forward pass more than planned",
                           x->planned ? words_of_room(&a->kept, arena) : "");
    default:
        return arena_print(arena,
                           "unbalanced split: stage %d of rank %d has too many layers; %.0f moved "
                           "to neighbours",
                           x->stage, x->rank, x->factor);
    }
}

void against_faults_text(struct text *out, const struct against_faults *f, const struct against *a)
{
    text_put(out,
             "\nWhat most probably costs time (each taken out, the plan's graph walked again)\n");
    for (int i = 0; i < f->count; i++)
        text_put(out, "  %d. %s: %.1f %% of the iteration (%s)\n", i + 1,
                 words_of(&f->items[i], a, out->arena), 100 * f->items[i].gain,
                 report_time(f->items[i].gain_ns, out->arena));
    if (!f->count)
        text_put(
            out,
            "  nothing: no rank, link, recomputation or split costs %.0f %% of the iteration\n",
            100 * against_fault_least);
}
