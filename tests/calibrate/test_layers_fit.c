// Whole layers against their kernels: a planted factor and overhead come out, and what follows is
// what pricing says of the layer; layers of another shape are left alone. Drawings: well-formed,
// without scripts, the same twice, whatever names files hold.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibrate/draw.h"
#include "calibrate/fit/layers.h"
#include "data/text/svg.h"
#include "formulate/price/price.h"

#include "tests/support/check.h" // last: its macro `fail` hides data/base/status.h's

enum { CELLS = 60, REPETITIONS = 9 };
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
    struct sample *s = &samples->samples[samples->sample_count++];
    *s = (struct sample){.kind = kind,
                         .operation = operation,
                         .precision = FP32,
                         .from = -1,
                         .to = -1,
                         .repetitions = REPETITIONS,
                         .stopped_by = "count",
                         .dimensions = {1},
                         .dimension_count = 1,
                         .seconds = TAKE(arena, REPETITIONS, double)};
    for (int i = 0; i < REPETITIONS; i++) s->seconds[i] = seconds * (1 + 0.001 * ((i * 5) % 9 - 4));
    return s;
}

// Work of the block as docs/FORMULAS.md section 3 counts it, written out here once more: h 256, f
// 1024, q 256, kv 128, not gated, unfused.
static void put_block(struct samples *samples, double b, double s, double hidden, bool backward,
                      struct arena *arena)
{
    double n = b * s, h = hidden, f = 4 * h, q = h, kv = h / 2, e = 4,
           linear = 2 * n * (h * (q + 2 * kv) + q * h + 2 * h * f), scores = 4 * b * s * s * q;
    double bytes = 10 * n * h * e + 2 * n * f * e + 6 * b * 4 * s * s * e;
    double kernels = backward ? 2 * linear / gemm + 2 * scores / attention + 2 * bytes / memory
                              : linear / gemm + scores / attention + bytes / memory;
    double seconds = backward ? back_factor * kernels + back_overhead : factor * kernels + overhead;
    struct sample *to =
        add(samples, SAMPLE_LAYER, backward ? "block backward" : "block forward", seconds, arena);
    to->flop = backward ? 2 * linear + 2 * scores : linear + scores;
    to->dimensions[0] = (int64_t)b, to->dimensions[1] = (int64_t)s,
    to->dimensions[2] = to->dimensions[3] = 1;
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
    struct error err = {OK, ""};
    struct inputs *in = TAKE(arena, 1, struct inputs);
    const struct calibrate_settings settings = {.output = "costs.json"};
    if (inputs_join(in, samples, 1, NULL, arena, &err) != OK ||
        calibrate(c, in, &settings, arena, &err) != OK)
        fail_msg("%s", err.text);
}

static void test_blocks(void **state)
{
    struct samples samples;
    struct calibration c;
    struct layer_fits f;
    struct error err = {OK, ""};
    put_samples(&samples, "planted", *state);
    calibrate_all(&c, &samples, *state);
    near_to(c.costs.gpus[0].precisions[0].gemm_flop_per_s.value, gemm, 1e-6);
    if (layers_fit(&f, &c, &model, *state, &err) != OK) fail_msg("%s", err.text);
    assert_int_equal(f.check_count, 12);
    assert_int_equal(f.other_count, 1);
    const struct gpu_costs *g = &c.costs.gpus[0];
    near_to(g->forward_factor.value, factor, 1e-6);
    near_to(g->backward_factor.value, back_factor, 1e-6);
    near_to(g->layer_overhead_s.value, overhead, 1e-5);
    near_to(g->backward_overhead_s.value, back_overhead, 1e-5);
    for (int i = 0; i < f.check_count; i++)
        near_to(f.checks[i].predicted_s, f.checks[i].point.seconds, 1e-6);
    assert_int_equal(costs_check(&c.costs, &err), OK);

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
    if (price_problem(&priced, &p, *state, &err) != OK) fail_msg("%s", err.text);
    for (int i = 0; i < f.check_count; i++) {
        const struct layer_check *k = &f.checks[i];
        if (k->sample->dimensions[0] != 4 || k->sample->dimensions[1] != 192) continue;
        double ns = (double)(k->pass == LAYER_FORWARD ? priced.runs[1].forward_ns[0]
                                                      : priced.runs[1].backward_ns[0]);
        near_to(ns * 1e-9, k->point.seconds, 1e-5);
    }
}

// Of one size there is a factor alone, beside the overheads that kernels have.
static void test_one_size(void **state)
{
    struct samples samples;
    struct calibration c;
    struct layer_fits f;
    struct error err = {OK, ""};
    put_samples(&samples, "planted", *state);
    samples.sample_count = 12;
    put_block(&samples, 2, 128, 256, false, *state);
    calibrate_all(&c, &samples, *state);
    double before = c.costs.gpus[0].layer_overhead_s.value;
    if (layers_fit(&f, &c, &model, *state, &err) != OK) fail_msg("%s", err.text);
    assert_int_equal(f.check_count, 1);
    assert_true(c.costs.gpus[0].layer_overhead_s.value == before &&
                c.costs.gpus[0].backward_factor.value == 0);
    near_to(f.checks[0].predicted_s, f.checks[0].point.seconds, 1e-9);
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

static void test_drawing(void **state)
{
    struct samples samples;
    struct calibration c;
    struct error err = {OK, ""};
    char folder[] = "/tmp/plumbline-draw-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *path = arena_print(*state, "%s/fits.svg", folder),
               *again = arena_print(*state, "%s/again.svg", folder);
    put_samples(&samples, "a <b>&\"c\" \x01 device", *state);
    samples.samples[0].operation = "</text><x onload=\"1\">";
    calibrate_all(&c, &samples, *state);
    assert_int_equal(calibration_draw(&c, path, *state, &err), OK);
    assert_int_equal(calibration_draw(&c, again, *state, &err), OK);
    const char *text = read_all(path, *state);
    assert_string_equal(text, read_all(again, *state));
    assert_well_formed(text);
    assert_non_null(strstr(text, "a &lt;b&gt;&amp;&quot;c&quot;   device"));
    int points = 0;
    for (const char *at = text; (at = strstr(at, "<circle")); at++) points++;
    assert_int_equal(points, 12); // products, norms, attention; layers are no fit of their own
    unlink(path), unlink(again), rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_one_size),
                                       cmocka_unit_test(test_drawing)};
    return cmocka_run_group_tests(tests, check_open_arena, check_close_arena);
}
