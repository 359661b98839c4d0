import { logInBySession, loginProviders } from "@tau-agent/coding-agent";
import type { loginCommands } from "@tau-agent/rpc-protocol/commands";
import { ProtocolError } from "@tau-agent/rpc-protocol/plain";
import type { HostHandlers } from "./contexts.ts";

export const loginHandlers = {
  get_login_providers: async ({ session }) => ({ providers: await loginProviders(session) }),
  login: async ({ session }, { provider, providerId = provider, method }) => {
    if (providerId === undefined) {
      const reason = "name the provider";
      throw new ProtocolError("invalid_params", { command: "login", field: "provider", reason });
    }
    await logInBySession(session, providerId, method);
    return { providerId };
  },
} satisfies Pick<HostHandlers, keyof typeof loginCommands>;
