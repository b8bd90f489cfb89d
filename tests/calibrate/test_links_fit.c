// Links: planted protocols, rates, delays and faults are recovered from noisy samples, by name;
// tables and clusters agree.
#include "calibrate/calibrate.h"
#include "data/places/places.h"
#include "tests/support/check.h"

enum { HOSTS = 3, PER_HOST = 2, ENDPOINTS = HOSTS * PER_HOST, SIZES = 21, REPETITIONS = 11 };

static double draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static void near_to(double got, double want, double share)
{
    if (!(fabs(got - want) <= share * want))
        fail_msg("got %.6g, want %.6g within %.0f %%", got, want, 100 * share);
}

// What is planted for one ordered pair: eager up to 16 KiB, then another protocol with a longer
// start and a higher rate.
struct planted {
    double eager_s, eager_rate, late_s, rate;
};
static const double change_bytes = 16384;

static struct planted planted_of(int from, int to)
{
    bool near = from / PER_HOST == to / PER_HOST;
    struct planted p = near ? (struct planted){3e-6, 4e9, 9e-6, 40e9}
                            : (struct planted){15e-6, 1e9, 40e-6, 10e9};
    if (from == 1 && to == 2) p.rate = 6e9;      // slow in one direction alone
    if (from == 0 && to == 5) p.eager_s = 45e-6; // late in one direction alone
    return p;
}

static double planted_seconds(struct planted p, double bytes)
{
    return bytes <= change_bytes ? p.eager_s + bytes / p.eager_rate : p.late_s + bytes / p.rate;
}

// Heavy-tailed: mostly within 1 %, now and then a good deal later.
static double noise(uint64_t *seed)
{
    return 1 + 0.02 * (draw(seed) - 0.5) + (draw(seed) < 0.08 ? draw(seed) : 0);
}

static struct sample sample_of(enum sample_kind kind, const char *operation, double bytes,
                               double seconds, uint64_t *seed, struct arena *arena)
{
    struct sample s = {.kind = kind,
                       .operation = operation,
                       .dimensions = {(int64_t)bytes},
                       .dimension_count = 1,
                       .precision = FP32,
                       .bytes = bytes,
                       .from = -1,
                       .to = -1,
                       .repetitions = REPETITIONS,
                       .stopped_by = "count",
                       .seconds = TAKE(arena, REPETITIONS, double)};
    for (int i = 0; i < REPETITIONS; i++) s.seconds[i] = seconds * noise(seed);
    return s;
}

static void put_links(struct samples *samples, uint64_t seed, struct arena *arena)
{
    *samples = (struct samples){.machine = {.gpu = "G"},
                                .document = {.path = "links.json"},
                                .endpoints = TAKE(arena, ENDPOINTS, struct endpoint),
                                .endpoint_count = ENDPOINTS,
                                .samples = TAKE(arena, 4000, struct sample)};
    memcpy(samples->document.sha256, "aabbccddeeff", 13);
    for (int e = 0; e < ENDPOINTS; e++)
        samples->endpoints[e] =
            (struct endpoint){.name = arena_print(arena, "h%d:%d", e / PER_HOST, e % PER_HOST),
                              .host = arena_print(arena, "h%d", e / PER_HOST),
                              .device = e % PER_HOST};
    for (int size = 0; size < SIZES; size++)
        for (int from = 0; from < ENDPOINTS; from++)
            for (int to = 0; to < ENDPOINTS; to++) {
                if (from == to) continue;
                double bytes = 64 * pow(2, size),
                       seconds = planted_seconds(planted_of(from, to), bytes);
                struct sample *s = &samples->samples[samples->sample_count++];
                *s = sample_of(SAMPLE_LINK, "send", bytes, seconds, &seed, arena);
                s->from = from, s->to = to;
                if (size % 5 || from != 0) continue; // some once more, alone: 20 % faster
                s = &samples->samples[samples->sample_count++];
                *s = sample_of(SAMPLE_LINK, "send", bytes, seconds / 1.2, &seed, arena);
                s->from = from, s->to = to, s->alone = true;
            }
    static int members[4] = {0, 2, 4, 1};
    for (int size = 0; size < 12; size++) {
        double bytes = 1024 * pow(2, size);
        struct sample *s = &samples->samples[samples->sample_count++];
        *s = sample_of(SAMPLE_COLLECTIVE, "all_reduce", bytes, 100e-6 + bytes / 5e9, &seed, arena);
        s->members = members, s->member_count = 4;
    }
}

static void fit(struct calibration *c, struct samples *samples, struct arena *arena)
{
    struct inputs *in = TAKE(arena, 1, struct inputs);
    const struct calibrate_settings settings = {.output = "costs.json"};
    if (inputs_join(in, samples, 1, NULL, arena, &own_err) != OK ||
        calibrate(c, in, &settings, arena, &own_err) != OK)
        fail_msg("%s", own_err.text);
}

static const struct channel *find_channel(const struct link_fits *f, int from, int to)
{
    for (int i = 0; i < f->channel_count; i++)
        if (f->channels[i].from == from && f->channels[i].to == to) return &f->channels[i];
    return NULL;
}

TEST(test_pairs)
{
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= 10; seed++, arena_reset(arena, mark)) {
        struct samples samples;
        struct calibration c;
        put_links(&samples, seed, arena);
        fit(&c, &samples, arena);
        assert_int_equal(c.links.class_count, 3);
        for (int from = 0; from < ENDPOINTS; from++)
            for (int to = 0; to < ENDPOINTS; to++) {
                if (from == to) continue;
                const struct channel *l = find_channel(&c.links, from, to);
                struct planted p = planted_of(from, to);
                assert_non_null(l);
                assert_int_equal(l->between_nodes, from / PER_HOST != to / PER_HOST);
                assert_int_equal(l->fit.point_count, SIZES); // those alone are not among them
                near_to(segmented_latency(&l->fit).value, p.eager_s, 0.05);
                near_to(segmented_rate(&l->fit).value, p.rate, 0.02);
                assert_int_equal(l->slow, from == 1 && to == 2);
                assert_int_equal(l->late, from == 0 && to == 5);
                assert_int_equal(l->asymmetric, (from == 1 && to == 2) || (from == 0 && to == 5));
                // The one change, between the size below and the size above it.
                if (l->fit.segment_count != 2)
                    fail_msg("%s: %d segments", l->fit.name, l->fit.segment_count);
                assert_true(l->fit.segments[1].from_bytes > change_bytes &&
                            l->fit.segments[1].from_bytes <= 2 * change_bytes);
            }
        for (int k = 0; k < c.links.class_count; k++) {
            const struct channel_class *class = &c.links.classes[k];
            if (class->pairs) near_to(class->contention, 1.2, 0.03);
            else assert_true(class->contention == 0 && class->ranks == 4 && class->between_nodes);
            assert_non_null(strstr(class->source, "aabbccddeeff"));
        }
    }
}

// Without noise, and where the lines meet: one line stays one, however many sizes.
TEST(test_no_needless_segments)
{
    int needless = 0;
    struct arena_mark mark = arena_set_mark(arena);
    for (uint64_t seed = 1; seed <= 300; seed++, arena_reset(arena, mark)) {
        uint64_t s = seed;
        struct fit_point points[24];
        for (int i = 0; i < 24; i++) {
            double bytes = pow(2, i), seconds = 20e-6 + bytes / 12e9;
            struct sample sample = sample_of(SAMPLE_LINK, "send", bytes, seconds, &s, arena);
            CHECK_OK(point_of_sample(&points[i], &sample, bytes, "links.json", i, arena, &err));
            points[i].sample = NULL;
        }
        struct segmented f;
        CHECK_OK(fit_segments(&f, "one line", points, 24, arena, &err));
        needless += f.segment_count > 1;
    }
    if (needless > 3) fail_msg("%d of 300 single lines were cut", needless);
}

// Three protocols that jump down as well as up; the programme's choice is compared with all pairs
// of cuts, by their definition.
static double chi_of(const struct fit_point *points, int first, int last)
{
    double best =
        INFINITY; // least squares by a fine search over the slope; the rest in closed form
    for (int step = 0; step <= 20000; step++) {
        double slope = step * 1e-14, w = 0, y = 0, chi = 0;
        for (int i = first; i <= last; i++)
            w += pow(points[i].seconds, -2),
                y += pow(points[i].seconds, -2) * (points[i].seconds - slope * points[i].work);
        y /= w;
        for (int i = first; i <= last; i++)
            chi += pow(
                (points[i].seconds - y - slope * points[i].work) / (0.01 * points[i].seconds), 2);
        best = fmin(best, chi);
    }
    return best;
}

TEST(test_three_protocols)
{
    enum { POINTS = 15 };
    uint64_t seed = 5;
    struct fit_point points[POINTS];
    struct segmented f;
    for (int i = 0; i < POINTS; i++) {
        double bytes = 1e4 * (i + 1), seconds = i < 5   ? 10e-6 + bytes * 1e-10
                                                : i < 9 ? 40e-6 + bytes * 0.5e-10
                                                        : 25e-6 + bytes * 1.5e-10;
        seconds *= 1 + 0.01 * (draw(&seed) - 0.5);
        points[i] = (struct fit_point){.operation = "send",
                                       .work = bytes,
                                       .seconds = seconds,
                                       .low = seconds,
                                       .high = seconds};
    }
    CHECK_OK(fit_segments(&f, "three", points, POINTS, arena, &err));
    assert_int_equal(f.segment_count, 3);
    double least = INFINITY;
    int cuts[2] = {0, 0};
    for (int a = 3; a <= POINTS - 6; a++)
        for (int b = a + 3; b <= POINTS - 3; b++) {
            double chi = chi_of(points, 0, a - 1) + chi_of(points, a, b - 1) +
                         chi_of(points, b, POINTS - 1);
            if (chi < least) least = chi, cuts[0] = a, cuts[1] = b;
        }
    assert_int_equal(f.segments[1].first, cuts[0]);
    assert_int_equal(f.segments[2].first, cuts[1]);
    assert_true(cuts[0] == 5 && cuts[1] == 9);
}

// ---- costs and cluster

TEST(test_tables)
{
    struct samples samples;
    struct calibration c;
    put_links(&samples, 3, arena);
    fit(&c, &samples, arena);
    CHECK_OK(costs_check(&c.costs, &err));
    assert_int_equal(c.costs.gpu_count, 0); // no compute was measured
    assert_non_null(c.lacking);
    assert_int_equal(c.costs.collective_count, 3);
    for (int i = 0; i < 3; i++) {
        const struct collective_times *t = &c.costs.collectives[i];
        const struct segment *last = &t->segments[t->segment_count - 1];
        near_to(last->bytes_per_s.value, !t->send ? 5e9 : t->between_nodes ? 10e9 : 40e9, 0.02);
        near_to(t->segments[0].seconds.value,
                !t->send           ? 100e-6
                : t->between_nodes ? 15e-6
                                   : 3e-6,
                0.05);
        assert_true(last->bytes_per_s.origin == ORIGIN_FITTED &&
                    last->bytes_per_s.valid_high > 1e6);
        if (t->send && t->between_nodes)
            assert_true(last->bytes_per_s.low <= 6.1e9); // the slowest pair is within the spread
    }
}

TEST(test_cluster)
{
    struct samples samples;
    struct calibration c;
    put_links(&samples, 4, arena);
    fit(&c, &samples, arena);
    struct nic nic = {NIC_ROCE, 1, {12.5e9, 1e-3}};
    struct node_group group = {.name = "g",
                               .gpu = "G",
                               .nodes = HOSTS,
                               .gpus_per_node = PER_HOST,
                               .memory_bytes = 1 << 30,
                               .intra = {50e9, 1e-3},
                               .nics = &nic,
                               .nic_count = 1};
    struct cluster cluster = {
        .name = "three", .groups = &group, .group_count = 1, .document = {.path = "cluster.json"}};
    CHECK_OK(links_to_cluster(&cluster, &c.costs, &c.links, "G", arena, &err));
    near_to(group.intra.latency_s, 3e-6, 0.05);
    near_to(nic.link.latency_s, 15e-6, 0.05);
    near_to(c.costs.intra_efficiency.value, 0.8, 0.02);
    near_to(c.costs.network_efficiency[NIC_ROCE].value, 0.8, 0.02);
    assert_true(group.intra.bytes_per_s == 50e9 &&
                nic.link.bytes_per_s == 12.5e9); // nominal stays nominal
    assert_int_equal(cluster.places.node_count, HOSTS);
    int a = places_find(&cluster.places, "h0"), b = places_find(&cluster.places, "h1");
    near_to(cluster.places.measured[a * HOSTS + b].bytes_per_s, 10e9,
            0.03); // one slow pair of four is not the nodes'
    group.gpu = "another";
    assert_int_equal(links_to_cluster(&cluster, &c.costs, &c.links, "G", arena, &err), BAD_INPUT);
}

// Documents of links take the device's name from those that measured it; endpoints of one name are
// one; two devices need a name.
TEST(test_several_documents)
{
    struct samples documents[3];
    struct inputs in;
    put_links(&documents[0], 5, arena);
    put_links(&documents[1], 6, arena);
    documents[0].machine.gpu = "some host";
    documents[2] = (struct samples){.machine = {.gpu = "G"}, .document = {.path = "memory.json"}};
    static double bytes[] = {5e8, 6e8, 7e8};
    static double library_bytes[] = {3e7, 5e7}, workspace_bytes[] = {2e7};
    static struct quantity seen[] = {{"context_bytes", bytes, 3},
                                     {"library_bytes", library_bytes, 2},
                                     {"workspace_bytes", workspace_bytes, 1}};
    documents[2].quantities = seen, documents[2].quantity_count = 3;
    CHECK_OK(inputs_join(&in, documents, 3, NULL, arena, &err));
    assert_string_equal(in.all.machine.gpu, "G");
    assert_int_equal(in.all.endpoint_count, ENDPOINTS);
    assert_int_equal(in.all.sample_count, documents[0].sample_count + documents[1].sample_count);
    struct calibration c;
    struct precision_costs rates = {
        .precision = FP32,
        .gemm_flop_per_s = {1e12, 1e12, 1e12, ORIGIN_PUBLISHED, "sheet", 0, 0},
        .attention_flop_per_s = {1e12, 1e12, 1e12, ORIGIN_PUBLISHED, "sheet", 0, 0}};
    struct gpu_costs known = {
        .gpu = "G",
        .precisions = &rates,
        .precision_count = 1,
        .memory_bytes_per_s = {1e11, 1e11, 1e11, ORIGIN_PUBLISHED, "sheet", 0, 0}};
    struct costs base = {.name = "base",
                         .document = {.path = "base.json"},
                         .gpus = &known,
                         .gpu_count = 1,
                         .transfer_share = {0, 0, 1}};
    const struct calibrate_settings settings = {.output = "costs.json", .base = &base};
    CHECK_OK(calibrate(&c, &in, &settings, arena, &err));
    assert_null(c.lacking);
    assert_true(c.costs.gpu_count == 1 && c.costs.collective_count == 3 &&
                c.costs.document.source_count == 4);
    const struct gpu_costs *g = &c.costs.gpus[0];
    assert_true(g->constant_bytes.value == 6.2e8 && g->constant_bytes.low == 5.1e8 &&
                g->constant_bytes.high == 7.3e8 && g->constant_bytes.origin == ORIGIN_MEASURED);
    assert_true(g->library_bytes.value == 2e7 &&
                g->library_bytes.origin == ORIGIN_MEASURED); // memory inside the allocator
    assert_true(g->memory_bytes_per_s.value == 1e11 &&
                g->memory_bytes_per_s.origin == ORIGIN_PUBLISHED);
    assert_true(g->precision_count == 1 && known.precision_count == 1 &&
                known.constant_bytes.value == 0); // the base is as before
    assert_true(c.links.channels[0].fit.point_count == 2 * SIZES);
    documents[1].machine.gpu = "other", documents[1].samples[0].kind = SAMPLE_MEMORY;
    assert_int_equal(inputs_join(&in, documents, 3, NULL, arena, &err), BAD_INPUT);
    CHECK_OK(inputs_join(&in, documents, 3, "both", arena, &err));
    // A processor's time with one thread says nothing about two; a device's host may have any
    // number.
    documents[2].machine.threads = documents[1].machine.threads + 1;
    CHECK_REFUSED(inputs_join(&in, documents, 3, "both", arena, &err), "machine.threads");
    documents[2].machine.driver = "12.4";
    CHECK_OK(inputs_join(&in, documents, 3, "both", arena, &err));
}
