import { unsupported, unsupportedClass } from "./unsupported.ts";

/** What stands in for the family's agent loop; ours runs the session and is not for hire here. */
export async function loadFamilyAgent(): Promise<object> {
  return {
    ...(await import("@tau-agent/agent")),
    Agent: unsupportedClass("Agent"),
    agentLoop: unsupported("agentLoop"),
    agentLoopContinue: unsupported("agentLoopContinue"),
    streamProxy: unsupported("streamProxy"),
  };
}

/** The few utilities of a relative of the family that extensions import. */
export function familyUtilities(): object {
  const silent = (): void => {};
  return { logger: { debug: silent, info: silent, warn: silent, error: silent } };
}
