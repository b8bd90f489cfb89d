// Compression options as both the priced document and the plan write them.
#pragma once

#include "data/priced/priced.h"
#include "data/text/members.h"

// The document's path for messages.
const char *priced_file(const struct priced *p);

// An array of exactly `expected` prices of at least `low`; a missing array is all zero. And
// `tables` arrays of them.
enum status priced_prices_get(const struct json *array, int expected, double low, int64_t **values,
                              struct arena *arena, struct error *err);
enum status priced_tables_get(const struct json *array, int tables, int expected, double low,
                              int64_t ***values, struct arena *arena, struct error *err);
void priced_tables_put(struct json_writer *w, const char *key, int64_t *const *tables,
                       int table_count, int count);

// The functions of a member whose length follows from the document read so far, p: what `get`
// returns and `put` does.
#define OF_PRICED(name, get, put)                                                                  \
    GET_MEMBER(get_##name)                                                                         \
    {                                                                                              \
        const struct priced *p = context;                                                          \
        return get;                                                                                \
    }                                                                                              \
    PUT_MEMBER(put_##name)                                                                         \
    {                                                                                              \
        const struct priced *p = context;                                                          \
        put;                                                                                       \
    }
// Of arrays of `count` prices.
#define PRICES(name, count, low)                                                                   \
    OF_PRICED(name, priced_prices_get(value, count, low, to, arena, err),                          \
              json_put_counts(w, key, *(int64_t *const *)from, count))
#define TABLES(name, tables, count)                                                                \
    OF_PRICED(name, priced_tables_get(value, tables, count, PRICE_NONE, to, arena, err),           \
              priced_tables_put(w, key, *(int64_t * *const *)from, tables, count))
// A member with these functions.
#define KEY_PRICES(s, member, need, kind)                                                          \
    KEY_PART(#member, JSON_ARRAY, need, offsetof(struct s, member), get_##kind, put_##kind)

// widths.c: the bytes of a run by group, those of a message, and what widths exclude
extern const struct members priced_seat_members;
member_get priced_seats_get, priced_seat_bytes_get, priced_entries_get;
member_put priced_seats_put, priced_seat_bytes_put, priced_entries_put;
enum status priced_check_widths(const struct priced *p, struct error *err);

// Bytes by mode, as runs have them.
member_get priced_modes_get;
member_put priced_modes_put;

// tiers.c: what a priced document says of tiers, whether a run's part of it is sound, and the most
// bytes and the longest passes that a layer of the run adds.
extern const struct members priced_tiered_members; // of a run, with each option
enum status priced_tiered_check(const struct priced *p, int run, struct error *err);
double priced_largest_tiered(const struct priced *p, const struct priced_run *run);
double priced_longest_tiered(const struct priced_run *run, int pass);

// lists.c: whether there is a list-th one of runs besides the model's, and it as the only layers,
// without messages; what such lists exclude. check.c: one run.
bool priced_list_alone(const struct priced *p, int list, struct priced *alone);
enum status priced_check_lists(const struct priced *p, struct error *err);
enum status priced_check_run(const struct priced *p, int run, struct error *err);

// places.c, for the whole priced document
extern const struct members priced_places_members;
member_get priced_places_get;
member_put priced_places_put;
static inline size_t pairs_of(const struct priced_places *p)
{
    return (size_t)p->node_count * (size_t)p->node_count;
}
static inline size_t ring_prices(const struct priced_places *p)
{
    return (size_t)p->ring_level_count * priced_ring_links(p);
}
// check.c: the longest of a class's transfers there and back over any link, with any option.
double priced_longest_transfer(const struct priced *p, const int64_t *forward_ns,
                               int64_t *const *backward_ns, size_t links);
// places_check.c; `passes_ns`: the maximum time of all passes
enum status priced_places_check(const struct priced *p, double passes_ns, double sum_max,
                                struct error *err);

// pipette.c
extern const struct members pipette_members; // context: a priced document with its nodes
enum status priced_pipette_check(const struct priced *p, double sum_max, struct error *err);
