(* The bounds of a layout (docs/PROOFS.md 8.4 to 8.9, 8.11) as theorems about every timing, whatever
   each operation takes: they name operations, and what a plan's layers make of those is sums. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Streams.
Import ListNotations.
Open Scope Z_scope.

Section Of.
Variable x : shape.
Hypothesis Hx : regular x.
Let some_batches : (1 <= batches x)%nat := proj1 Hx.
Let some_slices : (1 <= slices x)%nat := proj1 (proj2 Hx).
Let few := ranks_few x Hx.
Let one_place := one_place x Hx.
Lemma sent b : (S b < rank_count x)%nat -> leaves_rank x b = true.
Proof. intros H. unfold leaves_rank. rewrite !own_rank by lia. apply negb_true_iff, Nat.eqb_neq. lia. Qed.
(* What asks for these is about the way onward, or back, through other ranks. *)
Hypothesis none_stored : forall b, stored x && is_local x b = false.
Hypothesis none_local : forall b, is_local x b = false.
Lemma sent_onward b : (S b < rank_count x)%nat -> is_sent x Onward b = true.
Proof. intros H. unfold is_sent. rewrite (sent b H), none_stored. reflexivity. Qed.
Lemma sent_back b : (S b < rank_count x)%nat -> is_sent x Back b = true.
Proof. intros H. unfold is_sent. rewrite (sent b H), none_local. reflexivity. Qed.
Ltac here := lazymatch goal with |- in_stream _ _ = _ => unfold in_stream; cbn [what place batch slice]; rewrite ?own_rank by lia; reflexivity end.

Section Timed.
Variable d : op -> Z.
Variable start : op -> Z.
Variable T : Z.
Hypothesis Ht : timing x d start T.

(* Operations of one row, in any order: they do not overlap. *)
Section Row.
Variable at_ : op -> option (nat * nat).
Hypothesis at_once : forall u v r i, valid x u = true -> valid x v = true -> at_ u = Some (r, i) -> at_ v = Some (r, i) -> u = v.
Hypothesis at_waits : forall u v r i j, valid x u = true -> valid x v = true -> at_ u = Some (r, i) -> at_ v = Some (r, j) -> (i < j)%nat -> start u + d u <= start v.
Definition of_row r (l : list op) := Forall (fun u => valid x u = true /\ exists i, at_ u = Some (r, i)) l.
Lemma last_one r (l : list op) : l <> [] -> of_row r l -> exists w, In w l /\ forall u i j, In u l -> at_ u = Some (r, i) -> at_ w = Some (r, j) -> (i <= j)%nat.
Proof.
  induction l as [|a l IH]; [congruence|]. intros _ H. inversion_clear H as [|? ? (Va & ia & Ea) H']. destruct l as [|b l].
  - exists a. split; [left; reflexivity|]. intros u i j [<-|[]] A B. rewrite A in B. injection B as <-. lia.
  - destruct (IH ltac:(discriminate) H') as (w & Hw & Hmax). pose proof H' as H2. unfold of_row in H2. rewrite Forall_forall in H2. destruct (H2 w Hw) as (_ & iw & Ew).
    destruct (Nat.le_gt_cases ia iw) as [L|L].
    + exists w. split; [right; exact Hw|]. intros u i j [<-|Hu] A B; [rewrite Ea in A; injection A as <-; rewrite Ew in B; injection B as <-; lia|eauto].
    + exists a. split; [left; reflexivity|]. intros u i j [<-|Hu] A B; [rewrite A in B; injection B as <-; lia|].
      rewrite Ea in B. injection B as <-. specialize (Hmax u i iw Hu A Ew). lia.
Qed.
Lemma length_middle (f : op -> Z) a w b : length_of f (a ++ w :: b) = f w + length_of f (a ++ b).
Proof. induction a as [|c a IH]; cbn [app length_of]; [reflexivity|]. rewrite IH. lia. Qed.
Lemma row r : forall n (l : list op), length l = n -> of_row r l -> NoDup l -> forall t e, t <= e ->
  (forall u, In u l -> t <= start u) -> (forall u, In u l -> start u + d u <= e) -> t + length_of d l <= e.
Proof.
  induction n as [|n IH]; intros l Hn Hr Hd t e Hte Hs He.
  - destruct l; [cbn; lia|discriminate].
  - destruct (last_one r l) as (w & Hw & Hmax); [destruct l; discriminate|exact Hr|]. destruct (in_split _ _ Hw) as (a & b & ->).
    rewrite length_middle. assert (Hd' := NoDup_remove _ _ _ Hd). destruct Hd' as [Hd1 Hd2].
    assert (Hsub : forall u, In u (a ++ b) -> In u (a ++ w :: b)) by (intros u Hu; rewrite in_app_iff in *; cbn; tauto).
    assert (Hr' : of_row r (a ++ b)). { unfold of_row in *. rewrite Forall_forall in *. auto. }
    unfold of_row in Hr. rewrite Forall_forall in Hr. destruct (Hr w Hw) as (Vw & j & Ej).
    assert (t + length_of d (a ++ b) <= start w); [|specialize (He w Hw); lia].
    apply (IH (a ++ b)); auto.
    + rewrite app_length in *. cbn in Hn. lia.
    + intros u Hu. destruct (Hr u (Hsub u Hu)) as (Vu & i & Ei). assert (i <> j). { intros ->. apply Hd2. rewrite (at_once w u r j); auto. }
      specialize (Hmax u i j (Hsub u Hu) Ei Ej). apply (at_waits u w r i j); auto. lia.
Qed.
End Row.
Lemma waits_stream u v r i j : valid x u = true -> valid x v = true -> in_stream x u = Some (r, i) -> in_stream x v = Some (r, j) -> (i < j)%nat -> start u + d u <= start v.
Proof.
  intros Hu Hv Ei Ej L. destruct Ht as (_ & _ & _ & W & _). apply W; auto. unfold waits, precedes at 1. rewrite Ei, Ej, Nat.eqb_refl.
  replace (i <? j)%nat with true by (symmetry; apply Nat.ltb_lt; lia). reflexivity.
Qed.
(* A rank's stream; its steps, and its syncs where they are not overlapped, follow the order of its
   stages' last gradients. *)
Definition of_rank := of_row (in_stream x).
Definition in_row := row _ one_place waits_stream.
Definition in_order_of k u := match what u, k with Optimizer, Optimizer | Sync, Sync => Some (on_rank x (place u), ended x (place u)) | _, _ => None end.
Definition steps_of := of_row (in_order_of Optimizer).
Definition syncs_of := of_row (in_order_of Sync).
Lemma ended_once k u v r i : valid x u = true -> valid x v = true -> in_order_of k u = Some (r, i) -> in_order_of k v = Some (r, i) -> u = v.
Proof.
  destruct u as [a s b y], v as [c t e z]. unfold valid, in_order_of, ended. cbn [what place batch slice]. intros Vu Vv Iu Iv.
  destruct a; try discriminate Iu; destruct k; try discriminate Iu; destruct c; try discriminate Iv; injection Iu as R1 I1; injection Iv as R2 I2;
    apply andb_prop in Vu as [S1 U], Vv as [S2 V]; apply andb_prop in U as [U1 U2], V as [V1 V2]; apply Nat.ltb_lt in S1, S2; apply Nat.eqb_eq in U1, U2, V1, V2; subst b y e z;
    assert (P : pass x (if splits x then Weight else Backward) 0) by (destruct (splits x) eqn:Sx; cbn [pass]; [auto|lia]);
    assert (M : (batches x - 1 < batches x)%nat) by lia; destruct (apart_all x Hx s t S1 S2 ltac:(congruence) _ _ _ _ _ _ P P M M (eq_trans I1 (eq_sym I2))) as (_ & -> & _); reflexivity.
Qed.
Lemma waits_steps u v r i j : valid x u = true -> valid x v = true -> in_order_of Optimizer u = Some (r, i) -> in_order_of Optimizer v = Some (r, j) -> (i < j)%nat -> start u + d u <= start v.
Proof.
  intros Hu Hv Ei Ej L. destruct Ht as (_ & _ & _ & W & _). apply W; auto. unfold waits, in_order_of in *. destruct (what u); try discriminate Ei; destruct (what v); try discriminate Ej.
  injection Ei as R1 I1. injection Ej as R2 I2. unfold sooner. rewrite R1, R2, I1, I2, Nat.eqb_refl. replace (i <? j)%nat with true by (symmetry; apply Nat.ltb_lt; lia). apply orb_true_r.
Qed.
Lemma waits_syncs u v r i j : overlapped x = false -> valid x u = true -> valid x v = true -> in_order_of Sync u = Some (r, i) -> in_order_of Sync v = Some (r, j) -> (i < j)%nat -> start u + d u <= start v.
Proof.
  intros Ho Hu Hv Ei Ej L. destruct Ht as (_ & _ & _ & W & _). apply W; auto. unfold waits, in_order_of in *. destruct (what u); try discriminate Ei; destruct (what v); try discriminate Ej.
  injection Ei as R1 I1. injection Ej as R2 I2. unfold sooner. rewrite Ho, R1, R2, I1, I2, Nat.eqb_refl. replace (i <? j)%nat with true by (symmetry; apply Nat.ltb_lt; lia). apply orb_true_r.
Qed.
Lemma step_last u o r : valid x u = true -> valid x o = true -> (exists i, in_stream x u = Some (r, i)) -> (exists i, in_order_of Optimizer o = Some (r, i)) -> start u + d u <= start o.
Proof.
  intros Vu Vo (i & Ei) (j & Ej). destruct Ht as (_ & _ & _ & W & _). apply W; auto. unfold in_order_of in Ej. destruct o as [k p b y]. cbn [what place] in Ej. destruct k; try discriminate Ej. injection Ej as R _.
  unfold waits. cbn [what place]. rewrite Ei, R, Nat.eqb_refl. destruct u as [k q c z]. cbn [what in_stream] in *. destruct k as [| | | | |[]|[]|[]|[]| |]; try discriminate Ei; cbn; rewrite ?orb_true_r; reflexivity.
Qed.

(* ---- 8.5: the way to a rank, its whole stream, its step *)
Definition message b dir j y := d (Op (Links dir) b j y) + d (Op (Delays dir) b j y).
(* Micro-batch 0 through the stages before the rank: pass, overhead, link, delay; the receiver's
   overhead is in the stream of the next. *)
Fixpoint fill (s : nat) : Z := match s with
  | O => 0
  | S r => fill r + (if (0 <? r)%nat then d (Op (Receives Onward) (r - 1) 0 0) else 0) + d (Op Forward r 0 0) + d (Op (Sends Onward) r 0 0) + message r Onward 0 0 end.
(* What a rank's stream begins with: nothing is received where its inputs are read from a file. *)
Definition opens s := match s with O => Op Forward 0 0 0 | S r => if is_sent x Onward r then Op (Receives Onward) r 0 0 else Op Forward s 0 0 end.
(* When the iteration begins: paths that end on the first rank close there, with a barrier or not. *)
Definition begins := start (Op Forward 0 0 0).

Ltac ok := unfold valid; cbn [what place batch slice]; try (facts); repeat split; try assumption; try lia; try (apply sent_onward; lia); try (apply sent_back; lia); auto.
Lemma waits_message dir b j y : is_sent x dir b = true -> (S b < rank_count x)%nat -> (j < batches x)%nat -> (y < slices x)%nat ->
  start (Op (Sends dir) b j y) + d (Op (Sends dir) b j y) + message b dir j y <= start (Op (Receives dir) b j y).
Proof.
  intros Sb Hb Hj Hy. destruct Ht as (_ & _ & _ & W & _).
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
Lemma begins_late : (0 < rank_count x)%nat -> 0 <= begins.
Proof. intros H. destruct Ht as (_ & H0 & _). apply H0. ok. Qed.
Lemma closes : (0 < rank_count x)%nat -> start (Op Optimizer 0 0 0) + d (Op Optimizer 0 0 0) <= begins + T.
Proof.
  intros H. assert (V : valid x (Op Optimizer 0 0 0) = true) by ok. assert (W : valid x (Op Forward 0 0 0) = true) by ok.
  pose proof (begins_late H). destruct Ht as (_ & _ & He & _ & C). destruct (barrier x) eqn:Hb.
  - specialize (He eq_refl _ V). lia.
  - apply (C eq_refl _ _ V W). unfold carries. cbn [rank_of in_stream what place alike]. rewrite !own_rank by lia. reflexivity.
Qed.
Lemma reaches : forall s, (s < rank_count x)%nat -> begins + fill s <= start (opens s).
Proof.
  induction s as [|s IH]; intros Hs.
  - cbn. unfold begins. lia.
  - specialize (IH ltac:(lia)). cbn [fill opens]. rewrite (sent_onward s Hs).
    assert (F : start (opens s) + (if (0 <? s)%nat then d (Op (Receives Onward) (s - 1) 0 0) else 0) <= start (Op Forward s 0 0)).
    { destruct s as [|r]; [cbn; lia|]. cbn [opens Nat.ltb Nat.leb]. rewrite (sent_onward r ltac:(lia)). replace (S r - 1)%nat with r by lia.
      apply (waits_stream _ _ (S r) (3 * turn x (S r) Forward 0 0 + 0) (3 * turn x (S r) Forward 0 0 + 1)); try here; try lia; ok. }
    assert (G : start (Op Forward s 0 0) + d (Op Forward s 0 0) <= start (Op (Sends Onward) s 0 0)).
    { apply (waits_stream _ _ s (3 * turn x s Forward 0 0 + 1) (3 * turn x s Forward 0 0 + 2)); try here; try lia; ok. }
    pose proof (waits_message Onward s 0 0 (sent_onward s Hs) ltac:(lia) ltac:(lia) ltac:(lia)). lia.
Qed.
Lemma opens_valid s : (s < rank_count x)%nat -> valid x (opens s) = true.
Proof. intros Hs. pose proof (ranks_few x Hx). destruct s as [|r]; cbn [opens]; [ok|]. destruct (is_sent x Onward r) eqn:E; ok. Qed.
Lemma opens_stream s : (s < rank_count x)%nat -> exists j, in_stream x (opens s) = Some (s, j).
Proof. intros Hs. destruct s as [|r]; cbn [opens]; [|destruct (is_sent x Onward r)]; unfold in_stream; cbn [what place]; rewrite own_rank by lia; eauto. Qed.
Lemma opens_first s u i : (s < rank_count x)%nat -> valid x u = true -> in_stream x u = Some (s, i) -> (forall j, in_stream x (opens s) = Some (s, j) -> (j <= i)%nat) ->
  0 <= d (opens s) -> begins + fill s <= start u.
Proof.
  intros Hs Hu Ei Hfirst Hp. pose proof (reaches s Hs) as R. pose proof (opens_valid s Hs) as V.
  destruct (opens_stream s Hs) as (j & Ej). specialize (Hfirst j Ej).
  destruct (Nat.eq_dec j i) as [->|N].
  - rewrite (one_place u (opens s) s i); auto.
  - pose proof (waits_stream _ _ s j i V Hu Ej Ei ltac:(lia)). lia.
Qed.
Lemma opens_before s u i j : (s < rank_count x)%nat -> valid x u = true -> in_stream x u = Some (s, i) -> in_stream x (opens s) = Some (s, j) -> (j <= i)%nat.
Proof.
  intros Hs Hu Ei Ej. destruct (seated x u s i Hu Ei) as (t & k & h & R & I & L & S & P & B & U). pose proof (first_turn x Hx s t k (batch u) (slice u) Hs S (eq_sym R) P) as F.
  pose proof (ranks_few x Hx) as Few.
  assert (G : opens s = Op Forward s 0 0 -> (forall r, s = Datatypes.S r -> is_sent x Onward r = false) -> (j <= i)%nat).
  { intros Eo No. rewrite Eo in Ej. unfold in_stream in Ej. cbn [what place batch slice] in Ej. rewrite own_rank in Ej by lia. injection Ej as Ej. subst j.
    destruct (Nat.eq_dec (turn x t k (batch u) (slice u)) (turn x s Forward 0 0)) as [E|N]; [|lia].
    destruct (apart_all x Hx t s S ltac:(lia) ltac:(rewrite (own_rank x s) by lia; auto) k Forward (batch u) 0%nat (slice u) 0%nat P ltac:(cbn [pass]; lia) B ltac:(lia) E) as (-> & -> & _ & _).
    destruct h as [|h]; [|lia]. exfalso. assert (W : what u = Receives Onward /\ place u = (s - 1)%nat) by (rewrite U; auto). destruct W as [W W'].
    unfold valid in Hu. (rewrite W, W' in Hu; parts in Hu). destruct Hu as (_ & V). destruct s as [|r].
    - cbn in V. unfold is_sent, leaves_rank in V. rewrite andb_true_iff, negb_true_iff, Nat.eqb_neq in V. destruct V as [V _].
      unfold in_stream in Ei. rewrite W, W' in Ei. injection Ei as Ei _. cbn [Nat.sub] in Ei. rewrite Ei, (own_rank x 0) in V by lia. lia.
    - replace (Datatypes.S r - 1)%nat with r in V by lia. rewrite (No r eq_refl) in V. discriminate V. }
  destruct s as [|r]; [apply G; [reflexivity|discriminate]|]. cbn [opens] in Ej, G. destruct (is_sent x Onward r) eqn:So; [|apply G; [reflexivity|intros q [= <-]; exact So]].
  unfold in_stream in Ej. cbn [what place batch slice] in Ej. rewrite own_rank in Ej by lia. injection Ej as Ej. subst j. lia.
Qed.
(* After t, not before a rank's stream begins: its work, its steps. *)
Lemma work_and_steps s t e l q : t <= e -> of_rank s l -> NoDup l -> steps_of s q -> NoDup q ->
  (forall u, In u l -> t <= start u) -> (forall u, In u q -> t <= start u) -> (forall u, In u l \/ In u q -> start u + d u <= e) -> t + length_of d l + length_of d q <= e.
Proof.
  intros Hte Hl Nl Hq Nq Sl Sq He. pose proof Hl as Hl'. pose proof Hq as Hq'. unfold of_rank, steps_of, of_row in Hl', Hq'. rewrite Forall_forall in Hl', Hq'.
  apply (row _ (ended_once Optimizer) waits_steps s (length q) q); auto.
  - apply (in_row s (length l) l); auto.
  - intros o Ho. destruct (Hq' o Ho) as (Vo & Io). apply (in_row s (length l) l); auto. intros u Hu. destruct (Hl' u Hu) as (Vu & Iu). apply (step_last u o s); auto.
Qed.
Lemma fill_positive : (forall u, 0 <= d u) -> forall s, 0 <= fill s.
Proof.
  intros Hd. induction s as [|s IH]; cbn [fill]; [lia|]. unfold message. pose proof (Hd (Op (Receives Onward) (s - 1) 0 0)). pose proof (Hd (Op Forward s 0 0)).
  pose proof (Hd (Op (Sends Onward) s 0 0)). pose proof (Hd (Op (Links Onward) s 0 0)). pose proof (Hd (Op (Delays Onward) s 0 0)). destruct (0 <? s)%nat; lia.
Qed.
Lemma stream_opens s u : (s < rank_count x)%nat -> (forall u, 0 <= d u) -> valid x u = true -> (exists i, in_stream x u = Some (s, i)) \/ (exists i, in_order_of Optimizer u = Some (s, i)) -> start (opens s) <= start u.
Proof.
  intros Hs Hd Vu I. pose proof (opens_valid s Hs) as Vp. destruct (opens_stream s Hs) as (j & Ej). pose proof (Hd (opens s)). destruct I as [(i & Ei)|I].
  - pose proof (opens_before s u i j Hs Vu Ei Ej). destruct (Nat.eq_dec j i) as [->|N]; [rewrite (one_place u (opens s) s i); auto; lia|].
    pose proof (waits_stream _ _ s j i Vp Vu Ej Ei ltac:(lia)). lia.
  - assert (start (opens s) + d (opens s) <= start u) by (apply (step_last (opens s) u s); eauto). lia.
Qed.
(* THEOREM 8.5: the way to a rank, whatever operations of its stream l names, and its steps. *)
Theorem stream s l q : barrier x = true -> (s < rank_count x)%nat -> of_rank s l -> NoDup l -> steps_of s q -> NoDup q -> (forall u, 0 <= d u) ->
  fill s + length_of d l + length_of d q <= T.
Proof.
  intros Hb Hs Hl Nl Hq Nq Hd. pose proof (begins_late ltac:(lia)). pose proof (reaches s Hs) as R. pose proof (fill_positive Hd s).
  pose proof Hl as Hl'. pose proof Hq as Hq'. unfold of_rank, steps_of, of_row in Hl', Hq'. rewrite Forall_forall in Hl', Hq'.
  destruct Ht as (HT & _ & He & _). specialize (He Hb). assert (Q : begins + fill s + length_of d l + length_of d q <= Z.max T (begins + fill s)); [|].
  { apply (work_and_steps s); auto; [lia|intros u Hu|intros u Hu|intros u [Hu|Hu]].
    - destruct (Hl' u Hu) as (Vu & I). pose proof (stream_opens s u Hs Hd Vu (or_introl I)). lia.
    - destruct (Hq' u Hu) as (Vu & I). pose proof (stream_opens s u Hs Hd Vu (or_intror I)). lia.
    - destruct (Hl' u Hu) as (Vu & _). specialize (He u Vu). lia.
    - destruct (Hq' u Hu) as (Vu & _). specialize (He u Vu). lia. }
  pose proof (He (opens s) (opens_valid s Hs)). pose proof (Hd (opens s)). lia.
Qed.
(* THEOREM 8.4, 8.11: a rank's stream and its steps, with a barrier or without one, where the stream
   returns to its start. *)
Theorem load s l q : (s < rank_count x)%nat -> of_rank s l -> NoDup l -> steps_of s q -> NoDup q -> (forall u, 0 <= d u) -> length_of d l + length_of d q <= T.
Proof.
  intros Hs Hl Nl Hq Nq Hd. pose proof Hl as Hl'. pose proof Hq as Hq'. unfold of_rank, steps_of, of_row in Hl', Hq'. rewrite Forall_forall in Hl', Hq'. destruct Ht as (HT & H0 & He & _ & C). destruct (barrier x) eqn:Hb.
  { apply (work_and_steps s 0 T); auto; [intros u Hu; destruct (Hl' u Hu); auto|intros u Hu; destruct (Hq' u Hu); auto|]. intros u [Hu|Hu]; [destruct (Hl' u Hu)|destruct (Hq' u Hu)]; auto. }
  pose proof (opens_valid s Hs) as Vp. assert (K : forall u, In u l \/ In u q -> start u + d u <= start (opens s) + T).
  { destruct (opens_stream s Hs) as (j & Ej). assert (Rp : rank_of x (opens s) = Some s) by (unfold rank_of; destruct s as [|r]; cbn [opens] in *; [|destruct (is_sent x Onward r)]; cbn [what] in *; rewrite Ej; reflexivity).
    intros u [Hu|Hu]; [destruct (Hl' u Hu) as (Vu & i & Ei)|destruct (Hq' u Hu) as (Vu & i & Ei)]; apply (C eq_refl u (opens s) Vu Vp); unfold carries; apply orb_true_iff; left; rewrite Rp.
    - unfold rank_of. destruct u as [k p b y]. cbn [what] in *. destruct k; rewrite ?Ei; try (cbn; apply Nat.eqb_refl); discriminate Ei.
    - unfold rank_of, in_order_of in *. destruct u as [k p b y]. cbn [what place] in *. destruct k; try discriminate Ei. injection Ei as -> _. cbn. apply Nat.eqb_refl. }
  cut (start (opens s) + length_of d l + length_of d q <= start (opens s) + T); [lia|]. apply (work_and_steps s); auto; [lia|intros u Hu|intros u Hu].
  - destruct (Hl' u Hu) as (Vu & I). apply stream_opens; auto.
  - destruct (Hq' u Hu) as (Vu & I). apply stream_opens; auto.
Qed.

(* ---- pieces of paths *)
(* What lies between two operations of a stream. *)
Lemma between s a b i j l : valid x a = true -> valid x b = true -> in_stream x a = Some (s, i) -> in_stream x b = Some (s, j) -> (i <= j)%nat -> 0 <= d a ->
  of_rank s l -> NoDup l -> (forall u k, In u l -> in_stream x u = Some (s, k) -> (i <= k < j)%nat) -> start a + length_of d l <= start b.
Proof.
  intros Va Vb Ea Eb L Hd Hr Hn Hl. pose proof Hr as Hr'. unfold of_rank, of_row in Hr'. rewrite Forall_forall in Hr'.
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
Lemma one_on j y u : (S u < rank_count x)%nat -> (j < batches x)%nat -> (y < slices x)%nat -> start (Op Forward u j y) + step_on j y u <= start (Op Forward (S u) j y).
Proof.
  intros Hu Hj Hy.
  assert (A : start (Op Forward u j y) + d (Op Forward u j y) <= start (Op (Sends Onward) u j y)).
  { apply (waits_stream _ _ u (3 * turn x u Forward j y + 1) (3 * turn x u Forward j y + 2)); try here; try lia; ok. }
  pose proof (waits_message Onward u j y (sent_onward u Hu) Hu Hj Hy) as B.
  assert (C : start (Op (Receives Onward) u j y) + d (Op (Receives Onward) u j y) <= start (Op Forward (S u) j y)).
  { apply (waits_stream _ _ (S u) (3 * turn x (S u) Forward j y + 0) (3 * turn x (S u) Forward j y + 1)); try here; try lia; ok. }
  unfold step_on. lia.
Qed.
Lemma one_back j y u : (S u < rank_count x)%nat -> (j < batches x)%nat -> (y < slices x)%nat -> start (Op Backward (S u) j y) + step_back j y u <= start (Op Backward u j y).
Proof.
  intros Hu Hj Hy.
  assert (A : start (Op Backward (S u) j y) + d (Op Backward (S u) j y) <= start (Op (Sends Back) u j y)).
  { apply (waits_stream _ _ (S u) (3 * turn x (S u) Backward j y + 1) (3 * turn x (S u) Backward j y + 2)); try here; try lia; ok. }
  pose proof (waits_message Back u j y (sent_back u Hu) Hu Hj Hy) as B.
  assert (C : start (Op (Receives Back) u j y) + d (Op (Receives Back) u j y) <= start (Op Backward u j y)).
  { apply (waits_stream _ _ u (3 * turn x u Backward j y + 0) (3 * turn x u Backward j y + 1)); try here; try lia; ok. }
  unfold step_back. lia.
Qed.
Lemma on_through j y : (j < batches x)%nat -> (y < slices x)%nat -> forall n s, (s + n < rank_count x)%nat ->
  start (Op Forward s j y) + sum_over (step_on j y) s n <= start (Op Forward (s + n) j y).
Proof.
  intros Hj Hy. induction n as [|n IH]; intros s Hs; cbn [sum_over]; [rewrite Nat.add_0_r; lia|].
  pose proof (one_on j y s ltac:(lia) Hj Hy). specialize (IH (S s) ltac:(lia)). replace (s + S n)%nat with (S s + n)%nat by lia. lia.
Qed.
Lemma back_through j y : (j < batches x)%nat -> (y < slices x)%nat -> forall n s, (s + n < rank_count x)%nat ->
  start (Op Backward (s + n) j y) + sum_over (step_back j y) s n <= start (Op Backward s j y).
Proof.
  intros Hj Hy. induction n as [|n IH]; intros s Hs; cbn [sum_over]; [rewrite Nat.add_0_r; lia|].
  pose proof (one_back j y s ltac:(lia) Hj Hy). specialize (IH (S s) ltac:(lia)). replace (s + S n)%nat with (S s + n)%nat by lia. lia.
Qed.
(* The end: a stage's sync after its last pass, then the embedding's where there is one, then its step. *)
Definition syncs_at s := d (Op Sync s 0 0) + if embedding x && is_end x s then d (Op EmbeddingSync 0 0 0) else 0.
Lemma ends_with w s : (s < stages x)%nat -> valid x w = true -> place w = s -> last_pass x w = true ->
  start w + d w + syncs_at s <= start (Op Optimizer s 0 0).
Proof.
  intros Hs Vw Pw Lw. destruct Ht as (_ & _ & He & W & _).
  assert (Vs : valid x (Op Sync s 0 0) = true) by ok. assert (Vo : valid x (Op Optimizer s 0 0) = true) by ok.
  assert (A : start w + d w <= start (Op Sync s 0 0)).
  { apply W; auto. unfold waits. cbn [what place]. rewrite Pw, Lw, !Nat.eqb_refl. unfold last_pass in Lw.
    destruct (what w) as [| | | | |[]|[]|[]|[]| |]; try discriminate; destruct (overlapped x); apply orb_true_r. }
  unfold syncs_at. destruct (embedding x && is_end x s) eqn:E.
  - parts in E. destruct E as [E1 E2]. assert (Ve : valid x (Op EmbeddingSync 0 0 0) = true) by (unfold valid; cbn; rewrite E1; reflexivity).
    assert (B : start (Op Sync s 0 0) + d (Op Sync s 0 0) <= start (Op EmbeddingSync 0 0 0)) by (apply W; auto).
    assert (C : start (Op EmbeddingSync 0 0 0) + d (Op EmbeddingSync 0 0 0) <= start (Op Optimizer s 0 0)) by (apply W; auto). lia.
  - assert (B : start (Op Sync s 0 0) + d (Op Sync s 0 0) <= start (Op Optimizer s 0 0)); [|lia].
    apply W; auto. unfold waits. cbn [what place in_stream in_link precedes]. rewrite Nat.eqb_refl. reflexivity.
Qed.

Lemma last_in w : last_pass x w = true -> exists i, in_stream x w = Some (on_rank x (place w), i).
Proof. unfold last_pass, in_stream. destruct (what w); try discriminate; eauto. Qed.
Definition before_pass s (w : op) l := of_rank s l /\ NoDup l /\ forall u i j, In u l -> in_stream x u = Some (s, i) -> in_stream x w = Some (s, j) -> (i < j)%nat.
(* What is in a rank's stream before one of its operations. *)
Lemma until s w l : (s < rank_count x)%nat -> valid x w = true -> (exists j, in_stream x w = Some (s, j)) -> before_pass s w l -> (forall u, 0 <= d u) -> start (opens s) + length_of d l <= start w.
Proof.
  intros Hs Vw (j & Ej) (Hr & Hn & Hl) Hd. pose proof Hr as Hr'. unfold of_rank, of_row in Hr'. rewrite Forall_forall in Hr'. apply (in_row s (length l) l); auto.
  - apply stream_opens with (s := s); eauto.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & I). apply stream_opens with (s := s); auto.
  - intros u Hu. destruct (Hr' u Hu) as (Vu & i & Ei). apply (waits_stream _ _ s i j); auto. eapply Hl; eauto.
Qed.
(* After a rank's last pass its syncs, one after another, where they are not overlapped. *)
Lemma syncs_end s w q e : overlapped x = false -> valid x w = true -> last_pass x w = true -> on_rank x (place w) = s -> syncs_of s q -> NoDup q ->
  (forall u, In u q -> start u + d u <= e) -> start w + d w <= e -> start w + d w + length_of d q <= e.
Proof.
  intros Ho Vw Lw Rw Hq Nq He Hwe. pose proof Hq as Hq'. unfold syncs_of, of_row in Hq'. rewrite Forall_forall in Hq'.
  apply (row _ (ended_once Sync) (fun u v r i j => waits_syncs u v r i j Ho) s (length q) q); auto.
  intros u Hu. destruct (Hq' u Hu) as (Vu & i & Iu). destruct Ht as (_ & _ & _ & W & _). apply W; auto. unfold in_order_of in Iu. destruct u as [k p b y]. cbn [what place] in Iu. destruct k; try discriminate Iu. injection Iu as Ru _.
  unfold waits. cbn [what place]. rewrite Lw, Ho, Rw, Ru, Nat.eqb_refl. unfold last_pass in Lw. destruct (what w); try discriminate Lw; rewrite orb_true_r; reflexivity.
Qed.
(* THEOREM 8.6, ending: l holds nothing that comes after the rank's last pass w: what that sends is
   beside it. The step of the stage that it is of; or, without overlap, all of the rank's syncs. *)
Theorem ending s w l : barrier x = true -> (s < rank_count x)%nat -> valid x w = true -> on_rank x (place w) = s -> last_pass x w = true -> (forall u, 0 <= d u) -> before_pass s w l ->
  fill s + length_of d l + d w + syncs_at (place w) + d (Op Optimizer (place w) 0 0) <= T.
Proof.
  intros Hb Hs Vw Pw Lw Hd Hl. assert (Hp : (place w < stages x)%nat) by (unfold last_pass in Lw; unfold valid in Vw; destruct (what w); try discriminate; facts in Vw; lia).
  pose proof (ends_with w _ Hp Vw eq_refl Lw). pose proof (begins_late ltac:(lia)). pose proof (reaches s Hs).
  destruct (last_in w Lw) as (j & Ej). rewrite Pw in Ej. pose proof (until s w l Hs Vw ltac:(eauto) Hl Hd).
  destruct Ht as (_ & _ & He & _). specialize (He Hb (Op Optimizer (place w) 0 0) ltac:(ok)). lia.
Qed.
Theorem ending_syncs s w l q : barrier x = true -> overlapped x = false -> (s < rank_count x)%nat -> valid x w = true -> on_rank x (place w) = s -> last_pass x w = true -> (forall u, 0 <= d u) -> before_pass s w l ->
  syncs_of s q -> NoDup q -> fill s + length_of d l + d w + length_of d q <= T.
Proof.
  intros Hb Ho Hs Vw Pw Lw Hd Hl Hq Nq. pose proof (begins_late ltac:(lia)). pose proof (reaches s Hs). destruct (last_in w Lw) as (j & Ej). rewrite Pw in Ej. pose proof (until s w l Hs Vw ltac:(eauto) Hl Hd).
  cut (start w + d w + length_of d q <= T); [lia|]. destruct Ht as (_ & _ & He & _). apply (syncs_end s w q T); auto. unfold syncs_of, of_row in Hq. rewrite Forall_forall in Hq. intros u Hu. destruct (Hq u Hu) as (Vu & _). auto.
Qed.
(* Of a rank alone, with inputs that may be read from a file: nothing before it. *)
Lemma starts_late s : (s < rank_count x)%nat -> 0 <= start (opens s).
Proof. intros Hs. destruct Ht as (_ & H0 & _). apply H0, opens_valid, Hs. Qed.
Theorem ending_alone s w l : barrier x = true -> (s < rank_count x)%nat -> valid x w = true -> on_rank x (place w) = s -> last_pass x w = true -> (forall u, 0 <= d u) -> before_pass s w l ->
  length_of d l + d w + syncs_at (place w) + d (Op Optimizer (place w) 0 0) <= T.
Proof.
  intros Hb Hs Vw Pw Lw Hd Hl. assert (Hp : (place w < stages x)%nat) by (unfold last_pass in Lw; unfold valid in Vw; destruct (what w); try discriminate; facts in Vw; lia).
  pose proof (ends_with w _ Hp Vw eq_refl Lw). pose proof (starts_late s Hs). destruct (last_in w Lw) as (j & Ej). rewrite Pw in Ej. pose proof (until s w l Hs Vw ltac:(eauto) Hl Hd).
  destruct Ht as (_ & _ & He & _). specialize (He Hb (Op Optimizer (place w) 0 0) ltac:(ok)). lia.
Qed.
Theorem ending_syncs_alone s w l q : barrier x = true -> overlapped x = false -> (s < rank_count x)%nat -> valid x w = true -> on_rank x (place w) = s -> last_pass x w = true -> (forall u, 0 <= d u) -> before_pass s w l ->
  syncs_of s q -> NoDup q -> length_of d l + d w + length_of d q <= T.
Proof.
  intros Hb Ho Hs Vw Pw Lw Hd Hl Hq Nq. pose proof (starts_late s Hs). destruct (last_in w Lw) as (j & Ej). rewrite Pw in Ej. pose proof (until s w l Hs Vw ltac:(eauto) Hl Hd).
  cut (start w + d w + length_of d q <= T); [lia|]. destruct Ht as (_ & _ & He & _). apply (syncs_end s w q T); auto. unfold syncs_of, of_row in Hq. rewrite Forall_forall in Hq. intros u Hu. destruct (Hq u Hu) as (Vu & _). auto.
Qed.
Lemma first_ends : splits x = false -> (0 < rank_count x)%nat ->
  start (Op Backward 0 (batches x - 1) 0) + d (Op Backward 0 (batches x - 1) 0) + syncs_at 0 + d (Op Optimizer 0 0 0) <= begins + T.
Proof.
  intros Hs Hp. pose proof (closes Hp). cut (start (Op Backward 0 (batches x - 1) 0) + d (Op Backward 0 (batches x - 1) 0) + syncs_at 0 <= start (Op Optimizer 0 0 0)); [lia|].
  apply (ends_with _ 0); auto; [lia|ok|]. unfold last_pass. cbn [what batch slice]. rewrite Hs.
  replace (S (batches x - 1) =? batches x)%nat with true by (symmetry; apply Nat.eqb_eq; lia). reflexivity.
Qed.
(* THEOREM 8.7, drain, where the backward is joint: l holds operations before the last backward of the
   rank's first stage, which returns through the stages before. *)
Theorem drain s l : let w := Op Backward s (batches x - 1) 0 in splits x = false -> (s < rank_count x)%nat -> (forall u, 0 <= d u) -> before_pass s w l ->
  fill s + length_of d l + sum_over (step_back (batches x - 1) 0) 0 s + d (Op Backward 0 (batches x - 1) 0) + syncs_at 0 + d (Op Optimizer 0 0 0) <= T.
Proof.
  intros w Hsp Hs Hd Hl. pose proof (first_ends Hsp ltac:(lia)) as E. pose proof (reaches s Hs).
  pose proof (back_through (batches x - 1) 0 ltac:(lia) ltac:(lia) s 0 ltac:(lia)) as B. cbn [Nat.add] in B.
  assert (A : start (opens s) + length_of d l <= start w); [|unfold w in A; lia].
  apply (until s w l Hs); auto; [unfold w; ok|]. exists (3 * turn x s Backward (batches x - 1) 0 + 1)%nat. unfold w. here.
Qed.
(* THEOREM 8.4, the mean: what all ranks do together is at most T each. *)
Theorem mean (ls qs : nat -> list op) : (forall u, 0 <= d u) -> (forall s, (s < rank_count x)%nat -> of_rank s (ls s) /\ NoDup (ls s) /\ steps_of s (qs s) /\ NoDup (qs s)) ->
  sum_over (fun s => length_of d (ls s) + length_of d (qs s)) 0 (rank_count x) <= Z.of_nat (rank_count x) * T.
Proof.
  intros Hd Hl. assert (G : forall n a, (a + n <= rank_count x)%nat -> sum_over (fun s => length_of d (ls s) + length_of d (qs s)) a n <= Z.of_nat n * T).
  { induction n as [|n IH]; intros a Ha; cbn [sum_over]; [lia|]. specialize (IH (S a) ltac:(lia)). destruct (Hl a ltac:(lia)) as (A & B & C & D). pose proof (load a (ls a) (qs a) ltac:(lia) A B C D Hd). lia. }
  apply G. lia.
Qed.

(* ---- 8.11, without a barrier: 8.6 returns to the rank's start as 8.5 does. Drain, turn and crossing
   are the same as with one. *)
Theorem ending_again s w l : barrier x = false -> (s < rank_count x)%nat -> valid x w = true -> on_rank x (place w) = s -> last_pass x w = true -> (forall u, 0 <= d u) -> before_pass s w l ->
  length_of d l + d w + syncs_at (place w) + d (Op Optimizer (place w) 0 0) <= T.
Proof.
  intros Hb Hs Vw Pw Lw Hd Hl. assert (Hp : (place w < stages x)%nat) by (unfold last_pass in Lw; unfold valid in Vw; destruct (what w); try discriminate; facts in Vw; lia).
  pose proof (ends_with w _ Hp Vw eq_refl Lw). destruct (last_in w Lw) as (j & Ej). rewrite Pw in Ej. pose proof (until s w l Hs Vw ltac:(eauto) Hl Hd).
  assert (Q : start (Op Optimizer (place w) 0 0) + d (Op Optimizer (place w) 0 0) <= start (opens s) + T); [|lia].
  destruct Ht as (_ & _ & _ & _ & C). apply (C Hb); [ok|apply opens_valid; exact Hs|]. unfold carries. cbn [rank_of what place]. rewrite Pw.
  unfold rank_of. destruct s as [|r]; cbn [opens]; [|destruct (is_sent x Onward r)]; cbn [what in_stream place alike]; rewrite own_rank, Nat.eqb_refl by lia; reflexivity.
Qed.
Theorem ending_syncs_again s w l q : barrier x = false -> overlapped x = false -> (s < rank_count x)%nat -> valid x w = true -> on_rank x (place w) = s -> last_pass x w = true -> (forall u, 0 <= d u) -> before_pass s w l ->
  syncs_of s q -> NoDup q -> length_of d l + d w + length_of d q <= T.
Proof.
  intros Hb Ho Hs Vw Pw Lw Hd Hl Hq Nq. destruct (last_in w Lw) as (j & Ej). rewrite Pw in Ej. pose proof (until s w l Hs Vw ltac:(eauto) Hl Hd).
  cut (start w + d w + length_of d q <= start (opens s) + T); [lia|]. pose proof (opens_valid s Hs) as Vo. pose proof Ht as (_ & _ & _ & W & C).
  assert (O : alike (Some s) (rank_of x (opens s)) = true) by (unfold rank_of; destruct s as [|r]; cbn [opens]; [|destruct (is_sent x Onward r)]; cbn [what in_stream place alike]; rewrite own_rank, Nat.eqb_refl by lia; reflexivity).
  apply (syncs_end s w q); auto; [unfold syncs_of, of_row in Hq; rewrite Forall_forall in Hq; intros u Hu|].
  - destruct (Hq u Hu) as (Vu & i & Iu). destruct u as [k p b y]. unfold in_order_of in Iu. cbn [what place] in Iu. destruct k; try discriminate Iu. injection Iu as Ru _.
    unfold valid in Vu. cbn [what place batch slice] in Vu. facts in Vu. destruct Vu as (Lp & -> & ->).
    assert (A : start (Op Sync p 0 0) + d (Op Sync p 0 0) <= start (Op Optimizer p 0 0)) by (apply W; [ok|ok|]; unfold waits; cbn [what place in_stream in_link precedes]; rewrite Nat.eqb_refl; reflexivity).
    assert (B : start (Op Optimizer p 0 0) + d (Op Optimizer p 0 0) <= start (opens s) + T) by (apply (C Hb); [ok|exact Vo|]; unfold carries; cbn [rank_of what place]; rewrite Ru, O; reflexivity).
    specialize (Hd (Op Optimizer p 0 0)). lia.
  - apply (C Hb); auto. unfold carries. replace (rank_of x w) with (Some s); [rewrite O; reflexivity|]. unfold rank_of. rewrite Ej. unfold last_pass in Lw. destruct (what w); try discriminate; reflexivity.
Qed.
(* ---- 8.8, 8.9: one stage per rank *)
Hypothesis one_each : several x = false.
Let as_many : rank_count x = stages x.
Proof. unfold rank_count. rewrite one_each. reflexivity. Qed.
Let turn_is s k b y := turn_is x s k b y one_each.
(* With a split backward the first stage's last weight gradient is between the two. *)
Definition last_weight := if splits x then d (Op Weight 0 (batches x - 1) 0) else 0.
Lemma first_ends_either : slices x = 1%nat -> (0 < rank_count x)%nat ->
  start (Op Backward 0 (batches x - 1) 0) + d (Op Backward 0 (batches x - 1) 0) + last_weight + syncs_at 0 + d (Op Optimizer 0 0 0) <= begins + T.
Proof.
  intros Hk Hp. pose proof (closes Hp). unfold last_weight. destruct (splits x) eqn:Hs; [|rewrite Z.add_0_r; apply first_ends; auto].
  assert (Vw : valid x (Op Weight 0 (batches x - 1) 0) = true) by (unfold valid; cbn [what place batch slice]; rewrite Hs; cbn [andb]; try (facts); lia).
  assert (E := ends_with (Op Weight 0 (batches x - 1) 0) 0%nat ltac:(lia) Vw eq_refl). cbn [last_pass what batch] in E.
  specialize (E ltac:(apply Nat.eqb_eq; lia)).
  assert (A : start (Op Backward 0 (batches x - 1) 0) + d (Op Backward 0 (batches x - 1) 0) <= start (Op Weight 0 (batches x - 1) 0)).
  { apply (waits_stream _ _ 0 (3 * turn x 0 Backward (batches x - 1) 0 + 1) (3 * turn x 0 Weight (batches x - 1) 0 + 1)); try here; try exact Vw; try ok. rewrite !turn_is, Hk. lia. }
  lia.
Qed.
(* THEOREM 8.8, turn: the rank's operations up to its last forward; that slice onward to the last
   stage and back; l2, the rank's backwards of its micro-batch; its first slice back to the first stage. *)
Definition from_to s a b (l : list op) := of_rank s l /\ NoDup l /\
  forall u k i j, In u l -> in_stream x u = Some (s, k) -> in_stream x a = Some (s, i) -> in_stream x b = Some (s, j) -> (i <= k < j)%nat.
Definition turns_once := slices x = 1%nat \/ (splits x = false /\ forall r, ahead x r = total x).
Theorem turning s l l2 : let m := (batches x - 1)%nat in let z := (slices x - 1)%nat in let e := (stages x - 1)%nat in let w := Op Forward s m z in
  turns_once -> (s < stages x)%nat -> (forall u, 0 <= d u) -> before_pass s w l ->
  from_to s (Op Backward s m z) (Op Backward s m 0) l2 ->
  fill s + length_of d l + sum_over (step_on m z) s (e - s) + d (Op Forward e m z) + sum_over (step_back m z) s (e - s) + length_of d l2
  + sum_over (step_back m 0) 0 s + d (Op Backward 0 m 0) + last_weight + syncs_at 0 + d (Op Optimizer 0 0 0) <= T.
Proof.
  intros m z e w Hk Hs Hd Hl (Q1 & Q2 & Q3). assert (Em : (m < batches x)%nat) by (unfold m; lia). assert (Ez : (z < slices x)%nat) by (unfold z; lia). assert (Ee : (e < stages x)%nat) by (unfold e; lia).
  assert (E : start (Op Backward 0 m 0) + d (Op Backward 0 m 0) + last_weight + syncs_at 0 + d (Op Optimizer 0 0 0) <= begins + T).
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
  pose proof (reaches s ltac:(lia)). assert (A : start (opens s) + length_of d l <= start w); [|unfold w in A; lia].
  apply (until s w l ltac:(lia)); auto; [unfold w; ok|]. exists (3 * turn x s Forward m z + 1)%nat. unfold w. here.
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
  + d (Op Backward 0 m 0) + syncs_at 0 + d (Op Optimizer 0 0 0) <= T.
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
End Timed.
End Of.
Definition theorems := (@stream, @ending, @ending_syncs, @drain, @turning, @crossing, @mean, @load, @ending_again, @ending_syncs_again, @ending_alone, @ending_syncs_alone).
