(* What an iteration is: the operations of one layout with one stage per rank, what each waits for,
   and when a time is long enough for all of them (docs/PROOFS.md 3). Part of the specification:
   a reader of the theorems has to believe this file and Document.v, and nothing else. *)
Require Import ZArith List Bool Lia.
Import ListNotations.
Open Scope Z_scope.

Inductive order := Gpipe | OneFOneB | ZeroBubbleH1 | ZeroBubbleH2 | TokenSliced.
Record shape := Shape {
  schedule : order;
  stages : nat;     (* each on a rank of its own *)
  batches : nat;    (* micro-batches *)
  slices : nat;     (* of a sequence *)
  barrier : bool;   (* an iteration starts when the one before has ended *)
  embedding : bool  (* the first and the last stage sync a shared embedding *) }.

(* A message is overhead at its sender, a use of the link, a delay, and overhead at its receiver. *)
Inductive direction := Onward | Back.
Inductive kind :=
  | Forward | Backward | Weight | Sync | Optimizer
  | Sends (d : direction) | Links (d : direction) | Delays (d : direction) | Receives (d : direction)
  | EmbeddingSync.
(* of a stage, or of the boundary between stages [place] and [place + 1] *)
Record op := Op { what : kind; place : nat; batch : nat; slice : nat }.

Definition splits x := match schedule x with ZeroBubbleH1 | ZeroBubbleH2 => true | _ => false end.
Definition valid (x : shape) (u : op) : bool :=
  let passes := (batch u <? batches x)%nat && (slice u <? slices x)%nat in
  let once := (batch u =? 0)%nat && (slice u =? 0)%nat in
  match what u with
  | Forward | Backward => (place u <? stages x)%nat && passes
  | Weight => splits x && (place u <? stages x)%nat && (batch u <? batches x)%nat && (slice u =? 0)%nat
  | Sync | Optimizer => (place u <? stages x)%nat && once
  | EmbeddingSync => embedding x && (place u =? 0)%nat && once
  | _ => (S (place u) <? stages x)%nat && passes
  end.

(* ---- the order of a rank's passes *)
Definition total x := (batches x * slices x)%nat.
(* forwards before the first backward; backwards before the first weight gradient *)
Definition ahead x s : nat := match schedule x with
  | Gpipe | TokenSliced => total x
  | OneFOneB | ZeroBubbleH1 => Nat.min (total x) (stages x - 1 - s)
  | ZeroBubbleH2 => Nat.min (total x) (2 * (stages x - 1 - s)) end.
Definition behind x s : nat := match schedule x with
  | ZeroBubbleH1 => s
  | ZeroBubbleH2 => Nat.min (2 * s) (total x - 1 - ahead x s)
  | _ => 0 end.
(* Forward and backward alternate after the forwards ahead: the n-th backward is between the
   forwards n + ahead and n + 1 + ahead. Slices come back in reverse. *)
Definition turn x s k batch slice : nat := match k with
  | Forward => 3 * (batch * slices x + slice)
  | Backward => 3 * (batch * slices x + (slices x - 1 - slice) + ahead x s) + 1
  | _ => 3 * (batch + behind x s + ahead x s) + 2 end.
(* The compute stream of a rank, and the place in it: overheads are right beside their passes. *)
Definition in_stream x (u : op) : option (nat * nat) :=
  let at_ s k half := Some (s, (3 * turn x s k (batch u) (slice u) + half)%nat) in
  match what u with
  | Forward => at_ (place u) Forward 1%nat
  | Backward => at_ (place u) Backward 1%nat
  | Weight => at_ (place u) Weight 1%nat
  | Sends Onward => at_ (place u) Forward 2%nat
  | Receives Onward => at_ (S (place u)) Forward 0%nat
  | Sends Back => at_ (S (place u)) Backward 2%nat
  | Receives Back => at_ (place u) Backward 0%nat
  | _ => None end.
Definition same_message u v :=
  (place u =? place v)%nat && (batch u =? batch v)%nat && (slice u =? slice v)%nat.
Definition sent_by d b := match d with Onward => b | Back => S b end.
Definition pass_of d := match d with Onward => Forward | Back => Backward end.
Definition same_direction d e := match d, e with Onward, Onward | Back, Back => true | _, _ => false end.

(* The last pass of a stage: its gradients are complete. *)
Definition last_pass x (u : op) := match what u with
  | Weight => (S (batch u) =? batches x)%nat
  | Backward => negb (splits x) && (S (batch u) =? batches x)%nat && (slice u =? 0)%nat
  | _ => false end.

(* Near the end of the iteration gradients may be sent compressed that are not before. *)
Definition drains x (u : op) :=
  (slice u =? 0)%nat && (batches x + place u <? batch u + stages x + 1)%nat.

(* Within an iteration, v waits for u. *)
Definition waits x (u v : op) : bool :=
  match in_stream x u, in_stream x v with
  | Some (r, i), Some (r', i') => (r =? r')%nat && (i <? i')%nat
  | _, _ => false end ||
  match what u, what v with
  (* a rank's steps are at the end of its stream *)
  | Optimizer, _ => false
  | _, Optimizer => match in_stream x u with Some (r, _) => (r =? place v)%nat | None => false end
      || match what u with
         | Sync => (place u =? place v)%nat
         | EmbeddingSync => (place v =? 0)%nat || (S (place v) =? stages x)%nat
         | _ => false end
  (* a message *)
  | Sends d, Links e | Links d, Delays e | Delays d, Receives e => same_direction d e && same_message u v
  (* one message at a time on a link, in the order of the passes that send them *)
  | Links d, Links e => same_direction d e && (place u =? place v)%nat &&
      (turn x (sent_by d (place u)) (pass_of d) (batch u) (slice u) <?
       turn x (sent_by d (place u)) (pass_of d) (batch v) (slice v))%nat
  (* syncs *)
  | Backward, Sync | Weight, Sync => (place u =? place v)%nat && last_pass x u
  | Sync, EmbeddingSync => (place u =? 0)%nat || (S (place u) =? stages x)%nat
  | _, _ => false end.

(* Without a barrier, v of the next iteration waits for u of this one: streams and links go on. *)
Definition rank_of x (u : op) := match what u with
  | Optimizer => Some (place u)
  | _ => match in_stream x u with Some (r, _) => Some r | None => None end end.
Definition carries x (u v : op) : bool :=
  match rank_of x u, rank_of x v with Some r, Some r' => (r =? r')%nat | _, _ => false end ||
  match what u, what v with
  | Links d, Links e => same_direction d e && (place u =? place v)%nat
  | _, _ => false end.

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
  | EmbeddingSync, EmbeddingSync => true
  | Sends d, Sends e | Links d, Links e | Delays d, Delays e | Receives d, Receives e => same_direction d e
  | _, _ => false end && same_message u v.
Lemma op_eqb_eq u v : op_eqb u v = true -> u = v.
Proof.
  destruct u as [a p i y], v as [b q j z]. unfold op_eqb, same_message, same_direction. cbn [what place batch slice].
  rewrite !andb_true_iff, !Nat.eqb_eq. intros (H & (-> & ->) & ->). f_equal.
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
