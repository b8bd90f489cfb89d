(* Passes in the layout that stands for a group (docs/PROOFS.md 8.17, H1): what ZeRO moves beside a
   layer's kernels makes no pass faster, nor does recomputing (FORMULAS 3, 7). Numbers are fractions. *)
Require Import ZArith QArith Qround Qminmax Lqa.
Open Scope Q_scope.

(* Nanoseconds, halves up. *)
Definition rounded (q : Q) : Z := Qfloor (q + (1 # 2)).
Lemma rounded_keeps p q : p <= q -> (rounded p <= rounded q)%Z.
Proof. intros H. apply Qfloor_resp_le. lra. Qed.
(* A pass, joined with what is gathered or scattered: after it, or beside it, where the shorter of the
   two slows the longer down. *)
Definition joined (beside : bool) slowdown pass gather := if beside then Qmax pass gather + slowdown * Qmin pass gather else pass + gather.
Lemma joined_least beside slowdown pass gather : 0 <= slowdown -> 0 <= pass -> 0 <= gather -> pass <= joined beside slowdown pass gather.
Proof.
  intros Hs Hp Hg. unfold joined. destruct beside; [|lra]. pose proof (Q.le_max_l pass gather). assert (0 <= Qmin pass gather) by (apply Q.min_glb; assumption).
  assert (0 <= slowdown * Qmin pass gather) by (apply Qmult_le_0_compat; assumption). lra.
Qed.
Lemma joined_none beside slowdown pass : 0 <= pass -> joined beside slowdown pass 0 == pass.
Proof. intros H. unfold joined. destruct beside; [|lra]. rewrite (Q.max_l pass 0), (Q.min_r pass 0) by assumption. lra. Qed.
(* THEOREM H1, below ZeRO 3: the layout that stands for the group gathers and scatters nothing. *)
Theorem no_faster beside beside' slowdown pass gather : 0 <= slowdown -> 0 <= pass -> 0 <= gather ->
  (rounded (joined beside slowdown pass 0) <= rounded (joined beside' slowdown pass gather))%Z.
Proof. intros Hs Hp Hg. apply rounded_keeps. rewrite joined_none by assumption. apply joined_least; assumption. Qed.
(* THEOREM H1, a layer: forward, backward and, where it is split off, the weight gradient, each rounded
   by itself; in whatever mode a setting puts the backward, what that adds is not below 0. *)
Theorem layer_no_faster slowdown f b w gf gb gw again o o' : 0 <= slowdown -> 0 <= f -> 0 <= b -> 0 <= w -> 0 <= gf -> 0 <= gb -> 0 <= gw -> (0 <= again)%Z ->
  (rounded (joined o slowdown f 0) + rounded (joined o slowdown b 0) + rounded (joined o slowdown w 0)
   <= rounded (joined o' slowdown f gf) + (rounded (joined o' slowdown b gb) + again) + rounded (joined o' slowdown w gw))%Z.
Proof.
  intros. pose proof (no_faster o o' slowdown f gf). pose proof (no_faster o o' slowdown b gb). pose proof (no_faster o o' slowdown w gw).
  repeat match goal with X : ?a -> ?b -> ?c -> (_ <= _)%Z |- _ => specialize (X ltac:(assumption) ltac:(assumption) ltac:(assumption)) end.
  repeat match goal with |- context [rounded ?e] => generalize dependent (rounded e); intros end. Lia.lia.
Qed.
Definition theorems := (no_faster, layer_no_faster).
