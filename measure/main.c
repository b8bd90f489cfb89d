#include <stdio.h>

int main(void)
{
    fprintf(stderr, "plumbline-measure: under construction\n");
    return 1;
}
