/** How the model reaches a server's tools: declared, found by `tool_search`, or not at all. */
export type McpExposure = "direct" | "deferred" | "hidden";

export type McpSource = "user" | "project" | "session" | "extension";

export type McpTransportKind = "stdio" | "http" | "sse";

interface EntryBase {
  readonly timeoutMs: number;
  readonly isEnabled: boolean;
  readonly exposure: McpExposure | undefined;
  /** By tool name or pattern with `*`, in the order of the file. */
  readonly toolExposure: readonly (readonly [pattern: string, exposure: McpExposure])[];
  readonly description: string | undefined;
  /** Whether the server may ask for replies of the model, subject to approval. */
  readonly allowsSampling: boolean;
  /** Whether its tools' own hints that they only read are trusted; only in the user's own file. */
  readonly trustsHints: boolean;
}

export interface StdioEntry extends EntryBase {
  readonly transport: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | undefined;
  /** Whether it keeps no state between requests, so that sessions may share it. */
  readonly isStateless: boolean;
}

export interface OAuthEntry {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly clientName?: string | undefined;
  readonly clientMetadataUrl?: string | undefined;
  readonly clientRegistration?: "auto" | "dcr" | "cimd" | undefined;
  readonly callbackPort?: number | undefined;
  readonly callbackUrl?: string | undefined;
  readonly scope?: string | undefined;
  readonly authServerMetadataUrl?: string | undefined;
}

export interface HttpEntry extends EntryBase {
  readonly transport: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth: OAuthEntry;
}

/** An entry of `mcpServers`, checked, its variables not yet expanded. */
export type McpEntry = StdioEntry | HttpEntry;

export interface McpServerConfig {
  readonly name: string;
  readonly source: McpSource;
  readonly entry: McpEntry;
}
