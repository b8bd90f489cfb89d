// The decisions of a stage: see plan.h.
#include "data/results/plan.h"

const struct member decision_rows[] = {DECISION_KEYS(decision)};
const int decision_row_count = ARRAY_LENGTH(decision_rows);

struct decision decision_tidy(const struct decision *d)
{
    struct decision tidy = *d;
    if (d->recompute != RECOMPUTE_SWAP) tidy.swapped_layers = 0;
    if (!recompute_counts_layers(d->recompute)) tidy.recomputed_layers = 0;
    return tidy;
}

static bool counts_layers(const struct member *row) { return row->high == LAYERS_MAX; }

void decision_put(struct json_writer *w, const struct decision *d, bool zeros)
{
    for (int i = 0; i < decision_row_count; i++) {
        const struct member *row = &decision_rows[i];
        int value = decision_value(d, row);
        if (row->names) json_put_text(w, row->key, row->names[value]);
        else if (value || (row->need == REQUIRED && (zeros || !counts_layers(row))))
            json_put_count(w, row->key, value);
    }
}

enum status decision_get(struct decision *d, const struct json *object, int gradient_options,
                         int boundary_options, struct arena *arena, struct error *err)
{
    struct json_field fields[DECISION_ROWS_MAX];
    for (int i = 0; i < decision_row_count; i++) {
        const struct member *row = &decision_rows[i];
        double high = row->at == offsetof(struct decision, gradient_option)   ? gradient_options - 1
                      : row->at == offsetof(struct decision, boundary_option) ? boundary_options - 1
                                                                              : row->high;
        fields[i] = (struct json_field){row->key,
                                        row->type,
                                        counts_layers(row) ? OPTIONAL : row->need,
                                        (char *)d + row->at,
                                        row->low,
                                        high,
                                        row->names};
    }
    return json_fields(object, fields, (size_t)decision_row_count, JSON_ENVELOPE, arena, err);
}

const char *decision_recompute_text(const struct decision *d, struct arena *arena)
{
    if (d->recompute == RECOMPUTE_FIRST_LAYERS && d->recomputed_layers == 1) return "first layer";
    if (d->recompute == RECOMPUTE_FIRST_LAYERS)
        return arena_print(arena, "first %d layers", d->recomputed_layers);
    if (d->recompute == RECOMPUTE_FULL && d->recomputed_layers)
        return arena_print(arena, "%d layers", d->recomputed_layers);
    if (d->recompute == RECOMPUTE_SWAP)
        return arena_print(arena, d->recomputed_layers ? "swap %d, full %d" : "swap %d",
                           d->swapped_layers, d->recomputed_layers);
    return recompute_names[d->recompute];
}
