(* The theorems about certificates of one layout, bounds of layouts and spaces (docs/PROOFS.md 8, 16), and
   what all of them rest on together, so each of them: nothing. *)
From Plumbline Require Sound Reach Streams Bounds Turns Blocks Strays Filling Layers Sums Settings Room Dominance Space Prices Swap.
Definition theorems := (@Sound.accepted_bound, @Sound.accepted_infeasible, @Reach.reached,
  Streams.theorems, Bounds.theorems, @Turns.turning_many, @Blocks.blocked, @Blocks.early, @Strays.strays_recompute,
  Filling.theorems, Layers.theorems, @Sums.turn_of_layers, @Sums.turn_of_many, @Sums.crossing_passes, @Settings.one_setting, Room.theorems, Dominance.theorems, Space.theorems, Prices.theorems, Swap.theorems).
Print Assumptions theorems.
