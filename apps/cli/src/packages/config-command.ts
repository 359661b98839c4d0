import { join } from "node:path";
import { checkSetting, SettingsStore } from "@tau-agent/coding-agent";
import { nearestHint, parseJson } from "@tau-agent/rpc-protocol/plain";
import { isSettingKey, settingKeys } from "@tau-agent/system";
import type { CommandContext } from "../command-line/subcommand.ts";
import { refuse } from "../command-line/values.ts";

export interface ConfigRequest {
  readonly action: string;
  readonly words: readonly string[];
  readonly isLocal: boolean;
}

export async function configCommand(
  { action, words: [key, text], isLocal }: ConfigRequest,
  { environment, print }: CommandContext,
): Promise<number> {
  const { agentDirectory, cwd } = environment;
  const settings = await SettingsStore.load({ agentDirectory, cwd, isProjectTrusted: true });
  const path = join(isLocal ? join(cwd, ".pi") : agentDirectory, "settings.json");
  if (action === "show") {
    if (key !== undefined) refuse(key, "tau config show takes no setting; use tau config get");
    const set = settingKeys.filter(isSettingKey).filter((name) => settings.has(name));
    const lines = set.map((name) => `${name} = ${JSON.stringify(settings.get(name))}`);
    print(`${[path, ...lines].join("\n")}\n`);
    return 0;
  }
  if (key === undefined) return refuse(`tau config ${action}`, "name a setting");
  if (!isSettingKey(key)) {
    const hint = nearestHint(key, settingKeys) || "; tau help settings lists them";
    return refuse(key, `there is no such setting${hint}`);
  }
  if (action === "get") {
    print(`${JSON.stringify(settings.get(key)) ?? "null"}\n`);
    return 0;
  }
  if (action === "set" && text === undefined) refuse(`tau config set ${key}`, "name a value");
  if (action === "unset" && text !== undefined) refuse(text, "it is one word too many");
  // JSON, or plain text, so that a model's name needs no double quotes inside shell quotes.
  const value = action === "set" ? parseJson(text ?? "", text) : undefined;
  if (action === "set") await checkSetting(key, value, path);
  await settings.save(isLocal ? "project" : "user", { [key]: value });
  print(action === "set" ? `Set ${key} in ${path}\n` : `Removed ${key} from ${path}\n`);
  return 0;
}
