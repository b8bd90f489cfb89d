# bash completion for plumbline
_plumbline() {
    local line=${COMP_LINE:0:COMP_POINT} word begun before
    local -a words
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=('')
    begun=${words[${#words[@]} - 1]}
    before=${begun%"${begun##*[=:]}"}    # bash replaces what stands behind it
    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        if [[ $word == :files ]]; then
            compopt -o filenames 2> /dev/null
            while IFS= read -r word; do
                COMPREPLY+=("$word")
            done < <(compgen -f -- "${begun#"$before"}")
        else
            COMPREPLY+=("${word#"$before"}")
        fi
    done < <("${words[0]}" completion words "${words[@]:1}" 2> /dev/null)
}
complete -F _plumbline plumbline
