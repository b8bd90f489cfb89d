// SIGINT and SIGTERM during measurement: what was taken so far is kept and written. A second
// signal ends the program at once.
#ifndef PLUMBLINE_MEASURE_SAMPLING_INTERRUPTS_H
#define PLUMBLINE_MEASURE_SAMPLING_INTERRUPTS_H

#include <stdbool.h>

void interrupts_listen(void); // forgets earlier ones
bool interrupts_came(void);
void interrupts_ignore(void); // while the document is written: signals wait

#endif
