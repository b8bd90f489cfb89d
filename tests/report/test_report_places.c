// Launch files of a placed plan against the rank orders written out by hand, and random ones
// against their definition.
#include "solve/report/report.h"
#include "tests/support/check.h"

// Two replicas of two ranks of two devices: replica 0 on a and b, replica 1 on c and d; or on nodes
// that hold two groups.
static const char *launch(const char *const nodes[4], enum launch_format format,
                          enum rank_order order, enum status want)
{
    struct plan_placement placement = {
        .replica_count = 2, .rank_count = 2, .nodes = (const char **)(uintptr_t)nodes};
    struct plan plan = {.document = {.path = "plan.json"},
                        .layout = {LAYOUT_PLAIN(2), .tensor = 2, .context = 1, .data = 2},
                        .placement = &placement};
    struct error err = {OK, ""};
    struct text out;
    text_begin(&out, &own_arena);
    assert_int_equal(
        report_launch(
            &out, &plan,
            &(struct launch_request){.format = format, .order = order, .cores_per_rank = 1}, &err),
        want);
    return want == OK ? out.text : arena_copy_text(&own_arena, err.text);
}

TEST(test_orders)
{
    static const char *const apart[4] = {"a", "b", "c", "d"}, *const together[4] = {"a", "b", "a",
                                                                                    "b"};
    // rank = t + 2 (d + 2 p), and t + 2 (p + 2 d)
    assert_string_equal(launch(apart, LAUNCH_HOSTFILE, RANK_ORDER_DATA_FIRST, OK),
                        "a\na\nc\nc\nb\nb\nd\nd\n");
    assert_string_equal(launch(apart, LAUNCH_HOSTFILE, RANK_ORDER_PIPELINE_FIRST, OK),
                        "a\na\nb\nb\nc\nc\nd\nd\n");
    assert_string_equal(launch(apart, LAUNCH_HOSTS, RANK_ORDER_DATA_FIRST, OK),
                        "a slots=2\nc slots=2\nb slots=2\nd slots=2\n");
    assert_string_equal(launch(together, LAUNCH_HOSTS, RANK_ORDER_DATA_FIRST, OK),
                        "a slots=4\nb slots=4\n");
    assert_string_equal(launch(together, LAUNCH_RANKFILE, RANK_ORDER_PIPELINE_FIRST, OK),
                        "rank 0=a slot=0\nrank 1=a slot=1\nrank 2=b slot=0\nrank 3=b slot=1\nrank "
                        "4=a slot=2\nrank 5=a slot=3\nrank 6=b slot=2\nrank 7=b slot=3\n");
    assert_non_null(strstr(launch(together, LAUNCH_HOSTS, RANK_ORDER_PIPELINE_FIRST, BAD_INPUT),
                           "those of 'a' are not consecutive"));
}

// ---- random placements against the rank orders' own words

static uint64_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

struct drawn {
    struct plan plan;
    struct plan_placement placement;
    struct plan_stage stages[8];
    const char *nodes[64];
    int rings[64];
    bool one_ring;
};

// Groups of devices on nodes with room for one to three, in any order; stages wind round the ranks
// once or twice.
static void draw(struct drawn *x, uint64_t *rng)
{
    static const char *const names[] = {"n0", "n1", "n2",  "n3",  "n4",  "n5",  "n6",  "n7",
                                        "n8", "n9", "n10", "n11", "n12", "n13", "n14", "n15"};
    int ranks = 1 + (int)(next(rng) % 4), replicas = 1 + (int)(next(rng) % 4),
        room = 1 + (int)(next(rng) % 3), groups = ranks * replicas,
        chunks = 1 + (int)(next(rng) % 2);
    *x = (struct drawn){.one_ring = next(rng) % 2};
    x->placement = (struct plan_placement){
        .replica_count = replicas, .rank_count = ranks, .nodes = x->nodes, .rings = x->rings};
    x->plan = (struct plan){.document = {.path = "plan.json"},
                            .stages = x->stages,
                            .stage_count = ranks * chunks,
                            .placement = &x->placement,
                            .layout = {LAYOUT_PLAIN(ranks), .tensor = 1 + (int)(next(rng) % 3),
                                       .context = 1 + (int)(next(rng) % 2), .data = replicas}};
    x->plan.layout.virtual_stages = chunks;
    for (int i = 0; i < groups; i++) x->nodes[i] = names[i / room];
    for (int i = groups - 1; i > 0 && next(rng) % 4; i--) {
        int k = (int)(next(rng) % (uint64_t)(i + 1));
        const char *kept = x->nodes[i];
        x->nodes[i] = x->nodes[k], x->nodes[k] = kept;
    }
    for (int s = 0; s < x->plan.stage_count; s++) {
        x->stages[s].sync_ns = (int64_t)(next(rng) % 100);
        int *ring = x->rings + s * replicas;
        for (int i = 0; i < replicas; i++) ring[i] = x->one_ring && s ? x->rings[i] : i;
        for (int i = replicas - 1; i > 0 && !(x->one_ring && s); i--) {
            int k = (int)(next(rng) % (uint64_t)(i + 1)), kept = ring[i];
            ring[i] = ring[k], ring[k] = kept;
        }
    }
}

// Megatron-LM's generator of ranks: the first word of the order varies fastest.
static int64_t global_rank(const char *order, const struct layout *l, int t, int c, int d, int p)
{
    int64_t rank = 0, stride = 1;
    for (const char *word = order; *word; word += strcspn(word, "-"), word += *word == '-') {
        int size = 1, at = 0;
        if (!strncmp(word, "tp", 2)) size = l->tensor, at = t;
        if (!strncmp(word, "cp", 2)) size = l->context, at = c;
        if (!strncmp(word, "dp", 2)) size = l->data, at = d;
        if (!strncmp(word, "pp", 2)) size = l->pipeline, at = p;
        rank += stride * at;
        stride *= size;
    }
    return rank;
}

enum { RANKS_MAX = 256 };

// Hosts of all ranks by that definition; order: as given by --rank-order, with the context ranks
// that tp-pp-dp does not mention.
static int hosts_by_definition(const struct drawn *x, enum rank_order order, const int *replica,
                               const char **hosts)
{
    const struct layout *l = &x->plan.layout;
    const char *words = order == RANK_ORDER_DATA_FIRST ? "tp-cp-ep-dp-pp" : "tp-cp-ep-pp-dp";
    for (int t = 0; t < l->tensor; t++)
        for (int c = 0; c < l->context; c++)
            for (int d = 0; d < l->data; d++)
                for (int p = 0; p < l->pipeline; p++)
                    hosts[global_rank(words, l, t, c, d, p)] =
                        x->nodes[replica[d] * l->pipeline + p];
    return l->tensor * l->context * l->data * l->pipeline;
}

// The replicas of the data-parallel ranks: each once, in the order of a ring of the plan; of all
// rings, if they are equal.
static void check_data_ranks(const struct drawn *x, const int *replica)
{
    int count = x->placement.replica_count, launched = 0;
    unsigned seen = 0;
    for (int d = 0; d < count; d++) seen |= 1u << replica[d];
    assert_int_equal(seen, (1u << count) - 1);
    for (int s = 0; s < x->plan.stage_count; s++) {
        bool alike = false;
        for (int turn = 0; turn < count; turn++) {
            bool same = true;
            for (int d = 0; d < count; d++)
                same = same && x->rings[s * count + (turn + d) % count] == replica[d];
            alike = alike || same;
        }
        assert_int_equal(alike, report_ring_is_launched(&x->plan, s, replica));
        launched += alike;
    }
    assert_true(x->one_ring ? launched == x->plan.stage_count : launched > 0);
}

static bool check_hosts(const struct drawn *x, enum rank_order order, const char *const *hosts,
                        int ranks)
{
    struct error err = {OK, ""};
    struct text out;
    bool together = true;
    text_begin(&out, &own_arena);
    for (int i = 0; i < ranks; i++)
        for (int k = 0; k + 1 < i; k++)
            together = together && (strcmp(hosts[k], hosts[i]) || !strcmp(hosts[i - 1], hosts[i]));
    enum status status = report_launch(
        &out, &x->plan,
        &(struct launch_request){.format = LAUNCH_HOSTS, .order = order, .cores_per_rank = 1},
        &err);
    const char *text = out.text;
    assert_int_equal(status, together ? OK : BAD_INPUT);
    for (int at = 0; together && at < ranks;) { // a launcher that fills hosts in turn
        char host[8];
        int slots, used;
        assert_int_equal(sscanf(text, "%7s slots=%d\n%n", host, &slots, &used), 2);
        text += used;
        for (int i = 0; i < slots; i++) assert_string_equal(hosts[at++], host);
    }
    return together;
}

static void check_rankfile(const struct drawn *x, enum rank_order order, const char *const *hosts,
                           int ranks)
{
    struct text out;
    text_begin(&out, &own_arena);
    assert_int_equal(report_launch(&out, &x->plan,
                                   &(struct launch_request){.format = LAUNCH_RANKFILE,
                                                            .order = order,
                                                            .cores_per_rank = 5},
                                   &own_err),
                     OK);
    const char *text = out.text;
    for (int i = 0; i < ranks; i++) {
        char host[8];
        int rank, first, last, used, before = 0;
        assert_int_equal(
            sscanf(text, "rank %d=%7[^ ] slot=%d-%d\n%n", &rank, host, &first, &last, &used), 4);
        for (int k = 0; k < i; k++) before += !strcmp(hosts[k], hosts[i]);
        assert_int_equal(rank, i);
        assert_string_equal(host, hosts[i]);
        assert_int_equal(first, 5 * before);
        assert_int_equal(last, first + 4);
        text += used;
    }
    assert_string_equal(text, "");
}

static void check_hostfile(const struct drawn *x, enum rank_order order, const char *const *hosts,
                           int ranks)
{
    const char *lines = "";
    struct text out;
    text_begin(&out, &own_arena);
    for (int i = 0; i < ranks; i++) lines = arena_print(&own_arena, "%s%s\n", lines, hosts[i]);
    assert_int_equal(report_launch(&out, &x->plan,
                                   &(struct launch_request){.format = LAUNCH_HOSTFILE,
                                                            .order = order,
                                                            .cores_per_rank = 1},
                                   &own_err),
                     OK);
    assert_string_equal(out.text, lines);
}

TEST(test_by_definition)
{
    uint64_t rng = 7;
    int together = 0, apart = 0;
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (int trial = 0; trial < 300; trial++, arena_reset(&own_arena, mark)) {
        struct drawn x;
        const char *hosts[RANKS_MAX];
        draw(&x, &rng);
        const int *replica = report_data_ranks(&x.plan, &own_arena);
        check_data_ranks(&x, replica);
        for (int order = 0; order < 2; order++) {
            int ranks = hosts_by_definition(&x, (enum rank_order)order, replica, hosts);
            check_hostfile(&x, (enum rank_order)order, hosts, ranks);
            check_rankfile(&x, (enum rank_order)order, hosts, ranks);
            *(check_hosts(&x, (enum rank_order)order, hosts, ranks) ? &together : &apart) += 1;
        }
    }
    assert_true(together > 50 && apart > 50);
}

TEST(test_without_placement)
{
    struct plan plan = {.document = {.path = "plan.json"}, .stage_count = 1};
    struct text out;
    text_begin(&out, arena);
    assert_int_equal(
        report_launch(&out, &plan,
                      &(struct launch_request){.format = LAUNCH_HOSTFILE, .cores_per_rank = 1},
                      &err),
        BAD_INPUT);
    assert_non_null(strstr(err.text, "plan.json: its problem is missing"));
}
