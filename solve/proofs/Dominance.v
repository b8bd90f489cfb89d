(* One layout dominates another (docs/PROOFS.md 8, d): of two priced documents with the same choices,
   the plans of the dearer are plans of the other, and take no longer there. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Document Streams.
Import ListNotations.
Open Scope Z_scope.

(* The same operations and waits, with a barrier or without, with overlapped syncs or without. *)
Definition other y b o := Shape (schedule y) (stages y) (ranks y) (batches y) (slices y) b o (embedding y) (local_every y) (stored y) (in_flight y).
Notation loosen y b := (other y b (overlapped y)).
Lemma turn_same y b o s k i j : turn (other y b o) s k i j = turn y s k i j. Proof. reflexivity. Qed.
Lemma on_same y b o s : on_rank (other y b o) s = on_rank y s. Proof. reflexivity. Qed.
Lemma count_same y b o : rank_count (other y b o) = rank_count y. Proof. reflexivity. Qed.
Lemma sooner_same y b o s t : sooner (other y b o) s t = sooner y s t.
Proof. unfold sooner, ended. rewrite !on_same, !turn_same. reflexivity. Qed.
Lemma stream_same y b o u : in_stream (other y b o) u = in_stream y u.
Proof. destruct u as [[| | | | |[]|[]|[]|[]| |] p i j]; unfold in_stream; cbn [what place batch slice]; rewrite ?on_same, ?turn_same; reflexivity. Qed.
Lemma link_same y b o u : in_link (other y b o) u = in_link y u.
Proof. destruct u as [[| | | | |[]|[]|[]|[]| |] p i j]; unfold in_link; cbn [what place batch slice]; rewrite ?on_same, ?turn_same, ?count_same; reflexivity. Qed.
Lemma waits_same y b u v : waits (loosen y b) u v = waits y u v.
Proof. unfold waits. rewrite !stream_same, !link_same, !sooner_same, !on_same. reflexivity. Qed.
Lemma valid_same y b u : valid (loosen y b) u = valid y u. Proof. reflexivity. Qed.
Lemma carries_same y b o u v : carries (other y b o) u v = carries y u v.
Proof. unfold carries, rank_of, link_of. rewrite !stream_same, !link_same, !on_same. reflexivity. Qed.
Lemma leaves_same y b o s : leaves_rank (other y b o) s = leaves_rank y s. Proof. reflexivity. Qed.
Lemma drains_same y b o u : drains (other y b o) u = drains y u. Proof. reflexivity. Qed.
(* The last gradient of a stage: all that its overlapped sync waits for. *)
Definition last_gradient y s := Op (if splits y then Weight else Backward) s (batches y - 1) 0.
Lemma last_gradient_valid y s : regular y -> (s < stages y)%nat -> valid y (last_gradient y s) = true.
Proof. intros (Hb & Hs & _) H. unfold valid, last_gradient. cbn [what place batch slice]. destruct (splits y); facts; repeat split; lia. Qed.
Lemma last_gradient_waits y u : regular y -> overlapped y = true -> what u = Sync -> waits y (last_gradient y (place u)) u = true.
Proof.
  intros (Hb & _) Ho Eu. unfold waits. rewrite Eu, Ho. unfold last_gradient, last_pass. cbn [what place batch slice].
  replace (S (batches y - 1) =? batches y)%nat with true by (symmetry; apply Nat.eqb_eq; lia). destruct (splits y); rewrite !Nat.eqb_refl; cbn [negb andb]; apply orb_true_r.
Qed.
Lemma before_overlapped y u v : regular y -> overlapped y = true -> valid y u = true -> what v = Sync -> waits y u v = true -> u = last_gradient y (place v).
Proof.
  intros (Hb & Hs & _) Ho Hu Ev W. unfold waits in W. rewrite Ev, Ho in W.
  replace (in_stream y v) with (@None (nat * nat)) in W by (unfold in_stream; rewrite Ev; reflexivity).
  replace (in_link y v) with (@None (nat * nat)) in W by (unfold in_link; rewrite Ev; reflexivity).
  assert (N : forall a, precedes a None = false) by (intros [[]|]; reflexivity). rewrite !N in W. cbn [orb] in W. clear N.
  unfold last_gradient, last_pass in *. unfold valid in Hu. destruct u as [k p b z]. cbn [what place batch slice] in *. destruct k; try discriminate; parts in W.
  - destruct (splits y); cbn [negb] in W; [clear - W; destruct W as (((W & _) & _) & _); discriminate|]. rewrite !Nat.eqb_eq in W. f_equal; lia.
  - destruct (splits y); [|discriminate]. rewrite !andb_true_iff, !Nat.eqb_eq in *. f_equal; lia.
Qed.
(* THEOREM: whatever operations take, a timing is one of operations that take less, with or without
   the barrier; and an overlapped sync may take longer, by no more than its stage's last gradient
   takes less: it starts as much earlier. *)
Theorem sooner_ends y b d d' start T : regular y -> (b = true -> barrier y = true) ->
  (forall u, valid y u = true -> what u <> Sync \/ overlapped y = false -> d' u <= d u) ->
  (overlapped y = true -> forall u, valid y u = true -> what u = Sync -> 0 <= d' (last_gradient y (place u)) /\ d' (last_gradient y (place u)) + d' u <= d (last_gradient y (place u)) + d u) ->
  timing y d start T -> takes_at_most (loosen y b) d' T.
Proof.
  intros Hy Hb Hd Hs (H0 & H1 & H2 & H3 & H4).
  exists (fun u => match what u with Sync => if overlapped y then start u + (d u - d' u) else start u | _ => start u end).
  assert (G : forall u, valid y u = true -> what u = Sync -> overlapped y = true ->
      d' (last_gradient y (place u)) + start (last_gradient y (place u)) <= start u + (d u - d' u) /\ 0 <= start u + (d u - d' u)).
  { intros u V E Ho. destruct (Hs Ho u V E) as [P Q]. assert (Pl : (place u < stages y)%nat) by (unfold valid in V; rewrite E in V; facts in V; tauto).
    pose proof (last_gradient_valid y _ Hy Pl) as Vg. specialize (H3 _ _ Vg V (last_gradient_waits y u Hy Ho E)). specialize (H1 _ Vg). lia. }
  assert (E : forall u, valid y u = true -> (match what u with Sync => if overlapped y then start u + (d u - d' u) else start u | _ => start u end) + d' u <= start u + d u).
  { intros u V. destruct (what u) eqn:Eu; try (specialize (Hd u V ltac:(left; congruence)); lia). destruct (overlapped y); [lia|]. specialize (Hd u V ltac:(auto)). lia. }
  repeat split.
  - exact H0.
  - intros u V. rewrite valid_same in V. destruct (what u) eqn:Eu; auto. destruct (overlapped y) eqn:Ho; auto. apply (G u V Eu eq_refl).
  - cbn [other barrier]. intros B u V. rewrite valid_same in V. specialize (H2 (Hb B) u V). specialize (E u V). lia.
  - intros u v Vu Vv W. rewrite valid_same in Vu, Vv. rewrite waits_same in W. pose proof (H3 u v Vu Vv W) as H. specialize (E u Vu).
    destruct (what v) eqn:Ev; try lia. destruct (overlapped y) eqn:Ho; [|lia]. destruct (G v Vv Ev eq_refl) as [K _].
    rewrite (before_overlapped y u v Hy Ho Vu Ev W). replace (match what (last_gradient y (place v)) with Sync => _ | _ => start (last_gradient y (place v)) end) with (start (last_gradient y (place v))) by (unfold last_gradient; cbn [what]; destruct (splits y); reflexivity). lia.
  - intros _ u v Vu Vv C. rewrite valid_same in Vu, Vv. rewrite carries_same in C. specialize (E u Vu).
    assert (N : what v <> Sync). { intros Ev. unfold carries, rank_of, link_of, in_stream, in_link in C. rewrite Ev in C. assert (N : forall a, alike a None = false) by (intros []; reflexivity). rewrite !N in C. discriminate. }
    replace (match what v with Sync => if overlapped y then start v + (d v - d' v) else start v | _ => start v end) with (start v) by (destruct (what v); congruence).
    destruct (barrier y) eqn:B; [specialize (H2 eq_refl u Vu); specialize (H1 v Vv); lia|specialize (H4 eq_refl u v Vu Vv C); lia].
Qed.

Lemma sum_both (l l' : list Z) : sum (l ++ l') = sum l + sum l'.
Proof. unfold sum. induction l as [|a l IH]; cbn [app fold_right]; lia. Qed.

Section Of.
Variables A B : problem.
Let y := shape_of B.
Variable b : bool.
Hypothesis fewer_waits : b = true -> barrier y = true.
Hypothesis same_shape : shape_of A = loosen y b.
(* the same choices *)
Hypothesis same_model : model A = model B.
Hypothesis same_runs : forall r, recomputable (run_at A r) = recomputable (run_at B r) /\ run_cut (run_at A r) = run_cut (run_at B r).
Hypothesis same_ways : sharded_further A = sharded_further B /\ (forall r o g, as_on A r o g = as_on B r o g) /\ local_head A = local_head B /\ tiers A = tiers B /\ (forall r, named (run_at A r) = named (run_at B r))
  /\ forall g, (takes_slots (group_at A g) = 1 /\ takes_slots (group_at B g) = 1) /\ forall h, shares (group_at A g) h = (g =? h)%nat /\ shares (group_at B g) h = (g =? h)%nat.
Hypothesis same_boundaries : boundary_options A = boundary_options B.
Hypothesis same_gradients : gradient_options A = gradient_options B.
Hypothesis same_rank : rank_min A = rank_min B.
Hypothesis same_modes : offered A = offered B /\ offers_first_layers A = offers_first_layers B /\ setting A = setting B.
Hypothesis same_budgets : budgets A = budgets B /\ rules A = rules B /\ length (groups A) = length (groups B).
(* no more of anything, on groups that can be used *)
Definition stands g := excluded (group_at B g) = false.
Hypothesis less_bytes : forall r m, resident (run_at A r) m <= resident (run_at B r) m /\ unsharded (run_at A r) <= unsharded (run_at B r)
  /\ 0 <= stash (run_at A r) m <= stash (run_at B r) m /\ working (run_at A r) m <= working (run_at B r) m /\ in_tier (run_at A r) m <= in_tier (run_at B r) m /\ energy (run_at A r) m <= energy (run_at B r) m.
Hypothesis less_local : local_forward_ns A <= local_forward_ns B /\ 0 <= local_backward_ns A <= local_backward_ns B /\ local_bytes A <= local_bytes B.
Hypothesis less_time : forall r k m g, stands g -> forward_ns (run_at A r) k g <= forward_ns (run_at B r) k g /\ backward_ns (run_at A r) k g <= backward_ns (run_at B r) k g
  /\ weight_ns (run_at A r) g <= weight_ns (run_at B r) g /\ again_ns (run_at A r) m k g <= again_ns (run_at B r) m k g
  /\ optimizer_ns (run_at A r) k g <= optimizer_ns (run_at B r) k g /\ sync_ns (run_at A r) k g <= sync_ns (run_at B r) k g.
(* what hides a sync may be shorter: its pass ends sooner by as much *)
Hypothesis positive_gradients : forall r m g, 0 <= gradient_pass A (run_at A r) m g.
Hypothesis better_groups : forall g, (stands g -> excluded (group_at A g) = false /\ slots (group_at B g) <= slots (group_at A g) /\ memory_limit (group_at B g) <= memory_limit (group_at A g)
  /\ constant_bytes (group_at A g) <= constant_bytes (group_at B g) /\ (forall t l, tier_limit (group_at A g) t = Some l -> exists l', tier_limit (group_at B g) t = Some l' /\ l' <= l)
  /\ forall o, sync_constant_ns (group_at A g) o <= sync_constant_ns (group_at B g) o) /\ 0 <= slots (group_at A g).
Hypothesis less_sent : forall c o, message_bytes A c o <= message_bytes B c o /\ message_feedback A c o <= message_feedback B c o.
Hypothesis linked_too : forall c g h, linked B c g h = true -> linked A c g h = true
  /\ forall k o part, onward_ns A c g h k part <= onward_ns B c g h k part /\ back_ns A o c g h k part <= back_ns B o c g h k part.
Hypothesis less_embedding : forall g h e, embedding_ns B g h = Some e -> exists e', embedding_ns A g h = Some e' /\ e' <= e.

Lemma modes_same m l : in_modes A m l = in_modes B m l.
Proof.
  destruct m as [k|n]; unfold in_modes.
  - apply map_ext. intros [r c]. cbn [fst snd]. destruct (same_runs r) as [-> _]. reflexivity.
  - revert n. induction l as [|[r c] l IH]; intros n; [reflexivity|]. cbn [in_first]. destruct (same_runs r) as [-> _]. destruct (recomputable (run_at B r)); rewrite IH; reflexivity.
Qed.
Lemma recomputable_same l : recomputable_in A l = recomputable_in B l.
Proof. unfold recomputable_in. f_equal. apply filter_ext. intros [r c]. cbn [fst]. apply same_runs. Qed.
Lemma holds_same d : holds_layers A d = holds_layers B d.
Proof.
  destruct same_ways as (S & W & _). unfold holds_layers, laid, held. rewrite same_model, S. rewrite (map_ext _ (fun p => (as_on B (fst p) (gradient_option d) (on d), snd p))) by (intros p; rewrite W; reflexivity). f_equal.
  destruct (sharded_further B) as [f|]; [|reflexivity]. generalize (sharded d) (take (count d) (drop (from d) (model B))). intros k l. revert k.
  induction l as [|[r c] l IH]; intros k; [reflexivity|]. cbn [shard]. destruct (same_runs r) as [-> _]. rewrite !IH. reflexivity.
Qed.
Lemma ends_same s : ends_locally A s = ends_locally B s.
Proof. unfold ends_locally. rewrite same_shape. reflexivity. Qed.
Lemma headed_same s l : headed A s l = headed B s l.
Proof. destruct same_ways as (_ & _ & H & _). unfold headed. rewrite ends_same, H. reflexivity. Qed.
Lemma local_less s k u v : u <= v -> local A s k u <= local B s k v.
Proof. intros H. unfold local. rewrite ends_same. destruct (_ && _); lia. Qed.
Lemma cut_same l : last_cut A l = last_cut B l.
Proof. unfold last_cut. destruct (last l (0%nat, 0%nat)). apply same_runs. Qed.
Lemma over_less (f g : run -> nat -> Z) l : (forall r m, f (run_at A r) m <= g (run_at B r) m) -> over A l f <= over B l g.
Proof. intros H. unfold over. induction l as [|[[r n] m] l IH]; cbn [map sum fold_right]; [lia|]. fold sum. specialize (H r m). unfold sum in *. nia. Qed.

(* ---- times *)
Lemma gradient_less r m g : stands g -> gradient_pass A (run_at A r) m g <= gradient_pass B (run_at B r) m g.
Proof.
  intros Hg. destruct (less_time r 0%nat m g Hg) as (_ & H1 & H2 & H3 & _). unfold gradient_pass, layer_backward. rewrite same_shape. cbn [other]. fold y.
  replace (splits (loosen y b)) with (splits y) by (destruct y; reflexivity). destruct (splits y); [exact H2|]. destruct m; lia.
Qed.
(* Of single layers, first to last: their gradients, and what is left of the syncs behind them. *)
Definition gradients Q g (l : list (run * nat)) := sum (map (fun p => gradient_pass Q (fst p) (snd p) g) l).
Definition as_runs (Q : problem) (l : list (nat * nat)) := map (fun p => (run_at Q (fst p), snd p)) l.
Lemma tail_less o g : stands g -> forall l s s' q q', s <= s' -> q <= q' ->
  q + gradients A g (as_runs A l) + tail A o g (as_runs A l) s q <= q' + gradients B g (as_runs B l) + tail B o g (as_runs B l) s' q'.
Proof.
  intros Hg. induction l as [|[r m] l IH]; intros s s' q q' Hs Hq; [cbn; lia|]. unfold as_runs, gradients in *. cbn [map tail fst snd sum fold_right]. fold sum.
  pose proof (gradient_less r m g Hg) as K. destruct (less_time r o m g Hg) as (_ & _ & _ & _ & _ & S).
  specialize (IH (s + sync_ns (run_at A r) o g) (s' + sync_ns (run_at B r) o g) (q + gradient_pass A (run_at A r) m g) (q' + gradient_pass B (run_at B r) m g) ltac:(lia) ltac:(lia)).
  assert (D : forall l, sum (map (fun p : run * nat => gradient_pass A (fst p) (snd p) g) (map (fun p : nat * nat => (run_at A (fst p), snd p)) l)) <= sum (map (fun p : run * nat => gradient_pass B (fst p) (snd p) g) (map (fun p : nat * nat => (run_at B (fst p), snd p)) l))).
  { clear IH K S Hs Hq. clear r m. intros l0. induction l0 as [|[r m] k IH]; [cbn; lia|]. cbn [map sum fold_right fst snd]. fold sum. pose proof (gradient_less r m g Hg). unfold sum in *. lia. }
  specialize (D l). unfold sum in *. lia.
Qed.
Lemma single_is Q l : single Q l = as_runs Q (flat_map (fun p : nat * nat * nat => let '(r, n, m) := p in repeat (r, m) n) l).
Proof.
  unfold single, as_runs. induction l as [|[[r n] m] l IH]; [reflexivity|]. cbn [flat_map]. rewrite map_app, IH. f_equal. induction n as [|n IHn]; [reflexivity|]. cbn [repeat map fst snd]. rewrite IHn. reflexivity.
Qed.
Lemma gradients_are Q g l : gradients Q g (single Q l) = over Q l (fun r m => gradient_pass Q r m g).
Proof.
  unfold gradients, single, over. induction l as [|[[r n] m] l IH]; [reflexivity|]. cbn [flat_map map]. rewrite map_app, sum_both, IH. cbn [sum fold_right]. fold sum. f_equal.
  clear IH. induction n as [|n IHn]; [reflexivity|]. cbn [repeat map sum fold_right fst snd]. fold sum. unfold sum in *. rewrite IHn. lia.
Qed.
Lemma Forall2_map {X} (f g : X -> Z) l : (forall a, In a l -> f a <= g a) -> Forall2 Z.le (map f l) (map g l).
Proof. induction l as [|a l IH]; intros H; cbn [map]; constructor; [apply H; left; reflexivity|apply IH; intros; apply H; right; assumption]. Qed.
Lemma nth_less l l' i : Forall2 Z.le l l' -> nth i l 0 <= nth i l' 0.
Proof. intros H. revert i. induction H; intros [|i]; cbn; auto; lia. Qed.
Lemma nth_parts p p' e e' n i : Forall2 Z.le p p' -> length p = n -> (forall j, (n + j)%nat = i -> nth j e 0 <= nth j e' 0) -> nth i (p ++ e) 0 <= nth i (p' ++ e') 0.
Proof.
  intros F L H. assert (K : length p = length p') by (clear - F; induction F; cbn; congruence). destruct (Nat.lt_ge_cases i n) as [Lt|Ge]; [rewrite !app_nth1 by lia; apply nth_less, F|rewrite !app_nth2 by lia; rewrite <- K, L; apply H; lia].
Qed.
Lemma constant_less d : stands (on d) -> sync_constant_ns (group_at A (on d)) (gradient_option d) <= sync_constant_ns (group_at B (on d)) (gradient_option d).
Proof. intros Hg. apply (proj1 (better_groups (on d)) Hg). Qed.
Lemma slices_are : slices (shape_of A) = slices y. Proof. rewrite same_shape. reflexivity. Qed.
Lemma times_less st d i : stands (on d) -> i <> (2 * slices y + 1)%nat \/ overlapped y = false -> nth i (times A st d) 0 <= nth i (times B st d) 0.
Proof.
  intros Hg Hi. pose proof (constant_less d Hg) as K. unfold times, own_times. cbn zeta. rewrite headed_same, modes_same, holds_same. set (l := headed B st (in_modes B (recompute d) (holds_layers B d))). set (g := on d) in *. set (o := gradient_option d) in *. destruct less_local as (Lf & Lb & _). rewrite same_shape. cbn [loosen slices overlapped]. fold y.
  assert (S : over A l (fun r _ => sync_ns r o g) <= over B l (fun r _ => sync_ns r o g)) by (apply over_less; intros r m; apply (less_time r o m g Hg)).
  assert (F : Forall2 Z.le (map (fun k => over A l (fun r _ => forward_ns r k g) + local A st k (local_forward_ns A)) (seq 0 (slices y)) ++ map (fun k => over A l (fun r m => layer_backward r m k g) + local A st k (local_backward_ns A)) (seq 0 (slices y)))
      (map (fun k => over B l (fun r _ => forward_ns r k g) + local B st k (local_forward_ns B)) (seq 0 (slices y)) ++ map (fun k => over B l (fun r m => layer_backward r m k g) + local B st k (local_backward_ns B)) (seq 0 (slices y)))).
  { apply Forall2_app; apply Forall2_map; intros k _; (apply Z.add_le_mono; [apply over_less|apply local_less; lia]); intros r m; destruct (less_time r k m g Hg) as (H1 & H2 & _ & H3 & _); [exact H1|]. unfold layer_backward. destruct m; lia. }
  rewrite !app_assoc. apply (nth_parts _ _ _ _ (2 * slices y) i F); [rewrite app_length, !map_length, seq_length; lia|]. intros n J. replace (several (loosen y b)) with (several y) by (destruct y; reflexivity).
  pose proof (over_less (fun r _ => weight_ns r g) (fun r _ => weight_ns r g) l (fun r m => proj1 (proj2 (proj2 (less_time r 0%nat m g Hg))))).
  pose proof (over_less (fun r _ => optimizer_ns r o g) (fun r _ => optimizer_ns r o g) l (fun r m => proj1 (proj2 (proj2 (proj2 (proj2 (less_time r o m g Hg))))))).
  destruct n as [|[|[|[|n]]]]; cbn [nth]; try lia.
  - destruct Hi as [Hi|Hi]; [lia|rewrite Hi; lia].
  - destruct (overlapped y && several y); lia.
Qed.
(* The time of the stage's last gradient. *)
Definition gradient_at Q := ((if splits (shape_of Q) then 2 * slices (shape_of Q) else slices (shape_of Q)) + 0)%nat.
Definition local_gradient Q st := if splits (shape_of Q) then 0 else local Q st 0 (local_backward_ns Q).
Lemma gradient_time Q st d : (1 <= slices (shape_of Q))%nat -> nth (gradient_at Q) (times Q st d) 0 = gradients Q (on d) (single Q (headed Q st (in_modes Q (recompute d) (holds_layers Q d)))) + local_gradient Q st.
Proof.
  intros H1. rewrite gradients_are. unfold gradient_at, times, own_times, gradient_pass, local_gradient. cbn zeta. destruct (splits (shape_of Q)).
  - rewrite !app_nth2; rewrite ?map_length, ?seq_length; try lia. replace (_ + 0 - _ - _)%nat with 0%nat by lia. rewrite Z.add_0_r. reflexivity.
  - rewrite app_nth2; rewrite ?map_length, ?seq_length; try lia. rewrite app_nth1 by (rewrite map_length, seq_length; lia). replace (_ + 0 - _)%nat with 0%nat by lia. destruct (slices (shape_of Q)); [lia|]. reflexivity.
Qed.
Lemma sync_time Q st d : overlapped (shape_of Q) = true -> nth (2 * slices (shape_of Q) + 1) (times Q st d) 0 =
  sync_constant_ns (group_at Q (on d)) (gradient_option d) + tail Q (gradient_option d) (on d) (single Q (headed Q st (in_modes Q (recompute d) (holds_layers Q d)))) 0 0.
Proof.
  intros Ho. unfold times, own_times. cbn zeta. rewrite Ho. rewrite !app_nth2; rewrite ?map_length, ?seq_length; try lia. replace (_ + 1 - _ - _)%nat with 1%nat by lia. reflexivity.
Qed.
Lemma gradients_positive g l : 0 <= gradients A g (single A l).
Proof.
  unfold gradients. rewrite single_is. unfold as_runs. induction (flat_map _ l) as [|[r m] k IH]; [cbn; lia|]. cbn [map sum fold_right fst snd]. fold sum. pose proof (positive_gradients r m g). unfold sum in *. lia.
Qed.
(* An overlapped sync behind its stage's last gradient ends no later. *)
Lemma sync_less st d : (1 <= slices y)%nat -> stands (on d) -> overlapped y = true -> 0 <= nth (gradient_at A) (times A st d) 0
  /\ nth (gradient_at A) (times A st d) 0 + nth (2 * slices y + 1) (times A st d) 0 <= nth (gradient_at B) (times B st d) 0 + nth (2 * slices y + 1) (times B st d) 0.
Proof.
  intros H1 Hg Ho. pose proof (constant_less d Hg) as K. pose proof slices_are as Sl. assert (Oa : overlapped (shape_of A) = true) by (rewrite same_shape; exact Ho).
  rewrite !gradient_time by (rewrite ?Sl; exact H1). rewrite <- Sl at 1. rewrite (sync_time A st d Oa). pose proof (sync_time B st d Ho) as Tb. fold y in Tb. rewrite Tb. destruct less_local as (_ & Lb & _).
  assert (Lg : 0 <= local_gradient A st <= local_gradient B st).
  { unfold local_gradient. replace (splits (shape_of A)) with (splits y) by (rewrite same_shape; destruct y; reflexivity). fold y. destruct (splits y); [lia|]. split; [unfold local; destruct (_ && _); lia|apply local_less; lia]. }
  split; [pose proof (gradients_positive (on d) (headed A st (in_modes A (recompute d) (holds_layers A d)))); lia|].
  rewrite headed_same, modes_same, holds_same, !single_is. pose proof (tail_less (gradient_option d) (on d) Hg (flat_map (fun p : nat * nat * nat => let '(r, n, m) := p in repeat (r, m) n) (headed B st (in_modes B (recompute d) (holds_layers B d)))) 0 0 0 0 ltac:(lia) ltac:(lia)). lia.
Qed.

(* ---- plans *)
Lemma forallb_eq {X} (f g : X -> bool) l : (forall a, In a l -> f a = g a) -> forallb f l = forallb g l.
Proof. induction l as [|a l IH]; intros H; [reflexivity|]. cbn [forallb]. rewrite (H a (or_introl eq_refl)), IH by (intros c Ic; apply H; right; exact Ic). reflexivity. Qed.
Lemma obeys_same s f l g bo go m : obeys A s f l g bo go m = obeys B s f l g bo go m.
Proof. destruct same_budgets as (_ & E & _). destruct same_ways as (_ & _ & _ & _ & N & _). unfold obeys, conditions, rule_layers. rewrite E, same_boundaries, same_gradients. apply forallb_eq. intros r _. destruct (of_run r) as [k|]; [|reflexivity]. rewrite (filter_ext (fun p => (named (run_at A (fst p)) =? k)%nat) (fun p => (named (run_at B (fst p)) =? k)%nat)) by (intros p; rewrite N; reflexivity). reflexivity. Qed.
Lemma decides s d : decision_ok B s d = true -> decision_ok A s d = true /\ stands (on d).
Proof.
  destruct same_modes as (M1 & M2 & M3), same_budgets as (_ & _ & L). intros H. apply andb_prop in H as [R H]. do 6 (apply andb_prop in H as [H ?]). apply andb_prop in H as [E S].
  assert (G : stands (on d)) by (unfold stands; destruct (excluded _); [discriminate|reflexivity]). destruct (better_groups (on d)) as [G1 _]. destruct (G1 G) as (X & Y & _ & _ & Tl & _). destruct same_ways as (Sf & _ & _ & Ti & _ & Sl). destruct (Sl (on d)) as [[Ta Tb] _].
  split; [|exact G]. apply andb_true_intro. split; [|repeat (apply andb_true_intro; split)].
  - unfold in_range in *. rewrite same_boundaries, same_gradients, L, same_shape. unfold total_layers. rewrite same_model. assert (Em : may_shard A (held A (from d) (count d)) = may_shard B (held B (from d) (count d))) by (unfold may_shard, held; rewrite Sf, same_model; destruct (sharded_further B); [apply recomputable_same|reflexivity]). rewrite Em. destruct s; exact R.
  - rewrite X. reflexivity.
  - apply Z.leb_le. apply Z.leb_le in S. rewrite Ta. rewrite Tb in S. lia.
  - unfold mode_fits in *. rewrite M1, M2, recomputable_same, holds_same. assumption.
  - unfold as_set in *. rewrite M3, recomputable_same, holds_same. assumption.
  - unfold tiers_hold in *. rewrite Ti, holds_same, modes_same. match goal with T : forallb _ (seq 0 (tiers B)) = true |- _ => rewrite forallb_forall in T |- *; intros t It; specialize (T t It); destruct (tier_limit (group_at A (on d)) t) as [l|] eqn:El; [|reflexivity];
      destruct (Tl t l El) as (l' & El' & Ll); rewrite El' in T; cbn [if_stated] in *; apply Z.leb_le; apply Z.leb_le in T; etransitivity; [|etransitivity; [exact T|exact Ll]] end.
    apply over_less. intros r m. apply (less_bytes r t).
  - unfold allowed in *. rewrite same_rank, same_boundaries. assumption.
  - unfold allowed in *. rewrite same_rank, same_gradients. assumption.
  - rewrite obeys_same, holds_same. assumption.
Qed.
Lemma joins_too s d e : joined B s d e = true -> joined A s d e = true.
Proof. unfold joined. rewrite same_shape, leaves_same, holds_same, cut_same. fold y. change (is_sent (loosen y b) Onward s) with (is_sent y Onward s). destruct (leaves_rank y s); [|auto]. destruct (is_sent y Onward s); [|auto]. cbn [negb orb]. intros H. apply (linked_too _ _ _ H). Qed.
Lemma order_too : forall plan s f, in_order B s f plan = true -> in_order A s f plan = true /\ Forall (fun d => stands (on d)) plan.
Proof.
  induction plan as [|d plan IH]; intros s f; cbn [in_order].
  - rewrite same_shape. unfold total_layers. rewrite same_model. auto.
  - rewrite !andb_true_iff. intros (((H1 & H2) & H3) & H4). destruct (decides s d H1) as [D G]. destruct (IH _ _ H4) as [O F]. split; [|constructor; assumption].
    repeat split; auto. destruct plan; [reflexivity|]. apply joins_too, H3.
Qed.
Lemma joined_nth : forall plan s f i, in_order B s f plan = true -> (S i < length plan)%nat -> joined B (s + i) (nth i plan nobody) (nth (S i) plan nobody) = true.
Proof.
  induction plan as [|d plan IH]; intros s f i H L; [cbn in L; lia|]. cbn [in_order] in H. parts in H. destruct H as (((_ & _) & J) & H). destruct i as [|i].
  - rewrite Nat.add_0_r. destruct plan; [cbn in L; lia|exact J].
  - cbn [length] in L. replace (s + S i)%nat with (S s + i)%nat by lia. exact (IH _ _ i H ltac:(lia)).
Qed.
Lemma order_length : forall plan s f, in_order B s f plan = true -> (s + length plan = stages y)%nat.
Proof.
  induction plan as [|d plan IH]; intros s f H; cbn [in_order length] in *; parts in H.
  - destruct H as [H _]. apply Nat.eqb_eq in H. fold y in H. lia.
  - destruct H as (_ & H). specialize (IH _ _ H). lia.
Qed.
Hypothesis Hy : regular y.
Variable plan : list decision.
Hypothesis ok : plan_ok B plan.
Lemma all_stand i : (i < stages y)%nat -> stands (on (nth i plan nobody)).
Proof.
  intros Hi. destruct ok as (O & _). destruct (order_too plan 0 0 O) as [_ F]. rewrite Forall_forall in F. apply F, nth_In. pose proof (order_length plan 0 0 O). lia.
Qed.
(* THEOREM: no operation takes longer. *)
Theorem lasts_less u : valid y u = true -> what u <> Sync \/ overlapped y = false -> lasts A plan u <= lasts B plan u.
Proof.
  intros V Sy. pose proof ok as (O & _ & _ & E). pose proof (order_length plan 0 0 O) as L. unfold lasts. set (d := nth (place u) plan nobody). set (e := nth (S (place u)) plan nobody).
  assert (T : (place u < stages y)%nat -> forall i, i <> (2 * slices y + 1)%nat \/ overlapped y = false -> nth i (times A (place u) d) 0 <= nth i (times B (place u) d) 0) by (intros P i; apply times_less, all_stand, P).
  assert (K : slices (shape_of A) = slices y) by (rewrite same_shape; reflexivity). fold y. rewrite K.
  assert (M : forall dir part, (S (place u) < stages y)%nat -> is_sent y dir (place u) = true -> message_ns A d e dir (slice u) (drains (shape_of A) u) part <= message_ns B d e dir (slice u) (drains y u) part).
  { intros dir part P Lv. pose proof (joined_nth plan 0 0 (place u) O ltac:(lia)) as J. cbn [Nat.add] in J. fold d e in J. unfold joined in J. fold y in J. assert (On : leaves_rank y (place u) = true /\ is_sent y Onward (place u) = true) by (unfold is_sent in *; destruct dir, (leaves_rank y (place u)), (is_local y (place u)); cbn in *; rewrite ?andb_false_r in *; auto; discriminate). destruct On as [Ol Os]. rewrite Ol, Os in J. cbn [negb orb] in J. destruct (linked_too _ _ _ J) as [_ Q].
    unfold message_ns, gradient_compression. rewrite same_shape, drains_same, holds_same, cut_same, same_boundaries. destruct dir; apply Q. exact 0%nat. }
  unfold valid in V. destruct (what u) eqn:Eu; repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [H ?] end; try (apply M; [apply Nat.ltb_lt|]; assumption);
    try (apply T; [apply Nat.ltb_lt; assumption|]; first [left; try match goal with H : (slice u <? _)%nat = true |- _ => apply Nat.ltb_lt in H end; lia|destruct Sy; [congruence|auto]]).
  specialize (E V). unfold ends_of in *. destruct plan as [|a r]; [congruence|]. destruct (embedding_ns B (on a) (on (List.last (a :: r) a))) as [z|] eqn:Z; [|congruence].
  destruct (less_embedding _ _ _ Z) as (z' & -> & ?). assumption.
Qed.
(* An overlapped sync and its stage's last gradient, together. *)
Lemma sync_lasts u : valid y u = true -> what u = Sync -> overlapped y = true ->
  0 <= lasts A plan (last_gradient y (place u)) /\ lasts A plan (last_gradient y (place u)) + lasts A plan u <= lasts B plan (last_gradient y (place u)) + lasts B plan u.
Proof.
  intros V Eu Ho. assert (P : (place u < stages y)%nat) by (unfold valid in V; (rewrite Eu in V; facts in V); tauto).
  assert (G : forall Q, slices (shape_of Q) = slices y -> splits (shape_of Q) = splits y -> lasts Q plan (last_gradient y (place u)) = nth (gradient_at Q) (times Q (place u) (nth (place u) plan nobody)) 0).
  { intros Q K1 K2. unfold lasts, last_gradient, gradient_at. rewrite K1, K2. cbn [what place slice]. destruct (splits y); [rewrite Nat.add_0_r|]; reflexivity. }
  assert (U : forall Q, slices (shape_of Q) = slices y -> lasts Q plan u = nth (2 * slices y + 1) (times Q (place u) (nth (place u) plan nobody)) 0) by (intros Q K1; unfold lasts; rewrite Eu, K1; reflexivity).
  rewrite (G A), (G B), (U A), (U B) by (first [reflexivity|rewrite same_shape; reflexivity]). destruct Hy as (_ & H1 & _). apply sync_less; auto. apply all_stand, P.
Qed.
Lemma sum_less {X} (f g : X -> Z) l : (forall a, In a l -> f a <= g a) -> sum (map f l) <= sum (map g l).
Proof.
  induction l as [|a l IH]; intros H; cbn [map sum fold_right]; [lia|]. fold sum. pose proof (H a (or_introl eq_refl)). specialize (IH ltac:(intros; apply H; right; assumption)). unfold sum in *. lia.
Qed.
Lemma most_less {X} (f g : X -> Z) l : (forall a, In a l -> f a <= g a) -> most (map f l) <= most (map g l).
Proof.
  induction l as [|a l IH]; intros H; cbn [map most fold_right]; [lia|]. fold most. pose proof (H a (or_introl eq_refl)). specialize (IH ltac:(intros; apply H; right; assumption)). unfold most in *. lia.
Qed.
Lemma before_same s f : before A s f = before B s f.
Proof.
  unfold before. rewrite same_shape, same_model. fold y. destruct s as [|a]; [reflexivity|]. destruct f as [|i]; [reflexivity|]. rewrite leaves_same. destruct (leaves_rank y a); [|reflexivity].
  destruct (drop i (model B)) as [|[r c] t]; [reflexivity|]. f_equal. apply same_runs.
Qed.
Lemma fixed_less s d : fixed_of A s d <= fixed_of B s d.
Proof.
  unfold fixed_of, fixed_bytes. rewrite before_same, holds_same, cut_same, modes_same, headed_same, ends_same. destruct less_local as (_ & _ & Lm). replace (sends_on A s) with (sends_on B s) by (unfold sends_on; rewrite same_shape; fold y; reflexivity).
  pose proof (over_less (fun r _ => resident r (gradient_option d)) (fun r _ => resident r (gradient_option d)) (headed B s (in_modes B (recompute d) (holds_layers B d))) (fun r _ => proj1 (less_bytes r (gradient_option d)))) as R.
  pose proof (less_sent (last_cut B (holds_layers B d)) (on d)). destruct (before B s (from d)) as [c|]; [pose proof (less_sent c (boundary_option d)); pose proof (less_sent c (on d))|]; destruct (sends_on B s), (ends_locally B s); lia.
Qed.
Lemma working_less s d : working_of A s d <= working_of B s d.
Proof.
  unfold working_of, working_bytes. cbn zeta. rewrite holds_same, modes_same, headed_same. set (l := headed B s (in_modes B (recompute d) (holds_layers B d))).
  pose proof (over_less (fun r _ => unsharded r) (fun r _ => unsharded r) l (fun r _ => proj1 (proj2 (less_bytes r 0%nat)))).
  pose proof (most_less (fun p : nat * nat * nat => let '(r, _, m) := p in working (run_at A r) m) (fun p : nat * nat * nat => let '(r, _, m) := p in working (run_at B r) m) l ltac:(intros [[r n] m] _; apply (less_bytes r m))). lia.
Qed.
Lemma stash_less s d : 0 <= stash_of A s d <= stash_of B s d.
Proof.
  unfold stash_of, stash_bytes. rewrite holds_same, modes_same, headed_same. set (l := headed B s (in_modes B (recompute d) (holds_layers B d))). split.
  - unfold over. induction l as [|[[r n] m] l0 IH]; [cbn; lia|]. change (0 <= Z.of_nat n * stash (run_at A r) m + over A l0 (fun r m => stash r m)). unfold over. pose proof (less_bytes r m) as (_ & _ & Q & _). pose proof (Z.mul_nonneg_nonneg (Z.of_nat n) (stash (run_at A r) m) ltac:(lia) ltac:(lia)). lia.
  - apply over_less. intros r m. apply (less_bytes r m).
Qed.
Lemma held_same s now : held_at A s now = held_at B s now.
Proof. unfold held_at, how_many, released. rewrite same_shape. fold y. destruct y; reflexivity. Qed.
Lemma moments_same r : moments A r = moments B r /\ stages_on A r = stages_on B r.
Proof. unfold moments, stages_on, released. rewrite same_shape. fold y. destruct y; split; reflexivity. Qed.
Lemma held_less h a c : 0 <= a <= c -> Z.max 0 (h * a) <= Z.max 0 (h * c).
Proof.
  intros H. destruct (Z.le_gt_cases 0 h); [assert (h * a <= h * c) by (apply Z.mul_le_mono_nonneg_l; lia); lia|assert (h * a <= 0) by (apply Z.mul_nonpos_nonneg; lia); lia].
Qed.
Lemma bytes_less r : stands (on (nth r plan nobody)) -> rank_bytes A plan r <= rank_bytes B plan r.
Proof.
  intros Hg. unfold rank_bytes. destruct (moments_same r) as [-> ->]. destruct (better_groups (on (nth r plan nobody))) as [G _]. destruct (G Hg) as (_ & _ & _ & K & _ & _).
  pose proof (sum_less (fun s => fixed_of A s (nth s plan nobody)) (fun s => fixed_of B s (nth s plan nobody)) (stages_on B r) ltac:(intros; apply fixed_less)).
  pose proof (most_less (fun s => working_of A s (nth s plan nobody)) (fun s => working_of B s (nth s plan nobody)) (stages_on B r) ltac:(intros; apply working_less)).
  pose proof (most_less (fun now => sum (map (fun s => Z.max 0 (held_at A s now * stash_of A s (nth s plan nobody))) (stages_on B r))) (fun now => sum (map (fun s => Z.max 0 (held_at B s now * stash_of B s (nth s plan nobody))) (stages_on B r))) (moments B r)
    ltac:(intros now _; apply sum_less; intros s _; rewrite held_same; apply held_less, stash_less)). lia.
Qed.
Lemma needs_less r s d : nth r (needs A s d) 0 <= nth r (needs B s d) 0.
Proof.
  destruct same_budgets as (_ & _ & L), same_ways as (_ & _ & _ & _ & _ & Sl). unfold needs, needs_on. rewrite same_shape, count_same, same_boundaries, same_gradients, L. fold y.
  rewrite (map_ext _ (fun h => if (s <? rank_count y)%nat && shares (group_at B (on d)) h then takes_slots (group_at B (on d)) else 0)) by (intros h; destruct (Sl (on d)) as [[-> ->] K]; destruct (K h) as [-> ->]; reflexivity).
  assert (E : energy_of A (holds_layers A d) (recompute d) <= energy_of B (holds_layers B d) (recompute d)) by (unfold energy_of; rewrite holds_same, modes_same; apply over_less; intros q m; apply (less_bytes q m)).
  destruct (Nat.lt_ge_cases r (length (map (fun h => if (s <? rank_count y)%nat && shares (group_at B (on d)) h then takes_slots (group_at B (on d)) else 0) (seq 0 (length (groups B)))))) as [Lt|Ge]; [rewrite !app_nth1 by exact Lt; lia|].
  rewrite !app_nth2 by exact Ge. destruct (r - _)%nat as [|[|[|[|[|q]]]]]; cbn [nth]; lia.
Qed.
Lemma needed_less r : needed A r plan <= needed B r plan.
Proof. unfold needed. apply sum_less. intros [s d]. cbn [fst snd]. intros _. apply needs_less. Qed.
(* Of a group that cannot be used nothing is needed. *)
Lemma unused g : (g < length (groups B))%nat -> ~ stands g -> needed B g plan = 0.
Proof.
  intros Hl Hg. pose proof ok as (O & _). destruct (order_too plan 0 0 O) as [_ F]. unfold needed. generalize 0%nat at 1. clear ok O. induction F as [|d l D F IH]; intros i; [reflexivity|]. cbn [length seq combine map fst snd]. specialize (IH (S i)).
  match goal with |- sum (?a :: ?t) = 0 => change (a + sum t = 0) end. rewrite IH. unfold needs, needs_on. rewrite app_nth1 by (rewrite map_length, seq_length; exact Hl). destruct same_ways as (_ & _ & _ & _ & _ & Sl). destruct (Sl (on d)) as [_ K].
  rewrite nth_indep with (d' := (fun h => if (i <? rank_count (shape_of B))%nat && shares (group_at B (on d)) h then takes_slots (group_at B (on d)) else 0) 0%nat) by (rewrite map_length, seq_length; exact Hl).
  rewrite (map_nth (fun h => if (i <? rank_count (shape_of B))%nat && shares (group_at B (on d)) h then takes_slots (group_at B (on d)) else 0)), seq_nth by exact Hl. cbn [Nat.add]. destruct (K g) as [_ ->].
  destruct (Nat.eqb_spec (on d) g) as [E|N]; [rewrite E in D; contradiction|]. rewrite andb_false_r. reflexivity.
Qed.
(* THEOREM 8, d: every plan of the one is a plan of the other. *)
Theorem plan_too : plan_ok A plan.
Proof.
  pose proof ok as (O & R & M & E). destruct (order_too plan 0 0 O) as [O' F]. split; [exact O'|]. destruct same_budgets as (Eb & _ & El). split; [|split].
  - intros r l. unfold available. rewrite Eb. intros Hav. etransitivity; [apply needed_less|]. revert Hav. destruct (Nat.lt_ge_cases r (length (groups B))) as [L|L].
    + rewrite nth_error_app1 by (rewrite map_length; lia). intros H.
      assert (X : nth_error (groups A) r = Some (group_at A r)) by (apply nth_error_nth'; lia). rewrite (map_nth_error _ _ _ X) in H. injection H as <-. destruct (better_groups r) as [G Z0].
      destruct (excluded (group_at B r)) eqn:Ex; [rewrite unused; [exact Z0|exact L|unfold stands; congruence]|]. destruct (G Ex) as (_ & Q & _).
      assert (Y : nth_error (groups B) r = Some (group_at B r)) by (apply nth_error_nth'; lia).
      specialize (R r (slots (group_at B r))). unfold available in R. rewrite nth_error_app1 in R by (rewrite map_length; lia). rewrite (map_nth_error _ _ _ Y) in R. specialize (R eq_refl). lia.
    + intros H. apply (R r l). unfold available. rewrite nth_error_app2 in H |- * by (rewrite map_length; lia). rewrite map_length, El in H. rewrite map_length. exact H.
  - intros r Hr. rewrite same_shape, count_same in Hr. fold y in Hr. specialize (M r Hr). unfold rank_ok in *. destruct (moments_same r) as [_ ->]. rewrite !andb_true_iff in *. destruct M as [M1 M2]. split; [exact M1|].
    assert (Hg : stands (on (nth r plan nobody))) by (apply all_stand; pose proof (ranks_few y Hy); lia). destruct (better_groups (on (nth r plan nobody))) as [G _]. destruct (G Hg) as (_ & _ & Lm & _).
    apply Z.leb_le. apply Z.leb_le in M2. pose proof (bytes_less r Hg). lia.
  - intros Em. rewrite same_shape in Em. specialize (E Em). unfold ends_of in *. destruct plan as [|a t]; [congruence|]. destruct (embedding_ns B (on a) (on (List.last (a :: t) a))) as [z|] eqn:Z; [|congruence].
    destruct (less_embedding _ _ _ Z) as (z' & -> & _). discriminate.
Qed.
Theorem takes_less T : takes B plan T -> takes A plan T.
Proof.
  intros (start & H). unfold takes. rewrite same_shape. apply (sooner_ends y b (lasts B plan) _ start); auto; [exact lasts_less|]. intros Ho u V E. apply sync_lasts; auto.
Qed.
(* THEOREM 8, d: a bound of the one holds for the other, and if the one has no plan, neither has the other. *)
Theorem dominated : plan_ok A plan /\ forall T, takes B plan T -> takes A plan T.
Proof. split; [exact plan_too|exact takes_less]. Qed.
End Of.

(* ---- syncs beside the gradients instead of behind them *)
Notation overlaps y o := (other y (barrier y) o).
Definition with_syncs P o := Problem (overlaps (shape_of P) o) (model P) (run_at P) (sharded_further P) (as_on P) (groups P) (tiers P) (boundary_options P) (gradient_options P) (rank_min P) (offered P) (offers_first_layers P)
  (setting P) (message_bytes P) (message_feedback P) (linked P) (onward_ns P) (back_ns P) (embedding_ns P) (local_head P) (local_forward_ns P) (local_backward_ns P) (local_bytes P) (budgets P) (rules P).
Lemma syncs_same R o s d : fixed_of (with_syncs R o) s d = fixed_of R s d /\ working_of (with_syncs R o) s d = working_of R s d /\ stash_of (with_syncs R o) s d = stash_of R s d.
Proof.
  unfold fixed_of, working_of, stash_of. change (holds_layers (with_syncs R o) d) with (holds_layers R d). change (before (with_syncs R o) s (from d)) with (before R s (from d)).
  unfold fixed_bytes, working_bytes, stash_bytes. split; [|split]; reflexivity.
Qed.
Lemma syncs_message R o d e dir y dr part : message_ns (with_syncs R o) d e dir y dr part = message_ns R d e dir y dr part.
Proof. reflexivity. Qed.
(* A sync that waits for the one before it on its rank, and the sync behind the gradients that is there. *)
Definition own u := match what u with QueuedSync => Op Sync (place u) 0 0 | _ => u end.
Lemma own_stream y u : in_stream y (own u) = in_stream y u. Proof. destruct u as [k p i j], k; reflexivity. Qed.
Lemma own_link y u : in_link y (own u) = in_link y u. Proof. destruct u as [k p i j], k; reflexivity. Qed.
Lemma own_waits y u v : overlapped y = false -> waits (overlaps y true) u v = true -> waits y (own u) (own v) = true.
Proof.
  intros Ho. unfold waits. rewrite !stream_same, !link_same, !own_stream, !own_link. cbn [overlapped other]. rewrite Ho.
  generalize (precedes (in_stream y u) (in_stream y v) || precedes (in_link y u) (in_link y v)) (in_stream y u). intros c n W. destruct u as [k p i j], v as [k' p' i' j'].
  destruct k'; cbn [own what place] in *; try (destruct k; exact W).
  all: destruct k; cbn [own what place] in *; rewrite ?sooner_same in W; try exact W.
  all: apply orb_prop in W as [W|W]; rewrite orb_true_iff; [left; exact W|try discriminate W]; right.
  all: apply andb_prop in W as [W E]; apply Nat.eqb_eq in E; subst p'; rewrite Nat.eqb_refl, andb_true_r; exact W.
Qed.
Lemma own_carries y u v : carries (overlaps y true) u v = true -> carries y (own u) (own v) = true.
Proof.
  assert (R : forall w, rank_of y (own w) = rank_of y w) by (intros w; unfold rank_of; rewrite own_stream; destruct w as [k p i j], k; reflexivity).
  assert (K : forall w, link_of y (own w) = link_of y w) by (intros w; unfold link_of; rewrite own_link; reflexivity).
  rewrite carries_same. unfold carries. rewrite !R, !K. auto.
Qed.
Lemma own_valid y u : valid (overlaps y true) u = true -> valid y (own u) = true.
Proof.
  destruct u as [k p i j]. destruct k; try (intros V; exact V). unfold valid. cbn [own what place batch slice]. intros V. do 3 apply andb_prop in V as [V _]. exact (andb_true_intro (conj (proj2 (andb_prop _ _ V)) eq_refl)).
Qed.
(* THEOREM: a timing with syncs behind a rank's last pass is one with syncs that begin with their
   stage's last gradient, and one after another take no more. *)
Theorem beside_ends y d d' start T : overlapped y = false -> (forall u, valid y u = true -> d' u <= d u) ->
  (several y = true -> forall s, (s < stages y)%nat -> d' (Op QueuedSync s 0 0) <= d (Op Sync s 0 0)) -> timing y d start T -> takes_at_most (overlaps y true) d' T.
Proof.
  intros Ho Hd Hq (H0 & H1 & H2 & H3 & H4).
  assert (V : forall u, valid (overlaps y true) u = true -> d' u <= d (own u)).
  { intros u Vu. destruct (what u) eqn:Eu; try (pose proof (own_valid y u Vu) as K; unfold own in *; rewrite Eu in *; exact (Hd u K)).
    unfold valid in Vu. unfold own. rewrite Eu in *. destruct u as [k p i j]. cbn [what place batch slice] in *. repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [H ?] end.
    rewrite Nat.eqb_eq, Nat.ltb_lt in *. subst. auto. }
  exists (fun u => start (own u)). split; [exact H0|]. split; [|split; [|split]].
  - intros u Hu. apply H1, own_valid, Hu.
  - intros B u Hu. specialize (H2 B _ (own_valid y u Hu)). specialize (V u Hu). lia.
  - intros u v Hu Hv W. specialize (H3 _ _ (own_valid y u Hu) (own_valid y v Hv) (own_waits y u v Ho W)). specialize (V u Hu). lia.
  - intros B u v Hu Hv C. specialize (H4 B _ _ (own_valid y u Hu) (own_valid y v Hv) (own_carries y u v C)). specialize (V u Hu). lia.
Qed.
(* The syncs of a stage's layers, beside the gradients, take no longer than one after another. *)
Lemma tail_at_most P o g : forall l syncs passes, (forall p, In p l -> 0 <= sync_ns (fst p) o g /\ 0 <= gradient_pass P (fst p) (snd p) g) -> 0 <= syncs -> 0 <= passes ->
  tail P o g l syncs passes <= syncs + sum (map (fun p => sync_ns (fst p) o g) l).
Proof.
  induction l as [|[r m] l IH]; intros s q H Hs Hq; cbn [tail map sum fold_right fst snd]; [lia|]. fold sum. destruct (H (r, m) (or_introl eq_refl)) as [A B]. cbn [fst snd] in A, B.
  specialize (IH (s + sync_ns r o g) (q + gradient_pass P r m g) ltac:(intros; apply H; right; assumption) ltac:(lia) ltac:(lia)).
  assert (0 <= sum (map (fun p => sync_ns (fst p) o g) l)) by (clear - H; induction l as [|p l IHl]; [cbn; lia|]; cbn [map sum fold_right]; fold sum; destruct (H p ltac:(right; left; reflexivity)); specialize (IHl ltac:(intros c [E|I]; apply H; [left; exact E|right; right; exact I])); unfold sum in *; lia).
  unfold sum in *. lia.
Qed.
Section Beside.
Variable P : problem.
Let Q := with_syncs P true.
Hypothesis exposed : overlapped (shape_of P) = false.
Hypothesis Hx : regular (shape_of P).
Hypothesis positive_syncs : forall r m o g, 0 <= sync_ns (run_at P r) o g /\ 0 <= gradient_pass P (run_at P r) m g.
Lemma syncs_summed st d : let l := headed P st (in_modes P (recompute d) (holds_layers P d)) in
  tail P (gradient_option d) (on d) (single P l) 0 0 <= over P l (fun r _ => sync_ns r (gradient_option d) (on d)).
Proof.
  intros l. eapply Z.le_trans; [apply tail_at_most; [|lia|lia]|].
  - intros p I. unfold single in I. apply in_flat_map in I as ([[r n] m] & _ & I). apply repeat_spec in I. subst p. exact (positive_syncs r m (gradient_option d) (on d)).
  - cbn [Z.add]. unfold single, over. induction l as [|[[r n] m] l IH]; [cbn; lia|]. cbn [flat_map map]. rewrite map_app, sum_both. cbn [sum fold_right]. fold sum. enough (sum (map (fun p => sync_ns (fst p) (gradient_option d) (on d)) (repeat (run_at P r, m) n)) = Z.of_nat n * sync_ns (run_at P r) (gradient_option d) (on d)) by (unfold sum in *; lia).
    clear. induction n as [|n IH]; [reflexivity|]. cbn [repeat map sum fold_right fst snd]. fold sum. unfold sum in *. rewrite IH. lia.
Qed.
Lemma same_plan plan : plan_ok P plan -> plan_ok Q plan.
Proof.
  intros (A & B & C & D). split; [exact A|]. split; [exact B|]. split; [|exact D]. intros r Hr. specialize (C r Hr). unfold rank_ok in *.
  assert (E : forall s now, held_at Q s now = held_at P s now) by (intros; unfold held_at, how_many, released; reflexivity).
  assert (M : moments Q r = moments P r) by (unfold moments, stages_on, released; reflexivity).
  replace (rank_bytes Q plan r) with (rank_bytes P plan r); [exact C|]. unfold rank_bytes. rewrite M.
  apply (f_equal2 Z.add); [apply (f_equal2 Z.add); [apply (f_equal2 Z.add)|]|]; [reflexivity|apply (f_equal sum)|apply (f_equal most)|apply (f_equal most)]; apply map_ext.
  - intros. symmetry. apply syncs_same.
  - intros. symmetry. apply syncs_same.
  - intros. apply (f_equal sum), map_ext. intros. rewrite E. apply (f_equal (Z.max 0)), (f_equal (Z.mul _)). symmetry. apply syncs_same.
Qed.
Lemma times_of st d : exists p w n o, length p = (2 * slices (shape_of P))%nat /\ times P st d = p ++ [w; n; o; 0]
  /\ exists s q, s <= n /\ times Q st d = p ++ [w; s; o; q] /\ (several (shape_of P) = true -> q <= n) /\ (several (shape_of P) = false -> q = 0).
Proof.
  pose proof (syncs_summed st d) as S. cbn zeta in S. unfold times, own_times. cbn zeta. rewrite exposed, !app_assoc. cbn [andb]. do 4 eexists. split; [|split; [reflexivity|]]; [rewrite app_length, !map_length, seq_length; lia|].
  do 2 eexists. split; [|split; [reflexivity|]].
  - apply Z.add_le_mono_l. exact S.
  - change (several (shape_of Q)) with (several (shape_of P)). split; intros ->; [apply Z.le_refl|reflexivity].
Qed.
(* THEOREM 8, d: where syncs are beside the gradients, every plan is one, and takes no longer. *)
Theorem beside plan : plan_ok P plan -> plan_ok Q plan /\ forall T, takes P plan T -> takes Q plan T.
Proof.
  intros H. split; [exact (same_plan plan H)|]. intros T (start & K). apply (beside_ends (shape_of P) (lasts P plan) (lasts Q plan) start T exposed); [| |exact K].
  - intros u V. destruct (what u) eqn:Eu; unfold lasts; rewrite Eu; try (change (drains (shape_of Q) u) with (drains (shape_of P) u); unfold Q; rewrite syncs_message; apply Z.le_refl); try (match goal with |- context [ends_of] => apply Z.le_refl end); try (unfold valid in V; rewrite Eu, exposed in V; discriminate).
    all: destruct (times_of (place u) (nth (place u) plan nobody)) as (p & w & n & o & L & -> & s & q & S & -> & _); change (slices (shape_of Q)) with (slices (shape_of P)).
    1, 2: assert (slice u < slices (shape_of P))%nat by (unfold valid in V; (rewrite Eu in V; facts in V); tauto); rewrite !app_nth1 by lia; apply Z.le_refl.
    all: rewrite !app_nth2, !L by lia.
    + replace (_ - _)%nat with 0%nat by lia. apply Z.le_refl.
    + replace (_ - _)%nat with 1%nat by lia. exact S.
    + replace (_ - _)%nat with 2%nat by lia. apply Z.le_refl.
  - intros Sv s Hs. unfold lasts. cbn [what place]. destruct (times_of s (nth s plan nobody)) as (p & w & n & o & L & -> & r & q & _ & -> & K2 & _). change (slices (shape_of Q)) with (slices (shape_of P)).
    rewrite !app_nth2, !L by lia. replace (_ + 3 - _)%nat with 3%nat by lia. replace (_ + 1 - _)%nat with 1%nat by lia. exact (K2 Sv).
Qed.
End Beside.
Definition theorems := (@dominated, @beside).
