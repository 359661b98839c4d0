import { PI_CLIENT_VERSION, PI_VERSION, VERSION } from "./version.ts";

/** The version for the caller, which may be a client of pi, an extension that starts pi, or a user. */
export function shownVersion(program: string): string {
  if (/(^|[/\\])pi(\.js)?$/.test(program)) return PI_CLIENT_VERSION;
  if (/[/\\]pi-coding-agent[/\\]dist[/\\]cli\.js$/.test(program)) return PI_VERSION;
  return VERSION;
}
