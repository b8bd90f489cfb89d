(* Where a message blocks its receiver earlier than right before the pass that uses it (solve/checker/
   layout/streams.c, ranks that wait in a circle): a rank's whole stream all the same (docs/PROOFS.md 8.5,
   8.6, with what blocks). *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Streams Bounds Blocks.
Import ListNotations.
Open Scope Z_scope.

(* Intervals that do not overlap, between two times. *)
Definition total := fold_right Z.add 0.
Definition apart (p q : Z * Z) := fst p + snd p <= fst q \/ fst q + snd q <= fst p.
Lemma apart_sym p q : apart p q -> apart q p. Proof. unfold apart. tauto. Qed.
Lemma latest (l : list (Z * Z)) : l <> [] -> exists a w b, l = a ++ w :: b /\ forall q, In q (a ++ b) -> fst q <= fst w.
Proof.
  induction l as [|p l IH]; [congruence|]. intros _. destruct l as [|p' l]; [exists [], p, []; split; [reflexivity|intros q []]|].
  destruct (IH ltac:(discriminate)) as (a & w & b & E & M). destruct (Z.le_gt_cases (fst p) (fst w)) as [L|L].
  - exists (p :: a), w, b. rewrite E. split; [reflexivity|]. intros q [->|Hq]; [exact L|exact (M q Hq)].
  - exists [], p, (p' :: l). split; [reflexivity|]. cbn [app]. rewrite E. intros q Hq. rewrite in_app_iff in Hq. cbn [In] in Hq. destruct Hq as [Hq|[<-|Hq]]; [|lia|]; specialize (M q ltac:(rewrite in_app_iff; tauto)); lia.
Qed.
Lemma total_middle (a : list (Z * Z)) w b : total (map snd (a ++ w :: b)) = snd w + total (map snd (a ++ b)).
Proof. induction a as [|c a IH]; [reflexivity|]. cbn [app map]. change (snd c + total (map snd (a ++ w :: b)) = snd w + (snd c + total (map snd (a ++ b)))). lia. Qed.
Lemma in_a_row : forall n (l : list (Z * Z)), length l = n -> ForallOrdPairs apart l -> Forall (fun p => 0 <= snd p) l -> forall t e, t <= e -> Forall (fun p => t <= fst p /\ fst p + snd p <= e) l -> t + total (map snd l) <= e.
Proof.
  induction n as [|n IH]; intros l Hn Ha Hp t e Hte Hw; [destruct l; [cbn; lia|discriminate]|].
  destruct (latest l) as (a & w & b & -> & M); [destruct l; discriminate|]. rewrite total_middle.
  assert (Q : ForallOrdPairs apart (a ++ b) /\ forall q, In q (a ++ b) -> apart q w).
  { clear - Ha. induction a as [|c a IHa]; cbn [app] in *; inversion_clear Ha as [|? ? F G].
    - split; [exact G|]. intros q Hq. rewrite Forall_forall in F. apply apart_sym, F, Hq.
    - destruct (IHa G) as [X Y]. rewrite Forall_forall in F. split; [constructor; [apply Forall_forall; intros q Hq; apply F; rewrite in_app_iff in *; cbn; tauto|exact X]|].
      intros q [->|Hq]; [apply F; rewrite in_app_iff; cbn; tauto|exact (Y q Hq)]. }
  destruct Q as [X Y]. rewrite Forall_forall in Hp, Hw. assert (In_w : In w (a ++ w :: b)) by (rewrite in_app_iff; cbn; tauto). assert (Sub : forall q, In q (a ++ b) -> In q (a ++ w :: b)) by (intros q; rewrite !in_app_iff; cbn; tauto).
  assert (Len : length (a ++ b) = n) by (rewrite app_length in *; cbn [length] in Hn; lia). pose proof (Hp w In_w) as Pw. destruct (Hw w In_w) as [W1 W2].
  destruct (Z.eq_dec (snd w) 0) as [Z0|N].
  - rewrite Z0. apply (IH (a ++ b) Len X); [apply Forall_forall; intros q Hq; apply Hp, Sub, Hq|exact Hte|apply Forall_forall; intros q Hq; apply Hw, Sub, Hq].
  - assert (t + total (map snd (a ++ b)) <= fst w); [|lia]. apply (IH (a ++ b) Len X); [apply Forall_forall; intros q Hq; apply Hp, Sub, Hq|exact W1|].
    apply Forall_forall. intros q Hq. split; [apply Hw, Sub, Hq|]. destruct (Y q Hq) as [?|G]; [assumption|]. specialize (M q Hq). lia.
Qed.

Section Of.
Variable x : shape.
Hypothesis Hx : regular x.
Variables (d start : op -> Z) (T : Z).
Hypothesis Ht : timing x d start T.
Hypothesis Hd : forall u, 0 <= d u.
Variables lasts_ begins_ : direction -> nat -> nat -> nat -> Z.
(* d0: with what blocks at the senders (Blocks.blocked, of no rank) *)
Variables d0 start0 : op -> Z.
Hypothesis Ht0 : timing x d0 start0 T.
Variable s : nat.
Hypothesis Hs : (s < rank_count x)%nat.
Hypothesis opens_then : start0 (opens s) <= start (opens s).
(* Messages that block the rank, but for the one that opens its stream. *)
Variable messages : list (direction * op).
Definition interval (m : direction * op) := (from_ begins_ (fst m) (snd m), blocks lasts_ (fst m) (snd m)).
Hypothesis positive : forall m, In m messages -> 0 <= snd (interval m).
Hypothesis after_opening : forall m, In m messages -> start (opens s) <= fst (interval m).
Hypothesis one_by_one : ForallOrdPairs apart (map interval messages).
Hypothesis beside_none : forall m u, In m messages -> valid x u = true -> (exists i, in_stream x u = Some (s, i)) -> apart (interval m) (start u, d u).
Let blocked_for := total (map (fun m => snd (interval m)) messages).
Lemma row_apart (l : list op) : of_rank x s l -> NoDup l -> ForallOrdPairs apart (map (fun u => (start u, d u)) l).
Proof.
  intros Hl Hn. induction Hn as [|u l Hu Hn IH]; cbn [map]; [constructor|]. inversion_clear Hl as [|? ? (Vu & i & Iu) Hl']. constructor; [|apply IH; exact Hl'].
  apply Forall_forall. intros q Hq. apply in_map_iff in Hq. destruct Hq as (v & <- & Hv). unfold of_rank, of_row in Hl'. rewrite Forall_forall in Hl'. destruct (Hl' v Hv) as (Vv & j & Iv). unfold apart. cbn [fst snd].
  destruct (Nat.lt_trichotomy i j) as [L|[->|L]]; [left|exfalso; apply Hu; rewrite (one_place x Hx u v s j); auto|right].
  - apply (waits_stream x Hx d start T Ht u v s i j); auto.
  - apply (waits_stream x Hx d start T Ht v u s j i); auto.
Qed.
(* THEOREM 8.5, 8.6, with what blocks: up to any time by which l and the messages are over. *)
Theorem early l e : of_rank x s l -> NoDup l -> (forall u, In u l -> start u + d u <= e) -> (forall m, In m messages -> fst (interval m) + snd (interval m) <= e) -> start (opens s) <= e ->
  start0 (Op Forward 0 0 0) + fill d0 s + length_of d l + blocked_for <= e.
Proof.
  intros Hl Hn He Hm Ho. pose proof (reaches x Hx d0 start0 T Ht0 s Hs) as R. unfold begins in R.
  assert (Q : start (opens s) + total (map snd (map interval messages ++ map (fun u => (start u, d u)) l)) <= e).
  { pose proof Hl as Hl'. unfold of_rank, of_row in Hl'. rewrite Forall_forall in Hl'. apply (in_a_row _ _ eq_refl).
    - pose proof (row_apart l Hl Hn) as A. assert (B : forall m u, In m messages -> In u l -> apart (interval m) (start u, d u)) by (intros m u Im Iu; destruct (Hl' u Iu); apply beside_none; auto).
      revert one_by_one B. clear - A. generalize messages. induction messages0 as [|m ms IH]; intros O B; cbn [map app]; [exact A|]. inversion_clear O as [|? ? F G]. constructor.
      + apply Forall_app. split; [exact F|]. apply Forall_forall. intros q Hq. apply in_map_iff in Hq. destruct Hq as (u & <- & Hu). apply B; [left; reflexivity|exact Hu].
      + apply IH; [exact G|]. intros; apply B; [right|]; assumption.
    - apply Forall_app. split; apply Forall_forall; intros q Hq; apply in_map_iff in Hq; destruct Hq as (m & <- & Im); [apply positive, Im|cbn; apply Hd].
    - exact Ho.
    - apply Forall_app. split; apply Forall_forall; intros q Hq; apply in_map_iff in Hq; destruct Hq as (m & <- & Im).
      + split; [apply after_opening|apply Hm]; exact Im.
      + cbn [fst snd]. destruct (Hl' m Im) as (Vm & Sm). split; [|apply He; exact Im]. apply (stream_opens x Hx d start T Ht s m Hs Hd Vm (or_introl Sm)). }
  assert (E : total (map snd (map interval messages ++ map (fun u => (start u, d u)) l)) = blocked_for + length_of d l).
  { unfold blocked_for. clear. induction messages as [|m ms IH]; cbn [map app].
    - change (total []) with 0. induction l as [|u l IH]; [reflexivity|]. cbn [map length_of]. change (snd (start u, d u) + total (map snd (map (fun u => (start u, d u)) l)) = 0 + (d u + length_of d l)). cbn [snd]. change (total []) with 0 in IH. lia.
    - change (snd (interval m) + total (map snd (map interval ms ++ map (fun u => (start u, d u)) l)) = snd (interval m) + total (map (fun m => snd (interval m)) ms) + length_of d l). lia. }
  lia.
Qed.
End Of.
