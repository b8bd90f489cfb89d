// See check.h.
#include "tests/support/check.h"

#include <assert.h>

enum { TESTS_MAX = 64, ARGUMENTS_MAX = 4 };

struct around {
    CMFixtureFunction set_up, tear_down;
};

static test_function *functions[TESTS_MAX];
static struct CMUnitTest tests[TESTS_MAX];
static struct {
    void *variable;
    char kind;
} known[ARGUMENTS_MAX];
static int known_count;
static size_t test_count;
static struct around each, all;

struct arena own_arena;
struct error own_err;
const char *tests_only;

static int open_own(void **state)
{
    arena_open(&own_arena, NULL);
    own_err = (struct error){OK, ""};
    return each.set_up ? each.set_up(state) : 0;
}

static int close_own(void **state)
{
    int failed = each.tear_down ? each.tear_down(state) : 0;
    arena_close(&own_arena);
    return failed;
}

static void run_own(void **state) { (*(test_function **)*state)(&own_arena, own_err); }

void tests_add(const char *name, test_function *test)
{
    assert(test_count < TESTS_MAX);
    functions[test_count] = test;
    tests[test_count] =
        (struct CMUnitTest){name, run_own, open_own, close_own, &functions[test_count]};
    test_count++;
}

void tests_add_argument(void *variable, char kind)
{
    assert(known_count < ARGUMENTS_MAX);
    known[known_count].variable = variable;
    known[known_count++].kind = kind;
}

void tests_around_each(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    each = (struct around){set_up, tear_down};
}

void tests_around_all(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    all = (struct around){set_up, tear_down};
}

int tests_run(int count, char **arguments)
{
    for (int i = 0; i < known_count && i + 1 < count; i++) {
        const char *text = arguments[i + 1];
        switch (known[i].kind) {
        case 'd': *(int *)known[i].variable = atoi(text); break;
        case 'u': *(uint64_t *)known[i].variable = strtoull(text, NULL, 10); break;
        default: *(const char **)known[i].variable = text;
        }
    }
    if (tests_only) cmocka_set_test_filter(tests_only);
    return _cmocka_run_group_tests("tests", tests, test_count, all.set_up, all.tear_down);
}
