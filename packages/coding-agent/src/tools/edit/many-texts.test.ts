import fc from "fast-check";
import { expect, it } from "vitest";
import { applyEdits } from "./apply-edits.ts";
import { MatchFinder } from "./find-match.ts";
import { eachOccurrence } from "./many-texts.ts";

it("reports the same positions as a separate search for each text", () => {
  const piece = fc.constantFrom("a", "b", "ab", "aaaa", "    ", "line\n");
  const text = (max: number) => fc.array(piece, { maxLength: max }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text(80), fc.array(text(20), { maxLength: 30 }), (content, texts) => {
      const found: string[] = [];
      eachOccurrence(content, texts, (index, at) => {
        found.push(`${index}@${at}`);
        return true;
      });
      const expected = texts.flatMap((wanted, index) =>
        [...content].flatMap((_, at) =>
          wanted !== "" && content.startsWith(wanted, at) ? [`${index}@${at}`] : [],
        ),
      );
      expect(found.sort()).toEqual(expected.sort());
    }),
  );
});

const line = (number: number) => `    line ${number} with some words in it, about fifty chars`;

it("applies 2000 edits to a file of 10 MB within seconds", async () => {
  const content = Array.from({ length: 180_000 }, (_, index) => line(index)).join("\n");
  const edits = Array.from({ length: 2000 }, (_, index) => ({
    oldText: `${line(index * 90)}\n`,
    newText: `changed ${index}\n`,
  }));
  const began = performance.now();
  const { text, notes } = await applyEdits("f", content, edits);
  expect(performance.now() - began).toBeLessThan(8000);
  expect(notes).toEqual([]);
  expect(text.match(/^changed \d+$/gm)).toHaveLength(2000);
});

it("reports which of many texts is missing, ambiguous, or not exact", async () => {
  const content = Array.from({ length: 40 }, (_, index) => `${line(index)}\n`).join("");
  const edits = Array.from({ length: 20 }, (_, index) => ({
    oldText: line(index * 2),
    newText: `changed ${index}`,
  }));
  const withOne = (oldText: string) =>
    applyEdits("f", content, [...edits, { oldText, newText: "new" }]);
  await expect(withOne("nowhere")).rejects.toThrow("edits[20].oldText must match");
  await expect(withOne("about fifty")).rejects.toThrow("Found 40 occurrences of edits[20].oldText");
  const { notes } = await withOne("\tline 3 with some words in it, about fifty chars");
  expect(notes).toEqual([expect.stringContaining("edits[20].oldText was not an exact match")]);
});

it("yields to the event loop between the passes for loose texts in a large file", async () => {
  const content = Array.from({ length: 50_000 }, (_, index) => line(index)).join("\n");
  const texts = Array.from({ length: 200 }, (_, index) => `\t${line(index * 200).trim()}`);
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const found = await new MatchFinder(content).findAll(texts);
  clearInterval(timer);
  expect(found.filter(({ match }) => match?.looseness === "blanks")).toHaveLength(200);
  expect(turns).toBeGreaterThan(0);
});

it.each([
  ["behind text of a long line", `x ${"word ".repeat(300_000)}`, "\tword word"],
  ["with another indentation on each line", "\ta\n".repeat(300_000), "a\n a\n".repeat(5000)],
])(
  "examines a million positions %s without a search through the file for each",
  async (_, content, oldText) => {
    await expect(applyEdits("f", content, [{ oldText, newText: "x" }])).rejects.toThrow(
      "Could not find the exact text",
    );
  },
);
