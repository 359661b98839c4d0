import { defineSubcommand } from "../command-line/define-subcommand.ts";

export const auth = defineSubcommand({
  name: "auth",
  summary: "Log in to model providers, store keys, and check what there is",
  usage: [
    "login [<provider>] [--method oauth|device|key]",
    "logout <provider>",
    "check [<provider>]",
  ],
  actions: {
    login: "Logs in; prints the page to open. A key is one line on stdin",
    logout: "Removes what auth.json has for a provider",
    check: "Shows where keys and logins come from; exit code 1 when a named one has none",
  },
  options: {
    method: {
      value: "how",
      help: "oauth: a browser here; device: a code for any browser; key: from stdin",
    },
  },
  maxWords: 1,
  notes: "Without a terminal, a code is used where the provider has one. Logins of pi work, too.",
  run: async (line, context) => {
    const { authCommand } = await import("../auth/auth-command.ts");
    return authCommand(line, context);
  },
});
