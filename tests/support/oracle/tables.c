// See tables.h.
#include "tests/support/oracle/tables.h"
#include "tests/support/check.h"

void build_schedule(struct schedule *s, const struct schedule_request *r, struct arena *arena)
{
    struct error err = {OK, ""};
    enum status status = schedule_build(s, r, arena, &err);
    if (status != OK) print_error("%s\n", err.text);
    assert_int_equal(status, OK);
}

const struct stream *stream_of(const struct schedule *s, enum stream_kind kind, int rank)
{
    for (int i = 0; i < s->stream_count; i++)
        if (s->streams[i].kind == kind && s->streams[i].rank == rank) return &s->streams[i];
    return NULL;
}

int kind_of(const struct schedule *s, int operation)
{
    return s->operations[operation].symbol / s->request.stage_count;
}

int symbol_stage_of(const struct schedule *s, int operation)
{
    return s->operations[operation].symbol % s->request.stage_count;
}
