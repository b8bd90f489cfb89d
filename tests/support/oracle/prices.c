// Compares a priced document with the judge's single terms.
#include "data/kinds/schedules.h"
#include "tests/support/oracle/prices.h"

#include "formulate/price/price.h"
#include "solve/checker/prices/prices.h"
#include "solve/judge/price/verify_price.h"
#include "tests/support/check.h"

struct comparison {
    const struct priced *priced;
    struct price_audit price_audit;
    int64_t problem;
    struct price_count *count;
};

static const char *layer_name(const struct comparison *c, int run)
{
    const struct layer_run *r = &c->price_audit.problem->model.runs[run];
    return r->frozen ? r->adapter_rank  ? "adapted"
                       : r->weight_bits ? "quantised"
                                        : "frozen"
                     : layer_kind_names[r->kind];
}

static void same(struct comparison *c, const char *what, const char *of, int at, int64_t theirs,
                 int64_t own)
{
    c->count->terms++;
    if (theirs == own) return;
    const struct layout *l = &c->price_audit.problem->job.layout;
    fail_msg("problem %lld (%s, zero %d, t %d c %d d %d p %d x %d, %s): %s of %s [%d]: formulate "
             "says %lld, the judge %lld",
             (long long)c->problem, schedule_names[l->schedule], l->zero, l->tensor, l->context,
             l->data, l->pipeline, l->expert, gradient_sync_names[l->gradient_sync], what, of, at,
             (long long)theirs, (long long)own);
}

static void compare_groups(struct comparison *c)
{
    const struct priced *p = c->priced;
    assert_int_equal(p->group_count, c->price_audit.problem->cluster.group_count);
    for (int g = 0; g < p->group_count; g++) {
        const struct priced_group *theirs = &p->groups[g];
        const char *reason = exclusion_of(&c->price_audit, g);
        assert_string_equal(theirs->name, c->price_audit.problem->cluster.groups[g].name);
        if (!theirs->excluded != !reason)
            fail_msg("problem %lld: group %d: formulate: %s, the judge: %s", (long long)c->problem,
                     g, theirs->excluded ? theirs->excluded : "takes it",
                     reason ? reason : "takes it");
        if (reason) continue;
        assert_int_equal(theirs->slots, slots_of(&c->price_audit, g));
        same(c, "memory limit", theirs->name, g, theirs->memory_limit_bytes,
             memory_limit_of(&c->price_audit, g));
        same(c, "constant bytes", theirs->name, g, theirs->constant_bytes,
             constant_bytes_of(&c->price_audit, g));
        for (int i = 0; i < p->tier_count; i++)
            same(c, "tier limit", p->tiers[i], g, theirs->tier_limit_bytes[i],
                 judged_tier_limit(&c->price_audit, g, p->tiers[i]));
        for (int o = 0; o < p->gradient_option_count; o++)
            same(c, "sync constant", theirs->name, o, theirs->sync_constant_ns[o],
                 sync_constant_ns(&c->price_audit, g));
    }
}

static struct tier_option tiering(const struct comparison *c, int option)
{
    const struct job *j = &c->price_audit.problem->job;
    int way = tiering_of(j, &c->priced->gradient_options[option]);
    assert_true(way >= 0);
    return job_tiering(j, way);
}

static void compare_tiered(struct comparison *c, int run)
{
    const struct priced_run *theirs = &c->priced->runs[run];
    for (int o = 0; o < theirs->tiered_count; o++) {
        struct tiered_weights own = tiered_weights_of(&c->price_audit, run, tiering(c, o));
        const struct priced_tiered *t = &theirs->tiered[o];
        same(c, "weights left", theirs->name, o, t->weight_bytes, own.kept);
        same(c, "buffers", theirs->name, o, t->buffer_bytes, own.buffers);
        same(c, "state left", theirs->name, o, t->optimizer_bytes,
             device_state_bytes(&c->price_audit, run, tiering(c, o)));
        for (int i = 0; i < c->priced->tier_count; i++)
            same(c, c->priced->tiers[i], theirs->name, o, t->tier_bytes[i],
                 tier_held_bytes(&c->price_audit, run, tiering(c, o), c->priced->tiers[i]));
    }
}

static void compare_bytes(struct comparison *c, int run)
{
    const struct priced *p = c->priced;
    const struct priced_run *theirs = &p->runs[run];
    const char *of = layer_name(c, run);
    struct layer_bytes own = layer_bytes_of(&c->price_audit, run);
    assert_int_equal(theirs->recomputable, c->price_audit.problem->model.runs[run].recomputable);
    same(c, "weight bytes", of, run, theirs->weight_bytes, own.weight);
    same(c, "gradient bytes", of, run, theirs->gradient_bytes, own.gradient);
    same(c, "optimizer bytes", of, run, theirs->optimizer_bytes,
         device_state_bytes(&c->price_audit, run, job_tiering(&c->price_audit.problem->job, 0)));
    same(c, "unsharded bytes", of, run, theirs->unsharded_bytes, own.unsharded);
    for (int mode = 0; mode < RECOMPUTE_COUNT; mode++) {
        if (mode != RECOMPUTE_NONE && !theirs->again_ns[mode]) continue;
        same(c, "stash bytes", of, mode, theirs->stash_bytes[mode], own.stash[mode]);
        same(c, "working bytes", of, mode, theirs->working_bytes[mode], own.working[mode]);
    }
    compare_tiered(c, run);
    same(c, "message bytes", of, run, p->cuts[theirs->cut].message_bytes, own.message);
    for (int o = 0; o < p->gradient_option_count; o++)
        same(c, "gradient feedback", of, o, theirs->feedback_bytes[o],
             p->gradient_options[o].forgets
                 ? 0
                 : gradient_feedback_of(&c->price_audit, run, p->gradient_options[o].form));
    for (int o = 0; o < p->boundary_option_count; o++)
        same(c, "boundary feedback", of, o, p->cuts[theirs->cut].feedback_bytes[o],
             p->boundary_options[o].forgets
                 ? 0
                 : boundary_feedback_of(&c->price_audit, run, p->boundary_options[o].form));
}

static void compare_times(struct comparison *c, int run, int group)
{
    const struct priced *p = c->priced;
    const struct priced_run *theirs = &p->runs[run];
    const char *of = layer_name(c, run);
    for (int slice = 0; slice < p->slice_count; slice++) {
        struct layer_duration d = layer_duration_of(&c->price_audit, run, group, slice,
                                                    job_tiering(&c->price_audit.problem->job, 0));
        int at = slice * p->group_count + group;
        for (int o = 0; o < theirs->tiered_count; o++) {
            struct layer_duration t =
                layer_duration_of(&c->price_audit, run, group, slice, tiering(c, o));
            same(c, "forward from tiers", of, o, priced_forward_ns(theirs, o)[at], t.forward_ns);
            same(c, "backward from tiers", of, o, priced_backward_ns(theirs, o)[at], t.backward_ns);
        }
        same(c, "forward", of, slice, theirs->forward_ns[at], d.forward_ns);
        same(c, "backward", of, slice, theirs->backward_ns[at], d.backward_ns);
        for (int mode = 0; mode < RECOMPUTE_COUNT; mode++)
            if (theirs->again_ns[mode])
                same(c, recompute_names[mode], of, slice, theirs->again_ns[mode][at],
                     d.again_ns[mode]);
        if (slice) continue;
        same(c, "weight gradient", of, group, theirs->weight_ns[group], d.weight_ns);
        same(c, "optimizer", of, group, theirs->optimizer_ns[group], d.optimizer_ns);
        for (int o = 0; p->recompute[RECOMPUTE_SWAP] && o < p->gradient_option_count; o++) {
            same(c, "swap", of, o, theirs->tiered[o].away_ns[group],
                 swap_ns_of(&c->price_audit, run, group, tiering(c, o), false));
            same(c, "swap back", of, o, theirs->tiered[o].back_ns[group],
                 swap_ns_of(&c->price_audit, run, group, tiering(c, o), true));
        }
        for (int o = 0; o < theirs->tiered_count; o++) {
            const struct priced_tiered *t = &theirs->tiered[o];
            same(c, "shared step", of, o, t->optimizer_ns[group],
                 shared_step_ns(&c->price_audit, run, group, tiering(c, o)));
            if (!t->energy_uj) continue;
            struct judged_energy e = energy_of_layer(&c->price_audit, run, group, tiering(c, o),
                                                     p->recompute[RECOMPUTE_SWAP]);
            same(c, "energy", of, o, t->energy_uj[group], e.always_uj);
            same(c, "energy again", of, o, t->again_uj[group], e.again_uj);
            same(c, "energy swapped", of, o, t->swap_uj[group], e.swapped_uj);
        }
    }
    for (int o = 0; o < p->gradient_option_count; o++)
        same(c, "sync", of, o, theirs->sync_ns[o][group],
             layer_sync_ns(&c->price_audit, run, group, p->gradient_options[o].form));
}

static void compare_messages(struct comparison *c, int run, int from, int to, int slice)
{
    const struct priced *p = c->priced;
    const struct priced_cut *cut = &p->cuts[p->runs[run].cut];
    const char *of = layer_name(c, run);
    int at = ((slice * p->group_count + from) * p->group_count + to) * PART_COUNT;
    int64_t parts[PART_COUNT];
    struct sending there = {.run = run, .sender = from, .receiver = to, .slice = slice},
                   back = {.run = run,
                           .sender = to,
                           .receiver = from,
                           .slice = slice,
                           .backward = true};
    bool joined = !exclusion_of(&c->price_audit, from) && !exclusion_of(&c->price_audit, to) &&
                  transfer_price(&c->price_audit, back, parts) &&
                  transfer_price(&c->price_audit, there, parts);
    if ((cut->forward_ns[at] != PRICE_NONE) != joined)
        fail_msg("problem %lld: groups %d and %d are %sjoined for the judge", (long long)c->problem,
                 from, to, joined ? "" : "not ");
    for (int k = 0; k < PART_COUNT && joined; k++)
        same(c, "send forward", of, slice, cut->forward_ns[at + k], parts[k]);
    for (int o = 0; o < p->boundary_option_count; o++) {
        assert_int_equal(cut->backward_ns[o][at] != PRICE_NONE, joined);
        // What is compressed is a whole sequence's message: with several slices nothing is offered.
        if (!joined) continue;
        back.form = p->boundary_options[o].form;
        transfer_price(&c->price_audit, back, parts);
        for (int k = 0; k < PART_COUNT; k++)
            same(c, "send backward", of, o, cut->backward_ns[o][at + k], parts[k]);
    }
}

static void compare_pairs(struct comparison *c)
{
    const struct priced *p = c->priced;
    assert_int_equal(p->has_embedding_sync, c->price_audit.embedding_sync);
    for (int from = 0; from < p->group_count; from++)
        for (int to = 0; to < p->group_count; to++) {
            for (int run = 0; run < p->run_count; run++)
                for (int slice = 0; slice < p->slice_count; slice++)
                    compare_messages(c, run, from, to, slice);
            if (!p->has_embedding_sync || p->groups[from].excluded || p->groups[to].excluded)
                continue;
            int64_t own, theirs = p->embedding_sync_ns[from * p->group_count + to];
            assert_int_equal(theirs != PRICE_NONE,
                             embedding_sync_price(&c->price_audit, from, to, &own));
            if (theirs != PRICE_NONE) same(c, "embedding sync", "the ends", to, theirs, own);
        }
}

static bool too_low(const struct compression_form *form, const struct job *j)
{
    return form->amount && form->method == COMPRESS_LOW_RANK && form->amount < j->budget.rank_min;
}

// The options that both offer are the same, in the same order.
static void compare_options(const struct comparison *c)
{
    const struct priced *p = c->priced;
    const struct job *j = &c->price_audit.problem->job;
    int next = 1;
    assert_int_equal(p->boundary_options[0].form.amount, 0);
    assert_int_equal(p->gradient_options[0].form.amount, 0);
    for (int i = 0; i < j->boundary_option_count; i++) {
        if (too_low(&j->boundary_options[i].form, j)) continue;
        assert_int_equal(p->boundary_options[next].form.amount, j->boundary_options[i].form.amount);
        assert_int_equal(p->boundary_options[next++].epilogue_only,
                         j->boundary_options[i].epilogue_only);
    }
    assert_int_equal(p->boundary_option_count, next);
    next = 1;
    for (int i = -1; i < j->gradient_option_count; i++)
        for (int k = -1; k < j->tier_option_count; k++) {
            static const struct compression_form none;
            const struct compression_form *form = i < 0 ? &none : &j->gradient_options[i].form;
            const struct tier_option *t = k < 0 ? NULL : &j->tier_options[k];
            if ((i < 0 && k < 0) || too_low(form, j)) continue;
            assert_int_equal(p->gradient_options[next].form.method, form->method);
            assert_int_equal(p->gradient_options[next].form.amount, form->amount);
            assert_true(p->gradient_options[next].tier_option == (t ? t->name : NULL));
            assert_true(t || !p->gradient_options[next].activations);
            next++;
        }
    assert_int_equal(p->gradient_option_count, next);
}

// The graph's kinds of operations: both sides have them exactly where the largest price requires
// it.
static void compare_graphs(const struct comparison *c)
{
    struct schedule_request theirs = schedule_request_of(c->priced);
    struct largest_prices largest = largest_prices_of(&c->price_audit);
    bool possible = false;
    for (int g = 0; g < c->priced->group_count; g++)
        possible = possible || !c->priced->groups[g].excluded;
    if (!possible) return;
    assert_int_equal(theirs.epilogue, offers_epilogue(&c->price_audit));
    assert_int_equal(theirs.embedding_sync, c->price_audit.embedding_sync);
    bool sync = largest.sync_ns > 0, optimizer = largest.optimizer_ns > 0;
    for (int g = 0; g < c->priced->group_count && c->priced->local_head_count; g++) {
        optimizer = optimizer || c->priced->local_heads->optimizer_ns[g] > 0;
        for (int o = 0; o < c->priced->gradient_option_count; o++)
            sync = sync || c->priced->local_heads->sync_ns[o][g] > 0;
    }
    assert_int_equal(theirs.sync, sync);
    assert_int_equal(theirs.optimizer, optimizer);
    for (int k = 0; k < PART_COUNT; k++) assert_int_equal(theirs.parts[k], largest.parts_ns[k] > 0);
}

static void compare_local_loss(struct comparison *c)
{
    const struct local_loss *l = &c->price_audit.problem->job.local_loss;
    bool any = c->price_audit.problem->job.layout.local_loss_every > 0;
    same(c, "forward", "local loss", 0, c->priced->local_forward_ns,
         any ? judged_nanoseconds(&c->price_audit, (struct computed){l->forward_s, 0}) : 0);
    same(c, "backward", "local loss", 0, c->priced->local_backward_ns,
         any ? judged_nanoseconds(&c->price_audit, (struct computed){l->backward_s, 0}) : 0);
    same(c, "bytes", "local loss", 0, c->priced->local_bytes, any ? l->bytes : 0);
}

// The head of a stage before a local boundary: as the head of the problem that has it for its own.
static void compare_local_head(const struct comparison *c, struct arena *arena)
{
    const struct problem *problem = c->price_audit.problem;
    int run;
    assert_int_equal(c->priced->local_head_count, job_has_local_head(&problem->job));
    if (!c->priced->local_head_count) return;
    struct problem headed = problem_with_local_head(problem, &run, arena);
    struct priced theirs = *c->priced;
    struct comparison own = {&theirs, price_audit_of(&headed), c->problem, c->count};
    own.price_audit.doubts = c->price_audit.doubts;
    theirs.runs = TAKE_COPY(arena, theirs.runs, theirs.run_count);
    theirs.runs[run] = *theirs.local_heads;
    theirs.runs[run].cut = c->priced->runs[run].cut;
    theirs.boundary_option_count = 0; // no message is sent behind it
    compare_bytes(&own, run);
    for (int g = 0; g < theirs.group_count; g++)
        if (!theirs.groups[g].excluded) compare_times(&own, run, g);
}

void compare_prices(const struct problem *problem, int64_t name, struct price_count *count,
                    struct arena *arena)
{
    struct priced p;
    struct error err = {OK, ""};
    if (price_problem(&p, problem, arena, &err) != OK)
        fail_msg("problem %lld: %s", (long long)name, err.text);
    struct doubts doubts = {0, 0};
    struct comparison c = {&p, price_audit_of(problem), name, count};
    c.price_audit.doubts = &doubts;
    assert_int_equal(p.micro_batches, c.price_audit.micro_batches);
    assert_int_equal(p.devices_per_stage, c.price_audit.devices);
    assert_int_equal(p.stage_count, c.price_audit.stage_count);
    compare_options(&c);
    compare_local_loss(&c);
    compare_local_head(&c, arena);
    compare_groups(&c);
    for (int run = 0; run < p.run_count; run++) {
        compare_bytes(&c, run);
        for (int g = 0; g < p.group_count; g++)
            if (!p.groups[g].excluded) compare_times(&c, run, g);
    }
    compare_pairs(&c);
    compare_graphs(&c);
    assert_int_equal(doubts.sizes, 0);
    count->doubtful += doubts.prices;
}

// ---- a priced problem as one list

static void put(struct numbers *n, const int64_t *items, int count)
{
    memcpy(n->items + n->count, items, (size_t)count * sizeof *items);
    n->count += count;
}

struct numbers numbers_of(const struct check_problem *p, struct arena *arena)
{
    int passes = p->slices * p->group_count, prices = passes * p->group_count * PARTS;
    struct numbers n = {TAKE(arena,
                             p->run_count * (20 + 70 * passes) + p->cut_count * (2 + 70 * prices) +
                                 100 * p->group_count,
                             int64_t),
                        0};
    for (int i = 0; i < p->run_count; i++) {
        const struct check_run *r = &p->runs[i];
        const int64_t bytes[] = {r->weight_bytes, r->gradient_bytes};
        put(&n, bytes, 2), put(&n, r->optimizer_bytes, p->gradient_count), put(&n, r->stash, MODES),
            put(&n, r->working, MODES), put(&n, r->feedback, p->gradient_count);
        put(&n, r->forward, passes), put(&n, r->backward, passes);
        for (int mode = 0; mode < MODES; mode++) {
            if (!r->again[mode]) continue;
            put(&n, r->again[mode], passes);
            for (int k = 0; k < passes; k++) n.items[n.count - passes + k] += r->backward[k];
        }
        put(&n, r->weight, p->group_count);
        for (int o = 0; o < p->gradient_count; o++)
            put(&n, r->optimizer[o], p->group_count), put(&n, r->sync[o], p->group_count);
    }
    for (int c = 0; c < p->cut_count; c++) {
        put(&n, &p->cuts[c].message_bytes, 1), put(&n, p->cuts[c].feedback, p->boundary_count),
            put(&n, p->cuts[c].forward, prices);
        for (int o = 0; o < p->boundary_count; o++) put(&n, p->cuts[c].backward[o], prices);
    }
    for (int g = 0; g < p->group_count; g++) {
        int64_t limit = -p->groups[g].memory_limit; // leans the other way
        put(&n, &limit, 1), put(&n, &p->groups[g].constant_bytes, 1),
            put(&n, p->groups[g].sync_constant, p->gradient_count);
    }
    if (p->embedding) put(&n, p->embedding, p->group_count * p->group_count);
    return n;
}
