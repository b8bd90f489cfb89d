// The reader of VIPR: what the format allows is accepted, and every known kind of false proof,
// including those that the format's own checker accepts, is refused with its reason. Random damage
// to true proofs never makes a false one pass.
#include "data/base/status.h"
#include "tests/support/vipr/vipr.h"
#include "tests/support/random_priced.h"
#include "tests/support/vipr/brute.h"
#include "tests/support/check.h"

// Two processors, tasks of length 3 and 2: T, a, b; the least makespan is 3.
#define TWO_OF(integers)                                                                           \
    "VER 1.0\nVAR 3\nT a b\nINT " integers                                                         \
    "\nOBJ min\n1 0 1\nCON 6 4\nla G 0 1 1 1\nua L 1 1 1 1\nlb G 0 1 2 1\nub L 1 1 2 1\n"          \
    "m1 G 0 3 0 1 1 -3 2 -2\nm2 G 5 3 0 1 1 3 2 2\n"
#define TWO_HEAD TWO_OF("2\n1 2")
#define TWO_SOL "SOL 1\nbest 2 0 3 1 1\n"
#define TWO_DER                                                                                    \
    "DER 5\nl L 0 1 1 1 { asm } -1\nr G 1 1 1 1 { asm } -1\nL G 3 OBJ { lin 3 5 1 6 -3 3 -2 } "    \
    "-1\n"                                                                                         \
    "R G 3 OBJ { lin 3 4 1 7 3 2 2 } -1\nroot G 3 OBJ { uns 8 6 9 7 } -1\n"
#define TWO TWO_HEAD "RTP range 3 3\n" TWO_SOL TWO_DER

// One integer variable between fractions: 3/4 <= x <= 5/4, so x = 1.
#define ONE_HEAD(objective)                                                                        \
    "VER 1.0\nVAR 1\nx\nINT 1\n0\nOBJ min\n" objective "\nCON 2 2\nlo G 3/4 1 0 1\nup L 5/4 1 0 "  \
    "1\n"
// A continuous one: y >= 1/2.
#define FREE_HEAD "VER 1.0\nVAR 1\ny\nINT 0\nOBJ min\n1 0 1\nCON 1 1\nlo G 1/2 1 0 1\n"

static const char *const accepted[] = {
    TWO,
    TWO_OF("3\n0 1 2") "RTP range 3 3\n" TWO_SOL TWO_DER, // so that trying points can judge it
    "% a comment\n%without a blank\n" TWO,
    // the format's own example, with fractions, and decimals, which the specification allows
    "VER 1.1\nVAR 2\nx y\nINT 2\n0 1\nOBJ min\n2 0 1 1 1\nCON 2 0\nC1 G 1 2 0 4 1 1\nC2 L 2 2 0 4 "
    "1 -1\nRTP range 1 1\nSOL 2\nfeas 2 0 1 1 2\nopt 1 1 1\n"
    "DER 4\nC3 G -0.5 1 1 1 { lin 2 0 1/2 1 -0.5 } 3\nC4 G 0 1 1 1 { rnd 1 2 1 } 4\nC5 G 1/4 OBJ { "
    "lin 2 0 1/4 3 3/4 } 5\nC6 G 1 OBJ { rnd 1 4 1 } 0\n",
    ONE_HEAD("1 0 1") "RTP range 1 1\nSOL 1\np 1 0 1\nDER 1\nd G 1 1 0 1 { rnd 1 0 1 } -1\n",
    // nothing claimed but that there is a solution
    ONE_HEAD("1 0 1") "RTP range -inf 5\nSOL 1\np 1 0 1\nDER 0\n",
    // the disjunction's sides in the other order; a bound by assuming better than the solution
    ONE_HEAD("1 0 1") "RTP range 1 1\nSOL 1\np 1 0 1\nDER 4\nl L 0 1 0 1 { asm } -1\nr G 1 1 0 1 { "
                      "asm } -1\na G 1 0 { lin 2 0 4 2 -4 } -1\ne G 1 1 0 1 { uns 3 3 4 2 } -1\n",
    ONE_HEAD("1 0 1") "RTP range 1 1\nSOL 1\np 1 0 1\nDER 2\nc L 0 OBJ { sol } -1\nd G 1 0 { lin 2 "
                      "0 4/3 2 -4/3 } -1\n",
    // a maximum
    "VER 1.0\nVAR 1\nx\nINT 1\n0\nOBJ max\n1 0 2\nCON 1 1\nup L 7/2 1 0 2\nRTP range 2 2\nSOL 1\np "
    "1 0 1\nDER 2\nd L 1 1 0 1 { rnd 1 0 1/2 } -1\ne L 2 OBJ { lin 1 1 2 } -1\n",
    // no solution: 2x = 1
    "VER 1.0\nVAR 1\nx\nINT 1\n0\nOBJ min\n0\nCON 1 0\nc E 1 1 0 2\nRTP infeas\nSOL 0\nDER 5\nl L "
    "0 1 0 1 { asm } -1\nr G 1 1 0 1 { asm } -1\n"
    "a G 1 0 { lin 2 0 1 1 -2 } -1\nb L -1 0 { lin 2 0 1 2 -2 } -1\nu G 1 0 { uns 3 1 4 2 } -1\n",
};

// What an accepted file is reported to prove: no more than it does, and no less if there is no
// solution at all.
#define NONE_HEAD(best)                                                                            \
    "VER 1.0\nVAR 1\nx\nINT 0\nOBJ " best "\n1 0 1\nCON 2 0\nb G 2 1 0 1\nd L 1 1 0 1\n"
static const struct {
    const char *words, *text;
} said[] = {
    {"the minimum of the objective is at least 3 and at most 3", TWO},
    {"the minimum of the objective is at least 3", TWO_HEAD "RTP range 3 inf\n" TWO_SOL TWO_DER},
    {"no solution has an objective below 3; that there is a solution is not said",
     TWO_HEAD "RTP range 3 inf\nSOL 0\n" TWO_DER},
    {"there is a solution with an objective of 5 or less",
     ONE_HEAD("1 0 1") "RTP range -inf 5\nSOL 1\np 1 0 1\nDER 0\n"},
    {"there is a solution with an objective of 1 or more",
     "VER 1.0\nVAR 1\nx\nINT 0\nOBJ max\n1 0 1\nCON 1 1\nup L 7/2 1 0 2\n"
     "RTP range 1 inf\nSOL 1\np 1 0 1\nDER 0\n"},
    {"no solution has an objective above 2; that there is a solution is not said",
     "VER 1.0\nVAR 1\nx\nINT 0\nOBJ max\n1 0 1\nCON 1 1\n"
     "up L 7/2 1 0 2\nRTP range -inf 2\nSOL 0\nDER 1\nd L 2 OBJ { lin 1 0 1/2 } -1\n"},
    // a range where there is no solution at all: the last row an absurdity, or what follows from
    // one
    {"the program has no solution",
     NONE_HEAD("min") "RTP infeas\nSOL 0\nDER 1\nz G 1 0 { lin 2 0 1 1 -1 } -1\n"},
    {"the program has no solution",
     NONE_HEAD("min") "RTP range 99 inf\nSOL 0\nDER 1\nz G 1 0 { lin 2 0 1 1 -1 } -1\n"},
    {"the program has no solution",
     NONE_HEAD("min") "RTP range 99 inf\nSOL 0\nDER 1\nz G 99 OBJ { lin 2 0 1 1 -1 } -1\n"},
    {"the program has no solution",
     NONE_HEAD("max") "RTP range -inf -7\nSOL 0\nDER 1\nz L -7 OBJ { lin 2 0 1 1 -1 } -1\n"},
    // nothing better than a solution: an absurdity that rests on the cut-off
    {"the minimum of the objective is at least 1 and at most 1",
     ONE_HEAD("1 0 1") "RTP range 1 1\nSOL 1\np 1 0 1\nDER 2\nc L 0 OBJ { sol } -1\nd G 1 0 { lin "
                       "2 0 4/3 2 -4/3 } -1\n"},
};

static const struct {
    const char *why, *text;
} refused[] = {
    {"claims nothing", NONE_HEAD("min") "RTP range -inf inf\nSOL 0\nDER 0\n"},
    {"claims nothing", TWO_HEAD "RTP range -inf inf\n" TWO_SOL TWO_DER},
    // the known defects of viprchk, each as a false claim that it accepts or stumbles over
    {"SOL 0: breaks constraint 5", TWO_HEAD "RTP range -inf 1\nSOL 1\nbad 1 0 1\nDER 0\n"},
    {"continuous", FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 1 { rnd 1 0 1 } -1\n"},
    {"not there yet",
     FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 1 { lin 1 1000000 1 } -1\n"},
    {"not there yet", FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 1 { lin 1 1 1 } -1\n"},
    {"not there yet", FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 1 { lin 1 -1 1 } -1\n"},
    {"leaves something between",
     ONE_HEAD("0") "RTP infeas\nSOL 0\nDER 5\nl L 1/2 1 0 1 { asm } -1\nr G 3/2 1 0 1 { asm } -1\n"
                   "a G 1 0 { lin 2 0 4 2 -4 } -1\nb G 1 0 { lin 2 1 -4 3 4 } -1\nu G 1 0 { uns 4 "
                   "2 5 3 } -1\n"},
    {"is no assumption",
     ONE_HEAD("0") "RTP infeas\nSOL 0\nDER 4\nl L 1 1 0 1 { rnd 1 1 1 } -1\nr G 2 1 0 1 { asm } "
                   "-1\na G 1 0 { lin 2 1 -2 3 2 } -1\nu G 1 0 { uns 4 2 4 3 } -1\n"},
    // the second half's other assumptions are forgotten there
    {"rests on assumption 4", ONE_HEAD("0") "RTP infeas\nSOL 0\nDER 6\nl L 0 1 0 1 { asm } -1\nr G "
                                            "1 1 0 1 { asm } -1\nx G 2 1 0 1 { asm } -1\n"
                                            "a G 1 0 { lin 2 0 4 2 -4 } -1\nb G 1 0 { lin 3 1 -4 4 "
                                            "3 3 1 } -1\nu G 1 0 { uns 5 2 6 3 } -1\n"},
    {"outside of the range", ONE_HEAD("1 0 1") "RTP range 5 5\nSOL 1\np 1 0 1\nDER 2\nc L 0 OBJ { "
                                               "sol } -1\nd G 1 0 { lin 2 0 4/3 2 -4/3 } -1\n"},
    {"nothing is derived", ONE_HEAD("0") "RTP infeas\nSOL 0\nDER 0\n"},
    {"nothing is derived", ONE_HEAD("1 0 1") "RTP range 2 inf\nSOL 1\np 1 0 1\nDER 0\n"},
    {"no solution, and RTP says",
     ONE_HEAD("1 0 1") "RTP range 1 1\nSOL 0\nDER 1\nd G 1 1 0 1 { rnd 1 0 1 } -1\n"},
    {"how many terms, found 'OBJ'",
     ONE_HEAD("1 0 1") "RTP range 2 inf\nSOL 2\np OBJ\nq 1 0 1\nDER 0\n"},
    {"no solution is as good", TWO_HEAD "RTP range 3 3\nSOL 1\nbest 3 0 5 1 1 2 1\n" TWO_DER},
    // solutions and claims
    {"not whole", ONE_HEAD("1 0 1") "RTP range -inf 1\nSOL 1\np 1 0 3/4\nDER 0\n"},
    {"a solution of what is said to have none",
     ONE_HEAD("0") "RTP infeas\nSOL 1\np 1 0 1\nDER 0\n"},
    {"the range is empty", TWO_HEAD "RTP range 4 3\n" TWO_SOL TWO_DER},
    {"does not prove the range", TWO_HEAD "RTP range 4 5\nSOL 1\np 3 0 5 1 1 2 1\n" TWO_DER},
    {"no absurdity", TWO_HEAD "RTP infeas\nSOL 0\n" TWO_DER},
    {"rests on assumption 6",
     TWO_HEAD "RTP range 3 3\n" TWO_SOL
              "DER 2\nl L 0 1 1 1 { asm } -1\nL G 3 OBJ { lin 3 5 1 6 -3 3 -2 } -1\n"},
    {"no solution to be better",
     ONE_HEAD("1 0 1") "RTP range 1 inf\nSOL 0\nDER 1\nc L 0 OBJ { sol } -1\n"},
    {"no solution is so good",
     ONE_HEAD("1 0 1") "RTP range 1 1\nSOL 1\np 1 0 1\nDER 1\nc L -1 OBJ { sol } -1\n"},
    {"nothing of the objective",
     ONE_HEAD("1 0 1") "RTP range 1 1\nSOL 1\np 1 0 1\nDER 1\nc L 2 1 0 2 { sol } -1\n"},
    {"nothing of the objective",
     ONE_HEAD("1 0 1") "RTP range 1 1\nSOL 1\np 1 0 1\nDER 1\nc G 1 OBJ { sol } -1\n"},
    // combinations
    {"wrong sign", TWO_HEAD "RTP range 3 3\n" TWO_SOL "DER 1\nd G 3 OBJ { lin 2 5 1 3 2 } -1\n"},
    {"does not follow",
     TWO_HEAD "RTP range 3 3\n" TWO_SOL "DER 1\nd G 3 OBJ { lin 2 5 1 3 -2 } -1\n"},
    {"does not follow", FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 1 { lin 1 0 1 } -1\n"},
    {"does not follow",
     FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd E 1/2 1 0 1 { lin 1 0 1 } -1\n"},
    {"does not follow",
     FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd L 1/2 1 0 1 { lin 1 0 1 } -1\n"},
    {"does not follow", FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 0 { lin 0 } -1\n"},
    {"twice",
     ONE_HEAD("1 0 1") "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 2 { lin 2 0 1 0 1 } -1\n"},
    {"that is not whole",
     ONE_HEAD("1 0 1") "RTP range 2 inf\nSOL 0\nDER 1\nd G 1 1 0 3/2 { rnd 1 0 3/2 } -1\n"},
    {"rounds an equation", "VER 1.0\nVAR 1\nx\nINT 1\n0\nOBJ min\n1 0 1\nCON 1 0\nc E 1/2 1 0 "
                           "1\nRTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 1 { rnd 1 0 1 } -1\n"},
    {"let go",
     TWO_HEAD "RTP range 3 3\n" TWO_SOL "DER 3\nl G 0 1 1 1 { lin 1 0 1 } 7\nm G 0 1 1 1 { lin 1 6 "
              "1 } -1\nn G 0 1 1 1 { lin 1 6 1 } -1\n"},
    // disjunctions
    {"leaves something between", TWO_HEAD
     "RTP range 3 3\n" TWO_SOL
     "DER 5\nl L 0 1 1 1 { asm } -1\nr G 2 1 1 1 { asm } -1\nL G 3 OBJ { lin 3 5 1 6 -3 3 -2 } -1\n"
     "R G 3 OBJ { lin 3 4 1 7 3 2 2 } -1\nroot G 3 OBJ { uns 8 6 9 7 } -1\n"},
    {"do not go together", TWO_HEAD
     "RTP range 3 3\n" TWO_SOL
     "DER 4\nl L 0 1 1 1 { asm } -1\nr G 1 1 2 1 { asm } -1\nL G 3 OBJ { lin 3 5 1 6 -3 3 -2 } -1\n"
     "root G 3 OBJ { uns 8 6 8 7 } -1\n"},
    {"do not go together",
     TWO_HEAD "RTP range 3 3\n" TWO_SOL "DER 3\nl L 0 1 1 1 { asm } -1\nL G 3 OBJ { lin 3 5 1 6 -3 "
              "3 -2 } -1\nroot G 3 OBJ { uns 7 6 7 6 } -1\n"},
    {"not one of whole numbers",
     "VER 1.0\nVAR 1\ny\nINT 0\nOBJ min\n1 0 1\nCON 2 2\nlo G 1/4 1 0 1\nup L 3/4 1 0 1\nRTP "
     "infeas\nSOL 0\nDER 5\nl L 0 1 0 1 { asm } -1\n"
     "r G 1 1 0 1 { asm } -1\na G 1 0 { lin 2 0 4 2 -4 } -1\nb G 1 0 { lin 2 1 -4 3 4 } -1\nu G 1 "
     "0 { uns 4 2 5 3 } -1\n"},
    {"not one of whole numbers",
     "VER 1.0\nVAR 1\nx\nINT 1\n0\nOBJ min\n1 0 1\nCON 2 2\nlo G 1 1 0 1\nup L 1 1 0 1\nRTP "
     "infeas\nSOL 0\nDER 5\nl L 0 1 0 1/2 { asm } -1\n"
     "r G 1 1 0 1/2 { asm } -1\na G 1 0 { lin 2 0 1 2 -2 } -1\nb G 1 0 { lin 2 1 -1 3 2 } -1\nu G "
     "1 0 { uns 4 2 5 3 } -1\n"},
    {"does not follow from row 9", TWO_HEAD
     "RTP range 3 3\n" TWO_SOL
     "DER 5\nl L 0 1 1 1 { asm } -1\nr G 1 1 1 1 { asm } -1\nL G 3 OBJ { lin 3 5 1 6 -3 3 -2 } -1\n"
     "R G 2 OBJ { lin 3 4 1 7 3 2 2 } -1\nroot G 3 OBJ { uns 8 6 9 7 } -1\n"},
    {"not there yet",
     TWO_HEAD "RTP range 3 3\n" TWO_SOL "DER 1\nroot G 3 OBJ { uns 6 6 6 6 } -1\n"},
};

static const struct {
    const char *why, *text;
} malformed[] = {
    {"ends too early", ""},
    {"expected VER", "VAR 1"},
    {"expected 1.0 or 1.1", "VER 2.0\nVAR 0"},
    {"VAR", "VER 1.0\nVAR 999999999\nx"},
    {"VAR", "VER 1.0\nVAR -1\nx"},
    {"INT", "VER 1.0\nVAR 1\nx\nINT 2\n0 0"},
    {"stands twice", "VER 1.0\nVAR 2\nx y\nINT 2\n0 0"},
    {"INT: expected 0 to 0", "VER 1.0\nVAR 1\nx\nINT 1\n1"},
    {"min or max", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ least\n0"},
    {"stands twice", "VER 1.0\nVAR 2\nx y\nINT 0\nOBJ min\n2 0 1 0 1\nCON 0 0"},
    {"variable: expected", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n1 1 1\nCON 0 0"},
    {"more than variables", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n2 0 1 1 1\nCON 0 0"},
    {"a number", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n1 0 1e5\nCON 0 0 RTP"},
    {"a number", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n1 0 +1\nCON 0 0 RTP"},
    {"a number", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n1 0 1/-2\nCON 0 0 RTP"},
    {"a number", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n1 0 1/2/3\nCON 0 0 RTP"},
    {"a number", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n1 0 -\nCON 0 0 RTP"},
    {"a number", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n1 0 1.\nCON 0 0 RTP"},
    {"denominator 0", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n1 0 1/00\nCON 0 0 RTP"},
    {"CON", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n0\nCON 2000000000 0"},
    {"counts as a bound", "VER 1.0\nVAR 2\nx y\nINT 0\nOBJ min\n0\nCON 1 1\nb G 0 2 0 1 1 1\nRTP"},
    {"E, L or G", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n0\nCON 1 1\nb > 0 1 0 1\nRTP"},
    {"infeas or range", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n0\nCON 0 0\nRTP maybe\nSOL 0\nDER 0"},
    {"a number", "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n0\nCON 0 0\nRTP range inf inf\nSOL 0\nDER 0"},
    {"expected {", FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 1 asm } -1\n"},
    {"asm, lin", FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 1 { just } -1\n"},
    {"not complete",
     FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 1 { lin weak { 0 } 1 0 1 } -1\n"},
    {"not complete",
     FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 1 { lin incomplete 0 } -1\n"},
    {"multipliers", FREE_HEAD "RTP range 1 inf\nSOL 0\nDER 1\nd G 1 1 0 1 { lin 2 0 1 } -1\n"},
    {"expected }", FREE_HEAD "RTP range 1/2 inf\nSOL 0\nDER 1\nd G 1/2 1 0 1 { lin 1 0 1 -1\n"},
    {"last use", FREE_HEAD "RTP range 1/2 inf\nSOL 0\nDER 1\nd G 1/2 1 0 1 { lin 1 0 1 } 7\n"},
    {"behind the last row",
     FREE_HEAD "RTP range 1/2 inf\nSOL 0\nDER 1\nd G 1/2 1 0 1 { lin 1 0 1 } -1\nmore\n"},
    {"DER: expected 0 to",
     FREE_HEAD "RTP range 1/2 inf\nSOL 0\nDER 100\nd G 1/2 1 0 1 { lin 1 0 1 } -1\n"},
    {"control character", "VER 1.0\nVAR 1\nx\001y\nINT 0"},
};

static enum status audit(struct check_vipr_result *r, const char *text, size_t size)
{
    struct check_text file = {"proof.vipr", text, size};
    own_err = (struct error){OK, ""};
    return check_vipr(r, &file, 100000000, &own_arena, &own_err);
}

TEST(test_accepted)
{
    for (size_t i = 0; i < ARRAY_LENGTH(accepted); i++) {
        struct check_vipr_result r;
        struct check_text file = {"proof.vipr", accepted[i], strlen(accepted[i])};
        if (audit(&r, accepted[i], strlen(accepted[i])) != OK)
            fail_msg("proof %zu: %s", i, own_err.text);
        if (!r.accepted) fail_msg("proof %zu: %s", i, r.reason);
        assert_null(vipr_contradiction(&file, r.infeasible, &own_arena));
    }
    struct check_vipr_result r;
    assert_int_equal(audit(&r, TWO, strlen(TWO)), OK);
    assert_string_equal(r.lower, "3");
    assert_string_equal(r.upper, "3");
    assert_true(r.variables == 3 && r.integers == 2 && r.constraints == 6 && r.solutions == 1 &&
                r.derivations == 5 && r.disjunctions == 1 && r.assumptions == 2);
}

TEST(test_words)
{
    for (size_t i = 0; i < ARRAY_LENGTH(said); i++) {
        struct check_vipr_result r;
        if (audit(&r, said[i].text, strlen(said[i].text)) != OK)
            fail_msg("proof %zu: %s", i, own_err.text);
        if (!r.accepted) fail_msg("proof %zu: %s", i, r.reason);
        assert_string_equal(check_vipr_words(&r, &own_arena), said[i].words);
    }
}

TEST(test_refused)
{
    for (size_t i = 0; i < ARRAY_LENGTH(refused); i++) {
        struct check_vipr_result r;
        if (audit(&r, refused[i].text, strlen(refused[i].text)) != OK) {
            if (strncmp(refused[i].why, "how many", 8))
                fail_msg("forgery %zu (%s): %s", i, refused[i].why, own_err.text);
            assert_non_null(strstr(own_err.text, refused[i].why));
            continue;
        }
        if (r.accepted) fail_msg("forgery %zu (%s): accepted", i, refused[i].why);
        if (!strstr(r.reason, refused[i].why))
            fail_msg("forgery %zu: expected '%s', found: %s", i, refused[i].why, r.reason);
    }
}

TEST(test_malformed)
{
    for (size_t i = 0; i < ARRAY_LENGTH(malformed); i++) {
        struct check_vipr_result r;
        if (audit(&r, malformed[i].text, strlen(malformed[i].text)) != BAD_INPUT)
            fail_msg("damage %zu (%s): accepted", i, malformed[i].why);
        if (!strstr(own_err.text, malformed[i].why))
            fail_msg("damage %zu: expected '%s', found: %s", i, malformed[i].why, own_err.text);
        if (strncmp(own_err.text, "proof.vipr: line ", 17) || strchr(own_err.text, '\n'))
            fail_msg("damage %zu: %s", i, own_err.text);
    }
}

// The work is counted, and numbers are bounded.
TEST(test_limits)
{
    struct check_vipr_result r;
    struct check_text file = {"proof.vipr", TWO, strlen(TWO)};
    MUST(check_vipr(&r, &file, 100, &own_arena, &own_err));
    assert_false(r.accepted);
    assert_non_null(strstr(r.reason, "work limit"));
    char *digits = TAKE(&own_arena, 30000, char);
    memset(digits, '7', 25000);
    const char *text =
        arena_print(&own_arena, "VER 1.0\nVAR 1\nx\nINT 0\nOBJ min\n1 0 %s\nCON 0 0\n", digits);
    assert_int_equal(audit(&r, text, strlen(text)), BAD_INPUT);
    assert_non_null(strstr(own_err.text, "20000 digits"));
    // Squares of squares: 2^(2^n) passes any room.
    text = "VER 1.0\nVAR 1\nx\nINT 1\n0\nOBJ min\n1 0 1\nCON 1 1\nb G 1 1 0 1\nRTP range 1 "
           "inf\nSOL 0\nDER 20\n";
    digits[19000] = '\0';
    for (int i = 0; i < 20; i++)
        text = arena_print(&own_arena, "%sd%d G 1 1 0 1 { lin 1 %d %s } -1\n", text, i, i ? i : 0,
                           digits);
    assert_int_equal(audit(&r, text, strlen(text)), OK);
    assert_false(r.accepted);
}

// Tokens changed, dropped, doubled, bytes flipped: what is accepted is still true.
static const char *damage(const char *text, uint64_t *state)
{
    static const char *const words[] = {"0", "1", "-1", "2",   "3",   "1/2",  "-3",  "6",
                                        "7", "8", "9",  "asm", "lin", "rnd",  "uns", "sol",
                                        "G", "L", "E",  "OBJ", "inf", "-inf", "5"};
    size_t size = strlen(text);
    char *copy = TAKE(&own_arena, 2 * size + 64, char);
    memcpy(copy, text, size);
    int times = 1 + (int)random_less(state, 4);
    for (int i = 0; i < times; i++) {
        size = strlen(copy);
        size_t at = (size_t)random_less(state, (int64_t)size), end = at;
        while (at > 0 && !strchr(" \n", copy[at - 1])) at--;
        while (end < size && !strchr(" \n", copy[end])) end++;
        const char *word = words[random_less(state, (int64_t)ARRAY_LENGTH(words))];
        int kind = (int)random_less(state, 5);
        if (kind == 0) copy[at] = (char)(32 + random_less(state, 96));
        else if (kind == 1) memmove(copy + at, copy + end, size - end + 1);
        else if (size + strlen(word) < 2 * strlen(text) + 60) {
            memmove(copy + at + strlen(word), copy + end, size - end + 1);
            memcpy(copy + at, word, strlen(word));
        }
    }
    return copy;
}

TEST(test_mutations)
{
    uint64_t random = 77;
    int count = 0, again = 0;
    struct arena_mark mark = arena_set_mark(&own_arena);
    for (int i = 0; i < 40000; i++, arena_reset(&own_arena, mark)) {
        struct check_vipr_result r;
        const char *text =
            damage(accepted[random_less(&random, (int64_t)ARRAY_LENGTH(accepted))], &random);
        struct check_text file = {"proof.vipr", text, strlen(text)};
        if (audit(&r, text, strlen(text)) == OK && r.accepted) {
            const char *why = vipr_contradiction(&file, r.infeasible, &own_arena);
            if (why) fail_msg("accepted, and there is %s:\n%s", why, text);
            count++;
        } else again++;
    }
    print_message("%d of %d damaged proofs accepted, and true as far as trying shows\n", count,
                  count + again);
    assert_true(count > 100);
}
