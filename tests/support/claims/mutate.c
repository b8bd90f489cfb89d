// Small changes of a problem with a space.
#include "data/kinds/schedules.h"
#include "tests/support/claims/mutate.h"

#include <string.h>

#include "formulate/price/price.h"
#include "tests/support/claims/draw.h"
#include "tests/support/spaces.h"

#define COPY(arena, array, count)                                                                  \
    arena_grow(arena, array, (size_t)(count), (size_t)(count), sizeof *(array))

void claims_copy(struct problem *to, const struct problem *from, struct arena *arena)
{
    *to = *from;
    to->model.runs = COPY(arena, from->model.runs, from->model.run_count);
    to->cluster.groups = COPY(arena, from->cluster.groups, from->cluster.group_count);
    to->cluster.links = COPY(arena, from->cluster.links, from->cluster.link_count);
    for (int g = 0; g < from->cluster.group_count; g++)
        to->cluster.groups[g].nics =
            COPY(arena, from->cluster.groups[g].nics, from->cluster.groups[g].nic_count);
    to->costs.gpus = COPY(arena, from->costs.gpus, from->costs.gpu_count);
    to->costs.layer_times = COPY(arena, from->costs.layer_times, from->costs.layer_time_count);
    to->job.rules = COPY(arena, from->job.rules, from->job.rule_count);
    to->job.boundary_options =
        COPY(arena, from->job.boundary_options, from->job.boundary_option_count);
    to->job.gradient_options =
        COPY(arena, from->job.gradient_options, from->job.gradient_option_count);
}

static bool is_valid(const struct problem *p, struct arena *arena)
{
    struct error err = {OK, ""};
    struct priced priced;
    struct problem one = problem_with_layout(p, &p->job.layout);
    if (problem_check(p, &err) != OK || problem_check_layout(&one, &err) != OK) return false;
    int64_t count = spaces_count(p);
    return count >= 1 && count <= CLAIMS_LAYOUTS_MAX &&
           price_problem(&priced, &one, arena, &err) == OK;
}

// ---- numbers

enum { NUMBERS_MOST = 400 };
struct numbers {
    double *seconds[NUMBERS_MOST];
    int64_t *bytes[NUMBERS_MOST];
    int second_count, byte_count;
};

static void note_bytes(struct numbers *n, int64_t *at)
{
    if (n->byte_count < NUMBERS_MOST) n->bytes[n->byte_count++] = at;
}

static void note_seconds(struct numbers *n, double *at)
{
    if (n->second_count < NUMBERS_MOST) n->seconds[n->second_count++] = at;
}

static void list_numbers(struct numbers *n, struct problem *p)
{
    *n = (struct numbers){.second_count = 0};
    for (int i = 0; i < p->costs.layer_time_count; i++) {
        struct layer_time *t = &p->costs.layer_times[i];
        double *const times[] = {&t->forward_s,   &t->backward_s, &t->weight_s,
                                 &t->selective_s, &t->full_s,     &t->optimizer_s};
        for (int k = 0; k < 6; k++) note_seconds(n, times[k]);
    }
    for (int r = 0; r < p->model.run_count; r++) {
        struct measured_bytes *m = &p->model.runs[r].measured;
        if (p->model.runs[r].kind != LAYER_MEASURED) continue;
        note_bytes(n, &m->weight_bytes), note_bytes(n, &m->gradient_bytes),
            note_bytes(n, &m->gradient_bytes), note_bytes(n, &m->optimizer_bytes),
            note_bytes(n, &m->boundary_bytes), note_bytes(n, &m->boundary_bytes);
        for (int i = 0; i < 3; i++)
            note_bytes(n, &m->stash_bytes[i]), note_bytes(n, &m->working_bytes[i]);
    }
    for (int g = 0; g < p->cluster.group_count; g++) {
        struct node_group *group = &p->cluster.groups[g];
        note_bytes(n, &group->memory_bytes), note_seconds(n, &group->intra.latency_s);
        for (int i = 0; i < group->nic_count; i++) note_seconds(n, &group->nics[i].link.latency_s);
    }
    note_seconds(n, &p->job.local_loss.forward_s), note_seconds(n, &p->job.local_loss.backward_s);
}

static int64_t changed(struct random *rng, int64_t number, int64_t other)
{
    switch (random_between(rng, 0, 7)) {
    case 0: return 0;
    case 1: return number * 2;
    case 2: return number / 2;
    case 3: return other;
    case 4: return number + other;
    case 5: return number > other ? number - other : other - number;
    case 6: return number + random_between(rng, 0, number / 4 + 2) - number / 8;
    default: return random_chance(rng, 50) ? number + 1 : number > 0 ? number - 1 : 0;
    }
}

static const int64_t largest = (int64_t)1 << 44;

static void change_number(struct problem *p, struct random *rng)
{
    struct numbers n;
    list_numbers(&n, p);
    if (n.second_count && (!n.byte_count || random_chance(rng, 50))) {
        double *at = n.seconds[random_between(rng, 0, n.second_count - 1)],
               other = *n.seconds[random_between(rng, 0, n.second_count - 1)];
        int64_t ns = changed(rng, (int64_t)(*at * 1e9 + 0.5), (int64_t)(other * 1e9 + 0.5));
        *at = (double)(ns > largest ? largest : ns) * 1e-9;
    } else if (n.byte_count) {
        int64_t *at = n.bytes[random_between(rng, 0, n.byte_count - 1)],
                bytes = changed(rng, *at, *n.bytes[random_between(rng, 0, n.byte_count - 1)]);
        *at = bytes > largest ? largest : bytes;
    }
    for (int i = 0; i < p->costs.layer_time_count; i++) {
        struct layer_time *t = &p->costs.layer_times[i];
        if (t->weight_s > t->backward_s) t->weight_s = t->backward_s;
    }
}

// ---- the rest

static void change_share(struct problem *p, struct random *rng)
{
    static const double shares[][PART_COUNT] = {{1, 0, 0, 0},
                                                {0, 1, 0, 0},
                                                {0, 0, 1, 0},
                                                {0, 0, 0, 0.5},
                                                {0.5, 0.5, 0, 0},
                                                {0.5, 0, 0, 0.25},
                                                {0.25, 0.25, 0.25, 0.125}};
    memcpy(p->costs.transfer_share, shares[random_between(rng, 0, 6)],
           sizeof p->costs.transfer_share);
}

static void change_layers(struct problem *p, struct random *rng)
{
    struct layer_run *r = &p->model.runs[random_between(rng, 0, p->model.run_count - 1)];
    int by = random_chance(rng, 50) ? 1 : -1;
    if (r->kind == LAYER_EMBEDDING || r->kind == LAYER_HEAD || r->count + by < 1 ||
        p->model.layer_count + by > 8)
        return;
    r->count += by, p->model.layer_count += by;
}

static void change_batch(struct problem *p, struct random *rng)
{
    struct layout *l = &p->job.layout;
    int64_t micro_batches = p->job.global_batch / l->data / l->micro_batch +
                            (random_chance(rng, 50) ? 1 : -1);
    if (micro_batches >= 1 && micro_batches <= 8)
        p->job.global_batch = micro_batches * l->data * l->micro_batch;
}

static void change_layout(struct problem *p, struct random *rng)
{
    struct layout *l = &p->job.layout;
    switch (random_between(rng, 0, 4)) {
    case 0: l->barrier = !l->barrier; break;
    case 1:
        l->gradient_sync = l->gradient_sync == SYNC_EXPOSED ? SYNC_OVERLAPPED : SYNC_EXPOSED;
        break;
    case 2: l->zero = (int)random_between(rng, 0, 3); break;
    case 3: l->local_loss_every = l->local_loss_every ? 0 : 1; break;
    default:
        l->schedule = (int)random_between(rng, 0, SCHEDULE_KIND_COUNT - 1);
        l->virtual_stages = schedule_kinds[l->schedule].virtual_stages == 1 ? 1 : 2;
        break;
    }
}

bool claims_mutate(struct problem *p, struct random *rng, struct arena *arena)
{
    int way = (int)random_between(rng, 0, 19);
    if (way == 0) change_share(p, rng);
    else if (way == 1) change_layers(p, rng);
    else if (way == 2) change_batch(p, rng);
    else if (way == 3) change_layout(p, rng);
    else
        for (int left = (int)random_between(rng, 1, 2); left > 0; left--) change_number(p, rng);
    return is_valid(p, arena);
}

// ---- simplifications

static bool round_down(int64_t *at, int digits)
{
    int64_t unit = 1;
    while (digits-- > 0) unit *= 10;
    if (*at % unit == 0) return false;
    *at -= *at % unit;
    return true;
}

static bool simplify_number(struct problem *p, int step, bool *more)
{
    struct numbers n;
    list_numbers(&n, p);
    int kinds = 5, which = step / kinds, how = step % kinds;
    *more = which < n.second_count + n.byte_count;
    if (!*more) return false;
    bool is_time = which < n.second_count;
    int64_t number = is_time ? (int64_t)(*n.seconds[which] * 1e9 + 0.5)
                             : *n.bytes[which - n.second_count],
            before = number;
    if (how == 0) number = 0;
    else if (how == 1) number = 1;
    else if (how == 2) number /= 10;
    else round_down(&number, how == 3 ? 6 : 2);
    if (number == before) return false;
    if (is_time) *n.seconds[which] = (double)number * 1e-9;
    else *n.bytes[which - n.second_count] = number;
    return true;
}

static bool close_axis(struct space *space, int key)
{
    if (space->axes[key].kind == AXIS_FIXED) return false;
    space->axes[key] = (struct space_axis){.kind = AXIS_FIXED};
    return true;
}

static bool drop_run(struct model *m, int run)
{
    if (run >= m->run_count || m->run_count < 2) return false;
    m->layer_count -= m->runs[run].count;
    for (int i = run; i + 1 < m->run_count; i++) m->runs[i] = m->runs[i + 1];
    m->run_count--;
    return true;
}

static bool drop_layer(struct model *m, int run)
{
    if (run >= m->run_count || m->runs[run].count < 2) return false;
    m->runs[run].count--, m->layer_count--;
    return true;
}

// Times of a run that is there no more are none.
static void drop_times(struct problem *p)
{
    int kept = 0;
    for (int i = 0; i < p->costs.layer_time_count; i++) {
        bool there = false;
        for (int r = 0; r < p->model.run_count; r++)
            there = there || !strcmp(p->model.runs[r].name, p->costs.layer_times[i].run);
        if (there) p->costs.layer_times[kept++] = p->costs.layer_times[i];
    }
    p->costs.layer_time_count = kept;
}

enum { AXES = SPACE_KEY_COUNT, RUNS = 8, FLAGS = 24 };

static bool set(bool condition) { return condition; }

static bool simplify_flag(struct problem *p, int flag)
{
    struct job *j = &p->job;
    struct layout *l = &j->layout;
    bool did = false;
    switch (flag) {
    case 0: did = set(j->rule_count > 0), j->rule_count = 0; break;
    case 1: did = set(j->boundary_option_count > 0), j->boundary_option_count = 0; break;
    case 2:
        did = set(j->gradient_option_count > 0 || j->tier_option_count > 0),
        j->gradient_option_count = j->tier_option_count = 0;
        break;
    case 3: did = set(j->recompute[1]), j->recompute[1] = false; break;
    case 4: did = set(j->recompute[2]), j->recompute[2] = false; break;
    case 5:
        did = set(j->recompute[3] || j->recompute[4]);
        j->recompute[j->recompute[4] ? 4 : 3] = false;
        break;
    case 6: did = set(l->zero > 0), l->zero = 0; break;
    case 7: did = set(l->offload_optimizer), l->offload_optimizer = false; break;
    case 8: did = set(l->local_loss_every > 0), l->local_loss_every = 0; break;
    case 9:
        did = set(j->local_loss.forward_s > 0 || j->local_loss.backward_s > 0 ||
                  j->local_loss.bytes > 0),
        j->local_loss = (struct local_loss){0};
        break;
    case 10:
        did = set(j->global_batch > (int64_t)l->data * l->micro_batch),
        j->global_batch = (int64_t)l->data * l->micro_batch;
        break;
    case 11:
        did = set(j->global_batch > 2 * (int64_t)l->data * l->micro_batch),
        j->global_batch = 2 * (int64_t)l->data * l->micro_batch;
        break;
    case 12:
        did = set(l->micro_batch > 1), j->global_batch /= l->micro_batch, l->micro_batch = 1;
        break;
    case 13: did = set(!l->barrier), l->barrier = true; break;
    case 14: did = set(l->gradient_sync != SYNC_EXPOSED), l->gradient_sync = SYNC_EXPOSED; break;
    case 15: did = set(j->memory_margin_bytes > 0), j->memory_margin_bytes = 0; break;
    case 16: did = set(p->cluster.link_count > 0), p->cluster.link_count = 0; break;
    case 17:
        did = set(l->schedule != SCHEDULE_GPIPE && l->virtual_stages == 1),
        l->schedule = SCHEDULE_GPIPE, l->slice_count = 1;
        break;
    case 18:
        for (int g = 0; g < p->cluster.group_count; g++)
            did = did || p->cluster.groups[g].memory_bytes < (int64_t)1 << 40,
            p->cluster.groups[g].memory_bytes = (int64_t)1 << 40;
        break;
    case 19:
        for (int i = 0; i < p->costs.gpu_count; i++)
            did = did || p->costs.gpus[i].constant_bytes.value > 0,
            p->costs.gpus[i].constant_bytes = (struct estimate){.origin = ORIGIN_ASSUMED};
        break;
    case 20: did = set(j->memory_fraction < 1), j->memory_fraction = 1; break;
    case 21: did = set(p->job.space.fewer_devices), p->job.space.fewer_devices = false; break;
    case 22:
    case 23:
        if (p->cluster.group_count < 2) break;
        did = true, p->cluster.groups[flag == 22].nodes += 0;
        break;
    default: break;
    }
    return did;
}

bool claims_simplify(struct problem *p, int step, bool *more, struct arena *arena)
{
    bool did;
    *more = true;
    if (step < AXES) did = close_axis(&p->job.space, step);
    else if (step < AXES + RUNS) did = drop_run(&p->model, step - AXES);
    else if (step < AXES + 2 * RUNS) did = drop_layer(&p->model, step - AXES - RUNS);
    else if (step < AXES + 2 * RUNS + FLAGS) did = simplify_flag(p, step - AXES - 2 * RUNS);
    else did = simplify_number(p, step - AXES - 2 * RUNS - FLAGS, more);
    drop_times(p);
    return did && is_valid(p, arena);
}
