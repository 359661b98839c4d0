import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { SchemaShapes } from "./recording/schema-shapes.ts";
import { exampleFrames } from "./support/example-frames.ts";
import { findViolation, schemaShape } from "./support/published-schema.ts";

/** Runs tests of `recording/__fixtures__` the way this repository runs its own. */
function runTests(...names: string[]): Promise<{ code: number; output: string }> {
  const temporary = mkdtempSync(join(tmpdir(), "tau-checked-"));
  onTestFinished(() => rmSync(temporary, { recursive: true }));
  const vitest = fileURLToPath(new URL("../vitest.mjs", import.meta.resolve("vitest")));
  const config = fileURLToPath(new URL("recording/__fixtures__/vitest.config.ts", import.meta.url));
  // The nested run has its own recording.
  const env = { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1", TMPDIR: temporary };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [vitest, "run", "--config", config, ...names],
      { env },
      (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), output: stdout + stderr }),
    );
  });
}

describe("a run of tests", () => {
  it("fails for everything that violates the schema, and names it with its test", async () => {
    const { code, output } = await runTests();
    expect(output).toMatch(/Tests +1 failed \| 9 passed/);
    expect(output).toContain(`wrong-frame.check.ts > sees a frame that was changed
  from a host: --mode rpc
  not a PiHostFrame: # Property "attempt" does not match schema.; #/attempt Instance type "string" is invalid. Expected "number".
{"type":"auto_retry_end","success":true,"attempt":"mutated"}
  and 1 more like it
`);
    expect(output).toMatch(/> sees a frame of another dialect\n.*\n {2}not a PiRustHostFrame: /);
    expect(output).toMatch(
      /> writes an entry without its message\n {2}session file .*session\.jsonl\n {2}not a SessionEntry: .*"message"/,
    );
    expect(output).toMatch(
      /> starts a host without what records it\n {2}starts a host whose .*\n.*tau\.js --version/,
    );
    expect(output).toMatch(/silent-host\.check\.ts\n {2}has hosts, but no frame/);
    expect(code).toBe(1);
  });

  it("fails for a request that a server in another process refused", async () => {
    const { code, output } = await runTests("refused-request");
    expect(output).toMatch(/Tests +1 failed \| 2 passed/);
    expect(output).toMatch(/FAIL .*> asks a server in another process for what no vendor takes/);
    expect(output).toContain("AssertionError: requests that a vendor would refuse");
    expect(output).toMatch(
      /> leaves a server behind\n {2}started a server that refused a request after the test's end:/,
    );
    expect(code).toBe(1);
  });

  it("passes if there are no violations", async () => {
    const { code, output } = await runTests("wrong-command", "killed-host");
    expect(output).toContain("client frames that are refused: 1");
    expect(output).toContain("host frames of pi: 1");
    expect(code).toBe(0);
  });
});

describe("shapes of values", () => {
  const schema = {
    $defs: { A: { properties: { kind: { const: "one" }, count: { minimum: 0 } } } },
    anyOf: [{ $ref: "#/$defs/A" }, { type: "string", minLength: 2 }, { enum: [7, "two"] }],
  };
  const shapes = new SchemaShapes(schema);

  it("are equal if the schema ignores all differences", () => {
    for (const [one, other] of [
      ["some text", "another"],
      [3, 4],
      [[1, 1, 2], [5]],
      [
        { kind: "a", more: 1 },
        { kind: "b", other: 2 },
      ],
      [{ odd: "a", strange: "b" }, { any: "c" }],
    ]) {
      expect(shapes.shapeOf(one)).toBe(shapes.shapeOf(other));
    }
  });

  it("differ if the schema checks a difference", () => {
    const values = [
      ..."x",
      "xx",
      "one",
      "two",
      3,
      7,
      1.5,
      -1,
      0,
      null,
      true,
      false,
      [],
      [1],
      ["1"],
      {},
      { kind: "one" },
      { kind: "two" },
      { kind: "x" },
      { kind: 1 },
      { count: 1 },
      { count: -1 },
      { more: 1 },
      { more: "xx" },
    ];
    expect(new Set(values.map((value) => shapes.shapeOf(value))).size).toBe(values.length);
  });

  it("cannot be computed for a schema with an unknown keyword", () => {
    const wider = { properties: { name: { type: "string", format: "uri" } } };
    expect(() => new SchemaShapes(wider)).toThrow('"format"');
  });

  it("have one verdict each, however a frame is changed", () => {
    const verdicts = new Map<string, boolean>();
    const member = fc.oneof(
      fc.constantFrom<unknown>(null, true, "", "pi", "stop", "text", 0, -1, 1.5, 2, [], {}),
      fc.jsonValue({ maxDepth: 2 }),
    );
    let again = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(exampleFrames)),
        fc.nat(),
        member,
        (frame, at, value) => {
          const mutated = changed(frame, at, value);
          const shape = schemaShape(mutated);
          const isAllowed = findViolation("PiHostFrame", mutated) === undefined;
          if (verdicts.has(shape)) again += 1;
          expect(verdicts.get(shape) ?? isAllowed, JSON.stringify(mutated)).toBe(isAllowed);
          verdicts.set(shape, isAllowed);
        },
      ),
      { numRuns: 400 },
    );
    expect(again).toBeGreaterThan(40);
    expect(new Set(verdicts.values()).size).toBe(2);
  });
});

/** The frame with one of its values replaced. */
function changed(frame: object, at: number, value: unknown): unknown {
  const copy = structuredClone(frame);
  const places = [...placesIn(copy)];
  const [owner, name] = places[at % places.length] as [object, string];
  Reflect.set(owner, name, value);
  return copy;
}

function* placesIn(value: object): Generator<[object, string]> {
  for (const [name, member] of Object.entries(value)) {
    yield [value, name];
    if (typeof member === "object" && member !== null) yield* placesIn(member);
  }
}
