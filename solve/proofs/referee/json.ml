(* A small reader of JSON: whole numbers, no key twice, nothing after the end. *)
type t = Object of (string * t) list | Array of t list | Text of string | Number of Z.t | Flag of bool | Null
exception Refused of string

let refuse format = Printf.ksprintf (fun s -> raise (Refused s)) format

let parse s =
  let n = String.length s and at = ref 0 in
  let peek () = if !at < n then s.[!at] else refuse "ends too early" in
  let rec space () = if !at < n && String.contains " \n\t\r" s.[!at] then (incr at; space ()) in
  let expect c = space (); if peek () <> c then refuse "expected '%c' at byte %d" c !at; incr at in
  let text () =
    expect '"';
    let b = Buffer.create 16 in
    while peek () <> '"' do
      if peek () = '\\' then begin
        incr at;
        match peek () with
        | '"' | '\\' | '/' as c -> Buffer.add_char b c
        | _ -> refuse "an escape that is not read at byte %d" !at
      end else if peek () < ' ' then refuse "a control character at byte %d" !at
      else Buffer.add_char b (peek ());
      incr at
    done;
    incr at; Buffer.contents b in
  let word w v = String.iter (fun c -> if peek () <> c then refuse "expected %s" w; incr at) w; v in
  let rec items close item acc =
    space ();
    if peek () = close && acc = [] then (incr at; []) else begin
      let acc = item () :: acc in
      space ();
      match peek () with
      | ',' -> incr at; items close item acc
      | c when c = close -> incr at; List.rev acc
      | _ -> refuse "expected ',' or '%c' at byte %d" close !at
    end in
  let number () =
    let start = !at in
    if peek () = '-' then incr at;
    let first = !at in
    while !at < n && s.[!at] >= '0' && s.[!at] <= '9' do incr at done;
    if !at = first || (s.[first] = '0' && (!at > first + 1 || first > start)) || (!at < n && String.contains ".eE" s.[!at]) then
      refuse "expected a whole number at byte %d" start;
    Number (Z.of_string (String.sub s start (!at - start))) in
  let rec value depth () =
    space ();
    if depth > 32 then refuse "nested too deeply at byte %d" !at;
    match peek () with
    | '{' -> incr at; Object (members (depth + 1) [])
    | '[' -> incr at; Array (items ']' (value (depth + 1)) [])
    | '"' -> Text (text ())
    | 't' -> word "true" (Flag true) | 'f' -> word "false" (Flag false) | 'n' -> word "null" Null
    | _ -> number ()
  and members depth acc =
    let member () = space (); let k = text () in expect ':'; (k, value depth ()) in
    let l = items '}' member acc in
    let seen = Hashtbl.create 16 in
    List.iter (fun (k, _) -> if Hashtbl.mem seen k then refuse "%s: stated twice" k; Hashtbl.add seen k ()) l;
    l in
  let v = value 0 () in
  space ();
  if !at <> n then refuse "continues after the end";
  v

let find o k = match o with Object l -> List.assoc_opt k l | _ -> refuse "expected an object with %s" k
let get o k = match find o k with Some v -> v | None -> refuse "%s: missing" k
let array = function Array l -> l | _ -> refuse "expected an array"
let number = function Number z -> z | _ -> refuse "expected a number"
let text = function Text s -> s | _ -> refuse "expected a text"
let flag = function Flag b -> b | _ -> refuse "expected true or false"
let within low high v =
  let z = number v in
  if Z.lt z (Z.of_int low) || Z.gt z (Z.of_int high) then refuse "%s is not between %d and %d" (Z.to_string z) low high;
  Z.to_int z
let only o keys = match o with
  | Object l -> List.iter (fun (k, _) -> if not (List.mem k keys) then refuse "%s: not in the part that is verified" k) l
  | _ -> refuse "expected an object"
