(* What is extracted, file by file, under names that no module of Rocq's library hides. *)
include Verified.Schedule
include Verified.Document
include Verified.Mixture
include Verified.Automaton
include Verified.Boxes
include Verified.Ranks
include Verified.Tree
include Verified.Referee
include Verified.Reach
