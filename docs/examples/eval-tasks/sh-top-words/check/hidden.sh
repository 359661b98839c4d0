set -e
test "$(sh top.sh < text.txt | tr '\n' ' ')" = "b a c "
test "$(printf 'Z z, y! Y x' | sh top.sh | tr '\n' ' ')" = "y z x "
test -z "$(sh top.sh < /dev/null)"
