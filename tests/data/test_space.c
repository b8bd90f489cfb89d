// The space of layouts: counted a second way, by plain nested loops over all numbers; every layout
// once; membership.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "data/inputs/space.h"

#include <cmocka.h> // last: it takes the name of fail()

struct seen {
    struct layout *layouts;
    int64_t count, capacity;
};

static bool note(void *argument, int64_t number, const struct layout *layout)
{
    struct seen *s = argument;
    assert_int_equal(number, s->count);
    assert_true(s->count < s->capacity);
    s->layouts[s->count++] = *layout;
    return true;
}

static struct space all_of(const enum space_key *keys, int count)
{
    struct space space = {.given = true};
    for (int i = 0; i < count; i++) space.axes[keys[i]].kind = AXIS_ALL;
    return space;
}

static const struct layout plain = {.tensor = 1,
                                    .context = 1,
                                    .data = 1,
                                    LAYOUT_PLAIN(1),
                                    .micro_batch = 1,
                                    .schedule = SCHEDULE_1F1B};

// How many micro-batches a data degree allows; a degree that does not divide the batch counts once.
static int64_t micro_batches_of(int64_t batch, int64_t data)
{
    int64_t count = 0;
    if (batch % data) return 1;
    for (int64_t b = 1; b <= batch / data; b++) count += batch / data % b == 0;
    return count;
}

static int64_t turns_of(int layers, int p)
{
    int64_t count = 0;
    int low = layers / p, high = low + (layers % p > 0);
    for (int v = 2; v * p <= STAGES_MAX; v++) count += (low > 0 && low % v == 0) || high % v == 0;
    return count;
}

// Schedules with one value of everything, with several stages a rank, and with three
// slicings.
static int64_t count_by_hand(int64_t devices, int64_t batch, int layers, bool fewer)
{
    int64_t count = 0, fixed = 0, winding = 0, sliced = 0;
    for (int kind = 0; kind < SCHEDULE_KIND_COUNT; kind++)
        *(schedule_kinds[kind].slices           ? &sliced
          : schedule_kinds[kind].virtual_stages ? &fixed
                                                : &winding) += 1;
    for (int64_t t = 1; t <= devices; t++)
        for (int64_t c = 1; t * c <= devices; c++)
            for (int64_t p = 1; t * c * p <= devices; p++)
                for (int64_t d = 1; t * c * p * d <= devices; d++) {
                    if (fewer ? devices % (t * c * p * d) != 0 : t * c * p * d != devices) continue;
                    count += micro_batches_of(batch, d) *
                             (fixed + winding * turns_of(layers, (int)p) + 3 * sliced);
                }
    return count;
}

static void counts_match(void **state)
{
    (void)state;
    const enum space_key keys[] = {SPACE_TENSOR,      SPACE_CONTEXT,    SPACE_PIPELINE,
                                   SPACE_DATA,        SPACE_SCHEDULE,   SPACE_VIRTUAL_STAGES,
                                   SPACE_MICRO_BATCH, SPACE_SLICE_COUNT};
    static struct layout storage[100000];
    for (int fewer = 0; fewer < 2; fewer++)
        for (int devices = 1; devices <= 24; devices++) {
            struct space space = all_of(keys, (int)ARRAY_LENGTH(keys));
            struct space_limits limits = {&plain, devices, 12, 1024, 10};
            struct seen seen = {storage, 0, (int64_t)ARRAY_LENGTH(storage)};
            space.fewer_devices = fewer;
            int64_t count = space_each(&space, &limits, note, &seen);
            assert_int_equal(count, seen.count);
            assert_int_equal(count, count_by_hand(devices, 12, 10, fewer));
        }
}

static void every_layout_once(void **state)
{
    (void)state;
    enum space_key keys[SPACE_KEY_COUNT];
    static struct layout storage[30000];
    for (int i = 0; i < SPACE_KEY_COUNT; i++) keys[i] = (enum space_key)i;
    struct space space = all_of(keys, SPACE_KEY_COUNT);
    struct space_limits limits = {&plain, 2, 1, 64, 4};
    struct seen seen = {storage, 0, (int64_t)ARRAY_LENGTH(storage)};
    space_each(&space, &limits, note, &seen);
    for (int64_t i = 0; i < seen.count; i++) {
        int64_t tokens = 0;
        for (int k = 0; k < storage[i].slice_count; k++) tokens += storage[i].slices[k];
        assert_int_equal(tokens, storage[i].slice_count > 1 ? 64 : 0);
        for (int64_t k = 0; k < i; k++) assert_false(layout_equal(&storage[i], &storage[k]));
    }
    int64_t number;
    assert_true(space_contains(&space, &limits, &storage[777], &number));
    assert_int_equal(number, 777);
    struct layout other = storage[777];
    other.micro_batch = 3;
    assert_false(space_contains(&space, &limits, &other, NULL));
}

// A key that is not mentioned stays as the layout has it; a list is taken as it stands.
static void fixed_and_listed(void **state)
{
    (void)state;
    int tensors[] = {4, 2, 3};
    struct layout storage[8], base = plain;
    struct space space = {.given = true};
    base.micro_batch = 2;
    space.axes[SPACE_TENSOR] = (struct space_axis){AXIS_LIST, tensors, 3};
    space.axes[SPACE_DATA].kind = AXIS_ALL;
    struct space_limits limits = {&base, 8, 16, 64, 4};
    struct seen seen = {storage, 0, 8};
    assert_int_equal(space_each(&space, &limits, note, &seen), 2);
    assert_int_equal(storage[0].tensor, 4);
    assert_int_equal(storage[0].data, 2);
    assert_int_equal(storage[1].tensor, 2);
    assert_int_equal(storage[1].data, 4);
    assert_int_equal(storage[1].micro_batch, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_match),
        cmocka_unit_test(every_layout_once),
        cmocka_unit_test(fixed_and_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
