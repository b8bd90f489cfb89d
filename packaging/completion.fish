# fish completion for plumbline
function __plumbline_words
    set -l words (commandline -opc)
    set -l begun (commandline -ct)
    for line in ($words[1] completion words $words[2..-1] "$begun" 2> /dev/null)
        if test "$line" = :files
            __fish_complete_path (string replace -r '^-[^=]*=' '' -- "$begun")
        else
            echo $line
        end
    end
end
complete -c plumbline -f -a '(__plumbline_words)'
