/**
 * Keys and conversation here, tools in another root. Where there is bubblewrap, that has the programs of this
 * machine and nothing else of it.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ScenarioRequest, type Turn, toolCall, turn } from "@tau-agent/ai/testing";
import { doneCalls } from "./conversation.ts";
import type { OpenHost } from "./interrupted-fix.ts";
import { fact, heading, Screen } from "./screen.ts";
import type { Workspace } from "./workspace.ts";

/** Asks for something that shows where the tools are. */
export const WHERE_PROMPT =
  "Where are you? Call bash with the command `pwd; ls`, then write the folder into WHERE.md.";

const RUN_LIMIT_MS = 5 * 60_000;
const server = fileURLToPath(import.meta.resolve("@tau-agent/cli/exec-server"));
/** Where the project is in a root of its own; this machine has no such folder. */
const MOUNTED = "/tau-demo";

/** How an exec server is started, and the folder that it has. */
interface Way {
  readonly words: string;
  readonly command: readonly string[];
  readonly cwd: string;
}

/** Has a host work somewhere else, and shows that nothing of that is here. */
export async function showOtherRoot(
  openHost: OpenHost,
  { folder, original }: Workspace,
): Promise<void> {
  heading("The conversation here, the tools in another root");
  const there = join(folder, "other-root");
  mkdirSync(there);
  cpSync(original, there, { recursive: true });
  const { words, command, cwd } = rootOfItsOwn(there) ?? folderAsRoot(there);
  const client = await openHost(["--workspace", JSON.stringify({ command, cwd })]);
  const screen = new Screen();
  client.onEvent((event) => screen.show(event));
  fact("Tools", words);
  fact("Folder", cwd);
  fact("Prompt", WHERE_PROMPT);
  await client.promptAndWait(WHERE_PROMPT, { timeoutMs: RUN_LIMIT_MS });
  const written = join(there, "WHERE.md");
  fact("Written", existsSync(written) ? `WHERE.md there, with ${shown(written)}` : "nothing");
  if (!existsSync(cwd)) fact("Here", `there is no folder ${cwd}`);
  const { sessionFile } = await client.getState();
  fact("Kept here", sessionFile ?? "nothing");
  await client.stop();
}

/** A root with the programs of this machine and the folder, and nothing else; undefined where that cannot be made. */
function rootOfItsOwn(folder: string): Way | undefined {
  const programs = ["--ro-bind", "/usr", "/usr"];
  for (const name of ["bin", "lib", "lib64"]) programs.push("--symlink", `usr/${name}`, `/${name}`);
  const root = [...programs, "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"];
  const files = ["--ro-bind", process.execPath, "/node", "--ro-bind", server, "/exec-server.js"];
  // Options may name files of this machine.
  const variables = ["--setenv", "HOME", "/tmp", "--unsetenv", "NODE_OPTIONS"];
  const place = ["--bind", folder, MOUNTED, "--chdir", MOUNTED, ...variables];
  const bwrap = ["bwrap", "--unshare-all", "--die-with-parent", ...root, ...files, ...place];
  if (spawnSync("bwrap", [...bwrap.slice(1), "/node", "-e", "0"]).status !== 0) return undefined;
  const words = "in a root of their own, by bwrap: an exec server is all that runs there";
  return { words, command: [...bwrap, "/node", "/exec-server.js"], cwd: MOUNTED };
}

function folderAsRoot(folder: string): Way {
  const words = "behind an exec server that opens nothing outside of its root";
  return { words, command: [process.execPath, server, "--root", folder], cwd: folder };
}

function shown(file: string): string {
  return JSON.stringify(readFileSync(file, "utf8").trim());
}

/** The scripted model's next step if it is asked where it is. */
export function lookAround(request: ScenarioRequest): Turn | undefined {
  if (request.lastUserText !== WHERE_PROMPT) return undefined;
  const [looked, written] = doneCalls(request);
  if (looked === undefined) return turn(toolCall("bash", { command: "pwd; ls" }));
  const folder = looked.text.split("\n", 1)[0] ?? "";
  if (written !== undefined) return turn(`I am in ${folder}, and my files are only there.`);
  return turn(toolCall("write", { path: "WHERE.md", content: `${folder}\n` }));
}
