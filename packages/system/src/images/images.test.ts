import { crc32, deflateSync } from "node:zlib";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ReadLedger } from "../../../coding-agent/src/tools/common/read-ledger.ts";
import { runReadTool } from "../../../coding-agent/src/tools/read/read.ts";
import { textOf, toolCall, Workspace } from "../processes/__fixtures__/workspace.ts";
import { detectImageType, imageDimensions, jpegOrientation } from "./image-type.ts";
import { normalizeImage } from "./normalize-image.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = new Workspace();
});
afterEach(() => workspace[Symbol.dispose]());

function pngBlock(kind: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const block = Buffer.alloc(body.length + 8);
  block.writeUInt32BE(data.length, 0);
  body.copy(block, 4);
  block.writeUInt32BE(crc32(body), body.length + 4);
  return block;
}

/** A PNG in true colour; `color` returns the red, green and blue of a pixel. */
function png(width: number, height: number, color: (x: number, y: number) => number[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows.set(color(x, y), y * (width * 3 + 1) + 1 + x * 3);
  }
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngBlock("IHDR", header),
    pngBlock("IDAT", deflateSync(rows, { level: 1 })),
    pngBlock("IEND", Buffer.alloc(0)),
  ]);
}

function bitmap(width: number, height: number): Buffer {
  const rowBytes = Math.ceil((width * 3) / 4) * 4;
  const bytes = Buffer.alloc(54 + rowBytes * height, 0x80);
  bytes.fill(0, 0, 54);
  bytes.write("BM", 0, "latin1");
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  return bytes;
}

const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const small = png(3, 2, () => [255, 0, 0]);

async function read(path: string, modelSupportsImages = true) {
  const environment = workspace.environment({ modelSupportsImages: () => modelSupportsImages });
  return runReadTool({ path }, { ...environment, readLedger: new ReadLedger() }, toolCall());
}

it("recognises images by their first bytes and reads their size", () => {
  expect(detectImageType(small)).toBe("image/png");
  expect(imageDimensions(small)).toEqual({ width: 3, height: 2 });
  expect(detectImageType(gif)).toBe("image/gif");
  expect(imageDimensions(gif)).toEqual({ width: 1, height: 1 });
  expect(imageDimensions(bitmap(5, 4))).toEqual({ width: 5, height: 4 });
  expect(detectImageType(Buffer.from("BM is not a bitmap, it is a text."))).toBeUndefined();
  expect(imageDimensions(small.subarray(0, 18))).toBeUndefined();
});

it("passes a small image unchanged, whatever its name", async () => {
  workspace.write({ "picture.txt": small });
  expect(await read("picture.txt")).toEqual({
    content: [
      { type: "text", text: "Read image file [image/png]" },
      { type: "image", mimeType: "image/png", data: small.toString("base64") },
    ],
  });
});

it("describes the image to a text-only model instead of sending it", async () => {
  workspace.write({ "a.png": small });
  const result = await read("a.png", false);
  expect(result.content).toHaveLength(1);
  expect(textOf(result)).toContain("[Image omitted: the current model takes no images.]");
});

it("refuses an image that is cut off or damaged", async () => {
  const damaged = Buffer.from(small);
  damaged[44] = (damaged[44] ?? 0) ^ 0xff;
  workspace.write({ "cut.png": small.subarray(0, -15), "damaged.png": damaged });
  await expect(read("cut.png")).rejects.toThrow("Cannot show image cut.png: it is cut off.");
  await expect(read("damaged.png")).rejects.toThrow("its IDAT block is damaged");
});

it("shrinks a large image and names the original size", async () => {
  const image = await normalizeImage(png(2600, 1300, (x, y) => [x & 255, y & 255, 0]));
  expect(image).toMatchObject({
    kind: "image",
    note: "[Image: original 2600x1300, shown at 2000x1000. Multiply coordinates by 1.30 for the original.]",
  });
  if (image.kind !== "image") return;
  expect(imageDimensions(Buffer.from(image.data, "base64"))).toEqual({ width: 2000, height: 1000 });
});

it("converts a bitmap", async () => {
  const image = await normalizeImage(bitmap(40, 30));
  expect(image).toMatchObject({ kind: "image", mimeType: expect.stringMatching(/png|jpeg/) });
  if (image.kind !== "image") return;
  expect(imageDimensions(Buffer.from(image.data, "base64"))).toEqual({ width: 40, height: 30 });
});

it("turns a photo upright", async () => {
  // Like a camera's photo: a JPEG made by the codec, with an EXIF block that says "turn right".
  const large = await normalizeImage(png(2400, 1200, (x, y) => [(x * y) & 255, x & 255, y & 255]));
  if (large.kind !== "image" || large.mimeType !== "image/jpeg") {
    expect.unreachable("noise is smaller as a JPEG");
  }
  const photo = Buffer.from(large.data, "base64");
  const exif = Buffer.from("ffe1001c4578696600004d4d002a00000008000101120003000000010006", "hex");
  const padded = Buffer.concat([exif, Buffer.alloc(2)]);
  padded.writeUInt16BE(padded.length - 2, 2);
  const turned = Buffer.concat([photo.subarray(0, 2), padded, photo.subarray(2)]);
  expect(jpegOrientation(turned)).toBe(6);
  const upright = await normalizeImage(turned);
  if (upright.kind !== "image") expect.unreachable(upright.reason);
  expect(imageDimensions(Buffer.from(upright.data, "base64"))).toEqual({
    width: 1000,
    height: 2000,
  });
});
