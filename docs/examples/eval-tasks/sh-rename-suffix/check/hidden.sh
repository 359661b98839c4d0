set -e
script="$PWD/rename.sh"
mkdir empty clash
(cd empty && sh "$script")
sh rename.sh
test -f photo.jpg && ! test -e photo.jpeg
cd clash
echo old > a.jpg
echo new > a.jpeg
echo b > "b c.jpeg"
if sh "$script" 2> ../said; then exit 1; fi
grep -q a.jpeg ../said
test "$(cat a.jpg)" = old && test -f a.jpeg && test -f "b c.jpg"
