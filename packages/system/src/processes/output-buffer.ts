import { LineFolder } from "./line-folder.ts";
import type { OutputFile } from "./output-file.ts";
import type { OutputMask } from "./output-mask.ts";
import type { OutputStream } from "./output-pump.ts";
import { maxOutputBytes, maxOutputLines, type TruncationResult, truncateTail } from "./truncate.ts";

export interface OutputSnapshot {
  /** `content` is the end of the output; the totals cover all of it. */
  readonly truncation: TruncationResult;
  /** Set once output was cut off. */
  readonly fullOutputPath?: string;
  /** Why the file with the full output is incomplete. */
  readonly spillFailure?: Error;
  /** The length of the last line in bytes, shown or not. */
  readonly lastLineBytes: number;
  /** Whether repeated and overwritten lines were left out of `content`. */
  readonly isFolded?: boolean;
}

/** What an {@link OutputBuffer} does with the output. */
export interface OutputBufferOptions {
  /** Removes keys before output is kept or written. */
  readonly mask?: OutputMask | undefined;
  /** Whether to leave out repeated and overwritten lines. */
  readonly folds?: boolean;
}

// One character more than can be shown, so that a line that was cut at its start is never taken for complete.
const keptBytes = maxOutputBytes + 8;
const newline = 10;

/**
 * Accepts output of any size in bounded memory: keeps the end and, once there is more than a result
 * shows, writes everything to a private file.
 */
export class OutputBuffer {
  readonly #open: () => OutputFile;
  readonly #mask: OutputMask | undefined;
  readonly #folder: LineFolder | undefined;
  /** All output until it is written to a file, if the tail is folded. */
  #whole: Buffer[] = [];
  readonly #partial: Record<OutputStream, Buffer> = {
    stdout: Buffer.alloc(0),
    stderr: Buffer.alloc(0),
  };
  #tail = Buffer.allocUnsafe(4096);
  #tailLength = 0;
  #totalBytes = 0;
  #newlines = 0;
  #lastLineBytes = 0;
  // True at the start, too: an empty output has no line.
  #endsWithNewline = true;
  #spill: OutputFile | undefined;

  /** @param open opens the file for the whole output if that is too long to show */
  constructor(open: () => OutputFile, { mask, folds = false }: OutputBufferOptions = {}) {
    this.#open = open;
    this.#mask = mask;
    this.#folder = folds ? new LineFolder() : undefined;
  }

  /** Takes ownership of a chunk. The promise, if any, resolves when the next chunk may be appended. Never fails. */
  append(chunk: Buffer, stream: OutputStream): Promise<void> | undefined {
    const held = this.#partial[stream];
    const bytes = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
    // The streams are interleaved, so each part must end on a character boundary.
    const end = bytes.length - incompleteCharacterBytes(bytes);
    this.#partial[stream] = Buffer.from(bytes.subarray(end));
    return this.#addMasked(bytes.subarray(0, end));
  }

  /** The part to show now; its cost depends on the limits, not on the size of the output. */
  snapshot(): OutputSnapshot {
    const kept = this.#tail.toString("utf8", 0, this.#tailLength);
    const shown = truncateTail(kept + (this.#folder?.pending.toString("utf8") ?? ""));
    const truncation = {
      ...shown,
      totalBytes: this.#totalBytes,
      totalLines: this.#totalLines,
    };
    const failure = this.#spill?.failure;
    return {
      truncation,
      lastLineBytes: this.#lastLineBytes,
      ...(this.#folder?.hasFolded && { isFolded: true }),
      ...(this.#spill !== undefined && { fullOutputPath: this.#spill.path }),
      ...(failure !== undefined && { spillFailure: failure }),
    };
  }

  async finish(): Promise<OutputSnapshot> {
    for (const stream of ["stdout", "stderr"] as const) {
      const rest = this.#partial[stream];
      this.#partial[stream] = Buffer.alloc(0);
      await this.#addMasked(rest);
    }
    if (this.#mask !== undefined) await this.#add(this.#mask.end());
    // Replacement characters for invalid bytes can make a text longer than its bytes.
    if (this.snapshot().truncation.truncated) void this.#openSpill();
    await this.#spill?.close();
    return this.snapshot();
  }

  get #totalLines(): number {
    return this.#newlines + (this.#endsWithNewline ? 0 : 1);
  }

  #addMasked(bytes: Buffer): Promise<void> | undefined {
    return this.#add(this.#mask?.push(bytes) ?? bytes);
  }

  #add(bytes: Buffer): Promise<void> | undefined {
    if (bytes.length === 0) return undefined;
    this.#count(bytes);
    const isCut = this.#totalBytes > maxOutputBytes || this.#totalLines > maxOutputLines;
    const opened = isCut ? this.#openSpill() : undefined;
    this.#keep(this.#folder?.push(bytes) ?? bytes);
    if (this.#spill !== undefined) return this.#spill.write(bytes) ?? opened;
    // A copy: the chunk may be a slice of a much larger buffer.
    if (this.#folder !== undefined) this.#whole.push(Buffer.from(bytes));
    return opened;
  }

  #openSpill(): Promise<void> | undefined {
    if (this.#spill !== undefined) return undefined;
    this.#spill = this.#open();
    const tail = this.#tail.subarray(0, this.#tailLength);
    const whole = this.#folder === undefined ? Buffer.from(tail) : Buffer.concat(this.#whole);
    this.#whole = [];
    return this.#spill.write(whole);
  }

  #count(bytes: Buffer): void {
    let carried = this.#endsWithNewline ? 0 : this.#lastLineBytes;
    let lineStart = 0;
    for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, lineStart)) {
      this.#newlines++;
      this.#lastLineBytes = carried + at - lineStart;
      carried = 0;
      lineStart = at + 1;
    }
    this.#endsWithNewline = lineStart === bytes.length;
    if (!this.#endsWithNewline) this.#lastLineBytes = carried + bytes.length - lineStart;
    this.#totalBytes += bytes.length;
  }

  #keep(bytes: Buffer): void {
    if (bytes.length >= keptBytes) {
      this.#reserve(keptBytes);
      bytes.copy(this.#tail, 0, bytes.length - keptBytes);
      this.#tailLength = keptBytes;
      return;
    }
    if (this.#tailLength + bytes.length > keptBytes * 2) {
      const kept = keptBytes - bytes.length;
      this.#tail.copyWithin(0, this.#tailLength - kept, this.#tailLength);
      this.#tailLength = kept;
    }
    this.#reserve(this.#tailLength + bytes.length);
    bytes.copy(this.#tail, this.#tailLength);
    this.#tailLength += bytes.length;
  }

  #reserve(length: number): void {
    if (length <= this.#tail.length) return;
    const grown = Buffer.allocUnsafe(Math.min(keptBytes * 2, Math.max(length, length * 2)));
    this.#tail.copy(grown, 0, 0, this.#tailLength);
    this.#tail = grown;
  }
}

/** How many bytes at the end belong to a UTF-8 character that is not complete yet (0 to 3). */
export function incompleteCharacterBytes(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}
