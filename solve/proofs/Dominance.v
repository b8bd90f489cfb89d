(* One layout dominates another (docs/PROOFS.md 8, d): of two priced documents with the same choices,
   the plans of the dearer are plans of the other, and take no longer there. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Document Streams.
Import ListNotations.
Open Scope Z_scope.

(* The same operations and waits, with a barrier or without. *)
Definition loosen y b := Shape (schedule y) (stages y) (ranks y) (batches y) (slices y) b (overlapped y) (embedding y).
Lemma turn_same y b s k i j : turn (loosen y b) s k i j = turn y s k i j. Proof. destruct y; reflexivity. Qed.
Lemma on_same y b s : on_rank (loosen y b) s = on_rank y s. Proof. destruct y; reflexivity. Qed.
Lemma sooner_same y b s t : sooner (loosen y b) s t = sooner y s t.
Proof. unfold sooner, ended. rewrite !on_same, !turn_same. reflexivity. Qed.
Lemma stream_same y b u : in_stream (loosen y b) u = in_stream y u.
Proof. destruct u as [k p i j]. unfold in_stream. cbn [what place batch slice]. rewrite !on_same, !turn_same. reflexivity. Qed.
Lemma link_same y b u : in_link (loosen y b) u = in_link y u.
Proof. destruct u as [k p i j]. unfold in_link. cbn [what place batch slice]. rewrite !on_same, !turn_same. replace (rank_count (loosen y b)) with (rank_count y) by (destruct y; reflexivity). reflexivity. Qed.
Lemma waits_same y b u v : waits (loosen y b) u v = waits y u v.
Proof. unfold waits. rewrite !stream_same, !link_same, !sooner_same, !on_same. reflexivity. Qed.
Lemma valid_same y b u : valid (loosen y b) u = valid y u. Proof. destruct y; reflexivity. Qed.
Lemma carries_same y b u v : carries (loosen y b) u v = carries y u v.
Proof. unfold carries, rank_of, link_of. rewrite !stream_same, !link_same, !on_same. reflexivity. Qed.
Lemma leaves_same y b s : leaves_rank (loosen y b) s = leaves_rank y s. Proof. destruct y; reflexivity. Qed.
Lemma drains_same y b u : drains (loosen y b) u = drains y u. Proof. destruct y; reflexivity. Qed.
Lemma count_same y b : rank_count (loosen y b) = rank_count y. Proof. destruct y; reflexivity. Qed.
(* THEOREM: whatever operations take, a timing is one of operations that take less, with or without
   the barrier. *)
Theorem sooner_ends y b d d' start T : (b = true -> barrier y = true) -> (forall u, valid y u = true -> d' u <= d u) -> timing y d start T -> timing (loosen y b) d' start T.
Proof.
  intros Hb Hd (H0 & H1 & H2 & H3 & H4). repeat split.
  - exact H0.
  - intros u V. rewrite valid_same in V. auto.
  - cbn [loosen barrier]. intros E u V. rewrite valid_same in V. specialize (H2 (Hb E) u V). specialize (Hd u V). lia.
  - intros u v Vu Vv W. rewrite valid_same in Vu, Vv. rewrite waits_same in W. specialize (H3 u v Vu Vv W). specialize (Hd u Vu). lia.
  - intros _ u v Vu Vv C. rewrite valid_same in Vu, Vv. rewrite carries_same in C. specialize (Hd u Vu). destruct (barrier y) eqn:E.
    + specialize (H2 eq_refl u Vu). specialize (H1 v Vv). lia.
    + specialize (H4 eq_refl u v Vu Vv C). lia.
Qed.

Section Of.
Variables A B : problem.
Let y := shape_of B.
Variable b : bool.
Hypothesis fewer_waits : b = true -> barrier y = true.
Hypothesis same_shape : shape_of A = loosen y b.
(* the same choices *)
Hypothesis same_model : model A = model B.
Hypothesis same_runs : forall r, recomputable (run_at A r) = recomputable (run_at B r) /\ run_cut (run_at A r) = run_cut (run_at B r).
Hypothesis same_boundaries : boundary_options A = boundary_options B.
Hypothesis same_gradients : gradient_options A = gradient_options B.
Hypothesis same_rank : rank_min A = rank_min B.
Hypothesis same_modes : offered A = offered B /\ offers_first_layers A = offers_first_layers B /\ setting A = setting B.
Hypothesis same_budgets : budgets A = budgets B /\ rules A = rules B /\ length (groups A) = length (groups B).
(* no more of anything, on groups that can be used *)
Definition stands g := excluded (group_at B g) = false.
Hypothesis less_bytes : forall r m, resident (run_at A r) m <= resident (run_at B r) m /\ unsharded (run_at A r) <= unsharded (run_at B r)
  /\ 0 <= stash (run_at A r) m <= stash (run_at B r) m /\ working (run_at A r) m <= working (run_at B r) m.
Hypothesis less_time : forall r k m g, stands g -> forward_ns (run_at A r) k g <= forward_ns (run_at B r) k g /\ backward_ns (run_at A r) k g <= backward_ns (run_at B r) k g
  /\ weight_ns (run_at A r) g <= weight_ns (run_at B r) g /\ again_ns (run_at A r) m k g <= again_ns (run_at B r) m k g
  /\ optimizer_ns (run_at A r) k g <= optimizer_ns (run_at B r) k g /\ sync_ns (run_at A r) k g <= sync_ns (run_at B r) k g.
(* what hides a sync is the same *)
Hypothesis same_hiding : overlapped y = true -> forall r m g, stands g -> gradient_pass A (run_at A r) m g = gradient_pass B (run_at B r) m g.
Hypothesis better_groups : forall g, (stands g -> excluded (group_at A g) = false /\ slots (group_at B g) <= slots (group_at A g) /\ memory_limit (group_at B g) <= memory_limit (group_at A g)
  /\ constant_bytes (group_at A g) <= constant_bytes (group_at B g) /\ forall o, sync_constant_ns (group_at A g) o <= sync_constant_ns (group_at B g) o) /\ 0 <= slots (group_at A g).
Hypothesis less_sent : forall c o, message_bytes A c <= message_bytes B c /\ message_feedback A c o <= message_feedback B c o.
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
Proof. unfold holds_layers, held. rewrite same_model. reflexivity. Qed.
Lemma cut_same l : last_cut A l = last_cut B l.
Proof. unfold last_cut. destruct (last l (0%nat, 0%nat)). apply same_runs. Qed.
Lemma over_less (f g : run -> nat -> Z) l : (forall r m, f (run_at A r) m <= g (run_at B r) m) -> over A l f <= over B l g.
Proof. intros H. unfold over. induction l as [|[[r n] m] l IH]; cbn [map sum fold_right]; [lia|]. fold sum. specialize (H r m). unfold sum in *. nia. Qed.

(* ---- times *)
Lemma tail_less o g : overlapped y = true -> stands g -> forall l s s' q, s <= s' ->
  tail A o g (map (fun p => (run_at A (fst p), snd p)) l) s q <= tail B o g (map (fun p => (run_at B (fst p), snd p)) l) s' q.
Proof.
  intros Ho Hg. induction l as [|[r m] l IH]; intros s s' q Hs; cbn [map tail fst snd]; [lia|]. rewrite (same_hiding Ho r m g Hg). destruct (less_time r o m g Hg) as (_ & _ & _ & _ & _ & S).
  specialize (IH (s + sync_ns (run_at A r) o g) (s' + sync_ns (run_at B r) o g) (q + gradient_pass B (run_at B r) m g) ltac:(lia)). lia.
Qed.
Lemma single_is Q l : single Q l = map (fun p => (run_at Q (fst p), snd p)) (flat_map (fun p : nat * nat * nat => let '(r, n, m) := p in repeat (r, m) n) l).
Proof.
  unfold single. induction l as [|[[r n] m] l IH]; [reflexivity|]. cbn [flat_map]. rewrite map_app, IH. f_equal. induction n as [|n IHn]; [reflexivity|]. cbn [repeat map fst snd]. rewrite IHn. reflexivity.
Qed.
Lemma Forall2_map {X} (f g : X -> Z) l : (forall a, In a l -> f a <= g a) -> Forall2 Z.le (map f l) (map g l).
Proof. induction l as [|a l IH]; intros H; cbn [map]; constructor; [apply H; left; reflexivity|apply IH; intros; apply H; right; assumption]. Qed.
Lemma times_less d : stands (on d) -> Forall2 Z.le (times A d) (times B d).
Proof.
  intros Hg. unfold times. rewrite modes_same, holds_same. set (l := in_modes B (recompute d) (holds_layers B d)). set (g := on d) in *. set (o := gradient_option d). unfold own_times. rewrite same_shape. cbn [loosen slices overlapped]. fold y.
  assert (K : sync_constant_ns (nth g (groups A) (Group 0 true 0 0 (fun _ => 0))) o <= sync_constant_ns (nth g (groups B) (Group 0 true 0 0 (fun _ => 0))) o) by (apply (proj1 (better_groups g) Hg)).
  assert (S : over A l (fun r _ => sync_ns r o g) <= over B l (fun r _ => sync_ns r o g)) by (apply over_less; intros r m; apply (less_time r o m g Hg)).
  apply Forall2_app; [|apply Forall2_app].
  - apply Forall2_map. intros k _. apply over_less. intros r m. apply (less_time r k m g Hg).
  - apply Forall2_map. intros k _. apply over_less. intros r m. destruct (less_time r k m g Hg) as (_ & H1 & _ & H2 & _). unfold layer_backward. destruct m; lia.
  - repeat constructor.
    + apply over_less. intros r m. apply (less_time r 0%nat m g Hg).
    + destruct (Bool.bool_dec (overlapped y) true) as [Ho|Ho]; [rewrite Ho|apply not_true_is_false in Ho; rewrite Ho; lia]. rewrite !single_is. pose proof (tail_less o g Ho Hg (flat_map (fun p : nat * nat * nat => let '(r, n, m) := p in repeat (r, m) n) l) 0 0 0 ltac:(lia)). lia.
    + apply over_less. intros r m. apply (less_time r o m g Hg).
    + replace (several (loosen y b)) with (several y) by (destruct y; reflexivity). destruct (overlapped y && several y); lia.
Qed.
Lemma nth_less l l' i : Forall2 Z.le l l' -> nth i l 0 <= nth i l' 0.
Proof. intros H. revert i. induction H; intros [|i]; cbn; auto; lia. Qed.

(* ---- plans *)
Lemma obeys_same s f l g bo go m : obeys A s f l g bo go m = obeys B s f l g bo go m.
Proof. destruct same_budgets as (_ & E & _). unfold obeys, conditions. rewrite E, same_boundaries, same_gradients. reflexivity. Qed.
Lemma decides s d : decision_ok B s d = true -> decision_ok A s d = true /\ stands (on d).
Proof.
  destruct same_modes as (M1 & M2 & M3), same_budgets as (_ & _ & L). unfold decision_ok, in_range, may_decide, total_layers. rewrite holds_same, obeys_same, same_boundaries, same_gradients, same_model, L, same_shape, !andb_true_iff.
  intros (R & ((((((E & S) & F) & Q) & C1) & C2) & O)). assert (G : stands (on d)) by (unfold stands; destruct (excluded _); [discriminate|reflexivity]). destruct (better_groups (on d)) as [G1 _]. destruct (G1 G) as (X & Y & _).
  split; [|exact G]. split; [destruct s; [exact R|rewrite leaves_same; exact R]|]. repeat split; try assumption.
  - rewrite X. reflexivity.
  - apply Z.leb_le. apply Z.leb_le in S. lia.
  - unfold mode_fits in *. rewrite M1, M2, recomputable_same. exact F.
  - unfold as_set in *. rewrite M3, recomputable_same. exact Q.
  - unfold allowed in *. rewrite same_rank. exact C1.
  - unfold allowed in *. rewrite same_rank. exact C2.
Qed.
Lemma joins_too s d e : joined B s d e = true -> joined A s d e = true.
Proof. unfold joined. rewrite same_shape, leaves_same, holds_same, cut_same. fold y. destruct (leaves_rank y s); [|auto]. intros H. apply (linked_too _ _ _ H). Qed.
Lemma order_too : forall plan s f, in_order B s f plan = true -> in_order A s f plan = true /\ Forall (fun d => stands (on d)) plan.
Proof.
  induction plan as [|d plan IH]; intros s f; cbn [in_order].
  - rewrite same_shape. unfold total_layers. rewrite same_model. auto.
  - rewrite !andb_true_iff. intros (((H1 & H2) & H3) & H4). destruct (decides s d H1) as [D G]. destruct (IH _ _ H4) as [O F]. split; [|constructor; assumption].
    repeat split; auto. destruct plan; [reflexivity|]. apply joins_too, H3.
Qed.
Lemma joined_nth : forall plan s f i, in_order B s f plan = true -> (S i < length plan)%nat -> joined B (s + i) (nth i plan nobody) (nth (S i) plan nobody) = true.
Proof.
  induction plan as [|d plan IH]; intros s f i H L; [cbn in L; lia|]. cbn [in_order] in H. rewrite !andb_true_iff in H. destruct H as (((_ & _) & J) & H). destruct i as [|i].
  - rewrite Nat.add_0_r. destruct plan; [cbn in L; lia|exact J].
  - cbn [length] in L. replace (s + S i)%nat with (S s + i)%nat by lia. exact (IH _ _ i H ltac:(lia)).
Qed.
Lemma order_length : forall plan s f, in_order B s f plan = true -> (s + length plan = stages y)%nat.
Proof.
  induction plan as [|d plan IH]; intros s f H; cbn [in_order length] in *; rewrite !andb_true_iff in H.
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
Theorem lasts_less u : valid y u = true -> lasts A plan u <= lasts B plan u.
Proof.
  intros V. pose proof ok as (O & _ & _ & E). pose proof (order_length plan 0 0 O) as L. unfold lasts. set (d := nth (place u) plan nobody). set (e := nth (S (place u)) plan nobody).
  assert (T : (place u < stages y)%nat -> forall i, nth i (times A d) 0 <= nth i (times B d) 0) by (intros P i; apply nth_less, times_less, all_stand, P).
  assert (K : slices (shape_of A) = slices y) by (rewrite same_shape; reflexivity). fold y. rewrite K.
  assert (M : forall dir part, (S (place u) < stages y)%nat -> leaves_rank y (place u) = true -> message_ns A d e dir (slice u) (drains (shape_of A) u) part <= message_ns B d e dir (slice u) (drains y u) part).
  { intros dir part P Lv. pose proof (joined_nth plan 0 0 (place u) O ltac:(lia)) as J. cbn [Nat.add] in J. fold d e in J. unfold joined in J. fold y in J. rewrite Lv in J. destruct (linked_too _ _ _ J) as [_ Q].
    unfold message_ns, gradient_compression. rewrite same_shape, drains_same, holds_same, cut_same, same_boundaries. destruct dir; apply Q. exact 0%nat. }
  unfold valid in V. destruct (what u); rewrite ?andb_true_iff, ?Nat.ltb_lt in V; try (apply T; clear - V; tauto); try (apply M; clear - V; tauto).
  destruct V as ((Em & _) & _). specialize (E Em). unfold ends_of in *. destruct plan as [|a r]; [congruence|]. destruct (embedding_ns B (on a) (on (List.last (a :: r) a))) as [z|] eqn:Z; [|congruence].
  destruct (less_embedding _ _ _ Z) as (z' & -> & ?). assumption.
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
  unfold fixed_of, fixed_bytes. rewrite before_same, holds_same, cut_same, modes_same. replace (sends_on A s) with (sends_on B s) by (unfold sends_on; rewrite same_shape; fold y; rewrite leaves_same; reflexivity).
  pose proof (over_less (fun r _ => resident r (gradient_option d)) (fun r _ => resident r (gradient_option d)) (in_modes B (recompute d) (holds_layers B d)) (fun r _ => proj1 (less_bytes r (gradient_option d)))) as R.
  pose proof (less_sent (last_cut B (holds_layers B d)) 0%nat). destruct (before B s (from d)) as [c|]; [pose proof (less_sent c (boundary_option d))|]; destruct (sends_on B s); lia.
Qed.
Lemma working_less d : working_of A d <= working_of B d.
Proof.
  unfold working_of, working_bytes. rewrite holds_same, modes_same. set (l := in_modes B (recompute d) (holds_layers B d)).
  pose proof (over_less (fun r _ => unsharded r) (fun r _ => unsharded r) l (fun r _ => proj1 (proj2 (less_bytes r 0%nat)))).
  pose proof (most_less (fun p : nat * nat * nat => let '(r, _, m) := p in working (run_at A r) m) (fun p : nat * nat * nat => let '(r, _, m) := p in working (run_at B r) m) l ltac:(intros [[r n] m] _; apply (less_bytes r m))). lia.
Qed.
Lemma stash_less d : 0 <= stash_of A d <= stash_of B d.
Proof.
  unfold stash_of, stash_bytes. rewrite holds_same, modes_same. set (l := in_modes B (recompute d) (holds_layers B d)). split.
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
  intros Hg. unfold rank_bytes. destruct (moments_same r) as [-> ->]. destruct (better_groups (on (nth r plan nobody))) as [G _]. destruct (G Hg) as (_ & _ & _ & K & _).
  pose proof (sum_less (fun s => fixed_of A s (nth s plan nobody)) (fun s => fixed_of B s (nth s plan nobody)) (stages_on B r) ltac:(intros; apply fixed_less)).
  pose proof (most_less (fun s => working_of A (nth s plan nobody)) (fun s => working_of B (nth s plan nobody)) (stages_on B r) ltac:(intros; apply working_less)).
  pose proof (most_less (fun now => sum (map (fun s => Z.max 0 (held_at A s now * stash_of A (nth s plan nobody))) (stages_on B r))) (fun now => sum (map (fun s => Z.max 0 (held_at B s now * stash_of B (nth s plan nobody))) (stages_on B r))) (moments B r)
    ltac:(intros now _; apply sum_less; intros s _; rewrite held_same; apply held_less, stash_less)). lia.
Qed.
Lemma needed_same r : needed A r plan = needed B r plan.
Proof. unfold needed, needs. rewrite same_shape, count_same, same_boundaries, same_gradients. destruct same_budgets as (_ & _ & ->). reflexivity. Qed.
(* Of a group that cannot be used nothing is needed. *)
Lemma unused g : (g < length (groups B))%nat -> ~ stands g -> needed B g plan = 0.
Proof.
  intros Hl Hg. pose proof ok as (O & _). destruct (order_too plan 0 0 O) as [_ F]. unfold needed. generalize 0%nat at 1. clear ok O. induction F as [|d l D F IH]; intros i; [reflexivity|]. cbn [length seq combine map fst snd]. specialize (IH (S i)).
  match goal with |- sum (?a :: ?t) = 0 => change (a + sum t = 0) end. rewrite IH. unfold needs. rewrite app_nth1 by (rewrite map_length, seq_length; exact Hl). rewrite nth_indep with (d' := one ((i <? rank_count (shape_of B)) && (on d =? 0))%nat) by (rewrite map_length, seq_length; exact Hl).
  rewrite (map_nth (fun g => one ((i <? rank_count (shape_of B)) && (on d =? g))%nat) _ 0%nat), seq_nth by exact Hl. cbn [Nat.add]. destruct (Nat.eqb_spec (on d) g) as [E|N]; [rewrite E in D; contradiction|]. rewrite andb_false_r. reflexivity.
Qed.
(* THEOREM 8, d: every plan of the one is a plan of the other. *)
Theorem plan_too : plan_ok A plan.
Proof.
  pose proof ok as (O & R & M & E). destruct (order_too plan 0 0 O) as [O' F]. split; [exact O'|]. destruct same_budgets as (Eb & _ & El). split; [|split].
  - intros r l. unfold available. rewrite needed_same, Eb. destruct (Nat.lt_ge_cases r (length (groups B))) as [L|L].
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
Proof. intros (start & H). exists start. rewrite same_shape. apply (sooner_ends y b (lasts B plan)); auto. apply lasts_less. Qed.
(* THEOREM 8, d: a bound of the one holds for the other, and if the one has no plan, neither has the other. *)
Theorem dominated : plan_ok A plan /\ forall T, takes B plan T -> takes A plan T.
Proof. split; [exact plan_too|exact takes_less]. Qed.
End Of.
