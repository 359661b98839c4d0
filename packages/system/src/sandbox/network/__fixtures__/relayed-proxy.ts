import { type AddressInfo, createServer, type Socket } from "node:net";
import {
  encodeFrame,
  FramedWorkspace,
  FrameLines,
  type Workspace,
  WorkspaceServer,
} from "@tau-agent/rpc-protocol/workspace";
import { ConnectionStream } from "../connection-stream.ts";
import { relay } from "../relay-door.ts";
import type { ProxyModules } from "./secret-proxy.ts";

/** The same proxy, with clients at the other end of a connection to an exec server. */
export function relayed(modules: ProxyModules, frames: string[] = []): ProxyModules {
  return {
    ...modules,
    async startProxy(_address, rules) {
      const sockets = new Set<Socket>();
      const listener = createServer({ allowHalfOpen: true });
      const served = {
        cwd: "/",
        sandboxes: {
          async open({ onConnection }) {
            listener.on("connection", (socket) => {
              sockets.add(socket);
              relay(socket, onConnection);
            });
            await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
            return { available: true, mechanism: null, denied: [], close: async () => {} };
          },
        },
      } as Partial<Workspace> as Workspace;
      const proxy = modules.createProxy(rules);
      const { sandboxes } = connected(served, frames);
      await sandboxes?.open({
        ...{ sandboxId: "s", cwd: "/", mode: "workspace", write: [], denyRead: [] },
        ...{ network: "host", whenUnavailable: "refuse" },
        onConnection: (client) => {
          const stream = new ConnectionStream(client);
          proxy.server.emit("connection", stream);
          return stream.far;
        },
      });
      return {
        port: (listener.address() as AddressInfo).port,
        close: async () => {
          listener.close();
          for (const socket of sockets) socket.destroy();
          await proxy.close();
        },
      };
    },
  };
}

/** A workspace behind a connection of framed lines. */
function connected(served: Workspace, frames: string[]): Workspace {
  const wire = (take: (frame: unknown) => unknown) => {
    const lines = new FrameLines();
    let work: Promise<unknown> = Promise.resolve();
    return (frame: object): void => {
      const line = encodeFrame(frame);
      frames.push(line, Buffer.from(Object(frame).data ?? Object(frame).params?.data ?? "", "base64").toString("latin1"));
      work = work.then(async () => {
        for (const each of lines.push(Buffer.from(line))) await take(each);
      });
    };
  };
  const toServer = wire((frame) => server.take(frame));
  const remote: FramedWorkspace = new FramedWorkspace({
    ...{ id: "ws-1", cwd: "/", canSearch: false, canEnclose: true },
    send: toServer,
  });
  const server: WorkspaceServer = new WorkspaceServer(served, wire((frame) => remote.take(frame)));
  return remote;
}
