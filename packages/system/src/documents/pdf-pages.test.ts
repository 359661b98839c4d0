import { expect, it } from "vitest";
import { makePdf } from "./__fixtures__/make-pdf.ts";
import { pdfPages } from "./pdf-pages.ts";

const three = makePdf(["First page\nwith two lines", "", "Third (and last)"]);

it("reads a PDF page by page, including one without text", async () => {
  expect(await pdfPages({ bytes: three })).toEqual({
    text: "[Page 1 of 3]\nFirst page\nwith two lines\n\n[Page 2 of 3]\n(no text; it may be an image)\n\n[Page 3 of 3]\nThird (and last)",
    last: 3,
    total: 3,
  });
});

it("reads the requested pages, and no more than fit", async () => {
  expect(await pdfPages({ bytes: three, first: 3, last: 9 })).toMatchObject({
    text: "[Page 3 of 3]\nThird (and last)",
    last: 3,
  });
  expect(await pdfPages({ bytes: three, maxLength: 60 })).toMatchObject({ last: 1, total: 3 });
  const cut = await pdfPages({ bytes: makePdf(["x".repeat(500)]), maxLength: 100 });
  expect(cut).toMatchObject({
    text: expect.stringContaining("[The rest of the page is left out]"),
  });
});

it.each([
  ["encrypted", makePdf(["secret"], { isEncrypted: true }), "it is encrypted"],
  ["broken", Buffer.from("%PDF-1.7\nnothing of one"), "it is damaged"],
  ["too large", Buffer.alloc(32 * 1024 * 1024 + 1), "it is larger than 32 MiB"],
  [
    "too long",
    makePdf(Array.from({ length: 601 }, () => "")),
    "it has 601 pages; at most 600 are read",
  ],
])("explains in a sentence why a PDF that is %s cannot be read", async (_title, bytes, reason) => {
  expect(await pdfPages({ bytes })).toMatchObject({ reason });
});

it("names a page that does not exist", async () => {
  const reason = "it has 3 pages, and page 7 was asked for";
  expect(await pdfPages({ bytes: three, first: 7 })).toEqual({ reason });
});

it("stops when the signal is aborted", async () => {
  const ending = new AbortController();
  const reading = pdfPages({ bytes: three }, ending.signal);
  ending.abort(new Error("aborted"));
  await expect(reading).rejects.toThrow("aborted");
});
