// Names in order, and the nearest name by the number of characters to change.
#include "data/base/names.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool begins_in_any_case(const char *text, const char *part)
{
    while (*part && tolower((unsigned char)*text) == tolower((unsigned char)*part)) text++, part++;
    return !*part;
}

// How often characters are in texts, from the rarest, which are not here.
static const unsigned char usual[256] = {
    [' '] = 15, ['e'] = 14, ['t'] = 13, ['a'] = 12, ['o'] = 11, ['i'] = 10, ['n'] = 9, ['s'] = 8,
    ['r'] = 7,  ['l'] = 6,  ['c'] = 5,  ['d'] = 4,  ['u'] = 3,  ['m'] = 3,  ['p'] = 2, ['g'] = 1};

static char in_small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c; }

// Of a part's first characters the rarest one is looked for, in its two cases.
const char *find_in_any_case(const char *text, const char *part)
{
    enum { FIRST = 6 };
    if (!*part) return text && *text ? text : NULL;
    int at = 0;
    char small = in_small(*part);
    for (int i = 1; i < FIRST && part[i]; i++) {
        char c = in_small(part[i]);
        if (usual[(unsigned char)c] < usual[(unsigned char)small]) at = i, small = c;
    }
    bool letter = small >= 'a' && small <= 'z';
    char large = letter ? (char)(small - ('a' - 'A')) : small;
    const char *s = text ? strchr(text, small) : NULL,
               *other = text && letter ? strchr(text, large) : NULL;
    while (s || other) {
        const char *next = !other || (s && s < other) ? s : other;
        if (next >= text + at && begins_in_any_case(next - at, part)) return next - at;
        if (next == s) s = strchr(s + 1, small);
        else other = strchr(other + 1, large);
    }
    return NULL;
}

bool name_is_listed(const char *names, const char *name, size_t length)
{
    for (const char *at = names; at && *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        bool below = size > 2 && !memcmp(at + size - 2, ".*", 2);
        if (below ? length >= size - 1 && !memcmp(at, name, size - 1)
                  : size == length && !memcmp(at, name, size))
            return true;
        at += size;
    }
    return false;
}

bool has_one_of(const char *text, const char *const *parts)
{
    while (*parts && !strstr(text, *parts)) parts++;
    return *parts != NULL;
}

bool has_all_of(const char *text, const char *const *parts)
{
    while (*parts && strstr(text, *parts)) parts++;
    return !*parts;
}

bool has_one_in_any_case(const char *text, const char *const *parts)
{
    while (*parts && !find_in_any_case(text, *parts)) parts++;
    return *parts != NULL;
}

// Signs between words are easily left out; a digit is rarely mistaken.
enum { NAME_MOST = 64, CHANGE = 4, CHANGE_CASE = 2, CHANGE_SIGN = 2, CHANGE_DIGIT = 8 };

static bool is_digit(char c) { return isdigit((unsigned char)c); }
static int cost_of_one(char c) { return strchr("-_. ", c) ? CHANGE_SIGN : CHANGE; }

static int least(int a, int b, int c) { return a < b ? (a < c ? a : c) : b < c ? b : c; }

static int cost_of(char a, char b)
{
    if (a == b) return 0;
    if (is_digit(a) || is_digit(b)) return CHANGE_DIGIT;
    return tolower((unsigned char)a) == tolower((unsigned char)b) ? CHANGE_CASE : CHANGE;
}

// Only the first characters of long names count.
static int distance(const char *a, const char *b)
{
    int row[NAME_MOST + 1] = {0}, one[NAME_MOST], length = 0;
    for (; b[length] && length < NAME_MOST; length++)
        row[length + 1] = row[length] + (one[length] = cost_of_one(b[length]));
    for (int i = 0; a[i] && i < NAME_MOST; i++) {
        int diagonal = row[0], gone = cost_of_one(a[i]);
        row[0] += gone;
        for (int j = 1; j <= length; j++) {
            int here =
                least(row[j] + gone, row[j - 1] + one[j - 1], diagonal + cost_of(a[i], b[j - 1]));
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

// Of equally near names, the one with the same beginning.
static int of_fewest_changes(const char *name, const char *const *names, int count)
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
    int nearest = of_fewest_changes(name, names, count);
    return nearest >= 0 && distance(name, names[nearest]) <= CHANGE * changes ? nearest : -1;
}

int name_meant(const char *name, const char *const *names, int count)
{
    int length = (int)strlen(name);
    for (int i = 0; i < count; i++)
        if (length > 1 && !strncasecmp(names[i], name, (size_t)length)) return i;
    return name_within(name, names, count, length < 6 ? 2 : length / 3);
}

int name_nearest(const char *name, const char *const *names, int count)
{
    int meant = name_meant(name, names, count);
    return meant < 0 ? of_fewest_changes(name, names, count) : meant;
}

// ---- GPUs

struct word {
    const char *text;
    size_t length;
};

static struct word next_word(const char *at, const char *end)
{
    while (at < end && !isalnum((unsigned char)*at)) at++;
    const char *begin = at;
    while (at < end && isalnum((unsigned char)*at)) at++;
    return (struct word){begin, (size_t)(at - begin)};
}

static bool word_is(struct word w, const char *of, size_t length)
{
    return w.length == length && !strncasecmp(w.text, of, length);
}

static bool word_in(struct word w, const char *const *of)
{
    for (; *of; of++)
        if (word_is(w, *of, strlen(*of))) return true;
    return false;
}

static bool is_memory(struct word w)
{
    size_t digits = 0;
    while (digits < w.length && is_digit(w.text[digits])) digits++;
    return digits && w.length == digits + 2 && !strncasecmp(w.text + digits, "gb", 2);
}

bool name_is_gpu(const char *text, size_t length, const char *gpu)
{
    static const char *const cards[] = {"pcie", "nvl", NULL}, *const modules[] = {"v100", "a100",
                                                                                  "h100", "h200",
                                                                                  NULL};
    const char *end = text + length;
    struct word model = {gpu, strcspn(gpu, "-")};
    const char *memory = gpu[model.length] ? gpu + model.length + 1 : "";
    bool named = false, other = false, is_module = word_in(model, modules),
         gaming = model.length > 3 && !strncasecmp(gpu, "rtx", 3);
    if (length == strlen(gpu) && !strncasecmp(text, gpu, length)) return true;
    for (struct word w = next_word(text, end); w.length; w = next_word(w.text + w.length, end)) {
        named |= word_is(w, gpu, model.length);
        named |= gaming && word_is(w, gpu + 3, model.length - 3);
        other |= is_memory(w) && !word_is(w, memory, strlen(memory));
        other |= is_module && word_in(w, cards);
    }
    return named && !other;
}

int name_related_gpu(const char *text, const char *const *names, int count)
{
    const char *end = text + strlen(text);
    for (int i = 0; i < count; i++) {
        size_t model = strcspn(names[i], "-");
        for (struct word w = next_word(text, end); w.length; w = next_word(w.text + w.length, end))
            if (word_is(w, names[i], model)) return i;
    }
    return name_meant(text, names, count);
}
