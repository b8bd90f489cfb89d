// The current box of the walk, and the waiting halves. A waiting half is not stored: what has been
// removed from the current box since its split is stored instead, and put back for its turn.
// Everything waiting therefore takes no more memory than the problem's choices and the splits in
// the file.
#include "solve/checker/boxes/halves.h"

#include "data/base/grow.h"

#include <stdlib.h>
#include <string.h>

enum status check_open_halves(struct check_halves *h, const struct check_choices *choices,
                              struct arena *arena)
{
    const struct check_problem *p = choices->p;
    size_t total = 0;
    *h = (struct check_halves){.choices = choices, .arena = arena};
    h->box = check_whole_box(choices, arena);
    h->before = check_whole_box(choices, arena);
    for (int s = 0; s < p->stages; s++) total += (size_t)h->box.count[s];
    return check_spend(p, choices->work, total);
}

static enum status spend_box(const struct check_halves *h, uint64_t times)
{
    const struct check_problem *p = h->choices->p;
    uint64_t total = (uint64_t)p->stages + (uint64_t)h->box.span_count;
    for (int s = 0; s < p->stages; s++) total += (uint64_t)h->box.count[s];
    return check_spend(p, h->choices->work, times * total);
}

static void copy_box(struct check_box *to, const struct check_box *from,
                     const struct check_problem *p)
{
    for (int s = 0; s < p->stages; s++) {
        to->count[s] = from->count[s];
        if (from->count[s])
            memcpy(to->left[s], from->left[s], (size_t)from->count[s] * sizeof *from->left[s]);
    }
    memcpy(to->spans, from->spans, (size_t)from->span_count * sizeof *from->spans);
}

enum status check_remember(struct check_halves *h)
{
    TRY(spend_box(h, 2));
    copy_box(&h->before, &h->box, h->choices->p);
    return OK;
}

// ---- removed choices

static void note_change(struct check_halves *h, struct check_change change)
{
    *GROWN(h->arena, h->changes, h->change_count, h->change_room, 64) = change;
}

static void note_count(struct check_halves *h, int stage, int old)
{
    if (h->box.count[stage] != old)
        note_change(h, (struct check_change){.stage = stage, .span_at = -1, .count = old});
}

static void note_span(struct check_halves *h, int at, struct check_span old)
{
    struct check_span now = h->box.spans[at];
    if (old.least != now.least || old.most != now.most)
        note_change(h, (struct check_change){.stage = -1, .span_at = at, .span = old});
}

void check_note(struct check_halves *h)
{
    for (int s = 0; s < h->choices->p->stages; s++) {
        int *left = h->box.left[s], end = h->box.count[s];
        for (int i = 0, k = 0; i < h->before.count[s]; i++) {
            if (k < h->box.count[s] && left[k] == h->before.left[s][i]) k++;
            else left[end++] = h->before.left[s][i];
        }
        note_count(h, s, h->before.count[s]);
    }
    for (int i = 0; i < h->box.span_count; i++) note_span(h, i, h->before.spans[i]);
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void put_back(struct check_halves *h, size_t change_count)
{
    bool changed[MOST_STAGES] = {false};
    while (h->change_count > change_count) {
        const struct check_change *c = &h->changes[--h->change_count];
        if (c->stage < 0) h->box.spans[c->span_at] = c->span;
        else h->box.count[c->stage] = c->count, changed[c->stage] = true;
    }
    for (int s = 0; s < h->choices->p->stages; s++)
        if (changed[s])
            qsort(h->box.left[s], (size_t)h->box.count[s], sizeof *h->box.left[s], ascending);
}

// ---- splits

static bool has_property(const struct check_property *q, const struct check_choice *c)
{
    return q->load_below >= 0 ? c->load < q->load_below
                              : check_decision_is(&q->choice, &c->decision);
}

// Whether the property distinguishes some of the problem's choices from others.
static bool separates(const struct check_halves *h, const struct check_property *q)
{
    if (q->rank >= 0) return q->layers_below >= 1 && q->layers_below <= h->choices->p->layers;
    int with = 0, count = h->choices->count[q->stage];
    for (int i = 0; i < count; i++) with += has_property(q, &h->choices->items[q->stage][i]);
    return with > 0 && with < count;
}

// The box keeps what has the property, or what lacks it.
static void keep_half(struct check_halves *h, const struct check_property *q, bool with)
{
    int kept = 0, gone = 0;
    if (q->rank >= 0) {
        int at = (q->kind + 1) * h->choices->p->ranks + q->rank;
        struct check_span *span = &h->box.spans[at], old = *span;
        if (with && span->most >= q->layers_below) span->most = q->layers_below - 1;
        if (!with && span->least < q->layers_below) span->least = q->layers_below;
        note_span(h, at, old);
        return;
    }
    int *left = h->box.left[q->stage], *aside = h->before.left[q->stage],
        count = h->box.count[q->stage];
    for (int i = 0; i < count; i++) {
        int number = left[i];
        if (has_property(q, &h->choices->items[q->stage][number]) == with) left[kept++] = number;
        else aside[gone++] = number;
    }
    if (gone) memcpy(left + kept, aside, (size_t)gone * sizeof *left);
    h->box.count[q->stage] = kept;
    note_count(h, q->stage, count);
}

enum status check_split(struct check_halves *h, const struct check_property *q, bool *splits)
{
    const struct check_problem *p = h->choices->p;
    if (q->rank < 0)
        TRY(check_spend(p, h->choices->work, (uint64_t)h->choices->count[q->stage] + 1));
    *splits = separates(h, q);
    if (!*splits) return OK;
    GROW(h->arena, h->waiting, h->waiting_count, h->waiting_room, 64);
    h->waiting[h->waiting_count++] = (struct check_waiting){h->change_count, *q};
    keep_half(h, q, true);
    return OK;
}

enum status check_next_half(struct check_halves *h, bool *is)
{
    *is = h->waiting_count > 0;
    if (!*is) return OK;
    const struct check_waiting *w = &h->waiting[--h->waiting_count];
    put_back(h, w->change_count);
    keep_half(h, &w->property, false);
    return spend_box(h, 4);
}
