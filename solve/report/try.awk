{ gsub(/\033\[[0-9;]*m/, ""); seconds = 0 }
# Megatron-LM, Megatron Bridge; torchtitan; DeepSpeed
/elapsed time per iteration \(ms\): / { seconds = after("iteration (ms): ") / 1000 }
/step: +[0-9]+ .* tps: / { if (tps = after("tps: ")) seconds = tokens / tps / gpus }
/CurrSamplesPerSec=/ { if (sps = after("CurrSamplesPerSec=")) seconds = batch / sps }
/max allocated: / { memory(after("max allocated: ") * 1048576) }
/memory: +[0-9.]+GiB/ { memory(after("memory: ") * 1073741824) }
/MaxMemAllocated=[0-9.]+GB/ { memory(after("MaxMemAllocated=") * 1073741824) }
seconds > 0 { took[++count] = seconds }
function after(words,    rest) {
    rest = substr($0, index($0, words) + length(words))
    sub(/^ +/, "", rest)
    gsub(/,/, "", rest)
    return rest + 0
}
function memory(bytes) { if (bytes > most) most = bytes }
function line(name, measured, predicted, unit) {
    printf "%-10s %12.3f %12.3f %-3s %+8.1f %%\n", name, measured, predicted, unit,
        100 * (measured / predicted - 1)
}
END {
    first = int(count / 4) + 1 # the first quarter warms up
    for (i = first; i <= count; i++) { # in order
        for (k = i; k > first && took[k - 1] > took[k]; k--) {
            keep = took[k]; took[k] = took[k - 1]; took[k - 1] = keep
        }
    }
    if (!count) {
        if (ended) print "the program ended with exit code " ended " before any iteration"
        else print "no times of iterations in the log: the last node prints them (Megatron, " \
            "torchtitan), or the first (DeepSpeed)"
        exit
    }
    middle = took[int((first + count) / 2)]
    printf "\nmedian of %d of %d iterations\n", count - first + 1, count
    printf "%-10s %12s %12s %-3s %10s\n", "", "measured", "predicted", "", "measured"
    line("iteration", middle, predicted, "s")
    line("tokens/s", tokens / middle, tokens / predicted, "")
    if (most) line("memory", most / 1e9, room / 1e9, "GB")
    if (high) printf "%s the range of the costs, %.3f to %.3f s\n",
        (middle < low ? "below" : (middle > high ? "above" : "within")), low, high
}
