// Bytes between processes of one machine; values are read in the order in which they were written.
// A message that ends too early sets `broken` and yields zeros; a length from the other side is
// never trusted beyond what is there.
#ifndef PLUMBLINE_SOLVE_PROCESS_MESSAGE_H
#define PLUMBLINE_SOLVE_PROCESS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/base/arena.h"

struct message {
    char *bytes;
    size_t used, capacity, read;
    bool broken;
    struct arena *arena;
};

void message_begin(struct message *m, struct arena *arena);
void message_put(struct message *m, const void *bytes, size_t size);
void message_put_count(struct message *m, int64_t value);
void message_get(struct message *m, void *bytes, size_t size);
int64_t message_get_count(struct message *m);
// An array's length, at most what the rest of the message can contain.
int message_get_length(struct message *m, size_t element_size);
// Reads `count` elements into the arena; none if the rest of the message cannot contain them.
void *message_get_array(struct message *m, int64_t count, size_t element_size, struct arena *arena);
// An array that a struct points to, after the struct itself: put or, with an arena, read into it.
// pointer: that of the array's pointer; NULL stays NULL.
void message_pass_array(struct message *m, void *pointer, int64_t count, size_t element_size,
                        struct arena *arena);
void message_put_text(struct message *m, const char *text); // NULL: as ""
const char *message_get_text(struct message *m, struct arena *arena);

#endif
