set -e
echo 1 > "a b.txt"
echo 2 > "*.txt"
sh backup.sh "a b.txt" "*.txt"
test "$(cat "backup/a b.txt")" = 1
test "$(cat "backup/*.txt")" = 2
test "$(ls backup | wc -l)" -eq 2
