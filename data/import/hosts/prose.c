// Machines as people write them: "4 nodes, each 8x H100 SXM5 80GB, 8x 400G CX7", rows of Markdown's
// tables, lists of keys. A line is cut into numbers, signs and words; what stands beside a GPU's
// name says how many there are.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/gpus.h"
#include "data/import/hosts/sinfo.h"
#include "data/import/hosts/tokens.h"

enum { STATEMENTS_MOST = 16, CELLS_MOST = 32 };
enum { NEAR = 8, NODE_MOST = 16 }; // tokens; GPUs of one node

// What a line says; 0, NULL: it does not.
struct statement {
    int line;
    int64_t nodes, gpus;
    const char *gpu;              // "h100-80gb"
    bool each, total, product;    // gpus are a node's; all nodes'; surely a node's: "2 x 8 x"
    struct cloud_machine network; // cards, card_gbit, network
};

struct prose {
    struct tokens line;
    struct statement said[STATEMENTS_MOST], loose; // loose: of lines that name no GPU
    int said_count;
    bool differ;       // loose lines say different numbers
    const char *other; // a GPU that is named without a number, or beside another; NULL: none
    int other_line, wanted_line; // of that; of what is needed, not there
    const char *heads[CELLS_MOST];
    int head_count;
    struct arena *arena;
};

// ---- what a line says

static const char fillers[] =
    "nvidia amd tesla geforce quadro instinct rtx gtx radeon pro ampere hopper blackwell ada of x "
    "sxm sxm2 sxm3 sxm4 sxm5 sxm6 pcie pcie4 pcie5 nvl oam hbm2 hbm2e hbm3 hbm3e gddr6 gddr6x gpu "
    "gpus tensor core hgx dgx high end interconnected nvlinked local gb gib g vram class";

// The memory that a token is, in GB: "80GB", "80 GB"; 0: none.
static int memory_at(const struct tokens *p, int i)
{
    static const char units[] = "gb gib g";
    if (!token_is_number(p, i) || p->tokens[i].value < 8 || p->tokens[i].value > 320) return 0;
    bool own = token_is(p, i, units), next = !*p->tokens[i].text && token_is(p, i + 1, units);
    return (own || next) && !token_is(p, i + 1 + next,
                                      "ram ddr4 ddr5 system host dram cpu storage ssd "
                                      "nvme disk")
               ? (int)p->tokens[i].value
               : 0;
}

static bool is_filler(const struct tokens *p, int i)
{
    return token_is(p, i, fillers) || memory_at(p, i) ||
           (token_is_number(p, i) && memory_at(p, i) && !*p->tokens[i].text);
}

// How the GPU's card and memory are called, beside its name.
static const char *name_of(const struct tokens *p, int at)
{
    const char *name = gpu_name(p->tokens[at].gpu), *card = "";
    int gb = 0;
    for (int i = at - 1; i >= 0 && at - i <= 4 && is_filler(p, i); i--)
        if (!gb) gb = memory_at(p, i);
    for (int i = at + 1; i < p->count && i - at <= NEAR; i++) {
        if (!is_filler(p, i) && !token_is(p, i, "( ,") && !token_is(p, i, "with each")) break;
        if (token_is(p, i, "pcie pcie4 pcie5")) card = "-pcie";
        if (token_is(p, i, "nvl")) card = "-nvl";
        if (!gb) gb = memory_at(p, i);
    }
    if (token_is(p, at + 1, "ada")) card = "-ada";
    bool modules = name_is_listed("v100 a100 h100 h200", name, strlen(name)) ||
                   !strcmp(card, "-ada");
    if (!modules) card = "";
    return gb ? arena_print(p->arena, "%s%s-%dgb", name, card, gb)
              : arena_print(p->arena, "%s%s", name, card);
}

static const char node_words[] =
    "node nodes server servers machine machines instance instances host "
    "hosts box boxes vm vms system systems blade blades workstations";

// "8 x NVIDIA H100", "8 H100": where the number before a GPU is; -1: nowhere.
static int count_before(const struct tokens *p, int at)
{
    int i = at - 1;
    while (i >= 0 && at - i <= NEAR && is_filler(p, i) && !token_is_count(p, i, 65536)) i--;
    // "CUDA 12 A100", "Table 3: ..."
    bool label = token_is(p, i - 1,
                          "cuda table figure fig section version v python step phase stage "
                          "top day week gen llama qwen pcie gpu node rank index id no");
    if (memory_at(p, i) || (label && !token_is(p, i + 1, "x"))) return -1;
    return token_is_count(p, i, 65536) ? i : -1;
}

// "H100 80GB x8", "A100-SXM4 (8x)".
static int count_behind(const struct tokens *p, int at)
{
    int i = at + 1;
    while (i < p->count && i - at <= NEAR && is_filler(p, i) && !token_is(p, i, "x")) i++;
    if (token_is(p, i, "x") && token_is_count(p, i + 1, 1024) && !memory_at(p, i + 1)) return i + 1;
    bool ends = i + 2 >= p->count || token_is(p, i + 2, "| , ;");
    return token_is_count(p, i, 1024) && token_is(p, i + 1, "x") && ends ? i : -1;
}

// "8 GPUs", "8-GPU", "GPUs per node: 8", "GPU count 8"; *each: it says that these are a node's.
static int64_t gpus_in(const struct tokens *p, bool *each)
{
    for (int i = 0; i < p->count; i++) {
        if (!token_is_count(p, i, 65536)) continue;
        int k = i + 1, gpus = -1;
        while (k < p->count && k - i <= 4 && is_filler(p, k) && !token_is(p, k, "gpu gpus")) k++;
        if (token_is(p, k, "gpu gpus accelerators cards") &&
            !token_is(p, k + 1, "memory hours hour days"))
            gpus = k;
        bool named = false, counted = false;
        for (k = i - 1; gpus < 0 && k >= 0 && i - k <= 6; k--) {
            if (token_is(p, k, "gpus accelerators accelerator gpu")) {
                named = token_is(p, k, "gpus accelerators") || counted ||
                        token_is(p, k - 1, "of") || token_is(p, k + 1, "per count");
                break;
            }
            counted |= token_is(p, k, "count number num per");
            if (!token_is(p, k, "per node count number num total : / server machine instance host"))
                break;
        }
        if (gpus < 0 && !named) continue;
        for (k = 0; k < p->count; k++)
            *each |= (token_is(p, k, "per") && token_is(p, k + 1, node_words)) ||
                     token_is(p, k, "each") ||
                     (token_is(p, k, "gpus") &&
                      token_is(p, k + 1 + token_is(p, k + 1, "/ a"), node_words));
        return (int64_t)p->tokens[i].value;
    }
    return 0;
}

// "4 nodes", "4 compute nodes", "4x DGX H100", "Nodes: 4", "number of nodes 4".
static int64_t nodes_in(const struct tokens *p)
{
    for (int i = 0; i < p->count; i++) {
        if (!token_is_count(p, i, 65536)) continue;
        int k = i + 1;
        while (k < p->count && k - i <= 6 &&
               (is_filler(p, k) || p->tokens[k].gpu >= 0 ||
                token_is(p, k, "compute physical worker bare metal identical dedicated cloud")))
            k++;
        if (token_is(p, k, node_words) && !token_is(p, k - 1, "per gpus"))
            return (int64_t)p->tokens[i].value;
        bool dgx = token_is(p, i + 1, "dgx hgx") ||
                   (token_is(p, i + 1, "x") && token_is(p, i + 2, "dgx hgx")) ||
                   (token_is(p, i + 1, "x nvidia") && token_is(p, i + 3, "dgx hgx"));
        if (dgx) return (int64_t)p->tokens[i].value;
        k = i - 1;
        while (k >= 0 && token_is(p, k, ": of count number num total")) k--;
        if (token_is(p, k, "nodes servers machines instances") && !token_is(p, k - 1, "per / gpus"))
            return (int64_t)p->tokens[i].value;
        if (token_is(p, k, "node") && token_is(p, k + 1, "count") && !token_is(p, k - 1, "per"))
            return (int64_t)p->tokens[i].value;
    }
    return 0;
}

// ---- the network

// Gb/s of one card at a token; 0: none. "400G" only beside a network's word.
static double gbit_at(const struct tokens *p, int i, bool network)
{
    static const struct {
        const char *name;
        double gbit;
    } rates[] = {{"qdr", 40},  {"fdr", 56},     {"edr", 100},    {"hdr", 200}, {"hdr100", 100},
                 {"ndr", 400}, {"ndr200", 200}, {"ndr400", 400}, {"xdr", 800}};
    for (size_t k = 0; k < ARRAY_LENGTH(rates) && i < p->count && !token_is_number(p, i); k++)
        if (!strcmp(p->tokens[i].text, rates[k].name)) return rates[k].gbit;
    if (!token_is_number(p, i)) return 0;
    static const char *const units = "gbps gb/s gbit gbit/s gbe gbits/s gbits gige";
    int unit = *p->tokens[i].text ? i : i + 1;
    // "GB/s" are bytes
    bool rate = token_is(p, unit, units), tera = token_is(p, unit, "tbps tb/s tbit/s"),
         bare = network && token_is(p, i, "g gb");
    double value = p->tokens[i].value * (tera ? 1000 : 1);
    return (rate || tera || bare) && value >= 1 && value <= 25600 ? value : 0;
}

static void read_network(const struct tokens *p, const char *line, struct statement *s)
{
    static const char *const infiniband[] = {"infiniband", " ndr", " hdr", " edr", " fdr",
                                             " xdr",       " ib ", "ib/",  NULL},
                             *const roce[] = {"roce", "efa", "rdma", NULL},
                             *const others[] = {"connectx", " cx", "nic",          "ethernet",
                                                "network",  "gbe", "interconnect", "fabric",
                                                "mellanox", NULL},
                             *const cards_of[] = {"connectx", " cx", "x400g cx", "mellanox", NULL},
                             *const tcp[] = {"ethernet", "gbe", "tcp", NULL};
    bool ib = has_one_in_any_case(line, infiniband), rdma = has_one_in_any_case(line, roce),
         network = ib || rdma || has_one_in_any_case(line, others);
    if (!network || strstr(line, "GB/s")) network = ib || rdma;
    if (!network) return;
    for (int i = 0; i < p->count; i++) {
        double gbit = gbit_at(p, i, network), cards = 1;
        if (!(gbit > 0)) continue;
        int k = i - 1;
        while (k >= 0 && i - k <= 6 &&
               (token_is(p, k,
                         "infiniband ib mellanox nvidia connectx hdr ndr edr efa ethernet roce") ||
                (token_is_number(p, k) && token_is(p, k - 1, "connectx"))))
            k--;
        if (token_is(p, k, "x") && token_is_count(p, k - 1, 64)) cards = p->tokens[k - 1].value;
        else if (token_is_count(p, k, 64) &&
                 token_is(p, k + 1, "connectx infiniband mellanox nvidia"))
            cards = p->tokens[k].value;
        int next = i + 1 + !*p->tokens[i].text;
        if (token_is(p, next, "x") && token_is_count(p, next + 1, 64))
            cards = p->tokens[next + 1].value;
        if (cards * gbit <= s->network.cards * s->network.card_gbit) continue;
        bool ethernet = !ib && !rdma &&
                        (has_one_in_any_case(line, tcp) || !has_one_in_any_case(line, cards_of));
        s->network = (struct cloud_machine){.name = "the text",
                                            .cards = (int)cards,
                                            .card_gbit = gbit,
                                            .network = ethernet ? NIC_ETHERNET
                                                       : rdma   ? NIC_ROCE
                                                                : NIC_INFINIBAND};
        if (ib && !token_is(p, i + 1, "gbe ethernet") && !token_is(p, i, "gbe"))
            s->network.network = NIC_INFINIBAND;
    }
}

// ---- lines and tables

static bool has_word(const struct tokens *p, const char *words)
{
    for (int i = 0; i < p->count; i++)
        if (token_is(p, i, words)) return true;
    return false;
}

// A count that is one word's alone.
static void put_count(struct prose *p, int64_t *to, int64_t value)
{
    p->differ |= value && *to && *to != value;
    if (value && !*to) *to = value;
}

// Where the number of the GPU at a token is; -1: nowhere.
static int count_of(const struct tokens *p, int gpu)
{
    int count = count_before(p, gpu), behind = gpu + 1;
    while (behind < p->count && behind - gpu <= 4 && is_filler(p, behind)) behind++;
    bool nodes =
        token_is(p, behind, node_words) || token_is(p, count + 1, "dgx hgx") ||
        (token_is(p, count + 1, "x") && token_is(p, count + 2, "dgx hgx")); // "8 A100 nodes"
    if (token_is(p, behind, "hour hours hrs day days month year performance speed")) return -1;
    return count >= 0 && !nodes ? count : count_behind(p, gpu);
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

static void read_statement(struct prose *p, const char *line, int number)
{
    struct statement s = {.line = number};
    int gpu = -1, count = -1;
    struct tokens *w = &p->line;
    tokens_cut(w, line);
    for (int i = 0; i < w->count; i++) {
        if (w->tokens[i].gpu < 0) continue;
        int of = count_of(w, i);
        if (gpu < 0 || (count < 0 && of >= 0)) {
            if (gpu >= 0 && !alike(name_of(w, gpu), name_of(w, i)))
                put_other(p, name_of(w, gpu), number);
            gpu = i, count = of;
        } else if (!alike(name_of(w, gpu), name_of(w, i)) ||
                   (of >= 0 && w->tokens[of].value != w->tokens[count].value))
            put_other(p, name_of(w, i), number);
    }
    if (gpu >= 0 && has_word(w, "needs need requires require required recommended recommend "
                                "minimum least fits cost costs price up")) {
        p->wanted_line = number;
        return;
    }
    s.nodes = nodes_in(w);
    s.gpus = count >= 0 ? (int64_t)w->tokens[count].value : gpus_in(w, &s.each);
    if (count >= 0 && s.nodes == s.gpus && token_is(w, count + 1, node_words)) s.gpus = 0;
    s.product = token_is(w, count - 1, "x");
    if (s.product && !s.nodes && token_is_count(w, count - 2, 65536)) // "2 x 8 H100"
        s.nodes = (int64_t)w->tokens[count - 2].value;
    s.each |= s.product || token_is(w, count - 1, "with of : have has |") || has_word(w, "each");
    s.total = has_word(w, "total across overall altogether");
    read_network(w, line, &s);
    if (gpu < 0) {
        put_count(p, &p->loose.nodes, s.nodes), put_count(p, &p->loose.gpus, s.gpus);
        p->loose.each |= s.each, p->loose.total |= s.total;
        if (s.network.cards * s.network.card_gbit >
            p->loose.network.cards * p->loose.network.card_gbit)
            p->loose.network = s.network;
        return;
    }
    s.gpu = name_of(w, gpu);
    if (has_word(w, "nvl72")) { // the rack is the node
        if (!s.nodes) s.nodes = s.gpus;
        s.gpus = 72, s.product = true;
    } else if (!s.gpus && has_word(w, "dgx hgx") && strncmp(s.gpu, "gb", 2)) {
        s.gpus = 8, s.product = true;
    }
    for (int i = 0; i < p->said_count; i++) {
        struct statement *old = &p->said[i];
        if (!alike(old->gpu, s.gpu) || (old->gpus && s.gpus && old->gpus != s.gpus) ||
            (old->nodes && s.nodes && old->nodes != s.nodes))
            continue;
        // the same machine again
        if (strlen(s.gpu) > strlen(old->gpu)) old->gpu = s.gpu;
        if (!old->gpus)
            old->gpus = s.gpus, old->each = s.each, old->total = s.total, old->product = s.product;
        if (!old->nodes) old->nodes = s.nodes;
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
        if (!only || only == t->line)
            read_statement(p, table && p->head_count ? with_heads(p, line) : line, t->line);
    }
}

// ---- nodes

// GPUs of each node; 0: refused.
static enum status settle(struct statement *s, const struct text_lines *t, struct error *err)
{
    bool divides = s->nodes > 1 && s->gpus % s->nodes == 0, many = s->gpus > NODE_MOST;
    if (s->nodes < 2 || s->product || (s->each && !s->total && !many)) return OK;
    if (divides && (s->total || many)) return s->gpus /= s->nodes, OK;
    return line_refuse(
        t->path, s->line, err,
        "%lld GPUs in each of %lld nodes, or in all of them? Write '%lld nodes, each "
        "8 x %s'",
        (long long)s->gpus, (long long)s->nodes, (long long)s->nodes, s->gpu);
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
    if (!p->said_count && p->wanted_line)
        return line_refuse(
            t->path, p->wanted_line, err,
            "says what is needed, not what there is: write '4 nodes, each 8 x H100'");
    if (!p->said_count) return OK;
    if (other)
        return refuse(err,
                      "%s: describes several machines, with %s in line %d and with %s in line %d: "
                      "say with --line which is meant",
                      t->path, p->said[0].gpu, p->said[0].line, other, p->other_line);
    struct statement *first = p->said, *second = p->said + 1;
    if (p->said_count > 1 && (whole < p->said_count || !counted))
        return refuse(err,
                      "%s: describes several machines, in line %d %lld x %s, in line %d %lld x %s: "
                      "say with --line which is meant, or how many nodes each has",
                      t->path, first->line, (long long)first->gpus, first->gpu, second->line,
                      (long long)second->gpus, second->gpu);
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
