// Compression options as the priced document and the plan both write them.
#ifndef PLUMBLINE_DATA_PRICED_PARTS_H
#define PLUMBLINE_DATA_PRICED_PARTS_H

#include "data/priced.h"

void priced_boundary_options_put(struct json_writer *w, const char *key, const struct priced_boundary_option *options, int count);
void priced_gradient_options_put(struct json_writer *w, const char *key, const struct priced_gradient_option *options, int count);
enum status priced_boundary_options_get(const struct json *array, struct priced_boundary_option **options, int *count, struct arena *arena, struct error *err);
enum status priced_gradient_options_get(const struct json *array, struct priced_gradient_option **options, int *count, struct arena *arena, struct error *err);

#endif
