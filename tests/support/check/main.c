// The program of tests that have no main() of their own.
#include "tests/support/check.h"

int main(int argc, char **argv) { return tests_run(argc, argv); }
