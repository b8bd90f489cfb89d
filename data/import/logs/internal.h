// Shared by the files of this folder.
#pragma once

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "data/text/pieces.h"
#include "data/base/names.h"
#include "data/import/gpus.h"
#include "data/import/logs/log.h"

enum { LINE_MOST = 1 << 16, JUDGED_ROOM = 512 };
#define OF_TOKENIZER "a tokenizer's line"
#define OF_MODEL "a model that is named"
#define OF_SHAPE "a shape, in words"
#define VERL_SHARDS "veRL's FSDP unless told"
#define OF_SHARDS "FSDP's ranks"
#define OF_MACHINE "a cloud's machine of "
#define VISIBLE_DEVICES "CUDA_VISIBLE_DEVICES"

// A table of Markdown so far.
enum { TABLE_KEPT = 24 };
struct log_table {
    int lines, rows; // of values
    int head_line;
    bool pairs;      // each row is a name and its value
    bool rates;      // each row is a run, with a rate of its own
    bool columns;    // each column is a run: a row has a rate of each
    unsigned differ; // columns whose cells are not those of the first row
    char head[1024], row[1024];
    bool bare;                         // it has no bars around its rows
    char before[1000];                 // the line before, where it may be the head of such a table
    char lines_kept[TABLE_KEPT][1024]; // rows of a table that has no column of rates
    int kept;
};

struct prose_rate {
    double value; // 0: none
    bool own;     // its author's
};

// What is kept only while a log is read.
struct log_reader {
    FILE *file;
    char *line; // [LINE_MOST + 1], without prefixes and terminal codes
    char block[1 << 16];
    size_t at, end;
    bool over;                 // the file's end was reached
    int64_t bytes, nuls;       // NULs: weighted
    bool after_return, counts; // of the last line's end
    bool in_dump, began_dump;  // began: whatever stands between its lines
    bool cut_dump;             // a part of it was left out
    int argument_count;        // of the dump
    struct text arguments;     // of the dump
    int tower;                 // open braces of a part of a model that is no language model
    double bar_total;          // steps of the training's bar; 0: not known
    bool bar_stated;           // by the program
    struct log_keys *keys;
    struct log_models *models;
    char pending[TOLD_KEY]; // a flag at the end of a line, or a key of a list; "": none
    bool pending_list;
    char place[TOLD_KEY]; // a key whose value is where: {"device": "cpu"}; "": none
    int adapter;          // open brackets of an adapter's configuration in code
    int trainer;          // the same of a trainer's arguments
    bool cut_trainer;     // some of which are left out
    int64_t gpu_hits[GPUS_MOST];
    unsigned judged[JUDGED_ROOM]; // unknown flags, by their letters
    bool part_measured;           // something, since the last part began
    bool part_restarts;           // nothing was measured since a heading
    struct log_part first_part;   // where it may begin
    struct log_table table;
    char heading[256]; // the last one of a section; "": none
    char family[16];   // the last one that was named without a size, "Llama 2"; "": none
    struct prose_rate prose[MEASURED_COUNT];
    bool shaped;           // by a model that is named
    bool keyed_model;      // its name is a configuration's
    bool notebook, quoted; // quoted: within a comment of its code
    bool no_adapters;      // the last switch of theirs is off, whatever their rank
    bool names_megatron;   // a post does, or a traceback through it
    bool names_bridge, names_nemo, names_titan;
    unsigned no_half;           // 1: bf16 is stated to be off, 2: fp16
    bool titled;                // the first line is a post's title
    bool failed_by_title;       // which says that memory was lacking
    bool traced;                // there is a traceback
    int frame;                  // lines of its last frame that may follow
    int card_gb;                // of a card that may have no name, in words; 0: none is stated
    int branches;               // of a shell, that are open: which is taken is not known
    int64_t ffn;                // by torchtitan's arguments of a Llama; 0: none were there
    int64_t pieces, stages;     // of its pipeline's batch, in all ranks; 0: not stated
    bool in_checkpoint;         // the section of its configuration about recomputation
    bool batches_follow;        // "GBS/MBS" ends the line before
    int indent;                 // of the line, before what is taken off
    char item[TOLD_KEY];        // of a card's list, ended by its colon; "": outside
    int writer;                 // open brackets of a call that writes text
    double step, samples;       // of Megatron's last line that states what was consumed
    double all_samples, tokens; // by then
    double clock_s, clock_step; // of the last line with a time of the day
    // MLPerf
    bool common; // exports of config_common.sh, which others replace
    double block_from_ms, block_ms, block_from_samples, block_samples;
};

// lines.c: the next line; false at the end. BAD_INPUT: not text.
enum status log_open(struct log_reader *r, const char *path, struct arena *arena,
                     struct error *err);
enum status log_next(struct log *l, bool *more, struct error *err);

// told.c: keeps the value, unless one that is known better is there.
void tell(struct log *l, enum told what, enum told_by by, const char *key, const char *text,
          size_t length);
void tell_count(struct log *l, enum told what, enum told_by by, const char *key, int64_t value);
void measure(struct log *l, enum measured what, int64_t step, double value);
// The seconds a step since the line of a step before, by the times of the day that begin lines.
void measure_clock(struct log *l, const char *line, double step);
// Counts that stand behind words: the first of each row in the line. Returns how many there were.
struct count_words {
    const char *before;
    enum told told;
};
int tell_counts(struct log *l, const char *line, enum told_by by, const char *key,
                const struct count_words *rows, size_t row_count);

struct log_models *log_models_make(struct arena *arena); // names.c: that are shipped
struct log_keys *log_keys_make(struct arena *arena);     // keys.c: that are known
// Key and value of a setting; false: no key that is known.
bool log_setting(struct log *l, enum told_by by, const char *key, size_t key_length,
                 const char *value, size_t length);
// Whether a key is a switch, which the word behind it does not turn on or off.
bool log_is_switch(const struct log *l, const char *key, size_t length, const char *word);
// keys.c: a flag that is none, where it is a letter away from one.
void log_unknown_flag(struct log *l, const char *key, size_t length);
// settings.c: all settings that a line states.
void log_settings(struct log *l, const char *line);

// Each looks at a line.
void log_megatron(struct log *l, const char *line);
void log_titan(struct log *l, const char *line);
void log_deepspeed(struct log *l, const char *line);
void log_compression(struct log *l, const char *line);
void log_nemo(struct log *l, const char *line);
void log_mlperf(struct log *l, const char *line);
void log_trainer(struct log *l, const char *line);
bool log_is_of_others(const char *line); // words.c: what a post says of others' runs, or advises
// scripts.c: programs that are run as they are; at the end: what they do unless told.
void log_script(struct log *l, const char *line);
void log_conclude_script(struct log *l);
// trainer.c: rates in words; taken where no line has any.
void log_prose(struct log *l, const char *line);
void log_take_prose(struct log *l);
void log_memory(struct log *l, const char *line);
// failed.c: a report of having run out of it; what a line that speaks of it says of when.
void log_failed(struct log *l, const char *line);
void log_phase_in_words(struct log *l, const char *line);
void log_names(struct log *l, const char *line);
void log_gpu_of_program(struct log *l, const char *text); // names.c: what the program says it is
void log_models(struct log *l, const char *line);
void log_model_of_heading(struct log *l); // models.c: of the section of the run that is meant
// models.c: of its table's cell, "Qwen3-8B", "70B" of the family that the page named before.
void log_model_of_cell(struct log *l, const char *cell, int length);
void log_date(struct log *l, const char *line);
void log_words(struct log *l, const char *line);
void log_besides(struct log *l, const char *line); // scripts.c
void log_shorts(struct log *l, const char *line);  // shorts.c
void log_shapes(struct log *l, const char *line);  // shapes.c
void log_size(struct log *l, const char *line);    // the same
void log_forget(struct log *l, const char *key);   // told.c: what is known by this key
void log_counts(struct log *l, const char *line);  // cards.c
// chinese.c: whether the line counts cards; whether it says that memory was lacking; GB of a card.
bool log_chinese_counts(struct log *l, const char *line);
bool log_chinese_failure(const char *line);
int log_chinese_card_gb(const char *line);
// table.c; at the end: of "". Whether it is a row of another run than the one that is asked for.
bool log_table(struct log *l, const char *line);
bool names_gpu(const char *text);  // begins with the name of one
bool names_card(const char *text); // the same, or "3090": with digits first
// parts.c: whether a line begins another run; what it tells and measures otherwise than those
// before; how many runs the text has; the one that is asked for, -1: there is none.
void log_part_begins(struct log *l, const char *line);
void log_part_tells(struct log *l, enum told what, const struct told_value *was, const char *text);
void log_part_measures(struct log *l, const struct log_series *s, int64_t step);
int log_part_count(const struct log *l);
int log_part_of(const struct log_parts *p, int count, const char *run);
void log_heading_tells(struct log *l);
const char *first_precision(const char *text, size_t length); // that it names; NULL: none
// What follows from other values.
void log_conclude(struct log *l);
void log_conclude_adapters(struct log *l); // adapted.c: TOLD_ADAPTED
void log_conclude_month(struct log *l);    // names.c: TOLD_VERSION
void log_conclude_states(struct log *l);   // the same: TOLD_STATE_BYTES

// Whether a text begins with one of the words, of which NULL is the last, in any case of letters.
static inline bool begins_with_one(const char *s, const char *const *words)
{
    while (*words && strncasecmp(s, *words, strlen(*words)) != 0) words++;
    return *words != NULL;
}

static inline bool has_digit(const char *line) { return line[strcspn(line, "0123456789")] != '\0'; }

static inline bool at_border(const char *line, const char *s)
{
    return s == line || !isalnum((unsigned char)s[-1]);
}

// The number after `before` in the line (blanks and colons between are skipped); *after: behind it.
// false: there is none. Digits may be grouped by commas.
bool number_after(const char *line, const char *before, double *value, const char **after);
bool number_at(const char *at, double *value, const char **after);
