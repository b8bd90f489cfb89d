// Links that are slower (or faster) than the cluster states otherwise: a factor on the bandwidth of
// an ordered pair of nodes, whatever joins them, so that measured values stay in the document as
// measured.
#include "data/places/places.h"

#include "data/places/internal.h"

double places_factor(const struct places *p, int from, int to)
{
    return p->factors ? p->factors[pair_of(p, from, to)] : 1;
}

enum status places_degraded_get(const struct json *array, void *to, const void *context,
                                struct arena *arena, struct error *err)
{
    struct places *p = to;
    size_t pairs = pair_of(p, p->node_count, 0);
    bool *seen = TAKE(arena, pairs, bool);
    (void)context;
    if (!json_length(array)) return OK;
    p->factors = TAKE(arena, pairs, double);
    for (size_t i = 0; i < pairs; i++) p->factors[i] = 1;
    for (int i = 0; i < json_length(array); i++) {
        struct json element = json_element(array, i, arena);
        const char *names[2] = {NULL, NULL};
        size_t pair;
        double factor = 1;
        struct json_field fields[] = {
            FIELD_TEXT("from", REQUIRED, &names[0]),
            FIELD_TEXT("to", REQUIRED, &names[1]),
            FIELD_NUMBER("factor", REQUIRED, &factor, PLACES_FACTOR_LEAST, PLACES_FACTOR_MOST),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        TRY(places_pair_get(&element, p, names, seen, &pair, err));
        p->factors[pair] = factor;
    }
    return OK;
}

void places_degraded_put(struct json_writer *w, const char *key, const void *from,
                         const void *context)
{
    const struct places *p = from;
    bool any = false;
    (void)context;
    for (int i = 0; i < p->node_count && !any; i++)
        for (int k = 0; k < p->node_count; k++) any = any || places_factor(p, i, k) != 1;
    if (!any) return;
    json_open_array(w, key);
    for (int i = 0; i < p->node_count; i++)
        for (int k = 0; k < p->node_count; k++) {
            if (places_factor(p, i, k) == 1) continue;
            json_open_flat_object(w, NULL);
            json_put_text(w, "from", p->nodes[i].name);
            json_put_text(w, "to", p->nodes[k].name);
            json_put_number(w, "factor", places_factor(p, i, k));
            json_close_object(w);
        }
    json_close_array(w);
}
