import { chmod } from "node:fs/promises";
import { join } from "node:path";
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { isJsonObject, SessionError } from "@tau-agent/rpc-protocol/plain";
import { readJsonFile, withFileLock, writeFileAtomic } from "@tau-agent/system";

/** The data kept for a server, in the form of other pi-compatible hosts. */
export interface McpAuthState {
  readonly serverUrl: string;
  readonly clientInformation?: StoredOAuthClientInformation | undefined;
  readonly tokens?: StoredOAuthTokens | undefined;
  /** In ms since the epoch. */
  readonly tokensExpireAt?: number | undefined;
  readonly discovery?: OAuthDiscoveryState | undefined;
}

/** The logins of MCP servers: `mcp-auth.json`, mode 0600, by server name and address. */
export class McpAuthStore {
  readonly path: string;

  constructor(agentDirectory: string) {
    this.path = join(agentDirectory, "mcp-auth.json");
  }

  /** The login of a server, read each time because another process may have renewed it. */
  async load(name: string, url: URL): Promise<McpAuthState | undefined> {
    const file = await readJsonFile(this.path);
    return file.kind === "object" ? stateOf(file.value, name, url) : undefined;
  }

  /**
   * Changes the login of a server; `undefined` removes it. Other entries stay unchanged.
   *
   * @throws {SessionError} `invalid_settings` if the file does not parse; it stays unchanged
   */
  async change(
    name: string,
    url: URL,
    edit: (state: McpAuthState) => McpAuthState | undefined,
  ): Promise<void> {
    await withFileLock(this.path, async (target) => {
      const file = await readJsonFile(target);
      if (file.kind === "unreadable") {
        const { message } = file.diagnostic;
        throw new SessionError("invalid_settings", { path: this.path, reason: message });
      }
      const entries = new Map(Object.entries(file.kind === "object" ? file.value : {}));
      const state = stateOf(Object.fromEntries(entries), name, url) ?? { serverUrl: url.href };
      const next = edit(state);
      // Older versions stored logins by address alone.
      entries.delete(url.href);
      if (next === undefined) entries.delete(keyOf(name, url));
      else entries.set(keyOf(name, url), next);
      await writeFileAtomic(target, `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`);
      await chmod(target, 0o600);
    });
  }

  /** Runs work while no other process runs such work for this server. */
  async alone<Result>(name: string, url: URL, work: () => Promise<Result>): Promise<Result> {
    const { createHash } = process.getBuiltinModule("node:crypto");
    const hash = createHash("sha256").update(keyOf(name, url)).digest("hex").slice(0, 16);
    return withFileLock(`${this.path}.${hash}`, work);
  }
}

function keyOf(name: string, url: URL): string {
  return `mcp__${name.replaceAll("-", "_")}|${url.href}`;
}

function stateOf(
  entries: Readonly<Record<string, unknown>>,
  name: string,
  url: URL,
): McpAuthState | undefined {
  const { [keyOf(name, url)]: own, [url.href]: older } = entries;
  const state = own ?? older;
  if (!isJsonObject(state)) return undefined;
  return { ...state, serverUrl: url.href } as McpAuthState;
}
