(* 8.8 of docs/PROOFS.md, turn, where a rank has several stages and the schedule does not fold. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Streams Bounds.
Import ListNotations.
Open Scope Z_scope.

Section Of.
Variable x : shape.
Hypothesis Hx : regular x.
Hypothesis many : several x = true.
Hypothesis straight : folds x = false.
Hypothesis none_local : forall b, is_local x b = false.
Lemma none_stored b : stored x && is_local x b = false.
Proof. rewrite none_local, andb_false_r. reflexivity. Qed.
Lemma always dir u : leaves_rank x u = true -> is_sent x dir u = true.
Proof. intros L. unfold is_sent. rewrite L, none_local, andb_false_r. destruct dir; reflexivity. Qed.
Lemma given : (1 <= batches x /\ slices x = 1 /\ 1 <= ranks x /\ 1 <= each x /\ stages x = each x * ranks x /\ 1 <= group_size x)%nat.
Proof. destruct Hx as (A & _ & H). destruct (H many) as (B & C & D & E & _). repeat split; auto. apply group_some; auto. Qed.
Lemma some_batches : (1 <= batches x)%nat. Proof. apply given. Qed.
Lemma one_slice : slices x = 1%nat. Proof. apply given. Qed.
Lemma some_group : (1 <= group_size x)%nat. Proof. apply given. Qed.
Lemma some_each : (1 <= each x)%nat. Proof. apply given. Qed.
Lemma stages_is : stages x = (each x * ranks x)%nat. Proof. apply given. Qed.
Lemma some_ranks : (1 <= ranks x)%nat. Proof. apply given. Qed.
Lemma joint : splits x = false.
Proof. pose proof many as M. pose proof straight as F. unfold several, folds, splits in *. destruct (schedule x); try discriminate; reflexivity. Qed.
Lemma rank_mod s : on_rank x s = (s mod ranks x)%nat.
Proof. unfold on_rank. rewrite many, straight. reflexivity. Qed.
Lemma turn_many s k b : turn x s k b 0 = match k with
  | Forward => 3 * number_of x (round_of x s) b 0 | Backward => 3 * (number_of x (each x - 1 - round_of x s) b 0 + ahead x s) + 1
  | _ => 3 * (b + behind x s + ahead x s) + 2 end%nat.
Proof. pose proof many as M. pose proof straight as F. unfold turn. rewrite one_slice. unfold several, folds in M, F. destruct (schedule x); try discriminate; reflexivity. Qed.
Lemma number_many r b : number_of x r b 0 = ((b / group_size x * each x + r) * group_size x + b mod group_size x)%nat.
Proof. unfold number_of. rewrite many. reflexivity. Qed.
(* A stage and the next on one rank: there is one rank. *)
Lemma alone u : (S u < stages x)%nat -> leaves_rank x u = false -> ranks x = 1%nat /\ round_of x (S u) = S (round_of x u).
Proof.
  intros Hu L. unfold leaves_rank in L. rewrite negb_false_iff, Nat.eqb_eq, !rank_mod in L. assert (E : ranks x = 1%nat).
  { pose proof some_ranks. destruct (Nat.le_gt_cases (ranks x) 1) as [?|G]; [lia|exfalso]. pose proof (Nat.div_mod_eq u (ranks x)) as A. pose proof (Nat.div_mod_eq (S u) (ranks x)) as B. rewrite <- L in B.
    assert (D : (ranks x * (S u / ranks x) = S (ranks x * (u / ranks x)))%nat) by lia. assert (Q : exists q, (ranks x * q = 1)%nat) by (exists (S u / ranks x - u / ranks x)%nat; rewrite Nat.mul_sub_distr_l; lia). destruct Q as (q & Q). destruct q; nia. }
  split; [exact E|]. unfold round_of. rewrite E, !Nat.div_1_r. reflexivity.
Qed.
Lemma round_few u : (u < stages x)%nat -> (round_of x u < each x)%nat.
Proof. intros H. apply (rank_is x Hx u many H). Qed.
Lemma ahead_same u v : (u mod ranks x = v mod ranks x)%nat -> ahead x u = ahead x v.
Proof. intros E. pose proof many as M. unfold ahead. rewrite E. unfold several in M. destruct (schedule x); try discriminate; reflexivity. Qed.
(* On the last stage the forward of a micro-batch comes before its backward. *)
Lemma last_turns b : (b < batches x)%nat -> let e := (stages x - 1)%nat in (turn x e Forward b 0 < turn x e Backward b 0)%nat.
Proof.
  intros Hb e. pose proof some_ranks. pose proof some_each. pose proof some_group. assert (P : (0 < stages x)%nat) by (rewrite stages_is; nia). assert (R : (round_of x e = each x - 1)%nat).
  { unfold round_of, e. rewrite stages_is. symmetry. apply Nat.div_unique with (r := (ranks x - 1)%nat); nia. }
  rewrite !turn_many, !number_many, R, Nat.sub_diag. assert (A : ((each x - 1) * group_size x <= ahead x e)%nat).
  { unfold ahead. pose proof many as M. unfold several in M. destruct (schedule x) eqn:S; try discriminate M; try lia.
    all: pose proof straight as F; unfold folds in F; rewrite S in F; try discriminate F. unfold group_size, total. rewrite S, one_slice. nia. }
  rewrite Nat.add_0_r, Nat.mul_add_distr_r. lia.
Qed.

Section Timed.
Variables (d start : op -> Z) (T : Z).
Hypothesis Ht : timing x d start T.
(* One micro-batch from a stage onward, and back; a message where the next stage is on another rank. *)
Definition sends dir u j := if leaves_rank x u then d (Op (Sends dir) u j 0) + message d u dir j 0 + d (Op (Receives dir) u j 0) else 0.
Definition hop_on j u := d (Op Forward u j 0) + sends Onward u j.
Definition hop_back j u := d (Op Backward (S u) j 0) + sends Back u j.
Ltac ok := unfold valid; cbn [what place batch slice]; try (facts); repeat split; try assumption; try lia; try (apply always; assumption); auto.
Lemma follows u v r i j : valid x u = true -> valid x v = true -> in_stream x u = Some (r, i) -> in_stream x v = Some (r, j) -> (i < j)%nat -> start u + d u <= start v.
Proof. apply (waits_stream x Hx d start T Ht). Qed.
Lemma sends_through dir u j : (S u < stages x)%nat -> (j < batches x)%nat -> leaves_rank x u = true ->
  start (Op (Sends dir) u j 0) + d (Op (Sends dir) u j 0) + message d u dir j 0 <= start (Op (Receives dir) u j 0).
Proof.
  intros Hu Hj L. pose proof one_slice. pose proof Ht as (_ & _ & _ & W & _). assert (V : forall k, In k [Sends dir; Links dir; Delays dir; Receives dir] -> valid x (Op k u j 0) = true) by (intros k [<-|[<-|[<-|[<-|[]]]]]; ok).
  assert (M : forall a b, waits x a b = true -> valid x a = true -> valid x b = true -> start a + d a <= start b) by (intros; apply W; auto).
  assert (E : forall a b, same_message (Op a u j 0) (Op b u j 0) = true) by (intros; unfold same_message; cbn; rewrite !Nat.eqb_refl; reflexivity).
  assert (A : start (Op (Sends dir) u j 0) + d (Op (Sends dir) u j 0) <= start (Op (Links dir) u j 0)) by (apply M; try (apply V; cbn; auto 6); unfold waits; cbn [what]; destruct dir; cbn [same_direction]; rewrite E; apply orb_true_r).
  assert (B : start (Op (Links dir) u j 0) + d (Op (Links dir) u j 0) <= start (Op (Delays dir) u j 0)) by (apply M; try (apply V; cbn; auto 6); unfold waits; cbn [what]; destruct dir; cbn [same_direction]; rewrite E; apply orb_true_r).
  assert (C : start (Op (Delays dir) u j 0) + d (Op (Delays dir) u j 0) <= start (Op (Receives dir) u j 0)) by (apply M; try (apply V; cbn; auto 6); unfold waits; cbn [what]; destruct dir; cbn [same_direction]; rewrite E; apply orb_true_r).
  unfold message. lia.
Qed.
Lemma one_hop_on j u : (S u < stages x)%nat -> (j < batches x)%nat -> start (Op Forward u j 0) + hop_on j u <= start (Op Forward (S u) j 0).
Proof.
  intros Hu Hj. pose proof one_slice. pose proof some_group. unfold hop_on, sends. destruct (leaves_rank x u) eqn:L.
  - pose proof (sends_through Onward u j Hu Hj L).
    assert (A : start (Op Forward u j 0) + d (Op Forward u j 0) <= start (Op (Sends Onward) u j 0)).
    { apply (follows _ _ (on_rank x u) (3 * turn x u Forward j 0 + 1) (3 * turn x u Forward j 0 + 2)); try reflexivity; try lia; ok. }
    assert (C : start (Op (Receives Onward) u j 0) + d (Op (Receives Onward) u j 0) <= start (Op Forward (S u) j 0)).
    { apply (follows _ _ (on_rank x (S u)) (3 * turn x (S u) Forward j 0 + 0) (3 * turn x (S u) Forward j 0 + 1)); try reflexivity; try lia; ok. }
    lia.
  - destruct (alone u Hu L) as (R & N). rewrite Z.add_0_r. unfold leaves_rank in L. rewrite negb_false_iff, Nat.eqb_eq in L.
    apply (follows _ _ (on_rank x u) (3 * turn x u Forward j 0 + 1) (3 * turn x (S u) Forward j 0 + 1)); [ok|ok|reflexivity|rewrite L; reflexivity|]. rewrite !turn_many, !number_many, N. nia.
Qed.
Lemma one_hop_back j u : (S u < stages x)%nat -> (j < batches x)%nat -> start (Op Backward (S u) j 0) + hop_back j u <= start (Op Backward u j 0).
Proof.
  intros Hu Hj. pose proof one_slice. pose proof some_group. unfold hop_back, sends. destruct (leaves_rank x u) eqn:L.
  - pose proof (sends_through Back u j Hu Hj L).
    assert (A : start (Op Backward (S u) j 0) + d (Op Backward (S u) j 0) <= start (Op (Sends Back) u j 0)).
    { apply (follows _ _ (on_rank x (S u)) (3 * turn x (S u) Backward j 0 + 1) (3 * turn x (S u) Backward j 0 + 2)); try reflexivity; try lia; ok. }
    assert (C : start (Op (Receives Back) u j 0) + d (Op (Receives Back) u j 0) <= start (Op Backward u j 0)).
    { apply (follows _ _ (on_rank x u) (3 * turn x u Backward j 0 + 0) (3 * turn x u Backward j 0 + 1)); try reflexivity; try lia; ok. }
    lia.
  - destruct (alone u Hu L) as (R & N). rewrite Z.add_0_r. unfold leaves_rank in L. rewrite negb_false_iff, Nat.eqb_eq in L.
    apply (follows _ _ (on_rank x u) (3 * turn x (S u) Backward j 0 + 1) (3 * turn x u Backward j 0 + 1)); [ok|ok|rewrite L; reflexivity|reflexivity|].
    rewrite !turn_many, !number_many, N. rewrite (ahead_same u (S u)) by (rewrite R, !Nat.mod_1_r; reflexivity). pose proof (round_few (S u) Hu) as Q. rewrite N in Q.
    replace (each x - 1 - round_of x u)%nat with (S (each x - 1 - S (round_of x u))) by lia. nia.
Qed.
Lemma hops_on j : (j < batches x)%nat -> forall n s, (s + n < stages x)%nat -> start (Op Forward s j 0) + sum_over (hop_on j) s n <= start (Op Forward (s + n) j 0).
Proof.
  intros Hj. induction n as [|n IH]; intros s Hs; cbn [sum_over]; [rewrite Nat.add_0_r; lia|].
  pose proof (one_hop_on j s ltac:(lia) Hj). specialize (IH (S s) ltac:(lia)). replace (s + S n)%nat with (S s + n)%nat by lia. lia.
Qed.
Lemma hops_back j : (j < batches x)%nat -> forall n s, (s + n < stages x)%nat -> start (Op Backward (s + n) j 0) + sum_over (hop_back j) s n <= start (Op Backward s j 0).
Proof.
  intros Hj. induction n as [|n IH]; intros s Hs; cbn [sum_over]; [rewrite Nat.add_0_r; lia|].
  pose proof (one_hop_back j s ltac:(lia) Hj). specialize (IH (S s) ltac:(lia)). replace (s + S n)%nat with (S s + n)%nat by lia. lia.
Qed.
(* THEOREM 8.8, turn, several stages per rank: l, the rank's operations before the forward of any of
   its stages of the last micro-batch; from there onward through all later stages, back through all. *)
Theorem turning_many s l : let m := (batches x - 1)%nat in let e := (stages x - 1)%nat in (s < stages x)%nat -> (forall u, 0 <= d u) -> before_pass x (on_rank x s) (Op Forward s m 0) l ->
  fill d (on_rank x s) + length_of d l + sum_over (hop_on m) s (e - s) + d (Op Forward e m 0) + sum_over (hop_back m) 0 e + d (Op Backward 0 m 0) + syncs_at x d 0 + d (Op Optimizer 0 0 0) <= T.
Proof.
  intros m e Hs Hd Hl. pose proof some_batches. pose proof one_slice. assert (Hm : (m < batches x)%nat) by (unfold m; lia). assert (He : (e < stages x)%nat) by (unfold e; lia). pose proof (on_some x Hx s Hs) as Ho.
  pose proof (first_ends x Hx d start T Ht joint ltac:(lia)) as E. fold m in E. pose proof (reaches x Hx none_stored d start T Ht (on_rank x s) Ho) as R.
  pose proof (hops_on m Hm (e - s) s ltac:(lia)) as F. replace (s + (e - s))%nat with e in F by lia. pose proof (hops_back m Hm e 0 ltac:(lia)) as B. cbn [Nat.add] in B.
  assert (M : start (Op Forward e m 0) + d (Op Forward e m 0) <= start (Op Backward e m 0)).
  { pose proof (last_turns m Hm) as L. cbn zeta in L. fold e in L. apply (follows _ _ (on_rank x e) (3 * turn x e Forward m 0 + 1) (3 * turn x e Backward m 0 + 1)); [ok|ok|reflexivity|reflexivity|lia]. }
  assert (A : start (opens x (on_rank x s)) + length_of d l <= start (Op Forward s m 0)).
  { apply (until x Hx d start T Ht (on_rank x s) (Op Forward s m 0) l Ho); auto; [ok|]. eexists. reflexivity. }
  lia.
Qed.
End Timed.
End Of.
