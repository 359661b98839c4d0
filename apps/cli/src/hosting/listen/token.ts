import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { errorMessage, ProtocolError } from "@tau-agent/rpc-protocol";

/** The permission bits that let anyone but the owner access a file. */
const OTHERS = 0o077;

/**
 * The token in a file; creates the file with a new token if it does not exist.
 *
 * @throws {ProtocolError} `invalid_option` if others can read the file or it contains no token
 */
export function readToken(path: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const token = randomBytes(32).toString("base64url");
    writeFileSync(path, `${token}\n`, { flag: "wx", mode: 0o600 });
    return token;
  } catch (error) {
    if (Object(error).code !== "EEXIST") refuse(path, errorMessage(error));
  }
  const file = openFile(path);
  try {
    const { mode, uid } = fstatSync(file);
    const isOwn = uid === (process.getuid?.() ?? uid) || uid === 0;
    if (!isOwn) refuse(path, "it belongs to another user");
    if (process.platform !== "win32" && (mode & OTHERS) !== 0) {
      refuse(path, `others can read it; run chmod 600 ${path}`);
    }
    const token = readFileSync(file, "utf8").trim();
    if (!/^[\x21-\x7e]{16,}$/.test(token)) {
      refuse(
        path,
        "expected a token of at least 16 characters without spaces; delete it for a new one",
      );
    }
    return token;
  } finally {
    closeSync(file);
  }
}

function openFile(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    return refuse(path, errorMessage(error));
  }
}

/** Makes the function that checks a client's token in constant time. */
export function tokenCheck(token: string): (given: string) => boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  const expected = digest(token);
  return (given) => timingSafeEqual(digest(given), expected);
}

function refuse(path: string, reason: string): never {
  throw new ProtocolError("invalid_option", { option: `--token-file ${path}`, reason });
}
