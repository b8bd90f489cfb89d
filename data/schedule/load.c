// What one micro-batch occupies of every compute stream and every link direction, for the maximum
// load (docs/FORMULAS.md section 17). The streams are those of the schedule for a single
// micro-batch, each on its own: a transfer that blocks both ends counts at both, a delay occupies
// nothing, and what an iteration does only once is left out.
#include "data/schedule/schedule.h"

static int operations_on_streams(const struct schedule *s)
{
    int count = 0;
    for (int i = 0; i < s->stream_count; i++) count += s->streams[i].count;
    return count;
}

enum status schedule_build_load(struct schedule *s, const struct schedule_request *request,
                                struct arena *arena, struct error *err)
{
    struct schedule_request one = *request;
    struct schedule single;
    one.micro_batches = 1;
    one.barrier = true;
    one.epilogue = one.sync = one.optimizer = one.embedding_sync = false;
    TRY(schedule_build(&single, &one, arena, err));
    *s = (struct schedule){
        .request = one,
        .streams = TAKE(arena, single.stream_count, struct stream),
        .operations = TAKE(arena, operations_on_streams(&single), struct operation)};
    for (int i = 0; i < single.stream_count; i++) {
        struct stream *stream = &s->streams[s->stream_count++];
        *stream = single.streams[i];
        stream->operations = TAKE(arena, stream->count, int);
        for (int k = 0; k < stream->count; k++) {
            s->operations[s->operation_count] = single.operations[single.streams[i].operations[k]];
            stream->operations[k] = s->operation_count++;
        }
    }
    return OK;
}
