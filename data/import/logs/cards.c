// How many GPUs and nodes there were, in words: "8xA100", "2 nodes, each 4 A100", "single GPU".

#include "data/base/least.h"
#include "data/import/logs/internal.h"
#include "data/import/machines.h"

enum { COUNTED_MOST = 1024 };

// "4 nodes, each 4 A100", "10 nodes with 8 GPUs per node": the number before `number`, and what it
// is of.
static bool is_of_each(struct log *l, const char *line, const char *number)
{
    static const char *const nodes[] = {"nodes",
                                        "machines",
                                        "instances",
                                        "workers",
                                        "servers",
                                        "\xe8\x8a\x82\xe7\x82\xb9",
                                        "\xe7\xbb\x93\xe7\x82\xb9"};
    static const char *const each[] = {" each",       "each ",        "per node",
                                       "per machine", "\xe6\xaf\x8f", NULL};
    enum { NODE_MOST = 8 };
    double count, held = 0;
    number_at(number, &held, NULL);
    bool with = number - line > 5 && !strncmp(number - 5, "with ", 5) && held > 1 &&
                held <= NODE_MOST, // "2 nodes, with 8 H100"
        of_each = with || has_one_of(line, each);
    for (const char *s = line; of_each && s < number; s++) {
        if (!isdigit((unsigned char)*s) || !at_border(line, s) || !number_at(s, &count, &s))
            continue;
        s += strspn(s, " ");
        if (!strncmp(s, "x p", 3))
            s += 2 + strcspn(s + 2, " "), s += strspn(s, " "); // "4 x p5 ..."
        for (size_t i = 0; i < ARRAY_LENGTH(nodes); i++)
            if (s < number && !strncmp(s, nodes[i], strlen(nodes[i])) && count >= 1 &&
                count < 1e5) {
                tell_count(l, TOLD_NODES, BY_WORDS, "a number of nodes, in words", (int64_t)count);
                return true;
            }
    }
    return false;
}

// "2 nodes x 8", "2Nodes * 8": the number before the GPU is a node's.
static bool is_of_node(struct log *l, const char *line, const char *number)
{
    const char *s = number;
    double nodes;
    for (bool sign = true; sign;) {
        sign = s > line + 1 && !strncmp(s - 2, "\xc3\x97", 2);
        if (sign) s -= 2;
        while (s > line && strchr(" *xX", s[-1])) s--, sign = true;
    }
    size_t length = s - line > 5 && !strncasecmp(s - 5, "nodes", 5)  ? 5
                    : s - line > 4 && !strncasecmp(s - 4, "node", 4) ? 4
                                                                     : 0;
    if (!length || s == number) return is_of_each(l, line, number);
    for (s -= length; s > line && s[-1] == ' ';) s--;
    while (s > line && isdigit((unsigned char)s[-1])) s--;
    if (number_at(s, &nodes, NULL) && nodes >= 1 && nodes < 1e6)
        tell_count(l, TOLD_NODES, BY_WORDS, "a number of nodes, in words", (int64_t)nodes);
    return true;
}

// "on an 80 GB A100", "use one A800": of one, if it is no node of them.
static bool is_one(const char *line, const char *words)
{
    static const char *const makers[] = {"card ", "nvidia ", "tesla ", "geforce ", "rtx "};
    static const char *const many[] = {"node", "cluster",  "server", "machine",
                                       "pod",  "instance", NULL};
    size_t length = strlen(words);
    for (const char *s = line; (s = find_in_any_case(s, words)); s += length) {
        const char *of = s + length;
        if (!at_border(line, s)) continue;
        of += *of == 'n' && words[length - 1] == 'a';
        if (*of != ' ') continue;
        of++;
        for (size_t i = 0; i < ARRAY_LENGTH(makers); i++)
            if (!strncasecmp(of, makers[i], strlen(makers[i]))) of += strlen(makers[i]);
        size_t size = names_card(of) ? 0 : strspn(of, "0123456789");
        if (size) of += size + strspn(of + size, " GgBb");
        if (names_card(of) && !has_one_in_any_case(of, many)) return true;
    }
    return false;
}

// "single A100", "a single GPU"; not of a single node.
static bool is_single(const char *line)
{
    const char *s = line;
    for (; (s = find_in_any_case(s, "single ")); s += 7) {
        const char *of = s + 7;
        if (!strncmp(of, "core ", 5)) of += 5;
        if (!strncmp(of, "NVIDIA ", 7)) of += 7;
        if (!strncmp(of, "GPU", 3) || (names_gpu(of) && strstr(of, "GPU"))) return true;
    }
    return is_one(line, "on a") || is_one(line, "one");
}

// "CUDA_VISIBLE_DEVICES=0,1,2 python", DeepSpeed's "--include localhost:0,1,2": of one node.
static void read_visible(struct log *l, const char *line)
{
    static const char *const keys[] = {VISIBLE_DEVICES "=", "--include localhost:"};
    const char *key = strstr(line, keys[1]) ? keys[1] : keys[0], *at = strstr(line, key);
    size_t length = at ? strspn(at + strlen(key), "0123456789,") : 0;
    int count = 1;
    if (!length || told(l, TOLD_GPUS_PER_NODE)) return;
    for (size_t i = 0; i < length; i++) count += at[strlen(key) + i] == ',';
    tell_count(l, TOLD_GPUS_PER_NODE, BY_WORDS, VISIBLE_DEVICES, count);
}

// "on 32 GPUs": no GPU need be named for that.
static bool follows_word(const char *line, const char *number)
{
    static const char *const words[] = {"on ", "with ", "using ", "use "};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(number - line) >= length && !strncmp(number - length, words[i], length))
            return true;
    }
    return false;
}

// A row of nvidia-smi's table, "|   7  NVIDIA H100 80GB HBM3   On | ...": the GPU of that index.
static bool read_table_row(struct log *l, const char *line)
{
    double index;
    const char *after;
    if (line[0] != '|' || line[1] != ' ' || !number_at(line + 1, &index, &after)) return false;
    if (*after != ' ' || index > 15) return false;
    if (strstr(after, "NVIDIA ") || strstr(after, "Tesla ") || strstr(after, "GeForce "))
        tell_count(l, TOLD_GPUS_PER_NODE, BY_COMMON, "nvidia-smi's table", (int64_t)index + 1);
    return true;
}

// "4 * 8 H100", behind its first number: the second one; 0: it is no product.
static int64_t second_factor(const char *s)
{
    double factor;
    s += strspn(s, " ");
    if (*s != '*' && *s != 'x') return 0;
    s += 1 + strspn(s + 1, " ");
    if (!isdigit((unsigned char)*s) || !number_at(s, &factor, &s) || (*s != ' ' && !names_gpu(s)))
        return 0;
    s += strspn(s, " ");
    bool gpus = names_gpu(s) || !strncasecmp(s, "gpus", 4);
    return gpus && factor >= 1 && factor <= 65536 ? (int64_t)factor : 0;
}

// "8x48GB GPUs", "2 x 24G Titan RTX": cards, and the memory of one.
static bool count_sized(struct log *l, const char *line)
{
    static const char *const of[] = {"gpu", "card", "machine", "titan", "vram", "nvidia", NULL};
    double count, gb;
    for (const char *s = line; *s; s++) {
        const char *begin = s, *after;
        if (!isdigit((unsigned char)*s) || !at_border(line, s)) continue;
        if (!number_at(s, &count, &after)) return false;
        s = after - 1, after += strspn(after, " ");
        if (!strchr("xX*", *after) || !*after) continue;
        after += 1 + strspn(after + 1, " ");
        if (!isdigit((unsigned char)*after) || !number_at(after, &gb, &after)) continue;
        after += *after == ' ';
        bool sized = (*after | 32) == 'g' && gb >= 8 && gb <= 400 && count >= 1 && count <= 1024;
        after += 1 + (sized && (after[1] | 32) == 'b');
        if (!sized || (*after != ' ' && !names_gpu(after))) continue; // "8*32GV100"
        after += *after == ' ';
        if (!names_card(after) && !begins_with_one(after, of)) continue;
        tell_count(l, is_of_node(l, line, begin) ? TOLD_GPUS_PER_NODE : TOLD_NUM_GPUS, BY_WORDS,
                   "a number of GPUs, in words", (int64_t)count);
        if (!l->reader->card_gb) l->reader->card_gb = (int)gb;
        return true;
    }
    return false;
}

// What a number of cards is of: "8 x NVIDIA A100", "8 x GPUs"; "1 x p5" is none.
static bool names_maker(const char *s)
{
    static const char *const words[] = {"NVIDIA", "Nvidia", "nvidia", "Tesla", "GeForce",
                                        "AMD",    "GPU",    "gpu",    "RTX"};
    for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
        if (!strncmp(s, words[i], strlen(words[i]))) return true;
    size_t size = strspn(s, "0123456789"); // "8 x 80GB A100"
    return names_card(s) || (size && (s[size] == 'G' || s[size] == 'g'));
}

// "64 GB200 nodes"
static bool before_nodes(const char *unit)
{
    if (!strncmp(unit, "nodes ", 6) && names_gpu(unit + 6)) return true; // "2 nodes A100"
    if (!names_gpu(unit)) return false;
    while (isalnum((unsigned char)*unit)) unit++;
    return !strncmp(unit, " node", 5);
}

// Whether the line has the name of the run's GPU.
static bool names_own(const struct log *l, const char *line)
{
    char name[TOLD_KEY];
    snprintf(name, sizeof name, "%.40s", told(l, TOLD_GPU) ? l->told[TOLD_GPU].text : "");
    name[strcspn(name, "-")] = '\0';
    return *name && find_in_any_case(line, name);
}

// "8xA100", "A100 80G*8", "8 GPUs", "8-V100", "single A100": only where a GPU is named.
static void count_gpus(struct log *l, const char *line)
{
    double count;
    if (is_single(line)) {
        tell_count(l, TOLD_NUM_GPUS, BY_WORDS, "a number of GPUs, in words", 1);
        return;
    }
    if (log_chinese_counts(l, line) || count_sized(l, line)) return;
    for (const char *s = line; *s; s++) {
        if (!isdigit((unsigned char)*s)) continue;
        const char *begin = s;
        if (!number_at(s, &count, &s)) continue;
        if (*s == '(' && s[1 + strspn(s + 1, "0123456789*x")] == ')')
            s += 2 + strspn(s + 1, "0123456789*x"); // "64(8*8)"
        const char *unit = s + strspn(s, " ");
        size_t size = strspn(unit, "0123456789"); // "64 32GB V100"
        if (size && !strncmp(unit + size, "GB ", 3)) s = unit + size + 2, unit = s + 1;
        else if (size && !strncmp(unit + size, "G ", 2)) s = unit + size + 1, unit = s + 1;
        int64_t factor = second_factor(s);
        count *= (double)larger(factor, 1);
        if (!strncmp(unit, "of ", 3)) unit += 3;
        if (!strncasecmp(unit, "nvidia ", 7)) unit += 7;
        if (!strncasecmp(unit, "rtx ", 4)) unit += 4;
        bool least = begin - line >= 9 && !strncmp(begin - 9, "at least ", 9),
             sized = begin > line + 2 && begin[-1] == 'x' && strchr("GgBb", begin[-2]),
             many = count >= 1 && count <= 65536 && !least &&
                    (begin == line || !isalpha((unsigned char)begin[-1]) || sized); // "80Gx8"
        bool whole = !strncmp(unit, "-GPU ", 5) && count > 1 && at_border(line, begin);
        if (many && whole) { // "the 256-GPU recipes", "an 8-GPU node"
            bool node = !strncmp(unit + 5, "node", 4) || !strncmp(unit + 5, "server", 6);
            tell_count(l, node ? TOLD_GPUS_PER_NODE : TOLD_NUM_GPUS, BY_WORDS,
                       "a number of GPUs, in words", (int64_t)count);
            return;
        }
        bool named = !strncasecmp(unit, "gpus", 4) || !strncasecmp(unit, "gpu of ", 7) ||
                     !strncmp(unit, "\xe5\x8d\xa1", 3);
        const char *of = unit + (*unit == '\xc3' ? 2 : 1);
        bool times =
            (*unit == 'x' || *unit == '*' || !strncmp(unit, "\xc3\x97", 2)) && *of &&
            (*of == ' ' ? names_maker(of + 1) : strchr("AHVBLMR34T", *of) || names_card(of)) &&
            told(l, TOLD_GPU);
        const char *sign = begin;
        while (sign > line && sign[-1] == ' ') sign--;
        bool bold = sign > line + 1 && sign[-1] == '*' && sign[-2] == '*';
        bool behind = sign > line + 1 && strchr("*xX", sign[-1]) && told(l, TOLD_GPU) && !bold &&
                      (sign[-1] == '*' || sign[-2] == ' ' || sized) &&
                      !isalnum((unsigned char)*s) && s[strspn(s, " ")] != '='; // "12*7 = 84"
        if (before_nodes(unit) && told(l, TOLD_GPU)) {
            if (many) tell_count(l, TOLD_NODES, BY_WORDS, "a number of nodes", (int64_t)count);
            s--;
            continue;
        }
        bool of_node = is_of_node(l, line, begin);
        bool before = *s == ' ' && told(l, TOLD_GPU) && names_card(unit);
        bool multiplies = sign > line + 1 && strchr("xX*", sign[-1]) && sign[-2] == ' ',
             used = named && (follows_word(line, begin) || !strncasecmp(unit + 4, " total", 6) ||
                              names_card(unit + 3) || multiplies); // "32 GB VRAM x 8 GPUs"
        if (many && (named || times || behind || before || factor > 1) &&
            (used || factor > 1 || l->told[TOLD_GPU].line == l->lines || names_own(l, line))) {
            tell_count(l, of_node ? TOLD_GPUS_PER_NODE : TOLD_NUM_GPUS, BY_WORDS,
                       "a number of GPUs, in words", (int64_t)count);
            return;
        }
        s--;
    }
}

// "two GPUs", "three workers": the line with their digits.
static const char *with_digits(char to[COUNTED_MOST], const char *line)
{
    static const char *const of[] = {"gpu",  "node",    "worker",   "machine", "server", "instance",
                                     "card", "nvidia ", "geforce ", "rtx ",    NULL};
    size_t length = 0;
    bool any = false;
    for (const char *s = line; *s && length + 4 < COUNTED_MOST;) {
        const char *end = NULL;
        int value = 0;
        size_t n = 0;
        while (at_border(line, s) && isalpha((unsigned char)s[n])) n++;
        if (n > 2 && (s[n] == ' ' || s[n] == '-')) value = count_word(s, n);
        if (value > 1 && strncasecmp(s, "quad", 4) && // one: is_one, is_single
            (names_card(s + n + 1) || begins_with_one(s + n + 1, of)))
            end = s + n;
        if (end) {
            length += (size_t)snprintf(to + length, COUNTED_MOST - length, "%d", value);
            s = end, any = true;
        } else to[length++] = *s++;
    }
    to[length] = '\0';
    return any ? to : line;
}

// Machines of clouds by their names: what they have of which GPU. "4 x
// p5.48xlarge", "2 nodes of a3-highgpu-8g".
static void read_machine(struct log *l, const char *line)
{
    const char *at = NULL;
    int found;
    bool may = strstr(line, "xlarge") || strstr(line, "gpu-") || strstr(line, "ND");
    if (!may || line[strspn(line, " ")] == '|') return; // a table's are many
    const struct cloud_machine *machine = cloud_machine_in(line, &at, &found);
    if (!machine) return;
    char key[TOLD_KEY];
    snprintf(key, sizeof key, OF_MACHINE "%s", machine->gpu);
    tell(l, TOLD_GPU, BY_WORDS, "a cloud's machine", machine->gpu, strlen(machine->gpu));
    tell_count(l, TOLD_GPUS_PER_NODE, BY_WORDS, key, machine->gpus);
    int nodes = cloud_machines_before(line, at);
    if (nodes) tell_count(l, TOLD_NODES, BY_WORDS, "a number of machines, in words", nodes);
}

// The first count holds, but for a post's title, which the lines behind it say more exactly.
void log_counts(struct log *l, const char *words)
{
    enum { NEAR_TITLE = 4 };
    char digits[COUNTED_MOST];
    const char *line = with_digits(digits, words);
    // A launcher's banner.
    static const struct count_words banner[] = {{"Total GPUs:", TOLD_NUM_GPUS},
                                                {"GPUs/node:", TOLD_GPUS_PER_NODE}};
    if (!strncmp(line, "Total GPUs:", 11) || !strncmp(line, "GPUs/node:", 10))
        tell_counts(l, line, BY_PROGRAM, "a launcher's banner", banner, ARRAY_LENGTH(banner));
    read_machine(l, line);
    struct told_value *gpus = &l->told[TOLD_NUM_GPUS], before = *gpus;
    bool title = before.line == 1 && l->reader->titled && l->lines <= NEAR_TITLE;
    bool open = !told(l, TOLD_NUM_GPUS) || (title && before.by == BY_WORDS);
    if (!read_table_row(l, line) && open) {
        gpus->by = BY_NONE;
        count_gpus(l, line);
        if (gpus->by == BY_NONE) *gpus = before;
    }
    read_visible(l, line);
}
