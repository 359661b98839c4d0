import type { AuthProvider } from "@modelcontextprotocol/client";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { McpServerConfig } from "../config/server-entry.ts";
import { boundedFetch } from "../connection/bounded-fetch.ts";
import { clientErrorKind, reasonOf } from "../connection/failures.ts";
import type { LoginTarget, OpenContext } from "../connection/open-server.ts";
import { resolveAddress } from "../connection/resolve-entry.ts";
import { McpAuthStore } from "./auth-store.ts";
import { logIn } from "./login-flow.ts";
import { type Challenge, createServerTokens, type ServerTokens } from "./server-tokens.ts";

export interface LoginsOptions {
  readonly agentDirectory: string;
  /** Shows a page to the user; rejects if the user refuses. */
  readonly open: (url: string, server: string) => Promise<void>;
  readonly timeoutMs?: number | undefined;
}

const LOGIN_MS = 300_000;
const NO_REGISTRATION =
  "it registers no clients. Name one in oauth.clientId of its entry, or give a token in headers; " +
  "many servers need no login";

export function createMcpLogins(options: LoginsOptions) {
  const challenges = new Map<string, Challenge>();
  const tokens = new Map<string, ServerTokens>();
  const store = new McpAuthStore(options.agentDirectory);

  async function targetOf(config: McpServerConfig, context: OpenContext): Promise<LoginTarget> {
    const { name: server, entry } = config;
    if (entry.transport === "stdio") {
      const reason = "it is a program and has no login";
      throw new SessionError("mcp_login_failed", { server, reason });
    }
    const { url, oauth, headers } = await resolveAddress({ ...config, entry }, context);
    if (Object.keys(headers).some((name) => name.toLowerCase() === "authorization")) {
      const reason = "its headers already hold an Authorization";
      throw new SessionError("mcp_login_failed", { server, reason });
    }
    return { server, url, oauth, fetch: boundedFetch(context.fetch) };
  }

  return {
    /** The tokens for an address. All its connections share one object, so that one renewal serves them all. */
    providerFor(target: LoginTarget): AuthProvider {
      const key = `${target.server}\0${target.url.href}\0${JSON.stringify(target.oauth)}`;
      const known = tokens.get(key);
      if (known !== undefined) return known;
      const made = createServerTokens(target, store, (challenge) => {
        challenges.set(target.server, challenge);
      });
      tokens.set(key, made);
      return made;
    },
    /** Notes the missing scope for which a server refused a request. */
    noteRefusal(server: string, error: unknown): void {
      const { requiredScope, resourceMetadataUrl } = Object(error) as {
        requiredScope?: string;
        resourceMetadataUrl?: URL;
      };
      if (requiredScope === undefined) return;
      challenges.set(server, { scope: requiredScope, resourceMetadataUrl });
    },
    /** @throws {SessionError} `mcp_login_failed` */
    async login(config: McpServerConfig, context: OpenContext): Promise<void> {
      const { name } = config;
      try {
        const target = await targetOf(config, context);
        await logIn(target, {
          store,
          challenge: challenges.get(name),
          open: (url) => options.open(url, name),
          timeoutMs: options.timeoutMs ?? LOGIN_MS,
        });
        challenges.delete(name);
      } catch (error) {
        if (error instanceof SessionError) throw error;
        const reason = isUnregistered(error) ? NO_REGISTRATION : reasonOf(error);
        throw new SessionError("mcp_login_failed", { server: name, reason }, { cause: error });
      }
    },
    async logout(config: McpServerConfig, context: OpenContext): Promise<void> {
      const { server, url } = await targetOf(config, context);
      await store.change(server, url, () => undefined);
    },
  };
}

export type McpLogins = ReturnType<typeof createMcpLogins>;

/** Whether the server does not let clients register themselves. */
function isUnregistered(error: unknown): boolean {
  const { status } = Object(error) as { status?: unknown };
  return (
    clientErrorKind(error) === "RegistrationRejectedError" && (status === 404 || status === 405)
  );
}
