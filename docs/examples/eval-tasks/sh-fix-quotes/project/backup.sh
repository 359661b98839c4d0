mkdir -p backup
for file in $*; do
  cp $file backup/
done
