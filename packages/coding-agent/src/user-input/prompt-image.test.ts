import { describe, expect, it } from "vitest";
import { createTestSession } from "../create/__fixtures__/test-session.ts";

/** A single red pixel. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

describe("an image in a prompt", () => {
  it("has the type of its bytes, whatever the client declares, with or without a data URL", async () => {
    const { session } = await createTestSession(["ok"]);
    const data = `data:image/jpeg;base64,${png}`;
    await session.prompt("look", {
      images: [
        { type: "image", data: png, mimeType: "image/webp" },
        { type: "image", source: { type: "base64", mediaType: "image/gif", data } },
      ],
    });
    const image = { type: "image", data: png, mimeType: "image/png" };
    expect(session.messages[0]).toMatchObject({
      content: [{ type: "text", text: "look" }, image, image],
    });
  });

  it("is only fetched over https", async () => {
    const { session } = await createTestSession(["ok"]);
    const source = { type: "url" as const, url: "http://127.0.0.1:1/a.png" };
    await expect(session.submit("look", { images: [{ type: "image", source }] })).rejects.toThrow(
      "images[0]",
    );
  });

  it("is checked but sent unchanged without autoResize", async () => {
    const { session } = await createTestSession(["ok"]);
    session.settings.override("images.autoResize", false);
    const broken = { type: "image" as const, data: png.slice(0, 40), mimeType: "image/png" };
    await expect(session.submit("look", { images: [broken] })).rejects.toMatchObject({
      code: "invalid_image",
    });
    await session.prompt("look", { images: [{ ...broken, data: png }] });
    expect(session.messages).toHaveLength(2);
  });

  it("does not reach the model while blockImages is on", async () => {
    const seen: string[] = [];
    const { session } = await createTestSession((request) => {
      seen.push(JSON.stringify(request.messages));
      return "ok";
    });
    session.settings.override("images.blockImages", true);
    await session.prompt("look", { images: [{ type: "image", data: png, mimeType: "image/png" }] });
    expect(seen[0]).not.toContain(png);
    session.settings.override("images.blockImages", false);
    await session.prompt("again");
    expect(seen[1]).toContain(png);
  });
});

describe("an attachment", () => {
  it("becomes text or an image, and stays part of the message", async () => {
    const { session } = await createTestSession(["ok"]);
    const base = { id: "a1", fileName: "notes.txt", mimeType: "text/plain", size: 5 };
    const content = Buffer.from("hello").toString("base64");
    const attachments = [
      { ...base, type: "document" as const, content },
      {
        ...base,
        type: "document" as const,
        mimeType: "application/pdf",
        content,
        extractedText: "page",
      },
      { ...base, type: "image" as const, mimeType: "image/png", content: png },
    ];
    await session.prompt("read", { attachments });
    expect(session.messages[0]).toMatchObject({
      attachments,
      content: [
        { text: "read" },
        { text: '<file name="notes.txt">\nhello\n</file>' },
        { text: '<file name="notes.txt">\npage\n</file>' },
        { type: "image" },
      ],
    });
    // The message offered for editing is the original one.
    expect(session.navigation.forkMessages()).toMatchObject([{ text: "read" }]);
  });

  it("fails without readable text, naming the field and what to send instead", async () => {
    const { session } = await createTestSession(["ok"]);
    const archive = {
      id: "a",
      type: "document" as const,
      fileName: "a.zip",
      mimeType: "application/zip",
    };
    const submitted = session.submit("read", {
      attachments: [{ ...archive, size: 1, content: "AA==" }],
    });
    await expect(submitted).rejects.toThrow("attachments[0]");
    await expect(submitted).rejects.toThrow("extractedText");
  });
});

describe("an empty message", () => {
  it("is refused, both as a prompt and as a queued message, and changes nothing", async () => {
    const { session } = await createTestSession(["ok"]);
    for (const text of ["", " \n"]) {
      const refused = { code: "prompt_empty" };
      await expect(session.submit(text)).rejects.toMatchObject(refused);
      await expect(session.steer(text)).rejects.toMatchObject(refused);
      await expect(session.followUp(text)).rejects.toMatchObject(refused);
    }
    expect(session.messages).toEqual([]);
    const image = { type: "image" as const, data: png, mimeType: "image/png" };
    expect(await session.prompt("", { images: [image] })).toMatchObject({ status: "completed" });
  });
});
