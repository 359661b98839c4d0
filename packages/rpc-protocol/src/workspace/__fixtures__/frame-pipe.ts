import { encodeFrame, FrameLines } from "../frames.ts";
import { FramedWorkspace } from "../framed-workspace.ts";
import type { Workspace } from "../workspace.ts";
import { WorkspaceServer } from "../workspace-server.ts";

export interface FramePipe {
  readonly remote: FramedWorkspace;
  readonly server: WorkspaceServer;
  /** The lines sent to the server, in order. */
  readonly sent: string[];
}

/** A workspace behind frames, over lines that arrive in pieces. */
export function framePipe(workspace: Workspace, cut: (bytes: Buffer) => Buffer[]): FramePipe {
  const sent: string[] = [];
  const wire = (take: (frame: unknown) => unknown) => {
    const lines = new FrameLines();
    let work: Promise<unknown> = Promise.resolve();
    return (frame: object): void => {
      const pieces = cut(Buffer.from(encodeFrame(frame)));
      work = work.then(async () => {
        for (const piece of pieces) for (const each of lines.push(piece)) await take(each);
      });
    };
  };
  const toServer = wire((frame) => server.take(frame));
  const remote: FramedWorkspace = new FramedWorkspace({
    id: "ws-1",
    cwd: workspace.cwd,
    canSearch: true,
    canEnclose: workspace.sandboxes !== undefined,
    send: (frame) => {
      sent.push(JSON.stringify(frame));
      toServer(frame);
    },
  });
  const server: WorkspaceServer = new WorkspaceServer(
    workspace,
    wire((frame) => remote.take(frame)),
  );
  return { remote, server, sent };
}
