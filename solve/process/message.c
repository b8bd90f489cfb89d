// Messages between processes.
#include "solve/process/worker.h"

#include "data/base/grow.h"

#include <string.h>

void message_begin(struct message *m, struct arena *arena)
{
    *m = (struct message){.arena = arena};
}

void message_put(struct message *m, const void *bytes, size_t size)
{
    GROW_BYTES(m->arena, m->bytes, m->used, size, m->capacity);
    if (size) memcpy(m->bytes + m->used, bytes, size);
    m->used += size;
}

void message_put_count(struct message *m, int64_t value) { message_put(m, &value, sizeof value); }

void message_get(struct message *m, void *bytes, size_t size)
{
    if (m->broken || size > m->used - m->read) {
        m->broken = true;
        if (size) memset(bytes, 0, size);
        return;
    }
    if (size) memcpy(bytes, m->bytes + m->read, size);
    m->read += size;
}

int64_t message_get_count(struct message *m)
{
    int64_t value;
    message_get(m, &value, sizeof value);
    return value;
}

int message_get_length(struct message *m, size_t element_size)
{
    int64_t length = message_get_count(m);
    if (!m->broken && length >= 0 && (uint64_t)length <= (m->used - m->read) / element_size)
        return (int)length;
    m->broken = true;
    return 0;
}

void *message_get_array(struct message *m, int64_t count, size_t element_size, struct arena *arena)
{
    bool fits = count >= 0 && (uint64_t)count <= (m->used - m->read) / element_size;
    if (!fits) m->broken = true;
    void *array = arena_take(arena, fits ? (size_t)count : 0, element_size);
    if (fits) message_get(m, array, (size_t)count * element_size);
    return array;
}

void message_pass_array(struct message *m, void *pointer, int64_t count, size_t element_size,
                        struct arena *arena)
{
    void *array;
    memcpy(&array, pointer, sizeof array);
    if (!array) return;
    if (!arena) message_put(m, array, (size_t)count * element_size);
    else array = message_get_array(m, count, element_size, arena);
    memcpy(pointer, &array, sizeof array);
}

void message_put_text(struct message *m, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    message_put_count(m, (int64_t)length);
    message_put(m, text, length);
}

const char *message_get_text(struct message *m, struct arena *arena)
{
    int length = message_get_length(m, 1);
    char *text = arena_take(arena, (size_t)length + 1, 1);
    message_get(m, text, (size_t)length);
    return text;
}
