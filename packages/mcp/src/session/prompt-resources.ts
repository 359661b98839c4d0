import type { Attachment } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { fitsPattern } from "../config/exposure.ts";
import type { McpServer } from "../connection/server.ts";
import { boundContent } from "../tools/bounded-content.ts";
import type { KeepData } from "../tools/result-content.ts";

/** The contents of a resource, as sent by the server. */
export async function readContents(server: McpServer, uri: string): Promise<JsonObject[]> {
  const { timeoutMs } = server.config.entry;
  const result = await server.request("resources/read", { uri }, { timeoutMs });
  return Array.isArray(result.contents) ? result.contents.filter(isJsonObject) : [];
}

/** A server's resource that a user attaches to a prompt: each of its contents becomes a file. */
export async function attachResource(
  server: McpServer,
  uri: string,
  keep: KeepData,
): Promise<Attachment[]> {
  const { name } = server.config;
  const contents = await readContents(server, uri);
  // Images need code that most prompts do not use.
  const { resourceContent } = await import("../tools/result-content.ts");
  const context = { server: name, keep, canRead: true };
  const shown = [];
  for (const content of contents) shown.push(await resourceContent(content, context));
  if (shown.length === 0) shown.push({ type: "text" as const, text: "" });
  const { content } = await boundContent(shown, keep);
  return content.map((block, index): Attachment => {
    const id = `${name}:${uri}${index === 0 ? "" : `#${index + 1}`}`;
    if (block.type === "image") {
      const { data, mimeType } = block;
      const size = Buffer.byteLength(data, "base64");
      return { id, type: "image", fileName: uri, mimeType, size, content: data };
    }
    const { text } = block;
    const file = { fileName: uri, mimeType: "text/plain", size: Buffer.byteLength(text) };
    return { id, type: "document", ...file, content: "", extractedText: text };
  });
}

/** The first server that has a resource with this address, according to its list or a template. */
export async function serverWithResource(
  servers: readonly McpServer[],
  uri: string,
): Promise<McpServer | undefined> {
  const owners = await Promise.all(
    servers.map(async (server) => {
      const { timeoutMs } = server.config.entry;
      const limits = { timeoutMs };
      const [resources, templates] = await Promise.all([
        server.list("resources/list", "resources", limits).catch(() => []),
        server.list("resources/templates/list", "resourceTemplates", limits).catch(() => []),
      ]);
      const isListed = resources.some((one) => isJsonObject(one) && one.uri === uri);
      const fits = (one: unknown): boolean =>
        isJsonObject(one) && typeof one.uriTemplate === "string" && matches(one.uriTemplate, uri);
      return isListed || templates.some(fits) ? server : undefined;
    }),
  );
  return owners.find((server) => server !== undefined);
}

/** Whether an address can come from a template. A template without its own scheme would claim every address. */
function matches(template: string, uri: string): boolean {
  const pattern = template.replace(/\{[^{}]*\}/g, "*");
  return /^[a-z][a-z\d+.-]*:/i.test(pattern) && fitsPattern(pattern, uri);
}
