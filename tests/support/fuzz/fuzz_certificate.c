// Certificates under the fuzzer. An input is a certificate, a form feed, and the priced document;
// each @ in the certificate stands for the document's hash, which no fuzzer would guess.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solve/checker/proof.h"
#include "solve/checker/sources.h"
#include "tests/fuzz/fuzz.h"

enum { WORK_MOST = 1 << 24 };

static void give_up(const char *why, const char *text)
{
    fprintf(stderr, "fuzz: certificate: %s: %s\n", why, text);
    abort();
}

static struct check_text put_hashes(const char *text, size_t size, const struct check_text *priced,
                                    struct arena *arena)
{
    char hash[CHECK_HASH], *to = TAKE(arena, size * (CHECK_HASH - 1) + 1, char);
    struct check_text out = {.file = "certificate.json", .text = to};
    check_hash(priced->text, priced->size, hash);
    for (size_t i = 0; i < size; i++) {
        size_t length = text[i] == '@' ? CHECK_HASH - 1 : 1;
        memcpy(to + out.size, text[i] == '@' ? hash : text + i, length);
        out.size += length;
    }
    return out;
}

struct input {
    const uint8_t *data;
    size_t size;
};

static bool audit(const void *argument, struct arena *arena)
{
    const struct input *in = argument;
    struct error err = {OK, ""};
    struct check_result r;
    size_t size = in->size;
    const char *text = (const char *)in->data, *feed = size ? memchr(text, '\f', size) : NULL;
    size_t length = feed ? (size_t)(feed - text) : size;
    struct check_text priced = {"priced.json", feed ? feed + 1 : "", feed ? size - length - 1 : 0};
    struct check_text certificate = put_hashes(text, length, &priced, arena);
    enum status status = check_certificate(&r, &certificate, &priced, WORK_MOST, arena, &err);
    if (status != OK && (status != BAD_INPUT || !*err.text || strchr(err.text, '\n')))
        give_up("not one clear line", err.text);
    if (status == OK && !r.accepted && !*r.reason) give_up("refused", "without a reason");
    if (status == OK && r.accepted && r.iteration_ns >= 0 && r.iteration_ns < r.bound_ns)
        give_up("accepted", "a plan below the bound");
    return status == OK && r.accepted;
}

bool fuzz_certificate(const uint8_t *data, size_t size)
{
    return fuzz_within_limit(audit, &(struct input){data, size}, size);
}
