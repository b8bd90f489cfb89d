// mpiGraph's own output: a Send and a Recv table, a row "HOST:RANK to" (from) with a bandwidth for
// each column of "Send HOST:RANK ..."; there are progress and averages around them.
#include <math.h>
#include <string.h>

#include "data/import/matrix.h"
#include "data/import/text.h"
#include "data/places/places.h"

struct table {
    const char *title;
    struct matrix_text *m;
    int row; // the next one; -1: the header has not been seen
    struct arena *arena;
};

// "n01:3": the host; there is one task on each.
static enum status take_names(struct table *t, const struct text_lines *l, struct error *err)
{
    struct matrix_text *m = t->m;
    m->count = l->word_count - 1;
    if (m->count < 2 || m->count > PLACES_MAX)
        return text_refuse(l, err, "expected 2 to %d columns HOST:RANK, found %d", PLACES_MAX,
                           m->count);
    m->names = TAKE(t->arena, m->count, const char *);
    m->values = TAKE(t->arena, (size_t)m->count * (size_t)m->count, double);
    for (int i = 0; i < m->count; i++) {
        const char *word = l->words[1 + i], *colon = strrchr(word, ':');
        m->names[i] = arena_print(t->arena, "%.*s",
                                  (int)(colon ? (size_t)(colon - word) : strlen(word)), word);
        for (int k = 0; k < i; k++)
            if (!strcmp(m->names[i], m->names[k]))
                return text_refuse(l, err,
                                   "%.60s appears twice: expected one mpiGraph task per node",
                                   m->names[i]);
    }
    t->row = 0;
    return OK;
}

static enum status take_row(struct table *t, const struct text_lines *l, struct error *err)
{
    struct matrix_text *m = t->m;
    if (l->word_count != m->count + 2)
        return text_refuse(l, err, "expected a row of %d bandwidths, found %d words", m->count,
                           l->word_count);
    for (int i = 0; i < m->count; i++) {
        double *to = &m->values[(size_t)t->row * (size_t)m->count + (size_t)i];
        if (!word_is_number(l->words[2 + i], to) || *to < 0)
            return text_refuse(l, err, "column %d: expected a bandwidth, found '%.40s'", i + 1,
                               l->words[2 + i]);
        if (!(*to > 0)) *to = NAN; // like the diagonal
    }
    t->row++;
    return OK;
}

enum status matrix_read_text(struct matrix_text *m, const char *path, const char *text, size_t size,
                             bool send, struct arena *arena, struct error *err)
{
    struct text_lines *l = TAKE(arena, 1, struct text_lines);
    struct table t = {send ? "Send" : "Recv", m, -1, arena};
    bool more;
    text_open(l, path, text, size, arena);
    do {
        TRY(text_next(l, &more, err));
        if (!more) break;
        bool header = t.row < 0 && l->word_count > 1 && !strcmp(l->words[0], t.title) &&
                      strchr(l->words[1], ':');
        if (header) TRY(take_names(&t, l, err));
        else if (t.row >= 0 && l->word_count) TRY(take_row(&t, l, err));
    } while (t.row < 0 || t.row < m->count);
    if (t.row < 0)
        return refuse(err,
                      "%s: expected a matrix as JSON, or what mpiGraph prints with its %s table; "
                      "found neither",
                      path, t.title);
    return t.row == m->count ? OK
                             : refuse(err, "%s: %s: expected %d rows, found %d: cut short", path,
                                      t.title, m->count, t.row);
}
