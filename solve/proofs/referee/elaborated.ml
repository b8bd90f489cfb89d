(* Untrusted: what `plumbline check --elaborate` writes, a line each. *)
open Names

type t = { hash : string; claim : Z.t option; choices : choice list list; paths : op list list; tree : tree; time : Z.t option; plan : decision list }

let kinds = [| Forward; Backward; Weight; Sync; Optimizer; Sends Onward; Links Onward; Delays Onward; Receives Onward; Sends Back; Links Back; Delays Back; Receives Back; EmbeddingSync; QueuedSync |]
(* What is a natural of the theorems: small, so that no sum or product of a few leaves machine integers. *)
let is_small i = i >= 0 && i <= 1 lsl 20
let rec ops = function
  | [] -> []
  | k :: place :: batch :: slice :: r when k >= 0 && k < Array.length kinds && List.for_all is_small [ place; batch; slice ] ->
      { what = kinds.(k); place; batch; slice } :: ops r
  | _ -> Json.refuse "a path that is not of operations"
let rec pairs = function [] -> [] | i :: w :: r when is_small i -> (i, Z.of_int w) :: pairs r | _ -> Json.refuse "weights: expected pairs"

let read text (p : problem) =
  let own = (2 * p.shape_of.slices) + 4 in
  let cs = couplings p in
  let stages = p.shape_of.stages in
  let counts = Array.make stages 0 in
  let choices = Array.make stages [] and paths = ref [] and hash = ref "" and claim = ref None and boxes = ref [] in
  let memory = ref [] and counted = ref [] and weights = ref [] and rounds = ref [] in
  let unit = Z.shift_left Z.one 20 in
  let ints l = List.map (fun s -> try int_of_string s with _ -> Json.refuse "\"%s\": expected a number" s) l in
  let time = ref None and plan = ref [] in
  let rec split n l = if n = 0 then ([], l) else match l with [] -> Json.refuse "a choice is too short" | x :: r -> let (a, b) = split (n - 1) r in (x :: a, b) in
  let line l = match String.split_on_char ' ' l with
    | [ "plumbline.elaborated"; "1" ] | [ "" ] -> ()
    | [ "priced"; h ] -> hash := h
    | [ "bound"; b ] -> claim := Some (Z.of_string b)
    | [ "infeasible" ] -> claim := None
    | "v" :: r -> (match ints r with
        | s :: place :: layers :: grp :: cut :: opt :: r when s >= 0 && s < stages && List.for_all is_small [ max place (-1 - place); layers; grp; cut; opt ] ->
            let whole = List.map Z.of_int in
            let (times, r) = split own r in
            let (bytes, uses) = split 3 r in
            let rank = match List.map (Z.max Z.zero) (whole bytes) with
              | [ fixed; stash; work ] -> rank_row p cs s fixed stash work grp | _ -> [] in
            let number = counts.(s) in
            counts.(s) <- number + 1;
            choices.(s) <- { id = number; first = (if place < 0 then None else Some place); earliest = (if place < 0 then -1 - place else 0);
                             layers; grp; cut; opt; own = whole times; uses = whole uses @ rank } :: choices.(s)
        | _ -> Json.refuse "a choice that is none")
    | "p" :: r -> paths := ops (ints r) :: !paths
    | "c" :: r -> counted := List.map (fun i -> i <> 0) (ints r)
    | "w" :: r -> weights := pairs (ints r)
    | "m" :: r -> (match ints r with
        | price :: works :: held when is_small works ->
            let held = List.map (fun (s, n) -> (s, n)) (pairs held) in
            memory := (Z.of_int price, works, List.sort compare held) :: !memory
        | _ -> Json.refuse "a price of memory that is none")
    | ("r" | "n") as way :: r ->
        let rank_price c =
          let holding = List.sort compare c.holding in
          List.fold_left (fun a (price, works, held) -> if works = c.works && held = holding then Z.add a price else a) Z.zero !memory in
        let rank = if !memory = [] then [] else List.map rank_price cs in
        memory := [];
        let round = { weights = !weights; prices = List.map (fun i -> Z.mul unit (Z.of_int i)) (ints r) @ rank; counting = !counted } in
        rounds := (if way = "r" then Use round else ByRanks round) :: !rounds
    | [ "k" ] -> rounds := Couple :: !rounds
    | [ "time"; t ] -> time := Some (Z.of_string t)
    | [ "d"; f; n; g; b; o; m; r; k ] -> (match ints [ f; n; g; b; o; r; k ] with
        | [ from; count; on; boundary_option; gradient_option; recomputed; sharded ] when List.for_all is_small [ from; count; on; boundary_option; gradient_option; recomputed; sharded ] ->
            let recompute = if m = "first_layers" then FirstLayers recomputed else Each (Priced.mode_number m) in
            plan := { from; count; on; boundary_option; gradient_option; recompute; sharded } :: !plan
        | _ -> Json.refuse "a decision that is none")
    | [ "b" ] -> boxes := `Closed (List.rev !rounds) :: !boxes; rounds := []
    | "t" :: r -> (match ints r with
        | [ rank; layers ] when is_small rank && is_small layers -> boxes := `Parts (List.rev !rounds, rank, layers) :: !boxes; rounds := []
        | _ -> Json.refuse "a split by layers that is none")
    | "s" :: r -> (match ints r with
        | stage :: yes when is_small stage -> let h = Hashtbl.create 16 in List.iter (fun i -> Hashtbl.replace h i ()) yes;
            boxes := `Split (List.rev !rounds, stage, fun (v : choice) -> Hashtbl.mem h v.id) :: !boxes; rounds := []
        | _ -> Json.refuse "a split that is none")
    | w :: _ -> Json.refuse "a line that begins with \"%s\"" w
    | [] -> () in
  let whole = text <> "" && text.[String.length text - 1] = '\n' in
  if not whole then Json.refuse "ends too early, in line %d" (List.length (String.split_on_char '\n' text));
  List.iteri (fun i l -> try line l with
    | Json.Refused e -> Json.refuse "line %d: %s" (i + 1) e
    | Failure _ | Invalid_argument _ -> Json.refuse "line %d: expected whole numbers" (i + 1)) (String.split_on_char '\n' text);
  let rest = ref (List.rev !boxes) in
  let rec tree () = match !rest with
    | [] -> Json.refuse "a half of a split is missing"
    | `Closed rs :: r -> rest := r; Closed rs
    | `Parts (rs, k, n) :: r -> rest := r; let a = tree () in let b = tree () in Parts (rs, k, n, a, b)
    | `Split (rs, s, yes) :: r -> rest := r; let a = tree () in let b = tree () in Split (rs, s, yes, a, b) in
  let tree = tree () in
  if !rest <> [] then Json.refuse "a box more than its splits make";
  { hash = !hash; claim = !claim; choices = Array.to_list (Array.map List.rev choices); paths = List.rev !paths; tree; time = !time; plan = List.rev !plan }
