import type { PartialArg } from "@google/genai";
import { PartialJson } from "@tau-agent/rpc-protocol/plain";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PartialArgs } from "./partial-args.ts";

/** Joins the JSON text of all pieces, reading it after each piece with the parser that clients use. */
function readAll(pieces: readonly PartialArg[]): { text: string; value: unknown } {
  const args = new PartialArgs();
  const reader = new PartialJson();
  let text = "";
  for (const next of [...pieces.map((piece) => () => args.add(piece)), () => args.end()]) {
    const delta = next();
    text += delta;
    reader.feed(delta);
  }
  expect(reader.end()).toBe(true);
  expect(JSON.parse(text)).toEqual(reader.value);
  return { text, value: reader.value };
}

describe("PartialArgs", () => {
  it("grows with each piece, wherever its value belongs", () => {
    const args = new PartialArgs();
    const pieces: [PartialArg, string][] = [
      [
        { jsonPath: "$.list[0].name", stringValue: "Egg", willContinue: true },
        '{"list":[{"name":"Egg',
      ],
      [{ jsonPath: "$.list[0].name", stringValue: "s\n" }, "s\\n"],
      [{ jsonPath: "$.list[0].name" }, ""],
      [{ jsonPath: "$.list[1].count", numberValue: 2 }, '"},{"count":2'],
      [{ jsonPath: "$['odd key'].on", boolValue: false }, '}],"odd key":{"on":false'],
      [{ jsonPath: "$.none", nullValue: "NULL_VALUE" }, '},"none":null'],
    ];
    for (const [piece, text] of pieces) expect(args.add(piece)).toBe(text);
    expect(args.end()).toBe("}");
  });

  it.each<[string, PartialArg[], object]>([
    [
      "a text that goes on later",
      [
        { jsonPath: "$.a", stringValue: "1" },
        { jsonPath: "$.b", stringValue: "2" },
        { jsonPath: "$.a", stringValue: "3" },
      ],
      { a: "13", b: "2" },
    ],
    [
      "items out of order",
      [
        { jsonPath: "$.list[2]", numberValue: 2 },
        { jsonPath: "$.list[0]", numberValue: 0 },
      ],
      { list: [0, null, 2] },
    ],
    [
      "a value that is replaced",
      [
        { jsonPath: "$.a.b", numberValue: 1 },
        { jsonPath: "$.c", numberValue: 1 },
        { jsonPath: "$.a", boolValue: true },
      ],
      { a: true, c: 1 },
    ],
    [
      "a number that comes twice",
      [
        { jsonPath: "$.a", numberValue: 1 },
        { jsonPath: "$.a", numberValue: 2 },
      ],
      { a: 2 },
    ],
  ])("ends with %s in its place", (_, pieces, expected) => {
    expect(readAll(pieces).value).toEqual(expected);
  });

  it.each([
    ["", {}],
    ["$", {}],
    ["$.__proto__.polluted", {}],
    ["$.list[99999999]", {}],
    [`$${".a".repeat(1000)}`, {}],
    ["$.text.below", { text: "a" }],
    ["$.list.name", { text: "a", list: [1] }],
  ])("ignores an invalid path: %.40s", (jsonPath, expected) => {
    const pieces: PartialArg[] = [];
    if ("text" in expected) pieces.push({ jsonPath: "$.text", stringValue: "a" });
    if ("list" in expected) pieces.push({ jsonPath: "$.list[0]", numberValue: 1 });
    expect(readAll([...pieces, { jsonPath, stringValue: "x" }]).value).toEqual(expected);
    expect({}).not.toHaveProperty("polluted");
  });
});

/** The arguments that paths can express: no empty objects or lists, and names without quotes. */
const { args: anyArguments } = fc.letrec((tie) => ({
  leaf: fc.oneof(
    fc.string({ unit: "binary" }),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((number) => (number === 0 ? 0 : number)),
    fc.boolean(),
    fc.constant(null),
  ),
  value: fc.oneof({ depthSize: "small" }, tie("leaf"), tie("args"), tie("list")),
  list: fc.array(tie("value"), { minLength: 1, maxLength: 4 }),
  args: fc.dictionary(fc.stringMatching(/^[a-z ]{1,4}$/), tie("value"), {
    minKeys: 1,
    maxKeys: 4,
    noNullPrototype: true,
  }),
}));

type Cut = (text: string, size: number) => readonly string[] | null;
const byCharacter: Cut = (text, size) => text.match(new RegExp(`[^]{1,${size}}`, "gu"));
const anywhere: Cut = (text, size) => text.match(new RegExp(`[^]{1,${size}}`, "g"));

/** The pieces in which the values arrive. */
function piecesOf(
  value: unknown,
  jsonPath: string,
  cut: (text: string) => PartialArg[],
): PartialArg[] {
  const walk = (inner: unknown, path: string): PartialArg[] => {
    if (typeof inner === "string") {
      return cut(inner).map((piece) => ({ ...piece, jsonPath: path }));
    }
    if (typeof inner === "number") return [{ jsonPath: path, numberValue: inner }];
    if (typeof inner === "boolean") return [{ jsonPath: path, boolValue: inner }];
    if (inner === null) return [{ jsonPath: path, nullValue: "NULL_VALUE" }];
    return Object.entries(Object(inner)).flatMap(([name, member]) =>
      walk(member, `${path}[${Array.isArray(inner) ? name : `'${name}'`}]`),
    );
  };
  return walk(value, jsonPath);
}

/** Splits a text into pieces of a size; the last piece is empty. */
function inPieces(cut: Cut, size: number): (text: string) => PartialArg[] {
  return (text) => [
    ...(cut(text, size) ?? []).map((stringValue) => ({ stringValue, willContinue: true })),
    { stringValue: "" },
  ];
}

describe("any arguments", () => {
  const sizes = fc.integer({ min: 1, max: 5 });

  it("result in the exact JSON text, however they are cut", () => {
    fc.assert(
      fc.property(anyArguments, sizes, (args, size) => {
        expect(readAll(piecesOf(args, "$", inPieces(byCharacter, size))).text).toBe(
          JSON.stringify(args),
        );
      }),
    );
  });

  it("are the same in any order of their values", () => {
    const shuffled = fc
      .tuple(anyArguments, sizes, fc.infiniteStream(fc.nat()))
      .map(([args, size, order]) => {
        const groups = new Map<string, PartialArg[]>();
        for (const piece of piecesOf(args, "$", inPieces(anywhere, size))) {
          const { jsonPath = "" } = piece;
          groups.set(jsonPath, [...(groups.get(jsonPath) ?? []), piece]);
        }
        const queues = [...groups.values()];
        const pieces: PartialArg[] = [];
        // The pieces of each value keep their order.
        while (queues.length > 0) {
          const at = order.next().value % queues.length;
          const next = queues[at]?.shift();
          if (next === undefined) queues.splice(at, 1);
          else pieces.push(next);
        }
        return { args, pieces };
      });
    fc.assert(
      fc.property(shuffled, ({ args, pieces }) => {
        expect(readAll(pieces).value).toEqual(args);
      }),
    );
  });
});
