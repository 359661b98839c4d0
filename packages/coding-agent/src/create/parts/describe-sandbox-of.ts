import type { SandboxInfo } from "@tau-agent/rpc-protocol";
import { type SandboxChange, SettingsStore } from "@tau-agent/system";

/**
 * The sandbox that a session in a folder would have, for a host that has no session yet.
 *
 * @throws {SessionError} `invalid_settings`, `invalid_option`
 */
export async function describeSandboxOf({
  agentDirectory,
  cwd,
  environment,
  sandbox: given,
}: {
  readonly agentDirectory: string;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Replaces the sandbox of the user's settings. */
  readonly sandbox?: SandboxChange | undefined;
}): Promise<SandboxInfo> {
  const [{ settleSandbox }, { describeSandbox }] = await Promise.all([
    import("@tau-agent/system/sandbox-settings"),
    import("@tau-agent/system/describe-sandbox"),
  ]);
  const { sandboxFiles, isProjectTrusted } = await SettingsStore.load({ agentDirectory, cwd });
  const { policy } = settleSandbox(sandboxFiles, { isProjectTrusted, given });
  return describeSandbox({ policy }, environment);
}
