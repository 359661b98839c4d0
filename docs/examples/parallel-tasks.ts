// Three isolated, verified tasks at once, shown as they run: node docs/examples/parallel-tasks.ts
import { fileURLToPath } from "node:url";
import { RpcClient, type SessionEvent } from "@tau-agent/rpc-client";
import { changesIn, makeRepository, testsPass } from "./three-functions.ts";

/** What a `task` call reports about its tasks: while they run, and at the end. */
interface TaskDetails {
  readonly tasks?: readonly { readonly id: string; readonly activity: string }[];
  readonly results?: readonly { readonly id: string; readonly patch?: Patch }[];
}

interface Patch {
  readonly status: "applied" | "conflict" | "kept" | "discarded" | "empty" | "branch";
  readonly files: readonly string[];
  readonly insertions: number;
  readonly deletions: number;
}

const prompt = `Write the three functions that the tests of this project ask for (slugify, toRoman, wrap).
Call the tool task once, with one task for each: isolated, and verified with the profile "changed".`;

const cwd = makeRepository();
const scripted = {
  provider: "scripted",
  model: fileURLToPath(new URL("scenarios/three-tasks.json", import.meta.url)),
};
console.log(`Repository: ${cwd}`);

// The check is in the project's settings, and a project's code runs only once it is trusted.
const own = new RpcClient({ cwd, args: ["--approve"] });
await own.start();
const { model } = await own.getState();
await own.stop();
console.log(
  model === null
    ? "Model: there is no key, so the replies come from a script; all else is real.\n"
    : `Model: ${model.provider}/${model.id}, as your keys and settings say.\n`,
);
const client = new RpcClient({ cwd, args: ["--approve"], ...(model ? {} : scripted) });
await client.start();

const startedAt = performance.now();
const activities = new Map<string, string>();
client.onEvent(show);
const { text, status } = await client.promptAndWait(prompt);
const { tokens, cost, subagents } = await client.getSessionStats();
console.log(`\n${text} (${status})\n\n${changesIn(cwd)}\n`);
console.log(`Tests:  ${testsPass(cwd) ? "all pass" : "some fail"}`);
console.log(`Tokens: ${tokens.total}, ${subagents?.tokens.total ?? 0} of them by subagents`);
console.log(`Cost:   $${cost.toFixed(4)}`);
await client.stop();

function show(event: SessionEvent): void {
  if (event.type === "subagent_start") {
    say(event.id, `starts as ${event.agent}${event.isolated ? ", in a tree of its own" : ""}`);
  } else if (event.type === "tool_execution_update" && event.toolName === "task") {
    for (const { id, activity } of (event.partialResult.details as TaskDetails).tasks ?? []) {
      if (activities.get(id) !== activity) say(id, activity);
      activities.set(id, activity);
    }
  } else if (event.type === "subagent_verification_command_end") {
    const { id, commandName, exitCode, durationMs, attempt } = event;
    const verdict = exitCode === 0 ? "passed" : `FAILED with exit code ${exitCode}`;
    say(id, `${commandName}, attempt ${attempt}: ${verdict} after ${durationMs} ms`);
  } else if (event.type === "subagent_end") {
    const { retriesUsed = 0, status = "not asked for" } = event.verification ?? {};
    say(event.id, `ends; verification ${status}${repairs(retriesUsed)}`);
  } else if (event.type === "tool_execution_end" && event.toolName === "task") {
    for (const { id, patch } of (event.result.details as TaskDetails).results ?? []) {
      if (patch === undefined) say(id, "no patch");
      else
        say(id, `${patch.status}: ${patch.files.join()} +${patch.insertions} -${patch.deletions}`);
    }
  }
}

function repairs(count: number): string {
  return count === 0 ? "" : ` after ${count} repair${count === 1 ? "" : "s"}`;
}

function say(id: string, words: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(5);
  console.log(`${seconds} s  ${id.padEnd(6)} ${words}`);
}
