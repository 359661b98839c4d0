import fc from "fast-check";
import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod/mini";
import { recordClientLine } from "../../../../apps/cli/test/recording/record-host.ts";
import {
  type CommandName,
  commands,
  type Handlers,
  type Params,
  type Result,
} from "../commands/index.ts";
import { traitsOf } from "../commands/traits.ts";
import type { RequestId } from "../vocabulary/host-frame.ts";
import type { Model } from "../vocabulary/model.ts";
import { decodeClientFrame } from "./frame.ts";

const names = Object.keys(commands) as CommandName[];

interface JsonSchema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
}

function schemaOf(name: CommandName): JsonSchema {
  return z.toJSONSchema(commands[name].params(), { io: "input" }) as JsonSchema;
}

/** A value that the schema accepts. */
function sample(schema: JsonSchema): unknown {
  const branch = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (branch) return sample(branch);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  if (type === "string") return "text";
  if (type === "number" || type === "integer") return 7;
  if (type === "boolean") return true;
  if (type === "array") return schema.items ? [sample(schema.items)] : [];
  const members = Object.entries(schema.properties ?? {});
  return Object.fromEntries(members.map(([key, member]) => [key, sample(member)]));
}

function required(schema: JsonSchema): Record<string, unknown> {
  const { properties = {} } = schema;
  return Object.fromEntries(
    (schema.required ?? []).map((key) => [key, sample(properties[key] ?? {})]),
  );
}

const wrongValues = [1.5, "certainly not", true, [{}], { nested: 1 }];

/** Every field of every command with a value of each JSON type that its schema refuses. */
const wrongFields = names.flatMap((name) => {
  const schema = schemaOf(name);
  const params = commands[name].params();
  return Object.keys(schema.properties ?? {}).flatMap((field) =>
    wrongValues
      .filter((value) => !params.safeParse({ ...required(schema), [field]: value }).success)
      .map((value) => ({ name, field, value, shown: JSON.stringify(value) })),
  );
});

function decode(frame: unknown) {
  return decodeLine(JSON.stringify(frame));
}

/** The published schema must accept and refuse the same lines. */
function decodeLine(line: string) {
  recordClientLine(line);
  return decodeClientFrame(line);
}

describe("decodeClientFrame", () => {
  it.each(names)("accepts %s with its required fields, and with all of them", (name) => {
    const schema = schemaOf(name);
    for (const fields of [required(schema), sample(schema) as object]) {
      expect(decode({ id: "1", type: name, ...fields })).toEqual({
        kind: "command",
        id: "1",
        name,
        ...traitsOf(commands[name]),
        params: fields,
        // The members that route a frame to its session are separate from its parameters.
        ...("sessionId" in fields ? { sessionId: fields.sessionId } : {}),
      });
    }
  });

  it("passes on the session that a frame names, as it was sent", () => {
    expect(decode({ type: "get_state", sessionId: "a" })).toMatchObject({ sessionId: "a" });
    expect(decode({ type: "nope", sessionId: 7 })).toMatchObject({ kind: "error", sessionId: 7 });
    expect(decode({ type: "get_state", sessionId: null })).not.toHaveProperty("sessionId");
  });

  it("detects a wrong value for every field of every command", () => {
    const fields = new Set(wrongFields.map(({ name, field }) => `${name}.${field}`));
    const all = names.flatMap((name) =>
      Object.keys(schemaOf(name).properties ?? {}).map((field) => `${name}.${field}`),
    );
    // The handler checks this field, because its error has its own code.
    const takesAnything = "prompt.outputSchema";
    expect([...fields, takesAnything].sort()).toEqual(all.sort());
  });

  it.each(wrongFields)("names $field of $name when it is $shown", ({ name, field, value }) => {
    const frame = { id: 5, type: name, ...required(schemaOf(name)), [field]: value };
    const decoded = decode(frame);
    expect(decoded).toMatchObject({ kind: "error", id: 5, command: name, code: "invalid_params" });
    if (decoded.kind === "error") expect(decoded.error).toContain(`"${field}`);
  });

  it.each(
    names.flatMap((name) => (schemaOf(name).required ?? []).map((field) => ({ name, field }))),
  )("reports that $name needs $field", ({ name, field }) => {
    const { [field]: _, ...rest } = required(schemaOf(name));
    const reason = (frame: object) => {
      const decoded = decode({ type: name, ...frame });
      return decoded.kind === "error" ? decoded.error : undefined;
    };
    expect(reason(rest)).toMatch(new RegExp(`"${field}" of ${name}: (is required|.*got nothing)`));
    expect(reason({ ...rest, [field]: null })).toMatch(new RegExp(`"${field}" of ${name}: .*null`));
  });

  it("keeps a null that is meaningful in a command, along with other members", () => {
    expect(decode({ type: "initialize", events: null, stream: null })).toMatchObject({
      params: { events: null },
    });
    expect(decode({ type: "initialize", hasOwnProperty: null, protocol: null })).toMatchObject({
      kind: "command",
      params: {},
    });
  });

  it("treats null for an optional field as absent", () => {
    expect(
      decode({ type: "prompt", message: "hi", images: null, streamingBehavior: null }),
    ).toEqual({
      kind: "command",
      id: undefined,
      name: "prompt",
      scope: "session",
      data: "initialized",
      awaitsSessionChange: true,
      beginsWork: true,
      answersAtOnce: false,
      params: { message: "hi" },
    });
    expect(decode({ id: null, type: "get_state" })).toMatchObject({ kind: "command" });
  });

  it("treats null for an unknown field as absent where other values are refused", () => {
    expect(decode({ type: "set_budget", maxCostUsd: 1, maxCost: null })).toMatchObject({
      kind: "command",
      params: { maxCostUsd: 1 },
    });
  });

  it("ignores fields it does not know", () => {
    expect(decode({ type: "abort", reason: "bored" })).toMatchObject({ name: "abort", params: {} });
  });

  it("shows the path into nested fields", () => {
    const images = [{ type: "image", data: "AA==", mimeType: 7 }];
    const decoded = decode({ type: "prompt", message: "hi", images });
    expect(decoded).toMatchObject({ error: expect.stringContaining("images[0].mimeType") });
  });

  it("keeps the id of an unknown command and names the command", () => {
    expect(decode({ id: "x", type: "make_coffee" })).toEqual({
      kind: "error",
      id: "x",
      command: "make_coffee",
      code: "unknown_command",
      error: "Unknown command: make_coffee",
    });
    expect(decode({ type: "toString" })).toMatchObject({ code: "unknown_command" });
  });

  it.each([
    [
      { type: "set_budget", maxCost: 1 },
      'Invalid field "maxCost" of set_budget: is unknown; known are maxWallTimeMs, maxInputTokens, maxOutputTokens, maxTotalTokens, maxCostUsd, maxToolCalls, maxSubagents, clear, onExceeded',
    ],
    [
      { type: "set_budget", maxCostUsd: -1 },
      'Invalid field "maxCostUsd" of set_budget: has to be at least 0',
    ],
    [
      { type: "set_todos", todos: [{ content: "", status: "pending" }] },
      'Invalid field "todos[0].content" of set_todos: has to have at least 1 characters',
    ],
  ])("reports how far a value is out of range: %j", (command, error) => {
    expect(decode(command)).toMatchObject({ kind: "error", error });
  });

  it.each(["{", "", "nonsense", "42", "null", "[]", '"prompt"', "{}", '{"type":7}'])(
    "answers %s as a line that cannot be parsed",
    (line) => {
      expect(decodeLine(line)).toMatchObject({
        kind: "error",
        command: "parse",
        code: "parse",
        error: expect.stringMatching(/^Failed to parse command: /),
      });
    },
  );

  it("refuses an id that is neither string nor number", () => {
    expect(decode({ id: {}, type: "abort" })).toMatchObject({
      id: undefined,
      error: expect.stringContaining('"id"'),
    });
  });

  it("never throws, whatever the JSON", () => {
    const type = fc.oneof(fc.constantFrom(...names, "extension_ui_response"), fc.string());
    const frame = fc
      .record({ type, id: fc.jsonValue(), rest: fc.dictionary(fc.string(), fc.jsonValue()) })
      .map(({ rest, ...known }) => ({ ...rest, ...known }));
    fc.assert(
      fc.property(fc.oneof(frame, fc.jsonValue(), fc.string()), (value) => {
        const line = typeof value === "string" ? value : JSON.stringify(value);
        expect(["command", "error", "extension_ui_response"]).toContain(decodeLine(line).kind);
      }),
      { numRuns: 2_000 },
    );
  });

  it("decodes answers to dialogs and names their errors", () => {
    const type = "extension_ui_response";
    expect(decode({ type, id: "u", value: "yes", confirmed: null, extra: 1 })).toEqual({
      kind: "extension_ui_response",
      response: { type, id: "u", value: "yes" },
    });
    const wrong: [string, object][] = [
      ["id", { id: 5 }],
      ["value", { id: "u", value: 5 }],
      ["confirmed", { id: "u", confirmed: "yes" }],
      ["cancelled", { id: "u", cancelled: 1 }],
    ];
    for (const [field, fields] of wrong) {
      expect(decode({ type, ...fields })).toMatchObject({
        kind: "error",
        command: type,
        error: expect.stringContaining(`"${field}"`),
      });
    }
  });
});

describe("the command table", () => {
  it("gives params, results and handlers their types", () => {
    expectTypeOf<Params<"set_model">>().toEqualTypeOf<{ provider: string; modelId: string }>();
    expectTypeOf<Params<"get_state">>().toEqualTypeOf<Record<string, never>>();
    expectTypeOf<Result<"set_model">>().toEqualTypeOf<Model>();
    expectTypeOf<Result<"abort">>().toEqualTypeOf<undefined>();
    expectTypeOf<keyof Handlers<unknown>>().toEqualTypeOf<CommandName>();
    expectTypeOf<Handlers<{ a: 1 }>["new_session"]>().parameters.toEqualTypeOf<
      [{ a: 1 }, Params<"new_session">, { readonly id: RequestId | undefined }]
    >();
    const handlers: Pick<Handlers<unknown>, "abort" | "new_session"> = {
      abort: () => undefined,
      // @ts-expect-error the answer must say whether it was cancelled
      new_session: () => ({ canceled: false }),
    };
    expect(Object.keys(handlers)).toHaveLength(2);
  });

  it.each(names)("uses existing fields of %s as positional arguments", (name) => {
    const { positional, summary } = commands[name];
    const fields = Object.keys(schemaOf(name).properties ?? {});
    for (const field of positional) expect(fields).toContain(field);
    expect(summary).toMatch(/^[A-Z].*\.$/);
  });
});

it.each([
  [-1, "has to be at least 0"],
  [101, "has to be at most 100"],
  ["25", 'expected number, got "25"'],
])("refuses mergeMs %j: it %s", (mergeMs, reason) => {
  const frame = decodeClientFrame(JSON.stringify({ type: "initialize", mergeMs }));
  expect(frame).toMatchObject({ kind: "error", code: "invalid_params" });
  expect("error" in frame && frame.error).toContain(`mergeMs`);
  expect("error" in frame && frame.error).toContain(reason);
});

it("builds a command's schema once, and none to check a command without fields", () => {
  const { set_model: withFields, get_state: without } = commands;
  expect(withFields.params()).toBe(withFields.params());
  expect([withFields.hasFields, without.hasFields]).toEqual([true, false]);
  expect(decodeClientFrame('{"type":"get_state","id":1,"other":[]}')).toMatchObject({
    id: 1,
    params: {},
  });
});
