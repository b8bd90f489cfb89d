// Several runs in one text, one after the other: a heading, printed arguments or a command between
// what was measured of one and of the next. One of them is read, with what stands before all.
#include <stdlib.h>

#include "data/import/logs/internal.h"

static bool is_heading(const char *line)
{
    size_t level = strspn(line, "#");
    return level >= 2 && level <= 6 && line[level] == ' ';
}

static bool is_launch(const char *line)
{
    static const char *const programs[] = {"torchrun ", "deepspeed ", "mpirun ",           "srun ",
                                           "python ",   "python3 ",   "accelerate launch", NULL};
    line += strspn(line, " $`");
    return begins_with_one(line, programs);
}

// Letters and signs of a heading's words: no host, user or path.
static bool is_shown(char c)
{
    return isalnum((unsigned char)c) || (c && strchr(" =.,()+-%_*", c));
}

// Megatron-Bridge's cards: "items:", then "  pretrain:" and in it "    GB200:".
static bool is_item(struct log_reader *r, const char *line)
{
    if (!r->indent && *line) r->item[0] = '\0';
    if (!r->indent && !strcmp(line, "items:")) memcpy(r->item, line, sizeof "items:");
    if (!*r->item || (r->indent != 2 && (r->indent != 4 || !names_gpu(line)))) return false;
    size_t length = strcspn(line, ":");
    if (!length || length >= TOLD_KEY / 2 || line[length] != ':' || line[length + 1]) return false;
    if (r->indent == 2) snprintf(r->item, sizeof r->item, "%s", line);
    return true;
}

static void name_part(struct log_part *to, const struct log *l, const char *line, bool heading)
{
    int length = 0;
    line += heading ? strspn(line, "# ") : 0;
    for (; heading && line[length] && length < TOLD_KEY - 1; length++)
        to->name[length] = is_shown(line[length]) ? line[length] : '?';
    while (length && strchr(" :*`", to->name[length - 1])) length--;
    to->name[length] = '\0';
    if (!heading) snprintf(to->name, sizeof to->name, "line %lld", (long long)l->lines);
    to->line = to->from = (int)l->lines, to->heading = heading;
}

static void begin_item(struct log *l, const char *line)
{
    struct log_parts *p = &l->parts;
    struct log_reader *r = l->reader;
    struct log_part *to = p->count ? &p->at[p->count] : &r->first_part;
    bool next = r->part_measured && p->count + 1 < PARTS_MOST;
    if (next && !p->count++) p->at[0] = r->first_part;
    if (next) to = &p->at[p->count];
    int from = next || !p->items ? 0 : to->line;
    char name[2 * TOLD_KEY];
    snprintf(name, sizeof name, "%.*s%s%.*s", (int)strcspn(r->item, ":"), r->item,
             r->indent == 4 ? " " : "", r->indent == 4 ? (int)strcspn(line, ":") : 0, line);
    name_part(to, l, name, true);
    if (from) to->line = from;
    r->part_measured = false, p->items = p->differ = true;
}

const char *first_precision(const char *text, size_t length)
{
    static const char *const names[] = {"mxfp8", "nvfp4", "bf16", "fp16", "fp8"};
    const char *first = text + length, *found = NULL;
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
        const char *at = find_in_any_case(text, names[i]);
        if (at && at < first) first = at, found = names[i];
    }
    return found;
}

// Of a heading, "Example 1: BF16 Training (Baseline)"; NULL: none.
static const char *precision_of(const struct log_part *part)
{
    return part->heading ? first_precision(part->name, strlen(part->name)) : NULL;
}

void log_heading_tells(struct log *l)
{
    const struct log_part *part = &l->parts.at[l->parts.chosen];
    if (!l->parts.count) return;
    const char *gpu = l->parts.items ? strchr(part->name, ' ') : NULL,
               *precision = precision_of(part);
    if (gpu) log_gpu_of_program(l, gpu + 1);
    if (precision && l->told[TOLD_PRECISION].by == BY_WORDS) l->told[TOLD_PRECISION].by = BY_NONE;
    if (precision)
        tell(l, TOLD_PRECISION, BY_WORDS, "the run's heading", precision, strlen(precision));
}

void log_part_begins(struct log *l, const char *line)
{
    struct log_parts *p = &l->parts;
    struct log_reader *r = l->reader;
    bool heading = is_heading(line), dump = !heading && strstr(line, "--- arguments ---") != NULL;
    if (is_item(r, line)) {
        begin_item(l, line);
        return;
    }
    if (p->items || r->in_dump || (!heading && !dump && !is_launch(line))) return;
    if (r->part_measured && p->count + 1 < PARTS_MOST) { // what was measured is of another one
        if (!p->count++) p->at[0] = r->first_part;
        struct log_part *to = &p->at[p->count];
        name_part(to, l, line, heading);
        const char *own = precision_of(to), *before = precision_of(to - 1);
        p->differ |= own && before && own != before;
        r->part_measured = false, r->part_restarts = heading;
    } else if (!p->count && (heading || !r->first_part.line)) {
        name_part(&r->first_part, l, line, heading);
    }
}

void log_part_tells(struct log *l, enum told what, const struct told_value *was, const char *text)
{
    const struct log_parts *p = &l->parts;
    bool shape = what <= TOLD_MICRO_BATCH || what == TOLD_ZERO || what == TOLD_MODEL ||
                 what == TOLD_PRECISION;
    if (p->count && shape && was->line < p->at[p->count].line && strcmp(was->text, text) != 0)
        l->parts.differ = true;
}

void log_part_measures(struct log *l, const struct log_series *s, int64_t step)
{
    struct log_reader *r = l->reader;
    if (r->part_restarts && s->count && step <= s->points[s->count - 1].step)
        l->parts.differ = true;
    r->part_restarts = false, r->part_measured = true;
}

int log_part_count(const struct log *l)
{
    const struct log_parts *p = &l->parts;
    return p->count && p->differ ? p->count + l->reader->part_measured : 1;
}

int log_part_of(const struct log_parts *p, int count, const char *run)
{
    if (!run) return 0;
    int found = -1, own = 0; // whose name has it as its first or last words
    for (int i = 0; i < count; i++) {
        const char *at = strstr(p->at[i].name, run), *end = at ? at + strlen(run) : NULL;
        if (at && !*end && at == p->at[i].name) return i;
        if (at && ((at == p->at[i].name && *end == ' ') || (!*end && at[-1] == ' ')))
            found = i, own++;
    }
    char *end;
    long number = strtol(run, &end, 10);
    if (!*end && number >= 1 && number <= count) return (int)number - 1;
    return own == 1 ? found : -1;
}
