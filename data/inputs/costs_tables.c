// Costs of measured collectives and messages between a number of ranks: tables of points, or
// segments of straight lines (docs/FORMATS.md; docs/FORMULAS.md section 2 defines their meaning).

#include "data/inputs/costs_internal.h"

enum { POINTS_MAX = 256, SEGMENTS_MAX = 16 };
#define BYTES_MAX 1e18
#define SECONDS_MAX 1e6
#define RATE_MAX 1e21

static const struct member segment_rows[] = {
    KEY_NUMBER(segment, from_bytes, REQUIRED, ALWAYS_WRITTEN, 0, BYTES_MAX),
    ESTIMATE_NEEDED(segment, "seconds", seconds, 0, SECONDS_MAX),
    ESTIMATE_NEEDED(segment, "bytes_per_s", bytes_per_s, 1, RATE_MAX),
};
static MEMBERS(segment, struct segment, NULL, false, NULL);

// As many as bytes, which has been read before.
GET_MEMBER(get_seconds)
{
    struct collective_times *t = to;
    int count = 0;
    if (!json_is_present(value)) return OK;
    TRY(json_numbers(value, 1e-12, SECONDS_MAX, &t->seconds, &count, arena, err));
    if (count == t->point_count || !t->point_count) return OK;
    return json_refuse(value, err, "expected %d numbers, as many as bytes, found %d",
                       t->point_count, count);
}

PUT_MEMBER(put_seconds)
{
    const struct collective_times *t = from;
    if (!t->point_count) return;
    json_open_flat_array(w, key);
    for (int i = 0; i < t->point_count; i++) json_put_number(w, NULL, t->seconds[i]);
    json_close_array(w);
}

GET_MEMBER(finish_collective)
{
    bool lines = json_has(value, "segments");
    if (json_has(value, "bytes") != lines && json_has(value, "seconds") != lines) return OK;
    return json_refuse(value, err, "expected either bytes and seconds or segments");
}

static const struct member collective_rows[] = {
    KEY_TEXT(collective_times, gpu, REQUIRED),
    KEY_BOOL(collective_times, send, OPTIONAL, ALWAYS_WRITTEN),
    KEY_BOOL(collective_times, between_nodes, OPTIONAL, ALWAYS_WRITTEN),
    KEY_COUNT(collective_times, ranks, REQUIRED, ALWAYS_WRITTEN, 2, 1 << 20),
    KEY_COUNT(collective_times, nodes, OPTIONAL, IF_SET, 0, 1 << 20),
    KEY_ARRAY(collective_times, bytes, point_count, JSON_NUMBER, OPTIONAL, IF_SET, 1, BYTES_MAX,
              INT_MAX),
    KEY_PART("seconds", JSON_ARRAY, OPTIONAL, 0, get_seconds, put_seconds),
    KEY_LIST(collective_times, segments, segment_count, OPTIONAL, IF_SET, SEGMENTS_MAX,
             &segment_members),
};
MEMBERS(collective, struct collective_times, NULL, false, finish_collective);

static enum status check_segments(const struct costs *c, int entry, struct error *err)
{
    const struct collective_times *t = &c->collectives[entry];
    for (int k = 0; k < t->segment_count; k++) {
        const struct segment *s = &t->segments[k];
        char where[80];
        snprintf(where, sizeof where, "collectives[%d].segments[%d].", entry, k);
        if (k ? !(s->from_bytes > t->segments[k - 1].from_bytes) : s->from_bytes != 0)
            return refuse(err,
                          "%sfrom_bytes: expected 0 of the first and more of each next, found %g",
                          where, s->from_bytes);
        TRY(estimates_check(&segment_members, s, where, err));
        // Every end of its interval is priced as well.
        if (!(s->bytes_per_s.low >= 1))
            return refuse(err, "%sbytes_per_s.low: expected at least 1, found %g", where,
                          s->bytes_per_s.low);
    }
    return OK;
}

enum status collectives_check(const struct costs *c, struct error *err)
{
    for (int i = 0; i < c->collective_count; i++) {
        const struct collective_times *t = &c->collectives[i];
        if (t->send && t->ranks != 2)
            return refuse(err, "collectives[%d].ranks: a send is between 2, found %lld", i,
                          (long long)t->ranks);
        if (t->nodes && (t->send || !t->between_nodes || t->nodes < 2 || t->nodes > t->ranks))
            return refuse(err,
                          "collectives[%d].nodes: expected 2 to ranks, of an all-reduce between "
                          "nodes, found %lld",
                          i, (long long)t->nodes);
        if (!t->gpu || !*t->gpu || t->ranks < 2)
            return refuse(err, "collectives[%d]: expected a gpu and at least 2 ranks", i);
        if (t->segment_count ? t->point_count || t->segment_count > SEGMENTS_MAX
                             : t->point_count < 1 || t->point_count > POINTS_MAX)
            return refuse(err, "collectives[%d]: expected 1 to %d points or 1 to %d segments", i,
                          POINTS_MAX, SEGMENTS_MAX);
        for (int k = 0; k < t->point_count; k++)
            if (!(t->bytes[k] > (k ? t->bytes[k - 1] : 0)) || !(t->seconds[k] > 0))
                return refuse(err,
                              "collectives[%d]: expected ascending bytes and seconds above 0, "
                              "found %g bytes, %g s at point %d",
                              i, t->bytes[k], t->seconds[k], k);
        TRY(check_segments(c, i, err));
    }
    return OK;
}
