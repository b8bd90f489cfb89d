// A link's delay is the median for the shortest message. Its rate comes from the difference
// between the longest message and the next shorter one, so costs per message, including a
// protocol's hand-shake, cancel out. A link is named where medians differ by more than a stated
// ratio and their 95 % intervals do not overlap.
#include "measure/links/assembly.h"

#include <stdlib.h>

#include "data/numbers/intervals.h"

enum { ENDPOINTS_SHOWN = 16, NAMED_MAX = 20, NAME_WIDTH = 12 };

static const double coverage = 0.95;
static const double unlike_rates = 1.1, unlike_delays = 1.25, slow_share = 0.7;

struct link_seen {
    bool is_seen;
    int64_t bytes[3]; // the shortest, the second longest, the longest
    struct median times[3];
    double bytes_per_s;
};

static void keep(struct link_seen *l, int place, const struct sample *s, struct arena *arena)
{
    l->bytes[place] = s->dimensions[0];
    l->times[place] = sample_median(s, arena);
}

// Samples of one link come in any order of sizes.
static void add_sample(struct link_seen *l, const struct sample *s, struct arena *arena)
{
    int64_t bytes = s->dimensions[0];
    if (!l->is_seen || bytes < l->bytes[0]) keep(l, 0, s, arena);
    if (!l->is_seen || bytes > l->bytes[2]) {
        l->bytes[1] = l->is_seen ? l->bytes[2] : bytes;
        l->times[1] = l->times[2];
        keep(l, 2, s, arena);
    } else if (bytes < l->bytes[2] && (bytes > l->bytes[1] || l->bytes[1] == l->bytes[2]))
        keep(l, 1, s, arena);
    l->is_seen = true;
    double longer_s = l->times[2].value - l->times[1].value;
    bool can = l->bytes[1] < l->bytes[2] && longer_s > 0;
    l->bytes_per_s = can ? (double)(l->bytes[2] - l->bytes[1]) / longer_s
                         : (double)l->bytes[2] / l->times[2].value;
}

static bool have_nothing_in_common(struct median a, struct median b)
{
    return a.high < b.low || b.high < a.low;
}

struct report {
    FILE *to;
    const struct samples *samples;
    int count;
    struct link_seen *links, *alone; // [count][count]
};

static const struct link_seen *link_of(const struct report *r, int from, int to)
{
    return &r->links[from * r->count + to];
}

static void print_matrix(const struct report *r, const char *title, bool rates)
{
    fprintf(r->to, "%s, from the row's to the column's:\n%*s", title, NAME_WIDTH + 1, "");
    for (int to = 0; to < r->count; to++)
        fprintf(r->to, " %*.*s", NAME_WIDTH, NAME_WIDTH, r->samples->endpoints[to].name);
    for (int from = 0; from < r->count; from++) {
        fprintf(r->to, "\n%-*.*s ", NAME_WIDTH, NAME_WIDTH, r->samples->endpoints[from].name);
        for (int to = 0; to < r->count; to++) {
            const struct link_seen *l = link_of(r, from, to);
            if (!l->is_seen) fprintf(r->to, " %*s", NAME_WIDTH, "-");
            else
                fprintf(r->to, " %*.4g", NAME_WIDTH,
                        rates ? l->bytes_per_s / 1e9 : l->times[0].value * 1e6);
        }
    }
    fputc('\n', r->to);
}

// "  asymmetric  a -> b ..., b -> a ..."; counts, and prints the first ones.
static void print_named(const struct report *r, int *named, const char *what, int from, int to,
                        const char *text)
{
    if ((*named)++ >= NAMED_MAX) return;
    fprintf(r->to, "%s: %s -> %s %s\n", what, r->samples->endpoints[from].name,
            r->samples->endpoints[to].name, text);
}

static int name_asymmetric(const struct report *r, struct arena *arena)
{
    int named = 0;
    for (int a = 0; a < r->count; a++)
        for (int b = a + 1; b < r->count; b++) {
            const struct link_seen *there = link_of(r, a, b), *back = link_of(r, b, a);
            if (!there->is_seen || !back->is_seen) continue;
            double rates = there->bytes_per_s / back->bytes_per_s;
            if ((rates > unlike_rates || rates < 1 / unlike_rates) &&
                have_nothing_in_common(there->times[2], back->times[2]))
                print_named(r, &named, "asymmetric", a, b,
                            arena_print(arena, "%.4g GB/s, back %.4g GB/s",
                                        there->bytes_per_s / 1e9, back->bytes_per_s / 1e9));
            double delays = there->times[0].value / back->times[0].value;
            if ((delays > unlike_delays || delays < 1 / unlike_delays) &&
                have_nothing_in_common(there->times[0], back->times[0]))
                print_named(r, &named, "asymmetric", a, b,
                            arena_print(arena, "%.4g us, back %.4g us", there->times[0].value * 1e6,
                                        back->times[0].value * 1e6));
        }
    return named;
}

static int name_slow(const struct report *r, struct arena *arena)
{
    int named = 0, count = 0;
    double *rates = TAKE(arena, r->count * r->count, double), middle, low, high;
    for (int i = 0; i < r->count * r->count; i++)
        if (r->links[i].is_seen) rates[count++] = r->links[i].bytes_per_s;
    qsort(rates, (size_t)count, sizeof *rates, compare_numbers);
    median_interval(rates, count, coverage, &middle, &low, &high);
    for (int i = 0; i < r->count * r->count; i++)
        if (r->links[i].is_seen && r->links[i].bytes_per_s < slow_share * middle)
            print_named(r, &named, "slow", i / r->count, i % r->count,
                        arena_print(arena, "%.4g GB/s, the median link %.4g GB/s",
                                    r->links[i].bytes_per_s / 1e9, middle / 1e9));
    return named;
}

static int name_contended(const struct report *r, struct arena *arena)
{
    int named = 0;
    for (int i = 0; i < r->count * r->count; i++) {
        const struct link_seen *busy = &r->links[i], *alone = &r->alone[i];
        if (!busy->is_seen || !alone->is_seen ||
            busy->bytes_per_s * unlike_rates > alone->bytes_per_s)
            continue;
        if (have_nothing_in_common(busy->times[2], alone->times[2]))
            print_named(r, &named, "contended", i / r->count, i % r->count,
                        arena_print(arena, "%.4g GB/s with others busy, alone %.4g GB/s",
                                    busy->bytes_per_s / 1e9, alone->bytes_per_s / 1e9));
    }
    return named;
}

static void print_rest(const struct report *r, const char *what, int named)
{
    if (named > NAMED_MAX) fprintf(r->to, "%s: and %d more\n", what, named - NAMED_MAX);
}

void links_report(FILE *to, const struct samples *samples, struct arena *arena)
{
    int count = samples->endpoint_count, tested = 0;
    struct report r = {to, samples, count, TAKE(arena, count * count, struct link_seen),
                       TAKE(arena, count * count, struct link_seen)};
    // With fewer than four ends no two pairs can be busy at once, so every sample is alone.
    bool beside = false;
    for (int i = 0; i < samples->sample_count; i++) beside = beside || !samples->samples[i].alone;
    for (int i = 0; i < samples->sample_count; i++) {
        const struct sample *s = &samples->samples[i];
        struct link_seen *table = s->alone && beside ? r.alone : r.links;
        add_sample(&table[s->from * count + s->to], s, arena);
    }
    for (int i = 0; i < count * count; i++) tested += r.alone[i].is_seen;
    if (count <= ENDPOINTS_SHOWN) {
        print_matrix(&r, "rates in GB/s", true);
        print_matrix(&r, "delays in us", false);
    }
    bool is_split = false;
    for (int i = 1; i < count; i++)
        is_split = is_split || samples->endpoints[i].clock < 0 ||
                   samples->endpoints[i].clock != samples->endpoints[0].clock;
    if (is_split) fputs("delays between hosts are half the round trip: their clocks differ\n", to);
    int asymmetric = name_asymmetric(&r, arena);
    print_rest(&r, "asymmetric", asymmetric);
    int slow = name_slow(&r, arena);
    print_rest(&r, "slow", slow);
    int contended = name_contended(&r, arena);
    print_rest(&r, "contended", contended);
    fprintf(to, "%d asymmetric, %d slow, %d of %d tested slower with others busy\n", asymmetric,
            slow, contended, tested);
}
