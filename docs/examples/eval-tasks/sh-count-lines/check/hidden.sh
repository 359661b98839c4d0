set -e
test "$(sh count.sh logs)" = 2
mkdir -p "more logs/deep"
printf '1\n2\n3\n' > "more logs/deep/the log.log"
printf '4\n' > "more logs/x.log"
test "$(sh count.sh "more logs")" = 4
mkdir none
test "$(sh count.sh none)" = 0
