import type { AuthMethod, ClientCapabilities, InitializeResponse } from "@agentclientprotocol/sdk";

/** The only version of the protocol that Tau speaks, whatever the client requests. */
const VERSION = 1;

export interface AgentInfo {
  readonly name: string;
  readonly title: string;
  readonly version: string;
}

export function initializeResponse(
  agentInfo: AgentInfo,
  client: ClientCapabilities | undefined,
): InitializeResponse {
  return {
    protocolVersion: VERSION,
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: {
        list: {},
        resume: {},
        close: {},
        delete: {},
        additionalDirectories: {},
      },
      auth: { logout: {} },
    },
    authMethods: authMethods(client),
    agentInfo: { ...agentInfo },
  };
}

/** The ways to get a key. Only a client with a terminal can show a login. */
export function authMethods(client: ClientCapabilities | undefined): AuthMethod[] {
  const keys = {
    id: "keys",
    name: "API keys",
    description:
      "Uses the keys there are: environment variables such as ANTHROPIC_API_KEY, auth.json, or " +
      "models.json for a server of your own.",
  };
  if (client?.auth?.terminal !== true) return [keys];
  const login = {
    id: "login",
    name: "Log in",
    description: "Logs in to a provider in a terminal.",
    type: "terminal" as const,
    args: ["auth", "login"],
  };
  return [keys, login];
}
