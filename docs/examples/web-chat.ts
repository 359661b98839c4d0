// A chat in the browser, with a host per user: node docs/examples/web-chat.ts
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hostCommand } from "@tau-agent/rpc-client";

/** Where conversations are kept: a user's goes on after the server was restarted. */
const folder = process.env.CHAT_FOLDER ?? join(tmpdir(), "tau-web-chat");

const script = (name: string) => fileURLToPath(import.meta.resolve(name));
/** The page, and what it imports. */
const files: Readonly<Record<string, readonly [type: string, path: string]>> = {
  "/": ["text/html", join(import.meta.dirname, "web-chat.html")],
  "/client.js": ["text/javascript", script("@tau-agent/rpc-client/browser")],
  "/markup.js": ["text/javascript", script("@tau-agent/rpc-client/markup")],
};

/** Where a page finds its user's host. */
interface Place {
  readonly url: string;
  readonly token: string;
  readonly pid: number | undefined;
}

const places = new Map<string, Promise<Place>>();

/** The host of a user. It outlives this process, and ends some time after its last page has gone. */
async function placeOf(user: string, origin: string): Promise<Place> {
  const known = await places.get(user)?.catch(() => undefined);
  if (known !== undefined && (await isThere(known))) return known;
  const place = findHost(user, origin);
  places.set(user, place);
  return place;
}

async function findHost(user: string, origin: string): Promise<Place> {
  const home = join(folder, user);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const note = join(home, "host.json");
  try {
    const before = JSON.parse(readFileSync(note, "utf8")) as Place;
    if (await isThere(before)) return before;
  } catch {
    // It has none yet.
  }
  const token = ["--token-file", join(home, "token")];
  const listen = ["--listen", "127.0.0.1:0", "--allow-origin", origin, ...token];
  const [program, ...words] = hostCommand({
    // For a real model, leave these two out; your keys and settings count then.
    provider: "scripted",
    model: `${import.meta.dirname}/web-chat.json`,
    permissions: "ask",
    args: ["--sessions", "--end-with-sessions", "--session-dir", home, ...listen],
  });
  const host = spawn(program, words, { stdio: ["ignore", "pipe", "ignore"], detached: true });
  const [line] = await Promise.race([
    once(host.stdout, "data"),
    once(host, "exit").then(() => Promise.reject(new Error("The host did not start"))),
  ]);
  host.stdout.destroy();
  host.unref();
  const { url, tokenFile } = JSON.parse(String(line)) as { url: string; tokenFile: string };
  const place = { url, token: readFileSync(tokenFile, "utf8").trim(), pid: host.pid };
  writeFileSync(note, JSON.stringify(place), { mode: 0o600 });
  return place;
}

async function isThere({ url }: Place): Promise<boolean> {
  const found = await fetch(`${url.replace("ws", "http")}/healthz`).catch(() => undefined);
  return found?.ok === true;
}

/** A cookie alone proves nothing: a real server looks up the user who has logged in. */
function userOf(request: IncomingMessage, response: ServerResponse): string {
  const known = /(?:^|; )user=([\da-f-]{36})(?:;|$)/.exec(request.headers.cookie ?? "")?.[1];
  const user = known ?? randomUUID();
  response.setHeader("set-cookie", `user=${user}; Max-Age=31536000; HttpOnly; SameSite=Strict`);
  return user;
}

const server = createServer(async (request, response) => {
  const user = userOf(request, response);
  const { host, "sec-fetch-site": site } = request.headers;
  try {
    const [type, path] = files[request.url ?? ""] ?? [];
    if (type !== undefined && path !== undefined) {
      response.writeHead(200, { "content-type": `${type}; charset=utf-8` });
      response.end(readFileSync(path));
    } else if (request.url === "/host" && site !== "cross-site") {
      response.end(JSON.stringify(await placeOf(user, `http://${host}`)));
    } else response.writeHead(404).end();
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
