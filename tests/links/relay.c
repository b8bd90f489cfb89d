// A switch that delays frames, for machines whose kernel cannot (no netem). usage: relay COUNT
// INTERFACE... DELAY_US... Takes frames off COUNT interfaces and puts each onto the interface that
// its destination address names (the last byte, from 1), DELAY_US[from][to] later. It does not
// limit rates: tc does, at the hosts' own ends. Frames keep the header of virtual devices in front,
// so a checksum left to the hardware stays left to it. Its record, a line on standard output for
// each frame with a TCP payload:
//   frame FROM TO BYTES TAKEN_NS PASSED_NS
// ends from 1, bytes of the payload, times of boottime's clock, the same in every namespace. On
// SIGUSR1 the record so far is written, followed by "so far".
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    ENDS_MAX = 16,
    VIRTUAL_HEADER_BYTES = 10,
    FRAME_BYTES_MAX = 70000,
    RECEIVE_BYTES = 32 << 20,
    BATCH_MAX = 64
};
enum { EARLY_NS = 60000 }; // before a frame is due it stops sleeping: sleeps may take longer

struct frame {
    struct frame *next;
    int64_t taken_ns, due_ns;
    size_t bytes;
    unsigned char data[];
};

struct lane {
    struct frame *first, **last;
}; // frames of one ordered pair: first come, first due

struct relay {
    int count, sockets[ENDS_MAX];
    int64_t delay_ns[ENDS_MAX][ENDS_MAX];
    struct lane lanes[ENDS_MAX][ENDS_MAX];
};

static volatile sig_atomic_t is_asked;

static void ask(int signal) { (void)signal, is_asked = 1; }

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
    exit(2);
}

static int open_end(const char *interface)
{
    int s = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK, htons(ETH_P_IP)), yes = 1,
        bytes = RECEIVE_BYTES;
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
    ssize_t bytes =
        recvfrom(r->sockets[from], data, sizeof data, 0, (struct sockaddr *)&address, &length);
    if (bytes < 0) return 0;
    if (address.sll_pkttype == PACKET_OUTGOING || bytes < VIRTUAL_HEADER_BYTES + ETH_HLEN) return 1;
    int to = data[VIRTUAL_HEADER_BYTES + ETH_ALEN - 1] - 1;
    if (to < 0 || to >= r->count || to == from || data[VIRTUAL_HEADER_BYTES] & 1) return 1;
    struct frame *f = malloc(sizeof *f + (size_t)bytes);
    if (!f) die("memory");
    f->next = NULL;
    f->taken_ns = now_ns();
    f->due_ns = f->taken_ns + r->delay_ns[from][to];
    f->bytes = (size_t)bytes;
    memcpy(f->data, data, (size_t)bytes);
    *r->lanes[from][to].last = f;
    r->lanes[from][to].last = &f->next;
    return 1;
}

// Bytes of TCP's payload in a frame of IP version 4; 0: something else.
static int payload_bytes(const struct frame *f)
{
    const unsigned char *ip = f->data + VIRTUAL_HEADER_BYTES + ETH_HLEN;
    size_t bytes = f->bytes - VIRTUAL_HEADER_BYTES - ETH_HLEN;
    size_t header = bytes < 20 ? 0 : 4 * (size_t)(ip[0] & 15);
    if (header < 20 || bytes < header + 20 || ip[9] != IPPROTO_TCP) return 0;
    return (ip[2] << 8 | ip[3]) - (int)header - 4 * (ip[header + 12] >> 4);
}

static void pass(const struct relay *r, struct lane *lane, int from, int to)
{
    struct frame *f = lane->first;
    int64_t passed_ns = now_ns(); // the other end may have it before send() returns
    if (send(r->sockets[to], f->data, f->bytes, 0) < 0) {
        if (errno != ENOBUFS && errno != EAGAIN) die("send");
    } else if (payload_bytes(f) > 0)
        printf("frame %d %d %d %lld %lld\n", from + 1, to + 1, payload_bytes(f),
               (long long)f->taken_ns, (long long)passed_ns);
    lane->first = f->next;
    if (!lane->first) lane->last = &lane->first;
    free(f);
}

// Delivers the frames that are due; returns the time until the next one is, or -1.
static int64_t deliver(struct relay *r)
{
    int64_t wait_ns = -1;
    for (int from = 0; from < r->count; from++)
        for (int to = 0; to < r->count; to++) {
            struct lane *lane = &r->lanes[from][to];
            for (int64_t now = now_ns(); lane->first;) {
                struct frame *f = lane->first;
                if (f->due_ns > now) {
                    if (wait_ns < 0 || f->due_ns - now < wait_ns) wait_ns = f->due_ns - now;
                    break;
                }
                pass(r, lane, from, to);
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
    // It sleeps nearly always; when it is due it must not wait for another process's time slice,
    // nor for the processes it serves, which tests/measure/test_known_links.sh also runs in real
    // time.
    sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 50});
    prctl(PR_SET_TIMERSLACK, 1UL);
    struct sigaction action = {.sa_handler = ask};
    sigset_t asking, none;
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&none);
    sigemptyset(&asking);
    sigaddset(&asking, SIGUSR1);
    sigprocmask(SIG_BLOCK, &asking, NULL); // it arrives only in ppoll()
    puts("ready");
    fflush(stdout);
    for (;;) {
        int64_t wait_ns = deliver(&r);
        if (is_asked) {
            is_asked = 0;
            puts("so far");
            fflush(stdout);
        }
        int64_t sleep_ns = wait_ns > EARLY_NS ? wait_ns - EARLY_NS : 0;
        struct timespec wait = {sleep_ns / 1000000000, sleep_ns % 1000000000};
        if (ppoll(polls, (nfds_t)r.count, wait_ns < 0 ? NULL : &wait, &none) < 0 && errno != EINTR)
            die("poll");
        for (int i = 0; i < r.count; i++)
            for (int n = 0; n < BATCH_MAX && take_frame(&r, i); n++) continue;
    }
}
