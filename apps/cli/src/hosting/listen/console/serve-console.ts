import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { fail, readObject, tell, wrongMethod } from "../http-answers.ts";
import type { ConsoleCodes } from "./console-codes.ts";

/** The folder in which the build places the files of the page. */
const files: Readonly<Record<string, { readonly name: string; readonly type: string }>> = {
  "/console": { name: "index.html", type: "text/html; charset=utf-8" },
  "/console/app.js": { name: "app.js", type: "text/javascript; charset=utf-8" },
  "/console/app.css": { name: "app.css", type: "text/css; charset=utf-8" },
};

export function isOfConsole(pathname: string): boolean {
  return pathname === "/console/session" || Object.hasOwn(files, pathname);
}

/** Serves the console's page and exchanges a code for a token. The page contains no secret, so it needs no token. */
export async function serveConsole(
  request: IncomingMessage,
  response: ServerResponse,
  { pathname, codes }: { readonly pathname: string; readonly codes: ConsoleCodes },
): Promise<void> {
  secure(response, request.headers.host ?? "");
  const file = files[pathname];
  if (file === undefined) return giveToken(request, response, codes);
  if (request.method !== "GET") return wrongMethod(response, "GET");
  const content = await readFile(new URL(`./console/${file.name}`, import.meta.url));
  response.writeHead(200, { "Content-Type": file.type, "Cache-Control": "no-cache" });
  response.end(content);
}

async function giveToken(
  request: IncomingMessage,
  response: ServerResponse,
  codes: ConsoleCodes,
): Promise<void> {
  const body = await readObject(request, response);
  if (body === undefined) return;
  const { code } = body.object;
  const token = typeof code === "string" ? codes.redeem(code) : undefined;
  if (token === undefined) {
    return fail(response, 401, "The code is wrong, was used, or is older than five minutes");
  }
  tell(response, 200, { token });
}

/** Nothing that a model writes runs in the page, is loaded by it, or can frame it. `host` has been checked. */
function secure(response: ServerResponse, host: string): void {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ws://${host}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  response.setHeader("Content-Security-Policy", policy.join("; "));
  response.setHeader("X-Frame-Options", "DENY");
  response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
  response.setHeader("Cross-Origin-Resource-Policy", "same-origin");
}
