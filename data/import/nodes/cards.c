// See cards.h. Each program has a row of `lists`: the words by which its output is known, and what
// one line of it says.
#include "data/import/nodes/cards.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/base/names.h"

enum { PREFIX_MOST = 8, COLUMNS_MOST = 64 }; // words of a launcher before a line; of commas

struct list {
    struct cards *cards;
    struct text_lines *lines;
    struct arena *arena;
    const char *pending;            // name of a card of which more is to come
    int name_column, memory_column; // of a table with commas; -1: not found
    bool memory_follows;            // the next "Total" is memory
    bool inside;                    // of what the last heading begins
    int agent;
    const char *ids[CARDS_MAX]; // cards' addresses or numbers, where they have them
    int id_count, id_column;    // id_column: of a table with commas
    bool headed;                // a table with commas has a header
    bool again;                 // the card that is read has been listed before
};

#define WORD(l, i) ((i) < (l)->lines->word_count ? (l)->lines->words[i] : "")

static bool says(const struct list *l, int i, const char *a, const char *b)
{
    return !strcmp(WORD(l, i), a) && (!b || !strcmp(WORD(l, i + 1), b));
}

// The card of this index; -1: the next one. The first index again: another table begins.
static struct card *card(struct list *l, int64_t index)
{
    struct cards *c = l->cards;
    if (index < 0) index = c->count;
    c->ended |= c->count && index == 0 && c->items[c->count - 1].name && c->count > 1;
    c->too_many |= !c->ended && index >= CARDS_MAX;
    if (c->ended || index >= CARDS_MAX) return NULL;
    if (index >= c->count) c->count = (int)index + 1;
    return &c->items[index];
}

static void name_card(struct list *l, int64_t index, const char *name)
{
    struct card *at = card(l, index);
    if (at && !at->name) at->name = arena_copy_text(l->arena, name);
}

// Whether a card was listed before: a text that is there twice has no more cards.
static bool is_again(struct list *l, const char *id)
{
    for (int i = 0; i < l->id_count; i++)
        if (!strcmp(l->ids[i], id)) return true;
    if (l->id_count < CARDS_MAX) l->ids[l->id_count++] = arena_copy_text(l->arena, id);
    return false;
}

// "32502MiB", "32502" of MiB: in bytes; 0: no number.
static double mebibytes(const char *word)
{
    double value = 0;
    char number[32] = "";
    size_t length = strspn(word, "0123456789.");
    if (!length || length >= sizeof number) return 0;
    memcpy(number, word, length);
    return word_is_number(number, &value) && value < 1e9 ? value * 1048576 : 0;
}

static void put_memory(struct list *l, double bytes)
{
    struct cards *c = l->cards;
    if (c->count && !c->ended && !(c->items[c->count - 1].memory_bytes > 0))
        c->items[c->count - 1].memory_bytes = bytes;
}

// The index of "GPU[0]", by what is before and behind its digits; -1: it is none.
static int64_t index_in(const char *word, const char *before, const char *behind)
{
    size_t from = strlen(before);
    if (strncmp(word, before, from)) return -1;
    size_t length = strspn(word += from, "0123456789");
    return length && length < 8 && !strcmp(word + length, behind) ? strtol(word, NULL, 10) : -1;
}

// The text from a word on, up to one of these signs.
static const char *rest_to(const struct list *l, int from, const char *end)
{
    const char *rest = text_rest(l->lines, from, l->arena), *stop = end ? strstr(rest, end) : NULL;
    return stop ? arena_print(l->arena, "%.*s", (int)(stop - rest), rest) : rest;
}

// Words [from, to) with a blank between.
static const char *join(const struct list *l, int from, int to)
{
    const char *text = "";
    for (int i = from; i < to; i++)
        text = arena_print(l->arena, "%s%s%s", text, *text ? " " : "", WORD(l, i));
    return text;
}

// 00000000:18:00.0
static bool is_bus(const char *word)
{
    size_t domain = strspn(word, "0123456789abcdefABCDEF");
    return (domain == 4 || domain == 8) && strlen(word) == domain + 8 && word[domain] == ':' &&
           word[domain + 3] == ':' && word[domain + 6] == '.';
}

// ---- lines of the programs

// "0 NVIDIA H100 80GB HBM3 On 00000000:18:00.0 Off 0", then "N/A 27C P0 69W / 700W 4MiB /
// 81559MiB".
static void read_smi(struct list *l)
{
    int64_t index;
    int bus = 0, first = 0, words = l->lines->word_count;
    while (bus < words && !is_bus(l->lines->words[bus])) bus++;
    while (first < bus && first <= PREFIX_MOST && !word_is_whole(l->lines->words[first], &index))
        first++;
    if (bus < words && first + 2 < bus && first <= PREFIX_MOST) {
        name_card(l, index, join(l, first + 1, bus - 1));
        return;
    }
    for (int i = 1; i + 1 < words; i++) {
        const char *of = l->lines->words[i + 1];
        if (!strcmp(l->lines->words[i], "/") && strstr(of, "MiB") &&
            strstr(l->lines->words[i - 1], "MiB"))
            put_memory(l, mebibytes(of));
    }
    l->cards->split |= words == 1 && !strncmp(l->lines->words[0], "Enabled", 7);
}

// "Product Name : NVIDIA H100 80GB HBM3", "FB Memory Usage", "Total : 81559 MiB".
static void read_query(struct list *l)
{
    int64_t attached;
    if (says(l, 0, "GPU", NULL) && is_bus(WORD(l, 1))) l->again = is_again(l, WORD(l, 1));
    if (says(l, 0, "Product", "Name") && says(l, 2, ":", NULL) && !l->again)
        name_card(l, -1, rest_to(l, 3, NULL));
    if (says(l, 0, "Attached", "GPUs") && word_is_whole(WORD(l, 3), &attached) &&
        attached <= CARDS_MAX)
        l->cards->attached = (int)attached;
    l->inside = says(l, 0, "MIG", "Mode") || (l->inside && says(l, 0, "Current", ":"));
    l->cards->split |= l->inside && says(l, 0, "Current", ":") && says(l, 2, "Enabled", NULL);
    if (l->memory_follows && says(l, 0, "Total", ":")) put_memory(l, mebibytes(WORD(l, 2)));
    l->memory_follows = says(l, 0, "FB", "Memory") ||
                        (l->memory_follows && !says(l, 0, "Total", ":"));
}

// "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-...)", with or without the UUID; "GPU 0,1,2,3: ...".
static void read_names(struct list *l)
{
    l->cards->split |= says(l, 0, "MIG", NULL) && strstr(WORD(l, 1), "g.") != NULL;
    for (int i = 0; i <= PREFIX_MOST && i + 2 < l->lines->word_count; i++) {
        const char *indices = WORD(l, i + 1), *last = strrchr(indices, ',');
        if (strcmp(WORD(l, i), "GPU") || index_in(last ? last + 1 : indices, "", ":") < 0) continue;
        const char *name = rest_to(l, i + 2, " (UUID");
        for (; indices && !is_bus(name); indices = strchr(indices, ','), indices += indices != NULL)
            name_card(l, strtol(indices, NULL, 10), name);
        return;
    }
}

// 'Device 0: "NVIDIA A100-SXM4-40GB"', "Total amount of global memory: 40370 MBytes".
static void read_device_query(struct list *l)
{
    if (says(l, 0, "Device", NULL) && *WORD(l, 2) == '"') {
        const char *name = rest_to(l, 2, NULL) + 1;
        if (!is_again(l, WORD(l, 1)))
            name_card(l, -1, arena_print(l->arena, "%.*s", (int)strcspn(name, "\""), name));
    }
    if (says(l, 2, "of", "global")) put_memory(l, mebibytes(WORD(l, 5)));
}

// "Agent 2", "Marketing Name: AMD Instinct MI300X", "Device Type: GPU", "Size: 201310208(...) KB".
static void read_agents(struct list *l)
{
    int64_t number;
    if (says(l, 0, "Agent", NULL) && word_is_whole(WORD(l, 1), &number))
        l->cards->ended |= ++l->agent != number, l->inside = false;
    if (says(l, 0, "Marketing", "Name:")) l->pending = rest_to(l, 2, NULL);
    if (says(l, 0, "Device", "Type:") && says(l, 2, "GPU", NULL)) {
        name_card(l, -1, l->pending ? l->pending : "");
        l->inside = true;
    }
    if (l->inside && says(l, 0, "Size:", NULL)) put_memory(l, mebibytes(WORD(l, 1)) / 1024);
}

// "GPU: 0", "MARKET_NAME: AMD Instinct MI300X OAM", "SIZE: 196592 MB" of VRAM.
static void read_amd_smi(struct list *l)
{
    int64_t index;
    if (says(l, 0, "GPU:", NULL) && word_is_whole(WORD(l, 1), &index)) card(l, index);
    if (says(l, 0, "MARKET_NAME:", NULL) && l->cards->count)
        name_card(l, l->cards->count - 1, rest_to(l, 1, NULL));
    if (says(l, 0, "SIZE:", NULL) && says(l, 2, "MB", NULL) && l->memory_follows)
        put_memory(l, mebibytes(WORD(l, 1)));
    l->memory_follows = says(l, 0, "VRAM:", NULL) || (l->memory_follows && WORD(l, 0)[0] != 'G');
    l->cards->split |= says(l, 0, "ACCELERATOR_PARTITION:", NULL) && strlen(WORD(l, 1)) == 3 &&
                       !says(l, 1, "SPX", NULL) && !says(l, 1, "N/A", NULL);
}

// "GPU[0] : Card Series: AMD Instinct MI300X OAM", "GPU[0] : VRAM Total Memory (B): 206141652992".
static void read_rocm(struct list *l)
{
    int64_t index = index_in(WORD(l, 0), "GPU[", "]");
    double bytes;
    for (int i = 0; i < l->lines->word_count; i++) // of the table "NPS1, SPX, 0"
        l->cards->split |=
            has_one_of(WORD(l, i), (const char *const[]){"cpx,", "dpx,", "qpx,", NULL});
    if (index < 0 || index >= CARDS_MAX) return;
    if (says(l, 2, "Card", NULL) && !strncasecmp(WORD(l, 3), "series:", 7))
        name_card(l, index, rest_to(l, 4, NULL));
    if (says(l, 2, "VRAM", "Total") && says(l, 4, "Memory", "(B):")) {
        struct card *at = card(l, index);
        bool whole = word_is_number(WORD(l, 6), &bytes) && bytes > 0;
        if (at) at->memory_bytes = whole ? bytes : -1;
    }
}

// dcgmi discovery -l: "0 Name: NVIDIA A100-SXM4-80GB".
static void read_discovery(struct list *l)
{
    int64_t index;
    if (word_is_whole(WORD(l, 0), &index) && says(l, 1, "Name:", NULL) && index < CARDS_MAX)
        name_card(l, index, rest_to(l, 2, NULL));
}

// lspci -tv, without classes: "-[18]----00.0  NVIDIA Corporation GH100 [H100 SXM5 80GB]".
static void read_tree(struct list *l)
{
    static const char *const others[] = {"audio",  "usb",      "ucsi",     "nvswitch", "bridge",
                                         "switch", "mellanox", "connectx", NULL};
    const char *rest = text_rest(l->lines, 0, l->arena),
               *maker = strstr(rest, "NVIDIA Corporation "), *open = strrchr(rest, '[');
    if (!maker || has_one_in_any_case(maker, others)) return;
    bool named = open > maker;
    const char *name = named ? open + 1 : maker + strlen("NVIDIA Corporation ");
    if (named || strncmp(name, "Device ", 7))
        name_card(l, -1, arena_print(l->arena, "%.*s", (int)strcspn(name, "]"), name));
}

// "18:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 SXM5 80GB] [10de:2330] (rev a1)":
// the last brackets that hold no numbers of the device.
static void read_pci(struct list *l)
{
    const char *rest = text_rest(l->lines, 0, l->arena), *name = "";
    static const char *const classes[] = {"3d controller", "vga compatible controller",
                                          "display controller", "processing accelerators", NULL},
                             *const makers[] = {"nvidia corporation", "advanced micro devices",
                                                NULL};
    if (!has_one_in_any_case(rest, classes) || !has_one_in_any_case(rest, makers)) return;
    for (int i = 0; i <= PREFIX_MOST && i < l->lines->word_count; i++) { // "18:00.0"
        const char *dot = strrchr(WORD(l, i), '.');
        if (!dot || dot - WORD(l, i) < 5 || dot[-3] != ':') continue;
        if (is_again(l, WORD(l, i))) return;
        break;
    }
    int length = 0;
    for (const char *open = rest; (open = strchr(open, '[')); open++) {
        size_t n = strcspn(open + 1, "]"), numbers = strspn(open + 1, "0123456789abcdef:");
        if (numbers != n && strncmp(open, "[AMD", 4)) name = open + 1, length = (int)n;
    }
    const char *plain = strstr(rest, "Corporation ");
    if (!length && plain && strncmp(plain + 12, "Device ", 7)) // which pciutils has no name for
        name = plain + 12, length = (int)strcspn(name, "[(");
    while (length && name[length - 1] == ' ') length--;
    name_card(l, -1, arena_print(l->arena, "%.*s", length, name));
}

// A field of a line with commas, without blanks around it; NULL: there is none.
static const char *field(const struct list *l, const char *line, int column)
{
    if (column >= COLUMNS_MOST) return NULL;
    for (; column > 0 && line; column--) line = strchr(line, ',') ? strchr(line, ',') + 1 : NULL;
    if (!line) return NULL;
    line += strspn(line, " \"");
    size_t length = strcspn(line, ",\"");
    while (length && line[length - 1] == ' ') length--;
    return arena_print(l->arena, "%.*s", (int)length, line);
}

// "index, name, memory.total [MiB]", then rows; without that header, what begins with a maker's
// name.
static void read_commas(struct list *l)
{
    const char *line = text_rest(l->lines, 0, l->arena), *text;
    if (strstr(line, "\":")) return; // JSON
    bool header = strstr(line, ".") && !strstr(line, "MiB,") && l->name_column < 0;
    for (int i = 0; l->name_column < 0 && (text = field(l, line, i)); i++) {
        bool named = !strcmp(text, "name") || !strcmp(text, "gpu_name");
        if (named || !strncmp(text, "NVIDIA ", 7) || !strncmp(text, "Tesla ", 6))
            l->name_column = i, header = named;
        l->headed |= named;
        if (named) break;
    }
    for (int i = 0; header && l->id_column < 0 && (text = field(l, line, i)); i++)
        if (name_is_listed("index uuid gpu_uuid pci.bus_id gpu_bus_id", text, strlen(text)))
            l->id_column = i;
    for (int i = 0; l->name_column >= 0 && l->memory_column < 0 && (text = field(l, line, i)); i++)
        if (!strncmp(text, "memory.total", 12) || (!header && strstr(text, " MiB")))
            l->memory_column = i;
    if (l->name_column < 0 || header) return;
    text = field(l, line, l->name_column);
    if (!text || !*text || !isalpha((unsigned char)*text) || !strcmp(text, "name")) return;
    const char *first = l->cards->count ? l->cards->items[0].name : NULL; // a row may be cut off
    bool other = first && !strchr(line, ',') && strncmp(first, text, strlen(text)) != 0;
    if (!l->headed && (other || (strncmp(text, "NVIDIA ", 7) && strncmp(text, "Tesla ", 6))))
        return;
    const char *id = l->id_column >= 0 ? field(l, line, l->id_column) : NULL;
    if (id && is_again(l, id)) return;
    name_card(l, -1, text);
    text = l->memory_column >= 0 ? field(l, line, l->memory_column) : NULL;
    if (text) put_memory(l, mebibytes(text));
}

// "[0] NVIDIA A100-SXM4-80GB | 35'C, 0 % | 0 / 81920 MB |"
static void read_gpustat(struct list *l)
{
    int64_t index = index_in(WORD(l, 0), "[", "]");
    int end = 1;
    while (end < l->lines->word_count && !strstr(WORD(l, end), "'C")) end++;
    if (index < 0 || end >= l->lines->word_count) return;
    name_card(l, index, join(l, 1, end));
    for (int i = end; i + 1 < l->lines->word_count; i++)
        if (says(l, i, "/", NULL)) put_memory(l, mebibytes(WORD(l, i + 1)));
}

// ---- XML

// The text between <name> and </name>, from `at` on; NULL: nowhere.
static const char *element(const char *at, const char *name, const char **text, struct arena *arena)
{
    const char *open = strstr(at, arena_print(arena, "<%s>", name)), *end;
    if (!open || !(end = strchr(open += strlen(name) + 2, '<'))) return NULL;
    *text = arena_print(arena, "%.*s", (int)(end - open), open);
    return end;
}

static void read_xml(struct list *l, const char *text)
{
    const char *value, *end;
    int64_t attached;
    if (element(text, "attached_gpus", &value, l->arena) && word_is_whole(value, &attached) &&
        attached <= CARDS_MAX)
        l->cards->attached = (int)attached;
    for (const char *at = text;
         !l->cards->too_many && (end = element(at, "product_name", &value, l->arena)); at = end) {
        const char *gpu = strstr(at, "<gpu id="), *next = strstr(end, "<product_name>");
        if (gpu && gpu < end &&
            is_again(l, arena_print(l->arena, "%.*s", (int)strcspn(gpu, ">"), gpu)))
            continue;
        name_card(l, -1, value);
        const char *own = next ? arena_print(l->arena, "%.*s", (int)(next - end), end) : end,
                   *memory = strstr(own, "<fb_memory_usage>");
        if (memory && element(memory, "total", &value, l->arena)) put_memory(l, mebibytes(value));
        l->cards->split |= element(own, "current_mig", &value, l->arena) &&
                           !strcmp(value, "Enabled");
    }
}

// ---- whichever it is

static const struct {
    const char *program, *words[2]; // one of which is in the text
    void (*line)(struct list *l);   // NULL: the text as a whole
} lists[] = {
    {"nvidia-smi -q -x", {"<nvidia_smi_log"}, NULL},
    {"nvidia-smi -q", {"NVSMI LOG"}, read_query},
    {"nvidia-smi", {"NVIDIA-SMI "}, read_smi},
    {"nvidia-smi -L", {"(UUID: GPU-", "GPU models and configuration"}, read_names},
    {"a report of an environment", {"NVIDIA Topology:", NULL}, read_names},
    {"deviceQuery", {"Device 0: \""}, read_device_query},
    {"rocminfo", {"Marketing Name:"}, read_agents},
    {"amd-smi", {"MARKET_NAME:"}, read_amd_smi},
    {"rocm-smi", {"GPU[0]"}, read_rocm},
    {"gpustat", {"'C,"}, read_gpustat},
    {"dcgmi discovery", {"Device Information"}, read_discovery},
    {"nvidia-smi --query-gpu", {", NVIDIA ", " MiB"}, read_commas},
    {"nvidia-smi --query-gpu", {"NVIDIA ", "memory.total"}, read_commas},
    {"lspci -tv", {"-[0000:"}, read_tree},
    {"lspci", {" controller", "Processing accelerators"}, read_pci},
};

// "...", "[...]": rows that are left out.
static bool is_gap(const struct text_lines *t)
{
    return t->word_count == 1 &&
           (!strcmp(t->words[0], "...") || !strcmp(t->words[0], "\xe2\x80\xa6"));
}

static enum status read_lines(struct list *l, const char *path, void (*line)(struct list *l),
                              struct error *err)
{
    struct text_lines *t = l->lines;
    for (bool more;;) {
        TRY(text_next(t, &more, err));
        if (!more) break;
        if (!t->word_count || l->cards->ended) continue;
        if (is_gap(t) && l->cards->count)
            return text_refuse(t, err, "rows are left out at '...': give all of them");
        line(l);
    }
    if (line == read_agents && l->agent && l->cards->ended)
        return refuse(err, "%s: some of rocminfo's agents are missing: give all of its output",
                      path);
    return OK;
}

static enum status check(const struct cards *c, const char *path, struct error *err)
{
    for (int i = 0; i < c->count; i++) {
        bool stated = c->items[0].memory_bytes > 0,
             other = (c->items[i].memory_bytes > 0) != stated;
        if (!c->items[i].name && c->items[i].memory_bytes <= 0 && strcmp(c->program, "amd-smi"))
            return refuse(err, "%s: GPU %d is not in the list: it is cut off", path, i);
        if (other || c->items[i].memory_bytes < 0)
            return refuse(err, "%s: GPU %d has no memory, the first one has: it is cut off", path,
                          i);
    }
    if (c->too_many)
        return refuse(err, "%s: expected at most %d GPUs of one node, found more", path, CARDS_MAX);
    if (c->attached > c->count)
        return refuse(err, "%s: expected %d GPUs, as the file counts them, found %d", path,
                      c->attached, c->count);
    return OK;
}

enum status cards_read(struct cards *c, const char *path, const char *text, size_t size,
                       struct arena *arena, struct error *err)
{
    struct text_lines *lines = TAKE(arena, 1, struct text_lines);
    const char *bare = text_without_bars(text, size, arena);
    c->count = 0;
    for (size_t i = 0; i < ARRAY_LENGTH(lists) && !c->count; i++) {
        struct list l = {.cards = c, .arena = arena, .lines = lines};
        const char *second = lists[i].words[1];
        if (!strstr(bare, lists[i].words[0]) && !(second && strstr(bare, second))) continue;
        memset(c, 0, sizeof *c);
        l.name_column = l.memory_column = l.id_column = -1, l.id_count = 0,
        c->program = lists[i].program;
        text_open(l.lines, path, bare, size, arena);
        if (lists[i].line) TRY(read_lines(&l, path, lists[i].line, err));
        else read_xml(&l, bare);
    }
    if (!c->count) return c->program = NULL, OK;
    return check(c, path, err);
}

// A display's or a switch's device is none that computes.
static bool is_meant(const char *name, const char *gpu)
{
    static const char *const others[] = {"nvswitch", "dgx display", "audio", NULL};
    return !has_one_in_any_case(name, others) &&
           (!gpu || !*name || name_is_gpu(name, strlen(name), gpu));
}

enum status cards_choose(struct cards *c, const char *path, const char *gpu, struct error *err)
{
    int left = 0;
    bool several = false;
    for (int i = 0; i < c->count; i++)
        several |= strcmp(c->items[i].name ? c->items[i].name : "",
                          c->items[0].name ? c->items[0].name : "") != 0;
    for (int i = 0; i < c->count; i++) {
        struct card *at = &c->items[i];
        if (!at->name) at->name = "";
        if (!is_meant(at->name, several ? gpu : NULL)) continue;
        if (left && strcmp(c->items[0].name, at->name))
            return refuse(err,
                          "%s: one node has GPUs of types %.60s and %.60s, which a group cannot "
                          "have: choose one of them with --gpu",
                          path, c->items[0].name, at->name);
        c->items[left++] = *at;
    }
    c->count = left;
    if (!left)
        return refuse(err, "%s: expected GPUs%s%.60s, found none", path, gpu ? " called " : "",
                      gpu ? gpu : "");
    return OK;
}
