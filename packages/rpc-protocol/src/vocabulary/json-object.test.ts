import { describe, expect, it } from "vitest";
import { isJsonObject } from "./json-object.ts";

describe("isJsonObject", () => {
  const bare: unknown = Object.create(null);
  it.each([[{}], [{ a: 1 }], [bare], [new (class Options {})()], [new Error("wrong")]])(
    "accepts %o",
    (value) => expect(isJsonObject(value)).toBe(true),
  );

  it.each([[null], [undefined], [[]], [[{}]], ["{}"], [0], [true], [() => ({})]])(
    "rejects %o",
    (value) => expect(isJsonObject(value)).toBe(false),
  );
});
