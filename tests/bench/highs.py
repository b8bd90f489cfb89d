#!/usr/bin/env python3
# One HiGHS run for bench-separate: highs.py program.mps answer.txt seconds gap. One thread,
# relative gap.
import sys

import highspy

program, answer, seconds, gap = sys.argv[1:5]
highs = highspy.Highs()
highs.setOptionValue("output_flag", False)
highs.setOptionValue("threads", 1)
highs.setOptionValue("time_limit", float(seconds))
highs.setOptionValue("mip_rel_gap", float(gap))
highs.readModel(program)
highs.run()
info = highs.getInfo()
with open(answer, "w") as out:
    if abs(info.mip_dual_bound) < 1e20:
        out.write(f"bound {info.mip_dual_bound:.17g}\n")
    if info.primal_solution_status == 2:
        lp = highs.getLp()
        for name, value in zip(lp.col_names_, highs.getSolution().col_value):
            if value:
                out.write(f"{name} {value:.17g}\n")
