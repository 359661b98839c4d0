/**
 * Writes the output of a kept command as frames: a byte for the stream (1 or 2), four for the length, then the bytes.
 */
export function createFrameWriter(folder: string) {
  const fs = process.getBuiltinModule("node:fs");
  const file = fs.openSync(`${folder}/output`, "wx", 0o600);
  let isOpen = true;
  let size = 0;
  // Frames that a full disk has not accepted. Output beyond this is lost, but the command continues.
  const mostWaiting = 4 * 1024 * 1024;
  let waiting = Buffer.alloc(0);

  /** The next attempt overwrites an incomplete frame. */
  function flush(): boolean {
    try {
      for (let at = 0; at < waiting.length; )
        at += fs.writeSync(file, waiting, at, undefined, size + at);
      size += waiting.length;
      waiting = Buffer.alloc(0);
      return true;
    } catch {
      return false;
    }
  }

  return {
    add(chunk: Buffer, stream: string): void {
      const head = Buffer.alloc(5);
      head.writeUInt8(stream === "stderr" ? 2 : 1, 0);
      head.writeUInt32BE(chunk.length, 1);
      if (waiting.length < mostWaiting) waiting = Buffer.concat([waiting, head, chunk]);
      flush();
    },
    /** Returns whether everything is written. */
    end(): boolean {
      if (!flush()) return false;
      if (isOpen) fs.closeSync(file);
      isOpen = false;
      return true;
    },
  };
}
