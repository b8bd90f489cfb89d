// One message, timed at the end that can.
#include "measure/links/wire.h"

#include "measure/links/devices.h"
#include "measure/sampling/backend.h"

enum { EMPTY_EXCHANGES = 3 };

static double send_by_clock(struct wire *w, int bytes, int to)
{
    ranks_receive(w->ranks, NULL, 0, to);
    double begin_s = clock_s();
    ranks_send(w->ranks, w->out, bytes, to);
    ranks_send(w->ranks, &begin_s, (int)sizeof begin_s, to);
    return -1;
}

static double receive_by_clock(struct wire *w, int bytes, int from)
{
    double begin_s;
    ranks_receive_begin(w->ranks, w->in, bytes, from);
    ranks_send(w->ranks, NULL, 0, from);
    ranks_receive_end(w->ranks);
    double end_s = clock_s();
    ranks_receive(w->ranks, &begin_s, (int)sizeof begin_s, from);
    return end_s - begin_s;
}

static double send_by_answer(struct wire *w, int bytes, int to)
{
    double fastest_s = 1e9;
    for (int i = 0; i < EMPTY_EXCHANGES; i++) {
        double begin_s = clock_s();
        ranks_send(w->ranks, NULL, 0, to);
        ranks_receive(w->ranks, NULL, 0, to);
        double elapsed_s = clock_s() - begin_s;
        fastest_s = elapsed_s < fastest_s ? elapsed_s : fastest_s;
    }
    double begin_s = clock_s();
    ranks_send(w->ranks, w->out, bytes, to);
    ranks_receive(w->ranks, NULL, 0, to);
    double seconds = clock_s() - begin_s - fastest_s / 2;
    return seconds > 0 ? seconds : 0;
}

static double receive_by_answer(struct wire *w, int bytes, int from)
{
    for (int i = 0; i < EMPTY_EXCHANGES; i++) {
        ranks_receive(w->ranks, NULL, 0, from);
        if (i == EMPTY_EXCHANGES - 1) ranks_receive_begin(w->ranks, w->in, bytes, from);
        ranks_send(w->ranks, NULL, 0, from);
    }
    ranks_receive_end(w->ranks);
    ranks_send(w->ranks, NULL, 0, from);
    return -1;
}

enum status wire_send(struct wire *w, int bytes, int to, double *seconds, struct error *err)
{
    *seconds = -1;
    if (w->devices) return devices_send(w->devices, w->out, bytes, to, err);
    *seconds = roster_same_clock(w->roster, ranks_self(w->ranks), to)
                   ? send_by_clock(w, bytes, to)
                   : send_by_answer(w, bytes, to);
    return OK;
}

enum status wire_receive(struct wire *w, int bytes, int from, double *seconds, struct error *err)
{
    if (w->devices) return devices_receive(w->devices, w->in, bytes, from, seconds, err);
    *seconds = roster_same_clock(w->roster, from, ranks_self(w->ranks))
                   ? receive_by_clock(w, bytes, from)
                   : receive_by_answer(w, bytes, from);
    return OK;
}
