// Elaborates a certificate of one layout for the verified referee (solve/proofs/), which trusts
// nothing here: what the checker enumerates, walks and replays becomes lists. Choices are written
// with their times, paths with their operations (messages in full: operations that the graph leaves
// out take no time), the halves of splits as numbers of choices, and a single decision as one path
// more, its longest.
#include <string.h>

#include "solve/certificate/elaborate.h"
#include "solve/checker/proof.h"
#include "solve/checker/verdict.h"

struct elaborate {
    struct check_proof *k;
    const struct check_graph *g;
    struct check_page page;
    int64_t counted[RESOURCES_MOST];
    int path_count, *before; // [operation]: on the longest path
    struct check_choices listed;
    int *numbers[MOST_STAGES]; // [stage][choice]: in the list
    bool prices_layers;        // of one kind
};

// By these a proof names what is priced and counted beside slots.
static const char *const budgets[] = {"boundaries", "stages", "cost", "energy"};

static int resources_of(const struct check_problem *p)
{
    return p->group_count + (int)ARRAY_LENGTH(budgets);
}

// ---- operations, as the referee names them: kind, place, micro-batch, slice

enum { OUT_SYNC = 3, OUT_OPTIMIZER, OUT_SENDS, OUT_EMBEDDING = OUT_SENDS + 8, OUT_QUEUED };
struct step {
    int kind, place, batch, slice;
};

static struct step step_of(const struct check_graph *g, int operation)
{
    int kind = 0, half = 0;
    while (operation >= g->offset[kind + 1]) kind++;
    int rest = operation - g->offset[kind], slice = rest % g->slices[kind],
        at = rest / g->slices[kind], batch = at % g->micro_batches[kind],
        place = at / g->micro_batches[kind];
    if (kind < KIND_SEND_FORWARD) return (struct step){kind, place, batch, slice};
    if (kind == KIND_EMBEDDING_SYNC) return (struct step){OUT_EMBEDDING, 0, 0, 0};
    if (kind == KIND_QUEUED_SYNC) return (struct step){OUT_QUEUED, place, 0, 0};
    int part = (kind - KIND_SEND_FORWARD) % PARTS, back = kind >= KIND_SEND_BACKWARD;
    if (part == PART_WORKS && batch >= g->p->micro_batches) half = 1, batch -= g->p->micro_batches;
    static const int order[PARTS] = {-1, 1, 2, 0};
    return (struct step){OUT_SENDS + 4 * back + (half ? 3 : order[part]), place, batch, slice};
}

static void put_step(struct check_page *w, struct step s)
{
    page_print(w, " %d %d %d %d", s.kind, s.place, s.batch, s.slice);
}

// Where a step is in a message: 0 the pass that sends it, 1 to 4 its parts, 5 the pass that uses
// it.
static void fill_message(struct elaborate *e, struct step from, struct step to)
{
    bool message_from = from.kind >= OUT_SENDS && from.kind < OUT_EMBEDDING,
         message_to = to.kind >= OUT_SENDS && to.kind < OUT_EMBEDDING;
    if (!message_from && !message_to &&
        (from.kind > 1 || from.kind != to.kind ||
         check_rank_of(e->g->p, from.place) == check_rank_of(e->g->p, to.place)))
        return;
    int back = message_from ? (from.kind - OUT_SENDS) / 4
               : message_to ? (to.kind - OUT_SENDS) / 4
                            : from.kind == 1,
        first = message_from ? (from.kind - OUT_SENDS) % 4 + 1 : 0,
        last = message_to ? (to.kind - OUT_SENDS) % 4 + 1 : 5;
    struct step message = message_from ? from : message_to ? to : from;
    if (!message_from && !message_to) message.place -= back;
    if (message_from && message_to &&
        (from.place != to.place || from.batch != to.batch || from.slice != to.slice ||
         (from.kind - OUT_SENDS) / 4 != (to.kind - OUT_SENDS) / 4))
        return; // along a stream or a link
    if (message_from != message_to) {
        struct step pass = message_from ? to : from;
        bool sends = !message_from;
        int end = message.place + (sends == (back == 0) ? 0 : 1);
        if (pass.kind != back || pass.batch != message.batch || pass.slice != message.slice ||
            pass.place != end)
            return; // along a stream
    }
    for (int i = first + 1; i < last; i++) {
        message.kind = OUT_SENDS + 4 * back + i - 1;
        put_step(&e->page, message);
    }
}

// The end of the pipeline that is on this stage's rank.
static int end_beside(const struct check_problem *p, int stage)
{
    return check_rank_of(p, stage) == check_rank_of(p, 0) ? 0 : p->stages - 1;
}

static void put_next(struct elaborate *e, struct step from, struct step to, bool lap)
{
    const struct check_problem *p = e->g->p;
    struct check_page *w = &e->page;
    if (to.kind == OUT_EMBEDDING && from.kind < OUT_SYNC)
        put_step(w, (struct step){OUT_SYNC, p->overlapped ? from.place : end_beside(p, from.place),
                                  0, 0});
    else if (lap && (from.kind == OUT_SYNC || from.kind == OUT_QUEUED))
        put_step(w, (struct step){OUT_OPTIMIZER, from.place, 0, 0});
    else if (lap && from.kind == OUT_EMBEDDING) {
        bool received = to.kind == OUT_SENDS + 3; // on the rank after the boundary
        put_step(w, (struct step){OUT_OPTIMIZER, end_beside(p, to.place + received), 0, 0});
    } else if (!lap) fill_message(e, from, to);
    put_step(w, to);
}

// ---- paths

// Goes along an edge; returns where that leads.
static int put_edge(struct elaborate *e, int at, int edge)
{
    const struct check_graph *g = e->g;
    put_next(e, step_of(g, at), step_of(g, g->next[edge]), g->lap[edge]);
    return g->next[edge];
}

static void open_path(struct elaborate *e, int at)
{
    page_print(&e->page, "p");
    put_step(&e->page, step_of(e->g, at));
}

static void close_path(struct elaborate *e)
{
    page_print(&e->page, "\n");
    e->path_count++;
}

static void put_path(struct elaborate *e, const cJSON *path)
{
    const struct check_graph *g = e->g;
    const cJSON *start = value_get(path, "start");
    const char *c = value_get(path, "steps")->valuestring;
    int kind = 0, n[3], i = 0;
    while (strcmp(check_kind_names[kind], start->child->valuestring)) kind++;
    for (const cJSON *v = start->child->next; v && i < 3; v = v->next)
        n[i++] = (int)value_number(v);
    int at = check_operation(g, kind, n[0], n[1], n[2]);
    open_path(e, at);
    while (*c) {
        int successor = 0, times = 0;
        for (; *c >= '0' && *c <= '9'; c++) successor = 10 * successor + *c - '0';
        if (*c == '*')
            for (c++; *c >= '0' && *c <= '9'; c++) times = 10 * times + *c - '0';
        else times = 1;
        while (*c == ' ') c++;
        for (; times > 0; times--) at = put_edge(e, at, g->first[at] + successor);
    }
    close_path(e);
}

static int edge_source(const struct check_graph *g, int edge)
{
    int low = 0, high = g->offset[KINDS] - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (g->first[middle] <= edge) low = middle;
        else high = middle - 1;
    }
    return low;
}

// The longest path to each operation with the replay's durations, t_ns being given back for each
// lap. Returns the last operation of the longest path, or, without a barrier, one whose path
// contains a cycle.
static int find_longest(struct elaborate *e, int64_t t_ns)
{
    const struct check_graph *g = e->g;
    struct check_replay *r = &e->k->replay;
    int last = g->order[0];
    for (int i = 0; i < g->offset[KINDS]; i++) r->start[i] = 0, e->before[i] = -1;
    for (int lap = 0; lap <= r->open_count + 1; lap++) {
        for (int n = 0; n < g->operation_count; n++) {
            int i = g->order[n];
            r->end[i] = r->start[i] + r->durations[r->symbol[i]];
            if (g->p->barrier && r->end[i] > r->end[last]) last = i;
            for (int x = g->first[i]; x < g->first[i + 1]; x++)
                if (!g->lap[x] && r->start[g->next[x]] < r->end[i])
                    r->start[g->next[x]] = r->end[i], e->before[g->next[x]] = x;
        }
        for (int i = 0; i < g->first[g->offset[KINDS]] && !g->p->barrier; i++) {
            if (!g->lap[i]) continue;
            int from = edge_source(g, i);
            if (r->start[g->next[i]] >= r->end[from] - t_ns) continue;
            r->start[g->next[i]] = r->end[from] - t_ns;
            e->before[g->next[i]] = i;
            last = g->next[i];
        }
        if (g->p->barrier) break;
    }
    return last;
}

// A single decision takes its longest path, or goes round its longest cycle. Returns the laps.
static int put_longest(struct elaborate *e, int64_t t_ns)
{
    const struct check_graph *g = e->g;
    int at = find_longest(e, t_ns), count = 0, laps = g->p->barrier,
        *edges = TAKE(e->k->arena, g->offset[KINDS] + 1, int);
    if (!g->p->barrier)
        for (int i = 0; i < g->offset[KINDS] && e->before[at] >= 0; i++)
            at = edge_source(g, e->before[at]); // onto the cycle
    int start = at;
    do {
        if (e->before[at] < 0) break;
        edges[count++] = e->before[at];
        at = edge_source(g, e->before[at]);
    } while (at != start && count < g->offset[KINDS]);
    open_path(e, at);
    while (count > 0) {
        laps += g->lap[edges[--count]];
        at = put_edge(e, at, edges[count]);
    }
    close_path(e);
    return laps > 0 ? laps : 1;
}

// ---- boxes

static void put_numbers(struct elaborate *e, const char *name, const int64_t *numbers, int count)
{
    page_print(&e->page, "%s", name);
    for (int i = 0; i < count; i++) page_print(&e->page, " %lld", (long long)numbers[i]);
    page_print(&e->page, "\n");
}

// Where ranks have several stages: what does not fit with the least of its rank is removed, and
// where choices state places, before that what no other choice leads to, by a round without prices.
static void put_couple(struct elaborate *e)
{
    if (e->g->p->turns == 1) return;
    if (e->listed.free_from > 0) {
        page_print(&e->page, "c\nw\n");
        put_numbers(e, "r", NULL, 0);
    }
    page_print(&e->page, "k\n");
}

// A price of a rank's bytes: the stage whose working memory counts, and what each stage holds.
static void put_memory(struct elaborate *e, const cJSON *memory)
{
    const struct check_problem *p = e->g->p;
    for (const cJSON *v = memory ? memory->child : NULL; v; v = v->next) {
        int64_t n[4];
        int i = 0;
        for (const cJSON *c = v->child; c && i < 4; c = c->next) n[i++] = value_number(c);
        const int *held = e->g->peaks[n[0]].held + n[1] * p->turns;
        page_print(&e->page, "m %lld %d", (long long)n[3], check_stage_of(p, (int)n[0], (int)n[2]));
        for (int turn = 0; turn < p->turns; turn++)
            page_print(&e->page, " %d %d", check_stage_of(p, (int)n[0], turn), held[turn]);
        page_print(&e->page, "\n");
    }
}

// counted; weights; prices in 2^-20 ns.
static void put_round(struct elaborate *e, const cJSON *round)
{
    e->prices_layers = e->prices_layers || value_get(round, "layers");
    const struct check_problem *p = e->k->p;
    const cJSON *weights = value_get(round, "weights"), *prices = value_get(round, "prices"),
                *slots = prices ? value_get(prices, "slots") : NULL;
    int64_t price[RESOURCES_MOST] = {0};
    int resources = resources_of(p);
    for (const cJSON *v = slots ? slots->child : NULL; v; v = v->next)
        price[value_number(v->child)] = value_number(v->child->next);
    for (size_t i = 0; i < ARRAY_LENGTH(budgets) && prices; i++)
        if (value_get(prices, budgets[i]))
            price[p->group_count + (int)i] = value_number(value_get(prices, budgets[i]));
    // A round by ranks counts nothing; where one group is left its slots close the box as well.
    bool by_ranks = cJSON_IsTrue(value_get(round, "by_ranks"));
    int64_t counted[RESOURCES_MOST];
    for (int r = 0; r < resources; r++)
        counted[r] = e->counted[r] || (by_ranks && r < p->group_count);
    put_numbers(e, "c", counted,
                cJSON_IsTrue(value_get(round, "relaxed")) && !by_ranks ? 0 : resources);
    page_print(&e->page, "w");
    for (const cJSON *v = weights ? weights->child : NULL; v; v = v->next)
        page_print(&e->page, " %lld %lld", (long long)value_number(v->child),
                   (long long)value_number(v->child->next));
    page_print(&e->page, "\n");
    put_memory(e, by_ranks ? NULL : value_get(round, "memory"));
    put_numbers(e, "r", price, resources);
    if (by_ranks) put_numbers(e, "n", price, resources);
    put_couple(e);
}

// A single decision is closed by its longest path, or by what it breaks.
static void put_leaf(struct elaborate *e, const struct check_box *left)
{
    const struct check_choice *chosen[MOST_STAGES];
    int64_t bound = e->k->result->bound_ns, all[RESOURCES_MOST];
    int resources = resources_of(e->k->p);
    for (int r = 0; r < resources; r++) all[r] = 1;
    for (int s = 0; s < e->k->p->stages; s++) chosen[s] = &e->k->choices.items[s][left->left[s][0]];
    bool fits = !check_misfit(e->g, chosen);
    int path = e->path_count, laps = 1;
    if (fits && bound > 0) {
        check_take_durations(&e->k->replay, chosen);
        laps = put_longest(e, bound - 1);
    }
    put_numbers(e, "c", all, fits ? 0 : resources);
    if (fits && bound > 0)
        page_print(&e->page, "w %d %lld\n", path, ((long long)1 << WEIGHT_SHIFT) / laps);
    else page_print(&e->page, "w\n");
    put_numbers(e, "r", NULL, 0);
    if (e->g->p->turns > 1) page_print(&e->page, "w\nn\n"); // or by its rank's layers
}

static enum status see_box(void *of, const cJSON *box, const struct check_box *left, int split,
                           bool leaf)
{
    struct elaborate *e = of;
    put_couple(e);
    for (const cJSON *v = value_get(box, "rounds")->child; v; v = v->next) put_round(e, v);
    if (leaf) put_leaf(e, left);
    if (split == -2) {
        const cJSON *by = value_get(box, "split");
        e->prices_layers = e->prices_layers || value_get(by, "run");
        page_print(&e->page, "t %lld %lld\n", (long long)value_number(value_get(by, "rank")),
                   (long long)value_number(value_get(by, "layers_below")));
        return OK;
    }
    if (split < 0) {
        page_print(&e->page, "b\n");
        return OK;
    }
    page_print(&e->page, "s %d", split);
    for (int i = 0; i < left->count[split]; i++)
        page_print(&e->page, " %d", e->numbers[split][left->left[split][i]]);
    page_print(&e->page, "\n");
    return OK;
}

// ---- the file

// The class of the message behind a stage, from 2; 0: nothing is sent, the next stage is on the
// same rank; 1: nothing is sent, it reads a file.
static int class_behind(const struct check_problem *p, int stage, const struct check_choice *c)
{
    if (stage == p->stages - 1 || check_sends_forward(p, stage)) return c->cut + 2;
    return !check_is_inner(p, stage);
}

static void put_choices(struct elaborate *e)
{
    const struct check_problem *p = e->k->p;
    for (int s = 0; s < p->stages; s++)
        for (int i = 0; i < e->listed.count[s]; i++) {
            const struct check_choice *c = &e->listed.items[s][i];
            page_print(&e->page, "v %d %d %d %d %d %d", s, c->first, c->layers, c->group,
                       class_behind(p, s, c), c->boundary);
            for (int n = 0; n < 2 * p->slices; n++)
                page_print(&e->page, " %lld",
                           (long long)(n < p->slices ? c->forward[n] : c->backward[n - p->slices]));
            const int64_t more[] = {c->weight,   c->sync,  c->optimizer, c->queued_sync,
                                    c->resident, c->stash, c->working};
            for (size_t n = 0; n < ARRAY_LENGTH(more); n++)
                page_print(&e->page, " %lld", (long long)more[n]);
            for (int r = 0; r < resources_of(p); r++)
                page_print(&e->page, " %lld", (long long)check_use(p, s, r, c));
            page_print(&e->page, "\n");
        }
}

// Those that remain with the least of their rank are in the same order.
static void number_choices(struct elaborate *e)
{
    for (int s = 0; s < e->k->p->stages; s++) {
        const struct check_choice *all = e->listed.items[s], *left = e->k->choices.items[s];
        e->numbers[s] = TAKE(e->k->arena, e->k->choices.count[s] + 1, int);
        for (int i = 0, n = 0; i < e->k->choices.count[s]; i++, n++) {
            while (memcmp(&all[n].decision, &left[i].decision, sizeof left[i].decision) != 0) n++;
            e->numbers[s][i] = n;
        }
    }
}

static void find_counted(struct elaborate *e, const cJSON *proof)
{
    const struct check_problem *p = e->k->p;
    const cJSON *counted = value_get(proof, "counted"),
                *slots = counted ? value_get(counted, "slots") : NULL;
    for (const cJSON *v = slots ? slots->child : NULL; v; v = v->next)
        for (int g = 0; g < p->group_count; g++)
            e->counted[g] = e->counted[g] || !strcmp(p->groups[g].name, v->valuestring);
    for (size_t i = 0; i < ARRAY_LENGTH(budgets) && counted; i++)
        e->counted[p->group_count + (int)i] = cJSON_IsTrue(value_get(counted, budgets[i]));
}

// The plan, a stage a line: first layer, layers, group, options, mode, recomputed and sharded
// layers.
static void put_plan(struct elaborate *e, const cJSON *proof)
{
    const cJSON *plan = value_get(proof, "incumbent");
    if (!plan) return;
    page_print(&e->page, "time %lld\n", (long long)e->k->result->iteration_ns);
    for (const cJSON *v = plan->child; v; v = v->next) {
        const char *const keys[] = {"first_layer",     "layer_count",       "boundary_option",
                                    "gradient_option", "recomputed_layers", "sharded_layers"};
        long long n[6] = {0};
        int group = 0;
        while (strcmp(e->k->p->groups[group].name, value_get(v, "group")->valuestring)) group++;
        for (int i = 0; i < 6; i++)
            if (value_get(v, keys[i])) n[i] = value_number(value_get(v, keys[i]));
        page_print(&e->page, "d %lld %lld %d %lld %lld %s %lld %lld\n", n[0], n[1], group, n[2],
                   n[3], value_get(v, "recompute")->valuestring, n[4], n[5]);
    }
}

static enum status elaborate(struct elaborate *e, const cJSON *proof)
{
    struct check_watch watch = {see_box, e};
    struct check_proof *k = e->k;
    find_counted(e, proof);
    check_open_replay(&k->replay, k->g, k->work, k->arena);
    TRY(check_list_alone(&e->listed, k->g, k->work, k->arena));
    TRY(check_list_choices(&k->choices, k->g, k->work, k->arena));
    number_choices(e);
    put_choices(e);
    put_plan(e, proof);
    for (const cJSON *v = value_get(proof, "paths")->child; v; v = v->next) put_path(e, v);
    put_couple(e); // as the list of choices
    k->watch = &watch;
    return check_audit_proof(k, proof);
}

enum status certificate_elaborate(const char *to, const struct check_text *certificate,
                                  const struct check_text *priced, struct arena *arena,
                                  struct error *err)
{
    const struct reader r = {certificate->file, err};
    struct check_result result = {.iteration_ns = -1, .bound_ns = -1};
    struct check_problem *p = TAKE(arena, 1, struct check_problem);
    struct check_graph g;
    uint64_t work = CHECK_WORK_DEFAULT;
    cJSON *root;
    char hash[CHECK_HASH];
    TRY(check_read_envelope(&r, certificate, &root, arena));
    const cJSON *proof = value_get(root, "proof");
    if (!proof) return refuse(err, "%s: proof: missing", certificate->file);
    TRY(check_read_claims(&r, proof, &result));
    TRY(check_read_problem(p, priced, arena, err));
    if (p->objective != MINIMISE_TIME)
        return refuse(err, "%s: --elaborate: expected the iteration time as objective",
                      priced->file);
    if (p->degree_count || p->width_per_group)
        return refuse(err, "%s: --elaborate: expected no %s, of which no theorem tells yet",
                      priced->file, p->degree_count ? "vocabulary_runs" : "width_per_group");
    TRY(check_build_graph(&g, p, arena));
    struct check_proof k = {
        .reader = r, .p = p, .g = &g, .result = &result, .work = &work, .arena = arena};
    struct elaborate e = {.k = &k, .g = &g, .page = {.arena = arena}};
    e.before = TAKE(arena, g.offset[KINDS] + 1, int);
    check_hash(priced->text, priced->size, hash);
    page_print(&e.page, "plumbline.elaborated 1\npriced %s\n", hash);
    if (result.infeasible) page_print(&e.page, "infeasible\n");
    else page_print(&e.page, "bound %lld\n", (long long)result.bound_ns);
    TRY(elaborate(&e, proof));
    if (e.prices_layers)
        return refuse(err,
                      "%s: --elaborate: expected no layers of one kind in splits and rounds, of "
                      "which no theorem tells yet",
                      certificate->file);
    return page_write(&e.page, to, err);
}
