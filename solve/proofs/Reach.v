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
Definition link_lane (u : op) : option (nat * nat) := match what u with
  | Links Onward => Some (2 * place u, turn x (place u) Forward (batch u) (slice u))%nat
  | Links Back => Some (2 * place u + 1, turn x (S (place u)) Backward (batch u) (slice u))%nat
  | _ => None end.
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
  rewrite E, !andb_true_iff in H. clear E. destruct H as ((H1 & H2) & H3). pose proof H3 as Dw. cbn [in_turn] in Dw. rewrite !andb_true_iff, Z.leb_le in Dw. destruct Dw as ((_ & Dw) & _).
  destruct (at_lane r u) as [i|] eqn:Eu; [|discriminate]. destruct (at_lane r w) as [j|] eqn:Ew; [|discriminate]. rewrite andb_true_iff, Nat.ltb_lt, Z.leb_le in H1.
  destruct H1 as [L1 L2]. destruct Hv as [<-|Hv].
  - split; [exact L2|]. exists i, j. auto.
  - destruct (IH w H3 v Hv) as (A & i' & j' & B1 & B2 & B3). rewrite Ew in B1. injection B1 as <-. split; [lia|]. exists i, j'. split; [reflexivity|]. split; [exact B2|lia].
Qed.
Lemma in_turn_pairs r l : in_turn r l = true -> forall u v i j, In u l -> In v l -> at_lane r u = Some i -> at_lane r v = Some j -> (i < j)%nat -> start u + d u <= start v.
Proof.
  induction l as [|w l IH]; intros H u v i j Hu Hv Ei Ej L; [destruct Hu|].
  assert (H' : in_turn r l = true) by (cbn [in_turn] in H; rewrite !andb_true_iff in H; tauto).
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
  - rewrite (nth_error_nth books r _ E) in Fu, Fv. apply (in_turn_pairs r l) with (i := i) (j := j); eauto using book_in.
    + specialize (H1 (r, l)). apply H1. clear -El. assert (G : forall (o : list (list op)) r a, nth_error o r = Some l -> In ((a + r)%nat, l) (combine (seq a (length o)) o)).
      { induction o as [|y o IH]; intros [|r'] a H; cbn in *; try discriminate; [injection H as ->; left; f_equal; lia|]. right. replace (a + S r')%nat with (S a + r')%nat by lia. auto. }
      apply (G orders r 0%nat El).
    + unfold at_lane. rewrite Eu, Nat.eqb_refl. reflexivity.
    + unfold at_lane. rewrite Ev, Nat.eqb_refl. reflexivity.
  - apply nth_error_None in E. rewrite nth_overflow in Fu by exact E. rewrite NF.empty_o in Fu. discriminate.
Qed.
End Lanes.

(* ---- all operations, and what a timing asks of them *)
Definition kinds := [Forward; Backward; Weight; Sync; Optimizer; Sends Onward; Links Onward; Delays Onward; Receives Onward; Sends Back; Links Back; Delays Back; Receives Back; EmbeddingSync].
Definition all_ops : list op := filter (valid x) (flat_map (fun k => flat_map (fun s => flat_map (fun j => map (Op k s j) (seq 0 (S (slices x)))) (seq 0 (S (batches x)))) (seq 0 (S (stages x)))) kinds).
Lemma all_ops_all u : valid x u = true -> In u all_ops.
Proof.
  intros H. apply filter_In. split; [|exact H]. destruct u as [k s j y]. apply in_flat_map. exists k. split; [destruct k as [| | | | |[]|[]|[]|[]|]; cbn; auto 20|].
  assert (E : (s < S (stages x))%nat /\ (j < S (batches x))%nat /\ (y < S (slices x))%nat).
  { unfold valid in H. cbn [what place batch slice] in H. destruct k; rewrite !andb_true_iff, ?Nat.ltb_lt, ?Nat.eqb_eq in H; lia. }
  apply in_flat_map. exists s. split; [apply in_seq; lia|]. apply in_flat_map. exists j. split; [apply in_seq; lia|]. apply in_map, in_seq. lia.
Qed.
Definition follows u v := negb (valid x u) || negb (valid x v) || (end_of u <=? start v).
Definition after_it u : bool := let o k := Op k (place u) (batch u) (slice u) in let once k s := Op k s 0%nat 0%nat in
  match what u with
  | Sends dir => follows u (o (Links dir)) | Links dir => follows u (o (Delays dir)) | Delays dir => follows u (o (Receives dir))
  | Sync => follows u (once Optimizer (place u)) && (if (place u =? 0)%nat || (S (place u) =? stages x)%nat then follows u (once EmbeddingSync 0%nat) else true)
  | EmbeddingSync => follows u (once Optimizer 0%nat) && follows u (once Optimizer (stages x - 1)%nat)
  | _ => true end
  && (if last_pass x u then follows u (once Sync (place u)) else true)
  && (match in_stream x u with Some (r, _) => follows u (once Optimizer r) | None => true end).
Definition least (l : list Z) := match l with [] => 0 | z :: r => fold_right Z.min z r end.
Definition most (l : list Z) := match l with [] => 0 | z :: r => fold_right Z.max z r end.
(* one iteration after another: a rank, a link *)
Definition span_ok (l : list op) := most (map (fun u => end_of u) l) <=? least (map start l) + T.
Definition of_rank r := filter (fun u => match rank_of x u with Some q => (q =? r)%nat | None => false end).
Definition of_link r := filter (fun u => match link_lane u with Some (q, _) => (q =? r)%nat | None => false end).
Definition timed (streams links : list (list op)) : bool := let ops := all_ops in
  (0 <=? T) && forallb (fun u => (0 <=? start u) && (if barrier x then end_of u <=? T else true) && after_it u) ops
  && lanes_ok (in_stream x) streams ops && lanes_ok link_lane links ops
  && (if barrier x then true else forallb (fun r => span_ok (of_rank r ops)) (seq 0 (stages x)) && forallb (fun r => span_ok (of_link r ops)) (seq 0 (2 * stages x))).

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
Lemma valid_rank u r : valid x u = true -> rank_of x u = Some r -> (r < stages x)%nat.
Proof.
  unfold valid, rank_of, in_stream. destruct (what u) as [| | | | |[]|[]|[]|[]|]; try discriminate; intros H [=<-]; rewrite !andb_true_iff, ?Nat.ltb_lt in H; lia.
Qed.

Theorem timed_sound streams links : timed streams links = true -> timing x d start T.
Proof.
  unfold timed. cbn zeta. rewrite !andb_true_iff, Z.leb_le, forallb_forall. intros ((((HT & Ho) & Hs) & Hl) & Hc).
  assert (F : forall u v, follows u v = true -> valid x u = true -> valid x v = true -> start u + d u <= start v).
  { unfold follows. intros u v H Vu Vv. rewrite Vu, Vv in H. apply Z.leb_le, H. }
  assert (O : forall u, valid x u = true -> 0 <= start u /\ (barrier x = true -> start u + d u <= T) /\ after_it u = true).
  { intros u Vu. specialize (Ho u (all_ops_all u Vu)). rewrite !andb_true_iff, Z.leb_le in Ho. destruct Ho as ((A & B) & C). split; [exact A|]. split; [|exact C]. intros E. rewrite E in B. apply Z.leb_le, B. }
  split; [exact HT|]. split; [intros u Vu; apply O, Vu|]. split; [intros E u Vu; apply O; auto|]. split.
  - intros u v Vu Vv W. unfold waits in W. apply orb_prop in W as [W|W].
    + destruct (in_stream x u) as [[r i]|] eqn:Eu; [|discriminate]. destruct (in_stream x v) as [[q j]|] eqn:Ev; [|discriminate].
      rewrite andb_true_iff, Nat.eqb_eq, Nat.ltb_lt in W. destruct W as [-> L]. apply (lanes_pairs (in_stream x) streams all_ops u v q i j); auto using all_ops_all.
    + destruct (O u Vu) as (_ & _ & A). unfold after_it in A. rewrite !andb_true_iff in A. destruct A as ((A1 & A2) & A3).
      destruct v as [kv pv bv yv]. cbn [what place] in W.
      assert (Once : forall k, valid x (Op k pv bv yv) = true -> match k with Sync | Optimizer | EmbeddingSync => bv = 0%nat /\ yv = 0%nat | _ => True end).
      { intros k H. unfold valid in H. cbn [what place batch slice] in H. destruct k; auto; rewrite !andb_true_iff, !Nat.eqb_eq in H; tauto. }
      specialize (Once kv Vv).
      destruct kv as [| | | | |dv|dv|dv|dv|].
      * destruct (what u); discriminate.
      * destruct (what u); discriminate.
      * destruct (what u); discriminate.
      * destruct Once as [-> ->]. destruct (what u) as [| | | | |dd|dd|dd|dd|] eqn:Eu; try discriminate; apply andb_prop in W as [Wp Wl]; apply Nat.eqb_eq in Wp; rewrite Wl in A2; rewrite Wp in A2; apply F; auto.
      * destruct Once as [-> ->]. assert (N : what u <> Optimizer) by (intros E; rewrite E in W; discriminate).
        assert (W' : (match in_stream x u with Some (r, _) => (r =? pv)%nat | None => false end) || match what u with Sync => (place u =? pv)%nat | EmbeddingSync => (pv =? 0)%nat || (S pv =? stages x)%nat | _ => false end = true) by (destruct (what u); try congruence; exact W).
        apply orb_prop in W' as [W'|W'].
        -- destruct (in_stream x u) as [[r i]|]; [|discriminate]. apply Nat.eqb_eq in W'. subst r. apply F; auto.
        -- destruct (what u) as [| | | | |dd|dd|dd|dd|] eqn:Eu; try discriminate.
           ++ apply Nat.eqb_eq in W'. rewrite W' in A1. apply andb_prop in A1 as [A1 _]. apply F; auto.
           ++ apply andb_prop in A1 as [B1 B2]. apply orb_prop in W' as [W'|W']; apply Nat.eqb_eq in W'.
              ** subst pv. apply F; auto.
              ** replace (stages x - 1)%nat with pv in B2 by lia. apply F; auto.
      * destruct (what u) as [| | | | |[]|[]|[]|[]|]; discriminate.
      * destruct (what u) as [| | | | |du|du|du|du|] eqn:Eu; try discriminate.
        -- apply andb_prop in W as [Wd Wm]. unfold same_message in Wm. cbn [place batch slice] in Wm. rewrite !andb_true_iff, !Nat.eqb_eq in Wm. destruct Wm as ((<- & <-) & <-).
           assert (du = dv) by (destruct du, dv; try discriminate; reflexivity). subst. apply F; auto.
        -- rewrite !andb_true_iff, Nat.eqb_eq, Nat.ltb_lt in W. destruct W as ((Wd & Wp) & L).
           assert (E : du = dv) by (destruct du, dv; try discriminate; reflexivity). subst.
           cbn [batch slice] in L. apply (lanes_pairs link_lane links all_ops u (Op (Links dv) (place u) bv yv) (match dv with Onward => 2 * place u | Back => 2 * place u + 1 end)%nat
             (turn x (sent_by dv (place u)) (pass_of dv) (batch u) (slice u)) (turn x (sent_by dv (place u)) (pass_of dv) bv yv)); auto using all_ops_all.
           ++ unfold link_lane. rewrite Eu. destruct dv; reflexivity.
           ++ unfold link_lane. cbn [what place batch slice]. destruct dv; reflexivity.
      * destruct (what u) as [| | | | |du|du|du|du|] eqn:Eu; try discriminate. apply andb_prop in W as [Wd Wm]. unfold same_message in Wm. cbn [place batch slice] in Wm. rewrite !andb_true_iff, !Nat.eqb_eq in Wm. destruct Wm as ((<- & <-) & <-).
        assert (du = dv) by (destruct du, dv; try discriminate; reflexivity). subst. apply F; auto.
      * destruct (what u) as [| | | | |du|du|du|du|] eqn:Eu; try discriminate. apply andb_prop in W as [Wd Wm]. unfold same_message in Wm. cbn [place batch slice] in Wm. rewrite !andb_true_iff, !Nat.eqb_eq in Wm. destruct Wm as ((<- & <-) & <-).
        assert (du = dv) by (destruct du, dv; try discriminate; reflexivity). subst. apply F; auto.
      * destruct Once as [-> ->]. assert (pv = 0%nat) by (unfold valid in Vv; cbn [what place batch slice] in Vv; rewrite !andb_true_iff, !Nat.eqb_eq in Vv; tauto). subst pv.
        destruct (what u) as [| | | | |du|du|du|du|] eqn:Eu; try discriminate. rewrite W in A1. apply andb_prop in A1 as [_ A1]. apply F; auto.
  - intros Hb u v Vu Vv C. rewrite Hb in Hc. rewrite andb_true_iff, !forallb_forall in Hc. destruct Hc as [Hr Hk]. unfold carries in C. apply orb_prop in C as [C|C].
    + destruct (rank_of x u) as [r|] eqn:Eu; [|discriminate]. destruct (rank_of x v) as [q|] eqn:Ev; [|discriminate]. apply Nat.eqb_eq in C. subst q.
      pose proof (valid_rank u r Vu Eu). apply (span_pairs (of_rank r all_ops)); [apply Hr, in_seq; lia| |]; apply filter_In; (split; [apply all_ops_all; auto|]); [rewrite Eu|rewrite Ev]; apply Nat.eqb_refl.
    + destruct (what u) as [| | | | |du|du|du|du|] eqn:Eu; try discriminate. destruct (what v) as [| | | | |dv|dv|dv|dv|] eqn:Ev; try discriminate.
      apply andb_prop in C as [Cd Cp]. apply Nat.eqb_eq in Cp. assert (du = dv) by (destruct du, dv; try discriminate; reflexivity). subst.
      assert (Pu : (S (place u) < stages x)%nat) by (unfold valid in Vu; rewrite Eu in Vu; rewrite !andb_true_iff, !Nat.ltb_lt in Vu; tauto).
      apply (span_pairs (of_link (match dv with Onward => 2 * place u | Back => 2 * place u + 1 end)%nat all_ops)); [apply Hk, in_seq; destruct dv; lia| |];
        apply filter_In; (split; [apply all_ops_all; auto|]); unfold link_lane; [rewrite Eu|rewrite Ev]; destruct dv; try rewrite Cp; apply Nat.eqb_refl.
Qed.
End Of.

Section OfDocument.
Variable P : problem.
Definition within (plan : list decision) := forallb (fun r => match nth r (available P) None with None => true
  | Some l => sum (map (fun e => nth r (needs P e) 0) plan) <=? l end) (seq 0 (length (available P))).
Definition reaches (plan : list decision) (start : op -> Z) (streams links : list (list op)) T : bool :=
  in_order P 0 0 plan && within plan && (negb (embedding (shape_of P)) || match ends_of P plan with Some _ => true | None => false end)
  && timed (shape_of P) (lasts P plan) start T streams links.
(* THE THEOREM: where it is true, this is a plan, and it takes at most T. *)
Theorem reached plan start streams links T : reaches plan start streams links T = true -> plan_ok P plan /\ takes P plan T.
Proof.
  unfold reaches. rewrite !andb_true_iff. intros (((A & B) & C) & D). split; [|exists start; eapply timed_sound; eauto]. split; [exact A|]. split.
  - intros r l E. unfold within in B. rewrite forallb_forall in B. assert (R : (r < length (available P))%nat) by (apply nth_error_Some; congruence).
    specialize (B r ltac:(apply in_seq; lia)). rewrite (nth_error_nth _ _ _ E) in B. apply Z.leb_le, B.
  - intros E. rewrite E in C. cbn in C. destruct (ends_of P plan); [discriminate|discriminate].
Qed.
End OfDocument.
Print Assumptions reached.
