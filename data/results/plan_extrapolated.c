// Where a plan's prices went beyond the samples that its costs were fitted on: said, not judged.
#include <math.h>

#include "data/results/internal.h"

enum { EXTRAPOLATIONS_MAX = 4096 };

double plan_extrapolation_times(const struct plan_extrapolation *e)
{
    double above = e->valid_high > 0 ? e->greatest / e->valid_high : 1,
           below = e->least > 0 ? e->valid_low / e->least : 1;
    return fmax(above, below);
}

enum status plan_extrapolations_get(const struct json *array, struct plan *p, struct arena *arena,
                                    struct error *err)
{
    p->extrapolated_count = json_length(array);
    if (p->extrapolated_count > EXTRAPOLATIONS_MAX)
        return json_refuse(array, err, "expected at most %d entries, found %d", EXTRAPOLATIONS_MAX,
                           p->extrapolated_count);
    p->extrapolated = TAKE(arena, p->extrapolated_count, struct plan_extrapolation);
    for (int i = 0; i < p->extrapolated_count; i++) {
        struct json element = json_element(array, i, arena);
        struct plan_extrapolation *e = &p->extrapolated[i];
        struct json_field fields[] = {
            FIELD_TEXT("cost", REQUIRED, &e->cost),
            FIELD_TEXT("gpu", REQUIRED, &e->gpu),
            FIELD_TEXT("of", REQUIRED, &e->of),
            FIELD_NUMBER("least", REQUIRED, &e->least, 0, HUGE_VAL),
            FIELD_NUMBER("greatest", REQUIRED, &e->greatest, 0, HUGE_VAL),
            FIELD_NUMBER("valid_low", REQUIRED, &e->valid_low, 0, HUGE_VAL),
            FIELD_NUMBER("valid_high", REQUIRED, &e->valid_high, 0, HUGE_VAL),
            {.key = "times", .type = JSON_SKIP, .need = OPTIONAL},
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
    }
    return OK;
}

void plan_extrapolations_put(struct json_writer *w, const struct plan *p)
{
    json_open_array(w, "extrapolated");
    for (int i = 0; i < p->extrapolated_count; i++) {
        const struct plan_extrapolation *e = &p->extrapolated[i];
        json_open_flat_object(w, NULL);
        json_put_text(w, "cost", e->cost);
        json_put_text(w, "gpu", e->gpu);
        json_put_text(w, "of", e->of);
        json_put_number(w, "least", e->least);
        json_put_number(w, "greatest", e->greatest);
        json_put_number(w, "valid_low", e->valid_low);
        json_put_number(w, "valid_high", e->valid_high);
        json_put_number(w, "times", plan_extrapolation_times(e));
        json_close_object(w);
    }
    json_close_array(w);
}
