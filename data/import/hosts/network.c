// What people's words say of a node's network cards: "two HDR200 HCAs", "8x 400G CX7", "400 Gb/s
// per GPU", "dual-rail EDR".
#include <string.h>

#include "data/base/names.h"
#include "data/import/hosts/tokens.h"
#include "data/import/machines.h"
#include "data/places/cluster.h"

// "RTX 4090 24GB": of the GPU beside it.
static bool is_memory(const struct tokens *p, int i)
{
    int before = i - 1, behind = i + 1;
    while (before >= 0 && token_is_filler(p, before)) before--;
    while (behind < p->count && token_is_filler(p, behind)) behind++;
    return (before >= 0 && p->tokens[before].gpu >= 0) ||
           (behind < p->count && p->tokens[behind].gpu >= 0);
}

// Gb/s of one card at a token; 0: none. "400G" only beside a network's word.
static double gbit_at(const struct tokens *p, int i, bool network)
{
    static const struct {
        const char *name;
        double gbit;
    } rates[] = {{"qdr", 40},     {"fdr", 56},  {"edr", 100},    {"hdr", 200},    {"hdr100", 100},
                 {"hdr200", 200}, {"ndr", 400}, {"ndr200", 200}, {"ndr400", 400}, {"xdr", 800}};
    for (size_t k = 0; k < ARRAY_LENGTH(rates) && i < p->count && !token_is_number(p, i); k++)
        if (!strcmp(p->tokens[i].text, rates[k].name)) return rates[k].gbit;
    if (!token_is_number(p, i)) return 0;
    static const char *const units = "gbps gb/s gbit gbit/s gbe gbits/s gbits gige";
    int unit = *p->tokens[i].text ? i : i + 1;
    bool rate = token_is(p, unit, units), tera = token_is(p, unit, "tbps tb/s tbit/s"),
         bare = network && token_is(p, i, "g gb") && !is_memory(p, i);
    static const char *const inside = "nvlink nvlinks nvswitch xgmi pcie";
    if (token_is(p, i - 1, inside) || token_is(p, unit + 1, inside)) return 0;
    double value = p->tokens[i].value * (tera ? 1000 : 1);
    return (rate || tera || bare) && value >= 1 && value <= 25600 ? value : 0;
}

static bool is_of_network(const struct tokens *p, int i)
{
    return token_is(p, i,
                    "infiniband ib mellanox nvidia connectx hdr ndr edr efa ethernet roce network "
                    "vpi single port dual full speed links");
}

// Cards of a node beside a rate: those of the number before it ("8 x", "two HDR HCAs"), behind it
// ("400 Gb/s x 8"), or of the line ("dual-rail"); 0: one for each GPU; -1: not said.
static int cards_at(const struct tokens *p, int i)
{
    static const char cards[] = "hcas nics cards adapters ports rails links connectx";
    int k = i - 1, next = i + 1 + (token_is_number(p, i) && !*p->tokens[i].text), ends = next;
    if (token_is(p, next, "x") && token_is_count(p, next + 1, 64))
        return (int)p->tokens[next + 1].value;
    while (is_of_network(p, ends) || token_is(p, ends, "gb/s gbps gbit/s")) ends++;
    while (k >= 0 && i - k <= 6 &&
           (is_of_network(p, k) || token_is(p, k, "at") ||
            (token_is_number(p, k) && token_is(p, k - 1, "connectx"))))
        k--;
    if (token_is(p, k, "x") && token_is_count(p, k - 1, 64)) return (int)p->tokens[k - 1].value;
    if (token_is_count(p, k, 64) &&
        (token_is(p, k + 1, "connectx infiniband mellanox nvidia") || token_is(p, ends, cards) ||
         (k == i - 1 && !token_is_number(p, i)))) // "dual HDR"
        return (int)p->tokens[k].value;
    for (k = 0; k < p->count; k++) {
        if (token_is_count(p, k, 64) && token_is(p, k + 1, "rail rails"))
            return (int)p->tokens[k].value;
        bool each = token_is(p, k, "per each every"), of = token_is(p, k + 1, "of");
        if (each && token_is(p, k + 1 + of, of ? "those them which the" : "gpu")) return 0;
    }
    return -1;
}

void network_read(const struct tokens *p, const char *line, int gpus, struct cloud_machine *to)
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
    network |= tokens_have(p, "gb/s gbps gbit/s") && tokens_have(p, "per between");
    if (!network) return;
    for (int i = 0; i < p->count; i++) {
        double gbit = gbit_at(p, i, network);
        if (!(gbit > 0)) continue;
        int said = cards_at(p, i), cards = said > 0 ? said : said == 0 && gpus > 0 ? gpus : 1;
        if (cards * gbit <= to->cards * to->card_gbit) continue;
        bool ethernet = !ib && !rdma &&
                        (has_one_in_any_case(line, tcp) || !has_one_in_any_case(line, cards_of));
        *to = (struct cloud_machine){.name = "the text",
                                     .cards = cards,
                                     .card_gbit = gbit,
                                     .network = ethernet ? NIC_ETHERNET
                                                : rdma   ? NIC_ROCE
                                                         : NIC_INFINIBAND};
        if (ib && !token_is(p, i + 1, "gbe ethernet") && !token_is(p, i, "gbe"))
            to->network = NIC_INFINIBAND;
    }
}
