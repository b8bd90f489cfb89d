(* What a rank's layers take of its memory (docs/PROOFS.md 8.3): at any moment, of stages that hold
   different numbers of micro-batches, wherever the layers are on them. *)
Require Import ZArith List Bool Lia Sorting.Sorted Sorting.Permutation.
From Plumbline Require Import Schedule Document Streams.
Import ListNotations.
Open Scope Z_scope.

(* ---- any moment's bytes are within the rank's memory *)
Section Of.
Variable P : problem.
Let x := shape_of P.
Variable plan : list decision.
Let d s := nth s plan nobody.
Hypothesis bytes_count : forall s, 0 <= stash_of P s (d s).
Definition kept r now := sum (map (fun s => Z.max 0 (held_at P s now * stash_of P s (d s))) (stages_on P r)).
Lemma most_in z l : In z l -> z <= most l.
Proof. induction l as [|a l IH]; [intros []|]. intros [->|H]; [change (z <= Z.max z (most l))|change (z <= Z.max a (most l)); specialize (IH H)]; lia. Qed.
Lemma most_positive l : 0 <= most l.
Proof. induction l as [|a l IH]; [cbn; lia|]. change (0 <= Z.max a (most l)). lia. Qed.
Lemma sums_less {X} (f g : X -> Z) l : (forall a, In a l -> f a <= g a) -> sum (map f l) <= sum (map g l).
Proof.
  induction l as [|a l IH]; intros H; [cbn; lia|]. cbn [map]. match goal with |- sum (?u :: ?s) <= sum (?v :: ?t) => change (u + sum s <= v + sum t) end.
  pose proof (H a (or_introl eq_refl)). specialize (IH ltac:(intros; apply H; right; assumption)). lia.
Qed.
Lemma more_of (p q : nat -> bool) (l : list nat) : (forall j, In j l -> p j = true -> q j = true) -> (length (filter p l) <= length (filter q l))%nat.
Proof.
  induction l as [|a l IH]; intros H; cbn [filter]; [lia|]. specialize (IH ltac:(intros; apply H; [right|]; assumption)). pose proof (H a (or_introl eq_refl)) as E.
  destruct (p a), (q a); cbn [length]; lia || discriminate (E eq_refl).
Qed.
(* The next moment at which something is released, or none is left. *)
Lemma next_moment l now : (exists t, In t l /\ (now <= t)%nat /\ forall u, In u l -> (now <= u)%nat -> (t <= u)%nat) \/ (forall u, In u l -> (u < now)%nat).
Proof.
  induction l as [|a l IH]; [right; intros u []|]. destruct (Nat.le_gt_cases now a) as [L|L]; destruct IH as [(t & I & N & M)|N].
  - left. destruct (Nat.le_gt_cases t a) as [Q|Q]; [exists t|exists a]; (split; [cbn; auto|]); (split; [lia|]); intros u [->|U] V; [lia|auto|lia|specialize (M u U V); lia].
  - left. exists a. split; [left; reflexivity|]. split; [exact L|]. intros u [->|U] V; [lia|]. specialize (N u U). lia.
  - left. exists t. split; [right; exact I|]. split; [exact N|]. intros u [->|U] V; [lia|auto].
  - right. intros u [->|U]; auto.
Qed.
(* THEOREM 8.3, any moment: between what is released only forwards are begun, so a moment right
   before something is released has at least as much. *)
Theorem any_moment r now : kept r now <= most (map (kept r) (moments P r)).
Proof.
  assert (In_m : forall s j, In s (stages_on P r) -> (j < batches x)%nat -> In (released P s j) (moments P r)).
  { intros s j Hs Hj. unfold moments. apply in_flat_map. exists s. split; [exact Hs|]. apply in_map, in_seq. fold x. lia. }
  assert (W : forall p q, (forall j, (j < batches x)%nat -> p j = true -> q j = true) -> how_many P p <= how_many P q).
  { intros p q H. unfold how_many. apply inj_le, more_of. intros j Hj. apply in_seq in Hj. fold x in Hj. apply H. lia. }
  destruct (next_moment (moments P r) now) as [(t & It & Nt & Mt)|N].
  - transitivity (kept r t); [|apply most_in, in_map, It]. apply sums_less. intros s Hs.
    assert (H : held_at P s now <= held_at P s t); [|pose proof (bytes_count s); nia]. unfold held_at. fold x.
    assert (A : how_many P (fun j => turn x s Forward j 0 <? now)%nat <= how_many P (fun j => turn x s Forward j 0 <? t)%nat) by (apply W; intros j _; rewrite !Nat.ltb_lt; lia).
    assert (B : how_many P (fun j => released P s j <? t)%nat <= how_many P (fun j => released P s j <? now)%nat).
    { apply W. intros j Hj. rewrite !Nat.ltb_lt. intros L. destruct (Nat.lt_ge_cases (released P s j) now) as [?|G]; [assumption|]. specialize (Mt _ (In_m s j Hs Hj) G). lia. }
    lia.
  - transitivity 0; [|apply most_positive]. transitivity (sum (map (fun _ => 0) (stages_on P r))); [apply sums_less; intros s Hs|clear; induction (stages_on P r); [cbn; lia|exact IHl]].
    assert (H : held_at P s now <= 0); [|pose proof (bytes_count s); nia]. unfold held_at. fold x.
    assert (B : how_many P (fun j => turn x s Forward j 0 <? now)%nat <= how_many P (fun j => released P s j <? now)%nat).
    { apply W. intros j Hj _. apply Nat.ltb_lt, N, In_m; assumption. } lia.
Qed.
(* THEOREM 8.3: so it is within the rank's memory, with the working memory of any of its stages. *)
Theorem moment_fits r now s : rank_ok P plan r = true -> In s (stages_on P r) ->
  constant_bytes (group_at P (on (d r))) + sum (map (fun s => fixed_of P s (d s)) (stages_on P r)) + working_of P s (d s) + sum (map (fun s => held_at P s now * stash_of P s (d s)) (stages_on P r))
  <= memory_limit (group_at P (on (d r))).
Proof.
  unfold rank_ok. facts. intros [_ H] Hs. unfold rank_bytes in H. fold (d r) in H. pose proof (any_moment r now) as M. unfold kept in M at 1.
  assert (K : sum (map (fun s => held_at P s now * stash_of P s (d s)) (stages_on P r)) <= sum (map (fun s => Z.max 0 (held_at P s now * stash_of P s (d s))) (stages_on P r))) by (apply sums_less; intros; lia).
  assert (V : working_of P s (d s) <= most (map (fun s => working_of P s (d s)) (stages_on P r))) by (apply most_in, (in_map (fun s => working_of P s (d s))), Hs).
  unfold kept, d in *. lia.
Qed.
(* A layer's own working memory is no more than its stage's. *)
Theorem layer_works s q n m : (forall r, 0 <= unsharded (run_at P r)) -> In (q, n, m) (in_modes P (recompute (d s)) (holds_layers P (d s))) -> working (run_at P q) m <= working_of P s (d s).
Proof.
  intros Hu Hi. unfold working_of, working_bytes. cbn zeta. assert (Hh : In (q, n, m) (headed P s (in_modes P (recompute (d s)) (holds_layers P (d s))))).
  { unfold headed. destruct (ends_locally P s); [|exact Hi]. destruct (local_head P); [apply in_or_app; left|]; exact Hi. }
  clear Hi. rename Hh into Hi. set (l := headed P s (in_modes P (recompute (d s)) (holds_layers P (d s)))) in *.
  assert (A : 0 <= over P l (fun r _ => unsharded r)).
  { unfold over. clear Hi. induction l as [|[[a c] k] l IH]; [cbn; lia|]. cbn [map]. match goal with |- 0 <= sum (?u :: ?t) => change (0 <= u + sum t) end. specialize (Hu a). nia. }
  assert (B : working (run_at P q) m <= most (map (fun p => let '(r, _, m) := p in working (run_at P r) m) l)) by (apply most_in; change (working (run_at P q) m) with ((fun p : nat * nat * nat => let '(r, _, m) := p in working (run_at P r) m) (q, n, m)); apply in_map, Hi). lia.
Qed.
End Of.

(* ---- where the layers are *)
Definition total := fold_right Z.add 0.
Lemma total_cons a l : total (a :: l) = a + total l. Proof. reflexivity. Qed.
Definition falls := StronglySorted (fun a b : Z => b <= a).
(* Layers, each held a number of times and keeping bytes each time: not recomputed (0), in part (1),
   in full (2). *)
Section Keeps.
Variables k0 k1 k2 : Z.
Hypothesis keeps : 0 <= k2 <= k1 /\ k1 <= k0.
Definition keep q := match q with O => k0 | S O => k1 | _ => k2 end.
Definition bytes (l : list (Z * nat)) := total (map (fun p => fst p * keep (snd p)) l).
Definition number p (l : list (Z * nat)) := length (filter (fun e => p (snd e)) l).
Definition fully q := (2 <=? q)%nat.
Definition partly q := (q =? 1)%nat.
(* What they keep at least, if so many of those that are held the most are recomputed. *)
Definition needs full some c := k0 * total c - (k0 - k2) * total (firstn full c) - (k0 - k1) * (total (firstn (full + some) c) - total (firstn full c)).
Lemma without_first a c : falls (a :: c) -> Forall (fun z => 0 <= z) (a :: c) -> forall n, total (firstn n c) <= total (firstn n (a :: c)).
Proof.
  revert a. induction c as [|e c IH]; intros a Hs Hp n; destruct n as [|n]; cbn [firstn]; rewrite ?total_cons; try lia.
  - inversion_clear Hp. destruct n; cbn; lia.
  - inversion_clear Hs as [|? ? S F]. inversion_clear Hp as [|? ? Pa Pc]. inversion_clear F as [|? ? E _]. cbv beta in E. specialize (IH e S Pc n). lia.
Qed.
(* THEOREM 8.3, unlike stages: of layers that are held as often as c says, or more often, any that are
   recomputed leave at least this. *)
Theorem least_kept c l : falls c -> Forall (fun z => 0 <= z) c -> Forall2 (fun a p => a <= fst p) c l -> needs (number fully l) (number partly l) c <= bytes l.
Proof.
  intros Hs Hp H. induction H as [|a [h q] c l E H IH]; [unfold needs; cbn; lia|]. pose proof Hs as Hs'. pose proof Hp as Hp'. inversion_clear Hs as [|? ? So F]. inversion_clear Hp as [|? ? Pa Pc]. specialize (IH So Pc). cbn [fst] in E.
  pose proof (without_first a c Hs' Hp') as D. set (f := number fully l) in *. set (s := number partly l) in *.
  assert (B : bytes ((h, q) :: l) = h * keep q + bytes l) by reflexivity. rewrite B.
  assert (N1 : number fully ((h, q) :: l) = if fully q then S f else f) by (unfold number; cbn [filter snd]; destruct (fully q); reflexivity).
  assert (N2 : number partly ((h, q) :: l) = if partly q then S s else s) by (unfold number; cbn [filter snd]; destruct (partly q); reflexivity).
  rewrite N1, N2. clearbody f s. unfold needs in *. destruct q as [|[|q]]; cbn [fully partly Nat.leb Nat.eqb keep].
  - rewrite total_cons. pose proof (Z.mul_le_mono_nonneg_l _ _ (k1 - k2) ltac:(lia) (D f)). pose proof (Z.mul_le_mono_nonneg_l _ _ (k0 - k1) ltac:(lia) (D (f + s)%nat)). pose proof (Z.mul_le_mono_nonneg_r _ _ k0 ltac:(lia) E). lia.
  - replace (f + S s)%nat with (S (f + s)) by lia. cbn [firstn]. rewrite !total_cons. pose proof (Z.mul_le_mono_nonneg_l _ _ (k1 - k2) ltac:(lia) (D f)). pose proof (Z.mul_le_mono_nonneg_r _ _ k1 ltac:(lia) E). lia.
  - cbn [Nat.add firstn]. rewrite !total_cons. pose proof (Z.mul_le_mono_nonneg_r _ _ k2 ltac:(lia) E). lia.
Qed.
(* More layers, or held more often, leave no less: the least recomputation does not fall. *)
Fixpoint laid (full some : nat) (c : list Z) : Z := match c with [] => 0 | a :: r => match full, some with
  | S f, s => k2 * a + laid f s r | O, S s => k1 * a + laid O s r | O, O => k0 * a + laid O O r end end.
Lemma laid_is c : forall f s, laid f s c = needs f s c.
Proof.
  assert (E : forall f s a r, needs (S f) s (a :: r) = k2 * a + needs f s r) by (intros; unfold needs; cbn [Nat.add firstn]; rewrite !total_cons; ring).
  assert (E1 : forall s a r, needs 0 (S s) (a :: r) = k1 * a + needs 0 s r) by (intros; unfold needs; cbn [Nat.add firstn]; rewrite !total_cons; cbn [total fold_right]; ring).
  assert (E0 : forall a r, needs 0 0 (a :: r) = k0 * a + needs 0 0 r) by (intros; unfold needs; cbn [Nat.add firstn]; rewrite total_cons; cbn [total fold_right]; ring).
  induction c as [|a r IH]; intros f s; [unfold needs; destruct f, s; cbn; ring|]. destruct f as [|f]; [destruct s as [|s]|]; cbn [laid]; rewrite IH; auto.
Qed.
Theorem more_kept c c' rest f s : Forall2 Z.le c c' -> Forall (fun z => 0 <= z) c -> Forall (fun z => 0 <= z) rest -> needs f s c <= needs f s (c' ++ rest).
Proof.
  intros H. rewrite <- !laid_is. revert f s. induction H as [|a a' c c' L H IH]; intros f s Hp Hr; cbn [app laid].
  - revert f s. induction Hr as [|e r He Hr IHr]; intros f s; cbn [laid]; [lia|]. cbn [laid] in IHr. destruct f as [|f]; [destruct s as [|s]; [pose proof (IHr 0%nat 0%nat)|pose proof (IHr 0%nat s)]|pose proof (IHr f s)]; nia.
  - inversion_clear Hp. match goal with Q : Forall _ c |- _ => destruct f as [|f]; [destruct s as [|s]; [pose proof (IH 0%nat 0%nat Q Hr)|pose proof (IH 0%nat s Q Hr)]|pose proof (IH f s Q Hr)] end; nia.
Qed.
(* No more are recomputed than there are. *)
Lemma laid_few c : forall f s, laid f s c = laid (Nat.min f (length c)) (Nat.min s (length c - f)) c.
Proof.
  induction c as [|a r IH]; intros f s; [reflexivity|]. destruct f as [|f]; [destruct s as [|s]|].
  - cbn [Nat.min laid]. reflexivity.
  - rewrite Nat.sub_0_r. cbn [length Nat.min laid]. rewrite (IH 0%nat s), Nat.sub_0_r. reflexivity.
  - cbn [length Nat.sub Nat.min laid]. rewrite IH. reflexivity.
Qed.
End Keeps.

(* ---- of stages that hold falling numbers of micro-batches, some may be without such a layer *)
Section Stages.
Context {A : Type}.
Definition one_each (stages : list (Z * list A)) := flat_map (fun p => match snd p with [] => [] | q :: _ => [(fst p, q)] end) stages.
Definition others (stages : list (Z * list A)) := flat_map (fun p => map (pair (fst p)) (tl (snd p))) stages.
Definition all_of (stages : list (Z * list A)) := flat_map (fun p => map (pair (fst p)) (snd p)) stages.
Definition lacking (stages : list (Z * list A)) := length (filter (fun p => match snd p with [] => true | _ => false end) stages).
Lemma one_first stages : Permutation (one_each stages ++ others stages) (all_of stages).
Proof.
  induction stages as [|[h [|q t]] stages IH]; cbn [one_each others all_of flat_map fst snd tl map app]; [constructor|exact IH|]. fold (one_each stages) (others stages) (all_of stages).
  constructor. rewrite app_assoc, (Permutation_app_comm (one_each stages)), <- app_assoc. apply Permutation_app_head, IH.
Qed.
Lemma as_often stages : forall free, falls (map fst stages) -> (lacking stages <= free)%nat ->
  Forall2 (fun a (p : Z * A) => a <= fst p) (skipn free (map fst stages)) (firstn (length stages - free) (one_each stages)).
Proof.
  induction stages as [|[h [|q t]] stages IH]; intros free Hs Hl; [destruct free; constructor|inversion_clear Hs as [|? ? So F]..].
  - unfold lacking in Hl. cbn [filter snd length] in Hl. fold (lacking stages) in Hl. destruct free as [|g]; [lia|]. cbn [map fst skipn length Nat.sub one_each flat_map snd app]. apply IH; [exact So|lia].
  - unfold lacking in Hl. cbn [filter snd] in Hl. fold (lacking stages) in Hl. cbn [map fst one_each flat_map snd app length]. fold (one_each stages). destruct free as [|g].
    + cbn [skipn Nat.sub firstn]. constructor; [cbn; lia|]. specialize (IH 0%nat So Hl). rewrite Nat.sub_0_r in IH. exact IH.
    + cbn [skipn Nat.sub]. specialize (IH (S g) So Hl). destruct (length stages - g)%nat as [|j] eqn:J.
      * rewrite skipn_all2 by (rewrite map_length; lia). constructor.
      * cbn [firstn]. assert (N : skipn g (map fst stages) = nth g (map fst stages) 0 :: skipn (S g) (map fst stages)).
        { assert (Lg : (g < length (map fst stages))%nat) by (rewrite map_length; lia). clear - Lg. revert g Lg. induction (map fst stages) as [|b l IHl]; intros g Lg; [cbn in Lg; lia|]. destruct g as [|g]; [reflexivity|]. cbn [length] in Lg. cbn [skipn nth]. exact (IHl g ltac:(lia)). }
        rewrite N. constructor; [|replace j with (length stages - S g)%nat by lia; exact IH].
        rewrite Forall_forall in F. cbn [fst]. apply F, nth_In. rewrite map_length. lia.
Qed.
(* THEOREM 8.3: the layers of all stages, so arranged that each is held at least as often as c says: one
   on each stage but those that are held the most, the others where the fewest are held. *)
Theorem arranged stages free least : falls (map fst stages) -> (lacking stages <= free)%nat -> (free <= length stages)%nat -> Forall (fun p => least <= fst p) stages ->
  exists l, Permutation l (all_of stages) /\ Forall2 (fun a (p : Z * A) => a <= fst p) (skipn free (map fst stages) ++ repeat least (length (all_of stages) - (length stages - free))) l.
Proof.
  intros Hs Hl Hf Hm. set (n := (length stages - free)%nat). exists (firstn n (one_each stages) ++ (skipn n (one_each stages) ++ others stages)). pose proof (one_first stages) as O. split.
  - rewrite app_assoc, firstn_skipn. exact O.
  - assert (G : Forall (fun p : Z * A => least <= fst p) (one_each stages ++ others stages)).
    { apply Forall_forall. intros p Hp. rewrite O in Hp. apply in_flat_map in Hp. destruct Hp as (e & He & Hp). apply in_map_iff in Hp. destruct Hp as (q & <- & _). rewrite Forall_forall in Hm. exact (Hm e He). }
    assert (Len : (length stages = length (one_each stages) + lacking stages)%nat).
    { clear. unfold lacking. induction stages as [|[h [|q t]] l IH]; cbn [one_each flat_map filter snd app length]; [reflexivity|fold (one_each l); lia|fold (one_each l); lia]. }
    apply Forall2_app; [apply as_often; assumption|]. assert (R : length (skipn n (one_each stages) ++ others stages) = (length (all_of stages) - n)%nat).
    { apply Permutation_length in O. rewrite app_length in *. rewrite skipn_length. lia. }
    rewrite <- R. assert (G' : Forall (fun p : Z * A => least <= fst p) (skipn n (one_each stages) ++ others stages)).
    { rewrite Forall_forall in *. intros p Hp. apply G. rewrite in_app_iff in *. destruct Hp as [Hp|Hp]; [left|right; exact Hp]. rewrite <- (firstn_skipn n (one_each stages)), in_app_iff. right. exact Hp. }
    clear - G'. induction G' as [|p l Hp _ IH]; cbn [length repeat]; constructor; assumption.
Qed.
End Stages.
Lemma total_permuted a b : Permutation a b -> total a = total b.
Proof. unfold total. induction 1; cbn [fold_right]; lia. Qed.
(* THEOREM 8.3, two kinds: what stages hold beyond the fewest counts for the lightest layer. *)
Theorem beyond stages free least lightest : falls (map fst stages) -> (lacking stages <= free)%nat -> (free <= length stages)%nat -> Forall (fun p : Z * list Z => least <= fst p) stages ->
  0 <= lightest -> Forall (fun p => Forall (fun k => lightest <= k) (snd p)) stages ->
  least * total (map snd (all_of stages)) + lightest * (total (skipn free (map fst stages)) - least * Z.of_nat (length stages - free)) <= total (map (fun p => fst p * snd p) (all_of stages)).
Proof.
  intros Hs Hl Hf Hm H0 Hk. destruct (arranged stages free least Hs Hl Hf Hm) as (l & O & F).
  rewrite <- (total_permuted _ _ (Permutation_map snd O)), <- (total_permuted _ _ (Permutation_map (fun p => fst p * snd p) O)).
  assert (K : Forall (fun p : Z * Z => lightest <= snd p) l).
  { apply Forall_forall. intros p Hp. rewrite O in Hp. apply in_flat_map in Hp. destruct Hp as (e & He & Hp). apply in_map_iff in Hp. destruct Hp as (q & <- & Hq). rewrite Forall_forall in Hk. specialize (Hk e He). rewrite Forall_forall in Hk. exact (Hk q Hq). }
  assert (M : Forall (fun a => least <= a) (skipn free (map fst stages))).
  { apply Forall_forall. intros a Ha. assert (In a (map fst stages)) by (rewrite <- (firstn_skipn free (map fst stages)), in_app_iff; right; exact Ha). apply in_map_iff in H. destruct H as (e & <- & He). rewrite Forall_forall in Hm. exact (Hm e He). }
  assert (Len : (length stages - free)%nat = length (skipn free (map fst stages))) by (rewrite skipn_length, map_length; reflexivity).
  rewrite Len in *. set (c := skipn free (map fst stages)) in *. clearbody c. set (n := (length (all_of stages) - length c)%nat) in *. clearbody n. clear - F K M H0.
  revert l F K. induction M as [|a c La _ IH]; intros l F K; cbn [app] in F.
  - cbn [total fold_right length]. assert (G : least * total (map snd l) <= total (map (fun p => fst p * snd p) l)); [|unfold total in *; cbn; lia].
    clear IH || idtac. revert n F. induction K as [|[h k] l Hk _ IHk]; intros n F; [cbn; lia|]. destruct n as [|n]; inversion_clear F as [|? ? ? ? E F']. specialize (IHk n F'). cbn [map total fold_right fst snd] in *. unfold total in *. nia.
  - inversion F as [|? [h k] ? l' E F']; subst. inversion_clear K as [|? ? Hk K']. specialize (IH l' F' K'). cbn [map total fold_right fst snd length] in *. unfold total in *. nia.
Qed.
Definition theorems := (@any_moment, @moment_fits, @layer_works, @least_kept, @more_kept, @laid_few, @arranged, @beyond).
