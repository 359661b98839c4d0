import type { SubagentHost, SubagentHostRequest } from "@tau-agent/coding-agent";
import { RpcClient, RpcError } from "@tau-agent/rpc-client";
import type { ProcessEnvironment } from "./environment.ts";

/** A subagent's host has this long for an orderly end; then it is killed. */
const STOP_GRACE_MS = 1500;
const KILL_AFTER_MS = 500;

/** Starts this program once more, or what `task.command` says, and drives it over the protocol. */
export async function startSubagentHost(
  { command, args, cwd, onEvent }: SubagentHostRequest,
  { program, variables, agentDirectory }: ProcessEnvironment,
): Promise<SubagentHost> {
  const env = { ...variables, PI_CODING_AGENT_DIR: agentDirectory };
  const client = new RpcClient({ command: command ?? program, args, cwd, env });
  client.onEvent(onEvent);
  const stop = async (): Promise<void> => {
    await client.stop({ graceMs: STOP_GRACE_MS, killAfterMs: KILL_AFTER_MS });
  };
  await client.start();
  let sessionFile: string | undefined;
  return {
    get sessionFile() {
      return sessionFile;
    },
    prompt: async (text) => {
      try {
        const result = await client.promptAndWait(text);
        const status = result.status === "aborted" ? "aborted" : "completed";
        return { status, text: result.text };
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        return { status: "error", text: "", error: error.message };
      } finally {
        sessionFile ??= (await client.getState().catch(() => undefined))?.sessionFile;
      }
    },
    setBudget: async (limits) => {
      await client.setBudget(limits);
    },
    stop,
  };
}
