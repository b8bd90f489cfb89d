// Any layout: every split of the run's GPUs with equal stages, with its micro-batches and modes of
// recomputation, priced in the order of what pricing takes until that is spent. It is counted in
// operations, so the same log gets the same answer everywhere.
#include <stdlib.h>
#include <string.h>

#include "solve/explain/internal.h"

enum { CANDIDATES_MOST = 8192, OPERATIONS_MOST = 600000, OPERATIONS_LEAST = 40, DEGREE_MOST = 64 };
// Of a rank's weights and gradients by those of the run's, which ends may exceed: where not even
// this share fits.
static const double surely = 0.8;

struct candidate {
    int64_t tp, pp, cp, ep, vpp, micro_batch;
    int recompute;
    bool switched; // with the best flag, and all hidden that can be; else as in the run
    int64_t operations;
};

struct candidates {
    struct candidate *items;
    int count, too_large;
    int64_t room;
};

static int64_t or_one(int64_t cell) { return cell > 0 ? cell : 1; }

static bool holds_states(const struct explained *x, int64_t room, int64_t tp, int64_t pp)
{
    int64_t whole = x->own.memory.weight_bytes;
    if (x->row.zero < 2) whole += x->own.memory.gradient_bytes;
    double bytes = (double)whole * (double)or_one(x->row.tp) * (double)or_one(x->row.pp) /
                   (double)(tp * pp);
    return x->row.zero == 3 || surely * bytes <= (double)room;
}

static void add(struct candidates *to, const struct explained *x, struct candidate c)
{
    int64_t gpus = (int64_t)x->own.gpus, ranks = c.tp * c.pp * c.cp, batch = x->own.sequences;
    if (gpus % ranks || batch % (gpus / ranks * c.micro_batch)) return;
    if (c.vpp > 1 && c.pp == 1) return;
    if (!holds_states(x, to->room, c.tp, c.pp)) return;
    c.operations = batch / (gpus / ranks * c.micro_batch) * c.pp * c.vpp + OPERATIONS_LEAST;
    if (to->count < CANDIDATES_MOST) to->items[to->count++] = c;
    else to->too_large++;
}

static void add_switches(struct candidates *to, const struct explained *x, struct candidate c)
{
    for (c.micro_batch = 1; c.micro_batch <= 16; c.micro_batch *= 2)
        for (c.recompute = RECOMPUTE_NONE; c.recompute <= RECOMPUTE_FULL; c.recompute++)
            for (int switched = 0; switched < 2; switched++) {
                c.switched = switched;
                add(to, x, c);
            }
}

static bool has_experts(const struct model *m)
{
    for (int i = 0; i < m->run_count; i++)
        if (m->runs[i].kind == LAYER_MOE) return true;
    return false;
}

static void add_all(struct candidates *to, const struct explained *x, bool as_run)
{
    struct candidate c = {0};
    bool spread = x->row.ep > 1 || (!as_run && has_experts(&x->problem.model));
    int64_t experts = spread ? DEGREE_MOST : 1;
    for (c.tp = 1; c.tp <= 8; c.tp *= 2)
        for (c.pp = 1; c.pp <= DEGREE_MOST; c.pp *= 2)
            for (c.vpp = 1; c.vpp <= 4; c.vpp *= 2)
                for (c.ep = 1; c.ep <= experts; c.ep *= 2) {
                    c.cp = 1;
                    add_switches(to, x, c);
                    c.cp = or_one(x->row.cp);
                    if (c.cp > 1) add_switches(to, x, c);
                }
}

static int by_operations(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;
    if (left->operations != right->operations) return left->operations < right->operations ? -1 : 1;
    return memcmp(left, right, offsetof(struct candidate, recompute));
}

static struct run_row row_of(const struct explained *x, const struct candidate *c,
                             const struct run_row *switched)
{
    struct run_row row = c->switched ? *switched : x->row;
    row.num_gpus = (int64_t)x->own.gpus, row.dp = NOT_STATED, row.split = (struct cell){"", 0};
    row.tp = c->tp, row.pp = c->pp, row.cp = c->cp, row.micro_batch = c->micro_batch;
    if (x->row.ep > 1 || c->ep > 1) row.ep = c->ep;
    row.vpp = c->vpp > 1 ? c->vpp : NOT_STATED;
    row.sp = c->tp == 1 ? 0 : x->row.tp > 1 ? x->row.sp : 1;
    row.recompute = c->recompute, row.recomputed_layers = 0;
    if (c->switched) {
        row.overlap = 1, row.overlap_messages = c->pp > 1;
        if (c->tp > 1) row.overlap_tensor = 1;
    }
    return row;
}

// The fastest that fits and takes less than this. as_run: what the run itself may be, with its
// switches alone and the micro-batch that it states, on as few ranks a replica as hold it.
static void find_fastest(struct explained *x, bool as_run, int64_t less_ns)
{
    struct candidates all = {TAKE(x->arena, CANDIDATES_MOST, struct candidate), 0, 0,
                             as_run ? x->own.limit_bytes : explain_room(x)};
    struct any_layout *best = &x->any;
    const struct change *flag = as_run ? NULL : explained_best(x, CHANGE_FLAG);
    bool same_batch = as_run && told(&x->log, TOLD_MICRO_BATCH);
    struct run_row switched = x->row;
    struct error err = {OK, ""};
    int64_t left = OPERATIONS_MOST;
    *best = (struct any_layout){.flag = NULL};
    if (flag)
        row_set_columns(&switched, "", arena_print(x->arena, "%s=%s", flag->column, flag->value),
                        x->arena, &err);
    add_all(&all, x, as_run);
    qsort(all.items, (size_t)all.count, sizeof *all.items, by_operations);
    best->all = !all.too_large;
    for (int i = 0; i < all.count; i++) {
        const struct candidate *c = &all.items[i];
        if (as_run && (c->switched || (same_batch && c->micro_batch != x->row.micro_batch)))
            continue;
        struct run_row row = row_of(x, c, &switched);
        struct prediction p;
        left -= c->operations;
        if (left < 0) {
            best->all = false;
            break;
        }
        best->priced++;
        if (!explain_try(x, &row, &p) || p.device_bytes > all.room || !explain_is_run(x)) continue;
        int64_t ranks = c->tp * c->pp * c->cp, least = best->row.tp * best->row.pp * best->row.cp;
        bool fewer = as_run && ranks < least, more = as_run && ranks > least;
        if (best->found && !fewer && (more || p.iteration_ns >= best->iteration_ns)) continue;
        if (p.iteration_ns > less_ns - less_ns / 1000) continue;
        best->found = true, best->row = row, best->flag = c->switched ? flag : NULL;
        best->iteration_ns = p.iteration_ns, best->device_bytes = p.device_bytes;
    }
}

void explain_layouts(struct explained *x)
{
    if (!*x->own.reason) find_fastest(x, false, x->own.iteration_ns);
}

bool explain_assume_degrees(struct explained *x)
{
    static const char why[] = "not in the log, and no GPU holds the model alone: the fastest that "
                              "fits of those on the fewest ranks";
    static const enum told degrees[] = {TOLD_TP, TOLD_PP, TOLD_CP, TOLD_DP, TOLD_EP};
    struct run_row *r = &x->asked;
    bool stated = x->row.zero == 3 || x->own.device_bytes <= x->own.limit_bytes;
    for (size_t i = 0; i < ARRAY_LENGTH(degrees); i++) stated |= told(&x->log, degrees[i]);
    if (*x->own.reason || stated || !(x->measured_s > 0) || x->log.failure.out_of_memory)
        return false;
    find_fastest(x, true, INT64_MAX);
    if (!x->any.found) return false;
    struct assumed values[ANY_VALUES_MOST];
    int count = any_layout_values(x, values);
    x->assumed_count = x->asked_count;
    for (int i = 0; i < count; i++)
        if (strcmp(values[i].column, "recompute") != 0) // as little as fits
            explain_assume(x, values[i].column, values[i].value, why);
    r->tp = x->any.row.tp, r->pp = x->any.row.pp, r->cp = x->any.row.cp, r->ep = x->any.row.ep;
    r->vpp = x->any.row.vpp, r->sp = x->any.row.sp, r->micro_batch = x->any.row.micro_batch;
    x->asked_count = x->assumed_count;
    x->guessed = x->guessed ? "GPUs and degrees are" : "the degrees are";
    return true;
}

int any_layout_values(const struct explained *x, struct assumed values[ANY_VALUES_MOST])
{
    const struct run_row *a = &x->any.row, *b = &x->row;
    const struct {
        const char *column;
        int64_t now, before;
    } counts[] = {{"tp", a->tp, or_one(b->tp)},
                  {"pp", a->pp, or_one(b->pp)},
                  {"cp", a->cp, or_one(b->cp)},
                  {"ep", or_one(a->ep), or_one(b->ep)},
                  {"vpp", or_one(a->vpp), or_one(b->vpp)},
                  {"micro_batch", a->micro_batch, or_one(b->micro_batch)},
                  {"sp", a->sp, b->sp},
                  {"overlap", a->overlap, b->overlap},
                  {"overlap_messages", a->overlap_messages, b->overlap_messages},
                  {"overlap_tensor", a->overlap_tensor, b->overlap_tensor}};
    int count = 0;
    for (size_t i = 0; x->any.found && i < ARRAY_LENGTH(counts); i++)
        if (counts[i].now != counts[i].before && counts[i].now >= 0)
            values[count++] = (struct assumed){
                counts[i].column, arena_print(x->arena, "%lld", (long long)counts[i].now), ""};
    bool named = !x->any.flag;
    for (int i = 0; i < count && !named; i++)
        named = !strcmp(values[i].column, x->any.flag->column);
    if (!named && strcmp(x->any.flag->column, "recompute") != 0)
        values[count++] = (struct assumed){x->any.flag->column, x->any.flag->value, ""};
    if (x->any.found && a->recompute != b->recompute)
        values[count++] = (struct assumed){"recompute", recompute_names[a->recompute], ""};
    return count;
}
