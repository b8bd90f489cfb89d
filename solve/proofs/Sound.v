(* What the referee accepts holds: two theorems. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Document Mixture Automaton Boxes Tree Referee.
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
Hypothesis split_syncs : splits x = true -> forall u, valid x u = true -> what u = Sync -> d u <= d' u.
Hypothesis joint_syncs : splits x = false -> forall u, valid x u = true -> what u = Sync ->
  d (last_backward (place u)) + d u <= d' (last_backward (place u)) + d' u.

Lemma last_backward_valid s : (s < stages x)%nat -> valid x (last_backward s) = true.
Proof. intros H. unfold valid, last_backward. cbn [what place batch slice]. rewrite !andb_true_iff, !Nat.ltb_lt. lia. Qed.
Lemma shorter start T : timing x d' start T -> timing x d (fun u => match what u with Sync => start u + (d' u - d u) | _ => start u end) T.
Proof.
  intros (HT & H0 & He & Hw & Hc).
  assert (S0 : forall v, valid x v = true -> what v = Sync -> splits x = false ->
     valid x (last_backward (place v)) = true /\ start (last_backward (place v)) + d (last_backward (place v)) <= start v + (d' v - d v)
     /\ 0 <= start (last_backward (place v)) + d (last_backward (place v))).
  { intros v Hv Ev Hs. assert (Hp : (place v < stages x)%nat) by (unfold valid in Hv; rewrite Ev in Hv; rewrite !andb_true_iff, Nat.ltb_lt in Hv; tauto).
    pose proof (last_backward_valid _ Hp) as Hl. split; [exact Hl|].
    assert (W : waits x (last_backward (place v)) v = true).
    { unfold waits. rewrite Ev. unfold last_backward. cbn [what place in_stream last_pass batch slice]. rewrite Hs, Nat.eqb_refl.
      replace (S (batches x - 1) =? batches x)%nat with true by (symmetry; apply Nat.eqb_eq; lia). cbn. apply orb_true_r || reflexivity. }
    specialize (Hw _ _ Hl Hv W). specialize (joint_syncs Hs v Hv Ev). pose proof (H0 _ Hl). pose proof (positive _ Hp). lia. }
  assert (SS : forall v, valid x v = true -> what v = Sync -> 0 <= start v + (d' v - d v)).
  { intros v Hv Ev. destruct (splits x) eqn:Hs; [specialize (split_syncs eq_refl v Hv Ev); specialize (H0 v Hv); lia|]. destruct (S0 v Hv Ev eq_refl). lia. }
  split; [exact HT|]. split; [|split; [|split]].
  - intros u Hu. destruct (what u) eqn:E; auto.
  - intros Hb u Hu. specialize (He Hb u Hu). destruct (what u) eqn:E; try (specialize (others u Hu); rewrite E in others; specialize (others ltac:(discriminate)); lia). lia.
  - intros u v Hu Hv W. pose proof (Hw u v Hu Hv W) as Hw'.
    destruct (what v) eqn:Ev; try (destruct (what u) eqn:Eu; try (specialize (others u Hu); rewrite Eu in others; specialize (others ltac:(discriminate))); lia).
    unfold waits in W. rewrite Ev in W. replace (in_stream x v) with (@None (nat * nat)) in W by (unfold in_stream; rewrite Ev; reflexivity).
    assert (N : match in_stream x u with Some (r, i) => false | None => false end = false) by (destruct (in_stream x u) as [[]|]; reflexivity).
    rewrite N in W. cbn [orb] in W. destruct (what u) eqn:Eu; try discriminate; apply andb_prop in W as [Wp Wl]; apply Nat.eqb_eq in Wp; unfold last_pass in Wl; rewrite Eu in Wl.
    + rewrite !andb_true_iff, negb_true_iff, !Nat.eqb_eq in Wl. destruct Wl as ((Hs & Hb) & Hy).
      assert (E : u = last_backward (place v)).
      { destruct u as [k p b y]. unfold last_backward. cbn [what place batch slice] in *. subst. f_equal; try lia. }
      rewrite E. destruct (S0 v Hv Ev Hs) as (_ & A & _). exact A.
    + specialize (others u Hu). rewrite Eu in others. specialize (others ltac:(discriminate)).
      assert (Hs : splits x = true) by (unfold valid in Hu; rewrite Eu in Hu; rewrite !andb_true_iff in Hu; tauto).
      specialize (split_syncs Hs v Hv Ev). lia.
  - intros Hb u v Hu Hv C. pose proof (Hc Hb u v Hu Hv C) as Hc'.
    assert (N : what u <> Sync /\ what v <> Sync).
    { unfold carries, rank_of, in_stream in C. split; intros E; rewrite E in C; cbn in C.
      - discriminate.
      - destruct (match what u with Optimizer => _ | _ => _ end); cbn in C; destruct (what u); discriminate. }
    destruct N as [Nu Nv]. specialize (others u Hu Nu). destruct (what u) eqn:Eu, (what v) eqn:Ev; try congruence; lia.
Qed.
End Shorter.

(* ---- choices in place of a plan's decisions *)
Section Of.
Variable P : problem.
Let x := shape_of P.
Let y := as_layout P.
Notation stands := (stands P).
Definition nowhere := Choice 0 None 0 0 0 0 [] [].

Record standing (d : decision) (v : choice) : Prop := {
  st_layers : layers v = layers_of (holds_layers P d);
  st_group : grp v = on d;
  st_cut : cut v = last_cut P (holds_layers P d);
  st_opt : opt v = boundary_option d;
  st_first : starts (from d) v = true;
  st_uses : Forall2 Z.le (uses v) (needs P (Decision (from d) (layers_of (holds_layers P d)) (on d) (boundary_option d) (gradient_option d) (recompute d)));
  st_nonneg : Forall (Z.le 0) (uses v);
  st_times : no_slower P (own v) (times P d) = true }.
Lemma stands_means d v : stands d v -> standing d v.
Proof.
  unfold Referee.stands, stands_for. rewrite !andb_true_iff, !Nat.eqb_eq. intros (((((((A & B) & C) & D) & E) & F) & G) & H).
  constructor; auto; [apply at_most_all_Forall2, F|]. apply Forall_forall. rewrite forallb_forall in G. intros z Hz. apply Z.leb_le, G, Hz.
Qed.
Record no_slower_means (v w : list Z) : Prop := {
  ns_others : forall i, i <> (2 * slices x + 1)%nat -> nth i v 0 <= nth i w 0;
  ns_split : splits x = true -> nth (2 * slices x + 1) v 0 <= nth (2 * slices x + 1) w 0;
  ns_joint : splits x = false -> nth (slices x) v 0 + nth (2 * slices x + 1) v 0 <= nth (slices x) w 0 + nth (2 * slices x + 1) w 0;
  ns_length : length v = own_width x;
  ns_positive : forall i, 0 <= nth i v 0 }.
Lemma nth_firstn_lt (l : list Z) n i : (i < n)%nat -> nth i (firstn n l) 0 = nth i l 0.
Proof. revert n i. induction l as [|a l IH]; intros [|n] [|i] H; cbn; try lia; auto. apply IH. lia. Qed.
Lemma nth_skipn (l : list Z) n i : nth i (skipn n l) 0 = nth (n + i) l 0.
Proof. revert n. induction l as [|a l IH]; intros [|n]; cbn; auto; [destruct i; reflexivity]. Qed.
Lemma no_slower_mean v w : no_slower P v w = true -> no_slower_means v w.
Proof.
  unfold no_slower. fold x. rewrite !andb_true_iff, !Nat.eqb_eq. intros (((((A & B) & C) & D) & E) & F).
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
  - rewrite !andb_true_iff in H. destruct H as [_ H]. apply IH in H. cbn [length]. lia.
Qed.
Lemma decision_ranges s d : decision_ok P s d = true -> (1 <= count d)%nat /\ (from d + count d <= total_layers P)%nat.
Proof. unfold decision_ok, in_range. rewrite !andb_true_iff, !Nat.leb_le. tauto. Qed.
Lemma in_order_room : forall plan s f, in_order P s f plan = true -> (f + length plan <= total_layers P)%nat.
Proof.
  induction plan as [|d plan IH]; intros s f H; cbn [in_order] in H.
  - apply andb_prop in H as [_ H]. apply Nat.eqb_eq in H. cbn. lia.
  - rewrite !andb_true_iff in H. destruct H as (((Hd & Hf) & _) & H). apply Nat.eqb_eq in Hf. subst f. apply IH in H.
    destruct (decision_ranges _ _ Hd). cbn [length]. lia.
Qed.
Lemma choices_exist : forall plan s f vss, in_order P s f plan = true -> all_covered P s vss = true -> (s + length vss)%nat = stages x ->
  (s <= f)%nat -> (s = 0%nat -> f = 0%nat) -> exists w, inside w vss /\ Forall2 stands plan w.
Proof.
  induction plan as [|d plan IH]; intros s f vss Hp Hv Hl Hle H0; pose proof (in_order_length _ _ _ Hp) as Hn.
  - destruct vss; [|cbn in *; lia]. exists []. split; constructor.
  - cbn [in_order] in Hp. rewrite !andb_true_iff in Hp. destruct Hp as (((Hd & Hf) & _) & Hp). apply Nat.eqb_eq in Hf. subst f.
    destruct vss as [|vs vss]; [cbn in *; lia|]. cbn [all_covered] in Hv. apply andb_prop in Hv as [Hvs Hv]. cbn [length] in *.
    destruct (decision_ranges _ _ Hd) as [R1 R2].
    destruct (IH (S s) (from d + count d)%nat vss Hp Hv ltac:(lia) ltac:(lia) ltac:(lia)) as (w & Hw & Hst).
    pose proof (in_order_room _ _ _ Hp) as Hroom.
    destruct (stage_covers P s vs d Hvs Hd ltac:(fold x; lia) Hle H0) as (v & Hv1 & Hv2).
    { unfold latest_end. fold x. lia. }
    { intros E. fold x in E. assert (length plan = 0%nat) by lia. destruct plan; [|discriminate]. cbn [in_order] in Hp.
      apply andb_prop in Hp as [_ Hp]. apply Nat.eqb_eq, Hp. }
    exists (v :: w). split; constructor; auto.
Qed.
Lemma choices_chained : forall plan w s f (b : option (decision * choice)), Forall2 stands plan w -> in_order P s f plan = true ->
  match b, plan with Some (c, u), d :: _ => stands c u /\ joined P c d = true | _, _ => True end ->
  chained y f (option_map snd b) w.
Proof.
  induction plan as [|d plan IH]; intros w s f b Hst Hp Hb; inversion Hst as [|? v ? w' Hv Hst']; subst; cbn [in_order chained] in *.
  - apply andb_prop in Hp as [_ Hp]. apply Nat.eqb_eq, Hp.
  - rewrite !andb_true_iff in Hp. destruct Hp as (((Hd & Hf) & Hj) & Hp). apply Nat.eqb_eq in Hf. subst f.
    pose proof (stands_means _ _ Hv) as S. destruct (decision_ranges _ _ Hd) as [R1 R2].
    split; [apply S|]. split; [apply (no_slower_mean _ _ (st_times _ _ S))|]. split; [apply S|]. split.
    + destruct b as [[c u]|]; cbn [option_map snd]; auto. destruct Hb as [Hu Hcd]. pose proof (stands_means _ _ Hu) as U.
      unfold across, y. cbn [crossing as_layout]. rewrite (st_cut _ _ U), (st_group _ _ U), (st_group _ _ S). unfold joined in Hcd. rewrite Hcd. discriminate.
    + rewrite (st_layers _ _ S). unfold holds_layers. rewrite layers_held by exact R2.
      apply (IH w' (Datatypes.S s) (from d + count d)%nat (Some (d, v))); auto. destruct plan; auto.
Qed.
Lemma choices_use r : forall plan w, Forall2 stands plan w -> used_by r w <= sum (map (fun d => nth r (needs P d) 0) plan).
Proof.
  induction 1 as [|d v plan w Hv _ IH]; cbn [used_by fold_right map sum]; [lia|]. fold (used_by r w) (sum (map (fun d => nth r (needs P d) 0) plan)).
  pose proof (Forall2_nth _ _ r (st_uses _ _ (stands_means _ _ Hv))) as G. change (needs P (Decision _ _ _ _ _ _)) with (needs P d) in G. lia.
Qed.
Lemma choices_joint plan w : Forall2 stands plan w -> joint_of y w = ends_of P plan.
Proof.
  intros H. unfold joint_of, groups_of, ends_of. destruct H as [|d v plan w Hv H]; [reflexivity|]. unfold y. cbn [joining as_layout].
  rewrite (st_group _ _ (stands_means _ _ Hv)). f_equal. 
  assert (G : forall plan w d v, stands d v -> Forall2 stands plan w -> grp (last (v :: w) v) = on (last (d :: plan) d)).
  { clear. induction plan as [|e plan IH]; intros w d v Hv H; inversion H as [|? u ? w' Hu H']; subst; [apply (st_group _ _ (stands_means _ _ Hv))|].
    assert (L : forall (A : Type) (l : list A) a b c, last (a :: b :: l) c = last (b :: l) b).
    { clear. intros A l a b c. change (last (b :: l) c = last (b :: l) b). revert b c. induction l as [|q l IH]; intros b c; [reflexivity|].
      change (last (q :: l) c = last (q :: l) b). rewrite (IH q c), (IH q b). reflexivity. }
    rewrite !L. apply IH; auto. }
  apply G; auto.
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

Lemma Forall2_lengths {A B} (R : A -> B -> Prop) a b : Forall2 R a b -> length a = length b.
Proof. induction 1; cbn; congruence. Qed.
Lemma skipn_head (l : list choice) : forall k a r, skipn k l = a :: r -> a = nth k l nowhere.
Proof. induction l as [|b l IH]; intros [|k] a r H; cbn in *; try discriminate; [congruence|eauto]. Qed.
Section OfPlan.
Variables (plan : list decision) (w : list choice).
Hypothesis Hst : Forall2 stands plan w.
Hypothesis Hp : in_order P 0 0 plan = true.
Lemma length_w : length w = stages x.
Proof. rewrite <- (in_order_length _ _ _ Hp). symmetry. exact (Forall2_lengths _ _ _ Hst). Qed.
Lemma stands_at s : (s < stages x)%nat -> stands (nth s plan nobody) (nth s w nowhere).
Proof.
  rewrite <- length_w. clear Hp. revert s. induction Hst as [|d v p ws Hv H IH]; intros s Hs; cbn in Hs; [lia|]. destruct s as [|s]; [exact Hv|].
  cbn [nth]. apply IH; [exact H|lia].
Qed.
Lemma joined_at s : (S s < stages x)%nat -> joined P (nth s plan nobody) (nth (S s) plan nobody) = true.
Proof.
  pose proof (in_order_length _ _ _ Hp) as L. cbn in L. rewrite <- L. clear L Hst. revert Hp. generalize 0%nat at 1 as k. generalize 0%nat as f. revert s.
  induction plan as [|d p IH]; intros s f k H Hs; [cbn in Hs; lia|]. cbn [in_order] in H. rewrite !andb_true_iff in H. destruct H as ((_ & Hj) & H).
  destruct s as [|s]; cbn [nth].
  - destruct p as [|e p]; [cbn in Hs; lia|exact Hj].
  - destruct p as [|e p]; [cbn in Hs; lia|]. apply (IH s _ _ H). cbn in *. lia.
Qed.
Let e := joint_time y w.
Lemma own_value s i : (s < stages x)%nat -> (i < own_width x)%nat -> nth i (nth s (rows y w) []) 0 = nth i (own (nth s w nowhere)) 0.
Proof.
  intros Hs Hi. rewrite nth_rows by (rewrite length_w; exact Hs). unfold row_after. rewrite app_nth1; [reflexivity|].
  rewrite (ns_length _ _ (no_slower_mean _ _ (st_times _ _ (stands_means _ _ (stands_at s Hs))))). exact Hi.
Qed.
Lemma boundary_value u dir part : valid x u = true -> (S (place u) < stages x)%nat -> (slice u < slices x)%nat -> (part < 3)%nat ->
  nth (own_width x + message_symbol x dir u part) (nth (place u) (rows y w) []) 0
  = message_ns P (nth (place u) plan nobody) (nth (S (place u)) plan nobody) dir (slice u) (drains x u) part.
Proof.
  intros Hu Hs Hy Hpt. rewrite nth_rows by (rewrite length_w; lia). unfold row_after.
  assert (S1 := stands_means _ _ (stands_at (place u) ltac:(lia))). assert (S2 := stands_means _ _ (stands_at (S (place u)) Hs)).
  rewrite app_nth2; rewrite (ns_length _ _ (no_slower_mean _ _ (st_times _ _ S1))); [|lia]. replace (own_width x + message_symbol x dir u part - own_width x)%nat with (message_symbol x dir u part) by lia.
  destruct (skipn (S (place u)) w) as [|v2 r] eqn:E.
  - exfalso. assert (L : length (skipn (S (place u)) w) = 0%nat) by (rewrite E; reflexivity). rewrite skipn_length, length_w in L. lia.
  - assert (V : v2 = nth (S (place u)) w nowhere).
    { eapply skipn_head, E. }
    rewrite V. unfold between, across. unfold y. cbn [crossing as_layout]. rewrite (st_cut _ _ S1), (st_group _ _ S1), (st_group _ _ S2), (st_opt _ _ S2).
    pose proof (joined_at (place u) Hs) as J. unfold joined in J. rewrite J. rewrite message_value by assumption. unfold message_ns. destruct dir; reflexivity.
Qed.
Notation real := (lasts P plan).
Notation virtual := (value x (rows y w) e).
Lemma value_others u : valid x u = true -> what u <> Sync -> virtual u <= real u.
Proof.
  intros Hu N. unfold value, lasts. fold x. pose proof (valid_symbol x u Hu) as V. unfold valid in Hu.
  destruct (what u) eqn:E; try congruence;
    try (specialize (V ltac:(discriminate)); destruct V as [V _];
         pose proof (no_slower_mean _ _ (st_times _ _ (stands_means _ _ (stands_at _ V)))) as M; unfold symbol; rewrite E;
         rewrite !andb_true_iff, ?Nat.ltb_lt, ?Nat.eqb_eq in Hu; rewrite own_value by (unfold own_width; lia); apply (ns_others _ _ M); lia);
    try (assert (Hu' : valid x u = true) by (unfold valid; rewrite E; exact Hu); rewrite !andb_true_iff, !Nat.ltb_lt in Hu; unfold symbol; rewrite E;
         rewrite boundary_value by (auto; lia); lia).
  unfold e, joint_time. rewrite (choices_joint _ _ Hst). lia.
Qed.
Lemma value_sync u : valid x u = true -> what u = Sync -> forall k, k = last_backward x (place u) ->
  (splits x = true -> virtual u <= real u) /\ (splits x = false -> virtual k + virtual u <= real k + real u) .
Proof.
  intros Hu E k ->. assert (Hs : (place u < stages x)%nat) by (unfold valid in Hu; rewrite E in Hu; rewrite !andb_true_iff, Nat.ltb_lt in Hu; tauto).
  pose proof (no_slower_mean _ _ (st_times _ _ (stands_means _ _ (stands_at _ Hs)))) as M.
  unfold value, lasts, last_backward. cbn [what place batch slice symbol]. unfold symbol. rewrite E. fold x.
  rewrite !own_value by (auto; unfold own_width; lia). rewrite Nat.add_0_r. split; intros Hsp; [apply (ns_split _ _ M Hsp)|apply (ns_joint _ _ M Hsp)].
Qed.
Lemma value_positive s : (s < stages x)%nat -> 0 <= virtual (last_backward x s).
Proof.
  intros Hs. unfold value, last_backward. cbn [what place symbol slice]. unfold symbol. cbn [what slice]. destruct (Nat.lt_ge_cases (slices x + 0) (own_width x)) as [L|L]; [|unfold own_width in L; lia].
  rewrite own_value by auto. apply (ns_positive _ _ (no_slower_mean _ _ (st_times _ _ (stands_means _ _ (stands_at _ Hs))))).
Qed.
End OfPlan.

(* THE THEOREM: an accepted bound is at most the time of every plan. *)
Theorem accepted_bound bound ps vss t : accept P (Some bound) ps vss t = true ->
  forall plan T, plan_ok P plan -> takes P plan T -> bound <= T.
Proof.
  intros Ha plan T (Hp & Hr & He) (start & Ht). unfold accept in Ha. fold x y in Ha. rewrite !andb_true_iff, Nat.eqb_eq, !Nat.leb_le in Ha. destruct Ha as ((((Hl & Hb) & Hy) & Hc) & Ht').
  destruct (choices_exist plan 0 0 vss Hp Hc ltac:(cbn; exact Hl) (le_n 0) ltac:(auto)) as (w & Hw & Hst).
  destruct (Z.le_gt_cases bound T) as [|Hlt]; [assumption|exfalso].
  refine (closes_sound y (crossing_wide P) (fun i => nth i (read_paths P ps) None) _ (Some bound) t vss w Ht' Hw _ _).
  - intros i p E. assert (I : In (Some p) (read_paths P ps)). { destruct (nth_in_or_default i (read_paths P ps) None) as [I|D]; [rewrite E in I; exact I|congruence]. }
    unfold read_paths in I. apply in_map_iff in I as (q & Eq & _). eapply read_path_sound; eauto.
  - split; [apply (length_w plan w Hst Hp)|]. split; [apply (choices_chained plan w 0 0 None Hst Hp I)|]. split.
    + intros r l E. etransitivity; [apply (choices_use r _ _ Hst)|apply (Hr r l E)].
    + intros Ex. rewrite (choices_joint _ _ Hst). apply He, Ex.
  - unfold below. exists (fun u => match what u with Sync => start u + (lasts P plan u - value x (rows y w) (joint_time y w) u) | _ => start u end), T. split; [|exact Hlt].
    apply (shorter x Hb Hy); auto.
    + intros u Hu N. apply value_others; auto.
    + intros s Hs. eapply value_positive; eauto.
    + intros Hs u Hu E. destruct (value_sync plan w Hst Hp u Hu E _ eq_refl) as [A _]. auto.
    + intros Hs u Hu E. destruct (value_sync plan w Hst Hp u Hu E _ eq_refl) as [_ A]. auto.
Qed.
(* THE OTHER: where it accepts that there is no plan, there is none. *)
Theorem accepted_infeasible ps vss t : accept P None ps vss t = true -> forall plan, ~ plan_ok P plan.
Proof.
  intros Ha plan (Hp & Hr & He). unfold accept in Ha. fold x y in Ha. rewrite !andb_true_iff, Nat.eqb_eq, !Nat.leb_le in Ha. destruct Ha as ((((Hl & Hb) & Hy) & Hc) & Ht').
  destruct (choices_exist plan 0 0 vss Hp Hc ltac:(cbn; exact Hl) (le_n 0) ltac:(auto)) as (w & Hw & Hst).
  refine (closes_sound y (crossing_wide P) (fun i => nth i (read_paths P ps) None) _ None t vss w Ht' Hw _ I).
  - intros i p E. assert (J : In (Some p) (read_paths P ps)). { destruct (nth_in_or_default i (read_paths P ps) None) as [J|D]; [rewrite E in J; exact J|congruence]. }
    unfold read_paths in J. apply in_map_iff in J as (q & Eq & _). eapply read_path_sound; eauto.
  - split; [apply (length_w plan w Hst Hp)|]. split; [apply (choices_chained plan w 0 0 None Hst Hp I)|]. split.
    + intros r l E. etransitivity; [apply (choices_use r _ _ Hst)|apply (Hr r l E)].
    + intros Ex. rewrite (choices_joint _ _ Hst). apply He, Ex.
Qed.
End Of.
Print Assumptions accepted_bound.
Print Assumptions accepted_infeasible.
