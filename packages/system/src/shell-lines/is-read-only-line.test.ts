import { expect, it } from "vitest";
import { shellLines } from "./__fixtures__/shell-lines.ts";
import { isReadOnlyLine } from "./is-read-only-line.ts";

it.each(Object.values(shellLines).flat())("judges $line", async ({ line, reads = false }) => {
  expect(await isReadOnlyLine(line)).toBe(reads);
});

it.each([
  "git status && git diff --stat && git log --oneline -5",
  "git --no-pager -C sub show HEAD:README.md | head -n 20",
  "git branch -a; git branch --contains abc; git tag -l 'v*'; git remote -v; git stash list",
  "git config --get user.name",
  "cd packages && rg -n --type ts 'foo|bar' src | sort | uniq -c | sort -rn | head",
  "find . -name '*.ts' -not -path '*/node_modules/*' | xargs wc -l",
  "find src -type f -exec grep -l TODO {} +",
  "sed -n '10,40p' file.ts; sed 's/a/b/g; /^#/d' file.ts; sed -n -e '/start/,/end/p' -e '$=' f",
  "awk -F: '{ print $1, NF }' /etc/passwd",
  "cat package.json | jq '.scripts' 2>/dev/null",
  "/usr/bin/ls -la /bin",
  "timeout 5 nice bash -c 'ls | wc -l'",
  "date +%s; uname -a; node --version; which node",
  "[ -f a ] && cat a || echo none >&2",
])("recognises as read-only: %s", async (line) => {
  expect(await isReadOnlyLine(line)).toBe(true);
});

it.each([
  ...["rm x", "npm test", "make", "python3 x.py", "curl example.org", "sleep 1", "./ls", "sudo ls"],
  ...["ls > out", "ls >> out", "cat <> f", "ls &", "x=1", "X=1 ls", "env X=1 ls", "ls $(rm x)"],
  ...["ls() { rm x; }; ls", "$cmd", "read x", "export X=1", "echo `rm y`", "tee f"],
  ...["find . -delete", "find . -fprint f", "find . -exec rm {} +", "find . -ok ls {} \\;"],
  ...["sort -o f f", "sort -uof f", "sort --outp=f f", "sort --compress-program=rm f", "sort *"],
  ...["uniq a b", "tree -o f", "file -C", "date -s now", "date 0101", "hostname x", "fd -x rm"],
  ...[
    "rg --pre ./x foo",
    "rg --hostname-bin=./x foo",
    "rg foo *",
    "ls | xargs sort",
    "xargs sed p",
  ],
  ...["sed -i s/a/b/ f", "sed -ni p f", "sed --in-place p f", "sed 'w f' a", "sed '1e rm' a"],
  ...[
    "sed 's/a/b/w f' a",
    "sed 's/a/b/e' a",
    "sed -f x a",
    'sed "$script" a',
    "sed -n '{p;w f\n}' a",
  ],
  ...["awk '{ print > \"f\" }' a", "awk '{ system(\"rm\") }' a", "awk '{ print | \"sh\" }' a"],
  ...["awk -f x a", "awk -i inplace '{ print }' a", 'awk "$program" a'],
  ...[
    "git -c core.pager=rm log",
    "git --git-dir=x status",
    "git diff --output=f",
    "git diff --ext-diff",
  ],
  ...[
    "git log -p --textconv",
    "git grep -O foo",
    "git grep --open foo",
    "git commit -m x",
    "git $x",
  ],
  ...["git branch new", "git branch -D old", "git tag v1", "git tag -d v1", "git remote add a b"],
  ...["git stash", "git stash pop", "git config user.name x", "git fetch", "git checkout .", "git"],
  ...[
    "git worktree add x",
    "git reflog expire",
    "git archive -o f HEAD",
    "git blame --contents f g",
  ],
  ...["bash -lc ls", "bash -ic ls", "bash script.sh", "nohup ls", "exec ls", "trap 'ls' EXIT"],
  "make --version; make",
  "git status; ls; rm x",
  "if true; then rm x; fi",
  "ls &&",
])("does not treat as read-only: %s", async (line) => {
  expect(await isReadOnlyLine(line)).toBe(false);
});

it("judges a long sed script quickly", async () => {
  expect(await isReadOnlyLine(`sed '${"1,2!s/a/b/;".repeat(170)}x' f`)).toBe(false);
  expect(await isReadOnlyLine(`sed '${"/\\\\a".repeat(490)}' f`)).toBe(false);
});
