// A cluster whose links between nodes are those of a measured matrix, for both `plumbline import
// matrix` and `plumbline example pipette`.
#pragma once

#include "data/places/cluster.h"

enum {
    ROWS_RECEIVER,
    ROWS_SENDER,
    ROWS_BY_TABLE
}; // to whom a row belongs; in a Send table to the sender, else to the receiver
enum { TABLE_RECV, TABLE_SEND, TABLE_ONLY }; // of mpiGraph's two tables
enum {
    MATRIX_GB,
    MATRIX_MIB_THOUSANDS,
    MATRIX_MIB,
    MATRIX_MB,
    MATRIX_BY_FORM
}; // by form: thousands of 2^20 bytes with one table, 2^20 with two
extern const char *const matrix_row_names[];   // "receiver", "sender"
extern const char *const matrix_table_names[]; // "recv", "send"
extern const char *const matrix_unit_names[];  // "gb", "mib-thousands", "mib", "mb"

struct matrix_request {
    const char *like, *gpu, *name; // like: a cluster with such nodes, shipped or a file; NULL: none
    int64_t gpus_per_node;         // 0, as below: as in `like`
    double memory_gb, intra_gb_per_s;
    double intra_latency_us, latency_us; // below 0: as in `like`, else none
    int rows, table, unit;
    bool published; // rows by table and units by form as in Pipette's program: a row belongs to the
                    // sender, 1e9 bytes/s (with two tables 1e6)
};

// mpiGraph's output: its Send or Recv table, in its unit; NAN: not measured. BAD_INPUT: there is no
// such table, it is cut short, or a host occurs twice.
struct matrix_text {
    const char **names; // [count]
    int count;
    double *values; // [count x count], row by row
};
enum status matrix_read_text(struct matrix_text *m, const char *path, const char *text, size_t size,
                             bool send, struct arena *arena, struct error *err);

// One group of nodes, measured[] between them; the document has the file's path and hash.
enum status matrix_cluster(struct cluster *c, const char *path, const struct matrix_request *r,
                           struct arena *arena, struct error *err);
