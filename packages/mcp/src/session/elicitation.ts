import { schemaExcess } from "@tau-agent/agent";
import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Answer, HostRequests } from "@tau-agent/system";
import { isSafeAddress } from "../config/read-oauth-entry.ts";
import { cleanText } from "../names/clean-text.ts";
import type { ServerQuestion } from "./environment.ts";

export interface ElicitationAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: JsonObject;
}

const MAX_MESSAGE = 8000;
const actions: ReadonlySet<unknown> = new Set(["accept", "decline", "cancel"]);
const cancelled: ElicitationAnswer = { action: "cancel" };

export async function askElicitation(
  elicitation: ServerQuestion,
  requests: HostRequests,
  note: (message: string) => void,
): Promise<ElicitationAnswer> {
  const { server, params, toolCallId, promptId, signal } = elicitation;
  const isPage = params.mode === "url";
  const url = String(params.url ?? "");
  if (isPage && !isSafeAddress(url)) {
    note("wants an address opened that is neither https nor on this machine; it was refused");
    return cancelled;
  }
  const schema = isJsonObject(params.requestedSchema) ? params.requestedSchema : {};
  const excess = schemaExcess(schema);
  if (excess !== undefined) {
    note(`asks with a form whose schema ${excess}; it was cancelled`);
    return cancelled;
  }
  const id = params.elicitationId;
  const closed = await requests.ask<ElicitationAnswer>({
    method: "elicitation",
    params: {
      server,
      message: cleanText(String(params.message ?? ""), MAX_MESSAGE),
      mode: isPage ? "url" : "form",
      ...(isPage ? { url } : { requestedSchema: schema }),
      ...(typeof id === "string" ? { elicitationId: id } : {}),
    },
    toolCallId,
    promptId,
    signal,
    onTimeout: "cancel",
    unanswered: "cancelled",
    read: (result) => readAnswer(result, isPage ? undefined : schema),
  });
  return closed.result ?? cancelled;
}

function readAnswer(given: unknown, schema: JsonObject | undefined): Answer<ElicitationAnswer> {
  const { action, content = {} } = Object(given) as { action?: unknown; content?: unknown };
  if (!actions.has(action)) {
    return { field: "result.action", reason: "expected accept, decline or cancel" };
  }
  const answer = { action } as ElicitationAnswer;
  const outcome = action === "cancel" ? "cancelled" : "answered";
  if (action !== "accept" || schema === undefined) return { result: answer, outcome };
  if (!isJsonObject(content)) return { field: "result.content", reason: "expected an object" };
  const complete = withDefaults(content, schema);
  const problem = missingMember(complete, schema);
  if (problem !== undefined) {
    return { field: `result.content.${problem}`, reason: "the server requires it" };
  }
  return { result: { ...answer, content: complete }, outcome };
}

/** The answer, completed with the schema's defaults. */
function withDefaults(content: JsonObject, { properties }: JsonObject): JsonObject {
  const defaults = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(
    ([name, property]) =>
      isJsonObject(property) && property.default !== undefined && content[name] === undefined
        ? [[name, property.default] as const]
        : [],
  );
  return { ...content, ...Object.fromEntries(defaults) };
}

function missingMember(content: JsonObject, { required }: JsonObject): string | undefined {
  const names: unknown[] = Array.isArray(required) ? required : [];
  return names.map(String).find((name) => content[name] === undefined);
}
