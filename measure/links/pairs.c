// The circle method: one endpoint is fixed and the others rotate; in each turn opposite ones meet.
// With an odd count one place is empty, and its partner rests.
#include "measure/links/assembly.h"

#include <string.h>

static const uint64_t step = 0x9e3779b97f4a7c15u;

static int places(int count) { return count + count % 2; }

int pairs_turns(int count) { return count < 2 ? 0 : 2 * (places(count) - 1); }

int pairs_of_turn(int count, int turn, struct pair *pairs)
{
    int circle = places(count) - 1, hour = turn / 2, found = 0;
    for (int i = 0; i <= circle / 2; i++) {
        int a = i ? (hour + i) % circle : circle, b = (hour - i + circle) % circle;
        if (a >= count || b >= count) continue;
        pairs[found++] = turn % 2 ? (struct pair){b, a} : (struct pair){a, b};
    }
    return found;
}

int ladder_sizes(int64_t smallest, int64_t largest, int64_t factor, int64_t *sizes)
{
    int count = 0;
    int64_t size = smallest;
    for (; size < largest && count < LADDER_MAX - 1; size *= factor) sizes[count++] = size;
    sizes[count++] = largest;
    return count;
}

static uint64_t word_of(uint64_t number, int64_t place)
{
    uint64_t word = (number + (uint64_t)place) * step;
    return word ^ (word >> 29);
}

void pattern_fill(void *data, int64_t bytes, uint64_t number)
{
    unsigned char *to = data;
    for (int64_t at = 0; at < bytes; at += (int64_t)sizeof(uint64_t)) {
        uint64_t word = word_of(number, at);
        size_t part = bytes - at < (int64_t)sizeof word ? (size_t)(bytes - at) : sizeof word;
        memcpy(to + at, &word, part);
    }
}

int64_t pattern_first_wrong(const void *data, int64_t bytes, uint64_t number)
{
    const unsigned char *from = data;
    for (int64_t at = 0; at < bytes; at += (int64_t)sizeof(uint64_t)) {
        uint64_t word = word_of(number, at);
        size_t part = bytes - at < (int64_t)sizeof word ? (size_t)(bytes - at) : sizeof word;
        if (!memcmp(from + at, &word, part)) continue;
        const unsigned char *expected = (const unsigned char *)&word;
        for (size_t i = 0; i < part; i++)
            if (from[at + (int64_t)i] != expected[i]) return at + (int64_t)i;
    }
    return -1;
}
