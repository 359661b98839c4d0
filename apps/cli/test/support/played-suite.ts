import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { RpcClient } from "@tau-agent/rpc-client";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { onTestFinished } from "vitest";
import type { Place } from "./place.ts";
import { call, git, repositoryPlace, worker } from "./repository-place.ts";
import { binPath } from "./start-host.ts";
import { elsewhere, toolSuite } from "./tool-suite.ts";

export interface SuiteSetup {
  /** The arguments of a host whose session is in this folder of a place. */
  readonly words: (there: string) => readonly string[];
  /** The workspace that its client serves. */
  readonly workspace?: ((there: string) => Workspace) | undefined;
  /** Starts the host; by default with the Node that runs the tests. */
  readonly command?: (place: Place) => readonly string[];
}

const verify = { commands: [{ name: "there", command: "cat made.txt && test -f a.txt" }] };

const scenario = [
  ...worker("<inner>", call("bash", { command: "echo made >made.txt; cat a.txt" })),
  ...worker("isolated", call("task", { task: "<inner>", isolated: true, verify })),
  ...toolSuite,
];

const settings = {
  "task.verification.enabled": true,
  "rewind.enabled": true,
  "permissions.mode": "ask",
};

/**
 * Plays everything that acts in a workspace: calls of all tools, including errors and images; previews for
 * approvals; an isolated subagent that is verified and merged; and a prompt that is reverted.
 */
export async function playSuite({ words, workspace, command }: SuiteSetup) {
  const there = elsewhere();
  git(there, "init", "-q");
  git(there, "add", "-A");
  git(there, "commit", "-qm", "first");
  const place = repositoryPlace(scenario, settings);
  onTestFinished(() => {
    chmodSync(place.cwd, 0o755);
    place.remove();
  });
  const told: unknown[] = [];
  /** The workspaces that approval requests named. */
  const asked: (string | undefined)[] = [];
  const client = new RpcClient({
    command: [...(command?.(place) ?? [process.execPath]), binPath, ...place.arguments],
    args: [...words(there)],
    cwd: place.cwd,
    env: { ...place.variables, NODE_OPTIONS: process.env.NODE_OPTIONS },
    approve: async ({ id: _, deadlineAt: __, promptId: ___, workspace, ...question }) => {
      const { cwd, path } = question;
      // The path of a project copy differs on each machine.
      const isCopy = cwd !== there;
      told.push({ ...question, ...(isCopy && { cwd: "<copy>", path: path && "<in copy>" }) });
      asked.push(workspace);
      return { decision: "allow" };
    },
    ...(workspace && { workspace: workspace(there) }),
  });
  onTestFinished(async () => void (await client.stop()));
  // The host's own working directory must not matter, so it is read-only.
  chmodSync(place.cwd, 0o555);
  await client.start();
  client.onEvent((event) => {
    if (event.type === "subagent_verification_end") told.push({ verification: event.status });
  });
  await client.promptAndWait("Go");
  await client.promptAndWait("isolated");
  const made = join(there, "made.txt");
  told.push({ made: readFileSync(made, "utf8"), mode: statSync(made).mode.toString(8) });
  const { messages } = await client.getMessages();
  for (const message of messages) {
    if (message.role !== "toolResult") continue;
    const { toolName, content, isError } = message;
    told.push({ toolName, isError, content });
  }
  const { checkpoints } = await client.listCheckpoints();
  for (const { entryId } of [...checkpoints].reverse()) {
    const { files } = await client.rewind(entryId);
    told.push({ rewind: files });
  }
  told.push({ status: git(there, "status", "--porcelain") });
  const { workspace: state, sessionFile } = await client.getState();
  const text = JSON.stringify(told, undefined, 1)
    .replaceAll(there, "<there>")
    .replaceAll(place.folder, "<host>");
  return { told: text, asked, there, place, client, state, sessionFile };
}
