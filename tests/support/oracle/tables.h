// Lookups in a schedule's tables.
#pragma once

#include "data/schedule/schedule.h"

void build_schedule(struct schedule *s, const struct schedule_request *r,
                    struct arena *arena); // fails the test if it cannot
const struct stream *stream_of(const struct schedule *s, enum stream_kind kind,
                               int rank); // the first; NULL: none
int kind_of(const struct schedule *s, int operation);
int symbol_stage_of(const struct schedule *s, int operation);
