import type { SlashCommandInfo } from "../api/api.ts";
import type { SourceInfo } from "../api/tool.ts";
import type { Extension } from "./registration.ts";

export function sourceInfoOf({ file, path }: Extension): SourceInfo {
  const { scope, package: from } = file;
  return from === undefined
    ? { path, source: "local", scope, origin: "top-level" }
    : { path, source: from.source, scope, origin: "package", baseDir: from.root };
}

/** A skill or template in the form for extensions, with its source. */
export function withSourceInfo(info: SlashCommandInfo): SlashCommandInfo {
  const { location, path = "" } = info;
  const scope = location === "user" || location === "project" ? location : "temporary";
  return { ...info, sourceInfo: { path, source: "local", scope, origin: "top-level" } };
}
