// See tables.h. A launcher's words may stand before lines, and other output around the tables.
#include "data/import/foreign.h"
#include "data/import/nodes/tables.h"

#include <string.h>
#include <strings.h>

#include "data/base/names.h"
#include "data/import/nodes/cards.h"
#include "data/import/nodes/lstopo.h"

enum { PREFIX_MOST = 8 };

static const char *const path_names[] = {"X",   "PIX",  "PXB",  "PHB", "NODE",
                                         "SYS", "PCIE", "HOPS", "OK",  "no"};
static const char barred[] = "CNS GNS TNS NS DR U"; // of -p2p's legend

const char *path_text(const struct topology *t, int path, char text[PATH_TEXT])
{
    if (path < PATH_LINKS) return path_names[path];
    snprintf(text, PATH_TEXT, "%s%d", t->form == FORM_AMD ? "XGMI" : "NV", path - PATH_LINKS);
    return text;
}

static bool read_path(const char *word, int *path)
{
    int64_t links;
    for (*path = 0; *path <= PATH_SYS; ++*path)
        if (!strcmp(word, path_names[*path])) return true;
    *path = PATH_SYS;
    if (!strcmp(word, "SOC")) return true; // before 2018
    *path = PATH_REACHED;
    if (!strcmp(word, "OK")) return true;
    *path = PATH_BARRED;
    if (name_is_listed(barred, word, strlen(word))) return true;
    if (strncmp(word, "NV", 2) || !word_is_whole(word + 2, &links) || links < 1 ||
        links > LINKS_MAX)
        return false;
    *path = PATH_LINKS + (int)links;
    return true;
}

static bool names_gpu(const char *word)
{
    int64_t number;
    return !strncmp(word, "GPU", 3) && word_is_whole(word + 3, &number);
}

// 0000:0c:00.0
static bool names_bus(const char *word)
{
    return strlen(word) == 12 && word[4] == ':' && word[7] == ':' && word[10] == '.';
}

// ---- columns and rows

// The names from a word on, up to "CPU Affinity"; that and what follows it are not needed here.
static enum status take_names(struct topology *t, const struct text_lines *lines, int at,
                              struct error *err)
{
    for (; at < lines->word_count; at++) {
        const char *name = lines->words[at];
        if (!strcmp(name, "CPU") || !strcmp(name, "NUMA")) break;
        for (int k = 0; k < t->count; k++)
            if (!strcmp(t->names[k], name))
                return text_refuse(lines, err,
                                   "%.40s appears twice: tables side by side are to be given one "
                                   "below the other",
                                   name);
        if (t->count == ENTITIES_MAX)
            return text_refuse(lines, err, "expected at most %d GPUs and NICs, found more",
                               ENTITIES_MAX);
        if (!t->names) {
            t->names = TAKE(t->arena, ENTITIES_MAX, const char *);
            t->is_gpu = TAKE(t->arena, ENTITIES_MAX, bool);
        }
        t->names[t->count] = arena_copy_text(t->arena, name);
        t->is_gpu[t->count] = names_gpu(name) || names_bus(name);
        t->gpu_count += t->is_gpu[t->count++];
    }
    return OK;
}

static void take_tables(struct topology *t)
{
    t->paths = TAKE(t->arena, t->count * t->count, int);
    t->rates = TAKE(t->arena, t->count * t->count, double);
}

// Where the row of this name begins; -1: it is not here.
static int find_row(const struct text_lines *lines, const char *name)
{
    for (int i = 0; i < lines->word_count && i <= PREFIX_MOST; i++)
        if (!strcmp(lines->words[i], name)) return i;
    return -1;
}

// Whether the rows of all GPUs are read: those of NICs say nothing more.
static bool has_gpus(const struct topology *t)
{
    int row = t->row_count;
    while (row < t->count && !t->is_gpu[row]) row++;
    return t->row_count && row == t->count;
}

static enum status read_cell(struct topology *t, const struct text_lines *lines, int row,
                             const char *word, struct error *err)
{
    int i = t->cells, *path = &t->paths[row * t->count + i];
    char other[PATH_TEXT], this[PATH_TEXT];
    if (!read_path(word, path) || (*path == PATH_SELF) != (i == row))
        return text_refuse(lines, err, "%.40s, %.40s: expected %s, found '%.40s'", t->names[row],
                           t->names[i], i == row ? "X" : "NV1 to NV64, PIX, PXB, PHB, NODE or SYS",
                           word);
    if (*path == PATH_REACHED || *path == PATH_BARRED) t->form = FORM_PEERS;
    if (i < row && path_at(t, i, row) && *path != path_at(t, i, row))
        return text_refuse(lines, err, "%.40s, %.40s: expected %s as the other way round, found %s",
                           t->names[row], t->names[i], path_text(t, path_at(t, i, row), other),
                           path_text(t, *path, this));
    t->cells++;
    return OK;
}

// The cells of a row from a word on: a terminal or a post may have wrapped it, or cut off those of
// NICs.
static enum status read_cells(struct topology *t, const struct text_lines *lines, int at,
                              struct error *err)
{
    int row = t->row_count - 1, path;
    for (; at < lines->word_count && t->cells < t->count; at++) {
        if (!t->is_gpu[t->cells] && !read_path(lines->words[at], &path)) break;
        TRY(read_cell(t, lines, row, lines->words[at], err));
    }
    return OK;
}

// Whether a line holds the rest of the last row.
static bool reads_on(const struct topology *t, const struct text_lines *lines)
{
    int path;
    return t->cells < t->count && read_path(lines->words[0], &path);
}

static enum status read_row(struct topology *t, const struct text_lines *lines, struct error *err)
{
    int at = t->row_count < t->count ? find_row(lines, t->names[t->row_count]) : -1;
    if (!t->row_count && at < 0 &&
        (!strncmp(lines->words[0], "NIC", 3) || !strncmp(lines->words[0], "mlx", 3)))
        return take_names(t, lines, 0, err); // a wrapped header
    if (!t->row_count && at < 0 &&
        (!strcmp(lines->words[0], "CPU") || !strcmp(lines->words[0], "NUMA")))
        return OK;
    if (at < 0 && t->row_count && reads_on(t, lines)) return read_cells(t, lines, 0, err);
    t->cut |= t->row_count && t->cells < t->count;
    bool gap = !strcmp(lines->words[lines->word_count - 1], "...");
    if (at < 0)
        return text_refuse(lines, err, "expected the row of %.40s, found '%.40s'%s",
                           t->names[t->row_count], gap ? "..." : lines->words[0],
                           gap ? ": rows are left out" : "");
    if (!t->row_count) take_tables(t);
    t->row_count++, t->cells = 0;
    return read_cells(t, lines, at + 1, err);
}

// Of a table whose rows are cut off: what the other way round says, and no NICs.
static enum status drop_nics(struct topology *t, struct error *err)
{
    int count = 0, *paths = TAKE(t->arena, t->gpu_count * t->gpu_count, int);
    for (int i = 0; i < t->count * t->count; i++) {
        int row = i / t->count, column = i % t->count;
        if (!t->is_gpu[row] || !t->is_gpu[column]) continue;
        int path = t->paths[i] ? t->paths[i] : path_at(t, column, row);
        if (!path && row != column)
            return refuse(err, "%s: %.40s, %.40s: both cells are cut off", t->path, t->names[row],
                          t->names[column]);
        paths[count++] = path;
    }
    t->paths = paths, count = 0;
    for (int i = 0; i < t->count; i++)
        if (t->is_gpu[i]) t->names[count++] = t->names[i];
    t->count = t->row_count = t->gpu_count;
    for (int i = 0; i < t->count; i++) t->is_gpu[i] = true;
    return OK;
}

// GPU0 GPU1 ... or GPU0 CPU Affinity; -1: no header of a matrix.
static int find_header(const struct text_lines *lines)
{
    int path;
    for (int i = 0; i < lines->word_count && i <= PREFIX_MOST; i++) {
        if (!names_gpu(lines->words[i])) continue;
        for (int k = i; k < lines->word_count; k++)
            if (lines->words[k][0] & 0x80) return -1; // a drawing's lines
        return i + 1 == lines->word_count || !read_path(lines->words[i + 1], &path) ? i : -1;
    }
    return -1;
}

// ---- nvidia-smi nvlink -s

// "GPU 0: NVIDIA A100-SXM4-40GB (UUID: ...)", then "Link 0: 25 GB/s" or "Link 1: <inactive>".
static enum status read_links(struct topology *t, const struct text_lines *lines, struct error *err)
{
    double rate;
    for (int i = 0; i + 2 < lines->word_count && i <= PREFIX_MOST; i++) {
        bool gpu = !strcmp(lines->words[i], "GPU"), link = !strcmp(lines->words[i], "Link");
        if ((!gpu && !link) || lines->words[i + 1][strlen(lines->words[i + 1]) - 1] != ':')
            continue;
        if (gpu) {
            const char *name = text_rest(lines, i + 2, t->arena), *end = strstr(name, " (UUID");
            if (!end) continue;
            if (t->gpu_count == ENTITIES_MAX)
                return text_refuse(lines, err, "expected at most %d GPUs, found more",
                                   ENTITIES_MAX);
            if (!t->links) {
                t->links = TAKE(t->arena, ENTITIES_MAX, int);
                t->all = TAKE(t->arena, ENTITIES_MAX, double);
                t->gpu_name = arena_print(t->arena, "%.*s", (int)(end - name), name);
            }
            t->gpu_count++;
        } else if (t->gpu_count) {
            t->links_listed = true; // active or not
        }
        if (link && t->gpu_count && i + 3 < lines->word_count &&
            word_is_number(lines->words[i + 2], &rate) && !strcmp(lines->words[i + 3], "GB/s") &&
            rate > 0 && rate < 1e4) {
            t->links[t->gpu_count - 1]++;
            t->all[t->gpu_count - 1] += rate * 1e9;
        }
        return OK;
    }
    return OK;
}

// ---- AMD's tables

enum section {
    SECTION_NONE,
    SECTION_TYPE,
    SECTION_HOPS,
    SECTION_RATE,
    SECTION_WEIGHT,
    SECTION_OTHER
};

struct amd {
    struct topology *t;
    enum section section;
    int row;            // of the section; -1: before its header
    bool typed, hopped; // sections read
    int *hops;
    bool *linked, *pcie;
};

static bool follows(const struct text_lines *lines, int i, const char *a, const char *b)
{
    return i < lines->word_count && !strcasecmp(lines->words[i], a) &&
           (!b || (i + 1 < lines->word_count && !strcasecmp(lines->words[i + 1], b)));
}

static enum section section_of(const struct text_lines *lines)
{
    for (int i = 0; i < lines->word_count; i++) {
        bool between = follows(lines, i + 1, "between", NULL) ||
                       follows(lines, i + 1, "TABLE:", NULL);
        if (follows(lines, i, "Link", "Type") &&
            (follows(lines, i + 2, "between", NULL) || follows(lines, i + 2, "TABLE:", NULL)))
            return SECTION_TYPE;
        if (follows(lines, i, "Hops", NULL) && between) return SECTION_HOPS;
        if (follows(lines, i, "Weight", NULL) && between) return SECTION_WEIGHT;
        if ((follows(lines, i, "bandwidth", NULL) || follows(lines, i, "BW", NULL)) && between)
            return SECTION_RATE;
        if (between && (follows(lines, i, "Access", NULL) || lines->words[i][0]))
            return SECTION_OTHER;
    }
    return SECTION_NONE;
}

static bool is_device(const char *word) { return names_gpu(word) || names_bus(word); }

// XGMI, PCIE; a number of hops; least and most MB/s as 50000-200000.
static void take_cell(struct amd *a, int at, const char *word)
{
    int64_t number;
    double most;
    const char *dash = strchr(word, '-');
    if (a->section == SECTION_TYPE)
        a->linked[at] = !strcmp(word, "XGMI"), a->pcie[at] = !strcmp(word, "PCIE");
    if (a->section == SECTION_HOPS && word_is_whole(word, &number) && number < 100)
        a->hops[at] = (int)number;
    if (a->section == SECTION_RATE && dash && word_is_number(dash + 1, &most) && most < 1e7)
        a->t->rates[at] = most * 1e6;
}

static enum status read_amd(struct amd *a, const struct text_lines *lines, struct error *err)
{
    struct topology *t = a->t;
    enum section section = section_of(lines);
    if (section != SECTION_NONE) {
        a->section = section, a->row = -1;
        return OK;
    }
    if (a->section == SECTION_NONE || !lines->word_count) return OK;
    int at = 0;
    while (at < lines->word_count && at <= PREFIX_MOST && !is_device(lines->words[at])) at++;
    if (at == lines->word_count || !is_device(lines->words[at])) return OK;
    if (a->row < 0) {
        if (at + 1 < lines->word_count && !is_device(lines->words[at + 1])) return OK;
        if (!a->linked) {
            t->count = t->gpu_count = t->row_count = 0; // what looked like a header before
            TRY(take_names(t, lines, at, err));
            take_tables(t);
            a->hops = TAKE(t->arena, t->count * t->count, int);
            a->linked = TAKE(t->arena, t->count * t->count, bool);
            a->pcie = TAKE(t->arena, t->count * t->count, bool);
        }
        a->row = 0;
        return OK;
    }
    if (a->row == t->count || lines->word_count - at < 1 + t->count) return OK;
    if (strcmp(lines->words[at], t->names[a->row]))
        return text_refuse(lines, err, "expected the row of %.40s, found '%.40s'", t->names[a->row],
                           lines->words[at]);
    for (int i = 0; i < t->count; i++)
        take_cell(a, a->row * t->count + i, lines->words[at + 1 + i]);
    if (++a->row == t->count)
        a->typed |= a->section == SECTION_TYPE, a->hopped |= a->section == SECTION_HOPS;
    return OK;
}

static enum status end_amd(struct amd *a, struct error *err)
{
    struct topology *t = a->t;
    t->form = FORM_AMD, t->row_count = t->count;
    if (!a->typed)
        return refuse(
            err,
            "%s: expected a complete table of link types (rocm-smi --showtopo, or amd-smi "
            "topology), found none: weights and hops do not say what joins two GPUs",
            t->path);
    for (int i = 0; i < t->count * t->count; i++) {
        int row = i / t->count, column = i % t->count;
        if (row == column) continue;
        if (!a->linked[i] && !a->pcie[i])
            return refuse(err,
                          "%s: %.40s, %.40s: expected XGMI or PCIE, found another type of link",
                          t->path, t->names[row], t->names[column]);
        t->paths[i] = a->pcie[i]                    ? PATH_PCIE
                      : a->hopped && a->hops[i] > 1 ? PATH_HOPS
                                                    : PATH_LINKS + 1;
    }
    return OK;
}

// ---- whichever it is

// Markdown's line below a table's header, ":---: ---".
static bool is_rule(const struct text_lines *lines)
{
    int i = 0;
    while (i < lines->word_count && strspn(lines->words[i], ":-") == strlen(lines->words[i])) i++;
    return i == lines->word_count;
}

static enum status read_matrix(struct topology *t, struct text_lines *lines, struct error *err)
{
    struct amd a = {.t = t, .row = -1};
    bool more;
    for (;;) {
        TRY(text_next(lines, &more, err));
        if (!more || (has_gpus(t) && t->cells == t->count)) break;
        if (!lines->word_count || is_rule(lines)) continue;
        if (has_gpus(t) && !reads_on(t, lines)) break;
        enum section section = section_of(lines);
        if (a.section != SECTION_NONE || section != SECTION_NONE) {
            TRY(read_amd(&a, lines, err));
            continue;
        }
        int header = t->count ? -1 : find_header(lines);
        if (t->count) TRY(read_row(t, lines, err));
        else if (header >= 0) TRY(take_names(t, lines, header, err));
        else TRY(read_links(t, lines, err));
    }
    if (a.linked) return end_amd(&a, err);
    t->cut |= t->cells < t->count;
    return t->cut && has_gpus(t) ? drop_nics(t, err) : OK;
}

// A list of GPUs: beside a table, of their name and memory; alone, without what joins them.
static enum status read_cards(struct topology *t, const char *text, size_t size, struct error *err)
{
    struct cards *cards = TAKE(t->arena, 1, struct cards);
    struct error ignored = {OK, ""};
    bool alone = !t->count;
    enum status status = cards_read(cards, t->path, text, size, t->arena, alone ? err : &ignored);
    if (status == OK && cards->count)
        status = cards_choose(cards, t->path, t->meant, alone ? err : &ignored);
    if (status != OK) return alone ? status : OK;
    if (!cards->count || (!alone && cards->count != t->gpu_count)) return OK;
    t->gpu_name = *cards->items[0].name ? cards->items[0].name : NULL;
    t->memory_bytes = cards->items[0].memory_bytes;
    if (!alone) return OK;
    if (cards->split)
        return refuse(err,
                      "%s: GPUs are in parts (MIG, or partitions of AMD's), which a plan does not "
                      "know: give the list of whole ones",
                      t->path);
    t->form = FORM_CARDS, t->program = cards->program, t->links_unsaid = true;
    t->count = t->gpu_count = t->row_count = cards->count;
    t->names = TAKE(t->arena, t->count, const char *);
    t->is_gpu = TAKE(t->arena, t->count, bool);
    for (int i = 0; i < t->count; i++)
        t->names[i] = arena_print(t->arena, "GPU%d", i), t->is_gpu[i] = true;
    take_tables(t);
    return OK;
}

enum status topology_read(struct topology *t, const char *text, size_t size, struct error *err)
{
    struct text_lines *lines = TAKE(t->arena, 1, struct text_lines);
    if (lstopo_is(text, size)) return lstopo_read(t, text, size, err);
    char *bare = text_without_bars(text, size, t->arena);
    for (char *bold = bare; (bold = strstr(bold, "**"));) memset(bold, ' ', 2);
    text_open(lines, t->path, bare, size, t->arena);
    TRY(read_matrix(t, lines, err));
    if (t->links && !t->count && t->links_listed) return t->form = FORM_LINKS, OK;
    if (t->count && !has_gpus(t))
        return refuse(err, "%s: expected a row of each of %d GPUs and NICs, found %d rows", t->path,
                      t->count, t->row_count);
    TRY(read_cards(t, text, size, err));
    if (!t->count) {
        TRY(foreign_refuse(t->path, text, "topo", err));
        return refuse(err,
                      "%s: expected what nvidia-smi topo -m (or nvlink -s, -L, -q), rocm-smi, "
                      "amd-smi, rocminfo, lspci or lstopo prints, found no GPU of theirs",
                      t->path);
    }
    return OK;
}
