import type { ContentBlock } from "@agentclientprotocol/sdk";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { promptInput } from "./prompt-input.ts";

const text = (value: string): ContentBlock => ({ type: "text", text: value });
const link = (name: string, uri: string): ContentBlock => ({ type: "resource_link", name, uri });

describe("promptInput", () => {
  it("keeps links within their sentence and separates adjacent texts", () => {
    const blocks = [
      text("see "),
      link("a b.ts", "file:///src/a%20b.ts#L3"),
      text(" and "),
      link("", "https://x.org/y"),
      text("one"),
      text("two"),
    ];
    expect(promptInput(blocks)).toEqual({
      text: "see [a b.ts](/src/a b.ts) and [y](https://x.org/y)one\ntwo",
    });
  });

  it("extracts the text of embedded files, and only names the others", () => {
    const blob = Buffer.from('{"a":1}').toString("base64");
    const input = promptInput([
      { type: "resource", resource: { uri: "zed:///rule", text: "be kind" } },
      { type: "resource", resource: { uri: "file:///a.json", blob, mimeType: "application/json" } },
      { type: "resource", resource: { uri: "file:///a.pdf", blob, mimeType: "application/pdf" } },
      { type: "resource", resource: { uri: "file:///a.png", blob, mimeType: "image/png" } },
    ]);
    expect(input.text).toBe("[rule](zed:///rule)[a.json](/a.json)[a.pdf](/a.pdf)");
    expect(input.images).toEqual([{ type: "image", data: blob, mimeType: "image/png" }]);
    expect(
      input.attachments?.map(({ fileName, extractedText }) => [fileName, extractedText]),
    ).toEqual([
      ["zed:///rule", "be kind"],
      ["/a.json", '{"a":1}'],
      // The session extracts its text, or sends the file as it is.
      ["/a.pdf", undefined],
    ]);
  });

  it("refuses audio and names its position", () => {
    const sound: ContentBlock = { type: "audio", data: "", mimeType: "audio/wav" };
    expect(() => promptInput([text("hi"), sound])).toThrow(/prompt\[1\].*audio/);
  });

  it("keeps any texts and links in order", () => {
    const blocks = fc.array(
      fc.oneof(
        fc.string().map(text),
        fc
          .tuple(fc.string(), fc.oneof(fc.webUrl(), fc.string()))
          .map(([name, uri]) => link(name, uri)),
      ),
    );
    fc.assert(
      fc.property(blocks, (given) => {
        const { text: whole } = promptInput(given);
        let at = 0;
        for (const block of given) {
          const wanted = block.type === "text" ? block.text : "](";
          at = whole.indexOf(wanted, at);
          expect(at).toBeGreaterThanOrEqual(0);
          at += wanted.length;
        }
      }),
    );
  });
});
