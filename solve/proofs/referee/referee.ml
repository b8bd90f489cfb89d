(* plumbline-referee ELABORATED PRICED: is what is claimed proven? Exit 0: accepted, 1: not, 2: cannot be read. *)
let read path =
  try let c = open_in_bin path in let s = really_input_string c (in_channel_length c) in close_in c; s
  with Sys_error e -> prerr_endline ("plumbline-referee: " ^ e); exit 2

(* What is wrong, as far as it can be said in a few words; None: its boxes are not closed. *)
let why problem (e : Elaborated.t) =
  let number p l = let rec seek i = function [] -> None | x :: r -> if p i x then Some i else seek (i + 1) r in seek 0 l in
  match number (fun _ p -> Verified.read_path problem.Verified.shape_of p = None) e.paths with
  | Some i -> Some (Printf.sprintf "path %d is none of the schedule" i)
  | None -> match number (fun s vs -> not (Verified.stage_covered problem (Verified.couplings problem) s vs)) e.choices with
    | Some s -> Some (Printf.sprintf "stage %d has a choice that is not listed, or is slower or larger than listed" s)
    | None -> None

(* Whether a round by ranks was left out on the way to every box that is not closed. *)
let undecided problem (e : Elaborated.t) =
  let open Verified in
  let y = as_layout problem (couplings problem) in
  let paths = Array.of_list (List.map (read_path problem.shape_of) e.paths) in
  let path i = if i < Array.length paths then paths.(i) else None in
  let empty b = List.exists (fun cs -> cs = []) b in
  let left_out m b = match m with ByRanks _ -> too_many y (List.map (List.map (fun v -> (v, Whole.zero))) b) | _ -> false in
  let step (skipped, a) m = if empty (snd a) then (skipped, a) else (skipped || left_out m (snd a), make y path e.claim m a) in
  let half s p yes b = restrict s (fun v -> p v = yes) b in
  let rec all (skipped, a) tree =
    let (Closed ms | Parts (ms, _, _, _, _) | Split (ms, _, _, _, _)) = tree in
    let skipped, (spans, b) = List.fold_left step (skipped, a) ms in
    empty b || match tree with
    | Closed _ -> skipped
    | Parts (_, r, n, fewer, others) -> all (skipped, (Fewer (r, n) :: spans, b)) fewer && all (skipped, (Least (r, n) :: spans, b)) others
    | Split (_, s, p, yes, no) -> all (skipped, (spans, half s p true b)) yes && all (skipped, (spans, half s p false b)) no in
  all (false, ([], e.choices)) e.tree

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
        if Verified.accept problem e.claim e.paths e.choices e.tree then
          match e.claim, e.time with
          | None, _ -> Printf.printf "accepted: %s (SHA-256 %s) has no plan\n" priced hash
          | Some bound, None -> Printf.printf "accepted: no plan of %s (SHA-256 %s) takes less than %s ns\n" priced hash (Z.to_string bound)
          | Some bound, Some time ->
              let start, streams, links = Starts.find problem e.plan time in
              if Verified.reaches problem e.plan start streams links time then
                Printf.printf "accepted: the plan takes at most %s ns, and no plan of %s (SHA-256 %s) takes less than %s ns\n" (Z.to_string time) priced hash (Z.to_string bound)
              else begin
                Printf.printf "refused: %s does not show that its plan takes %s ns\n" elaborated (Z.to_string time); exit 1
              end
        else
          let reason = why problem e in
          if reason = None && undecided problem e then
            Json.refuse "%s: rounds by ranks of more than 65536 decisions of a rank: not in the part that is verified, and the rest does not prove the claim" elaborated;
          Printf.printf "refused: %s does not prove its claim about %s: %s\n" elaborated priced (Option.value reason ~default:"its boxes are not closed");
          exit 1
      with Json.Refused e -> prerr_endline ("plumbline-referee: " ^ e); exit 2)
  | _ -> prerr_endline "usage: plumbline-referee ELABORATED PRICED.json"; exit 2
