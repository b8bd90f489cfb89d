// What job.c and job_parts.c share: the checks of a layout and of rules, which the priced document
// needs as well.
#ifndef PLUMBLINE_DATA_INPUTS_JOB_FIELDS_H
#define PLUMBLINE_DATA_INPUTS_JOB_FIELDS_H

#include "data/inputs/job.h"

enum {
    DEGREE_MAX = 65536,
    RANK_MAX = 1 << 20,
    OPTIONS_MAX = 64,
    OFFLOAD_PERCENTS_MAX = 16,
    RULES_MAX = 1024,
    RULE_GROUPS_MAX = 64
};
#define QUALITY_MAX 1099511627776 // 2^40, of one option: sums over all stages stay exact

// `file` begins the message. layer_count 0: not known, layers are not checked.
enum status layout_check(const struct layout *l, const char *file, struct error *err);
enum status rules_check(const struct rule *rules, int count, int stage_count, int layer_count,
                        const char *file, struct error *err);
enum status budget_check(const struct quality_budget *b, const char *file, struct error *err);

// Compression options of at least this rank; 0: "none" may stand among them, and is one more.
void compressions_put(struct json_writer *w, const char *key, bool of_boundaries,
                      const struct compression_option *options, int count);
enum status compressions_get(const struct json *array, bool of_boundaries, int rank_min,
                             struct compression_option **options, int *count, struct arena *arena,
                             struct error *err);

// Recomputation modes as an array of names.
void modes_put(struct json_writer *w, const char *key, const bool modes[RECOMPUTE_COUNT]);
// A list of names, each once, as flags in the order of `names`, which NULL ends.
void set_put(struct json_writer *w, const char *key, const char *const *names, const bool *set);
enum status set_get(const struct json *array, const char *const *names, bool *set,
                    struct arena *arena, struct error *err);
enum status modes_get(const struct json *array, bool modes[RECOMPUTE_COUNT], struct arena *arena,
                      struct error *err);

#endif
