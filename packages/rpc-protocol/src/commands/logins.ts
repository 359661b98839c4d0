import * as z from "zod/mini";
import { LoginMethod, LoginProvider } from "../vocabulary/login.ts";
import { command } from "./command.ts";

/** Logins of model providers. */
export const loginCommands = {
  get_login_providers: command({
    summary: "Lists the providers to log in to, and whether the user is logged in.",
    result: () =>
      z.object({
        /** The providers, those with a login first. */
        providers: z.array(LoginProvider),
      }),
  }),
  login: command({
    summary:
      "Logs in to a model provider: the page, and the code to type in there, arrive as host request `open_url`. Answered when the login is stored.",
    params: () =>
      z.object({
        /** The id of the provider. */
        provider: z.optional(z.string()),
        /** The same as `provider`, under the name that clients of oh-my-pi 18 use. */
        providerId: z.optional(z.string()),
        /** By default `device` if the provider supports it, because the browser may be on another machine. */
        method: z.optional(LoginMethod),
      }),
    result: () =>
      z.object({
        /** The id of the provider. */
        providerId: z.string(),
      }),
    positional: ["provider", "method"],
    takesLong: true,
  }),
};
