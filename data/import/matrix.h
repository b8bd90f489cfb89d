// A cluster whose links between nodes are those of a measured matrix: what `plumbline import
// matrix` and `plumbline example pipette` both do.
#ifndef PLUMBLINE_DATA_IMPORT_MATRIX_H
#define PLUMBLINE_DATA_IMPORT_MATRIX_H

#include "data/places/cluster.h"

enum {
    ROWS_RECEIVER,
    ROWS_SENDER,
    ROWS_BY_TABLE
}; // whose a row is; a Send table's is the sender's, else the receiver's
enum { TABLE_RECV, TABLE_SEND, TABLE_ONLY }; // of mpiGraph's two
enum {
    MATRIX_GB,
    MATRIX_MIB_THOUSANDS,
    MATRIX_MIB,
    MATRIX_MB,
    MATRIX_BY_FORM
}; // by form: of one table thousands of 2^20 bytes, of two 2^20
extern const char *const matrix_row_names[];   // "receiver", "sender"
extern const char *const matrix_table_names[]; // "recv", "send"
extern const char *const matrix_unit_names[];  // "gb", "mib-thousands", "mib", "mb"

struct matrix_request {
    const char *like, *gpu, *name; // like: a cluster of such nodes, shipped or a file; NULL: none
    int64_t gpus_per_node;         // 0, as below: as in `like`
    double memory_gb, intra_gb_per_s;
    double intra_latency_us, latency_us; // below 0: as in `like`, else none
    int rows, table, unit;
    bool published; // rows by table and units by form as Pipette's program takes them: a sender's,
                    // 1e9 bytes/s (of two tables 1e6)
};

// What mpiGraph prints: its Send or Recv table, in its unit; NAN: not measured. BAD_INPUT: there is
// no such table, it is cut short, or a host stands twice.
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

#endif
