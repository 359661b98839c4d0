import { expect, it } from "vitest";
import { callTool, fixtureEntry, fixtureTool, textOf, workspaceForEach } from "./mcp-session.ts";

const workspace = workspaceForEach();
const ui = {
  resourceUri: "ui://app/page",
  visibility: ["model", "app"],
  csp: { connectDomains: [] },
};
const ofApp = { resourceUri: "ui://app/page", visibility: ["app"] };
const tools = [
  fixtureTool("app", { _meta: { ui, other: 1 } }),
  fixtureTool("refresh", { _meta: { ui: ofApp } }),
  fixtureTool("initialized"),
];

async function openApps() {
  await workspace().configure({
    apps: fixtureEntry({ tools, resources: [{ uri: "ui://app/page", name: "page" }] }),
  });
  return workspace().openReady();
}

it("passes an app's tools to clients with the metadata to show it, unchanged", async () => {
  const session = await openApps();
  const [server] = (await session.mcp.list()).servers;
  expect(server?.tools).toMatchObject([
    { serverName: "app", exposure: "direct", _meta: { ui } },
    { serverName: "refresh", exposure: "hidden", _meta: { ui: ofApp } },
    { serverName: "initialized", exposure: "direct" },
  ]);
  expect(server?.tools[0]?._meta).toEqual({ ui });
  expect(server?.tools[2]).not.toHaveProperty("_meta");
});

it("does not offer app-only tools to the model", async () => {
  const names = (await openApps()).activeTools.map(({ name }) => name);
  expect(names).toContain("mcp__apps__app");
  expect(names).not.toContain("mcp__apps__refresh");
});

it("keeps a result's _meta.ui in its details, without adding to the model's text", async () => {
  const session = await openApps();
  const result = await callTool(session, "mcp__apps__app");
  expect(textOf(result)).toBe("shown");
  expect(result.details).toMatchObject({ server: "apps", tool: "app" });
  const { _meta } = result.details as { _meta?: unknown };
  expect(_meta).toEqual({ ui: { resourceUri: "ui://app/page", csp: {} } });
});

it("tells servers that apps can be shown", async () => {
  const session = await openApps();
  const asked = JSON.parse(textOf(await callTool(session, "mcp__apps__initialized")));
  expect(asked.capabilities.extensions).toEqual({
    "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] },
  });
});

it("returns an app's page to the client exactly as the server sends it", async () => {
  const session = await openApps();
  const { contents } = await session.mcp.read({ server: "apps", uri: "ui://app/page" });
  expect(contents).toEqual([{ uri: "ui://app/page", mimeType: "text/plain", text: "the content" }]);
  const unknown = session.mcp.read({ server: "other", uri: "ui://app/page" });
  await expect(unknown).rejects.toMatchObject({ code: "mcp_server_not_found" });
});
