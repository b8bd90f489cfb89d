// What certificates in several parts have in common: their claims, and the counts of their proofs.
#include "solve/checker/places/internal.h"

enum status check_read_parts(struct check_result *result, const cJSON **parts, const cJSON *places,
                             const struct reader *r)
{
    const struct value_field fields[] = {
        {.key = "by"},
        {"?infeasible", .flag = &result->infeasible},
        {"?bound_ns", 0, MOST_SUM, .large = &result->bound_ns},
        {"parts", .value = parts, .type = cJSON_Array},
        {NULL},
    };
    TRY(value_fields(r, places, "places", fields, NULL));
    if (result->infeasible == (result->bound_ns >= 0))
        return check_refuse(r, "places", "expected either infeasible or bound_ns");
    return OK;
}

void check_add_counts(struct check_result *to, const struct check_result *from)
{
    to->operations = from->operations;
    to->choices += from->choices, to->paths += from->paths, to->rounds += from->rounds;
    to->boxes += from->boxes, to->splits += from->splits, to->leaves += from->leaves;
}
