// The written order of each schedule, as a number for each turn of a rank, larger where it comes
// later, and the closed form of the iteration time, if any (docs/FORMULAS.md 9 and 14). A stream is
// the schedule's if it has each turn once, with rising numbers. From the published schedules:
//   GPipe (1811.06965), 1F1B (2104.04473), interleaved (Megatron-LM), ZB-H1 and ZB-H2 (2401.10241),
//   ZB-V (its README), looped (2211.05953), token-sliced (2102.07988), V-Half and V-Min
//   (2405.15362).
#include "data/base/least.h"
#include "data/kinds/schedules.h"
#include "data/results/plan.h"
#include "solve/judge/kinds/kinds.h"

// ---- orders

// Forward i, then backward i - ahead, then weight gradient i - ahead - behind: three places a
// round.
static int64_t alternating(int64_t ahead, int64_t behind, int pass, int64_t n)
{
    return 3 * (n + (pass >= BACKWARD ? ahead : 0) + (pass == WEIGHT ? behind : 0)) + pass;
}

static int64_t way_of(const struct schedule_request *r, const struct place *at)
{
    return at->pass == FORWARD ? at->turn : r->virtual_stages - 1 - at->turn;
}

// Equal groups of micro-batches, each as small as it can be with one for every rank.
static int64_t group_of(const struct schedule_request *r)
{
    int64_t m = r->micro_batches, p = r->rank_count, best = m < p ? p : m;
    for (int64_t low = 1; low * low <= m; low++) {
        if (m % low) continue;
        if (low >= p && low < best) best = low;
        if (m / low >= p && m / low < best) best = m / low;
    }
    return best;
}

// A group of micro-batches passes through the rank's stages one after the other, in reverse order
// in the backward pass.
static int64_t interleaved_place(const struct schedule_request *r, int rank, const struct place *at)
{
    int64_t g = group_of(r), stages = r->virtual_stages, way = way_of(r, at),
            n = at->micro_batch / g * g * stages + way * g + at->micro_batch % g;
    return alternating(2 * (r->rank_count - 1 - rank) + (stages - 1) * g, 0, at->pass, n);
}

static int64_t gpipe_place(const struct schedule_request *r, int rank, const struct place *at)
{
    (void)rank;
    return (int64_t)at->pass * r->micro_batches + at->micro_batch;
}

static int64_t one_f_one_b_place(const struct schedule_request *r, int rank, const struct place *at)
{
    int64_t ahead = r->rank_count - 1 - rank;
    if (r->in_flight[0]) ahead = r->in_flight[rank] - 1; // all that it may hold but the next one
    // Of stages that wait for each other: up to the next boundary over which nothing is sent.
    if (r->stored_inputs)
        ahead = smaller(ahead, r->local_loss_every - 1 - rank % r->local_loss_every);
    return alternating(ahead, 0, at->pass, at->micro_batch);
}

static int64_t zb_h1_place(const struct schedule_request *r, int rank, const struct place *at)
{
    return alternating(r->rank_count - 1 - rank, rank, at->pass, at->micro_batch);
}

static int64_t zb_h2_place(const struct schedule_request *r, int rank, const struct place *at)
{
    // Weight gradients lag by 2 rank backwards, but by no more than the forwards that are left.
    int64_t ahead = 2 * (int64_t)(r->rank_count - 1 - rank), left = r->micro_batches - 1 - ahead;
    return alternating(ahead, smaller(2 * (int64_t)rank, larger(left, 0)), at->pass,
                       at->micro_batch);
}

static int64_t looped_place(const struct schedule_request *r, int rank, const struct place *at)
{
    (void)rank;
    return ((int64_t)at->pass * r->virtual_stages + way_of(r, at)) * r->micro_batches +
           at->micro_batch;
}

static int64_t sliced_place(const struct schedule_request *r, int rank, const struct place *at)
{
    int last = r->slice_count - 1;
    (void)rank;
    return ((int64_t)at->pass * r->micro_batches + at->micro_batch) * r->slice_count +
           (at->pass == FORWARD ? at->slice : last - at->slice);
}

// ZB-V by slots: `fill` forwards down; `rank` pairs up, down; p - rank rounds of up, backward,
// weight; rounds of six; `rank` pairs of backwards; p - rank pairs backward down, weight down;
// then weights up, then weights down.
struct fold {
    int64_t p, rank, rounds, fill, turning, steady, pairs, drain, rest;
};

static struct fold fold_of(const struct schedule_request *r, int rank)
{
    struct fold f = {.p = r->rank_count, .rank = rank};
    int64_t m = r->micro_batches > 2 * f.p - 1 ? r->micro_batches : 2 * f.p - 1;
    f.rounds = m - f.p;
    f.fill = 2 * (f.p - rank) - 1;
    f.turning = f.fill + 2 * rank;
    f.steady = f.turning + 3 * (f.p - rank);
    f.pairs = f.steady + 6 * f.rounds;
    f.drain = f.pairs + 2 * rank;
    f.rest = f.drain + 2 * (f.p - rank);
    return f;
}

static int64_t down_place(const struct fold *f, int pass, int64_t n)
{
    int64_t late = n - f->rounds; // index among those after the rounds of six
    if (pass == FORWARD && n < f->fill) return n;
    if (pass == FORWARD && n < f->fill + f->rank) return f->fill + 2 * (n - f->fill) + 1;
    if (pass == FORWARD) return f->steady + 6 * (n - f->fill - f->rank);
    if (late < 0) return f->steady + 6 * n + (pass == BACKWARD ? 1 : 2);
    if (pass == BACKWARD) return f->pairs + 2 * late;
    return late < f->p - f->rank ? f->drain + 2 * late + 1 : f->rest + 2 * (f->rounds + f->p) + n;
}

static int64_t up_place(const struct fold *f, int pass, int64_t n)
{
    if (pass == FORWARD && n < f->rank) return f->fill + 2 * n;
    if (pass == FORWARD)
        return n < f->p ? f->turning + 3 * (n - f->rank) : f->steady + 6 * (n - f->p) + 3;
    int64_t turned = f->p - f->rank, round = n - turned;
    if (round < 0) return f->turning + 3 * n + pass;
    if (round < f->rounds) return f->steady + 6 * round + 3 + pass;
    return pass == BACKWARD ? f->pairs + 2 * (round - f->rounds) + 1 : f->rest + n;
}

static int64_t zb_v_place(const struct schedule_request *r, int rank, const struct place *at)
{
    struct fold f = fold_of(r, rank);
    return at->turn == 0 ? down_place(&f, at->pass, at->micro_batch)
                         : up_place(&f, at->pass, at->micro_batch);
}

// V-Half and V-Min: a slot for each pass of the first micro-batch on the rank, and six slots later
// for each further one. Forward and backward passes have slots given by the published offsets.
// Weight gradients take the remaining two of six, in the order that minimises the longer wait.
struct offsets {
    int64_t down, up, up_back, down_back;
};

static int64_t wait_for(int64_t slot, int64_t from) { return ((slot - from) % 6 + 6) % 6; }

static int64_t weight_offset(const struct offsets *o, int turn)
{
    int64_t left[2], count = 0, wait[2][2];
    for (int64_t k = 0; k < 6; k++)
        if (wait_for(k, o->down) && wait_for(k, o->up) && wait_for(k, o->up_back) &&
            wait_for(k, o->down_back))
            left[count++] = k;
    for (int k = 0; k < 2; k++)
        wait[0][k] = wait_for(left[k], o->down_back), wait[1][k] = wait_for(left[k], o->up_back);
    bool crossed = larger(wait[0][1], wait[1][0]) < larger(wait[0][0], wait[1][1]);
    return turn == 0 ? o->down_back + wait[0][crossed] : o->up_back + wait[1][!crossed];
}

static int64_t block_place(const struct offsets *o, const struct place *at)
{
    const int64_t forward[] = {o->down, o->up}, backward[] = {o->down_back, o->up_back};
    return 6 * (int64_t)at->micro_batch + (at->pass == FORWARD    ? forward[at->turn]
                                           : at->pass == BACKWARD ? backward[at->turn]
                                                                  : weight_offset(o, at->turn));
}

static int64_t v_half_place(const struct schedule_request *r, int rank, const struct place *at)
{
    int64_t p = r->rank_count, even = p % 2 ? 0 : 3;
    struct offsets o = {2 * (int64_t)rank, 3 * p - rank - 2, 3 * p + even + 2 * (int64_t)rank - 1,
                        6 * p + even - rank - 2};
    return block_place(&o, at);
}

static int64_t v_min_place(const struct schedule_request *r, int rank, const struct place *at)
{
    int64_t p = r->rank_count, third = p % 3 ? 0 : 2;
    struct offsets o = {rank, 2 * p - rank - 1, 2 * p + third + rank, 4 * p + third - rank - 1};
    return block_place(&o, at);
}

// ---- closed forms: equal stages, messages of no time, nothing but passes. A stage takes F, B
// (input gradients only where the backward is split) and W.

struct alike {
    int64_t f, b, w, m, ranks, stages;
};

static struct alike alike_of(const struct plan *p, const struct schedule_request *r)
{
    const struct plan_stage *x = &p->stages[0];
    return (struct alike){x->slices->forward_ns, x->slices->backward_ns, x->weight_ns,
                          p->micro_batches,      r->rank_count,          r->virtual_stages};
}

static struct closed_form gpipe_form(const struct plan *p, const struct schedule_request *r)
{
    int64_t sum = 0, forward = 0, backward = 0;
    if (!r->barrier) return (struct closed_form){0};
    for (int s = 0; s < p->stage_count; s++) {
        const struct plan_slice *x = p->stages[s].slices;
        sum += x->forward_ns + x->backward_ns;
        forward = larger(forward, x->forward_ns);
        backward = larger(backward, x->backward_ns);
    }
    return (struct closed_form){"GPipe without messages: sum F + (m-1) max F + sum B + (m-1) max B",
                                sum + (p->micro_batches - 1) * (forward + backward)};
}

static struct closed_form one_f_one_b_form(const struct plan *p, const struct schedule_request *r)
{
    struct alike x = alike_of(p, r);
    if (!r->barrier || r->in_flight[0]) return (struct closed_form){0};
    return (struct closed_form){"1F1B, equal stages without messages: (m + p - 1) (F + B)",
                                (x.m + x.ranks - 1) * (x.f + x.b)};
}

static struct closed_form interleaved_form(const struct plan *p, const struct schedule_request *r)
{
    struct alike x = alike_of(p, r);
    if (!r->barrier || x.m < x.ranks) return (struct closed_form){0};
    return (struct closed_form){"interleaved, equal stages without messages: (m v + p - 1) (F + B)",
                                (x.m * x.stages + x.ranks - 1) * (x.f + x.b)};
}

static struct closed_form looped_form(const struct plan *p, const struct schedule_request *r)
{
    struct alike x = alike_of(p, r);
    if (!r->barrier || x.m < x.ranks) return (struct closed_form){0};
    return (struct closed_form){"looped, equal stages without messages: (m v + p - 1) (F + B)",
                                (x.m * x.stages + x.ranks - 1) * (x.f + x.b)};
}

static struct closed_form zb_h1_form(const struct plan *p, const struct schedule_request *r)
{
    struct alike x = alike_of(p, r);
    if (!r->barrier || x.m < x.ranks || x.w > x.f || x.w > x.b) return (struct closed_form){0};
    return (struct closed_form){
        "ZB-H1, equal stages without messages: m (F + B + W) + (p - 1) (F + B - W)",
        x.m * (x.f + x.b + x.w) + (x.ranks - 1) * (x.f + x.b - x.w)};
}

static struct closed_form zb_h2_form(const struct plan *p, const struct schedule_request *r)
{
    struct alike x = alike_of(p, r);
    if (r->barrier || x.m < 2 * x.ranks - 1 || x.w > x.f || x.w > x.b)
        return (struct closed_form){0};
    return (struct closed_form){"ZB-H2, equal stages without messages or barrier: m (F + B + "
                                "W) + (p - 1) (F + B - 2 W)",
                                x.m * (x.f + x.b + x.w) + (x.ranks - 1) * (x.f + x.b - 2 * x.w)};
}

static struct closed_form v_half_form(const struct plan *p, const struct schedule_request *r)
{
    struct alike x = alike_of(p, r);
    int64_t bubble = x.ranks % 2 ? 7 * (x.ranks - 1) / 2 : 7 * x.ranks / 2 - 2;
    if (!r->barrier || x.f != x.b || x.b != x.w || 2 * x.m <= x.ranks)
        return (struct closed_form){0};
    return (struct closed_form){"V-Half, equal passes without messages: (6 m + 7 (p - 1) / 2) F, "
                                "even p (6 m + 7 p / 2 - 2) F",
                                (6 * x.m + bubble) * x.f};
}

static struct closed_form v_min_form(const struct plan *p, const struct schedule_request *r)
{
    struct alike x = alike_of(p, r);
    bool third = x.ranks % 3 == 0;
    if (!r->barrier || x.f != x.b || x.b != x.w || x.m <= third) return (struct closed_form){0};
    return (struct closed_form){"V-Min, equal passes without messages: (6 m + 4 p - 5) F, p a "
                                "multiple of 3 (6 m + 4 p - 3) F",
                                (6 * x.m + 4 * x.ranks - (third ? 3 : 5)) * x.f};
}

// ---- by kind

#define PLACE(constant, place, ...) [SCHEDULE_##constant] = place,
judged_place *const judged_places[] = {JUDGED_KINDS(PLACE)};

#define FORM(constant, place, form, ...) [SCHEDULE_##constant] = form,
judged_form *const judged_forms[] = {JUDGED_KINDS(FORM)};
