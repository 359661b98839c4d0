import { isJsonObject, SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { applyEdits, findNodeAtLocation, modify, type Node, parseTree } from "jsonc-parser";
import { withFileLock } from "../base/files/file-lock.ts";
import { parseJsonText } from "../base/files/read-json.ts";
import { readTextFile, type TextFile } from "../base/files/read-text.ts";
import { readTextIn } from "../base/files/read-text-in.ts";
import { writeFileAtomic } from "../base/files/write-file.ts";

/** The ways to write a dotted key as a path: every way to split it into names, the fewest dots first. */
function* spellings(parts: readonly string[]): Generator<string[]> {
  if (parts.length === 0) yield [];
  for (let length = 1; length <= parts.length; length += 1) {
    const name = parts.slice(0, length).join(".");
    for (const rest of spellings(parts.slice(length))) yield [name, ...rest];
  }
}

/** The path of `key` in the file, or its best place: below the deepest existing group. */
function placeOf(root: Node | undefined, key: string): string[] {
  const parts = key.split(".");
  if (root === undefined) return parts;
  let best = parts;
  let bestDepth = 0;
  for (const path of spellings(parts)) {
    if (findNodeAtLocation(root, path) !== undefined) return path;
    for (let depth = path.length - 1; depth > bestDepth; depth -= 1) {
      const group = findNodeAtLocation(root, path.slice(0, depth));
      if (group?.type !== "object") continue;
      best = path;
      bestDepth = depth;
      break;
    }
  }
  return best;
}

async function currentText(file: TextFile): Promise<string> {
  const { path } = file;
  if (file.kind === "missing") return "{}\n";
  if (file.kind === "unreadable") {
    const { message, reason = message } = file.diagnostic;
    throw new SessionError("invalid_settings", { path, reason });
  }
  if (file.text.trim() === "") return "{}\n";
  const parsed = await parseJsonText(file.text);
  if ("reason" in parsed) {
    const reason = `line ${parsed.line}: ${parsed.reason}; the file was left as it is`;
    throw new SessionError("invalid_settings", { path, reason });
  }
  if (isJsonObject(parsed.value)) return file.text;
  throw new SessionError("invalid_settings", { path, reason: "it must hold a JSON object" });
}

/** A key with its new value (`undefined` removes it), or with an entry to add to its list. */
export type SettingsChange =
  | { readonly key: string; readonly value: unknown }
  | { readonly key: string; readonly appended: unknown };

/**
 * Changes keys of a settings file under its lock; the file is read again first, so that changes of other
 * processes are kept. `undefined` removes a key.
 * @throws {SessionError} `invalid_settings` when the file does not parse, or has no list where an entry is
 * to be added; the file stays unchanged.
 */
export async function saveSettings(
  path: string,
  changes: readonly SettingsChange[],
): Promise<void> {
  await withFileLock(path, async (target) => {
    await writeFileAtomic(target, await changedText(await readTextFile(target), changes));
  });
}

/**
 * {@link saveSettings} for a file of a workspace, which has no locks: if two hosts write at the same
 * time, the last one wins.
 */
export async function saveSettingsIn(
  files: Pick<Workspace, "stat" | "read" | "write">,
  path: string,
  changes: readonly SettingsChange[],
): Promise<void> {
  const text = await changedText(await readTextIn(files, path), changes);
  await files.write(path, Buffer.from(text));
}

async function changedText(file: TextFile, changes: readonly SettingsChange[]): Promise<string> {
  let text = await currentText(file);
  for (const change of changes) text = changed(text, change, file.path);
  return text;
}

function changed(text: string, change: SettingsChange, path: string): string {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const place = placeOf(root, change.key);
  const formattingOptions = { insertSpaces: true, tabSize: 2 };
  const put = (at: (string | number)[], value: unknown, isArrayInsertion = false) =>
    applyEdits(text, modify(text, at, value, { formattingOptions, isArrayInsertion }));
  if ("value" in change) return put(place, change.value);
  const list = root && findNodeAtLocation(root, place);
  if (list === undefined) return put(place, [change.appended]);
  if (list.type !== "array") {
    const reason = `${change.key} must be a list; the file was left as it is`;
    throw new SessionError("invalid_settings", { path, reason });
  }
  return put([...place, list.children?.length ?? 0], change.appended, true);
}
