import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFrontmatter } from "./frontmatter.ts";

describe("parseFrontmatter", () => {
  it.each([
    ["---\na: 1\n---\n\nbody\n", { a: 1 }, "body"],
    ["\uFEFF---\r\na: x: y\r\n---\r\nbody", {}, "body"],
    ["---\n---\nbody", {}, "body"],
    ["---\na: 1\n---", { a: 1 }, ""],
    ["no frontmatter\n---\na: 1\n---", {}, "no frontmatter\n---\na: 1\n---"],
    ["---\nnever closed", {}, "---\nnever closed"],
    ["--- text\nbody", {}, "--- text\nbody"],
  ])("splits %j", async (text, attributes, body) => {
    expect(await parseFrontmatter(text)).toMatchObject({ attributes, body });
  });

  it("reports invalid YAML and keeps the body", async () => {
    const broken = await parseFrontmatter("---\na: [1\n---\nbody");
    expect(broken).toMatchObject({ attributes: {}, body: "body" });
    expect(broken.problem).toContain("not valid YAML");
    expect((await parseFrontmatter("---\njust text\n---\n")).problem).toBeDefined();
  });

  it("accepts any text", async () => {
    const piece = fc.constantFrom("---", "\n", "a: ", "&x", "*x", "<<: ", "[", "{", "!!js ", " ");
    await fc.assert(
      fc.asyncProperty(fc.array(piece), async (pieces) => {
        const { body } = await parseFrontmatter(`---\n${pieces.join("")}\n---\nend`);
        expect(body.endsWith("end")).toBe(true);
      }),
    );
  });
});
