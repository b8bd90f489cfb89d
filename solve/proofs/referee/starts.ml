(* Untrusted: when each operation of a plan starts, at the earliest, and who takes turns where. *)
module Whole = Z
open Verified
module Z = Whole

(* [lane] -> its operations in order *)
let turns lane count ops =
  let lanes = Array.make count [] in
  List.iter (fun u -> match lane u with Some (r, i) -> lanes.(r) <- (i, u) :: lanes.(r) | None -> ()) ops;
  Array.to_list (Array.map (fun l -> List.map snd (List.sort (fun (i, _) (j, _) -> compare i j) l)) lanes)

let find (p : problem) plan time =
  let x = p.shape_of in
  let ops = all_ops x in
  let streams = turns (in_stream x) x.stages ops and links = turns (link_lane x) (2 * x.stages) ops in
  let number = Hashtbl.create 1024 in
  List.iteri (fun i u -> Hashtbl.replace number u i) ops;
  let all = Array.of_list ops in
  let n = Array.length all in
  let next = Array.make n [] and waits = Array.make n 0 in
  let edge u v = match Hashtbl.find_opt number u, Hashtbl.find_opt number v with
    | Some i, Some j -> next.(i) <- j :: next.(i); waits.(j) <- waits.(j) + 1 | _ -> () in
  let rec row = function u :: (v :: _ as r) -> edge u v; row r | _ -> () in
  List.iter row streams; List.iter row links;
  let once k s = { what = k; place = s; batch = 0; slice = 0 } in
  List.iteri (fun s l -> match List.rev l with u :: _ -> edge u (once Optimizer s) | [] -> ()) streams;
  List.iter (fun u ->
    let k what = { u with what } in
    (match u.what with
     | Sends d -> edge u (k (Links d)) | Links d -> edge u (k (Delays d)) | Delays d -> edge u (k (Receives d))
     | Sync -> edge u (once Optimizer u.place); if u.place = 0 || u.place = x.stages - 1 then edge u (once EmbeddingSync 0)
     | EmbeddingSync -> edge u (once Optimizer 0); edge u (once Optimizer (x.stages - 1))
     | _ -> ());
    if last_pass x u then edge u (once Sync u.place)) ops;
  let d = Array.map (lasts p plan) all in
  let start = Array.make n Z.zero in
  let order =
    let left = Array.copy waits and ready = Queue.create () and out = ref [] in
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
      List.iteri (fun s l -> match l with u :: _ -> carry u (once Optimizer s) | [] -> ()) streams;
      List.iter (fun l -> match l with u :: _ -> carry u (List.hd (List.rev l)) | [] -> ()) links;
      pass ()
    done
  end;
  ((fun u -> match Hashtbl.find_opt number u with Some i -> start.(i) | None -> Z.zero), streams, links)
