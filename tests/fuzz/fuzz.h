// Processing of one input, for the fuzzers and the replay of their corpus.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/support/documents.h"

enum { FUZZ_FOLDER = 64 };

// A folder of its own with the examples that a problem names; the caller removes it with
// fuzz_close.
void fuzz_open(char folder[FUZZ_FOLDER]);
void fuzz_close(const char *folder);

// With the limit of memory that the commands have for an input of this size; one that needs more is
// not accepted.
bool fuzz_within_limit(bool (*one)(const void *argument, struct arena *arena), const void *argument,
                       size_t size);

// Loads the bytes; aborts when a law is broken. true: they were a valid document.
bool fuzz_one(enum format format, const char *folder, const uint8_t *data, size_t size);

// The same for tables, which are no documents: what loads and is written again reads the same.
bool fuzz_table(const uint8_t *data, size_t size);

// Launch scripts, which are followed within their bounds and their memory: true if one launches.
bool fuzz_script(const uint8_t *data, size_t size);

// Files of other programs, within their memory: true if one was read. Measurements and nodes; what
// training frameworks are told; configurations of models; training logs.
bool fuzz_nodes(const uint8_t *data, size_t size);
bool fuzz_jobs(const uint8_t *data, size_t size);
bool fuzz_hf(const uint8_t *data, size_t size);
bool fuzz_logs(const uint8_t *data, size_t size);

// Certificates, and proofs in the format of VIPR: true if it was accepted.
bool fuzz_certificate(const uint8_t *data, size_t size);
bool fuzz_vipr(const uint8_t *data, size_t size);
// Certificates of a space of layouts, and about placements; plans before the judge.
bool fuzz_space(const uint8_t *data, size_t size);
bool fuzz_places(const uint8_t *data, size_t size);
bool fuzz_verify(const uint8_t *data, size_t size);
