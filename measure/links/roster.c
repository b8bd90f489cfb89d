// Every rank sends the others its host and its clock, so that all of them have the same
// information.
#include "measure/links/assembly.h"

#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "measure/sampling/host.h"

enum { NAME_BYTES = 128 };

const char *const wait_names[] = {"auto", "busy", "asleep", NULL};

struct identity {
    char host[NAME_BYTES], clock[NAME_BYTES];
    int64_t processors;
    double load;
};

static void copy(char to[NAME_BYTES], const char *text) { strncpy(to, text, NAME_BYTES - 1); }

static void describe_self(struct identity *self, struct arena *arena)
{
    struct utsname system;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    *self = (struct identity){.processors = processors > 0 ? processors : 1, .load = host_load()};
    copy(self->host, uname(&system) < 0 || !*system.nodename ? "unknown" : system.nodename);
    copy(self->clock, host_clock(arena));
}

// Numbers from 0 in the order of first appearance; -1 for an unknown clock.
static void number_clocks(struct endpoint *endpoints, const struct identity *all, int count)
{
    int next = 0;
    for (int i = 0; i < count; i++) {
        endpoints[i].clock = -1;
        if (!*all[i].clock) continue;
        int same = 0;
        while (strcmp(all[same].clock, all[i].clock)) same++;
        endpoints[i].clock = same < i ? endpoints[same].clock : next++;
    }
}

void roster_gather(struct roster *roster, struct ranks *ranks, enum wait wait, struct arena *arena)
{
    int count = ranks_count(ranks);
    struct identity *all = TAKE(arena, count, struct identity), self;
    describe_self(&self, arena);
    ranks_tell_all(ranks, &self, (int)sizeof self, all);
    *roster = (struct roster){.endpoints = TAKE(arena, count, struct endpoint),
                              .count = count,
                              .process_bytes = pages_resident_bytes()};
    number_clocks(roster->endpoints, all, count);
    for (int i = 0; i < count; i++) {
        int on_host = 0, before = 0, on_machine = 0;
        for (int j = 0; j < count; j++) {
            bool same_host = !strcmp(all[i].host, all[j].host);
            on_host += same_host;
            before += same_host && j < i;
            on_machine += *all[i].clock ? !strcmp(all[i].clock, all[j].clock) : same_host;
        }
        struct endpoint *e = &roster->endpoints[i];
        e->host = arena_copy_text(arena, all[i].host);
        e->name = on_host > 1 ? arena_print(arena, "%s:%d", e->host, before) : e->host;
        e->device = -1;
        roster->is_busy = roster->is_busy || all[i].load > busy_load;
        roster->is_crowded = roster->is_crowded || on_machine > all[i].processors;
    }
    ranks_set_patience(ranks, wait == WAIT_ASLEEP || (wait == WAIT_AUTO && roster->is_crowded));
}

bool roster_same_clock(const struct roster *roster, int a, int b)
{
    return roster->endpoints[a].clock >= 0 &&
           roster->endpoints[a].clock == roster->endpoints[b].clock;
}

void roster_describe(struct samples *samples, const struct roster *roster, const char *name,
                     struct arena *arena)
{
    host_describe(&samples->machine, arena);
    if (roster->gpu) samples->machine.gpu = roster->gpu;
    if (name) samples->machine.gpu = name;
    samples->machine.library = roster->library ? roster->library : ranks_library(arena);
    samples->endpoints = roster->endpoints;
    samples->endpoint_count = roster->count;
    if (roster->gpu || !roster->process_bytes) return;
    double *bytes = TAKE(arena, 1, double);
    *bytes = (double)roster->process_bytes;
    samples->quantities = TAKE(arena, 1, struct quantity);
    samples->quantities[samples->quantity_count++] = (struct quantity){"process_bytes", bytes, 1};
}
