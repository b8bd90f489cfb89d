(* Rounds on boxes, and trees of boxes: no plan is below a bound that a tree closes. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Mixture Automaton Boxes.
Import ListNotations.
Open Scope Z_scope.

Record round := Round {
  weights : list (nat * Z);   (* of paths, in 2^-40 *)
  prices : list Z;            (* of a use of each resource, in 2^-40 ns *)
  counting : list bool         (* of each resource: whether the dynamic programme counts it *) }.
(* A round, or the removal of what does not fit together with the least of its rank. *)
Inductive move := Use (r : round) | Couple.
Inductive tree :=
  | Closed (moves : list move)
  | Split (moves : list move) (stage : nat) (holds : choice -> bool) (yes no : tree).

Section OfLayout.
Variable y : layout.
Let x := the_shape y.
Hypothesis crossing_wide : forall c g h o t, crossing y c g h o = Some t -> length t = boundary_width x.
Variable paths : nat -> option path.
Hypothesis paths_sound : forall i p, paths i = Some p -> sound x p.
Variable claim : option Z.            (* no plan takes less; None: there is no plan *)

(* ---- resources: priced, or counting *)
Fixpoint granted (ps : list Z) (ls : list (option Z)) : option Z := match ps, ls with
  | [], _ => Some 0
  | p :: ps', l :: ls' => match granted ps' ls' with None => None | Some a =>
      if p =? 0 then Some a else if p <? 0 then None else match l with Some v => Some (p * v + a) | None => None end end
  | p :: ps', [] => if p =? 0 then granted ps' [] else None end.
Lemma granted_spent : forall ps ls a (us : list (list Z)), granted ps ls = Some a ->
  (forall r l, nth_error ls r = Some (Some l) -> fold_right (fun u b => nth r u 0 + b) 0 us <= l) ->
  fold_right (fun u b => dot ps u + b) 0 us <= a.
Proof.
  induction ps as [|p ps IH]; intros ls a us H Hl.
  - cbn in H. injection H as <-. clear. induction us as [|u us IH]; cbn in *; lia.
  - assert (E : fold_right (fun u b => dot (p :: ps) u + b) 0 us = p * fold_right (fun u b => nth 0 u 0 + b) 0 us + fold_right (fun u b => dot ps u + b) 0 (map (@tl Z) us)).
    { clear. induction us as [|u us IH]; [cbn; ring|]. cbn [fold_right map]. rewrite IH. destruct u as [|q u]; cbn [dot nth tl]; [|ring].
      destruct ps; cbn [dot]; ring. }
    rewrite E. clear E.
    assert (T : forall r us, fold_right (fun u b => nth (S r) u 0 + b) 0 us = fold_right (fun u b => nth r u 0 + b) 0 (map (@tl Z) us)).
    { clear. intros r us. induction us as [|u us IH]; cbn [fold_right map]; [reflexivity|]. rewrite IH. destruct u; cbn; [destruct r|]; reflexivity. }
    destruct ls as [|l ls]; cbn [granted] in H.
    + destruct (Z.eqb_spec p 0); [|discriminate]. subst p. specialize (IH [] a (map (@tl Z) us) H). lapply IH; [lia|].
      intros r l E. destruct r; discriminate.
    + destruct (granted ps ls) as [b|] eqn:G; [|discriminate]. specialize (IH ls b (map (@tl Z) us) G).
      lapply IH; [clear IH; intros IH|].
      * destruct (Z.eqb_spec p 0); [injection H as <-; lia|]. destruct (Z.ltb_spec p 0); [discriminate|]. destruct l as [v|]; [|discriminate].
        injection H as <-. specialize (Hl 0%nat v eq_refl). nia.
      * intros r v E. rewrite <- T. apply (Hl (S r) v E).
Qed.
Lemma spent_granted plan ps a : granted ps (limits y) = Some a -> within_limits y plan -> spent ps plan <= a.
Proof.
  intros G H. assert (E : spent ps plan = fold_right (fun u b => dot ps u + b) 0 (map uses plan)) by (clear; unfold spent, used_by, still; induction plan as [|v plan IH]; cbn [map fold_right]; [reflexivity|rewrite IH; reflexivity]).
  rewrite E. eapply granted_spent; eauto. intros r l Hr. specialize (H r l Hr).
  assert (F : used_by r plan = fold_right (fun u b => nth r u 0 + b) 0 (map uses plan)) by (clear; unfold spent, used_by, still; induction plan as [|v plan IH]; cbn [map fold_right]; [reflexivity|rewrite IH; reflexivity]). lia.
Qed.
(* What is counting has a limit. *)
Fixpoint chosen_of (cs : list bool) (ls : list (option Z)) : list bool := match cs, ls with
  | c :: cs', l :: ls' => (c && match l with Some _ => true | None => false end) :: chosen_of cs' ls' | _, _ => [] end.
Fixpoint caps_of (ch : list bool) (ls : list (option Z)) : list Z := match ch, ls with
  | c :: ch', l :: ls' => if c then match l with Some v => v | None => 0 end :: caps_of ch' ls' else caps_of ch' ls' | _, _ => [] end.
Lemma still_below : forall cs ls plan, (forall r l, nth_error ls r = Some (Some l) -> fold_right (fun u b => nth r u 0 + b) 0 plan <= l) ->
  forall i, (i < length (caps_of (chosen_of cs ls) ls))%nat ->
  fold_right (fun u a => nth i (select (chosen_of cs ls) u) 0 + a) 0 plan <= nth i (caps_of (chosen_of cs ls) ls) 0.
Proof.
  induction cs as [|c cs IH]; intros [|l ls] plan H i Hi; cbn [chosen_of caps_of length] in *; try lia.
  assert (H' : forall r v, nth_error ls r = Some (Some v) -> fold_right (fun u b => nth r u 0 + b) 0 (map (@tl Z) plan) <= v).
  { intros r v E. specialize (H (S r) v E). etransitivity; [|exact H]. clear. induction plan as [|u plan IH]; cbn [fold_right map]; [lia|].
    destruct u; cbn; [destruct r; cbn|]; lia. }
  assert (T : forall k, fold_right (fun u a => nth k (select (chosen_of cs ls) (tl u)) 0 + a) 0 plan = fold_right (fun u a => nth k (select (chosen_of cs ls) u) 0 + a) 0 (map (@tl Z) plan)).
  { intros k. clear. induction plan as [|u plan IH]; cbn [fold_right map]; [reflexivity|rewrite IH; reflexivity]. }
  destruct c, l as [v|]; cbn [andb] in *; cbn [select]; try (rewrite T; apply IH; assumption).
  destruct i as [|i]; cbn [nth].
  - specialize (H 0%nat v eq_refl). etransitivity; [|exact H]. clear. induction plan as [|u plan IH]; cbn [fold_right]; [lia|]. destruct u; cbn; lia.
  - rewrite T. apply IH; [assumption|cbn in Hi; lia].
Qed.

(* ---- a round *)
Definition box := list (list choice).
Definition least_of (l : list (option Z)) : option Z := fold_right (fun a b => match a, b with Some u, Some v => Some (Z.min u v) | Some u, None => Some u | None, b => b end) None l.
Lemma least_of_in l u : In (Some u) l -> exists v, least_of l = Some v /\ v <= u.
Proof.
  induction l as [|a l IH]; intros []; cbn [least_of fold_right]; fold (least_of l).
  - subst. destruct (least_of l); eexists; split; try reflexivity; lia.
  - destruct (IH H) as (v & E & L). rewrite E. destruct a; eexists; split; try reflexivity; lia.
Qed.
Definition least_joint (firsts : list choice) g := match least_of (map (fun v => joining y (grp v) g) firsts) with Some e => e | None => 0 end.

Fixpoint thin (ks : list kept) (b : box) : box := match ks, b with
  | _ :: k :: ks', cs :: b' => filter (fun v => is_kept k (id v)) cs :: thin ks' b'
  | _, _ => [] end.
(* A last stage whose group no first stage of the box can be joined with ends no plan. *)
Definition may_end firsts v := negb (embedding x) || existsb (fun u => match joining y (grp u) (grp v) with Some _ => true | None => false end) firsts.
(* what a plan below the claim costs at most; None: the round proves nothing *)
Definition target_of (r : round) (s : Z) : option Z := match granted (prices r) (limits y) with None => None | Some a =>
  match claim with
  | Some bound => if s <=? whole then Some ((bound - 1) * whole + a) else None
  | None => match weights r with [] => Some a | _ => None end end end.
(* Numbers of the dynamic programme stay within a machine word, for speed. *)
Definition unit_of (target : Z) := 1 + Z.abs target / 2 ^ 58.
Lemma unit_positive target : 0 < unit_of target.
Proof. unfold unit_of. pose proof (Z.div_pos (Z.abs target) (2 ^ 58) (Z.abs_nonneg _) ltac:(reflexivity)). lia. Qed.
Definition use_round (b : box) (r : round) : box :=
  match mix x paths (weights r) with None => b | Some (t, s) =>
  match target_of r s with None => b | Some target =>
    if (joint t <? 0) || (negb (embedding x) && negb (joint t =? 0)) then b else
    let ch := chosen_of (counting r) (limits y) in
    let caps := caps_of ch (limits y) in
    let unit := unit_of target in
    let ls := links y ch (prices r) (joint t) (least_joint (hd [] b)) (may_end (hd [] b)) unit [] (counts t) None b in
    thin (snd (sweep _ _ same hash (step caps) code codes number (final y) (target / unit) ls
                (begin _ same hash (State 0 (0%nat, 0%nat) (map (fun _ => 0) (select ch [])))))) b
  end end.

Definition below plan := match claim with None => True | Some bound => exists start T, timing x (value x (rows y plan) (joint_time y plan)) start T /\ T < bound end.

Lemma thin_keeps ch ps jc lj un brow : forall plan m prev b ks, length m = length plan -> inside plan b ->
  Forall2 (fun c k => is_kept k (number c) = true) (labels y ch ps jc lj un brow m prev plan b) ks -> inside plan (thin ks b).
Proof.
  intros plan m. revert brow plan. induction m as [|row m IH]; intros brow [|v plan] prev b ks Hm Hi Hk; try discriminate; cbn [labels] in Hk.
  - inversion Hi; subst. inversion Hk; subst. constructor.
  - inversion Hi as [|? cs ? b' Hv Hi']; subst. inversion Hk as [|? k1 ? ks1 _ Hk1]; subst. inversion Hk1 as [|? k ? ks' Hv' Hk']; subst.
    cbn [thin]. constructor; [|eapply IH; eauto; cbn in Hm; congruence]. apply filter_In. split; [exact Hv|exact Hv'].
Qed.
Lemma round_keeps plan b r : inside plan b -> is_plan y plan -> below plan -> inside plan (use_round b r).
Proof.
  intros Hi (Hl & Hc & Hw & Hj & _) Hb. unfold use_round. destruct (mix x paths (weights r)) as [[t s]|] eqn:Em; [|exact Hi].
  destruct (target_of r s) as [target|] eqn:Et; [|exact Hi]. destruct ((joint t <? 0) || _) eqn:Ejt; [exact Hi|].
  apply orb_false_iff in Ejt as [Ejt Eemb]. apply Z.ltb_ge in Ejt.
  set (ch := chosen_of (counting r) (limits y)). set (caps := caps_of ch (limits y)).
  set (lj := least_joint (hd [] b)). set (start := State 0 (0%nat, 0%nat) (map (fun _ => 0) (select ch []))).
  destruct (mixture_bound x paths paths_sound _ _ _ Em) as [Hs Hmix]. pose proof (rows_wide y crossing_wide _ _ _ Hc) as Hr.
  destruct (run_plan y caps ch (prices r) (joint t) lj (unit_of target) (unit_positive target) plan (counts t) [] 0 None (map (fun _ => 0) (select ch [])) b Hi) as (e & z & He & Hz & Hf); auto.
  { rewrite Hl. exact Hs. }
  { rewrite map_length. reflexivity. }
  { intros i H1 H2. assert (Z0 : nth i (map (fun _ : Z => 0) (select ch [])) 0 = 0).
    { clear. revert i. induction (select ch []); destruct i; cbn; auto. }
    rewrite Z0. unfold caps, ch in *.
    assert (E : still (chosen_of (counting r) (limits y)) i plan = fold_right (fun u a => nth i (select (chosen_of (counting r) (limits y)) u) 0 + a) 0 (map uses plan)) by (clear; unfold spent, used_by, still; induction plan as [|v plan IH]; cbn [map fold_right]; [reflexivity|rewrite IH; reflexivity]).
    rewrite E. apply still_below; [|exact H2]. intros k l Hk. specialize (Hw k l Hk).
    assert (F : used_by k plan = fold_right (fun u b => nth k u 0 + b) 0 (map uses plan)) by (clear; unfold spent, used_by, still; induction plan as [|v plan IH]; cbn [map fold_right]; [reflexivity|rewrite IH; reflexivity]). lia. }
  apply (thin_keeps ch (prices r) (joint t) lj (unit_of target) [] plan (counts t) None); [rewrite Hl; apply Hs|exact Hi|].
  eapply (sweep_keeps state label same same_eq hash (step caps) code codes (step_filed caps) number (final y) (target / unit_of target)).
  - exact He.
  - exact Hf.
  - eapply labels_inside; [|exact Hi|rewrite Hl; apply Hs|exact Hc|exact I]. unfold ends_well. destruct plan as [|v plan]; [exact I|].
    unfold may_end. destruct (embedding x) eqn:Ex; [|reflexivity]. cbn [negb orb]. apply existsb_exists. exists v.
    inversion Hi as [|? cs ? b' Hv Hi']; subst. split; [exact Hv|]. specialize (Hj Ex). unfold joint_of, groups_of in Hj.
    destruct (joining y (grp v) (grp (last (v :: plan) v))); [reflexivity|congruence].
  - apply begin_has, same_eq.
  - (* the cost of a plan *)
    rewrite Z.add_0_l. apply Z.div_le_lower_bound; [apply unit_positive|]. etransitivity; [exact Hz|]. clear Hz He.
    assert (J : at_last (joint t) lj plan <= joint t * joint_time y plan).
    { unfold at_last, joint_time, joint_of, groups_of in *. destruct plan as [|v plan]; [lia|]. destruct (Z.eqb_spec (joint t) 0) as [->|]; [lia|].
      destruct (joining y (grp v) (grp (last (v :: plan) v))) as [ej|] eqn:Ej.
      - unfold lj, least_joint. inversion Hi as [|? cs ? b' Hv Hi']; subst. cbn [hd].
        destruct (least_of_in (map (fun u => joining y (grp u) (grp (last (v :: plan) v))) cs) ej) as (w & W1 & W2).
        { apply in_map_iff. exists v. auto. }
        rewrite W1. nia.
      - exfalso. destruct (embedding x) eqn:Ex; [apply (Hj Ex); reflexivity|].
        discriminate. }
    pose proof (fun a G => spent_granted plan (prices r) a G Hw) as Hsp. unfold target_of in Et.
    destruct (granted (prices r) (limits y)) as [a|]; [|discriminate]. specialize (Hsp a eq_refl).
    assert (M : 0 + dots (counts t) (rows y plan) + joint t * joint_time y plan = measure t (rows y plan) (joint_time y plan)) by (unfold measure; lia).
    unfold below in Hb. destruct claim as [bound|].
    + destruct (Z.leb_spec s whole); [|discriminate]. injection Et as <-. destruct Hb as (st & T & Ht & HT).
      specialize (Hmix (rows y plan) (joint_time y plan) st T ltac:(unfold shaped; fold x in Hl; rewrite <- Hl; exact Hr) Ht). assert (0 <= T) by apply Ht.
      assert (s * T <= whole * (bound - 1)) by (assert (0 < whole) by reflexivity; nia). lia.
    + destruct (weights r) eqn:Ew; [|discriminate]. injection Et as <-. cbn [mix] in Em. injection Em as <- <-.
      unfold measure, nothing in *. cbn [counts joint] in *. rewrite dots_zeros in *. lia.
Qed.

(* ---- stages that are on one group: a choice stays where it fits together with the least that the
   others have on its group *)
Definition leasts := list (nat * list Z).  (* by group *)
Fixpoint low (a b : list Z) : list Z := match a, b with u :: a', w :: b' => Z.min u w :: low a' b' | _, _ => [] end.
Fixpoint adds (a b : list Z) : list Z := match a, b with [], _ => b | _, [] => a | u :: a', w :: b' => u + w :: adds a' b' end.
Fixpoint look_up g (t : leasts) := match t with [] => None | (h, l) :: r => if (h =? g)%nat then Some l else look_up g r end.
Fixpoint note_least v (t : leasts) : leasts := match t with
  | [] => [(grp v, uses v)] | (h, l) :: r => if (h =? grp v)%nat then (h, low (uses v) l) :: r else (h, l) :: note_least v r end.
Definition leasts_of (cs : list choice) : leasts := fold_right note_least [] cs.
Fixpoint needs_with s v k (ts : list leasts) : option (list Z) := match ts with
  | [] => Some []
  | t :: r => match needs_with s v (S k) r with None => None | Some a =>
      if (k =? s)%nat then Some (adds (uses v) a)
      else if together y s k then match look_up (grp v) t with Some l => Some (adds l a) | None => None end else Some a end end.
Fixpoint under (a : list Z) (ls : list (option Z)) : bool := match a, ls with
  | u :: a', l :: ls' => match l with Some v => u <=? v | None => true end && under a' ls' | _, _ => true end.
Definition fits_with ts s v := match needs_with s v 0 ts with None => false | Some a => under a (limits y) end.
Definition couple (b : box) : box := let ts := map leasts_of b in
  map (fun p => filter (fits_with ts (fst p)) (snd p)) (combine (seq 0 (length b)) b).

Lemma low_left a : forall b i, nth i (low a b) 0 <= Z.max 0 (nth i a 0).
Proof. induction a as [|u a IH]; intros [|w b] [|i]; cbn [low nth]; try lia. apply IH. Qed.
Lemma low_right a : forall b i, nth i (low a b) 0 <= Z.max 0 (nth i b 0).
Proof. induction a as [|u a IH]; intros [|w b] [|i]; cbn [low nth]; try lia. apply IH. Qed.
Lemma nth_adds a : forall b i, nth i (adds a b) 0 = nth i a 0 + nth i b 0.
Proof. induction a as [|u a IH]; intros [|w b] [|i]; cbn [adds nth]; try lia. apply IH. Qed.
Lemma look_note g v t : look_up g (note_least v t) = if (grp v =? g)%nat then Some (match look_up g t with Some l => low (uses v) l | None => uses v end) else look_up g t.
Proof.
  induction t as [|[h l] t IH]; cbn [note_least look_up].
  - destruct (Nat.eqb_spec (grp v) g); reflexivity.
  - destruct (Nat.eqb_spec h (grp v)) as [->|N]; cbn [look_up].
    + destruct (Nat.eqb_spec (grp v) g); reflexivity.
    + rewrite IH. destruct (Nat.eqb_spec h g) as [->|]; [|reflexivity]. destruct (Nat.eqb_spec (grp v) g); [congruence|reflexivity].
Qed.
Lemma least_below cs w : In w cs -> exists l, look_up (grp w) (leasts_of cs) = Some l /\ forall i, nth i l 0 <= Z.max 0 (nth i (uses w) 0).
Proof.
  induction cs as [|v cs IH]; intros []; cbn [leasts_of fold_right]; fold (leasts_of cs); rewrite look_note.
  - subst v. rewrite Nat.eqb_refl. eexists. split; [reflexivity|]. intros i. destruct (look_up (grp w) (leasts_of cs)); [apply low_left|lia].
  - destruct (IH H) as (l & E & L). rewrite E. destruct (_ =? _)%nat; eexists; (split; [reflexivity|]); auto.
    intros i. pose proof (low_right (uses v) l i). specialize (L i). lia.
Qed.
Lemma needs_below s v : forall plan b k, inside plan b ->
  (forall j w, nth_error plan j = Some w -> Forall (Z.le 0) (uses w) /\ ((k + j)%nat = s -> w = v) /\ (together y s (k + j)%nat = true -> grp w = grp v)) ->
  exists a, needs_with s v k (map leasts_of b) = Some a /\ forall i, nth i a 0 <= used_by i plan.
Proof.
  induction plan as [|w plan IH]; intros b k Hi H; inversion Hi as [|? cs ? b' Hw Hi']; subst; cbn [map needs_with].
  - exists []. split; [reflexivity|]. intros i. destruct i; cbn; lia.
  - destruct (IH b' (S k) Hi') as (a & E & L).
    { intros j u Hj. specialize (H (S j) u Hj). replace (S k + j)%nat with (k + S j)%nat by lia. exact H. }
    rewrite E. destruct (H 0%nat w eq_refl) as (Hn & Hs & Ht). rewrite Nat.add_0_r in *.
    assert (P : forall i, 0 <= nth i (uses w) 0). { intros i. destruct (nth_in_or_default i (uses w) 0) as [I| ->]; [|lia]. rewrite Forall_forall in Hn. apply Hn, I. }
    destruct (Nat.eqb_spec k s) as [Ek|Nk].
    + eexists. split; [reflexivity|]. intros i. rewrite nth_adds. cbn [used_by fold_right]. fold (used_by i plan). rewrite <- (Hs Ek). specialize (L i). lia.
    + destruct (together y s k) eqn:Et.
      * destruct (least_below cs w Hw) as (l & El & Ll). rewrite <- (Ht eq_refl), El. eexists. split; [reflexivity|].
        intros i. rewrite nth_adds. cbn [used_by fold_right]. fold (used_by i plan). specialize (L i). specialize (Ll i). specialize (P i). lia.
      * eexists. split; [reflexivity|]. intros i. cbn [used_by fold_right]. fold (used_by i plan). specialize (L i). specialize (P i). lia.
Qed.
Lemma under_nth a : forall ls, (forall i l, nth_error ls i = Some (Some l) -> nth i a 0 <= l) -> under a ls = true.
Proof.
  induction a as [|u a IH]; intros [|l ls] H; cbn [under]; auto. rewrite andb_true_iff. split.
  - destruct l as [l|]; [|reflexivity]. apply Z.leb_le. apply (H 0%nat l eq_refl).
  - apply IH. intros i v E. apply (H (S i) v E).
Qed.
Lemma numbered_inside (f : nat -> choice -> bool) : forall plan b k, inside plan b -> (forall j v, nth_error plan j = Some v -> f (k + j)%nat v = true) ->
  inside plan (map (fun p => filter (f (fst p)) (snd p)) (combine (seq k (length b)) b)).
Proof.
  induction plan as [|v plan IH]; intros b k Hi H; inversion Hi as [|? cs ? b' Hv Hi']; subst; cbn [length seq combine map]; constructor.
  - cbn [fst snd]. apply filter_In. split; [exact Hv|]. rewrite <- (Nat.add_0_r k). apply (H 0%nat v eq_refl).
  - apply (IH b' (S k) Hi'). intros j u E. replace (S k + j)%nat with (k + S j)%nat by lia. apply H, E.
Qed.
Lemma chained_uses : forall plan n prev, chained y n prev plan -> forall j w, nth_error plan j = Some w -> Forall (Z.le 0) (uses w).
Proof.
  induction plan as [|v plan IH]; intros n prev H [|j] w E; cbn in E; try discriminate; destruct H as (_ & _ & Hu & _ & H); [congruence|eapply IH; eauto].
Qed.
Lemma couple_keeps plan b : inside plan b -> is_plan y plan -> inside plan (couple b).
Proof.
  intros Hi (Hl & Hc & Hw & Hj & Hg). unfold couple. apply numbered_inside; [exact Hi|]. intros s v Ev. cbn [Nat.add]. unfold fits_with.
  destruct (needs_below s v plan b 0 Hi) as (a & E & L).
  { intros j w Ew. split; [eapply chained_uses; eauto|]. split; [intros <-; cbn in *; congruence|]. intros Ht. eapply Hg; eauto. }
  rewrite E. apply under_nth. intros i l El. etransitivity; [apply L|apply (Hw i l El)].
Qed.

(* ---- trees *)
Definition is_empty (cs : list choice) := match cs with [] => true | _ => false end.
Fixpoint restrict (s : nat) (p : choice -> bool) (b : box) : box := match b, s with
  | [], _ => [] | cs :: r, O => filter p cs :: r | cs :: r, S k => cs :: restrict k p r end.
Definition make (m : move) (b : box) := match m with Use r => use_round b r | Couple => couple b end.
Definition after (ms : list move) (b : box) := fold_left (fun b m => if existsb is_empty b then b else make m b) ms b.
Fixpoint closes (t : tree) (b : box) : bool := match t with
  | Closed rs => existsb is_empty (after rs b)
  | Split rs s p yes no => let b' := after rs b in
      existsb is_empty b' || (closes yes (restrict s p b') && closes no (restrict s (fun v => negb (p v)) b')) end.

Lemma after_keeps plan rs : is_plan y plan -> below plan -> forall b, inside plan b -> inside plan (after rs b).
Proof.
  intros Hp Hb. induction rs as [|r rs IH]; intros b H; [exact H|]. cbn [after fold_left]. apply IH.
  destruct (existsb is_empty b); [exact H|]. destruct r; [apply round_keeps|apply couple_keeps]; auto.
Qed.
Lemma no_plan_in_empty plan b : inside plan b -> existsb is_empty b = true -> False.
Proof. unfold inside. induction 1 as [|v cs plan b Hv _ IH]; cbn; [discriminate|]. destruct cs; [destruct Hv|exact IH]. Qed.
Lemma halves_cover p : forall s plan b, inside plan b -> inside plan (restrict s p b) \/ inside plan (restrict s (fun v => negb (p v)) b).
Proof.
  unfold inside. induction s as [|s IH]; intros plan b H; (destruct H as [|v cs plan b Hv H]; [left; constructor|]); cbn [restrict].
  - destruct (p v) eqn:E; [left|right]; (constructor; [|exact H]); apply filter_In; split; auto. rewrite E. reflexivity.
  - destruct (IH _ _ H); [left|right]; constructor; auto.
Qed.
Theorem closes_sound : forall t b plan, closes t b = true -> inside plan b -> is_plan y plan -> below plan -> False.
Proof.
  intros t b plan Hc Hi Hp Hb. revert b Hc Hi. induction t as [rs|rs s p yes IHy no IHn]; intros b Hc Hi; cbn [closes] in Hc.
  - eapply no_plan_in_empty; [apply (after_keeps plan rs Hp Hb), Hi|exact Hc].
  - pose proof (after_keeps plan rs Hp Hb b Hi) as Ha. apply orb_prop in Hc as [Hc|Hc]; [eapply no_plan_in_empty; eauto|].
    apply andb_prop in Hc as [H1 H2]. destruct (halves_cover p s plan _ Ha); eauto.
Qed.
End OfLayout.
