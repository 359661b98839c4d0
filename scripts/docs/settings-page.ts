import { settingsTable } from "../../packages/system/src/settings/schema.ts";
import { code, generated, table } from "./markdown.ts";

export function settingsPage(): string {
  const rows = Object.entries(settingsTable).map(([key, setting]) => [
    code(key),
    code(setting.type),
    setting.default === undefined ? "" : code(JSON.stringify(setting.default)),
    setting.description + (setting.scope === "user" ? " User file only." : ""),
  ]);
  return [
    generated("Settings"),
    "Settings are JSON with comments, in `settings.json` of the agent directory (yours) and of the",
    "project's `.pi` folder, which takes precedence once the project is trusted. Write keys nested or",
    "with dots.\n",
    table(["Key", "Type", "Default", "Meaning"], rows),
  ].join("\n");
}
