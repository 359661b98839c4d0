import { imageDefect } from "./image-check.ts";
import {
  detectImageType,
  type ImageDimensions,
  imageDimensions,
  jpegOrientation,
} from "./image-type.ts";
import type { ResizeResponse } from "./resize-worker.ts";

/** The longest side of an image for a model, in pixels. */
const maxSide = 2000;
/** The most base64 characters of an image for a model (4.5 MB). */
const maxBase64Length = 4.5 * 1024 * 1024;
const maxBytes = (maxBase64Length / 4) * 3;
// The most pixels to decode, at four bytes each; more than any camera produces.
const maxPixels = 200_000_000;

export type NormalizedImage =
  | {
      readonly kind: "image";
      /** Base64. */
      readonly data: string;
      readonly mimeType: string;
      /** A note to the model that the size has changed. */
      readonly note?: string;
    }
  | { readonly kind: "unusable"; readonly reason: string };

/**
 * Prepares an image for a model: at most 2000×2000 pixels and 4.5 MB of base64, upright, PNG, JPEG,
 * GIF or WebP. Never returns a damaged image or one that is too large.
 */
export async function normalizeImage(bytes: Buffer): Promise<NormalizedImage> {
  const type = detectImageType(bytes);
  const defect = imageDefect(bytes);
  const size = imageDimensions(bytes);
  if (defect !== undefined || type === undefined || size === undefined) {
    return { kind: "unusable", reason: defect ?? "its header is damaged" };
  }
  if (size.width * size.height > maxPixels) {
    return { kind: "unusable", reason: `it is too large (${sizeText(size)} pixels)` };
  }
  const orientation = type === "image/jpeg" ? jpegOrientation(bytes) : 1;
  const isSmall = Math.max(size.width, size.height) <= maxSide && bytes.length <= maxBytes;
  if (isSmall && orientation === 1 && type !== "image/bmp") {
    return { kind: "image", data: bytes.toString("base64"), mimeType: type };
  }
  const response = await resize(bytes, orientation);
  if (response.kind === "failed") return { kind: "unusable", reason: response.reason };
  const upright = orientation >= 5 ? { width: size.height, height: size.width } : size;
  const isScaled = response.width !== upright.width;
  return {
    kind: "image",
    data: Buffer.from(response.bytes).toString("base64"),
    mimeType: response.mimeType,
    ...(isScaled && { note: scaleNote(upright, response) }),
  };
}

function scaleNote(original: ImageDimensions, shown: ImageDimensions): string {
  const factor = (original.width / shown.width).toFixed(2);
  return `[Image: original ${sizeText(original)}, shown at ${sizeText(shown)}. Multiply coordinates by ${factor} for the original.]`;
}

function sizeText({ width, height }: ImageDimensions): string {
  return `${width}x${height}`;
}

// In a worker, because decoding a photo takes a second of CPU time.
async function resize(bytes: Buffer, orientation: number): Promise<ResizeResponse> {
  const [{ Worker }, { createRequire }, { resizeInWorker }] = await Promise.all([
    import("node:worker_threads"),
    import("node:module"),
    import("./resize-worker.ts"),
  ]);
  let codecPath: string;
  try {
    codecPath = createRequire(import.meta.url).resolve("@silvia-odwyer/photon-node");
  } catch {
    return { kind: "failed", reason: "it must be made smaller, and the image codec is missing" };
  }
  const worker = new Worker(`(${resizeInWorker.toString()})()`, {
    eval: true,
    env: {},
    execArgv: [],
    workerData: { bytes: new Uint8Array(bytes), codecPath, orientation, maxSide, maxBytes },
  });
  try {
    return await new Promise<ResizeResponse>((resolve) => {
      const fail = () => resolve({ kind: "failed", reason: "it cannot be decoded" });
      worker.on("message", (message: unknown) => {
        if (isResponse(message)) resolve(message);
      });
      worker.once("error", fail);
      worker.once("exit", fail);
    });
  } finally {
    await worker.terminate();
  }
}

// Node may post its own messages on the channel.
function isResponse(message: unknown): message is ResizeResponse {
  return typeof message === "object" && message !== null && "kind" in message;
}
