(* Untrusted: when each operation of a plan starts, at the earliest, and who takes turns where. *)
open Names

(* [lane] -> its operations in order *)
let turns lane count ops =
  let lanes = Array.make count [] in
  List.iter (fun u -> match lane u with Some (r, i) -> lanes.(r) <- (i, u) :: lanes.(r) | None -> ()) ops;
  Array.to_list (Array.map (fun l -> List.map snd (List.sort (fun (i, _) (j, _) -> compare i j) l)) lanes)

let find (p : problem) plan time =
  let x = p.shape_of in
  let ops = all_ops x in
  let streams = turns (in_stream x) (rank_count x) ops and links = turns (in_link x) (rank_count x * rank_count x) ops in
  let number = Hashtbl.create 1024 in
  List.iteri (fun i u -> Hashtbl.replace number u i) ops;
  let all = Array.of_list ops in
  let n = Array.length all in
  let next = Array.make n [] and blocked = Array.make n 0 in
  let edge u v = match Hashtbl.find_opt number u, Hashtbl.find_opt number v with
    | Some i, Some j -> next.(i) <- j :: next.(i); blocked.(j) <- blocked.(j) + 1 | _ -> () in
  let rec row = function u :: (v :: _ as r) -> edge u v; row r | _ -> () in
  List.iter row streams; List.iter row links;
  let seen = Hashtbl.create 1024 in
  List.iter (fun u -> List.iter (fun v ->
    if waits x u v && not (Hashtbl.mem seen (u, v)) then (Hashtbl.add seen (u, v) (); edge u v)) (later x u)) ops;
  let d = Array.map (lasts p plan) all in
  let start = Array.make n Z.zero in
  let order =
    let left = Array.copy blocked and ready = Queue.create () and out = ref [] in
    Array.iteri (fun i w -> if w = 0 then Queue.add i ready) left;
    while not (Queue.is_empty ready) do
      let i = Queue.pop ready in
      out := i :: !out;
      List.iter (fun j -> left.(j) <- left.(j) - 1; if left.(j) = 0 then Queue.add j ready) next.(i)
    done;
    List.rev !out in
  let pass () = List.iter (fun i -> let e = Z.add start.(i) d.(i) in List.iter (fun j -> if Z.lt start.(j) e then start.(j) <- e) next.(i)) order in
  pass ();
  if not x.barrier then begin
    (* the next iteration, a time later *)
    let rounds = ref ((4 * x.stages) + 2) and rose = ref true in
    while !rose && !rounds > 0 do
      rose := false; decr rounds;
      let carry first last = match Hashtbl.find_opt number first, Hashtbl.find_opt number last with
        | Some i, Some j -> let e = Z.sub (Z.add start.(j) d.(j)) time in if Z.lt start.(i) e then (start.(i) <- e; rose := true) | _ -> () in
      let first = Array.of_list streams in
      for s = 0 to x.stages - 1 do
        match first.(on_rank x s) with u :: _ -> carry u { what = Optimizer; place = s; batch = 0; slice = 0 } | [] -> ()
      done;
      List.iter (fun l -> match l with u :: _ -> carry u (List.hd (List.rev l)) | [] -> ()) links;
      pass ()
    done
  end;
  ((fun u -> match Hashtbl.find_opt number u with Some i -> start.(i) | None -> Z.zero), streams, links)
