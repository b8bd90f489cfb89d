// Where layers that predict further tokens may be placed. docs/FORMULAS.md section 13.
#include "formulate/price/pricing.h"

// Layers that predict further tokens are on the stage of the head: no stage holds the head without
// all of them.
void add_mtp_rule(struct priced *priced, const struct model *m, struct arena *arena)
{
    int depth = model_mtp_depth(m);
    if (!depth) return;
    struct rule *rules = TAKE(arena, priced->rule_count + 1, struct rule);
    for (int i = 0; i < priced->rule_count; i++) rules[i] = priced->rules[i];
    rules[priced->rule_count] = rule_empty;
    rules[priced->rule_count].action = RULE_FORBID;
    rules[priced->rule_count].holds_first = rules[priced->rule_count].holds_last = m->layer_count -
                                                                                   1;
    rules[priced->rule_count].layers_max = depth;
    priced->rules = rules, priced->rule_count++;
}
