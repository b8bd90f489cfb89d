(* plumbline-referee ELABORATED PRICED: is what is claimed proven? Exit 0: accepted, 1: not, 2: cannot be read. *)
let read path =
  try let c = open_in_bin path in let s = really_input_string c (in_channel_length c) in close_in c; s
  with Sys_error e -> prerr_endline ("plumbline-referee: " ^ e); exit 2

(* What is wrong, as far as it can be said in a few words; None: its boxes are not closed. *)
let why problem (e : Elaborated.t) =
  let number p l = let rec seek i = function [] -> None | x :: r -> if p i x then Some i else seek (i + 1) r in seek 0 l in
  match number (fun _ p -> Names.read_path problem.Names.shape_of p = None) e.paths with
  | Some i -> Some (Printf.sprintf "path %d is none of the schedule" i)
  | None -> match number (fun s vs -> not (Names.stage_covered problem (Names.couplings problem) s vs)) e.choices with
    | Some s -> Some (Printf.sprintf "stage %d has a choice that is not listed, or is slower or larger than listed" s)
    | None -> None

(* Whether a round by ranks counts stages one by one, at least in the whole problem. *)
let is_loose problem (e : Elaborated.t) =
  let open Names in
  let y = as_layout problem (couplings problem) in
  let by_ranks ms = List.exists (function ByRanks _ -> true | _ -> false) ms in
  let rec any = function
    | Closed ms -> by_ranks ms
    | Parts (ms, _, _, a, b) | Split (ms, _, _, a, b) -> by_ranks ms || any a || any b in
  let cells = List.map (List.map (fun v -> (v, Whole.zero))) e.choices in
  List.exists (many y cells) (List.init (rank_count problem.shape_of) Fun.id) && any e.tree

let () =
  match Sys.argv with
  | [| _; elaborated; priced |] -> (
      try
        let text = read priced in
        let problem = try Priced.read text with Json.Refused e -> raise (Json.Refused (priced ^ ": " ^ e)) in
        let e = try Elaborated.read (read elaborated) problem with Json.Refused e -> raise (Json.Refused (elaborated ^ ": " ^ e)) in
        let hash = Sha256.hex text in
        if e.hash <> hash then begin
          Printf.printf "refused: %s is about the document %.12s..., %s is %.12s...\n" elaborated e.hash priced hash; exit 1
        end;
        if Names.accept problem e.claim e.paths e.choices e.tree then
          match e.claim, e.time with
          | None, _ -> Printf.printf "accepted: %s (SHA-256 %s) has no plan\n" priced hash
          | Some bound, None -> Printf.printf "accepted: no plan of %s (SHA-256 %s) takes less than %s ns\n" priced hash (Z.to_string bound)
          | Some bound, Some time ->
              let start, streams, links = Starts.find problem e.plan time in
              if Names.reaches problem e.plan start streams links time then
                Printf.printf "accepted: the plan takes at most %s ns, and no plan of %s (SHA-256 %s) takes less than %s ns\n" (Z.to_string time) priced hash (Z.to_string bound)
              else begin
                Printf.printf "refused: %s does not show that its plan takes %s ns\n" elaborated (Z.to_string time); exit 1
              end
        else
          let open_boxes = if is_loose problem e
            then "its boxes are not closed (the memory of ranks with more than 65536 decisions counts stage by stage)"
            else "its boxes are not closed" in
          Printf.printf "refused: %s does not prove its claim about %s: %s\n" elaborated priced (Option.value (why problem e) ~default:open_boxes);
          exit 1
      with Json.Refused e -> prerr_endline ("plumbline-referee: " ^ e); exit 2)
  | _ -> prerr_endline "usage: plumbline-referee ELABORATED PRICED.json"; exit 2
