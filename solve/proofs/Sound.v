(* What the referee accepts holds: two theorems. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Document Mixture Automaton Boxes Ranks Tree Referee.
Import ListNotations.
Open Scope Z_scope.

(* ---- a plan with shorter times takes no longer, also where a sync is longer by no more than the
   backward before it is shorter *)
Section Shorter.
Variable x : shape.
Hypothesis some_batches : (1 <= batches x)%nat.
Hypothesis some_slices : (1 <= slices x)%nat.
Variables d d' : op -> Z.
Definition last_backward s := Op Backward s (batches x - 1) 0.
Hypothesis others : forall u, valid x u = true -> what u <> Sync -> d u <= d' u.
Hypothesis positive : forall s, (s < stages x)%nat -> 0 <= d (last_backward s).
Hypothesis single_syncs : summed x = false -> forall u, valid x u = true -> what u = Sync -> d u <= d' u.
Hypothesis summed_syncs : summed x = true -> forall u, valid x u = true -> what u = Sync ->
  d (last_backward (place u)) + d u <= d' (last_backward (place u)) + d' u.

Lemma last_backward_valid s : (s < stages x)%nat -> valid x (last_backward s) = true.
Proof. intros H. unfold valid, last_backward. cbn [what place batch slice]. facts. lia. Qed.
Lemma on_rank_alone s : several x = false -> on_rank x s = s.
Proof. unfold on_rank. intros ->. reflexivity. Qed.
Lemma sync_place u : valid x u = true -> what u = Sync -> (place u < stages x)%nat.
Proof. intros H E. unfold valid in H. rewrite E in H. facts in H. tauto. Qed.
Lemma summed_means : summed x = true -> splits x = false /\ (several x = false \/ overlapped x = true).
Proof. unfold summed. rewrite andb_true_iff, orb_true_iff, !negb_true_iff. tauto. Qed.
(* what a sync waits for, where it is summed *)
Lemma before_sync u v : summed x = true -> valid x u = true -> what v = Sync -> waits x u v = true -> u = last_backward (place v).
Proof.
  intros Hs Hu Ev W. destruct (summed_means Hs) as [Hsp Hone]. unfold waits in W. rewrite Ev in W.
  replace (in_stream x v) with (@None (nat * nat)) in W by (unfold in_stream; rewrite Ev; reflexivity).
  replace (in_link x v) with (@None (nat * nat)) in W by (unfold in_link; rewrite Ev; reflexivity).
  assert (N : forall a, precedes a None = false) by (intros [[]|]; reflexivity). rewrite !N in W. cbn [orb] in W. clear N.
  assert (O : forall t, (on_rank x t =? on_rank x (place v))%nat = true -> several x = false -> t = place v).
  { intros t E Hn. rewrite !on_rank_alone in E by exact Hn. apply Nat.eqb_eq, E. }
  destruct (what u) eqn:Eu; try discriminate.
  - apply andb_prop in W as [Wl Wp]. unfold last_pass in Wl. rewrite Eu, Hsp in Wl. cbn [negb andb] in Wl. facts in Wl.
    assert (Ep : place u = place v).
    { destruct Hone as [Hn|Ho]; [|rewrite Ho in Wp; apply Nat.eqb_eq, Wp]. destruct (overlapped x); [apply Nat.eqb_eq, Wp|apply O; assumption]. }
    destruct u as [k p b y]. unfold last_backward. cbn [what place batch slice] in *. subst. f_equal; lia.
  - unfold valid in Hu. rewrite Eu, Hsp in Hu. discriminate.
  - exfalso. apply andb_prop in W as [Wo W]. destruct Hone as [Hn|Ho]; [|rewrite Ho in Wo; discriminate]. unfold sooner in W. apply andb_prop in W as [Wp W].
    rewrite (O _ Wp Hn), Nat.ltb_irrefl in W. discriminate.
Qed.
Lemma shorter start T : timing x d' start T -> timing x d (fun u => match what u with Sync => start u + (d' u - d u) | _ => start u end) T.
Proof.
  intros (HT & H0 & He & Hw & Hc).
  assert (S0 : forall v, valid x v = true -> what v = Sync -> summed x = true ->
     start (last_backward (place v)) + d (last_backward (place v)) <= start v + (d' v - d v) /\ 0 <= start (last_backward (place v)) + d (last_backward (place v))).
  { intros v Hv Ev Hs. pose proof (sync_place v Hv Ev) as Hp. pose proof (last_backward_valid _ Hp) as Hl.
    assert (W : waits x (last_backward (place v)) v = true).
    { unfold waits. rewrite Ev. destruct (summed_means Hs) as [Hsp _]. unfold last_backward. cbn [what place last_pass batch slice]. rewrite Hsp, !Nat.eqb_refl.
      replace (S (batches x - 1) =? batches x)%nat with true by (symmetry; apply Nat.eqb_eq; lia). cbn [negb andb]. destruct (overlapped x); apply orb_true_r. }
    specialize (Hw _ _ Hl Hv W). specialize (summed_syncs Hs v Hv Ev). pose proof (H0 _ Hl). pose proof (positive _ Hp). lia. }
  assert (SS : forall v, valid x v = true -> what v = Sync -> 0 <= start v + (d' v - d v)).
  { intros v Hv Ev. destruct (summed x) eqn:Hs; [destruct (S0 v Hv Ev eq_refl); lia|]. specialize (single_syncs eq_refl v Hv Ev); specialize (H0 v Hv); lia. }
  assert (E : forall u, valid x u = true -> (match what u with Sync => start u + (d' u - d u) | _ => start u end) + d u <= start u + d' u).
  { intros u Hu. destruct (what u) eqn:Eu; try (specialize (others u Hu); rewrite Eu in others; specialize (others ltac:(discriminate))); lia. }
  split; [exact HT|]. split; [|split; [|split]].
  - intros u Hu. destruct (what u) eqn:Eu; auto.
  - intros Hb u Hu. specialize (He Hb u Hu). specialize (E u Hu). lia.
  - intros u v Hu Hv W. pose proof (Hw u v Hu Hv W) as Hw'. specialize (E u Hu).
    destruct (what v) eqn:Ev; try lia. destruct (summed x) eqn:Hs; [|specialize (single_syncs eq_refl v Hv Ev); lia].
    rewrite (before_sync u v Hs Hu Ev W). unfold last_backward at 1. cbn [what]. apply (S0 v Hv Ev eq_refl).
  - intros Hb u v Hu Hv C. pose proof (Hc Hb u v Hu Hv C) as Hc'. specialize (E u Hu).
    destruct (what v) eqn:Ev; try lia. exfalso. unfold carries, rank_of, link_of, in_stream, in_link in C. rewrite Ev in C.
    assert (N : forall a, alike a None = false) by (intros []; reflexivity). rewrite !N in C. discriminate.
Qed.
End Shorter.

(* ---- choices in place of a plan's decisions *)
Section Of.
Variable P : problem.
Let x := shape_of P.
Let cs := couplings P.
Let y := as_layout P cs.
Notation stands := (stands P cs).
Definition nowhere := Choice 0 None 0 0 0 0 0 [] [].
Definition needs_of s d := all_needs P cs s (holds_layers P d) (before P s (from d)) (on d) (boundary_option d) (gradient_option d) (recompute d).

Record standing s (d : decision) (v : choice) : Prop := {
  st_layers : layers v = layers_of (holds_layers P d);
  st_group : grp v = on d;
  st_cut : cut v = cut_key P s (holds_layers P d);
  st_opt : opt v = boundary_option d;
  st_first : starts (from d) v = true;
  st_uses : Forall2 Z.le (uses v) (needs_of s d);
  st_nonneg : Forall (Z.le 0) (uses v);
  st_times : no_slower P (own v) (times P s d) = true }.
Lemma stands_means s d v : stands s d v -> standing s d v.
Proof.
  unfold Referee.stands, stands_for. facts. intros (((((((A & B) & C) & D) & E) & F) & G) & H).
  constructor; auto; [apply at_most_all_Forall2, F|]. apply Forall_forall. rewrite forallb_forall in G. intros z Hz. apply Z.leb_le, G, Hz.
Qed.
Fixpoint stand_all s (plan : list decision) (w : list choice) : Prop := match plan, w with
  | [], [] => True | d :: plan', v :: w' => stands s d v /\ stand_all (S s) plan' w' | _, _ => False end.
Lemma stand_length : forall plan w s, stand_all s plan w -> length plan = length w.
Proof. induction plan as [|d plan IH]; intros [|v w] s H; cbn in *; try contradiction; auto. destruct H as [_ H]. rewrite (IH _ _ H). reflexivity. Qed.
Record no_slower_means (v w : list Z) : Prop := {
  ns_others : forall i, i <> (2 * slices x + 1)%nat -> nth i v 0 <= nth i w 0;
  ns_single : summed x = false -> nth (2 * slices x + 1) v 0 <= nth (2 * slices x + 1) w 0;
  ns_summed : summed x = true -> nth (slices x) v 0 + nth (2 * slices x + 1) v 0 <= nth (slices x) w 0 + nth (2 * slices x + 1) w 0;
  ns_length : length v = own_width x;
  ns_positive : forall i, 0 <= nth i v 0 }.
Lemma nth_firstn_lt (l : list Z) n i : (i < n)%nat -> nth i (firstn n l) 0 = nth i l 0.
Proof. revert n i. induction l as [|a l IH]; intros [|n] [|i] H; cbn; try lia; auto. apply IH. lia. Qed.
Lemma nth_skipn (l : list Z) n i : nth i (skipn n l) 0 = nth (n + i) l 0.
Proof. revert n. induction l as [|a l IH]; intros [|n]; cbn; auto; [destruct i; reflexivity]. Qed.
Lemma no_slower_mean v w : no_slower P v w = true -> no_slower_means v w.
Proof.
  unfold no_slower. fold x. facts. intros (((((A & B) & C) & D) & E) & F).
  apply at_most_all_Forall2 in A, B. set (s := (2 * slices x + 1)%nat) in *. constructor; auto.
  - intros i Hi. destruct (Nat.lt_ge_cases i s) as [L|L].
    + pose proof (Forall2_nth _ _ i A) as G. rewrite !nth_firstn_lt in G by exact L. exact G.
    + pose proof (Forall2_nth _ _ (i - S s) B) as G. rewrite !nth_skipn in G. replace (S s + (i - S s))%nat with i in G by lia. exact G.
  - intros Hs. rewrite Hs in C. apply Z.leb_le, C.
  - intros Hs. rewrite Hs in C. apply Z.leb_le, C.
  - intros i. rewrite forallb_forall in F. destruct (nth_in_or_default i v 0) as [I| ->]; [|lia]. apply Z.leb_le, F, I.
Qed.

(* ---- plans *)
Lemma in_order_length : forall plan s f, in_order P s f plan = true -> (s + length plan)%nat = stages x.
Proof.
  induction plan as [|d plan IH]; intros s f H; cbn [in_order] in H.
  - apply andb_prop in H as [H _]. apply Nat.eqb_eq in H. fold x in H. cbn. lia.
  - parts in H. destruct H as [_ H]. apply IH in H. cbn [length]. lia.
Qed.
Lemma decision_ranges s d : decision_ok P s d = true -> (1 <= count d)%nat /\ (from d + count d <= total_layers P)%nat.
Proof. unfold decision_ok, in_range. facts. tauto. Qed.
Lemma in_order_room : forall plan s f, in_order P s f plan = true -> (f + length plan <= total_layers P)%nat.
Proof.
  induction plan as [|d plan IH]; intros s f H; cbn [in_order] in H.
  - apply andb_prop in H as [_ H]. apply Nat.eqb_eq in H. cbn. lia.
  - parts in H. destruct H as (((Hd & Hf) & _) & H). apply Nat.eqb_eq in Hf. subst f. apply IH in H.
    destruct (decision_ranges _ _ Hd). cbn [length]. lia.
Qed.
Lemma choices_exist : forall plan s f vss, in_order P s f plan = true -> all_covered P cs s vss = true -> (s + length vss)%nat = stages x ->
  (s <= f)%nat -> (s = 0%nat -> f = 0%nat) -> (forall i d, nth_error plan i = Some d -> fits_alone P (s + i) d = true) ->
  exists w, inside w vss /\ stand_all s plan w.
Proof.
  induction plan as [|d plan IH]; intros s f vss Hp Hv Hl Hle H0 Hfit; pose proof (in_order_length _ _ _ Hp) as Hn.
  - destruct vss; [|cbn in *; lia]. exists []. split; constructor.
  - cbn [in_order] in Hp. parts in Hp. destruct Hp as (((Hd & Hf) & _) & Hp). apply Nat.eqb_eq in Hf. subst f.
    destruct vss as [|vs vss]; [cbn in *; lia|]. cbn [all_covered] in Hv. apply andb_prop in Hv as [Hvs Hv]. cbn [length] in *.
    destruct (decision_ranges _ _ Hd) as [R1 R2].
    destruct (IH (S s) (from d + count d)%nat vss Hp Hv ltac:(lia) ltac:(lia) ltac:(lia)) as (w & Hw & Hst).
    { intros i e E. replace (S s + i)%nat with (s + S i)%nat by lia. apply Hfit, E. }
    pose proof (in_order_room _ _ _ Hp) as Hroom.
    destruct (stage_covers P cs s vs d Hvs Hd) as (v & Hv1 & Hv2); auto; try (fold x; lia).
    { rewrite <- (Nat.add_0_r s). apply (Hfit 0%nat d eq_refl). }
    { unfold latest_end. fold x. lia. }
    { intros E. fold x in E. assert (length plan = 0%nat) by lia. destruct plan; [|discriminate]. cbn [in_order] in Hp.
      apply andb_prop in Hp as [_ Hp]. apply Nat.eqb_eq, Hp. }
    exists (v :: w). split; [constructor; auto|split; auto].
Qed.
Lemma crossing_joined s c d : (S s < stages x)%nat -> joined P s c d = true -> exists t, crossing y (cut_key P s (holds_layers P c)) (on c) (on d) (boundary_option d) = Some t
  /\ (is_sent x Onward s = true -> t = message_row P (last_cut P (holds_layers P c)) (on c) (on d) (boundary_option d)).
Proof.
  intros Hs J. unfold y. cbn [crossing as_layout]. unfold joined in J. fold x in J. unfold cut_key. fold x. replace (S s <? stages x)%nat with true by (symmetry; apply Nat.ltb_lt, Hs).
  cbn [negb orb]. destruct (is_sent x Onward s) eqn:Cr; cbn [negb orb] in *.
  - assert (L : leaves_rank x s = true) by (unfold is_sent in Cr; apply andb_prop in Cr; tauto). rewrite L in J. cbn [crossing_of]. rewrite J. eexists; split; reflexivity.
  - destruct (leaves_rank x s); cbn [crossing_of]; [|rewrite J]; eexists; split; try reflexivity; discriminate.
Qed.
Lemma choices_chained : forall plan w s f (b : option (decision * choice)), stand_all s plan w -> in_order P s f plan = true ->
  match b, plan with Some (c, u), d :: _ => exists k, s = S k /\ stands k c u /\ joined P k c d = true | _, _ => True end ->
  chained y f (option_map snd b) w.
Proof.
  induction plan as [|d plan IH]; intros [|v w] s f b Hst Hp Hb; cbn [stand_all] in Hst; try contradiction; pose proof (in_order_length _ _ _ Hp) as Hlen; cbn [in_order chained length] in *.
  - apply andb_prop in Hp as [_ Hp]. apply Nat.eqb_eq, Hp.
  - destruct Hst as [Hv Hst]. parts in Hp. destruct Hp as (((Hd & Hf) & Hj) & Hp). apply Nat.eqb_eq in Hf. subst f.
    pose proof (stands_means _ _ _ Hv) as S. destruct (decision_ranges _ _ Hd) as [R1 R2].
    split; [apply S|]. split; [apply (no_slower_mean _ _ (st_times _ _ _ S))|]. split; [apply S|]. split.
    + destruct b as [[c u]|]; cbn [option_map snd]; auto. destruct Hb as (k & -> & Hu & Hcd). pose proof (stands_means _ _ _ Hu) as U.
      unfold across. rewrite (st_cut _ _ _ U), (st_group _ _ _ U), (st_group _ _ _ S), (st_opt _ _ _ S).
      destruct (crossing_joined k c d ltac:(lia) Hcd) as (t & -> & _). discriminate.
    + rewrite (st_layers _ _ _ S). rewrite layers_held_by by exact R2.
      apply (IH w (Datatypes.S s) (from d + count d)%nat (Some (d, v))); auto. destruct plan; auto. exists s. auto.
Qed.
Definition needed_all r s (plan : list decision) := sum (map (fun p => nth r (needs_of (fst p) (snd p)) 0) (combine (seq s (length plan)) plan)).
Lemma choices_use r : forall plan w s, stand_all s plan w -> used_by r w <= needed_all r s plan.
Proof.
  induction plan as [|d plan IH]; intros [|v w] s H; cbn [stand_all] in H; try contradiction; [cbn; lia|]. destruct H as [Hv H].
  unfold needed_all. cbn [used_by fold_right length seq combine map sum fst snd]. specialize (IH w (S s) H). unfold needed_all in IH. fold (used_by r w).
  pose proof (Forall2_nth _ _ r (st_uses _ _ _ (stands_means _ _ _ Hv))) as G. unfold sum in *. lia.
Qed.
Lemma choices_groups : forall plan w s, stand_all s plan w -> map on plan = map grp w.
Proof. induction plan as [|d plan IH]; intros [|v w] s H; cbn in *; try contradiction; auto. destruct H as [Hv H]. rewrite (st_group _ _ _ (stands_means _ _ _ Hv)), (IH w (S s) H). reflexivity. Qed.
Lemma map_last {A B} (f : A -> B) (l : list A) a : f (last l a) = last (map f l) (f a).
Proof. induction l as [|b l IH]; [reflexivity|]. destruct l; [reflexivity|]. exact IH. Qed.
Lemma choices_joint plan w s : stand_all s plan w -> joint_of y w = ends_of P plan.
Proof.
  intros H. pose proof (choices_groups _ _ _ H) as E. unfold joint_of, groups_of, ends_of. destruct plan as [|d plan], w as [|v w]; try discriminate; [reflexivity|]. unfold y. cbn [joining as_layout].
  rewrite (map_last on), (map_last grp), <- E. cbn [map] in E. injection E as Eg _. rewrite Eg. reflexivity.
Qed.

(* ---- durations *)
Lemma nth_rows : forall w s, (s < length w)%nat -> nth s (rows y w) [] = row_after y (nth s w nowhere) (skipn (S s) w).
Proof. induction w as [|v w IH]; intros s H; cbn in H; [lia|]. destruct s as [|s]; cbn [rows nth]; [reflexivity|]. rewrite IH by lia. reflexivity. Qed.
Lemma nth_triples (f : nat -> nat -> Z) n part : (part < 3)%nat -> forall s a, (s < n)%nat ->
  nth (3 * s + part) (flat_map (fun s => map (f s) [0%nat; 1%nat; 2%nat]) (seq a n)) 0 = f (a + s)%nat part.
Proof.
  intros Hp. induction n as [|n IH]; intros s a Hs; [lia|]. cbn [seq flat_map]. destruct s as [|s].
  - rewrite Nat.add_0_r. destruct part as [|[|[|]]]; try lia; reflexivity.
  - replace (3 * S s + part)%nat with (S (S (S (3 * s + part)))) by lia.
    change (nth (3 * s + part) (flat_map (fun s => map (f s) [0%nat; 1%nat; 2%nat]) (seq (S a) n)) 0 = f (a + S s)%nat part). rewrite (IH s (S a)) by lia. f_equal. lia.
Qed.
Lemma message_value dir u part c g h o : (slice u < slices x)%nat -> (part < 3)%nat -> 
  nth (message_symbol x dir u part) (message_row P c g h o) 0 = match dir with
    | Onward => onward_ns P c g h (slice u) part | Back => back_ns P (gradient_compression P o (drains x u)) c g h (slice u) part end.
Proof.
  intros Hy Hp. unfold message_symbol, message_row. fold x. destruct dir.
  - rewrite app_nth1 by (rewrite triples_length; lia). rewrite nth_triples by lia. reflexivity.
  - rewrite app_nth2 by (rewrite triples_length; destruct (drains x u); lia). rewrite triples_length.
    destruct (drains x u) eqn:E.
    + rewrite app_nth2 by (rewrite triples_length; lia). rewrite triples_length. replace (6 * slices x + part - 3 * slices x - 3 * slices x)%nat with part by lia.
      assert (S0 : slice u = 0%nat) by (unfold drains in E; apply andb_prop in E as [E _]; apply Nat.eqb_eq, E). rewrite S0.
      destruct part as [|[|[|]]]; try lia; reflexivity.
    + rewrite app_nth1 by (rewrite triples_length; lia). replace (3 * (slices x + slice u) + part - 3 * slices x)%nat with (3 * slice u + part)%nat by lia.
      rewrite nth_triples by lia. reflexivity.
Qed.

Lemma skipn_head (l : list choice) : forall k a r, skipn k l = a :: r -> a = nth k l nowhere.
Proof. induction l as [|b l IH]; intros [|k] a r H; cbn in *; try discriminate; [congruence|eauto]. Qed.
Section OfPlan.
Variables (plan : list decision) (w : list choice).
Hypothesis Hst : stand_all 0 plan w.
Hypothesis Hp : in_order P 0 0 plan = true.
Lemma length_w : length w = stages x.
Proof. rewrite <- (in_order_length _ _ _ Hp). symmetry. exact (stand_length _ _ _ Hst). Qed.
Lemma stands_at s : (s < stages x)%nat -> stands s (nth s plan nobody) (nth s w nowhere).
Proof.
  rewrite <- length_w. clear Hp. change s with (0 + s)%nat at 2. revert Hst. generalize 0%nat. revert w s. induction plan as [|d p IH]; intros [|v ws] s k H Hs; cbn [stand_all] in H; try contradiction; cbn [length] in Hs; [lia|].
  destruct H as [Hv H]. destruct s as [|s]; [rewrite Nat.add_0_r; exact Hv|].
  cbn [nth]. replace (k + S s)%nat with (S k + s)%nat by lia. apply IH; [exact H|lia].
Qed.
Lemma joined_at s : (S s < stages x)%nat -> joined P s (nth s plan nobody) (nth (S s) plan nobody) = true.
Proof.
  pose proof (in_order_length _ _ _ Hp) as L. cbn in L. rewrite <- L. clear L Hst. change s with (0 + s)%nat at 2. revert Hp. generalize 0%nat at 1 3 as k. generalize 0%nat as f. revert s.
  induction plan as [|d p IH]; intros s f k H Hs; [cbn in Hs; lia|]. cbn [in_order] in H. parts in H. destruct H as ((_ & Hj) & H).
  destruct s as [|s]; cbn [nth].
  - destruct p as [|e p]; [cbn in Hs; lia|]. rewrite Nat.add_0_r. exact Hj.
  - destruct p as [|e p]; [cbn in Hs; lia|]. replace (k + S s)%nat with (S k + s)%nat by lia. apply (IH s _ _ H). cbn in *. lia.
Qed.
Let e := joint_time y w.
Lemma own_value s i : (s < stages x)%nat -> (i < own_width x)%nat -> nth i (nth s (rows y w) []) 0 = nth i (own (nth s w nowhere)) 0.
Proof.
  intros Hs Hi. rewrite nth_rows by (rewrite length_w; exact Hs). unfold row_after. rewrite app_nth1; [reflexivity|].
  rewrite (ns_length _ _ (no_slower_mean _ _ (st_times _ _ _ (stands_means _ _ _ (stands_at s Hs))))). exact Hi.
Qed.
Lemma sent_on dir s : is_sent x dir s = true -> is_sent x Onward s = true.
Proof. unfold is_sent. destruct dir; [auto|]. destruct (is_local x s); [rewrite andb_false_r; discriminate|rewrite andb_false_r; auto]. Qed.
Lemma boundary_value u dir part : valid x u = true -> (S (place u) < stages x)%nat -> is_sent x dir (place u) = true -> (slice u < slices x)%nat -> (part < 3)%nat ->
  nth (own_width x + message_symbol x dir u part) (nth (place u) (rows y w) []) 0
  = message_ns P (nth (place u) plan nobody) (nth (S (place u)) plan nobody) dir (slice u) (drains x u) part.
Proof.
  intros Hu Hs Hc Hy Hpt. rewrite nth_rows by (rewrite length_w; lia). unfold row_after.
  assert (S1 := stands_means _ _ _ (stands_at (place u) ltac:(lia))). assert (S2 := stands_means _ _ _ (stands_at (S (place u)) Hs)).
  rewrite app_nth2; rewrite (ns_length _ _ (no_slower_mean _ _ (st_times _ _ _ S1))); [|lia]. replace (own_width x + message_symbol x dir u part - own_width x)%nat with (message_symbol x dir u part) by lia.
  destruct (skipn (S (place u)) w) as [|v2 r] eqn:E.
  - exfalso. assert (L : length (skipn (S (place u)) w) = 0%nat) by (rewrite E; reflexivity). rewrite skipn_length, length_w in L. lia.
  - assert (V : v2 = nth (S (place u)) w nowhere).
    { eapply skipn_head, E. }
    rewrite V. unfold between, across. rewrite (st_cut _ _ _ S1), (st_group _ _ _ S1), (st_group _ _ _ S2), (st_opt _ _ _ S2).
    destruct (crossing_joined _ _ _ Hs (joined_at (place u) Hs)) as (t & -> & Et). rewrite (Et (sent_on _ _ Hc)). rewrite message_value by assumption. unfold message_ns. destruct dir; reflexivity.
Qed.
Notation real := (lasts P plan).
Notation virtual := (value x (rows y w) e).
Lemma value_others u : valid x u = true -> what u <> Sync -> virtual u <= real u.
Proof.
  intros Hu N. unfold value, lasts. fold x. pose proof (valid_symbol x u Hu) as V. unfold valid in Hu.
  destruct (what u) eqn:E; try congruence;
    try (specialize (V ltac:(discriminate)); destruct V as [V _];
         pose proof (no_slower_mean _ _ (st_times _ _ _ (stands_means _ _ _ (stands_at _ V)))) as M; unfold symbol; rewrite E;
         facts in Hu; rewrite own_value by (unfold own_width; lia); apply (ns_others _ _ M); lia);
    try (assert (Hu' : valid x u = true) by (unfold valid; rewrite E; exact Hu); facts in Hu; destruct Hu as ((Hs & Hb & Hy) & Hc); unfold symbol; rewrite E;
         rewrite boundary_value by (auto; lia); lia).
  unfold e, joint_time. rewrite (choices_joint _ _ _ Hst). lia.
Qed.
Lemma value_sync u : valid x u = true -> what u = Sync -> forall k, k = last_backward x (place u) ->
  (summed x = false -> virtual u <= real u) /\ (summed x = true -> virtual k + virtual u <= real k + real u) .
Proof.
  intros Hu E k ->. assert (Hs : (place u < stages x)%nat) by (unfold valid in Hu; rewrite E in Hu; facts in Hu; tauto).
  pose proof (no_slower_mean _ _ (st_times _ _ _ (stands_means _ _ _ (stands_at _ Hs)))) as M.
  unfold value, lasts, last_backward. cbn [what place batch slice symbol]. unfold symbol. rewrite E. fold x.
  rewrite !own_value by (auto; unfold own_width; lia). rewrite Nat.add_0_r. split; intros Hsp; [apply (ns_single _ _ M Hsp)|apply (ns_summed _ _ M Hsp)].
Qed.
Lemma value_positive s : (s < stages x)%nat -> 0 <= virtual (last_backward x s).
Proof.
  intros Hs. unfold value, last_backward. cbn [what place symbol slice]. unfold symbol. cbn [what slice]. destruct (Nat.lt_ge_cases (slices x + 0) (own_width x)) as [L|L]; [|unfold own_width in L; lia].
  rewrite own_value by auto. apply (ns_positive _ _ (no_slower_mean _ _ (st_times _ _ _ (stands_means _ _ _ (stands_at _ Hs))))).
Qed.
End OfPlan.

(* ---- memory *)
Hypothesis some_ranks : (1 <= ranks x)%nat.
Hypothesis ranks_few : (ranks x <= stages x)%nat.
Lemma rank_below s : (s < stages x)%nat -> (on_rank x s < rank_count x)%nat.
Proof.
  intros H. unfold on_rank, rank_count. destruct (several x); [|exact H]. pose proof (Nat.mod_upper_bound s (ranks x) ltac:(lia)).
  destruct (_ && _); lia.
Qed.
Lemma on_own s : (s < stages x)%nat -> In s (stages_on P (on_rank x s)).
Proof. intros H. apply filter_In. split; [apply in_seq; fold x; lia|apply Nat.eqb_refl]. Qed.
Lemma first_on r : several x = true -> (r < ranks x)%nat -> on_rank x r = r.
Proof.
  intros Hs Hr. unfold on_rank, round_of. rewrite Hs, (Nat.div_small r (ranks x)), (Nat.mod_small r (ranks x)) by exact Hr. rewrite andb_false_r. reflexivity.
Qed.
Lemma sum_cons a l : sum (a :: l) = a + sum l. Proof. reflexivity. Qed.
Lemma most_cons a l : most (a :: l) = Z.max a (most l). Proof. reflexivity. Qed.
Lemma sum_in (f : nat -> Z) l s : (forall t, 0 <= f t) -> In s l -> f s <= sum (map f l).
Proof.
  intros Hf. assert (N : forall l, 0 <= sum (map f l)).
  { clear -Hf. induction l as [|u l IH]; [reflexivity|]. cbn [map]. rewrite sum_cons. specialize (Hf u). lia. }
  induction l as [|t l IH]; intros []; cbn [map]; rewrite sum_cons; [subst; specialize (N l); lia|]. specialize (IH H). specialize (Hf t). lia.
Qed.
Lemma most_in l z : In z l -> z <= most l.
Proof. induction l as [|a l IH]; intros []; rewrite most_cons; [lia|]. specialize (IH H). lia. Qed.
Lemma most_positive l : 0 <= most l.
Proof. destruct l; [reflexivity|]. rewrite most_cons. induction l; [cbn; lia|]. rewrite most_cons in *. lia. Qed.
Lemma most_least l z : 0 <= z -> (forall a, In a l -> a <= z) -> most l <= z.
Proof. intros Hz. induction l as [|a l IH]; intros H; [exact Hz|]. rewrite most_cons. specialize (IH (fun b I => H b (or_intror I))). specialize (H a (or_introl eq_refl)). lia. Qed.
Lemma flight_alone s (st : Z) : In s (stages_on P (on_rank x s)) ->
  in_flight P s * st <= most (map (fun now => sum (map (fun t => Z.max 0 (held_at P t now * (if (t =? s)%nat then st else 0))) (stages_on P (on_rank x s)))) (moments P (on_rank x s))).
Proof.
  intros Hs. assert (G : in_flight P s = 0 \/ exists j, In j (seq 0 (batches x)) /\ in_flight P s = held_at P s (released P s j)).
  { unfold in_flight. fold x. generalize (seq 0 (batches x)) as l. induction l as [|j l IH]; cbn [map]; [auto|]. rewrite most_cons.
    destruct (Z.max_spec (held_at P s (released P s j)) (most (map (fun j => held_at P s (released P s j)) l))) as [[_ E]|[_ E]]; rewrite E.
    - destruct IH as [->|(i & Hi & ->)]; [auto|]. right. exists i. split; [right; exact Hi|reflexivity].
    - right. exists j. split; [left; reflexivity|reflexivity]. }
  destruct G as [->|(j & Hj & ->)]; [pose proof (most_positive (map (fun now => sum (map (fun t => Z.max 0 (held_at P t now * (if (t =? s)%nat then st else 0))) (stages_on P (on_rank x s)))) (moments P (on_rank x s)))); lia|].
  etransitivity; [|apply most_in, in_map_iff; exists (released P s j); split; [reflexivity|]; apply in_flat_map; exists s; split; [exact Hs|apply in_map, Hj]].
  etransitivity; [|apply (sum_in (fun t => Z.max 0 (held_at P t (released P s j) * (if (t =? s)%nat then st else 0))) _ s); [intros; lia|exact Hs]]. cbn beta. rewrite Nat.eqb_refl. lia.
Qed.
Lemma most_mono {A} (f g : A -> Z) l : (forall a, In a l -> f a <= g a) -> most (map f l) <= most (map g l).
Proof. intros H. apply most_least; [apply most_positive|]. intros z Hz. apply in_map_iff in Hz as (a & <- & Ha). etransitivity; [apply H, Ha|]. apply most_in, in_map, Ha. Qed.
Lemma sum_mono {A} (f g : A -> Z) l : (forall a, In a l -> f a <= g a) -> sum (map f l) <= sum (map g l).
Proof. induction l as [|a l IH]; intros H; cbn [map]; [reflexivity|]. rewrite !sum_cons. specialize (IH (fun b I => H b (or_intror I))). specialize (H a (or_introl eq_refl)). lia. Qed.
Lemma fits_of_rank plan s : (s < stages x)%nat -> rank_ok P plan (on_rank x s) = true -> fits_alone P s (nth s plan nobody) = true.
Proof.
  intros Hs H. unfold rank_ok in H. rewrite andb_true_iff, forallb_forall, Z.leb_le in H. destruct H as [Hg Hb].
  pose proof (on_own s Hs) as Ho. pose proof (Hg s Ho) as E. apply Nat.eqb_eq in E. unfold fits_alone. rewrite Z.leb_le. unfold bytes.
  fold (fixed_of P s (nth s plan nobody)) (working_of P s (nth s plan nobody)) (stash_of P s (nth s plan nobody)). rewrite E. etransitivity; [|exact Hb]. unfold rank_bytes.
  pose proof (sum_in (fun t => fixed_of P t (nth t plan nobody)) _ s ltac:(intros; unfold fixed_of, fixed_bytes; lia) Ho) as A.
  pose proof (most_in _ _ (in_map (fun t => working_of P t (nth t plan nobody)) _ s Ho)) as B.
  pose proof (flight_alone s (stash_of P s (nth s plan nobody)) Ho) as C.
  assert (D : most (map (fun now => sum (map (fun t => Z.max 0 (held_at P t now * (if (t =? s)%nat then stash_of P s (nth s plan nobody) else 0))) (stages_on P (on_rank x s)))) (moments P (on_rank x s)))
    <= most (map (fun now => sum (map (fun t => Z.max 0 (held_at P t now * stash_of P t (nth t plan nobody))) (stages_on P (on_rank x s)))) (moments P (on_rank x s)))).
  { apply most_mono. intros now _. apply sum_mono. intros t _. destruct (Nat.eqb_spec t s) as [->|]; lia. }
  cbn beta in *. lia.
Qed.

(* a rank's bytes at a moment, as a resource *)
Lemma fullest_in l h : In h (fullest l) -> In h l.
Proof.
  induction l as [|a l IH]; cbn [fullest]; [auto|]. destruct (existsb _ _); [right; auto|]. intros [->|H]; [left; reflexivity|]. apply filter_In in H as [H _]. right. auto.
Qed.
Lemma couplings_mean c : In c cs -> several x = true /\ (of_rank c < ranks x)%nat /\ exists now, In now (moments P (of_rank c)) /\ holding c = held_by P (of_rank c) now.
Proof.
  unfold cs, couplings. fold x. destruct (several x); [|intros []]. intros H. split; [reflexivity|].
  apply in_flat_map in H as (r & Hr & H). apply in_flat_map in H as (h & Hh & H). apply in_map_iff in H as (s & <- & _). cbn [of_rank holding].
  apply fullest_in, in_map_iff in Hh as (now & <- & Hn). apply in_seq in Hr. split; [lia|]. exists now. auto.
Qed.
Lemma held_by_at r now s : In s (stages_on P r) -> held_of s (held_by P r now) = held_at P s now.
Proof.
  unfold held_by. generalize (stages_on P r) as l. induction l as [|t l IH]; intros []; cbn [map held_of].
  - subst. rewrite Nat.eqb_refl. reflexivity.
  - destruct (Nat.eqb_spec t s) as [->|]; auto.
Qed.
Lemma numbered_sum (f : nat -> decision -> Z) : forall plan k, sum (map (fun p => f (fst p) (snd p)) (combine (seq k (length plan)) plan)) = sum (map (fun s => f s (nth (s - k) plan nobody)) (seq k (length plan))).
Proof.
  induction plan as [|d plan IH]; intros k; [reflexivity|]. cbn [length seq combine map fst snd]. rewrite !sum_cons, Nat.sub_diag. cbn [nth]. f_equal.
  rewrite IH. f_equal. apply map_ext_in. intros s Hs. apply in_seq in Hs. replace (s - k)%nat with (S (s - S k))%nat by lia. reflexivity.
Qed.
Lemma sum_filter (p : nat -> bool) (f : nat -> Z) l : sum (map (fun s => if p s then f s else 0) l) = sum (map f (filter p l)).
Proof. induction l as [|a l IH]; cbn [map filter]; [reflexivity|]. rewrite sum_cons, IH. destruct (p a); [reflexivity|lia]. Qed.
Lemma sum_plus (f g : nat -> Z) l : sum (map (fun s => f s + g s) l) = sum (map f l) + sum (map g l).
Proof. induction l as [|a l IH]; cbn [map]; [reflexivity|]. rewrite !sum_cons. lia. Qed.
Lemma sum_one (f : nat -> Z) l t : NoDup l -> sum (map (fun s => if (s =? t)%nat then f s else 0) l) = if existsb (Nat.eqb t) l then f t else 0.
Proof.
  induction 1 as [|a l Ha _ IH]; cbn [map existsb]; [reflexivity|]. rewrite sum_cons, IH. rewrite (Nat.eqb_sym t a). destruct (Nat.eqb_spec a t) as [->|N]; cbn [orb]; [|lia].
  destruct (existsb (Nat.eqb t) l) eqn:E; [|lia]. exfalso. apply existsb_exists in E as (b & Hb & Eb). apply Nat.eqb_eq in Eb. subst. auto.
Qed.
Definition bytes_of c s d := bytes_in P c s (fixed_of P s d) (stash_of P s d) (working_of P s d) (on d).
Lemma coupling_bound plan c : length plan = stages x -> In c cs -> rank_ok P plan (of_rank c) = true ->
  sum (map (fun p => bytes_of c (fst p) (snd p)) (combine (seq 0 (length plan)) plan)) <= largest_limit P.
Proof.
  intros Hl Hc Hok. destruct (couplings_mean c Hc) as (Hsv & Hr & now & Hnow & Hh). rewrite (numbered_sum (bytes_of c)), Hl.
  unfold rank_ok in Hok. facts in Hok. destruct Hok as [_ Hb]. set (r := of_rank c) in *. set (ss := stages_on P r) in *.
  assert (E : sum (map (fun s => bytes_of c s (nth (s - 0) plan nobody)) (seq 0 (stages x))) =
    sum (map (fun s => fixed_of P s (nth s plan nobody) + Z.max 0 (held_at P s now * stash_of P s (nth s plan nobody)) + (if (s =? works c)%nat then working_of P s (nth s plan nobody) else 0)
      + (if (s =? r)%nat then constant_bytes (group_at P (on (nth s plan nobody))) + (largest_limit P - memory_limit (group_at P (on (nth s plan nobody)))) else 0)) ss)).
  { unfold bytes_of, bytes_in. fold x. unfold ss, stages_on. fold x. rewrite <- sum_filter. f_equal. apply map_ext_in. intros s Hs. rewrite Nat.sub_0_r. fold r.
    destruct (on_rank x s =? r)%nat eqn:Er; [|reflexivity]. rewrite Hh, held_by_at; [reflexivity|]. apply filter_In. split; [exact Hs|exact Er]. }
  rewrite E, !sum_plus.
  assert (Nd : NoDup ss) by (apply NoDup_filter, seq_NoDup).
  rewrite !(sum_one _ ss) by exact Nd.
  assert (Ir : existsb (Nat.eqb r) ss = true).
  { apply existsb_exists. exists r. split; [|apply Nat.eqb_refl]. apply filter_In. split; [apply in_seq; fold x; lia|]. fold x. rewrite first_on by auto. apply Nat.eqb_refl. }
  rewrite Ir. unfold rank_bytes in Hb. fold ss in Hb.
  pose proof (most_in _ _ (in_map (fun now => sum (map (fun s => Z.max 0 (held_at P s now * stash_of P s (nth s plan nobody))) ss)) _ now Hnow)) as A. cbn beta in A.
  assert (B : (if existsb (Nat.eqb (works c)) ss then working_of P (works c) (nth (works c) plan nobody) else 0) <= most (map (fun s => working_of P s (nth s plan nobody)) ss)).
  { destruct (existsb (Nat.eqb (works c)) ss) eqn:Ew; [|apply most_positive]. apply existsb_exists in Ew as (t & Ht & Et). apply Nat.eqb_eq in Et. subst t. apply most_in, in_map_iff. exists (works c). auto. }
  lia.
Qed.

Lemma needs_length s d : length (needs P s d) = (length (groups P) + 4)%nat.
Proof. unfold needs, needs_on. rewrite app_length, map_length, seq_length. reflexivity. Qed.
Lemma within plan w : length (budgets P) = 4%nat -> length plan = stages x -> plan_ok P plan -> stand_all 0 plan w -> within_limits y w.
Proof.
  intros Hb Hl (Hp & Hr & Hm & He) Hst r l E. etransitivity; [apply (choices_use r _ _ _ Hst)|]. unfold y in E. cbn [limits as_layout] in E.
  assert (La : length (available P) = (length (groups P) + 4)%nat) by (unfold available; rewrite app_length, map_length; lia).
  unfold needed_all, needs_of, all_needs. destruct (Nat.lt_ge_cases r (length (available P))) as [L|L].
  - rewrite nth_error_app1 in E by exact L. etransitivity; [|apply (Hr r l E)]. unfold needed. apply Z.eq_le_incl. f_equal. apply map_ext. intros [s d]. cbn [fst snd].
    change (needs_on P s (holds_layers P d) (on d) (boundary_option d) (gradient_option d) (recompute d)) with (needs P s d). rewrite app_nth1 by (rewrite needs_length; lia). reflexivity.
  - rewrite nth_error_app2 in E by exact L. set (k := (r - length (available P))%nat) in *.
    destruct (nth_error cs k) as [c|] eqn:Ec; [|exfalso; apply nth_error_None in Ec; assert (nth_error (map (fun _ => Some (largest_limit P)) cs) k = None) by (apply nth_error_None; rewrite map_length; exact Ec); congruence].
    rewrite (map_nth_error _ _ _ Ec) in E. injection E as <-. pose proof (nth_error_In _ _ Ec) as Ic.
    destruct (couplings_mean c Ic) as (Hsv & Hrank & _).
    etransitivity; [|apply (coupling_bound plan c Hl Ic)].
    + apply Z.eq_le_incl. f_equal. apply map_ext. intros [s d]. cbn [fst snd].
      change (needs_on P s (holds_layers P d) (on d) (boundary_option d) (gradient_option d) (recompute d)) with (needs P s d). rewrite app_nth2 by (rewrite needs_length; lia). rewrite needs_length, <- La. fold k.
      destruct cs as [|c0 cs'] eqn:Ecs; [destruct k; discriminate|]. unfold rank_row.
      erewrite nth_error_nth; [|apply map_nth_error, Ec]. reflexivity.
    + apply Hm. unfold rank_count. fold x. rewrite Hsv. exact Hrank.
Qed.
Lemma on_one_group plan w : length plan = stages x -> plan_ok P plan -> stand_all 0 plan w ->
  forall s t v u, nth_error w s = Some v -> nth_error w t = Some u -> together y s t = true -> grp u = grp v.
Proof.
  intros Hl (_ & _ & Hm & _) Hst s t v u Ev Eu Ht. unfold y in Ht. cbn [together as_layout] in Ht. fold x in Ht. apply andb_prop in Ht as [Hs Hst']. apply Nat.eqb_eq in Hst'.
  pose proof (choices_groups _ _ _ Hst) as G. pose proof (stand_length _ _ _ Hst) as Lw.
  assert (Ls : (s < stages x)%nat) by (rewrite <- Hl, Lw; apply nth_error_Some; congruence). assert (Lt : (t < stages x)%nat) by (rewrite <- Hl, Lw; apply nth_error_Some; congruence).
  assert (A : forall i a, nth_error w i = Some a -> grp a = on (nth i plan nobody)).
  { intros i a Ea. pose proof (map_nth_error grp _ _ Ea) as E. rewrite <- G in E. assert (Li : (i < length plan)%nat) by (rewrite Lw; apply nth_error_Some; congruence).
    rewrite (map_nth_error on i plan (nth_error_nth' plan nobody Li)) in E. congruence. }
  rewrite (A _ _ Ev), (A _ _ Eu). specialize (Hm (on_rank x s) (rank_below s Ls)). unfold rank_ok in Hm. rewrite andb_true_iff, forallb_forall in Hm. destruct Hm as [Hm _].
  pose proof (Hm s (on_own s Ls)) as B. pose proof (on_own t Lt) as Ot. rewrite <- Hst' in Ot. pose proof (Hm t Ot) as C. apply Nat.eqb_eq in B, C. congruence.
Qed.
End Of.

Section Theorems.
Variable P : problem.
Let x := shape_of P.
Let y := as_layout P (couplings P).
(* What is accepted, and a plan: the plan's choices are one in the boxes. *)
Lemma accepted_choices claim ps vss t plan : accept P claim ps vss t = true -> plan_ok P plan ->
  exists w, inside w vss /\ stand_all P 0 plan w /\ is_plan y w /\ (1 <= batches x)%nat /\ (1 <= slices x)%nat
    /\ closes y (fun i => nth i (read_paths P ps) None) claim t ([], vss) = true.
Proof.
  intros Ha Hok. pose proof Hok as (Hp & Hr & Hm & He). unfold accept in Ha. fold x y in Ha. facts in Ha.
  destruct Ha as (((((((Hl & Hb) & Hy) & Hk) & Hks) & Hbud) & Hc) & Ht').
  pose proof (in_order_length P _ _ _ Hp) as Hlen. cbn in Hlen. fold x in Hlen.
  destruct (choices_exist P plan 0 0 vss Hp Hc ltac:(cbn; exact Hl) (le_n 0) ltac:(auto)) as (w & Hw & Hst).
  { intros i d E. cbn [Nat.add]. assert (Li : (i < stages x)%nat) by (rewrite <- Hlen; apply nth_error_Some; congruence).
    rewrite <- (nth_error_nth plan i nobody E). apply (fits_of_rank P Hk Hks plan i Li), Hm, (rank_below P Hk Hks i Li). }
  exists w. split; [exact Hw|]. split; [exact Hst|]. split; [|auto].
  split; [rewrite <- (stand_length P _ _ _ Hst); exact Hlen|]. split; [apply (choices_chained P plan w 0 0 None Hst Hp I)|]. split; [eapply within; eauto|]. split.
  - intros Ex. unfold y. rewrite (choices_joint P _ _ _ Hst). apply He, Ex.
  - eapply on_one_group; eauto.
Qed.
Lemma paths_sound ps i p : nth i (read_paths P ps) None = Some p -> sound x p.
Proof.
  intros E. assert (I : In (Some p) (read_paths P ps)). { destruct (nth_in_or_default i (read_paths P ps) None) as [I|D]; [rewrite E in I; exact I|congruence]. }
  unfold read_paths in I. apply in_map_iff in I as (q & Eq & _). eapply read_path_sound; eauto.
Qed.
(* THE THEOREM: an accepted bound is at most the time of every plan. *)
Theorem accepted_bound bound ps vss t : accept P (Some bound) ps vss t = true ->
  forall plan T, plan_ok P plan -> takes P plan T -> bound <= T.
Proof.
  intros Ha plan T Hok (start & Ht). destruct (accepted_choices _ _ _ _ _ Ha Hok) as (w & Hw & Hst & Hpl & Hb & Hy & Hcl). destruct Hok as (Hp & _).
  destruct (Z.le_gt_cases bound T) as [|Hlt]; [assumption|exfalso].
  refine (closes_sound y (crossing_wide P (couplings P)) (fun i => nth i (read_paths P ps) None) (paths_sound ps) (Some bound) t ([], vss) w Hcl (conj (fun r => eq_refl) Hw) Hpl _).
  unfold below. exists (fun u => match what u with Sync => start u + (lasts P plan u - value x (rows y w) (joint_time y w) u) | _ => start u end), T. split; [|exact Hlt].
  apply (shorter x Hb Hy); auto.
  - intros u Hu N. apply (value_others P plan w); auto.
  - intros s Hs. eapply (value_positive P plan w); eauto.
  - intros Hs u Hu E. destruct (value_sync P plan w Hst Hp u Hu E _ eq_refl) as [A _]. auto.
  - intros Hs u Hu E. destruct (value_sync P plan w Hst Hp u Hu E _ eq_refl) as [_ A]. auto.
Qed.
(* THE OTHER: where it accepts that there is no plan, there is none. *)
Theorem accepted_infeasible ps vss t : accept P None ps vss t = true -> forall plan, ~ plan_ok P plan.
Proof.
  intros Ha plan Hok. destruct (accepted_choices _ _ _ _ _ Ha Hok) as (w & Hw & Hst & Hpl & _ & _ & Hcl).
  exact (closes_sound y (crossing_wide P (couplings P)) (fun i => nth i (read_paths P ps) None) (paths_sound ps) None t ([], vss) w Hcl (conj (fun r => eq_refl) Hw) Hpl I).
Qed.
End Theorems.
