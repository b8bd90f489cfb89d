// What is decided of a stage: see choices.h.

#include "solve/checker/layout/choices.h"

#define AT(member) offsetof(struct check_decision, member)
const struct check_decision_row check_decision_rows[] = {
    {"?recompute", AT(mode), check_mode_names, false},
    {"?recomputed_layers", AT(recomputed), NULL, false},
    {"?swapped_layers", AT(swapped), NULL, true},
    {"?sharded_layers", AT(sharded), NULL, true},
    {"?vocabulary_tensor", AT(vocabulary), NULL, true},
    {"?gradient_option", AT(gradient), NULL, false},
    {"?boundary_option", AT(boundary), NULL, false},
};
const int check_decision_row_count = ARRAY_LENGTH(check_decision_rows);

static bool is_or_any(int stated, int found) { return stated < 0 || stated == found; }

bool check_decision_is(const struct check_decision *stated, const struct check_decision *d)
{
    for (int i = 0; i < check_decision_row_count; i++) {
        const struct check_decision_row *row = &check_decision_rows[i];
        if (!is_or_any(check_decision_value(stated, row), check_decision_value(d, row)))
            return false;
    }
    return is_or_any(stated->layers, d->layers) && is_or_any(stated->group, d->group) &&
           (is_or_any(stated->first, d->first) || (d->first < 0 && stated->first >= -1 - d->first));
}

static int most_of(const struct check_decision_row *row, const struct check_problem *p)
{
    if (row->at == AT(gradient)) return p->gradient_count - 1;
    if (row->at == AT(vocabulary)) return MOST_DEGREE;
    return row->at == AT(boundary) ? p->boundary_count - 1 : p->layers;
}

void check_decision_fields(struct value_field *fields, const struct check_problem *p,
                           struct check_decision *d, bool of_split, const char **names)
{
    *fields++ = (struct value_field){of_split ? "?group" : "group", .small = &d->group,
                                     .names = check_group_names(p, names)};
    for (int i = 0; i < check_decision_row_count; i++) {
        const struct check_decision_row *row = &check_decision_rows[i];
        *fields++ = (struct value_field){
            of_split || row->if_set ? row->key : row->key + 1, .high = most_of(row, p),
            .small = (int *)((char *)d + row->at), .names = row->names};
    }
    *fields = (struct value_field){NULL};
}
