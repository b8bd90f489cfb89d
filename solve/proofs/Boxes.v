(* Boxes of choices, rounds that shrink them, and trees of boxes that prove a bound. Of a stage's
   choice only what matters to a mixture is known here; Document.v says what choices there are. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Mixture Automaton.
Import ListNotations.
Open Scope Z_scope.

Record choice := Choice {
  id : nat;            (* by which rounds and splits tell choices apart *)
  first : option nat;  (* layer; None: wherever it is *)
  earliest : nat;      (* from this layer on *)
  layers : nat;
  grp : nat;           (* node group *)
  cut : nat;           (* class of the message after its last layer *)
  opt : nat;           (* compression of the gradient that it sends *)
  own : list Z;        (* durations *)
  uses : list Z        (* of each resource *) }.

Record layout := Layout {
  the_shape : shape;
  layer_count : nat;
  crossing : nat -> nat -> nat -> nat -> option (list Z);  (* cut, group, next group and its opt: durations; None: no link *)
  joining : nat -> nat -> option Z;                        (* first and last group: the embedding's sync *)
  together : nat -> nat -> bool;                           (* whether two stages are on one group *)
  rank_at : nat -> nat;                                    (* of a stage *)
  limits : list (option Z)                                 (* of each resource *) }.

Section OfLayout.
Variable y : layout.
Let x := the_shape y.
Hypothesis crossing_wide : forall c g h o t, crossing y c g h o = Some t -> length t = boundary_width x.

(* ---- plans *)
Definition starts n v := match first v with None => Nat.leb (earliest v) n | Some f => Nat.eqb f n end.
Definition across v w := crossing y (cut v) (grp v) (grp w) (opt w).
Definition between v w := match across v w with Some t => t | None => repeat 0 (boundary_width x) end.
Fixpoint chained (n : nat) (prev : option choice) (plan : list choice) : Prop := match plan with
  | [] => n = layer_count y
  | v :: r => starts n v = true /\ length (own v) = own_width x /\ Forall (Z.le 0) (uses v)
      /\ match prev with Some u => across u v <> None | None => True end /\ chained (n + layers v)%nat (Some v) r end.
Definition row_after v (r : list choice) := own v ++ match r with [] => repeat 0 (boundary_width x) | w :: _ => between v w end.
Fixpoint rows (plan : list choice) : list (list Z) := match plan with [] => [] | v :: r => row_after v r :: rows r end.
Definition groups_of (plan : list choice) := match plan with [] => None | v :: _ => Some (grp v, grp (last plan v)) end.
Definition joint_of (plan : list choice) := match groups_of plan with Some (a, b) => joining y a b | None => None end.
Definition joint_time plan := match joint_of plan with Some e => e | None => 0 end.
Definition used_by r (plan : list choice) := fold_right (fun v a => nth r (uses v) 0 + a) 0 plan.
Definition within_limits (plan : list choice) := forall r l, nth_error (limits y) r = Some (Some l) -> used_by r plan <= l.
Definition is_plan plan := length plan = stages x /\ chained 0 None plan /\ within_limits plan
  /\ (embedding x = true -> joint_of plan <> None)
  /\ (forall s t v w, nth_error plan s = Some v -> nth_error plan t = Some w -> together y s t = true -> grp w = grp v).

Lemma row_length v r : length (own v) = own_width x -> length (row_after v r) = row_width x.
Proof.
  intros H. unfold row_after, row_width. rewrite app_length, H. destruct r as [|w r]; [rewrite repeat_length; reflexivity|].
  unfold between. destruct (across v w) eqn:E; [|rewrite repeat_length; reflexivity]. rewrite (crossing_wide _ _ _ _ _ E). reflexivity.
Qed.
Lemma rows_wide : forall plan n prev, chained n prev plan -> wide (length plan) (row_width x) (rows plan).
Proof.
  induction plan as [|v plan IH]; intros n prev H; [split; [reflexivity|constructor]|]. destruct H as (_ & Ho & _ & _ & H).
  destruct (IH _ _ H) as [A B]. split; cbn [rows length]; [congruence|constructor; auto using row_length].
Qed.

(* ---- the automaton: from a boundary to a stage and from a stage to a boundary; its places are the
   layers before *)
Record spot := Spot { side : nat * nat; used : list Z }.
Inductive label := Take (v : choice) (cost : Z) (counted : list Z) (least most : nat) | Cross (from to : nat * nat) (cost : Z).
Definition same_side (a b : nat * nat) := Nat.eqb (fst a) (fst b) && Nat.eqb (snd a) (snd b).
Lemma same_side_eq a b : same_side a b = true <-> a = b.
Proof. destruct a, b. unfold same_side. cbn. rewrite andb_true_iff, !Nat.eqb_eq. split; [intros []; subst; auto|intros [=]; auto]. Qed.
Fixpoint same_list (a b : list Z) := match a, b with [], [] => true | x :: a', y :: b' => (x =? y) && same_list a' b' | _, _ => false end.
Lemma same_list_eq a : forall b, same_list a b = true <-> a = b.
Proof.
  induction a as [|p a IH]; intros [|q b]; cbn; split; try congruence; rewrite andb_true_iff, Z.eqb_eq, IH; [intros []; congruence|intros [=]; auto].
Qed.
Definition same p q := same_side (side p) (side q) && same_list (used p) (used q).
Lemma same_eq p q : same p q = true <-> p = q.
Proof.
  destruct p, q. unfold same. cbn. rewrite andb_true_iff, same_side_eq, same_list_eq. split; [intros []; subst; auto|intros [=]; auto].
Qed.
Definition wide_side := (64 * 2)%nat.
Definition wide_uses := (64 * 64 * 4)%nat.
Definition of_side (s : nat * nat) := (fst s * wide_side + snd s)%nat.
Definition eight a := let b := a + a in let c := b + b in c + c.
Definition low_bits := 16383. (* by itself, computed once *)
Definition of_used (us : list Z) := Z.to_nat (Z.land (fold_left (fun a u => eight a + u) us 0) low_bits).
Definition hash q := match used q with [] => of_side (side q) | us => (of_side (side q) * wide_uses + of_used us)%nat end.
Definition code c := match c with Take v _ _ _ _ => of_side (grp v, opt v) | Cross from _ _ => of_side from end.
Definition code_at q := of_side (side q).
Definition number c := match c with Take v _ _ _ _ => id v | Cross _ _ _ => 0%nat end.

Variable caps : list Z. (* limits of what is counted *)
Fixpoint fits (a b : list Z) := match a, b with u :: a', c :: b' => (u <=? c) && fits a' b' | _, _ => true end.
Definition leap (c : label) (q : spot) : option (spot * Z) := match c with
  | Take v cost counted _ _ => if same_side (side q) (grp v, opt v)
      then let us := sums counted (used q) in if fits us caps then Some (Spot (cut v, grp v) us, cost) else None else None
  | Cross from to cost => if same_side (side q) from then Some (Spot to (used q), cost) else None end.
Definition ahead c := match c with Take v _ _ _ _ => layers v | Cross _ _ _ => 0%nat end.
Definition may c n := match c with
  | Take v _ _ least most => starts n v && (least <=? n + layers v)%nat && (n + layers v <=? most)%nat | Cross _ _ _ => true end.
Lemma leap_filed c q r : leap c q = Some r -> code c = code_at q.
Proof.
  destruct c as [v cost us lo hi|from to cost]; cbn [leap code]; (destruct (same_side _ _) eqn:E; [|discriminate]);
    apply same_side_eq in E; unfold code_at; rewrite E; reflexivity.
Qed.

(* ---- the links of a box *)
Fixpoint distinct (l : list (nat * nat)) : list (nat * nat) := match l with
  | [] => [] | a :: r => let d := distinct r in if existsb (same_side a) d then d else a :: d end.
Lemma distinct_in a l : In a l -> In a (distinct l).
Proof.
  induction l as [|b l IH]; intros []; cbn [distinct].
  - subst. destruct (existsb (same_side a) (distinct l)) eqn:E; [|left; auto]. apply existsb_exists in E as (c & H & F).
    apply same_side_eq in F. subst. exact H.
  - destruct (existsb _ _); [|right]; auto.
Qed.
Definition right v := (grp v, opt v).
Definition left v := (cut v, grp v).

Fixpoint select (chosen : list bool) (us : list Z) : list Z := match chosen with
  | [] => [] | b :: r => if b then hd 0 us :: select r (tl us) else select r (tl us) end.

Section OfRound.
Variable chosen : list bool.
Variable prices : list Z.
Variable jc : Z.                      (* weight of the embedding's sync *)
Variable least_joint : nat -> Z.      (* of a last group *)
Variable ends : choice -> bool.       (* whether a choice may be the last stage's *)
Variable unit : Z.                    (* costs are whole numbers of it, rounded down *)
Hypothesis unit_positive : 0 < unit.

Definition crosses (brow : list Z) (before : option (list choice)) (cs : list choice) : list label :=
  let tos := distinct (map right cs) in
  match before with
  | None => map (fun to => Cross (0%nat, 0%nat) to 0) tos
  | Some ps => flat_map (fun from => flat_map (fun to =>
      match crossing y (fst from) (snd from) (fst to) (snd to) with Some t => [Cross from to (dot brow t / unit)] | None => [] end) tos) (distinct (map left ps)) end.
Definition charge (mine : list Z) (at_end : bool) v := dot mine (own v) + dot prices (uses v) + (if at_end && negb (jc =? 0) then jc * least_joint (grp v) else 0).
Definition taking least most mine at_end v := Take v (charge mine at_end v / unit) (select chosen (uses v)) least most.
(* how many layers the stages after hold at least, and at most *)
Definition fewest (cs : list choice) := fold_right (fun v a => Nat.min (layers v) a) (layer_count y) cs.
Definition greatest (cs : list choice) := fold_right (fun v a => Nat.max (layers v) a) 0%nat cs.
Definition rest_fewest (b : list (list choice)) := fold_right (fun cs a => (fewest cs + a)%nat) 0%nat b.
Definition rest_greatest (b : list (list choice)) := fold_right (fun cs a => (greatest cs + a)%nat) 0%nat b.
Definition taking_of (rest : list (list choice)) mine at_end := taking (layer_count y - rest_greatest rest) (layer_count y - rest_fewest rest) mine at_end.
Definition is_nil {A} (l : list A) := match l with [] => true | _ => false end.
Fixpoint links (brow : list Z) (m : list (list Z)) (before : option (list choice)) (box : list (list choice)) : list (list label) := match m, box with
  | row :: m', cs :: box' => let mine := firstn (own_width x) row in
      crosses brow before cs :: map (taking_of box' mine (is_nil box')) (if is_nil box' then filter ends cs else cs) :: links (skipn (own_width x) row) m' (Some cs) box'
  | _, _ => [] end.
(* the labels of a plan *)
Fixpoint labels (brow : list Z) (m : list (list Z)) (prev : option choice) (plan : list choice) (box : list (list choice)) : list label := match m, plan with
  | row :: m', v :: r =>
      (match prev with None => Cross (0%nat, 0%nat) (right v) 0 | Some u => Cross (left u) (right v) (dot brow (between u v) / unit) end)
      :: taking_of (tl box) (firstn (own_width x) row) (is_nil r) v :: labels (skipn (own_width x) row) m' (Some v) r (tl box)
  | _, _ => [] end.

Definition inside (plan : list choice) (box : list (list choice)) := Forall2 (fun v cs => In v cs) plan box.
Lemma last_same (l : list choice) a b : l <> [] -> last l b = last l a.
Proof. induction l as [|c l IH]; [congruence|]. intros _. destruct l; [reflexivity|]. apply IH. discriminate. Qed.
Definition ends_well (plan : list choice) := match plan with [] => True | v :: _ => ends (last plan v) = true end.
Lemma labels_inside : forall plan box m brow prev before n, ends_well plan -> inside plan box -> length m = length plan -> chained n prev plan ->
  match prev, before with None, None => True | Some u, Some ps => In u ps | _, _ => False end ->
  Forall2 (fun c ls => In c ls) (labels brow m prev plan box) (links brow m before box).
Proof.
  induction plan as [|v plan IH]; intros box m brow prev before n He Hi Hm Hc Hp; destruct m as [|row m]; try discriminate; inversion Hi as [|? cs ? box' Hv Hi']; subst; [constructor|].
  cbn [labels links tl]. destruct Hc as (_ & _ & _ & Hx & Hc). assert (R : In (right v) (distinct (map right cs))) by (apply distinct_in, in_map, Hv).
  assert (N : is_nil plan = is_nil box') by (inversion Hi'; reflexivity). rewrite N. constructor; [|constructor].
  - unfold crosses. destruct prev as [u|], before as [ps|]; try contradiction.
    + apply in_flat_map. exists (left u). split; [apply distinct_in, in_map, Hp|]. apply in_flat_map. exists (right v). split; [exact R|].
      cbn [fst snd left right]. unfold between, across in *. destruct (crossing y (cut u) (grp u) (grp v) (opt v)); [left; reflexivity|congruence].
    + apply in_map_iff. eauto.
  - apply in_map. rewrite <- N. destruct plan as [|w plan]; cbn [is_nil]; [apply filter_In; split; [exact Hv|exact He]|exact Hv].
  - apply (IH box' m _ (Some v) (Some cs) (n + layers v)%nat); auto. destruct plan as [|w plan]; [exact I|]. unfold ends_well in *. rewrite <- last_same with (b := v) by discriminate. exact He.
Qed.

Definition spent (plan : list choice) := fold_right (fun v a => dot prices (uses v) + a) 0 plan.
Lemma dot_app a : forall b c d, length a = length c -> dot (a ++ b) (c ++ d) = dot a c + dot b d.
Proof. induction a; destruct c; simpl; intros; try discriminate; auto. rewrite IHa by lia. lia. Qed.
Lemma dot_row row v r : length row = row_width x -> length (own v) = own_width x ->
  dot row (row_after v r) = dot (firstn (own_width x) row) (own v) + match r with [] => 0 | w :: _ => dot (skipn (own_width x) row) (between v w) end.
Proof.
  intros Hr Ho. unfold row_after. rewrite <- (firstn_skipn (own_width x) row) at 1. rewrite dot_app.
  - f_equal. destruct r; [|reflexivity]. generalize (skipn (own_width x) row) as l, (boundary_width x) as k.
    induction l as [|a l IH]; destruct k; simpl; auto. rewrite IH. lia.
  - rewrite firstn_length. rewrite Ho. unfold row_width in Hr. lia.
Qed.
Lemma nth_plus w a : forall b i, length a = length b -> nth i (plus w a b) 0 = w * nth i a 0 + nth i b 0.
Proof. induction a as [|p a IH]; intros [|q b] [|i] H; cbn in *; try lia. apply IH. lia. Qed.
Lemma fits_nth a : forall b, (forall i, (i < length a)%nat -> (i < length b)%nat -> nth i a 0 <= nth i b 0) -> fits a b = true.
Proof.
  induction a as [|p a IH]; intros [|q b] H; cbn; auto. facts. split.
  - apply (H 0%nat); cbn; lia.
  - apply IH. intros i H1 H2. apply (H (S i)); cbn; lia.
Qed.
Lemma select_length us : forall ch, length (select ch us) = length (select ch []).
Proof. intros ch. revert us. induction ch as [|[] ch IH]; intros us; cbn; [reflexivity|f_equal; apply IH|apply IH]. Qed.
Definition still i (plan : list choice) := fold_right (fun v a => nth i (select chosen (uses v)) 0 + a) 0 plan.
Lemma select_nonneg us : Forall (Z.le 0) us -> forall ch i, 0 <= nth i (select ch us) 0.
Proof.
  intros H ch. revert us H. induction ch as [|b ch IH]; intros us H i; [destruct i; reflexivity|].
  assert (G : Forall (Z.le 0) (tl us)) by (destruct H; [constructor|assumption]).
  cbn [select]. destruct b; [|apply IH, G]. destruct i; cbn [nth]; [destruct H; cbn; lia|apply IH, G].
Qed.
Lemma still_nonneg i : forall plan n prev, chained n prev plan -> 0 <= still i plan.
Proof.
  induction plan as [|v plan IH]; intros n prev H; [cbn; lia|]. destruct H as (_ & _ & Hu & _ & H). specialize (IH _ _ H).
  cbn [still fold_right]. fold (still i plan). pose proof (select_nonneg _ Hu chosen i). lia.
Qed.

Definition held_by (plan : list choice) := fold_right (fun v a => (layers v + a)%nat) 0%nat plan.
Lemma chained_sum : forall plan n prev, chained n prev plan -> (n + held_by plan = layer_count y)%nat.
Proof.
  induction plan as [|v plan IH]; intros n prev H; [cbn in *; lia|]. destruct H as (_ & _ & _ & _ & H). apply IH in H.
  cbn [held_by fold_right]. fold (held_by plan). lia.
Qed.
Lemma rest_bounds plan box : inside plan box -> (rest_fewest box <= held_by plan <= rest_greatest box)%nat.
Proof.
  unfold inside. induction 1 as [|v cs plan box Hv _ IH]; [cbn; lia|]. cbn [rest_fewest rest_greatest held_by fold_right].
  fold (rest_fewest box) (rest_greatest box) (held_by plan).
  assert (G : (fewest cs <= layers v <= greatest cs)%nat); [|lia]. clear -Hv. induction cs as [|w cs IH]; [destruct Hv|].
  cbn [fewest greatest fold_right]. fold (fewest cs) (greatest cs). destruct Hv as [->|Hv]; [lia|]. specialize (IH Hv). lia.
Qed.
Definition at_last (plan : list choice) := match plan with [] => 0 | v :: _ => if jc =? 0 then 0 else jc * least_joint (grp (last plan v)) end.
Lemma at_last_cons v plan : at_last (v :: plan) = (if is_nil plan && negb (jc =? 0) then jc * least_joint (grp v) else 0) + at_last plan.
Proof.
  unfold at_last. destruct plan as [|w plan]; [cbn; destruct (jc =? 0); cbn; lia|].
  change (last (v :: w :: plan) v) with (last (w :: plan) v). rewrite (last_same (w :: plan) w v) by discriminate. cbn [is_nil andb]. destruct (jc =? 0); lia.
Qed.
Lemma run_plan : forall plan m brow n prev us box, inside plan box -> chained n prev plan -> wide (length plan) (row_width x) m -> length us = length (select chosen []) ->
  (forall i, (i < length us)%nat -> (i < length caps)%nat -> nth i us 0 + still i plan <= nth i caps 0) ->
  exists e z, run spot label leap ahead may (Spot (match prev with None => (0%nat, 0%nat) | Some u => left u end) us, n) (labels brow m prev plan box) = Some (e, z)
    /\ unit * z <= (match prev, plan with Some u, v :: _ => dot brow (between u v) | _, _ => 0 end) + dots m (rows plan) + spent plan + at_last plan /\ snd e = layer_count y.
Proof.
  induction plan as [|v plan IH]; intros m brow n prev us box Hi Hc Hm Hl Hu.
  - destruct Hm as [Hm _]. destruct m; [|discriminate]. cbn. eexists _, 0. split; [reflexivity|]. split; [destruct prev; lia|].
    exact Hc.
  - destruct Hm as [Hm Fm]. destruct m as [|row m]; [discriminate|]. inversion_clear Fm as [|? ? Hrow Fm'].
    pose proof Hc as (Hs & Ho & Hp & _ & Hc'). inversion Hi as [|? cs ? box' Hin Hi']; subst. cbn [labels tl]. set (us' := sums (select chosen (uses v)) us).
    assert (Lus : length (select chosen (uses v)) = length us) by (rewrite Hl; apply select_length).
    assert (Lu : length us' = length (select chosen [])) by (unfold us'; rewrite sums_plus, plus_length; exact Hl).
    assert (Hu' : forall i, (i < length us')%nat -> (i < length caps)%nat -> nth i us' 0 + still i plan <= nth i caps 0).
    { intros i H1 H2. unfold us' in *. rewrite sums_plus in *. rewrite plus_length in H1. rewrite nth_plus by exact Lus. specialize (Hu i H1 H2).
      cbn [still fold_right] in Hu. fold (still i plan) in Hu. lia. }
    destruct (IH m (skipn (own_width x) row) (n + layers v)%nat (Some v) us' box' Hi' Hc' ltac:(split; [cbn in Hm; congruence|exact Fm']) Lu Hu') as (e & z & He & Hz & Hf).
    exists e.
    assert (T : step spot label leap ahead may (taking_of box' (firstn (own_width x) row) (is_nil plan) v) (Spot (right v) us, n) = Some ((Spot (left v) us', n + layers v)%nat, charge (firstn (own_width x) row) (is_nil plan) v / unit)).
    { unfold taking_of, taking, step. cbn [may leap ahead fst snd side used]. assert (E : same_side (right v) (grp v, opt v) = true) by (apply same_side_eq; reflexivity). rewrite E, Hs. cbn [andb].
      fold us'. assert (F : fits us' caps = true). { apply fits_nth. intros i H1 H2. specialize (Hu' i H1 H2). pose proof (still_nonneg i _ _ _ Hc'). lia. }
      rewrite F. pose proof (chained_sum _ _ _ Hc') as Hsum. pose proof (rest_bounds _ _ Hi') as Hrest.
      replace (layer_count y - rest_greatest box' <=? n + layers v)%nat with true by (symmetry; apply Nat.leb_le; lia).
      replace (n + layers v <=? layer_count y - rest_fewest box')%nat with true by (symmetry; apply Nat.leb_le; lia). reflexivity. }
    assert (C : forall s to cost, step spot label leap ahead may (Cross s to cost) (Spot s us, n) = Some ((Spot to us, n), cost)).
    { intros. unfold step. cbn [may leap ahead fst snd side used]. assert (E : same_side s s = true) by (apply same_side_eq; reflexivity). rewrite E, Nat.add_0_r. reflexivity. }
    pose proof (at_last_cons v plan) as A.
    assert (Drow : dots (row :: m) (rows (v :: plan)) = dot (firstn (own_width x) row) (own v) + match plan with [] => 0 | w :: _ => dot (skipn (own_width x) row) (between v w) end + dots m (rows plan)).
    { cbn [rows dots]. rewrite dot_row by assumption. reflexivity. }
    rewrite A, Drow. cbn [spent fold_right]. fold (spent plan). cbn [run].
    assert (D : forall a, unit * (a / unit) <= a) by (intros; apply Z.mul_div_le, unit_positive).
    pose proof (D (charge (firstn (own_width x) row) (is_nil plan) v)) as D1. unfold charge in D1 at 2.
    destruct prev as [u|]; rewrite C, T; cbn [left] in *; rewrite He.
    + exists (dot brow (between u v) / unit + (charge (firstn (own_width x) row) (is_nil plan) v / unit + z)). split; [reflexivity|]. split; [|exact Hf].
      pose proof (D (dot brow (between u v))). rewrite !Z.mul_add_distr_l. destruct plan; lia.
    + exists (0 + (charge (firstn (own_width x) row) (is_nil plan) v / unit + z)). split; [reflexivity|]. split; [|exact Hf].
      rewrite !Z.mul_add_distr_l. destruct plan; lia.
Qed.
End OfRound.
End OfLayout.
