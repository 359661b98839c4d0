import { SessionError } from "@tau-agent/rpc-protocol/plain";

const refusals = ["subagent_not_found", "subagent_not_running", "subagent_running"] as const;

/** Adds the whole path of a nested subagent to a refusal from its host. */
export function nestedRefusal<Value>(
  work: Promise<Value> | undefined,
  subagentId: string,
): Promise<Value> | undefined {
  return work?.catch((error: unknown) => {
    const refusal = refusals.find((code) => code === Reflect.get(Object(error), "code"));
    throw refusal === undefined ? error : new SessionError(refusal, { subagentId });
  });
}
