(* Where operations are in the streams of ranks, for every schedule (docs/PROOFS.md 8, FORMULAS 14):
   no two are at one place, and a rank's first pass is the forward of its first stage. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule.
Import ListNotations.
Open Scope nat_scope.

(* What a layout with several stages per rank has beside its order: as many stages on each rank, two
   where they fold, and no slices. *)
Definition regular x := 1 <= batches x /\ 1 <= slices x /\
  (several x = true -> slices x = 1 /\ 1 <= ranks x /\ 1 <= each x /\ stages x = each x * ranks x /\ (folds x = true -> each x = 2)).

Section Of.
Variable x : shape.
Hypothesis Hx : regular x.

Lemma digits k a b y z : y < k -> z < k -> a * k + y = b * k + z -> a = b /\ y = z.
Proof. intros Hy Hz H. assert (a = b) by nia. subst. lia. Qed.
Lemma own_rank s : s < rank_count x -> on_rank x s = s.
Proof.
  unfold rank_count, on_rank, round_of. destruct (several x); [|reflexivity]. intros H. rewrite Nat.div_small, Nat.mod_small by exact H.
  cbn. rewrite andb_false_r. reflexivity.
Qed.
Lemma ranks_some : 1 <= stages x -> 1 <= rank_count x.
Proof. destruct Hx as (_ & _ & H). unfold rank_count. destruct (several x); [|auto]. destruct (H eq_refl) as (_ & A & _). auto. Qed.
Lemma ranks_few : rank_count x <= stages x.
Proof. destruct Hx as (_ & _ & H). unfold rank_count. destruct (several x); [|lia]. destruct (H eq_refl) as (_ & A & B & C & _). nia. Qed.
Lemma rank_is s : several x = true -> s < stages x -> s = round_of x s * ranks x + s mod ranks x /\ s mod ranks x < ranks x /\ round_of x s < each x.
Proof.
  intros E Hs. destruct Hx as (_ & _ & H). destruct (H E) as (_ & A & _ & C & _). unfold round_of.
  pose proof (Nat.div_mod_eq s (ranks x)). pose proof (Nat.mod_upper_bound s (ranks x) ltac:(lia)).
  repeat split; [lia|lia|]. apply Nat.div_lt_upper_bound; lia.
Qed.
Lemma on_some s : s < stages x -> on_rank x s < rank_count x.
Proof.
  unfold on_rank, rank_count. destruct (several x) eqn:E; [|auto]. intros Hs. destruct (rank_is s E Hs) as (_ & A & _). destruct (_ && _); lia.
Qed.
Lemma same_stage s t : s < stages x -> t < stages x -> on_rank x s = on_rank x t -> round_of x s = round_of x t -> s = t.
Proof.
  unfold on_rank. destruct (several x) eqn:E; [|auto]. intros Hs Ht. destruct (rank_is s E Hs) as (A & A' & _), (rank_is t E Ht) as (B & B' & _).
  intros H R. rewrite R in *. destruct (_ && _); lia.
Qed.

(* ---- turns *)
Definition pass k y := match k with Forward | Backward => y < slices x | Weight => splits x = true /\ y = 0 | _ => False end.
Lemma pass_slice k y : pass k y -> y < slices x.
Proof. destruct Hx as (_ & A & _). destruct k; cbn; intros H; try contradiction; lia. Qed.
Definition apart s t := forall k l b c y z, pass k y -> pass l z -> b < batches x -> c < batches x ->
  turn x s k b y = turn x t l c z -> k = l /\ s = t /\ b = c /\ y = z.

Lemma turn_is s k b y : several x = false -> turn x s k b y = match k with
  | Forward => 3 * (b * slices x + y) | Backward => 3 * (b * slices x + (slices x - 1 - y) + ahead x s) + 1
  | _ => 3 * (b + behind x s + ahead x s) + 2 end.
Proof. intros E. unfold turn, number_of. rewrite E. unfold several in E. destruct (schedule x); try discriminate; reflexivity. Qed.
Lemma apart_single s : several x = false -> apart s s.
Proof.
  intros E k l b c y z P Q Hb Hc. rewrite !turn_is by exact E. pose proof (pass_slice _ _ P). pose proof (pass_slice _ _ Q).
  destruct k; try contradiction; destruct l; try contradiction; cbn [pass] in P, Q; intros J; cbn match in J; try (exfalso; lia).
  - destruct (digits (slices x) b c y z) as [-> ->]; [lia|lia|lia|auto].
  - destruct (digits (slices x) b c (slices x - 1 - y) (slices x - 1 - z)) as [-> D]; [lia|lia|lia|]. repeat split; lia.
  - repeat split; lia.
Qed.

Lemma group_some : 1 <= ranks x -> 1 <= group_size x.
Proof.
  destruct Hx as (Hb & _). intros Hr. unfold group_size. destruct (schedule x); auto. destruct (Nat.ltb_spec (batches x) (ranks x)) as [L|L]; [exact Hr|].
  destruct (find _ _) as [n|] eqn:F; [|exact Hb]. apply find_some in F. destruct F as [F _]. apply in_rev, in_seq in F.
  assert (batches x / ranks x <= batches x) by (apply Nat.div_le_upper_bound; nia). apply Nat.div_str_pos. lia.
Qed.
Lemma number_once r q b c y z : several x = true -> r < each x -> q < each x -> number_of x r b y = number_of x q c z -> r = q /\ b = c.
Proof.
  intros E Hr Hq. destruct Hx as (_ & _ & H). destruct (H E) as (_ & A & _). pose proof (group_some A) as G. unfold number_of. rewrite E.
  pose proof (Nat.mod_upper_bound b (group_size x) ltac:(lia)). pose proof (Nat.mod_upper_bound c (group_size x) ltac:(lia)). intros N.
  destruct (digits _ _ _ _ _ H0 H1 N) as [N1 N2]. destruct (digits _ _ _ _ _ Hr Hq N1) as [N3 N4]. split; [exact N4|].
  rewrite (Nat.div_mod_eq b (group_size x)), (Nat.div_mod_eq c (group_size x)), N2, N3. reflexivity.
Qed.
Lemma apart_looped s t : several x = true -> folds x = false -> s < stages x -> t < stages x -> on_rank x s = on_rank x t -> apart s t.
Proof.
  intros E F Hs Ht R k l b c y z P Q Hb Hc. destruct Hx as (_ & _ & H). destruct (H E) as (H1 & _). pose proof (pass_slice _ _ P). pose proof (pass_slice _ _ Q).
  destruct (rank_is s E Hs) as (_ & _ & A), (rank_is t E Ht) as (_ & _ & B).
  assert (N : splits x = false) by (unfold several, folds, splits in *; destruct (schedule x); try discriminate; reflexivity).
  assert (M : s mod ranks x = t mod ranks x) by (unfold on_rank in R; rewrite E, F in R; exact R).
  assert (D : ahead x s = ahead x t) by (unfold ahead; rewrite M; unfold several, folds in *; destruct (schedule x); try discriminate; reflexivity).
  assert (G : forall u v, round_of x u = round_of x v -> u < stages x -> v < stages x -> on_rank x u = on_rank x v -> u = v) by (intros; apply same_stage; auto).
  assert (W : forall u v w i, turn x u v w i = match v with Forward => 3 * number_of x (round_of x u) w i
    | Backward => 3 * (number_of x (each x - 1 - round_of x u) w (slices x - 1 - i) + ahead x u) + 1 | _ => 3 * (w + behind x u + ahead x u) + 2 end).
  { intros. unfold turn. unfold several, folds in *. destruct (schedule x); try discriminate; reflexivity. }
  rewrite !W, D. destruct k; try contradiction; try (destruct P; congruence); destruct l; try contradiction; try (destruct Q; congruence); intros T; cbn match in T; try (exfalso; lia).
  - destruct (number_once (round_of x s) (round_of x t) b c y z) as [U ->]; auto; [lia|]. repeat split; [apply G; auto|lia].
  - destruct (number_once (each x - 1 - round_of x s) (each x - 1 - round_of x t) b c (slices x - 1 - y) (slices x - 1 - z)) as [U ->]; auto; try lia.
    repeat split; [apply G; auto; lia|lia].
Qed.

(* the phases of ZB-V *)
Lemma at_once n a i h b j g : i < n -> j < n -> h < 6 -> g < 6 -> (a * n + i) * 6 + h = (b * n + j) * 6 + g -> a = b /\ i = j /\ h = g.
Proof. intros Hi Hj Hh Hg H. destruct (digits 6 (a * n + i) (b * n + j) h g) as [A B]; auto. destruct (digits n a b i j); auto. Qed.
(* whose passes are at a place of a round of a phase, and which micro-batch's *)
Definition who a h : kind * nat := match a, h with
  | 0, _ | 1, 1 | 3, 0 => (Forward, 0) | 1, _ | 2, 0 | 3, 3 => (Forward, 1)
  | 3, 1 | 4, 0 | 5, 0 => (Backward, 0) | 2, 1 | 3, 4 | 4, _ => (Backward, 1)
  | 3, 2 | 5, _ | 7, _ => (Weight, 0) | _, _ => (Weight, 1) end.
Definition back m p r a i h := let e := p - r in match a, h with
  | 1, 1 => i + (2 * e - 1) | 2, 0 => i + r | 3, 0 => i + (2 * e - 1 + r) | 3, 3 => i + p | 3, 4 | 3, 5 => i + e
  | 4, 0 | 5, 1 => i + (m - p) | 4, _ => i + (e + m - p) | 5, _ => i + (m - p + r) | _, _ => i end.
Lemma phases s k j m : m = Nat.max (batches x) (2 * ranks x - 1) -> j < batches x -> 1 <= ranks x -> round_of x s < 2 -> k = Forward \/ k = Backward \/ k = Weight ->
  exists a i h, turn_zbv x s k j = (a * (m + 2 * ranks x) + i) * 6 + h /\ i < m + 2 * ranks x /\ h < 6 /\ who a h = (k, round_of x s) /\ back m (ranks x) (on_rank x s) a i h = j.
Proof.
  intros M Hj Hr R K. unfold turn_zbv. rewrite <- M. assert (A : batches x <= m /\ 2 * ranks x <= m + 1) by lia. revert Hj Hr A. clear M. generalize (batches x) (ranks x) (on_rank x s). intros l p r Hj Hr [A B].
  destruct (round_of x s) as [|[|?]]; [| |lia]; clear R; destruct K as [->|[->| ->]];
    repeat match goal with |- context [(?a <? ?b)%nat] => destruct (Nat.ltb_spec a b) end;
    (eexists _, _, _; split; [reflexivity|]; split; [lia|]; split; [apply Nat.ltb_lt; reflexivity|]; split; [reflexivity|]; cbn [back]; lia).
Qed.
Lemma apart_zbv s t : schedule x = ZeroBubbleV -> s < stages x -> t < stages x -> on_rank x s = on_rank x t -> apart s t.
Proof.
  intros Z Hs Ht R k l b c y z P Q Hb Hc. assert (E : several x = true) by (unfold several; rewrite Z; reflexivity).
  destruct Hx as (_ & _ & H). destruct (H E) as (H1 & H2 & _ & _ & H5). specialize (H5 ltac:(unfold folds; rewrite Z; reflexivity)).
  pose proof (pass_slice _ _ P). pose proof (pass_slice _ _ Q). assert (y = z) by lia. subst z.
  destruct (rank_is s E Hs) as (_ & _ & A), (rank_is t E Ht) as (_ & _ & B). rewrite H5 in A, B. unfold turn. rewrite Z.
  destruct (phases s k b _ eq_refl Hb H2 A) as (a1 & i1 & h1 & -> & I1 & G1 & W1 & B1); [destruct k; auto; contradiction|].
  destruct (phases t l c _ eq_refl Hc H2 B) as (a2 & i2 & h2 & -> & I2 & G2 & W2 & B2); [destruct l; auto; contradiction|].
  intros T. apply at_once in T; auto. destruct T as (-> & -> & ->). rewrite W1 in W2. injection W2 as -> W2. rewrite <- R, B1 in B2. repeat split; [apply same_stage; auto|exact B2].
Qed.

(* the slots of V-half and V-min *)
Definition free l b := filter (fun n => negb (existsb (Nat.eqb ((b + n) mod 6)) l)) (seq 1 6).
Definition wait l own other := let d := nth 0 (free l own) 0 in let e := nth 0 (free l other) 0 in
  if ((own + d) mod 6 =? (other + e) mod 6) && (d <? e) then nth 1 (free l own) 0 else d.
Definition slot s k : nat := let '((f0, f1), (b0, b1)) := slots_of x (on_rank x s) in let l := map (fun b => b mod 6) [f0; f1; b0; b1] in
  let first := round_of x s =? 0 in match k with Forward => if first then f0 else f1 | Backward => if first then b0 else b1
  | _ => if first then b0 + wait l b0 b1 else b1 + wait l b1 b0 end.
Lemma slotted s k j : turn_slotted x s k j = 6 * j + slot s k.
Proof.
  unfold turn_slotted, slot. destruct (slots_of x (on_rank x s)) as [[f0 f1] [b0 b1]]. cbv zeta.
  assert (E : forall f b w v : nat, w = v -> match k with Forward => f | Backward => b | _ => w end = match k with Forward => f | Backward => b | _ => v end) by (intros f b w v ->; reflexivity).
  destruct (round_of x s =? 0); apply (f_equal (Nat.add (6 * j))), E; reflexivity.
Qed.
Lemma free_mod l b : free l b = free l (b mod 6).
Proof. unfold free. apply filter_ext. intros n. rewrite Nat.add_mod_idemp_l by lia. reflexivity. Qed.
Lemma wait_mod l a b : wait l a b = wait l (a mod 6) (b mod 6).
Proof. unfold wait. rewrite (free_mod l a), (free_mod l b), !Nat.add_mod_idemp_l by lia. reflexivity. Qed.
Fixpoint distinct (l : list nat) := match l with [] => true | a :: r => negb (existsb (Nat.eqb a) r) && distinct r end.
Definition all_six a b c d := let l := [a; b; c; d] in distinct [a; b; c; d; (c + wait l c d) mod 6; (d + wait l d c) mod 6].
Lemma six a b c d : a < 6 -> b < 6 -> c < 6 -> d < 6 -> distinct [a; b; c; d] = true -> all_six a b c d = true.
Proof.
  assert (G : forallb (fun a => forallb (fun b => forallb (fun c => forallb (fun d => implb (distinct [a; b; c; d]) (all_six a b c d)) (seq 0 6)) (seq 0 6)) (seq 0 6)) (seq 0 6) = true) by (vm_compute; reflexivity).
  intros A B C D H. rewrite forallb_forall in G. specialize (G a ltac:(apply in_seq; lia)). rewrite forallb_forall in G. specialize (G b ltac:(apply in_seq; lia)).
  rewrite forallb_forall in G. specialize (G c ltac:(apply in_seq; lia)). rewrite forallb_forall in G. specialize (G d ltac:(apply in_seq; lia)). rewrite H in G. exact G.
Qed.
Lemma differ a b : (forall q q' e, a = 6 * q + e -> b = 6 * q' + e -> e < 6 -> False) -> a mod 6 <> b mod 6.
Proof.
  intros H E. pose proof (Nat.div_mod_eq a 6) as A. pose proof (Nat.div_mod_eq b 6) as B. rewrite <- E in B.
  exact (H _ _ _ A B (Nat.mod_upper_bound a 6 ltac:(lia))).
Qed.
Lemma slots_differ r : schedule x = VHalf \/ schedule x = VMin -> r < ranks x -> let '((f0, f1), (b0, b1)) := slots_of x r in
  distinct (map (fun b => b mod 6) [f0; f1; b0; b1]) = true /\ f0 <= f1 /\ f0 <= b0 /\ f0 <= b1.
Proof.
  intros E H.
  assert (D : forall a b c d, a mod 6 <> b mod 6 -> a mod 6 <> c mod 6 -> a mod 6 <> d mod 6 -> b mod 6 <> c mod 6 -> b mod 6 <> d mod 6 -> c mod 6 <> d mod 6 -> distinct (map (fun b => b mod 6) [a; b; c; d]) = true).
  { intros a b c d A1 A2 A3 A4 A5 A6. cbn [distinct map existsb]. rewrite !(proj2 (Nat.eqb_neq _ _)) by assumption. reflexivity. }
  destruct E as [E|E]; unfold slots_of; rewrite E.
  - pose proof (Nat.div_mod_eq (ranks x) 2) as P. pose proof (Nat.mod_upper_bound (ranks x) 2 ltac:(lia)) as U. set (h := ranks x / 2) in *. set (t := ranks x mod 2) in *. clearbody h t.
    destruct (Nat.eqb_spec t 0) as [M|M]; (split; [apply D; apply differ; lia|repeat split; lia]).
  - pose proof (Nat.div_mod_eq (ranks x) 3) as P. pose proof (Nat.mod_upper_bound (ranks x) 3 ltac:(lia)) as U. set (h := ranks x / 3) in *. set (t := ranks x mod 3) in *. clearbody h t.
    destruct (Nat.eqb_spec t 0) as [M|M]; (split; [apply D; apply differ; lia|repeat split; lia]).
Qed.

Lemma once l : distinct l = true -> NoDup l.
Proof.
  induction l as [|a l IH]; intros D; [constructor|]. cbn [distinct] in D. rewrite andb_true_iff, negb_true_iff in D. destruct D as [A D]. constructor; [|auto].
  intros I. assert (existsb (Nat.eqb a) l = true) by (apply existsb_exists; exists a; rewrite Nat.eqb_refl; auto). congruence.
Qed.
Definition which k s := match k with Forward => 0 | Backward => 2 | _ => 4 end + round_of x s.
Definition residues r := let '((f0, f1), (b0, b1)) := slots_of x r in let l := map (fun b => b mod 6) [f0; f1; b0; b1] in
  [f0 mod 6; f1 mod 6; b0 mod 6; b1 mod 6; (b0 + wait l b0 b1) mod 6; (b1 + wait l b1 b0) mod 6].
Lemma residue s k : round_of x s < 2 -> slot s k mod 6 = nth (which k s) (residues (on_rank x s)) 0.
Proof.
  unfold slot, which, residues. destruct (slots_of x (on_rank x s)) as [[f0 f1] [b0 b1]]. cbv zeta.
  destruct (round_of x s) as [|[|?]]; [| |lia]; intros _; destruct k; reflexivity.
Qed.
Lemma residues_differ r : schedule x = VHalf \/ schedule x = VMin -> r < ranks x -> NoDup (residues r) /\ length (residues r) = 6.
Proof.
  intros E H. pose proof (slots_differ r E H) as D. unfold residues. destruct (slots_of x r) as [[f0 f1] [b0 b1]]. destruct D as (D & _). split; [|reflexivity]. apply once.
  pose proof (six _ _ _ _ (Nat.mod_upper_bound f0 6 ltac:(lia)) (Nat.mod_upper_bound f1 6 ltac:(lia)) (Nat.mod_upper_bound b0 6 ltac:(lia)) (Nat.mod_upper_bound b1 6 ltac:(lia)) D) as X.
  unfold all_six in X. rewrite <- !wait_mod, !Nat.add_mod_idemp_l in X by lia. exact X.
Qed.
Lemma apart_slotted s t : schedule x = VHalf \/ schedule x = VMin -> s < stages x -> t < stages x -> on_rank x s = on_rank x t -> apart s t.
Proof.
  intros Z Hs Ht R k l b c y z P Q Hb Hc. assert (E : several x = true) by (unfold several; destruct Z as [-> | ->]; reflexivity).
  destruct Hx as (_ & _ & H). destruct (H E) as (H1 & H2 & _ & _ & H5). specialize (H5 ltac:(unfold folds; destruct Z as [-> | ->]; reflexivity)).
  pose proof (pass_slice _ _ P). pose proof (pass_slice _ _ Q). assert (y = z) by lia. subst z.
  destruct (rank_is s E Hs) as (_ & _ & A), (rank_is t E Ht) as (_ & _ & B). rewrite H5 in A, B.
  assert (W : forall s k b y, turn x s k b y = 6 * b + slot s k) by (intros; rewrite <- slotted; unfold turn; destruct Z as [-> | ->]; reflexivity).
  rewrite !W. clear W. intros T. assert (M : slot s k mod 6 = slot t l mod 6).
  { pose proof (f_equal (fun n => n mod 6) T) as M. cbv beta in M. rewrite !(Nat.mul_comm 6), !(Nat.add_comm (_ * 6)), !Nat.mod_add in M by lia. exact M. }
  pose proof (on_some s Hs) as O. unfold rank_count in O. rewrite E in O. destruct (residues_differ _ Z O) as [D L]. rewrite !residue, <- R in M by assumption.
  apply (proj1 (NoDup_nth _ 0) D) in M; [| |]; unfold which in *; rewrite ?L; [|destruct k; lia|destruct l; lia].
  assert (K : k = l /\ round_of x s = round_of x t) by (destruct k; try contradiction; destruct l; try contradiction; (split; [reflexivity || (exfalso; lia)|lia])).
  destruct K as [-> K]. assert (s = t) by (apply same_stage; auto). subst t. repeat split. lia.
Qed.

(* THEOREM: a turn is one pass's. *)
Theorem apart_all s t : s < stages x -> t < stages x -> on_rank x s = on_rank x t -> apart s t.
Proof.
  intros Hs Ht R. destruct (several x) eqn:E.
  - destruct (folds x) eqn:F; [|apply apart_looped; auto]. unfold folds in F. destruct (schedule x) eqn:Z; try discriminate; [apply apart_zbv|apply apart_slotted|apply apart_slotted]; auto.
  - unfold on_rank in R. rewrite E in R. subst t. apply apart_single. exact E.
Qed.
(* A rank's first stage's first forward is its first pass. *)
Theorem first_turn r s k b y : r < rank_count x -> s < stages x -> on_rank x s = r -> pass k y -> turn x r Forward 0 0 <= turn x s k b y.
Proof.
  intros Hr Hs R P. pose proof (own_rank r Hr) as O. destruct (several x) eqn:E; [|rewrite !turn_is by exact E; lia].
  unfold rank_count in Hr. rewrite E in Hr. assert (Z : round_of x r = 0) by (apply Nat.div_small; exact Hr).
  destruct Hx as (_ & _ & H). destruct (H E) as (H1 & H2 & _). pose proof (group_some H2) as G.
  assert (N : number_of x 0 0 0 = 0) by (unfold number_of; rewrite E, Nat.div_0_l, Nat.mod_0_l by lia; reflexivity).
  destruct (schedule x) eqn:Sx; try (unfold several in E; rewrite Sx in E; discriminate).
  1-2: unfold turn at 1; rewrite Sx, Z, N; lia.
  - unfold turn at 1. rewrite Sx. unfold turn_zbv. rewrite Z, O. destruct (Nat.ltb_spec 0 (2 * (ranks x - r) - 1)); lia.
  - unfold turn. rewrite Sx, !slotted. pose proof (slots_differ r (or_introl Sx) Hr) as D. unfold slot. rewrite O, R, Z. destruct (slots_of x r) as [[f0 f1] [b0 b1]]. destruct D as (_ & D).
    cbn [Nat.eqb]. cbv zeta. destruct k; try contradiction; destruct (round_of x s =? 0); lia.
  - unfold turn. rewrite Sx, !slotted. pose proof (slots_differ r (or_intror Sx) Hr) as D. unfold slot. rewrite O, R, Z. destruct (slots_of x r) as [[f0 f1] [b0 b1]]. destruct D as (_ & D).
    cbn [Nat.eqb]. cbv zeta. destruct k; try contradiction; destruct (round_of x s =? 0); lia.
Qed.

(* ---- operations beside their passes *)
Definition beside s k h b y : op := match k, h with
  | Forward, 0 => Op (Receives Onward) (s - 1) b y | Forward, 1 => Op Forward s b y | Forward, _ => Op (Sends Onward) s b y
  | Backward, 0 => Op (Receives Back) s b y | Backward, 1 => Op Backward s b y | Backward, _ => Op (Sends Back) (s - 1) b y
  | _, _ => Op Weight s b y end.
Lemma seated u r i : valid x u = true -> in_stream x u = Some (r, i) -> exists s k h,
  r = on_rank x s /\ i = 3 * turn x s k (batch u) (slice u) + h /\ h < 3 /\ s < stages x /\ pass k (slice u) /\ batch u < batches x /\ u = beside s k h (batch u) (slice u).
Proof.
  destruct u as [k p b y]. unfold valid, in_stream. cbn [what place batch slice]. intros V I.
  destruct k as [| | | | |[]|[]|[]|[]| |]; try discriminate I; injection I as <- <-; repeat match goal with H : _ && _ = true |- _ => apply andb_prop in H as [H ?] end; rewrite ?Nat.ltb_lt, ?Nat.eqb_eq in *.
  - exists p, Forward, 1. cbn [beside pass]. repeat split; lia.
  - exists p, Backward, 1. cbn [beside pass]. repeat split; lia.
  - exists p, Weight, 1. cbn [beside pass]. repeat split; auto.
  - exists p, Forward, 2. cbn [beside pass]. repeat split; lia.
  - exists (S p), Backward, 2. cbn [beside pass]. repeat split; [lia|lia|lia|lia|f_equal; lia].
  - exists (S p), Forward, 0. cbn [beside pass]. repeat split; [lia|lia|lia|lia|f_equal; lia].
  - exists p, Backward, 0. cbn [beside pass]. repeat split; lia.
Qed.
(* THEOREM: no two operations are at one place of a stream. *)
Theorem one_place u v r i : valid x u = true -> valid x v = true -> in_stream x u = Some (r, i) -> in_stream x v = Some (r, i) -> u = v.
Proof.
  intros Vu Vv Iu Iv. destruct (seated u r i Vu Iu) as (s & k & h & R1 & I1 & L1 & S1 & P1 & B1 & ->), (seated v r i Vv Iv) as (t & l & g & R2 & I2 & L2 & S2 & P2 & B2 & ->).
  destruct (apart_all s t S1 S2 ltac:(congruence) k l (batch u) (batch v) (slice u) (slice v) P1 P2 B1 B2 ltac:(lia)) as (-> & -> & E & F).
  rewrite E, F in *. f_equal. lia.
Qed.
End Of.
Definition theorems := (@one_place, @first_turn).
