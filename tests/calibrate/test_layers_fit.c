// Whole layers against their kernels: a planted factor and overhead are recovered, and the result
// is what pricing gives for the layer; layers of another shape are left alone, unless they state it
// and the model's own were not measured. Weight gradients may have a traffic of their own. Drawings
// are well-formed, without scripts and reproducible, whatever names files contain.
#include <unistd.h>

#include "calibrate/calibrate.h"
#include "formulate/price/price.h"
#include "tests/support/check.h"
#include "tests/support/draws/samples.h"

enum { CELLS = 60 };
static const double gemm = 9e10, attention = 4e10, memory = 8e9, factor = 1.13, overhead = 4e-4,
                    back_factor = 1.31, back_overhead = 9e-4;

static struct layer_run runs[] = {
    {.name = "embedding", .kind = LAYER_EMBEDDING, .count = 1},
    {.name = "block", .kind = LAYER_BLOCK, .count = 4},
    {.name = "head", .kind = LAYER_HEAD, .count = 1},
};
static const struct model model = {.name = "small",
                                   .has_shape = true,
                                   .runs = runs,
                                   .run_count = 3,
                                   .layer_count = 6,
                                   .shape = {.hidden = 256,
                                             .ffn = 1024,
                                             .heads = 4,
                                             .kv_heads = 2,
                                             .head_width = 64,
                                             .vocabulary = 2048,
                                             .vocabulary_multiple = 1}};

static void near_to(double got, double want, double share)
{
    if (!(fabs(got - want) <= share * want)) fail_msg("got %.9g, want %.9g", got, want);
}

static struct sample *add(struct samples *samples, enum sample_kind kind, const char *operation,
                          double seconds, struct arena *arena)
{
    return sample_add(samples, FP32, kind, operation, seconds, arena);
}

// Work of the block as docs/FORMULAS.md section 3 counts it, written out here once more: h 256, f
// 1024, q 256, kv 128, not gated, unfused.
// With sequence parallelism each of `degree` tensor ranks has its part of everything.
static int degree = 1;

static void put_block(struct samples *samples, double b, double s, double hidden, bool backward,
                      struct arena *arena)
{
    double n = b * s, h = hidden, f = 4 * h, q = h, kv = h / 2, e = 4,
           linear = 2 * n * (h * (q + 2 * kv) + q * h + 2 * h * f), scores = 4 * b * s * s * q;
    double bytes = 10 * n * h * e + 2 * n * f * e + 6 * b * 4 * s * s * e;
    double kernels = backward ? 2 * linear / gemm + 2 * scores / attention + 2 * bytes / memory
                              : linear / gemm + scores / attention + bytes / memory;
    kernels /= degree;
    double seconds = backward ? back_factor * kernels + back_overhead : factor * kernels + overhead;
    struct sample *to =
        add(samples, SAMPLE_LAYER, backward ? "block backward" : "block forward", seconds, arena);
    to->flop = (backward ? 2 * linear + 2 * scores : linear + scores) / degree;
    to->dimensions[0] = (int64_t)b, to->dimensions[1] = (int64_t)s, to->dimensions[2] = degree,
    to->dimensions[3] = 1, to->sequence_parallel = degree > 1;
    to->dimension_count = 4;
}

static void put_samples(struct samples *samples, const char *gpu, struct arena *arena)
{
    *samples = (struct samples){.samples = TAKE(arena, CELLS, struct sample),
                                .machine = {.gpu = gpu},
                                .document = {.path = "samples.json"}};
    memcpy(samples->document.sha256, "aabbccddeeff", 13);
    for (int i = 1; i <= 4; i++) {
        add(samples, SAMPLE_GEMM, i % 2 ? "up" : "down", 1e9 * i / gemm, arena)->flop = 1e9 * i;
        struct sample *s = add(samples, SAMPLE_MEMORY, "norms", 1e7 * i / memory, arena);
        s->bytes = 1e7 * i;
        s = add(samples, SAMPLE_ATTENTION, "scores", 1e8 * i / attention + 1e5 * i / memory, arena);
        s->flop = 1e8 * i, s->bytes = 1e5 * i;
    }
    for (int b = 1; b <= 4; b *= 2)
        for (int back = 0; back < 2; back++) {
            put_block(samples, b, 128, 256, back, arena);
            put_block(samples, b, 192, 256, back, arena);
        }
    put_block(samples, 1, 128, 512, false, arena); // of another model
}

static void calibrate_all(struct calibration *c, struct samples *samples, struct arena *arena)
{
    struct inputs *in = TAKE(arena, 1, struct inputs);
    const struct calibrate_settings settings = {.output = "costs.json"};
    if (inputs_join(in, samples, 1, NULL, arena, &own_err) != OK ||
        calibrate(c, in, &settings, arena, &own_err) != OK)
        fail_msg("%s", own_err.text);
}

// The same sizes without a rest take longer, forward and backward by different factors: blocks'
// factors are those of a step, and their overheads stay.
TEST(test_without_a_rest)
{
    static const double slower[] = {1.188, 1.1};
    struct samples samples;
    struct calibration c;
    struct layer_fits f;
    put_samples(&samples, "planted", arena);
    for (int back = 0; back < 2; back++) {
        put_block(&samples, 4, 192, 256, back, arena);
        struct sample *s = &samples.samples[samples.sample_count - 1];
        s->operation = back ? "block backward, sustained" : "block forward, sustained";
        s->before = BEFORE_LOAD, s->busy_devices = 8;
        for (int i = 0; i < s->repetitions; i++) s->seconds[i] *= slower[back];
    }
    calibrate_all(&c, &samples, arena);
    CHECK_OK(layers_fit(&f, &c, &model, arena, &err));
    assert_int_equal(f.check_count, 12);
    assert_int_equal(f.load_count, 2);
    const struct gpu_costs *g = &c.costs.gpus[0];
    near_to(g->forward_factor.value, factor * slower[0], 1e-6);
    near_to(g->backward_factor.value, back_factor * slower[1], 1e-6);
    near_to(g->layer_overhead_s.value, overhead, 1e-5);
    assert_non_null(strstr(g->forward_factor.source, "1.188 times as long (1 block, 8 devices"));
    assert_true(g->forward_factor.low > 0 && g->forward_factor.low < g->forward_factor.value);
    CHECK_OK(costs_check(&c.costs, &err));
}

// As a run's layers with sequence parallelism state; read as if without, norms and residual sums
// would have all tokens.
TEST(test_sequence_parallel)
{
    for (int told = 0; told < 2; told++) {
        struct samples samples;
        struct calibration c;
        struct layer_fits f;
        degree = 2;
        put_samples(&samples, "planted", arena);
        degree = 1;
        for (int i = 0; i < samples.sample_count && !told; i++)
            samples.samples[i].sequence_parallel = false;
        calibrate_all(&c, &samples, arena);
        CHECK_OK(layers_fit(&f, &c, &model, arena, &err));
        double found = c.costs.gpus[0].forward_factor.value;
        if (told) near_to(found, factor, 1e-6);
        else assert_true(found < 0.97 * factor);
    }
}

TEST(test_blocks)
{
    struct samples samples;
    struct calibration c;
    struct layer_fits f;
    put_samples(&samples, "planted", arena);
    calibrate_all(&c, &samples, arena);
    near_to(c.costs.gpus[0].precisions[0].gemm_flop_per_s.value, gemm, 1e-6);
    CHECK_OK(layers_fit(&f, &c, &model, arena, &err));
    assert_int_equal(f.check_count, 12);
    assert_int_equal(f.other_count, 1);
    const struct gpu_costs *g = &c.costs.gpus[0];
    near_to(g->forward_factor.value, factor, 1e-6);
    near_to(g->backward_factor.value, back_factor, 1e-6);
    near_to(g->layer_overhead_s.value, overhead, 1e-5);
    near_to(g->backward_overhead_s.value, back_overhead, 1e-5);
    for (int i = 0; i < f.check_count; i++)
        near_to(f.checks[i].predicted_s, f.checks[i].point.seconds, 1e-6);
    CHECK_OK(costs_check(&c.costs, &err));

    // The same from pricing: one stage of the whole model on this device.
    struct node_group group = {.name = "g",
                               .gpu = "planted",
                               .nodes = 1,
                               .gpus_per_node = 1,
                               .memory_bytes = (int64_t)1 << 40,
                               .intra = {1e9, 0}};
    struct problem p = {.name = "one",
                        .model = model,
                        .costs = c.costs,
                        .cluster = {.name = "one", .groups = &group, .group_count = 1}};
    p.job = (struct job){.name = "one",
                         .sequence = 192,
                         .global_batch = 4,
                         .precision = FP32,
                         .gradient_bytes_per_value = 4,
                         .adam = true,
                         .memory_fraction = 1,
                         .layout = {.tensor = 1,
                                    .context = 1,
                                    .data = 1,
                                    .expert = 1,
                                    .pipeline = 1,
                                    .virtual_stages = 1,
                                    .micro_batch = 4,
                                    .slice_count = 1,
                                    .barrier = true},
                         .budget = {-1, -1, -1, 0}};
    p.costs.transfer_share[PART_LINK] = 1;
    struct priced priced;
    CHECK_OK(price_problem(&priced, &p, arena, &err));
    for (int i = 0; i < f.check_count; i++) {
        const struct layer_check *k = &f.checks[i];
        if (k->sample->dimensions[0] != 4 || k->sample->dimensions[1] != 192) continue;
        double ns = (double)(k->pass == LAYER_FORWARD ? priced.runs[1].forward_ns[0]
                                                      : priced.runs[1].backward_ns[0]);
        near_to(ns * 1e-9, k->point.seconds, 1e-5);
    }
}

// With one size there is only a factor, besides the overheads that kernels have.
TEST(test_one_size)
{
    struct samples samples;
    struct calibration c;
    struct layer_fits f;
    put_samples(&samples, "planted", arena);
    samples.sample_count = 12;
    put_block(&samples, 2, 128, 256, false, arena);
    calibrate_all(&c, &samples, arena);
    double before = c.costs.gpus[0].layer_overhead_s.value;
    CHECK_OK(layers_fit(&f, &c, &model, arena, &err));
    assert_int_equal(f.check_count, 1);
    assert_true(c.costs.gpus[0].layer_overhead_s.value == before &&
                c.costs.gpus[0].backward_factor.value == 0);
    near_to(f.checks[0].predicted_s, f.checks[0].point.seconds, 1e-9);
}

// ---- layers of several shapes

enum { SHAPES = 4 };
static const struct shape shapes[SHAPES] = {
    {.hidden = 128, .ffn = 512, .heads = 2, .kv_heads = 2, .head_width = 64, .vocabulary = 900},
    {.hidden = 256, .ffn = 512, .heads = 4, .kv_heads = 1, .head_width = 64, .vocabulary = 500},
    {.hidden = 320, .ffn = 960, .heads = 5, .kv_heads = 5, .head_width = 64, .vocabulary = 700},
    {.hidden = 192, .ffn = 640, .heads = 3, .kv_heads = 3, .head_width = 64, .vocabulary = 800},
};

// What its passes take over their kernels, by kind of layer: forward, backward.
static const double planted[3][2] = {{2.1, 1.7}, {0.94, 0.91}, {0.97, 0.88}};

static void put_layer(struct samples *samples, const struct shape *s, bool stated,
                      enum layer_kind kind, bool backward, double b, double off,
                      struct arena *arena)
{
    double n = b * 128, e = 4, h = (double)s->hidden, f = (double)s->ffn,
           q = (double)(s->heads * s->head_width), kv = (double)(s->kv_heads * s->head_width),
           v = (double)s->vocabulary, keys = b * 128 * 128, linear = 0, scores = 0,
           bytes = 2 * n * h * e;
    if (kind == LAYER_HEAD) linear = 2 * n * h * v, bytes += 12 * n * v;
    if (kind == LAYER_BLOCK) {
        linear = 2 * n * (h * (q + 2 * kv) + q * h + 2 * h * f), scores = 4 * keys * q;
        bytes = 10 * n * h * e + 2 * n * f * e + 6 * keys * (double)s->heads * e;
    }
    double kernels = linear / gemm + scores / attention + bytes / memory;
    struct sample *to =
        add(samples, SAMPLE_LAYER,
            arena_print(arena, "%s %s", layer_kind_names[kind], backward ? "backward" : "forward"),
            off * planted[kind][backward] * (backward ? 2 : 1) * kernels, arena);
    to->flop = (backward ? 2 : 1) * (linear + scores);
    to->bytes = (backward ? 2 : 1) * bytes;
    to->dimensions[0] = (int64_t)b, to->dimensions[1] = 128;
    to->dimensions[2] = to->dimensions[3] = 1;
    to->dimension_count = 4;
    to->shape = stated ? s : NULL;
}

// All layers of this shape, as often as they take longer than planned.
static void put_shape(struct samples *samples, const struct shape *s, bool stated, double off,
                      struct arena *arena)
{
    for (enum layer_kind kind = LAYER_EMBEDDING; kind <= LAYER_HEAD; kind++)
        for (int k = 0; k < 4; k++)
            put_layer(samples, s, stated, kind, k % 2, 1 + k / 2, off, arena);
}

static void fit_shapes(struct layer_fits *f, struct gpu_costs *g, struct samples *samples,
                       const struct model *of, struct arena *arena)
{
    struct calibration *c = TAKE(arena, 1, struct calibration);
    calibrate_all(c, samples, arena);
    MUST(layers_fit(f, c, of, arena, &own_err));
    MUST(costs_check(&c->costs, &own_err));
    *g = c->costs.gpus[0];
}

static void put_kernels(struct samples *samples, struct arena *arena)
{
    put_samples(samples, "planted", arena);
    samples->sample_count = 12;
}

static void is_planted(const struct gpu_costs *g, double off)
{
    const struct estimate *const found[3][2] = {
        {&g->embedding_forward_factor, &g->embedding_backward_factor},
        {&g->forward_factor, &g->backward_factor},
        {&g->head_forward_factor, &g->head_backward_factor},
    };
    for (int kind = 0; kind < 3; kind++)
        for (int back = 0; back < 2; back++)
            near_to(found[kind][back]->value, off * planted[kind][back], 1e-3);
}

// A bias common to all shapes is recovered, whether or not the model is one of them.
TEST(test_shapes)
{
    struct samples samples;
    struct layer_fits f;
    struct gpu_costs g;
    put_kernels(&samples, arena);
    for (int i = 0; i < 3; i++) put_shape(&samples, &shapes[i], true, 1, arena);
    fit_shapes(&f, &g, &samples, NULL, arena);
    assert_int_equal(f.check_count, 3 * 12);
    is_planted(&g, 1);
    for (int i = 0; i < f.check_count; i++)
        near_to(f.checks[i].predicted_s, f.checks[i].point.seconds, 1e-3);
    fit_shapes(&f, &g, &samples, &model, arena);
    is_planted(&g, 1);
    // A layer without a shape is ignored; the model's own counts alone, if there is one.
    put_shape(&samples, &shapes[3], false, 1.5, arena);
    fit_shapes(&f, &g, &samples, NULL, arena);
    assert_int_equal(f.check_count, 3 * 12);
    assert_int_equal(f.other_count, 12);
    is_planted(&g, 1);
    struct model fourth = model;
    fourth.shape = shapes[3];
    fit_shapes(&f, &g, &samples, &fourth, arena);
    assert_int_equal(f.check_count, 12);
    is_planted(&g, 1.5);
    assert_true(f.passes[LAYER_BLOCK][0].apart == 0);
}

// Shapes that differ widen the interval, so that another of their kind is inside; two widen it more
// than four, and one, of which no scatter can be known, to the value without samples.
TEST(test_shapes_apart)
{
    static const double off[SHAPES] = {0.96, 1.03, 0.99, 1.02};
    double width[SHAPES + 1];
    for (int count = 1; count <= SHAPES; count++) {
        struct samples samples;
        struct layer_fits f;
        struct gpu_costs g;
        put_kernels(&samples, arena);
        for (int i = 0; i < count; i++) put_shape(&samples, &shapes[i], true, off[i], arena);
        fit_shapes(&f, &g, &samples, NULL, arena);
        const struct estimate *e = &g.head_backward_factor;
        width[count] = e->high - e->low;
        assert_int_equal(f.passes[LAYER_HEAD][1].shapes, count);
        assert_true(e->low < e->value && e->value < e->high);
        for (int i = 0; i < SHAPES && count > 1; i++)
            assert_true(e->low < off[i] * planted[LAYER_HEAD][1] &&
                        off[i] * planted[LAYER_HEAD][1] < e->high);
        if (count > 1) continue;
        near_to(e->value, off[0] * planted[LAYER_HEAD][1], 1e-3);
        assert_true(e->high > 1 - 1e-3);
    }
    assert_true(width[2] > width[3] && width[3] > width[4]);
}

// ---- gradients of weights

// Products of all three kinds, of many sizes and proportions: seconds at 90 GFLOP/s and, of
// operands, at 10 GB/s; of weights' gradients at `weights`.
static void calibrate_products(struct calibration *c, double weights, struct arena *arena)
{
    static const char *const kinds[] = {"", ", data gradient", ", weight gradient"};
    struct samples *samples = TAKE(arena, 1, struct samples);
    put_kernels(samples, arena);
    samples->sample_count = 0;
    for (int i = 0; i < 12; i++) {
        double m = 100 + 37 * (i * 5 % 12), n = 90 + 61 * (i * 7 % 12), k = 128 << i % 3,
               bytes = 4 * (m * n + n * k + m * k);
        for (int kind = 0; kind < 3; kind++) {
            double rate = kind == 2 ? weights : 1e10;
            struct sample *s = add(samples, SAMPLE_GEMM, arena_print(arena, "%d%s", i, kinds[kind]),
                                   2 * m * n * k / gemm + bytes / rate, arena);
            s->flop = 2 * m * n * k, s->bytes = bytes;
        }
        add(samples, SAMPLE_MEMORY, "norms", 1e7 * (i + 1) / memory, arena)->bytes = 1e7 * (i + 1);
    }
    samples->sample_count = 48;
    calibrate_all(c, samples, arena);
}

TEST(test_weight_traffic)
{
    struct calibration c;
    calibrate_products(&c, 3e10, arena);
    const struct precision_costs *p = c.costs.gpus[0].precisions;
    near_to(p->operand_bytes_per_s.value, 1e10, 1e-3);
    near_to(p->weight_operand_bytes_per_s.value, 3e10, 1e-3);
    near_to(p->weight_gradient_flop_per_s.value, gemm, 1e-3);
    calibrate_products(&c, 1e10, arena); // no other: not stated
    assert_true(c.costs.gpus[0].precisions[0].weight_operand_bytes_per_s.value == 0);
    near_to(c.costs.gpus[0].precisions[0].weight_gradient_flop_per_s.value, gemm, 1e-3);
}

// ---- drawings

static char *read_all(const char *path, struct arena *arena)
{
    FILE *from = fopen(path, "rb");
    assert_non_null(from);
    char *text = TAKE(arena, 1 << 22, char);
    size_t length = fread(text, 1, (1 << 22) - 1, from);
    fclose(from);
    text[length] = '\0';
    return text;
}

// Every element that is opened is closed, in its order; nothing but the house's own elements.
static void assert_well_formed(const char *text)
{
    static const char *const known[] = {"svg", "title", "rect", "line", "circle", "text", "g"};
    const char *open[32];
    int depth = 0;
    assert_int_equal(strncmp(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", 53),
                     0);
    for (const char *at = text; (at = strchr(at, '<')); at++) {
        bool closes = at[1] == '/';
        const char *name = at + 1 + closes, *end = strchr(at, '>');
        size_t length = strcspn(name, " />");
        bool found = false;
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
    assert_null(strstr(text, "script"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
}

TEST(test_drawing)
{
    struct samples samples;
    struct calibration c;
    char folder[] = "/tmp/plumbline-draw-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *path = arena_print(arena, "%s/fits.svg", folder),
               *again = arena_print(arena, "%s/again.svg", folder);
    put_samples(&samples, "a <b>&\"c\" \x01 device", arena);
    samples.samples[0].operation = "</text><x onload=\"1\">";
    calibrate_all(&c, &samples, arena);
    CHECK_OK(calibration_draw(&c, path, arena, &err));
    CHECK_OK(calibration_draw(&c, again, arena, &err));
    const char *text = read_all(path, arena);
    assert_string_equal(text, read_all(again, arena));
    assert_well_formed(text);
    assert_non_null(strstr(text, "a &lt;b&gt;&amp;&quot;c&quot;   device"));
    int points = 0;
    for (const char *at = text; (at = strstr(at, "<circle")); at++) points++;
    assert_int_equal(points, 12); // products, norms, attention; layers are no fit of their own
    unlink(path), unlink(again), rmdir(folder);
}
