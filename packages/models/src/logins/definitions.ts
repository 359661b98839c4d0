import type { LoginDefinition } from "./login-definition.ts";

interface LoginRow {
  readonly name: string;
  /** Default true. */
  readonly takesKey?: boolean;
  readonly load: () => Promise<LoginDefinition>;
}

/** The built-in logins, by provider. Their code is loaded on first use. */
export const loginRows: Readonly<Record<string, LoginRow>> = {
  "openai-codex": {
    name: "ChatGPT (Codex)",
    takesKey: false,
    load: async () => (await import("./codex.ts")).codexLogin,
  },
  "github-copilot": {
    name: "GitHub Copilot",
    takesKey: false,
    load: async () => (await import("./copilot.ts")).copilotLogin,
  },
  "kimi-coding": {
    name: "Kimi For Coding",
    load: async () =>
      (await import("./device-grant.ts")).deviceGrantLogin({
        clientId: "17e5f671-d194-4dfb-9706-5516cb48c098",
        endpoints: {
          device: "https://auth.kimi.com/api/oauth/device_authorization",
          token: "https://auth.kimi.com/api/oauth/token",
        },
      }),
  },
  xai: {
    name: "xAI (SuperGrok)",
    load: async () =>
      (await import("./device-grant.ts")).deviceGrantLogin({
        clientId: "b1a00492-073a-47ea-816f-4c329264a828",
        scope: "openid profile email offline_access grok-cli:access api:access",
        endpoints: {
          device: "https://auth.x.ai/oauth2/device/code",
          token: "https://auth.x.ai/oauth2/token",
        },
      }),
  },
};

/** The row of a provider; only own rows count, because a provider may be called `constructor`. */
export function loginRowOf(provider: string): LoginRow | undefined {
  return Object.hasOwn(loginRows, provider) ? loginRows[provider] : undefined;
}
