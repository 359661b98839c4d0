const KEY = "tau-console-token";

/**
 * The token of this tab: from its storage, or in exchange for the code in the link that opened it. The code
 * is removed from the address at once. A tab's storage is not sent anywhere and ends with the tab.
 */
export async function tokenOfTab(): Promise<string | undefined> {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (code === null) return sessionStorage.getItem(KEY) ?? undefined;
  history.replaceState(null, "", location.pathname);
  const response = await fetch("/console/session", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  const { token } = (await response.json()) as { token?: string };
  // Opening an old link again in the same tab must not discard the tab's token.
  if (token === undefined) return sessionStorage.getItem(KEY) ?? undefined;
  sessionStorage.setItem(KEY, token);
  return token;
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}
