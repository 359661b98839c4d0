import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkSignal, finishScript, killFunctions, signalScript } from "./kill-script.ts";

interface Row {
  /** Row 2 is the shell that runs the script, with its real id. */
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

const self = 2;

/** Runs a script over a table of processes; `kill` is replaced by a function that only prints its arguments. */
function signalled(rows: readonly Row[], script: string): readonly string[] {
  const id = (pid: number) => (pid === self ? "$$" : String(pid));
  const lines = rows.map(({ pid, parent, group }) => `${id(pid)} ${id(parent)} ${id(group)} 7`);
  const text = `exec 3>&2; kill() { printf 'kill %s\\n' "$*" >&3; }
${killFunctions}
t_table() { cat <<T_ROWS
${lines.join("\n")}
T_ROWS
}
${script}`;
  const { stderr, status } = spawnSync("sh", ["-c", text], { encoding: "utf8" });
  expect(status).toBe(0);
  return stderr.split("\n").filter((line) => line !== "");
}

function treeOf(rows: readonly Row[], root: number): ReadonlySet<number> {
  const kept = new Set([0, 1]);
  for (let at: number | undefined = self; at !== undefined && at > 1 && !kept.has(at); ) {
    kept.add(at);
    at = rows.find(({ pid }) => pid === at)?.parent;
  }
  const first = rows.find(({ pid }) => pid === root);
  const tree = new Set<number>();
  if (first === undefined || kept.has(root)) return tree;
  tree.add(root);
  for (let size = 0; size !== tree.size; ) {
    size = tree.size;
    for (const { pid, parent, group } of rows) {
      const belongs = tree.has(parent) || (first.group === root && group === root);
      if (belongs && !kept.has(pid)) tree.add(pid);
    }
  }
  return tree;
}

const number = fc.integer({ min: 0, max: 12 });
const table = fc
  .uniqueArray(fc.record({ pid: number, parent: number, group: number }), {
    selector: ({ pid }) => pid,
    maxLength: 12,
  })
  // No process is its own parent.
  .map((rows) => rows.map((row) => (row.parent === row.pid ? { ...row, parent: 0 } : row)));

test("a signal goes only to the command's own tree", () => {
  fc.assert(
    fc.property(table, fc.integer({ min: 3, max: 12 }), (rows, root) => {
      const tree = treeOf(rows, root);
      const expected = [...tree].map((pid) => `kill -TERM ${pid}`).toSorted();
      expect(signalled(rows, signalScript(`${root}:7`, "SIGTERM")).toSorted()).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

// A process that was started in a container from outside has group and session 0.
const container: readonly Row[] = [
  { pid: 1, parent: 0, group: 0 },
  { pid: self, parent: 0, group: 0 },
  { pid: 5, parent: 0, group: 0 },
  { pid: 6, parent: 1, group: 0 },
  { pid: 9, parent: 5, group: 9 },
];

test("a process with group 0 in a container is not signalled", () => {
  expect(signalled(container, signalScript("9:7", "SIGKILL"))).toEqual(["kill -KILL 9"]);
  for (const wrong of ["0", "1", "''", "' '", "-1", "x"]) {
    expect(signalled(container, `t_signal ${wrong} KILL ''`), wrong).toEqual([]);
    expect(signalled(container, `t_finish ${wrong}`), wrong).toEqual([]);
    expect(signalled(container, `t_finish ${wrong}:7`), wrong).toEqual([]);
  }
});

test("neither the shell nor its ancestors are signalled", () => {
  const rows = [
    { pid: 5, parent: 1, group: 5 },
    { pid: self, parent: 5, group: 5 },
  ];
  expect(signalled(rows, signalScript("5:7", "SIGTERM"))).toEqual([]);
  expect(signalled(rows, "t_signal $$ KILL ''")).toEqual([]);
});

test("a process that reuses the id of an ended one is left alone", () => {
  expect(signalled(container, signalScript("9:8", "SIGTERM"))).toEqual([]);
  expect(signalled(container, finishScript(["9:8", "9:7", "nonsense"]))).toEqual(["kill -KILL 9"]);
});

test("no process is ever stopped", () => {
  for (const signal of ["SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGCONT"]) {
    expect(() => checkSignal(signal)).toThrow("is not sent");
    expect(signalled(container, `t_signal 9 ${signal.slice(3)} ''; :`)).toEqual([]);
  }
  expect(() => signalScript("9:7", "TERM; reboot")).toThrow("Unknown signal");
  expect(() => signalScript("0 1", "SIGTERM")).toThrow("No such process");
});
