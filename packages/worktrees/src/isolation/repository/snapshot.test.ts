import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { slice } from "../../../../../scripts/testing/slice.ts";
import { Workspace } from "../../../../system/src/processes/__fixtures__/workspace.ts";
import { changeOf, gitIn, isolate, repository } from "../__fixtures__/isolated.ts";
import { mergeChanges } from "../merge-back.ts";

/** Everything in a folder: modes, contents, links. Names are bytes. */
function contentOf(folder: string, skipped: readonly string[] = []): Record<string, string> {
  const found: Record<string, string> = {};
  const look = (path: Buffer, name: string): void => {
    const { mode } = lstatSync(path);
    const kind = mode & 0o170000;
    if (kind === 0o040000) {
      found[`${name}/`] = mode.toString(8);
      for (const entry of readdirSync(path, { encoding: "buffer" })) {
        const shown = entry.toString("latin1");
        if (!skipped.includes(shown))
          look(Buffer.concat([path, Buffer.from("/"), entry]), `${name}/${shown}`);
      }
    } else if (kind === 0o120000) found[name] = `-> ${readlinkSync(path)}`;
    else if (kind === 0o100000) found[name] = `${mode.toString(8)} ${readFileSync(path, "latin1")}`;
    else found[name] = mode.toString(8);
  };
  look(Buffer.from(folder), "");
  return found;
}

/** Everything of the user's, except for unreferenced objects. */
const everythingOf = (directory: string) => contentOf(directory, ["objects", "worktrees"]);

const bytes = (path: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${path}/`), Buffer.from(name, "latin1")]);

const makePipe = "mkfifo";

interface Case {
  /** Creates the state of the caller's files. */
  readonly prepare: (workspace: Workspace) => void;
  /** The expected content of a file in a task's tree; undefined if it must be missing. */
  readonly seen: Readonly<Record<string, string | undefined>>;
}

const cases: Record<string, Case> = {
  "files that git is told not to look at": {
    prepare: ({ directory }) => {
      gitIn(directory, "update-index", "--skip-worktree", "a.txt");
      gitIn(directory, "update-index", "--assume-unchanged", "b.txt", "c.txt");
      writeFileSync(join(directory, "a.txt"), "my own a\n");
      writeFileSync(join(directory, "b.txt"), "my own b\n");
      rmSync(join(directory, "c.txt"));
    },
    seen: { "a.txt": "my own a\n", "b.txt": "my own b\n", "c.txt": undefined },
  },
  "one state in the index and another on the disk": {
    prepare: ({ directory }) => {
      writeFileSync(join(directory, "a.txt"), "staged\n");
      gitIn(directory, "add", "a.txt");
      writeFileSync(join(directory, "a.txt"), "on disk\n");
      gitIn(directory, "rm", "-q", "--cached", "b.txt");
      writeFileSync(join(directory, "new.txt"), "intended\n");
      gitIn(directory, "add", "--intent-to-add", "new.txt");
      writeFileSync(join(directory, "gone.txt"), "staged and gone\n");
      gitIn(directory, "add", "gone.txt");
      rmSync(join(directory, "gone.txt"));
    },
    seen: { "a.txt": "on disk\n", "b.txt": "b\n", "new.txt": "intended\n", "gone.txt": undefined },
  },
  "a merge that conflicts": {
    prepare: ({ directory }) => {
      gitIn(directory, "checkout", "-q", "-b", "other");
      writeFileSync(join(directory, "a.txt"), "theirs\n");
      gitIn(directory, "commit", "-qam", "theirs");
      gitIn(directory, "checkout", "-q", "-");
      writeFileSync(join(directory, "a.txt"), "ours\n");
      gitIn(directory, "commit", "-qam", "ours");
      expect(() => gitIn(directory, "merge", "other")).toThrow();
    },
    seen: { "a.txt": "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n" },
  },
  "names that are no text": {
    prepare: ({ directory }) => {
      writeFileSync(bytes(directory, "gr\xfcn.txt"), "latin\n");
      writeFileSync(join(directory, 'new\nline\t"quoted" \\ name.txt'), "odd\n");
      writeFileSync(join(directory, ":(glob)*.txt"), "pathspec\n");
      writeFileSync(join(directory, "-n"), "dash\n");
      writeFileSync(join(directory, " leading and trailing "), "spaces\n");
    },
    seen: {
      "gr\xfcn.txt": "latin\n",
      'new\nline\t"quoted" \\ name.txt': "odd\n",
      ":(glob)*.txt": "pathspec\n",
      "-n": "dash\n",
      " leading and trailing ": "spaces\n",
    },
  },
  "links, pipes and files in the place of others": {
    prepare: ({ directory }) => {
      symlinkSync("nowhere", join(directory, "broken"));
      symlinkSync("..", join(directory, "up"));
      execFileSync(makePipe, [join(directory, "pipe")]);
      rmSync(join(directory, "a.txt"));
      mkdirSync(join(directory, "a.txt"));
      writeFileSync(join(directory, "a.txt/inside.txt"), "inside\n");
      rmSync(join(directory, "b.txt"));
      symlinkSync("c.txt", join(directory, "b.txt"));
      rmSync(join(directory, "c.txt"));
      execFileSync(makePipe, [join(directory, "c.txt")]);
    },
    seen: { "a.txt/inside.txt": "inside\n", pipe: undefined, "c.txt": "c\n" },
  },
  "ends of lines that git changes": {
    prepare: ({ directory }) => {
      gitIn(directory, "config", "core.autocrlf", "true");
      writeFileSync(join(directory, "dos.txt"), "one\r\ntwo\r\n");
      writeFileSync(join(directory, "b.txt"), "b\r\nmore\r\n");
    },
    seen: { "dos.txt": "one\r\ntwo\r\n", "b.txt": "b\r\nmore\r\n" },
  },
  "a filter": {
    prepare: ({ directory }) => {
      gitIn(directory, "config", "filter.upper.clean", "tr a-z A-Z");
      gitIn(directory, "config", "filter.upper.smudge", "tr A-Z a-z");
      gitIn(directory, "config", "filter.upper.required", "true");
      writeFileSync(join(directory, ".gitattributes"), "*.low filter=upper\n");
      writeFileSync(join(directory, "x.low"), "lower\n");
      gitIn(directory, "add", ".");
      gitIn(directory, "commit", "-qm", "filtered");
      writeFileSync(join(directory, "x.low"), "lower still\n");
    },
    seen: { "x.low": "lower still\n" },
  },
  "names that differ in case only": {
    prepare: ({ directory }) => {
      renameSync(join(directory, "a.txt"), join(directory, "A.txt"));
      gitIn(directory, "mv", "b.txt", "B.txt");
      writeFileSync(join(directory, "b.txt"), "another b\n");
    },
    seen: {
      "A.txt": "one\ntwo\nthree\n",
      "a.txt": undefined,
      "B.txt": "b\n",
      "b.txt": "another b\n",
    },
  },
};

const prepared = (prepare: Case["prepare"]): Workspace => {
  const workspace = repository({ "b.txt": "b\n", "c.txt": "c\n" });
  prepare(workspace);
  return workspace;
};

describe.each(slice(Object.entries(cases), 3))("with %s", (_, { prepare, seen }) => {
  it("a task sees the files as they are on disk, and recording changes nothing", async () => {
    const { directory } = prepared(prepare);
    const workspace = new Workspace();
    onTestFinished(() => workspace[Symbol.dispose]());
    const before = everythingOf(directory);
    const isolation = await isolate(workspace, { cwd: directory, trusted: true });
    const tree = await isolation.createTree();
    for (const [name, text] of Object.entries(seen)) {
      const path = bytes(tree.cwd, name);
      expect([name, existsSync(path) ? readFileSync(path, "latin1") : undefined]).toEqual([
        name,
        text,
      ]);
    }
    const change = await changeOf(isolation, "t", tree);
    expect(change.statistics.files).toEqual([]);
    await isolation.dispose();
    expect(everythingOf(directory)).toEqual(before);
  });

  it("a task's changes come back and nothing else changes", async () => {
    const { directory } = prepared(prepare);
    const workspace = new Workspace();
    onTestFinished(() => workspace[Symbol.dispose]());
    const isolation = await isolate(workspace, { cwd: directory, trusted: true });
    const before = everythingOf(directory);
    const tree = await isolation.createTree();
    const changed = Object.entries(seen).flatMap(([name, text]) =>
      text === undefined ? [] : [name],
    );
    for (const name of changed) appendFileSync(bytes(tree.cwd, name), "task's line\n");
    const change = await changeOf(isolation, "t", tree);
    const outcome = (await mergeChanges(isolation, [change])).get("t");
    await isolation.dispose();
    const after = everythingOf(directory);
    if (changed.includes("c.txt")) {
      // It is not a regular file: report a conflict and change nothing.
      expect(outcome).toMatchObject({ status: "conflict" });
      expect(after).toEqual(before);
      return;
    }
    expect(outcome).toEqual({ status: "applied" });
    const expected = { ...before };
    for (const name of changed) {
      const end = name === "dos.txt" || before[`/${name}`]?.includes("\r") ? "\r\n" : "\n";
      expected[`/${name}`] = `${before[`/${name}`]}task's line${end}`;
    }
    expect(after).toEqual(expected);
  });
});

describe("outside of a repository", () => {
  it("empty folders and files of nested repositories are included", async () => {
    const workspace = new Workspace();
    onTestFinished(() => workspace[Symbol.dispose]());
    workspace.write({ ".gitignore": "skipped/\n", "a.txt": "a\n", "inner/b.txt": "b\n" });
    for (const name of ["empty", "deep/er/empty", "skipped/empty"]) {
      mkdirSync(workspace.path(name), { recursive: true });
    }
    gitIn(workspace.path("inner"), "init", "-q");
    const before = contentOf(workspace.directory);
    const isolation = await isolate(workspace);
    const tree = await isolation.createTree();
    expect(readdirSync(tree.cwd).sort()).toEqual([
      ".git",
      ".gitignore",
      "a.txt",
      "deep",
      "empty",
      "inner",
    ]);
    expect(existsSync(join(tree.cwd, "deep/er/empty"))).toBe(true);
    appendFileSync(join(tree.cwd, "inner/b.txt"), "more\n");
    const change = await changeOf(isolation, "t", tree);
    expect((await mergeChanges(isolation, [change])).get("t")).toEqual({ status: "applied" });
    await isolation.dispose();
    const after = { ...before, "/inner/b.txt": `${before["/inner/b.txt"]}more\n` };
    expect(contentOf(workspace.directory)).toEqual(after);
  });
});
