(* A plan's durations as rows of numbers, paths as rows of counts, and what a mixture of paths
   proves: its length is at most the time, whatever the plan. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule.
Import ListNotations.
Open Scope Z_scope.

(* ---- lists of numbers *)
Fixpoint dot (a b : list Z) : Z := match a, b with x :: a', y :: b' => x * y + dot a' b' | _, _ => 0 end.
Fixpoint dots (a b : list (list Z)) : Z := match a, b with x :: a', y :: b' => dot x y + dots a' b' | _, _ => 0 end.
Fixpoint plus (w : Z) (a b : list Z) : list Z := match a, b with x :: a', y :: b' => w * x + y :: plus w a' b' | _, _ => b end.
Fixpoint sums (a b : list Z) : list Z := match a, b with x :: a', y :: b' => x + y :: sums a' b' | _, _ => b end.
Lemma sums_plus a : forall b, sums a b = plus 1 a b.
Proof. induction a as [|x a IH]; intros [|y b]; cbn [sums plus]; auto. rewrite IH. f_equal. lia. Qed.
Fixpoint pluses (w : Z) (a b : list (list Z)) := match a, b with x :: a', y :: b' => plus w x y :: pluses w a' b' | _, _ => b end.
Fixpoint bump (i : nat) (l : list Z) : list Z := match l, i with [], _ => [] | x :: r, O => x + 1 :: r | x :: r, S j => x :: bump j r end.
Fixpoint bumps (i j : nat) (l : list (list Z)) := match l, i with [], _ => [] | x :: r, O => bump j x :: r | x :: r, S k => x :: bumps k j r end.

Definition wide (n k : nat) (m : list (list Z)) := length m = n /\ Forall (fun r => length r = k) m.

Lemma bump_length l : forall i, length (bump i l) = length l.
Proof. induction l; destruct i; simpl; auto. Qed.
Lemma bumps_wide n k m : forall i j, wide n k m -> wide n k (bumps i j m).
Proof.
  unfold wide. intros i j [H F]. revert n i H. induction F as [|x m Hx F IH]; intros n i H; destruct i; simpl in *; auto.
  - split; auto. constructor; auto. rewrite bump_length. auto.
  - destruct n; [discriminate|]. destruct (IH n i) as [A B]; [congruence|]. split; [congruence|constructor; auto].
Qed.
Lemma dot_bump l : forall i r, length l = length r -> (i < length l)%nat -> dot (bump i l) r = dot l r + nth i r 0.
Proof. induction l as [|x l IH]; intros [|i] [|y r] H Hi; simpl in *; try lia. rewrite IH; lia. Qed.
Lemma dots_bumps n k m : forall i j r, wide n k m -> wide n k r -> (i < n)%nat -> (j < k)%nat ->
  dots (bumps i j m) r = dots m r + nth j (nth i r []) 0.
Proof.
  revert n. induction m as [|x m IH]; intros n i j r [Hn Hm] [Rn Rm] Hi Hj; simpl in *; [lia|].
  destruct r as [|y r]; [simpl in *; lia|]. inversion_clear Hm. inversion_clear Rm. destruct i as [|i]; simpl.
  - rewrite dot_bump; lia.
  - destruct n; [lia|]. rewrite (IH n i j r); [lia|split; simpl in *; auto; lia|split; simpl in *; auto; lia|lia|lia].
Qed.
Lemma plus_length w a : forall b, length (plus w a b) = length b.
Proof. induction a; destruct b; simpl; auto. Qed.
Lemma pluses_wide n k w a : forall b, wide n k b -> wide n k (pluses w a b).
Proof.
  revert n. induction a as [|x a IH]; intros n b [H F]; simpl; [split; auto|]. destruct b as [|y b]; [split; auto|].
  inversion_clear F. destruct n; [discriminate|]. destruct (IH n b) as [A B]; [split; simpl in *; auto; lia|].
  split; simpl; [lia|constructor; auto]. rewrite plus_length. auto.
Qed.
Lemma dot_plus w a : forall b r, length a = length r -> length b = length r -> dot (plus w a b) r = w * dot a r + dot b r.
Proof. induction a as [|x a IH]; intros [|y b] [|z r] H G; simpl in *; try lia. rewrite IH; lia. Qed.
Lemma dots_pluses n k w a : forall b r, wide n k a -> wide n k b -> wide n k r -> dots (pluses w a b) r = w * dots a r + dots b r.
Proof.
  revert n. induction a as [|x a IH]; intros n [|y b] [|z r] [A1 A2] [B1 B2] [R1 R2]; simpl in *; try lia.
  inversion_clear A2. inversion_clear B2. inversion_clear R2. destruct n; [discriminate|].
  rewrite (IH n b r) by (split; auto; lia). rewrite dot_plus by lia. ring.
Qed.
Definition zeros n k : list (list Z) := repeat (repeat 0 k) n.
Lemma zeros_wide n k : wide n k (zeros n k).
Proof. split; [apply repeat_length|]. apply Forall_forall. intros r H. apply repeat_spec in H. subst. apply repeat_length. Qed.
Lemma dot_zeros k : forall r, dot (repeat 0 k) r = 0.
Proof. induction k; destruct r; simpl; auto. Qed.
Lemma dots_zeros n k : forall r, dots (zeros n k) r = 0.
Proof. induction n; destruct r; simpl; auto. unfold zeros in *. rewrite dot_zeros, IHn. reflexivity. Qed.

(* ---- symbols: a row has a stage's own durations, then those of the boundary after it *)
Definition own_width x := (2 * slices x + 4)%nat.
Definition boundary_width x := (6 * slices x + 3)%nat.
Definition row_width x := (own_width x + boundary_width x)%nat.
Definition message_symbol x d u (part : nat) : nat := match d with
  | Onward => 3 * slice u + part
  | Back => if drains x u then 6 * slices x + part else 3 * (slices x + slice u) + part end.
Definition symbol x (u : op) : nat := match what u with
  | Forward => slice u
  | Backward => slices x + slice u
  | Weight => 2 * slices x
  | Sync => 2 * slices x + 1
  | Optimizer => 2 * slices x + 2
  | QueuedSync => 2 * slices x + 3
  | Sends d | Receives d => own_width x + message_symbol x d u 0
  | Links d => own_width x + message_symbol x d u 1
  | Delays d => own_width x + message_symbol x d u 2
  | EmbeddingSync => 0 end.

Definition value x (rows : list (list Z)) (e : Z) (u : op) : Z := match what u with
  | EmbeddingSync => e
  | _ => nth (symbol x u) (nth (place u) rows []) 0 end.

Record tally := Tally { counts : list (list Z); joint : Z (* of the embedding's sync *) }.
Definition measure (t : tally) rows e := dots (counts t) rows + joint t * e.
Definition note x (u : op) (t : tally) : tally := match what u with
  | EmbeddingSync => Tally (counts t) (joint t + 1)
  | _ => Tally (bumps (place u) (symbol x u) (counts t)) (joint t) end.
Definition nothing x := Tally (zeros (stages x) (row_width x)) 0.
Definition shaped x rows := wide (stages x) (row_width x) rows.
Definition tally_of x (p : list op) : tally := fold_right (note x) (nothing x) p.

Lemma valid_symbol x u : valid x u = true -> what u <> EmbeddingSync -> (place u < stages x)%nat /\ (symbol x u < row_width x)%nat.
Proof.
  unfold valid, symbol, row_width, own_width, boundary_width, message_symbol.
  destruct (what u) as [| | | | |d|d|d|d| |]; intros H N; try congruence;
    try (facts in H); try (destruct d, (drains x u)); lia.
Qed.
Lemma tally_shaped x p : shaped x (counts (tally_of x p)).
Proof.
  induction p as [|u p IH]; [apply zeros_wide|]. cbn [tally_of fold_right]. fold (tally_of x p). unfold note.
  destruct (what u); cbn [counts]; auto; apply bumps_wide, IH.
Qed.
Lemma tally_measures x rows e p : shaped x rows -> Forall (fun u => valid x u = true) p ->
  measure (tally_of x p) rows e = length_of (value x rows e) p.
Proof.
  intros Hr H. induction H as [|u p Hu H IH]; cbn [tally_of fold_right length_of].
  - unfold measure, nothing. cbn [counts joint]. rewrite dots_zeros. reflexivity.
  - fold (tally_of x p). pose proof (tally_shaped x p) as Hs. unfold measure, note, value in *.
    assert (V := valid_symbol x u Hu).
    destruct (what u); cbn [counts joint]; try (rewrite (dots_bumps (stages x) (row_width x)) by (auto; apply V; discriminate); lia). lia.
Qed.
Lemma counted_valid x p n : laps x p = Some n -> Forall (fun u => valid x u = true) (counted x p).
Proof.
  destruct p as [|u r]; [discriminate|]. cbn [laps counted]. destruct (valid x u) eqn:Hu; [|discriminate]. cbn [negb].
  assert (G : forall r u k, walk x u r = Some k -> Forall (fun u => valid x u = true) r).
  { clear. induction r as [|v r IH]; intros u k; cbn [walk]; [constructor|]. destruct (valid x v) eqn:Hv; [|discriminate]. cbn [negb].
    destruct (waits x u v); [eauto|]. destruct (_ && _); [|discriminate]. destruct (walk x v r) eqn:E; [|discriminate]. eauto. }
  destruct (walk x u r) as [k|] eqn:E; [|discriminate]. intros _. destruct (barrier x); [constructor|]; eauto.
Qed.

(* ---- mixtures: weights are numerators of 2^-40 *)
Definition whole : Z := Eval compute in 2 ^ 40.
Record path := Path { steps : tally; turns : Z (* laps *) }.
Definition read_path x (p : list op) : option path := match laps x p with
  | Some n => Some (Path (tally_of x (counted x p)) n) | None => None end.
Definition sound x (p : path) := shaped x (counts (steps p)) /\ 0 <= turns p /\
  forall rows e start T, shaped x rows -> timing x (value x rows e) start T -> measure (steps p) rows e <= turns p * T.
Lemma read_path_sound x p q : read_path x p = Some q -> sound x q.
Proof.
  unfold read_path. destruct (laps x p) as [n|] eqn:E; [|discriminate]. intros [=<-]. split; [apply tally_shaped|]. cbn [steps turns].
  split.
  - destruct p as [|u r]; [discriminate|]. clear -E. cbn [laps] in E. destruct (negb (valid x u)); [discriminate|].
    destruct (walk x u r) as [k|] eqn:W; [|discriminate]. destruct (barrier x); [injection E as <-; lia|].
    destruct (op_eqb _ _); [|discriminate]. injection E as <-. clear -W. revert u k W.
    induction r as [|v r IH]; cbn [walk]; intros u k W; [injection W as <-; lia|]. destruct (negb (valid x v)); [discriminate|].
    destruct (waits x u v); [eauto|]. destruct (_ && _); [|discriminate]. destruct (walk x v r) eqn:F; [|discriminate].
    specialize (IH _ _ F). assert (k = 1 + z) by (cbn [option_map] in W; congruence). lia.
  - intros rows e start T Hr Ht. rewrite tally_measures; [|auto|eapply counted_valid; eauto].
    eapply path_bound; eauto.
Qed.

Fixpoint mix x (paths : nat -> option path) (w : list (nat * Z)) : option (tally * Z) := match w with
  | [] => Some (nothing x, 0)
  | (i, a) :: r => if a <? 0 then None else match paths i, mix x paths r with
      | Some p, Some (t, s) => Some (Tally (pluses a (counts (steps p)) (counts t)) (a * joint (steps p) + joint t), a * turns p + s)
      | _, _ => None end end.
Theorem mixture_bound x paths (Hp : forall i p, paths i = Some p -> sound x p) : forall w t s, mix x paths w = Some (t, s) ->
  shaped x (counts t) /\ forall rows e start T, shaped x rows -> timing x (value x rows e) start T -> measure t rows e <= s * T.
Proof.
  induction w as [|[i a] w IH]; intros t s H; cbn [mix] in H.
  - injection H as <- <-. split; [apply zeros_wide|]. intros. unfold measure, nothing. cbn [counts joint]. rewrite dots_zeros. lia.
  - destruct (Z.ltb_spec a 0); [discriminate|]. destruct (paths i) as [p|] eqn:Ep; [|discriminate].
    destruct (mix x paths w) as [[t' s']|]; [|discriminate]. injection H as <- <-. destruct (IH _ _ eq_refl) as [A B].
    destruct (Hp i p Ep) as (C & _ & D). split; [apply pluses_wide, A|]. intros rows e start T Hr Ht.
    specialize (B rows e start T Hr Ht). specialize (D rows e start T Hr Ht). unfold measure in *. cbn [counts joint].
    rewrite (dots_pluses (stages x) (row_width x)) by auto. nia.
Qed.
