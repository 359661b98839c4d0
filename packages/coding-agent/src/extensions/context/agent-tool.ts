import type { AgentTool } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ExtensionContext } from "../api/context.ts";
import { ExtensionError } from "../api/errors.ts";
import type { ExtensionToolResult } from "../api/tool.ts";
import type { OwnedTool } from "../hooks/runner.ts";
import type { UiPort } from "../ui/ui-port.ts";
import { createToolContext, type NestedTools } from "./nested-tools.ts";

interface ToolSurroundings extends NestedTools {
  /** Runs code so that dialogs it opens name the call. */
  readonly during?: UiPort["during"] | undefined;
}

export function agentToolOf(
  { tool, extension }: OwnedTool,
  context: ExtensionContext,
  nested: ToolSurroundings,
): AgentTool {
  const { name, description, promptSnippet, promptGuidelines } = tool;
  const isReadOnly = tool.readOnly ?? tool.annotations?.readOnlyHint === true;
  const isParallel =
    tool.executionMode === undefined ? isReadOnly : tool.executionMode === "parallel";
  return {
    name,
    label: tool.label ?? name,
    description: description ?? "",
    parameters: jsonSchemaOf(tool.parameters),
    isReadOnly,
    isParallel,
    openWorld: tool.openWorld === true,
    ...(promptSnippet === undefined ? {} : { promptSnippet }),
    ...(promptGuidelines === undefined ? {} : { promptGuidelines }),
    ...(tool.prepareArguments === undefined
      ? {}
      : { prepareArguments: (received) => tool.prepareArguments?.(received) ?? received }),
    execute: async (args, { toolCallId, signal, onUpdate }) => {
      const update = (partial: ExtensionToolResult): void => onUpdate(toolResultOf(partial));
      const surroundings = createToolContext(context, nested, signal);
      const work = async () => tool.execute(toolCallId, args, signal, update, surroundings);
      const result = await (nested.during?.(toolCallId, work) ?? work());
      if (!Array.isArray(result?.content)) {
        const text = `The tool ${name} of ${extension.path} returned no content`;
        throw new ExtensionError("handler_failed", text);
      }
      return toolResultOf(result);
    },
  };
}

interface StandardSchema {
  readonly "~standard"?: {
    readonly jsonSchema?: { readonly input?: (options: { target: string }) => object };
  };
}

/** A plain copy, so that a schema library's internal markers are not sent to a vendor. */
function jsonSchemaOf(parameters: object): Readonly<Record<string, unknown>> {
  const standard = (parameters as StandardSchema)["~standard"]?.jsonSchema;
  const given = standard?.input?.({ target: "draft-07" }) ?? parameters;
  const schema = JSON.parse(JSON.stringify(given)) as Record<string, unknown>;
  return schema.type === undefined ? { type: "object", ...schema } : schema;
}

function toolResultOf(result: ExtensionToolResult): ToolResult {
  return {
    content: [...result.content],
    ...(result.details === undefined ? {} : { details: result.details }),
    ...(result.structuredContent === undefined
      ? {}
      : { structuredContent: result.structuredContent }),
    ...(result.isError === undefined ? {} : { isError: result.isError }),
    ...(result.terminate === undefined ? {} : { terminate: result.terminate }),
    ...(result.usage === undefined ? {} : { usage: result.usage }),
  };
}
