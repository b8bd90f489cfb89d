(* Trusted: the priced document as the specification's problem. What the specification does not
   have is refused, and so is what is beyond the limits of machine integers. *)
open Names
open Json

let zero z = Z.sign z = 0
let need b format = Printf.ksprintf (fun s -> if not b then raise (Refused (s ^ ": not in the part that is verified"))) format
let given o k default read = match find o k with None -> default | Some v -> read v
(* Nanoseconds, bytes, counts. Where there may be none of them it is -1. *)
let amount ?(least = 0) v =
  let z = number v in
  if Z.lt z (Z.of_int least) || Z.gt z (Z.shift_left Z.one 53) then refuse "%s is not between %d and 2^53" (Z.to_string z) least;
  z
let numbers ?count ?least v =
  let a = Array.of_list (List.map (amount ?least) (array v)) in
  (match count with Some n when Array.length a <> n -> refuse "expected %d numbers, found %d" n (Array.length a) | _ -> ());
  a
let tables ?least ~outer ~inner v =
  let a = Array.of_list (List.map (numbers ?least ~count:inner) (array v)) in
  if Array.length a <> outer then refuse "expected %d tables, found %d" outer (Array.length a);
  a
let index_of_any what show x names =
  let rec seek i = function [] -> refuse "%s %s: unknown" what (show x) | y :: r -> if x = y then i else seek (i + 1) r in
  seek 0 names
let index_of what = index_of_any what (fun x -> x)

(* Sets of recompute modules are numbered by what is in them; tables have them in that order. *)
let modules = [ "mlp"; "layernorm"; "moe_act"; "moe"; "mla_up_proj"; "core_attn" ]
let mode_number name = match name with
  | "none" -> 0 | "selective" -> 1 | "full" -> 2 | "first_layers" -> 3
  | "swap" -> refuse "swap: not in the part that is verified"
  | set -> 4 + List.fold_left (fun a m -> a + (1 lsl index_of "mode" m modules)) 0 (String.split_on_char '+' set)

let schedule_of = function
  | "gpipe" -> Gpipe | "1f1b" -> OneFOneB | "zb-h1" -> ZeroBubbleH1 | "zb-h2" -> ZeroBubbleH2
  | "token-sliced" -> TokenSliced | "interleaved" -> Interleaved | "looped-bfs" -> LoopedBfs
  | "zb-v" -> ZeroBubbleV | "v-half" -> VHalf | "v-min" -> VMin | s -> refuse "schedule %s: not in the part that is verified" s

let read text : problem =
  let d = parse text in
  only d [ "kind"; "version"; "made_by"; "made_from"; "name"; "objective"; "layout"; "stage_count"; "micro_batches"; "layer_count";
           "devices_per_stage"; "recompute"; "boundary_options"; "gradient_options"; "groups"; "runs"; "cuts"; "embedding_sync_ns"; "tiers"; "sharded_runs";
           "local_forward_ns"; "local_backward_ns"; "local_bytes"; "local_heads"; "budget"; "rules" ];
  if Json.text (get d "kind") <> "plumbline.priced" then refuse "kind: expected plumbline.priced";
  ignore (within 1 1 (get d "version"));
  need (given d "objective" "iteration_time" Json.text = "iteration_time") "objective";
  let lay = get d "layout" in
  only lay [ "tensor"; "context"; "data"; "pipeline"; "virtual_stages"; "micro_batch"; "schedule"; "sequence_parallel"; "fused_attention"; "gradient_sync";
             "fused_embedding_sync"; "zero"; "offload_optimizer"; "expert_tensor"; "expert"; "barrier"; "local_loss_every"; "stored_inputs"; "slices";
             "tensor_grid"; "recompute"; "recomputed_layers"; "context_kind"; "overlapped_dispatch"; "pool"; "grid_order"; "grid_gathers"; "in_flight" ];
  (* What no theorem depends on is in the prices; it is what it should be nevertheless. *)
  let whole least k = ignore (given lay k Z.zero (amount ~least)) and truth k = ignore (given lay k false flag) in
  List.iter (whole 1) [ "tensor"; "context"; "data"; "micro_batch"; "expert_tensor"; "expert"; "pool" ]; whole 0 "zero";
  List.iter truth [ "sequence_parallel"; "fused_attention"; "fused_embedding_sync"; "offload_optimizer"; "overlapped_dispatch" ];
  ignore (within 1 max_int (get d "devices_per_stage"));
  ignore (given lay "slices" [||] (numbers ~least:1));
  let stages = within 1 256 (get d "stage_count") in
  let local_every = given lay "local_loss_every" 0 (within 0 256) and stored = given lay "stored_inputs" false flag in
  let slices = given lay "slices" 1 (fun v -> List.length (array v)) in
  need (slices >= 1 && slices <= 32) "slices";
  let schedule = schedule_of (given lay "schedule" "1f1b" Json.text) in
  need ((schedule = TokenSliced) = (slices > 1)) "slices with this schedule";
  let ranks = within 1 256 (get lay "pipeline") and turns = given lay "virtual_stages" 1 (within 1 256) in
  need (ranks * turns = stages) "a stage_count that is not pipeline x virtual_stages";
  let in_flight = given lay "in_flight" [] (fun v -> List.map (within 1 255) (array v)) in
  need (in_flight = [] || (schedule = OneFOneB && local_every = 0 && stages <= 32 && List.length in_flight = stages
    && List.sort (fun a b -> compare b a) in_flight = in_flight && List.nth in_flight (stages - 1) = 1)) "such in_flight";
  need (match schedule with
    | Gpipe | OneFOneB | ZeroBubbleH1 | ZeroBubbleH2 | TokenSliced -> turns = 1
    | Interleaved | LoopedBfs -> true
    | ZeroBubbleV | VHalf | VMin -> turns = 2) "so many stages per rank with this schedule";
  need (not stored || (turns = 1 && schedule <> Interleaved && schedule <> LoopedBfs)) "stored inputs with this schedule";
  let names = List.map Json.text (array (get d "recompute")) in
  let sets = List.sort compare (List.filter (fun m -> m > 3) (List.map mode_number names)) in
  let group_list = array (get d "groups") in
  let ng = List.length group_list in
  need (ng >= 1 && ng <= 64) "groups";
  let group_names = List.map (fun g -> Json.text (get g "name")) group_list in
  if List.length (List.sort_uniq compare group_names) <> ng then refuse "groups: two of one name";
  let option_of v =
    only v [ "rank"; "kept_per_thousand"; "bits"; "epilogue_only"; "quality_cost"; "error_feedback"; "offloaded_percent"; "tier_option"; "activations" ];
    if List.length (List.filter (fun k -> find v k <> None) [ "rank"; "kept_per_thousand"; "bits" ]) <> 1 then refuse "an option: expected one of rank, kept_per_thousand and bits";
    List.iter (fun k -> ignore (given v k Z.one (amount ~least:1))) [ "kept_per_thousand"; "bits" ];
    ignore (given v "offloaded_percent" 0 (within 0 100)); ignore (given v "error_feedback" true flag);
    List.iter (fun k -> ignore (given v k "" Json.text)) [ "tier_option"; "activations" ];
    let rank = Option.map amount (find v "rank") in
    { compresses = (match rank with Some z -> not (zero z) | None -> true);
      rank = (match rank with Some z when not (zero z) -> Some z | _ -> None);
      epilogue_only = given v "epilogue_only" false flag; quality_cost = given v "quality_cost" Z.zero amount } in
  let options k = let l = List.map option_of (array (get d k)) in need (List.length l >= 1 && List.length l <= 65) "%s" k;
    let first = List.hd l in
    if first.compresses || first.epilogue_only || not (zero first.quality_cost) then refuse "%s: the first option is to do nothing" k;
    l in
  let boundary_options = options "boundary_options" and gradient_options = options "gradient_options" in
  need (slices = 1 || not (List.exists (fun o -> o.epilogue_only) boundary_options)) "epilogues of slices";
  let no = List.length gradient_options and nb = List.length boundary_options in
  let tiers = given d "tiers" 0 (fun v -> List.length (array v)) in
  let seated g = Option.map Json.text (find g "node_group") in
  let widths = List.exists (fun g -> seated g <> None) group_list in
  need (not widths || List.for_all (fun g -> seated g <> None) group_list) "widths of some groups alone";
  let is_excluded g = Option.map Json.text (find g "excluded") <> None in
  let usable = List.filter (fun i -> not (is_excluded (List.nth group_list i))) (List.init ng Fun.id) in
  let groups = List.mapi (fun i g ->
    only g [ "name"; "gpu"; "slots"; "memory_limit_bytes"; "constant_bytes"; "excluded"; "sync_constant_ns"; "tier_limit_bytes";
             "node_group"; "tensor"; "context"; "data"; "seat_slots" ];
    let sync = numbers ~count:no ~least:(if is_excluded g then -1 else 0) (get g "sync_constant_ns") in
    let limits = given g "tier_limit_bytes" (Array.make tiers Z.minus_one) (numbers ~count:tiers ~least:(-1)) in
    ignore (Json.text (get g "gpu"));
    let of_group = Array.of_list (List.map seated group_list) in
    { slots = amount (get g "slots"); excluded = is_excluded g; memory_limit = amount (get g "memory_limit_bytes");
      constant_bytes = amount (get g "constant_bytes"); sync_constant_ns = (fun o -> sync.(o));
      tier_limit = (fun t -> if Z.sign limits.(t) < 0 then None else Some limits.(t));
      takes_slots = (if widths then amount ~least:1 (get g "seat_slots") else Z.one);
      shares = (fun h -> h = i || (widths && of_group.(h) = of_group.(i))) }) group_list in
  let cut_list = array (get d "cuts") and run_list = array (get d "runs") in
  let nc = List.length cut_list in
  let passes = slices * ng in
  (* A run as it is with each gradient option on each group, and before that as the document states it. *)
  let run_of named r =
    only r [ "name"; "count"; "recomputable"; "weight_bytes"; "gradient_bytes"; "optimizer_bytes"; "stash_bytes"; "working_bytes";
             "unsharded_bytes"; "feedback_bytes"; "cut"; "forward_ns"; "backward_ns"; "weight_ns"; "selective_ns"; "full_ns";
             "module_sets_ns"; "optimizer_ns"; "sync_ns"; "tiered"; "seats" ];
    let ns = List.length sets in
    let prices count v =
      let a = numbers ~count ~least:(-1) v in
      Array.iteri (fun i z -> if Z.sign z < 0 && List.mem (i mod ng) usable then refuse "a run without a price on group %d" (i mod ng)) a; a in
    let priced k count = prices count (get r k) in
    let at k count = numbers ~count (get r k) in
    let stash = at "stash_bytes" (3 + ns) and working = at "working_bytes" (3 + ns) in
    let forward = priced "forward_ns" passes and backward = priced "backward_ns" passes in
    let weight = given r "weight_ns" (Array.make ng Z.zero) (prices ng) in
    let selective = priced "selective_ns" passes and full = priced "full_ns" passes in
    let lists count inner v =
      let a = Array.of_list (List.map (prices inner) (array v)) in
      if Array.length a <> count then refuse "expected %d tables, found %d" count (Array.length a);
      a in
    let more = if ns = 0 then [||] else lists ns passes (get r "module_sets_ns") in
    let sync = lists no ng (get r "sync_ns") in
    let step = priced "optimizer_ns" ng in
    let feedback = at "feedback_bytes" no in
    let nothing = Array.make ng Z.zero in
    let tiered = Option.map (fun v -> Array.of_list (array v)) (find r "tiered") and seats = Option.map (fun v -> Array.of_list (array v)) (find r "seats") in
    need (match tiered with Some t -> Array.length t = no && seats = None | None -> true) "such tiered entries";
    need (match seats with Some t -> widths && no = 1 && Array.length t = ng | None -> not widths) "such seats";
    let set_at m = if m < 3 then m else 3 + index_of_any "mode" string_of_int m sets in
    let of_one o g =
      let moved = match tiered with Some t when o >= 0 -> Some t.(o) | _ -> None in
      let seat = match seats with Some t when g >= 0 -> t.(g) | _ -> r in
      Option.iter (fun e -> only e [ "weight_bytes"; "buffer_bytes"; "tier_bytes"; "optimizer_bytes"; "optimizer_ns"; "forward_ns"; "backward_ns"; "energy_uj"; "again_uj"; "swap_uj" ]) moved;
      if seat != r then only seat [ "weight_bytes"; "gradient_bytes"; "optimizer_bytes"; "unsharded_bytes"; "stash_bytes"; "working_bytes" ];
      let or_own k own read = match moved with Some e -> given e k own read | None -> own in
      let bytes k = amount (get (match moved with Some e -> e | None -> seat) k) in
      let fixed = Z.add (bytes "weight_bytes") (Z.add (amount (get seat "gradient_bytes")) (bytes "optimizer_bytes")) in
      let forward = or_own "forward_ns" forward (prices passes) and backward = or_own "backward_ns" backward (prices passes) in
      let step = or_own "optimizer_ns" step (prices ng) and buffer = or_own "buffer_bytes" Z.zero amount in
      let in_tier = or_own "tier_bytes" (Array.make tiers Z.zero) (numbers ~count:tiers) in
      let energy = or_own "energy_uj" nothing (numbers ~count:ng) and again = or_own "again_uj" nothing (numbers ~count:ng) in
      let stash = if seat == r then stash else numbers ~count:(3 + ns) (get seat "stash_bytes") in
      let working = if seat == r then working else numbers ~count:(3 + ns) (get seat "working_bytes") in
      { named; recomputable = flag (get r "recomputable"); run_cut = within 0 (nc - 1) (get r "cut");
        resident = (fun o -> Z.add fixed feedback.(o));
        unsharded = given seat "unsharded_bytes" Z.zero amount;
        stash = (fun m -> stash.(set_at m)); working = (fun m -> Z.add working.(set_at m) buffer);
        in_tier = (fun t -> in_tier.(t)); energy = (fun m -> if g < 0 then Z.zero else Z.add energy.(g) (if m = 2 then again.(g) else Z.zero));
        forward_ns = (fun y g -> forward.(y * ng + g)); backward_ns = (fun y g -> backward.(y * ng + g));
        weight_ns = (fun g -> weight.(g));
        again_ns = (fun m y g -> (match m with 1 -> selective | 2 -> full | m -> more.(index_of_any "mode" string_of_int m sets)).(y * ng + g));
        optimizer_ns = (fun _ g -> step.(g)); sync_ns = (fun o g -> sync.(o).(g)) } in
    Array.init (1 + (no * ng)) (fun i -> if i = 0 then of_one (-1) (-1) else of_one ((i - 1) / ng) ((i - 1) mod ng)) in
  let moves = List.exists (fun r -> find r "tiered" <> None || find r "seats" <> None) run_list in
  let heads = given d "local_heads" [] array in
  need (heads = [] || (List.length heads = 1 && not moves && local_every > 0)) "such local_heads";
  let further = given d "sharded_runs" [] array in
  let rn = List.length run_list in
  need (further = [] || (List.length further = rn && no = 1 && turns = 1 && heads = [] && not moves)) "such sharded_runs";
  List.iter2 (fun r t -> List.iter (fun k -> need (get r k = get t k) "sharded_runs of other runs") [ "name"; "count"; "recomputable"; "cut" ])
    (if further = [] then [] else run_list) further;
  let all_runs = Array.of_list (List.mapi (fun i r -> run_of (if i < rn then i else i - rn) r) (run_list @ further @ heads)) in
  let kinds = Array.length all_runs in
  let run_names = List.map (fun r -> Json.text (get r "name")) run_list in
  if List.length (List.sort_uniq compare run_names) <> rn then refuse "runs: two of one name";
  let model = List.mapi (fun i r -> (i, within 1 4096 (get r "count"))) run_list in
  let layers = List.fold_left (fun a (_, c) -> a + c) 0 model in
  need (layers <= 4096 && layers = within 1 4096 (get d "layer_count")) "layer_count";
  let prices = slices * ng * ng * 4 in
  let cut_of c =
    only c [ "message_bytes"; "feedback_bytes"; "forward_ns"; "backward_ns"; "seat_bytes" ];
    let f = numbers ~count:prices ~least:(-1) (get c "forward_ns") and b = tables ~least:(-1) ~outer:nb ~inner:prices (get c "backward_ns") in
    let joined i = Z.sign f.(i mod (ng * ng * 4) / 4 * 4) >= 0 in
    Array.iter (Array.iteri (fun i v -> if (Z.sign v >= 0) <> joined i then refuse "cuts: a pair of groups has some prices and lacks others")) (Array.append [| f |] b);
    Array.iteri (fun i v -> if i mod 4 = 0 then
      need (Z.sign v <= 0 && Array.for_all (fun t -> Z.sign t.(i) <= 0) b) "messages that block both ends") f;
    let held = match find c "seat_bytes" with None -> Array.make ng (amount (get c "message_bytes")) | Some v -> numbers ~count:ng v in
    need ((find c "seat_bytes" <> None) = widths) "such seat_bytes";
    (held, numbers ~count:nb (get c "feedback_bytes"), f, b) in
  let cuts = Array.of_list (List.map cut_of cut_list) in
  let part = [| 3; 1; 2 |] in
  let at g h y p = (((y * ng) + g) * ng + h) * 4 + part.(p) in
  let embedding = Option.map (numbers ~count:(ng * ng) ~least:(-1)) (find d "embedding_sync_ns") in
  let budget = match find d "budget" with Some b -> only b [ "boundaries_max"; "stages_max"; "cost_max"; "energy_max_uj"; "rank_min" ]; b | None -> Object [] in
  let rule_of r =
    only r [ "action"; "stage"; "groups"; "holds_first"; "holds_last"; "run"; "layers_min"; "layers_max"; "recompute"; "compresses_gradient"; "compresses_boundary" ];
    let small k = Option.map (within 0 (1 lsl 20)) (find r k) in
    let among k read = Option.map (fun v -> let l = List.map (fun n -> read (Json.text n)) (array v) in fun i -> List.mem i l) (find r k) in
    { forbids = (match Json.text (get r "action") with "forbid" -> true | "require" -> false | a -> refuse "action: \"%s\"" a);
      of_stage = small "stage"; of_groups = among "groups" (fun n -> index_of "group" n group_names);
      holds = (match small "holds_first", small "holds_last" with None, None -> None | Some a, None -> Some (a, a) | Some a, Some b -> Some (a, b) | None, Some _ -> refuse "holds_last without holds_first");
      of_run = Option.map (fun v -> index_of "run" (Json.text v) run_names) (find r "run");
      at_least = small "layers_min"; at_most = small "layers_max"; of_modes = among "recompute" (fun m -> if m = "swap" then -1 else mode_number m);
      of_gradient = Option.map flag (find r "compresses_gradient"); of_boundary = Option.map flag (find r "compresses_boundary") } in
  let offered_numbers = List.map mode_number names in
  if not (List.mem 0 offered_numbers) then refuse "recompute: expected \"none\" among the modes";
  let setting = match given lay "recompute" "each" Json.text with
    | "each" -> None
    | "first_layers" -> Some (FirstLayers (within 1 (1 lsl 20) (get lay "recomputed_layers")))
    | m -> Some (Each (mode_number m)) in
  (match setting with
    | Some (Each m) when not (List.mem m offered_numbers) -> refuse "layout.recompute: not offered"
    | Some (FirstLayers _) when not (List.mem 3 offered_numbers) -> refuse "layout.recompute: not offered"
    | Some (FirstLayers _) -> ()
    | _ -> if given lay "recomputed_layers" 0 (within 0 (1 lsl 20)) <> 0 then refuse "layout.recomputed_layers: does not fit the mode");
  { shape_of = { schedule; stages; ranks; batches = within 1 65536 (get d "micro_batches"); slices; barrier = given lay "barrier" true flag;
                 overlapped = (match given lay "gradient_sync" "exposed" Json.text with "overlapped" -> true | "exposed" -> false | s -> refuse "gradient_sync: \"%s\"" s);
                 embedding = embedding <> None; local_every; stored; in_flight };
    model; run_at = (fun i -> all_runs.(i mod kinds).(i / kinds));
    sharded_further = (if further = [] then None else Some (fun r -> r + rn));
    as_on = (fun r o g -> if moves && r < kinds then r + (kinds * (1 + (o * ng) + g)) else r); groups; tiers; boundary_options; gradient_options;
    rank_min = given budget "rank_min" Z.zero amount;
    offered = List.filter (fun m -> m <> 3) offered_numbers; offers_first_layers = List.mem 3 offered_numbers; setting;
    message_bytes = (fun c g -> let (m, _, _, _) = cuts.(c) in m.(g)); message_feedback = (fun c o -> let (_, f, _, _) = cuts.(c) in f.(o));
    linked = (fun c g h -> let (_, _, f, _) = cuts.(c) in Z.sign f.(at g h 0 1) >= 0);
    onward_ns = (fun c g h y p -> let (_, _, f, _) = cuts.(c) in f.(at g h y p));
    back_ns = (fun o c g h y p -> let (_, _, _, b) = cuts.(c) in b.(o).(at g h y p));
    embedding_ns = (fun g h -> match embedding with None -> None | Some e -> let v = e.(g * ng + h) in if Z.sign v < 0 then None else Some v);
    local_head = (if heads = [] then None else Some (kinds - 1));
    local_forward_ns = given d "local_forward_ns" Z.zero amount; local_backward_ns = given d "local_backward_ns" Z.zero amount;
    local_bytes = given d "local_bytes" Z.zero amount;
    budgets = List.map (fun k -> Option.map amount (find budget k)) [ "boundaries_max"; "stages_max"; "cost_max"; "energy_max_uj" ];
    rules = List.map rule_of (given d "rules" [] array) }
