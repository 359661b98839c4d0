import { type DiagnosticsEntry, isDiagnosticsEntry } from "./diagnostics-entry.ts";
import { entries, flag, list, period } from "./setting.ts";

/** What the agent sees beyond files: problems after changes, and web pages. */
export const sightSettings = {
  "diagnostics.entries": entries<DiagnosticsEntry>(
    isDiagnosticsEntry,
    "list of {match, command, format?} or {match, server, languageId?}",
    "Commands and language servers that look for new problems in files after edit and write.",
  ),
  diagnosticsTimeoutMs: period(5_000, "How long edit and write wait for new problems, in ms."),

  "web.fetch": flag(false, "Whether the model may fetch web pages, with the tool web_fetch."),
  "web.allow": list(
    [],
    "Hosts, as example.com or *.example.com, that the host fetches although their addresses are not on the public internet, or through a proxy.",
    { scope: "user" },
  ),
} as const;
