// A switch that delays: for machines whose kernel cannot (no netem). usage: relay COUNT INTERFACE... DELAY_US...
// Takes frames off COUNT interfaces and puts each onto the interface that its destination address names (the last byte,
// from 1), DELAY_US[from][to] later. Rates are not its business: tc holds them, at the hosts' own ends.
// Frames travel with the header of virtual devices in front, so that a checksum left to the hardware stays left to it.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ENDS_MAX = 16, VIRTUAL_HEADER_BYTES = 10, FRAME_BYTES_MAX = 70000, RECEIVE_BYTES = 32 << 20, BATCH_MAX = 64 };

struct frame {
    struct frame *next;
    int64_t due_ns;
    size_t bytes;
    unsigned char data[];
};

struct lane { struct frame *first, **last; };   // frames of one ordered pair: first come, first due

struct relay {
    int count, sockets[ENDS_MAX];
    int64_t delay_ns[ENDS_MAX][ENDS_MAX];
    struct lane lanes[ENDS_MAX][ENDS_MAX];
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
    exit(2);
}

static int open_end(const char *interface)
{
    int s = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_IP)), yes = 1, bytes = RECEIVE_BYTES;
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP)};
    address.sll_ifindex = (int)if_nametoindex(interface);
    if (s < 0 || !address.sll_ifindex) die(interface);
    if (setsockopt(s, SOL_PACKET, PACKET_VNET_HDR, &yes, sizeof yes) < 0) die("PACKET_VNET_HDR");
    setsockopt(s, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
    setsockopt(s, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
    if (bind(s, (struct sockaddr *)&address, sizeof address) < 0) die(interface);
    return s;
}

// Whether there was one.
static int take_frame(struct relay *r, int from)
{
    static unsigned char data[FRAME_BYTES_MAX];
    struct sockaddr_ll address;
    socklen_t length = sizeof address;
    ssize_t bytes = recvfrom(r->sockets[from], data, sizeof data, 0, (struct sockaddr *)&address, &length);
    if (bytes < 0) return 0;
    if (address.sll_pkttype == PACKET_OUTGOING || bytes < VIRTUAL_HEADER_BYTES + ETH_HLEN) return 1;
    int to = data[VIRTUAL_HEADER_BYTES + ETH_ALEN - 1] - 1;
    if (to < 0 || to >= r->count || to == from || data[VIRTUAL_HEADER_BYTES] & 1) return 1;
    struct frame *f = malloc(sizeof *f + (size_t)bytes);
    if (!f) die("memory");
    f->next = NULL;
    f->due_ns = now_ns() + r->delay_ns[from][to];
    f->bytes = (size_t)bytes;
    memcpy(f->data, data, (size_t)bytes);
    *r->lanes[from][to].last = f;
    r->lanes[from][to].last = &f->next;
    return 1;
}

// Delivers what is due; returns how long until something is, or -1.
static int64_t deliver(struct relay *r)
{
    int64_t wait_ns = -1;
    for (int from = 0; from < r->count; from++)
        for (int to = 0; to < r->count; to++) {
            struct lane *lane = &r->lanes[from][to];
            for (int64_t now = now_ns(); lane->first; ) {
                struct frame *f = lane->first;
                if (f->due_ns > now) {
                    if (wait_ns < 0 || f->due_ns - now < wait_ns) wait_ns = f->due_ns - now;
                    break;
                }
                if (send(r->sockets[to], f->data, f->bytes, 0) < 0 && errno != ENOBUFS && errno != EAGAIN) die("send");
                lane->first = f->next;
                if (!lane->first) lane->last = &lane->first;
                free(f);
            }
        }
    return wait_ns;
}

int main(int argc, char **argv)
{
    static struct relay r;
    r.count = argc > 1 ? atoi(argv[1]) : 0;
    if (r.count < 2 || r.count > ENDS_MAX || argc != 2 + r.count + r.count * r.count) {
        fputs("usage: relay COUNT INTERFACE... DELAY_US...\n", stderr);
        return 2;
    }
    struct pollfd polls[ENDS_MAX];
    for (int i = 0; i < r.count; i++) {
        r.sockets[i] = open_end(argv[2 + i]);
        polls[i] = (struct pollfd){.fd = r.sockets[i], .events = POLLIN};
        for (int j = 0; j < r.count; j++) {
            r.delay_ns[i][j] = atoll(argv[2 + r.count + i * r.count + j]) * 1000;
            r.lanes[i][j].last = &r.lanes[i][j].first;
        }
    }
    // It sleeps nearly always; when it is due it must not wait for anybody's time slice.
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
    puts("ready");
    fflush(stdout);
    for (;;) {
        int64_t wait_ns = deliver(&r);
        struct timespec wait = {wait_ns / 1000000000, wait_ns % 1000000000};
        if (ppoll(polls, (nfds_t)r.count, wait_ns < 0 ? NULL : &wait, NULL) < 0 && errno != EINTR) die("poll");
        for (int i = 0; i < r.count; i++)
            for (int n = 0; n < BATCH_MAX && take_frame(&r, i); n++) continue;
    }
}
