import { connect } from "node:net";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import { boundedBytes } from "@tau-agent/system";

/** Larger than any list of models. */
const maxBytes = 4 * 1024 * 1024;

export type Answer = Readonly<Record<string, unknown>>;

/** Sends a request to one server; undefined unless the answer is a JSON object of a reasonable size. */
export type Ask = (path: string, body?: object) => Promise<Answer | undefined>;

export interface AskOptions {
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

export function askAt(origin: string, { fetch, signal }: AskOptions): Ask {
  return async (path, body) => {
    const post = { method: "POST", headers: { "content-type": "application/json" } };
    try {
      const response = await fetch(`${origin}${path}`, {
        signal,
        redirect: "error",
        ...(body && { ...post, body: JSON.stringify(body) }),
      });
      if (!response.ok || response.body === null) {
        await response.body?.cancel();
        return undefined;
      }
      const tooLarge = () => new Error("The answer is too long");
      const bytes = await boundedBytes(response.body, maxBytes, tooLarge);
      return asAnswer(JSON.parse(bytes.toString("utf8")));
    } catch {
      // There is no server, or it speaks another protocol, or it is too slow.
      return undefined;
    }
  };
}

export function asAnswer(value: unknown): Answer | undefined {
  return isJsonObject(value) ? value : undefined;
}

/**
 * Whether something listens at the origin. Checked first, because most machines have no server, and
 * this loads no code.
 */
export function listens(origin: string, signal: AbortSignal): Promise<boolean> {
  const { hostname, port, protocol } = new URL(origin);
  const standardPort = protocol === "https:" ? 443 : 80;
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({ host, port: port === "" ? standardPort : Number(port) });
    const end = (isThere: boolean) => {
      signal.removeEventListener("abort", giveUp);
      socket.destroy();
      resolve(isThere);
    };
    const giveUp = () => end(false);
    signal.addEventListener("abort", giveUp);
    socket.once("connect", () => end(true));
    socket.once("error", () => end(false));
  });
}
