(* All ranks of a layout against a time (docs/PROOFS.md 8.2, 8.12 to 8.17): numbers alone, for any
   number of kinds of layers. [fits i p q]: the path bounds of rank i, with the layers from p to q on
   it and those before p on the ranks before it, are below the time. *)
Require Import ZArith List Bool Lia Arith.
Import ListNotations.
Open Scope Z_scope.

(* ---- 8.12: what is asked of the bound of a rank, and what it means for intervals *)
Definition share := nat -> nat.                       (* of each kind, how many layers *)
Definition one_of (c : nat) : share := fun e => if (e =? c)%nat then 1%nat else 0%nat.
Definition plus (a b : share) : share := fun c => (a c + b c)%nat.
Definition none : share := fun _ => 0%nat.
Fixpoint counts (l : list nat) : share := match l with [] => none | c :: r => plus (one_of c) (counts r) end.
Section Intervals.
Variable takes : nat -> share -> share -> option Z.   (* rank, before, on it; None: it never fits *)
Variable T : Z.
Definition below i b k := exists v, takes i b k = Some v /\ v < T.
Hypothesis same : forall i b b' k k', (forall c, b c = b' c) -> (forall c, k c = k' c) -> below i b k -> below i b' k'.
Hypothesis grows : forall i b k c, below i b (plus k (one_of c)) -> below i b k.                            (* (1) *)
Hypothesis moved : forall i b k c, below i b (plus k (one_of c)) -> below i (plus b (one_of c)) k.          (* (2) *)
Lemma fewer : forall l i b k, below i b (plus k (counts l)) -> below i b k.
Proof.
  induction l as [|c l IH]; intros i b k H.
  - eapply same; [| |exact H]; intros; unfold plus, counts, none; lia.
  - apply (grows i b k c). apply (IH i b (plus k (one_of c))). eapply same; [| |exact H]; intros; cbn [counts]; unfold plus; lia.
Qed.
Lemma later : forall l i b k, below i b (plus k (counts l)) -> below i (plus b (counts l)) k.
Proof.
  induction l as [|c l IH]; intros i b k H.
  - eapply same; [| |exact H]; intros; unfold plus, counts, none; lia.
  - assert (A : below i (plus b (one_of c)) (plus k (counts l))).
    { apply moved. eapply same; [| |exact H]; intros; cbn [counts]; unfold plus; lia. }
    eapply same; [| |exact (IH i _ k A)]; intros; cbn [counts]; unfold plus; lia.
Qed.
Variable layers : list nat.                           (* the kind of each *)
Definition span p q := firstn (q - p) (skipn p layers).
Definition fits i p q := below i (counts (firstn p layers)) (counts (span p q)).
Lemma counts_app a b c : counts (a ++ b) c = (counts a c + counts b c)%nat.
Proof. induction a as [|x a IH]; cbn [app counts]; unfold plus; [reflexivity|]. rewrite IH. lia. Qed.
Lemma skipn_twice (a b : nat) : forall l : list nat, skipn a (skipn b l) = skipn (a + b) l.
Proof.
  induction b as [|b IH]; intros l; [rewrite Nat.add_0_r; reflexivity|]. replace (a + S b)%nat with (S (a + b)) by lia.
  destruct l as [|c l]; [rewrite !skipn_nil; reflexivity|]. cbn [skipn]. apply IH.
Qed.
Lemma span_split p q r : (p <= q <= r)%nat -> span p r = span p q ++ span q r.
Proof.
  intros H. unfold span. replace (r - p)%nat with ((q - p) + (r - q))%nat by lia. rewrite <- (firstn_skipn (q - p) (skipn p layers)) at 1.
  rewrite firstn_app. rewrite firstn_firstn. replace (Nat.min _ (q - p)) with (q - p)%nat by lia. f_equal.
  rewrite skipn_twice. rewrite firstn_length, skipn_length. replace (q - p + p)%nat with q by lia.
  destruct (Nat.le_gt_cases (q - p) (length layers - p)) as [L|L].
  - f_equal. lia.
  - rewrite !skipn_all2 by lia. rewrite !firstn_nil. reflexivity.
Qed.
Lemma firstn_span p q : (p <= q)%nat -> firstn q layers = firstn p layers ++ span p q.
Proof. intros H. pose proof (span_split 0 p q ltac:(lia)) as E. unfold span in *. rewrite !Nat.sub_0_r in E. exact E. Qed.
(* LEMMA: an interval within one that fits, with more before it, fits. *)
Lemma within i p p' q' q : (p <= p' <= q')%nat -> (q' <= q)%nat -> fits i p q -> fits i p' q'.
Proof.
  intros H H' F. unfold fits in *.
  assert (A : below i (counts (firstn p layers)) (counts (span p q'))).
  { apply (fewer (span q' q)). eapply same; [| |exact F]; intros; [reflexivity|]. rewrite (span_split p q' q) by lia. unfold plus. rewrite counts_app. lia. }
  eapply same; [| |apply (later (span p p') i (counts (firstn p layers)) (counts (span p' q')))].
  - intros. rewrite (firstn_span p p') by lia. unfold plus. rewrite counts_app. lia.
  - reflexivity.
  - eapply same; [| |exact A]; intros; [reflexivity|]. rewrite (span_split p p' q') by lia. unfold plus. rewrite counts_app. lia.
Qed.

(* THEOREMS 8.13, 8.15: ranks that take, in order, as many of the next layers as fit are never
   behind a plan below the time. taken i, held i: where rank i begins. *)
Theorem filling (taken held : nat -> nat) n :
  held 0%nat = 0%nat -> (forall i, (i < n)%nat -> (held i <= held (S i))%nat /\ fits i (held i) (held (S i))) -> (forall i, (held i <= length layers)%nat) ->
  (forall i, (i < n)%nat -> (taken i <= taken (S i))%nat /\ (taken (S i) = length layers \/ ~ fits i (taken i) (S (taken (S i))))) ->
  forall i, (i <= n)%nat -> (held i <= taken i)%nat.
Proof.
  intros H0 Hp Hl Hg. induction i as [|i IH]; intros Hi; [lia|]. specialize (IH ltac:(lia)).
  destruct (Hp i ltac:(lia)) as [M F]. destruct (Hg i ltac:(lia)) as [L [E|N]]; [rewrite E; apply Hl|].
  destruct (Nat.le_gt_cases (held (S i)) (taken (S i))) as [?|B]; [assumption|]. exfalso. apply N.
  apply (within i (held i) (taken i) (S (taken (S i))) (held (S i))); auto; lia.
Qed.
End Intervals.

(* THEOREM 8.12: each path is a sum of this form (turn, crossing: a layer takes on the rank what it
   takes more there than elsewhere, and nothing before it), so what is asked above holds for the
   longest of any such paths. way, own: of a layer of each kind before the rank, and on it; rest: what
   else does not fall as layers come, as the least recomputation (Layers.room_grows). *)
Section Lengths.
Variable kinds : nat.
Fixpoint dot (n : nat) (a : share) (v : nat -> Z) : Z := match n with O => 0 | S m => dot m a v + Z.of_nat (a m) * v m end.
Record path := Path { always : Z; anyway : Z; way : nat -> Z; own : nat -> Z; rest : share -> Z }.
Definition length_along p (b k : share) := always p + Z.max (anyway p) (dot kinds b (way p)) + dot kinds k (own p) + rest p k.
Definition alike (a b : share) := forall c, a c = b c.
Definition good p := (forall c, 0 <= way p c <= own p c) /\ (forall k c, rest p k <= rest p (plus k (one_of c))) /\ (forall k k', alike k k' -> rest p k = rest p k').
Variable room_for : share -> bool.
Hypothesis room_for_fewer : forall k c, room_for (plus k (one_of c)) = true -> room_for k = true.
Hypothesis room_for_alike : forall k k', alike k k' -> room_for k = room_for k'.
Definition longest ps (b k : share) := fold_right Z.max 0 (map (fun p => length_along p b k) ps).
Definition rank_takes (ps : nat -> list path) (i : nat) b k := if room_for k then Some (longest (ps i) b k) else None.
Lemma dot_alike v a b : alike a b -> forall n, dot n a v = dot n b v.
Proof. intros H. induction n as [|n IH]; [reflexivity|]. cbn [dot]. rewrite IH, H. reflexivity. Qed.
Lemma dot_more v a c : forall n, dot n (plus a (one_of c)) v = dot n a v + if (c <? n)%nat then v c else 0.
Proof.
  induction n as [|n IH]; [reflexivity|]. cbn [dot]. rewrite IH. unfold plus, one_of. destruct (Nat.eqb_spec n c) as [->|N].
  - rewrite (proj2 (Nat.ltb_ge c c)) by lia. rewrite (proj2 (Nat.ltb_lt c (S c))) by lia. nia.
  - destruct (Nat.ltb_spec c n), (Nat.ltb_spec c (S n)); try lia.
Qed.
Lemma longest_least ps b k b' k' : (forall p, In p ps -> length_along p b k <= length_along p b' k') -> longest ps b k <= longest ps b' k'.
Proof.
  unfold longest. induction ps as [|p ps IH]; intros H; [cbn; lia|]. cbn [map fold_right]. pose proof (H p (or_introl eq_refl)). specialize (IH ltac:(intros; apply H; right; assumption)). lia.
Qed.
Variable ps : nat -> list path.
Hypothesis all_good : forall i p, In p (ps i) -> good p.
Variable T : Z.
Let under := below (rank_takes ps) T.
Theorem lengths_alike i b b' k k' : alike b b' -> alike k k' -> under i b k -> under i b' k'.
Proof.
  intros B K (v & E & L). unfold rank_takes in E. destruct (room_for k) eqn:R; [|discriminate]. assert (E' : longest (ps i) b k = v) by congruence. exists v. split; [|exact L].
  unfold rank_takes. rewrite <- (room_for_alike k k' K), R. f_equal. rewrite <- E'. unfold longest. f_equal. apply map_ext_in. intros p Hp. destruct (all_good i p Hp) as (_ & _ & A).
  unfold length_along. rewrite (dot_alike _ _ _ B), (dot_alike _ _ _ K), (A k k' K). reflexivity.
Qed.
Lemma lower i b k b' k' : (room_for k' = true -> room_for k = true) -> (forall p, In p (ps i) -> length_along p b k <= length_along p b' k') -> under i b' k' -> under i b k.
Proof.
  intros R H (v & E & L). unfold rank_takes in E. destruct (room_for k') eqn:R'; [|discriminate]. assert (E' : longest (ps i) b' k' = v) by congruence.
  exists (longest (ps i) b k). unfold rank_takes. rewrite (R eq_refl). split; [reflexivity|]. pose proof (longest_least (ps i) b k b' k' H). lia.
Qed.
Theorem lengths_grow i b k c : under i b (plus k (one_of c)) -> under i b k.
Proof.
  apply lower; [apply room_for_fewer|]. intros p Hp. destruct (all_good i p Hp) as (A & B & _). unfold length_along. rewrite dot_more. specialize (A c). specialize (B k c). destruct (c <? kinds)%nat; lia.
Qed.
Theorem lengths_moved i b k c : under i b (plus k (one_of c)) -> under i (plus b (one_of c)) k.
Proof.
  apply lower; [apply room_for_fewer|]. intros p Hp. destruct (all_good i p Hp) as (A & B & _). unfold length_along. rewrite !dot_more. specialize (A c). specialize (B k c). destruct (c <? kinds)%nat; lia.
Qed.
End Lengths.

(* ---- 8.14: ranks on groups, in any order. At most so many layers on a rank of the group; slots. *)
Fixpoint together (left : Z) (l : list (Z * Z)) : Z := match l with
  | [] => 0 | (most, slots) :: r => Z.min slots left * most + together (left - Z.min slots left) r end.
Definition best_first (l : list (Z * Z)) := forall a m s b, l = a ++ (m, s) :: b -> Forall (fun p => fst p <= m) b.
Definition proper (l : list (Z * Z)) := Forall (fun p => 0 <= fst p /\ 0 <= snd p) l.
Lemma one_more : forall l most, proper l -> Forall (fun p => fst p <= most) l -> 0 <= most -> forall left more, 0 <= left -> 0 <= more ->
  together (left + more) l <= together left l + more * most.
Proof.
  induction l as [|[m s] l IH]; intros most Hp Hm H0 left more Hl Hmo; cbn [together]; [nia|].
  inversion_clear Hp as [|? ? [P1 P2] Hp']. inversion_clear Hm as [|? ? M Hm']. cbn [fst snd] in *.
  specialize (IH most Hp' Hm' H0 (left - Z.min s left) (more - (Z.min s (left + more) - Z.min s left)) ltac:(lia) ltac:(lia)).
  replace (left - Z.min s left + (more - (Z.min s (left + more) - Z.min s left))) with (left + more - Z.min s (left + more)) in IH by lia.
  assert (0 <= Z.min s (left + more) - Z.min s left <= more) by lia. nia.
Qed.
(* used: ranks of each group *)
Fixpoint held_on (used : list Z) (l : list (Z * Z)) : Z := match used, l with u :: us, (m, _) :: r => u * m + held_on us r | _, _ => 0 end.
Theorem on_groups : forall l used, proper l -> best_first l -> Forall2 (fun u p => 0 <= u <= snd p) used l ->
  forall left, fold_right Z.add 0 used <= left -> held_on used l <= together left l.
Proof.
  induction l as [|[m s] l IH]; intros used Hp Hb Hu left Hl; inversion Hu as [|u ? us ? U Us]; subst; cbn [held_on together]; [lia|].
  inversion_clear Hp as [|? ? [P1 P2] Hp']. cbn [fst snd fold_right] in *.
  assert (Hm : Forall (fun p => fst p <= m) l) by (apply (Hb [] m s l eq_refl)).
  assert (Hb' : best_first l) by (intros a k t b E; apply (Hb ((m, s) :: a) k t b); rewrite E; reflexivity).
  assert (Q : 0 <= fold_right Z.add 0 us) by (clear - Us; induction Us; cbn; lia).
  specialize (IH us Hp' Hb' Us (left - u) ltac:(lia)).
  pose proof (one_more l m Hp' Hm P1 (left - Z.min s left) (Z.min s left - u) ltac:(lia) ltac:(lia)) as G.
  replace (left - Z.min s left + (Z.min s left - u)) with (left - u) in G by lia. nia.
Qed.

(* ---- 8.16: several stages per rank, numbers alone: the most others beside the main layers *)
Definition larger (a b : option nat) := match a, b with Some x, Some y => Some (Nat.max x y) | None, b => b | a, None => a end.
Definition added (a b : option nat) := match a, b with Some x, Some y => Some (x + y)%nat | _, _ => None end.
Fixpoint table (beside : list (nat -> option nat)) (main : nat) : option nat := match beside with
  | [] => if (main =? 0)%nat then Some 0%nat else None
  | b :: r => fold_right (fun here best => larger (added (b here) (table r (main - here))) best) None (seq 0 (S main)) end.
Definition at_least (n : nat) (o : option nat) := exists m, o = Some m /\ (n <= m)%nat.
Lemma larger_at_least n a b : at_least n a \/ at_least n b -> at_least n (larger a b).
Proof. intros [(m & -> & H)|(m & -> & H)]; [destruct b as [k|]|destruct a as [k|]]; cbn; eexists; (split; [reflexivity|lia]). Qed.
Lemma best_of (f : nat -> option nat) n : forall l h, In h l -> at_least n (f h) -> at_least n (fold_right (fun here best => larger (f here) best) None l).
Proof.
  induction l as [|a l IH]; intros h Hi Hf; [destruct Hi|]. cbn [fold_right]. apply larger_at_least. destruct Hi as [->|Hi]; [left; exact Hf|right; eauto].
Qed.
Theorem both (beside : list (nat -> option nat)) (plan : list (nat * nat)) :
  Forall2 (fun b k => at_least (snd k) (b (fst k))) beside plan ->
  at_least (fold_right (fun k n => (snd k + n)%nat) 0%nat plan) (table beside (fold_right (fun k n => (fst k + n)%nat) 0%nat plan)).
Proof.
  induction 1 as [|b [m o] beside plan (c & E & L) _ (s & Es & Ls)]; [exists 0%nat; split; [reflexivity|cbn; lia]|].
  cbn [table fold_right fst snd] in *. set (rest := fold_right (fun k n => (fst k + n)%nat) 0%nat plan) in *.
  apply (best_of (fun here => added (b here) (table beside (m + rest - here)))) with (h := m).
  - apply in_seq. lia.
  - replace (m + rest - m)%nat with rest by lia. rewrite E, Es. exists (c + s)%nat. cbn [added]. split; [reflexivity|]. lia.
Qed.

(* ---- 8.17, 8.4: some rank does at least the mean. Of each rank: what its layers take. *)
Definition sum := fold_right Z.add 0.
Definition all (ranks : list (list Z)) := sum (map sum ranks).
Lemma some_rank (f : list Z -> Z) : forall ranks T, (forall r, In r ranks -> f r <= T) -> sum (map f ranks) <= Z.of_nat (length ranks) * T.
Proof.
  induction ranks as [|r ranks IH]; intros T H; cbn [map sum fold_right length]; [lia|]. fold sum.
  specialize (IH T ltac:(intros; apply H; right; assumption)). specialize (H r ltac:(left; reflexivity)). unfold sum in *. lia.
Qed.
Lemma up a p t : 0 < p -> a <= p * t -> (a + p - 1) / p <= t.
Proof. intros Hp H. assert ((a + p - 1) / p < t + 1); [|lia]. apply Z.div_lt_upper_bound; nia. Qed.
Theorem mean_of_layers (ranks : list (list Z)) m T : ranks <> [] -> 0 <= m -> (forall r, In r ranks -> m * sum r <= T) ->
  let p := Z.of_nat (length ranks) in m * ((all ranks + p - 1) / p) <= T.
Proof.
  intros Hn Hm H p. assert (Hp : 0 < p) by (unfold p; destruct ranks; [congruence|cbn; lia]).
  assert (E : exists r, In r ranks /\ (all ranks + p - 1) / p <= sum r).
  { destruct (Exists_dec (fun r => (all ranks + p - 1) / p <= sum r) ranks) as [X|X]; [intros; apply Z_le_dec|apply Exists_exists; exact X|].
    exfalso. assert (B : forall r, In r ranks -> sum r <= (all ranks + p - 1) / p - 1).
    { intros r Hr. destruct (Z_le_dec ((all ranks + p - 1) / p) (sum r)) as [L|L]; [|lia]. exfalso. apply X, Exists_exists. eauto. }
    pose proof (some_rank sum ranks _ B) as S. fold (all ranks) in S. fold p in S. pose proof (up _ _ _ Hp S). lia. }
  destruct E as (r & Hr & L). specialize (H r Hr). nia.
Qed.
(* Of layers of at least w, some rank has the mean number, rounded up. *)
Definition as_long w (r : list Z) := Z.of_nat (length (filter (fun c => w <=? c) r)).
Lemma as_long_sum w r : 0 <= w -> Forall (fun c => 0 <= c) r -> w * as_long w r <= sum r.
Proof.
  intros Hw. unfold as_long. induction 1 as [|c r Hc _ IH]; cbn [filter sum fold_right]; [cbn; lia|]. fold sum.
  destruct (Z.leb_spec w c); cbn [length]; unfold sum in *; nia.
Qed.
Theorem whole_layers (ranks : list (list Z)) m w T : ranks <> [] -> 0 <= m -> 0 <= w -> Forall (Forall (fun c => 0 <= c)) ranks -> (forall r, In r ranks -> m * sum r <= T) ->
  let p := Z.of_nat (length ranks) in m * (w * ((sum (map (as_long w) ranks) + p - 1) / p)) <= T.
Proof.
  intros Hn Hm Hw Hc H p. rewrite Forall_forall in Hc. pose proof (mean_of_layers (map (fun r => [as_long w r]) ranks)) as M.
  assert (Hn' : map (fun r => [as_long w r]) ranks <> []) by (destruct ranks; [congruence|discriminate]).
  assert (S : forall l, all (map (fun r => [as_long w r]) l) = sum (map (as_long w) l)).
  { induction l as [|r l IH]; [reflexivity|]. unfold all in *. cbn [map sum fold_right]. cbn [map sum fold_right] in IH. unfold sum in *. lia. }
  assert (B : forall r, In r (map (fun r => [as_long w r]) ranks) -> m * w * sum r <= T).
  { intros r Hr. apply in_map_iff in Hr. destruct Hr as (q & <- & Hq). cbn [sum fold_right]. specialize (H q Hq).
    pose proof (as_long_sum w q Hw (Hc q Hq)). nia. }
  specialize (M (m * w) T Hn' ltac:(nia) B). cbn zeta in M. rewrite map_length, S in M. fold p in M. nia.
Qed.

(* ---- 8.2: V stages, none of them empty; every layer is a main one, but for the ends on the rank *)
Theorem must_hold (stages : list (list bool)) ends : Forall (fun s => s <> []) stages ->
  (length (filter negb (concat stages)) <= ends)%nat -> (length stages - ends <= length (filter (fun b => b) (concat stages)))%nat.
Proof.
  intros H. revert ends. induction H as [|s stages Hs _ IH]; intros ends He; cbn [concat length] in *; [cbn; lia|].
  rewrite filter_app, app_length in *.
  assert (A : (1 <= length (filter negb s) + length (filter (fun b => b) s))%nat) by (destruct s as [|[] s]; [congruence|cbn; lia|cbn; lia]).
  specialize (IH (ends - length (filter negb s))%nat ltac:(lia)). lia.
Qed.
Definition theorems := (@filling, @on_groups, @both, @mean_of_layers, @whole_layers, @must_hold, @lengths_alike, @lengths_grow, @lengths_moved).
