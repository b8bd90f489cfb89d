(* Lemma 8.1 of docs/PROOFS.md: what the other inner ranks recompute of one slice at least. *)
Require Import ZArith List Bool Lia.
Import ListNotations.
Open Scope Z_scope.

(* Another inner rank: its layers, whether a main layer, or strays alone, must be recomputed there,
   and what it recomputes of the slice. *)
Record inner := Inner { mains : nat; strays : nat; pays : bool; pays_alone : bool; recomputes : Z }.
Section Of.
Variables a b : Z.
Hypothesis (Ha : 0 <= a) (Hb : 0 <= b).
Record obeys (r : inner) : Prop := {
  h12 : (1 <= mains r + strays r)%nat;                                            (* H1, H2: it holds a layer, and no other kind is there *)
  h3 : pays r = true -> (1 <= mains r)%nat -> a <= recomputes r;                  (* H3 *)
  h4 : pays r = true -> pays_alone r = true -> mains r = 0%nat -> b <= recomputes r; (* H4 *)
  h0 : 0 <= recomputes r }.
Definition count (p : inner -> bool) (l : list inner) := Z.of_nat (length (filter p l)).
Definition all_strays (l : list inner) := Z.of_nat (fold_right (fun r n => (strays r + n)%nat) 0%nat l).
Definition all_recompute (l : list inner) := fold_right (fun r z => recomputes r + z) 0 l.
Definition without_main r := (mains r =? 0)%nat.
Lemma count_cons p r l : count p (r :: l) = (if p r then 1 else 0) + count p l.
Proof. unfold count. cbn [filter]. destruct (p r); cbn [length]; lia. Qed.
Lemma counted l : Forall obeys l ->
  let n := count pays l in let alone := count (fun r => pays r && pays_alone r) l in let t := count (fun r => pays r && without_main r) l in
  0 <= t <= n /\ t <= all_strays l /\ alone <= n /\ (n - t) * a + Z.max 0 (t - (n - alone)) * b <= all_recompute l.
Proof.
  intros H. cbn zeta. induction H as [|r l [h12 h3 h4 h0] H IH]; [cbn; lia|]. destruct IH as (I1 & I2 & I3 & I4).
  rewrite !count_cons. cbn [all_recompute fold_right]. fold (all_recompute l).
  assert (S1 : all_strays (r :: l) = Z.of_nat (strays r) + all_strays l) by (unfold all_strays; cbn [fold_right]; lia). rewrite S1.
  set (n := count pays l) in *. set (c := count (fun r => pays r && pays_alone r) l) in *. set (t := count (fun r => pays r && without_main r) l) in *.
  unfold without_main. destruct (pays r); cbn [andb]; [|split; [lia|]; split; [lia|]; split; [lia|]; replace (0 + n - (0 + t)) with (n - t) by lia; replace (0 + t - (0 + n - (0 + c))) with (t - (n - c)) by lia; lia].
  destruct (Nat.eqb_spec (mains r) 0) as [E|E].
  - destruct (pays_alone r).
    + specialize (h4 eq_refl eq_refl E). split; [lia|]. split; [lia|]. split; [lia|]. replace (1 + n - (1 + t)) with (n - t) by lia.
      replace (1 + t - (1 + n - (1 + c))) with (t - (n - c) + 1) by lia. assert (Z.max 0 (t - (n - c) + 1) <= Z.max 0 (t - (n - c)) + 1) by lia. nia.
    + split; [lia|]. split; [lia|]. split; [lia|]. replace (1 + n - (1 + t)) with (n - t) by lia.
      replace (1 + t - (1 + n - (0 + c))) with (t - (n - c)) by lia. lia.
  - specialize (h3 eq_refl ltac:(lia)). split; [lia|]. split; [lia|]. split; [destruct (pays_alone r); lia|].
    assert (M : Z.max 0 (0 + t - (1 + n - ((if pays_alone r then 1 else 0) + c))) <= Z.max 0 (t - (n - c))) by (destruct (pays_alone r); lia).
    replace (1 + n - (0 + t)) with (n - t + 1) by lia. nia.
Qed.
(* LEMMA 8.1: n of the ranks pay for a main layer, n' of them for strays as well; at most s strays
   are on them. *)
Theorem strays_recompute l s : Forall obeys l -> all_strays l <= s ->
  let n := count pays l in let n' := count (fun r => pays r && pays_alone r) l in let t := Z.min n s in
  (n - t) * a + Z.max 0 (t - (n - n')) * Z.min a b <= all_recompute l.
Proof.
  intros H Hs. cbn zeta. destruct (counted l H) as (I1 & I2 & I3 & I4). cbn zeta in *.
  set (n := count pays l) in *. set (c := count (fun r => pays r && pays_alone r) l) in *. set (t := count (fun r => pays r && without_main r) l) in *.
  assert (L : t <= Z.min n s) by lia. etransitivity; [|exact I4].
  assert (K : Z.max 0 (Z.min n s - (n - c)) <= Z.max 0 (t - (n - c)) + (Z.min n s - t)) by lia.
  assert (M : 0 <= Z.min a b) by lia. nia.
Qed.
End Of.
