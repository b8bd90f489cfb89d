// Links in use and their map: against prices looked up by hand, against all rings of a few nodes,
// and as a drawing.
#include "formulate/price/price.h"
#include "solve/places/placed.h"
#include "solve/report/report.h"
#include "solve/layout/solve.h"
#include "solve/judge/verify.h"
#include "tests/support/check.h"
#include "tests/support/problems.h"

enum { NODES = 6, TRIALS = 60 };

// ---- random problems whose nodes are joined in every way: measured, stated, by levels, by cards;
// one or two device groups per node

static void put_places(struct problem *p, struct random *rng, struct arena *arena)
{
    static const char *const names[NODES] = {"n0", "n<1>", "n\"2\"", "n&3", "n4", "n5"};
    static const struct nic cards[2] = {{NIC_ETHERNET, 2, {3e9, 2e-5}},
                                        {NIC_INFINIBAND, 1, {2e10, 2e-6}}};
    struct cluster *c = &p->cluster;
    struct places *x = &c->places;
    int left = NODES;
    c->name = "<cluster>";
    x->levels = TAKE(arena, 2, struct network_level);
    x->levels[0] = (struct network_level){"rack", {random_chance(rng, 50) ? 1.7e10 : 1e9, 3e-6}};
    x->levels[1] = (struct network_level){"row", {2.2e9, 1.1e-5}};
    x->level_count = 2;
    x->switches = TAKE(arena, 3, const char *);
    x->switches[0] = "rack a", x->switches[1] = "rack b", x->switches[2] = "row";
    x->switch_count = 3;
    x->nodes = TAKE(arena, NODES, struct cluster_node);
    for (int g = 0; g < c->group_count; g++) {
        int most = left - (c->group_count - 1 - g);
        c->groups[g].nodes = g == c->group_count - 1 ? most : (int)random_between(rng, 1, most);
        left -= c->groups[g].nodes;
        c->groups[g].gpus_per_node = p->job.layout.tensor * p->job.layout.context *
                                     (int)random_between(rng, 1, 2);
        c->groups[g].nics = TAKE_COPY(arena, cards, 2);
        c->groups[g].nic_count = (int)random_between(rng, 1, 2);
        for (int i = 0; i < c->groups[g].nodes; i++) {
            struct cluster_node *n = &x->nodes[x->node_count];
            *n = (struct cluster_node){
                .name = names[x->node_count], .group = g, .switches = TAKE(arena, 2, int)};
            n->switches[0] = random_chance(rng, 30) ? -1 : (int)random_between(rng, 0, 1);
            n->switches[1] = random_chance(rng, 70) ? 2 : -1;
            x->node_count++;
        }
    }
    x->measured = TAKE(arena, NODES * NODES, struct link);
    for (int i = 0; i < NODES * NODES; i++)
        if (i / NODES != i % NODES && random_chance(rng, 60))
            x->measured[i] = (struct link){(double)random_between(rng, 1, 40) * 1e8,
                                           (double)random_between(rng, 0, 5) * 1e-6};
}

static void random_placed_problem(struct problem *p, struct random *rng, struct arena *arena)
{
    struct random_limits limits = random_limits_small();
    struct error err = {OK, ""};
    limits.layers_max = 7;
    limits.stages_max = 3;
    limits.groups_max = 2;
    limits.keeps = true;
    do {
        random_problem(p, rng, &limits, arena);
        struct layout *l = &p->job.layout;
        l->zero = l->zero > 1 ? 1 : l->zero;
        l->barrier = true;
        l->fused_embedding_sync = false;
        int data = (int)random_between(rng, 1, NODES / l->pipeline);
        p->job.global_batch = p->job.global_batch / l->data * data;
        l->data = data;
        p->cluster.places = (struct places){0};
        put_places(p, rng, arena);
    } while (p->job.space.given || problem_check(p, &err) != OK ||
             problem_check_places(p, &err) != OK);
}

struct trial {
    struct problem problem;
    struct priced priced;
    struct plan plan;
    struct report_links links;
};

// false: the draw has no plan.
static bool draw_trial(struct trial *t, uint64_t seed, struct arena *arena)
{
    struct random rng = {seed};
    struct solve_result result;
    struct solve_settings settings;
    random_placed_problem(&t->problem, &rng, arena);
    MUST(price_problem(&t->priced, &t->problem, arena, &own_err));
    solve_defaults(&settings);
    settings.progress = 0;
    settings.gap = 0.2;
    MUST(placed_solve(&result, &t->priced, &settings, NULL, NULL, arena, &own_err));
    t->plan = result.plan;
    if (!t->plan.stage_count) return false;
    MUST(report_links_find(&t->links, &t->plan, &t->problem, arena, &own_err));
    return true;
}

// ---- links against prices

static int64_t end_to_end(const int64_t *parts)
{
    int64_t sum = parts[PART_OVERHEAD];
    for (int part = 0; part < PART_COUNT; part++) sum += parts[part];
    return sum;
}

// A message's price is in the table of ordered pairs; if nothing is compressed the shown link
// explains it.
static int check_message(const struct trial *t, const struct report_link *x)
{
    const struct priced *p = &t->priced;
    const struct plan_stage *stage = &t->plan.stages[x->stage];
    int last = stage->first_layer + stage->layer_count - 1,
        cut = p->runs[priced_run_of(p, last)].cut,
        option = t->plan.stages[x->stage + 1].boundary_option;
    bool back = x->use == USE_BACKWARD;
    int ends[2] = {back ? x->to : x->from, back ? x->from : x->to};
    size_t at = ((size_t)ends[0] * NODES + (size_t)ends[1]) * PART_COUNT;
    const int64_t *prices = back ? p->places->cuts[cut].backward_ns[option] + at
                                 : p->places->cuts[cut].forward_ns + at;
    if (back && p->boundary_options[option].epilogue_only)
        prices = p->places->cuts[cut].backward_ns[0] + at;
    assert_int_equal(x->ns, end_to_end(prices));
    if (back || t->problem.job.scattered_messages || p->slice_count > 1 || !x->ns) return 0;
    double ns = 1e9 * ((double)p->cuts[cut].message_bytes / x->link.link.bytes_per_s +
                       x->link.link.latency_s + t->problem.costs.transfer_launch_s.value);
    if (fabs(ns - (double)x->ns) > 6 + 1e9 / x->link.link.bytes_per_s)
        fail_msg("%g ns by the link that is shown, %lld priced", ns, (long long)x->ns);
    return 1;
}

// A stage's sync over a ring whose links all equal the one from `from` to `to`.
static int64_t ring_price(const struct trial *t, int stage, int from, int to)
{
    const struct plan_stage *s = &t->plan.stages[stage];
    const struct plan_placement *x = t->plan.placement;
    struct schedule_request request = plan_request(&t->plan);
    int nodes[NODES * 2];
    for (int r = 0; r < x->replica_count; r++)
        nodes[r] = places_find(&t->problem.cluster.places,
                               x->nodes[r * x->rank_count + schedule_rank_of(&request, stage)]);
    bool leaves = false;
    for (int r = 0; r < x->replica_count; r++) leaves = leaves || nodes[r] != from;
    if (from == to && leaves) return 0;
    size_t offset = priced_ring_offset(t->priced.places, nodes, x->replica_count),
           pair = priced_ring_link(t->priced.places, offset, from, to, t->links.leaving);
    int64_t ns = t->priced.places->ring_constant_ns[s->gradient_option][pair];
    for (int layer = s->first_layer; layer < s->first_layer + s->layer_count; layer++)
        ns += t->priced.places->ring_ns[priced_run_of(&t->priced, layer)][s->gradient_option][pair];
    return ns;
}

static void check_ring(const struct trial *t, int stage)
{
    const struct report_link *bottleneck = report_bottleneck(&t->links, stage);
    int64_t most = 0;
    int count = 0;
    assert_non_null(bottleneck);
    for (int i = 0; i < t->links.count; i++) {
        const struct report_link *x = &t->links.items[i];
        if (x->use != USE_RING || x->stage != stage) continue;
        int64_t ns = ring_price(t, stage, x->from, x->to);
        most = ns > most ? ns : most;
        count++;
    }
    assert_int_equal(count, t->plan.placement->replica_count);
    assert_int_equal(bottleneck->ns, t->plan.stages[stage].sync_ns);
    if (ring_price(t, stage, bottleneck->from, bottleneck->to) < most - most / 1000)
        fail_msg("stage %d: the ring's bottleneck link is another", stage);
}

static int check_links(const struct trial *t, int origins[5])
{
    int explained = 0, messages[LINK_USE_COUNT] = {0};
    for (int i = 0; i < t->links.count; i++) {
        const struct report_link *l = &t->links.items[i];
        messages[l->use]++;
        origins[l->link.origin]++;
        assert_true(report_share(l) > 0 && report_share(l) <= 1);
        if (l->use == USE_FORWARD || l->use == USE_BACKWARD) explained += check_message(t, l);
    }
    if (t->plan.layout.virtual_stages == 1)
        assert_int_equal(messages[USE_FORWARD],
                         (t->plan.stage_count - 1) * t->plan.placement->replica_count);
    bool compressed = t->priced.gradient_option_count > 1;
    for (int stage = 0;
         stage < t->plan.stage_count && t->plan.placement->replica_count > 1 && !compressed;
         stage++)
        check_ring(t, stage);
    return explained;
}

// A replica's claimed message times are judged: any of them made slightly longer is refused.
static bool check_judged(struct trial *t, struct arena *arena)
{
    struct plan_placement *x = t->plan.placement;
    struct verdict verdict;
    if (t->plan.stage_count < 2) return false;
    int at = (x->replica_count - 1) * t->plan.stage_count;
    MUST(verify_plan(&verdict, &t->plan, &t->problem, arena, &own_err));
    if (!verdict.accepted)
        fail_msg("%s: %s", verdict.violations[0].rule, verdict.violations[0].text);
    x->send_backward_ns[at] += 1000;
    MUST(verify_plan(&verdict, &t->plan, &t->problem, arena, &own_err));
    x->send_backward_ns[at] -= 1000;
    assert_false(verdict.accepted);
    assert_non_null(strstr(verdict.violations[0].text, "send_backward_ns"));
    return true;
}

// ---- the best ring's bound

static double best_cycle(const struct problem *p, int *order, int at, int wanted, bool *used)
{
    double best = 0;
    if (at == wanted) {
        best = INFINITY;
        for (int i = 0; i < wanted; i++) {
            struct place_link l;
            if (!places_used_link(&l, p, order[i], order[(i + 1) % wanted], true)) return 0;
            best = fmin(best, l.link.bytes_per_s);
        }
        return best;
    }
    for (int node = 0; node < NODES; node++) {
        if (used[node]) continue;
        used[node] = true;
        order[at] = node;
        best = fmax(best, best_cycle(p, order, at + 1, wanted, used));
        used[node] = false;
    }
    return best;
}

// Whether the bound was compared, and whether it is reached.
static bool check_best_ring(const struct trial *t, bool *reached)
{
    bool used[NODES] = {false};
    int order[NODES];
    if (t->plan.placement->replica_count < 2) return false;
    for (int i = 0; i < NODES; i++)
        if (places_slots(&t->links.problem, i) != 1) return false;
    double best = best_cycle(&t->links.problem, order, 0, t->plan.placement->replica_count, used);
    assert_true(t->links.best_ring_bytes_per_s >= best);
    *reached = t->links.best_ring_bytes_per_s == best;
    return true;
}

// ---- the map

// Every opened element is closed, in order; markup characters appear only as entities.
static void assert_well_formed(const char *text)
{
    static const char *const known[] = {"svg",    "title", "rect", "line",
                                        "circle", "path",  "text", "g"};
    const char *open[32];
    int depth = 0;
    for (const char *at = text; (at = strchr(at, '&')); at++)
        assert_true(!strncmp(at, "&lt;", 4) || !strncmp(at, "&gt;", 4) ||
                    !strncmp(at, "&amp;", 5) || !strncmp(at, "&quot;", 6));
    for (const char *at = text; (at = strchr(at, '<')); at++) {
        bool closes = at[1] == '/', found = false;
        const char *name = at + 1 + closes, *end = strchr(at, '>');
        size_t length = strcspn(name, " />");
        assert_non_null(end);
        for (size_t k = 0; k < ARRAY_LENGTH(known); k++)
            found = found || (strlen(known[k]) == length && !strncmp(known[k], name, length));
        if (!found) fail_msg("an element of its own: %.20s", at);
        if (closes) {
            assert_true(depth > 0 && !strncmp(open[depth - 1], name, length));
            depth--;
        } else if (end[-1] != '/') {
            assert_true(depth < 32);
            open[depth++] = name;
        }
    }
    assert_int_equal(depth, 0);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf\""));
}

static int count_of(const char *from, const char *to, const char *what)
{
    int count = 0;
    for (const char *at = from; (at = strstr(at, what)) && at < to; at++) count++;
    return count;
}

// The group's text, up to what follows it.
static const char *group_of(const char *text, const char *title, const char *behind,
                            const char **end)
{
    const char *from = strstr(text, title);
    assert_non_null(from);
    *end = behind ? strstr(from, behind) : from + strlen(from);
    assert_non_null(*end);
    return from;
}

static void check_map(const struct trial *t, bool by_plan, struct arena *arena)
{
    const char *text, *end;
    struct text out, again;
    text_begin(&out, arena);
    text_begin(&again, arena);
    report_heatmap(&out, &t->links, by_plan);
    report_heatmap(&again, &t->links, by_plan);
    text = out.text;
    assert_int_equal(out.length, again.length);
    assert_memory_equal(text, again.text, out.length);
    assert_well_formed(text);
    const char *cells =
        group_of(text, "<title>links</title>", "<title>what the plan sends</title>", &end);
    assert_int_equal(count_of(cells, end, "<rect x=\"") - count_of(cells, end, "fill=\"none\""),
                     NODES * NODES);
    assert_true(count_of(cells, end, "</title></rect>") == NODES * NODES);
    int marks = 0;
    for (int i = 0; i < t->links.count; i++) {
        bool first = true;
        for (int k = 0; k < i; k++)
            first = first && !(t->links.items[k].use == t->links.items[i].use &&
                               t->links.items[k].from == t->links.items[i].from &&
                               t->links.items[k].to == t->links.items[i].to);
        marks += first;
    }
    const char *sent =
        group_of(text, "<title>what the plan sends</title>", "GB/s of one message", &end);
    assert_int_equal(count_of(sent, end, "<g><title>"), marks);
    // Every transfer and every ring link is named.
    int named = count_of(sent, end, "forward, replica") + count_of(sent, end, "back, replica") +
                count_of(sent, end, "ring of stage") + count_of(sent, end, "embedding sync of");
    assert_int_equal(named, t->links.count);
}

TEST(test_plans)
{
    int plans = 0, explained = 0, compared = 0, tight = 0, judged = 0, origins[5] = {0};
    struct arena_mark mark = arena_set_mark(arena);
    for (int trial = 0; trial < TRIALS; trial++, arena_reset(arena, mark)) {
        struct trial t;
        bool reached = false;
        if (draw_trial(&t, (uint64_t)trial + 1, arena)) {
            explained += check_links(&t, origins);
            judged += check_judged(&t, arena);
            compared += check_best_ring(&t, &reached);
            tight += reached;
            check_map(&t, plans % 2, arena);
            plans++;
        }
    }
    printf("%d plans, %d messages explained by their links; measured %d, stated %d, level %d, "
           "cards %d, inside %d; %d bounds on rings, %d of them reached\n",
           plans, explained, origins[PLACE_MEASURED], origins[PLACE_STATED], origins[PLACE_LEVEL],
           origins[PLACE_CARDS], origins[PLACE_INSIDE], compared, tight);
    assert_true(plans > TRIALS / 3 && explained > TRIALS && origins[PLACE_MEASURED] &&
                origins[PLACE_LEVEL] && origins[PLACE_CARDS] && origins[PLACE_INSIDE]);
    assert_true(judged > TRIALS / 6 && compared > 2 && tight * 2 > compared);
}
