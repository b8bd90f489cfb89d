(* The referee: accepts a list of choices, paths and a tree of boxes, none of which it trusts, and
   what it accepts is below no plan of the document. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Document Mixture Automaton Boxes Ranks Tree.
Import ListNotations.
Open Scope Z_scope.

(* Where a joint backward is in front of its own stage's sync, and no other pass is: where the one
   is faster, the other may be slower. *)
Definition summed x := negb (splits x) && (negb (several x) || overlapped x).

Section Of.
Variable P : problem.
Let x := shape_of P.

(* ---- the document as the boxes know it *)
Definition message_row c g h o : list Z :=
  flat_map (fun s => map (onward_ns P c g h s) [0%nat; 1%nat; 2%nat]) (seq 0 (slices x)) ++
  flat_map (fun s => map (back_ns P (gradient_compression P o false) c g h s) [0%nat; 1%nat; 2%nat]) (seq 0 (slices x)) ++
  map (back_ns P (gradient_compression P o true) c g h 0%nat) [0%nat; 1%nat; 2%nat].
(* A message's class is counted from 2; 0: nothing is sent, the next stage is on the same rank; 1: nothing
   is sent, it reads a file. *)
Definition cut_key s l : nat := if negb (S s <? stages x)%nat || is_sent x Onward s then S (S (last_cut P l)) else if leaves_rank x s then 1%nat else 0%nat.
Definition crossing_of c g h o : option (list Z) := match c with
  | O => if (g =? h)%nat then Some (repeat 0 (boundary_width x)) else None
  | 1%nat => Some (repeat 0 (boundary_width x))
  | S (S c) => if linked P c g h then Some (message_row c g h o) else None end.

(* ---- the memory of a rank with several stages as resources: at a moment, with the working memory
   of one of its stages, its bytes are a sum over them *)
Record coupling := Coupling { of_rank : nat; holding : list (nat * Z) (* stage, micro-batches *); works : nat (* stage *) }.
Definition within_all (a b : list (nat * Z)) := forallb (fun p => snd (fst p) <=? snd (snd p)) (combine a b).
Fixpoint fullest (l : list (list (nat * Z))) : list (list (nat * Z)) := match l with
  | [] => [] | h :: r => let k := fullest r in if existsb (within_all h) k then k else h :: filter (fun j => negb (within_all j h)) k end.
Definition held_by r now := map (fun s => (s, held_at P s now)) (stages_on P r).
Definition couplings : list coupling := if several x
  then flat_map (fun r => flat_map (fun h => map (Coupling r h) (stages_on P r)) (fullest (map (held_by r) (moments P r)))) (seq 0 (ranks x))
  else [].
Fixpoint held_of s (l : list (nat * Z)) : Z := match l with [] => 0 | (t, n) :: r => if (t =? s)%nat then n else held_of s r end.
Definition largest_limit := most (map memory_limit (groups P)).
Definition bytes_in (c : coupling) s (fixed stash work : Z) g : Z := if (on_rank x s =? of_rank c)%nat
  then fixed + Z.max 0 (held_of s (holding c) * stash) + (if (s =? works c)%nat then work else 0)
    + (if (s =? of_rank c)%nat then constant_bytes (group_at P g) + (largest_limit - memory_limit (group_at P g)) else 0)
  else 0.
Definition rank_row cs s fixed stash work g : list Z := map (fun c => bytes_in c s fixed stash work g) cs.
Definition all_needs cs s l b g bo go m := needs_on P s l g bo go m ++
  match cs with [] => [] | _ => rank_row cs s (fixed_bytes P s l b g bo go m) (stash_bytes P s l m) (working_bytes P s l m) g end.

Definition as_layout (cs : list coupling) : layout := Layout x (total_layers P) crossing_of (embedding_ns P)
  (fun s t => several x && (on_rank x s =? on_rank x t)%nat) (on_rank x)
  (available P ++ map (fun _ => Some largest_limit) cs).
Lemma triples_length (f : nat -> nat -> Z) n : forall a, length (flat_map (fun s => map (f s) [0%nat; 1%nat; 2%nat]) (seq a n)) = (3 * n)%nat.
Proof. induction n; intros a; [reflexivity|]. cbn [seq flat_map map app length]. rewrite IHn. lia. Qed.
Lemma message_row_wide c g h o : length (message_row c g h o) = boundary_width x.
Proof. unfold message_row, boundary_width. rewrite !app_length, !triples_length, map_length. cbn [length]. fold x. lia. Qed.
Lemma crossing_wide cs c g h o t : crossing (as_layout cs) c g h o = Some t -> length t = boundary_width x.
Proof.
  cbn [crossing as_layout]. unfold crossing_of. destruct c as [|[|c]].
  - destruct (g =? h)%nat; [|discriminate]. intros [=<-]. apply repeat_length.
  - intros [=<-]. apply repeat_length.
  - destruct (linked P c g h); [|discriminate]. intros [=<-]. apply message_row_wide.
Qed.

(* ---- a choice stands for a decision that is no faster and needs no less *)
Fixpoint at_most_all (a b : list Z) := match a, b with [], [] => true | u :: a', v :: b' => (u <=? v) && at_most_all a' b' | _, _ => false end.
Definition no_slower (v w : list Z) : bool :=
  let k := slices x in let s := (2 * k + 1)%nat in
  at_most_all (firstn s v) (firstn s w) && at_most_all (skipn (S s) v) (skipn (S s) w)
  && (if summed x then nth k v 0 + nth s v 0 <=? nth k w 0 + nth s w 0 else nth s v 0 <=? nth s w 0)
  && (length v =? own_width x)%nat && (length w =? own_width x)%nat && forallb (Z.leb 0) v.
Definition stands_for (v : choice) s f l g bo (needed times : list Z) : bool :=
  (layers v =? layers_of l)%nat && (grp v =? g)%nat && (cut v =? cut_key s l)%nat && (opt v =? bo)%nat
  && (match first v with None => (earliest v <=? f)%nat | Some i => (i =? f)%nat end)
  && at_most_all (uses v) needed && forallb (Z.leb 0) (uses v)
  && no_slower (own v) times.

(* ---- every decision has a choice *)
Definition page_code (n g bo : nat) := ((n * 128 + g) * 128 + bo)%nat.
Definition pages (vs : list choice) : NM.t (list choice) :=
  fold_right (fun v b => let k := page_code (layers v) (grp v) (opt v) in NM.add k (v :: match NM.find k b with Some l => l | None => [] end) b) (NM.empty _) vs.
Definition page_of (b : NM.t (list choice)) n g bo := match NM.find (page_code n g bo) b with Some l => l | None => [] end.
Lemma page_in vs v n g bo : In v (page_of (pages vs) n g bo) -> In v vs.
Proof.
  unfold page_of. induction vs as [|w vs IH]; cbn [pages fold_right].
  - rewrite NF.empty_o. auto.
  - fold (pages vs). rewrite find_add. destruct (_ =? _)%nat eqn:E; [|right; auto]. apply Nat.eqb_eq in E. intros [H|H]; [left; auto|right]. apply IH. rewrite <- E. exact H.
Qed.
Definition modes_for l : list mode := map Each (offered P) ++ (if offers_first_layers P then map FirstLayers (seq 1 (recomputable_in P l)) else []).
(* What a stage needs alone. *)
Definition in_flight s : Z := most (map (fun j => held_at P s (released P s j)) (seq 0 (batches x))).
Definition bytes flight s l b g bo go m : Z :=
  constant_bytes (group_at P g) + fixed_bytes P s l b g bo go m + working_bytes P s l m + flight * stash_bytes P s l m.
Definition may_fit flight s f l b g bo go m := may_decide P s f l g bo go m && (bytes flight s l b g bo go m <=? memory_limit (group_at P g)).
Definition decided cs flight s f l b (page : list choice) g bo go m :=
  negb (may_fit flight s f l b g bo go m) ||
  let n := all_needs cs s l b g bo go m in let t := own_times P s (in_modes P m l) g go in
  existsb (fun v => stands_for v s f l g bo n t) page.
Definition options_at s : list nat := match s with O => [0%nat] | S b => if is_sent x Back b then seq 0 (length (boundary_options P)) else [0%nat] end.
Definition span_covered cs book flight s f l b : bool :=
  forallb (fun g => forallb (fun bo => let page := page_of book (layers_of l) g bo in
    forallb (fun go => forallb (fun k => let own := laid P k go g l in forallb (decided cs flight s f own b page g bo go) (modes_for own))
      (seq 0 (S (may_shard P l)))) (seq 0 (length (gradient_options P))))
    (options_at s)) (seq 0 (length (groups P))).

(* Where neither choices nor rules say which layers a stage holds, spans of the same layers are as
   one. *)
Definition places_matter s (vs : list choice) :=
  existsb (fun v => match first v with None => (1 <=? earliest v)%nat | Some _ => true end) vs
  || existsb (fun r => concerns s r && match holds r with None => false | Some _ => true end) (rules P).
Fixpoint same_runs (a b : list (nat * nat)) := match a, b with
  | [], [] => true | (r, c) :: a', (q, d) :: b' => (r =? q)%nat && (c =? d)%nat && same_runs a' b' | _, _ => false end.
Definition same_class a b := match a, b with None, None => true | Some i, Some j => (i =? j)%nat | _, _ => false end.
Fixpoint spans_covered cs book flight s matter n (fs : list nat) (seen : option (list (nat * nat) * option nat)) : bool := match fs with
  | [] => true
  | f :: r => let l := held P f n in let b := before P s f in
      match seen with
      | Some (l', b') => if negb matter && same_runs l l' && same_class b b' then spans_covered cs book flight s matter n r seen
          else span_covered cs book flight s f l b && spans_covered cs book flight s matter n r (Some (l, b))
      | None => span_covered cs book flight s f l b && spans_covered cs book flight s matter n r (Some (l, b)) end end.
(* The first stage starts the model, the last one ends it, and every stage holds a layer. *)
Definition latest_end s := (total_layers P - (stages x - 1 - s))%nat.
Definition starts_of s n : list nat := let e := latest_end s in
  if (S s =? stages x)%nat then (if (s <=? e - n)%nat && (negb (s =? 0)%nat || (e - n =? 0)%nat) then [(e - n)%nat] else []) else match s with O => [0%nat] | _ => seq s (S e - n - s) end.
Definition stage_covered cs s (vs : list choice) : bool :=
  let book := pages vs in let flight := in_flight s in let matter := places_matter s vs in
  forallb (fun n => spans_covered cs book flight s matter n (starts_of s n) None) (seq 1 (latest_end s)).
Fixpoint all_covered cs s (vss : list (list choice)) : bool := match vss with [] => true | vs :: r => stage_covered cs s vs && all_covered cs (S s) r end.

Definition read_paths (ps : list (list op)) : list (option path) := map (read_path x) ps.
Definition accept (claim : option Z) (ps : list (list op)) (vss : list (list choice)) (t : tree) : bool :=
  let qs := read_paths ps in let cs := couplings in
  (length vss =? stages x)%nat && (1 <=? batches x)%nat && (1 <=? slices x)%nat && (1 <=? ranks x)%nat && (ranks x <=? stages x)%nat
  && (length (budgets P) =? 4)%nat && all_covered cs 0 vss
  && closes (as_layout cs) (fun i => nth i qs None) claim t ([], vss).

(* ------------------------------------------------------------------ proofs *)
Lemma at_most_all_Forall2 a : forall b, at_most_all a b = true -> Forall2 Z.le a b.
Proof. induction a as [|u a IH]; intros [|v b] H; try discriminate; constructor; cbn in H; apply andb_prop in H as [H1 H2]; [apply Z.leb_le, H1|auto]. Qed.
Lemma Forall2_nth a b i : Forall2 Z.le a b -> nth i a 0 <= nth i b 0.
Proof. intros H. revert i. induction H; destruct i; cbn; auto; lia. Qed.
Lemma layers_cons r c l : layers_of ((r, c) :: l) = (c + layers_of l)%nat. Proof. reflexivity. Qed.
Lemma layers_take : forall l n, (n <= layers_of l)%nat -> layers_of (take n l) = n.
Proof.
  induction l as [|[r c] l IH]; intros n H; [cbn in *; lia|]. rewrite layers_cons in H. cbn [take].
  destruct (Nat.eqb_spec n 0); [subst; reflexivity|]. destruct (Nat.ltb_spec n c); rewrite layers_cons; [cbn; lia|]. rewrite IH; lia.
Qed.
Lemma layers_drop : forall l n, layers_of (drop n l) = (layers_of l - n)%nat.
Proof.
  induction l as [|[r c] l IH]; intros n; [reflexivity|]. cbn [drop]. rewrite layers_cons.
  destruct (Nat.eqb_spec n 0); [subst; rewrite layers_cons; lia|]. destruct (Nat.ltb_spec n c); [rewrite layers_cons; lia|]. rewrite IH. lia.
Qed.
Lemma layers_held f n : (f + n <= total_layers P)%nat -> layers_of (held P f n) = n.
Proof. intros H. unfold held. apply layers_take. rewrite layers_drop. unfold total_layers in H. lia. Qed.
Lemma layers_part r n l : layers_of (part r n l) = (n + layers_of l)%nat.
Proof. destruct n; reflexivity. Qed.
Lemma layers_shard f : forall l k, layers_of (shard P f k l) = layers_of l.
Proof. induction l as [|[r c] l IH]; intros k; [reflexivity|]. cbn [shard]. destruct (recomputable _); rewrite ?layers_part, ?layers_cons, IH; lia. Qed.
Lemma layers_laid k o g l : layers_of (laid P k o g l) = layers_of l.
Proof.
  assert (M : forall a, layers_of (map (fun p => (as_on P (fst p) o g, snd p)) a) = layers_of a) by (induction a as [|[r c] a IH]; [reflexivity|]; cbn [map fst snd]; rewrite !layers_cons, IH; reflexivity).
  unfold laid. rewrite M. destruct (sharded_further P); [apply layers_shard|reflexivity].
Qed.
Lemma layers_held_by d : (from d + count d <= total_layers P)%nat -> layers_of (holds_layers P d) = count d.
Proof. intros H. unfold holds_layers. rewrite layers_laid. apply layers_held, H. Qed.
Lemma same_runs_eq a : forall b, same_runs a b = true -> a = b.
Proof.
  induction a as [|[r c] a IH]; intros [|[q d] b] H; try discriminate; auto. cbn in H. facts in H.
  destruct H as [[-> ->] H]. rewrite (IH b H). reflexivity.
Qed.
Lemma same_class_eq a b : same_class a b = true -> a = b.
Proof. destruct a, b; cbn; try discriminate; auto. rewrite Nat.eqb_eq. congruence. Qed.

Lemma mode_listed l m : mode_fits P l m = true -> In m (modes_for l).
Proof.
  unfold mode_fits, modes_for. intros H. apply in_app_iff. destruct m as [k|n].
  - left. apply in_map. apply existsb_exists in H as (j & Hj & E). apply Nat.eqb_eq in E. subst. exact Hj.
  - right. facts in H. destruct H as [[H1 H2] H3]. rewrite H1. apply in_map, in_seq. lia.
Qed.
Lemma span_covers cs book flight s f l0 k b g bo go m : let l := laid P k go g l0 in span_covered cs book flight s f l0 b = true ->
  (g < length (groups P))%nat -> In bo (options_at s) -> (go < length (gradient_options P))%nat -> (k <= may_shard P l0)%nat ->
  may_fit flight s f l b g bo go m = true ->
  exists v, In v (page_of book (layers_of l0) g bo) /\ stands_for v s f l g bo (all_needs cs s l b g bo go m) (own_times P s (in_modes P m l) g go) = true.
Proof.
  intros l. unfold span_covered. intros H Hg Ib Ho Hk Hm. rewrite forallb_forall in H. specialize (H g ltac:(apply in_seq; lia)).
  rewrite forallb_forall in H.
  specialize (H bo Ib). cbn zeta in H. rewrite forallb_forall in H. specialize (H go ltac:(apply in_seq; lia)).
  rewrite forallb_forall in H. specialize (H k ltac:(apply in_seq; lia)). cbn zeta in H. fold l in H. rewrite forallb_forall in H. assert (Im : In m (modes_for l)).
  { apply mode_listed. unfold may_fit, may_decide in Hm. parts in Hm. tauto. }
  specialize (H m Im). unfold decided in H. rewrite Hm in H. cbn [negb orb] in H. apply existsb_exists in H. exact H.
Qed.

(* What does not depend on where a span lies. *)
Lemma conditions_elsewhere r f f' l g bo go m : holds r = None -> conditions P r f l g bo go m = conditions P r f' l g bo go m.
Proof. intros H. unfold conditions. rewrite H. reflexivity. Qed.
Lemma may_decide_elsewhere s vs f f' l g bo go m : places_matter s vs = false ->
  may_decide P s f l g bo go m = true -> may_decide P s f' l g bo go m = true.
Proof.
  intros Hp H. unfold may_decide in *. rewrite !andb_true_iff in *. destruct H as [H Hr]. split; [exact H|].
  unfold obeys in *. rewrite forallb_forall in *. intros r Ir. specialize (Hr r Ir). unfold places_matter in Hp.
  apply orb_false_iff in Hp as [_ Hp]. destruct (concerns s r) eqn:Ec; [|reflexivity]. cbn [negb orb] in *.
  rewrite (conditions_elsewhere r f' f); [exact Hr|]. destruct (holds r) eqn:Eh; [|reflexivity]. exfalso.
  assert (T : existsb (fun r => concerns s r && match holds r with None => false | Some _ => true end) (rules P) = true); [|congruence].
  apply existsb_exists. exists r. split; [exact Ir|]. rewrite Ec, Eh. reflexivity.
Qed.
Lemma stands_elsewhere v s f f' l g bo n t : first v = None -> earliest v = 0%nat -> stands_for v s f l g bo n t = stands_for v s f' l g bo n t.
Proof. intros H E. unfold stands_for. rewrite H, E. reflexivity. Qed.

Lemma spans_cover cs vs s n flight : let matter := places_matter s vs in forall fs seen,
  spans_covered cs (pages vs) flight s matter n fs seen = true ->
  (match seen with None => True | Some (l, b) => exists f', span_covered cs (pages vs) flight s f' l b = true end) ->
  forall f, In f fs -> exists f', span_covered cs (pages vs) flight s f' (held P f n) (before P s f) = true /\ (f' = f \/ matter = false).
Proof.
  intros matter. induction fs as [|f0 fs IH]; intros seen H Hs f Hf; [destruct Hf|]. cbn [spans_covered] in H.
  assert (G : span_covered cs (pages vs) flight s f0 (held P f0 n) (before P s f0) && spans_covered cs (pages vs) flight s matter n fs (Some (held P f0 n, before P s f0)) = true ->
     exists f', span_covered cs (pages vs) flight s f' (held P f n) (before P s f) = true /\ (f' = f \/ matter = false)).
  { intros G. apply andb_prop in G as [G1 G2]. destruct Hf as [->|Hf]; [exists f; auto|]. apply (IH _ G2); [exists f0; exact G1|exact Hf]. }
  destruct seen as [[l b]|]; [|auto]. destruct (negb matter && same_runs (held P f0 n) l && same_class (before P s f0) b) eqn:E; [|auto].
  parts in E. destruct E as [[E1 E2] E3]. apply negb_true_iff in E1. apply same_runs_eq in E2. apply same_class_eq in E3.
  destruct Hf as [->|Hf]; [|apply (IH _ H Hs _ Hf)]. destruct Hs as (f' & Hs). exists f'. rewrite E2, E3. auto.
Qed.

Definition stands cs s (d : decision) (v : choice) := stands_for v s (from d) (holds_layers P d) (on d) (boundary_option d)
  (all_needs cs s (holds_layers P d) (before P s (from d)) (on d) (boundary_option d) (gradient_option d) (recompute d)) (times P s d) = true.
Definition fits_alone s d : bool := bytes (in_flight s) s (holds_layers P d) (before P s (from d)) (on d) (boundary_option d) (gradient_option d) (recompute d) <=? memory_limit (group_at P (on d)).
Lemma stage_covers cs s vs d : stage_covered cs s vs = true -> decision_ok P s d = true -> fits_alone s d = true -> (s < stages x)%nat -> (s <= from d)%nat -> (s = 0%nat -> from d = 0%nat) ->
  (from d + count d <= latest_end s)%nat -> (S s = stages x -> (from d + count d)%nat = total_layers P) -> exists v, In v vs /\ stands cs s d v.
Proof.
  intros Hc Hd Hfit Hs Hf H0 Hend Hl. unfold decision_ok in Hd. apply andb_prop in Hd as [Hr Hm]. unfold in_range in Hr. facts in Hr.
  destruct Hr as ((((((Hg & Hb) & Ho) & H1) & H2) & H3) & Hk).
  unfold stage_covered in Hc. rewrite forallb_forall in Hc. specialize (Hc (count d) ltac:(apply in_seq; lia)).
  assert (Hin : In (from d) (starts_of s (count d))).
  { unfold starts_of. destruct (Nat.eqb_spec (S s) (stages x)) as [E|E]; [specialize (Hl E); unfold latest_end in *; replace (total_layers P - (stages x - 1 - s) - count d)%nat with (from d) by lia;
      replace (s <=? from d)%nat with true by (symmetry; apply Nat.leb_le; lia);
      replace (negb (s =? 0)%nat || (from d =? 0)%nat) with true by (symmetry; destruct (Nat.eqb_spec s 0) as [E0|]; [rewrite (H0 E0)|]; reflexivity); left; reflexivity|]. destruct s; [left; rewrite (H0 eq_refl); reflexivity|apply in_seq; lia]. }
  destruct (spans_cover cs vs s (count d) (in_flight s) (starts_of s (count d)) None Hc I (from d) Hin) as (f' & Hsp & Hwhere).
  assert (Ib : In (boundary_option d) (options_at s)).
  { unfold options_at. destruct s as [|k]; [left; symmetry; apply Nat.eqb_eq, H1|]. fold x in H1. destruct (is_sent x Back k); [apply in_seq; lia|]. left. symmetry. apply Nat.eqb_eq, H1. }
  assert (Hm' : may_fit (in_flight s) s f' (holds_layers P d) (before P s (from d)) (on d) (boundary_option d) (gradient_option d) (recompute d) = true).
  { unfold may_fit. parts. split; [|exact Hfit]. destruct Hwhere as [->|Hw]; [exact Hm|]. eapply may_decide_elsewhere; eauto. }
  destruct (span_covers _ _ _ _ _ _ _ _ _ _ _ _ Hsp Hg Ib Ho Hk Hm') as (v & Hv & Hst). exists v. pose proof (page_in _ _ _ _ _ Hv) as Hvs. split; [exact Hvs|].
  unfold stands. destruct Hwhere as [E|Hw]; [subst f'; exact Hst|].
  assert (T : first v = None /\ earliest v = 0%nat).
  { unfold places_matter in Hw. apply orb_false_iff in Hw as [Hw _]. destruct (match first v with None => (1 <=? earliest v)%nat | Some _ => true end) eqn:E.
    - exfalso. assert (T : existsb (fun v => match first v with None => (1 <=? earliest v)%nat | Some _ => true end) vs = true); [|congruence]. apply existsb_exists. exists v. auto.
    - destruct (first v); [discriminate|]. apply Nat.leb_gt in E. split; [reflexivity|lia]. }
  rewrite (stands_elsewhere v s (from d) f'); [exact Hst| |]; apply T.
Qed.
End Of.
