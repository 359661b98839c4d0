import type { SandboxInfo } from "@tau-agent/rpc-protocol";
import type { SandboxParts } from "./open-sandbox.ts";
import { noSandbox } from "./policy/sandbox-settings.ts";
import { checkSandbox } from "./sandbox-check.ts";

/** Describes a session's sandbox and whether this machine supports it, which is tested unless it is already known. */
export async function describeSandbox(
  { policy = noSandbox, check }: SandboxParts,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<SandboxInfo> {
  const found = check ?? (await checkSandbox(environment));
  const { available, mechanism, reason, remedy } = found;
  return {
    available,
    mechanism,
    mode: policy.mode,
    network: typeof policy.network === "string" ? policy.network : [...policy.network],
    ...(reason === undefined ? {} : { reason }),
    ...(remedy === undefined ? {} : { remedy }),
  };
}
