// Lists of micro-batches in flight: which can be executed, which say nothing, and all of them.
#include "data/kinds/in_flight.h"

#include <string.h>

bool in_flight_fits(const unsigned char *list, int stages, int room)
{
    if (stages > room || list[stages - 1] != 1) return false;
    for (int s = 1; s < room; s++)
        if (list[s] > list[s - 1] || (s >= stages && list[s])) return false;
    return true;
}

void in_flight_settle(unsigned char *list, int stages, int micro_batches)
{
    for (int s = 0; s < stages; s++) {
        int own = stages - s < micro_batches ? stages - s : micro_batches;
        if (list[s] != own) return;
    }
    memset(list, 0, (size_t)stages);
}

bool in_flight_next(unsigned char *list, int stages, int most)
{
    int s = stages - 2;
    while (s >= 0 && list[s] >= (s ? list[s - 1] : most)) s--;
    if (s < 0) return false;
    list[s]++;
    memset(list + s + 1, 1, (size_t)(stages - 1 - s));
    return true;
}
