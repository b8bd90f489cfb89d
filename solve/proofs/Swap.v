(* A pass of a stage that swaps (docs/FORMULAS.md 8, Swapping; docs/PROOFS.md 8.3 and d): its layers one
   after another, each waiting for room, and their transfers one after another. *)
Require Import ZArith List Bool Lia.
Import ListNotations.
Open Scope Z_scope.

(* A layer in one pass: how long it runs, what it leaves, whether that is moved, and how long that takes. *)
Record layer := Layer { runs : Z; leaves : Z; goes : bool; moves : Z }.
(* Of the transfers that nothing has waited for yet: when each ends, and the bytes up to it. *)
Record state := State { produced : Z; ends : Z; freed : Z; waited : Z; pending : list (Z * Z); last : Z; moved : Z }.
(* Waits until there is room: what has ended, by bytes and time; what is still pending. *)
Fixpoint wait (room produced freed waited : Z) (l : list (Z * Z)) : Z * Z * list (Z * Z) := match l with
  | (e, b) :: r => if room <? produced - freed then wait room produced b e r else (freed, waited, l)
  | [] => (freed, waited, []) end.
Definition after room (s : state) (x : layer) : state :=
  let p := produced s + leaves x in
  let '(f, w, q) := wait room p (freed s) (waited s) (pending s) in
  let e := Z.max (ends s) w + runs x in
  if goes x then let t := Z.max e (last s) + moves x in let m := moved s + leaves x in State p e f w (q ++ [(t, m)]) t m
  else State p e f w q (last s) (moved s).
Definition begin := State 0 0 0 0 [] 0 0.
Definition takes room (l : list layer) : Z := let s := fold_left (after room) l begin in Z.max (ends s) (last s).

Definition total := fold_right Z.add 0.
Lemma no_sooner room l : forall s, (forall x, In x l -> 0 <= moves x) -> ends s + total (map runs l) <= ends (fold_left (after room) l s)
  /\ last s + total (map (fun x => if goes x then moves x else 0) l) <= last (fold_left (after room) l s).
Proof.
  induction l as [|x l IH]; intros s H; [cbn; lia|]. cbn [fold_left map total fold_right]. fold total.
  specialize (IH (after room s x) (fun y I => H y (or_intror I))). pose proof (H x (or_introl eq_refl)).
  assert (A : ends s + runs x <= ends (after room s x) /\ last s + (if goes x then moves x else 0) <= last (after room s x)).
  { unfold after. destruct (wait _ _ _ _ _) as [[f w] q]. destruct (goes x); cbn [ends last]; lia. }
  unfold total in *. lia.
Qed.
(* THEOREM: a pass takes at least what its layers do, and at least all that is moved. So no bound of 8,
   which counts passes alone, is above it; and where nothing need be swapped, nothing is. *)
Theorem swapping_adds room l : (forall x, In x l -> 0 <= moves x) ->
  total (map runs l) <= takes room l /\ total (map (fun x => if goes x then moves x else 0) l) <= takes room l.
Proof. intros H. unfold takes. pose proof (no_sooner room l begin H) as [A B]. cbn [ends last begin] in A, B. lia. Qed.

(* The same bytes, in no more time. *)
Definition no_slower (x y : layer) := runs x <= runs y /\ leaves x = leaves y /\ goes x = goes y /\ moves x <= moves y.
Definition earlier (a b : Z * Z) := fst a <= fst b /\ snd a = snd b.
Record before (s t : state) : Prop := {
  b_produced : produced s = produced t; b_ends : ends s <= ends t; b_freed : freed s = freed t; b_waited : waited s <= waited t;
  b_pending : Forall2 earlier (pending s) (pending t); b_last : last s <= last t; b_moved : moved s = moved t }.
Lemma waits_alike room p q r : Forall2 earlier q r -> forall f v w, v <= w ->
  let '(f1, w1, q1) := wait room p f v q in let '(f2, w2, q2) := wait room p f w r in f1 = f2 /\ w1 <= w2 /\ Forall2 earlier q1 q2.
Proof.
  induction 1 as [|[e b] [e' b'] q r [E B] H IH]; intros f v w L; cbn [wait]; [auto|]. cbn [fst snd] in *. subst b'.
  destruct (room <? p - f); [apply IH; exact E|]. repeat split; auto. constructor; [split; auto|exact H].
Qed.
Lemma stays_before room s t x y : before s t -> no_slower x y -> before (after room s x) (after room t y).
Proof.
  intros [P E F W Q L M] (R & V & G & O). unfold after. rewrite P, F, V, G, M.
  pose proof (waits_alike room (produced t + leaves y) _ _ Q (freed t) _ _ W) as K.
  destruct (wait room _ _ (waited s) _) as [[f1 w1] q1], (wait room _ _ (waited t) _) as [[f2 w2] q2]. destruct K as (-> & K1 & K2).
  destruct (goes y); constructor; cbn [produced ends freed waited pending last moved]; auto; try lia.
  apply Forall2_app; [exact K2|]. constructor; [split; cbn [fst snd]; lia|constructor].
Qed.
(* THEOREM: of two stages that leave and move the same bytes and have the same room, one whose layers and
   transfers take no longer has no longer pass. *)
Theorem swapping_grows room l m : Forall2 no_slower l m -> takes room l <= takes room m.
Proof.
  intros H. assert (G : forall s t, before s t -> before (fold_left (after room) l s) (fold_left (after room) m t)).
  { induction H as [|x y l m N H IH]; intros s t B; [exact B|]. cbn [fold_left]. apply IH, stays_before; assumption. }
  destruct (G begin begin) as [_ E _ _ _ L _]; [constructor; cbn; auto; lia|]. unfold takes. lia.
Qed.
Definition theorems := (@swapping_adds, @swapping_grows).
