// A table of Markdown that describes one run: a row of names over one row of values, or rows of a
// name and a value under "| Parameter | Value |". One with several runs says nothing of any of
// them.
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/import/logs/internal.h"

enum { CELLS_MOST = 24 };

// Names of columns, without signs and case.
static const struct {
    const char *name;
    enum told told;
} names[] = {{"gpus", TOLD_NUM_GPUS},
             {"numgpus", TOLD_NUM_GPUS},
             {"totalgpus", TOLD_NUM_GPUS},
             {"worldsize", TOLD_NUM_GPUS},
             {"nodes", TOLD_NODES},
             {"numnodes", TOLD_NODES},
             {"gpuspernode", TOLD_GPUS_PER_NODE},
             {"layers", TOLD_LAYERS},
             {"numlayers", TOLD_LAYERS},
             {"hiddensize", TOLD_HIDDEN},
             {"seqlen", TOLD_SEQ},
             {"seqlength", TOLD_SEQ},
             {"sequencelength", TOLD_SEQ},
             {"tp", TOLD_TP},
             {"tensorparallel", TOLD_TP},
             {"tensorparallelsize", TOLD_TP},
             {"pp", TOLD_PP},
             {"pipelineparallel", TOLD_PP},
             {"pipelineparallelsize", TOLD_PP},
             {"cp", TOLD_CP},
             {"contextparallelsize", TOLD_CP},
             {"ep", TOLD_EP},
             {"expertparallelsize", TOLD_EP},
             {"dp", TOLD_DP},
             {"dataparallelsize", TOLD_DP},
             {"vp", TOLD_VPP},
             {"vpp", TOLD_VPP},
             {"mbs", TOLD_MICRO_BATCH},
             {"microbatchsize", TOLD_MICRO_BATCH},
             {"gbs", TOLD_GLOBAL_BATCH},
             {"globalbatchsize", TOLD_GLOBAL_BATCH},
             {"ga", TOLD_ACCUMULATION}};

struct cell_text {
    const char *text;
    int length;
};

// The cells between the bars of a row. Returns their number; 0: it is none.
static int cells_of(const char *line, struct cell_text cells[CELLS_MOST])
{
    const char *s = line + strspn(line, " >");
    int count = 0;
    if (*s != '|') return 0;
    for (s++; *s && count < CELLS_MOST; count++) {
        const char *end = s + strcspn(s, "|"), *to = end;
        if (!*end) break;
        s += strspn(s, " *`");
        while (to > s && strchr(" *`", to[-1])) to--;
        cells[count] = (struct cell_text){s < end ? s : end, s < to ? (int)(to - s) : 0};
        s = end + 1;
    }
    return count;
}

static void tell_cell(struct log *l, struct cell_text name, struct cell_text value)
{
    char bare[TOLD_KEY];
    size_t length = 0;
    double number;
    const char *after;
    for (int i = 0; i < name.length && length + 1 < sizeof bare; i++)
        if (isalnum((unsigned char)name.text[i]))
            bare[length++] = (char)tolower((unsigned char)name.text[i]);
    bare[length] = '\0';
    if (!value.length || !isdigit((unsigned char)*value.text) ||
        !number_at(value.text, &number, &after) || after != value.text + value.length ||
        number < 1 || number > 1e9)
        return;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        if (!strcmp(names[i].name, bare))
            tell_count(l, names[i].told, BY_WORDS, "a table", (int64_t)number);
}

// A table that ended: of one row of values.
static void finish(struct log *l)
{
    struct log_table *t = &l->reader->table;
    struct cell_text head[CELLS_MOST], row[CELLS_MOST];
    if (t->rows == 1 && !t->pairs) {
        int heads = cells_of(t->head, head), cells = cells_of(t->row, row);
        for (int i = 0; i < heads && i < cells; i++) tell_cell(l, head[i], row[i]);
    }
    t->lines = t->rows = 0, t->pairs = false;
}

void log_table(struct log *l, const char *line)
{
    struct log_table *t = &l->reader->table;
    struct cell_text cells[CELLS_MOST];
    int count = cells_of(line, cells);
    if (!count) {
        if (t->lines) finish(l);
        return;
    }
    t->lines++;
    if (t->lines == 1) {
        snprintf(t->head, sizeof t->head, "%.*s", (int)sizeof t->head - 1, line);
        t->pairs = count == 2 && cells[1].length == 5 && !strncasecmp(cells[1].text, "value", 5);
    } else if (t->lines > 2) { // behind the rule
        t->rows++;
        snprintf(t->row, sizeof t->row, "%.*s", (int)sizeof t->row - 1, line);
        if (t->pairs && count == 2) tell_cell(l, cells[0], cells[1]);
    }
}
