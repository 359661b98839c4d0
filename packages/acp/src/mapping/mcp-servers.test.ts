import { expect, it } from "vitest";
import { mcpEntries } from "./mcp-servers.ts";

it("maps an editor's servers to entries of mcp.json with unique names", () => {
  const pair = { name: "KEY", value: "secret" };
  expect(
    mcpEntries([
      { name: "files", command: "/bin/files", args: ["--root", "/"], env: [pair] },
      { type: "http", name: "web", url: "https://x.org/mcp", headers: [pair] },
      { type: "sse", name: "web", url: "https://x.org/sse", headers: [] },
      { name: "toString", command: "c", args: [], env: [] },
    ]),
  ).toEqual({
    files: { command: "/bin/files", args: ["--root", "/"], env: { KEY: "secret" } },
    web: { type: "http", url: "https://x.org/mcp", headers: { KEY: "secret" } },
    "web-2": { type: "sse", url: "https://x.org/sse", headers: {} },
    toString: { command: "c", args: [], env: {} },
  });
});
