(* Messages with a part that blocks both ends (docs/PROOFS.md 8, b): whoever of a message's two ranks is
   made to count it, what is left is a timing without such parts. So every bound of a timing holds. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule Streams Bounds.
Import ListNotations.
Open Scope Z_scope.

Section Of.
Variable x : shape.
Hypothesis Hx : regular x.
Variables (d start : op -> Z) (T : Z).
Hypothesis Ht : timing x d start T.      (* of the same operations, without what blocks *)
Hypothesis Hd : forall u, 0 <= d u.
(* How long a message blocks, and from when: by direction, boundary, micro-batch and slice. *)
Variables lasts_ begins_ : direction -> nat -> nat -> nat -> Z.
Definition blocks dir u := lasts_ dir (place u) (batch u) (slice u).
Definition from_ dir u := begins_ dir (place u) (batch u) (slice u).
Definition part k u := Op k (place u) (batch u) (slice u).
Definition receiver dir u := match dir with Onward => on_rank x (S (place u)) | Back => on_rank x (place u) end.
Definition sender dir u := match dir with Onward => on_rank x (place u) | Back => on_rank x (S (place u)) end.
Hypothesis positive : forall dir u, 0 <= blocks dir u.
(* between the sender's overhead and the link *)
Hypothesis in_between : forall dir u, valid x (part (Sends dir) u) = true ->
  start (part (Sends dir) u) + d (part (Sends dir) u) <= from_ dir u /\ from_ dir u + blocks dir u <= start (part (Links dir) u).
(* at the sender before all that follows its overhead, and before the rank's steps *)
Hypothesis at_sender : forall dir u v, valid x (part (Sends dir) u) = true -> valid x v = true ->
  precedes (in_stream x (part (Sends dir) u)) (in_stream x v) = true \/ (what v = Optimizer /\ on_rank x (place v) = sender dir u) -> from_ dir u + blocks dir u <= start v.
(* at the receiver, where that is to count it, behind all that precedes its overhead *)
Variable r : nat.
Definition mine dir u := (receiver dir u =? r)%nat.
Hypothesis at_receiver : forall dir u v, mine dir u = true -> valid x (part (Receives dir) u) = true -> valid x v = true ->
  precedes (in_stream x v) (in_stream x (part (Receives dir) u)) = true -> start v + d v <= from_ dir u.
(* two that share a rank, one after the other *)
Hypothesis apart : forall dir u dir' v, valid x (part (Sends dir) u) = true -> valid x (part (Sends dir') v) = true -> sender dir u = receiver dir' v ->
  from_ dir u + blocks dir u <= from_ dir' v \/ from_ dir' v + blocks dir' v <= from_ dir u.
(* without a barrier, all of a rank's stream before the next iteration's *)
Hypothesis carried : barrier x = false -> forall dir u, valid x (part (Sends dir) u) = true ->
  (forall v, valid x v = true -> rank_of x v = Some (sender dir u) -> from_ dir u + blocks dir u <= start v + T)
  /\ (forall v, valid x v = true -> rank_of x v = Some (receiver dir u) -> start v + d v <= from_ dir u + T)
  /\ (forall dir' v, valid x (part (Sends dir') v) = true -> sender dir u = receiver dir' v \/ sender dir u = sender dir' v -> from_ dir u + blocks dir u <= from_ dir' v + T).

(* Rank r counts what blocks it of messages that it receives, but for the one that opens its stream; of
   all others the sender does (of no rank: always). Links and delays towards r count for that one alone. *)
Definition opening dir u := mine dir u && match dir with Onward => (S (place u) =? r)%nat && (batch u =? 0)%nat && (slice u =? 0)%nat | Back => false end.
Definition late dir u := mine dir u && negb (opening dir u).
Definition d' u := match what u with
  | Sends dir => d u + if late dir u then 0 else blocks dir u
  | Receives dir => d u + if late dir u then blocks dir u else 0
  | Links dir => if mine dir u then 0 else d u
  | Delays dir => if mine dir u then if opening dir u then d (part (Links dir) u) + d u else 0 else d u
  | _ => d u end.
Definition start' u := match what u with
  | Receives dir => start u - if late dir u then blocks dir u else 0
  | Links dir | Delays dir => if mine dir u then from_ dir u + (if opening dir u then blocks dir u else 0) else start u
  | _ => start u end.

Lemma part_is k u : what u = k -> part k u = u.
Proof. destruct u as [a p b y]. cbn. intros ->. reflexivity. Qed.
Lemma parts_valid dir u : valid x (part (Sends dir) u) = true -> valid x (part (Links dir) u) = true /\ valid x (part (Delays dir) u) = true /\ valid x (part (Receives dir) u) = true.
Proof. unfold valid, part. cbn [what place batch slice]. auto. Qed.
Lemma valid_message u dir : valid x u = true -> what u = Sends dir \/ what u = Links dir \/ what u = Delays dir \/ what u = Receives dir -> valid x (part (Sends dir) u) = true.
Proof. unfold valid, part. cbn [what place batch slice]. intros V [E|[E|[E|E]]]; rewrite E in V; exact V. Qed.
Lemma chain dir u : valid x (part (Sends dir) u) = true ->
  start (part (Links dir) u) + d (part (Links dir) u) <= start (part (Delays dir) u) /\ start (part (Delays dir) u) + d (part (Delays dir) u) <= start (part (Receives dir) u).
Proof.
  intros V. destruct (parts_valid dir u V) as (A & B & C). destruct Ht as (_ & _ & _ & W & _). assert (M : forall a b, same_message (part a u) (part b u) = true) by (intros; unfold same_message, part; cbn; rewrite !Nat.eqb_refl; reflexivity).
  split; apply W; auto; unfold waits; destruct dir; cbn [part what]; cbn [same_direction]; fold (part (Links Onward) u); rewrite ?orb_true_iff; right; apply M.
Qed.
(* What a message's parts begin and end by. *)
Lemma times_of dir u : valid x (part (Sends dir) u) = true -> let S_ := part (Sends dir) u in
  start S_ + d S_ <= from_ dir u /\ 0 <= blocks dir u /\ from_ dir u + blocks dir u <= start (part (Links dir) u)
  /\ start (part (Links dir) u) + d (part (Links dir) u) <= start (part (Delays dir) u) /\ start (part (Delays dir) u) + d (part (Delays dir) u) <= start (part (Receives dir) u)
  /\ 0 <= d (part (Links dir) u) /\ 0 <= d (part (Delays dir) u) /\ 0 <= d S_ /\ 0 <= start S_.
Proof.
  intros V S_. destruct (in_between dir u V), (chain dir u V). pose proof (positive dir u). pose proof (Hd (part (Links dir) u)). pose proof (Hd (part (Delays dir) u)). pose proof (Hd S_).
  destruct Ht as (_ & Hz & _). specialize (Hz S_ V). repeat split; assumption.
Qed.
Lemma opening_mine dir u : opening dir u = true -> mine dir u = true.
Proof. unfold opening. parts. tauto. Qed.
Lemma starts_no_later u : valid x u = true -> start' u <= start u /\ 0 <= start' u.
Proof.
  intros V. assert (S0 : 0 <= start u) by (destruct Ht as (_ & H0 & _); auto). unfold start'. destruct (what u) as [| | | | |dir|dir|dir|dir| |] eqn:E; try lia;
    (pose proof (times_of dir u (valid_message u dir V ltac:(rewrite E; auto))) as Q; cbn zeta in Q; rewrite (part_is _ u E) in Q; destruct Q as (Q1 & Q2 & Q3 & Q4 & Q5 & Q6 & Q7 & Q8 & Q9)).
  all: unfold late; destruct (mine dir u), (opening dir u); cbn [andb negb]; lia.
Qed.
Definition pays u := match what u with Sends dir => if late dir u then 0 else blocks dir u | _ => 0 end.
Lemma ends_by u : valid x u = true -> start' u + d' u <= start u + d u + pays u.
Proof.
  intros V. unfold start', d', pays. destruct (what u) as [| | | | |dir|dir|dir|dir| |] eqn:E; try lia; pose proof (times_of dir u (valid_message u dir V ltac:(rewrite E; auto))) as Q; cbn zeta in Q; rewrite (part_is _ u E) in Q; destruct Q as (Q1 & Q2 & Q3 & Q4 & Q5 & Q6 & Q7 & Q8 & Q9).
  all: unfold late; destruct (mine dir u), (opening dir u); cbn [andb negb]; lia.
Qed.
(* What blocks the sender is over before whatever follows its overhead on its stream, or is a step there. *)
Lemma paid u v : valid x u = true -> valid x v = true -> precedes (in_stream x u) (in_stream x v) = true \/ (what v = Optimizer /\ alike (rank_of x u) (rank_of x v) = true) ->
  start u + d u <= start v -> start u + d u + pays u <= start v.
Proof.
  intros Vu Vv P B. unfold pays. destruct (what u) as [| | | | |dir|dir|dir|dir| |] eqn:E; try lia. pose proof (valid_message u dir Vu ltac:(rewrite E; auto)) as V. pose proof (in_between dir u V) as [Q _]. pose proof (positive dir u).
  assert (K : from_ dir u + blocks dir u <= start v); [|rewrite (part_is _ u E) in Q; destruct (late dir u); lia].
  apply (at_sender dir u v V Vv). rewrite (part_is _ u E). destruct P as [P|[P P']]; [left; exact P|right; split; [exact P|]]. unfold rank_of in P'. rewrite E, P in P'. unfold in_stream in P'. rewrite E in P'. unfold sender. destruct dir; cbn [alike] in P'; apply Nat.eqb_eq in P'; auto.
Qed.
(* What precedes a receiver's overhead on its stream is over before that and what blocks the receiver. *)
Lemma received u v dir : valid x u = true -> valid x v = true -> what v = Receives dir -> late dir v = true -> precedes (in_stream x u) (in_stream x v) = true -> start u + d u <= start v ->
  start u + d u + pays u <= start v - blocks dir v.
Proof.
  intros Vu Vv Ev L P B. pose proof (valid_message v dir Vv ltac:(rewrite Ev; auto)) as W. pose proof (times_of dir v W) as Q. cbn zeta in Q. rewrite (part_is _ v Ev) in Q. destruct Q as (Q1 & Q2 & Q3 & Q4 & Q5 & Q6 & Q7 & Q8 & Q9).
  assert (A : start u + d u <= from_ dir v) by (apply (at_receiver dir v u); auto; [unfold late in L; apply andb_true_iff in L; apply L|rewrite (part_is _ v Ev); auto..]). unfold pays. destruct (what u) as [| | | | |dir'|dir'|dir'|dir'| |] eqn:E; try lia.
  destruct (late dir' u); [lia|]. pose proof (valid_message u dir' Vu ltac:(rewrite E; auto)) as V. pose proof (in_between dir' u V) as [Q _]. rewrite (part_is _ u E) in Q.
  assert (K : from_ dir' u + blocks dir' u <= start v) by (apply (at_sender dir' u v V Vv); left; rewrite (part_is _ u E); exact P).
  assert (R : sender dir' u = receiver dir v). { unfold in_stream in P. rewrite E, Ev in P. unfold sender, receiver. destruct dir', dir; cbn [precedes] in P; facts in P; apply P. }
  destruct (apart dir' u dir v V W R); lia.
Qed.
(* Parts on a link towards the rank follow those before them there. *)
Lemma on_link dir u dir' v : valid x u = true -> valid x v = true -> what u = Links dir -> what v = Links dir' -> precedes (in_link x u) (in_link x v) = true ->
  mine dir u = mine dir' v /\ (from_ dir u + blocks dir u <= from_ dir' v).
Proof.
  intros Vu Vv Eu Ev P. pose proof (valid_message u dir Vu ltac:(rewrite Eu; auto)) as Wu. pose proof (valid_message v dir' Vv ltac:(rewrite Ev; auto)) as Wv. pose proof (in_between dir' v Wv) as [Q _]. pose proof (Hd (part (Sends dir') v)).
  assert (N : forall s, (s < stages x)%nat -> (on_rank x s < rank_count x)%nat) by apply (on_some x Hx).
  unfold valid in Vu, Vv. rewrite Eu in Vu. rewrite Ev in Vv. (facts in Vu; facts in Vv).
  assert (D : sender dir u = sender dir' v /\ receiver dir u = receiver dir' v /\ precedes (in_stream x (part (Sends dir) u)) (in_stream x (part (Sends dir') v)) = true).
  { unfold in_link in P. rewrite Eu, Ev in P. unfold sender, receiver, in_stream, part. cbn [what place batch slice].
    assert (Du := N (place u) ltac:(lia)). assert (Du' := N (S (place u)) ltac:(lia)). assert (Dv := N (place v) ltac:(lia)). assert (Dv' := N (S (place v)) ltac:(lia)).
    destruct dir, dir'; cbn [precedes] in P |- *; facts in P; destruct P as [P P'];
      (destruct (digits (rank_count x) _ _ _ _ Du' Dv' P) as [E1 E2] || destruct (digits (rank_count x) _ _ _ _ Du' Dv P) as [E1 E2] || destruct (digits (rank_count x) _ _ _ _ Du Dv' P) as [E1 E2] || destruct (digits (rank_count x) _ _ _ _ Du Dv P) as [E1 E2]);
      (split; [exact E1|]; split; [exact E2|]; rewrite E1, Nat.eqb_refl; cbn [andb]; apply Nat.ltb_lt; lia). }
  destruct D as (D1 & D2 & D3). split; [unfold mine; rewrite D2; reflexivity|].
  assert (K : from_ dir u + blocks dir u <= start (part (Sends dir') v)) by (apply (at_sender dir u _ Wu Wv); left; exact D3). lia.
Qed.
Lemma link_ranks dir u dir' v : valid x u = true -> valid x v = true -> what u = Links dir -> what v = Links dir' -> alike (link_of x u) (link_of x v) = true -> sender dir u = sender dir' v /\ receiver dir u = receiver dir' v.
Proof.
  intros Vu Vv Eu Ev P. assert (N : forall s, (s < stages x)%nat -> (on_rank x s < rank_count x)%nat) by apply (on_some x Hx).
  unfold valid in Vu, Vv. rewrite Eu in Vu. rewrite Ev in Vv. (facts in Vu; facts in Vv).
  assert (Du := N (place u) ltac:(lia)). assert (Du' := N (S (place u)) ltac:(lia)). assert (Dv := N (place v) ltac:(lia)). assert (Dv' := N (S (place v)) ltac:(lia)).
  unfold link_of, in_link in P. rewrite Eu, Ev in P. unfold sender, receiver. destruct dir, dir'; cbn [alike] in P; apply Nat.eqb_eq in P;
    (apply (digits (rank_count x) _ _ _ _ Du' Dv' P) || apply (digits (rank_count x) _ _ _ _ Du' Dv P) || apply (digits (rank_count x) _ _ _ _ Du Dv' P) || apply (digits (rank_count x) _ _ _ _ Du Dv P)).
Qed.
(* Of one message. *)
Lemma of_one u v : same_message u v = true -> exists k, v = part k u.
Proof. unfold same_message. facts. intros ((A & B) & C). exists (what v). destruct v as [k p b y]. unfold part. cbn in *. congruence. Qed.
Lemma same_way a b : same_direction a b = true -> a = b.
Proof. destruct a, b; cbn; congruence. Qed.
Lemma no_stream a : precedes a None = false. Proof. destruct a as [[q i]|]; reflexivity. Qed.
Lemma follows_pay u v : valid x u = true -> valid x v = true -> waits x u v = true -> (forall dir, what v <> Links dir) -> start u + d u + pays u <= start v.
Proof.
  intros Vu Vv W N. pose proof Ht as (_ & _ & _ & H2 & _). pose proof (H2 u v Vu Vv W) as B. destruct (what u) as [| | | | |dir|dir|dir|dir| |] eqn:E; try (unfold pays; rewrite E; lia).
  apply paid; auto. unfold waits in W. assert (L : in_link x u = None) by (unfold in_link; rewrite E; reflexivity). rewrite L, E in W. cbn [precedes orb] in W. rewrite orb_false_r in W. apply orb_true_iff in W. destruct W as [W|W]; [left; exact W|]. right.
  destruct (what v) as [| | | | |dir'|dir'|dir'|dir'| |] eqn:Ev; try discriminate W; [|destruct (N dir' eq_refl)]. split; [reflexivity|]. rewrite orb_false_r in W. unfold rank_of. rewrite E, Ev. destruct (in_stream x u) as [[q i]|]; [|discriminate W]. cbn [alike]. exact W.
Qed.
Lemma kept_waits u v : valid x u = true -> valid x v = true -> waits x u v = true -> start' u + d' u <= start' v.
Proof.
  intros Vu Vv W. pose proof Ht as (_ & _ & _ & H2 & _). pose proof (H2 u v Vu Vv W) as B. pose proof (ends_by u Vu) as A.
  destruct (what v) as [| | | | |dir|dir|dir|dir| |] eqn:E; try (pose proof (follows_pay u v Vu Vv W ltac:(intros; rewrite E; discriminate)) as F; unfold start' at 2; rewrite E; lia).
  - assert (S0 : in_stream x v = None) by (unfold in_stream; rewrite E; reflexivity). unfold waits in W. rewrite S0, no_stream, E in W. cbn [orb] in W. pose proof (valid_message v dir Vv ltac:(rewrite E; auto)) as V. pose proof (times_of dir v V) as Q. cbn zeta in Q. rewrite (part_is _ v E) in Q. destruct Q as (Q1 & Q2 & Q3 & Q4 & Q5 & Q6 & Q7 & Q8 & Q9).
    destruct (what u) as [| | | | |dir'|dir'|dir'|dir'| |] eqn:Eu; try (unfold in_link in W; rewrite Eu in W; discriminate W).
    + unfold in_link at 1 in W. rewrite Eu in W. cbn [precedes orb] in W. apply andb_true_iff in W. destruct W as [W1 W2]. apply same_way in W1. subst dir'. destruct (of_one u v W2) as (k & ->). change (what (part k u)) with k in E. subst k.
      change (from_ dir (part (Links dir) u)) with (from_ dir u) in *. change (blocks dir (part (Links dir) u)) with (blocks dir u) in *. change (part (Sends dir) (part (Links dir) u)) with (part (Sends dir) u) in *. rewrite (part_is _ u Eu) in *.
      unfold pays in A. rewrite Eu in A. unfold start' at 2. cbn [part what]. fold (part (Links dir) u). change (mine dir (part (Links dir) u)) with (mine dir u). change (opening dir (part (Links dir) u)) with (opening dir u). change (from_ dir (part (Links dir) u)) with (from_ dir u). change (blocks dir (part (Links dir) u)) with (blocks dir u).
      unfold late in A. destruct (mine dir u), (opening dir u); cbn [andb negb] in A; lia.
    + rewrite orb_false_r in W. destruct (on_link dir' u dir v Vu Vv Eu E W) as [M L]. pose proof (positive dir' u). unfold start', d'. rewrite E, Eu, <- M. destruct (mine dir' u); [|lia]. destruct (opening dir' u), (opening dir v); lia.
  - assert (S0 : in_stream x v = None) by (unfold in_stream; rewrite E; reflexivity). assert (L0 : in_link x v = None) by (unfold in_link; rewrite E; reflexivity). unfold waits in W. rewrite S0, L0, !no_stream, E in W. cbn [orb] in W.
    destruct (what u) as [| | | | |dir'|dir'|dir'|dir'| |] eqn:Eu; try discriminate W. apply andb_true_iff in W. destruct W as [W1 W2]. apply same_way in W1. subst dir'. destruct (of_one u v W2) as (k & ->). change (what (part k u)) with k in E. subst k.
    unfold start', d'. rewrite Eu. cbn [part what]. fold (part (Delays dir) u). change (mine dir (part (Delays dir) u)) with (mine dir u). change (opening dir (part (Delays dir) u)) with (opening dir u). change (from_ dir (part (Delays dir) u)) with (from_ dir u). change (blocks dir (part (Delays dir) u)) with (blocks dir u). destruct (mine dir u); lia.
  - assert (L0 : in_link x v = None) by (unfold in_link; rewrite E; reflexivity). pose proof (valid_message v dir Vv ltac:(rewrite E; auto)) as V. pose proof (times_of dir v V) as Q. cbn zeta in Q. rewrite (part_is _ v E) in Q. destruct Q as (Q1 & Q2 & Q3 & Q4 & Q5 & Q6 & Q7 & Q8 & Q9).
    pose proof W as W0. unfold waits in W. rewrite L0, no_stream, E in W. rewrite orb_false_r in W. apply orb_true_iff in W. unfold start' at 2. rewrite E. destruct W as [W|W].
    + destruct (late dir v) eqn:L; [pose proof (received u v dir Vu Vv E L W B); lia|]. pose proof (follows_pay u v Vu Vv W0 ltac:(intros; rewrite E; discriminate)). lia.
    + destruct (what u) as [| | | | |dir'|dir'|dir'|dir'| |] eqn:Eu; try discriminate W. apply andb_true_iff in W. destruct W as [W1 W2]. apply same_way in W1. subst dir'. destruct (of_one u v W2) as (k & ->). change (what (part k u)) with k in E. subst k.
      change (part (Links dir) (part (Receives dir) u)) with (part (Links dir) u) in *. change (part (Delays dir) (part (Receives dir) u)) with (part (Delays dir) u) in *. rewrite (part_is _ u Eu) in *. change (from_ dir (part (Receives dir) u)) with (from_ dir u) in *. change (blocks dir (part (Receives dir) u)) with (blocks dir u) in *. change (late dir (part (Receives dir) u)) with (late dir u).
      unfold start', d'. rewrite Eu. unfold late. destruct (mine dir u), (opening dir u); cbn [andb negb]; lia.
Qed.
Lemma kept_carries u v : barrier x = false -> valid x u = true -> valid x v = true -> carries x u v = true -> start' u + d' u <= start' v + T.
Proof.
  intros Hb Vu Vv C. pose proof Ht as (_ & _ & _ & _ & H3). pose proof (H3 Hb u v Vu Vv C) as B. pose proof (ends_by u Vu) as A. unfold carries in C. apply orb_true_iff in C. destruct C as [C|C].
  - destruct (rank_of x u) as [q|] eqn:Ru; [|discriminate C]. destruct (rank_of x v) as [q'|] eqn:Rv; [|discriminate C]. cbn [alike] in C. apply Nat.eqb_eq in C. subst q'.
    assert (P : pays u = 0 \/ exists dir, what u = Sends dir /\ late dir u = false /\ sender dir u = q /\ valid x (part (Sends dir) u) = true /\ start u + d u <= from_ dir u /\ pays u = blocks dir u).
    { unfold pays. destruct (what u) as [| | | | |dir|dir|dir|dir| |] eqn:E; auto. destruct (late dir u) eqn:L; auto. right. exists dir. pose proof (valid_message u dir Vu ltac:(rewrite E; auto)) as V. pose proof (in_between dir u V) as [Q _]. rewrite (part_is _ u E) in Q.
      repeat split; auto. unfold rank_of, in_stream in Ru. rewrite E in Ru. unfold sender. destruct dir; congruence. }
    assert (K : start' v = start v \/ exists dir, what v = Receives dir /\ late dir v = true /\ receiver dir v = q /\ valid x (part (Sends dir) v) = true /\ from_ dir v <= start' v).
    { unfold start'. destruct (what v) as [| | | | |dir|dir|dir|dir| |] eqn:E; auto; try (unfold rank_of, in_stream in Rv; rewrite E in Rv; discriminate Rv). destruct (late dir v) eqn:L; [right|left; lia]. exists dir. pose proof (valid_message v dir Vv ltac:(rewrite E; auto)) as V. pose proof (times_of dir v V) as Q. cbn zeta in Q. rewrite (part_is _ v E) in Q.
      repeat split; auto; [unfold rank_of, in_stream in Rv; rewrite E in Rv; unfold receiver; destruct dir; congruence|lia]. }
    destruct P as [P|(dir & Eu & Lu & Su & Wu & Fu & P)], K as [K|(dir' & Ev & Lv & Rv' & Wv & K)].
    + lia.
    + pose proof (proj1 (proj2 (carried Hb dir' v Wv)) u Vu ltac:(congruence)). lia.
    + pose proof (proj1 (carried Hb dir u Wu) v Vv ltac:(congruence)). lia.
    + pose proof (proj2 (proj2 (carried Hb dir u Wu)) dir' v Wv ltac:(left; congruence)). lia.
  - destruct (what u) as [| | | | |dir|dir|dir|dir| |] eqn:Eu; try (unfold link_of, in_link in C; rewrite Eu in C; discriminate C). destruct (what v) as [| | | | |dir'|dir'|dir'|dir'| |] eqn:Ev; try (unfold link_of in C; unfold in_link at 2 in C; rewrite Ev in C; destruct (in_link x u) as [[? ?]|]; discriminate C).
    destruct (link_ranks dir u dir' v Vu Vv Eu Ev C) as [D1 D2]. pose proof (valid_message u dir Vu ltac:(rewrite Eu; auto)) as Wu. pose proof (valid_message v dir' Vv ltac:(rewrite Ev; auto)) as Wv.
    pose proof (proj2 (proj2 (carried Hb dir u Wu)) dir' v Wv ltac:(right; congruence)). pose proof (positive dir u). pose proof (positive dir' v). unfold start', d'. rewrite Eu, Ev. assert (M : mine dir u = mine dir' v) by (unfold mine; rewrite D2; reflexivity). rewrite <- M. destruct (mine dir u); [|lia]. destruct (opening dir u), (opening dir' v); lia.
Qed.
(* THEOREM: it is a timing. *)
Theorem blocked : timing x d' start' T.
Proof.
  pose proof Ht as (HT & H0 & H1 & H2 & H3). split; [exact HT|]. split; [|split; [|split]].
  - intros u V. apply starts_no_later, V.
  - intros Hb u V. pose proof (ends_by u V) as A. specialize (H1 Hb). pose proof (H1 u V). unfold pays in A. destruct (what u) as [| | | | |dir|dir|dir|dir| |] eqn:E; try lia.
    pose proof (valid_message u dir V ltac:(rewrite E; auto)) as W. pose proof (times_of dir u W) as Q. cbn zeta in Q. rewrite (part_is _ u E) in Q. destruct Q as (Q1 & Q2 & Q3 & Q4 & Q5 & Q6 & Q7 & Q8 & Q9).
    pose proof (H1 (part (Links dir) u) (proj1 (parts_valid dir u W))). destruct (late dir u); lia.
  - exact kept_waits.
  - exact (fun Hb u v => kept_carries u v Hb).
Qed.
End Of.

(* ---- Where a message blocks its receiver earlier than right before the pass that uses it (solve/checker/
   layout/streams.c, ranks that wait in a circle): a rank's whole stream all the same (docs/PROOFS.md 8.5,
   8.6, with what blocks). *)
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
Hypothesis none_stored : forall b, stored x && is_local x b = false.
Hypothesis opens_then : start0 (opens x s) <= start (opens x s).
(* Messages that block the rank, but for the one that opens its stream. *)
Variable messages : list (direction * op).
Definition interval (m : direction * op) := (from_ begins_ (fst m) (snd m), blocks lasts_ (fst m) (snd m)).
Hypothesis positive : forall m, In m messages -> 0 <= snd (interval m).
Hypothesis after_opening : forall m, In m messages -> start (opens x s) <= fst (interval m).
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
Theorem early l e : of_rank x s l -> NoDup l -> (forall u, In u l -> start u + d u <= e) -> (forall m, In m messages -> fst (interval m) + snd (interval m) <= e) -> start (opens x s) <= e ->
  start0 (Op Forward 0 0 0) + fill d0 s + length_of d l + blocked_for <= e.
Proof.
  intros Hl Hn He Hm Ho. pose proof (reaches x Hx none_stored d0 start0 T Ht0 s Hs) as R. unfold begins in R.
  assert (Q : start (opens x s) + total (map snd (map interval messages ++ map (fun u => (start u, d u)) l)) <= e).
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
