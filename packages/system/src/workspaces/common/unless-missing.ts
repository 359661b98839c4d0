import { isWorkspaceError } from "@tau-agent/rpc-protocol/workspace";

/** Undefined if nothing is there. */
export async function unlessMissing<Value>(work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isWorkspaceError(error, "not_found", "not_a_directory")) return undefined;
    throw error;
  }
}
