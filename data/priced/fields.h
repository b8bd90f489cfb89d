// Compression options as the priced document and the plan both write them.
#ifndef PLUMBLINE_DATA_PRICED_FIELDS_H
#define PLUMBLINE_DATA_PRICED_FIELDS_H

#include "data/priced/priced.h"
#include "data/text/members.h"

// An array of exactly `expected` prices of at least `low`; an absent one is all zero. And `tables`
// of them.
enum status priced_prices_get(const struct json *array, int expected, double low, int64_t **values,
                              struct arena *arena, struct error *err);
enum status priced_tables_get(const struct json *array, int tables, int expected, double low,
                              int64_t ***values, struct arena *arena, struct error *err);
void priced_prices_put(struct json_writer *w, const char *key, const int64_t *values, int count);
void priced_tables_put(struct json_writer *w, const char *key, int64_t *const *tables,
                       int table_count, int count);

// places.c, of the whole priced document. `passes_ns`: the longest that all passes can take.
member_get priced_places_get;
member_put priced_places_put;
enum status priced_places_check(const struct priced *p, double passes_ns, double sum_max,
                                struct error *err);

// pipette.c
enum status priced_pipette_get(const struct json *object, struct priced *priced,
                               struct arena *arena, struct error *err);
enum status priced_pipette_check(const struct priced *p, double sum_max, struct error *err);
void priced_pipette_put(struct json_writer *w, const struct priced *priced);

#endif
