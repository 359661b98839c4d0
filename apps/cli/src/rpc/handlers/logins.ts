import { logInBySession, loginProviders } from "@tau-agent/coding-agent";
import type { loginCommands } from "@tau-agent/rpc-protocol/commands";
import type { HostHandlers } from "./contexts.ts";

export const loginHandlers = {
  get_login_providers: async ({ session }) => ({ providers: await loginProviders(session) }),
  login: async ({ session }, { provider, method }) => {
    await logInBySession(session, provider, method);
    return undefined;
  },
} satisfies Pick<HostHandlers, keyof typeof loginCommands>;
