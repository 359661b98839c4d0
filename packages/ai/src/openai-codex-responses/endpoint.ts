/** The endpoint for requests; a base URL may name the backend, its Codex path, or the operation itself. */
export function codexEndpoint(base: string): { readonly baseUrl: string; readonly path: string } {
  const url = base.replace(/\/+$/, "").replace(/\/responses$/, "");
  return /\/codex$/.test(url)
    ? { baseUrl: url, path: "/responses" }
    : { baseUrl: url, path: "/codex/responses" };
}
