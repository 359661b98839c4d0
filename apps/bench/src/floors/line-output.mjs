/**
 * Sends frames as lines; those of one turn of the event loop are sent in one write.
 *
 * @param {(text: string) => void} write
 * @returns {(frame: object) => void}
 */
export function createLineOutput(write) {
  /** @type {string[]} */
  let lines = [];
  return (frame) => {
    if (lines.push(`${JSON.stringify(frame)}\n`) > 1) return;
    setImmediate(() => {
      write(lines.join(""));
      lines = [];
    });
  };
}
