import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { ConnectionClosedError } from "../base/errors.ts";

export interface TokenOptions {
  readonly token?: string;
  /** A file with the token; for local addresses, `rpc-token` of the agent directory by default. */
  readonly tokenFile?: string;
}

/**
 * The token for an address: the given one, the one in a file or, for this machine, the one in the agent
 * directory. A Unix socket needs none.
 *
 * @throws {ConnectionClosedError} if there is none
 */
export function findToken(url: string, { token, tokenFile }: TokenOptions): string | undefined {
  if (url.startsWith("unix:")) return undefined;
  if (token !== undefined) return token;
  if (tokenFile === undefined && !isLoopback(new URL(url).hostname)) {
    // The user's own token must not be sent to other machines.
    const text = `Connecting to ${url} needs a token or a tokenFile`;
    throw new ConnectionClosedError(text, {}, { code: "no_token" });
  }
  const { PI_CODING_AGENT_DIR: directory = join(homedir(), ".pi", "agent") } = env;
  const path = tokenFile ?? join(directory.replace(/^~(?=\/|$)/, homedir()), "rpc-token");
  try {
    return readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new ConnectionClosedError(
      `Could not read the token from ${path}`,
      {},
      { cause, code: "no_token" },
    );
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}
