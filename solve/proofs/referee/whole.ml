(* zarith's integers, under a name that extracted code leaves alone *)
include Z
