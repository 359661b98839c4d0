import { describe, expect, it } from "vitest";
import { rewriteLinks } from "./rewrite-links.ts";

const pages = new Map([
  ["docs/protocol.md", "protocol.md"],
  ["docs/decisions/0001-a.md", "decisions/0001-a.md"],
  ["packages/rpc-client/README.md", "packages/rpc-client.md"],
  ["docs/images/a.png", "images/a.png"],
]);

function rewritten(text: string, file = "docs/protocol.md", sourceAddress?: string): string {
  return rewriteLinks(text, { file, pages, sourceAddress });
}

describe("a link", () => {
  it("to a page keeps its fragment, wherever the page is", () => {
    expect(rewritten("[x](decisions/0001-a.md#why)")).toBe("[x](./decisions/0001-a.md#why)");
    expect(rewritten("[x](../protocol.md)", "docs/decisions/0001-a.md")).toBe(
      "[x](../protocol.md)",
    );
    expect(rewritten("[x](docs/protocol.md)", "packages/rpc-client/README.md")).toBe("x");
    expect(rewritten("[x](../../docs/protocol.md)", "packages/rpc-client/README.md")).toBe(
      "[x](../protocol.md)",
    );
  });

  it("to a folder leads to its README", () => {
    expect(rewritten("[x](../packages/rpc-client/)")).toBe("[x](./packages/rpc-client.md)");
  });

  it("to another file leads to the repository or becomes plain text", () => {
    expect(rewritten("[x `y`](../apps/a.ts)")).toBe("x `y`");
    expect(rewritten("[x](../apps/a.ts)", undefined, "https://host/blob")).toBe(
      "[x](https://host/blob/apps/a.ts)",
    );
  });

  it("to the web, to its own page or to an image is unchanged", () => {
    const text = "[a](https://a.example/b.md) [b](#events) ![c](images/a.png)";
    expect(rewritten(text)).toBe(text.replace("(images", "(./images"));
  });

  it("in a code block is unchanged, and comments are removed", () => {
    const code = "```ts\nconst a = b[0](c.md);\n```";
    expect(rewritten(`<!-- Generated. -->\n\n${code}`)).toBe(`\n${code}`);
  });
});
