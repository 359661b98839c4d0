import { readdirSync, readFileSync } from "node:fs";
import * as z from "zod/mini";
import * as protocol from "../../packages/rpc-protocol/src/index.ts";
import { hostFrames } from "../../packages/rpc-protocol/src/wire/host-frames.ts";
import { ExecServerParams } from "../../packages/rpc-protocol/src/workspace/frame-params.ts";
import * as execServer from "../../packages/rpc-protocol/src/workspace/frame-schemas.ts";
import { allowDocumentedForms } from "./documented-forms.ts";
import { checkTexts, plainComment, takeTexts } from "./field-texts.ts";
import { pascal } from "./markdown.ts";
import { namedSchemas } from "./named-schemas.ts";

type JsonSchema = Record<string, unknown>;

const sources = new URL("../../packages/rpc-protocol/src/", import.meta.url);

/** Unions whose alternatives are separate frames. */
const splitUp: ReadonlySet<string> = new Set([
  "ExtensionUiRequest",
  "HostRequestFrame",
  "HostingFrame",
]);

/**
 * `schema.json`: every client frame, host frame and session entry as JSON Schema. Objects may have additional
 * members from a newer host; a frame itself has exactly its members.
 */
export function protocolSchema(): string {
  const defs = protocolDefinitions();
  allowDocumentedForms(defs);
  splitTypes(defs);
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "The Tau RPC protocol",
    description:
      "Validate a frame against one of $defs: ClientFrame, <Dialect>HostFrame, SessionHeader, SessionEntry, ExecClientFrame, ExecServerFrame.",
    $defs: Object.fromEntries(Object.entries(defs).sort(([a], [b]) => (a < b ? -1 : 1))),
  };
  return JSON.stringify(schema, null, 1);
}

/** The definitions of everything that Tau sends and receives, by name. */
export function protocolDefinitions(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  const descriptions = readComments();
  const frames = new Map<string, string[]>();
  const add = (id: string, schema: z.core.$ZodType, description?: string): void => {
    registry.add(schema, { id });
    if (description !== undefined) descriptions.set(id, description);
  };
  const named = { ...namedSchemas(), ...execServer, ExecServerParams };
  for (const [name, schema] of Object.entries(named)) {
    if (!splitUp.has(name) && !name.endsWith("Event")) add(name, schema);
  }
  const listed = new Set<string>();
  const otherForms = new Map<string, string>();
  for (const [dialect, list] of Object.entries(hostFrames)) {
    const names = list().map(({ name, summary, event, schema }) => {
      if (!listed.has(name)) add(name, schema, summary);
      listed.add(name);
      if (event !== undefined) otherForms.set(name, pascal(event));
      return name;
    });
    frames.set(`${pascal(dialect)}HostFrame`, names);
  }
  const requests = Object.entries(protocol.commands).map(([name, command]) => {
    const id = `${pascal(name)}Command`;
    add(id, request(name, command), command.summary);
    return id;
  });
  const defs = definitions(registry, listed, descriptions);
  for (const [name, { refusesUnknown }] of Object.entries(protocol.commands)) {
    const command = defs[`${pascal(name)}Command`];
    if (!refusesUnknown || command === undefined) continue;
    // In a host with many sessions, every command may have a `sessionId`.
    command.propertyNames = { enum: [...Object.keys(command.properties as object), "sessionId"] };
  }
  for (const [name, event] of otherForms) {
    defs[name] = { description: defs[event]?.description, ...defs[name] };
  }
  defs.ClientFrame = anyOf(
    "What a client may send, in every dialect. A member that is null counts as absent.",
    [
      ...requests,
      ...["ExtensionUiResponse", "HostResponse", "HostToolUpdate", "HostToolResult"],
      ...["HostUriResult", "WorkspaceResultFrame", "WorkspaceOutputFrame"],
    ],
  );
  defs.SessionEntry = {
    description: "A line of a session file after its header; entries of other types are kept.",
    anyOf: [{ $ref: "#/$defs/KnownSessionEntry" }, unknownEntry()],
  };
  for (const [name, alternatives] of frames) {
    defs[name] = anyOf("What a host may send in this dialect.", alternatives);
  }
  withSourceImages(defs, "OhMyPi");
  checkTexts(defs);
  return defs;
}

/** All schemas of the registry; those of frames allow no other members. */
function definitions(
  registry: z.core.$ZodRegistry<{ id: string }>,
  frames: ReadonlySet<string>,
  descriptions: ReadonlyMap<string, string>,
): Record<string, JsonSchema> {
  const { schemas } = z.toJSONSchema(registry, { io: "input", uri: (id) => `#/$defs/${id}` });
  takeTexts(schemas);
  if ("__shared" in schemas) throw new Error("Something is shared and has no name");
  const defs: Record<string, JsonSchema> = {};
  for (const [name, { $schema: _, $id: __, ...schema }] of Object.entries(schemas)) {
    const { description = descriptions.get(name), ...rest } = schema;
    defs[name] = {
      ...(description === undefined ? {} : { description }),
      ...rest,
      ...(frames.has(name) ? { additionalProperties: false } : {}),
    };
  }
  return defs;
}

function request(name: string, { params }: protocol.Command): z.ZodMiniType {
  return z.object({
    "text:id": z.optional(z.literal("Comes back in the response as it was sent.")),
    id: z.optional(z.union([z.string(), z.number(), z.null()])),
    type: z.literal(name),
    ...params().def.shape,
  });
}

/** Accepts any unknown type, but not a known type without its members. */
function unknownEntry(): JsonSchema {
  const known = protocol.KnownSessionEntry.def.options.flatMap(
    ({ def }) => def.shape.type.def.values,
  );
  return {
    type: "object",
    properties: {
      type: { type: "string", not: { enum: known }, description: "The kind of entry." },
      id: { type: "string", description: "The id of the entry." },
      parentId: {
        type: ["string", "null"],
        description: "The id of the entry before it; null at the root.",
      },
      timestamp: { type: "string", description: "When it was written, in ISO 8601." },
    },
    required: ["type", "id", "parentId", "timestamp"],
  };
}

/** Splits a list of types into separate alternatives, because strict compilers reject a list. */
function splitTypes(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  for (const member of Object.values(schema)) splitTypes(member);
  const { type } = schema as JsonSchema;
  if (!Array.isArray(type) || type.filter((name) => name !== "null").length < 2) return;
  delete (schema as JsonSchema).type;
  Object.assign(schema, { anyOf: type.map((name) => ({ type: name })) });
}

function anyOf(description: string, names: readonly string[]): JsonSchema {
  return { description, anyOf: names.map((name) => ({ $ref: `#/$defs/${name}` })) };
}

/** Types that contain images have a second version for the dialect whose images have a source. */
function withSourceImages(defs: Record<string, JsonSchema>, prefix: string): void {
  const twins = new Set(["ImageContent"]);
  for (let size = 0; size !== twins.size; ) {
    size = twins.size;
    for (const [name, schema] of Object.entries(defs)) {
      if (refersToAny(schema, twins)) twins.add(name);
    }
  }
  const root = `${prefix}HostFrame`;
  const needed = new Set<string>();
  const visit = (schema: JsonSchema): JsonSchema =>
    JSON.parse(
      JSON.stringify(schema).replace(/"#\/\$defs\/(\w+)"/g, (whole, name: string) => {
        if (!twins.has(name)) return whole;
        needed.add(name);
        return `"#/$defs/${prefix}${name}"`;
      }),
    );
  defs[root] = visit(defs[root] ?? {});
  for (const name of needed) {
    defs[`${prefix}${name}`] = name === "ImageContent" ? sourceImage : visit(defs[name] ?? {});
  }
}

function refersToAny(schema: JsonSchema, names: ReadonlySet<string>): boolean {
  const refs = JSON.stringify(schema).matchAll(/"#\/\$defs\/(\w+)"/g);
  return [...refs].some(([, name = ""]) => names.has(name));
}

const sourceImage: JsonSchema = {
  description: "An image as base64 with its MIME type.",
  type: "object",
  properties: {
    type: { type: "string", const: "image" },
    source: {
      type: "object",
      properties: {
        type: { type: "string", const: "base64" },
        mediaType: { type: "string", description: "The MIME type." },
        data: { type: "string", description: "The image as base64." },
      },
      required: ["type", "mediaType", "data"],
      description: "Where the image comes from.",
    },
  },
  required: ["type", "source"],
};

function readComments(): Map<string, string> {
  const comments = new Map<string, string>();
  for (const name of readdirSync(sources, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts") || name.endsWith(".test.ts")) continue;
    const text = readFileSync(new URL(name, sources), "utf8");
    for (const [, comment = "", exported = ""] of text.matchAll(
      /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export const (\w+)/g,
    )) {
      comments.set(exported, plainComment(comment));
    }
  }
  return comments;
}
