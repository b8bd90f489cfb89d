// Reads, replaces and drops members of an object, by cJSON.
#include "tests/support/forge.h"

cJSON *get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

double get_number(const cJSON *object, const char *key)
{
    return cJSON_GetNumberValue(get(object, key));
}

void set(cJSON *object, const char *key, cJSON *value)
{
    drop(object, key);
    cJSON_AddItemToObject(object, key, value);
}

void set_number(cJSON *object, const char *key, double value)
{
    set(object, key, cJSON_CreateNumber(value));
}

void set_text(cJSON *object, const char *key, const char *value)
{
    set(object, key, cJSON_CreateString(value));
}

void drop(cJSON *object, const char *key) { cJSON_DeleteItemFromObjectCaseSensitive(object, key); }
