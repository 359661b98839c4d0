/** Output of a kept command: a byte for the stream (1 or 2), four for the length, and the bytes. */
export function createFrameWriter(folder: string) {
  const fs = process.getBuiltinModule("node:fs");
  const file = fs.openSync(`${folder}/output`, "wx", 0o600);
  let isOpen = true;
  let size = 0;
  // What a full disk did not take. More than this is lost: the command goes on.
  const mostWaiting = 4 * 1024 * 1024;
  let waiting = Buffer.alloc(0);

  /** A half frame is written over the next time. */
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
    /** Whether all is written. */
    end(): boolean {
      if (!flush()) return false;
      if (isOpen) fs.closeSync(file);
      isOpen = false;
      return true;
    },
  };
}
