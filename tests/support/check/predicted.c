// Predictions of runs that words state.
#include "tests/support/check/predicted.h"

#include "tests/support/check.h"

void predict_open(struct predictor **p, struct arena *arena)
{
    struct error err = {OK, ""};
    struct predict_settings settings = {.margin = 0.9, .ranges = true};
    CHECK_OK(predictor_open(p, &settings, arena, &err));
}

bool predict_try(struct predictor *p, struct prediction *x, const char *text, const char *more,
                 struct arena *arena)
{
    struct error err = {OK, ""};
    struct run_row row;
    const char *words[] = {text, more};
    CHECK_OK(row_of_words(&row, words, *more ? 2 : 1, arena, &err));
    predict_row(p, &row, x);
    return !*x->reason;
}

bool try_words(struct prediction *x, const char *text, const char *more, struct arena *arena)
{
    struct predictor *p;
    predict_open(&p, arena);
    return predict_try(p, x, text, more, arena);
}

void predict_words(struct prediction *x, const char *text, const char *more, struct arena *arena)
{
    if (!try_words(x, text, more, arena)) fail_msg("%s", x->reason);
}
