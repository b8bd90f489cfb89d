(* What a box's choices must be together on a rank: coupling, and rounds that go rank by rank. *)
Require Import ZArith List Bool Lia SetoidList.
From Plumbline Require Import Schedule Mixture Automaton Boxes.
Import ListNotations.
Open Scope Z_scope.

Definition box := list (list choice).
Definition least_of (l : list (option Z)) : option Z := fold_right (fun a b => match a, b with Some u, Some v => Some (Z.min u v) | Some u, None => Some u | None, b => b end) None l.
Lemma least_of_in l u : In (Some u) l -> exists v, least_of l = Some v /\ v <= u.
Proof.
  induction l as [|a l IH]; intros []; cbn [least_of fold_right]; fold (least_of l).
  - subst. destruct (least_of l); eexists; split; try reflexivity; lia.
  - destruct (IH H) as (v & E & L). rewrite E. destruct a; eexists; split; try reflexivity; lia.
Qed.

Section OfLayout.
Variable y : layout.
Let x := the_shape y.
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
  induction a as [|u a IH]; intros [|l ls] H; cbn [under]; auto. parts. split.
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


(* ---- rank by rank: layers only have to add up *)
(* the least that a choice costs, with the message before it *)
Section OfRound.
Variables prices : list Z.
Variable jc : Z.
Variable least_joint : nat -> Z.
Definition cheap brow (before : option (list choice)) v : option Z := match before with
  | None => Some 0
  | Some ps => least_of (map (fun from => option_map (dot brow) (crossing y (fst from) (snd from) (grp v) (opt v))) (distinct (map left ps))) end.
Definition cost_in brow before mine at_end v : list (choice * Z) := match cheap brow before v with
  | Some z => [(v, z + charge prices jc least_joint mine at_end v)] | None => [] end.
Fixpoint costs (brow : list Z) (m : list (list Z)) (before : option (list choice)) (b : box) : list (list (choice * Z)) := match m, b with
  | row :: m', cs :: b' => flat_map (cost_in brow before (firstn (own_width x) row) (is_nil b')) cs :: costs (skipn (own_width x) row) m' (Some cs) b'
  | _, _ => [] end.
Definition total (l : list Z) := fold_right Z.add 0 l.
Lemma costs_plan : forall plan m brow n prev before b, inside plan b -> chained y n prev plan -> wide (length plan) (row_width x) m ->
  match prev, before with None, None => True | Some u, Some ps => In u ps | _, _ => False end ->
  exists zs, length zs = length plan /\ Forall2 (fun p c => In p c) (combine plan zs) (costs brow m before b)
    /\ total zs <= (match prev, plan with Some u, v :: _ => dot brow (between y u v) | _, _ => 0 end) + dots m (rows y plan) + spent prices plan + at_last jc least_joint plan.
Proof.
  induction plan as [|v plan IH]; intros m brow n prev before b Hi Hc Hm Hp.
  - destruct Hm as [Hm _]. destruct m; [|discriminate]. exists []. cbn. repeat split; [constructor|]. destruct prev; lia.
  - destruct Hm as [Hm Fm]. destruct m as [|row m]; [discriminate|]. inversion_clear Fm as [|? ? Hrow Fm'].
    pose proof Hc as (_ & Ho & _ & Hx & Hc'). inversion Hi as [|? cs ? b' Hin Hi']; subst.
    destruct (IH m (skipn (own_width x) row) (n + layers v)%nat (Some v) (Some cs) b' Hi' Hc' ltac:(split; [cbn in Hm; congruence|exact Fm']) Hin) as (zs & Lz & Fz & Sz).
    assert (N : is_nil plan = is_nil b') by (inversion Hi'; reflexivity).
    assert (C : exists z, cheap brow before v = Some z /\ z <= match prev with Some u => dot brow (between y u v) | None => 0 end).
    { unfold cheap. destruct prev as [u|], before as [ps|]; try contradiction; [|exists 0; split; [reflexivity|lia]].
      unfold between, across in *. destruct (crossing y (cut u) (grp u) (grp v) (opt v)) as [t|] eqn:E; [|congruence].
      destruct (least_of_in (map (fun from => option_map (dot brow) (crossing y (fst from) (snd from) (grp v) (opt v))) (distinct (map left ps))) (dot brow t)) as (z & Z1 & Z2); [|eauto].
      apply in_map_iff. exists (left u). split; [cbn [fst snd left]; rewrite E; reflexivity|apply distinct_in, in_map, Hp]. }
    destruct C as (z & Ez & Lez). exists (z + charge prices jc least_joint (firstn (own_width x) row) (is_nil b') v :: zs).
    split; [cbn; congruence|]. split.
    + cbn [combine costs]. constructor; [|exact Fz]. apply in_flat_map. exists v. split; [exact Hin|]. unfold cost_in. rewrite Ez. left. reflexivity.
    + assert (Drow : dots (row :: m) (rows y (v :: plan)) = dot (firstn (own_width x) row) (own v) + match plan with [] => 0 | w :: _ => dot (skipn (own_width x) row) (between y v w) end + dots m (rows y plan)).
      { cbn [rows dots]. rewrite dot_row by assumption. reflexivity. }
      assert (A : at_last jc least_joint (v :: plan) = (if is_nil plan && negb (jc =? 0) then jc * least_joint (grp v) else 0) + at_last jc least_joint plan) by apply at_last_cons.
      rewrite A, Drow. cbn [total fold_right spent]. fold (total zs) (spent prices plan). unfold charge. rewrite N in *. destruct prev, plan; lia.
Qed.
End OfRound.

(* a rank's choices together: stage, choice, cost *)
Definition pick := (nat * (choice * Z))%type.
Definition stages_of n r := filter (fun s => (rank_at y s =? r)%nat) (seq 0 n).
Fixpoint products (cells : list (list (choice * Z))) (ss : list nat) : list (list pick) := match ss with
  | [] => [[]] | s :: r => let rest := products cells r in flat_map (fun p => map (cons (s, p)) rest) (nth s cells []) end.
Definition cost_sum (t : list pick) := total (map (fun p => snd (snd p)) t).
Definition layer_sum (t : list pick) := fold_right (fun p a => (layers (fst (snd p)) + a)%nat) 0%nat t.
Definition use_sum (t : list pick) := fold_right (fun p a => adds (uses (fst (snd p))) a) [] t.
(* of a rank's layers together: fewer than so many; so many; a number that a round has left *)
Inductive span := Fewer (r n : nat) | Least (r n : nat) | Among (k : kept).
Definition key s i := ((i * 1024 + s) * 2)%nat.
Definition count_key r n := S (key r n).
Definition in_spans (spans : list span) r n := forallb (fun s => match s with
  | Fewer q m => negb (q =? r)%nat || (n <? m)%nat
  | Least q m => negb (q =? r)%nat || (m <=? n)%nat
  | Among k => (n =? 0)%nat || is_kept k (count_key r n) end) spans.
Definition fits_rank spans r (t : list pick) := in_spans spans r (layer_sum t)
  && match t with [] => true | p :: l => forallb (fun q => negb (together y (fst p) (fst q)) || (grp (fst (snd q)) =? grp (fst (snd p)))%nat) l end
  && under (use_sum t) (limits y).
Definition chances spans cells r := filter (fits_rank spans r) (products cells (stages_of (length cells) r)).
(* Where there are too many, stages count one by one, and so the memory of each alone. *)
Definition most_products := (256 * 256)%nat.
Definition many (cells : list (list (choice * Z))) r :=
  (most_products <? fold_right (fun s a => if most_products <? a then a else a * length (nth s cells [])) 1 (stages_of (length cells) r))%nat.
(* the least cost of each number of layers *)
Definition ledger := NM.t Z.
Definition note_cost n z (l : ledger) : ledger := match NM.find n l with Some w => if w <=? z then l else NM.add n z l | None => NM.add n z l end.
Definition costs_at_most (l : ledger) n z := exists w, NM.find n l = Some w /\ w <= z.
Definition ledger_of (ts : list (list pick)) : ledger := fold_right (fun t l => note_cost (layer_sum t) (cost_sum t) l) (NM.empty _) ts.
Definition both (a b : ledger) : ledger := let bs := NM.elements b in
  fold_right (fun p l => fold_right (fun q l => if (fst p + fst q <=? layer_count y)%nat then note_cost (fst p + fst q)%nat (snd p + snd q) l else l) l bs) (NM.empty _) (NM.elements a).
Definition none_yet : ledger := NM.add 0%nat 0 (NM.empty _).
Fixpoint behind_each (ls : list ledger) : list ledger := match ls with
  | [] => [none_yet] | l :: r => let t := behind_each r in both l (hd none_yet t) :: t end.
Fixpoint others (before : ledger) (ls : list ledger) (behind : list ledger) : list ledger := match ls, behind with
  | l :: r, _ :: t => both before (hd none_yet t) :: others (both before l) r t | _, _ => [] end.
Definition mark_one (target : Z) (rest : ledger) r (t : list pick) (k : kept) : kept := match NM.find (layer_count y - layer_sum t)%nat rest with
  | Some z => if (layer_sum t <=? layer_count y)%nat && (cost_sum t + z <=? target) then keep_too (count_key r (layer_sum t)) (fold_right (fun p k => keep_too (key (fst p) (id (fst (snd p)))) k) k t) else k
  | None => k end.
Definition singles cells s : list (list pick) := map (fun p => [(s, p)]) (nth s cells []).
Definition loose cells ss := map (fun s => ledger_of (singles cells s)) ss.
Definition only (f : nat -> bool) (l : ledger) : ledger := fold_right (fun p a => if f (fst p) then note_cost (fst p) (snd p) a else a) (NM.empty _) (NM.elements l).
Definition mark_pick target (rest : ledger) (p : pick) (k : kept) : kept := let n := layers (fst (snd p)) in match NM.find (layer_count y - n)%nat rest with
  | Some z => if (n <=? layer_count y)%nat && (snd (snd p) + z <=? target) then keep_too (key (fst p) (id (fst (snd p)))) k else k | None => k end.
Definition mark_count target (rest : ledger) r (q : nat * Z) (k : kept) : kept := match NM.find (layer_count y - fst q)%nat rest with
  | Some z => if (fst q <=? layer_count y)%nat && (snd q + z <=? target) then keep_too (count_key r (fst q)) k else k | None => k end.
(* a rank, its decisions and what they cost by layers *)
Definition on_rank_of spans cells r : nat * (list (list pick) * ledger) := (r, if many cells r
  then ([], only (in_spans spans r) (hd none_yet (behind_each (loose cells (stages_of (length cells) r)))))
  else let ts := chances spans cells r in (ts, ledger_of ts)).
Definition mark_loose spans target cells (rest own : ledger) r (k : kept) : kept :=
  let ss := stages_of (length cells) r in let ls := loose cells ss in
  let outer := only (fun m => in_spans spans r (layer_count y - m)) rest in
  let k' := fold_right (mark_count target rest r) k (NM.elements own) in
  fold_right (fun q k => fold_right (mark_pick target (fst q)) k (map (pair (fst (snd q))) (snd (snd q)))) k'
    (combine (others outer ls (behind_each ls)) (map (fun s => (s, nth s cells [])) ss)).
Definition mark_rank spans target cells (q : ledger * (nat * (list (list pick) * ledger))) (k : kept) : kept :=
  let '(rest, (r, (ts, own))) := q in
  if many cells r then mark_loose spans target cells rest own r k else fold_right (mark_one target rest r) k ts.
Definition marks spans target (cells : list (list (choice * Z))) : kept :=
  let n := length cells in let rs := seq 0 (S (fold_right Nat.max 0%nat (map (rank_at y) (seq 0 n)))) in
  let us := map (on_rank_of spans cells) rs in let ls := map (fun u => snd (snd u)) us in
  fold_right (mark_rank spans target cells) (NM.empty _) (combine (others none_yet ls (behind_each ls)) us).

Lemma note_costs n z l m w : costs_at_most l m w -> costs_at_most (note_cost n z l) m w.
Proof.
  intros (v & E & L). unfold note_cost. destruct (NM.find n l) as [u|] eqn:En; [destruct (Z.leb_spec u z)|]; unfold costs_at_most; rewrite ?find_add; try (exists v; auto; fail).
  - destruct (Nat.eqb_spec n m) as [->|]; [|exists v; auto]. exists z. split; [reflexivity|]. rewrite E in En. injection En as ->. lia.
  - destruct (Nat.eqb_spec n m) as [->|]; [congruence|exists v; auto].
Qed.
Lemma note_costs_own n z l w : z <= w -> costs_at_most (note_cost n z l) n w.
Proof.
  intros L. unfold note_cost, costs_at_most. destruct (NM.find n l) as [u|] eqn:En; [destruct (Z.leb_spec u z)|]; rewrite ?find_add, ?Nat.eqb_refl; eexists; (split; [eassumption || reflexivity|lia]).
Qed.
Lemma ledger_has ts t : In t ts -> costs_at_most (ledger_of ts) (layer_sum t) (cost_sum t).
Proof.
  induction ts as [|u ts IH]; intros []; cbn [ledger_of fold_right]; fold (ledger_of ts); [subst; apply note_costs_own; lia|]. apply note_costs. auto.
Qed.
Lemma elements_has l n z : costs_at_most l n z -> exists w, In (n, w) (NM.elements l) /\ w <= z.
Proof.
  intros (w & E & L). exists w. split; [|exact L]. assert (M : NM.MapsTo n w l) by (apply NF.find_mapsto_iff; exact E).
  apply NF.elements_mapsto_iff, InA_alt in M as ([k c] & [K C] & I). cbn in K, C. subst. exact I.
Qed.
Lemma both_has a b n z m w : costs_at_most a n z -> costs_at_most b m w -> (n + m <= layer_count y)%nat -> costs_at_most (both a b) (n + m)%nat (z + w).
Proof.
  intros Ha Hb L. destruct (elements_has _ _ _ Ha) as (z' & Ia & La). destruct (elements_has _ _ _ Hb) as (w' & Ib & Lb). unfold both.
  assert (K : forall (p : nat * Z) (l : ledger) qs k v, costs_at_most l k v -> costs_at_most (fold_right (fun q l => if (fst p + fst q <=? layer_count y)%nat then note_cost (fst p + fst q)%nat (snd p + snd q) l else l) l qs) k v).
  { intros p l qs k v H. induction qs as [|q qs IHq]; cbn [fold_right]; [exact H|]. destruct (_ <=? _)%nat; [apply note_costs|]; exact IHq. }
  assert (G : forall (l : ledger) qs, In (m, w') qs -> costs_at_most (fold_right (fun q l => if (fst (n, z') + fst q <=? layer_count y)%nat then note_cost (fst (n, z') + fst q)%nat (snd (n, z') + snd q) l else l) l qs) (n + m)%nat (z + w)).
  { intros l qs. induction qs as [|q qs IHq]; intros []; cbn [fold_right].
    - subst q. cbn [fst snd]. replace (n + m <=? layer_count y)%nat with true by (symmetry; apply Nat.leb_le, L). apply note_costs_own. lia.
    - destruct (_ <=? _)%nat; [apply note_costs|]; auto. }
  revert Ia. generalize (NM.elements a) as ps. induction ps as [|p ps IHp]; intros []; cbn [fold_right]; [subst p; apply G, Ib|apply K; auto].
Qed.
Lemma none_yet_has : costs_at_most none_yet 0%nat 0.
Proof. exists 0. unfold none_yet. rewrite find_add, Nat.eqb_refl. split; [reflexivity|lia]. Qed.

Definition sum_nat (l : list nat) := fold_right Nat.add 0%nat l.
Lemma behind_has : forall ls ns, Forall2 (fun l (p : nat * Z) => costs_at_most l (fst p) (snd p)) ls ns -> (sum_nat (map fst ns) <= layer_count y)%nat ->
  costs_at_most (hd none_yet (behind_each ls)) (sum_nat (map fst ns)) (total (map snd ns)).
Proof.
  induction 1 as [|l p ls ns Hl _ IH]; intros L; cbn [behind_each hd map]; [apply none_yet_has|].
  cbn [map sum_nat fold_right total] in *. apply both_has; [exact Hl|apply IH; unfold sum_nat; lia|exact L].
Qed.
Lemma weaken {A B} (P Q : A -> B -> Prop) l m : (forall a b, P a b -> Q a b) -> Forall2 P l m -> Forall2 Q l m.
Proof. intros H. induction 1; constructor; auto. Qed.
Lemma others_has : forall ls ns before nb zb, Forall2 (fun l (p : nat * Z) => costs_at_most l (fst p) (snd p)) ls ns -> costs_at_most before nb zb -> (nb + sum_nat (map fst ns) <= layer_count y)%nat ->
  Forall2 (fun o (p : nat * Z) => exists k e, costs_at_most o k e /\ (k + fst p = nb + sum_nat (map fst ns))%nat /\ e + snd p = zb + total (map snd ns)) (others before ls (behind_each ls)) ns.
Proof.
  induction ls as [|l ls IH]; intros ns before nb zb H Hb L; inversion H as [|? p ? ns' Hl H']; subst; cbn [behind_each others]; [constructor|].
  cbn [map sum_nat fold_right total] in *. fold (sum_nat (map fst ns')) (total (map snd ns')) in *. constructor.
  - exists (nb + sum_nat (map fst ns'))%nat, (zb + total (map snd ns')). split; [|split; lia]. apply both_has; [exact Hb|apply behind_has; [exact H'|lia]|lia].
  - assert (B : costs_at_most (both before l) (nb + fst p)%nat (zb + snd p)) by (apply both_has; auto; lia).
    specialize (IH ns' (both before l) (nb + fst p)%nat (zb + snd p) H' B ltac:(lia)). eapply weaken; [|exact IH].
    intros o q (k & e & A & E1 & E2). exists k, e. split; [exact A|]. split; lia.
Qed.
Lemma mark_more target rest r ts : forall k c, is_kept k c = true -> is_kept (fold_right (mark_one target rest r) k ts) c = true.
Proof.
  induction ts as [|t ts IH]; intros k c H; cbn [fold_right]; [exact H|]. specialize (IH k c H). unfold mark_one at 1.
  destruct (NM.find _ rest); [|exact IH]. destruct (_ && _); [|exact IH]. apply add_kept. induction t as [|p t IHt]; cbn [fold_right]; [exact IH|apply add_kept, IHt].
Qed.
Lemma mark_has target rest r t ts k n z : In t ts -> costs_at_most rest n z -> (n + layer_sum t = layer_count y)%nat -> cost_sum t + z <= target ->
  let k' := fold_right (mark_one target rest r) k ts in
  is_kept k' (count_key r (layer_sum t)) = true /\ forall p, In p t -> is_kept k' (key (fst p) (id (fst (snd p)))) = true.
Proof.
  intros Ht (w & E & L) Hn Hz. cbn zeta. induction ts as [|u ts IH]; [destruct Ht|]. destruct Ht as [->|Ht]; cbn [fold_right].
  - unfold mark_one at 1 3. replace (layer_count y - layer_sum t)%nat with n by lia. rewrite E.
    replace (layer_sum t <=? layer_count y)%nat with true by (symmetry; apply Nat.leb_le; lia). replace (cost_sum t + w <=? target) with true by (symmetry; apply Z.leb_le; lia).
    cbn [andb]. split; [apply keeps_too|]. intros p Hp. apply add_kept. clear -Hp. generalize (fold_right (mark_one target rest r) k ts). intros k'.
    induction t as [|q t IHt]; [destruct Hp|]. destruct Hp as [->|Hp]; cbn [fold_right]; [apply keeps_too|apply add_kept; auto].
  - destruct (IH Ht) as [A B]. change (fold_right (mark_one target rest r) k (u :: ts)) with (fold_right (mark_one target rest r) (fold_right (mark_one target rest r) k ts) [u]).
    split; [exact (mark_more target rest r [u] _ _ A)|]. intros p Hp. exact (mark_more target rest r [u] _ _ (B p Hp)).
Qed.

(* Marking only adds. *)
Definition adds_marks {B} (f : B -> kept -> kept) := forall b k c, is_kept k c = true -> is_kept (f b k) c = true.
Lemma fold_more {B} (f : B -> kept -> kept) : adds_marks f -> forall l k c, is_kept k c = true -> is_kept (fold_right f k l) c = true.
Proof. intros F l k c H. induction l; cbn [fold_right]; auto. Qed.
Lemma fold_marks {B} (f : B -> kept -> kept) b c : adds_marks f -> (forall k, is_kept (f b k) c = true) -> forall l k, In b l -> is_kept (fold_right f k l) c = true.
Proof. intros F M l k. induction l as [|d l IH]; intros []; cbn [fold_right]; [subst; apply M|apply F; auto]. Qed.
Lemma pick_adds target rest : adds_marks (mark_pick target rest).
Proof. intros p k c H. unfold mark_pick. cbn zeta. destruct (NM.find _ rest); [|exact H]. destruct (_ && _); [apply add_kept|]; exact H. Qed.
Lemma count_adds target rest r : adds_marks (mark_count target rest r).
Proof. intros p k c H. unfold mark_count. destruct (NM.find _ rest); [|exact H]. destruct (_ && _); [apply add_kept|]; exact H. Qed.
Lemma picks_add target : adds_marks (fun (q : ledger * (nat * list (choice * Z))) k => fold_right (mark_pick target (fst q)) k (map (pair (fst (snd q))) (snd (snd q)))).
Proof. intros q k c H. apply fold_more; [apply pick_adds|exact H]. Qed.
Lemma rank_adds spans target cells : adds_marks (mark_rank spans target cells).
Proof.
  intros [rest [r [ts own]]] k c H. cbn [mark_rank]. destruct (many cells r).
  - unfold mark_loose. cbn zeta. apply fold_more; [apply picks_add|]. apply fold_more; [apply count_adds|exact H].
  - apply mark_more, H.
Qed.
Lemma only_has f l n z : costs_at_most l n z -> f n = true -> costs_at_most (only f l) n z.
Proof.
  intros H F. destruct (elements_has _ _ _ H) as (w & I & L). unfold only. revert I. generalize (NM.elements l) as ps.
  induction ps as [|[a c] ps IH]; intros []; cbn [fold_right fst snd].
  - injection H0 as -> ->. rewrite F. apply note_costs_own, L.
  - destruct (f a); [apply note_costs|]; auto.
Qed.

(* ---- a plan's own choices are marked *)
Section Partition.
Variable A : Type.
Variables (add : A -> A -> A) (e : A).
Hypothesis add_comm : forall a b, add a b = add b a.
Hypothesis add_assoc : forall a b c, add a (add b c) = add (add a b) c.
Hypothesis add_none : forall a, add e a = a.
Notation sum_all := (fold_right add e).
Lemma one_more (S : nat -> A) k a : forall n b, (b <= k < b + n)%nat -> sum_all (map (fun r => if (k =? r)%nat then add a (S r) else S r) (seq b n)) = add a (sum_all (map S (seq b n))).
Proof.
  assert (G : forall n b, (k < b)%nat -> sum_all (map (fun r => if (k =? r)%nat then add a (S r) else S r) (seq b n)) = sum_all (map S (seq b n))).
  { induction n as [|n IH]; intros b L; [reflexivity|]. cbn [seq map fold_right]. destruct (Nat.eqb_spec k b); [lia|]. rewrite IH by lia. reflexivity. }
  induction n as [|n IH]; intros b L; [lia|]. cbn [seq map fold_right]. destruct (Nat.eqb_spec k b) as [->|N].
  - rewrite G by lia. symmetry. apply add_assoc.
  - rewrite IH by lia. rewrite !add_assoc, (add_comm (S b) a). reflexivity.
Qed.
Lemma partition (f : nat -> A) (g : nat -> nat) n : forall l, (forall s, In s l -> (g s < n)%nat) ->
  sum_all (map (fun r => sum_all (map f (filter (fun s => g s =? r)%nat l))) (seq 0 n)) = sum_all (map f l).
Proof.
  induction l as [|s l IH]; intros H; cbn [filter map fold_right].
  - clear H. generalize 0%nat. induction n as [|n IH]; intros b; [reflexivity|]. cbn [seq map fold_right]. rewrite IH. apply add_none.
  - rewrite <- IH by (intros t Ht; apply H; right; exact Ht). rewrite <- (one_more (fun r => sum_all (map f (filter (fun s => g s =? r)%nat l))) (g s) (f s) n 0) by (specialize (H s (or_introl eq_refl)); lia).
    f_equal. apply map_ext. intros r. destruct (g s =? r)%nat; reflexivity.
Qed.
End Partition.
Definition nothing_there : choice * Z := (Choice 0 None 0 0 0 0 0 [] [], 0).
Definition tuple (picks : list (choice * Z)) r : list pick := map (fun s => (s, nth s picks nothing_there)) (stages_of (length picks) r).
Lemma stages_below n r s : In s (stages_of n r) -> (s < n)%nat.
Proof. intros H. apply filter_In in H as [H _]. apply in_seq in H. lia. Qed.
Lemma products_have picks cells : Forall2 (fun p c => In p c) picks cells -> forall ss, (forall s, In s ss -> (s < length picks)%nat) ->
  In (map (fun s => (s, nth s picks nothing_there)) ss) (products cells ss).
Proof.
  intros H. induction ss as [|s ss IH]; intros Hs; cbn [map products]; [left; reflexivity|].
  apply in_flat_map. exists (nth s picks nothing_there). split; [|apply in_map, IH; intros t Ht; apply Hs; right; exact Ht].
  specialize (Hs s (or_introl eq_refl)). clear IH ss. revert s Hs. induction H as [|p c ps cs Hp _ IH]; intros [|s] L; cbn in *; try lia; [exact Hp|apply IH; lia].
Qed.
Lemma paired {A B C} (P : A -> B -> Prop) (f : nat -> B) (g : nat -> C) : forall rs os r, Forall2 P os (map f rs) -> In r rs -> exists o, In (o, g r) (combine os (map g rs)) /\ P o (f r).
Proof.
  induction rs as [|q rs IH]; intros os r H []; inversion H as [|o ? os' ? Ho H']; subst; cbn [map combine].
  - exists o. split; [left; reflexivity|exact Ho].
  - destruct (IH os' r H' H0) as (o' & I & Po). exists o'. split; [right; exact I|exact Po].
Qed.
Lemma layers_of_tuple picks ss : layer_sum (map (fun s => (s, nth s picks nothing_there)) ss) = sum_nat (map (fun s => layers (fst (nth s picks nothing_there))) ss).
Proof. induction ss as [|s ss IH]; cbn; [reflexivity|]. unfold layer_sum, sum_nat in IH. rewrite IH. reflexivity. Qed.
Lemma costs_of_tuple picks ss : cost_sum (map (fun s => (s, nth s picks nothing_there)) ss) = total (map (fun s => snd (nth s picks nothing_there)) ss).
Proof. unfold cost_sum. rewrite map_map. reflexivity. Qed.
Lemma as_numbered {A B} (f : A -> B) (l : list A) d : map f l = map (fun s => f (nth s l d)) (seq 0 (length l)).
Proof.
  induction l as [|a l IH]; [reflexivity|]. cbn [length seq map nth]. f_equal. rewrite IH, <- seq_shift, map_map. reflexivity.
Qed.
Lemma in_sum n l : In n l -> (n <= sum_nat l)%nat.
Proof. induction l as [|m l IH]; intros []; unfold sum_nat in *; cbn [fold_right]; [subst; lia|specialize (IH H); lia]. Qed.
Lemma tuple_costs picks cells ss : Forall2 (fun p c => In p c) picks cells -> (forall s, In s ss -> (s < length picks)%nat) ->
  Forall2 (fun l (q : nat * Z) => costs_at_most l (fst q) (snd q)) (loose cells ss) (map (fun s => (layers (fst (nth s picks nothing_there)), snd (nth s picks nothing_there))) ss).
Proof.
  intros H. induction ss as [|s ss IH]; intros Hs; cbn [loose map]; constructor; [|apply IH; intros t Ht; apply Hs; right; exact Ht].
  cbn [fst snd]. assert (I : In [(s, nth s picks nothing_there)] (singles cells s)).
  { unfold singles. apply in_map_iff. exists (nth s picks nothing_there). split; [reflexivity|]. specialize (Hs s (or_introl eq_refl)). clear IH ss. revert s Hs.
    induction H as [|p c ps cs Hp _ IH]; intros [|s] L; cbn in *; try lia; [exact Hp|apply IH; lia]. }
  pose proof (ledger_has _ _ I) as L. cbn in L. rewrite Nat.add_0_r in L. unfold cost_sum in L. cbn in L. rewrite Z.add_0_r in L. exact L.
Qed.
Lemma tuple_sums picks ss : let ns := map (fun s => (layers (fst (nth s picks nothing_there)), snd (nth s picks nothing_there))) ss in
  let t := map (fun s => (s, nth s picks nothing_there)) ss in sum_nat (map fst ns) = layer_sum t /\ total (map snd ns) = cost_sum t.
Proof. cbn zeta. rewrite layers_of_tuple, costs_of_tuple, !map_map. split; reflexivity. Qed.
Lemma rank_costs spans cells picks r : Forall2 (fun p c => In p c) picks cells -> fits_rank spans r (tuple picks r) = true -> (layer_sum (tuple picks r) <= layer_count y)%nat ->
  costs_at_most (snd (snd (on_rank_of spans cells r))) (layer_sum (tuple picks r)) (cost_sum (tuple picks r)).
Proof.
  intros H Hf L. assert (Ln : length cells = length picks) by (clear -H; induction H; cbn; congruence). unfold on_rank_of. destruct (many cells r); cbn [fst snd].
  - assert (S : in_spans spans r (layer_sum (tuple picks r)) = true) by (unfold fits_rank in Hf; parts in Hf; apply Hf).
    apply only_has; [|exact S]. rewrite Ln. pose proof (tuple_costs picks cells (stages_of (length picks) r) H ltac:(intros t; apply stages_below)) as C.
    destruct (tuple_sums picks (stages_of (length picks) r)) as [S1 S2]. unfold tuple in *. rewrite <- S1, <- S2. apply behind_has; [exact C|]. rewrite S1. exact L.
  - apply ledger_has. apply filter_In. split; [|exact Hf]. rewrite Ln. apply products_have; [exact H|]. intros t. apply stages_below.
Qed.
Lemma rank_marked spans target cells picks r o m z : Forall2 (fun p c => In p c) picks cells -> fits_rank spans r (tuple picks r) = true ->
  costs_at_most o m z -> (m + layer_sum (tuple picks r) = layer_count y)%nat -> cost_sum (tuple picks r) + z <= target ->
  (forall k, is_kept (mark_rank spans target cells (o, on_rank_of spans cells r) k) (count_key r (layer_sum (tuple picks r))) = true)
  /\ forall k p, In p (tuple picks r) -> is_kept (mark_rank spans target cells (o, on_rank_of spans cells r) k) (key (fst p) (id (fst (snd p)))) = true.
Proof.
  intros H Hf Ho Hm Hz. assert (Ln : length cells = length picks) by (clear -H; induction H; cbn; congruence).
  pose proof (rank_costs spans cells picks r H Hf ltac:(lia)) as Hc. unfold on_rank_of in *. destruct (many cells r) eqn:M; cbn [fst snd mark_rank] in *; rewrite M.
  - set (own := only _ _) in *. unfold mark_loose. cbn zeta. rewrite Ln. set (ss := stages_of (length picks) r) in *. set (n := layer_sum (tuple picks r)) in *. split.
    + intros k. apply fold_more; [apply picks_add|]. destruct (elements_has _ _ _ Hc) as (w & I & Lw). destruct Ho as (v & E & Lv).
      apply (fold_marks _ (n, w)); [apply count_adds| |exact I]. intros k'. unfold mark_count. cbn [fst snd]. replace (layer_count y - n)%nat with m by lia. rewrite E.
      replace (n <=? layer_count y)%nat with true by (symmetry; apply Nat.leb_le; lia). replace (w + v <=? target) with true by (symmetry; apply Z.leb_le; lia). apply keeps_too.
    + intros k p Hp. unfold tuple in Hp. apply in_map_iff in Hp as (s & <- & Is). cbn [fst snd]. set (f := fun s => (layers (fst (nth s picks nothing_there)), snd (nth s picks nothing_there))).
      pose proof (tuple_costs picks cells ss H ltac:(intros t; apply stages_below)) as C. destruct (tuple_sums picks ss) as [S1 S2]. change (map _ ss) with (tuple picks r) in S1 at 2. change (map (fun s => (s, _)) ss) with (tuple picks r) in S2. fold f in C, S1, S2. fold n in S1.
      assert (A : costs_at_most (only (fun q => in_spans spans r (layer_count y - q)) o) m z).
      { apply only_has; [exact Ho|]. replace (layer_count y - m)%nat with n by lia. unfold fits_rank in Hf. parts in Hf. apply Hf. }
      pose proof (others_has _ _ _ m z C A ltac:(lia)) as Q.
      destruct (paired _ f (fun s => (s, nth s cells [])) ss _ s Q Is) as (o' & Io & j & e & Oj & Ej & Ee). rewrite S1 in Ej. rewrite S2 in Ee. change (fst (f s)) with (layers (fst (nth s picks nothing_there))) in Ej. change (snd (f s)) with (snd (nth s picks nothing_there)) in Ee.
      apply (fold_marks _ (o', (s, nth s cells []))); [apply picks_add| |exact Io]. intros k'. cbn [fst snd].
      assert (Ip : In (nth s picks nothing_there) (nth s cells [])).
      { pose proof (stages_below _ _ _ Is) as L. clear -H L. revert s L. induction H as [|p c ps cs Hp _ IH]; intros [|s] L; cbn in *; try lia; [exact Hp|apply IH; lia]. }
      apply (fold_marks _ (s, nth s picks nothing_there)); [apply pick_adds| |apply in_map, Ip]. intros k''. unfold mark_pick. cbn [fst snd]. destruct Oj as (v & E & Lv).
      replace (layer_count y - layers (fst (nth s picks nothing_there)))%nat with j by lia. rewrite E.
      replace (_ <=? layer_count y)%nat with true by (symmetry; apply Nat.leb_le; lia). replace (_ <=? target) with true by (symmetry; apply Z.leb_le; lia). apply keeps_too.
  - pose proof (products_have picks cells H (stages_of (length picks) r) (fun t => stages_below _ _ t)) as P.
    assert (I : In (tuple picks r) (chances spans cells r)) by (apply filter_In; rewrite Ln; split; [exact P|exact Hf]).
    split; [intros k|intros k p Hp]; destruct (mark_has target o r (tuple picks r) _ k m z I Ho Hm Hz) as [A B]; auto.
Qed.
Lemma marks_have spans target cells picks : Forall2 (fun p c => In p c) picks cells -> total (map snd picks) <= target ->
  sum_nat (map (fun p => layers (fst p)) picks) = layer_count y -> (forall r, fits_rank spans r (tuple picks r) = true) ->
  let k := marks spans target cells in
  (forall s p, nth_error picks s = Some p -> is_kept k (key s (id (fst p))) = true)
  /\ (forall r, in_spans [Among k] r (layer_sum (tuple picks r)) = true).
Proof.
  intros H Hz Hn Hf k. assert (Ln : length cells = length picks) by (clear -H; induction H; cbn; congruence).
  unfold k, marks. cbn zeta. rewrite Ln. set (n := length picks) in *. set (R := S (fold_right Nat.max 0%nat (map (rank_at y) (seq 0 n)))). set (rs := seq 0 R).
  assert (Below : forall t, In t (seq 0 n) -> (rank_at y t < R)%nat).
  { unfold R. clear. induction (seq 0 n) as [|a l IH]; intros t []; cbn [map fold_right]; [subst; lia|]. specialize (IH t H). lia. }
  set (f := fun r => (layer_sum (tuple picks r), cost_sum (tuple picks r))).
  assert (Sn : sum_nat (map fst (map f rs)) = layer_count y).
  { rewrite <- Hn, map_map. unfold f. cbn [fst]. unfold tuple. rewrite (map_ext _ _ (fun r => layers_of_tuple picks (stages_of (length picks) r))).
    unfold sum_nat, stages_of. fold n. rewrite (partition nat Nat.add 0%nat Nat.add_comm Nat.add_assoc Nat.add_0_l _ (rank_at y) R (seq 0 n) Below).
    rewrite (as_numbered (fun p => layers (fst p)) picks nothing_there). reflexivity. }
  assert (Sz : total (map snd (map f rs)) = total (map snd picks)).
  { rewrite map_map. unfold f. cbn [snd]. unfold tuple. rewrite (map_ext _ _ (fun r => costs_of_tuple picks (stages_of (length picks) r))).
    unfold total, stages_of. fold n. rewrite (partition Z Z.add 0 Z.add_comm Z.add_assoc Z.add_0_l _ (rank_at y) R (seq 0 n) Below).
    rewrite (as_numbered snd picks nothing_there). reflexivity. }
  assert (Hl : Forall2 (fun l (q : nat * Z) => costs_at_most l (fst q) (snd q)) (map (fun u => snd (snd u)) (map (on_rank_of spans cells) rs)) (map f rs)).
  { assert (Sm : forall r, In r rs -> (layer_sum (tuple picks r) <= layer_count y)%nat).
    { intros r Ir. rewrite <- Sn. apply in_sum. rewrite map_map. apply in_map_iff. exists r. split; [reflexivity|exact Ir]. }
    revert Sm. generalize rs as l. induction l as [|r l IH]; intros Sm; cbn [map]; constructor; [apply rank_costs; auto; apply Sm; left; reflexivity|].
    apply IH. intros q Iq. apply Sm. right. exact Iq. }
  pose proof (others_has _ _ none_yet 0%nat 0 Hl none_yet_has ltac:(rewrite Sn; lia)) as Ho. rewrite Sn, Sz in Ho.
  match goal with |- context [fold_right ?g ?e ?l] => set (all := fold_right g e l) end.
  assert (G : forall r, In r rs -> is_kept all (count_key r (layer_sum (tuple picks r))) = true /\ forall p, In p (tuple picks r) -> is_kept all (key (fst p) (id (fst (snd p)))) = true).
  { intros r Ir. destruct (paired _ f (on_rank_of spans cells) rs _ r Ho Ir) as (o & Io & m & z & Oz & Ok & Oe). unfold f in Ok, Oe. cbn [fst snd] in Ok, Oe.
    destruct (rank_marked spans target cells picks r o m z H (Hf r) Oz ltac:(lia) ltac:(lia)) as [A B]. unfold all. split.
    - eapply fold_marks; [apply rank_adds|exact A|exact Io].
    - intros p Hp. eapply fold_marks; [apply rank_adds|intros k0; apply (B k0 p Hp)|exact Io]. }
  split.
  - intros s p Hs. assert (Ls : (s < n)%nat) by (apply nth_error_Some; congruence). assert (Is : In s (seq 0 n)) by (apply in_seq; lia).
    assert (Ir : In (rank_at y s) rs) by (apply in_seq; specialize (Below s Is); lia). destruct (G _ Ir) as [_ B]. apply (B (s, p)).
    apply in_map_iff. exists s. split; [rewrite (nth_error_nth picks s nothing_there Hs); reflexivity|]. apply filter_In. split; [exact Is|apply Nat.eqb_refl].
  - intros r. cbn [in_spans forallb]. rewrite andb_true_r. destruct (Nat.lt_ge_cases r R) as [L|L].
    + destruct (G r ltac:(apply in_seq; lia)) as [A _]. rewrite A. apply orb_true_r.
    + replace (tuple picks r) with (@nil pick); [reflexivity|]. unfold tuple. fold n. destruct (stages_of n r) as [|a ss] eqn:E; [reflexivity|]. exfalso.
      assert (Ia : In a (stages_of n r)) by (rewrite E; left; reflexivity). apply filter_In in Ia as [Ia Ea]. apply Nat.eqb_eq in Ea. specialize (Below a Ia). lia.
Qed.

(* ---- a plan's choices fit their ranks *)
Definition layers_at (plan : list choice) r := sum_nat (map (fun s => layers (nth s plan (fst nothing_there))) (stages_of (length plan) r)).
Definition within_spans (plan : list choice) (spans : list span) := forall r, in_spans spans r (layers_at plan r) = true.
Lemma nth_use_sum picks i ss : nth i (use_sum (map (fun s => (s, nth s picks nothing_there)) ss)) 0 = total (map (fun s => nth i (uses (fst (nth s picks nothing_there))) 0) ss).
Proof. induction ss as [|s ss IH]; cbn [map use_sum fold_right total]; [destruct i; reflexivity|]. rewrite nth_adds. unfold use_sum, total in IH. rewrite IH. reflexivity. Qed.
Lemma total_filter (p : nat -> bool) (f : nat -> Z) l : (forall s, In s l -> 0 <= f s) -> total (map f (filter p l)) <= total (map f l).
Proof.
  induction l as [|s l IH]; intros H; [cbn; lia|]. specialize (IH (fun t I => H t (or_intror I))). specialize (H s (or_introl eq_refl)).
  cbn [filter]. unfold total in *. destruct (p s); cbn [map fold_right]; lia.
Qed.
Lemma used_by_total i plan : used_by i plan = total (map (fun v => nth i (uses v) 0) plan).
Proof. induction plan as [|v plan IH]; cbn; [reflexivity|]. unfold used_by, total in IH. rewrite IH. reflexivity. Qed.
Lemma plan_fits picks spans : is_plan y (map fst picks) -> within_spans (map fst picks) spans -> forall r, fits_rank spans r (tuple picks r) = true.
Proof.
  intros (Hl & Hc & Hw & Hj & Hg) Hs r. unfold fits_rank. parts.
  assert (N : forall s, fst (nth s picks nothing_there) = nth s (map fst picks) (fst nothing_there)) by (intros; symmetry; apply map_nth).
  split; [split|].
  - specialize (Hs r). unfold layers_at in Hs. rewrite map_length in Hs. unfold tuple. rewrite layers_of_tuple. erewrite map_ext; [exact Hs|]. intros s. cbn beta. rewrite N. reflexivity.
  - unfold tuple. destruct (stages_of (length picks) r) as [|a ss] eqn:E; cbn [map]; [reflexivity|]. apply forallb_forall. intros q Hq. apply in_map_iff in Hq as (t & <- & Ht). cbn [fst snd].
    destruct (together y a t) eqn:Et; [|reflexivity]. cbn [negb orb]. apply Nat.eqb_eq.
    assert (La : (a < length picks)%nat) by (apply (stages_below _ r); rewrite E; left; reflexivity). assert (Lt : (t < length picks)%nat) by (apply (stages_below _ r); rewrite E; right; exact Ht).
    rewrite !N. apply (Hg a t); [| |exact Et]; apply nth_error_nth'; rewrite map_length; assumption.
  - apply under_nth. intros i l E. etransitivity; [|apply (Hw i l E)]. unfold tuple. rewrite nth_use_sum, used_by_total, map_map.
    rewrite (as_numbered (fun p => nth i (uses (fst p)) 0) picks nothing_there). apply total_filter. intros s Is. apply in_seq in Is.
    assert (Ep : exists p, nth_error picks s = Some p) by (destruct (nth_error picks s) eqn:Ep; [eauto|apply nth_error_None in Ep; lia]). destruct Ep as (p & Ep).
    rewrite (nth_error_nth picks s nothing_there Ep). pose proof (chained_uses _ _ _ Hc s (fst p) (map_nth_error fst _ _ Ep)) as U.
    destruct (nth_in_or_default i (uses (fst p)) 0) as [I| ->]; [|lia]. rewrite Forall_forall in U. apply U, I.
Qed.
End OfLayout.
