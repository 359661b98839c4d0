import { Duplex } from "node:stream";
import type { WorkspaceConnection } from "@tau-agent/rpc-protocol/workspace";

/** How many bytes may be in transit to the other end before more are held back. */
const windowBytes = 1024 * 1024;

/** A relayed connection as a stream, for code that expects sockets. */
export class ConnectionStream extends Duplex {
  readonly #client: WorkspaceConnection;
  #waitingBytes = 0;
  #goOn: (() => void) | undefined;
  #wanted: (() => void) | undefined;
  /** The end that the other side writes to. */
  readonly far: WorkspaceConnection = {
    write: (bytes) => {
      if (this.destroyed || this.push(bytes)) return;
      return new Promise((resolve) => {
        this.#wanted = resolve;
      });
    },
    end: () => void (this.destroyed || this.push(null)),
    close: () => void this.destroy(),
  };

  constructor(client: WorkspaceConnection) {
    super({ allowHalfOpen: true });
    this.#client = client;
  }

  override _read(): void {
    this.#wanted?.();
    this.#wanted = undefined;
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#waitingBytes += chunk.length;
    void Promise.resolve(this.#client.write(chunk)).then(() => {
      this.#waitingBytes -= chunk.length;
      const goOn = this.#waitingBytes <= windowBytes ? this.#goOn : undefined;
      if (goOn === undefined) return;
      // The next chunk may be held back again before this returns.
      this.#goOn = undefined;
      goOn();
    });
    if (this.#waitingBytes <= windowBytes) done();
    else this.#goOn = done;
  }

  override _final(done: () => void): void {
    this.#client.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#client.close();
    this.#wanted?.();
    done(error);
  }
}
