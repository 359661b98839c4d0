import type { AgentTool } from "@tau-agent/agent";
import { exposureOf } from "../config/exposure.ts";
import type { McpExposure } from "../config/server-entry.ts";
import { isForAppOnly, type RemoteTool } from "../connection/remote.ts";
import type { McpServer } from "../connection/server.ts";
import { cleanLine } from "../names/clean-text.ts";
import { localNames } from "../names/tool-names.ts";
import { readToolSchema } from "../names/tool-schema.ts";
import { createServerTool } from "./server-tool.ts";
import type { ToolServices } from "./services.ts";

export interface CatalogueEntry {
  readonly name: string;
  readonly server: McpServer;
  readonly tool: RemoteTool;
  readonly exposure: McpExposure;
  /** Undefined if the tool is hidden. */
  readonly made: AgentTool | undefined;
}

export interface CatalogueOptions extends ToolServices {
  /** Whether a request has declared a tool with this name, so that it must not change any more. */
  readonly isDeclared: (name: string) => boolean;
  /** How many tokens direct tools may take before those without an exposure are deferred. */
  readonly maxDirectTokens: () => number;
  readonly note: (server: string, message: string) => void;
}

/** The approximate number of characters per token in a declaration. */
const CHARACTERS_PER_TOKEN = 4;

interface Candidate {
  readonly server: McpServer;
  readonly tool: RemoteTool;
  readonly parameters: Record<string, unknown>;
  readonly exposure: McpExposure | undefined;
}

/**
 * The tools of all servers of a session, sorted by server, then in listed order. A declared tool keeps
 * its name and its bytes, whatever the server says later.
 */
export class Catalogue {
  readonly #options: CatalogueOptions;
  #fallbackExposure: McpExposure = "direct";
  /** Keyed by server and by the server's name for the tool. */
  #entries: ReadonlyMap<string, CatalogueEntry> = new Map();

  constructor(options: CatalogueOptions) {
    this.#options = options;
  }

  /** Every tool that can be offered, hidden ones included. */
  get entries(): readonly CatalogueEntry[] {
    return [...this.#entries.values()];
  }

  /** The exposure of tools whose entries do not set one. */
  get fallbackExposure(): McpExposure {
    return this.#fallbackExposure;
  }

  get tools(): readonly AgentTool[] {
    return this.entries.flatMap(({ made }) => made ?? []);
  }

  update(servers: readonly McpServer[]): void {
    const sorted = [...servers].sort((a, b) => compare(a.config.name, b.config.name));
    const candidates = sorted.flatMap((server) => this.#candidatesOf(server));
    const names = this.#namesOf(candidates);
    const fallback = this.#fallback(candidates);
    this.#fallbackExposure = fallback;
    const entries = new Map<string, CatalogueEntry>();
    for (const [index, candidate] of candidates.entries()) {
      const { server, tool } = candidate;
      const name = names[index];
      const key = keyOf(candidate);
      if (name === undefined) {
        this.#leaveOut(server, tool, "its name cannot be told from that of another tool");
        continue;
      }
      const known = this.#declared(key, server);
      entries.set(key, known ?? this.#make(candidate, name, candidate.exposure ?? fallback));
    }
    this.#entries = entries;
  }

  #candidatesOf(server: McpServer): Candidate[] {
    const known = new Set<string>();
    return server.tools.flatMap((tool) => {
      if (known.has(tool.name)) {
        this.#leaveOut(server, tool, "the server has another tool of this name");
        return [];
      }
      known.add(tool.name);
      const read = readToolSchema(tool.inputSchema);
      if ("reason" in read) {
        this.#leaveOut(server, tool, read.reason);
        return [];
      }
      const exposure = isForAppOnly(tool) ? "hidden" : exposureOf(server.config.entry, tool.name);
      return [{ server, tool, parameters: read.schema, exposure }];
    });
  }

  /** Declared names stay with their owners. */
  #namesOf(candidates: readonly Candidate[]): readonly (string | undefined)[] {
    const fixed = candidates.map(
      (candidate) => this.#declared(keyOf(candidate), candidate.server)?.made?.name,
    );
    const taken = new Set(fixed.filter((name) => name !== undefined));
    const free = candidates.filter((_, index) => fixed[index] === undefined);
    const remote = free.map(({ server, tool }) => ({
      server: server.config.name,
      tool: tool.name,
    }));
    const given = [...localNames(remote, taken)];
    return fixed.map((name) => name ?? given.shift());
  }

  #declared(key: string, server: McpServer): CatalogueEntry | undefined {
    const entry = this.#entries.get(key);
    const isKept = entry?.made !== undefined && this.#options.isDeclared(entry.made.name);
    return isKept && entry.server === server ? entry : undefined;
  }

  /** Tools without an exposure in their entry are direct as long as all direct tools together are small. */
  #fallback(candidates: readonly Candidate[]): McpExposure {
    const isDirect = ({ exposure }: Candidate) => exposure === undefined || exposure === "direct";
    const lengths = candidates.filter(isDirect).map(({ tool, parameters }) => {
      const { name, description = "" } = tool;
      return name.length + description.length + JSON.stringify(parameters).length;
    });
    const tokens = lengths.reduce((sum, length) => sum + length, 0) / CHARACTERS_PER_TOKEN;
    return tokens > this.#options.maxDirectTokens() ? "deferred" : "direct";
  }

  #make(
    { server, tool, parameters }: Candidate,
    name: string,
    exposure: McpExposure,
  ): CatalogueEntry {
    if (exposure === "hidden") return { name, server, tool, exposure, made: undefined };
    const isDeferred = exposure === "deferred";
    const parts = { name, server, tool, parameters, isDeferred };
    return { name, server, tool, exposure, made: createServerTool(parts, this.#options) };
  }

  #leaveOut({ config }: McpServer, { name }: RemoteTool, reason: string): void {
    const shown = cleanLine(name, 100);
    this.#options.note(config.name, `has a tool "${shown}" that is left out: ${reason}`);
  }
}

function keyOf({ server, tool }: Pick<Candidate, "server" | "tool">): string {
  return `${server.config.name}\0${tool.name}`;
}

/** Compares by code units, because the order must not depend on the machine's language. */
function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}
