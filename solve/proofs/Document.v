(* What a priced document says: which plans there are of its one layout, and how long each of their
   operations takes (docs/PROOFS.md 3, 4; docs/FORMULAS.md 7, 8). With Schedule.v this is the
   specification. A stage's numbers are sums over its layers. *)
Require Import ZArith List Bool Lia.
From Plumbline Require Import Schedule.
Import ListNotations.
Open Scope Z_scope.

(* Modes of recomputation by number: 0 keeps everything, 2 keeps inputs alone, others keep a part. *)
Record run := Run {
  named : nat;                                 (* which of the model's *)
  recomputable : bool;
  run_cut : nat;                               (* class of the message after such a layer *)
  resident : nat -> Z;                         (* bytes, by gradient option: weights, gradients, states, feedback *)
  unsharded : Z;
  stash : nat -> Z;                            (* bytes of a micro-batch, by mode *)
  working : nat -> Z;                          (* bytes while the layer runs, by mode *)
  in_tier : nat -> Z;                          (* bytes in each tier of memory beside the device's *)
  energy : nat -> Z;                           (* of an iteration, by mode *)
  forward_ns : nat -> nat -> Z;                (* slice, group *)
  backward_ns : nat -> nat -> Z;
  weight_ns : nat -> Z;
  again_ns : nat -> nat -> nat -> Z;           (* what a mode adds to the backward: mode, slice, group *)
  optimizer_ns : nat -> nat -> Z;              (* gradient option, group *)
  sync_ns : nat -> nat -> Z }.
Record group := Group { slots : Z; excluded : bool; memory_limit : Z; constant_bytes : Z; sync_constant_ns : nat -> Z;
  tier_limit : nat -> option Z;                (* of a stage *)
  takes_slots : Z;                             (* of a rank *)
  shares : nat -> bool                         (* of which groups: of its own alone, but where those of one node group differ in width *) }.
Definition no_group := Group 0 true 0 0 (fun _ => 0) (fun _ => None) 1 (fun _ => false).
Record compression := Compression {
  compresses : bool;
  rank : option Z;          (* of its factors, where these are what it sends *)
  epilogue_only : bool;
  quality_cost : Z }.
Inductive mode := Each (code : nat) | FirstLayers (count : nat).
Record decision := Decision { from : nat; count : nat; on : nat; boundary_option : nat; gradient_option : nat; recompute : mode;
  sharded : nat (* of the layers that can be recomputed, the first so many are sharded further *) }.
(* All conditions that are stated together; a rule requires them, or forbids them. *)
Record rule := Rule {
  forbids : bool; of_stage : option nat; of_groups : option (nat -> bool); holds : option (nat * nat);
  of_run : option nat; at_least : option nat; at_most : option nat; of_modes : option (nat -> bool);
  of_gradient : option bool; of_boundary : option bool }.
Record problem := Problem {
  shape_of : shape;
  model : list (nat * nat);                    (* runs of equal layers: which, how many *)
  run_at : nat -> run;
  sharded_further : option (nat -> nat);       (* a run as it then is, by number *)
  as_on : nat -> nat -> nat -> nat;            (* a run with a gradient option on a group: by number, itself where these move none of its bytes *)
  groups : list group;
  tiers : nat;
  boundary_options : list compression;         (* the first compresses nothing *)
  gradient_options : list compression;
  rank_min : Z;
  offered : list nat;                          (* modes of all layers of a stage *)
  offers_first_layers : bool;
  setting : option mode;                       (* of every stage *)
  message_bytes : nat -> nat -> Z;             (* by class, of a stage on a group *)
  message_feedback : nat -> nat -> Z;          (* class, boundary option *)
  linked : nat -> nat -> nat -> bool;          (* class, group, next group *)
  onward_ns : nat -> nat -> nat -> nat -> nat -> Z;         (* the same; slice; part: overhead, link, delay *)
  back_ns : nat -> nat -> nat -> nat -> nat -> nat -> Z;    (* boundary option first *)
  embedding_ns : nat -> nat -> option Z;       (* first group, last group *)
  local_head : option nat;                     (* of a stage before a local loss, behind its layers: a run, by number *)
  local_forward_ns : Z;                        (* and what such a stage's first slice takes more *)
  local_backward_ns : Z;
  local_bytes : Z;
  budgets : list (option Z);                   (* boundaries, stages, cost, energy *)
  rules : list rule }.

Definition sum := fold_right Z.add 0.
Fixpoint drop (n : nat) (l : list (nat * nat)) := match l with
  | [] => [] | (r, c) :: t => if (n =? 0)%nat then l else if (n <? c)%nat then (r, (c - n)%nat) :: t else drop (n - c) t end.
Fixpoint take (n : nat) (l : list (nat * nat)) := match l with
  | [] => [] | (r, c) :: t => if (n =? 0)%nat then [] else if (n <? c)%nat then [(r, n)] else (r, c) :: take (n - c) t end.

Section Of.
Variable P : problem.
Let x := shape_of P.
Definition layers_of (l : list (nat * nat)) := fold_right (fun p a => (snd p + a)%nat) 0%nat l.
Definition total_layers := layers_of (model P).
Definition held f n := take n (drop f (model P)).
Definition part (r n : nat) (l : list (nat * nat)) := match n with O => l | _ => (r, n) :: l end.
Fixpoint shard (further : nat -> nat) (left : nat) (l : list (nat * nat)) : list (nat * nat) := match l with
  | [] => []
  | (r, c) :: t => if recomputable (run_at P r)
      then let a := Nat.min left c in part (further r) a (part r (c - a) (shard further (left - a) t))
      else (r, c) :: shard further left t end.
(* Layers as they are on a group with an option, the first k further sharded. *)
Definition laid k o g (l : list (nat * nat)) :=
  map (fun p => (as_on P (fst p) o g, snd p)) (match sharded_further P with None => l | Some f => shard f k l end).
Definition holds_layers d := laid (sharded d) (gradient_option d) (on d) (held (from d) (count d)).
(* ---- layers with their modes: run, how many, mode *)
Definition some_of (r n m : nat) (l : list (nat * nat * nat)) := match n with O => l | _ => (r, n, m) :: l end.
Fixpoint in_first (left : nat) (l : list (nat * nat)) : list (nat * nat * nat) := match l with
  | [] => []
  | (r, c) :: t => if recomputable (run_at P r)
      then let a := Nat.min left c in some_of r a 2 (some_of r (c - a) 0 (in_first (left - a) t))
      else (r, c, 0%nat) :: in_first left t end.
Definition in_modes (m : mode) (l : list (nat * nat)) := match m with
  | Each k => map (fun p => (fst p, snd p, if recomputable (run_at P (fst p)) then k else 0%nat)) l
  | FirstLayers n => in_first n l end.
Definition recomputable_in l := layers_of (filter (fun p => recomputable (run_at P (fst p))) l).
(* a sum over layers, of run and mode *)
Definition over (l : list (nat * nat * nat)) (g : run -> nat -> Z) := sum (map (fun p => let '(r, n, m) := p in Z.of_nat n * g (run_at P r) m) l).

(* ---- times of a stage *)
Definition group_at g := nth g (groups P) no_group.
Definition layer_backward r m y g := backward_ns r y g + match m with O => 0 | _ => again_ns r m y g end.
Definition gradient_pass r m g := if splits x then weight_ns r g else layer_backward r m 0%nat g.
(* a stage's layers with its own head *)
Definition ends_locally s := (S s <? stages x)%nat && is_local x s.
Definition headed s (l : list (nat * nat * nat)) := if ends_locally s then match local_head P with Some h => l ++ [(h, 1%nat, 0%nat)] | None => l end else l.
Definition local s y (v : Z) := if ends_locally s && (y =? 0)%nat then v else 0.
Definition single (l : list (nat * nat * nat)) := flat_map (fun p => let '(r, n, m) := p in repeat (run_at P r, m) n) l.
(* How long the syncs go on after the stage's last gradient, that of its first layer: the layers
   before it in the model have their gradients later. *)
Fixpoint tail (o g : nat) (l : list (run * nat)) (syncs passes : Z) : Z := match l with
  | [] => 0
  | (r, m) :: t => let s := syncs + sync_ns r o g in Z.max (s - passes) (tail o g t s (passes + gradient_pass r m g)) end.
Definition own_times s (layers : list (nat * nat * nat)) g o : list Z := let l := headed s layers in
  map (fun y => over l (fun r _ => forward_ns r y g) + local s y (local_forward_ns P)) (seq 0 (slices x)) ++
  map (fun y => over l (fun r m => layer_backward r m y g) + local s y (local_backward_ns P)) (seq 0 (slices x)) ++
  [ over l (fun r _ => weight_ns r g);
    sync_constant_ns (group_at g) o +
      (if overlapped x then tail o g (single l) 0 0 else over l (fun r _ => sync_ns r o g));
    over l (fun r _ => optimizer_ns r o g);
    if overlapped x && several x then sync_constant_ns (group_at g) o + over l (fun r _ => sync_ns r o g) else 0 ].
Definition times s d := own_times s (in_modes (recompute d) (holds_layers d)) (on d) (gradient_option d).
Definition last_cut (l : list (nat * nat)) := match last l (0%nat, 0%nat) with (r, _) => run_cut (run_at P r) end.

(* ---- memory of a rank *)
(* the class of the message before layer f, where one comes over the boundary before stage s *)
Definition before s f := match s, f with
  | S b, S i => if leaves_rank x b then match drop i (model P) with (r, _) :: _ => Some (run_cut (run_at P r)) | [] => None end else None
  | _, _ => None end.
Definition sends_on s := (S s <? stages x)%nat && is_sent x Onward s.
(* of layers l, at most 0 where a document says less *)
Definition fixed_bytes s (l : list (nat * nat)) (b : option nat) g bo go m : Z := Z.max 0
  (over (headed s (in_modes m l)) (fun r _ => resident r go) + (if ends_locally s then local_bytes P else 0)
  + match b with Some c => 2 * message_bytes P c g + message_feedback P c bo | None => 0 end
  + (if sends_on s then 2 * message_bytes P (last_cut l) g else 0)).
Definition most := fold_right Z.max 0.
Definition working_bytes s l m : Z := let ls := headed s (in_modes m l) in
  Z.max 0 (over ls (fun r _ => unsharded r) + most (map (fun p => let '(r, _, m) := p in working (run_at P r) m) ls)).
Definition stash_bytes s l m : Z := over (headed s (in_modes m l)) (fun r m => stash r m).
(* A micro-batch is held from the first slice of its forward to the end of its backward. *)
Definition released s j := turn x s (if splits x then Weight else Backward) j 0.
Definition how_many (p : nat -> bool) : Z := Z.of_nat (length (filter p (seq 0 (batches x)))).
Definition held_at s now : Z := how_many (fun j => turn x s Forward j 0 <? now)%nat - how_many (fun j => released s j <? now)%nat.
Definition stages_on r := filter (fun s => on_rank x s =? r)%nat (seq 0 (stages x)).
(* right before something is released *)
Definition moments r : list nat := flat_map (fun s => map (released s) (seq 0 (batches x))) (stages_on r).

(* ---- what a stage may decide *)
Definition code_of (m : mode) := match m with Each k => k | FirstLayers _ => 3%nat end.
Definition if_stated {A} (o : option A) (p : A -> bool) := match o with Some a => p a | None => true end.
Definition compression_at l i := nth i l (Compression false None false 0).
Definition rule_layers (r : rule) l := match of_run r with None => layers_of l | Some k => layers_of (filter (fun p => (named (run_at P (fst p)) =? k)%nat) l) end.
Definition conditions r f l g bo go m :=
  if_stated (of_groups r) (fun h => h g)
  && if_stated (holds r) (fun s => (f <=? fst s)%nat && (snd s <? f + layers_of l)%nat)
  && if_stated (at_least r) (fun n => (n <=? rule_layers r l)%nat)
  && if_stated (at_most r) (fun n => (rule_layers r l <=? n)%nat)
  && if_stated (of_modes r) (fun h => h (code_of m))
  && if_stated (of_gradient r) (Bool.eqb (compresses (compression_at (gradient_options P) go)))
  && if_stated (of_boundary r) (Bool.eqb (compresses (compression_at (boundary_options P) bo))).
Definition concerns s r := if_stated (of_stage r) (Nat.eqb s).
Definition obeys s f l g bo go m := forallb (fun r => negb (concerns s r) || negb (Bool.eqb (conditions r f l g bo go m) (forbids r))) (rules P).
Definition allowed (c : compression) := if_stated (rank c) (fun k => rank_min P <=? k).
Definition same_mode a b := match a, b with Each i, Each j | FirstLayers i, FirstLayers j => (i =? j)%nat | _, _ => false end.
Definition as_set l m := match setting P with
  | None => true
  | Some (Each k) => same_mode m (Each k)
  | Some (FirstLayers n) => match recomputable_in l with O => same_mode m (Each 0) | k => same_mode m (FirstLayers (Nat.min k n)) end end.
Definition mode_fits l m := match m with
  | Each k => existsb (Nat.eqb k) (offered P)
  | FirstLayers n => offers_first_layers P && (1 <=? n)%nat && (n <=? recomputable_in l)%nat end.
Definition tiers_hold l g m := forallb (fun t => if_stated (tier_limit (group_at g) t) (fun most => over (in_modes m l) (fun r _ => in_tier r t) <=? most)) (seq 0 (tiers P)).
(* of layers l from layer f on, after a message of class b *)
Definition may_decide s f l g bo go m : bool :=
  negb (excluded (group_at g)) && (takes_slots (group_at g) <=? slots (group_at g))
  && mode_fits l m && as_set l m && tiers_hold l g m
  && allowed (compression_at (boundary_options P) bo) && allowed (compression_at (gradient_options P) go)
  && obeys s f l g bo go m.
Definition may_shard l := match sharded_further P with None => 0%nat | Some _ => recomputable_in l end.
Definition in_range s d :=
  (on d <? length (groups P))%nat
  && (boundary_option d <? length (boundary_options P))%nat && (gradient_option d <? length (gradient_options P))%nat
  && (match s with O => (boundary_option d =? 0)%nat | S b => is_sent x Back b || (boundary_option d =? 0)%nat end)
  && (1 <=? count d)%nat && (from d + count d <=? total_layers)%nat
  && (sharded d <=? may_shard (held (from d) (count d)))%nat.
Definition decision_ok s d := in_range s d &&
  may_decide s (from d) (holds_layers d) (on d) (boundary_option d) (gradient_option d) (recompute d).

(* ---- plans *)
Definition one (b : bool) := if b then 1 else 0.
(* A rank takes one slot, and its first stage counts it. *)
Definition energy_of l m := over (in_modes m l) energy.
Definition needs_on s l g bo go m : list Z :=
  map (fun h => if (s <? rank_count x)%nat && shares (group_at g) h then takes_slots (group_at g) else 0) (seq 0 (length (groups P))) ++
  [ one (negb (bo =? 0)%nat);
    one (compresses (compression_at (gradient_options P) go));
    quality_cost (compression_at (gradient_options P) go) + quality_cost (compression_at (boundary_options P) bo);
    energy_of l m ].
Definition needs s d := needs_on s (holds_layers d) (on d) (boundary_option d) (gradient_option d) (recompute d).
Definition available : list (option Z) := map (fun g => Some (slots g)) (groups P) ++ budgets P.
Definition needed r plan : Z := sum (map (fun p => nth r (needs (fst p) (snd p)) 0) (combine (seq 0 (length plan)) plan)).
Definition joined s d e := if leaves_rank x s then negb (is_sent x Onward s) || linked P (last_cut (holds_layers d)) (on d) (on e) else (on d =? on e)%nat.
Fixpoint in_order (s f : nat) (plan : list decision) : bool := match plan with
  | [] => (s =? stages x)%nat && (f =? total_layers)%nat
  | d :: r => decision_ok s d && (from d =? f)%nat && match r with e :: _ => joined s d e | [] => true end
      && in_order (S s) (f + count d)%nat r end.
Definition ends_of (plan : list decision) := match plan with [] => None | d :: _ => embedding_ns P (on d) (on (List.last plan d)) end.
Definition nobody := Decision 0 0 0 0 0 (Each 0) 0.
(* The stages of a rank are on one group, and together within its memory. *)
Definition fixed_of s d := fixed_bytes s (holds_layers d) (before s (from d)) (on d) (boundary_option d) (gradient_option d) (recompute d).
Definition working_of s d := working_bytes s (holds_layers d) (recompute d).
Definition stash_of s d := stash_bytes s (holds_layers d) (recompute d).
Definition rank_bytes (plan : list decision) r : Z :=
  let ss := stages_on r in let d s := nth s plan nobody in
  constant_bytes (group_at (on (d r))) + sum (map (fun s => fixed_of s (d s)) ss) + most (map (fun s => working_of s (d s)) ss)
  + most (map (fun now => sum (map (fun s => Z.max 0 (held_at s now * stash_of s (d s))) ss)) (moments r)).
Definition rank_ok plan r : bool := let d s := nth s plan nobody in
  forallb (fun s => on (d s) =? on (d r))%nat (stages_on r) && (rank_bytes plan r <=? memory_limit (group_at (on (d r)))).
Definition plan_ok (plan : list decision) : Prop :=
  in_order 0 0 plan = true
  /\ (forall r l, nth_error available r = Some (Some l) -> needed r plan <= l)
  /\ (forall r, (r < rank_count x)%nat -> rank_ok plan r = true)
  /\ (embedding x = true -> ends_of plan <> None).

(* ---- how long an operation takes *)
Definition gradient_compression o drain : nat := if epilogue_only (compression_at (boundary_options P) o) && negb drain then 0 else o.
Definition message_ns d e dir y drain part := let c := last_cut (holds_layers d) in match dir with
  | Onward => onward_ns P c (on d) (on e) y part
  | Back => back_ns P (gradient_compression (boundary_option e) drain) c (on d) (on e) y part end.
Definition lasts (plan : list decision) (u : op) : Z :=
  let d := nth (place u) plan nobody in let e := nth (S (place u)) plan nobody in
  let message dir part := message_ns d e dir (slice u) (drains x u) part in
  match what u with
  | Forward => nth (slice u) (times (place u) d) 0
  | Backward => nth (slices x + slice u) (times (place u) d) 0
  | Weight => nth (2 * slices x) (times (place u) d) 0
  | Sync => nth (2 * slices x + 1) (times (place u) d) 0
  | Optimizer => nth (2 * slices x + 2) (times (place u) d) 0
  | QueuedSync => nth (2 * slices x + 3) (times (place u) d) 0
  | Sends dir | Receives dir => message dir 0%nat
  | Links dir => message dir 1%nat
  | Delays dir => message dir 2%nat
  | EmbeddingSync => match ends_of plan with Some e => e | None => 0 end end.
Definition takes plan T := takes_at_most x (lasts plan) T.
End Of.
