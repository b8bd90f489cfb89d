// Forges a certificate's envelope.
#include "tests/support/forged_envelope.h"

#include <string.h>

#include "data/base/file.h"

bool kind_wrong(struct forgery *f) { return set_text(f->root, "kind", "plumbline.plan"), true; }
bool version_wrong(struct forgery *f) { return set_number(f->root, "version", 2), true; }
bool sources_missing(struct forgery *f) { return drop(f->root, "made_from"), true; }
bool priced_not_named(struct forgery *f)
{
    set_text(cJSON_GetArrayItem(get(f->root, "made_from"), 0), "role", "problem");
    return true;
}
bool priced_named_twice(struct forgery *f)
{
    cJSON *sources = get(f->root, "made_from");
    cJSON_AddItemToArray(sources, cJSON_Duplicate(cJSON_GetArrayItem(sources, 0), true));
    return true;
}
bool proof_missing(struct forgery *f) { return drop(f->root, "proof"), true; }
bool key_unknown(struct forgery *f)
{
    return cJSON_AddNumberToObject(f->proof, "trust", 1) != NULL;
}
bool hash_wrong(struct forgery *f)
{
    char hash[SHA256_TEXT];
    cJSON *source = cJSON_GetArrayItem(get(f->root, "made_from"), 0);
    snprintf(hash, sizeof hash, "%s", get(source, "sha256")->valuestring);
    hash[5] = hash[5] == '0' ? '1' : '0';
    set_text(source, "sha256", hash);
    return true;
}

// Another problem under the same proof: detected by the hash.
bool priced_swapped(struct forgery *f)
{
    struct priced other = f->t->priced;
    other.micro_batches++;
    f->priced = check_trial_save(&other, "other.json", f->arena);
    return true;
}

static void adopt_priced(struct forgery *f, const struct priced *p)
{
    char hash[SHA256_TEXT];
    f->priced = check_trial_save(p, "other.json", f->arena);
    sha256_text(f->priced.text, f->priced.size, hash);
    set_text(cJSON_GetArrayItem(get(f->root, "made_from"), 0), "sha256", hash);
}

// The same with the hash forged as well: detected by the plan's time.
bool prices_rounded(struct forgery *f)
{
    struct priced other = f->t->priced;
    if (!has_plan(f)) return false;
    const struct plan_stage *first = &f->t->best[0];
    other.runs = TAKE_COPY(f->arena, other.runs, other.run_count);
    int prices = other.slice_count * other.group_count;
    other.runs[0].forward_ns = TAKE_COPY(f->arena, other.runs[0].forward_ns, prices);
    for (int i = first->group; i < prices; i += other.group_count)
        other.runs[0].forward_ns[i] += 1000;
    adopt_priced(f, &other);
    return true;
}
bool memory_shrunk(struct forgery *f)
{
    struct priced other = f->t->priced;
    if (!has_plan(f)) return false;
    other.groups = TAKE_COPY(f->arena, other.groups, other.group_count);
    other.groups[f->t->best[0].group].memory_limit_bytes = 0;
    other.groups[f->t->best[0].group].constant_bytes = 1;
    adopt_priced(f, &other);
    return true;
}
