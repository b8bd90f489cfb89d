// A log's lines, one at a time, whatever their number and length: terminal codes and what launchers
// put before each line ("[rank0]:", "[1,0]<stdout>:", "12: ", "[pod/name] ") are taken off, and the
// quotes of a notebook's file.

#include "data/import/logs/internal.h"

enum status log_open(struct log_reader *r, const char *path, struct arena *arena, struct error *err)
{
    r->line = TAKE(arena, LINE_MOST + 1, char);
    return file_open(&r->file, path, arena, err);
}

// The next byte; -1 at the end.
static int next_byte(struct log_reader *r)
{
    if (r->at == r->end) {
        r->end = r->over ? 0 : fread(r->block, 1, sizeof r->block, r->file);
        r->at = 0;
        if (!r->end) return r->over = true, -1;
    }
    return (unsigned char)r->block[r->at++];
}

// Skips what follows an escape character: "[31m", or one letter.
static void skip_code(struct log_reader *r)
{
    int c = next_byte(r);
    if (c != '[') return;
    for (c = next_byte(r); c >= 0 && !isalpha(c);) c = next_byte(r);
}

// pdsh's "worker-1: [2026-04-19 ...", "sd-2:  iteration 1/": a host's name, which ends with a
// number; what follows begins with a bracket or a blank of its own.
static const char *without_host(const char *s)
{
    size_t length = strcspn(s, ": \t");
    bool host = length > 1 && s[length] == ':' && s[length + 1] == ' ' &&
                strchr(" [>", s[length + 2]) && isalpha((unsigned char)*s) &&
                isdigit((unsigned char)s[length - 1]);
    for (size_t i = 0; host && i < length; i++)
        host = isalnum((unsigned char)s[i]) || s[i] == '-' || s[i] == '.';
    return host ? s + length + 1 : s;
}

// What launchers put before a line, up to `]:`, `>:` or a rank's number.
static const char *without_prefix(const char *s)
{
    for (int turn = 0; turn < 3; turn++) {
        s += strspn(s, " \t");
        s = without_host(s), s += strspn(s, " \t");
        size_t digits = strspn(s, "0123456789");
        if (digits && digits < 7 && s[digits] == ':' && s[digits + 1] == ' ') {
            s += digits + 1; // srun --label
            continue;
        }
        if (*s != '[') return s;
        const char *end = strchr(s, ']');
        bool rank = end && (!strncmp(s, "[rank", 5) || !strncmp(s, "[default", 8) ||
                            !strncmp(s, "[pod", 4) || isdigit((unsigned char)s[1]));
        if (!rank) return s;
        if (isdigit((unsigned char)s[1])) { // [1,0]<stdout>: of mpirun; else a date
            size_t inside = strspn(s + 1, "0123456789,") + 1;
            if (s + inside != end || (end[1] != '<' && end[1] != ':')) return s;
            const char *colon = strchr(end, ':');
            if (!colon) return s;
            s = colon + 1;
        } else {
            s = end + 1 + (end[1] == ':');
        }
    }
    return s;
}

// A line of a notebook's file, "text\\n", with what is escaped in it.
static void unquote(char *line)
{
    const char *s = line + strspn(line, " "), *end = s + strlen(s);
    if (*s != '"' || end - s < 4) return;
    if (end[-1] == ',') end--;
    if (end[-1] != '"' || end[-2] != 'n' || end[-3] != '\\') return;
    for (s++, end -= 3; s < end; s++)
        if (!strncmp(s, "\\u001b[", 7)) s += 7 + strspn(s + 7, "0123456789;"); // and its letter
        else if (*s != '\\') *line++ = *s;
        else if (*++s == 'n' || *s == 't' || *s == 'r') *line++ = ' ';
        else *line++ = *s;
    *line = '\0';
}

// A command as a list of Python's, "['-u', 'train.py', '--deepspeed', 'ds.json']": as a shell's.
static void unlist(char *line)
{
    static const char between[] = "', '";
    const size_t length = sizeof between - 1;
    const char *s = line;
    if (!strstr(line, "', '-")) return;
    while (*s)
        if (!strncmp(s, between, length)) *line++ = ' ', s += length;
        else *line++ = *s++;
    *line = '\0';
}

// Writers of one file leave NULs where another's lines went; a file of them is no text.
enum { NULS_MOST = 8 };

static bool is_text(struct log_reader *r, int c)
{
    r->bytes++;
    return c != '\0' || (r->nuls += NULS_MOST) <= r->bytes;
}

enum status log_next(struct log *l, bool *more, struct error *err)
{
    struct log_reader *r = l->reader;
    size_t length = 0;
    int c = next_byte(r);
    if (r->after_return && c == '\n') c = next_byte(r), r->counts = true; // the same line end
    *more = c >= 0;
    if (c < 0) return OK;
    if (r->counts || !l->lines) l->lines++; // what a bar overwrites is one line
    for (; c >= 0 && c != '\n' && c != '\r'; c = next_byte(r)) {
        if (!is_text(r, c))
            return refuse(err, "%s: line %lld: expected text, found a NUL byte", l->path,
                          (long long)l->lines);
        if (c == '\0') continue;
        if (c == 27) skip_code(r);
        else if (length < LINE_MOST) r->line[length++] = (char)c;
    }
    r->after_return = c == '\r', r->counts = c == '\n';
    r->line[length] = '\0';
    if (!strncmp(r->line + strspn(r->line, " "), "\"cell_type\":", 12) ||
        !strncmp(r->line, "{\"cells\":", 9))
        r->notebook = true, r->quoted = false;
    r->indent = (int)strspn(r->line, " ");
    unquote(r->line), unlist(r->line);
    const char *begin = without_prefix(r->line);
    memmove(r->line, begin, strlen(begin) + 1);
    return OK;
}

bool number_at(const char *at, double *value, const char **after)
{
    const char *s = at + strspn(at, " \t:=\"'`");
    if (!strncmp(s, "\xef\xbc\x9a", 3)) s += 3, s += strspn(s, " `"); // a full-width colon
    double number = 0, place = 1;
    bool digit = false;
    for (; isdigit((unsigned char)*s) ||
           (*s == ',' && digit && isdigit((unsigned char)s[1]) && isdigit((unsigned char)s[2]) &&
            isdigit((unsigned char)s[3]));
         s++)
        if (*s != ',') number = 10 * number + (*s - '0'), digit = true;
    if (!digit) return false;
    if (*s == '.')
        for (s++; isdigit((unsigned char)*s); s++) number += (*s - '0') * (place /= 10);
    int exponent = 0, read = 0;
    if ((*s == 'e' || *s == 'E') && sscanf(s + 1, "%3d%n", &exponent, &read) == 1 &&
        exponent > -40 && exponent < 40) {
        s += 1 + read;
        for (; exponent > 0; exponent--) number *= 10;
        for (; exponent < 0; exponent++) number /= 10;
    }
    if (!(number < 1e30)) return false;
    *value = number;
    if (after) *after = s;
    return true;
}

bool number_after(const char *line, const char *before, double *value, const char **after)
{
    const char *at = strstr(line, before);
    return at && number_at(at + strlen(before), value, after);
}
