import { join } from "node:path";
import type { PermissionRule } from "@tau-agent/rpc-protocol";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { SettingsStore } from "@tau-agent/system";
import type { QuestionsOptions } from "../../approvals/questions.ts";
import { type PermissionChange, readPermissions } from "../../permissions/permission-settings.ts";
import {
  type PermissionCeiling,
  SessionPermissions,
} from "../../permissions/session-permissions.ts";
import type { SessionDraft } from "./session-draft.ts";

/**
 * The initial permissions of a session.
 *
 * @throws {SessionError} `invalid_option`, naming the invalid member; `policy_denied`
 */
export function createPermissions(
  settings: SettingsStore,
  given: PermissionChange | undefined,
  ceiling: PermissionCeiling | undefined,
): SessionPermissions {
  const { change, problems } = readPermissions(given);
  const [problem] = problems;
  if (problem !== undefined) {
    const option = problem.field === "" ? "permissions" : `permissions.${problem.field}`;
    throw new SessionError("invalid_option", { option, reason: problem.reason });
  }
  return new SessionPermissions(settings, change, ceiling);
}

/**
 * Saves the rules of an answer, which apply at once. If the file cannot be changed, they apply to this session only.
 */
export function ruleSaver(draft: SessionDraft): QuestionsOptions["saveRules"] {
  const { settings, permissions, places } = draft.surroundings;
  return async (rules, saveTo) => {
    try {
      for (const rule of rules) {
        await save({ settings, agentDirectory: places.agentDirectory }, rule, saveTo);
      }
      permissions.refresh();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `The permission rule could not be saved: ${reason} It counts for this session.`;
      draft.parts.problems.note({ severity: "warning", code: "invalid_settings", message });
    }
    const known = new Set(permissions.state.rules.map(textOf));
    permissions.add(rules.filter((rule) => !known.has(textOf(rule))));
  };
}

async function save(
  { settings, agentDirectory }: { settings: SettingsStore; agentDirectory: string },
  rule: PermissionRule,
  saveTo: "user" | "project",
): Promise<void> {
  if (settings.agentDirectory !== "") {
    await settings.append(saveTo, "permissions.rules", rule);
    return;
  }
  // Settings from an embedder belong to no file; the answer may name the user's own file.
  const { saveSettings } = await import("@tau-agent/system/save-settings");
  const path = join(agentDirectory, "settings.json");
  await saveSettings(path, [{ key: "permissions.rules", appended: rule }]);
}

function textOf({ tool, match, action, afterUntrusted }: PermissionRule): string {
  return JSON.stringify([tool, match, action, afterUntrusted]);
}
