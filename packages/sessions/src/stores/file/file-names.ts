import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "@tau-agent/system";
import type { SessionKey } from "../../log/store/session-store.ts";
import { checkName, keyText } from "../common/keys.ts";

const MAX_NAME_BYTES = 200;
/** The beginning of session file names made by hosts. */
const stamp = String.raw`\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_`;
const hostName = new RegExp(`^${stamp}(.+)\\.jsonl$`);

export interface KeyFiles {
  readonly project: string;
  /** The folder beside the session file, for files that hosts do not read. */
  readonly side: string;
  /** The prefix of the key's files in {@link side}. */
  readonly prefix: string;
  readonly session: string;
  /** The log of a subpath. A session's own log is looked up in {@link project}. */
  readonly log: string | undefined;
}

/** Where a key's files are in a session folder whose layout hosts without a store also understand. */
export function filesOf(directory: string, key: SessionKey): KeyFiles {
  keyText(key);
  const session = sessionName(key.sessionId);
  const project = projectFolder(directory, key.projectKey);
  const side = join(project, ".store", session);
  if (key.subpath === undefined) {
    return { project, side, session, prefix: join(side, "session"), log: undefined };
  }
  const prefix = join(side, `part-${hash(key.subpath)}`);
  return { project, side, session, prefix, log: `${prefix}.jsonl` };
}

/** The folder of a project: the one that a host uses, if the key is the name of such a folder. */
export function projectFolder(directory: string, projectKey: string): string {
  checkName("projectKey", projectKey);
  return join(directory, isPlain(projectKey) ? projectKey : `~${hash(projectKey)}`);
}

/** The session file of a session in its project's folder; undefined if there is none. */
export function findLog(project: string, session: string): string | undefined {
  const name = sessionFiles(project).find((name) => sessionNameOf(name) === session);
  return name === undefined ? undefined : join(project, name);
}

export function sessionFiles(project: string): string[] {
  return attempt(() => readdirSync(project).filter((name) => name.endsWith(".jsonl"))) ?? [];
}

/** The part of the file name that identifies the session: its id, or a hash of an unusual id. */
export function sessionNameOf(fileName: string): string {
  return hostName.exec(fileName)?.[1] ?? fileName.slice(0, -".jsonl".length);
}

/** Whether the name contains only a hash of the id. */
export function isHashed(name: string): boolean {
  return name.startsWith("~");
}

function sessionName(sessionId: string): string {
  return isPlain(sessionId) && !hostName.test(`${sessionId}.jsonl`)
    ? sessionId
    : `~${hash(sessionId)}`;
}

/** Whether a text can be used as a file name without colliding with another text. */
function isPlain(text: string): boolean {
  if (Buffer.byteLength(text) > MAX_NAME_BYTES || /^[.~]|[. ]$/.test(text)) return false;
  // File systems of other systems treat `A` as `a`, and different spellings of `é` as the same.
  if (process.platform !== "linux") return /^[a-z0-9._-]+$/.test(text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a name must not contain
  return !/[/\u0000-\u001f]/.test(text) && Buffer.from(text).toString() === text;
}

function hash(text: string): string {
  // JSON distinguishes lone surrogates, UTF-8 does not.
  return createHash("sha256").update(JSON.stringify(text)).digest("hex");
}
