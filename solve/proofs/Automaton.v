(* The dynamic programme, over any automaton: links one after another, each with labels, each label
   a step from state to state at a cost. What is kept of the labels contains every label of every
   run that costs at most the target. Tables and books are hash tables: nothing depends on a hash
   telling two keys apart. *)
Require Import ZArith List Bool Lia FMapAVL FMapFacts OrderedTypeEx.
Import ListNotations.
Open Scope Z_scope.
Module NM := FMapAVL.Make(Nat_as_OT).
Module NF := FMapFacts.WFacts_fun(Nat_as_OT)(NM).

Lemma find_add {A} (t : NM.t A) h k b : NM.find k (NM.add h b t) = if Nat.eqb h k then Some b else NM.find k t.
Proof.
  destruct (Nat.eqb_spec h k) as [E|E]; [apply NF.add_eq_o|apply NF.add_neq_o]; auto.
Qed.

Section Automaton.
Variables State Label : Type.
Variable same : State -> State -> bool.
Hypothesis same_eq : forall a b, same a b = true <-> a = b.
Variable hash : State -> nat.
Variable step : Label -> State -> option (State * Z).
Variable code : Label -> nat.            (* where a label is filed *)
Variable codes : State -> list nat.      (* where a state looks for its labels *)
Hypothesis filed : forall c q r, step c q = Some r -> In (code c) (codes q).
Variable number : Label -> nat.          (* by which labels are kept *)
Variable final : State -> bool.
Variable target : Z.

(* ---- books: labels by code *)
Definition book := NM.t (list Label).
Definition page (b : book) k := match NM.find k b with Some l => l | None => [] end.
Definition file (ls : list Label) : book := fold_right (fun c b => NM.add (code c) (c :: page b (code c)) b) (NM.empty _) ls.
Lemma filed_in ls c : In c ls -> In c (page (file ls) (code c)).
Proof.
  induction ls as [|d ls IH]; intros []; cbn [file fold_right]; fold (file ls); unfold page; rewrite find_add.
  - subst. rewrite Nat.eqb_refl. left; auto.
  - specialize (IH H). destruct (Nat.eqb_spec (code d) (code c)) as [E|E]; [|exact IH]. rewrite E. right. exact IH.
Qed.
Definition offers (b : book) q := flat_map (page b) (codes q).
Lemma offer_in ls c q r : In c ls -> step c q = Some r -> In c (offers (file ls) q).
Proof. intros H E. apply in_flat_map. exists (code c). split; [eapply filed; eauto|apply filed_in, H]. Qed.

(* ---- tables: the least value of each state *)
Definition bucket := list (State * Z).
Fixpoint seek (q : State) (b : bucket) : option Z := match b with [] => None | (p, w) :: r => if same p q then Some w else seek q r end.
Fixpoint put (q : State) (w : Z) (b : bucket) : bucket := match b with
  | [] => [(q, w)] | (p, v) :: r => if same p q then (p, Z.min v w) :: r else (p, v) :: put q w r end.
Definition table := NM.t bucket.
Definition bucket_at (t : table) h := match NM.find h t with Some b => b | None => [] end.
Definition get (t : table) q := seek q (bucket_at t (hash q)).
Definition no_more (there : option Z) w := match there with Some v => v <=? w | None => false end.
Definition lower q w (t : table) : table := let h := hash q in let b := bucket_at t h in
  if no_more (seek q b) w then t else NM.add h (put q w b) t.
Definition cells (t : table) : list (State * Z) := flat_map snd (NM.elements t).
Definition has t q w := exists v, get t q = Some v /\ v <= w.

Lemma same_refl q : same q q = true. Proof. apply same_eq. reflexivity. Qed.
Lemma seek_put q w b p : seek p (put q w b) = if same q p then Some (match seek p b with Some v => Z.min v w | None => w end) else seek p b.
Proof.
  induction b as [|[r v] b IH]; cbn [put seek]; [destruct (same q p); reflexivity|].
  destruct (same r q) eqn:E; cbn [seek].
  - apply same_eq in E. subst r. destruct (same q p); reflexivity.
  - destruct (same r p) eqn:F; [|exact IH]. apply same_eq in F. subst r. destruct (same q p) eqn:G; [|reflexivity].
    apply same_eq in G. subst q. rewrite same_refl in E. discriminate.
Qed.
Lemma get_lower q w t p : get (lower q w t) p = if same q p then Some (match get t p with Some v => Z.min v w | None => w end) else get t p.
Proof.
  assert (G : seek p (bucket_at (NM.add (hash q) (put q w (bucket_at t (hash q))) t) (hash p)) =
    if same q p then Some (match get t p with Some v => Z.min v w | None => w end) else get t p).
  { unfold get, bucket_at at 1. rewrite find_add. destruct (Nat.eqb_spec (hash q) (hash p)) as [E|E].
    - rewrite seek_put. rewrite E. reflexivity.
    - destruct (same q p) eqn:F; [|reflexivity]. apply same_eq in F. congruence. }
  unfold get at 1. unfold lower. destruct (seek q _) as [v|] eqn:E; [|exact G]. cbn [no_more]. destruct (Z.leb_spec v w); [|exact G].
  fold (get t p). destruct (same q p) eqn:F; [|reflexivity]. apply same_eq in F. subst p. unfold get. rewrite E. f_equal. lia.
Qed.
Lemma lower_has q w t : has (lower q w t) q w.
Proof. unfold has. rewrite get_lower, same_refl. eexists. split; [reflexivity|]. destruct (get t q); lia. Qed.
Lemma has_lower q w t p v : has t p v -> has (lower q w t) p v.
Proof.
  intros (u & H & L). unfold has. rewrite get_lower, H. destruct (same q p); eexists; (split; [reflexivity|lia]).
Qed.
Lemma get_cells t q v : get t q = Some v -> In (q, v) (cells t).
Proof.
  unfold get, bucket_at, cells. destruct (NM.find (hash q) t) as [b|] eqn:E; [|discriminate]. intros H.
  apply in_flat_map. exists (hash q, b). split.
  - assert (M : NM.MapsTo (hash q) b t) by (apply NF.find_mapsto_iff; exact E).
    apply NF.elements_mapsto_iff in M. apply InA_alt in M as ([k c] & [K C] & I). cbn in K, C. subst. exact I.
  - cbn [snd]. clear E. induction b as [|[p w] b IH]; [discriminate|]. cbn [seek] in H. destruct (same p q) eqn:F.
    + apply same_eq in F. injection H as ->. subst. left; reflexivity.
    + right. auto.
Qed.

(* ---- forth *)
Definition go (q : State) (w : Z) (t : table) (c : Label) : table := match step c q with Some (p, x) => lower p (w + x) t | None => t end.
Definition forth (b : book) (t : table) : table :=
  fold_left (fun t' (cell : State * Z) => fold_left (go (fst cell) (snd cell)) (offers b (fst cell)) t') (cells t) (NM.empty _).
Lemma go_all_has q w cs : forall t p v, has t p v -> has (fold_left (go q w) cs t) p v.
Proof. induction cs as [|c cs IH]; intros t p v H; [exact H|]. cbn [fold_left]. apply IH. unfold go. destruct (step c q) as [[? ?]|]; auto using has_lower. Qed.
Lemma go_all_in q w cs c p x : In c cs -> step c q = Some (p, x) -> forall t, has (fold_left (go q w) cs t) p (w + x).
Proof.
  induction cs as [|d cs IH]; intros [] E t; cbn [fold_left].
  - subst d. apply go_all_has. unfold go. rewrite E. apply lower_has.
  - apply IH; auto.
Qed.
Lemma forth_all_has b l : forall t p v, has t p v ->
  has (fold_left (fun t' (cell : State * Z) => fold_left (go (fst cell) (snd cell)) (offers b (fst cell)) t') l t) p v.
Proof. induction l as [|[q w] l IH]; intros t p v H; [exact H|]. cbn [fold_left]. apply IH. apply go_all_has, H. Qed.
Lemma forth_has ls t q w c p x : has t q w -> In c ls -> step c q = Some (p, x) -> has (forth (file ls) t) p (w + x).
Proof.
  intros (v & Hv & Hle) Hc E. apply get_cells in Hv. unfold forth. revert Hv. generalize (cells t) as l, (NM.empty bucket) as t0.
  induction l as [|[q' w'] l IH]; intros t0 H; [destruct H|]; destruct H as [H|H]; cbn [fold_left].
  - injection H as -> ->. apply forth_all_has.
    destruct (go_all_in q v (offers (file ls) q) c p x (offer_in _ _ _ _ Hc E) E t0) as (u & A & B). exists u. split; [exact A|cbn in *; lia].
  - apply IH, H.
Qed.

(* ---- back: the least value from a state to the end, where runs through it may reach the target *)
Definition kept := NM.t unit.
Definition is_kept (k : kept) n := match NM.find n k with Some _ => true | None => false end.
Definition keep_too n (k : kept) : kept := if is_kept k n then k else NM.add n tt k.
Definition look (behind : table) q w (a : option Z * kept) (c : Label) : option Z * kept :=
  match step c q with None => a | Some (p, x) =>
    match get behind p with None => a | Some y =>
      if target <? w + (x + y) then a else
      (Some (match fst a with Some z => Z.min z (x + y) | None => x + y end), keep_too (number c) (snd a)) end end.
Definition seen b behind (a : table * kept) (cell : State * Z) := fold_left (look behind (fst cell) (snd cell)) (offers b (fst cell)) (None, snd a).
Definition back_cell b behind (a : table * kept) (cell : State * Z) : table * kept :=
  let x := seen b behind a cell in (match fst x with Some z => lower (fst cell) z (fst a) | None => fst a end, snd x).
Definition back (b : book) (t behind : table) : table * kept := fold_left (back_cell b behind) (cells t) (NM.empty _, NM.empty _).

Lemma add_kept k n m : is_kept k m = true -> is_kept (keep_too n k) m = true.
Proof. unfold keep_too. destruct (is_kept k n); [auto|]. unfold is_kept. rewrite find_add. destruct (Nat.eqb n m); auto. Qed.
Lemma keeps_too k n : is_kept (keep_too n k) n = true.
Proof. unfold keep_too. destruct (is_kept k n) eqn:E; [exact E|]. unfold is_kept. rewrite find_add, Nat.eqb_refl. reflexivity. Qed.
Lemma look_all behind q w cs : forall a,
  (forall m, is_kept (snd a) m = true -> is_kept (snd (fold_left (look behind q w) cs a)) m = true) /\
  (forall z, (exists z', fst a = Some z' /\ z' <= z) -> exists z', fst (fold_left (look behind q w) cs a) = Some z' /\ z' <= z).
Proof.
  induction cs as [|c cs IH]; intros a; [split; auto|]. cbn [fold_left]. destruct (IH (look behind q w a c)) as [A B]. split.
  - intros m H. apply A. unfold look. destruct (step c q) as [[p x]|]; auto. destruct (get behind p); auto. destruct (_ <? _); auto.
    cbn [snd]. apply add_kept, H.
  - intros z (z' & H & L). apply B. unfold look. destruct (step c q) as [[p x]|]; eauto. destruct (get behind p); eauto.
    destruct (_ <? _); eauto. cbn [fst]. rewrite H. eexists. split; [reflexivity|lia].
Qed.
Lemma look_in behind q w cs c p x y : In c cs -> step c q = Some (p, x) -> has behind p y -> w + (x + y) <= target -> forall a,
  is_kept (snd (fold_left (look behind q w) cs a)) (number c) = true /\
  exists z, fst (fold_left (look behind q w) cs a) = Some z /\ z <= x + y.
Proof.
  intros Hc E (y' & Hy & Ly) Hw. induction cs as [|d cs IH]; [destruct Hc|]. intros a. cbn [fold_left]. destruct Hc as [->|Hc]; [|auto].
  destruct (look_all behind q w cs (look behind q w a c)) as [A B]. unfold look in *. rewrite E, Hy in *.
  destruct (Z.ltb_spec target (w + (x + y'))); [lia|]. cbn [fst snd] in *. split.
  - apply A, keeps_too.
  - apply B. eexists. split; [reflexivity|]. destruct (fst a); lia.
Qed.
Lemma back_all b behind l : forall a,
  (forall m, is_kept (snd a) m = true -> is_kept (snd (fold_left (back_cell b behind) l a)) m = true) /\
  (forall q y, has (fst a) q y -> has (fst (fold_left (back_cell b behind) l a)) q y).
Proof.
  induction l as [|[q w] l IH]; intros a; [split; auto|]. cbn [fold_left]. destruct (IH (back_cell b behind a (q, w))) as [A B]. split.
  - intros m H. apply A. unfold back_cell. cbn [fst snd]. destruct (look_all behind q w (offers b q) (None, snd a)) as [C _].
    exact (C m H).
  - intros p y H. apply B. unfold back_cell. cbn [fst snd].
    destruct (fst (seen b behind a (q, w))); auto using has_lower.
Qed.
Lemma back_has ls t behind q w c p x y : has t q w -> In c ls -> step c q = Some (p, x) -> has behind p y -> w + (x + y) <= target ->
  has (fst (back (file ls) t behind)) q (x + y) /\ is_kept (snd (back (file ls) t behind)) (number c) = true.
Proof.
  intros (v & Hv & Hle) Hc E Hy Hw. apply get_cells in Hv. unfold back. revert Hv. generalize (cells t) as l, (NM.empty bucket, NM.empty unit) as a.
  induction l as [|[q' w'] l IH]; intros a H; [destruct H|]; destruct H as [H|H]; cbn [fold_left]; [|apply IH, H].
  injection H as -> ->. destruct (back_all (file ls) behind l (back_cell (file ls) behind a (q, v))) as [A B].
  destruct (look_in behind q v (offers (file ls) q) c p x y (offer_in _ _ _ _ Hc E) E Hy ltac:(lia) (None, snd a)) as (K & z & Z1 & Z2).
  change (fold_left (look behind q v) (offers (file ls) q) (None, snd a)) with (seen (file ls) behind a (q, v)) in *. split.
  - apply B. unfold back_cell. cbn [fst]. rewrite Z1. destruct (lower_has q z (fst a)) as (u & U1 & U2). exists u. split; [exact U1|lia].
  - apply A, K.
Qed.

(* ---- there and back *)
Fixpoint run (q : State) (cs : list Label) : option (State * Z) := match cs with
  | [] => Some (q, 0)
  | c :: r => match step c q with None => None | Some (p, x) => match run p r with Some (e, y) => Some (e, x + y) | None => None end end end.
Definition is_none (t : table) := NM.is_empty t.
Fixpoint sweep (links : list (list Label)) (t : table) : table * list kept := match links with
  | [] => (fold_left (fun b (cell : State * Z) => if final (fst cell) && (snd cell <=? target) then lower (fst cell) 0 b else b) (cells t) (NM.empty _), [])
  | ls :: r => let b := file ls in let (behind, ks) := sweep r (forth b t) in
      (* nothing reaches the end: no need to look back *)
      if is_none behind then (behind, NM.empty _ :: ks) else
      let (own, k) := back b t behind in (own, k :: ks) end.
Definition keep (k : kept) (ls : list Label) := filter (fun c => is_kept k (number c)) ls.

Theorem sweep_keeps : forall cs links q t w e x, run q cs = Some (e, x) -> final e = true -> Forall2 (fun c ls => In c ls) cs links ->
  has t q w -> w + x <= target ->
  has (fst (sweep links t)) q x /\ Forall2 (fun c k => is_kept k (number c) = true) cs (snd (sweep links t)).
Proof.
  induction cs as [|c cs IH]; intros links q t w e x Hr Hf Hl Hh Hw; inversion Hl as [|? ls ? links' Hc Hl']; subst; cbn [run sweep] in *.
  - injection Hr as <- <-. split; [|constructor]. destruct Hh as (v & Hv & Hle). apply get_cells in Hv. cbn [fst].
    revert Hv. generalize (cells t) as l, (NM.empty bucket) as b.
    assert (G : forall (l : list (State * Z)) b p y, has b p y ->
      has (fold_left (fun b (cell : State * Z) => if final (fst cell) && (snd cell <=? target) then lower (fst cell) 0 b else b) l b) p y).
    { induction l as [|[p z] l IHl]; intros b p' y H; [exact H|]. cbn [fold_left fst snd]. apply IHl. destruct (_ && _); auto using has_lower. }
    induction l as [|[p z] l IHl]; intros b H; [destruct H|]; destruct H as [H|H]; cbn [fold_left fst snd]; [|apply IHl, H].
    injection H as -> ->. apply G. rewrite Hf. destruct (Z.leb_spec v target); [|lia]. apply lower_has.
  - destruct (step c q) as [[p y]|] eqn:E; [|discriminate]. destruct (run p cs) as [[e' z]|] eqn:R; [|discriminate]. injection Hr as <- <-.
    pose proof (forth_has ls t q w c p y Hh Hc E) as Hp.
    destruct (IH links' p (forth (file ls) t) (w + y) e' z R Hf Hl' Hp ltac:(lia)) as [A B].
    destruct (sweep links' (forth (file ls) t)) as [behind ks]. cbn [fst snd] in A, B.
    destruct (is_none behind) eqn:En.
    + exfalso. destruct A as (v & A & _). apply get_cells in A. unfold cells in A. apply in_flat_map in A as ([k b'] & I & _).
      apply NF.is_empty_iff in En. apply (En k b'). apply NF.elements_mapsto_iff. apply InA_alt. exists (k, b'). split; [split; reflexivity|exact I].
    + destruct (back_has ls t behind q w c p y z Hh Hc E A ltac:(lia)) as [C D].
      destruct (back (file ls) t behind) as [own k]. cbn [fst snd] in *. split; [exact C|constructor; auto].
Qed.

Definition begin (q : State) : table := lower q 0 (NM.empty _).
Lemma begin_has q : has (begin q) q 0. Proof. apply lower_has. Qed.
End Automaton.
