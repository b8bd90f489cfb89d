// What posts in Chinese say of machines, cards and their memory. Texts are UTF-8: three bytes a
// sign.

#include "data/import/logs/internal.h"

#define CARD "\xe5\x8d\xa1"   // card
#define SHEET "\xe5\xbc\xa0"  // what flat things, cards too, are counted by
#define PIECE "\xe5\x9d\x97"  // what solid ones are
#define OF_ANY "\xe4\xb8\xaa" // what anything is
#define MEMORY "\xe5\xad\x98" // store; behind "show" of a card, behind "inner" of any
#define SHOW "\xe6\x98\xbe"   // of cards and of their memory
#define TRAINING "\xe8\xae\xad\xe7\xbb\x83"
#define ORDINAL "\xe7\xac\xac" // "the ...th"

// A number at s, in digits or signs. Returns its end; NULL: it is none.
static const char *number_in(const char *s, int64_t *value)
{
    static const struct {
        const char *sign;
        int value;
    } signs[] = {{"\xe5\x8d\x81\xe5\x85\xad", 16},
                 {"\xe5\x8d\x95", 1},
                 {"\xe4\xb8\x80", 1},
                 {"\xe5\x8f\x8c", 2},
                 {"\xe4\xb8\xa4", 2},
                 {"\xe4\xb8\x89", 3},
                 {"\xe5\x9b\x9b", 4},
                 {"\xe4\xba\x94", 5},
                 {"\xe5\x85\xad", 6},
                 {"\xe4\xb8\x83", 7},
                 {"\xe5\x85\xab", 8}};
    size_t digits = strspn(s, "0123456789");
    for (size_t i = 0; i < ARRAY_LENGTH(signs); i++)
        if (!strncmp(s, signs[i].sign, strlen(signs[i].sign)))
            return *value = signs[i].value, s + strlen(signs[i].sign);
    if (!digits || digits > 5) return NULL;
    *value = 0;
    for (size_t i = 0; i < digits; i++) *value = 10 * *value + (s[i] - '0');
    return *value ? s + digits : NULL;
}

static bool begins(const char **s, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*s, word, length) != 0) return false;
    *s += length;
    return true;
}

// What is counted by the number before s: 'm' machines each with what follows, 'a' machines that
// may share it, 'c' cards, ' ' neither.
static char counted_at(const char **s, bool cards)
{
    static const char *const machines[] = {"\xe5\x8f\xb0", "\xe8\x8a\x82\xe7\x82\xb9",
                                           "\xe7\xbb\x93\xe7\x82\xb9"};
    *s += strspn(*s, " ");
    if (begins(s, OF_ANY)) *s += strspn(*s, " ");
    if (begins(s, TRAINING)) *s += strspn(*s, " ");
    for (size_t i = 0; i < ARRAY_LENGTH(machines); i++)
        if (begins(s, machines[i])) return 'm';
    if (begins(s, "\xe6\x9c\xba")) return 'a';
    if (begins(s, CARD)) return 'c';
    bool counts = begins(s, SHEET) || begins(s, PIECE);
    *s += strspn(*s, " ");
    size_t memory = strspn(*s, "0123456789");
    bool sized = memory && ((*s)[memory] == 'G' || (*s)[memory] == 'g'),
         named = names_card(*s) || !strncmp(*s, "RTX", 3) || !strncmp(*s, SHOW CARD, 6) ||
                 !strncmp(*s, CARD, 3) || !strncmp(*s, "GPU", 3) || !strncmp(*s, "NPU", 3);
    return (counts && (named || sized || cards)) || (!counts && !strncmp(*s, "GPU", 3)) ? 'c' : ' ';
}

// "2 machines of 8 cards each", "one machine, two cards", "8 cards of 3090"; of "2 machines, 2
// cards" and "2 machines, 16 cards" (not of 台) the cards are all of them.
bool log_chinese_counts(struct log *l, const char *line)
{
    int64_t machines = 0, cards = 0, value;
    bool share = false, foreign = false, names = told(l, TOLD_GPU);
    for (const char *s = line; *s && !foreign; s++) foreign = (unsigned char)*s >= 0xe4;
    for (const char *s = line; foreign && *s && !cards;) {
        const char *end = number_in(s, &value);
        bool inside = s > line && (isalnum((unsigned char)s[-1]) || strchr(".*-", s[-1]));
        if (!end || inside || (s >= line + 3 && !strncmp(s - 3, ORDINAL, 3))) {
            s += end && end > s ? end - s : 1;
            continue;
        }
        char what = counted_at(&end, names && value == 1 && find_in_any_case(end, "RTX"));
        if ((what == 'm' || what == 'a') && !machines) machines = value, share = what == 'a';
        else if (what == 'c' && !begins(&end, "\xe5\x8d\xb3")) cards = value; // "would do"
        s = end;
    }
    if (!cards || cards > 65536) return false;
    bool all = machines <= 1 || (share && (cards <= machines || cards > 8));
    if (machines) tell_count(l, TOLD_NODES, BY_WORDS, "a number of machines, in words", machines);
    tell_count(l, all ? TOLD_NUM_GPUS : TOLD_GPUS_PER_NODE, BY_WORDS, "a number of GPUs, in words",
               cards);
    return true;
}

// "Memory burst", "not enough", "overflows".
bool log_chinese_failure(const char *line)
{
    static const char *const lacks[] = {"\xe7\x88\x86",
                                        "\xe4\xb8\x8d\xe8\xb6\xb3",
                                        "\xe4\xb8\x8d\xe5\xa4\x9f",
                                        "\xe6\xba\xa2\xe5\x87\xba",
                                        "\xe7\x82\xb8",
                                        NULL};
    bool memory = strstr(line, SHOW MEMORY) ||
                  (strstr(line, SHOW) && strstr(line, "\xe5\x86\x85" MEMORY));
    return memory && has_one_of(line, lacks);
}

// "24G cards", "the card is A00 40G": the memory of a card that nothing names; 0: none is stated
// so.
int log_chinese_card_gb(const char *line)
{
    const char *shown = strstr(line, SHOW CARD "\xe6\x98\xaf"); // "is"
    for (const char *s = line; (s = strchr(s, 'G')); s++) {
        const char *end = s + 1 + (s[1] == 'B'), *from = s;
        double value;
        while (from > line && isdigit((unsigned char)from[-1])) from--;
        if (begins(&end, "\xe7\x9a\x84")) end += strspn(end, " "); // "of"
        bool card = !strncmp(end, SHOW CARD, 6) || !strncmp(end, CARD, 3) ||
                    !strncmp(end, SHOW MEMORY, 6) || (shown && shown < s);
        if (from < s && card && number_at(from, &value, NULL) && value >= 8 && value <= 400)
            return (int)value;
    }
    return 0;
}
