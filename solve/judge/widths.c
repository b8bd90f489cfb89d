// Stages with widths of their own (docs/FORMULAS.md 23): each is judged by the prices of the layout
// in which all stages have its width; what two unlike neighbours send each other by both.
#include <string.h>

#include "data/inputs/problem.h"
#include "solve/judge/internal.h"

// ---- the plan's groups

void state_widths(struct verdict *v, const struct plan *plan, const struct problem *problem,
                  struct arena *arena)
{
    struct {
        struct verdict *verdict;
        struct arena *arena;
    } s = {v, arena};
    struct seat *seats = NULL;
    int count = job_has_widths(&problem->job) ? problem_seats(problem, &seats, arena) : 0;
    if (!count || !plan->widths || plan->group_count != count) {
        REJECT(&s, "groups", -1, "groups: the plan lists %d%s, the job's widths give %d",
               plan->group_count, plan->widths ? "" : " without widths", count);
        return;
    }
    for (int i = 0; i < count; i++) {
        const struct plan_width *w = &plan->widths[i];
        const struct node_group *g = &problem->cluster.groups[seats[i].group];
        if (strcmp(plan->group_names[i], seats[i].name) != 0 ||
            strcmp(w->node_group, g->name) != 0 || strcmp(plan->group_gpus[i], g->gpu) != 0 ||
            w->tensor != seats[i].tensor || w->context != seats[i].context ||
            w->data != seats[i].data)
            REJECT(&s, "groups", -1,
                   "groups[%d] is \"%.60s\" (%d x %d x %d of \"%.60s\"), the job's is \"%.60s\"", i,
                   plan->group_names[i], w->tensor, w->context, w->data, w->node_group,
                   seats[i].name);
    }
}

void match_widths(struct audit *h)
{
    const struct plan *p = h->plan;
    struct seat *seats;
    int count = problem_seats(h->problem, &seats, h->arena);
    struct price_audit *at = TAKE(h->arena, p->group_count, struct price_audit);
    h->group = TAKE(h->arena, p->group_count, int);
    for (int i = 0; i < p->group_count; i++) {
        int k = 0;
        while (k < count && strcmp(seats[k].name, p->group_names[i]) != 0) k++;
        h->group[i] = k < count ? seats[k].group : -1;
        if (k == count) continue;
        struct problem *one = TAKE(h->arena, 1, struct problem);
        *one = problem_at_seat(&h->judged, &seats[k]);
        at[i] = price_audit_over(one, &h->price_audit);
    }
    h->at = at;
}

// Where the job wants one width for all stages on a node group.
static void audit_one_width(struct audit *h)
{
    const struct plan *p = h->plan;
    if (h->problem->job.stage_degrees != DEGREES_PER_GROUP) return;
    for (int s = 1; s < p->stage_count; s++)
        for (int k = 0; k < s; k++) {
            int one = p->stages[s].group, other = p->stages[k].group;
            if (!h->sound[s] || !h->sound[k] || one == other || h->group[one] != h->group[other])
                continue;
            REJECT(h, "count", s, "it has another width than stage %d on the same node group: %s",
                   k, p->group_names[other]);
            return;
        }
}

void audit_devices(struct audit *h)
{
    audit_one_width(h);
    const struct cluster *c = &h->problem->cluster;
    for (int g = 0; g < c->group_count; g++) {
        int64_t used = 0, all = (int64_t)c->groups[g].nodes * c->groups[g].gpus_per_node;
        for (int s = 0; s < h->plan->stage_count; s++)
            if (h->sound[s] && judged_group(h, s) == g) used += audit_at(h, s)->devices;
        if (used > all)
            REJECT(h, "count", -1, "the stages on node group '%s' take %lld GPUs, it has %lld",
                   c->groups[g].name, (long long)used, (long long)all);
    }
}

// ---- what neighbours send each other

static bool both_ways(const struct price_audit *a, int from, int to)
{
    return judged_stage_link(a, from, to).joined && judged_stage_link(a, to, from).joined;
}

bool stages_joined(const struct audit *h, int from, int to)
{
    int one = judged_group(h, from), other = judged_group(h, to);
    return both_ways(audit_at(h, from), one, other) && both_ways(audit_at(h, to), one, other);
}

bool stage_transfer(const struct audit *h, int from, int to, struct sending s,
                    int64_t parts[PART_COUNT])
{
    return resharded_price(audit_at(h, from), audit_at(h, to), s, parts);
}

bool ends_embedding_price(const struct audit *h, int64_t *ns)
{
    int last = h->plan->stage_count - 1, one = judged_group(h, 0), other = judged_group(h, last);
    int64_t second = 0;
    if (!embedding_sync_price(audit_at(h, 0), one, other, ns)) return false;
    if (h->at && !embedding_sync_price(audit_at(h, last), one, other, &second)) return false;
    if (second > *ns) *ns = second;
    return true;
}

// ---- replicas that take whole micro-batches in turn: what one of them has, over their number

bool is_in_turn(const struct audit *h) { return h->problem->job.replicas == REPLICAS_IN_TURN; }

static int replicas_of(const struct audit *h, int stage)
{
    return h->group[h->plan->stages[stage].group] < 0 ? 1 : layout_of(audit_at(h, stage))->data;
}

int64_t turned_in_flight(const struct audit *h, int stage)
{
    int64_t own = replicas_of(h, stage), all = 0, most = h->price_audit.micro_batches / own;
    for (int s = stage; s < h->plan->stage_count; s++) all += replicas_of(h, s);
    int64_t needed = all / own + (all % own > 0);
    return needed < most ? needed : most;
}

// The first layer of a stage may state what comes in; else it is what the layer before sends.
static long double stated_entry(const struct audit *h, int stage)
{
    const struct price_audit *a = audit_at(h, stage);
    const struct layer_run *r =
        &a->problem->model.runs[judged_run(h, h->plan->stages[stage].first_layer)];
    return r->kind == LAYER_MEASURED ? (long double)stated_bytes(a, r)->entry_bytes : 0;
}

// Of the message over a boundary, there and back, as long as between two stages of this one's
// width: adds what occupies the rank; *link_ns is at least what occupies a link.
static void add_own_end(const struct audit *h, int stage, int boundary, int64_t *rank_ns,
                        int64_t *link_ns)
{
    const struct plan_stage *before = &h->plan->stages[boundary];
    int group = judged_group(h, stage),
        run = judged_run(h, before->first_layer + before->layer_count - 1);
    for (int back = 0; back < 2; back++) {
        int64_t parts[PART_COUNT] = {0};
        struct sending s = {.run = run, .sender = group, .receiver = group, .backward = back};
        if (boundary < stage) s.stated_bytes = stated_entry(h, stage);
        if (!transfer_price(audit_at(h, stage), s, parts)) continue;
        *rank_ns = judged_later(*rank_ns, judged_later(parts[PART_BLOCKING], parts[PART_OVERHEAD]));
        if (parts[PART_LINK] > *link_ns) *link_ns = parts[PART_LINK];
    }
}

int64_t turned_load(const struct audit *h)
{
    int64_t most = 0;
    for (int s = 0; s < h->plan->stage_count; s++) {
        const struct plan_stage *x = &h->plan->stages[s];
        int64_t replicas = replicas_of(h, s), link = 0;
        if (!h->sound[s]) continue;
        int64_t rank = judged_later(x->slices[0].forward_ns, x->slices[0].backward_ns);
        if (s > 0) add_own_end(h, s, s - 1, &rank, &link);
        if (s + 1 < h->plan->stage_count) add_own_end(h, s, s, &rank, &link);
        if (link > rank) rank = link;
        int64_t load = rank / replicas + (rank % replicas > 0);
        if (load > most) most = load;
    }
    return most;
}

void audit_turned_time(struct audit *h, int64_t load_ns)
{
    int64_t all = load_ns * h->price_audit.micro_batches;
    h->verdict->replayed_ns = all;
    audit_claim(h, "iteration", -1, "micro-batches x greatest load", "ns", h->plan->iteration_ns,
                (struct sum){all, 1});
}

// ---- which operations have a price at all

static void raise_to(int64_t *largest, int64_t ns)
{
    if (ns > *largest) *largest = ns;
}

static void raise_pair(const struct audit *h, int from, int to, struct largest_prices *largest)
{
    const struct price_audit *a = &h->at[from], *b = &h->at[to];
    int64_t parts[PART_COUNT];
    int one = h->group[from], other = h->group[to];
    if (!both_ways(a, one, other) || !both_ways(b, one, other)) return;
    for (int run = 0; run < a->problem->model.run_count; run++)
        for (int back = 0; back < 2; back++) {
            struct sending s = {.run = run,
                                .sender = back ? other : one,
                                .receiver = back ? one : other,
                                .backward = back};
            if (!resharded_price(back ? b : a, back ? a : b, s, parts)) continue;
            for (int k = 0; k < PART_COUNT; k++) raise_to(&largest->parts_ns[k], parts[k]);
        }
}

struct largest_prices largest_of_widths(const struct audit *h)
{
    struct largest_prices largest = {{0}, 0, 0};
    for (int i = 0; i < h->plan->group_count; i++) {
        const struct price_audit *a = &h->at[i];
        if (h->group[i] < 0 || exclusion_of(a, h->group[i])) continue;
        raise_to(&largest.sync_ns, sync_constant_ns(a, h->group[i]));
        for (int run = 0; run < a->problem->model.run_count; run++) {
            raise_to(&largest.sync_ns,
                     layer_sync_ns(a, run, h->group[i], (struct compression_form){0}));
            raise_to(&largest.optimizer_ns,
                     shared_step_ns(a, run, h->group[i], job_tiering(&a->problem->job, 0)));
        }
        for (int k = 0; k < h->plan->group_count; k++)
            if (h->group[k] >= 0 && !exclusion_of(&h->at[k], h->group[k]))
                raise_pair(h, i, k, &largest);
    }
    return largest;
}
