(* A plan's time from above: start times that keep every wait show that it takes no more. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Document Automaton.
Import ListNotations.
Open Scope Z_scope.

Section Of.
Variable x : shape.
Variables d start : op -> Z.
Variable T : Z.
Notation end_of u := (start u + d u).

(* ---- lanes: what takes turns on a stream, or on a link *)
Section Lanes.
Variable lane : op -> option (nat * nat).
Definition at_lane r u := match lane u with Some (q, i) => if (q =? r)%nat then Some i else None | None => None end.
(* in order, one after another *)
Fixpoint in_turn r (l : list op) : bool := match l with
  | [] => true
  | u :: t => match t with
      | [] => true
      | v :: _ => match at_lane r u, at_lane r v with Some i, Some j => (i <? j)%nat && (end_of u <=? start v) | _, _ => false end end
      && (0 <=? d u) && in_turn r t end.
Definition book_of r (l : list op) : NM.t op := fold_right (fun u b => match at_lane r u with Some i => NM.add i u b | None => b end) (NM.empty _) l.
Definition listed (books : list (NM.t op)) u := match lane u with
  | None => true
  | Some (r, i) => match NM.find i (nth r books (NM.empty _)) with Some v => op_eqb u v | None => false end end.
Lemma book_in r l i u : NM.find i (book_of r l) = Some u -> In u l.
Proof.
  induction l as [|v l IH]; cbn [book_of fold_right]; [rewrite NF.empty_o; discriminate|]. fold (book_of r l). destruct (at_lane r v) as [j|]; [|right; auto].
  rewrite find_add. destruct (Nat.eqb j i); [intros [=<-]; left; reflexivity|right; auto].
Qed.
Lemma turns_start r : forall l u, in_turn r (u :: l) = true -> forall v, In v l -> start u + d u <= start v /\ exists i j, at_lane r u = Some i /\ at_lane r v = Some j /\ (i < j)%nat.
Proof.
  induction l as [|w l IH]; intros u H v Hv; [destruct Hv|].
  assert (E : in_turn r (u :: w :: l) = match at_lane r u, at_lane r w with Some i, Some j => (i <? j)%nat && (end_of u <=? start w) | _, _ => false end && (0 <=? d u) && in_turn r (w :: l)) by reflexivity.
  (rewrite E in H; parts in H). clear E. destruct H as ((H1 & H2) & H3). pose proof H3 as Dw. cbn [in_turn] in Dw. facts in Dw. destruct Dw as ((_ & Dw) & _).
  destruct (at_lane r u) as [i|] eqn:Eu; [|discriminate]. destruct (at_lane r w) as [j|] eqn:Ew; [|discriminate]. facts in H1.
  destruct H1 as [L1 L2]. destruct Hv as [<-|Hv].
  - split; [exact L2|]. exists i, j. auto.
  - destruct (IH w H3 v Hv) as (A & i' & j' & B1 & B2 & B3). rewrite Ew in B1. injection B1 as <-. split; [lia|]. exists i, j'. split; [reflexivity|]. split; [exact B2|lia].
Qed.
Lemma in_turn_pairs r l : in_turn r l = true -> forall u v i j, In u l -> In v l -> at_lane r u = Some i -> at_lane r v = Some j -> (i < j)%nat -> start u + d u <= start v.
Proof.
  induction l as [|w l IH]; intros H u v i j Hu Hv Ei Ej L; [destruct Hu|].
  assert (H' : in_turn r l = true) by (cbn [in_turn] in H; parts in H; tauto).
  destruct Hu as [<-|Hu], Hv as [<-|Hv].
  - rewrite Ei in Ej. injection Ej as <-. lia.
  - apply (turns_start r l w H v Hv).
  - destruct (turns_start r l w H u Hu) as (_ & a & b & A & B & C). rewrite A in Ej. rewrite B in Ei. injection Ej as <-. injection Ei as <-. lia.
  - eapply IH; eauto.
Qed.
Definition lanes_ok (orders : list (list op)) (ops : list op) : bool :=
  let books := map (fun p => book_of (fst p) (snd p)) (combine (seq 0 (length orders)) orders) in
  forallb (fun p => in_turn (fst p) (snd p)) (combine (seq 0 (length orders)) orders) && forallb (listed books) ops.
Lemma nth_numbered {A B} (f : nat * A -> B) (l : list A) : forall r a db, nth_error (map f (combine (seq a (length l)) l)) r = match nth_error l r with Some y => Some (f ((a + r)%nat, y)) | None => None end /\ (db = db :> B).
Proof.
  induction l as [|y l IH]; intros [|r] a db; cbn; auto.
  - rewrite Nat.add_0_r. auto.
  - destruct (IH r (S a) db) as [E _]. rewrite E. split; auto. destruct (nth_error l r); auto. do 2 f_equal. f_equal. lia.
Qed.
Lemma lanes_pairs orders ops u v r i j : lanes_ok orders ops = true -> In u ops -> In v ops -> lane u = Some (r, i) -> lane v = Some (r, j) -> (i < j)%nat -> start u + d u <= start v.
Proof.
  unfold lanes_ok. set (books := map _ _). rewrite andb_true_iff, !forallb_forall. intros [H1 H2] Hu Hv Eu Ev L.
  pose proof (H2 u Hu) as Lu. pose proof (H2 v Hv) as Lv. unfold listed in Lu, Lv. rewrite Eu in Lu. rewrite Ev in Lv.
  destruct (NM.find i (nth r books (NM.empty _))) as [u'|] eqn:Fu; [|discriminate]. destruct (NM.find j (nth r books (NM.empty _))) as [v'|] eqn:Fv; [|discriminate].
  apply op_eqb_eq in Lu, Lv. subst u' v'.
  assert (E : nth_error books r = match nth_error orders r with Some l => Some (book_of r l) | None => None end).
  { unfold books. destruct (nth_numbered (fun p : nat * list op => book_of (fst p) (snd p)) orders r 0 (NM.empty op)) as [E _]. rewrite E. destruct (nth_error orders r); reflexivity. }
  destruct (nth_error orders r) as [l|] eqn:El.
  - rewrite (nth_error_nth books r _ E) in Fu, Fv. apply (in_turn_pairs r l) with (i := i) (j := j); [|eapply book_in; exact Fu|eapply book_in; exact Fv| | |exact L].
    + specialize (H1 (r, l)). apply H1. clear -El. assert (G : forall (o : list (list op)) r a, nth_error o r = Some l -> In ((a + r)%nat, l) (combine (seq a (length o)) o)).
      { induction o as [|y o IH]; intros [|r'] a H; cbn in *; try discriminate; [injection H as ->; left; f_equal; lia|]. right. replace (a + S r')%nat with (S a + r')%nat by lia. auto. }
      apply (G orders r 0%nat El).
    + unfold at_lane. rewrite Eu, Nat.eqb_refl. reflexivity.
    + unfold at_lane. rewrite Ev, Nat.eqb_refl. reflexivity.
  - apply nth_error_None in E. rewrite nth_overflow in Fu by exact E. rewrite NF.empty_o in Fu. discriminate.
Qed.
Lemma lanes_both orders ops u v r i j : lanes_ok orders ops = true -> In u ops -> In v ops -> lane u = Some (r, i) -> lane v = Some (r, j) -> exists l, In l orders /\ In u l /\ In v l.
Proof.
  unfold lanes_ok. set (books := map _ _). rewrite andb_true_iff, !forallb_forall. intros [_ H2] Hu Hv Eu Ev.
  pose proof (H2 u Hu) as Lu. pose proof (H2 v Hv) as Lv. unfold listed in Lu, Lv. rewrite Eu in Lu. rewrite Ev in Lv.
  destruct (NM.find i (nth r books (NM.empty _))) as [u'|] eqn:Fu; [|discriminate]. destruct (NM.find j (nth r books (NM.empty _))) as [v'|] eqn:Fv; [|discriminate].
  apply op_eqb_eq in Lu, Lv. subst u' v'.
  assert (E : nth_error books r = match nth_error orders r with Some l => Some (book_of r l) | None => None end).
  { unfold books. destruct (nth_numbered (fun p : nat * list op => book_of (fst p) (snd p)) orders r 0 (NM.empty op)) as [E _]. rewrite E. destruct (nth_error orders r); reflexivity. }
  destruct (nth_error orders r) as [l|] eqn:El.
  - rewrite (nth_error_nth books r _ E) in Fu, Fv. exists l. split; [eapply nth_error_In; eauto|]. split; eapply book_in; eauto.
  - apply nth_error_None in E. rewrite nth_overflow in Fu by exact E. rewrite NF.empty_o in Fu. discriminate.
Qed.
End Lanes.

(* ---- all operations, and what a timing asks of them *)
Definition kinds := [Forward; Backward; Weight; Sync; Optimizer; Sends Onward; Links Onward; Delays Onward; Receives Onward; Sends Back; Links Back; Delays Back; Receives Back; EmbeddingSync; QueuedSync].
Definition all_ops : list op := filter (valid x) (flat_map (fun k => flat_map (fun s => flat_map (fun j => map (Op k s j) (seq 0 (S (slices x)))) (seq 0 (S (batches x)))) (seq 0 (S (stages x)))) kinds).
Lemma all_ops_all u : valid x u = true -> In u all_ops.
Proof.
  intros H. apply filter_In. split; [|exact H]. destruct u as [k s j y]. apply in_flat_map. exists k. split; [destruct k as [| | | | |[]|[]|[]|[]| |]; cbn; auto 20|].
  assert (E : (s < S (stages x))%nat /\ (j < S (batches x))%nat /\ (y < S (slices x))%nat).
  { unfold valid in H. cbn [what place batch slice] in H. destruct k; repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [H ?] end; rewrite ?Nat.ltb_lt, ?Nat.eqb_eq in *; lia. }
  apply in_flat_map. exists s. split; [apply in_seq; lia|]. apply in_flat_map. exists j. split; [apply in_seq; lia|]. apply in_map, in_seq. lia.
Qed.
Definition follows u v := negb (valid x u) || negb (valid x v) || (end_of u <=? start v).
(* what may wait for it, but for its streams *)
Definition endings r : list op := flat_map (fun s => if (on_rank x s =? r)%nat then [Op Sync s 0 0; Op QueuedSync s 0 0; Op Optimizer s 0 0] else []) (seq 0 (stages x)).
Definition works_on u : option nat := match what u with Sync | QueuedSync | Optimizer => Some (on_rank x (place u)) | _ => match in_stream x u with Some (r, _) => Some r | None => None end end.
Definition later u : list op := let o k := Op k (place u) (batch u) (slice u) in
  match what u with
  | Sends dir => [o (Links dir)] | Links dir => [o (Delays dir)] | Delays dir => [o (Receives dir)]
  | EmbeddingSync => map (fun s => Op Optimizer s 0 0) (seq 0 (stages x))
  | _ => [] end
  ++ match works_on u with Some r => Op EmbeddingSync 0 0 0 :: endings r | None => [] end.
Definition after_it u : bool := forallb (fun v => negb (waits x u v) || follows u v) (later u).
Definition least (l : list Z) := match l with [] => 0 | z :: r => fold_right Z.min z r end.
Definition most (l : list Z) := match l with [] => 0 | z :: r => fold_right Z.max z r end.
(* one iteration after another: a rank, a link *)
Definition span_ok (l : list op) := most (map (fun u => end_of u) l) <=? least (map start l) + T.
Definition of_rank r := filter (fun u => match rank_of x u with Some q => (q =? r)%nat | None => false end).
Definition timed (streams links : list (list op)) : bool := let ops := all_ops in
  (0 <=? T) && forallb (fun u => (0 <=? start u) && (if barrier x then end_of u <=? T else true) && after_it u) ops
  && lanes_ok (in_stream x) streams ops && lanes_ok (in_link x) links ops
  && (if barrier x then true else forallb (fun r => span_ok (of_rank r ops)) (seq 0 (length streams)) && forallb span_ok links
    && forallb (fun u => match rank_of x u with Some r => (r <? length streams)%nat | None => true end) ops).

Lemma least_in l z : In z l -> least l <= z.
Proof. destruct l as [|a l]; [intros []|]. cbn [least]. intros H. assert (G : fold_right Z.min a l <= a /\ forall z, In z l -> fold_right Z.min a l <= z).
  { clear. induction l as [|b l [I1 I2]]; cbn; [split; [lia|intros ? []]|]. split; [lia|]. intros z [<-|H]; [lia|]. specialize (I2 z H). lia. }
  destruct G as [G1 G2]. destruct H as [<-|H]; auto. Qed.
Lemma most_in l z : In z l -> z <= most l.
Proof. destruct l as [|a l]; [intros []|]. cbn [most]. intros H. assert (G : a <= fold_right Z.max a l /\ forall z, In z l -> z <= fold_right Z.max a l).
  { clear. induction l as [|b l [I1 I2]]; cbn; [split; [lia|intros ? []]|]. split; [lia|]. intros z [<-|H]; [lia|]. specialize (I2 z H). lia. }
  destruct G as [G1 G2]. destruct H as [<-|H]; auto. Qed.
Lemma span_pairs l u v : span_ok l = true -> In u l -> In v l -> start u + d u <= start v + T.
Proof.
  unfold span_ok. rewrite Z.leb_le. intros H Hu Hv. pose proof (most_in _ _ (in_map (fun u => start u + d u) l u Hu)) as A. pose proof (least_in _ _ (in_map start l v Hv)) as B. cbn in A. lia.
Qed.
Lemma endings_in k s : (s < stages x)%nat -> k = Sync \/ k = QueuedSync \/ k = Optimizer -> In (Op k s 0 0) (endings (on_rank x s)).
Proof.
  intros Hs Hk. apply in_flat_map. exists s. split; [apply in_seq; lia|]. rewrite Nat.eqb_refl. destruct Hk as [-> | [-> | ->]]; cbn; auto.
Qed.
Lemma later_all u v : valid x v = true -> waits x u v = true -> precedes (in_stream x u) (in_stream x v) = false -> precedes (in_link x u) (in_link x v) = false -> In v (later u).
Proof.
  intros Hv W Ws Wl. unfold waits in W. rewrite Ws, Wl in W. cbn [orb] in W. destruct v as [k p b y]. cbn [what place] in W.
  assert (Once : match k with Sync | QueuedSync | Optimizer => b = 0%nat /\ y = 0%nat /\ (p < stages x)%nat | EmbeddingSync => b = 0%nat /\ y = 0%nat /\ p = 0%nat | _ => True end).
  { unfold valid in Hv. cbn [what place batch slice] in Hv. destruct k; auto; facts in Hv; tauto. }
  unfold later. apply in_app_iff.
  assert (R : forall r, on_rank x p = r -> works_on u = Some r -> (k = Sync \/ k = QueuedSync \/ k = Optimizer) ->
    In (Op k p b y) (match works_on u with Some r => Op EmbeddingSync 0 0 0 :: endings r | None => [] end)).
  { intros r <- -> Hk. right. assert (b = 0%nat /\ y = 0%nat /\ (p < stages x)%nat) as (-> & -> & Hp) by (destruct Hk as [-> | [-> | ->]]; exact Once). apply endings_in; auto. }
  assert (So : forall t, sooner x t p = true -> on_rank x p = on_rank x t).
  { intros t H. unfold sooner in H. apply andb_prop in H as [H _]. apply Nat.eqb_eq in H. auto. }
  destruct u as [ku pu bu yu]. cbn [what place batch slice] in *.
  destruct k as [| | | | |dv|dv|dv|dv| |].
  - destruct ku; discriminate.
  - destruct ku; discriminate.
  - destruct ku; discriminate.
  - right. destruct ku; try discriminate; apply andb_prop in W as [W1 W2]; (eapply R; [|reflexivity|auto]).
    + cbn [place]. destruct (overlapped x); apply Nat.eqb_eq in W2; congruence.
    + cbn [place]. destruct (overlapped x); apply Nat.eqb_eq in W2; congruence.
    + apply So, W2.
  - assert (G : (exists r i, in_stream x (Op ku pu bu yu) = Some (r, i) /\ r = on_rank x p) \/ ku = Sync /\ pu = p \/ ku = QueuedSync /\ pu = p \/ ku = EmbeddingSync \/ (ku = Optimizer /\ on_rank x p = on_rank x pu)).
    { assert (W' : (ku = Optimizer /\ sooner x pu p = true) \/ (match in_stream x (Op ku pu bu yu) with Some (r, _) => (r =? on_rank x p)%nat | None => false end)
        || match ku with Sync | QueuedSync => (pu =? p)%nat | EmbeddingSync => is_end x p | _ => false end = true) by (destruct ku; auto; discriminate).
      destruct W' as [[-> W']|W']; [right; right; right; right; auto|]. apply orb_prop in W' as [W'|W'].
      - left. destruct (in_stream x _) as [[r i]|]; [|discriminate]. exists r, i. split; [reflexivity|apply Nat.eqb_eq, W'].
      - right. destruct ku; try discriminate; try (apply Nat.eqb_eq in W'); auto 6. }
    destruct G as [(r & i & E & ->)|[[-> ->]|[[-> ->]|[Ek|[-> E]]]]]; [| | |subst ku|].
    + right. apply (R (on_rank x p)); auto. unfold works_on. cbn [what]. rewrite E. destruct ku as [| | | | |[]|[]|[]|[]| |]; try reflexivity; discriminate.
    + right. eapply R; [reflexivity|reflexivity|auto].
    + right. eapply R; [reflexivity|reflexivity|auto].
    + left. destruct Once as (-> & -> & Hp). apply in_map_iff. exists p. split; [reflexivity|apply in_seq; lia].
    + right. eapply R; [exact E|reflexivity|auto].
  - destruct ku; discriminate.
  - left. destruct ku as [| | | | |e|e|e|e| |]; try discriminate. apply andb_prop in W as [Wd Wm]. unfold same_message in Wm. cbn [place batch slice] in Wm. facts in Wm.
    destruct Wm as ((-> & ->) & ->). destruct e, dv; try discriminate; left; reflexivity.
  - left. destruct ku as [| | | | |e|e|e|e| |]; try discriminate. apply andb_prop in W as [Wd Wm]. unfold same_message in Wm. cbn [place batch slice] in Wm. facts in Wm.
    destruct Wm as ((-> & ->) & ->). destruct e, dv; try discriminate; left; reflexivity.
  - left. destruct ku as [| | | | |e|e|e|e| |]; try discriminate. apply andb_prop in W as [Wd Wm]. unfold same_message in Wm. cbn [place batch slice] in Wm. facts in Wm.
    destruct Wm as ((-> & ->) & ->). destruct e, dv; try discriminate; left; reflexivity.
  - right. destruct Once as (-> & -> & ->). destruct ku; try discriminate; left; reflexivity.
  - right. destruct ku; try discriminate; (eapply R; [apply So, W|reflexivity|auto]).
Qed.
Lemma precedes_means a b : precedes a b = true -> exists r i j, a = Some (r, i) /\ b = Some (r, j) /\ (i < j)%nat.
Proof.
  destruct a as [[r i]|], b as [[q j]|]; cbn [precedes]; try discriminate. facts. intros [-> L]. eauto 6.
Qed.
Lemma alike_means a b : alike a b = true -> exists r, a = Some r /\ b = Some r.
Proof. destruct a, b; cbn [alike]; try discriminate. rewrite Nat.eqb_eq. intros ->. eauto. Qed.

Theorem timed_sound streams links : timed streams links = true -> timing x d start T.
Proof.
  unfold timed. cbn zeta. rewrite !andb_true_iff, Z.leb_le, forallb_forall. intros ((((HT & Ho) & Hs) & Hl) & Hc).
  assert (O : forall u, valid x u = true -> 0 <= start u /\ (barrier x = true -> start u + d u <= T) /\ after_it u = true).
  { intros u Vu. specialize (Ho u (all_ops_all u Vu)). facts in Ho. destruct Ho as ((A & B) & C). split; [exact A|]. split; [|exact C]. intros E. rewrite E in B. apply Z.leb_le, B. }
  split; [exact HT|]. split; [intros u Vu; apply O, Vu|]. split; [intros E u Vu; apply O; auto|]. split.
  - intros u v Vu Vv W. destruct (precedes (in_stream x u) (in_stream x v)) eqn:Ws.
    { destruct (precedes_means _ _ Ws) as (r & i & j & Eu & Ev & L). apply (lanes_pairs (in_stream x) streams all_ops u v r i j); auto using all_ops_all. }
    destruct (precedes (in_link x u) (in_link x v)) eqn:Wl.
    { destruct (precedes_means _ _ Wl) as (r & i & j & Eu & Ev & L). apply (lanes_pairs (in_link x) links all_ops u v r i j); auto using all_ops_all. }
    destruct (O u Vu) as (_ & _ & A). unfold after_it in A. rewrite forallb_forall in A. specialize (A v (later_all u v Vv W Ws Wl)).
    rewrite W in A. unfold follows in A. rewrite Vu, Vv in A. cbn in A. apply Z.leb_le, A.
  - intros Hb u v Vu Vv C. rewrite Hb in Hc. rewrite !andb_true_iff, !forallb_forall in Hc. destruct Hc as [[Hr Hk] Hn]. unfold carries in C. apply orb_prop in C as [C|C].
    + destruct (alike_means _ _ C) as (r & Eu & Ev). pose proof (Hn u (all_ops_all u Vu)) as Lr. rewrite Eu in Lr. apply Nat.ltb_lt in Lr.
      apply (span_pairs (of_rank r all_ops)); [apply Hr, in_seq; lia| |]; apply filter_In; (split; [apply all_ops_all; auto|]); [rewrite Eu|rewrite Ev]; apply Nat.eqb_refl.
    + destruct (alike_means _ _ C) as (r & Eu & Ev). unfold link_of in Eu, Ev.
      destruct (in_link x u) as [[ru i]|] eqn:Lu; [|discriminate]. destruct (in_link x v) as [[rv j]|] eqn:Lv; [|discriminate]. injection Eu as ->. injection Ev as ->.
      destruct (lanes_both (in_link x) links all_ops u v r i j Hl (all_ops_all u Vu) (all_ops_all v Vv) Lu Lv) as (l & Il & Iu & Iv). apply (span_pairs l); auto.
Qed.
End Of.

Section OfDocument.
Variable P : problem.
Definition within_slots (plan : list decision) := forallb (fun r => match nth r (available P) None with None => true
  | Some l => needed P r plan <=? l end) (seq 0 (length (available P))).
Definition reaches (plan : list decision) (start : op -> Z) (streams links : list (list op)) T : bool :=
  in_order P 0 0 plan && within_slots plan && forallb (rank_ok P plan) (seq 0 (rank_count (shape_of P)))
  && (negb (embedding (shape_of P)) || match ends_of P plan with Some _ => true | None => false end)
  && timed (shape_of P) (lasts P plan) start T streams links.
(* THE THEOREM: where it is true, this is a plan, and it takes at most T. *)
Theorem reached plan start streams links T : reaches plan start streams links T = true -> plan_ok P plan /\ takes P plan T.
Proof.
  unfold reaches. parts. intros ((((A & B) & M) & C) & D). split; [|exists start; eapply timed_sound; eauto]. split; [exact A|]. split; [|split].
  - intros r l E. unfold within_slots in B. rewrite forallb_forall in B. assert (R : (r < length (available P))%nat) by (apply nth_error_Some; congruence).
    specialize (B r ltac:(apply in_seq; lia)). rewrite (nth_error_nth _ _ _ E) in B. apply Z.leb_le, B.
  - intros r Hr. rewrite forallb_forall in M. apply M, in_seq. lia.
  - intros E. rewrite E in C. cbn in C. destruct (ends_of P plan); [discriminate|discriminate].
Qed.
End OfDocument.
