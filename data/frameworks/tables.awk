# Writes names/*.txt, effects/*.txt and recipes.txt as the tables of setting.h.

BEGIN {
    print "#include \"data/frameworks/setting.h\""
    kinds["model"] = "EFFECT_ON_MODEL"
    kinds["job"] = "EFFECT_ON_JOB"
    kinds["others"] = "EFFECT_ON_OTHERS"
    kinds["assumed"] = "EFFECT_ASSUMED"
}

FNR == 1 {
    end_table()
    table = FILENAME
    gsub(/.*\/|\.txt$/, "", table)
    kind = FILENAME ~ /\/names\// ? "names" : FILENAME ~ /\/effects\// ? "effects" : "recipes"
    if (kind == "names") print "const struct setting_names " table "_names[] = {"
    if (kind == "effects") print "const struct setting_effect " table "_effects[] = {"
    if (kind == "recipes") print "const struct bridge_recipe bridge_recipes[] = {"
    split("", ending)
}

/^#/ || /^$/ { next }

# ---- names: a version and its commit, and then names

kind == "names" && /^\[/ {
    end_row()
    split(substr($0, 2, length($0) - 2), of, ", ")
    begin_row("\"" of[1] "\", \"" of[2] "\",")
    next
}
kind == "names" { put_text($0) }

# ---- recipes: what is usual and the codes of keys; then the names of each; below them its model,
# and then settings

kind == "recipes" && /^usual: / {
    usual = substr($0, 8)
    next
}
kind == "recipes" && /^[a-z0-9]+ = / {
    codes = codes "{\"" $1 "\", \"" $3 "\"},\n"
    next
}
kind == "recipes" && /^[^ ]/ {
    if (!named) { end_row(); begin_row("") }
    named = 1
    put_text($0)
}
kind == "recipes" && /^ / {
    if (!named) put_text($0)
    else print ", \"" ($1 == "-" ? "" : $1) "\","
    if (named) between = ""
    named = 0
}

# ---- effects: keys; below them on what, unless with which values, and a text that may end in words
# that the file begins with

kind == "effects" && /^[A-Z]+ = / {
    ending[$1] = substr($0, length($1) + 4)
    next
}
kind == "effects" && /^[^ ]/ {
    if (effect != "") { end_effect(); end_row() }
    if (!rows) begin_row("")
    put_text($0)
}
kind == "effects" && /^ / {
    sub(/^ +/, "")
    effect = effect (effect == "" ? "" : " ") $0
}

END { end_table() }

function put_text(text) { sub(/^ +/, "", text); print "\"" between text "\""; between = " " }
function begin_row(first) { print "{" first; rows = 1; between = "" }
function end_row() { if (rows) print "},"; rows = 0 }
function end_table() {
    if (effect != "") end_effect()
    end_row()
    if (kind == "effects") print "{NULL, EFFECT_ASSUMED, NULL, NULL}};"
    else if (table) print "{NULL, NULL, NULL}};"
    if (kind == "recipes") {
        print "const struct recipe_key bridge_recipe_keys[] = {\n" codes "{NULL, NULL}};"
        print "const char bridge_recipe_usual[] = \"" usual "\";"
    }
}
function end_effect(    on, unless, word) {
    on = substr(effect, 1, index(effect, ": ") - 1)
    effect = substr(effect, length(on) + 3)
    if (match(on, /, unless /)) {
        unless = substr(on, RSTART + RLENGTH)
        on = substr(on, 1, RSTART - 1)
    }
    for (word in ending) if (!sub(": " word "$", ": " ending[word], effect) && effect == word)
        effect = ending[word]
    print ", " kinds[on] ", \"" unless "\", \"" effect "\""
    effect = ""
}
