import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Child } from "../../child.ts";
import { summarize } from "../../measurement.ts";
import type { ReplyPlan } from "../../remote-model-server.ts";
import { runPrompt } from "../../runs.ts";
import { commonTools, startHost, turnTimes } from "../hosts.ts";
import { type Contestant, type Stage, scenario } from "../scenario.ts";

const FOLDERS = 200;
const CALLS = 5;

/** Searches in a large tree. */
export const searches = scenario({
  rows: {
    find: { what: "20 000 files: `find` turn, 20 matches", peer: 0.8 },
    "grep-none": { what: "20 000 files: `grep` turn without a match", peer: 0.8 },
    "grep-few": { what: "20 000 files: `grep` turn, 20 matches", peer: 0.8 },
    "grep-many": { what: "20 000 files: `grep` turn, 50 of 200 matches", peer: 1.05 },
    "grep-everywhere": { what: "20 000 files: `grep` turn, all match", peer: 1.05 },
  },
  rounds: 7,
  host: async (stage, contestant) => {
    await writeTree(stage.workspace.cwd, stage.isQuick ? 2_000 : 20_000);
    const measure = await startTurns(stage, contestant);
    return async () => ({
      find: await measure("find", { pattern: "*777.ts" }),
      "grep-none": await measure("grep", { pattern: "no such words" }),
      "grep-few": await measure("grep", { pattern: "entry (7|77|777) of" }),
      "grep-many": await measure("grep", { pattern: "entry [0-9]*77 of", limit: 50 }),
      "grep-everywhere": await measure("grep", { pattern: "entry" }),
    });
  },
});

const LINES = 400;
/** The number of lines in a file of 1 MB. */
const LARGE_LINES = 20_000;
/** More than searches: an edit is short, and the first edits compile code. */
const EDITS = 25;

/** A small change in a file of 20 KB. */
export const edits = scenario({
  rows: {
    "edit-line": { what: "`edit` of one line of 20 KB: turn", peer: 0.7 },
    "edit-large": { what: "`edit` of one line of 1 MB: turn", peer: 1 },
  },
  rounds: 9,
  warmUps: 2,
  host: async (stage, contestant) => {
    const measure = await startTurns(stage, contestant);
    const editIn = async (path: string, lines: number): Promise<number> => {
      await writeFile(join(stage.workspace.cwd, path), text(lines));
      // Some hosts refuse to edit a file that was not read before.
      await measure("read", { path }, 1);
      const edit = (index: number) => ({
        path,
        edits: [{ oldText: line(100 + index), newText: `${line(100 + index)} Changed.` }],
      });
      return measure("edit", edit, EDITS);
    };
    return async () => ({
      "edit-line": await editIn("long.txt", LINES),
      "edit-large": await editIn("large.txt", LARGE_LINES),
    });
  },
});

type Arguments = object | ((index: number) => object);

/** Starts a host with all tools; the returned function measures the median time of turns with a call. */
async function startTurns(stage: Stage, contestant: Contestant) {
  const args = ["--no-session", "--tools", commonTools];
  return turnsOf(await startHost(stage, contestant, args), stage);
}

export function turnsOf(host: Child, stage: Stage) {
  return async (tool: string, given: Arguments, count = CALLS): Promise<number> => {
    const plans = Array.from({ length: count }, (_, index): ReplyPlan => {
      const call = typeof given === "function" ? given(index) : given;
      return { tool, argumentDeltas: [JSON.stringify(call)] };
    });
    await stage.server.reply(...plans);
    const failed = host.next(isFailedCall);
    failed.catch(() => {});
    await Promise.race([
      runPrompt(host),
      failed.then((frame) => Promise.reject(new Error(JSON.stringify(frame.result)))),
    ]);
    return summarize(turnTimes(await stage.server.exchanges())).median;
  };
}

function isFailedCall(frame: Readonly<Record<string, unknown>>): boolean {
  return frame.type === "tool_execution_end" && frame.isError === true;
}

/** As many ignore rules as real projects have. */
const ignored = [
  ...["node_modules/", "dist/", "build/", "coverage/", "/tmp", ".cache/", "*.log", "*.tsbuildinfo"],
  ...[
    ".env",
    ".env.*",
    "!.env.example",
    ".DS_Store",
    ".idea/",
    ".vscode/*",
    "*.swp",
    "lib/**/made",
  ],
];

async function writeTree(cwd: string, files: number): Promise<void> {
  await mkdir(join(cwd, ".git"));
  await writeFile(join(cwd, ".gitignore"), `${ignored.join("\n")}\n`);
  for (let index = 0; index < files; index++) {
    const folder = join(cwd, "src", `folder-${index % FOLDERS}`);
    if (index < FOLDERS) await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `file-${index}.ts`), `// entry ${index} of a tree\n${text(5)}`);
  }
}

function line(index: number): string {
  return `Line ${index} has some words, as lines often have.`;
}

function text(lines: number): string {
  return Array.from({ length: lines }, (_, index) => `${line(index)}\n`).join("");
}
