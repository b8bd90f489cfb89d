// Documents -> input of the checker of spaces. Every number of a layout's tables is one call of
// the judge. Only classes of equal messages are computed here, and nothing is kept from one layout
// to the next.
#include "solve/checker/prices/prices.h"

#include "data/base/least.h"
#include "solve/judge/price/verify_price.h"

// ---- what is the same for all layouts

struct prices {
    const struct problem *problem;
    struct problem one; // of the current layout
    struct price_audit price_audit;
    struct seat_prices *seats; // NULL: a group of the checker is a node group
    struct problem headed; // whose head is that of stages before local boundaries, if they have one
    struct price_audit headed_audit;
    int head; // its run there
    struct check_run *own_head;
    struct other_run *others;
    struct check_run **other; // their prices
    int other_count;
    struct doubts doubts;
    struct check_problem p;
    int *message_of; // [cut]: a run that sends it
    int64_t *embedding;
    bool too_large; // a price was too large
};

static int64_t *take_numbers(int count, struct arena *arena) { return TAKE(arena, count, int64_t); }

static int64_t **take_tables(int tables, int count, struct arena *arena)
{
    int64_t **to = TAKE(arena, tables, int64_t *);
    for (int i = 0; i < tables; i++) to[i] = take_numbers(count, arena);
    return to;
}

// The prices of the checker's group, and its number in the cluster.
static const struct price_audit *audit_at(const struct prices *x, int group)
{
    return x->seats ? &x->seats->at[group] : &x->price_audit;
}
static int node_group(const struct prices *x, int group)
{
    return x->seats ? x->seats->seats[group].group : group;
}

static struct tier_option tiering_of_option(const struct prices *x, int option)
{
    return job_tiering(&x->one.job, option % job_tier_ways(&x->one.job));
}

static struct check_run open_run(const struct check_problem *p, const struct layer_run *layers,
                                 bool energies, struct arena *arena)
{
    int passes = MOST_SLICES * p->group_count;
    struct check_run r = {
        .name = layers->name, .count = layers->count, .recomputable = layers->recomputable};
    r.stash = take_numbers(MODES, arena), r.working = take_numbers(MODES, arena),
    r.feedback = take_numbers(p->gradient_count, arena);
    r.forward = take_numbers(passes, arena), r.backward = take_numbers(passes, arena);
    r.again[MODE_SELECTIVE] = take_numbers(passes, arena);
    r.again[MODE_FULL] = take_numbers(passes, arena);
    for (int mode = MODE_SETS; mode < MODES; mode++)
        if (p->modes[mode]) r.again[mode] = take_numbers(passes, arena);
    r.weight = take_numbers(p->group_count, arena),
    r.optimizer_bytes = take_numbers(p->gradient_count, arena);
    r.optimizer = take_tables(p->gradient_count, p->group_count, arena);
    r.sync = take_tables(p->gradient_count, p->group_count, arena);
    if (check_has_tiers(p)) r.tiered = TAKE(arena, p->gradient_count, struct check_tiered);
    for (int o = 0; r.tiered && o < p->gradient_count; o++) {
        struct check_tiered *t = &r.tiered[o];
        t->tier_bytes = take_numbers(p->tier_count, arena);
        t->forward = take_numbers(passes, arena), t->backward = take_numbers(passes, arena);
        int64_t **of_groups[] = {&t->away, &t->back, &t->energy, &t->again, &t->swapped};
        for (int i = 0; i < 5; i++)
            if (i < 2 ? p->modes[MODE_SWAP] : energies)
                *of_groups[i] = take_numbers(p->group_count, arena);
    }
    return r;
}

static void open_runs(struct prices *x, const struct model *m, struct arena *arena)
{
    struct check_problem *p = &x->p;
    bool energies = problem_states_energy(x->problem);
    p->run_count = m->run_count;
    p->layers = m->layer_count;
    p->runs = TAKE(arena, p->run_count, struct check_run);
    for (int i = 0; i < p->run_count; i++) {
        p->runs[i] = open_run(p, &m->runs[i], energies, arena);
        if (x->seats) seats_open_run(p, &p->runs[i], &m->runs[i], arena);
    }
    if (!x->problem->job.local_loss.head.vocabulary) return;
    x->headed = problem_with_local_head(&x->one, &x->head, arena);
    x->own_head = TAKE(arena, 1, struct check_run);
    *x->own_head = open_run(p, &x->headed.model.runs[x->head], false, arena);
}

// The runs besides the model's, behind it and the one before in the layers' chain.
static void open_others(struct prices *x, struct arena *arena)
{
    struct check_problem *p = &x->p;
    x->other_count = space_other_runs(&x->others, &x->one, &x->price_audit, arena);
    x->other = TAKE(arena, x->other_count, struct check_run *);
    for (int i = 0; i < x->other_count; i++) {
        struct other_run *o = &x->others[i];
        struct check_run *last = &p->runs[o->run], *to = TAKE(arena, 1, struct check_run);
        bool first = o->tensor && (!p->degree_count || p->degrees[p->degree_count - 1] < o->tensor);
        *to = open_run(p, &x->one.model.runs[o->run], false, arena);
        to->cut = last->cut, to->tensor = o->tensor;
        if (!o->tensor) last->sharded = to;
        if (first) p->degrees[p->degree_count++] = o->tensor;
        while (last->next) last = last->next;
        last->next = x->other[i] = to;
    }
}

static int64_t values_sent(const struct prices *x, const struct layer_run *r)
{
    return run_tokens_out(r, x->problem->job.sequence);
}

// Messages after the two runs are the same in every layout.
static bool same_message(const struct prices *x, int a, int b)
{
    const struct layer_run *r = run_of(&x->price_audit, a), *q = run_of(&x->price_audit, b);
    if (has_shape(&x->price_audit, a) != has_shape(&x->price_audit, b) ||
        passes_gradient(&x->price_audit, a) != passes_gradient(&x->price_audit, b))
        return false;
    if (has_shape(&x->price_audit, a))
        return values_sent(x, r) == values_sent(x, q) &&
               run_width_out(&x->problem->model, r) == run_width_out(&x->problem->model, q);
    bool same = r->measured.by_degrees_count == q->measured.by_degrees_count;
    for (int i = -1; same && i < r->measured.by_degrees_count; i++) {
        const struct measured_bytes *m = i < 0 ? &r->measured : &r->measured.by_degrees[i],
                                    *n = i < 0 ? &q->measured : &q->measured.by_degrees[i];
        same = m->boundary_bytes == n->boundary_bytes && m->matrix_rows == n->matrix_rows &&
               m->matrix_columns == n->matrix_columns && m->tensor == n->tensor &&
               m->context == n->context && m->data == n->data && m->micro_batch == n->micro_batch;
    }
    return same;
}

static void open_cuts(struct prices *x, struct arena *arena)
{
    struct check_problem *p = &x->p;
    int prices = MOST_SLICES * p->group_count * p->group_count * PARTS;
    p->cuts = TAKE(arena, p->run_count, struct check_cut);
    x->message_of = TAKE(arena, p->run_count, int);
    for (int run = 0; run < p->run_count; run++) {
        int cut = 0;
        while (cut < p->cut_count && !same_message(x, x->message_of[cut], run)) cut++;
        p->runs[run].cut = cut;
        if (cut < p->cut_count) continue;
        x->message_of[p->cut_count++] = run;
        p->cuts[cut] =
            (struct check_cut){.seat_bytes = x->seats ? take_numbers(p->group_count, arena) : NULL,
                               .feedback = take_numbers(p->boundary_count, arena),
                               .forward = take_numbers(prices, arena),
                               .backward = take_tables(p->boundary_count, prices, arena)};
    }
}

// ---- tables of a layout

static int64_t note(struct prices *x, int64_t price)
{
    if (price >= WHOLE_MAX - 1) x->too_large = true;
    return price;
}

static void take_layout(struct prices *x, const struct check_layout *l)
{
    struct check_problem *p = &x->p;
    const int *v = l->value;
    x->one.job.layout = space_layout_back(l, &x->problem->job.layout);
    space_switch(&x->one.job, x->problem, l);
    x->price_audit = price_audit_over(&x->one, &x->price_audit);
    if (x->seats) seats_take_layout(x->seats, &x->one, &x->price_audit);
    p->head = job_has_local_head(&x->one.job) ? x->own_head : NULL;
    if (p->head) {
        x->headed.job = x->one.job;
        x->headed_audit = price_audit_over(&x->headed, &x->price_audit);
    }
    p->layout = *l, p->devices = x->seats ? 1 : x->price_audit.devices;
    p->kind = v[KEY_SCHEDULE];
    p->barrier = v[KEY_BARRIER], p->overlapped = v[KEY_OVERLAPPED];
    p->splits_backward = check_schedules[p->kind].splits_backward;
    p->stored = x->one.job.layout.stored_inputs;
    p->local_every = v[KEY_LOCAL], p->ranks = v[KEY_PIPELINE], p->turns = v[KEY_TURNS],
    p->slices = v[KEY_SLICES], p->stages = p->ranks * p->turns;
    p->modes[MODE_SWAP] = job_swaps(&x->problem->job) && check_may_swap(p);
    p->micro_batches = (int)(x->one.job.global_batch / ((int64_t)v[KEY_DATA] * v[KEY_MICRO_BATCH]));
    p->local_bytes = p->local_every ? x->one.job.local_loss.bytes : 0;
}

static void price_tiered_bytes(struct prices *x, int run)
{
    for (int o = 0; x->p.runs[run].tiered && o < x->p.gradient_count; o++) {
        struct check_tiered *t = &x->p.runs[run].tiered[o];
        struct tier_option at = tiering_of_option(x, o);
        struct tiered_weights w = tiered_weights_of(&x->price_audit, run, at);
        t->weight_bytes = note(x, w.kept), t->buffer_bytes = note(x, w.buffers);
        for (int i = 0; i < x->p.tier_count; i++)
            t->tier_bytes[i] = note(x, tier_held_bytes(&x->price_audit, run, at, x->p.tiers[i]));
    }
}

// Returns the bytes of a message behind it.
static int64_t price_run_bytes(struct prices *x, const struct price_audit *a, int run,
                               struct check_run *r)
{
    struct check_problem *p = &x->p;
    struct layer_bytes b = layer_bytes_of(a, run);
    r->weight_bytes = note(x, b.weight), r->gradient_bytes = note(x, b.gradient),
    r->unsharded_bytes = note(x, b.unsharded);
    for (int mode = 0; mode < MODES; mode++)
        if (mode <= MODE_FULL || r->again[mode])
            r->stash[mode] = note(x, b.stash[mode]), r->working[mode] = note(x, b.working[mode]);
    for (int o = 0; o < p->gradient_count; o++)
        if (p->gradient[o].remembers)
            r->feedback[o] = note(x, gradient_feedback_of(a, run, check_form_of(&p->gradient[o])));
    for (int o = 0; o < p->gradient_count; o++)
        r->optimizer_bytes[o] = note(x, device_state_bytes(a, run, tiering_of_option(x, o)));
    return b.message;
}

static void price_group(struct prices *x, struct check_group *group, int g)
{
    const struct price_audit *a = audit_at(x, g);
    int at = node_group(x, g);
    group->excluded = exclusion_of(a, at) != NULL;
    if (!x->seats) group->slots = 0;
    group->memory_limit = group->constant_bytes = 0;
    if (group->excluded) return;
    if (!x->seats) group->slots = (int)slots_of(a, at);
    group->memory_limit = note(x, memory_limit_of(a, at)),
    group->constant_bytes = note(x, constant_bytes_of(a, at));
    for (int i = 0; i < x->p.tier_count; i++)
        group->tier_limit[i] = judged_tier_limit(a, at, x->p.tiers[i]);
}

// Each seat's own, and the greatest of all.
static void price_seats_bytes(struct prices *x, int run, struct check_cut *cut)
{
    struct check_run *r = &x->p.runs[run];
    cut->message_bytes = 0;
    r->weight_bytes = r->gradient_bytes = r->unsharded_bytes = r->optimizer_bytes[0] = 0;
    for (int mode = 0; mode < MODES; mode++) r->stash[mode] = r->working[mode] = 0;
    for (int g = 0; g < x->p.group_count; g++) {
        cut->seat_bytes[g] = note(x, price_run_bytes(x, audit_at(x, g), run, &r->seats[g]));
        cut->message_bytes = larger(cut->message_bytes, cut->seat_bytes[g]);
        seats_raise_bytes(r, &r->seats[g]);
    }
}

static bool price_bytes(void *context, const struct check_layout *l, struct check_problem **to)
{
    struct prices *x = context;
    struct check_problem *p = &x->p;
    const struct price_audit *a = &x->price_audit;
    *to = p;
    x->too_large = false;
    take_layout(x, l);
    for (int g = 0; g < p->group_count; g++) price_group(x, &p->groups[g], g);
    for (int i = 0; i < p->run_count; i++) {
        struct check_cut *cut = &p->cuts[p->runs[i].cut];
        if (x->seats) price_seats_bytes(x, i, cut);
        else cut->message_bytes = note(x, price_run_bytes(x, a, i, &p->runs[i]));
        price_tiered_bytes(x, i);
    }
    if (p->head) price_run_bytes(x, &x->headed_audit, x->head, p->head);
    for (int i = 0; i < x->other_count; i++)
        price_run_bytes(x, x->others[i].audit, x->others[i].run, x->other[i]);
    for (int c = 0; c < p->cut_count; c++)
        for (int o = 0; o < p->boundary_count; o++)
            if (p->boundary[o].remembers)
                p->cuts[c].feedback[o] = note(
                    x, boundary_feedback_of(a, x->message_of[c], check_form_of(&p->boundary[o])));
    return !x->too_large;
}

static void price_tiered_ways(struct prices *x, const struct price_audit *a, int run,
                              struct check_tiered *t, int g, int option)
{
    struct tier_option at = tiering_of_option(x, option);
    struct judged_energy e = {0, 0, 0};
    bool has = !x->p.groups[g].excluded;
    for (int back = 0; back < 2 && t->away; back++)
        (back ? t->back : t->away)[g] = has ? note(x, swap_ns_of(a, run, g, at, back)) : 0;
    if (!t->energy) return;
    if (has) e = energy_of_layer(a, run, g, at, x->p.modes[MODE_SWAP]);
    t->energy[g] = note(x, e.always_uj), t->again[g] = note(x, e.again_uj);
    t->swapped[g] = note(x, e.swapped_uj);
}

static void price_run(struct prices *x, const struct price_audit *a, int run, struct check_run *r,
                      int g)
{
    struct check_problem *p = &x->p;
    bool has = !p->groups[g].excluded;
    int at_node = node_group(x, g);
    for (int slice = 0; slice < p->slices; slice++) {
        struct layer_duration d = {0};
        int at = slice * p->group_count + g;
        for (int o = 0; r->tiered && o < p->gradient_count; o++) {
            if (has) d = layer_duration_of(a, run, at_node, slice, tiering_of_option(x, o));
            r->tiered[o].forward[at] = note(x, d.forward_ns);
            r->tiered[o].backward[at] = note(x, d.backward_ns);
        }
        if (has) d = layer_duration_of(a, run, at_node, slice, tiering_of_option(x, 0));
        r->forward[at] = note(x, d.forward_ns), r->backward[at] = note(x, d.backward_ns);
        for (int mode = 0; mode < MODES; mode++)
            if (r->again[mode]) r->again[mode][at] = note(x, d.again_ns[mode]);
        if (slice == 0) r->weight[g] = note(x, d.weight_ns);
    }
    for (int o = 0; o < p->gradient_count; o++) {
        if (r->tiered) price_tiered_ways(x, a, run, &r->tiered[o], g, o);
        r->sync[o][g] =
            has ? note(x, layer_sync_ns(a, run, at_node, check_form_of(&p->gradient[o]))) : 0;
        r->optimizer[o][g] = has ? note(x, shared_step_ns(a, run, at_node, tiering_of_option(x, o)))
                                 : 0;
    }
}

// At another degree with what its ranks exchange with those of the stage.
static void price_other(struct prices *x, int i, int g)
{
    const struct other_run *o = &x->others[i];
    struct check_run *to = x->other[i];
    price_run(x, o->audit, o->run, to, g);
    if (!o->tensor || x->p.groups[g].excluded) return;
    for (int slice = 0; slice < x->p.slices; slice++)
        for (int back = 0; back < 2; back++) {
            int64_t *ns = (back ? to->backward : to->forward) + slice * x->p.group_count + g;
            *ns = note(
                x, *ns + vocabulary_exchange_ns(&x->price_audit, o->audit, o->run, g, slice, back));
        }
}

// Of a message between two of the checker's groups, by each end's prices.
struct ends {
    int sender, receiver;
};

static bool message_price(const struct prices *x, struct ends e, struct sending m,
                          int64_t parts[PART_COUNT])
{
    m.sender = node_group(x, e.sender), m.receiver = node_group(x, e.receiver);
    return resharded_price(audit_at(x, e.sender), audit_at(x, e.receiver), m, parts);
}

static void put_parts(struct prices *x, int64_t *to, struct ends e, struct sending m, bool joined)
{
    int64_t parts[PART_COUNT];
    joined = joined && message_price(x, e, m, parts);
    to[PART_BLOCKS] = joined ? note(x, parts[PART_BLOCKING]) : -1;
    to[PART_LINKS] = joined ? note(x, parts[PART_LINK]) : -1;
    to[PART_DELAYS] = joined ? note(x, parts[PART_DELAY]) : -1;
    to[PART_WORKS] = joined ? note(x, parts[PART_OVERHEAD]) : -1;
}

static void price_pair(struct prices *x, int cut, int from, int to, int slice)
{
    struct check_problem *p = &x->p;
    int64_t parts[PART_COUNT];
    int at = ((slice * p->group_count + from) * p->group_count + to) * PARTS;
    struct ends forth = {from, to}, home = {to, from};
    struct sending there = {.run = x->message_of[cut], .slice = slice},
                   back = {.run = x->message_of[cut], .slice = slice, .backward = true};
    bool joined = !p->groups[from].excluded && !p->groups[to].excluded &&
                  message_price(x, forth, there, parts) && message_price(x, home, back, parts);
    put_parts(x, p->cuts[cut].forward + at, forth, there, joined);
    for (int o = 0; o < p->boundary_count; o++) {
        back.form = check_form_of(&p->boundary[o]);
        put_parts(x, p->cuts[cut].backward[o] + at, home, back, joined);
    }
}

static int64_t local_ns(struct prices *x, double s)
{
    return note(
        x, judged_nanoseconds(&x->price_audit, (struct computed){x->p.local_every ? s : 0, 0}));
}

// As long as the slower end's width makes it.
static bool embedding_price(const struct prices *x, int first, int last, int64_t *ns)
{
    int from = node_group(x, first), to = node_group(x, last);
    int64_t other = 0;
    bool joined = embedding_sync_price(audit_at(x, first), from, to, ns) &&
                  embedding_sync_price(audit_at(x, last), from, to, &other);
    *ns = larger(*ns, other);
    return joined;
}

static void price_entry(struct prices *x, int run, int g)
{
    int64_t ns[2];
    bool stated = seats_entry(x->seats, run, g, ns);
    assert(stated);
    for (int i = 0; i < 2 && stated; i++)
        x->p.runs[run].entry[i * x->p.group_count + g] = note(x, ns[i]);
}

static bool price_times(void *context)
{
    struct prices *x = context;
    struct check_problem *p = &x->p;
    p->local_forward = local_ns(x, x->one.job.local_loss.forward_s);
    p->local_backward = local_ns(x, x->one.job.local_loss.backward_s);
    p->embedding = x->price_audit.embedding_sync ? x->embedding : NULL;
    for (int g = 0; g < p->group_count; g++) {
        for (int o = 0; o < p->gradient_count; o++)
            p->groups[g].sync_constant[o] =
                p->groups[g].excluded ? 0
                                      : note(x, sync_constant_ns(audit_at(x, g), node_group(x, g)));
        for (int run = 0; run < p->run_count; run++) {
            price_run(x, audit_at(x, g), run, &p->runs[run], g);
            if (p->runs[run].entry) price_entry(x, run, g);
        }
        if (p->head) price_run(x, &x->headed_audit, x->head, p->head, g);
        for (int i = 0; i < x->other_count; i++) price_other(x, i, g);
        for (int to = 0; to < p->group_count; to++) {
            int64_t ns = 0;
            bool joined = !p->groups[g].excluded && !p->groups[to].excluded && p->embedding &&
                          embedding_price(x, g, to, &ns);
            if (p->embedding) p->embedding[g * p->group_count + to] = joined ? note(x, ns) : -1;
            for (int cut = 0; cut < p->cut_count; cut++)
                for (int slice = 0; slice < p->slices; slice++) price_pair(x, cut, g, to, slice);
        }
    }
    return !x->too_large;
}

enum status space_pricer_open(struct check_pricer *to, const struct problem *problem,
                              struct arena *arena, struct error *err)
{
    struct prices *x = TAKE(arena, 1, struct prices);
    struct check_problem *p = &x->p;
    int groups = problem->cluster.group_count;
    *x = (struct prices){.problem = problem, .one = *problem};
    if (job_has_widths(&problem->job)) {
        x->seats = TAKE(arena, 1, struct seat_prices);
        seats_open(x->seats, problem, arena);
        groups = x->seats->count;
    } else if (groups > MOST_GROUPS)
        return refuse(err, "more than %d node groups are not checked", MOST_GROUPS);
    if (problem->job.boundary_option_count >= MOST_OPTIONS ||
        (problem->job.gradient_option_count + 1) * job_tier_ways(&problem->job) > MOST_OPTIONS)
        return refuse(err, "more than %d options are not checked", MOST_OPTIONS - 1);
    x->one.job.space = (struct space){.given = false};
    x->price_audit = price_audit_of(&x->one);
    x->price_audit.doubts = &x->doubts;
    for (int mode = 0; mode < MODES; mode++)
        p->modes[mode] = job_offers(&problem->job, (enum recompute)mode);
    check_read_options(p, &problem->job, arena);
    p->group_count = groups;
    p->tiers = cluster_tiers(&problem->cluster, &p->tier_count, arena);
    p->groups = TAKE(arena, groups, struct check_group);
    p->node_groups = TAKE(arena, groups, const char *);
    const char **node_groups = TAKE(arena, groups, const char *);
    for (int g = 0; g < groups; g++) {
        const struct node_group *nodes = &problem->cluster.groups[node_group(x, g)];
        node_groups[g] = nodes->name;
        p->groups[g] = (struct check_group){.name = nodes->name,
                                            .gpu = nodes->gpu,
                                            .sync_constant = take_numbers(p->gradient_count, arena),
                                            .tier_limit = take_numbers(p->tier_count, arena)};
    }
    if (x->seats) seats_put_groups(x->seats, problem, p);
    p->in_turn = problem->job.replicas == REPLICAS_IN_TURN;
    p->width_per_group = problem->job.stage_degrees == DEGREES_PER_GROUP;
    p->any_sets = problem->job.recompute_any;
    x->embedding = take_numbers(groups * groups, arena);
    check_read_job_rules(p, node_groups, problem, arena);
    open_runs(x, &problem->model, arena);
    p->reader = (struct reader){"prices", err};
    TRY(check_place_layers(p, arena));
    open_cuts(x, arena);
    if (!problem->job.space.given) open_others(x, arena);
    *to = (struct check_pricer){price_bytes, price_times, x, &x->doubts.prices, &x->doubts.sizes};
    return OK;
}

void space_pricer_lean(struct check_pricer *pricer, int direction, long double error)
{
    struct prices *x = pricer->context;
    x->price_audit.direction = direction;
    x->price_audit.error = greatest(x->price_audit.error, error);
}
