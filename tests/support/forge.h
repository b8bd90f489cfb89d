// Documents as trees that tests change, for certificates that must be refused.
#pragma once

#include <cjson/cJSON.h>

cJSON *get(const cJSON *object, const char *key);
double get_number(const cJSON *object, const char *key);
void set(cJSON *object, const char *key, cJSON *value);
void set_number(cJSON *object, const char *key, double value);
void set_text(cJSON *object, const char *key, const char *value);
void drop(cJSON *object, const char *key);
