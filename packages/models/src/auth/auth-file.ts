import { chmod } from "node:fs/promises";
import { isJsonObject, parseJson, SessionError } from "@tau-agent/rpc-protocol/plain";
import { parseJsonText, readTextFileNow, writeFileAtomic } from "@tau-agent/system";

export interface AuthFile {
  readonly text: string;
  readonly entries: ReadonlyMap<string, unknown>;
}

/**
 * Reads auth.json in order to change it.
 *
 * @throws {SessionError} `invalid_settings` when it does not parse
 */
export async function readAuthFile(path: string): Promise<AuthFile> {
  const file = readTextFileNow(path);
  const refuse = (reason: string): never => {
    throw new SessionError("invalid_settings", { path, reason });
  };
  if (file.kind === "missing") return { text: "{}\n", entries: new Map() };
  if (file.kind === "unreadable") return refuse(file.diagnostic.message);
  const parsed = await parseJsonText(file.text);
  if ("reason" in parsed) {
    return refuse(`it is not valid JSON (line ${parsed.line}: ${parsed.reason})`);
  }
  if (!isJsonObject(parsed.value)) return refuse("it must hold a JSON object");
  return { text: file.text, entries: new Map(Object.entries(parsed.value)) };
}

/**
 * Changes a provider's entry in auth.json; `undefined` removes it. All other content stays, including
 * comments. Only the owner can read the file.
 */
export async function writeAuthEntry(
  path: string,
  { text, entries }: AuthFile,
  [provider, entry]: readonly [string, unknown],
): Promise<void> {
  const next = new Map(entries);
  if (entry === undefined) next.delete(provider);
  else next.set(provider, entry);
  const plain = `${JSON.stringify(Object.fromEntries(next), null, 2)}\n`;
  const written = isPlainJson(text) ? plain : await edited(text, provider, entry);
  await writeFileAtomic(path, written);
  await chmod(path, 0o600);
}

function isPlainJson(text: string): boolean {
  return text.trim() === "" || parseJson(text) !== undefined;
}

/** Changes one member of a JSON text with comments. */
async function edited(text: string, provider: string, entry: unknown): Promise<string> {
  const { applyEdits, modify } = await import("jsonc-parser");
  const formattingOptions = { insertSpaces: true, tabSize: 2 };
  return applyEdits(text, modify(text, [provider], entry, { formattingOptions }));
}
