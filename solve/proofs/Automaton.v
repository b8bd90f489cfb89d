(* The dynamic programme, over any automaton: links one after another, each with labels, each label
   a step from a row and a place to a row and a place at a cost. A row's places are a column, so a
   label goes through all of them at once. What is kept of the labels contains every label of every
   run that up_to at most the target. Tables and books are hash tables: nothing depends on a hash
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

(* ---- columns: what each place costs at the least, from some place on *)
Definition column := list (option Z).
Definition entry (k : column) i : option Z := nth i k None.
Definition less (a b : option Z) := match a, b with Some v, Some w => if v <=? w then a else b | None, _ => b | _, None => a end.
Fixpoint merge (a b : column) : column := match a, b with [], _ => b | _, [] => a | u :: a', w :: b' => less u w :: merge a' b' end.
Definition before_it (o : option Z) (k : column) : column := match o, k with None, [] => [] | _, _ => o :: k end.
Definition shifted d (k : column) : column := match k with [] => [] | _ => repeat None d ++ k end.
Definition up_to (o : option Z) w := exists v, o = Some v /\ v <= w.

Lemma entry_none i : entry [] i = None. Proof. destruct i; reflexivity. Qed.
Lemma merge_none a : merge a [] = a. Proof. destruct a; reflexivity. Qed.
Lemma entry_merge a : forall b i, entry (merge a b) i = less (entry a i) (entry b i).
Proof.
  induction a as [|u a IH]; intros b i; [cbn [merge]; rewrite entry_none; reflexivity|]. destruct b as [|w b].
  - rewrite merge_none, entry_none. destruct (entry (u :: a) i); reflexivity.
  - destruct i; [reflexivity|exact (IH b i)].
Qed.
Lemma entry_before o k i : entry (before_it o k) i = match i with O => o | S j => entry k j end.
Proof. destruct o, k; destruct i; try reflexivity. rewrite !entry_none. reflexivity. Qed.
Lemma entry_shifted d k i : entry (shifted d k) (d + i) = entry k i.
Proof.
  destruct k as [|o k]; [rewrite !entry_none; reflexivity|]. unfold shifted, entry. rewrite app_nth2; rewrite repeat_length; [f_equal|]; lia.
Qed.
Lemma entry_skipn d : forall k i, entry (skipn d k) i = entry k (d + i).
Proof. induction d as [|d IH]; intros k i; [reflexivity|]. destruct k; cbn [skipn]; [rewrite !entry_none; reflexivity|apply IH]. Qed.
Lemma less_left a b w : up_to a w -> up_to (less a b) w.
Proof. intros (v & -> & L). destruct b as [u|]; [|exists v; auto]. cbn. destruct (Z.leb_spec v u); eexists; (split; [reflexivity|lia]). Qed.
Lemma less_right a b w : up_to b w -> up_to (less a b) w.
Proof. intros (v & -> & L). destruct a as [u|]; [|exists v; auto]. cbn. destruct (Z.leb_spec u v); eexists; (split; [reflexivity|lia]). Qed.

Section Automaton.
Variables Row Label : Type.
Variable same : Row -> Row -> bool.
Hypothesis same_eq : forall a b, same a b = true <-> a = b.
Variable hash : Row -> nat.
Variable leap : Label -> Row -> option (Row * Z).
Variable ahead : Label -> nat.           (* how many places on *)
Variable may : Label -> nat -> bool.     (* whether it may start at a place *)
Variable code : Label -> nat.            (* where a label is filed *)
Variable code_at : Row -> nat.           (* where a row looks for its labels *)
Hypothesis filed : forall c q r, leap c q = Some r -> code c = code_at q.
Variable number : Label -> nat.          (* by which labels are kept *)
Variable final : nat.                    (* place *)
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
Definition offers (b : book) q := page b (code_at q).
Lemma offer_in ls c q r : In c ls -> leap c q = Some r -> In c (offers (file ls) q).
Proof. intros H E. unfold offers. rewrite <- (filed _ _ _ E). apply filed_in, H. Qed.
Definition least_ahead (ls : list Label) := match ls with [] => 0%nat | c :: r => fold_right (fun d a => Nat.min (ahead d) a) (ahead c) r end.
Lemma least_ahead_in c ls : In c ls -> (least_ahead ls <= ahead c)%nat.
Proof.
  destruct ls as [|d ls]; [intros []|]. cbn [least_ahead]. intros [->|H].
  - induction ls; cbn; lia.
  - induction ls as [|e ls IH]; destruct H; cbn [fold_right]; [subst; lia|specialize (IH H); lia].
Qed.

(* ---- tables: a column of each row *)
Definition bucket := list (Row * column).
Fixpoint seek (q : Row) (b : bucket) : column := match b with [] => [] | (p, k) :: r => if same p q then k else seek q r end.
Fixpoint put (q : Row) (k : column) (b : bucket) : bucket := match b with
  | [] => [(q, k)] | (p, m) :: r => if same p q then (p, merge m k) :: r else (p, m) :: put q k r end.
Definition table := NM.t bucket.
Definition bucket_at (t : table) h := match NM.find h t with Some b => b | None => [] end.
Definition get (t : table) q := seek q (bucket_at t (hash q)).
Definition lower q k (t : table) : table := let h := hash q in NM.add h (put q k (bucket_at t h)) t.
Definition cells (t : table) : list (Row * column) := flat_map snd (NM.elements t).
(* from place low on *)
Definition has low (t : table) q n w := exists i, n = (low + i)%nat /\ up_to (entry (get t q) i) w.

Lemma same_refl q : same q q = true. Proof. apply same_eq. reflexivity. Qed.
Lemma seek_put q k b p : seek p (put q k b) = if same q p then merge (seek p b) k else seek p b.
Proof.
  induction b as [|[r m] b IH]; cbn [put seek]; [destruct (same q p); reflexivity|].
  destruct (same r q) eqn:E; cbn [seek].
  - apply same_eq in E. subst r. destruct (same q p); reflexivity.
  - destruct (same r p) eqn:F; [|exact IH]. apply same_eq in F. subst r. destruct (same q p) eqn:G; [|reflexivity].
    apply same_eq in G. subst q. rewrite same_refl in E. discriminate.
Qed.
Lemma get_lower q k t p : get (lower q k t) p = if same q p then merge (get t p) k else get t p.
Proof.
  unfold get, lower, bucket_at at 1. rewrite find_add. destruct (Nat.eqb_spec (hash q) (hash p)) as [E|E].
  - rewrite seek_put, E. reflexivity.
  - destruct (same q p) eqn:F; [|reflexivity]. apply same_eq in F. congruence.
Qed.
Lemma lower_has low q k t i w : up_to (entry k i) w -> has low (lower q k t) q (low + i) w.
Proof. intros H. exists i. split; [reflexivity|]. rewrite get_lower, same_refl, entry_merge. apply less_right, H. Qed.
Lemma has_lower low q k t p n w : has low t p n w -> has low (lower q k t) p n w.
Proof. intros (i & E & H). exists i. split; [exact E|]. rewrite get_lower. destruct (same q p); [|exact H]. rewrite entry_merge. apply less_left, H. Qed.
Lemma get_cells t q i w : up_to (entry (get t q) i) w -> In (q, get t q) (cells t).
Proof.
  unfold get, bucket_at, cells. destruct (NM.find (hash q) t) as [b|] eqn:E; [|intros (v & H & _); cbn [seek] in H; rewrite entry_none in H; discriminate].
  intros H. apply in_flat_map. exists (hash q, b). split.
  - assert (M : NM.MapsTo (hash q) b t) by (apply NF.find_mapsto_iff; exact E).
    apply NF.elements_mapsto_iff in M. apply InA_alt in M as ([k c] & [K C] & I). cbn in K, C. subst. exact I.
  - cbn [snd]. clear E. induction b as [|[p m] b IH]; cbn [seek] in *; [destruct H as (v & H & _); rewrite entry_none in H; discriminate|].
    destruct (same p q) eqn:F; [apply same_eq in F; subst; left; reflexivity|right; auto].
Qed.

(* ---- forth *)
Fixpoint moved c x n (k : column) : column := match k with [] => [] | o :: r =>
  before_it (match o with Some w => if may c n then Some (w + x) else None | None => None end) (moved c x (S n) r) end.
Lemma entry_moved c x : forall k n i, entry (moved c x n k) i = match entry k i with Some w => if may c (n + i) then Some (w + x) else None | None => None end.
Proof.
  induction k as [|o k IH]; intros n i; cbn [moved]; [rewrite !entry_none; reflexivity|]. rewrite entry_before. destruct i as [|i].
  - rewrite Nat.add_0_r. reflexivity.
  - rewrite IH. cbn [entry nth]. replace (S n + i)%nat with (n + S i)%nat by lia. reflexivity.
Qed.
Definition go low least (q : Row) (k : column) (t : table) (c : Label) : table := match leap c q with None => t
  | Some (p, x) => match moved c x low k with [] => t | m => lower p (shifted (ahead c - least) m) t end end.
Definition forth low least (b : book) (t : table) : table :=
  fold_left (fun t' (cell : Row * column) => fold_left (go low least (fst cell) (snd cell)) (offers b (fst cell)) t') (cells t) (NM.empty _).
Lemma go_has l low least q k c t p n w : has l t p n w -> has l (go low least q k t c) p n w.
Proof. intros H. unfold go. destruct (leap c q) as [[? ?]|]; [|exact H]. destruct (moved c z low k); [exact H|apply has_lower, H]. Qed.
Lemma go_all_has l low least q k cs : forall t p n w, has l t p n w -> has l (fold_left (go low least q k) cs t) p n w.
Proof. induction cs as [|c cs IH]; intros t p n w H; [exact H|]. cbn [fold_left]. apply IH, go_has, H. Qed.
Lemma go_all_in low least q k cs c p x i w : In c cs -> leap c q = Some (p, x) -> may c (low + i) = true -> (least <= ahead c)%nat -> up_to (entry k i) w ->
  forall t, has (low + least) (fold_left (go low least q k) cs t) p (low + i + ahead c) (w + x).
Proof.
  intros Hc E M L (v & Ev & Lv). induction cs as [|d cs IH]; [destruct Hc|]. destruct Hc as [->|Hc]; intros t; cbn [fold_left]; [|apply IH, Hc].
  apply go_all_has. unfold go. rewrite E. pose proof (entry_moved c x k low i) as F. rewrite Ev, M in F.
  destruct (moved c x low k) as [|o m] eqn:Em; [rewrite entry_none in F; discriminate|].
  replace (low + i + ahead c)%nat with (low + least + ((ahead c - least) + i))%nat by lia. apply lower_has. rewrite entry_shifted, F. exists (v + x). split; [reflexivity|lia].
Qed.
Lemma forth_all_has l low least b cs : forall t p n w, has l t p n w ->
  has l (fold_left (fun t' (cell : Row * column) => fold_left (go low least (fst cell) (snd cell)) (offers b (fst cell)) t') cs t) p n w.
Proof. induction cs as [|[q k] cs IH]; intros t p n w H; [exact H|]. cbn [fold_left]. apply IH, go_all_has, H. Qed.
Lemma forth_has low ls t q n w c p x : has low t q n w -> In c ls -> leap c q = Some (p, x) -> may c n = true ->
  has (low + least_ahead ls) (forth low (least_ahead ls) (file ls) t) p (n + ahead c) (w + x).
Proof.
  intros (i & -> & H) Hc E M. pose proof (get_cells _ _ _ _ H) as I. unfold forth. revert I. generalize (cells t) as l, (NM.empty bucket) as t0.
  induction l as [|[q' k'] l IH]; intros t0 I; [destruct I|]; destruct I as [I|I]; cbn [fold_left]; [|apply IH, I].
  injection I as -> ->. apply forth_all_has. apply go_all_in; auto using least_ahead_in. eapply offer_in; eauto.
Qed.

(* ---- back: the least value from a state to the end, where runs through it may reach the target *)
Definition kept := NM.t unit.
Definition is_kept (k : kept) n := match NM.find n k with Some _ => true | None => false end.
Definition keep_too n (k : kept) : kept := if is_kept k n then k else NM.add n tt k.
Fixpoint meet c x n (k b : column) : column := match k, b with
  | o :: k', p :: b' => before_it (match o, p with Some w, Some y => if may c n && (w + (x + y) <=? target) then Some (x + y) else None | _, _ => None end) (meet c x (S n) k' b')
  | _, _ => [] end.
Lemma entry_meet c x : forall k b n i w y, entry k i = Some w -> entry b i = Some y -> may c (n + i) = true -> w + (x + y) <= target -> entry (meet c x n k b) i = Some (x + y).
Proof.
  induction k as [|o k IH]; intros [|p b] n i w y Hk Hb M L; try (rewrite entry_none in *; discriminate). cbn [meet]. rewrite entry_before. destruct i as [|i].
  - cbn [entry nth] in *. subst. rewrite Nat.add_0_r in M. rewrite M. destruct (Z.leb_spec (w + (x + y)) target); [reflexivity|lia].
  - apply (IH b (S n) i w y); auto. replace (S n + i)%nat with (n + S i)%nat by lia. exact M.
Qed.
Definition look low least (behind : table) q k (a : column * kept) (c : Label) : column * kept :=
  match leap c q with None => a | Some (p, x) =>
    match meet c x low k (skipn (ahead c - least) (get behind p)) with [] => a | m => (merge (fst a) m, keep_too (number c) (snd a)) end end.
Definition seen low least b behind (a : table * kept) (cell : Row * column) := fold_left (look low least behind (fst cell) (snd cell)) (offers b (fst cell)) ([], snd a).
Definition back_cell low least b behind (a : table * kept) (cell : Row * column) : table * kept :=
  let x := seen low least b behind a cell in (match fst x with [] => fst a | k => lower (fst cell) k (fst a) end, snd x).
Definition back low least (b : book) (t behind : table) : table * kept := fold_left (back_cell low least b behind) (cells t) (NM.empty _, NM.empty _).

Lemma add_kept k n m : is_kept k m = true -> is_kept (keep_too n k) m = true.
Proof. unfold keep_too. destruct (is_kept k n); [auto|]. unfold is_kept. rewrite find_add. destruct (Nat.eqb n m); auto. Qed.
Lemma keeps_too k n : is_kept (keep_too n k) n = true.
Proof. unfold keep_too. destruct (is_kept k n) eqn:E; [exact E|]. unfold is_kept. rewrite find_add, Nat.eqb_refl. reflexivity. Qed.
Lemma look_all low least behind q k cs : forall a,
  (forall m, is_kept (snd a) m = true -> is_kept (snd (fold_left (look low least behind q k) cs a)) m = true) /\
  (forall i z, up_to (entry (fst a) i) z -> up_to (entry (fst (fold_left (look low least behind q k) cs a)) i) z).
Proof.
  induction cs as [|c cs IH]; intros a; [split; auto|]. cbn [fold_left]. destruct (IH (look low least behind q k a c)) as [A B]. split.
  - intros m H. apply A. unfold look. destruct (leap c q) as [[p x]|]; auto. destruct (meet _ _ _ _ _); auto. cbn [snd]. apply add_kept, H.
  - intros i z H. apply B. unfold look. destruct (leap c q) as [[p x]|]; auto. destruct (meet _ _ _ _ _); auto. cbn [fst]. rewrite entry_merge. apply less_left, H.
Qed.
Lemma look_in low least behind q k cs c p x y i w : In c cs -> leap c q = Some (p, x) -> may c (low + i) = true -> (least <= ahead c)%nat ->
  up_to (entry k i) w -> has (low + least) behind p (low + i + ahead c) y -> w + (x + y) <= target -> forall a,
  is_kept (snd (fold_left (look low least behind q k) cs a)) (number c) = true /\ up_to (entry (fst (fold_left (look low least behind q k) cs a)) i) (x + y).
Proof.
  intros Hc E M L (w' & Hk & Lw) (j & Ej & y' & Hy & Ly) Hw. induction cs as [|d cs IH]; [destruct Hc|]. intros a. cbn [fold_left]. destruct Hc as [->|Hc]; [|auto].
  destruct (look_all low least behind q k cs (look low least behind q k a c)) as [A B]. unfold look in *. rewrite E in *.
  assert (F : entry (skipn (ahead c - least) (get behind p)) i = Some y') by (rewrite entry_skipn; replace (ahead c - least + i)%nat with j by lia; exact Hy).
  pose proof (entry_meet c x k _ low i w' y' Hk F M ltac:(lia)) as G.
  destruct (meet _ _ _ _ _) as [|o m] eqn:Em; [rewrite entry_none in G; discriminate|]. cbn [fst snd] in *. split.
  - apply A, keeps_too.
  - apply B. rewrite entry_merge. apply less_right. rewrite G. eexists. split; [reflexivity|lia].
Qed.
Lemma back_all l low least b behind cs : forall a,
  (forall m, is_kept (snd a) m = true -> is_kept (snd (fold_left (back_cell low least b behind) cs a)) m = true) /\
  (forall q n y, has l (fst a) q n y -> has l (fst (fold_left (back_cell low least b behind) cs a)) q n y).
Proof.
  induction cs as [|[q k] cs IH]; intros a; [split; auto|]. cbn [fold_left]. destruct (IH (back_cell low least b behind a (q, k))) as [A B]. split.
  - intros m H. apply A. unfold back_cell. cbn [fst snd]. destruct (look_all low least behind q k (offers b q) ([], snd a)) as [C _]. exact (C m H).
  - intros p n y H. apply B. unfold back_cell. cbn [fst snd]. destruct (fst (seen low least b behind a (q, k))); [exact H|apply has_lower, H].
Qed.
Lemma back_has low ls t behind q n w c p x y : has low t q n w -> In c ls -> leap c q = Some (p, x) -> may c n = true ->
  has (low + least_ahead ls) behind p (n + ahead c) y -> w + (x + y) <= target ->
  has low (fst (back low (least_ahead ls) (file ls) t behind)) q n (x + y) /\ is_kept (snd (back low (least_ahead ls) (file ls) t behind)) (number c) = true.
Proof.
  intros (i & -> & H) Hc E M Hy Hw. pose proof (get_cells _ _ _ _ H) as I. set (least := least_ahead ls) in *. unfold back. revert I.
  generalize (cells t) as l, (NM.empty bucket, NM.empty unit) as a.
  induction l as [|[q' k'] l IH]; intros a I; [destruct I|]; destruct I as [I|I]; cbn [fold_left]; [|apply IH, I].
  injection I as -> ->. destruct (back_all low low least (file ls) behind l (back_cell low least (file ls) behind a (q, get t q))) as [A B].
  destruct (look_in low least behind q (get t q) (offers (file ls) q) c p x y i w (offer_in _ _ _ _ Hc E) E M (least_ahead_in _ _ Hc) H Hy Hw ([], snd a)) as (K & Z).
  change (fold_left (look low least behind q (get t q)) (offers (file ls) q) ([], snd a)) with (seen low least (file ls) behind a (q, get t q)) in *. split.
  - apply B. unfold back_cell. cbn [fst]. destruct (fst (seen _ _ _ _ a (q, get t q))) as [|o m] eqn:Es.
    + destruct Z as (v & Z & _). rewrite entry_none in Z. discriminate.
    + apply lower_has, Z.
  - apply A, K.
Qed.

(* ---- there and back *)
Definition step c (s : Row * nat) : option ((Row * nat) * Z) :=
  if may c (snd s) then match leap c (fst s) with Some (p, x) => Some ((p, snd s + ahead c)%nat, x) | None => None end else None.
Fixpoint run (s : Row * nat) (cs : list Label) : option ((Row * nat) * Z) := match cs with
  | [] => Some (s, 0)
  | c :: r => match step c s with None => None | Some (p, x) => match run p r with Some (e, y) => Some (e, x + y) | None => None end end end.
Definition is_none (t : table) := NM.is_empty t.
Definition ended low (t : table) : table := fold_left (fun b (cell : Row * column) => match entry (snd cell) (final - low) with
  | Some w => if w <=? target then lower (fst cell) (shifted (final - low) [Some 0]) b else b | None => b end) (cells t) (NM.empty _).
Fixpoint sweep (links : list (list Label)) low (t : table) : table * list kept := match links with
  | [] => (ended low t, [])
  | ls :: r => let b := file ls in let least := least_ahead ls in let (behind, ks) := sweep r (low + least)%nat (forth low least b t) in
      (* nothing reaches the end: no need to look back *)
      if is_none behind then (behind, NM.empty _ :: ks) else
      let (own, k) := back low least b t behind in (own, k :: ks) end.
Definition keep (k : kept) (ls : list Label) := filter (fun c => is_kept k (number c)) ls.

Lemma ended_has low t q w : has low t q final w -> w <= target -> has low (ended low t) q final 0.
Proof.
  intros (i & Ei & H) L. pose proof (get_cells _ _ _ _ H) as I. replace i with (final - low)%nat in H by lia. unfold ended. revert I. generalize (cells t) as l, (NM.empty bucket) as b.
  set (add := fun (b : table) (cell : Row * column) => _).
  assert (G : forall l b p n y, has low b p n y -> has low (fold_left add l b) p n y).
  { induction l as [|[p k] l IHl]; intros b p' n y Hp; [exact Hp|]. cbn [fold_left]. apply IHl. unfold add. cbn [fst snd].
    destruct (entry k (final - low)); [destruct (_ <=? _)|]; auto using has_lower. }
  induction l as [|[p k] l IHl]; intros b I; [destruct I|]; destruct I as [I|I]; cbn [fold_left]; [|apply IHl, I].
  injection I as -> ->. apply G. unfold add. cbn [fst snd]. destruct H as (v & -> & Lv). destruct (Z.leb_spec v target); [|lia].
  assert (F : up_to (entry (shifted (final - low) [Some 0]) (final - low + 0)) 0) by (rewrite entry_shifted; exists 0; split; [reflexivity|lia]).
  rewrite Nat.add_0_r in F. pose proof (lower_has low q _ b _ _ F) as R. replace (low + (final - low))%nat with final in R by lia. exact R.
Qed.
Theorem sweep_keeps : forall cs links low q n t w e x, run (q, n) cs = Some (e, x) -> snd e = final -> Forall2 (fun c ls => In c ls) cs links ->
  has low t q n w -> w + x <= target ->
  has low (fst (sweep links low t)) q n x /\ Forall2 (fun c k => is_kept k (number c) = true) cs (snd (sweep links low t)).
Proof.
  induction cs as [|c cs IH]; intros links low q n t w e x Hr Hf Hl Hh Hw; inversion Hl as [|? ls ? links' Hc Hl']; subst; cbn [run sweep] in *.
  - injection Hr as <- <-. cbn [snd] in *. subst n. split; [|constructor]. cbn [fst]. apply (ended_has low t q w Hh). lia.
  - unfold step in Hr. cbn [fst snd] in Hr. destruct (may c n) eqn:M; [|discriminate]. destruct (leap c q) as [[p y]|] eqn:E; [|discriminate].
    destruct (run (p, n + ahead c)%nat cs) as [[e' z]|] eqn:R; [|discriminate]. injection Hr as <- <-.
    pose proof (forth_has low ls t q n w c p y Hh Hc E M) as Hp.
    destruct (IH links' _ p _ _ (w + y) e' z R Hf Hl' Hp ltac:(lia)) as [A B].
    destruct (sweep links' _ _) as [behind ks]. cbn [fst snd] in A, B.
    destruct (is_none behind) eqn:En.
    + exfalso. destruct A as (i & _ & A). apply get_cells in A. unfold cells in A. apply in_flat_map in A as ([k b'] & I & _).
      apply NF.is_empty_iff in En. apply (En k b'). apply NF.elements_mapsto_iff. apply InA_alt. exists (k, b'). split; [split; reflexivity|exact I].
    + destruct (back_has low ls t behind q n w c p y z Hh Hc E M A ltac:(lia)) as [C D].
      destruct (back low _ (file ls) t behind) as [own k]. cbn [fst snd] in *. split; [exact C|constructor; auto].
Qed.

Definition begin (q : Row) : table := lower q [Some 0] (NM.empty _).
Lemma begin_has q : has 0 (begin q) q 0 0.
Proof. apply (lower_has 0 q [Some 0] (NM.empty _) 0). exists 0. split; [reflexivity|lia]. Qed.
End Automaton.
