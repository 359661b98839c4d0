import { proxiedFetch } from "@tau-agent/models";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import { permissionProblem } from "../../permissions/permission-settings.ts";

/** A value for a member of a group of settings, and its settings file. */
interface CheckedValue {
  readonly member: string;
  readonly value: unknown;
  readonly path: string;
}

/** Validators for settings that the table does not validate itself, by group or key. */
const readers: Readonly<Record<string, (checked: CheckedValue) => unknown>> = {
  permissions: ({ member, value, path }) => {
    const problem = permissionProblem({ [member]: value });
    if (problem === undefined) return;
    const reason = `permissions.${problem.field}: ${problem.reason}`;
    throw new SessionError("invalid_settings", { path, reason });
  },
  sandbox: async ({ member, value, path }) => {
    const { settleSandbox } = await import("@tau-agent/system/sandbox-settings");
    const file = { path, scope: "user", value: { [member]: value } } as const;
    settleSandbox([file], { isProjectTrusted: true });
  },
  httpProxy: ({ value }) => proxiedFetch({ environment: {}, setting: () => String(value) })(),
};

/**
 * Refuses a value that the settings table accepts, but a start would not.
 *
 * @param path - the settings file for the value
 * @throws {SessionError} `invalid_settings` or `invalid_option`, as at the start
 */
export async function checkSetting(key: string, value: unknown, path: string): Promise<void> {
  const [group = "", ...members] = key.split(".");
  await readers[group]?.({ member: members.join("."), value, path });
}
