// One message between two ranks, alone, and its time. If both
// ends read the same clock, a repetition lasts from the call that sends to the end of the receive,
// which was posted before. Otherwise no exchange of messages can separate the delays of the two
// directions. The sender then times its message and an empty answer, and subtracts half of the
// fastest of three empty exchanges just before. Delays are thus taken as equal in both directions;
// rates still belong to one.
#pragma once

#include "measure/links/assembly.h"

struct wire {
    struct ranks *ranks;
    const struct roster *roster;
    unsigned char *out, *in; // [largest]
    struct devices *devices; // NULL: messages between processes
};

// Called at both ends. *seconds: -1 at the end that does not know.
enum status wire_send(struct wire *w, int bytes, int to, double *seconds, struct error *err);
enum status wire_receive(struct wire *w, int bytes, int from, double *seconds, struct error *err);
