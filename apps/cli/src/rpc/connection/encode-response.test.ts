import { type DialectFrame, encodeLine, type SessionTreeNode } from "@tau-agent/rpc-protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { recordFrames } from "../../../test/recording/record-host.ts";
import { encodeResponse as encodeInPieces } from "./encode-response.ts";
import { lineText } from "./line-writer.ts";

const encodeResponse = (frame: DialectFrame): string => lineText(encodeInPieces(frame));

const entry = (id: string, text = "") => ({
  type: "custom" as const,
  customType: text,
  id,
  parentId: null,
  timestamp: "2026-01-01T00:00:00.000Z",
});

const response = (tree: readonly SessionTreeNode[], leafId: string | null = "a") =>
  ({
    id: "1",
    type: "response",
    command: "get_tree",
    success: true,
    data: { tree, leafId },
  }) as const;

const nodes: fc.Memo<SessionTreeNode[]> = fc.memo((depth) =>
  depth <= 1
    ? fc.constant([])
    : fc.array(
        fc.record(
          {
            entry: fc.string({ unit: "binary" }).map((text) => entry("a", `${text}\u2028`)),
            children: nodes(depth - 1),
            label: fc.string(),
            labelTimestamp: fc.string(),
          },
          { requiredKeys: ["entry", "children"] },
        ),
        { maxLength: 3 },
      ),
);

describe("encodeResponse", () => {
  it("encodes a tree like the encoder of all other frames", () => {
    fc.assert(
      fc.property(nodes(4), (tree) => {
        const frame = response(tree);
        recordFrames([encodeResponse(frame)]);
        expect(JSON.parse(encodeResponse(frame))).toEqual(JSON.parse(encodeLine(frame)));
        expect(encodeResponse(frame)).not.toMatch(/[\u2028\u2029]/);
      }),
    );
  });

  it("copies the JSON of stored messages without encoding them again", () => {
    const json = '[{"role":"user","content":"a\u2028b","timestamp":1}]';
    const head = { id: "1", type: "response", command: "get_messages", success: true } as const;
    const stored = { json: [json.slice(0, 30), json.slice(30)].map((part) => Buffer.from(part)) };
    const encoded = encodeResponse({ ...head, data: { messages: stored } } as DialectFrame);
    recordFrames([encoded]);
    expect(encoded).toBe(encodeLine({ ...head, data: { messages: JSON.parse(json) } }));
  });

  it("encodes every other response as usual", () => {
    const frame = { type: "response", command: "fork", success: false, error: "no" } as const;
    expect(encodeResponse(frame)).toBe(encodeLine(frame));
  });

  it("writes a conversation of fifty thousand entries whole", () => {
    let node: SessionTreeNode = { entry: entry("the last"), children: [] };
    for (let depth = 1; depth < 50_000; depth++) node = { entry: entry("a"), children: [node] };
    const line = encodeResponse(response([node]));
    expect(line).toContain("the last");
    expect(line.match(/"children"/g)).toHaveLength(50_000);
    expect(line.endsWith(`,"leafId":"a"}}\n`)).toBe(true);
  });
});
