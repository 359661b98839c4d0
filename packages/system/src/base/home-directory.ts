import { homedir, userInfo } from "node:os";
import { attempt } from "./attempt.ts";

interface HomeSource {
  homedir(): string;
  userInfo(): { readonly homedir: string };
}

/**
 * The user's folder. Containers may run with an empty HOME, or without HOME as an unknown user.
 * Then it is the root, as in a shell, and writing there fails with an error.
 */
export function findHomeDirectory(source: HomeSource = { homedir, userInfo }): string {
  return attempt(() => source.homedir()) || attempt(() => source.userInfo().homedir) || "/";
}
