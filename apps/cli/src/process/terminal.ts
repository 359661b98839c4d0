import { StringDecoder } from "node:string_decoder";

// All control characters except tab and line ends, and the characters that change the direction of text.
const controls =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Text with each control character replaced by its escape, so that a terminal only displays it. The escape is
 * JSON's, so that a line of JSON keeps its meaning.
 */
export function showControls(text: string): string {
  return text.replace(controls, (found) => {
    return `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

type Write = NodeJS.WriteStream["write"];
type Written = (error?: Error | null) => void;

/** The unprotected write function of each protected stream. */
const unprotected = new WeakMap<object, Write>();

/** Writes text with control sequences of this program; other text in it needs {@link showControls}. */
export function writeControls(stream: Pick<NodeJS.WriteStream, "write">, text: string): void {
  const write = unprotected.get(stream) ?? stream.write.bind(stream);
  write(text);
}

/**
 * Keeps text of a model, a server or a file name from controlling the terminal that `stream` is connected to.
 * Files and pipes receive every byte unchanged.
 */
export function protectTerminal(stream: NodeJS.WriteStream): void {
  if (!stream.isTTY) return;
  const write: Write = stream.write.bind(stream);
  unprotected.set(stream, write);
  // A character may be split between two writes.
  const decoder = new StringDecoder("utf8");
  const writeShown = (
    chunk: Uint8Array | string,
    encoding?: BufferEncoding | Written,
    onWritten?: Written,
  ): boolean => {
    const named = typeof encoding === "string" ? encoding : "utf8";
    const bytes = typeof chunk === "string" ? Buffer.from(chunk, named) : Buffer.from(chunk);
    const listener = typeof encoding === "function" ? encoding : onWritten;
    return write(showControls(decoder.write(bytes)), "utf8", listener);
  };
  stream.write = writeShown as Write;
}
