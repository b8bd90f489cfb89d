(* Rounds on boxes, and trees of boxes: no plan is below a bound that a tree closes. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Mixture Automaton Boxes Ranks.
Import ListNotations.
Open Scope Z_scope.

Record round := Round {
  weights : list (nat * Z);   (* of paths, in 2^-40 *)
  prices : list Z;            (* of a use of each resource, in 2^-40 ns *)
  counting : list bool         (* of each resource: whether the dynamic programme counts it *) }.
(* A round in the order of stages, or rank by rank, or the removal of what does not fit together with
   the least of its rank. *)
Inductive move := Use (r : round) | ByRanks (r : round) | Couple.
Inductive tree :=
  | Closed (moves : list move)
  | Parts (moves : list move) (rank layers : nat) (fewer others : tree)
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
    thin (snd (sweep _ _ same hash (leap caps) ahead may code code_at number (layer_count y) (target / unit) ls 0
                (begin _ same hash (Spot (0%nat, 0%nat) (map (fun _ => 0) (select ch [])))))) b
  end end.

(* The same rank by rank, where the costs of neighbours are at their least; a rank's numbers of layers
   that it leaves are what later rounds may use. *)
Definition use_ranks spans (b : box) (r : round) : list span * box :=
  match mix x paths (weights r) with None => (spans, b) | Some (t, s) =>
  match target_of r s with None => (spans, b) | Some target =>
    if (joint t <? 0) || (negb (embedding x) && negb (joint t =? 0)) then (spans, b) else
    let cells := costs y (prices r) (joint t) (least_joint (hd [] b)) [] (counts t) None b in
    let k := marks y spans target cells in
    (Among k :: spans, map (fun p => filter (fun v => is_kept k (key (fst p) (id v))) (snd p)) (combine (seq 0 (length b)) b))
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
Lemma cost_of_plan plan b r t s target : inside plan b -> is_plan y plan -> below plan -> mix x paths (weights r) = Some (t, s) -> target_of r s = Some target ->
  0 <= joint t -> negb (embedding x) && negb (joint t =? 0) = false ->
  0 + dots (counts t) (rows y plan) + spent (prices r) plan + at_last (joint t) (least_joint (hd [] b)) plan <= target.
Proof.
  intros Hi (Hl & Hc & Hw & Hj & _) Hb Em Et Ejt Eemb. set (lj := least_joint (hd [] b)).
  destruct (mixture_bound x paths paths_sound _ _ _ Em) as [Hs Hmix]. pose proof (rows_wide y crossing_wide _ _ _ Hc) as Hr.
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
Lemma round_keeps plan b r : inside plan b -> is_plan y plan -> below plan -> inside plan (use_round b r).
Proof.
  intros Hi Hpl Hb. pose proof Hpl as (Hl & Hc & Hw & Hj & _). unfold use_round. destruct (mix x paths (weights r)) as [[t s]|] eqn:Em; [|exact Hi].
  destruct (target_of r s) as [target|] eqn:Et; [|exact Hi]. destruct ((joint t <? 0) || _) eqn:Ejt; [exact Hi|].
  apply orb_false_iff in Ejt as [Ejt Eemb]. apply Z.ltb_ge in Ejt.
  set (ch := chosen_of (counting r) (limits y)). set (caps := caps_of ch (limits y)).
  set (lj := least_joint (hd [] b)). set (start := Spot (0%nat, 0%nat) (map (fun _ => 0) (select ch []))).
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
  eapply (sweep_keeps spot label same same_eq hash (leap caps) ahead may code code_at (leap_filed caps) number (layer_count y) (target / unit_of target)).
  - exact He.
  - exact Hf.
  - eapply labels_inside; [|exact Hi|rewrite Hl; apply Hs|exact Hc|exact I]. unfold ends_well. destruct plan as [|v plan]; [exact I|].
    unfold may_end. destruct (embedding x) eqn:Ex; [|reflexivity]. cbn [negb orb]. apply existsb_exists. exists v.
    inversion Hi as [|? cs ? b' Hv Hi']; subst. split; [exact Hv|]. specialize (Hj Ex). unfold joint_of, groups_of in Hj.
    destruct (joining y (grp v) (grp (last (v :: plan) v))); [reflexivity|congruence].
  - apply begin_has, same_eq.
  - (* the cost of a plan *)
    rewrite Z.add_0_l. apply Z.div_le_lower_bound; [apply unit_positive|]. etransitivity; [exact Hz|]. clear Hz He.
    apply (cost_of_plan plan b r t s target); auto.
Qed.

(* ---- trees *)
Definition is_empty (cs : list choice) := match cs with [] => true | _ => false end.
Fixpoint restrict (s : nat) (p : choice -> bool) (b : box) : box := match b, s with
  | [], _ => [] | cs :: r, O => filter p cs :: r | cs :: r, S k => cs :: restrict k p r end.
Definition make (m : move) (a : list span * box) := match m with
  | Use r => (fst a, use_round (snd a) r) | ByRanks r => use_ranks (fst a) (snd a) r | Couple => (fst a, couple y (snd a)) end.
Definition after (ms : list move) (a : list span * box) := fold_left (fun a m => if existsb is_empty (snd a) then a else make m a) ms a.
Fixpoint closes (t : tree) (a : list span * box) : bool := match t with
  | Closed ms => existsb is_empty (snd (after ms a))
  | Parts ms r n fewer others => let (spans, b) := after ms a in
      existsb is_empty b || (closes fewer (Fewer r n :: spans, b) && closes others (Least r n :: spans, b))
  | Split ms s p yes no => let (spans, b) := after ms a in
      existsb is_empty b || (closes yes (spans, restrict s p b) && closes no (spans, restrict s (fun v => negb (p v)) b)) end.

Definition open_to plan (a : list span * box) := within_spans y plan (fst a) /\ inside plan (snd a).
Lemma ranks_keep plan spans b r : inside plan b -> is_plan y plan -> below plan -> within_spans y plan spans -> open_to plan (use_ranks spans b r).
Proof.
  intros Hi Hp Hb Hs. assert (O : open_to plan (spans, b)) by (split; assumption). unfold use_ranks. destruct (mix x paths (weights r)) as [[t s]|] eqn:Em; [|exact O].
  destruct (target_of r s) as [target|] eqn:Et; [|exact O]. destruct ((joint t <? 0) || _) eqn:Ejt; [exact O|].
  apply orb_false_iff in Ejt as [Ejt Eemb]. apply Z.ltb_ge in Ejt.
  pose proof (cost_of_plan plan b r t s target Hi Hp Hb Em Et Ejt Eemb) as C. pose proof Hp as (Hl & Hc & _).
  destruct (mixture_bound x paths paths_sound _ _ _ Em) as [Hsh _].
  destruct (costs_plan y (prices r) (joint t) (least_joint (hd [] b)) plan (counts t) [] 0 None None b Hi Hc ltac:(rewrite Hl; exact Hsh) I) as (zs & Lz & Fz & Sz).
  assert (E1 : map fst (combine plan zs) = plan).
  { clear -Lz. revert zs Lz. induction plan as [|v plan IH]; intros [|z zs] L; cbn in *; try discriminate; [reflexivity|]. rewrite IH by congruence. reflexivity. }
  assert (E2 : map snd (combine plan zs) = zs).
  { clear -Lz. revert zs Lz. induction plan as [|v plan IH]; intros [|z zs] L; cbn in *; try discriminate; [reflexivity|]. rewrite IH by congruence. reflexivity. }
  cbn zeta.
  assert (Ln : sum_nat (map (fun p => layers (fst p)) (combine plan zs)) = layer_count y).
  { rewrite <- (chained_sum y plan 0 None Hc), <- (map_map fst layers), E1. clear. unfold sum_nat, held_by. cbn [Nat.add]. induction plan as [|v plan IH]; cbn [map fold_right]; [reflexivity|]. rewrite IH. reflexivity. }
  destruct (marks_have y spans target _ (combine plan zs) Fz ltac:(rewrite E2; cbn in Sz; destruct plan; lia) Ln ltac:(apply plan_fits; rewrite E1; assumption)) as [Mv Mn].
  set (kk := marks y spans target _) in *. split; cbn [fst snd].
  - intros q. specialize (Mn q). specialize (Hs q). cbn [in_spans forallb] in *. rewrite andb_true_r in Mn. parts. split; [|exact Hs].
    unfold tuple in Mn. rewrite layers_of_tuple, combine_length, Lz, Nat.min_id in Mn. unfold layers_at.
    erewrite map_ext; [exact Mn|]. intros s0. cbn beta. rewrite <- (map_nth fst), E1. reflexivity.
  - apply (numbered_inside (fun s v => is_kept kk (key s (id v))) plan b 0 Hi). intros k v Ek. cbn [Nat.add].
    destruct (nth_error (combine plan zs) k) as [p|] eqn:Ep.
    + pose proof (map_nth_error fst _ _ Ep) as Q. rewrite E1, Ek in Q. injection Q as ->. apply (Mv _ _ Ep).
    + exfalso. apply nth_error_None in Ep. rewrite combine_length, Lz, Nat.min_id in Ep. apply nth_error_None in Ep. congruence.
Qed.
Lemma after_keeps plan ms : is_plan y plan -> below plan -> forall a, open_to plan a -> open_to plan (after ms a).
Proof.
  intros Hp Hb. induction ms as [|m ms IH]; intros a H; [exact H|]. cbn [after fold_left]. apply IH.
  match goal with |- context [if ?c then _ else _] => destruct c end; [exact H|]. destruct H as [Hs Hi]. destruct m; [split; [exact Hs|apply round_keeps; auto]|apply ranks_keep; auto|split; [exact Hs|apply couple_keeps; auto]].
Qed.
Lemma no_plan_in_empty plan b : inside plan b -> existsb is_empty b = true -> False.
Proof. unfold inside. induction 1 as [|v cs plan b Hv _ IH]; cbn; [discriminate|]. destruct cs; [destruct Hv|exact IH]. Qed.
Lemma halves_cover p : forall s plan b, inside plan b -> inside plan (restrict s p b) \/ inside plan (restrict s (fun v => negb (p v)) b).
Proof.
  unfold inside. induction s as [|s IH]; intros plan b H; (destruct H as [|v cs plan b Hv H]; [left; constructor|]); cbn [restrict].
  - destruct (p v) eqn:E; [left|right]; (constructor; [|exact H]); apply filter_In; split; auto. rewrite E. reflexivity.
  - destruct (IH _ _ H); [left|right]; constructor; auto.
Qed.
Theorem closes_sound : forall t a plan, closes t a = true -> open_to plan a -> is_plan y plan -> below plan -> False.
Proof.
  intros t a plan Hc Ho Hp Hb. revert a Hc Ho. induction t as [rs|rs r n yes IHy no IHn|rs s p yes IHy no IHn]; intros a Hc Ho; cbn [closes] in Hc;
    pose proof (after_keeps plan rs Hp Hb a Ho) as Ha; destruct (after rs a) as [spans b] eqn:Ea; destruct Ha as [Hs Hi]; cbn [fst snd] in *.
  - eapply no_plan_in_empty; [exact Hi|exact Hc].
  - apply orb_prop in Hc as [Hc|Hc]; [eapply no_plan_in_empty; eauto|].
    apply andb_prop in Hc as [H1 H2]. destruct (Nat.lt_ge_cases (layers_at y plan r) n) as [L|L].
    + apply (IHy _ H1). split; [|exact Hi]. intros q. cbn [fst in_spans forallb]. parts. split; [|apply Hs]. destruct (Nat.eqb_spec r q) as [<-|]; [apply Nat.ltb_lt, L|reflexivity].
    + apply (IHn _ H2). split; [|exact Hi]. intros q. cbn [fst in_spans forallb]. parts. split; [|apply Hs]. destruct (Nat.eqb_spec r q) as [<-|]; [apply Nat.leb_le, L|reflexivity].
  - apply orb_prop in Hc as [Hc|Hc]; [eapply no_plan_in_empty; eauto|].
    apply andb_prop in Hc as [H1 H2]. destruct (halves_cover p s plan _ Hi) as [H|H]; [apply (IHy _ H1)|apply (IHn _ H2)]; split; auto.
Qed.
End OfLayout.
