export interface NamedFiles {
  /** Full outputs, patches and other artifacts. */
  readonly files: readonly string[];
  /** Session files of subagents, with the names of their parts in the store. */
  readonly logs: readonly { readonly path: string; readonly part: string }[];
}

const none: NamedFiles = { files: [], logs: [] };

/** The members of a task's result, and of values in it, that name a file. */
const resultMembers = [
  ["outputPath"],
  ["patchPath"],
  ["patch", "path"],
  ["commits", "path"],
  ["leftOut", "keptAt"],
  ["verification", "attempts", "commandResults", "artifactPath"],
] as const;

/** The type of the custom entries with a session's records about its subagents. */
export const SUBAGENT_ENTRY = "subagent";

/** The host's own files that an entry names. Texts are not searched, because the host did not write them. */
export function namedFiles(entry: object): NamedFiles {
  if (member(entry, "customType") === SUBAGENT_ENTRY) return filesOfSubagent(member(entry, "data"));
  const message = member(entry, "message");
  switch (member(message, "role")) {
    case "bashExecution":
      return { files: textsAt(message, ["fullOutputPath"]), logs: [] };
    case "toolResult":
      return filesOfResult(message);
    default:
      return none;
  }
}

export function partName(toolCallId: string, id: string): string {
  return ["subagents", toolCallId, id].map((name) => encoded(name)).join("/");
}

/** Only for an ended subagent: the file of a running one is incomplete, and its log is written separately. */
function filesOfSubagent(record: unknown): NamedFiles {
  if (member(record, "status") === "running") return none;
  const part = partName(String(member(record, "toolCallId")), String(member(record, "id")));
  return {
    files: textsAt(record, ["keptPatch"]),
    logs: textsAt(record, ["sessionFile"]).map((path) => ({ path, part })),
  };
}

function filesOfResult(message: unknown): NamedFiles {
  const details = member(message, "details");
  const files = ["fullOutputPath", "keptFiles"].flatMap((name) => textsAt(details, [name]));
  if (member(message, "toolName") !== "task") return { files, logs: [] };
  const results = member(details, "results");
  const all = Array.isArray(results) ? results : [];
  const call = String(member(message, "toolCallId"));
  const artifacts = all.flatMap((result) => resultMembers.flatMap((way) => textsAt(result, way)));
  const logs = all.flatMap((result) =>
    textsAt(result, ["sessionFile"]).map((path) => ({
      path,
      part: partName(call, String(member(result, "id"))),
    })),
  );
  return { files: [...new Set([...files, ...artifacts])], logs };
}

/** The strings at the end of a path of members; lists on the path are followed into each of their items. */
function textsAt(value: unknown, [name, ...rest]: readonly string[]): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => textsAt(item, [name ?? "", ...rest]));
  const found = member(value, name ?? "");
  if (rest.length > 0) return textsAt(found, rest);
  const texts: unknown[] = Array.isArray(found) ? found : [found];
  return texts.filter((text): text is string => typeof text === "string" && text !== "");
}

function member(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}

function encoded(name: string): string {
  return encodeURIComponent(name.toWellFormed());
}
