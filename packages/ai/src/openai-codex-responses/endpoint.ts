/** Where requests go; a base URL may name the backend, Codex's part of it, or the operation itself. */
export function codexEndpoint(base: string): { readonly baseUrl: string; readonly path: string } {
  const url = base.replace(/\/+$/, "").replace(/\/responses$/, "");
  return /\/codex$/.test(url)
    ? { baseUrl: url, path: "/responses" }
    : { baseUrl: url, path: "/codex/responses" };
}
