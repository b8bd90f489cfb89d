// Pipette's objective (docs/FORMULAS.md 16, docs/PROOFS.md 15.3): nodes in rows of one node a
// stage, whose value is the hops of the most expensive row, the slowest link of a ring through
// their first nodes and the slowest ring within one of these. Of up to 16 nodes the checker tries
// all: every set of first nodes whose ring leaves something below the bound, with every way to give
// each of them the rest of its row. The file holds the bound alone.
#include <stdlib.h>

#include "data/base/least.h"
#include "solve/checker/places/internal.h"

enum { ROW_NODES_MOST = 16 };
#define NO_ROW ((int64_t)1 << 60) // above every sum of hops and rings

struct tail {
    unsigned nodes; // of a row, behind its first
    int64_t hops;
};

struct rows {
    const struct check_places *x;
    const struct check_rows *of;
    int nodes, count, length;
    bool *fits;         // [stage * nodes + node]
    int64_t *hops;      // [set * nodes + first]: the least of a row's last nodes, these
    int64_t *path;      // [set * nodes + last]: the least slowest link from the set's lowest node
    struct tail **tail; // [first], cheapest first
    int *tails;
    int firsts[ROW_NODES_MOST];
    unsigned *failed, stamp; // [nodes taken by rows] == stamp: the other rows are not completed
    const struct reader *r;
    uint64_t *work;
    struct arena *arena;
};

static int lowest(unsigned set) { return __builtin_ctz(set); }
static int size_of(unsigned set) { return __builtin_popcount(set); }
static unsigned one(int node) { return 1u << node; }

static int64_t price(const struct rows *m, const int64_t *prices, int from, int to)
{
    int64_t ns = prices[from * m->nodes + to];
    return ns < 0 ? NO_ROW : ns;
}

// ---- where stages fit

// Some choice holds just these layers on the group; whatever it recomputes does not count.
static bool holds(const struct check_choices *c, int stage, int group, int first, int layers)
{
    for (int i = 0; i < c->count[stage]; i++) {
        const struct check_choice *x = &c->items[stage][i];
        if (x->group == group && x->layers == layers &&
            (x->first < 0 ? first >= -1 - x->first : first == x->first))
            return true;
    }
    return false;
}

static enum status find_fits(struct rows *m)
{
    struct check_problem p;
    struct check_graph g;
    struct check_choices choices;
    const struct check_relaxation how = {.shared = -1};
    TRY(check_relax_places(&p, m->x, &how, m->r, m->work, m->arena));
    TRY(check_build_graph(&g, &p, m->arena));
    TRY(check_list_choices(&choices, &g, m->work, m->arena));
    m->fits = TAKE(m->arena, m->length * m->nodes, bool);
    for (int stage = 0; stage < m->length; stage++) {
        int first = stage ? m->of->first_block + stage * m->of->stage_blocks : 0,
            end = stage + 1 < m->length ? m->of->first_block + (stage + 1) * m->of->stage_blocks
                                        : p.layers;
        for (int node = 0; node < m->nodes; node++)
            m->fits[stage * m->nodes + node] =
                m->x->nodes[node].slots >= m->of->each &&
                holds(&choices, stage, m->x->nodes[node].group, first, end - first);
    }
    return OK;
}

// ---- tables over sets of nodes

static int64_t least_hops(const struct rows *m, unsigned set, int first)
{
    unsigned behind = set & ~one(first);
    int64_t least = NO_ROW;
    if (!m->fits[(m->length - size_of(set)) * m->nodes + first]) return NO_ROW;
    if (!behind) return 0;
    for (unsigned left = behind; left; left &= left - 1)
        least =
            smaller(least, price(m, m->of->hop_ns, first, lowest(left)) +
                               m->hops[(size_t)behind * (size_t)m->nodes + (size_t)lowest(left)]);
    return smaller(least, NO_ROW);
}

static int64_t least_path(const struct rows *m, unsigned set, int last)
{
    unsigned before = set & ~one(last);
    int64_t least = NO_ROW;
    for (unsigned left = before; left; left &= left - 1) {
        int u = lowest(left);
        if (u == lowest(set) && before != one(u)) continue;
        least = smaller(least, larger(m->path[(size_t)before * (size_t)m->nodes + (size_t)u],
                                      price(m, m->of->ring_ns, u, last)));
    }
    return least;
}

static enum status fill_tables(struct rows *m)
{
    size_t sets = (size_t)1 << m->nodes, n = (size_t)m->nodes;
    TRY(check_spend(m->x->problem, m->work, 4 * sets * n * n));
    m->hops = TAKE(m->arena, sets * n, int64_t);
    m->path = TAKE(m->arena, sets * n, int64_t);
    for (unsigned set = 1; set < sets; set++)
        for (unsigned left = set; left; left &= left - 1) {
            int node = lowest(left);
            size_t at = set * n + (size_t)node;
            m->hops[at] = size_of(set) <= m->length ? least_hops(m, set, node) : NO_ROW;
            m->path[at] = node != lowest(set) ? least_path(m, set, node)
                          : set == one(node)  ? 0
                                              : NO_ROW;
        }
    return OK;
}

// The least slowest link of a ring through these nodes.
static int64_t ring_of(const struct rows *m, unsigned firsts)
{
    int64_t least = NO_ROW;
    if (m->count == 1) return 0;
    for (unsigned left = firsts & (firsts - 1); left; left &= left - 1)
        least =
            smaller(least, larger(m->path[(size_t)firsts * (size_t)m->nodes + (size_t)lowest(left)],
                                  price(m, m->of->ring_ns, lowest(left), lowest(firsts))));
    return least;
}

static int by_hops(const void *a, const void *b)
{
    const struct tail *x = a, *y = b;
    return (x->hops > y->hops) - (x->hops < y->hops);
}

static void list_tails(struct rows *m)
{
    unsigned sets = 1u << m->nodes;
    m->tail = TAKE(m->arena, m->nodes, struct tail *);
    m->tails = TAKE(m->arena, m->nodes, int);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < m->nodes; i++) {
            if (pass) m->tail[i] = TAKE(m->arena, m->tails[i], struct tail);
            m->tails[i] = 0;
        }
        for (unsigned set = 1; set < sets; set++)
            for (unsigned left = size_of(set) == m->length ? set : 0; left; left &= left - 1) {
                int first = lowest(left);
                int64_t hops = m->hops[(size_t)set * (size_t)m->nodes + (size_t)first];
                if (hops >= NO_ROW) continue;
                if (pass) m->tail[first][m->tails[first]] = (struct tail){set & ~one(first), hops};
                m->tails[first]++;
            }
    }
    for (int i = 0; i < m->nodes; i++)
        if (m->tails[i]) qsort(m->tail[i], (size_t)m->tails[i], sizeof **m->tail, by_hops);
}

// ---- all rows

// Whether the rows from `row` on can take nodes that are not taken, none with more hops than most.
static enum status complete(struct rows *m, int row, unsigned taken, int64_t most, bool *can)
{
    *can = row == m->count;
    if (*can || m->failed[taken] == m->stamp) return OK;
    int first = m->firsts[row];
    for (int i = 0; i < m->tails[first] && m->tail[first][i].hops <= most; i++) {
        TRY(check_spend(m->x->problem, m->work, 1));
        if (m->tail[first][i].nodes & taken) continue;
        TRY(complete(m, row + 1, taken | m->tail[first][i].nodes, most, can));
        if (*can) return OK;
    }
    m->failed[taken] = m->stamp;
    return OK;
}

// Whether rows with these first nodes have a value of at most `most`.
static enum status try_firsts(struct rows *m, unsigned firsts, int64_t most, bool *can)
{
    int64_t inner = 0;
    int row = 0;
    *can = false;
    for (unsigned left = firsts; left; left &= left - 1) {
        inner = larger(inner, m->of->inner_ns[lowest(left)]);
        m->firsts[row++] = lowest(left);
    }
    most -= inner + ring_of(m, firsts);
    if (most < 0) return OK;
    m->stamp++;
    return complete(m, 0, firsts, most, can);
}

static enum status audit_rows(struct rows *m, const struct check_result *claim)
{
    int64_t most = claim->infeasible ? NO_ROW - 1 : claim->bound_ns - 1;
    TRY(find_fits(m));
    TRY(fill_tables(m));
    list_tails(m);
    m->failed = TAKE(m->arena, (size_t)1 << m->nodes, unsigned);
    for (unsigned firsts = 1; firsts < 1u << m->nodes; firsts++) {
        bool can = false;
        if (size_of(firsts) == m->count) TRY(try_firsts(m, firsts, most, &can));
        if (can)
            return fail(m->r->err, (enum status)NOT_PROVEN,
                        claim->infeasible ? "there are rows of nodes that hold all stages"
                                          : "rows of nodes have a value below bound_ns");
    }
    return OK;
}

enum status check_audit_rows(struct check_result *result, const struct reader *r,
                             const cJSON *places, const struct check_places *x, uint64_t *work,
                             struct arena *arena)
{
    const struct value_field fields[] = {
        {.key = "by"},
        {"objective", .small = &result->objective, .names = check_objective_names},
        {"?bound_ns", 0, MOST_SUM, .large = &result->bound_ns},
        {"?infeasible", .flag = &result->infeasible},
        {NULL},
    };
    TRY(value_fields(r, places, "places", fields, NULL));
    if (result->infeasible == (result->bound_ns >= 0))
        return check_refuse(r, "places", "expected either infeasible or bound_ns");
    if (!x->rows || result->objective != MINIMISE_PIPETTE)
        return fail(r->err, (enum status)NOT_PROVEN,
                    "is about rows of nodes and the objective %s, the job minimises %s",
                    check_objective_names[result->objective],
                    check_objective_names[x->rows ? MINIMISE_PIPETTE : x->problem->objective]);
    if (x->node_count > ROW_NODES_MOST)
        return check_refuse(r, "places", "rows of more than %d nodes are not checked",
                            ROW_NODES_MOST);
    struct rows m = {.x = x,
                     .of = x->rows,
                     .nodes = x->node_count,
                     .count = x->replicas / x->rows->each,
                     .length = x->problem->ranks,
                     .r = r,
                     .work = work,
                     .arena = arena};
    return audit_rows(&m, result);
}
