(* FIPS 180-4. *)
let k =
  let prime n = let rec ok d = d * d > n || (n mod d <> 0 && ok (d + 1)) in ok 2 in
  let rec primes n c = if c = 0 then [] else if prime n then n :: primes (n + 1) (c - 1) else primes (n + 1) c in
  (* the first 32 bits of the fraction of a root, exactly *)
  let fraction root n =
    let p = Z.shift_left (Z.of_int n) (32 * root) in
    let r = Z.root p root in
    Z.to_int (Z.logand r (Z.of_int 0xffffffff)) in
  (Array.of_list (List.map (fraction 3) (primes 2 64)), Array.of_list (List.map (fraction 2) (primes 2 8)))
let hex s =
  let mask = 0xffffffff and (k, h0) = k in
  let h = Array.copy h0 and n = String.length s in
  let padded = Bytes.make ((n + 9 + 63) / 64 * 64) '\000' in
  Bytes.blit_string s 0 padded 0 n;
  Bytes.set padded n '\x80';
  Bytes.set_int64_be padded (Bytes.length padded - 8) (Int64.of_int (8 * n));
  let rot x r = ((x lsr r) lor (x lsl (32 - r))) land mask in
  let w = Array.make 64 0 in
  for block = 0 to Bytes.length padded / 64 - 1 do
    for i = 0 to 15 do w.(i) <- Int32.to_int (Bytes.get_int32_be padded (64 * block + 4 * i)) land mask done;
    for i = 16 to 63 do
      let a = w.(i - 15) and b = w.(i - 2) in
      w.(i) <- (w.(i - 16) + w.(i - 7) + (rot a 7 lxor rot a 18 lxor (a lsr 3)) + (rot b 17 lxor rot b 19 lxor (b lsr 10))) land mask
    done;
    let v = Array.copy h in
    for i = 0 to 63 do
      let e = v.(4) and a = v.(0) in
      let t1 = v.(7) + (rot e 6 lxor rot e 11 lxor rot e 25) + ((e land v.(5)) lxor (lnot e land v.(6))) + k.(i) + w.(i) in
      let t2 = (rot a 2 lxor rot a 13 lxor rot a 22) + ((a land v.(1)) lxor (a land v.(2)) lxor (v.(1) land v.(2))) in
      Array.blit v 0 v 1 7;
      v.(4) <- (v.(4) + t1) land mask;
      v.(0) <- (t1 + t2) land mask
    done;
    Array.iteri (fun i x -> h.(i) <- (h.(i) + x) land mask) v
  done;
  String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") h))
