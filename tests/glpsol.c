// What glpsol does with a program in free MPS, by GLPK's own reader and its default tolerances, for
// machines without glpsol: tests/glpsol PROGRAM.mps SOLUTION (as glpsol -w writes it).
#include <glpk.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 3) return fprintf(stderr, "usage: glpsol PROGRAM.mps SOLUTION\n"), 2;
    glp_term_out(GLP_OFF);
    glp_prob *p = glp_create_prob();
    glp_iocp control;
    glp_init_iocp(&control);
    control.presolve = GLP_ON;
    int failed = glp_read_mps(p, GLP_MPS_FILE, NULL, argv[1]) || glp_intopt(p, &control) ||
                 glp_write_mip(p, argv[2]);
    glp_delete_prob(p);
    return failed != 0;
}
