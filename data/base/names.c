// The nearest name by the number of letters to change.
#include "data/base/names.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { NAME_MOST = 64, CHANGE = 2 };

static int least(int a, int b, int c) { return a < b ? (a < c ? a : c) : b < c ? b : c; }

static int cost_of(char a, char b)
{
    if (a == b) return 0;
    return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : CHANGE;
}

// Of the first characters of long names.
static int distance(const char *a, const char *b)
{
    int row[NAME_MOST + 1], length = 0;
    for (; b[length] && length < NAME_MOST; length++) row[length] = CHANGE * length;
    row[length] = CHANGE * length;
    for (int i = 0; a[i] && i < NAME_MOST; i++) {
        int diagonal = row[0];
        row[0] = CHANGE * (i + 1);
        for (int j = 1; j <= length; j++) {
            int here =
                least(row[j] + CHANGE, row[j - 1] + CHANGE, diagonal + cost_of(a[i], b[j - 1]));
            diagonal = row[j];
            row[j] = here;
        }
    }
    return row[length];
}

static int same_letters(const char *a, const char *b)
{
    int length = 0;
    while (a[length] && a[length] == b[length]) length++;
    return length;
}

// Of names as near the one that begins alike.
int name_nearest(const char *name, const char *const *names, int count)
{
    int best = -1, best_distance = INT_MAX;
    for (int i = 0; i < count; i++) {
        int here = distance(name, names[i]);
        bool alike = here == best_distance &&
                     same_letters(name, names[i]) > same_letters(name, names[best]);
        if (here < best_distance || alike) best = i, best_distance = here;
    }
    return best;
}

int name_within(const char *name, const char *const *names, int count, int changes)
{
    int nearest = name_nearest(name, names, count);
    return nearest >= 0 && distance(name, names[nearest]) <= CHANGE * changes ? nearest : -1;
}

int name_meant(const char *name, const char *const *names, int count)
{
    int length = (int)strlen(name);
    for (int i = 0; i < count; i++)
        if (length > 1 && !strncasecmp(names[i], name, (size_t)length)) return i;
    return name_within(name, names, count, length < 6 ? 2 : length / 3);
}
