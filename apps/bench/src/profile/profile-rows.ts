import { now } from "../clock.ts";
import type { Contestant, Scenario, Stage } from "../comparison/scenario.ts";
import { RemoteModelServer } from "../remote-model-server.ts";
import { SelfTimes } from "./cpu-profile.ts";
import { type Observation, ProfiledWorkspace, spansOf } from "./profiled-workspace.ts";
import { SystemCalls } from "./system-calls.ts";

/** The part of its scenario that a row measures: the commands of this type. Other rows measure all of it. */
const commandOf: Readonly<Record<string, string>> = {
  "eight-hosts-wall": "prompt",
  "eight-hosts-cpu": "prompt",
  "first-delta": "prompt",
  "last-byte": "prompt",
  "paced-cpu": "prompt",
  "paced-abort": "abort",
  "argument-stream-cpu": "prompt",
  "get-state-idle": "get_state",
  "get-state-burst": "get_state",
  "prompt-to-request": "prompt",
  "prompt-cpu": "prompt",
  "read-turn-system-calls": "prompt",
  "bash-turn": "prompt",
  "bash-command": "bash",
  "session-get-messages": "get_messages",
  "session-first-request": "prompt",
  "session-state": "get_state",
  "compacted-state": "get_state",
  "fork-messages": "get_fork_messages",
  "entries-since": "get_entries",
  "grep-none": "prompt",
  "grep-few": "prompt",
};

export interface RowProfile {
  readonly row: string;
  readonly command: string | undefined;
  readonly selfTimes: SelfTimes;
  readonly systemCalls: SystemCalls;
  /** The parts of the memory in MiB at the last measurement. */
  readonly memory: Readonly<Record<string, number>> | undefined;
}

/** Runs a scenario under the profiler, then under strace, and reports on some of its rows. */
export async function profileRows(
  scenario: Scenario,
  rows: readonly string[],
  contestant: Contestant,
): Promise<RowProfile[]> {
  const cpu = await observe(scenario, contestant, "cpu");
  using workspace = cpu.workspace;
  const counted = await observe(scenario, contestant, "system-calls");
  using countedWorkspace = counted.workspace;
  const systemCalls = new SystemCalls(countedWorkspace.systemCallTables());
  const profiles = workspace.profiles();
  return rows.map((row) => {
    const command = commandOf[row];
    const spans = workspace.observed
      .flatMap((child) => spansOf(child, command))
      .map(({ from, to }) => ({ from: Math.max(from, cpu.begun), to: Math.min(to, cpu.ended) }));
    const selfTimes = new SelfTimes();
    for (const profile of profiles) selfTimes.add(profile, spans);
    const memory = workspace.observed.findLast(({ memoryParts }) => memoryParts)?.memoryParts;
    return { row, command, selfTimes, systemCalls, memory };
  });
}

async function observe(scenario: Scenario, contestant: Contestant, observation: Observation) {
  await using server = await RemoteModelServer.start();
  const workspace = new ProfiledWorkspace(server.baseUrl, observation);
  const stage: Stage = { server, workspace, isQuick: false };
  const turn = await scenario.host(stage, contestant);
  // Everything takes many times as long under strace, and each turn makes the same calls, so one turn is enough.
  const isCounted = observation === "system-calls";
  const warmUps = isCounted ? 0 : (scenario.warmUps ?? 1);
  for (let warmUp = 0; warmUp < warmUps; warmUp++) await turn();
  const begun = now();
  for (let round = 0; round < (isCounted ? 1 : scenario.rounds); round++) await turn();
  const ended = now();
  await workspace.stop();
  return { workspace, begun, ended };
}
