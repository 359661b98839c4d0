import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import {
  clear,
  copyOf,
  createFolder,
  type FolderKind,
  link,
  type TestFolder,
} from "./__fixtures__/folders.ts";

/** The number of sequences to play; CI plays a slice of those that were once played in full. */
const sequences = Number(process.env.TAU_REWIND_SEQUENCES ?? 6);
const firstSeed = Number(process.env.TAU_REWIND_SEED ?? 1);

/** A random number generator that returns the same numbers for the same seed. */
function createRandom(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick: <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item,
  };
}
type Random = ReturnType<typeof createRandom>;

const names = [
  "a.txt",
  "b",
  "d/c.txt",
  "d/e/f.bin",
  "d",
  "ignored/x",
  "module/inside.txt",
  "l",
  "o.log",
  "ü/ß",
];
const contents = [
  "one\n",
  "two\r\nlines\r\n",
  "\0\u0001binary",
  "",
  "ä\n".repeat(40),
  "a-z lower\n",
];

/** The agent changes lines above these, the user lines below. */
const middle = Array.from({ length: 12 }, (_, index) => `line ${index}\n`).join("");
const sharedPath = "shared.md";

/** Changes something in a part of the folder that only one side touches. */
function change({ folder }: TestFolder, part: string, random: Random): void {
  const path = join(folder, part, random.pick(names));
  const makeRoom = () => {
    for (let above = dirname(path); above.length > folder.length; above = dirname(above)) {
      if (stat(above) !== undefined && !isFolder(above)) clear(above);
    }
    if (isFolder(path)) clear(path);
    mkdirSync(dirname(path), { recursive: true });
  };
  const kind = random.below(8);
  if (kind === 0) clear(path);
  else if (kind === 1) {
    makeRoom();
    link(path, random.pick(["nowhere", "../..", "/etc/passwd", "b"]));
  } else if (kind === 2) {
    const isFile = stat(path) !== undefined && !isFolder(path) && !isLink(path);
    if (isFile) chmodSync(path, random.pick([0o644, 0o755, 0o600, 0o400]));
  } else if (kind === 3) {
    makeRoom();
    if (stat(path) === undefined) mkdirSync(path, { recursive: true });
  } else if (kind === 4) {
    const other = join(folder, part, "moved");
    clear(other);
    if (stat(path) !== undefined && dirname(path) === join(folder, part)) renameSync(path, other);
  } else {
    makeRoom();
    rmSync(path, { force: true });
    writeText(path, random.pick(contents) + random.pick(["", "more\n"]));
  }
}

const writeText = (path: string, text: string) => writeFileSync(path, text, "latin1");
function stat(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    // Nothing is there, or a parent is a file.
    return undefined;
  }
}
const isFolder = (path: string) => stat(path)?.isDirectory() ?? false;
const isLink = (path: string) => stat(path)?.isSymbolicLink() ?? false;

function changeShared({ folder, write }: TestFolder, side: "agent" | "user", text: string): void {
  const [top = "", bottom = ""] = readFileSync(join(folder, sharedPath), "utf8").split(middle);
  write(sharedPath, side === "agent" ? text + middle + bottom : top + middle + text);
}

/** The expected state: the agent's part from one copy, everything else from another. */
function mixed(agents: Map<string, string>, others: Map<string, string>): Map<string, string> {
  const isAgents = (path: string) => path.startsWith("agent/");
  const [oldShared = "", nowShared = ""] = [agents.get(sharedPath), others.get(sharedPath)];
  const shared = `${oldShared.split(middle)[0]}${middle}${nowShared.split(middle)[1]}`;
  return new Map([
    ...[...agents].filter(([path]) => isAgents(path)),
    ...[...others].filter(([path]) => !isAgents(path)),
    [sharedPath, shared],
  ]);
}

const sorted = (copy: Map<string, string>) =>
  Object.fromEntries([...copy].filter(([path]) => path !== "agent/").sort());

async function play(kind: FolderKind, seed: number): Promise<void> {
  const random = createRandom(seed);
  const test = createFolder(kind);
  const { folder } = test;
  test.write(sharedPath, `top\n${middle}bottom\n`);
  test.write("agent/b", "first\n");
  test.write("user/b", "first\n");
  if (kind !== "plain") test.git("add", "-A");
  const protectedState = kind === "plain" ? "" : stateOf(test);
  const marks = ["filtered", "hooked", "monitored"].map((name) => join(test.root, name));
  for (const mark of marks) clear(mark);
  let engine = await test.engine();
  const before: Map<string, string>[] = [];
  const undos: { id: string; copy: Map<string, string> }[] = [];
  const takeBack = (entry: number, undoes?: string) =>
    engine.takeBack({
      ...{ entryId: `m${entry}`, undoes, leafId: null, dryRun: false },
      // Messages are numbered like their entries; a rewind is numbered between two messages.
      ...{ position: entry, length: before.length },
      isSince: (id) => Number(id.slice(1)) >= entry,
    });
  for (let step = 0; step < 14; step++) {
    const what = random.below(10);
    if (what < 5) {
      before.push(copyOf(folder));
      await engine.begin(`m${before.length - 1}`);
      for (let count = random.below(4); count >= 0; count--) {
        if (random.below(4) === 0) changeShared(test, "agent", `top ${random.below(99)}\n`);
        else change(test, "agent", random);
      }
      await engine.end();
      undos.length = 0;
    } else if (what < 7) {
      if (random.below(3) === 0) changeShared(test, "user", `bottom ${random.below(99)}\n`);
      else change(test, "user", random);
    } else if (what < 9 && before.length > 0) {
      const entry = random.below(before.length);
      const now = copyOf(folder);
      const { files, undoCheckpointId = "" } = await takeBack(entry);
      const label = `seed ${seed} of ${kind}, step ${step}, back to ${entry}`;
      expect(files.conflicts, label).toEqual([]);
      expect(sorted(copyOf(folder)), label).toEqual(sorted(mixed(before[entry]!, now)));
      undos.push({ id: undoCheckpointId, copy: now });
    } else if (undos.length > 0) {
      const { id, copy } = undos.pop()!;
      const now = copyOf(folder);
      const { files } = await takeBack(0, id);
      expect(files.conflicts).toEqual([]);
      expect(sorted(copyOf(folder)), `undo in seed ${seed}`).toEqual(sorted(mixed(copy, now)));
    } else engine = await test.engine();
  }
  if (kind === "plain") return;
  expect(stateOf(test)).toBe(protectedState);
  expect(marks.filter((mark) => existsSync(mark))).toEqual([]);
  test.git("-c", "core.fsmonitor=false", "fsck", "--strict", "--no-dangling");
}

/** Everything in the repository that must not change: HEAD, branches, index, stash, logs, settings. */
function stateOf({ folder, git }: TestFolder): string {
  const files = ["HEAD", "index", "config", "logs/HEAD", "logs/refs/heads/main"];
  const refs = git("for-each-ref", "refs/heads", "refs/tags", "refs/stash", "refs/remotes");
  return (
    refs + files.map((name) => readFileSync(join(folder, ".git", name), "latin1")).join("\n--\n")
  );
}

it.each(["plain", "git", "busy-git"] as const)(
  "rewinds in random sequences leave the same files as a plain copy (%s)",
  async (kind) => {
    const share = Math.ceil(sequences / 3);
    for (let index = 0; index < share; index++) await play(kind, firstSeed + index);
  },
  Math.max(60_000, sequences * 3_000),
);
