// Certificates with damaged text: whatever is not JSON of the certificate's form, or too large, is
// refused with its reason; and work is limited.
#include "tests/support/trials/check_trials.h"
#include "tests/support/check.h"

// ---- damages of the text

static const struct {
    const char *from, *to, *reason;
} damages[] = {
    {"\"version\": 1", "\"version\": 1.0", "whole number"},
    {"\"version\": 1", "\"version\": 1e0", "whole number"},
    {"\"version\": 1", "\"version\": 01", "starts with 0"},
    {"\"version\": 1", "\"version\": -0", "sign"},
    {"\"version\": 1", "\"version\": +1", "expected a value"},
    {"\"version\": 1", "\"version\": NaN", "expected a value"},
    {"\"version\": 1", "\"version\": 1000000000000000000", "18 digits"},
    {"\"version\": 1", "\"version\": 999999999999999999", "version"},
    {"\"version\": 1", "\"version\": \"1\"", "version"},
    {"\"version\": 1", "\"version\": null", "version"},
    {"\"version\": 1", "\"version\": 1, \"version\": 1", "twice"},
    {"\"version\": 1,", "\"version\": 1,,", "expected a key"},
    {"\"version\": 1,", "", "version"},
    {"\"version\": 1", "\"version\": {}", "version"},
    {"\"plumbline.certificate\"", "\"plumbline.certificate\\u0000\"", "escape"},
    {"\"plumbline.certificate\"", "\"plumbline.certificate\\ud800\"", "escape"},
    {"\"plumbline.certificate\"", "\"plumbline.certificate\\x\"", "escape"},
    {"\"plumbline.certificate\"", "\"plumbline.certificate\t\"", "control"},
    {"\"plumbline.certificate\"", "\"plumbline.certificate\xff\"", "UTF-8"},
    {"\"plumbline.certificate\"", "\"plumbline.certificate\xc0\xaf\"", "UTF-8"},
    {"\"plumbline.certificate\"", "\"plumbline.certificate", "line"},
    {"\"paths\": [", "\"paths\": [[[[[[[[[[[[[[[[[[[[", "deeply"},
    {"\"paths\": [", "\"paths\": {", "line"},
    {"{\"weights\"", "{\"prices\": {\"slots\": [[0, 999999999999999999]]}, \"weights\"", "2^59"},
};

static struct check_text edited(const struct check_text *text, const char *from, const char *to,
                                struct arena *arena)
{
    const char *at = strstr(text->text, from);
    struct check_text out = {.file = "damaged.json"};
    assert_non_null(at);
    out.text =
        arena_print(arena, "%.*s%s%s", (int)(at - text->text), text->text, to, at + strlen(from));
    out.size = strlen(out.text);
    return out;
}

static void open_with_plan(struct check_trial *t, struct arena *arena)
{
    uint64_t seed = 1;
    while (!check_trial_open(t, seed, arena) || t->best_ns == INT64_MAX) seed++;
}

TEST(test_text)
{
    struct check_trial t;
    open_with_plan(&t, arena);
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct check_text text = edited(&t.certificate, damages[i].from, damages[i].to, arena);
        check_trial_refused(damages[i].to, &text, &t.text, damages[i].reason, false, arena);
    }
    // Truncated anywhere, in the certificate and in the problem; then text after the end.
    for (size_t size = 0; size + 2 < t.certificate.size; size += 7) {
        struct check_text text = {"short.json", t.certificate.text, size};
        check_trial_refused("truncated", &text, &t.text, "line", false, arena);
    }
    struct check_text longer = edited(&t.certificate, "\n", "", arena);
    longer.text = arena_print(arena, "%s{}", longer.text);
    longer.size += 2;
    check_trial_refused("something behind", &longer, &t.text, "after the document", false, arena);
}

// ---- sizes and work

TEST(test_sizes)
{
    struct check_trial t;
    struct check_result result;
    open_with_plan(&t, arena);
    const size_t huge = ((size_t)1 << 26) + 1;
    char *blanks = TAKE(arena, huge, char);
    memset(blanks, ' ', huge);
    struct check_text large = {"large.json", blanks, huge};
    check_trial_refused("oversized", &large, &t.text, "larger than", false, arena);
    // As many brackets as fit, and as many values.
    large.size = 1 << 20;
    memset(blanks, '[', large.size);
    check_trial_refused("nested", &large, &t.text, "deeply", false, arena);
    for (size_t i = 1; i < huge - 1; i++) blanks[i] = i % 2 ? '0' : ',';
    blanks[0] = '[';
    large.size = huge - 1;
    check_trial_refused("values", &large, &t.text, "more values", false, arena);
    for (uint64_t limit = 1; limit < 100; limit += 7) {
        CHECK_OK(check_certificate(&result, &t.certificate, &t.text, limit, arena, &err));
        assert_false(result.accepted);
        assert_non_null(strstr(result.reason, "work limit"));
    }
}
