import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nextLike } from "./next-like.ts";
import type { PlaceSetup } from "./place.ts";
import { makePlace } from "./place.ts";
import { startHost } from "./start-host.ts";

/** A host that listens on a Unix socket and on a port of its own. */
export async function listeningHost(
  setup: PlaceSetup = {},
  { isMany = true, command }: { isMany?: boolean; command?: readonly string[] } = {},
) {
  const place = makePlace(setup);
  const folder = join(place.folder, "sockets");
  mkdirSync(folder, { mode: 0o700 });
  const socket = `unix:${join(folder, "tau.sock")}`;
  const many = isMany ? ["--sessions"] : [];
  const listen = ["--listen", socket, "--listen", "127.0.0.1:0"];
  const own = { ...place, arguments: [...place.arguments, ...many, ...listen] };
  const host = startHost(setup, { place: own, ...(command && { command }) });
  const { url: unixUrl } = await nextLike(host, { type: "listening" });
  const { url, tokenFile } = await nextLike(host, { type: "listening" });
  const token = readFileSync(String(tokenFile), "utf8").trim();
  return {
    host,
    place,
    unixUrl: String(unixUrl),
    url: String(url),
    http: String(url).replace("ws:", "http:"),
    token,
    tokenFile: String(tokenFile),
  };
}
