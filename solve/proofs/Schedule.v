(* What an iteration is: the operations of one layout, what each waits for, and when a time is long
   enough for all of them (docs/PROOFS.md 3). Part of the specification: a reader of the theorems
   has to believe this file and Document.v, and nothing else. *)
Require Import ZArith List Bool Lia.
Import ListNotations.
Open Scope Z_scope.

Inductive order := Gpipe | OneFOneB | ZeroBubbleH1 | ZeroBubbleH2 | TokenSliced
  | Interleaved | LoopedBfs | ZeroBubbleV | VHalf | VMin.
Record shape := Shape {
  schedule : order;
  stages : nat;
  ranks : nat;      (* as many, but where a schedule has several stages of each *)
  batches : nat;    (* micro-batches *)
  slices : nat;     (* of a sequence *)
  barrier : bool;   (* an iteration starts when the one before has ended *)
  overlapped : bool; (* a stage's sync starts with its own gradients, not with its rank's last *)
  embedding : bool; (* the first and the last stage sync a shared embedding *)
  local_every : nat; (* stages up to a loss of their own, behind which no gradient comes back; 0: none *)
  stored : bool;    (* the inputs behind such a loss are read from a file *)
  in_flight : list nat (* of 1F1B: micro-batches of each stage at most; none: as many as are behind it, and itself *) }.

(* ---- where stages are *)
Definition several x := match schedule x with
  | Interleaved | LoopedBfs => (ranks x <? stages x)%nat | ZeroBubbleV | VHalf | VMin => true | _ => false end.
Definition folds x := match schedule x with ZeroBubbleV | VHalf | VMin => true | _ => false end.
Definition rank_count x := if several x then ranks x else stages x.
Definition each x : nat := (stages x / ranks x)%nat.          (* stages of a rank *)
Definition round_of x s : nat := (s / ranks x)%nat.           (* of a stage, on its rank *)
Definition on_rank x s : nat := if several x
  then if folds x && (round_of x s =? 1)%nat then ranks x - 1 - s mod ranks x else s mod ranks x
  else s.
(* whether a message is sent over the boundary after a stage *)
Definition leaves_rank x s := negb (on_rank x s =? on_rank x (S s))%nat.
Definition is_local x s := negb (local_every x =? 0)%nat && (S s mod local_every x =? 0)%nat.

(* A message is overhead at its sender, a use of the link, a delay, and overhead at its receiver. *)
Inductive direction := Onward | Back.
(* whether a message crosses the boundary after a stage *)
Definition is_sent x d s := leaves_rank x s && match d with Onward => negb (stored x && is_local x s) | Back => negb (is_local x s) end.
Inductive kind :=
  | Forward | Backward | Weight | Sync | Optimizer
  | Sends (d : direction) | Links (d : direction) | Delays (d : direction) | Receives (d : direction)
  | EmbeddingSync
  | QueuedSync. (* an overlapped sync in full, behind the one before it on its rank *)
(* of a stage, or of the boundary between stages [place] and [place + 1] *)
Record op := Op { what : kind; place : nat; batch : nat; slice : nat }.

Definition splits x := match schedule x with
  | ZeroBubbleH1 | ZeroBubbleH2 | ZeroBubbleV | VHalf | VMin => true | _ => false end.

(* ---- the order of a rank's passes *)
(* Micro-batches that pass a rank's stages together: as few as there are ranks, or as few more as
   make all groups equal. *)
Definition group_size x : nat := match schedule x with
  | Interleaved => if (batches x <? ranks x)%nat then ranks x else
      match find (fun n => batches x mod n =? 0)%nat (rev (seq 1 (batches x / ranks x))) with Some n => (batches x / n)%nat | None => batches x end
  | _ => batches x end.
(* the number of a pass among all of its kind, of a stage that is the r-th to have it on its rank *)
Definition number_of x r batch slice : nat := if several x
  then let g := group_size x in (batch / g * each x + r) * g + batch mod g
  else batch * slices x + slice.
Definition total x := (batches x * slices x)%nat.
(* stages behind it, one after another, that messages go to *)
Definition stages_behind x s : nat := if stored x && negb (local_every x =? 0)%nat
  then Nat.min (stages x - 1 - s) (local_every x - 1 - s mod local_every x) else stages x - 1 - s.
(* forwards before the first backward; backwards before the first weight gradient *)
Definition ahead x s : nat := match schedule x with
  | OneFOneB => Nat.min (total x) (match nth_error (in_flight x) s with Some n => n - 1 | None => stages_behind x s end)
  | ZeroBubbleH1 => Nat.min (total x) (stages_behind x s)
  | ZeroBubbleH2 => Nat.min (total x) (2 * stages_behind x s)
  | Interleaved => 2 * (ranks x - 1 - s mod ranks x) + (each x - 1) * group_size x
  | LoopedBfs => total x * each x
  | _ => total x end.
Definition behind x s : nat := match schedule x with
  | ZeroBubbleH1 => s
  | ZeroBubbleH2 => Nat.min (2 * s) (total x - 1 - ahead x s)
  | _ => 0 end.

(* ZB-V (docs/FORMULAS.md 14): eight phases; the round, and the place in it, of each pass *)
Definition turn_zbv x s k j : nat :=
  let p := ranks x in let r := on_rank x s in let e := (p - r)%nat in let m := Nat.max (batches x) (2 * p - 1) in
  let at_ phase i half := (((phase * (m + 2 * p)) + i) * 6 + half)%nat in
  match k, round_of x s with
  | Forward, O => if (j <? 2 * e - 1)%nat then at_ 0 j 0 else if (j <? 2 * e - 1 + r)%nat then at_ 1 (j - (2 * e - 1)) 1 else at_ 3 (j - (2 * e - 1 + r)) 0
  | Forward, _ => if (j <? r)%nat then at_ 1 j 0 else if (j <? p)%nat then at_ 2 (j - r) 0 else at_ 3 (j - p) 3
  | Backward, O => if (j <? m - p)%nat then at_ 3 j 1 else if (j <? m - p + r)%nat then at_ 4 (j - (m - p)) 0 else at_ 5 (j - (m - p + r)) 0
  | Backward, _ => if (j <? e)%nat then at_ 2 j 1 else if (j <? e + m - p)%nat then at_ 3 (j - e) 4 else at_ 4 (j - (e + m - p)) 1
  | _, O => if (j <? m - p)%nat then at_ 3 j 2 else if (j <? m - p + e)%nat then at_ 5 (j - (m - p)) 1 else at_ 7 j 0
  | _, _ => if (j <? e)%nat then at_ 2 j 2 else if (j <? e + m - p)%nat then at_ 3 (j - e) 5 else at_ 6 j 0 end%nat.
(* V-Half and V-Min: each pass has a slot, six slots later for the next micro-batch. A weight
   gradient takes the first free slot; of two that want it, the one that has waited. *)
Definition slots_of x r : (nat * nat) * (nat * nat) := let p := ranks x in match schedule x with
  | VMin => let gap := if (p mod 3 =? 0)%nat then 2%nat else 0%nat in ((r, 2 * p - 1 - r), (4 * p - 1 + gap - r, 2 * p + gap + r))
  | _ => let gap := if (p mod 2 =? 0)%nat then 3%nat else 0%nat in ((2 * r, 3 * p - 2 - r), (6 * p - 2 + gap - r, 3 * p - 1 + gap + 2 * r)) end%nat.
Definition turn_slotted x s k j : nat :=
  let '((f0, f1), (b0, b1)) := slots_of x (on_rank x s) in
  let first := (round_of x s =? 0)%nat in
  let own := if first then b0 else b1 in let other := if first then b1 else b0 in
  let taken n := existsb (Nat.eqb (n mod 6)) (map (fun b => b mod 6) [f0; f1; b0; b1])%nat in
  let free b := filter (fun n => negb (taken (b + n)%nat)) (seq 1 6) in
  let wait := let d := nth 0 (free own) 0%nat in let e := nth 0 (free other) 0%nat in
    if ((own + d) mod 6 =? (other + e) mod 6)%nat && (d <? e)%nat then nth 1 (free own) 0%nat else d in
  (6 * j + match k with Forward => if first then f0 else f1 | Backward => own | _ => own + wait end)%nat.

(* Forward and backward alternate after the forwards ahead: the n-th backward is between the
   forwards n + ahead and n + 1 + ahead. Stages and slices come back in reverse. *)
Definition turn x s k batch slice : nat := match schedule x with
  | ZeroBubbleV => turn_zbv x s k batch
  | VHalf | VMin => turn_slotted x s k batch
  | _ => match k with
    | Forward => 3 * number_of x (round_of x s) batch slice
    | Backward => 3 * (number_of x (each x - 1 - round_of x s) batch (slices x - 1 - slice) + ahead x s) + 1
    | _ => 3 * (batch + behind x s + ahead x s) + 2 end end.
(* of two stages of a rank, whose last gradients are sooner *)
Definition ended x s := turn x s (if splits x then Weight else Backward) (batches x - 1) 0.
Definition sooner x s t := (on_rank x s =? on_rank x t)%nat && (ended x s <? ended x t)%nat.

Definition valid (x : shape) (u : op) : bool :=
  let passes := (batch u <? batches x)%nat && (slice u <? slices x)%nat in
  let once := (batch u =? 0)%nat && (slice u =? 0)%nat in
  match what u with
  | Forward | Backward => (place u <? stages x)%nat && passes
  | Weight => splits x && (place u <? stages x)%nat && (batch u <? batches x)%nat && (slice u =? 0)%nat
  | Sync | Optimizer => (place u <? stages x)%nat && once
  | QueuedSync => overlapped x && (place u <? stages x)%nat && once && several x && existsb (fun s => sooner x s (place u)) (seq 0 (stages x))
  | EmbeddingSync => embedding x && (place u =? 0)%nat && once
  | Sends d | Links d | Delays d | Receives d => (S (place u) <? stages x)%nat && passes && is_sent x d (place u)
  end.

(* The compute stream of a rank, and the place in it: overheads are right beside their passes. *)
Definition in_stream x (u : op) : option (nat * nat) :=
  let at_ s k half := Some (on_rank x s, (3 * turn x s k (batch u) (slice u) + half)%nat) in
  match what u with
  | Forward => at_ (place u) Forward 1%nat
  | Backward => at_ (place u) Backward 1%nat
  | Weight => at_ (place u) Weight 1%nat
  | Sends Onward => at_ (place u) Forward 2%nat
  | Receives Onward => at_ (S (place u)) Forward 0%nat
  | Sends Back => at_ (S (place u)) Backward 2%nat
  | Receives Back => at_ (place u) Backward 0%nat
  | _ => None end.
(* The link from one rank to another, and the place on it: one message at a time, in the order of
   the passes that send them. *)
Definition in_link x (u : op) : option (nat * nat) :=
  let at_ s t k := Some ((on_rank x s * rank_count x + on_rank x t)%nat, turn x s k (batch u) (slice u)) in
  match what u with
  | Links Onward => at_ (place u) (S (place u)) Forward
  | Links Back => at_ (S (place u)) (place u) Backward
  | _ => None end.
Definition same_message u v :=
  (place u =? place v)%nat && (batch u =? batch v)%nat && (slice u =? slice v)%nat.
Definition same_direction d e := match d, e with Onward, Onward | Back, Back => true | _, _ => false end.

(* The last pass of a stage: its gradients are complete. *)
Definition last_pass x (u : op) := match what u with
  | Weight => (S (batch u) =? batches x)%nat
  | Backward => negb (splits x) && (S (batch u) =? batches x)%nat && (slice u =? 0)%nat
  | _ => false end.

(* Near the end of the iteration gradients may be sent compressed that are not before. *)
Definition drains x (u : op) := let r := if several x then (place u mod ranks x)%nat else place u in
  (slice u =? 0)%nat && (batches x + r <? batch u + rank_count x + 1)%nat.

Definition precedes (a b : option (nat * nat)) := match a, b with
  | Some (r, i), Some (r', i') => (r =? r')%nat && (i <? i')%nat
  | _, _ => false end.
Definition is_end x s := (s =? 0)%nat || (S s =? stages x)%nat.
(* Within an iteration, v waits for u. *)
Definition waits x (u v : op) : bool :=
  precedes (in_stream x u) (in_stream x v) || precedes (in_link x u) (in_link x v) ||
  match what u, what v with
  (* a rank's steps are at the end of its stream *)
  | Optimizer, Optimizer => sooner x (place u) (place v)
  | Optimizer, _ => false
  | _, Optimizer => match in_stream x u with Some (r, _) => (r =? on_rank x (place v))%nat | None => false end
      || match what u with
         | Sync | QueuedSync => (place u =? place v)%nat
         | EmbeddingSync => is_end x (place v)
         | _ => false end
  (* a message *)
  | Sends d, Links e | Links d, Delays e | Delays d, Receives e => same_direction d e && same_message u v
  (* syncs: after the last pass of the stage, or of each stage of the rank *)
  | Backward, Sync | Weight, Sync => last_pass x u && if overlapped x then (place u =? place v)%nat else (on_rank x (place u) =? on_rank x (place v))%nat
  | Sync, Sync => negb (overlapped x) && sooner x (place u) (place v)
  | Sync, QueuedSync | QueuedSync, QueuedSync => sooner x (place u) (place v)
  | Sync, EmbeddingSync | QueuedSync, EmbeddingSync => is_end x (place u)
  | _, _ => false end.

(* Without a barrier, v of the next iteration waits for u of this one: streams and links go on. *)
Definition rank_of x (u : op) := match what u with
  | Optimizer => Some (on_rank x (place u))
  | _ => match in_stream x u with Some (r, _) => Some r | None => None end end.
Definition link_of x (u : op) := match in_link x u with Some (l, _) => Some l | None => None end.
Definition alike (a b : option nat) := match a, b with Some i, Some j => (i =? j)%nat | _, _ => false end.
Definition carries x (u v : op) : bool := alike (rank_of x u) (rank_of x v) || alike (link_of x u) (link_of x v).

(* THE MEANING OF A TIME. d: how long each operation takes. With a barrier T is the end of the
   iteration; without one, the time after which the next iteration can do the same. *)
Definition timing x (d : op -> Z) (start : op -> Z) (T : Z) : Prop :=
  0 <= T
  /\ (forall u, valid x u = true -> 0 <= start u)
  /\ (barrier x = true -> forall u, valid x u = true -> start u + d u <= T)
  /\ (forall u v, valid x u = true -> valid x v = true -> waits x u v = true -> start u + d u <= start v)
  /\ (barrier x = false -> forall u v, valid x u = true -> valid x v = true -> carries x u v = true ->
        start u + d u <= start v + T).
Definition takes_at_most x d T := exists start, timing x d start T.

(* ------------------------------------------------------------------ of proofs alone *)
Lemma both_read a b (P Q : Prop) : (a = true -> P) -> (b = true -> Q) -> a && b = true -> P /\ Q.
Proof. destruct a, b; cbn; intuition discriminate. Qed.
Lemma both_shown a b (P Q : Prop) : (P -> a = true) -> (Q -> b = true) -> P /\ Q -> a && b = true.
Proof. intros F G [p q]. rewrite (F p), (G q). reflexivity. Qed.
(* What a truth value says, as rewriting with andb_true_iff and its like gives it, but without
   searching for places: [parts] only of conjunctions, [facts] of comparisons, too. *)
Ltac read_with compares e := lazymatch e with
  | andb ?a ?b => let p := read_with compares a in let q := read_with compares b in constr:(both_read a b _ _ p q)
  | _ => compares e end.
Ltac show_with compares e := lazymatch e with
  | andb ?a ?b => let p := show_with compares a in let q := show_with compares b in constr:(both_shown a b _ _ p q)
  | _ => compares e end.
Ltac as_is e := constr:(fun h : e = true => h).
Ltac compared e := lazymatch e with
  | Nat.ltb ?a ?b => constr:(proj1 (Nat.ltb_lt a b)) | Nat.leb ?a ?b => constr:(proj1 (Nat.leb_le a b)) | Nat.eqb ?a ?b => constr:(proj1 (Nat.eqb_eq a b))
  | Z.ltb ?a ?b => constr:(proj1 (Z.ltb_lt a b)) | Z.leb ?a ?b => constr:(proj1 (Z.leb_le a b)) | Z.eqb ?a ?b => constr:(proj1 (Z.eqb_eq a b))
  | _ => as_is e end.
Ltac comparing e := lazymatch e with
  | Nat.ltb ?a ?b => constr:(proj2 (Nat.ltb_lt a b)) | Nat.leb ?a ?b => constr:(proj2 (Nat.leb_le a b)) | Nat.eqb ?a ?b => constr:(proj2 (Nat.eqb_eq a b))
  | Z.ltb ?a ?b => constr:(proj2 (Z.ltb_lt a b)) | Z.leb ?a ?b => constr:(proj2 (Z.leb_le a b)) | Z.eqb ?a ?b => constr:(proj2 (Z.eqb_eq a b))
  | _ => as_is e end.
Ltac read_in compares H := lazymatch type of H with ?e = true => let p := read_with compares e in apply p in H end.
Ltac show_goal reads shows := lazymatch goal with
  | |- ?e = true => let p := show_with shows e in apply p
  | |- ?e = true -> _ => let p := read_with reads e in let h := fresh in intros h; apply p in h; revert h end.
Tactic Notation "facts" "in" hyp(H) := read_in compared H.
Tactic Notation "parts" "in" hyp(H) := read_in as_is H.
Tactic Notation "facts" := show_goal compared comparing.
Tactic Notation "parts" := show_goal as_is as_is.

(* ------------------------------------------------------------------ paths *)
(* From u along l: how many iterations further it ends. *)
Fixpoint walk x (u : op) (l : list op) : option Z := match l with
  | [] => Some 0
  | v :: r => if negb (valid x v) then None
      else if waits x u v then walk x v r
      else if negb (barrier x) && carries x u v then option_map (Z.add 1) (walk x v r)
      else None end.
Definition ends (u : op) (l : list op) := last l u.
Definition op_eqb (u v : op) : bool :=
  match what u, what v with
  | Forward, Forward | Backward, Backward | Weight, Weight | Sync, Sync | Optimizer, Optimizer
  | EmbeddingSync, EmbeddingSync | QueuedSync, QueuedSync => true
  | Sends d, Sends e | Links d, Links e | Delays d, Delays e | Receives d, Receives e => same_direction d e
  | _, _ => false end && same_message u v.
Lemma op_eqb_eq u v : op_eqb u v = true -> u = v.
Proof.
  destruct u as [a p i y], v as [b q j z]. unfold op_eqb, same_message, same_direction. cbn [what place batch slice].
  facts. intros (H & (-> & ->) & ->). f_equal.
  destruct a, b; try discriminate; try reflexivity;
    (destruct d, d0; try discriminate; reflexivity).
Qed.

(* With a barrier, any path, from its first operation; without one, a path that returns to its
   start, which counts once. The operations that it counts, and its laps. *)
Definition counted x (p : list op) : list op := match p with
  | [] => [] | u :: r => if barrier x then p else r end.
Definition laps x (p : list op) : option Z := match p with
  | [] => None
  | u :: r => if negb (valid x u) then None else
      match walk x u r with
      | None => None
      | Some n => if barrier x then Some 1 else if op_eqb (ends u r) u then Some n else None end end.

Fixpoint length_of (d : op -> Z) (l : list op) : Z := match l with [] => 0 | u :: r => d u + length_of d r end.

Lemma last_default (l : list op) a b : l <> [] -> last l a = last l b.
Proof. induction l as [|c l IH]; [congruence|]. intros _. destruct l; [reflexivity|]. apply IH. discriminate. Qed.
Lemma last_cons u v r : ends u (v :: r) = ends v r.
Proof. unfold ends. destruct r as [|w r]; [reflexivity|]. change (last (w :: r) u = last (w :: r) v). apply last_default. discriminate. Qed.

Lemma walk_bound x d start T : timing x d start T -> forall l u n, valid x u = true -> walk x u l = Some n ->
  start u + d u + length_of d l <= start (ends u l) + d (ends u l) + n * T /\ 0 <= n /\ valid x (ends u l) = true
  /\ (barrier x = true -> n = 0).
Proof.
  intros (HT & _ & _ & Hw & Hc). induction l as [|v r IH]; intros u n Hu H; cbn [walk] in H.
  - injection H as <-. cbn. repeat split; auto; lia.
  - destruct (valid x v) eqn:Hv; [|discriminate]. cbn [negb] in H.
    assert (E : ends u (v :: r) = ends v r).
    { apply last_cons. }
    rewrite E. cbn [length_of]. destruct (waits x u v) eqn:Hwt.
    + destruct (IH v n Hv H) as (A & B & C & D). specialize (Hw u v Hu Hv Hwt). repeat split; auto; lia.
    + destruct (barrier x) eqn:Hb; [discriminate|]. cbn [negb andb] in H.
      destruct (carries x u v) eqn:Hct; [|discriminate].
      destruct (walk x v r) as [k|] eqn:Ek; [|discriminate]. assert (En : n = 1 + k) by (cbn [option_map] in H; congruence). rewrite En. clear H En.
      destruct (IH v k Hv Ek) as (A & B & C & D). specialize (Hc eq_refl u v Hu Hv Hct).
      replace ((1 + k) * T) with (T + k * T) by ring. split; [lia|]. split; [lia|]. split; [exact C|discriminate].
Qed.

(* Every path bounds every time. *)
Theorem path_bound x d start T p n : timing x d start T -> laps x p = Some n ->
  length_of d (counted x p) <= n * T /\ 0 <= n.
Proof.
  intros Ht H. destruct p as [|u r]; [discriminate|]. cbn [laps counted] in *.
  destruct (valid x u) eqn:Hu; [|discriminate]. cbn [negb] in H.
  destruct (walk x u r) as [k|] eqn:Ek; [|discriminate].
  destruct (walk_bound x d start T Ht r u k Hu Ek) as (A & B & C & D).
  destruct Ht as (HT & H0 & Hend & _).
  destruct (barrier x) eqn:Hb.
  - injection H as <-. specialize (D eq_refl). subst k. cbn [length_of].
    specialize (Hend eq_refl (ends u r) C). specialize (H0 u Hu). lia.
  - destruct (op_eqb (ends u r) u) eqn:Ee; [|discriminate]. injection H as <-.
    apply op_eqb_eq in Ee. rewrite Ee in A. split; lia.
Qed.
