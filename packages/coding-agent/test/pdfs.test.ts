import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createStream } from "@tau-agent/ai";
import { toolCall, turn } from "@tau-agent/ai/testing";
import type { ToolResultMessage } from "@tau-agent/rpc-protocol/messages";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { describe, expect, it } from "vitest";
import { makePdf } from "../../system/src/documents/__fixtures__/make-pdf.ts";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../src/create/__fixtures__/test-session.ts";
import { createAgentSession } from "../src/create/create-session.ts";

const pages = ["First page", "Second page", "Third page"];
const pdf = makePdf(pages);
const data = pdf.toString("base64");
const secret = makePdf(["x"], { isEncrypted: true });

/** The result of one `read` call, and its session. */
async function read(
  args: Record<string, unknown>,
  files: Record<string, Buffer> = { "a.pdf": pdf },
) {
  const folder = temporaryFolder();
  const places = placesIn(folder);
  mkdirSync(places.cwd, { recursive: true });
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(places.cwd, name), bytes);
  const { session } = await createTestSession([turn(toolCall("read", args)), "done"], places);
  await session.prompt("go");
  const result = session.messages.find(({ role }) => role === "toolResult") as ToolResultMessage;
  return { ...result, text: contentText(result.content, "\n") };
}

describe("read of a PDF", () => {
  it("shows its text by page", async () => {
    const { text, details } = await read({ path: "a.pdf" });
    expect(text).toBe(
      "PDF of 3 pages\n[Page 1 of 3]\nFirst page\n\n[Page 2 of 3]\nSecond page\n\n[Page 3 of 3]\nThird page",
    );
    // The scripted endpoint does not accept files, so the file is not kept.
    expect(details).toBeUndefined();
  });

  it.each([
    ["2", ["Second page"]],
    ["2-3", ["Second page", "Third page"]],
    ["2-", ["Second page", "Third page"]],
    ["1-99", pages],
  ])("shows pages %s", async (asked, shown) => {
    const { text } = await read({ path: "a.pdf", pages: asked });
    for (const page of pages) expect(text.includes(page)).toBe(shown.includes(page));
  });

  it.each([
    [{ pages: "7" }, "it has 3 pages, and page 7 was asked for"],
    [{ pages: "0" }, 'Give a page or a range, as "3" or "3-7"'],
    [{ pages: "3-2" }, "Give a page or a range"],
    [{ pages: "all" }, "Give a page or a range"],
  ])("explains the problem with %j", async (args, text) => {
    expect(await read({ path: "a.pdf", ...args })).toMatchObject({
      isError: true,
      text: expect.stringContaining(text),
    });
  });

  it("explains that the file is encrypted, broken or too long", async () => {
    const files = {
      "secret.pdf": secret,
      "broken.pdf": Buffer.from("%PDF-1.7\n"),
      "long.pdf": makePdf(Array.from({ length: 601 }, () => "")),
    };
    const reasons = ["it is encrypted", "it is damaged", "it has 601 pages; at most 600 are read"];
    for (const [at, path] of Object.keys(files).entries()) {
      const { isError, text } = await read({ path }, files);
      expect(isError).toBe(true);
      expect(text).toBe(`Cannot read ${path}: ${reasons[at]}.`);
    }
  });

  it("truncates a long file at a page, and says how to continue", async () => {
    const lines = Array.from({ length: 45 }, () => "word ".repeat(15)).join("\n");
    const long = makePdf(Array.from({ length: 40 }, () => lines));
    const { text } = await read({ path: "a.pdf" }, { "a.pdf": long });
    const [, next] = /\[Use pages="(\d+)-40" to continue\.\]$/.exec(text) ?? [];
    expect(Number(next)).toBeGreaterThan(10);
    expect(text).not.toContain(`[Page ${next} of`);
    const rest = await read({ path: "a.pdf", pages: `${next}-40` }, { "a.pdf": long });
    expect(rest.text).toContain(`[Page ${next} of`);
  });
});

/** A session whose requests to Anthropic are intercepted, and these requests. */
async function claude(replies: readonly string[] = []) {
  const sent: string[] = [];
  const events = (text: string) =>
    [
      {
        type: "message_start",
        message: {
          id: "m",
          type: "message",
          role: "assistant",
          model: "claude",
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } },
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 1 },
      },
      { type: "message_stop" },
    ]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join("");
  const fetch: typeof globalThis.fetch = async (_url, init) => {
    sent.push(String(init?.body));
    const body = events(replies[sent.length - 1] ?? "ok");
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const stream = createStream();
  const session = await createAgentSession({
    ...placesIn(temporaryFolder()),
    model: "anthropic/claude-sonnet-4-5",
    apiKey: "key",
    stream: (model, context, options) => stream(model, context, { ...options, fetch }),
  });
  return { session, sent };
}

describe("an attached PDF", () => {
  it.each([
    ["as its bytes alone", { mimeType: "application/pdf", data }],
    [
      "in the documented form",
      {
        id: "a",
        type: "document",
        fileName: "document.pdf",
        mimeType: "application/pdf",
        size: pdf.length,
        content: data,
      },
    ],
    ["as a data URL", { mimeType: "application/pdf", data: `data:application/pdf;base64,${data}` }],
  ] as const)(
    "is sent to Claude as a file when given %s, and stays a file",
    async (_title, attachment) => {
      const { session, sent } = await claude();
      await session.prompt("read it", { attachments: [attachment] });
      await session.prompt("again");
      for (const body of sent) {
        const [first] = JSON.parse(body).messages;
        expect(first.content.slice(0, 2)).toMatchObject([
          { type: "text", text: "read it" },
          {
            type: "document",
            title: "document.pdf",
            source: { media_type: "application/pdf", data },
          },
        ]);
        expect(body).not.toContain("First page");
      }
      expect(sent).toHaveLength(2);
      // Clients and session files have the text and the attachment.
      expect(session.messages[0]).toMatchObject({
        content: [
          { text: "read it" },
          {
            text: expect.stringMatching(/^<file name="document.pdf">\n\[Page 1 of 3\]\nFirst page/),
          },
        ],
        attachments: [{ fileName: "document.pdf", size: pdf.length }],
      });
      await session.dispose();
    },
  );

  it("is replaced by its extractedText", async () => {
    const { session, sent } = await claude();
    const attachment = {
      id: "a",
      type: "document",
      fileName: "a.pdf",
      mimeType: "application/pdf",
      size: 1,
      content: data,
      extractedText: "mine",
    } as const;
    await session.prompt("read it", { attachments: [attachment] });
    expect(JSON.parse(sent[0] ?? "").messages[0].content[1].text).toContain("mine");
    await session.dispose();
  });

  it.each([
    ["encrypted", secret, "it is encrypted"],
    ["broken", Buffer.from("hello"), "it is damaged"],
    ["too large", Buffer.alloc(33 * 1024 * 1024), "it is larger than 32 MiB"],
  ])("is refused if it is %s, naming the field and the reason", async (_title, bytes, reason) => {
    const { session } = await createTestSession(["ok"]);
    const attachments = [
      { mimeType: "application/pdf", data: bytes.toString("base64"), fileName: "a.pdf" },
    ];
    const submitted = session.submit("read it", { attachments });
    await expect(submitted).rejects.toMatchObject({
      code: "invalid_attachment",
      message: expect.stringMatching(
        new RegExp(`attachments\\[0\\].*a\\.pdf cannot be read: ${reason}`),
      ),
    });
    expect(session.messages).toEqual([]);
  });
});
