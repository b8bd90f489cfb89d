#include "solve/certificate_parts.h"
void maker_shrink(struct maker *m) { (void)m; }
