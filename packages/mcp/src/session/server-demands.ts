import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { McpServerConfig } from "../config/server-entry.ts";
import type { ServerDemands } from "../connection/connection.ts";
import type { McpServer } from "../connection/server.ts";
import type { OpenCalls } from "../tools/open-calls.ts";
import { askElicitation } from "./elicitation.ts";
import type { McpEnvironment } from "./environment.ts";
import type { ServerNotes } from "./server-notes.ts";

export interface DemandContext {
  readonly environment: McpEnvironment;
  readonly calls: OpenCalls;
  readonly notes: ServerNotes;
  readonly server: () => McpServer;
}

export function serverDemands(
  { name, source, entry }: McpServerConfig,
  { environment, calls, notes, server }: DemandContext,
): Omit<ServerDemands, "onListChanged"> {
  const { requests, sample, emit } = environment;
  const folders = environment.foldersOf(source);
  const callOf = (signal: AbortSignal) => {
    const call = calls.only(server());
    return {
      toolCallId: call?.toolCallId,
      promptId: environment.promptId(),
      signal: call === undefined ? signal : AbortSignal.any([signal, call.signal]),
    };
  };
  return {
    roots:
      folders &&
      (() =>
        folders().map((folder) => ({ uri: pathToFileURL(folder).href, name: basename(folder) }))),
    elicit: async (params, signal) => ({
      ...(await askElicitation({ server: name, params, ...callOf(signal) }, requests, (text) =>
        notes.add(name, text),
      )),
    }),
    sample: entry.allowsSampling
      ? (params, signal) => sample({ server: name, params, ...callOf(signal) })
      : undefined,
    onElicited: (elicitationId) =>
      emit({ type: "mcp_elicitation_complete", server: name, elicitationId }),
    onLog: (level, text) => notes.log(name, level, text),
  };
}
