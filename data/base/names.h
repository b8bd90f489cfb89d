// Names in order, and the nearest known one to an unknown one.
#pragma once

#include <stdbool.h>
#include <stddef.h>

int compare_texts(const void *a, const void *b); // two const char *, ascending: for qsort

// Where a text (NULL: none) has this part, whatever the case of letters; NULL: nowhere.
const char *find_in_any_case(const char *text, const char *part);

// Whether a list of names between blanks (NULL: none) has this one; a name "section.*" is all that
// begins with "section.".
bool name_is_listed(const char *names, const char *name, size_t length);

// Whether a text has one of these parts, of which NULL is the last; in any case of letters; all of
// them.
bool has_one_of(const char *text, const char *const *parts);
bool has_one_in_any_case(const char *text, const char *const *parts);
bool has_all_of(const char *text, const char *const *parts);

// The index of the name that was probably meant; otherwise of the one with the fewest changed
// characters (inserted, left out, replaced; signs between words and case count for less, digits for
// more); -1: there is none.
int name_nearest(const char *name, const char *const *names, int count);

// The name that was probably meant: the first one that starts with these characters; otherwise the
// nearest, if at most a third of the characters are changed; -1: none.
int name_meant(const char *name, const char *const *names, int count);

// The nearest name with at most `changes` changed characters; -1: none.
int name_within(const char *name, const char *const *names, int count, int changes);

// Whether a text names this GPU, as nvidia-smi ("NVIDIA H100 80GB HBM3"), Slurm
// ("nvidia_a100-sxm4"), NCCL or a table do: one of its words is the GPU's model (up to '-' of
// "h100-80gb"; of "rtx4090-24gb" the number alone, too), and a memory size that it states ("80GB")
// is the GPU's. Cards of GPUs that are sold as modules with links of their own ("H100 PCIe",
// "H100 NVL") are other GPUs.
bool name_is_gpu(const char *text, size_t length, const char *gpu);

// The GPU nearest to one that none of the names is: the first of the same model, whatever its
// memory and its card ("NVIDIA H100 NVL": h100-80gb); otherwise as name_meant. -1: none.
int name_related_gpu(const char *text, const char *const *names, int count);
