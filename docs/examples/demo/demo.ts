/**
 * The main job: a project whose tests fail, a host process, one prompt, and the result.
 * `--scripted` uses the scripted model even if a real one is available; `--project <folder>` takes
 * another project (Node, with tests for `node --test`).
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { RpcClient } from "@tau-agent/rpc-client";
import { type ChosenModel, chooseModel } from "./choose-model.ts";
import { decide, showFourthAct } from "./fourth-act.ts";
import { fact, heading, Screen, showPatch, showTests } from "./screen.ts";
import { showSecondAct } from "./second-act.ts";
import { showThirdAct } from "./third-act.ts";
import { changes, createWorkspace, runTests, shippedProject, type Workspace } from "./workspace.ts";

const PROMPT = "The tests fail; find out why and fix it.";
const RUN_LIMIT_MS = 15 * 60_000;

const { values: options } = parseArgs({
  options: { scripted: { type: "boolean" }, project: { type: "string" } },
});
const original = resolve(options.project ?? shippedProject);
if (!existsSync(join(original, "package.json"))) {
  console.error(`There is no package.json in ${original}; name the folder of a project of Node.`);
  process.exit(1);
}
const workspace = createWorkspace(original);
heading("A project whose tests fail");
fact("Project", workspace.project);
const before = runTests(workspace.project);
showTests(before.output);

const chosen = await chooseModel(workspace, { isScripted: options.scripted === true });
try {
  await work(workspace, chosen);
} finally {
  await chosen.close();
}

heading("What changed");
showPatch(changes(workspace) || "Nothing.");
heading("The tests now");
const after = runTests(workspace.project);
showTests(after.output);

const isGreen = after.run?.failed === 0 && after.run.passed >= (before.run?.passed ?? 0);
const verdict = isGreen ? "All tests pass." : "The tests still fail.";
console.log(`\n${verdict} Everything is kept in ${workspace.folder}`);
process.exitCode = isGreen ? 0 : 1;

async function work(
  { folder, project, sessions }: Workspace,
  { words, host }: ChosenModel,
): Promise<void> {
  heading("A host, started by its client");
  console.log(words);
  await using client = new RpcClient({
    cwd: project,
    // The project's settings allow the checks of the third act.
    args: ["--approve", "--session-dir", sessions],
    approve: decide,
    ...host,
  });
  await client.start();
  fact("Host", `${client.host?.name} ${client.host?.version}, process ${client.pid}`);
  fact("Prompt", PROMPT);
  const screen = new Screen();
  client.onEvent((event) => screen.show(event));
  try {
    await client.promptAndWait(PROMPT, { timeoutMs: RUN_LIMIT_MS });
  } catch (error) {
    console.log(`\nThe run failed: ${error instanceof Error ? error.message : String(error)}`);
    console.log("To see the demo without a real model: npx -y pnpm@12 demo --scripted");
  }
  const { tokens, cost, toolCalls, sessionFile } = await client.getSessionStats();
  heading("What it took");
  fact("Tools", `${toolCalls} calls`);
  fact("Tokens", `${tokens.input} in, ${tokens.output} out, ${tokens.cacheRead} from cache`);
  fact("Cost", cost === 0 ? "$0" : `$${cost.toFixed(4)}`);
  fact("Session", sessionFile ?? "not written");
  await showSecondAct(client, folder);
  await showThirdAct(client);
  await showFourthAct(client);
}
