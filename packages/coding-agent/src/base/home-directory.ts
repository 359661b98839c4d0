import { homedir, userInfo } from "node:os";

/** What the operating system is asked. */
interface HomeSource {
  homedir(): string;
  userInfo(): { readonly homedir: string };
}

/**
 * The user's folder. Containers run with an empty HOME, or with none as a user nobody knows; then it is
 * the root, as for a shell, and whoever writes there hears that it cannot be written.
 */
export function findHomeDirectory(source: HomeSource = { homedir, userInfo }): string {
  return attempt(() => source.homedir()) || attempt(() => source.userInfo().homedir) || "/";
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
