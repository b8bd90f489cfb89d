// Machines as people write them: "4 nodes, each 8x H100 SXM5 80GB, 8x 400G CX7", rows of Markdown's
// tables, lists of keys. A line is cut into numbers, signs and words; what stands beside a GPU's
// name says how many there are.
#include <ctype.h>
#include <string.h>

#include "data/base/names.h"
#include "data/import/gpus.h"
#include "data/import/hosts/sinfo.h"
#include "data/import/hosts/tokens.h"

enum { STATEMENTS_MOST = 16, CELLS_MOST = 32 };
enum { NODE_MOST = 16 }; // GPUs of one node

// What a line says; 0, NULL: it does not.
struct statement {
    int line;
    int64_t nodes, gpus;
    const char *gpu;              // "h100-80gb"
    bool each, total, product;    // gpus are a node's; all nodes'; surely a node's: "2 x 8 x"
    bool many;                    // says "nodes", or the like
    struct cloud_machine network; // cards, card_gbit, network
};

struct prose {
    struct tokens line;
    struct statement said[STATEMENTS_MOST], loose; // loose: of lines that name no GPU
    int said_count;
    bool differ;        // loose lines say different numbers
    const char *other;  // a GPU that is named without a number, or beside another; NULL: none
    const char *wanted; // what the line wanted_line says
    int other_line, wanted_line; // of that; of what is needed, not there
    const char *unknown;         // a GPU that is none of those known; NULL: none
    int unknown_line;
    const char *unclear; // what a line says that counts no nodes; NULL: none
    int unclear_line;
    const char *heads[CELLS_MOST];
    int head_count;
    struct arena *arena;
};

// ---- what a line says

// How the GPU's card and memory are called, beside its name.
static const char *name_of(const struct tokens *p, int at)
{
    const char *name = gpu_name(p->tokens[at].gpu), *card = "";
    int gb = 0;
    for (int i = at - 1; i >= 0 && at - i <= 4 && token_is_filler(p, i); i--)
        if (!gb) gb = token_memory(p, i);
    for (int i = at + 1; i < p->count && i - at <= TOKENS_NEAR; i++) {
        if (!token_is_filler(p, i) && !token_is(p, i, "( ,") && !token_is(p, i, "with each")) break;
        if (token_is(p, i, "pcie pcie4 pcie5")) card = "-pcie";
        if (token_is(p, i, "nvl")) card = "-nvl";
        if (!gb) gb = token_memory(p, i);
    }
    if (token_is(p, at + 1, "ada")) card = "-ada";
    bool modules = name_is_listed("v100 a100 h100 h200", name, strlen(name)) ||
                   !strcmp(card, "-ada");
    if (!modules) card = "";
    return gb ? arena_print(p->arena, "%s%s-%dgb", name, card, gb)
              : arena_print(p->arena, "%s%s", name, card);
}

// ---- lines and tables

// A count that is one word's alone.
static void put_count(struct prose *p, int64_t *to, int64_t value)
{
    p->differ |= value && *to && *to != value;
    if (value && !*to) *to = value;
}

static bool alike(const char *a, const char *b)
{
    return !strncmp(a, b, strlen(a)) || !strncmp(a, b, strlen(b));
}

// A GPU that is another than those with a number.
static void put_other(struct prose *p, const char *name, int line)
{
    if (!p->other || alike(p->other, name)) p->other = name, p->other_line = line;
}

// What a line says that is no number of nodes or of their GPUs, though it looks like one.
static const char *unclear_in(const struct tokens *w)
{
    static const char groups[] = "racks pods cabinets chassis enclosures blocks trays";
    for (int i = 0; i < w->count; i++) {
        if (token_is(w, i, "per each") &&
            token_is(w, i + 1, "rack pod cabinet enclosure block tray"))
            return "counts by rack or pod";
        if (token_is_count(w, i - 1, 65536) && w->tokens[i - 1].value > 1 &&
            token_is(w, i, groups) && !token_is(w, i - 2, "in across over on"))
            return "counts racks or pods";
        int k = i + 1;
        while (token_is(w, i, "+") && k - i < 3 && !token_is(w, k, NODE_WORDS)) k++;
        if (token_is(w, i, "+") && token_is_count(w, i - 1, 65536) && token_is(w, k, NODE_WORDS))
            return "says how many there are at least";
        if (!token_is(w, i, "- to") || !token_is_count(w, i - 1, 65536)) continue;
        k = i + 1;
        while (k < w->count && (token_is_filler(w, k) || token_is_count(w, k, 65536))) k++;
        if (token_is_count(w, i + 1, 65536) &&
            (token_is(w, k, NODE_WORDS) || (k < w->count && w->tokens[k].gpu >= 0)))
            return "says from how many to how many";
    }
    return NULL;
}

// "1,024 H100 GPUs, 8 per node": how many a node has; 0: not said so.
static int64_t per_node(const struct tokens *w)
{
    for (int i = 0; i < w->count; i++) {
        int k = i + 1;
        while (token_is(w, k, "gpu gpus cards accelerators")) k++;
        if (token_is_count(w, i, NODE_MOST) && token_is(w, k, "per") &&
            token_is(w, k + 1, NODE_WORDS))
            return (int64_t)w->tokens[i].value;
    }
    return 0;
}

// "GTX 980 Ti", "RTX Pro 6000", "NVIDIA K40": a GPU of which nothing is known; NULL: none.
static const char *unknown_in(struct prose *p, const struct tokens *w)
{
    for (int i = 0; i < w->count; i++) {
        int k = i + 1;
        if (!token_is(w, i, "rtx gtx geforce quadro titan radeon tesla nvidia")) continue;
        while (token_is(w, k, "pro rtx gtx geforce quadro titan tesla")) k++;
        if (k >= w->count || w->tokens[k].gpu >= 0 || token_memory(w, k)) continue;
        const char *name = w->tokens[k].text;
        size_t letters = strcspn(name, "0123456789");
        bool model = *name && letters && letters < 3 && strlen(name) < 6 && name[letters] &&
                     strncmp(name, "cx", 2) != 0,
             number = token_is_number(w, k) && w->tokens[k].value >= 400 && !*name;
        if (model || (number && !token_is(w, i, "nvidia tesla")))
            return number
                       ? arena_print(p->arena, "%s %.0f", w->tokens[k - 1].text, w->tokens[k].value)
                       : arena_copy_text(p->arena, name);
    }
    return NULL;
}

// "DGX H100", "HGX servers with H100": whether the GPU at a token is eight of a board.
static bool is_on_board(const struct tokens *w, int gpu)
{
    enum { APART = 4 };
    for (int i = 0; i < w->count; i++)
        if (token_is(w, i, "dgx hgx") && !token_is(w, i + 1, "spark station") && i - gpu <= APART &&
            gpu - i <= APART)
            return true;
    return false;
}

// A sentence, or a table's row.
static void read_statement(struct prose *p, const char *line, int number)
{
    struct statement s = {.line = number};
    int gpu = -1, count = -1, another = -1;
    struct tokens *w = &p->line;
    tokens_cut(w, line);
    for (int i = 0; i < w->count; i++) {
        if (w->tokens[i].gpu < 0) continue;
        int of = sentence_count(w, i);
        if (gpu < 0 || (count < 0 && of >= 0)) {
            if (gpu >= 0 && !alike(name_of(w, gpu), name_of(w, i)))
                put_other(p, name_of(w, gpu), number);
            gpu = i, count = of;
        } else if (!alike(name_of(w, gpu), name_of(w, i))) put_other(p, name_of(w, i), number);
        else if (of >= 0 && w->tokens[of].value != w->tokens[count].value) another = of;
    }
    const char *unknown = unknown_in(p, w);
    if (unknown && !p->unknown) p->unknown = unknown, p->unknown_line = number;
    if (gpu >= 0 && tokens_have(w, "needs need requires require required recommended recommend "
                                   "minimum least fits cost costs price up vs versus")) {
        p->wanted_line = number;
        p->wanted = tokens_have(w, "cost costs price") ? "says a price, not what there is"
                    : tokens_have(w, "vs versus")      ? "compares GPUs"
                                                       : "says what is needed, not what there is";
        return;
    }
    s.nodes = sentence_nodes(w);
    s.gpus = count >= 0 ? (int64_t)w->tokens[count].value : sentence_gpus(w, &s.each);
    if (count >= 0 && s.nodes == s.gpus && token_is(w, count + 1, NODE_WORDS)) s.gpus = 0;
    s.product = token_is(w, count - 1, "x");
    if (s.product && !s.nodes && token_is_count(w, count - 2, 65536)) // "2 x 8 H100"
        s.nodes = (int64_t)w->tokens[count - 2].value;
    s.each |= s.product || token_is(w, count - 1, "with of : have has |") || tokens_have(w, "each");
    s.total = tokens_have(w, "total across overall altogether");
    for (int i = 0; i < w->count && s.total && s.nodes > 1; i++) // "(16 GPUs in total)"
        s.product |= token_is_count(w, i, 65536) && (int64_t)w->tokens[i].value == s.nodes * s.gpus;
    int after = gpu + 1; // "8 H100 GPUs each"
    while (after < w->count && token_is_filler(w, after)) after++;
    s.product |= count >= 0 && count < gpu && token_is(w, after, "each");
    const char *unclear = tokens_have(w, "nvl72") || (gpu < 0 && !s.nodes) ? NULL : unclear_in(w);
    if (gpu >= 0 && token_is(w, gpu - 1, "dgx") && count > gpu) // "DGX A100 x 4"
        s.nodes = s.gpus, s.gpus = 0;
    int64_t each = per_node(w), several = another >= 0 ? (int64_t)w->tokens[another].value : 0;
    if (several && several * s.nodes == s.gpus) each = several;
    else if (several && several == s.gpus * s.nodes) s.product = true; // "(32 A100 in total)"
    else if (several) unclear = "says different numbers of a GPU";
    if (each && s.gpus > each && s.gpus % each == 0 && (!s.nodes || s.nodes == s.gpus / each))
        s.nodes = s.gpus / each, s.gpus = each, s.product = true;
    if (unclear && !p->unclear) p->unclear = unclear, p->unclear_line = number;
    const struct statement *of = s.gpus || !p->said_count ? &s : &p->said[p->said_count - 1];
    bool all = of->nodes > 1 && of->total && !of->product; // "Each GPU has a card of" the last
    network_read(w, line, (int)(all ? of->gpus / of->nodes : of->gpus), &s.network);
    if (gpu < 0) {
        put_count(p, &p->loose.nodes, s.nodes), put_count(p, &p->loose.gpus, s.gpus);
        if (s.gpus || s.nodes) p->loose.each |= s.each, p->loose.total |= s.total;
        if (s.network.cards * s.network.card_gbit >
            p->loose.network.cards * p->loose.network.card_gbit)
            p->loose.network = s.network;
        return;
    }
    s.gpu = name_of(w, gpu), s.many = tokens_have(w, MANY_NODES);
    if (tokens_have(w, "nvl72")) { // the rack is the node
        for (int i = 1; i < w->count && !s.nodes; i++) {
            int k = i - 1 - token_is(w, i - 1, "x"); // "4 x NVL72 racks"
            if (token_is(w, i, "nvl72") && token_is_count(w, k, 65536))
                s.nodes = (int64_t)w->tokens[k].value;
        }
        if (!s.nodes) s.nodes = s.gpus;
        s.gpus = 72, s.product = true;
    } else if (!s.gpus && is_on_board(w, gpu) && strncmp(s.gpu, "gb", 2)) {
        s.gpus = 8, s.product = true;
    }
    for (int i = 0; i < p->said_count; i++) {
        struct statement *old = &p->said[i];
        if (alike(old->gpu, s.gpu) && !old->nodes && s.nodes > 1 && old->gpus == s.gpus * s.nodes)
            old->gpus = s.gpus, s.product = true; // "64 H100. These are 8 nodes with 8 H100"
        if (!alike(old->gpu, s.gpu) || (old->gpus && s.gpus && old->gpus != s.gpus) ||
            (old->nodes && s.nodes && old->nodes != s.nodes))
            continue;
        // the same machine again
        if (strlen(s.gpu) > strlen(old->gpu)) old->gpu = s.gpu;
        if (!old->gpus)
            old->gpus = s.gpus, old->each = s.each, old->total = s.total, old->product = s.product;
        if (!old->nodes) old->nodes = s.nodes, old->product |= s.product;
        if (!old->network.cards) old->network = s.network;
        return;
    }
    if (p->said_count < STATEMENTS_MOST) p->said[p->said_count++] = s;
}

static bool is_rule(const char *line)
{
    return strchr(line, '-') && !line[strspn(line, " |:-+=\t")];
}

// The cells of a table's line; returns their number.
static int cells_of(const char *line, const char *cells[CELLS_MOST], struct arena *arena)
{
    int count = 0;
    line += strspn(line, " \t");
    line += *line == '|';
    while (*line && count < CELLS_MOST) {
        size_t length = strcspn(line, "|"), from = strspn(line, " *`");
        if (from > length) from = length;
        cells[count++] = arena_print(arena, "%.*s", (int)(length - from), line + from);
        line += length + (line[length] == '|');
    }
    return count;
}

// A table's row with what its columns are called: "Nodes: 4 | GPUs: 8 | ...".
static const char *with_heads(const struct prose *p, const char *line)
{
    const char *cells[CELLS_MOST], *text = "";
    int count = cells_of(line, cells, p->arena);
    for (int i = 0; i < count; i++) {
        bool bare = i < p->head_count && isdigit((unsigned char)*cells[i]) &&
                    !cells[i][strspn(cells[i], "0123456789,. ")];
        text = arena_print(p->arena, "%s%.200s%s%.400s | ", text, bare ? p->heads[i] : "",
                           bare ? ": " : "", cells[i]);
    }
    return text;
}

// A line's sentences: a full stop behind a word of several letters, a blank and a capital letter.
static void read_sentences(struct prose *p, const char *line, int number)
{
    const char *from = line;
    for (const char *s = line; *s; s++) {
        bool ends = s > line + 2 && s[0] == '.' && s[1] == ' ' && isupper((unsigned char)s[2]) &&
                    !isupper((unsigned char)s[-1]) && s[-2] != ' ' && s[-2] != '.';
        if (!ends) continue;
        read_statement(p, arena_print(p->arena, "%.*s", (int)(s - from), from), number);
        from = s + 2;
    }
    read_statement(p, from, number);
}

static enum status read_text(struct prose *p, struct text_lines *t, int64_t only, struct error *err)
{
    const char *last = "";
    for (bool more;;) {
        TRY(text_next(t, &more, err));
        if (!more) return OK;
        const char *line = text_rest(t, 0, p->arena);
        bool table = strchr(line, '|') != NULL;
        if (is_rule(line) && strchr(last, '|')) p->head_count = cells_of(last, p->heads, p->arena);
        if (!table && *line != '+') p->head_count = 0;
        last = line;
        if (only && only != t->line) continue;
        if (table) read_statement(p, p->head_count ? with_heads(p, line) : line, t->line);
        else read_sentences(p, line, t->line);
    }
}

// ---- nodes

// GPUs of each node; 0: refused.
static enum status settle(struct statement *s, const struct text_lines *t, struct error *err)
{
    bool divides = s->nodes > 1 && s->gpus % s->nodes == 0, many = s->gpus > NODE_MOST;
    if (s->nodes < 2 || s->product || s->gpus < s->nodes || (s->each && !s->total && !many))
        return OK;
    if (divides && (s->total || many)) return s->gpus /= s->nodes, OK;
    return line_refuse(
        t->path, s->line, err,
        "%lld GPUs in each of %lld nodes, or in all of them? Write '%lld nodes, each "
        "8 x %s'",
        (long long)s->gpus, (long long)s->nodes, (long long)s->nodes, s->gpu);
}

static const char *counted_gpus(const struct prose *p, const struct statement *s)
{
    return s->gpus ? arena_print(p->arena, "%lld x %s", (long long)s->gpus, s->gpu) : s->gpu;
}

enum status prose_read(struct sinfo *s, struct text_lines *t, struct error *err)
{
    struct prose *p = TAKE(s->arena, 1, struct prose);
    p->arena = p->line.arena = s->arena;
    TRY(read_text(p, t, s->asked_line, err));
    int counted = 0, whole = 0;
    for (int i = 0; i < p->said_count; i++)
        counted += p->said[i].gpus > 0, whole += p->said[i].gpus > 0 && p->said[i].nodes > 0;
    for (int i = 0, left = 0; i < p->said_count && counted; i++)
        if (p->said[i].gpus) p->said[left++] = p->said[i];
        else put_other(p, p->said[i].gpu, p->said[i].line);
    if (counted) p->said_count = counted;
    const char *other = NULL;
    for (int i = 0; i < p->said_count && p->other; i++)
        if (!alike(p->other, p->said[i].gpu)) other = p->other;
    if (!p->said_count && p->wanted_line) p->unclear = p->wanted, p->unclear_line = p->wanted_line;
    else if (!p->said_count && p->unknown)
        return line_refuse(t->path, p->unknown_line, err,
                           "names %s, a GPU that is not known here: give --like CLUSTER of such "
                           "nodes with their names (NODELIST, GRES)",
                           p->unknown);
    else if (!p->said_count) return OK;
    if (p->unclear)
        return line_refuse(t->path, p->unclear_line, err, "%s: write '4 nodes, each 8 x H100'",
                           p->unclear);
    if (p->unknown && !other) other = p->unknown, p->other_line = p->unknown_line;
    if (other)
        return refuse(err,
                      "%s: describes several machines, with %s in line %d and with %s in line %d: "
                      "say with --line which is meant",
                      t->path, p->said[0].gpu, p->said[0].line, other, p->other_line);
    struct statement *first = p->said, *second = p->said + 1;
    if (p->said_count > 1 && (whole < p->said_count || !counted))
        return refuse(err,
                      "%s: describes several machines, in line %d %s, in line %d %s: say with "
                      "--line which is meant, or how many nodes each has",
                      t->path, first->line, counted_gpus(p, first), second->line,
                      counted_gpus(p, second));
    if (p->said_count == 1) {
        if (p->differ && (!first->gpus || !first->nodes))
            return refuse(err,
                          "%s: says different numbers of nodes or GPUs: give the lines of the "
                          "machine that is meant",
                          t->path);
        if (!first->gpus) first->gpus = p->loose.gpus, first->each |= p->loose.each;
        if (!first->nodes) first->nodes = p->loose.nodes;
        if (!first->network.cards) first->network = p->loose.network;
        first->total |= p->loose.total;
    }
    if (!first->gpus)
        return line_refuse(t->path, first->line, err,
                           "names %s, not how many a node has: write '8 x %s'", first->gpu,
                           first->gpu);
    for (int i = 0; i < p->said_count; i++) {
        struct statement *one = &p->said[i];
        if (s->asked_nodes && p->said_count == 1) one->nodes = s->asked_nodes;
        TRY(settle(one, t, err));
        if (!one->nodes && one->many)
            return line_refuse(t->path, one->line, err,
                               "nodes of %lld x %s: how many? Give --nodes", (long long)one->gpus,
                               one->gpu);
        if (!one->nodes && one->gpus > NODE_MOST && strncmp(one->gpu, "gb", 2))
            return line_refuse(t->path, one->line, err,
                               "%lld x %s: on how many nodes? Give --nodes", (long long)one->gpus,
                               one->gpu);
        if (!one->nodes)
            one->nodes = 1, s->guessed = "one node: the text names no number (--nodes)";
        struct cloud_machine *m = NULL;
        if (one->network.cards) {
            m = TAKE(s->arena, 1, struct cloud_machine), *m = one->network;
            m->gpus = (int)one->gpus;
            if (m->card_gbit > 800 && m->cards == 1) // of all cards
                m->card_gbit /= m->gpus, m->cards = m->gpus;
        }
        s->machine = m;
        TRY(sinfo_add_unnamed(s, one->nodes, one->gpu, one->gpus, t, err));
    }
    return OK;
}
