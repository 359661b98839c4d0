import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";

/** A tool as its server describes it; none of it is trusted. */
export interface RemoteTool {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly inputSchema: unknown;
  readonly annotations: JsonObject | undefined;
  /** The data that a client needs to show the tool's app (MCP Apps), as sent by the server. */
  readonly ui?: JsonObject | undefined;
}

interface RemoteArgument {
  readonly name: string;
  readonly isRequired: boolean;
}

export interface RemotePrompt {
  readonly name: string;
  readonly description: string | undefined;
  readonly arguments: readonly RemoteArgument[];
}

export function readTool(value: unknown): RemoteTool | undefined {
  if (!isJsonObject(value) || typeof value.name !== "string") return undefined;
  const annotations = isJsonObject(value.annotations) ? value.annotations : undefined;
  return {
    name: value.name,
    title: text(value.title) ?? text(annotations?.title),
    description: text(value.description),
    inputSchema: value.inputSchema,
    annotations,
    ui: uiOf(value),
  };
}

/** The `_meta.ui` of a tool or a result. */
export function uiOf({ _meta: meta }: JsonObject): JsonObject | undefined {
  return isJsonObject(meta) && isJsonObject(meta.ui) ? meta.ui : undefined;
}

/** Whether a tool is only for the app, not for the model. */
export function isForAppOnly({ ui }: RemoteTool): boolean {
  const visibility = ui?.visibility;
  return Array.isArray(visibility) && visibility.length > 0 && !visibility.includes("model");
}

export function readPrompt(value: unknown): RemotePrompt | undefined {
  if (!isJsonObject(value) || typeof value.name !== "string") return undefined;
  const given = Array.isArray(value.arguments) ? value.arguments.filter(isJsonObject) : [];
  return {
    name: value.name,
    description: text(value.description) ?? text(value.title),
    arguments: given.flatMap(({ name, required }) =>
      typeof name === "string" ? [{ name, isRequired: required === true }] : [],
    ),
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
