set -e
test "$(sh get.sh PORT)" = 8080
test "$(sh get.sh NAME)" = "Ada L."
printf 'URL=http://x/?a=b\nMYURL=no\n' > .env
test "$(sh get.sh URL)" = "http://x/?a=b"
if sh get.sh GONE; then exit 1; fi
