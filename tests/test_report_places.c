// Launch files of a placed plan against the rank orders written out by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "solve/report.h"

#include <cmocka.h>     // last: its macro `fail` hides data/status.h's

static struct arena arena;

static int open_arena(void **state)
{
    (void)state;
    arena_open(&arena, NULL);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    arena_close(&arena);
    return 0;
}

// Two replicas of two ranks of two devices: replica 0 on a and b, replica 1 on c and d; or on nodes that hold two groups.
static const char *launch(const char *const nodes[4], enum launch_format format, enum rank_order order, enum status want)
{
    struct plan_placement placement = {.replica_count = 2, .rank_count = 2, .nodes = (const char **)(uintptr_t)nodes};
    struct plan plan = {.document = {.path = "plan.json"}, .layout = {LAYOUT_PLAIN(2), .tensor = 2, .context = 1, .data = 2}, .placement = &placement};
    struct error err = {OK, ""};
    const char *text = NULL;
    size_t length;
    assert_int_equal(report_launch(&plan, format, order, &text, &length, &arena, &err), want);
    return want == OK ? text : arena_copy_text(&arena, err.text);
}

static void test_orders(void **state)
{
    static const char *const apart[4] = {"a", "b", "c", "d"}, *const together[4] = {"a", "b", "a", "b"};
    (void)state;
    // rank = t + 2 (d + 2 p), and t + 2 (p + 2 d)
    assert_string_equal(launch(apart, LAUNCH_HOSTFILE, RANK_ORDER_DATA_FIRST, OK), "a\na\nc\nc\nb\nb\nd\nd\n");
    assert_string_equal(launch(apart, LAUNCH_HOSTFILE, RANK_ORDER_PIPELINE_FIRST, OK), "a\na\nb\nb\nc\nc\nd\nd\n");
    assert_string_equal(launch(apart, LAUNCH_HOSTS, RANK_ORDER_DATA_FIRST, OK), "a\nc\nb\nd\n");
    assert_string_equal(launch(together, LAUNCH_HOSTS, RANK_ORDER_DATA_FIRST, OK), "a\nb\n");
    assert_string_equal(launch(together, LAUNCH_RANKFILE, RANK_ORDER_PIPELINE_FIRST, OK),
                        "rank 0=a slot=0\nrank 1=a slot=1\nrank 2=b slot=0\nrank 3=b slot=1\nrank 4=a slot=2\nrank 5=a slot=3\nrank 6=b slot=2\nrank 7=b slot=3\n");
    assert_non_null(strstr(launch(together, LAUNCH_HOSTS, RANK_ORDER_PIPELINE_FIRST, BAD_INPUT), "'a' do not stand together"));
}

static void test_without_placement(void **state)
{
    struct plan plan = {.document = {.path = "plan.json"}};
    struct error err = {OK, ""};
    const char *text;
    size_t length;
    (void)state;
    assert_int_equal(report_launch(&plan, LAUNCH_HOSTFILE, RANK_ORDER_DATA_FIRST, &text, &length, &arena, &err), BAD_INPUT);
    assert_non_null(strstr(err.text, "plan.json: placement"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders), cmocka_unit_test(test_without_placement)};
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
