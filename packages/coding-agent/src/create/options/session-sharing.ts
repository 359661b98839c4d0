import { Connections, createStream, type StreamFunction, WireSchemas } from "@tau-agent/ai";
import { McpPool } from "@tau-agent/mcp";
import { KeptModels } from "@tau-agent/models";
import { type KnownKeys, LastKept, type ProtectedFiles } from "@tau-agent/system";
import { LanguageServers } from "../../diagnostics/language-servers.ts";
import { FolderTurns } from "../../durability/folder-turns.ts";

/**
 * What sessions with the same object share: MCP servers whose entries say `stateless`, the language servers of a
 * folder, and, with `durability: "effects"`, the order in which changing calls of a folder run. They also share the
 * content of unchanged files, the schemas of tools, and the connections to models.
 */
export class SessionSharing {
  readonly mcpPool = new McpPool();
  readonly languageServers = new LanguageServers();
  readonly folderTurns = new FolderTurns();
  readonly keptModels = new KeptModels();
  readonly knownKeys = new LastKept<KnownKeys>();
  readonly protectedFiles = new LastKept<ProtectedFiles>();
  readonly #schemas = new WireSchemas();
  readonly #connections = new Connections();

  /** A session's function that sends requests to models. */
  createStream(): StreamFunction {
    return createStream({ schemas: this.#schemas, connections: this.#connections });
  }
}
