import type { JsonObject } from "@tau-agent/rpc-protocol/plain";
import { googleGenerativeAiWire } from "./google-generative-ai.ts";
import { listOf, objectOf, serverSentEvent } from "./json.ts";
import { changedWriter, type ReplyHead, type WireFormat } from "./wire-format.ts";

/** The server side of Gemini on Vertex AI, which sends arguments in pieces on request. */
export const googleVertexWire: WireFormat = {
  ...googleGenerativeAiWire,
  api: "google-vertex",
  createWriter(head) {
    const inner = googleGenerativeAiWire.createWriter(head);
    if (!asksForPieces(head)) return inner;
    return changedWriter(inner, (event, { type }) =>
      type === "block_end" ? inPieces(event) : event,
    );
  },
};

function asksForPieces({ asked = {} }: ReplyHead): boolean {
  const { functionCallingConfig } = objectOf(asked.toolConfig);
  return objectOf(functionCallingConfig).streamFunctionCallArguments === true;
}

/** Splits the event of a whole call as Vertex does: name, pieces and end are separate events. */
function inPieces(event: string): string {
  if (event === "") return event;
  const { candidates, ...rest } = objectOf(JSON.parse(event.slice("data: ".length)));
  const [candidate = {}] = listOf(candidates);
  const content = objectOf(candidate.content);
  const { args, ...call } = objectOf(listOf(content.parts)[0]?.functionCall);
  const pieces = piecesOf(args, "$");
  if (pieces === undefined) return event;
  const calls = [
    { ...call, willContinue: true },
    ...pieces.map((piece) => ({ partialArgs: [piece], willContinue: true })),
    {},
  ];
  return calls
    .map((functionCall) => {
      const own = { ...candidate, content: { ...content, parts: [{ functionCall }] } };
      return serverSentEvent(JSON.stringify({ candidates: [own], ...rest }));
    })
    .join("");
}

const pieceLength = 8;

/** The pieces of a value; undefined if paths cannot express it. */
function piecesOf(value: unknown, jsonPath: string): JsonObject[] | undefined {
  if (typeof value === "string") {
    const parts = value.match(new RegExp(`[^]{1,${pieceLength}}`, "gu")) ?? [];
    const pieces = parts.map((part) => ({ jsonPath, stringValue: part, willContinue: true }));
    return [...pieces, { jsonPath, stringValue: "" }];
  }
  if (typeof value === "number") return [{ jsonPath, numberValue: value }];
  if (typeof value === "boolean") return [{ jsonPath, boolValue: value }];
  if (value === null) return [{ jsonPath, nullValue: "NULL_VALUE" }];
  const members = Object.entries(Object(value));
  const lists = members.map(([name, member]) => {
    const isPlain = /^[^.[\]'\\]+$/.test(name);
    return isPlain ? piecesOf(member, stepTo(jsonPath, name, value)) : undefined;
  });
  const pieces = lists.flatMap((list) => list ?? []);
  return members.length === 0 || lists.includes(undefined) ? undefined : pieces;
}

function stepTo(path: string, name: string, container: unknown): string {
  return Array.isArray(container) ? `${path}[${name}]` : `${path}.${name}`;
}
