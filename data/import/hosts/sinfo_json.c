// sinfo --json and scontrol show nodes --json: each node, or each group of nodes that are alike,
// with its gres and states.
#include "data/import/hosts/sinfo.h"

#include <string.h>

enum { ENTRIES_MOST = 65536 };

// Texts joined: names by commas, states by plus signs, as the printed forms have them.
static enum status join(const struct json *list, char between, const char **text,
                        struct arena *arena, struct error *err)
{
    const char **words;
    int count;
    *text = "";
    if (!json_length(list)) return OK;
    TRY(json_texts(list, &words, &count, arena, err));
    size_t length = 0;
    for (int i = 0; i < count; i++) length += strlen(words[i]) + 1;
    char *all = TAKE(arena, length + 1, char), *to = all;
    for (int i = 0; i < count; i++) {
        if (i) *to++ = between;
        size_t n = strlen(words[i]);
        memcpy(to, words[i], n), to += n;
    }
    *text = all;
    return OK;
}

// "state": ["DOWN", "DRAIN"], or, before Slurm 22.05, "down" and "state_flags": ["DRAIN"].
static enum status read_state(const struct json *entry, const char **state, struct arena *arena,
                              struct error *err)
{
    const char *first = NULL, *flags;
    struct json states = {0}, more = {0};
    struct error ignored = {OK, ""};
    struct json_field list[] = {FIELD_ARRAY("state", OPTIONAL, &states)},
                      old[] = {FIELD_TEXT("state", OPTIONAL, &first),
                               FIELD_ARRAY("state_flags", OPTIONAL, &more)};
    if (json_lenient(entry, list, 1, arena, &ignored) == OK)
        return join(&states, '+', state, arena, err);
    TRY(json_lenient(entry, old, 2, arena, err));
    TRY(join(&more, '+', &flags, arena, err));
    *state = arena_print(arena, "%s%s%s", first, *flags ? "+" : "", flags);
    return OK;
}

// "gres": "gpu:h100:8", or {"total": "gpu:h100:8", ...}; states beside it, or in "node".
static enum status read_entry(struct sinfo *s, const struct json *entry, struct text_lines *t,
                              struct error *err)
{
    const char *name = NULL, *gres = NULL, *state = "", *names = "";
    struct json total = {0}, nodes = {0}, list = {0}, node = {0};
    struct error ignored = {OK, ""};
    struct json_field plain[] = {FIELD_TEXT("name", OPTIONAL, &name),
                                 FIELD_TEXT("gres", OPTIONAL, &gres)};
    struct json_field grouped[] = {FIELD_OBJECT("gres", OPTIONAL, &total),
                                   FIELD_OBJECT("nodes", OPTIONAL, &nodes),
                                   FIELD_OBJECT("node", OPTIONAL, &node)};
    struct json_field inner[] = {FIELD_ARRAY("nodes", OPTIONAL, &list)},
                      sum[] = {FIELD_TEXT("total", OPTIONAL, &gres)};
    if (json_lenient(entry, plain, 2, s->arena, &ignored) == OK && name) {
        TRY(read_state(entry, &state, s->arena, err));
        return *name ? sinfo_add(s, name, gres ? gres : "", state, t, err) : OK;
    }
    gres = NULL;
    TRY(json_lenient(entry, grouped, 3, s->arena, err));
    if (json_is_present(&total)) TRY(json_lenient(&total, sum, 1, s->arena, err));
    if (json_is_present(&node)) TRY(read_state(&node, &state, s->arena, err));
    if (json_is_present(&nodes)) TRY(json_lenient(&nodes, inner, 1, s->arena, err));
    TRY(join(&list, ',', &names, s->arena, err));
    return *names ? sinfo_add(s, names, gres ? gres : "", state, t, err) : OK;
}

// A member of MLPerf's description of a system, a text or a number; "": there is none.
static const char *member_of(const struct json *root, const char *name, struct arena *arena)
{
    const char *text = "";
    double number = 0;
    struct error ignored = {OK, ""};
    struct json_field as_text[] = {FIELD_TEXT(name, OPTIONAL, &text)},
                      as_number[] = {FIELD_NUMBER(name, OPTIONAL, &number, 0, 1e9)};
    if (json_lenient(root, as_text, 1, arena, &ignored) == OK) return text;
    return json_lenient(root, as_number, 1, arena, &ignored) == OK
               ? arena_print(arena, "%.0f", number)
               : "";
}

// As a sentence, whose words prose_read knows.
static enum status read_system(struct sinfo *s, const struct json *root, struct text_lines *t,
                               struct error *err)
{
    struct arena *a = s->arena;
    const char *text = arena_print(
        a, "%s nodes, each %s x %s %s, network %s %s", member_of(root, "number_of_nodes", a),
        member_of(root, "accelerators_per_node", a), member_of(root, "accelerator_model_name", a),
        member_of(root, "accelerator_memory_capacity", a),
        member_of(root, "host_network_card_count", a), member_of(root, "host_networking", a));
    text_open(t, t->path, text, strlen(text), a);
    TRY(prose_read(s, t, err));
    return s->count
               ? OK
               : json_refuse(root, err, "accelerator_model_name: expected a GPU, found \"%.60s\"",
                             member_of(root, "accelerator_model_name", a));
}

enum status sinfo_read_json(struct sinfo *s, const char *path, const char *text, size_t size,
                            struct error *err)
{
    struct json root, sinfo = {0}, nodes = {0}, items = {0};
    struct text_lines *t = TAKE(s->arena, 1, struct text_lines);
    *t = (struct text_lines){.path = path, .line = 1};
    TRY(text_json(&root, path, text, size, s->arena, err));
    struct json_field fields[] = {FIELD_ARRAY("sinfo", OPTIONAL, &sinfo),
                                  FIELD_ARRAY("nodes", OPTIONAL, &nodes),
                                  FIELD_ARRAY("items", OPTIONAL, &items)};
    TRY(json_lenient(&root, fields, ARRAY_LENGTH(fields), s->arena, err));
    if (json_has(&root, "accelerators_per_node")) return read_system(s, &root, t, err);
    if (json_has(&root, "kind") && json_has(&root, "metadata") && !json_is_present(&items))
        return kubernetes_read_node(s, &root, t, err);
    for (int i = 0; i < json_length(&items); i++) {
        struct json item = json_element(&items, i, s->arena);
        TRY(kubernetes_read_node(s, &item, t, err));
    }
    if (json_is_present(&items)) return OK;
    const struct json *list = json_is_present(&sinfo) ? &sinfo : &nodes;
    if (!json_is_present(list)) TRY(read_entry(s, &root, t, err)); // of one node
    if (!json_is_present(list) && s->count) return OK;
    if (!json_is_present(list))
        return json_refuse(
            &root, err,
            "expected sinfo (sinfo --json) or nodes (scontrol show nodes --json), or "
            "items (kubectl get nodes -o json)");
    if (json_length(list) > ENTRIES_MOST)
        return json_refuse(list, err, "expected at most %d entries, found %d", ENTRIES_MOST,
                           json_length(list));
    for (int i = 0; i < json_length(list); i++) {
        struct json entry = json_element(list, i, s->arena);
        TRY(read_entry(s, &entry, t, err));
    }
    return OK;
}
