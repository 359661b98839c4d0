/**
 * The main job: a project whose tests fail, a host process, one prompt, and the result; on the way the
 * host is killed, asks, and starts three subagents, and another one acts in another root.
 * `--scripted` uses the scripted model even if a real one is available; `--project <folder>` takes
 * another project (Node, with tests for `node --test`); `--live` shows everything as on a terminal.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { RpcClient, RpcError, type SessionStats } from "@tau-agent/rpc-client";
import { showFork, showPage, showShortening } from "./afterwards.ts";
import { decideOn, showApproval } from "./approval.ts";
import { type ChosenModel, chooseModel } from "./choose-model.ts";
import { fixWithAccident } from "./interrupted-fix.ts";
import { showOtherRoot } from "./other-root.ts";
import { fact, heading, say, showPatch, showTests } from "./screen.ts";
import { openStage } from "./stage.ts";
import { showThreeSubagents } from "./three-subagents.ts";
import { changes, createWorkspace, runTests, shippedProject, type Workspace } from "./workspace.ts";

const { values: options } = parseArgs({
  options: {
    scripted: { type: "boolean" },
    project: { type: "string" },
    live: { type: "boolean" },
  },
});
const original = resolve(options.project ?? shippedProject);
if (!existsSync(join(original, "package.json"))) {
  console.error(`There is no package.json in ${original}; name the folder of a project of Node.`);
  process.exit(1);
}
const startedAt = performance.now();
const stage = openStage(options.live === true);
const workspace = createWorkspace(original);
heading("A project whose tests fail");
fact("Project", workspace.project);
const before = runTests(workspace.project);
showTests(before.output);

const chosen = await chooseModel(workspace, stage, { isScripted: options.scripted === true });
try {
  const stats = await work(workspace, chosen);
  process.exitCode = showResult(stats) ? 0 : 1;
} catch (error) {
  if (!(error instanceof RpcError)) throw error;
  const reason = error.message.trim().replace(/\.$/, "");
  console.error(`\nStopped: ${reason}. Without a key: npx -y pnpm@12 demo --scripted`);
  process.exitCode = 1;
} finally {
  await chosen.close();
}

async function work(workspace: Workspace, chosen: ChosenModel) {
  const { folder, project, sessions } = workspace;
  heading("A host, started by its client");
  say(chosen.words);
  const hosts: RpcClient[] = [];
  const openHost = async (args: readonly string[] = []): Promise<RpcClient> => {
    const client = new RpcClient({
      cwd: project,
      // The project's settings allow the checks of the subagents' work.
      args: ["--approve", "--session-dir", sessions, ...args],
      approve: decideOn(stage),
      ...chosen.host,
      // The scripted model reads what the tests print, without colours.
      env: { ...chosen.host.env, FORCE_COLOR: undefined },
    });
    hosts.push(client);
    await client.start();
    return client;
  };
  try {
    const client = await fixWithAccident(openHost, stage);
    await showApproval(client);
    await showThreeSubagents(client, stage);
    await showOtherRoot(openHost, workspace);
    await showPage(client, folder);
    await showShortening(client);
    const stats = await client.getSessionStats();
    await showFork(client);
    return stats;
  } finally {
    for (const client of hosts) await client.stop();
  }
}

/** Prints what changed and what it took; true if the tests pass now. */
function showResult({ tokens, cost, toolCalls, sessionFile }: SessionStats): boolean {
  heading("The result");
  showPatch(changes(workspace));
  const after = runTests(workspace.project);
  showTests(after.output);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  fact("Took", `${seconds} s, ${toolCalls} tool calls`);
  fact("Tokens", `${tokens.input} in, ${tokens.output} out, ${tokens.cacheRead} from cache`);
  fact("Cost", cost === 0 ? "$0, as this model has no price" : `$${cost.toFixed(4)}`);
  fact("Session", sessionFile ?? "not written");
  const isGreen = after.run?.failed === 0 && after.run.passed >= (before.run?.passed ?? 0);
  const verdict = isGreen ? "All tests pass." : "The tests still fail.";
  console.log(`\n${verdict} Everything is kept in ${workspace.folder}`);
  return isGreen;
}
