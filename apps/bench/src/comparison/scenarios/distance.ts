import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promptToRequest, runPrompt, timed, timedRequest } from "../../runs.ts";
import { commonTools, startHost, turnTimes } from "../hosts.ts";
import { type RowSpec, scenario } from "../scenario.ts";
import { turnsOf } from "./files.ts";

/** The delay in each direction, as between continents. */
const DELAY_MS = 50;
const relay = fileURLToPath(
  new URL("../../../../cli/test/e2e/exec-server/relay.mjs", import.meta.url),
);
const slowWay = [process.execPath, relay, JSON.stringify({ delayMs: DELAY_MS })] as const;

/** Allows two round trips and the time for the work itself; a third round trip would exceed it. */
const turnOf = (tool: string): RowSpec => ({
  what: `\`${tool}\` turn, the workspace one round trip of 100 ms away`,
  floor: 2.8,
});

const rows = {
  "far-read": turnOf("read"),
  "far-write": turnOf("write"),
  "far-edit": turnOf("edit"),
  "far-ls": turnOf("ls"),
  "far-bash": turnOf("bash"),
  "far-grep": turnOf("grep"),
  "far-find": turnOf("find"),
  "far-eight-reads": { ...turnOf("read"), what: "the same: eight `read` in one reply" },
  "far-get-state": { what: "the same: get_state", floor: 0.5 },
  "far-prompt": { what: "the same: prompt → model request received", floor: 0.5 },
} satisfies Readonly<Record<string, RowSpec>>;

/** Tool calls, after the first use, in a workspace behind a distant exec server. */
export const distance = scenario({
  rows,
  rounds: 5,
  warmUps: 2,
  host: async (stage, contestant) => {
    // Other hosts work only on their own machine.
    if (contestant.hello === undefined) return async () => ({});
    const { server, workspace } = stage;
    const there = join(workspace.cwd, "there");
    await writeFolder(there);
    const command = [...slowWay, ...contestant.command, "exec-server"];
    const place = ["--workspace", JSON.stringify({ command, cwd: there })];
    const args = ["--no-session", "--tools", commonTools, ...place];
    const host = await startHost(stage, contestant, args);
    const measure = turnsOf(host, stage);
    const calls = Array.from({ length: 8 }, (_, index) => ({
      tool: "read",
      arguments: { path: `src/${index}.ts` },
    }));
    return async () => {
      await writeFolder(there);
      const edit = (index: number) => ({
        path: "src/0.ts",
        edits: [{ oldText: `line ${index};`, newText: `changed ${index};` }],
      });
      const turns = {
        "far-read": await measure("read", { path: "src/1.ts" }),
        "far-write": await measure("write", { path: "made/a.txt", content: "made" }),
        "far-edit": await measure("edit", edit),
        "far-ls": await measure("ls", { path: "src" }),
        "far-bash": await measure("bash", { command: "true" }),
        "far-grep": await measure("grep", { pattern: "line 7;" }),
        "far-find": await measure("find", { pattern: "*.ts" }),
      };
      await server.reply({ calls });
      await runPrompt(host);
      const [eight = Number.NaN] = turnTimes(await server.exchanges());
      const state = await timedRequest(host, "get_state");
      return {
        ...turns,
        "far-eight-reads": eight,
        "far-get-state": state,
        "far-prompt": await promptToRequest(host, server),
      };
    };
  },
  floor: async ({ workspace }) => {
    const echo = workspace.spawn([...slowWay, "cat"]);
    return async () => {
      const back = echo.next(() => true);
      const roundTrip = await timed(async () => {
        echo.send({});
        await back;
      });
      return Object.fromEntries(Object.keys(rows).map((name) => [name, roundTrip]));
    };
  },
});

async function writeFolder(there: string): Promise<void> {
  await mkdir(join(there, "src"), { recursive: true });
  const text = Array.from({ length: 50 }, (_, line) => `line ${line};\n`).join("");
  for (let index = 0; index < 20; index += 1) {
    await writeFile(join(there, `src/${index}.ts`), text);
  }
}
