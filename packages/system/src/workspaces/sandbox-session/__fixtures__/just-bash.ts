import { createJustBashSandbox } from "@ai-sdk/sandbox-just-bash";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { fromSandboxSession } from "../from-sandbox-session.ts";

/** A sandbox of the AI SDK that runs in this process, with a file system in memory. */
export async function justBashWorkspace(): Promise<Workspace> {
  const session = (await createJustBashSandbox({}).createSession()).restricted();
  return fromSandboxSession(session, { id: "sandbox", cwd: "/home/user" });
}
