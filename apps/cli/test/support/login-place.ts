import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { browse, LoginServer } from "../../../../packages/coding-agent/test/logins/login-server.ts";
import { makePlace, type Place } from "./place.ts";

/** A user whose models.json sends all logins to a local server, and models to `baseUrl` if it is given. */
export async function loginPlace(
  baseUrl?: string,
): Promise<{ readonly server: LoginServer; readonly place: Place }> {
  const server = await new LoginServer().start();
  const address = baseUrl === undefined ? {} : { baseUrl };
  const entries = Object.entries(server.overrides);
  const providers = Object.fromEntries(entries.map(([id, login]) => [id, { login, ...address }]));
  const place = makePlace({ files: { "agent/models.json": JSON.stringify({ providers }) } });
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    place.remove();
  });
  return { server, place };
}

/** The contents of the user's auth.json. */
export const stored = ({ folder }: Place): Record<string, Record<string, unknown>> => {
  const path = join(folder, "agent/auth.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
};

/** A simulated browser that visits the page printed by a login once. */
export function printedPageReader(): (stdout: string) => Promise<void> {
  let hasOpened = false;
  return async (stdout) => {
    const [, url, code] = /log in:\n(\S+)\n(?:Enter the code: (\S+)\n)?$/.exec(stdout) ?? [];
    if (url === undefined || hasOpened) return;
    hasOpened = true;
    await browse(pageOf(url, code), code);
  };
}

/** OpenAI's page asks for the code; the local server finds it in the address. */
export function pageOf(url: string, code: unknown): string {
  return url.endsWith("/device-page") ? `${url}?code=${code}` : url;
}
