(* The theorems about bounds of layouts and about spaces (docs/PROOFS.md 8), and what all of them rest on
   together, so each of them: nothing. *)
From Plumbline Require Streams Bounds Turns Blocks Early Strays Filling Layers Settings Room Dominance Space Prices.
Definition theorems := (Streams.theorems, Bounds.theorems, @Turns.turning_many, @Blocks.blocked, @Early.early, @Strays.strays_recompute,
  Filling.theorems, Layers.theorems, @Settings.one_setting, Room.theorems, @Dominance.dominated, Space.theorems, Prices.theorems).
Print Assumptions theorems.
