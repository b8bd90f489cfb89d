// "args" of a trace's events.
#include "data/import/trace/ops.h"

#include <stdlib.h>
#include <string.h>

static int64_t whole(const struct json_stream *s)
{
    char *stop;
    long long x = strtoll(s->text, &stop, 10);
    return *stop ? 0 : x;
}

// ---- lists: one entry per input

static enum status read_dimensions(struct json_stream *s, struct trace_input *x, struct error *err)
{
    enum stream_token token;
    for (;;) {
        TRY(stream_next(s, &token, err));
        if (token == STREAM_ARRAY_END) return OK;
        if (token != STREAM_NUMBER) { // a list of arrays
            TRY(stream_skip(s, token, err));
            x->dimension_count = TRACE_DIMENSIONS + 1;
        } else if (x->dimension_count < TRACE_DIMENSIONS) {
            x->dimensions[x->dimension_count++] = whole(s);
        } else x->dimension_count = TRACE_DIMENSIONS + 1;
    }
}

enum list { LIST_DIMENSIONS, LIST_TYPES, LIST_VALUES };

static enum status read_list(struct json_stream *s, enum list list, struct trace_arguments *a,
                             struct error *err)
{
    enum stream_token token;
    for (int i = 0;; i++) {
        struct trace_input *x = &a->inputs[i < TRACE_INPUTS ? i : 0];
        TRY(stream_next(s, &token, err));
        if (token == STREAM_ARRAY_END) return OK;
        bool text = token == STREAM_TEXT || token == STREAM_NUMBER;
        if (i < TRACE_INPUTS && list == LIST_DIMENSIONS && token == STREAM_ARRAY) {
            TRY(read_dimensions(s, x, err));
            continue;
        }
        if (i < TRACE_INPUTS && list == LIST_TYPES && text) stream_copy(x->type, TRACE_WORD, s);
        if (i < TRACE_INPUTS && list == LIST_VALUES && text) stream_copy(x->value, TRACE_WORD, s);
        TRY(stream_skip(s, token, err));
    }
}

// ---- members

static void take_scalar(const struct json_stream *s, const char *key, int64_t *correlation,
                        struct trace_arguments *a)
{
    const struct {
        const char *key;
        int64_t *to;
    } counts[] = {{"correlation", correlation},
                  {"External id", &a->external},
                  {"bytes", &a->bytes},
                  {"In msg nelems", &a->elements_in},
                  {"Out msg nelems", &a->elements_out},
                  {"Group size", &a->group_size}};
    for (size_t i = 0; i < ARRAY_LENGTH(counts); i++)
        if (!strcmp(key, counts[i].key)) *counts[i].to = whole(s);
    if (!strcmp(key, "Collective name")) stream_copy(a->collective, TRACE_WORD, s);
    if (!strcmp(key, "dtype")) stream_copy(a->type, TRACE_WORD, s);
    if (!strcmp(key, "Process Group Ranks")) stream_copy(a->ranks, sizeof a->ranks, s);
}

void trace_arguments_clear(struct trace_arguments *a, bool whole_lists)
{
    a->external = a->bytes = a->elements_in = a->elements_out = a->group_size = 0;
    a->collective[0] = a->type[0] = a->ranks[0] = '\0';
    if (whole_lists) memset(a->inputs, 0, sizeof a->inputs);
}

enum status trace_arguments_read(struct json_stream *s, int64_t *correlation, bool whole_lists,
                                 struct trace_arguments *a, struct error *err)
{
    static const char *const lists[] = {[LIST_DIMENSIONS] = "Input Dims",
                                        [LIST_TYPES] = "Input type",
                                        [LIST_VALUES] = "Concrete Inputs"};
    enum stream_token token;
    char key[TRACE_WORD];
    for (;;) {
        TRY(stream_next(s, &token, err));
        if (token == STREAM_OBJECT_END) return OK;
        stream_copy(key, sizeof key, s);
        TRY(stream_next(s, &token, err));
        size_t list = 0;
        while (list < ARRAY_LENGTH(lists) && strcmp(lists[list], key)) list++;
        if (whole_lists && token == STREAM_ARRAY && list < ARRAY_LENGTH(lists)) {
            TRY(read_list(s, (enum list)list, a, err));
            continue;
        }
        if (token == STREAM_NUMBER || token == STREAM_TEXT) take_scalar(s, key, correlation, a);
        TRY(stream_skip(s, token, err));
    }
}
