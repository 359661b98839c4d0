import * as z from "zod/mini";

/** How a user logs in: in a browser on the host's machine, with a code on any machine, or with a key. */
export const LoginMethod = z.enum(["oauth", "device", "key"]);
export type LoginMethod = z.infer<typeof LoginMethod>;

/** A provider that a user can log in to, or store a key for. */
export const LoginProvider = z.object({
  /** The id of the provider. */
  id: z.string(),
  /** Its name for users. */
  name: z.string(),
  /** The ways to log in; a `key` is stored by `tau auth login`, never over the protocol. */
  methods: z.array(LoginMethod),
  /** Whether auth.json has a login or a key for it. */
  loggedIn: z.boolean(),
  /** When the stored tokens expire, in ms since the epoch; the host renews them before that. */
  expires: z.optional(z.number()),
});
export type LoginProvider = z.infer<typeof LoginProvider>;
