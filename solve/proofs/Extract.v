(* The referee as a program: naturals as machine integers (the reader keeps them small), integers
   as zarith's. *)
Require Import ZArith List.
Require Import ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt.
From Plumbline Require Import Schedule Document Mixture Automaton Boxes Ranks Tree Referee Reach.
Extract Inlined Constant Nat.eqb => "Stdlib.Int.equal".
Extract Inlined Constant Nat.leb => "(fun (n : int) m -> n <= m)".
Extract Inlined Constant Nat.ltb => "(fun (n : int) m -> n < m)".
Extract Constant Nat.sub => "fun (n : int) m -> if n < m then 0 else n - m".
Extract Constant Nat.min => "fun (n : int) m -> if n < m then n else m".
Extract Constant Nat.max => "fun (n : int) m -> if n < m then m else n".
Extract Constant Nat.div => "fun (n : int) m -> if m = 0 then 0 else n / m".
Extract Constant Nat.modulo => "fun (n : int) m -> if m = 0 then n else n mod m".
Extract Constant Nat.compare => "fun (n : int) m -> if n = m then Eq else if n < m then Lt else Gt".
Extract Inlined Constant Z.eqb => "Whole.equal".
Extract Inlined Constant Z.leb => "Whole.leq".
Extract Inlined Constant Z.ltb => "Whole.lt".
Extract Constant Z.to_nat => "(fun z -> Stdlib.max 0 (Whole.to_int z))".
Extract Constant Z.land => "Whole.logand".
Extract Constant Z.of_nat => "Big_int_Z.big_int_of_int".
Extraction "verified.ml" accept read_path stage_covered couplings rank_row many make restrict reaches all_ops in_stream in_link later waits lasts rank_count on_rank.
