import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { declarationReader } from "./exported-declarations.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-api-"));
});

afterEach(() => rmSync(folder, { recursive: true }));

function exported(files: Readonly<Record<string, string>>): Record<string, string> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const read = declarationReader((source) =>
    source === "@tau-agent/part" ? join(folder, "part.d.ts") : undefined,
  );
  return Object.fromEntries(read(join(folder, "index.d.ts")));
}

it("follows names to their declarations, in this package and in its private parts", () => {
  const found = exported({
    "index.d.ts": `
export { A as B } from "./a.ts";
export type { P } from "@tau-agent/part";
export type { Model } from "other";
export * from "./a.js";
`,
    "a.d.ts": `
import type { P } from "@tau-agent/part";
/** Text. */
export interface A {
    /** Text. */
    readonly one: P;
}
export declare function f(a: string): void;
export declare function f(a: number): void;
`,
    "part.d.ts": "declare class P {\n    #private;\n}\nexport { P };\n",
  });
  const declared = "export interface A {\n    readonly one: P;\n}";
  expect(found).toEqual({
    A: declared,
    B: declared,
    P: "export class P {\n    #private;\n}",
    Model: 'export { Model } from "other";',
    f: "export function f(a: string): void;\nexport function f(a: number): void;",
  });
});

it("shows a name that is imported before it is exported", () => {
  const found = exported({
    "index.d.ts": 'import { P } from "@tau-agent/part";\nexport { P };\n',
    "part.d.ts": "export type P = 1;",
  });
  expect(found).toEqual({ P: "export type P = 1;" });
});

it("reports which file exports a name without declaring it", () => {
  expect(() => exported({ "index.d.ts": "export { gone };" })).toThrow(/index.d.ts exports gone/);
});
