// Costs of collectives and messages that were measured between so many ranks: tables of points, or
// segments of straight lines (docs/FORMATS.md; what they mean is docs/FORMULAS.md section 2).
#include <stdio.h>

#include "data/inputs/costs_internal.h"

enum { COLLECTIVES_MAX = 4096, POINTS_MAX = 256, SEGMENTS_MAX = 16 };
#define BYTES_MAX 1e18
#define SECONDS_MAX 1e6
#define RATE_MAX 1e21

static const char *name_of(const struct costs *c)
{
    return c->document.path ? c->document.path : "costs";
}

static enum status read_segments(const struct json *array, struct collective_times *to,
                                 struct arena *arena, struct error *err)
{
    to->segment_count = json_length(array);
    to->segments = TAKE(arena, to->segment_count, struct segment);
    for (int i = 0; i < to->segment_count; i++) {
        struct json element = json_element(array, i, arena), seconds = {0}, rate = {0};
        struct segment *s = &to->segments[i];
        struct json_field fields[] = {
            FIELD_NUMBER("from_bytes", REQUIRED, &s->from_bytes, 0, BYTES_MAX),
            FIELD_OBJECT("seconds", REQUIRED, &seconds),
            FIELD_OBJECT("bytes_per_s", REQUIRED, &rate),
        };
        TRY(JSON_FIELDS(&element, fields, arena, err));
        TRY(estimate_get(&seconds, &s->seconds, 0, SECONDS_MAX, arena, err));
        TRY(estimate_get(&rate, &s->bytes_per_s, 1, RATE_MAX, arena, err));
    }
    return OK;
}

static enum status read_entry(const struct json *entry, struct collective_times *to,
                              struct arena *arena, struct error *err)
{
    struct json bytes = {0}, seconds = {0}, segments = {0};
    int points = 0;
    struct json_field fields[] = {
        FIELD_TEXT("gpu", REQUIRED, &to->gpu),
        FIELD_BOOL("send", OPTIONAL, &to->send),
        FIELD_BOOL("between_nodes", OPTIONAL, &to->between_nodes),
        FIELD_COUNT("ranks", REQUIRED, &to->ranks, 2, 1 << 20),
        FIELD_ARRAY("bytes", OPTIONAL, &bytes),
        FIELD_ARRAY("seconds", OPTIONAL, &seconds),
        FIELD_ARRAY("segments", OPTIONAL, &segments),
    };
    TRY(JSON_FIELDS(entry, fields, arena, err));
    bool lines = json_is_present(&segments);
    if (json_is_present(&bytes) == lines || json_is_present(&seconds) == lines)
        return json_refuse(entry, err, "expected either bytes and seconds or segments");
    if (lines) return read_segments(&segments, to, arena, err);
    TRY(json_numbers(&bytes, 1, BYTES_MAX, &to->bytes, &to->point_count, arena, err));
    TRY(json_numbers(&seconds, 1e-12, SECONDS_MAX, &to->seconds, &points, arena, err));
    if (points != to->point_count)
        return json_refuse(&seconds, err, "expected %d numbers, as many as bytes, found %d",
                           to->point_count, points);
    return OK;
}

enum status collectives_get(const struct json *array, struct costs *c, struct arena *arena,
                            struct error *err)
{
    int count = json_length(array);
    if (count > COLLECTIVES_MAX)
        return json_refuse(array, err, "expected at most %d entries, found %d", COLLECTIVES_MAX,
                           count);
    c->collective_count = count;
    c->collectives = TAKE(arena, count, struct collective_times);
    for (int i = 0; i < count; i++) {
        struct json entry = json_element(array, i, arena);
        TRY(read_entry(&entry, &c->collectives[i], arena, err));
    }
    return OK;
}

static enum status check_segments(const struct costs *c, int entry, struct error *err)
{
    const struct collective_times *t = &c->collectives[entry];
    for (int k = 0; k < t->segment_count; k++) {
        const struct segment *s = &t->segments[k];
        char where[80];
        snprintf(where, sizeof where, "collectives[%d].segments[%d].", entry, k);
        if (k ? !(s->from_bytes > t->segments[k - 1].from_bytes) : s->from_bytes != 0)
            return fail(err, BAD_INPUT,
                        "%s: %sfrom_bytes: expected 0 of the first and more of each next, found %g",
                        name_of(c), where, s->from_bytes);
        TRY(estimate_check(c, where, "seconds", &s->seconds, 0, SECONDS_MAX, err));
        TRY(estimate_check(c, where, "bytes_per_s", &s->bytes_per_s, 1, RATE_MAX, err));
        // Every end of its interval is priced, too.
        if (!(s->bytes_per_s.low >= 1))
            return fail(err, BAD_INPUT, "%s: %sbytes_per_s.low: expected at least 1, found %g",
                        name_of(c), where, s->bytes_per_s.low);
    }
    return OK;
}

enum status collectives_check(const struct costs *c, struct error *err)
{
    const char *file = name_of(c);
    for (int i = 0; i < c->collective_count; i++) {
        const struct collective_times *t = &c->collectives[i];
        if (t->send && t->ranks != 2)
            return fail(err, BAD_INPUT,
                        "%s: collectives[%d].ranks: a send is between 2, found %lld", file, i,
                        (long long)t->ranks);
        if (!t->gpu || !*t->gpu || t->ranks < 2)
            return fail(err, BAD_INPUT, "%s: collectives[%d]: expected a gpu and at least 2 ranks",
                        file, i);
        if (t->segment_count ? t->point_count || t->segment_count > SEGMENTS_MAX
                             : t->point_count < 1 || t->point_count > POINTS_MAX)
            return fail(err, BAD_INPUT,
                        "%s: collectives[%d]: expected 1 to %d points or 1 to %d segments", file, i,
                        POINTS_MAX, SEGMENTS_MAX);
        for (int k = 0; k < t->point_count; k++)
            if (!(t->bytes[k] > (k ? t->bytes[k - 1] : 0)) || !(t->seconds[k] > 0))
                return fail(err, BAD_INPUT,
                            "%s: collectives[%d]: expected ascending bytes and seconds above 0, "
                            "found %g bytes, %g s at point %d",
                            file, i, t->bytes[k], t->seconds[k], k);
        TRY(check_segments(c, i, err));
    }
    return OK;
}

static void put_numbers(struct json_writer *w, const char *key, const double *values, int count)
{
    json_open_flat_array(w, key);
    for (int k = 0; k < count; k++) json_put_number(w, NULL, values[k]);
    json_close_array(w);
}

void collectives_put(struct json_writer *w, const struct costs *c)
{
    if (!c->collective_count) return;
    json_open_array(w, "collectives");
    for (int i = 0; i < c->collective_count; i++) {
        const struct collective_times *t = &c->collectives[i];
        json_open_object(w, NULL);
        json_put_text(w, "gpu", t->gpu);
        json_put_bool(w, "send", t->send);
        json_put_bool(w, "between_nodes", t->between_nodes);
        json_put_count(w, "ranks", t->ranks);
        if (t->segment_count) {
            json_open_array(w, "segments");
            for (int k = 0; k < t->segment_count; k++) {
                json_open_object(w, NULL);
                json_put_number(w, "from_bytes", t->segments[k].from_bytes);
                estimate_put(w, "seconds", &t->segments[k].seconds);
                estimate_put(w, "bytes_per_s", &t->segments[k].bytes_per_s);
                json_close_object(w);
            }
            json_close_array(w);
        } else {
            put_numbers(w, "bytes", t->bytes, t->point_count);
            put_numbers(w, "seconds", t->seconds, t->point_count);
        }
        json_close_object(w);
    }
    json_close_array(w);
}
