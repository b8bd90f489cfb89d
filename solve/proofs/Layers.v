(* What a stage's layers make of the bounds of Bounds.v (docs/PROOFS.md 8.3, 8.10, 8.18), and what a
   rank's decisions make of a round's (5.1). Of any number of kinds of layers. *)
Require Import ZArith List Bool Lia FinFun.
From Plumbline Require Import Schedule Document Streams Bounds Filling.
Import ListNotations.
Open Scope Z_scope.

Definition per (l : list (nat * nat)) (low : nat -> Z) := sum (map (fun p => Z.of_nat (snd p) * low (fst p)) l).
Definition by_mode (l : list (nat * nat * nat)) (low : nat -> nat -> Z) := sum (map (fun p => let '(r, n, m) := p in Z.of_nat n * low r m) l).
Definition run_of (p : nat * nat * nat) := fst (fst p).
Lemma sum_cons a l : sum (a :: l) = a + sum l. Proof. reflexivity. Qed.
Lemma sum_app a b : sum (a ++ b) = sum a + sum b.
Proof. induction a as [|c a IH]; [reflexivity|]. cbn [app]. rewrite !sum_cons, IH. lia. Qed.
Lemma sum_least {A} (f g : A -> Z) l : (forall a, In a l -> f a <= g a) -> sum (map f l) <= sum (map g l).
Proof.
  induction l as [|a l IH]; intros H; [cbn; lia|]. cbn [map]. rewrite !sum_cons.
  pose proof (H a (or_introl eq_refl)). specialize (IH ltac:(intros; apply H; right; assumption)). lia.
Qed.
Lemma sum_same {A} (f g : A -> Z) l : (forall a, In a l -> f a = g a) -> sum (map f l) = sum (map g l).
Proof. intros H. f_equal. apply map_ext_in. exact H. Qed.
Lemma sum_both {A} (f g : A -> Z) l : sum (map (fun a => f a + g a) l) = sum (map f l) + sum (map g l).
Proof. induction l as [|a l IH]; [reflexivity|]. cbn [map]. rewrite !sum_cons, IH. lia. Qed.
Lemma sum_swap {A B} (f : A -> B -> Z) l k : sum (map (fun b => sum (map (fun a => f a b) l)) k) = sum (map (fun a => sum (map (f a) k)) l).
Proof.
  induction l as [|a l IH]; cbn [map]; [induction k as [|b k IHk]; [reflexivity|]; cbn [map]; rewrite sum_cons, IHk; reflexivity|].
  rewrite sum_cons, <- IH, <- sum_both. reflexivity.
Qed.
Lemma sum_scaled {A} c (f : A -> Z) l : sum (map (fun a => c * f a) l) = c * sum (map f l).
Proof. induction l as [|a l IH]; cbn [map]; [cbn; lia|]. rewrite !sum_cons, IH. lia. Qed.

Section Of.
Variable P : problem.
Let x := shape_of P.

(* ---- modes do not change which layers a stage holds *)
Lemma by_some r n m low l : by_mode (some_of r n m l) low = Z.of_nat n * low r m + by_mode l low.
Proof. unfold by_mode. destruct n; cbn [some_of map]; [lia|]. rewrite sum_cons. reflexivity. Qed.
Lemma in_first_layers low l : forall n, by_mode (in_first P n l) (fun r _ => low r) = per l low.
Proof.
  unfold per. induction l as [|[r c] l IH]; intros n; [reflexivity|]. cbn [in_first map fst snd]. rewrite sum_cons. destruct (recomputable (run_at P r)).
  - rewrite !by_some, IH. assert (Nat.min n c <= c)%nat by lia. nia.
  - unfold by_mode at 1. cbn [map]. rewrite sum_cons. specialize (IH n). unfold by_mode in IH. rewrite IH. reflexivity.
Qed.
Lemma layers_in_modes m l low : by_mode (in_modes P m l) (fun r _ => low r) = per l low.
Proof.
  destruct m as [k|n]; [|apply in_first_layers]. unfold in_modes, by_mode, per. rewrite map_map. apply sum_same. intros [r c] _. reflexivity.
Qed.

(* ---- the passes of a stage *)
Definition of_batch s j := map (Op Forward s j) (seq 0 (slices x)) ++ map (Op Backward s j) (seq 0 (slices x)) ++ (if splits x then [Op Weight s j 0] else []).
Definition passes s := flat_map (of_batch s) (seq 0 (batches x)).
Lemma of_batch_in s j u : In u (of_batch s j) -> (what u = Forward \/ what u = Backward \/ what u = Weight /\ splits x = true /\ slice u = 0%nat) /\ place u = s /\ batch u = j /\ ((slice u < slices x)%nat \/ slice u = 0%nat).
Proof.
  unfold of_batch. rewrite !in_app_iff, !in_map_iff. intros [(y & <- & H)|[(y & <- & H)|H]].
  - apply in_seq in H. cbn. intuition lia.
  - apply in_seq in H. cbn. intuition lia.
  - destruct (splits x) eqn:E; [|destruct H]. destruct H as [<-|[]]. cbn. auto 8.
Qed.
Lemma nodup_app {A} (a b : list A) : NoDup a -> NoDup b -> (forall u, In u a -> In u b -> False) -> NoDup (a ++ b).
Proof.
  induction 1 as [|c a Hc Ha IH]; intros Hb H; [exact Hb|]. cbn [app]. constructor; [|apply IH; auto; intros; eapply H; [right|]; eassumption].
  rewrite in_app_iff. intros [Q|Q]; [auto|]. eapply H; [left; reflexivity|exact Q].
Qed.
Lemma of_batch_once s j : NoDup (of_batch s j).
Proof.
  assert (M : forall k, NoDup (map (Op k s j) (seq 0 (slices x)))).
  { intros k. apply Injective_map_NoDup; [intros a b E; congruence|apply seq_NoDup]. }
  unfold of_batch. apply nodup_app; [apply M| |].
  - apply nodup_app; [apply M|destruct (splits x); repeat constructor; cbn; tauto|].
    intros u A B. apply in_map_iff in A. destruct A as (y & <- & _). destruct (splits x); [|destruct B]. destruct B as [B|[]]. discriminate.
  - intros u A B. apply in_map_iff in A. destruct A as (y & <- & _). apply in_app_iff in B. destruct B as [B|B].
    + apply in_map_iff in B. destruct B as (z & B & _). discriminate.
    + destruct (splits x); [|destruct B]. destruct B as [B|[]]. discriminate.
Qed.
Lemma passes_once s : NoDup (passes s).
Proof.
  unfold passes. assert (G : forall l, NoDup l -> NoDup (flat_map (of_batch s) l)); [|apply G, seq_NoDup].
  induction 1 as [|j l Hj Hl IH]; [constructor|]. cbn [flat_map]. apply nodup_app; [apply of_batch_once|exact IH|].
  intros u A B. apply of_batch_in in A. destruct A as (_ & _ & <- & _). apply in_flat_map in B. destruct B as (k & K & B).
  apply of_batch_in in B. destruct B as (_ & _ & <- & _). exact (Hj K).
Qed.
Hypothesis Hx : regular x.
Lemma passes_of_rank s : (s < stages x)%nat -> of_rank x (on_rank x s) (passes s).
Proof.
  pose proof (proj1 (proj2 Hx)) as Hy. intros Hs. apply Forall_forall. intros u Hu. apply in_flat_map in Hu. destruct Hu as (j & J & Hu). apply in_seq in J. apply of_batch_in in Hu.
  destruct u as [k p b y]. cbn [what place batch slice] in Hu. destruct Hu as (K & -> & -> & Y).
  assert (Y' : (y < slices x)%nat) by lia. destruct K as [->|[->|(-> & Es & ->)]]; unfold valid, in_stream; cbn [what place batch slice]; try rewrite Es; cbn [andb];
    (split; [try (facts); repeat split; lia|eauto]).
Qed.
(* All passes of a rank, and its steps. *)
Definition work r := flat_map passes (stages_on P r).
Definition steps r := map (fun s => Op Optimizer s 0 0) (stages_on P r).
Lemma on_it r s : In s (stages_on P r) <-> (s < stages x)%nat /\ on_rank x s = r.
Proof. unfold stages_on. fold x. rewrite filter_In, in_seq, Nat.eqb_eq. split; intros; repeat split; try lia; tauto. Qed.
Lemma each_once r : NoDup (stages_on P r).
Proof. apply NoDup_filter, seq_NoDup. Qed.
Lemma work_of_rank r : of_rank x r (work r) /\ NoDup (work r).
Proof.
  split.
  - apply Forall_forall. intros u Hu. apply in_flat_map in Hu. destruct Hu as (s & S & Hu). apply on_it in S. destruct S as [S <-].
    pose proof (passes_of_rank s S) as Q. unfold of_rank, of_row in Q. rewrite Forall_forall in Q. exact (Q u Hu).
  - unfold work. generalize (each_once r). generalize (stages_on P r). induction 1 as [|s l Hs Hl IH]; [constructor|]. cbn [flat_map]. apply nodup_app; [apply passes_once|exact IH|].
    intros u A B. apply in_flat_map in A. destruct A as (j & _ & A). apply of_batch_in in A. destruct A as (_ & <- & _). apply in_flat_map in B. destruct B as (t & It & B).
    apply in_flat_map in B. destruct B as (i & _ & B). apply of_batch_in in B. destruct B as (_ & E & _). subst t. exact (Hs It).
Qed.
Lemma steps_of_rank r : steps_of x r (steps r) /\ NoDup (steps r).
Proof.
  split; [|apply Injective_map_NoDup; [intros a b E; congruence|apply each_once]]. apply Forall_forall. intros u Hu. apply in_map_iff in Hu. destruct Hu as (s & <- & S). apply on_it in S. destruct S as [S <-].
  split; [unfold valid; cbn; rewrite andb_true_r; apply Nat.ltb_lt; exact S|]. unfold in_order_of. cbn [what place]. eauto.
Qed.
Lemma length_app d a b : length_of d (a ++ b) = length_of d a + length_of d b.
Proof. induction a as [|u a IH]; [reflexivity|]. cbn [app length_of]. rewrite IH. lia. Qed.
Lemma length_map d (f : nat -> op) l : length_of d (map f l) = sum (map (fun y => d (f y)) l).
Proof. induction l as [|y l IH]; [reflexivity|]. cbn [map length_of]. rewrite sum_cons, IH. reflexivity. Qed.
Lemma length_of_all d (f : nat -> list op) l : length_of d (flat_map f l) = sum (map (fun j => length_of d (f j)) l).
Proof. induction l as [|j l IH]; [reflexivity|]. cbn [flat_map map]. rewrite length_app, sum_cons, IH. reflexivity. Qed.
Lemma nth_of (f : nat -> Z) n y r : (y < n)%nat -> nth y (map f (seq 0 n) ++ r) 0 = f y.
Proof.
  intros H. rewrite app_nth1 by (rewrite map_length, seq_length; exact H).
  rewrite nth_indep with (d' := f 0%nat) by (rewrite map_length, seq_length; exact H). rewrite map_nth, seq_nth by exact H. reflexivity.
Qed.
(* A layer's passes of one micro-batch, in its mode. *)
Definition layer_passes r m g := sum (map (fun y => forward_ns (run_at P r) y g) (seq 0 (slices x))) + sum (map (fun y => layer_backward (run_at P r) m y g) (seq 0 (slices x)))
  + if splits x then weight_ns (run_at P r) g else 0.
Variable plan : list decision.
Let d := lasts P plan.
Definition decided s := nth s plan nobody.
Definition layers_modes s := in_modes P (recompute (decided s)) (holds_layers P (decided s)).
(* What a stage does for a loss of its own only comes on top. *)
Definition local_adds := 0 <= local_forward_ns P /\ 0 <= local_backward_ns P /\ forall h, local_head P = Some h -> forall y g, 0 <= forward_ns (run_at P h) y g /\ 0 <= backward_ns (run_at P h) y g /\ 0 <= weight_ns (run_at P h) g.
Hypothesis local_positive : local_adds.
Lemma at_least s l h v y : 0 <= v -> (forall r, local_head P = Some r -> 0 <= h (run_at P r) 0%nat) -> over P l h <= over P (headed P s l) h + local P s y v.
Proof.
  intros Hv Hh. assert (0 <= local P s y v) by (unfold local; destruct (_ && _); lia). enough (over P l h <= over P (headed P s l) h) by lia.
  unfold headed. destruct (ends_locally P s); [|lia]. destruct (local_head P) as [r|] eqn:E; [|lia]. specialize (Hh r eq_refl). unfold over. rewrite map_app, sum_app. cbn [map sum fold_right]. change (Z.of_nat 1) with 1. match goal with |- Document.sum ?a <= _ => change (Document.sum a) with (sum a) end. lia.
Qed.
Lemma batch_takes s j : by_mode (layers_modes s) (fun r m => layer_passes r m (on (decided s))) <= length_of d (of_batch s j).
Proof.
  destruct local_positive as (Lf & Lb & Lh). unfold of_batch. rewrite !length_app, !length_map. set (g := on (decided s)). set (ls := layers_modes s).
  assert (F : forall h : nat -> run -> nat -> Z, sum (map (fun y => over P ls (h y)) (seq 0 (slices x))) = by_mode ls (fun r m => sum (map (fun y => h y (run_at P r) m) (seq 0 (slices x))))).
  { intros h. unfold over, by_mode. rewrite sum_swap. apply sum_same. intros [[r n] m] _. apply sum_scaled. }
  assert (A : by_mode ls (fun r _ => sum (map (fun y => forward_ns (run_at P r) y g) (seq 0 (slices x)))) <= sum (map (fun y => d (Op Forward s j y)) (seq 0 (slices x)))).
  { rewrite <- (F (fun y r _ => forward_ns r y g)). apply sum_least. intros y Hy. apply in_seq in Hy. unfold d, lasts. cbn [what place slice]. unfold times, own_times. cbn zeta. fold x. rewrite nth_of by lia. apply at_least; [exact Lf|]. intros r E. apply (Lh r E). }
  assert (B : by_mode ls (fun r m => sum (map (fun y => layer_backward (run_at P r) m y g) (seq 0 (slices x)))) <= sum (map (fun y => d (Op Backward s j y)) (seq 0 (slices x)))).
  { rewrite <- (F (fun y r m => layer_backward r m y g)). apply sum_least. intros y Hy. apply in_seq in Hy. unfold d, lasts. cbn [what place slice]. unfold times, own_times. cbn zeta. fold x.
    rewrite app_nth2; rewrite map_length, seq_length; [|lia]. replace (slices x + y - slices x)%nat with y by lia. rewrite nth_of by lia. apply at_least; [exact Lb|]. intros r E. change (0 <= backward_ns (run_at P r) y g + 0). pose proof (Lh r E y g). lia. }
  assert (C : by_mode ls (fun r _ => if splits x then weight_ns (run_at P r) g else 0) <= length_of d (if splits x then [Op Weight s j 0] else [])).
  { destruct (splits x).
    - cbn [length_of]. unfold d, lasts. cbn [what place]. unfold times, own_times. cbn zeta. fold x. rewrite app_nth2; rewrite map_length, seq_length; [|lia].
      rewrite app_nth2; rewrite map_length, seq_length; [|lia]. replace (2 * slices x - slices x - slices x)%nat with 0%nat by lia. cbn [nth]. rewrite Z.add_0_r.
      pose proof (at_least s ls (fun r _ => weight_ns r g) 0 1%nat ltac:(lia) ltac:(intros r E; apply (Lh r E 0%nat))) as Q. unfold local in Q. rewrite andb_false_r, Z.add_0_r in Q. exact Q.
    - cbn [length_of]. unfold by_mode. apply Z.eq_le_incl. transitivity (sum (map (fun _ : nat * nat * nat => 0 * 0) ls)); [apply sum_same; intros [[r n] m] _; lia|]. rewrite sum_scaled. lia. }
  unfold by_mode in *. assert (E : sum (map (fun p : nat * nat * nat => let '(r, n, m) := p in Z.of_nat n * layer_passes r m g) ls) = sum (map (fun p : nat * nat * nat => let '(r, n, m) := p in Z.of_nat n * sum (map (fun y => forward_ns (run_at P r) y g) (seq 0 (slices x)))) ls)
    + sum (map (fun p : nat * nat * nat => let '(r, n, m) := p in Z.of_nat n * sum (map (fun y => layer_backward (run_at P r) m y g) (seq 0 (slices x)))) ls) + sum (map (fun p : nat * nat * nat => let '(r, n, m) := p in Z.of_nat n * (if splits x then weight_ns (run_at P r) g else 0)) ls)).
  { rewrite <- !sum_both. apply sum_same. intros [[r n] m] _. unfold layer_passes. lia. }
  rewrite E. lia.
Qed.
Lemma passes_take s : Z.of_nat (batches x) * by_mode (layers_modes s) (fun r m => layer_passes r m (on (decided s))) <= length_of d (passes s).
Proof.
  unfold passes. rewrite length_of_all. transitivity (sum (map (fun _ => by_mode (layers_modes s) (fun r m => layer_passes r m (on (decided s))) * 1) (seq 0 (batches x)))); [|apply sum_least; intros j _; rewrite Z.mul_1_r; apply batch_takes].
  rewrite sum_scaled. assert (E : forall l : list nat, sum (map (fun _ => 1) l) = Z.of_nat (length l)) by (induction l as [|a l IH]; [reflexivity|]; cbn [map length]; rewrite sum_cons, IH; lia).
  rewrite E, seq_length. lia.
Qed.
(* THEOREM 8.3, the sum: every layer takes at least its least, and what recomputing adds comes on
   top, whatever the kinds. *)
Theorem layers_take s low again : (forall r n m, In (r, n, m) (layers_modes s) -> low r + again r m <= layer_passes r m (on (decided s))) ->
  Z.of_nat (batches x) * (per (holds_layers P (decided s)) low + by_mode (layers_modes s) again) <= length_of d (passes s).
Proof.
  intros H. etransitivity; [|apply passes_take]. apply Z.mul_le_mono_nonneg_l; [lia|]. unfold layers_modes. rewrite <- (layers_in_modes (recompute (decided s))). fold (layers_modes s).
  unfold by_mode. rewrite <- sum_both. apply sum_least. intros [[r n] m] Hi. specialize (H r n m Hi). nia.
Qed.
Lemma rank_takes r low again : (forall s q n m, In s (stages_on P r) -> In (q, n, m) (layers_modes s) -> low q + again q m <= layer_passes q m (on (decided s))) ->
  Z.of_nat (batches x) * sum (map (fun s => per (holds_layers P (decided s)) low + by_mode (layers_modes s) again) (stages_on P r)) <= length_of d (work r).
Proof.
  intros H. unfold work. rewrite length_of_all, <- sum_scaled. apply sum_least. intros s S. apply layers_take. intros q n m. apply H. exact S.
Qed.
(* With 8.5: a rank's whole stream, from the micro-batch that fills it to its steps, all its stages. *)
Theorem stream_of_layers start T r low again : barrier x = true -> (r < rank_count x)%nat -> timing x d start T -> (forall b, stored x && is_local x b = false) ->
  (forall u, 0 <= d u) -> (forall s q n m, In s (stages_on P r) -> In (q, n, m) (layers_modes s) -> low q + again q m <= layer_passes q m (on (decided s))) ->
  fill d r + Z.of_nat (batches x) * sum (map (fun s => per (holds_layers P (decided s)) low + by_mode (layers_modes s) again) (stages_on P r)) + length_of d (steps r) <= T.
Proof.
  intros Hb Hr Ht Hs Hd H. pose proof (rank_takes r low again H). destruct (work_of_rank r) as [A B], (steps_of_rank r) as [C D].
  pose proof (stream x Hx Hs d start T Ht r (work r) (steps r) Hb Hr A B C D Hd). lia.
Qed.
(* 8.5, 8.7: each stage's layers on the way there, and back. *)
Lemma forward_takes s j y low : (y < slices x)%nat -> (forall r, low r <= forward_ns (run_at P r) y (on (decided s))) -> per (holds_layers P (decided s)) low <= d (Op Forward s j y).
Proof.
  intros Hy H. unfold d, lasts. cbn [what place slice]. unfold times, own_times. cbn zeta. fold x. rewrite nth_of by exact Hy. fold (decided s). etransitivity; [|apply at_least; [apply local_positive|]]; [|intros q E; destruct local_positive as (_ & _ & Lh); apply (Lh q E)].
  rewrite <- (layers_in_modes (recompute (decided s))). unfold by_mode, over. apply sum_least. intros [[r n] m] _. specialize (H r). nia.
Qed.
Lemma backward_takes s j y low : (y < slices x)%nat -> (forall r m, low r <= layer_backward (run_at P r) m y (on (decided s))) -> per (holds_layers P (decided s)) low <= d (Op Backward s j y).
Proof.
  intros Hy H. unfold d, lasts. cbn [what place slice]. unfold times, own_times. cbn zeta. fold x. rewrite app_nth2; rewrite map_length, seq_length; [|lia].
  replace (slices x + y - slices x)%nat with y by lia. rewrite nth_of by exact Hy. fold (decided s).
  etransitivity; [|apply at_least; [apply local_positive|]]; [|intros q E; destruct local_positive as (_ & _ & Lh); pose proof (Lh q E y (on (decided s))); change (0 <= backward_ns (run_at P q) y (on (decided s)) + 0); lia].
  rewrite <- (layers_in_modes (recompute (decided s))). unfold by_mode, over. apply sum_least. intros [[r n] m] _. specialize (H r m). nia.
Qed.
Theorem fill_of_layers low send n : (1 <= slices x)%nat -> (forall u, 0 <= d u) -> (forall s r, low r <= forward_ns (run_at P r) 0 (on (decided s))) ->
  (forall r, send <= d (Op (Sends Onward) r 0 0) + message d r Onward 0 0) -> sum (map (fun s => per (holds_layers P (decided s)) low) (seq 0 n)) + Z.of_nat n * send <= fill d n.
Proof.
  intros Hy Hd Hl Hm. induction n as [|n IH]; [cbn; lia|]. rewrite seq_S, map_app, sum_app. cbn [map fill Nat.add]. rewrite sum_cons. cbn [sum fold_right].
  pose proof (forward_takes n 0 0 low ltac:(lia) (Hl n)). specialize (Hm n). pose proof (Hd (Op (Receives Onward) (n - 1) 0 0)). destruct (0 <? n)%nat; lia.
Qed.
Theorem drain_of_layers j low send : (1 <= slices x)%nat -> (forall s r m, low r <= layer_backward (run_at P r) m 0 (on (decided s))) ->
  (forall r, send <= d (Op (Sends Back) r j 0) + message d r Back j 0 + d (Op (Receives Back) r j 0)) -> forall n,
  sum (map (fun s => per (holds_layers P (decided s)) low) (seq 0 n)) + Z.of_nat n * send <= sum_over (step_back d j 0) 0 n - d (Op Backward n j 0) + d (Op Backward 0 j 0).
Proof.
  intros Hy Hl Hm. assert (G : forall n a, sum (map (fun s => per (holds_layers P (decided s)) low) (seq a n)) + Z.of_nat n * send <= sum_over (step_back d j 0) a n - d (Op Backward (a + n) j 0) + d (Op Backward a j 0)).
  { induction n as [|n IH]; intros a; [cbn [seq map sum fold_right sum_over]; rewrite Nat.add_0_r; lia|]. cbn [seq map sum_over]. rewrite sum_cons. specialize (IH (S a)). replace (a + S n)%nat with (S a + n)%nat by lia.
    pose proof (backward_takes a j 0 low ltac:(lia) (Hl a)). specialize (Hm a). unfold step_back at 1. lia. }
  intros n. exact (G n 0%nat).
Qed.
(* ---- 8.4, 8.17: the layers of all stages are the model's *)
Lemma per_cut low l : forall n, per (take n l) low + per (drop n l) low = per l low.
Proof.
  unfold per. induction l as [|[r c] l IH]; intros n; [reflexivity|]. cbn [take drop]. destruct (n =? 0)%nat; [cbn [map]; reflexivity|].
  destruct (Nat.ltb_spec n c) as [L|L]; cbn [map fst snd]; rewrite ?sum_cons; cbn [fst snd]; [cbn; nia|]. specialize (IH (n - c)%nat). lia.
Qed.
Lemma drop_twice b l : forall a, drop (a + b) l = drop b (drop a l).
Proof.
  induction l as [|[r c] l IH]; intros a; [reflexivity|]. cbn [drop]. destruct (Nat.eqb_spec a 0) as [->|A]; [reflexivity|].
  destruct (Nat.eqb_spec (a + b) 0) as [E|E]; [lia|]. destruct (Nat.ltb_spec a c) as [L|L].
  - cbn [drop]. destruct (Nat.eqb_spec b 0) as [->|B]; [rewrite Nat.add_0_r; destruct (Nat.ltb_spec a c); [reflexivity|lia]|].
    destruct (Nat.ltb_spec (a + b) c), (Nat.ltb_spec b (c - a)); try lia; [do 2 f_equal; lia|f_equal; lia].
  - destruct (Nat.ltb_spec (a + b) c); [lia|]. replace (a + b - c)%nat with (a - c + b)%nat by lia. apply IH.
Qed.
Lemma left_over low l : per (drop (layers_of l) l) low = 0.
Proof.
  assert (G : forall l n, (layers_of l <= n)%nat -> per (drop n l) low = 0).
  { unfold per. clear. induction l as [|[r c] l IH]; intros n H; [reflexivity|]. cbn [layers_of fold_right snd drop] in *. fold (layers_of l) in H.
    destruct (Nat.eqb_spec n 0) as [E|E].
    - cbn [map fst snd]. rewrite sum_cons. assert (c = 0%nat) by lia. assert (layers_of l = 0%nat) by lia. specialize (IH 0%nat ltac:(lia)). destruct l as [|[r' c'] l]; [subst; cbn; lia|]. cbn [drop Nat.eqb] in IH. rewrite IH. subst. lia.
    - destruct (Nat.ltb_spec n c); [lia|]. apply IH. lia. }
  apply G. lia.
Qed.
(* Of a run wherever it is, and however it is sharded: the least of all of them. *)
Definition everywhere (low : nat -> Z) := (forall r o g, low (as_on P r o g) = low r) /\ (forall f r, sharded_further P = Some f -> low (f r) = low r).
Lemma laid_per low k o g l : everywhere low -> per (laid P k o g l) low = per l low.
Proof.
  intros [H1 H2]. unfold laid, per. rewrite map_map. rewrite (sum_same _ (fun p => Z.of_nat (snd p) * low (fst p))) by (intros [r c] _; cbn [fst snd]; rewrite H1; reflexivity).
  destruct (sharded_further P) as [f|]; [|reflexivity]. revert k. induction l as [|[r c] l IH]; intros k; [reflexivity|]. cbn [shard].
  assert (K : forall q n t, sum (map (fun p => Z.of_nat (snd p) * low (fst p)) (part q n t)) = Z.of_nat n * low q + sum (map (fun p => Z.of_nat (snd p) * low (fst p)) t)) by (intros q [|n] t; cbn [part map]; rewrite ?sum_cons; cbn [fst snd]; lia).
  destruct (recomputable (run_at P r)); cbn [map]; rewrite ?K, ?sum_cons, IH; cbn [fst snd]; rewrite ?(H2 f r eq_refl); nia.
Qed.
Theorem all_layers low : everywhere low -> forall pl s f, in_order P s f pl = true -> sum (map (fun e => per (holds_layers P e) low) pl) = per (drop f (model P)) low.
Proof.
  intros K. induction pl as [|e pl IH]; intros s f H; cbn [in_order map] in *.
  - facts in H. destruct H as [_ ->]. unfold total_layers. rewrite left_over. reflexivity.
  - parts in H. destruct H as (((_ & A) & _) & H). apply Nat.eqb_eq in A. rewrite sum_cons, (IH _ _ H). unfold holds_layers. rewrite laid_per by auto. unfold held. rewrite A, drop_twice. apply per_cut.
Qed.
Lemma as_many : forall pl s f, in_order P s f pl = true -> (s + length pl = stages x)%nat.
Proof.
  induction pl as [|e pl IH]; intros s f H; cbn [in_order length] in *; parts in H.
  - destruct H as [H _]. apply Nat.eqb_eq in H. fold x in H. lia.
  - destruct H as (_ & H). specialize (IH _ _ H). lia.
Qed.
(* Every stage is on one rank. *)
Lemma by_ranks (f : nat -> Z) : sum (map (fun r => sum (map f (stages_on P r))) (seq 0 (rank_count x))) = sum (map f (seq 0 (stages x))).
Proof.
  unfold stages_on. fold x. assert (G : forall l, (forall s, In s l -> (s < stages x)%nat) -> sum (map (fun r => sum (map f (filter (fun s => on_rank x s =? r)%nat l))) (seq 0 (rank_count x))) = sum (map f l)).
  { induction l as [|s l IH]; intros Hl.
    - cbn [filter map sum fold_right]. induction (seq 0 (rank_count x)) as [|a k IHk]; [reflexivity|]. cbn [map]. rewrite sum_cons, IHk. reflexivity.
    - cbn [map]. rewrite sum_cons, <- IH by (intros; apply Hl; right; assumption).
      rewrite (sum_same _ (fun r => (if (on_rank x s =? r)%nat then f s else 0) + sum (map f (filter (fun s => on_rank x s =? r)%nat l)))) by (intros r _; cbn [filter]; destruct (on_rank x s =? r)%nat; cbn [map]; rewrite ?sum_cons; lia).
      rewrite sum_both. f_equal. pose proof (on_some x Hx s (Hl s (or_introl eq_refl))) as O.
      assert (K : forall n a, (a <= on_rank x s)%nat -> sum (map (fun r => if (on_rank x s =? r)%nat then f s else 0) (seq a n)) = if (on_rank x s <? a + n)%nat then f s else 0).
      { induction n as [|n IHn]; intros a Ha; cbn [seq map]; [destruct (Nat.ltb_spec (on_rank x s) (a + 0)); [lia|reflexivity]|]. rewrite sum_cons. destruct (Nat.eqb_spec (on_rank x s) a) as [E|E].
        - destruct (Nat.ltb_spec (on_rank x s) (a + S n)); [|lia]. rewrite (sum_same _ (fun _ => 0 * 0)); [rewrite sum_scaled; lia|]. intros r Hr. apply in_seq in Hr. destruct (Nat.eqb_spec (on_rank x s) r); [lia|reflexivity].
        - rewrite IHn by lia. replace (S a + n)%nat with (a + S n)%nat by lia. reflexivity. }
      rewrite K by lia. destruct (Nat.ltb_spec (on_rank x s) (0 + rank_count x)); [reflexivity|lia]. }
  apply G. intros s Hs. apply in_seq in Hs. lia.
Qed.
Lemma by_nth (f : decision -> Z) : forall pl a, sum (map (fun s => f (nth (s - a) pl nobody)) (seq a (length pl))) = sum (map f pl).
Proof.
  induction pl as [|e pl IH]; intros a; [reflexivity|]. cbn [length seq map]. rewrite !sum_cons, <- (IH (S a)). rewrite Nat.sub_diag. f_equal. apply sum_same. intros s Hs. apply in_seq in Hs.
  replace (s - a)%nat with (S (s - S a)) by lia. reflexivity.
Qed.
(* THEOREM 8.4, and 8.17 with the least that another layout's prices give each layer: with a barrier
   or not, some rank has the mean of all layers, rounded up. *)
Theorem mean_of_plan start T low : everywhere low -> (1 <= stages x)%nat -> timing x d start T -> (forall u, 0 <= d u) -> in_order P 0 0 plan = true ->
  (forall e r m, In e plan -> low r <= layer_passes r m (on e)) ->
  let p := Z.of_nat (rank_count x) in Z.of_nat (batches x) * ((per (model P) low + p - 1) / p) <= T.
Proof.
  intros Every Hs Ht Hd Ho Hl p. pose proof (as_many _ _ _ Ho) as L. cbn [Nat.add] in L. pose proof (ranks_some x Hx Hs) as Hp.
  set (f := fun s => per (holds_layers P (decided s)) low).
  assert (R : forall r, (r < rank_count x)%nat -> Z.of_nat (batches x) * sum (map f (stages_on P r)) <= T).
  { intros r Hr. destruct (work_of_rank r) as [A B], (steps_of_rank r) as [C D]. pose proof (load x Hx d start T Ht r (work r) (steps r) Hr A B C D Hd) as Q.
    assert (Z0 : forall l : list (nat * nat * nat), by_mode l (fun _ _ => 0) = 0) by (intros l; unfold by_mode; induction l as [|[[q n] m] l IH]; [reflexivity|]; cbn [map]; rewrite sum_cons, IH; lia).
    pose proof (rank_takes r low (fun _ _ => 0)) as K. rewrite (sum_same _ f) in K by (intros; rewrite Z0, Z.add_0_r; reflexivity).
    assert (0 <= length_of d (steps r)) by (generalize (steps r); induction l as [|u l IH]; cbn [length_of]; [lia|specialize (Hd u); lia]).
    cut (Z.of_nat (batches x) * sum (map f (stages_on P r)) <= length_of d (work r)); [lia|]. apply K. intros s q n m S _. rewrite Z.add_0_r. apply Hl. apply nth_In. apply on_it in S. lia. }
  pose proof (mean_of_layers (map (fun r => map f (stages_on P r)) (seq 0 (rank_count x))) (Z.of_nat (batches x)) T) as M. cbn zeta in M. rewrite map_length, seq_length in M. fold p in M.
  assert (E : all (map (fun r => map f (stages_on P r)) (seq 0 (rank_count x))) = per (model P) low).
  { transitivity (per (drop 0 (model P)) low); [|destruct (model P) as [|[r c] t]; reflexivity].
    rewrite <- (all_layers low Every _ _ _ Ho), <- (by_nth (fun e => per (holds_layers P e) low) plan 0), L. fold x. rewrite (sum_same _ f (seq 0 (stages x))) by (intros; rewrite Nat.sub_0_r; reflexivity).
    rewrite <- by_ranks. unfold all. rewrite map_map. reflexivity. }
  rewrite E in M. apply M; [intros K; apply (f_equal (@length _)) in K; rewrite map_length, seq_length in K; cbn in K; lia|lia|].
  intros l Hi. apply in_map_iff in Hi. destruct Hi as (r & <- & Hr). apply in_seq in Hr. apply R. lia.
Qed.
End Of.

(* ---- 8.3, room: kinds of layers, how many a rank holds, and of which how many are recomputed *)
Record kind_of := Kind { many : Z; fixed : Z; keeps : Z; keeps_little : Z; costs : Z }.
Definition bytes_of flight (k : kind_of) n := many k * fixed k + flight * ((many k - n) * keeps k + n * keeps_little k).
Definition room flight l ns := sum (map (fun p => bytes_of flight (fst p) (snd p)) (combine l ns)).
Definition spent l ns := sum (map (fun p : kind_of * Z => costs (fst p) * snd p) (combine l ns)).
Definition usable (k : kind_of) n := 0 <= n <= many k.
Definition sane k := 0 <= fixed k /\ 0 <= keeps_little k <= keeps k /\ 0 <= costs k.
(* Of each kind there are no more: what makes room for more makes room for them, in no more time. So
   the least recomputation never falls as layers come to a rank. *)
Theorem room_grows flight : forall l l' ns', 0 <= flight -> Forall sane l -> Forall2 usable l' ns' ->
  Forall2 (fun k k' => fixed k = fixed k' /\ keeps k = keeps k' /\ keeps_little k = keeps_little k' /\ costs k = costs k' /\ 0 <= many k <= many k') l l' ->
  exists ns, Forall2 usable l ns /\ room flight l ns <= room flight l' ns' /\ spent l ns <= spent l' ns'.
Proof.
  intros l l' ns' Hf Hs Hu H. revert ns' Hu. induction H as [|k k' l l' (E1 & E2 & E3 & E4 & E5 & E6) H IH]; intros ns' Hu; inversion Hu as [|? n ? ns U Us]; subst.
  - exists []. repeat split; [constructor|cbn; lia|cbn; lia].
  - inversion_clear Hs as [|? ? (S1 & S2 & S3) S]. destruct (IH S ns Us) as (ns0 & A & B & C). exists (Z.min n (many k) :: ns0). unfold usable in U.
    split; [constructor; [unfold usable; lia|exact A]|]. unfold room, spent in *. cbn [combine map fst snd]. rewrite !sum_cons.
    unfold bytes_of in *. rewrite <- E1, <- E2, <- E3, <- E4. split; [|nia].
    assert (D : (many k - Z.min n (many k)) * keeps k + Z.min n (many k) * keeps_little k <= (many k' - n) * keeps k + n * keeps_little k).
    { destruct (Z.le_gt_cases n (many k)) as [L|L].
      - rewrite Z.min_l by lia. nia.
      - rewrite Z.min_r by lia. nia. }
    assert (many k * fixed k <= many k' * fixed k) by nia. nia.
Qed.
(* Layers of kinds 0 to K - 1, in modes that recompute them in full or not: their sums, kind by kind. *)
Section Regroup.
Variables (kind : nat -> nat) (full : nat -> bool) (h : nat -> bool -> Z).
Definition number c f (l : list (nat * nat * nat)) := sum (map (fun p => let '(r, n, m) := p in if (kind r =? c)%nat && Bool.eqb (full m) f then Z.of_nat n else 0) l).
Theorem regroup K l : (forall r n m, In (r, n, m) l -> (kind r < K)%nat) ->
  by_mode l (fun r m => h (kind r) (full m)) = sum (map (fun c => number c false l * h c false + number c true l * h c true) (seq 0 K)).
Proof.
  intros H. unfold by_mode, number. transitivity (sum (map (fun p : nat * nat * nat => sum (map (fun c => (let '(r, n, m) := p in if (kind r =? c)%nat then Z.of_nat n * h c (full m) else 0)) (seq 0 K))) l)).
  - apply sum_same. intros [[r n] m] Hi. specialize (H r n m Hi).
    assert (G : forall K a, (a <= kind r < a + K)%nat -> sum (map (fun c => if (kind r =? c)%nat then Z.of_nat n * h c (full m) else 0) (seq a K)) = Z.of_nat n * h (kind r) (full m)).
    { clear. induction K as [|K IH]; intros a Ha; [lia|]. cbn [seq map]. rewrite sum_cons. destruct (Nat.eqb_spec (kind r) a) as [E|E].
      - rewrite E. assert (Z0 : forall K b, (a < b)%nat -> sum (map (fun c => if (a =? c)%nat then Z.of_nat n * h c (full m) else 0) (seq b K)) = 0).
        { induction K0 as [|K0 IH0]; intros b Hb; [reflexivity|]. cbn [seq map]. rewrite sum_cons, IH0 by lia. destruct (Nat.eqb_spec a b); [lia|reflexivity]. }
        rewrite Z0 by lia. lia.
      - rewrite IH by lia. lia. }
    rewrite (G K 0%nat) by lia. reflexivity.
  - rewrite <- sum_swap. apply sum_same. intros c _. rewrite !(Z.mul_comm _ (h c _)), <- !sum_scaled, <- sum_both. apply sum_same. intros [[r n] m] _.
    destruct (kind r =? c)%nat; [|cbn; lia]. destruct (full m); cbn; lia.
Qed.
End Regroup.

(* ---- 8.10: what is left of overlapped syncs after the stage's last gradient *)
Section Overlapped.
Variable P : problem.
Variables (o g : nat).
Lemma tail_positive l : forall s q, 0 <= tail P o g l s q.
Proof. induction l as [|[r m] l IH]; intros s q; cbn [tail]; [lia|]. specialize (IH (s + sync_ns r o g) (q + gradient_pass P r m g)). lia. Qed.
Lemma tail_more a b : forall s q, tail P o g a s q <= tail P o g (a ++ b) s q.
Proof. induction a as [|[r m] a IH]; intros s q; cbn [app tail]; [apply tail_positive|]. specialize (IH (s + sync_ns r o g) (q + gradient_pass P r m g)). lia. Qed.
Lemma queue least most l : l <> [] -> (forall r m, In (r, m) l -> least <= sync_ns r o g /\ gradient_pass P r m g <= most) -> forall s q,
  s - q + least + (Z.of_nat (length l) - 1) * Z.max 0 (least - most) <= tail P o g l s q.
Proof.
  induction l as [|[r m] l IH]; [congruence|]. intros _ H s q. cbn [tail length]. destruct (H r m (or_introl eq_refl)) as [A B]. destruct l as [|e l]; [cbn [length]; lia|].
  specialize (IH ltac:(discriminate) ltac:(intros; apply H; right; assumption) (s + sync_ns r o g) (q + gradient_pass P r m g)). cbn [length] in *.
  destruct (Z.le_gt_cases least most) as [L|L]; [replace (Z.max 0 (least - most)) with 0 in * by lia; nia|]. replace (Z.max 0 (least - most)) with (least - most) in * by lia. nia.
Qed.
(* THEOREM 8.10: main layers in a row, after the model's first layer or not, before anything. *)
Theorem overlapped_main least most mains rest : mains <> [] -> (forall r m, In (r, m) mains -> least <= sync_ns r o g /\ gradient_pass P r m g <= most) ->
  least + (Z.of_nat (length mains) - 1) * Z.max 0 (least - most) <= tail P o g (mains ++ rest) 0 0.
Proof. intros Hn H. pose proof (queue least most mains Hn H 0 0). pose proof (tail_more mains rest 0 0). lia. Qed.
Theorem overlapped_first first mode of_first least most mains rest : mains <> [] -> (forall r m, In (r, m) mains -> least <= sync_ns r o g /\ gradient_pass P r m g <= most) ->
  gradient_pass P first mode g <= of_first ->
  sync_ns first o g + Z.max 0 (least + (Z.of_nat (length mains) - 1) * Z.max 0 (least - most) - of_first) <= tail P o g ((first, mode) :: mains ++ rest) 0 0.
Proof.
  intros Hn H Hf. cbn [tail]. set (s := sync_ns first o g). pose proof (queue least most mains Hn H (0 + s) (0 + gradient_pass P first mode g)).
  pose proof (tail_more mains rest (0 + s) (0 + gradient_pass P first mode g)). lia.
Qed.
End Overlapped.

(* ---- 5.1: a rank's decisions: cost, layers, and what a choice is known by *)
Section Decisions.
Variable A : Type.
Record whole := Whole { cost : Z; holds_n : nat; known : A }.
Definition lesser (a b : option Z) := match a, b with Some x, Some y => Some (Z.min x y) | None, b => b | a, None => a end.
Definition least_of (f : whole -> Z) (p : whole -> bool) (D : list whole) := fold_right (fun e best => if p e then lesser (Some (f e)) best else best) None D.
Definition at_most (o : option Z) z := exists v, o = Some v /\ v <= z.
Lemma least_is f p D e : In e D -> p e = true -> at_most (least_of f p D) (f e).
Proof.
  induction D as [|a D IH]; [intros []|]. intros [->|Hi] Hp; cbn [least_of fold_right]; fold (least_of f p D).
  - rewrite Hp. unfold at_most, lesser. destruct (least_of f p D); eexists; (split; [reflexivity|lia]).
  - destruct (IH Hi Hp) as (v & E & L). rewrite E. destruct (p a); unfold at_most, lesser; eexists; (split; [reflexivity|lia]).
Qed.
(* Of a plan whose rank decides e (H1), and which costs that and what the others cost (H2). *)
Theorem decisions D others all e rest choice : In e D -> others (all - holds_n e)%nat <= rest ->
  at_most (least_of cost (fun a => (holds_n a =? holds_n e)%nat) D) (cost e)
  /\ (choice e = true -> at_most (least_of (fun a => cost a + others (all - holds_n a)%nat) choice D) (cost e + rest)).
Proof.
  intros Hi Ho. split; [apply least_is; [exact Hi|apply Nat.eqb_refl]|]. intros Hc.
  destruct (least_is (fun a => cost a + others (all - holds_n a)%nat) choice D e Hi Hc) as (v & E & L). exists v. split; [exact E|lia].
Qed.
End Decisions.
Definition theorems := (@layers_take, @rank_takes, @stream_of_layers, @room_grows, @regroup, @overlapped_main, @overlapped_first, @decisions, @fill_of_layers, @drain_of_layers, @all_layers, @mean_of_plan).
