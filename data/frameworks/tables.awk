# Writes names/*.txt and recipes.txt as the tables of setting.h.

BEGIN { print "#include \"data/frameworks/setting.h\"" }

FNR == 1 {
    end_table()
    table = FILENAME
    gsub(/.*\/|\.txt$/, "", table)
    in_recipes = table == "recipes"
    if (in_recipes) print "const struct bridge_recipe bridge_recipes[] = {"
    else print "const struct setting_names " table "_names[] = {"
}

/^#/ || /^$/ { next }

# A version and its commit, and then names.
!in_recipes && /^\[/ {
    end_row()
    split(substr($0, 2, length($0) - 2), of, ", ")
    begin_row("\"" of[1] "\", \"" of[2] "\",")
    next
}

# The names of a recipe, its model, and then settings.
in_recipes && /^[^ ]/ {
    if (!named) { end_row(); begin_row("") }
    named = 1
}
in_recipes && /^ / && named {
    named = 0
    print ", \"" ($1 == "-" ? "" : $1) "\","
    between = ""
    next
}

{ sub(/^ +/, ""); print "\"" between $0 "\""; between = " " }

END { end_table() }

function begin_row(first) { print "{" first; rows = 1; between = "" }
function end_row() { if (rows) print "},"; rows = 0 }
function end_table() { end_row(); if (table) print "{NULL, NULL, NULL}};" }
