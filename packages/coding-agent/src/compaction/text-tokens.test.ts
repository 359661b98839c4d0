import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { estimateTokens } from "./estimate.ts";
import { clipText, textTokens } from "./text-tokens.ts";

const bytes = Buffer.concat(
  Array.from({ length: 40 }, (_, index) => createHash("sha256").update(`${index}`).digest()),
);

describe("token estimate of a text", () => {
  // The expected values were counted with the public tokenizer cl100k.
  it.each([
    [
      "English",
      "Summaries replace the older part of a conversation; the newest messages stay as they are.",
      18,
    ],
    [
      "code",
      "export function add(left: number, right: number): number {\n  return left + right;\n}\n",
      20,
    ],
    ["base64", bytes.toString("base64"), 1220],
    ["hex", bytes.toString("hex"), 1445],
    ["Chinese", "请修改这个函数，使它在输入为空时返回默认值，并且添加单元测试。", 24],
    ["Japanese", "この関数を修正して、入力が空のときに既定値を返すようにしてください。", 31],
    ["Korean", "이 함수를 수정하여 입력이 비어 있을 때 기본값을 반환하도록 해 주세요.", 25],
    ["Russian", "Пожалуйста, исправьте эту функцию и добавьте тесты.", 23],
    ["emoji", "😀🎉🚀🔥✅", 13],
  ])("is close to the count for %s, and rather above than below", (_, text, counted) => {
    expect(textTokens(text)).toBeGreaterThanOrEqual(counted * 0.9);
    expect(textTokens(text)).toBeLessThanOrEqual(counted * 1.6);
  });

  it("counts an image as 1200 tokens", () => {
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    expect(estimateTokens({ role: "user", content: [image], timestamp: 1 })).toBe(1200);
  });

  it("takes time linear in the length of the text", () => {
    const text = `${"aZ0".repeat(1_000_000)}${" =".repeat(1_000_000)}`;
    const began = performance.now();
    expect(textTokens(text)).toBeGreaterThan(1_000_000);
    expect(performance.now() - began).toBeLessThan(2000);
  });
});

describe("a clipped text", () => {
  it("keeps its head and its tail, and says how much is left out", () => {
    const text = `BEGIN ${"word ".repeat(5000)}END`;
    const clipped = clipText(text, 200);
    expect(clipped).toMatch(/^BEGIN word .*\[… \d+ characters left out …\]\n.*word END$/s);
  });

  it("fits the limit, whatever the text", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary", maxLength: 400 }),
      fc.constantFrom("汉字", "aB3+/", "=====", "  \n", "😀").map((piece) => piece.repeat(300)),
    );
    fc.assert(
      fc.property(
        fc.array(text, { maxLength: 6 }),
        fc.integer({ min: 64, max: 800 }),
        (all, room) => {
          const clipped = clipText(all.join(""), room);
          expect(textTokens(clipped)).toBeLessThanOrEqual(room);
          expect(clipped).not.toMatch(/[\uD800-\uDBFF]\n\[…/);
        },
      ),
    );
  });
});
