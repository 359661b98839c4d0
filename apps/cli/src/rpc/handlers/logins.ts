import { logInBySession, loginProviders } from "@tau-agent/coding-agent";
import type { Handlers } from "@tau-agent/rpc-protocol";
import type { loginCommands } from "@tau-agent/rpc-protocol/commands";
import type { Host } from "./host.ts";

export const loginHandlers = {
  get_login_providers: async ({ session }) => ({ providers: await loginProviders(session) }),
  login: async ({ session }, { provider, method }) => {
    await logInBySession(session, provider, method);
    return undefined;
  },
} satisfies Pick<Handlers<Host>, keyof typeof loginCommands>;
