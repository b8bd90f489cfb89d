(* The bounds of a layout (docs/PROOFS.md 8.4 to 8.7, 8.11) as theorems about every timing, whatever
   each operation takes: they name operations, and what a plan's layers make of those is sums. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule.
Import ListNotations.
Open Scope Z_scope.

Section Of.
Variable x : shape.
Hypothesis some_batches : (1 <= batches x)%nat.
Hypothesis some_slices : (1 <= slices x)%nat.

Hypothesis one_each : several x = false.
Lemma own_rank s : on_rank x s = s.
Proof. unfold on_rank. rewrite one_each. reflexivity. Qed.
Lemma sent b : leaves_rank x b = true.
Proof. unfold leaves_rank. rewrite !own_rank. apply negb_true_iff, Nat.eqb_neq. lia. Qed.
Lemma turn_is s k b y : turn x s k b y = match k with
  | Forward => 3 * (b * slices x + y) | Backward => 3 * (b * slices x + (slices x - 1 - y) + ahead x s) + 1
  | _ => 3 * (b + behind x s + ahead x s) + 2 end%nat.
Proof.
  pose proof one_each as E. unfold turn, number_of. rewrite one_each. unfold several in E. destruct (schedule x); try discriminate; reflexivity.
Qed.
Ltac here := unfold in_stream; cbn [what place batch slice]; rewrite ?own_rank; reflexivity.

(* ---- no two operations are at one place of a stream *)
Lemma digits k a b y z : (y < k)%nat -> (z < k)%nat -> (a * k + y = b * k + z)%nat -> a = b /\ y = z.
Proof. intros Hy Hz H. assert (a = b) by nia. subst. lia. Qed.
Lemma one_place u v r i : valid x u = true -> valid x v = true -> in_stream x u = Some (r, i) -> in_stream x v = Some (r, i) -> u = v.
Proof.
  destruct u as [a p b y], v as [c q e z]. unfold valid, in_stream. cbn [what place batch slice]. rewrite ?own_rank. intros Hu Hv Eu Ev.
  assert (G : forall (A : nat * nat) B, Some A = Some B -> A = B) by congruence.
  destruct a as [| | | | |[]|[]|[]|[]| |]; try discriminate; destruct c as [| | | | |[]|[]|[]|[]| |]; try discriminate;
    rewrite ?own_rank in Eu, Ev; rewrite !andb_true_iff, ?Nat.ltb_lt, ?Nat.eqb_eq in Hu, Hv; apply G in Eu; apply G in Ev; injection Eu as Er Ei; injection Ev as Fr Fi; rewrite ?turn_is in *; cbn in *;
    try (exfalso; lia);
    try (assert (q = p) by lia; clear Er Fr; subst q; f_equal;
         try (destruct (digits (slices x) b e y z) as [-> ->]; [lia|lia|lia|reflexivity]);
         try (destruct (digits (slices x) b e (slices x - 1 - y) (slices x - 1 - z)) as [-> E]; [lia|lia|lia|]; first [reflexivity|lia]); lia).
Qed.

Section Timed.
Variable d : op -> Z.
Variable start : op -> Z.
Variable T : Z.
Hypothesis Ht : timing x d start T.

(* Operations of one rank's stream, in any order: they do not overlap. *)
Definition of_rank r (l : list op) := Forall (fun u => valid x u = true /\ exists i, in_stream x u = Some (r, i)) l.
Lemma last_one r (l : list op) : l <> [] -> of_rank r l -> exists w, In w l /\ forall u i j, In u l -> in_stream x u = Some (r, i) -> in_stream x w = Some (r, j) -> (i <= j)%nat.
Proof.
  induction l as [|a l IH]; [congruence|]. intros _ H. inversion_clear H as [|? ? (Va & ia & Ea) H']. destruct l as [|b l].
  - exists a. split; [left; reflexivity|]. intros u i j [<-|[]] A B. rewrite A in B. injection B as <-. lia.
  - destruct (IH ltac:(discriminate) H') as (w & Hw & Hmax). rewrite Forall_forall in H'. destruct (H' w Hw) as (_ & iw & Ew).
    destruct (Nat.le_gt_cases ia iw) as [L|L].
    + exists w. split; [right; exact Hw|]. intros u i j [<-|Hu] A B; [rewrite Ea in A; injection A as <-; rewrite Ew in B; injection B as <-; lia|eauto].
    + exists a. split; [left; reflexivity|]. intros u i j [<-|Hu] A B; [rewrite A in B; injection B as <-; lia|].
      rewrite Ea in B. injection B as <-. specialize (Hmax u i iw Hu A Ew). lia.
Qed.
Lemma length_middle (f : op -> Z) a w b : length_of f (a ++ w :: b) = f w + length_of f (a ++ b).
Proof. induction a as [|c a IH]; cbn [app length_of]; [reflexivity|]. rewrite IH. lia. Qed.
Lemma in_row r : forall n (l : list op), length l = n -> of_rank r l -> NoDup l -> forall t e, t <= e ->
  (forall u, In u l -> t <= start u) -> (forall u, In u l -> start u + d u <= e) -> t + length_of d l <= e.
Proof.
  induction n as [|n IH]; intros l Hn Hr Hd t e Hte Hs He.
  - destruct l; [cbn; lia|discriminate].
  - destruct (last_one r l) as (w & Hw & Hmax); [destruct l; discriminate|exact Hr|]. destruct (in_split _ _ Hw) as (a & b & ->).
    rewrite length_middle. assert (Hd' := NoDup_remove _ _ _ Hd). destruct Hd' as [Hd1 Hd2].
    assert (Hsub : forall u, In u (a ++ b) -> In u (a ++ w :: b)) by (intros u Hu; rewrite in_app_iff in *; cbn; tauto).
    assert (Hr' : of_rank r (a ++ b)). { unfold of_rank in *. rewrite Forall_forall in *. auto. }
    unfold of_rank in Hr. rewrite Forall_forall in Hr. destruct (Hr w Hw) as (Vw & j & Ej).
    assert (t + length_of d (a ++ b) <= start w); [|specialize (He w Hw); lia].
    apply (IH (a ++ b)); auto.
    + rewrite app_length in *. cbn in Hn. lia.
    + intros u Hu. destruct (Hr u (Hsub u Hu)) as (Vu & i & Ei). destruct Ht as (_ & _ & _ & W & _). apply W; auto.
      unfold waits, precedes at 1. rewrite Ei, Ej, Nat.eqb_refl. assert (i <> j).
      { intros ->. apply Hd2. rewrite (one_place w u r j); auto. }
      specialize (Hmax u i j (Hsub u Hu) Ei Ej). replace (i <? j)%nat with true by (symmetry; apply Nat.ltb_lt; lia). reflexivity.
Qed.

(* ---- 8.5: the way to a rank, its whole stream, its step *)
Definition at_ k s j y := Op k s j y.
Definition message b dir j y := d (Op (Links dir) b j y) + d (Op (Delays dir) b j y).
(* Micro-batch 0 through the stages before the rank: pass, overhead, link, delay; the receiver's
   overhead is in the stream of the next. *)
Fixpoint fill (s : nat) : Z := match s with
  | O => 0
  | S r => fill r + (if (0 <? r)%nat then d (Op (Receives Onward) (r - 1) 0 0) else 0) + d (Op Forward r 0 0) + d (Op (Sends Onward) r 0 0) + message r Onward 0 0 end.
Definition opens s := match s with O => Op Forward 0 0 0 | S r => Op (Receives Onward) r 0 0 end.
(* When the iteration begins: paths that end on the first rank close there, with a barrier or not. *)
Definition begins := start (Op Forward 0 0 0).

Ltac ok := unfold valid; cbn [what place batch slice]; rewrite ?andb_true_iff, ?Nat.ltb_lt, ?Nat.eqb_eq; repeat split; try lia; try apply sent; auto.
Lemma waits_stream u v r i j : valid x u = true -> valid x v = true -> in_stream x u = Some (r, i) -> in_stream x v = Some (r, j) -> (i < j)%nat -> start u + d u <= start v.
Proof.
  intros Hu Hv Ei Ej L. destruct Ht as (_ & _ & _ & W & _). apply W; auto. unfold waits, precedes at 1. rewrite Ei, Ej, Nat.eqb_refl.
  replace (i <? j)%nat with true by (symmetry; apply Nat.ltb_lt; lia). reflexivity.
Qed.
Lemma waits_message dir b j y : (S b < stages x)%nat -> (j < batches x)%nat -> (y < slices x)%nat ->
  start (Op (Sends dir) b j y) + d (Op (Sends dir) b j y) + message b dir j y <= start (Op (Receives dir) b j y).
Proof.
  intros Hb Hj Hy. destruct Ht as (_ & _ & _ & W & _).
  assert (V : forall k, In k [Sends dir; Links dir; Delays dir; Receives dir] -> valid x (Op k b j y) = true) by (intros k [<-|[<-|[<-|[<-|[]]]]]; ok).
  assert (E : same_direction dir dir = true) by (destruct dir; reflexivity).
  assert (M : forall u v, same_message (Op u b j y) (Op v b j y) = true) by (intros; unfold same_message; cbn; rewrite !Nat.eqb_refl; reflexivity).
  assert (A : start (Op (Sends dir) b j y) + d (Op (Sends dir) b j y) <= start (Op (Links dir) b j y)).
  { apply W; try (apply V; cbn; auto 6). unfold waits. cbn [what]. rewrite E, M. apply orb_true_r. }
  assert (B : start (Op (Links dir) b j y) + d (Op (Links dir) b j y) <= start (Op (Delays dir) b j y)).
  { apply W; try (apply V; cbn; auto 6). unfold waits. cbn [what]. rewrite E, M. apply orb_true_r. }
  assert (C : start (Op (Delays dir) b j y) + d (Op (Delays dir) b j y) <= start (Op (Receives dir) b j y)).
  { apply W; try (apply V; cbn; auto 6). unfold waits. cbn [what]. rewrite E, M. apply orb_true_r. }
  unfold message. lia.
Qed.
Lemma begins_late : (0 < stages x)%nat -> 0 <= begins.
Proof. intros H. destruct Ht as (_ & H0 & _). apply H0. ok. Qed.
Lemma closes : (0 < stages x)%nat -> start (Op Optimizer 0 0 0) + d (Op Optimizer 0 0 0) <= begins + T.
Proof.
  intros H. assert (V : valid x (Op Optimizer 0 0 0) = true) by ok. assert (W : valid x (Op Forward 0 0 0) = true) by ok.
  pose proof (begins_late H). destruct Ht as (_ & _ & He & _ & C). destruct (barrier x) eqn:Hb.
  - specialize (He eq_refl _ V). lia.
  - apply (C eq_refl _ _ V W). unfold carries. cbn [rank_of in_stream what place alike]. rewrite !own_rank. reflexivity.
Qed.
Lemma reaches : forall s, (s < stages x)%nat -> begins + fill s <= start (opens s).
Proof.
  induction s as [|s IH]; intros Hs.
  - cbn. unfold begins. lia.
  - specialize (IH ltac:(lia)). cbn [fill opens].
    assert (F : start (opens s) + (if (0 <? s)%nat then d (Op (Receives Onward) (s - 1) 0 0) else 0) <= start (Op Forward s 0 0)).
    { destruct s as [|r]; [cbn; lia|]. cbn [opens Nat.ltb Nat.leb]. replace (S r - 1)%nat with r by lia.
      apply (waits_stream _ _ (S r) (3 * turn x (S r) Forward 0 0 + 0) (3 * turn x (S r) Forward 0 0 + 1)); try here; try lia; ok. }
    assert (G : start (Op Forward s 0 0) + d (Op Forward s 0 0) <= start (Op (Sends Onward) s 0 0)).
    { apply (waits_stream _ _ s (3 * turn x s Forward 0 0 + 1) (3 * turn x s Forward 0 0 + 2)); try here; try lia; ok. }
    pose proof (waits_message Onward s 0 0 ltac:(lia) ltac:(lia) ltac:(lia)). lia.
Qed.
Lemma opens_stream s : exists j, in_stream x (opens s) = Some (s, j).
Proof. destruct s; unfold opens, in_stream; cbn [what place]; rewrite own_rank; eauto. Qed.
Lemma opens_first s u i : (s < stages x)%nat -> valid x u = true -> in_stream x u = Some (s, i) -> (forall j, in_stream x (opens s) = Some (s, j) -> (j <= i)%nat) ->
  0 <= d (opens s) -> begins + fill s <= start u.
Proof.
  intros Hs Hu Ei Hfirst Hp. pose proof (reaches s Hs) as R. assert (V : valid x (opens s) = true) by (destruct s; cbn [opens]; ok).
  destruct (opens_stream s) as (j & Ej). specialize (Hfirst j Ej).
  destruct (Nat.eq_dec j i) as [->|N].
  - rewrite (one_place u (opens s) s i); auto.
  - pose proof (waits_stream _ _ s j i V Hu Ej Ei ltac:(lia)). lia.
Qed.
Lemma opens_before s u i j : valid x u = true -> in_stream x u = Some (s, i) -> in_stream x (opens s) = Some (s, j) -> (j <= i)%nat.
Proof.
  destruct u as [k p b y]. unfold valid, in_stream. cbn [what place batch slice]. intros Hu Ei Ej.
  destruct s as [|r]; unfold opens, in_stream in Ej; cbn [what place batch slice] in Ej; rewrite own_rank in Ej; injection Ej as Ej; subst j; rewrite turn_is; cbn;
    destruct k as [| | | | |[]|[]|[]|[]| |]; try discriminate; rewrite own_rank in Ei; injection Ei as Ep Ei; rewrite turn_is in Ei; cbn in Ei; try lia.
Qed.
(* THEOREM 8.5, and every stream's work: whatever operations of a rank's stream l names. *)
Theorem stream s l : barrier x = true -> (s < stages x)%nat -> of_rank s l -> NoDup l -> 0 <= d (opens s) -> (forall u, In u l -> 0 <= d u) -> 0 <= fill s ->
  fill s + length_of d l + d (Op Optimizer s 0 0) <= T.
Proof.
  intros Hb Hs Hr Hn Ho Hp Hf. assert (V : valid x (Op Optimizer s 0 0) = true) by ok.
  pose proof (begins_late ltac:(lia)) as Hbegin. destruct Ht as (HT & H0 & He & W & _). specialize (He Hb _ V).
  assert (A : begins + fill s + length_of d l <= start (Op Optimizer s 0 0)); [|lia].
  unfold of_rank in Hr. pose proof Hr as Hr'. rewrite Forall_forall in Hr'.
  assert (Hend : forall u, In u l -> start u + d u <= start (Op Optimizer s 0 0)).
  { intros u Hu. destruct (Hr' u Hu) as (Vu & i & Ei). apply W; auto. unfold waits. cbn [what place]. rewrite Ei, own_rank, Nat.eqb_refl.
    destruct u as [k p b y]. cbn [what in_stream] in *. destruct k as [| | | | |[]|[]|[]|[]| |]; try discriminate; reflexivity. }
  assert (Hopen : begins + fill s <= start (Op Optimizer s 0 0)).
  { pose proof (reaches s Hs). assert (Vo : valid x (opens s) = true) by (destruct s; cbn [opens]; ok).
    assert (start (opens s) + d (opens s) <= start (Op Optimizer s 0 0)); [|lia]. apply W; auto. unfold waits. destruct s; cbn [opens what place in_stream in_link precedes]; rewrite ?own_rank, ?Nat.eqb_refl; reflexivity. }
  apply (in_row s (length l) l); auto. intros u Hu. destruct (Hr' u Hu) as (Vu & i & Ei). apply (opens_first s u i); auto. intros j. apply opens_before with (u := u); auto.
Qed.

(* ---- pieces of paths *)
(* What lies between two operations of a stream. *)
Lemma between s a b i j l : valid x a = true -> valid x b = true -> in_stream x a = Some (s, i) -> in_stream x b = Some (s, j) -> (i <= j)%nat -> 0 <= d a ->
  of_rank s l -> NoDup l -> (forall u k, In u l -> in_stream x u = Some (s, k) -> (i <= k < j)%nat) -> start a + length_of d l <= start b.
Proof.
  intros Va Vb Ea Eb L Hd Hr Hn Hl. pose proof Hr as Hr'. unfold of_rank in Hr'. rewrite Forall_forall in Hr'.
  assert (Lab : start a <= start b).
  { destruct (Nat.eq_dec i j) as [->|N]; [rewrite (one_place a b s j Va Vb Ea Eb); lia|]. pose proof (waits_stream _ _ s i j Va Vb Ea Eb ltac:(lia)). lia. }
  apply (in_row s (length l) l); auto.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & k & Ek). specialize (Hl u k Hu Ek). destruct (Nat.eq_dec i k) as [->|N].
    + rewrite (one_place a u s k); auto; lia.
    + pose proof (waits_stream _ _ s i k Va Vu Ea Ek ltac:(lia)). lia.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & k & Ek). specialize (Hl u k Hu Ek). apply (waits_stream _ _ s k j); auto; lia.
Qed.
(* One micro-batch's slice from a stage onward, and back. *)
Definition step_on j y u := d (Op Forward u j y) + d (Op (Sends Onward) u j y) + message u Onward j y + d (Op (Receives Onward) u j y).
Definition step_back j y u := d (Op Backward (S u) j y) + d (Op (Sends Back) u j y) + message u Back j y + d (Op (Receives Back) u j y).
Fixpoint sum_over (g : nat -> Z) (a n : nat) : Z := match n with O => 0 | S k => g a + sum_over g (S a) k end.
Lemma one_on j y u : (S u < stages x)%nat -> (j < batches x)%nat -> (y < slices x)%nat -> start (Op Forward u j y) + step_on j y u <= start (Op Forward (S u) j y).
Proof.
  intros Hu Hj Hy.
  assert (A : start (Op Forward u j y) + d (Op Forward u j y) <= start (Op (Sends Onward) u j y)).
  { apply (waits_stream _ _ u (3 * turn x u Forward j y + 1) (3 * turn x u Forward j y + 2)); try here; try lia; ok. }
  pose proof (waits_message Onward u j y Hu Hj Hy) as B.
  assert (C : start (Op (Receives Onward) u j y) + d (Op (Receives Onward) u j y) <= start (Op Forward (S u) j y)).
  { apply (waits_stream _ _ (S u) (3 * turn x (S u) Forward j y + 0) (3 * turn x (S u) Forward j y + 1)); try here; try lia; ok. }
  unfold step_on. lia.
Qed.
Lemma one_back j y u : (S u < stages x)%nat -> (j < batches x)%nat -> (y < slices x)%nat -> start (Op Backward (S u) j y) + step_back j y u <= start (Op Backward u j y).
Proof.
  intros Hu Hj Hy.
  assert (A : start (Op Backward (S u) j y) + d (Op Backward (S u) j y) <= start (Op (Sends Back) u j y)).
  { apply (waits_stream _ _ (S u) (3 * turn x (S u) Backward j y + 1) (3 * turn x (S u) Backward j y + 2)); try here; try lia; ok. }
  pose proof (waits_message Back u j y Hu Hj Hy) as B.
  assert (C : start (Op (Receives Back) u j y) + d (Op (Receives Back) u j y) <= start (Op Backward u j y)).
  { apply (waits_stream _ _ u (3 * turn x u Backward j y + 0) (3 * turn x u Backward j y + 1)); try here; try lia; ok. }
  unfold step_back. lia.
Qed.
Lemma on_through j y : (j < batches x)%nat -> (y < slices x)%nat -> forall n s, (s + n < stages x)%nat ->
  start (Op Forward s j y) + sum_over (step_on j y) s n <= start (Op Forward (s + n) j y).
Proof.
  intros Hj Hy. induction n as [|n IH]; intros s Hs; cbn [sum_over]; [rewrite Nat.add_0_r; lia|].
  pose proof (one_on j y s ltac:(lia) Hj Hy). specialize (IH (S s) ltac:(lia)). replace (s + S n)%nat with (S s + n)%nat by lia. lia.
Qed.
Lemma back_through j y : (j < batches x)%nat -> (y < slices x)%nat -> forall n s, (s + n < stages x)%nat ->
  start (Op Backward (s + n) j y) + sum_over (step_back j y) s n <= start (Op Backward s j y).
Proof.
  intros Hj Hy. induction n as [|n IH]; intros s Hs; cbn [sum_over]; [rewrite Nat.add_0_r; lia|].
  pose proof (one_back j y s ltac:(lia) Hj Hy). specialize (IH (S s) ltac:(lia)). replace (s + S n)%nat with (S s + n)%nat by lia. lia.
Qed.
(* The end: a stage's sync after its last pass, then its step. *)
Lemma ends_with w s : (s < stages x)%nat -> valid x w = true -> place w = s -> last_pass x w = true ->
  start w + d w + d (Op Sync s 0 0) <= start (Op Optimizer s 0 0).
Proof.
  intros Hs Vw Pw Lw. destruct Ht as (_ & _ & He & W & _).
  assert (Vs : valid x (Op Sync s 0 0) = true) by ok. assert (Vo : valid x (Op Optimizer s 0 0) = true) by ok.
  assert (A : start w + d w <= start (Op Sync s 0 0)).
  { apply W; auto. unfold waits. cbn [what place]. rewrite Pw, Lw, !own_rank, !Nat.eqb_refl. unfold last_pass in Lw.
    destruct (what w) as [| | | | |[]|[]|[]|[]| |]; try discriminate; destruct (overlapped x); apply orb_true_r. }
  assert (B : start (Op Sync s 0 0) + d (Op Sync s 0 0) <= start (Op Optimizer s 0 0)).
  { apply W; auto. unfold waits. cbn [what place in_stream in_link precedes]. rewrite Nat.eqb_refl. reflexivity. }
  lia.
Qed.

(* THEOREM 8.6, ending: l holds no operation after the last pass w: what that sends is beside it. *)
Theorem ending s w l : barrier x = true -> (s < stages x)%nat -> valid x w = true -> place w = s -> last_pass x w = true -> 0 <= d w -> 0 <= d (opens s) -> 0 <= fill s ->
  of_rank s l -> NoDup l -> (forall u i j, In u l -> in_stream x u = Some (s, i) -> in_stream x w = Some (s, j) -> (i < j)%nat) ->
  fill s + length_of d l + d w + d (Op Sync s 0 0) + d (Op Optimizer s 0 0) <= T.
Proof.
  intros Hb Hs Vw Pw Lw Hw Ho Hf Hr Hn Hl. pose proof (ends_with w s Hs Vw Pw Lw) as E. pose proof (begins_late ltac:(lia)) as Hbegin.
  assert (L : start (Op Optimizer s 0 0) + d (Op Optimizer s 0 0) <= T). { destruct Ht as (_ & _ & He & _). apply (He Hb). ok. }
  assert (A : begins + fill s + length_of d l <= start w); [|lia].
  assert (Ew : exists j, in_stream x w = Some (s, j)). { unfold last_pass in Lw. unfold in_stream. destruct (what w); try discriminate; rewrite Pw, own_rank; eauto. }
  destruct Ew as (j & Ej). pose proof Hr as Hr'. unfold of_rank in Hr'. rewrite Forall_forall in Hr'.
  apply (in_row s (length l) l); auto.
  - apply (opens_first s w j); auto. intros k. apply opens_before with (u := w); auto.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & i & Ei). apply (opens_first s u i); auto. intros k. apply opens_before with (u := u); auto.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & i & Ei). apply (waits_stream _ _ s i j); auto. eapply Hl; eauto.
Qed.
Lemma first_ends : splits x = false -> (0 < stages x)%nat ->
  start (Op Backward 0 (batches x - 1) 0) + d (Op Backward 0 (batches x - 1) 0) + d (Op Sync 0 0 0) + d (Op Optimizer 0 0 0) <= begins + T.
Proof.
  intros Hs Hp. pose proof (closes Hp). cut (start (Op Backward 0 (batches x - 1) 0) + d (Op Backward 0 (batches x - 1) 0) + d (Op Sync 0 0 0) <= start (Op Optimizer 0 0 0)); [lia|].
  apply (ends_with _ 0); auto; [ok|]. unfold last_pass. cbn [what batch slice]. rewrite Hs.
  replace (S (batches x - 1) =? batches x)%nat with true by (symmetry; apply Nat.eqb_eq; lia). reflexivity.
Qed.
(* With a split backward the first stage's last weight gradient is between the two. *)
Definition last_weight := if splits x then d (Op Weight 0 (batches x - 1) 0) else 0.
Lemma first_ends_either : slices x = 1%nat -> (0 < stages x)%nat ->
  start (Op Backward 0 (batches x - 1) 0) + d (Op Backward 0 (batches x - 1) 0) + last_weight + d (Op Sync 0 0 0) + d (Op Optimizer 0 0 0) <= begins + T.
Proof.
  intros Hk Hp. pose proof (closes Hp). unfold last_weight. destruct (splits x) eqn:Hs; [|rewrite Z.add_0_r; apply first_ends; auto].
  assert (Vw : valid x (Op Weight 0 (batches x - 1) 0) = true) by (unfold valid; cbn [what place batch slice]; rewrite Hs; cbn [andb]; rewrite ?andb_true_iff, ?Nat.ltb_lt, ?Nat.eqb_eq; lia).
  assert (E := ends_with (Op Weight 0 (batches x - 1) 0) 0 Hp Vw eq_refl). cbn [last_pass what batch] in E.
  specialize (E ltac:(apply Nat.eqb_eq; lia)).
  assert (A : start (Op Backward 0 (batches x - 1) 0) + d (Op Backward 0 (batches x - 1) 0) <= start (Op Weight 0 (batches x - 1) 0)).
  { apply (waits_stream _ _ 0 (3 * turn x 0 Backward (batches x - 1) 0 + 1) (3 * turn x 0 Weight (batches x - 1) 0 + 1)); try here; try exact Vw; try ok. rewrite !turn_is, Hk. lia. }
  lia.
Qed.
(* THEOREM 8.7, drain, where the backward is joint: l holds operations before the rank's last
   backward, which returns through the stages before. *)
Theorem drain s l : let w := Op Backward s (batches x - 1) 0 in splits x = false -> (s < stages x)%nat -> 0 <= d w -> 0 <= d (opens s) -> 0 <= fill s ->
  of_rank s l -> NoDup l -> (forall u i j, In u l -> in_stream x u = Some (s, i) -> in_stream x w = Some (s, j) -> (i < j)%nat) ->
  fill s + length_of d l + sum_over (step_back (batches x - 1) 0) 0 s + d (Op Backward 0 (batches x - 1) 0) + d (Op Sync 0 0 0) + d (Op Optimizer 0 0 0) <= T.
Proof.
  intros w Hsp Hs Hw Ho Hf Hr Hn Hl. pose proof (first_ends Hsp ltac:(lia)) as E.
  pose proof (back_through (batches x - 1) 0 ltac:(lia) ltac:(lia) s 0 ltac:(lia)) as B. cbn [Nat.add] in B.
  assert (A : begins + fill s + length_of d l <= start w); [|unfold w in A; lia].
  assert (Vw : valid x w = true) by (unfold w; ok).
  pose proof Hr as Hr'. unfold of_rank in Hr'. rewrite Forall_forall in Hr'.
  assert (Ej : in_stream x w = Some (s, (3 * turn x s Backward (batches x - 1) 0 + 1)%nat)) by (unfold w; here).
  apply (in_row s (length l) l); auto.
  - apply (opens_first s w _ Hs Vw Ej); auto. intros k. apply opens_before with (u := w); auto.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & i & Ei). apply (opens_first s u i); auto. intros k. apply opens_before with (u := u); auto.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & i & Ei). apply (waits_stream _ _ s i _ Vu Vw Ei Ej). eapply Hl; eauto.
Qed.
(* THEOREM 8.8, turn: the rank's operations up to its last forward; that slice onward to the last
   stage and back; l2, the rank's backwards of its micro-batch; its first slice back to the first stage. *)
Definition from_to s a b (l : list op) := of_rank s l /\ NoDup l /\
  forall u k i j, In u l -> in_stream x u = Some (s, k) -> in_stream x a = Some (s, i) -> in_stream x b = Some (s, j) -> (i <= k < j)%nat.
Definition turns_once := slices x = 1%nat \/ (splits x = false /\ forall r, ahead x r = total x).
Theorem turning s l l2 : let m := (batches x - 1)%nat in let z := (slices x - 1)%nat in let e := (stages x - 1)%nat in let w := Op Forward s m z in
  turns_once -> (s < stages x)%nat -> (forall u, 0 <= d u) -> 0 <= fill s ->
  of_rank s l -> NoDup l -> (forall u i j, In u l -> in_stream x u = Some (s, i) -> in_stream x w = Some (s, j) -> (i < j)%nat) ->
  from_to s (Op Backward s m z) (Op Backward s m 0) l2 ->
  fill s + length_of d l + sum_over (step_on m z) s (e - s) + d (Op Forward e m z) + sum_over (step_back m z) s (e - s) + length_of d l2
  + sum_over (step_back m 0) 0 s + d (Op Backward 0 m 0) + last_weight + d (Op Sync 0 0 0) + d (Op Optimizer 0 0 0) <= T.
Proof.
  intros m z e w Hk Hs Hd Hf Hr Hn Hl (Q1 & Q2 & Q3). assert (Em : (m < batches x)%nat) by (unfold m; lia). assert (Ez : (z < slices x)%nat) by (unfold z; lia). assert (Ee : (e < stages x)%nat) by (unfold e; lia).
  assert (E : start (Op Backward 0 m 0) + d (Op Backward 0 m 0) + last_weight + d (Op Sync 0 0 0) + d (Op Optimizer 0 0 0) <= begins + T).
  { destruct Hk as [Hk|[Hk _]]; [apply first_ends_either; [exact Hk|lia]|]. unfold last_weight. rewrite Hk, Z.add_0_r. apply first_ends; [exact Hk|lia]. }
  pose proof (back_through m z Em Ez (e - s) s ltac:(lia)) as B1. replace (s + (e - s))%nat with e in B1 by lia.
  pose proof (back_through m 0 Em ltac:(lia) s 0 ltac:(lia)) as B2. cbn [Nat.add] in B2.
  pose proof (on_through m z Em Ez (e - s) s ltac:(lia)) as F. replace (s + (e - s))%nat with e in F by lia.
  assert (M : start (Op Forward e m z) + d (Op Forward e m z) <= start (Op Backward e m z)).
  { apply (waits_stream _ _ e (3 * turn x e Forward m z + 1) (3 * turn x e Backward m z + 1)); try here; try ok.
    rewrite !turn_is. destruct Hk as [Hk|[_ Ha]]; [rewrite Hk; subst z; rewrite Hk; lia|rewrite (Ha e); unfold total; subst m; nia]. }
  assert (R : start (Op Backward s m z) + length_of d l2 <= start (Op Backward s m 0)).
  { apply (between s (Op Backward s m z) (Op Backward s m 0) (3 * turn x s Backward m z + 1) (3 * turn x s Backward m 0 + 1) l2); [ok|ok|here|here|rewrite !turn_is; lia|apply Hd|exact Q1|exact Q2|].
    intros u k Hu Ek. eapply Q3; [exact Hu|exact Ek|here|here]. }
  assert (A : begins + fill s + length_of d l <= start w); [|unfold w in A; lia].
  assert (Vw : valid x w = true) by (unfold w; ok).
  pose proof Hr as Hr'. unfold of_rank in Hr'. rewrite Forall_forall in Hr'.
  assert (Ej : in_stream x w = Some (s, (3 * turn x s Forward m z + 1)%nat)) by (unfold w; here).
  apply (in_row s (length l) l); auto.
  - apply (opens_first s w _ Hs Vw Ej); auto. intros k. apply opens_before with (u := w); auto.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & i & Ei). apply (opens_first s u i); auto. intros k. apply opens_before with (u := u); auto.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & i & Ei). apply (waits_stream _ _ s i _ Vu Vw Ei Ej). eapply Hl; eauto.
Qed.
(* THEOREM 8.9, crossing, for any slice z of a schedule in which every forward of a rank comes before
   its backwards. l1 .. l5: what the path does of the first stage, of the rank on the way there, of
   the last stage, of the rank on the way back, and of the first stage again. *)
Theorem crossing s z l1 l2 l3 l4 l5 : let m := (batches x - 1)%nat in let e := (stages x - 1)%nat in
  splits x = false -> (forall r, ahead x r = total x) -> (s < stages x)%nat -> (z < slices x)%nat -> (forall u, 0 <= d u) ->
  from_to 0 (Op Forward 0 0 0) (Op Forward 0 0 z) l1 -> from_to s (Op Forward s 0 z) (Op Forward s m z) l2 ->
  from_to e (Op Forward e m z) (Op Backward e 0 z) l3 -> from_to s (Op Backward s 0 z) (Op Backward s m z) l4 -> from_to 0 (Op Backward 0 m z) (Op Backward 0 m 0) l5 ->
  length_of d l1 + sum_over (step_on 0 z) 0 s + length_of d l2 + sum_over (step_on m z) s (e - s) + length_of d l3
  + sum_over (step_back 0 z) s (e - s) + length_of d l4 + sum_over (step_back m z) 0 s + length_of d l5
  + d (Op Backward 0 m 0) + d (Op Sync 0 0 0) + d (Op Optimizer 0 0 0) <= T.
Proof.
  intros m e Hsp Ha Hs Hz Hd H1 H2 H3 H4 H5. assert (Em : (m < batches x)%nat) by (unfold m; lia). assert (Ee : (e < stages x)%nat) by (unfold e; lia).
  pose proof (first_ends Hsp ltac:(lia)) as E. fold m in E. assert (Hm : m = (batches x - 1)%nat) by reflexivity. assert (He : e = (stages x - 1)%nat) by reflexivity. clearbody m e.
  assert (G : forall r a b l i j, from_to r a b l -> valid x a = true -> valid x b = true -> in_stream x a = Some (r, i) -> in_stream x b = Some (r, j) -> (i <= j)%nat -> start a + length_of d l <= start b).
  { intros r a b l i j (Q1 & Q2 & Q3) Va Vb Ea Eb L. apply (between r a b i j l); auto. intros u k Hu Ek. eapply Q3; eauto. }
  assert (A1 : start (Op Forward 0 0 0) + length_of d l1 <= start (Op Forward 0 0 z)) by (eapply (G _ _ _ _ _ _ H1); [ok|ok|here|here|rewrite !turn_is; cbn [batch slice place]; generalize (m * slices x)%nat; lia]).
  assert (A2 : start (Op Forward s 0 z) + length_of d l2 <= start (Op Forward s m z)) by (eapply (G _ _ _ _ _ _ H2); [ok|ok|here|here|rewrite !turn_is; cbn [batch slice place]; generalize (m * slices x)%nat; lia]).
  assert (A3 : start (Op Forward e m z) + length_of d l3 <= start (Op Backward e 0 z)) by (eapply (G _ _ _ _ _ _ H3); [ok|ok|here|here|rewrite !turn_is, Ha; unfold total; cbn [batch slice place]; subst m; nia]).
  assert (A4 : start (Op Backward s 0 z) + length_of d l4 <= start (Op Backward s m z)) by (eapply (G _ _ _ _ _ _ H4); [ok|ok|here|here|rewrite !turn_is; cbn [batch slice place]; generalize (m * slices x)%nat; lia]).
  assert (A5 : start (Op Backward 0 m z) + length_of d l5 <= start (Op Backward 0 m 0)) by (eapply (G _ _ _ _ _ _ H5); [ok|ok|here|here|rewrite !turn_is; cbn [batch slice place]; generalize (m * slices x)%nat; lia]).
  pose proof (on_through 0 z ltac:(lia) Hz s 0 ltac:(lia)) as F1. cbn [Nat.add] in F1.
  pose proof (on_through m z Em Hz (e - s) s ltac:(lia)) as F2. replace (s + (e - s))%nat with e in F2 by lia.
  pose proof (back_through 0 z ltac:(lia) Hz (e - s) s ltac:(lia)) as B1. replace (s + (e - s))%nat with e in B1 by lia.
  pose proof (back_through m z Em Hz s 0 ltac:(lia)) as B2. cbn [Nat.add] in B2.
  unfold begins in E. lia.
Qed.
(* THEOREM 8.4, the mean: what all ranks do together is at most T each. *)
Theorem mean (ls : nat -> list op) : barrier x = true -> (forall u, 0 <= d u) -> (forall s, (s < stages x)%nat -> of_rank s (ls s) /\ NoDup (ls s)) ->
  forall n, (n <= stages x)%nat -> sum_over (fun s => length_of d (ls s)) 0 n <= Z.of_nat n * T.
Proof.
  intros Hb Hd Hl. assert (Hf : forall s, 0 <= fill s).
  { induction s as [|s IH]; cbn [fill]; [lia|]. unfold message. pose proof (Hd (Op (Receives Onward) (s - 1) 0 0)). pose proof (Hd (Op Forward s 0 0)).
    pose proof (Hd (Op (Sends Onward) s 0 0)). pose proof (Hd (Op (Links Onward) s 0 0)). pose proof (Hd (Op (Delays Onward) s 0 0)). destruct (0 <? s)%nat; lia. }
  assert (B : forall s, (s < stages x)%nat -> length_of d (ls s) <= T).
  { intros s Hs. destruct (Hl s Hs) as [A B]. pose proof (stream s (ls s) Hb Hs A B (Hd _) ltac:(auto) (Hf s)). pose proof (Hf s). pose proof (Hd (Op Optimizer s 0 0)). lia. }
  assert (G : forall n a, (a + n <= stages x)%nat -> sum_over (fun s => length_of d (ls s)) a n <= Z.of_nat n * T).
  { induction n as [|n IH]; intros a Ha; cbn [sum_over]; [lia|]. specialize (IH (S a) ltac:(lia)). specialize (B a ltac:(lia)). lia. }
  intros n Hn. apply (G n 0%nat). lia.
Qed.

(* ---- 8.11, without a barrier: a rank's stream returns to its start. Drain, turn and crossing are
   the same as with one. *)
Theorem stream_again s l : barrier x = false -> (s < stages x)%nat -> of_rank s l -> NoDup l -> (forall u, 0 <= d u) ->
  length_of d l + d (Op Optimizer s 0 0) <= T.
Proof.
  intros Hb Hs Hr Hn Hd. pose proof Hr as Hr'. unfold of_rank in Hr'. rewrite Forall_forall in Hr'.
  destruct Ht as (HT & _ & _ & W & C). assert (Vo : valid x (Op Optimizer s 0 0) = true) by ok.
  assert (Vp : valid x (opens s) = true) by (destruct s; cbn [opens]; ok).
  assert (Q : start (Op Optimizer s 0 0) + d (Op Optimizer s 0 0) <= start (opens s) + T).
  { apply (C Hb); auto. unfold carries. destruct s; cbn [opens rank_of in_stream what place alike]; rewrite ?own_rank, ?Nat.eqb_refl; reflexivity. }
  destruct (opens_stream s) as (j & Ej).
  assert (L : start (opens s) + length_of d l <= start (Op Optimizer s 0 0)); [|lia].
  apply (in_row s (length l) l); auto.
  - assert (start (opens s) + d (opens s) <= start (Op Optimizer s 0 0)); [|specialize (Hd (opens s)); lia]. apply W; auto. unfold waits. destruct s; cbn [opens what place in_stream in_link precedes]; rewrite ?own_rank, ?Nat.eqb_refl; reflexivity.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & i & Ei). pose proof (opens_before s u i j Vu Ei Ej). destruct (Nat.eq_dec j i) as [->|N].
    + rewrite (one_place u (opens s) s i); auto; lia.
    + pose proof (waits_stream _ _ s j i Vp Vu Ej Ei ltac:(lia)). specialize (Hd (opens s)). lia.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & i & Ei). apply W; auto. unfold waits. cbn [what place]. rewrite Ei, own_rank, Nat.eqb_refl.
    destruct u as [k p b y]. cbn [what in_stream] in *. destruct k as [| | | | |[]|[]|[]|[]| |]; try discriminate; reflexivity.
Qed.
(* The same after its last pass: its sync and its step. *)
Theorem ending_again s w l : barrier x = false -> (s < stages x)%nat -> valid x w = true -> place w = s -> last_pass x w = true -> (forall u, 0 <= d u) ->
  of_rank s l -> NoDup l -> (forall u i j, In u l -> in_stream x u = Some (s, i) -> in_stream x w = Some (s, j) -> (i < j)%nat) ->
  length_of d l + d w + d (Op Sync s 0 0) + d (Op Optimizer s 0 0) <= T.
Proof.
  intros Hb Hs Vw Pw Lw Hd Hr Hn Hl. pose proof (ends_with w s Hs Vw Pw Lw) as E.
  assert (Vo : valid x (Op Optimizer s 0 0) = true) by ok. assert (Vp : valid x (opens s) = true) by (destruct s; cbn [opens]; ok).
  assert (Q : start (Op Optimizer s 0 0) + d (Op Optimizer s 0 0) <= start (opens s) + T).
  { destruct Ht as (_ & _ & _ & _ & C). apply (C Hb); auto. unfold carries. destruct s; cbn [opens rank_of in_stream what place alike]; rewrite ?own_rank, ?Nat.eqb_refl; reflexivity. }
  destruct (opens_stream s) as (j & Ej).
  assert (Ew : exists i, in_stream x w = Some (s, i)). { unfold last_pass in Lw. unfold in_stream. destruct (what w); try discriminate; rewrite Pw, own_rank; eauto. }
  destruct Ew as (i & Ei). cut (start (opens s) + length_of d l <= start w); [lia|].
  apply (between s (opens s) w j i l); auto; [apply opens_before with (u := w) (s := s); auto|].
  intros u k Hu Ek. split; [|eapply Hl; eauto]. unfold of_rank in Hr. rewrite Forall_forall in Hr. destruct (Hr u Hu) as (Vu & _). apply opens_before with (u := u) (s := s); auto.
Qed.
End Timed.
End Of.
Print Assumptions stream.
Print Assumptions ending.
Print Assumptions drain.
Print Assumptions turning.
Print Assumptions crossing.
Print Assumptions mean.
Print Assumptions stream_again.
Print Assumptions ending_again.
