import type { StreamOptions } from "../provider.ts";

const accountHeader = "chatgpt-account-id";

/** The headers of this backend; the caller's headers take precedence. */
export function codexHeaders(options: StreamOptions): Record<string, string> {
  const { apiKey = "", headers = {}, sessionId } = options;
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === accountHeader);
  const account = isNamed ? undefined : accountOf(apiKey);
  return {
    "openai-beta": "responses=experimental",
    originator: "tau",
    ...(account !== undefined && { [accountHeader]: account }),
    ...(sessionId && { "session-id": sessionId, "x-client-request-id": sessionId }),
  };
}

function accountOf(token: string): string | undefined {
  try {
    const [, payload = ""] = token.split(".");
    const bytes = Uint8Array.from(
      atob(payload.replaceAll("-", "+").replaceAll("_", "/")),
      (character) => character.charCodeAt(0),
    );
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const auth: unknown = Reflect.get(Object(claims), "https://api.openai.com/auth");
    const account: unknown = Reflect.get(Object(auth), "chatgpt_account_id");
    return typeof account === "string" && /^[\x21-\x7e]+$/.test(account) ? account : undefined;
  } catch {
    return undefined;
  }
}
