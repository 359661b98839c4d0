import type { CatalogueEntry } from "../tools/catalogue.ts";
import type { McpServerInfo } from "./environment.ts";

export function toolInfo({ name, tool, exposure }: CatalogueEntry): McpServerInfo["tools"][number] {
  const { annotations, ui } = tool;
  return {
    name,
    serverName: tool.name,
    exposure,
    ...(annotations === undefined ? {} : { annotations }),
    ...(ui === undefined ? {} : { _meta: { ui } }),
  };
}
