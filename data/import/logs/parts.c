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

static void name_part(struct log_part *to, const struct log *l, const char *line, bool heading)
{
    int length = 0;
    line += heading ? strspn(line, "# ") : 0;
    for (; heading && line[length] && length < TOLD_KEY - 1; length++)
        to->name[length] = is_shown(line[length]) ? line[length] : '?';
    while (length && strchr(" :*`", to->name[length - 1])) length--;
    to->name[length] = '\0';
    if (!heading) snprintf(to->name, sizeof to->name, "line %lld", (long long)l->lines);
    to->line = (int)l->lines, to->heading = heading;
}

void log_part_begins(struct log *l, const char *line)
{
    struct log_parts *p = &l->parts;
    struct log_reader *r = l->reader;
    bool heading = is_heading(line), dump = !heading && strstr(line, "--- arguments ---") != NULL;
    if (r->in_dump || (!heading && !dump && !is_launch(line))) return;
    if (r->part_measured && p->count + 1 < PARTS_MOST) { // what was measured is of another one
        if (!p->count++) p->at[0] = r->first_part;
        name_part(&p->at[p->count], l, line, heading);
        r->part_measured = false, r->part_restarts = heading;
    } else if (!p->count && (heading || !r->first_part.line)) {
        name_part(&r->first_part, l, line, heading);
    }
}

void log_part_tells(struct log *l, enum told what, const struct told_value *was, const char *text)
{
    const struct log_parts *p = &l->parts;
    bool shape = what <= TOLD_MICRO_BATCH || what == TOLD_ZERO || what == TOLD_MODEL;
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
    for (int i = 0; i < count; i++)
        if (!strcmp(p->at[i].name, run)) return i;
    char *end;
    long number = strtol(run, &end, 10);
    return *end || number < 1 || number > count ? -1 : (int)number - 1;
}
