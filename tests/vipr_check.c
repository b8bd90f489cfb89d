// vipr_check FILE.vipr: whether a proof in the format of VIPR holds, and what it proves.
#include "tests/support/vipr/command.h"

int main(int argc, char **argv)
{
    return command_run("plumbline tests", "vipr_check", &command_vipr_check, argc, argv);
}
