import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { UserContent } from "@tau-agent/rpc-protocol/messages";
import type { CommandSource } from "../../resources/list-commands.ts";
import type { ToolContext } from "./context.ts";

/** What a tool of an extension returns. */
export interface ExtensionToolResult {
  readonly content: readonly UserContent[];
  /** For clients; not seen by the model. */
  readonly details?: unknown;
  readonly isError?: boolean | undefined;
  /** Ends the run if every result of the reply's calls asks for it. */
  readonly terminate?: boolean | undefined;
  readonly usage?: ToolResult["usage"];
  readonly structuredContent?: unknown;
}

/** Reports the output so far. */
type ToolUpdate = (partial: ExtensionToolResult) => void;

/** A tool as an extension registers it. */
export interface ExtensionTool<Parameters = Record<string, unknown>> {
  readonly name: string;
  readonly label?: string | undefined;
  readonly description: string;
  /** JSON Schema of an object, such as TypeBox creates, or a Standard Schema that converts to one (zod). */
  readonly parameters: object;
  /** One line for the system prompt's list of tools. */
  readonly promptSnippet?: string | undefined;
  /** Rules for the system prompt while the tool is active. */
  readonly promptGuidelines?: readonly string[] | undefined;
  execute(
    toolCallId: string,
    params: Parameters,
    signal: AbortSignal | undefined,
    onUpdate: ToolUpdate | undefined,
    context: ToolContext,
  ): ExtensionToolResult | Promise<ExtensionToolResult>;
  /** Converts what a model sent before it is validated. */
  prepareArguments?(received: Record<string, unknown>): Record<string, unknown>;
  /** `parallel` lets adjacent calls run together; `sequential` by default. */
  readonly executionMode?: "sequential" | "parallel" | undefined;
  /** Whether it changes nothing: permissions allow it without a question. */
  readonly readOnly?: boolean | undefined;
  /** Whether results may contain text by others: models receive them in a fence, as data. */
  readonly openWorld?: boolean | undefined;
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined } | undefined;
  /** `false` registers the tool without activating it; `true` by default. */
  readonly defaultActive?: boolean | undefined;
  readonly outputSchema?: object | undefined;
  readonly exposure?: unknown;
  /** Kept but never called: only a terminal renders. */
  readonly renderCall?: unknown;
  readonly renderResult?: unknown;
  readonly renderShell?: unknown;
}

/** An entry in the list of `getAllTools`. */
export interface ToolInfo {
  readonly name: string;
  readonly description: string;
  readonly parameters: object;
  readonly promptGuidelines?: readonly string[] | undefined;
  readonly sourceInfo: SourceInfo;
}

/** Where a registered item comes from. */
export type SourceInfo = CommandSource;
