import type * as z from "zod/mini";
import * as events from "../../packages/rpc-protocol/src/entry/events.ts";
import * as protocol from "../../packages/rpc-protocol/src/index.ts";
import { code, generated, table } from "./markdown.ts";
import { namedSchemas } from "./named-schemas.ts";
import { type Member, TypeRenderer } from "./render-type.ts";

/** Types whose members are listed in a separate table. */
const listedElsewhere = new Set([
  "AgentEvent",
  "SessionOnlyEvent",
  "AssistantMessageEvent",
  "ExtensionUiRequest",
  "ExtensionUiResponse",
  "HostRequestFrame",
  "HostingFrame",
  "HostResponse",
  "HostToolUpdate",
  "HostToolResult",
  "HostUriResult",
  "KnownSessionEntry",
  "SessionHeader",
]);

/** `docs/protocol-reference.md`: every command, event and shared type, from the schemas. */
export function protocolReference(): string {
  const renderer = new TypeRenderer(namedSchemas());
  return [
    generated("Protocol reference"),
    "Each frame is one line of JSON, ended by LF.\n",
    "## Commands\n",
    "A command is `{ id?, type, …params }`; `id` is a string or a number. It is answered exactly once, with",
    '`{ id?, type: "response", command, success, data?, error? }`; after `initialize`, an error also',
    "has a [`code`](errors.md). `null` for an optional field counts as absent.\n",
    commandList(renderer),
    "## Events\n",
    "Events carry no `id`. Their members:\n",
    alternatives(renderer, "type", [events.AgentEvent, events.SessionOnlyEvent]),
    "### Steps of a reply\n",
    '`assistantMessageEvent` of a `message_update`. With `stream: "delta"`, `message` and `partial`',
    "are left out and `usage` is added. In `co-mono`, `toolcall_start` has no `id` and no",
    "`toolName` before `initialize`: they are in `partial`.\n",
    alternatives(renderer, "type", [events.AssistantMessageEvent]),
    "## Extension UI\n",
    "`extension_ui_request` asks the client to show something. `select`, `confirm`, `input` and",
    "`editor` wait for an `extension_ui_response` with the same `id`.\n",
    alternatives(renderer, "method", [protocol.ExtensionUiRequest]),
    `The answer: ${code(`{ ${memberList(renderer.members(protocol.ExtensionUiResponse), [])} }`)}\n`,
    "## Host requests\n",
    "A client that says in `initialize.capabilities.hostRequests` which methods it answers gets",
    "`host_request` frames ([Host requests](host-requests.md)).\n",
    alternatives(renderer, "method", [protocol.HostRequestFrame]),
    `The answer: ${code(`{ ${memberList(renderer.members(protocol.HostResponse), [])} }`)}. The result of`,
    "an approval is an `ApprovalResult`.\n",
    "Frames of tools that the client has registered with `set_host_tools`, from the client:",
    `${code(`host_tool_update { ${memberList(renderer.members(protocol.HostToolUpdate), ["type"])} }`)},`,
    `${code(`host_tool_result { ${memberList(renderer.members(protocol.HostToolResult), ["type"])} }`)}.\n`,
    "Frames of URIs whose schemes the client has registered with `set_host_uri_schemes`, from the client:",
    `${code(`host_uri_result { ${memberList(renderer.members(protocol.HostUriResult), ["type"])} }`)}.\n`,
    "## Many sessions\n",
    "Frames for connections that are attached to a session ([Many sessions](many-sessions.md)). With",
    "`--sessions`, every frame of a session has its `sessionId`, also answers. Without a `sessionId`,",
    "`list_sessions` returns `{ sessions: HostedSessionInfo[] }` there.\n",
    alternatives(renderer, "type", [protocol.HostingFrame]),
    "## Session entries\n",
    `The first line of a session file (version ${protocol.SESSION_VERSION}): `,
    `${code(`{ ${memberList(renderer.members(protocol.SessionHeader), [])} }`)}. Every other line is one of:\n`,
    alternatives(renderer, "type", [protocol.KnownSessionEntry]),
    "## Types\n",
    definitions(renderer),
  ].join("\n");
}

function commandList(renderer: TypeRenderer): string {
  const entries = Object.entries(protocol.commands);
  const index = entries.map(([name]) => `[\`${name}\`](#${name})`).join(" · ");
  return [
    `${index}\n`,
    ...entries.map(([name, command]) => commandEntry(renderer, { name, ...command })),
  ].join("\n");
}

function commandEntry(
  renderer: TypeRenderer,
  { name, summary, params, result, data }: protocol.Command & { readonly name: string },
): string {
  const members = renderer.members(params());
  const rows = members.map((member) => [
    code(member.name),
    code(member.type),
    member.isRequired ? "required" : "",
    member.text,
  ]);
  return [
    `### ${name}\n`,
    `${summary}\n`,
    rows.length > 0 ? table(["Field", "Type", "", "Meaning"], rows) : "No fields.\n",
    answer(data, renderer.type(result())),
  ].join("\n");
}

function answer(data: protocol.Command["data"], type: string): string {
  if (data === "none") return "The response has no `data`.\n";
  const condition = data === "initialized" ? " (after `initialize`)" : "";
  return `\`data\`${condition}: ${code(type)}\n`;
}

function alternatives(
  renderer: TypeRenderer,
  discriminator: string,
  schemas: readonly z.core.$ZodType[],
): string {
  const found = schemas.flatMap((schema) => renderer.alternatives(schema));
  const hasTexts = found.some(({ text }) => text !== "");
  const rows = found.map(({ members, text }) => {
    const name = members.find((member) => member.name === discriminator)?.constant;
    const listed = code(memberList(members, ["type", discriminator]));
    return [code(String(name)), listed, ...(hasTexts ? [text] : [])];
  });
  return table([discriminator, "Members", ...(hasTexts ? [""] : [])], rows);
}

function memberList(members: readonly Member[], except: readonly string[]): string {
  const listed = members.filter((member) => !except.includes(member.name));
  return listed
    .map(({ name, isRequired, type }) => `${name}${isRequired ? "" : "?"}: ${type}`)
    .join("; ");
}

function definitions(renderer: TypeRenderer): string {
  const rows = [...renderer.definitions()]
    .filter(([name]) => !listedElsewhere.has(name))
    .map(([name, type]) => [code(name), code(type)]);
  return table(["Name", "Type"], rows);
}
