// Reading groups: every list is sorted without duplicates, so that equal groups compare equal.
#include "measure/links/assembly.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS_MADE_MAX = 4096 };

struct reader {
    struct groups *groups;
    const struct endpoint *endpoints;
    int endpoint_count;
    unsigned char *chosen; // [endpoint_count] the group being made
    struct arena *arena;
};

static enum status add_chosen(struct reader *r, const char *word, struct error *err)
{
    struct member_list list = {TAKE(r->arena, r->endpoint_count, int), 0};
    for (int i = 0; i < r->endpoint_count; i++)
        if (r->chosen[i]) list.members[list.count++] = i;
    memset(r->chosen, 0, (size_t)r->endpoint_count);
    for (int g = 0; g < r->groups->count; g++) {
        const struct member_list *other = &r->groups->lists[g];
        if (other->count == list.count &&
            !memcmp(other->members, list.members, (size_t)list.count * sizeof(int)))
            return OK;
    }
    if (r->groups->count == GROUPS_MADE_MAX)
        return refuse(err, "%s: more than %d groups", word, GROUPS_MADE_MAX);
    r->groups->lists[r->groups->count++] = list;
    return OK;
}

static enum status read_ranks(struct reader *r, const char *word, struct error *err)
{
    const char *at = word;
    int chosen = 0;
    for (;;) {
        char *end;
        long first = strtol(at, &end, 10), last = first;
        bool is_number = end != at && *at >= '0' && *at <= '9';
        if (is_number && *end == '-') {
            at = end + 1;
            last = strtol(at, &end, 10);
            is_number = end != at && *at >= '0' && *at <= '9';
        }
        if (!is_number || (*end && *end != ',') || first > last || last >= r->endpoint_count)
            return refuse(err, "%s: expected all, hosts, across or ranks below %d like 0,1,4-7",
                          word, r->endpoint_count);
        for (long i = first; i <= last; i++) {
            if (r->chosen[i]) return refuse(err, "%s: rank %ld is named twice", word, i);
            r->chosen[i] = 1;
            chosen++;
        }
        if (!*end) break;
        at = end + 1;
    }
    if (chosen < 2) return refuse(err, "%s: a group has at least two ranks", word);
    return add_chosen(r, word, err);
}

// Its index among the ranks of its host.
static int place_on_host(const struct reader *r, int rank)
{
    int place = 0;
    for (int i = 0; i < rank; i++) place += !strcmp(r->endpoints[i].host, r->endpoints[rank].host);
    return place;
}

static enum status add_by_host(struct reader *r, const char *word, bool across, struct error *err)
{
    for (int i = 0; i < r->endpoint_count; i++) {
        int members = 0;
        for (int j = 0; j < r->endpoint_count; j++) {
            r->chosen[j] = across ? place_on_host(r, i) == place_on_host(r, j)
                                  : !strcmp(r->endpoints[i].host, r->endpoints[j].host);
            members += r->chosen[j];
        }
        if (members > 1) TRY(add_chosen(r, word, err));
    }
    memset(r->chosen, 0, (size_t)r->endpoint_count);
    return OK;
}

enum status groups_read(struct groups *groups, const char *const *words, int word_count,
                        const struct endpoint *endpoints, int endpoint_count, struct arena *arena,
                        struct error *err)
{
    struct reader r = {groups, endpoints, endpoint_count,
                       TAKE(arena, endpoint_count, unsigned char), arena};
    *groups = (struct groups){TAKE(arena, GROUPS_MADE_MAX, struct member_list), 0};
    for (int i = 0; i < word_count; i++) {
        if (!strcmp(words[i], "all")) {
            memset(r.chosen, 1, (size_t)endpoint_count);
            TRY(add_chosen(&r, words[i], err));
        } else if (!strcmp(words[i], "hosts") || !strcmp(words[i], "across")) {
            TRY(add_by_host(&r, words[i], *words[i] == 'a', err));
        } else TRY(read_ranks(&r, words[i], err));
    }
    if (!groups->count)
        return refuse(err, "%s: gives no group of two ranks or more here", words[0]);
    return OK;
}

bool groups_are_disjoint(const struct groups *groups, int endpoint_count, struct arena *arena)
{
    unsigned char *taken = TAKE(arena, endpoint_count, unsigned char);
    for (int g = 0; g < groups->count; g++)
        for (int i = 0; i < groups->lists[g].count; i++)
            if (taken[groups->lists[g].members[i]]++) return false;
    return true;
}

bool group_has(const struct member_list *list, int rank)
{
    for (int i = 0; i < list->count; i++)
        if (list->members[i] == rank) return true;
    return false;
}
