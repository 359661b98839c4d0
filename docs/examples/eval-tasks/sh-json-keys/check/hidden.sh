set -e
test "$(sh keys.sh example.json | tr '\n' ' ')" = "a b "
printf '{"z y": 1, "\\u00e9": {"no": 2}, "Z": 3}' > "the file.json"
test "$(sh keys.sh "the file.json" | head -n 1)" = Z
test "$(sh keys.sh "the file.json" | wc -l)" -eq 3
printf '{}' > none.json
test -z "$(sh keys.sh none.json)"
