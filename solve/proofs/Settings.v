(* One setting of recomputation (docs/PROOFS.md 8.18): a layout in which all stages are in one mode
   has the plans, the times and the bytes of a layout in which nothing can be chosen. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Document.
Import ListNotations.
Open Scope Z_scope.

Section Of.
Variable P : problem.
Variable k : nat.
Definition mode_of_run r := if recomputable r then k else 0%nat.
(* The same layer with what the mode makes of its backward, its stash and its working memory. *)
Definition in_mode (r : run) : run := Run (named r) (recomputable r) (run_cut r) (resident r) (unsharded r) (fun _ => stash r (mode_of_run r)) (fun _ => working r (mode_of_run r)) (in_tier r) (fun _ => energy r (mode_of_run r))
  (forward_ns r) (fun y g => layer_backward r (mode_of_run r) y g) (weight_ns r) (again_ns r) (optimizer_ns r) (sync_ns r).
Definition settled : problem := Problem (shape_of P) (model P) (fun r => in_mode (run_at P r)) (sharded_further P) (as_on P) (groups P) (tiers P) (boundary_options P) (gradient_options P) (rank_min P)
  [0%nat] false None (message_bytes P) (message_feedback P) (linked P) (onward_ns P) (back_ns P) (embedding_ns P) (local_head P) (local_forward_ns P) (local_backward_ns P) (local_bytes P) (budgets P) [].
Definition plain d := Decision (from d) (count d) (on d) (boundary_option d) (gradient_option d) (Each 0) (sharded d).
Let Q := settled.

Lemma over_same l g g' : (forall r, g (run_at P r) (mode_of_run (run_at P r)) = g' (in_mode (run_at P r)) 0%nat) -> over P (in_modes P (Each k) l) g = over Q (in_modes Q (Each 0) l) g'.
Proof.
  intros H. unfold over, in_modes. rewrite !map_map. f_equal. apply map_ext. intros [r c]. cbn [fst snd]. unfold Q, settled. cbn [run_at recomputable in_mode].
  fold (mode_of_run (run_at P r)). rewrite H. destruct (recomputable (run_at P r)); reflexivity.
Qed.
(* the head of a stage before a local loss is no layer that can be recomputed *)
Hypothesis head_runs : forall h, local_head P = Some h -> recomputable (run_at P h) = false.
Lemma over_app R a b g : over R (a ++ b) g = over R a g + over R b g.
Proof. unfold over. rewrite map_app. induction (map _ a) as [|v l IH]; [reflexivity|]. cbn [app]. change (v + sum (l ++ map (fun p : nat * nat * nat => let '(r, n, m) := p in Z.of_nat n * g (run_at R r) m) b) = v + sum l + sum (map (fun p : nat * nat * nat => let '(r, n, m) := p in Z.of_nat n * g (run_at R r) m) b)). rewrite IH. lia. Qed.
Lemma over_headed s l g g' : (forall r, g (run_at P r) (mode_of_run (run_at P r)) = g' (in_mode (run_at P r)) 0%nat) ->
  over P (headed P s (in_modes P (Each k) l)) g = over Q (headed Q s (in_modes Q (Each 0) l)) g'.
Proof.
  intros H. unfold headed. change (ends_locally Q s) with (ends_locally P s). change (local_head Q) with (local_head P). destruct (ends_locally P s); [|apply over_same, H]. destruct (local_head P) as [h|]; [|apply over_same, H].
  rewrite !over_app, (over_same l g g' H). f_equal. unfold over. cbn [map]. specialize (H h). unfold mode_of_run in H at 1. rewrite (head_runs h eq_refl) in H. rewrite H. reflexivity.
Qed.
Lemma tail_same o g : forall l l' s q, Forall2 (fun a b => sync_ns (fst a) o g = sync_ns (fst b) o g /\ gradient_pass P (fst a) (snd a) g = gradient_pass Q (fst b) (snd b) g) l l' ->
  tail P o g l s q = tail Q o g l' s q.
Proof.
  intros l l' s q H. revert s q. induction H as [|[r m] [r' m'] l l' [E F] H IH]; intros s q; [reflexivity|]. cbn [tail fst snd] in *. rewrite E, F, IH. reflexivity.
Qed.
Lemma single_app R a b : single R (a ++ b) = single R a ++ single R b.
Proof. apply flat_map_app. Qed.
Lemma single_same l o g : Forall2 (fun a b => sync_ns (fst a) o g = sync_ns (fst b) o g /\ gradient_pass P (fst a) (snd a) g = gradient_pass Q (fst b) (snd b) g)
  (single P (in_modes P (Each k) l)) (single Q (in_modes Q (Each 0) l)).
Proof.
  unfold single, in_modes. induction l as [|[r c] l IH]; [constructor|]. cbn [map flat_map fst snd]. apply Forall2_app; [|exact IH].
  induction c as [|c IHc]; [constructor|]. cbn [repeat]. constructor; [|exact IHc]. unfold Q, settled. cbn [fst snd run_at recomputable in_mode]. split; [reflexivity|].
  unfold gradient_pass, layer_backward. cbn [shape_of backward_ns weight_ns again_ns in_mode]. unfold layer_backward, mode_of_run. destruct (splits (shape_of P)); [reflexivity|]. destruct (recomputable (run_at P r)); lia.
Qed.
Lemma single_headed s l o g : Forall2 (fun a b => sync_ns (fst a) o g = sync_ns (fst b) o g /\ gradient_pass P (fst a) (snd a) g = gradient_pass Q (fst b) (snd b) g)
  (single P (headed P s (in_modes P (Each k) l))) (single Q (headed Q s (in_modes Q (Each 0) l))).
Proof.
  unfold headed. change (ends_locally Q s) with (ends_locally P s). change (local_head Q) with (local_head P). destruct (ends_locally P s); [|apply single_same]. destruct (local_head P) as [h|]; [|apply single_same].
  rewrite !single_app. apply Forall2_app; [apply single_same|]. constructor; [|constructor]. cbn [fst snd]. split; [reflexivity|].
  unfold gradient_pass, layer_backward. cbn [run_at Q settled shape_of backward_ns weight_ns in_mode]. destruct (splits (shape_of P)); [reflexivity|]. unfold layer_backward, mode_of_run. rewrite (head_runs h eq_refl). lia.
Qed.
Lemma times_same s l g o : own_times P s (in_modes P (Each k) l) g o = own_times Q s (in_modes Q (Each 0) l) g o.
Proof.
  unfold own_times. cbn zeta. change (local Q) with (local P). change (local_forward_ns Q) with (local_forward_ns P). change (local_backward_ns Q) with (local_backward_ns P). f_equal; [|f_equal].
  - apply map_ext. intros y. f_equal. apply over_headed. reflexivity.
  - apply map_ext. intros y. f_equal. apply over_headed. intros r. unfold layer_backward at 2. cbn [backward_ns in_mode]. lia.
  - f_equal; [|f_equal].
    + apply over_headed. reflexivity.
    + f_equal. change (overlapped (shape_of Q)) with (overlapped (shape_of P)). destruct (overlapped (shape_of P)); [apply tail_same, single_headed|apply over_headed; reflexivity].
    + f_equal; [apply over_headed; reflexivity|]. f_equal. change (shape_of Q) with (shape_of P). destruct (_ && _); [|reflexivity]. f_equal. apply over_headed. reflexivity.
Qed.
Lemma working_same s l : map (fun p : nat * nat * nat => let '(r, _, m) := p in working (run_at P r) m) (headed P s (in_modes P (Each k) l))
  = map (fun p : nat * nat * nat => let '(r, _, m) := p in working (run_at Q r) m) (headed Q s (in_modes Q (Each 0) l)).
Proof.
  assert (A : map (fun p : nat * nat * nat => let '(r, _, m) := p in working (run_at P r) m) (in_modes P (Each k) l) = map (fun p : nat * nat * nat => let '(r, _, m) := p in working (run_at Q r) m) (in_modes Q (Each 0) l)) by (unfold in_modes; rewrite !map_map; reflexivity).
  unfold headed. change (ends_locally Q s) with (ends_locally P s). change (local_head Q) with (local_head P). destruct (ends_locally P s); [|exact A]. destruct (local_head P) as [h|]; [|exact A].
  rewrite !map_app, A. f_equal. cbn [map run_at Q settled in_mode working]. unfold mode_of_run. rewrite (head_runs h eq_refl). reflexivity.
Qed.
Lemma cut_same l : last_cut Q l = last_cut P l.
Proof. unfold last_cut. destruct (last l (0%nat, 0%nat)). reflexivity. Qed.
Lemma fixed_same s l b g bo go : fixed_bytes P s l b g bo go (Each k) = fixed_bytes Q s l b g bo go (Each 0).
Proof. unfold fixed_bytes. rewrite cut_same. rewrite (over_headed s l (fun r _ => resident r go) (fun r _ => resident r go)) by reflexivity. reflexivity. Qed.
Lemma work_same s l : working_bytes P s l (Each k) = working_bytes Q s l (Each 0).
Proof. unfold working_bytes. cbn zeta. rewrite (over_headed s l (fun r _ => unsharded r) (fun r _ => unsharded r)) by reflexivity. rewrite working_same. reflexivity. Qed.
Lemma stash_same s l : stash_bytes P s l (Each k) = stash_bytes Q s l (Each 0).
Proof. unfold stash_bytes. apply over_headed. reflexivity. Qed.
Hypothesis set : setting P = Some (Each k).
Lemma is_k l m : as_set P l m = true -> m = Each k.
Proof. unfold as_set. rewrite set. destruct m as [j|n]; cbn [same_mode]; [|discriminate]. intros H. apply Nat.eqb_eq in H. congruence. Qed.
Lemma before_same s f : before Q s f = before P s f.
Proof. unfold before. change (shape_of Q) with (shape_of P). destruct s; [reflexivity|]. destruct f; [reflexivity|]. destruct (leaves_rank _ _); [|reflexivity]. change (model Q) with (model P). destruct (drop f (model P)) as [|[r c] t]; reflexivity. Qed.
Lemma decides s d : decision_ok P s d = true -> recompute d = Each k /\ decision_ok Q s (plain d) = true.
Proof.
  unfold decision_ok. rewrite !andb_true_iff. intros [R M]. unfold may_decide in *. rewrite !andb_true_iff in M.
  destruct M as (((((((A & B) & C) & D) & Ti) & E) & F) & _). pose proof (is_k _ _ D) as K. split; [exact K|]. split; [exact R|].
  subst. rewrite K in Ti. assert (Ti' : tiers_hold Q (holds_layers P d) (on d) (Each 0) = true).
  { unfold tiers_hold in *. rewrite forallb_forall in *. intros t It. specialize (Ti t It). change (group_at Q) with (group_at P). destruct (tier_limit (group_at P (on d)) t); [|reflexivity]. cbn [if_stated] in *. rewrite <- (over_same (holds_layers P d) (fun r _ => in_tier r t) (fun r _ => in_tier r t)) by reflexivity. exact Ti. }
  parts. repeat split; assumption.
Qed.
Lemma last_cut_same l : last_cut Q l = last_cut P l.
Proof. unfold last_cut. destruct (last l (0%nat, 0%nat)). reflexivity. Qed.
Lemma order_same : forall plan s f, in_order P s f plan = true -> in_order Q s f (map plain plan) = true.
Proof.
  induction plan as [|d plan IH]; intros s f H; [exact H|]. cbn [in_order map] in *. rewrite !andb_true_iff in *. destruct H as (((A & B) & C) & D).
  destruct (decides s d A) as [_ A']. split; [split; [split; [exact A'|exact B]|]|apply IH; exact D].
  destruct plan as [|e plan]; [reflexivity|]. cbn [map]. unfold joined in *. change (holds_layers Q (plain d)) with (holds_layers P d). rewrite last_cut_same. exact C.
Qed.
Lemma every_k : forall plan s f, in_order P s f plan = true -> Forall (fun d => recompute d = Each k) plan.
Proof.
  induction plan as [|d plan IH]; intros s f H; [constructor|]. cbn [in_order] in H. parts in H. destruct H as (((A & _) & _) & D).
  constructor; [apply (decides s d A)|eapply IH; exact D].
Qed.
Lemma last_plain plan d : on (List.last (map plain plan) (plain d)) = on (List.last plan d).
Proof. revert d. induction plan as [|a plan IH]; intros d; [reflexivity|]. destruct plan as [|b plan]; [reflexivity|]. exact (IH d). Qed.
Lemma ends_same plan : ends_of Q (map plain plan) = ends_of P plan.
Proof. destruct plan as [|d plan]; [reflexivity|]. cbn [map ends_of]. change (plain d :: map plain plan) with (map plain (d :: plan)). rewrite last_plain. reflexivity. Qed.
Lemma forallb_ext_in (f g : nat -> bool) l : (forall s, In s l -> f s = g s) -> forallb f l = forallb g l.
Proof. induction l as [|s l IH]; intros H; [reflexivity|]. cbn [forallb]. rewrite (H s (or_introl eq_refl)), IH by (intros t I; apply H; right; exact I). reflexivity. Qed.
Lemma needs_same s d : recompute d = Each k -> needs P s d = needs Q s (plain d).
Proof.
  intros K. unfold needs, needs_on. cbn [plain on boundary_option gradient_option recompute]. rewrite K. change (holds_layers Q (plain d)) with (holds_layers P d). unfold energy_of.
  rewrite (over_same (holds_layers P d) energy energy) by reflexivity. reflexivity.
Qed.
Lemma nobody_holds : holds_layers P nobody = [].
Proof. unfold holds_layers, laid, held. cbn [nobody from count sharded gradient_option on]. destruct (drop 0 (model P)) as [|[? ?] ?]; cbn [take Nat.eqb]; destruct (sharded_further P); reflexivity. Qed.
Lemma at_same plan : Forall (fun d => recompute d = Each k) plan -> forall s, let d := nth s plan nobody in let e := nth s (map plain plan) nobody in
  on e = on d /\ fixed_of Q s e = fixed_of P s d /\ working_of Q s e = working_of P s d /\ stash_of Q s e = stash_of P s d.
Proof.
  intros K s d e. assert (N : e = plain d) by (unfold e, d; change nobody with (plain nobody) at 1; apply map_nth). rewrite N. clear N e.
  unfold fixed_of, working_of, stash_of. change (holds_layers Q (plain d)) with (holds_layers P d). rewrite before_same. cbn [plain on from boundary_option gradient_option recompute].
  destruct (Nat.lt_ge_cases s (length plan)) as [L|L].
  - rewrite Forall_forall in K. rewrite (K d (nth_In _ _ L)), fixed_same, work_same, stash_same. auto.
  - unfold d. rewrite nth_overflow by exact L. cbn [nobody on from boundary_option gradient_option recompute].
    rewrite nobody_holds. split; [reflexivity|]. split; [exact (eq_sym (fixed_same s [] _ _ _ _))|]. split; [exact (eq_sym (work_same s []))|exact (eq_sym (stash_same s []))].
Qed.
Lemma rank_same plan r : Forall (fun d => recompute d = Each k) plan -> rank_ok Q (map plain plan) r = rank_ok P plan r.
Proof.
  intros K. pose proof (at_same plan K) as A. cbn zeta in A. unfold rank_ok, rank_bytes. change (stages_on Q r) with (stages_on P r). change (moments Q r) with (moments P r).
  destruct (A r) as (Er & _). rewrite Er. change (group_at Q) with (group_at P). f_equal.
  - apply forallb_ext_in. intros s _. destruct (A s) as (-> & _). reflexivity.
  - f_equal. f_equal; [f_equal; [f_equal|]|].
    + f_equal. apply map_ext. intros s. apply A.
    + f_equal. apply map_ext. intros s. apply A.
    + f_equal. apply map_ext. intros now. f_equal. apply map_ext. intros s. destruct (A s) as (_ & _ & _ & ->). reflexivity.
Qed.
(* THEOREM 8.18: a plan of the layout is one of the settled layout, which may choose nothing and has
   no rules, and each of its operations takes the same. So every bound of that holds for it. *)
Theorem one_setting plan : plan_ok P plan -> plan_ok Q (map plain plan) /\ forall u, valid (shape_of P) u = true -> lasts Q (map plain plan) u = lasts P plan u.
Proof.
  intros (O & R & Mem & E). pose proof (every_k _ _ _ O) as K. split.
  - split; [exact (order_same _ _ _ O)|]. split; [|split; [|rewrite ends_same; exact E]].
    + intros r l H. change (available Q) with (available P) in H. replace (needed Q r (map plain plan)) with (needed P r plan); [exact (R r l H)|].
      unfold needed. rewrite map_length. generalize 0%nat at 1 2. clear - K. induction K as [|d plan Kd K IH]; intros i; [reflexivity|]. cbn [length seq combine map fst snd].
      rewrite (needs_same i d Kd). change (sum (?a :: ?b)) with (a + sum b). f_equal. apply IH.
    + intros r H. specialize (Mem r H). rewrite <- Mem. apply rank_same. exact K.
  - intros u _. unfold lasts. assert (N : forall i, nth i (map plain plan) nobody = plain (nth i plan nobody)) by (intros i; change nobody with (plain nobody) at 1; apply map_nth). rewrite !N, ends_same.
    set (d := nth (place u) plan nobody). set (e := nth (S (place u)) plan nobody). change (shape_of Q) with (shape_of P).
    assert (T' : times Q (place u) (plain d) = times P (place u) d).
    { destruct (Nat.lt_ge_cases (place u) (length plan)) as [L|L].
      - unfold times. rewrite Forall_forall in K. rewrite (K d (nth_In _ _ L)), times_same. reflexivity.
      - unfold d. rewrite nth_overflow by exact L. unfold times. change (holds_layers Q (plain nobody)) with (holds_layers P nobody). rewrite nobody_holds. exact (eq_sym (times_same (place u) [] 0 0)). }
    rewrite T'. unfold message_ns. change (holds_layers Q (plain d)) with (holds_layers P d). rewrite last_cut_same. reflexivity.
Qed.
End Of.
