// What a sentence counts: nodes, and GPUs beside their names. See tokens.h.
#include <string.h>

#include "data/import/hosts/tokens.h"

static const char no_adjectives[] =
    "per each a an the this our in on with and to from at or by for across between over every is "
    "are has have gpus cards cpus cores sockets racks pods total login head management storage / : "
    ", ; | + -";

// "8 x NVIDIA H100", "8 H100": where the number before a GPU is; -1: nowhere.
static int count_before(const struct tokens *p, int at)
{
    int i = at - 1;
    while (i >= 0 && at - i <= TOKENS_NEAR && token_is_filler(p, i) && !token_is_count(p, i, 65536))
        i--;
    // "CUDA 12 A100", "Table 3: ..."
    bool label = token_is(p, i - 1,
                          "cuda table figure fig section version v python step phase stage "
                          "top day week gen llama qwen pcie gpu node rank index id no");
    if (token_memory(p, i) || (label && !token_is(p, i + 1, "x"))) return -1;
    return token_is_count(p, i, 65536) ? i : -1;
}

// "H100 80GB x8", "A100-SXM4 (8x)".
static int count_behind(const struct tokens *p, int at)
{
    int i = at + 1;
    while (i < p->count && i - at <= TOKENS_NEAR && token_is_filler(p, i) && !token_is(p, i, "x"))
        i++;
    if (token_is(p, i, "x") && token_is_count(p, i + 1, 1024) && !token_memory(p, i + 1))
        return i + 1;
    bool ends = i + 2 >= p->count || token_is(p, i + 2, "| , ;");
    return token_is_count(p, i, 1024) && token_is(p, i + 1, "x") && ends ? i : -1;
}

int64_t sentence_gpus(const struct tokens *p, bool *each)
{
    for (int i = 0; i < p->count; i++) {
        if (!token_is_count(p, i, 65536)) continue;
        int k = i + 1, gpus = -1;
        while (k < p->count && k - i <= 4 && token_is_filler(p, k) && !token_is(p, k, "gpu gpus"))
            k++;
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
            *each |= (token_is(p, k, "per") && token_is(p, k + 1, NODE_WORDS)) ||
                     token_is(p, k, "each") ||
                     (token_is(p, k, "gpus") &&
                      token_is(p, k + 1 + token_is(p, k + 1, "/ a"), NODE_WORDS));
        return (int64_t)p->tokens[i].value;
    }
    return 0;
}

int64_t sentence_nodes(const struct tokens *p)
{
    for (int i = 0; i < p->count; i++) {
        if (!token_is_count(p, i, 65536)) continue;
        int k = i + 1, others = 0; // "20 Dell XE9680 servers"
        while (k < p->count && k - i <= 6 && !token_is(p, k, NODE_WORDS) && others < 3 &&
               (token_is_filler(p, k) || p->tokens[k].gpu >= 0 ||
                (others++, (!token_is_number(p, k) || token_is(p, k + 1, "socket")) &&
                               !token_is(p, k, no_adjectives))))
            k++;
        bool own = token_is(p, i + 1, "cpu socket sockets") || // "2 CPU-only", "an 8-GPU node"
                   (token_is(p, i + 1, "gpu") && !token_is(p, k, MANY_NODES)),
             named = !own && token_is(p, k, others ? MANY_NODES : NODE_WORDS) &&
                     !token_is(p, k - 1, "per gpus"),
             dgx = token_is(p, i + 1, "dgx hgx") ||
                   (token_is(p, i + 1, "x") && token_is(p, i + 2, "dgx hgx")) ||
                   (token_is(p, i + 1, "x nvidia") && token_is(p, i + 3, "dgx hgx"));
        k = i - 1;
        while (k >= 0 && token_is(p, k, ": of count number num total")) k--;
        bool listed = token_is(p, k, "nodes servers machines instances") &&
                      !token_is(p, k - 1, "per / gpus") && !token_is(p, i + 1, "x"),
             counted = token_is(p, k, "node") && token_is(p, k + 1, "count") &&
                       !token_is(p, k - 1, "per");
        if (named || dgx || listed || counted) return (int64_t)p->tokens[i].value;
    }
    return 0;
}

int64_t sentences_nodes(const char *text, struct arena *arena)
{
    struct tokens *line = TAKE(arena, 1, struct tokens);
    int64_t nodes = 0;
    line->arena = arena;
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        tokens_cut(line, arena_print(arena, "%.*s", (int)(length < 4096 ? length : 4096), text));
        int64_t said = sentence_nodes(line);
        if (said && nodes && said != nodes) return 0;
        if (said) nodes = said;
    }
    return nodes;
}

int sentence_count(const struct tokens *p, int gpu)
{
    int count = count_before(p, gpu), behind = gpu + 1;
    while (behind < p->count && behind - gpu <= 4 && token_is_filler(p, behind)) behind++;
    bool nodes =
        token_is(p, behind, NODE_WORDS) || token_is(p, count + 1, "dgx hgx") ||
        (token_is(p, count + 1, "x") && token_is(p, count + 2, "dgx hgx")); // "8 A100 nodes"
    if (token_is(p, behind, "hour hours hrs day days month year performance speed")) return -1;
    return count >= 0 && !nodes ? count : count_behind(p, gpu);
}
