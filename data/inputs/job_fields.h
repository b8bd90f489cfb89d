// Shared by job.c and its parts: the checks of a layout and of rules, which the priced document
// needs as well.
#pragma once

#include "data/inputs/job.h"
#include "data/text/members.h"

enum {
    DEGREE_MAX = 65536,
    RANK_MAX = 1 << 20,
    OPTIONS_MAX = 64,
    RULES_MAX = 1024,
    RULE_GROUPS_MAX = 64
};
#define ENERGY_MAX ((int64_t)1 << 50) // microjoules of an iteration
#define QUALITY_MAX 1099511627776     // 2^40, of one option, so that sums over all stages are exact

// Repeated by the priced document, plans and layouts.
extern const struct members layout_members, budget_members, rule_members;

// `file` starts the message. layer_count 0: not known, layers are not checked.
enum status layout_check(const struct layout *l, struct error *err);
enum status rules_check(const struct rule *rules, int count, int stage_count, int layer_count,
                        struct error *err);

// Compression options as a job offers them, and as priced documents and plans have them: there
// "none" is one of them, and a gradient option states what is in tiers.
extern const struct members boundary_offer_members, gradient_offer_members, boundary_option_members,
    gradient_option_members;

// job_tiers.c
extern const struct members tier_option_members;
member_get job_get_shares; // the shares of offload_percents, into tier_options
enum status job_check_tiers(const struct job *j, struct error *err);
