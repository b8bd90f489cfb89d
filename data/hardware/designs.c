// The document of designs: its parameters, its choices, their area, power and price.
#include "data/hardware/designs.h"

#include <assert.h>

#include "data/base/grow.h"

#define DESIGN_NAME(constant, name) name,
const char *const design_axis_names[] = {DESIGN_PARAMETERS(DESIGN_NAME) NULL};

enum { VALUES_MOST = 4096 };
#define VALUE_MOST 1e18

// ---- the document

static enum status add_steps(const struct json *object, struct design_values *v,
                             struct arena *arena, struct error *err)
{
    int capacity = 0;
    if (!(v->from > 0 && v->to >= v->from && (v->times > 1) != (v->plus > 0)))
        return json_refuse(object, err,
                           "expected values, or from and to with either times, above 1, or plus");
    for (double x = v->from; x <= v->to * (1 + 1e-12);
         x = v->plus > 0 ? x + v->plus : x * v->times) {
        if (v->value_count == VALUES_MOST)
            return json_refuse(object, err, "expected at most %d values", VALUES_MOST);
        *GROWN(arena, v->values, v->value_count, capacity, 8) = x;
    }
    return OK;
}

GET_MEMBER(finish_values)
{
    struct design_values *v = to;
    bool steps = v->from > 0 || v->to > 0 || v->times > 0 || v->plus > 0;
    if (v->value_count && steps)
        return json_refuse(value, err, "expected values or steps, not both");
    if (!v->value_count) TRY(add_steps(value, v, arena, err));
    for (int i = 1; i < v->value_count; i++)
        if (!(v->values[i] > v->values[i - 1]))
            return json_refuse(value, err, "expected rising values, found %g after %g",
                               v->values[i], v->values[i - 1]);
    return OK;
}

static const struct member values_rows[] = {
    KEY_ARRAY(design_values, values, value_count, JSON_NUMBER, OPTIONAL, IF_SET, 0, VALUE_MOST,
              VALUES_MOST),
    KEY_NUMBER(design_values, from, OPTIONAL, IF_SET, 0, VALUE_MOST),
    KEY_NUMBER(design_values, to, OPTIONAL, IF_SET, 0, VALUE_MOST),
    KEY_NUMBER(design_values, times, OPTIONAL, IF_SET, 0, VALUE_MOST),
    KEY_NUMBER(design_values, plus, OPTIONAL, IF_SET, 0, VALUE_MOST),
};
static MEMBERS(values, struct design_values, NULL, true, finish_values);

#define TERM(key, term)                                                                            \
    KEY_OF(key, JSON_NUMBER, OPTIONAL, IF_SET, (term) * sizeof(double), 0, VALUE_MOST, NULL, NULL, \
           NULL)
static const struct member terms_rows[] = {
    TERM("fixed", TERM_FIXED),
    TERM("multiplier", TERM_MULTIPLIER),
    TERM("matrix_unit", TERM_MATRIX_UNIT),
    TERM("lane", TERM_LANE),
    TERM("vector_unit", TERM_VECTOR_UNIT),
    TERM("buffer_byte", TERM_BUFFER_BYTE),
    TERM("memory_byte", TERM_MEMORY_BYTE),
    TERM("memory_byte_per_s", TERM_MEMORY_BYTE_PER_S),
    TERM("link_byte_per_s", TERM_LINK_BYTE_PER_S),
    TERM("area_mm2", TERM_AREA),
};
static MEMBERS(terms, double[DESIGN_TERMS], NULL, true, NULL);

#define AXIS(key, need, axis)                                                                      \
    KEY_ROW(key, JSON_OBJECT, need, IF_SET,                                                        \
            offsetof(struct designs, axes) + (axis) * sizeof(struct design_values), 0, 0, NULL,    \
            &values_members, 0, 0, JSON_SKIP, NULL, NULL)
static const struct member designs_rows[] = {
    KEY_TEXT(designs, name, REQUIRED),
    AXIS("matrix_units", REQUIRED, DESIGN_MATRIX_UNITS),
    AXIS("rows", REQUIRED, DESIGN_ROWS),
    AXIS("columns", OPTIONAL, DESIGN_COLUMNS),
    AXIS("vector_units", REQUIRED, DESIGN_VECTOR_UNITS),
    AXIS("lanes", OPTIONAL, DESIGN_LANES),
    AXIS("buffer_bytes", REQUIRED, DESIGN_BUFFER_BYTES),
    AXIS("clock_hz", REQUIRED, DESIGN_CLOCK_HZ),
    AXIS("memory_bytes", REQUIRED, DESIGN_MEMORY_BYTES),
    AXIS("memory_bytes_per_s", REQUIRED, DESIGN_MEMORY_BYTES_PER_S),
    AXIS("link_bytes_per_s", REQUIRED, DESIGN_LINK_BYTES_PER_S),
    AXIS("network_bytes_per_s", REQUIRED, DESIGN_NETWORK_BYTES_PER_S),
    AXIS("devices", REQUIRED, DESIGN_DEVICES),
    AXIS("nodes", REQUIRED, DESIGN_NODES),
    KEY_NUMBER(designs, link_latency_s, OPTIONAL, IF_SET, 0, 1),
    KEY_NUMBER(designs, network_latency_s, OPTIONAL, IF_SET, 0, 1),
    KEY_OBJECT("area", designs, area, OPTIONAL, IF_SET, &terms_members),
    KEY_OBJECT("power", designs, power, OPTIONAL, IF_SET, &terms_members),
    KEY_OBJECT("hour_price", designs, hour_price, OPTIONAL, IF_SET, &terms_members),
    KEY_NUMBER(designs, area_most_mm2, OPTIONAL, IF_SET, 0, VALUE_MOST),
    KEY_NUMBER(designs, power_most_w, OPTIONAL, IF_SET, 0, VALUE_MOST),
};
MEMBERS(designs, struct designs, NULL, false, NULL);

// Ranges of a cluster and of a GPU's costs, which each choice becomes.
static const struct {
    double low, high;
    bool whole;
} ranges[] = {[DESIGN_MATRIX_UNITS] = {1, 1e6, true},
              [DESIGN_ROWS] = {1, 1e6, true},
              [DESIGN_COLUMNS] = {1, 1e6, true},
              [DESIGN_VECTOR_UNITS] = {1, 1e6, true},
              [DESIGN_LANES] = {1, 1e6, true},
              [DESIGN_BUFFER_BYTES] = {1, 1e15, true},
              [DESIGN_CLOCK_HZ] = {1, 1e12, false},
              [DESIGN_MEMORY_BYTES] = {1, 1e15, true},
              [DESIGN_MEMORY_BYTES_PER_S] = {1, 1e18, false},
              [DESIGN_LINK_BYTES_PER_S] = {1, 1e18, false},
              [DESIGN_NETWORK_BYTES_PER_S] = {1, 1e18, false},
              [DESIGN_DEVICES] = {1, 1024, true},
              [DESIGN_NODES] = {1, 1 << 20, true}};

static enum status check_axis(const struct designs *d, int axis, struct error *err)
{
    const struct design_values *v = &d->axes[axis];
    for (int i = 0; i < v->value_count; i++) {
        double x = v->values[i];
        if (!(x >= ranges[axis].low && x <= ranges[axis].high) ||
            (ranges[axis].whole && floor(x) != x))
            return refuse(err, "%s: %s: expected %s from %g to %g, found %.9g",
                          document_name(&d->document, "designs"), design_axis_names[axis],
                          ranges[axis].whole ? "whole numbers" : "numbers", ranges[axis].low,
                          ranges[axis].high, x);
    }
    return OK;
}

enum status designs_load(struct designs *d, const char *path, struct arena *arena,
                         struct error *err)
{
    double choices = 1;
    *d = (struct designs){.name = NULL};
    TRY(document_load(&d->document, path, "plumbline.designs", &designs_members, d, d, arena, err));
    for (int axis = 0; axis < DESIGN_AXES; axis++) {
        TRY(check_axis(d, axis, err));
        if (d->axes[axis].value_count) choices *= d->axes[axis].value_count;
    }
    if (choices <= DESIGN_CHOICES_MAX) return OK;
    return refuse(err, "%s: expected at most %d choices of all parameters, found %.9g",
                  document_name(&d->document, "designs"), DESIGN_CHOICES_MAX, choices);
}

// ---- choices

int64_t designs_count(const struct designs *d)
{
    int64_t count = 1;
    for (int axis = 0; axis < DESIGN_AXES; axis++)
        if (d->axes[axis].value_count) count *= d->axes[axis].value_count;
    return count;
}

struct design design_at(const struct designs *d, int64_t choice)
{
    struct design x;
    for (int axis = 0; axis < DESIGN_AXES; axis++) {
        const struct design_values *v = &d->axes[axis];
        x.of[axis] = v->value_count ? v->values[choice % v->value_count] : 0;
        if (v->value_count) choice /= v->value_count;
    }
    if (!d->axes[DESIGN_COLUMNS].value_count) x.of[DESIGN_COLUMNS] = x.of[DESIGN_ROWS];
    if (!d->axes[DESIGN_LANES].value_count) x.of[DESIGN_LANES] = x.of[DESIGN_COLUMNS];
    return x;
}

int64_t design_devices(const struct design *x)
{
    return (int64_t)x->of[DESIGN_DEVICES] * (int64_t)x->of[DESIGN_NODES];
}

static double sum_of(const double *terms, const struct design *x, double area)
{
    const double *v = x->of, units = v[DESIGN_MATRIX_UNITS], vectors = v[DESIGN_VECTOR_UNITS];
    const double amounts[DESIGN_TERMS] = {
        [TERM_FIXED] = 1,
        [TERM_MULTIPLIER] = units * v[DESIGN_ROWS] * v[DESIGN_COLUMNS],
        [TERM_MATRIX_UNIT] = units,
        [TERM_LANE] = vectors * v[DESIGN_LANES],
        [TERM_VECTOR_UNIT] = vectors,
        [TERM_BUFFER_BYTE] = v[DESIGN_BUFFER_BYTES],
        [TERM_MEMORY_BYTE] = v[DESIGN_MEMORY_BYTES],
        [TERM_MEMORY_BYTE_PER_S] = v[DESIGN_MEMORY_BYTES_PER_S],
        [TERM_LINK_BYTE_PER_S] = v[DESIGN_LINK_BYTES_PER_S] + v[DESIGN_NETWORK_BYTES_PER_S],
        [TERM_AREA] = area};
    double sum = 0;
    for (int i = 0; i < DESIGN_TERMS; i++) sum += terms[i] * amounts[i];
    return sum;
}

double design_area_mm2(const struct designs *d, const struct design *x)
{
    return sum_of(d->area, x, 0);
}

double design_power_w(const struct designs *d, const struct design *x)
{
    return sum_of(d->power, x, design_area_mm2(d, x));
}

double design_hour_price(const struct designs *d, const struct design *x)
{
    return sum_of(d->hour_price, x, design_area_mm2(d, x));
}

bool design_is_within(const struct designs *d, const struct design *x)
{
    double power = design_power_w(d, x) * (double)design_devices(x);
    return (d->area_most_mm2 == 0 || design_area_mm2(d, x) <= d->area_most_mm2) &&
           (d->power_most_w == 0 || power <= d->power_most_w);
}

static const char *short_number(double x, struct arena *arena)
{
    static const struct {
        double of;
        const char *letter;
    } scales[] = {{1073741824, "Gi"}, {1048576, "Mi"}, {1e9, "G"}, {1e6, "M"}};
    for (size_t i = 0; i < ARRAY_LENGTH(scales); i++)
        if (x >= scales[i].of && (i > 1 || fmod(x, scales[i].of) == 0))
            return arena_print(arena, "%.10g%s", x / scales[i].of, scales[i].letter);
    return arena_print(arena, "%.10g", x);
}

const char *design_words(const struct designs *d, const struct design *x, struct arena *arena)
{
    static const char *const letters[DESIGN_AXES] = {"m", "r", "c", "v", "l", "b", "f",
                                                     "g", "w", "i", "o", "d", "n"};
    const char *text = "";
    for (int axis = 0; axis < DESIGN_AXES; axis++)
        if (d->axes[axis].value_count > 1)
            text = arena_print(arena, "%s%s%s%s", text, *text ? "-" : "", letters[axis],
                               short_number(x->of[axis], arena));
    return *text ? text : d->name;
}
