#compdef plumbline
# zsh completion for plumbline
_plumbline() {
    local line files
    local -a told
    for line in "${(@f)$("${words[1]}" completion words "${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
        case $line in
        :files) files=yes ;;
        ?*) told+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}") ;;
        esac
    done
    (( $#told )) && _describe -t values plumbline told
    [[ -n $files ]] || return 0
    [[ $PREFIX == -*=* ]] && compset -P '*='
    _files
}
if [[ $funcstack[1] == _plumbline ]]; then _plumbline "$@"; else compdef _plumbline plumbline; fi
