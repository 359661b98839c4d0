/** Removes keys from a stream of bytes. */
export interface StreamMask {
  push(chunk: Buffer): Buffer;
  end(): Buffer;
}

export interface JobWriter {
  add(chunk: Buffer, stream: string): void;
  /** Returns whether everything is written or lost for good. */
  end(): boolean;
}

export interface JobWriterOptions {
  readonly folder: string;
  readonly mask?: StreamMask | undefined;
  /** The most bytes to keep; default 16 MiB. */
  readonly maxBytes?: number | undefined;
}

/**
 * Writes the output of a kept job to files of a sixteenth of the limit each, named by the position of their first
 * byte, and deletes the oldest. So the limit always holds, and nothing is copied. A full disk loses output but does
 * not stop the job.
 *
 * The process that keeps commands runs this function from its source text, so it must not use anything outside itself.
 */
export function createJobWriter({
  folder,
  mask,
  maxBytes = 16 * 1024 * 1024,
}: JobWriterOptions): JobWriter {
  const fs = process.getBuiltinModule("node:fs");
  const partBytes = Math.floor(maxBytes / 16);
  const parts: string[] = [];
  /** The streams are interleaved, so each one holds back an incomplete last character. */
  const held = new Map<string, Buffer>();
  let position = 0;
  let left = 0;
  let file: number | undefined;

  function open(): number {
    if (file !== undefined) fs.closeSync(file);
    file = undefined;
    const path = `${folder}/output-${position}`;
    const opened = fs.openSync(path, "w", 0o600);
    file = opened;
    left = partBytes;
    parts.push(path);
    if (parts.length > 16) fs.rmSync(parts.shift() ?? "", { force: true });
    return opened;
  }

  function write(bytes: Buffer): void {
    let rest = bytes;
    try {
      while (rest.length > 0) {
        const target = file === undefined || left === 0 ? open() : file;
        const written = fs.writeSync(target, rest, 0, Math.min(rest.length, left));
        position += written;
        left -= written;
        rest = rest.subarray(written);
      }
    } catch {
      // Output that cannot be written is lost; the next part begins after it.
      position += rest.length;
      left = 0;
    }
  }

  /** Where an incomplete last character begins, otherwise the length. */
  function border(bytes: Buffer): number {
    for (let back = 1; back <= Math.min(3, bytes.length); back++) {
      const byte = bytes[bytes.length - back] ?? 0;
      if ((byte & 0xc0) === 0x80) continue;
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      return length > back ? bytes.length - back : bytes.length;
    }
    return bytes.length;
  }

  return {
    add(chunk, stream) {
      const before = held.get(stream);
      const bytes = before === undefined ? chunk : Buffer.concat([before, chunk]);
      const end = border(bytes);
      if (end === bytes.length) held.delete(stream);
      else held.set(stream, Buffer.from(bytes.subarray(end)));
      const whole = bytes.subarray(0, end);
      write(mask?.push(whole) ?? whole);
    },
    end() {
      for (const rest of held.values()) write(mask?.push(rest) ?? rest);
      held.clear();
      if (mask !== undefined) write(mask.end());
      if (file !== undefined) fs.closeSync(file);
      file = undefined;
      left = 0;
      return true;
    },
  };
}
