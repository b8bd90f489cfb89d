(* What layers make of the way through other ranks' stages (docs/PROOFS.md 8.8, 8.9), as Layers.v does of fill
   and drain. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Document Streams Bounds Turns Filling Layers.
Import ListNotations.
Open Scope Z_scope.

Section Of.
Variable P : problem.
Let x := shape_of P.
Hypothesis Hx : regular x.
Variable plan : list decision.
Let d := lasts P plan.
Hypothesis Hd : forall u, 0 <= d u.
Hypothesis Hl : local_adds P.
Hypothesis none_local : forall b, is_local x b = false.
Lemma none_stored b : stored x && is_local x b = false.
Proof. rewrite none_local, andb_false_r. reflexivity. Qed.
Definition layers_at s low := per (holds_layers P (decided plan s)) low.
(* of a layer of each run, on any group and in any mode *)
Variables forth back : nat -> Z.
Hypothesis forth_least : forall s y r, (y < slices x)%nat -> forth r <= forward_ns (run_at P r) y (on (decided plan s)).
Hypothesis back_least : forall s y r m, (y < slices x)%nat -> back r <= layer_backward (run_at P r) m y (on (decided plan s)).
Lemma forth_at s j y : (y < slices x)%nat -> layers_at s forth <= d (Op Forward s j y).
Proof. intros H. apply forward_takes; auto. Qed.
Lemma back_at s j y : (y < slices x)%nat -> layers_at s back <= d (Op Backward s j y).
Proof. intros H. apply backward_takes; auto. Qed.
Variables send_forth send_back : Z.
Hypothesis forth_sent : forall j y u, send_forth <= d (Op (Sends Onward) u j y) + message d u Onward j y + d (Op (Receives Onward) u j y).
Hypothesis back_sent : forall j y u, send_back <= d (Op (Sends Back) u j y) + message d u Back j y + d (Op (Receives Back) u j y).
Lemma on_of_layers j y : (y < slices x)%nat -> forall n a, sum (map (fun u => layers_at u forth) (seq (S a) n)) + Z.of_nat n * send_forth <= sum_over (step_on d j y) a n + d (Op Forward (a + n) j y) - d (Op Forward a j y).
Proof.
  intros Hy. induction n as [|n IH]; intros a; [cbn [seq map sum fold_right sum_over]; rewrite Nat.add_0_r; lia|]. cbn [seq map sum_over]. rewrite sum_cons. specialize (IH (S a)). replace (S a + n)%nat with (a + S n)%nat in IH by lia.
  pose proof (forth_at (S a) j y Hy). pose proof (forth_sent j y a). unfold step_on at 1. lia.
Qed.
Lemma back_of_layers j y : (y < slices x)%nat -> forall n a, sum (map (fun u => layers_at u back) (seq (S a) n)) + Z.of_nat n * send_back <= sum_over (step_back d j y) a n.
Proof.
  intros Hy. induction n as [|n IH]; intros a; [cbn; lia|]. cbn [seq map sum_over]. rewrite sum_cons. specialize (IH (S a)). pose proof (back_at (S a) j y Hy). pose proof (back_sent j y a). unfold step_back at 1. lia.
Qed.
(* THEOREM 8.8, one stage per rank, in layers: own, the rank's passes on the path; every layer elsewhere
   forward and backward; all messages, but of the one that opens the rank's stream what that counts. *)
Theorem turn_of_layers start T s l l2 opening : several x = false -> timing x d start T -> turns_once x -> (s < stages x)%nat ->
  let m := (batches x - 1)%nat in let z := (slices x - 1)%nat in let e := (stages x - 1)%nat in
  before_pass x s (Op Forward s m z) l -> from_to x s (Op Backward s m z) (Op Backward s m 0) l2 -> (forall r, opening <= d (Op (Sends Onward) r 0 0) + message d r Onward 0 0) ->
  let own := length_of d l + d (Op Forward s m z) + length_of d l2 + d (Op Backward s m 0) in
  own + sum (map (fun u => layers_at u forth + layers_at u back) (seq 0 s)) + sum (map (fun u => layers_at u forth + layers_at u back) (seq (S s) (e - s)))
  + Z.of_nat s * opening + Z.of_nat (e - s) * send_forth + Z.of_nat e * send_back + last_weight x d + syncs_at x d 0 + d (Op Optimizer 0 0 0) <= T.
Proof.
  intros One Ht Once Hs m z e Hl1 Hl2 Ho own. pose proof (proj1 (proj2 Hx)) as Hy. pose proof (turning x Hx none_stored none_local d start T Ht One s l l2 Once Hs Hd Hl1 Hl2) as Q. cbn zeta in Q. fold m z e in Q.
  pose proof (fill_of_layers P plan Hl forth opening s Hy Hd (fun s r => forth_least s 0%nat r Hy) Ho) as F. pose proof (on_of_layers m z ltac:(unfold z; lia) (e - s) s) as A. replace (s + (e - s))%nat with e in A by (unfold e; lia).
  pose proof (back_of_layers m z ltac:(unfold z; lia) (e - s) s) as B. pose proof (drain_of_layers P plan Hl m back send_back Hy (fun s r k => back_least s 0%nat r k Hy) (back_sent m 0%nat) s) as C.
  rewrite !sum_both. fold d in F, C. unfold layers_at in *. replace (Z.of_nat e) with (Z.of_nat s + Z.of_nat (e - s)) by (unfold e; lia). unfold own. lia.
Qed.
(* THEOREM 8.8, several stages per rank, in layers: every layer backward, and of the stages of later
   ranks a layer forward and a message each. *)
Theorem turn_of_many start T s l least opening : everywhere P back -> several x = true -> folds x = false -> timing x d start T -> (s < stages x)%nat -> in_order P 0 0 plan = true ->
  let m := (batches x - 1)%nat in before_pass x (on_rank x s) (Op Forward s m 0) l ->
  (forall u, (u < stages x)%nat -> least <= layers_at u forth) -> 0 <= least -> 0 <= send_forth -> (forall r, opening <= d (Op (Sends Onward) r 0 0) + message d r Onward 0 0) ->
  sum (map (fun u => layers_at u forth) (seq 0 (on_rank x s))) + Z.of_nat (on_rank x s) * opening + length_of d l + d (Op Forward s m 0)
  + Z.of_nat (rank_count x - 1 - on_rank x s) * (least + send_forth) + per (model P) back + syncs_at x d 0 + d (Op Optimizer 0 0 0) <= T.
Proof.
  intros Every Many Straight Ht Hs Hin m Hl' Hleast L0 S0 Ho. pose proof (turning_many x Hx Many Straight none_local d start T Ht s l Hs Hd Hl') as Q. cbn zeta in Q. fold m in Q. set (e := (stages x - 1)%nat) in *. pose proof (proj1 (proj2 Hx)) as Hy.
  pose proof (fill_of_layers P plan Hl forth opening (on_rank x s) Hy Hd (fun s r => forth_least s 0%nat r Hy) Ho) as F. fold d in F.
  assert (K : forall dir u j, 0 <= sends x d dir u j) by (intros dir u j; unfold sends, message; destruct (leaves_rank x u); [|lia]; pose proof (Hd (Op (Sends dir) u j 0)); pose proof (Hd (Op (Links dir) u j 0)); pose proof (Hd (Op (Delays dir) u j 0)); pose proof (Hd (Op (Receives dir) u j 0)); lia).
  assert (B : sum (map (fun u => layers_at u back) (seq 0 (stages x))) <= sum_over (hop_back x d m) 0 e + d (Op Backward 0 m 0)).
  { assert (G : forall n a, sum (map (fun u => layers_at u back) (seq (S a) n)) <= sum_over (hop_back x d m) a n).
    { induction n as [|n IH]; intros a; [cbn; lia|]. cbn [seq map sum_over]. rewrite sum_cons. specialize (IH (S a)). pose proof (back_at (S a) m 0%nat ltac:(lia)). pose proof (K Back a m). unfold hop_back at 1. lia. }
    replace (stages x) with (S e) by (unfold e; lia). cbn [seq map]. rewrite sum_cons. specialize (G e 0%nat). pose proof (back_at 0%nat m 0%nat ltac:(lia)). lia. }
  assert (W : sum (map (fun u => layers_at u back) (seq 0 (stages x))) = per (model P) back).
  { pose proof (as_many P plan 0 0 Hin) as Len. cbn [Nat.add] in Len. fold x in Len. transitivity (per (drop 0 (model P)) back); [|destruct (model P) as [|[? ?] ?]; reflexivity].
    rewrite <- (all_layers P back Every plan 0 0 Hin), <- (by_nth (fun e => per (holds_layers P e) back) plan 0), Len. apply sum_same. intros u _. rewrite Nat.sub_0_r. reflexivity. }
  assert (Es : (s + (e - s))%nat = e /\ (s + (e - s) < stages x)%nat) by (clear - Hs; unfold e; lia). destruct Es as [Es Es'].
  assert (A : Z.of_nat (rank_count x - 1 - on_rank x s) * (least + send_forth) + d (Op Forward s m 0) <= sum_over (hop_on x d m) s (e - s) + d (Op Forward e m 0)).
  { destruct (given x Hx Many) as (_ & One & Rk & Ea & St & _). assert (Rc : rank_count x = ranks x) by (unfold rank_count; rewrite Many; reflexivity). pose proof (rank_mod x Many Straight s) as Rm. pose proof (Nat.div_mod_eq s (ranks x)) as Dv. pose proof (Nat.mod_upper_bound s (ranks x) ltac:(lia)) as Mb.
    assert (Far : (rank_count x - 1 - on_rank x s <= e - s)%nat).
    { rewrite Rc, Rm. unfold e. rewrite St in *. assert (Q0 : (s / ranks x < each x)%nat) by (apply Nat.div_lt_upper_bound; lia). assert (Q1 : (ranks x * (s / ranks x) + ranks x <= each x * ranks x)%nat) by (rewrite <- Nat.mul_succ_r, (Nat.mul_comm (each x)); apply Nat.mul_le_mono_l; exact Q0). clear - Q1 Dv Mb. lia. }
    assert (Lv : (1 < ranks x)%nat -> forall u, (S u < stages x)%nat -> leaves_rank x u = true).
    { intros R1 u Hu. destruct (leaves_rank x u) eqn:E; [reflexivity|]. destruct (alone x Hx Many Straight u Hu E). lia. }
    assert (G : forall n a, (a + n < stages x)%nat -> (1 < ranks x)%nat -> Z.of_nat n * (least + send_forth) + d (Op Forward a m 0) <= sum_over (hop_on x d m) a n + d (Op Forward (a + n) m 0)).
    { induction n as [|n IH]; intros a Ha R1; [cbn [sum_over]; rewrite Nat.add_0_r; lia|]. cbn [sum_over]. assert (Sa : (S a < stages x)%nat) by (clear - Ha; lia). rewrite <- Nat.add_succ_comm in Ha |- *. specialize (IH (S a) Ha R1). unfold hop_on at 1, sends. rewrite (Lv R1 a Sa).
      pose proof (forth_sent m 0%nat a) as P1. pose proof (Hleast (S a) Sa) as P2. pose proof (forth_at (S a) m 0%nat Hy) as P3. clear - IH P1 P2 P3. lia. }
    destruct (Nat.le_gt_cases (ranks x) 1) as [R1|R1].
    - replace (rank_count x - 1 - on_rank x s)%nat with 0%nat by (clear - Rc R1; lia). assert (G0 : forall n a, d (Op Forward a m 0) <= sum_over (hop_on x d m) a n + d (Op Forward (a + n) m 0)).
      { induction n as [|n IH]; intros a; [cbn [sum_over]; rewrite Nat.add_0_r; lia|]. cbn [sum_over]. rewrite <- Nat.add_succ_comm. specialize (IH (S a)). unfold hop_on at 1. pose proof (K Onward a m) as P1. pose proof (Hd (Op Forward (S a) m 0)) as P2. clear - IH P1 P2. lia. }
      specialize (G0 (e - s)%nat s). rewrite Es in G0. clear - G0. lia.
    - specialize (G (e - s)%nat s Es' R1). rewrite Es in G. assert (Z.of_nat (rank_count x - 1 - on_rank x s) * (least + send_forth) <= Z.of_nat (e - s) * (least + send_forth)) by (clear - Far L0 S0; apply Z.mul_le_mono_nonneg_r; lia). clear - G H. lia. }
  unfold layers_at in *. lia.
Qed.
End Of.
Lemma cycle k (g : nat -> Z) a : (0 < k)%nat -> sum (map (fun n => g (n mod k)%nat) (seq a k)) = sum (map g (seq 0 k)).
Proof.
  intros Hk. induction a as [|a IH].
  - apply sum_same. intros n Hn. apply in_seq in Hn. rewrite Nat.mod_small by lia. reflexivity.
  - rewrite <- IH. clear IH. destruct k as [|h]; [lia|]. rewrite seq_S, map_app, sum_app. cbn [map seq]. rewrite !sum_cons. replace (S a + h)%nat with (a + 1 * S h)%nat by lia. rewrite Nat.mod_add by lia. change (sum []) with 0. lia.
Qed.
(* ---- 8.9: which passes of a rank, and of the first and the last one, are on the path *)
Section Crossing.
Variable x : shape.
Hypothesis Hx : regular x.
Hypothesis one_each : several x = false.
Variables (d start : op -> Z) (T : Z).
Hypothesis Ht : timing x d start T.
Hypothesis Hd : forall u, 0 <= d u.
Hypothesis none_local : forall b, is_local x b = false.
Hypothesis joint : splits x = false.
Hypothesis first_all : forall r, ahead x r = total x.
(* how long passes take, whichever micro-batch's *)
Variables f b : nat -> nat -> Z.
Hypothesis f_is : forall s j y, d (Op Forward s j y) = f s y.
Hypothesis b_is : forall s j y, d (Op Backward s j y) = b s y.
Variables s z : nat.
Hypothesis Hs : (s < stages x)%nat.
Hypothesis Hz : (z < slices x)%nat.
Let k := slices x.
Let m := (batches x - 1)%nat.
Let e := (stages x - 1)%nat.
Lemma one_cycle (g : nat -> Z) a : sum (map (fun n => g (n mod k)%nat) (seq a k)) = sum (map g (seq 0 k)).
Proof. apply cycle. unfold k. lia. Qed.
Lemma all_cycles (g : nat -> Z) n : forall a, sum (map (fun i => g (i mod k)%nat) (seq a (n * k))) = Z.of_nat n * sum (map g (seq 0 k)).
Proof.
  induction n as [|n IH]; intros a; [reflexivity|]. cbn [Nat.mul]. rewrite seq_app, map_app, sum_app, one_cycle, IH. lia.
Qed.
Definition forwards := map (fun n => Op Forward s (n / k) (n mod k)) (seq z (m * k)).
Definition backwards := map (fun n => Op Backward s (n / k) (k - 1 - n mod k)) (seq (k - 1 - z) (m * k)).
Definition ahead_of := map (Op Forward 0 0) (seq 0 z).
Definition back_home := map (Op Backward 0 m) (seq 1 z).
Definition around := map (Op Forward e m) (seq z (k - z)) ++ map (Op Backward e 0) (seq (S z) (k - 1 - z)).
Lemma k_some : (0 < k)%nat. Proof. unfold k. lia. Qed.
Lemma batches_some : (1 <= batches x)%nat. Proof. apply Hx. Qed.
Lemma number_split n : (n / k * k + n mod k = n)%nat /\ (n mod k < k)%nat.
Proof. pose proof k_some. pose proof (Nat.div_mod_eq n k). pose proof (Nat.mod_upper_bound n k ltac:(lia)). lia. Qed.
Lemma number_few n : (n < m * k + k)%nat -> (n / k < batches x)%nat.
Proof.
  intros H. pose proof k_some. apply Nat.div_lt_upper_bound; [lia|]. pose proof batches_some. replace (batches x) with (S m) by (unfold m; lia). lia.
Qed.
Lemma of_pass t : (t < stages x)%nat -> on_rank x t = t.
Proof. intros H. apply own_rank. unfold rank_count. rewrite one_each. exact H. Qed.
Definition span t i j (l : list op) := NoDup l /\ forall u, In u l -> valid x u = true /\ exists n, in_stream x u = Some (t, n) /\ (i <= n < j)%nat.
Lemma span_from t a c l i j : span t i j l -> in_stream x a = Some (t, i) -> in_stream x c = Some (t, j) -> from_to x t a c l.
Proof.
  intros [N H] Ea Ec. split; [|split; [exact N|]].
  - unfold of_rank, of_row. apply Forall_forall. intros u Hu. destruct (H u Hu) as (V & n & E & _). eauto.
  - intros u n i' j' Hu En Ei Ej. destruct (H u Hu) as (_ & n' & E & L). rewrite En in E. rewrite Ea in Ei. rewrite Ec in Ej. injection E as <-. injection Ei as <-. injection Ej as <-. exact L.
Qed.
Lemma at_forward t j y : (t < stages x)%nat -> in_stream x (Op Forward t j y) = Some (t, 3 * (3 * (j * k + y)) + 1)%nat.
Proof. intros H. unfold in_stream. cbn [what place batch slice]. rewrite (of_pass t H), (turn_is x t Forward j y one_each). reflexivity. Qed.
Lemma at_backward t j y : (t < stages x)%nat -> in_stream x (Op Backward t j y) = Some (t, 3 * (3 * (j * k + (k - 1 - y) + batches x * k) + 1) + 1)%nat.
Proof. intros H. unfold in_stream. cbn [what place batch slice]. rewrite (of_pass t H), (turn_is x t Backward j y one_each), first_all. reflexivity. Qed.
Lemma pass_valid q t j y : q = Forward \/ q = Backward -> (t < stages x)%nat -> (j < batches x)%nat -> (y < k)%nat -> valid x (Op q t j y) = true.
Proof. unfold k. intros [-> | ->] H1 H2 H3; unfold valid; cbn [what place batch slice]; facts; auto. Qed.
Lemma nodup_of {A} (h : nat -> A) a n : (forall i j, h i = h j -> i = j) -> NoDup (map h (seq a n)).
Proof. intros H. apply FinFun.Injective_map_NoDup; [exact H|apply seq_NoDup]. Qed.
(* THEOREM 8.9, in passes: all of the rank's but in one micro-batch, of which slice z alone; slice z
   elsewhere; the first stage's before it and the last one's behind it. *)
Theorem crossing_passes there back : (forall j u, there <= d (Op (Sends Onward) u j z) + message d u Onward j z + d (Op (Receives Onward) u j z)) ->
  (forall j u, back <= d (Op (Sends Back) u j z) + message d u Back j z + d (Op (Receives Back) u j z)) ->
  let both u y := f u y + b u y in
  Z.of_nat m * sum (map (both s) (seq 0 k)) + sum (map (fun u => both u z) (seq 0 (stages x))) + sum (map (both 0%nat) (seq 0 z)) + sum (map (both e) (seq (S z) (k - 1 - z)))
  + Z.of_nat e * (there + back) + syncs_at x d 0 + d (Op Optimizer 0 0 0) <= T.
Proof.
  intros Hthere Hback both. pose proof k_some as K. pose proof batches_some as M. assert (Ee : (e < stages x)%nat) by (unfold e; lia). assert (Em : (m < batches x)%nat) by (unfold m; lia). assert (Zk : (z < k)%nat) by exact Hz.
  assert (L1 : from_to x 0 (Op Forward 0 0 0) (Op Forward 0 0 z) ahead_of).
  { eapply span_from; [|apply at_forward; lia|apply at_forward; lia]. split; [apply nodup_of; intros; congruence|]. intros u Hu. apply in_map_iff in Hu. destruct Hu as (y & <- & Hy). apply in_seq in Hy. split; [apply pass_valid; auto; lia|]. eexists. split; [apply at_forward; lia|lia]. }
  assert (L5 : from_to x 0 (Op Backward 0 m z) (Op Backward 0 m 0) back_home).
  { eapply span_from; [|apply at_backward; lia|apply at_backward; lia]. split; [apply nodup_of; intros; congruence|]. intros u Hu. apply in_map_iff in Hu. destruct Hu as (y & <- & Hy). apply in_seq in Hy. split; [apply pass_valid; auto; lia|]. eexists. split; [apply at_backward; lia|lia]. }
  assert (L2 : from_to x s (Op Forward s 0 z) (Op Forward s m z) forwards).
  { eapply span_from; [|apply at_forward; lia|apply at_forward; lia]. split.
    - apply nodup_of. intros i j E. injection E as E1 E2. destruct (number_split i) as [<- _], (number_split j) as [<- _]. rewrite E1, E2. reflexivity.
    - intros u Hu. apply in_map_iff in Hu. destruct Hu as (n & <- & Hn). apply in_seq in Hn. destruct (number_split n) as [N1 N2]. assert (n / k < batches x)%nat by (apply number_few; clear - Hn Zk; lia).
      split; [apply pass_valid; auto|]. eexists. split; [apply at_forward; lia|lia]. }
  assert (L4 : from_to x s (Op Backward s 0 z) (Op Backward s m z) backwards).
  { eapply span_from; [|apply at_backward; lia|apply at_backward; lia]. split.
    - apply nodup_of. intros i j E. injection E as E1 E2. destruct (number_split i) as [Ni Li], (number_split j) as [Nj Lj]. rewrite <- Ni, <- Nj, E1. clear - E2 Li Lj. lia.
    - intros u Hu. apply in_map_iff in Hu. destruct Hu as (n & <- & Hn). apply in_seq in Hn. destruct (number_split n) as [N1 N2]. assert (n / k < batches x)%nat by (apply number_few; clear - Hn Zk; lia).
      split; [apply pass_valid; auto; lia|]. eexists. split; [apply at_backward; lia|]. clear - N1 N2 Hn Zk. lia. }
  assert (L3 : from_to x e (Op Forward e m z) (Op Backward e 0 z) around).
  { eapply span_from; [|apply at_forward; lia|apply at_backward; lia]. split.
    - apply nodup_app; [apply nodup_of; intros; congruence|apply nodup_of; intros; congruence|]. intros u A B. apply in_map_iff in A. apply in_map_iff in B. destruct A as (y & <- & _), B as (y' & B & _). discriminate B.
    - intros u Hu. unfold around in Hu. rewrite in_app_iff, !in_map_iff in Hu. assert (Q : (m * k + k = batches x * k)%nat) by (replace (batches x) with (S m) by lia; lia). destruct Hu as [(y & <- & Hy)|(y & <- & Hy)]; apply in_seq in Hy.
      + split; [apply pass_valid; auto; lia|]. eexists. split; [apply at_forward; lia|lia].
      + split; [apply pass_valid; auto; lia|]. eexists. split; [apply at_backward; lia|lia]. }
  pose proof (crossing x Hx (fun b => eq_trans (f_equal (andb (stored x)) (none_local b)) (andb_false_r _)) none_local d start T Ht one_each s z ahead_of forwards around backwards back_home joint first_all Hs Hz Hd L1 L2 L3 L4 L5) as Q. cbn zeta in Q. fold m e in Q.
  assert (S1 : length_of d ahead_of = sum (map (f 0%nat) (seq 0 z))) by (unfold ahead_of; rewrite length_map; apply sum_same; intros; apply f_is).
  assert (S2 : length_of d forwards = Z.of_nat m * sum (map (f s) (seq 0 k))).
  { unfold forwards. rewrite length_map. rewrite (sum_same _ (fun n => f s (n mod k)%nat)) by (intros; apply f_is). apply all_cycles. }
  assert (R : sum (map (fun y => b s (k - 1 - y)%nat) (seq 0 k)) = sum (map (b s) (seq 0 k))).
  { clear - K. assert (G : forall n h, (n <= h)%nat -> sum (map (fun y => b s (h - 1 - y)%nat) (seq 0 n)) = sum (map (b s) (seq (h - n) n))).
    { induction n as [|n IH]; intros h Hh; [reflexivity|]. rewrite seq_S, map_app, sum_app, IH by lia. cbn [map seq]. rewrite sum_cons. replace (h - n)%nat with (S (h - S n)) by lia. replace (h - 1 - (0 + n))%nat with (h - S n)%nat by lia. cbn. lia. }
    rewrite (G k k) by lia. rewrite Nat.sub_diag. reflexivity. }
  assert (S4 : length_of d backwards = Z.of_nat m * sum (map (b s) (seq 0 k))).
  { unfold backwards. rewrite length_map. rewrite (sum_same _ (fun n => (fun y => b s (k - 1 - y)%nat) (n mod k)%nat)) by (intros; apply b_is). rewrite (all_cycles (fun y => b s (k - 1 - y)%nat)), R. reflexivity. }
  assert (S3 : length_of d around = f e z + sum (map (both e) (seq (S z) (k - 1 - z)))).
  { unfold around. rewrite length_app, !length_map. replace (k - z)%nat with (S (k - 1 - z)) by lia. cbn [seq map]. rewrite sum_cons, f_is. unfold both. rewrite sum_both. rewrite (sum_same (fun y => d (Op Forward e m y)) (f e)) by (intros; apply f_is). rewrite (sum_same (fun y => d (Op Backward e 0 y)) (b e)) by (intros; apply b_is). lia. }
  assert (S5 : length_of d back_home + d (Op Backward 0 m 0) = b 0%nat z + sum (map (b 0%nat) (seq 0 z))).
  { unfold back_home. rewrite length_map, b_is. rewrite (sum_same _ (b 0%nat)) by (intros; apply b_is). assert (G : sum (map (b 0%nat) (seq 0 (S z))) = b 0%nat z + sum (map (b 0%nat) (seq 0 z))) by (rewrite seq_S, map_app, sum_app; cbn; lia). cbn [seq map] in G. rewrite sum_cons in G. lia. }
  assert (A1 : forall j n a, sum (map (fun u => f u z) (seq a n)) + Z.of_nat n * there <= sum_over (step_on d j z) a n).
  { intros j. induction n as [|n IH]; intros a; [cbn; lia|]. cbn [seq map sum_over]. rewrite sum_cons. specialize (IH (S a)). pose proof (Hthere j a). unfold step_on at 1. rewrite f_is. lia. }
  assert (A2 : forall j n a, sum (map (fun u => b u z) (seq (S a) n)) + Z.of_nat n * back <= sum_over (step_back d j z) a n).
  { intros j. induction n as [|n IH]; intros a; [cbn; lia|]. cbn [seq map sum_over]. rewrite sum_cons. specialize (IH (S a)). pose proof (Hback j a). unfold step_back at 1. rewrite b_is. lia. }
  pose proof (A1 0%nat s 0%nat). pose proof (A1 m (e - s)%nat s). pose proof (A2 0%nat (e - s)%nat s). pose proof (A2 m s 0%nat).
  assert (E1 : stages x = (s + ((e - s) + 1))%nat) by (unfold e; lia). assert (E2 : (s + (e - s))%nat = e) by (clear - E1; lia).
  assert (F : sum (map (fun u => f u z) (seq 0 (stages x))) = sum (map (fun u => f u z) (seq 0 s)) + sum (map (fun u => f u z) (seq s (e - s))) + f e z).
  { rewrite E1, !seq_app, !map_app, !sum_app. replace (0 + s + (e - s))%nat with e by (clear - E2; cbn [Nat.add]; lia). cbn. lia. }
  assert (B : sum (map (fun u => b u z) (seq 0 (stages x))) = b 0%nat z + sum (map (fun u => b u z) (seq 1 s)) + sum (map (fun u => b u z) (seq (S s) (e - s)))).
  { replace (stages x) with (S (s + (e - s)))%nat by (clear - E1; lia). cbn [seq map]. rewrite sum_cons, seq_app, map_app, sum_app. cbn [Nat.add]. lia. }
  unfold both. rewrite !sum_both. unfold both in S3. rewrite sum_both in S3. replace (Z.of_nat e) with (Z.of_nat s + Z.of_nat (e - s)) by (clear - E2; lia). lia.
Qed.
End Crossing.
