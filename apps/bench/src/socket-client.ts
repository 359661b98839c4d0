import { WebSocket } from "ws";
import { type Frame, FrameReceiver } from "./frame-receiver.ts";

/** A client of a host that listens for WebSockets. */
export class SocketClient extends FrameReceiver {
  readonly #socket: WebSocket;

  private constructor(socket: WebSocket) {
    super();
    this.#socket = socket;
    socket.on("message", (data: Buffer) => this.take(data));
    socket.on("close", () => this.fail(new Error("The connection was closed")));
  }

  static async connect(url: string, token?: string): Promise<SocketClient> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url, { headers });
    await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject));
    return new SocketClient(socket);
  }

  override send(frame: Frame): void {
    this.#socket.send(JSON.stringify(frame));
  }

  close(): void {
    this.#socket.close();
  }
}
