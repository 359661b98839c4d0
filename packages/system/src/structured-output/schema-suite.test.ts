import { readdirSync, readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { slice } from "../../../../scripts/testing/slice.ts";
import { readOutputSchema } from "./output-schema.ts";

interface Group {
  readonly description: string;
  readonly schema: unknown;
  readonly tests: readonly {
    readonly description: string;
    readonly data: unknown;
    valid: boolean;
  }[];
}

const folder = new URL("./__fixtures__/json-schema-test-suite/", import.meta.url);
const groups = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .flatMap((name) =>
    (JSON.parse(readFileSync(new URL(name, folder), "utf8")) as Group[]).map((group) => ({
      ...group,
      title: `${name}: ${group.description}`,
    })),
  );

/**
 * Excludes schemas that we refuse (references to another document, mere booleans) and those that
 * ajv refuses (an empty enum).
 */
function isTaken({ schema }: Group): boolean {
  const text = JSON.stringify(schema);
  const isElsewhere = /"\$(?:ref|id|anchor|dynamicRef)":"(?!#(?:\/|"))/.test(text);
  const isEmpty = text.includes('"enum":[]');
  return typeof schema === "object" && schema !== null && !isElsewhere && !isEmpty;
}

const taken = groups.filter(isTaken);

describe("the JSON-Schema-Test-Suite", () => {
  it("is supported almost completely", () => {
    expect(taken.length).toBeGreaterThan(200);
    expect(taken.flatMap(({ tests }) => tests).length).toBeGreaterThan(700);
  });

  it.each(slice(taken, 80))("agrees with us and with ajv: $title", async ({ schema, tests }) => {
    const check = await readOutputSchema(schema);
    const ajv = new Ajv2020({ strict: false, validateFormats: false, ownProperties: true });
    const second = ajv.compile(schema as object);
    const isWrapped = check.wireSchema !== schema;
    const onWire = isWrapped ? ajv.compile(check.wireSchema) : second;
    for (const { description, data, valid } of tests) {
      // ajv does not see this name as a member.
      if (description.includes("__proto__")) continue;
      expect(second(data), `ajv: ${description}`).toBe(valid);
      // The value as a model would send it.
      const sent = isWrapped ? { value: data } : data;
      expect(onWire(sent), `on the wire: ${description}`).toBe(valid);
      expect("value" in check.checkValue(sent), description).toBe(valid);
      if (!valid) continue;
      expect(check.checkText(JSON.stringify(sent)), description).toEqual({ value: data });
    }
  });
});
