interface ResizeRequest {
  readonly bytes: Uint8Array;
  /** Path of photon's module. */
  readonly codecPath: string;
  /** EXIF orientation, 1 to 8. */
  readonly orientation: number;
  readonly maxSide: number;
  readonly maxBytes: number;
}

export type ResizeResponse =
  | {
      readonly kind: "resized";
      readonly bytes: Uint8Array;
      readonly mimeType: "image/png" | "image/jpeg";
      readonly width: number;
      readonly height: number;
    }
  | { readonly kind: "failed"; readonly reason: string };

type Codec = typeof import("@silvia-odwyer/photon-node");
type Image = InstanceType<Codec["PhotonImage"]>;

/**
 * Runs in a worker thread from its source text, because a bundle has no file for a worker to load.
 * So it must not use anything outside this function.
 */
export function resizeInWorker(): void {
  const { parentPort, workerData } = process.getBuiltinModule("node:worker_threads");
  const { createRequire } = process.getBuiltinModule("node:module");
  const request: ResizeRequest = workerData;
  const codec: Codec = createRequire(request.codecPath)(request.codecPath);

  function turned(image: Image): Image {
    const { orientation } = request;
    if (orientation === 1) return image;
    const [width, height] = [image.get_width(), image.get_height()];
    const isSideways = orientation >= 5;
    const [newWidth, newHeight] = isSideways ? [height, width] : [width, height];
    const raw = image.get_raw_pixels();
    const from = new Uint32Array(raw.buffer, raw.byteOffset, width * height);
    const to = new Uint32Array(width * height);
    const isFlippedX = [2, 3, 7, 8].includes(orientation);
    const isFlippedY = [3, 4, 6, 7].includes(orientation);
    for (let y = 0; y < newHeight; y++) {
      for (let x = 0; x < newWidth; x++) {
        const [along, down] = isSideways ? [y, x] : [x, y];
        const sourceX = isFlippedX ? width - 1 - along : along;
        const sourceY = isFlippedY ? height - 1 - down : down;
        to[y * newWidth + x] = from[sourceY * width + sourceX] ?? 0;
      }
    }
    return new codec.PhotonImage(new Uint8Array(to.buffer), newWidth, newHeight);
  }

  function encoded(image: Image): ResizeResponse | undefined {
    const [width, height] = [image.get_width(), image.get_height()];
    const png = { bytes: image.get_bytes(), mimeType: "image/png" as const };
    const jpeg = { bytes: image.get_bytes_jpeg(80), mimeType: "image/jpeg" as const };
    const smaller = png.bytes.length <= jpeg.bytes.length ? png : jpeg;
    if (smaller.bytes.length <= request.maxBytes) {
      return { kind: "resized", ...smaller, width, height };
    }
    for (const quality of [60, 40]) {
      const bytes = image.get_bytes_jpeg(quality);
      if (bytes.length <= request.maxBytes) {
        return { kind: "resized", bytes, mimeType: "image/jpeg", width, height };
      }
    }
    return undefined;
  }

  function resized(): ResizeResponse {
    const image = turned(codec.PhotonImage.new_from_byteslice(request.bytes));
    const [width, height] = [image.get_width(), image.get_height()];
    let scale = Math.min(1, request.maxSide / Math.max(width, height));
    for (let attempt = 0; attempt < 6; attempt++) {
      const side = (length: number) => Math.max(1, Math.round(length * scale));
      const scaled =
        scale === 1
          ? image
          : codec.resize(image, side(width), side(height), codec.SamplingFilter.Lanczos3);
      const result = encoded(scaled);
      if (result !== undefined) return result;
      scale *= 0.7;
    }
    return { kind: "failed", reason: "it stays too large" };
  }

  let response: ResizeResponse;
  try {
    response = resized();
  } catch {
    response = { kind: "failed", reason: "it cannot be decoded" };
  }
  parentPort?.postMessage(response);
}
