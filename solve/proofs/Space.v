(* A whole space of layouts (docs/PROOFS.md 8): what the layouts' arguments prove together, in parts as
   well; and two of them that need no path: no slots, and no room on any rank. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Document Streams.
Import ListNotations.
Open Scope Z_scope.

(* ---- the arguments of all layouts *)
Section Space.
Variable layout : Type.
Variable has : layout -> Z -> Prop.     (* a plan that takes so long *)
Variable weight : layout -> Z.          (* of its time in what plans are compared by *)
Variable cap : layout -> option Z.      (* the longest time within the limits *)
Hypothesis some_weight : forall l, 1 <= weight l.
Definition within l t := match cap l with Some c => t <= c | None => True end.
(* What a layout's plans must take at least; None: it must have none. bound None: the claim that no
   plan is within the limits. *)
Definition goal l (bound : option Z) := match bound, cap l with
  | Some b, Some c => Some (Z.min ((b + weight l - 1) / weight l) (c + 1))
  | Some b, None => Some ((b + weight l - 1) / weight l)
  | None, Some c => Some (c + 1) | None, None => None end.
Definition reaches o t := match o with Some g => g <= t | None => False end.
Definition no_less (o o' : option Z) := match o', o with None, _ => True | Some g', Some g => g <= g' | Some _, None => False end.
Inductive fate := Nothing | Enough | By (other : layout).
Variable fates : layout -> fate.
Definition holds bound l := match fates l with
  | Nothing => forall t, ~ has l t                                       (* r, m *)
  | Enough => forall t, has l t -> reaches (goal l bound) t              (* b, g, p *)
  | By o => (forall t, has l t -> exists t', t' <= t /\ has o t')        (* d *)
      /\ match fates o with Nothing => True | Enough => no_less (goal l bound) (goal o bound) /\ forall t, has o t -> reaches (goal o bound) t | By _ => False end
      /\ (fates o = Nothing -> forall t, ~ has o t) end.
Definition proven l bound := forall t, has l t -> within l t -> match bound with Some b => b <= weight l * t | None => False end.
Lemma enough l bound t : reaches (goal l bound) t -> within l t -> match bound with Some b => b <= weight l * t | None => False end.
Proof.
  unfold goal, within. pose proof (some_weight l) as W. assert (U : forall b, (b + weight l - 1) / weight l <= t -> b <= weight l * t).
  { intros b H. pose proof (Z.mul_succ_div_gt (b + weight l - 1) (weight l) ltac:(lia)) as G. nia. }
  destruct bound as [b|], (cap l) as [c|]; cbn [reaches]; intros H I; try (apply U; lia); try lia; try exact H.
Qed.
(* THEOREM: where each layout's argument holds, no plan within the limits has a lower value than the
   bound; or there is none. *)
Theorem whole bound l : holds bound l -> proven l bound.
Proof.
  unfold holds. destruct (fates l) as [| |o]; intros H t Ht Hw.
  - destruct (H t Ht).
  - apply (enough l bound t); auto.
  - destruct H as (H & K & N). destruct (H t Ht) as (t' & L & Ho). destruct (fates o) as [| |q]; [destruct (N eq_refl t' Ho)| |destruct K].
    destruct K as (K & E). specialize (E t' Ho). apply (enough l bound t); [|exact Hw]. unfold no_less, reaches in *. destruct (goal l bound) as [g|], (goal o bound) as [g'|]; try contradiction; lia.
Qed.
(* THEOREM, in parts, and of several searches: what is proven for a greater bound is for a lesser; and
   that there is none, for any. *)
Theorem joined_parts l b bound : proven l b -> match b, bound with None, _ => True | Some x, Some y => y <= x | Some _, None => False end -> proven l bound.
Proof. intros H L t Ht Hw. specialize (H t Ht Hw). destruct b as [x|], bound as [z|]; try contradiction; lia. Qed.
End Space.

(* ---- no slots, no room *)
Section Slots.
Variable P : problem.
Let x := shape_of P.
Hypothesis Hx : regular x.
(* no widths: each rank takes one of its own group's slots *)
Hypothesis own_slots : forall g, takes_slots (group_at P g) = 1 /\ forall h, shares (group_at P g) h = (g =? h)%nat.
Definition usable g := negb (excluded (group_at P g)) && (1 <=? slots (group_at P g)).
Definition all_slots := sum (map (fun g => if usable g then slots (group_at P g) else 0) (seq 0 (length (groups P)))).
Lemma sum_next a l : sum (a :: l) = a + sum l. Proof. reflexivity. Qed.
Lemma sums_add {X} (f g : X -> Z) l : sum (map (fun a => f a + g a) l) = sum (map f l) + sum (map g l).
Proof. induction l as [|a l IH]; [reflexivity|]. cbn [map]. rewrite !sum_next, IH. lia. Qed.
Lemma sums_zero {X} (l : list X) : sum (map (fun _ => 0) l) = 0.
Proof. induction l as [|a l IH]; [reflexivity|]. cbn [map]. rewrite sum_next. exact IH. Qed.
Lemma one_group g : forall n a, (a <= g)%nat -> sum (map (fun h => one (g =? h)%nat) (seq a n)) = one (g <? a + n)%nat.
Proof.
  induction n as [|n IH]; intros a Ha; cbn [seq map]; [destruct (Nat.ltb_spec g (a + 0)); [lia|reflexivity]|]. rewrite sum_next. destruct (Nat.eqb_spec g a) as [->|N].
  - replace (a <? a + S n)%nat with true by (symmetry; apply Nat.ltb_lt; lia). cbn [one]. assert (Z0 : forall k b, (a < b)%nat -> sum (map (fun h => one (a =? h)%nat) (seq b k)) = 0).
    { induction k as [|k IHk]; intros b Hb; [reflexivity|]. cbn [seq map]. rewrite sum_next, IHk by lia. destruct (Nat.eqb_spec a b); [lia|reflexivity]. } rewrite Z0 by lia. lia.
  - rewrite IH by lia. replace (S a + n)%nat with (a + S n)%nat by lia. cbn [one]. lia.
Qed.
Lemma decided_on s d : decision_ok P s d = true -> (on d < length (groups P))%nat /\ usable (on d) = true.
Proof. unfold decision_ok, in_range, may_decide, usable. destruct (own_slots (on d)) as [-> _]. rewrite !andb_true_iff, Nat.ltb_lt. tauto. Qed.
Lemma ranks_counted : forall plan s f, in_order P s f plan = true ->
  sum (map (fun g => sum (map (fun p => nth g (needs P (fst p) (snd p)) 0) (combine (seq s (length plan)) plan))) (seq 0 (length (groups P)))) = Z.of_nat (rank_count x - s) - Z.of_nat (rank_count x - (s + length plan))
  /\ forall g, (g < length (groups P))%nat -> usable g = false -> sum (map (fun p => nth g (needs P (fst p) (snd p)) 0) (combine (seq s (length plan)) plan)) = 0.
Proof.
  induction plan as [|d plan IH]; intros s f H; cbn [length seq combine map].
  - rewrite Nat.add_0_r, sums_zero. split; [lia|reflexivity].
  - cbn [in_order] in H. parts in H. destruct H as (((D & _) & _) & H). destruct (decided_on s d D) as [G U]. destruct (IH _ _ H) as [A B]. cbn [fst snd].
    assert (N : forall g, (g < length (groups P))%nat -> nth g (needs P s d) 0 = one ((s <? rank_count x) && (on d =? g))%nat).
    { intros g Hg. unfold needs, needs_on. fold x. destruct (own_slots (on d)) as [Ts Sh]. rewrite (map_ext _ (fun h => one ((s <? rank_count x) && (on d =? h))%nat)) by (intros h; rewrite Ts, Sh; destruct (_ && _); reflexivity).
      rewrite app_nth1 by (rewrite map_length, seq_length; exact Hg). rewrite nth_indep with (d' := one ((s <? rank_count x) && (on d =? 0))%nat) by (rewrite map_length, seq_length; exact Hg).
      rewrite (map_nth (fun g => one ((s <? rank_count x) && (on d =? g))%nat) _ 0%nat), seq_nth by exact Hg. reflexivity. }
    split.
    + rewrite (map_ext (fun g => sum (_ :: _)) (fun g => nth g (needs P s d) 0 + sum (map (fun p => nth g (needs P (fst p) (snd p)) 0) (combine (seq (S s) (length plan)) plan)))) by (intros; reflexivity).
      rewrite sums_add, A. rewrite (map_ext_in _ (fun g => one ((s <? rank_count x) && (on d =? g))%nat)) by (intros g Hg; apply in_seq in Hg; apply N; lia).
      destruct (Nat.ltb_spec s (rank_count x)) as [L|L]; cbn [andb]; [rewrite one_group by lia; replace (on d <? 0 + length (groups P))%nat with true by (symmetry; apply Nat.ltb_lt; lia); cbn [one]|cbn [one]; rewrite sums_zero]; lia.
    + intros g Hg Ug. rewrite sum_next, (B g Hg Ug), (N g Hg). destruct (Nat.eqb_spec (on d) g) as [E|E]; [congruence|]. rewrite andb_false_r. reflexivity.
Qed.
(* THEOREM 8, r: where there are fewer slots than ranks there is no plan. *)
Theorem no_slots plan : plan_ok P plan -> Z.of_nat (rank_count x) <= all_slots.
Proof.
  intros (O & R & _). destruct (ranks_counted plan 0 0 O) as [A B]. assert (L : forall p s f, in_order P s f p = true -> (s + length p = stages x)%nat).
  { induction p as [|d p IH]; intros s f H; cbn [in_order length] in *; parts in H; [destruct H as [H _]; apply Nat.eqb_eq in H; fold x in H; lia|destruct H as (_ & H); specialize (IH _ _ H); lia]. }
  specialize (L plan 0%nat 0%nat O). pose proof (ranks_few x Hx). cbn [Nat.add] in *. replace (rank_count x - length plan)%nat with 0%nat in A by lia. rewrite Nat.sub_0_r in A.
  apply Z.le_trans with (sum (map (fun g => sum (map (fun p => nth g (needs P (fst p) (snd p)) 0) (combine (seq 0 (length plan)) plan))) (seq 0 (length (groups P))))); [lia|]. clear A. unfold all_slots.
  assert (K : forall l, (forall g, In g l -> (g < length (groups P))%nat) -> sum (map (fun g => sum (map (fun p => nth g (needs P (fst p) (snd p)) 0) (combine (seq 0 (length plan)) plan))) l) <= sum (map (fun g => if usable g then slots (group_at P g) else 0) l)).
  { induction l as [|g l IH]; intros Hl; [cbn; lia|]. cbn [map]. rewrite !sum_next. specialize (IH ltac:(intros; apply Hl; right; assumption)). specialize (Hl g (or_introl eq_refl)). destruct (usable g) eqn:U.
    - assert (Q : needed P g plan <= slots (group_at P g)).
      { apply R. unfold available. rewrite nth_error_app1 by (rewrite map_length; exact Hl). apply (map_nth_error (fun g => Some (slots g))). apply nth_error_nth'. exact Hl. }
      unfold needed in Q. lia.
    - rewrite (B g Hl U). lia. }
  apply K. intros g Hg. apply in_seq in Hg. lia.
Qed.
End Slots.
(* THEOREM 8, m: no rank holds more than fits on it, whatever group it is on; so all of them together
   hold no more than that. *)
Theorem no_room (most held : nat -> Z) n : (forall r, (r < n)%nat -> held r <= most r) -> sum (map held (seq 0 n)) <= sum (map most (seq 0 n)).
Proof.
  intros H. assert (G : forall k a, (a + k <= n)%nat -> sum (map held (seq a k)) <= sum (map most (seq a k))); [|apply G; lia].
  induction k as [|k IH]; intros a Ha; [cbn; lia|]. cbn [seq map]. rewrite !sum_next. specialize (H a ltac:(lia)). specialize (IH (S a) ltac:(lia)). lia.
Qed.
(* THEOREM 15.1: of weights that add up to at most u, the loads' mean is at most the greatest load. *)
Theorem greatest_load u L : 0 <= L -> forall ws loads, Forall (fun w => 0 <= w) ws -> Forall (fun l => l <= L) loads -> sum ws <= u ->
  sum (map (fun p => fst p * snd p) (combine ws loads)) <= u * L.
Proof.
  intros HL ws loads Hw Hl Hu. transitivity (sum ws * L); [|apply Z.mul_le_mono_nonneg_r; lia]. clear Hu. revert loads Hl. induction Hw as [|w ws W _ IH]; intros loads Hl; [cbn; lia|].
  rewrite sum_next. destruct Hl as [|l loads L1 Hl]; cbn [combine map fst snd].
  - specialize (IH [] (Forall_nil _)). replace (combine ws []) with (@nil (Z * Z)) in IH by (destruct ws; reflexivity). cbn in IH. cbn. nia.
  - rewrite sum_next. specialize (IH loads Hl). nia.
Qed.
Definition theorems := (@whole, @joined_parts, @no_slots, @no_room, @greatest_load).
