import { expect, it } from "vitest";
import { errorMessage } from "./system-limit.ts";

const limit = (code: string) => Object.assign(new Error(`${code}: it failed`), { code });

it.each(["EMFILE", "ENFILE"])(
  "explains what to do about %s, also as a cause, and only once",
  (code) => {
    const remedy = /^Too many files are open.*limit/;
    expect(errorMessage(limit(code))).toMatch(remedy);
    const text = errorMessage(new Error("outer", { cause: limit(code) }));
    expect(text).toMatch(/^Too many files are open.*\. outer$/);
    expect(errorMessage(new Error(text, { cause: limit(code) }))).toBe(text);
  },
);

it("does not change other errors, whatever was thrown", () => {
  expect(errorMessage(limit("ENOENT"))).toBe("ENOENT: it failed");
  expect(errorMessage("words")).toBe("words");
  expect(errorMessage(Object.create(null))).toBe("");
  const circle = new Error("circle");
  circle.cause = circle;
  expect(errorMessage(circle)).toBe("circle");
});
